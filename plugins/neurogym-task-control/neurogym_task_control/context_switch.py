"""The smallest task with a hidden context."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, OneHot, Session, Task, TrialBuilder

SIDES = ("left", "right")


class ContextSwitch(Task):
    """Respond to one of two stimuli under a mapping that reverses at random.

    A task of NeuroGym's, for agents that have to infer a hidden context; there is no single
    original.

    A trial is one step. The subject sees a stimulus on the left (0) or the right (1) and chooses
    left (0) or right (1); there is no resting action. In the context "same" the side of the
    stimulus is correct, in the context "other" the other side. Before every trial the context
    changes with a probability of 0.1, without notice; only the reward reveals the current context.
    Performance is the fraction of correct choices. A subject that remembers the context that its
    last reward revealed is correct in 90 % of the trials, the most that is possible; without
    memory, 50 %.

    Deviations from the paper: none; there is no original.

    Args:
        switch_probability: probability that the context differs from that of the previous trial.
    """

    switch_probability: float = 0.1

    timing = {"choice": 100}  # ms; one step, since every action is a choice
    rewards = {"correct": 1.0, "error": 0.0}
    go_cue = None
    evidence_periods = ("choice",)

    def define(self) -> None:
        if not 0 <= self.switch_probability <= 1:
            raise InvalidValueError(
                f"ContextSwitch was given switch_probability={self.switch_probability!r}; give"
                " a number from 0 to 1."
            )
        self.observe(stimulus=OneHot(SIDES))
        self.act(choose=SIDES)
        self.vary(context=Choice(("same", "other")), stimulus=Choice(2))
        self.correct_choice(_right_choice)

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.other = rng.random(len(session)) < 0.5

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        drawn = self.draw_ahead(session, rng, 1)
        return {name: values[0] for name, values in drawn.items()}

    def draw_ahead(
        self, session: Session, rng: np.random.Generator, trials: int
    ) -> dict[str, np.ndarray]:
        n = len(session)
        # The parity of the number of switches determines the context; `new_session` has drawn the
        # first one.
        switches = (rng.random((trials, n)) < self.switch_probability) & (
            session.trial + np.arange(trials)[:, None] > 0
        )
        other = session.other ^ (np.cumsum(switches, axis=0) % 2 == 1)
        session.other = other[-1]
        return {
            "context": np.where(other, "other", "same"),
            "stimulus": rng.integers(0, 2, (trials, n)),
        }

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("choice")
        trial.show("stimulus", trial["stimulus"][:, None] == np.arange(2), during="choice")
        trial.answer("choose", trial.correct_choice, during="choice")


def _right_choice(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """The side of the stimulus, or the other one, (n,)."""
    other = np.asarray(conditions["context"]) == "other"
    return np.where(other, 1 - np.asarray(conditions["stimulus"]), conditions["stimulus"])
