"""The twenty tasks of Yang et al. (2019): inputs, timing, rules, weights, and past defects."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_yang19 import tasks
from neurogym_task_yang19.families import CATEGORY_DIRECTIONS, RULES
from neurogym_task_yang19.published import published

from neurogym_core import (
    Dataset,
    InvalidValueError,
    Ring,
    TaskEnv,
    TaskVectorEnv,
    circular_distance,
    make_task,
    run,
)
from neurogym_core.players import TaskView

ALL = [getattr(tasks, name) for name in RULES]
DECISIONS = [name for name in RULES if "DM" in name and "DMS" not in name and "DMC" not in name]
MATCHES = ["DMS", "DNMS", "DMC", "DNMC"]


def named(names):
    return [getattr(tasks, name) for name in names]


def noise_free(cls, **settings):
    return cls(sigma_input=0, **settings)


def spread(values, declared):
    """Whether the values are the declared ones, about equally often.

    5 SDs of a fraction, false alarm 1 in 10^6.
    """
    values, declared = np.asarray(values), np.asarray(declared)
    shares = np.array([(values == value).mean() for value in declared])
    p = 1 / len(declared)
    assert shares.sum() == pytest.approx(1)
    np.testing.assert_allclose(shares, p, atol=5 * np.sqrt(p * (1 - p) / len(values)))


# ---------------------------------------------------------------------- shared by all


def test_there_are_twenty_with_85_inputs_and_33_outputs():
    assert len(set(RULES)) == 20
    for k, cls in enumerate(ALL):
        task = cls()
        assert (task.channels.size, task.actions.size, task.dt) == (85, 33, 20)
        batch = task.sample(3, seed=1)
        rule = noise_free(cls).sample(3, seed=1).render(None)[:, task.channels["rule"]]
        np.testing.assert_array_equal(rule, np.broadcast_to(np.arange(20) == k, rule.shape))
        assert batch.period_names[-1] == "response"


@pytest.mark.parametrize("cls", ALL)
def test_neurogym_size(cls):
    task = cls(units=16, rule_input=False)
    assert (task.channels.size, task.actions.size) == (33, 17)
    assert (run(task, "oracle", 30, seed=1)["performance"] == 1).all()


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("dt", [10, 20, 100])
def test_oracle_is_always_right_and_paid_once(cls, dt):
    record = run(cls(dt=dt), "oracle", 60, seed=2)
    assert (record["performance"] == 1).all()
    assert (record["reward"] == 1).all()


@pytest.mark.parametrize("cls", ALL)
def test_the_page_names_paper_units_and_deviations(cls):
    for words in (
        "10.1038/s41593-018-0310-2",
        "Deviations from the paper:",
        "radians",
        "36 degrees",
    ):
        assert words in cls.__doc__
    assert "    Yang, Joglekar" in cls.__doc__


@pytest.mark.parametrize("name", ["Go", "MultiDM", "CtxDlyDM2", "DNMS", "DMC"])
def test_single_and_vector_env_agree(name):
    task = getattr(tasks, name)()
    rng = np.random.default_rng(0)
    single, vector = (
        TaskEnv(task, info="full"),
        TaskVectorEnv(task, 1, autoreset_mode="SameStep", info="full"),
    )
    a, b = single.reset(seed=3)[0], vector.reset(seed=3)[0]
    for _ in range(800):
        np.testing.assert_array_equal(a, b[0])
        action = int(rng.integers(33)) if rng.random() < 0.02 else single.target
        a, reward, *_, over, info = single.step(action)
        b, rewards, *_, infos = vector.step(np.array([action]))
        assert (reward, info["gt"]) == (pytest.approx(rewards[0]), infos["gt"][0])
        a = single.reset()[0] if over else a


@pytest.mark.parametrize("name", ["RTAnti", "DM2", "DNMC"])
def test_datasets_have_weights_and_bumps_as_targets(name):
    data = Dataset(getattr(tasks, name)(), batch_size=8, seed=1, targets="units")
    batch = next(iter(data))
    assert batch.inputs.shape[2] == 85
    assert batch.targets.shape[2] == 33
    for k in range(8):
        weights = batch.weights[k]
        last = np.flatnonzero(weights == 5)[-1]
        response = np.r_[np.zeros(5), np.full(20, 5)]  # 100 ms of 0, then 400 ms of 5
        np.testing.assert_array_equal(weights[last - 24 : last + 1], response)
        np.testing.assert_array_equal(weights[: last - 24], 1)
        assert not weights[last + 1 :].any()


def test_noise_on_every_input_has_the_published_size_at_any_dt():
    for dt in (10, 20, 100):
        task, quiet = tasks.DM1(dt=dt), noise_free(tasks.DM1, dt=dt)
        noise = task.sample(300, seed=1).render(np.random.default_rng(2)) - quiet.sample(
            300, seed=1
        ).render(None)
        expected = 0.01 * np.sqrt(2 * 100 / dt)
        # At least 3,000 steps: five standard errors of an SD are 6.5 %, for each of 85 units.
        np.testing.assert_allclose(noise.std(axis=0), expected, rtol=0.065)


def test_a_tolerance_below_the_distance_of_units_is_refused():
    with pytest.raises(InvalidValueError, match="tolerance"):
        tasks.Go(tolerance=0.01)


def test_a_ring_without_units_is_refused():
    with pytest.raises(InvalidValueError, match="units=0; a ring needs at least one"):
        tasks.Go(units=0)


def targets_of_the_code(task, conditions, direction, steps, response):
    """Targets and weights of one trial, by the formulas of the authors' code."""
    y, mask = np.full((steps, 33), 0.05), np.zeros((steps, 33))
    apart = np.abs(direction - np.arange(32) * 2 * np.pi / 32)
    apart = np.minimum(apart, 2 * np.pi - apart) / (np.pi / 8)
    onset, first = steps - response, int(100 / task.dt)
    if direction < 0:
        y[:, 0] = 0.8
    else:
        y[:onset, 0] = 0.8
        y[onset:, 1:] += 0.8 * np.exp(-(apart**2) / 2)
    mask[onset + first :] = 5
    mask[first:onset] = 1
    mask[:, 0] *= 2
    return y, mask


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("seq_len", [None, 70])
def test_published_targets_and_weights_are_those_of_the_code(name, seq_len):
    """Whole trials, and streams that are cut every 70 steps."""
    task = getattr(tasks, name)()
    batch = next(Dataset(task, batch_size=12, seq_len=seq_len, seed=3))
    targets, weights = published(batch)
    assert targets.shape == weights.shape == (*batch.inputs.shape[:2], 33)
    inside = np.zeros(weights.shape[:2], bool)
    for k, (row, start, stop) in enumerate(zip(batch.row, batch.start, batch.stop, strict=True)):
        trial = batch.trials.take(np.array([k]))
        direction, response = trial.notes["direction"][0], trial.period_steps["response"][0]
        y, mask = targets_of_the_code(task, trial.conditions, direction, stop - start, response)
        here = slice(max(start, 0), min(stop, weights.shape[1]))
        within = slice(here.start - start, here.stop - start)
        np.testing.assert_allclose(targets[row, here], y[within], atol=1e-6)
        np.testing.assert_array_equal(weights[row, here], mask[within])
        inside[row, here] = True
    assert not weights[~inside].any()


