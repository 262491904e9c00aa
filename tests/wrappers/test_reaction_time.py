"""`ReactionTime`: the window opens with the evidence, in envs and in datasets."""

from __future__ import annotations

import copy
import pickle
from typing import ClassVar

import numpy as np
import pytest

from neurogym_core import (
    Axis,
    Choice,
    Dataset,
    ReactionTime,
    Task,
    TaskEnv,
    TaskVectorEnv,
    make,
    make_task,
    run,
)
from neurogym_core.errors import InvalidValueError, NotSupportedError, UnknownNameError
from neurogym_core.players import TaskView
from neurogym_core.trials.batch import TrialBatch


class Dots(Task):
    """A cue that goes off, evidence, a delay, a decision, and a time-out after errors."""

    then: str = "end"
    timing: ClassVar = {
        "fixation": 200,
        "stimulus": [400, 800],
        "delay": 300,
        "decision": 200,
        "timeout": 500,
    }

    def define(self):
        self.observe(fixation=1, stimulus=2)
        self.act(fixate=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods(
            "fixation", "stimulus", "delay", "decision", "timeout", then={"decision": "end"}
        )
        trial.show("fixation", 1, during=("fixation", "stimulus", "delay"))
        trial.show("stimulus", np.eye(2)[trial["side"]], during="stimulus", noise=1)
        trial.answer(
            "choose", trial["side"], during="decision", then={"correct": "end", "error": self.then}
        )


class Cued(Dots):
    """The cue comes on with the window, which closes before its period ends."""

    go_cue = "go"

    def define(self):
        super().define()
        self.observe(go=1, stimulus=2)

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "delay", "decision")
        trial.show("stimulus", np.eye(2)[trial["side"]], during="stimulus")
        trial.show("go", 1, during="decision")
        trial.answer("choose", trial["side"], during="decision", stop=100)


class Wager(Dots):
    """A sure bet joins the slot."""

    def define(self):
        super().define()
        self.act(fixate=1, choose=2, sure=1)

    def new_trial(self, trial):
        super().new_trial(trial)
        trial.offer("sure", 0.5, during="decision", slot="choose")


def onsets(task, channel="fixation"):
    """Steps on which the channel is on, in a trial of each duration of the stimulus."""
    batch = task.sample(2, seed=0, **{"duration.stimulus": [400, 800]})
    return [
        batch.take([i]).render(None)[:, task.channels[channel]].any(axis=1).sum() for i in range(2)
    ]


def test_the_window_lies_on_the_stimulus_and_the_trial_ends_with_it():
    task = ReactionTime(Dots())
    batch = task.sample(2, seed=0, **{"duration.stimulus": [400, 800]})
    assert batch.steps.tolist() == [6, 10]
    assert (
        batch.take([0]).render_targets().tolist() == [0, 0] + [batch.conditions["side"][0] + 1] * 4
    )
    assert onsets(task) == [2, 2]  # the cue goes off with the onset of the stimulus
    assert onsets(Dots()) == [9, 13]


def test_without_end_on_stimulus_the_window_closes_when_it_did():
    batch = ReactionTime(Dots(), end_on_stimulus=False).sample(
        2, seed=0, **{"duration.stimulus": [400, 800]}
    )
    assert batch.steps.tolist() == [11, 15]
    assert (batch.take([1]).render_targets() > 0).sum() == 13
    stopped = ReactionTime(Cued(), end_on_stimulus=False).sample(
        2, seed=0, **{"duration.stimulus": [400, 800]}
    )
    assert [(stopped.take([i]).render_targets() > 0).sum() for i in range(2)] == [
        8,
        12,
    ]  # 1 step into the decision


def test_a_cue_that_comes_with_the_window_moves_with_it():
    assert onsets(Cued(), "go") == [2, 2]
    assert onsets(ReactionTime(Cued()), "go") == [4, 8]
    assert onsets(ReactionTime(Cued(), end_on_stimulus=False), "go") == [9, 13]


