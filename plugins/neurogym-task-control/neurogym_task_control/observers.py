"""Ideal observers of tasks whose rule only rewards show, for the ideals of the manifest.

They know the probabilities of their task, and see observations, their own choices and rewards."""

from __future__ import annotations

import numpy as np

from neurogym_core import Subject, TaskVectorEnv
from neurogym_task_control.card_sorting import RULES

LEARNED = 40_000
"""Trials from which an observer learns the meaning of its measurements."""
DRAWN = 200_000
"""Block lengths that are drawn to learn their distribution."""


class ContextFollower(Subject):
    """Of ContextSwitch: acts by the context that its last reward revealed."""

    def begin(self, env: TaskVectorEnv) -> None:
        self.other, self.inverts = np.zeros((2, env.num_envs), bool)
        self.begun = False

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        if self.begun:
            self.other = self.inverts == (env.last_reward > 0)
        self.begun, self.inverts = True, self.other
        side = observations[:, env.task.channels["stimulus"]].argmax(axis=1)
        return np.where(self.other, 1 - side, side)


class EnvironmentFilter(Subject):
    """Of ChangingEnvironment: Bayes' rule over the environment and the age of the block.

    An unrewarded choice speaks against the environment, the more so the surer the motion was.
    """

    def begin(self, env: TaskVectorEnv) -> None:
        task, n = env.task, env.num_envs
        lengths = task._block_lengths(DRAWN, np.random.default_rng(0))
        ends = np.bincount(lengths) / DRAWN
        left = 1 - np.cumsum(ends) + ends
        self.hazard = np.divide(ends, left, out=np.ones_like(ends), where=left > 1e-9)
        self.state = np.zeros((n, 2, len(ends)))  # environment, trials of the block so far
        self.state[:, :, 1] = 0.5
        self.lead, self.steps = np.zeros((2, n))
        self.trial, self.action = env.trial_number.copy(), np.zeros(n, np.int64)
        self.sure = np.full(n, 0.5)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        task, channels = env.task, env.task.channels
        ended = np.flatnonzero(env.trial_number != self.trial)
        if len(ended):
            self._learn(ended, env.last_reward[ended] > 0)
            length = task.trials_per_session
            fresh = ended[env.trial_number[ended] % length == 0] if length else ended[:0]
            self.state[fresh] = 0
            self.state[fresh, :, 1] = 0.5
        self.trial = env.trial_number.copy()
        stimulus = observations[:, channels["stimulus"]].astype(float)
        asked = observations[:, channels["fixation"]][:, 0] < 0.5
        shown = ~asked & (stimulus != 0).any(axis=1)
        self.lead += np.where(shown, stimulus @ [-1.0, 1.0], 0)
        self.steps += shown
        drift = np.array(task.coherences) / 100  # of the difference, per step
        precision = task.dt / (2 * task.sigma**2)
        power = self.steps[:, None] * drift**2 / 2
        right, wrong = (
            np.exp((sign * np.abs(self.lead)[:, None] * drift - power) * precision).sum(axis=1)
            for sign in (1, -1)
        )
        self.sure = np.where(asked, right / (right + wrong), self.sure)
        place = self.state.sum(axis=2).argmax(axis=1)
        self.action = np.where(asked, 1 + 2 * place + (self.lead > 0), self.action)
        return np.where(asked, self.action, 0)

    def _learn(self, rows: np.ndarray, paid: np.ndarray) -> None:
        """Learn from the rewards of trials that have ended, and expect the next ones."""
        chosen = (self.action[rows] - 1) // 2
        sure = self.sure[rows]
        here = np.where(paid, sure, 1 - sure)
        there = np.where(paid, 0.0, 1.0)
        likely = np.where(np.arange(2) == chosen[:, None], here[:, None], there[:, None])
        state = self.state[rows] * likely[:, :, None]
        over = (state * self.hazard).sum(axis=2)
        state = state * (1 - self.hazard)
        state[:, :, 1:], state[:, :, 0] = state[:, :, :-1].copy(), 0.0
        state[:, :, 1] = over[:, ::-1]
        self.state[rows] = state / np.maximum(state.sum(axis=(1, 2), keepdims=True), 1e-300)
        self.lead[rows], self.steps[rows] = 0, 0


