"""Training several seeds at once: each network is trained as it would be alone."""

from __future__ import annotations

import signal

import numpy as np
import pytest
import torch
from neurogym_torch import GRU, LeakyRNN, train_together
from neurogym_torch.together import unroll_together
from neurogym_torch.trainers import GRUTrainer, LeakyTrainer, LSTMTrainer

from neurogym_core import InvalidValueError

SMALL = {"hidden": 8, "batch": 8, "test_every": 5, "test_trials": 50}
CASES = [
    (GRUTrainer, "Sides", {}),
    (GRUTrainer, "Pulses", {"seq_len": 13}),
    (GRUTrainer, "Position", {}),
    (LeakyTrainer, "Sides", {"noise": 0.1, "dale": True, "sparsity": 0.2}),
    (LeakyTrainer, "Directions", {"activation": "tanh", "loss": "mse", "tau": 250.0}),
    (LeakyTrainer, "Pulses", {"activation": "relu", "seq_len": 13}),
    (LSTMTrainer, "Sides", {}),
]


def trainers_of(trainer, task, seeds=(0, 1, 2), **settings):
    return [trainer(task, seed=seed, **SMALL, **settings) for seed in seeds]


def assert_alike(first, second):
    """Equal up to the rounding of float32, which a few updates do not enlarge much."""
    weights = second.network.state_dict()
    for name, values in first.network.state_dict().items():
        torch.testing.assert_close(values, weights[name], atol=1e-4, rtol=1e-3)
    assert [row["updates"] for row in first.curve] == [row["updates"] for row in second.curve]
    for one, other in zip(first.curve, second.curve, strict=True):
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-3)
        # An answer on the edge between two may differ: at most one of the 50 test trials.
        assert one["accuracy"] == pytest.approx(other["accuracy"], abs=0.021)


@pytest.mark.parametrize(("trainer", "name", "settings"), CASES)
def test_a_seed_trained_beside_others_gives_the_curve_that_it_gives_alone(
    trainer, name, settings, tasks
):
    task = getattr(tasks, name)
    together = trainers_of(trainer, task, **settings)
    assert train_together(together, 20) == ["updates"] * 3
    for seed, one in enumerate(together):
        alone = trainer(task, seed=seed, **SMALL, **settings)
        alone.train(20)
        assert_alike(one, alone)
    assert not torch.equal(*(next(one.network.parameters()) for one in together[:2]))


@pytest.mark.parametrize("activation", ["softplus", "relu", "tanh"])
def test_the_gradients_of_leaky_networks_are_those_of_their_equations(activation):
    networks = [
        LeakyRNN(2, 3, 5, dt=20, tau=50, activation=activation, seed=seed) for seed in range(2)
    ]
    assert_gradients(networks)


def test_the_gradients_of_grus_are_those_of_torch():
    assert_gradients([GRU(2, 3, 5, seed=seed) for seed in range(2)])


