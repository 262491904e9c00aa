"""Analyses of a report, the most important first.

Each takes a `Behaviour`, and raises `CannotTellError` if the record lacks something that it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from neurogym_plot.canvas import BLUE, GREEN, GREY, VERMILION

from neurogym_behaviour import measures
from neurogym_behaviour._columns import said_of_sessions
from neurogym_behaviour.behaviour import (
    ANGULAR_ERROR,
    KERNEL_BINS,
    REPORTED,
    SHOWN,
    SIGNAL,
    WANTED,
    Behaviour,
    CannotTellError,
    clicks_over_time,
    slots_of,
    with_preferences,
    with_rest_as_choice,
)
from neurogym_behaviour.chronometric import ReactionTimeRow, reaction_times
from neurogym_behaviour.figures import (
    StrengthAxis,
    chronometric_figure,
    legend_above,
    psychometric_figure,
    with_unit,
)
from neurogym_behaviour.findings import Analysis, Finding, Result, figure
from neurogym_behaviour.intervals import wilson_interval
from neurogym_behaviour.population import is_population, over_subjects, population
from neurogym_behaviour.proportions import (
    ProportionRow,
    accuracy,
    choice_proportions,
    difference_interval,
    wide_difference,
)
from neurogym_behaviour.psychometric import PsychometricFit, fit_psychometric
from neurogym_behaviour.standard import FEWEST, last_choices, standard_measures
from neurogym_core import InvalidValueError

LEVELS = 12
"""Conditions with more distinct values are not tabulated."""
MISFIT = 0.001
"""Curves with a smaller p-value of the deviance are reported as misfits.

