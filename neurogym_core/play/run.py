"""`run`: let a subject play a task, and return the record."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import metadata
from typing import Any

import numpy as np

from neurogym_core.ecosystem.discovery import task_id
from neurogym_core.ecosystem.files import is_file_reference
from neurogym_core.play.env import whole_number
from neurogym_core.play.make import as_list, make_vec, prepared, read_wrapper
from neurogym_core.subjects import AUTO, player_of
from neurogym_core.tasks.parameters import plain_settings, settings
from neurogym_core.tasks.state import state_of
from neurogym_core.trials.record import TrialRecord, is_clock_time
from neurogym_core.trials.slot_columns import REST_CORRECT

KEPT = 4096
"""Number of ended trials after which they are joined to a record. Until then they keep their blocks
in memory.
"""

SCHEMA = 1
"""Version of the facts in the `meta` of records."""

SIDE_BY_SIDE = 16
"""Number of envs in which one subject plays, if neither the subject nor the task carries anything
over trials: then it makes no difference in which env a trial is played."""


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C while a subject played; `record` has the trials that had ended, possibly none."""

    def __init__(self, record: TrialRecord) -> None:
        super().__init__(f"stopped after {len(record):,} trials")
        self.record = record


class Played:
    """Collect trials as they end; only the first `quota` of each env count, (num_envs,).

    Otherwise short trials would be overrepresented. If `apart`, each env has a separate subject."""

    def __init__(self, quota: np.ndarray | None = None, *, apart: bool = False) -> None:
        self.quota, self.apart = quota, apart
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
        counted = (
            len(number) if self.quota is None else int((number < self.quota[finished.envs]).sum())
        )
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
        record: TrialRecord = TrialRecord.concatenate(
            [part if isinstance(part, TrialRecord) else part.record(timed=True) for part in parts]
        )
        if self.quota is None:
            return record
        counts = record["trial"] < self.quota[record["env"]]
        counted: TrialRecord = record[counts]
        return counted

    def record(self) -> TrialRecord:
        """Return all trials that count, by subject, and in the order in which each played them."""
        if not self._parts:
            return TrialRecord({})
        record = self._joined(self._parts)
        if self.apart:
            record = record[np.argsort(record["env"], kind="stable")]
            own = {"subject": record["env"], "trial": record["trial"]}
        else:
            own = {"subject": np.zeros(len(record), np.int64), "trial": np.arange(len(record))}
        others = {
            name: column
            for name, column in record.items()
            if name not in own and (name.rpartition(".")[2] != REST_CORRECT or column.any())
        }
        begins = _begins(own["subject"], record["trial_stop"])
        others |= {name: others[name] + begins for name in others if is_clock_time(name)}
        events = record.event_log.shifted(begins)
        return TrialRecord({**own, **others}, meta=record.meta, events=events)


def _begins(subject: np.ndarray, lasted: np.ndarray) -> np.ndarray:
    """Return the beginning of each trial, ms after the first trial of its subject, (n,).

    The trials of a subject follow one another, also if they were played in several envs: then none
    of them depends on another.
    """
    ends = np.cumsum(lasted)
    first = np.flatnonzero(np.diff(subject, prepend=subject[0] - 1))
    begins = ends - lasted
    own: np.ndarray = begins - np.repeat(begins[first], np.diff(first, append=len(subject)))
    return own


