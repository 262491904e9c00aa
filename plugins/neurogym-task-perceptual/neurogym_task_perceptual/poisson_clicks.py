"""Accumulation of Poisson clicks on two sides."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from neurogym_core import Choice, InvalidValueError, Task, TrialBuilder, Uniform


class NoiselessPoissonClicks(Task):
    """Report the side that clicked more often; clicks are heard without noise.

    Brunton, Botvinick & Brody (2013), Science 340:95, doi:10.1126/science.1233912.

    Trials, conditions and columns of the record are those of version 1 of PoissonClicks, but clicks
    have no noise: a subject that counts is correct in all trials but half of the ties. Performance
    is the fraction of correct reports; always the same side earns 0.5.

    Deviations from the paper: those of version 1; there, noise is inferred from behaviour.

    Args:
        rates: rates on the right, clicks per second.
        total: sum of the two rates, clicks per second.
        shortest, longest: bounds of the duration of the trains, ms.
    """

    dt: float = 10
    rates: tuple[float, ...] = (1, 3, 9, 14, 26, 31, 37, 39)
    total: float = 40
    shortest: float = 100
    longest: float = 1200

    timing = {"fixation": 500, "decision": 500}  # ms; that of the stimulus is a condition
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if self.shortest <= 0 or not 0 <= min(self.rates) <= max(self.rates) <= self.total:
            raise InvalidValueError(
                f"{self.name} was given shortest={self.shortest:g}, rates={self.rates!r} and"
                f" total={self.total:g}; give shortest above 0, and rates from 0 to total."
            )
        self.observe(fixation=1, stimulus=("left", "right"))
        self.act(fixate=1, choose=("left", "right"))
        self.vary(
            length=Uniform(self.shortest, self.longest),
            rate=Choice(self.rates),
            **{side: partial(self._clicks, side) for side in ("left", "right")},
        )
        self.correct_choice(self._side_with_more)
        self.evidence(lambda known: (known["right"] - known["left"]).sum(axis=1))

    def _clicks(self, side: str, rng: np.random.Generator, prior: Mapping) -> np.ndarray:
        """Draw the clicks on every step of one side, (n, steps)."""
        step = np.arange(self._steps(self.longest))
        rate = prior["rate"] if side == "right" else self.total - prior["rate"]
        clicks = rng.poisson(rate[:, None] * self.dt / 1000, (len(rate), len(step)))
        return (clicks + (step == 0)) * (step < self._steps(prior["length"])[:, None])

    def _steps(self, ms: float | np.ndarray) -> np.ndarray:
        return np.maximum(np.floor(np.divide(ms, self.dt) + 0.5), 1).astype(int)

    def _side_with_more(self, drawn: Mapping) -> np.ndarray:
        surplus = drawn["right"].sum(axis=1) - drawn["left"].sum(axis=1)
        return (surplus + (drawn["rate"] > self.total / 2) > 0) * 1  # the rates decide ties

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "stimulus", "decision", stimulus=trial["length"])
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        steps = self._steps(trial["length"]).max()  # at a smaller dt, imposed trains are shorter
        clicks = np.pad([trial["left"], trial["right"]], ((0, 0), (0, 0), (0, steps)))[:, :, :steps]
        trial.timecourse("stimulus", self._heard(trial, clicks), during="stimulus")
        trial.answer("choose", trial.correct_choice, during="decision")
        trial.record(left_clicks=trial["left"].sum(axis=1), right_clicks=trial["right"].sum(axis=1))

    def _heard(self, trial: TrialBuilder, clicks: np.ndarray) -> np.ndarray:
        """Values of the stimulus, (n, steps, 2), from the numbers of clicks, (2, n, steps)."""
        return np.moveaxis(clicks, 0, 2)


class PoissonClicks(NoiselessPoissonClicks):
    """Report the side that clicked more often.

    Brunton, Botvinick & Brody (2013), Science 340:95, doi:10.1126/science.1233912.

    While the subject holds still, it hears two trains of clicks, one on the left and one on the
    right. The trains are independent Poisson processes whose rates sum to 40 clicks per second.
    They last 0.1 to 1.2 s, and begin together with one click on both sides. When the fixation cue
    turns off, the subject reports the side with more clicks. The number of clicks decides, not the
    rate; in a tie the side with the higher rate is correct, which given the clicks is a fair coin.
    Choice 0 and unit 0 are left, choice 1 and unit 1 right.

    Each click is heard as a Gaussian number of mean 1 and SD `click_noise`, so that the noise grows
    with the number of clicks, and silence has none. An observer that sums the sounds of each side
    is correct in 85 % of trials, one that counts the clicks of version 0, which has no noise, in
    99 %. The noise does not hide a click: an observer that counts the steps with a sound, whatever
    its size, is correct in 98 %, and trained networks come close to it. Performance is the fraction
    of correct reports; always the same side earns 0.5.

    The conditions `left` and `right` hold the number of clicks on every step of the longest
    stimulus, 0 after the end of the trains, and `left_luck` and `right_luck` the standard Gaussian
    numbers of their noise. The record has the numbers of a trial as `left_clicks` and
    `right_clicks`.

    Deviations from the paper:

    - the clicks of one step add up to one observation;
    - the pairs of rates, the rule for ties and the durations of fixation and decision are ours, and
      the bounds of the trains' duration, which were not compared with the text of the paper, count
      as ours; the moment of the first click is fixed, and the trains end with the go cue;
    - sounds have no duration; the paper infers their noise from behaviour, in which it arises with
      the clicks and not in their accumulation; its size here is ours.

    Args:
        click_noise: SD of the noise of a click.
        rates: rates on the right, clicks per second.
        total: sum of the two rates, clicks per second.
        shortest, longest: bounds of the duration of the trains, ms.
    """

    click_noise: float = 2.5

    def define(self) -> None:
        if self.click_noise < 0:
            raise InvalidValueError(
                f"PoissonClicks was given click_noise={self.click_noise!r}; give an SD, at least 0."
            )
        super().define()
        steps = int(self._steps(self.longest))
        luck = {
            f"{side}_luck": lambda rng, prior: rng.standard_normal((prior.n, steps))
            for side in ("left", "right")
        }
        self.vary(**luck)

    def _heard(self, trial: TrialBuilder, clicks: np.ndarray) -> np.ndarray:
        clicks = super()._heard(trial, clicks)
        luck = np.stack([trial["left_luck"], trial["right_luck"]], axis=2)[:, : clicks.shape[1]]
        noise = np.pad(luck, ((0, 0), (0, clicks.shape[1] - luck.shape[1]), (0, 0)))
        return clicks + self.click_noise * np.sqrt(clicks) * noise
