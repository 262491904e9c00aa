"""The core and one package of tasks, from wheels, without any other package of this project."""

from __future__ import annotations

import tomllib
from pathlib import Path

import environments
import pytest

from neurogym_core.tools import brought

pytestmark = pytest.mark.slow
CONTROL = environments.REPOSITORY / "plugins" / "neurogym-task-control"
GO = "control/GoNogo-v0"
API = f"""
import numpy as np
from neurogym_core import Dataset, make, make_task, make_vec, run

env = make({GO!r})
env.reset(seed=0)
ended = 0
while not ended:
    _, reward, _, _, info = env.step(env.unwrapped.target)
    ended = "trial" in info
assert info["trial"]["outcome"] == "correct"
envs = make_vec({GO!r}, 3, wrap="PassReward")
assert envs.reset(seed=0)[0].shape[0] == 3
batch = next(Dataset({GO!r}, batch_size=2, seq_len=20, seed=0))
assert (batch.score(batch.targets)["outcome"] == "correct").all()
assert len(run({GO!r}, "oracle", 10, seed=0)) == 10
assert make_task({GO!r}, wrap="ReactionTime").name == "ReactionTime(GoNogo)"

env = make({GO!r}, render_mode="rgb_array")
env.reset(seed=0)
try:
    env.render()
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> environments.Environment:
    folder = tmp_path_factory.mktemp("bare")
    made = environments.Environment(folder / "venv", environments.borrowed(folder / "third-party"))
    sources = (environments.REPOSITORY, CONTROL)
    made.pip_install([environments.build_wheel(one, folder / "dist") for one in sources])
    return made


def test_list_info_and_run_work(bare: environments.Environment) -> None:
    rows = environments.as_json(bare.ngym("list", "--json"))
    manifest = tomllib.loads((CONTROL / "neurogym_task_control" / "ngym.toml").read_text("utf-8"))
    assert {row["name"] for row in rows} == {row["name"] for row in manifest["task"]}
    assert {(row["package"], row["status"]) for row in rows} == {("neurogym-task-control", "ok")}
    assert environments.as_json(bare.ngym("info", GO, "--json"))["description"]["channels"]
    said = environments.as_json(bare.ngym("run", GO, "--subject", "oracle", "-n", 20, "--json"))
    assert said["summary"]["performance"] == 1
    assert set(said["summary"]["answers"][0]["detection"]) >= {"hit rate", "false alarm rate"}
    helped = bare.ngym("--help", check=True).stdout
    assert "Commands of other packages" not in helped
    assert "late_oracle" in bare.ngym("run", "--help", check=True).stdout


def test_the_python_api_works_and_frames_name_their_package(bare) -> None:
    done = bare.run("-c", API, check=True)
    said = "MissingDependencyError 'render()' comes with neurogym-plot: `pip"
    assert done.stdout.startswith(said)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "package"),
    [
        *brought("commands").items(),
        (f"run {GO} --save x.toml", "neurogym-training"),
        (f"run {GO} --subject diffusion", "neurogym-likeness"),
        (f"run {GO} --wrap Mixture", "neurogym-wrappers"),
        ("info TrialHistory", "neurogym-wrappers"),
        ("info motor/Anything-v0", "neurogym-task-motor"),
        ("run Bandit-v0", "neurogym-task-value"),
        ("search dots", "neurogym-registry"),
    ],
)
def test_everything_else_names_its_package_in_one_line(bare, words: str, package: str) -> None:
    done = bare.ngym(*words.split())
    said = done.stdout if words.startswith("search") else done.stderr
    (line,) = [one for one in said.splitlines() if "comes with" in one]
    assert f"comes with {package}: `pip install -e ./plugins/" in line
    assert "in a checkout of neurogym-core" in line
    assert "Traceback" not in done.stderr
    assert not Path(bare.folder, "x.toml").exists()
