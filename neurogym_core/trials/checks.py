"""Checks of a whole layout, for mistakes that no single verb can find."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from neurogym_core.errors import TrialLayoutError, listed
from neurogym_core.trials.arguments import brief
from neurogym_core.trials.geometry import Geometry
from neurogym_core.trials.layout import Layout, Slot


def check_periods(layout: Layout) -> None:
    """Raise `TrialLayoutError` if `new_trial` named no periods."""
    if not layout.timeline.names:
        raise TrialLayoutError(
            f"{layout.name}.new_trial never called trial.periods(…); name the periods of the trial"
            " first."
        )


def check_clocks(layout: Layout) -> None:
    """Raise `TrialLayoutError` if a verb counts time after a period without a timer."""
    untimed = layout.timeline.untimed
    if not untimed:
        return
    counting = [span for span in layout.spans() if span.start is not None or span.stop is not None]
    counting += [frames.span for frames in layout.frames]
    counting += [slot.span for slot in layout.slots if slot.due is not None]
    for span in counting:
        for name in span.periods[:-1]:
            if name in untimed:
                raise TrialLayoutError(
                    f"{layout.name}.new_trial counts time during {listed(span.periods)}, where"
                    f" {name!r} has no timer. Expected a period of inf to be the last one of such a"
                    " verb (start=, stop=, a timecourse, answer_at). Make one call for the periods"
                    f" up to {name!r}, and another for those after it."
                )


def check_lasts(layout: Layout, geometry: Geometry) -> None:
    """Raise `TrialLayoutError` if a trial lasts 0 steps."""
    if not geometry.untimed and not np.logical_or.reduce(geometry.duration, axis=1).all():
        raise TrialLayoutError(
            f"A trial of {layout.name} lasts 0 steps: all of {listed(geometry.names)} are skipped."
            f" Let at least one period last dt={geometry.dt:g} ms in every trial, e.g. with"
            f" timing={{{geometry.names[-1]!r}: {geometry.dt:g}}}."
        )


def check_read(layout: Layout) -> None:
    """Raise `TrialLayoutError` for a condition that `new_trial` never reads."""
    if names := [name for name in layout.conditions if name not in layout.read]:
        raise TrialLayoutError(
            f"{layout.name}.new_trial never reads the condition(s) {listed(names)} declared"
            " with vary(); use them, do not declare them, or call"
            f" trial.record({names[0]!r}) if they are for the record only."
        )


def check_overlaps(layout: Layout, geometry: Geometry) -> None:
    """Raise `TrialLayoutError` if two calls share a slot or a group on a step of a trial.

    Choices with prices may join an answer in other groups (a sure bet beside the answers): they add
    actions to the table, where a second answer would overwrite the right ones of the first.
    """
    answers = [slot for slot in layout.slots if slot.amounts is None]
    for name in dict.fromkeys(slot.name for slot in answers):
        same = [slot for slot in answers if slot.name == name]
        _check_apart(layout, geometry, same, f"{name!r} twice", "a step can ask once for a slot")
    for group in dict.fromkeys(slot.group for slot in layout.slots):
        same = [slot for slot in layout.slots if slot.group == group]
        _check_apart(layout, geometry, same, f"{group!r} for {{}}", "one action cannot answer both")


def _check_apart(
    layout: Layout, geometry: Geometry, slots: list[Slot], asks: str, expected: str
) -> None:
    """Raise `TrialLayoutError` if two of the slots are asked on a step of a trial."""
    # Windows may meet in a segment that has no step in a trial: then they do not overlap there.
    named = [name for slot in slots for name in slot.span.periods]
    if len(set(named)) == len(named):
        return
    played, asked = geometry.duration > 0, np.zeros(geometry.duration.shape, bool)
    for k, slot in enumerate(slots):
        mine = np.zeros(played.shape, bool)
        for segment, covered in geometry.segments(slot.span):
            mine[:, segment] |= covered
        both = mine & asked & played
        if both.any():
            periods = dict.fromkeys(geometry.names[p] for p in geometry.period[both.any(axis=0)])
            names = " and ".join(dict.fromkeys(repr(one.name) for one in (*slots[:k], slot)))
            raise TrialLayoutError(
                f"{layout.name}.new_trial asks {asks.format(names)} on the same steps of"
                f" {listed(periods)}, in {int(both.any(axis=1).sum())} of {layout.n} trials;"
                f" {expected}. Keep the two apart with during=, start=, stop= or where=, or ask for"
                " another group of actions in another slot (slot=…)."
            )
        asked |= mine


def check_values(layout: Layout) -> None:
    """Raise `TrialLayoutError` if a value is not finite, or a weight or sigma is negative."""
    # Called when the task is made, not for every batch: it reads all values.
    for show in layout.shows:
        _check_numbers(layout, f"channel {show.channel!r}", show.value)
        _check_numbers(layout, f"noise of channel {show.channel!r}", show.noise, least=0)
    for frames in layout.frames:
        _check_numbers(layout, f"timecourse({frames.name!r})", frames.values)
    for weigh in layout.weights:
        _check_numbers(layout, "loss_weight()", weigh.weight, least=0)
    for hold in layout.holds:
        _check_numbers(layout, "hold(cost=…)", 0 if hold.cost is None else hold.cost)
    for slot in layout.slots:
        if slot.amounts is not None:
            _check_numbers(layout, f"offer({slot.group!r})", slot.amounts)
            _check_numbers(layout, f"worth of {slot.group!r}", slot.worth)


def _check_numbers(layout: Layout, what: str, value: Any, least: float = -math.inf) -> None:
    value = np.asarray(value, dtype=np.float64)
    if not (np.isfinite(value) & (value >= least)).all():
        wanted = "finite numbers" if least == -math.inf else f"finite numbers, {least:g} or more"
        raise TrialLayoutError(f"{what} of {layout.name} was given {brief(value)}; give {wanted}.")
