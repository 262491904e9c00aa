"""Experiment files: they determine the run, reading inverts writing, and every mistake has a
line.
"""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from neurogym_records import read_csv
from neurogym_training import TaskExperiment, load
from neurogym_training.task_experiment import _Reader, written

from neurogym_core import Choice, Dataset, InvalidValueError, NotSupportedError, make, make_task
from neurogym_core.tools import main

DOTS = "perceptual/PerceptualDecisionMaking-v0"
FULL = f"""\
# Dots with a history, as in figure 2.
schema = 1
task = "{DOTS}"
seed = 3
trials = 40
subject = "oracle"

[parameters]
coherences = [
    0,
    51.2,   # %
]
trials_per_session = "none"

[timing]
delay = {{uniform = [100, 500]}}

[rewards]
error = -1

[imposed]
coherence = [0, 51.2]

[[wrap]]
name = "core/ReactionTime"
urgency = -0.01

[[wrap]]
name = "wrappers/TrialHistory"
probs = [[0.9, 0.1], [0.1, 0.9]]

[[wrap]]
name = "core/PassReward"

[train]
model = "rnn"
"""
STUDENT = """
from neurogym_core import Choice, Task

class Lamp(Task):
    timing = {"lamp": 300}

    def define(self):
        self.observe(lamp=1)
        self.act(rest=1, press=1)
        self.vary(on=Choice(2))

    def new_trial(self, trial):
        trial.periods("lamp")
        trial.show("lamp", trial["on"], during="lamp")
        trial.answer("press", trial["on"] - 1, during="lamp")
"""


def file_of(folder: Path, text: str) -> Path:
    path = folder / "experiment.toml"
    path.write_text(text, "utf-8")
    return path


def ngym(*arguments: str):
    return CliRunner().invoke(main, list(arguments), prog_name="ngym", env={"COLUMNS": "200"})


# ---------------------------------------------------------------------- making tasks and envs


def test_a_file_is_the_task_env_and_dataset_that_it_says(tmp_path):
    experiment = load(file_of(tmp_path, FULL))
    wrap = [
        ("ReactionTime", {"urgency": -0.01}),
        ("TrialHistory", {"probs": ((0.9, 0.1), (0.1, 0.9))}),
    ]
    params = {
        "coherences": (0, 51.2),
        "trials_per_session": None,
        "timing": {"delay": {"uniform": [100, 500]}},
        "rewards": {"error": -1},
    }
    task = make_task(DOTS, wrap=wrap, **params)
    assert experiment.make_task() == task
    assert experiment.train == {"model": "rnn"}
    env, same = experiment.make(), make(DOTS, wrap=[*wrap, "PassReward"], seed=3, **params)
    for a, b in zip(env.reset(), same.reset(), strict=True):
        np.testing.assert_equal(a, b)
    for action in (0, 0, 0, 1, 2, 1):
        np.testing.assert_equal(env.step(action), same.step(action))
    assert experiment.make_vec(4).num_envs == 4
    ours, other = next(experiment.dataset(8, 50)), next(Dataset(task, 8, 50, seed=3))
    np.testing.assert_array_equal(ours.inputs, other.inputs)


@pytest.mark.parametrize("split", ["none", "train", "test"])
def test_a_file_may_name_the_split(tmp_path, split):
    text = FULL.replace("seed = 3", f'seed = 3\nsplit = "{split}"')
    experiment = load(file_of(tmp_path, text))
    played = None if split == "none" else split
    assert experiment.make().unwrapped.split == played
    assert experiment.make_vec(4).unwrapped.split == played
    assert experiment.dataset().split == played
    assert experiment.make(split="validation").unwrapped.split == "validation"
    assert f'split = "{split}"' in experiment.to_toml()


@pytest.mark.parametrize("text", [FULL, FULL.replace("seed = 3", 'split = "test"')])
def test_it_comes_back_as_it_was(tmp_path, text):
    experiment = load(file_of(tmp_path, text))
    again = load(experiment.save(tmp_path / "again.toml"))
    assert again == experiment
    assert again.to_toml() == experiment.to_toml()
    assert pickle.loads(pickle.dumps(again)) == experiment


