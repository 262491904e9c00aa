"""`run`: let a subject play a task, and keep the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError
from neurogym_core.play.make import is_task, make_task, make_vec, resolve
from neurogym_core.play.results import TrialResults
from neurogym_core.trials.record import TrialRecord


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
        task, wrap, params: as in `make_vec`; with wrappers of envs, the subject sees what they show.
        subject: a reference subject by name ("oracle", "random", …), or any callable
            ``(env, observations) -> actions``; a method `begin(env)` is called first where there is one.
        n_trials: how many.
        num_envs: how many envs play side by side; trials that would be cut off at the end are not counted.
        seed: of the env, and of a subject given by name.
        conditions: imposed on all trials; (m,) values are taken in turn.
        progress: called with the number of trials finished so far.
    """
    if isinstance(n_trials, bool) or not isinstance(n_trials, int | np.integer) or n_trials < 1:
        raise InvalidValueError(f"run() was given n_trials={n_trials!r}; it needs a whole number, at least 1.")
    if not is_task(resolve(task)):
        make_task(task)  # raises: says what an env that is no Task lacks
    env: Any = make_vec(task, min(num_envs, n_trials), wrap=wrap, autoreset_mode="SameStep", seed=seed, **params)
    player = _named(subject, seed)
    observations, _ = env.reset(seed=seed, options={"conditions": conditions} if conditions else None)
    # Subjects ask the env what is shown and asked; Gymnasium's wrappers do not pass such questions on.
    bare = env.unwrapped
    if hasattr(player, "begin"):
        player.begin(bare)
    records: list[TrialRecord] = []
    parts: list[TrialResults] = []
    done = 0
    quota = -(-n_trials // env.num_envs)  # every env plays as many, so that short trials are not preferred
    while done < n_trials:
        observations, _, _, _, info = env.step(player(bare, observations))
        if "trial" in info:
            finished = info["trial"].finished
            if parts and parts[-1].block is not finished.block:  # trials that ended hold on to their block
                records.append(TrialRecord.concatenate([part.record() for part in parts]))
                parts = []
            parts.append(finished)
            done += int((finished.number < quota).sum())
            if progress is not None:
                progress(min(done, n_trials))
    record = TrialRecord.concatenate([*records, *(part.record() for part in parts)])
    return record[record["trial"] < quota][:n_trials]


def _named(subject: Any, seed: int | None) -> Any:
    if not isinstance(subject, str):
        return subject
    from neurogym_core.testing.subjects import subject_named

    return subject_named(subject, seed=0 if seed is None else seed + 1)
