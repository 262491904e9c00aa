"""B: performance and reward of reference subjects."""

from __future__ import annotations

import numpy as np

from neurogym_check.candidate import Candidate
from neurogym_check.check_types import NotApplicable, check, require
from neurogym_check.subject_play import Played
from neurogym_check.tolerances import largest_deviation
from neurogym_core import Outcome

TASK = ("task",)
ORACLE_MIN = 0.9
"""Lowest performance of the oracle if the manifest states none."""


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


@check("B007", kinds=TASK)
def errors_pay_no_more_than_correct_answers(candidate: Candidate) -> dict[str, float]:
    """Of the trials that want the same answer, errors pay no more than correct answers on average.

    Check `correct=` and `error=` of `trial.answer`: numbers, or an array with the reward of each
    trial. Single trials may differ (probabilistic rewards)."""
    task, batch = candidate.task, candidate.batch
    if task.step_action is not None:
        raise NotApplicable("it pays in step_action")
    if task.actions.continuous or not batch.tables.slots.names:
        raise NotApplicable("no single action is right or wrong")
    reward, outcome = batch.table("reward"), batch.table("outcome")
    open_ = batch.table("window") & (batch.duration > 0)[:, :, None]
    gains = {}
    for k, slot in enumerate(batch.tables.slots.names):
        judged = (batch.table("slot") == k) & open_[:, :, k][:, :, None]
        right, wrong = judged & (outcome == Outcome.CORRECT), judged & (outcome == Outcome.ERROR)
        both = right.any(axis=(1, 2)) & wrong.any(axis=(1, 2))
        gain = _mean_of(reward, right) - _mean_of(reward, wrong)
        wanted = right.any(axis=1).argmax(axis=1)
        for action in np.unique(wanted[both]):
            mean = float(gain[both & (wanted == action)].mean())
            label = task.actions.labels()[action]
            require(
                mean >= -1e-9,
                f"Where {label!r} is right in {slot!r}, errors pay {-mean:g} more than correct"
                " answers, expected no more.",
            )
            gains[f"{slot}: {label}"] = mean
    if not gains:
        raise NotApplicable("no answer slot has both correct answers and errors")
    return {"least": min(gains.values())}


def _mean_of(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Return the mean of (n, S, A) values over some of them, (n,); 0 where there are none."""
    total = np.where(where, values, 0.0).sum(axis=(1, 2))
    return np.asarray(total / np.maximum(where.sum(axis=(1, 2)), 1))