def test_the_arguments_of_make_can_be_written_to_a_file(tmp_path):
    wrap = [
        "reaction_time",
        ("Mixture", {"other_tasks": ("GoNogo-v0", {"task": "DelayComparison-v0", "dt": 100})}),
    ]
    experiment = TaskExperiment.of(
        "PerceptualDecisionMaking-v0",
        wrap=wrap,
        seed=1,
        coherences=(0, 6.4),
        timing={"delay": Choice((1, 2))},
    )
    text = experiment.to_toml()
    assert '"control/GoNogo-v0"' in text
    assert 'task = "memory/DelayComparison-v0"' in text
    assert "delay = {choice = [[1, 2]]}" in text
    loaded = load(experiment.save(tmp_path / "e.toml"))
    assert loaded.make_task().name == "Mixture(ReactionTime(PerceptualDecisionMaking))"
    with pytest.raises(NotSupportedError, match="has no id"):
        TaskExperiment.of(make_task(DOTS))
    with pytest.raises(NotSupportedError, match="is not an installed wrapper"):
        TaskExperiment.of(DOTS, wrap=lambda env: env)
    with pytest.raises(NotSupportedError, match="Name tasks by their ids"):
        TaskExperiment.of(
            DOTS, wrap=("Mixture", {"other_tasks": (make_task("GoNogo-v0"),)})
        ).to_toml()


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(min_size=1, max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(min_size=1, max_size=8), values, max_size=4))
def test_any_value_is_written_so_that_toml_reads_it(table):
    import tomllib

    text = "\n".join(
        ["[train]", *(f"{written(name)} = {written(value)}" for name, value in table.items())]
    )
    expected = {name: _none_as_text(value) for name, value in table.items()}
    assert tomllib.loads(text)["train"] == expected


def _none_as_text(value):
    if isinstance(value, dict):
        return {name: _none_as_text(item) for name, item in value.items()}
    return (
        [_none_as_text(item) for item in value]
        if isinstance(value, list)
        else "none"
        if value is None
        else value
    )


# ---------------------------------------------------------------------- mistakes

MISTAKES = [
    ("seed = 3", "sed = 3", 4, "Did you mean 'seed'"),
    ("seed = 3", "seed = -1", 4, "at least 0"),
    ("seed = 3", 'seed = 3\nsplit = "tset"', 5, "Expected one of none, train, validation, test"),
    ("trials = 40", "trials = 0", 5, "at least 1"),
    ("trials = 40", "trials = 40\nsteps = 3", 6, "Leave one out"),
    ("schema = 1", "schema = 2", 2, "Use a newer core"),
    ('subject = "oracle"', "subject = 3", 6, "a name such as"),
    (DOTS, "PerceptualDecisionMaking-v0", 3, f"Write '{DOTS}'"),
    (DOTS, "perceptual/PerceptualDecisionMakin-v0", 3, "Did you mean"),
    (DOTS, "perceptual/PerceptualDecisionMaking", 3, "not a full id"),
    (f'task = "{DOTS}"', "", None, "names no task"),
    ("coherences =", "coherencs =", 9, "Did you mean 'coherences'"),
    ('trials_per_session = "none"', "trials_per_session = 0", 13, "at least 1"),
    ("delay = {", "delai = {", 16, "Did you mean 'delay'"),
    ("uniform = [100, 500]", "uniform = [500, 100]", 16, "swap them"),
    ("error = -1", "eror = -1", 19, "Did you mean 'error'"),
    ("coherence = [0, 51.2]", "coherenze = [0, 51.2]", 22, "Did you mean 'coherence'"),
    ("core/ReactionTime", "ReactionTime", 25, 'such as "core/ReactionTime"'),
    ("core/ReactionTime", "core/ReactionTim", 25, "Did you mean"),
    ("urgency = -0.01", "urgencey = -0.01", 26, "Did you mean 'urgency'"),
    ("urgency = -0.01", "urgency = inf", 26, "a finite reward"),
    ("[0.1, 0.9]]", "[0.1, 0.8]]", 30, "sum to 1 each"),
    ("probs = [[0.9, 0.1], [0.1, 0.9]]", "contexts = ['repeat']", 30, "Did you mean 'repeating'"),
    # the message lists `probs` among the known settings, but it is about `length`
    (
        "probs = [[0.9, 0.1], [0.1, 0.9]]",
        "probs = 0.9\nlength = 50",
        31,
        "Did you mean 'block_length'",
    ),
    ("urgency = -0.01", "end_on_stimulus = true\nurgent = -1", 27, "Unknown parameter 'urgent'"),
    ("[timing]", "[timing", 15, "not TOML"),
    ("[train]", "gain = 3\n[train]", 35, "Unknown parameter 'gain' of PassReward"),
]


@pytest.mark.parametrize(("right", "wrong", "line", "says"), MISTAKES)
def test_every_mistake_is_reported_with_its_line(tmp_path, right, wrong, line, says):
    assert right in FULL
    with pytest.raises(InvalidValueError) as told:
        load(file_of(tmp_path, FULL.replace(right, wrong, 1)))
    message = str(told.value)
    assert says in message
    where = "experiment.toml: " if line is None else f"experiment.toml, line {line}: "
    assert message.startswith(where), message


