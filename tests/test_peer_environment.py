"""Environments are made in their own folders: a link to another one is not emptied."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "benchmarks" / "peer_venv.py"


def test_a_link_to_another_environment_is_not_cleared(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("ngym_test_peer_venv", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module.subprocess, "run", lambda *_, **__: pytest.fail("it ran venv"))
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious").touch()
    try:
        (tmp_path / ".venv-peer").symlink_to(other, target_is_directory=True)
    except OSError:
        pytest.skip("this account cannot make links")
    with pytest.raises(FileExistsError, match=r"is a link to .*other.* Remove the link"):
        module.make_peer()
    assert (other / "precious").exists()


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_does_not_empty_an_environment_behind_a_link(tmp_path):
    other, link = tmp_path / "other", tmp_path / "link"
    other.mkdir()
    (other / "precious").touch()
    try:
        link.symlink_to(other, target_is_directory=True)
    except OSError:
        pytest.skip("this account cannot make links")
    done = subprocess.run(
        ["make", f"VENV={link}", f"{link}/bin/python"],
        cwd=SOURCE.parents[1],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert "Remove the link" in done.stderr
    assert (other / "precious").exists()
