"""``ngym plot``: the figure of a trial in a file."""

from __future__ import annotations

import pytest
from light_imports import ALLOWED, imported

from neurogym_core.tools import installed

DOTS = "PerceptualDecisionMaking-v0"
MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize("suffix", MAGIC)
def test_a_trial_is_drawn_into_a_file_of_the_kind_that_its_name_says(ngym, tmp_path, suffix):
    target = tmp_path / f"trial{suffix}"
    result = ngym("plot", DOTS, "-o", str(target))
    assert result.exit_code == 0, result.output
    assert result.stdout == f"Saved {target}.\n"
    assert target.read_bytes().startswith(MAGIC[suffix])


def test_subject_settings_and_conditions_are_seen_in_it(ngym, tmp_path):
    target = tmp_path / "trial.svg"
    arguments = (
        "--subject",
        "integrator",
        "--condition",
        "coherence=51.2",
        "--set",
        "directions=4",
        "--timing",
        "delay=500",
    )
    assert ngym("plot", DOTS, "-o", str(target), *arguments).exit_code == 0
    text = target.read_text()
    assert "coherence 51.2" in text
    assert "integrator: correct" in text
    assert ">delay<" in text or "delay -->" in text


def test_the_same_seed_draws_the_same_file(ngym, tmp_path):
    first, second, other = (tmp_path / name for name in ("a.png", "b.png", "c.png"))
    for path, seed in ((first, "1"), (second, "1"), (other, "2")):
        assert ngym("plot", DOTS, "-o", str(path), "--seed", seed).exit_code == 0
    assert first.read_bytes() == second.read_bytes() != other.read_bytes()


def drawn_by(ngym, tmp_path, *arguments):
    """The text of the figure that `ngym plot` draws."""
    target = tmp_path / "figure.svg"
    result = ngym("plot", *arguments, "-o", str(target))
    assert result.exit_code == 0, result.output
    return target.read_text()


def test_a_manifest_names_the_conditions_of_the_figure(ngym, tmp_path, monkeypatch):
    from neurogym_plot import drawing

    class Found:
        figure = {"coherence": 12.8, "direction": 1}

    monkeypatch.setattr(drawing, "find_task", lambda name: Found)
    assert "direction left, coherence 12.8" in drawn_by(ngym, tmp_path, DOTS)
    assert "coherence 12.8" not in drawn_by(ngym, tmp_path, DOTS, "--condition", "coherence=6.4")


def test_a_session_of_one_subject_is_drawn_with_the_settings_of_the_task(ngym, tmp_path):
    options = ("--session", "--subject", "guess", "--condition", "coherence=51.2")
    text = drawn_by(ngym, tmp_path, DOTS, *options)
    assert "guess: 100 trials" in text
    assert ">coherence<" in text or "coherence -->" in text
    assert "51.2" in text


def test_a_number_of_trials_asks_for_a_session(ngym, tmp_path):
    assert "late_oracle: 30 trials" in drawn_by(ngym, tmp_path, DOTS, "--n-trials", "30")


SHORT = """
from neurogym_core import Task

class Short(Task):
    timing = {"choice": 100}

    def define(self):
        self.observe(offer=1)
        self.act(arm=2)

    def new_trial(self, trial):
        trial.periods("choice")
        trial.show("offer", 1, during="choice")
        trial.answer("arm", 0, during="choice")
"""


def test_a_task_of_one_step_is_drawn_as_a_session_unless_a_trial_is_asked_for(ngym, tmp_path):
    file = tmp_path / "short.py"
    file.write_text(SHORT)
    assert "100 trials" in drawn_by(ngym, tmp_path, f"{file}:Short")
    assert "time in the trial" in drawn_by(ngym, tmp_path, f"{file}:Short", "--trial")
    assert "time in the trial" in drawn_by(ngym, tmp_path, DOTS)


GOOD = """
from neurogym_core import Task

class Good(Task):
    timing = {"fixation": 300, "decision": 200}

    def define(self):
        self.observe(fixation=1)
        self.act(fixate=1, go=1)

    def new_trial(self, trial):
        trial.periods("fixation", "decision")
        trial.show("fixation", 1, during="fixation")
        trial.answer("go", 0, during="decision")

class Broken(Good):
    def define(self):
        raise RuntimeError("there is [bold]nothing[/] here")
"""
PLAIN = """
import gymnasium

class Odd(gymnasium.Env):
    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Discrete(3)
"""


