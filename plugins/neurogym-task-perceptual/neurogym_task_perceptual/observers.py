"""Ideal observers, which give the ideals of the manifest, and subjects that leave something out.

They know the probabilities of their task, and see observations only."""

from __future__ import annotations

import numpy as np

from neurogym_core import Subject, TaskVectorEnv
from neurogym_task_perceptual.towers import APART, PLACES, STEM, steering
from neurogym_task_perceptual.waiting_confidence import LATEST, LEAVE, SOONEST


class _Listener(Subject):
    """Base of subjects that keep sums during a trial, and report a sign at the go cue."""

    carries_state = False
    sums_kept = 1

    def begin(self, env: TaskVectorEnv) -> None:
        self.sums = np.zeros((env.num_envs, self.sums_kept))

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        seen = {name: observations[:, units] for name, units in env.task.channels.items()}
        asked = seen["fixation"][:, 0] < 0.5
        self.update(env.task, seen)
        action = np.where(asked, 1 + (self.lead(seen) > 0), 0)
        self.sums[asked] = 0
        return action

    def update(self, task, seen) -> None:
        """Bring the sums up to date with the observations of a step: channel -> (n, units)."""
        raise NotImplementedError

    def lead(self, seen) -> np.ndarray:
        """Return a number, (n,), positive where the second choice is the better report."""
        return self.sums[:, 0]


# ---------------------------------------------------------------------- dynamic clicks


class StateFilter(_Listener):
    """Of DynamicClicks: the log odds of the hidden state, by Bayes' rule.

    Args:
        hazard: hazard that it expects, per second; None: that of the task.
    """

    def __init__(self, hazard: float | None = None, seed: int | None = 0) -> None:
        super().__init__(seed)
        self.hazard = hazard

    def update(self, task, seen) -> None:
        hazard = task.hazard if self.hazard is None else self.hazard
        stays = np.exp(-2 * hazard * task.dt / 1000)  # share of 2 P - 1 after a step
        self.sums = 2 * np.arctanh(stays * np.tanh(self.sums / 2))
        near, far = task.heard_rates()
        self.sums += np.log(near / max(far, 1e-9)) * (seen["stimulus"] @ [[-1.0], [1.0]])


class LeakyCounter(_Listener):
    """Of DynamicClicks: counts clicks, and forgets them.

    Args:
        tau: time constant of forgetting, ms; inf for a count of all clicks, 0 for the last one.
    """

    def __init__(self, tau: float = 300.0, seed: int | None = 0) -> None:
        super().__init__(seed)
        self.tau = tau

    def update(self, task, seen) -> None:
        surplus = seen["stimulus"] @ [[-1.0], [1.0]]
        kept = np.exp(-task.dt / self.tau) if self.tau else surplus == 0
        self.sums = self.sums * kept + surplus


# ---------------------------------------------------------------------- frequency and location


class PulseCounter(_Listener):
    """Of FrequencyLocationClicks: counts pulses by the feature that the cue asks for.

    Args:
        counts: the feature that counts: "cued", "location", "frequency", or "stronger", the one
            with the larger surplus.
    """

    sums_kept = 2

    def __init__(self, counts: str = "cued", seed: int | None = 0) -> None:
        super().__init__(seed)
        self.counts = counts

    def update(self, task, seen) -> None:
        pulses = seen["stimulus"].reshape(-1, 2, 2)  # side, pitch
        self.sums[:, 0] += pulses.sum(axis=2) @ [-1, 1]
        self.sums[:, 1] += pulses.sum(axis=1) @ [-1, 1]

    def lead(self, seen) -> np.ndarray:
        if self.counts == "cued":
            which = seen["context"].argmax(axis=1)
        elif self.counts == "stronger":
            which = np.abs(self.sums).argmax(axis=1)
        else:
            which = np.full(len(self.sums), self.counts == "frequency") * 1
        return self.sums[np.arange(len(which)), which]


# ---------------------------------------------------------------------- changing evidence


