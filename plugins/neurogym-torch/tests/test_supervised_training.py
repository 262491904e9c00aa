"""Supervised training: resuming, criteria, several tasks, losses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from neurogym_study import Run
from neurogym_torch.trainers import GRUTrainer, LeakyTrainer, LowRankTrainer, LSTMTrainer

from neurogym_core.cli import main
from neurogym_core.errors import InvalidValueError, NotSupportedError

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
    assert {"accuracy of 0 Sides", "accuracy of 1 Directions"} <= set(whole.curve[-1])


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
