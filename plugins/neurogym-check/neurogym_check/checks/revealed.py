"""B: answers that something reveals before they are asked."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from neurogym_check.candidate import ENVS, Candidate, dealer_of
from neurogym_check.check_types import CheckWarning, NotApplicable, check, require
from neurogym_check.tolerances import largest_deviation
from neurogym_core import TaskVectorEnv
from neurogym_core.players import TaskView

TASK = ("task",)
QUIET = (
    "fixation",
    "iti",
    "intertrial",
    "inter_trial",
    "baseline",
    "foreperiod",
    "quiescence",
    "start",
    "wait",
)
"""Periods whose names begin like this come before the evidence."""
FORETOLD = 0.8
"""Correlation with the next answer from which on the end of a trial shows it."""
FEW = 30
"""Trials with the same answer from which on such a correlation is computed."""


@check("B005", kinds=TASK)
def fixation_does_not_reveal_the_answer(candidate: Candidate) -> dict[str, float]:
    """Observations during fixation, and its duration, do not reveal the correct answer.

    The check looks at periods whose names begin with fixation, iti, foreperiod, quiescence, …, in
    the first trials of sessions. Where a trial begins with a period of another name, and the next
    one shows the same, evidence in both is a warning. Show evidence in later
    periods. A channel may show a condition from the start (a context cue) if it does not reveal the
    answer."""
    names = TaskView(candidate.task).period_names
    quiet = list(itertools.takewhile(lambda name: name.startswith(QUIET), names))
    task = candidate.task
    played = task.step_observation is not None or task.step_target is not None
    if not quiet and (played or not _shows_the_same(candidate)):
        raise NotApplicable(
            f"its first period is not named like one without evidence ({', '.join(QUIET)})"
        )
    early = quiet or [names[0]]
    shown, answers = _from_tables(candidate, early)
    if played:
        rows = _episodes(candidate, partial(_within, early), _oracle)
        shown, answers = np.concatenate([rows.mean, rows.steps[:, None]], axis=1), rows.answer
    largest, limit = _correlation(shown, answers)
    if not quiet and largest > limit:
        raise CheckWarning(
            f"Observations in {names[0]!r}, with which the trial begins, reveal the correct answer"
            f" (correlation {largest:.2f}), and {names[1]!r} shows the same. If the evidence should"
            f" begin with {names[1]!r}, show it there only.",
            correlation=largest,
        )
    require(
        largest <= limit,
        f"Observations during {', '.join(quiet)} reveal the correct answer: correlation"
        f" {largest:.2f}, expected at most {limit:.2f}.",
        correlation=largest,
    )
    return {"correlation": largest}


def _shows_the_same(candidate: Candidate) -> bool:
    """Whether the first two periods, before anything is asked, show the same where trials differ.

    If the first one were that of the evidence, the second would add nothing."""
    batch = candidate.batch
    first, second = (np.flatnonzero(batch.period == p) for p in (0, 1))
    if not len(second) or batch.table("window")[:, [*first, *second]].any():
        return False
    if candidate.task.actions.continuous:  # a cue from the start may set the path to follow
        return False
    one, other = batch.shown[:, first], batch.shown[:, second]
    differs = one.std(axis=0).max(axis=0) > 1e-6
    return bool(differs.any() and np.array_equal(one[:, -1][:, differs], other[:, 0][:, differs]))


@check("B006", kinds=TASK)
def rewards_before_the_answer_do_not_reveal_it(candidate: Candidate) -> dict[str, float]:
    """Rewards per step before the first response window do not reveal the correct answer.

    Subjects see rewards, so that such a reward shows the answer before the evidence, or without it.
    Let `hold(cost=…)`, and the rewards of hooks before the window, be the same for all answers."""
    task = candidate.task
    shown, answers = _rewards(candidate)
    largest, limit = _correlation(shown, answers)
    if task.step_action is not None:
        rows = _episodes(candidate, _earned, _rest)
        largest, limit = max((largest, limit), _correlation(rows.mean, rows.answer))
    require(
        largest <= limit,
        f"Rewards before the first response window reveal the correct answer: correlation"
        f" {largest:.2f}, expected at most {limit:.2f}.",
        correlation=largest,
    )
    return {"correlation": largest}


@check("B008", kinds=TASK)
def a_trial_does_not_show_the_next_answer(candidate: Candidate) -> dict[str, float]:
    """Observations after the answer of a trial do not reveal the answer of the next one.

    Trials with the same answer are compared, so that feedback may show it, and the next one may
    depend on it. Show only conditions of the trial: of two draws in `draw`, the one that was
    returned."""
    task = candidate.task
    if not TaskView(task).stateful:
        raise NotApplicable("its trials depend on nothing")
    rows = _episodes(candidate, _afterwards, _oracle, first_only=False)
    follows = np.flatnonzero((rows.env[1:] == rows.env[:-1]) & ~rows.last[:-1])
    largest = 0.0
    for answer in np.unique(rows.answer[follows], axis=0):
        same = follows[(rows.answer[follows] == answer).all(axis=1)]
        if len(same) >= FEW:
            one, _ = _correlation(rows.mean[same], rows.answer[same + 1])
            largest = max(largest, one)
    require(
        largest < FORETOLD,
        f"Observations after the answer reveal the answer of the next trial: correlation"
        f" {largest:.2f} among trials with the same answer, expected less than {FORETOLD:g}.",
        correlation=largest,
    )
    return {"correlation": largest}


# ---------------------------------------------------------------------- tables


def _from_tables(candidate: Candidate, quiet: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the noiseless observations of these periods, from tables, and the correct answers.

    Returns:
        The mean observation in the periods and their number of steps, (n, units + 1), and the
        correct answers, (n, actions).
    """
    batch, actions = candidate.batch, candidate.task.actions
    n, names = len(batch), np.array(batch.period_names)
    index = np.repeat(np.arange(batch.duration.size), batch.duration.ravel())
    trial, segment = np.divmod(index, batch.duration.shape[1])
    early = np.isin(
        names[np.broadcast_to(batch.period, batch.duration.shape)[trial, segment]], quiet
    )
    count = np.bincount(trial[early], minlength=n)
    shown = np.zeros((n, candidate.task.channels.size))
    np.add.at(shown, trial[early], batch.render(None, duration=batch.duration)[early])
    targets = batch.render_targets(duration=batch.duration)
    asked = np.broadcast_to(batch.table("window"), (n, *batch.table("window").shape[1:])).any(
        axis=2
    )[trial, segment]
    asked &= True if actions.continuous else targets != (actions.rest or 0)
    with_answer, first = np.unique(trial[asked], return_index=True)
    first = np.flatnonzero(asked)[first]
    answer = np.zeros((n, actions.size))
    answer[with_answer] = (
        targets[first] if actions.continuous else np.eye(actions.size)[targets[first]]
    )
    return np.concatenate([shown / np.maximum(count, 1)[:, None], count[:, None]], axis=1), answer