class Game:
    """A subject, or several, at play in a vector env.

    Args:
        task, wrap: as in `run`.
        params: parameters of the task, name -> value.
        subject: as in `run`.
        n_trials: number of trials, of all subjects together; None: any number.
        num_envs: number of subjects; None: one.
        seed, split, conditions: as in `run`.

    Attributes:
        env: the vector env with its wrappers; `env.unwrapped` is a `TaskVectorEnv` of N envs.
        task: its task.
        player: the subject, a callable.
        split: the split of its trials.
        apart: whether each env has a separate subject.
        played: the trials so far; `played.count` is their number.
        steps: number of steps so far.
        observations: (N, k) float32, those that the subject sees next.
        actions, rewards, info: of the last step, (N,) or (N, d), (N,), and the env's `info`.

    Raises:
        InvalidValueError, UnknownNameError, NotSupportedError: as `run`.

    Example:
        >>> from neurogym_core.players import Game
        >>> game = Game("perceptual/PerceptualDecisionMaking-v0", "oracle", 3, seed=0, params={})
        >>> while game.played.count < 3:
        ...     ended = game.step()
        >>> len(game.record())
        3
    """

    def __init__(
        self,
        task: Any,
        subject: Any,
        n_trials: int | None,
        *,
        num_envs: int | None = None,
        seed: int | None = None,
        split: str | None = AUTO,
        conditions: Mapping[str, Any] | None = None,
        wrap: Any = (),
        params: Mapping[str, Any],
    ) -> None:
        self._given = (task, subject, seed, wrap)
        made, env_wrappers = prepared(task, wrap, dict(params))
        self.player = player_of(subject, seed=0 if seed is None else seed + 1)
        own = getattr(self.player, "default_split", None)
        self.split = own if split == AUTO else split
        self.n_trials, self.apart = n_trials, num_envs is not None
        if num_envs is None:
            depends = state_of(made).stateful or made.reads_outcomes
            carries = getattr(self.player, "carries_state", True)
            num_envs = 1 if n_trials is None or carries or depends else SIDE_BY_SIDE
        if n_trials is not None:
            num_envs = min(num_envs, n_trials)
        self.env: Any = make_vec(
            made, num_envs, wrap=env_wrappers or getattr(self.player, "env_wrappers", ()),
            autoreset_mode="SameStep", seed=seed, split=self.split,
        )  # fmt: skip
        quota = None
        if n_trials is not None:
            quota = n_trials // num_envs + (np.arange(num_envs) < n_trials % num_envs)
        self.played, self.steps = Played(quota, apart=self.apart), 0
        self.observations, _ = self.env.reset(
            seed=seed, options={"conditions": conditions} if conditions else None
        )
        # Subjects read properties of the env (`target`, `is_asked`), which the vector wrappers of
        # Gymnasium do not forward.
        self._bare = self.env.unwrapped
        self.task = self._bare.task
        if hasattr(self.player, "begin"):
            self.player.begin(self._bare)

    def step(self) -> bool:
        """Play one step of every env; return whether a trial ended."""
        self.actions = self.player(self._bare, self.observations)
        self.observations, self.rewards, _, _, self.info = self.env.step(self.actions)
        self.steps += 1
        self.played.add(self.info)
        return "trial" in self.info

    def record(self) -> TrialRecord:
        """Return the trials that have ended, with facts about them in `meta`.

        Of several subjects, each has as many trials as the others, or one more.
        """
        record = self.played.record()
        columns = {name: record[name] for name in record.columns}
        meta = {**record.meta, **self._facts()}
        return TrialRecord(columns, meta=meta, events=record.event_log)

    def _facts(self) -> dict[str, Any]:
        """Return the facts of a record, in values that JSON has; see `TrialRecord.meta`."""
        named, subject, seed, wrap = self._given
        bare: Any = self.task
        while (inner := state_of(bare).wraps) is not None:
            bare = inner
        subject, given = subject if isinstance(subject, tuple) else (subject, {})
        if not isinstance(named, str):
            named = type(bare).__qualname__
        elif not is_file_reference(named):
            named = task_id(named)  # the full id, which has the version of the task
        packages = {part.__module__.partition(".")[0] for part in (type(bare), type(subject))}
        versions = {"python": platform.python_version()}
        for one in sorted(
            {"neurogym-core", "numpy", *(name.replace("_", "-") for name in packages)}
        ):
            with suppress(metadata.PackageNotFoundError):
                versions[one] = metadata.version(one)
        return {
            "schema": SCHEMA,
            "task": named,
            "parameters": settings(bare),
            "wrappers": tuple(read_wrapper(one)[0].__qualname__ for one in as_list(wrap)),
            "dt": float(self.task.dt),
            "seed": seed,
            "split": self.split,
            "subject": subject if isinstance(subject, str) else type(subject).__qualname__,
            "subject_settings": plain_settings(given),
            "versions": versions,
        }


def run(
    task: Any,
    subject: Any,
    n_trials: int = 100,
    *,
    num_envs: int | None = None,
    seed: int | None = None,
    split: str | None = AUTO,
    conditions: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] | None = None,
    wrap: Any = (),
    **params: Any,
) -> TrialRecord:
    """Play `n_trials` trials and return their record.

    One subject plays them, unless you ask for more. The column ``subject`` of the record has the
    number of the subject, and ``trial`` the number of its trial; rows are grouped by subject, in
    the order in which each played them.

    If neither the task nor the subject carries anything over trials, the trials of one subject are
    played in 16 envs side by side, which is faster; the column ``env`` says where, and rows are in
    the order in which the trials ended. Learners, callables without ``carries_state = False``, and
    tasks whose trials depend on earlier ones are played in one env.

    Args:
        task, wrap, params: as in `make_vec`; the subject gets the observations of env wrappers.
        subject: a reference subject by name, perhaps with settings ("oracle", "diffusion:bound=50",
            ("diffusion", {"bound": 50}), …), or any callable ``(env, observations) -> actions``;
            its method `begin(env)`, if any, is called first.
        n_trials: number of trials, of all subjects together.
        num_envs: number of subjects, each in a separate env; None: one subject. Each plays the
            same number of trials, or one more; trials that are cut off at the end are not counted.
        seed: seed of the env, and of a subject given by name.
        split: stream of trials: None, "train", "validation" or "test", as in `make`. "auto": "test"
            for the network or agent of a trainer or a run, which was trained on "train"; None for
            all other subjects.
        conditions: imposed on all trials; of (m,) values the trials take one after the other.
        progress: called with the number of trials finished so far.

    Raises:
        InvalidValueError: `n_trials`, `num_envs` or `seed` is not an integer, or is too small.
            Or `subject`, or one of its settings, is impossible.
        UnknownNameError: there is no such subject or split, or the subject has no such setting.
        NotSupportedError: the task is an env that is not a `Task`.
        RunInterrupted (KeyboardInterrupt): Ctrl-C; its `record` has the trials so far.

    Example:
        >>> from neurogym_core import run
        >>> record = run("perceptual/PerceptualDecisionMaking-v0", "oracle", 20, seed=0)
        >>> len(record), float(record["performance"].mean())
        (20, 1.0)
    """
    n_trials = whole_number("run()", "n_trials", n_trials)
    if num_envs is not None:
        num_envs = whole_number("run()", "num_envs", num_envs)
    seed = None if seed is None else whole_number("run()", "seed", seed, least=0)
    game = Game(
        task, subject, n_trials, num_envs=num_envs, seed=seed, split=split, conditions=conditions,
        wrap=wrap, params=params,
    )  # fmt: skip
    try:
        while game.played.count < n_trials:
            if game.step() and progress is not None:
                progress(game.played.count)
        return game.record()
    except KeyboardInterrupt as stop:
        raise RunInterrupted(game.record()) from stop
