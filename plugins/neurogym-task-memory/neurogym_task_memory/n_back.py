"""n-back: compare each letter of a stream with an earlier one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, OneHot, Session, Task, TrialBuilder

CONSONANTS = "BCDFGHJKLMNPQRSTVWXZ"


class NBack(Task):
    """Report of every letter whether it is the same as the letter `back` letters ago.

    Kirchner (1958), Journal of Experimental Psychology 55:352, doi:10.1037/h0043688; with letters
    and two responses: Cohen, Perlstein, Braver, et al. (1997), Nature 386:604,
    doi:10.1038/386604a0.

    A trial is one letter, and a session is a stream of letters: the subject has to remember letters
    of earlier trials. In a third of the trials, the letter repeats that of `back` trials ago
    (choice 1); in the others it differs from it (choice 0), and may repeat any other letter. The
    first letters of a session cannot be repetitions. The answer is accepted until the next letter,
    and does not change the pace. Performance is the fraction of correct answers. Because
    repetitions are rare, always answering that the letter differs earns 0.68, more than guessing,
    which earns 0.5.

    The condition `earlier` is the letter to compare with, -1 if there is none. Conditions that
    `reset` imposes do not change the memory of the stream; those of `make` do.

    Deviations from the paper:

    - the number of letters, the proportion of repetitions and the durations are ours (Kirchner used
      positions of lights, and Cohen et al. longer gaps, for imaging);
    - letters are drawn independently, without fixed lists.

    Args:
        back: how many letters ago; the n of n-back.
        letters: number of different letters; 20 are consonants.
        p_match: proportion of repetitions.
    """

    trials_per_session: int | None = 60
    back: int = 2
    letters: int = 20
    p_match: float = 1 / 3

    timing = {"letter": 500, "gap": 2000}  # ms
    rewards = {"correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if self.back < 1 or self.letters < 2 or not 0 <= self.p_match <= 1:
            raise InvalidValueError(
                f"NBack was given back={self.back}, letters={self.letters} and"
                f" p_match={self.p_match:g}; give at least 1 letter back, 2 letters, and a"
                " proportion."
            )
        self.observe(letter=OneHot(self.letters).named(CONSONANTS))
        self.act(rest=1, choose=("different", "same"))
        self.vary(earlier=Choice(range(-1, self.letters)), letter=self._letter)
        self.correct_choice(_matches)

    def _letter(self, rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
        earlier = prior["earlier"]
        match = (earlier >= 0) & (rng.random(len(earlier)) < self.p_match)
        # Any letter but the earlier one; any letter at all if there is no earlier one.
        other = (earlier + rng.integers(earlier >= 0, self.letters)) % self.letters
        return np.where(match, earlier, other)

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.letters = np.full((len(session), self.back), -1)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        drawn = self.draw_conditions(rng, len(session), {"earlier": session.letters[:, 0]})
        session.letters = np.column_stack([session.letters[:, 1:], drawn["letter"]])
        return drawn

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("letter", "gap")
        letter = self.channels.encoder("letter").encode(trial["letter"])
        trial.show("letter", letter, during="letter")
        trial.answer("choose", trial.correct_choice, during=("letter", "gap"), then="wait")


def _matches(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """1 if the letter is the same as the earlier one, 0 otherwise, (n,)."""
    return (conditions["letter"] == conditions["earlier"]) * 1
