"""Pulses with a side and a pitch, one of which counts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import product

import numpy as np

from neurogym_core import Choice, InvalidValueError, Task, TrialBuilder
from neurogym_task_perceptual.trains import show_clicks, steps_of

CONTEXTS = ("location", "frequency")
SIDES, PITCHES = ("left", "right"), ("low", "high")
KINDS = tuple(f"{side}_{pitch}" for side, pitch in product(SIDES, PITCHES))


class FrequencyLocationClicks(Task):
    """Judge the side or the pitch of the same pulses of sound, as a cue says.

    Pagan, Tang, Aoi, Pillow, Mante, Sussillo & Brody (2025), Nature 639:421,
    doi:10.1038/s41586-024-08433-6.

    A cue says whether the location or the frequency counts. Then pulses come at random moments, 40
    per second for 1.3 s. Each is on the left or on the right, and low or high; both are drawn for
    each pulse, independently. When the fixation cue turns off, the subject reports by the feature
    that counts: left (choice 0) or right (1) for the side with more pulses, and left for mostly low
    pulses or right for mostly high ones. The rates decide, not the counts.

    Each feature of a pulse is heard wrongly with a probability of `misheard`, as noise in the ear.
    Performance is the fraction of correct reports. The ideal observer counts the pulses by the
    feature that counts, and earns 0.874. Always the same report earns 0.5. Without the cue,
    counting by one feature earns 0.687, half of the way to the ideal, and following the feature
    with the larger surplus 0.72: so it is in the paper, whose two features are independent, too.

    The four channels of pulses are those of the conditions, which hold the pulses of this kind
    heard on every step; `right` and `high` are the rates of pulses on the right and of high ones.

    Deviations from the paper:

    - contexts are drawn for every trial (there, in blocks);
    - the rates, their total and the durations are not compared with the paper, nor is which of the
      reports high pulses ask for; `misheard` is ours;
    - pulses have no duration, and those of one step add up.

    Args:
        rates: rates of pulses on the right, and of high pulses, per second.
        total: rate of all pulses, per second.
        misheard: probability that a feature of a pulse is heard wrongly, 0 to 0.5.
    """

    dt: float = 10
    rates: tuple[float, ...] = (1, 5, 10, 15, 25, 30, 35, 39)
    total: float = 40
    misheard: float = 0.35

    timing = {"cue": 1000, "stimulus": 1300, "decision": 500}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        sided = all(0 <= rate <= self.total and 2 * rate != self.total for rate in self.rates)
        if not self.rates or not sided or not 0 <= self.misheard < 0.5:
            raise InvalidValueError(
                f"FrequencyLocationClicks was given rates={self.rates!r}, total={self.total:g} and"
                f" misheard={self.misheard:g}; give rates from 0 to total, none of them half of it,"
                " and misheard from 0 to less than 0.5."
            )
        self.observe(fixation=1, context=CONTEXTS, stimulus=KINDS)
        self.act(fixate=1, choose=SIDES)
        rates = {name: Choice(self.rates) for name in ("right", "high")}
        pulses = {kind: partial(self._pulses, kind) for kind in KINDS}
        self.vary(context=Choice(CONTEXTS), **rates, **pulses)
        self.correct_choice(lambda drawn: (self._rate(drawn) > self.total / 2) * 1)
        self.evidence(lambda drawn: self._rate(drawn) - self.total / 2)

    def _rate(self, drawn: Mapping) -> np.ndarray:
        """Rate of the pulses that speak for the right in this context, (n,)."""
        return np.where(drawn["context"] == "location", drawn["right"], drawn["high"])

    def _pulses(self, kind: str, rng: np.random.Generator, prior: Mapping) -> np.ndarray:
        """Draw the pulses of a kind heard on every step, (n, steps)."""
        rate = np.full(len(prior["right"]), float(self.total))
        for name, value in zip(("right", "high"), kind.split("_"), strict=True):
            share = self.misheard + (1 - 2 * self.misheard) * prior[name] / self.total
            rate = rate * (share if value == name else 1 - share)
        steps = int(steps_of(self.timing["stimulus"].mean, self.dt))
        return rng.poisson(rate[:, None] * self.dt / 1000, (len(rate), steps))

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("cue", "stimulus", "decision")
        trial.show("fixation", 1, during=("cue", "stimulus"))
        cued = trial["context"][:, None] == CONTEXTS
        trial.show("context", cued, during=("cue", "stimulus", "decision"))
        show_clicks(trial, "stimulus", KINDS)
        trial.answer("choose", trial.correct_choice, during="decision")
