"""Equal seeds give equal sequences; copies are independent; no state is global."""

from __future__ import annotations

import copy
import pickle
import random

import numpy as np
import pytest

from neurogym_core import (
    Choice,
    Dataset,
    Session,
    Task,
    TaskEnv,
    TaskVectorEnv,
    TruncatedExponential,
)
from neurogym_core.errors import InvalidValueError


class Dots(Task):
    """Noise, a random delay, and a response window."""

    timing = {"dots": 300, "delay": TruncatedExponential(300, 100, 900), "answer": 200}

    def define(self):
        self.observe(dots=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("dots", "delay", "answer")
        trial.show("dots", trial["side"][:, None] == (0, 1), during="dots", noise=2.0)
        trial.answer("choose", trial["side"], during="answer")


class Blocks(Dots):
    """The side stays for a few trials."""

    trials_per_session: int | None = 10

    def new_session(self, session: Session, rng):
        session.side = rng.integers(0, 2, len(session))

    def draw(self, session: Session, rng):
        switch = rng.random(len(session)) < 0.2
        session.side = np.where(switch, 1 - session.side, session.side)
        return {"side": session.side.copy()}


class Contrary(Dots):
    """The correct side is the one that was not chosen last."""

    reads_outcomes = True
    trials_per_session: int | None = 10

    def draw(self, session: Session, rng):
        last = session.previous["choice"]
        return {"side": np.where(last >= 0, 1 - last, rng.integers(0, 2, len(session)))}


KINDS = [Dots, Blocks, Contrary]


def play(env, steps, seed=0):
    """Return observations, rewards and targets for the same random actions."""
    rng = np.random.default_rng(seed)
    seen = []
    for _ in range(steps):
        if isinstance(env, TaskVectorEnv):
            obs, reward, _, _, _ = env.step(rng.integers(0, 3, env.num_envs))
        else:
            obs, reward, terminated, truncated, _ = env.step(int(rng.integers(0, 3)))
            if truncated or terminated:
                env.reset()
        seen.append((obs.tolist(), np.asarray(reward).tolist(), np.asarray(env.target).tolist()))
    return seen


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "env_of", [TaskEnv, lambda task: TaskVectorEnv(task, 3)], ids=["single", "vector"]
)
def test_a_seed_fixes_everything_that_follows(kind, env_of):
    env, other = env_of(kind()), env_of(kind())
    env.reset(seed=1)
    first = play(env, 300)
    other.reset(seed=2)
    assert play(other, 300) != first
    other.reset(seed=1)
    assert play(other, 300) == first


@pytest.mark.parametrize("kind", KINDS)
def test_envs_played_in_turn_do_not_notice_each_other(kind):
    alone = TaskEnv(kind())
    alone.reset(seed=1)
    expected = play(alone, 60, seed=0), play(alone, 60, seed=1)
    task = kind()
    one, other = TaskEnv(task), TaskEnv(task)
    one.reset(seed=1)
    other.reset(seed=9)
    first = play(one, 60, seed=0)
    play(other, 100)
    Dataset(task, 4, 20, seed=1).__next__()
    assert (first, play(one, 60, seed=1)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_no_global_random_numbers_are_used_or_moved(kind):
    def states():
        return random.getstate(), pickle.dumps(np.random.get_state())  # noqa: NPY002

    before = states()
    env = TaskEnv(kind())
    env.reset(seed=1)
    first = play(env, 50)
    next(Dataset(kind(), 2, 10, seed=0))
    assert states() == before
    np.random.seed(7)  # noqa: NPY002
    env.reset(seed=1)
    assert play(env, 50) == first


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))],
    ids=["deepcopy", "pickle"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_copies_go_on_alike_and_alone(kind, copied):
    for env in (TaskEnv(kind()), TaskVectorEnv(kind(), 3)):
        env.reset(seed=1)
        play(env, 23)
        clone = copied(env)
        ahead = play(clone, 400, seed=3)
        assert play(env, 400, seed=3) == ahead


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))],
    ids=["deepcopy", "pickle"],
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seq_len", [None, 7])
def test_copies_of_datasets_go_on_alike_and_alone(kind, copied, seq_len):
    dataset = Dataset(kind(), 3, seq_len, seed=1)
    for _ in range(3):
        next(dataset)
    clone = copied(dataset)
    ahead = [next(clone) for _ in range(5)]
    for batch in ahead:
        mine = next(dataset)
        np.testing.assert_array_equal(batch.inputs, mine.inputs)
        np.testing.assert_array_equal(batch.targets, mine.targets)


def test_without_a_seed_no_two_envs_are_alike():
    envs = [TaskEnv(Dots()) for _ in range(2)]
    for env in envs:
        env.reset()
    assert play(envs[0], 20) != play(envs[1], 20)


@pytest.mark.parametrize(
    "env_of", [TaskEnv, lambda task: TaskVectorEnv(task, 2)], ids=["single", "vector"]
)
def test_the_seed_of_the_constructor_serves_until_one_is_given(env_of):
    first = env_of(Dots())
    first.reset(seed=5)
    other = (
        TaskEnv(Dots(), seed=5) if isinstance(first, TaskEnv) else TaskVectorEnv(Dots(), 2, seed=5)
    )
    other.reset()
    assert play(first, 50) == play(other, 50)


def test_fresh_noise_after_a_restart_is_seeded_too():
    class Still(Dots):
        def new_trial(self, trial):
            super().new_trial(trial)
            trial.hold(during="dots", cost=0, then="restart")

    def observations(seed):
        env = TaskEnv(Still())
        return [
            env.reset(seed=seed)[0].tolist(),
            *(env.step(action)[0].tolist() for action in (0, 1, 0, 1, 0, 0)),
        ]

    first = observations(0)
    assert first == observations(0)
    assert first[0] != first[2]  # the first step of the period, before and after the restart


def test_envs_of_a_vector_env_differ_in_noise_and_trials():
    env = TaskVectorEnv(Dots(), 3)
    obs, _ = env.reset(seed=0)
    assert len({tuple(row) for row in obs.tolist()}) == 3


@pytest.mark.parametrize("seeds", [[], [1], [1, 2, 3]])
def test_a_list_of_seeds_has_one_for_each_env(seeds):
    envs = TaskVectorEnv(Dots(), 2)
    with pytest.raises(InvalidValueError, match=f"given {len(seeds)} seeds for 2 envs"):
        envs.reset(seed=seeds)
    envs.reset(seed=[1, None])


def test_lists_of_seeds_that_agree_in_32_bits_give_different_streams():
    """A list is combined into one seed, of which 32 bits are few enough to meet by chance."""
    numbers = []
    for seeds in ([32346, 32347], [90824, 90825]):
        combined = np.random.SeedSequence([seed + 1 for seed in seeds])
        numbers.append(combined.generate_state(1)[0])
    assert numbers[0] == numbers[1]
    seen = []
    for seeds in ([32346, 32347], [90824, 90825], [32346, 32347]):
        envs = TaskVectorEnv(Dots(), 2)
        first = envs.reset(seed=seeds)[0]
        seen.append(np.array([first, *(envs.step(np.zeros(2, int))[0] for _ in range(20))]))
    assert not np.array_equal(seen[0], seen[1])
    np.testing.assert_array_equal(seen[0], seen[2])
