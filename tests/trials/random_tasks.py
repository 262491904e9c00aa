"""Hypothesis strategies for random tasks: all verbs, at random times, in random combinations.

A description (plain data, so that Hypothesis can show and shrink it) becomes a Task whose
`new_trial` follows it. Values that vary from trial to trial are functions of the conditions u0 to
u3, which are uniform on [0, 1)."""

from __future__ import annotations

import math
import os
import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, reject, settings
from hypothesis import strategies as st
from neurogym_wrappers import Mixture, Transfer

from neurogym_core import END, STAY, Axis, Task, Uniform, parse
from neurogym_core.errors import NotSupportedError
from neurogym_core.trials.record import Outcome

N_CONDITIONS = 4
PERIODS = ("a", "b", "c", "d", "e")
CHANNELS = {"lamp": 1, "dots": 3}
GROUPS = {"go": 1, "pair": 2, "ring": 3}


@dataclass(frozen=True)
class Varying:
    """low + (high - low) * u<index>, (n,)."""

    low: float
    high: float
    index: int

    def of(self, trial: Any) -> Any:
        return self.low + (self.high - self.low) * trial[f"u{self.index}"]


@dataclass(frozen=True)
class Below:
    """u<index> < share, (n,) bool."""

    share: float
    index: int

    def of(self, trial: Any) -> Any:
        return trial[f"u{self.index}"] < self.share


@dataclass(frozen=True)
class Description:
    dt: float
    periods: tuple[str, ...]
    timing: dict[str, Any]
    computed: dict[str, Varying]
    least: dict[str, int]
    """Minimum steps of each period."""
    then: dict[str, str]
    rest: bool
    abort_ends_trial: bool
    trials_per_session: int | None
    max_duration: float | None
    rewards: dict[str, float]
    shows: list[dict] = field(default_factory=list)
    frames: list[dict] = field(default_factory=list)
    weights: list[dict] = field(default_factory=list)
    holds: list[dict] = field(default_factory=list)
    slots: list[dict] = field(default_factory=list)
    drawn: str | None = None
    """Conditions depend on those of the trial before (``"before"``), or on its outcome
    (``"outcomes"``).
    """
    untimed: str | None = None
    """A period without a timer."""
    again: bool = False
    """Slots are answered again each time that their window opens again."""

    def outlasts(self, during: str | tuple[str, ...]) -> bool:
        """Whether a period without a timer comes before the last one of a span."""
        return not isinstance(during, str) and self.untimed in during[:-1]

    @property
    def noisy(self) -> bool:
        return any(show["noise"] for show in self.shows)

    @property
    def jumps(self) -> bool:
        return (
            bool(self.then)
            or any(slot["jumps"] for slot in self.slots)
            or any(h["then"] for h in self.holds)
        )