It is far below 0.01, since 1 to 2 % of the data sets of 200 trials of a subject that follows the
curve have p < 0.01, and up to 2 % of those of 2,000 (300 simulated data sets in each of 23 worlds).
"""
QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)
SIDED = ("fraction of choices to the right", "fraction of answers, and not of rest")
"""Labels of proportions of choices: between two sides, and between answer and rest."""
CRITERION = 0.8
"""Performance whose first trials are reported."""


def analyse(behaviour: Behaviour) -> list[Finding]:
    """Return the findings of all analyses, including those that could not be done."""
    return [analysis(behaviour) for analysis in ANALYSES]


def preferences(behaviour: Behaviour) -> Behaviour:
    """Return a behaviour in which offers that were chosen count as answers.

    See `with_preferences`; other behaviours come back unchanged.
    """
    record = with_preferences(behaviour.record)
    return behaviour if record is behaviour.record else Behaviour(record, behaviour.roles)


def between_choices(behaviour: Behaviour) -> Behaviour:
    """Return a behaviour whose answers are choices between two sides, or between offers.

    In go/no-go tasks these are answer and rest: misses and right rests are choices of rest. See
    also `preferences`.
    """
    behaviour = preferences(behaviour)
    record = with_rest_as_choice(behaviour.record, behaviour.slot)
    if record is behaviour.record:
        return behaviour
    return Behaviour(record, replace(behaviour.roles, side=SIGNAL))


def _right_means(behaviour: Behaviour) -> list[str]:
    """Return a sentence about the sides of a go/no-go task, for texts that call them right."""
    return ["Right is an answer, and left is rest."] if behaviour.roles.side == SIGNAL else []


# ---- accuracy ----


def accuracy_per_condition(behaviour: Behaviour) -> Result:
    """Fraction correct for each value of each condition, with Wilson intervals.

    Of choices between offers, of which none is correct: fraction that took the best offer.
    """
    outcomes, counts = np.unique(behaviour.column("outcome"), return_counts=True)
    judged = preferences(behaviour)
    notes = behaviour.notes
    rested = int((behaviour.correct & ~behaviour.answered).sum())
    if rested:
        notes.append(f"{rested} right rests are no answers: see hits and false alarms.")
    if judged is not behaviour:
        notes += ["No answer was correct or incorrect: correct are choices of the best offer."]
        behaviour = judged
    if not behaviour.answered.any():
        raise CannotTellError("no answer was correct or incorrect")
    record = behaviour.record
    named = [one for one in behaviour.conditions if len(np.unique(record[one])) <= LEVELS]
    rows = over_subjects(
        behaviour, lambda part: _accuracy_rows(part, named), ("condition", "value"), "accuracy",
        (0, 1),
    )  # fmt: skip
    if is_population(behaviour):
        notes.append(_said_mean("fraction correct", rows[0]["accuracy"], rows[0]))
    elif said_of_sessions(record):
        notes.append(said_of_sessions(record))
    said = ", ".join(f"{name} {count}" for name, count in zip(outcomes, counts, strict=True))
    return Result(pd.DataFrame(rows), _accuracy_figure(rows), [f"Outcomes: {said}.", *notes])


def accuracy_of_slots(behaviour: Behaviour) -> Result:
    """Fraction correct of each answer of a trial, also given that an earlier one was correct.

    In an attentional blink, that of T2 given T1 correct is the measure (Chun & Potter 1995).
    """
    record = behaviour.record
    slots = slots_of(record)
    if len(slots) < 2:
        raise CannotTellError("the trials have one answer")
    rows = []
    for k, slot in enumerate(slots):
        answered, correct = record.answered(slot), record[f"{slot}.outcome"] == "correct"
        trials = {"": np.ones(len(record), bool)}
        trials |= {other: record[f"{other}.outcome"] == "correct" for other in slots[:k]}
        for other, some in trials.items():
            right, n = int((answered & correct & some).sum()), int((answered & some).sum())
            low, high = wilson_interval(right, n)
            rows.append(
                {
                    "slot": slot,
                    "given correct": other,
                    "correct": right,
                    "answered": n,
                    "accuracy": right / n if n else np.nan,
                    "low": low,
                    "high": high,
                }
            )
    said = [
        f"{row['slot']}{row['given correct'] and ' given ' + row['given correct'] + ' correct'}"
        f" {row['accuracy']:.3f} of {row['answered']} answers (95 % interval {row['low']:.3f} to"
        f" {row['high']:.3f})"
        for row in rows
        if row["answered"]
    ]
    if not said:
        raise CannotTellError("no answer was correct or incorrect")
    return Result(pd.DataFrame(rows), notes=[f"{'; '.join(said)}."])


def hits_and_false_alarms(behaviour: Behaviour) -> Result:
    """Hit rate, false alarm rate, d' and criterion; Green & Swets (1966), see `measures.d_prime`.

    In go/no-go tasks an answer is "yes", and a trial in which resting is wrong is a signal. Between
    two choices, "yes" is that of one side, and the signal is that side.
    """
    counts = behaviour.record.detection(behaviour.slot)
    if counts is not None:
        found = measures.sensitivity(**counts)
        what = "Signals: trials in which resting is wrong; yes: an answer."
    else:
        try:
            signal, yes = behaviour.right, behaviour.chose_right
        except CannotTellError as error:
            raise CannotTellError(f"no trial asks for rest, or all do, and {error}") from error
        given = behaviour.answered
        if given.sum() < FEWEST or len(np.unique(signal[given])) < 2:
            raise CannotTellError(
                f"{int(given.sum())} answered trials with"
                f" {len(np.unique(signal[given]))} sides; at least {FEWEST} with two are needed"
            )
        found = measures.d_prime(signal[given], yes[given])
        name = behaviour.record[behaviour.side][np.argmax(behaviour.right)]
        what = f"Signals: {behaviour.side} = {_short(name)}; yes: the choice of that side."
    rows = [
        {"number": name, "value": one.value, "low": one.low, "high": one.high, "n": one.n}
        for name, one in found.measures.items()
    ]
    said = "; ".join(
        f"{row['number']} {row['value']:.3g} (95 % interval {row['low']:.3g} to {row['high']:.3g})"
        for row in rows
    )
    return Result(pd.DataFrame(rows), notes=[f"{said}. {what}"])


def _accuracy_rows(behaviour: Behaviour, conditions: Sequence[str]) -> list[dict[str, Any]]:
    record, slot = behaviour.record, behaviour.slot
    rows = [_accuracy_row("all trials", "", accuracy(record, None, slot=slot)[0])]
    for name in conditions:
        rows += [_accuracy_row(name, row.value, row) for row in accuracy(record, name, slot=slot)]
    return rows


def _said_mean(name: str, mean: float, row: Mapping[str, Any]) -> str:
    """Return a mean over subjects with its interval as a sentence."""
    return (
        f"Mean over {row['subjects']} subjects: {name} {mean:.4g} (95 % interval"
        f" {row['low']:.4g} to {row['high']:.4g}; SD between subjects {row['deviation']:.2g})."
    )


def _accuracy_row(name: str, value: Any, row: Any) -> dict[str, Any]:
    return {
        "condition": name,
        "value": value,
        "correct": row.k,
        "answered": row.n,
        "accuracy": row.fraction,
        "low": row.low,
        "high": row.high,
        "unanswered": row.unanswered,
        "other": row.other,
    }


def _accuracy_figure(rows: Sequence[dict[str, Any]]) -> Any:
    shown = [row for row in rows if row["answered"]][:40]
    made, (axes,) = figure(width=6.0, height=0.9 + 0.24 * len(shown))
    at = np.arange(len(shown))[::-1]
    middle = np.array([row["accuracy"] for row in shown])
    ends = np.array([[row["low"], row["high"]] for row in shown]).T
    axes.errorbar(middle, at, xerr=np.abs(ends - middle), fmt="o", color=BLUE, capsize=2)
    labels = [
        (
            str(row["condition"])
            if row["value"] == ""
            else f"{row['condition']} = {_short(row['value'])}"
        )
        for row in shown
    ]
    axes.set_yticks(at, [_plain(label) for label in labels])
    axes.set_ylim(-0.6, len(at) - 0.4)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("fraction correct of the answered trials, 95 % interval")
    return made


# ---- psychometric and chronometric ----


@dataclass(frozen=True)
class PsychometricFunction:
    """Choices, or correct answers, over the strength of the evidence.

    Attributes:
        kind: "choice" (choices to the right over signed strength) or "correct" (correct answers
            over strength).
        strength: name of the column of the strength.
        rows: a proportion per strength; continuous strengths are grouped into quantile bins.
        fit: the curve, logistic or Weibull; None if none could be fitted.
        signal: whether the choice is that between answer and rest, see `between_choices`.
    """

    kind: str
    strength: str
    rows: list[ProportionRow]
    fit: PsychometricFit | None
    signal: bool = False

    @property
    def xlabel(self) -> str:
        """Label of the axis of strengths, with the unit."""
        return _plain(with_unit(self.strength))

    @property
    def ylabel(self) -> str:
        """Label of the axis of proportions; "" for that of `psychometric_figure`."""
        return SIDED[self.signal] if self.kind == "choice" else ""


def psychometric_function(
    behaviour: Behaviour, interval: Literal["profile", "bootstrap"] | None = "profile"
) -> PsychometricFunction:
    """Return choices over signed strength, or correct answers over strength if no side is known.

    Args:
        behaviour: the trials, with the columns that `with_declared` adds.
        interval: of the parameters of the curve, as in `fit_psychometric`.

    Raises:
        CannotTellError: the strength is unknown or has fewer than three values, or no answer was
            correct or incorrect.
    """
    behaviour = between_choices(behaviour)
    try:
        strength, _ = behaviour.signed, behaviour.right
        kind = "choice"
    except CannotTellError:
        strength = behaviour.level  # if strength is unknown too, report this error
        kind = "correct"
    if not behaviour.answered.any():
        raise CannotTellError("no answer was correct or incorrect")
    levels = np.unique(strength[behaviour.answered])
    if len(levels) < 3:
        raise CannotTellError(
            f"{behaviour.strength!r} has {len(levels)} values; a curve needs at least three"
        )
    rows, fit = psychometric_points(behaviour, strength, kind, interval)
    signal = behaviour.roles.side == SIGNAL
    return PsychometricFunction(kind, behaviour.strength, rows, fit, signal)


def psychometric(behaviour: Behaviour) -> Result:
    """Choices over signed strength (logistic), or correct answers over strength (Weibull).

    Without a signed strength, correct answers are analysed. Intervals: profile likelihood.
    """
    several = is_population(behaviour)
    found = psychometric_function(behaviour, None if several else "profile")
    kind, rows, fit = found.kind, found.rows, found.fit
    behaviour = between_choices(behaviour)
    parts = behaviour.per_subject() if several else {}
    each, notes = [], []
    if several:
        each, fits = _per_subject(parts, kind)
        rows = _mean_rows(behaviour, kind)
        fit, notes = _mean_curve(fits, fit)
    else:
        notes = _said_of(fit)
    table = pd.DataFrame(
        [
            {
                **({"subject": name} if several else {}),
                "strength": row.value,
                "k": row.k,
                "n": row.n,
                "fraction": row.fraction,
                "low": row.low,
                "high": row.high,
            }
            for name, part in [("mean", rows), *zip(parts, each, strict=False)]
            for row in part
        ]
    )
    name = f"mean of {len(parts)} subjects" if several else subject_of(behaviour)
    made = psychometric_figure(
        {name: rows},
        {name: fit},
        xlabel=found.xlabel,
        ylabel=found.ylabel,
        each=each,
    )
    return Result(table, made, [*notes, *_right_means(behaviour)])


def _mean_rows(behaviour: Behaviour, kind: str) -> list[ProportionRow]:
    """Return the means over subjects of the fractions per strength, with t intervals."""
    strength = behaviour.signed if kind == "choice" else behaviour.level
    hit = behaviour.chose_right if kind == "choice" else behaviour.correct
    record = behaviour.record
    whole = {"strength": _binned(strength), "hit": hit}
    binned = type(record)({**record, **whole}, meta=record.meta)

    def rows_of(part: Behaviour) -> list[dict[str, Any]]:
        points = _proportions(part.record, "strength", part.record["hit"], kind, part.slot)
        return [vars(row) for row in points]

    rows = over_subjects(
        Behaviour(binned, behaviour.roles), rows_of, ("value",), "fraction", (0, 1)
    )
    names = [one.name for one in fields(ProportionRow)]
    return [
        ProportionRow(**{name: row[name] for name in names})
        for row in sorted(rows, key=lambda row: row["value"])
    ]


def _mean_curve(fits: Sequence[Any], whole: Any) -> tuple[Any, list[str]]:
    """Return the curve with the mean parameters of the subjects, and these as sentences.

    Parameters that the trials of a subject do not determine are left out of the mean.
    """
    if whole is None or len(fits) < 2:
        return None, _said_of(None)
    means, said = {}, []
    for name in ("threshold", "slope", "lapse"):
        known = [getattr(fit, name) for fit in fits if name not in fit.undetermined]
        title = "bias" if name == "threshold" and whole.shape == "logistic" else name
        title = "lapse on either side" if name == "lapse" and whole.guess == whole.lapse else title
        one = population(known, (0, 1) if name == "lapse" else (-np.inf, np.inf))
        if one.n < 2:
            said.append(f"{title}: not determined by the data of {len(fits) - one.n} subjects")
            continue
        means[name] = one
        left_out = f", {len(fits) - one.n} left out" if one.n < len(fits) else ""
        said.append(
            f"{title} {one.mean:.4g} (95 % interval {one.low:.4g} to {one.high:.4g}; SD between"
            f" subjects {one.deviation:.2g}{left_out})"
        )
    values = {name: one.mean for name, one in means.items()}
    if whole.guess == whole.lapse and "lapse" in values:
        values["guess"] = values["lapse"]
    intervals = {name: (one.low, one.high) for name, one in means.items()}
    misfits = sum(fit.p_value < MISFIT for fit in fits)
    notes = [
        f"{whole.shape.capitalize()} functions of {len(fits)} subjects, {whole.n_trials} trials,"
        f" mean over subjects: {'; '.join(said)}. --pool fits one curve to all trials."
    ]
    if misfits:
        notes.append(
            f"WARNING: the curve misses the points of {misfits} of {len(fits)} subjects (p <"
            f" {MISFIT}). Do not use its parameters for them: look at their trials alone."
        )
    undetermined = tuple(name for name in ("threshold", "slope", "lapse") if name not in means)
    return replace(whole, **values, intervals=intervals, undetermined=undetermined), notes


def subject_of(behaviour: Behaviour) -> str:
    """Return the name of the subject of a record; "" if it is unknown."""
    return str(behaviour.record.meta.get("subject", ""))


def psychometric_by(behaviour: Behaviour) -> Result:
    """Psychometric functions for each value of a condition (--by): block, context, modality.

    The biases and slopes of their fits are in one table, with profile-likelihood intervals; of
    several subjects, means over subjects with t intervals.
    """
    behaviour = between_choices(behaviour)
    parts = behaviour.parts()
    curves: dict[str, list[Any]] = {}
    fits: dict[str, Any] = {}
    table, notes = [], []
    for name, part in parts.items():
        try:
            strength, _, kind = part.signed, part.right, "choice"
        except CannotTellError:
            strength, kind = part.level, "correct"
        if not part.answered.any():
            continue
        if is_population(part):
            _, whole = psychometric_points(part, strength, kind, interval=None)
            curves[name] = _mean_rows(part, kind)
            fits[name], _ = _mean_curve(_per_subject(part.per_subject(), kind)[1], whole)
        else:
            curves[name], fits[name] = psychometric_points(part, strength, kind)
        fit = fits[name]
        row: dict[str, Any] = {"condition": name, "n": int(part.answered.sum())}
        for parameter in ("threshold", "slope", "lapse") if fit is not None else ():
            title = "bias" if parameter == "threshold" and kind == "choice" else parameter
            known = parameter not in fit.undetermined
            row[title] = getattr(fit, parameter) if known else np.nan
            row[f"{title} low"], row[f"{title} high"] = fit.intervals.get(
                parameter, (np.nan, np.nan)
            )
        if fit is not None and not is_population(part):
            row["misfit p"] = fit.p_value
            if fit.p_value < MISFIT:
                notes += [f"{name}: {note}" for note in misfit_of(fit)]
        table.append(row)
    if len(curves) < 2:
        raise CannotTellError(f"fewer than two values of {behaviour.by!r} have answered trials")
    said = []
    for row in table:
        numbers = [(one, row.get(one, np.nan)) for one in ("bias", "threshold", "slope")]
        known = ", ".join(f"{one} {number:.4g}" for one, number in numbers if not np.isnan(number))
        said += [f"{row['condition']}: {known}"] if known else []
    notes = [f"{'; '.join(said)}.", *notes] if said else notes
    made = psychometric_figure(
        curves,
        fits,
        xlabel=_plain(with_unit(behaviour.strength)),
        ylabel=SIDED[behaviour.roles.side == SIGNAL] if kind == "choice" else "",
    )
    return Result(pd.DataFrame(table), made, [*notes, *_right_means(behaviour)])


def _per_subject(parts: Mapping[str, Behaviour], kind: str) -> tuple[list[Any], list[Any]]:
    """Return the rows, and the fits, of each subject."""
    found = [
        psychometric_points(
            part, part.signed if kind == "choice" else part.level, kind, interval=None
        )
        for part in parts.values()
    ]
    return [rows for rows, _ in found], [fit for _, fit in found if fit is not None]


def psychometric_points(
    behaviour: Behaviour, strength: np.ndarray, kind: str, interval: Any = "profile"
) -> tuple[list[Any], Any]:
    """Return proportions per strength, and the fitted curve or None.

    Continuous strengths are grouped into quantile bins.
    """
    record, slot = behaviour.record, behaviour.slot
    hit = behaviour.chose_right if kind == "choice" else behaviour.correct
    rows = _proportions(record, _binned(strength), hit, kind, slot)
    try:
        fit = fit_psychometric(
            record,
            strength,
            hit,
            slot=slot,
            shape="logistic" if kind == "choice" else "weibull",
            guess="symmetric" if kind == "choice" else 1 / behaviour.roles.choices,
            interval=interval,
        )
    except InvalidValueError:
        fit = None
    return rows, fit


def _with_choice(record: Any, hit: np.ndarray, slot: str | None) -> Any:
    name = "choice" if slot is None else f"{slot}.choice"
    columns = {other: record[other] for other in record.columns}
    return type(record)({**columns, name: hit.astype(np.int64)})


def _proportions(
    record: Any, by: Any, hit: np.ndarray, kind: str, slot: str | None
) -> list[ProportionRow]:
    """Return the fractions of correct answers, or of choices to the right."""
    if kind == "correct":
        return accuracy(record, by, slot=slot)
    # `choice_proportions` counts choice 1, but tasks may number the right side differently.
    return choice_proportions(_with_choice(record, hit, slot), by, choice=1, slot=slot)


def _binned(values: np.ndarray, bins: int = 9) -> np.ndarray:
    """Return the values, or the median of each value's quantile bin if there are many values."""
    if len(np.unique(values)) <= 2 * LEVELS:
        return values
    edges = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)))
    which = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    return np.array(
        [
            np.median(values[which == k]) if (which == k).any() else 0.0
            for k in range(len(edges) - 1)
        ]
    )[which]


