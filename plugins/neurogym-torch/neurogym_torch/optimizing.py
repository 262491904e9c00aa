"""`Optimizing`: optimizer, schedule of the learning rate, and precision of a training."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import nn

from neurogym_core import InvalidValueError
from neurogym_core.tools import unknown

OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "rmsprop": torch.optim.RMSprop,
    "sgd": torch.optim.SGD,
}
SCHEDULES: dict[str, Callable[[float, float], float]] = {
    "constant": lambda progress, factor: 1.0,
    "step": lambda progress, factor: factor ** math.floor(progress),
    "exponential": lambda progress, factor: factor**progress,
    "linear": lambda progress, factor: 1 + (factor - 1) * min(progress, 1.0),
    "cosine": lambda progress, factor: (
        factor + (1 - factor) * (1 + math.cos(math.pi * min(progress, 1.0))) / 2
    ),
}
"""Name -> function of progress (updates / schedule_updates) and factor, which returns the fraction
of the learning rate that is used. It has no state, so a resumed training continues it."""
PRECISIONS = {"float32": None, "bfloat16": torch.bfloat16}


class Optimizing:
    """Updates the parameters of a network by gradients.

    Args:
        parameters: the parameters of the network.
        optimizer: "adam", "adamw", "rmsprop" or "sgd".
        learning_rate: learning rate of the first update.
        weight_decay: L2 penalty of the weights; with "adamw" decoupled from the gradients.
        schedule: course of the learning rate, one of `SCHEDULES`.
        schedule_updates, schedule_factor: after that many updates, the learning rate is this
            fraction of the first one. Then "step" and "exponential" go on, and the others end.
        clip: maximum norm of the gradients; 0: no maximum.
        precision: "float32", or "bfloat16": the outputs of the network are computed under
            ``torch.autocast``. Parameters, loss and optimizer remain float32.
        device: device of the network.

    Raises:
        UnknownNameError: there is no such optimizer, schedule or precision.
        InvalidValueError: a number is out of range.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        *,
        optimizer: str,
        learning_rate: float,
        weight_decay: float,
        schedule: str,
        schedule_updates: int,
        schedule_factor: float,
        clip: float,
        precision: str,
        device: torch.device,
    ) -> None:
        for kind, value, known in (
            ("optimizer", optimizer, OPTIMIZERS),
            ("schedule", schedule, SCHEDULES),
            ("precision", precision, PRECISIONS),
        ):
            if value not in known:
                raise unknown(kind, value, known)
        for name, number, least in (
            ("weight_decay", weight_decay, 0),
            ("schedule_updates", schedule_updates, 1),
            ("schedule_factor", schedule_factor, 0),
        ):
            if not number >= least:
                raise InvalidValueError(
                    f"A trainer was given {name}={number!r}. Expected at least {least}. Give"
                    " another."
                )
        self._parameters = list(parameters)
        self.optimizer = OPTIMIZERS[optimizer](
            self._parameters, lr=learning_rate, weight_decay=weight_decay
        )
        self.learning_rate, self.clip = learning_rate, clip
        self._course = SCHEDULES[schedule], schedule_updates, schedule_factor
        self._dtype, self._device = PRECISIONS[precision], device

    @property
    def mixed(self) -> bool:
        """Whether outputs are computed with less than float32."""
        return self._dtype is not None

    def rate(self, done: int) -> float:
        """Return the learning rate of the update after `done` updates."""
        course, updates, factor = self._course
        return self.learning_rate * course(done / updates, factor)

    def computing(self) -> AbstractContextManager[Any]:
        """Return the context in which the outputs of the network are computed."""
        return torch.autocast(self._device.type, dtype=self._dtype, enabled=self._dtype is not None)

    def zero_grad(self) -> None:
        """Forget the gradients."""
        self.optimizer.zero_grad()

    def step(self, done: int) -> None:
        """Change the parameters by their gradients, after `done` earlier updates."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(done)
        if self.clip:
            torch.nn.utils.clip_grad_norm_(self._parameters, self.clip)
        self.optimizer.step()