class Described(Task):
    """A task that follows a `Description`."""

    description: Description = None  # type: ignore[assignment]

    def define(self):
        self.observe(**CHANNELS)
        rest = {"rest": 1} if self.description.rest else {}
        self.act(**rest, **{name: k for name, k in GROUPS.items() if rest or name != "go"})
        self.vary(**{f"u{k}": Uniform(0, 1) for k in range(N_CONDITIONS)})

    def new_trial(self, trial):
        said = self.description
        for k in range(N_CONDITIONS):
            trial[f"u{k}"]
        computed = {name: value.of(trial) for name, value in said.computed.items()}
        trial.periods(*said.periods, then=said.then, **computed)
        for show in said.shows:
            trial.show(
                show["channel"],
                self._value(trial, show["value"]),
                noise=self._of(trial, show["noise"]),
                **self._span(trial, show),
            )
        for frames in said.frames:
            span = self._span(trial, frames)
            values = self._long_enough(trial, frames["values"], span)
            trial.timecourse("dots", values, cut=True, **span)
        for weigh in said.weights:
            trial.loss_weight(self._of(trial, weigh["weight"]), **self._span(trial, weigh))
        for hold in said.holds:
            trial.hold(
                cost=self._of(trial, hold["cost"]), then=hold["then"], **self._span(trial, hold)
            )
        for slot in said.slots:
            self._ask(trial, slot)
        trial.record(noted=trial["u0"])

    def _ask(self, trial, slot):
        k = GROUPS[slot["group"]]
        common = {
            "slot": slot["slot"],
            "then": slot["then"],
            "needs": slot["needs"],
            "again": self.description.again,
            "miss": self._of(trial, slot["miss"]),
            **self._span(trial, slot),
        }
        if slot["kind"] == "answer":
            which = np.asarray(np.floor(slot["which"].of(trial)), int)
            trial.answer(
                slot["group"],
                np.clip(which, -1 if self.description.rest else 0, k - 1),
                correct=self._of(trial, slot["correct"]),
                error=self._of(trial, slot["error"]),
                **common,
            )
        elif slot["kind"] == "mask":
            mask = np.stack([np.asarray(below.of(trial)) for below in slot["mask"]], axis=-1)
            if not self.description.rest:
                mask[..., 0] |= ~mask.any(
                    axis=-1
                )  # resting is never right without an action for it
            pays = {name: self._of(trial, slot[name]) for name in ("correct", "error")}
            trial.answer(slot["group"], mask, **pays, **common)
        elif slot["kind"] == "timed":
            ms, tolerance = slot["ms"].of(trial), self._of(trial, slot["tolerance"])
            trial.answer_at(
                slot["group"],
                ms,
                tolerance=tolerance,
                index=slot["index"],
                pays=slot["pays"],
                correct=self._of(trial, slot["correct"]),
                **common,
            )
        else:
            trial.offer(
                slot["group"],
                np.asarray(slot["amounts"][:k]),
                worth=np.asarray(slot["worths"][:k]),
                **common,
            )

    def _of(self, trial, value):
        return value.of(trial) if isinstance(value, Varying | Below) else value

    def _value(self, trial, value):
        if isinstance(value, list):  # one Varying per unit
            return np.stack(
                np.broadcast_arrays(*[self._of(trial, each) for each in value]), axis=-1
            ).astype(float)
        return self._of(trial, value)

    def _span(self, trial, said):
        moments = {
            name: self._of(trial, said[name])
            for name in ("start", "stop", "where")
            if said.get(name) is not None
        }
        span = {"during": said["during"], **moments}
        if "start" in span or "stop" in span:
            span["where"] = np.asarray(span.get("where", True)) & self._sensible(trial, span)
        return span

    def _sensible(self, trial, span):
        """The trials (n,) in which a span starts within its periods, and stops after its start."""
        during = span["during"]
        names = (during,) if isinstance(during, str) else during
        lasts = np.sum([trial.duration(name) for name in names], axis=0)
        lasts = np.where(self.description.untimed in names, np.inf, lasts)
        start = np.asarray(span.get("start", 0.0))
        ends = np.asarray(span.get("stop", np.inf))
        return np.broadcast_to((start < lasts) & (ends >= np.maximum(start, 0)), (trial.n,))

    @staticmethod
    def _long_enough(trial, values, span):
        """Repeat the last row of a timecourse that is shorter than the longest trial.

        The number of repetitions makes no difference: a trial looks the same alone and in a batch.
        """
        during = span["during"]
        names = (during,) if isinstance(during, str) else during
        lasts = np.sum([trial.duration(name) for name in names], axis=0)
        missing = max(round(float(np.max(lasts)) / trial.dt) - len(values), 0)
        return np.pad(values, ((0, missing), (0, 0)), mode="edge")


class Carried(Described):
    """Conditions depend on the session and the previous trial."""

    def new_session(self, session, rng):
        session.level = rng.random(len(session))

    def draw(self, session, rng):
        drawn = self.draw_conditions(rng, len(session))
        session.level = (session.level + drawn["u0"]) % 1
        return {**drawn, "u0": session.level, "u1": np.where(session.trial == 0, 0.0, drawn["u1"])}


