"""A value of a hook with another shape is an error that names the hook."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from neurogym_core import Axis, Task, make, make_vec
from neurogym_core.errors import TaskDefinitionError


class Hooked(Task):
    """A hand on one axis, or two keys; a test sets the hooks."""

    timing: ClassVar = {"move": 500}
    axes: int = 1

    def define(self):
        self.observe(light=2)
        if self.axes:
            self.act(**{f"axis{k}": Axis(-1, 1, rest=0) for k in range(self.axes)})
        else:
            self.act(rest=1, choose=2)

    def new_trial(self, trial):
        trial.periods("move")
        trial.show("light", 1, during="move")


def with_hook(hook: str, returns: Any, **settings) -> Task:
    return type("Mine", (Hooked,), {hook: lambda self, now, *given: returns(now)})(**settings)


def stepped(task: Task, n: int) -> None:
    if n == 1:
        env = make(task, info="full")  # infos with targets ask `step_target`
        env.reset(seed=0)
        env.step(env.action_space.sample())
    else:
        envs = make_vec(task, n, info="full")
        envs.reset(seed=0)
        envs.step(envs.action_space.sample())


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize(
    ("hook", "returns", "settings", "says"),
    [
        (
            "step_target",
            lambda now: np.zeros(now.n),
            {},
            r"Mine\.step_target returned an array of shape \(\d,\)\. Expected \(\d, 1\): a row for"
            r" each of the \d envs and a column for each axis, .* value\[:, None\]\.",
        ),
        ("step_target", lambda now: np.zeros((now.n, 1)), {"axes": 0}, r"\(\d, 1\)\. Expected"),
        ("step_target", lambda now: 0.0, {}, r"step_target returned an array of shape \(\)"),
        ("step_target", lambda now: np.zeros((now.n, 1)), {"axes": 2}, r"Expected \(\d, 2\)"),
        ("step_observation", lambda now: None, {}, r"step_observation returned an array of shape"),
        ("step_observation", lambda now: np.zeros(now.n), {}, r"Expected \(\d, 2\): a row"),
        (
            "step_action",
            lambda now: (np.zeros((now.n, 2)), None),
            {},
            r"Mine\.step_action returned reward of shape \(\d, 2\)\. Expected \(\d,\)",
        ),
        ("step_action", lambda now: (None, np.zeros(4, int)), {}, r"returned goto of shape \(4,\)"),
        ("step_action", lambda now: np.zeros(3), {}, r"returned ndarray\. Expected a tuple"),
    ],
)
def test_another_shape_is_an_error_that_names_the_hook(hook, returns, settings, says, n):
    with pytest.raises(TaskDefinitionError, match=says):
        stepped(with_hook(hook, returns, **settings), n)


@pytest.mark.parametrize("n", [1, 3])
def test_one_reward_for_all_envs_is_allowed(n):
    stepped(with_hook("step_action", lambda now: (1.0,)), n)


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("where", [True, [True], None], ids=["one", "a row", "each"])
@pytest.mark.parametrize("value", [2.0, [2.0], None], ids=["one", "a row", "each"])
def test_an_event_is_given_once_for_all_envs_or_for_each(where, value, n):
    def reports(now):
        happened = np.ones(now.n, bool) if where is None else np.array(where)
        now.event(happened, "peck", np.full(now.n, 2.0) if value is None else np.array(value))
        return None, None

    stepped(with_hook("step_action", reports), n)


@pytest.mark.parametrize("where", [[True, False], [], [1, 0, 0], 1])
def test_an_event_of_other_envs_or_another_type_is_refused(where):
    def reports(now):
        now.event(np.array(where), "peck", 1.0)
        return None, None

    says = (
        r"step_action gave now\.event\(\) where= of type .*Expected bools: one, or shape \(3, …\)"
    )
    with pytest.raises(TaskDefinitionError, match=says):
        stepped(with_hook("step_action", reports), 3)
