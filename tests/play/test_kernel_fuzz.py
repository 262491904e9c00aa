"""A few seconds of `kernel_fuzz.py`: the two kernels agree bit by bit, and nonsense ends in exceptions."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from neurogym_core.play.kernels import load

_spec = importlib.util.spec_from_file_location("ngym_test_kernel_fuzz", Path(__file__).parent / "kernel_fuzz.py")
kernel_fuzz = sys.modules[_spec.name] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(kernel_fuzz)


@pytest.fixture(autouse=True)
def compiled() -> None:
    if load().module is None:
        reason = f"both kernels are compared, and there is one: {load()}"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)


def test_random_tables_are_played_to_the_same_bits_by_both_kernels_and_nonsense_is_refused():
    assert kernel_fuzz.fuzz(seconds=4, seed=0) > 20
