"""Policies that are measured by playing: those that see nothing, or the current step only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from neurogym_check.audit.answers import Answers, per_row, played_once, resting, targets_of
from neurogym_check.audit.classify import Policy, best_policy
from neurogym_core import Task, TaskVectorEnv, TrialBatch
from neurogym_core.players import TaskView, TrialsOnce

if TYPE_CHECKING:
    from neurogym_check.audit.measures import Measure

ENVS, TRIALS, STEPS = 64, 8, 1500
"""Envs, trials of each, and most steps, of a play in sessions."""
IMITATED = 6000
"""Most steps of the oracle that are imitated."""
ENV_STEPS = 4_000
"""Steps of a play of an env that is no Task, e.g. with images."""


def blind_play(
    task: Task, seed: int, batch: TrialBatch | None = None, answers: Answers | None = None
) -> dict[str, Measure]:
    """Return the measures of policies that are played.

    Args:
        task: the task.
        seed: seed of trials and random actions.
        batch: trials to play once; None: sessions are played.
        answers: the scores of all answers to them.
    """
    from neurogym_check.audit.measures import Measure

    if batch is None:
        return _in_sessions(task, seed)
    found: dict[str, Measure] = {}

    def oracle(stepper: TrialsOnce) -> np.ndarray:
        return np.asarray(stepper.targets())

    found["oracle"] = Measure.of(played_once(task, batch, oracle)[0])
    if TaskView(task).hooks or task.actions.continuous:
        rng = np.random.default_rng(seed)
        found["random"] = Measure.of(played_once(task, batch, _random(task, rng))[0])
    if TaskView(task).hooks and not task.actions.continuous:
        reflex = _Reflex(task, batch)
        found["reflex"] = Measure.of(played_once(task, batch, reflex)[0])
    if task.actions.continuous and task.actions.trigger is None:
        held = _Held(task, batch)
        found["held"] = Measure.of(played_once(task, batch, held)[0])
        if answers is not None and answers.timed:
            fixed = [
                Measure.of(played_once(task, batch, _always(task, action))[0])
                for action in targets_of(task, batch, seed)[:4]
            ]
            found["constant"] = max(fixed, key=lambda one: one.score)
    return found


def _random(task: Task, rng: np.random.Generator) -> Any:
    def play(stepper: TrialsOnce) -> np.ndarray:
        actions = task.actions
        if actions.continuous:
            return rng.uniform(-1, 1, (stepper.n, actions.size)).astype(np.float32)
        return rng.integers(0, actions.size, stepper.n)

    return play


def _always(task: Task, action: np.ndarray) -> Any:
    return lambda stepper: np.broadcast_to(action, resting(task, stepper.n).shape)


class _Held:
    """Gives the last target of each trial on all of its steps."""

    def __init__(self, task: Task, batch: TrialBatch) -> None:
        self.answer = resting(task, len(batch)).astype(float)

        def record(stepper: TrialsOnce) -> np.ndarray:
            target = np.asarray(stepper.targets())
            asked = stepper.is_asked() & stepper.running
            self.answer = np.where(per_row(asked, target), target, self.answer)
            return target

        played_once(task, batch, record)

    def __call__(self, stepper: TrialsOnce) -> np.ndarray:
        return self.answer


class _Reflex:
    """Imitates the oracle from the current observation alone."""

    def __init__(self, task: Task, batch: TrialBatch) -> None:
        seen: list[np.ndarray] = []
        done: list[np.ndarray] = []

        def record(stepper: TrialsOnce) -> np.ndarray:
            target = np.asarray(stepper.targets())
            seen.append(stepper.observations()[stepper.running])
            done.append(target[stepper.running])
            return target

        played_once(task, batch, record)
        self.policy = imitation(task, np.concatenate(seen), np.concatenate(done))

    def __call__(self, stepper: TrialsOnce) -> np.ndarray:
        return self.policy(stepper.observations())


def imitation(task: Task, seen: np.ndarray, done: np.ndarray) -> Policy:
    """Return a policy that was fitted to actions (m,) on observations (m, units)."""
    rows = np.linspace(0, len(seen) - 1, min(len(seen), IMITATED)).astype(int)
    return best_policy(seen[rows].astype(float), np.eye(task.actions.size)[done[rows]])


def _in_sessions(task: Task, seed: int) -> dict[str, Measure]:
    """Play sessions, because hooks or trials depend on their state."""
    from neurogym_check.audit.measures import Measure

    actions = task.actions
    rng = np.random.default_rng(seed)

    def when_asked(action: Any) -> Any:
        def play(env: TaskVectorEnv) -> np.ndarray:
            rest = resting(task, env.num_envs)
            given = np.broadcast_to(action, rest.shape)
            return np.where(per_row(env.is_asked, rest), given, rest)

        return play

    found = {"oracle": Measure.of(_performance(task, seed, lambda env: env.target))}
    if actions.continuous:
        found["random"] = Measure.of(
            _performance(task, seed, lambda env: rng.uniform(-1, 1, (env.num_envs, actions.size)))
        )
        found["rest"] = Measure.of(
            _performance(task, seed, lambda env: resting(task, env.num_envs))
        )
        return found
    found["random"] = Measure.of(
        _performance(task, seed, lambda env: rng.integers(0, actions.size, env.num_envs))
    )
    fixed = {}
    for action in range(min(actions.size, 8)):
        fixed[action] = Measure.of(_performance(task, seed, when_asked(action)))
    seen: list[np.ndarray] = []
    done: list[np.ndarray] = []

    def record(env: TaskVectorEnv) -> np.ndarray:
        seen.append(env.stepper.observations())
        done.append(np.array(env.target))
        return done[-1]

    _performance(task, seed, record)
    policy = imitation(task, np.concatenate(seen), np.concatenate(done))
    reflex = _performance(task, seed, lambda env: policy(env.stepper.observations()))
    found["reflex"] = Measure.of(reflex)
    if actions.rest is not None:
        found["rest"] = fixed[actions.rest]
    found["constant"] = max(fixed.values(), key=lambda one: one.score)
    return found


def _performance(task: Task, seed: int, play: Any) -> np.ndarray:
    """Return the performance of the first trials of each env, (m,); 0 if none ends."""
    env = TaskVectorEnv(task, ENVS, autoreset_mode="SameStep")
    env.stepper.dealer.block_rows = ENVS * (TRIALS + 2)
    env.reset(seed=seed)
    parts, limit = [], min(STEPS, 4 * TRIALS * TaskView(task).typical_steps)
    for _ in range(limit):
        *_, info = env.step(play(env))
        if "trial" in info:
            finished = info["trial"].finished
            parts.append((finished.number, finished.performance))
            if env.trial_number.min() >= TRIALS:
                break
    if not parts:
        return np.zeros(ENVS)
    number, performance = (np.concatenate(part) for part in zip(*parts, strict=True))
    fewest = max(int(env.trial_number.min()), 1)
    return np.asarray(performance[number < fewest])


def play_env(env: Any, seed: int) -> dict[str, Measure]:
    """Return the measures of an env that is no Task: the oracle, rest, the best fixed answer.

    Its observations may be images, of which no columns are made. The oracle plays; a fixed answer
    is right in the trials whose last target, other than rest, equals it.
    """
    from neurogym_check.audit.measures import Measure

    env.reset(seed=seed)
    space = env.unwrapped.action_space
    rest = np.zeros_like(np.asarray(space.sample()))
    answers: list[bytes] = []
    scores: list[float] = []
    answer = rest.tobytes()
    for _ in range(ENV_STEPS):
        target = np.asarray(env.unwrapped.target, dtype=rest.dtype)
        if not np.array_equal(target, rest):
            answer = target.tobytes()
        action = target if space.shape else int(target)
        _, _, terminated, truncated, info = env.step(action)
        if info.get("new_trial"):
            answers.append(answer)
            scores.append(float(info.get("performance", 0)))
            answer = rest.tobytes()
        if terminated or truncated:
            env.reset()
    if not answers:
        return {}
    share = {one: answers.count(one) / len(answers) for one in dict.fromkeys(answers)}
    common = max(share, key=lambda one: share[one])
    return {
        "oracle": Measure.of(np.array(scores)),
        "rest": Measure.of(np.array([one == rest.tobytes() for one in answers], float)),
        "constant": Measure.of(np.array([one == common for one in answers], float)),
    }
