"""The environments of `tests/registry`, for packages made from the template."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def _neighbour(name: str, path: Path) -> ModuleType:
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


_registry = _neighbour(
    "ngym_test_registry_makers", Path(__file__).parents[1] / "registry" / "conftest.py"
)
environments = _registry.environments
third_party = _registry.third_party
core_wheel = _registry.core_wheel
check_wheel = _registry.check_wheel


@pytest.fixture(scope="module")
def environment(
    tmp_path_factory: pytest.TempPathFactory,
    core_wheel: Path,
    check_wheel: Path,
    third_party: Path,
):
    """An environment with the core and the checks."""
    made = environments.Environment(tmp_path_factory.mktemp("env") / "venv", third_party)
    made.pip_install([core_wheel, check_wheel])
    return made
