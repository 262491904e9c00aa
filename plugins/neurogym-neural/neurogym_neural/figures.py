"""Figures of a network: trajectories, units, decoding, fixed points. Needs Matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from neurogym_core import InvalidValueError, NeurogymError
from neurogym_neural.activity import Activity, Means, has_value, nanmean
from neurogym_neural.coding import cross_temporal
from neurogym_neural.dynamics import fixed_points

UNITS = 6
SEARCHES = 12
DASHES = ("-", "--", ":", "-.")
INPUTS = 4
"""Conditions for whose mean inputs fixed points are searched, at most."""
MOST = 14
"""Conditions that a legend lists all."""
CONDITIONS = ("first", "sample", "interval", "context", "choice")
"""Columns by which trials are averaged: the first two of them that the record has, or of others."""


SCORES = {
    "aborts", "answer_time", "env", "performance", "reaction_time", "rest_correct", "reward",
    "steps", "trial_start", "trial_stop",
}  # fmt: skip
"""Columns of trial records that are no conditions, whatever their number of values."""


def shown(activity: Activity) -> tuple[Activity, tuple[str, ...]]:
    """Return answered trials in the window that all of them have, and the columns of conditions.

    Trials that last less than half as long after the onset as the median are left out.

    The window begins with the second period, the stimulus in most tasks; without periods, with the
    first event. Activity around another event than the start of the trial is shown as it is.

    Raises:
        InvalidValueError: as `conditions_of`.
    """
    record, varied = activity.record, conditions_of(activity)
    names = tuple([one for one in CONDITIONS if one in varied] or varied)[:2]
    if "choice" in names:
        activity = activity.select(record["choice"] != "none")
    if activity.event != "trial":
        return activity, names
    periods = [name for name in activity.events if f"{name}.end" in activity.events]
    events = periods or [name for name in activity.events if name != "trial"] or ["trial"]
    onset = "stimulus" if "stimulus" in periods else events[1 if len(periods) > 1 else 0]
    known = np.isfinite(activity.events[onset])
    activity = activity.select(known) if known.any() and not known.all() else activity
    steps = np.isfinite(activity.rates).any(axis=2).sum(axis=1) * activity.step
    if known.any():
        lasts = steps - activity.events[onset]
        usual = np.median(lasts)
        long = lasts >= min(usual / 2, usual)  # negative if most onsets are after their trial
        activity, steps = activity.select(long), steps[long]
    since = activity.events[onset]
    after = float((steps - since).min()) if known.any() else np.nan
    if not after >= activity.step:
        raise InvalidValueError(
            f"{int((~known).sum())} of {len(known)} trials have no {onset!r}, and the shortest of"
            f" the others has {after:g} ms after it. Expected times of {onset!r} within the trials."
            " Correct them, or leave out trials."
        )
    return activity.align(onset, float(np.minimum(since, 200).min()), after), names


def conditions_of(activity: Activity) -> list[str]:
    """Return the columns of the record with 2 to 12 values, without scores and times.

    Raises:
        InvalidValueError: there is none.
    """
    record = activity.record
    found = [
        name
        for name, one in record.items()
        if one.ndim == 1
        and name not in SCORES
        and "." not in name
        and 1 < len(np.unique(one[has_value(one)])) <= 12
    ]
    if not found:
        raise InvalidValueError(
            f"The trials have the columns {', '.join(record)}. Expected a condition with 2 to 12"
            " values. Add one to the record."
        )
    return found


def means_of(activity: Activity, names: tuple[str, ...]) -> Means:
    """Return means of the combinations that occur; of the first column if some do not."""
    valued = np.all([has_value(activity.record[name]) for name in names], axis=0)
    activity = activity if valued.all() or not valued.any() else activity.select(valued)
    for by in (names, names[:1]):
        try:
            return activity.mean(by)
        except NeurogymError:
            continue  # a combination has no trial
    return Activity(activity.rates, {"all": np.zeros(len(activity))}, step=activity.step).mean(
        "all"
    )


def components(means: Means) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the first three components (units, 3), the centre, and their shares of variance.

    Raises:
        InvalidValueError: no unit varies, as silent ones.
    """
    flat = means.mean.reshape(-1, means.mean.shape[2])
    flat = flat[np.isfinite(flat).all(axis=1)].astype(np.float64)
    centre = flat.mean(axis=0)
    _, size, ways = np.linalg.svd(flat - centre, full_matrices=False)
    if not size.max(initial=0) > 0:
        raise InvalidValueError(
            f"The means of {len(means.mean)} conditions have {flat.shape[1]} units, none of which"
            " varies. Expected one that does. Leave out silent units, and check the times of"
            " spikes and trials."
        )
    return ways[:3].T, centre, (size**2 / (size**2).sum())[:3]


def nanvar(values: np.ndarray) -> np.ndarray:
    """Return the variance over the first axis of the values that are not NaN, silently."""
    return nanmean((values - nanmean(values)) ** 2)


