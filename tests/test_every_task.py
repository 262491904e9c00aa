"""What every installed task must hold to, whoever wrote it. New tasks are tested as soon as they
are installed.
"""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
import subprocess
import sys
import warnings
from functools import cache, partial
from itertools import islice

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from neurogym_core import Dataset, TaskEnv, TaskVectorEnv, make, make_task, run
from neurogym_core.ecosystem.discovery import installed
from neurogym_core.errors import NotSupportedError
from neurogym_core.tasks.identity import settings
from neurogym_core.tasks.laying_out import hooked, max_steps
from neurogym_core.tasks.state import period_names_of

# Those whose observations are images are plain envs, without a Task; their package tests them.
TASKS = {info.id: info for info in installed().tasks if "pixels" not in info.tags}
assert TASKS, "no task package is installed: there would be nothing to test"

pytestmark = pytest.mark.filterwarnings("ignore:Period .* lasts:UserWarning")
every_task = pytest.mark.parametrize("task_id", sorted(TASKS))


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


def plain(value):
    """Something with `==`: what a step returned, arrays as lists, mappings as dicts."""
    if isinstance(value, np.ndarray):
        return (
            [plain(item) for item in value]
            if value.dtype == object
            else (str(value.dtype), value.tolist())
        )
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if hasattr(value, "items"):
        return {name: plain(item) for name, item in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def actions_of(task, steps: int, seed: int = 0) -> list:
    """Random actions, mostly resting where that is possible, so that trials get somewhere."""
    rng = np.random.default_rng(seed)
    if task.actions.continuous:
        rest = task.actions.from_task_units(task.actions.rest_value)
        return [
            rest if rng.random() < 0.6 else rng.uniform(-1, 1, task.actions.size).astype(np.float32)
            for _ in range(steps)
        ]
    acts = rng.integers(0, task.actions.size, steps)
    return np.where(rng.random(steps) < (0.6 if task.actions.rest == 0 else 0.0), 0, acts).tolist()


def trajectory(env, actions) -> list:
    """All that happens; the env is reset at the end of every session."""
    seen = []
    for action in actions:
        result = env.step(action)
        seen.append(plain(result))
        if result[2] or result[3]:
            seen.append(plain(env.reset()))
    return seen


# ---------------------------------------------------------------------- Gymnasium


@every_task
def test_gymnasium_finds_nothing_wrong(task_id):
    env = make(task_id).unwrapped
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env, skip_render_check=True)
    told = [str(warning.message) for warning in caught]
    assert not [text for text in told if "infinity" not in text]


@every_task
def test_gymnasium_makes_it_by_name(task_id):
    env = gymnasium.make(f"neurogym_core.gym:{task_id}")
    assert env.unwrapped.task == task_of(task_id)
    assert env.spec.id == task_id
    assert env.reset(seed=1)[0] in env.observation_space


# ---------------------------------------------------------------------- determinism


@every_task
def test_same_seed_same_trajectory_in_two_instances(task_id):
    task = task_of(task_id)
    one, other = TaskEnv(task), make(task_id)
    assert plain(one.reset(seed=5)) == plain(other.reset(seed=5))
    actions = actions_of(task, 150)
    first = trajectory(one, actions)
    assert first == trajectory(other, actions)
    one.reset(seed=5)
    assert trajectory(one, actions) == first
    one.reset(seed=6)
    assert (trajectory(one, actions) != first) == leaves_something_to_chance(task)


def leaves_something_to_chance(task) -> bool:
    """Whether two seeds can make a difference: not where nothing is drawn, as in `Null`."""
    if task.sample(20, 1).noise.any():
        return True
    return (
        len(
            {
                json.dumps(plain([batch.conditions, batch.period_steps]))
                for batch in map(partial(task.sample, 20), (1, 2))
            }
        )
        > 1
    )


