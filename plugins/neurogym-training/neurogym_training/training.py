"""`Trainer`, the base of all trainers, and `Watch`, which follows training."""

from __future__ import annotations

import csv
import json
import signal
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self

import numpy as np

from neurogym_core import InvalidValueError, NotSupportedError, Task, TrialRecord, make_task, run
from neurogym_core.players import TaskView
from neurogym_core.tools import replacing, unknown
from neurogym_training.callbacks import OnTest

Criterion = float | Callable[[TrialRecord], bool] | None
"""When to stop: a mean performance (0 to 1) in which a trial with a broken hold counts as 0, or a
function of the record of the test trials."""

CURVE_FILE, PROGRESS_FILE = "curve.csv", "checkpoint.json"
BEST, SNAPSHOT = "best", "at-{}"
"""Folders of the best checkpoint in the folder of a run, and of the snapshot after so many updates
or steps."""
SNAPSHOTS = ("none", "log", "all")
LOWER_IS_BETTER = ("loss", "value_loss", "aborts")
"""Columns of the curve that are better when lower."""
OF_TASKS = ("accuracy", "answered", "aborts")
"""Columns of the curve that it also has for each of several tasks."""
SMALL = 512
"""Hidden units up to which a network learns on one thread by default."""
SIDE_BY_SIDE, SESSION = 16, 100
"""Envs of a test of an agent, and trials of its sessions where trials depend on earlier ones."""


