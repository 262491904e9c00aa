"""Make what is right depend on what was right before."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError, NotSupportedError
from neurogym_core.tasks.session import Session
from neurogym_core.tasks.task import Task
from neurogym_core.tasks.wrapper import TaskWrapper
from neurogym_core.trials.distributions import Distribution

STATE = "trial_history_last"
"""Where a session keeps the last right answer, as its row of the matrix."""


class TrialHistory(TaskWrapper):
    """The right answer of a trial depends on that of the trial before, whatever the subject did.

    After Hermoso-Mendizabal, Hyafil, Rueda-Orozco, Jaramillo, Robbe & de la Rocha (2020), Nat. Commun. 11:1057,
    doi:10.1038/s41467-020-14824-w, without their blocks: the probabilities are the same throughout.

    The trial before a session's first one is imagined, with any answer equally likely. Other conditions are drawn as
    the task draws them; where the right answer is computed from them, they are drawn until it is the wanted one.
    Conditions that `reset` imposes come last, and win. Answers are the task's `answers`, in this order (-1: resting is
    right).

    Args:
        probs: probability that the right answer is that of the last trial, the others being equally likely; or a
            matrix, (answers, answers), whose row is the last right answer and whose rows sum to 1.

    Raises:
        NotSupportedError: the task declares no answer (``vary(answer=…)``), has only one or a continuum, or decides it
            itself.
        InvalidValueError: no probabilities, a matrix of another size, or one whose rows are all alike, so that nothing
            would depend on the last trial.
    """

    probs: float | tuple[tuple[float, ...], ...] = 0.8

    def define(self) -> None:
        if not self.task.has_answer:
            raise self._refusal(
                "it does not declare what decides the right answer; add answer=… to self.vary() in its define()"
            )
        if self.task.answer_condition in self.task.imposed:
            raise self._refusal(f"its answer {self.task.answer_condition!r} is imposed with conditions=")
        if not self._countable():
            raise self._refusal("its right answers are numbers of any size, not some few")
        if len(self.task.answers) < 2:
            raise self._refusal(f"its only right answer is {self.task.answers.tolist()}")
        self.matrix = self._matrix()
        self._cumulative = np.cumsum(self.matrix, axis=1)[:, :-1]
        if self.task.stateful:
            self._check_free()

    def _countable(self) -> bool:
        name = self.task.answer_condition
        if name is None:
            return self.task.answers.dtype.kind != "f"
        declared = self.task.conditions[name]
        return not isinstance(declared, Distribution) or declared.support() is not None

    def _matrix(self) -> np.ndarray:
        """Transition matrix, (answers, answers), row = last answer."""
        n = len(self.task.answers)
        try:
            matrix = np.asarray(self.probs, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._bad_probs() from None
        if matrix.ndim == 0:
            matrix = np.where(np.eye(n, dtype=bool), matrix, (1 - matrix) / (n - 1))
        if (
            matrix.shape != (n, n)
            or not np.isfinite(matrix).all()
            or (matrix < 0).any()
            or not np.allclose(matrix.sum(axis=1), 1)
        ):
            raise self._bad_probs()
        if np.allclose(matrix, matrix[0]):
            raise InvalidValueError(
                f"TrialHistory was given probs={self.probs!r}, with which the right answer of {self.task.name} would "
                "not depend on the last one. Give a probability other than chance, or a matrix whose rows differ."
            )
        return matrix

    def _bad_probs(self) -> InvalidValueError:
        n = len(self.task.answers)
        return InvalidValueError(
            f"TrialHistory was given probs={self.probs!r}; {self.task.name} has {n} right answers, "
            f"{self.task.answers.tolist()}. Give a probability of repeating, from 0 to 1, or {n} rows of {n} "
            "probabilities that sum to 1 each."
        )

    def _check_free(self) -> None:
        """Refuse tasks whose own draw decides what is right: try every answer once, in sessions of their own."""
        rng = np.random.default_rng(0)
        wanted = self.task.answers
        self._draw_wanted(self.task.fresh_session(rng, len(wanted)), rng, wanted)

    def _refusal(self, why: str) -> NotSupportedError:
        return NotSupportedError(f"TrialHistory cannot be applied to {self.task.name}: {why}.")

    # ------------------------------------------------------------------ drawing

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        super().new_session(session, rng)
        setattr(session, STATE, rng.integers(0, len(self.task.answers), len(session)))

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {name: values[0] for name, values in self.draw_ahead(session, rng, 1).items()}

    def draw_ahead(self, session: Session, rng: np.random.Generator, trials: int) -> dict[str, np.ndarray]:
        chain = self._chain(session, rng, trials)
        setattr(session, STATE, chain[-1])
        wanted = self.task.answers[chain]
        if self.task.stateful:
            return self._draw_in_turn(session, rng, wanted)
        drawn = self.task.draw_conditions(rng, wanted.size, answer=wanted.ravel())
        return {name: values.reshape(*wanted.shape, *values.shape[1:]) for name, values in drawn.items()}

    def _chain(self, session: Session, rng: np.random.Generator, trials: int) -> np.ndarray:
        """The right answers of the coming trials, (trials, sessions), as rows of the matrix."""
        luck = rng.random((trials, len(session), 1, 1))
        # What each trial makes of every possible last answer, (trials, sessions, answers); composing these maps with
        # those before, twice as many each time, does away with a loop over trials.
        leads = (luck >= self._cumulative).sum(axis=3)
        reach = 1
        while reach < trials:
            leads[reach:] = np.take_along_axis(leads[reach:], leads[:-reach], axis=2)
            reach *= 2
        return np.take_along_axis(leads, getattr(session, STATE)[None, :, None], axis=2)[:, :, 0]

    def _draw_in_turn(self, session: Session, rng: np.random.Generator, wanted: np.ndarray) -> dict[str, np.ndarray]:
        rows = []
        for answer in wanted:
            rows.append(self._draw_wanted(session, rng, answer))
            session.trial += 1
        return {name: np.stack([row[name] for row in rows]) for name in rows[0]}

    def _draw_wanted(self, session: Session, rng: np.random.Generator, wanted: np.ndarray) -> dict[str, np.ndarray]:
        """The task's own draw, with the wanted right answers, (n,)."""
        try:
            drawn = _asking(self.task, wanted).draw(session, rng)
        except InvalidValueError as error:
            raise self._refusal(f"what it draws itself leaves no choice of the right answer ({error})") from error
        if not np.array_equal(self.task.answer_of(drawn), wanted):
            raise self._refusal("its own draw() decides the right answer")
        return drawn


def _asking(task: Task, wanted: np.ndarray) -> Any:
    """A view of a task whose `draw_conditions` draws the wanted right answers beside what the task's `draw` imposes."""
    view = object.__new__(type(task))
    view.__dict__.update(task.__dict__)
    if isinstance(task, TaskWrapper):
        view.__dict__["task"] = _asking(task.task, wanted)
    view.__dict__["draw_conditions"] = partial(_draw_asked, task, wanted)
    return view


def _draw_asked(
    task: Task,
    wanted: np.ndarray,
    rng: np.random.Generator,
    n: int,
    imposed: Mapping[str, Any] | None = None,
    answer: Any = None,
) -> dict[str, np.ndarray]:
    if answer is not None or task.answer_condition in (imposed or {}):
        raise InvalidValueError(f"{task.name}.draw() imposes it")
    return task.draw_conditions(rng, n, imposed, wanted)
