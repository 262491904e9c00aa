"""The noise that tasks add: Gaussian as far as a million numbers can tell, and the same for everybody."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from neurogym_core.trials.noise import LEVELS, Noise, quantiles


def drawn(n: int, seed: int = 1) -> np.ndarray:
    return Noise(np.random.Generator(np.random.SFC64(seed))).fill(np.empty(n, np.float32))


def test_the_values_are_those_of_a_gaussian():
    values = quantiles().astype(np.float64)
    assert values.shape == (LEVELS,)
    assert (np.diff(values) >= 0).all()
    np.testing.assert_array_equal(values, -values[::-1])
    assert values.var() == pytest.approx(1, abs=1e-7)
    assert stats.kurtosis(values) == pytest.approx(0, abs=1e-3)
    middle = stats.norm.ppf((np.arange(LEVELS) + 0.5) / LEVELS)
    np.testing.assert_allclose(values, middle, rtol=2e-5, atol=1e-7)


def test_a_million_numbers_are_gaussian():
    """Kolmogorov & Smirnov; false alarms: one seed in 1,000."""
    assert stats.kstest(drawn(1_000_000), "norm").pvalue > 0.001


@pytest.mark.parametrize("lag", [1, 2, 3, 4, 5, 8])
def test_numbers_are_independent_of_those_before(lag):
    """Correlation, also of the squares; false alarms: two seeds in 1,000 for each lag."""
    z = drawn(1_000_000, seed=lag)
    for values in (z, z**2):
        assert stats.pearsonr(values[lag:], values[:-lag]).pvalue > 0.001


def test_every_value_comes_up_as_often_as_any():
    """Chi-squared test of 2^22 numbers; false alarms: one seed in 1,000."""
    which = np.searchsorted(quantiles(), drawn(1 << 22))
    assert stats.chisquare(np.bincount(which >> 6, minlength=LEVELS >> 6)).pvalue > 0.001


def test_numbers_do_not_change_from_release_to_release():
    bits = np.random.Generator(np.random.SFC64(7)).integers(0, 2**64 - 1, 2, dtype=np.uint64, endpoint=True)
    expected = [quantiles()[int(word) >> 16 * k & 0xFFFF] for word in bits for k in range(4)]
    np.testing.assert_array_equal(drawn(7, seed=7), expected[:7])


@given(st.lists(st.integers(0, 40), max_size=12))
def test_numbers_are_the_same_however_many_are_asked_for_at_a_time(counts):
    noise = Noise(np.random.Generator(np.random.SFC64(3)))
    pieces = [noise.fill(np.empty(n, np.float32)) for n in counts]
    np.testing.assert_array_equal(np.concatenate([*pieces, np.zeros(0)]), drawn(sum(counts), seed=3))


@pytest.mark.parametrize("shape", [(), (1,), (5,), (3, 5), (0,), (2, 0, 3)])
def test_any_shape_is_filled(shape):
    out = np.full(shape, np.nan, np.float32)
    assert Noise(np.random.default_rng(1)).fill(out) is out
    assert np.isfinite(out).all()


def test_any_generator_of_bits_will_do():
    for bits in (np.random.MT19937, np.random.Philox, np.random.PCG64):
        z = Noise(np.random.Generator(bits(1))).fill(np.empty(100_000, np.float32))
        assert stats.kstest(z, "norm").pvalue > 0.001  # false alarms: one in 1,000 for each


@pytest.mark.parametrize("wrong", [np.empty((4, 4), np.float32)[:, :2], np.empty(4)])
def test_an_array_that_cannot_be_filled_in_place_is_refused(wrong):
    with pytest.raises(ValueError, match="C-contiguous float32"):
        Noise(np.random.default_rng(1)).fill(wrong)