def test_an_unknown_wrapper_is_reported_with_its_line_and_the_nearest_one(tmp_path):
    text = f'task = "{DOTS}"\n\n[[wrap]]\nname = "core/TrialHistory"\n'
    with pytest.raises(InvalidValueError, match=r"line 4: .*Did you mean 'wrappers/TrialHistory'"):
        load(file_of(tmp_path, text))


def test_a_wrapper_that_cannot_apply_is_reported_with_its_line(tmp_path):
    text = (
        'task = "value/Bandit-v0"\n\n[[wrap]]\nname = "core/Noise"\n\n[[wrap]]\nname ='
        ' "wrappers/SideBias"\n'
    )
    with pytest.raises(
        InvalidValueError, match=r"line 7: SideBias cannot be applied to Noise\(Bandit\)"
    ):
        load(file_of(tmp_path, text))


def test_lines_of_keys_are_found_beside_lists_texts_and_comments():
    reader = _Reader(
        "task = \"x\"\n[train]\n# c = 3\n'b' = [\n  {c = 1},\n]\nd = 2 # e = 3\n",
        "f",
        False,
        Path(),
    )
    keys = [("task",), ("train",), ("train", "b"), ("train", "d"), ("train", "e"), ("f",)]
    assert [reader.line_of(key) for key in keys] == [1, 2, 4, 7, 2, None]
    text = 'a = """\nb = 1\n"""\nb = 2\n'  # the first b is in a text of several lines
    assert _Reader(text, "f", False, Path()).line_of(("b",)) == 4


SURE = """
from neurogym_core import Choice, Task

class Sure(Task):
    def define(self):
        self.observe(light=1)
        self.act(rest=1, choose=2)
        self.vary(offered=Choice((True, False)), side=Choice(2))

    def new_trial(self, trial):
        trial.periods("only", only=100)
        trial.show("light", trial["side"], during="only", where=trial["offered"])
"""


def sure(tmp_path, conditions: str):
    (tmp_path / "sure.py").write_text(SURE)
    path = tmp_path / "sure.toml"
    path.write_text(f'schema = 1\ntask = "sure.py:Sure"\nseed = 1\n\n[conditions]\n{conditions}\n')
    return path


def test_an_experiment_file_takes_a_bool(tmp_path):
    task = load(sure(tmp_path, "side = 1\noffered = true"), trust=True).make_task()
    assert task.sample(20, seed=0).conditions["offered"].all()


@pytest.mark.parametrize("wrong", ["true", '"left"', '"unifrom(0, 1)"'])
def test_an_experiment_file_names_the_line_of_a_condition_that_cannot_be(tmp_path, wrong):
    with pytest.raises(InvalidValueError, match="line 7: Sure was given the condition side="):
        load(sure(tmp_path, f"offered = false\nside = {wrong}"), trust=True)


def test_a_mistake_in_a_very_long_file_is_told_without_its_line(tmp_path):
    """The search for a line reads the file once per line: 20,000 of them would take minutes."""
    lines = "".join(f"# {number}\n" for number in range(20_000))
    with pytest.raises(InvalidValueError, match=r"^experiment.toml: .*trails"):
        load(file_of(tmp_path, f'task = "{DOTS}"\n{lines}trails = 3\n'))


# ---------------------------------------------------------------------- code in files


def test_a_task_in_a_file_is_run_only_with_permission(tmp_path):
    ran = tmp_path / "ran"
    (tmp_path / "lamp.py").write_text(f"open({str(ran)!r}, 'w')\n{STUDENT}")
    path = file_of(tmp_path, 'task = "lamp.py:Lamp"\ntrials = 3\n')
    with pytest.raises(InvalidValueError, match=r"line 1: .* code in a file, .*--trust"):
        load(path)
    nested = file_of(
        tmp_path,
        f'task = "{DOTS}"\n[[wrap]]\nname = "wrappers/Mixture"\n'
        'other_tasks = [{task = "lamp.py:Lamp"}]\n',
    )
    with pytest.raises(InvalidValueError, match=r"line 4: .* code in a file"):
        load(nested)
    assert not ran.exists()
    assert load(nested, trust=True).make_task().tasks[1].name == "Lamp"
    assert ran.exists()
    path = file_of(tmp_path, 'task = "lamp.py:Lamp"\ntrials = 3\n')
    assert ngym("run", str(path)).exit_code == 2
    done = ngym("run", str(path), "--trust", "--subject", "oracle")
    assert done.exit_code == 0, done.output
    assert "Lamp, played by: oracle" in done.output


