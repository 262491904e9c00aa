"""Searches and unknown names on a core without any other package of this project."""

from __future__ import annotations

import re
import tomllib
from functools import partial
from pathlib import Path

import pytest

from neurogym_core import (
    MissingDependencyError,
    NotSupportedError,
    TaskEnv,
    UnknownTaskError,
    make,
    make_task,
    make_vec,
)
from neurogym_core.ecosystem import names, published
from neurogym_core.tools import find_task

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def read_again():
    """The list is read once per process; the tests move it."""
    yield
    forget()


def forget() -> None:
    for one in (names.rows, names.brought, names.helps, names.tasks):
        one.cache_clear()


@pytest.fixture(params=["checkout", "wheel"])
def where(request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether the core is used from a checkout, or from a wheel with its copy of the list."""
    if request.param == "wheel":
        copy = tmp_path / "neurogym_core" / "_bundled" / "index.json"
        copy.parent.mkdir(parents=True)
        copy.write_bytes((ROOT / "registry" / "index.json").read_bytes())
        monkeypatch.setattr(names, "_CORE", tmp_path / "neurogym_core")
        monkeypatch.setattr(
            published, "__file__", str(tmp_path / "neurogym_core" / "ecosystem" / "published.py")
        )
    forget()
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
    assert len(re.findall(r"-v\d", everything)) == len(names.tasks()) >= 92
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
    monkeypatch.setattr(names, "_CORE", tmp_path / "neurogym_core")
    forget()
    with pytest.raises(UnknownTaskError, match="Unknown task 'GoNogo-v0'"):
        find_task("GoNogo-v0")


SIDES = """
from neurogym_core import Choice, Task

class Sides(Task):
    timing = {"decision": 300}

    def define(self):
        self.observe(sides=1)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))

    def new_trial(self, trial):
        trial.periods("decision")
        trial.show("sides", trial["side"], during="decision")
        trial.answer("choose", trial["side"], during="decision")
"""


def test_what_another_package_does_is_answered_with_the_package(site, ngym, tmp_path) -> None:
    (tmp_path / "sides.py").write_text(SIDES)
    task = f"{tmp_path / 'sides.py'}:Sides"
    toml = tmp_path / "x.toml"
    toml.write_text("")
    for words, package in (
        (["plot", task, "-o", "x.png"], "neurogym-plot"),
        (["play", task], "neurogym-play"),
        (["new"], "neurogym-check"),
        (["doctor"], "neurogym-check"),
        (["train", task], "neurogym-training"),
        (["sweep", "run"], "neurogym-sweep"),
        (["install", "x"], "neurogym-registry"),
        (["run", str(toml)], "neurogym-training"),
        (["run", task, "--save", str(tmp_path / "y.toml")], "neurogym-training"),
        (["run", task, "--subject", "integrator"], "neurogym-likeness"),
        (["run", task, "--wrap", "TrialHistory"], "neurogym-wrappers"),
    ):
        result = ngym(*words)
        assert result.exit_code != 0, words
        (line,) = [one for one in result.stderr.splitlines() if "comes with" in one]
        assert f"comes with {package}: `pip install" in line, words
    for made in (make, partial(make_vec, num_envs=2)):
        env = made(task, render_mode="rgb_array")
        env.reset(seed=0)
        with pytest.raises(MissingDependencyError, match=r"'render\(\)' comes with neurogym-plot"):
            env.render()


def test_an_env_that_was_not_made_by_make_is_not_drawn() -> None:
    env = TaskEnv(make_task("GoNogo-v0"), render_mode="rgb_array")
    with pytest.raises(NotSupportedError, match=r"Make it with make\(task, render_mode="):
        env.render()


def test_the_wheel_has_the_list_where_it_is_looked_for() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    [(source, target)] = build["targets"]["wheel"]["force-include"].items()
    assert (ROOT / source).is_file()
    assert ROOT / target == names._CORE / "_bundled" / "index.json"
    assert source in build["targets"]["sdist"]["only-include"]
