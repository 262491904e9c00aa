"""Spike times, NWB files and pynapple's objects as an `Activity`; an `Activity` in an NWB file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, TrialRecord
from neurogym_core.tools import listed, optional, unknown
from neurogym_neural.activity import Activity

NETWORK = "network"
"""Processing module of an NWB file with the rates of a network."""
BINNED = "BinnedAlignedSpikes"
"""Type of ndx-binned-spikes: counts (units, events, bins) around events."""
MUCH = 100.0
"""Factor between the ends of trials and spikes that only other units of time explain."""
SLOW = 5.0
"""Median interval between spikes, s, above which their times are in ms or samples."""
_NOT_COLUMNS = {"start_time", "stop_time", "id", "tags", "timeseries", "timeseries_index"}
_INDEXED = ("spike_times", "obs_intervals", "waveform", "electrodes")


def from_spikes(
    spikes: Sequence[Any],
    record: TrialRecord | Mapping[str, Any],
    start: Any,
    stop: Any,
    *,
    step: float = 10.0,
    before: float = 0.0,
    after: float = 0.0,
    events: Mapping[str, Any] | None = None,
    units: Mapping[str, Any] | None = None,
    observed: Sequence[Any] | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Activity:
    """Return counts of spikes in the steps of each trial.

    A step that does not fit between the start and the end of the trial is NaN, and so are the
    steps of a unit that was not recorded then.

    Args:
        spikes: for each unit the times of its spikes in s, ascending.
        record: the trial record, n rows; or its columns.
        start, stop: (n,) start and end of each trial, s.
        step: ms between two time points.
        before, after: ms before the start and after the end that are counted, too.
        events: name -> (n,) times in s, NaN where a trial lacks it.
        units: column -> (units,), as in `Activity`.
        observed: for each unit the intervals (k, 2) in which it was recorded, s; None: always.
        facts: facts about the recording.

    Raises:
        InvalidValueError: shapes that do not fit, a trial that ends before it starts, or spikes
            that are not in ascending order, or times that are not in s.

    Example:
        >>> from neurogym_neural import from_spikes
        >>> unit = [0.05, 0.12, 0.13, 2.31]
        >>> counts = from_spikes([unit], {"side": [0, 1]}, [0, 2], [0.3, 2.4], step=100)
        >>> counts.rates[:, :, 0].tolist()
        [[1.0, 2.0, 0.0], [0.0, 0.0, 0.0], ...
    """
    start, stop = np.asarray(start, float), np.asarray(stop, float)
    record = record if isinstance(record, TrialRecord) else TrialRecord(record)
    n = len(record)
    if start.shape != (n,) or stop.shape != (n,) or not len(spikes) or not n:
        raise InvalidValueError(
            f"from_spikes() was given {len(spikes)} units, a record of {n} trials, and starts and"
            f" ends of shape {start.shape} and {stop.shape}. Expected a unit and a trial at least,"
            " and a start and an end for each trial. Give these."
        )
    if not step > 0 or not (stop > start).all():
        raise InvalidValueError(
            f"from_spikes() was given step={step!r}, and"
            f" {int((~(stop > start)).sum())} of {n} trials without an end after their start."
            " Expected ms above 0, and times in s. Leave out the trials without them."
        )
    _in_seconds(spikes, stop)
    steps = np.floor(((stop - start) * 1000 + before + after) / step + 1e-6).astype(int)
    longest = max(int(steps.max()), 1)
    edges = start[:, None] + (step * np.arange(longest + 1) - before) / 1000
    inside = np.arange(longest) < steps[:, None]
    rates = np.full((n, longest, len(spikes)), np.nan, np.float32)
    for unit, times in enumerate(spikes):
        times = np.asarray(times, float)
        missing = int((~np.isfinite(times)).sum())
        if times.ndim != 1 or missing or (np.diff(times) < 0).any():
            raise InvalidValueError(
                f"from_spikes() was given times of unit {unit} of shape {times.shape}, {missing} of"
                " them missing (NaN), that are not in ascending order. Expected the times of its"
                " spikes in s. Sort them, and leave out missing ones."
            )
        counts = np.diff(np.searchsorted(times, edges), axis=1)
        known = inside if observed is None else inside & _recorded(edges, observed[unit])
        rates[..., unit] = np.where(known, counts, np.nan)
    return Activity(
        rates, record, step=step, units=units, start=-float(before), kind="count", facts=facts,
        events={
            name: (np.asarray(times, float) - start) * 1000
            for name, times in (events or {}).items()
        },
    )  # fmt: skip


def _in_seconds(spikes: Sequence[Any], stop: np.ndarray) -> None:
    """Raise InvalidValueError for times of spikes or trials that cannot be in s."""
    trains = [np.asarray(times, float).ravel() for times in spikes]
    last = max((float(times.max()) for times in trains if len(times)), default=0.0)
    intervals = np.concatenate([np.diff(times) for times in trains])
    slow = float(np.median(intervals)) if len(intervals) >= 20 else 0.0
    end = float(stop.max())
    apart = last > 0 and end > 0 and not 1 / MUCH < last / end < MUCH
    if apart or slow > SLOW:
        raise InvalidValueError(
            f"from_spikes() was given spikes until {last:g} and trials until {end:g}, with a median"
            f" interval of {slow:g} between spikes. Expected times in s, of one clock. Divide times"
            " in ms by 1000, and samples by the sampling rate."
        )


def _recorded(edges: np.ndarray, intervals: Any) -> np.ndarray:
    """Return whether each step lies within one of the intervals, (n, T)."""
    intervals = np.asarray(intervals, float).reshape(-1, 2)
    found = np.zeros((len(edges), edges.shape[1] - 1), bool)
    for begin, end in intervals:
        found |= (edges[:, :-1] >= begin - 1e-9) & (edges[:, 1:] <= end + 1e-9)
    return found


def from_pynapple(
    group: Any, trials: Any, record: TrialRecord | Mapping[str, Any] | None = None, **options: Any
) -> Activity:
    """Return the spikes of a pynapple ``TsGroup`` in the trials of an ``IntervalSet``.

    Columns of the group's metadata that have one value per unit become columns of the units, and
    those of the trials become the record.

    Args:
        group: the units.
        trials: the trials; they do not overlap.
        record: the trial record; None: the metadata of the trials.
        options: those of `from_spikes`: step, before, after, events, units.

    Raises:
        InvalidValueError: as `from_spikes`.
    """
    keys = list(group.keys())
    units = {"id": np.asarray(keys)} | {
        name: np.asarray(values)
        for name, values in _metadata(group).items()
        if np.asarray(values).dtype.kind in "biufU"
    }
    if record is None:
        record = _metadata(trials) or {"trial": np.arange(len(trials))}
    options = {"units": units, "facts": {"source": "pynapple"}, **options}
    times = [np.asarray(group[key].t) for key in keys]
    return from_spikes(times, record, np.asarray(trials.start), np.asarray(trials.end), **options)


def _metadata(one: Any) -> dict[str, np.ndarray]:
    table = one.metadata
    return {str(name): _plain(table[name]) for name in table.columns}


def read_nwb(
    path: str | Path,
    record: TrialRecord | Mapping[str, Any] | None = None,
    *,
    binned: str | None = None,
    step: float = 10.0,
    before: float = 0.0,
    after: float = 0.0,
) -> Activity:
    """Return the units of an NWB file in its trials.

    Spikes are counted (`from_spikes`). In a file without spikes, the rates or counts that
    `add_to_nwb` wrote are read, in their own steps. Columns of the trials that end in ``_time`` are
    events: those of periods, ``NAME_start_time`` and ``NAME_stop_time``, become NAME and NAME.end.

    Counts of the type ``BinnedAlignedSpikes`` (ndx-binned-spikes, which need not be installed) are
    aligned to an event with the name of the object. An event has the record of its trial, and the
    label of its condition as "condition"; in a file without trials, "trial" is the event.

    Args:
        path: the .nwb file.
        record: the trial record; None: the other columns of the trials.
        binned: the name of counts to read instead of the spikes; None: the only ones of a file
            without spikes.
        step, before, after: ms, as in `from_spikes`.

    Raises:
        MissingDependencyError: pynwb is not installed.
        InvalidValueError: the file has no trials, no units, or trials without times; or events of
            counts lie in no trial.
        UnknownNameError: the file has no such counts.
    """
    with _opened(path, "r") as (_, file):
        columns = {one.name: one for one in getattr(file.units, "columns", ())}
        objects = [one for one in file.objects.values() if type(one).__name__ == BINNED]
        counts = {one.name: one for one in sorted(objects, key=lambda one: one.name)}
        facts = {"source": Path(path).name, "session": str(file.session_description)}
        if binned is None and "spike_times" not in columns and len(counts) == 1:
            (binned,) = counts
        if binned is not None:
            if binned not in counts:
                raise unknown("BinnedAlignedSpikes", binned, counts, of=repr(str(path)))
            return _counts_of(file, counts[binned], path, record, facts)
        if file.trials is None or not len(file.trials):
            raise InvalidValueError(
                f"{str(path)!r} has no trials. Expected a table of trials beside the units. Add"
                " one, or count the spikes with from_spikes()."
            )
        given, start, stop, events = _trials(file)
        if "spike_times" not in columns or not len(file.units):
            if counts:
                raise InvalidValueError(
                    f"{str(path)!r} has no spikes, and the counts {listed(counts)}. Expected one of"
                    f" them. Choose it: read_nwb(…, binned={next(iter(counts))!r})."
                )
            return _rates_of(file, path, record or given, start, stop, events, facts)
        spikes = [file.units.get_unit_spike_times(at) for at in range(len(file.units))]
        seen = None
        if "obs_intervals" in columns:
            seen = [file.units.get_unit_obs_intervals(at) for at in range(len(file.units))]
        return from_spikes(
            spikes, record or given, start, stop, step=step, before=before, after=after,
            events=events, units=_units(file.units), observed=seen, facts=facts,
        )  # fmt: skip


def _trials(
    file: Any,
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return the columns of the record, start and end of the trials, and their events, s."""
    columns = {one.name: one for one in file.trials.columns}
    table = {
        name: _plain(column[:])
        for name, column in columns.items()
        if f"{name}_index" not in columns and not name.endswith("_index")
    }
    start, stop = table["start_time"].astype(float), table["stop_time"].astype(float)
    events = {
        _event(name): values.astype(float)
        for name, values in table.items()
        if name.endswith("_time") and name not in _NOT_COLUMNS and values.dtype.kind in "iuf"
    }
    known = _NOT_COLUMNS | {name for name in table if name.endswith("_time")}
    rest = {name: values for name, values in table.items() if name not in known}
    return rest or {"trial": np.arange(len(start))}, start, stop, events


def _units(table: Any) -> dict[str, np.ndarray]:
    """Return the columns of a table of units that have one value per unit."""
    columns = {one.name: one for one in table.columns}
    return {"id": np.asarray(table.id[:])} | {
        name: values
        for name, column in columns.items()
        if not name.startswith(_INDEXED)
        and not name.endswith("_index")
        and f"{name}_index" not in columns
        and (values := _plain(column[:])).ndim == 1
        and values.dtype.kind in "biufU"
    }


def _counts_of(
    file: Any, one: Any, path: str | Path, record: Any, facts: Mapping[str, Any]
) -> Activity:
    """Return the counts of a BinnedAlignedSpikes."""
    times = np.asarray(one.event_timestamps[:], float)
    given: dict[str, np.ndarray] = {}
    events = {one.name: np.zeros(len(times))}
    if file.trials is not None and len(file.trials):
        columns, start, stop, of_trials = _trials(file)
        row = np.maximum(np.searchsorted(start, times + 1e-9, side="right") - 1, 0)
        outside = int(((times < start[row] - 1e-9) | (times > stop[row] + 1e-9)).sum())
        if outside:
            raise InvalidValueError(
                f"{str(path)!r} has {outside} of {len(times)} events of {one.name!r} in no trial."
                " Expected each event within a trial, in s of one clock. Correct the times of the"
                " events or the trials."
            )
        given = {name: values[row] for name, values in columns.items()}
        events = {name: (values[row] - start[row]) * 1000 for name, values in of_trials.items()}
        events[one.name] = (times - start[row]) * 1000
    if one.condition_indices is not None:
        index = np.asarray(one.condition_indices[:], int)
        labels = one.condition_labels
        given["condition"] = index if labels is None else _plain(labels[:])[index]
    region = one.units_region
    units = None
    if region is not None:
        rows = np.asarray(region.data[:], int)
        units = {name: values[rows] for name, values in _units(region.table).items()}
    return Activity(
        np.asarray(one.data[:]).transpose(1, 2, 0),
        record or given or {"trial": np.arange(len(times))},
        step=float(one.bin_width_in_ms), start=float(one.event_to_bin_offset_in_ms or 0),
        event=one.name, events=events, units=units, kind="count", facts=facts,
    )  # fmt: skip


def add_to_nwb(activity: Activity, path: str | Path, *, seed: int = 0) -> None:
    """Add the units of an activity to an NWB file that has its trials.

    `neurogym_records.to_nwb` writes such a file from the record. Counts become units with spike
    times, each drawn at random within its step. Counts that are aligned to another event than the
    start of the trial become a ``BinnedAlignedSpikes`` with the name of the event, without the
    trials that lack it. Rates, which are no spikes, become a time series for each layer in the
    processing module ``network``. `read_nwb` reads all of them.

    Args:
        activity: its trials are those of the file; rates are aligned to the start of the trials.
        path: the .nwb file, without units.
        seed: seed of the times within the steps.

    Raises:
        MissingDependencyError: pynwb is not installed, or ndx-binned-spikes for aligned counts.
        InvalidValueError: the file has other trials, trials at the same time, or units already; or
            rates are aligned to another event.
    """
    aligned = activity.event != "trial"
    if aligned and activity.kind != "count":
        raise InvalidValueError(
            f"add_to_nwb() was given rates aligned to {activity.event!r}. Expected time 0 at the"
            " start of the trials, as recorded. Give the activity before align()."
        )
    pynwb = optional("pynwb", needed_for="NWB")
    binned = optional("ndx_binned_spikes", needed_for="Counts around an event") if aligned else None
    with _opened(path, "a") as (io, file):
        count = len(getattr(file.trials, "id", ()))
        if count != len(activity) or file.units is not None or NETWORK in file.processing:
            raise InvalidValueError(
                f"{str(path)!r} has {count} trials, and"
                f" {'activity' if file.units is not None or NETWORK in file.processing else 'none'}"
                f" already; the activity has {len(activity)} trials. Expected the same trials, and"
                " no activity. Write the file again from the record."
            )
        start = np.asarray(file.trials["start_time"][:], float)
        together = int((np.diff(start) * 1000 < _lasts(activity)[:-1] - activity.step / 2).sum())
        if together:
            raise InvalidValueError(
                f"{str(path)!r} has {together} trials that begin while the one before has activity:"
                " a spike would belong to both. Expected trials one after another. Write"
                " the file from a record with such times."
            )
        begin = start[:, None] + activity.time / 1000  # (n, T) s
        if binned is not None:
            _add_counts(pynwb, binned, file, activity, start)
        elif activity.kind == "count":
            _add_units(pynwb, file, activity, begin, np.random.default_rng(seed))
        else:
            _add_rates(pynwb, file, activity, begin)
        io.write(file)


def _lasts(activity: Activity) -> np.ndarray:
    """Return the end of the activity of each trial, (n,) ms from its start; 0 without any."""
    known = np.isfinite(activity.rates).any(axis=2)
    at = 0 if activity.event == "trial" else np.nan_to_num(activity.events[activity.event])
    ends = (at + activity.start) + (known.shape[1] - known[:, ::-1].argmax(axis=1)) * activity.step
    return np.where(known.any(axis=1), ends, 0)


def _add_counts(pynwb: Any, binned: Any, file: Any, activity: Activity, start: np.ndarray) -> None:
    """Add the counts around an event, and a table of the units without spikes."""
    file.units = pynwb.misc.Units(name="units", description="units of counts around an event")
    columns = {name: values for name, values in activity.units.items() if name != "id"}
    for name in columns:
        file.units.add_column(name, f"{name} of the unit")
    width = activity.rates.shape[2]
    for unit in range(width):
        more = {name: values[unit].item() for name, values in columns.items()}
        file.units.add_unit(id=_number(activity.units["id"][unit], unit), **more)
    kept = np.isfinite(activity.events[activity.event])
    module = (
        file.processing["ecephys"]
        if "ecephys" in file.processing
        else file.create_processing_module("ecephys", "counts of spikes around events")
    )
    region = file.units.create_region("units_region", list(range(width)), "all units")
    module.add(
        binned.BinnedAlignedSpikes(
            name=activity.event, description=f"counts around {activity.event!r}; NaN: no count",
            bin_width_in_ms=activity.step, event_to_bin_offset_in_ms=activity.start,
            data=activity.rates[kept].transpose(2, 0, 1),
            event_timestamps=(start + activity.events[activity.event] / 1000)[kept],
            units_region=region,
        )
    )  # fmt: skip


def _add_units(
    pynwb: Any, file: Any, activity: Activity, begin: np.ndarray, rng: np.random.Generator
) -> None:
    columns = {name: values for name, values in activity.units.items() if name != "id"}
    table = pynwb.misc.Units(
        name="units",
        description=f"spikes counted in steps of {activity.step:g} ms; their times are drawn at"
        " random within the steps",
    )
    for name in columns:
        table.add_column(name, f"{name} of the unit")
    known = np.isfinite(activity.rates)
    for unit in range(activity.rates.shape[2]):
        counts = np.where(known[..., unit], activity.rates[..., unit], 0).astype(int)
        times = np.repeat(begin.ravel(), counts.ravel())
        # Never at the end of a step, which is the start of the next one.
        times = np.sort(times + rng.uniform(0.05, 0.95, len(times)) * activity.step / 1000)
        more = {name: values[unit].item() for name, values in columns.items()}
        table.add_unit(id=_number(activity.units["id"][unit], unit), spike_times=times, **more)
    file.units = table


def _number(value: Any, otherwise: int) -> int:
    return int(value) if np.asarray(value).dtype.kind in "iu" else otherwise


def _add_rates(pynwb: Any, file: Any, activity: Activity, begin: np.ndarray) -> None:
    module = file.create_processing_module(NETWORK, "rates of the units of a network; no spikes")
    inside = np.isfinite(activity.rates).all(axis=2)
    for layer in activity.layers or ("activity",):
        rates = activity[layer] if activity.layers else activity.rates
        module.add(
            pynwb.TimeSeries(
                name=str(layer), data=rates[inside], unit="a.u.", timestamps=begin[inside],
                description=f"rates in steps of {activity.step:g} ms within trials",
                comments=f"step {activity.step:g} ms",
            )
        )  # fmt: skip


def _rates_of(
    file: Any, path: str | Path, record: Any, start: np.ndarray, stop: np.ndarray,
    events: Mapping[str, np.ndarray], facts: Mapping[str, Any],
) -> Activity:  # fmt: skip
    """Return the rates that `add_to_nwb` wrote."""
    if NETWORK not in file.processing:
        raise InvalidValueError(
            f"{str(path)!r} has no units. Expected a table of units with spike times, or rates that"
            " add_to_nwb() wrote. Give a file of sorted spikes."
        )
    series = file.processing[NETWORK].data_interfaces
    first = next(iter(series.values()))
    step = float(first.comments.split()[1])
    times = np.asarray(first.timestamps[:])
    row = np.searchsorted(start, times + 1e-9, side="right") - 1
    at = np.rint((times - start[row]) * 1000 / step).astype(int)
    width = sum(one.data.shape[1] for one in series.values())
    rates = np.full((len(start), int(at.max()) + 1, width), np.nan, np.float32)
    rates[row, at] = np.concatenate([one.data[:] for one in series.values()], axis=1)
    layers = np.repeat(list(series), [one.data.shape[1] for one in series.values()])
    return Activity(
        rates, record, step=step, facts=facts, units={"layer": layers},
        events={name: (values - start) * 1000 for name, values in events.items()},
    )  # fmt: skip


def _event(name: str) -> str:
    """Return the name of an event for a column of times."""
    name = name.removesuffix("_time")
    if name.endswith("_start"):
        return name.removesuffix("_start")
    return f"{name.removesuffix('_stop')}.end" if name.endswith("_stop") else name


def _plain(values: Any) -> np.ndarray:
    """Return a column as numbers or texts, not as objects."""
    found = np.asarray(values)
    if found.dtype.kind == "O":
        found = np.array([str(one) for one in _texts(found)])
    return found


def _texts(values: np.ndarray) -> Iterable[Any]:
    return (one.decode() if isinstance(one, bytes) else one for one in values.tolist())


@contextmanager
def _opened(path: str | Path, mode: str) -> Iterator[tuple[Any, Any]]:
    """Open an NWB file, and yield the connection and its contents."""
    pynwb = optional("pynwb", needed_for="NWB")
    if not Path(path).is_file():
        raise InvalidValueError(
            f"{str(path)!r} is not a file. Expected an NWB file. Correct the path."
        )
    with ExitStack() as stack:
        try:
            io = stack.enter_context(pynwb.NWBHDF5IO(str(path), mode))
            file = io.read()
        except Exception as error:  # pynwb and h5py raise many kinds
            raise _unreadable(path, error) from error
        try:
            yield io, file
        except OSError as error:  # columns are read from the file when they are used
            raise _unreadable(path, error) from error


def _unreadable(path: str | Path, error: Exception) -> InvalidValueError:
    said = " ".join(str(error).split())[:200].rstrip(".")
    return InvalidValueError(
        f"{str(path)!r} cannot be read as NWB: {said}. Expected a whole file of HDF5 that pynwb"
        " wrote. Copy or download it again, and check it: python -m pynwb.validate FILE."
    )


__all__ = ["add_to_nwb", "from_pynapple", "from_spikes", "read_nwb"]