class Trainer(ABC):
    """Base of trainers, which learn one or several tasks, and can be saved and resumed.

    Packages register trainers in the entry-point group ``neurogym.trainers``, name -> class, where
    ``ngym train --model NAME`` and ``--algo NAME`` find them. All arguments but `tasks` are
    keywords with defaults: the settings that ``--option NAME=VALUE`` sets.

    A subclass defines `_learn`, `save`, `load` and `subject`. It learns from trials of the split
    "train", and tests on those of "validation"; `play` has those of "test", so that no test repeats
    a trial of a training, whatever their seeds are.

    Args:
        tasks: the tasks to learn: ids, classes or tasks.
        seed: seed of weights, trials and noise.

    Attributes:
        done: progress, in `unit`.
        curve: one row per test: `unit`, the trainer's measurements, accuracy (mean performance),
            clean (the same, with 0 for trials in which a hold was broken), answered (fraction of
            trials with an answer), aborts and reward (means per trial), accuracy, answered and
            aborts of each of several tasks (``"accuracy of 0 GoNogo"``; those of a `Mixture`
            without the number), seconds, and cpu, the seconds of CPU time of this process.
    """

    kind: ClassVar[Literal["model", "algo"]] = "model"
    """Kind of trainer: "model" (supervised networks) or "algo" (agents that learn from reward)."""
    unit: ClassVar[str] = "updates"
    """Unit of progress: "updates" or "steps"."""
    memory: ClassVar[bool] = True
    """Whether its networks or agents remember earlier observations."""
    threads: int | None = None
    """CPU threads of torch while learning; None: as many as torch is set to."""
    given: Mapping[str, Any]
    """The keywords that it was made with, `tasks` and `seed` included."""
    chosen: Mapping[str, Any] = MappingProxyType({})
    """Settings that the trainer chose because they were None, which the folder of a run keeps."""
    splits: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"training": "train", "tests": "validation", "play": "test"}
    )
    """Splits of the trials that it learns from, is tested on while it learns, and plays later."""

    def __new__(cls, *tasks: Any, **settings: Any) -> Self:
        made = super().__new__(cls)
        made.given = MappingProxyType(settings)
        return made

    def __init__(self, tasks: Any, *, seed: int = 0) -> None:
        listed = (
            list(tasks) if isinstance(tasks, Sequence) and not isinstance(tasks, str) else [tasks]
        )
        if not listed:
            raise InvalidValueError(
                f"{type(self).__name__} was given no task; give at least one to learn."
            )
        if self.kind == "algo" and len(listed) > 1:
            raise NotSupportedError(
                f"{type(self).__name__} was given {len(listed)} tasks. Expected one, because an"
                " agent plays one env. Mix them into one task: --wrap"
                " 'mixture:other_tasks=[\"ANOTHER-v0\"]'. Or train a network: --model."
            )
        self.tasks: list[Task] = [make_task(task) for task in listed]
        self.seed = seed
        self.done = 0
        self.curve: list[dict[str, float]] = []

    def train(
        self,
        until: int,
        *,
        out: str | Path | None = None,
        criterion: Criterion = None,
        patience: int | None = None,
        best_by: str = "clean",
        snapshots: str = "none",
        progress: bool = False,
        on_test: OnTest | Sequence[OnTest] = (),
    ) -> str:
        """Learn until `until` updates (or steps) are done in total, or the criterion is met.

        Args:
            until: total number, counted from the beginning, also after a `load`.
            out: folder of the run, which all commands open: the settings, and after every test the
                curve and the newest checkpoint. Its folder ``best`` has the best one, and is
                opened as a run is.
            criterion: see `Criterion`.
            patience: end after so many tests in a row that are not better than the best one of
                this call.
            best_by: column of the curve that says which test is best: "clean", "accuracy",
                "reward", or "loss" (the lower the better) of networks.
            snapshots: checkpoints to keep, in folders ``at-1000`` of the run, named by progress:
                "none"; "log": those of the tests 0, 1, 2, 4, 8, …; or "all".
            progress: show a progress bar with the newest numbers.
            on_test: a function ``(trainer, row)``, or several, called after every test, when the
                checkpoint is written; `row` is the new row of the curve.
                `neurogym_training.callbacks` has functions for TensorBoard, Weights & Biases
                and Optuna.

        Returns:
            "criterion", "patience", or the unit of progress ("updates", "steps").

        Warns:
            UserWarning: with `out`, the run cannot be opened by name, because its task or its
                trainer is a class that no package and no file has.

        Raises:
            InvalidValueError: `out` holds another run; a wrong `patience`, `best_by` or
                `snapshots`.
            KeyboardInterrupt: Ctrl-C was pressed. With `out`, the checkpoint is written first, at
                the end of the current update; pressing it again does not wait.
            Exception: whatever `on_test` raises; that ends the training.
        """
        with (
            limited(self.threads) as threads,
            Watch(
                self,
                until,
                out=out,
                criterion=criterion,
                patience=patience,
                best_by=best_by,
                snapshots=snapshots,
                progress=progress,
                threads=threads,
                on_test=[on_test] if callable(on_test) else on_test,
            ) as watch,
        ):
            if not watch.met_before and self.done < until:
                self._learn(until, watch)
        return watch.ended_by

    @abstractmethod
    def _learn(self, until: int, watch: Watch) -> None:
        """Learn: call `watch.tick` often and `watch.point` after each test; stop if it is True."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write everything that `load` needs to continue, the curve included."""

    @abstractmethod
    def load(self, folder: Path) -> None:
        """Restore the state that `save` wrote; the tasks and settings must be the same."""

    @abstractmethod
    def subject(self, which: int = 0) -> Any:
        """Return the trained network or agent as a subject for `neurogym_core.run`.

        Args:
            which: index of the task.
        """

    def export(self, path: Path) -> None:
        """Write the network to a file of other programs, .safetensors or .onnx.

        Raises:
            NotSupportedError: this trainer has no such form.
        """
        raise NotSupportedError(
            f"{type(self).__name__} cannot write {str(path)!r}. Expected a trainer of"
            " neurogym-torch. Open its checkpoint with the library that wrote it."
        )

    def save_progress(self, folder: Path) -> None:
        """Write `done` and `curve`, for trainers whose checkpoints have no room for them."""
        with replacing(Path(folder) / PROGRESS_FILE) as temporary:
            temporary.write_text(
                json.dumps({self.unit: self.done, "curve": self.curve}), encoding="utf-8"
            )

    def load_progress(self, folder: Path) -> None:
        """Restore `done` and `curve`."""
        progress = json.loads((Path(folder) / PROGRESS_FILE).read_text(encoding="utf-8"))
        self.done, self.curve = progress[self.unit], progress["curve"]

    def play(
        self,
        n_trials: int,
        *,
        which: int = 0,
        seed: int | None = None,
        split: str | None = "test",
        **settings: Any,
    ) -> TrialRecord:
        """Play one of its tasks, and return the record.

        Args:
            n_trials: number of trials.
            which: index of the task.
            seed: seed of these trials.
            split: stream of these trials, as in `neurogym_core.run`; "test" has new trials.
            settings: as in `neurogym_core.run`: `conditions`, `num_envs`.
        """
        subject = self.subject(which)
        return run(self.tasks[which], subject, n_trials, seed=seed, split=split, **settings)


