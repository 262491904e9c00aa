"""The environment of the peer in `benchmarks` is made in its own folder."""

from __future__ import annotations

import importlib.util
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