def test_published_targets_are_at_the_direction_and_those_of_datasets_at_its_unit():
    """The unit is up to 5.6 degrees off; population vectors of published targets are exact."""
    batch = next(Dataset(tasks.Go(), batch_size=200, seed=4))
    last = batch.stop - 1
    shown = published(batch)[0][np.arange(200), last]
    assert (shown[:, 0] == np.float32(0.05)).all()
    assert 0.82 < shown.max() <= 0.851
    direction = batch.trials.notes["direction"]
    seen = Ring(32).population_vector(shown[:, 1:] - 0.05)
    assert circular_distance(seen, direction).max() < 1e-3
    units = next(Dataset(tasks.Go(), batch_size=200, seed=4, targets="units"))
    off = circular_distance(
        Ring(32).population_vector(units.targets[np.arange(200), last][:, 1:]), direction
    )
    assert np.rad2deg(off).max() == pytest.approx(5.6, abs=0.3)


@pytest.mark.parametrize("cls", ALL)
def test_pages_tell_the_common_part_in_a_few_lines(cls):
    assert "catalogue" not in cls.__doc__
    assert "README of neurogym-task-yang19" in cls.__doc__
    assert len(cls.__doc__.splitlines()) <= 26


# ---------------------------------------------------------------------- shortcuts


