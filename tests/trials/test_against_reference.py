"""Random tasks, rendered and played, must agree with the slow reference (``reference.py``).

The kernel in use plays them; ``test_laws.py`` compares it with the other one, bit by bit.
"""

from __future__ import annotations

import math

import ngym_test_random_tasks as random_tasks
import ngym_test_reference as reference
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ngym_test_random_tasks import held, playable

from neurogym_core import Dataset, TaskEnv, TaskVectorEnv
from neurogym_core.play.dealer import Dealer
from neurogym_core.play.replay import replay
from neurogym_core.tasks.building import layout_of
from neurogym_core.tasks.state import state_of
from neurogym_core.trials.batch import TrialBatch
from neurogym_core.trials.record import OUTCOME_NAMES

pytestmark = [
    pytest.mark.filterwarnings("ignore:Period .* lasts:UserWarning"),
    pytest.mark.usefixtures("few_trials_at_a_time"),
]


def written(batch) -> list:
    """The trials of a batch, as layouts."""
    return [reference.WrittenTrial(batch.tables.layout, i) for i in batch.kind]


# ---------------------------------------------------------------------- the table


@held(150)
@given(description=random_tasks.descriptions(untimed=True), seed=st.integers(0, 99))
def test_what_is_rendered_is_what_was_said(description, seed):
    batch = random_tasks.task_of(description).sample(4, seed=seed)
    assume(batch.duration.sum() + batch.path.sum() <= 3000)  # the reference is slow
    trials = written(batch)
    lasts = np.stack([batch.duration[:, batch.period == p].sum(axis=1) for p in places_of(batch)])
    every = [list(trial.all_steps(lengths)) for trial, lengths in zip(trials, lasts.T, strict=True)]
    oracle = [list(trial.oracle_steps()) for trial in trials]
    for path, played in ((batch.duration, every), (batch.path, oracle)):
        places = [
            (trial, *place) for trial, steps in zip(trials, played, strict=True) for place in steps
        ]
        np.testing.assert_array_equal(path.sum(axis=1), [len(steps) for steps in played])
        seen = np.array([trial.observation(p, k) for trial, p, k in places])
        np.testing.assert_allclose(batch.render(None, path), seen, atol=1e-5)
        np.testing.assert_array_equal(
            batch.render_targets(path), [trial.target(p, k) for trial, p, k in places]
        )
        shown_at = flat_places(batch, path)
        weights = batch.weight.ravel()[shown_at]
        np.testing.assert_allclose(
            weights, [trial.weight(p, k) for trial, p, k in places], atol=1e-6
        )
        period = batch.period[shown_at % len(batch.period)]
        np.testing.assert_array_equal(period, [p for _, p, _ in places])
        noise = np.broadcast_to(batch.noise, batch.shown.shape).reshape(-1, seen.shape[1])[shown_at]
        np.testing.assert_allclose(
            noise, [trial.noise_sd(p, k) for trial, p, k in places], atol=1e-6
        )
    lengths = np.array([trial.length for trial in trials])
    np.testing.assert_array_equal(np.stack(list(batch.period_steps.values()), axis=1), lengths)


def places_of(batch) -> range:
    return range(len(batch.period_names))


def flat_places(batch, path) -> np.ndarray:
    """The index (trial, segment) of every step of a path, which goes through all segments again in
    every further round."""
    segments = len(batch.period)
    column = np.tile(np.arange(path.shape[1]) % segments, len(path))
    trial = np.repeat(np.arange(len(path)), path.shape[1])
    return np.repeat(trial * segments + column, path.ravel())