def test_dataset_and_record_change_with_it():
    plain, wrapped = (Dataset(Dots, 8, seed=1, wrap=wrap) for wrap in ((), ReactionTime))
    before, after = next(plain), next(wrapped)
    assert before.inputs.shape[1] > after.inputs.shape[1] == 10
    onset = 2
    np.testing.assert_array_equal(after.targets[:, onset], after.conditions["side"] + 1)
    assert (after.inputs[:, onset:, 0] == 0).all()
    record = after.score(after.targets)
    assert (record["reaction_time"] == 100).all()
    assert (record["duration.decision"] == 0).all()
    assert (run(wrapped.task, "oracle", 20, seed=1)["reaction_time"] == 100).all()


def test_answers_to_the_evidence_are_answers_and_the_others_still_abort():
    env = make(Dots, wrap="ReactionTime", conditions={"side": 1}, timing={"stimulus": 400})
    env.reset(seed=0)
    rewards = [env.step(action)[1] for action in (1, 0, 0)]
    assert rewards == [-0.1, 0, 0]
    reward, info = (lambda step: (step[1], step[4]))(env.step(2))
    assert reward == 1
    assert info["trial"]["reaction_time"] == 200
    assert info["trial"]["outcome"] == "correct"


def test_urgency_pays_until_the_answer_in_proportion_to_time():
    for dt in (100, 50):
        env = TaskEnv(
            ReactionTime(
                Dots(dt=dt, timing={"stimulus": 400}, conditions={"side": 0}), urgency=-0.1
            )
        )
        env.reset(seed=0)
        wait = int(400 / dt) + int(100 / dt)  # 200 ms of fixation, 300 ms of evidence
        rewards = [env.step(0)[1] for _ in range(wait)] + [env.step(1)[1]]
        assert sum(rewards) == pytest.approx(1 - 0.1 * (300 + dt) / 100)
        assert rewards[: int(200 / dt)] == [0] * int(200 / dt)
    missed = TaskEnv(ReactionTime(Dots(timing={"stimulus": 400}), urgency=-0.1))
    missed.reset(seed=0)
    assert sum(missed.step(0)[1] for _ in range(6)) == pytest.approx(-0.4)


def test_a_period_that_an_error_leads_to_stays():
    env = TaskEnv(
        ReactionTime(Dots(then="timeout", timing={"stimulus": 400}, conditions={"side": 0}))
    )
    env.reset(seed=0)
    lengths, length = [], 0
    for action in (0, 0, 2, 0, 0, 0, 0, 0) + (0, 0, 1) + (0,) * 6:
        length += 1
        if env.step(action)[4]["new_trial"]:
            lengths.append(length)
            length = 0
    assert lengths == [3 + 5, 3, 6]  # an error and its time-out; a correct answer; a miss


@pytest.mark.parametrize("task", [Dots(then="timeout"), Wager()])
@pytest.mark.parametrize("urgency", [0.0, -0.05])
def test_single_env_and_vector_env_agree(task, urgency):
    wrapped = ReactionTime(task, end_on_stimulus=not isinstance(task, Wager), urgency=urgency)
    single, vector = TaskEnv(wrapped), TaskVectorEnv(wrapped, 1, autoreset_mode="SameStep")
    rng = np.random.default_rng(0)
    a, b = single.reset(seed=3)[0], vector.reset(seed=3)[0]
    for _ in range(1500):
        np.testing.assert_array_equal(a, b[0])
        action = int(rng.integers(wrapped.actions.size)) if rng.random() < 0.3 else 0
        a, reward, _, truncated, info = single.step(action)
        b, rewards, _, _, infos = vector.step(np.array([action]))
        assert reward == pytest.approx(rewards[0])
        assert info["new_trial"] == infos["new_trial"][0]
        if info["new_trial"]:
            assert info["trial"]["outcome"] == infos["trial"]["outcome"][0]
            assert info["trial"].get("reaction_time", 0) == infos["trial"]["reaction_time"][0]
        if truncated:
            a = single.reset()[0]


def test_one_trial_at_a_time_gives_the_same_table():
    task = ReactionTime(Dots())
    together = task.sample(2, seed=0, side=[0, 1], **{"duration.stimulus": [400, 800]})
    single = TrialBatch.concatenate(
        [
            task.sample(1, side=side, **{"duration.stimulus": ms})
            for side, ms in ((0, 400), (1, 800))
        ]
    )
    np.testing.assert_array_equal(together.steps, single.steps)
    np.testing.assert_array_equal(together.render(None), single.render(None))
    np.testing.assert_array_equal(
        together.table("window").any(axis=2).sum(), single.table("window").any(axis=2).sum()
    )


