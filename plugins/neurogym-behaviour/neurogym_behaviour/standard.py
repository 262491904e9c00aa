"""The standard analyses of `measures` that apply to a record, as one table of a report."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pandas as pd

from neurogym_behaviour import measures
from neurogym_behaviour.behaviour import Behaviour, CannotTellError, slots_of
from neurogym_behaviour.findings import Result
from neurogym_behaviour.measures import Measured
from neurogym_core import InvalidValueError, UnknownNameError

FEWEST = 50
"""Fewest trials of an analysis."""


def standard_measures(behaviour: Behaviour) -> Result:
    """Numbers of the standard analyses that the record supports, with 95 % intervals."""
    rows, notes = [], []
    for title, compute in MEASURES.items():
        try:
            found = compute(behaviour)
        except (CannotTellError, InvalidValueError, UnknownNameError):
            continue  # most records support a few of them
        rows += [
            {
                "analysis": title,
                "number": name,
                "value": one.value,
                "low": one.low,
                "high": one.high,
                "n": one.n,
                "unit": one.unit,
            }
            for name, one in found.measures.items()
        ]
        notes += [f"{title}: {note}" for note in found.notes]
    if not rows:
        raise CannotTellError("the record supports none of them")
    said = [f"{row['analysis']}: {row['number']} {row['value']:.3g}"
            f" ({row['low']:.3g} to {row['high']:.3g})" for row in rows
            if row["number"] in SAID]  # fmt: skip
    notes = [*([f"{'; '.join(said)}."] if said else []), *notes]
    try:
        behaviour.check_sequence()
    except CannotTellError as error:
        notes.append(f"Without those of the last choices: {error}.")
    return Result(pd.DataFrame(rows), notes=notes)


def last_choices(behaviour: Behaviour, lags: int) -> Measured:
    """Return the weights of evidence and of the last choices, see `measures.choice_glm`.

    Without a strength, the evidence is the side.

    Raises:
        CannotTellError: no side, no order of the trials, too few trials, or one choice.
    """
    given = behaviour.answered
    linked = behaviour.after & given & behaviour.before(given)
    _enough(linked)
    try:
        evidence = behaviour.signed
    except CannotTellError:
        evidence = np.where(behaviour.right, 1.0, -1.0)
    block = None
    with suppress(CannotTellError):
        block = behaviour.record[behaviour.block]
    try:
        return measures.choice_glm(
            evidence, behaviour.chose_right, behaviour.correct, linked, lags, block=block
        )
    except InvalidValueError as error:
        raise CannotTellError(str(error).rstrip(".")) from error


def _lags(behaviour: Behaviour) -> Measured:
    return last_choices(behaviour, 3)


def _win_stay(behaviour: Behaviour) -> Measured:
    try:
        np.shape(behaviour.signed)
    except CannotTellError:
        pass
    else:
        raise CannotTellError("choices follow evidence")
    choice = behaviour.column("choice")
    if choice.dtype.kind not in "iu" or len(np.unique(choice[choice >= 0])) < 2:
        raise CannotTellError("one choice")
    linked = _enough(behaviour.after & (choice >= 0) & behaviour.before(choice >= 0))
    return measures.win_stay_lose_switch(choice, behaviour.record["reward"] > 0, linked)


def _two_steps(behaviour: Behaviour) -> Measured:
    record, slots = behaviour.record, slots_of(behaviour.record)
    if not slots or "common" not in record:
        raise CannotTellError("one stage")
    choice = record[f"{slots[0]}.choice"]
    used = _enough(behaviour.after & (choice >= 0) & behaviour.before(choice >= 0))
    rewarded, common = (
        behaviour.before(values)[used] for values in (record["reward"] > 0, record["common"])
    )
    return measures.reward_transition((choice == behaviour.before(choice))[used], rewarded, common)


def _speed(behaviour: Behaviour) -> Measured:
    times = behaviour.column("reaction_time").astype(float)
    used = _enough(behaviour.answered & ~np.isnan(times))
    if len(np.unique(times[used])) < 5:
        raise CannotTellError("reaction times do not vary")
    return measures.conditional_accuracy(times[used], behaviour.correct[used])


def _contraction(behaviour: Behaviour) -> Measured:
    used, record = _enough(behaviour.answered), behaviour.record
    first, second = record["first"][used], record["second"][used]
    return measures.contraction_bias(first, second, (second > first) == behaviour.correct[used])


def _worth(behaviour: Behaviour) -> Measured:
    record, choice = behaviour.record, behaviour.column("choice")
    offer = record["offer"].astype(float)
    used = _enough((choice >= 0) & (offer > 0).all(axis=1))
    ratio = np.log(offer[used, 1] / offer[used, 0])
    return measures.indifference_point(ratio, (choice != record["a_choice"])[used])


def _cues(behaviour: Behaviour) -> Measured:
    used, kind = _enough(behaviour.answered), behaviour.record["modality"]
    return measures.cue_combination(
        behaviour.signed[used], behaviour.chose_right[used], kind[used],
        ("visual", "auditory", "both"),
    )  # fmt: skip


def _timing(behaviour: Behaviour) -> Measured:
    times, wanted = behaviour.column("reaction_time"), behaviour.record["wanted"]
    used = _enough(~np.isnan(times))
    if "set_size" in behaviour.record or len(np.unique(wanted[used])) < 3:
        raise CannotTellError("no intervals")
    return measures.scalar_timing(wanted[used], times[used])


def _memories(behaviour: Behaviour) -> Measured:
    error, used = report_errors(behaviour)
    sizes, found, notes = behaviour.record["set_size"], {}, []
    for size in np.unique(sizes[_enough(used)]).tolist():
        part = measures.circular_mixture(error[used & (sizes == size)])
        found |= {f"{name}, {size} items": one for name, one in part.measures.items()}
        notes += [f"{size} items: {note}" for note in part.notes]
    return Measured(found, notes=tuple(notes))


def report_errors(behaviour: Behaviour) -> tuple[np.ndarray, np.ndarray]:
    """Return the errors of reports on a circle, radians, and which trials have one."""
    record = behaviour.record
    if "wanted" not in record or "set_size" not in record:
        raise CannotTellError("the record has no columns 'wanted' and 'set_size'")
    choice, wanted = behaviour.column("choice"), record["wanted"]
    if choice.ndim != 1:
        raise CannotTellError("a report is not one number")
    if choice.dtype.kind == "f":
        used = ~np.isnan(choice)
        return np.angle(np.exp(1j * (np.where(used, choice, 0) - wanted))), used
    used, circle = choice >= 0, max(int(wanted.max()), int(choice.max())) + 1
    return np.angle(np.exp(2j * np.pi * (choice - wanted) / circle)), used


def _stopping(behaviour: Behaviour) -> Measured:
    record = behaviour.record
    delay = np.where(record["stop"].astype(bool), record["ssd"].astype(float), np.nan)
    _enough(~np.isnan(delay))
    answered = behaviour.column("choice") >= 0
    return measures.stop_signal(delay, answered, behaviour.column("reaction_time"), resamples=100)


def _enough(used: np.ndarray) -> np.ndarray:
    if used.sum() < FEWEST:
        raise CannotTellError(f"fewer than {FEWEST} trials")
    return used


MEASURES: dict[str, Callable[[Behaviour], Measured]] = {
    "last three choices": _lags,
    "win-stay, lose-switch": _win_stay,
    "reward and transition": _two_steps,
    "speed and accuracy": _speed,
    "contraction to the mean": _contraction,
    "relative value": _worth,
    "combination of cues": _cues,
    "timing": _timing,
    "memories": _memories,
    "stopping": _stopping,
}
SAID = {
    "win-stay", "lose-switch", "reward x transition", "error - correct", "contraction",
    "relative value", "ratio", "weber", "SSRT",
}  # fmt: skip
"""Numbers that reports name in a sentence."""
