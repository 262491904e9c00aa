"""Compare a record with real subjects: curves in one figure, and distances between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from neurogym_core.canvas import BLUE, GREEN, GREY, VERMILION
from neurogym_core.errors import InvalidValueError
from neurogym_core.trials.intervals import wilson_interval
from neurogym_study.behaviour import Behaviour, CannotTellError
from neurogym_study.findings import Analysis, Finding, Result, figure
from neurogym_study.psychometric import fit_psychometric
from neurogym_study.references import Reference, Subject, share_correct, summarised

ERF_WIDTH = 1.702 * np.sqrt(2)
"""Product of the width t of (1 + erf(x / t)) / 2 and the slope of the nearest logistic function.

The two functions differ by less than 0.01.
"""
COLOURS = (VERMILION, GREEN, GREY, "#cc79a7", "#e69f00")
SAME = 1e-6
"""Relative tolerance within which strengths are equal."""


def compare_with(behaviour: Behaviour, reference: Reference) -> list[Finding]:
    """Return the findings of all comparisons, including those that could not be done."""
    mine = summarised(behaviour.record, behaviour.roles, "record")
    comparisons: Sequence[tuple[str, str, Callable[[], Result]]] = (
        ("accuracy", "Accuracy over strength", lambda: over_strength(mine, reference)),
        (
            "reaction-times",
            "Mean reaction time over strength",
            lambda: times_over_strength(mine, reference),
        ),
        ("parameters", "Parameters", lambda: parameters(behaviour, reference)),
        ("blocks", "Choices to the right per block", lambda: blocks(behaviour, reference)),
    )
    return [
        Analysis(name, title, lambda _, do=do: do())(behaviour) for name, title, do in comparisons
    ]


# ---- over strength ----


def over_strength(mine: Subject, reference: Reference) -> Result:
    """Fractions correct in one figure, and their distance to each subject.

    The distance is the root mean squared difference over the strengths that both have. Two samples
    of the same subject differ too. If the numbers of trials are known, `noise ceiling` is the
    distance expected between such samples, and `excess` is sqrt(max(distance^2 - ceiling^2, 0)).
    """
    if mine.correct is None:
        raise CannotTellError("the record has no strength of the evidence; name it with --strength")
    others = [one for one in reference.subjects if one.correct is not None]
    if not others:
        raise CannotTellError("the reference does not report the fraction correct over strength")
    rows, points = [], []
    for other in others:
        here, there = _common(mine, other)
        difference = mine.correct[here] - other.correct[there]
        distance = float(np.sqrt(np.mean(difference**2)))
        ceiling = _ceiling(
            mine.correct[here],
            mine.n[here],
            other.correct[there],
            None if other.n is None else other.n[there],
        )
        rows.append(
            {
                "subject": other.name,
                "strengths": len(here),
                "distance": distance,
                "noise ceiling": ceiling,
                "excess": float(np.sqrt(max(distance**2 - ceiling**2, 0)))
                if ceiling is not None
                else None,
            }
        )
        points += [
            {
                "subject": other.name,
                "strength": mine.strengths[i],
                "record": mine.correct[i],
                "theirs": other.correct[j],
            }
            for i, j in zip(here, there, strict=True)
        ]
    made, (axes,) = figure(width=5.4, height=4)
    scale = _Scale([mine, *others])
    _line(axes, scale, mine, BLUE, "record")
    for colour, other in zip(_colours(others), others, strict=True):
        _line(axes, scale, other, colour, other.name)
    axes.set_ylabel("fraction correct, 95 % interval")
    axes.set_ylim(0.35, 1.02)
    scale.finish(axes, reference)
    return Result(pd.DataFrame(rows), made, [_said_distance(row) for row in rows])


def times_over_strength(mine: Subject, reference: Reference) -> Result:
    """Mean reaction times of correct trials in one figure, and their distance to each subject.

    `shape` is the distance that remains if a constant is added to the record's times: reaction
    times of networks exclude the time to see and to move.
    """
    if mine.reaction_time is None or np.isnan(mine.reaction_time).all():
        raise CannotTellError("the record has no reaction times over strength")
    others = [one for one in reference.subjects if one.reaction_time is not None]
    if not others:
        raise CannotTellError("the reference does not report reaction times over strength")
    rows = []
    for other in others:
        here, there = _common(mine, other)
        ours, theirs = mine.reaction_time[here], other.reaction_time[there]
        known = ~np.isnan(ours) & ~np.isnan(theirs)
        difference = (theirs - ours)[known]
        rows.append(
            {
                "subject": other.name,
                "strengths": int(known.sum()),
                "distance (ms)": _root(difference),
                "added (ms)": float(difference.mean()),
                "shape (ms)": _root(difference - difference.mean()),
            }
        )
    made, (axes,) = figure(width=5.4, height=4)
    scale = _Scale([mine, *others])
    axes.plot(scale(mine.strengths), mine.reaction_time, "o-", color=BLUE, label="record")
    for colour, other in zip(_colours(others), others, strict=True):
        axes.plot(
            scale(other.strengths),
            other.reaction_time,
            "s--",
            color=colour,
            label=_plain(other.name),
        )
    axes.set_ylabel("mean reaction time, correct trials (ms)")
    scale.finish(axes, reference)
    return Result(
        pd.DataFrame(rows),
        made,
        [
            f"{row['subject']}: {row['distance (ms)']:.0f} ms apart;"
            f" {row['shape (ms)']:.0f} ms if"
            f" {row['added (ms)']:.0f} ms are added to the record's times."
            for row in rows
        ],
    )


def _common(mine: Subject, other: Subject) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of common strengths in `mine` and in `other`, (k,) each."""
    near = np.abs(mine.strengths[:, None] - other.strengths[None]) < SAME * np.maximum(
        1, np.abs(other.strengths)
    )
    here, there = np.nonzero(near)
    if not len(here):
        raise CannotTellError(
            f"no strength is in both: the record has {_some(mine.strengths)}; {other.name} has"
            f" {_some(other.strengths)}"
        )
    return here, there


