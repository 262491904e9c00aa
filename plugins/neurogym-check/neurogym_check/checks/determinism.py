"""D: equal seeds give equal results, in every process, for the env and its copies."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from neurogym_check.candidate import Candidate
from neurogym_check.check_types import (
    CheckFailedError,
    NotApplicable,
    check,
    require,
)
from neurogym_check.import_in_child import imported
from neurogym_check.trajectories import (
    fingerprint,
    first_difference,
    go_on,
    mixed,
    seen,
    trajectory,
)
from neurogym_core import NeurogymError, Task
from neurogym_core.players import TaskView
from neurogym_core.tools import listed

SEED = 31
PLAYED = 300
"""Most steps of a session, at the quick level."""
FURTHER = 15
"""Sessions that must all be equal before the check fails; two can be equal by chance."""


def _steps(candidate: Candidate, most: int = 150) -> int:
    """Return a number of steps for several trials, at most `most` at the quick level."""
    typical = TaskView(candidate.task).typical_steps if candidate.kind == "task" else 30
    return int(np.clip(6 * typical, 60, candidate.several(most, 3000)))


def reference_trajectory(candidate: Candidate) -> list[str]:
    """Return the trajectory for a fixed seed and actions, the same in every process and level."""
    quick = Candidate(candidate.source)  # the other process does not know the level
    return trajectory(quick.env(), mixed(SEED), _steps(quick), seed=SEED)


def _compared(one: list[str], other: list[str], what: str) -> None:
    step = first_difference(one, other)
    require(step is None, f"{what} differ from step {step} of {len(one) - 1} on.", step=step)


@check("D001")
def equal_seeds_give_equal_trajectories(candidate: Candidate) -> None:
    """Two envs with the same seed and actions show the same, whatever the global random state.

    Take all random numbers from the generators that the core passes to your methods (`rng`,
    `trial.rng`, `now.rng`; in a plain Gymnasium env, `self.np_random`). Do not use `np.random.…`,
    `random.…`, a generator of the class or module, the clock, or class attributes that change."""
    one, other = candidate.fresh_env(), candidate.fresh_env()
    policies = mixed(SEED), mixed(SEED)
    state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        first = [fingerprint(env.reset(seed=SEED)) for env in (one, other)]
        require(
            first[0] == first[1],
            "Two envs with the same seed show different observations on reset.",
        )
        for step in range(1, _steps(candidate) + 1):
            random.seed(step), np.random.seed(step)  # noqa: NPY002
            a = next(seen(result) for _, result in go_on(one, policies[0], 1))
            random.seed(2**31 - step), np.random.seed(2**31 - step)  # noqa: NPY002
            b = next(seen(result) for _, result in go_on(other, policies[1], 1))
            require(
                a == b,
                f"Two envs with the same seed and actions differ from step {step} on.",
                step=step,
            )
    finally:
        random.setstate(state), np.random.set_state(numpy_state)  # noqa: NPY002


@check("D002")
def copies_continue_identically(candidate: Candidate) -> None:
    """A copy of an env (deepcopy or pickle) continues as the env does, and independently of it.

    Keep the state of a session on the session or the env, not on the class or module or in a
    closure. Do not store lambdas or open files on tasks and envs; a function at the top of a module
    can be pickled."""
    copies = {"deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}
    env = candidate.env()
    env.reset(seed=SEED)
    # Targets are often to rest, so that the copy is made in the middle of a trial.
    for _ in go_on(env, mixed(1), 17):
        pass
    copied = {}
    for name, make_copy in copies.items():
        try:
            copied[name] = make_copy(env)
        except Exception as error:
            raise CheckFailedError(
                f"{name} of the env fails: {type(error).__name__}: {error}"
            ) from error
    count = _steps(candidate) // 2
    expected = [seen(result) for _, result in go_on(env, mixed(2), count)]
    for name, clone in copied.items():
        _compared(
            expected,
            [seen(result) for _, result in go_on(clone, mixed(2), count)],
            f"The env and its {name}",
        )
    if candidate.kind == "task":
        for name, make_copy in copies.items():
            _compare_copied_vector_env(candidate, name, make_copy, count)


def _compare_copied_vector_env(
    candidate: Candidate, name: str, make_copy: Callable[[Any], Any], count: int
) -> None:
    env = candidate.vector_env(2)
    env.reset(seed=SEED)
    act = mixed(3)
    for _ in range(17):
        env.step(act(env))
    copied = make_copy(env)
    # The copy plays first: state that the two share would change the play of the original.
    ahead, expected = (
        [fingerprint(one.step(act(one))) for _ in range(count)]
        for one, act in ((copied, mixed(4)), (env, mixed(4)))
    )
    _compared(expected, ahead, f"The vector env and its {name}")


@check("D003")
def other_processes_give_equal_trajectories(candidate: Candidate) -> None:
    """The same seed and actions show the same in another process with another PYTHONHASHSEED.

    Do not let anything depend on the order of a set or on hash(text), which differ between
    processes. Sort the values, or use a tuple or dict."""
    if not isinstance(candidate.source, str):
        raise NotApplicable("it needs an id or a file, which another process can make")
    there = imported(candidate)
    require(there.trajectory is not None, f"Another process cannot play it: {there.failure}.")
    _compared(
        reference_trajectory(candidate), list(there.trajectory), "The env here and in a new process"
    )


@check("D004")
def reset_without_seed_starts_a_new_session(candidate: Candidate) -> None:
    """`reset(seed=s)` restarts the random numbers; `reset()` starts a session with new ones.

    Restart the random numbers only if a seed is given. A plain Gymnasium env calls
    `super().reset(seed=seed)` and draws from `self.np_random` only."""
    sessions = _random_sessions(candidate)
    _compared(sessions[0], sessions[2], "Two sessions after a reset with the same seed")
    _compared(sessions[1], sessions[3], "The sessions that follow those with the same seed")
    repeats = sessions[0] == sessions[1] and all(
        one == sessions[0] for one in _further(candidate, [None] * FURTHER)
    )
    _require_a_trial(candidate, repeats)
    require(not repeats, "reset() without a seed repeats the previous session.")


@check("D005")
def different_seeds_give_different_trials(candidate: Candidate) -> None:
    """Different seeds give different trials, unless the task declares nothing random.

    The seed must determine every draw: take all random numbers from the generators that the core
    passes to your methods, or in a plain Gymnasium env from `self.np_random`. Conditions and frames
    must not depend on the place of a trial in the batch."""
    if candidate.kind == "task":
        _require_own_draws(candidate.task)
    if _looks_fixed(candidate):
        one, other = _further(candidate, [SEED, SEED + 1])
        _compared(one, other, "The task declares nothing random, but sessions with different seeds")
        return
    sessions = _random_sessions(candidate)
    seeds = list(range(SEED + 2, SEED + 2 + FURTHER))
    same = sessions[0] == sessions[4] and all(
        one == sessions[0] for one in _further(candidate, seeds)
    )
    _require_a_trial(candidate, same)
    require(not same, f"The seeds from {SEED} to {seeds[-1]} give the same trials.")


def _require_own_draws(task: Task) -> None:
    """Require of all that differs between trials that it differs between two seeds, row by row.

    Frames and durations are compared between trials with equal conditions."""
    n = 50
    batches = [task.sample(n, seed=SEED + k) for k in (0, 1)]
    _require_different([one.conditions for one in batches], "condition")
    held = {name: values[0] for name, values in batches[0].conditions.items()}
    try:
        batches = [task.sample(n, seed=SEED + k, **held) for k in (0, 1)]
    except NeurogymError:
        return  # some conditions cannot be imposed together
    _require_different([one.period_steps for one in batches], "duration of")
    if batches[0].path.shape != batches[1].path.shape:
        return
    # Steps can be compared in trials of the same path.
    paths = np.stack([one.path for one in batches])
    rows = np.flatnonzero((paths == paths[0, 0]).all(axis=(0, 2)))
    if len(rows) > 1:
        shown = [one.take(rows).render(None).reshape(len(rows), -1) for one in batches]
        _require_different([{"observations": one} for one in shown], "noiseless part of the")


def _require_different(drawn: list[Mapping[str, np.ndarray]], what: str) -> None:
    one, other = drawn
    fixed = [
        name
        for name, values in one.items()
        if (values != values[:1]).any() and np.array_equal(values, other[name])
    ]
    require(
        not fixed,
        f"The {what} {listed(fixed)} differs between trials, and is the same for two seeds, trial"
        " by trial. Expected draws from `rng`.",
    )


def _require_a_trial(candidate: Candidate, same: bool) -> None:
    """Raise `CannotTell` if equal sessions were shorter than a trial: it may differ later on."""
    count = _steps(candidate, PLAYED)
    if same and candidate.kind == "task" and count < TaskView(candidate.task).typical_steps:
        raise candidate.out_of_steps("mixed", count)


def _random_sessions(candidate: Candidate) -> list[list[str]]:
    """Return `_sessions`; raise `NotApplicable` if nothing in them is random."""
    if _looks_fixed(candidate):
        raise NotApplicable("nothing in it is random")
    sessions = candidate.once("sessions", _sessions)
    # Draws of hooks and plain envs are not declared: only sessions that differ show them.
    if (candidate.kind != "task" or TaskView(candidate.task).hooks) and all(
        one == sessions[0] for one in sessions
    ):
        raise NotApplicable("all of its sessions were equal")
    return sessions


def _sessions(candidate: Candidate) -> list[list[str]]:
    """Return trajectories after resets with a seed, without, with it, without, with another."""
    return _further(candidate, [SEED, None, SEED, None, SEED + 1])


def _further(candidate: Candidate, seeds: list[int | None]) -> list[list[str]]:
    """Return trajectories after successive resets of a new env with these seeds."""
    env = candidate.env()
    env.reset(seed=SEED)  # a plain env may define its target only after the first reset
    count = _steps(candidate, PLAYED)
    return [trajectory(env, mixed(SEED), count, seed, counted=False) for seed in seeds]


def _looks_fixed(candidate: Candidate) -> bool:
    """Whether a task declares nothing random: conditions and durations constant, no noise."""
    if (
        candidate.kind != "task"
        or TaskView(candidate.task).stateful
        or TaskView(candidate.task).hooks
    ):
        return False
    batch = candidate.batch
    same = all((values == values[:1]).all() for values in batch.conditions.values())
    noise = np.any(batch.noise * (batch.duration > 0)[: len(batch.noise), :, None])
    return bool(
        same
        and not noise
        and (batch.duration == batch.duration[:1]).all()
        and (batch.shown == batch.shown[:1]).all()
    )