def _said_of(fit: Any) -> list[str]:
    if fit is None:
        return ["No curve could be fitted: too few strengths for its parameters."]
    said = []
    symmetric = fit.guess == fit.lapse and fit.intervals.get("guess") == fit.intervals.get("lapse")
    for name in ("threshold", "slope", "lapse") if symmetric else (*fit.intervals,):
        title = "bias" if name == "threshold" and fit.shape == "logistic" else name
        title = "lapse on either side" if name == "lapse" and symmetric else title
        if name in fit.undetermined:
            said.append(f"{title}: not determined by the data")
        elif name in fit.intervals:
            low, high = fit.intervals[name]
            said.append(f"{title} {getattr(fit, name):.4g} (95 % interval {low:.4g} to {high:.4g})")
    notes = [f"{fit.shape.capitalize()} function, {fit.n_trials} trials: {'; '.join(said)}."]
    if fit.separable:
        notes.append(
            "At each strength, either all answers or none are of one kind: many curves fit equally"
            " well, and only the intervals have a meaning."
        )
    return [*notes, *(f"WARNING: {one}" for one in fit.cautions), *misfit_of(fit)]


def misfit_of(fit: Any) -> list[str]:
    """Return the deviance of a fit as a sentence, with a warning if the curve misses the points."""
    if not fit.df:
        return ["As many strengths as parameters: the fit cannot be tested."]
    said = (
        f"Deviance {fit.deviance:.1f} on {fit.df} degrees of freedom,"
        f" {f'p = {fit.p_value:.2g}' if fit.p_value >= 1e-4 else 'p < 0.0001'}"
    )
    if fit.p_value >= MISFIT:
        return [f"{said}."]
    return [
        f"WARNING: the curve misses the points ({said}, overdispersion {fit.overdispersion:.1f})."
        " Do not use its parameters and intervals: look at the figure. Lapses above 20 %, falling"
        " data (a wrong --side), mixed blocks, or drifting behaviour are frequent reasons."
    ]


