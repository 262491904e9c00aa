"""`Sweep`: jobs, the folder in which they are done, and the loop that does the missing runs."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neurogym_core import NeurogymError, NotSupportedError
from neurogym_core.tools import FileNotWrittenError, Progress
from neurogym_sweep.base import Work
from neurogym_sweep.engines import Engine
from neurogym_sweep.store import Job, Store
from neurogym_sweep.table import write_table
from neurogym_sweep.worker import failure

WAIT = 1.0
"""Seconds between looks at runs that other processes do."""
ATTEMPTS = 3
"""Times that the workers may break down in a row without a finished run."""
ALONE_AFTER = 2
"""Breakdowns after which a run that was being done is done alone."""


@dataclass(frozen=True)
class Summary:
    """The state of a sweep.

    Attributes:
        runs: number of runs.
        done, failed: numbers of runs with results, and with an error.
        new: number of runs that this call did.
        seconds: duration of this call.
        table: the Parquet file.
    """

    runs: int
    done: int
    failed: int
    new: int
    seconds: float
    table: Path

    @property
    def left(self) -> int:
        """Number of runs without a result."""
        return self.runs - self.done - self.failed


class Sweep:
    """The runs of rows of settings.

    All rows are checked when the sweep is made.

    Args:
        work: the work of all runs.
        rows: settings of each run; rows that give the same run are one.
        folder: folder of the sweep; several machines can share it.

    Attributes:
        jobs: the runs, without repetitions.
        repeated: number of rows that repeat the run of an earlier row.

    Raises:
        NeurogymError: a setting does not exist, or has an impossible value.
    """

    def __init__(self, work: Work, rows: Iterable[Mapping[str, Any]], folder: str | Path) -> None:
        self.work, self.store = work, Store(folder)
        found: dict[str, Job] = {}
        count = 0
        with Progress("checking rows", 0) as progress:
            for row in rows:
                count += 1
                try:
                    job = work.job(row)
                except NeurogymError as error:
                    said = ", ".join(f"{name}={value}" for name, value in row.items())
                    raise type(error)(f"Row {count} ({said}): {error}") from error
                found.setdefault(job.key, job)
                progress.show(count, f"checked {count:,} rows")
        self.jobs = list(found.values())
        self.repeated = count - len(found)

    def run(
        self,
        engine: Engine | None = None,
        *,
        trackers: Sequence[str] = (),
        retry: bool = False,
        progress: bool = True,
    ) -> Summary:
        """Do the runs that have no result, and write the table.

        Args:
            engine: the workers; None: processes of this machine.
            trackers: "tensorboard", "wandb", "mlflow": where results are logged, too.
            retry: whether to do failed runs again.
            progress: show a progress bar, with the number of runs that are left.

        Raises:
            FileNotWrittenError: a result cannot be written, for example because the disk is full.
            NotSupportedError: the workers break down again and again.
        """
        since = time.perf_counter()
        engine = engine or Engine()
        self._write_plan()
        if retry:
            for job in self.jobs:
                if (self.store.result(job.key) or {}).get("status") == "failed":
                    self.store.forget(job.key)
        done = self.store.done()
        pending = {job.key: job for job in self.jobs if job.key not in done}
        before = len(pending)
        loop = _Loop(self.store, engine, trackers, pending, len(self.jobs))
        try:
            if pending:
                with Progress("runs", len(self.jobs)) as bar:
                    loop.run(bar if progress else None)
        except BaseException:
            # Also after Ctrl-C, for the runs that are done. On a full disk, the first error counts.
            with contextlib.suppress(OSError):
                write_table(self.store)
            raise
        table = write_table(self.store)
        return self._summary(before - len(pending), time.perf_counter() - since, table)

    def _write_plan(self) -> None:
        try:
            self.store.write_plan(self.work.name, self.jobs)
        except OSError as error:
            if isinstance(error, FileNotWrittenError):
                raise
            raise FileNotWrittenError(
                f"{self.store.folder} cannot be written: {error.strerror}. Expected a folder with"
                " room and write permission. Choose another one with --out."
            ) from error

    def _summary(self, new: int, seconds: float, table: Path) -> Summary:
        states = Counter(
            (self.store.result(job.key) or {"status": "left"})["status"] for job in self.jobs
        )
        return Summary(len(self.jobs), states["done"], states["failed"], new, seconds, table)


class _Loop:
    """Gives runs to an engine until all have results, whatever happens to its workers."""

    def __init__(
        self,
        store: Store,
        engine: Engine,
        trackers: Sequence[str],
        pending: dict[str, Job],
        total: int,
    ) -> None:
        self.store, self.engine, self.trackers = store, engine, trackers
        self.pending, self.total = pending, total
        # Empty until the workers have started: an engine can break down before.
        self.batch: list[Job] = []
        self.failed = 0
        self.breakdowns = 0
        self.suspicion: Counter[str] = Counter()
        self.bar: Progress | None = None

    def run(self, bar: Progress | None) -> None:
        self.bar = bar
        while self.pending:
            try:
                with self.engine.started() as started:
                    while self.pending:
                        self._round(started)
            except (NeurogymError, KeyboardInterrupt):
                raise
            # Each engine raises another error when a worker is killed.
            except Exception as error:
                self._after_breakdown(error)

    def _round(self, engine: Engine) -> None:
        """Give out the pending runs once: together, or a single one that workers died of."""
        alone = [job for job in self.pending.values() if self._is_suspect(job)]
        self.batch = [job for job in self.pending.values() if not self._is_suspect(job)]
        self.batch = self.batch or alone[:1]
        busy = 0
        for outcome in engine.outcomes(self.batch, self.store, self.trackers):
            if outcome.status == "stopped":
                raise FileNotWrittenError(outcome.message)
            if outcome.status == "busy":
                busy += 1
            elif self.pending.pop(outcome.key, None) is not None:
                self.breakdowns = 0
                self.failed += outcome.status == "failed"
            self._show(busy)
        if busy:
            time.sleep(WAIT)
            self._drop_finished()
            self._show(busy)

    def _is_suspect(self, job: Job) -> bool:
        return self.suspicion[job.key] >= ALONE_AFTER

    def _after_breakdown(self, error: Exception) -> None:
        """Keep count of the runs that were being done; one that breaks workers alone has failed."""
        if self._drop_finished():
            self.breakdowns = 0
        self.breakdowns += 1
        left = [job for job in self.batch if job.key in self.pending]
        begun = [job for job in left if self.store.is_claimed(job.key)]
        said = f"{type(error).__name__}: {error}"
        if len(self.batch) == 1 and begun and self._is_suspect(begun[0]):
            key = begun[0].key
            self.store.write_result(
                begun[0], failure(f"The worker of this run ended {ALONE_AFTER + 1} times: {said}")
            )
            self.store.release(key)
            del self.pending[key]
            self.failed += 1
            self.breakdowns = 0
            return
        self.suspicion.update(job.key for job in begun)
        if self.breakdowns > ATTEMPTS and not any(self._is_suspect(job) for job in left):
            raise NotSupportedError(
                f"The workers ({self.engine.name}) broke down {self.breakdowns} times without a"
                f" finished run: {said} Expected workers that can do runs. Correct the cause, and"
                " give the same command again: finished runs are kept."
            ) from error

    def _drop_finished(self) -> int:
        """Forget pending runs that have results by now; return their number."""
        finished = self.pending.keys() & self.store.done()
        for key in finished:
            del self.pending[key]
        return len(finished)

    def _show(self, busy: int) -> None:
        if self.bar is not None:
            left = len(self.pending)
            elsewhere = f", {busy} in other processes" if busy else ""
            failed = f", {self.failed} failed" if self.failed else ""
            self.bar.show(self.total - left, f"{left:,} runs left{failed}{elsewhere}")
