"""Every wrapper on a task of every type, every pair, and random stacks of three: each works or
explains why it does not.

A stack that works passes the checks of a plain task: spaces and dtypes, seeds, pickling, and equal
results of all players."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from itertools import product

import numpy as np
import pytest
import small_tasks as small
from hypothesis import given, settings
from hypothesis import strategies as st

from neurogym_core import (
    Dataset,
    InvalidValueError,
    NotSupportedError,
    TaskWrapper,
    make,
    make_vec,
    run,
)
from neurogym_core.players import TaskView
from neurogym_core.tools import installed, load_wrapper

pytest.importorskip("neurogym_wrappers")
# Most of the time of short runs would go into trials that are drawn ahead.
pytestmark = pytest.mark.usefixtures("few_trials_at_a_time")

OWN = ("core", "wrappers")
WRAPPERS = sorted(info.name for info in installed().wrappers if info.namespace in OWN)
KINDS = {kind.__name__: kind for kind in small.KINDS}
STEPS = 60


def settings_of(name: str, kind: str) -> dict:
    """Return settings with which a wrapper applies to a task of this type, if any do."""
    task = KINDS[kind]()
    condition = next(iter(task.conditions))
    values = task.sample(1, seed=0).conditions[condition]
    return {
        "Schedule": {"blocks": [{condition: values[0].item()}, {}], "block_length": 3},
        "SideBias": {"block_length": 5},
        "AnswerProbabilities": {
            "probs": np.eye(len(TaskView(task).answers))[0].tolist()
            if TaskView(task).has_answer
            else [1.0]
        },
        "TrialHistory": {"contexts": ["repeating", "alternating"], "block_length": 5},
        "AdaptiveNoise": {"window": 3},
        "Mixture": {"other_tasks": [small.Going()]},
        "Transfer": {"other_tasks": [small.Choosing()], "block_lengths": [4]},
        "Curriculum": {"stages": [{"rewards": {"abort": -0.5}}], "window": 3},
        "Combine": {
            "distractor": small.Going(timing={"fixation": 0, "stimulus": 100, "decision": 100}),
            "onset": 100,
        },
        "Monitor": {"every": 3, "out": io.StringIO()},
        "TTLPulse": {"periods": [TaskView(task).period_names[:1]]},
    }.get(name, {})


def wrap_of(names, kind: str) -> list:
    return [(name, settings_of(name, kind)) for name in names]


def made(names, kind: str):
    """Make the env with these wrappers, or raise the wrapper's error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(
            KINDS[kind], wrap=wrap_of(names, kind), trials_per_session=4, seed=1, info="full"
        )


def works_or_explains_itself(names, kind: str, *, wholly: bool = True) -> bool:
    """Return whether a stack can be made; `wholly` tests vector env, dataset and pickling, too."""
    try:
        env = made(names, kind)
    except (NotSupportedError, InvalidValueError) as error:
        said = str(error)
        assert any(name in said for name in names), said  # names the wrapper
        assert len(said.split()) > 8, said  # gives the reason
        return False
    check_env(env, made(names, kind))
    if wholly:
        check_vector(names, kind)
        check_task(env.unwrapped.task)
    return True


def check_env(env, twin) -> None:
    """Check spaces and dtypes, and that an equal seed gives equal results."""
    env.action_space.seed(0)
    first, again = env.reset(seed=3)[0], twin.reset(seed=3)[0]
    np.testing.assert_array_equal(first, again)
    for _ in range(STEPS):
        action = env.action_space.sample()
        result, same = env.step(action), twin.step(action)
        observation, reward, terminated, truncated, info = result
        np.testing.assert_array_equal(observation, same[0])
        assert (reward, terminated, truncated) == same[1:4]
        assert env.observation_space.contains(observation)
        assert observation.dtype == np.float32
        assert type(reward) is float
        assert type(terminated) is bool
        assert type(truncated) is bool
        np.testing.assert_array_equal(info["gt"], same[4]["gt"])
        if "trial" in info:
            assert dict(info["trial"]) == dict(same[4]["trial"])
        if terminated or truncated:
            np.testing.assert_array_equal(env.reset()[0], twin.reset()[0])


def check_vector(names, kind: str) -> None:
    """Check that a vector env of one equals the single env."""
    env = made(names, kind)
    vector = make_vec(
        KINDS[kind],
        1,
        wrap=wrap_of(names, kind),
        trials_per_session=4,
        seed=1,
        autoreset_mode="SameStep",
        info="full",
    )
    env.action_space.seed(0)
    np.testing.assert_array_equal(env.reset(seed=3)[0], vector.reset(seed=3)[0][0])
    for _ in range(STEPS):
        action = env.action_space.sample()
        observation, reward, terminated, truncated, info = env.step(action)
        ours, rewards, _, ends, infos = vector.step(np.asarray(action)[None])
        assert reward == rewards[0]
        assert truncated == ends[0]
        np.testing.assert_array_equal(info["gt"], infos["gt"][0])
        if terminated or truncated:
            observation = env.reset()[0]
        np.testing.assert_array_equal(observation, ours[0])


