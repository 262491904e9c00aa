"""Ideal observers, which give the ideals of the manifest. They see observations only."""

from __future__ import annotations

import numpy as np

from neurogym_core import Subject, TaskVectorEnv
from neurogym_task_cognition.attentional_blink import LAGS
from neurogym_task_cognition.change_detection import PLACES
from neurogym_task_cognition.mental_rotation import DIRECTIONS
from neurogym_task_cognition.price import BIN
from neurogym_task_cognition.pvt import EARLY, FIRST, LAST
from neurogym_task_cognition.sart import STOP
from neurogym_task_cognition.sequences import second_order
from neurogym_task_cognition.serial_reaction_time import PROBE

ODDS = np.linspace(-12, 12, 481)
"""Log odds of choice 1 against choice 0, on which waiting is valued."""


class BestStop(Subject):
    """Sums the evidence for one of two choices, and answers when waiting no longer pays.

    The value of waiting is computed backwards from the end of the window, for each log odds. The
    signal of a task is 1 in one of two units, with noise that is independent over steps and units.

    Args:
        channel: the channel whose evidence counts; None: the one that the task asks for.
    """

    carries_state = False
    window = "stimulus"

    def __init__(self, channel: str | None = None) -> None:
        self.channel = channel

    def begin(self, env: TaskVectorEnv) -> None:
        task = env.task
        gain = task.dt / task.sigma**2  # mean log odds of a step; their variance is twice that
        steps = round(float(task.timing[self.window].to_plain()) / task.dt)
        bins = max(round(BIN / task.dt), 1)
        starts = np.arange(steps) // bins * bins
        reward = 1 - task.price * starts / steps
        right = 1 / (1 + np.exp(-np.abs(ODDS)))
        moves = np.zeros((ODDS.size, ODDS.size))
        for sign, weight in ((1, 1 / (1 + np.exp(-ODDS))), (-1, 1 / (1 + np.exp(ODDS)))):
            reached = np.exp(-((ODDS - ODDS[:, None] - sign * gain) ** 2) / (4 * gain))
            moves += weight[:, None] * reached / reached.sum(axis=1, keepdims=True)
        self.bounds = np.zeros(steps)
        value = np.zeros(ODDS.size)
        for step in reversed(range(steps)):
            now, later = right * reward[step], moves @ value
            value = np.maximum(now, later)
            self.bounds[step] = np.min(np.abs(ODDS[now >= later]))
        self._scale = gain
        self._sum, self._step = np.zeros(env.num_envs), np.zeros(env.num_envs, int)

    def evidence(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        """Unit 1 minus unit 0 of the channel that is asked, (n,)."""
        channels = env.task.channels
        found = next(name for name in ("target", "colour", "ink") if name in channels)
        units = observations[:, channels[self.channel or found]]
        if "word" in channels and self.channel is None:
            read = observations[:, channels["cue"]][:, 1:] > 0.5
            units = np.where(read, observations[:, channels["word"]], units)
        return units[:, 1] - units[:, 0]  # type: ignore[no-any-return]

    def odds(self, evidence: np.ndarray) -> np.ndarray:
        """Log odds of choice 1, (n,), from the log likelihood ratio of its evidence."""
        return evidence

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        seen = observations[:, env.task.channels["fixation"]][:, 0] < 0.5
        self._sum[~seen] = self._step[~seen] = 0
        self._sum += np.where(seen, self._scale * self.evidence(env, observations), 0)
        odds = self.odds(self._sum)
        sure = seen & (np.abs(odds) >= self.bounds[self._step])
        self._step[seen] = np.minimum(self._step[seen] + 1, len(self.bounds) - 1)
        return np.where(sure, 1 + (odds > 0), 0)


class BestSwitch(BestStop):
    """Of task switching: the evidence of the feature that the cue asks for, or of `channel`."""

    def evidence(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        channels = env.task.channels
        height, side = (observations[:, channels[name]] @ [-1, 1] for name in ("height", "side"))
        tall = observations[:, channels["cue"]][:, :2].any(axis=1)
        if self.channel:
            tall = np.full(len(tall), self.channel == "height")
        return np.where(tall, height, side)


class BestPlaces(BestStop):
    """Of Posner's task: adds up the letters of both places, one of which is silent."""

    def evidence(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        channels = env.task.channels
        return sum(observations[:, channels[name]] @ [-1, 1] for name in ("left", "right"))


class BestContext(BestStop):
    """Of the AX-CPT: after an A it expects an X, as often as one comes; after a B it knows.

    Args:
        ignores: "cue", or "probe": it then answers by the cue, at once.
    """

    window = "probe"

    def __init__(self, ignores: str = "") -> None:
        super().__init__()
        self.ignores = ignores

    def begin(self, env: TaskVectorEnv) -> None:
        super().begin(env)
        p = env.task.p_target
        share = 1 - (1 - p) / 3 * 2 if self.ignores == "cue" else p / (1 - (1 - p) / 3 * 2)
        self._expects = np.log(share) - np.log(max(1 - share, 1e-9))
        self._after_b = np.zeros(env.num_envs, bool)
        if self.ignores == "probe":
            self.bounds[:] = 0

    def evidence(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        channels = env.task.channels
        a, b = observations[:, channels["cue"]].T
        self._after_b = (self._after_b & (a < 0.5)) | (b > 0.5)
        return observations[:, channels["probe"]] @ [1, -1] * (self.ignores != "probe")

    def odds(self, evidence: np.ndarray) -> np.ndarray:
        known = self._after_b & (self.ignores != "cue")
        return np.where(known, -np.inf, self._expects + evidence)


class Scanner(Subject):
    """Of Sternberg's task: remembers the set, and compares the probe with it.

    Args:
        base, each: ms from the onset of the probe to the answer, and ms more per digit of the set.
    """

    carries_state = False

    def __init__(self, base: float = 400, each: float = 40) -> None:
        self.base, self.each = base, each

    def begin(self, env: TaskVectorEnv) -> None:
        self._set, self._waited = np.zeros((env.num_envs, 10), bool), np.zeros(env.num_envs)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        channels = env.task.channels
        probe = observations[:, channels["probe"]] > 0.5
        asked = probe.any(axis=1)
        self._set[(self._waited > 0) & ~asked] = False  # another trial
        self._set |= observations[:, channels["digit"]] > 0.5
        self._waited = np.where(asked, self._waited + env.task.dt, 0)
        done = asked & (self._waited >= self.base + self.each * self._set.sum(axis=1))
        return np.where(done, 1 + (probe & self._set).any(axis=1), 0)


class BestMemory(Scanner):
    """Of Sternberg's task: answers at once."""

    def __init__(self) -> None:
        super().__init__(0, 0)


class BestDetector(Subject):
    """Of change detection: weighs, for all places and colours, how likely a change is."""

    carries_state = False

    def begin(self, env: TaskVectorEnv) -> None:
        self._sum = np.zeros((env.num_envs, env.task.channels.size - 1))

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        task = env.task
        asked = observations[:, task.channels["fixation"]][:, 0] < 0.5
        display = observations[:, task.channels["display"]]
        choice = np.zeros(len(display), int)
        if asked.any():
            test = display[asked].reshape(asked.sum(), PLACES, -1)
            gain = task.dt / (task.sigma**2 * test.sum(axis=(1, 2)))
            odds = self.odds(self._sum[asked].reshape(test.shape), test, gain[:, None, None])
            choice[asked] = 1 + (odds > 0)
        self._sum = np.where(asked[:, None], 0, self._sum + display)
        return choice

    def odds(self, seen: np.ndarray, test: np.ndarray, gain: np.ndarray) -> np.ndarray:
        """Log odds of a change, (n,).

        Args:
            seen: sum of the sample over its steps, (n, places, colours).
            test: the test, likewise.
            gain: dt over the variance of the noise, (n, 1, 1).
        """
        kept = (seen * test).sum(axis=2, keepdims=True)
        other = test.any(axis=2, keepdims=True) & (test < 0.5)
        ratios = np.where(other, gain * (seen - kept), -np.inf).reshape(len(test), -1)
        return np.logaddexp.reduce(ratios, axis=1) - np.log(other.sum(axis=(1, 2)))


class BestPress(Subject):
    """Of the SART: presses at once at every digit but the 3."""

    carries_state = False

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        digits = observations[:, env.task.channels["digit"]] > 0.5
        return np.where(digits.any(axis=1) & ~digits[:, STOP - 1], 1, 0)


class Drifter(Subject):
    """Of the SART: presses by habit, and earlier, while its attention is elsewhere.

    Attention is elsewhere in three tenths of the trials: it then presses 250 ms after the onset of
    any digit, and otherwise after 350 ms, unless it is the 3.

    Args:
        stays: probability that attention is elsewhere after a trial in which it was; with 0.3, it
            is elsewhere in single trials, independently.
    """

    def __init__(self, stays: float = 0.9) -> None:
        self.stays = stays

    def begin(self, env: TaskVectorEnv) -> None:
        self._rng, n = np.random.default_rng(0), env.num_envs
        self._waited, self._away = np.zeros(n), self._rng.random(n) < 0.3
        self._shown, self._stop = np.zeros((2, n), bool)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        digits = observations[:, env.task.channels["digit"]] > 0.5
        fresh = digits.any(axis=1) & ~self._shown
        self._shown = digits.any(axis=1)
        self._stop = np.where(fresh, digits[:, STOP - 1], self._stop)
        chance = np.where(self._away, self.stays, (1 - self.stays) * 0.3 / 0.7)
        self._away = np.where(fresh, self._rng.random(len(fresh)) < chance, self._away)
        self._waited = np.where(fresh, 0, self._waited) + env.task.dt
        due = self._waited == np.where(self._away, 250, 350)
        return np.where(due & (self._away | ~self._stop), 1, 0)


class Watcher(Subject):
    """Of the PVT: presses when it is sure enough that the light is on for 100 ms.

    It has a probability for each time since the onset, and for the light being off.

    Args:
        rising: whether it knows that the light is the more likely to come, the longer it has not;
            otherwise it expects it equally at any time.
        sure: probability from which it presses.
    """

    carries_state = False

    def __init__(self, rising: bool = True, sure: float = 0.9) -> None:
        self.rising, self.sure = rising, sure

    def begin(self, env: TaskVectorEnv) -> None:
        task = env.task
        self._waited = np.zeros(env.num_envs, int)
        steps = np.arange(LAST // task.dt + 1)
        rising = np.where(steps < FIRST / task.dt, 0, 1 / (len(steps) - steps))
        self._hazard = rising if self.rising else np.full(len(steps), task.dt / LAST)
        self._chances = np.tile(np.eye(round(EARLY / task.dt) + 2)[0], (env.num_envs, 1))
        self._precision = task.dt / max(task.sigma, 0.5) ** 2

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        channels, chances = env.task.channels, self._chances
        ready = observations[:, channels["ready"]][:, 0] > 0.5
        hazard = self._hazard[np.minimum(self._waited, len(self._hazard) - 1)]
        self._waited = np.where(ready, 0, self._waited + 1)
        chances[:, -1] += chances[:, -2]
        chances[:, 2:-1] = chances[:, 1:-2]
        chances[:, 1] = chances[:, 0] * hazard
        chances[:, 0] *= 1 - hazard
        light = observations[:, channels["light"]]
        chances[:, 1:] *= np.exp(np.clip(self._precision * (light - 0.5), -50, 50))
        chances /= chances.sum(axis=1, keepdims=True)
        chances[ready] = np.eye(chances.shape[1])[0]
        return (chances[:, -1] >= self.sure) * 1


class Anticipator(Subject):
    """Of the serial reaction time task: learns which light follows the last ones, and anticipates.

    It presses before the light while it knows what to expect, and its last expectation came true;
    otherwise at the light.

    Args:
        order: how many of the last lights it goes by, 1 or 2; 0: it always waits for the light.
    """

    def __init__(self, order: int = 2) -> None:
        self.order = order

    def begin(self, env: TaskVectorEnv) -> None:
        n = env.num_envs
        self._next, self._last = np.full((n, 4, 4), -1), np.zeros((n, 2), int)
        self._on, self._right, self._pressed = np.zeros((3, n), bool)
        self._number = np.zeros(n, int)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        lights = observations[:, env.task.channels["light"]] > 0.5
        on, rows = lights.any(axis=1), np.arange(len(lights))
        self._next[self._on & ~on & (self._number % env.task.trials_per_session == 0)] = -1
        self._pressed &= ~(self._on & ~on)  # another trial
        before = self._last[:, 0] * (self.order > 1), self._last[:, 1]
        expected = self._next[rows, before[0], before[1]]
        onset = np.flatnonzero(on & ~self._on)
        seen = lights[onset].argmax(axis=1)
        self._right[onset] = expected[onset] == seen
        known = self._number[onset] % env.task.trials_per_session >= 2
        new = np.where((expected[onset] < 0) & known, seen, expected[onset])
        self._next[onset, before[0][onset], before[1][onset]] = new
        self._last[onset] = np.stack([self._last[onset, 1], seen], axis=1)
        self._number[onset] += 1
        self._on = on
        early = ~on & self._right & (expected >= 0) & (self.order > 0)
        press = (on | early) & ~self._pressed
        self._pressed |= press
        return np.where(press, 1 + np.where(on, lights.argmax(axis=1), expected), 0)


class SequenceFilter(Subject):
    """Of the serial reaction time task: Bayes' rule over all sequences, and over the random block.

    Its presses change nothing that it sees, so that the best press of each trial is the best
    policy: before the light, if the probability of the next light is worth more than waiting.
    """

    def begin(self, env: TaskVectorEnv) -> None:
        task, n = env.task, env.num_envs
        self.orders = np.array([task.sequence] if task.sequence else second_order())
        self.length = self.orders.shape[1]
        # Places of sequences that are alike, as (sequence, place), and the random block's onsets.
        self.onsets = np.arange(2 * PROBE, 4 * PROBE)
        self.belief = np.zeros((n, self.orders.size))
        self.begins = np.zeros((n, len(self.onsets)))
        self.number, self.last = np.zeros(n, int), np.full(n, -1)
        self.on, self.pressed = np.zeros((2, n), bool)
        ms = {name: float(task.timing[name].to_plain()) for name in ("interval", "light")}
        self.waiting = 1 - task.price * ms["interval"] / sum(ms.values())
        self._forget(np.ones(n, bool))

    def _forget(self, rows: np.ndarray) -> None:
        self.belief[rows], self.begins[rows] = 1 / self.orders.size, 1 / len(self.onsets)
        self.number[rows], self.last[rows] = 0, -1

    def _at_random(self) -> np.ndarray:
        """Return whether the coming trial is random, (n, onsets)."""
        since = self.number[:, None] - self.onsets
        return (since >= 0) & (since < PROBE)

    def _expected(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the probabilities of a random trial and of the lights in either, (n, 4) each."""
        random = (self.begins * self._at_random()).sum(axis=1)
        lights = self.orders.ravel()
        sequence = np.stack([self.belief[:, lights == k].sum(axis=1) for k in range(4)], axis=1)
        other = np.where(np.arange(4) == np.maximum(self.last, 0)[:, None], 0.0, 1 / 3)
        return random, sequence, other

    def _learn(self, rows: np.ndarray, light: np.ndarray) -> None:
        random, sequence, other = (one[rows] for one in self._expected())
        pick = np.arange(len(rows)), light
        likely = np.where(self._at_random()[rows], other[pick][:, None], sequence[pick][:, None])
        self.begins[rows] *= likely
        self.begins[rows] /= np.maximum(self.begins[rows].sum(axis=1, keepdims=True), 1e-300)
        # A random trial does not move the sequence on, and says nothing about it.
        share = random * other[pick]
        share = share / np.maximum(share + (1 - random) * sequence[pick], 1e-300)
        fits = self.belief[rows] * (self.orders.ravel() == light[:, None])
        fits /= np.maximum(fits.sum(axis=1, keepdims=True), 1e-300)
        moved = np.roll(fits.reshape(len(rows), -1, self.length), 1, axis=2)
        moved = moved.reshape(len(rows), -1)
        self.belief[rows] = share[:, None] * self.belief[rows] + (1 - share[:, None]) * moved

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        lights = observations[:, env.task.channels["light"]] > 0.5
        on, light = lights.any(axis=1), lights.argmax(axis=1)
        self.pressed &= ~(self.on & ~on)  # another trial
        over = self.on & ~on & (self.number % (env.task.trials_per_session or np.inf) == 0)
        self._forget(over)
        onset = np.flatnonzero(on & ~self.on)
        if len(onset):
            self._learn(onset, light[onset])
            self.last[onset] = light[onset]
            self.number[onset] += 1
        self.on = on
        random, sequence, other = self._expected()
        chance = random[:, None] * other + (1 - random[:, None]) * sequence
        early = ~on & (chance.max(axis=1) > self.waiting)
        press = (on | early) & ~self.pressed
        self.pressed |= press
        return np.where(press, 1 + np.where(on, light, chance.argmax(axis=1)), 0)


class BestLoop(Subject):
    """Of the 12-AX task: remembers the digit and the first letter.

    Args:
        forgets: probability with which it loses the digit before each answer, and takes either.
        ignores: "digit", "first" or "second" (letter), which it takes for the one of a target.
    """

    carries_state = False

    def __init__(self, forgets: float = 0.0, ignores: str = "") -> None:
        super().__init__()
        self.forgets, self.ignores = forgets, ignores

    def begin(self, env: TaskVectorEnv) -> None:
        self._digit, self._first = np.zeros((2, env.num_envs), int)
        self._asked = np.zeros(env.num_envs, bool)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        symbols = observations[:, env.task.channels["symbol"]] > 0.5
        digit, first, second = symbols[:, :2], symbols[:, 2:5], symbols[:, 5:]
        asked = second.any(axis=1)
        lost = asked & ~self._asked & (self.rng.random(len(asked)) < self.forgets)
        self._asked = asked
        self._digit = np.where(digit.any(axis=1), digit.argmax(axis=1), self._digit)
        self._digit = np.where(lost, self.rng.integers(0, 2, len(lost)), self._digit)
        self._first = np.where(first.any(axis=1), first.argmax(axis=1), self._first)
        known = {"digit": self._digit, "first": self._first, "second": second.argmax(axis=1)}
        kept = [known[name] for name in known if name != self.ignores]
        yes = np.all([one == kept[0] for one in kept], axis=0) & (kept[0] < 2)
        return np.where(asked, 1 + yes, 0)


class Searcher(Subject):
    """Of visual search: looks at one letter after the other, until it finds the target.

    It sees a single feature everywhere at once.

    Args:
        base, each: ms from the onset of the display to the answer, and ms more for each letter that
            it looks at.
        stops: whether it stops at the target; otherwise it looks at all letters.
    """

    carries_state = False

    def __init__(self, base: float = 400, each: float = 60, stops: bool = True) -> None:
        self.base, self.each, self.stops = base, each, stops

    def begin(self, env: TaskVectorEnv) -> None:
        self._waited = np.zeros(env.num_envs)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        channels = env.task.channels
        shown = observations[:, channels["display"]].reshape(len(observations), -1, 6) > 0.5
        there = shown.any(axis=2)
        self._waited = np.where(there.any(axis=1), self._waited + env.task.dt, 0)
        feature = observations[:, channels["search"]][:, 1] > 0.5
        odd = (shown[:, :, 2] | shown[:, :, 5]).any(axis=1)
        found = shown[:, :, 0] & shown[:, :, 3]
        conjunction = found.any(axis=1)
        last = np.where(conjunction & self.stops, found.argmax(axis=1), there.shape[1])
        looked = (there & (np.arange(there.shape[1]) <= last[:, None])).sum(axis=1)
        due = self.base + self.each * np.where(feature, 0, looked)
        done = there.any(axis=1) & (self._waited >= due)
        return np.where(done, 1 + np.where(feature, odd, conjunction), 0)


class BestSearcher(Searcher):
    """Of visual search: sees all letters at once."""

    def __init__(self) -> None:
        super().__init__(0, 0)


class BlinkObserver(Subject):
    """The ideal observer of `AttentionalBlink`, which knows on which steps each letter is shown.

    It names the letter with the most evidence while the target is white. Of the letters that
    follow, it compares how likely the evidence is with an X at one of the lags, and without.
    """

    carries_state = False

    def begin(self, env: TaskVectorEnv) -> None:
        units = env.task.channels["letter"]
        self._seen = np.zeros((env.num_envs, LAGS + 1, units.stop - units.start))
        self._step = np.full(env.num_envs, -1)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        task, actions = env.task, env.task.actions
        part = {name: observations[:, units] for name, units in task.channels.items()}
        asked = part["question"].max(axis=1) > 0
        begins = (part["white"][:, 0] > 0) & (self._step < 0)
        self._step = np.where(begins | (self._step >= 0), self._step + 1, -1)
        self._seen[begins] = 0
        item = self._step // round(task.soa / task.dt)
        rows = np.flatnonzero((item >= 0) & (item <= LAGS) & ~asked)
        self._seen[rows, item[rows]] += part["letter"][rows]
        self._step[asked] = -1
        odds = self._seen * task.dt / task.sigma**2
        target = odds[:, 0, :-1].argmax(axis=1)
        others = np.exp(odds[:, 1:, :-1]).mean(axis=2)
        probe = (np.exp(odds[:, 1:, -1]) / others).mean(axis=1) > 1
        report, detect = (actions[name].start for name in ("report", "detect"))
        answer = np.where(part["question"][:, 0] > 0, report + target, detect + probe)
        return np.where(asked, answer, 0)


class BlurredOrder(Subject):
    """Of SequenceRecall and SerialRecall: remembers the items, and when each came, with noise.

    It reports the items in the order of their remembered times, so that it confuses neighbours.

    Args:
        blur: SD of the remembered times, in items; 0 for a perfect memory.
    """

    carries_state = False

    def __init__(self, blur: float = 0.5, seed: int | None = 0) -> None:
        super().__init__(seed)
        self.blur = blur

    def begin(self, env: TaskVectorEnv) -> None:
        self._at = np.full((env.num_envs, len(env.task.items)), np.inf)
        self._count = np.zeros(env.num_envs)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        channels = env.task.channels
        lit = observations[:, channels[env.task.item]] > 0.5
        asked = observations[:, channels["fixation"]][:, 0] < 0.5
        self._at[~asked & (self._count == 0)] = np.inf  # another trial
        new = lit & np.isinf(self._at)
        self._count += new.any(axis=1)
        place = self._count[:, None] + self.blur * self.rng.standard_normal(new.shape)
        self._at = np.where(new, -place if env.task.backward else place, self._at)
        tapped = self._at.argmin(axis=1)
        self._at[asked, tapped[asked]] = np.inf
        self._count[asked & np.isinf(self._at).all(axis=1)] = 0
        return np.where(asked, 1 + tapped, 0)


class Order(BlurredOrder):
    """Of SequenceRecall and SerialRecall: a perfect memory."""

    def __init__(self, seed: int | None = 0) -> None:
        super().__init__(0.0, seed)


class Rotator(Subject):
    """Of MentalRotation: turns the first figure until it fits the second one, or its mirror image.

    Args:
        base: ms from the onset of the figures to the answer without a rotation.
        per_degree: ms more per degree of the rotation.
    """

    carries_state = False

    def __init__(self, base: float = 1000, per_degree: float = 17, seed: int | None = 0) -> None:
        super().__init__(seed)
        self.base, self.per_degree = base, per_degree

    def begin(self, env: TaskVectorEnv) -> None:
        self._waited = np.zeros(env.num_envs)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        channels = env.task.channels
        first, second = (observations[:, channels[name]] for name in ("first", "second"))
        asked = first.any(axis=1)
        steps = np.arange(DIRECTIONS)
        # By how much a turned figure, or its mirror image, differs from the second one.
        turned = first[:, (steps - steps[:, None]) % DIRECTIONS]  # (n, turns, directions)
        mirrored = first[:, (steps[:, None] - steps) % DIRECTIONS]
        misfit = np.stack([turned, mirrored], axis=1) - second[:, None, None]
        misfit = (misfit**2).sum(axis=3)
        mirror = misfit.min(axis=2).argmin(axis=1)
        turn = misfit.min(axis=1).argmin(axis=1)
        degrees = np.minimum(turn, DIRECTIONS - turn) * 360 / DIRECTIONS
        self._waited = np.where(asked, self._waited + env.task.dt, 0)
        done = asked & (self._waited >= self.base + self.per_degree * degrees - 1e-6)
        self._waited[done] = 0
        return np.where(done, 1 + mirror, 0)


class BestRotator(Rotator):
    """Of MentalRotation: sees all rotations at once."""

    def __init__(self, seed: int | None = 0) -> None:
        super().__init__(0, 0, seed)


__all__ = [
    "Anticipator",
    "BestContext",
    "BestDetector",
    "BestLoop",
    "BestMemory",
    "BestPlaces",
    "BestPress",
    "BestRotator",
    "BestSearcher",
    "BestStop",
    "BestSwitch",
    "BlinkObserver",
    "BlurredOrder",
    "Drifter",
    "Order",
    "Rotator",
    "Scanner",
    "Searcher",
    "SequenceFilter",
    "Watcher",
]
