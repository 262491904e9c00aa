"""Another prefix of the names, as `.ci/rename.py` gives it, is in every place that must have it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import environments
import pytest
from scripts import loaded

ROOT = Path(__file__).resolve().parents[2]
script = loaded(ROOT / ".ci" / "rename.py")
NEW = "cogtask"


def listed(root: Path) -> list[str]:
    command = ["git", "ls-files", "-z", "-co", "--exclude-standard"]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    return [one for one in done.stdout.split("\0") if one and (root / one).is_file()]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this repository under another prefix."""
    root = tmp_path_factory.mktemp("renamed") / "checkout"
    for one in listed(ROOT):
        (root / one).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / one, root / one)
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    command = [sys.executable, root / ".ci" / "rename.py", NEW]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    assert int(done.stdout.split()[0]) > 500
    return root


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("neurogym-task-ibl", "cogtask-task-ibl"),
        ("from neurogym_core import run", "from cogtask_core import run"),
        ("plugins/neurogym-jax/neurogym_jax", "plugins/cogtask-jax/cogtask_jax"),
        ("[neurogym.tasks] NEUROGYM_BUILD_KERNEL", "[neurogym.tasks] NEUROGYM_BUILD_KERNEL"),
        ("import neurogym as ngym  # NeuroGym 2.3.1", "import neurogym as ngym  # NeuroGym 2.3.1"),
    ],
)
def test_names_of_this_project_alone_are_renamed(old: str, new: str) -> None:
    assert script.renamed(old, NEW) == new


def test_no_file_and_no_path_keeps_the_old_prefix(checkout: Path) -> None:
    old = re.compile(r"neurogym[-_][a-z]")
    files = [
        one.relative_to(checkout).as_posix()
        for one in checkout.rglob("*")
        if ".git" not in one.parts
    ]
    assert [one for one in files if old.search(one)] == []
    for one in files:
        if (checkout / one).is_file() and not one.endswith((".png", ".gz")):
            found = old.search((checkout / one).read_bytes().decode("utf-8", "replace"))
            assert found is None, f"{one}: {found}"


def test_every_package_has_the_new_prefix(checkout: Path) -> None:
    folders = [path.parent for path in (checkout / "plugins").glob("*/pyproject.toml")]
    assert len(folders) == len(list(ROOT.glob("plugins/*/pyproject.toml")))
    for folder in (checkout, *folders):
        table = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
        assert table["name"].startswith(f"{NEW}-")
        assert (folder / table["name"].replace("-", "_") / "__init__.py").is_file()
        needs_core = any(one.startswith(f"{NEW}-core>=") for one in table["dependencies"])
        assert needs_core or folder == checkout
    for path in checkout.glob("registry/packages/*.toml"):
        entry = tomllib.loads(path.read_text("utf-8"))
        assert entry["name"] == path.stem
        assert (checkout / entry["folder"] / "pyproject.toml").is_file()


def test_the_table_of_names_is_fresh_under_the_new_prefix(checkout: Path) -> None:
    page = checkout / "docs" / "publishing.md"
    before = page.read_text("utf-8")
    assert before.count(f" | `{NEW}_") == 1 + len(list(ROOT.glob("plugins/*/pyproject.toml")))
    reader = checkout / "plugins" / f"{NEW}-registry"
    variables = os.environ | {"PYTHONPATH": f"{checkout}{os.pathsep}{reader}"}
    command = [sys.executable, checkout / "docs" / "_make" / "publishing.py"]
    subprocess.run(command, check=True, env=variables)
    assert page.read_text("utf-8") == before


@pytest.mark.slow
def test_renamed_packages_are_built_found_and_played(checkout: Path, tmp_path: Path) -> None:
    made = environments.Environment(
        tmp_path / "venv", environments.borrowed(tmp_path / "third-party")
    )
    sources = (checkout, checkout / "plugins" / f"{NEW}-task-control")
    made.pip_install([environments.build_wheel(one, tmp_path / "dist") for one in sources])
    rows = environments.as_json(made.run("-m", f"{NEW}_core", "list", "--json"))
    assert {(row["package"], row["status"]) for row in rows} == {(f"{NEW}-task-control", "ok")}
    words = ("run", "control/GoNogo-v0", "--subject", "oracle", "-n", 20, "--json")
    said = environments.as_json(made.run("-m", f"{NEW}_core", *words))
    assert said["summary"]["performance"] == 1


@pytest.mark.parametrize("given", [[], ["Neuro"], ["a-b"], ["a", "b"]])
def test_a_prefix_that_is_none_is_refused(given: list[str]) -> None:
    command = [sys.executable, ROOT / ".ci" / "rename.py", *given]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Expected one prefix of small letters and digits" in done.stderr