def chronometric(behaviour: Behaviour) -> Result:
    """Mean reaction times over strength, separately for correct answers and errors.

    Without a strength of the evidence, over the values of each condition.
    """
    behaviour = preferences(behaviour)
    times = varied_times(behaviour)
    try:
        level = _binned(behaviour.level)
    except CannotTellError:
        return _times_per_condition(behaviour, times)
    _check_answered(behaviour)
    record = behaviour.record
    leveled = type(record)({**record, "strength": level}, meta=record.meta)
    found = over_subjects(
        Behaviour(leveled, behaviour.roles),
        lambda part: [vars(one) for one in reaction_times(part.record, "strength", slot=part.slot)],
        ("outcome", "value"),
        "mean",
    )
    table = pd.DataFrame(found)
    rows = [
        ReactionTimeRow(**{one.name: row.get(one.name, np.nan) for one in fields(ReactionTimeRow)})
        for row in sorted(found, key=lambda row: (row["outcome"], row["value"]))
    ]
    made = chronometric_figure(
        rows, xlabel=_plain(with_unit(behaviour.strength)), title=_plain(subject_of(behaviour))
    )
    notes = [f"Median of all trials: {np.nanmedian(times):.4g} ms."]
    if is_population(behaviour):
        of = [varied_times(part) for part in behaviour.per_subject().values()]
        middle = population([float(np.nanmedian(one)) for one in of])
        notes = [
            _said_mean("median reaction time in ms", middle.mean, {
                "subjects": middle.n, "low": middle.low, "high": middle.high,
                "deviation": middle.deviation,
            })
        ]  # fmt: skip
    return Result(table, made, notes)


def _times_per_condition(behaviour: Behaviour, times: np.ndarray) -> Result:
    rows = []
    for name in ("", *behaviour.conditions):
        values = behaviour.record[name] if name else np.zeros(len(behaviour), int)
        if len(np.unique(values)) > LEVELS:
            continue
        for value in np.unique(values):
            mine = times[(values == value) & behaviour.given & ~np.isnan(times)]
            if len(mine) < 2:
                continue
            half = 1.96 * mine.std(ddof=1) / np.sqrt(len(mine))
            rows.append(
                {
                    "condition": name or "all trials",
                    "value": value if name else "",
                    "n": len(mine),
                    "mean (ms)": mine.mean(),
                    "low": mine.mean() - half,
                    "high": mine.mean() + half,
                    "median (ms)": np.median(mine),
                }
            )
    if not rows:
        raise CannotTellError("fewer than two answers have a reaction time")
    made, (axes,) = figure(width=6.0, height=0.9 + 0.24 * min(len(rows), 40))
    shown = rows[:40]
    at = np.arange(len(shown))[::-1]
    middle = np.array([row["mean (ms)"] for row in shown])
    half = np.array([row["high"] - row["mean (ms)"] for row in shown])
    axes.errorbar(middle, at, xerr=half, fmt="o", color=BLUE, capsize=2)
    labels = [
        row["condition"] if row["value"] == "" else f"{row['condition']} = {_short(row['value'])}"
        for row in shown
    ]
    axes.set_yticks(at, [_plain(label) for label in labels])
    axes.set_ylim(-0.6, len(at) - 0.4)
    axes.set_xlabel("mean reaction time (ms), 95 % interval")
    return Result(
        pd.DataFrame(rows),
        made,
        [
            "No strength of the evidence is known: reaction times per value of each condition."
            f" Median of all trials: {np.nanmedian(times):.4g} ms."
        ],
    )


def quantile_probability(behaviour: Behaviour) -> Result:
    """Quantiles of the reaction times over the probability of the outcome, for each strength.

    Ratcliff & Tuerlinckx (2002), doi:10.3758/BF03196302. Correct answers are on the right of 0.5,
    errors on the left; if both come from one distribution, the curves are symmetric.
    """
    behaviour = preferences(behaviour)
    times, level = varied_times(behaviour), _binned(behaviour.level)
    _check_answered(behaviour)
    given = behaviour.answered
    table = measures.quantile_probability(
        times[given], behaviour.correct[given], level[given], QUANTILES
    )
    names = [f"q{q:g}" for q in QUANTILES]
    shown = table.dropna(subset=names).sort_values("probability")
    if shown["level"].nunique() < 2:
        raise CannotTellError("fewer than two strengths have five reaction times of an outcome")
    made, (axes,) = figure()
    for name in names:
        axes.plot(shown["probability"], shown[name], "-", color=GREY, linewidth=0.8, zorder=1)
        for outcome, colour, face in (("correct", BLUE, BLUE), ("error", VERMILION, "white")):
            mine = shown[shown["outcome"] == outcome]
            axes.plot(
                mine["probability"], mine[name], "o", color=colour, markerfacecolor=face,
                label=outcome if name == names[0] and len(mine) else None,
            )  # fmt: skip
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("probability of the outcome")
    axes.set_ylabel("reaction time (ms)")
    legend_above(axes, columns=2)
    quantiles = ", ".join(f"{q:g}" for q in QUANTILES)
    return Result(
        table.rename(columns={name: f"{name} (ms)" for name in names}),
        made,
        [f"Lines from below: quantiles {quantiles}. Points: outcomes with five trials or more."],
    )