@held(40)
@given(description=random_tasks.descriptions(fixed=True), seed=st.integers(0, 99))
def test_one_trial_at_a_time_makes_the_same_table(description, seed):
    task = random_tasks.task_of(description)
    together = task.sample(5, seed=seed)
    one_by_one = TrialBatch.concatenate(
        [
            task.sample(1, **{name: values[i] for name, values in together.conditions.items()})
            for i in range(5)
        ]
    )
    for name, values in together.conditions.items():
        np.testing.assert_array_equal(one_by_one.conditions[name], values)
    for path in ("duration", "path"):
        one, other = (_steps_of(batch, getattr(batch, path)) for batch in (together, one_by_one))
        assert one.keys() == other.keys()
        for name, values in one.items():
            np.testing.assert_allclose(values, other[name], rtol=1e-6, atol=1e-6, err_msg=name)
    for name in (
        "miss_reward",
        "miss_outcome",
        "error_reward",
        "due",
        "tolerance",
        "target_goto",
        "error_goto",
    ):
        np.testing.assert_allclose(together.table(name), one_by_one.table(name), err_msg=name)
    np.testing.assert_array_equal(together.table("asked"), one_by_one.table("asked"))


def _steps_of(batch, path) -> dict:
    """The contents of a table step by step, since it may be cut into segments in several ways."""
    at = flat_places(batch, path)
    said = {name: batch.table(name) for name in ("reward", "outcome", "goto", "score", "aborts")}
    said = {name: values.reshape(-1, *values.shape[2:])[at] for name, values in said.items()}
    weights = batch.weight.ravel()[at]
    shown, targets = batch.render(None, path), batch.render_targets(path)
    return {
        "steps": path.sum(axis=1),
        "weights": weights,
        "shown": shown,
        "targets": targets,
        **said,
    }


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


# ---------------------------------------------------------------------- datasets


SUPERVISED = random_tasks.descriptions(drawn=(None, "before"), untimed=True)


def check_shown(task, seed, batches, steps) -> None:
    """Compare steps of a dataset of one row with the steps that the oracle of the reference plays.

    Args:
        batches: the dataset.
        steps: number of steps to compare.
    """
    key, stream, t = Dealer(task, 1, seed).key, Stream(task, seed, 1), 0
    batch, compared = next(batches), 0
    while compared < steps:
        trial = stream.coming(0)
        for clock, (p, k) in enumerate(trial.oracle_steps()):
            if t == batch.inputs.shape[1]:
                batch, t = next(batches), 0
            seen = trial.noisy_observation(p, k, clock, key)
            np.testing.assert_allclose(batch.inputs[0, t], seen, rtol=1e-5, atol=1e-5)
            assert batch.targets[0, t] == trial.target(p, k)
            assert batch.weights[0, t] == pytest.approx(trial.weight(p, k), abs=1e-6)
            assert batch.new_trial[0, t] == (clock == 0)
            t, compared = t + 1, compared + 1
            if compared == steps:
                return


@held(50)
@given(description=SUPERVISED, seed=st.integers(0, 99))
def test_a_dataset_shows_whole_trials_as_the_oracle_of_the_reference_plays_them(description, seed):
    task = playable(description)
    check_shown(task, seed, Dataset(task, 1, seed=seed), 90)


@held(8)
@given(description=SUPERVISED, seed=st.integers(0, 99))
def test_a_dataset_of_streams_shows_the_trials_one_after_another(description, seed):
    task = playable(description)
    check_shown(task, seed, Dataset(task, 1, seq_len=13, seed=seed), 90)


@held(80)
@given(
    description=random_tasks.descriptions(untimed=True),
    seed=st.integers(0, 99),
    oracle=st.booleans(),
)
def test_actions_on_a_dataset_are_scored_as_the_reference_plays_them(description, seed, oracle):
    """A trial stops where the subject leaves the path of the oracle: it has not seen more."""
    task = playable(description)
    batch = task.sample(3, seed=seed)
    assume(batch.path.sum() <= 1500)
    trials, paths = written(batch), []
    rng = np.random.default_rng(seed)
    actions = np.zeros((3, int(batch.steps.max())), np.int64)
    for i, trial in enumerate(trials):
        paths.append(list(trial.oracle_steps()))
        for t, (p, k) in enumerate(paths[i]):
            if oracle:
                actions[i, t] = trial.late_action(paths[i], t)
            else:
                actions[i, t] = rng.choice([0, trial.target(p, k), rng.integers(task.actions.size)])
    record = replay(task, batch, actions)
    for i, trial in enumerate(trials):
        expected = played_along(trial, paths[i], actions[i])
        row = {name: record[name][i] for name in expected}
        for name, value in expected.items():
            if isinstance(value, str):
                assert row[name] == value, (name, row, expected)
            else:
                assert row[name] == pytest.approx(value, rel=1e-5, abs=1e-6), (name, row, expected)


