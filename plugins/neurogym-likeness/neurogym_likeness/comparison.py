"""Compare a record with real subjects: curves in one figure, and distances between them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from neurogym_behaviour.analyses import MISFIT, block_shift, mean_parameter, misfit_of, varied_times
from neurogym_behaviour.behaviour import Behaviour, CannotTellError
from neurogym_behaviour.figures import MARKERS, StrengthAxis, legend_above, with_unit
from neurogym_behaviour.findings import Analysis, Finding, Result, figure
from neurogym_behaviour.intervals import wilson_interval
from neurogym_behaviour.psychometric import fit_psychometric
from neurogym_behaviour.references import Reference, Subject, share_correct, summarised
from neurogym_plot.canvas import BLUE, GREY, VERMILION, cycle_colour

from neurogym_core import InvalidValueError

ERF_WIDTH = 1.702 * np.sqrt(2)
"""Product of the width t of (1 + erf(x / t)) / 2 and the slope of the nearest logistic function.

The two functions differ by less than 0.01.
"""
SAME = 1e-6
"""Relative tolerance within which strengths are equal."""
LEAST = 3
"""Minimum number of strengths of a comparison."""
MOST = 4
"""Number of reference subjects that are compared with each other."""
SAMPLES = 2000
"""Number of simulated pairs of samples for a p-value."""


def compare_with(behaviour: Behaviour, reference: Reference) -> list[Finding]:
    """Return the findings of all comparisons, including those that could not be done."""
    comparisons: Sequence[tuple[str, str, Callable[[], Result]]] = (
        ("accuracy", "Accuracy over strength", lambda: over_strength(behaviour, reference)),
        (
            "reaction-times",
            "Mean reaction time of correct trials over strength",
            lambda: times_over_strength(behaviour, reference),
        ),
        ("parameters", "Parameters", lambda: parameters(behaviour, reference)),
        ("blocks", "Choices to the right per block", lambda: blocks(behaviour, reference)),
    )

    def checked(do: Callable[[], Result]) -> Result:
        check_task(behaviour, reference)
        return do()

    return [
        Analysis(name, title, lambda _, do=do: checked(do), means=True)(behaviour)
        for name, title, do in comparisons
    ]


# ---- may they be compared? ----


def check_task(behaviour: Behaviour, reference: Reference) -> None:
    """Raise `CannotTellError` if the record is known to be of a task of another kind."""
    task = str(behaviour.record.meta.get("task", ""))
    tasks = reference.tasks or tuple(
        name for one in reference.subjects for name in one.tasks if one.tasks
    )
    if task and tasks and not _is_of(task, tasks):
        raise CannotTellError(
            f"the record is of {task}, and {reference.name} can be compared with"
            f" {', '.join(dict.fromkeys(tasks))}"
        )


def _is_of(task: str, parts: Sequence[str]) -> bool:
    return any(part.lower() in task.lower() for part in parts)


def check_axis(behaviour: Behaviour, reference: Reference) -> None:
    """Raise `CannotTellError` if strengths have another name or unit than the reference's."""
    if not reference.axis:
        return
    name, wanted = behaviour.strength, reference.axis
    if wanted != name and not name.endswith(f"_{wanted}"):
        raise CannotTellError(
            f"the record's strength is {name!r}, and that of {reference.name} is"
            f" {reference.strength}; if they are the same, rename it: --map {wanted}={name}"
        )
    if reference.unit == "%" and 0 < behaviour.level.max() <= 1:
        raise CannotTellError(
            f"{name!r} of the record goes from {behaviour.level.min():g} to"
            f" {behaviour.level.max():g}, and {reference.name} is in %: fractions become percent"
            f" with --scale {name}=100"
        )


# ---- over strength ----


