"""Spiking networks are their equations, learn, and say what they need."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
import torch
from neurogym_torch.networks import load_network
from neurogym_torch.spiking import SpikingRNN, SpikingTrainer

from neurogym_core import InvalidValueError, MissingDependencyError

HERE = importlib.util.find_spec("snntorch") is not None
needs_snntorch = pytest.mark.skipif(not HERE, reason="needs snntorch")
SMALL = {"batch": 16, "hidden": 24, "test_every": 10, "test_trials": 40}


def numbers(tensor):
    return tensor.detach().double().numpy()


@pytest.mark.skipif(HERE, reason="snntorch is installed")
def test_without_snntorch_the_error_says_so():
    with pytest.raises(MissingDependencyError, match="pip install snntorch"):
        SpikingRNN(3, 2, 8)


@needs_snntorch
def test_a_spiking_network_is_its_equations():
    net = SpikingRNN(3, 2, 12, dt=10, tau=20, tau_s=50, gain=2.0, seed=1)
    inputs = 3 * torch.randn(1, 30, 3, generator=torch.Generator().manual_seed(2))
    outputs, hidden = net(inputs)
    w, w_in, w_out = map(numbers, (net.recurrent_weights, net.input_weights, net.output_weights))
    v, s, r = np.zeros(12), np.zeros(12), np.zeros(12)
    spikes = 0
    for t, now in enumerate(numbers(inputs[0])):
        v = (1 - 10 / 20) * v - s + w @ s + w_in @ now
        s = (v > 1).astype(float)
        r = (1 - 10 / 50) * r + 10 / 50 * s
        spikes += s.sum()
        assert np.allclose(numbers(hidden[0, t]), r, atol=1e-5)
        assert np.allclose(numbers(outputs[0, t]), w_out @ r, atol=1e-5)
    assert 20 < spikes < 300  # some units fire, and not always


@needs_snntorch
def test_gradients_pass_spikes_as_those_of_a_fast_sigmoid():
    net = SpikingRNN(1, 1, 1, dt=10, tau=10, tau_s=10, slope=4.0, seed=1)
    inputs = torch.full((1, 1, 1), 2.0)
    _, hidden = net(inputs)
    hidden.sum().backward()
    v = net.input_weights.item() * 2.0
    assert net.bias.grad.item() == pytest.approx(1 / (1 + 4 * abs(v - 1)) ** 2, rel=1e-5)


@needs_snntorch
def test_it_learns_and_is_resumed_and_loaded(tasks, tmp_path):
    whole = SpikingTrainer(tasks.Sides(sigma=0.3), seed=1, learning_rate=0.01, **SMALL)
    whole.train(100)
    assert whole.curve[-1]["accuracy"] > whole.curve[0]["accuracy"] + 0.3
    first = SpikingTrainer(tasks.Sides(sigma=0.3), seed=1, learning_rate=0.01, **SMALL)
    first.train(50, out=tmp_path)
    second = SpikingTrainer(tasks.Sides(sigma=0.3), seed=1, learning_rate=0.01, **SMALL)
    second.load(tmp_path)
    second.train(100)
    for one, other in zip(whole.network.parameters(), second.network.parameters(), strict=True):
        assert torch.equal(one, other)
    whole.network.save(tmp_path / "net.pt")
    inputs = torch.randn(2, 5, whole.network.n_inputs)
    assert torch.equal(load_network(tmp_path / "net.pt")(inputs)[0], whole.network(inputs)[0])


@needs_snntorch
@pytest.mark.parametrize("wrong", [{"tau_s": 5}, {"slope": 0.0}, {"tau": 5}, {"noise": -1}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="SpikingRNN was given"):
        SpikingRNN(3, 2, 8, dt=20, **wrong)