def played_along(trial, path, actions) -> dict:
    """The results of a trial that stops where the subject leaves the path."""
    subject = reference.Subject(lambda: trial, None)
    for t, action in enumerate(actions[: len(path)].tolist()):
        if subject.here != path[t]:
            break
        if subject.step(action)[1]:
            return {name: subject.finished[name] for name in STOPPED}
    record = subject._record()
    return {name: record[name] for name in STOPPED}


STOPPED = ("outcome", "performance", "reward", "steps", "aborts")


# ---------------------------------------------------------------------- the players


class Stream:
    """The trials of a seed, as layouts, in the order in which they are dealt."""

    def __init__(self, task, seed, n):
        self.task = task
        self.dealer, self.n, self.stateful = Dealer(task, n, seed), n, state_of(task).stateful
        self.queues = [[] for _ in range(n if state_of(task).stateful else 1)]
        self.dealer.new_sessions()

    def coming(self, env):
        """The next trial for an env; envs share one queue unless trials depend on earlier ones."""
        queue = self.queues[env if self.stateful else 0]
        if not queue:
            block = self.dealer.block()
            for row in range(len(block)):
                self.queues[row % len(self.queues)].append((block, row))
        return written_trial(self.task, *queue.pop(0))


def written_trial(task, block, row):
    """The trial of a row, built again, with the durations that were drawn for it."""
    types, kind = block.tables, block.kind[row]
    conditions = {name: values[row : row + 1] for name, values in block.conditions.items()}
    durations = {
        name: float(steps[kind] * types.dt)
        for name, steps in types.period_steps.items()
        if name not in types.untimed
    }
    layout = layout_of(task, conditions, np.random.default_rng(0), 1, durations)
    trial = reference.WrittenTrial(layout, 0)
    trial.serial = block.first_serial + row
    return trial


def dealt(env, i):
    """The current trial of an env, as a layout."""
    block, row = env.stepper._blocks[env.stepper.state("block")[i]], env.stepper.state("row")[i]
    return written_trial(env.task, block, row)


def subjects(task, seed, n, env=None):
    """Reference subjects; with `env` (after a reset), they play the trials that it deals."""
    if env is not None:
        return [
            reference.Subject(lambda i=i: dealt(env, i), task.trials_per_session) for i in range(n)
        ]
    stream = Stream(task, seed, n)
    return [
        reference.Subject(lambda i=i: stream.coming(i), task.trials_per_session) for i in range(n)
    ]


def check_drawn_after(trial, before) -> None:
    """Check that conditions follow from the previous trial (None: the first of a session)."""
    if before is not None:
        choice = before.get(
            "choice",
            before.get(f"{trial.trial.slots[0].name}.choice", -1) if trial.trial.slots else -1,
        )
        outcome = OUTCOME_NAMES.tolist().index(before["outcome"])
        u0 = random_tasks.after(outcome, before["reward"], choice, before["u1"])
        # Rewards add up in another order here, and u0 wraps at 1.
        assert abs((trial.conditions["u0"] - u0 + 0.5) % 1 - 0.5) < 1e-6


def choose(rng, subject, size):
    """Mostly rest and the target, so that later slots are reached; otherwise a random action."""
    return int(rng.choice([0, subject.target, rng.integers(size)], p=[0.45, 0.2, 0.35]))


def check_record(record: dict, expected: dict, finished) -> None:
    """Compare a trial; the reference has indices, and records have names where they are known."""
    assert record.keys() - {"env"} == expected.keys()
    names = finished.record().meta["names"]
    for name, value in expected.items():
        if name in names:
            value = names[name][int(value)] if value >= 0 else "none"
        if isinstance(value, str):
            assert record[name] == value, (name, record, expected)
        else:
            np.testing.assert_allclose(
                record[name], value, rtol=1e-5, atol=1e-6, err_msg=f"{name}: {record} {expected}"
            )


