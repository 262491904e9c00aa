"""Several tasks in one session."""

from __future__ import annotations

from typing import Any

from neurogym_core.errors import InvalidValueError
from neurogym_core.tasks.state import state_of
from neurogym_core.trials.distributions import Distribution
from neurogym_wrappers.mixture_base import MixtureBase


class Mixture(MixtureBase):
    """Trials of several tasks, mixed at random, in turn, in blocks, or by performance.

    As in Yang, Joglekar, Song, Newsome & Wang (2019), Nat. Neurosci. 22:297,
    doi:10.1038/s41593-018-0310-2, whose networks learn twenty tasks at once and are told by rule
    units which one a trial is of.

    Channels and actions that agree in name and encoder are shared; others get the name of their
    task behind them. What a task does not have shows nothing. Acting where a trial's task has no
    such action breaks its hold, or does nothing where it has none. The record says in `task` which
    task a trial was of; a condition that this task does not have is -1 (0.0, False, or an empty
    text). Rewards, `evidence`, `go_cue` and session length are those of the wrapped task.

    Args:
        others: the other tasks: ids, tasks, or mappings ``{"task": …, parameters}``.
        order: "random", "sequence", or "performance" (the next task once the mean performance of
            the last `window` trials is `criterion` or more, the one before when it is below
            `fallback`).
        length: trials of a block of one task, a number or a distribution; 1: interleaved.
        chance: with which a block ends on every trial after that; 1: at once.
        weights: how likely each task is in a random order, the wrapped one first; (): all alike.
        again: whether a random order may draw the same task twice in a row.
        once: whether a sequence stays with its last task.
        window, criterion, fallback: see `order`.
        rule: whether a channel "rule" shows, one-hot, which task it is.

    Raises:
        NotSupportedError: tasks of another dt, of which one is continuous or computed on every
            step, or of which one has a period with `then=` that trials of another would pass over
            on their way.
        InvalidValueError: no other task, or settings of which nothing would follow.
    """

    others: tuple[Any, ...] = ()
    order: str = "random"
    length: int | Distribution = 1
    chance: float = 1.0
    weights: tuple[float, ...] = ()
    again: bool = True
    once: bool = False
    window: int = 100
    criterion: float = 0.8
    fallback: float = 0.0
    rule: bool = True

    def define(self) -> None:
        if not self.others:
            raise InvalidValueError(
                "Mixture was given no other task; give others=[…]: ids, tasks, or mappings such as"
                " {task: 'GoNogo-v0'}."
            )
        self._mix(
            (self.task, *self._read_others(self.others)), state_of(self).settings, rule=self.rule
        )
