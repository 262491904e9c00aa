"""Common parts of the tasks of low-rank networks: one output, judged by its sign."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from neurogym_core import Axis, InvalidValueError, Task, TrialBuilder

PER_STEP = float(np.sqrt(20))
"""Sigma of a noise with an SD of 1 on every step of 20 ms."""


class LowRank(Task):
    """Base of the tasks: steps of 20 ms, a fixation cue, and one output from -2 to 2."""

    dt: float = 20
    sigma: float = 0.0

    noisy: ClassVar[tuple[str, ...]] = ("stimulus",)
    """Channels with noise."""

    rewards = {"correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if not self.sigma >= 0:
            raise InvalidValueError(
                f"{self.name} was given sigma={self.sigma!r}; give the SD of the noise times"
                " sqrt(ms), 0 or more."
            )
        self.observe(fixation=1, **self.inputs())
        self.act(output=Axis(-2, 2))
        self.declare()

    def inputs(self) -> dict[str, Any]:
        """Return the channels beside the fixation cue, name -> units."""
        raise NotImplementedError

    def declare(self) -> None:
        """Declare the conditions."""
        raise NotImplementedError

    def lay_out(self, trial: TrialBuilder, *before: str) -> None:
        """Name the periods, the last of which is the decision; show cue and noise."""
        trial.periods(*before, "decision")
        trial.show("fixation", 1, during=before)
        for channel in self.noisy:
            trial.show(channel, 0, during=(*before, "decision"), noise=self.sigma)
        trial.loss_weight(0, during=before)

    def ask_sign(self, trial: TrialBuilder, target: np.ndarray) -> None:
        """Ask for an output with the sign of the target (n,), which networks are trained on."""
        aim = 2 * np.sign(target)
        trial.answer("output", aim, during="decision", tolerance=1.99)
        steps = int(trial.duration("decision").max() / trial.dt)
        wanted = np.repeat(np.asarray(target, float)[:, None, None], steps, axis=1)
        trial.timecourse("output", wanted, during="decision", cut=True)


__all__ = ["PER_STEP", "LowRank"]
