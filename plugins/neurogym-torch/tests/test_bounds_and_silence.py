"""Answers with a bound, and silent units: their effects, and paired trials."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from neurogym_torch import (
    GRU,
    LSTM,
    LeakyRNN,
    Network,
    NetworkSubject,
    Silence,
    fit_bound,
    record_activity,
)

from neurogym_core import InvalidValueError, UnknownNameError, make_task

TASK = {"timing": {"stimulus": 1000, "targets": 200}}


class Integrator(Network):
    """Sums the evidence of both sides; its outputs are log odds."""

    def __init__(self, gain=0.5):
        super().__init__(4, 3, 2, gain=gain)
        self.gain = torch.nn.Parameter(torch.tensor(gain))

    def initial_state(self, batch):
        return torch.zeros(batch, 2)

    def unroll(self, inputs, state=None, generator=None):
        state = self.initial_state(len(inputs)) if state is None else state
        evidence = inputs[..., 2:] - inputs[..., 2:].mean(dim=2, keepdim=True)
        hidden = state[:, None] + evidence.cumsum(dim=1)
        return self.read(hidden), hidden, hidden[:, -1]

    def read(self, hidden):
        rest = torch.zeros_like(hidden[..., :1])
        return torch.cat([rest - 5, self.gain * hidden], dim=2)


def test_a_bound_makes_weak_evidence_slow_and_without_one_answers_are_a_step():
    task = make_task("RoitmanShadlen-v0", **TASK)
    network = Integrator()
    found = {}
    for bound in (None, 0.9):
        record = record_activity(network, task, 400, bound=bound, seed=1).record
        strong = record["coherence"] > 20
        times = record["reaction_time"]
        found[bound] = np.nanmedian(times[~strong]) - np.nanmedian(times[strong])
    assert found[0.9] > 100
    assert np.nan_to_num(found[None]) < 40


def test_a_bound_is_fitted_to_a_wanted_speed():
    task = make_task("RoitmanShadlen-v0", **TASK)
    medians = []
    for wanted in (200, 500):
        bound = fit_bound(Integrator(), task, wanted, 300)
        record = record_activity(Integrator(), task, 300, bound=bound, seed=5).record
        medians.append(np.median(np.nan_to_num(record["reaction_time"], nan=np.inf)))
    assert abs(medians[0] - 200) < 60
    assert abs(medians[1] - 500) < 120
    with pytest.raises(InvalidValueError, match="at the bound"):
        fit_bound(Integrator(), task, 1e5, 50)


@pytest.mark.parametrize("bound", [0, 1, -0.1])
def test_a_bound_is_a_probability(bound):
    with pytest.raises(InvalidValueError, match="probability above 0"):
        NetworkSubject(Integrator(), bound=bound)


@pytest.mark.parametrize("kind", [LeakyRNN, GRU, LSTM])
def test_silence_in_a_period_is_paired_with_the_same_trials(kind):
    task = make_task("ContextDecisionMaking-v0")
    more = {"dt": task.dt, "noise": 0.1} if kind is LeakyRNN else {}
    network = kind(task.channels.size, task.actions.size, 12, seed=1, **more)
    plain = record_activity(network, task, 20, seed=2)
    quiet = record_activity(network, task, 20, silence=Silence([0, 3], "delay"), seed=2)
    before = plain.time < 900
    np.testing.assert_array_equal(plain.rates[:, before], quiet.rates[:, before])
    assert (np.nan_to_num(quiet.during("delay").rates[:, :, [0, 3]]) == 0).all()
    assert not np.allclose(plain.rates, quiet.rates, equal_nan=True)


def test_a_lesion_of_units_that_nothing_hears_changes_no_answer_and_one_that_is_heard_does():
    task = make_task("RoitmanShadlen-v0", **TASK)
    network = LeakyRNN(task.channels.size, task.actions.size, 8, dt=task.dt, seed=0)
    with torch.no_grad():
        network.recurrent_free[:, 0] = 0
        network.output_free[:, 0] = 0
        network.output_free[1, 1] = 5
        network.bias[1] = 1
    whole = record_activity(network, task, 30, layers=("outputs",), seed=3).rates
    unheard, heard = (
        record_activity(network, task, 30, layers=("outputs",), silence=Silence([k]), seed=3).rates
        for k in (0, 1)
    )
    np.testing.assert_allclose(whole, unheard, atol=1e-6)
    assert not np.allclose(whole, heard, atol=0.1, equal_nan=True)


def test_an_invalid_silence_is_refused():
    task = make_task("ContextDecisionMaking-v0")
    network = GRU(task.channels.size, task.actions.size, 8)
    with pytest.raises(InvalidValueError, match="indices below 8"):
        record_activity(network, task, 5, silence=Silence([8]))
    with pytest.raises(UnknownNameError, match="period"):
        record_activity(network, task, 5, silence=Silence([1], "dealy"))