def _rewards(candidate: Candidate) -> tuple[np.ndarray, np.ndarray]:
    """Return rewards of each action per step before the first window, (n, A), and the answers."""
    batch = candidate.batch
    played = batch.duration > 0
    opened = np.cumsum(batch.table("window").any(axis=2) & played, axis=1) > 0
    steps = np.where(played & ~opened, batch.duration, 0)
    total = (batch.table("reward") * steps[:, :, None]).sum(axis=1)
    return total / np.maximum(steps.sum(axis=1), 1)[:, None], _from_tables(candidate, [])[1]


def _correlation(shown: np.ndarray, answers: np.ndarray) -> tuple[float, float]:
    """Return the largest correlation of a column with an answer, and the largest by chance."""
    shown, answers = _varying(shown), _varying(answers)
    if not shown.shape[1] or not answers.shape[1]:
        return 0.0, 1.0
    correlation = np.abs(np.corrcoef(shown.T, answers.T)[: shown.shape[1], shown.shape[1] :])
    limit = 1.2 * largest_deviation(correlation.size) / np.sqrt(len(shown))
    return float(correlation.max()), float(limit)


def _varying(columns: np.ndarray) -> np.ndarray:
    return columns[:, columns.std(axis=0) > 1e-6]


# ---------------------------------------------------------------------- played trials


