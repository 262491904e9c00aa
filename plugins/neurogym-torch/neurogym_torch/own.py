"""`OwnNetwork`: any ``nn.Module`` as a `Network`; `OwnTrainer` trains one from a file."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from neurogym_core import InvalidValueError, NotSupportedError
from neurogym_core.tools import load_task
from neurogym_torch.networks import Network, State
from neurogym_torch.trainers import SupervisedTrainer


class OwnNetwork(Network):
    """Your own module as a `Network`.

    ``module(inputs)`` takes (B, T, n_inputs), and returns outputs (B, T, n_outputs), or a tuple of
    outputs and activations (B, T, hidden). An output must not depend on later inputs. When it
    plays, the module is called on every step with all inputs since the onset of the trial, so it
    needs no other interface.

    Args:
        module: the module.
    """

    def __init__(self, module: nn.Module) -> None:
        nn.Module.__init__(self)
        self.module, self.settings = module, {}
        self.returns_activations = True  # known after the first call

    def initial_state(self, batch: int) -> State:
        """Return empty inputs: (batch, 0, 0), and (batch,) their lengths."""
        device = next(self.parameters()).device
        return torch.zeros(batch, 0, 0, device=device), torch.zeros(batch, device=device).long()

    def forget(self, state: State, fresh: Tensor) -> State:
        """Return the state with that of fresh rows, (B,) bool, as before their first step."""
        seen, lengths = state
        return seen, torch.where(fresh, 0, lengths)

    def unroll(
        self, inputs: Tensor, state: State = None, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor, State]:
        rows, steps, units = inputs.shape
        seen, lengths = self.initial_state(rows) if state is None else state
        longest = int(lengths.max())
        at = lengths[:, None] + torch.arange(steps, device=inputs.device)
        whole = inputs.new_zeros(rows, longest + steps, units)
        if longest:
            whole[:, :longest] = seen[:, :longest]
        row = torch.arange(rows, device=inputs.device)[:, None]
        whole[row, at] = inputs
        outputs, hidden = self._called(whole)
        return outputs[row, at], hidden[row, at], (whole, lengths + steps)

    def _called(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        result = self.module(inputs)
        outputs, *rest = result if isinstance(result, tuple) else (result,)
        hidden = rest[0] if rest else outputs
        self.returns_activations = bool(rest)
        for name, value in (("outputs", outputs), ("activations", hidden)):
            if not isinstance(value, Tensor) or value.shape[:2] != inputs.shape[:2]:
                found = tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__
                raise InvalidValueError(
                    f"{type(self.module).__name__} was called with inputs {tuple(inputs.shape)} and"
                    f" returned {name} {found}. Expected (B, T, …) with the same B and T. Return"
                    " outputs, or (outputs, activations); of a recurrent layer of torch with"
                    " batch_first=True, its output of all steps, not its last state."
                )
        return outputs, hidden


def as_network(network: Any) -> Any:
    """Return an object with the methods of a `Network` unchanged, any other module as an
    `OwnNetwork`.
    """
    return network if hasattr(network, "unroll") else OwnNetwork(network)


class OwnTrainer(SupervisedTrainer):
    """Trains your own network: ``ngym train TASK --model my_net.py:Net``.

    The class is called with the numbers of inputs and outputs, and, if it takes a third argument,
    with `hidden`. `OwnNetwork` says how its instances are called.

    Args:
        module: ``"my_net.py:Net"``, or the class.
        common: further settings, as in `SupervisedTrainer`, without `seq_len`.
    """

    def __init__(self, tasks: Any, *, module: Any = "", **common: Any) -> None:
        if common.get("seq_len") is not None:
            raise NotSupportedError(
                "seq_len was given for a module, which keeps no state between batches."
                " Expected whole trials. Leave it out, or write the network as a subclass of"
                " neurogym_torch.Network."
            )
        found = load_task(module) if isinstance(module, str) else module
        if not (isinstance(found, type) and issubclass(found, nn.Module)):
            raise NotSupportedError(
                f"{module!r} was given as a network. Expected a class of torch.nn.Module. Give"
                " --model my_net.py:Net."
            )
        self._module = found
        super().__init__(tasks, **common)

    def _make_network(self, hidden: int) -> Network:
        sizes = [self.layout.n_inputs, self.layout.n_outputs, hidden]
        positional = [
            parameter
            for parameter in inspect.signature(self._module).parameters.values()
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        ]
        # A module draws its weights from the generator of torch.
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            return as_network(self._module(*sizes[: max(2, min(3, len(positional)))]))

    @property
    def sources(self) -> list[Path]:
        """Files whose hashes a run keeps."""
        return [Path(inspect.getfile(self._module.forward))]