class HazardFilter(_Listener):
    """Of ChangingEvidence: the log odds of the source, by Bayes' rule, for each hazard.

    Args:
        hazard: the hazard that it expects; None: it learns that of the session.
    """

    def __init__(self, hazard: float | None = None, seed: int | None = 0) -> None:
        super().__init__(seed)
        self.hazard = hazard

    def begin(self, env: TaskVectorEnv) -> None:
        known = env.task.hazards if self.hazard is None else (self.hazard,)
        self.hazards = np.array(known)
        self.sums_kept = len(known)
        super().begin(env)
        self.steps, self.trust = np.zeros(env.num_envs, int), np.zeros_like(self.sums)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        length = env.task.trials_per_session
        fresh = (self.steps == 0) & (env.trial_number % (length or 1) == 0)
        self.trust[fresh & bool(length)] = 0
        action = super().__call__(env, observations)
        self.steps[action > 0] = 0
        return action

    def update(self, task, seen) -> None:
        star = seen["star"].astype(float)
        self.steps = self.steps + (star[:, 0] != 0)
        of_star = max(round(task.star_ms / task.dt), 1)
        new = (star != 0) & (self.steps[:, None] % of_star == 1 % of_star)
        kept = 1 - 2 * self.hazards
        prior = np.where(self.steps[:, None] <= of_star, 0, kept * np.tanh(self.sums / 2))
        ratio = 2 * star / task.sigma**2
        likely = np.logaddexp(np.log1p(prior) + ratio / 2, np.log1p(-prior) - ratio / 2)
        self.trust = np.where(new, self.trust + likely, self.trust)
        self.sums = np.where(new, np.log1p(prior) - np.log1p(-prior) + ratio, self.sums)

    def lead(self, seen) -> np.ndarray:
        weight = np.exp(self.trust - self.trust.max(axis=1, keepdims=True))
        return (weight * np.tanh(self.sums / 2)).sum(axis=1)


# ---------------------------------------------------------------------- odours


class Sniffer(Subject):
    """Of OdourCategorisation: reports the larger part as soon as a report counts.

    Args:
        waits: time until its report, ms from the onset of the odour.
    """

    carries_state = False

    def __init__(self, waits: float = 100, seed: int | None = 0) -> None:
        super().__init__(seed)
        self.waits = waits

    def begin(self, env: TaskVectorEnv) -> None:
        self.sampled = np.zeros(env.num_envs)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        odour = observations[:, env.task.channels["odour"]]
        smells = odour.any(axis=1)
        reports = smells & (self.sampled >= self.waits - 1e-6)
        self.sampled = np.where(smells & ~reports, self.sampled + env.task.dt, 0.0)
        return np.where(reports, 1 + (odour[:, 1] > odour[:, 0]), 0)


# ---------------------------------------------------------------------- waiting


