"""`replay`: the record of given trials with given actions."""

from __future__ import annotations

import numpy as np

from neurogym_core import make_task
from neurogym_core.players import replay


def test_trials_follow_one_another_on_the_clock_of_the_record():
    task = make_task("perceptual/RoitmanShadlen-v0")
    batch = task.sample(20, seed=0)
    rests = np.zeros((20, int(batch.steps.max())), int)
    early = rests.copy()
    early[:, -1] = 1
    for actions in (rests, early):
        record = replay(task, batch, actions, timed=True)
        begins = (np.cumsum(batch.steps) - batch.steps) * task.dt
        np.testing.assert_allclose(record["trial_start"], begins)
        np.testing.assert_allclose(record["onset.fixation"], begins)
        assert (record["trial_stop"][:-1] <= record["trial_start"][1:]).all()
        lasts = record["trial_stop"] - record["trial_start"]
        np.testing.assert_allclose(lasts, record["steps"] * task.dt)
    assert "trial_start" not in replay(task, batch, rests)
