"""Priced choices that join a slot with a right answer: a sure bet beside the answers."""

from __future__ import annotations

import numpy as np
import pytest

from neurogym_core import Choice, Task, TaskEnv, run
from neurogym_core.errors import TrialLayoutError

BETS = ("withheld", "offered")


class SureBet(Task):
    """Answer, or take a sure bet in half of the trials."""

    bet_first: bool = False
    rewards = {"miss": -0.5}

    def define(self):
        self.observe(fixation=1)
        self.act(fixate=1, choose=2, sure=1)
        self.vary(right=Choice(2), bet=Choice(BETS))
        self.correct_choice("right")

    def new_trial(self, trial):
        trial.periods("wait", "decision", wait=200, decision=200)
        offered = trial["bet"] == "offered"
        verbs = [
            lambda: trial.answer("choose", trial["right"], during="decision"),
            lambda: trial.offer(
                "sure", 0.5, during="decision", where=offered, slot="choose", miss=-9
            ),
        ]
        for verb in verbs[::-1] if self.bet_first else verbs:
            verb()


@pytest.fixture(params=[False, True], ids=["answer first", "bet first"])
def task(request):
    return SureBet(bet_first=request.param)


def test_the_right_answer_remains_the_target(task):
    batch = task.sample(40, seed=0)
    decision = batch.target[:, batch.period == 1]
    np.testing.assert_array_equal(
        decision, np.broadcast_to(1 + batch.conditions["right"][:, None], decision.shape)
    )


def test_a_miss_costs_what_the_answer_sets_not_the_bet(task):
    np.testing.assert_array_equal(task.sample(40, seed=0).table("miss_reward")[:, 0], -0.5)


@pytest.mark.parametrize(
    ("action", "bet", "choice", "reward"),
    [(1, "offered", 0, 1), (3, "offered", 2, 0.5), (3, "withheld", -1, -0.7)],
)
def test_choices_are_numbered_from_the_first_answer(task, action, bet, choice, reward):
    env = TaskEnv(task)
    env.reset(seed=0, options={"conditions": {"right": 0, "bet": bet}})
    for act in (0, 0, action, action):
        *_, info = env.step(act)
        if info["new_trial"]:
            break
    assert info["trial"]["choice"] == choice
    assert info["trial"]["reward"] == pytest.approx(reward)


class BetAlone(Task):
    """An answer in some trials, and only a bet in the others."""

    rewards = {"miss": -0.5}

    def define(self):
        self.observe(fixation=1)
        self.act(fixate=1, choose=2, sure=1)
        self.vary(bet=Choice(BETS))

    def new_trial(self, trial):
        trial.periods("decision", decision=200)
        offered = trial["bet"] == "offered"
        trial.answer("choose", 1, during="decision", where=~offered)
        trial.offer("sure", 0.5, during="decision", where=offered, slot="choose", miss=-2)


def test_priced_choices_alone_set_all_terms_of_a_slot():
    batch = BetAlone().sample(40, seed=0)
    offered = batch.conditions["bet"] == "offered"
    assert 0 < offered.sum() < 40
    np.testing.assert_array_equal(batch.table("miss_reward")[:, 0], np.where(offered, -2, -0.5))
    np.testing.assert_array_equal(batch.target[:, 0], np.where(offered, 3, 2))


class TwoOffers(Task):
    """Two groups with prices answer one slot; either may be the better one."""

    safe_first: bool = False
    timing = {"decision": 200, "paid": 200, "unpaid": 200}

    def define(self):
        self.observe(fixation=1)
        self.act(fixate=1, choose=("left", "right"), safe=1)
        self.vary(left=Choice((1, 4)), sure=Choice((2, 3)))

    def new_trial(self, trial):
        trial.periods("decision", "paid", "unpaid", then={"paid": "end"})
        amounts = np.stack([trial["left"], np.zeros(trial.n)], axis=1)
        verbs = [
            lambda: trial.offer(
                "choose", amounts, during="decision", slot="bet", then=["paid", "unpaid"]
            ),
            lambda: trial.offer("safe", trial["sure"], during="decision", slot="bet"),
        ]
        for verb in verbs[::-1] if self.safe_first else verbs:
            verb()


@pytest.fixture(params=[False, True], ids=["two arms first", "the safe arm first"])
def offers(request):
    return TwoOffers(safe_first=request.param)


