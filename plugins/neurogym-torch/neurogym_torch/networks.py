"""Recurrent networks of neuroscience, with their equations, behind one interface.

``outputs, hidden = network(inputs)`` maps inputs (B, T, n_inputs) to outputs (B, T, n_outputs) and
firing rates, hidden (B, T, hidden). ``unroll(inputs, state)`` also takes and returns the state, to
continue a sequence. In the equations, u is the input, r the firing rates, y the output, alpha = dt
/ tau, and xi standard normal noise, independent over steps and units.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from neurogym_core import InvalidValueError
from neurogym_core.tools import replacing, unknown
from neurogym_torch.mechanisms import Adaptation, Mechanism, Plasticity, split

State = Any
"""State of a network after a step: a tensor (B, hidden), or a tuple of such tensors."""

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "softplus": functional.softplus,
    "relu": functional.relu,
    "tanh": torch.tanh,
}
OUTPUTS = ("linear", "sigmoid")
INITIAL = ("gaussian", "orthogonal", "diagonal")
"""Functions of the outputs, and recurrent weights before training, of a `LeakyRNN`."""


class Network(nn.Module, ABC):
    """Base of the networks; a subclass defines `unroll` and `initial_state`.

    Args:
        n_inputs, n_outputs: numbers of units.
        hidden: number of recurrent units.
        settings: other arguments of the subclass; saved, and shown in its repr.
    """

    def __init__(self, n_inputs: int, n_outputs: int, hidden: int, **settings: Any) -> None:
        super().__init__()
        for name, value in (("n_inputs", n_inputs), ("n_outputs", n_outputs), ("hidden", hidden)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InvalidValueError(
                    f"{type(self).__name__} was given {name}={value!r}; it needs a whole number, at"
                    " least 1."
                )
        self.n_inputs, self.n_outputs, self.hidden = n_inputs, n_outputs, hidden
        self.settings = {"n_inputs": n_inputs, "n_outputs": n_outputs, "hidden": hidden, **settings}

    def forward(
        self, inputs: Tensor, state: State = None, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return outputs (B, T, n_outputs) and firing rates (B, T, hidden); see `unroll`."""
        outputs, hidden, _ = self.unroll(inputs, state, generator)
        return outputs, hidden

    @abstractmethod
    def unroll(
        self, inputs: Tensor, state: State = None, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor, State]:
        """Return outputs, firing rates, and the state after the last step.

        Args:
            inputs: (B, T, n_inputs).
            state: the state before the first step; None: `initial_state`.
            generator: generator of the recurrent noise, if there is any; None: torch's default.
        """

    @abstractmethod
    def initial_state(self, batch: int) -> State:
        """Return the state of `batch` rows before the first step."""

    def forget(self, state: State, fresh: Tensor) -> State:
        """Return the state with `initial_state` in the fresh rows, (B,) bool."""
        first = self.initial_state(len(fresh))
        if isinstance(state, Tensor):
            return torch.where(fresh[:, None], first, state)
        pairs = zip(first, state, strict=True)
        return tuple(torch.where(fresh[:, None], one, other) for one, other in pairs)

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self.settings.items())

    def save(self, path: str | Path) -> None:
        """Write weights and settings, for `load_network`."""
        with replacing(path) as temporary:
            torch.save(self.saved(), temporary)

    def saved(self) -> dict[str, Any]:
        """Return the contents of a saved file: name of the class, settings, weights."""
        return {
            "network": type(self).__name__,
            "settings": self.settings,
            "weights": self.state_dict(),
        }


