"""Find, download and install wheels with pip.

Of pip's settings, only those of `SETTINGS` are used: where wheels come from, and the way there."""

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
import time
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit

from packaging.requirements import Requirement

from neurogym_core.tools import canonical, clean, said_by
from neurogym_registry.contents import Contents, ContentsError, read_contents, refuse_size
from neurogym_registry.errors import InstallError
from neurogym_registry.places import Place, user_install
from neurogym_registry.requirements import CORE
from neurogym_registry.run_pip import REFUSED
from neurogym_registry.transaction import replacing
from neurogym_registry.wheels import read_requirement, sha256_of

SECONDS = 600
MOST_REQUIRED, MOST_UNPACKED = 200, 8_000_000_000
"""Most packages, and their bytes, that checks of a package add to an environment; torch with CUDA
takes 5.6 GB."""
_LINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9._, -]*\])?[A-Za-z0-9<>=!~.*+, ()_-]*")
SETTINGS = (
    "index-url", "extra-index-url", "find-links", "no-index", "trusted-host", "proxy", "cert",
    "client-cert", "keyring-provider", "timeout", "retries", "cache-dir", "no-cache-dir",
    "break-system-packages",
)  # fmt: skip
"""Settings of pip that are used: indexes, proxy, certificates, the cache, and the permission to
install beside the packages of an operating system. Others could install another file, or elsewhere.
"""
_SETTINGS = {
    True: "`python -m pip config list`",
    False: "PIP_INDEX_URL and the files of pip's configuration; uv's settings are not read",
}
"""Where pip's settings are seen, with and without pip in the environment."""


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
    """A downloaded wheel to install; ``before`` is the installed version, or None."""

    path: Path
    size: int
    before: str | None
    contents: Contents


def look_up(requirements: Iterable[str]) -> list[Candidate]:
    """Return the wheels that pip finds for requirements, without dependencies; nothing is run.

    Raises:
        InstallError: a requirement is no name with versions, pip is missing, finds no such wheel,
            or does not report a wheel's hash.
    """
    requirements = list(requirements)
    for text in requirements:
        # pip reads a line of a file as a path, an address or options, too, and ${NAME} as a
        # variable of this environment.
        if _LINE.fullmatch(text) is None:
            raise InstallError(
                f"{clean(text)[:200]!r} was given to pip. Expected a name, with extras and versions"
                " if need be. Report this to the maintainers of the package that requires it."
            )
    with TemporaryDirectory(prefix="ngym-") as folder:
        lines, report = Path(folder) / "requirements.txt", Path(folder) / "report.json"
        lines.write_text("\n".join(requirements), "utf-8")
        options = ("--dry-run", "--ignore-installed", "--no-deps", "--only-binary", ":all:")
        _pip("install", *options, "--report", str(report), "-r", str(lines))
        rows = json.loads(report.read_text("utf-8"))["install"]
    return [_candidate(row) for row in rows]


def fetch(
    candidates: Sequence[Candidate], folder: Path, *, deadline: float | None = None
) -> list[Step]:
    """Download exactly these wheels, by hash, into a folder; nothing is run.

    Args:
        candidates: the wheels.
        folder: the folder.
        deadline: as in `download`.

    Raises:
        InstallError: pip failed, or a file is damaged.
    """
    if not candidates:
        return []
    _pip("download", *_locked(candidates, folder), "-d", str(folder), deadline=deadline)
    paths = {sha256_of(path): path for path in folder.glob("*.whl")}
    return [_step(one, paths[one.sha256]) for one in candidates]


def _step(found: Candidate, path: Path) -> Step:
    try:
        contents = read_contents(path)
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise _damaged(path, said_by(error)) from error
    except ContentsError as error:
        raise InstallError(
            f"{clean(path.name)} is not installed: {error}. Expected a wheel whose files go where"
            " their names say, with a RECORD of exactly these files, because pip removes these"
            " later. Report this to the package's maintainers, and install another version. Nothing"
            " was installed."
        ) from error
    if _plain_requirements(found.requires) != _plain_requirements(contents.requires):
        raise InstallError(
            f"{clean(path.name)} is not installed: it has other requirements than the index said."
            " Expected the same, because the plan follows them. Report this to the package's"
            " maintainers, and install another version. Nothing was installed."
        )
    return Step(
        **vars(found),
        path=path,
        size=path.stat().st_size,
        before=installed_version(found.name),
        contents=contents,
    )