def test_the_wrapped_task_is_a_value_with_a_readable_repr():
    wrapped = ReactionTime(Dots(dt=50), urgency=-0.2)
    assert wrapped == ReactionTime(Dots(dt=50), urgency=-0.2)
    assert wrapped != ReactionTime(Dots(dt=50))
    assert wrapped != Dots(dt=50)
    assert len({wrapped, pickle.loads(pickle.dumps(wrapped)), copy.deepcopy(wrapped)}) == 1
    assert TaskView(wrapped).parameters["urgency"] == wrapped.urgency == -0.2
    assert TaskView(wrapped).parameters["dt"] == wrapped.dt == 50
    assert repr(wrapped).startswith("ReactionTime(Dots(dt=50")
    assert repr(wrapped).endswith("end_on_stimulus=True, urgency=-0.2)")
    assert wrapped.name == "ReactionTime(Dots)"


def test_settings_of_a_wrapped_task_reach_the_task_or_the_wrapper():
    wrapped = make_task(ReactionTime(Dots()), dt=50, urgency=-0.1, timing={"stimulus": 600})
    assert (wrapped.task.dt, wrapped.urgency, wrapped.timing["stimulus"].mean) == (50, -0.1, 600)
    assert wrapped.end_on_stimulus


class Unasked(Dots):
    supervised = False

    def define(self):
        self.observe(fixation=1)
        self.act(fixate=1, choose=2)

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus")


class Unnamed(Dots):
    timing: ClassVar = {"show": 500}

    def new_trial(self, trial):
        trial.periods("show", "decision")
        trial.answer("choose", trial["side"], during="decision")


class Declared(Unnamed):
    evidence_periods = ("show",)


class Open(Dots):
    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.answer("choose", trial["side"], during=("stimulus", "decision"))


class Timed(Dots):
    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.answer_at("choose", 100 + trial["side"], during="decision", tolerance=100)


class Untriggered(Dots):
    def define(self):
        self.observe(stimulus=1)
        self.act(position=Axis())
        self.vary(side=Choice(2))

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.answer("position", trial["side"] * 1.0, during="decision", tolerance=0.1)


class Waits(Dots):
    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.answer("choose", trial["side"], during="decision", then="wait")


class Hooked(Dots):
    def step_action(self, now, action):
        return None, None


@pytest.mark.parametrize(
    ("task", "settings", "says"),
    [
        (Unasked, {}, "has no answer slot"),
        (Unnamed, {}, "no period called 'stimulus…'. Expected one among 'show', 'decision'"),
        (Open, {}, "already open in 'stimulus'"),
        (Timed, {}, "answer_at"),
        (Untriggered, {}, "trigger"),
        (Waits, {"urgency": -0.1}, "then='wait'"),
        (Wager, {}, "'sure' is asked in 'decision'.*end_on_stimulus=False"),
        (Hooked, {}, "step_action"),
    ],
)
def test_it_refuses_tasks_it_cannot_apply_to_and_says_why(task, settings, says):
    with pytest.raises(
        NotSupportedError, match=f"ReactionTime cannot be applied to {task.__name__}: .*{says}"
    ):
        ReactionTime(task(), **settings)


def test_twice_is_an_error_because_the_second_has_no_effect():
    with pytest.raises(NotSupportedError, match="no effect"):
        ReactionTime(ReactionTime(Dots()))


def test_a_task_can_name_its_evidence():
    assert ReactionTime(Declared()).sample(1, seed=0).steps.tolist() == [5]


def test_bad_settings_are_reported():
    with pytest.raises(UnknownNameError, match="Did you mean 'urgency'"):
        ReactionTime(Dots(), urgenci=1)
    with pytest.raises(UnknownNameError, match="'dt'"):
        ReactionTime(Dots(), dt=50)
    with pytest.raises(InvalidValueError, match="end_on_stimulus"):
        ReactionTime(Dots(), end_on_stimulus=3)
    with pytest.raises(InvalidValueError, match="finite"):
        ReactionTime(Dots(), urgency=np.inf)
    with pytest.raises(InvalidValueError, match="expected a task"):
        ReactionTime(Dots)
