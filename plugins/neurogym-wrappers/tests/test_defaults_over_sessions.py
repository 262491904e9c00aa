"""The defaults of every wrapper with blocks, a schedule or a window have the documented effect
within 2,000 trials of one subject (20 sessions) at most, in `run` and in `Dataset`.

False alarms: frequencies are compared at 5 standard errors, below 1e-6 a comparison and below 1e-4
for all of this file. Lengths of blocks are exact. Chance alone fails the number of generations with
a probability of 5e-5, and that of mappings below 1e-5."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np
import pytest
from neurogym_wrappers import (
    AdaptiveNoise,
    AnswerProbabilities,
    CatchTrials,
    Curriculum,
    EvolvingHistory,
    Mixture,
    Schedule,
    SideBias,
    Transfer,
    TrialHistory,
    VariableChoices,
    VariableMapping,
)
from small_tasks import Choosing, Going

from neurogym_core import (
    Choice,
    Dataset,
    InvalidValueError,
    NotSupportedError,
    OneHot,
    Ring,
    Task,
    run,
)

TRIALS = 2000
Columns = Mapping[str, np.ndarray]


class Short(Choosing):
    """Three choices in short trials, in sessions of the default length."""

    timing: ClassVar = {"fixation": 100, "stimulus": 100, "decision": 100}


class Withholding(Going):
    """Go or withhold, in short trials."""

    timing: ClassVar = {"fixation": 100, "stimulus": 100, "decision": 100}


class Matching(Task):
    """Move to the direction of a match on a ring of 32 units, and rest after a non-match."""

    timing: ClassVar = {"test": 100, "decision": 100}

    def define(self):
        self.ring = Ring(32)
        self.observe(test=self.ring, match=1)
        self.act(fixate=1, move=self.ring)
        self.vary(direction=Choice(32), match=Choice(2))
        self.correct_choice(lambda drawn: np.where(drawn["match"] == 1, drawn["direction"], -1))

    def new_trial(self, trial):
        trial.periods("test", "decision")
        trial.show("test", self.ring.cosine(trial["direction"]), during="test")
        trial.show("match", trial["match"], during="test")
        trial.answer("move", trial.correct_choice, during="decision")


def played(task: Task, trials: int = TRIALS) -> Columns:
    record = run(task, "oracle", trials, num_envs=1, seed=0)
    assert record["session"].max() == trials // 100 - 1
    return {name: record[name] for name in record.columns}


def supervised(task: Task, trials: int = TRIALS) -> Columns:
    data = Dataset(task, 1, seed=0)
    batches = [next(data).conditions for _ in range(trials)]
    return {name: np.concatenate([one[name] for one in batches]) for name in batches[0]}


PLAYERS = pytest.mark.parametrize("play", [played, supervised])


def share_is(hits: np.ndarray, p: float) -> bool:
    return bool(abs(hits.mean() - p) <= 5 * np.sqrt(p * (1 - p) / hits.size))


def onsets(block: np.ndarray) -> np.ndarray:
    """Trials on which a block begins, without the first."""
    return np.flatnonzero(block[1:] != block[:-1]) + 1


def assert_onsets_every(length: int, block: np.ndarray) -> None:
    np.testing.assert_array_equal(onsets(block), np.arange(length, len(block), length))


# ---------------------------------------------------------------------- the defaults


@PLAYERS
def test_contexts_of_trial_history_alternate_every_200_trials(play):
    shown = play(TrialHistory(Short(), contexts=("repeating", "alternating")))
    assert_onsets_every(200, shown["history"])
    same = shown["side"][1:] == shown["side"][:-1]
    within = np.arange(1, TRIALS) % 100 != 0  # the first trial of a session follows no trial
    for context, p in (("repeating", 0.8), ("alternating", 0.2)):
        assert share_is(same[within & (shown["history"][1:] == context)], p)


@PLAYERS
def test_a_side_bias_changes_every_100_trials(play):
    shown = play(SideBias(Short()))
    assert_onsets_every(100, shown["block"])
    assert set(shown["block"]) == {0, 1, 2}
    for block in range(3):
        assert share_is(shown["side"][shown["block"] == block] == block, 0.8)


@PLAYERS
def test_variable_choices_shows_every_number_of_choices(play):
    shown = play(VariableChoices(Short()))
    assert (onsets(shown["block"]) % 100 == 0).all()
    for block, possible in ((0, {0, 1}), (1, {0, 1, 2})):
        assert set(shown["side"][shown["block"] == block]) == possible


@pytest.mark.slow
@PLAYERS
def test_contexts_of_evolving_history_alternate_and_are_replaced_for_good(play):
    shown = play(EvolvingHistory(Short()))
    assert_onsets_every(200, shown["history"])
    steps = np.diff(shown["generation"])
    assert set(steps) == {0, 1}  # it never starts again
    assert share_is(steps, 0.005)


@PLAYERS
def test_a_schedule_takes_blocks_in_turn_or_advances_with_performance(play):
    blocks = ({"strength": 4}, {"strength": 1}, {"strength": 2})
    np.testing.assert_array_equal(
        play(Schedule(Short(), blocks=blocks))["block"], np.arange(TRIALS) % 3
    )
    np.testing.assert_array_equal(
        play(Schedule(Short(), blocks=blocks, order="performance"), 500)["block"],
        np.minimum(np.arange(500) // 100, 2),  # the oracle meets the criterion at once
    )


@pytest.mark.slow
@PLAYERS
def test_a_mixture_interleaves_tasks_or_advances_with_performance(play):
    mixture = play(Mixture(Short(), other_tasks=(Withholding(),)))
    assert share_is(mixture["task"] == "Short", 0.5)
    advancing = play(Mixture(Short(), other_tasks=(Withholding(),), order="performance"), 400)
    np.testing.assert_array_equal(advancing["task"] == "Short", np.arange(400) < 100)


@PLAYERS
def test_a_transfer_goes_on_to_the_next_task_after_1000_trials(play):
    shown = play(Transfer(Short(), other_tasks=(Withholding(),)))
    np.testing.assert_array_equal(shown["task"] == "Short", np.arange(TRIALS) < 1000)


@PLAYERS
def test_a_curriculum_reaches_the_task_itself(play):
    shown = play(Curriculum(Short(), stages=({"conditions": {"strength": 4}},)), 400)
    np.testing.assert_array_equal(shown["stage"], np.minimum(np.arange(400) // 100, 1))


@PLAYERS
def test_answer_probabilities_hold_in_all_sessions(play):
    shown = play(AnswerProbabilities(Short(), probs=(0.7, 0.2, 0.1)))
    for answer, p in enumerate((0.7, 0.2, 0.1)):
        assert share_is(shown["side"] == answer, p)


@PLAYERS
def test_a_mapping_changes_and_does_not_return_with_each_session(play):
    mapping = play(VariableMapping(Short()))["mapping"]
    np.testing.assert_array_equal(mapping[:30], np.tile([0, 1, 2], (30, 1)))
    changes = np.flatnonzero((mapping[1:] != mapping[:-1]).any(axis=1)) + 1
    assert (np.diff(changes) >= 30).all()
    assert 1 <= len(changes) <= 40  # 2,000 / 129 on average


@pytest.mark.slow
@PLAYERS
def test_adaptive_noise_rises_to_its_highest_level(play):
    shown = play(AdaptiveNoise(Short()), 1000)
    np.testing.assert_array_equal(shown["noise"], np.minimum(np.arange(1000) // 20, 40) * 0.5)


@PLAYERS
def test_one_trial_in_ten_is_a_catch_trial(play):
    assert share_is(play(CatchTrials(Short()))["catch"], 0.1)


# ---------------------------------------------------------------------- longer than a session


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrap", "column"),
    [
        (lambda task, **block: SideBias(task, **block), "block"),
        (lambda task, **block: VariableChoices(task, order="sequence", **block), "block"),
        (lambda task, **block: TrialHistory(task, contexts=("repeating", "clockwise"), **block),
         "history"),
        (lambda task, **block: EvolvingHistory(task, **block), "history"),
        (lambda task, **block: Schedule(task, blocks=({"strength": 4}, {"strength": 1}), **block),
         "block"),
        (lambda task, **block: Mixture(
            task, other_tasks=(Withholding(),), order="sequence", **block), "task"),
    ],
)  # fmt: skip
@PLAYERS
def test_a_block_may_be_longer_than_a_session(
    wrap: Callable[..., Task], column: str, play: Callable[[Task], Columns]
):
    assert_onsets_every(250, play(wrap(Short(), block_length=250), 1000)[column])


def test_subjects_side_by_side_begin_with_different_contexts():
    task = TrialHistory(Short(), contexts=("repeating", "alternating"))
    assert set(next(Dataset(task, 16, seed=0)).conditions["history"]) == set(task.contexts)
    in_turn = TrialHistory(Short(), contexts=task.contexts, order="sequence")
    assert set(next(Dataset(in_turn, 16, seed=0)).conditions["history"]) == {"repeating"}


def test_sessions_that_leave_no_effect_are_refused_with_the_numbers():
    with pytest.raises(NotSupportedError, match=r"1 trial \(trials_per_session=1\)"):
        TrialHistory(Short(trials_per_session=1))
    with pytest.raises(
        InvalidValueError, match="warmup_trials=100, and a session of Short has 100"
    ):
        CatchTrials(Short(), warmup_trials=100)
    assert CatchTrials(Short(trials_per_session=None), warmup_trials=100).warmup_trials == 100


# ---------------------------------------------------------------------- rest and a ring


@pytest.mark.parametrize(
    ("wrapped", "resting"),
    [
        (AnswerProbabilities(Matching()), 1 / 2),
        (TrialHistory(Matching()), 1 / 3),
        (SideBias(Matching(), block_length=1), 1 / 3),
        # Rest is favoured in half of the trials; in the others it has half of the remaining 0.2.
        (EvolvingHistory(Matching(), renewal_rate=1), 0.45),
        (VariableChoices(Matching(), block_length=1), 1 / 2),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_rest_weighs_as_much_as_all_units_of_a_ring_together(wrapped, resting):
    # Trials of 200 sessions; those of a history depend on each other: the margin is about 5
    # standard errors of the chain with the longest memory.
    record = run(wrapped, "oracle", 20_000, num_envs=200, seed=0)
    assert abs((record["match"] == 0).mean() - resting) < 0.04


# ---------------------------------------------------------------------- a shared rule


class Ruled(Short):
    """A task with rule units."""

    rule: int = 0

    def define(self):
        super().define()
        self.observe(fixation=1, stimulus=3, rule=OneHot(4))

    def new_trial(self, trial):
        super().new_trial(trial)
        trial.show("rule", np.eye(4)[self.rule], during=("fixation", "stimulus"))
        trial.show("rule", 0, during="fixation", noise=1.0)


def test_a_mixture_shares_the_rule_units_of_its_tasks():
    mixture = Mixture(Ruled(rule=2), other_tasks=(Ruled(rule=3),))
    assert mixture.channels.size == 8
    batch = mixture.sample(2, seed=0, task=np.array(mixture.labels))
    rule = batch.render(None)[:, mixture.channels["rule"]]
    assert {tuple(row) for row in rule.tolist()} == {(0, 0, 1, 0), (0, 0, 0, 1), (0, 0, 0, 0)}


@pytest.mark.parametrize("other", [Ruled(rule=2), Short()])
def test_a_mixture_adds_rule_units_where_those_of_its_tasks_tell_nothing(other):
    mixture = Mixture(Ruled(rule=2), other_tasks=(other,))
    assert mixture.channels.parts["rule_2"] == OneHot(2)
