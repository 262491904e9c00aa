"""A task in a file, and the command `ngym` in a new folder."""

from __future__ import annotations

import pytest
import sites
from trainer_texts import TASK

from neurogym_core.tools import trusting


@pytest.fixture
def sides(tmp_path):
    """Return the name of a task in a file; runs that name it are trusted."""
    file = tmp_path / "sides_task.py"
    file.write_text(TASK, "utf-8")
    with trusting():
        yield f"{file}:Sides"


@pytest.fixture
def ngym(tmp_path, monkeypatch):
    """Return a function that runs ``ngym`` in a new folder; it returns exit code and output."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    return sites.called