@pytest.fixture
def tasks(site):
    """Install a package with some of these tasks."""

    def install(*names: str) -> None:
        offers = {
            f"{name}-v0": f"foo.{'good' if name in ('Good', 'Broken') else 'plain'}:{name}"
            for name in names
        }
        site.add("foo", tasks=offers, files={"good.py": GOOD, "plain.py": PLAIN})

    return install


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_all_draws_tasks(ngym, tasks, tmp_path, kind):
    tasks("Good")
    result = ngym("plot", "--all", str(tmp_path / "new" / "figures"), "--format", kind)
    assert result.exit_code == 0, result.output
    drawn = sorted(path.name for path in (tmp_path / "new" / "figures").iterdir())
    assert drawn == [f"x-foo-Good-v0.{kind}"]
    for path in (tmp_path / "new" / "figures").iterdir():
        assert path.read_bytes().startswith(MAGIC[f".{kind}"])
    assert "Drew 1 of 1 tasks" in result.stdout


def test_all_names_what_cannot_be_drawn_and_draws_the_others(ngym, tasks, tmp_path):
    tasks("Good", "Broken", "Odd")
    result = ngym("plot", "--all", str(tmp_path / "figures"))
    assert result.exit_code == 1
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["x-foo-Good-v0.png"]
    rows = {line.partition(": ")[0]: line for line in result.stderr.splitlines()}
    assert "there is [bold]nothing[/] here" in rows["x-foo/Broken-v0"]
    assert "no render mode 'rgb_array'" in rows["x-foo/Odd-v0"]
    assert "2 of 3 tasks could not be drawn" in result.stderr
    assert "Traceback" not in result.output
    assert "Drew 1 of 3 tasks" in result.stdout


def test_all_leaves_blocked_packages_out(ngym, tasks, tmp_path, monkeypatch):
    tasks("Good", "Broken")
    monkeypatch.setenv("NGYM_BLOCK", "foo")
    result = ngym("plot", "--all", str(tmp_path / "figures"))
    assert result.exit_code == 0, result.output
    assert list((tmp_path / "figures").iterdir()) == []


def test_its_help_imports_nothing_heavy():
    modules, printed = imported("plot", "--help")
    assert modules <= {*ALLOWED, "neurogym_plot"}
    assert "late_oracle" in printed


@pytest.mark.slow
def test_all_draws_every_installed_task(ngym, tmp_path):
    result = ngym("plot", "--all", str(tmp_path / "figures"))
    assert result.exit_code == 0, result.output
    drawn = {path.name for path in (tmp_path / "figures").iterdir()}
    assert drawn == {
        f"{task.id.replace('/', '-')}.png" for task in installed().tasks if not task.has("blocked")
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "a task is missing"),
        ([DOTS], "-o FILE is missing"),
        ([DOTS, "-o", "trial.txt"], ".png, .svg, .pdf"),
        ([DOTS, "--all", "figures"], "--all was given together with"),
        (["--all", "figures", "--set", "sigma=1"], "--all was given together with"),
        ([DOTS, "-o", "trial.svg", "--format", "svg"], "--format was given without --all"),
        (["--all", "figures", "--session"], "--all was given together with"),
        ([DOTS, "-o", "trial.png", "--trial", "--n-trials", "9"], "together with --trial"),
        (["--all", "figures", "--format", "gif"], "'png', 'svg'"),
        ([DOTS, "-o", "trial.png", "--set", "sigm=1"], "Did you mean 'sigma'?"),
        ([DOTS, "-o", "trial.png", "--condition", "coherenc=1"], "Did you mean 'coherence'?"),
    ],
)
def test_wrong_usage_ends_with_2_and_draws_nothing(ngym, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    result = ngym("plot", *arguments)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_reported(ngym, tmp_path):
    result = ngym("plot", DOTS, "-o", str(tmp_path / "no" / "trial.png"))
    assert result.exit_code == 1
    assert "cannot be written" in result.stderr


def test_a_wrapper_shows_in_the_figure(ngym, tmp_path):
    plain, wrapped = tmp_path / "plain.svg", tmp_path / "wrapped.svg"
    options = ["--subject", "rest", "--seed", "3"]
    assert ngym("plot", "PerceptualDecisionMaking-v0", *options, "-o", str(plain)).exit_code == 0
    done = ngym(
        "plot",
        "PerceptualDecisionMaking-v0",
        *options,
        "--wrap",
        "reaction_time",
        "-o",
        str(wrapped),
    )
    assert done.exit_code == 0, done.output
    assert plain.read_bytes() != wrapped.read_bytes()
    appended = tmp_path / "appended.svg"
    words = ("plot", "PerceptualDecisionMaking-v0", "--wrap", "pass_reward")
    assert ngym(*words, "-o", str(appended)).exit_code == 0
    assert ">PassReward<" in appended.read_text("utf-8") or "PassReward -->" in appended.read_text(
        "utf-8"
    )
