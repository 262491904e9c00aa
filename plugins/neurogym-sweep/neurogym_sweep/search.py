"""`Search`: find good settings with Optuna, which proposes the rows."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from neurogym_core import InvalidValueError
from neurogym_core.tools import Progress, optional, unknown
from neurogym_sweep.base import Work
from neurogym_sweep.engines import Engine
from neurogym_sweep.plan import Draw, SweepAxis
from neurogym_sweep.store import Job, Store
from neurogym_sweep.sweep import Summary, Sweep

STUDY_FILE = "optuna.log"


@dataclass(frozen=True)
class Found:
    """The result of a search.

    Attributes:
        best: the best settings, or None if all runs failed.
        value: the mean of the goal in their last tests.
        summary: of all runs.
    """

    best: dict[str, Any] | None
    value: float | None
    summary: Summary


class Search:
    """A search for the settings with the best results, which continues where it was interrupted.

    Optuna's journal is in the folder of the sweep, beside the runs. The axis ``seed`` is not
    searched: each proposal is run with all its seeds, and its value is the mean over them.

    Args:
        work: the work of all runs.
        axes: the settings to search: lists and ranges.
        folder: folder of the sweep.
        goal: the result to optimize, in the last test of a run.
        maximize: whether the largest value is the best.
        seed: seed of Optuna's sampler.
    """

    def __init__(
        self,
        work: Work,
        axes: Sequence[SweepAxis],
        folder: str | Path,
        *,
        goal: str,
        maximize: bool = True,
        seed: int = 0,
    ) -> None:
        self.work, self.store, self.goal, self.maximize = work, Store(folder), goal, maximize
        seeds = [axis for axis in axes if axis.name == "seed"]
        self.axes = [axis for axis in axes if axis.name != "seed"]
        if not self.axes or any(isinstance(axis.values, Draw) for axis in seeds):
            raise InvalidValueError(
                f"--search was given with {[axis.name for axis in axes]}. Expected one setting or"
                " more beside the seed, and a list of seeds. Add --vary rate=log(1e-4,1e-1)."
            )
        self.seeds: list[dict[str, Any]] = (
            [{"seed": value} for value in seeds[0].values] if seeds else [{}]
        )
        self.seed = seed
        self.sweep = Sweep(work, [], folder)
        # An impossible setting is an error now, and not when it is first proposed.
        for ends in (0, -1):
            work.job({axis.name: _end(axis, ends) for axis in self.axes} | self.seeds[0])

    def run(self, trials: int, engine: Engine | None = None, trackers: Sequence[str] = ()) -> Found:
        """Search until `trials` proposals have been tried in total.

        Raises:
            MissingDependencyError: Optuna is not installed.
            InvalidValueError: another process searches in this folder.
            UnknownNameError: runs have no result of the name of the goal.
        """
        optuna = optional("optuna", needed_for="--search")
        journal = optional("optuna.storages.journal", needed_for="--search")
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        engine = engine or Engine()
        self.store.write_plan(self.work.name, [])
        claim = self.store.claim(Job("search", {}, {}, {}))
        if claim is None:
            raise InvalidValueError(
                f"Another process searches in {str(self.store.folder)!r}. Expected one: a study is"
                " kept by one process, whose workers may be anywhere. Wait for it, or name another"
                " folder with --out."
            )
        try:
            with claim.kept():
                journal_file = self.store.folder / STUDY_FILE
                storage = journal.JournalStorage(journal.JournalFileBackend(str(journal_file)))
                study = optuna.create_study(
                    storage=storage,
                    sampler=optuna.samplers.TPESampler(seed=self._sampler_seed(journal_file)),
                    study_name=self._name(),
                    direction="maximize" if self.maximize else "minimize",
                    load_if_exists=True,
                )
                return self._run(optuna, study, trials, engine, trackers)
        finally:
            claim.withdraw()

    def _run(
        self, optuna: Any, study: Any, trials: int, engine: Engine, trackers: Sequence[str]
    ) -> Found:
        states = optuna.trial.TrialState
        finished = (states.COMPLETE, states.FAIL)
        tried = study.get_trials(deepcopy=False)
        for trial in tried:
            self._add(trial.params)
        # Proposals of a search that was killed: their finished runs are found in the store.
        waiting = [trial for trial in tried if trial.state == states.RUNNING]
        done = sum(trial.state in finished for trial in tried)
        since, new = time.perf_counter(), 0
        with Progress("trials", trials) as bar, engine.started() as started:
            while waiting or done < trials:
                batch = [(trial.number, trial.params) for trial in waiting]
                waiting = []
                while not batch or (len(batch) < engine.n_jobs and done + len(batch) < trials):
                    trial = study.ask()
                    for axis in self.axes:
                        _suggest(trial, axis)
                    batch.append((trial.number, trial.params))
                groups = [self._add(params) for _, params in batch]
                summary = self.sweep.run(started, trackers=trackers, progress=False)
                new += summary.new
                for (number, _), jobs in zip(batch, groups, strict=True):
                    value = self._value(jobs)
                    if value is None:
                        study.tell(number, state=states.FAIL)
                    else:
                        study.tell(number, value)
                done += len(batch)
                bar.show(done, f"{max(trials - done, 0)} trials left")
            summary = self.sweep.run(started, trackers=trackers, progress=False)
        complete = study.get_trials(deepcopy=False, states=(states.COMPLETE,))
        summary = replace(summary, new=new, seconds=time.perf_counter() - since)
        if not complete:
            return Found(None, None, summary)
        return Found(self._row(study.best_trial.params), study.best_value, summary)

    def _add(self, params: dict[str, Any]) -> list[Job]:
        """Add the runs of a proposal to the sweep, and return them."""
        if len(params) < len(self.axes):  # killed before the proposal was complete
            return []
        jobs = [self.work.job({**self._row(params), **seed}) for seed in self.seeds]
        known = {job.key for job in self.sweep.jobs}
        self.sweep.jobs += [job for job in jobs if job.key not in known]
        return jobs

    def _row(self, params: dict[str, Any]) -> dict[str, Any]:
        return {axis.name: _value(axis, params[axis.name]) for axis in self.axes}

    def _value(self, jobs: Sequence[Job]) -> float | None:
        """Return the mean of the goal, or None if a run failed or has no number."""
        values = []
        for job in jobs:
            result = self.store.result(job.key)
            if result is None or result["status"] == "failed" or not result["rows"]:
                return None
            last = result["rows"][-1]
            if self.goal not in last:
                raise unknown("result", self.goal, last, of=self.work.name)
            value = last[self.goal]
            if not isinstance(value, int | float) or not math.isfinite(value):
                return None
            values.append(float(value))
        return sum(values) / len(values) if values else None

    def _sampler_seed(self, file: Path) -> int:
        """Return another seed each time that the study is continued.

        With the same one, the sampler would begin with the same proposals again.
        """
        said = f"{self.seed} {file.stat().st_size if file.exists() else 0}"
        return int(hashlib.sha256(said.encode()).hexdigest()[:8], 16)

    def _name(self) -> str:
        """Return the name of the study: a search for something else is another study."""
        what = [
            self.work.name,
            self.work.job({axis.name: _end(axis, 0) for axis in self.axes} | self.seeds[0]).key,
            [[axis.name, repr(axis.values)] for axis in self.axes],
            self.seeds,
            self.goal,
            self.maximize,
        ]
        return hashlib.sha256(json.dumps(what, default=repr).encode()).hexdigest()[:16]


def _suggest(trial: Any, axis: SweepAxis) -> None:
    values = axis.values
    if not isinstance(values, Draw):
        trial.suggest_categorical(axis.name, _choices(values))
    elif values.kind == "integers":
        trial.suggest_int(axis.name, int(values.low), int(values.high) - 1)
    else:
        trial.suggest_float(axis.name, values.low, values.high, log=values.kind == "log")


def _choices(values: Sequence[Any]) -> list[Any]:
    """Return values that Optuna can store: tuples as their texts."""
    return [
        value if value is None or isinstance(value, bool | int | float | str) else repr(value)
        for value in values
    ]


def _value(axis: SweepAxis, stored: Any) -> Any:
    if isinstance(axis.values, Draw):
        return stored
    return axis.values[_choices(axis.values).index(stored)]


def _end(axis: SweepAxis, end: int) -> Any:
    """Return the first or the last value of an axis."""
    values = axis.values
    if not isinstance(values, Draw):
        return values[end]
    if values.kind == "integers":
        return int(values.low) if end == 0 else int(values.high) - 1
    return values.low if end == 0 else values.high