def distributions(behaviour: Behaviour) -> Result:
    """Quantiles of the reaction times by outcome and strength, and their histogram."""
    behaviour = preferences(behaviour)
    times = varied_times(behaviour)
    try:
        level: np.ndarray | None = _binned(behaviour.level)
    except CannotTellError:
        level = None
    rows = []
    for outcome, chosen in (
        ("correct", behaviour.correct),
        ("error", behaviour.answered & ~behaviour.correct),
        ("other", behaviour.given & ~behaviour.answered),
    ):
        for value in ["all"] if level is None else ["all", *np.unique(level)]:
            mine = times[chosen & ~np.isnan(times) & (True if value == "all" else level == value)]
            if len(mine) >= 5:
                quantiles = np.quantile(mine, QUANTILES)
                rows.append(
                    {
                        "outcome": outcome,
                        "strength": value,
                        "n": len(mine),
                        **{
                            f"q{q:g} (ms)": time
                            for q, time in zip(QUANTILES, quantiles, strict=True)
                        },
                    }
                )
    if not rows:
        raise CannotTellError(
            "fewer than five correct answers, and fewer than five errors, have a reaction time"
        )
    middle = next(name for name in rows[0] if name.startswith("q0.5"))
    said = ", ".join(
        f"{row['outcome']} {row[middle]:.4g} ms" for row in rows if row["strength"] == "all"
    )
    return Result(pd.DataFrame(rows), _histogram(behaviour, times), [f"Medians: {said}."])


def varied_times(behaviour: Behaviour) -> np.ndarray:
    """Return the reaction times, ms, (n,), NaN without an answer.

    Raises:
        CannotTellError: no answer has one, or all are the same.
    """
    times = behaviour.column("reaction_time")
    known = times[~np.isnan(times) & behaviour.given]
    if not len(known):
        raise CannotTellError("no answer has a reaction time")
    if len(np.unique(known)) == 1:
        raise CannotTellError(
            f"all reaction times are {known[0]:g} ms: the task, or the subject, fixes the time of"
            " the answer"
        )
    return times


def _check_answered(behaviour: Behaviour) -> None:
    """Raise `CannotTellError` if all answers are neither correct nor incorrect."""
    if not behaviour.answered.any():
        raise CannotTellError("no trial was answered correctly or incorrectly")


def _histogram(behaviour: Behaviour, times: np.ndarray) -> Any:
    made, (axes,) = figure()
    known = times[~np.isnan(times) & behaviour.given]
    values = np.unique(known)
    # Simulated times are multiples of dt. Narrower bins would be empty between them.
    step = np.diff(values).min() if len(values) <= 40 else 0
    bins = np.arange(values[0] - step / 2, values[-1] + step, step) if step else 30
    wrong = behaviour.answered & ~behaviour.correct
    for chosen, colour, name in (
        (behaviour.correct, BLUE, "correct"),
        (wrong, VERMILION, "error"),
        (behaviour.given & ~behaviour.answered, GREEN, "other"),
    ):
        mine = times[chosen & ~np.isnan(times)]
        if len(mine):
            axes.hist(mine, bins=bins, color=colour, alpha=0.6, label=f"{name} ({len(mine)})")
    axes.set_xlabel("reaction time (ms)")
    axes.set_ylabel("trials")
    legend_above(axes, columns=3)
    return made


# ---- previous trials ----


def history(behaviour: Behaviour) -> Result:
    """Logistic regression of the choice on the evidence and on the last choice, with lapses.

    The last choice has separate weights after correct and incorrect trials; blocks and a slow drift
    of the bias have their own: see `measures.choice_glm`.
    """
    behaviour = between_choices(behaviour)
    used, lapses, limits = 0, [], dict[str, None]()

    def rows_of(part: Behaviour) -> list[dict[str, Any]]:
        nonlocal used
        found = last_choices(part, 1)
        used += found["lapse"].n
        lapses.append(found["lapse"].value)
        limits.update(dict.fromkeys(found.notes))
        return [
            {**row, "regressor": AFTER.get(row["regressor"], row["regressor"])}
            for row in found.table.to_dict("records")
        ]

    table = pd.DataFrame(over_subjects(behaviour, rows_of, ("regressor",), "weight"))
    shown = table[~table["regressor"].str.startswith(("evidence", "block"))]
    names, weights = shown["regressor"].tolist(), shown["weight"].to_numpy()
    ends = shown[["low", "high"]].to_numpy().T
    made, (axes,) = figure(height=1.6)
    at = np.arange(len(names))[::-1]
    axes.errorbar(weights, at, xerr=np.abs(ends - weights), fmt="o", color=BLUE, capsize=2)
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set_yticks(at, names)
    axes.set_ylim(-0.6, len(at) - 0.4)
    axes.set_xlabel("weight (log odds), 95 % interval")
    return Result(
        table,
        made,
        [
            f"{used} trials that follow the trial before. The last choice is +1 for right and -1"
            " for left. A positive weight of the last choice means that it is repeated. Lapses:"
            f" {np.mean(lapses):.2g} of the trials, half of them errors.",
            *([] if is_population(behaviour) else limits),
            *_right_means(behaviour),
        ],
    )


AFTER = {
    "rewarded, 1 back": "last choice, if correct",
    "unrewarded, 1 back": "last choice, if wrong",
}
"""Regressors of `measures.choice_glm` -> their names in the section on history."""


def side_bias(behaviour: Behaviour) -> Result:
    """Choices to the right, over all trials and where the evidence is weakest, for each block."""
    behaviour.check_sequence()
    behaviour = between_choices(behaviour)
    chosen = behaviour.answered
    if not chosen.any():
        raise CannotTellError("no answer was correct or incorrect")
    _, what = _weakest(behaviour)
    rows = over_subjects(behaviour, _shares, ("block", "trials"), "fraction", (0, 1))
    notes = []
    try:
        if len(np.unique(behaviour.record[behaviour.block])) > LEVELS:
            raise CannotTellError(f"{behaviour.block!r} has more than {LEVELS} values")
        shift, low, high = mean_parameter(behaviour, block_shift)
        notes = [
            f"Block shift: {shift:+.3f} of choices (95 % interval {low:+.3f} to {high:+.3f}),"
            f" {what}; positive: towards the side that {behaviour.block!r} makes likelier."
        ]
        if not is_population(behaviour):
            wide = wide_difference(*_counts_of_blocks(behaviour))
            notes += [f"Block shift: {wide}"] if wide else []
    except CannotTellError as error:
        notes = [f"No block shift: {error}."]
    made, (axes,) = figure(height=0.9 + 0.3 * len(rows))
    at = np.arange(len(rows))[::-1]
    middle = np.array([row["fraction"] for row in rows])
    ends = np.array([[row["low"], row["high"]] for row in rows]).T
    axes.errorbar(middle, at, xerr=np.abs(ends - middle), fmt="o", color=BLUE, capsize=2)
    axes.axvline(0.5, color=GREY, linewidth=0.8)
    axes.set_yticks(at, [_plain(_of_block(row, behaviour)) for row in rows])
    axes.set_ylim(-0.6, len(at) - 0.4)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel(f"{SIDED[behaviour.roles.side == SIGNAL]}, 95 % interval")
    return Result(pd.DataFrame(rows), made, [*notes, *_right_means(behaviour)])


