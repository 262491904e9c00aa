"""A window stays open over periods of 0 steps, in datasets and in envs."""

from __future__ import annotations

import pytest

from neurogym_core import Choice, Dataset, Task, TaskEnv


class Gapped(Task):
    """The window stays open over a period that some trials do not have."""

    timing = {"early": 200, "gap": Choice((0, 100)), "late": 300}

    def define(self):
        self.observe(cue=2)
        self.act(rest=1, go=2)
        self.vary(side=Choice(2))

    def new_trial(self, trial):
        trial.periods("early", "gap", "late")
        trial.show("cue", trial["side"][:, None] == [0, 1], during="late")
        trial.answer("go", trial["side"], during=("early", "gap", "late"), stop=400)


@pytest.mark.parametrize("gap", [0, 100])
def test_a_dataset_goes_on_to_the_end_of_the_window(gap):
    """The oracle answers on its last step, and not before the period that is left out."""
    batch = next(Dataset(Gapped(timing={"gap": gap}), 4, seed=0))
    assert batch.stop.tolist() == [5 + gap // 100] * 4  # periods that are visited run to their end
    env = TaskEnv(Gapped(timing={"gap": gap}))
    env.reset(seed=0)
    steps = 0
    while env.is_asked:
        assert not env.step(0)[4]["new_trial"]
        steps += 1
    assert steps == 4
