"""Every package of this project brings its licence and a true address."""

from __future__ import annotations

import os
import tomllib
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest
from neurogym_check.new import KINDS, LICENCES, render

from neurogym_core.ecosystem import published

ROOT = Path(__file__).resolve().parents[1]
PLUGINS = sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))


def built(folder: Path, target: Path) -> tuple[Message, dict[str, bytes]]:
    """Build the wheel of a package; return its metadata, and its licence files by name."""
    from hatchling.builders.wheel import WheelBuilder

    (wheel,) = WheelBuilder(str(folder)).build(directory=str(target), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        start = f"{os.path.dirname(metadata)}/licenses/"
        files = {
            name.removeprefix(start): archive.read(name)
            for name in archive.namelist()
            if name.startswith(start)
        }
        return message_from_bytes(archive.read(metadata)), files


@pytest.mark.parametrize("folder", [ROOT, *PLUGINS], ids=lambda folder: folder.name)
def test_the_licence_is_that_of_the_project_and_of_the_data_in_it(folder: Path) -> None:
    """The verdicts of a release compare the wheels with these."""
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    of_data = sorted(folder.glob("neurogym_*/tables/*.license.txt"))
    first, *others = project["license"].split(" AND ")
    assert first == "BSD-3-Clause"
    assert bool(others) is bool(of_data)
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    there = {path for pattern in project["license-files"] for path in folder.glob(pattern)}
    assert there == {folder / "LICENSE", *of_data}


def test_nothing_is_published_without_an_address() -> None:
    assert published.REPOSITORY or not published.PUBLISHED


@pytest.mark.parametrize(
    ("kind", "licence"), [*zip(KINDS, [*LICENCES, *LICENCES], strict=False)], ids="-".join
)
def test_the_wheel_of_a_new_package_has_its_licence(
    kind: str, licence: str, tmp_path: Path
) -> None:
    answers = {
        "task_name": "SideMemory",
        "lab": "sides",
        "author": "Ana Example",
        "repository": "https://example.org/lab/neurogym-task-sides",
        "licence": licence,
        "kind": kind,
    }
    folder = render(answers, tmp_path)
    metadata, licences = built(folder, tmp_path / "dist")
    assert metadata["License-Expression"] == licence
    assert licences == {"LICENSE": (folder / "LICENSE").read_bytes()} != {"LICENSE": b""}
    assert metadata.get_all("Project-URL") == [f"Repository, {answers['repository']}"]


@pytest.mark.parametrize(
    "path", ["LICENSE", "SECURITY.md", "CODE_OF_CONDUCT.md", ".github/dependabot.yml"]
)
def test_the_files_that_visitors_look_for_are_there(path: str) -> None:
    assert (ROOT / path).read_text("utf-8").strip()


def test_every_path_with_owners_exists() -> None:
    lines = (ROOT / ".github" / "CODEOWNERS").read_text("utf-8").splitlines()
    paths = [line.split()[0] for line in lines if line and not line.startswith("#")]
    assert paths
    for path in paths:
        assert (ROOT / path.strip("/")).exists(), path
