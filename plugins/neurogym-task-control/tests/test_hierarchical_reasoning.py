"""HierarchicalReasoning: hidden blocks, displayed intervals, and two answers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from neurogym_task_control.hierarchical_reasoning import RULES, HierarchicalReasoning

from neurogym_core import InvalidValueError, TaskEnv
from neurogym_core.players import TaskView

INTERVALS = (530, 610, 690, 770, 850, 930, 1010, 1090, 1170)
RULE, CHOOSE = 1, 3


def blocks(task: HierarchicalReasoning, trials: int, seed: int) -> list[tuple[str, int]]:
    """Rules and lengths of the successive blocks of one session, the last one unfinished."""
    env = TaskEnv(task)
    env.reset(seed=seed)
    rules = []
    while len(rules) < trials:
        *_, info = env.step(0)
        if info["new_trial"]:
            rules.append(info["trial"]["rule"])
    edges = [0, *(np.flatnonzero(np.array(rules[1:]) != np.array(rules[:-1])) + 1), trials]
    return [(rules[a], b - a) for a, b in itertools.pairwise(edges)]


def play(task: HierarchicalReasoning, rule_action: int, choose_action: int, **conditions) -> dict:
    """The record of a trial with one action in each response window."""
    env = TaskEnv(task)
    env.reset(seed=2, options={"conditions": conditions})
    acts = {"rule_report": rule_action, "decision": choose_action}
    while True:
        *_, info = env.step(acts.get(env.period, 0))
        if info["new_trial"]:
            return info["trial"]


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_oracle_is_always_right_and_paid_once(oracle, dt):
    for trial in oracle(HierarchicalReasoning(dt=dt), 120):
        assert (trial["rule.outcome"], trial["choose.outcome"]) == ("correct", "correct")
        assert (trial["performance"], trial["reward"]) == (1, 1)


def gaps_of(task, batch):
    """Intervals between the flashes, ms, as rendered, and sides of the flashes, each (n,)."""
    observations = np.split(batch.render(None), np.cumsum(batch.steps)[:-1])
    flash = [obs[:, task.channels["flash"]] for obs in observations]
    side = np.array([on.sum(axis=0).argmax() for on in flash])
    gap = np.array([np.diff(np.flatnonzero(on.any(axis=1))).max() - 1 for on in flash]) * task.dt
    np.testing.assert_array_equal(gap, batch.period_steps["interval"] * task.dt)
    return gap, side


def test_the_interval_that_is_shown_decides_the_answer():
    """The interval is read from the observations, in trials without ties."""
    task = HierarchicalReasoning(dt=10, weber=0)
    batch = task.sample(400, seed=3)
    gap, side = gaps_of(task, batch)
    np.testing.assert_array_equal(gap, batch.conditions["interval"])
    answer = batch.target[:, -1] - CHOOSE
    pro = (gap > 850) == (batch.conditions["rule"] == "pro_if_long")
    clear = gap != 850
    assert clear.mean() > 0.8
    np.testing.assert_array_equal(answer[clear], np.where(pro, side, 1 - side)[clear])


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_half_of_the_intervals_are_long_at_any_dt(dt):
    """In an earlier version 55 % were, at dt = 20 and 100 ms. 4,000 trials, five SDs are 4 %."""
    batch = HierarchicalReasoning(dt=dt).sample(4000, seed=3)
    assert np.mean(batch.notes["category"] == "long") == pytest.approx(0.5, abs=0.04)


def test_at_the_default_dt_intervals_differ_by_80_ms():
    """At 100 ms, those of 850 and 930 ms were shown alike."""
    task = HierarchicalReasoning(weber=0)
    steps = task.sample(500, seed=3).period_steps["interval"]
    assert set(np.diff(np.unique(steps * task.dt))) == {80}
    assert len(set(steps)) == len(INTERVALS)


def test_shown_intervals_have_the_weber_fraction():
    """4,000 trials: five SEs of an SD of 0.1 are 0.006."""
    task = HierarchicalReasoning()
    batch = task.sample(4000, seed=3)
    gap, _ = gaps_of(task, batch)
    error = gap / batch.conditions["interval"] - 1
    assert error.std() == pytest.approx(0.1, abs=0.006)
    assert error.mean() == pytest.approx(0, abs=0.008)


def test_an_observer_that_knows_the_rule_misjudges_intervals():
    """20,000 trials: five SDs of a fraction are 1.1 % of 90 %, and 4 % in a ninth of them."""
    task = HierarchicalReasoning()
    batch = task.sample(20_000, seed=3)
    long = batch.period_steps["interval"] * task.dt > 850
    right = long == (batch.notes["category"] == "long")
    assert right.mean() == pytest.approx(0.898, abs=0.011)
    for interval, share in ((770, 0.87), (850, 0.5), (930, 0.79)):
        assert right[batch.conditions["interval"] == interval].mean() == pytest.approx(
            share, abs=0.055
        )


def test_the_declared_answer_is_the_one_of_the_built_trial():
    for dt in (10, 20, 100, 30):
        task = HierarchicalReasoning(dt=dt)
        batch = task.sample(300, seed=4)
        np.testing.assert_array_equal(
            TaskView(task).answer(batch.conditions), batch.target[:, -1] - CHOOSE
        )


def test_an_interval_at_the_threshold_is_long_or_short_by_a_coin():
    task = HierarchicalReasoning(dt=10)
    batch = task.sample(200, seed=5, interval=850)
    np.testing.assert_array_equal(batch.notes["category"], batch.conditions["tie"])
    assert set(batch.conditions["tie"]) == {"long", "short"}


def test_rules_alternate_in_blocks_of_ten_to_twenty_trials():
    found = blocks(
        HierarchicalReasoning(dt=100, trials_per_session=None, timing={"rule_report": 100}),
        1500,
        seed=6,
    )
    lengths = [length for _, length in found[:-1]]
    assert all(a != b for (a, _), (b, _) in itertools.pairwise(found))
    assert set(lengths) <= set(range(10, 21))
    # Mean 15, SD 3.16, about 100 blocks: 4 standard errors, false alarms 1 in 10,000.
    assert abs(np.mean(lengths) - 15) < 4 * 3.16 / np.sqrt(len(lengths))


def test_a_session_has_five_blocks():
    assert HierarchicalReasoning().trials_per_session >= 5 * 20


def test_a_seed_fixes_the_blocks_too():
    task = HierarchicalReasoning(dt=100, timing={"rule_report": 100})
    assert blocks(task, 60, seed=7) == blocks(task, 60, seed=7)
    assert len({tuple(blocks(task, 60, seed=seed)) for seed in range(8)}) > 1


def test_block_lengths_are_parameters():
    found = blocks(
        HierarchicalReasoning(
            dt=100, shortest_block=3, longest_block=3, timing={"rule_report": 100}
        ),
        30,
        seed=8,
    )
    assert [length for _, length in found] == [3] * 10


def test_the_rule_cannot_be_read_before_it_is_asked():
    """Observations are the same under both rules until the flashes, whose side is independent."""
    task = HierarchicalReasoning()
    batch = task.sample(200, seed=9)
    early = batch.shown[:, batch.period <= batch.period_names.index("pause")]
    assert (early == early[:1]).all()
    assert set(zip(batch.conditions["rule"], batch.conditions["side"], strict=True)) == {
        (rule, side) for rule in RULES for side in ("left", "right")
    }


def test_only_both_answers_right_are_paid():
    task = HierarchicalReasoning()
    given = {"rule": "pro_if_long", "side": "left", "interval": 1170}
    right_rule, wrong_rule, right_side, wrong_side = RULE, RULE + 1, CHOOSE, CHOOSE + 1
    outcomes = {
        (right_rule, right_side): ("correct", "correct", 1.0, 1.0),
        (right_rule, wrong_side): ("correct", "error", 0.0, 0.5),
        (wrong_rule, right_side): ("error", "error", 0.0, 0.0),
        (wrong_rule, wrong_side): ("error", "error", 0.0, 0.0),
        (0, right_side): ("miss", "error", 0.0, 0.0),
    }
    for (rule, side), wanted in outcomes.items():
        trial = play(task, rule, side, **given)
        found = (
            trial["rule.outcome"],
            trial["choose.outcome"],
            trial["reward"],
            trial["performance"],
        )
        assert found == pytest.approx(wanted), (rule, side)


def test_every_rule_interval_and_side_has_its_answer():
    task = HierarchicalReasoning()
    for rule in RULES:
        for side in (0, 1):
            for interval in (530, 1170):
                pro = (interval > 850) == (rule == "pro_if_long")
                right = CHOOSE + (side if pro else 1 - side)
                given = {"rule": rule, "side": ("left", "right")[side], "interval": interval}
                trial = play(task, RULE + RULES.index(rule), right, **given)
                assert trial["performance"] == 1, given


def test_acting_outside_the_two_windows_costs():
    env = TaskEnv(HierarchicalReasoning(dt=100))
    env.reset(seed=10)
    paid: dict[str, set] = {}
    for _ in range(60):
        period = env.period
        asked = period in ("rule_report", "decision")
        _, reward, *_ = env.step(env.target if asked else CHOOSE)
        if not asked:
            paid.setdefault(period, set()).add(reward)
    assert paid == {name: {-0.1} for name in ("fixation", "pause", "flash1", "interval", "flash2")}


def test_durations_and_conditions_are_those_declared():
    batch = HierarchicalReasoning(dt=10, weber=0).sample(2000, seed=11)
    ms = {name: steps * 10 for name, steps in batch.period_steps.items()}
    assert set(ms["interval"]) == set(INTERVALS)
    for name, wanted in (
        ("rule_report", 1000),
        ("flash1", 100),
        ("flash2", 100),
        ("decision", 700),
    ):
        assert set(ms[name]) == {wanted}
    assert (ms["fixation"].min(), ms["pause"].min()) == (400, 400)
    assert ms["fixation"].max() <= 800
    assert ms["pause"].max() <= 900


def test_a_rule_given_to_make_is_imposed(oracle):
    task = HierarchicalReasoning(conditions={"rule": "pro_if_long"})
    assert {trial["rule"] for trial in oracle(task, 40)} == {"pro_if_long"}


def test_chance_is_that_of_the_manifest():
    """One of two rules, one of two sides: performance 0, 0.5 or 1, mean 0.375, SD 0.415.

    2,000 trials, 4 standard errors: false alarms 1 in 10,000.
    """
    env = TaskEnv(HierarchicalReasoning(dt=100, timing={"rule_report": 100, "decision": 100}))
    env.reset(seed=12)
    rng, performance = np.random.default_rng(13), []
    acts = {"rule_report": RULE, "decision": CHOOSE}
    while len(performance) < 2000:
        first = acts.get(env.period)
        *_, truncated, info = env.step(0 if first is None else first + int(rng.integers(2)))
        if info["new_trial"]:
            performance.append(info["performance"])
        if truncated:
            env.reset()
    assert abs(np.mean(performance) - 0.375) < 4 * 0.415 / np.sqrt(2000)


def test_single_env_and_vector_env_agree(same_in_both):
    same_in_both(HierarchicalReasoning(dt=100), steps=6000)


@pytest.mark.parametrize("wrong", [{"shortest_block": 0}, {"shortest_block": 30}])
def test_impossible_blocks_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="blocks of"):
        HierarchicalReasoning(**wrong)


@pytest.mark.parametrize("weber", [-0.1, 0.3])
def test_impossible_weber_fractions_are_refused(weber):
    with pytest.raises(InvalidValueError, match="weber="):
        HierarchicalReasoning(weber=weber)


def test_imposed_answers_are_honoured():
    task = HierarchicalReasoning()
    wanted = np.arange(60) % 2
    drawn = task.draw_conditions(np.random.default_rng(9), 60, correct_choice=wanted)
    np.testing.assert_array_equal(task.sample(drawn, seed=10).target[:, -1] - CHOOSE, wanted)


def test_the_declared_evidence_is_the_distance_from_the_threshold_signed_by_the_answer():
    task = HierarchicalReasoning()
    conditions = dict(task.sample(300, seed=3).conditions)
    evidence = TaskView(task).evidence(conditions)
    assert (np.abs(evidence) == np.abs(conditions["interval"] - 850)).all()
    decided = conditions["interval"] != 850
    assert ((evidence > 0) == (TaskView(task).answer(conditions) == 1))[decided].all()
