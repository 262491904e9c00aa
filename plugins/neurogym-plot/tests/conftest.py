"""Fixtures: `site` is a folder for packages on the import path, `ngym` runs commands in this
process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from sites import Site, call_ngym, fresh_site


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A folder for packages; scans see only it, the core and this package."""
    yield from fresh_site(tmp_path, monkeypatch, "neurogym-plot")


@pytest.fixture
def ngym() -> Callable[..., Result]:
    """See `sites.call_ngym`."""
    return call_ngym
