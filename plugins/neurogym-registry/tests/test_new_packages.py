"""`ngym new` with this package installed: names are compared, and new packages can be listed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import environments
import pytest

from neurogym_core.cli import new

makers = sys.modules["ngym_test_registry_makers"]


def answers(lab: str, kind: str = "table") -> list[str]:
    given = {"task": "Walk", "lab": lab, "author": "Ana", "licence": "MIT", "kind": kind}
    return [part for key, value in given.items() for part in (f"--{key}", value)]


@pytest.mark.parametrize(("lab", "other"), [("memory", "memory"), ("memor", "memory")])
def test_a_name_that_looks_like_a_listed_one_is_refused_before_anything_is_written(
    ngym, site, tmp_path: Path, lab: str, other: str
) -> None:
    result = ngym("new", str(tmp_path / "here"), *answers(lab))
    assert result.exit_code == 1
    text = " ".join(result.stderr.split())
    assert f"neurogym-task-{lab}, which looks like neurogym-task-{other}" in text
    assert "Nothing was written." in text
    assert not (tmp_path / "here").exists()


def test_a_registry_that_cannot_be_read_refuses_no_name(ngym, site, tmp_path: Path) -> None:
    result = ngym("new", str(tmp_path / "here"), *answers("memor"), NGYM_REGISTRY="/nowhere")
    assert result.exit_code == 0, result.output


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, wheels: list[Path], third_party: Path):
    made = environments.Environment(tmp_path_factory.mktemp("env") / "venv", third_party)
    plugins = environments.REPOSITORY / "plugins"
    classic = [plugins / "neurogym-classic", plugins / "neurogym-film"]  # play and draw
    built = [environments.build_wheel(source, made.folder / "dist") for source in classic]
    made.pip_install([*wheels, *built])
    return made


@pytest.mark.slow
@pytest.mark.parametrize("kind", new.KINDS)
def test_a_package_of_each_kind_is_taken_by_a_registry(
    environment, tmp_path: Path, kind: str
) -> None:
    lab = f"of-{kind}"
    environment.ngym("new", tmp_path, *answers(lab, kind), check=True)
    package = tmp_path / f"neurogym-task-{lab}"
    makers.finish(package)
    wheel = environments.build_wheel(package, tmp_path / "dist")
    keeper = makers.Keeper(tmp_path / "registry")
    keeper.entry(package.name)
    environment.ngym("registry", "add-release", wheel, keeper.folder, check=True)
    options = ("--wheels", wheel.parent, "--json")
    assert (
        json.loads(environment.ngym("registry", "validate", keeper.folder, *options).stdout) == []
    )
