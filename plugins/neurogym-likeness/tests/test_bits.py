"""The score in bits: cheats fail it, an animal of the population passes it.

Animals are simulated. All seeds are fixed, so no test fails by chance. The false-alarm rate of the
verdict, that a new animal of the population is called unlike, is measured in the slow test.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from neurogym_behaviour.behaviour import CannotTellError
from neurogym_likeness.bits import MIX, Answers, likeness_in_bits, said, scored_finding
from neurogym_plot.styles import figure_style
from simulated_animals import LEVELS, diffusion, population

MEANS = np.array([794.0, 772, 735, 662, 559, 464])
"""ms, for each strength."""


def seeds(make):
    return {
        str(seed): make(diffusion(2000, 900 + seed), np.random.default_rng(seed))
        for seed in range(3)
    }


def means(one: Answers) -> np.ndarray:
    return MEANS[np.searchsorted(LEVELS, abs(one.signed))]


CHEATS = {
    "skewed the wrong way": lambda one, rng: replace(
        one, time=np.maximum(20, means(one) + 150 - rng.exponential(150, len(one)))
    ),
    "two fixed times": lambda one, rng: replace(
        one, time=np.where(rng.random(len(one)) < 0.6, 20.0, 1900.0)
    ),
    "the mean time": lambda one, rng: replace(one, time=means(one)),
    "one side when unsure": lambda one, rng: replace(
        one, choice=np.where(abs(one.signed) < 4, 1, one.choice)
    ),
    "times of other trials": lambda one, rng: replace(one, time=rng.permutation(one.time)),
    "guesses": lambda one, rng: replace(
        one, choice=rng.integers(0, 2, len(one)), time=rng.permutation(one.time)
    ),
}


@pytest.fixture(scope="module")
def animals():
    return population(6, 0)


@pytest.fixture(scope="module")
def honest(animals):
    return likeness_in_bits(seeds(lambda one, rng: one), animals)


def test_an_honest_model_is_not_told_apart(honest):
    assert [honest.verdict(one) for one in honest.seeds] == ["not distinguished"] * 3
    assert 0.9 < honest.score < 1.2
    assert honest.low < honest.score < honest.high


def test_each_animal_scores_near_one_and_less_than_itself(honest):
    scores = [one.score for one in honest.animals]
    assert np.mean(scores) == pytest.approx(1, abs=1e-9)
    assert min(scores) > honest.bound
    assert honest.ceiling > honest.reference


@pytest.mark.parametrize("cheat", CHEATS, ids=str)
def test_a_cheat_is_below_the_honest_model_and_never_passes(cheat, animals, honest):
    found = likeness_in_bits(seeds(CHEATS[cheat]), animals)
    assert found.score < honest.score - 0.3
    assert "not distinguished" not in [found.verdict(one) for one in found.seeds]
    assert all(np.isfinite(one.score) for one in found.seeds)
    # A trial costs at most log2(MIX) bits; the correction for few trials can double that.
    assert min(one.bits for one in found.seeds) > 2 * np.log2(MIX)


def test_a_guesser_has_no_bits(animals):
    found = likeness_in_bits(seeds(CHEATS["guesses"]), animals)
    assert found.score == pytest.approx(0, abs=0.1)


@pytest.mark.parametrize("dt", [5, 50, 100])
def test_the_clock_of_the_subject_does_not_matter(dt, animals, honest):
    one = {str(seed): diffusion(2000, 900 + seed, dt=dt) for seed in range(3)}
    found = likeness_in_bits(one, animals)
    assert found.score == pytest.approx(honest.score, abs=0.06)


def test_a_time_to_see_and_to_move_is_free_within_limits(animals, honest):
    late = likeness_in_bits(seeds(lambda one, rng: replace(one, time=one.time + 200)), animals)
    assert late.score == pytest.approx(honest.score, abs=0.08)
    assert late.seeds[0].unshifted < honest.seeds[0].unshifted - 0.2
    assert late.seeds[0].shift == pytest.approx(honest.seeds[0].shift - 200, abs=35)
    never = likeness_in_bits(seeds(lambda one, rng: replace(one, time=one.time + 900)), animals)
    assert any("shifted by more than 300 ms" in doubt for doubt in never.doubts)


def test_who_is_silent_in_hard_trials_gains_nothing(animals, honest):
    def silent(one, rng):
        rests = (abs(one.signed) < 4) & (rng.random(len(one)) < 0.5)
        return replace(
            one, choice=np.where(rests, -1, one.choice), time=np.where(rests, np.nan, one.time)
        )

    found = likeness_in_bits(seeds(silent), animals)
    assert found.score < honest.score - 0.05
    assert any("did not answer" in doubt for doubt in found.doubts)


def test_few_animals_seeds_or_trials_get_numbers_and_no_verdict(animals):
    few = dict(list(animals.items())[:2])
    found = likeness_in_bits({"0": diffusion(240, 1)}, few)
    assert found.verdict(found.seeds[0]) == "no verdict"
    text = "; ".join(found.doubts)
    for part in ("2 animals", "1 seed", "240 trials"):
        assert part in text
    assert np.isfinite(found.score)


def test_no_score_without_answers_animals_or_their_conditions(animals):
    one = diffusion(600, 1)
    with pytest.raises(CannotTellError, match="two animals"):
        likeness_in_bits({"0": one}, {"a": one})
    mute = replace(one, choice=np.full(600, -1), time=np.full(600, np.nan))
    with pytest.raises(CannotTellError, match="no trial with a choice"):
        likeness_in_bits({"0": mute}, animals)
    easy = one[abs(one.signed) > 4]
    with pytest.raises(CannotTellError, match=r"no trial with the strength -3.2"):
        likeness_in_bits({"0": easy}, animals)


def broad(one, rng):
    far = rng.random(len(one)) < 0.2
    return replace(one, time=np.where(far, rng.uniform(100, 2500, len(one)), one.time))


def modes(one, rng):
    """Times are the most frequent bins of one animal."""
    model, time = population(6, 0)["animal 0"], one.time.copy()
    for level in LEVELS:
        bins = np.ceil(model.time[abs(model.signed) == level] / 100).astype(int)
        time[abs(one.signed) == level] = 100.0 * np.bincount(bins).argmax()
    return replace(one, time=time)


def fast_half(one, rng):
    time = one.time.copy()
    for level in LEVELS:
        rows = abs(one.signed) == level
        time[rows] = rng.choice(np.sort(time[rows])[: rows.sum() // 2], rows.sum())
    return replace(one, time=time)


@pytest.mark.parametrize("cheat", [broad, modes, fast_half], ids=["broad", "modes", "fast half"])
def test_the_reverse_divergence_shows_who_does_what_animals_do_not(cheat, animals, honest):
    most = max(one.reverse for one in honest.animals)
    assert all(-0.05 < one.reverse < most for one in honest.seeds)
    found = likeness_in_bits(seeds(cheat), animals)
    assert min(one.reverse for one in found.seeds) > 2 * most
    if cheat is broad:  # the score alone does not tell it from the animals
        assert found.score > found.bound


@pytest.mark.parametrize(("n", "most"), [(600, 0.15), (4000, 0.02)])
def test_equal_subjects_diverge_by_nothing_but_few_trials(n, most):
    """Bins with few trials look different by chance, which the correction takes out."""
    animals = {name: diffusion(n, seed) for name, seed in (("a", 5), ("b", 7))}
    found = likeness_in_bits({"0": diffusion(n, 6)}, animals)
    assert all(abs(one.reverse) < most for one in [*found.seeds, *found.animals])


def test_the_reverse_divergence_has_the_clock_and_the_shift_of_the_score(animals, honest):
    here = np.mean([one.reverse for one in honest.seeds])
    late = likeness_in_bits(seeds(lambda one, rng: replace(one, time=one.time + 200)), animals)
    coarse = likeness_in_bits({str(k): diffusion(2000, 900 + k, dt=100) for k in range(3)}, animals)
    for found in (late, coarse):
        assert np.mean([one.reverse for one in found.seeds]) == pytest.approx(here, abs=0.06)


def test_choices_without_times_have_no_reverse_divergence(animals):
    two = dict(list(animals.items())[:2])
    found = likeness_in_bits({"0": diffusion(240, 1)}, two, kind="choices")
    assert np.isnan(found.seeds[0].reverse)
    assert not any("Reverse" in one for one in said(found, "diffusion"))


def test_the_figure_and_the_sentences_say_the_numbers(honest):
    with figure_style("screen"):
        finding = scored_finding(honest, "diffusion")
    assert len(finding.table) == 9
    assert f"{honest.score:.2f}" in said(honest, "diffusion")[0]
    assert "Reverse divergence: 0.09 bits per trial" in finding.notes[1]
    assert "reverse" in finding.table
    assert "3 of 3 seeds" in finding.notes[2]


def test_a_context_is_another_condition(animals):
    """Animals that are faster in one context are not predicted by a subject that is not."""

    def faster(one, seed):
        context = np.random.default_rng(seed).choice(["slow", "fast"], len(one))
        return replace(
            one, context=context, time=np.where(context == "fast", one.time * 0.6, one.time)
        )

    theirs = {name: faster(one, k) for k, (name, one) in enumerate(animals.items())}
    good = {str(k): faster(diffusion(2000, 900 + k), 50 + k) for k in range(3)}
    blind = {name: replace(one, time=one.time[::-1].copy()) for name, one in good.items()}
    found = likeness_in_bits(good, theirs)
    assert [found.verdict(one) for one in found.seeds] == ["not distinguished"] * 3
    assert likeness_in_bits(blind, theirs).score < found.score - 0.3
    with pytest.raises(CannotTellError, match="of fast"):
        likeness_in_bits({"0": diffusion(2000, 1)}, theirs)


def test_animals_that_do_not_predict_each_other_allow_no_verdict(animals):
    rng = np.random.default_rng(0)
    theirs = {
        name: replace(one, choice=rng.integers(0, 2, len(one)), time=rng.permutation(one.time))
        for name, one in animals.items()
    }
    found = likeness_in_bits(seeds(lambda one, rng: one), theirs)
    assert any("predict each other badly" in doubt for doubt in found.doubts)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "most"), [(5, 0.06), (10, 0.08)])
def test_a_new_animal_is_rarely_called_unlike(k, most):
    """The nominal rate is 2.5 %; 100 populations, with 2 new animals each."""
    unlike = []
    for seed in range(100):
        every = population(k + 2, 1000 + seed)
        new = {name: every.pop(name) for name in list(every)[-2:]}
        found = likeness_in_bits(new, every)
        held = [one.score for one in found.animals]
        unlike += [one.score < found.bound for one in found.seeds]
        assert len(held) == k
    assert np.mean(unlike) <= most
