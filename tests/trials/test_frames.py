"""`timecourse` and `show` count the same time: that of the periods they name."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from neurogym_wrappers import Combine

from neurogym_core import Axis, Choice, Task, make


class Gap(Task):
    """Something is shown in a and c; b lies between them."""

    start: float | None = None
    gap: Any = 300
    timing: ClassVar = {"a": 300, "b": 300, "c": 300}
    supervised = False

    def define(self):
        self.observe(light=1)
        self.act(rest=1, go=1)
        self.vary(long=Choice(2), there=Choice(2))

    def new_trial(self, trial):
        trial.periods("a", "b", "c", b=np.where(trial["long"] == 1, self.gap, 200))
        trial.timecourse(
            "light",
            np.arange(1, 10),
            during=("a", "c"),
            start=self.start,
            where=trial["there"] == 1,
            cut=True,
        )


def seen(task: Task, **conditions: int) -> list[float]:
    return task.sample(1, seed=0, **conditions).render(None)[:, 0].tolist()


def test_frames_stand_still_in_a_period_that_they_do_not_name():
    assert seen(Gap(), long=1, there=1) == [1, 2, 3, 0, 0, 0, 4, 5, 6]
    assert seen(Gap(), long=0, there=1) == [1, 2, 3, 0, 0, 4, 5, 6]
    assert not any(seen(Gap(), long=1, there=0))


def test_their_start_counts_that_time_too():
    assert seen(Gap(start=200), long=1, there=1) == [0, 0, 1, 0, 0, 0, 2, 3, 4]
    assert seen(Gap(start=400), long=1, there=1) == [0, 0, 0, 0, 0, 0, 0, 1, 2]


def test_show_and_frames_of_ones_are_the_same():
    class Both(Gap):
        def define(self):
            super().define()
            self.observe(framed=1, shown=1)

        def new_trial(self, trial):
            trial.periods("a", "b", "c")
            there = (trial["there"] == 1) | (trial["long"] == 1)
            trial.timecourse("framed", np.ones(4), during=("a", "c"), start=200, where=there)
            trial.show("shown", 1, during=("a", "c"), start=200, where=there)

    rendered = Both().sample(20, seed=0).render(None)
    assert rendered[:, 0].any()
    np.testing.assert_array_equal(rendered[:, 0], rendered[:, 1])


def test_trials_of_different_gaps_lie_in_one_batch_and_in_one_joined():
    task = Gap()
    parts = [task.sample(1, seed=0, long=long, there=1) for long in (0, 1, 0)]
    joined = type(parts[0]).concatenate(parts)
    np.testing.assert_array_equal(
        joined.render(None), np.concatenate([part.render(None) for part in parts])
    )
    np.testing.assert_array_equal(
        joined.take([2, 1]).render(None),
        np.concatenate([parts[2].render(None), parts[1].render(None)]),
    )


def test_a_player_shows_what_is_rendered():
    env = make(Gap, conditions={"long": 1, "there": 1})
    observation, _ = env.reset(seed=0)
    played = []
    for _ in range(9):
        played.append(float(observation[0]))
        observation, *_ = env.step(0)
    assert played == [1, 2, 3, 0, 0, 0, 4, 5, 6]


def test_a_moving_target_stands_still_as_well():
    class Tracking(Gap):
        def define(self):
            self.observe(light=1)
            self.act(hand=Axis(-10, 10))

        def new_trial(self, trial):
            trial.periods("a", "b", "c")
            trial.timecourse("hand", np.arange(1, 7), during=("a", "c"))

    assert Tracking().sample(1).render_targets()[:, 0].tolist() == [1, 2, 3, 0, 0, 0, 4, 5, 6]


@pytest.mark.parametrize("start", [None, 200])
def test_a_distractor_keeps_its_gap(start):
    class Long(Task):
        timing: ClassVar = {"only": 1500}

        def define(self):
            self.observe(fixation=1)
            self.act(rest=1, choose=2)

        def new_trial(self, trial):
            trial.periods("only")
            trial.answer("choose", 0, during="only")

    class Asking(Gap):
        def new_trial(self, trial):
            super().new_trial(trial)
            trial.answer("go", 0, during="c")

    task = Combine(Long(), distractor=Asking(start=start), onset=300)
    light = task.sample(1, seed=0, long=1, there=1).render(None)[
        :, list(task.channels).index("light")
    ]
    np.testing.assert_array_equal(
        light, [0, 0, 0, *seen(Gap(start=start), long=1, there=1), 0, 0, 0]
    )