def _plain_requirements(texts: Iterable[str]) -> list[str]:
    """Return requirements in one spelling."""
    found = []
    for text in texts:
        with contextlib.suppress(ValueError):
            text = str(read_requirement(text))
        found.append(text)
    return sorted(found)


def configuration() -> dict[str, str]:
    """Return the settings of pip that are used, e.g. ``{"index-url": "https://…"}``.

    They come from the sections [global] and [install] of pip's files, and from its variables.
    Without pip, there are none.

    Raises:
        InstallError: pip cannot read its files; without them, packages could come from elsewhere.
    """
    mine = tuple(sorted((key, text) for key, text in os.environ.items() if _is_of_pip(key)))
    program = _program()
    return dict(_configuration(tuple(program), mine)) if program is not None else {}


@cache
def _configuration(
    program: tuple[str, ...], variables: tuple[tuple[str, str], ...]
) -> Mapping[str, str]:
    used = {"CONFIG_FILE", *(name.upper().replace("-", "_") for name in (*SETTINGS, *_STORES))}
    kept = {key: text for key, text in variables if key[4:].upper() in used}
    # Settings in files could hide the answer.
    done = subprocess.run(
        [*program, "config", "list"],
        capture_output=True,
        text=True,
        errors="replace",
        env=_plain() | kept | {"PIP_QUIET": "0", "PIP_VERBOSE": "0"},
        stdin=subprocess.DEVNULL,
        timeout=SECONDS,
    )
    if done.returncode:
        raise InstallError(
            f"pip cannot read its settings: {_errors(done.stderr).rstrip('.')}. Expected readable"
            " files, which say where packages come from. Correct them (`python -m pip config"
            " debug` lists them), and try again."
        )
    rows: list[dict[str, str]] = [{}, {}, {}]
    for line in done.stdout.splitlines():
        key, _, text = line.partition("=")
        section, _, name = key.rpartition(".")
        if section in _SECTIONS and name in SETTINGS:
            rows[_SECTIONS.index(section)][name] = str(ast.literal_eval(text))
        elif section in _SECTIONS and name in _STORES:
            said = set(str(ast.literal_eval(text)).split())
            rows[_SECTIONS.index(section)][name] = " ".join(sorted(said & _STORES[name]))
    return {key: text for row in rows for key, text in row.items() if text}


_SECTIONS = ("global", "install", ":env:")
"""Where pip's settings come from; later ones take precedence."""
_STORES = {"use-feature": {"truststore"}, "use-deprecated": {"legacy-certs"}}
"""Values of further settings that are used: they say which certificates are trusted."""


def _is_of_pip(variable: str) -> bool:
    return variable.upper().startswith("PIP_") or variable.upper() == "ENSUREPIP_OPTIONS"


def _plain() -> dict[str, str]:
    """Return the variables of the environment without those of pip."""
    kept = {key: text for key, text in os.environ.items() if not _is_of_pip(key)}
    return kept | {"PYTHONSAFEPATH": "1"}  # a file pip.py in this folder is not pip


def _variables() -> dict[str, str]:
    """Return the variables of the environment for pip, with the settings that are used only."""
    used = {f"PIP_{key.upper().replace('-', '_')}": text for key, text in configuration().items()}
    return _plain() | used | {"PIP_CONFIG_FILE": os.devnull}


def lock(candidates: Iterable[Candidate]) -> str:
    """Return the lines of a requirements file with versions and hashes."""
    return "".join(f"{one.name}=={one.version} --hash=sha256:{one.sha256}\n" for one in candidates)


