"""`keeper`: a registry in a folder, with functions that make valid entries and releases."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import environments
import made_packages as packages
import pytest
from neurogym_registry.folder import Registry, dumps
from neurogym_registry.index import build_index
from neurogym_registry.releases import make_release, write_index
from neurogym_registry.rules import validate
from neurogym_registry.wheels import TEMPLATE_TEXTS, read_wheel
from neurogym_registry.writing import write_text
from sites import Site, call_ngym, fresh_site


def task_row(module: str, name: str = "Dots-v0", **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "entry_point": f"{module}.tasks:{name.partition('-')[0]}",
        "title": "Dots",
        "summary": "Report the net direction of dots.",
        "tags": ["decision-making"],
        "species": ["monkey"],
        "aliases": [],
        "expected": {"guess": 0.5},
        "references": [{"doi": "10.1038/nature12742", "kind": "original"}],
        "digest": {"declared": f"{'0' * 16} 1.000000"},
        **fields,
    }


def release(name: str, version: str = "1.0.0", **fields: Any) -> dict[str, Any]:
    """A valid release of one task."""
    module = name.replace("-", "_")
    return {
        "schema": 1,
        "name": name,
        "version": version,
        "requires_core": ">=1.0,<2",
        "requires_python": ">=3.11",
        "requires": ["neurogym-core>=1.0,<2"],
        "license": "BSD-3-Clause",
        "modules": [module],
        "files": [
            {"filename": f"{module}-{version}-py3-none-any.whl", "sha256": "a" * 64, "size": 1000}
        ],
        "tasks": [task_row(module)],
        "wrappers": [],
        "offers": {},
        "conformance": {
            "core": "1.0.0",
            "python": "3.11.7",
            "level": "full",
            "passed": 30,
            "failed": 0,
            "expected_failures": [],
            "isolated": True,
        },
        "attestation": None,
        "yanked": None,
        **fields,
    }


def entry_text(
    name: str, *, more: str = "", added: str = "2026-11-21", summary: str = "Tasks.",
    versions: tuple[str, ...] = (),
) -> str:  # fmt: skip
    more += f"\nversions = {json.dumps(list(versions))}" if versions else ""
    return (
        f'schema = 1\nname = "{name}"\nsummary = "{summary}"\nadded = {added}\n'
        f'repository = "https://example.org/lab/{name}"\n{more}\n[[maintainers]]\nname = "Ana"\n'
    )


class Keeper:
    """Writes a registry's files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.revoke()

    def entry(self, name: str, text: str | None = None, **fields: Any) -> Path:
        path = self.folder / "packages" / f"{name}.toml"
        write_text(path, entry_text(name, **fields) if text is None else text)
        return path

    def release(self, name: str, version: str = "1.0.0", change: Any = (), **fields: Any) -> Path:
        path = self.folder / "releases" / name / f"{version}.json"
        write_text(path, dumps({**release(name, version, **fields), **dict(change)}))
        return path

    def package(self, name: str, *versions: str, **fields: Any) -> None:
        self.entry(name)
        for version in versions:
            self.release(name, version, **fields)

    def accept(self, wheel: Path, *options: object, asked: bool = True) -> Any:
        """Run the keeper's command for a wheel, of which its maintainers ask the version."""
        name, version = wheel.name.split("-")[:2]
        name = name.replace("_", "-")
        if asked:
            self.entry(name, versions=(version,))
        places = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheel.parent)}
        arguments = ("registry", "accept", f"{name}=={version}", "--registry", str(self.folder))
        chosen = [str(one) for one in options]
        return call_ngym(*arguments, "--no-sandbox", *chosen, **places)

    def revoke(self, *rows: dict[str, Any]) -> None:
        write_text(self.folder / "revoked.json", dumps({"schema": 1, "revoked": list(rows)}))

    def build(self) -> Path:
        return write_index(self.folder)

    def remove_index(self) -> None:
        """Remove the files of `build`, as in a registry that does not commit them."""
        for path in self.folder.glob("index.json*"):
            path.unlink()
        shutil.rmtree(self.folder / "index")

    def index(self) -> dict[str, Any]:
        return json.loads(self.build().read_text("utf-8"))

    def rules(self, **options: Any) -> set[tuple[str, str]]:
        """Return (level, rule) of all violations but those of a stale index."""
        return {(one.level, one.rule) for one in validate(self.folder, **options)} - {
            ("error", "fresh-index")
        }


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    return Keeper(tmp_path / "registry")


def finish(package: Path) -> None:
    """Replace the texts of the template in a package that `ngym new` made, as its author does."""
    for path in package.rglob("*.py"):
        text = path.read_text("utf-8")
        for one in TEMPLATE_TEXTS:
            text = text.replace(one, "See the package's README.")
        path.write_text(text, "utf-8")


