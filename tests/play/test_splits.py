"""Splits share neither noise nor sessions, whatever their seeds, wherever an env takes a seed."""

from __future__ import annotations

import copy
import pickle
from itertools import combinations

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neurogym_wrappers import Combine, Mixture

from neurogym_core import (
    Choice,
    Dataset,
    Task,
    TaskEnv,
    TaskVectorEnv,
    make,
    make_task,
    make_vec,
    run,
)
from neurogym_core.errors import InvalidValueError, UnknownNameError
from neurogym_core.play.dealer import Dealer
from neurogym_core.trials.noise import KEY_BITS, SPLITS

TASK = "perceptual/PerceptualDecisionMaking-v0"
SESSIONS = "ibl/IBLBlocks-v0"
SEEDS = st.integers(0, 2**32 - 1)
MAKERS = {
    "make": lambda **how: make(TASK, **how),
    "make_vec": lambda **how: make_vec(TASK, 3, **how),
    "make_vec, SameStep": lambda **how: make_vec(TASK, 3, autoreset_mode="SameStep", **how),
    "gymnasium.make": lambda **how: gymnasium.make(f"neurogym_core.gym:{TASK}", **how),
    "gymnasium.make of the spec": lambda **how: gymnasium.make(make(TASK, **how).spec),
    "gymnasium.make_vec": lambda **how: gymnasium.make_vec(
        f"neurogym_core.gym:{TASK}", 3, vectorization_mode="vector_entry_point", **how
    ),
    "TaskEnv": lambda **how: TaskEnv(make_task(TASK), **how),
    "TaskVectorEnv": lambda **how: TaskVectorEnv(make_task(TASK), 2, **how),
    "wrapped": lambda **how: make_vec(TASK, 2, wrap=("PassReward", "PassAction"), **how),
}