class Watch:
    """Follows a trainer with a progress bar, a curve, checkpoints, a criterion and callbacks."""

    def __init__(
        self,
        trainer: Trainer,
        until: int,
        *,
        out: str | Path | None,
        criterion: Criterion,
        patience: int | None = None,
        best_by: str = "clean",
        snapshots: str = "none",
        progress: bool = False,
        threads: int | None = None,
        on_test: Sequence[OnTest] = (),
    ) -> None:
        self.trainer, self.until, self.on_test = trainer, until, tuple(on_test)
        self.out = None if out is None else Path(out)
        self.criterion = checked_criterion(criterion)
        checked_keeping(patience, snapshots)
        self.patience, self.best_by, self.snapshots = patience, best_by, snapshots
        self._first = len(trainer.curve)  # a resumed training has all its patience
        self.met = self.met_before = self._met_on_curve()
        if self.out is not None:
            from neurogym_training.runs import begin  # which imports this module

            begin(
                self.out, trainer, until,
                criterion=criterion, patience=patience, best_by=best_by, snapshots=snapshots,
            )  # fmt: skip
        self._bar = _Bar(trainer, until, threads) if progress else None
        self._interrupted = False
        self._handler: Any = None
        self._saved = trainer.done
        last = trainer.curve[-1] if trainer.curve else {}
        self._before, self._cpu_before = last.get("seconds", 0.0), last.get("cpu", 0.0)

    def __enter__(self) -> Watch:
        self._since, self._cpu_since = time.perf_counter(), time.process_time()
        if self._bar is not None:
            self._bar.__enter__()
        # Only where Python would raise KeyboardInterrupt: handlers of the caller stay.
        main = threading.current_thread() is threading.main_thread()
        if (
            self.out is not None
            and main
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        ):
            self._handler = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            if error[0] is None:
                self._complete()
        finally:
            if self._handler is not None:
                signal.signal(signal.SIGINT, self._handler)
            if self._bar is not None:
                self._bar.__exit__(*error)

    def _complete(self) -> None:
        """Save a training that ended without a test, and write a curve that was deleted."""
        if self.out is None:
            return
        if self.trainer.done != self._saved:
            self.save()
        elif self.trainer.curve and not (self.out / CURVE_FILE).exists():
            write_curve(self.trainer.curve, self.out / CURVE_FILE)
        from neurogym_training.runs import finish

        finish(self.out, self.trainer)

    def _interrupt(self, *_: Any) -> None:
        # The second time at once; the first time in `tick`, between two updates.
        if self._interrupted:
            raise KeyboardInterrupt
        self._interrupted = True

    def tick(self, **shown: float) -> None:
        """Update the progress bar, with the newest numbers beside it.

        Raises:
            KeyboardInterrupt: Ctrl-C was pressed; the checkpoint is written.
        """
        if self._bar is not None:
            self._bar.show(self.trainer.done, shown)
        if self._interrupted:
            self.save()
            raise KeyboardInterrupt

    def point(self, record: TrialRecord, **measured: float) -> bool:
        """Add a test to the curve, save checkpoints, and call `on_test`.

        Return True if the training has to end.
        """
        seconds = self._before + time.perf_counter() - self._since
        row = {self.trainer.unit: self.trainer.done, **measured, **_summary(record)}
        row |= _of_tasks(record)
        row["seconds"] = seconds
        row["cpu"] = self._cpu_before + time.process_time() - self._cpu_since
        self.trainer.curve.append({name: float(value) for name, value in row.items()})
        # The bar has room for the overall numbers only; the curve also has those of each task.
        shown = {name: value for name, value in measured.items() if " " not in name}
        seen = ("accuracy", "answered", "aborts") if self.trainer.kind == "algo" else ("accuracy",)
        self.tick(**shown, **{name: row[name] for name in seen})
        self.met = self.meets(record)
        self.save()
        self._keep()
        for call in self.on_test:
            call(self.trainer, dict(self.trainer.curve[-1]))
        return self.ended

    @property
    def ended(self) -> bool:
        """Whether the criterion is met, or the patience at its end."""
        return self.met or self._tired

    @property
    def ended_by(self) -> str:
        """The end of the training: "criterion", "patience", or the unit of progress."""
        return "criterion" if self.met else "patience" if self._tired else self.trainer.unit

    @property
    def _tired(self) -> bool:
        tests = self._values[self._first :]
        return (
            self.patience is not None
            and len(tests) > 0
            and len(tests) - 1 - int(np.argmax(tests)) >= self.patience
        )

    @property
    def _values(self) -> np.ndarray:
        """The column that says which test is best, of all tests; the higher the better."""
        curve = self.trainer.curve
        if curve and self.best_by not in curve[-1]:
            raise unknown("column", self.best_by, curve[-1], of="the curve")
        sign = -1.0 if self.best_by in LOWER_IS_BETTER else 1.0
        values = np.array([row.get(self.best_by, np.nan) for row in curve])
        return np.nan_to_num(sign * values, nan=-np.inf)

    def _keep(self) -> None:
        """Write the checkpoint of a test again where it is the best one or a snapshot."""
        if self.out is None:
            return
        number = len(self.trainer.curve) - 1
        if int(np.argmax(self._values)) == number:
            self._save_in(BEST)
        if self.snapshots == "all" or (self.snapshots == "log" and not number & (number - 1)):
            self._save_in(SNAPSHOT.format(self.trainer.done))

    def _save_in(self, name: str) -> None:
        folder = self.out / name
        folder.mkdir(exist_ok=True)
        self.trainer.save(folder)

    def save(self) -> None:
        """Write a checkpoint and the curve, if there is a folder for them."""
        if self.out is not None:
            self.out.mkdir(parents=True, exist_ok=True)
            self.trainer.save(self.out)
            self._saved = self.trainer.done
            write_curve(self.trainer.curve, self.out / CURVE_FILE)

    def meets(self, record: TrialRecord) -> bool:
        """Return whether the trials of a test meet the criterion."""
        if self.criterion is None:
            return False
        if callable(self.criterion):
            return bool(self.criterion(record))
        return _summary(record)["clean"] >= self.criterion

    def _met_on_curve(self) -> bool:
        """Whether a resumed run has already met this criterion."""
        curve = self.trainer.curve
        return (
            bool(curve)
            and isinstance(self.criterion, float)
            and curve[-1]["clean"] >= self.criterion
        )


