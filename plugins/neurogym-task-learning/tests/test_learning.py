"""Learning across trials: facts of the papers, ideals and shortcuts as they are played."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_learning import observers as seen_by
from neurogym_task_learning.baited_foraging import BaitedForaging
from neurogym_task_learning.beads import Beads
from neurogym_task_learning.blocks import KINDS
from neurogym_task_learning.harlow import Harlow
from neurogym_task_learning.hazard_reversal import HazardReversal
from neurogym_task_learning.horizon import Horizon
from neurogym_task_learning.iowa_gambling import CARDS, IowaGambling
from neurogym_task_learning.predictive_inference import PredictiveInference
from neurogym_task_learning.probabilistic_selection import ProbabilisticSelection
from neurogym_task_learning.redrawn_bandit import RedrawnBandit
from neurogym_task_learning.uncoupled_foraging import UncoupledForaging
from neurogym_task_learning.volatile_reversal import VolatileReversal

from neurogym_core import InvalidValueError, Subject, run
from neurogym_core.tools import find_task

IDEALS = {
    RedrawnBandit: seen_by.BanditPlanner,
    HazardReversal: seen_by.ReversalFilter,
    Harlow: seen_by.ObjectMemory,
    BaitedForaging: seen_by.ForagingFilter,
    UncoupledForaging: seen_by.ForagingFilter,
    VolatileReversal: seen_by.VolatilityFilter,
    PredictiveInference: seen_by.ChangePointFilter,
    Horizon: seen_by.MeanOfBandits,
    ProbabilisticSelection: seen_by.SymbolFilter,
    IowaGambling: seen_by.CardReader,
    Beads: seen_by.BeadCounter,
}
ENVS = 100


def played(task, subject, sessions=ENVS, seed=5):
    """Record of whole sessions, or of 50 trials per env of tasks without sessions."""
    trials = (task.trials_per_session or 50) * sessions
    return run(task, subject, trials, num_envs=ENVS, seed=seed)


def over_envs(record, values):
    """Mean of values (n,) of the trials, and its SE over envs."""
    means = np.bincount(record["env"], weights=values) / np.bincount(record["env"])
    return means.mean(), means.std(ddof=1) / np.sqrt(len(means))


def always(action):
    def subject(env, observations):
        return np.full(env.num_envs, action)

    return subject


@pytest.mark.parametrize("task", IDEALS)
def test_the_ideal_observer_reaches_the_ideal_of_the_manifest(task):
    """Within 4 SEs, and the rounding of the manifest: a false alarm in 10**4 of each."""
    stated = find_task(f"learning/{task.__name__}-v0").ideal["value"]
    record = played(task(), IDEALS[task](), 300)
    mean, error = over_envs(record, record["performance"])
    assert mean == pytest.approx(stated, abs=4 * error + 0.0006)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arms", "ideal", "winstay"),
    [
        ("independent", 0.6492, 0.591),
        ("uniform", 0.739, 0.666),
        ("easy", 0.894, 0.817),
        ("medium", 0.740, 0.624),
        ("hard", 0.577, 0.520),
    ],
)
def test_subjects_of_the_bandit_earn_what_the_table_says(arms, ideal, winstay):
    """The ideal of independent arms is exact (dynamic programming), the others were simulated.

    Rewards of the arms that were chosen are compared by their means, which saves their noise;
    limits are 4 SEs of both simulations.
    """
    for subject, expected in ((seen_by.BanditPlanner(), ideal), (seen_by.WinStay(), winstay)):
        record = played(RedrawnBandit(arms=arms), subject, 1000)
        p = record["probability"]
        chosen = np.take_along_axis(p, record.codes()[:, None], axis=1)[:, 0]
        regret, error = over_envs(record, p.max(axis=1) - chosen)
        best = 2 / 3 if arms == "independent" else {"uniform": 0.75, "easy": 0.9, "medium": 0.75,
                                                    "hard": 0.6}[arms]  # fmt: skip
        assert best - regret == pytest.approx(expected, abs=4 * np.hypot(error, 0.003))


@pytest.mark.parametrize(
    ("task", "subject", "expected"),
    [
        (HazardReversal(hazard=0.02), seen_by.ReversalFilter(), 0.905),
        (HazardReversal(), seen_by.ReversalFilter(), 0.835),
        (HazardReversal(hazard=0.1), seen_by.ReversalFilter(), 0.762),
        (HazardReversal(hazard=0.02), seen_by.WinStay(), 0.786),
        (HazardReversal(), seen_by.WinStay(), 0.769),
        (HazardReversal(hazard=0.1), seen_by.WinStay(), 0.738),
        (Harlow(), seen_by.ObjectMemory(), 0.917),
        (Harlow(), seen_by.WinStay(), 0.5),
        (BaitedForaging(), seen_by.Alternation(), 0.61),
        (BaitedForaging(), seen_by.WinStay(), 0.63),
        (BaitedForaging(), always(0), 0.02),
        (UncoupledForaging(), seen_by.WinStay(), 0.83),
        (VolatileReversal(), seen_by.DeltaRule(rate=0), 0.82),
        (VolatileReversal(points=False), seen_by.VolatilityFilter(), 0.921),
        (VolatileReversal(points=False), "random", 0.642),
        (PredictiveInference(), seen_by.FixedRate(), 0.766),
        (PredictiveInference(), seen_by.FixedRate(rate=0), 0.20),
        (IowaGambling(), "random", 0.5),
        (Beads(), seen_by.BeadCounter(lead=1), 0.85),
        (Beads(), "guess", 0.5),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "begin") else None,
)
def test_subjects_earn_what_the_pages_say(task, subject, expected):
    """Limits are 4 SEs, with 0.003 for the other simulation, and the rounding of the page."""
    record = played(task, subject, 200)
    mean, error = over_envs(record, record["performance"])
    assert mean == pytest.approx(expected, abs=4 * np.hypot(error, 0.003) + 0.001)


@pytest.mark.slow
@pytest.mark.parametrize("task", IDEALS)
def test_policies_that_see_nothing_stay_below_half_of_the_way_to_the_ideal(task):
    """From guessing: always the same action, and one action after the other."""
    made = task()
    if made.actions.continuous:
        policies = ["random", seen_by.FixedRate(rate=0)]
    else:
        first = made.actions.size - 2 if made.actions.rest is not None else 0
        policies = [always(first), always(first + 1), seen_by.Alternation()]
    ideal = find_task(f"learning/{task.__name__}-v0").ideal["value"]
    guess, _ = over_envs(*[(r := played(made, "guess")), r["performance"]])
    for policy in policies:
        record = played(made, policy)
        mean, error = over_envs(record, record["performance"])
        assert mean - 4 * error < (guess + ideal) / 2, policy


# ---------------------------------------------------------------------- bandits, reversals


def test_probabilities_stay_over_a_session_and_are_new_in_the_next_one():
    record = run(RedrawnBandit(), "random", 1000, num_envs=1, seed=1)
    p = record["probability"].reshape(10, 100, 2)
    assert (p == p[:, :1]).all()
    assert len(np.unique(p[:, 0], axis=0)) == 10


@pytest.mark.parametrize(("arms", "values"), [("easy", 0.9), ("medium", 0.75), ("hard", 0.6)])
def test_dependent_arms_have_the_probabilities_of_the_papers_on_random_arms(arms, values):
    """4,000 sessions; 5 SEs."""
    p = RedrawnBandit(arms=arms).sample(4000, seed=1).conditions["probability"]
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(p.max(axis=1), values)
    assert (p[:, 0] > 0.5).mean() == pytest.approx(0.5, abs=0.04)


def test_reversals_come_with_the_hazard_and_depend_on_no_choice():
    """20,000 trials: 5 SEs."""
    records = [played(HazardReversal(), who) for who in ("oracle", always(0))]
    for record in records:
        better = record["better"].reshape(ENVS, 200)
        reverses = better[:, 1:] != better[:, :-1]
        assert reverses.mean() == pytest.approx(0.05, abs=0.008)
        later = reverses[:, 1:][reverses[:, :-1]]
        assert later.mean() == pytest.approx(0.05, abs=0.035)
    np.testing.assert_array_equal(records[0]["better"], records[1]["better"])


def test_objects_of_a_problem_stay_for_six_trials_and_never_come_back():
    record = run(Harlow(), "random", 480, num_envs=1, seed=1)
    good = record["good"].reshape(80, 6, 10)
    assert (good == good[:, :1]).all()
    objects = np.concatenate([good[:, 0], record["bad"].reshape(80, 6, 10)[:, 0]])
    assert len(np.unique(objects, axis=0)) == 160
    np.testing.assert_array_equal(record["presentation"], np.tile(np.arange(1, 7), 80))


def test_the_ideal_needs_one_trial_of_a_problem():
    record = played(Harlow(), seen_by.ObjectMemory())
    right = record["performance"].reshape(-1, 6)
    assert right[:, 0].mean() == pytest.approx(0.5, abs=0.04)  # 4,000 problems: 5 SEs
    assert (right[:, 1:] == 1).all()


# ---------------------------------------------------------------------- foraging


def test_pairs_have_the_sum_and_the_ratios_of_the_paper():
    np.testing.assert_allclose(KINDS.sum(axis=1), 0.45, atol=0.001)
    np.testing.assert_allclose(sorted(set(KINDS[:3, 0] / KINDS[:3, 1])), [3, 6, 8], atol=0.04)


def blocks_of(p):
    """Lengths and probabilities of the complete blocks of a session, from (n,) or (n, 2)."""
    p = p.reshape(len(p), -1)
    starts = np.r_[0, np.flatnonzero((np.diff(p, axis=0) != 0).any(axis=1)) + 1]
    return np.diff(starts), p[starts]


def test_blocks_have_the_lengths_of_the_code_and_the_richer_side_changes():
    record = played(BaitedForaging(), "random")
    lengths, changes = [], []
    for p in record["probability"].reshape(ENVS, 400, 2):
        length, kinds = blocks_of(p)
        lengths.append(length)
        richer = np.sign(kinds[:, 1] - kinds[:, 0])
        changes.append(richer[1:] != richer[:-1])
    lengths = np.concatenate(lengths)
    assert np.concatenate(changes).all()
    assert (lengths.min(), lengths.max()) == (40, 80)
    # 40 + E[min(exponential(20), 40)], in whole trials; 600 blocks: 5 SEs are 2.6.
    assert lengths.mean() == pytest.approx(40 + 20 * (1 - np.exp(-2)) - 0.45, abs=2.6)


def test_an_armed_side_stays_armed_until_it_is_chosen():
    record = played(BaitedForaging(), "random")
    armed = record["armed"].reshape(ENVS, 400, 2)
    chosen = record.codes().reshape(ENVS, 400)[:, :-1, None] == (0, 1)
    kept = armed[:, :-1] & ~chosen
    assert armed[:, 1:][kept].all()
    free = ~armed[:, :-1] | chosen
    p = record["probability"].reshape(ENVS, 400, 2)[:, 1:]
    # 60,000 sides that are empty: 5 SEs.
    assert (armed[:, 1:][free]).mean() == pytest.approx(p[free].mean(), abs=0.009)


def test_the_chance_is_the_probability_of_an_armed_side_given_the_choices():
    record = played(BaitedForaging(), "random")
    chance, armed = record["chance"].ravel(), record["armed"].ravel()
    for low in np.arange(0, 0.9, 0.1):
        here = (chance >= low) & (chance < low + 0.1)
        error = 5 * 0.5 / np.sqrt(max(here.sum(), 1))
        assert armed[here].mean() == pytest.approx(chance[here].mean(), abs=error)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("baited", "subject", "expected"),
    [
        (True, "random", 0.348),
        (True, seen_by.Alternation(), 0.382),
        (True, seen_by.WinStay(), 0.384),
        (True, "oracle", 0.411),
        (False, "random", 0.225),
        (False, "oracle", 0.335),
        (False, seen_by.WinStay(), 0.248),
    ],
)
def test_rewards_of_foraging_are_those_of_another_simulation(baited, subject, expected):
    """Whose blocks were uniform from 40 to 80 trials; 4 SEs of both."""
    record = played(BaitedForaging(baited=baited), subject, 300)
    mean, error = over_envs(record, record["reward"])
    assert mean == pytest.approx(expected, abs=4 * np.hypot(error, 0.003))


def test_uncoupled_sides_change_at_their_own_times_and_are_never_both_poor():
    record = played(UncoupledForaging(), "random")
    p = record["probability"].reshape(ENVS, 400, 2)
    assert set(p.ravel()) == {0.1, 0.5, 0.9}
    assert (p.max(axis=2) > 0.1).all()
    lengths = np.concatenate([blocks_of(one[:, k])[0][1:] for one in p for k in (0, 1)])
    assert (lengths.min(), lengths.max()) == (20, 35)
    changes = p[:, 1:] != p[:, :-1]
    assert changes.all(axis=2).sum() < 0.1 * changes.any(axis=2).sum()


# ---------------------------------------------------------------------- outcomes that are shown


def test_phases_have_the_probabilities_of_the_paper_and_reversals_only_in_one():
    record = played(VolatileReversal(), "random")
    volatile = record["volatile"].reshape(ENVS, 290)
    p = record["p_blue"].reshape(ENVS, 290)
    np.testing.assert_allclose(np.abs(p[volatile] - 0.5), 0.3)
    np.testing.assert_allclose(np.abs(p[~volatile] - 0.5), 0.25)
    stable = (~volatile).sum(axis=1)
    assert 100 <= stable.min() < stable.max() <= 140
    within = volatile[:, 1:] == volatile[:, :-1]
    reverses = (p[:, 1:] != p[:, :-1]) & within
    assert not (reverses & ~volatile[:, 1:]).any()
    lengths = np.concatenate(
        [blocks_of(one[phase])[0][1:] for one, phase in zip(p, volatile, strict=True)]
    )
    assert (lengths.min(), lengths.max()) == (25, 45)
    assert 0.3 < volatile[:, 0].mean() < 0.7  # 100 sessions: 4 SEs


def test_outcomes_are_shown_whatever_was_chosen_and_points_are_those_that_are_paid():
    task = VolatileReversal()
    batch = task.sample(200, seed=1)
    shown = batch.shown[:, :, task.channels["right"]]
    outcome = batch.period == batch.period_names.index("outcome")
    right = batch.conditions["right"]
    np.testing.assert_array_equal(shown[:, outcome].argmax(axis=2)[:, 0], right)
    record = played(task, always(0))
    paid = record["amount"][:, 0] / 100 * (record.codes("right") == 0)
    np.testing.assert_allclose(record["reward"], paid, atol=1e-6)


@pytest.mark.parametrize(
    ("subject", "share"),
    [
        # The ideal of the sheet has a fixed hazard and no phases; that with phases earns more.
        (seen_by.VolatilityFilter(), 0.948),
        (seen_by.DeltaRule(rate=0), 0.834),
        (seen_by.DeltaRule(rate=1), 0.813),
        ("random", 0.626),
    ],
)
def test_points_of_subjects_relative_to_one_who_knows_are_those_of_another_simulation(
    subject, share
):
    """The points of a knower of the probabilities are expected ones, so that noise is shared."""
    record = played(VolatileReversal(), subject, 300)
    p, amount = record["p_blue"], record["amount"] / 100
    worth = amount * np.stack([p, 1 - p], axis=1)
    chosen = np.take_along_axis(worth, record.codes()[:, None], axis=1)[:, 0]
    value, error = over_envs(record, chosen / worth.max(axis=1).mean())
    assert value == pytest.approx(share, abs=4 * np.hypot(error, 0.003))


@pytest.mark.parametrize(
    ("sd", "last", "most"), [(5, 13.2, 12.2), (10, 18.0, 16.2), (20, 27.7, 24.5)]
)
def test_errors_of_predictions_are_those_of_another_simulation(sd, last, most):
    """Full Bayes is at least as good as the reduced one of that simulation."""
    for subject, expected in ((seen_by.FixedRate(), last), (seen_by.ChangePointFilter(), most)):
        record = played(PredictiveInference(sd=float(sd)), subject)
        error, spread = over_envs(record, np.abs(record["choice"] - record["number"]))
        if subject.__class__ is seen_by.FixedRate:
            assert error == pytest.approx(expected, abs=4 * spread + 0.1)
        else:
            assert error < expected + 2 * spread


def test_means_change_with_the_hazard_and_not_in_the_first_three_trials():
    """20,000 trials; 5 SEs."""
    mean = played(PredictiveInference(), "rest")["mean"].reshape(ENVS, 200)
    changes = mean[:, 1:] != mean[:, :-1]
    lengths = np.concatenate([np.diff(np.flatnonzero(one)) for one in changes])
    assert lengths.min() == 4
    assert lengths.mean() == pytest.approx(3 + 10, abs=1.3)
    number = played(PredictiveInference(), "rest")["number"]
    assert (number == np.rint(number)).all()
    assert 0 <= number.min() < number.max() <= 300


def test_the_learning_rate_of_the_ideal_rises_with_the_error_and_falls_after_a_change():
    record = played(PredictiveInference(), seen_by.ChangePointFilter())
    guess, number = (record[name].reshape(ENVS, 200) for name in ("choice", "number"))
    error = (number - guess)[:, :-1]
    rate = np.diff(guess, axis=1) / np.where(error == 0, np.nan, error)
    since = record["since"].reshape(ENVS, 200)[:, :-1]
    large, small = np.abs(error) > 60, (np.abs(error) > 5) & (np.abs(error) < 15)
    assert np.nanmedian(rate[large]) > 0.8
    assert np.nanmedian(rate[small]) < 0.5
    assert np.nanmedian(rate[small & (since > 8)]) < np.nanmedian(rate[small & (since == 1)]) - 0.1
    fixed = played(PredictiveInference(), seen_by.FixedRate(rate=0.5))
    moved = np.diff(fixed["choice"].reshape(ENVS, 200), axis=1)
    error = (fixed["number"] - fixed["choice"]).reshape(ENVS, 200)[:, :-1]
    np.testing.assert_allclose(moved, 0.5 * error, atol=0.01)


# ---------------------------------------------------------------------- games, symbols, decks, jars


def test_games_have_the_means_and_the_choices_of_the_paper():
    batch = Horizon().sample(4000, seed=1)
    means, known = batch.notes["means"], batch.notes["known"]
    gap = np.abs(means[:, 0] - means[:, 1])
    assert set(gap) == {4, 8, 12, 20, 30}
    assert (np.isin(means, (40, 60)).any(axis=1)).all()
    assert (means[:, 0] > means[:, 1]).mean() == pytest.approx(0.5, abs=0.04)  # 5 SEs
    assert {tuple(one) for one in known} == {(1, 3), (2, 2), (3, 1)}
    assert (known[:, 0] == 2).mean() == pytest.approx(0.5, abs=0.04)
    begins = np.cumsum(batch.steps) - batch.steps
    seen = batch.render(None)[begins[:, None] + np.arange(4), Horizon().channels["imposed"]]
    np.testing.assert_array_equal((seen > 0).sum(axis=1), known)
    away = (100 * seen - means[:, None])[seen > 0]
    assert away.mean() == pytest.approx(0, abs=0.5)
    assert away.std() == pytest.approx(8, abs=0.3)  # some are cut at 1 and 100


def test_the_horizon_is_the_number_of_free_choices():
    record = run(Horizon(), "random", 400, num_envs=10, seed=1)
    free = np.stack([record[f"free{k}.choice"] != "none" for k in range(1, 7)], axis=1)
    np.testing.assert_array_equal(free.sum(axis=1), record["horizon"])


def test_the_first_free_choice_of_the_ideal_is_right_as_often_as_in_another_simulation():
    record = run(Horizon(), seen_by.MeanOfBandits(), 20_000, num_envs=ENVS, seed=2)
    right = record.codes("free1.choice") == record["means"].argmax(axis=1)
    equal = record["known"][:, 0] == 2
    for rows, expected in ((equal, 0.893), (~equal, 0.874)):
        error = np.hypot(0.33 / np.sqrt(rows.sum()), 0.003)
        assert right[rows].mean() == pytest.approx(expected, abs=3 * error)


def test_training_has_each_pair_20_times_per_block_and_the_test_all_pairs_four_times():
    record = run(ProbabilisticSelection(), "random", 240, num_envs=1, seed=1)
    shown = np.stack([record["left"], record["right"]], axis=1)
    pairs = np.array(["".join(sorted(one)) for one in shown])
    for block in range(3):
        names, counts = np.unique(pairs[60 * block : 60 * block + 60], return_counts=True)
        assert (list(names), set(counts)) == (["AB", "CD", "EF"], {20})
    assert set(np.unique(pairs[180:], return_counts=True)[1]) == {4}
    assert len(set(pairs[180:])) == 15
    assert (record["reward"][180:] == 0).all()
    np.testing.assert_array_equal(record["kind"] == "test", np.arange(240) >= 180)


def test_feedback_is_complementary_and_has_the_probabilities_of_the_paper():
    """6,000 choices of each pair; 5 SEs."""
    record = played(ProbabilisticSelection(), "oracle")
    trained = record["kind"] == "train"
    for pair, p in (("AB", 0.8), ("CD", 0.7), ("EF", 0.6)):
        here = trained & np.isin(record["left"], list(pair))
        assert record["reward"][here].mean() == pytest.approx(p, abs=0.033)
    other = played(ProbabilisticSelection(), lambda env, seen: 1 - env.target)
    np.testing.assert_array_equal((record["reward"] + other["reward"])[trained], 1)


def test_the_first_20_trials_of_a_pair_are_learned_as_in_another_simulation():
    record = played(ProbabilisticSelection(), seen_by.SymbolFilter(), 400)
    first = (record["kind"] == "train") & (record["trial"] % 240 < 60)
    for pair, expected in (("AB", 0.932), ("CD", 0.862), ("EF", 0.714)):
        here = first & np.isin(record["left"], list(pair))
        mean, error = over_envs(record[np.flatnonzero(here)], record["performance"][here])
        assert mean == pytest.approx(expected, abs=4 * np.hypot(error, 0.003))


def test_decks_have_the_gains_and_losses_of_the_paper():
    np.testing.assert_array_equal(CARDS.sum(axis=1), [-250, -250, 250, 250])
    np.testing.assert_array_equal((CARDS < [[100], [100], [50], [50]]).sum(axis=1), [5, 1, 5, 1])


def test_ten_cards_of_a_deck_have_all_its_losses():
    record = run(IowaGambling(), always(2), 100, num_envs=1, seed=3)
    deck = record["decks"][0, 2]
    for ten in np.rint(1000 * record["reward"]).reshape(10, 10):
        np.testing.assert_array_equal(np.sort(ten), np.sort(CARDS[deck]))


def test_a_card_that_is_not_taken_stays_on_its_deck():
    record = run(IowaGambling(), "random", 100, num_envs=1, seed=4)
    card, choice = record["card"], record.codes()
    for place in range(4):
        left = choice[:-1] != place
        np.testing.assert_array_equal(card[1:, place][left], card[:-1, place][left])


def test_beads_have_the_colour_of_the_jar_in_85_percent_and_cost_what_is_said():
    """20 x 5,000 beads: 5 SEs."""
    batch = Beads().sample(5000, seed=1)
    typical = batch.notes["beads"] == batch.conditions["jar"][:, None]
    assert typical.mean() == pytest.approx(0.85, abs=0.006)
    record = run(Beads(), seen_by.BeadCounter(), 2000, num_envs=ENVS, seed=1)
    right = record.codes() == record.codes("jar")
    np.testing.assert_allclose(record["reward"], right - 0.02 * record["steps"], atol=1e-6)
    assert record["steps"].mean() == pytest.approx(2.7, abs=0.15)
    assert run(Beads(), "rest", 20, seed=1)["reward"].mean() == pytest.approx(-0.4)


def test_the_beads_that_are_seen_are_those_of_the_record():
    env_beads = []

    def watch(env, observations):
        env_beads.append(observations[0, env.task.channels["bead"]].argmax())
        return np.zeros(env.num_envs, int)

    record = run(Beads(), watch, 1, num_envs=1, seed=2)
    np.testing.assert_array_equal(env_beads[:20], record["beads"][0])


def test_more_beads_are_drawn_if_they_tell_less_or_cost_less():
    drawn = [
        run(Beads(**given), seen_by.BeadCounter(), 1000, num_envs=ENVS, seed=1)["steps"].mean()
        for given in ({}, {"cost": 0.01}, {"share": 0.6}, {"share": 0.6, "cost": 0.01})
    ]
    assert drawn[0] + 1 < min(drawn[1:3])
    assert drawn[2] + 1 < drawn[3]


@pytest.mark.parametrize(
    ("task", "wrong"),
    [
        (RedrawnBandit, {"arms": "equal"}),
        (HazardReversal, {"hazard": 1.5}),
        (HazardReversal, {"p_worse": 0.9}),
        (Harlow, {"features": 0}),
        (UncoupledForaging, {"values": (0.1, 0.9)}),
        (VolatileReversal, {"p_stable": 0.3}),
        (PredictiveInference, {"sd": 0.0}),
        (Beads, {"share": 0.4}),
        (Beads, {"cost": 0.1}),
    ],
)
def test_impossible_parameters_are_refused(task, wrong):
    with pytest.raises(InvalidValueError, match=task.__name__):
        task(**wrong)


class Leaver(Subject):
    """Leaves its place at random after a net loss of more than 100; remembers nothing else."""

    def begin(self, env):
        self.place = self.rng.integers(4, size=env.num_envs)

    def __call__(self, env, observations):
        moved = (self.place + self.rng.integers(1, 4, size=len(self.place))) % 4
        self.place = np.where(env.last_reward < -0.1, moved, self.place)
        return self.place


def test_leaving_after_large_losses_earns_what_the_page_of_the_gambling_task_says():
    # The SE of 80 sessions is below 0.01.
    earned = run("learning/IowaGambling-v0", Leaver(), 8000, seed=1)["performance"].mean()
    assert abs(earned - 0.94) < 0.03