@pytest.mark.parametrize("name", ["Go", "Anti", "DM1", "DlyDM1"])
def test_always_the_same_direction_earns_a_fifth(name):
    """1,500 trials, five SDs are 5.2 %."""

    def subject(env, observations):
        return np.where(env.is_asked, 9, 0)

    record = run(getattr(tasks, name)(), subject, 1500, num_envs=50, seed=1)
    assert record["performance"].mean() == pytest.approx(0.2, abs=0.052)
    assert "earns 0.2." in getattr(tasks, name).__doc__


@pytest.mark.slow
@pytest.mark.parametrize("name", MATCHES)
@pytest.mark.parametrize(("action", "earns"), [(0, 0.5), (9, 0.1)])
def test_never_answering_a_match_task_earns_a_half_and_one_direction_a_tenth(name, action, earns):
    """1,500 trials, five SDs are 6.5 and 3.9 %; the directions of DMC are 36 degrees apart."""

    def subject(env, observations):
        return np.where(env.is_asked, action, 0)

    record = run(getattr(tasks, name)(), subject, 1500, num_envs=50, seed=1)
    assert record["performance"].mean() == pytest.approx(earns, abs=0.065)
    assert "earns 0.1, and never answering 0.5" in getattr(tasks, name).__doc__


@pytest.mark.parametrize("name", [name for name in DECISIONS if "Ctx" in name])
def test_adding_both_modalities_earns_three_quarters(name):
    """3,000 trials, five SDs are 4 %."""
    drawn = getattr(tasks, name)().sample(3000, seed=16).conditions
    both = drawn["coherence"] + drawn["distracting_coherence"]
    right = np.where(both == 0, 0.5, (both > 0) == (drawn["coherence"] > 0))
    assert right.mean() == pytest.approx(0.75, abs=0.04)


def test_the_first_stimulus_of_a_delayed_decision_is_right_in_87_percent():
    """3,000 trials, five SDs are 3.1 %."""
    drawn = tasks.DlyDM1().sample(3000, seed=17).conditions
    first = drawn["mean"] + drawn["coherence"] > 1
    assert np.mean(first == (drawn["coherence"] > 0)) == pytest.approx(0.867, abs=0.031)


def test_input_noise_hardly_limits_decisions():
    """Strengths read from the averages of the rings: at most 10 errors in 3,000 trials of the
    smallest coherence, where 2.5 are expected (false alarms 1 in 10^4)."""
    task = tasks.DM1(timing={"stimulus": 400}, coherences=(0.01,))
    batch = task.sample(3000, seed=18)
    ends = np.cumsum(batch.steps) - batch.period_steps["response"]
    rendered = batch.render(np.random.default_rng(19))[:, task.channels["modality_1"]]
    seen = np.stack([rendered[end - 20 : end].mean(axis=0) for end in ends])
    drawn = batch.conditions
    directions = (drawn["stimulus_1"], drawn["stimulus_1"] + drawn["separation"])
    one, two = ((seen * task.ring.bump(angle=angle)).sum(axis=1) for angle in directions)
    wrong = (one > two) != (drawn["coherence"] > 0)
    assert wrong.sum() <= 10


