"""Random tasks, rendered and played, must be what the slow reference says (``reference.py``)."""

from __future__ import annotations

import math

import ngym_test_random_tasks as random_tasks
import ngym_test_reference as reference
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ngym_test_random_tasks import held, playable

from neurogym_core import TaskEnv, TaskVectorEnv
from neurogym_core.play.dealer import Dealer

pytestmark = pytest.mark.filterwarnings("ignore:Period .* lasts:UserWarning")


def written(batch) -> list:
    """The trials of a batch as `new_trial` wrote them down."""
    return [reference.WrittenTrial(batch.sources[k].layout, i) for k, i in batch.origin.T]


# ---------------------------------------------------------------------- the table


@held(150)
@given(description=random_tasks.descriptions(), seed=st.integers(0, 99))
def test_what_is_rendered_is_what_was_said(description, seed):
    batch = random_tasks.task_of(description).sample(4, seed=seed)
    trials = written(batch)
    for path, steps_of in ((batch.duration, "all_steps"), (batch.path, "oracle_steps")):
        places = [(trial, *place) for trial in trials for place in getattr(trial, steps_of)()]
        np.testing.assert_array_equal(path.sum(axis=1), [len(list(getattr(trial, steps_of)())) for trial in trials])
        if not places:
            continue
        seen = np.array([trial.observation(p, k) for trial, p, k in places])
        np.testing.assert_allclose(batch.render(None, path), seen, atol=1e-5)
        np.testing.assert_array_equal(batch.render_targets(path), [trial.target(p, k) for trial, p, k in places])
        weights = np.repeat(batch.weight.ravel(), path.ravel())
        np.testing.assert_allclose(weights, [trial.weight(p, k) for trial, p, k in places], atol=1e-6)
        period = np.repeat(np.broadcast_to(batch.period, path.shape).ravel(), path.ravel())
        np.testing.assert_array_equal(period, [p for _, p, _ in places])
        noise = np.repeat(
            np.broadcast_to(batch.noise, batch.shown.shape).reshape(-1, seen.shape[1]), path.ravel(), axis=0
        )
        np.testing.assert_allclose(noise, [trial.noise_sd(p, k) for trial, p, k in places], atol=1e-6)
    lengths = np.array([trial.length for trial in trials])
    np.testing.assert_array_equal(np.stack(list(batch.period_steps.values()), axis=1), lengths)


@held(40)
@given(description=random_tasks.descriptions(fixed=True), seed=st.integers(0, 99))
def test_one_trial_at_a_time_makes_the_same_table(description, seed):
    together = random_tasks.task_of(description).sample(5, seed=seed)
    one_by_one = random_tasks.task_of(description, batched=False).sample(5, seed=seed)
    for name, values in together.conditions.items():
        np.testing.assert_array_equal(one_by_one.conditions[name], values)
    for path in ("duration", "path"):
        one, other = (_steps_of(batch, getattr(batch, path)) for batch in (together, one_by_one))
        assert one.keys() == other.keys()
        for name, values in one.items():
            np.testing.assert_allclose(values, other[name], rtol=1e-6, atol=1e-6, err_msg=name)
    for name in ("miss_reward", "miss_outcome", "error_reward", "due", "tolerance", "target_goto", "error_goto"):
        np.testing.assert_allclose(getattr(together.payoffs, name), getattr(one_by_one.payoffs, name), err_msg=name)
    np.testing.assert_array_equal(together.payoffs.asked, one_by_one.payoffs.asked)


def _steps_of(batch, path) -> dict:
    """What a table says of every step: it may be cut into segments in several ways."""
    flat = path.ravel()
    said = {name: getattr(batch.payoffs, name) for name in ("reward", "outcome", "goto", "score", "aborts")}
    said = {name: np.repeat(values.reshape(-1, *values.shape[2:]), flat, axis=0) for name, values in said.items()}
    weights = np.repeat(batch.weight.ravel(), flat)
    shown, targets = batch.render(None, path), batch.render_targets(path)
    return {"steps": path.sum(axis=1), "weights": weights, "shown": shown, "targets": targets, **said}


@held(60)
@given(description=random_tasks.descriptions(fixed=True), seed=st.integers(0, 99))
def test_periods_last_the_nearest_number_of_steps_and_never_none_unless_asked(description, seed):
    batch = random_tasks.task_of(description).sample(6, seed=seed)
    for name in description.periods:
        if name in description.computed:
            value = description.computed[name]
            asked = value.low + (value.high - value.low) * batch.conditions[f"u{value.index}"]
        else:
            asked = np.full(6, description.timing[name])
        for ms, steps in zip(asked.tolist(), batch.period_steps[name].tolist(), strict=True):
            nearest = math.floor(ms / description.dt + 0.5 + 1e-9)
            assert steps == (1 if ms > 0 and nearest == 0 else nearest)