def test_the_best_paid_of_all_choices_of_a_slot_is_the_target(offers):
    batch = offers.sample(40, seed=0)
    best = np.where(batch.conditions["left"] == 4, 1, 3)
    assert {1, 3} == set(best.tolist())
    decision = batch.target[:, batch.period == 0]
    np.testing.assert_array_equal(decision, np.broadcast_to(best[:, None], decision.shape))
    record = run(offers, "oracle", 40, seed=0)
    assert (record["performance"] == 1).all()
    assert set(record["choice"]) == {"left", "safe"}


def test_the_best_paid_choice_decides_where_the_trials_of_a_dataset_go(offers):
    batch = offers.sample(40, seed=0)
    paid = batch.conditions["left"] == 4
    goto = batch.table("target_goto")[:, 0]
    assert (goto[paid] == 1).all()
    assert (goto[~paid] == goto[~paid][0]).all()
    assert goto[~paid][0] != 1


def test_one_of_equally_paid_choices_is_the_target_whatever_the_order_of_the_calls():
    targets = [
        TwoOffers(safe_first=first, conditions={"left": 2, "sure": 2}).sample(5, seed=0).target
        for first in (False, True)
    ]
    np.testing.assert_array_equal(*targets)
    assert (targets[0][:, 0] == 1).all()


class Poked(Task):
    """A poke starts the trial; only the choice after it counts."""

    timing = {"ready": 300, "choice": 200}

    def define(self):
        self.observe(light=1)
        self.act(rest=1, poke=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("ready", "choice")
        trial.show("light", 1, during="choice")
        trial.answer("poke", 0, "ready", slot="start", then="choice", correct=0, scored=False)
        trial.answer("choose", trial["side"], during="choice")


class Wrong:
    """Pokes, and chooses the other side."""

    def __call__(self, env, observations):
        return np.where(env.target >= 2, 5 - env.target, env.target)


def test_a_slot_that_is_not_scored_counts_neither_in_performance_nor_in_the_outcome(kernel):
    right, wrong, idle = (run(Poked, who, 20, seed=0) for who in ("oracle", Wrong(), "rest"))
    assert (right["performance"] == 1).all()
    assert (wrong["performance"] == 0).all()
    assert set(wrong["outcome"]) == {"error"}
    assert set(wrong["start.outcome"]) == {"correct"}
    assert set(idle["outcome"]) == {"miss"}


def test_calls_that_open_one_slot_must_agree_on_whether_it_is_scored():
    class Both(Poked):
        def new_trial(self, trial):
            trial.periods("ready", "choice")
            trial.answer("choose", trial["side"], during="ready", scored=False)
            trial.answer("choose", trial["side"], during="choice")

    with pytest.raises(TrialLayoutError, match="scored=False; give both calls the same scored="):
        Both()


class Needed(Task):
    """The choice counts only if the poke before it was right."""

    timing = {"ready": 300, "choice": 200}

    def define(self):
        self.observe(light=1)
        self.act(rest=1, poke=2, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("ready", "choice")
        trial.show("light", 1, during="choice")
        trial.answer("poke", 0, during="ready", slot="start", then="wait")
        trial.answer("choose", trial["side"], during="choice", slot="end", needs="start")


@pytest.mark.parametrize(("poke", "outcome"), [(1, "correct"), (2, "error")])
def test_an_answer_that_needs_another_one_is_correct_only_after_it(kernel, poke, outcome):
    def subject(env, observations):
        return np.where(observations[:, 0] == 0, poke, env.target)

    record = run(Needed, subject, 20, seed=0)
    assert set(record["start.outcome"]) == {outcome}
    assert set(record["end.outcome"]) == {outcome}


def test_the_moment_of_an_answer_is_the_onset_of_its_window_and_the_reaction_time(kernel):
    """Periods of 300 and 200 ms at a dt of 100 ms; the oracle chooses on the last step."""
    record = run(Needed, "oracle", 5, seed=0)
    for slot, begin in (("start", 0), ("end", 300)):
        expected = record["trial_start"] + begin + record[f"{slot}.reaction_time"]
        np.testing.assert_array_equal(record[f"{slot}.answer_time"], expected)


class BetOfTheFirstAction(SureBet):
    """The group of the bet is declared before those of another slot and of the answers."""

    def define(self):
        self.observe(fixation=1)
        self.act(fixate=1, sure=1, report=2, choose=["left", "right"])
        self.vary(right=Choice(2), bet=Choice(BETS))
        self.correct_choice("right")

    def new_trial(self, trial):
        super().new_trial(trial)
        trial.answer("report", trial["right"], during="wait")


def test_choices_have_names_where_the_group_that_joins_is_declared_first():
    names = run(BetOfTheFirstAction(), "random", 20, seed=0).meta["names"]
    assert names["choose.choice"] == ("sure", "report 0", "report 1", "left", "right")
