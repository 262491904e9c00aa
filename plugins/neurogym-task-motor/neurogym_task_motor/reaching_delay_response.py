"""Delayed report of a position."""

from __future__ import annotations

from neurogym_core import Axis, InverseSquare, Task, TrialBuilder, Uniform

NOTHING = -0.5
"""Value of the stimulus channel without a stimulus, and resting value of the position."""


class ReachingDelayResponse(Task):
    """Remember a position and point to it after a delay.

    After the oculomotor delayed-response task of Funahashi, Bruce & Goldman-Rakic (1989), J.
    Neurophysiol. 61:331, doi:10.1152/jn.1989.61.2.331.

    A position is shown and removed. After a delay the go cue turns on, and the subject points: its
    action is a pair of numbers, `go`, which gives the answer on the first step on which it is above
    0, and `position`. The reward decreases with the error: correct / (1 + error)^2 within
    `tolerance`, the `error` reward beyond. Performance is that reward divided by `correct`.
    Answering before the go cue costs `abort` per 100 ms; not answering costs `miss`. Resting is go
    = -1. Always pointing at the middle is correct in half of the trials, with a performance of 0.4.
    Nothing is noisy: errors of memory are the subject's.

    Deviations from the paper:

    - a position on a line from `low` to `high` (there, eight positions on a circle of 13 degrees);
    - delays of 0, 1 and 2 s (there, 1.5, 3 and 6 s);
    - a reward that falls with the error up to a quarter of the line (there, a saccade into a window
      around the position is rewarded);
    - durations and rewards are ours.

    Args:
        low, high: the ends of the line, within -0.5 and 2.
        tolerance: largest error that is still correct, in units of the line.
    """

    low: float = 0.0
    high: float = 1.0
    tolerance: float = 0.25

    timing = {"stimulus": 500, "delay": [0, 1000, 2000], "decision": 500}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0, "miss": -0.5}
    go_cue = "go"

    def define(self) -> None:
        self.observe(go=1, stimulus=1)
        self.act(go=Axis(-1, 1, rest=-1, trigger=0), position=Axis(-1, 2, rest=NOTHING))
        self.vary(position=Uniform(self.low, self.high))
        self.correct_choice("position")

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("stimulus", "delay", "decision")
        trial.show("stimulus", trial["position"], during="stimulus")
        trial.show("stimulus", NOTHING, during=("delay", "decision"))
        trial.show("go", 1, during="decision")
        graded = InverseSquare(most=self.rewards["correct"])
        trial.answer(
            "position", trial["position"], during="decision", tolerance=self.tolerance, pays=graded
        )