class Answering(Described):
    """Conditions depend on the outcome and the conditions of the previous trial."""

    reads_outcomes = True

    def draw(self, session, rng):
        drawn, previous = self.draw_conditions(rng, len(session)), session.previous
        before = previous.get("u1", np.zeros(len(session)))
        u0 = after(previous["outcome"], previous["reward"], previous["choice"], before)
        return {**drawn, "u0": np.where(session.trial == 0, drawn["u0"], u0)}


def after(outcome, reward, choice, u1):
    """u0 of a trial, from the results of the previous one."""
    return (
        0.17 * outcome
        + 0.07 * np.asarray(reward)
        + 0.031 * np.asarray(choice)
        + 0.5 * np.asarray(u1)
    ) % 1


def task_of(
    description: Description,
    mixed_in: tuple[type, ...] = (),
    **made_with: Any,
) -> Task:
    """A task of a new class, because `timing` and `rewards` are class attributes."""
    said = {
        "timing": description.timing,
        "rewards": description.rewards,
        "description": description,
    }
    base = {None: Described, "before": Carried, "outcomes": Answering}[description.drawn]
    cls = type(base.__name__, (*mixed_in, base), said)
    # Pickle cannot find these classes by name; it stores the arguments of this function instead.
    cls.__reduce__ = lambda self: (
        partial(task_of, description, mixed_in, **made_with),
        (),
    )
    return cls(
        dt=description.dt,
        trials_per_session=description.trials_per_session,
        max_duration=description.max_duration,
        abort_ends_trial=description.abort_ends_trial,
        **made_with,
    )


def squared(error, tolerance):
    """A graded reward; picklable, unlike a lambda."""
    return 1 - 0.5 * (np.asarray(error) / np.maximum(tolerance, 1)) ** 2


# ---------------------------------------------------------------------- strategies

numbers = st.floats(-2, 2, width=16)
moments = st.floats(0, 1, width=16)
indices = st.integers(0, N_CONDITIONS - 1)


@st.composite
def varying(draw, low, high):
    first = draw(st.floats(low, high, width=32))
    return Varying(first, draw(st.sampled_from([first, low, high])), draw(indices))


def where():
    """Values of `where`: all trials, some, or very few (catch trials)."""
    return st.one_of(
        st.none(), st.none(), st.builds(Below, st.sampled_from([0.03, 0.3, 0.5, 0.8]), indices)
    )


