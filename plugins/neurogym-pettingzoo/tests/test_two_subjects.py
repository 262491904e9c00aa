"""Two subjects in one trial: PettingZoo's interface, the games' pays, and known answers."""

from __future__ import annotations

import pickle
from statistics import NormalDist

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from neurogym_pettingzoo import (
    AgainstEnv,
    JointDecision,
    MatchingPennies,
    MatrixGame,
    PrisonersDilemma,
    SharedEnv,
    SharedTask,
    play,
)
from pettingzoo.test import parallel_api_test, parallel_seed_test

from neurogym_core import (
    Choice,
    InvalidValueError,
    NotSupportedError,
    Uniform,
    UnknownNameError,
    run,
)

TASKS = (MatchingPennies, PrisonersDilemma, MatrixGame, JointDecision)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("trials", [1, 3])
@pytest.mark.filterwarnings("ignore")  # of PettingZoo, about spaces without bounds
def test_the_tests_of_pettingzoo_pass(task, trials):
    parallel_api_test(SharedEnv(task, seed=1, trials_per_session=trials), num_cycles=200)
    parallel_seed_test(lambda: SharedEnv(task, trials_per_session=trials))


@pytest.mark.parametrize("task", TASKS)
def test_both_have_the_same_trial_and_separate_rows(task):
    record = play(task, dict.fromkeys(task.agents, "guess"), 130, seed=2)
    first, second = (record[record["subject"] == agent] for agent in task.agents)
    assert len(first) == len(second) == 130  # over the end of a session
    shared = [name for name in record.columns if name.startswith(("onset.", "offset."))]
    shared += [name for name in ("side", "strength", "trial_start", "steps") if name in record]
    for name in (*shared, "trial", "session"):
        assert np.array_equal(first[name], second[name], equal_nan=first[name].dtype.kind == "f")
    assert (np.diff(first["trial_start"]) > 0).all()
    choice = "choice" if "choice" in record else "joint.choice"
    assert 0.15 < (first[choice] == second[choice]).mean() < 0.85  # neither copies the other


def test_both_see_the_same_evidence_with_separate_noise():
    env = SharedEnv(JointDecision, seed=3, strengths=(1.0,), sigma=2.0)
    seen, sums = env.reset()[0], []
    for _ in range(40):
        total = np.zeros(2)
        for _ in range(16):
            total += [seen[agent][0] for agent in env.possible_agents]
            seen, *_ = env.step(dict.fromkeys(env.possible_agents, 0))
        sums.append(total)
    sums = np.array(sums)
    assert (np.sign(sums[:, 0]) == np.sign(sums[:, 1])).all()
    assert (sums[:, 0] != sums[:, 1]).all()


# ---------------------------------------------------------------------- games


class Player:
    """Chooses by a rule: (choices of the other so far, own choices so far) -> choice."""

    def __init__(self, rule):
        self.rule = rule

    def begin(self, env):
        self.others, self.own, self.was = [], [], ""
        assert env.num_envs == 1

    def __call__(self, env, observations):
        period = env.period.item()
        entered, self.was = period != self.was, period
        if entered and period == "feedback":
            self.others.append(int(observations[0, 1:3].argmax()))
        if not (entered and period == "choose"):
            return np.array([0])
        self.own.append(self.rule(self.others, self.own))
        return np.array([1 + self.own[-1]])


def pays(task, first, second, n=60, **params):
    pair = dict(zip(task.agents, (first, second), strict=True))
    record = play(task, pair, n, seed=1, **params)
    return [record["pay"][record["subject"] == agent] for agent in task.agents]


COOPERATE, DEFECT = 0, 1


def test_the_pays_of_the_prisoners_dilemma_are_those_of_the_matrix():
    def always(choice):
        return Player(lambda others, own: choice)

    for one, other, expected in (
        (COOPERATE, COOPERATE, (3, 3)),
        (COOPERATE, DEFECT, (0, 5)),
        (DEFECT, COOPERATE, (5, 0)),
        (DEFECT, DEFECT, (1, 1)),
    ):
        first, second = pays(PrisonersDilemma, always(one), always(other), 5)
        assert (set(first), set(second)) == ({expected[0]}, {expected[1]})


