"""The score of choices alone, on nine rats: cheats fail, rats pass.

The trials are of Luo et al. (2025), without the held-out rats. The cheats are made from the rats'
pooled trials.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from neurogym_data import data
from neurogym_plot.styles import figure_style
from neurogym_study.behaviour import Behaviour, Roles
from neurogym_study.bits import Answers, likeness_in_bits, said, score_of, scored_finding


@pytest.fixture(scope="module")
def rats() -> dict[str, Behaviour]:
    return Behaviour(data("luo-2025"), Roles(strength="evidence", side="answer")).per_subject()


def choosing(rats, make, n=5000, seed=0) -> dict[str, Answers]:
    """Three samples of the rats' trials, with the choices of ``make(answers, rng)``."""
    parts = [Answers.of(one) for one in rats.values()]
    names = ("signed", "choice", "time", "block", "before")
    joined = {name: np.concatenate([getattr(one, name) for one in parts]) for name in names}
    every, found = Answers(**joined), {}
    for k in range(3):
        rng = np.random.default_rng(seed + k)
        one = every[rng.permutation(len(every))[:n]]
        found[str(k)] = replace(one, **make(one, rng))
    return found


CHEATS = {
    "guesses": lambda one, rng: {"choice": rng.integers(0, 2, len(one))},
    "one side": lambda one, rng: {"choice": (rng.random(len(one)) < 0.95).astype(int)},
    "the other side": lambda one, rng: {"choice": 1 - one.choice},
    "never wrong": lambda one, rng: {
        "choice": (one.signed + 1e-3 * rng.normal(size=len(one)) > 0).astype(int)
    },
    "stays and shifts": lambda one, rng: {
        "choice": (
            2 * one.before[:, 1] - one.before[:, 0] + 0.1 * rng.normal(size=len(one)) > 0
        ).astype(int)
    },
    "the opposite history": lambda one, rng: {"before": -one.before},
}


@pytest.fixture(scope="module")
def pooled(rats):
    each = {name: Answers.of(one) for name, one in rats.items()}
    return likeness_in_bits(choosing(rats, lambda one, rng: {}), each)


def test_rats_predict_each_other_and_are_predicted_by_their_pooled_trials(pooled):
    assert not pooled.timed
    assert not pooled.doubts
    assert [pooled.verdict(one) for one in pooled.seeds] == ["not distinguished"] * 3
    assert 1 < pooled.score < 1.15
    assert all(0.75 < one.score < 1.1 for one in pooled.animals)
    assert pooled.ceiling > pooled.reference


@pytest.mark.parametrize("cheat", CHEATS, ids=str)
def test_a_cheat_is_unlike_the_rats(cheat, rats, pooled):
    each = {name: Answers.of(one) for name, one in rats.items()}
    found = likeness_in_bits(choosing(rats, CHEATS[cheat]), each)
    assert "not distinguished" not in [found.verdict(one) for one in found.seeds]
    assert found.score < pooled.score - 0.05


def test_a_guess_has_no_bits_and_the_history_has_its_line(rats):
    each = {name: Answers.of(one) for name, one in rats.items()}
    guess = likeness_in_bits(choosing(rats, CHEATS["guesses"]), each)
    assert guess.score == pytest.approx(0, abs=0.05)
    opposite = likeness_in_bits(choosing(rats, CHEATS["the opposite history"]), each)
    assert opposite.score > opposite.bound  # the total does not see it
    assert all(one.added < opposite.least for one in opposite.seeds)


def test_rats_as_subjects_are_scored_and_the_report_says_choices(rats):
    names = list(rats)
    found = score_of(
        {name: rats[name] for name in names[:3]}, {name: rats[name] for name in names[3:]}
    )
    assert 0.6 < found.score < 1.3
    with figure_style("screen"):
        finding = scored_finding(found, "three rats")
    assert "history" in finding.table
    assert "Choices alone were measured" in said(found, "three rats")[0]


def test_where_the_order_of_trials_is_unknown_the_history_adds_nothing(rats):
    each = {name: Answers.of(one) for name, one in rats.items()}
    shuffled = choosing(rats, lambda one, rng: {"before": None})
    assert [one.added for one in likeness_in_bits(shuffled, each).seeds] == [0, 0, 0]
    unordered = {name: replace(one, before=None) for name, one in each.items()}
    found = likeness_in_bits(choosing(rats, lambda one, rng: {}), unordered)
    assert [one.added for one in (*found.seeds, *found.animals)] == [0] * 12