def check_task(task) -> None:
    """Check that the task pickles and that a dataset can be made of it."""
    assert pickle.loads(pickle.dumps(task)) == task == copy.deepcopy(task)
    assert hash(pickle.loads(pickle.dumps(task))) == hash(task)
    if not task.supervised:
        return
    batch = next(Dataset(task, 2, 60, seed=0))
    assert batch.inputs.shape == (2, 60, task.channels.size)
    assert batch.inputs.dtype == np.float32


# ---------------------------------------------------------------------- one, two, three


@pytest.mark.parametrize("kind", KINDS)
def test_each_wrapper_on_a_task_of_each_kind(kind):
    wholly = kind in ("TwoSides", "Going", "Blocked")  # `slow` does all of it for all kinds
    worked = {name for name in WRAPPERS if works_or_explains_itself([name], kind, wholly=wholly)}
    always = {
        "Noise",
        "AdaptiveNoise",
        "PassAction",
        "PassReward",
        "RecordTrials",
        "Monitor",
        "Curriculum",
    }
    never_on_hooks = {"Curriculum"} if kind == "Counting" else set()
    assert worked >= always - never_on_hooks


def test_every_wrapper_works_somewhere():
    for name in WRAPPERS:
        kind = {"Combine": "TwoSides", "VariableChoices": "Choosing"}.get(name, "TwoSides")
        assert works_or_explains_itself([name], kind, wholly=False), name


@pytest.mark.parametrize("first", WRAPPERS)
def test_half_of_the_pairs_on_one_task(first):
    """Every pair in one of its two orders; the `slow` test has both orders, all types of tasks and
    more checks.
    """
    place = WRAPPERS.index(first)
    for second in WRAPPERS[place % 2 : place : 2] + WRAPPERS[place + 1 :: 2]:
        works_or_explains_itself([first, second], "Choosing", wholly=False)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", WRAPPERS)
def test_each_pair_on_a_task_of_each_kind(first, kind):
    for second in WRAPPERS:
        works_or_explains_itself([first, second], kind)


@given(
    names=st.lists(st.sampled_from(WRAPPERS), min_size=3, max_size=3),
    kind=st.sampled_from(sorted(KINDS)),
)
@settings(max_examples=20)
def test_random_stacks_of_three(names, kind):
    works_or_explains_itself(names, kind)


TASK_WRAPPERS = [name for name in WRAPPERS if issubclass(load_wrapper(name), TaskWrapper)]


@pytest.mark.slow
@given(
    names=st.lists(st.sampled_from(TASK_WRAPPERS), min_size=3, max_size=3),
    kind=st.sampled_from(sorted(KINDS)),
)
@settings(max_examples=200)
def test_many_random_stacks_of_three_task_wrappers(names, kind):
    works_or_explains_itself(names, kind)


def test_most_pairs_work():
    """Errors are the exception: of the pairs of task wrappers at least half apply to a
    plain choice task.
    """
    kind = "TwoSides"
    pairs = [pair for pair in product(TASK_WRAPPERS, repeat=2) if pair[0] != pair[1]][::3]
    worked = 0
    for pair in pairs:
        try:
            made(list(pair), kind)
            worked += 1
        except (NotSupportedError, InvalidValueError):
            pass
    assert worked > len(pairs) / 2, (worked, len(pairs))


def test_statistics_hold_within_a_stack_of_three():
    """Biases, histories and catch rates are recovered between other wrappers.

    False alarm: 5 standard errors, below 1e-6 a comparison.
    """
    blocks = {"blocks": [{"strength": 4}, {"strength": 1}], "block_length": 10}
    stacks = (
        ["ReactionTime", ("SideBias", {"probs": 0.8, "block_length": 25}), "CatchTrials"],
        [
            ("CatchTrials", {"probability": 0.1}),
            ("TrialHistory", {"probs": 0.8}),
            ("Schedule", blocks),
        ],
    )
    for wrap in stacks:
        record = run(
            small.Choosing(trials_per_session=None), "oracle", 4000, num_envs=4, seed=0, wrap=wrap
        )
        n = len(record)
        assert abs(record["catch"].mean() - 0.1) < 5 * np.sqrt(0.09 / n)
        if wrap is stacks[0]:
            # The answers of the task are 0, 1 and 2, and so are the blocks that favour them.
            assert abs((record["side"] == record["block"]).mean() - 0.8) < 5 * np.sqrt(0.16 / n)
        else:
            repeats = np.concatenate(
                [np.diff(record["side"][record["env"] == env]) == 0 for env in range(4)]
            )
            assert abs(repeats.mean() - 0.8) < 5 * np.sqrt(0.16 / len(repeats))
            np.testing.assert_array_equal(record["strength"], np.where(record["block"] == 0, 4, 1))