def _shares(behaviour: Behaviour) -> list[dict[str, Any]]:
    """Return the shares of choices to the right: of all, of the weakest evidence, and by block."""
    chosen = behaviour.answered
    weakest, what = _weakest(behaviour)
    rows = [
        _share("all", "all", behaviour, chosen),
        _share("all", what, behaviour, chosen & weakest),
    ]
    try:
        values = behaviour.record[behaviour.block]
    except CannotTellError:
        return rows
    found = np.unique(values)
    return rows + [
        _share(_short(value), what, behaviour, chosen & weakest & (values == value))
        for value in (found if len(found) <= LEVELS else ())
    ]


def mean_parameter(
    behaviour: Behaviour, parameter: Callable[[Behaviour], tuple[float, float, float]]
) -> tuple[float, float, float]:
    """Return a parameter and the ends of its interval: of a record, or the mean over its subjects.

    Raises:
        CannotTellError: fewer than two of several subjects have the parameter.
    """
    if not is_population(behaviour):
        return parameter(behaviour)
    values = []
    for part in behaviour.per_subject().values():
        try:
            values.append(parameter(part)[0])
        except CannotTellError as error:
            reason = error
    if len(values) < 2:
        raise CannotTellError(f"fewer than two subjects have it: {reason}")
    found = population(values)
    return found.mean, found.low, found.high


def _of_block(row: Mapping[str, Any], behaviour: Behaviour) -> str:
    if row["block"] == "all":
        return f"{row['trials']} trials" if row["trials"] == "all" else row["trials"]
    return f"{behaviour.block.replace('_', ' ')} {row['block']}, {row['trials']}"


def block_shift(behaviour: Behaviour) -> tuple[float, float, float]:
    """Return the shift of choices between blocks where the evidence is weakest, and its interval.

    It is P(right) in the block with the largest value minus P(right) in that with the smallest; for
    a column that counts the left side (``p_left``), the reverse. A positive shift is towards the
    side that is likelier. The interval is Newcombe's (1998), Stat. Med. 17:873, method 10.

    Raises:
        CannotTellError: no column is known to be the block, it is not a number, or the weakest
            evidence was answered in fewer than two blocks.
    """
    return difference_interval(*_counts_of_blocks(behaviour))


def _counts_of_blocks(behaviour: Behaviour) -> tuple[int, int, int, int]:
    """Return choices to the right, and answers, in the likelier block and then in the other."""
    values = behaviour.record[behaviour.block]
    if values.dtype.kind not in "biuf":
        raise CannotTellError(f"{behaviour.block!r} is not a number, so a shift has no sign")
    weakest, _ = _weakest(behaviour)
    chosen = behaviour.answered & weakest
    found = np.unique(values[chosen])
    if len(found) < 2:
        raise CannotTellError(
            f"the weakest evidence was answered in {len(found)} block; a shift needs two"
        )
    ends = [found[-1], found[0]]
    if "left" in behaviour.block:
        ends.reverse()
    (k1, n1), (k2, n2) = (
        (int(behaviour.chose_right[here].sum()), int(here.sum()))
        for here in (chosen & (values == value) for value in ends)
    )
    return k1, n1, k2, n2


def _weakest(behaviour: Behaviour) -> tuple[np.ndarray, str]:
    try:
        level = behaviour.level
    except CannotTellError:
        return np.ones(len(behaviour), bool), "all strengths"
    least = level.min()
    return level == least, f"{behaviour.strength} {_short(least)}"


def _share(block: str, trials: str, behaviour: Behaviour, chosen: np.ndarray) -> dict[str, Any]:
    k, n = int(behaviour.chose_right[chosen].sum()), int(chosen.sum())
    low, high = wilson_interval(k, n)
    return {
        "block": block,
        "trials": trials,
        "right": k,
        "n": n,
        "fraction": k / n if n else np.nan,
        "low": low,
        "high": high,
    }


# ---- reward and confidence ----


def stay(behaviour: Behaviour) -> Result:
    """Fraction of trials that repeat the last choice, after rewarded and unrewarded trials.

    In a two-step task, common and rare transitions are separated (Daw et al. 2011,
    doi:10.1016/j.neuron.2011.02.027). A model-free subject responds to reward in the same way after
    both; for a model-based subject, the effect of reward is reversed after rare transitions.
    """
    record = behaviour.record
    slots = slots_of(record)
    choice = record[f"{slots[0]}.choice"] if slots else behaviour.column("choice")
    if "reward" not in record:
        raise CannotTellError("the record has no column 'reward'")
    if choice.dtype.kind not in "iu" or len(np.unique(choice[choice >= 0])) < 2:
        raise CannotTellError("the record has only one choice, so repeating it has no meaning")
    rewarded = behaviour.before(record["reward"] > 0)
    used = behaviour.after & (choice >= 0) & behaviour.before(choice >= 0)
    if not used.any():
        raise CannotTellError("no two successive trials were answered")
    kinds = {"": np.ones(len(behaviour), bool)}
    if "common" in record and record["common"].dtype.kind == "b":
        common = behaviour.before(record["common"])
        kinds = {"common": common, "rare": ~common}
    rows = []
    for kind, of_kind in kinds.items():
        for name, paid in (("rewarded", rewarded), ("unrewarded", ~rewarded)):
            chosen = used & of_kind & paid
            k, n = int((choice == behaviour.before(choice))[chosen].sum()), int(chosen.sum())
            low, high = wilson_interval(k, n)
            rows.append(
                {
                    "transition": kind,
                    "last trial": name,
                    "stayed": k,
                    "n": n,
                    "fraction": k / n if n else np.nan,
                    "low": low,
                    "high": high,
                }
            )
    table = pd.DataFrame(rows)
    said = ", ".join(
        f"{row['fraction']:.3g} after {row['transition']} {row['last trial']} trials"
        for row in rows
        if row["n"]
    )
    return Result(
        table if len(kinds) > 1 else table.drop(columns="transition"),
        _stay_figure(rows),
        [f"Last choice repeated: {' '.join(said.split())}."],
    )


def _stay_figure(rows: Sequence[dict[str, Any]]) -> Any:
    made, (axes,) = figure()
    at = np.arange(len(rows))
    middle = np.array([row["fraction"] for row in rows])
    ends = np.abs(np.array([[row["low"], row["high"]] for row in rows]).T - middle)
    axes.bar(
        at,
        middle,
        yerr=ends,
        width=0.6,
        capsize=3,
        color=[BLUE if row["last trial"] == "rewarded" else VERMILION for row in rows],
    )
    axes.set_xticks(at, [f"{row['last trial']}\n{row['transition']}".strip() for row in rows])
    axes.set_ylim(0, 1)
    axes.set_ylabel("fraction repeated, 95 % interval")
    return made