# ---------------------------------------------------------------------- answers


@pytest.mark.parametrize("cls", ALL)
def test_answers_within_36_degrees_are_right_and_others_wrong(cls):
    task = cls()
    batch = task.sample(200, seed=4)
    ring = Ring(32)
    answered = batch.notes["direction"] >= 0
    last = batch.period == batch.period_names.index("response")
    paid = batch.table("reward")[:, last][:, -1, 1:]
    direction = batch.notes["direction"]
    within = circular_distance(ring.angles, direction[:, None]) <= np.deg2rad(36)
    np.testing.assert_array_equal(paid == 1, within & answered[:, None])
    assert set(within[answered].sum(axis=1)) <= {6, 7}


@pytest.mark.parametrize("name", ["Go", "RTGo", "DlyGo", "Anti", "RTAnti", "DlyAnti"])
def test_go_answers_with_the_shown_direction_and_anti_with_the_opposite(name):
    task = noise_free(getattr(tasks, name))
    batch = task.sample(200, seed=5)
    observations = np.split(batch.render(None), np.cumsum(batch.steps)[:-1])
    rings = [task.channels[name] for name in ("modality_1", "modality_2")]
    both = [sum(obs[:, ring].sum(axis=0) for ring in rings) for obs in observations]
    seen = Ring(32).population_vector(np.array(both))
    wanted = seen + np.pi * ("Anti" in name)
    assert circular_distance(batch.notes["direction"], wanted).max() < 1e-3


def test_go_families_draw_the_modality_at_random_and_do_not_alternate():
    """In another implementation the modality was 0, 1, 0, 1, …."""
    for name in ("Go", "DlyAnti", "DMS"):
        env = TaskEnv(getattr(tasks, name)(dt=100))
        env.reset(seed=6)
        key = "sample_modality" if name == "DMS" else "modality"
        drawn = []
        while len(drawn) < 400:
            *_, over, info = env.step(env.target)
            if info["new_trial"]:
                drawn.append(info["trial"][key])
            if over:
                env.reset()
        spread(drawn, (1, 2))
        repeats = np.mean(np.diff(drawn) == 0)
        assert repeats == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(399))


@pytest.mark.parametrize("name", DECISIONS)
def test_decisions_follow_the_relevant_stimulus(name):
    """The sum of activity in the relevant modality is largest at the correct direction."""
    task = noise_free(getattr(tasks, name))
    batch = task.sample(300, seed=7)
    counting = {"1": ("modality_1",), "2": ("modality_2",), "i": ("modality_1", "modality_2")}
    which = counting["i" if "Multi" in name else name[-1]]
    conditions = batch.conditions
    ends = np.cumsum(batch.steps)
    directions = np.stack(
        [conditions["stimulus_1"], conditions["stimulus_1"] + conditions["separation"]], axis=1
    )
    strength = np.zeros((300, 2))
    units = Ring(32).nearest(directions.ravel()).reshape(300, 2)
    bumps = Ring(32).bump(angle=directions.ravel()).reshape(300, 2, 32)
    peak = np.take_along_axis(bumps, units[:, :, None], axis=2)[:, :, 0]
    for row, obs in enumerate(np.split(batch.render(None), ends[:-1])):
        shown = sum(obs[:, task.channels[name]] for name in which)
        strength[row] = shown[:, units[row]].max(axis=0) / peak[row]
    chosen = directions[np.arange(300), strength.argmax(axis=1)]
    # Bumps 90 degrees apart overlap a little (0.03 %), far less than the smallest difference of 2
    # %.
    assert circular_distance(batch.notes["direction"], chosen).max() < 1e-3