def over_strength(behaviour: Behaviour, reference: Reference) -> Result:
    """Fractions correct in one figure, and their distance to each subject.

    The distance is the root mean squared difference over the strengths that both have; if these are
    fewer than three, the record's fitted curve is taken at the reference's strengths within its
    range. Two samples of the same subject differ too: `noise floor` is the distance expected
    between such samples, and `p` the fraction of them that are further away. `excess` is
    sqrt(max(distance^2 - floor^2, 0)). Rows of two reference subjects compare these with each
    other: that is how much animals differ.
    """
    check_axis(behaviour, reference)
    mine, each = _summaries(behaviour)
    if mine.correct is None:
        raise CannotTellError("the record has no strength of the evidence; name it with --strength")
    others = [one for one in reference.subjects if one.correct is not None]
    if not others:
        raise CannotTellError("the reference does not report the fraction correct over strength")
    rows = [_distance(mine, other, behaviour) for other in others]
    rows += [
        {"subject": f"{one.name} and {other.name}", **_distance(one, other, None, named=False)}
        for one, other in _pairs(others)
    ]
    made, (axes,) = figure(width=5.4, height=4)
    curves = [replace(mine, name=_name(behaviour, each)), *others]
    axis = _axis_of(axes, [*curves, *each], behaviour, reference)
    for one in each:
        axis.line(one.strengths, one.correct, color=GREY, alpha=0.4, linewidth=0.8)
    for index, one in enumerate(curves):
        low, high = (one.correct, one.correct) if one.n is None else wilson_interval(
            np.round(one.correct * one.n), one.n
        )  # fmt: skip
        _curve(axis, one, one.correct, (low, high), index, len(curves))
    axes.set_ylabel("fraction correct, 95 % interval")
    axes.set_ylim(0.35, 1.02)
    legend_above(axes)
    notes = [_said_distance(row) for row in rows]
    return Result(pd.DataFrame(rows), made, [*notes, *_spread(each)])


def _summaries(behaviour: Behaviour) -> tuple[Subject, list[Subject]]:
    """Return the summary of the record, and those of its subjects if there are several.

    The summary of several subjects is their mean, so that none counts more than the others.
    """
    whole = summarised(behaviour.record, behaviour.roles, "record")
    parts = behaviour.per_subject()
    if len(parts) < 2 or whole.strengths is None:
        return whole, []
    each = [summarised(part.record, behaviour.roles, name) for name, part in parts.items()]
    each = [one for one in each if one.strengths is not None]

    def mean_of(values: str) -> np.ndarray:
        table = np.full((len(each), len(whole.strengths)), np.nan)
        for row, one in zip(table, each, strict=True):
            if getattr(one, values) is not None:
                row[np.searchsorted(whole.strengths, one.strengths)] = getattr(one, values)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # no subject has this strength
            return np.nanmean(table, axis=0)

    times = None if whole.reaction_time is None else mean_of("reaction_time")
    return replace(whole, correct=mean_of("correct"), reaction_time=times), each


def _name(behaviour: Behaviour, each: Sequence[Subject]) -> str:
    said = str(behaviour.record.meta.get("subject", "record"))
    return f"{said}: mean of {len(each)} subjects" if each else said


def _spread(each: Sequence[Subject]) -> list[str]:
    if not each:
        return []
    shares = [one.parameters["correct"].value for one in each if "correct" in one.parameters]
    return [
        f"The record has {len(each)} subjects; their fractions correct are {np.mean(shares):.3f} ±"
        f" {np.std(shares, ddof=1):.3f} (mean ± standard deviation between subjects)."
    ]


def _distance(
    mine: Subject, other: Subject, behaviour: Behaviour | None, *, named: bool = True
) -> dict[str, Any]:
    here, there = _common(mine, other)
    if len(here) >= LEAST or behaviour is None:
        if len(here) < LEAST:
            raise _too_few(mine, other, len(here))
        p, n = mine.correct[here], mine.n[here]
    else:
        there, p = _on_curve(mine, other, behaviour, len(here))
        n = np.full(len(there), mine.n.sum() / len(mine.n))
    q, m = other.correct[there], None if other.n is None else other.n[there]
    distance = _root(p - q)
    floor, p_value = _noise(distance, p, n, q, m)
    return {
        **({"subject": other.name} if named else {}),
        "strengths": len(q),
        "distance": distance,
        "noise floor": floor,
        "p": p_value,
        "excess": None if floor is None else float(np.sqrt(max(distance**2 - floor**2, 0))),
        "from": "points" if len(here) >= LEAST else "fitted curve",
    }


