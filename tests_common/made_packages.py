"""Packages for tests of discovery: folders as pip installs them, and wheels for pip."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import neurogym_core

CORE_FOLDER = Path(neurogym_core.__file__).resolve().parents[1]

TASK_SOURCE = '''
class {name}:
    """A task that does nothing."""

    def __init__(self, delay: int = 500):
        self.delay = delay
'''


@dataclass(kw_only=True)
class Package:
    """A distribution with one top-level package; the default of each field is valid."""

    name: str
    version: str = "1.0"
    # {entry point: value}, "" for a class in tasks.py
    tasks: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # further entry points
    files: Mapping[str, str] = field(default_factory=dict)  # inside the package
    beside: Mapping[str, str] = field(default_factory=dict)  # beside the package
    manifest: str | None = "schema = 1\n"
    requires: Sequence[str] = ("neurogym-core>=1.0,<2",)
    entry_points: str | None = None  # replaces the generated text
    metadata: str | None = None

    @property
    def module(self) -> str:
        return self.name.replace("-", "_").lower()

    @property
    def info(self) -> str:
        return f"{self.module}-{self.version}.dist-info"

    def contents(self) -> dict[str, str]:
        """Return {path: text} of all files except RECORD."""
        classes = "".join(TASK_SOURCE.format(name=name.partition("-")[0]) for name in self.tasks)
        inside = {"__init__.py": "", "tasks.py": classes, **self.files}
        if self.manifest is not None:
            inside["ngym.toml"] = self.manifest
        found = {f"{self.module}/{path}": text for path, text in inside.items()}
        found |= self.beside
        found[f"{self.info}/METADATA"] = (
            self.metadata if self.metadata is not None else self._metadata()
        )
        found[f"{self.info}/entry_points.txt"] = self.entry_points or self._entry_points()
        found[f"{self.info}/WHEEL"] = (
            "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        return found

    def _metadata(self) -> str:
        lines = ["Metadata-Version: 2.1", f"Name: {self.name}", f"Version: {self.version}"]
        return "\n".join([*lines, *(f"Requires-Dist: {one}" for one in self.requires), ""])

    def _entry_points(self) -> str:
        groups = {"neurogym.tasks": self.tasks, **self.groups}
        if self.manifest is not None and "neurogym.manifest" not in groups:
            groups["neurogym.manifest"] = {"manifest": f"{self.module}:ngym.toml"}
        lines = []
        for group, rows in groups.items():
            lines += [
                f"[{group}]",
                *(f"{name} = {value or self._default(name)}" for name, value in rows.items()),
            ]
        return "\n".join([*lines, ""])

    def _default(self, name: str) -> str:
        return f"{self.module}.tasks:{name.partition('-')[0]}"


def write(package: Package, folder: Path) -> None:
    """Write the package as pip installs it."""
    for path, text in package.contents().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    record = "\n".join(f"{path},," for path in package.contents())
    (folder / package.info / "RECORD").write_text(record, "utf-8")


def wheel(package: Package, folder: Path) -> Path:
    """Build a wheel of the package."""
    target = folder / f"{package.module}-{package.version}-py3-none-any.whl"
    record = []
    with zipfile.ZipFile(target, "w") as archive:
        for path, text in package.contents().items():
            data = text.encode()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}")
            archive.writestr(path, data)
        archive.writestr(
            f"{package.info}/RECORD", "\n".join([*record, f"{package.info}/RECORD,,", ""])
        )
    return target


def pip_install(packages: Sequence[Package], site: Path, wheels: Path) -> None:
    """Install the packages with pip, from wheels, without an index."""
    wheels.mkdir(parents=True, exist_ok=True)
    paths = [str(wheel(package, wheels)) for package in packages]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--no-index",
        "--no-compile",
        "--quiet",
    ]
    subprocess.run(
        [*command, "--disable-pip-version-check", "--target", str(site), *paths],
        check=True,
        timeout=300,
    )


def manifest_row(name: str, **fields: str) -> str:
    """Return a ``[[task]]`` row with a title, a summary and the given fields, as TOML."""
    texts = {"title": f'"{name}"', "summary": '"A task of the tests."', **fields}
    return "\n".join(
        ["[[task]]", f'name = "{name}"', *(f"{key} = {value}" for key, value in texts.items()), ""]
    )
