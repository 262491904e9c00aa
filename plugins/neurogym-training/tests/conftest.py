"""A trainer without torch, installed for the tests, and a task to train on."""

from __future__ import annotations

import pytest
import sites
from trainer_texts import TASK, TOY

from neurogym_core.tools import trusting


@pytest.fixture
def toys(tmp_path, monkeypatch):
    """Install the trainers "toy" (--model) and "toy-agent" (--algo)."""
    names = {"toy": "Toy", "toy-agent": "ToyAgent", "no-trainer": "json:loads"}
    yield from sites.installed_trainers(tmp_path, monkeypatch, TOY, names)


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
