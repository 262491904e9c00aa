"""Distributions draw values of their CDF, mean and bounds, and are read from written forms.

The statistical tests compare 20,000 draws with a CDF. By the inequality of Dvoretzky, Kiefer and
Wolfowitz, the largest difference exceeds `FAR` in one of a million correct programs.
"""

from __future__ import annotations

import math
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from neurogym_core import Choice, Constant, TruncatedExponential, Uniform, parse
from neurogym_core.errors import InvalidValueError

DRAWS = 20_000
FAR = math.sqrt(math.log(2 / 1e-6) / (2 * DRAWS))

NUMBERS = [
    Constant(7),
    Uniform(-2, 3),
    Uniform(500, 1500),
    Uniform(4, 4),
    Choice(3),
    Choice((6.4, -1, 51.2)),
    Choice((1, 2, 3, 4), p=(0.1, 0, 0.6, 0.3)),
    Choice((10, 20), p=(3, 1)),
    TruncatedExponential(300, 100, 800),
    TruncatedExponential(300, 100, 150),
    TruncatedExponential(10, -5, 5000),
    TruncatedExponential(10, 4, 4),
]
every_distribution = pytest.mark.parametrize("distribution", NUMBERS, ids=repr)


def draws_of(distribution, n: int = DRAWS, seed: int = 0) -> np.ndarray:
    return distribution.sample(np.random.default_rng(seed), n)


# ---- draws


@every_distribution
def test_draws_follow_the_cdf(distribution):
    values = np.sort(draws_of(distribution))
    assert values.shape == (DRAWS,)
    at = np.unique(values)
    below_or_at = np.searchsorted(values, at, side="right") / DRAWS
    assert np.abs(below_or_at - distribution.cdf(at)).max() < FAR
    between = (at[1:] + at[:-1]) / 2
    below = np.searchsorted(values, between) / DRAWS
    assert np.abs(below - distribution.cdf(between)).max(initial=0) < FAR


@every_distribution
def test_the_mean_and_the_bounds_are_those_of_the_cdf(distribution):
    """The mean is the lower bound plus the area above the CDF."""
    low, high = distribution.bounds
    steps = distribution.support()
    breaks = None if steps is None else np.unique(steps)
    area = sum(
        integrate.quad(lambda x: 1 - distribution.cdf(x), *ends)[0]
        for ends in ([(low, high)] if breaks is None else pairwise(breaks))
    )
    assert distribution.mean == pytest.approx(low + area)
    assert distribution.cdf(np.array([high, high + 1])) == pytest.approx(1, abs=1e-15)
    assert distribution.cdf(np.array([low - 1, np.nextafter(low, -np.inf)])).tolist() == [0, 0]


@every_distribution
def test_draws_stay_within_the_bounds(distribution):
    low, high = distribution.bounds
    values = draws_of(distribution)
    assert low <= values.min() <= values.max() <= high


class Extreme:
    """A generator that draws one number always."""

    def __init__(self, number: float) -> None:
        self.number = number

    def random(self, n: int) -> np.ndarray:
        return np.full(n, self.number)


@pytest.mark.parametrize("number", [0.0, 0.5, np.nextafter(1, 0)])
@pytest.mark.parametrize(
    "distribution",
    [Uniform(-2, 3), Choice((1, 2, 3), p=(0.2, 0.3, 0.5)), *NUMBERS[-4:]],
    ids=repr,
)
def test_the_numbers_of_a_generator_are_put_through_the_inverse_of_the_cdf(distribution, number):
    value = distribution.sample(Extreme(number), 2)
    low, high = distribution.bounds
    assert ((low <= value) & (value <= high)).all()
    if number in (0.0, 0.5) and low < high:
        assert (distribution.cdf(value) >= number - 1e-12).all()
        assert (distribution.cdf(value - 1e-9) <= number + 1e-12).all()


def test_values_without_probability_are_never_drawn():
    never = Choice(("a", "b", "c", "d"), p=(0, 1, 0, 1))
    assert set(draws_of(never)) == {"b", "d"}
    assert set(never.sample(Extreme(0.0), 1)) == {"b"}


def test_values_may_be_texts_or_tuples():
    sides = Choice(("left", "right"), p=(0.25, 0.75))
    values = draws_of(sides)
    assert abs((values == "left").mean() - 0.25) < FAR
    assert sides.cdf(values) is None
    with pytest.raises(InvalidValueError, match="has no mean: its values are not numbers"):
        _ = sides.mean
    pairs = Choice(((0, 1), (2, 5)), p=(1, 3))
    assert draws_of(pairs).shape == (DRAWS, 2)
    assert set(map(tuple, draws_of(pairs).tolist())) == {(0, 1), (2, 5)}
    assert pairs.mean.tolist() == [1.5, 4]
    assert pairs.bounds == (0, 5)
    assert pairs.cdf(np.array([0, 1])) is None
    assert draws_of(Constant((1, 2, 3)), 4).tolist() == [[1, 2, 3]] * 4
    assert Constant((1, 5)).bounds == (1, 5)


def test_indices_are_those_of_the_values():
    choice = Choice((10, 20, 30), p=(0.5, 0.2, 0.3))
    indices = choice.sample_index(np.random.default_rng(3), 50)
    np.testing.assert_array_equal(draws_of(choice, 50, seed=3), (indices + 1) * 10)
    assert Choice(3).support().tolist() == [0, 1, 2]
    assert Constant(7).support().tolist() == [7]
    assert Uniform(0, 1).support() is None


# ---- probabilities of choices


