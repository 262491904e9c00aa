"""Refused: times at which nothing could be shown or asked, and wrong lengths of timecourses."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import pytest

from neurogym_core import Axis, Choice, Task, make, run
from neurogym_core.errors import TrialLayoutError


class Verbs(Task):
    """Trials of 300 or 600 ms of light, by condition; a test adds one call."""

    timing: ClassVar = {"delay": 200, "decision": 100}
    call: ClassVar[Any] = None

    def define(self):
        self.observe(light=1)
        self.act(rest=1, choose=2)
        self.vary(long=Choice(2), ssd=Choice((0, 200)))

    def new_trial(self, trial):
        trial.periods("delay", "light", "decision", light=np.where(trial["long"], 600, 300))
        trial.answer("choose", trial["long"], during="decision", slot="end")
        trial["ssd"]
        type(self).call(trial)


def task_with(call, **settings) -> Task:
    return type("Mine", (Verbs,), {"call": staticmethod(call)})(**settings)


SHOWN = {
    "show": lambda trial, **when: trial.show("light", 1, **when),
    "answer": lambda trial, **when: trial.answer("choose", 0, slot="x", then="wait", **when),
    "answer_at": lambda trial, **when: trial.answer_at(
        "choose", 100, tolerance=100, slot="x", then="wait", **when
    ),
    "offer": lambda trial, **when: trial.offer("choose", 1, slot="x", then="wait", **when),
}
MASKS = {
    "hold": lambda trial, **when: trial.hold(cost=0, **when),
    "loss_weight": lambda trial, **when: trial.loss_weight(0, **when),
}

# ---------------------------------------------------------------------- start= beyond the end


@pytest.mark.parametrize("verb", SHOWN)
@pytest.mark.parametrize("start", [300, 450])
def test_a_start_that_is_not_before_the_end_of_a_trial_is_refused(verb, start):
    with pytest.raises(
        TrialLayoutError,
        match=rf"start= of Mine was given {start} ms, .* 'light' \(300 ms\), in [1-6] of 7"
        r" trials; .* earlier start=, .*where=",
    ):
        task_with(lambda trial: SHOWN[verb](trial, during="light", start=start))


def test_so_is_that_of_a_timecourse():
    with pytest.raises(TrialLayoutError, match=r"start= of Mine was given 300 ms"):
        task_with(lambda trial: trial.timecourse("light", [1], during="light", start=300))


@pytest.mark.parametrize("verb", SHOWN)
def test_where_leaves_out_the_trials_that_end_before_the_start(verb):
    task = task_with(
        lambda trial: SHOWN[verb](trial, during="light", start=450, where=trial["long"] == 1)
    )
    assert len(task.sample(10, seed=0)) == 10


@pytest.mark.parametrize("verb", MASKS)
def test_holds_and_weights_may_start_beyond_the_end(verb):
    assert task_with(lambda trial: MASKS[verb](trial, during="light", start=450))


def test_a_start_counts_the_time_of_all_the_named_periods():
    assert task_with(lambda trial: trial.show("light", 1, during=("delay", "light"), start=400))
    with pytest.raises(TrialLayoutError, match=r"end of 'delay', 'light' \(500 ms\)"):
        task_with(lambda trial: trial.show("light", 1, during=("delay", "light"), start=500))


def test_a_start_within_the_last_half_step_lies_in_the_last_step():
    task = task_with(lambda trial: trial.show("light", 1, during="light", start=275))
    assert task.sample(1, seed=0, long=0).render(None)[:, 0].tolist() == [0, 0, 0, 0, 1, 0]


def test_a_trial_that_skips_the_period_is_not_concerned():
    class Skips(Verbs):
        def new_trial(self, trial):
            trial.periods("delay", "light", "decision", light=300.0 * trial["long"])
            trial.show("light", 1, during="light", start=200 + 0 * trial["ssd"], stop=250)
            trial.answer("choose", trial["long"], during="decision")

    assert Skips().sample(10, seed=0).steps.tolist()


def test_a_period_without_a_timer_has_no_end():
    class Waits(Verbs):
        timing: ClassVar = {"delay": math.inf}

        def new_trial(self, trial):
            trial.periods("delay", "light", "decision", light=300)
            trial.show("light", trial["long"], during="delay", start=900 + trial["ssd"])
            trial.answer("choose", 0, during="delay", then="light", slot="begin")

    assert Waits().sample(3, seed=0).untimed == {"delay"}


def test_a_signal_that_would_never_come_is_refused_while_trials_are_played():
    """A delay of the stop signal that rises from trial to trial, as of a staircase."""

    class Stop(Verbs):
        def new_session(self, session, rng):
            session.delay = np.zeros(len(session), int)

        def draw(self, session, rng):
            session.delay = session.delay + 100
            n = len(session)
            return self.draw_conditions(rng, n, {"ssd": session.delay, "long": np.zeros(n, int)})

        call = staticmethod(
            lambda trial: trial.show("light", 1, during="light", start=trial["ssd"])
        )

    task = Stop()  # its first trials are right
    with pytest.raises(TrialLayoutError, match=r"start= of Stop was given 300 ms"):
        run(task, "oracle", 20, num_envs=1, seed=0)


# ---------------------------------------------------------------------- stop= before start=


@pytest.mark.parametrize("verb", [*SHOWN, *MASKS])
def test_a_stop_before_the_start_is_refused(verb):
    with pytest.raises(
        TrialLayoutError,
        match=r"stop= of Mine was given 100 ms, which is before start=200 ms, in [1-6] of 7 trials;"
        r" give a later stop=",
    ):
        task_with(
            lambda trial: {**SHOWN, **MASKS}[verb](
                trial, during="light", start=trial["ssd"], stop=100, where=trial["ssd"] >= 0
            )
        )


@pytest.mark.parametrize("start", [None, -200])
def test_a_stop_before_the_onset_is_refused(start):
    with pytest.raises(TrialLayoutError, match=r"stop= of Mine was given -100 ms, .* before"):
        task_with(lambda trial: trial.show("light", 1, during="light", start=start, stop=-100))


def test_a_stop_at_the_start_shows_nothing_and_is_allowed():
    assert task_with(lambda trial: trial.show("light", 1, during="light", start=100, stop=100))


def test_where_leaves_out_the_trials_that_stop_before_their_start():
    assert task_with(
        lambda trial: trial.show(
            "light", 1, during="light", start=trial["ssd"], stop=100, where=trial["ssd"] < 100
        )
    )


# ---------------------------------------------------------------------- length of a timecourse


@pytest.mark.parametrize(
    ("length", "start", "wanted"), [(5, None, 6), (7, None, 6), (5, 200, 4), (3, 200, 4)]
)
def test_a_timecourse_of_another_length_than_its_periods_is_refused(length, start, wanted):
    advice = "cut=True" if length > wanted else "with zeros"
    with pytest.raises(
        TrialLayoutError,
        match=rf"timecourse\('light'\) of Mine was given {length} values, but there are {wanted}"
        rf" steps of 100 ms in 'light'.* longest of 7 trials; give {wanted} values, .*{advice}",
    ):
        task_with(
            lambda trial: trial.timecourse("light", np.ones(length), during="light", start=start)
        )


def test_shorter_trials_take_the_first_values():
    task = task_with(lambda trial: trial.timecourse("light", np.arange(1, 7), during="light"))
    rendered = task.sample(2, seed=0, long=[0, 1]).render(None)[:, 0].tolist()
    assert rendered == [0, 0, 1, 2, 3, 0, 0, 0, 1, 2, 3, 4, 5, 6, 0]


def test_a_timecourse_that_is_cut_on_purpose_says_so():
    def call(trial):
        trial.timecourse("light", np.arange(1, 10), during="light", cut=True)

    assert task_with(call).sample(1, seed=0, long=1).render(None)[2:8, 0].tolist() == [
        1, 2, 3, 4, 5, 6,
    ]  # fmt: skip


def test_one_that_may_be_cut_is_not_too_short():
    with pytest.raises(TrialLayoutError, match=r"given 5 values, .* 6 steps"):
        task_with(lambda trial: trial.timecourse("light", np.ones(5), during="light", cut=True))


def test_only_the_trials_that_show_it_count():
    def call(trial):
        trial.timecourse("light", np.ones(3), during="light", where=trial["long"] == 0)

    assert task_with(call)


def test_a_target_of_another_length_is_refused_too():
    class Follow(Task):
        timing: ClassVar = {"follow": 400}

        def define(self):
            self.observe(light=1)
            self.act(hand=Axis(-2, 2))

        def new_trial(self, trial):
            trial.periods("follow")
            trial.timecourse("hand", np.ones(8), during="follow")

    with pytest.raises(TrialLayoutError, match=r"timecourse\('hand'\) .* 8 values, .* 4 steps"):
        Follow()
    assert make(Follow(dt=50))