def label(means: Means, k: int) -> str:
    """Return the name of a condition."""
    return ", ".join(f"{name} {values[k]}" for name, values in means.conditions.items())


def lines(means: Means) -> list[dict[str, Any]]:
    """Return a colour for each value of the first column, and a dash for each of the second."""
    from matplotlib import colormaps

    columns = [np.unique(one, return_inverse=True) for one in means.conditions.values()]
    dashed = len(columns) > 1 and len(columns[1][0]) <= len(DASHES)
    which = columns[0][1] if dashed else np.arange(len(means.mean))
    shades = colormaps["viridis"](np.linspace(0, 0.92, int(which.max()) + 1))
    dashes = columns[1][1] if dashed else np.zeros(len(which), int)
    return [
        {"color": shades[k], "linestyle": DASHES[dash], "linewidth": 1.2}
        for k, dash in zip(which, dashes, strict=True)
    ]


def called(activity: Activity, unit: int) -> str:
    """Return the name of a unit: its id, and its area if it has one."""
    area = f"{activity.units['area'][unit]} " if "area" in activity.units else ""
    return f"{area}unit {activity.units['id'][unit] if 'id' in activity.units else unit}"


def trajectories(activity: Activity) -> Figure:
    """Return condition means in their first principal components; dots are the event."""
    window, names = shown(activity)
    means = means_of(window, names)
    ways, centre, shares = components(means)
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    figure.suptitle(f"condition means; dots: onset of {window.event}", fontsize=8)
    axes = figure.subplots(1, 2)
    zero = int(np.argmin(np.abs(means.time)))
    for k, line in enumerate(lines(means)):
        path = (means.mean[k] - centre) @ ways
        for ax, (i, j) in zip(axes, ((0, 1), (0, 2)), strict=True):
            y = path[:, min(j, path.shape[1] - 1)]
            ax.plot(path[:, i], y, label=label(means, k), **line)
            ax.plot(path[zero, i], y[zero], "o", color=line["color"], ms=4)
    for ax, j in zip(axes, (1, 2), strict=True):
        ax.set_xlabel(f"PC 1 ({shares[0]:.0%} of variance)", fontsize=8)
        ax.set_ylabel(f"PC {j + 1} ({shares[min(j, len(shares) - 1)]:.0%})", fontsize=8)
        ax.tick_params(labelsize=7)
    handles, said = _legend(axes[1])
    axes[1].legend(
        handles, said, fontsize=6, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5)
    )
    return figure