@st.composite
def descriptions(draw, fixed=False, jumps=True, drawn=(None,), untimed=False, dt=None):
    """Any task.

    Args:
        fixed: durations are constant or functions of conditions, not drawn.
        jumps: whether trials may leave the order of their periods.
        drawn: values of `Description.drawn`.
        untimed: whether a period may have no timer.
        dt: time step, ms; None: any.
    """
    dt = dt or draw(st.sampled_from([100.0, 50.0, 20.0, 16.0, 7.5]))
    periods = PERIODS[: draw(st.integers(1, 4))]
    timing, computed, least = {}, {}, {}
    for name in periods:
        kinds = (
            ["constant", "computed"]
            if fixed
            else ["constant", "uniform", "choice", "exponential", "computed"]
        )
        kind = draw(st.sampled_from(kinds))
        low = draw(st.integers(0, 4))
        high = low + draw(st.sampled_from([0, 1, 2, 3, 5, 40] if jumps else [0, 1, 2, 3, 5]))
        least[name] = low
        if kind == "constant":
            timing[name] = low * dt
        elif kind == "computed":
            computed[name] = Varying((low + 0.0) * dt, high * dt, draw(indices))
        elif kind == "uniform":
            timing[name] = parse({"uniform": [low * dt, high * dt]})
        elif kind == "choice":
            timing[name] = parse({"choice": [[low * dt, high * dt]]})
        else:
            timing[name] = parse({"truncated_exponential": [2 * dt, low * dt, high * dt]})
    if not any(least.values()):
        name = draw(st.sampled_from(periods))
        computed.pop(name, None)
        least[name] = draw(st.integers(1, 4))
        timing[name] = least[name] * dt
    # Some other period always has steps: the limit follows from them.
    others = {name: sum(least.values()) - least[name] for name in periods}
    able = [name for name in periods if others[name]]
    free = draw(st.sampled_from([None, None, *able])) if untimed else None
    if free is not None:
        timing[free], least[free] = math.inf, 1
        computed.pop(free, None)
    then = draw(_then(periods, least)) if jumps else {}
    said = Description(
        dt=dt, periods=periods, timing=timing, computed=computed, least=least, then=then,
        rest=draw(st.sampled_from([True, True, True, False])),
        abort_ends_trial=draw(st.booleans()) if jumps else False,
        trials_per_session=draw(st.sampled_from([None, 1, 3])),
        max_duration=draw(st.sampled_from([None, None, 2.0 * dt, 6.0 * dt, 15.0 * dt]))
        if jumps else None,
        rewards=draw(
            st.fixed_dictionaries(
                {"abort": numbers, "correct": numbers, "error": numbers, "miss": numbers}
            )
        ),
        drawn=draw(st.sampled_from(drawn)), untimed=free,
        again=draw(st.booleans()) if jumps else False,
    )  # fmt: skip
    said.shows.extend(draw(st.lists(_shows(said), max_size=4)))
    frames = draw(st.lists(_frames(said), max_size=2))
    # Their clock cannot run through a period without a timer.
    said.frames.extend(one for one in frames if not said.outlasts(one["during"]))
    said.weights.extend(draw(st.lists(_weights(said), max_size=2)))
    said.slots.extend(
        _askable(
            said,
            draw(st.lists(_slots(said, jumps), max_size=3, unique_by=lambda slot: slot["group"])),
        )
    )
    if said.rest:
        said.holds.extend(draw(st.lists(_holds(said, jumps), max_size=2)))
    return said


@st.composite
def _then(draw, periods, least):
    """The successor of a period; that of a period of 0 steps has steps, or trials would not end."""
    name = draw(st.sampled_from([None, None, None, *periods]))
    if name is None:
        return {}
    targets = [other for other in periods if least[other] and (least[name] or other != name)]
    return (
        {name: draw(st.sampled_from([*targets, *(["end"] if least[name] else [])] or [periods[0]]))}
        if targets
        else {}
    )


@st.composite
def _spans(draw, said):
    """Any periods, or a part of adjacent ones."""
    first = draw(st.integers(0, len(said.periods) - 1))
    last = draw(st.integers(first, len(said.periods) - 1))
    during = said.periods[first : last + 1]
    if draw(st.booleans()):
        during = tuple(sorted(draw(st.sets(st.sampled_from(said.periods), min_size=1))))
        return {"during": during[0] if len(during) == 1 else during, "where": draw(where())}
    if said.outlasts(during):
        return {"during": during, "where": draw(where())}
    edges = st.one_of(
        st.none(), varying(-1.0 * said.dt, 12.0 * said.dt), st.floats(0, 800, width=16)
    )
    return {"during": during, "start": draw(edges), "stop": draw(edges), "where": draw(where())}


@st.composite
def _shows(draw, said):
    channel = draw(st.sampled_from(list(CHANNELS)))
    units = CHANNELS[channel]
    each = st.one_of(numbers, varying(-1.0, 1.0))
    value = draw(
        each if units == 1 else st.one_of(numbers, st.lists(each, min_size=units, max_size=units))
    )
    noise = draw(st.sampled_from([0.0, 0.0, 0.5, Varying(0.0, 2.0, 1)]))
    return {"channel": channel, "value": value, "noise": noise, **draw(_spans(said))}


