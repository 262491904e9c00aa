"""Install and remove packages with pip; pip's configuration sets where wheels come from."""

from __future__ import annotations

import ast
import contextlib
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit

from neurogym_core.tools import canonical, clean, said_by
from neurogym_registry.errors import InstallError
from neurogym_registry.requirements import CORE
from neurogym_registry.wheels import MAX_UNPACKED, fault_of_record, sha256_of

PROTECTED = (CORE, "gymnasium", "numpy")
"""Packages that an installation must not change: results of other packages depend on them."""
SECONDS = 600
MOST_RATIO = 30
"""Most bytes of a large wheel's files per byte of the wheel."""
_SETTINGS = {
    True: "`python -m pip config list`",
    False: "PIP_INDEX_URL and the files of pip's configuration; uv's settings are not read",
}
"""Where pip's settings are seen, with and without pip in the environment."""
_AT_START = re.compile(
    r"^([^/]+\.data/(purelib|platlib)/)?([^/]+\.pth|(site|user)customize(\.|/).*)$"
)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A wheel that pip would take; ``host`` is empty for a file of this machine."""

    name: str
    version: str
    sha256: str
    filename: str
    host: str
    requires: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Step(Candidate):
    """A downloaded wheel to install; ``before`` is the installed version, or None.

    Attributes:
        at_start: files that run whenever Python starts.
    """

    path: Path
    size: int
    before: str | None
    at_start: tuple[str, ...] = ()


def look_up(requirements: Iterable[str]) -> list[Candidate]:
    """Return the wheels that pip finds for requirements, without dependencies; nothing is run.

    Raises:
        InstallError: pip is missing, finds no such wheel, or does not report a wheel's hash.
    """
    with TemporaryDirectory(prefix="ngym-") as folder:
        lines, report = Path(folder) / "requirements.txt", Path(folder) / "report.json"
        lines.write_text("\n".join(requirements), "utf-8")
        options = ("--dry-run", "--ignore-installed", "--no-deps", "--only-binary", ":all:")
        _pip("install", *options, "--report", str(report), "-r", str(lines))
        rows = json.loads(report.read_text("utf-8"))["install"]
    return [_candidate(row) for row in rows]


def fetch(candidates: Sequence[Candidate], folder: Path) -> list[Step]:
    """Download exactly these wheels, by hash, into a folder; nothing is run.

    Raises:
        InstallError: pip failed, or a file is damaged.
    """
    if not candidates:
        return []
    _pip("download", *_locked(candidates, folder), "-d", str(folder))
    paths = {sha256_of(path): path for path in folder.glob("*.whl")}
    return [_step(one, paths[one.sha256]) for one in candidates]


def _step(found: Candidate, path: Path) -> Step:
    _require_intact(path)
    with zipfile.ZipFile(path) as archive:
        if (fault := fault_of_record(archive)) is not None:
            raise InstallError(
                f"{clean(path.name)} is not installed: {fault}. Expected a RECORD of exactly its"
                " files, because pip removes the files that it lists. Report this to the package's"
                " maintainers, and install another version. Nothing was installed."
            )
        names = [name for name in archive.namelist() if _AT_START.search(name)]
    return Step(
        **vars(found),
        path=path,
        size=path.stat().st_size,
        before=installed_version(found.name),
        at_start=tuple(clean(name) for name in names),
    )


def configuration() -> dict[str, str]:
    """Return pip's settings, e.g. ``{"index-url": "https://…"}``; {} if pip cannot be run."""
    program = _program()
    if program is None:
        return {}
    command = [*program, "config", "list"]
    environment = os.environ | {"PYTHONSAFEPATH": "1"}  # as in `_pip`
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return {}
    lines = [line.partition("=") for line in done.stdout.splitlines()]
    # Variables of the environment, which pip lists first, take precedence over files.
    lines.sort(key=lambda line: line[0].startswith(":env:"))
    return {key.rpartition(".")[2]: str(ast.literal_eval(text)) for key, _, text in lines}


def lock(candidates: Iterable[Candidate]) -> str:
    """Return the lines of a requirements file with versions and hashes."""
    return "".join(f"{one.name}=={one.version} --hash=sha256:{one.sha256}\n" for one in candidates)


def _locked(candidates: Iterable[Candidate], folder: Path) -> tuple[str, ...]:
    """Return pip's options for exactly these wheels."""
    path = folder / "requirements.txt"
    path.write_text(lock(candidates), "utf-8")
    return ("--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(path))


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
        lines = Path(name) / "requirements.txt"
        lines.write_text(" ".join([requirement, *(f"--hash=sha256:{one}" for one in hashes)]))
        required = ("--require-hashes",) if hashes else ()
        arguments = ("--no-deps", "--only-binary", ":all:", *required, "-r", str(lines))
        try:
            _pip("download", *arguments, "-d", name)
        except InstallError as error:
            if "DO NOT MATCH THE HASHES" not in str(error):
                raise
            raise InstallError(
                f"pip found another file for {requirement} than the registry lists. Expected one of"
                f" the release in the registry, with SHA-256 {' or '.join(hashes)}. The file may"
                " have been replaced; report this to the package's maintainers. Nothing was"
                " installed."
            ) from error
        (path,) = Path(name).glob("*.whl")
        _require_intact(path)
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy2(path, folder))


