"""Analyses of events have known answers, and the files of laboratories have the events."""

from __future__ import annotations

import importlib.util
import json

import numpy as np
import pandas as pd
import pytest
from neurogym_behaviour import cumulative_record, inter_event_intervals, matching_slope
from neurogym_records import read_record, to_bids, to_nwb
from neurogym_records.exchange import write_parquet

from neurogym_core import Choice, InvalidValueError, Task, TrialRecord, UnknownNameError, run


def needs(package):
    return pytest.mark.skipif(
        importlib.util.find_spec(package) is None, reason=f"{package} is not installed"
    )


def record_of(events, trials=2, **columns):
    """A record with events (row, time, name)."""
    row, time, name = zip(*events, strict=True)
    start = 1000.0 * np.arange(trials)
    given = {
        "trial": np.arange(trials),
        "trial_start": start,
        "trial_stop": start + 1000,
        **columns,
    }
    log = {"row": row, "time": time, "name": name, "value": np.ones(len(row))}
    return TrialRecord(given, events=log)


PECKS = [(0, 100, "peck"), (0, 150, "lick"), (0, 400, "peck"), (1, 1100, "peck"), (1, 1900, "peck")]


def test_intervals_run_over_trials_and_not_over_other_events():
    assert inter_event_intervals(record_of(PECKS), "peck").tolist() == [300, 700, 800]
    assert inter_event_intervals(record_of(PECKS), "lick").tolist() == []


def test_intervals_do_not_run_over_sessions_or_subjects():
    assert inter_event_intervals(record_of(PECKS, session=[0, 1]), "peck").tolist() == [300, 800]
    assert inter_event_intervals(record_of(PECKS, subject=[0, 1]), "peck").tolist() == [300, 800]


def test_a_poisson_process_has_exponential_intervals():
    """Known answer: mean and standard deviation are both 1 / rate."""
    rng = np.random.default_rng(1)
    times = np.cumsum(rng.exponential(250, 4000))
    record = record_of([(0, t, "lick") for t in times], trials=1)
    intervals = inter_event_intervals(record, "lick")
    assert abs(intervals.mean() - 250) < 4 * 250 / np.sqrt(4000)
    assert abs(intervals.std() - 250) < 4 * 250 * np.sqrt(2 / 4000)


def test_the_cumulative_record_counts_up():
    times, count = cumulative_record(record_of(PECKS), "peck")
    assert times.tolist() == [100, 400, 1100, 1900]
    assert count.tolist() == [1, 2, 3, 4]
    with pytest.raises(InvalidValueError, match="2 subjects"):
        cumulative_record(record_of(PECKS, subject=[0, 1]), "peck")


def schedules(slope, bias, repeats=1):
    """Trials whose counts follow the generalised matching law exactly."""
    events, rewards = [], [(4, 64), (8, 32), (16, 16), (32, 8), (64, 4)] * repeats
    for row, (first, second) in enumerate(rewards):
        ratio = bias * (first / second) ** slope
        counts = {"food a": first, "food b": second, "a": round(1e4 * ratio), "b": 10_000}
        events += [(row, row * 1000, name) for name, n in counts.items() for _ in range(n)]
    return record_of(events, trials=len(rewards))


SIDES, FOOD = ("a", "b"), ("food a", "food b")


@pytest.mark.parametrize(("slope", "bias"), [(1.0, 1.0), (0.8, 1.5), (0.5, 0.7)])
def test_the_matching_slope_is_that_of_the_counts(slope, bias):
    fit = matching_slope(schedules(slope, bias), SIDES, FOOD)
    assert fit.slope == pytest.approx(slope, abs=1e-3)
    assert fit.bias == pytest.approx(bias, rel=1e-3)
    assert (fit.n, fit.left_out) == (5, 0)
    assert fit.low <= fit.slope <= fit.high


def test_points_without_a_reward_are_left_out_and_counted():
    record = schedules(0.8, 1.0)
    kept = (record.event_log.name != "food b") | (record.event_log.row != 0)
    log = {name: values[kept] for name, values in record.event_log._asdict().items()}
    fit = matching_slope(TrialRecord(record, events=log), SIDES, FOOD)
    assert (fit.n, fit.left_out) == (4, 1)
    assert fit.slope == pytest.approx(0.8, abs=1e-3)


def test_equal_schedules_and_unknown_events_are_errors():
    record = schedules(0.8, 1.0)
    with pytest.raises(InvalidValueError, match="different ratios"):
        matching_slope(record, SIDES, FOOD, by=None)
    with pytest.raises(UnknownNameError, match="'food'"):
        matching_slope(record, SIDES, ("food", "food b"))


