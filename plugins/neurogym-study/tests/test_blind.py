"""A blind subject plays like one that sees all and uses little; one that peeks cannot play."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from neurogym_study.blind import BlindPlayer

from neurogym_core import (
    NotSupportedError,
    Subject,
    Task,
    TaskVectorEnv,
    UnknownNameError,
    run,
)
from neurogym_core.players import Tables

TASK = "perceptual/RoitmanShadlen-v0"


class Reads(Subject):
    """Answers with a value that it reads from the env."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    def __call__(self, env, observations):
        for name in self.path.split("."):
            env = getattr(env, name)
        return np.zeros(len(observations), int)


class Searches(Subject):
    """Looks for tasks, envs and tables among all objects of its process."""

    def __call__(self, env, observations):
        kinds = (Task, TaskVectorEnv, Tables)
        here = [one for one in gc.get_objects() if isinstance(one, kinds)]
        if here:
            raise ValueError(f"found {here[0]!r}")
        return np.zeros(len(observations), int)


class Quits(Subject):
    """Ends its process."""

    def __call__(self, env, observations):
        raise SystemExit(3)


def played(subject, n=5):
    with BlindPlayer(subject, seed=4) as player:
        return run(TASK, player, n, seed=3)


@pytest.mark.parametrize("subject", ["diffusion", ("diffusion", {"bound": 50}), "integrator"])
def test_a_reference_subject_plays_the_same_trials_blind(subject):
    seen, blind = run(TASK, subject, 40, seed=3), played(subject, 40)
    assert seen.columns == blind.columns
    for name in seen.columns:
        np.testing.assert_array_equal(seen[name], blind[name], err_msg=name)


@pytest.mark.parametrize(
    "path",
    ["target", "conditions", "stepper", "seed", "unwrapped", "decks", "period", "kernel"],
)
def test_a_subject_that_peeks_cannot_play(path):
    with pytest.raises(NotSupportedError, match=f"asked the env for '{path}'"):
        played(Reads(path))


@pytest.mark.parametrize("path", ["task.sample", "task.conditions", "task.timing", "task.correct"])
def test_the_task_object_is_out_of_reach(path):
    with pytest.raises(NotSupportedError, match="no attribute"):
        played(Reads(path))


def test_a_search_through_the_memory_of_its_process_finds_no_task():
    assert len(played(Searches(), 2)) == 2


def test_a_process_that_ends_is_an_error_that_names_the_subject():
    with pytest.raises(NotSupportedError, match="ended with code 3"):
        played(Quits())


def test_an_unknown_subject_is_refused_before_the_first_step():
    with pytest.raises(UnknownNameError, match="nobody"):
        BlindPlayer("nobody")
