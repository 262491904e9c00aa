"""`TaskView`: a read-only view of a complete task, for packages."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from neurogym_core.tasks import building, drawing, parameters
from neurogym_core.tasks.session import Session
from neurogym_core.tasks.state import TaskLike, interface_of, state_of
from neurogym_core.tasks.task import Task
from neurogym_core.trials.arrays import Array
from neurogym_core.trials.distributions import Distribution
from neurogym_core.trials.interface import Interface
from neurogym_core.trials.layout import Layout


class TaskView:
    """A read-only view of a complete task: ``TaskView(task).period_names``.

    Args:
        task: a task, or a task wrapper.
    """

    __slots__ = ("_task",)

    def __init__(self, task: TaskLike) -> None:
        self._task = task

    @property
    def wrapped(self) -> Task | None:
        """The wrapped task of a task wrapper; None for other tasks."""
        return cast("Task | None", state_of(self._task).wraps)

    @property
    def interface(self) -> Interface:
        """Channels, actions, limits and step hooks: the part of the task its trials depend on."""
        return interface_of(self._task)

    @property
    def hooks(self) -> frozenset[str]:
        """Step hooks: some of "step_action", "step_observation", "step_target"."""
        return interface_of(self._task).hooks

    @property
    def stateful(self) -> bool:
        """Whether trials depend on their session."""
        return state_of(self._task).stateful

    @property
    def joint(self) -> bool:
        """Whether the task combines several tasks."""
        return state_of(self._task).joint

    # Parameters:

    @property
    def parameters(self) -> Mapping[str, Any]:
        """All parameters, name -> value; for a task wrapper, with those of the wrapped task."""
        return MappingProxyType(state_of(self._task).parameters)

    @property
    def settings(self) -> dict[str, Any]:
        """The keywords that make an equal task, in plain form for TOML and JSON.

        For a task wrapper, these are its parameters without those of the wrapped task."""
        return parameters.settings(self._task)

    def changed(self, **settings: Any) -> Task:
        """Return a task with some settings changed.

        Args:
            settings: parameters, or entries of `timing`, `rewards` and `conditions`. For a task
                wrapper, names that are not its parameters are those of the wrapped task.

        Raises:
            UnknownNameError: the task has no such parameter.
            InvalidValueError: a value that the task refuses.
        """
        task: Any = self._task
        return parameters.with_settings(task, **settings)  # type: ignore[no-any-return]

    # Conditions and periods:

    @property
    def distributions(self) -> dict[str, Any]:
        """Condition -> `Distribution`, function, or declared type; with those `make` imposed."""
        state = state_of(self._task)
        return {name: state.imposed.get(name, one) for name, one in state.declared.items()}

    @property
    def imposed(self) -> Mapping[str, Distribution]:
        """Distributions that `make` imposed, by condition or ``duration_PERIOD`` (in ms)."""
        return MappingProxyType(state_of(self._task).imposed)

    @property
    def example(self) -> Mapping[str, Array]:
        """Condition -> its value in one drawn trial, () or (k,)."""
        return MappingProxyType(state_of(self._task).example)

    @property
    def answer_condition(self) -> str | None:
        """The condition that is the right answer; None if no condition is."""
        return state_of(self._task).answer_condition

    @property
    def has_answer(self) -> bool:
        """Whether the task declares its right answers; see `answer_of`."""
        return state_of(self._task).correct_choice is not None

    @property
    def period_names(self) -> tuple[str, ...]:
        """Names of the periods, in order."""
        return state_of(self._task).period_names

    @property
    def repeated_periods(self) -> frozenset[str]:
        """Periods that a trial may visit more than once."""
        return state_of(self._task).repeated

    @property
    def typical_steps(self) -> int:
        """The median number of steps of a few trials."""
        return state_of(self._task).typical_steps

    @property
    def max_steps(self) -> int:
        """The steps of the longest of 1,000 trials, also with all durations at their maximum.

        The oracle plays them. If a hook sends trials back to earlier periods, it is their limit:
        `max_duration`, or ten times the drawn steps. These are first trials of sessions, and later
        ones unless they depend on the subject's actions; 1,000 of each part of a sequence of
        tasks."""
        return building.max_steps(self._task)

    @property
    def example_layout(self) -> Layout:
        """The layout of 20 independent trials, drawn with a fixed seed.

        Wrappers read it to decide if they can be applied."""
        return building.example_layout(self._task)

    # Right answers:

    @property
    def answers(self) -> Array:
        """The possible right answers, (m,).

        Raises:
            NotSupportedError: the task declares no correct choice.
        """
        return drawing.answers_of(self._task)

    def answer(self, conditions: Mapping[str, Array]) -> Array:
        """Return the right answer of each trial, (n,).

        Args:
            conditions: name -> (n, …).

        Raises:
            NotSupportedError: the task declares no correct choice.
        """
        return drawing.answer_of(self._task, conditions)

    def evidence(self, conditions: Mapping[str, Array]) -> Array | None:
        """Return the signed evidence of each trial, (n,) float; None if the task declares none.

        It is positive where it favours the larger choice.

        Args:
            conditions: name -> (n, …).
        """
        return drawing.evidence_of(self._task, conditions)

    # Draws:

    def fresh_session(
        self, rng: np.random.Generator, n: int, subject: Session | None = None
    ) -> Session:
        """Return the state of `n` new sessions.

        Args:
            rng: generator of `new_session`.
            n: number of sessions.
            subject: the state that outlives sessions; None: new subjects.
        """
        return drawing.fresh_session(self._task, rng, n, subject)

    def draw(self, rng: np.random.Generator, n: int) -> tuple[dict[str, Array], dict[str, Array]]:
        """Draw the first trials of `n` separate sessions.

        Args:
            rng: generator of the conditions.
            n: number of trials.

        Returns:
            The conditions, and the columns of `session.record`, name -> (n, …).
        """
        return drawing.without_columns(drawing.draw_independent(self._task, rng, n, {}))

    def draw_next(
        self, session: Session, rng: np.random.Generator
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        """Draw the next trial of all sessions.

        Args:
            session: the sessions, from `fresh_session`.
            rng: generator of the conditions.

        Returns:
            The conditions, and the columns of `session.record`, name -> (sessions, …).
        """
        return drawing.without_columns(drawing.draw_next(self._task, session, rng))

    def draw_constrained(
        self,
        session: Session,
        rng: np.random.Generator,
        trials: int,
        imposed: Mapping[str, Array] | None = None,
        answer: Array | None = None,
    ) -> dict[str, Array]:
        """Draw the next trials of all sessions, with some conditions given.

        Args:
            session: the sessions; `session.trial` is unchanged.
            rng: generator of the conditions.
            trials: number of trials of each session.
            imposed: given conditions, name -> (trials, sessions, …).
            answer: the right answers, (trials, sessions).

        Returns:
            All conditions, name -> (trials, sessions, …).

        Raises:
            InvalidValueError: the `draw` of the task imposes a given condition itself.
        """
        return drawing.draw_constrained(self._task, session, rng, trials, imposed, answer)

    def impose(
        self,
        drawn: Mapping[str, Array],
        rng: np.random.Generator,
        n: int,
        imposed: Mapping[str, Any],
    ) -> dict[str, Array]:
        """Return drawn conditions with those of `make`, and then of `imposed`, in place.

        Args:
            drawn: condition -> (n, …).
            rng: generator of the conditions that `make` imposes as distributions.
            n: number of trials.
            imposed: condition -> value, or (n, …).
        """
        return drawing.impose_on(self._task, drawn, rng, n, imposed)

    def draw_durations(self, rng: np.random.Generator, n: int) -> dict[str, Any]:
        """Draw the durations that `make` imposed, period -> (n,) ms.

        Args:
            rng: generator of the durations.
            n: number of trials.
        """
        return drawing.imposed_durations(state_of(self._task), rng, n)
