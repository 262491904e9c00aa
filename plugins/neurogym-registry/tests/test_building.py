"""Sdists and wheels contain the registry's index and schemas, in whatever way they are built."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import environments
import pytest

SOURCE = environments.REPOSITORY / "plugins" / "neurogym-registry"
REGISTRY = environments.REPOSITORY / "registry"
TAKEN = {
    path.relative_to(REGISTRY).as_posix(): path.read_bytes()
    for path in (REGISTRY / "index.json", *(REGISTRY / "schema").iterdir())
}


def in_the_wheel(wheel: Path) -> dict[str, bytes]:
    """The files of the registry in a wheel."""
    start = "neurogym_registry/_data/"
    with zipfile.ZipFile(wheel) as archive:
        return {
            name.removeprefix(start): archive.read(name)
            for name in archive.namelist()
            if name.startswith(start)
        }


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, unpacked outside the checkout."""
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)]
    subprocess.run(command, cwd=SOURCE, check=True, capture_output=True, timeout=300)
    (path,) = folder.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        archive.extractall(folder, filter="data")
    (made,) = (one for one in folder.iterdir() if one.is_dir())
    return made


def test_a_wheel_from_the_checkout_has_the_files(tmp_path: Path) -> None:
    assert in_the_wheel(environments.build_wheel(SOURCE, tmp_path)) == TAKEN


def test_a_wheel_from_the_sdist_has_the_files(unpacked: Path, tmp_path: Path) -> None:
    assert in_the_wheel(environments.build_wheel(unpacked, tmp_path)) == TAKEN


def test_without_the_files_no_wheel_is_built(unpacked: Path, tmp_path: Path) -> None:
    (unpacked / "registry" / "index.json").rename(tmp_path / "index.json")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        environments.build_wheel(unpacked, tmp_path)
    assert b"There is no registry with index.json and schema" in refused.value.stderr
    (tmp_path / "index.json").rename(unpacked / "registry" / "index.json")
