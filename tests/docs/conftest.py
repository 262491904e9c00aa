"""Fixtures of the tests of scripts and pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _small_numbers() -> Iterator[None]:
    """Let processors compute subnormal numbers again, which the gallery's trainers switch off.

    It is a state of the process: other tests would get 0 for them.
    """
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_flush_denormal(False)
