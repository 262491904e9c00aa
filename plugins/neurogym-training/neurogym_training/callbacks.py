"""Callbacks for tests during training: TensorBoard, Weights & Biases, pruning by Optuna.

A callback is any function ``(trainer, row)``: `Trainer.train` calls it after every test, when the
checkpoint is written, with the new row of the curve. It ends the training by raising an exception.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurogym_core.tools import optional, unknown

if TYPE_CHECKING:
    from neurogym_training.training import Trainer

OnTest = Callable[["Trainer", Mapping[str, float]], object]
"""A callback for tests; its result is ignored."""


class TensorBoard:
    """Writes every test as scalars, which TensorBoard shows; a resumed run adds to them.

    Args:
        folder: folder of the event files.

    Raises:
        MissingDependencyError: the package tensorboard is not installed.
    """

    def __init__(self, folder: str | Path) -> None:
        summary = optional("tensorboard.summary", needed_for="Logging to TensorBoard")
        self._writer = summary.Writer(str(folder))

    def __call__(self, trainer: Trainer, row: Mapping[str, float]) -> None:
        for name, value in _measured(trainer, row).items():
            self._writer.add_scalar(name, value, int(row[trainer.unit]))
        self._writer.flush()


class WeightsAndBiases:
    """Logs every test to a run of Weights & Biases.

    Args:
        run: the result of ``wandb.init()``.
    """

    def __init__(self, run: Any) -> None:
        self._run = run

    def __call__(self, trainer: Trainer, row: Mapping[str, float]) -> None:
        self._run.log(_measured(trainer, row), step=int(row[trainer.unit]))


class OptunaPruning:
    """Reports every test to a trial of Optuna, and ends the training if Optuna prunes it.

    Args:
        trial: the argument of the objective.
        result: the reported column of the curve.

    Raises:
        MissingDependencyError: Optuna is not installed.
        optuna.TrialPruned: from `Trainer.train`; its checkpoint is written before.
        UnknownNameError: the curve has no column `result`; at the first test.
    """

    def __init__(self, trial: Any, result: str = "clean") -> None:
        self._pruned = optional("optuna", needed_for="Pruning").TrialPruned
        self._trial, self._result = trial, result

    def __call__(self, trainer: Trainer, row: Mapping[str, float]) -> None:
        if self._result not in row:
            raise unknown("result", self._result, row, of="the curve")
        self._trial.report(row[self._result], int(row[trainer.unit]))
        if self._trial.should_prune():
            raise self._pruned(f"pruned after {trainer.done} {trainer.unit}")


def _measured(trainer: Trainer, row: Mapping[str, float]) -> dict[str, float]:
    """Return the numbers of a test without its position; those that are NaN are left out."""
    return {
        name: value for name, value in row.items() if name != trainer.unit and not math.isnan(value)
    }
