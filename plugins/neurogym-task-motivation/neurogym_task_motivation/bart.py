"""Balloons that burst."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import END, STAY, Choice, InvalidValueError, Session, Task, TrialBuilder

PUMP, CASH = 1, 2  # actions; 0 is resting
CENTS = 5


class BART(Task):
    """Pump up a balloon that may burst, and cash in its money before it does.

    The Balloon Analogue Risk Task: Lejuez et al. (2002), J. Exp. Psychol. Appl. 8:75,
    doi:10.1037/1076-898X.8.2.75.

    A trial is a balloon. Each pump adds 5 cents to it, which are the subject's when it cashes in. A
    balloon bursts with one of its pumps, the first to the 128th, equally likely, and its money is
    lost: the probability that the k-th pump bursts it is 1 / (129 - k). The channel `pumps` shows
    the pumps so far. A session has 30 balloons. Rewards are in dollars.

    The expected money is largest with 64 pumps, 32 times 5 cents, whatever came before, and there
    is nothing to learn: the count is a policy that needs neither balloons nor bursts to be seen.
    Performance is the money of a trial divided by the most that any balloon can pay, 127 pumps: 64
    pumps, the ideal and the oracle, earn 0.252 of it on average, and no policy more. 30 pumps earn
    72 % of that. Such it is in the paper: the current observation shows all that is needed, and a
    fixed count is the best policy. The record has the number of `pumps`, and whether the balloon
    `burst`.

    With ``largest=(8, 32, 128)``, the largest number of pumps is drawn for each session and not
    shown: the subject learns it from bursts.

    Deviations from the paper: pumps have a pace, one per step at most, and balloons that are
    neither cashed in nor burst end after 30 s, without money; the 30 balloons, and balloons of one
    kind, were not compared with the paper.

    Args:
        largest: largest number of pumps; of several, one is drawn for each session.
    """

    largest: tuple[int, ...] = (128,)
    trials_per_session: int | None = 30
    max_duration: float | None = 30_000  # ms
    timing = {"balloon": float("inf")}
    supervised = False
    trial_state = {"pumps": 0, "burst": 0}

    def define(self) -> None:
        if min(self.largest) < 2:
            raise InvalidValueError(f"BART was given largest={self.largest!r}; give at least 2.")
        self.observe(balloon=1, pumps=1)
        self.act(rest=1, choose=("pump", "cash"))
        self.vary(
            most=Choice(self.largest),
            bursts=lambda rng, prior: rng.integers(1, prior["most"] + 1),
        )

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.most = rng.choice(self.largest, len(session))

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return self.draw_conditions(rng, len(session), {"most": session.most})

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("balloon")
        trial.show("balloon", 1, during="balloon")
        trial.answer("choose", 1, during="balloon", reported=True)
        trial.max_reward(CENTS / 100 * (trial["most"] - 1))
        trial.record("pumps", "burst")

    def step_action(self, now: Any, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        state = now.trial_state
        state["pumps"] = state["pumps"] + (action == PUMP)
        burst = (action == PUMP) & (state["pumps"] >= now.conditions["bursts"])
        state["burst"] = state["burst"] + burst
        cashed = action == CASH
        now.answer(cashed | burst, action - 1)
        return cashed * state["pumps"] * CENTS / 100, np.where(cashed | burst, END, STAY)

    def step_observation(self, now: Any, obs: np.ndarray) -> np.ndarray:
        obs[:, self.channels["pumps"]] = now.trial_state["pumps"][:, None] / max(self.largest)
        return obs

    def step_target(self, now: Any) -> np.ndarray:
        return np.where(now.trial_state["pumps"] < now.conditions["most"] // 2, PUMP, CASH)
