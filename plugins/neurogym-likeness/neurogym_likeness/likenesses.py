"""Score a subject, and the animals against each other, on published signatures."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from neurogym_behaviour.behaviour import Behaviour, CannotTellError
from neurogym_behaviour.figures import legend_above
from neurogym_behaviour.figures import plain as plain_text
from neurogym_behaviour.findings import Finding, figure, legible
from neurogym_behaviour.measures import Measure
from neurogym_behaviour.report import write_report
from neurogym_behaviour.style import drawing
from neurogym_plot.canvas import BLUE, GREY
from scipy.stats import t as student

from neurogym_core.tools import print_json, replacing
from neurogym_likeness.bits import Likeness, as_numbers
from neurogym_likeness.signatures import Animal, Signature

YES, NO, OPEN = "yes", "no", "cannot tell"
FEW = "too few animals"
LEAST_ANIMALS = 5
"""Number of animals whose range allows a verdict."""
TAIL = 0.025
"""Share of effects of 0 whose 95 % interval is above 0."""
AGREEMENT = 0.1
"""Smallest half width of Student's interval, relative to that of the intervals of the seeds.

Two seeds that differ by chance alone fall below it in 1.2 % of reports, five in 0.005 %.
"""


@dataclass(frozen=True)
class Row:
    """One subject, seed or animal on one signature.

    Attributes:
        kind: "subject", "seed" or "animal".
        sign: whether the effect has the published sign: "yes", "no" or "cannot tell".
        within: whether it is within the range of the (other) animals: "yes", "no", "cannot tell" or
            "too few animals"; "" without animals. Of the subject: "yes" or "no" if that is so of
            each seed.
    """

    who: str
    kind: str
    value: float
    low: float
    high: float
    n: int
    sign: str
    within: str


@dataclass(frozen=True)
class Score:
    """All rows of one signature, the subject's first, or the reason for their absence."""

    signature: Signature
    rows: tuple[Row, ...] = ()
    why_not: str = ""
    notes: tuple[str, ...] = field(default_factory=tuple)

    @property
    def subject(self) -> Row:
        """The row of the subject."""
        return self.rows[0]


def sign_of(effect: Measure | Animal, signature: Signature) -> str:
    """Return whether an effect has the published sign.

    For a positive effect: "yes" if the interval is above 0, "no" if it is below the smallest effect
    that counts. For an effect of 0: "yes" if it is within, "no" if it is beyond that size.
    """
    low, high, least = effect.low, effect.high, signature.least
    if not np.isfinite([low, high]).all():
        return OPEN
    if signature.expects == "none":
        return (
            YES if -least < low and high < least else NO if low > least or high < -least else OPEN
        )
    if signature.expects == "negative":
        low, high = -high, -low
    return YES if low > 0 else NO if high < least else OPEN


def range_of(animals: Sequence[Animal]) -> tuple[float, float] | None:
    """Return the range in which 95 % of new animals are expected; None of fewer than five.

    Of single animals, it is Student's prediction interval from the spread of their effects. Of a
    published group, it is that of the group.
    """
    for one in animals:
        if one.animals >= LEAST_ANIMALS:
            return one.low, one.high
    values = np.array([one.value for one in animals])
    if len(values) < LEAST_ANIMALS:
        return None
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) * np.sqrt(1 + 1 / len(values))
    return float(values.mean() - half), float(values.mean() + half)


def within(effect: Measure | Animal, animals: Sequence[Animal]) -> str:
    """Return whether the interval of a seed or animal is in the range of (other) animals.

    "no" means that the interval is outside, "cannot tell" that it overlaps an end.
    """
    if not animals:
        return ""
    ends = range_of(animals)
    if ends is None:
        return FEW
    low, high = ends
    if not np.isfinite([effect.low, effect.high]).all():
        return OPEN
    if low <= effect.low and effect.high <= high:
        return YES
    return NO if effect.low > high or effect.high < low else OPEN


def all_within(effects: Sequence[Measure], animals: Sequence[Animal]) -> str:
    """Return the verdict of `within` if it is that of each seed; else "cannot tell".

    The mean over seeds is not compared with the range of animals: seeds on either side of it would
    have a mean inside.
    """
    found = {within(one, animals) for one in effects}
    return found.pop() if len(found) == 1 else OPEN


def over_seeds(effects: Sequence[Measure]) -> Measure:
    """Return the mean over seeds with Student's 95 % interval; of one seed, its own interval.

    Where the seeds agree far better than their own intervals allow (all have a lapse rate of 0), so
    that their spread is uninformative, the interval is that of their mean: the root of the summed
    squares of their distances to their ends, over the number of seeds.
    """
    if len(effects) == 1:
        return effects[0]
    values, low, high = np.array([(one.value, one.low, one.high) for one in effects]).T
    n, middle = len(values), float(values.mean())
    below = above = float(student.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n))
    own = [float(np.sqrt(((end - values) ** 2).sum()) / n) for end in (low, high)]
    if np.isfinite(own).all() and below < AGREEMENT * sum(own) / 2:
        below, above = own
    return Measure(middle, middle - below, middle + above, sum(one.n for one in effects))


