"""A network of spiking units, with the surrogate gradients of snnTorch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from neurogym_core import InvalidValueError
from neurogym_core.tools import optional
from neurogym_torch.networks import Network, State, _normal, _Rate
from neurogym_torch.trainers import _RateTrainer


class SpikingRNN(_Rate):
    """Network of leaky integrate-and-fire units.

    ::

        v[t] = (1 - alpha) v[t-1] - s[t-1] + W s[t-1] + W_in u[t] + b + sqrt(2 alpha) noise xi
        s[t] = 1 if v[t] > 1, else 0
        r[t] = (1 - alpha_s) r[t-1] + alpha_s s[t]
        y[t] = W_out r[t] + c

    with alpha = dt / tau and alpha_s = dt / tau_s: v is the membrane potential in units of the
    threshold, which a spike s lowers by 1, and r the filtered spikes, which the outputs read and
    the network returns as rates (spikes per step). The gradient of a spike is that of a fast
    sigmoid, 1 / (1 + slope |v - 1|)^2 (Zenke & Ganguli 2018, Neural Computation), as snnTorch
    computes it.

    Args:
        n_inputs, n_outputs: numbers of units.
        hidden: number of recurrent units.
        dt: ms per step, as in the task.
        tau: time constant of the membrane, ms.
        tau_s: time constant of the filter, ms.
        noise: SD of the noise of the membrane potential without spikes.
        slope: of the surrogate gradient; the larger, the more local.
        gain: scale of the recurrent weights.
        seed: seed of the weights.

    Raises:
        MissingDependencyError: snntorch is not installed.
    """

    def __init__(
        self,
        n_inputs: int,
        n_outputs: int,
        hidden: int = 128,
        *,
        dt: float = 20,
        tau: float = 20,
        tau_s: float = 100,
        noise: float = 0.0,
        slope: float = 25.0,
        gain: float = 0.5,
        seed: int = 0,
    ) -> None:
        settings = {"dt": dt, "tau": tau, "tau_s": tau_s, "noise": noise, "slope": slope}
        super().__init__(n_inputs, n_outputs, hidden, **settings, gain=gain, seed=seed)
        self._prepare(dt, tau, noise)
        if not dt <= tau_s or not slope > 0:
            raise InvalidValueError(
                f"SpikingRNN was given tau_s={tau_s!r} with dt={dt:g} ms, and slope={slope!r}."
                " Expected a time constant of at least dt, and a slope above 0. Give others."
            )
        self.alpha_s = dt / tau_s
        self.fires = optional("snntorch.surrogate", needed_for="A spiking network").fast_sigmoid(
            slope
        )
        generator = torch.Generator().manual_seed(seed)
        self.input_weights = _normal(generator, hidden, n_inputs, scale=1 / math.sqrt(n_inputs))
        self.bias = nn.Parameter(torch.zeros(hidden))
        scale = gain / math.sqrt(hidden)
        self.recurrent_weights = _normal(generator, hidden, hidden, scale=scale)
        self.output_weights = _normal(generator, n_outputs, hidden, scale=1 / math.sqrt(hidden))
        self.output_bias = nn.Parameter(torch.zeros(n_outputs))

    @property
    def noise_scale(self) -> float:
        """SD of the noise in a step, sqrt(2 alpha) * noise."""
        return math.sqrt(2 * self.alpha) * self.noise

    def initial_state(self, batch: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return v, s and r, zeros of shape (batch, hidden) each."""
        zeros = self.bias.new_zeros(batch, self.hidden)
        return zeros, zeros, zeros

    def _drive(self, inputs: Tensor) -> Tensor:
        return functional.linear(inputs, self.input_weights, self.bias)

    def _step(self) -> Callable[[State, Tensor], tuple[State, Tensor]]:
        alpha, alpha_s, weights = self.alpha, self.alpha_s, self.recurrent_weights.t()

        def step(state: State, drive: Tensor) -> tuple[State, Tensor]:
            v, s, r = state
            v = (1 - alpha) * v - s + torch.addmm(drive, s, weights)
            s = self.fires(v - 1)
            r = (1 - alpha_s) * r + alpha_s * s
            return (v, s, r), r

        return step

    def read(self, hidden: Tensor) -> Tensor:
        """Return the outputs for filtered spikes (B, T, hidden)."""
        return functional.linear(hidden, self.output_weights, self.output_bias)


class SpikingTrainer(_RateTrainer):
    """Trains a `SpikingRNN`.

    Args:
        tau, tau_s: time constants of membrane and filter, ms; at least the task's dt; None: 20 and
            100, or the task's dt if it is longer.
        noise, slope, gain: as in `SpikingRNN`.
        common: further settings, as in `SupervisedTrainer`.
    """

    network_class: type[Network] = SpikingRNN

    def __init__(
        self,
        tasks: Any,
        *,
        tau: float | None = None,
        tau_s: float | None = None,
        noise: float = 0.0,
        slope: float = 25.0,
        gain: float = 0.5,
        **common: Any,
    ) -> None:
        self._own = {"tau": tau, "tau_s": tau_s, "noise": noise, "slope": slope, "gain": gain}
        super().__init__(tasks, **common)

    def _make_network(self, hidden: int) -> Network:
        dt = self._dt()
        for name, usual in (("tau", 20.0), ("tau_s", 100.0)):
            if self._own[name] is None:
                self._own[name] = max(usual, dt)
        return super()._make_network(hidden)
