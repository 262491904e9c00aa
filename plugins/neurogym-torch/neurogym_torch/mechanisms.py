"""Mechanisms of the units of a `LeakyRNN`: variables beside the rate, with their equations.

A mechanism is a function with parameters. It adds variables to each unit, which follow the rates,
and changes the output of the unit to others, or its drive. Mechanisms are composed: a network has a
list of them, none by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from neurogym_core import InvalidValueError

Variables = tuple[Tensor, ...]
"""The variables of a mechanism, (B, hidden) each."""


class Mechanism(Protocol):
    """Variables of the units, and their effects.

    Attributes:
        count: number of variables per unit.
    """

    count: int

    def start(self, zeros: Tensor) -> Variables:
        """Return the variables before the first step, for rates of 0, (B, hidden)."""
        ...

    def sent(self, rates: Tensor, variables: Variables) -> Tensor:
        """Return the values that other units receive in place of the rates, (B, hidden)."""
        ...

    def drive(self, variables: Variables) -> Tensor | None:
        """Return the addition to the drive of the units, (B, hidden); None: there is none."""
        ...

    def after(self, rates: Tensor, variables: Variables) -> Variables:
        """Return the variables after a step, from the rates and variables before it."""
        ...


class Adaptation:
    """Spike-frequency adaptation: a unit is inhibited by its own recent rate.

    ::

        tau_a da/dt = -a + r;   the drive of the unit is reduced by strength * a

    Args:
        dt: ms.
        strength: of the inhibition, 0 or more.
        tau: tau_a, ms, at least dt.
    """

    count = 1

    def __init__(self, dt: float, strength: float, tau: float) -> None:
        if strength < 0 or tau < dt:
            raise InvalidValueError(
                f"adaptation={strength!r}, adaptation_tau={tau!r} was given at dt={dt:g} ms."
                " Expected a strength of 0 or more, and a time constant of at least dt. Give"
                " others."
            )
        self.strength, self.alpha = strength, dt / tau

    def start(self, zeros: Tensor) -> Variables:
        """Return no adaptation."""
        return (zeros,)

    def sent(self, rates: Tensor, variables: Variables) -> Tensor:
        """Return the rates."""
        return rates

    def drive(self, variables: Variables) -> Tensor:
        """Return the inhibition."""
        return -self.strength * variables[0]

    def after(self, rates: Tensor, variables: Variables) -> Variables:
        """Return a after a step."""
        return (torch.lerp(variables[0], rates, self.alpha),)


FACILITATING, DEPRESSING = (0.15, 200.0, 1500.0), (0.45, 1500.0, 200.0)
"""U, tau_x and tau_u (ms) of the two kinds of synapses, as Masse et al. (2019) give them
(recalled, not compared with the paper)."""


class Plasticity:
    """Short-term synaptic plasticity.

    Mongillo, Barak & Tsodyks (2008), doi:10.1126/science.1150769::

        dx/dt = (1 - x) / tau_x - u x r
        du/dt = (U - u) / tau_u + U (1 - u) r;   other units receive x u r

    with r per second: x is the available part of the transmitter, u the used fraction. In a network
    with it, memory can outlast the activity (Masse et al. 2019, doi:10.1038/s41593-019-0414-3).

    Args:
        dt: ms.
        kind: "facilitating", "depressing", or "mixed": every other unit.
        hidden: number of units.
        device: of the constants.
    """

    count = 2
    KINDS = ("facilitating", "depressing", "mixed")

    def __init__(self, dt: float, kind: str, hidden: int, device: Any = None) -> None:
        if kind not in self.KINDS:
            raise InvalidValueError(
                f"plasticity={kind!r} was given. Expected one of {', '.join(self.KINDS)}, or"
                " 'none'. Give one of them."
            )
        odd = torch.arange(hidden, device=device) % 2 == 1
        depressing = odd if kind == "mixed" else torch.full_like(odd, kind == "depressing")
        pairs = zip(FACILITATING, DEPRESSING, strict=True)
        self.use, tau_x, tau_u = (torch.where(depressing, two, one) for one, two in pairs)
        self.seconds = dt / 1000
        self.recover, self.forget = dt / tau_x, dt / tau_u

    def start(self, zeros: Tensor) -> Variables:
        """Return x = 1 and u = U."""
        return torch.ones_like(zeros), self.use.expand_as(zeros)

    def sent(self, rates: Tensor, variables: Variables) -> Tensor:
        """Return x u r."""
        x, u = variables
        return x * u * rates

    def drive(self, variables: Variables) -> None:
        """Return None."""
        return None

    def after(self, rates: Tensor, variables: Variables) -> Variables:
        """Return x and u after a step; they stay between 0 and 1."""
        x, u = variables
        later_x = x + self.recover * (1 - x) - self.seconds * u * x * rates
        later_u = u + self.forget * (self.use - u) + self.seconds * self.use * (1 - u) * rates
        return later_x.clamp(0, 1), later_u.clamp(0, 1)


def split(mechanisms: Sequence[Mechanism], variables: Sequence[Tensor]) -> list[Variables]:
    """Return the variables of each mechanism."""
    found, first = [], 0
    for one in mechanisms:
        found.append(tuple(variables[first : first + one.count]))
        first += one.count
    return found