@st.composite
def _frames(draw, said):
    length, k = draw(st.integers(1, 12)), draw(st.sampled_from([1, 3]))
    values = np.arange(length * k, dtype=float).reshape(length, k) * 0.25 - 1
    span = draw(_spans(said))
    span.pop("stop", None)
    if span.get("start") is not None:
        span["start"] = draw(varying(0.0, 6.0 * said.dt))
    return {"values": values, **span}


@st.composite
def _weights(draw, said):
    return {
        "weight": draw(st.one_of(st.sampled_from([0, 1, 2.5]), varying(0.0, 2.0))),
        **draw(_spans(said)),
    }


@st.composite
def _holds(draw, said, jumps):
    then = (
        draw(st.sampled_from([None, None, "stay", "end", "restart", *said.periods]))
        if jumps
        else None
    )
    cost = st.one_of(
        st.none(), st.just(0), varying(-2.0, 0.0), st.builds(Below, st.just(0.5), indices)
    )
    return {"cost": draw(cost), "then": then, **draw(_spans(said))}


@st.composite
def _slots(draw, said, jumps):
    """An answer slot, with a window of at least one step in every trial."""
    group = draw(st.sampled_from([name for name in GROUPS if said.rest or name != "go"]))
    k = GROUPS[group]
    first = draw(st.sampled_from([p for p, name in enumerate(said.periods) if said.least[name]]))
    last = draw(st.integers(first, len(said.periods) - 1))
    timed = not said.outlasts(said.periods[first : last + 1])
    room = said.least[said.periods[first]] - 1
    if said.periods[first] == said.untimed:  # up to the limit
        room = 4 if said.max_duration is None else min(round(said.max_duration / said.dt) - 1, 4)
    start = draw(st.one_of(st.none(), varying(0.0, room * said.dt)))
    stop = None
    if not timed:
        start = None
    elif draw(st.booleans()):
        begin = start if start is not None else Varying(0.0, 0.0, 0)
        length = draw(st.integers(1, 5)) * said.dt
        stop = Varying(begin.low + length, begin.high + length, begin.index)
    places = ["end", "wait", *said.periods]
    place = st.sampled_from(places)
    if jumps:
        by_outcome = st.fixed_dictionaries({"correct": place, "error": place, "other": place})
        then = draw(st.one_of(st.sampled_from(["end", "wait"]), by_outcome, place))
    else:
        # A window that may close before the last period begins would let the oracle's answer pass
        # over it.
        then = (
            "end" if last == len(said.periods) - 1 and (stop is None or first == last) else "wait"
        )
    # Where no action rests, the first step of a window is an answer.
    dated = "timed" if timed and said.rest else "mask"
    kind = draw(st.sampled_from(["answer", "answer", "mask", dated, "pay"]))
    if jumps and kind == "pay" and draw(st.booleans()):
        then = tuple(draw(place) for _ in range(k))
    jumping = not (then == "wait" or (then == "end" and last == len(said.periods) - 1))
    if not jumps and kind == "pay" and draw(st.booleans()):
        then = "wait"
    own = st.one_of(st.none(), numbers, varying(-2.0, 2.0))
    return {
        "group": group,
        "slot": draw(st.sampled_from([None, None, "joined"])),
        "during": said.periods[first : last + 1],
        "start": start,
        "stop": stop,
        "where": draw(where()),
        "kind": kind,
        "then": then,
        "jumps": jumping,
        "needs": draw(st.booleans()),
        "which": draw(varying(-1.0, k - 0.125)),
        "mask": [Below(draw(moments), draw(indices)) for _ in range(k)],
        "ms": draw(varying(0.0, 8.0 * said.dt)),
        "tolerance": draw(
            st.one_of(
                st.integers(0, 3).map(lambda steps: steps * said.dt), varying(0.0, 3.0 * said.dt)
            )
        ),
        "index": draw(st.integers(0, k - 1)),
        "pays": draw(st.sampled_from([None, squared])),
        "amounts": [draw(numbers) for _ in range(3)],
        "worths": [draw(st.floats(0, 2, width=16)) for _ in range(3)],
        "correct": draw(own),
        "error": draw(own),
        "miss": draw(own),
    }


