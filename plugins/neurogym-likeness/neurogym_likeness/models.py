"""Models with a likelihood: the reference subjects, as functions of a record and parameters.

A likelihood is that of each trial's answer, given all trials before: choices and rewards are those
of the record, and not of the model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from neurogym_behaviour.behaviour import Behaviour, CannotTellError, slots_of
from neurogym_records.reading import contradictions
from scipy.special import ndtr

from neurogym_core import TrialRecord
from neurogym_core.tools import unknown

LEAST = 1e-12
"""Smallest likelihood of an answer that a model excludes."""
CONTRARY = 0.01
"""Largest share of trials in which choice and outcome may contradict each other."""


@dataclass(frozen=True)
class Parameter:
    """A parameter that is fitted.

    Attributes:
        low, high: bounds.
        first, last: range of the values with which fits begin.
        unit: its unit; "" without one.
    """

    low: float
    high: float
    first: float
    last: float
    unit: str = ""


@dataclass(frozen=True)
class Model:
    """A model of the answers in a record.

    Attributes:
        name: that of the reference subject.
        title: the model in words, with its source.
        parameters: name -> parameter.
        log_likelihood: (behaviour, parameters) -> natural log of the probability of each trial's
            answer, or of its density per ms, (n,); NaN: trials that do not count.
        simulate: (behaviour, parameters, generator) -> a record with other answers to the same
            trials.
    """

    name: str
    title: str
    parameters: Mapping[str, Parameter]
    log_likelihood: Callable[[Behaviour, Mapping[str, float]], np.ndarray]
    simulate: Callable[[Behaviour, Mapping[str, float], np.random.Generator], Behaviour]


def check_agreement(choices: np.ndarray, right: np.ndarray, outcome: np.ndarray) -> None:
    """Raise an error if choices and outcomes contradict each other.

    Args:
        choices: (n,) int; -1: no answer.
        right: the right choice of each trial, (n,) int.
        outcome: of each trial, (n,) text.

    Raises:
        CannotTellError: they do, in more than `CONTRARY` of the answered trials.
    """
    told = (choices >= 0) & np.isin(outcome, ("correct", "error"))
    against = int((told & ((outcome == "correct") != (choices == right))).sum())
    if against > CONTRARY * told.sum():
        raise CannotTellError(
            f"in {against:,} of {int(told.sum()):,} trials 'choice' is wrong where 'outcome' is"
            " correct, or the other way"
        )


def _answered_as(
    behaviour: Behaviour, right: np.ndarray, times: np.ndarray | None = None
) -> Behaviour:
    """Return the behaviour with other choices between two sides, and other reaction times."""
    record = behaviour.record
    if not behaviour.answered.all():
        kept = behaviour.answered
        behaviour, right = Behaviour(record[kept], behaviour.roles), right[kept]
        times, record = None if times is None else times[kept], behaviour.record
    correct = right == behaviour.right
    columns = {name: record[name] for name in record.columns}
    names = {"choice": right.astype(int), "outcome": np.where(correct, "correct", "error")}
    if times is not None:
        names["reaction_time"] = times
    prefix = "" if behaviour.slot is None else f"{behaviour.slot}."
    columns |= {f"{prefix}{name}": values for name, values in names.items()}
    return Behaviour(TrialRecord(columns, meta=record.meta), behaviour.roles)


# ---------------------------------------------------------------------- evidence


def _probit(behaviour: Behaviour, given: Mapping[str, float]) -> np.ndarray:
    """Return the probability of the right side in each trial, (n,)."""
    drive = (behaviour.signed - given["bias"]) / given["noise"]
    return given["lapse"] / 2 + (1 - given["lapse"]) * ndtr(drive)


def _integrator(behaviour: Behaviour, given: Mapping[str, float]) -> np.ndarray:
    p = _probit(behaviour, given)
    chosen = np.where(behaviour.chose_right, p, 1 - p)
    return np.where(behaviour.answered, np.log(np.maximum(chosen, LEAST)), np.nan)


def _simulate_integrator(
    behaviour: Behaviour, given: Mapping[str, float], rng: np.random.Generator
) -> Behaviour:
    return _answered_as(behaviour, rng.random(len(behaviour)) < _probit(behaviour, given))


def passage_density(time: np.ndarray, drift: np.ndarray, bound: float) -> np.ndarray:
    """Return the log density of reaching the upper of two bounds at this time, (n,), per s.

    A diffusion from 0 with an SD of 1 per sqrt(s), to bounds at ±`bound`. Series for short and long
    times (Navarro & Fuss 2009, J. Math. Psychol. 53:222), with terms below 1e-10 left out.

    Args:
        time: s, (n,); -inf is returned for times that are not above 0.
        drift: per s, (n,), positive towards the upper bound.
        bound: SD sqrt(s), above 0.
    """
    width = 2 * bound
    scaled = np.maximum(time, 1e-9) / width**2
    short = np.zeros(len(time))
    for k in range(-4, 5):
        place = 0.5 + 2 * k
        short += place * np.exp(-(place**2) / (2 * scaled))
    short /= np.sqrt(2 * np.pi * scaled**3)
    long = np.zeros(len(time))
    for k in range(1, 8):
        long += k * np.exp(-((k * np.pi) ** 2) * scaled / 2) * np.sin(k * np.pi / 2)
    long *= np.pi
    standard = np.where(scaled < 0.6, short, long)
    density = np.log(np.maximum(standard, 1e-300)) - 2 * np.log(width)
    # From the middle, the drift multiplies the density by exp(drift bound - drift^2 time / 2).
    found = density + drift * bound - drift**2 * time / 2
    return np.where(time > 0, found, -np.inf)


def _diffusion(behaviour: Behaviour, given: Mapping[str, float]) -> np.ndarray:
    times = behaviour.column("reaction_time").astype(float)
    used = behaviour.answered & np.isfinite(times)
    if not used.any():
        raise CannotTellError("no trial has an answer with a reaction time")
    drift = given["drift"] * np.where(behaviour.chose_right, 1, -1) * behaviour.signed
    decision = (np.where(used, times, 0) - given["non_decision"]) / 1000
    density = passage_density(decision, drift, given["bound"]) - np.log(1000)  # per ms
    longest = max(float(np.max(times[used])), 1.0)
    guess = np.log(0.5 / longest)
    lapse = given["lapse"]
    mixed = np.logaddexp(np.log1p(-lapse) + density, np.log(lapse) + guess)
    return np.where(used, mixed, np.nan)


def _simulate_diffusion(
    behaviour: Behaviour, given: Mapping[str, float], rng: np.random.Generator
) -> Behaviour:
    """Steps are 1 ms; the bound is lowered by the mean overshoot of such steps."""
    n, step = len(behaviour), 0.001
    bound = given["bound"] - 0.583 * np.sqrt(step)
    drift = given["drift"] * behaviour.signed
    place, time, going = np.zeros(n), np.full(n, np.nan), np.ones(n, bool)
    for k in range(1, 20_000):
        place[going] += drift[going] * step + np.sqrt(step) * rng.standard_normal(going.sum())
        done = going & (np.abs(place) >= bound)
        time[done] = k
        going &= ~done
        if not going.any():
            break
    time = np.where(going, 20_000, time) + given["non_decision"]
    right = place > 0
    longest = float(np.nanmax(behaviour.column("reaction_time").astype(float)))
    lapses = rng.random(n) < given["lapse"]
    right = np.where(lapses, rng.random(n) < 0.5, right)
    return _answered_as(behaviour, right, np.where(lapses, longest * rng.random(n), time))


# ---------------------------------------------------------------------- rewards


@dataclass(frozen=True)
class Sequence:
    """Choices and rewards in the order in which they were made.

    Attributes:
        first: (n,) int, the first or only choice; -1: none.
        second: (n,) int, the choice in the second state, or None in tasks of one choice.
        state: (n,) int, the second state, 0 or 1; None in tasks of one choice.
        reward: (n,).
        fresh: (n,) bool, whether another subject begins.
        options: number of options of each choice.
    """

    first: list[int]
    second: list[int] | None
    state: list[int] | None
    reward: list[float]
    fresh: list[bool]
    options: int

    @classmethod
    def of(cls, behaviour: Behaviour) -> Sequence:
        """Return the sequence of a record.

        Raises:
            CannotTellError: no column ``reward``, or two choices without ``common``.
        """
        behaviour.check_sequence()
        record, slots = behaviour.record, slots_of(behaviour.record)
        if "reward" not in record:
            raise CannotTellError("the record has no column 'reward'")
        fresh = np.zeros(len(record), bool)
        fresh[:1] = True
        for name in ("subject", "env"):
            if name in record:
                fresh[1:] |= record[name][1:] != record[name][:-1]
        second = state = None
        names = [f"{slot}.choice" for slot in slots[:2]] if len(slots) > 1 else ["choice"]
        choices = [record[name].astype(int) for name in names if name in record]
        if len(choices) != len(names):
            raise CannotTellError(f"the record has no column {names[0]!r}")
        if len(names) == 2:
            if "common" not in record:
                raise CannotTellError("the record has two choices and no column 'common'")
            state = np.where(record["common"], choices[0], 1 - choices[0]).tolist()
            second = choices[1].tolist()
        reward = record["reward"]
        if reward.dtype.kind not in "biuf":
            raise CannotTellError(f"the column 'reward' has texts, such as {str(reward[0])!r}")
        chosen = np.all([one >= 0 for one in choices], axis=0)
        lacking = int((chosen & ~np.isfinite(reward.astype(float))).sum())
        if lacking:
            raise CannotTellError(
                f"{lacking:,} trials with a choice have no reward, from which the model learns"
            )
        if not {"payout", "probability"} & set(record.columns):
            choices = _from_zero(choices, behaviour.roles.choices)
        options = max(behaviour.roles.choices, 1 + max(int(one.max()) for one in choices))
        return cls(
            choices[0].tolist(), second, state, record["reward"].astype(float).tolist(),
            fresh.tolist(), options,
        )  # fmt: skip


def _from_zero(choices: list[np.ndarray], options: int) -> list[np.ndarray]:
    """Return choices that a lab counts from 1, or names by other numbers, counted from 0."""
    known = np.unique(np.concatenate(choices))
    known = known[known >= 0]
    if not len(known) or known[-1] < options or len(known) > options:
        return choices
    return [np.where(one < 0, -1, np.searchsorted(known, one)) for one in choices]


def _softmax(values: list[float]) -> list[float]:
    """Return the logs of the probabilities of a softmax."""
    most = max(values)
    total = most + math.log(sum(math.exp(one - most) for one in values))
    return [one - total for one in values]


class Learner:
    """The learner of `learners.QLearner` and `learners.Hybrid`, one trial at a time."""

    def __init__(self, options: int, states: int, given: Mapping[str, float]) -> None:
        self.given, self.options = given, options
        self.values = [[0.0] * options for _ in range(states)]
        self.last = -1
        self.led = [[0, 0] for _ in range(options)]
        """How often each first option led to each second state."""

    def first(self) -> list[float]:
        """Return the log probabilities of the first choice."""
        weight = self.given.get("weight", 0.0)
        worth = self.values[0]
        if weight and len(self.values) > 1:
            best = [max(one) for one in self.values[1:]]
            planned = [
                sum(n * b for n, b in zip(led, best, strict=True)) / sum(led) if sum(led) else own
                for led, own in zip(self.led, worth, strict=True)
            ]
            worth = [weight * p + (1 - weight) * w for p, w in zip(planned, worth, strict=True)]
        beta, stay = self.given["beta"], self.given["perseveration"]
        return _softmax([
            beta * (one + stay * (k == self.last)) for k, one in enumerate(worth)
        ])  # fmt: skip

    def second(self, state: int) -> list[float]:
        """Return the log probabilities of the second choice in a state."""
        return _softmax([self.given["beta"] * one for one in self.values[1 + state]])

    def learn(self, first: int, state: int, second: int, reward: float) -> None:
        """Learn from a trial; `state` is -1 in a task of one choice."""
        alpha, trace, values = self.given["alpha"], self.given["trace"], self.values
        self.last = first
        if state < 0:
            values[0][first] += alpha * (reward - values[0][first])
            return
        self.led[first][state] += 1
        values[0][first] += alpha * (values[1 + state][second] - values[0][first])
        surprise = reward - values[1 + state][second]
        values[0][first] += alpha * trace * surprise
        values[1 + state][second] += alpha * surprise


def _learner(behaviour: Behaviour, given: Mapping[str, float]) -> np.ndarray:
    data = Sequence.of(behaviour)
    states = 1 if data.second is None else 3
    found, learner = np.full(len(data.first), np.nan), Learner(data.options, states, given)
    for k, first in enumerate(data.first):
        if data.fresh[k]:
            learner = Learner(data.options, states, given)
        if first < 0:
            continue
        total, state, second = learner.first()[first], -1, -1
        if data.second is not None and data.state is not None:
            state, second = data.state[k], data.second[k]
            if second < 0:
                continue
            total += learner.second(state)[second]
        found[k] = total
        learner.learn(first, state, second, data.reward[k])
    return found


def _chances(behaviour: Behaviour) -> np.ndarray:
    """Return the chance of reward of each option, (n, options), or of each second choice, (n, 4).

    Raises:
        CannotTellError: the record does not have them.
    """
    for name in ("payout", "probability"):
        if name in behaviour.record and behaviour.record[name].ndim == 2:
            return np.asarray(behaviour.record[name].astype(float))
    raise CannotTellError(
        "the record has no chances of reward ('payout' or 'probability', a column for each option),"
        " so that other choices cannot be paid"
    )


def _with_choices(
    behaviour: Behaviour, names: Mapping[str, np.ndarray], reward: np.ndarray
) -> Behaviour:
    record = behaviour.record
    columns = {**{name: record[name] for name in record.columns}, **names, "reward": reward}
    return Behaviour(TrialRecord(columns, meta=record.meta), behaviour.roles)


def _simulate_learner(
    behaviour: Behaviour, given: Mapping[str, float], rng: np.random.Generator
) -> Behaviour:
    data, chances = Sequence.of(behaviour), _chances(behaviour)
    two = data.second is not None
    learner = Learner(data.options, 3 if two else 1, given)
    chosen, second, paid = ([0] * len(chances) for _ in range(3))
    luck = rng.random(len(chances)).tolist()
    for k, chance in enumerate(chances.tolist()):
        if data.fresh[k]:
            learner = Learner(data.options, 3 if two else 1, given)
        chosen[k] = _drawn(learner.first(), rng)
        state = -1
        if two:
            state = chosen[k] if behaviour.record["common"][k] else 1 - chosen[k]
            second[k] = _drawn(learner.second(state), rng)
        option = chosen[k] if state < 0 else 2 * state + second[k]
        paid[k] = int(luck[k] < chance[option])
        learner.learn(chosen[k], state, second[k], paid[k])
    slots = slots_of(behaviour.record)
    names = {"choice": np.array(chosen)}
    if two:
        names = {
            f"{slots[0]}.choice": np.array(chosen),
            f"{slots[1]}.choice": np.array(second),
        }
    return _with_choices(behaviour, names, np.array(paid, float))


def _drawn(logs: list[float], rng: np.random.Generator) -> int:
    return int(np.argmax(np.array(logs) + rng.gumbel(size=len(logs))))


def _stay_or_shift(behaviour: Behaviour, given: Mapping[str, float]) -> np.ndarray:
    data = Sequence.of(behaviour)
    if data.second is not None:
        raise CannotTellError("win-stay/lose-shift has a likelihood in tasks of one choice")
    found, last, won = np.full(len(data.first), np.nan), -1, False
    lapse, k = given["lapse"], data.options
    for trial, choice in enumerate(data.first):
        if data.fresh[trial]:
            last = -1
        if choice < 0:
            continue
        if last < 0:
            rule = 1 / k
        elif won:
            rule = float(choice == last)
        else:
            rule = float(choice != last) / (k - 1)
        found[trial] = np.log(max((1 - lapse) * rule + lapse / k, LEAST))
        last, won = choice, data.reward[trial] > 1e-9
    return found


def _simulate_stay_or_shift(
    behaviour: Behaviour, given: Mapping[str, float], rng: np.random.Generator
) -> Behaviour:
    data, chances = Sequence.of(behaviour), _chances(behaviour)
    k, last, won = data.options, -1, False
    chosen, paid = np.zeros(len(chances), int), np.zeros(len(chances))
    for trial in range(len(chances)):
        if data.fresh[trial]:
            last = -1
        if last < 0 or rng.random() < given["lapse"]:
            choice = int(rng.integers(k))
        else:
            choice = last if won else int((last + rng.integers(1, k)) % k)
        chosen[trial], paid[trial] = choice, float(rng.random() < chances[trial, choice])
        last, won = choice, paid[trial] > 0
    return _with_choices(behaviour, {"choice": chosen}, paid)


# ---------------------------------------------------------------------- the models

_LAPSE = Parameter(1e-4, 0.5, 0.01, 0.1)
_REWARDED = {
    "alpha": Parameter(0.0, 1.0, 0.2, 0.8),
    "beta": Parameter(0.0, 50.0, 1.0, 8.0, "1 / reward"),
    "perseveration": Parameter(-2.0, 2.0, -0.1, 0.3, "reward"),
}
_TRACE = Parameter(0.0, 1.0, 0.2, 0.8)


def model(name: str, behaviour: Behaviour) -> Model:
    """Return the model of a reference subject, with parameters for the trials of a record.

    Args:
        name: q_learner, hybrid, win_stay_lose_shift, integrator or diffusion.
        behaviour: the record; its strengths give the ranges with which fits begin.

    Raises:
        UnknownNameError: there is no such model.
        CannotTellError: the record lacks something.
    """
    if name not in NAMES:
        raise unknown("model", name, NAMES, of="neurogym-likeness")
    if name in ("q_learner", "hybrid", "win_stay_lose_shift"):
        two = Sequence.of(behaviour).second is not None
        if name == "win_stay_lose_shift":
            return Model(
                name, "Repeat a rewarded choice, shift otherwise, and choose at random in lapses",
                {"lapse": Parameter(1e-4, 1.0, 0.05, 0.5)}, _stay_or_shift, _simulate_stay_or_shift,
            )  # fmt: skip
        if name == "hybrid" and not two:
            raise CannotTellError("the hybrid learner plans in tasks of two choices alone")
        more = {"trace": _TRACE} if two else {}
        if name == "hybrid":
            more["weight"] = Parameter(0.0, 1.0, 0.2, 0.8)
        title = "SARSA with eligibility traces and a softmax (Daw et al. 2011)"
        if name == "hybrid":
            title = "Mixture of planning and SARSA with traces (Daw et al. 2011)"

        def likelihood(one: Behaviour, given: Mapping[str, float]) -> np.ndarray:
            return _learner(one, {"trace": 0.0, **given})

        def simulate(
            one: Behaviour, given: Mapping[str, float], rng: np.random.Generator
        ) -> Behaviour:
            return _simulate_learner(one, {"trace": 0.0, **given}, rng)

        return Model(name, title, {**_REWARDED, **more}, likelihood, simulate)
    size = float(np.abs(behaviour.signed).max()) or 1.0
    unit = behaviour.strength
    if against := contradictions(behaviour.record, behaviour.side):
        raise CannotTellError(against[0].removeprefix("WARNING: ").rstrip("."))
    if name == "integrator":
        return Model(
            name, "Sum of noisy evidence with a bias and lapses: a cumulative normal function",
            {
                "noise": Parameter(size / 1000, 100 * size, size / 20, size, unit),
                "bias": Parameter(-size, size, -size / 20, size / 20, unit), "lapse": _LAPSE,
            }, _integrator, _simulate_integrator,
        )  # fmt: skip
    times = behaviour.column("reaction_time").astype(float)
    fastest = float(np.nanquantile(times[behaviour.answered], 0.05))
    return Model(
        name, "Diffusion to two bounds with a non-decision time (Ratcliff 1978)",
        {
            "drift": Parameter(0.0, 200 / size, 1 / size, 10 / size, f"SD / sqrt(s) per {unit}"),
            "bound": Parameter(0.05, 5.0, 0.4, 1.2, "SD sqrt(s)"),
            "non_decision": Parameter(0.0, 2 * fastest, 0.3 * fastest, 0.9 * fastest, "ms"),
            "lapse": _LAPSE,
        }, _diffusion, _simulate_diffusion,
    )  # fmt: skip


NAMES = ("q_learner", "hybrid", "win_stay_lose_shift", "integrator", "diffusion")
"""Models, by the names of the reference subjects."""

__all__ = ["NAMES", "Model", "Parameter", "model", "passage_density"]