@contextmanager
def limited(threads: int | None) -> Iterator[int | None]:
    """Let torch use some threads within the block; yield their number, None without torch."""
    torch = sys.modules.get("torch")  # a trainer that uses torch has imported it
    if torch is None:
        yield None
        return
    before = torch.get_num_threads()
    torch.set_num_threads(threads or before)
    try:
        yield torch.get_num_threads()
    finally:
        torch.set_num_threads(before)


def _summary(record: TrialRecord) -> dict[str, float]:
    """Return the means of the test trials that the curve has; see `Trainer`."""
    performance, aborts = record["performance"], record["aborts"]
    answered = (record["outcome"] != "miss") & (record["outcome"] != "none")
    return {
        "accuracy": float(performance.mean()),
        "clean": float(np.where(aborts > 0, 0.0, performance).mean()),
        "answered": float(answered.mean()),
        "aborts": float(aborts.mean()),
        "reward": float(record["reward"].mean()),
    }


def _of_tasks(record: TrialRecord) -> dict[str, float]:
    """Return the means of each task, where the record says the task of a trial."""
    if "task" not in record or record["task"].dtype.kind != "U":
        return {}
    return {
        f"{name} of {task}": value
        for task in dict.fromkeys(record["task"].tolist())
        for name, value in _summary(record[record["task"] == task]).items()
        if name in OF_TASKS
    }


