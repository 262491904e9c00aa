"""Advice of the core about packages of this project that are not installed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from neurogym_core import UnknownTaskError, make
from neurogym_core.ecosystem import names
from neurogym_core.errors import BrokenTaskError
from neurogym_core.tools import said_by

PLUGINS = sorted(path.parent.name for path in Path(__file__).parents[2].glob("plugins/*/*.toml"))


def test_every_package_of_the_repository_is_in_the_list():
    assert sorted(row["name"] for row in names.rows()) == PLUGINS


@pytest.mark.parametrize("package", PLUGINS)
def test_importing_a_package_that_is_not_installed_names_it(
    package: str, tmp_path: Path, monkeypatch
):
    module = package.replace("-", "_")
    file = tmp_path / "my_task.py"
    file.write_text(f"from {module} import anything\n", "utf-8")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(BrokenTaskError, match=re.escape(names.comes_with(module, package))):
        make(f"{file}:Task")


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("No module named 'numppy'", name="numppy"),
        ImportError("cannot import name 'maek' from 'neurogym_core'", name="neurogym_core"),
        ImportError(),
        TypeError("neurogym_training"),
    ],
)
def test_other_errors_are_left_as_they_are(error):
    assert "comes with" not in said_by(error)


@pytest.mark.parametrize("namespace", names.brought("namespaces"))
def test_a_task_of_a_missing_package_of_this_project_is_answered_with_the_package(namespace, site):
    line = re.escape(names.comes_with(f"{namespace}/", f"neurogym-task-{namespace}"))
    with pytest.raises(UnknownTaskError, match=line):
        make(f"{namespace}/Anything-v0")


def test_every_kind_of_thing_is_found_in_the_list():
    """The list has the names that errors are asked about, each with its package."""
    wanted = {
        "commands": ("plot", "neurogym-plot"),
        "subjects": ("integrator", "neurogym-likeness"),
        "plugins": ("ngym_render", "neurogym-plot"),
        "wrappers": ("Mixture", "neurogym-wrappers"),
        "former wrappers": ("CurriculumLearning", "neurogym-wrappers"),
        "tasks": ("GoNogo-v0", "neurogym-task-control"),
        "namespaces": ("ibl", "neurogym-task-ibl"),
        "modules": ("neurogym_torch", "neurogym-torch"),
        "trainers": ("ppo", "neurogym-sb3"),
    }
    for kind, (name, package) in wanted.items():
        assert names.brought(kind)[name] == package
    assert names.brought("plugins")["ngym_read_experiment"] == "neurogym-training"
    assert names.brought("plugins")["ngym_checkup"] == "neurogym-registry"


@pytest.mark.parametrize("given", ["dlygointr-v0", "dlygointr", "ready_set_go-v0"])
def test_an_id_in_lower_case_is_answered_with_the_id_that_exists(given, site):
    """Names in snake case, which wrappers may have, are no ids of tasks."""
    ids = {"Dlygointr-v0": "timers.tasks:One", "ReadySetGo-v0": "timers.tasks:Two"}
    site.add("timers", tasks=ids, files={"tasks.py": ""})
    known = "ReadySetGo-v0" if "_" in given else "Dlygointr-v0"
    with pytest.raises(UnknownTaskError, match=f"Did you mean 'x-timers/{known}'"):
        make(f"x-timers/{given}")
