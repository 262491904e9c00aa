"""Properties of all tasks of the package."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_timing.interval_discrimination import IntervalDiscrimination
from neurogym_task_timing.motor_timing import MotorTiming
from neurogym_task_timing.one_two_three_go import OneTwoGo, OneTwoThreeGo
from neurogym_task_timing.ramps import CueSetGo, ReadySetGoDoublePrior, ReadySetGoSinglePrior
from neurogym_task_timing.ready_set_go import ReadySetGo

from neurogym_core import Dataset
from neurogym_core.players import TaskView

PRODUCTIONS = [MotorTiming, OneTwoThreeGo, OneTwoGo, ReadySetGo]
RAMPS = [CueSetGo, ReadySetGoSinglePrior, ReadySetGoDoublePrior]
DISCRETE = [*PRODUCTIONS, IntervalDiscrimination]
KINDS = [*DISCRETE, *RAMPS]

by_name = {"ids": lambda kind: kind.__name__}


@pytest.mark.filterwarnings("ignore:Period .* lasts:UserWarning")
@pytest.mark.parametrize("dt", [10, 20, 80, 100])
@pytest.mark.parametrize("kind", KINDS, **by_name)
def test_oracle_is_always_right_and_paid_in_full(oracle, kind, dt):
    for trial in oracle(kind(dt=dt), 10):
        assert trial["performance"] == 1
        assert trial["reward"] == pytest.approx(1)


@pytest.mark.parametrize("kind", KINDS, **by_name)
def test_the_dataset_scores_its_own_targets_as_perfect(kind):
    batch = next(iter(Dataset(kind(), 6, seed=1)))
    np.testing.assert_array_equal(batch.score(batch.targets)["performance"], 1)


@pytest.mark.parametrize("kind", DISCRETE, **by_name)
def test_acting_early_costs_in_every_period_without_a_response_window(premature, kind):
    task = kind()
    periods = [
        name for name in TaskView(task).period_names if name not in ("production", "decision")
    ]
    assert periods
    for name in periods:
        assert premature(task, name, trials=4) == {round(-0.1 * task.dt / 100, 9)}, name


@pytest.mark.parametrize("dt", [10, 100])
@pytest.mark.parametrize("kind", DISCRETE, **by_name)
def test_the_fixation_cue_goes_off_when_an_answer_is_asked(kind, dt):
    task = kind(dt=dt)
    batch = task.sample(30, seed=5)
    cue = batch.shown[:, :, task.channels["fixation"]][..., 0]
    asked = batch.table("window").any(axis=2)
    played = batch.duration > 0
    assert (cue[asked & played] == 0).all()
    assert (cue[~asked & played] == 1).all()


@pytest.mark.parametrize("kind", [*PRODUCTIONS, *RAMPS], **by_name)
def test_the_target_is_the_rewarded_step_and_no_other(kind):
    """One step of the production period; for ramps, the first one above the threshold."""
    task = kind(dt=20)
    batch = task.sample(20, seed=6)
    start = np.cumsum(batch.steps) - batch.steps
    before = batch.steps - batch.period_steps["production"]
    targets = batch.render_targets().reshape(batch.steps.sum(), -1)[:, 0]
    for row in range(20):
        mine = targets[start[row] + before[row] : start[row] + batch.steps[row]]
        acting = np.flatnonzero(mine > (0.95 if kind in RAMPS else 0))
        due = round(batch.notes["wanted"][row] / 20) - 1
        assert acting[0] == due
        assert kind in RAMPS or len(acting) == 1