class Drifting(Task):
    """The stimulus depends on the trial before, and on a hook with random numbers."""

    timing = {"stimulus": 300, "answer": 200}
    trials_per_session = 5
    trial_state = {"drawn": 0.0}

    def define(self):
        self.observe(stimulus=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_session(self, session, rng):
        session.level = rng.random(len(session))

    def draw(self, session, rng):
        session.level = session.level + rng.normal(size=len(session))
        session.record(level=session.level)
        return self.draw_conditions(rng, len(session))

    def new_trial(self, trial):
        trial.periods("stimulus", "answer")
        trial.show("stimulus", np.eye(2)[trial["side"]], during="stimulus", noise=1.0)
        trial.answer("choose", trial["side"], during="answer")

    def step_action(self, now, action):
        now.trial_state["drawn"] = now.rng.random(now.n)
        return None, None

    def step_observation(self, now, obs):
        return np.column_stack([obs[:, 0], now.trial_state["drawn"]])


def noisy(observations):
    """The frames with noise, as bytes: in the fixation only the first channel is not 0."""
    rows = observations.reshape(-1, observations.shape[-1])
    return [row.tobytes() for row in rows if (row[1:] != 0).all()]


def frames_of(envs, steps, seed):
    """The noisy frames of a vector env whose subjects rest."""
    observations, _ = envs.reset(seed=seed)
    seen = noisy(observations)
    for _ in range(steps):
        seen += noisy(envs.step(np.zeros(envs.num_envs, int))[0])
    return seen


def frames_of_run(seed, split, n=64, **how):
    """The noisy frames that a subject of `run` sees."""
    seen = []

    def rests(env, observations):
        seen.extend(noisy(observations.copy()))
        return np.zeros(len(observations), int)

    run(TASK, rests, n, seed=seed, split=split, **how)
    return seen


# Two noisy units of float32: two frames have the same bits by chance with a probability below
# 2**-42, and a test compares fewer than 2**28 pairs, so that a false alarm has one below 1e-4.


def test_the_frames_of_a_test_do_not_occur_in_training():
    train = {
        one for seed in (0, 1) for one in frames_of(make_vec(TASK, 16, split="train"), 1000, seed)
    }
    assert len(train) > 5000
    for seed in (0, 1, 2):
        for num_envs in (None, 16):
            seen = frames_of_run(seed, "test", num_envs=num_envs)
            assert len(seen) > 500
            assert not sum(frame in train for frame in seen)


def test_the_same_split_has_the_same_frames():
    """The comparison of the test above finds frames that do occur."""
    for split in (None, *SPLITS):
        train = set(frames_of(make_vec(TASK, 16, split=split), 1000, 1))
        seen = frames_of_run(1, split, num_envs=16)
        assert all(frame in train for frame in seen)


def test_the_stream_without_a_split_is_that_of_earlier_versions():
    for seed in (0, 2**32 - 1):
        dealer = Dealer(_TASK, 1, seed)
        own = [np.random.SeedSequence(seed, spawn_key=(k,)) for k in range(4)]
        assert dealer.key == own[1].generate_state(1, np.uint64)[0]
        for generator, k in ((dealer.conditions, 0), (dealer.sessions, 2), (dealer.hooks, 3)):
            wanted = np.random.Generator(np.random.SFC64(own[k])).random(3)
            assert generator.random(3).tolist() == wanted.tolist()


@given(SEEDS, SEEDS)
def test_no_key_of_one_split_is_one_of_another(one, other):
    keys = {split: Dealer(_TASK, 1, one, split).key for split in SPLITS}
    again = {split: Dealer(_TASK, 1, other, split).key for split in SPLITS}
    for split in SPLITS:
        assert keys[split] >> KEY_BITS == again[split] >> KEY_BITS == SPLITS[split]
        assert keys[split] < 1 << 64


@given(SEEDS, SEEDS)
def test_generators_of_two_splits_have_different_states(one, other):
    """States of 192 bits, from pools of 128: equal ones have a probability below 2**-100."""
    streams = {}
    for split in (None, *SPLITS):
        for seed in {one, other}:
            dealer = Dealer(_TASK, 1, seed, split)
            for name in ("conditions", "sessions", "hooks"):
                state = getattr(dealer, name).bit_generator.state["state"]["state"]
                streams[split, seed, name] = tuple(state.tolist())
    assert len(set(streams.values())) == len(streams)


_TASK = make_task(TASK)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("maker", MAKERS)
def test_every_door_leads_to_the_split(maker, split):
    env = MAKERS[maker](split=split)

    def key():
        return env.unwrapped.stepper.dealer.key

    assert env.unwrapped.split == split
    seen = set()
    for seed in (None, 0, 5, 2**32 - 1):
        env.reset(seed=seed)
        assert key() >> KEY_BITS == SPLITS[split]
        seen.add(key())
    assert len(seen) == 4
    if hasattr(env, "num_envs"):
        env.reset(seed=[*range(env.num_envs)])
        assert key() >> KEY_BITS == SPLITS[split]
    for copied in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        copied.reset(seed=5)
        assert copied.unwrapped.stepper.dealer.key >> KEY_BITS == SPLITS[split]
        assert copied.unwrapped.stepper.dealer.key in seen


@pytest.mark.parametrize("maker", MAKERS)
def test_an_unknown_split_is_refused(maker):
    with pytest.raises(UnknownNameError, match=r"Unknown split 'tset'.* Did you mean 'test'"):
        MAKERS[maker](split="tset")


def test_an_unknown_split_of_a_run_or_a_dataset_is_refused():
    with pytest.raises(UnknownNameError, match="Unknown split 'val'"):
        run(TASK, "rest", 1, split="val")
    with pytest.raises(UnknownNameError, match="Unknown split 'val' of Dataset"):
        Dataset(TASK, split="val")


@pytest.mark.parametrize("split", [None, *SPLITS])
def test_datasets_and_envs_of_a_split_have_the_same_trials(split):
    dataset = Dataset(TASK, 1, 200, seed=3, split=split)
    frames = noisy(next(dataset).inputs)
    assert frames
    assert set(frames) <= set(frames_of(make_vec(TASK, 1, split=split), 400, 3))


@pytest.mark.parametrize(("task", "column"), [(SESSIONS, "signed_contrast"), (Drifting, "level")])
def test_no_session_of_a_test_is_one_of_training(task, column):
    """90 trials with at least 5 contrasts or real numbers: equal by chance below 5**-90."""
    found = {}
    for split in (None, *SPLITS):
        for seed in range(4):
            record = run(task, "oracle", 90, num_envs=1, seed=seed, split=split)
            found[split, seed] = record[column].tolist()
    assert len({tuple(values) for values in found.values()}) == len(found)
    again = run(task, "oracle", 90, num_envs=1, seed=3, split="test")[column].tolist()
    assert again == found["test", 3]


def test_random_numbers_of_hooks_belong_to_the_split():
    seen = {}
    for split in (None, *SPLITS):
        envs = make_vec(Drifting, 4, split=split)
        observations, _ = envs.reset(seed=1)
        rows = [observations[:, 1].copy()]
        for _ in range(50):
            rows.append(envs.step(np.zeros(4, int))[0][:, 1].copy())
        seen[split] = {value.tobytes() for row in rows for value in row}
    for one, other in combinations(seen.values(), 2):
        # One float32 number: about 200 * 200 pairs, of which fewer than 1 in 2**20 are equal.
        assert len(one & other) < 3


@pytest.mark.parametrize(
    "wrap",
    [
        (Mixture, {"other_tasks": (TASK,), "rule": False}),
        (Combine, {"distractor": TASK, "share_actions": False}),
    ],
)
def test_wrappers_with_tasks_of_their_own_draw_from_the_split(wrap):
    seen = {}
    for split in SPLITS:
        envs = make_vec(TASK, 8, wrap=[wrap], split=split)
        frames = frames_of(envs, 300, 0)
        assert len(frames) > 200
        seen[split] = set(frames)
    for one, other in combinations(seen.values(), 2):
        assert not one & other


def test_the_record_says_the_split():
    assert run(TASK, "oracle", 2, seed=0).meta["split"] is None
    assert run(TASK, "oracle", 2, seed=0, split="train").meta["split"] == "train"


class Player:
    """A subject that was trained."""

    default_split = "test"

    def __call__(self, env, observations):
        return env.target


def test_a_trained_subject_plays_the_test_split_unless_told_otherwise():
    assert run(TASK, Player(), 2).meta["split"] == "test"
    assert run(TASK, Player(), 2, split=None).meta["split"] is None
    assert run(TASK, Player(), 2, split="train").meta["split"] == "train"


# ---- envs that are no Tasks


class Plain(gymnasium.Env):
    """An env that shows the numbers of its seed."""

    observation_space = gymnasium.spaces.Box(0, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seeded = seed
        return self.np_random.random(2, np.float32), {}

    def step(self, action):
        return self.np_random.random(2, np.float32), 0.0, False, False, {}


@given(SEEDS, SEEDS)
def test_plain_envs_have_other_seeds_in_each_split(one, other):
    used = {}
    for split in (None, *SPLITS):
        env = make(Plain, split=split)
        for seed in (one, other):
            env.reset(seed=seed)
            used[split, seed] = env.unwrapped.seeded
    assert len(set(used.values())) == len(used)
    assert used[None, one] == one


def test_a_plain_env_refuses_seeds_that_would_reach_another_split():
    env = make(Plain, split="test")
    env.reset(seed=2**32 - 1)
    env.reset()
    with pytest.raises(InvalidValueError, match=r"seed 4294967296 .*split='test'.*2\*\*32 - 1"):
        env.reset(seed=2**32)
    with pytest.raises(UnknownNameError, match="Unknown split 'tset'"):
        make(Plain, split="tset")