class RuleFilter(Subject):
    """Of CardSorting: Bayes' rule over the rules, from the cards and the feedback.

    Its belief, (n, 3, criterion + 1), is about the rule and the number of correct sorts in a row.
    """

    def begin(self, env: TaskVectorEnv) -> None:
        n = env.num_envs
        self.belief = np.zeros((n, len(RULES), env.task.criterion + 1))
        self.alike, self.choice = np.zeros((n, len(RULES)), int), np.zeros(n, int)
        self.told, self.session = np.ones(n, bool), np.full(n, -1)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        channels, asked = env.task.channels, env.is_asked
        session = env.trial_number // env.task.trials_per_session
        fresh = session != self.session
        self.session = session
        told = observations[:, channels["feedback"]] > 0.5
        new = told.any(axis=1) & ~self.told
        self.belief[new] = self._learned(env.task.hazard, new, told[new, 1])
        self.told = (self.told | new) & ~asked
        self.belief[fresh] = 0
        self.belief[fresh, :, 0] = 1 / len(RULES)
        alike = np.stack([observations[:, channels[rule]] for rule in RULES], axis=1)
        worth = np.einsum("nr,nrk->nk", self.belief.sum(axis=2), alike)
        self.alike[asked] = alike.argmax(axis=2)[asked]
        self.choice[asked] = worth.argmax(axis=1)[asked]
        return np.where(asked, 1 + self.choice, 0)

    def _learned(self, hazard: float, new: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the belief about the next trial where feedback has come."""
        fits = (self.alike[new] == self.choice[new, None]) == right[:, None]
        belief = self.belief[new] * fits[:, :, None]
        reached = belief[:, :, -2] + belief[:, :, -1]
        left = reached * hazard
        fresh = np.where(
            right[:, None], (left.sum(axis=1, keepdims=True) - left) / 2, belief.sum(axis=2)
        )
        stays = np.where(right[:, None], reached - left, 0)
        between = belief[:, :, :-2] * right[:, None, None]
        belief = np.concatenate([fresh[:, :, None], between, stays[:, :, None]], axis=2)
        return belief / belief.sum(axis=(1, 2), keepdims=True)  # type: ignore[no-any-return]


class StaircaseKnower(Subject):
    """Of StopSignal: knows the delay of the signal, and waits for it only where it comes soonest.

    An unrewarded press was one of a stop trial, so that it can follow the staircase. Waiting for
    the signal costs more the later it comes, and a failed stop makes it come sooner. Of all rules
    "wait up to a delay, and above it press at once", the lowest delay earns most.
    """

    def begin(self, env: TaskVectorEnv) -> None:
        self.ssd, self.ms = np.zeros((2, env.num_envs))
        self.seen, self.pressed = np.zeros((2, env.num_envs), bool)
        self.trial = np.full(env.num_envs, -1)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        task, channels = env.task, env.task.channels
        begun = env.trial_number != self.trial
        if begun.any():
            failed = self.pressed & (env.last_reward <= 0)
            change = np.where(failed, -task.ssd_step, np.where(self.seen, task.ssd_step, 0))
            ssd = np.clip(self.ssd + change, task.ssd_step, task.longest_ssd)
            self.ssd = np.where(begun, ssd, self.ssd)
            length = task.trials_per_session
            fresh = begun & ((self.trial < 0) | (env.trial_number % (length or np.inf) == 0))
            self.ssd[fresh] = task.first_ssd
            self.ms[begun], self.seen[begun], self.pressed[begun] = 0, False, False
            self.trial = env.trial_number.copy()
        shown = observations[:, channels["stimulus"]]
        on = shown.any(axis=1)
        self.seen |= observations[:, channels["stop"]][:, 0] > 0.5
        waits = (self.ssd <= task.ssd_step) & (self.ms < self.ssd)
        goes = on & ~waits & ~self.seen & ~self.pressed
        self.ms += np.where(on, task.dt, 0)
        self.pressed |= goes
        return np.where(goes, 1 + shown.argmax(axis=1), 0)


class PairKeeper(Subject):
    """Of NAltConditionalVisuomotor: keeps the pairs until an error, and exchanges them.

    It knows the pictures of a session by their patterns. With two pictures, one reward shows both
    pairs.
    """

    def begin(self, env: TaskVectorEnv) -> None:
        n, units = env.num_envs, env.task.units
        self.pattern, self.first = np.zeros((2, n, units))
        self.steps, self.swapped = np.zeros(n), np.zeros(n, bool)
        self.trial, self.known = np.full(n, -1), np.zeros(n, bool)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        channels, length = env.task.channels, env.task.trials_per_session
        begun = env.trial_number != self.trial
        if begun.any():
            wrong = begun & (self.trial >= 0) & (env.last_reward <= 0)
            self.swapped ^= wrong
            self.known &= ~(begun & (env.trial_number % (length or np.inf) == 0))
            self.pattern[begun] = 0
            self.trial = env.trial_number.copy()
        self.pattern += observations[:, channels["stimulus"]]
        asked = observations[:, channels["fixation"]][:, 0] < 0.5
        new = asked & ~self.known
        self.first[new] = self.pattern[new]
        self.known |= asked
        steps = np.abs(self.pattern).max(axis=1, keepdims=True)
        other = (np.abs(self.pattern - self.first) > steps / 2).any(axis=1)
        return np.where(asked, 1 + (other ^ self.swapped), 0)


class RuleAndInterval(Subject):
    """Of HierarchicalReasoning: Bayes' rule over the rule and the age of the block.

    It reports the more probable rule, judges the interval as was right most often after its
    measurement in `LEARNED` trials of another seed, and learns from the reward at the end, which a
    misjudged interval loses, too.
    """

    def begin(self, env: TaskVectorEnv) -> None:
        task, n = env.task, env.num_envs
        batch = task.sample(LEARNED, seed=[7, 0])
        steps, long = batch.period_steps["interval"], batch.notes["category"] == "long"
        counts = np.ones((steps.max() + 1, 2)) / 2
        np.add.at(counts, (steps, long.astype(int)), 1)
        self.long = counts[:, 1] / counts.sum(axis=1)  # probability, of each measurement
        lengths = np.arange(task.longest_block + 1)
        left = np.clip(task.longest_block + 1 - np.maximum(lengths, task.shortest_block), 1, None)
        self.hazard = np.where(lengths < task.shortest_block, 0.0, 1 / left)
        self.state = np.zeros((n, 2, len(lengths)))  # rule, trials of the block so far
        self.state[:, :, 1] = 0.5
        self.trial = env.trial_number.copy()
        self.rule, self.side, self.steps, self.flashes = np.zeros((4, n), int)
        self.lit, self.sure = np.zeros(n, bool), np.full(n, 0.5)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        channels = env.task.channels
        begun = env.trial_number != self.trial
        if begun.any():
            self._learn(np.flatnonzero(begun), env.last_reward[begun] > 0)
            self.steps[begun] = self.flashes[begun] = 0
            self.trial = env.trial_number.copy()
        flash = observations[:, channels["flash"]] > 0.5
        lit = flash.any(axis=1)
        self.flashes += lit & ~self.lit
        self.steps += (self.flashes == 1) & ~lit
        self.lit = lit
        self.side = np.where(lit, flash.argmax(axis=1), self.side)
        asked = observations[:, channels["rule_targets"]].any(axis=1)
        decides = observations[:, channels["fixation"]][:, 0] < 0.5
        self.rule = np.where(asked, self.state.sum(axis=2).argmax(axis=1), self.rule)
        long = self.long[np.minimum(self.steps, len(self.long) - 1)]
        self.sure = np.where(decides, np.maximum(long, 1 - long), self.sure)
        pro = (long > 0.5) == (self.rule == 0)
        answer = np.where(pro, self.side, 1 - self.side)
        return np.where(decides, 3 + answer, np.where(asked, 1 + self.rule, 0))

    def _learn(self, rows: np.ndarray, paid: np.ndarray) -> None:
        """Learn from the rewards of trials that have ended, and expect the next ones."""
        here = np.where(paid, self.sure[rows], 1 - self.sure[rows])
        there = np.where(paid, 0.0, 1.0)
        reported = np.arange(2) == self.rule[rows, None]
        state = self.state[rows] * np.where(reported, here[:, None], there[:, None])[:, :, None]
        over = (state * self.hazard).sum(axis=2)
        state = state * (1 - self.hazard)
        state[:, :, 1:], state[:, :, 0] = state[:, :, :-1].copy(), 0.0
        state[:, :, 1] = over[:, ::-1]
        self.state[rows] = state / np.maximum(state.sum(axis=(1, 2), keepdims=True), 1e-300)


__all__ = [
    "ContextFollower",
    "EnvironmentFilter",
    "PairKeeper",
    "RuleAndInterval",
    "RuleFilter",
    "StaircaseKnower",
]
