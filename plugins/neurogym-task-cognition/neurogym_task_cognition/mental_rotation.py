"""Mental rotation: the same figure, or its mirror image?"""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, InvalidValueError, Task, TrialBuilder
from neurogym_task_cognition.price import priced_answer
from neurogym_task_cognition.shares import check_shares

DIRECTIONS = 18
STEP = 360 // DIRECTIONS  # degrees


class MentalRotation(Task):
    """Report whether two figures are the same but for a rotation, or mirror images, fast.

    After Shepard & Metzler (1971), Science 171:701, doi:10.1126/science.171.3972.701.

    A figure is an outline: the distance from its centre to its edge in 18 directions, 20 degrees
    apart, each drawn at random for each trial. The second figure is the first one, rotated by 0 to
    180 degrees to either side (choice 0, same), or its mirror image, rotated likewise (choice 1,
    mirror); each is half of the trials, and all angles are equally likely. Both are shown until the
    answer.

    Time has a price: the reward of the right answer falls linearly from `correct` at the onset of
    the figures by the share `price` of it, until the end of the window. Performance is the reward
    relative to `correct`. An ideal observer compares all rotations at once, answers at once, and
    earns 1. Guessing at once earns 0.5; both figures have the same distances, in the same order or
    in the opposite one, so that no figure alone shows the answer. A match without a rotation is
    right in 0.55. A subject need not rotate: on which side of the largest distance the larger
    neighbour lies changes in a mirror image alone, and comparing the sides of both figures earns 1.

    Such an observer is as fast with large angles as with small ones. The time that people take
    rises linearly with the angle. An observer of the package that turns the figure,
    `neurogym_task_cognition.observers:Rotator`, takes 1 s, and 17 ms more for each degree (its
    speed is not compared with the paper); so the effect says how a subject compares figures.

    Deviations from the paper:

    - outlines in the plane (there, drawings of solid objects, rotated in the plane or in depth);
    - the other figures of the paper are mirror images, too; that half of the pairs were the same,
      and the angles, are not compared with it;
    - the window ends after 6 s, and time has a price.

    Args:
        angles: rotations, degrees, multiples of 20 from 0 to 180.
        price: share of the reward that is lost between the onset and the end of the window.
    """

    angles: tuple[int, ...] = (0, 20, 40, 60, 80, 100, 120, 140, 160, 180)
    price: float = 0.5

    timing = {"fixation": 500, "figures": 6000}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    evidence_periods = ("figures",)

    def define(self) -> None:
        check_shares(self, "price")
        if not self.angles or not all(a % STEP == 0 and 0 <= a <= 180 for a in self.angles):
            raise InvalidValueError(
                f"MentalRotation was given angles={self.angles!r}; give multiples of {STEP}"
                " degrees from 0 to 180."
            )
        names = tuple(f"{STEP * k}°" for k in range(DIRECTIONS))
        self.observe(fixation=1, first=names, second=names)
        self.act(rest=1, choose=("same", "mirror"))
        self.vary(
            mirror=Choice(2),
            angle=Choice(self.angles),
            turn=Choice((-1, 1)),
            outline=lambda rng, prior: rng.uniform(0.2, 1, (prior.n, DIRECTIONS)),
        )
        self.correct_choice("mirror")

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "figures")
        trial.show("fixation", 1, during="fixation")
        trial.show("first", trial["outline"], during="figures")
        trial.show("second", _second(trial), during="figures")
        priced_answer(
            trial, "choose", trial["mirror"], "figures", self.rewards["correct"], self.price
        )


def _second(trial: TrialBuilder) -> np.ndarray:
    """The second figure, (n, directions): the first one, perhaps mirrored, then rotated."""
    sign = np.where(trial["mirror"] == 1, -1, 1)[:, None]
    shift = (trial["turn"] * trial["angle"] // STEP)[:, None]
    source = (sign * (np.arange(DIRECTIONS) - shift)) % DIRECTIONS
    return np.take_along_axis(trial["outline"], source.astype(int), axis=1)