def score(
    signature: Signature, behaviours: Mapping[str, Behaviour], subject: str, task: str = ""
) -> Score:
    """Return the rows of a subject, its seeds, and the animals.

    Args:
        behaviours: name of the seed, run or animal -> its behaviour.
        subject: name of the subject.
        task: name of the task; "" if it is unknown.
    """
    if task and not signature.applies_to(task):
        return Score(signature, why_not=f"it is for {', '.join(signature.tasks)}")
    if not task and signature.named:
        return Score(
            signature,
            why_not=f"the trials do not name their task; if it is that, give --task"
            f" {signature.tasks[0]}",
        )
    effects, reasons = {}, []
    for name, behaviour in behaviours.items():
        try:
            effects[name] = signature.measured(behaviour)
        except CannotTellError as error:
            reasons.append(str(error))
    if 2 * len(effects) <= len(behaviours):
        return Score(signature, why_not=reasons[0])
    notes = []
    if reasons:
        notes = [f"Only {len(effects)} of {len(behaviours)} could be measured: {reasons[0]}."]
    whole = over_seeds(list(effects.values()))
    inside = all_within(list(effects.values()), signature.animals)
    rows = [replace(_row(subject, "subject", whole, signature, ()), within=inside)]
    if len(effects) > 1:
        rows += [_row(n, "seed", one, signature, signature.animals) for n, one in effects.items()]
    for animal in signature.animals:
        others = [one for one in signature.animals if one is not animal]
        rows.append(_row(animal.name, "animal", animal, signature, others))
    return Score(signature, tuple(rows), notes=tuple(notes))


def _row(
    who: str, kind: str, effect: Measure | Animal, signature: Signature, animals: Sequence[Animal]
) -> Row:
    return Row(
        who, kind, effect.value, effect.low, effect.high, effect.n, sign_of(effect, signature),
        within(effect, animals),
    )  # fmt: skip


# ---- output ----


def table_of(scores: Sequence[Score]) -> pd.DataFrame:
    """Return a row for each subject, seed and animal of each signature that was tested."""
    return pd.DataFrame(
        [
            {"signature": one.signature.name, **asdict(row), "unit": one.signature.unit}
            for one in scores
            for row in one.rows
        ],
        columns=["signature", *Row.__dataclass_fields__, "unit"],
    )


def counted(scores: Sequence[Score]) -> str:
    """Return the verdicts of the subject in words, one count for each kind; never one number."""
    tested = [one for one in scores if one.rows]
    compared = [one for one in tested if one.subject.within not in ("", FEW)]
    said = [f"{len(tested)} of {len(scores)} signatures tested."]
    for name, rows, read in (
        ("Sign as published", tested, lambda one: one.subject.sign),
        ("Within the animals' range", compared, lambda one: one.subject.within),
    ):
        if rows:
            counts = [(what, sum(read(one) == what for one in rows)) for what in (YES, NO, OPEN)]
            said.append(f"{name}: {', '.join(f'{what} {k}' for what, k in counts)}.")
    if len(compared) < len(tested):
        said.append(f"{len(tested) - len(compared)} by sign only, or beside too few animals.")
    if len(tested) > 1:
        said.append(
            f"Of {len(tested)} effects of 0, {TAIL * len(tested):.2g} have the sign by chance:"
            " verdicts are not corrected for their number."
        )
    return " ".join(said)


def findings_of(scores: Sequence[Score]) -> list[Finding]:
    """Return the report: an overview, a finding per tested signature, and the untested ones."""
    if not scores:
        return []
    tested = [one for one in scores if one.rows]
    untested = pd.DataFrame(
        [{"signature": one.signature.name, "why": one.why_not} for one in scores if not one.rows]
    )
    overview = pd.DataFrame(
        [
            {
                "signature": one.signature.title,
                "subject": _number(one.subject),
                "animals": "; ".join(
                    f"{row.who} {_number(row)}" for row in one.rows if row.kind == "animal"
                )
                or "sign only",
                "unit": one.signature.unit,
                "sign": one.subject.sign,
                "within the animals' range": one.subject.within or "–",
            }
            for one in tested
        ]
    )
    found = [Finding("overview", "Overview", table=overview, notes=(counted(scores),))]
    found += [
        Finding(
            one.signature.name,
            one.signature.title,
            table=table_of([one]).drop(columns="signature"),
            figure=drawn(one),
            notes=_notes(one),
        )
        for one in tested
    ]
    if len(untested):
        found.append(Finding("untested", "Not tested", table=untested))
    return found


