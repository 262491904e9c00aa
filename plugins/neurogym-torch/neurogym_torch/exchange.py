"""Networks in files of other programs: safetensors (weights), and ONNX (one step)."""

from __future__ import annotations

import copy
import json
import logging
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from neurogym_core import InvalidValueError
from neurogym_core.tools import optional, replacing
from neurogym_torch.networks import Network

SAFETENSORS, ONNX = ".safetensors", ".onnx"


def export(network: nn.Module, path: str | Path) -> None:
    """Write a network, as the name of the file says.

    ``.safetensors``: weights, with the class and settings as metadata, for `load_network` and any
    reader of safetensors. ``.onnx``: one step, as a function of the inputs (B, n_inputs) and the
    states (B, hidden) that returns outputs, rates and the states after it, without recurrent noise.
    The states before the first step are those of ``network.initial_state(1)``, in the metadata.

    Raises:
        InvalidValueError: another ending, or a network that is not of this package.
        MissingDependencyError: safetensors, or onnx and onnxscript, are not installed.
    """
    path = Path(path)
    if not isinstance(network, Network) or path.suffix not in (SAFETENSORS, ONNX):
        raise InvalidValueError(
            f"A network of the class {type(network).__name__} was to be written to {str(path)!r}."
            f" Expected a network of neurogym-torch, and a file {SAFETENSORS} or {ONNX}. Give one."
        )
    with replacing(path) as temporary:
        (_write_weights if path.suffix == SAFETENSORS else _write_step)(network, temporary)


def _write_weights(network: Network, path: Path) -> None:
    save = optional("safetensors.torch", needed_for="Writing safetensors").save
    saved = network.saved()
    metadata = {"network": saved["network"], "settings": json.dumps(saved["settings"])}
    weights = {name: one.detach().cpu().contiguous() for name, one in saved["weights"].items()}
    # Not by `save_file`, whose files can be read by their owner only.
    path.write_bytes(save(weights, metadata))


def read_safetensors(path: Path) -> dict[str, Any]:
    """Return the contents of a file of `export`, as `Network.saved` does.

    Raises:
        InvalidValueError: it cannot be read, or is of another program.
        MissingDependencyError: safetensors is not installed.
    """
    safe_open = optional("safetensors", needed_for="Reading safetensors").safe_open
    try:
        with safe_open(str(path), framework="pt") as file:
            metadata = file.metadata() or {}
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        settings = json.loads(metadata["settings"])
        return {"network": metadata["network"], "settings": settings, "weights": weights}
    except Exception as error:  # its errors are of Rust; a file may be missing, cut off, or another
        raise InvalidValueError(
            f"{str(path)!r} holds no network of this package: {error!r}. Expected a file that `ngym"
            " models export` wrote. Give one."
        ) from error


class _Step(nn.Module):
    """One step of a network, with the parts of its state as separate arguments."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, inputs: Tensor, *states: Tensor) -> tuple[Tensor, ...]:
        state = states[0] if len(states) == 1 else states
        outputs, rates, later = self.network.unroll(inputs[:, None], state)
        parts = (later,) if isinstance(later, Tensor) else tuple(later)
        # A copy of a state that is the rates, too: outputs of a graph have one name each.
        return outputs[:, 0], rates[:, 0], *(part + 0 for part in parts)


def _write_step(network: Network, path: Path) -> None:
    onnx = optional("onnx", needed_for="Writing ONNX")
    optional("onnxscript", needed_for="Writing ONNX")
    quiet: Any = copy.deepcopy(network).cpu().eval()
    if hasattr(quiet, "noise"):
        quiet.noise = 0.0
    first = quiet.initial_state(2)
    states = (first,) if isinstance(first, Tensor) else tuple(first)
    states = tuple(part.detach().clone() for part in states)
    names = [f"state_{number}" for number in range(len(states))]
    batch = torch.export.Dim("batch")
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # of torch, about its own exporter
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)
        program: Any = torch.onnx.export(
            _Step(quiet),
            (torch.zeros(2, network.n_inputs), *states),
            input_names=["inputs", *names],
            output_names=["outputs", "rates", *(f"next_{name}" for name in names)],
            dynamic_shapes=({0: batch}, tuple({0: batch} for _ in states)),
            dynamo=True,
            verbose=False,
        )
    model = program.model_proto
    start = {name: part[0].tolist() for name, part in zip(names, states, strict=True)}
    for key, value in (
        ("network", type(network).__name__),
        ("settings", json.dumps(network.settings)),
        ("initial_state", json.dumps(start)),
    ):
        model.metadata_props.add(key=key, value=value)
    onnx.save_model(model, str(path))
