"""`Task`: the description of an experiment. Immutable; owns no random numbers and no clock."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import product
from types import MappingProxyType
from typing import Any, ClassVar, dataclass_transform

import numpy as np

from neurogym_core.errors import InvalidValueError, NotSupportedError, TaskDefinitionError, TrialLayoutError, listed, unknown
from neurogym_core.tasks.imposed import read_condition
from neurogym_core.tasks.parameters import OVERRIDES, check_declared, checked, parameter_types, signature_of
from neurogym_core.tasks.refused_settings import naming_settings
from neurogym_core.tasks.session import Session
from neurogym_core.tasks.shortest import check_shortest
from neurogym_core.trials.batch import TrialBatch, compile_trial
from neurogym_core.trials.distributions import Constant, Distribution, parse
from neurogym_core.trials.interface import Actions, Channels
from neurogym_core.trials.record import DURATION, RECORD_NAMES, as_texts
from neurogym_core.trials.trial import END, VERBS, Trial


@dataclass_transform(kw_only_default=True)
class Task:
    """Base of all tasks. An author declares parameters, `timing` and `rewards`, and writes `define` and `new_trial`.

    Parameters are annotated class attributes with defaults, and are given by keyword. `timing`, `rewards` and `conditions`
    override single periods, rewards and conditions; every unknown name is an error that says which there are.

    Args:
        dt: ms per step.
        trials_per_session: a session ends after so many trials; None: never; 1: one trial per Gymnasium episode.
        abort_ends_trial: whether acting while holding ends the trial.
        max_duration: ms after which a trial is over, a miss; None: ten times its drawn length.
    """

    dt: float = 100
    trials_per_session: int | None = 100
    abort_ends_trial: bool = False
    max_duration: float | None = None

    timing: ClassVar[Mapping[str, Any]] = {}
    rewards: ClassVar[Mapping[str, float]] = {"abort": -0.1, "correct": 1.0, "error": 0.0, "miss": 0.0}

    supervised: ClassVar[bool] = True
    """False where nothing is right or wrong; the best-paid action then serves the oracle."""
    batched: ClassVar[bool] = True
    """False: `new_trial` runs once per trial, with scalars."""
    reads_outcomes: ClassVar[bool] = False
    """True where `draw` reads `session.previous`."""
    evidence: ClassVar[tuple[str, ...] | None] = None
    """The periods whose evidence suffices to answer; None: the last one called "stimulus…"."""
    go_cue: ClassVar[str | None] = "fixation"
    """The channel whose going off says that an answer is asked."""

    # ------------------------------------------------------------------ what an author writes

    def define(self) -> None:
        """Declare channels (`observe`), actions (`act`) and conditions (`vary`)."""
        raise TaskDefinitionError(f"{type(self).__name__} has no define(); write one that calls self.observe(…), self.act(…) and self.vary(…).")

    def new_trial(self, trial: Trial) -> None:
        """Lay out `trial.n` trials with the verbs of `Trial`; `trial.<condition>` has shape (n,)."""
        raise TaskDefinitionError(f"{type(self).__name__} has no new_trial(self, trial); write one that calls trial.periods(…) first.")

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        """Create the state of `len(session)` new sessions."""

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Conditions of the coming trial of every session, name -> (len(session), …). Default: independent draws."""
        return self.draw_conditions(rng, len(session))

    def draw_ahead(self, session: Session, rng: np.random.Generator, trials: int) -> dict[str, np.ndarray]:
        """Conditions of several coming trials, name -> (trials, len(session), …); by default one `draw` after another.

        Override it where trials can be drawn faster together; tasks that read outcomes are never asked.
        """
        rows = []
        for _ in range(trials):
            rows.append(self.draw(session, rng))
            session.trial += 1
        return {name: np.stack([row[name] for row in rows]) for name in rows[0]}

    step_action: ClassVar[Callable | None] = None
    """Hook: ``step_action(self, now, action) -> reward, goto[, outcome]``; None for any of them: what the table says."""
    step_observation: ClassVar[Callable | None] = None
    """Hook: ``step_observation(self, now, obs) -> obs``, pure."""
    step_target: ClassVar[Callable | None] = None
    """Hook: ``step_target(self, now) -> action`` (in task units for continuous actions)."""
    memory: ClassVar[Mapping[str, Any]] = {}
    """Per-trial arrays for the hooks: name -> initial value (number, or tuple for several)."""

    # ------------------------------------------------------------------ construction

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_declared(cls, {*VERBS, "channels", "actions", "memory", "previous", "conditions"})
        cls.__signature__ = signature_of(cls)  # type: ignore[attr-defined]

    def __init__(
        self,
        *,
        timing: Mapping[str, Any] | None = None,
        rewards: Mapping[str, float] | None = None,
        conditions: Mapping[str, Any] | None = None,
        **parameters: Any,
    ) -> None:
        self._sealed = False
        self._parameters = checked(type(self), parameters)
        overrides = {"timing": timing, "rewards": rewards, "conditions": conditions}
        self._overrides = {name: self._by_name(name, given) for name, given in overrides.items()}
        self._warned: set[str] = set()
        for name, value in self._parameters.items():
            setattr(self, name, value)
        self._check_base_parameters()
        self.rewards = self._merged_rewards()
        self.timing = self._merged_timing()
        self._declared: dict[str, Any] = {}
        self._dimensions: dict[str, int] = {}
        self.channels = Channels({}, self.name)
        self.actions: Actions = None
        self._answer: str | Callable | None = None
        with naming_settings(self):
            self.define()
            self._check_defined()
            self._imposed = self._read_conditions(self._overrides["conditions"])
            self._sealed = True
            self._probe()

    def _by_name(self, name: str, given: Mapping[str, Any] | None) -> dict[str, Any]:
        if given is not None and not isinstance(given, Mapping):
            raise InvalidValueError(f"{self.name} was given {name}={given!r}; give values by name, e.g. {name}={{'…': {given!r}}}.")
        return dict(given or {})

    def _check_base_parameters(self) -> None:
        for name, allowed_none in (("dt", False), ("max_duration", True)):
            value = getattr(self, name)
            if not (value is None and allowed_none) and not (isinstance(value, int | float) and 0 < value < math.inf):
                raise InvalidValueError(f"{self.name} was given {name}={value!r}; it needs a positive number of ms.")
        if self.trials_per_session is not None and self.trials_per_session < 1:
            raise InvalidValueError(f"{self.name} was given trials_per_session={self.trials_per_session!r}; it needs at least 1, or None for no end.")

    def _merged_rewards(self) -> Mapping[str, float]:
        merged = _merge_class_level(type(self), "rewards")
        for name, amount in self._overrides["rewards"].items():
            if name not in merged:
                raise unknown("reward", name, merged, of=self.name)
            merged[name] = amount
        for name, amount in merged.items():
            if isinstance(amount, bool) or not isinstance(amount, int | float | np.number) or not math.isfinite(amount):
                raise InvalidValueError(f"{self.name} was given the reward {name}={amount!r}; it needs a finite number.")
        return MappingProxyType({name: float(amount) for name, amount in merged.items()})

    def _merged_timing(self) -> Mapping[str, Distribution]:
        merged = {**_merge_class_level(type(self), "timing"), **self._overrides["timing"]}
        return MappingProxyType({name: self._duration_distribution(name, spec) for name, spec in merged.items()})

    def _duration_distribution(self, period: str, spec: Any) -> Distribution:
        try:
            distribution = parse(spec)
        except (InvalidValueError, TypeError, ValueError) as error:
            raise InvalidValueError(f"{self.name} was given the duration {period}={spec!r}. {error}") from None
        try:
            low, high = distribution.bounds
        except (TypeError, ValueError):
            raise InvalidValueError(f"{self.name} was given the duration {period}={spec!r}; durations are numbers of ms.") from None
        if not low >= 0 or high != high:
            raise InvalidValueError(f"{self.name} was given the duration {period}={spec!r}, which can be {low:g} ms; durations are 0 ms or more.")
        return distribution

    def observe(self, **channels: Any) -> None:
        """Declare the channels of the observation in order: number of units, or an encoder."""
        self._only_in_define("observe")
        self.channels = Channels.declare(channels, self.name)

    def act(self, **actions: Any) -> None:
        """Declare the actions in order: number of choices, an encoder, or an Axis.

        The first is the action of resting when it is a single one; a task whose first action has several choices has no rest.
        """
        self._only_in_define("act")
        self.actions = Actions.declare(actions, self.name)

    def vary(self, *, answer: str | Callable | None = None, **conditions: Any) -> None:
        """Declare what varies from trial to trial, in the order in which it is drawn.

        Args:
            answer: the condition that decides what is right, or a function of the conditions (dict of (n,) arrays) to the
                index of the right choice, (n,).
            conditions: a distribution in any written form, or a function ``(rng, prior) -> (n, …)`` of the conditions
                drawn before.
        """
        self._only_in_define("vary")
        for name, spec in conditions.items():
            if name in VERBS or name in RECORD_NAMES or name in ("n", "dt", "rng", "duration", "conditions") or hasattr(Trial, name):
                raise TaskDefinitionError(f"{self.name} declares the condition {name!r}, a name that is taken by the core; choose another.")
            self._declared[name] = spec if callable(spec) and not isinstance(spec, Distribution) else parse(spec)
        if answer is not None:
            if isinstance(answer, str) and answer not in self._declared:
                raise unknown("condition", answer, self._declared, of=f"{self.name}, given as answer=")
            self._answer = answer

    def _only_in_define(self, verb: str) -> None:
        if self._sealed:
            raise TaskDefinitionError(f"{self.name}.{verb}() was called after the task was made; tasks do not change. Call it in define().")

    def _check_defined(self) -> None:
        if not len(self.channels):
            raise TaskDefinitionError(f"{self.name}.define() declares no channel; call self.observe(…).")
        if self.actions is None or not len(self.actions):
            raise TaskDefinitionError(f"{self.name}.define() declares no action; call self.act(…).")

    def _read_conditions(self, given: Mapping[str, Any]) -> dict[str, Distribution]:
        imposed = {}
        for name, spec in given.items():
            if name not in self._declared and not name.startswith(DURATION):
                raise unknown("condition", name, self._declared, of=self.name)
            read = self._duration_distribution if name.startswith(DURATION) else self._condition_distribution
            imposed[name] = read(name, spec)
        return imposed

    def _condition_distribution(self, name: str, spec: Any) -> Distribution:
        return read_condition(self.name, name, spec, self._declared[name])

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, "_sealed", False) and not name.startswith("_"):
            raise TaskDefinitionError(f"{self.name}.{name} cannot be set: tasks do not change. Make another one with {name}={value!r}.")
        super().__setattr__(name, value)

    # ------------------------------------------------------------------ identity

    @property
    def name(self) -> str:
        """Name of the task in messages: its class."""
        return type(self).__name__

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Parameters by name, all of them."""
        return MappingProxyType(self._parameters)

    def keywords(self) -> dict[str, Any]:
        """Keywords that make this task again: parameters that differ from their defaults, and overrides."""
        changed = {name: value for name, value in self._parameters.items() if value != getattr(type(self), name)}
        return {**changed, **{name: dict(override) for name, override in self._overrides.items() if override}}

    def with_settings(self, **settings: Any) -> Task:
        """The same task with some parameters, or entries of `timing`, `rewards` and `conditions`, changed."""
        merged = self.keywords()
        for name, value in settings.items():
            merges = name in OVERRIDES and isinstance(value, Mapping)
            merged[name] = {**merged.get(name, {}), **value} if merges else value
        return type(self)(**merged)

    def settings(self) -> dict[str, Any]:
        """`keywords` in plain form, as TOML, JSON and Gymnasium's specs can hold them."""
        return plain_settings(self.keywords())

    def _identity(self) -> tuple:
        # What was meant, not how it was written: Uniform(1, 2) is {"uniform": [1, 2]}.
        meant = {"timing": self.timing, "rewards": self.rewards, "conditions": self._imposed}
        overrides = {kind: {name: meant[kind][name] for name in given} for kind, given in self._overrides.items()}
        return (type(self), _hashable(self._parameters), _hashable(overrides))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Task) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        shown = {**self._parameters, **{name: value for name, value in self._overrides.items() if value}}
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def __reduce__(self) -> tuple:
        return _remake, (type(self), self._parameters, self._overrides)

    # ------------------------------------------------------------------ conditions and durations

    @property
    def conditions(self) -> Mapping[str, Any]:
        """Declared conditions: name -> Distribution, or a function of those before."""
        return MappingProxyType(self._declared)

    @property
    def imposed(self) -> Mapping[str, Distribution]:
        """Conditions and durations that `make` imposed."""
        return MappingProxyType(self._imposed)

    @property
    def answer_condition(self) -> str | None:
        """Name of the condition that decides what is right, or None where it is computed or there is none."""
        return self._answer if isinstance(self._answer, str) else None

    def answer_of(self, conditions: Mapping[str, np.ndarray]) -> np.ndarray:
        """Which answer is right in each trial, (n,).

        Raises:
            NotSupportedError: the task declares no answer.
        """
        if self._answer is None:
            raise NotSupportedError(f"{self.name} declares no answer; add answer=… to self.vary() in its define().")
        return conditions[self._answer] if isinstance(self._answer, str) else self._answer(conditions)

    @property
    def has_answer(self) -> bool:
        """Whether the task declares what decides the right answer."""
        return self._answer is not None

    @cached_property
    def answers(self) -> np.ndarray:
        """The possible right answers, (m,)."""
        if isinstance(self._answer, str):
            support = self._declared[self._answer].support() if isinstance(self._declared[self._answer], Distribution) else None
            if support is not None:
                return np.unique(support)
        return np.unique(self.answer_of(self.draw_conditions(np.random.default_rng(0), 1000)))

    def draw_conditions(
        self, rng: np.random.Generator, n: int, imposed: Mapping[str, Any] | None = None, answer: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """Independent draws of all conditions, name -> (n, …).

        Args:
            imposed: values (n, …) or single ones that are not drawn.
            answer: (n,) the right answers that are wanted; where they are computed, conditions are drawn until they fit.
        """
        imposed = dict(imposed or {})
        if answer is None or isinstance(self._answer, str):
            if answer is not None:
                imposed[self._answer] = answer  # type: ignore[index]
            return self._draw_once(rng, n, imposed)
        return self._draw_until(rng, n, imposed, answer)

    def _draw_once(self, rng: np.random.Generator, n: int, imposed: Mapping[str, Any]) -> dict[str, np.ndarray]:
        drawn: dict[str, np.ndarray] = {}
        for name, declared in self._declared.items():
            if name in imposed:
                values = np.asarray(imposed[name])
            elif name in self._imposed:
                values = self._imposed[name].sample(rng, n)
            elif isinstance(declared, Distribution):
                values = declared.sample(rng, n)
            else:
                values = np.asarray(declared(rng, _Prior(drawn, n)))
            drawn[name] = self._for_each_trial(name, values, n)
        return drawn

    def dimensions_of(self, condition: str) -> int:
        """0 where a condition is one value per trial, 1 where it is several."""
        declared = self._declared[condition]
        support = declared.support() if isinstance(declared, Distribution) else None
        return self._dimensions.get(condition, 0) if support is None else support.ndim - 1

    def _for_each_trial(self, name: str, values: np.ndarray, n: int) -> np.ndarray:
        values = as_texts(values)
        if not values.size:
            raise InvalidValueError(f"The condition {name!r} of {self.name} was given no values; give at least one.")
        if values.ndim <= self.dimensions_of(name):
            return np.broadcast_to(values, (n, *values.shape))
        if len(values) != n:
            raise InvalidValueError(f"The condition {name!r} of {self.name} was given {len(values)} values for {n} trials; give one, or one per trial.")
        return values

    def impose_on(self, drawn: Mapping[str, np.ndarray], rng: np.random.Generator, n: int, imposed: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """What a session drew, with the conditions that `make` and then `imposed` impose, name -> (n, …)."""
        if not self._imposed and not imposed:
            return dict(drawn)
        fixed = {name: dist.sample(rng, n) for name, dist in self._imposed.items() if name in self._declared}
        fixed.update({name: value for name, value in imposed.items() if name in self._declared})
        if not fixed:
            return dict(drawn)
        return {**drawn, **{name: self._for_each_trial(name, np.asarray(value), n) for name, value in fixed.items()}}

    def _draw_until(self, rng: np.random.Generator, n: int, imposed: Mapping[str, Any], wanted: np.ndarray) -> dict[str, np.ndarray]:
        wanted = np.broadcast_to(wanted, (n,))
        drawn = {name: values.copy() for name, values in self._draw_once(rng, n, imposed).items()}
        for _ in range(1000):
            wrong = np.flatnonzero(self.answer_of(drawn) != wanted)
            if not len(wrong):
                return drawn
            again = self._draw_once(rng, len(wrong), {k: v if np.ndim(v) == 0 else np.asarray(v)[wrong] for k, v in imposed.items()})
            for name, values in again.items():
                drawn[name][wrong] = values
        raise InvalidValueError(f"{self.name} was asked for the answer {np.unique(wanted)!r}, which 1,000 draws of its conditions never gave; known answers: {self.answers!r}.")

    def draw_duration(self, period: str, rng: np.random.Generator, n: int, computed: Mapping[str, Any]) -> float | np.ndarray:
        """Durations of a period in ms: a number where constant, else (n,)."""
        if period not in self.timing:
            raise TrialLayoutError(
                f"Period {period!r} of {self.name} has no duration: add it to timing = {{…}}, or compute it in "
                f"trial.periods(…, {period}=ms). timing knows: {', '.join(self.timing) or 'nothing'}."
            )
        distribution = self.timing[period]
        if isinstance(distribution, Constant):
            return float(distribution.value)
        return distribution.sample(rng, n)

    @property
    def overridden_timing(self) -> set[str]:
        """Periods whose duration `make` was given."""
        return set(self._overrides["timing"])

    def warn_once(self, period: str) -> bool:
        """True the first time it is asked about a period."""
        fresh = period not in self._warned
        self._warned.add(period)
        return fresh

    # ------------------------------------------------------------------ trials

    @property
    def stateful(self) -> bool:
        """Whether trials depend on the session they are in."""
        cls = type(self)
        return any(getattr(cls, name) is not getattr(Task, name) for name in ("draw", "draw_ahead", "new_session"))

    @property
    def hooked(self) -> bool:
        """Whether the task computes something on every step."""
        return any(hook is not None for hook in (self.step_action, self.step_observation, self.step_target))

    def lay_out(
        self, conditions: Mapping[str, np.ndarray], rng: np.random.Generator, n: int, imposed: Mapping[str, Any] | None = None
    ) -> TrialBatch:
        """The table of `n` trials with these conditions.

        Args:
            imposed: durations in ms by period, number or (n,).
        """
        durations = {name.removeprefix(DURATION): dist.sample(rng, n) for name, dist in self._imposed.items() if name.startswith(DURATION)}
        durations.update(imposed or {})
        if self.batched:
            return self._compile(conditions, rng, n, durations, scalar=False)
        singles = [
            self._compile(
                {name: values[i : i + 1] for name, values in conditions.items()}, rng, 1,
                {name: np.asarray(ms) if np.ndim(ms) == 0 else np.asarray(ms)[i : i + 1] for name, ms in durations.items()}, scalar=True,
            )
            for i in range(n)
        ]  # fmt: skip
        return TrialBatch.concatenate(singles)

    def _compile(self, conditions: Mapping, rng: np.random.Generator, n: int, durations: Mapping, scalar: bool) -> TrialBatch:
        trial = Trial(self, conditions, rng, n, durations, scalar)
        self.new_trial(trial)
        for name in durations:
            if trial.timeline.names and name not in trial.timeline.names:
                raise unknown("period", name, trial.timeline.names, of=self.name)
        return compile_trial(trial)

    def sample(self, n: int | Mapping[str, np.ndarray], seed: int | np.random.Generator | None = None, **conditions: Any) -> TrialBatch:
        """A batch of `n` independent trials.

        Args:
            n: number of trials, or a design: conditions by name, (n,) each, as `factorial` returns.
            seed: seed or generator of conditions and durations.
            conditions: imposed values, one or (n, …); durations as ``**{"duration.delay": 500}``.
        """
        rng = np.random.default_rng(seed)
        if isinstance(n, Mapping):
            conditions = {**n, **conditions}
            n = max((len(values) for values in n.values() if np.ndim(values)), default=1)
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise InvalidValueError(f"{self.name}.sample() was given n={n!r}; it needs a whole number of trials, at least 1.")
        return self.lay_out_imposed(rng, int(n), conditions)

    def lay_out_imposed(self, rng: np.random.Generator, n: int, imposed: Mapping[str, Any]) -> TrialBatch:
        """`n` independent trials with imposed conditions and durations."""
        for name in imposed:
            if name not in self._declared and not name.startswith(DURATION):
                raise unknown("condition", name, [*self._declared, *(DURATION + period for period in self.timing)], of=self.name)
        durations = {name.removeprefix(DURATION): ms for name, ms in imposed.items() if name.startswith(DURATION)}
        wanted = {name: value for name, value in imposed.items() if name in self._declared}
        drawn = self.draw_sessionless(rng, n, wanted)
        return self.lay_out(drawn, rng, n, durations)

    def draw_sessionless(self, rng: np.random.Generator, n: int, imposed: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Conditions of `n` trials, each the first of a session of its own."""
        if not self.stateful:
            return self.draw_conditions(rng, n, imposed)
        session = self.fresh_session(rng, n)
        return self.impose_on(self.draw(session, rng), rng, n, imposed)

    def fresh_session(self, rng: np.random.Generator, n: int, subject: Session | None = None) -> Session:
        """`n` new sessions."""
        session = Session(n, subject if subject is not None else Session(n))
        self._blank_previous(session)
        self.new_session(session, rng)
        return session

    def _blank_previous(self, session: Session) -> None:
        if not self.reads_outcomes:
            return
        rows = np.arange(len(session))
        zeros = np.zeros(len(session))
        session.remember(rows, {"choice": zeros.astype(np.int64) - 1, "outcome": zeros.astype(np.int8), "reward": zeros, "performance": zeros})

    def factorial(self, repeats: int = 1, **levels: Any) -> dict[str, np.ndarray]:
        """Every combination of the conditions' values, `repeats` times each: name -> (n, …), for `sample` and `options`.

        Conditions that cannot be enumerated (continuous or computed ones) are left to be drawn, unless `levels` names values.

        Args:
            levels: values of a condition, where it cannot be enumerated or only some are wanted.

        Raises:
            NotSupportedError: no condition can be enumerated.
        """
        if repeats < 1:
            raise InvalidValueError(f"{self.name}.factorial() was given repeats={repeats!r}; it needs at least 1.")
        for name in levels:
            if name not in self._declared:
                raise unknown("condition", name, self._declared, of=self.name)
        supports = {name: self._levels(name, levels) for name in self._declared if self._levels(name, levels) is not None}
        if not supports:
            raise NotSupportedError(
                f"{listed(self._declared)} of {self.name} cannot be enumerated; give levels, e.g. "
                f"factorial({next(iter(self._declared), 'name')}=[…])."
            )
        index = np.array(list(product(*(range(len(values)) for values in supports.values())))).reshape(-1, len(supports))
        index = np.repeat(index, repeats, axis=0)
        return {name: values[index[:, column]] for column, (name, values) in enumerate(supports.items())}

    def _levels(self, name: str, levels: Mapping[str, Any]) -> np.ndarray | None:
        """The values of a condition, or None where it cannot be enumerated."""
        if name in levels:
            return np.atleast_1d(np.asarray(levels[name]))
        distribution = self._imposed.get(name, self._declared[name])
        return distribution.support() if isinstance(distribution, Distribution) else None

    # ------------------------------------------------------------------ checked once, when the task is made

    def _probe(self) -> None:
        """Lay out a few trials, so that a wrong task fails when it is made, and note what networks need to know."""
        rng = np.random.default_rng(0)
        sizes = {part.size for part in (*self.channels.parts.values(), *self.actions.parts.values())}
        n = next(n for n in (7, 11, 13, 17, 19) if n not in sizes)
        conditions = self.draw_sessionless(rng, n, {})
        for name in self._declared:
            if name not in conditions:
                raise TaskDefinitionError(f"{self.name}.draw() returned no {name!r}; return every condition that vary() declares.")
            if np.asarray(conditions[name]).dtype.kind not in "biufU":
                raise TaskDefinitionError(f"{self.name} draws {name!r} as an array of dtype {np.asarray(conditions[name]).dtype}; draw bools, numbers or texts (astype(str), say).")
        self._dimensions = {name: np.ndim(values) - 1 for name, values in conditions.items()}
        batch = self.lay_out(conditions, rng, n)
        self._period_names = batch.period_names
        self._check_timing_names()
        self._check_windows(batch)
        check_shortest(self, batch, conditions)
        if self.batched:
            batch.sources[0]._trial.check_values()  # type: ignore[attr-defined]
        self._typical_steps = max(int(np.median(batch.duration.sum(axis=1))), 1)

    def _check_timing_names(self) -> None:
        for name in self._overrides["timing"]:
            if name not in self._period_names:
                raise unknown("period", name, self._period_names, of=self.name)

    def _check_windows(self, batch: TrialBatch) -> None:
        payoffs = batch.payoffs
        played = (batch.duration > 0)[:, :, None]
        steps = (payoffs.window & played).any(axis=1)
        for k, name in enumerate(payoffs.slot_names):
            if (payoffs.asked[:, k] & ~steps[:, k]).any():
                raise TrialLayoutError(
                    f"The response window of {name!r} in {self.name} has no step; let it lie within a period that lasts at "
                    f"least dt={self.dt:g} ms (start= and stop= are ms from the onset of the period)."
                )

    @property
    def typical_steps(self) -> int:
        """Median number of steps of a few trials."""
        return self._typical_steps

    @property
    def period_names(self) -> tuple[str, ...]:
        """Names of the periods, in order."""
        return self._period_names

    @cached_property
    def max_steps(self) -> int:
        """Steps of the longest trial: the longest of 1,000 sampled ones, and of those with every drawn duration at its bound."""
        rng = np.random.default_rng(0)
        longest = {name: dist.bounds[1] for name, dist in self.timing.items() if name in self._period_names and not isinstance(dist, Constant)}
        n = 1000 if self.batched else 50
        drawn = self.draw_sessionless(rng, n, {})
        return int(max(self.lay_out(drawn, rng, n, imposed).steps.max() for imposed in ({}, longest)))

    def max_steps_of(self, steps: np.ndarray) -> np.ndarray:
        """Steps after which trials that were drawn to last `steps` are over."""
        if self.max_duration is None:
            return 10 * np.asarray(steps)
        return np.full(np.shape(steps), max(int(self.max_duration / self.dt + 0.5), 1))


class _Prior(dict):
    """The conditions drawn so far, and how many trials are drawn (`n`)."""

    def __init__(self, drawn: Mapping[str, np.ndarray], n: int) -> None:
        super().__init__(drawn)
        self.n = n


def _merge_class_level(cls: type, name: str) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        merged.update(vars(base).get(name, {}) if isinstance(vars(base).get(name, {}), Mapping) else {})
    return merged


def _remake(cls: type, parameters: Mapping[str, Any], overrides: Mapping[str, Any]) -> Task:
    return cls(**parameters, **overrides)


def plain_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with distributions and arrays in their written form."""
    return {name: _plain(value) for name, value in settings.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Distribution):
        return value.to_plain()
    if isinstance(value, Mapping):
        return plain_settings(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _hashable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple(sorted((key, _hashable(item)) for key, item in value.items()))
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return tuple(_hashable(item) for item in value) if isinstance(value, list | tuple) else value


__all__ = ["END", "Task", "parameter_types", "plain_settings"]
