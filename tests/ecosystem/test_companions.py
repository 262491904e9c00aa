"""Imports of modules that packages of this project bring, without these packages."""

from __future__ import annotations

import builtins
import re
from pathlib import Path

import pytest

from neurogym_core import make
from neurogym_core.ecosystem import companions
from neurogym_core.ecosystem.names import said_by
from neurogym_core.errors import BrokenTaskError, UnknownTaskError


@pytest.fixture
def bare_core(monkeypatch):
    """The core without the other packages of this project."""
    lacking = {*companions.MODULES, *(module for _, module in companions.MODULES.values())}
    real = builtins.__import__

    def without(name, glob=None, local=None, wanted=(), level=0):
        for whole in (name, *(f"{name}.{one}" for one in wanted or ())):
            if whole in lacking:
                raise ModuleNotFoundError(f"No module named {whole!r}", name=whole)
        return real(name, glob, local, wanted, level)

    monkeypatch.setattr(builtins, "__import__", without)


@pytest.mark.parametrize("former", companions.MODULES)
@pytest.mark.parametrize("statement", ["import {}", "from {} import anything"])
def test_importing_a_former_module_of_the_core_names_its_new_package(
    former, statement, tmp_path: Path, bare_core
):
    package, module = companions.MODULES[former]
    file = tmp_path / "my_task.py"
    file.write_text(f"{statement.format(former)}\n", "utf-8")
    with pytest.raises(BrokenTaskError) as caught:
        make(f"{file}:Task")
    line = f"{companions.comes_with(former, package)}, and import {module} instead."
    assert line in str(caught.value)


@pytest.mark.parametrize(("package", "module"), companions.MODULES.values())
def test_importing_a_package_that_is_not_installed_names_it(
    package, module, tmp_path: Path, bare_core
):
    file = tmp_path / "my_task.py"
    file.write_text(f"from {module} import anything\n", "utf-8")
    with pytest.raises(BrokenTaskError, match=re.escape(companions.comes_with(module, package))):
        make(f"{file}:Task")


def test_a_former_name_of_the_core_names_its_new_package():
    error = ImportError(
        "cannot import name 'classic' from 'neurogym_core' (…)", name="neurogym_core"
    )
    assert "comes with neurogym-classic" in said_by(error)


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("No module named 'numppy'", name="numppy"),
        ImportError("cannot import name 'maek' from 'neurogym_core'", name="neurogym_core"),
        ImportError(),
        TypeError("neurogym_core.classic"),
    ],
)
def test_other_errors_are_left_as_they_are(error):
    assert "comes with" not in said_by(error)


def test_the_classic_form_is_not_in_the_core_any_more():
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'neurogym_core.classic'"):
        import neurogym_core.classic  # noqa: F401


@pytest.mark.parametrize("namespace", companions.NAMESPACES)
def test_a_task_of_a_missing_package_of_this_project_is_answered_with_the_package(namespace, site):
    package = f"neurogym-task-{namespace}"
    line = re.escape(companions.comes_with(f"{namespace}/", package))
    with pytest.raises(UnknownTaskError, match=line):
        make(f"{namespace}/Anything-v0")


def test_the_namespaces_are_those_of_the_task_packages():
    found = {path.name for path in (Path(__file__).parents[2] / "plugins").glob("neurogym-task-*")}
    assert found == {*companions.NAMESPACES.values()}