@every_task
@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))],
    ids=["deepcopy", "pickle"],
)
@pytest.mark.parametrize("kind", ["single", "vector"])
def test_a_copy_made_within_a_trial_goes_on_alike_and_alone(task_id, copied, kind):
    task = task_of(task_id)
    env = TaskEnv(task) if kind == "single" else TaskVectorEnv(task, 2, autoreset_mode="SameStep")
    env.reset(seed=3)
    acts = actions_of(task, 200)
    acts = acts if kind == "single" else [np.stack([action, action]) for action in acts]
    play = (
        trajectory
        if kind == "single"
        else lambda env, actions: [plain(env.step(action)) for action in actions]
    )
    play(env, acts[:37])
    clone = copied(env)
    ahead = play(clone, acts[37:])
    assert play(env, acts[37:]) == ahead


IN_ANOTHER_PROCESS = """
import importlib.util, json, sys, warnings
warnings.simplefilter("ignore")
spec = importlib.util.spec_from_file_location("every_task", sys.argv[1])
module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)
print(json.dumps({name: module.digest(name) for name in sys.argv[2:]}))
"""


def digest(task_id: str) -> str:
    env = TaskEnv(task_of(task_id))
    seen = [plain(env.reset(seed=11)), trajectory(env, actions_of(env.task, 120))]
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()


def test_same_seed_same_trajectory_in_another_process():
    names = sorted(TASKS)
    command = [sys.executable, "-c", IN_ANOTHER_PROCESS, __file__, *names]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(answer.splitlines()[-1]) == {name: digest(name) for name in names}


# ---------------------------------------------------------------------- spaces and types


@every_task
@pytest.mark.parametrize("subject", ["random", "constant", "oracle"])
def test_a_thousand_steps_stay_inside_the_spaces(task_id, subject):
    task = task_of(task_id)
    env = make(task_id)
    env.action_space.seed(0)
    constant = env.action_space.sample()
    choose = {
        "random": env.action_space.sample, "constant": lambda: constant, "oracle": lambda: env.unwrapped.target
    }[subject]  # fmt: skip
    obs, info = env.reset(seed=2)
    assert "gt" not in info
    trials = 0
    for _ in range(1000):
        assert obs.dtype == np.float32
        assert obs.shape == (task.channels.size,)
        assert np.isfinite(obs).all()
        action = choose()
        assert action in env.action_space
        obs, reward, terminated, truncated, info = env.step(action)
        assert type(reward) is float
        assert type(terminated) is bool
        assert type(truncated) is bool
        assert {"gt", "period", "new_trial"} <= info.keys()
        assert type(info["new_trial"]) is bool
        assert info["period"] in period_names_of(task)
        assert np.asarray(info["gt"], dtype=env.action_space.dtype) in env.action_space
        assert ("trial" in info) == ("performance" in info) == info["new_trial"]
        if info["new_trial"]:
            trials += 1
            assert 0 <= info["performance"] <= 1
            assert not any(has_nan(value) for value in info["trial"].values()), dict(info["trial"])
        if terminated or truncated:
            obs, _ = env.reset()
    assert trials


def has_nan(value) -> bool:
    array = np.asarray(value)
    return array.dtype.kind == "f" and bool(np.isnan(array).any())


@every_task
def test_arrays_of_the_vector_env_have_the_types_of_its_spaces(task_id):
    task = task_of(task_id)
    env = TaskVectorEnv(task, 3)
    obs, _ = env.reset(seed=2)
    ended = 0
    for action in actions_of(task, 300):
        obs, reward, terminated, truncated, info = env.step(np.stack([action] * 3))
        assert obs in env.observation_space
        assert reward.dtype == np.float64
        assert terminated.dtype == truncated.dtype == info["new_trial"].dtype == bool
        assert info["gt"].shape[0] == info["period"].shape[0] == 3
        if "trial" in info:
            ended += 1
            np.testing.assert_array_equal(info["_trial"], info["new_trial"])
            assert not any(has_nan(values) for values in info["trial"].values())
    assert ended


# ---------------------------------------------------------------------- the players agree


