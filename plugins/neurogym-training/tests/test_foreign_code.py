"""Runs and experiment files of other people run no code without permission.

Each attack has a Python file that leaves a marker file when it is run."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import random
import shutil
from pathlib import Path

import click
import pytest
from neurogym_training import TaskExperiment, load
from neurogym_training.runs import Run, RunDiffers

from neurogym_core.tools import main, trusted, trusting

ID = "perceptual/PerceptualDecisionMaking-v0"
FAST, SLOW = 50, 500
"""Numbers of mutated artefacts."""
EVIL = """
import pathlib
from neurogym_core.tools import load_task
pathlib.Path({marker!r}).touch()


class PerceptualDecisionMaking(load_task("perceptual/PerceptualDecisionMaking-v0")):
    pass


class Net:
    pass


def work():
    return {{"n": 1}}
"""


@pytest.fixture
def work(toys, ngym):
    """Train the toy on an installed task into "run", beside "evil.py"."""
    code, said = ngym("train", ID, "--model", "toy", "--updates", 5, "--out", "run", "--quiet")
    assert code == 0, said
    Path("evil.py").write_text(EVIL.format(marker=str(Path("OWNED").resolve())), "utf-8")
    assert ngym("run", ID, "--subject", "oracle", "-n", 60, "--csv", "trials.csv")[0] == 0
    return ngym


def rewrite(change, folder="run"):
    file = Path(folder, "settings.json")
    settings = json.loads(file.read_text("utf-8"))
    change(settings["experiment"])
    file.write_text(json.dumps(settings), "utf-8")


def evil_task(experiment):
    experiment["tasks"][0]["task"] = "evil.py:PerceptualDecisionMaking"


def evil_model(experiment):
    experiment["trainer"], experiment["options"] = "own", {"module": "evil.py:Net"}


def evil_wrapper(experiment):
    experiment["wrap"] = [{"name": "Mixture", "other_tasks": ["evil.py:PerceptualDecisionMaking"]}]


COMMANDS = {
    "evaluate": ("evaluate", "run", "-n", 50),
    "likeness": ("likeness", "run", "-n", 50),
    "run": ("run", ID, "--subject", "run/", "-n", 5),
    "plot": ("plot", ID, "--subject", "trained:run=run", "-o", "x.png"),
    "train --resume": ("train", "--resume", "run", "--updates", 10, "--quiet"),
    "models export": ("models", "export", "run", "weights.safetensors"),
    "export": ("export", ID, "--subject", "./run", "--to", "csv"),
    "sweep": ("sweep", "--do", "evaluate", "--vary", "run=run", "--vary", "trials=50", "--on",
              "serial", "--quiet"),
    "sweep *": ("sweep", "--do", "evaluate", "--vary", "run=ru*", "--on", "serial", "--quiet"),
    "sweep subject": ("sweep", ID, "--vary", "subject=./run", "--vary", "trials=50", "--on",
                      "serial", "--quiet"),
    "fit": ("fit", "trials.csv", "--model", "run", "--folds", 0),
    "run experiment": ("run", "subject.toml"),
    "sweep experiment": ("sweep", "subject.toml", "--on", "serial", "--quiet"),
}  # fmt: skip


SUBJECT = f'task = "{ID}"\ntrials = 5\nsubject = "./run"\n'


@pytest.mark.parametrize("attack", [evil_task, evil_model, evil_wrapper])
def test_the_folder_of_a_run_runs_no_file_without_permission(work, attack):
    rewrite(attack)
    Path("subject.toml").write_text(SUBJECT, "utf-8")
    sha256 = hashlib.sha256(Path("evil.py").read_bytes()).hexdigest()
    for command in COMMANDS.values():
        code, said = work(*command)
        assert not Path("OWNED").exists()
        assert code != 0
        assert sha256 in said, said
        assert "--trust" in said


@pytest.mark.parametrize("attack", [None, evil_task], ids=["no file", "trusted file"])
@pytest.mark.parametrize("command", ["run", "train --resume", "sweep subject", "run experiment"])
def test_a_run_that_names_no_file_or_is_trusted_can_be_used(work, command, attack):
    """Also in the runs of a sweep, which may be other processes."""
    Path("subject.toml").write_text(SUBJECT, "utf-8")
    if attack:
        rewrite(attack)
    code, said = work(*COMMANDS[command], *(["--trust"] if attack else []))
    assert code == 0, said
    assert Path("OWNED").exists() == bool(attack)


EXPERIMENTS = {
    "task": 'task = "evil.py:PerceptualDecisionMaking"\n',
    "task without a class": 'task = "evil.py"\n',
    "wrapper": f'task = "{ID}"\n[[wrap]]\nname = "wrappers/Mixture"\nother_tasks = ["evil.py"]\n',
    "settings of a subject": f'task = "{ID}"\nsubject = "x:net=evil.py:Net,n=1"\n',
    "model": f'task = "{ID}"\n[train]\nmodel = "evil.py:Net"\n',
    "option": f'task = "{ID}"\n[train]\nmodel = "own"\n[train.options]\nmodule = "evil.py:Net"\n',
    "also": f'task = "{ID}"\n[train]\nmodel = "toy"\nalso = ["evil.py"]\n',
    "key": f'task = "{ID}"\n[parameters]\n"evil.py" = 1\n',
}
SPELLED = 'Mixture:other_tasks="evil.p\\u0079:PerceptualDecisionMaking"'
"""A wrapper with its settings as text, in which an escape hides the name of a file."""
ESCAPED = {
    "wrapper of a task of a wrapper": f"task = '{ID}'\ntrials = 2\n[[wrap]]\n"
    f"name = 'wrappers/Mixture'\nother_tasks = [{{task = '{ID}', wrap = '{SPELLED}'}}]\n",
    "subject": f"task = '{ID}'\ntrials = 2\nsubject = 'trained:run=\"\\u002e/run\"'\n",
}


def test_an_experiment_file_runs_no_file_without_permission(work):
    for text in EXPERIMENTS.values():
        Path("e.toml").write_text(text, "utf-8")
        for words in (("run", "e.toml"), ("train", "e.toml", "--out", "new"), ("sweep", "e.toml")):
            code, said = work(*words)
            assert code != 0
            assert "code in a file" in said
            assert not Path("OWNED").exists()


@pytest.mark.parametrize("text", ESCAPED.values(), ids=ESCAPED)
def test_no_escape_hides_a_file(work, text):
    """Settings in a text are texts in a text: the gate sees the outer one only."""
    rewrite(evil_task)
    Path("e.toml").write_text(text, "utf-8")
    code, said = work("run", "e.toml")
    assert code != 0
    assert "has an escape" in said
    assert not Path("OWNED").exists()


TABLES = {
    "task": "task\nevil.py:PerceptualDecisionMaking\n",
    "subject": "subject\n./run\n",
    "setting": "subject.net\nevil.py:Net\n",
    "name": "evil.py\n1\n",
}


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_the_table_of_a_sweep_runs_no_file_without_permission(work, text):
    rewrite(evil_task)
    Path("rows.csv").write_text(text, "utf-8")
    words = ("sweep", ID, "--table", "rows.csv", "--vary", "trials=50", "--on", "serial", "--quiet")
    code, said = work(*words)
    assert code != 0
    assert "code in a file" in said
    assert not Path("OWNED").exists()
    if text in (TABLES["task"], TABLES["subject"]):
        assert work(*words, "--trust")[0] == 0
        assert Path("OWNED").exists()


def test_the_commands_with_artefacts_have_the_option():
    """Those are the callers of the functions that ask; no other command has it."""
    context = click.Context(main)
    names = main.list_commands(context)
    names = {name for name in names if has_trust(main.get_command(context, name))}
    assert names == {words[0] for words in COMMANDS.values()}


def has_trust(command):
    parts = [command, *getattr(command, "commands", {}).values()]
    return any(option.name == "trust" for one in parts for option in one.params)


def test_a_run_notes_the_files_of_all_tasks_that_it_names(work):
    """Also of tasks within wrappers, and of two files with one name."""
    source = EVIL.format(marker="OWNED")
    for folder in ("one", "two"):
        Path(folder).mkdir()
        Path(folder, "mine.py").write_text(f"{source}# {folder}\n", "utf-8")
    Path("e.toml").write_text(
        f'task = "{ID}"\n[[wrap]]\nname = "wrappers/Mixture"\nother_tasks ='
        ' ["one/mine.py:PerceptualDecisionMaking", "two/mine.py:PerceptualDecisionMaking"]\n'
        '[train]\nmodel = "toy"\nupdates = 2\n',
        "utf-8",
    )
    code, said = work("train", "e.toml", "--trust", "--out", "joined", "--quiet")
    assert code == 0, said
    noted = json.loads(Path("joined/settings.json").read_text("utf-8"))["files"]
    assert {"mine.py", "two/mine.py"} <= noted.keys()
    with pytest.raises(ValueError, match=r"The run 'joined': "):
        Run.open("joined")
    for folder in ("one", "two"):
        file = Path(folder, "mine.py")
        before = file.read_text("utf-8")
        file.write_text(before + "# edited\n", "utf-8")
        with pytest.raises(ValueError, match=r"edited since the run began: mine\.py"):
            Run.open("joined")
        file.write_text(before, "utf-8")


def test_what_the_user_types_needs_no_permission(work):
    code, said = work("run", "evil.py:PerceptualDecisionMaking", "-n", 2)
    assert code == 0, said
    assert Path("OWNED").exists()


def test_permission_ends_with_the_command(work):
    Path("e.toml").write_text(EXPERIMENTS["task"] + "trials = 2\n", "utf-8")
    assert work("run", "e.toml", "--trust")[0] == 0
    assert not trusted()
    # click does not close the context of a command whose arguments are wrong.
    error = work("run", "e.toml", "--trust", "--seed", "none")
    assert error[0] == 2
    assert not trusted()
    assert work("run", "e.toml")[0] != 0
    with trusting(), trusting(False):
        assert trusted()


def test_in_python_a_run_is_opened_with_trust_and_compared_first(work):
    rewrite(evil_task)
    settings = json.loads(Path("run/settings.json").read_text("utf-8"))
    settings["files"]["evil.py"] = "0" * 64
    Path("run/settings.json").write_text(json.dumps(settings), "utf-8")
    with pytest.raises(ValueError, match=r"edited since the run began: evil\.py"):
        Run.open("run")
    with pytest.warns(RunDiffers, match=r"evil\.py was edited"):
        run = Run.open("run", trust=True)
    assert not Path("OWNED").exists()  # opening runs nothing
    with pytest.warns(RunDiffers) as caught:
        run.trainer()
    assert not any("evil.py was edited" in str(one.message) for one in caught)  # said once
    assert Path("OWNED").exists()


# ---------------------------------------------------------------------- mutations

WORDS = ("evil.py:PerceptualDecisionMaking", "evil.py", "./evil.py:Net", "evil.py:", "evil:work",
         "trained:run=bad", "bad/", "./bad", "trained:run=bad,which=0", "evil", "bad/evil.py",
         "own", "../work/evil.py:Net", "x:task=evil.py:Net,b=1", "Mixture:other_tasks=evil.py",
         "evil.py\n:Net", " evil.py:Net", "evil.py:Net ", "EVIL.PY:Net", SPELLED,
         "evil.p\\u0079:PerceptualDecisionMaking", "'evil.p\\u0079'")  # fmt: skip
KEYS = ("task", "module", "model", "trainer", "name", "subject", "run", "other_tasks", "also",
        "options", "wrap", "settings", "tasks", "kind", "distractor", "file")  # fmt: skip


def places_in(value, keys=()):
    """Yield the keys to all values of plain data."""
    rows = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in rows:
        yield (*keys, key)
        if isinstance(one, dict | list):
            yield from places_in(one, (*keys, key))


def at(data, keys):
    for key in keys:
        data = data[key]
    return data


def mutated(data, rng):
    """Return a copy of plain data in which one or two values or keys are others."""
    data = json.loads(json.dumps(data))
    for _ in range(rng.randint(1, 2)):
        places = [*places_in(data)]
        texts = [keys for keys in places if isinstance(at(data, keys), str)]
        word = rng.choice(WORDS)
        if texts and rng.random() < 0.5:
            *keys, last = rng.choice(texts)
            at(data, keys)[last] = word
            continue
        *keys, last = rng.choice(places)
        inside = at(data, keys)
        new = rng.choice((word, [word], {"task": word}, {"name": word}, *range(4)))
        if isinstance(inside, dict) and rng.random() < 0.3:
            inside[rng.choice(KEYS)] = new
        else:
            inside[last] = new
    return data


def toml(data):
    from neurogym_training.task_experiment import written

    return "".join(f"{json.dumps(key)} = {written(value)}\n" for key, value in data.items())


def table(row):
    """Return a CSV table with one row."""
    lines = io.StringIO()
    csv.writer(lines).writerows(zip(*row.items(), strict=True))
    return lines.getvalue()


ROW = {"task": ID, "subject": "oracle", "trials": 5, "dt": 100}
EXPERIMENT = {
    "task": ID, "seed": 0, "trials": 2, "subject": "oracle", "parameters": {"dt": 100},
    "wrap": [{"name": "core/PassAction"}],
    "train": {"model": "toy", "updates": 2, "also": [ID], "options": {"hidden": 3}},
}  # fmt: skip


@pytest.mark.parametrize(
    "count", [FAST, pytest.param(SLOW, marks=pytest.mark.slow)], ids=["fast", "slow"]
)
def test_mutated_artefacts_run_no_file(work, count, monkeypatch):
    """Half of the artefacts are settings of runs, the others experiment files, sweeps of them, and
    tables of sweeps.

    Each is opened by one command; half of the commands run."""
    from click.testing import CliRunner

    monkeypatch.setenv("NGYM_BLOCK", "neurogym-registry")  # it looks for every unknown name
    shutil.copytree("run", "bad")
    rewrite(evil_task, "bad")
    original = Path("run/settings.json").read_text("utf-8")
    accepted = 0
    for seed in range(count):
        rng = random.Random(seed)
        if seed % 2:
            settings = json.loads(original)
            settings["experiment"] = mutated(settings["experiment"], rng)
            Path("run/settings.json").write_text(json.dumps(settings), "utf-8")
            words = COMMANDS[rng.choice(("run", "train --resume", "sweep"))]
        elif seed % 10 == 0:
            Path("rows.csv").write_text(table(mutated(ROW, rng)), "utf-8")
            words = (
                "sweep",
                ID,
                "--table",
                "rows.csv",
                "--on",
                "serial",
                "--quiet",
                "--out",
                "new",
            )
        else:
            Path("e.toml").write_text(toml(mutated(EXPERIMENT, rng)), "utf-8")
            shutil.rmtree("new", ignore_errors=True)
            words = rng.choice((
                ("run", "e.toml"), ("train", "e.toml", "--out", "new", "--quiet"),
                ("sweep", "e.toml", "--on", "serial", "--quiet", "--out", "new"),
                ("sweep", "e.toml", "--do", "evaluate", "--on", "serial", "--out", "new"),
            ))  # fmt: skip
        done = CliRunner().invoke(main, [str(one) for one in words])
        accepted += done.exit_code == 0
        assert not Path("OWNED").exists(), (seed, words, done.output)
    assert count // 50 <= accepted < count  # some mutations are harmless


def test_the_mutations_would_find_a_reader_that_does_not_ask(work, monkeypatch):
    """The cheat: every artefact is trusted."""
    with trusting(), pytest.raises(AssertionError):
        test_mutated_artefacts_run_no_file(work, FAST, monkeypatch)


def test_an_experiment_that_is_trusted_keeps_its_files(work):
    Path("e.toml").write_text(EXPERIMENTS["task"], "utf-8")
    with pytest.raises(ValueError, match="code in a file"):
        load("e.toml")
    assert isinstance(load("e.toml", trust=True), TaskExperiment)
