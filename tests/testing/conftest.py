"""`site` as in `tests/ecosystem`, `load` for the files of this folder."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent


def _module(name: str, path: Path) -> ModuleType:
    """The tests are no package, so that their files cannot be imported by name."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


site = _module("ngym_test_ecosystem_conftest", HERE.parent / "ecosystem" / "conftest.py").site


@pytest.fixture(scope="session")
def wrong() -> ModuleType:
    """Tasks that are wrong in one way each."""
    return _module("ngym_test_wrong_tasks", HERE / "wrong_tasks.py")


@pytest.fixture(scope="session")
def odd() -> ModuleType:
    """Tasks that are right in unusual ways."""
    return _module("ngym_test_odd_tasks", HERE / "odd_tasks.py")
