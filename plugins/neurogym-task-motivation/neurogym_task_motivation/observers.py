"""Ideal observers of the tasks, for the ideals of the manifest, and subjects that fall short.

They know the probabilities of their task, and learn all else from the observations, and from their
own actions and rewards."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from neurogym_core import Subject, TaskVectorEnv
from neurogym_task_motivation.bart import CASH, PUMP
from neurogym_task_motivation.pavlovian_go_nogo import GOES, WINS
from neurogym_task_motivation.price_of_time import EASY, MOST, PRESSES, best_rate
from neurogym_task_motivation.risky_bandit import MEANS
from neurogym_task_motivation.trace_conditioning import AMOUNTS
from neurogym_task_motivation.variable_isi import DELAYS, VariableISI


class _Learner(Subject):
    """Base of subjects that learn from the reward of a trial, and forget all after a session."""

    def begin(self, env: TaskVectorEnv) -> None:
        n = env.num_envs
        self.rows = np.arange(n)
        self._trial, self._reward = np.full(n, -1), np.zeros(n)
        self.forget(env.task, np.ones(n, bool))

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        seen = {name: observations[:, units] for name, units in env.task.channels.items()}
        ended, first = env.trial_number != self._trial, self._trial < 0
        self._reward = self._reward + env.last_reward * ~first
        length = env.task.trials_per_session
        over = ended & (env.trial_number % length == 0) if length else first
        if (ended & ~over).any():
            self.learn(env.task, ended & ~over, self._reward)
        self.forget(env.task, over)
        self._reward = np.where(ended, 0.0, self._reward)
        self._trial = env.trial_number.copy()
        return self.choose(env.task, seen)

    def forget(self, task, rows) -> None:
        """Begin a session of some envs, (n,) bool."""

    def learn(self, task, ended, reward) -> None:
        """Learn from the reward of the last trial, (n,), in envs where it ended, (n,) bool."""

    def choose(self, task, seen) -> np.ndarray:
        """Return the actions of a step, (n,), from the observations: channel -> (n, units)."""
        raise NotImplementedError

    def coin(self, left, right) -> np.ndarray:
        """Return which of two values is larger, 0 or 1, (n,); of equal ones, either."""
        tied = self.rng.integers(0, 2, len(left))
        return np.where(np.isclose(left, right, rtol=0, atol=1e-9), tied, right > left)


# ---------------------------------------------------------------------- go and no-go


class _Presser(_Learner):
    """Base of subjects of PavlovianGoNogo: keeps the cue, and whether it pressed."""

    def begin(self, env: TaskVectorEnv) -> None:
        self.cue, self.pressed = np.zeros((2, env.num_envs), int)
        super().begin(env)

    def choose(self, task, seen) -> np.ndarray:
        cued, asked = seen["cue"].any(axis=1), seen["target"].any(axis=1)
        self.cue = np.where(cued, seen["cue"].argmax(axis=1), self.cue)
        self.pressed = np.where(cued, -1, self.pressed)
        first = asked & (self.pressed < 0)
        self.pressed = np.where(first, self.presses(task), self.pressed)
        return np.where(first & (self.pressed > 0), 1 + seen["target"].argmax(axis=1), 0)

    def presses(self, task) -> np.ndarray:
        """Return whether to press for the current cues, (n,)."""
        raise NotImplementedError


class CueFilter(_Presser):
    """Follows the action that each cue asks for, by Bayes' rule over the 24 orders of the cues."""

    def __init__(self, seed: int | None = 0) -> None:
        super().__init__(seed)
        self.orders = np.array(list(permutations(range(4))))  # (24, 4): kind of each cue

    def forget(self, task, rows) -> None:
        if rows.all():
            self.belief = np.ones((len(rows), 24))
        self.belief[rows] = 1 / 24

    def learn(self, task, ended, reward) -> None:
        kinds = self.orders[:, self.cue].T  # (n, 24)
        right = GOES[kinds] == (self.pressed[:, None] > 0)
        better = np.where(right, task.p_better, 1 - task.p_better)
        paid, most = np.rint(reward)[:, None], WINS[kinds] * 1.0
        likely = np.where(paid == most, better, np.where(paid == most - 1, 1 - better, 0))
        belief = self.belief * likely
        belief /= np.maximum(belief.sum(axis=1, keepdims=True), 1e-300)
        self.belief = np.where(ended[:, None], belief, self.belief)

    def presses(self, task) -> np.ndarray:
        goes = GOES[self.orders[:, self.cue].T]
        press = (self.belief * goes).sum(axis=1)
        return self.coin(1 - press, press)


