"""What `hold` says about acting outside of response windows."""

from __future__ import annotations

from typing import ClassVar

import pytest

from neurogym_core import END, STAY, Task


class Waiting(Task):
    cost: float | None = None
    then: str | None = None
    abort_ends_trial: bool = True
    timing: ClassVar = {"wait": 500, "free": 500}
    supervised = False

    def define(self):
        self.observe(cue=1)
        self.act(rest=1, go=2)

    def new_trial(self, trial):
        trial.periods("wait", "free")
        trial.hold(during="free", cost=self.cost, then=self.then)


@pytest.mark.parametrize(
    ("cost", "then", "aborts", "reward", "goto"),
    [
        (None, None, True, -0.1, END),
        (-0.2, None, True, -0.2, END),
        (0, "restart", True, 0, 1),
        (0, None, False, 0, STAY),
    ],
)
def test_what_acting_costs_and_does(cost, then, aborts, reward, goto):
    payoffs = Waiting(cost=cost, then=then).sample(3, seed=0).payoffs
    assert payoffs.aborts[:, 0, 1:].all()
    assert (payoffs.aborts[:, 1, 1:] == aborts).all()
    assert payoffs.reward[:, 1, 1:] == pytest.approx(reward)
    assert (payoffs.goto[:, 1, 1:] == goto).all()
    assert not payoffs.aborts[:, :, 0].any()


def test_without_an_abort_reward_acting_still_counts():
    payoffs = Waiting(rewards={"abort": 0}).sample(3, seed=0).payoffs
    assert payoffs.aborts[:, 1, 1:].all()
