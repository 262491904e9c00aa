"""Confidence as the time of waiting for a reward."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import END, STAY, InvalidValueError, Task, TrialBuilder, TruncatedExponential
from neurogym_task_perceptual.odours import ODOURS, larger_part, mixtures, show_mixture

LEAVE = 3  # action; 0 is staying, 1 and 2 are the sides
SOONEST, LATEST = 500.0, 8000.0  # ms, bounds of the delay of the reward


class WaitingConfidence(Task):
    """Report the larger part of a mixture of odours, and wait for the reward, or leave.

    Lak, Costa, Romberg, Koulakov, Mainen & Kepecs (2014), Neuron 84:190,
    doi:10.1016/j.neuron.2014.08.039.

    The subject smells a mixture of two odours, as in OdourCategorisation, with noise that is drawn
    once for a trial, and chooses a side. Nothing shows whether it is right. If it is, the reward
    comes while the subject stays, after 0.5 to 8 s, on average 1.9 s, exponentially distributed; in
    a tenth of these trials, the catch trials, and after errors it never comes. The subject may
    leave at any time (`leave`), and the trial ends. So the time for which it stays shows how sure
    it is of its choice.

    The time until 8 s that is left at the end of a trial pays `price` per s, as it could be used
    for other trials. Performance is the money of a trial divided by the most that is possible. With
    confidence C the best moment to leave is tau ln(C / (1 - C) (1 / (price tau) - 1)) after the
    soonest reward, tau = 1.5 s. The ideal observer leaves by its confidence, and earns 0.670.
    Always staying for the same time earns 0.662 at best, with 4 s, close to the ideal, since most
    money is in the choice: so it is with delays such as those of the paper, and waiting times say
    more than performance. A subject that smells odour B alone earns 0.65. Staying to the end earns
    0.62, leaving at once 0.45, and choosing a side by chance and staying to the end 0.41. The
    record has `waited`, ms, and whether a reward came, `paid`.

    Deviations from the paper:

    - time has a price (there, it is taken from the next trials, and there is a time-out);
    - the mixtures, the delays, their bounds and the share of catch trials are not compared with the
      paper; the noise and the price are ours.

    Args:
        shares: parts of odour B in the mixtures, %.
        sigma: SD of the noise of each unit in a trial, where a pure odour shows 1.
        price: worth of a second, in rewards.
        p_catch: proportion of right choices that are not rewarded.
    """

    shares: tuple[float, ...] = (0, 32, 44, 48, 52, 56, 68, 100)
    sigma: float = 0.24
    price: float = 0.1
    p_catch: float = 0.1

    timing = {"poke": 300, "odour": 300, "choice": 1000, "waiting": LATEST}  # ms
    supervised = False
    go_cue = "port"
    tau = 1500.0
    trial_state = {"side": -1, "waited": 0.0, "paid": 0}

    def define(self) -> None:
        if not 0 <= self.p_catch < 1 or self.price < 0:
            raise InvalidValueError(
                f"WaitingConfidence was given price={self.price!r} and p_catch={self.p_catch!r};"
                " give a price of at least 0, and p_catch from 0 to below 1."
            )
        self.observe(port=1, odour=ODOURS, waiting=1)
        self.act(rest=1, choose=("left", "right"), leave=1)
        self.vary(
            **mixtures(self),
            catch=lambda rng, prior: rng.random(prior.n) < self.p_catch,
            delay=TruncatedExponential(self.tau, SOONEST, LATEST),
        )
        self.correct_choice(larger_part)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("poke", "odour", "choice", "waiting", then={"choice": "end"})
        trial.show("port", 1, during=("poke", "odour"))
        show_mixture(trial, self.sigma)
        trial.show("waiting", 1, during="waiting")
        trial.answer("choose", trial.correct_choice, "choice", then="waiting", correct=0)
        trial.hold(during="waiting", cost=0)  # leaving is free
        trial.max_reward(1 + self.price * (LATEST - SOONEST) / 1000)
        trial.record("waited", "paid")

    def step_action(self, now: Any, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        state, staying, at = now.trial_state, now.in_period("waiting"), now.elapsed + now.dt
        chosen = now.in_period("choice") & (action > 0) & (action < LEAVE)
        state["side"] = np.where(chosen, action - 1, state["side"])
        comes = staying & self._rewarded(now) & (at >= now.conditions["delay"])
        over = comes | (staying & ((action == LEAVE) | (now.remaining < 1.5 * now.dt)))
        state["waited"] = np.where(staying, at, state["waited"])
        state["paid"] = state["paid"] + comes
        early = ~staying & ~chosen & (action > 0)
        pay = comes + over * self.price * (LATEST - at) / 1000
        pay = pay + early * self.rewards["abort"] * now.dt / 100
        return pay, np.select([over, chosen], [END, now.number_of("waiting")], STAY)

    def _rewarded(self, now: Any) -> np.ndarray:
        """Whether a reward comes to subjects that stay, (N,) bool."""
        right = now.trial_state["side"] == (now.conditions["share"] > 50)
        return right & ~now.conditions["catch"]

    def step_target(self, now: Any) -> np.ndarray:
        leaves = now.in_period("waiting") & ~self._rewarded(now)
        side = 1 + (now.conditions["share"] > 50)
        return np.select([now.in_period("choice"), leaves], [side, LEAVE], 0)