class PavlovianLearner(_Presser):
    """Learns the values of pressing and not pressing, with tendencies that no reward asks for.

    Args:
        rate: learning rate.
        beta: inverse temperature.
        go: value that is added to pressing.
        bias: weight of the value of the cue that is added to pressing.
    """

    def __init__(
        self, rate: float = 0.2, beta: float = 5.0, go: float = 0.0, bias: float = 0.0,
        seed: int | None = 0,
    ) -> None:  # fmt: skip
        super().__init__(seed)
        self.rate, self.beta, self.go, self.bias = rate, beta, go, bias

    def forget(self, task, rows) -> None:
        if rows.all():
            self.values, self.state = np.zeros((len(rows), 4, 2)), np.zeros((len(rows), 4))
        self.values[rows], self.state[rows] = 0, 0

    def learn(self, task, ended, reward) -> None:
        rows = self.rows[ended]
        cue, done, paid = self.cue[ended], self.pressed[ended].clip(0), reward[ended]
        self.values[rows, cue, done] += self.rate * (paid - self.values[rows, cue, done])
        self.state[rows, cue] += self.rate * (paid - self.state[rows, cue])

    def presses(self, task) -> np.ndarray:
        values = self.values[self.rows, self.cue]
        drive = values[:, 1] - values[:, 0] + self.go
        drive = drive + self.bias * self.state[self.rows, self.cue]
        return (self.rng.random(len(drive)) < 1 / (1 + np.exp(-self.beta * drive))).astype(int)


# ---------------------------------------------------------------------- offers


class _Chooser(Subject):
    """Base of subjects that choose between two offers: a logistic function of a difference."""

    beta: float = 0.0
    """Inverse temperature; 0 for choices without noise."""

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        seen = {name: observations[:, units] for name, units in env.task.channels.items()}
        shown, lead = self.lead(env.task, seen)
        luck = self.rng.logistic(size=len(lead)) / self.beta if self.beta else 0
        return np.where(shown, np.where(lead + luck > 0, 2, 1), 0)

    def lead(self, task, seen) -> tuple[np.ndarray, np.ndarray]:
        """Return whether offers are shown, and how much more the second is worth, (n,) each."""
        raise NotImplementedError


class Discounter(_Chooser):
    """Prefers the larger discounted amount.

    Args:
        k: rate of discounting, per day; None: that of the task.
        beta: inverse temperature, per dollar; 0: no noise.
        kind: "hyperbolic", "exponential", or "none" for a fixed least amount.
    """

    def __init__(
        self, k: float | None = None, beta: float = 0.0, kind: str = "hyperbolic",
        seed: int | None = 0,
    ) -> None:  # fmt: skip
        super().__init__(seed)
        self.k, self.beta, self.kind = k, beta, kind

    def lead(self, task, seen) -> tuple[np.ndarray, np.ndarray]:
        amount, days = 100 * seen["amount"].astype(float), 100 * seen["delay"].astype(float)
        k = task.k if self.k is None else self.k
        if self.kind == "none":
            return amount.any(axis=1), amount[:, 1] - 30
        worth = amount * (np.exp(-k * days) if self.kind == "exponential" else 1 / (1 + k * days))
        return amount.any(axis=1), worth[:, 1] - worth[:, 0]


