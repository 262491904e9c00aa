"""Answers with a bound, and perturbations: their effects, and paired trials."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from neurogym_neural import Freeze, Pulse, Silence, clusters, task_variance
from neurogym_torch import (
    GRU,
    LSTM,
    LeakyRNN,
    LowRankRNN,
    Network,
    NetworkSubject,
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


# ---- pulses and frozen inputs ----

KINDS = [LeakyRNN, LowRankRNN, GRU, LSTM]


def made(kind, task, hidden=12):
    more = {"dt": task.dt, "noise": 0.1} if kind in (LeakyRNN, LowRankRNN) else {}
    return kind(task.channels.size, task.actions.size, hidden, seed=1, **more)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("where", ["change", "push"])
def test_a_pulse_of_zero_is_exactly_the_unperturbed_trial(kind, where):
    task = make_task("ContextDecisionMaking-v0")
    network = made(kind, task)
    layers = ("hidden", "outputs")
    plain = record_activity(network, task, 20, layers=layers, seed=2)
    zero = {where: Pulse([0, 3], 0.0, at="stimulus")}
    again = record_activity(network, task, 20, layers=layers, seed=2, **zero)
    np.testing.assert_array_equal(plain.rates, again.rates)
    for name, values in plain.record.items():
        np.testing.assert_array_equal(values, again.record[name])


@pytest.mark.parametrize("kind", KINDS)
def test_a_pulse_to_a_state_changes_only_later_steps(kind):
    task = make_task("ContextDecisionMaking-v0")
    network = made(kind, task)
    plain = record_activity(network, task, 20, seed=2).align("stimulus", 200, 400)
    push = Pulse([3], 0.5, at="stimulus", after=100, ms=40)
    moved = record_activity(network, task, 20, push=push, seed=2).align("stimulus", 200, 400)
    until = plain.time <= 100 + 1e-6  # its first step: the state after it has changed
    np.testing.assert_array_equal(plain.rates[:, until], moved.rates[:, until])
    following = np.flatnonzero(~until)[0]
    change = np.abs(moved.rates - plain.rates)[:, following, 3]
    assert (change > 0).all() or np.median(change) > 0.01  # rectified units may be silent


def test_a_pulse_to_a_direction_without_recurrence_decays_with_the_time_constant():
    """A known answer: without recurrent weights, a leaky unit forgets with (1 - dt / tau)."""
    task = make_task("ContextDecisionMaking-v0", dt=10)
    network = LeakyRNN(task.channels.size, task.actions.size, 4, dt=10, tau=100, noise=0.1, seed=0)
    with torch.no_grad():
        network.recurrent_free.zero_()
    push = Pulse([0, 2], [1.0, -2.0], at="stimulus", ms=10)
    plain, moved = (
        record_activity(network, task, 10, push=one, seed=3).align("stimulus", 0, 300).rates
        for one in (None, push)
    )
    expected = np.append(0, 0.9 ** np.arange(1, 30))
    effect = (moved - plain).mean(axis=0)
    np.testing.assert_allclose(effect[:, 0], expected, atol=1e-5)
    np.testing.assert_allclose(effect[:, 2], -2 * expected, atol=1e-5)
    np.testing.assert_array_equal(effect[:, [1, 3]], 0)


def test_pairs_have_the_same_trials_and_noise_and_their_own_answers():
    task = make_task("RoitmanShadlen-v0", **TASK)
    network = Integrator()
    part = dict(task.channels)["stimulus"]
    pulse = Pulse([part.start], 2.0, at="stimulus", after=100, ms=200)
    plain, moved = (
        record_activity(network, task, 200, layers=("inputs",), bound=0.9, change=one, seed=4)
        for one in (None, pulse)
    )
    difference = moved.rates - plain.rates
    np.testing.assert_allclose(np.nan_to_num(difference), pulse.added(plain), atol=1e-6)
    for name in ("direction", "coherence", "trial"):
        np.testing.assert_array_equal(plain.record[name], moved.record[name])
    shares = [(one.record["choice"] == "left").mean() for one in (plain, moved)]
    assert abs(shares[1] - shares[0]) > 0.1


def test_frozen_inputs_are_those_of_the_first_step_of_the_period():
    task = make_task("RoitmanShadlen-v0", **TASK)
    plain, frozen = (
        record_activity(Integrator(), task, 20, layers=("inputs",), change=one, seed=5)
        for one in (None, Freeze("stimulus", units=[2, 3]))
    )
    inside, before = (one.during("stimulus").rates for one in (frozen, plain))
    kept = np.isfinite(inside)
    held = np.broadcast_to(before[:, :1], inside.shape)
    np.testing.assert_array_equal(inside[..., 2:][kept[..., 2:]], held[..., 2:][kept[..., 2:]])
    np.testing.assert_array_equal(inside[..., :2], before[..., :2])
    assert before[..., 2:].std() > 0
    outside = frozen.time < 100
    np.testing.assert_array_equal(frozen.rates[:, outside], plain.rates[:, outside])


def test_a_group_of_units_is_lesioned_by_its_cluster():
    task = make_task("ContextDecisionMaking-v0")
    network = made(GRU, task)
    plain = record_activity(network, task, 60, seed=2)
    # The two sides of the motion stand for two tasks.
    one, other = (task_variance(half, "motion") for half in plain.halves())
    groups, _ = clusters(one, other, 2)
    lesion = Silence(np.flatnonzero(groups == 0))
    found = record_activity(network, task, 60, silence=lesion, seed=2).rates
    assert (np.nan_to_num(found[..., groups == 0]) == 0).all()
    assert np.nan_to_num(found[..., groups == 1]).any()


def test_an_invalid_pulse_is_refused():
    task = make_task("ContextDecisionMaking-v0")
    network = made(GRU, task)
    with pytest.raises(InvalidValueError, match="one for each unit"):
        Pulse([1, 2], [1.0, 2.0, 3.0], at="stimulus")
    with pytest.raises(InvalidValueError, match="indices below 12"):
        record_activity(network, task, 5, push=Pulse([12], 1.0, at="stimulus"))
    for where in ("push", "change"):
        with pytest.raises(UnknownNameError, match="stimulus"):
            record_activity(network, task, 5, **{where: Pulse([1], 1.0, at="stimulsu")})
    with pytest.raises(UnknownNameError, match="delay"):
        record_activity(network, task, 5, change=Freeze("dealy"))
    own = torch.nn.Linear(task.channels.size, task.actions.size)
    with pytest.raises(InvalidValueError, match="can be silenced or pushed"):
        record_activity(own, task, 5, push=Pulse([0], 1.0, at="stimulus"))
