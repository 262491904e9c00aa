"""A blind subject plays like one that sees all and uses little; one that peeks cannot play."""

from __future__ import annotations

import dataclasses
import gc

import numpy as np
import pytest
from gymnasium.vector import VectorWrapper
from neurogym_likeness.benchmarks import benchmark
from neurogym_likeness.blind import BlindPlayer

from neurogym_core import (
    NotSupportedError,
    Subject,
    Task,
    TaskVectorEnv,
    UnknownNameError,
    make_vec,
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


@pytest.mark.slow
def test_a_search_through_the_memory_of_its_process_finds_no_task():
    assert len(played(Searches(), 2)) == 2


def test_a_process_that_ends_is_an_error_that_names_the_subject():
    with pytest.raises(NotSupportedError, match="ended with code 3"):
        played(Quits())


def test_an_unknown_subject_is_refused_before_the_first_step():
    with pytest.raises(UnknownNameError, match="nobody"):
        BlindPlayer("nobody")


class Tells(VectorWrapper):
    """A wrapper that would show the direction to its subject."""


class Wrapped(Reads):
    env_wrappers = ((Tells, {}),)


class RewardSeeing(Reads):
    env_wrappers = (("PassReward", {}),)


def test_a_subject_brings_no_wrapper_of_its_own_beside_the_task():
    """It showed the conditions to its subject, which then scored 1.07 beside five people."""
    with pytest.raises(NotSupportedError, match="which would play beside the task"):
        played(Wrapped("num_envs"))
    with BlindPlayer(RewardSeeing("num_envs")) as player:
        assert player.env_wrappers == [("core/PassReward", {})]


class Payload:
    def __init__(self, path) -> None:
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


class Sends(Subject):
    """Returns actions of which one runs code where it is unpickled."""

    def __init__(self, path) -> None:
        super().__init__()
        self.path = path

    def __call__(self, env, observations):
        actions = np.zeros(len(observations), object)
        actions[0] = Payload(self.path)
        return actions


def test_nothing_that_a_subject_sends_is_executed(tmp_path):
    with pytest.raises(NotSupportedError, match="dtype object"):
        played(Sends(tmp_path / "ran"))
    assert not (tmp_path / "ran").exists()


class Mirror(Subject):
    """Plays the trials of a benchmark again in its own process, with the seed that it gets."""

    def __init__(self, name) -> None:
        super().__init__()
        self.name, self.seed, self.own = name, 101, None

    def __call__(self, env, observations):
        if self.own is None:
            known = benchmark(self.name)
            self.own = make_vec(known.make_task(), env.num_envs, autoreset_mode="SameStep")
            seen = self.own.reset(seed=self.seed, options=None)[0]
        else:
            seen = self.own.step(self.actions)[0]
        if not np.allclose(seen, observations):
            raise ValueError("these are other trials")
        self.actions = np.zeros(env.num_envs, int)
        return self.actions


@pytest.mark.slow
def test_the_trials_of_a_score_cannot_be_made_again():
    known = benchmark("heading-people")
    few = dataclasses.replace(known, number=40)
    few.play(Mirror("heading-people"), 101)  # the cheat works where the trials are known
    with pytest.raises(NotSupportedError, match="these are other trials"):
        few.play(Mirror("heading-people"), 101, drawn=7)
    first, again, other = (
        few.play("guess", 101, drawn).record["coherence"].tolist() for drawn in (7, 7, 8)
    )
    assert first == again != other