class Gambler(_Chooser):
    """Accepts gambles whose worth, by its own aversion to losses, is above a limit.

    Args:
        aversion: weight of losses relative to gains; None: that of the task.
        beta: inverse temperature, per dollar; 0: no noise.
        least: worth that a gamble must have, dollars.
    """

    def __init__(
        self, aversion: float | None = None, beta: float = 0.0, least: float = 0.0,
        seed: int | None = 0,
    ) -> None:  # fmt: skip
        super().__init__(seed)
        self.aversion, self.beta, self.least = aversion, beta, least

    def lead(self, task, seen) -> tuple[np.ndarray, np.ndarray]:
        aversion = task.aversion if self.aversion is None else self.aversion
        gain, loss = 40 * seen["gain"][:, 0], 40 * seen["loss"][:, 0]
        return gain > 0, self.least - (gain - aversion * loss) / 2 - 1e-6


# ---------------------------------------------------------------------- risk


class _Symbols(_Learner):
    """Base of subjects of RiskyBandit: keeps the symbol that it chose."""

    def choose(self, task, seen) -> np.ndarray:
        shown = np.stack([seen["left"], seen["right"]], axis=1) > 0  # (n, 2, 5)
        there = shown.any(axis=2)
        value = np.where(there, (shown * self.values()[:, None]).sum(axis=2), -np.inf)
        value[~there.any(axis=1)] = 0
        side = self.side(value, there)
        self.chosen = shown[self.rows, side].argmax(axis=1)
        return side

    def values(self) -> np.ndarray:
        """Return the values of the symbols, (n, 5)."""
        raise NotImplementedError

    def side(self, value, there) -> np.ndarray:
        """Return the side to choose, (n,), from values and whether something is there, (n, 2)."""
        return self.coin(value[:, 0], value[:, 1])


class SymbolFilter(_Symbols):
    """Follows which symbol is which, by Bayes' rule over the orders of the five symbols."""

    def __init__(self, seed: int | None = 0) -> None:
        super().__init__(seed)
        self.orders = np.array(list(permutations(range(5))))  # (120, 5): stimulus of each symbol

    def forget(self, task, rows) -> None:
        if rows.all():
            self.belief = np.ones((len(rows), 120))
        self.belief[rows] = 1 / 120

    def learn(self, task, ended, reward) -> None:
        stimulus = self.orders[:, self.chosen].T  # (n, 120)
        points = np.rint(40 * reward)[:, None]
        risky = 0.5 * ((points == 0) | (points == 40))
        belief = self.belief * np.where(stimulus == 4, risky, points == MEANS[stimulus])
        belief /= np.maximum(belief.sum(axis=1, keepdims=True), 1e-300)
        self.belief = np.where(ended[:, None], belief, self.belief)

    def values(self) -> np.ndarray:
        return self.belief @ MEANS[self.orders]


class RiskLearner(_Symbols):
    """Learns values by prediction errors, with one rate for gains and one for losses.

    Args:
        gains, losses: learning rates of positive and negative prediction errors.
        beta: inverse temperature, per 40 points.
    """

    def __init__(
        self, gains: float = 0.2, losses: float = 0.2, beta: float = 8.0, seed: int | None = 0
    ) -> None:
        super().__init__(seed)
        self.gains, self.losses, self.beta = gains, losses, beta

    def forget(self, task, rows) -> None:
        if rows.all():
            self.learned = np.zeros((len(rows), 5))
        self.learned[rows] = 0.5

    def learn(self, task, ended, reward) -> None:
        error = reward - self.learned[self.rows, self.chosen]
        rate = np.where(error > 0, self.gains, self.losses) * ended
        self.learned[self.rows, self.chosen] += rate * error

    def values(self) -> np.ndarray:
        return self.learned

    def side(self, value, there) -> np.ndarray:
        luck = self.rng.logistic(size=len(value)) / self.beta
        lead = np.where(there.all(axis=1), value[:, 1] - value[:, 0] + luck, there[:, 1] - 0.5)
        return (lead > 0).astype(int)


# ---------------------------------------------------------------------- effort, balloons, foraging


