"""B: performance and reward of reference subjects, and answers that are revealed too early."""

from __future__ import annotations

import itertools

import numpy as np

from neurogym_check.candidate import ENVS, Candidate, dealer_of
from neurogym_check.check_types import CheckWarning, NotApplicable, check, require
from neurogym_check.subject_play import Played
from neurogym_check.tolerances import largest_deviation
from neurogym_core import TaskVectorEnv
from neurogym_core.players import TaskView

TASK = ("task",)
ORACLE_MIN = 0.9
"""Lowest performance of the oracle if the manifest states none."""

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


def _require_resting(candidate: Candidate) -> None:
    actions = candidate.task.actions
    if not actions.continuous and actions.rest is None:
        raise NotApplicable("it has no action for rest")
    if not actions.continuous and actions.size == 1:
        raise NotApplicable("rest is its only action")
    if "rest" not in candidate.played:
        raise NotApplicable("its trials are long; the full level plays it")


def _finished(candidate: Candidate, subject: str) -> Played:
    """Return the play of a subject; raise `CannotTell` if an env has not finished a trial.

    Every trial ends, at the latest after `max_duration`, so this is no mistake of the task."""
    played = candidate.played[subject]
    if not played.performance.size:
        raise candidate.out_of_steps(subject, played.steps)
    return played


def _margin(*errors: float) -> float:
    """Return the largest difference between means that counts as equal, given standard errors."""
    # 1.45: the tails of Student's t with `ENVS` - 1 degrees of freedom are heavier.
    return 1.45 * largest_deviation() * float(np.sqrt(sum(error**2 for error in errors))) + 1e-9


@check("B001", kinds=TASK)
def oracle_performs_as_declared(candidate: Candidate) -> dict[str, float]:
    """The performance of the oracle is at least `oracle_min` of the manifest.

    The target of every step (answer, answer_at, offer, or step_target) must lead to a
    correct outcome. Play the task with `run(task, "oracle")` and look at the trials with a
    performance below 1. If even perfect knowledge is not always correct, state the lower
    performance as oracle_min. A task in which no action is right or wrong has `supervised = False`,
    and states oracle_min = 0: it has no oracle."""
    least = candidate.expected.get("oracle_min", ORACLE_MIN)
    if not least:
        require(
            not candidate.task.supervised or not candidate.batch.tables.slots.names,
            "The manifest declares that there is no oracle (oracle_min = 0), and the task has right"
            " answers. Expected supervised = False, or the performance of the oracle.",
        )
        candidate.require_oracle()
    played = _finished(candidate, "oracle")
    performance = played.mean("performance")[0]
    enough = performance >= least - 1e-6
    require(
        enough,
        f"The oracle's performance is {performance:.3f}, expected at least {least}.",
        performance=performance,
    )
    return {"performance": performance}


@check("B002", kinds=TASK)
def guessing_performs_as_expected(candidate: Candidate) -> dict[str, float]:
    """A subject that waits and then guesses performs at `guess` of the manifest.

    Correct the number, or the task: check whether conditions are balanced, whether response windows
    are too long, and whether trials have more than one correct answer. Measure it with
    `run(task, "guess", 2000)["performance"].mean()`."""
    if "guess" not in candidate.expected:
        raise NotApplicable("the manifest states no `guess` (expected = { guess = … })")
    expected = candidate.expected["guess"]
    played = _finished(candidate, "guess")
    performance, error = played.mean("performance")
    if not error and 0 < expected < 1:
        # Few trials without a correct one say little about rare ones.
        error = (expected * (1 - expected) / played.performance.size) ** 0.5
    margin = _margin(error) + 0.0051  # manifests round to two digits
    require(
        abs(performance - expected) <= margin,
        f"Guessing performs at {performance:.3f}, expected {expected} as in the manifest (margin"
        f" {margin:.3f}).",
        performance=performance,
    )
    return {"performance": performance}


@check("B003", kinds=TASK)
def resting_earns_less_than_the_oracle(candidate: Candidate) -> dict[str, float]:
    """A subject that always rests earns less per trial than the oracle.

    Otherwise there is nothing to learn. Let correct answers pay more than resting, let misses pay
    nothing, and make trials that need no answer (catch trials) fewer than the others."""
    candidate.require_oracle()
    _require_resting(candidate)
    oracle = _finished(candidate, "oracle").mean("reward")[0]
    if not any(played.reward.any() for played in candidate.played.values()):
        raise NotApplicable("it pays nothing")
    resting = candidate.played["rest"].mean("reward")[0]
    require(
        resting < oracle,
        f"Resting earns {resting:.3f} per trial, expected less than the oracle's {oracle:.3f}.",
    )
    return {"rest": resting, "oracle": oracle}