def wager(behaviour: Behaviour) -> Result:
    """Frequency of sure bets, and accuracy with and without the offer, by strength.

    Kiani & Shadlen (2009), doi:10.1126/science.1169405: a subject that knows its confidence takes
    the sure bet when the evidence is weak, and is more often correct when it waives the bet than
    when it gets no offer.
    """
    outcome = behaviour.column("outcome")
    sure = outcome == "other"
    if not sure.any() or not behaviour.answered.any():
        raise CannotTellError("the record needs sure bets as well as correct or incorrect answers")
    level = _binned(behaviour.level)
    offered = _was_offered(behaviour, sure)
    rows = []
    for value in np.unique(level):
        here = level == value
        given, taken = here & offered & (sure | behaviour.answered), here & sure
        waived, without = here & offered & behaviour.answered, here & ~offered & behaviour.answered
        rows.append(
            {
                "strength": value,
                "offered": int(given.sum()),
                **_fraction("took it", taken, given),
                **_fraction("correct, waived", behaviour.correct, waived),
                "n waived": int(waived.sum()),
                **_fraction("correct, not offered", behaviour.correct, without),
                "n not offered": int(without.sum()),
            }
        )
    table = pd.DataFrame(rows)
    made, (left, right) = figure(2)
    for axes, what, names in (
        (left, "fraction of sure bets, 95 % interval", ["took it"]),
        (right, "fraction correct, 95 % interval", ["correct, waived", "correct, not offered"]),
    ):
        axis = StrengthAxis(axes, table["strength"], _plain(with_unit(behaviour.strength)))
        for index, name in enumerate(names):
            colour = GREEN if len(names) == 1 else (BLUE, VERMILION)[index]
            x = axis.beside(table["strength"], index, len(names))
            axes.vlines(x, table[f"{name}, low"], table[f"{name}, high"], color=colour)
            axis.line(x, table[name], marker="o", color=colour, linestyle=("-", "--")[index],
                      label=name.removeprefix("correct, "))  # fmt: skip
        axes.set_ylabel(what)
        axes.set_ylim(-0.02, 1.02)
    right.legend(loc="lower right")
    weak, strong = table.iloc[0], table.iloc[-1]
    said = (
        f"Sure bets: {weak['took it']:.3g} at strength {weak['strength']:g},"
        f" {strong['took it']:.3g} at {strong['strength']:g}."
    )
    return Result(table, made, [said])


def _was_offered(behaviour: Behaviour, sure: np.ndarray) -> np.ndarray:
    """Return whether the bet was offered, bool (n,).

    It counts as offered at those values of the column at which it was ever taken, and in all trials
    if there is no such column.
    """
    try:
        values = behaviour.record[behaviour.offered]
    except CannotTellError:
        return np.ones(len(behaviour), bool)
    return np.isin(values, np.unique(values[sure]))


def _fraction(name: str, hit: np.ndarray, of: np.ndarray) -> dict[str, float]:
    """Return a fraction and its Wilson interval, as columns of a table."""
    n = int(of.sum())
    k = int(hit[of].sum())
    low, high = wilson_interval(k, n) if n else (np.nan, np.nan)
    value = k / n if n else np.nan
    return {name: value, f"{name}, low": float(low), f"{name}, high": float(high)}


# ---- formatting ----


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float | np.floating) else str(value)


def _plain(text: str) -> str:
    """Escape $ for a figure, because matplotlib reads $…$ as mathematics."""
    return text.replace("$", r"\$")


# ---- learning ----


