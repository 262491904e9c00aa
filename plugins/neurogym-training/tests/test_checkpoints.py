"""Runs that begin in Python, the checkpoints that a run keeps, and patience."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
from neurogym_training import Run, training
from neurogym_training.trainers import trainer_named

from neurogym_core import InvalidValueError, Task, UnknownNameError


@pytest.fixture
def toy(toys):
    return trainer_named("toy")


@pytest.fixture
def scripted(toy):
    """Return a trainer whose tests have the given accuracies."""

    def make(task, skills):
        trainer = toy(task, test_every=1)
        skills = iter(skills)

        def learn(until, watch):
            while trainer.done < until:
                trainer.done += 1
                trainer.skill = next(skills)
                if watch.point(trainer.play(200, seed=3)):
                    return

        trainer._learn = learn
        return trainer

    return make


def test_a_run_of_python_is_opened_by_every_command(toy, sides, ngym):
    toy(sides, hidden=5, rate=0.02, seed=4).train(20, out="mine", patience=7)
    assert Run.open("mine").experiment.options == {"hidden": 5, "rate": 0.02}
    again = Run.open("mine").trainer()
    assert (again.done, again.seed, again.rate) == (20, 4, 0.02)
    for words in (["evaluate", "mine", "--n-trials", 20, "--out", "report"],
                  ["run", sides, "--subject", "mine/", "--n-trials", 5],
                  ["train", "--resume", "mine", "--updates", 30, "--quiet"]):  # fmt: skip
        code, said = ngym(*words)
        assert code == 0, said
    assert Run.open("mine").experiment.patience == 7


def test_the_task_of_a_run_of_python_keeps_its_settings_and_wrappers(toy, sides, ngym):
    task = ("perceptual/PerceptualDecisionMaking-v0", {"dt": 50})
    from neurogym_core import make_task

    made = make_task(task[0], wrap=[("ReactionTime", {"urgency": -0.01})], **task[1])
    toy(made).train(1, out="mine")
    (again,) = Run.open("mine").trainer().tasks
    assert again == made
    assert again.dt == 50


def test_a_run_of_a_class_of_a_program_says_that_it_cannot_be_opened(toy, sides, ngym):
    class Here(Task):
        timing = {"only": 200}

        def define(self):
            self.observe(light=1)
            self.act(rest=1, press=1)

        def new_trial(self, trial):
            trial.periods("only")
            trial.answer("press", 0, during="only")

    Here.__module__ = "__main__"
    with pytest.warns(UserWarning, match="Here is a class of this program"):
        toy(Here).train(1, out="mine")
    assert not Path("mine/settings.json").exists()
    again = toy(Here)
    again.load(Path("mine"))
    assert again.done == 1


def test_a_new_trainer_does_not_overwrite_a_trained_run(toy, sides, ngym):
    toy(sides).train(10, out="mine")
    before = Path("mine/toy.json").read_bytes()
    with pytest.raises(InvalidValueError, match="already holds a trained run"):
        toy(sides).train(10, out="mine")
    assert Path("mine/toy.json").read_bytes() == before
    trainer = Run.open("mine").trainer()
    trainer.train(20, out="mine")  # one that was loaded goes on
    assert Run.open("mine").trainer().done == 20


def test_the_best_checkpoint_is_that_of_the_best_test(scripted, sides, ngym):
    trainer = scripted(sides, [0.2, 0.9, 0.4, 0.6])
    trainer.train(4, out="mine")
    assert Run.open("mine").trainer().skill == 0.6
    assert Run.open("mine/best").trainer().skill == 0.9
    code, said = ngym("evaluate", "mine/best", "--n-trials", 20, "--out", "report")
    assert code == 0, said
    (report,) = Path("report").glob("*.html")
    assert "toy after 2 updates" in report.read_text("utf-8")


def test_snapshots_are_those_of_the_tests_0_1_2_4_and_8(scripted, sides, ngym):
    scripted(sides, [0.5] * 10).train(10, out="mine", snapshots="log")
    kept = sorted(int(path.name[3:]) for path in Path("mine").glob("at-*"))
    assert kept == [1, 2, 3, 5, 9]  # the first test of this trainer is after the first update
    assert Run.open("mine/at-3").trainer().done == 3
    scripted(sides, [0.5] * 3).train(3, out="all", snapshots="all")
    assert len(list(Path("all").glob("at-*"))) == 3


@pytest.mark.parametrize("column", ["aborts", "loss"])
def test_the_best_test_has_the_fewest_aborts_and_the_lowest_loss(
    scripted, sides, ngym, monkeypatch, column
):
    trainer = scripted(sides, [0.5] * 4)
    values = iter([0.6, 0.0, 0.3, 0.2])
    summary = training._summary
    monkeypatch.setattr(
        training, "_summary", lambda record: summary(record) | {column: next(values)}
    )
    trainer.train(4, out="mine", best_by=column)
    assert Run.open("mine/best").trainer().done == 2


@pytest.mark.parametrize(
    ("skills", "patience", "done", "why"),
    [
        ([0.1, 0.3, 0.5, 0.7, 0.9, 1.0], 1, 6, "updates"),  # it learns to the end
        ([0.1, 0.8, 0.2, 0.3, 0.4, 0.5], 2, 4, "patience"),
        ([0.8, 0.1, 0.9, 0.2, 0.1, 0.0], 3, 6, "patience"),
    ],
)
def test_patience_ends_a_training_that_does_not_become_better(
    scripted, sides, ngym, skills, patience, done, why
):
    trainer = scripted(sides, skills)
    assert trainer.train(6, patience=patience) == why
    assert trainer.done == done


def test_the_best_test_can_be_that_of_the_lowest_loss_or_of_a_column(scripted, sides, ngym):
    trainer = scripted(sides, [0.2, 0.9])
    trainer.train(2, out="mine", best_by="reward")
    assert Run.open("mine/best").trainer().done == 2
    with pytest.raises(UnknownNameError, match="accuracy"):
        scripted(sides, [0.2]).train(1, out="other", best_by="acuracy")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"patience": 0}, "Expected a number of tests"),
        ({"patience": True}, "Expected a number of tests"),
        ({"snapshots": "some"}, "none, log, all"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_written(toy, sides, ngym, settings, words):
    with pytest.raises(InvalidValueError, match=words):
        toy(sides).train(1, out="mine", **settings)
    assert not Path("mine").exists()


def test_the_command_keeps_checkpoints_and_continues_the_run_only(toys, sides, ngym):
    how = ["--model", "toy", "--updates", 40, "--quiet"]
    code, said = ngym("train", sides, *how, "--out", "run", "--patience", 3, "--snapshots", "log")
    assert code == 0, said
    assert json.loads(Path("run/settings.json").read_text("utf-8"))["experiment"]["patience"] == 3
    assert Path("run/best").is_dir()
    code, said = ngym("train", "--resume", "run/best", "--updates", 50)
    assert code == 2
    assert "Give --resume run" in said
    with pytest.raises(InvalidValueError, match=r"has no checkpoint 'at-7'.*at-10"):
        Run.open("run/at-7")


def test_a_run_of_python_that_can_be_named_says_nothing(toy, sides, ngym):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        toy(sides).train(1, out="mine")


def test_a_run_has_a_card(toys, sides, ngym):
    code, said = ngym("train", "PerceptualDecisionMaking-v0", "--model", "toy", "--set", "dt=50",
                      "--updates", 20, "--out", "run", "--quiet")  # fmt: skip
    assert code == 0, said
    card = Path("run/card.md").read_text("utf-8")
    assert card.startswith("# toy, trained on PerceptualDecisionMaking-v0\n")
    for part in ("20 updates, seed 0", "All tasks: dt=50.", "split train",
                 "| last | 20 |", "hidden=8", "neurogym-training", "ideal", "Britten"):  # fmt: skip
        assert part in card, part
    started = Run.open("run").started
    Path("run/toy.json").unlink()
    assert started
    assert not Run.open("run").started  # the card is no checkpoint
