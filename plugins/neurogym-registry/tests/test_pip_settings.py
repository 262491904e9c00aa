"""Of pip's settings, only indexes, proxy, certificates and the cache reach it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import made_packages as packages
import pytest
from neurogym_registry import pip
from neurogym_registry.errors import InstallError

INSTALL = """
import importlib, pathlib, sys
from neurogym_registry import pip, transaction
folder = pathlib.Path(sys.argv[1])
folder.mkdir()
steps = pip.fetch(pip.look_up(["helper"]), folder)
pip.install(steps, show=False)
print(steps[0].version, importlib.import_module("helper").__file__)
transaction.remove("helper")
"""
USED = {
    "EXTRA_INDEX_URL": "http://127.0.0.1:9/simple",
    "NO_INDEX": "1",
    "CERT": "/nonexistent",
}
"""Variables that say where packages come from: they reach pip."""
OTHERS = {
    "CONSTRAINT": "{folder}/constraints.txt",
    "REQUIREMENT": "{folder}/requirements.txt",
    "NO_BINARY": ":all:",
    "ONLY_BINARY": ":none:",
    "REQUIRE_HASHES": "1",
    "TARGET": "{folder}/target",
    "USER": "1",
    "PREFIX": "{folder}/prefix",
    "PYTHON": "{folder}/python",
    "DRY_RUN": "1",
    "PRE": "1",
    "LOG": "{folder}/pip.log",
    "IGNORE_INSTALLED": "1",
    "ROOT": "{folder}/root",
    "EDITABLE": "{folder}/sources",
    "REPORT": "{folder}/report.json",
    "VERBOSE": "3",
    "PLATFORM": "win_amd64",
    "ABI": "cp27",
    "QUIET": "3",
    "NO_CLEAN": "1",
    "REQUIRE_VIRTUALENV": "1",
    "PROGRESS_BAR": "raw",
    "DEST": "{folder}/dest",
    "SRC": "{folder}/src",
    "CONFIG_SETTINGS": "a=b",
    "UPLOADED_PRIOR_TO": "2020-01-01",
}
"""Variables that could install another file, elsewhere, or not at all: they do not reach pip."""


class Shop:
    """A folder of wheels, and the files that the variables name."""

    def __init__(self, folder: Path, environment: Any) -> None:
        self.folder, self.environment = folder, environment
        self.wheels = folder / "wheels"
        self.wheels.mkdir()
        for version in ("1.0", "2.0rc1"):
            packages.wheel(
                packages.Package(name="helper", version=version, requires=(), manifest=None),
                self.wheels,
            )
        (folder / "constraints.txt").write_text("helper<1\n")
        (folder / "requirements.txt").write_text(f"{folder / 'sources'}\n")
        (folder / "sources").mkdir()
        (folder / "sources" / "setup.py").write_text(f"open({str(folder / 'RAN')!r}, 'w')\n")
        self.left = sorted(folder.iterdir())

    def install(self, **variables: str) -> None:
        """Install and remove the helper, as `ngym install` does, and look for left files."""
        site = sorted(self.environment.site.iterdir())
        done = self.environment.run(
            "-c", INSTALL, self.folder / "fetched", PIP_FIND_LINKS=str(self.wheels), **variables
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"1.0 {self.environment.site / 'helper' / '__init__.py'}\n"
        shutil.rmtree(self.folder / "fetched")
        assert sorted(self.folder.iterdir()) == self.left
        assert sorted(self.environment.site.iterdir()) == site


@pytest.fixture
def shop(tmp_path: Path, environment: Any) -> Shop:
    return Shop(tmp_path, environment)


def test_all_other_variables_together_change_nothing(shop: Shop) -> None:
    shop.install(**{f"PIP_{key}": text.format(folder=shop.folder) for key, text in OTHERS.items()})


@pytest.mark.slow
@pytest.mark.parametrize("variable", OTHERS)
def test_a_variable_that_is_not_used_changes_nothing(shop: Shop, variable: str) -> None:
    shop.install(**{f"PIP_{variable}": OTHERS[variable].format(folder=shop.folder)})


@pytest.mark.slow
@pytest.mark.parametrize("section", ["global", "install"])
def test_settings_in_files_that_are_not_used_change_nothing(shop: Shop, section: str) -> None:
    rows = [f"{key.lower().replace('_', '-')} = {text}" for key, text in OTHERS.items()
            if key not in ("PYTHON", "LOG")]  # fmt: skip
    file = shop.folder / "pip.conf"
    file.write_text("\n".join([f"[{section}]", *rows]).format(folder=shop.folder) + "\n")
    shop.left = sorted(shop.folder.iterdir())
    shop.install(PIP_CONFIG_FILE=str(file))


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment without variables and files of pip."""
    for key in [*os.environ]:
        if key.upper().startswith("PIP_"):
            monkeypatch.delenv(key)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return monkeypatch


def test_the_thirty_variables_are_known() -> None:
    assert len(USED) + len(OTHERS) == 30
    settings = {name.upper().replace("-", "_") for name in pip.SETTINGS}
    assert settings >= USED.keys()
    assert not settings & OTHERS.keys()


def test_only_settings_that_are_used_reach_pip(bare: pytest.MonkeyPatch) -> None:
    for key, text in {**USED, **OTHERS}.items():
        bare.setenv(f"PIP_{key}", text)
    found = pip._variables()
    reached = {key: text for key, text in found.items() if key.startswith("PIP_")}
    expected = {f"PIP_{key}": text for key, text in USED.items()}
    assert reached == {**expected, "PIP_CONFIG_FILE": os.devnull}
    assert found["PATH"] == os.environ["PATH"]


def test_settings_of_files_reach_pip_and_sections_of_other_commands_do_not(
    bare: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "pip.conf"
    file.write_text(
        "[global]\nindex-url = https://one.example/simple\nproxy = http://proxy.example:3128\n"
        "quiet = 3\nuse-feature = truststore fast-deps\n"
        "[install]\nindex_url = https://two.example/simple\n"
        "[list]\nindex-url = https://three.example/simple\n"
    )
    bare.setenv("PIP_CONFIG_FILE", str(file))
    found = pip.configuration()
    expected = {
        "index-url": "https://two.example/simple",
        "proxy": "http://proxy.example:3128",
        "use-feature": "truststore",
    }
    assert expected.items() <= found.items()
    assert found.keys() <= {*pip.SETTINGS, "use-feature", "use-deprecated"}
    bare.setenv("PIP_INDEX_URL", "https://four.example/simple")
    assert pip.configuration()["index-url"] == "https://four.example/simple"


def test_settings_that_cannot_be_read_are_an_error(
    bare: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without the address of a private index, a name would be looked up in the public one."""
    file = tmp_path / "pip.conf"
    file.write_text("index-url = https://one.example/simple\n")
    bare.setenv("PIP_CONFIG_FILE", str(file))
    with pytest.raises(InstallError, match="cannot read its settings"):
        pip.look_up(["helper"])