@check("B004", kinds=TASK)
def premature_responses_do_not_pay(candidate: Candidate) -> dict[str, float]:
    """Answering on every step earns less than the oracle, and no more than waiting and guessing.

    Guessing is not compared where hooks alone report answers: they may pay on every step. Make
    actions during a hold cost something (`rewards["abort"]`) or end the trial. An answer before its
    response window must not count."""
    candidate.require_oracle()
    _require_resting(candidate)
    guess, b = _finished(candidate, "guess").mean("reward")
    oracle, _ = _finished(candidate, "oracle").mean("reward")
    if not any(played.reward.any() for played in candidate.played.values()):
        raise NotApplicable("it pays nothing")
    premature, a = candidate.played["premature"].mean("reward")
    earned = f"Answering on every step earns {premature:.3f} per trial"
    if not all(candidate.batch.tables.slots.reported):
        require(
            premature <= guess + _margin(a, b),
            f"{earned}, expected at most the {guess:.3f} of waiting and guessing.",
        )
    require(premature < oracle, f"{earned}, expected less than the oracle's {oracle:.3f}.")
    return {"premature": premature, "guess": guess, "oracle": oracle}


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
    played = candidate.task.step_observation is not None or candidate.task.step_target is not None
    if not quiet and (played or not _shows_the_same(candidate)):
        raise NotApplicable(
            f"its first period is not named like one without evidence ({', '.join(QUIET)})"
        )
    early = quiet or [names[0]]
    shown, answers = _from_play(candidate, early) if played else _from_tables(candidate, early)
    shown, answers = _varying(shown), _varying(answers)
    if not shown.shape[1] or not answers.shape[1]:
        return {"correlation": 0.0}
    correlation = np.abs(np.corrcoef(shown.T, answers.T)[: shown.shape[1], shown.shape[1] :])
    limit = 1.2 * largest_deviation(correlation.size) / np.sqrt(len(shown))
    largest = float(correlation.max())
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


def _from_tables(candidate: Candidate, quiet: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns of `_from_play`, computed from the tables without noise."""
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


def _from_play(candidate: Candidate, quiet: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Play trials, and return observations of these periods and correct answers, a row per trial.

    Returns:
        The mean observation in the periods and their number of steps, (n, units + 1), and the
        correct answers, (n, actions).
    """
    task = TaskView(candidate.task).changed(trials_per_session=1)
    env = TaskVectorEnv(task, ENVS, autoreset_mode="SameStep")
    dealer_of(env).block_rows = candidate.several(8, 32) * ENVS
    observations, _ = env.reset(seed=19)
    actions = task.actions
    size = actions.size
    total, count, answer = (
        np.zeros((ENVS, task.channels.size)),
        np.zeros(ENVS),
        np.zeros((ENVS, size)),
    )
    answered = np.zeros(ENVS, bool)
    rows: list[np.ndarray] = []
    several = np.clip(30 * TaskView(task).typical_steps, 300, candidate.several(900, 9000))
    steps = max(int(several), candidate.affordable(2 * candidate.longest))
    for _ in range(steps):
        early, target = np.isin(env.period, quiet), env.target
        total += observations * early[:, None]
        count += early
        fresh = (
            env.is_asked
            & ~answered
            & (True if actions.continuous else target != (actions.rest or 0))
        )
        answer[fresh] = target[fresh] if actions.continuous else np.eye(size)[target[fresh]]
        answered |= fresh
        observations, *_, info = env.step(target)
        over = info["new_trial"]
        if over.any():
            mean = total[over] / np.maximum(count[over], 1)[:, None]
            rows.append(np.concatenate([mean, count[over, None], answer[over]], axis=1))
            total[over], count[over], answer[over], answered[over] = 0, 0, 0, False
    if not rows:
        raise candidate.out_of_steps("oracle", steps)
    table = np.concatenate(rows)
    return table[:, : -size or None], table[:, -size:]


def _varying(columns: np.ndarray) -> np.ndarray:
    return columns[:, columns.std(axis=0) > 1e-6]