def _on_curve(
    mine: Subject, other: Subject, behaviour: Behaviour, common: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return indices of the reference's strengths within the record's, and its curve there."""
    inside = (other.strengths >= mine.strengths.min()) & (other.strengths <= mine.strengths.max())
    if inside.sum() < LEAST:
        raise _too_few(mine, other, common)
    try:
        fit = _fit(
            behaviour,
            behaviour.level,
            behaviour.correct,
            shape="weibull",
            guess=1 / behaviour.roles.choices,
        )
    except CannotTellError as error:
        raise _too_few(mine, other, common) from error
    there = np.flatnonzero(inside)
    return there, fit.predict(other.strengths[there])


def _too_few(mine: Subject, other: Subject, common: int) -> CannotTellError:
    return CannotTellError(
        f"{common} strengths are in both, and at least {LEAST} are needed: the record has"
        f" {_some(mine.strengths)}; {other.name} has {_some(other.strengths)}; check the units, or"
        " give a factor with --scale"
    )


def times_over_strength(behaviour: Behaviour, reference: Reference) -> Result:
    """Mean reaction times of correct trials in one figure, and their distance to each subject.

    `shape` is the distance that remains if a constant is added to the record's times: reaction
    times of networks exclude the time to see and to move. Its `noise floor` is expected from the
    standard errors alone.
    """
    check_axis(behaviour, reference)
    mine, each = _summaries(behaviour)
    if mine.reaction_time is None or np.isnan(mine.reaction_time).all():
        raise CannotTellError("the record has no reaction times over strength")
    varied_times(behaviour)
    others = [one for one in reference.subjects if one.reaction_time is not None]
    if not others:
        raise CannotTellError("the reference does not report reaction times over strength")
    rows = [_time_distance(mine, other) for other in others]
    rows += [
        {**_time_distance(one, other), "subject": f"{one.name} and {other.name}"}
        for one, other in _pairs(others)
    ]
    made, (axes,) = figure(width=5.4, height=4)
    curves = [replace(mine, name=_name(behaviour, each)), *others]
    timed = [one for one in each if one.reaction_time is not None]
    axis = _axis_of(axes, [*curves, *timed], behaviour, reference)
    for one in timed:
        axis.line(one.strengths, one.reaction_time, color=GREY, alpha=0.4, linewidth=0.8)
    for index, one in enumerate(curves):
        half = 0.0 if one.reaction_time_se is None else 1.96 * np.nan_to_num(one.reaction_time_se)
        ends = one.reaction_time - half, one.reaction_time + half
        _curve(axis, one, one.reaction_time, ends, index, len(curves))
    axes.set_ylabel("mean reaction time, correct trials (ms), 95 % interval")
    legend_above(axes)
    notes = [
        f"{row['subject']}: {row['distance (ms)']:.0f} ms apart;"
        f" {row['shape (ms)']:.0f} ms if {row['added (ms)']:.0f} ms are added to the"
        f" {'first' if ' and ' in row['subject'] else 'record'}'s times"
        + (
            "."
            if row["noise floor (ms)"] is None
            else f"; {row['noise floor (ms)']:.0f} ms are expected from the standard errors alone."
        )
        for row in rows
    ]
    return Result(pd.DataFrame(rows), made, notes)


def _time_distance(mine: Subject, other: Subject) -> dict[str, Any]:
    here, there = _common(mine, other)
    difference = other.reaction_time[there] - mine.reaction_time[here]
    known = ~np.isnan(difference)
    if known.sum() < LEAST:
        raise _too_few(mine, other, int(known.sum()))
    difference = difference[known]
    floor = None
    if mine.reaction_time_se is not None and other.reaction_time_se is not None:
        variance = (mine.reaction_time_se[here] ** 2 + other.reaction_time_se[there] ** 2)[known]
        # The added constant takes one degree of freedom.
        floor = float(np.sqrt(np.nanmean(variance) * (1 - 1 / len(difference))))
    return {
        "subject": other.name,
        "strengths": len(difference),
        "distance (ms)": _root(difference),
        "added (ms)": float(difference.mean()),
        "shape (ms)": _root(difference - difference.mean()),
        "noise floor (ms)": floor,
    }


def _pairs(others: Sequence[Subject]) -> list[tuple[Subject, Subject]]:
    """Return the pairs of reference subjects that have enough strengths in common."""
    few = others[:MOST]
    return [pair for pair in combinations(few, 2) if len(_common(*pair)[0]) >= LEAST]


def _common(mine: Subject, other: Subject) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of common strengths in `mine` and in `other`, (k,) each."""
    near = np.abs(mine.strengths[:, None] - other.strengths[None]) < SAME * np.maximum(
        1, np.abs(other.strengths)
    )
    here, there = np.nonzero(near)
    return here, there


def _noise(
    distance: float, p: np.ndarray, n: np.ndarray, q: np.ndarray, m: np.ndarray | None
) -> tuple[float | None, float | None]:
    """Return the distance expected between two samples of one subject, and P(further away)."""
    if m is None:
        return None, None
    pooled = (p * n + q * m) / (n + m)
    floor = float(np.sqrt(np.mean(pooled * (1 - pooled) * (1 / n + 1 / m))))
    rng = np.random.default_rng(0)
    drawn = [rng.binomial(np.round(t).astype(int), pooled, (SAMPLES, len(p))) / t for t in (n, m)]
    samples = np.sqrt(np.mean((drawn[0] - drawn[1]) ** 2, axis=1))
    return floor, float((1 + np.sum(samples >= distance)) / (1 + SAMPLES))


def _said_distance(row: Mapping[str, Any]) -> str:
    said = f"{row['subject']}: {row['distance']:.3f} apart over {row['strengths']} strengths"
    if row["from"] == "fitted curve":
        said += " (from the record's fitted curve, because fewer strengths are in both)"
    if row["noise floor"] is None:
        return f"{said}; the numbers of trials are unknown."
    return (
        f"{said}; {row['noise floor']:.3f} is expected between two samples of the same subject"
        f" (p = {row['p']:.2g})."
    )


# ---- parameters and blocks ----


def parameters(behaviour: Behaviour, reference: Reference) -> Result:
    """Parameters of the record with their intervals, and those of the reference.

    `z` is their difference in standard deviations between the reference's subjects.
    """
    task = str(behaviour.record.meta.get("task", ""))
    subjects = [
        one for one in reference.subjects if not (task and one.tasks) or _is_of(task, one.tasks)
    ]
    if reference.kind == "criteria" and len(subjects) > 1:
        raise CannotTellError(
            f"{reference.name} has one criterion per task"
            f" ({', '.join(one.name for one in subjects)}), and the record does not name its task"
        )
    wanted = sorted({name for one in subjects for name in one.parameters})
    mine, reasons, notes = {}, [], []
    for name in wanted:
        try:
            mine[name] = mean_parameter(
                behaviour, partial(_parameter, name, reference=reference, notes=notes)
            )
        except CannotTellError as error:
            reasons.append(f"{name}: {error}")
    if not mine:
        raise CannotTellError("; ".join(reasons) or "the reference reports no parameters")
    rows = []
    for one in subjects:
        for name, theirs in one.parameters.items():
            if name in mine:
                value, low, high = mine[name]
                difference = value - theirs.value
                rows.append(
                    {
                        "subject": one.name,
                        "parameter": name,
                        "record": value,
                        "low": low,
                        "high": high,
                        "theirs": theirs.value,
                        "their standard error": theirs.se,
                        "their deviation": theirs.deviation,
                        "difference": difference,
                        "z": difference / theirs.deviation if theirs.deviation else None,
                    }
                )
    said = [
        f"{row['subject']}: {row['parameter']} {row['record']:.4g} ({row['low']:.4g} to"
        f" {row['high']:.4g}), theirs {row['theirs']:.4g}."
        for row in rows
    ]
    skipped = [f"Skipped: {reason}." for reason in reasons]
    return Result(pd.DataFrame(rows), None, [*said, *dict.fromkeys(notes), *skipped])


def _parameter(
    name: str, behaviour: Behaviour, reference: Reference, notes: list[str]
) -> tuple[float, float, float]:
    """Return a parameter of the record, and the ends of its interval; misfits go to `notes`."""
    if name == "correct":
        share = share_correct(behaviour)
        n = int(behaviour.answered.sum())
        return (share, *wilson_interval(round(share * n) if n else 0, n))
    if name == "block_shift":
        return block_shift(behaviour)
    check_axis(behaviour, reference)
    if name in ("weibull_threshold", "weibull_slope"):
        fit = _fit(behaviour, behaviour.level, behaviour.correct, shape="weibull", guess=0.5)
        key = name.removeprefix("weibull_")
    elif name in ("erf_threshold", "bias", "lapses"):
        fit = _fit(
            behaviour, behaviour.signed, behaviour.chose_right, shape="logistic", guess="free"
        )
        key = {"erf_threshold": "slope", "bias": "threshold", "lapses": "lapse"}[name]
    else:
        raise CannotTellError("it is not computed from records")
    if fit.p_value < MISFIT:
        notes += misfit_of(fit)
    if name == "lapses":
        (low, high), (low_2, high_2) = fit.intervals["guess"], fit.intervals["lapse"]
        return (fit.guess + fit.lapse) / 2, (low + low_2) / 2, (high + high_2) / 2
    if key in fit.undetermined:
        raise CannotTellError("the data do not determine it")
    value, (low, high) = float(getattr(fit, key)), fit.intervals[key]
    if name == "erf_threshold":
        return ERF_WIDTH / value, ERF_WIDTH / high, ERF_WIDTH / low
    return value, low, high


def _fit(behaviour: Behaviour, strength: np.ndarray, hit: np.ndarray, **how: Any) -> Any:
    try:
        return fit_psychometric(behaviour.record, strength, hit, slot=behaviour.slot, **how)
    except InvalidValueError as error:
        raise CannotTellError(f"no curve could be fitted ({str(error).split('. ')[0]})") from error


def blocks(behaviour: Behaviour, reference: Reference) -> Result:
    """Choices to the right where the evidence is weakest, for each block."""
    others = [one for one in reference.subjects if one.blocks]
    if not others:
        raise CannotTellError("the reference does not report choices per block")
    mine = _per_block(behaviour)
    rows = []
    for one in others:
        for value, (hits, trials) in one.blocks.items():
            if value in mine:
                share, n = mine[value]
                low, high = wilson_interval(round(share * n), n)
                their_low, their_high = wilson_interval(hits, trials)
                rows.append(
                    {
                        "subject": one.name,
                        "block": value,
                        "record": share,
                        "low": low,
                        "high": high,
                        "n": n,
                        "theirs": hits / trials,
                        "their low": their_low,
                        "their high": their_high,
                        "their n": trials,
                        "difference": share - hits / trials,
                    }
                )
    if not rows:
        raise CannotTellError(f"no block is in both: the record has {', '.join(mine)}")
    table = pd.DataFrame(rows)
    made, (axes,) = figure(width=max(4.6, 0.9 * len(rows)))
    at = np.arange(len(table))
    said = _name(behaviour, [])
    # Side by side, so that the intervals do not hide each other.
    for shift, colour, form, label, middle, ends in (
        (-0.08, BLUE, "o", said, "record", ("low", "high")),
        (0.08, VERMILION, "s", reference.title, "theirs", ("their low", "their high")),
    ):
        axes.vlines(at + shift, table[ends[0]], table[ends[1]], color=colour)
        axes.plot(at + shift, table[middle], form, color=colour, label=label)
    names = table["block"] if len(others) == 1 else table["subject"] + "\n" + table["block"]
    axes.set_xticks(at, [_plain(name) for name in names])
    axes.set_xlim(-0.6, len(at) - 0.4)
    axes.set_xlabel(_plain(with_unit(behaviour.block)))
    axes.set_ylabel("fraction of choices to the right, 95 % interval")
    axes.set_ylim(0, 1)
    legend_above(axes)
    said = "; ".join(
        f"{row['block']}: {row['record']:.3g}, {row['subject']} {row['theirs']:.3g}" for row in rows
    )
    return Result(table, made, [f"{said}."])


def _per_block(behaviour: Behaviour) -> dict[str, tuple[float, int]]:
    """Return block -> (choices to the right where the evidence is weakest, trials)."""
    level, values = behaviour.level, behaviour.record[behaviour.block]
    chosen = behaviour.answered & (level == level.min())
    found = {}
    for value in np.unique(values):
        here = chosen & (values == value)
        if here.any():
            found[f"{value:g}" if values.dtype.kind == "f" else str(value)] = (
                float(behaviour.chose_right[here].mean()),
                int(here.sum()),
            )
    if not found:
        raise CannotTellError("no trial with the weakest evidence was answered")
    return found


# ---- drawing ----


def _axis_of(
    axes: Any, subjects: Sequence[Subject], behaviour: Behaviour, reference: Reference
) -> StrengthAxis:
    values = np.concatenate([one.strengths for one in subjects])
    label = reference.strength if reference.unit else with_unit(behaviour.strength)
    return StrengthAxis(axes, values, _plain(label))


def _curve(
    axis: StrengthAxis,
    one: Subject,
    values: np.ndarray,
    ends: tuple[np.ndarray, np.ndarray],
    index: int,
    count: int,
) -> None:
    """Draw the points of a subject with intervals, beside those of the others; 0 is the record."""
    colour, x = cycle_colour(index), axis.beside(one.strengths, index, count)
    axis.axes.vlines(x, *ends, color=colour, zorder=2)
    axis.line(
        x, values, color=colour, marker=MARKERS[index % len(MARKERS)],
        linestyle="--" if index else "-", label=one.name, zorder=3,
    )  # fmt: skip


def _root(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else float("nan")


def _some(values: np.ndarray) -> str:
    return ", ".join(f"{value:g}" for value in values[:8].tolist())


def _plain(text: str) -> str:
    return text.replace("$", r"\$")
