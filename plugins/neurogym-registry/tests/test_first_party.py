"""Every package of this repository can be released: its wheel makes a valid release."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import environments
import pytest
from neurogym_registry.releases import add_release, inspect_wheel
from neurogym_registry.rules import errors, validate
from neurogym_registry.wheels import read_wheel

makers = sys.modules["ngym_test_registry_makers"]
REGISTRY = environments.REPOSITORY / "registry"
PLUGINS = sorted(path.parent for path in REGISTRY.parent.glob("plugins/*/pyproject.toml"))
# Each package has a test with the kit; here its results are assumed to be good.
CONFORMANCE = makers.release("x")["conformance"]


@pytest.mark.slow
@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.name)
def test_a_wheel_of_this_repository_makes_a_valid_release(plugin: Path, tmp_path: Path) -> None:
    registry = tmp_path / "registry"
    shutil.copytree(REGISTRY, registry)
    wheel = read_wheel(environments.build_wheel(plugin, tmp_path / "dist"))
    inspection = inspect_wheel(wheel, tmp_path / "inspected")
    add_release(registry, wheel, inspection, CONFORMANCE if inspection.tasks else None)
    found = validate(registry, against=REGISTRY, wheels=tmp_path / "dist")
    assert [str(one) for one in errors(found)] == []
    pictures = list((registry / "releases" / wheel.name).glob("*/*.svg"))
    assert len(pictures) <= len(inspection.tasks)
    assert bool(pictures) is bool(inspection.tasks)
