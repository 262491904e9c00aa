"""`site`: a folder on the import path in which tests put packages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sites import Site, fresh_site


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    yield from fresh_site(tmp_path, monkeypatch)
