"""Delayed reaches from a centre to one of eight targets."""

from __future__ import annotations

from neurogym_core import TrialBuilder, Uniform
from neurogym_task_motor.centre_out import CentreOut


class DelayedCentreOut(CentreOut):
    """Hold the hand in a centre, and move it to a target when the go cue comes.

    Georgopoulos, Kalaska, Caminiti & Massey (1982), J. Neurosci. 2:1527,
    doi:10.1523/JNEUROSCI.02-11-01527.1982; with a delay, as in Churchland et al. (2012), Nature
    487:51, doi:10.1038/nature11129.

    The hand is a point of 1 kg, and the subject pushes it with a force of two numbers, N. It starts
    at rest in the centre, and has to stay within 1.5 cm of it until the channel `hold` goes off:
    leaving earlier ends the trial as an abort. Before, after 300 to 500 ms, one of eight targets
    appears 10 cm away, and stays. From the go cue on the subject has 1 s; it is right if the hand
    is within 1.5 cm of the target for the last 200 ms of it. The channels show positions in dm
    (10 cm) and velocities in dm/s. Pushing costs `effort` per N^2 and s.

    Performance is the fraction of right reaches. Any subject that brings the hand to the target and
    stops there earns 1: the observer `neurogym_task_motor.observers:Reacher` does so with minimum
    jerk, with a peak speed of 37 cm/s. Resting earns 0, as does always the same force; always the
    same reach would earn 1/8. The target stays, so that no memory is needed but with `memory`.

    The record has the `reaction_time` (until the hand leaves the centre), the `peak_speed`, dm/s,
    how far the hand is to the left of the straight line then (`deviation`, dm), and the `end_angle`
    of the hand at the end relative to the target, degrees to the left.

    Deviations from the papers:

    - a point mass in the plane (there, an arm), whose position and velocity are seen at once;
    - there is no reward for being fast, so that no reaction times come from the task;
    - durations, distances, radii and the effort are not compared with the papers; those of the
      delay are ours.

    Args:
        memory: whether the target disappears after 300 ms.
        directions: number of targets.
        distance: distance of the targets, dm.
        radius: radius of centre and targets, dm.
        keep: ms for which the hand has to be in the target.
        effort: cost of a force, per N^2 and s.
    """

    memory: bool = False

    timing = {"centre": Uniform(300, 500), "delay": Uniform(300, 1000), "reach": 1000}  # ms

    def new_trial(self, trial: TrialBuilder) -> None:
        self.lay_out(trial)
        at, stop = self.at(trial["direction"]), 300 if self.memory else None
        trial.show("target", at, during=("delay", "reach"), stop=stop)
