"""The core with every installed task: Gymnasium, datasets, scoring, time steps, values.

The tasks themselves are checked by the conformance kit, in the tests of their packages.
"""

from __future__ import annotations

import copy
import json
import pickle
import re
import warnings
from functools import cache
from itertools import islice
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from neurogym_check import check_task

from neurogym_core import Dataset, TaskEnv, make, make_task, run
from neurogym_core.ecosystem.discovery import installed
from neurogym_core.errors import NotSupportedError
from neurogym_core.players import TaskView
from neurogym_core.tasks.parameters import settings

# Those whose observations are images are plain envs, without a Task; their package tests them.
TASKS = {info.id: info for info in installed().tasks if "pixels" not in info.tags}
assert TASKS, "no task package is installed: there would be nothing to test"

DOI = re.compile(r"10\.\d{4,9}/[^\s,;]+")

pytestmark = pytest.mark.filterwarnings("ignore:Period .* lasts:UserWarning")
# Families of tasks that share one class: some are tested each time, and the others in slow tests.
FAMILIES = {"modcog/": 9, "driscoll24/": 3, "yang19/": 3}
LATER = {
    name
    for family, step in FAMILIES.items()
    for number, name in enumerate(sorted(one for one in TASKS if one.startswith(family)))
    if number % step
}
every_task = pytest.mark.parametrize(
    "task_id",
    [pytest.param(one, marks=[pytest.mark.slow] if one in LATER else []) for one in sorted(TASKS)],
)


@cache
def task_of(task_id: str):
    return make_task(task_id)


def task_for(task_id: str, wanted, why: str):
    """The task, or a skip where the test does not concern it. Asked within the test: collecting
    must make no task.
    """
    task = task_of(task_id)
    if not wanted(task):
        pytest.skip(why)
    return task


PLUGINS = Path(__file__).resolve().parents[1] / "plugins"


@pytest.mark.parametrize("package", sorted({info.distribution for info in installed().tasks}))
def test_every_package_with_tasks_runs_the_conformance_kit_on_all_of_them(package):
    tests = (path.read_text("utf-8") for path in (PLUGINS / package / "tests").glob("test_*.py"))
    assert any(f'@parametrize_with_checks("{package}")' in text for text in tests)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", sorted(info.id for info in installed().tasks))
def test_it_conforms_at_the_full_level(task_id):
    """One case per task, since the fast tests collect the cases of slow ones, too."""
    assert [str(result) for result in check_task(task_id, level="full") if not result.ok] == []


# ---------------------------------------------------------------------- names

# Elements of random patterns, which neither the papers nor NeuroGym name.
NAMELESS = {
    "control/NAltConditionalVisuomotor-v0": "stimulus",
    "dynamics/FlipFlop-v0": "pulse",
    "memory/MemoryRecall-v0": "vector",
}


@every_task
def test_all_choices_and_units_have_names(task_id):
    task = task_of(task_id)
    for parts in (task.actions, task.channels):
        numbered = [
            name
            for name, part in parts.parts.items()
            if part.size > 1
            and not (parts is task.actions and parts.continuous)
            and parts.units(name) == tuple(map(str, range(part.size)))
        ]
        expected = [NAMELESS[task_id]] if parts is task.channels and task_id in NAMELESS else []
        assert numbered == expected


@every_task
def test_the_record_has_names_of_choices_or_their_indices(task_id):
    task = task_for(task_id, lambda task: not task.actions.continuous, "Its actions are numbers.")
    record = run(task, "guess", 3, seed=0)
    slots = record.meta["slots"]
    for slot in slots:
        column = f"{slot}.choice" if len(slots) > 1 else "choice"
        names = record.meta["names"].get(column)
        if names is None:
            assert record[column].dtype.kind in "if"
        else:
            assert not any(name.isdecimal() for name in names)
            assert set(record[column]) <= {*names, "none"}


# ---------------------------------------------------------------------- Gymnasium


@every_task
def test_gymnasium_makes_it_by_name(task_id):
    env = gymnasium.make(f"neurogym_core.gym:{task_id}")
    assert env.unwrapped.task == task_of(task_id)
    assert env.spec.id == task_id
    assert env.reset(seed=1)[0] in env.observation_space


def same(one, other):
    np.testing.assert_array_equal(one, other)


