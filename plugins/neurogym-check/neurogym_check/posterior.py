"""The observer that knows how trials are made: its answers are the most probable ones."""

from __future__ import annotations

import numpy as np

from neurogym_core import Dataset, NotSupportedError, Outcome, Task, TrialBatch
from neurogym_core.players import TaskView

NAME = "posterior"
"""`how` of an ideal that this observer reaches."""
HYPOTHESES = 2000
"""Trials that are compared with the observed one."""
EXACT = 1e-3
"""SD of values without noise: large enough for rounding, and smaller than any difference."""
TRIED = 20
"""Sets of conditions whose durations are drawn again."""
SAME = 1e-6
"""Rewards that differ by less are equal."""
FAR, UNLIKE = 2.0, 0.05
"""Mean squared distance, in SDs, above which a trial is like no hypothesis, and the largest share
of such trials."""
LEAST = 1e-3
"""Share of the posterior, below which two answers are equally probable: then the first one."""


def posterior_performance(
    task: Task, n: int, seed: int = 0, hypotheses: int = HYPOTHESES
) -> np.ndarray:
    """Return the performance (n,) of an observer that compares each trial with others of the task.

    It knows the durations of the trial, its response windows and all that `new_trial` knows but
    the conditions. It draws `hypotheses` other trials with these durations, weighs each by the
    probability of the observations so far, and gives, on the last step of each window, the answer
    that is right with the highest probability. No subject without the durations does better, but
    for the finite number of hypotheses: with twice as many, the performance must be the same.

    Args:
        task: a task with choices.
        n: number of trials.
        seed: seed of the trials and of the hypotheses.
        hypotheses: number of trials that are compared with each trial.

    Raises:
        NotSupportedError: trials depend on earlier ones or on the subject; answers are continuous,
            have prices or pay by their moment; durations follow from conditions; or too many trials
            are like no hypothesis.
    """
    refuse(task)
    batch = next(Dataset(task, batch_size=n, seed=seed))
    trials, rng = batch.trials, np.random.default_rng([seed, 1])
    rest = 0 if task.actions.rest is None else task.actions.rest
    actions = np.full(batch.inputs.shape[:2], rest, np.int64)
    far = np.zeros(n)
    durations, group = np.unique(_steps(trials), axis=0, return_inverse=True)
    for number, played in enumerate(durations):
        imposed = {
            f"duration.{name}": float(played[k] * task.dt)
            for k, name in enumerate(trials.period_names)
            if name not in trials.untimed
        }
        others = task.sample(hypotheses, rng, **imposed)
        of_length: dict[int, _Hypotheses] = {}
        for row in np.flatnonzero(group.ravel() == number).tolist():
            length = int(trials.steps[row])
            if length not in of_length:
                same = others.take(np.flatnonzero(others.steps == length))
                of_length[length] = _Hypotheses(same, task)
            weighed = of_length[length]
            if not len(weighed.mean):
                continue  # no other trial is as long
            moments = weighed.moments(_open(trials.take([row]), length))
            actions[row, moments], far[row] = weighed.answers(batch.inputs[row, :length], moments)
    unlike = (far > FAR).mean()
    if unlike > UNLIKE:
        raise NotSupportedError(
            f"The observer {NAME!r} compared trials of {task.name} with {hypotheses} others each,"
            f" and {unlike:.0%} of them were like none. Expected trials that are like others. Give"
            " more hypotheses, or write an observer for this task."
        )
    return np.asarray(batch.score(actions)["performance"], float)


