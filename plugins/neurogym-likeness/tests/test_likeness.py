"""Signatures pass and fail where they must: controls with known behaviour.

The verdict "sign yes" has a false-alarm rate of 2.5 % for a subject without the effect (the upper
end of a 95 % interval), "sign no" of 2.5 % for one whose effect is exactly `least`. Controls have
fixed seeds, so that their tests cannot fail by chance; their effects are more than 4 standard
errors from the bounds.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from neurogym_behaviour.behaviour import Behaviour, CannotTellError, Roles
from neurogym_behaviour.measures import Measure
from neurogym_likeness.likeness import command
from neurogym_likeness.likenesses import (
    all_within,
    counted,
    over_seeds,
    range_of,
    score,
    sign_of,
    within,
)
from neurogym_likeness.signatures import Animal, signature_names, signatures
from neurogym_likeness.signatures.model import read_signature
from neurogym_task_learning import observers as learning
from neurogym_task_motivation import observers as motivation
from neurogym_training.playing import play_task

from neurogym_core import InvalidValueError, TrialRecord, UnknownNameError, make_task, run

KNOWN = {one.name: one for one in signatures()}


def effect(value, half):
    return Measure(value, value - half, value + half, 100)


def behaved(name, subject, n=2000, seed=0, **params):
    task = make_task(name, **params)
    played = play_task(task, subject, n, seed=seed)
    return Behaviour(played.record, Roles.of_task(task))


def scored(signature, name, subject, seeds=3, n=2000, **params):
    return score(
        KNOWN[signature],
        {str(seed): behaved(name, subject, n, seed, **params) for seed in range(seeds)},
        str(subject),
        name,
    )


# ---- the data ----


def test_there_are_at_least_fifteen_signatures_each_with_animals_or_the_reason_for_none():
    assert set(signature_names()) == set(KNOWN)
    assert len(KNOWN) >= 15
    for one in KNOWN.values():
        assert bool(one.animals) != bool(one.sign_only)
        assert one.citation
        assert one.doi
        assert one.statistic.endswith(".")
        for animal in one.animals:
            source = one.sources[animal.source]
            assert source["licence"]
            assert source["how"]
            assert "file" in source or "figure" in source
            assert ("commit" in source) == ("file" in source)
            assert animal.n > 0


def test_every_animal_has_the_published_sign_or_its_own_data_cannot_tell():
    for one in KNOWN.values():
        assert all(sign_of(animal, one) != "no" for animal in one.animals), one.name


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('expects = "positive"', 'expects = "up"', "Unknown sign"),
        ("least = 20", "least = 0", "above 0"),
        ('source = "trials"', 'source = "memory"', "Unknown source"),
        ("low = ", "low = 999", "interval"),
        ("title = ", "name = ", "Unknown key"),
    ],
)
def test_a_signature_with_wrong_data_is_refused(tmp_path, old, new, message):
    from neurogym_likeness.signatures import published

    folder = published.__file__.rpartition("/")[0]
    with open(f"{folder}/errors-are-slow.toml", encoding="utf-8") as file:
        text = file.read()
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises((InvalidValueError, UnknownNameError), match=message):
        read_signature(path, lambda behaviour: effect(0, 1))


# ---- verdicts ----


def test_the_sign_is_yes_no_or_cannot_tell():
    one = replace(KNOWN["waiving-gain"], expects="positive", least=0.2)
    assert sign_of(effect(1, 0.5), one) == "yes"
    assert sign_of(effect(0, 0.1), one) == "no"
    assert sign_of(effect(0, 0.5), one) == "cannot tell"
    assert sign_of(Measure(1, 0, np.inf, 9), one) == "cannot tell"
    less = replace(one, expects="negative")
    assert sign_of(effect(-1, 0.5), less) == "yes"
    assert sign_of(effect(1, 0.5), less) == "no"
    none = replace(one, expects="none")
    assert sign_of(effect(0, 0.1), none) == "yes"
    assert sign_of(effect(1, 0.1), none) == "no"
    assert sign_of(effect(0, 0.3), none) == "cannot tell"


def animals_of(*values, half=0.2):
    return [Animal(str(k), one, one - half, one + half, 9, "") for k, one in enumerate(values)]


def test_an_interval_is_within_the_animals_range_outside_or_neither():
    animals = animals_of(1.0, 1.5, 2.0, 2.5, 3.0)
    assert range_of(animals) == pytest.approx((-0.40, 4.40), abs=0.01)  # 2 +- 2.776 * 0.79 * 1.095
    assert within(effect(1.5, 0.5), animals) == "yes"
    assert within(effect(6, 0.5), animals) == "no"
    assert within(effect(4.4, 0.5), animals) == "cannot tell"
    assert within(effect(1, 0.5), []) == ""
    assert within(effect(1, 0.5), animals[:4]) == "too few animals"
    mice = [Animal("140 mice", 1, 0.5, 1.5, 140, "", animals=140)]
    assert within(effect(1, 0.1), mice) == "yes"


def test_a_new_animal_is_outside_the_range_of_the_others_as_often_as_it_says():
    """Of 2,000 populations, 5 %: SD 0.5 %, bounds of 4 SDs."""
    rng = np.random.default_rng(5)
    out = 0
    for *others, new in rng.normal(size=(2000, 6)):
        low, high = range_of(animals_of(*others))
        out += not low < new < high
    assert 0.03 < out / 2000 < 0.07


def test_seeds_on_either_side_of_the_range_are_not_within_it():
    animals = animals_of(1.0, 1.5, 2.0, 2.5, 3.0)
    sides = [effect(-8, 0.1), effect(12, 0.1)]
    assert within(over_seeds(sides), animals) != "no"  # their mean is inside
    assert all_within(sides, animals) == "no"
    assert all_within([effect(2, 0.1), effect(12, 0.1)], animals) == "cannot tell"
    assert all_within([effect(2, 0.1)] * 3, animals) == "yes"


def test_the_interval_over_seeds_contains_the_truth_in_95_percent():
    """Of 2,000 sets of five seeds, 95 % cover: SD 0.5 %, bounds of 4 SDs, 1 of 16,000."""
    rng = np.random.default_rng(3)
    covered = 0
    for values in rng.normal(size=(2000, 5)):
        whole = over_seeds([effect(value, 1) for value in values])
        covered += whole.low <= 0 <= whole.high
    assert abs(covered / 2000 - 0.95) < 0.02


def test_seeds_that_agree_have_the_interval_of_their_trials():
    # Five lapse rates of 0: their spread is 0, but 2,000 trials do not exclude a rate of 0.001.
    whole = over_seeds([Measure(0.0, 0.0, 0.01, 400)] * 5)
    assert (whole.value, whole.low, whole.n) == (0.0, 0.0, 2000)
    assert whole.high == pytest.approx(0.01 / np.sqrt(5))
    # An open end says nothing about the mean.
    assert over_seeds([Measure(0.0, 0.0, np.inf, 400)] * 5).high == 0.0


def test_a_perfect_listener_has_a_lapse_rate_with_an_upper_end():
    found = scored("clicks-lapses", "PoissonClicks-v0", "oracle", seeds=3, n=500).subject
    assert found.value == found.low == 0
    assert 0 < found.high < 0.01


def test_a_subject_without_the_effect_has_the_sign_in_2_5_percent():
    """Waiving gain of a subject that waives at random. 400 records: SD 0.8 %, bound of 4 SDs."""
    rng, n = np.random.default_rng(5), 400
    alarms = 0
    for _ in range(400):
        record = TrialRecord(
            {
                "coherence": rng.choice([3.2, 12.8], n),
                "wager": np.where(rng.random(n) < 0.5, "offered", "withheld"),
                "choice": np.zeros(n, int),
                "outcome": np.where(rng.random(n) < 0.7, "correct", "error"),
            }
        )
        outcome = record["outcome"].astype("<U7")
        outcome[(record["wager"] == "offered") & (rng.random(n) < 0.3)] = "other"
        columns = {name: record[name] for name in record.columns} | {"outcome": outcome}
        found = KNOWN["waiving-gain"].measured(Behaviour(TrialRecord(columns)))
        alarms += sign_of(found, KNOWN["waiving-gain"]) == "yes"
    assert alarms / 400 < 0.025 + 4 * 0.008


@pytest.mark.slow
def test_animals_are_scored_against_the_other_animals():
    found = scored("motion-threshold-people", "RoitmanShadlen-v0", "diffusion", seeds=1)
    animals = [row for row in found.rows if row.kind == "animal"]
    assert len(animals) == 6
    assert {row.within for row in animals} <= {"yes", "no", "cannot tell"}
    assert [row.kind for row in found.rows].count("subject") == 1


def test_a_single_animal_has_no_range_of_others():
    rows = scored("prior-shift", "IBLBlocks-v0", "guess", seeds=1, n=3000).rows
    assert [row.within for row in rows if row.kind == "animal"] == [""]


# ---- controls ----


@pytest.mark.slow
def test_a_diffusion_observer_is_slower_when_weak_and_one_model_fits_it():
    behaviours = {str(k): behaved("RoitmanShadlen-v0", "diffusion", seed=k) for k in range(3)}
    verdicts = {}
    for name in ("slower-when-weak", "better-when-strong", "one-model-for-speed-and-accuracy"):
        found = score(KNOWN[name], behaviours, "diffusion", "RoitmanShadlen-v0")
        verdicts[name] = found.subject.sign
    assert verdicts == dict.fromkeys(verdicts, "yes")
    # Its bound does not fall and its drift does not vary, so its errors are not slow.
    slow = score(KNOWN["errors-are-slow"], behaviours, "diffusion", "RoitmanShadlen-v0")
    assert slow.subject.sign != "yes"


@pytest.mark.slow
def test_a_random_subject_is_not_better_when_the_evidence_is_strong():
    found = scored("better-when-strong", "RoitmanShadlen-v0", "guess", n=4000)
    assert found.subject.sign == "no"
    assert found.subject.within == "too few animals"
    assert not scored("motion-threshold", "RoitmanShadlen-v0", "guess", seeds=1).rows


@pytest.mark.slow
def test_a_random_subject_makes_no_bets_by_confidence_and_does_not_follow_the_prior():
    bets = scored("sure-bets-when-weak", "PostDecisionWager-v0", "guess", seeds=6, n=4000)
    assert bets.subject.sign == "no"
    shift = scored("prior-shift", "IBLBlocks-v0", "guess", seeds=6, n=6000).subject
    assert shift.sign != "yes"
    assert shift.within == "too few animals"  # five mice, pooled


@pytest.mark.slow
def test_only_a_subject_with_a_model_rewards_by_the_transition():
    seeds = range(4)
    interaction, reward = KNOWN["two-step-interaction"], KNOWN["two-step-reward"]
    verdicts = {}
    for name in ("q_learner", "hybrid", "guess"):
        played = {str(k): behaved("DawTwoStep-v0", name, 4000, k) for k in seeds}
        verdicts[name] = (
            score(reward, played, name, "DawTwoStep-v0").subject.sign,
            score(interaction, played, name, "DawTwoStep-v0").subject.sign,
        )
    assert verdicts["hybrid"] == ("yes", "yes")
    assert verdicts["q_learner"][0] == "yes"
    assert verdicts["q_learner"][1] != "yes"
    assert "yes" not in verdicts["guess"]


@pytest.mark.slow
def test_a_planner_responds_to_reward_by_the_transition_alone():
    subject = "hybrid:weight=1"
    assert scored("two-step-interaction", "DawTwoStep-v0", subject, seeds=4).subject.sign == "yes"


@pytest.mark.slow
def test_win_stay_lose_shift_is_predictable_in_a_game():
    found = scored("unpredictable-in-a-game", "MatchingPennies-v0", "win_stay_lose_shift")
    assert found.subject.sign == "no"


def test_signs_that_choices_at_random_have_too_say_so(tmp_path):
    arguments = ["MatchingPennies-v0", "--subject", "guess", "--seeds", "2", "--n-trials", "800"]
    result = CliRunner().invoke(command, [*arguments, "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert result.output.count("Choices at random have this sign too.") == 2
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("Choices at random have this sign too.") == 2


def test_a_clock_without_noise_has_neither_mark_of_interval_timing():
    for name in ("interval-regression", "interval-variability"):
        assert scored(name, "ReadySetGo-v0", "oracle", seeds=2, n=500).subject.sign == "no"


def test_a_subject_that_times_no_interval_is_not_drawn_to_the_mean():
    for name in ("interval-regression", "interval-variability"):
        found = scored(name, "ReadySetGo-v0", "guess", seeds=2, n=300)
        assert "times none" in found.why_not, name


@pytest.mark.slow
def test_a_subject_that_never_withholds_an_answer_has_no_inhibition_function():
    found = {
        (name, subject): scored(name, "StopSignal-v0", subject, seeds=1, n=300).why_not
        for name in ("inhibition-function", "failed-stops-are-fast")
        for subject in ("guess", "oracle")
    }
    assert found == {
        ("inhibition-function", "guess"): "all trials with a stop signal were answered",
        ("inhibition-function", "oracle"): "all trials with a stop signal were withheld",
        ("failed-stops-are-fast", "guess"): (
            "reaction times do not vary: the task, or the subject, fixes them"
        ),
        ("failed-stops-are-fast", "oracle"): (
            "reaction times do not vary: the task, or the subject, fixes them"
        ),
    }


# ---- statistics on simulated behaviour ----


def trials(**columns):
    return Behaviour(TrialRecord(columns))


@pytest.mark.parametrize("pull", [0.0, 0.3])
def test_produced_intervals_that_are_drawn_to_the_mean_are_found(pull):
    rng, wanted = np.random.default_rng(1), np.tile([500.0, 600, 700, 800, 900], 200)
    made = wanted + pull * (700 - wanted) + rng.normal(size=1000) * 0.08 * wanted
    behaviour = trials(
        wanted=wanted, reaction_time=made, choice=np.zeros(1000, int),
        outcome=np.full(1000, "correct"),
    )  # fmt: skip
    assert abs(KNOWN["interval-regression"].measured(behaviour).value - pull) < 0.06
    spread = KNOWN["interval-variability"].measured(behaviour)
    assert spread.low > 0
    assert abs(spread.value - 0.08) < 0.04


@pytest.mark.parametrize("pull", [0.0, 0.2])
def test_a_memory_that_contracts_is_found(pull):
    rng = np.random.default_rng(21)
    first = rng.choice([10.0, 14, 18, 22, 26], 4000)
    second = first + rng.choice([-8.0, 8], 4000)
    noise = rng.logistic(size=4000) * 4
    said = second > (1 - pull) * first + pull * 18 + noise
    behaviour = trials(
        first=first, second=second, choice=said.astype(int),
        outcome=np.where(said == (second > first), "correct", "error"),
    )  # fmt: skip
    found = KNOWN["contraction-bias"].measured(behaviour)
    assert abs(found.value - pull) < 0.08
    assert (found.low > 0) == (pull > 0)


def test_fewer_memories_in_larger_sets_and_their_drift_are_found():
    rng, n = np.random.default_rng(4), 3000
    size, delay = rng.choice([1, 6], n), rng.choice([500.0, 2000], n)
    wanted = rng.integers(0, 180, n)
    sd = np.sqrt(np.where(size == 1, 3, 12) ** 2 + delay / 100)
    choice = (wanted + np.round(rng.normal(size=n) * sd)).astype(int) % 180
    behaviour = trials(
        set_size=size, wanted=wanted, choice=choice, outcome=np.full(n, "other"),
        **{"duration.delay": delay},
    )  # fmt: skip
    assert KNOWN["memory-by-set-size"].measured(behaviour).low > 0
    drift = KNOWN["memory-drift"].measured(behaviour)
    truth = 10 * (2 * np.pi / 180) ** 2
    assert drift.low < truth < drift.high


def test_the_race_between_stopping_and_going_is_found():
    rng, n = np.random.default_rng(6), 3000
    stop, delay = rng.random(n) < 0.3, rng.choice([100.0, 200, 300], n)
    times = 350 + rng.gamma(4, 30, n)
    failed = times < delay + 220
    answered = ~stop | failed
    behaviour = trials(
        stop=stop, ssd=delay, choice=np.where(answered, 1, -1),
        reaction_time=np.where(answered, times, np.nan),
        outcome=np.where(answered & ~stop, "correct", "error"),
    )  # fmt: skip
    assert KNOWN["inhibition-function"].measured(behaviour).low > 0
    assert KNOWN["failed-stops-are-fast"].measured(behaviour).high < 0


def test_the_relative_value_of_two_goods_is_found():
    rng, n = np.random.default_rng(7), 3000
    offer = rng.integers(1, 7, (n, 2))
    worth = np.log(2.2)
    took_b = rng.random(n) < 1 / (1 + np.exp(-3 * (np.log(offer[:, 1] / offer[:, 0]) - worth)))
    behaviour = trials(
        offer=offer, a_choice=np.zeros(n, int), choice=took_b.astype(int),
        outcome=np.full(n, "other"),
    )  # fmt: skip
    found = KNOWN["relative-value"].measured(behaviour)
    assert found.low < worth < found.high
    assert found.low > 0


@pytest.mark.parametrize("optimal", [True, False])
def test_cues_that_are_combined_are_told_from_one_cue_alone(optimal):
    rng, n = np.random.default_rng(8), 9000
    rate = rng.choice([9.0, 11, 12, 13, 14, 16], n) - 12.5
    modality = rng.choice(["visual", "auditory", "both"], n)
    sigma = np.select([modality == "visual", modality == "both"], [2.0, 2 / np.sqrt(2)], 2.0)
    if not optimal:
        sigma[:] = 2.0
    right = rate + rng.normal(size=n) * sigma > 0
    behaviour = trials(
        signed_strength=rate, strength=np.abs(rate), modality=modality,
        side=(rate > 0).astype(int),
        choice=right.astype(int), outcome=np.where(right == (rate > 0), "correct", "error"),
    )  # fmt: skip
    gain = KNOWN["cue-gain"].measured(behaviour)
    assert (gain.low > 0) == optimal
    ratio = KNOWN["cues-as-the-optimum"].measured(behaviour)
    assert sign_of(ratio, KNOWN["cues-as-the-optimum"]) == ("yes" if optimal else "no")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "task", "subject", "sign"),
    [
        ("matching-of-choices", "BaitedForaging-v0", learning.ForagingFilter(), "yes"),
        ("matching-of-choices", "BaitedForaging-v0", learning.Alternation(), "no"),
        ("matching-of-choices", "BaitedForaging-v0", "random", "no"),
        (
            "faster-learning-when-volatile",
            "VolatileReversal-v0",
            learning.VolatilityFilter(),
            "yes",
        ),
        ("faster-learning-when-volatile", "VolatileReversal-v0", learning.DeltaRule(), "no"),
        ("exploration-with-horizon", "Horizon-v0", learning.MeanOfBandits(0, 6, 4, 4), "yes"),
        ("exploration-with-horizon", "Horizon-v0", learning.MeanOfBandits(), "no"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_signatures_of_learning_are_found_where_they_are(name, task, subject, sign):
    """A bonus for the unknown makes a horizon count, and noise in all choices does not."""
    n = 2000 if task == "Horizon-v0" else 3000  # games of up to ten steps
    assert scored(name, task, subject, n=n).subject.sign == sign


@pytest.mark.parametrize(
    ("name", "task", "subject", "sign"),
    [
        ("later-rewards-count-less", "DelayDiscounting-v0", motivation.Discounter(), "yes"),
        ("later-rewards-count-less", "DelayDiscounting-v0", motivation.Discounter(kind="none"),
         "no"),
        ("later-rewards-count-less", "DelayDiscounting-v0", "guess", "no"),
        ("losses-weigh-more", "MixedGambles-v0", motivation.Gambler(1.93, 0.5), "yes"),
        ("losses-weigh-more", "MixedGambles-v0", motivation.Gambler(1.93), "yes"),
        ("losses-weigh-more", "MixedGambles-v0", motivation.Gambler(1, 0.5, least=6), "no"),
        ("losses-weigh-more", "MixedGambles-v0", motivation.Gambler(1, least=6), "no"),
        ("risk-is-avoided", "RiskyBandit-v0", motivation.RiskLearner(0.1, 0.4), "yes"),
        ("risk-is-avoided", "RiskyBandit-v0", motivation.SymbolFilter(), "no"),
        ("risk-is-avoided", "RiskyBandit-v0", "random", "no"),
        ("effort-when-likely", "EffortChoice-v0", motivation.Worker(), "yes"),
        ("effort-when-likely", "EffortChoice-v0", motivation.Worker(uses_chance=False), "no"),
        ("fewer-pumps-after-bursts", "BART-v0", motivation.Pumper(20, 2, 12), "yes"),
        ("fewer-pumps-after-bursts", "BART-v0", motivation.Pumper(25, spread=5), "no"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)  # fmt: skip
def test_signatures_of_motivation_are_found_where_they_are(name, task, subject, sign):
    """Aversion, asymmetric learning and adaptation are found; a general caution is none of them."""
    trials = {"RiskyBandit-v0": 23_400, "BART-v0": 1500}.get(task, 3000)
    assert sign_in_many(name, task, subject, trials) == sign


def sign_in_many(name, task, subject, trials):
    """Sign in the trials of 50 subjects who play side by side."""
    made = make_task(task)
    record = run(made, subject, trials, num_envs=50, seed=3)
    return sign_of(KNOWN[name].measured(Behaviour(record, Roles.of_task(made))), KNOWN[name])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("subject", "sign"),
    [
        (motivation.PavlovianLearner(bias=0.8), "yes"),
        (motivation.PavlovianLearner(), "no"),
        (motivation.CueFilter(), "no"),
        ("rest", "no"),
    ],
    ids=("bias", "none", "ideal", "rest"),
)
def test_a_pavlovian_bias_is_found_in_subjects_that_have_it_only(subject, sign):
    assert sign_in_many("pavlovian-bias", "PavlovianGoNogo-v0", subject, 12_000) == sign


@pytest.mark.slow
def test_noise_with_the_horizon_is_no_exploration_of_the_less_known_option():
    found = scored("exploration-with-horizon", "Horizon-v0", learning.MeanOfBandits(0, 0, 4, 8))
    assert found.subject.sign != "yes"


@pytest.mark.slow
def test_a_subject_that_ignores_the_outcomes_has_no_learning_rate():
    for subject in ("random", learning.DeltaRule(rate=0)):
        found = scored("faster-learning-when-volatile", "VolatileReversal-v0", subject, seeds=2)
        assert "do not follow the outcomes" in found.why_not


@pytest.mark.slow
def test_a_learning_rate_between_two_of_the_grid_does_not_differ_between_phases():
    for rate in (0.13, 0.31):
        subject = learning.DeltaRule(rate=rate)
        found = scored("faster-learning-when-volatile", "VolatileReversal-v0", subject)
        assert found.subject.sign != "yes"


def test_a_leaky_listener_has_no_flat_kernel_and_lapses_are_found():
    rng, n, t = np.random.default_rng(9), 4000, 50
    left, right = rng.poisson(0.3, (n, t)), rng.poisson(0.3, (n, t))
    side = right.sum(1) > left.sum(1)
    verdicts = []
    for leak in (0.0, 3.0):
        weight = np.exp(-leak * np.linspace(1, 0, t))
        drive = (right - left) @ weight
        said = rng.random(n) < 0.08 + 0.84 / (1 + np.exp(-0.6 * drive))
        behaviour = trials(
            left=left, right=right, side=side.astype(int), strength=(right - left).sum(1),
            choice=said.astype(int), outcome=np.where(said == side, "correct", "error"),
        )  # fmt: skip
        kernel = KNOWN["clicks-flat-kernel"]
        verdicts.append(sign_of(kernel.measured(behaviour), kernel))
        if not leak:
            lapse = KNOWN["clicks-lapses"].measured(behaviour)
            slope = KNOWN["clicks-sensitivity"].measured(behaviour)
            assert lapse.low < 0.08 < lapse.high
            assert slope.low < 0.6 < slope.high
    assert verdicts == ["yes", "no"]


def test_lapses_of_a_guesser_cannot_be_told():
    with pytest.raises(CannotTellError, match="guesses"):
        KNOWN["contrast-lapses"].measured(behaved("IBLBlocks-v0", "guess", 1000))


def test_records_of_another_axis_or_task_are_not_tested():
    behaviour = behaved("IBLBlocks-v0", "guess", 600)
    with pytest.raises(CannotTellError, match="coherence"):
        KNOWN["better-when-strong"].measured(behaviour)
    found = score(KNOWN["better-when-strong"], {"0": behaviour}, "guess", "IBLBlocks-v0")
    assert not found.rows
    assert "RoitmanShadlen" in found.why_not


def test_instructed_speed_costs_accuracy():
    rng, n = np.random.default_rng(10), 2000
    said = np.repeat(["speed", "accuracy"], n // 2)
    hit = rng.random(n) < np.where(said == "speed", 0.7, 0.85)
    behaviour = trials(
        instruction=said, choice=np.zeros(n, int), outcome=np.where(hit, "correct", "error")
    )
    assert KNOWN["speed-accuracy"].measured(behaviour).low > 0


# ---- the command ----


def test_the_command_writes_a_page_with_a_figure_per_signature_csv_and_json(tmp_path):
    out = tmp_path / "out"
    arguments = ["DawTwoStep-v0", "--subject", "hybrid", "--seeds", "2", "--n-trials", "1000"]
    result = CliRunner().invoke(command, [*arguments, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "Sign as published: yes" in result.output
    assert "by sign only" in result.output
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count("<img") == 2
    assert "Not tested" in page
    said = json.loads((out / "likeness.json").read_text(encoding="utf-8"))
    assert set(said["tested"]) == {"two-step-reward", "two-step-interaction"}
    assert len(said["untested"]) == len(KNOWN) - 2
    assert (out / "likeness.csv").read_text(encoding="utf-8").count(",seed,") == 4
    assert (out / "two-step-reward.csv").exists()


def test_the_command_reads_trials_of_several_animals(tmp_path):
    """With --pool, they are those of one."""
    rng, n = np.random.default_rng(11), 1200
    coherence = rng.choice([0, 3.2, 12.8, 51.2], n)
    hit = rng.random(n) < 1 - 0.5 * np.exp(-coherence / 8)
    path = tmp_path / "monkeys.csv"
    rows = [f"{'AB'[k % 2]},{c},{'correct' if h else 'error'},0\n" for k, (c, h) in enumerate(
        zip(coherence, hit, strict=True))]  # fmt: skip
    path.write_text("subject,coherence,outcome,choice\n" + "".join(rows), encoding="utf-8")
    for options, seeds in ([], 2), (["--pool"], 0):
        out = tmp_path / f"out{seeds}"
        result = CliRunner().invoke(command, [str(path), "--out", str(out), *options])
        assert result.exit_code == 0, result.output
        assert "More often correct when the evidence is strong: 0." in result.output
        table = (out / "likeness.csv").read_text(encoding="utf-8")
        assert table.count(",seed,") == seeds * table.count(",subject,")


def test_columns_of_a_file_are_named_as_the_reasons_for_untested_signatures_ask(tmp_path):
    """One animal and a signature without published numbers: a figure without a legend."""
    rng, n = np.random.default_rng(12), 600
    path = tmp_path / "mouse.csv"
    sides, strengths, blocks = (
        rng.choice(of, n) for of in (["A", "B"], [0, 12.5, 100], [0.2, 0.8])
    )
    hits = rng.random(n) < 0.5 + strengths / 250
    rows = [f"{s},{c},{b},{h:d}\n" for s, c, b, h in zip(
        sides, strengths, blocks, hits, strict=True)]  # fmt: skip
    path.write_text("side,contrast,odds,correct\n" + "".join(rows), encoding="utf-8")
    arguments = [str(path), "--out", str(tmp_path / "out")]
    asked = " ".join(CliRunner().invoke(command, arguments).output.split())  # lines may be wrapped
    assert asked.count("say which of them is right with --right") == 3, asked
    assert "name one with --block" in asked
    told = CliRunner().invoke(command, [*arguments, "--right", "B", "--block", "odds"])
    assert told.exit_code == 0, told.output
    assert "with --" not in told.output
    assert "Rewarded choices are repeated" in told.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "No RUN, TASK or FILE"),
        (["a.csv", "--subject", "guess"], "--subject was given with the file"),
        (["DawTwoStep-v0", "--recipe", "ibl"], "--recipe was given with the task"),
        (["DawTwoStep-v0", "--pool"], "--pool was given with the task"),
        (["DawTwoStep-v0", "RoitmanShadlen-v0"], "Expected one TASK"),
    ],
)
def test_the_command_refuses_arguments_that_do_not_fit(arguments, message):
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_the_command_lists_the_signatures():
    result = CliRunner().invoke(command, ["--list"])
    assert result.exit_code == 0
    assert len(result.output.strip().splitlines()) == len(KNOWN)


# ---- for programs ----


def no_constant(name):
    raise AssertionError(f"{name} is no JSON")


def test_json_is_that_of_the_file_with_its_paths(ngym):
    words = ("RoitmanShadlen-v0", "--subject", "guess", "--seeds", 2, "--n-trials", 100)
    code, said = ngym("likeness", *words, "--out", "l", "--json")
    assert code == 0, said
    data = json.loads(said, parse_constant=no_constant)
    assert list(data) == [
        "schema", "command", "facts", "tested", "untested", "report", "figures",
    ]  # fmt: skip
    assert (data["schema"], data["command"]) == (1, "likeness")
    assert data["report"] == str(Path("l/report.html"))
    assert data["facts"]["design"] == "balanced"
    written = json.loads(Path("l/likeness.json").read_text("utf-8"), parse_constant=no_constant)
    assert {name: data[name] for name in written} == written
    row = data["tested"]["better-when-strong"]["rows"][0]
    assert row.keys() >= {"who", "kind", "value", "low", "high", "n", "sign", "within"}


def test_the_list_is_json_too(ngym):
    code, said = ngym("likeness", "--list", "--json")
    assert code == 0, said
    found = {one["name"]: one for one in json.loads(said)["signatures"]}
    assert found["better-when-strong"]["animals"] == ["monkey 1", "monkey 2"]


# ---- signatures of two choices ----


@pytest.mark.parametrize(
    "name", ["motion-threshold", "motion-threshold-people", "better-when-strong"]
)
def test_a_statistic_with_a_guess_rate_of_one_half_is_for_two_choices_only(name):
    assert KNOWN[name].choices == 2
    task = "NAltPerceptualDecisionMaking-v0"
    found = scored(name, task, "integrator", seeds=1, n=300)
    assert not found.rows
    assert found.why_not == "the task has 3 choices; the signature needs 2"
    record = run(task, "integrator", 300, seed=0)
    unnamed = Behaviour(record, Roles())  # as of a file that does not name its task
    with pytest.raises(CannotTellError, match="has 3 choices"):
        KNOWN[name].measured(unnamed)
    assert scored(name, "PerceptualDecisionMaking-v0", "integrator", seeds=1, n=600).rows


def test_so_is_the_model_for_speed_and_accuracy():
    record = run("NAltPerceptualDecisionMaking-v0", "integrator", 300, seed=0)
    with pytest.raises(CannotTellError, match="has 3 choices"):
        KNOWN["one-model-for-speed-and-accuracy"].measured(Behaviour(record, Roles()))


def test_signatures_that_other_subjects_have_too_say_so():
    for name in ("two-step-interaction", "repeating-after-reward"):
        assert "the sign, too" in KNOWN[name].caution
    assert not any("mark of a model" in one.statistic for one in KNOWN.values())


# ---- runs ----


def test_different_subjects_are_not_pooled_as_seeds_of_one(toys, sides, ngym):
    for out, seed, more in (("a", 0, ()), ("b", 1, ()), ("c", 2, ("--set", "strengths=0,2"))):
        words = ("--model", "toy", "--updates", 10 + 10 * seed, "--seed", seed, *more)
        code, said = ngym("train", sides, *words, "--out", out, "--quiet")
        assert code == 0, said
    code, said = ngym("likeness", "a", "b", "--n-trials", 40)
    assert code == 0, said
    code, said = ngym("likeness", "a", "c", "--n-trials", 40)
    assert code == 2
    assert "The runs a and c differ in more than their seed and length" in said


# ---- confounds ----


def blocked(kind, seed, n=2000):
    """A mouse without history in blocks of 20 to 100 trials: it may know the block, or drift."""
    rng, left = np.random.default_rng(seed), []
    while len(left) < n:
        left += [rng.choice([0.2, 0.8])] * rng.integers(20, 100)
    left = np.array(left[:n])
    contrast, side = rng.choice([0, 6.25, 12.5, 25, 100], n), rng.random(n) >= left
    bias = {"knows the block": np.where(left == 0.2, 0.8, -0.8), "has no history": np.zeros(n)}
    drive = 3 * np.tanh(np.where(side, contrast, -contrast) / 12.5) + bias[kind]
    right = rng.random(n) < 0.05 + 0.9 / (1 + np.exp(-drive))
    outcome = np.where(right == side, "correct", "error")
    columns = {"contrast": contrast, "side": np.where(side, "right", "left"), "p_left": left}
    more = {"outcome": outcome, "choice": right.astype(int), "trial": np.arange(n)}
    return Behaviour(TrialRecord({**columns, **more}, meta={}))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["knows the block", "has no history"])
def test_a_subject_that_knows_the_block_does_not_repeat_rewarded_choices(kind):
    """Of reports on 3 seeds, 2.5 % have the sign by chance: 5 of 12 or more, 1 in 400,000."""
    signs = []
    for report in range(12):
        mice = {str(k): blocked(kind, 100 * report + k) for k in range(3)}
        signs.append(score(KNOWN["repeating-after-reward"], mice, "x", "IBL").subject.sign)
    assert signs.count("yes") < 5


def test_without_chances_of_reward_a_model_cannot_be_told():
    record = run("DawTwoStep-v0", "q_learner", 300, seed=0)
    bare = TrialRecord({k: record[k] for k in record if k != "probability"}, meta=record.meta)
    with pytest.raises(CannotTellError, match="no column 'probability'"):
        KNOWN["two-step-interaction"].measured(Behaviour(bare))


def test_a_curve_that_does_not_fit_gives_no_parameter():
    """Accuracy falls with the strength of the evidence, which no curve of the kind has."""
    rng, n = np.random.default_rng(3), 4000
    coherence = rng.choice([3.2, 6.4, 12.8, 25.6, 51.2], n)
    hit = rng.random(n) < np.select([coherence < 5, coherence > 50], [0.95, 0.6], 0.75)
    columns = {"coherence": coherence, "outcome": np.where(hit, "correct", "error")}
    bad = Behaviour(TrialRecord({**columns, "choice": np.zeros(n, int)}, meta={}))
    with pytest.raises(CannotTellError, match="does not fit"):
        KNOWN["motion-threshold"].measured(bad)


def test_the_number_of_tests_is_named():
    found = [scored(name, "RoitmanShadlen-v0", "guess", seeds=1, n=300) for name in
             ("better-when-strong", "motion-threshold")]  # fmt: skip
    found = [one for one in found if one.rows] * 2
    assert "have the sign by chance" in counted(found)


def test_a_copy_of_a_run_is_no_further_seed(toys, ngym):
    task = "PerceptualDecisionMaking-v0"
    assert ngym("train", task, "--model", "toy", "--updates", "10", "--out", "net")[0] == 0
    shutil.copytree("net", "copy")
    for more in ((), ("--benchmark", "orientations-people")):
        code, said = ngym("likeness", "net", "copy", *more)
        assert code == 2
        assert "net and copy have the same seed, 0" in said
