"""Observers that reach: they see observations only."""

from __future__ import annotations

import numpy as np

from neurogym_core import Subject, TaskVectorEnv
from neurogym_task_motor.centre_out import LARGEST, MASS, REACH, minimum_jerk, turned
from neurogym_task_motor.reaching_1d import START, TURN
from neurogym_task_motor.smooth_pursuit import FASTEST, LAG

STIFFNESS, DAMPING = 25.0, 3.0  # N/dm and N s/dm, about those of an arm


class Reacher(Subject):
    """Follows a movement with minimum jerk of 500 ms, and corrects all that it sees at once."""

    def begin(self, env: TaskVectorEnv) -> None:
        n = env.num_envs
        self.since = np.zeros(n)  # s since the go cue
        self.target = np.zeros((n, 2))
        self.start = np.zeros((n, 2))
        self.trial = np.full(n, -1)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        task, dt = env.task, env.task.dt / 1000
        seen = {name: observations[:, units] for name, units in task.channels.items()}
        new = env.trial_number != self.trial
        self.new_trial(env, new)
        self.trial = env.trial_number.copy()
        self.target[new], self.start[new] = 0, seen["hand"][new]
        shown = seen["target"].any(axis=1)
        self.target[shown] = seen["target"][shown]
        self.since = np.where(seen["hold"][:, 0] > 0.5, 0, self.since + dt)
        self.watch(seen)
        share = self.since / REACH
        way = self.goal() - self.start
        ahead = self.start + minimum_jerk(share)[:, None] * way
        past = self.start + minimum_jerk(share - dt / REACH)[:, None] * way
        hand = np.concatenate([seen["hand"], seen["velocity"]], axis=1)
        force = self.force(hand, ahead, (ahead - past) / dt, dt)
        limit = np.clip(force, -LARGEST, LARGEST)
        return task.actions.from_task_units(limit).astype(np.float32)

    def new_trial(self, env: TaskVectorEnv, new: np.ndarray) -> None:
        """Learn from the last trials of envs where a new one begins, (n,) bool."""

    def watch(self, seen: dict[str, np.ndarray]) -> None:
        """See the observations of a step: channel -> (n, units)."""

    def goal(self) -> np.ndarray:
        """Where it brings its hand, (n, 2)."""
        return self.target

    def force(self, hand, ahead, velocity, dt) -> np.ndarray:
        """Force, (n, 2), for the place and the velocity that the movement asks for."""
        return MASS * ((ahead - hand[:, :2]) / dt - hand[:, 2:]) / (10 * dt)


class ForceLearner(Reacher):
    """Of ForceField: soft as an arm, with a force against the field that it expects.

    Args:
        rate: share of the error of its field that it corrects after each trial.
    """

    def __init__(self, rate: float = 0.1, seed: int | None = 0) -> None:
        super().__init__(seed)
        self.rate = rate

    def begin(self, env: TaskVectorEnv) -> None:
        super().begin(env)
        n = env.num_envs
        self.field, self.peak, self.off = np.zeros(n), np.zeros(n), np.zeros(n)
        self.speed = np.zeros((n, 2))

    def watch(self, seen) -> None:
        hand, way = seen["hand"], self.target / np.maximum(_length(self.target), 1e-9)[:, None]
        speed = _length(seen["velocity"])
        faster = (self.since > 0) & (speed > self.peak)
        off = way[:, 0] * hand[:, 1] - way[:, 1] * hand[:, 0]
        self.off = np.where(faster, off, self.off)
        self.peak = np.where(faster, speed, self.peak)

    def new_trial(self, env, new) -> None:
        # A field of 13 N s/m pushes such a hand aside by 0.116 dm, to the right if it is positive.
        error = -self.off * 13 / 0.116
        self.field = np.where(new, self.field + self.rate * error, self.field)
        length = env.task.trials_per_session
        self.field[new & (env.trial_number % (length or 1) == 0) & bool(length)] = 0
        self.peak[new] = self.off[new] = 0
        self.speed[new] = 0

    def force(self, hand, ahead, velocity, dt) -> np.ndarray:
        push = MASS * (velocity - self.speed) / (10 * dt)
        self.speed = velocity
        against = -self.field[:, None] / 10 * np.stack([velocity[:, 1], -velocity[:, 0]], axis=1)
        feedback = STIFFNESS * (ahead - hand[:, :2]) + DAMPING * (velocity - hand[:, 2:])
        return push + against + feedback


class RotationLearner(Reacher):
    """Of VisuomotorRotation: turns its reach against the rotation that it expects.

    Args:
        keeps: share of its turn that is left in the next trial.
        rate: share of the error that it corrects after each trial; 1 is the best.
    """

    def __init__(self, keeps: float = 0.98, rate: float = 0.1, seed: int | None = 0) -> None:
        super().__init__(seed)
        self.keeps, self.rate = keeps, rate

    def begin(self, env: TaskVectorEnv) -> None:
        super().begin(env)
        self.turn, self.error = np.zeros(env.num_envs), np.zeros(env.num_envs)

    def watch(self, seen) -> None:
        cursor, target = (one[:, 0] + 1j * one[:, 1] for one in (seen["cursor"], self.target))
        shown = (cursor != 0) & (target != 0)
        self.error = np.where(shown, np.degrees(np.angle(cursor * np.conj(target))), self.error)

    def new_trial(self, env, new) -> None:
        turn = self.keeps * self.turn + self.rate * self.error
        self.turn = np.where(new, turn, self.turn)
        length = env.task.trials_per_session
        self.turn[new & (env.trial_number % (length or 1) == 0) & bool(length)] = 0
        self.error[new] = 0

    def goal(self) -> np.ndarray:
        return turned(self.target, -self.turn)


