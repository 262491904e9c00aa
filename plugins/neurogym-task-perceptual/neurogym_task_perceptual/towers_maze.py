"""Towers on two sides of a maze in which the subject moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import END, STAY, InvalidValueError, Outcome, TrialBuilder
from neurogym_task_perceptual import towers
from neurogym_task_perceptual.accumulating_towers import AccumulatingTowers


class TowersMaze(AccumulatingTowers):
    """Run through a maze, and turn into the arm on whose side there were more towers.

    Pinto et al. (2018), Front. Behav. Neurosci. 12:36, doi:10.3389/fnbeh.2018.00036.

    The task of AccumulatingTowers, in which the subject moves by itself. It stands, runs at 60 cm/s
    in the direction of its view, or turns its view left or right at `turning`, by up to 90 degrees.
    It begins at the near end of a stem of 3 m, sees the towers on both walls while it is at their
    place, a length of 12 cm, and chooses an arm by going 15 cm into it beyond the end of the stem.
    After 15 s without a choice, the trial is a miss. The channels show the towers, how far along
    the stem the subject is (`along`, of the stem's length), how far to the right of its middle
    (`aside`, of half its width), and its `view`, of 90 degrees to the right.

    Performance is the fraction of right choices. The ideal observer runs straight, counts, and
    earns 0.703, as in AccumulatingTowers; running on and choosing the same arm earns 0.5, and
    standing 0. Parts of the towers come as far as there: those of one wall earn 0.65, those of the
    first or of the last third 0.63 and 0.61, and those of the last place with any 0.60. The view
    and the place before the junction may keep the count, as they do in mice: a subject that leans
    to the side with more towers needs no memory; the record has the view at the junction, degrees
    to the right, as `view`.

    Deviations from the paper: those of AccumulatingTowers, but for the fixed speed. The lengths of
    the stem are not compared with the paper; those of the arms and the speeds are ours.

    Args:
        turning: speed of turning, degrees per s.
        rich, poor, misplaced: as in AccumulatingTowers.
    """

    turning: float = 150.0

    timing = {"maze": 15_000}  # ms
    go_cue = None
    evidence_periods = ("maze",)
    trial_state = {"at": (0.0, 0.0), "facing": 0.0, "view": 0.0}  # cm along and aside; degrees

    def declare_interface(self) -> None:
        if not self.turning > 0:
            raise InvalidValueError(
                f"TowersMaze was given turning={self.turning!r}; give a positive number of"
                " degrees/s."
            )
        self.observe(tower=towers.SIDES, along=1, aside=1, view=1)
        self.act(stand=1, run=1, turn=towers.SIDES)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("maze")
        trial.record("more", "view", surplus=towers.surplus_of(trial.conditions))
        last = trial.duration("maze") - self.dt  # where a window is open, oracles may wait
        trial.answer("turn", trial.correct_choice, during="maze", start=last, reported=True)
        trial.hold(during="maze", cost=0)  # moving is free

    def step_action(self, now: Any, action: np.ndarray) -> tuple[None, np.ndarray]:
        state, turn = now.trial_state, (action == towers.RIGHT) * 1.0 - (action == towers.LEFT)
        turned = state["facing"] + turn * self.turning * now.dt / 1000
        state["facing"] = np.clip(turned, -90, 90)
        way = (action == towers.RUN) * towers.SPEED * now.dt / 1000
        state["at"] = at = towers.moved(state["at"], way, state["facing"])
        state["view"] = np.where(at[:, 0] < towers.STEM, state["facing"], state["view"])
        chosen = np.abs(at[:, 1]) >= towers.ARM - 1e-9
        late = ~chosen & (now.remaining < 1.5 * now.dt)
        now.answer(chosen, (at[:, 1] > 0) * 1)
        now.answer(late, -1, Outcome.MISS)
        return None, np.where(chosen | late, END, STAY)

    def step_observation(self, now: Any, obs: np.ndarray) -> np.ndarray:
        at, place = now.trial_state["at"], now.trial_state["at"][:, 0] / towers.APART
        here = np.minimum(place, towers.PLACES - 1).astype(int)
        seen = towers.seen_towers(now.conditions)[np.arange(now.n), here]
        obs[:, self.channels["tower"]] = seen * (place < towers.PLACES)[:, None]
        obs[:, self.channels["along"]] = at[:, :1] / towers.STEM
        obs[:, self.channels["aside"]] = at[:, 1:] / towers.WIDE
        obs[:, self.channels["view"]] = now.trial_state["facing"][:, None] / 90
        return obs

    def step_target(self, now: Any) -> np.ndarray:
        """Run straight, turn at the junction, and run on."""
        state, right = now.trial_state, towers.surplus_of(now.conditions) > 0
        return towers.steering(state["at"][:, 0], state["facing"], right)
