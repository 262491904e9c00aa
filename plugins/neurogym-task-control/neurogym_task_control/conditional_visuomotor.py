"""Conditional visuomotor learning with reversals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, Encoder, InvalidValueError, Session, Task, TrialBuilder


class NAltConditionalVisuomotor(Task):
    """Learn by trial and error which movement each picture requires; pairs change without notice.

    After Asaad, Rainer & Miller (1998), Neuron 21:1399, doi:10.1016/S0896-6273(00)80658-3.

    Pictures are random patterns of 0 and 1, all different and redrawn for every session. The
    subject fixates while one of them is shown, with noise, and during the delay that follows. When
    the fixation cue turns off, it makes one of as many movements as there are pictures. Each
    picture is paired with one movement. The pairs are drawn for every session and never shown, so
    the subject has to learn them from reward. After a block of random length the pairs change, and
    every picture is paired with another movement than before: with two pictures they are reversed.

    Performance is the fraction of correct movements. Always the same movement earns 1 / pictures.
    The noise is far below the difference between pictures: an observer that knows the pairs is
    correct in all trials.

    In the record, `picture` is the index of the picture, `movements` the correct movement for each
    picture, and `patterns` the concatenated patterns of all pictures.

    Deviations from the paper:

    - pictures are patterns of a few units, and there may be more than two of them;
    - blocks end after a number of trials (there, when the pairs had been learned);
    - a picture of 500 ms and a delay of 1,000 ms are the paper's; 500 ms of fixation, 500 ms for
      the movement, and the noise are NeuroGym's, and block lengths are ours.

    Args:
        pictures: number of pictures and of movements, at least 2.
        units: units of a pattern.
        shortest_block, longest_block: bounds of the block length, trials, both included.
        sigma: SD of the noise of the pictures, times sqrt(ms).
    """

    pictures: int = 2
    units: int = 10
    shortest_block: int = 30  # ours, as is the longest
    longest_block: int = 50
    sigma: float = 0.1
    trials_per_session: int | None = 250

    timing = {
        "fixation": 500,
        "stimulus": 500,
        "delay": 1000,
        "decision": 500,
    }  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if not (2 <= self.pictures < 2**self.units and self.units <= 30):
            raise InvalidValueError(
                f"NAltConditionalVisuomotor was given pictures={self.pictures} and"
                f" units={self.units}; give at least 2 pictures, at most 30 units, and enough"
                " units so that all pictures can differ."
            )
        if not 1 <= self.shortest_block <= self.longest_block:
            raise InvalidValueError(
                f"NAltConditionalVisuomotor was given blocks of {self.shortest_block} to"
                f" {self.longest_block} trials; give at least 1, the shorter bound first."
            )
        self.observe(fixation=1, stimulus=self.units)
        self.act(fixate=1, move=Encoder(self.pictures).named(("left", "right")))
        self.vary(
            picture=Choice(self.pictures),
            patterns=lambda rng, prior: self._new_patterns(rng, prior.n),
            movements=lambda rng, prior: self._new_movements(rng, prior.n),
        )
        self.correct_choice(_right_movement)

    # ------------------------------------------------------------------ drawing trials

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        n = len(session)
        session.patterns = self._new_patterns(rng, n)
        session.movements = self._new_movements(rng, n)
        session.left = self._block_lengths(rng, n)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        n = len(session)
        over = session.left == 0
        # Shifting all movements by the same number of places changes every pair.
        turn = rng.integers(1, self.pictures, n) * over
        session.movements = (session.movements + turn[:, None]) % self.pictures
        session.left = np.where(over, self._block_lengths(rng, n), session.left) - 1
        return self.draw_conditions(
            rng, n, {"patterns": session.patterns, "movements": session.movements}
        )

    def _block_lengths(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.integers(self.shortest_block, self.longest_block + 1, n)

    def _new_movements(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draw a movement for each picture, all different, (n, pictures)."""
        return rng.permuted(np.tile(np.arange(self.pictures), (n, 1)), axis=1)

    def _new_patterns(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draw different patterns of 0 and 1, none all 0, concatenated, (n, pictures * units)."""
        codes = rng.integers(1, 2**self.units, (n, self.pictures))
        while len(
            alike := np.flatnonzero((np.diff(np.sort(codes, axis=1), axis=1) == 0).any(axis=1))
        ):
            codes[alike] = rng.integers(1, 2**self.units, (len(alike), self.pictures))
        return (codes[:, :, None] >> np.arange(self.units) & 1).reshape(n, -1)

    # ------------------------------------------------------------------ building trials

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "stimulus", "delay")
        trial.periods(*before, "decision")
        trial.show("fixation", 1, during=before)
        patterns = trial["patterns"].reshape(trial.n, self.pictures, self.units)
        trial.show(
            "stimulus",
            patterns[np.arange(trial.n), trial["picture"]],
            during="stimulus",
            noise=self.sigma,
        )
        trial.answer("move", trial.correct_choice, during="decision")


def _right_movement(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """The movement paired with the picture, (n,)."""
    return np.take_along_axis(
        conditions["movements"], np.asarray(conditions["picture"])[:, None], axis=1
    )[:, 0]
