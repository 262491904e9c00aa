"""`Trained`: the network or agent of a run as a subject, for ``--subject`` and `run`."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, NotSupportedError, Subject, TaskVectorEnv
from neurogym_training.runs import Run
from neurogym_training.training import Trainer


class Trained(Subject):
    """Plays as the network or agent of a training run, by default the split "test".

    On the command line, the folder of the run is enough: ``--subject runs/x`` is ``--subject
    trained:run=runs/x``. The wrappers of envs with which an agent was trained are applied, unless
    others are given. Parameters and wrappers of the task are those of the call: give those of the
    training, or others to test the network on them.

    Args:
        run: folder that ``ngym train --out`` wrote.
        which: index of the task, if the run has several; None: the first one with the channels and
            actions of the env.
        seed: unused.

    Raises:
        InvalidValueError: the folder holds no run, or a run without a checkpoint; or the run has
            no such task.
    """

    default_split = "test"

    def __init__(self, run: str = "", which: int | None = None, seed: int | None = 0) -> None:
        super().__init__(seed)
        if not run:
            raise InvalidValueError(
                "The subject 'trained' was given no run. Expected the folder that `ngym train"
                " --out` wrote. Give it in place of the subject (--subject runs/x), or as"
                " trained:run=runs/x."
            )
        opened = Run.open(str(run))
        if not opened.started:
            raise InvalidValueError(
                f"The run in {str(run)!r} has no checkpoint yet. Expected a trained one. Train it:"
                f" ngym train --resume {run}."
            )
        self.trainer: Trainer = opened.trainer()
        if which is not None and which not in range(len(self.trainer.tasks)):
            raise InvalidValueError(
                f"which={which!r} was given for the run in {str(run)!r}. Expected one of"
                f" 0 to {len(self.trainer.tasks) - 1}, its tasks. Give another, or leave it out."
            )
        self.run, self.which = run, which
        self.env_wrappers = tuple(getattr(self.trainer, "wrap", None) or ())
        self.carries_state = getattr(self.trainer.subject(which or 0), "carries_state", True)

    def begin(self, env: TaskVectorEnv) -> None:
        """Take the subject of the env's task.

        Raises:
            NotSupportedError: the channels or actions of the env are not those of the training.
        """
        tasks = self.trainer.tasks
        chosen = range(len(tasks)) if self.which is None else [self.which]
        fitting = [which for which in chosen if _units(tasks[which]) == _units(env.task)]
        if not fitting:
            known = "; ".join(f"{tasks[which].name} {_written(tasks[which])}" for which in chosen)
            raise NotSupportedError(
                f"{env.task.name} has {_written(env.task)}. Expected those of the training of"
                f" {str(self.run)!r}: {known}. Give the task its settings of the training (--set,"
                " --wrap)."
            )
        named = [which for which in fitting if tasks[which].name == env.task.name]
        self._player = self.trainer.subject((named or fitting)[0])
        if hasattr(self._player, "begin"):
            self._player.begin(env)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        """Return the actions of the network or agent."""
        actions: np.ndarray = self._player(env, observations)
        return actions


def _units(task: Any) -> tuple[Any, ...]:
    return dict(task.channels), dict(task.actions), task.actions.continuous


def _written(task: Any) -> str:
    channels, actions = (
        ", ".join(f"{name}[{part.stop - part.start}]" for name, part in dict(named).items())
        for named in (task.channels, task.actions)
    )
    return f"the channels {channels} and the actions {actions}"