class ConcurrentVI(Task):
    """Two keys; each is armed at random, and holds its food until the next peck.

    Herrnstein (1961), J. Exp. Anal. Behav. 4:267, doi:10.1901/jeab.1961.4-267; without a
    changeover delay.
    """

    dt: float = 250
    timing = {"work": 300_000}
    supervised = False
    trial_state = {"armed": np.zeros(2, bool)}

    def define(self):
        self.observe(keys=2)
        self.act(rest=1, peck=("a", "b"))
        self.vary(first=Choice((0.02, 0.05, 0.1, 0.2)))

    def new_trial(self, trial):
        trial.periods("work")
        trial.show("keys", 1, during="work")
        trial.hold(during="work", cost=0)

    def step_action(self, now, action):
        first = now.conditions["first"]
        chance = np.column_stack([first, 0.22 - first])
        armed = now.trial_state["armed"] | (now.rng.random((now.n, 2)) < chance)
        peck = action[:, None] == [1, 2]
        paid = armed & peck
        now.trial_state["armed"] = armed & ~peck
        for k, side in enumerate("ab"):
            now.event(peck[:, k], side)
            now.event(paid[:, k], f"food {side}")
        return paid.sum(axis=1) * 1.0, None


class Matcher:
    """Pecks each key in proportion to its recent food: the ideal that must match."""

    def begin(self, env):
        self.food = np.ones((env.num_envs, 2))
        self.rng = np.random.default_rng(0)
        self.last = np.zeros(env.num_envs, int)

    def __call__(self, env, observations):
        clock = env.stepper.state("clock")
        self.food[clock == 0] = 1.0
        reward = np.asarray(env.stepper.kernel.last_reward)
        for k in (0, 1):
            self.food[:, k] += (self.last == k + 1) * reward * (clock > 0)
        share = self.food[:, 0] / self.food.sum(axis=1)
        self.last = np.where(self.rng.random(len(share)) < share, 1, 2)
        return self.last


@pytest.mark.slow
def test_a_subject_that_matches_matches_and_one_that_ignores_the_food_does_not():
    ideal = matching_slope(run(ConcurrentVI(), Matcher(), 60, seed=1, num_envs=20), SIDES, FOOD)
    cheat = matching_slope(run(ConcurrentVI(), "random", 60, seed=1), SIDES, FOOD)
    assert ideal.low > 0.6
    assert abs(cheat.slope) < 0.2
    assert cheat.high < ideal.low


# ---------------------------------------------------------------------- files


@pytest.fixture(scope="module")
def played():
    return run(ConcurrentVI(timing={"work": 5000}), "random", 6, seed=2)


def test_bids_has_a_row_for_each_event(played, tmp_path):
    path = to_bids(played, tmp_path)
    table = pd.read_csv(path, sep="\t")
    for name in ("a", "b", "food a"):
        rows = table[table["trial_type"] == f"event/{name.replace(' ', '_')}"]
        mine = played.events["name"] == name
        assert rows["onset"].tolist() == pytest.approx(
            (played.events["time"][mine] / 1000).tolist()
        )
        assert rows["trial_row"].tolist() == played.events["trial"][mine].tolist()
        assert set(rows["event_value"]) == {1.0}
    sidecar = json.loads(path.with_suffix(".json").read_text())
    assert sidecar["trial_type"]["Levels"]["event/food_a"] == "the event food a"
    again = read_record(path)
    assert again == played
    assert again.events == played.events


@needs("pynwb")
def test_nwb_has_a_series_for_each_name(played, tmp_path):
    import pynwb

    to_nwb(played, tmp_path / "trials.nwb")
    with pynwb.NWBHDF5IO(str(tmp_path / "trials.nwb"), "r") as io:
        series = io.read().processing["behavior"].data_interfaces
        assert set(series) == {"a", "b", "food_a", "food_b"}
        mine = played.events["name"] == "food a"
        assert series["food_a"].timestamps[:].tolist() == pytest.approx(
            (played.events["time"][mine] / 1000).tolist()
        )
        assert set(series["food_a"].data[:]) == {1.0}
    again = read_record(tmp_path / "trials.nwb")
    assert again.events == played.events


@needs("pyarrow")
def test_parquet_has_the_events_beside_it(played, tmp_path):
    write_parquet(played, tmp_path / "trials.parquet")
    again = read_record(tmp_path / "trials.parquet")
    assert again.events == played.events
