"""Responses to stimuli of one or several modalities."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, Session, Task, TrialBuilder

CATCH = "catch"


class Annubes(Task):
    """Respond to a stimulus in any modality, and withhold in catch trials.

    A task of NeuroGym's for studying multisensory integration in networks; there is no single
    original.

    After fixation a start cue turns on. In half of the trials a stimulus appears with it, in one
    modality or in several at once, and the subject responds while it is on. The other half are
    catch trials: the start cue appears alone, and withholding until the end is correct. The first
    response counts. Each modality of a stimulus has its own strength, drawn for every trial; the
    modalities of the stimulus are noisy, the others show 0. The number of consecutive trials with
    the same stimulus can be limited; catch trials are not counted. Responding in all trials is
    correct in 50 %, never responding in the other 50 %; attending to one modality alone is correct
    in 83 %, because a third of the stimuli are in the other one. The noise is that of the networks'
    inputs and far too small to hide a stimulus.

    The condition `stimulus` names the modalities, joined by "+", or is "catch"; `strengths` holds a
    strength for every modality (in alphabetical order), whether it is shown or not.

    Deviations from the paper: none; there is no original.

    Args:
        stimuli: names of modalities joined by "+", such as "auditory", "visual" and
            "auditory+visual".
        weights: relative frequency of each stimulus.
        catch: probability of a catch trial.
        strengths: strengths of a modality, equally likely.
        max_sequential: largest number of consecutive trials with the same stimulus; one for all, or
            one for each; None: no limit.
        noise: SD of the noise of networks' inputs, as in Song, Yang & Wang (2016),
            doi:10.1371/journal.pcbi.1004792: every step has an SD of noise * sqrt(2 tau / dt).
        tau: time constant of these networks, ms.
    """

    stimuli: tuple[str, ...] = ("auditory", "visual", "auditory+visual")
    weights: tuple[float, ...] = (1, 1, 1)
    catch: float = 0.5
    strengths: tuple[float, ...] = (0.8, 0.9, 1.0)  # as in NeuroGym
    max_sequential: tuple[int, ...] | None = None
    noise: float = 0.01  # as in NeuroGym, like `tau`
    tau: float = 100

    timing = {"fixation": 500, "stimulus": 1000, "iti": 0}  # ms, as in NeuroGym
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        self._check()
        self.modalities = tuple(
            sorted({name for stimulus in self.stimuli for name in stimulus.split("+")})
        )
        self.observe(fixation=1, start=1, **dict.fromkeys(self.modalities, 1))
        self.act(fixate=1, respond=1)
        self.vary(
            stimulus=Choice(
                (*self.stimuli, CATCH), p=(*((1 - self.catch) * self._shares), self.catch)
            ),
            strengths=lambda rng, prior: rng.choice(
                self.strengths, (prior.n, len(self.modalities))
            ),
        )
        self.correct_choice(_right)
        self.evidence(self._shown)

    def _shown(self, conditions: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the sum of the strengths of the modalities that are shown, 0 in catch trials."""
        there = [np.isin(conditions["stimulus"], self._stimuli_in(one)) for one in self.modalities]
        return (conditions["strengths"] * np.stack(there, axis=1)).sum(axis=1)

    def _stimuli_in(self, modality: str) -> list[str]:
        return [stimulus for stimulus in self.stimuli if modality in stimulus.split("+")]

    def _check(self) -> None:
        if len(self.weights) != len(self.stimuli) or min(self.weights) < 0 or not sum(self.weights):
            raise InvalidValueError(
                f"Annubes was given stimuli={self.stimuli!r} and weights={self.weights!r}; give one"
                " weight for each stimulus, 0 or more, not all 0."
            )
        if not 0 <= self.catch <= 1 or CATCH in self.stimuli:
            raise InvalidValueError(
                f"Annubes was given catch={self.catch:g} and stimuli={self.stimuli!r}; give a"
                f" probability, and no stimulus of the name {CATCH!r}."
            )
        longest = self._longest_runs
        if (
            len(longest) != len(self.stimuli)
            or min(longest) < 1
            or (np.isfinite(longest).any() and not self._can_switch())
        ):
            raise InvalidValueError(
                f"Annubes was given max_sequential={self.max_sequential!r} for"
                f" stimuli={self.stimuli!r} of weights {self.weights!r}; give 1 or more, for all or"
                " for each, where at least two stimuli ever come."
            )

    def _can_switch(self) -> bool:
        return np.count_nonzero(self.weights) > 1

    @property
    def _shares(self) -> np.ndarray:
        return np.asarray(self.weights, float) / sum(self.weights)

    @property
    def _longest_runs(self) -> np.ndarray:
        """Largest number of consecutive trials of each stimulus."""
        if self.max_sequential is None:
            return np.full(len(self.stimuli), np.inf)
        given = np.asarray(self.max_sequential, float)
        return np.full(len(self.stimuli), given[0]) if len(given) == 1 else given

    # ------------------------------------------------------------------ drawing trials

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.last = np.full(len(session), -1)
        session.run = np.zeros(len(session), np.int64)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        n = len(session)
        exhausted = (
            session.run >= np.append(self._longest_runs, np.inf)[session.last]
        )  # -1, no stimulus yet, has no limit
        left = np.where(
            exhausted[:, None] & (np.arange(len(self.stimuli)) == session.last[:, None]),
            0,
            self._shares,
        )
        # The first stimulus whose cumulative share exceeds a uniform number.
        which = (
            np.cumsum(left, axis=1) <= rng.random(n)[:, None] * left.sum(axis=1, keepdims=True)
        ).sum(axis=1)
        caught = rng.random(n) < self.catch
        again = np.where(which == session.last, session.run + 1, 1)
        session.run = np.where(caught, session.run, again)
        session.last = np.where(caught, session.last, which)
        names = np.where(caught, CATCH, np.take(self.stimuli, which))
        return self.draw_conditions(rng, n, {"stimulus": names})

    # ------------------------------------------------------------------ building trials

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "stimulus", "iti")
        trial.show("fixation", 1, during=("fixation", "iti"))
        trial.show("start", 1, during="stimulus")
        sigma = self.noise * math.sqrt(2 * self.tau)
        for k, modality in enumerate(self.modalities):
            there = np.isin(trial["stimulus"], self._stimuli_in(modality))
            trial.show(
                modality, trial["strengths"][:, k], during="stimulus", where=there, noise=sigma
            )
        trial.answer("respond", trial.correct_choice, during="stimulus", then="wait")


def _right(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """0 (respond) where there is a stimulus, -1 (rest) in catch trials, (n,)."""
    return np.where(conditions["stimulus"] == CATCH, -1, 0)
