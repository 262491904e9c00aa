"""The choice of the kernel: `NGYM_KERNEL`, a missing kernel, and one built from other sources."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from neurogym_core.errors import InvalidValueError, MissingDependencyError
from neurogym_core.play import kernels
from neurogym_core.play.kernel import VERSION
from neurogym_core.players import kernel_in_use

NAME = "neurogym_core.play._kernel"


@pytest.fixture(autouse=True)
def no_switch(monkeypatch):
    monkeypatch.delenv("NGYM_KERNEL", raising=False)


@pytest.fixture
def built(monkeypatch):
    """Put a module in the place of the compiled kernel."""

    def put(version: int | None) -> ModuleType:
        module = ModuleType(NAME)
        module.__file__ = "/there/_kernel.so"
        if version is not None:
            module.VERSION = version
        monkeypatch.setitem(sys.modules, NAME, module)
        return module

    return put


@pytest.fixture
def not_built(monkeypatch):
    def missing(name: str) -> ModuleType:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(kernels.importlib, "import_module", missing)


def test_a_kernel_that_was_built_from_these_sources_is_used(built):
    module = built(VERSION)
    found = kernel_in_use()
    assert found.module is module
    assert found.name == "compiled"
    assert str(found) == f"The compiled kernel plays: version {VERSION}, /there/_kernel.so."


@pytest.mark.parametrize("version", [VERSION - 1, VERSION + 1, None])
def test_a_kernel_of_another_version_is_not_used(built, monkeypatch, version):
    built(version)
    found = kernel_in_use()
    assert found.module is None
    assert f"has version {version}" in found.reason
    monkeypatch.setenv("NGYM_KERNEL", "compiled")
    with pytest.raises(
        MissingDependencyError,
        match=f"has version {version}.*Expected .* version {VERSION}.*pip install -e",
    ):
        kernel_in_use()


@pytest.mark.usefixtures("not_built")
def test_without_a_built_one_the_plain_kernel_plays_and_the_line_names_its_costs():
    found = kernel_in_use()
    assert (found.module, found.name, found.reason) == (
        None,
        "plain",
        "the compiled kernel was not built",
    )
    assert "steps of envs and the rendering of datasets are slower" in str(found)
    assert "pip install -e" in str(found)


@pytest.mark.usefixtures("not_built")
def test_a_compiled_kernel_that_is_demanded_and_was_not_built_is_an_error_that_says_how_to_build_it(
    monkeypatch,
):
    monkeypatch.setenv("NGYM_KERNEL", "compiled")
    with pytest.raises(
        MissingDependencyError,
        match=r"was not built\. Expected .*NEUROGYM_BUILD_KERNEL=1 .*unset NGYM_KERNEL",
    ):
        kernel_in_use()


def test_a_kernel_that_cannot_be_loaded_is_not_used_and_the_reason_is_the_loader_s(monkeypatch):
    def broken(name: str) -> ModuleType:
        raise ImportError("undefined symbol: nothing")

    monkeypatch.setattr(kernels.importlib, "import_module", broken)
    assert kernel_in_use() == (
        None,
        "the compiled kernel cannot be loaded (undefined symbol: nothing)",
    )


def test_the_plain_kernel_can_be_asked_for_although_one_was_built(built, monkeypatch):
    built(VERSION)
    monkeypatch.setenv("NGYM_KERNEL", "plain")
    assert kernel_in_use() == (None, "NGYM_KERNEL is plain")


@pytest.mark.parametrize("given", ["fast", "0", "Plain"])
def test_a_switch_of_another_value_is_an_error(monkeypatch, given):
    monkeypatch.setenv("NGYM_KERNEL", given)
    with pytest.raises(
        InvalidValueError,
        match=f"NGYM_KERNEL is '{given}'. Expected plain or compiled. Correct or unset it.",
    ):
        kernel_in_use()