class Worker(_Chooser):
    """Takes the hard offer if it pays for the time that it takes.

    Args:
        rate: price of time, dollars per ms; None: the largest reward rate.
        beta: inverse temperature, per dollar; 0: no noise.
        uses_chance: whether it looks at the probability, or takes it as 0.5.
    """

    def __init__(
        self, rate: float | None = None, beta: float = 0.0, uses_chance: bool = True,
        seed: int | None = 0,
    ) -> None:  # fmt: skip
        super().__init__(seed)
        self.rate, self.beta, self.uses_chance = rate, beta, uses_chance

    def lead(self, task, seen) -> tuple[np.ndarray, np.ndarray]:
        easy_ms, hard_ms = (task.timing[name].mean for name in ("easy", "hard"))
        spent = task.timing["interval"].mean + task.dt
        known = best_rate(easy_ms + spent, hard_ms + spent, task.effort)
        price = (known if self.rate is None else self.rate) * (hard_ms - easy_ms)
        price += task.effort * (PRESSES[1] - PRESSES[0])
        chance = seen["chance"][:, 0] if self.uses_chance else 0.5
        return seen["offer"][:, 0] > 0, chance * (MOST * seen["amount"][:, 0] - EASY) - price


class Pumper(Subject):
    """Pumps up each balloon to a number of pumps, which may change with money and bursts.

    Args:
        pumps: number of the first balloon.
        more, fewer: pumps that it adds after money, and takes away after a burst.
        spread: SD of the number of a balloon around it.
    """

    def __init__(
        self, pumps: float = 64, more: float = 0.0, fewer: float = 0.0, spread: float = 0.0,
        seed: int | None = 0,
    ) -> None:  # fmt: skip
        super().__init__(seed)
        self.pumps, self.more, self.fewer, self.spread = pumps, more, fewer, spread

    def begin(self, env: TaskVectorEnv) -> None:
        self.aim, self.wanted = np.full((2, env.num_envs), float(self.pumps))
        self._trial = np.full(env.num_envs, -1)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        ended, paid = env.trial_number != self._trial, env.last_reward > 0
        change = np.where(paid, self.more, -self.fewer) * (ended & (self._trial >= 0))
        self.aim = np.clip(self.aim + change, 1, 127)
        luck = self.rng.normal(0, self.spread, len(self.aim)) if self.spread else 0
        self.wanted = np.where(ended, np.clip(np.rint(self.aim + luck), 1, 127), self.wanted)
        self._trial = env.trial_number.copy()
        task: Any = env.task
        pumps = np.rint(observations[:, task.channels["pumps"]][:, 0] * max(task.largest))
        return np.where(pumps < self.wanted, PUMP, CASH)


class Forager(_Chooser):
    """Takes the option with the larger amount per time.

    Args:
        interval: whether the interval between trials counts as time.
    """

    def __init__(self, interval: bool = True, seed: int | None = 0) -> None:
        super().__init__(seed)
        self.interval = interval

    def lead(self, task, seen) -> tuple[np.ndarray, np.ndarray]:
        pause = (task.timing["interval"].mean + task.dt) / 1000 if self.interval else 0
        amount, delay = 10 * seen["amount"].astype(float), 100 * seen["delay"].astype(float)
        rate = amount / np.maximum(delay + pause, 1e-9)
        return seen["offer"][:, 0] > 0, rate[:, 1] - rate[:, 0]


# ---------------------------------------------------------------------- conditioning


class Predictor(Subject):
    """Knows the outcomes of the odours, and the time since the odour came."""

    def begin(self, env: TaskVectorEnv) -> None:
        self.since = np.full(env.num_envs, -1)  # steps since the onset of the odour
        self.expected = np.zeros(env.num_envs)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        task: Any = env.task
        channels = task.channels
        odour = observations[:, channels["odour"]]
        comes = odour.any(axis=1)
        self.since = np.where(self.since >= 0, self.since + 1, np.where(comes, 0, -1))
        ms = self.since * task.dt
        if isinstance(task, VariableISI):
            value, last = task.value_at(ms), DELAYS[-1]
        else:
            expected = (1 - task.omitted) * (odour @ AMOUNTS)
            self.expected = np.where(self.since == 0, expected, self.expected)
            last = task.timing["odour"].mean + task.timing["gap"].mean
            value = self.expected * task.discount ** (np.maximum(last - ms, 0) / 1000)
        over = observations[:, channels["drop"]].any(axis=1) | (ms >= last)
        self.since = np.where(over, -1, self.since)
        return np.where(self.since >= 0, value, 0)[:, None].astype(np.float32)
