"""rsatoolbox, dsa-metric and mtdr: activities that they cannot have. Numbers: test_oracles.py."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from neurogym_neural import (
    Activity,
    dynamical_distances,
    fit_mtdr,
    representation,
    to_rsatoolbox,
)

from neurogym_core import InvalidValueError, MissingDependencyError


def activity(steps=8, step=10.0, missing=False):
    rates = np.random.default_rng(0).random((6, steps, 3))
    if missing:
        rates[2, -1] = np.nan
    return Activity(rates, {"side": np.arange(6) % 2}, step=step)


@pytest.mark.parametrize(
    ("given", "delays", "rank", "said"),
    [
        ([activity()], 2, 2, "given 1 activities"),
        ([activity(), activity(missing=True)], 2, 2, "1 of them with steps without rates"),
        ([activity(), activity(step=20)], 2, 2, r"steps of \[10.0, 20.0\] ms"),
        ([activity(), activity(steps=5)], 5, 2, "Expected 1 to 4 delays"),
        ([activity(), activity()], 2, 7, "rank of 1 to delays times the 3 units"),
        ([activity(), activity()], 0, 1, "delays=0"),
    ],
)
def test_dynamics_that_cannot_be_compared_are_refused(given, delays, rank, said):
    with pytest.raises(InvalidValueError, match=said):
        dynamical_distances(given, delays=delays, rank=rank)


def test_settings_of_dynamics_have_no_default():
    with pytest.raises(TypeError, match="delays"):
        dynamical_distances([activity(), activity()], rank=2)


def test_without_the_packages_the_errors_name_them(monkeypatch):
    for name in ("rsatoolbox", "rsatoolbox.data", "DSA", "mtdr"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependencyError, match="pip install rsatoolbox"):
        to_rsatoolbox(activity())
    with pytest.raises(MissingDependencyError, match="pip install dsa-metric"):
        dynamical_distances([activity(), activity()], delays=2, rank=2)
    with pytest.raises(MissingDependencyError, match="pip install mtdr"):
        fit_mtdr(activity(), "side")


@pytest.mark.parametrize(
    ("given", "by", "said"),
    [
        (activity(missing=True), "side", "1 trials that lack some"),
        (Activity(np.ones((4, 2, 2)), {"side": list("abca")}, step=10), "side", "3 texts"),
        (Activity(np.ones((4, 2, 2)), {"side": [1, 1, 1, 1]}, step=10), "side", "does not vary"),
    ],
)
def test_trials_that_mtdr_cannot_read_are_refused(given, by, said):
    with pytest.raises(InvalidValueError, match=said):
        fit_mtdr(given, by)


def test_equal_distances_have_equal_ranks():
    # A model of two groups has two distances only; the order of its pairs must not matter.
    model, subject = np.array([0, 1, 1, 1, 1, 0.0]), np.array([1, 9, 4, 7, 5, 2.0])
    order = np.array([5, 3, 1, 4, 2, 0])
    one, other = (representation(model[k], [subject[k], subject[k]]) for k in (np.arange(6), order))
    # Ranks of the model: 1.5 twice, 4.5 four times; of the subject: 1, 6, 3, 5, 4, 2.
    assert one.correlation == pytest.approx(12 / np.sqrt(12 * 17.5))
    assert other.correlation == pytest.approx(one.correlation)
    assert representation(np.ones(6), [subject, subject]).correlation == 0
    with pytest.raises(InvalidValueError, match="undefined"):
        representation(model, [subject, np.where(subject == 9, np.nan, subject)])