def test_tit_for_tat_reads_what_the_other_did():
    def tit_for_tat():
        return Player(lambda others, own: others[-1] if others else COOPERATE)

    first, second = pays(PrisonersDilemma, tit_for_tat(), Player(lambda *_: DEFECT))
    assert first.tolist() == [0] + [1] * 59
    assert second.tolist() == [5] + [1] * 59
    both = pays(PrisonersDilemma, tit_for_tat(), tit_for_tat())
    assert set(np.concatenate(both)) == {3}


@pytest.mark.slow
def test_a_habit_is_exploited_in_matching_pennies_and_chance_is_not():
    def alternates(others, own):
        return len(own) % 2

    def predicts(others, own):
        return 1 - others[-1] if others else 0

    matcher, evader = pays(MatchingPennies, Player(predicts), Player(alternates))
    assert matcher[1:].min() == 1
    assert (matcher + evader == 1).all()
    rng = np.random.default_rng(1)
    matcher, _ = pays(
        MatchingPennies, Player(predicts), Player(lambda *_: int(rng.integers(2))), 1000
    )
    assert abs(matcher.mean() - 0.5) < 0.06  # 3.8 standard errors


def test_who_does_not_choose_misses_and_the_other_earns_nothing():
    first, second = pays(
        PrisonersDilemma, Player(lambda *_: DEFECT), "rest", 5, rewards={"miss": -2.0}
    )
    assert set(first) == {0.0}
    assert set(second) == {-2.0}


def test_reaction_times_are_those_of_each():
    class Slow(Player):
        def __call__(self, env, observations):
            asked = env.period.item() == "choose"
            self.count = (getattr(self, "count", 0) + 1) * asked
            return np.array([int(self.count == 4)])

    pair = {"first": Player(lambda *_: 0), "second": Slow(None)}
    record = play(PrisonersDilemma, pair, 4, seed=1)
    times = {a: set(record["reaction_time"][record["subject"] == a]) for a in pair}
    assert times == {"first": {100.0}, "second": {400.0}}


# ---------------------------------------------------------------------- joint decisions


class Observer:
    """Sums the evidence, reports it with confidence above a criterion, and answers by a rule."""

    def __init__(self, rule, criterion):
        self.rule, self.criterion = rule, criterion

    def begin(self, env):
        self.total, self.report = 0.0, None

    def __call__(self, env, observations):
        period, seen = env.period.item(), observations[0]
        if period == "look":
            self.total = self.total + seen[0] if self.report is None else seen[0]
            self.report = None
            return np.array([0])
        if period == "report":
            sure = abs(self.total) > self.criterion
            self.report = int((2 if self.total > 0 else 1) + sure * np.sign(self.total))
            return np.array([3 + self.report])
        if period == "joint":
            return np.array([1 + self.rule(self.report, int(seen[1:5].argmax()))])
        return np.array([0])


def side(report):
    return int(report > 1)


def more_confident(leads):
    def rule(own, other):
        sure = [abs(one - 1.5) > 1 for one in (own, other)]
        if sure[0] != sure[1]:
            return side(own if sure[0] else other)
        return side(own if leads else other)

    return rule


S, SIGMA, N = 0.2, 5.0, 1500
D = S * np.sqrt(800) / SIGMA


def joint(first, second):
    pair = {"first": first, "second": second}
    record = play(JointDecision, pair, N, seed=4, strengths=(S,), sigma=SIGMA)
    mine = record[record["subject"] == "first"]
    return (mine["joint.outcome"] == "correct").mean(), record


@pytest.mark.slow
def test_a_pair_that_shares_its_confidence_is_better_than_one_of_them():
    criterion = 8 * S  # the mean of the sum of 8 looks
    correct, record = joint(
        Observer(more_confident(True), criterion), Observer(more_confident(False), criterion)
    )
    alone = (record["report.outcome"] == "correct").mean()
    phi = NormalDist().cdf
    error = np.sqrt(0.25 / N)
    assert abs(alone - phi(D)) < 3 * error
    # The same rule on numbers drawn here.
    rng = np.random.default_rng(0)
    drawn = rng.normal(D, 1, (200_000, 2))
    sure = np.abs(drawn) > D
    follow = np.where(sure[:, 0] == sure[:, 1], 0, np.where(sure[:, 1], 1, 0))
    expected = (drawn[np.arange(len(drawn)), follow] > 0).mean()
    assert abs(correct - expected) < 3 * error
    assert phi(D) + 3 * error < correct < phi(np.sqrt(2) * D) + 3 * error