def _askable(said: Description, slots: list[dict]) -> list[dict]:
    """Drop cases that the verbs do not define; set the slots that others need or join."""
    kept: list[dict] = []
    entered = {*said.then.values(), *(place for slot in slots for place in _places(slot["then"]))}
    left = {
        *said.then,
        *(name for slot in slots for name in slot["during"] if _places(slot["then"])),
    }
    for slot in slots:
        if (
            slot["start"] is not None
            and slot["start"].index != (slot["stop"] or slot["start"]).index
        ):
            slot["stop"] = None
        # A window over several periods counts its time through them: no jump may lead into the
        # middle of it.
        if entered & set(slot["during"][1:]) or left & set(slot["during"][:-1]):
            slot["during"] = slot["during"][:1]
            if slot["then"] == "end":
                slot["jumps"] = True
        # Only priced choices can join a slot, and not a timed one.
        first = next((other for other in kept if other["slot"] == "joined"), None)
        if (
            slot["slot"] == "joined"
            and first is not None
            and (slot["kind"] != "pay" or first["kind"] == "timed")
        ):
            slot["slot"] = None
        names = [other["slot"] or other["group"] for other in kept]
        free = (
            isinstance(slot["then"], str | dict) and slot["slot"] is None and slot["kind"] != "pay"
        )
        slot["needs"] = names[0] if slot["needs"] and names and free else None
        kept.append(slot)
    return kept


def _places(then: Any) -> set[str]:
    named = (
        {then}
        if isinstance(then, str)
        else set(then.values())
        if isinstance(then, dict)
        else set(then)
    )
    return named - {"end", "wait"}


# ---------------------------------------------------------------------- hooks, continuous actions


class Hooks:
    """Mixin of hooks that keep state, draw numbers, pay, end trials and decide outcomes."""

    trial_state = {"acts": 0, "luck": (0.0, 0.0)}

    def new_trial(self, trial):
        super().new_trial(trial)
        slots = trial.layout.slots
        asks = [slot.span.where for slot in slots if slot.name == slots[0].name]
        each = [True if where is None else where for where in asks]
        asked = np.any(np.broadcast_arrays(False, *each), axis=0)
        trial.record(asked=np.broadcast_to(asked, trial.n))

    def step_action(self, now, action):
        continuous = self.actions.continuous
        acted = (np.abs(action) > 0.3).any(axis=1) if continuous else np.asarray(action) > 0
        now.trial_state["acts"] = now.trial_state["acts"] + acted
        now.trial_state["luck"] = now.trial_state["luck"] + now.rng.random((now.n, 2))
        acts = now.trial_state["acts"]
        reward = np.where(
            now.in_period("a"),
            now.trial_state["luck"][:, 0],
            np.minimum(now.remaining, 1000) / 1000,
        )
        third = (acts == 3) & now.conditions["asked"]
        now.answer(third, np.asarray(action)[:, 0] if continuous else 0, Outcome.CORRECT)
        return reward, np.where(acts >= 4, END, STAY)

    def step_observation(self, now, obs):
        obs[:, 0] += now.trial_state["luck"][:, 1] + now.elapsed / 1000 + now.conditions["u0"]
        return obs

    def step_target(self, now):
        return np.where(
            (now.trial_state["acts"] % 2 == 0).reshape(-1, *[1] * (now.target.ndim - 1)),
            now.target,
            0,
        )