@held(60)
@given(description=random_tasks.descriptions(), seed=st.integers(0, 99))
def test_drawn_durations_lie_in_their_range(description, seed):
    batch = random_tasks.task_of(description).sample(20, seed=seed)
    for name, distribution in description.timing.items():
        low, high = getattr(distribution, "bounds", (distribution, distribution))
        steps = batch.period_steps[name]
        assert (steps >= math.floor(low / description.dt + 0.5)).all()
        assert (steps <= math.floor(high / description.dt + 0.5)).all()


# ---------------------------------------------------------------------- the players


class Stream:
    """The trials of a seed, in the order in which they are dealt, as they were written down."""

    def __init__(self, task, seed, n):
        self.dealer = Dealer(task, n, seed)
        self.waiting = []

    def __call__(self):
        if not self.waiting:
            block = self.dealer.block()
            self.batch, self.waiting = block.types.batch, block.kind.tolist()
        source, row = self.batch.origin[:, self.waiting.pop(0)]
        return reference.WrittenTrial(self.batch.sources[source].layout, row)


def subjects(task, seed, n):
    coming = Stream(task, seed, n)
    return [reference.Subject(coming, task.trials_per_session) for _ in range(n)]


def choose(rng, subject, size):
    """Mostly rest and what is right, so that later questions are reached; otherwise anything."""
    return int(rng.choice([0, subject.target, rng.integers(size)], p=[0.45, 0.2, 0.35]))


def check_record(record: dict, expected: dict) -> None:
    assert record.keys() - {"env"} == expected.keys()
    for name, value in expected.items():
        if isinstance(value, str):
            assert record[name] == value, (name, record, expected)
        else:
            np.testing.assert_allclose(
                record[name], value, rtol=1e-5, atol=1e-6, err_msg=f"{name}: {record} {expected}"
            )


@held(120)
@given(description=random_tasks.descriptions(), seed=st.integers(0, 99))
def test_single_env_plays_as_the_reference(description, seed):
    task = playable(description)
    env, (subject,) = TaskEnv(task), subjects(task, seed, 1)
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    for _ in range(120):
        assert env.target == subject.target
        assert env.period == subject.period
        action, right, period = choose(rng, subject, task.actions.size), subject.target, subject.period
        obs, reward, terminated, truncated, info = env.step(action)
        expected, ended, over = subject.step(action)
        assert reward == pytest.approx(expected, abs=1e-9)
        assert (info["gt"], info["period"], info["new_trial"]) == (right, period, ended)
        assert (terminated, truncated) == ((over, False) if task.trials_per_session == 1 else (False, over))
        if ended:
            check_record(info["trial"], subject.finished)
        if not description.noisy:
            np.testing.assert_allclose(obs, subject.observation, atol=1e-5)
        if over:
            env.reset()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("n", [1, 5])
@held(60)
@given(description=random_tasks.descriptions(), seed=st.integers(0, 99))
def test_vector_env_plays_as_the_reference(description, seed, n, mode):
    task = playable(description)
    env, players = TaskVectorEnv(task, n, autoreset_mode=mode), subjects(task, seed, n)
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    idle = np.zeros(n, bool)
    for _ in range(60):
        np.testing.assert_array_equal(env.target, [subject.target for subject in players])
        np.testing.assert_array_equal(env.period, [subject.period for subject in players])
        actions = np.array([choose(rng, subject, task.actions.size) for subject in players])
        right = [subject.target for subject in players]
        obs, reward, terminated, truncated, info = env.step(actions)
        results = [
            (0.0, False, False) if idle[i] else subject.step(int(actions[i])) for i, subject in enumerate(players)
        ]
        np.testing.assert_allclose(reward, [paid for paid, _, _ in results], atol=1e-9)
        np.testing.assert_array_equal(info["gt"], right)
        ended = np.array([each for _, each, _ in results])
        over = np.array([each for _, _, each in results])
        np.testing.assert_array_equal(info["new_trial"], ended)
        np.testing.assert_array_equal(terminated | truncated, over)
        for i in np.flatnonzero(ended):
            record = {
                name: values[i] for name, values in info["trial"].items() if not name.split(".")[-1].startswith("_")
            }
            answered = {
                name for name, values in info["trial"].items() if name.split(".")[-1] == "_reaction_time" and values[i]
            }
            absent = {
                name
                for name in record
                if name.endswith("reaction_time") and name.replace("reaction_time", "_reaction_time") not in answered
            }
            check_record({name: value for name, value in record.items() if name not in absent}, players[i].finished)
        if not description.noisy:
            np.testing.assert_allclose(obs, [subject.observation for subject in players], atol=1e-5)
        idle = over if mode == "NextStep" else idle
