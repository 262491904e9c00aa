"""Sums of two numbers that are shown at different times."""

from __future__ import annotations

import numpy as np

from neurogym_core import Axis, InvalidValueError, Task, TrialBuilder, Uniform


class DelayedSum(Task):
    """Report the sum of two pulses that a delay separates.

    After the adding problem of Hochreiter & Schmidhuber (1997), Neural Computation 9:1735,
    doi:10.1162/neco.1997.9.8.1735, in the form of experiments with delays; `AddingProblem` is the
    original.

    Two pulses have random heights from -1 to 1, with a delay of 0.5 to 2 s between them. When the
    fixation cue turns off, the output has to be their sum, within `tolerance`.

    The ideal earns 1. One of the pulses alone, as its own height, earns 0.10, and always 0 as much.
    The output is judged in the decision alone, and may be given from the first step on.

    Deviations from the paper: pulses, delay and the tolerance are ours.

    Args:
        tolerance: largest error of the sum that counts as right.
    """

    dt: float = 20
    tolerance: float = 0.1

    timing = {
        "fixation": 100,
        "first": 100,
        "delay": Uniform(500, 2000),
        "second": 100,
        "decision": 300,
    }  # ms
    evidence_periods = ("first", "second")

    def define(self) -> None:
        self.observe(fixation=1, pulse=1)
        self.act(output=Axis(-2, 2))
        self.vary(first=Uniform(-1, 1), second=Uniform(-1, 1))

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "first", "delay", "second")
        trial.periods(*before, "decision")
        trial.show("fixation", 1, during=before)
        for name in ("first", "second"):
            trial.show("pulse", trial[name], during=name)
        trial.loss_weight(0, during=before)
        total = trial["first"] + trial["second"]
        trial.answer("output", total, during="decision", tolerance=self.tolerance)


class AddingProblem(Task):
    """Report the sum of the two numbers of a stream that are marked.

    Hochreiter & Schmidhuber (1997), Neural Computation 9:1735, doi:10.1162/neco.1997.9.8.1735.

    On every step of the stream a number from 0 to 1 is shown. Two of them are marked, one in each
    half. When the stream is over, the output has to be their sum, within 0.04.

    The ideal earns 1. Always 1, the mean of the sum, earns 0.08, with a mean squared error of 1 /
    6; one marked number plus 0.5 earns 0.08, with a mean squared error of 1 / 12. The output is
    judged in the decision alone, and may be given from the first step on.

    Deviations from the paper:

    - a fixation cue is on during the stream; the answer is asked for after it;
    - both marks are equally likely on every step of their half, and the stream has a fixed length
      (there, the first mark is among the first ten steps, and the length varies by a tenth).

    Args:
        steps: numbers of a stream.
        item: duration of a number, ms.
        tolerance: largest error of the sum that counts as right.
    """

    dt: float = 20
    steps: int = 100
    item: float = 20
    tolerance: float = 0.04

    timing = {"decision": 100}  # ms
    evidence_periods = ("stream",)

    def define(self) -> None:
        if self.steps < 2:
            raise InvalidValueError(
                f"AddingProblem was given steps={self.steps!r}; give at least two, one per mark."
            )
        half = self.steps // 2
        self.observe(fixation=1, value=1, mark=1)
        self.act(output=Axis(0, 2))
        self.vary(
            values=lambda rng, prior: rng.random((prior.n, self.steps)),
            first=lambda rng, prior: rng.integers(0, half, prior.n),
            second=lambda rng, prior: rng.integers(half, self.steps, prior.n),
        )

    def new_trial(self, trial: TrialBuilder) -> None:
        repeats = max(round(self.item / trial.dt), 1)
        trial.periods("stream", "decision", stream=self.steps * repeats * trial.dt)
        step, marks = np.arange(self.steps), (trial["first"], trial["second"])
        marked = sum(step == mark[:, None] for mark in marks)
        trial.show("fixation", 1, during="stream")
        for channel, stream in (("value", trial["values"]), ("mark", marked)):
            frames = np.repeat(stream[:, :, None], repeats, axis=1)
            trial.timecourse(channel, frames, during="stream", cut=True)
        trial.loss_weight(0, during="stream")
        total = (trial["values"] * marked).sum(axis=1)
        trial.answer("output", total, during="decision", tolerance=self.tolerance)
