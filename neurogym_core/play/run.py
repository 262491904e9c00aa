"""`run`: let a subject play a task, and return the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError
from neurogym_core.play.make import is_task, make_task, make_vec, resolve
from neurogym_core.subjects import subject_named
from neurogym_core.trials.record import TrialRecord

KEPT = 4096
"""Number of ended trials after which they are joined to a record. Until then they keep their blocks
in memory.
"""


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C while a subject played; `record` has the trials that had ended, possibly none."""

    def __init__(self, record: TrialRecord) -> None:
        super().__init__(f"stopped after {len(record):,} trials")
        self.record = record


class Played:
    """Collect trials as they end.

    Args:
        quota: number of trials of every env that count, so that short trials are not
            overrepresented; None: all of them.
        limit: number of trials to return at most; None: all of them.
    """

    def __init__(self, quota: int | None = None, limit: int | None = None) -> None:
        self.quota, self.limit = quota, limit
        self.count = 0
        """Number of trials so far that count."""
        self._parts: list[Any] = []  # records, then the results to join to the next record
        self._records = 0
        self._waiting = 0

    def add(self, info: Mapping[str, Any]) -> None:
        """Add the trials that ended on a step, from its `info`."""
        if "trial" not in info:
            return
        finished = info["trial"].finished
        number = finished.number
        counted = len(number) if self.quota is None else int((number < self.quota).sum())
        self.count += counted
        if counted:
            self._parts.append(finished)
            self._waiting += len(number)
        if self._waiting >= KEPT:
            # One assignment, so that Ctrl-C never finds a trial twice or not at all.
            self._parts[self._records :] = [self._joined(self._parts[self._records :])]
            self._records += 1
            self._waiting = 0

    def _joined(self, parts: list[Any]) -> TrialRecord:
        record = TrialRecord.concatenate(
            [part if isinstance(part, TrialRecord) else part.record() for part in parts]
        )
        return record if self.quota is None else record[record["trial"] < self.quota]

    def record(self) -> TrialRecord:
        """Return all trials that count, in the order in which they ended."""
        return self._joined(self._parts)[: self.limit] if self._parts else TrialRecord({})


def run(
    task: Any,
    subject: Any,
    n_trials: int = 100,
    *,
    num_envs: int = 16,
    seed: int | None = None,
    conditions: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] | None = None,
    wrap: Any = (),
    **params: Any,
) -> TrialRecord:
    """Play `n_trials` trials and return their record, in the order in which they ended.

    Args:
        task, wrap, params: as in `make_vec`; the subject gets the observations of env wrappers.
        subject: a reference subject by name ("oracle", "random", …), or any callable ``(env,
            observations) -> actions``; its method `begin(env)`, if any, is called first.
        n_trials: number of trials.
        num_envs: number of envs that are played in parallel. Each plays the same number of
            trials; trials that are cut off at the end are not counted.
        seed: seed of the env, and of a subject given by name.
        conditions: imposed on all trials; of (m,) values the trials take one after the other.
        progress: called with the number of trials finished so far.

    Raises:
        InvalidValueError: `n_trials`, `num_envs` or `seed` is not an integer, or is too small.
        NotSupportedError: the task is an env that is not a `Task`.
        RunInterrupted (KeyboardInterrupt): Ctrl-C; its `record` has the trials so far.

    Example:
        >>> from neurogym_core import run
        >>> record = run("perceptual/PerceptualDecisionMaking-v0", "oracle", 20, seed=0)
        >>> len(record), float(record["performance"].mean())
        (20, 1.0)
    """
    n_trials = _checked("n_trials", n_trials, least=1)
    num_envs = _checked("num_envs", num_envs, least=1)
    seed = None if seed is None else _checked("seed", seed, least=0)
    if not is_task(resolve(task)):
        make_task(task)  # raises the error for envs that are not Tasks
    env: Any = make_vec(
        task, min(num_envs, n_trials), wrap=wrap, autoreset_mode="SameStep", seed=seed, **params
    )
    player = subject
    if isinstance(subject, str):
        player = subject_named(subject, seed=0 if seed is None else seed + 1)
    played = Played(quota=-(-n_trials // env.num_envs), limit=n_trials)
    try:
        observations, _ = env.reset(
            seed=seed, options={"conditions": conditions} if conditions else None
        )
        # Subjects read properties of the env (`target`, `is_asked`), which the vector wrappers of
        # Gymnasium do not forward.
        bare = env.unwrapped
        if hasattr(player, "begin"):
            player.begin(bare)
        while played.count < n_trials:
            observations, _, _, _, info = env.step(player(bare, observations))
            played.add(info)
            if progress is not None and "trial" in info:
                progress(min(played.count, n_trials))
        return played.record()
    except KeyboardInterrupt as stop:
        raise RunInterrupted(played.record()) from stop


def _checked(name: str, value: Any, least: int) -> int:
    """Return `value` as an int of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidValueError(
            f"run() was given {name}={value!r}. Expected a whole number, at least {least}."
            " Give one."
        )
    return int(value)