def test_a_saved_file_finds_the_task_from_where_it_is(tmp_path, monkeypatch):
    (tmp_path / "tasks").mkdir()
    (tmp_path / "runs").mkdir()
    (tmp_path / "tasks" / "lamp.py").write_text(STUDENT)
    monkeypatch.chdir(tmp_path)
    done = ngym("run", "tasks/lamp.py:Lamp", "--n-trials", "2", "--save", "runs/e.toml")
    assert done.exit_code == 0, done.output
    assert 'task = "../tasks/lamp.py:Lamp"' in (tmp_path / "runs" / "e.toml").read_text()
    monkeypatch.chdir(tmp_path / "tasks")
    experiment = load("../runs/e.toml", trust=True)
    assert experiment.make_task().name == "Lamp"
    assert load(experiment.save(tmp_path / "again.toml"), trust=True).task == "tasks/lamp.py:Lamp"


def test_only_the_tasks_that_wrappers_are_given_are_held_to_ids(tmp_path):
    """A schedule over a mixture names tasks by their names in the mixture."""
    text = (
        f'task = "{DOTS}"\n[[wrap]]\nname = "wrappers/Mixture"\n'
        'other_tasks = ["control/GoNogo-v0"]\n'
        '[[wrap]]\nname = "wrappers/Schedule"\nblocks = [{task = "GoNogo"}]\n'
    )
    assert load(file_of(tmp_path, text)).make_task().tasks[1].name == "GoNogo"
    with pytest.raises(InvalidValueError, match="line 4: the task 'GoNogo-v0' is not a full id"):
        load(file_of(tmp_path, text.replace("control/GoNogo-v0", "GoNogo-v0")))


# ---------------------------------------------------------------------- the command line


def test_a_run_of_the_command_line_can_be_saved_and_repeated(tmp_path):
    path, first, second = tmp_path / "e.toml", tmp_path / "1.csv", tmp_path / "2.csv"
    options = [
        "--set",
        "coherences=0,51.2",
        "--timing",
        "delay=uniform(100,500)",
        "--condition",
        "direction=1",
        "--seed",
        "5",
    ]
    wraps = [
        "--wrap",
        "reaction_time:urgency=-0.01",
        "--wrap",
        "catch_trials:probability=0.5,condition=coherence,below_quantile=0.5",
        "--pass-reward",
    ]
    done = ngym(
        "run",
        DOTS,
        *options,
        *wraps,
        "--n-trials",
        "30",
        "--subject",
        "guess",
        "--save",
        str(path),
        "--csv",
        str(first),
    )
    assert done.exit_code == 0, done.output
    assert "The experiment is in" in done.output
    again = ngym("run", str(path), "--csv", str(second))
    assert again.exit_code == 0, again.output
    assert read_csv(first) == read_csv(second)
    assert "core/PassReward" in path.read_text()


def test_a_wrappers_settings_are_read_as_they_are_written(tmp_path):
    path = tmp_path / "e.toml"
    wraps = [
        "trial_history:contexts=repeating,alternating,block_length=truncated_exponential(50,20,100),reset_after_error=true",
        "schedule:blocks=[{coherence = 51.2}, {coherence = [0, 6.4]}],order=random",
    ]
    done = ngym(
        "run", DOTS, "--wrap", wraps[0], "--wrap", wraps[1], "--n-trials", "3", "--save", str(path)
    )
    assert done.exit_code == 0, done.output
    history, schedule = (settings for _, settings in load(path).wrap)
    assert history == {
        "contexts": ["repeating", "alternating"],
        "block_length": {"truncated_exponential": [50, 20, 100]},
        "reset_after_error": True,
    }
    assert schedule == {"blocks": [{"coherence": 51.2}, {"coherence": [0, 6.4]}], "order": "random"}


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--wrap", "reaction_tim"), 1, "Did you mean 'reaction_time'"),
        (("--wrap", "reaction_time:urgencey=1"), 2, "Did you mean 'urgency'"),
        (("--wrap", "reaction_time:urgency"), 2, "reaction_time was given 'urgency'"),
        (("--wrap", "pass_reward:gain=2"), 2, "Unknown parameter 'gain' of VectorPassReward"),
        (("--save", "e.txt"), 2, "ends in .toml"),
    ],
)
def test_wrong_wrappers_and_names_are_reported(arguments, code, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = ngym("run", DOTS, *arguments)
    assert done.exit_code == code, done.output
    assert says in done.output


def test_a_file_allows_only_options_for_the_subject_and_the_number_of_trials(tmp_path):
    path = file_of(tmp_path, f'task = "{DOTS}"\nsubject = "rest"\ntrials = 2\n')
    assert ngym("run", str(path), "--set", "coherences=0").exit_code == 2
    done = ngym("run", str(path), "--subject", "oracle", "--n-trials", "4")
    assert "trials         4, of" in done.output
    assert ngym("run", str(tmp_path / "no.toml")).exit_code == 1
    path = file_of(tmp_path, f'task = "{DOTS}"\nsubject = "nobody"\n')
    assert "Known: 'random'" in ngym("run", str(path)).output