class BestRotationLearner(RotationLearner):
    """Of VisuomotorRotation: corrects all of the last error."""

    def __init__(self, seed: int | None = 0) -> None:
        super().__init__(1.0, 1.0, seed)


class CursorTurner(Subject):
    """Of Reaching1D, its version with self-distraction, and AngleReproduction: turns to the target.

    It reads cursor and angles from the rings, remembers the angles, and turns the shorter way until
    another step would not bring the cursor closer. Where one ring shows both, it subtracts its
    cursor, which it follows from its own turns.
    """

    carries_state = False

    def begin(self, env: TaskVectorEnv) -> None:
        n = env.num_envs
        self.angles, self.cursor = np.zeros((n, 2)), np.full(n, START)
        self.count, self.shown, self.asked = np.zeros(n, int), np.zeros(n, bool), np.zeros(n, bool)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        task, n = env.task, env.num_envs
        seen = {name: observations[:, units].astype(float) for name, units in task.channels.items()}
        if "angle" in seen:
            asked, second = (seen["go1"] + seen["go2"])[:, 0] > 0.5, seen["go2"][:, 0] > 0.5
            ring, self.cursor = seen["angle"], _direction(task, seen["cursor"])
        else:
            asked, second = seen["fixation"][:, 0] < 0.5, np.zeros(n, bool)
            self.cursor[~asked] = START
            if "cursor" in seen:
                ring, self.cursor = seen["target"], _direction(task, seen["cursor"])
            else:
                own = np.cos(task.ring.angles - self.cursor[:, None])
                ring = np.where(asked[:, None], seen["sensed"] - own, 0.0)
        self.count[self.asked & ~asked] = 0  # another trial
        shown = np.abs(ring).max(axis=1) > 1e-3
        self.count += shown & ~self.shown
        rows = np.flatnonzero(shown)
        self.angles[rows, np.maximum(self.count[rows] - 1, 0)] = _direction(task, ring)[rows]
        self.shown, self.asked = shown, asked
        wanted = np.where(second, self.angles[:, 1], self.angles[:, 0])
        ahead = (wanted - self.cursor + np.pi) % (2 * np.pi) - np.pi
        moves = asked & (np.abs(ahead) > task.stride / 2)
        action = np.where(moves, np.where(ahead > 0, 1, 2), 0)
        self.cursor = self.cursor + TURN[action] * task.stride
        return action


def _direction(task, ring: np.ndarray) -> np.ndarray:
    """Direction, (n,) radians, that the units of a ring show."""
    return np.arctan2(ring @ np.sin(task.ring.angles), ring @ np.cos(task.ring.angles))


class Pursuer(Subject):
    """Of SmoothPursuit: the mean velocity of the target, given all that it has seen of it.

    Args:
        expects: whether it knows which speeds and directions occur; else it takes the average.
    """

    carries_state = False

    def __init__(self, expects: bool = True, seed: int | None = 0) -> None:
        super().__init__(seed)
        self.expects = expects

    def begin(self, env: TaskVectorEnv) -> None:
        n, task = env.num_envs, env.task
        self.since, self.sum = np.zeros(n, int), np.zeros((n, 2))
        self.noise = np.zeros(n)  # sum of squares of the slip during fixation
        self.still = np.zeros(n)
        self.past = np.zeros((n, LAG, 2))  # velocities of the eye
        angle = np.radians(45 * np.arange(8))
        circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        self.known = (np.array(task.speeds)[:, None, None] * circle).reshape(-1, 2)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        task = env.task
        slip = 10 * observations[:, task.channels["slip"]].astype(float)
        fixates = observations[:, task.channels["fixation"]][:, 0] > 0.5
        fresh = fixates & (self.since > 0)
        self.sum[fresh] = self.noise[fresh] = self.still[fresh] = self.past[fresh] = 0
        self.since = np.where(fixates, 0, self.since + 1)
        self.noise += np.where(fixates, (slip**2).sum(axis=1), 0)
        self.still += fixates
        # The slip on the retina five steps ago was the first one of a moving target.
        sees = self.since > LAG
        self.sum += np.where(sees[:, None], slip + self.past[:, 0], 0)
        count = np.maximum(self.since - LAG, 0)
        found = self._mean(task, count)
        eye = np.where(sees[:, None], found, 0.0)
        self.past = np.concatenate([self.past[:, 1:], eye[:, None]], axis=1)
        eye = np.clip(eye, -FASTEST, FASTEST)
        return task.actions.from_task_units(eye).astype(np.float32)

    def _mean(self, task, count) -> np.ndarray:
        """Mean velocity of the target, (n, 2), after a number of looks, (n,)."""
        average = self.sum / np.maximum(count, 1)[:, None]
        if not self.expects:
            return average
        # The noise during fixation shows the contrast.
        spread = np.sqrt(self.noise / np.maximum(2 * self.still, 1))
        sds = task.sigma * 100 / np.array(task.contrasts) / np.sqrt(task.dt)
        log = np.abs(np.log(np.maximum(spread, 1e-9)[:, None] / np.maximum(sds, 1e-9)))
        variance = sds[log.argmin(axis=1)] ** 2 + 1e-9
        off = ((average[:, None] - self.known) ** 2).sum(axis=2)
        likely = -off * count[:, None] / (2 * variance[:, None])
        weight = np.exp(likely - likely.max(axis=1, keepdims=True))
        return weight @ self.known / weight.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]


def _length(points: np.ndarray) -> np.ndarray:
    """Lengths, (n,), of vectors, (n, 2)."""
    return np.linalg.norm(points, axis=1)  # type: ignore[no-any-return]


__all__ = [
    "BestRotationLearner",
    "CursorTurner",
    "ForceLearner",
    "Pursuer",
    "Reacher",
    "RotationLearner",
]