def _ceiling(p: np.ndarray, n: np.ndarray, q: np.ndarray, m: np.ndarray | None) -> float | None:
    """Return the distance expected between two samples of the same subject, of n and m trials."""
    if m is None:
        return None
    pooled = (p * n + q * m) / (n + m)
    return float(np.sqrt(np.mean(pooled * (1 - pooled) * (1 / n + 1 / m))))


def _said_distance(row: Mapping[str, Any]) -> str:
    ceiling = row["noise ceiling"]
    if ceiling is None:
        return (
            f"{row['subject']}: {row['distance']:.3f} apart over {row['strengths']} strengths;"
            " the numbers of trials are unknown."
        )
    return (
        f"{row['subject']}: {row['distance']:.3f} apart over {row['strengths']} strengths;"
        f" {ceiling:.3f} is expected between two samples of the same subject."
    )


# ---- parameters and blocks ----


def parameters(behaviour: Behaviour, reference: Reference) -> Result:
    """Parameters of the record and of the reference.

    `z` is their difference in standard deviations between the reference's subjects.
    """
    wanted = sorted({name for one in reference.subjects for name in one.parameters})
    mine, reasons = {}, []
    for name in wanted:
        try:
            mine[name] = _parameter(name, behaviour)
        except CannotTellError as error:
            reasons.append(f"{name}: {error}")
    if not mine:
        raise CannotTellError("; ".join(reasons) or "the reference reports no parameters")
    rows = []
    for one in reference.subjects:
        for name, theirs in one.parameters.items():
            if name in mine:
                deviation = one.deviations.get(name)
                rows.append(
                    {
                        "subject": one.name,
                        "parameter": name,
                        "record": mine[name],
                        "theirs": theirs,
                        "their deviation": deviation,
                        "difference": mine[name] - theirs,
                        "z": None if deviation is None else (mine[name] - theirs) / deviation,
                    }
                )
    return Result(pd.DataFrame(rows), None, [f"Skipped: {reason}." for reason in reasons])


def _parameter(name: str, behaviour: Behaviour) -> float:
    if name == "correct":
        return share_correct(behaviour)
    if name in ("weibull_threshold", "weibull_slope"):
        fit = _fit(behaviour, behaviour.level, behaviour.correct, shape="weibull", guess=0.5)
        return _determined(fit, name.removeprefix("weibull_"))
    if name in ("erf_threshold", "bias", "lapses"):
        fit = _fit(
            behaviour, behaviour.signed, behaviour.chose_right, shape="logistic", guess="free"
        )
        if name == "lapses":
            return (fit.guess + fit.lapse) / 2
        return (
            _determined(fit, "threshold")
            if name == "bias"
            else ERF_WIDTH / _determined(fit, "slope")
        )
    if name == "block_shift":
        shares = list(_per_block(behaviour).values())
        return max(share for share, _ in shares) - min(share for share, _ in shares)
    raise CannotTellError("it is not computed from records")