def test_decision_conditions_are_the_published_ones():
    for name in DECISIONS:
        cond = getattr(tasks, name)().sample(4000, seed=8).conditions
        levels = (0.08, 0.16, 0.32) if "Dly" in name else (0.01, 0.02, 0.04, 0.08)
        spread(cond["coherence"], [sign * c for c in levels for sign in (1, -1)])
        assert (cond["mean"].min(), cond["mean"].max()) == (
            pytest.approx(0.8, abs=0.01),
            pytest.approx(1.2, abs=0.01),
        )
        apart = np.rad2deg(cond["separation"])
        assert (apart.min(), apart.max()) == (pytest.approx(90, abs=1), pytest.approx(270, abs=1))


def test_dm1_and_dm2_differ_only_in_the_modality():
    """In another implementation DM1 had stimuli of 200 to 600 ms and DM2 of 500 ms."""
    one, two = tasks.DM1(), tasks.DM2()
    assert dict(one.timing) == dict(two.timing)
    assert dict(tasks.DlyDM1().timing) == dict(tasks.DlyDM2().timing)
    a, b = (task.sample(50, seed=9) for task in (noise_free(tasks.DM1), noise_free(tasks.DM2)))
    first, second = one.channels["modality_1"], one.channels["modality_2"]
    np.testing.assert_array_equal(a.render(None)[:, first], b.render(None)[:, second])
    assert not a.render(None)[:, second].any()
    assert not b.render(None)[:, first].any()


@pytest.mark.parametrize("name", ["CtxDM1", "CtxDM2", "CtxDlyDM1", "CtxDlyDM2"])
def test_in_context_tasks_the_other_modality_is_uninformative(name):
    """A subject that follows the irrelevant modality is correct in half of the trials.

    3,000 trials, five SDs are 4.6 %.
    """
    cond = getattr(tasks, name)().sample(3000, seed=10).conditions
    agree = (cond["coherence"] > 0) == (cond["distracting_coherence"] > 0)
    assert agree.mean() == pytest.approx(0.5, abs=0.046)


def test_multisensory_strengths_average_to_the_ones_that_decide():
    task = tasks.MultiDM()
    batch = task.sample(1000, seed=11)
    strengths = task.strengths(batch.conditions)
    for k, sign in ((1, 1), (2, -1)):
        both = np.stack([strengths[m, k] for m in (1, 2)])
        mean = batch.conditions["mean"] + sign * batch.conditions["coherence"]
        np.testing.assert_allclose(both.mean(axis=0), mean)
        apart = np.abs(both[0] - both[1]) / mean
        assert apart.min() == pytest.approx(0.2, abs=0.01)
        assert apart.max() == pytest.approx(0.8, abs=0.01)
        assert (both[0] > both[1]).mean() == pytest.approx(0.5, abs=0.08)


# ---------------------------------------------------------------------- matching


@pytest.mark.parametrize("name", MATCHES)
def test_correct_withholding_is_correct_and_rewarded(name):
    """In another implementation it was neither, so an oracle was correct in half of the trials."""
    task = getattr(tasks, name)()
    record = run(task, "oracle", 400, seed=12)
    withheld = record["choice"] == -1
    assert withheld.mean() == pytest.approx(0.5, abs=0.125)
    assert (record["outcome"][withheld] == "correct").all()
    assert (record["reward"][withheld] == 1).all()
    rest = run(task, "rest", 400, seed=12)
    assert rest["performance"].mean() == pytest.approx(0.5, abs=0.125)
    np.testing.assert_array_equal(rest["performance"], rest["direction"] == -1)


@pytest.mark.parametrize("name", ["DMC", "DNMC"])
def test_categories_are_the_half_rings(name):
    """In another implementation the boundary was off by one unit: 7 % of the trials."""
    batch = getattr(tasks, name)().sample(2000, seed=13)
    sample, test = (
        np.rint(np.rad2deg(batch.conditions[key])).astype(int) for key in ("sample", "test")
    )
    spread(sample, range(18, 360, 36))
    spread(test, range(18, 360, 36))
    match = (sample < 180) == (test < 180)
    np.testing.assert_array_equal(batch.notes["direction"] >= 0, match == (name == "DMC"))
    assert len(CATEGORY_DIRECTIONS) == 10