class Steered(Task):
    """Continuous actions, judged when they trigger, or without a trigger when the window closes."""

    trigger: float | None = 0.5
    graded: bool = False
    then: str = "end"
    drawn: bool = False
    timing = {"a": parse({"uniform": [100, 400]}), "b": 500, "c": 100}
    rewards = {"abort": -0.25, "miss": -0.5, "error": -0.125}

    def define(self):
        self.observe(**CHANNELS)
        self.act(level=Axis(-1, 1, rest=0, trigger=self.trigger), beside=Axis(-2, 2))
        self.vary(u0=Uniform(0, 1), u1=Uniform(0, 1))

    def new_session(self, session, rng):
        session.level = rng.random(len(session))

    def draw(self, session, rng):
        drawn = self.draw_conditions(rng, len(session))
        return {**drawn, "u0": (session.level + drawn["u0"]) / 2} if self.drawn else drawn

    def new_trial(self, trial):
        trial.periods("a", "b", "c")
        trial.show("lamp", trial["u0"], during=("a", "b"), noise=1.0, where=trial["u1"] < 0.3)
        trial.show("dots", trial["u1"][:, None] * [1, 2, 3], during="b", start=100)
        trial.hold(during="a", then="restart", where=trial["u0"] < 0.5)
        pays = {"pays": squared} if self.graded else {}
        wanted = np.stack([trial["u0"], 0.5 - trial["u1"]], axis=1)
        trial.answer(
            "level", wanted[:, :1], during="b", tolerance=0.1 + trial["u1"], then=self.then, **pays
        )


class HookedSteered(Hooks, Steered):
    """Continuous actions with hooks."""


@st.composite
def steered(draw):
    """Tasks of continuous actions; `made_with` of their class."""
    trigger = draw(st.sampled_from([0.5, None]))
    then = draw(st.sampled_from(["end", "c", "a", "wait"]))
    rest = {"drawn": draw(st.booleans()), "graded": draw(st.booleans())}
    sessions = {
        "trials_per_session": draw(st.sampled_from([None, 1, 3])),
        "abort_ends_trial": draw(st.booleans()),
    }
    return {"trigger": trigger, "then": then, **rest, **sessions}


@st.composite
def sequences(draw):
    """Two tasks in one session: at random, in turn, by performance, or in sequence."""
    drawn = (None, "before", "outcomes")
    one = draw(descriptions(drawn=drawn))
    other = draw(descriptions(drawn=drawn, dt=one.dt))
    length, made_with = (
        draw(st.integers(1, 3)),
        {"other_tasks": (playable(other),), "rule": draw(st.booleans())},
    )
    try:
        if draw(st.booleans()):
            return Transfer(playable(one), block_lengths=(length,), **made_with)
        order = draw(st.sampled_from(["random", "sequence", "performance"]))
        return Mixture(playable(one), order=order, block_length=length, window=length, **made_with)
    except NotSupportedError:
        reject()


@st.composite
def tasks(draw, hooks=True):
    """Tasks with discrete or continuous actions, with or without hooks, types or no types."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hooked = (Hooks,) if hooks and draw(st.booleans()) else ()
        if draw(st.sampled_from([False, False, False, True])):
            return (HookedSteered if hooked else Steered)(**draw(steered()))
        said = draw(descriptions(drawn=(None, None, "before", "outcomes"), untimed=True))
        few = {f"u{k}": {"choice": [0.2, 0.7]} for k in range(N_CONDITIONS)}
        return task_of(
            said, mixed_in=hooked, **({"conditions": few} if draw(st.booleans()) else {})
        )


# ---------------------------------------------------------------------- tests of them

# The same examples in every run. To search further: HYPOTHESIS_PROFILE=explore pytest tests/trials
# To see a failing example at once, as it was found: HYPOTHESIS_PROFILE=first
EXPLORE = os.environ.get("HYPOTHESIS_PROFILE") == "explore"
FIRST = os.environ.get("HYPOTHESIS_PROFILE") == "first"


def held(examples: int) -> settings:
    """Settings for a number of random tasks; an exploration has 20 times as many, not shrunk."""
    fixed = settings(
        deadline=None,
        derandomize=not EXPLORE,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    if EXPLORE or FIRST:
        return settings(
            fixed, phases=[Phase.generate], max_examples=20 * examples if EXPLORE else examples
        )
    return settings(fixed, phases=[Phase.generate, Phase.shrink], max_examples=examples)


def playable(description, **made_with):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return task_of(description, **made_with)
