"""Computations of the published signatures of this package; their provenance is in published.toml.

Preferences, axes and weights are found in one half of the trials and used in the other, and the
halves are swapped.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neurogym_core import NotSupportedError
from neurogym_neural.activity import Activity, over_steps
from neurogym_neural.coding import cross_temporal, tuning
from neurogym_neural.geometry import generalisation, shattering
from neurogym_neural.populations import clusters, targeted, task_variance
from neurogym_neural.signatures import (
    category_index,
    pulse_effect,
    temporal_scaling,
    weights_correlation,
)
from neurogym_neural.verdicts import PULSE_AT, System, signature

PERMUTED = 5
"""Permutations of units within tasks, for the groups that units form without any."""


def answered(activity: Activity) -> Activity:
    """Return the trials with an answer, whose choices have two values.

    Raises:
        NotSupportedError: there are other than two, or one has fewer than 20 trials.
    """
    kept = activity.record["choice"] != "none"
    values, counts = np.unique(activity.record["choice"][kept], return_counts=True)
    if len(values) != 2 or counts.min() < 20:
        raise NotSupportedError(
            f"the answers are {dict(zip(values.tolist(), counts.tolist(), strict=True))};"
            " two with 20 trials each are needed"
        )
    return activity.select(kept)


def signs(values: np.ndarray) -> np.ndarray:
    """Return -1 and 1 for the two values of a column, in the order of their names."""
    return np.where(values == np.unique(values)[-1], 1.0, -1.0)


def over_halves(activity: Activity, compute: Callable[[Activity, Activity], float]) -> float:
    """Return the mean of ``compute(train, test)`` over both orders of two halves."""
    halves = activity.halves()
    return float(np.mean([compute(*halves), compute(*halves[::-1])]))


# ---- accumulation of evidence ----


def _selective(train: Activity, test: Activity) -> np.ndarray:
    """Return the mean z-score (n, T) of the units that part the choices, with their sign."""
    late = train.time >= 400
    right = signs(train.record["choice"]) > 0
    z = train.zscore().rates
    with np.errstate(invalid="ignore"):
        way = np.nanmean(z[right][:, late], axis=(0, 1)) - np.nanmean(
            z[~right][:, late], axis=(0, 1)
        )
    used = np.abs(way) >= np.median(np.abs(way))
    return (test.zscore(of=train).rates * np.sign(way))[:, :, used].mean(axis=2)


def _level(population: np.ndarray, time: np.ndarray, low: float, high: float) -> np.ndarray:
    inside = (time >= low - 1e-9) & (time < high - 1e-9)
    if not inside.any():
        raise NotSupportedError(f"no step lies within {low:g} and {high:g} ms")
    mean: np.ndarray = population[:, inside].mean(axis=1)
    return mean


def _slope(x: np.ndarray, y: np.ndarray) -> float:
    """Return the slope of y on x; NaN if x is constant."""
    good = np.isfinite(y)
    x, y = x[good] - x[good].mean(), y[good]
    return float(x @ y / (x @ x)) if len(x) and x @ x > 0 else np.nan


def _side(activity: Activity) -> np.ndarray:
    """Return the side of the motion, -1 and 1 as the choices.

    Raises:
        NotSupportedError: two thirds of the answers are on the other side, as if labels of
            directions and choices came in another order.
    """
    side, choice = signs(activity.record["direction"]), signs(activity.record["choice"])
    if len(side) and (side == choice).mean() < 1 / 3:
        labels = [sorted(set(activity.record[one].tolist())) for one in ("direction", "choice")]
        raise NotSupportedError(
            f"answers are on the side of the motion in {(side == choice).mean():.0%} of the trials:"
            f" the directions {labels[0]} and the choices {labels[1]} need labels in one order"
        )
    return side


def _window(activity: Activity) -> Activity:
    width = max(40.0, activity.step)
    if width > 100:
        raise NotSupportedError(f"steps last {activity.step:g} ms; 100 or less are needed")
    return answered(activity).align("stimulus", 0, 1000)


@signature("evidence-level")
def evidence_level(system: System) -> dict[str, float]:
    """Return the slope of the level on coherence of correct trials to the right."""

    def one(train: Activity, test: Activity) -> float:
        population, choice = _selective(train, test), signs(test.record["choice"])
        last = _level(population, test.time, 800, 1000)
        excursion = np.nanmean(last[choice > 0]) - np.nanmean(last[choice < 0])
        used = (choice > 0) & (_side(test) > 0) & (test.record["coherence"] > 0)
        level = _level(population, test.time, 280, 280 + max(40, test.step))
        return float(_slope(test.record["coherence"][used] / 10, level[used]) / excursion)

    return {"level per 10 %": over_halves(_window(system.activity), one)}


@signature("variance-grows")
def variance_grows(system: System) -> dict[str, float]:
    """Return the variance at 600 ms divided by that at 300 ms, of each coherence and side."""

    def one(train: Activity, test: Activity) -> float:
        population = _selective(train, test)
        cells = test.record["coherence"] * _side(test)
        spread = []
        for low, high in ((560, 640), (260, 340)):
            level = _level(population, test.time, low, max(high, low + test.step))
            spread.append(np.mean([np.nanvar(level[cells == one]) for one in np.unique(cells)]))
        return float(spread[0] / spread[1])

    return {"ratio": over_halves(_window(system.activity), one)}


@signature("common-level-at-answer")
def common_level(system: System) -> dict[str, float]:
    """Return the slope of the level at the answer, and the largest at permuted answer times."""
    activity = answered(system.activity)
    refuse_steps(activity)
    times, coherence = activity.events["answer"], activity.record["coherence"]
    start = activity.events["stimulus"]
    rng = np.random.default_rng(0)
    permuted = times - start
    cells = coherence * _side(activity)
    for cell in np.unique(cells):
        mine = np.flatnonzero(cells == cell)
        permuted[mine] = permuted[rng.permutation(mine)]
    moved = {**activity.events, "answer": start + permuted}
    found = {}
    for name, events in (
        ("slope at the answer", activity.events),
        ("slope at permuted times", moved),
    ):
        aligned = activity._with(activity.rates, events=events)

        def one(train: Activity, test: Activity) -> float:
            own = train.align("stimulus", 0, 1000)
            late = test.align("answer", 200, 0)
            population, choice = _selective(own, late), signs(test.record["choice"])
            level = _level(population, late.time, -max(80, test.step), 0)
            excursion = np.nanmean(level[choice > 0]) - np.nanmean(level[choice < 0])
            used = (choice > 0) & (_side(test) > 0)
            return float(_slope(test.record["coherence"][used] / 10, level[used]) / excursion)

        found[name] = over_halves(aligned, one)
    return found


def refuse_steps(activity: Activity) -> None:
    """Refuse answers whose times are a step of the task, and not a decision.

    A network that was trained with targets answers at the first step on which it may, whatever the
    evidence is: activity before its answers means nothing.

    Raises:
        NotSupportedError: half of the answers, or more, are within two steps of each other.
    """
    times = activity.record["reaction_time"]
    times = times[np.isfinite(times)]
    spread = np.subtract(*np.quantile(times, (0.75, 0.25))) if len(times) else 0.0
    if spread < 2 * activity.step:
        raise NotSupportedError(
            f"half of the answer times are within {spread:g} ms, so they are a step of the task;"
            " answer with a bound (see `fit_bound`), or train with reward"
        )


@signature("pulse-persists")
def pulse_persists(system: System) -> dict[str, float]:
    """Return the effect of the pulse 600 ms after its onset, divided by its peak.

    Both are means over 80 ms: the largest of single steps grows with the noise of spikes.
    """
    if system.pulsed is None:
        raise NotSupportedError("no pulse was given to it")
    kept = system.activity.record["choice"] != "none"
    answered(system.activity)
    window = ("stimulus", -100, 800)
    plain, pulsed = (one.select(kept).align(*window) for one in (system.activity, system.pulsed))
    effect = pulse_effect(plain, pulsed, "choice")
    since = plain.time - PULSE_AT
    width = max(round(80 / plain.step), 1)
    running = np.convolve(effect[since >= -1e-9], np.ones(width) / width, "valid")
    late = effect[(since >= 600 - 1e-9) & (since < 680 - 1e-9)].mean()
    return {"effect at 600 ms": float(late / running.max())}


# ---- contexts ----


def _mante(activity: Activity) -> tuple[Activity, np.ndarray, np.ndarray]:
    """Return activity late in the stimulus, with relevant and irrelevant evidence, (n,)."""
    activity = answered(activity)
    record = activity.record
    if len(np.unique(record["context"])) != 2:
        raise NotSupportedError("the trials have one context; two are needed (context=cued)")
    motion, colour = (
        signs(record[name]) * record[f"{name}_coherence"] / record[f"{name}_coherence"].max()
        for name in ("motion", "colour")
    )
    of_motion = record["context"] == "motion"
    late = activity.align("stimulus", -400, 750)
    return (
        late,
        np.where(of_motion, motion, colour),
        np.where(of_motion, colour, motion),
    )


@signature("context-selection")
def context_selection(system: System) -> dict[str, float]:
    """Return how little irrelevant evidence moves the choice, and how well it is decoded."""
    activity, relevant, irrelevant = _mante(system.activity)
    of_motion = activity.record["context"] == "motion"
    rates = over_steps(activity, "context-selection")
    choice = signs(activity.record["choice"])
    # Evidence is no regressor of the axis: beside it, a system without a signal of the choice would
    # have an axis of noise, along which any ratio is possible.
    variables = np.column_stack([choice, np.where(of_motion, 1.0, -1.0)])
    order = np.random.default_rng(0).permutation(len(rates))
    selection, kept = [], []
    for train, test in ((order[::2], order[1::2]), (order[1::2], order[::2])):
        sd = rates[train].std(axis=0)
        z = (rates - rates[train].mean(axis=0)) / np.where(sd > 1e-6 * sd.max(), sd, np.inf)
        along = z[test] @ targeted(z[train], variables[train]).axes[0]
        x = np.column_stack([np.ones(len(test)), relevant[test], irrelevant[test]])
        moved = np.abs(np.linalg.lstsq(x, along, rcond=None)[0][1:])
        selection.append((moved[0] - moved[1]) / moved.sum() if moved.sum() > 0 else np.nan)
        for context in (True, False):
            one, other = (part[of_motion[part] == context] for part in (train, test))
            kept.append(_r2(z[one], irrelevant[one], z[other], irrelevant[other]))
    return {"selection": float(np.mean(selection)), "irrelevant evidence": float(np.mean(kept))}


def _r2(x: np.ndarray, y: np.ndarray, x_test: np.ndarray, y_test: np.ndarray) -> float:
    """Return the squared correlation of a ridge regression with other trials; 0 if negative."""
    centre, mean = x.mean(axis=0), y.mean()
    gram = (x - centre).T @ (x - centre)
    penalty = 1e-2 * np.trace(gram) / len(gram) * np.eye(len(gram))
    weights = np.linalg.solve(
        gram + penalty + 1e-12 * np.eye(len(gram)), (x - centre).T @ (y - mean)
    )
    guess = (x_test - centre) @ weights
    spread = guess.std() * y_test.std()
    if not spread > 0:
        return 0.0
    found = ((guess - guess.mean()) * (y_test - y_test.mean())).mean() / spread
    return float(max(found, 0.0) ** 2)


@signature("abstract-choice")
def abstract_choice(system: System) -> dict[str, float]:
    """Return the generalisation of the choice over contexts, and the shattering dimensionality."""
    activity, relevant, irrelevant = _mante(system.activity)
    if "delay" in activity.events:
        activity = activity._with(answered(system.activity).during("delay").rates)
    record = {
        "choice": activity.record["choice"],
        "context": activity.record["context"],
        "relevant": relevant > 0,
        "irrelevant": irrelevant > 0,
    }
    late = Activity(activity.rates, record, step=activity.step)
    found = generalisation(late, "choice", "context", repeats=49)
    return {
        "generalisation": found.accuracy - float(found.null.mean()),
        "shattering": shattering(late, ("context", "relevant", "irrelevant")),
    }


# ---- memory of a magnitude ----


@signature("memory-tuning")
def memory_tuning(system: System) -> dict[str, float]:
    """Return the share of units that follow the first magnitude in the delay."""
    found = tuning(system.activity.during("delay"), "first", permutations=499)
    return {"share of units": float((found.q < 0.05).mean())}


@signature("comparison-switch")
def comparison_switch(system: System) -> dict[str, float]:
    """Return the correlation over units of the weights of both magnitudes."""
    late = system.activity.during("stimulus2")
    return {"correlation": weights_correlation(late, "first", "second")}


@signature("memory-stability")
def memory_stability(system: System) -> dict[str, float]:
    """Return cross-temporal decoding between different times, relative to equal times."""
    first = system.activity.record["first"]
    high = {"high": first > np.median(first)}
    delay = system.activity.during("delay")
    # A drift that is the same in all trials is no change of the code.
    delay = Activity(delay.rates - delay.rates.mean(axis=0), high, step=delay.step)
    width = max(round(delay.rates.shape[1] / 8), 1)
    found = cross_temporal(delay.bin(width * delay.step), "high") - 0.5
    equal = np.eye(len(found), dtype=bool)
    if not found[equal].mean() > 0.05:
        raise NotSupportedError("the first magnitude cannot be decoded in the delay")
    return {"stability": float(found[~equal].mean() / found[equal].mean())}


# ---- categories, intervals, values ----


@signature("category-index")
def category(system: System) -> dict[str, float]:
    """Return the mean category index of the units in the delay."""
    sample = system.activity.record["sample"]
    number = int(max(sample.max(), system.activity.record["test"].max())) + 1
    record = {"angle": sample * (2 * np.pi / number), "category": sample < number / 2}
    delay = system.activity.during("delay")
    found = category_index(Activity(delay.rates, record, step=delay.step), "angle", "category")
    return {"index": float(found.mean())}


@signature("temporal-scaling")
def scaling(system: System) -> dict[str, float]:
    """Return the scaling index of all units, and of those that turn."""
    activity = system.activity
    lasts = activity.events.get("answer", np.full(len(activity), np.nan))
    lasts = lasts - activity.events["production"]
    kept = np.isfinite(lasts) & (lasts >= 3 * activity.step)
    if "wanted" in activity.record and kept.mean() < 0.5:  # it has produced no intervals
        lasts = activity.record["wanted"]
        kept = lasts >= 3 * activity.step
    if kept.sum() < 100:
        raise NotSupportedError(f"{int(kept.sum())} trials have an interval; 100 are needed")
    produced = activity.align("production", 0, float(lasts[kept].max()) + activity.step)
    shown = Activity(produced.rates[kept], {"lasts": lasts[kept]}, step=activity.step)
    found = temporal_scaling(shown, "lasts")
    # In counts, the noise of spikes turns: a single ramp would have units that do.
    turning = np.nan if activity.kind == "count" else found.turning
    return {"index": found.index, "index of units that turn": turning}


@signature("prior-curvature")
def prior_curvature(system: System) -> dict[str, float]:
    """Return the distance of middle states from the chord, relative to its length."""
    at_set = system.activity.align("production", 0, system.activity.step).rates[:, 0]
    record = system.activity.record
    prior = record["context"] if "context" in record else np.zeros(len(at_set))
    found = []
    for one in np.unique(prior):
        mine = (prior == one) & np.isfinite(at_set).all(axis=1)
        values = np.unique(record["interval"][mine])
        means = [at_set[mine & (record["interval"] == value)].mean(axis=0) for value in values]
        if len(means) < 3:
            raise NotSupportedError("a prior has fewer than three intervals")
        chord = means[-1] - means[0]
        length = np.linalg.norm(chord)
        unit = chord / length
        away = [
            np.linalg.norm(mean - means[0] - ((mean - means[0]) @ unit) * unit)
            for mean in means[1:-1]
        ]
        found.append(max(away) / length)
    return {"curvature": float(np.mean(found))}


@signature("chosen-value")
def chosen_value(system: System) -> dict[str, float]:
    """Return the share of units whose counts are best explained by the chosen value."""
    activity = system.activity
    record = activity.record
    chosen = record["choice"]
    names = [name for name in np.unique(chosen) if name != "none"]
    if len(names) != 2:
        raise NotSupportedError(f"the answers are {names}; two are needed")
    kept = chosen != "none"
    worth = float(activity.facts.get("relative_value", 2.2))
    of_b, of_a = record["offer"][:, 0] * 1.0, record["offer"][:, 1] * worth
    side = np.where(chosen == activity.facts.get("first choice", "left"), 0, 1)
    took_a = side == record["a_choice"]
    variables = np.column_stack([of_a, of_b, np.where(took_a, of_a, of_b), took_a * 1.0])[kept]
    rates = over_steps(activity.select(kept).during("offer"), "chosen-value")
    z = rates - rates.mean(axis=0)
    x = variables - variables.mean(axis=0)
    scale = np.linalg.norm(x, axis=0)[:, None] * np.linalg.norm(z, axis=0)
    r2 = ((x.T @ z) / np.where(scale > 0, scale, np.inf)) ** 2
    follows = r2.max(axis=0) > 0.1
    if follows.sum() < 5:
        return {"share of units": 0.0}
    return {"share of units": float((r2.argmax(axis=0) == 2)[follows].mean())}


@signature("task-clusters")
def task_clusters(system: System) -> dict[str, float]:
    """Return the silhouette of groups of units by task variance, on held-out trials.

    Units that serve tasks independently of each other form groups, too, since there are few tasks.
    The second number is therefore the first minus that of permuted units.
    """
    rng = np.random.default_rng(0)
    found = _silhouette(system.activity)
    permuted = [_silhouette(_permuted(system.activity, rng)) for _ in range(PERMUTED)]
    return {"silhouette": found, "beyond permuted units": found - float(np.mean(permuted))}


def _silhouette(activity: Activity) -> float:
    """Return the best silhouette in held-out trials, of two to eight groups of units."""
    one, other = (task_variance(half) for half in activity.halves())
    return max(clusters(one, other, k)[1] for k in range(2, 9))


def _permuted(activity: Activity, rng: np.random.Generator) -> Activity:
    """Permute the units within the trials of each task."""
    rates, tasks = activity.rates.copy(), activity.record["task"]
    for task in np.unique(tasks):
        mine = tasks == task
        rates[mine] = rates[mine][..., rng.permutation(rates.shape[2])]
    return activity._with(rates)