def assert_gradients(networks):
    """Compare outputs and gradients, in float64, for sequences of different lengths."""
    generator = torch.Generator().manual_seed(0)
    inputs = [torch.randn(4, steps, 2, generator=generator).double() for steps in (7, 6)]
    firsts = [torch.rand(4, 5, generator=generator).double() for _ in networks]
    for network in networks:
        network.double()

    def gradients(unrolled):
        for network in networks:
            network.zero_grad()
        given = [first.requires_grad_() for first in firsts]
        results = unrolled(given)
        loss = sum((outputs**3).sum() + (state**2).sum() for outputs, _, state in results)
        own = [value for network in networks for value in network.parameters()]
        return results, torch.autograd.grad(loss, [*own, *given])

    def alone(given):
        pairs = zip(networks, inputs, given, strict=True)
        return [network.unroll(rows, state) for network, rows, state in pairs]

    expected, by_torch = gradients(alone)
    found, ours = gradients(lambda given: unroll_together(networks, inputs, given))
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)
    for one, other in zip(ours, by_torch, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("trainer", [GRUTrainer, LeakyTrainer])
def test_networks_learn_a_delay_with_the_default_settings(trainer, tasks):
    # Seeds 0 to 3 met it by update 550 (GRU) and 200 (leaky); before, GRUs began without memory.
    settings = {"hidden": 32, "batch": 32, "test_every": 50, "test_trials": 100}
    together = [trainer(tasks.Match, seed=seed, **settings) for seed in range(3)]
    assert train_together(together, 1500, criterion=0.95) == ["criterion"] * 3


def test_a_network_that_meets_its_criterion_leaves_and_the_others_continue(tasks):
    together = trainers_of(GRUTrainer, tasks.Sides)
    met = train_together(together, 20, criterion=[lambda record: True, None, 1.0])
    assert met == ["criterion", "updates", "updates"]
    assert [one.done for one in together] == [0, 20, 20]


def test_a_training_that_was_interrupted_together_continues_alone_and_together(tasks, tmp_path):
    folders = [tmp_path / str(seed) for seed in range(3)]
    train_together(trainers_of(GRUTrainer, tasks.Sides), 10, out=folders)
    again = trainers_of(GRUTrainer, tasks.Sides)
    for one, folder in zip(again[:2], folders[:2], strict=True):
        one.load(folder)
    train_together(again, 20)  # the last one has no checkpoint, and begins
    assert [one.done for one in again] == [20, 20, 20]
    for seed, one in enumerate(again):
        alone = GRUTrainer(tasks.Sides, seed=seed, **SMALL)
        alone.train(20)
        assert_alike(one, alone)


def test_ctrl_c_writes_the_checkpoints_of_all(tasks, tmp_path):
    together = trainers_of(GRUTrainer, tasks.Sides)
    learned = together[1].step

    def step():
        learned()
        if together[1].done == 7:
            raise KeyboardInterrupt

    together[1].step = step
    folders = [tmp_path / str(seed) for seed in range(3)]
    with pytest.raises(KeyboardInterrupt):
        train_together(together, 20, out=folders)
    for one, folder in zip(together, folders, strict=True):
        loaded = GRUTrainer(tasks.Sides, seed=one.seed, **SMALL)
        loaded.load(folder)
        assert loaded.done == one.done >= 6


@pytest.fixture
def default_sigint():
    """A shell that starts the tests in the background has SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("default_sigint")
def test_ctrl_c_is_seen_after_the_first_network_has_left(tasks, tmp_path):
    together = trainers_of(GRUTrainer, tasks.Sides)
    learned = together[1].step

    def step():
        learned()
        if together[1].done == 7:
            signal.raise_signal(signal.SIGINT)

    together[1].step = step
    folders = [tmp_path / str(seed) for seed in range(3)]
    with pytest.raises(KeyboardInterrupt):
        train_together(together, 20, out=folders, criterion=[lambda record: True, None, None])
    assert [one.done for one in together] == [0, 7, 7]
    for one, folder in zip(together, folders, strict=True):
        loaded = GRUTrainer(tasks.Sides, seed=one.seed, **SMALL)
        loaded.load(folder)
        assert loaded.done == one.done


def test_trainers_that_differ_are_refused(tasks, tmp_path):
    pair = [GRUTrainer(tasks.Sides, **SMALL), LeakyTrainer(tasks.Sides, **SMALL)]
    with pytest.raises(InvalidValueError, match="2 kinds"):
        train_together(pair, 10)
    wide = GRUTrainer(tasks.Sides, **SMALL | {"hidden": 9})
    with pytest.raises(InvalidValueError, match="2 kinds"):
        train_together([pair[0], wide], 10)
    with pytest.raises(InvalidValueError, match="no trainers"):
        train_together([], 10)
    with pytest.raises(InvalidValueError, match="for 1 trainers"):
        train_together(pair[:1], 10, out=[tmp_path, tmp_path])


def test_curves_hold_the_seconds_of_cpu_time(tasks, tmp_path):
    first = GRUTrainer(tasks.Sides, **SMALL)
    first.train(10, out=tmp_path)
    second = GRUTrainer(tasks.Sides, **SMALL)
    second.load(tmp_path)
    second.train(20)
    cpu = [row["cpu"] for row in second.curve]
    assert np.all(np.diff(cpu) > 0)
    assert cpu[2] == first.curve[-1]["cpu"]
