"""Installing and removing with pip, whose own configuration says where wheels come from."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import os
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
"""What nothing that is installed may change by the way: other packages' results stand on them."""
SECONDS = 600


@dataclass(frozen=True, kw_only=True)
class Step:
    """One distribution that pip would install; ``before`` is the version that is installed now, or
    None.
    """

    name: str
    version: str
    before: str | None
    sha256: str
    filename: str


def plan(name: str, version: str) -> list[Step]:
    """What pip would do to install a version: wheels only, nothing is changed or run.

    Raises:
        InstallError: there is no pip, it finds no such wheel, or it does not say a wheel's hash.
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


def install(steps: Sequence[Step], *, show: bool) -> None:
    """Install exactly these wheels, by hash.

    Args:
        steps: from `plan`.
        show: let pip show its progress on this process's terminal.

    Raises:
        InstallError: pip failed, or a file is damaged. Nothing is unpacked before all files are
            there, by hash, and whole; what was new is taken back should unpacking fail all the
            same.
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
            _require_whole(path)
        try:
            _pip("install", *arguments, "--no-index", "--find-links", folder)
        except InstallError:
            take_back(steps)
            raise


def take_back(steps: Sequence[Step]) -> None:
    """Remove what was not there before these steps, as far as pip can."""
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
    """Raise when a plan would change what others stand on.

    Raises:
        InstallError: it would, and that was not allowed.
    """
    changed = [
        one
        for one in steps
        if canonical(one.name) in PROTECTED and one.before not in (None, one.version)
    ]
    if changed and not upgrade_core:
        what = ", ".join(f"{one.name} {one.before} to {one.version}" for one in changed)
        raise InstallError(
            f"pip would change {what}. Expected these to stay as they are: results of other"
            " packages stand on them. Add --upgrade-core to allow it, or use an environment of its"
            " own. Nothing was changed."
        )


def refuse_other_wheels(steps: Sequence[Step], name: str, known: Mapping[str, str]) -> None:
    """Raise when the wheel that pip found for a package is not one that its release names.

    Args:
        steps: the plan.
        name: the package.
        known: file name -> sha256 of the release.

    Raises:
        InstallError: it is not.
    """
    for one in steps:
        if canonical(one.name) == name and one.sha256 not in known.values():
            raise InstallError(
                f"pip found {clean(one.filename)} with SHA-256 {one.sha256}. Expected one of the"
                " release in the registry:"
                f" {', '.join(f'{file} {sha}' for file, sha in known.items())}. Somebody may have"
                " put another file in its place; tell its maintainers. Nothing was installed."
            )


def installed_version(name: str) -> str | None:
    """The version of an installed distribution."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _require_whole(path: Path) -> None:
    """pip would stop in the middle of unpacking a damaged wheel, and leave the files it has
    written.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        damaged = said_by(error)
    if damaged is not None:
        raise InstallError(
            f"{path.name} has the hash it should have, and is damaged ({clean(damaged)}). Expected"
            " a whole wheel. Tell the package's maintainers, and ask for another version."
        )


def _step(row: Mapping[str, Any]) -> Step:
    name, version = str(row["metadata"]["name"]), str(row["metadata"]["version"])
    where = row["download_info"]
    sha256 = where.get("archive_info", {}).get("hashes", {}).get("sha256")
    filename = clean(str(where["url"]).rpartition("/")[2])
    if not sha256:
        raise InstallError(
            f"pip does not say the SHA-256 of {filename}. Expected one for every file, to install"
            " exactly what was looked at. Use an index or a folder of wheels, and a newer pip."
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
            f"ngym was to {command} a package, and the environment of {sys.executable} has no pip."
            " Expected one. Make it with `python -m ensurepip`, or use the tool that made this"
            " environment. Nothing was changed."
        )
    call = [sys.executable, "-m", "pip", command, "--disable-pip-version-check", "--no-input"]
    if not show:
        call.append("--quiet")
    environment = os.environ | {"PYTHONSAFEPATH": "1"}  # a file pip.py in this folder is not pip
    output = None if show else subprocess.PIPE
    try:
        done = subprocess.run(
            [*call, *arguments], stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, timeout=SECONDS,
            text=True, errors="replace",
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise InstallError(
            f"pip {command} did not end in {SECONDS} s. Look at what pip says by itself."
        ) from error
    if done.returncode:
        said = _errors(done.stderr or "") or "it said why above"
        raise InstallError(
            f"pip {command} failed: {said.rstrip('.')}. Expected it to find and {command} these"
            " packages; its configuration (`python -m pip config list`) says where it looks."
            " Correct that, and try again."
        )


def _errors(text: str) -> str:
    """The lines that pip marks as errors, or the last few."""
    lines = [clean(line) for line in text.splitlines() if line.strip()]
    marked = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return " ".join(marked or lines[-3:])
