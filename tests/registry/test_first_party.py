"""Every package of this repository could be released: its wheel makes a release that keeps to the
rules.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from neurogym_core._bundled import bundled
from neurogym_core.ecosystem.registry.releases import add_release, inspect_wheel
from neurogym_core.ecosystem.registry.rules import errors, validate
from neurogym_core.ecosystem.registry.wheels import read_wheel

makers = sys.modules["ngym_test_registry_makers"]
environments = sys.modules["ngym_test_environments"]
PLUGINS = sorted(
    path.parent for path in bundled("registry").parent.glob("plugins/*/pyproject.toml")
)
# The kit has a test in each package; here it is taken to have passed.
CONFORMANCE = makers.release("x")["conformance"]


@pytest.mark.slow
@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.name)
def test_a_wheel_of_this_repository_makes_a_valid_release(plugin: Path, tmp_path: Path) -> None:
    registry = tmp_path / "registry"
    shutil.copytree(bundled("registry"), registry)
    wheel = read_wheel(environments.build_wheel(plugin, tmp_path / "dist"))
    inspection = inspect_wheel(wheel, tmp_path / "inspected")
    add_release(registry, wheel, inspection, CONFORMANCE if inspection.tasks else None)
    found = validate(registry, against=bundled("registry"), wheels=tmp_path / "dist")
    assert [str(one) for one in errors(found)] == []
    pictures = list((registry / "releases" / wheel.name).glob("*/*.svg"))
    assert len(pictures) <= len(inspection.tasks)
    assert bool(pictures) is bool(inspection.tasks)
