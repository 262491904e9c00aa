"""The observer that knows how trials are made: its answers are the most probable ones."""

from __future__ import annotations

import numpy as np

from neurogym_core import Dataset, NotSupportedError, Outcome, Task, TrialBatch
from neurogym_core.players import TaskView

NAME = "posterior"
"""`how` of an ideal that this observer reaches."""
HYPOTHESES = 2000
"""Trials that are compared with the observed one."""
EXACT = 1e-6
"""SD of values without noise, for rounding."""
TRIED, AGAIN = 20, 200
"""Sets of conditions whose durations and answers are drawn again, and how often."""
SAME = 1e-6
"""Rewards that differ by less are equal."""
FAR, UNLIKE = 2.0, 0.05
"""Mean squared distance, in SDs, above which a trial is like no hypothesis, and the largest share
of trials that are like none, or like too few."""
FEW = 5
"""Effective number of hypotheses, 1 / sum of squared probabilities, below which they are few."""
LEAST = 1e-3
"""Probabilities that differ by less are equal: then the first answer is given."""


def posterior_performance(
    task: Task, n: int, seed: int = 0, hypotheses: int = HYPOTHESES
) -> np.ndarray:
    """Return the performance (n,) of an observer that compares each trial with others of the task.

    It knows the durations of the trial and all that `new_trial` knows but the conditions. It draws
    `hypotheses` other trials with these durations, weighs each by the probability of the
    observations so far, and gives, on the last step of each window, the answer that is right with
    the highest probability. It refuses tasks whose durations or windows would show it the answers.

    Args:
        task: a task with choices.
        n: number of trials.
        seed: seed of the trials and of the hypotheses.
        hypotheses: number of trials that are compared with each trial.

    Raises:
        NotSupportedError: trials depend on earlier ones or on the subject; answers are continuous,
            have prices or pay by their moment; durations follow from conditions, or answers from
            durations; nothing shows when a window opens; the right answer changes within a window;
            or hypotheses are too few.
    """
    refuse(task)
    batch = next(Dataset(task, batch_size=n, seed=seed))
    trials, rng = batch.trials, np.random.default_rng([seed, 1])
    rest = 0 if task.actions.rest is None else task.actions.rest
    actions = np.full(batch.inputs.shape[:2], rest, np.int64)
    compared = np.zeros(n, bool)
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
            answers, compared[row] = weighed.answers(batch.inputs[row, :length], moments)
            actions[row, moments] = answers
    unlike = 1 - compared.mean()
    if unlike > UNLIKE:
        raise NotSupportedError(
            f"The observer {NAME!r} compared trials of {task.name} with {hypotheses} others each,"
            f" and {unlike:.0%} of them were like none, or like fewer than {FEW}. Expected trials"
            " that are like others. Give more hypotheses, or write an observer for this task."
        )
    return np.asarray(batch.score(actions)["performance"], float)


def refuse(task: Task) -> None:
    """Raise `NotSupportedError` if the observer cannot play a task, or would know the answers."""
    view = TaskView(task)
    reasons = {
        "its trials depend on the subject": view.hooks or task.reads_outcomes,
        "its trials follow from earlier ones": view.stateful,
        "its answers are continuous": task.actions.continuous,
    }
    trials = task.sample(100, seed=0)
    tables = trials.tables
    graded = any(pays is not None for pays in tables.slots.pays)
    reasons["the reward of an answer depends on its moment or its error"] = (
        graded or pays_by_moment(trials)
    )
    reasons["its choices have prices"] = bool((tables.outcome == Outcome.OTHER).any())
    reasons["nothing shows when a window opens"] = _opens_unseen(trials)
    if not any(reasons.values()):
        followed = _followed(task)
        reasons["its durations follow from its conditions"] = followed[0]
        reasons["its answers do not follow from its conditions"] = followed[1]
    why = [reason for reason, holds in reasons.items() if holds]
    if why:
        raise NotSupportedError(
            f"The observer {NAME!r} cannot play {task.name}: {', '.join(why)}. Expected a task of"
            " separate trials with choices. Write an observer for this task."
        )


def pays_by_moment(trials: TrialBatch) -> bool:
    """Return whether right answers earn different rewards within a trial."""
    right, reward = trials.tables.outcome == Outcome.CORRECT, trials.tables.reward
    most = np.where(right, reward, -np.inf).max(axis=(1, 2))
    least = np.where(right, reward, np.inf).min(axis=(1, 2))
    return bool((most > least + SAME).any())  # where nothing is right, -inf and inf


