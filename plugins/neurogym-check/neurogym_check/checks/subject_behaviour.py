"""B: what reference subjects earn, and whether the answer shows before it should."""

from __future__ import annotations

import numpy as np

from neurogym_check.candidate import ENVS, LONG, Candidate, dealer_of
from neurogym_check.check_types import NotApplicable, check, require
from neurogym_check.tolerances import largest_deviation
from neurogym_core.play.vector_env import TaskVectorEnv
from neurogym_core.tasks.building import typical_steps
from neurogym_core.tasks.identity import with_settings
from neurogym_core.tasks.state import period_names_of

TASK = ("task",)
ORACLE_MIN = 0.9
"""Least performance of the oracle where the manifest says nothing."""

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
"""Periods whose names begin like this come before anything that the answer depends on."""


def _require_resting(candidate: Candidate) -> None:
    actions = candidate.task.actions
    if not actions.continuous and actions.rest is None:
        raise NotApplicable("it has no action of resting")
    if not actions.continuous and actions.size == 1:
        raise NotApplicable("it has no action but resting")
    if "rest" not in candidate.played:
        raise NotApplicable("its trials are long: the full level plays it")


def _margin(*errors: float) -> float:
    """How far apart the means of equal things may be; Student's t of `ENVS` - 1 degrees of freedom
    has heavier tails.
    """
    return 1.45 * largest_deviation() * float(np.sqrt(sum(error**2 for error in errors))) + 1e-9


@check("B001", kinds=TASK)
def oracle_performs_as_declared(candidate: Candidate) -> dict[str, float]:
    """A subject that does what is right on every step performs at least as well as `oracle_min` of
    the manifest says.

    The target of every step (answer, answer_at, pay, or step_target) must lead to a correct
    outcome. Play the task with `run(task, "oracle")` and look at the trials whose performance is
    below 1. Where even perfect knowledge is not always right, say so with oracle_min."""
    least = candidate.expected.get("oracle_min", ORACLE_MIN)
    played = candidate.played["oracle"]
    require(
        played.performance.size,
        f"Who does what is right finishes no trial within {played.steps} steps.",
    )
    performance = played.mean("performance")[0]
    enough = performance >= least - 1e-6
    require(
        enough,
        f"The oracle's performance is {performance:.3f}, expected at least {least}.",
        performance=performance,
    )
    return {"performance": performance}


@check("B002", kinds=TASK)
def guessing_performs_at_chance(candidate: Candidate) -> dict[str, float]:
    """A subject that rests while it should and then answers at random performs as `chance` of the
    manifest says.

    Correct the number, or the task: are the conditions balanced, are windows open too long, is
    there more than one right answer? `run(task, "guess", 2000)["performance"].mean()` measures it.
    """
    if "chance" not in candidate.expected:
        raise NotApplicable(
            "nothing says what chance is (expected = { chance = … } in the manifest)"
        )
    chance = candidate.expected["chance"]
    played = candidate.played["guess"]
    if (
        not played.performance.size
        and typical_steps(candidate.task) > LONG
        and candidate.level == "quick"
    ):
        raise NotApplicable("its trials are long: the full level plays it")
    require(played.performance.size, f"Who guesses finishes no trial within {played.steps} steps.")
    performance, error = played.mean("performance")
    margin = _margin(error) + 0.0051  # manifests round to two digits
    require(
        abs(performance - chance) <= margin,
        f"Guessing performs at {performance:.3f}, and the manifest says {chance} (margin"
        f" {margin:.3f}).",
        performance=performance,
    )
    return {"performance": performance}


@check("B003", kinds=TASK)
def resting_earns_less_than_the_oracle(candidate: Candidate) -> dict[str, float]:
    """A subject that never acts earns less per trial than one that does what is right.

    Otherwise there is nothing to learn: let answers pay more than resting does, misses nothing, and
    trials without an answer be fewer than those with one."""
    _require_resting(candidate)
    if not any(played.reward.any() for played in candidate.played.values()):
        raise NotApplicable("it pays nothing")
    resting, oracle = (
        candidate.played[subject].mean("reward")[0] for subject in ("rest", "oracle")
    )
    require(resting < oracle, f"Resting earns {resting:.3f} a trial, and the oracle {oracle:.3f}.")
    return {"rest": resting, "oracle": oracle}