@pytest.mark.parametrize("name", ["DMS", "DNMS"])
def test_directions_match_in_half_of_the_trials_and_else_are_20_degrees_apart(name):
    task = noise_free(getattr(tasks, name))
    batch = task.sample(2000, seed=14)
    ends = np.cumsum(batch.steps)
    apart = []
    for obs, onset in zip(
        np.split(batch.render(None), ends[:-1]), batch.period_steps["fixation"], strict=True
    ):
        both = obs[:, task.channels["modality_1"]] + obs[:, task.channels["modality_2"]]
        apart.append(circular_distance(*Ring(32).population_vector(both[[onset, -1]])))
    match = np.array(apart) < 1e-3
    assert match.mean() == pytest.approx(0.5, abs=0.056)
    assert np.rad2deg(np.array(apart)[~match].min()) > 19.9
    np.testing.assert_array_equal(batch.notes["direction"] >= 0, match == (name == "DMS"))


# ---------------------------------------------------------------------- timing


def played(name, period, trials=3000):
    task = getattr(tasks, name)(dt=10)
    return task.sample(trials, seed=15).period_steps[period] * 10


@pytest.mark.parametrize(
    ("name", "period", "low", "high"),
    [
        ("Go", "fixation", 500, 1500),
        ("Anti", "stimulus", 500, 1500),
        ("RTGo", "fixation", 500, 2500),
        ("RTAnti", "fixation", 500, 2500),
        ("DM1", "fixation", 100, 400),
        ("CtxDlyDM1", "pause", 100, 300),
    ],
)
def test_uniform_durations(name, period, low, high):
    ms = played(name, period)
    assert low <= ms.min() < low + 20
    assert high - 20 < ms.max() <= high
    assert ms.mean() == pytest.approx(
        (low + high) / 2, abs=5 * (high - low) / np.sqrt(12 * len(ms))
    )


@pytest.mark.parametrize("name", RULES)
def test_drawn_durations_are_the_published_sets(name):
    """Delays of DlyGo and the decisions, and durations of the decisions."""
    known = {
        "delay": (200, 400, 800, 1600),
        "stimulus1": (300,),
        "stimulus2": (300,),
        "response": (500,),
    }
    if name in DECISIONS and "Dly" not in name:
        known["stimulus"] = (400, 800, 1600)
    periods = TaskView(getattr(tasks, name)()).period_names
    for period in set(known) & set(periods):
        spread(played(name, period), known[period])


def test_installed_under_its_old_names_too():
    from neurogym_core import UnknownTaskError

    assert make_task("yang19/CtxDM1-v0") == tasks.CtxDM1()
    with pytest.raises(UnknownTaskError, match="CtxDM1-v0"):
        make_task("yang19.ctxdm1-v0")


@pytest.mark.parametrize("name", ["DMC", "DNMC"])
def test_the_declared_evidence_of_categories_is_the_distance_from_the_boundary(name):
    task = noise_free(getattr(tasks, name))
    conditions = dict(task.sample(300, seed=3).conditions)
    evidence = TaskView(task).evidence(conditions)
    assert set(np.abs(evidence).round(6)) == {18, 54, 90}
    assert ((evidence > 0) == (TaskView(task).answer(conditions) >= 0)).all()
    nearer = np.rad2deg(np.minimum(*(conditions[one] for one in ("sample", "test"))))
    first = (conditions["sample"] < 1) & (conditions["test"] < 1)  # 18 and 54 degrees
    assert first.any()
    assert np.abs(evidence)[first] == pytest.approx(nearer[first])