def _followed(task: Task) -> tuple[bool, bool]:
    """Return whether durations follow from conditions, and whether answers follow from others.

    The observer knows the durations, and hypotheses have conditions alone.
    """
    rng = np.random.default_rng(0)
    scale = np.maximum(_steps(task.sample(400, rng)).std(axis=0), SAME)
    overall = _covariance(_steps(task.sample(2000, rng)) / scale)
    some, within, differ = task.sample(TRIED, rng), [], False
    for row in range(TRIED):
        same = {name: values[row] for name, values in some.conditions.items()}
        again = task.sample(AGAIN, rng, **same)
        within.append(_covariance(_steps(again) / scale))
        wanted = [np.unique(target).tolist() for target in again.target]
        differ |= any(one != wanted[0] for one in wanted)
    # Correlations of 200 draws have an SE of 0.07.
    return bool((np.abs(np.array(within) - overall) > 0.4).any()), differ


def _covariance(values: np.ndarray) -> np.ndarray:
    return np.atleast_2d(np.cov(values, rowvar=False))


def _opens_unseen(trials: TrialBatch) -> bool:
    """Return whether a window opens at a varying moment, where the observations do not change."""
    opens, onset = [], []
    for k in range(len(trials)):
        played = np.flatnonzero(trials.duration[k] > 0)
        window = trials.table("window")[k].any(axis=1)[played]
        if not window.any():
            continue
        first = int(np.argmax(window))
        onset.append(trials.duration[k, played[:first]].sum())
        if first:
            now, before = played[first], played[first - 1]
            shown, noise = trials.shown[k], trials.noise[k]
            changed = (shown[now] != shown[before]) | (noise[now] != noise[before])
            opens.append(bool(changed.any()))
    return len(set(onset)) > 1 and not all(opens)


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
        self.name, self.waits = task.name, task.actions.rest is not None
        self.mean = trials.render(None).reshape(n, length, trials.noise.shape[2]).astype(float)
        path = trials.first_round
        sd = np.array([np.repeat(trials.noise[k], path[k], axis=0) for k in range(n)])
        self.sd = np.maximum(sd, EXACT).astype(float)
        self.target = trials.render_targets().reshape(n, length)
        segments = np.arange(path.shape[1])
        self.segment = np.array([np.repeat(segments, path[k]) for k in range(n)])
        self.right = trials.table("outcome") == Outcome.CORRECT  # (n, S, A)

    def moments(self, window: np.ndarray) -> np.ndarray:
        """Return the steps on which to answer, (m,): the last ones of windows.

        Without an action of rest, every step is an answer.

        Args:
            window: (T, K) bool.

        Raises:
            NotSupportedError: the target changes within a window, so that the moment is a choice.
        """
        if not self.waits:
            return np.arange(len(window))
        following = np.append(window[1:], np.zeros_like(window[:1]), axis=0)
        changes = (np.diff(self.target, axis=1) != 0).any(axis=0)
        if (changes & (window[:-1] & window[1:]).any(axis=1)).any():
            raise NotSupportedError(
                f"The observer {NAME!r} cannot play {self.name}: the right answer changes within a"
                " window. Expected one right answer. Write an observer for this task."
            )
        return np.flatnonzero((window & ~following).any(axis=1))

    def answers(self, seen: np.ndarray, moments: np.ndarray) -> tuple[list[int], bool]:
        """Return the most probable answers on some steps, given the observations up to each.

        Args:
            seen: (T, units) observations.
            moments: (m,) steps, in order.

        Returns:
            The answers, and whether enough hypotheses are like the observations.
        """
        n = len(self.mean)
        squares, spread = np.zeros((2, n))
        begin, found, enough = 0, [], True
        for moment in moments.tolist():
            now = slice(begin, moment + 1)
            apart = (seen[now] - self.mean[:, now]) / self.sd[:, now]
            squares += (apart**2).sum(axis=(1, 2))
            spread += np.log(self.sd[:, now]).sum(axis=(1, 2))
            begin = moment + 1
            right = self.right[np.arange(n), self.segment[:, moment]]
            right[np.arange(n), self.target[:, moment]] = True  # resting, too
            weight = -0.5 * squares - spread
            shares = np.exp(weight - weight.max())
            shares /= shares.sum()
            chances = shares @ right
            found.append(int(np.argmax(chances > chances.max() - LEAST)))
            enough &= bool(1 / (shares**2).sum() >= FEW)
        enough &= bool(squares.min() <= FAR * begin * seen.shape[1])
        return found, enough
