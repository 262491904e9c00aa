"""Mechanisms of leaky networks are their equations, and each has its effect."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from neurogym_torch import LeakyRNN
from neurogym_torch.networks import load_network
from neurogym_torch.together import train_together
from neurogym_torch.trainers import GRUTrainer, LeakyTrainer

from neurogym_core import InvalidValueError, UnknownNameError

SMALL = {"batch": 8, "hidden": 12, "test_every": 5, "test_trials": 20}
DT = 20.0


def numbers(tensor):
    return tensor.detach().double().numpy()


def softplus(x):
    return np.log1p(np.exp(x))


CASES = {
    "time constants": {"tau": (20, 400)},
    "learned time constants": {"tau": (40, 400), "learn_tau": True},
    "adaptation": {"adaptation": 0.7, "adaptation_tau": 300},
    "facilitating": {"plasticity": "facilitating"},
    "mixed plasticity": {"plasticity": "mixed"},
    "areas": {"areas": 3, "between": 0.5},
    "delay": {"areas": 2, "between": 0.5, "delay": 60},
    "start": {"learn_start": True},
    "sigmoid": {"output": "sigmoid", "initial": "diagonal"},
    "all": {"tau": (20, 400), "adaptation": 0.3, "plasticity": "mixed", "areas": 2, "delay": 40,
            "learn_start": True},
}  # fmt: skip


def by_hand(net, inputs):
    """The rates (T, hidden) and outputs of one row, from the equations, in NumPy."""
    given, n = net.settings, net.hidden
    area = np.arange(n) * given["areas"] // n
    w, w_in, w_out = map(numbers, (net.recurrent_weights, net.input_weights, net.output_free))
    w_in, w_out = w_in * (area == 0)[:, None], w_out * (area == given["areas"] - 1)
    apart = area[:, None] != area
    tau = DT + np.exp(numbers(net.log_tau)) if net.log_tau is not None else given["tau"]
    alpha = DT / tau
    use = np.full(n, 0.15)
    tau_x, tau_u = np.full(n, 200.0), np.full(n, 1500.0)
    depressing = {"mixed": np.arange(n) % 2 == 1}.get(given["plasticity"], np.zeros(n, bool))
    use[depressing], tau_x[depressing], tau_u[depressing] = 0.45, 1500, 200
    r = softplus(numbers(net.start)) if net.start is not None else np.zeros(n)
    a, x, u = np.zeros(n), np.ones(n), use.copy()
    late = round(given["delay"] / DT)
    sent = [np.zeros(n)] * (late + 1)
    rates = []
    for now in inputs:
        own = x * u * r if given["plasticity"] != "none" else r
        sent = [*sent[1:], own] if late else [own]
        drive = w_in @ now + numbers(net.bias) - given["adaptation"] * a
        drive = drive + (w * ~apart) @ own + (w * apart) @ sent[0]
        a, x, u = (
            a + DT / given["adaptation_tau"] * (r - a),
            x + DT * (1 - x) / tau_x - DT / 1000 * u * x * r,
            u + DT * (use - u) / tau_u + DT / 1000 * use * (1 - u) * r,
        )
        r = (1 - alpha) * r + alpha * softplus(drive)
        rates.append(r)
    outputs = np.array(rates) @ w_out.T + numbers(net.output_bias)
    return np.array(rates), 1 / (1 + np.exp(-outputs)) if net.sigmoid else outputs


@pytest.mark.parametrize("case", CASES)
def test_a_network_is_its_equations(case):
    net = LeakyRNN(3, 2, 12, dt=DT, activation="softplus", gain=0.9, seed=4, **CASES[case])
    if net.start is not None:
        with torch.no_grad():
            net.start.normal_(generator=torch.Generator().manual_seed(1))
    inputs = torch.randn(1, 15, 3, generator=torch.Generator().manual_seed(2))
    outputs, hidden = net(inputs)
    rates, said = by_hand(net, numbers(inputs[0]))
    assert np.allclose(numbers(hidden[0]), rates, atol=1e-5)
    assert np.allclose(numbers(outputs[0]), said, atol=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_sequences_are_joined_by_the_state_saved_and_forgotten(case, tmp_path):
    net = LeakyRNN(3, 2, 12, dt=DT, seed=4, **CASES[case])
    inputs = torch.randn(4, 20, 3, generator=torch.Generator().manual_seed(2))
    whole, _, _ = net.unroll(inputs)
    first, _, state = net.unroll(inputs[:, :7])
    second, _, _ = net.unroll(inputs[:, 7:], state)
    assert torch.allclose(torch.cat([first, second], dim=1), whole, atol=1e-6)
    net.save(tmp_path / "net.pt")
    assert torch.equal(load_network(tmp_path / "net.pt")(inputs)[0], whole)
    begun = net.forget(state, torch.tensor([True, False, True, False]))
    again, _, _ = net.unroll(inputs[:, 7:], begun)
    assert torch.allclose(again[1], second[1])
    assert torch.allclose(again[0], net(inputs[:1, 7:])[0][0], atol=1e-6)


def test_the_weights_of_a_seed_do_not_depend_on_the_options():
    plain = LeakyRNN(3, 2, 12, dt=DT, seed=4)
    other = LeakyRNN(3, 2, 12, dt=DT, seed=4, tau=(20, 200), adaptation=0.5, plasticity="mixed")
    assert torch.equal(plain.recurrent_free, other.recurrent_free)
    assert plain.plain
    assert not other.plain


def test_first_weights_are_diagonal_orthogonal_or_gaussian():
    def first(**options):
        return numbers(LeakyRNN(3, 2, 12, dt=DT, gain=0.5, seed=4, **options).recurrent_weights)

    assert np.allclose(first(initial="diagonal"), 0.5 * np.eye(12))
    turned = first(initial="orthogonal")
    assert np.allclose(turned @ turned.T, 0.25 * np.eye(12), atol=1e-5)
    for weights in (turned, first()):
        assert np.count_nonzero(weights) > 100
        assert np.isclose(np.abs(np.linalg.eigvals(weights)).max(), 0.5, atol=1e-5)


def test_forms_that_do_not_exist_or_fit_are_refused(tasks):
    for wrong in ({"output": "softmax"}, {"initial": "zero"}):
        with pytest.raises(UnknownNameError, match="Known"):
            LeakyRNN(3, 2, 12, **wrong)
    with pytest.raises(InvalidValueError, match="no unit"):
        LeakyRNN(3, 2, 12, dale=True, initial="diagonal")
    with pytest.raises(InvalidValueError, match="loss='mse'"):
        LeakyTrainer(tasks.Directions, output="sigmoid", **SMALL)
    LeakyTrainer(tasks.Directions, output="sigmoid", loss="mse", **SMALL)


def pulse_and_probe(**options):
    """Rates at a probe after 1.5 s of silence, with and without an earlier pulse, (2, hidden)."""
    net = LeakyRNN(1, 1, 20, dt=DT, tau=DT, activation="relu", gain=0.3, seed=0, **options)
    inputs = torch.zeros(2, 100, 1)
    inputs[0, 5:15] = 30.0
    inputs[:, 90:95] = 3.0
    with torch.no_grad():
        _, hidden = net(inputs)
    return hidden[:, 85], hidden[:, 94]


def test_plasticity_remembers_a_pulse_in_silence_and_rates_alone_do_not():
    for options, remembers in (({}, False), ({"plasticity": "facilitating"}, True)):
        silent, probed = pulse_and_probe(**options)
        assert silent.abs().max() < 1e-3
        assert ((probed[0] - probed[1]).abs().max() > 0.02) == remembers


def test_an_adapting_unit_answers_less_to_a_step_the_longer_it_lasts():
    def course(**options):
        net = LeakyRNN(1, 1, 8, dt=DT, tau=DT, gain=0.0, seed=1, **options)
        with torch.no_grad():
            _, hidden = net(torch.ones(1, 100, 1) * 5)
        active = hidden[0, :, hidden[0, 0] > 0.1]
        return (active[-1] / active[0]).max()

    assert course() == pytest.approx(1)
    assert course(adaptation=2.0) < 0.5


def test_a_signal_takes_the_delay_from_area_to_area():
    net = LeakyRNN(1, 1, 30, dt=DT, tau=DT, areas=3, between=1.0, delay=100, seed=1)
    inputs = torch.zeros(1, 40, 1)
    inputs[0, 5] = 50.0
    with torch.no_grad():
        rest = net(torch.zeros(1, 40, 1))[1]
        _, hidden = net(inputs)
    change = (hidden - rest)[0].abs().reshape(40, 3, 10).amax(dim=2) > 1e-4
    onsets = [int(change[:, area].nonzero()[0]) for area in range(3)]
    assert onsets == [5, 5 + 6, 5 + 6]  # a step, and five of delay; each area reaches each


def test_connections_are_those_given(tmp_path):
    mask = (np.random.default_rng(0).random((12, 12)) < 0.3).astype(int)
    np.save(tmp_path / "mask.npy", mask)
    for given in (mask, str(tmp_path / "mask.npy")):
        net = LeakyRNN(3, 2, 12, dt=DT, connections=given)
        assert (numbers(net.recurrent_weights)[mask == 0] == 0).all()
        assert (numbers(net.recurrent_weights)[mask == 1] != 0).all()
    net.save(tmp_path / "net.pt")
    (tmp_path / "mask.npy").unlink()
    again = load_network(tmp_path / "net.pt")
    assert torch.equal(again.recurrent_weights, net.recurrent_weights)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tau": (400, 40)}, "low, high"),
        ({"tau": (5, 40)}, "dt must be above"),
        ({"adaptation": -1}, "strength of 0 or more"),
        ({"adaptation": 1, "adaptation_tau": 5}, "at least dt"),
        ({"plasticity": "slow"}, "facilitating, depressing, mixed"),
        ({"areas": 0}, "at least one area"),
        ({"areas": 2, "between": 2}, "fraction from 0 to 1"),
        ({"areas": 2, "delay": 30}, "multiple of dt"),
        ({"delay": 40}, "areas to pass between"),
        ({"connections": np.ones((3, 3))}, "has the shape"),
        ({"connections": 2 * np.ones((12, 12))}, "of 0 and 1"),
        ({"connections": "nowhere.npy"}, "cannot be read"),
    ],
)
def test_impossible_options_are_refused(options, words):
    with pytest.raises(InvalidValueError, match=words):
        LeakyRNN(3, 2, 12, dt=DT, **options)


@pytest.mark.parametrize("case", CASES)
def test_every_mechanism_is_trained_and_resumed(case, tasks, tmp_path):
    options = CASES[case] if case != "delay" else {"areas": 2, "between": 0.5, "delay": 100}
    options = options if case != "all" else options | {"delay": 0}
    low = {"tau": (100, 400)} if isinstance(options.get("tau"), tuple) else {}
    low |= {"loss": "mse"} if case == "sigmoid" else {}
    trainer = LeakyTrainer(tasks.Sides, seed=1, **SMALL, **(options | low))
    before = {name: one.clone() for name, one in trainer.network.named_parameters()}
    trainer.train(10, out=tmp_path)
    again = LeakyTrainer(tasks.Sides, seed=1, **SMALL, **(options | low))
    again.load(tmp_path)
    trainer.train(12)
    again.train(12)
    for name, one in trainer.network.named_parameters():
        assert torch.equal(one, dict(again.network.named_parameters())[name])
        assert not torch.equal(one, before[name]), name
    assert trainer.play(10, seed=3) == again.play(10, seed=3)


def test_networks_with_mechanisms_train_side_by_side_as_alone(tasks):
    together = [LeakyTrainer(tasks.Sides, seed=k, adaptation=0.5, **SMALL) for k in (0, 1)]
    train_together(together, 10)
    alone = LeakyTrainer(tasks.Sides, seed=1, adaptation=0.5, **SMALL)
    alone.train(10)
    for one, other in zip(together[1].network.parameters(), alone.network.parameters(),
                          strict=True):  # fmt: skip
        assert torch.allclose(one, other, atol=1e-6)


def test_frozen_parameters_stay_as_they_are(tasks):
    trainer = GRUTrainer(tasks.Sides, frozen=("recurrent.*",), **SMALL)
    before = {name: one.clone() for name, one in trainer.network.named_parameters()}
    trainer.train(5)
    changed = {
        name for name, one in trainer.network.named_parameters() if (one != before[name]).any()
    }
    assert changed == {"readout.weight", "readout.bias"}
    with pytest.raises(UnknownNameError, match="inputs"):
        GRUTrainer(tasks.Sides, frozen=("inputs*",), **SMALL)
    with pytest.raises(InvalidValueError, match="Leave some out"):
        GRUTrainer(tasks.Sides, frozen=("*",), **SMALL)


def test_costs_of_absolute_values_make_rates_and_weights_small(tasks):
    def sizes(**costs):
        trainer = LeakyTrainer(tasks.Sides, seed=2, optimizer="sgd", **SMALL, **costs)
        trainer.train(60)
        with torch.no_grad():
            _, hidden = trainer.network(next(trainer.data).inputs)
            weights = trainer.network.recurrent_weights.abs().mean()
        return float(hidden.abs().mean()), float(weights)

    rates, weights = sizes()
    assert sizes(rate_l1=3.0)[0] < 0.7 * rates
    assert sizes(weight_l1=300.0, clip=0.0)[1] < 0.7 * weights
    with pytest.raises(InvalidValueError, match="weight_l1=-1"):
        LeakyTrainer(tasks.Sides, weight_l1=-1, **SMALL)
