"""Log the results of runs to TensorBoard, Weights & Biases or MLflow, through their libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from neurogym_core.tools import optional, unknown
from neurogym_sweep.store import Job

Row = Mapping[str, Any]
UNITS = ("updates", "steps")


def check_trackers(names: Sequence[str]) -> None:
    """Import the libraries, so that an error comes before the first run.

    Raises:
        UnknownNameError: there is no such tracker.
        MissingDependencyError: its library is not installed.
    """
    for name in names:
        if name not in _TRACKERS:
            raise unknown("tracker", name, _TRACKERS)
        optional(name, needed_for=f"--log {name}")


def track(names: Sequence[str], job: Job, rows: Sequence[Row], folder: Path) -> str | None:
    """Log the results of a run, and return why that failed, or None.

    The run keeps its results if a tracker does not answer.
    """
    wrong = []
    for name in names:
        try:
            _TRACKERS[name](job, rows, folder)
        except Exception as error:
            wrong.append(f"The results are not in {name}: {type(error).__name__}: {error}")
    return "; ".join(wrong) or None


def _scalars(rows: Sequence[Row]) -> list[tuple[int, dict[str, float]]]:
    """Return (step, numbers) of each test; steps are updates or steps of training, if it has them.

    They must be whole numbers.
    """
    found = []
    for index, row in enumerate(rows):
        step = next((int(row[unit]) for unit in UNITS if row.get(unit) is not None), index)
        numbers = {
            name: float(value)
            for name, value in row.items()
            if isinstance(value, int | float) and name not in UNITS
        }
        found.append((step if len(rows) > 1 else index, numbers))
    return found


def _label(job: Job) -> str:
    said = " ".join(f"{name}={value}" for name, value in job.settings.items())
    return f"{said} {job.key[:6]}".strip()


def _tensorboard(job: Job, rows: Sequence[Row], folder: Path) -> None:
    module = optional("tensorboard.summary", needed_for="--log tensorboard")
    target = folder / "tensorboard"
    for old in target.glob("events.out.*"):  # of an attempt that was interrupted
        old.unlink()
    writer = module.Writer(str(target))
    try:
        for step, numbers in _scalars(rows):
            for name, value in numbers.items():
                writer.add_scalar(name, value, step)
        writer.flush()
    finally:
        writer.close()


def _wandb(job: Job, rows: Sequence[Row], folder: Path) -> None:
    wandb = optional("wandb", needed_for="--log wandb")
    folder.mkdir(parents=True, exist_ok=True)
    run = wandb.init(
        id=job.key, name=_label(job), config=dict(job.settings), dir=str(folder), resume="allow",
        reinit="finish_previous",
    )  # fmt: skip
    try:
        for step, numbers in _scalars(rows):
            run.log(numbers, step=step)
    finally:
        run.finish()


def _mlflow(job: Job, rows: Sequence[Row], folder: Path) -> None:
    mlflow = optional("mlflow", needed_for="--log mlflow")
    with mlflow.start_run(run_name=_label(job), tags={"neurogym.key": job.key}):
        mlflow.log_params(dict(job.settings))
        for step, numbers in _scalars(rows):
            mlflow.log_metrics(numbers, step=step)


_TRACKERS = {"tensorboard": _tensorboard, "wandb": _wandb, "mlflow": _mlflow}
TRACKERS = tuple(_TRACKERS)