@every_task
@pytest.mark.parametrize("seq_len", [None, 50])
def test_dataset_is_what_an_env_shows_and_wants(task_id, seq_len):
    """Played by a resting subject, or in a closed loop by the oracle."""
    task = task_for(
        task_id,
        lambda task: task.supervised and not task.reads_outcomes,
        "not supervised, or stepped through",
    )
    if task.sample(50, seed=0).tables.jumps:
        pytest.skip("where time alone leads is not the oracle's path")
    dataset = Dataset(task, batch_size=1, seq_len=seq_len, seed=4)
    env = TaskEnv(task, info="full")
    obs, _ = env.reset(seed=4)
    steps = 0
    while steps < 150:
        batch = next(dataset)
        for inputs, target in zip(batch.inputs[0], batch.targets[0], strict=True):
            same(inputs, obs)
            same(target, env.target)
            obs, _, _, truncated, info = env.step(rests_or_is_right(task, env))
            same(info["gt"], target)
            steps += 1
            if truncated:
                obs, _ = env.reset()


def rests_or_is_right(task, env):
    if TaskView(task).hooks or (not task.actions.continuous and task.actions.rest is None):
        return env.target
    if task.actions.continuous:
        return task.actions.from_task_units(task.actions.rest_value)
    return task.actions.rest


# ---------------------------------------------------------------------- behaviour


@every_task
def test_supervised_tasks_make_datasets_and_others_say_why_not(task_id):
    task = task_of(task_id)
    if not task.supervised:
        with pytest.raises(NotSupportedError, match=r"has no correct actions.*targets='best'"):
            Dataset(task, batch_size=2, seq_len=10)
    kind = "action" if task.supervised else "best"
    for seq_len in (None, 20):
        dataset = Dataset(task, batch_size=3, seq_len=seq_len, seed=0, targets=kind)
        batch = next(dataset)
        assert batch.inputs.dtype == batch.weights.dtype == np.float32
        assert batch.inputs.shape[2] == task.channels.size
        assert batch.targets.dtype == (np.float32 if task.actions.continuous else np.int64)
        assert (
            batch.inputs.shape[:2]
            == batch.targets.shape[:2]
            == batch.weights.shape
            == batch.new_trial.shape
        )
        assert np.isfinite(batch.inputs).all()
        # A trial can begin with steps that do not count.
        assert any(one.weights.any() for one in (batch, *islice(dataset, 40 if seq_len else 0)))


@every_task
@pytest.mark.parametrize("dt", [20, 100])
def test_other_time_steps_work(task_id, dt):
    """The conformance kit compares the durations of trials at half the step."""
    task = make_task(task_id, dt=dt)
    record = run(task, "oracle", 16, num_envs=8, seed=0)
    assert record["performance"].mean() >= TASKS[task_id].expected.get("oracle_min", 1.0) - 0.01
    for name, distribution in task.timing.items():
        if f"duration.{name}" in record and np.isfinite(distribution.bounds[0]):  # with a timer
            low, high = distribution.bounds
            played = record[f"duration.{name}"]
            assert played.min() >= min(low, high) - max(0.5 * task.dt, 0) - 1e-6
            assert played.max() <= high + max(0.5 * task.dt, task.dt * (high < task.dt)) + 1e-6


@every_task
def test_tasks_are_values(task_id):
    task = task_of(task_id)
    other = pickle.loads(pickle.dumps(task))
    assert other == task
    assert hash(other) == hash(task)
    assert repr(other) == repr(task)
    assert type(task).__name__ in repr(task)
    slower = make_task(task_id, dt=task.dt * 2)
    assert slower != task
    assert copy.deepcopy(slower) == slower
    assert json.loads(json.dumps(settings(slower))) == {"dt": task.dt * 2}


@every_task
def test_the_page_and_the_manifest_name_the_same_papers(task_id):
    # Pages that are made from templates are taken from the class that was made.
    page = {doi.rstrip(".):]").lower() for doi in DOI.findall(type(task_of(task_id)).__doc__)}
    manifest = {one.doi.lower() for one in TASKS[task_id].references if one.doi}
    assert page == manifest


# --------------------------------------------------- another library learns from it


@pytest.mark.slow
@every_task
def test_stable_baselines_learns_from_it_without_a_warning(task_id):
    sb3 = pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.monitor import Monitor

    env = Monitor(
        make(task_id, trials_per_session=5)
    )  # an untrained subject may let every trial run to its end
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings(
            "ignore", category=DeprecationWarning
        )  # of torch and SB3 themselves
        model = sb3.PPO("MlpPolicy", env, n_steps=250, batch_size=50, seed=0, device="cpu")
        model.learn(2000)
        mean, _ = evaluate_policy(model, env, n_eval_episodes=2)
    assert np.isfinite(mean)