def learning(behaviour: Behaviour) -> Result:
    """Performance over the trials of each subject, their mean, and the trials to 80 %.

    Trials are averaged in groups of at least 20, at most 50 groups.
    """
    behaviour.check_sequence()
    record = behaviour.record
    score = (
        record["performance"].astype(float)
        if "performance" in record
        else np.where(behaviour.answered, behaviour.correct, np.nan).astype(float)
    )
    curves = []
    for name, part in behaviour.per_subject().items():
        alone = len(part) == len(behaviour)
        mine = score if alone else score[record["subject"].astype(str) == name]
        mine = mine[~np.isnan(mine)]
        groups = min(len(mine) // 20, 50)
        if groups > 2:
            parts = np.array_split(np.arange(len(mine)), groups)
            curves.append(
                ([part.mean() + 1 for part in parts], [mine[part].mean() for part in parts])
            )
    if not curves:
        raise CannotTellError("fewer than 60 trials of a subject have a score")
    found = measures.learning_curve(curves, CRITERION)
    made, (axes,) = figure()
    for x, y in curves if len(curves) > 1 else ():
        axes.plot(x, y, color=GREY, linewidth=0.7, alpha=0.7)
    axes.plot(found.table["at"], found.table["mean"], color=BLUE, linewidth=2)
    axes.axhline(CRITERION, color=GREY, linewidth=0.8, linestyle="--",
                 label=f"{CRITERION:.0%}".replace("%", " %"))  # fmt: skip
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel("trial")
    axes.set_ylabel("performance")
    legend_above(axes)
    x, y = found.table["at"], found.table["mean"]
    return Result(
        found.table,
        made,
        [
            f"{len(curves)} subject{'s' * (len(curves) > 1)}: performance {y.iloc[0]:.3g} at trial"
            f" {x.iloc[0]:.0f}, {y.iloc[-1]:.3g} at trial {x.iloc[-1]:.0f}."
        ],
    )


# ---- reports of numbers, times and angles ----


def reports(behaviour: Behaviour) -> Result:
    """Reported numbers, or produced times, against the wanted ones.

    Jazayeri & Shadlen (2010), doi:10.1038/nn.2590: a slope below 1 is a regression to the mean, and
    a constant coefficient of variation is scalar timing.
    """
    record = behaviour.record
    if ANGULAR_ERROR in record:
        raise CannotTellError("the answers are on a circle: see there")
    if WANTED not in record or record[WANTED].dtype.kind not in "iuf":
        raise CannotTellError("the task asks for no number or time (column 'wanted')")
    if REPORTED not in record:
        raise CannotTellError("the record has no column 'reported'")
    wanted, reported = record[WANTED].astype(float), record[REPORTED].astype(float)
    used = ~np.isnan(reported) & ~np.isnan(wanted)
    if used.sum() < FEWEST or len(np.unique(wanted[used])) < 2:
        raise CannotTellError(
            f"{int(used.sum())} reports of {len(np.unique(wanted[used]))} values; at least"
            f" {FEWEST} of two are needed"
        )
    wanted, reported = wanted[used], reported[used]
    binned = _binned(wanted)
    rows = [
        {
            "wanted": value,
            "n": int((here := binned == value).sum()),
            "mean": reported[here].mean(),
            "SD": reported[here].std(ddof=1) if here.sum() > 1 else np.nan,
            "bias": (reported - wanted)[here].mean(),
        }
        for value in np.unique(binned)
    ]
    table = pd.DataFrame(rows)
    slope = measures.fitted_line(wanted, reported)
    error = reported - wanted
    made, (axes,) = figure()
    ends = [table["wanted"].min(), table["wanted"].max()]
    axes.plot(ends, ends, "--", color=GREY, linewidth=0.8, label="wanted")
    axes.errorbar(
        table["wanted"], table["mean"], yerr=table["SD"], fmt="o", color=BLUE, capsize=2,
        label="mean ± SD",
    )  # fmt: skip
    produced = "reaction_time" in record and np.array_equal(reported, record["reaction_time"][used])
    unit = " (ms)" if produced else ""
    axes.set_xlabel(f"wanted{unit}")
    axes.set_ylabel(f"{'produced' if produced else 'reported'}{unit}")
    axes.legend(frameon=False)
    return Result(
        table,
        made,
        [
            f"{len(reported)} reports: slope {slope.value:.3g} (95 % interval {slope.low:.3g} to"
            f" {slope.high:.3g}), bias {error.mean():.4g}, SD of the error"
            f" {error.std(ddof=1):.4g}{unit}."
        ],
    )


def circular_errors(behaviour: Behaviour) -> Result:
    """Errors of reports on a circle: their distribution, bias and spread, for each condition.

    The circular SD is sqrt(-2 log R) of the mean resultant length R; guesses have an R of 0.
    """
    record = behaviour.record
    if ANGULAR_ERROR not in record:
        raise CannotTellError("the answers are not on a circle (column 'angular_error')")
    error = record[ANGULAR_ERROR].astype(float)
    used = ~np.isnan(error)
    if used.sum() < FEWEST:
        raise CannotTellError(f"{int(used.sum())} reports; at least {FEWEST} are needed")
    rows = [_circular_row("all trials", "", error[used])]
    for name in behaviour.conditions:
        values = record[name]
        if name not in (ANGULAR_ERROR, "answer") and len(np.unique(values)) <= LEVELS:
            rows += [
                _circular_row(name, value, mine)
                for value in np.unique(values)
                if len(mine := error[used & (values == value)]) > 1
            ]
    made, (axes,) = figure()
    axes.hist(error[used], bins=np.linspace(-180, 180, 37), color=BLUE, alpha=0.7)
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set_xticks([-180, -90, 0, 90, 180])
    axes.set_xlabel("error (degrees)")
    axes.set_ylabel("trials")
    one = rows[0]
    return Result(
        pd.DataFrame(rows),
        made,
        [
            f"{one['n']} reports: bias {one['bias (degrees)']:.3g} degrees, circular SD"
            f" {one['circular SD (degrees)']:.4g} degrees, median distance"
            f" {one['median distance (degrees)']:.4g} degrees."
        ],
    )


def _circular_row(name: str, value: Any, error: np.ndarray) -> dict[str, Any]:
    mean = np.exp(1j * np.deg2rad(error)).mean()
    length = min(max(abs(mean), 1e-12), 1.0)
    return {
        "condition": name,
        "value": value,
        "n": len(error),
        "bias (degrees)": float(np.rad2deg(np.angle(mean))),
        "circular SD (degrees)": float(np.rad2deg(np.sqrt(-2 * np.log(length)))),
        "median distance (degrees)": float(np.median(np.abs(error))),
    }


def kernel(behaviour: Behaviour) -> Result:
    """Weight of the evidence at each time: logistic regression of the choice.

    It needs the evidence over time: columns ``left`` and ``right`` with a value for each time
    (clicks, pulses), or ``shown_evidence`` (n, times), positive for the larger choice, which
    reports of a task that is played have if it shows its evidence in two channels. Brunton et al.
    (2013), doi:10.1126/science.1233912.
    """
    record = behaviour.record
    used = behaviour.answered
    if SHOWN in record and record[SHOWN].ndim == 2:
        shown = record[SHOWN].astype(float)
    else:
        shown, used = clicks_over_time(behaviour)
    bins = next(k for k in (KERNEL_BINS, 5, 4, 3, 2, 1) if shown.shape[1] >= k)
    parts = np.array_split(np.arange(shown.shape[1]), bins)
    shown = np.stack([shown[:, part].mean(axis=1) for part in parts], axis=1)
    used = used & ~np.isnan(shown).any(axis=1) & (shown.std() > 0)
    if used.sum() < FEWEST:
        raise CannotTellError(
            f"{int(used.sum())} answered trials have evidence over time; at least {FEWEST} are"
            " needed"
        )
    try:
        found = measures.psychophysical_kernel(shown[used], behaviour.chose_right[used])
    except InvalidValueError as error:
        raise CannotTellError(str(error).rstrip(".")) from error
    weights = [found.measures[str(k)] for k in range(bins)]
    made, (axes,) = figure()
    at = np.arange(bins) + 1
    middle = np.array([one.value for one in weights])
    ends = np.array([[one.low, one.high] for one in weights]).T
    axes.errorbar(at, middle, yerr=np.abs(ends - middle), fmt="o-", color=BLUE, capsize=2)
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.set_xticks(at)
    axes.set_xlabel(f"part of the evidence, of {bins}")
    axes.set_ylabel("weight (log odds per SD), 95 % interval")
    trend = found["trend"]
    return Result(
        pd.DataFrame(
            [
                {"part": k + 1, "weight": one.value, "low": one.low, "high": one.high}
                for k, one in enumerate(weights)
            ]
        ),
        made,
        [
            f"{int(used.sum())} trials. Change of the weights from the first part to the last,"
            f" relative to their mean: {trend.value:.3g} (95 % interval {trend.low:.3g} to"
            f" {trend.high:.3g}); 0 is a flat kernel, negative values are primacy."
        ],
    )


ANALYSES = (
    Analysis("accuracy", "Accuracy per condition", accuracy_per_condition, means=True),
    Analysis("slots", "Accuracy of each answer", accuracy_of_slots, of="trial"),
    Analysis("detection", "Hits and false alarms", hits_and_false_alarms),
    Analysis("psychometric", "Psychometric function", psychometric, means=True),
    Analysis("psychometric-by", "Psychometric function by condition", psychometric_by, means=True),
    Analysis("chronometric", "Chronometric function", chronometric, means=True),
    Analysis("quantile-probability", "Quantiles of reaction times", quantile_probability),
    Analysis("reaction-times", "Distributions of reaction times", distributions),
    Analysis("kernel", "Psychophysical kernel", kernel),
    Analysis("reports", "Reported numbers and produced times", reports),
    Analysis("circular", "Errors on a circle", circular_errors),
    Analysis("trials", "Performance over the trials", learning, of="trial", means=True),
    Analysis("history", "History effects", history, means=True),
    Analysis("bias", "Side bias and block shift", side_bias, means=True),
    Analysis("stay", "Stay probabilities", stay, of="first"),
    Analysis("wager", "Wagers", wager),
    Analysis("measures", "Standard measures", standard_measures),
)
"""All analyses, the most important first."""