def _locked(candidates: Iterable[Candidate], folder: Path) -> tuple[str, ...]:
    """Return pip's options for exactly these wheels."""
    path = folder / "requirements.txt"
    path.write_text(lock(candidates), "utf-8")
    return ("--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(path))


def download(requirement: str, folder: Path, *hashes: str, deadline: float | None = None) -> Path:
    """Download the wheel of a release into a folder, without dependencies; no code of it runs.

    Args:
        requirement: ``name==version``.
        folder: the folder.
        hashes: the SHA-256 that the file may have; any if none are given.
        deadline: end of its time, of `time.monotonic`, if that is before `SECONDS` are over.

    Raises:
        InstallError: pip is missing, finds no such wheel, or only one with another hash.
    """
    with TemporaryDirectory(prefix="ngym-") as name:
        lines = Path(name) / "requirements.txt"
        lines.write_text(" ".join([requirement, *(f"--hash=sha256:{one}" for one in hashes)]))
        required = ("--require-hashes",) if hashes else ()
        arguments = ("--no-deps", "--only-binary", ":all:", *required, "-r", str(lines))
        try:
            _pip("download", *arguments, "-d", name, deadline=deadline)
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


def add_requirements(wheel: Path, site: Path, *, deadline: float | None = None) -> None:
    """Put requirements of a wheel that this environment lacks into a folder; no code of them runs.

    Args:
        wheel: the wheel.
        site: a folder with modules, which is put on the import path of a child process.
        deadline: as in `download`.

    Raises:
        InstallError: a requirement cannot be found as a wheel, is damaged, or would change files of
            others or replace a module of ngym.
    """
    with TemporaryDirectory(prefix="ngym-") as name:
        folder, report = Path(name), Path(name) / "report.json"
        options = ("--dry-run", "--only-binary", ":all:", "--report", str(report))
        _pip("install", *options, str(wheel), deadline=deadline)
        rows = [_candidate(row) for row in json.loads(report.read_text("utf-8"))["install"]]
        missing = [one for one in rows if one.sha256 != sha256_of(wheel)]
        if missing:
            if len(missing) > MOST_REQUIRED:
                raise _too_much(f"{len(missing)} packages", f"{MOST_REQUIRED}")
            steps = fetch(missing, folder, deadline=deadline)
            if (size := sum(map(_unpacked_size, steps))) > MOST_UNPACKED:
                raise _too_much(f"{size:,} bytes", f"{MOST_UNPACKED:,}")
            refuse_conflicts(steps)
            _refuse_replacements(steps)
            here = ("--no-index", "--find-links", name, "--no-compile", "--target", str(site))
            _pip("install", *_locked(missing, folder), *here)


def _unpacked_size(step: Step) -> int:
    with zipfile.ZipFile(step.path) as archive:
        return sum(one.file_size for one in archive.infolist())


def _too_much(what: str, most: str) -> InstallError:
    return InstallError(
        f"Its requirements, with theirs, are {what} that this environment lacks. Expected at most"
        f" {most}. Require less, or make the larger ones an extra. Nothing was written."
    )


def _refuse_replacements(steps: Sequence[Step]) -> None:
    """Raise an error if a requirement would replace a module of Python, or a package of ngym.

    The checks of a package that brings its conformance kit would pass.

    Raises:
        InstallError: it would.
    """
    kept = protected() | {"neurogym-check", "neurogym-plot"}
    for one in steps:
        paths = [path for scheme, path in one.contents.files if scheme in ("purelib", "platlib")]
        modules = {path.partition("/")[0].partition(".")[0] for path in paths}
        of_python = sorted(modules & sys.stdlib_module_names)
        what = f"the module {of_python[0]} of Python" if of_python else ""
        if one.name in kept:
            what = f"{one.name} of this environment ({one.before or 'missing'}) by {one.version}"
        if what:
            raise InstallError(
                f"{clean(one.filename)}, which the package requires, would replace {what}."
                " Expected requirements beside ngym, Python and their own ones, because the package"
                " is checked with these. Update this environment if it is too old, or remove the"
                " requirement. Nothing was written."
            )


def install(steps: Sequence[Step], *, show: bool) -> None:
    """Install exactly these wheels, by hash, from where `fetch` has put them.

    Args:
        steps: the wheels.
        show: let pip print its progress on the terminal.

    Raises:
        InstallError: a wheel would change files of others, or pip failed; then the new files are
            gone, and the replaced ones are back.
    """
    if not available():
        raise _no_pip("install", *(one.name for one in steps))
    with TemporaryDirectory(prefix="ngym-") as name:
        folder = Path(name)
        for one in steps:
            shutil.copy2(one.path, folder)
        options = ["--no-index", "--find-links", name, *(["--user"] if user_install() else [])]
        old = [one.name for one in steps if one.before is not None]
        with replacing(old, [(one.name, one.contents) for one in steps]):
            _pip("install", *_locked(steps, folder), *options, show=show)


def refuse_conflicts(steps: Sequence[Step]) -> None:
    """Raise an error if a wheel of a plan would change files of others.

    Raises:
        InstallError: it would.
    """
    place, planned = Place(), dict[str, tuple[str, tuple[str, str]]]()
    kept = protected()
    for one in steps:
        fault = place.fault(one.name, one.contents, planned, kept)
        if fault is not None:
            raise InstallError(
                f"{clean(one.filename)} is not installed: {fault}. Expected new files, in its own"
                " places. Use a separate environment, and report this to the package's maintainers."
                " Nothing was installed."
            )
        for path, digest in place.paths(one.name, one.contents).items():
            planned[path] = (one.name, digest)


def protected() -> frozenset[str]:
    """Return the packages that an installation must not change: ngym, and all that it needs."""
    found, pending = set[str](), {CORE, "neurogym-registry"}
    while pending:
        name = pending.pop()
        found.add(name)
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            for text in importlib.metadata.requires(name) or ():
                requirement = Requirement(text)
                if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                    pending |= {canonical(requirement.name)} - found
    return frozenset(found)


def refuse_changes(steps: Sequence[Step], *, upgrade_core: bool) -> None:
    """Raise an error if a plan would change `protected` packages, or pip itself.

    Raises:
        InstallError: it would, and `upgrade_core` is false.
    """
    if any(one.name == "pip" for one in steps):
        raise InstallError(
            "The plan would change pip. Expected no change of the program that installs it. Use"
            " `python -m pip install --upgrade pip`, and try again. Nothing was changed."
        )
    kept = protected()
    changed = [one for one in steps if one.name in kept and one.before not in (None, one.version)]
    if changed and not upgrade_core:
        what = ", ".join(f"{one.name} {one.before} to {one.version}" for one in changed)
        raise InstallError(
            f"pip would change {what}. Expected no change, because ngym, and results of other"
            " packages, depend on these versions. Add --upgrade-core to allow it, or use a separate"
            " environment. Nothing was changed."
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
            refuse_size(archive, path.stat().st_size)
            damaged = archive.testzip()
    except (ContentsError, zipfile.BadZipFile, OSError, EOFError, RuntimeError) as error:
        damaged = said_by(error)
    if damaged is not None:
        raise _damaged(path, damaged)


def _damaged(path: Path, reason: str) -> InstallError:
    return InstallError(
        f"{clean(path.name)} is damaged ({clean(reason)}), although its hash is correct. Expected"
        " an intact wheel. Report this to the package's maintainers, and install another version."
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
    """Return the start of pip's command line, or None. This pip builds nothing (`run_pip`).

    Without pip in the environment, it is the wheel that Python has for `ensurepip`, as a program.
    Some Linux distributions put it elsewhere, or leave it out."""
    start = [sys.executable, str(Path(__file__).with_name("run_pip.py"))]
    if available():
        return [*start, "pip"]
    spec = importlib.util.find_spec("ensurepip")
    folders = [Path(one) / "_bundled" for one in (spec and spec.submodule_search_locations) or ()]
    folders += [Path(one) for one in (sysconfig.get_config_var("WHEEL_PKG_DIR"),) if one]
    wheels = [wheel for folder in folders for wheel in sorted(folder.glob("pip-*.whl"))]
    return [*start, str(wheels[-1] / "pip")] if wheels else None


def _no_pip(command: str, *names: str) -> InstallError:
    by_uv = " ".join(("uv pip", command, "--python", sys.executable, *names))
    return InstallError(
        f"The environment of {sys.executable} has no pip. Expected pip, which ngym uses to"
        f" {command} packages. Install it with `python -m ensurepip`, or use the tool that made"
        f" this environment, e.g. `{by_uv}`. Nothing was changed."
    )


def _pip(command: str, *arguments: str, show: bool = False, deadline: float | None = None) -> None:
    program = _program()
    if program is None:
        raise _no_pip(command)
    call = [*program, command, "--disable-pip-version-check", "--no-input"]
    if not show:
        call.append("--quiet")
    output = None if show else subprocess.PIPE
    left = float(SECONDS)
    if deadline is not None:
        left = min(left, max(deadline - time.monotonic(), 0.0))
    with subprocess.Popen(
        [*call, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        env=_variables(),
        text=True,
        errors="replace",
        start_new_session=True,  # Ctrl-C stops this process; pip would leave half of the files
    ) as process:
        try:
            _, said_by_pip = process.communicate(timeout=left)
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise InstallError(
                f"pip {command} did not finish in {left:.0f} s. Expected it to finish. Run pip"
                " itself to see its messages, and try again."
            ) from error
        except KeyboardInterrupt:
            if command == "install":
                process.communicate()  # some seconds: all files are on this machine
            raise
        finally:
            process.kill()
    if process.returncode:
        said = _errors(said_by_pip or "") or "see its messages above"
        if REFUSED in (said_by_pip or ""):
            raise InstallError(
                "pip found a requirement that is no wheel, e.g. at an address of sources, and did"
                " not build it. Expected wheels only, because building runs code of a package"
                " before any question. Require packages by their names, and ask their maintainers"
                " for wheels. Nothing was installed."
            )
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
