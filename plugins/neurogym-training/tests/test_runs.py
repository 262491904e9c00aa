"""Runs keep their facts, and report changes and losses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from neurogym_training import Run
from neurogym_training.runs import RunDiffers

from neurogym_core import InvalidValueError


@pytest.fixture
def run(toys, sides, ngym):
    """Train 20 updates into the folder "run"."""
    code, said = ngym("train", sides, "--model", "toy", "--updates", 20, "--out", "run", "--quiet")
    assert code == 0, said
    return ngym


def contents():
    return {path.name: path.read_bytes() for path in Path("run").iterdir() if path.is_file()}


def test_the_settings_have_resolved_parameters_defaults_versions_and_hashes(run):
    said = json.loads(Path("run/settings.json").read_text("utf-8"))
    assert said["tasks"][0]["parameters"]["strengths"] == [0.0, 1.0]
    assert said["tasks"][0]["rewards"]["abort"] == -0.1
    assert said["trainer"]["seed"] == 0
    assert len(said["trainer"]) > 2
    assert {"python", "numpy", "neurogym-core", "neurogym-training"} <= set(said["versions"])
    assert len(said["files"]["sides_task.py"]) == 64


def test_a_run_that_did_not_change_says_nothing(run):
    code, said = run("train", "--resume", "run", "--updates", 30, "--quiet")
    assert code == 0
    assert "differ" not in said


def test_an_edited_task_file_is_said_on_resuming_and_opening(run, sides):
    file = Path(sides.rpartition(":")[0])
    file.write_text(file.read_text("utf-8").replace("noise=1.0", "noise=3.0"), "utf-8")
    with pytest.warns(RunDiffers, match=r"sides_task\.py was edited"):
        Run.open("run").trainer()
    code, said = run("train", "--resume", "run", "--updates", 30, "--quiet")
    assert code == 0
    assert "sides_task.py was edited" in said
    # It stays said: the run did not become one of the edited task.
    with pytest.warns(RunDiffers):
        Run.open("run").trainer()


@pytest.mark.parametrize(
    ("part", "name", "words"),
    [
        ("versions", "numpy", "version of numpy: 0.1"),
        ("trainer", "seed", "trainer's seed: 0.1"),
        ("splits", "training", "the split of training: 0.1, now train"),
    ],
)
def test_other_versions_and_defaults_are_said(run, part, name, words):
    said = json.loads(Path("run/settings.json").read_text("utf-8"))
    said[part][name] = "0.1"
    Path("run/settings.json").write_text(json.dumps(said), "utf-8")
    with pytest.warns(RunDiffers, match=words):
        Run.open("run").trainer()


def test_a_deleted_curve_does_not_begin_the_run_again(run):
    curve = Path("run/curve.csv").read_text("utf-8").splitlines()
    Path("run/curve.csv").unlink()
    code, said = run("train", "--resume", "run", "--updates", 30, "--quiet")
    assert code == 0, said
    assert Path("run/curve.csv").read_text("utf-8").splitlines()[: len(curve)] == curve


@pytest.mark.parametrize("updates", [20, 22])
def test_a_deleted_curve_is_written_again_where_no_test_follows(run, updates):
    curve = Path("run/curve.csv").read_text("utf-8")
    Path("run/curve.csv").unlink()
    code, said = run("train", "--resume", "run", "--updates", updates, "--quiet")
    assert code == 0, said
    assert Path("run/curve.csv").read_text("utf-8") == curve
    assert json.loads(Path("run/toy.json").read_text("utf-8"))["done"] == updates


@pytest.mark.parametrize("damage", ["cut", "missing", "no experiment", "no json", "other format"])
def test_a_damaged_run_is_one_clear_paragraph_and_stays_as_it_is(run, damage):
    if damage == "cut":
        Path("run/toy.json").write_text(Path("run/toy.json").read_text("utf-8")[:30], "utf-8")
    elif damage == "missing":
        Path("run/toy.json").unlink()
    else:
        text = {"no experiment": '{"format": 1}', "no json": "{", "other format": "[]"}[damage]
        Path("run/settings.json").write_text(text, "utf-8")
    before = contents()
    code, said = run("train", "--resume", "run", "--updates", 30, "--quiet")
    assert code == 2
    assert "Error: " in said
    assert "Traceback" not in said
    assert any(word in said for word in ("another folder", "Use the version"))
    assert contents() == before


def test_a_second_process_is_refused(run):
    with Run.open("run").locked():
        before = contents()
        code, said = run("train", "--resume", "run", "--updates", 30, "--quiet")
        assert code == 2
        assert "Another process" in said
        assert contents() == before
    assert run("train", "--resume", "run", "--updates", 30, "--quiet")[0] == 0


def test_a_trainer_of_a_run_that_cannot_be_loaded_raises_an_error_of_the_project(run):
    Path("run/toy.json").write_text("[]", "utf-8")
    with pytest.raises(InvalidValueError, match="Nothing was overwritten"):
        Run.open("run").trainer()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_writes_the_checkpoint_and_says_how_to_go_on(toys, sides, tmp_path):
    words = ["train", sides, "--model", "toy", "--updates", "100000000", "--out", "run"]
    words += ["--option", "test_every=50000000"]
    path = os.pathsep.join([str(toys), os.environ.get("PYTHONPATH", "")])
    child = subprocess.Popen(
        [sys.executable, "-m", "neurogym_core", *words],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.PIPE, text=True,
        # In the background of a shell, processes ignore SIGINT, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    try:
        until = time.monotonic() + 100
        # The first test of the training has been written: Ctrl-C is waited for.
        while not (tmp_path / "run/curve.csv").exists() and time.monotonic() < until:
            assert child.poll() is None, child.communicate()[1]
            time.sleep(0.1)
        time.sleep(1)
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=100)[1]
    finally:
        child.kill()
    assert child.returncode == 1, said
    assert "ngym train --resume run" in said
    state = json.loads((tmp_path / "run/toy.json").read_text("utf-8"))
    assert state["done"] > 0


def test_the_innermost_parts_that_differ_are_named_and_only_some_of_them() -> None:
    from neurogym_training.facts import differences

    def facts(names: list[str], ms: int) -> dict:
        actions = [{"name": "rest", "size": 1}, {"name": "choose", "size": 2, "names": names}]
        return {"tasks": [{"actions": actions, "timing": {"delay": ms, "stimulus": 100}}]}

    assert differences(facts(["left", "right"], 0), facts(["right", "left"], 500)) == [
        "item 0 in names of choose in actions of task 0: left, now right",
        "item 1 in names of choose in actions of task 0: right, now left",
        "delay of timing of task 0: 0, now 500",
    ]
    assert differences(facts(["a"], 0), facts(["a", "b"], 0)) == [
        "names of choose in actions of task 0: ['a'], now ['a', 'b']"
    ]
    assert differences(facts(["a"], 0), facts(["a"], 0)) == []
