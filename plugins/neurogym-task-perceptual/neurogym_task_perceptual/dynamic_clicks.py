"""Clicks from a hidden state that changes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from neurogym_core import InvalidValueError, Task, TrialBuilder, Uniform
from neurogym_task_perceptual.trains import show_clicks, steps_of

SIDES = ("left", "right")


class DynamicClicks(Task):
    """Report on which side a hidden state is at the end of two trains of clicks.

    Piet, El Hady & Brody (2018), Nat. Commun. 9:4265, doi:10.1038/s41467-018-06561-y.

    While the subject holds still, it hears clicks on the left and on the right. A hidden state is
    on one of the sides, clicks come fast on this side and slowly on the other, and the state
    changes sides at random moments, with a hazard of `hazard` per second. When the fixation cue
    turns off, the subject reports the side on which the state is now. The duration is random, so
    that a report may be asked at any time.

    A click is heard on the wrong side with a probability of `misheard`, as noise in the ear.
    Performance is the fraction of correct reports. The ideal observer discounts old clicks: its log
    odds L shrink by 2 hazard sinh(L) per second. It earns 0.822. Two policies that do without this
    come more than half of the way from 0.5, as in the paper: counting all clicks, the rule in a
    world without changes, earns 0.70, and the last step with a click alone 0.69. Without noise,
    ``misheard=0``, this step alone earns 0.935 of 0.957; so the noise is part of the task. Always
    the same side earns 0.5.

    The conditions `left` and `right` hold the clicks heard on every step of the longest trains, 0
    after their end, and `state` the side of the state, 0 or 1. The record has the time since the
    last change of the state as `since_change`, ms; without a change, since the beginning.

    Deviations from the paper:

    - the rates, the hazard and the bounds of the duration are not compared with the paper;
    - `misheard`, and the durations of fixation and decision are ours; the paper infers the noise
      from behaviour;
    - sounds have no duration, and the state changes between steps.

    Args:
        hazard: changes of the state per second.
        fast, slow: rates on the side of the state and on the other, clicks per second.
        misheard: probability that a click is heard on the wrong side, 0 to 0.5.
        shortest, longest: bounds of the duration of the trains, ms.
    """

    dt: float = 10
    hazard: float = 1.0
    fast: float = 38
    slow: float = 2
    misheard: float = 0.3
    shortest: float = 500
    longest: float = 2000

    timing = {"fixation": 500, "decision": 500}  # ms; that of the stimulus is a condition
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        possible = 0 <= self.slow < self.fast and 0 <= self.misheard < 0.5 and self.hazard >= 0
        if not possible or not 0 < self.shortest <= self.longest:
            raise InvalidValueError(
                f"DynamicClicks was given hazard={self.hazard:g}, fast={self.fast:g},"
                f" slow={self.slow:g}, misheard={self.misheard:g}, shortest={self.shortest:g} and"
                f" longest={self.longest:g}; give 0 <= slow < fast, 0 <= misheard < 0.5, a hazard"
                " of at least 0, and 0 < shortest <= longest."
            )
        self.observe(fixation=1, stimulus=SIDES)
        self.act(fixate=1, choose=SIDES)
        clicks = {side: partial(self._clicks, unit) for unit, side in enumerate(SIDES)}
        self.vary(length=Uniform(self.shortest, self.longest), state=self._state, **clicks)
        self.correct_choice(lambda drawn: self._at_the_end(drawn, drawn["state"]))

    def heard_rates(self) -> tuple[float, float]:
        """Return the rates of the clicks heard on the side of the state and on the other."""
        lost = (self.fast - self.slow) * self.misheard
        return self.fast - lost, self.slow + lost

    def _state(self, rng: np.random.Generator, prior: Mapping) -> np.ndarray:
        """Draw the side of the state on every step, (n, steps)."""
        size = (len(prior["length"]), int(steps_of(self.longest, self.dt)))
        changes = rng.random(size) < -np.expm1(-2 * self.hazard * self.dt / 1000) / 2
        return (rng.integers(0, 2, (size[0], 1)) + changes.cumsum(axis=1)) % 2

    def _clicks(self, side: int, rng: np.random.Generator, prior: Mapping) -> np.ndarray:
        """Draw the clicks heard on every step of one side, (n, steps)."""
        near, far = self.heard_rates()
        clicks = rng.poisson(np.where(prior["state"] == side, near, far) * self.dt / 1000)
        return clicks * (np.arange(clicks.shape[1]) < steps_of(prior["length"], self.dt)[:, None])

    def _at_the_end(self, drawn: Mapping, values: np.ndarray) -> np.ndarray:
        """Values, (n, steps), on the last step of the trains, (n,)."""
        last = np.minimum(steps_of(drawn["length"], self.dt), values.shape[1]) - 1
        return values[np.arange(len(values)), last]

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "stimulus", "decision", stimulus=trial["length"])
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        show_clicks(trial, "stimulus", SIDES)
        trial.answer("choose", trial.correct_choice, during="decision")
        changed = np.diff(trial["state"], axis=1, prepend=trial["state"][:, :1]) != 0
        begun = np.maximum.accumulate(changed * np.arange(changed.shape[1]), axis=1) * self.dt
        trial.record(since_change=trial["length"] - self._at_the_end(trial.conditions, begun))
