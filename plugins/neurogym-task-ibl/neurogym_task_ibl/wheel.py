"""The task with a grating that follows the wheel."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import STAY, InvalidValueError, Outcome, TrialBuilder
from neurogym_task_ibl.ibl import IBL

START = 35.0
"""Azimuth at which the grating appears, degrees left or right of the centre."""
AZIMUTHS = np.linspace(-70, 70, 9)
"""Azimuths of the units that show the grating, degrees: 17.5 apart; START lies on one of them."""
TURN = np.array([0.0, -1.0, 1.0])
"""Direction in which each action moves the grating: rest, to the left, to the right."""


class IBLWheel(IBL):
    """Turn a wheel to bring a grating to the centre, in blocks in which one side is more likely.

    The International Brain Laboratory (2021), eLife 10:e63711, doi:10.7554/eLife.63711.

    As `IBL`, but the grating follows the wheel, and the subject may change its mind. The grating
    appears at -35 (left) or 35 degrees, and while the subject turns, it moves left (choice 0 of
    `turn`) or right (1). When it reaches the centre, the subject is rewarded and the grating stays
    there for 1 s; when it reaches 70 degrees, or after 60 s, a burst of noise begins a time-out of
    2 s. Observations depend on the subject's actions within the trial.

    The channel `grating` has nine units with preferred azimuths from -70 to 70 degrees, 17.5 apart;
    the grating shows contrast / 100, shared between the two adjacent units. The `choice` of the
    record is the direction in which the grating was moved when it reached the centre or 70 degrees,
    and `reaction_time` the time from its onset until then (the paper's mice took a median of
    0.47 s). Each step of turning before the grating appears, which begins the quiescence again, is
    an event, `early turn`.

    Turning at random is correct in half of the trials and an error in nearly all others, because
    within 60 s the grating reaches either side; resting is a miss. A subject without memory, which
    turns as the current observation suggests, earns 0.87, because the wheel lets it correct itself.
    The best observer is limited only by its patience: see `IBL` for the accuracy after one or two
    looks of 100 ms.

    Deviations from the paper:

    - the wheel turns at one speed or not at all, so that the centre is reached in 350 ms, in whole
      steps: 400 ms at the default dt of 100 ms; the subject need not stop there;
    - those of `IBL` that do not concern the wheel.

    Args:
        speed: speed of the grating while the wheel turns, degrees / s; ours.
    """

    speed: float = 100.0

    trial_state = {"moved": 0.0}

    def declare_interface(self) -> None:
        window = self.timing["response"].bounds[1]
        if not self.slowest() * window / 1000 >= START:
            raise InvalidValueError(
                f"{self.name} was given a speed of {self.slowest():g} degrees/s, at which the"
                f" grating moves less than the {START:g} degrees to the centre in {window:g} ms;"
                f" give at least {1000 * START / window:.3g}."
            )
        self.observe(grating=[f"{a:g}°" for a in AZIMUTHS], tone=1, noise_burst=1)
        self.act(rest=1, turn=("left", "right"))

    def new_trial(self, trial: TrialBuilder) -> None:
        self.lay_out_periods(trial)
        trial.show(
            "grating", spread_on_units(np.zeros(trial.n), trial["contrast"]), during="reward"
        )
        trial.hold(during="response", cost=0)  # `step_action` decides when turning is an answer
        last_step = trial.duration("response") - self.dt
        trial.answer(
            "turn",
            1 - trial.correct_choice,
            during="response",
            start=last_step,
            then="wait",
            slot="choose",
        )
        trial.record(signed_contrast=np.where(trial["side"] == "left", -1, 1) * trial["contrast"])
        trial.max_reward(self.rewards["correct"])
        self.note_block(trial)

    # ------------------------------------------------------------------ on every step

    def slowest(self) -> float:
        """Smallest speed of the grating while the wheel turns, degrees / s."""
        return self.speed

    def speeds(self, now: Any) -> np.ndarray | float:
        """Speed of the grating while the wheel turns, degrees / s, (N,) or one for all."""
        return self.speed

    def step_action(self, now: Any, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        responding = now.in_period("response")
        now.trial_state["moved"] = (
            now.trial_state["moved"] + responding * TURN[action] * self.speeds(now) * now.dt / 1000
        )
        towards = -np.sign(_start(now)) * now.trial_state["moved"]  # degrees towards the centre
        centred, gone = (
            responding & (towards >= START - 1e-9),
            responding & (towards <= 1e-9 - START),
        )
        late = responding & ~centred & (self._left(now) < 1.5 * now.dt)
        goto = np.where(
            centred, now.number_of("reward"), np.where(gone | late, now.number_of("timeout"), STAY)
        )
        restart = now.in_period("quiescence") & (action != 0)
        goto = np.where(restart, now.number_of("quiescence"), goto)
        now.event(restart, "early turn")
        outcome = np.select(
            [centred, gone, late], [Outcome.CORRECT, Outcome.ERROR, Outcome.MISS], Outcome.NONE
        )
        choice = np.where(late, -1, now.trial_state["moved"] > 0)
        now.answer(centred | gone | late, choice, outcome)
        return self._paid(centred, gone, late, restart, now), goto

    def _paid(
        self, centred: np.ndarray, gone: np.ndarray, late: np.ndarray, restart: np.ndarray, now: Any
    ) -> np.ndarray:
        rewards = self.rewards
        ends = [
            rewards["correct"],
            rewards["error"],
            rewards["miss"],
            rewards["abort"] * now.dt / 100,
        ]
        return np.select([centred, gone, late, restart], ends, 0.0)

    def _left(self, now: Any) -> np.ndarray:
        """Remaining time of the response period, ms."""
        return now.remaining

    def step_observation(self, now: Any, obs: np.ndarray) -> np.ndarray:
        grating = spread_on_units(
            _start(now) + now.trial_state["moved"], now.conditions["contrast"]
        )
        obs[:, self.channels["grating"]] += grating * now.in_period("response")[:, None]
        return obs

    def step_target(self, now: Any) -> np.ndarray:
        """Move the grating towards the centre."""
        return np.where(now.in_period("response"), np.where(_start(now) > 0, 1, 2), 0)


def _start(now: Any) -> np.ndarray:
    """Azimuth at which the grating appears, (N,) degrees."""
    return np.where(now.conditions["side"] == "left", -START, START)


def spread_on_units(azimuth: np.ndarray, contrast: np.ndarray) -> np.ndarray:
    """Return the activity (n, 9) of gratings at azimuths (n,), degrees, with contrasts (n,), %."""
    spacing = AZIMUTHS[1] - AZIMUTHS[0]
    share = np.maximum(1 - np.abs(azimuth[:, None] - AZIMUTHS) / spacing, 0)
    return share * np.asarray(contrast)[:, None] / 100