@every_task
@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_single_env_is_a_vector_env_of_one(task_id, mode):
    task = make_task(task_id, trials_per_session=2)
    single, vector = TaskEnv(task), TaskVectorEnv(task, 1, autoreset_mode=mode)
    obs, info = single.reset(seed=9)
    same(obs, vector.reset(seed=9)[0][0])
    sessions = 0
    for number, action in enumerate(actions_of(task, max(200, 5 * max_steps(task)))):
        action = single.target if number % 3 == 0 else action
        same(single.target, vector.target[0])
        same(single.period, vector.period[0])
        for name, value in single.trial.items():
            same(value, vector.trial[name][0])
        assert single.can_wait == vector.can_wait[0]
        obs, reward, terminated, truncated, info = single.step(action)
        batch, rewards, terminations, truncations, infos = vector.step(np.asarray(action)[None])
        assert (terminated, truncated) == (terminations[0], truncations[0])
        assert reward == pytest.approx(rewards[0], abs=1e-9)
        same_info(info, infos)
        if not truncated:
            same(obs, batch[0])
            continue
        sessions += 1
        if mode == "SameStep":
            same_info(info, infos["final_info"])
            assert infos["_final_info"][0]
            same(obs, infos["final_obs"][0])
            same(single.reset()[0], batch[0])
            continue
        assert "final_info" not in infos
        same(obs, batch[0])
        again, pay, ends, cuts, told = vector.step(np.asarray(action)[None])
        assert (pay[0], ends[0], cuts[0], told["new_trial"][0]) == (0.0, False, False, False)
        same(single.reset()[0], again[0])
    assert sessions


def same(one, other):
    np.testing.assert_array_equal(one, other)


def same_info(info, infos):
    for name in ("gt", "period", "new_trial"):
        same(info[name], infos[name][0])
    assert ("trial" in info) == ("trial" in infos)
    if "trial" not in info:
        return
    assert info["performance"] == pytest.approx(infos["performance"][0])
    assert infos["_trial"][0]
    wide = infos["trial"]
    for name, value in info["trial"].items():
        if isinstance(value, float):
            assert value == pytest.approx(wide[name][0], abs=1e-9), name
        else:
            same(value, wide[name][0])
    absent = {name for name in wide if not name.split(".")[-1].startswith("_")} - info[
        "trial"
    ].keys()
    for name in absent:  # only a reaction time may be missing, and then its mask says so
        prefix = name.removesuffix("reaction_time")
        assert name.endswith("reaction_time")
        assert not wide[f"{prefix}_reaction_time"][0]


@every_task
@pytest.mark.parametrize("seq_len", [None, 50])
def test_dataset_is_what_an_env_shows_and_wants(task_id, seq_len):
    """To a subject who lets time run: who rests, or in a closed loop does what is right."""
    task = task_for(
        task_id,
        lambda task: task.supervised and not task.reads_outcomes,
        "not supervised, or stepped through",
    )
    if task.sample(50, seed=0).jumps:
        pytest.skip("where time alone leads is not the oracle's path")
    dataset = Dataset(task, batch_size=1, seq_len=seq_len, seed=4)
    env = TaskEnv(task)
    obs, _ = env.reset(seed=4)
    steps = 0
    while steps < 400:
        batch = next(dataset)
        for inputs, target in zip(batch.inputs[0], batch.targets[0], strict=True):
            same(inputs, obs)
            same(target, env.target)
            obs, _, _, truncated, info = env.step(patient(task, env))
            same(info["gt"], target)
            steps += 1
            if truncated:
                obs, _ = env.reset()


def patient(task, env):
    if hooked(task) or (not task.actions.continuous and task.actions.rest is None):
        return env.target
    if task.actions.continuous:
        return task.actions.from_task_units(task.actions.rest_value)
    return task.actions.rest