def _number(row: Row) -> str:
    return f"{row.value:.3g} [{row.low:.3g}, {row.high:.3g}]"


def _notes(one: Score) -> tuple[str, ...]:
    signature = one.signature
    what = {
        "positive": f"Published sign: positive; effects below {signature.least:g} do not count.",
        "negative": f"Published sign: negative; effects above {-signature.least:g} do not count.",
        "none": f"Published: no effect; effects within {signature.least:g} of 0 count as none.",
    }[signature.expects]
    sources = [
        f"{name}: "
        + ", ".join(f"{key}: {value}" for key, value in source.items()).rstrip(".")
        + "."
        for name, source in signature.sources.items()
    ]
    return (
        f"{signature.statistic} {what}",
        f"{signature.citation}. {signature.species}".strip(),
        *([signature.caution] if signature.caution else []),
        *([f"Sign only: {signature.sign_only}"] if signature.sign_only else []),
        *sources,
        *one.notes,
    )


def drawn(one: Score) -> Any:
    """Return the figure of a signature: the subject over its seeds and the animals."""
    rows = [row for row in one.rows if row.kind != "seed"]
    seeds = [row for row in one.rows if row.kind == "seed"]
    with drawing() as style:
        made, (axes,) = figure(width=5.2, height=1.5 + 0.28 * len(rows))
        at = np.arange(len(rows))[::-1]
        animals = one.signature.animals
        ends = range_of(animals)
        if ends is not None:
            axes.axvspan(
                *ends,
                color=GREY, alpha=0.15, lw=0, label="range of the animals",
            )  # fmt: skip
        axes.axvline(0, color=GREY, lw=0.6 * style.line, ls="--")
        if seeds:
            axes.plot(
                [row.value for row in seeds],
                np.full(len(seeds), at[0] - 0.3),
                ".",
                ms=style.marker,
                mew=0,
                alpha=0.7,
                color=BLUE,
                label="each seed or subject",
            )
        for place, row in zip(at, rows, strict=True):
            colour = BLUE if row.kind == "subject" else GREY
            ends = np.clip([row.low, row.high], -1e9, 1e9)  # an open end leaves the figure
            axes.hlines(place, *ends, color=colour)
            axes.plot(row.value, place, "o", color=colour)
        finite = [end for row in one.rows for end in (row.value, row.low, row.high)]
        finite = [0.0, *(end for end in finite if np.isfinite(end))]
        room = 0.05 * (max(finite) - min(finite)) or 1.0
        axes.set_xlim(min(finite) - room, max(finite) + room)
        axes.set_yticks(at, [plain_text(textwrap.fill(row.who, 24)) for row in rows])
        axes.set_ylim(-0.7, len(rows) - 0.4)
        unit = one.signature.unit
        axes.set_xlabel(f"effect ({unit}), 95 % interval" if unit else "effect, 95 % interval")
        legend_above(axes, one.signature.title, columns=2)
        return legible(made)


def write_likeness(
    folder: Path,
    title: str,
    facts: Mapping[str, Any],
    scores: Sequence[Score],
    findings: Sequence[Finding] | None = None,
    scored: Likeness | None = None,
) -> Path:
    """Write ``report.html``, a CSV file per signature, likeness.csv and likeness.json.

    `findings` are those of the scores, if they have been drawn already; `scored` is the score
    against animals' trials, if there is one.
    """
    target = write_report(folder, title, facts, findings or findings_of(scores))
    with replacing(folder / "likeness.csv") as temporary:
        table_of(scores).to_csv(temporary, index=False, encoding="utf-8", lineterminator="\n")
    with (
        replacing(folder / "likeness.json") as temporary,
        temporary.open("w", encoding="utf-8") as file,
    ):
        print_json(as_data(facts, scores, scored), file)
    return target


def as_data(
    facts: Mapping[str, Any], scores: Sequence[Score], scored: Likeness | None = None
) -> dict[str, Any]:
    """Return facts, score, tested and untested signatures as data for JSON."""
    return {
        "facts": {name: str(value) for name, value in facts.items()},
        **({} if scored is None else {"score": as_numbers(scored)}),
        "tested": {
            one.signature.name: {
                "title": one.signature.title,
                "statistic": one.signature.statistic,
                "citation": one.signature.citation,
                "doi": one.signature.doi,
                "unit": one.signature.unit,
                "expects": one.signature.expects,
                "least": one.signature.least,
                "sign_only": one.signature.sign_only,
                "caution": one.signature.caution,
                "sources": one.signature.sources,
                "rows": [asdict(row) for row in one.rows],
            }
            for one in scores
            if one.rows
        },
        "untested": {one.signature.name: one.why_not for one in scores if not one.rows},
    }