def small_index() -> dict[str, Any]:
    """A valid index of one package."""
    name = "neurogym-task-dots"
    entry = {
        "schema": 1,
        "name": name,
        "summary": "Dots.",
        "added": "2026-11-21",
        "maintainers": [{"name": "Ana"}],
    }
    return build_index(
        Registry(folder=Path(), entries={name: entry}, releases={name: {"1.0.0": release(name)}})
    )


# The tests of this folder import the functions above from here.
sys.modules["ngym_test_registry_makers"] = sys.modules[__name__]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    yield from fresh_site(tmp_path, monkeypatch, "neurogym-registry", "neurogym-check")


@pytest.fixture
def ngym():
    """See `sites.call_ngym`."""
    return call_ngym


@pytest.fixture(scope="session")
def third_party(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environments.borrowed(tmp_path_factory.mktemp("third-party") / "site")


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The core, this package, the conformance kit and the package that draws."""
    folder = tmp_path_factory.mktemp("wheels")
    plugins = environments.REPOSITORY / "plugins"
    ours = (plugins / f"neurogym-{name}" for name in ("registry", "check", "plot"))
    return [environments.build_wheel(one, folder) for one in (environments.REPOSITORY, *ours)]


NAME = "neurogym-task-dots"
TASK = """
from neurogym_core import Choice, Task


class Dots(Task):
    "Report a side."

    timing = {"stimulus": 300, "decision": 200}

    def define(self):
        self.observe(stimulus=2)
        self.act(fixate=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("stimulus", trial["side"][:, None] == [0, 1], during="stimulus")
        trial.answer("choose", trial["side"], during="decision")
"""


def dots_package(
    version: str = "1.0.0",
    source: str = TASK,
    requires: tuple[str, ...] = ("neurogym-core>=1.0,<2",),
) -> Any:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {NAME}",
        f"Version: {version}",
        "License-Expression: MIT",
        "Requires-Python: >=3.11",
        *(f"Requires-Dist: {one}" for one in requires),
        "",
    ]
    return packages.Package(
        name=NAME,
        version=version,
        tasks={"Dots-v0": "neurogym_task_dots.dots:Dots"},
        files={"dots.py": source},
        manifest=packages.manifest_row(
            "Dots-v0", tags='["perceptual"]', expected="{ guess = 0.5, oracle_min = 1.0 }"
        ),
        metadata="\n".join(lines),
    )


def checked_release(wheel: Path) -> dict[str, Any]:
    """The release of a wheel whose checks are said to have passed."""
    return make_release(read_wheel(wheel)) | {"conformance": release(NAME)["conformance"]}


class Town:
    """An environment, a folder of wheels that pip looks into, and a registry in a folder."""

    def __init__(self, folder: Path, environment: Any) -> None:
        self.environment = environment
        self.wheels = folder / "wheels"
        self.wheels.mkdir()
        self.keeper = Keeper(folder / "registry")
        self.keeper.entry(NAME)
        self.variables = {
            "PIP_FIND_LINKS": str(self.wheels),
            "NGYM_REGISTRY": self.keeper.folder.as_uri(),
        }

    def release(self, package: Any = None, **fields: Any) -> Path:
        """Make a wheel for pip, and its release in the registry; `fields` override the release."""
        package = package or dots_package()
        path = packages.wheel(package, self.wheels)
        row = checked_release(path)
        self.keeper.release(NAME, package.version, change={**row, **fields})
        self.keeper.build()
        return path

    def list_file(self, path: Path, data: bytes | None = None, **fields: Any) -> None:
        """List a file by its hash, whatever it contains, as a hostile registry would."""
        if data is not None:
            path.write_bytes(data)
        content = path.read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        file = {"filename": path.name, "sha256": sha256, "size": len(content)}
        self.keeper.release(NAME, "1.0.0", change={"files": [file], **fields})
        self.keeper.build()

    def depend(self, name: str, **fields: Any) -> Path:
        """Make a wheel of another package for pip."""
        return packages.wheel(
            packages.Package(name=name, **{"requires": (), "manifest": None, **fields}), self.wheels
        )

    def ngym(self, *arguments: object, **variables: str):
        return self.environment.ngym(*arguments, **{**self.variables, **variables})

    def state(self) -> list[str]:
        """Return the names in site-packages, without bytecode."""
        return sorted(
            path.name for path in self.environment.site.iterdir() if path.name != "__pycache__"
        )


def with_rows(path: Path, rows: list[str]) -> None:
    """Add rows to the RECORD of a wheel."""
    with zipfile.ZipFile(path) as archive:
        files = {one: archive.read(one) for one in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            more = "".join(f"{row}\n" for row in rows) if name.endswith("/RECORD") else ""
            archive.writestr(name, data + more.encode())


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory, wheels: list[Path], third_party: Path):
    made = environments.Environment(tmp_path_factory.mktemp("env") / "venv", third_party)
    made.pip_install(wheels)
    return made


@pytest.fixture
def town(tmp_path: Path, environment: Any):
    town = Town(tmp_path, environment)
    before = town.state()
    yield town
    town.environment.run("-m", "pip", "uninstall", "--yes", "--quiet", NAME)
    assert town.state() == before
