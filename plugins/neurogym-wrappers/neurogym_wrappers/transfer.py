"""Train on one task after another."""

from __future__ import annotations

from typing import Any

from neurogym_core import InvalidValueError
from neurogym_wrappers.mixture_base import MixtureBase


class Transfer(MixtureBase):
    """Play the wrapped task for a number of trials, then the other tasks, one after another.

    This is a `Mixture` whose sequence is played once and continues over the subject's sessions.
    Each env, and each row of a dataset, is one subject: at the defaults, the second task begins
    after 1,000 trials of each of them.

    Args:
        other_tasks: tasks that follow the wrapped task: ids, tasks, or mappings ``{"task": …,
            parameters}``. The last task is played to the end.
        block_lengths: number of trials of every task but the last, numbers or distributions; one
            number: of all of them.
        rule: whether a channel "rule" shows the task of the trial, one-hot.

    Raises:
        NotSupportedError: tasks that cannot be joined; see `Mixture`.
        InvalidValueError: no other task, or a wrong number of block lengths.
    """

    other_tasks: tuple[Any, ...] = ()
    block_lengths: tuple[Any, ...] = (1000,)
    rule: bool = False

    def define(self) -> None:
        n = len(self.other_tasks)
        lengths = self.block_lengths * n if len(self.block_lengths) == 1 else self.block_lengths
        if not n or len(lengths) != n:
            raise InvalidValueError(
                f"Transfer was given {n} other tasks and block_lengths={self.block_lengths!r}; give"
                " at least one task, and the number of trials of every task but the last."
            )
        settings = {"order": "sequence", "stop_at_last": True, "block_lengths": (*lengths, 1)}
        self._mix((self.task, *self._read_tasks(self.other_tasks)), settings, rule=self.rule)