@check("B004", kinds=TASK)
def premature_responses_do_not_pay(candidate: Candidate) -> dict[str, float]:
    """A subject that answers on every step, asked or not, earns less per trial than the oracle, and
    no more than one that waits and then guesses.

    Let acting while holding cost something (`rewards["abort"]`), or end the trial. An answer before
    the question must not count."""
    _require_resting(candidate)
    if not any(played.reward.any() for played in candidate.played.values()):
        raise NotApplicable("it pays nothing")
    (premature, a), (guess, b), (oracle, _) = (
        candidate.played[subject].mean("reward") for subject in ("premature", "guess", "oracle")
    )
    earned = f"Answering on every step earns {premature:.3f} a trial"
    if candidate.batch.payoffs.slot_names:
        require(premature <= guess + _margin(a, b), f"{earned}, waiting and guessing {guess:.3f}.")
    require(premature < oracle, f"{earned}, and the oracle {oracle:.3f}.")
    return {"premature": premature, "guess": guess, "oracle": oracle}


@check("B005", kinds=TASK)
def fixation_does_not_reveal_the_answer(candidate: Candidate) -> dict[str, float]:
    """What is shown during fixation, and how long it lasts, says nothing about the right answer.

    The test looks at periods whose names begin with fixation, iti, foreperiod, quiescence, …, in
    trials that are the first of their sessions. Show evidence in the periods after them. A channel
    that shows a condition from the start (a context cue) is fine as long as it does not tell the
    answer."""
    quiet = [
        name
        for name in period_names_of(candidate.task)
        if name.startswith(QUIET) and _before_all(candidate, name)
    ]
    if not quiet:
        raise NotApplicable(
            f"no first period has a name of one that shows nothing yet ({', '.join(QUIET)})"
        )
    played = candidate.task.step_observation is not None or candidate.task.step_target is not None
    shown, answers = _played(candidate, quiet) if played else _laid_out(candidate, quiet)
    shown, answers = _varying(shown), _varying(answers)
    if not shown.shape[1] or not answers.shape[1]:
        return {"correlation": 0.0}
    correlation = np.abs(np.corrcoef(shown.T, answers.T)[: shown.shape[1], shown.shape[1] :])
    limit = 1.2 * largest_deviation(correlation.size) / np.sqrt(len(shown))
    largest = float(correlation.max())
    told = f"What is shown during {', '.join(quiet)} goes with the right answer"
    require(
        largest <= limit,
        f"{told}: correlation {largest:.2f} (at most {limit:.2f}).",
        correlation=largest,
    )
    return {"correlation": largest}


def _before_all(candidate: Candidate, name: str) -> bool:
    """Whether only quiet periods come before this one."""
    names = period_names_of(candidate.task)
    return all(other.startswith(QUIET) for other in names[: names.index(name)])


def _laid_out(candidate: Candidate, quiet: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """As `_played`, from the tables, without noise."""
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
    asked = np.broadcast_to(batch.payoffs.window, (n, *batch.payoffs.window.shape[1:])).any(axis=2)[
        trial, segment
    ]
    asked &= True if actions.continuous else targets != (actions.rest or 0)
    with_answer, first = np.unique(trial[asked], return_index=True)
    first = np.flatnonzero(asked)[first]
    answer = np.zeros((n, actions.size))
    answer[with_answer] = (
        targets[first] if actions.continuous else np.eye(actions.size)[targets[first]]
    )
    return np.concatenate([shown / np.maximum(count, 1)[:, None], count[:, None]], axis=1), answer


def _played(candidate: Candidate, quiet: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Per trial: mean of what was shown in these periods and their number of steps, and the right
    answer, as columns.
    """
    task = with_settings(candidate.task, trials_per_session=1)
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
    for _ in range(int(np.clip(30 * typical_steps(task), 300, candidate.several(900, 9000)))):
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
    table = np.concatenate(rows)
    return table[:, : -size or None], table[:, -size:]


def _varying(columns: np.ndarray) -> np.ndarray:
    return columns[:, columns.std(axis=0) > 1e-6]
