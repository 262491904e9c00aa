"""One task after another, each for a number of trials."""

from __future__ import annotations

from typing import Any

from neurogym_core.errors import InvalidValueError
from neurogym_wrappers.mixture_base import MixtureBase


class Transfer(MixtureBase):
    """The wrapped task for some trials, then others in turn: a `Mixture` played once, across
    sessions.

    Args:
        others: the tasks that follow: ids, tasks, or mappings ``{"task": …, parameters}``. The last
            one stays.
        lengths: trials of every task but the last, numbers or distributions; one number: of all.
        rule: whether a channel "rule" shows, one-hot, which task it is.

    Raises:
        NotSupportedError: tasks that cannot be joined; see `Mixture`.
        InvalidValueError: no other task, or not one length per task but the last.
    """

    others: tuple[Any, ...] = ()
    lengths: tuple[Any, ...] = (1000,)
    rule: bool = False

    _lasting = True

    def define(self) -> None:
        lengths = self.lengths * len(self.others) if len(self.lengths) == 1 else self.lengths
        if not self.others or len(lengths) != len(self.others):
            raise InvalidValueError(
                f"Transfer was given {len(self.others)} other tasks and lengths={self.lengths!r};"
                " give at least one task, and the trials of every task but the last."
            )
        settings = {"order": "sequence", "once": True, "lengths": (*lengths, 1)}
        self._mix((self.task, *self._read_others(self.others)), settings, rule=self.rule)
