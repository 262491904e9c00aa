"""Fixtures: `site` as in `tests/ecosystem`, `ngym` and `shell` to call commands.

`ngym` runs a command in this process, `shell` in a separate one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_packages import CORE_FOLDER
from sites import Site, call_ngym, fresh_site


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    yield from fresh_site(tmp_path, monkeypatch)


@pytest.fixture
def ngym():
    """See `sites.call_ngym`."""
    return call_ngym


@pytest.fixture(scope="session")
def shell():
    """Run ``python -m neurogym_core`` in a process with `site` first on the import path."""

    def run(
        *arguments: str,
        site: Path | None = None,
        module: str = "neurogym_core",
        **environment: str,
    ):
        path = [str(folder) for folder in (site, CORE_FOLDER) if folder is not None]
        env = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("NGYM_") and key != "COLUMNS"
        }
        return subprocess.run(
            [sys.executable, "-P", "-m", module, *arguments],
            env=env | {"PYTHONPATH": os.pathsep.join(path)} | environment,
            capture_output=True,
            text=True,
            timeout=600,
        )

    return run