def install(steps: Sequence[Step], *, show: bool) -> None:
    """Install exactly these wheels, by hash, from where `fetch` has put them.

    Args:
        steps: the wheels.
        show: let pip print its progress on the terminal.

    Raises:
        InstallError: pip failed; packages that were new are removed again.
    """
    if not available():
        raise _no_pip("install", *(one.name for one in steps))
    with TemporaryDirectory(prefix="ngym-") as name:
        folder = Path(name)
        for one in steps:
            shutil.copy2(one.path, folder)
        try:
            options = ("--no-index", "--find-links", name)
            _pip("install", *_locked(steps, folder), *options, show=show)
        except (InstallError, KeyboardInterrupt):
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
    if not available():
        raise _no_pip("uninstall", name)
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


def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _require_intact(path: Path) -> None:
    """Raise an error if a wheel is damaged; pip would leave it half unpacked."""
    most = max(MAX_UNPACKED, MOST_RATIO * path.stat().st_size)
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(one.file_size for one in archive.infolist()) > most:
                damaged: str | None = f"it unpacks to more than {most:,} bytes"
            else:
                damaged = archive.testzip()
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        damaged = said_by(error)
    if damaged is not None:
        raise InstallError(
            f"{path.name} is damaged ({clean(damaged)}), although its hash is correct. Expected an"
            " intact wheel. Report this to the package's maintainers, and install another version."
            " Nothing was installed."
        )


def _candidate(row: Mapping[str, Any]) -> Candidate:
    name, version = str(row["metadata"]["name"]), str(row["metadata"]["version"])
    where = row["download_info"]
    sha256 = where.get("archive_info", {}).get("hashes", {}).get("sha256")
    address = urlsplit(str(where["url"]))
    filename = clean(unquote(address.path).rpartition("/")[2])
    if not sha256 or not filename.endswith(".whl"):
        raise InstallError(
            f"pip does not report the SHA-256 of a wheel, but {filename}. Expected a hash for every"
            " file, so that exactly this file is installed. Use an index or a folder of wheels, and"
            " a newer pip."
        )
    return Candidate(
        name=canonical(name),
        version=version,
        sha256=sha256,
        filename=filename,
        host=clean(address.hostname or ""),
        requires=tuple(map(str, row["metadata"].get("requires_dist") or ())),
    )


def available() -> bool:
    """Whether this environment has pip; those that uv makes have none."""
    return importlib.util.find_spec("pip") is not None


def can_download() -> bool:
    """Whether wheels can be downloaded: by the environment's pip, or by that of `ensurepip`."""
    return _program() is not None


def _program() -> list[str] | None:
    """Return the start of pip's command line, or None.

    Without pip in the environment, it is the wheel that Python has for `ensurepip`, as a program.
    Some Linux distributions put it elsewhere, or leave it out."""
    if available():
        return [sys.executable, "-m", "pip"]
    spec = importlib.util.find_spec("ensurepip")
    folders = [Path(one) / "_bundled" for one in (spec and spec.submodule_search_locations) or ()]
    folders += [Path(one) for one in (sysconfig.get_config_var("WHEEL_PKG_DIR"),) if one]
    wheels = [wheel for folder in folders for wheel in sorted(folder.glob("pip-*.whl"))]
    return [sys.executable, str(wheels[-1] / "pip")] if wheels else None


def _no_pip(command: str, *names: str) -> InstallError:
    by_uv = " ".join(("uv pip", command, "--python", sys.executable, *names))
    return InstallError(
        f"The environment of {sys.executable} has no pip. Expected pip, which ngym uses to"
        f" {command} packages. Install it with `python -m ensurepip`, or use the tool that made"
        f" this environment, e.g. `{by_uv}`. Nothing was changed."
    )


def _pip(command: str, *arguments: str, show: bool = False) -> None:
    program = _program()
    if program is None:
        raise _no_pip(command)
    call = [*program, command, "--disable-pip-version-check", "--no-input"]
    if not show:
        call.append("--quiet")
    environment = os.environ | {"PYTHONSAFEPATH": "1"}  # a file pip.py in this folder is not pip
    output = None if show else subprocess.PIPE
    with subprocess.Popen(
        [*call, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        env=environment,
        text=True,
        errors="replace",
        start_new_session=True,  # Ctrl-C stops this process; pip would leave half of the files
    ) as process:
        try:
            _, said_by_pip = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise InstallError(
                f"pip {command} did not finish in {SECONDS} s. Expected it to finish. Run pip"
                " itself to see its messages, and try again."
            ) from error
        except KeyboardInterrupt:
            if command in ("install", "uninstall"):
                process.communicate()  # some seconds: all files are on this machine
            raise
        finally:
            process.kill()
    if process.returncode:
        said = _errors(said_by_pip or "") or "see its messages above"
        raise InstallError(
            f"pip {command} failed: {said.rstrip('.')}. Expected pip to find and {command} the"
            f" packages. {_remedy(said)}, and try again."
        )


def _errors(text: str) -> str:
    """Return the lines that pip marks as errors, or the last three lines.

    Of an error that pip does not expect, these are the last line of its traceback."""
    lines = [clean(line) for line in text.splitlines() if line.strip()]
    marked = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return lines[-1] if marked == ["Exception:"] else " ".join(marked or lines[-3:])


def _remedy(said: str) -> str:
    """Return what to do about an error of pip."""
    if "No space left" in said:
        return "Make space in the environment and in the folder for temporary files"
    if "No matching distribution" in said or "Could not find" in said:
        return f"Check where it looks for them ({_SETTINGS[available()]})"
    return "Correct this, or run pip itself to see all of its messages"
