"""Operant conditioning of aerial respiration in a snail."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import (
    END,
    STAY,
    Choice,
    InvalidValueError,
    OneHot,
    Outcome,
    Session,
    Task,
    TrialBuilder,
)

SKIN, OPEN, UP, DOWN = range(4)

PHASES = ("before", "training", "after")
"""Before, during and after training, in which a touch punishes every opening."""

FULL = 100.0
"""Largest amount of oxygen, units."""
USE, SKIN_GIVES, OPEN_GIVES = 2.0, 1.0, 5.0
"""Units of oxygen per 100 ms."""


class PneumostomeOpening(Task):
    """Control a pond snail in hypoxic water: breathe through the skin, or surface for air.

    After the operant conditioning of aerial respiration of Lukowiak, Ringseis, Spencer, Wildering &
    Syed (1996), J. Exp. Biol. 199:683, doi:10.1242/jeb.199.3.683.

    A trial is 6 s in a pond of stagnant water. The subject sees its depth (0: at the surface) and
    its oxygen, of 100. On every step it breathes through the skin (choice 0 of `do`), opens its
    pneumostome, the breathing hole (1), or moves up (2) or down (3), 100 ms for each level. It uses
    2 units of oxygen per 100 ms all the time; breathing through the skin yields 1, through the open
    pneumostome at the surface 5. Without oxygen the trial ends. Opening the pneumostome at the
    surface is also rewarded: 1 per 100 ms before training, 0.5 during training, in which every
    opening is followed by a touch, and 0.1 after it; elsewhere it has no effect. The phase is not
    shown; a session has 10 trials of the first, 30 of the second and 10 of the third.

    There are no correct or wrong actions; performance is the reward relative to moving up at once
    and staying open. Always opening earns 0.2, because a fifth of the trials begins at the surface;
    acting at random 0.03. No memory is needed: the current observation alone earns 1. Nor
    are eyes: moving up three times and opening, whatever is shown, earns 0.97. The events of the
    record are the beginnings of each `opening` at the surface, whose number the paper reports.

    Deviations from the paper:

    - the paper describes learning of the snails, which came to open less often; here, phases differ
      only in the reward of opening;
    - the oxygen and reward of breathing are NeuroGym's; levels, the use of oxygen, durations and
      the numbers of trials are ours (there, sessions of 30 to 45 min).

    Args:
        levels: levels of depth, the surface included.
        pays: reward of 100 ms of opening the pneumostome at the surface in each phase.
        phase_trials: trials of each phase.
        oxygen: oxygen at the beginning of a trial, units.
    """

    levels: int = 5
    pays: tuple[float, ...] = (1.0, 0.5, 0.1)
    phase_trials: tuple[int, ...] = (10, 30, 10)
    oxygen: float = 40.0
    trials_per_session: int | None = 50

    timing = {"pond": 6000}  # ms
    rewards = {"correct": 0.0, "error": 0.0, "miss": 0.0}
    supervised = False
    go_cue = None
    trial_state = {"risen": 0.0, "gained": 0.0, "open": False}

    def define(self) -> None:
        if self.levels < 2 or not 0 < self.oxygen <= FULL:
            raise InvalidValueError(
                f"PneumostomeOpening was given levels={self.levels!r}, oxygen={self.oxygen!r};"
                f" give at least 2 levels and oxygen above 0, up to {FULL:g}."
            )
        if len(self.pays) != len(PHASES) or len(self.phase_trials) != len(PHASES):
            raise InvalidValueError(
                f"PneumostomeOpening was given {len(self.pays)} pays and {len(self.phase_trials)}"
                f" numbers of trials; give one for each of the {len(PHASES)} phases."
            )
        depths = ("surface", *(f"{k} deep" for k in range(1, self.levels)))
        self.observe(depth=OneHot(depths), oxygen=1)
        self.act(do=("skin", "open", "up", "down"))
        self.vary(phase=Choice(PHASES), depth=Choice(range(self.levels)))

    # ------------------------------------------------------------------ drawing trials

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.begun = np.zeros(len(session), int)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        phase = np.searchsorted(np.cumsum(self.phase_trials)[:-1], session.begun, side="right")
        session.begun = session.begun + 1
        return self.draw_conditions(rng, len(session), {"phase": np.take(PHASES, phase)})

    # ------------------------------------------------------------------ building trials

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("pond")
        pays = np.take(self.pays, [PHASES.index(phase) for phase in trial["phase"]])
        trial.record(pays=pays)
        trial.loss_weight(1, during="pond")
        last_step = trial.duration("pond") - self.dt
        trial.offer("do", 0, during="pond", start=last_step, then="wait", slot="pond")
        steps = np.rint(trial.duration("pond") / self.dt)
        rising = np.ceil(trial["depth"] * 100 / self.dt - 1e-9)
        trial.max_reward(pays * np.maximum(steps - rising, 0) * self.dt / 100)

    # ------------------------------------------------------------------ on every step

    def step_action(self, now: Any, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        share = self.dt / 100
        opening = (action == OPEN) & (self._depth(now) <= 1e-9)
        breathed = np.select([action == SKIN, opening], [SKIN_GIVES, OPEN_GIVES], 0.0)
        now.trial_state["gained"] = (
            np.clip(self._oxygen(now) + (breathed - USE) * share, 0, FULL) - self.oxygen
        )
        moved = ((action == UP) * 1.0 - (action == DOWN)) * share
        depth = np.clip(self._depth(now) - moved, 0, self.levels - 1)
        now.trial_state["risen"] = now.conditions["depth"] - depth
        now.event(opening & ~now.trial_state["open"].astype(bool), "opening")
        now.trial_state["open"] = opening
        dead = self._oxygen(now) <= 1e-9
        paid = opening * now.conditions["pays"] * share
        now.answer(dead, action, Outcome.ERROR)
        return paid, np.where(dead, END, STAY)

    def _depth(self, now: Any) -> np.ndarray:
        """Levels below the surface, fractional while moving, (N,)."""
        return now.conditions["depth"] - now.trial_state["risen"]

    def _oxygen(self, now: Any) -> np.ndarray:
        return self.oxygen + now.trial_state["gained"]

    def step_observation(self, now: Any, obs: np.ndarray) -> np.ndarray:
        level = np.ceil(self._depth(now) - 1e-9).astype(int)
        obs[:, self.channels["depth"]] = level[:, None] == np.arange(self.levels)
        obs[:, self.channels["oxygen"]] = (self._oxygen(now) / FULL)[:, None]
        return obs

    def step_target(self, now: Any) -> np.ndarray:
        """Move up, then open."""
        return np.where(self._depth(now) > 1e-9, UP, OPEN)
