"""n-back: compare each letter of a stream with an earlier one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, OneHot, Session, Task, TrialBuilder

CONSONANTS = "BCDFGHJKLMNPQRSTVWXZ"


class NBackWithoutLures(Task):
    """Report of every letter whether it is the same as one `back` letters ago; few near repeats.

    Kirchner (1958), Journal of Experimental Psychology 55:352, doi:10.1037/h0043688; with letters
    and two responses: Cohen, Perlstein, Braver, et al. (1997), Nature 386:604,
    doi:10.1038/386604a0.

    A trial is one letter, and a session is a stream of letters: the subject has to remember letters
    of earlier trials. In a third of the trials, the letter repeats that of `back` trials ago
    (choice 1); in the others it differs from it (choice 0), and may repeat any other letter. The
    first letters of a session cannot be repetitions. The answer is accepted until the next letter,
    and does not change the pace. Performance is the fraction of correct answers. Because
    repetitions are rare, always answering that the letter differs earns 0.68, more than guessing,
    which earns 0.5. Hardly any letter repeats a neighbour of the one to compare with, so that order
    need not be remembered: "the same as any of the last two" earns 0.97, and of the last three
    0.95. Version 1 of NBack has lures against this.

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
                f"{self.name} was given back={self.back}, letters={self.letters} and"
                f" p_match={self.p_match:g}; give at least 1 letter back, 2 letters, and a"
                " proportion."
            )
        self.observe(letter=OneHot(self.letters).named(CONSONANTS))
        self.act(rest=1, choose=("different", "same"))
        self.vary(
            earlier=Choice(range(-1, self.letters)), **self._neighbours(), letter=self._letter
        )
        self.correct_choice(_matches)

    def _neighbours(self) -> dict[str, Callable]:
        """Conditions that a letter depends on, beside the earlier one."""
        return {}

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
        trial.sequence("letter", trial["letter"][:, None], during="letter")
        trial.answer("choose", trial.correct_choice, during=("letter", "gap"), then="wait")


class NBack(NBackWithoutLures):
    """Report of every letter whether it is the same as the letter `back` letters ago.

    Kirchner (1958), Journal of Experimental Psychology 55:352, doi:10.1037/h0043688; with letters
    and two responses: Cohen, Perlstein, Braver, et al. (1997), Nature 386:604,
    doi:10.1038/386604a0.

    A trial is one letter, and a session is a stream of letters: the subject has to remember letters
    of earlier trials. With a probability of `p_match`, the letter repeats that of `back` trials ago
    (choice 1); otherwise it differs from it (choice 0). Of these other letters, a share of `p_lure`
    repeats the letter just after or just before the one to compare with, back - 1 or back + 1
    trials ago, if it differs from that one; the rest are any other letters. By default about a
    quarter of the letters each repeat the last, the second last and the third last letter, and a
    quarter is new. The answer is accepted until the next letter, and does not change the pace.

    Performance is the fraction of correct answers. Always answering that the letter differs earns
    0.76, and guessing 0.5. Familiarity is not enough: "the same as any of the last two" letters
    earns 0.74, of the last three 0.57, and of the last one 0.59. A subject that remembers the order
    earns 1.

    The condition `earlier` is the letter to compare with, and `near` (n, 2) those of back - 1 and
    back + 1 trials ago; -1 if there is none (at back = 1, the first one is always -1). Conditions
    that `reset` imposes do not change the memory of the stream; those of `make` do. The record says
    of each letter whether it is a `lure`.

    Deviations from the papers:

    - the number of letters, the proportions of repetitions and lures and the durations are ours
      (Kirchner used positions of lights, and Cohen et al. longer gaps, for imaging);
    - letters are drawn independently, without fixed lists.

    Args:
        back: how many letters ago; the n of n-back.
        letters: number of different letters; 20 are consonants.
        p_match: proportion of repetitions.
        p_lure: proportion of lures among the letters that are no repetitions.
    """

    p_match: float = 0.25
    p_lure: float = 2 / 3

    def define(self) -> None:
        if self.letters < 4 or not 0 <= self.p_lure <= 1:
            raise InvalidValueError(
                f"NBack was given letters={self.letters!r} and p_lure={self.p_lure!r}; give at"
                " least 4 letters, three of which may be taken, and a proportion."
            )
        super().define()

    def _neighbours(self) -> dict[str, Callable]:
        return {"near": lambda rng, prior: rng.integers(-1, self.letters, (prior.n, 2))}

    def _letter(self, rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
        earlier, near = prior["earlier"], prior["near"]
        n = len(earlier)
        match = (earlier >= 0) & (rng.random(n) < self.p_match)
        # Lures are letters that differ from the earlier one; with two of them, either.
        fits = (near >= 0) & (near != earlier[:, None])
        which = np.where(fits.all(axis=1), rng.integers(0, 2, n), fits.argmax(axis=1))
        lure = near[np.arange(n), which]
        lured = (rng.random(n) < self.p_lure) & fits.any(axis=1)
        # Letters that are neither repeated nor lures, each with the same probability.
        free = np.ones((n, self.letters + 1), bool)
        for known in (earlier, *near.T):
            free[np.arange(n), known] = False  # -1 is the last column
        free[:, -1] = False
        luck = np.where(free, rng.random(free.shape), -1.0)
        return np.where(match, earlier, np.where(lured, lure, luck.argmax(axis=1)))

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.letters = np.full((len(session), self.back + 1), -1)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        before, earlier = session.letters[:, 0], session.letters[:, 1]
        after = session.letters[:, 2] if self.back > 1 else np.full(len(session), -1)
        known = {"earlier": earlier, "near": np.column_stack([after, before])}
        drawn = self.draw_conditions(rng, len(session), known)
        session.letters = np.column_stack([session.letters[:, 1:], drawn["letter"]])
        return drawn

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        near = (trial["near"] == trial["letter"][:, None]).any(axis=1)
        trial.record(lure=near & (trial["letter"] != trial["earlier"]))


def _matches(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """1 if the letter is the same as the earlier one, 0 otherwise, (n,)."""
    return (conditions["letter"] == conditions["earlier"]) * 1
