"""Mix trials of several tasks in one session."""

from __future__ import annotations

from typing import Any

from neurogym_core import Distribution, InvalidValueError
from neurogym_wrappers.mixture_base import MixtureBase


class Mixture(MixtureBase):
    """Mix trials of several tasks at random, in sequence, in blocks, or by performance.

    As in Yang, Joglekar, Song, Newsome & Wang (2019), Nat. Neurosci. 22:297,
    doi:10.1038/s41593-018-0310-2, whose networks learn twenty tasks at once and get the current
    task from rule units.

    Channels and actions with the same name and encoder are shared; the others get the name of their
    task as a suffix. In a trial, the channels of other tasks show zeros. An action of another task
    breaks the trial's hold, or has no effect if the trial has no hold. The column `task` of the
    record has the task of every trial; conditions of other tasks are -1 (or 0.0, False, an empty
    text). Rewards, `evidence_periods`, `go_cue` and the length of a session are those of the
    wrapped task. Blocks and the window of `order="performance"` continue over the subject's
    sessions, because a window of 100 trials fills with the last trial of a session of 100.

    Args:
        other_tasks: tasks to mix with the wrapped task: ids, tasks, or mappings ``{"task": …,
            parameters}``.
        order: "random", "sequence", or "performance" (the next task begins when the mean
            performance over the last `window` trials is at least `advance_at`, and the previous
            task returns when it is below `retreat_below`).
        block_length: minimum number of trials in a block of one task, a number or a distribution;
            1: interleaved tasks.
        hazard_rate: probability per trial that a block ends once it has `block_length` trials; 1:
            it ends there.
        weights: relative frequency of each task in a random order, the wrapped task first; ():
            equal frequencies.
        allow_repeats: whether the next block of a random order may be of the same task.
        stop_at_last: whether a sequence stays at its last task instead of starting again.
        window, advance_at, retreat_below: see `order`.
        rule: whether a channel "rule" shows the task of the trial, one-hot. Tasks that share a
            channel of this name, and show different values on it, keep it instead, such as the
            twenty units of neurogym-task-yang19.

    Raises:
        NotSupportedError: tasks with another dt; some, but not all, with continuous actions; a task
            that is computed on every step; or a period with `then=` that trials of another task
            would pass over.
        InvalidValueError: no other task, or a setting out of its range.
    """

    other_tasks: tuple[Any, ...] = ()
    order: str = "random"
    block_length: int | Distribution = 1
    hazard_rate: float = 1.0
    weights: tuple[float, ...] = ()
    allow_repeats: bool = True
    stop_at_last: bool = False
    window: int = 100
    advance_at: float = 0.8
    retreat_below: float = 0.0
    rule: bool = True

    def define(self) -> None:
        if not self.other_tasks:
            raise InvalidValueError(
                "Mixture was given no other task; give other_tasks=[…]: ids, tasks, or mappings"
                " such as {task: 'GoNogo-v0'}."
            )
        tasks = (self.task, *self._read_tasks(self.other_tasks))
        self._mix(tasks, vars(self), rule=self.rule)
