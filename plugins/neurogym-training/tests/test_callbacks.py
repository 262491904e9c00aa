"""Callbacks for tests: the protocol, TensorBoard, Weights & Biases, Optuna."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from neurogym_training import OptunaPruning, TensorBoard, WeightsAndBiases, trainer_named

from neurogym_core import UnknownNameError


@pytest.fixture
def toy(toys):
    return trainer_named("toy")


def test_a_callback_gets_the_trainer_and_the_row_of_every_test(toy, sides):
    trainer, seen = toy(sides), []
    trainer.train(30, on_test=lambda *given: seen.append(given))
    assert [who for who, _ in seen] == [trainer] * 4
    assert [row for _, row in seen] == trainer.curve
    assert {"updates", "accuracy", "clean", "reward"} <= set(seen[0][1])


def test_several_callbacks_are_called_in_their_order(toy, sides):
    seen = []
    toy(sides).train(
        10, on_test=[lambda *_: seen.append("first"), lambda *_: seen.append("second")]
    )
    assert seen == ["first", "second"] * 2


def test_an_exception_of_a_callback_ends_the_training_after_the_checkpoint(toy, sides, tmp_path):
    class EnoughError(Exception):
        pass

    def stop(trainer, row):
        if row["updates"] == 20:
            raise EnoughError

    trainer = toy(sides)
    with pytest.raises(EnoughError):
        trainer.train(50, out=tmp_path, on_test=stop)
    again = toy(sides)
    again.load(tmp_path)
    assert again.done == 20
    assert again.train(30) == "updates"


class FakeWandb:
    """Keeps logged values, as a run of Weights & Biases."""

    def __init__(self):
        self.logged = []

    def log(self, numbers, step):
        self.logged.append((step, numbers))


def test_weights_and_biases_gets_the_numbers_of_each_test_at_its_update(toy, sides):
    trainer, run = toy(sides), FakeWandb()
    trainer.train(20, on_test=WeightsAndBiases(run))
    assert [step for step, _ in run.logged] == [0, 10, 20]
    assert run.logged[1][1]["accuracy"] == trainer.curve[1]["accuracy"]
    assert "updates" not in run.logged[1][1]


def _scalars(folder):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(folder))
    events.Reload()
    values = [(event.step, event.tensor_proto.float_val) for event in events.Tensors("accuracy")]
    return [(step, round(value, 6)) for step, (value,) in values]


def test_tensorboard_shows_the_curve(toy, sides, tmp_path):
    pytest.importorskip("tensorboard")
    trainer = toy(sides)
    trainer.train(20, on_test=TensorBoard(tmp_path / "events"))
    wanted = [(row["updates"], round(row["accuracy"], 6)) for row in trainer.curve]
    assert _scalars(tmp_path / "events") == wanted


def test_log_tensorboard_writes_into_the_folder_of_the_run(ngym, toys, sides):
    pytest.importorskip("tensorboard")
    words = ("train", sides, "--model", "toy", "--updates", "20", "--out", "run", "--quiet")
    assert ngym(*words, "--log", "tensorboard")[0] == 0
    resumed = ("train", "--resume", "run", "--updates", "30", "--log", "tensorboard", "--quiet")
    assert ngym(*resumed)[0] == 0
    assert [step for step, _ in _scalars(Path("run/tensorboard"))] == [0, 10, 20, 30]


class FakeTrial:
    """Prunes at the second report, as a trial of Optuna can."""

    def __init__(self):
        self.reports = []

    def report(self, value, step):
        self.reports.append((step, value))

    def should_prune(self):
        return len(self.reports) == 2


def test_optuna_prunes_a_training(toy, sides):
    optuna = pytest.importorskip("optuna")
    trainer, trial = toy(sides), FakeTrial()
    with pytest.raises(optuna.TrialPruned, match="pruned after 10 updates"):
        trainer.train(50, on_test=OptunaPruning(trial, "accuracy"))
    assert trial.reports == [(row["updates"], row["accuracy"]) for row in trainer.curve]


def test_a_study_of_optuna_keeps_the_best_of_its_trials(toy, sides):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def objective(trial):
        trainer = toy(sides, rate=trial.suggest_float("rate", 0.001, 0.05))
        trainer.train(30, on_test=OptunaPruning(trial))
        return trainer.curve[-1]["clean"]

    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.RandomSampler(seed=0),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=2, n_warmup_steps=5),
    )
    study.optimize(objective, n_trials=8)
    states = {trial.state for trial in study.trials}
    assert states == {optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED}
    assert set(study.trials[0].intermediate_values) == {0, 10, 20, 30}


def test_optuna_cannot_prune_by_a_column_that_the_curve_lacks(toy, sides):
    pytest.importorskip("optuna")
    with pytest.raises(UnknownNameError, match="accuracy"):
        toy(sides).train(10, on_test=OptunaPruning(FakeTrial(), "acuracy"))


def test_log_wandb_begins_a_run_with_the_experiment_and_logs_its_tests(
    ngym, toys, sides, monkeypatch
):
    run, begun = FakeWandb(), {}
    fake = SimpleNamespace(init=lambda **settings: begun.update(settings) or run)
    monkeypatch.setitem(sys.modules, "wandb", fake)
    words = ("train", sides, "--model", "toy", "--updates", "10", "--out", "run", "--quiet")
    assert ngym(*words, "--log", "wandb")[0] == 0
    assert begun["config"]["trainer"] == "toy"
    assert [step for step, _ in run.logged] == [0, 10]


def test_a_missing_library_of_log_is_one_line_before_the_training(ngym, toys, sides, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    words = ("train", sides, "--model", "toy", "--updates", "10", "--out", "run", "--quiet")
    code, said = ngym(*words, "--log", "wandb")
    assert code != 0
    assert "pip install wandb" in said
    assert not Path("run/curve.csv").exists()
