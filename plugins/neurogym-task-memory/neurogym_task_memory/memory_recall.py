"""Storage and recall of vectors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Axis, Choice, InvalidValueError, Task, TrialBuilder


class MemoryRecall(Task):
    """Store the flagged vectors of a stream, and complete them when a part is shown again.

    A machine-learning task of NeuroGym's contributions, in the manner of Hopfield's (1982)
    content-addressable memory, Proc. Natl. Acad. Sci. 79:2554, doi:10.1073/pnas.79.8.2554; there is
    no corresponding experiment.

    A stream of 15 to 25 random vectors of -1 and 1 is shown; about one in ten is flagged. Then the
    flagged vectors reappear in the same order, each with some of its elements blanked (0), and
    while a cue is on the subject outputs the whole vector. Its action is a vector of numbers from
    -1 to 1. During recall errors cost: a quarter of the mean squared error, times `correct`, per
    100 ms. A vector is recalled correctly if the output on its last step is within `tolerance`
    (Euclidean distance) of it, which pays `correct`; performance is the fraction of the stored
    vectors that were recalled. A cue with few remaining elements may match two stored vectors. A
    subject without memory that repeats the cue recalls 15 % (those with at most one blank); a
    constant output recalls none. The right last output, given from the first step on, would recall
    65 %, because many trials have one vector to recall; no subject knows it before it is shown.

    The condition `vectors` holds the stream, (n, longest * size); `flags` (n, longest) marks the
    vectors to be stored, `blanked` (n, most * size) the missing elements of the cues.

    Deviations from the paper: none; there is no original. At least one and at most `most` vectors
    are flagged.

    Args:
        size: elements of a vector.
        shortest, longest: bounds of the number of vectors in a stream.
        p_flag: probability that a vector is flagged.
        p_blank: probability that an element of a cue is blanked.
        most: largest number of vectors to be stored in a trial.
        item: duration of a vector, ms.
        tolerance: largest distance from a vector that counts as recall.
    """

    size: int = 10
    shortest: int = 15
    longest: int = 25
    p_flag: float = 0.1
    p_blank: float = 0.3  # ours
    most: int = 4  # ours
    item: float = 100
    tolerance: float = 1.0  # ours; one wrong sign is a distance of 2

    rewards = {"abort": 0.0}
    evidence_periods = ("recall",)
    go_cue = "recall"

    def define(self) -> None:
        probable = 0 < self.p_flag <= 1 and 0 <= self.p_blank < 1
        if not (1 <= self.most <= self.shortest <= self.longest and probable):
            raise InvalidValueError(
                f"MemoryRecall was given most={self.most}, shortest={self.shortest},"
                f" longest={self.longest}, p_flag={self.p_flag:g} and p_blank={self.p_blank:g};"
                " give 1 <= most <= shortest <= longest, and probabilities (p_flag above 0,"
                " p_blank below 1)."
            )
        self.steps = max(round(self.item / self.dt), 1)
        """Duration of a vector in steps."""
        self.observe(vector=self.size, flag=1, recall=1)
        self.act(output=Axis(-1, 1, rest=0, size=self.size))
        self.vary(
            count=Choice(tuple(range(self.shortest, self.longest + 1))),
            vectors=lambda rng, prior: rng.choice((-1, 1), (prior.n, self.longest * self.size)),
            flags=self._draw_flags,
            blanked=lambda rng, prior: (
                rng.random((prior.n, self.most * self.size)) < self.p_blank
            ).astype(int),
        )

    def _draw_flags(self, rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
        """Draw the vectors to be stored, 0 or 1, (n, longest): 1 to `most` of the stream."""
        within = np.arange(self.longest) < prior["count"][:, None]
        luck = np.where(within, rng.random((len(within), self.longest)), np.inf)
        wanted = np.clip((luck < self.p_flag).sum(axis=1), 1, self.most)
        return (np.argsort(np.argsort(luck, axis=1), axis=1) < wanted[:, None]).astype(int)

    def new_trial(self, trial: TrialBuilder) -> None:
        shown = self.steps * trial.dt
        flags = trial["flags"].astype(bool) & (np.arange(self.longest) < trial["count"][:, None])
        stored = np.minimum(flags.sum(axis=1), self.most)
        trial.periods("store", "recall", store=trial["count"] * shown, recall=stored * shown)
        trial.record(stored=stored)
        self._show_stream(trial, flags)
        trial.loss_weight(0, during="store")
        trial.show("recall", 1, during="recall")
        vectors = trial["vectors"].reshape(trial.n, self.longest, self.size)
        order = np.argsort(
            ~flags, axis=1, kind="stable"
        )  # the flagged ones first, in the order of the stream
        blanked = trial["blanked"].reshape(trial.n, self.most, self.size).astype(bool)
        for k in range(self.most):
            wanted = vectors[np.arange(trial.n), order[:, k]]
            when = {
                "during": "recall",
                "start": k * shown,
                "stop": (k + 1) * shown,
                "where": k < stored,
            }
            trial.show("vector", np.where(blanked[:, k], 0, wanted), **when)
            trial.answer(
                "output", wanted, tolerance=self.tolerance, slot=f"item{k + 1}", then="wait", **when
            )

    def _show_stream(self, trial: TrialBuilder, flags: np.ndarray) -> None:
        vectors = trial["vectors"].reshape(trial.n, self.longest, self.size)
        # A stream is drawn at its greatest length, and shown up to the length of its trial.
        for channel, stream in (("vector", vectors), ("flag", flags[:, :, None])):
            values = np.repeat(stream, self.steps, axis=1)
            trial.timecourse(channel, values, during="store", cut=True)