def threads_for(threads: int, hidden: int) -> int | None:
    """Return `threads`, or if it is 0: 1 for up to 512 hidden units, else None.

    Steps of small networks are short: several threads wait for each other longer than they work,
    and two trainings side by side take each other's cores.
    """
    return threads or (1 if hidden <= SMALL else None)


def sessions_of_test(task: Task, n_trials: int) -> int:
    """Return the number of envs in which an agent plays `n_trials` test trials side by side.

    There are 16, or, if the trials of the task depend on earlier ones, so few that a session has
    about 100 trials: the first trials of a session are no sample of it.
    """
    return min(SIDE_BY_SIDE, -(-n_trials // SESSION)) if TaskView(task).stateful else SIDE_BY_SIDE


def write_curve(curve: Sequence[Mapping[str, float]], path: Path) -> None:
    """Write the rows of a curve as CSV, atomically; values that were not measured are empty."""
    names = list(dict.fromkeys(name for row in curve for name in row))
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _written(value) for name, value in row.items()} for row in curve)


def _written(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else f"{value:.6g}"


def checked_criterion(criterion: Criterion) -> Criterion:
    """Return the criterion, numbers as float.

    Raises:
        InvalidValueError: a number outside of (0, 1].
    """
    if criterion is None or callable(criterion):
        return criterion
    if (
        isinstance(criterion, bool)
        or not isinstance(criterion, int | float)
        or not 0 < criterion <= 1
    ):
        raise InvalidValueError(
            f"The criterion was given as {criterion!r}; it needs a performance above 0 and up to 1,"
            " such as 0.85."
        )
    return float(criterion)


def checked_keeping(patience: int | None, snapshots: str) -> None:
    """Check when a training ends, and which checkpoints it keeps.

    Raises:
        InvalidValueError: a patience below 1, or other snapshots than "none", "log" and "all".
    """
    if patience is not None and (isinstance(patience, bool) or not patience >= 1):
        raise InvalidValueError(
            f"The patience was given as {patience!r}. Expected a number of tests, 1 or more. Give"
            " another, or none."
        )
    if snapshots not in SNAPSHOTS:
        raise InvalidValueError(
            f"snapshots={snapshots!r} was given. Expected one of {', '.join(SNAPSHOTS)}. Give one"
            " of them."
        )


class _Bar:
    """A progress bar on stderr, with the remaining time and the newest numbers."""

    def __init__(self, trainer: Trainer, until: int, threads: int | None) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[numbers]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        counted = "" if threads is None else f", {threads} thread{'s' * (threads > 1)}"
        self._task = self._progress.add_task(
            f"{trainer.unit}{counted}", total=until, completed=trainer.done, numbers=""
        )
        self._numbers: dict[str, float] = {}

    def __enter__(self) -> _Bar:
        self._progress.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._progress.__exit__(*error)

    def show(self, done: int, numbers: Mapping[str, float]) -> None:
        self._numbers.update(numbers)
        text = "  ".join(f"{name} {value:.3f}" for name, value in self._numbers.items())
        self._progress.update(self._task, completed=done, numbers=text)
