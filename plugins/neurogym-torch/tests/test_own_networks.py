"""Plain modules of torch as networks, in Python and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from neurogym_torch import GRU, NetworkSubject, record_activity
from neurogym_torch.own import OwnTrainer, as_network
from neurogym_training import Run
from torch import nn

from neurogym_core import InvalidValueError, NotSupportedError, run
from neurogym_core.tools import main

SMALL = {"hidden": 8, "batch": 8, "test_every": 5, "test_trials": 20}
FILE = """
from torch import nn


class Net(nn.Module):
    def __init__(self, n_inputs, n_outputs, hidden):
        super().__init__()
        self.cells = nn.GRU(n_inputs, hidden, batch_first=True)
        self.readout = nn.Linear(hidden, n_outputs)

    def forward(self, x):
        h, _ = self.cells(x)
        return self.readout(h), h
"""


class Plain(nn.Module):
    """A `GRU` of the package behind the call of a plain module."""

    def __init__(self, n_inputs, n_outputs, hidden=8):
        super().__init__()
        self.inner = GRU(n_inputs, n_outputs, hidden, seed=3)

    def forward(self, x):
        return self.inner(x)


def test_a_plain_module_plays_as_the_network_in_it(tasks):
    """Trials of several lengths, so that the rows begin theirs on different steps."""
    plain = Plain(2, 3)
    records = [
        run(tasks.Pulses, NetworkSubject(network), 60, seed=1, num_envs=7)
        for network in (plain, plain.inner)
    ]
    assert records[0] == records[1]


def test_its_activity_is_recorded(tasks):
    plain = Plain(2, 3)
    for layer in ("hidden", "outputs"):
        one, other = (
            record_activity(network, tasks.Pulses, 9, layers=(layer,), seed=2)
            for network in (plain, plain.inner)
        )
        np.testing.assert_allclose(one[layer], other[layer], atol=1e-6)
        assert one.record == other.record
    assert (
        "inner.readout" in record_activity(plain, tasks.Pulses, 3, layers=("inner.readout",)).layers
    )


def test_it_is_trained_by_name_and_resumed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my_net.py").write_text(FILE, "utf-8")
    words = ["train", "PerceptualDecisionMaking-v0", "--model", "my_net.py:Net", "--updates", "10"]
    words += ["--out", "run", "--quiet"]
    for name, value in SMALL.items():
        words += ["--option", f"{name}={value}"]
    result = CliRunner().invoke(main, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert len(json.loads(Path("run/settings.json").read_text())["files"]["my_net.py"]) == 64
    monkeypatch.chdir(tmp_path.parent)
    trainer = Run.open(tmp_path / "run", trust=True).trainer()
    assert trainer.done == 10
    assert type(trainer.network.module).__name__ == "Net"
    assert len(trainer.play(10)) == 10
    Path(tmp_path / "my_net.py").write_text(FILE + "\n# edited\n", "utf-8")
    with pytest.warns(UserWarning, match=r"my_net\.py was edited"):
        Run.open(tmp_path / "run", trust=True).trainer()


def test_a_failure_before_the_first_test_leaves_the_folder_free_for_the_corrected_file(
    tmp_path, monkeypatch
):
    """The class returns the last state of torch's GRU, as many scripts do."""
    monkeypatch.chdir(tmp_path)
    words = ["train", "PerceptualDecisionMaking-v0", "--model", "my_net.py:Net", "--updates", "5"]
    words += ["--out", "run", "--quiet"]
    for name, value in SMALL.items():
        words += ["--option", f"{name}={value}"]
    last_state = FILE.replace("h, _ =", "h, last =").replace("(h), h", "(h), last")
    Path("my_net.py").write_text(last_state, "utf-8")
    failed = CliRunner().invoke(main, words)
    assert failed.exit_code == 2
    assert "activations (1, 20, 8)" in failed.output
    assert "not its last state" in failed.output
    assert not Path("run/settings.json").exists()
    Path("my_net.py").write_text(FILE, "utf-8")
    result = CliRunner().invoke(main, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output


def test_its_weights_are_those_of_the_seed(tasks):
    first, again, other = (
        OwnTrainer(tasks.Sides, module=nn_net(), seed=seed, **SMALL) for seed in (1, 1, 2)
    )
    weights = [next(trainer.network.parameters()) for trainer in (first, again, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def nn_net():
    class Net(nn.Module):
        def __init__(self, n_inputs, n_outputs):
            super().__init__()
            self.layer = nn.Linear(n_inputs, n_outputs)

        def forward(self, x):
            return self.layer(x)

    return Net


def test_a_rate_cost_needs_activations(tasks):
    trainer = OwnTrainer(tasks.Sides, module=nn_net(), rate_cost=0.1, **SMALL)
    with pytest.raises(NotSupportedError, match="outputs only"):
        trainer.update()


def test_what_is_no_network_is_refused(tasks):
    with pytest.raises(NotSupportedError, match=r"my_net\.py:Net"):
        OwnTrainer(tasks.Sides, module=int, **SMALL)
    with pytest.raises(NotSupportedError, match="whole trials"):
        OwnTrainer(tasks.Sides, module=nn_net(), seq_len=10, **SMALL)

    class Crossed(nn_net()):
        def forward(self, x):
            return super().forward(x).transpose(0, 1)

    with pytest.raises(InvalidValueError, match="batch_first"):
        as_network(Crossed(3, 2))(torch.zeros(4, 7, 3))