@every_task
@pytest.mark.parametrize("seq_len", [None, 120])
def test_scoring_a_batch_is_playing_it(task_id, seq_len):
    """Trials are paid and recorded alike, whether the actions are given on the way or
    afterwards.
    """
    task = task_for(
        task_id,
        lambda task: task.supervised and not hooked(task) and not task.reads_outcomes,
        "not supervised, or stepped through",
    )
    if task.sample(50, seed=0).jumps:
        pytest.skip("a trial that leaves the oracle's path cannot be scored to its end")
    dataset = Dataset(task, batch_size=4, seq_len=seq_len, seed=8)
    for number in range(3):
        batch = next(dataset)
        shape = batch.inputs.shape[:2]
        acts = np.array(actions_of(task, shape[0] * shape[1], seed=number)).reshape(
            *shape, *([task.actions.size] if task.actions.continuous else [])
        )
        acts = np.where(
            np.random.default_rng(number).random(shape).reshape(*shape, *[1] * (acts.ndim - 2))
            < 0.3,
            batch.targets,
            acts,
        )
        scored = batch.score(acts)
        whole = np.flatnonzero(batch.complete)
        assert len(scored) == len(whole)
        for i, record in islice(zip(whole, scored.rows(), strict=True), 40):
            played = play_trial(
                task,
                {name: values[i] for name, values in batch.conditions.items()},
                batch.trials,
                i,
                acts[batch.row[i], batch.start[i] :],
            )
            for name in (
                "choice",
                "outcome",
                "reaction_time",
                "reward",
                "performance",
                "aborts",
                "steps",
            ):
                if name in record:
                    (
                        np.testing.assert_allclose(
                            played.get(name, np.nan), record[name], err_msg=name, atol=1e-6
                        )
                        if not isinstance(record[name], str)
                        else same(played[name], record[name])
                    )


def play_trial(task, conditions, trials, i, actions):
    """Play one trial with everything that was drawn for it imposed."""
    imposed = {
        **conditions,
        **{f"duration.{name}": steps[i] * task.dt for name, steps in trials.period_steps.items()},
    }
    env = TaskEnv(task)
    env.reset(seed=0, options={"conditions": imposed})
    for action in actions:
        info = env.step(action)[4]
        if info["new_trial"]:
            return info["trial"]
    raise AssertionError("the trial outlasted its actions")


# ---------------------------------------------------------------------- behaviour


@every_task
def test_the_oracle_is_at_its_maximum(task_id):
    least = TASKS[task_id].expected.get("oracle_min", 1.0)
    performance = run(task_of(task_id), "oracle", 200, seed=1)["performance"]
    assert performance.mean() >= least - 1e-9


@every_task
def test_premature_answering_never_pays(task_id):
    """Pays less than the oracle, no more than waiting and guessing. At 4 standard errors, 1 false
    alarm in 30,000.
    """
    task = task_for(
        task_id,
        lambda task: (
            task.actions.continuous or (task.actions.rest is not None and task.actions.size > 1)
        ),
        "every action is an answer, or there is only one",
    )
    n = (
        400 if max_steps(task) < 500 else 40
    )  # who is always premature may keep a long trial from ever getting on
    reward = {
        name: run(task, name, n, num_envs=100, seed=1)["reward"]
        for name in ("premature", "guess", "oracle")
    }
    mean = {name: values.mean() for name, values in reward.items()}
    error = np.sqrt(sum(reward[name].var() / n for name in ("premature", "guess")))
    assert mean["premature"] < mean["oracle"]
    assert mean["premature"] <= mean["guess"] + 4 * error


@every_task
def test_supervised_tasks_make_datasets_and_others_say_why_not(task_id):
    task = task_of(task_id)
    if not task.supervised:
        with pytest.raises(NotSupportedError, match=r"nothing is right or wrong.*targets='best'"):
            Dataset(task, batch_size=2, seq_len=10)
    kind = "action" if task.supervised else "best"
    for seq_len in (None, 20):
        batch = next(Dataset(task, batch_size=3, seq_len=seq_len, seed=0, targets=kind))
        assert batch.inputs.dtype == batch.weights.dtype == np.float32
        assert batch.inputs.shape[2] == task.channels.size
        assert batch.targets.dtype == (np.float32 if task.actions.continuous else np.int64)
        assert (
            batch.inputs.shape[:2]
            == batch.targets.shape[:2]
            == batch.weights.shape
            == batch.new_trial.shape
        )
        assert batch.weights.any()
        assert np.isfinite(batch.inputs).all()


@every_task
@pytest.mark.parametrize("dt", [10, 20, 100, "half"])
def test_other_time_steps_work(task_id, dt):
    default = task_of(task_id)
    task = make_task(task_id, dt=default.dt / 2 if dt == "half" else dt)
    record = run(task, "oracle", 24, num_envs=8, seed=0)
    assert record["performance"].mean() >= TASKS[task_id].expected.get("oracle_min", 1.0) - 0.01
    for name, distribution in task.timing.items():
        if f"duration.{name}" in record:
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


# ---------------------------------------------------------------------- another library learns from it


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
