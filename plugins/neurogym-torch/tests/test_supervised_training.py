"""Supervised training: resuming, criteria, several tasks, losses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from neurogym_torch.trainers import (
    GRUTrainer,
    LeakyTrainer,
    LowRankTrainer,
    LSTMTrainer,
    _played,
)
from neurogym_training import Run
from neurogym_training.trainers import settings_of

from neurogym_core import InvalidValueError, NotSupportedError, UnknownNameError
from neurogym_core.tools import main

SMALL = {"hidden": 8, "batch": 8, "test_every": 5, "test_trials": 20}
TRAINERS = (LeakyTrainer, LowRankTrainer, GRUTrainer, LSTMTrainer)


def equal(first, second):
    pairs = zip(first.network.parameters(), second.network.parameters(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def without_times(curve):
    return [
        {name: value for name, value in row.items() if name not in ("seconds", "cpu")}
        for row in curve
    ]


CASES = [
    (LeakyTrainer, "Sides", {"noise": 0.1, "dale": True}),
    (LowRankTrainer, "Sides", {"seq_len": 17}),
    (GRUTrainer, "Directions", {"loss": "mse", "rest_weight": 2.0}),
    (LSTMTrainer, "Pulses", {"seq_len": 13}),
    (GRUTrainer, "Position", {}),
]


@pytest.mark.parametrize(("trainer", "name", "settings"), CASES)
def test_a_resumed_training_ends_like_an_uninterrupted_one(
    trainer, name, settings, tasks, tmp_path
):
    task = getattr(tasks, name)
    whole = trainer(task, seed=2, **SMALL, **settings)
    whole.train(20)
    first = trainer(task, seed=2, **SMALL, **settings)
    first.train(10, out=tmp_path)
    second = trainer(task, seed=2, **SMALL, **settings)
    second.load(tmp_path)
    assert second.done == 10
    second.train(20)
    assert equal(second, whole)
    assert without_times(second.curve) == without_times(whole.curve)
    other = trainer(task, seed=3, **SMALL, **settings)
    other.train(20)
    assert not equal(other, whole)


def test_training_on_several_tasks_can_be_resumed(tasks, tmp_path):
    pair = [tasks.Sides, tasks.Directions]
    whole = GRUTrainer(pair, **SMALL)
    whole.train(20)
    first = GRUTrainer(pair, **SMALL)
    first.train(15, out=tmp_path)
    second = GRUTrainer(pair, **SMALL)
    second.load(tmp_path)
    second.train(20)
    assert equal(second, whole)
    last = whole.curve[-1]
    assert {"accuracy of 0 Sides", "answered of 0 Sides", "aborts of 1 Directions"} <= set(last)
    each = [last["accuracy of 0 Sides"], last["accuracy of 1 Directions"]]
    assert last["accuracy"] == pytest.approx(np.mean(each))


def test_it_learns_and_stops_at_the_criterion(tasks):
    # Of seeds 0 to 9, all met it by update 100.
    trainer = GRUTrainer(
        tasks.Directions, hidden=32, batch=32, learning_rate=5e-3, test_every=50, test_trials=100
    )
    assert trainer.train(1000, criterion=0.9) == "criterion"
    assert trainer.done < 1000
    *before, last = trainer.curve
    assert last["accuracy"] >= 0.9
    assert last["loss"] < before[0]["loss"]
    record = trainer.play(100, seed=5)
    # It plays as in the tests: 90 % of 100 trials, within 4 SEs.
    assert record["performance"].mean() > 0.9 - 4 * 0.03


def test_test_trials_are_always_the_same_and_not_in_the_training(tasks):
    trainer = GRUTrainer(tasks.Sides, **SMALL)
    first = trainer.test()
    assert first[0] == trainer.test()[0]
    trained = np.concatenate([next(trainer.data).conditions["strength"] for _ in range(3)])[:20]
    assert not np.array_equal(trained, first[0]["strength"])


def test_a_trained_network_is_a_subject_of_each_of_its_tasks(tasks):
    trainer = GRUTrainer([tasks.Sides, tasks.Directions], **SMALL)
    trainer.train(5)
    assert "strength" in trainer.play(10, which=0, seed=1)
    assert "direction" in trainer.play(10, which=1, seed=1)


def test_every_trainer_passes_its_settings_to_its_network(tasks):
    assert LeakyTrainer(tasks.Sides, tau=200.0, dale=True, **SMALL).network.settings["tau"] == 200
    assert LowRankTrainer(tasks.Sides, rank=3, **SMALL).network.settings["rank"] == 3
    assert LSTMTrainer(tasks.Sides, **SMALL).network.hidden == 8


@pytest.mark.parametrize("trainer", [LeakyTrainer, LowRankTrainer])
@pytest.mark.parametrize(("dt", "tau"), [(50, 100.0), (200, 200.0)])
def test_the_time_constant_is_100_ms_unless_the_steps_are_longer(tasks, trainer, dt, tau):
    settings = trainer(tasks.Sides(dt=dt), **SMALL).network.settings
    assert (settings["dt"], settings["tau"]) == (dt, tau)


class Blurting(torch.nn.Module):
    """Gives other answers before the last step of `Directions`, and the correct one there."""

    def __init__(self):
        super().__init__()
        self.none = torch.nn.Parameter(torch.zeros(1))

    def initial_state(self, batch):
        return torch.zeros(batch, 1)

    def unroll(self, inputs, state=None, generator=None):
        state = self.initial_state(len(inputs)) if state is None else state
        clock = state + torch.arange(1, inputs.shape[1] + 1)
        wrong = torch.nn.functional.one_hot(torch.tensor(3), 9).float() * 5
        right = torch.cat([torch.zeros_like(inputs[..., :1]), inputs], dim=2)
        return torch.where((clock < 5)[..., None], wrong, right), inputs, clock[:, -1:]

    def forward(self, inputs, generator=None):
        return self.unroll(inputs, generator=generator)[:2]


@pytest.mark.parametrize(("answers", "right"), [("first", 0), ("last", 1)])
def test_the_answer_is_the_first_or_the_last_output(tasks, answers, right):
    trainer = GRUTrainer(tasks.Directions, answers=answers, **SMALL)
    trainer.network = Blurting()
    directions = [0, 1, 3, 4, 5, 6, 7]  # all but its premature answer
    tested = trainer.test()[0]
    assert tested["performance"][tested["direction"] != 2].mean() == right
    played = trainer.play(40, seed=1, conditions={"direction": np.array(directions)})
    assert played["performance"].mean() == right
    assert (played["aborts"].sum() == 0) == (answers == "last")


class Pointing(Blurting):
    """Points the wrong way before the last step of `Pointer`, and the right way there."""

    def unroll(self, inputs, state=None, generator=None):
        state = self.initial_state(len(inputs)) if state is None else state
        clock = state + torch.arange(1, inputs.shape[1] + 1)
        point = inputs * torch.where(clock < 5, -1, 1)[..., None]
        go = torch.ones_like(inputs[..., :1])
        return torch.cat([go, point], dim=2), inputs, clock[:, -1:]


@pytest.mark.parametrize(("answers", "right"), [("first", 0), ("last", 1)])
def test_the_answer_is_the_first_or_the_last_output_of_continuous_actions(tasks, answers, right):
    trainer = GRUTrainer(tasks.Pointer, answers=answers, **SMALL)
    trainer.network = Pointing()
    assert trainer.test()[0]["performance"].mean() == right
    played = trainer.play(40, seed=1)
    assert played["performance"].mean() == right
    assert (played["aborts"].sum() == 0) == (answers == "last")


def test_continuous_actions_that_answer_on_every_step_have_no_last_answer(tasks):
    with pytest.raises(NotSupportedError, match="no rest action"):
        GRUTrainer(tasks.Position, answers="last", **SMALL)


def test_continuous_actions_are_trained_by_squared_error(tasks):
    trainer = GRUTrainer(
        tasks.Position, hidden=16, batch=32, learning_rate=1e-2, test_every=100, test_trials=50
    )
    trainer.train(100)
    assert trainer.loss == "mse"
    assert trainer.curve[-1]["loss"] < 0.5 * trainer.curve[0]["loss"]


def test_answers_weigh_more_where_they_are_short(tasks):
    batches = {}
    for balance in (0.0, 0.5, 1.0):
        trainer = GRUTrainer(tasks.Directions, balance=balance, **SMALL)
        batch = next(trainer.data)
        batches[balance] = trainer.weights_of(batch), batch.targets != 0
    weights, answers = batches[0.0]
    total = weights[answers].sum(), weights[~answers].sum()  # 2 and 3 steps per trial
    for balance, (changed, _) in batches.items():
        torch.testing.assert_close(
            changed[answers], weights[answers] * (total[1] / total[0]) ** balance
        )
        assert torch.equal(changed[~answers], weights[~answers])


def test_continuous_targets_keep_their_weights(tasks):
    trainer = GRUTrainer(tasks.Position, **SMALL)
    batch = next(trainer.data)
    assert torch.equal(trainer.weights_of(batch), batch.weights)


REFUSED = {
    "balance": ({"balance": 1.5}, InvalidValueError, "answers weigh as much"),
    "loss": ({"loss": "hinge"}, InvalidValueError, "cross-entropy"),
    "answers": ({"answers": "second"}, InvalidValueError, "'last'"),
    "test_every": ({"test_every": 0}, InvalidValueError, "at least 1 update"),
    "shares": ({"shares": (1.0, 2.0)}, InvalidValueError, "one number for each"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_settings_are_refused(case, tasks):
    settings, error, hint = REFUSED[case]
    with pytest.raises(error, match=hint):
        GRUTrainer(tasks.Sides, **{**SMALL, **settings})


def test_tasks_that_depend_on_the_subject_are_refused(tasks):
    with pytest.raises(NotSupportedError, match="--algo"):
        GRUTrainer(tasks.Cursor, **SMALL)


def test_rate_networks_need_the_same_dt_for_all_tasks(tasks):
    with pytest.raises(InvalidValueError, match="the same dt"):
        LeakyTrainer([tasks.Sides(dt=50), tasks.Directions(dt=100)], **SMALL)


# ---- from the command line ----


def ngym(*words):
    result = CliRunner().invoke(main, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


SETTINGS = [
    word
    for name, value in SMALL.items()
    if name != "batch"
    for word in ("--option", f"{name}={value}")
]


@pytest.mark.parametrize("model", ["rnn", "low-rank", "gru", "lstm"])
def test_every_model_trains_from_the_command_line(model, tmp_path):
    options = ("--updates", 10, "--batch", 8, "--quiet", "--out", tmp_path / "run", *SETTINGS)
    result = ngym("train", "PerceptualDecisionMaking-v0", "--model", model, *options)
    assert result.exit_code == 0, result.output
    assert "10 updates done" in result.output
    trainer = Run.open(tmp_path / "run").trainer()
    assert trainer.done == 10
    assert len(trainer.curve) == 3


def test_two_tasks_with_a_rule_are_trained_and_resumed_from_the_command_line(tmp_path):
    options = ("--model", "gru", "--batch", 8, "--quiet", "--option", "loss=mse", *SETTINGS)
    words = ("train", "yang19/DMS-v0", "yang19/DNMS-v0", *options)
    assert ngym(*words, "--updates", 10, "--out", tmp_path / "whole").exit_code == 0
    assert ngym(*words, "--updates", 5, "--out", tmp_path / "cut").exit_code == 0
    assert ngym("train", "--resume", tmp_path / "cut", "--updates", 10, "--quiet").exit_code == 0
    whole, cut = (Run.open(tmp_path / name).trainer() for name in ("whole", "cut"))
    assert equal(whole, cut)
    assert whole.layout.rule
    said = json.loads(Path(tmp_path / "cut" / "settings.json").read_text("utf-8"))
    assert [task["task"] for task in said["experiment"]["tasks"]] == [
        "yang19/DMS-v0",
        "yang19/DNMS-v0",
    ]


def test_a_small_network_learns_on_one_thread_and_leaves_the_setting_as_it_was(capsys):
    before = torch.get_num_threads()
    seen = []
    task = "perceptual/PerceptualDecisionMaking-v0"
    try:
        torch.set_num_threads(2)
        for settings, expected in [({}, 1), ({"threads": 2}, 2), ({"hidden": 600}, 2)]:
            trainer = GRUTrainer(task, **{**SMALL, **settings})
            trainer.train(
                1, criterion=lambda record: bool(seen.append(torch.get_num_threads())),
                progress=True,
            )  # fmt: skip
            assert seen[-1] == expected
            assert torch.get_num_threads() == 2
            words = "updates, 1 thread " if expected == 1 else "updates, 2 threads "
            assert words.split()[1] in capsys.readouterr().err
    finally:
        torch.set_num_threads(before)


OPTIMISING = {
    "a schedule": {"schedule": "cosine", "schedule_updates": 15, "schedule_factor": 0.0},
    "adamw": {"optimizer": "adamw", "weight_decay": 0.1},
    "momentum of rmsprop": {"optimizer": "rmsprop", "schedule": "step", "schedule_updates": 4},
    "rate cost": {"optimizer": "sgd", "rate_cost": 0.5},
    "bfloat16": {"precision": "bfloat16"},
}


@pytest.mark.parametrize("case", OPTIMISING)
def test_every_way_of_optimizing_changes_the_weights_and_can_be_resumed(case, tasks, tmp_path):
    settings = SMALL | OPTIMISING[case]
    whole, plain = GRUTrainer(tasks.Sides, **settings), GRUTrainer(tasks.Sides, **SMALL)
    whole.train(10)
    plain.train(10)
    assert not equal(whole, plain)
    first, second = GRUTrainer(tasks.Sides, **settings), GRUTrainer(tasks.Sides, **settings)
    first.train(5, out=tmp_path)
    second.load(tmp_path)
    second.train(10)
    assert equal(second, whole)


COURSES = {
    "constant": [1, 1, 1],
    "step": [1, 0.25, 0.0625],
    "exponential": [0.5, 0.125, 0.0625],
    "linear": [0.625, 0.25, 0.25],
    "cosine": [0.625, 0.25, 0.25],
}


@pytest.mark.parametrize("schedule", COURSES)
def test_the_learning_rate_follows_its_schedule(schedule, tasks):
    # After a half, one and a half, and two times schedule_updates.
    settings = {"schedule": schedule, "schedule_updates": 10, "schedule_factor": 0.25}
    trainer = GRUTrainer(tasks.Sides, learning_rate=1.0, **settings, **SMALL)
    rates = [trainer.optimizing.rate(done) for done in (5, 15, 20)]
    assert rates == pytest.approx(COURSES[schedule])
    assert trainer.optimizing.rate(0) == 1.0


def test_the_rate_of_an_update_is_that_of_the_schedule(tasks):
    trainer = GRUTrainer(
        tasks.Sides, schedule="linear", schedule_updates=4, schedule_factor=0.0, **SMALL
    )
    for _ in range(3):
        trainer.update()
    (group,) = trainer.optimizing.optimizer.param_groups
    assert group["lr"] == pytest.approx(5e-3 * 0.5)


def test_a_rate_cost_lowers_the_activity(tasks):
    def activity(**settings):
        trainer = LeakyTrainer(tasks.Sides, learning_rate=1e-2, **settings, **SMALL)
        trainer.train(40)
        with torch.no_grad():
            _, hidden = trainer.network(next(trainer.data).inputs)
        return float((hidden**2).mean())

    assert activity(rate_cost=1.0) < 0.5 * activity()


def test_the_rate_cost_is_over_the_steps_of_the_trials_not_their_padding(tasks):
    trainer = LeakyTrainer(tasks.Sides, rate_cost=1.0, **SMALL)
    batch = next(trainer.data)
    assert batch.stop.min() < batch.stop.max()
    with torch.no_grad():
        _, hidden = trainer.network(batch.inputs)
    padded = hidden.clone()
    for row, stop in zip(batch.row, batch.stop, strict=True):
        padded[row, stop:] = 1000.0
    wanted = torch.cat(
        [
            (hidden[row, :stop] ** 2).mean(dim=1)
            for row, stop in zip(batch.row, batch.stop, strict=True)
        ]
    ).mean()
    assert float((_played(padded, batch) ** 2).mean()) == pytest.approx(float(wanted), rel=1e-5)


def test_bfloat16_keeps_weights_and_tests_in_float32(tasks):
    trainer = LSTMTrainer(tasks.Sides, precision="bfloat16", seq_len=13, **SMALL)
    trainer.train(5)
    assert {part.dtype for part in trainer.network.parameters()} == {torch.float32}
    _, measured = trainer.test()
    assert np.isfinite(measured["loss"])


@pytest.mark.parametrize("trainer", TRAINERS)
def test_every_network_trains_in_bfloat16(trainer, tasks):
    made = trainer(tasks.Sides, precision="bfloat16", **SMALL)
    assert np.isfinite(float(made.update()))


WRONG = {
    "an unknown optimizer": ({"optimizer": "adma"}, "Did you mean 'adam'"),
    "an unknown schedule": ({"schedule": "cosin"}, "Did you mean 'cosine'"),
    "an unknown precision": ({"precision": "float16"}, "precision"),
    "a negative decay": ({"weight_decay": -1.0}, "weight_decay=-1"),
    "a schedule of no updates": ({"schedule_updates": 0}, "schedule_updates=0"),
    "a negative cost": ({"rate_cost": -0.1}, "rate_cost=-0.1"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_settings_of_optimizing_are_refused(case, tasks):
    settings, said = WRONG[case]
    with pytest.raises((InvalidValueError, UnknownNameError), match=said):
        GRUTrainer(tasks.Sides, **SMALL, **settings)


def test_a_run_keeps_how_it_was_optimized(tmp_path):
    words = ["train", "PerceptualDecisionMaking-v0", "--model", "gru", "--updates", "2"]
    options = {"optimizer": "adamw", "weight_decay": "0.001", "rate_cost": "0.01"}
    for name, value in options.items():
        words += ["--option", f"{name}={value}"]
    for name, value in {"hidden": 4, "batch": 4, "test_trials": 10, "test_every": 2}.items():
        words += ["--option", f"{name}={value}"]
    result = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "run"), "--quiet"])
    assert result.exit_code == 0, result.output
    kept = json.loads((tmp_path / "run" / "settings.json").read_text("utf-8"))
    chosen = {name: kept["trainer"][name] for name in options}
    assert chosen == {"optimizer": "adamw", "weight_decay": 0.001, "rate_cost": 0.01}
    assert kept["trainer"]["schedule"] == "constant"


def test_the_help_of_train_names_the_settings_and_their_defaults():
    text = CliRunner().invoke(main, ["train", "--help"], env={"COLUMNS": "100"}).output
    listed = text.split("Settings of the networks")[1].split("Settings of recurrent-ppo")[0]
    settings = settings_of(GRUTrainer)
    named = dict(re.findall(r"(\w+)=([^\s|,)]+)", listed))
    assert {"optimizer", "weight_decay", "schedule", "rate_cost", "precision"} <= set(named)
    for name, value in named.items():
        default = settings[name].default
        assert default == (value if isinstance(default, str) else float(value)), name
