"""`Activity`: units of a network, or recorded neurons, in each trial, with the trial record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, TrialRecord
from neurogym_core.tools import listed, optional, unknown

KINDS = ("rate", "count")
AXES = ("trial", "time", "unit")


@dataclass(frozen=True, eq=False)
class Means:
    """Means of each condition, over trials or over subjects.

    Attributes:
        conditions: name -> (c,) values, one per condition.
        mean: (c, T, units).
        sem: (c, T, units) standard error of the mean; NaN where fewer than two count.
        n: (c, T, units) trials or subjects that count, without those that have ended or in which
            the unit is missing (NaN).
        time: (T,) ms.
        over: "trial", or the column whose values are the subjects: the unit of replication.
    """

    conditions: dict[str, np.ndarray]
    mean: np.ndarray
    sem: np.ndarray
    n: np.ndarray
    time: np.ndarray
    over: str = "trial"

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the interval of Student's t for each mean: low, high, (c, T, units) each.

        Over trials, it is for the mean of further trials of these units; over subjects, for the
        mean of further subjects. Nothing is corrected for the numbers of units and steps.

        Args:
            level: probability with which it contains the mean of the population.

        Raises:
            InvalidValueError: a level that is not between 0 and 1.
        """
        if not 0 < level < 1:
            raise InvalidValueError(
                f"interval() was given level={level!r}. Expected a probability between 0 and 1."
                " Give 0.95, for example."
            )
        from scipy.special import stdtrit

        with np.errstate(invalid="ignore"):
            freedom = np.where(self.n > 1, self.n - 1, np.nan)
            half = stdtrit(freedom, (1 + level) / 2) * self.sem
        return self.mean - half, self.mean + half