@pytest.mark.parametrize("p", [(0.5, 0.6), (0.7, 0.1, 0.1, 0.01), (0.5, 0.499), (1.0, 0.5)])
def test_probabilities_that_do_not_sum_to_1_are_refused(p):
    with pytest.raises(InvalidValueError, match=r"p=.* whose sum is .*sum of 1, or whole numbers"):
        Choice(len(p), p=p)


@given(weights=st.lists(st.integers(0, 50), min_size=1, max_size=8).filter(any))
def test_whole_numbers_are_weights(weights):
    found = Choice(len(weights), p=weights).probabilities
    assert found.tolist() == pytest.approx([one / sum(weights) for one in weights])


@given(p=st.lists(st.floats(0.01, 1), min_size=1, max_size=8))
def test_probabilities_are_kept_as_they_are_given(p):
    p = [one / sum(p) for one in p]
    assert Choice(len(p), p=p).probabilities.tolist() == pytest.approx(p, rel=1e-9)
    again = parse(Choice(len(p), p=p).to_plain())
    assert again == Choice(len(p), p=p)


# ---- written forms


@every_distribution
def test_a_distribution_is_a_value_that_its_written_form_gives_back(distribution):
    assert parse(distribution.to_plain()) == distribution
    assert parse(distribution) is distribution
    again = pickle.loads(pickle.dumps(distribution))
    assert again == distribution
    assert hash(again) == hash(distribution)
    np.testing.assert_array_equal(draws_of(again, 5), draws_of(distribution, 5))


@pytest.mark.parametrize(
    ("expected", "forms"),
    [
        (Constant(500), [500, "500", np.int64(500), {"constant": 500}, ("constant", (500,))]),
        (Constant(0.5), [0.5, "0.5", "5e-1"]),
        (Constant(2.0), ["2.0", 2.0]),
        (Uniform(500, 1500), [
            {"uniform": [500, 1500]}, "uniform(500,1500)", " uniform( 500, 1500 ) ",
            ("uniform", (500, 1500)), ["uniform", [500, 1500]], {"uniform": np.array([500, 1500])},
        ]),
        (Choice((1, 2, 4)), [
            [1, 2, 4], (1, 2, 4), "1, 2, 4", np.array([1, 2, 4]), {"choice": [1, 2, 4]},
            "choice(1,2,4)", "choice([1,2,4])",
        ]),
        (Choice((1, 2), p=(0.3, 0.7)), [
            {"choice": [[1, 2], [0.3, 0.7]]}, "choice([1,2],[0.3,0.7])",
        ]),
        (Choice(((1, 2), (3, 4))), [{"choice": [[1, 2], [3, 4]]}, "choice((1,2),(3,4))"]),
        (Choice(3), [{"choice": 3}, "choice(3)", range(3)]),
        (Choice((1, 2)), [[1, 2], "1,2"]),
        (Choice(("uniform", "left", "right")), [["uniform", "left", "right"]]),
        (TruncatedExponential(300, 100, 800), ["truncated_exponential(300, 100, 800)"]),
    ],
)  # fmt: skip
def test_equivalent_forms_are_read_as_one_distribution(expected, forms):
    for form in forms:
        found = parse(form)
        assert found == expected, form
        assert str(found.to_plain()) == str(expected.to_plain()), form  # whole numbers stay whole


# ---- refusals


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (lambda: Uniform(2, 1), "low=2 above high=1; swap them"),
        (lambda: Uniform(0, float("nan")), "high=nan; it needs a finite number"),
        (lambda: Uniform(-math.inf, 0), "low=-inf; it needs a finite"),
        (lambda: Uniform("a", 1), "low='a'.*number"),
        (lambda: Uniform(True, 2), "low=True; it needs a finite number"),
        (lambda: Choice([]), "no values"),
        (lambda: Choice(2.0), r"was given 2\.0\. Expected several"),
        (lambda: Choice("left"), "was given 'left'. Expected several"),
        (lambda: Choice([1, 2], p=[1]), r"p=\[1\] for 2 values.*one.*per value"),
        (lambda: Choice([1, 2], p=[-1, 2]), "non-negative"),
        (lambda: Choice([1, 2], p=[0, 0]), "not all 0"),
        (lambda: Choice([1, 2], p=[math.nan, 1]), "finite"),
        (lambda: TruncatedExponential(0, 1, 2), "scale=0; it needs a positive"),
        (lambda: TruncatedExponential(-1, 1, 2), "scale=-1; it needs a positive"),
        (lambda: TruncatedExponential(1, 3, 2), "low=3 above high=2; swap"),
        (lambda: TruncatedExponential(1, 0, math.inf), "high=inf; it needs a finite"),
    ],
)
def test_impossible_distributions_are_refused(refused, message):
    with pytest.raises(InvalidValueError, match=message):
        refused()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (None, "Cannot read None as a distribution. Give a number"),
        ({}, "Cannot read {}"),
        (True, "Cannot read True"),
        ("often", "Cannot read 'often'"),
        ("often, rarely", "Cannot read 'often, rarely'"),
        ({"uniform": [0, 1], "choice": [1]}, "Cannot read"),
        (math.nan, "NaN .not a number.; give a number"),
        ("uniform(0,", "Cannot read"),
        ("unifrom(0, 1)", "Unknown distribution 'unifrom'. Did you mean 'uniform'"),
        ({"uniform": 3}, r"'uniform' was given \[3\]; it needs low and high"),
        ({"truncated_exponential": [1, 2]}, "it needs scale, low and high"),
        ({"constant": [1, 2]}, "it needs one value"),
    ],
)
def test_specifications_that_cannot_be_read_are_refused(spec, message):
    with pytest.raises(InvalidValueError, match=message):
        parse(spec)
