"""The score on five people, whose trials did not choose its definition: cheats fail, people pass.

The trials are of Drugowitsch et al. (2014), without the held-out people. The cheats are made from
the people's pooled trials, so they know more than any subject may.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from neurogym_behaviour.behaviour import Behaviour, Roles
from neurogym_data import data
from neurogym_likeness.bits import Answers, likeness_in_bits


def people() -> dict[str, Answers]:
    every = Behaviour(data("drugowitsch-2014"), Roles(strength="heading", side="direction"))
    found = {}
    for name, one in every.per_subject().items():
        modality, coherence = one.record["modality"].astype(str), one.record["visual_coherence"]
        context = np.char.add(modality, coherence.astype(str))
        found[name] = replace(Answers.of(one), context=context)
    return found


def pooled(each: dict[str, Answers], n: int = 6000) -> Answers:
    names = ("signed", "choice", "time", "block", "context")
    parts = [np.concatenate([getattr(one, name) for one in each.values()]) for name in names]
    every = Answers(*parts)
    return every[np.random.default_rng(1).permutation(len(every))[:n]]


def medians(one: Answers) -> np.ndarray:
    """Return the median reaction time of each trial's context and strength."""
    keys = np.array([f"{context} {abs(signed)}" for context, signed in one.conditions])
    return np.select(
        [keys == key for key in set(keys)], [np.median(one.time[keys == key]) for key in set(keys)]
    )


@pytest.fixture(scope="module")
def scores():
    each, rng = people(), np.random.default_rng(2)
    one = pooled(each)
    n, middle = len(one), medians(one)
    subjects = {
        "pooled": one,
        "the median time": replace(one, time=middle),
        "two fixed times": replace(one, time=np.where(rng.random(n) < 0.5, 20.0, 1900.0)),
        "times of other trials": replace(one, time=rng.permutation(one.time)),
        "skewed the wrong way": replace(
            one, time=np.maximum(20, middle + 150 - rng.exponential(150, n))
        ),
        "guesses": replace(one, choice=rng.integers(0, 2, n), time=rng.permutation(one.time)),
        "right times, random choices": replace(one, choice=rng.integers(0, 2, n)),
        "one side when unsure": replace(one, choice=np.where(abs(one.signed) < 3, 1, one.choice)),
    }
    return likeness_in_bits(subjects, each)


@pytest.mark.slow
def test_people_predict_each_other(scores):
    assert not scores.doubts
    assert all(0.85 < one.score < 1.15 for one in scores.animals)
    assert all(one.score > scores.bound for one in scores.animals)
    assert scores.ceiling / scores.reference == pytest.approx(1.62, abs=0.1)


def test_the_people_themselves_pass_and_every_cheat_fails(scores):
    verdicts = {one.name: scores.verdict(one) for one in scores.seeds}
    assert verdicts.pop("pooled") == "not distinguished"
    assert set(verdicts.values()) == {"unlike"}, verdicts


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pooled", 1.37),
        ("times of other trials", 0.46),
        ("guesses", -0.06),
        ("two fixed times", -6.05),
    ],
)
def test_the_scores_are_those_of_the_decision(scores, name, expected):
    found = next(one.score for one in scores.seeds if one.name == name)
    assert found == pytest.approx(expected, abs=0.15)
