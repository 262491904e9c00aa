"""Networks in files of other programs give the same outputs there."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
import torch
from neurogym_torch import GRU, LSTM, LeakyRNN, LowRankRNN, export, load_network
from torch import nn

from neurogym_core import InvalidValueError

NETWORKS = {
    "leaky": lambda: LeakyRNN(3, 2, 8, dt=20, noise=0.1, output="sigmoid", seed=1),
    "with mechanisms": lambda: LeakyRNN(
        3, 2, 8, dt=20, adaptation=0.5, plasticity="mixed", areas=2, delay=40, tau=(20, 200),
        learn_tau=True, learn_start=True, dale=True, seed=1,
    ),
    "low rank": lambda: LowRankRNN(3, 2, 8, seed=1),
    "gru": lambda: GRU(3, 2, 8, seed=1),
    "lstm": lambda: LSTM(3, 2, 8, seed=1),
}  # fmt: skip


@pytest.mark.parametrize("name", NETWORKS)
def test_safetensors_are_read_again(name, tmp_path):
    pytest.importorskip("safetensors")
    network = NETWORKS[name]()
    export(network, tmp_path / "net.safetensors")
    again = load_network(tmp_path / "net.safetensors")
    assert {k: again.settings[k] for k in network.settings if k != "tau"} == {
        k: network.settings[k] for k in network.settings if k != "tau"
    }
    for key, value in network.state_dict().items():
        assert torch.equal(again.state_dict()[key], value)


@pytest.mark.skipif(sys.platform == "win32", reason="rights of POSIX")
def test_weights_have_the_rights_of_other_files(tmp_path):
    pytest.importorskip("safetensors")
    export(NETWORKS["gru"](), tmp_path / "net.safetensors")
    (tmp_path / "other").touch()
    modes = [(tmp_path / name).stat().st_mode for name in ("net.safetensors", "other")]
    assert modes[0] == modes[1]


def test_files_that_hold_no_network_are_refused(tmp_path):
    st = pytest.importorskip("safetensors.torch")
    (tmp_path / "cut.safetensors").write_bytes(b"\x10")
    st.save_file({"w": torch.zeros(2)}, str(tmp_path / "other.safetensors"))
    for name in ("cut", "other", "none"):
        with pytest.raises(InvalidValueError, match="no network of this package"):
            load_network(tmp_path / f"{name}.safetensors")
    for network, file in ((nn.Linear(2, 2), "net.onnx"), (NETWORKS["gru"](), "net.h5")):
        with pytest.raises(InvalidValueError, match=r"\.safetensors or \.onnx"):
            export(network, tmp_path / file)


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_steps_in_onnx_are_those_of_the_network(name, tmp_path):
    for module in ("onnx", "onnxscript"):
        pytest.importorskip(module)
    runtime = pytest.importorskip("onnxruntime")
    network = NETWORKS[name]()
    export(network, tmp_path / "net.onnx")
    network.noise = 0.0
    session = runtime.InferenceSession(tmp_path / "net.onnx")
    states = json.loads(session.get_modelmeta().custom_metadata_map["initial_state"])
    batch, steps = 5, 12  # not the batch of the export
    now = {key: np.tile(np.float32(value), (batch, 1)) for key, value in states.items()}
    inputs = torch.randn(batch, steps, 3, generator=torch.Generator().manual_seed(0))
    wanted, rates = network(inputs)
    for t in range(steps):
        said = session.run(None, {"inputs": inputs[:, t].numpy(), **now})
        assert np.allclose(said[0], wanted[:, t].detach(), atol=1e-5)
        assert np.allclose(said[1], rates[:, t].detach(), atol=1e-5)
        now = dict(zip(now, said[2:], strict=True))
