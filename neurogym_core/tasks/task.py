"""`Task`: the description of an experiment. Immutable, without random numbers or a clock.

The class has the methods that authors write and call. The functions of the core that work on tasks
are in the modules `making`, `drawing`, `building` and `identity`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, cast, dataclass_transform

import numpy as np

from neurogym_core.errors import TaskDefinitionError
from neurogym_core.tasks import building, drawing, making, parameters
from neurogym_core.tasks.parameters import check_assignment, check_class, checked, signature_of
from neurogym_core.tasks.session import Session
from neurogym_core.tasks.state import Conditions, OfConditions, TaskState, state_of
from neurogym_core.trials.arrays import Array
from neurogym_core.trials.batch import TrialBatch
from neurogym_core.trials.builder import TrialBuilder
from neurogym_core.trials.interface import Actions, Channels


@dataclass_transform(kw_only_default=True)
class Task:
    """Base of all tasks: an author writes `define` and `new_trial`.

    Parameters are annotated class attributes with defaults; you set them by keyword. `timing`,
    `rewards` and `conditions` override single periods, rewards and conditions. An unknown name
    raises an error that lists the known ones.

    You write:
        - `define` and `new_trial`, in every task;
        - `new_session` and `draw` (and `draw_ahead`, for speed) where a trial depends on earlier
          ones;
        - `step_action`, `step_observation` and `step_target`, with their `trial_state`, where
          something must be computed on every step;
        - `timing` and `rewards`, and the declarations `supervised`, `reads_outcomes`,
          `evidence_periods` and `go_cue` where their defaults do not fit.

    You call `observe`, `act`, `vary`, `correct_choice` and `evidence` in `define`, and
    `draw_conditions` in `draw`.

    You read the parameters, `name`, `channels`, `actions` and `conditions`. `sample` draws trials,
    and `factorial` makes designs for it.

    Do not redefine these names or those of the parameters below. Names that begin with "_" are
    yours.

    Args:
        dt: ms per step.
        trials_per_session: number of trials after which a session ends; None: it never ends; 1: one
            trial per Gymnasium episode.
        abort_ends_trial: whether acting while holding ends the trial.
        max_duration: ms after which a trial ends as a miss; None: ten times its drawn length.
        timing: durations of some periods, name -> ms or a distribution.
        rewards: some rewards, name -> number.
        conditions: some conditions, name -> value or distribution.
        parameters: the parameters that the class declares.

    Raises:
        UnknownNameError: an unknown parameter, period, reward or condition.
        InvalidValueError: a value of the wrong type or out of range.
        TaskDefinitionError, TrialLayoutError: a mistake in the class, found in a few test trials.

    Example:
        >>> import numpy as np
        >>> from neurogym_core import Choice, Task, run
        >>> class Side(Task):
        ...     timing = {"fixation": 300, "light": 500, "decision": 300}
        ...
        ...     def define(self):
        ...         self.observe(light=2)
        ...         self.act(rest=1, choose=2)
        ...         self.vary(side=Choice(2))
        ...         self.correct_choice("side")
        ...
        ...     def new_trial(self, trial):
        ...         trial.periods("fixation", "light", "decision")
        ...         trial.show("light", np.eye(2)[trial["side"]], during="light")
        ...         trial.answer("choose", trial["side"], during="decision")
        >>> record = run(Side, "oracle", 10, seed=0)
        >>> set(record["outcome"].tolist())
        {'correct'}
    """

    __ngym__: TaskState

    dt: float = 100
    trials_per_session: int | None = 100
    abort_ends_trial: bool = False
    max_duration: float | None = None

    timing: ClassVar[Mapping[str, Any]] = {}
    rewards: ClassVar[Mapping[str, float]] = {
        "abort": -0.1,
        "correct": 1.0,
        "error": 0.0,
        "miss": 0.0,
    }

    supervised: ClassVar[bool] = True
    """False if no answer is right or wrong; the oracle then plays the best-paid action."""
    reads_outcomes: ClassVar[bool] = False
    """True if `draw` reads `session.previous`."""
    evidence_periods: ClassVar[tuple[str, ...] | None] = None
    """Periods with sufficient evidence for an answer; None: the last one named "stimulus…"."""
    go_cue: ClassVar[str | None] = "fixation"
    """Channel that goes off when the subject may answer."""

    # ------------------------------------------------------------------ methods to override

    def define(self) -> None:
        """Declare channels (`observe`), actions (`act`) and conditions (`vary`)."""
        raise TaskDefinitionError(
            f"{type(self).__name__} has no define(); write one that calls self.observe(…),"
            " self.act(…) and self.vary(…)."
        )

    def new_trial(self, trial: TrialBuilder) -> None:
        """Build `trial.n` trials with the verbs of `TrialBuilder`.

        Args:
            trial: the builder; `trial["side"]` is the condition `side` of all trials, (n,).
        """
        raise TaskDefinitionError(
            f"{type(self).__name__} has no new_trial(self, trial); write one that calls"
            " trial.periods(…) first."
        )

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        """Initialize the state of `len(session)` new sessions.

        Args:
            session: the sessions.
            rng: generator for the state of sessions.
        """

    def draw(self, session: Session, rng: np.random.Generator) -> Conditions:
        """Draw the conditions of the next trial of every session, name -> (len(session), …).

        By default, draws are independent.

        Args:
            session: the state of the sessions.
            rng: generator of conditions.
        """
        return self.draw_conditions(rng, len(session))

    def draw_ahead(self, session: Session, rng: np.random.Generator, trials: int) -> Conditions:
        """Draw the conditions of several trials, name -> (trials, len(session), …).

        By default, it calls `draw` for one trial after another. Override it to draw trials faster
        together. It is not called for tasks that read outcomes.

        Args:
            session: the state of the sessions.
            rng: generator of conditions.
            trials: number of trials for each session.
        """
        rows = []
        for _ in range(trials):
            rows.append(drawing.draw_next(self, session, rng))
            session.trial += 1
        return drawing.stacked(self, rows)

    step_action: ClassVar[Callable[..., Any] | None] = None
    """Hook: ``step_action(self, now, action) -> reward, goto``; None: the table's."""
    step_observation: ClassVar[Callable[..., Any] | None] = None
    """Hook: ``step_observation(self, now, obs) -> obs``, without side effects."""
    step_target: ClassVar[Callable[..., Any] | None] = None
    """Hook: ``step_target(self, now) -> action`` (in task units for continuous actions)."""
    trial_state: ClassVar[Mapping[str, Any]] = {}
    """Per-trial arrays for the hooks: name -> initial value (number, or tuple for several)."""

    # ------------------------------------------------------------------ declarations, for define

    def observe(self, **channels: Any) -> None:
        """Declare the channels of the observation, in order.

        Args:
            channels: name -> number of units, their names, or an encoder.

        Raises:
            TaskDefinitionError: another value, or a call outside of `define`.
        """
        making.check_open(self, "observe").channels = Channels.declare(channels, self.name)

    def act(self, **actions: Any) -> None:
        """Declare the actions, in order.

        A first action of one choice is the action of resting. A task whose first action has several
        choices has no rest.

        Args:
            actions: name -> number of choices, their names, an encoder, or an `Axis`.

        Raises:
            TaskDefinitionError: another value, a mixture of axes and discrete actions, or a call
                outside of `define`.
        """
        making.check_open(self, "act").actions = Actions.declare(actions, self.name)

    def vary(self, **conditions: Any) -> None:
        """Declare the conditions, in the order in which they are drawn.

        Args:
            conditions: name -> distribution in any written form, or a function
                ``(rng, prior) -> (n, …)`` of the conditions before it, or a type (bool, int, float
                or str): one value per trial, which only `draw` sets. `new_trial` need not read
                such a condition.

        Raises:
            TaskDefinitionError: a reserved name, or a call outside of `define`.
            InvalidValueError: a distribution that `parse` cannot read.
        """
        making.declare_conditions(self, conditions)

    def correct_choice(self, choice: OfConditions) -> None:
        """Declare the correct choice, which `trial.correct_choice` reads and wrappers can set.

        Args:
            choice: name of a condition, or a function from the conditions (dict of (n,) arrays) to
                the index of the correct choice, or to the correct value of a continuous answer,
                (n,).

        Raises:
            UnknownNameError: the task has no such condition.
            TaskDefinitionError: another value, or a call outside of `define`.
        """
        making.declare_of_conditions(self, "correct_choice", choice)

    def evidence(self, evidence: OfConditions) -> None:
        """Declare the signed evidence of each trial, for analyses.

        Args:
            evidence: name of a condition, or a function from the conditions (dict of (n,) arrays)
                to (n,) values, such as f2 - f1, that are positive where the evidence favours the
                larger choice.

        Raises:
            UnknownNameError: the task has no such condition.
            TaskDefinitionError: another value, or a call outside of `define`.
        """
        making.declare_of_conditions(self, "evidence", evidence)

    # ------------------------------------------------------------------ properties

    @property
    def name(self) -> str:
        """Name of the task in messages: that of its class."""
        return self.__ngym__.name

    @property
    def channels(self) -> Channels:
        """The channels of the observation."""
        return self.__ngym__.channels

    @property
    def actions(self) -> Actions:
        """The actions."""
        return cast(Actions, self.__ngym__.actions)

    @property
    def conditions(self) -> Mapping[str, Any]:
        """Declared conditions: name -> Distribution, or a function of the conditions before it."""
        return MappingProxyType(self.__ngym__.declared)

    # ------------------------------------------------------------------ trials

    def draw_conditions(
        self,
        rng: np.random.Generator,
        n: int,
        imposed: Mapping[str, Any] | None = None,
        correct_choice: Array | None = None,
    ) -> Conditions:
        """Draw the conditions of `n` independent trials, name -> (n, …).

        The user's ``conditions=`` override `imposed` and `correct_choice`.

        Args:
            rng: generator of conditions.
            n: number of trials.
            imposed: name -> one value, or (n, …); these conditions are not drawn.
            correct_choice: (n,) indices. If the task computes them, conditions are redrawn until
                they give these choices.

        Raises:
            InvalidValueError: values of another number, or a choice that no draw gives.
        """
        return drawing.draw_as_imposed(self, rng, n, imposed or {}, correct_choice)

    def sample(
        self,
        n: int | Mapping[str, Array],
        seed: int | np.random.Generator | None = None,
        **conditions: Any,
    ) -> TrialBatch:
        """Draw a batch of `n` independent trials.

        Args:
            n: number of trials, or a design: name -> (n,), as `factorial` returns.
            seed: seed or generator of conditions and durations.
            conditions: imposed values, one or (n, …); durations as ``**{"duration.delay": 500}``.

        Raises:
            UnknownNameError: the task has no such condition or period.
            InvalidValueError: a value of the wrong type or shape, or no whole number of trials.

        Example:
            >>> from neurogym_core import make_task
            >>> task = make_task("perceptual/PerceptualDecisionMaking-v0")
            >>> batch = task.sample(4, seed=0, coherence=51.2, **{"duration.delay": 500})
            >>> batch.conditions["coherence"].tolist()
            [51.2, 51.2, 51.2, 51.2]
        """
        return building.sample(self, n, seed, conditions)

    def factorial(self, repeats: int = 1, **levels: Any) -> Conditions:
        """Return a design of all combinations of the conditions' values, name -> (n, …).

        `sample` and `options` of `reset` take it. Conditions that cannot be enumerated (continuous
        or computed ones) are left out, to be drawn, unless `levels` gives them values.

        Args:
            repeats: number of trials of each combination.
            levels: condition -> values, instead of all.

        Raises:
            NotSupportedError: no condition can be enumerated.
            UnknownNameError: the task has no such condition.

        Example:
            >>> from neurogym_core import make_task
            >>> task = make_task("perceptual/PerceptualDecisionMaking-v0")
            >>> design = task.factorial(2, coherence=[0, 51.2])
            >>> design["direction"].tolist()
            [0, 0, 0, 0, 1, 1, 1, 1]
            >>> design["coherence"].tolist()
            [0.0, 0.0, 51.2, 51.2, 0.0, 0.0, 51.2, 51.2]
        """
        return building.factorial(self, repeats, levels)

    # ------------------------------------------------------------------ construction and identity

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_class(cls, Task, vars(cls).get("__redefines__", ()))
        cls.__signature__ = signature_of(cls)  # type: ignore[attr-defined]

    def __init__(
        self,
        *,
        timing: Mapping[str, Any] | None = None,
        rewards: Mapping[str, float] | None = None,
        conditions: Mapping[str, Any] | None = None,
        **parameters: Any,
    ) -> None:
        overrides = {"timing": timing, "rewards": rewards, "conditions": conditions}
        making.begin(self, checked(type(self), parameters), overrides)
        # Trials of a task that overrides none of these are independent, and can be drawn at once.
        cls = type(self)
        self.__ngym__.stateful = (cls.draw, cls.draw_ahead, cls.new_session) != (
            Task.draw,
            Task.draw_ahead,
            Task.new_session,
        )
        making.complete(self)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and self.__ngym__.sealed:
            raise TaskDefinitionError(
                f"{self.name}.{name} cannot be set: tasks do not change. Make another one with"
                f" {name}={value!r}."
            )
        check_assignment(self.name, name, Task, ())
        super().__setattr__(name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Task) and parameters.identity(self) == parameters.identity(other)

    def __hash__(self) -> int:
        return hash(parameters.identity(self))

    def __repr__(self) -> str:
        return parameters.written(self)

    def __reduce__(self) -> tuple[Any, ...]:
        state = state_of(self)
        return _remake, (type(self), state.parameters, state.overrides)


Task.__signature__ = signature_of(Task)  # type: ignore[attr-defined]


def _remake(cls: type[Task], parameters: Mapping[str, Any], overrides: Mapping[str, Any]) -> Task:
    return cls(**parameters, **overrides)