def check_times(finished, row, expected: dict) -> None:
    """Compare the times of one of the trials that ended on a step."""
    record = finished.record(timed=True)
    # `rest_correct` is no time: test_records_say_where_resting_was_right tests it.
    columns = {name for name in record.columns if not name.endswith("rest_correct")}
    assert columns - set(finished.columns) == set(expected)
    found = {name: record[name][row] for name in expected}
    assert found == pytest.approx(expected, nan_ok=True, abs=1e-9)


ANY = random_tasks.descriptions(drawn=(None, None, "before", "outcomes"), untimed=True)


@held(50)
@given(description=ANY, seed=st.integers(0, 99))
def test_single_env_plays_as_the_reference(description, seed):
    task = playable(description)
    env = TaskEnv(task, info="full")
    seen = env.reset(seed=seed)[0]
    (subject,) = subjects(task, seed, 1, env if task.reads_outcomes else None)
    key = Dealer(task, 1, seed).key
    rng = np.random.default_rng(seed)
    for _ in range(100):
        np.testing.assert_allclose(seen, subject.noisy_observation(key), rtol=1e-5, atol=1e-5)
        assert env.target == subject.target
        assert env.period == subject.period
        action, right, period = (
            choose(rng, subject, task.actions.size),
            subject.target,
            subject.period,
        )
        seen, reward, terminated, truncated, info = env.step(action)
        expected, ended, over = subject.step(action)
        assert reward == pytest.approx(expected, abs=1e-9)
        assert (info["gt"], info["period"], info["new_trial"]) == (right, period, ended)
        assert (terminated, truncated) == (
            (over, False) if task.trials_per_session == 1 else (False, over)
        )
        if ended:
            check_record(info["trial"], subject.finished, info["trial"].finished)
            check_times(info["trial"].finished, 0, subject.times)
            if task.reads_outcomes:
                check_drawn_after(subject.written, None if over else subject.finished)
        if over:
            seen = env.reset()[0]


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("n", [1, 5])
@held(12)
@given(description=ANY, seed=st.integers(0, 99))
def test_vector_env_plays_as_the_reference(description, seed, n, mode):
    task = playable(description)
    env = TaskVectorEnv(task, n, autoreset_mode=mode, info="full")
    seen = env.reset(seed=seed)[0]
    players = subjects(task, seed, n, env if task.reads_outcomes else None)
    key = Dealer(task, n, seed).key
    rng = np.random.default_rng(seed)
    idle = np.zeros(n, bool)
    for _ in range(60):
        expected = np.stack([subject.noisy_observation(key) for subject in players])
        np.testing.assert_allclose(seen, expected, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(env.target, [subject.target for subject in players])
        np.testing.assert_array_equal(env.period, [subject.period for subject in players])
        actions = np.array([choose(rng, subject, task.actions.size) for subject in players])
        right = [subject.target for subject in players]
        seen, reward, terminated, truncated, info = env.step(actions)
        results = [
            (0.0, False, False) if idle[i] else subject.step(int(actions[i]))
            for i, subject in enumerate(players)
        ]
        np.testing.assert_allclose(reward, [paid for paid, _, _ in results], atol=1e-9)
        np.testing.assert_array_equal(info["gt"], right)
        ended = np.array([each for _, each, _ in results])
        over = np.array([each for _, _, each in results])
        np.testing.assert_array_equal(info["new_trial"], ended)
        np.testing.assert_array_equal(terminated | truncated, over)
        for row, i in enumerate(np.flatnonzero(ended)):
            check_record(row_of(info["trial"], i), players[i].finished, info["trial"].finished)
            check_times(info["trial"].finished, row, players[i].times)
            if task.reads_outcomes:
                check_drawn_after(players[i].written, None if over[i] else players[i].finished)
        idle = over if mode == "NextStep" else idle


def row_of(trial, i) -> dict:
    """A trial of a vector env's info in the form of a single env: without absent entries."""
    masks = {f"_{name}" for name in trial} & trial.keys()
    return {
        name: values[i]
        for name, values in trial.items()
        if name not in masks and trial[f"_{name}"][i]
    }