def units(activity: Activity) -> Figure:
    """Return mean activity by condition of the units that vary most over conditions.

    Units without any activity, such as silent ones, are left out.

    Raises:
        InvalidValueError: all units are.
    """
    window, names = shown(activity)
    means = means_of(window, names)
    active = np.flatnonzero(np.nan_to_num(means.mean).any(axis=(0, 1)))
    if not len(active):
        raise InvalidValueError(
            f"The {means.mean.shape[2]} units have no activity in {len(window)} trials. Expected a"
            " unit that is not silent. Check the times of spikes and trials."
        )
    spread = np.nan_to_num(nanvar(means.mean[..., active])).mean(axis=0)
    chosen = active[np.argsort(-spread, kind="stable")[:UNITS]]
    rows = 1 if len(chosen) <= UNITS // 2 else 2
    columns = -(-len(chosen) // rows)
    size = (1.9 * columns + 1.3, max(1.8 * rows + 0.4, 2.8))
    figure = Figure(figsize=size, layout="constrained")
    panels = list(figure.subplots(rows, columns, sharex=True, squeeze=False).flat)
    for ax in panels[len(chosen) :]:
        ax.remove()
    for ax in panels[len(chosen) - columns : len(chosen)]:  # the lowest ones
        ax.tick_params(labelbottom=True)
    for ax, unit in zip(panels, chosen, strict=False):
        for k, line in enumerate(lines(means)):
            mean, sem = means.mean[k, :, unit], means.sem[k, :, unit]
            ax.plot(means.time, mean, label=label(means, k), **line)
            ax.fill_between(
                means.time, mean - sem, mean + sem, color=line["color"], alpha=0.25, lw=0
            )
        ax.axvline(0, color="0.6", lw=0.8)
        ax.set_title(called(activity, unit), fontsize=8)
        ax.tick_params(labelsize=7)
    figure.supxlabel(f"ms from {window.event}", fontsize=9)
    counted = f"spikes in {activity.step:g} ms" if activity.kind == "count" else "activity (a.u.)"
    figure.supylabel(f"{counted}; mean, SEM over trials", fontsize=9)
    handles, said = _legend(figure.axes[0])
    figure.legend(handles, said, fontsize=6, frameon=False, loc="outside right center")
    return figure


def _legend(ax: Any) -> tuple[list[Any], list[str]]:
    """Return handles and texts of all conditions; of seven from first to last if they are many."""
    handles, said = ax.get_legend_handles_labels()
    if len(handles) <= MOST:
        return handles, said
    kept = np.unique(np.linspace(0, len(handles) - 1, 7).round().astype(int))
    return [handles[k] for k in kept], [said[k] for k in kept]


def decoding(systems: dict[str, Activity]) -> Figure:
    """Return cross-temporal decoding of the first condition, for several systems."""
    figure = Figure(figsize=(2.6 * len(systems) + 0.8, 2.8), layout="constrained")
    image: Any = None
    for ax, (name, activity) in zip(
        figure.subplots(1, len(systems), squeeze=False)[0], systems.items(), strict=True
    ):
        window, names = shown(activity)
        by = next((one for one in names if one != "choice"), "choice")
        window = window.select(has_value(window.record[by]))
        values = window.record[by]
        if values.dtype.kind in "if":
            values = values > np.median(values)
        width = max(window.rates.shape[1] // 12, 1)
        rates = window.rates - window.rates.mean(axis=0)
        cut = Activity(rates, {by: values}, step=window.step, start=window.start)
        cut = cut.bin(width * cut.step)
        found = cross_temporal(cut, by)
        extent = (cut.time[0], cut.time[-1] + cut.step) * 2
        image = ax.imshow(found, origin="lower", extent=extent, vmin=0, vmax=1, cmap="RdBu_r")
        ax.set_title(f"{name}: {by}", fontsize=8)
        ax.set_xlabel(f"tested, ms from {window.event}", fontsize=8)
        ax.set_ylabel(f"fitted, ms from {window.event}", fontsize=8)
        ax.tick_params(labelsize=7)
    bar = figure.colorbar(image, ax=figure.axes, shrink=0.8)
    bar.set_label("balanced accuracy (chance 0.5)", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    return figure


def points(network: Any, activity: Activity, inputs: Activity) -> tuple[Figure, list[dict]]:
    """Return fixed points in state space for the mean input of each value of the first condition.

    Searches begin at states of trials. The state of the network has to be its activity.
    """
    from neurogym_neural.networks import step_of

    window, names = shown(activity)
    means = means_of(window, names)
    ways, centre, shares = components(means)
    given, _ = shown(inputs)
    by = next((one for one in names if one in ("context", "choice")), names[0])
    levels = np.unique(window.record[by])
    if len(levels) > INPUTS:  # from the first to the last
        levels = levels[np.linspace(0, len(levels) - 1, INPUTS).round().astype(int)]
    figure = Figure(figsize=(3.4 * len(levels), 3.2), layout="constrained")
    rows = []
    rng = np.random.default_rng(0)
    during = window.time >= 0
    panels = figure.subplots(1, len(levels), squeeze=False, sharex=True, sharey=True)[0]
    for ax, level in zip(panels, levels, strict=True):
        mine = window.record[by] == level
        mean_input = np.nanmean(given.rates[mine][:, during], axis=(0, 1))
        states = window.rates[mine][:, during].reshape(-1, window.rates.shape[2])
        states = states[np.isfinite(states).all(axis=1)]
        starts = states[rng.permutation(len(states))[:SEARCHES]]
        found = fixed_points(
            step_of(network, mean_input), starts, dt=window.step, iterations=40, tolerance=1e-6
        )
        for k in range(len(means.mean)):
            path = (means.mean[k] - centre) @ ways
            parted = by in means.conditions
            own = parted and means.conditions[by][k] == level
            others = "means of others" if parted else "condition means"
            ax.plot(path[:, 0], path[:, 1], color="0.35" if own else "0.8", lw=0.8,
                    label=f"means of this {by}" if own else others)  # fmt: skip
        where = (found.points - centre) @ ways
        for stable, marker in ((True, "o"), (False, "x")):
            one = where[found.stable == stable]
            if not len(one):
                continue
            ax.plot(one[:, 0], one[:, 1], marker, color="C3", ms=6, ls="none",
                    label="stable" if stable else "unstable")  # fmt: skip
        ax.set_title(f"{by} {level}; fixed points: {len(found.points)}", fontsize=8)
        ax.set_xlabel(f"PC 1 ({shares[0]:.0%} of variance)", fontsize=8)
        ax.tick_params(labelsize=7)
        rows += [
            {"input": f"{by} {level}", "searches that ended there": int(n), "stable": bool(s),
             "slowest mode, ms": float(tau), "searches": found.searches}
            for n, s, tau in zip(found.starts, found.stable, found.time_constants, strict=True)
        ]  # fmt: skip
    panels[0].set_ylabel(f"PC 2 ({shares[min(1, len(shares) - 1)]:.0%})", fontsize=8)
    figure.legend(*_once(panels), fontsize=7, frameon=False, loc="outside right center")
    return figure, rows


def _once(panels: Any) -> tuple[list[Any], list[str]]:
    """Return handles and texts of several axes, each text once."""
    found: dict[str, Any] = {}
    for ax in panels:
        for handle, text in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(text, handle)
    return list(found.values()), list(found)
