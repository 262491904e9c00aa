"""The tasks of this project's packages, on a core without neurogym-registry."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from neurogym_core import _bundled
from neurogym_core.ecosystem import find_task, published, shipped
from neurogym_core.errors import UnknownTaskError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(params=["checkout", "wheel"])
def where(request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether the core is used from a checkout, or from a wheel with its copy of the list."""
    if request.param == "wheel":
        copy = tmp_path / "neurogym_core" / "_bundled" / "registry" / "index.json"
        copy.parent.mkdir(parents=True)
        copy.write_bytes((ROOT / "registry" / "index.json").read_bytes())
        monkeypatch.setattr(_bundled, "_PACKAGE", tmp_path / "neurogym_core")
        monkeypatch.setattr(
            published, "__file__", str(tmp_path / "neurogym_core" / "ecosystem" / "published.py")
        )
    shipped.shipped_tasks.cache_clear()
    return str(request.param)


def test_a_search_finds_the_tasks_of_this_project_on_a_bare_core(site, ngym, where: str) -> None:
    result = ngym("search", "dots", COLUMNS="200")
    assert result.exit_code == 0
    assert "visual/RandomDotMotion-v0" in result.stdout
    root = ROOT if where == "checkout" else "."
    assert f"`pip install -e {root}/plugins/neurogym-task-visual`" in result.stdout
    assert ("in a checkout of neurogym-core" in result.stdout) is (where == "wheel")
    assert "'ngym registry' comes with neurogym-registry" in result.stdout
    everything = ngym("search", COLUMNS="200").stdout
    assert everything.count("-v0") == len(shipped.shipped_tasks()) >= 92
    assert "No task of this project's packages matches" in ngym("search", "zebra").stdout


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("GoNogo-v0", "'GoNogo-v0' comes with neurogym-task-control: `pip install"),
        ("control/GoNogo-v0", "'control/' comes with neurogym-task-control: `pip install"),
        ("GoNgo-v0", "Did you mean 'control/GoNogo-v0' of neurogym-task-control, which is not"),
    ],
)
def test_the_error_of_a_missing_task_names_its_package_on_a_bare_core(
    site, where: str, name: str, said: str
) -> None:
    with pytest.raises(UnknownTaskError, match=re.escape(said)):
        find_task(name)
    site.add("foo", tasks={"Dots-v0": ""}, manifest=site.row("Dots-v0"))
    with pytest.raises(UnknownTaskError, match=re.escape(said)):
        find_task(name)


def test_no_package_is_named_that_is_installed(site, where: str) -> None:
    row = site.row("Other-v0")
    site.add("neurogym-task-control", tasks={"Other-v0": ""}, manifest=row)
    for name in ("GoNogo-v0", "GoNgo-v0"):
        with pytest.raises(UnknownTaskError) as raised:
            find_task(name)
        assert "neurogym-task-control" not in str(raised.value)


def test_an_unreadable_list_does_not_replace_an_error(site, tmp_path, monkeypatch, ngym) -> None:
    monkeypatch.setattr(_bundled, "_PACKAGE", tmp_path / "neurogym_core")
    shipped.shipped_tasks.cache_clear()
    with pytest.raises(UnknownTaskError, match="Unknown task 'GoNogo-v0'"):
        find_task("GoNogo-v0")
    shipped.shipped_tasks.cache_clear()
