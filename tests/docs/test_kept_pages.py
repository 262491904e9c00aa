"""Pages of tasks are kept from build to build, and made again when anything behind them changes."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scripts import loaded

from neurogym_core.ecosystem.discovery import installed

NAME = "control/GoNogo-v0"


@pytest.fixture(scope="module")
def maker() -> Any:
    return loaded("task_pages")


@pytest.fixture
def kept(maker: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, with packages of tasks `mine` and `yours`, and one of hooks, in a folder."""
    module = maker.kept_pages
    packages = tmp_path / "packages"
    groups = {"mine": "neurogym.tasks", "yours": "neurogym.tasks", "hooks": "neurogym.hooks"}
    for name in (*groups, "neurogym_core", "scripts"):
        (packages / name).mkdir(parents=True)
        (packages / name / "__init__.py").write_text(f"name = {name!r}\n")
    versions = [
        SimpleNamespace(
            name=name,
            version="1.0",
            entry_points=[SimpleNamespace(group=group, value=f"{name}.x:X")],
        )
        for name, group in {**groups, "numpy": "console_scripts"}.items()
    ]
    monkeypatch.setattr(module, "metadata", SimpleNamespace(distributions=lambda: versions))
    monkeypatch.setattr(module, "_folder", lambda value: packages / value.partition(".")[0])
    monkeypatch.setattr(module, "SCRIPTS", packages / "scripts")
    monkeypatch.setattr(module, "KEPT", tmp_path / "kept")
    module._shared.cache_clear()
    yield SimpleNamespace(module=module, packages=packages, versions=versions)
    module._shared.cache_clear()


def key(kept: Any, results: Any = None) -> str:
    kept.module._shared.cache_clear()  # as in another process
    return kept.module.key_of("mine.tasks:Task", results)


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("mine/__init__.py", True),
        ("mine/ngym.toml", True),
        ("hooks/data/table.csv", True),
        ("neurogym_core/play/kernel.c", True),
        ("scripts/task_pages.py", True),
        ("yours/__init__.py", False),
        ("mine/__pycache__/x.pyc", False),
    ],
)
def test_the_key_changes_with_the_files_that_a_page_is_made_from(
    kept: Any, file: str, changes: bool
) -> None:
    before = key(kept)
    path = kept.packages / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("something = 1\n")
    assert (key(kept) != before) == changes
    added = key(kept)
    path.write_text("something = 2\n")
    assert (key(kept) != added) == changes


def test_the_key_changes_with_versions_results_and_switches(
    kept: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [key(kept), key(kept, {"gru": [{"seed": 0, "final": 0.5}]})]
    keys.append(key(kept, {"gru": [{"seed": 0, "final": 0.6}]}))
    kept.versions[-1].version = "2.1"
    keys.append(key(kept))
    monkeypatch.setenv("NGYM_BLOCK", "hooks")
    keys.append(key(kept))
    assert len(set(keys)) == len(keys)


def test_a_renamed_file_changes_the_key(kept: Any) -> None:
    before = key(kept)
    (kept.packages / "mine" / "__init__.py").rename(kept.packages / "mine" / "other.py")
    assert key(kept) != before


def test_the_packages_behind_a_page_of_this_repository_are_found(maker: Any) -> None:
    info = next(task for task in installed().tasks if task.id == NAME)
    package = Path(find_spec("neurogym_task_control").origin).parent
    assert maker.kept_pages._folder(info.value) == package
    found = maker.kept_pages._files(package)
    assert package / "ngym.toml" in found
    assert any(path.suffix == ".py" for path in found)
    keys = {maker.kept_pages.key_of(info.value, results) for results in (None, None, {})}
    assert len(keys) == 2


def test_a_second_build_takes_the_page_and_a_changed_task_is_made_again(
    maker: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("PIL")
    monkeypatch.setattr(maker.kept_pages, "KEPT", tmp_path / "kept")
    keys = iter(["one", "one", "two", "two"])
    monkeypatch.setattr(maker.kept_pages, "key_of", lambda *_: next(keys))
    made, calls = maker.made, []

    def counted(info: Any, folder: Path, thumbnail: Path) -> str:
        calls.append(info.id)
        return made(info, folder, thumbnail)

    monkeypatch.setattr(maker, "made", counted)

    def built() -> tuple[Any, dict[str, bytes]]:
        site = tmp_path / "site"
        shutil.rmtree(site, ignore_errors=True)
        for name in ("thumbnails", "pictograms"):
            (site / name).mkdir(parents=True)
        page = maker._write((NAME, site / "tasks", site, [NAME]))
        files = {path.name: path.read_bytes() for path in site.rglob("*") if path.is_file()}
        return page, files

    first = built()
    assert {"GoNogo-v0.md", "GoNogo-v0.png", "control-GoNogo-v0.png"} <= set(first[1])
    assert built() == first
    assert len(calls) == 1
    built()
    assert len(calls) == 2
    # A build that was stopped while it kept the page.
    (tmp_path / "kept" / NAME.replace("/", "-") / "key").unlink()
    built()
    assert len(calls) == 3
