"""The networks compute the equations of their docstrings."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from neurogym_torch import GRU, LSTM, LeakyRNN, LowRankRNN, Network, load_network
from neurogym_torch.trainers import GRUTrainer

from neurogym_core import InvalidValueError, UnknownNameError

ALL = (LeakyRNN, LowRankRNN, GRU, LSTM)
SIGMOID = torch.sigmoid


def inputs(batch=3, steps=11, units=4, seed=0):
    return torch.randn(batch, steps, units, generator=torch.Generator().manual_seed(seed))


def weights(network):
    return {name: value.detach() for name, value in network.named_parameters()}


@pytest.mark.parametrize("network", ALL)
def test_one_interface(network):
    made = network(4, 5, 16, seed=1)
    outputs, hidden = made(inputs())
    assert (outputs.shape, hidden.shape) == ((3, 11, 5), (3, 11, 16))
    outputs.sum().backward()
    assert all(
        value.grad is not None and value.grad.isfinite().all() for value in made.parameters()
    )


@pytest.mark.parametrize("network", ALL)
def test_two_sequences_joined_by_the_state_equal_one(network):
    made = network(4, 5, 16, seed=1)
    whole, _, last = made.unroll(inputs())
    first, _, state = made.unroll(inputs()[:, :6])
    second, _, end = made.unroll(inputs()[:, 6:], state)
    torch.testing.assert_close(torch.cat([first, second], dim=1), whole)
    torch.testing.assert_close(end, last)


@pytest.mark.parametrize("network", ALL)
def test_the_seed_determines_the_weights_without_the_global_generator(network):
    before = torch.get_rng_state()
    same, again, other = (weights(network(4, 5, 16, seed=seed)) for seed in (1, 1, 2))
    assert all(torch.equal(same[name], again[name]) for name in same)
    assert any(not torch.equal(same[name], other[name]) for name in same)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("network", ALL)
def test_a_saved_network_is_loaded_unchanged(network, tmp_path):
    made = network(4, 5, 16, seed=1)
    with torch.no_grad():
        for value in made.parameters():
            value += 0.01
    made.save(tmp_path / "net.pt")
    loaded = load_network(tmp_path / "net.pt")
    assert type(loaded) is network
    assert loaded.settings == made.settings
    torch.testing.assert_close(loaded(inputs())[0], made(inputs())[0], rtol=0, atol=0)


def test_a_leaky_network_is_its_equation():
    made = LeakyRNN(4, 5, 16, dt=20, tau=100, activation="relu", seed=1)
    w = weights(made)
    r = torch.zeros(3, 16)
    for t in range(11):
        current = r @ made.recurrent_weights.T + inputs()[:, t] @ w["input_weights"].T + w["bias"]
        r = 0.8 * r + 0.2 * current.clamp(min=0)
    outputs, hidden = made(inputs())
    torch.testing.assert_close(hidden[:, -1], r)
    torch.testing.assert_close(outputs[:, -1], r @ w["output_free"].T + w["output_bias"])


def test_a_low_rank_network_is_its_equation():
    made = LowRankRNN(4, 5, 16, rank=3, dt=20, tau=100, seed=1)
    w = weights(made)
    assert torch.linalg.matrix_rank(made.recurrent_weights.detach()) == 3
    x = torch.zeros(3, 16)
    for t in range(11):
        current = (
            torch.tanh(x) @ made.recurrent_weights.T
            + inputs()[:, t] @ w["input_weights"].T
            + w["bias"]
        )
        x = 0.8 * x + 0.2 * current
    outputs, hidden = made(inputs())
    torch.testing.assert_close(hidden[:, -1], torch.tanh(x))
    torch.testing.assert_close(
        outputs[:, -1], torch.tanh(x) @ w["output_weights"].T / 16 + w["output_bias"]
    )


def _gates(layer, count):
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    return [getattr(layer, name).detach().chunk(count) for name in names]


def test_a_gru_is_its_equations():
    made = GRU(4, 5, 16, seed=1)
    w, u, b, d = _gates(made.recurrent, 3)  # torch's order: q (its "reset"), z, c
    r = torch.zeros(3, 16)
    for t in range(11):
        now = inputs()[:, t]
        q = SIGMOID(now @ w[0].T + b[0] + r @ u[0].T + d[0])
        z = SIGMOID(now @ w[1].T + b[1] + r @ u[1].T + d[1])
        c = torch.tanh(now @ w[2].T + b[2] + q * (r @ u[2].T + d[2]))
        r = (1 - z) * c + z * r
    torch.testing.assert_close(made(inputs())[1][:, -1], r)


def test_a_gru_begins_with_orthogonal_weights_and_the_time_constants_of_its_memory():
    layer = GRU(4, 5, 64, memory=50, seed=1).recurrent
    for weights in layer.weight_hh_l0.detach().split(64):
        torch.testing.assert_close(weights @ weights.T, torch.eye(64))
    # Without input, z = sigmoid(b_z), and a unit keeps z of its rate: 1 / (1 - z) steps.
    constants = 1 + torch.exp(layer.bias_hh_l0.detach()[64:128])
    assert 2 <= constants.min() < 10
    assert 42 < constants.max() <= 50  # each of the two fails for one seed in 1e4
    other = GRU(4, 5, 64, memory=50, seed=2).recurrent
    assert not torch.equal(layer.weight_hh_l0, other.weight_hh_l0)
    with pytest.raises(InvalidValueError, match="memory=1"):
        GRU(4, 5, 64, memory=1)


def test_an_lstm_is_its_equations():
    made = LSTM(4, 5, 16, seed=1)
    w, u, b, d = _gates(made.recurrent, 4)
    r = c = torch.zeros(3, 16)
    for t in range(11):
        i, f, g, o = (inputs()[:, t] @ w[k].T + b[k] + r @ u[k].T + d[k] for k in range(4))
        c = SIGMOID(f) * c + SIGMOID(i) * torch.tanh(g)
        r = SIGMOID(o) * torch.tanh(c)
    torch.testing.assert_close(made(inputs())[1][:, -1], r)


@pytest.mark.parametrize("dt", [20, 100])
def test_activity_of_leaky_networks_stays_bounded_but_outlasts_its_input(dt):
    lasting = 0
    for seed in range(10):
        made = LeakyRNN(3, 3, 64, dt=dt, seed=seed)
        held = made(torch.eye(3)[:1].expand(300, 3)[None])[1].detach()
        assert held.mean(dim=2).max() < 10  # of seeds 0 to 19: at most 1.5
        pulse = torch.zeros(1, 11, 3)
        pulse[:, 0] = 1
        rates = made(pulse)[1].detach()[0]
        lasting += bool(rates[10].norm() > 0.01 * rates[0].norm())
    assert lasting >= 8  # ten steps after the pulse


def test_units_obey_dales_law_and_none_connects_to_itself():
    made = LeakyRNN(4, 5, 20, dale=True, excitatory=0.75, seed=1)
    with torch.no_grad():  # signs stay when weights cross zero
        made.recurrent_free -= 0.05
        made.output_free -= 0.2
    w = made.recurrent_weights.detach()
    assert (w[:, :15] >= 0).all()
    assert (w[:, 15:] <= 0).all()
    assert (w[:, 15:] < 0).any()
    assert not w.diagonal().any()
    assert (made.output_weights[:, :15] >= 0).all()
    assert not made.output_weights[:, 15:].any()


def test_absent_connections_remain_absent():
    made = LeakyRNN(4, 5, 100, sparsity=0.9, seed=1)
    optimizer = torch.optim.Adam(made.parameters(), lr=0.1)
    made(inputs())[0].square().sum().backward()
    optimizer.step()
    share = (made.recurrent_weights != 0).float().mean()
    # 10,000 connections, 10 % of which exist: SD 0.003; the bound is 5 SDs: false alarm 6e-7.
    assert abs(share - 0.1) < 0.015


@pytest.mark.parametrize(
    "settings", [{}, {"dale": True}, {"sparsity": 0.5}, {"dale": True, "sparsity": 0.5}]
)
def test_the_initial_weights_have_the_requested_spectral_radius(settings):
    made = LeakyRNN(4, 5, 40, gain=0.7, seed=1, **settings)
    assert torch.linalg.eigvals(made.recurrent_weights.detach()).abs().max() == pytest.approx(
        0.7, rel=1e-4
    )


@pytest.mark.parametrize("network", [LeakyRNN, LowRankRNN])
def test_recurrent_noise_does_not_depend_on_dt(network):
    # Without inputs and connections a unit is an Ornstein-Uhlenbeck process; its stationary SD is
    # that of the noise for small dt/tau (times the slope of f at 0, here 1).
    sds = []
    for dt in (5, 10):
        extra = {"activation": "tanh"} if network is LeakyRNN else {}
        made = network(1, 1, 200, dt=dt, tau=100, noise=0.01, seed=1, **extra)
        with torch.no_grad():
            for value in made.parameters():
                value.zero_()
        generator = torch.Generator().manual_seed(3)
        _, hidden = made(torch.zeros(20, 150, 1), generator=generator)
        sds.append(hidden[:, 70:].std().item())
    expected = [0.01 * np.sqrt(1 / (1 - dt / 200)) for dt in (5, 10)]
    # About 20 * 200 * 2 independent values: relative SE 0.8 %; the bound is almost 4 SEs: false
    # alarm 2e-4.
    np.testing.assert_allclose(sds, expected, rtol=0.03)


def test_noise_comes_from_the_generator_given():
    made = LeakyRNN(4, 5, 16, noise=0.5, seed=1)
    runs = [made(inputs(), generator=torch.Generator().manual_seed(seed))[0] for seed in (1, 1, 2)]
    assert torch.equal(runs[0], runs[1])
    assert not torch.equal(runs[0], runs[2])


REFUSED = {
    "no units": (LeakyRNN, {"hidden": 0}, "hidden=0"),
    "dt above tau": (LeakyRNN, {"dt": 200, "tau": 100}, "overshoots"),
    "noise": (LeakyRNN, {"noise": -1}, "standard deviation"),
    "sparsity": (LeakyRNN, {"sparsity": 1.0}, "fraction"),
    "excitatory": (LeakyRNN, {"excitatory": 0, "dale": True}, "fraction"),
    "negative rates": (LeakyRNN, {"dale": True, "activation": "tanh"}, "negative"),
    "rank": (LowRankRNN, {"rank": 17}, "at most hidden=16"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_settings_are_refused(case):
    network, settings, hint = REFUSED[case]
    with pytest.raises(InvalidValueError, match=hint):
        network(**{"n_inputs": 4, "n_outputs": 5, "hidden": 16, **settings})


def test_an_unknown_activation_is_refused_with_the_nearest_one():
    with pytest.raises(UnknownNameError, match="softplus"):
        LeakyRNN(4, 5, activation="softpluss")


class Linear(Network):
    """A network of another package."""

    def __init__(self, n_inputs, n_outputs, hidden=2):
        super().__init__(n_inputs, n_outputs, hidden)
        self.read = torch.nn.Linear(n_inputs, n_outputs)

    def initial_state(self, batch):
        return torch.zeros(batch, self.hidden)

    def unroll(self, inputs, state=None, generator=None):
        return self.read(inputs), torch.zeros(*inputs.shape[:2], self.hidden), state


def test_a_network_of_another_package_is_loaded_if_it_is_named(tmp_path):
    Linear(4, 5).save(tmp_path / "net.pt")
    with pytest.raises(UnknownNameError, match="Linear"):
        load_network(tmp_path / "net.pt")
    assert isinstance(load_network(tmp_path / "net.pt", known={"Linear": Linear}), Linear)


def test_it_shows_its_settings():
    assert "sparsity=0.5" in repr(LeakyRNN(4, 5, sparsity=0.5))


def test_a_run_and_its_checkpoint_hold_the_network(tmp_path):
    trainer = GRUTrainer("perceptual/PerceptualDecisionMaking-v0", hidden=8, batch=4)
    trainer.save(tmp_path)
    for path in (tmp_path, tmp_path / "checkpoint.pt"):
        network = load_network(path)
        assert isinstance(network, GRU)
        pairs = zip(network.parameters(), trainer.network.parameters(), strict=True)
        assert all(torch.equal(a, b) for a, b in pairs)


def test_a_file_without_a_network_is_one_clear_error(tmp_path):
    GRU(3, 2, 4).save(tmp_path / "whole.pt")
    text = (tmp_path / "whole.pt").read_bytes()
    (tmp_path / "half.pt").write_bytes(text[: len(text) // 2])
    (tmp_path / "words.pt").write_text("no checkpoint")
    torch.save({"a": 1}, tmp_path / "other.pt")
    for name, words in [
        ("half.pt", "cut off"),
        ("words.pt", "cannot be read"),
        ("other.pt", "holds no network"),
        ("absent.pt", "There is no file"),
    ]:
        with pytest.raises(InvalidValueError, match=words):
            load_network(tmp_path / name)