def _fit(behaviour: Behaviour, strength: np.ndarray, hit: np.ndarray, **how: Any) -> Any:
    try:
        return fit_psychometric(behaviour.record, strength, hit, slot=behaviour.slot, **how)
    except InvalidValueError as error:
        raise CannotTellError(f"no curve could be fitted ({str(error).split('. ')[0]})") from error


def _determined(fit: Any, name: str) -> float:
    if name in fit.undetermined:
        raise CannotTellError("the data do not determine it")
    return float(getattr(fit, name))


def blocks(behaviour: Behaviour, reference: Reference) -> Result:
    """Choices to the right where the evidence is weakest, for each block."""
    others = [one for one in reference.subjects if one.blocks]
    if not others:
        raise CannotTellError("the reference does not report choices per block")
    mine = _per_block(behaviour)
    rows = []
    for one in others:
        for value, theirs in one.blocks.items():
            if value in mine:
                share, n = mine[value]
                low, high = wilson_interval(round(share * n), n)
                rows.append(
                    {
                        "subject": one.name,
                        "block": value,
                        "record": share,
                        "low": low,
                        "high": high,
                        "n": n,
                        "theirs": theirs,
                        "difference": share - theirs,
                    }
                )
    if not rows:
        raise CannotTellError(f"no block is in both: the record has {', '.join(mine)}")
    made, (axes,) = figure()
    table = pd.DataFrame(rows)
    at = np.arange(len(table))
    error = [table["record"] - table["low"], table["high"] - table["record"]]
    axes.errorbar(at, table["record"], yerr=error, fmt="o", color=BLUE, capsize=2, label="record")
    axes.plot(at, table["theirs"], "s", color=VERMILION, label=_plain(reference.title))
    axes.set_xticks(at, table["block"])
    axes.set_xlabel(_plain(behaviour.block))
    axes.set_ylabel("fraction of choices to the right")
    axes.set_ylim(0, 1)
    axes.legend(frameon=False, fontsize="small")
    return Result(table, made)


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


def _line(axes: Any, scale: _Scale, subject: Subject, colour: str, label: str) -> None:
    mine, p, n = colour == BLUE, subject.correct, subject.n
    style = {
        "color": colour,
        "label": _plain(label),
        "marker": "o" if mine else "s",
        "linestyle": "-" if mine else "--",
    }
    if n is None:
        axes.plot(scale(subject.strengths), p, **style)
        return
    low, high = wilson_interval(np.round(p * n), n)
    axes.errorbar(
        scale(subject.strengths), p, yerr=np.abs(np.array([low, high]) - p), capsize=2, **style
    )


class _Scale:
    """Positions on a logarithmic axis; strength 0 is placed a factor of 2 below the smallest."""

    def __init__(self, subjects: Sequence[Subject]) -> None:
        self.values = np.unique(np.concatenate([one.strengths for one in subjects]))
        positive = self.values[self.values > 0]
        self._zero = positive.min() / 2 if len(positive) else 0.5

    def __call__(self, strengths: np.ndarray) -> np.ndarray:
        return np.log2(np.where(strengths > 0, strengths, self._zero))

    def finish(self, axes: Any, reference: Reference) -> None:
        """Set ticks, label and legend."""
        every = -(-len(self.values) // 12)
        axes.set_xticks(
            self(self.values[::every]),
            [f"{value:g}" for value in self.values[::every]],
            rotation=45,
        )
        axes.set_xlabel(_plain(reference.strength or "strength"))
        axes.legend(frameon=False, fontsize="small")


def _colours(others: Sequence[Subject]) -> list[str]:
    return [COLOURS[k % len(COLOURS)] for k in range(len(others))]


def _root(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else float("nan")


def _some(values: np.ndarray) -> str:
    return ", ".join(f"{value:g}" for value in values[:8].tolist())


def _plain(text: str) -> str:
    return text.replace("$", r"\$")
