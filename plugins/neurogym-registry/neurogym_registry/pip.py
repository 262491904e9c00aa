"""Install and remove packages with pip; pip's configuration sets where wheels come from."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from neurogym_core.ecosystem.names import CORE, canonical, clean, said_by
from neurogym_core.errors import InstallError

PROTECTED = (CORE, "gymnasium", "numpy")
"""Packages that an installation must not change: results of other packages depend on them."""
SECONDS = 600


@dataclass(frozen=True, kw_only=True)
class Step:
    """A distribution that pip would install; ``before`` is the installed version, or None."""

    name: str
    version: str
    before: str | None
    sha256: str
    filename: str


def plan(name: str, version: str) -> list[Step]:
    """Return pip's steps to install a version, from wheels only; nothing is changed or run.

    Raises:
        InstallError: pip is missing, finds no such wheel, or does not report a wheel's hash.
    """
    with TemporaryDirectory(prefix="ngym-") as folder:
        report = Path(folder) / "report.json"
        _pip(
            "install",
            "--dry-run",
            "--only-binary",
            ":all:",
            "--report",
            str(report),
            f"{name}=={version}",
        )
        rows = json.loads(report.read_text("utf-8"))["install"]
    return [_step(row) for row in rows]


def download(requirement: str, folder: Path, *hashes: str) -> Path:
    """Download the wheel of a release into a folder, without dependencies; no code of it runs.

    Args:
        requirement: ``name==version``.
        folder: the folder.
        hashes: the SHA-256 that the file may have; any if none are given.

    Raises:
        InstallError: pip is missing, finds no such wheel, or only one with another hash.
    """
    with TemporaryDirectory(prefix="ngym-") as name:
        lock = Path(name) / "requirements.txt"
        lock.write_text(" ".join([requirement, *(f"--hash=sha256:{one}" for one in hashes)]))
        required = ("--require-hashes",) if hashes else ()
        arguments = ("--no-deps", "--only-binary", ":all:", *required, "-r", str(lock))
        _pip("download", *arguments, "-d", name)
        (path,) = Path(name).glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy2(path, folder))


def install(steps: Sequence[Step], *, show: bool) -> None:
    """Install exactly these wheels, by hash.

    Args:
        steps: from `plan`.
        show: let pip print its progress on the terminal.

    Raises:
        InstallError: pip failed, or a file is damaged. All files are downloaded and verified before
            any is unpacked; if unpacking fails, new packages are removed again.
    """
    with TemporaryDirectory(prefix="ngym-") as folder:
        lock = Path(folder) / "requirements.txt"
        lock.write_text(
            "".join(f"{one.name}=={one.version} --hash=sha256:{one.sha256}\n" for one in steps),
            "utf-8",
        )
        arguments = ("--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(lock))
        _pip("download", *arguments, "-d", folder, show=show)
        for path in Path(folder).glob("*.whl"):
            _require_intact(path)
        try:
            _pip("install", *arguments, "--no-index", "--find-links", folder)
        except InstallError:
            take_back(steps)
            raise


def take_back(steps: Sequence[Step]) -> None:
    """Remove the packages that these steps have added, as far as pip can."""
    importlib.invalidate_caches()
    for one in steps:
        if one.before is None and installed_version(one.name) is not None:
            with contextlib.suppress(InstallError):
                uninstall(one.name)


def uninstall(name: str) -> None:
    """Remove a distribution.

    Raises:
        InstallError: pip failed.
    """
    _pip("uninstall", "--yes", name)


def refuse_changes(steps: Sequence[Step], *, upgrade_core: bool) -> None:
    """Raise an error if a plan would change `PROTECTED` packages.

    Raises:
        InstallError: it would, and `upgrade_core` is false.
    """
    changed = [
        one
        for one in steps
        if canonical(one.name) in PROTECTED and one.before not in (None, one.version)
    ]
    if changed and not upgrade_core:
        what = ", ".join(f"{one.name} {one.before} to {one.version}" for one in changed)
        raise InstallError(
            f"pip would change {what}. Expected no change, because results of other packages depend"
            " on these versions. Add --upgrade-core to allow it, or use a separate environment."
            " Nothing was changed."
        )


def refuse_other_wheels(steps: Sequence[Step], name: str, known: Mapping[str, str]) -> None:
    """Raise an error if pip found a wheel that is not in the package's release.

    Args:
        steps: the plan.
        name: the package.
        known: file name -> SHA-256 of the release's wheels.

    Raises:
        InstallError: the hash of the wheel is not in `known`.
    """
    for one in steps:
        if canonical(one.name) == name and one.sha256 not in known.values():
            raise InstallError(
                f"pip found {clean(one.filename)} with SHA-256 {one.sha256}. Expected one of the"
                " release in the registry:"
                f" {', '.join(f'{file} {sha}' for file, sha in known.items())}. The file may have"
                " been replaced; report this to the package's maintainers. Nothing was installed."
            )


def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _require_intact(path: Path) -> None:
    """Raise an error if a wheel is damaged; pip would leave it half unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        damaged = said_by(error)
    if damaged is not None:
        raise InstallError(
            f"{path.name} is damaged ({clean(damaged)}), although its hash is correct. Expected an"
            " intact wheel. Report this to the package's maintainers, and install another version."
        )


def _step(row: Mapping[str, Any]) -> Step:
    name, version = str(row["metadata"]["name"]), str(row["metadata"]["version"])
    where = row["download_info"]
    sha256 = where.get("archive_info", {}).get("hashes", {}).get("sha256")
    filename = clean(str(where["url"]).rpartition("/")[2])
    if not sha256:
        raise InstallError(
            f"pip does not report the SHA-256 of {filename}. Expected a hash for every file, so"
            " that exactly this file is installed. Use an index or a folder of wheels, and a newer"
            " pip."
        )
    return Step(
        name=canonical(name),
        version=version,
        before=installed_version(name),
        sha256=sha256,
        filename=filename,
    )


def _pip(command: str, *arguments: str, show: bool = False) -> None:
    if importlib.util.find_spec("pip") is None:
        raise InstallError(
            f"The environment of {sys.executable} has no pip. Expected pip, which ngym uses to"
            f" {command} packages. Install it with `python -m ensurepip`, or use the tool that made"
            " this environment. Nothing was changed."
        )
    call = [sys.executable, "-m", "pip", command, "--disable-pip-version-check", "--no-input"]
    if not show:
        call.append("--quiet")
    environment = os.environ | {"PYTHONSAFEPATH": "1"}  # a file pip.py in this folder is not pip
    output = None if show else subprocess.PIPE
    try:
        done = subprocess.run(
            [*call, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            timeout=SECONDS,
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired as error:
        raise InstallError(
            f"pip {command} did not finish in {SECONDS} s. Expected it to finish. Run pip itself to"
            " see its messages, and try again."
        ) from error
    if done.returncode:
        said = _errors(done.stderr or "") or "see its messages above"
        raise InstallError(
            f"pip {command} failed: {said.rstrip('.')}. Expected pip to find and {command} the"
            " packages. Check where it looks for them (`python -m pip config list`), and try again."
        )


def _errors(text: str) -> str:
    """Return the lines that pip marks as errors, or the last three lines."""
    lines = [clean(line) for line in text.splitlines() if line.strip()]
    marked = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return " ".join(marked or lines[-3:])
