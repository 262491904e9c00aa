"""Periods of 0 ms are passed over, and a trial without a step is refused."""

from __future__ import annotations

import ngym_test_random_tasks as random_tasks
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ngym_test_random_tasks import held

from neurogym_core import Choice, Task, make, run
from neurogym_core.errors import TrialLayoutError
from neurogym_core.trials.tables import END

pytestmark = pytest.mark.filterwarnings("ignore:Period .* lasts:UserWarning")


@held(25)
@given(description=random_tasks.descriptions(untimed=True), seed=st.integers(0, 99))
def test_entering_a_segment_is_entering_the_first_one_behind_it_that_has_steps(description, seed):
    tables = random_tasks.task_of(description).sample(4, seed=seed).tables
    segments = np.arange(END, len(tables.follows))
    kind, segment = (one.ravel() for one in np.meshgrid(np.arange(len(tables)), segments))
    expected = []
    for k, s in zip(kind, segment, strict=True):
        seen = set()
        while s >= 0 and tables.duration[k, s] == 0 and s not in seen:
            seen.add(s)
            s = tables.follows[s]
        expected.append(END if s in seen else s)
    np.testing.assert_array_equal(tables.landing(kind, segment), expected)


def empty(n: int, then: dict[str, str] | None = None, **last: float) -> type[Task]:
    """Return a task with `n` periods of 0 ms before the last one."""
    periods = {f"p{i}": 0 for i in range(n)} | (last or {"decision": 0})

    class Empty(Task):
        timing = periods

        def define(self):
            self.observe(light=1)
            self.act(press=2)
            self.vary(side=Choice(2))

        def new_trial(self, trial):
            trial.periods(*periods, then=then)
            trial.show("light", 1, during=next(reversed(periods)))
            trial.answer("press", trial["side"], during=next(reversed(periods)))

    return Empty


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (empty(3), "lasts 0 steps: all of 'p0', 'p1', 'p2', 'decision' are skipped"),
        (empty(1, {"p0": "end"}, decision=300), "is over before its first step"),
        # As many rounds as there are periods are enough to see the cycle.
        (empty(40, {"p39": "p0"}, decision=300), "is over before its first step"),
    ],
    ids=["all", "the end follows", "cycle"],
)
def test_a_trial_without_a_step_is_refused(task, said):
    with pytest.raises(TrialLayoutError, match=said):
        make(task()).reset(seed=0)


def test_empty_periods_before_the_first_step_cost_nothing():
    record = run(empty(3, decision=300), "oracle", 5, seed=0)
    assert (record["performance"] == 1).all()
    assert (record["steps"] == 1).all()


@pytest.mark.parametrize(("limit", "steps"), [(2000, 17), (400, 1), (300, 1)])
def test_a_period_without_a_timer_lasts_to_the_limit_of_the_trial(limit, steps):
    class Waiting(Task):
        timing = {"cue": 300, "wait": np.inf}

        def define(self):
            self.observe(light=1)
            self.act(rest=1, press=2)
            self.vary(side=Choice(2))

        def new_trial(self, trial):
            trial.periods("cue", "wait")
            trial.show("light", 1, during="cue")
            trial.answer("press", trial["side"], during="wait")

    batch = Waiting(max_duration=limit).sample(3, seed=0)
    np.testing.assert_array_equal(batch.duration, [[3, steps]] * 3)