@dataclass(frozen=True)
class _Step:
    """A step of N envs: (N, units) observations and reward (N, 1), texts and bools (N,).

    Attributes:
        period: names of the periods.
        observations: the observations.
        asked: whether an answer is asked.
        opened: whether one was asked, on this step or before in the trial.
        answered: whether the correct answer has been asked.
        reward: reward of the step.
    """

    period: np.ndarray
    observations: np.ndarray
    asked: np.ndarray
    opened: np.ndarray
    answered: np.ndarray
    reward: np.ndarray


_Look = Callable[[_Step], tuple[np.ndarray, np.ndarray]]
"""Returns values of a step, (N, d), and in which envs they count, bool (N,)."""


def _within(periods: list[str], step: _Step) -> tuple[np.ndarray, np.ndarray]:
    return step.observations, np.isin(step.period, periods)


def _earned(step: _Step) -> tuple[np.ndarray, np.ndarray]:
    return step.reward, ~step.opened


def _afterwards(step: _Step) -> tuple[np.ndarray, np.ndarray]:
    return step.observations, step.answered & ~step.asked


def _oracle(env: TaskVectorEnv) -> np.ndarray:
    return np.asarray(env.target)


def _rest(env: TaskVectorEnv) -> np.ndarray:
    actions = env.task.actions
    one = actions.from_task_units(actions.rest_value) if actions.continuous else actions.rest or 0
    return np.repeat(np.asarray(one)[None], env.num_envs, axis=0)


@dataclass(frozen=True)
class _Rows:
    """Played trials, one per row, those of an env in order.

    Attributes:
        mean: (m, d) mean of the values that counted.
        steps: (m,) number of steps on which they did.
        answer: (m, actions) the correct answer.
        env: (m,) number of the env.
        last: (m,) whether the session ended with the trial.
    """

    mean: np.ndarray
    steps: np.ndarray
    answer: np.ndarray
    env: np.ndarray
    last: np.ndarray


def _episodes(
    candidate: Candidate,
    look: _Look,
    act: Callable[[TaskVectorEnv], np.ndarray],
    *,
    first_only: bool = True,
) -> _Rows:
    """Play trials, and return a row for each.

    Args:
        candidate: the candidate.
        look: the values to average.
        act: the actions of the subject.
        first_only: play first trials of sessions only.
    """
    task = candidate.task
    if first_only:
        task = TaskView(task).changed(trials_per_session=1)
    env = TaskVectorEnv(task, ENVS, autoreset_mode="SameStep")
    dealer_of(env).block_rows = candidate.several(8, 32) * ENVS
    observations, _ = env.reset(seed=19)
    actions = task.actions
    total, count, answer = np.zeros((ENVS, 1)), np.zeros(ENVS), np.zeros((ENVS, actions.size))
    opened, answered = np.zeros((2, ENVS), bool)
    rows: list[np.ndarray] = []
    several = np.clip(30 * TaskView(task).typical_steps, 300, candidate.several(900, 9000))
    steps = max(int(several), candidate.affordable(2 * candidate.longest))
    for _ in range(steps):
        target, asked = env.target, env.is_asked
        wanted = asked & (True if actions.continuous else target != (actions.rest or 0))
        fresh = wanted & ~answered
        answer[fresh] = target[fresh] if actions.continuous else np.eye(actions.size)[target[fresh]]
        answered, opened = answered | fresh, opened | asked
        period, shown = env.period, observations
        observations, reward, terminated, truncated, info = env.step(act(env))
        step = _Step(period, shown, asked, opened, answered, np.asarray(reward)[:, None])
        values, counts = look(step)
        total = total + values * counts[:, None]
        count = count + counts
        over = np.flatnonzero(info["new_trial"])
        if len(over):
            parts = (total[over] / np.maximum(count[over], 1)[:, None], count[over, None],
                     answer[over], over[:, None], (terminated | truncated)[over, None])  # fmt: skip
            rows.append(np.concatenate(parts, axis=1))
            total[over], count[over], answer[over] = 0, 0, 0
            opened[over] = answered[over] = False
    if not rows:
        raise candidate.out_of_steps("oracle" if act is _oracle else "rest", steps)
    table = np.concatenate(rows)
    table = table[np.argsort(table[:, -2], kind="stable")]
    d = table.shape[1] - actions.size - 3
    return _Rows(table[:, :d], table[:, d], table[:, d + 1 : -2], table[:, -2], table[:, -1] > 0)