class _Rate(Network):
    """Base of networks that are unrolled step by step; a subclass defines one step."""

    def _prepare(self, dt: float, tau: float, noise: float) -> None:
        if not 0 < dt <= tau:
            raise InvalidValueError(
                f"{type(self).__name__} was given dt={dt!r} and tau={tau!r} (ms); dt must be above"
                " 0 and not above tau, or a step overshoots. Use a smaller dt (for the task too),"
                " or a larger tau."
            )
        if noise < 0:
            raise InvalidValueError(
                f"{type(self).__name__} was given noise={noise!r}; it needs a standard deviation, 0"
                " or more."
            )
        self.alpha, self.noise = dt / tau, noise

    def initial_state(self, batch: int) -> Tensor:
        """Return zeros, (batch, hidden)."""
        return next(self.parameters()).new_zeros(batch, self.hidden)

    def unroll(
        self, inputs: Tensor, state: State = None, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor, State]:
        state = self.initial_state(len(inputs)) if state is None else state
        step = self._step()
        rates = []
        for now in self.drive(inputs, generator).unbind(dim=1):
            state, rate = step(state, now)
            rates.append(rate)
        hidden = torch.stack(rates, dim=1)
        return self.read(hidden), hidden, state

    def drive(self, inputs: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Return the external input of the units with its noise, (B, T, hidden)."""
        drive = self._drive(inputs)
        if not self.noise:
            return drive
        return drive + self.noise_scale * torch.randn(
            drive.shape, generator=generator, device=drive.device
        )

    @property
    def noise_scale(self) -> float:
        """SD of the noise within the brackets, sqrt(2 / alpha) * noise.

        With this scale, the effect of the noise does not depend on dt.
        """
        return math.sqrt(2 / self.alpha) * self.noise

    def _drive(self, inputs: Tensor) -> Tensor:
        """Return the external input of the units, (B, T, hidden)."""
        raise NotImplementedError

    def _step(self) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """Return a function (state, drive) -> (state, rates).

        It holds everything that is the same on all steps, computed once.
        """
        raise NotImplementedError

    def read(self, hidden: Tensor) -> Tensor:
        """Return the outputs for firing rates (B, T, hidden)."""
        raise NotImplementedError


class LeakyRNN(_Rate):
    """Leaky ("vanilla", continuous-time) rate network.

    ::

        tau dr/dt = -r + f(W r + W_in u + b + sqrt(2 tau) noise xi)
        r[t] = (1 - alpha) r[t-1] + alpha f(W r[t-1] + W_in u[t] + b + sqrt(2 / alpha) noise xi)
            y[t] = g(W_out r[t] + c)

    as in Yang et al. (2019), doi:10.1038/s41593-018-0310-2. With `dale` (after Song, Yang & Wang
    2016, doi:10.1371/journal.pcbi.1004792) every unit is excitatory or inhibitory: W = |W_free|
    diag(+1 or -1), no unit connects to itself, and W_out = |W_free_out| reads the excitatory units
    only. With `sparsity`, that fraction of the recurrent connections is absent.

    Units can have further mechanisms (`neurogym_torch.mechanisms`): separate time constants,
    adaptation, short-term plasticity of their synapses. With `areas`, the units are divided into
    areas of equal size in a row: the input reaches the first, the output reads the last, and of the
    connections between areas a fraction `between` exists, in which rates arrive after `delay`.

    Args:
        n_inputs, n_outputs: numbers of units.
        hidden: number of recurrent units.
        dt: ms per step, as in the task.
        tau: time constant of the units, ms; (low, high): one per unit, uniform in its logarithm.
        learn_tau: whether the time constants are trained; they stay above dt.
        activation: f, "relu", "softplus" (Yang et al.) or "tanh" (not with `dale`, which needs
            rates that are positive).
        noise: SD of the recurrent noise.
        dale: whether units are either excitatory or inhibitory.
        excitatory: fraction of the units that are excitatory, with `dale`.
        sparsity: fraction of the recurrent connections that are absent, in [0, 1).
        connections: which connections exist, (hidden, hidden) of 0 and 1, (to, from), or the name
            of a file of NumPy (.npy); besides `sparsity`.
        adaptation, adaptation_tau: strength and time constant (ms) of spike-frequency adaptation.
        plasticity: short-term plasticity: "none", "facilitating", "depressing" or "mixed".
        areas: number of areas.
        between: fraction of the connections between areas that exist.
        delay: time that rates take between areas, ms, a multiple of dt.
        learn_start: whether the rates before the first step, f(s), are trained; else they are 0.
        output: g, "linear" or "sigmoid".
        initial: W before training: "gaussian"; "orthogonal"; or "diagonal", each unit connected to
            itself alone (not with `dale`), as in Yang et al.
        gain: initial spectral radius of W. With the default and "relu", activity fades slowly,
            which helps to learn delays, and stays bounded: in all of 20 seeds over 300 steps, but
            not in all with 1.3. "softplus" may diverge before its memory is as long.
        seed: seed of the weights and of the connectivity.
    """

    sign: Tensor
    connected: Tensor
    far: Tensor
    reads_input: Tensor
    read_out: Tensor
    log_tau_given: Tensor

    def __init__(
        self,
        n_inputs: int,
        n_outputs: int,
        hidden: int = 128,
        *,
        dt: float = 100,
        tau: float | Sequence[float] = 100,
        learn_tau: bool = False,
        activation: str = "relu",
        noise: float = 0.0,
        dale: bool = False,
        excitatory: float = 0.8,
        sparsity: float = 0.0,
        connections: Any = None,
        adaptation: float = 0.0,
        adaptation_tau: float = 500.0,
        plasticity: str = "none",
        areas: int = 1,
        between: float = 0.2,
        delay: float = 0.0,
        learn_start: bool = False,
        output: str = "linear",
        initial: str = "gaussian",
        gain: float = 1.2,
        seed: int = 0,
    ) -> None:
        taus = (float(tau),) * 2 if isinstance(tau, int | float) else tuple(map(float, tau))
        super().__init__(
            n_inputs,
            n_outputs,
            hidden,
            dt=dt,
            tau=tau if isinstance(tau, int | float) else list(taus),
            learn_tau=learn_tau,
            activation=activation,
            noise=noise,
            dale=dale,
            excitatory=excitatory,
            sparsity=sparsity,
            adaptation=adaptation,
            adaptation_tau=adaptation_tau,
            plasticity=plasticity,
            areas=areas,
            between=between,
            delay=delay,
            learn_start=learn_start,
            output=output,
            initial=initial,
            gain=gain,
            seed=seed,
        )
        if len(taus) != 2 or taus[0] > taus[1]:
            raise InvalidValueError(
                f"LeakyRNN was given tau={tau!r}. Expected a time constant in ms, or (low, high)."
                " Give one of them."
            )
        self._prepare(dt, taus[0], noise)
        self._check(activation, dale, excitatory, sparsity)
        self._check_areas(areas, between, delay, dt)
        self._check_forms(output, initial, dale)
        self.sigmoid = output == "sigmoid"
        self.f = ACTIVATIONS[activation]
        self.dale = dale
        generator = torch.Generator().manual_seed(seed)
        self.input_weights = _normal(generator, hidden, n_inputs, scale=1 / math.sqrt(n_inputs))
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.output_free = _normal(generator, n_outputs, hidden, scale=1 / math.sqrt(hidden))
        self.output_bias = nn.Parameter(torch.zeros(n_outputs))
        self.register_buffer(
            "sign", self._signs(hidden, excitatory) if dale else torch.ones(hidden)
        )
        mask = self._connections(generator, sparsity)
        if connections is not None:
            mask = mask * _mask_of(connections, hidden)
        own = torch.Generator().manual_seed(seed + 1)  # of the options
        area = torch.arange(hidden) * areas // hidden
        apart = area[:, None] != area
        far = (torch.rand(hidden, hidden, generator=own) < between) & apart
        self.register_buffer("connected", mask * (far | ~apart))
        self.register_buffer("far", far.float())
        self.register_buffer("reads_input", (area == 0).float())
        self.register_buffer("read_out", (area == areas - 1).float())
        self.areas, self.steps_between = areas, round(delay / dt)
        self.recurrent_free = nn.Parameter(self._first_weights(generator, initial, gain))
        self.mechanisms: list[Mechanism] = []
        if adaptation:
            self.mechanisms.append(Adaptation(dt, adaptation, adaptation_tau))
        self._plasticity, self._dt = plasticity, dt
        if plasticity != "none":
            self.mechanisms.append(Plasticity(dt, plasticity, hidden))
        # Time constants are dt + exp(free): above dt, whatever a training does.
        self.log_tau: Tensor | None = None
        if learn_tau or taus[0] < taus[1]:
            low, high = (math.log(max(one - dt, dt * 1e-3)) for one in taus)
            free = low + (high - low) * torch.rand(hidden, generator=own)
            if learn_tau:
                self.log_tau = nn.Parameter(free)
            else:
                self.register_buffer("log_tau_given", free)
                self.log_tau = self.log_tau_given
        # Above 0, where "relu" has a gradient.
        self.start = nn.Parameter(torch.full((hidden,), 0.01)) if learn_start else None

    @property
    def plain(self) -> bool:
        """Whether its state are the rates alone, with one time constant and from 0."""
        return not (self.mechanisms or self.steps_between) and self._one_alpha

    @property
    def _one_alpha(self) -> bool:
        return self.log_tau is None and self.start is None

    @property
    def rates_of_change(self) -> float | Tensor:
        """alpha = dt / tau, one number, or (hidden,)."""
        if self.log_tau is None:
            return self.alpha
        return self._dt / (self._dt + self.log_tau.exp())

    def _check_areas(self, areas: int, between: float, delay: float, dt: float) -> None:
        if not 1 <= areas <= self.hidden or not 0 <= between <= 1:
            raise InvalidValueError(
                f"LeakyRNN was given areas={areas!r}, between={between!r}. Expected at least one"
                f" area and at most {self.hidden}, and a fraction from 0 to 1. Give others."
            )
        steps = delay / dt
        if steps < 0 or abs(steps - round(steps)) > 1e-6 or (steps and areas == 1):
            raise InvalidValueError(
                f"LeakyRNN was given delay={delay!r} with dt={dt:g} ms and areas={areas}. Expected"
                " a multiple of dt, and areas to pass between. Give another."
            )

    def initial_state(self, batch: int) -> State:
        """Return the state before the first step: rates (batch, hidden), and with mechanisms or
        delays a tuple of them, the variables, and the rates of the last steps.
        """
        zeros = self.recurrent_free.new_zeros(batch, self.hidden)
        first = zeros if self.start is None else self.f(self.start).expand(batch, self.hidden)
        if not (self.mechanisms or self.steps_between):
            return first
        variables = [part for one in self.mechanisms for part in one.start(zeros)]
        return (first, *variables, *([zeros] * self.steps_between))

    def _check(self, activation: str, dale: bool, excitatory: float, sparsity: float) -> None:
        if activation not in ACTIVATIONS:
            raise unknown("activation", activation, ACTIVATIONS, of="LeakyRNN")
        if dale and activation == "tanh":
            raise InvalidValueError(
                "LeakyRNN was given dale=True and activation='tanh', whose rates can be negative."
                " Use 'softplus' or 'relu'."
            )
        for name, value, fits in (
            ("sparsity", sparsity, 0 <= sparsity < 1),
            ("excitatory", excitatory, 0 < excitatory <= 1),
        ):
            if not fits:
                raise InvalidValueError(
                    f"LeakyRNN was given {name}={value!r}; it needs a fraction between 0 and 1."
                )

    @staticmethod
    def _check_forms(output: str, initial: str, dale: bool) -> None:
        for name, value, known in (("output", output, OUTPUTS), ("initial", initial, INITIAL)):
            if value not in known:
                raise unknown(name, value, known, of="LeakyRNN")
        if dale and initial == "diagonal":
            raise InvalidValueError(
                "LeakyRNN was given dale=True and initial='diagonal', but no unit of such a network"
                " connects to itself. Use 'gaussian' or 'orthogonal'."
            )

    @staticmethod
    def _signs(hidden: int, excitatory: float) -> Tensor:
        signs = torch.ones(hidden)
        signs[max(round(hidden * excitatory), 1) :] = -1
        return signs

    def _connections(self, generator: torch.Generator, sparsity: float) -> Tensor:
        """Return which connections exist, (hidden, hidden) of 0 and 1."""
        mask = (torch.rand(self.hidden, self.hidden, generator=generator) >= sparsity).float()
        return mask * (1 - torch.eye(self.hidden)) if self.dale else mask

    def _first_weights(self, generator: torch.Generator, initial: str, gain: float) -> Tensor:
        if initial == "diagonal":
            return gain * torch.eye(self.hidden)
        if initial == "orthogonal":
            free = _orthogonal(generator, self.hidden)
        else:
            free = torch.randn(self.hidden, self.hidden, generator=generator)
        if self.dale:  # stronger weights of the fewer inhibitory units balance excitation
            few = (self.sign < 0).sum().clamp_min(1)
            free = free.abs() * torch.where(
                self.sign < 0, (self.sign > 0).sum() / few, torch.ones(())
            )
        now = (free.abs() * self.sign if self.dale else free) * self.connected
        radius = torch.linalg.eigvals(now).abs().max()
        return free * (gain / radius.clamp_min(1e-6))

    @property
    def recurrent_weights(self) -> Tensor:
        """W, (to, from), with signs and absent connections."""
        free = self.recurrent_free.abs() * self.sign if self.dale else self.recurrent_free
        return free * self.connected

    @property
    def output_weights(self) -> Tensor:
        """W_out, (n_outputs, hidden); 0 for units that it does not read."""
        free = self.output_free.abs() * (self.sign > 0) if self.dale else self.output_free
        return free if self.areas == 1 else free * self.read_out

    def _drive(self, inputs: Tensor) -> Tensor:
        weights = self.input_weights
        weights = weights if self.areas == 1 else weights * self.reads_input[:, None]
        return functional.linear(inputs, weights, self.bias)

    def _step(self) -> Callable[[Any, Tensor], tuple[Any, Tensor]]:
        whole, alpha, f = self.recurrent_weights, self.rates_of_change, self.f
        if not (self.mechanisms or self.steps_between):
            weights = whole.t()

            def step(r: Tensor, drive: Tensor) -> tuple[Tensor, Tensor]:
                r = (1 - alpha) * r + alpha * f(torch.addmm(drive, r, weights))
                return r, r

            return step
        late = self.steps_between
        near = (whole * (1 - self.far) if late else whole).t()
        far = (whole * self.far).t()
        mechanisms = [self._here(one) for one in self.mechanisms]

        def step_with(state: tuple[Tensor, ...], drive: Tensor) -> tuple[Any, Tensor]:
            r, *rest = state
            past = rest[len(rest) - late :]
            own = split(mechanisms, rest)
            sent = r
            for one, variables in zip(mechanisms, own, strict=True):
                sent = one.sent(sent, variables)
                more = one.drive(variables)
                drive = drive if more is None else drive + more
            total = torch.addmm(drive, sent, near)
            if late:  # the rates of `late` steps before those that arrive from the own area
                total = torch.addmm(total, past[0], far)
            later = [
                one.after(r, variables) for one, variables in zip(mechanisms, own, strict=True)
            ]
            r = (1 - alpha) * r + alpha * f(total)
            kept = [*past[1:], sent] if late else []
            return (r, *(part for parts in later for part in parts), *kept), r

        return step_with

    def _here(self, one: Mechanism) -> Mechanism:
        """Return a mechanism on the device of the network."""
        device = self.recurrent_free.device
        if isinstance(one, Plasticity) and one.use.device != device:
            return Plasticity(self._dt, self._plasticity, self.hidden, device)
        return one

    def read(self, hidden: Tensor) -> Tensor:
        outputs = functional.linear(hidden, self.output_weights, self.output_bias)
        return torch.sigmoid(outputs) if self.sigmoid else outputs


class LowRankRNN(_Rate):
    """Rate network with a recurrent weight matrix of low rank.

    ::

        tau dx/dt = -x + m n' r / N + W_in u + b + sqrt(2 tau) noise xi,   r = tanh(x)
        x[t] = (1 - alpha) x[t-1]
               + alpha (m n' r[t-1] / N + W_in u[t] + b + sqrt(2 / alpha) noise xi)
        y[t] = W_out r[t] / N + c

    with m and n of shape (N, rank): the dynamics remain in the space spanned by m and W_in. After
    Mastrogiuseppe & Ostojic (2018), doi:10.1016/j.neuron.2018.07.003.

    Args:
        n_inputs, n_outputs: numbers of units.
        hidden: number of recurrent units, N.
        rank: rank of the recurrent weights.
        dt, tau: ms per step, and time constant, ms.
        noise: SD of the recurrent noise.
        seed: seed of the weights.
    """

    def __init__(
        self,
        n_inputs: int,
        n_outputs: int,
        hidden: int = 128,
        *,
        rank: int = 2,
        dt: float = 100,
        tau: float = 100,
        noise: float = 0.0,
        seed: int = 0,
    ) -> None:
        super().__init__(
            n_inputs, n_outputs, hidden, rank=rank, dt=dt, tau=tau, noise=noise, seed=seed
        )
        self._prepare(dt, tau, noise)
        if not 1 <= rank <= hidden:
            raise InvalidValueError(
                f"LowRankRNN was given rank={rank!r}; it needs at least 1 and at most"
                f" hidden={hidden}."
            )
        generator = torch.Generator().manual_seed(seed)
        self.m = _normal(generator, hidden, rank, scale=1)
        self.n = _normal(generator, hidden, rank, scale=1)
        self.input_weights = _normal(generator, hidden, n_inputs, scale=1)
        self.bias = nn.Parameter(torch.zeros(hidden))
        # The readout is divided by N, so the initial outputs are about 4 / sqrt(N).
        self.output_weights = _normal(generator, n_outputs, hidden, scale=4)
        self.output_bias = nn.Parameter(torch.zeros(n_outputs))

    @property
    def recurrent_weights(self) -> Tensor:
        """m n' / N, (to, from)."""
        return self.m @ self.n.t() / self.hidden

    def _drive(self, inputs: Tensor) -> Tensor:
        return functional.linear(inputs, self.input_weights, self.bias)

    def _step(self) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
        alpha, m, n = self.alpha, self.m.t(), self.n / self.hidden

        def step(x: Tensor, drive: Tensor) -> tuple[Tensor, Tensor]:
            x = (1 - alpha) * x + alpha * torch.addmm(drive, torch.tanh(x) @ n, m)
            return x, torch.tanh(x)

        return step

    def read(self, hidden: Tensor) -> Tensor:
        return functional.linear(hidden, self.output_weights / self.hidden, self.output_bias)


class _Gated(Network):
    """Base of networks that torch computes.

    Weights are drawn from U(-1, 1) / sqrt(hidden), with a seeded generator.
    """

    layer: Callable[..., nn.RNNBase]

    def __init__(
        self, n_inputs: int, n_outputs: int, hidden: int = 128, *, seed: int = 0, **settings: Any
    ) -> None:
        super().__init__(n_inputs, n_outputs, hidden, seed=seed, **settings)
        # Made without values, because torch would draw them from its global generator.
        self.recurrent = self.layer(n_inputs, hidden, batch_first=True, device="meta").to_empty(
            device="cpu"
        )
        self.readout = nn.Linear(hidden, n_outputs, device="meta").to_empty(device="cpu")
        generator = torch.Generator().manual_seed(seed)
        bound = 1 / math.sqrt(hidden)
        with torch.no_grad():
            for weights in self.parameters():
                weights.uniform_(-bound, bound, generator=generator)

    def read(self, hidden: Tensor) -> Tensor:
        """Return the outputs for firing rates (B, T, hidden)."""
        return self.readout(hidden)


class GRU(_Gated):
    """Gated recurrent unit, Cho et al. (2014), doi:10.3115/v1/D14-1179, as torch computes it.

    ::

        z = sigmoid(W_z u[t] + U_z r[t-1] + b_z)            update gate
        q = sigmoid(W_q u[t] + U_q r[t-1] + b_q)            reset gate
        c = tanh(W_c u[t] + b_c + q * (U_c r[t-1] + d_c))   candidate
        r[t] = (1 - z) * c + z * r[t-1]
        y[t] = W_out r[t] + b

    The initial weights are chosen for memory over `memory` steps: the matrices U are orthogonal
    (Saxe et al. 2014, arXiv:1312.6120), and the biases of the update gate are drawn so that the
    time constants of the units are uniform between 2 steps and `memory` (Tallec & Ollivier 2018,
    arXiv:1804.11188). The matrices W are drawn from U(-1, 1) sqrt(6 / (n_inputs + hidden)), the
    readout from U(-1, 1) / sqrt(hidden), and the other biases are 0.

    Args:
        n_inputs, n_outputs: numbers of units.
        hidden: number of recurrent units.
        memory: longest initial time constant, in steps, at least 2.
        seed: seed of the weights.
    """

    layer = nn.GRU

    def __init__(
        self,
        n_inputs: int,
        n_outputs: int,
        hidden: int = 128,
        *,
        memory: float = 30.0,
        seed: int = 0,
    ) -> None:
        super().__init__(n_inputs, n_outputs, hidden, memory=memory, seed=seed)
        if not 2 <= memory < math.inf:
            raise InvalidValueError(
                f"GRU was given memory={memory!r}. Expected a number of steps, at least 2. Give one"
                " near the longest delay of the task."
            )
        layer: Any = self.recurrent
        generator = torch.Generator().manual_seed(seed + 1)
        bound = math.sqrt(6 / (n_inputs + hidden))
        with torch.no_grad():
            layer.weight_ih_l0.uniform_(-bound, bound, generator=generator)
            for weights in layer.weight_hh_l0.split(hidden):
                weights.copy_(_orthogonal(generator, hidden))
            layer.bias_ih_l0.zero_()
            layer.bias_hh_l0.zero_()
            constants = 2 + (memory - 2) * torch.rand(hidden, generator=generator)
            layer.bias_hh_l0[hidden : 2 * hidden] = torch.log(constants - 1)

    def initial_state(self, batch: int) -> Tensor:
        """Return zeros, (batch, hidden)."""
        return self.readout.weight.new_zeros(batch, self.hidden)

    def unroll(
        self, inputs: Tensor, state: State = None, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor, State]:
        state = self.initial_state(len(inputs)) if state is None else state
        hidden, last = self.recurrent(inputs, state.unsqueeze(0))
        return self.read(hidden), hidden, last[0]


class LSTM(_Gated):
    """Long short-term memory with forget gate, Hochreiter & Schmidhuber (1997).

    Source: doi:10.1162/neco.1997.9.8.1735.

    ::

        i, f, o = sigmoid(W u[t] + U r[t-1] + b)   input, forget, output gate, with separate weights
        g = tanh(W_g u[t] + U_g r[t-1] + b_g)
        c[t] = f * c[t-1] + i * g
        r[t] = o * tanh(c[t])
        y[t] = W_out r[t] + b

    Args:
        n_inputs, n_outputs: numbers of units.
        hidden: number of recurrent units.
        seed: seed of the weights.
    """

    layer = nn.LSTM

    def initial_state(self, batch: int) -> tuple[Tensor, Tensor]:
        """Return r and c, zeros of shape (batch, hidden) each."""
        zeros = self.readout.weight.new_zeros(batch, self.hidden)
        return zeros, zeros

    def unroll(
        self, inputs: Tensor, state: State = None, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor, State]:
        state = self.initial_state(len(inputs)) if state is None else state
        hidden, (r, c) = self.recurrent(inputs, tuple(part.unsqueeze(0) for part in state))
        return self.read(hidden), hidden, (r[0], c[0])


CHECKPOINT = "checkpoint.pt"
"""File of a run with the state of its training, the network included."""

NETWORKS: dict[str, type[Network]] = {
    cls.__name__: cls for cls in (LeakyRNN, LowRankRNN, GRU, LSTM)
}
"""The networks of this package by name."""


def load_network(
    path: str | Path,
    device: torch.device | str = "cpu",
    known: dict[str, type[Network]] | None = None,
) -> Network:
    """Return a saved network, without running code from the file.

    Args:
        path: a file that `Network.save` or `export` (.safetensors) wrote, or a run's folder or
            checkpoint.pt.
        device: device of the network.
        known: further classes by name, for networks of other packages.

    Raises:
        UnknownNameError: the class of the network is unknown.
        InvalidValueError: the file does not exist, or holds no network.
    """
    path = Path(path)
    if path.suffix == ".safetensors":
        from neurogym_torch.exchange import read_safetensors  # a cycle: it knows the networks

        saved = read_safetensors(path)
    else:
        saved = loaded(path / CHECKPOINT if path.is_dir() else path, device)
    saved = saved["network"] if isinstance(saved.get("network"), dict) else saved
    if not {"network", "settings", "weights"} <= set(saved):
        raise InvalidValueError(
            f"{str(path)!r} holds no network. Expected a file that Network.save() wrote, or a run"
            " of `ngym train --model`. Give one of these."
        )
    from neurogym_torch.spiking import SpikingRNN  # a cycle: it is a network, too

    classes = {**NETWORKS, SpikingRNN.__name__: SpikingRNN, **(known or {})}
    if saved["network"] not in classes:
        raise unknown("network", saved["network"], classes, of=str(path))
    network = classes[saved["network"]](**saved["settings"]).to(device)
    network.load_state_dict(saved["weights"])
    return network


def loaded(path: Path, device: torch.device | str) -> dict[str, Any]:
    """Return the contents of a checkpoint, without running code from the file.

    Raises:
        InvalidValueError: the file does not exist, was cut off, or is no checkpoint.
    """
    try:
        saved = torch.load(path, map_location=device, weights_only=True)
    except FileNotFoundError:
        raise InvalidValueError(
            f"There is no file {str(path)!r}. Expected a checkpoint. Restore it from a copy, or"
            " train again into another folder."
        ) from None
    except (RuntimeError, EOFError, UnpicklingError, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:100]
        raise InvalidValueError(
            f"{str(path)!r} cannot be read as a checkpoint: {reason}. The file was probably cut"
            " off. Restore it from a copy, or train again into another folder."
        ) from error
    if not isinstance(saved, dict):
        raise InvalidValueError(
            f"{str(path)!r} holds {type(saved).__name__}. Expected the dict of a checkpoint. Give"
            " a file that `ngym train` or Network.save() wrote."
        )
    return saved


def _mask_of(given: Any, hidden: int) -> Tensor:
    """Return which connections exist, (hidden, hidden), from an array or the name of a file."""
    if isinstance(given, str | Path):
        try:
            given = np.load(given, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise InvalidValueError(
                f"connections={str(given)!r} cannot be read: {error}. Expected a file that"
                " numpy.save wrote. Give another."
            ) from error
    mask = torch.as_tensor(np.asarray(given, float), dtype=torch.float32)
    if mask.shape != (hidden, hidden) or not torch.isin(mask, torch.tensor([0.0, 1.0])).all():
        raise InvalidValueError(
            f"connections has the shape {tuple(mask.shape)}. Expected ({hidden}, {hidden}) of 0 and"
            " 1, (to, from). Give one entry per pair of units."
        )
    return mask


def _orthogonal(generator: torch.Generator, size: int) -> Tensor:
    """Return an orthogonal matrix, uniform over all of them, (size, size)."""
    q, r = torch.linalg.qr(torch.randn(size, size, generator=generator))
    return q * r.diagonal().sign()  # without the signs, the result of QR is not uniform


def _normal(generator: torch.Generator, *shape: int, scale: float) -> nn.Parameter:
    return nn.Parameter(torch.randn(*shape, generator=generator) * scale)
