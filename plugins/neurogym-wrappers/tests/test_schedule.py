"""`Schedule` and its presets: blocks have their conditions, and the rest of a task does not
change.

False alarms: frequencies are compared at 5 standard errors, below 1e-6 a comparison and below 1e-4
for all of this file."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from neurogym_wrappers import AnswerProbabilities, Schedule, SideBias, TrialHistory, VariableChoices
from small_tasks import (
    Arms,
    Blocked,
    Choosing,
    Computed,
    Going,
    Steering,
    TwoSides,
)

from neurogym_core import (
    Choice,
    Dataset,
    InvalidValueError,
    NotSupportedError,
    Task,
    UnknownNameError,
    make_task,
    run,
)
from neurogym_core.players import TaskView

STRONG_WEAK = ({"strength": 4}, {"strength": 1})


def drawn(
    task: Task, trials: int = 600, sessions: int = 20, seed: int = 0
) -> dict[str, np.ndarray]:
    """Conditions of consecutive trials, (trials, sessions)."""
    rng = np.random.default_rng(seed)
    return task.draw_ahead(TaskView(task).fresh_session(rng, sessions), rng, trials)


def assert_share(hits: np.ndarray, p: float) -> None:
    assert abs(hits.mean() - p) <= 5 * np.sqrt(p * (1 - p) / hits.size) + 1e-12, (hits.mean(), p)


def block_lengths(block: np.ndarray) -> np.ndarray:
    """Lengths of all whole blocks of (trials, sessions)."""
    lengths = [np.diff(np.flatnonzero(np.diff(column) != 0)) for column in block.T]
    return np.concatenate(lengths)


# ---------------------------------------------------------------------- orders


def test_a_sequence_takes_blocks_in_turn():
    conditions = drawn(Schedule(Choosing(), blocks=STRONG_WEAK, block_length=3))
    expected = np.arange(600) // 3 % 2
    np.testing.assert_array_equal(conditions["block"], np.repeat(expected[:, None], 20, axis=1))
    np.testing.assert_array_equal(conditions["strength"], np.where(conditions["block"] == 0, 4, 1))


def test_a_sequence_played_once_stays_with_its_last_block():
    conditions = drawn(Schedule(Choosing(), blocks=STRONG_WEAK, block_length=10, stop_at_last=True))
    assert (conditions["block"] == (np.arange(600) >= 10)[:, None]).all()


def test_a_random_order_follows_its_weights():
    conditions = drawn(Schedule(Choosing(), blocks=STRONG_WEAK, order="random", weights=(3, 1)))
    assert_share(conditions["block"] == 0, 0.75)


def test_a_random_order_without_repeats_always_changes():
    blocks = tuple({"strength": k} for k in (1, 2, 3))
    block = drawn(Schedule(Choosing(), blocks=blocks, order="random", allow_repeats=False))["block"]
    assert (np.diff(block, axis=0) != 0).all()
    following = block[1:][block[:-1] == 0]
    assert_share(following == 1, 0.5)


def test_blocks_last_as_long_as_their_distribution_says():
    block = drawn(
        Schedule(Choosing(), blocks=STRONG_WEAK, block_length={"choice": [4, 8]}), trials=2000
    )["block"]
    lengths = block_lengths(block)
    assert set(lengths) == {4, 8}
    assert_share(lengths == 4, 0.5)


def test_blocks_end_by_chance_after_their_least_length():
    lengths = block_lengths(
        drawn(
            Schedule(Choosing(), blocks=STRONG_WEAK, block_length=5, hazard_rate=0.25), trials=4000
        )["block"]
    )
    assert lengths.min() == 5
    mean, variance = 4 + 4, 0.75 / 0.25**2  # least - 1 + geometric
    assert abs(lengths.mean() - mean) < 5 * np.sqrt(variance / len(lengths))


def test_drawing_one_by_one_gives_blocks_too():
    task = Schedule(Choosing(), blocks=STRONG_WEAK, block_length=7)
    rng = np.random.default_rng(0)
    session = TaskView(task).fresh_session(rng, 3)
    block = np.stack([task.draw(session, rng)["block"] for _ in range(70)])
    np.testing.assert_array_equal(block[:, 0], np.arange(70) // 7 % 2)


def test_performance_leads_up_and_down():
    blocks = tuple({"strength": k} for k in (1, 2, 3, 4))
    up = {"order": "performance", "window": 5, "advance_at": 0.9, "retreat_below": 0.5}
    task = Schedule(Choosing(trials_per_session=None), blocks=blocks, **up)
    assert task.reads_outcomes
    rising = run(task, "oracle", 40, num_envs=1, seed=0)["block"]
    np.testing.assert_array_equal(rising, np.minimum(np.arange(40) // 5, 3))
    assert not run(task, "rest", 40, num_envs=1, seed=0)["block"].any()


# ---------------------------------------------------------------------- conditions of blocks


@pytest.mark.parametrize("task", [Choosing, Computed, Going])
def test_a_block_sets_the_correct_answer_whatever_its_name_in_the_task(task):
    wanted = int(TaskView(task()).answers[-1])
    schedule = Schedule(task(), blocks=({"correct_choice": wanted},))
    conditions = drawn(schedule, trials=50)
    flat = {name: values.reshape(-1, *values.shape[2:]) for name, values in conditions.items()}
    assert (TaskView(schedule).answer(flat) == wanted).all()


def test_the_task_draws_the_conditions_that_a_block_does_not_name():
    conditions = drawn(Schedule(Choosing(), blocks=({"strength": 4}, {"side": 0}), block_length=2))
    first = conditions["block"] == 0
    assert (conditions["strength"][first] == 4).all()
    assert (conditions["side"][~first] == 0).all()
    assert_share(conditions["side"][first] == 0, 1 / 3)
    assert_share(conditions["strength"][~first] == 4, 1 / 4)


def test_blocks_of_the_task_itself_survive():
    conditions = drawn(Schedule(Blocked(), blocks=({"side": 0}, {"side": 1})), trials=40)
    np.testing.assert_array_equal(np.flatnonzero(np.diff(conditions["strength"][:, 0])) % 5, 4)
    np.testing.assert_array_equal(conditions["side"][:, 0], np.arange(40) % 2)


def test_schedules_can_be_stacked():
    inner = Schedule(Choosing(), blocks=STRONG_WEAK, block_length=3)
    both = drawn(Schedule(inner, blocks=({"side": 0}, {"side": 1}), order="random"))
    assert {"block", "block_2"} <= set(both)
    assert (both["strength"] == np.where(both["block"] == 0, 4, 1)).all()
    assert (both["side"] == both["block_2"]).all()


def test_a_history_wraps_a_schedule_and_the_other_way_round():
    one = drawn(TrialHistory(Schedule(Choosing(), blocks=STRONG_WEAK, block_length=3), probs=0.9))
    other = drawn(Schedule(TrialHistory(Choosing(), probs=0.9), blocks=STRONG_WEAK, block_length=3))
    for conditions in (one, other):
        assert_share(conditions["side"][1:] == conditions["side"][:-1], 0.9)
        assert (conditions["strength"] == np.where(conditions["block"] == 0, 4, 1)).all()


def test_the_record_and_the_dataset_know_the_block():
    task = Schedule(Choosing(trials_per_session=None), blocks=STRONG_WEAK, block_length=5)
    record = run(task, "oracle", 40, num_envs=1, seed=0)
    np.testing.assert_array_equal(record["block"], np.arange(40) // 5 % 2)
    batch = next(Dataset(task, 4, 200, seed=0))
    assert (batch.conditions["strength"] == np.where(batch.conditions["block"] == 0, 4, 1)).all()


def test_reset_overrides_a_block_but_cannot_impose_the_label():
    task = Schedule(Choosing(), blocks=STRONG_WEAK, block_length=5)
    assert set(run(task, "oracle", 20, seed=0, conditions={"strength": 2})["strength"]) == {2}
    with pytest.raises(InvalidValueError, match="'block' was imposed, but it only records"):
        run(task, "oracle", 20, seed=0, conditions={"block": 1})
    assert "block" not in task.factorial()
    assert len(task.sample(task.factorial(), seed=0)) == 12


class Pairs(Choosing):
    """A condition of two numbers."""

    def define(self):
        self.observe(fixation=1, stimulus=2)
        self.act(fixate=1, choose=2)
        self.vary(pair=Choice(((1, 2), (2, 1), (3, 1))))
        self.correct_choice(lambda drawn: (drawn["pair"][:, 1] > drawn["pair"][:, 0]).astype(int))

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        trial.show("stimulus", trial["pair"], during="stimulus")
        trial.answer("choose", trial.correct_choice, during="decision")


def test_a_condition_of_several_numbers_is_scheduled():
    pairs = drawn(
        Schedule(Pairs(), blocks=({"pair": [1, 2]}, {"pair": [[2, 1], [3, 1]]}, {})), trials=300
    )["pair"]
    assert pairs.shape == (300, 20, 2)
    assert (pairs[0::3] == [1, 2]).all()
    assert set(map(tuple, pairs[1::3].reshape(-1, 2).tolist())) == {(2, 1), (3, 1)}
    assert len(set(map(tuple, pairs[2::3].reshape(-1, 2).tolist()))) == 3
    with pytest.raises(InvalidValueError, match="several numbers in every trial"):
        Schedule(Pairs(), blocks=({"pair": ["a", "b"]},))


# ---------------------------------------------------------------------- presets


def test_a_side_bias_is_recovered():
    conditions = drawn(SideBias(TwoSides(), probs=0.8, block_length=20))
    for block in (0, 1):
        assert_share(conditions["side"][conditions["block"] == block] == block, 0.8)
    assert set(block_lengths(conditions["block"])) == {20}


def test_rows_of_probabilities_are_recovered():
    rows = ((0.5, 0.3, 0.2), (0.1, 0.1, 0.8))
    conditions = drawn(SideBias(Computed(), probs=rows, block_length=10, hazard_rate=0.5))
    side = (conditions["a"] + conditions["b"]) % 3
    for block, row in enumerate(rows):
        for answer, p in enumerate(row):
            assert_share(side[conditions["block"] == block] == answer, p)


def test_answer_probabilities_are_recovered():
    conditions = drawn(AnswerProbabilities(Choosing(), probs=(0.7, 0.2, 0.1)))
    for answer, p in enumerate((0.7, 0.2, 0.1)):
        assert_share(conditions["side"] == answer, p)
    assert "block" not in conditions


@pytest.mark.parametrize("first", [True, False])
def test_only_some_choices_are_right_in_a_block(first):
    task = VariableChoices(
        Choosing(trials_per_session=None),
        n_choices=(1, 2),
        block_length=30,
        always_first=first,
        weights=(1, 3),
    )
    record = run(task, "oracle", 3000, num_envs=4, seed=0)
    for env in range(4):
        mine = record[record["env"] == env]
        edges = np.flatnonzero(np.diff(mine["block"])) + 1
        for block in np.split(np.arange(len(mine)), edges):
            sides = set(mine["side"][block])
            assert len(sides) <= mine["n_choices"][block[0]]
            assert not first or max(sides) < mine["n_choices"][block[0]]
    assert set(record["n_choices"]) == {1, 2}
    assert record["performance"].mean() == 1


# ---------------------------------------------------------------------- values and refusals


def test_a_schedule_is_a_value_that_says_what_it_is():
    task = Schedule(Choosing(), blocks=STRONG_WEAK, block_length=5)
    assert task == Schedule(Choosing(), blocks=list(STRONG_WEAK), block_length=5)
    assert len({task, pickle.loads(pickle.dumps(task)), copy.deepcopy(task)}) == 1
    assert "strength" in repr(task)
    assert (
        make_task(Choosing, wrap=("schedule", {"blocks": STRONG_WEAK, "block_length": 5})) == task
    )


@pytest.mark.parametrize(
    ("settings", "error", "says"),
    [
        ({}, InvalidValueError, "at least one mapping"),
        ({"blocks": ({"stregth": 1},)}, UnknownNameError, "Did you mean 'strength'"),
        (
            {"blocks": ({"correct_choice": 7},)},
            InvalidValueError,
            "correct_choice=7. Expected whole numbers from 0 to 2",
        ),
        ({"blocks": STRONG_WEAK, "order": "rnd"}, UnknownNameError, "Unknown order"),
        ({"blocks": STRONG_WEAK, "block_length": 0}, InvalidValueError, "at least 1"),
        ({"blocks": STRONG_WEAK, "hazard_rate": 0.0}, InvalidValueError, "above 0, at most 1"),
        (
            {"blocks": STRONG_WEAK, "weights": (1, 2, 3)},
            InvalidValueError,
            "2 numbers of 0 or more",
        ),
        (
            {"blocks": STRONG_WEAK[:1], "order": "random", "allow_repeats": False},
            InvalidValueError,
            "needs two",
        ),
        (
            {"blocks": STRONG_WEAK, "order": "performance", "window": 0},
            InvalidValueError,
            "at least 1 trial",
        ),
    ],
)
def test_impossible_settings_are_refused(settings, error, says):
    with pytest.raises(error, match=says):
        Schedule(Choosing(), **settings)


@pytest.mark.parametrize("preset", [SideBias, AnswerProbabilities, VariableChoices, TrialHistory])
@pytest.mark.parametrize("task", [Arms, Steering])
def test_a_task_without_a_countable_answer_is_refused(preset, task):
    with pytest.raises(
        NotSupportedError, match=f"{preset.__name__} cannot be applied to {task.__name__}: "
    ):
        preset(task())


def test_two_wrappers_that_set_the_same_condition_are_refused():
    with pytest.raises(NotSupportedError, match="two wrappers of Choosing set correct_choice"):
        TrialHistory(SideBias(Choosing()))  # the inner one says what is right
    with pytest.raises(NotSupportedError, match="two wrappers of Choosing set"):
        SideBias(TrialHistory(Choosing()))
    with pytest.raises(NotSupportedError, match=r"the draw\(\) of Blocked imposes strength"):
        Schedule(Blocked(), blocks=STRONG_WEAK)
    with pytest.raises(NotSupportedError, match="imposed with conditions="):
        Schedule(Choosing(conditions={"strength": 1}), blocks=STRONG_WEAK)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: SideBias(TwoSides(), probs=0.5), "makes all blocks equal"),
        (lambda: SideBias(TwoSides(), probs=1.5), "give a probability from 0 to 1"),
        (lambda: SideBias(TwoSides(), probs="much"), "give a probability from 0 to 1"),
        (lambda: AnswerProbabilities(TwoSides()), "draws its answers already"),
        (lambda: VariableChoices(Choosing(), n_choices=(3,)), "not 3 alone"),
        (lambda: VariableChoices(Choosing(), n_choices=(1, 2), weights=(1,)), "one for each of"),
    ],
)
def test_presets_without_an_effect_are_errors(make, says):
    with pytest.raises(InvalidValueError, match=says):
        make()


def test_presets_do_not_take_the_settings_that_they_set_themselves():
    with pytest.raises(UnknownNameError, match="Unknown parameter 'blocks' of SideBias"):
        SideBias(TwoSides(), blocks=STRONG_WEAK)
