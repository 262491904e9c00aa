"""Plays two trials with the installed core: ``python tests/smoke.py compiled`` (or ``plain``), the
kernel that is expected.

A separate script, so that a wheel can be tried where nothing else of the tests is installed.
"""

from __future__ import annotations

import sys

import neurogym_core
from neurogym_core import Choice, Ring, Task, run
from neurogym_core.players import kernel_in_use


class Dots(Task):
    """Report the direction of dots."""

    timing = {"stimulus": 200, "decision": 100}

    def define(self) -> None:
        self.ring = Ring(2)
        self.observe(stimulus=self.ring)
        self.act(wait=1, choose=self.ring)
        self.vary(direction=Choice(2))
        self.correct_choice("direction")

    def new_trial(self, trial) -> None:
        trial.periods("stimulus", "decision")
        trial.show("stimulus", self.ring.cosine(trial["direction"]), during="stimulus", noise=1.0)
        trial.answer("choose", trial["direction"], during="decision")


if __name__ == "__main__":
    kernel = kernel_in_use()
    print(neurogym_core.__file__)
    print(kernel)
    assert [kernel.name] == sys.argv[1:]
    assert run(Dots, "oracle", 2, seed=1)["performance"].tolist() == [1.0, 1.0]
