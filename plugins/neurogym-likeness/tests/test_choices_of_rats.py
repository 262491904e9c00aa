"""The score of choices alone, on nine rats: rats pass. Cheats are in ``test_benchmarks.py``.

The trials are of Luo et al. (2025), without the held-out rats.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from neurogym_behaviour.behaviour import Behaviour, Roles
from neurogym_data import data
from neurogym_likeness.bits import Answers, likeness_in_bits, said, scored_finding
from neurogym_plot.styles import figure_style


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


def test_rats_as_subjects_are_scored_and_the_report_says_choices(rats):
    each = {name: Answers.of(one) for name, one in rats.items()}
    names = list(each)
    found = likeness_in_bits(
        {name: each[name] for name in names[:3]}, {name: each[name] for name in names[3:]}
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
