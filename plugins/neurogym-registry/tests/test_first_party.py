"""Every package of this repository can be released: its wheel makes a valid release."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import environments
import pytest
from neurogym_registry.examination import Examination, unpacked
from neurogym_registry.first_party import contents_of
from neurogym_registry.releases import add_release, write_index
from neurogym_registry.rules import errors, validate
from neurogym_registry.wheels import read_wheel

from neurogym_core import UnknownTaskError
from neurogym_core.tools import find_task

makers = sys.modules["ngym_test_registry_makers"]
REGISTRY = environments.REPOSITORY / "registry"
PLUGINS = sorted(path.parent for path in REGISTRY.parent.glob("plugins/*/pyproject.toml"))
# Each package has a test with the kit; here its results are assumed to be good.
CONFORMANCE = makers.release("x")["conformance"]


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.name)
def test_the_shipped_registry_has_the_contents_of_the_sources(plugin: Path) -> None:
    stored = json.loads((REGISTRY / "sources" / f"{plugin.name}.json").read_text("utf-8"))
    assert stored == contents_of(plugin), "run `ngym registry build`"


def test_every_task_of_this_repository_is_found_without_its_package(ngym, site) -> None:
    """Only the core and this package are visible."""
    rows = json.loads(ngym("search", "--json").stdout)
    tasks = [row for row in rows if row["kind"] == "task"]
    assert len(tasks) >= 92
    found = json.loads(ngym("search", "dots", "--json").stdout)
    assert "visual/RandomDotMotion-v0" in [row["id"] for row in found]
    shown = ngym("search", "dots").stdout
    folder = REGISTRY.parent / "plugins" / "neurogym-task-visual"
    assert f"`pip install -e {folder}`" in "".join(shown.splitlines())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("GoNogo-v0", "its package neurogym-task-control is not installed. Install it: `pip"),
        ("GoNgo-v0", "Did you mean 'control/GoNogo-v0' of neurogym-task-control, which is not"),
        ("control/GoNgo-v0", "neurogym-task-control"),
    ],
)
def test_the_error_of_a_task_that_is_not_installed_names_its_package(
    site, name: str, said: str
) -> None:
    with pytest.raises(UnknownTaskError, match=re.escape(said)):
        find_task(name)
    site.add("foo", tasks={"Dots-v0": ""}, manifest=site.row("Dots-v0"))
    with pytest.raises(UnknownTaskError, match=re.escape(said)):
        find_task(name)


@pytest.mark.slow
@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.name)
def test_a_wheel_of_this_repository_makes_a_valid_release(plugin: Path, tmp_path: Path) -> None:
    registry = tmp_path / "registry"
    shutil.copytree(REGISTRY, registry)
    (tmp_path / "plugins").symlink_to(plugin.parent)  # a registry lists the packages beside it
    wheel = read_wheel(environments.build_wheel(plugin, tmp_path / "dist"))
    with unpacked(wheel, boxed=False) as bench:
        tasks, figures = bench.describe()
    made = Examination(tasks=tasks, figures=figures, conformance=CONFORMANCE if tasks else None)
    add_release(registry, wheel, made)
    write_index(registry)
    found = validate(registry, against=REGISTRY, wheels=tmp_path / "dist")
    assert [str(one) for one in errors(found)] == []
    pictures = list((registry / "releases" / wheel.name).glob("*/*.svg"))
    assert len(pictures) <= len(tasks)
    assert bool(pictures) is bool(tasks)
