"""The generator of digests draws from the distributions that it names."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_check.stable_generator import StableGenerator


@pytest.mark.parametrize(("a", "b"), [(1, 1), (0.5, 2), (14.9, 2.03)])
def test_numbers_of_a_beta_distribution_have_its_mean_and_sd(a, b):
    numbers = StableGenerator(1).beta(a, b, 20_000)
    mean = a / (a + b)
    sd = np.sqrt(mean * (1 - mean) / (a + b + 1))
    assert abs(numbers.mean() - mean) < 5 * sd / np.sqrt(20_000)
    assert abs(numbers.std() / sd - 1) < 0.03
    assert 0 < numbers.min() < numbers.max() < 1