class Waiter(Subject):
    """Of WaitingConfidence: chooses the larger part, and stays as long as its confidence says.

    Args:
        stays: time for which it stays, ms; None: by its confidence.
        knows: whether it chooses by the odour, and not by chance.
        one: whether it smells odour B alone.
    """

    carries_state = False

    def __init__(
        self,
        stays: float | None = None,
        knows: bool = True,
        one: bool = False,
        seed: int | None = 0,
    ) -> None:
        super().__init__(seed)
        self.stays, self.knows, self.one = stays, knows, one

    def begin(self, env: TaskVectorEnv) -> None:
        task, n = env.task, env.num_envs
        at = np.arange(1, round(LATEST / task.dt) + 1) * task.dt  # ends of the steps, ms
        come = 1 - np.exp(-np.maximum(at - SOONEST, 0) / task.tau)
        come /= 1 - np.exp((SOONEST - LATEST) / task.tau)
        spared = task.price * (LATEST - at) / 1000
        paid = np.cumsum(np.diff(come, prepend=0) * (1 + spared))
        self.sure = np.linspace(0, 1, 1001)
        earned = self.sure[:, None] * (paid - come * spared) + spared  # of leaving at each moment
        self.best = at[earned.argmax(axis=1)]
        self.odour, self.until, self.stayed = np.zeros(n), np.zeros(n), np.zeros(n)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        task = env.task
        seen = {name: observations[:, units] for name, units in task.channels.items()}
        smells, staying = seen["odour"].any(axis=1), seen["waiting"][:, 0] > 0.5
        asked = (seen["port"][:, 0] < 0.5) & ~staying
        smelt = seen["odour"] @ ([0, 2] if self.one else [-1, 1]) - self.one
        self.odour = np.where(smells, smelt, self.odour)
        signal = 2 * np.array(task.shares) / 100 - 1
        spread = 4 * task.sigma**2 * (1 + self.one)  # twice the variance of the odour
        likely = np.exp(-((self.odour[:, None] - signal) ** 2) / spread)
        right = (likely * (signal > 0)).sum(axis=1) / np.maximum(likely.sum(axis=1), 1e-300)
        side = right > 0.5 if self.knows else self.rng.random(len(right)) < 0.5
        sure = (1 - task.p_catch) * np.where(side, right, 1 - right)
        best = self.best[np.rint(1000 * sure).astype(int)]
        self.until = np.where(asked, best if self.stays is None else self.stays, self.until)
        self.stayed = np.where(staying, self.stayed + task.dt, 0)
        leaves = staying & (self.stayed >= self.until - 1e-6)
        return np.select([asked, leaves], [1 + side, LEAVE], 0)


# ---------------------------------------------------------------------- towers


