"""Fixtures: `ngym` runs commands in this process."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import Result
from sites import call_ngym


@pytest.fixture
def ngym() -> Callable[..., Result]:
    """See `sites.call_ngym`."""
    return call_ngym
