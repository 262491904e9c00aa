"""`benchmarks.kernels` finds a kernel that is slower than its bound, and passes one that is not."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.__main__ import Worker  # noqa: E402
from benchmarks.kernels import missed_by, ratio  # noqa: E402
from benchmarks.settings import Case  # noqa: E402
from neurogym_core.play import kernels  # noqa: E402

LEAST = 0.85
CASE = Case("vector", "dots", 64)


class Timed:
    """A worker with a known speed, whose slices vary by 5 %; each tenth is stopped for a while."""

    def __init__(self, speed: float, seed: int = 0) -> None:
        self.speed, self.rng = speed, np.random.default_rng(seed)

    def make(self, case: Case) -> str:
        return ""

    def rate(self, case: Case, seconds: float) -> float:
        stopped = 3 if self.rng.random() < 0.1 else 1
        return self.speed * (1 + 0.05 * self.rng.standard_normal()) / stopped


@pytest.mark.parametrize(("speed", "passes"), [(1.0, True), (0.95, True), (0.75, False)])
def test_a_kernel_passes_if_it_is_as_fast_as_the_bound_wants(speed, passes):
    """The other end is a tenth away from the bound: in 200 seeds, none was wrong."""
    found = ratio(Timed(speed), Timed(1.0, seed=1), CASE, rounds=9, seconds=0.1)
    assert (missed_by({CASE: found}, LEAST) == []) is passes


def test_a_ratio_that_is_no_number_is_missed():
    assert missed_by({CASE: float("nan")}, LEAST) == ["dots, 64 envs"]


@pytest.mark.slow
@pytest.mark.skipif(
    kernels.kernel_in_use().name == "plain", reason="the compiled kernel is not built"
)
def test_the_plain_kernel_is_found_to_be_slower_and_the_same_kernel_is_not():
    sides = [Worker("core", sys.executable) for _ in range(2)]
    slower = Worker("core", sys.executable, NGYM_KERNEL="plain")
    try:
        alike, cheat = (ratio(one, sides[1], CASE, 5, 0.05) for one in (sides[0], slower))
    finally:
        for side in (*sides, slower):
            side.close()
    assert missed_by({CASE: alike}, 0.7) == []
    assert missed_by({CASE: cheat}, LEAST) == ["dots, 64 envs"]
