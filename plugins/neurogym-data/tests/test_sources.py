"""The conversion scripts: a pickle of the source can run no code."""

from __future__ import annotations

import importlib.util
import io
import os
import pickle
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

SOURCES = Path(__file__).parents[1] / "sources"


@pytest.fixture
def qu_2026(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    pytest.importorskip("numpy", minversion="2", reason="the pickles name modules of NumPy 2")
    monkeypatch.syspath_prepend(str(SOURCES))
    spec = importlib.util.spec_from_file_location("qu_2026", SOURCES / "qu_2026.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.delitem(sys.modules, "common", raising=False)
    return module


class Runs:
    """Runs a command when it is unpickled."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


def test_a_pickle_that_runs_a_command_is_refused(qu_2026: ModuleType, tmp_path: Path) -> None:
    made = tmp_path / "made"
    with pytest.raises(pickle.UnpicklingError, match="system, which is refused"):
        qu_2026.columns(pickle.dumps(Runs(f"touch {made}")))
    assert not made.exists()


def test_a_pickled_array_is_read(qu_2026: ModuleType) -> None:
    data = io.BytesIO(pickle.dumps(np.arange(3.0)))
    assert qu_2026.Reader(data).load().tolist() == [0, 1, 2]
