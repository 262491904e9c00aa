"""A trial without stimuli, responses or rewards."""

from __future__ import annotations

from neurogym_core import Task, TrialBuilder


class Null(Task):
    """Rest for ten seconds; there are no stimuli, responses or rewards.

    A baseline, for measuring the spontaneous activity of a network or the background of a
    recording, and for testing tools. There is one channel, which stays 0, and one action, resting.

    Deviations from the paper: none known; there is no paper.

    Args: none.
    """

    supervised = False
    go_cue = None

    timing = {"rest": 10_000}  # ms
    rewards = {"abort": 0.0}

    def define(self) -> None:
        self.observe(nothing=1)
        self.act(rest=1)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("rest")
        trial.max_reward(0)