def _lead(looks: str, lead: np.ndarray, towers: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return how many more towers were seen on the right, (n,), after those of a step.

    Args:
        looks: the towers that count, as in `TowerCounter`.
        lead: that before the step, (n,).
        towers: whether there is one on the left and on the right, (n, 2).
        at: their place, as a fraction of the walls, (n,).
    """
    surplus = towers @ ([0.0, 1.0] if looks == "right" else [-1.0, 1.0])
    if looks == "latest":
        return np.where(surplus != 0, surplus, lead)
    first, last = {"first": (0, 1 / 3), "last": (2 / 3, 1)}.get(looks, (0, 1))
    return lead + np.where((at >= first - 1e-9) & (at < last - 1e-9), surplus, 0)


class TowerCounter(_Listener):
    """Of AccumulatingTowers: turns to the side on which it has seen more towers.

    Args:
        looks: the towers that count: "all", "right" (those of the right wall), "first" or "last"
            (third of the places), or "latest" (those of the last place with any).
    """

    def __init__(self, looks: str = "all", seed: int | None = 0) -> None:
        super().__init__(seed)
        self.looks = looks

    def begin(self, env: TaskVectorEnv) -> None:
        super().begin(env)
        self.steps = np.zeros(env.num_envs)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        task = env.task
        seen = {name: observations[:, units] for name, units in task.channels.items()}
        asked = seen["corridor"][:, 0] < 0.5
        ms = self.steps * task.dt - float(task.timing["start"].mean)
        at = ms / float(task.timing["towers"].mean)
        self.sums[:, 0] = _lead(self.looks, self.sums[:, 0], seen["tower"], at)
        mean = (task.rich + task.poor) / 2 * max(round(200 / task.dt), 1)
        lead = self.sums[:, 0] - mean * (self.looks == "right")
        coin = self.rng.random(len(lead)) < 0.5
        right = np.where(np.abs(lead) < 1e-6, coin, lead > 0)
        self.steps = np.where(asked, 0, self.steps + 1)
        self.sums[asked] = 0
        return np.where(asked, 1 + right, 0)


class Navigator(Subject):
    """Of TowersMaze: runs straight, counts the towers of each place, and turns to the larger count.

    Args:
        looks: the towers that count, as in `TowerCounter`; "none": it always takes the right arm.
    """

    carries_state = False

    def __init__(self, looks: str = "all", seed: int | None = 0) -> None:
        super().__init__(seed)
        self.looks = looks

    def begin(self, env: TaskVectorEnv) -> None:
        n = env.num_envs
        self.lead, self.place = np.zeros(n), np.full(n, -1)
        self.coin = self.rng.random(n) - 0.5

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        seen = {name: observations[:, units] for name, units in env.task.channels.items()}
        along = seen["along"][:, 0].astype(float) * STEM
        place = np.floor(along / APART + 1e-3).astype(int)
        fresh = place < self.place
        self.lead[fresh] = 0
        self.coin[fresh] = self.rng.random(int(fresh.sum())) - 0.5
        new = (place != self.place)[:, None]
        self.lead = _lead(self.looks, self.lead, seen["tower"] * new, place / PLACES)
        self.place = place
        mean = (env.task.rich + env.task.poor) / 2 * (self.looks == "right")
        right = (self.lead - mean + self.coin > 0) | (self.looks == "none")
        return steering(along + 1e-3, seen["view"][:, 0] * 90.0, right)


# ---------------------------------------------------------------------- blocks


class BlockObserver(Subject):
    """Of PriorBlocks and HistoryPerceptualDecisionMaking: sums the evidence, and infers the block.

    It knows how long blocks are, and not whether the first one of a session repeats. The answer of
    a trial follows from its choice and the reward.

    Args:
        knows_blocks: whether it expects repetitions or alternations at all.
    """

    def __init__(self, knows_blocks: bool = True, seed: int | None = 0) -> None:
        super().__init__(seed)
        self.knows_blocks = knows_blocks

    def begin(self, env: TaskVectorEnv) -> None:
        task, n = env.task, env.num_envs
        if hasattr(task, "weakest"):
            weaker = np.linspace(task.weakest, 1, 101)
            self.means = np.stack([np.ones(101), weaker], axis=1)
        else:
            self.means = np.array(task.coherences)[:, None] / 200 * [1, -1]
        self.sums, self.seen = np.zeros((n, 2)), np.zeros(n)
        self.trial, self.last = np.full(n, -1), np.full(n, -1)
        self.action, self.right = np.zeros(n, np.int64), np.zeros(n, bool)
        self.lead = np.zeros(n)  # log odds that the first block of the session repeats

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        task, channels = env.task, env.task.channels
        number = env.trial_number % (task.trials_per_session or np.inf)
        ended = env.trial_number != self.trial
        if ended.any():
            self._learn(task, ended, number, env.last_reward > 0)
        self.trial = env.trial_number.copy()
        stimulus = observations[:, channels["stimulus"]].astype(float)
        asked = observations[:, channels["fixation"]][:, 0] < 0.5
        shown = ~asked & (stimulus != 0).any(axis=1)
        self.sums[shown] += stimulus[shown]
        self.seen[shown] += 1
        precision = task.dt / task.sigma**2
        power = 0.5 * self.seen[:, None] * (self.means**2).sum(axis=1)
        likely = [
            np.logaddexp.reduce((self.sums @ means.T - power) * precision, axis=1)
            for means in (self.means, self.means[:, ::-1])
        ]
        odds = likely[0] - likely[1] + self._prior(task, number)
        self.action = np.where(asked, 1 + (odds < 0), 0)
        return self.action

    def _repeats(self, task, number: np.ndarray) -> np.ndarray:
        """Return the probabilities that the answer repeats, if the first block is either kind."""
        second = (number // task.block_length).astype(int) % 2
        return np.stack([np.take(task.p_repeat, second), np.take(task.p_repeat, 1 - second)])

    def _prior(self, task, number: np.ndarray) -> np.ndarray:
        """Return the log odds of the first answer before the evidence."""
        first = 1 / (1 + np.exp(-self.lead))
        repeats = (self._repeats(task, number) * [first, 1 - first]).sum(axis=0)
        known = (number > 0) & (self.last >= 0) & self.knows_blocks
        sign = np.where(self.last == 0, 1, -1)
        return np.where(known, sign * np.log(repeats / (1 - repeats)), 0.0)

    def _learn(self, task, ended: np.ndarray, number: np.ndarray, right: np.ndarray) -> None:
        answered = ended & (self.action > 0) & (self.trial >= 0)
        answer = np.where(right, self.action - 1, 2 - self.action)
        learned = answered & (number > 1) & (self.last >= 0)
        repeats = self._repeats(task, number - 1)
        same = answer == self.last
        likely = np.where(same, repeats, 1 - repeats)
        self.lead = np.where(learned, self.lead + np.log(likely[0] / likely[1]), self.lead)
        self.last = np.where(answered, answer, self.last)
        fresh = ended & (number == 0)
        self.lead[fresh], self.last[fresh] = 0.0, -1
        self.sums[ended], self.seen[ended] = 0, 0


class SuccessorObserver(Subject):
    """Of HistoryNAltPerceptualDecisionMaking: sums the evidence, and learns the successors.

    It knows how long blocks are. After a trial, an unrewarded choice rules one answer out; the last
    answer and the successor of each answer are beliefs. That no answer follows two others, it does
    not use.
    """

    def begin(self, env: TaskVectorEnv) -> None:
        task, n = env.task, env.num_envs
        k = task.alternatives
        drift = np.array(task.coherences) / 200
        # Mean of each unit beyond one half: (coherence, strongest, unit).
        self.means = drift[:, None, None] * (2 * np.eye(k) - 1)
        self.sums, self.seen = np.zeros((n, k)), np.zeros(n)
        self.lead = np.zeros((n, k, k))  # log odds that the second answer follows the first
        self.last, self.now = np.full((2, n, k), 1 / k)
        self.offered, self.action = np.full(n, k), np.zeros(n, np.int64)
        self.trial = np.full(n, -1)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        task, channels = env.task, env.task.channels
        begun = env.trial_number != self.trial
        if begun.any():
            self._learn(task, begun & (self.trial >= 0), env.last_reward > 0)
            number = env.trial_number % (task.trials_per_session or np.inf)
            fresh = begun & (number % task.block_length == 0)
            self.lead[fresh] = 0
            # The first answer of a block follows the last one by the new rule.
            self.last[fresh & (number == 0)] = 1 / task.alternatives
            self.sums[begun] = self.seen[begun] = 0
            self.trial = env.trial_number.copy()
        asked = observations[:, channels["fixation"]][:, 0] < 0.5
        cue = observations[:, channels["offered"]] > 0.5 if task.cue else np.ones((len(asked), 1))
        on = cue.any(axis=1) & ~asked
        self.offered = np.where(on, np.take(task.counts, cue.argmax(axis=1)), self.offered)
        shown = observations[:, channels["stimulus"]].astype(float)
        on &= shown.any(axis=1)
        self.sums[on] += shown[on] - 0.5
        self.seen[on] += 1
        choices = self._answers(task, asked)
        self.action = np.where(asked, 1 + choices, self.action)
        return np.where(asked, self.action, 0)

    def _answers(self, task, asked: np.ndarray) -> np.ndarray:
        """Return the most probable answers, (n,), and keep the probabilities of all of them."""
        rows = np.flatnonzero(asked)
        k, precision = task.alternatives, task.dt / task.sigma**2
        there = np.arange(k) < self.offered[rows, None]
        inside, sums = there[:, None, None, :], self.sums[rows][:, None, None, :]
        power = self.seen[rows, None, None, None] * self.means**2 / 2
        fits = ((sums * self.means - power) * inside).sum(axis=3) * precision
        likely = np.logaddexp.reduce(fits, axis=1)
        total = np.log(np.maximum(self._expected(task, rows, there), 1e-12)) + likely
        total[~there] = -np.inf
        now = np.exp(total - total.max(axis=1, keepdims=True))
        self.now[rows] = now / now.sum(axis=1, keepdims=True)
        found = np.zeros(len(asked), int)
        found[rows] = now.argmax(axis=1)
        return found

    def _expected(self, task, rows: np.ndarray, there: np.ndarray) -> np.ndarray:
        """Return the probabilities of answers before the evidence, (rows, alternatives)."""
        follows = np.where(there[:, None, :], self.lead[rows], -np.inf)
        follows = np.exp(follows - follows.max(axis=2, keepdims=True))
        follows /= follows.sum(axis=2, keepdims=True)
        others = (1 - task.p_follow) / (self.offered[rows, None, None] - 1)
        chances = others + (task.p_follow - others) * follows
        return np.einsum("nj,njk->nk", self.last[rows], chances)

    def _learn(self, task, ended: np.ndarray, paid: np.ndarray) -> None:
        """Learn the answers of trials that have ended, and their successions."""
        rows = np.flatnonzero(ended & (self.action > 0))
        choice = self.action[rows] - 1
        chosen = np.arange(task.alternatives) == choice[:, None]
        now = self.now[rows] * np.where(paid[rows, None], chosen, ~chosen)
        now /= np.maximum(now.sum(axis=1, keepdims=True), 1e-300)
        others = (1 - task.p_follow) / (self.offered[rows] - 1)
        gain = np.log(task.p_follow / np.maximum(others, 1e-9))
        pairs = self.last[rows][:, :, None] * now[:, None, :]
        self.lead[rows] += gain[:, None, None] * pairs
        self.last[rows] = now
        self.action[rows] = 0


# ---------------------------------------------------------------------- one trial


class _OneTrial(Subject):
    """Base of observers that forget everything at the end of a trial."""

    carries_state = False

    def begin(self, env: TaskVectorEnv) -> None:
        self.trial = np.full(env.num_envs, -1)
        self.rows = np.arange(env.num_envs)
        self.forget(np.ones(env.num_envs, bool))

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        begins = env.trial_number != self.trial
        self.trial = env.trial_number.copy()
        self.forget(begins)
        seen = {
            name: observations[:, units].astype(float) for name, units in env.task.channels.items()
        }
        return self.act(env.task, seen, seen["fixation"][:, 0] < 0.5)

    def forget(self, begins: np.ndarray) -> None:
        """Begin the trials of some envs, (n,) bool; of all at first."""
        raise NotImplementedError

    def act(self, task, seen, asked: np.ndarray) -> np.ndarray:
        """Return actions (n,); `asked` says whether the fixation cue is off."""
        raise NotImplementedError


class Summer(_OneTrial):
    """Of RoitmanShadlen and PostDecisionWager: sums the motion, and looks as long as possible.

    Where a sure target is offered, it chooses it if a direction is less likely to be right than the
    sure target pays.
    """

    def forget(self, begins: np.ndarray) -> None:
        if begins.all():
            self.lead, self.steps = np.zeros((2, len(begins)))
        self.lead[begins], self.steps[begins] = 0, 0

    def act(self, task, seen, asked: np.ndarray) -> np.ndarray:
        shown = (seen["stimulus"] != 0).any(axis=1)
        self.lead += np.where(shown, seen["stimulus"] @ [1.0, -1.0], 0)
        self.steps += shown
        if "targets" in seen:  # of RoitmanShadlen: the motion lasts until the answer
            asked = asked & (self.steps * task.dt >= float(task.timing["stimulus"].mean) - 1e-6)
        direction = np.where(self.lead > 0, 1, 2)
        if "sure" not in seen:
            return np.where(asked, direction, 0)
        drift = np.array(task.coherences) / 100  # of the difference, per step
        power = self.steps[:, None] * drift**2 / 2
        precision = task.dt / (2 * task.sigma**2)
        right = np.exp((np.abs(self.lead)[:, None] * drift - power) * precision)
        wrong = np.exp((-np.abs(self.lead)[:, None] * drift - power) * precision)
        confidence = right.sum(axis=1) / (right + wrong).sum(axis=1)
        sure = (seen["sure"][:, 0] > 0.5) & (confidence < task.rewards["sure"])
        return np.where(asked, np.where(sure, 3, direction), 0)


class Weigher(_OneTrial):
    """Of ProbabilisticReasoning: adds the weights of the four shapes."""

    def forget(self, begins: np.ndarray) -> None:
        if begins.all():
            self.odds = np.zeros(len(begins))

    def act(self, task, seen, asked: np.ndarray) -> np.ndarray:
        weights = np.array(task.weights)
        odds = sum(seen[f"place{k + 1}"] @ weights for k in range(4))
        self.odds = np.where(asked, self.odds, odds)
        return np.where(asked, 1 + (self.odds > 0), 0)


class FlashCounter(_OneTrial):
    """Of PulseDecisionMaking: the probability that there were more pulses on the right.

    It knows the probabilities of pulses on the rich and on the poor side, that either side may be
    the rich one, and that it is right in a tie.
    """

    def forget(self, begins: np.ndarray) -> None:
        if begins.all():
            self.odds: list[list[np.ndarray]] = [[] for _ in begins]
        for env in np.flatnonzero(begins):
            self.odds[env] = []

    def act(self, task, seen, asked: np.ndarray) -> np.ndarray:
        sides = np.concatenate([seen["left"], seen["right"]], axis=1)
        for env in np.flatnonzero((sides != 0).any(axis=1) & ~asked):
            self.odds[env].append((sides[env] - 0.5) / task.pulse_noise**2)
        action = np.zeros(len(asked), np.int64)
        for env in np.flatnonzero(asked):
            action[env] = 1 + (self._right(task, np.array(self.odds[env])) > 0.5)
        return action

    @staticmethod
    def _right(task, odds: np.ndarray) -> float:
        """Return the probability that right is the answer, given log odds (bins, 2) of pulses."""
        found = np.zeros(2)
        for rich in (0, 1):
            counts = []
            for side in (0, 1):
                p = task.p_rich if side == rich else task.p_poor
                joint = np.array([1.0])
                for odd in odds[:, side]:
                    joint = np.convolve(joint, [1 - p, p * np.exp(odd)])
                counts.append(joint)
            both = np.outer(*counts)
            more = np.triu(both, 1).sum() + (np.trace(both) if rich else 0)
            found += [more, both.sum()]
        return float(found[0] / found[1])


class PulseFilter(_OneTrial):
    """Of Detection: goes as soon as the probability of a pulse so far is large enough.

    Args:
        sure: that probability; the default is the best of a grid.
    """

    def __init__(self, sure: float = 0.6, seed: int | None = 0) -> None:
        super().__init__(seed)
        self.sure = sure

    def begin(self, env: TaskVectorEnv) -> None:
        task = env.task
        drawn = task.sample(100_000, seed=1)
        lasts = drawn.period_steps["stimulus"]
        ms = np.asarray(drawn.notes["pulse_onset"], float)
        onset = np.where(ms < 0, lasts.max(), np.rint(ms / task.dt)).astype(int)  # last: no pulse
        table = np.zeros((lasts.max() + 1, lasts.max() + 1))
        np.add.at(table, (lasts, onset), 1)
        self.onsets = table[::-1].cumsum(axis=0)[::-1]  # (t, onset): in trials that last t or more
        self.shown = max(round(task.pulse / task.dt), 1)
        super().begin(env)

    def forget(self, begins: np.ndarray) -> None:
        if begins.all():
            self.ratio = np.zeros((len(begins), self.onsets.shape[1]))
            self.steps = np.zeros(len(begins), int)
        self.ratio[begins], self.steps[begins] = 0, 0

    def act(self, task, seen, asked: np.ndarray) -> np.ndarray:
        precision = task.dt / task.sigma**2
        gain = (seen["stimulus"][:, 0] * task.strength - task.strength**2 / 2) * precision
        onset = np.arange(self.ratio.shape[1] - 1)
        on = (self.steps[:, None] >= onset) & (self.steps[:, None] < onset + self.shown)
        self.ratio[:, :-1] += np.where(asked[:, None] & on, gain[:, None], 0)
        self.steps += asked
        weight = self.onsets[np.minimum(self.steps, len(self.onsets) - 1)] * np.exp(self.ratio)
        came = np.arange(weight.shape[1]) < self.steps[:, None]
        came[:, -1] = False
        present = (weight * came).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-300)
        return np.where(asked & (present > self.sure), 1, 0)