def refuse(task: Task) -> None:
    """Raise `NotSupportedError` if the observer cannot play a task."""
    view = TaskView(task)
    reasons = {
        "its trials depend on the subject": view.hooks or task.reads_outcomes,
        "its trials follow from earlier ones": view.stateful,
        "its answers are continuous": task.actions.continuous,
    }
    if not any(reasons.values()):
        tables = task.sample(100, seed=0).tables
        graded = any(pays is not None for pays in tables.slots.pays)
        right = tables.outcome == Outcome.CORRECT
        most = np.where(right, tables.reward, -np.inf).max(axis=(1, 2))
        least = np.where(right, tables.reward, np.inf).min(axis=(1, 2))
        graded |= bool((most > least + SAME).any())  # where nothing is right, -inf and inf
        reasons["the reward of an answer depends on its moment or its error"] = graded
        reasons["its durations follow from its conditions"] = _durations_follow(task)
        reasons["its choices have prices"] = bool((tables.outcome == Outcome.OTHER).any())
    why = [reason for reason, holds in reasons.items() if holds]
    if why:
        raise NotSupportedError(
            f"The observer {NAME!r} cannot play {task.name}: {', '.join(why)}. Expected a task of"
            " separate trials with choices. Write an observer for this task."
        )


def _durations_follow(task: Task) -> bool:
    """Return whether durations follow from conditions, so that they would tell the answer."""
    rng = np.random.default_rng(0)
    steps = _steps(task.sample(400, rng))
    varied = steps.var(axis=0)
    within = np.zeros_like(varied)
    some = task.sample(TRIED, rng)
    for row in range(TRIED):
        same = {name: values[row] for name, values in some.conditions.items()}
        within += _steps(task.sample(100, rng, **same)).var(axis=0) / TRIED
    return bool((within < varied / 2).any())


def _steps(trials: TrialBatch) -> np.ndarray:
    """Return the steps of the periods, (n, P)."""
    return np.stack(list(trials.period_steps.values()), axis=1)


def _open(trial: TrialBatch, length: int) -> np.ndarray:
    """Return whether each step of one trial is in the response window of each slot, (T, K)."""
    return np.repeat(trial.table("window")[0], trial.first_round[0], axis=0)[:length]


class _Hypotheses:
    """Trials of equal length, and the probability that they give to observations."""

    def __init__(self, trials: TrialBatch, task: Task) -> None:
        n = len(trials)
        length = int(trials.steps[0]) if n else 0
        self.mean = trials.render(None).reshape(n, length, trials.noise.shape[2]).astype(np.float64)
        path = trials.first_round
        sd = np.array([np.repeat(trials.noise[k], path[k], axis=0) for k in range(n)])
        self.sd = np.maximum(sd, EXACT).astype(np.float64)
        self.target = trials.render_targets().reshape(n, length)
        self.size, self.waits = task.actions.size, task.actions.rest is not None

    def moments(self, window: np.ndarray) -> np.ndarray:
        """Return the steps on which to answer, (m,): the last ones before something changes.

        These are the last steps of windows, and those in a window after which the target of a
        hypothesis changes. Without an action of rest, every step is an answer.

        Args:
            window: (T, K) bool.
        """
        if self.waits:
            following = np.append(window[1:], np.zeros_like(window[:1]), axis=0)
            changes = (np.diff(self.target, axis=1) != 0).any(axis=0)
            asked = (window & ~following).any(axis=1)
            asked[:-1] |= changes & window[:-1].any(axis=1) & window[1:].any(axis=1)
            return np.flatnonzero(asked)
        return np.arange(len(window))

    def answers(self, seen: np.ndarray, moments: np.ndarray) -> tuple[list[int], float]:
        """Return the most probable target on some steps, given the observations up to each.

        Args:
            seen: (T, units) observations.
            moments: (m,) steps, in order.

        Returns:
            The targets, and the mean squared distance of the nearest hypothesis, in SDs.
        """
        squares, spread = np.zeros((2, len(self.mean)))
        begin, found = 0, []
        for moment in moments.tolist():
            now = slice(begin, moment + 1)
            apart = (seen[now] - self.mean[:, now]) / self.sd[:, now]
            squares += (apart**2).sum(axis=(1, 2))
            spread += np.log(self.sd[:, now]).sum(axis=(1, 2))
            begin = moment + 1
            weight = -0.5 * squares - spread
            shares = np.exp(weight - weight.max())
            told = np.bincount(self.target[:, moment], shares / shares.sum(), self.size)
            found.append(int(np.argmax(told > told.max() - LEAST)))
        return found, float(squares.min()) / max(1, begin * seen.shape[1])
