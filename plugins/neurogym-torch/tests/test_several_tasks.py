"""`NetworkLayout` and `TaskMix`: one network for several tasks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from neurogym_torch import NetworkLayout, TaskMix
from neurogym_training import Experiment

from neurogym_core import (
    Choice,
    InvalidValueError,
    NotSupportedError,
    Task,
    UnknownNameError,
    make_task,
)


class Go(Task):
    timing = {"fixation": 200, "decision": 200}

    def define(self):
        self.observe(fixation=1, sides=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "decision")
        trial.show("fixation", 1, during="fixation")
        trial.show("sides", np.eye(2)[trial["side"]], during="decision")
        trial.answer("choose", trial["side"], during="decision")


class Three(Task):
    """Shares the fixation channel and rest; has other sides, and a further action."""

    timing = {"fixation": 300, "decision": 100}

    def define(self):
        self.observe(fixation=1, sides=3)
        self.act(rest=1, choose=3)
        self.vary(side=Choice(3))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "decision")
        trial.show("fixation", 1, during="fixation")
        trial.show("sides", np.eye(3)[trial["side"]], during="decision")
        trial.answer("choose", trial["side"], during="decision")


def test_units_of_the_same_name_and_size_are_shared():
    layout = NetworkLayout([Go(), Three()])
    assert layout.channels == {
        "fixation": slice(0, 1),
        "sides[2]": slice(1, 3),
        "sides[3]": slice(3, 6),
        "rule": slice(6, 8),
    }
    assert (layout.n_inputs, layout.n_outputs) == (8, 1 + 2 + 3)
    inputs = layout.inputs(1, torch.tensor([[5.0, 1.0, 2.0, 3.0]]))
    assert inputs.tolist() == [[5, 0, 0, 1, 2, 3, 0, 1]]
    assert layout.targets(1, torch.tensor([0, 1, 3])).tolist() == [0, 3, 5]
    assert layout.outputs(1, torch.arange(6.0)).tolist() == [0, 3, 4, 5]
    assert layout.targets(1, torch.tensor([[1.0, 2.0, 3.0, 4.0]])).tolist() == [[1, 0, 0, 2, 3, 4]]


def test_one_task_has_no_rule_input_by_default():
    assert NetworkLayout([Go()]).n_inputs == 3
    assert NetworkLayout([Go()], rule=True).n_inputs == 4


def test_a_tasks_channel_called_rule_keeps_its_name():
    layout = NetworkLayout([make_task("yang19/Go-v0"), make_task("yang19/Anti-v0")])
    assert layout.channels["rule"] == slice(65, 85)
    assert layout.channels["rule of the layout"] == slice(85, 87)
    assert layout.inputs(1, torch.zeros(1, 85))[0].nonzero().flatten().tolist() == [86]


def test_discrete_and_continuous_actions_do_not_mix(tasks):
    with pytest.raises(NotSupportedError, match="Train them separately"):
        NetworkLayout([Go(), tasks.Position()])


def test_each_batch_is_of_one_task_and_has_its_index():
    mix = TaskMix([Go, Three], 8, seed=1)
    seen = []
    for _ in range(30):
        batch = next(mix)
        seen.append(batch.which)
        rule = batch.inputs[:, :, mix.layout.channels["rule"]]
        assert (rule[..., batch.which] == 1).all()
        assert (rule.sum(dim=2) == 1).all()
        record = batch.score(torch.nn.functional.one_hot(batch.targets, mix.n_outputs).float())
        assert (record["outcome"] == "correct").all()
    assert set(seen) == {0, 1}


def test_shares_are_the_frequencies_of_tasks():
    mix = TaskMix([Go, Three], 1, seed=1, shares=(9, 1))
    which = [next(mix).which for _ in range(400)]
    # Binomial(400, 0.1): SD 6; the bound is 5 SDs: false alarm 6e-7.
    assert abs(sum(which) - 40) < 30


def test_shares_by_name_leave_the_others_at_1():
    mix = TaskMix([Go, Three], 1, seed=1, shares={"Go": 3})
    assert mix.shares.tolist() == [0.75, 0.25]
    with pytest.raises(UnknownNameError, match="Went"):
        TaskMix([Go, Three], 1, shares={"Went": 3})


@pytest.mark.parametrize("shares", [(1,), (1, -1), (0, 0), (1, float("nan"))])
def test_invalid_shares_are_refused(shares):
    with pytest.raises(InvalidValueError, match="one number for each"):
        TaskMix([Go, Three], 1, shares=shares)


def test_it_returns_to_any_saved_position():
    mix = TaskMix([Go, Three], 4, seed=1)
    for _ in range(5):
        next(mix)
    place = mix.state()
    coming = [next(mix) for _ in range(6)]
    again = TaskMix([Go, Three], 4, seed=1)
    again.go_to(place)
    for batch in coming:
        other = next(again)
        assert other.which == batch.which
        assert torch.equal(other.inputs, batch.inputs)


def test_unit_targets_of_other_tasks_are_zero():
    mix = TaskMix([Go, Three], 4, seed=1, targets="units")
    batch = next(batch for batch in mix if batch.which == 1)
    assert batch.targets.shape[2] == 6
    assert not batch.targets[..., 1:3].any()


def test_a_parameter_reaches_the_tasks_that_have_it():
    tasks = ({"task": "yang19/Go-v0"}, {"task": "yang19/DM1-v0"})
    given = {"kind": "model", "trainer": "gru", "amount": 1}
    shared = {"dt": 100, "coherences": (0.1, 0.2)}
    go, decision = Experiment(tasks=tasks, parameters=shared, **given).make_trainer().tasks
    assert (go.dt, decision.dt, decision.coherences) == (100, 100, (0.1, 0.2))
    for few, wrong in ((tasks, {"coherence": 3}), (tasks[:1], {"coherences": (0.1,)})):
        with pytest.raises(UnknownNameError, match="of Go"):
            Experiment(tasks=few, parameters=wrong, **given).make_trainer()
