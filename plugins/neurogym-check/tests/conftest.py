"""Fixtures: `site` is a folder for packages on the import path, `ngym` runs commands in this
process, `wrong`, `odd`, `leaky` and `unanswerable` are the tasks of this folder.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import Result
from sites import Site, call_ngym, fresh_site

HERE = Path(__file__).parent


def _module(name: str) -> ModuleType:
    """Import a file of this folder, which is not a package."""
    known = f"neurogym_check_tests_{name}"
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, HERE / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[known] = module
        spec.loader.exec_module(module)
    return sys.modules[known]


@pytest.fixture(scope="session")
def wrong() -> ModuleType:
    """Tasks with one fault each."""
    return _module("wrong_tasks")


@pytest.fixture(scope="session")
def odd() -> ModuleType:
    """Unusual tasks without a fault."""
    return _module("odd_tasks")


@pytest.fixture(scope="session")
def leaky() -> ModuleType:
    """Tasks with a shortcut, and variants without it."""
    return _module("leaky_tasks")


@pytest.fixture(scope="session")
def unanswerable() -> ModuleType:
    """Tasks that cannot be solved, and variants that can."""
    return _module("unanswerable_tasks")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A folder for packages; scans see only it, the core and this package."""
    yield from fresh_site(tmp_path, monkeypatch, "neurogym-check")


@pytest.fixture
def ngym() -> Callable[..., Result]:
    """See `sites.call_ngym`."""
    return call_ngym