@pytest.mark.slow
def test_a_pair_that_does_not_listen_is_paid_only_where_both_are_right():
    own = [Observer(lambda own, other: side(own), 0.0) for _ in range(2)]
    correct, record = joint(*own)
    assert abs(correct - NormalDist().cdf(D) ** 2) < 3 * np.sqrt(0.25 / N)
    first, second = (record[record["subject"] == agent] for agent in ("first", "second"))
    assert (first["joint.outcome"] == second["joint.outcome"]).mean() > 0.99
    assert np.array_equal(first["reward"], second["reward"])


# ---------------------------------------------------------------------- one learner


def test_a_seat_is_an_env_of_gymnasium():
    env = AgainstEnv(PrisonersDilemma, "second", "guess", seed=1, trials_per_session=2)
    check_env(env, skip_render_check=True)
    env.reset(seed=2)
    cut, steps = False, 0
    while not cut:
        *_, _reward, _over, cut, info = env.step(0)
        steps += 1
    assert steps == 20
    assert info["trial"]["outcome"] == "miss"


def test_an_agent_learns_to_exploit_a_habit_from_its_seat():
    """A table of the last choice of the other, updated from the env's rewards alone."""
    env = AgainstEnv(MatchingPennies, "matcher", Player(lambda others, own: len(own) % 2), seed=1)
    rng, values, paid = np.random.default_rng(0), np.zeros((3, 2)), []
    observation, _ = env.reset(seed=1)
    last = choice = 0
    for step in range(3000):
        at_choice = step % 10 == 2
        if at_choice:
            choice = int(rng.integers(2)) if rng.random() < 0.1 else int(values[last].argmax())
        observation, reward, _, cut, _ = env.step(1 + choice if at_choice else 0)
        if observation[1:3].any() and step % 10 == 6:
            values[last, choice] += 0.2 * (reward - values[last, choice])
            last = 1 + int(observation[1:3].argmax())
            paid.append(reward)
        if cut:
            observation, _info = env.reset()
            last = 0
    assert np.mean(paid[-100:]) > 0.9


# ---------------------------------------------------------------------- mistakes


def test_a_task_of_two_is_not_played_by_one():
    with pytest.raises(NotSupportedError, match="Expected pairs"):
        run(PrisonersDilemma(), "guess", 3, seed=1)


def test_wrong_agents_tasks_and_durations_are_errors():
    env = SharedEnv(PrisonersDilemma, seed=1)
    env.reset()
    with pytest.raises(UnknownNameError, match="'third'"):
        env.step({"first": 0, "third": 0})
    with pytest.raises(InvalidValueError, match="Give both"):
        env.step({"first": 0})
    with pytest.raises(InvalidValueError, match="one for each"):
        play(PrisonersDilemma, {"first": "guess"}, 3)
    with pytest.raises(InvalidValueError, match="draws the durations"):
        SharedEnv(PrisonersDilemma, timing={"choose": Uniform(100, 500)})
    with pytest.raises(InvalidValueError, match="Expected a SharedTask"):
        SharedEnv("perceptual/PerceptualDecisionMaking-v0")
    with pytest.raises(InvalidValueError, match="payoffs of shape"):
        MatrixGame(payoffs=((1, 2), (3, 4)))


def test_a_trial_that_ends_for_one_of_the_two_is_an_error():
    class Alone(SharedTask):
        timing = {"go": 500}

        def define(self):
            self.observe(light=1)
            self.act(rest=1, press=1)
            self.vary(light=Choice((0.5, 1.0)))

        def new_trial(self, trial):
            trial.periods("go")
            trial.show("light", trial["light"], "go")
            trial.answer("press", 0, "go")

    env = SharedEnv(Alone, seed=1)
    env.reset()
    with pytest.raises(InvalidValueError, match="ended for one of its subjects"):
        env.step({"first": 1, "second": 0})


def test_an_env_is_pickled_in_the_middle_of_a_trial():
    env = SharedEnv(JointDecision, seed=1)
    env.reset()
    env.step({"first": 0, "second": 0})
    other = pickle.loads(pickle.dumps(env))
    for _ in range(30):
        one, two = (e.step({"first": 2, "second": 4}) for e in (env, other))
        for agent in env.possible_agents:
            assert np.array_equal(one[0][agent], two[0][agent])
            assert one[1] == two[1]
    assert env.record == other.record
    assert isinstance(env.action_space("first"), gymnasium.spaces.Discrete)