class Activity:
    """Activity of units in n trials of at most T steps.

    Networks and recorded neurons have the same type, so that the same function analyses both. An
    activity does not change: each method returns another one.

    Args:
        rates: (n, T, units) rates, or counts of spikes; NaN outside of a trial.
        record: the trial record, n rows in the same order; or its columns.
        step: ms between two time points.
        events: name -> (n,) ms from the start of the trial, NaN where a trial lacks it. A period
            has its onset under its name, and its end under NAME.end.
        units: column -> (units,): "layer", "area", "sign", …; default: "id" alone.
        event: the event at time 0; "trial" is the start of the trial.
        start: ms of the first time point from `event`.
        kind: "rate", or "count" (of spikes in each step).
        facts: facts about the whole activity: task, seed, source.

    Raises:
        InvalidValueError: shapes that do not fit.
        UnknownNameError: there is no such event.

    Example:
        >>> import numpy as np
        >>> from neurogym_neural import Activity
        >>> rates = np.arange(12.0).reshape(2, 3, 2)
        >>> light = {"light": [100, 0], "light.end": [300, 200]}
        >>> activity = Activity(rates, {"side": [0, 1]}, step=100, events=light)
        >>> activity.during("light").rates[:, 0].tolist()
        [[2.0, 3.0], [6.0, 7.0]]
    """

    def __init__(
        self,
        rates: Any,
        record: TrialRecord | Mapping[str, Any],
        *,
        step: float,
        events: Mapping[str, Any] | None = None,
        units: Mapping[str, Any] | None = None,
        event: str = "trial",
        start: float = 0.0,
        kind: str = "rate",
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        rates = np.asarray(rates, np.float32)
        record = record if isinstance(record, TrialRecord) else TrialRecord(record)
        if rates.ndim != 3 or len(rates) != len(record):
            raise InvalidValueError(
                f"An Activity was given rates of shape {rates.shape} and a record of"
                f" {len(record)} trials. Expected (trials, steps, units), with as many trials. Give"
                " the record of the same trials."
            )
        infinite = int(np.isinf(rates).sum())
        if 0 in rates.shape or infinite:
            raise InvalidValueError(
                f"An Activity was given rates of shape {rates.shape}, {infinite} of them infinite."
                " Expected a trial, a step and a unit at least, and numbers; NaN where there is no"
                " activity. Leave others out."
            )
        if not step > 0 or kind not in KINDS:
            raise InvalidValueError(
                f"An Activity was given step={step!r} and kind={kind!r}. Expected ms above 0, and"
                f" one of {listed(KINDS)}. Give these."
            )
        n, _, width = rates.shape
        given = {"id": np.arange(width), **(units or {})}
        self.rates, self.record, self.step = rates, record, float(step)
        self.units = {name: _column(name, values, width, "unit") for name, values in given.items()}
        self.events = {"trial": np.zeros(n)} | {
            name: _column(name, values, n, "trial").astype(np.float64)
            for name, values in (events or {}).items()
        }
        self.event, self.start, self.kind = event, float(start), kind
        self.facts = dict(facts or {})
        self._times(event)  # raises for an unknown event

    @property
    def time(self) -> np.ndarray:
        """(T,) ms from `event`; a step lasts from its time to the next one."""
        return self.start + self.step * np.arange(self.rates.shape[1])

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the layers of a network; empty for other units."""
        return tuple(dict.fromkeys(self.units["layer"].tolist())) if "layer" in self.units else ()

    def __len__(self) -> int:
        return len(self.record)

    def __repr__(self) -> str:
        n, steps, width = self.rates.shape
        return (
            f"<Activity of {n} trials, {steps} steps of {self.step:g} ms from {self.start:g} ms of"
            f" {self.event!r}, {width} units>"
        )

    def __getitem__(self, layer: str) -> np.ndarray:
        """Return the rates of a layer, (n, T, units).

        Raises:
            UnknownNameError: there is no such layer.
        """
        if layer not in self.layers:
            raise unknown("layer", layer, self.layers, of="this activity")
        return self.select(layer=layer).rates

    # ------------------------------------------------------------------ rows, columns, times

    def select(self, trials: Any = None, units: Any = None, **columns: Any) -> Activity:
        """Return the activity of some trials and units.

        Args:
            trials, units: masks or indices; None: all.
            columns: column of `units` -> the value, or a list of values, of the units to keep.

        Raises:
            UnknownNameError: `units` has no such column.
            InvalidValueError: no unit is left, or a mask of another length.
        """
        kept = np.arange(self.rates.shape[2])
        kept = kept if units is None else indices(units, len(kept), "select() was given units")
        for name, values in columns.items():
            if name not in self.units:
                raise unknown("column", name, self.units, of="the units")
            kept = kept[np.isin(self.units[name][kept], values)]
        if not len(kept):
            raise InvalidValueError(
                f"select() was given units={units!r} and {columns!r}. Expected at least one unit to"
                f" be left of {self.rates.shape[2]}. Select others."
            )
        rows = np.arange(len(self))
        rows = rows if trials is None else indices(trials, len(self), "select() was given trials")
        return self._with(
            self.rates[rows][:, :, kept],
            record=self.record[rows],
            events={name: ms[rows] for name, ms in self.events.items()},
            units={name: values[kept] for name, values in self.units.items()},
        )

    def align(self, event: str, before: float, after: float) -> Activity:
        """Return the activity from `before` ms before an event to `after` ms after it.

        Steps outside of a trial are NaN, and so are trials without the event. Times that are no
        multiples of the step are rounded.

        Raises:
            UnknownNameError: there is no such event.
            InvalidValueError: less than a step lies between `before` and `after`.
        """
        steps = np.arange(-round(before / self.step), round(after / self.step))
        if not len(steps):
            raise InvalidValueError(
                f"align() was given before={before!r} and after={after!r} ms. Expected at least a"
                f" step of {self.step:g} ms between them. Give a wider window."
            )
        first = (self._times(event) - self._times(self.event) - self.start) / self.step
        known = np.isfinite(first)
        at = np.rint(np.where(known, first, 0)).astype(int)[:, None] + steps
        inside = known[:, None] & (at >= 0) & (at < self.rates.shape[1])
        cut = self.rates[np.arange(len(self))[:, None], np.where(inside, at, 0)]
        rates = np.where(inside[..., None], cut, np.float32(np.nan))
        return self._with(rates, event=event, start=float(steps[0] * self.step))

    def during(self, period: str) -> Activity:
        """Return the activity during a period, from its onset; NaN after its end.

        Raises:
            UnknownNameError: the trials have no such period.
        """
        lasts = self._times(f"{period}.end", what=period) - self._times(period)
        longest = np.nanmax(lasts, initial=self.step)
        found = self.align(period, 0, longest)
        inside = found.time < lasts[:, None] - self.step / 2
        return found._with(np.where(inside[..., None], found.rates, np.float32(np.nan)))

    def halves(self, seed: int = 0) -> tuple[Activity, Activity]:
        """Return two activities with a random half of the trials each."""
        order = np.random.default_rng(seed).permutation(len(self))
        cut = (len(self) + 1) // 2
        return self.select(np.sort(order[:cut])), self.select(np.sort(order[cut:]))

    @classmethod
    def concatenate(cls, parts: Iterable[Activity]) -> Activity:
        """Return the trials of several activities of the same units, aligned to the same event.

        Raises:
            InvalidValueError: units, steps or events at time 0 differ, or there are no activities.
        """
        parts = list(parts)
        alike = {
            (one.step, one.start, one.event, one.kind, one.rates.shape[2], *one.units["id"])
            for one in parts
        }
        if len(alike) != 1:
            raise InvalidValueError(
                f"concatenate() was given {len(parts)} activities of {len(alike)} kinds. Expected"
                " the same units, step, event, start and kind in all. Align and bin them alike."
            )
        longest = max(one.rates.shape[1] for one in parts)
        rates = [
            np.pad(
                one.rates,
                ((0, 0), (0, longest - one.rates.shape[1]), (0, 0)),
                constant_values=np.nan,
            )
            for one in parts
        ]
        common = [name for name in parts[0].events if all(name in one.events for one in parts)]
        return parts[0]._with(
            np.concatenate(rates),
            record=TrialRecord.concatenate([one.record for one in parts]),
            events={name: np.concatenate([one.events[name] for one in parts]) for name in common},
        )

    # ------------------------------------------------------------------ values

    def bin(self, ms: float) -> Activity:
        """Return the activity in longer steps: mean rates, or sums of counts.

        A bin with a step outside of the trial is NaN. Steps at the end that fill no bin are left
        out.

        Raises:
            InvalidValueError: `ms` is no multiple of the step.
        """
        k = round(ms / self.step)
        if k < 1 or abs(k * self.step - ms) > 1e-6 * ms or k > self.rates.shape[1]:
            raise InvalidValueError(
                f"bin() was given {ms!r} ms. Expected a multiple of the step, {self.step:g} ms, of"
                f" at most {self.time[-1] - self.time[0] + self.step:g} ms. Give one."
            )
        n, steps, width = self.rates.shape
        parts = self.rates[:, : steps // k * k].reshape(n, steps // k, k, width)
        rates = parts.sum(axis=2) if self.kind == "count" else parts.mean(axis=2)
        return self._with(rates, step=k * self.step)

    def smooth(self, ms: float, *, causal: bool = True) -> Activity:
        """Return rates smoothed by a Gaussian in time; NaN stay NaN, and do not spread.

        Args:
            ms: its standard deviation.
            causal: whether only earlier steps count, as for comparisons of onsets.

        Raises:
            InvalidValueError: `ms` is not above 0.
        """
        if not ms > 0:
            raise InvalidValueError(
                f"smooth() was given {ms!r} ms. Expected a standard deviation above 0. Give one, or"
                " leave smooth() out."
            )
        reach = int(np.ceil(4 * ms / self.step))
        finite = np.isfinite(self.rates)
        values = np.where(finite, self.rates, 0)
        total, weights = np.zeros_like(values), np.zeros_like(values)
        steps = self.rates.shape[1]
        for lag in range(-0 if causal else -min(reach, steps - 1), min(reach, steps - 1) + 1):
            weight = np.exp(-0.5 * (lag * self.step / ms) ** 2)
            to = slice(max(lag, 0), steps + min(lag, 0))
            come = slice(max(-lag, 0), steps - max(lag, 0))
            total[:, to] += weight * values[:, come]
            weights[:, to] += weight * finite[:, come]
        with np.errstate(invalid="ignore", divide="ignore"):
            return self._with(np.where(finite, total / weights, np.float32(np.nan)))

    def zscore(self, of: Activity | None = None) -> Activity:
        """Return (rates - mean) / SD of each unit, over trials and time; 0 where the SD is 0.

        Args:
            of: the activity with the mean and the SD, such as a training half; default: this one.
        """
        values = (self if of is None else of).rates.astype(np.float64)
        mean = nanmean(values, axis=(0, 1))
        sd = np.sqrt(nanmean((values - mean) ** 2, axis=(0, 1)))
        finite = np.abs(values[np.isfinite(values)])
        least = 1e-6 * float(finite.max(initial=0))  # rounding errors of single precision
        return self._with((self.rates - mean) / np.where(sd <= least, np.inf, sd))

    def mean(self, by: str | Sequence[str], *, over: str = "trial") -> Means:
        """Return means of each condition.

        The unit of replication is the trial, or the values of a column: then the trials of each
        subject are averaged first, and subjects count equally. Trials of one animal or network say
        nothing about others: an interval over the pooled trials of several is too narrow. Multiple
        comparisons over conditions, steps and units: not corrected.

        Args:
            by: a column of the record, or several.
            over: "trial", or a column with the subject, session or seed of each trial.

        Raises:
            UnknownNameError: the record has no such column.
            InvalidValueError: a combination of values has no trial, or a trial no value.
        """
        names = [by] if isinstance(by, str) else list(by)
        refuse_missing(self, names, "mean")
        levels = [np.unique(self.record[name]) for name in names]
        cells = list(product(*(range(len(values)) for values in levels)))
        masks = [
            np.all(
                [self.record[name] == levels[k][cell[k]] for k, name in enumerate(names)], axis=0
            )
            for cell in cells
        ]
        empty = [cell for cell, mask in zip(cells, masks, strict=True) if not mask.any()]
        if empty:
            said = ", ".join(f"{name}={levels[k][empty[0][k]]}" for k, name in enumerate(names))
            raise InvalidValueError(
                f"mean(by={by!r}) found no trial with {said}. Expected trials of all combinations."
                " Select trials, or average by fewer columns."
            )
        subjects = None if over == "trial" else self.record[over]
        found = [_mean_of(self.rates[mask], subjects, mask) for mask in masks]
        mean, sem, n = (np.array(part) for part in zip(*found, strict=True))
        conditions = {name: levels[k][[cell[k] for cell in cells]] for k, name in enumerate(names)}
        return Means(conditions, mean, sem, n, self.time, over)

    def observed(
        self,
        hz: float = 10.0,
        units: int | None = None,
        trials: int | None = None,
        *,
        seed: int = 0,
    ) -> Activity:
        """Return counts of spikes, as a laboratory would have recorded them.

        Counts are Poisson. All units have the same gain, chosen so that their mean rate is `hz`.
        Rates below 0 are impossible: the minimum of a unit that has some is its rate of 0. Without
        this noise, nearly every unit of an untrained network is significantly tuned to something.

        Args:
            hz: mean rate over units, trials and time, spikes per second.
            units, trials: how many are drawn, without replacement; None: all.
            seed: seed of the draws.

        Raises:
            InvalidValueError: no rate above 0, more units or trials than there are, or all rates
                are 0.
        """
        if not 0 < hz < np.inf:
            raise InvalidValueError(
                f"observed() was given hz={hz!r}. Expected a mean rate above 0, spikes per second."
                " Give 10, for example."
            )
        rng = np.random.default_rng(seed)
        n, _, width = self.rates.shape
        for name, number, most in (("units", units, width), ("trials", trials, n)):
            if number is not None and not 1 <= number <= most:
                raise InvalidValueError(
                    f"observed() was given {name}={number!r}. Expected 1 to {most}, those of the"
                    " activity. Give fewer, or record more."
                )
        chosen = self.select(
            None if trials is None else np.sort(rng.permutation(n)[:trials]),
            None if units is None else np.sort(rng.permutation(width)[:units]),
        )
        least = np.where(np.isfinite(chosen.rates), chosen.rates, 0).min(axis=(0, 1))
        rates = chosen.rates - np.minimum(least, 0)
        level = float(nanmean(rates, axis=None))
        if not level > 0:
            raise InvalidValueError(
                "observed() was given rates that are all 0. Expected some activity. Select other"
                " units."
            )
        mean = np.where(np.isfinite(rates), rates, 0) * (hz / level * self.step / 1000)
        counts = rng.poisson(mean).astype(np.float32)
        facts = {**self.facts, "observed": {"hz": hz, "seed": seed}}
        return chosen._with(
            np.where(np.isfinite(rates), counts, np.float32(np.nan)), kind="count", facts=facts
        )

    # ------------------------------------------------------------------ other forms

    def array(self, *axes: str) -> np.ndarray:
        """Return the rates with their axes in this order, e.g. ``array("unit", "time", "trial")``.

        Raises:
            InvalidValueError: not each of "trial", "time" and "unit" once.
        """
        if sorted(axes) != sorted(AXES):
            raise InvalidValueError(
                f"array() was given {axes!r}. Expected {listed(AXES)}, each once. Give these."
            )
        return self.rates.transpose([AXES.index(axis) for axis in axes])

    def to_xarray(self) -> Any:
        """Return an ``xarray.DataArray`` with the dimensions trial, time and unit.

        Columns of the record that have one value per trial, and of `units`, are coordinates.

        Raises:
            MissingDependencyError: xarray is not installed.
        """
        xarray = optional("xarray", needed_for="to_xarray()")
        columns = {f"trial_{name}": column for name, column in self.record.items()}
        return xarray.DataArray(
            self.rates,
            dims=AXES,
            coords={
                "time": self.time,
                **{name: ("trial", one) for name, one in columns.items() if one.ndim == 1},
                **{f"unit_{name}": ("unit", values) for name, values in self.units.items()},
            },
            attrs={"event": self.event, "kind": self.kind, **self.facts},
        )

    # ------------------------------------------------------------------ parts

    def _times(self, event: str, what: str | None = None) -> np.ndarray:
        if event not in self.events:
            raise unknown("event", what or event, self.events, of="this activity")
        return self.events[event]

    def _with(self, rates: np.ndarray, **changed: Any) -> Activity:
        kept = ("record", "step", "events", "units", "event", "start", "kind", "facts")
        return Activity(rates, **{name: getattr(self, name) for name in kept} | changed)


def _column(name: str, values: Any, length: int, of: str) -> np.ndarray:
    values = np.asarray(values)
    if values.shape != (length,):
        raise InvalidValueError(
            f"An Activity was given {name!r} of shape {values.shape}. Expected one value per"
            f" {of}, ({length},). Give these."
        )
    return values


def _mean_of(
    rates: np.ndarray, subjects: np.ndarray | None, mask: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean, standard error, and how many count, (T, units) each."""
    with np.errstate(invalid="ignore", divide="ignore"):
        if subjects is not None:
            own = subjects[mask]
            rates = np.array([nanmean(rates[own == one]) for one in np.unique(own)])
        mean = nanmean(rates)
        n = np.isfinite(rates).sum(axis=0)
        spread = np.sqrt(np.nansum((rates - mean) ** 2, axis=0))
        return mean, spread / np.sqrt(n * np.where(n > 1, n - 1, np.nan)), n


def nanmean(values: np.ndarray, axis: int | tuple[int, ...] | None = 0) -> np.ndarray:
    """Return the mean of the values that are not NaN, and NaN where there are none, silently."""
    finite = np.isfinite(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = np.where(finite, values, 0).sum(axis=axis)
        mean: np.ndarray = np.divide(total, finite.sum(axis=axis))
    return mean


def over_steps(activity: Activity, asked: str) -> np.ndarray:
    """Return the mean over the steps of each trial, (n, units) float64.

    Raises:
        InvalidValueError: a unit has no step in a trial; `asked` is the name of the analysis.
    """
    rates: np.ndarray = nanmean(activity.rates.astype(np.float64), axis=1)
    known = np.isfinite(rates)
    if not known.all():
        raise InvalidValueError(
            f"{asked}() was given {int((~known.all(axis=1)).sum())} of {len(known)} trials in which"
            f" units have no activity (NaN), {int((~known.any(axis=0)).sum())} of"
            f" {known.shape[1]} units without any. Expected a step of each unit in each trial."
            " Select these: activity.select(np.isfinite(activity.rates).any(axis=(1, 2)))."
        )
    return rates


def indices(given: Any, length: int, said: str) -> np.ndarray:
    """Return indices from a mask or from indices.

    Args:
        given: bools, one for each of `length`, or integers.
        length: number of units or trials.
        said: begin of the message.

    Raises:
        InvalidValueError: a mask of another length, or an index that there is not.
    """
    found = np.asarray(given)
    found = found.astype(int) if not found.size else found
    if found.dtype == bool and found.shape == (length,):
        return np.flatnonzero(found)
    ints = found.dtype.kind in "iu" and found.ndim == 1
    if not ints or (found.size and not -length <= found.min() <= found.max() < length):
        raise InvalidValueError(
            f"{said} of type {found.dtype} and shape {found.shape}. Expected a mask of {length}, or"
            f" indices below {length}. Give one of these."
        )
    kept: np.ndarray = np.arange(length)[found]
    return kept


def has_value(values: np.ndarray) -> np.ndarray:
    """Return which trials have a value, (n,): those without NaN, and without an empty text."""
    if values.dtype.kind == "U":
        empty = np.isin(np.char.lower(values), ("", "nan")).reshape(len(values), -1)
        return np.array([not row.any() for row in empty], bool)
    if values.dtype.kind != "f":
        return np.ones(len(values), bool)
    finite = np.isfinite(values).reshape(len(values), -1)
    return np.array([row.all() for row in finite], bool)


def refuse_missing(activity: Activity, columns: Iterable[str], asked: str) -> None:
    """Refuse trials without a value in a column.

    Raises:
        InvalidValueError: a column has NaN; `asked` is the name of the analysis.
    """
    for name in columns:
        known = has_value(activity.record[name])
        if not known.all():
            raise InvalidValueError(
                f"{asked}() was given {said_missing(name, known)}. Expected a value in each trial."
                " Leave these out: activity.select(np.isfinite(activity.record[…]))."
            )


def said_missing(column: str, known: np.ndarray) -> str:
    """Return how many trials have no value, and the first five of them."""
    rows = np.flatnonzero(~known)
    first = ", ".join(str(row) for row in rows[:5]) + (", …" if len(rows) > 5 else "")
    return f"{len(rows)} of {len(known)} trials without {column!r} (NaN, ''): {first}"


def numbers(activity: Activity, column: str, asked: str) -> np.ndarray:
    """Return a column of numbers, (n,) float64.

    Raises:
        InvalidValueError: it has texts, or numbers that are missing.
    """
    values = activity.record[column]
    if values.dtype.kind not in "biuf" or values.ndim != 1 or not np.isfinite(values).all():
        missing = int((~np.isfinite(values)).sum()) if values.dtype.kind == "f" else 0
        raise InvalidValueError(
            f"{asked}() was given {column!r}, of type {values.dtype} and shape {values.shape}, with"
            f" {missing} missing numbers. Expected a number for each trial. Select trials that have"
            " one, or give another column."
        )
    return values.astype(np.float64)
