"""`ConditionWrapper`: base class of wrappers that set conditions of the coming trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_core import (
    Choice,
    Distribution,
    InvalidValueError,
    NotSupportedError,
    Session,
    Task,
    TaskWrapper,
    TrialBuilder,
)
from neurogym_core.players import TaskView


class ConditionWrapper(TaskWrapper):
    """Base class of wrappers that set conditions or the correct answer.

    A subclass implements `draw_constrained`.
    """

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {
            name: values[0]
            for name, values in self.draw_constrained(session, rng, 1, {}, None).items()
        }

    def draw_ahead(
        self, session: Session, rng: np.random.Generator, trials: int
    ) -> dict[str, np.ndarray]:
        return self.draw_constrained(session, rng, trials, {}, None)

    def draw_constrained(
        self,
        session: Session,
        rng: np.random.Generator,
        trials: int,
        imposed: dict[str, np.ndarray],
        answer: np.ndarray | None,
    ) -> dict[str, np.ndarray]:
        raise NotImplementedError

    _label: str | None = None
    """Name of the condition that records a trial's entry of the block sequence.

    It cannot be imposed.
    """

    def add_label(self, name: str, values: Any) -> None:
        """Declare the condition that records the entry of a trial."""
        entries = Choice(values)
        self._label = self.free_name(name)
        # A function, because conditions that are distributions are enumerated and imposed.
        self.vary(**{self._label: lambda rng, prior: entries.sample(rng, prior.n)})

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        if self._label is not None:
            trial[self._label]  # reading a condition puts it into the record

    def impose_on(
        self,
        drawn: Mapping[str, np.ndarray],
        rng: np.random.Generator,
        n: int,
        imposed: Mapping[str, Any],
    ) -> dict[str, np.ndarray]:
        if self._label in imposed:
            raise InvalidValueError(
                f"The condition {self._label!r} was imposed, but it only records the draw of"
                f" {type(self).__name__}. Impose conditions of {self.task.name} instead."
            )
        return super().impose_on(drawn, rng, n, imposed)

    @property
    def depth(self) -> int:
        """Number of wrappers inside this one.

        It keeps the session states of two wrappers of the same class apart.
        """
        count, task = 0, self.task
        while isinstance(task, TaskWrapper):
            count, task = count + 1, task.task
        return count

    def refusal(self, why: str) -> NotSupportedError:
        """Return the error for a task that this wrapper cannot be applied to."""
        return NotSupportedError(
            f"{type(self).__name__} cannot be applied to {self.task.name}: {why}."
        )

    def check_answers(self, least: int = 2) -> None:
        """Raise unless a wrapper can set the correct answers of the task.

        Raises:
            NotSupportedError: the task declares no correct choice, a continuum of answers or fewer
                than `least`, or its answer is imposed.
        """
        task = self.task
        if not TaskView(task).has_answer:
            raise self.refusal(
                "it declares no correct choice; call self.correct_choice(…) in its define()"
            )
        if TaskView(task).answer_condition in TaskView(task).imposed:
            raise self.refusal(
                f"its answer {TaskView(task).answer_condition!r} is imposed with conditions="
            )
        if not _countable(task):
            raise self.refusal(
                "its correct answers are a continuum of numbers; it needs a finite set"
            )
        if len(TaskView(task).answers) < least:
            raise self.refusal(f"its only correct answer is {TaskView(task).answers.tolist()}")

    def clash(self, names: Any) -> None:
        """Raise if another wrapper sets the same conditions."""
        if both := sorted(names):
            raise InvalidValueError(f"two wrappers of {self.task.name} set {', '.join(both)}.")


def answer_weights(answers: np.ndarray) -> np.ndarray:
    """Return the probabilities of answers among which a wrapper does not choose, (m,).

    They are equal, but resting (-1) counts as much as all other answers together: a ring of 32
    units gives 32 answers, and resting is the alternative to all of them.
    """
    weights = np.full(len(answers), 1 / len(answers))
    rest = np.asarray(answers) == -1
    if rest.any() and not rest.all():
        weights[rest], weights[~rest] = 0.5, 0.5 / (~rest).sum()
    return weights


def _countable(task: Task) -> bool:
    name = TaskView(task).answer_condition
    if name is None:
        return TaskView(task).answers.dtype.kind != "f"
    declared = task.conditions[name]
    return not isinstance(declared, Distribution) or declared.support() is not None


def require_undecided(
    task: Task,
    owner: str,
    imposed: Mapping[str, np.ndarray] | None = None,
    answer: np.ndarray | None = None,
) -> None:
    """Refuse a task that already decides the conditions or answers of a wrapper.

    It draws one trial of `n` sessions with the wrapper's values.

    Args:
        task: the task to wrap.
        owner: name of the wrapper, for the message.
        imposed: conditions that the wrapper decides, name -> (n,).
        answer: right answers that the wrapper decides, (n,).

    Raises:
        NotSupportedError: the task decides about them itself.
    """
    if not TaskView(task).stateful or (not imposed and answer is None):
        return
    rng = np.random.default_rng(0)
    values = {name: np.asarray(given) for name, given in (imposed or {}).items()}
    n = len(answer) if answer is not None else len(next(iter(values.values())))
    session = TaskView(task).fresh_session(rng, n)
    given = {name: one[None] for name, one in values.items()}
    try:
        TaskView(task).draw_constrained(
            session, rng, 1, given, None if answer is None else np.asarray(answer)[None]
        )
    except InvalidValueError as error:
        raise NotSupportedError(
            f"{owner} cannot be applied to {task.name}: both decide about the next trials"
            f" ({str(error).rstrip('.')}). Remove one of the two."
        ) from error
