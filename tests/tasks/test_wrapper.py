"""Task wrappers: attributes that they inherit from the wrapped task, and changes they can make."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import ClassVar

import numpy as np
import pytest

from neurogym_core import (
    Choice,
    Dataset,
    Session,
    Task,
    TaskEnv,
    TaskVectorEnv,
    TaskWrapper,
    make_task,
)
from neurogym_core.errors import InvalidValueError, TaskDefinitionError, UnknownNameError
from neurogym_core.players import TaskView
from neurogym_core.tasks.parameters import with_settings
from neurogym_core.tasks.state import state_of


class Plain(Task):
    gain: float = 2.0
    timing: ClassVar = {"stimulus": 200, "decision": 200}
    trials_per_session: int | None = 7

    def define(self):
        self.observe(stimulus=1)
        self.act(fixate=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")
        self.secret = 42

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("stimulus", trial["side"], during="stimulus", noise=1)
        trial.answer("choose", trial["side"], during="decision")

    def helper(self):
        return self.secret + 1


class Drifting(Plain):
    def new_session(self, session: Session, rng):
        session.side = rng.integers(0, 2, len(session))

    def draw(self, session: Session, rng):
        session.side = 1 - session.side
        return {"side": session.side}


class Counting(Plain):
    """Shows the number of actions so far in the trial."""

    trial_state: ClassVar = {"count": 0}

    def step_action(self, now, action):
        now.trial_state["count"] += action > 0
        return None, None

    def step_observation(self, now, obs):
        return obs + now.trial_state["count"][:, None]


class Louder(TaskWrapper):
    """Doubles the noise, and shows an additional cue in some trials."""

    factor: float = 2.0
    share: float = 0.5

    def define(self):
        self.observe(**self.task.channels.parts, cue=1)
        self.vary(cued=Choice((True, False), p=(self.share, 1 - self.share)))

    def new_trial(self, trial):
        super().new_trial(trial)
        for show in trial.layout.shows:
            show.noise = show.noise * self.factor
        trial.show("cue", 1, during="stimulus", where=np.atleast_1d(trial["cued"]))


class Again(TaskWrapper):
    """Changes nothing."""


TASKS = [Plain, Drifting, Counting]


@pytest.mark.parametrize("task", TASKS)
def test_a_wrapper_that_changes_nothing_changes_nothing(task):
    same, wrapped = TaskEnv(task()), TaskEnv(Again(Again(task())))
    a, b = same.reset(seed=1)[0], wrapped.reset(seed=1)[0]
    for step in range(300):
        np.testing.assert_array_equal(a, b)
        (a, *one), (b, *other) = same.step(step % 3), wrapped.step(step % 3)
        assert one[:3] == other[:3]
        assert dict(one[3].get("trial", {})) == dict(other[3].get("trial", {}))
        if one[2]:
            a, b = same.reset()[0], wrapped.reset()[0]


@pytest.mark.parametrize("task", TASKS)
def test_changes_of_a_wrapper_reach_every_player(task):
    wrapped = Louder(task())
    assert wrapped.channels.size == 2
    assert state_of(wrapped).stateful == state_of(task()).stateful
    single, vector = TaskEnv(wrapped), TaskVectorEnv(wrapped, 1, autoreset_mode="SameStep")
    a, b = single.reset(seed=1)[0], vector.reset(seed=1)[0]
    for step in range(100):
        np.testing.assert_array_equal(a, b[0])
        a, *_, truncated, info = single.step(step % 3)
        b, *_ = vector.step(np.array([step % 3]))
        if info["new_trial"]:
            assert set(info["trial"]) > {"side", "cued"}
        if truncated:
            a = single.reset()[0]
    batch = next(Dataset(task, 200, seed=0, wrap=Louder))
    assert batch.inputs.shape[2] == 2
    cued = np.asarray(batch.conditions["cued"])
    np.testing.assert_array_equal(
        batch.inputs[batch.row, 0, 1] > (batch.inputs[batch.row, 0, 1].max() / 2), cued
    )
    assert 60 < cued.sum() < 140  # 5.6 standard deviations


def test_noise_is_doubled():
    sd = [task.sample(1, seed=0).noise.max() for task in (Plain(), Louder(Plain()))]
    assert sd[1] == pytest.approx(2 * sd[0])


def test_it_has_the_attributes_of_the_task_and_its_own():
    wrapped = Louder(Again(Plain(gain=3.0, dt=50)), factor=5)
    assert (wrapped.gain, wrapped.dt, wrapped.factor, wrapped.trials_per_session) == (3.0, 50, 5, 7)
    assert (wrapped.secret, wrapped.helper()) == (42, 43)
    assert set(TaskView(wrapped).parameters) == {*TaskView(Plain()).parameters, "factor", "share"}
    with pytest.raises(AttributeError, match="nothing"):
        wrapped.nothing  # noqa: B018
    with pytest.raises(TaskDefinitionError, match="tasks do not change"):
        wrapped.factor = 3


def test_its_signature_lists_its_own_parameters():
    assert [*inspect.signature(Louder).parameters] == ["task", "factor", "share"]


def test_equality_hash_copies_and_pickles():
    one, other = Louder(Plain(), factor=3), Louder(Plain(), factor=3)
    assert one == other
    assert hash(one) == hash(other)
    assert one != Louder(Plain(), factor=4)
    assert one != Louder(Plain(gain=1), factor=3)
    assert one != Again(Plain())
    assert one == pickle.loads(pickle.dumps(one)) == copy.deepcopy(one)


def test_settings_go_to_the_wrapper_or_task_that_declares_them():
    wrapped = with_settings(
        Louder(Again(Plain()), factor=3), gain=1, share=0.1, timing={"stimulus": 400}
    )
    assert (
        wrapped.task.task.gain,
        wrapped.share,
        wrapped.factor,
        wrapped.timing["stimulus"].mean,
    ) == (1, 0.1, 3, 400)
    with pytest.raises(UnknownNameError, match="'gian'"):
        with_settings(wrapped, gian=1)


def test_conditions_can_be_imposed_on_both():
    wrapped = make_task(Plain, wrap=Louder, conditions={"side": 1})
    assert set(wrapped.sample(50, seed=0).conditions["side"]) == {1}
    assert wrapped.sample(50, seed=0, cued=True).conditions["cued"].all()
    env = TaskEnv(wrapped)
    env.reset(seed=0, options={"conditions": {"cued": True}})
    assert env.conditions == {"side": 1, "cued": True}


class Clash(TaskWrapper):
    def define(self):
        self.vary(side=Choice(2))


def test_mistakes_raise_errors_that_name_them():
    with pytest.raises(TaskDefinitionError, match="'side', which Plain declares already"):
        Clash(Plain())
    with pytest.raises(UnknownNameError, match="Did you mean 'factor'"):
        Louder(Plain(), facto=1)
    with pytest.raises(UnknownNameError, match="'dt'"):
        Louder(Plain(), dt=50)
    with pytest.raises(InvalidValueError, match="expected a task"):
        Louder("Plain")
    with pytest.raises(TaskDefinitionError, match="without a default"):
        type("Bad", (TaskWrapper,), {"__annotations__": {"x": "int"}})


@pytest.mark.filterwarnings("error")
def test_a_wrapper_with_the_conditions_of_another_task_is_joint_and_its_times_are_not_examined():
    """Each of its tasks was examined itself."""

    class Both(TaskWrapper):
        def define(self):
            self.add_conditions(Plain(), {"side": "other"})

        def new_trial(self, trial):
            self.task.new_trial(trial)
            trial.record("other")
            trial.show("stimulus", 1, during="stimulus", start=100, stop=101)

    class Brief(Both):
        def define(self):
            self.vary(other=Choice(2))

    assert TaskView(Both(Plain())).joint
    Both(Plain()).sample(3, seed=0)
    with pytest.warns(UserWarning, match="lasts 1 ms"):
        Brief(Plain()).sample(3, seed=0)
