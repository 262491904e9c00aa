"""Mod_Cog: the rule of names, the two operators, repaired defects, ideals and shortcuts as played.

Observers see the inputs, and know when the stimuli are shown; their answers are scored.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from neurogym_task_modcog import tasks
from neurogym_task_modcog.rule import BASE, DELAYED, NAMES, meaning

from neurogym_core import Dataset, InvalidValueError, TaskEnv, make_task, run

ALL = {name: getattr(tasks, name.capitalize()) for name in NAMES}
INT = [name for name in NAMES if meaning(name)[1]]
SEQ = [name for name in NAMES if meaning(name)[2]]
MATCHES = ("dms", "dnms", "dmc", "dnmc")


# ---------------------------------------------------------------------- the rule


def test_there_are_82_names_20_base_22_int_40_seq():
    assert (len(NAMES), len(set(NAMES))) == (82, 82)
    assert (len(BASE), len(DELAYED), len(INT), len(SEQ)) == (20, 11, 22, 40)
    assert {meaning(name) for name in NAMES} == {
        *((base, 0, 0) for base in BASE),
        *((base, turn, 0) for base in DELAYED for turn in (1, -1)),
        *((base, 0, turn) for base in BASE for turn in (1, -1)),
    }


def test_entry_points_and_manifest_follow_the_rule():
    rows = tomllib.loads((files("neurogym_task_modcog") / "ngym.toml").read_text("utf-8"))["task"]
    assert [row["name"] for row in rows] == [f"{name.capitalize()}-v0" for name in NAMES]
    for row, name in zip(rows, NAMES, strict=True):
        assert type(make_task(f"modcog/{row['name']}")) is ALL[name]
        assert ALL[name].__doc__.splitlines()[0] == row["summary"]
        assert ALL[name].rule == name


@pytest.mark.parametrize("name", NAMES)
def test_all_have_the_same_inputs_and_outputs_and_an_oracle(name):
    task = ALL[name]()
    assert (task.channels.size, task.actions.size) == (1 + 2 * 16 + 82, 17)
    shown = task.sample(3, seed=1).render(None)[:, task.channels["rule"]]
    assert (shown == np.eye(82)[NAMES.index(name)]).all()
    assert (run(task, "oracle", 60, num_envs=20, seed=1)["performance"] == 1).all()


# ---------------------------------------------------------------------- int and seq


@pytest.mark.parametrize("name", INT)
def test_with_int_the_answer_turns_by_a_unit_per_100_ms_of_a_delay_that_differs(name):
    base, turn, _ = meaning(name)
    task = ALL[name]()
    drawn = task.sample(2000, seed=2).conditions
    assert set(drawn["delay"]) == set(range(0, 1200, 100))
    unit, answers = ALL[base]().answer_of(drawn) if base[-3:] != "ydm" else task.answer_of(drawn)
    expected = np.where(answers, (unit + turn * drawn["delay"] // 100) % 16, -1)
    np.testing.assert_array_equal(task.first_unit(drawn), expected)
    played = run(task, "oracle", 200, num_envs=20, seed=3)
    assert (played["duration.delay"] == played["delay"]).all()


@pytest.mark.parametrize("name", SEQ)
def test_with_seq_the_answer_turns_by_a_unit_per_100_ms_of_the_decision(name):
    turn = meaning(name)[2]
    record = run(ALL[name](), "oracle", 100, num_envs=20, seed=4)
    units = np.stack([record[f"unit{k}.choice"] for k in range(10)], axis=1)
    answered = record["unit"] >= 0
    assert answered.any()
    for one, other in pairwise(units[answered].T):
        np.testing.assert_array_equal(other, (one + turn) % 16)
    np.testing.assert_array_equal(units[answered, 0], record["unit"][answered])
    assert (units[~answered] == -1).all()
    assert (record["duration.decision"] == 1000).all()


@pytest.mark.parametrize("name", ["goseqr", "rtantiseql", "dlydm1seqr"])
def test_one_wrong_unit_of_ten_costs_a_tenth(name):
    env = TaskEnv(ALL[name]())
    env.reset(seed=1)
    asked = 0
    while True:
        action = env.target
        if env.is_asked:
            asked += 1
            action = 1 + action % 16 if asked == 4 else action
        *_, info = env.step(action)
        if info["new_trial"]:
            break
    assert asked == 10
    assert info["performance"] == pytest.approx(0.9)


def replayed(name, answer, n=2000, seed=5):
    """Performance of ``answer(task, conditions) -> (n,)`` units, -1 fixates, on the decision."""
    task = ALL[name]()
    batch = next(Dataset(task, n, seed=seed))
    known, notes = batch.trials.conditions, batch.trials.notes
    actions = np.zeros(batch.targets.shape[:2], np.int64)
    steps = batch.trials.period_steps["decision"]
    for k in range(int(steps.max())):
        chosen = answer(task, known, notes["unit"], k)
        at = batch.stop - steps + k
        actions[np.arange(n)[k < steps], at[k < steps]] = 1 + chosen[k < steps]
    return batch.score(actions)["performance"].mean()


@pytest.mark.parametrize("name", ["dlygointr", "dlydm2intl", "ctxdlydm1intr"])
def test_ignoring_the_delay_or_any_fixed_turn_is_right_in_a_twelfth(name):
    """4 SEs of 2,000 trials are 0.025."""
    for turn in (0, 5):
        found = replayed(
            name,
            lambda task, known, unit, k, turn=turn: (
                (task.answer_of(known)[0] + task.integrate * turn) % 16
            ),
        )
        assert found == pytest.approx(1 / 12, abs=0.025)


def test_holding_the_first_unit_or_turning_the_other_way_is_right_in_one_or_two_of_ten():
    held = replayed("goseqr", lambda task, known, unit, k: unit, 200)
    other = replayed("goseqr", lambda task, known, unit, k: (unit - k) % 16, 200)
    assert held == pytest.approx(0.1)
    assert other == pytest.approx(0.2)  # units 0 and 8 of the turn


# ---------------------------------------------------------------------- repaired defects


@pytest.mark.parametrize("name", ["goseqr", "dlygointr", "go"])
def test_the_sixteenth_unit_is_an_answer(name):
    """In the public code it became fixating."""
    record = run(ALL[name](), "oracle", 500, num_envs=20, seed=6)
    choice = record["unit9.choice"] if "seq" in name else record["choice"]
    assert set(choice) == set(range(16))


def test_int_means_the_same_in_all_families():
    """In the public code the go family turned the stimulus, the other way round."""
    for name in ("dlygointr", "dlydm1intr", "dmsintr"):
        task = ALL[name]()
        drawn = task.sample(500, seed=7).conditions
        unit, answers = task.answer_of(drawn)
        turned = (task.first_unit(drawn) - unit) % 16
        np.testing.assert_array_equal(turned[answers], drawn["delay"][answers] // 100)


def test_the_stimulus_of_go_stays_and_that_of_dlygo_does_not():
    for name, stays in (("go", True), ("dlygo", False), ("anti", True), ("dlyanti", False)):
        batch = ALL[name]().sample(20, seed=8)
        rings = batch.render(None)[:, 1:33].reshape(20, -1, 32)
        assert bool(rings[:, -1].any(axis=1).all()) is stays


def test_categories_are_the_same_halves_for_sample_and_test():
    """In the public code the ninth unit changed sides."""
    for name in ("dmc", "dnmc"):
        task = ALL[name]()
        drawn = task.sample(3000, seed=9).conditions
        test = task.test_of(drawn)
        np.testing.assert_array_equal((drawn["sample"] < 8) == (test < 8), drawn["match"])
        assert set(drawn["sample"]) == set(test) == set(range(16))


def test_delays_of_matching_tasks_differ_from_trial_to_trial_and_follow_the_seed():
    lasts = ALL["dms"](dt=10).sample(500, seed=1).period_steps["delay"] * 10
    assert 200 <= lasts.min() < 250 < 1150 < lasts.max() <= 1200
    again = ALL["dms"](dt=10).sample(500, seed=1).period_steps["delay"] * 10
    np.testing.assert_array_equal(lasts, again)


def test_modalities_repeat_as_often_as_they_change():
    """5 SEs of 999 trials are 0.08."""
    drawn = ALL["go"]().sample(1000, seed=2).conditions["modality"]
    assert np.mean(np.diff(drawn) == 0) == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize("name", ["multidm", "multidlydm"])
def test_no_sums_are_equal(name):
    strengths = ALL[name]().sample(2000, seed=3).notes["strength"].reshape(-1, 2, 2).sum(axis=1)
    assert np.abs(strengths[:, 0] - strengths[:, 1]).min() > 0.05


# ---------------------------------------------------------------------- ideals and shortcuts


def integrates(name, *, modalities=None, first=False, most=None, n=4000):
    """An observer that compares the bumps of both directions in some modalities."""
    task = ALL[name]()
    batch = next(Dataset(task, n, seed=3))
    known, steps = batch.trials.conditions, batch.trials.period_steps
    ends = dict(zip(steps, np.cumsum(list(steps.values()), axis=0), strict=True))
    counts = modalities or ((1, 2) if task.attends == "both" else (int(task.attends[0]),))
    units = (known["first"], (known["first"] + known["apart"]) % 16)
    bumps = task.ring.bump(np.arange(16), strength=1.0)
    seen, norm = [], (bumps[0] ** 2).sum()
    for k, unit in enumerate(units):
        period = f"stimulus{k + 1}" if task.delayed else "stimulus"
        step = np.arange(batch.inputs.shape[1])
        start = ends[period] - steps[period]
        last = start + (most or 100)
        on = (step >= start[:, None]) & (step < np.minimum(last, ends[period])[:, None])
        rings = sum(batch.inputs[..., task.channels[f"modality_{m}"]] for m in counts)
        mean = (rings * on[:, :, None]).sum(axis=1) / on.sum(axis=1)[:, None]
        seen.append((mean * bumps[unit]).sum(axis=1) / norm)
    second = np.full(n, 0.6 * len(counts)) if first else seen[1]
    chosen = np.where(seen[0] > second, *units)
    actions = np.zeros(batch.targets.shape[:2], np.int64)
    actions[np.arange(n), batch.stop - 1] = 1 + chosen
    return batch.score(actions)["performance"].mean()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("dm1", 0.963), ("ctxdm2", 0.963), ("dlydm1", 1.0), ("ctxdlydm1", 1.0), ("multidlydm", 0.983)],
)
def test_ideals_are_those_of_the_sheet(name, expected):
    """Simulated elsewhere, except multidlydm; 4 SEs of 4,000 trials are 0.012."""
    assert integrates(name) == pytest.approx(expected, abs=0.015)


@pytest.mark.parametrize(
    ("name", "how", "expected"),
    [
        ("dm2", {"most": 1}, 0.880),
        ("ctxdm1", {"modalities": (1, 2)}, 0.75),
        ("ctxdlydm2", {"modalities": (1, 2)}, 0.75),
        ("multidm", {"modalities": (1,)}, 0.75),
        ("dlydm1", {"first": True}, 0.833),
    ],
)
def test_shortcuts_earn_what_the_sheet_says(name, how, expected):
    """Simulated elsewhere; without equal sums one of two modalities is right a bit more often."""
    assert integrates(name, **how) == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("name", ["dm1", "dlydm2", "dms"])
def test_noise_has_the_size_of_the_code_and_is_in_the_stimuli_alone(name):
    """SD 0.1 per step; of matching tasks in the rings alone."""
    task = ALL[name]()
    batch = task.sample(1, seed=1)
    noisy = np.flatnonzero(np.isin(batch.period_names, task.noisy))
    sd = np.broadcast_to(batch.noise, batch.shown.shape)[0]
    within = np.isin(batch.period, noisy)
    rings = slice(1, 33) if name == "dms" else slice(0, 115)
    np.testing.assert_allclose(sd[within][:, rings], 0.1, rtol=1e-6)
    assert not sd[~within].any()
    assert name != "dms" or not sd[within][:, 33:].any()


@pytest.mark.parametrize("name", MATCHES)
def test_never_answering_is_right_in_half_of_the_matching_trials(name):
    """1,500 trials, five SDs are 6.5 %."""
    rest = run(ALL[name](), "rest", 1500, num_envs=50, seed=1)
    assert rest["performance"].mean() == pytest.approx(0.5, abs=0.065)


@pytest.mark.parametrize(
    ("name", "levels"),
    [("dm1", {0.46, 0.54, 0.42, 0.58, 0.34, 0.66, 0.18, 0.82}), ("dlydm1", {0.3, 0.6, 1.0})],
)
def test_strengths_are_those_of_the_code(name, levels):
    shown = ALL[name]().sample(500, seed=4).notes["strength"]
    assert set(np.round(shown[:, :2].ravel(), 6)) == levels
    assert not shown[:, 2:].any()


def test_a_negative_noise_is_refused():
    with pytest.raises(InvalidValueError, match="sigma=-1"):
        ALL["go"](sigma=-1.0)
