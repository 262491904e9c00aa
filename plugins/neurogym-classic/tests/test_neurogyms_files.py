"""Every task class of NeuroGym 2.3.1 plays here as there, after the documented change of imports.

docs/bring-your-task.md prints that change. NeuroGym is installed from the package index into a
separate environment; none of its files is part of this repository.
"""

from __future__ import annotations

import os
import pickle
import re
import shlex
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest

PLAY = Path(__file__).parent / "peer" / "play.py"
PACKAGE = Path(__file__).resolve().parents[1]
PAGE = PACKAGE.parents[1] / "docs" / "bring-your-task.md"
FOLDERS = ("native", "contrib")  # of tasks; `collections` combine these with NeuroGym's wrappers

ONLY_HERE = {
    "AngleReproduction": "writes into `ob_now`, which is a text there",
    "Detection": "reads `gt_now` before any ground truth is set",
    "MatchingPenny": "has no `timing`, which its class refuses",
}
NOWHERE = {
    "IBL": "its `_step` takes no action",
    "IBL_Block": "its `_step` takes no action",
    "MemoryRecall": "has no `timing`; its `_new_trial` returns arrays",
    "LeverPress": "its `reset` takes neither a seed nor options",
    "LeverPressWithPoke": "its `reset` takes neither a seed nor options",
    "LeverPressWithPokeRest": "its `reset` takes neither a seed nor options",
    "ContextSwitch": "its `reset` takes neither a seed nor options",
    "Pneumostomeopening": "its `reset` takes neither a seed nor options",
    "FullInput": "a wrapper",
}
DIFFERENT = {
    # NeuroGym sets `performance` to 0 after `_new_trial`, this package before it.
    "GoNogo": {"performance"},
    "DelayPairedAssociation": {"performance"},
    # The first entry of its `transition` is not initialised (np.empty).
    "DawTwoStep": {"trial"},
}
"""Fields that differ, by class."""


def printed_line(path: Path) -> str:
    """Return the `sed` line of a page."""
    return re.search(r"^sed .*$", path.read_text("utf-8"), re.MULTILINE)[0]


def test_the_readme_prints_the_same_line_as_the_page():
    assert printed_line(PACKAGE / "README.md") == printed_line(PAGE)


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("from neurogym.core import TrialEnv", "from neurogym_classic import TrialEnv"),
        ("from neurogym.utils import spaces", "from neurogym_classic import spaces"),
        ("from neurogym.utils.ngym_random import x", "from neurogym_classic import x"),
        ("from neurogym.utils.logging import logger", "from neurogym_classic import logger"),
        ("from neurogym.utils.tasktools import x", "from neurogym_classic.tasktools import x"),
        ("import neurogym as ngym", "import neurogym_classic as ngym"),
        ("import neurogym", "import neurogym_classic"),
        ("    from neurogym import spaces", "    from neurogym_classic import spaces"),
        ("import neurogym_core", "import neurogym_core"),
        ("from neurogym_classic import spaces", "from neurogym_classic import spaces"),
        ("# neurogym.core", "# neurogym.core"),
    ],
)
def test_the_line_changes_imports_and_nothing_else(there, here, tmp_path):
    file = tmp_path / "my_task.py"
    file.write_text(f"{there}\n", "utf-8")
    change_imports([file])
    assert file.read_text("utf-8") == f"{here}\n"


def change_imports(files: list[Path]) -> None:
    *command, _ = shlex.split(printed_line(PAGE))
    subprocess.run([*command, *map(str, files)], check=True)


@pytest.fixture(scope="module")
def sides(tmp_path_factory) -> tuple[dict, dict]:
    """Return the results there and here: {class: rows, or the text of an error}."""
    folder = tmp_path_factory.mktemp("neurogym")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "neurogym==2.3.1"]
    subprocess.run([str(python), *install], check=True)
    (package,) = folder.glob("venv/**/site-packages/neurogym/envs")
    for name in FOLDERS:
        shutil.copytree(package / name, folder / "there" / name)
        shutil.copytree(package / name, folder / "here" / name)
    change_imports(sorted((folder / "here").glob("*/*.py")))
    return (
        played(str(python), "there", folder / "there"),
        played(sys.executable, "here", folder / "here"),
    )


def played(python: str, side: str, folder: Path) -> dict:
    out = folder.parent / f"{side}.pickle"
    # Some tasks iterate over sets of names.
    environment = {**os.environ, "PYTHONHASHSEED": "0", "MPLCONFIGDIR": str(folder.parent)}
    command = [python, str(PLAY), side, str(folder), str(out)]
    subprocess.run(command, check=True, cwd=folder.parent, env=environment)
    return pickle.loads(out.read_bytes())


@pytest.mark.slow
def test_classes_that_run_in_neurogym_run_here(sides):
    there, here = (
        {name for name, rows in side.items() if not isinstance(rows, str)} for side in sides
    )
    assert sides[0].keys() == sides[1].keys()
    assert len(there) == 32
    assert there <= here, {name: sides[1][name] for name in there - here}
    assert here - there == set(ONLY_HERE)
    assert sides[0].keys() - here == set(NOWHERE)


@pytest.mark.slow
def test_classes_that_run_in_both_play_the_same(sides):
    both = [name for name, rows in sides[0].items() if not isinstance(rows, str)]
    found = {name: differences(sides[0][name], sides[1][name]) for name in both}
    assert {name: fields for name, fields in found.items() if fields} == DIFFERENT
    assert all(sum(row["new_trial"] for row in sides[1][name]) > 5 for name in both)


def differences(there: list[dict], here: list[dict]) -> set[str]:
    """Return the names of the values of a step that differ on any step."""
    assert len(there) == len(here) == 2000
    return {
        name
        for one, other in zip(there, here, strict=True)
        for name in one
        if not equal(one[name], other[name])
    }


def equal(there, here) -> bool:
    """Return whether two values are equal, floats to six digits; None there equals anything."""
    if there is None:
        return True
    if isinstance(there, dict):
        return there.keys() == here.keys() and all(equal(there[key], here[key]) for key in there)
    if np.asarray(there).dtype.kind in "fiub":
        return np.shape(there) == np.shape(here) and np.allclose(there, here, rtol=0, atol=1e-6)
    return there == here
