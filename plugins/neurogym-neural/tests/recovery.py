"""Simulated recordings with known answers, and the numbers of the analyses.

``python tests/recovery.py`` prints the table of the README. All recordings are counts of
`Activity.observed`: 10 spikes per second, Poisson.
"""

from __future__ import annotations

from collections.abc import Iterator

import neurogym_neural as neural
import numpy as np
from neurogym_neural import Activity

HZ, STEP = 10.0, 50.0


def recorded(rates: np.ndarray, seed: int, **record) -> Activity:
    """Return counts of units with these relative rates, (n, T, units), 1 on average."""
    activity = Activity(np.maximum(rates, 0), record, step=STEP)
    return activity.observed(HZ, seed=seed)


def half_width(values: np.ndarray) -> float:
    """Return half the 95 % interval of Student's t of the mean of a few values."""
    one = Activity(np.reshape(values, (-1, 1, 1)), {"a": np.zeros(len(values))}, step=1).mean("a")
    return float(one.interval()[1].item() - one.mean.item())


# ---- intervals ----


def over_trials(repeats: int = 300) -> dict[str, float]:
    """Share of intervals over trials that contain the mean rate of a unit; 20 or 60 trials."""
    found = {}
    for trials in (20, 60):
        inside = []
        for seed in range(repeats):
            rng = np.random.default_rng(seed)
            tuned = np.linspace(0.5, 1.5, 20)
            gain = rng.gamma(4, 0.25, (trials, 1, 1))  # trials differ, beyond Poisson
            means = recorded(gain * tuned, seed, a=np.zeros(trials)).bin(STEP).mean("a")
            # observed() sets the mean rate of the recording; the truth is relative to it.
            truth = tuned * HZ * STEP / 1000 * float(np.mean(gain) ** -1)
            low, high = means.interval()
            inside.append(((low <= truth) & (truth <= high)).mean())
        found[f"{trials} trials"] = float(np.mean(inside))
    return found


def animals(seed: int, number: int, trials: int = 40, units: int = 15) -> Activity:
    """Several animals, whose units follow the side to different degrees, 0.3 on average."""
    rng = np.random.default_rng(seed)
    own = 0.3 + 0.2 * rng.standard_normal((number, 1, units))
    side = np.tile([-1, 1], number * trials // 2)
    animal = np.repeat(np.arange(number), trials)
    rates = np.repeat(1 + side[:, None, None] * own[animal], 10, axis=1)
    return recorded(rates, seed, side=side, animal=animal).bin(10 * STEP)


def over_animals(repeats: int = 300) -> dict[str, float]:
    """Share of intervals that contain the mean over animals: over 4 or 8 animals, or their trials.

    The truth is the mean of counts of one side in new animals: 1.3 times the rate.
    """
    truth = 1.3 * HZ * 10 * STEP / 1000
    found = {}
    for number in (4, 8):
        for over in ("animal", "trial"):
            inside = []
            for seed in range(repeats):
                low, high = animals(seed, number).mean("side", over=over).interval()
                inside.append(((low[1] <= truth) & (truth <= high[1])).mean())
            found[f"{number} animals, over {over}s"] = float(np.mean(inside))
    return found


def decoded_over_animals(repeats: int = 200) -> float:
    """Share of intervals over six animals that contain the accuracy of a larger population."""

    def accuracy(seed: int) -> float:
        rng = np.random.default_rng(seed)
        side = np.tile([-1, 1], 30)
        rates = 1 + 0.25 * side[:, None, None] * rng.standard_normal((1, 1, 8))
        return neural.decode(
            recorded(np.repeat(rates, 10, axis=1), seed, side=side), "side", folds=3
        )

    values = np.array([accuracy(seed) for seed in range(6 * repeats)])
    truth = values.mean()  # of 1,200 animals
    groups = values.reshape(repeats, 6)
    return float(np.mean([abs(one.mean() - truth) <= half_width(one) for one in groups]))


# ---- false alarms, 5 % as stated ----


def false_alarms(repeats: int = 200) -> dict[str, float]:
    """Share of p-values of at most 0.05 where there is no effect."""
    tuned, general, turning = [], [], []
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        n = 80
        rates = np.ones((n, 4, 20)) * rng.gamma(4, 0.25, (n, 1, 1))
        side = rng.permutation(np.arange(n) % 2)
        tuned.append(
            neural.tuning(recorded(rates, seed, side=side), "side", permutations=199).p <= 0.05
        )
        places = rng.gamma(2, 0.5, (4, 1, 20))  # conditions at random places
        bits = rng.permutation(np.arange(n) % 4)
        activity = recorded(np.repeat(places[bits], 4, axis=1), seed, a=bits // 2, b=bits % 2)
        general.append(neural.generalisation(activity, "a", "b", repeats=39).p <= 0.05)
        time, centre = np.arange(20), rng.uniform(0, 20, (8, 1, 20))  # unrelated bumps
        bumps = 0.2 + np.exp(-0.5 * ((time[None, :, None] - centre) / 3) ** 2)
        cell = np.repeat(np.arange(8), 20)
        means = recorded(bumps[cell], seed, c=cell).smooth(2 * STEP).mean("c")
        turning.append(neural.rotations(means, permutations=39).p <= 0.05)
    return {
        "tuning": float(np.mean(tuned)),
        "generalisation": float(np.mean(general)),
        "rotations": float(np.mean(turning)),
    }


# ---- recovery of known answers ----


def distances(repeats: int = 200) -> tuple[float, float]:
    """Return the mean distance of two conditions, relative to the truth, and its standard error."""
    found = []
    for seed in range(repeats):
        rates = np.ones((40, 10, 20))
        rates[::2, :, :10] += 0.3
        rates[1::2, :, :10] -= 0.3
        found.append(neural.dissimilarity(recorded(rates, seed, c=np.arange(40) % 2), "c").item())
    truth = (0.6 * HZ * STEP / 1000) ** 2 / 2  # per unit; half of the units differ
    return float(np.mean(found) / truth), float(np.std(found) / np.sqrt(repeats) / truth)


def recovered(seed: int = 0) -> Iterator[tuple[str, str, float, float, float]]:
    """Yield name, quantity, its true value, that of the recording, and of its cheat or absence."""
    rng = np.random.default_rng(seed)
    n, units = 400, 60
    side = np.arange(n) % 2
    x, y = rng.uniform(-1, 1, (2, n))
    w = rng.standard_normal((4, units))
    flat = np.ones((n, 8, units))

    def made(signal: np.ndarray, **record) -> Activity:
        return recorded(flat + signal, seed, **record)

    # axes of variables
    a = 0.5 * w[:2] / np.abs(w[:2]).max()
    signal = (x[:, None] * a[0] + y[:, None] * a[1])[:, None]
    rates = made(signal, x=x).zscore().rates.mean(axis=1)
    axes = neural.targeted(rates, np.column_stack([x, y])).weights
    cosine = [
        float(abs(u @ v) / np.linalg.norm(u) / np.linalg.norm(v))
        for u, v in zip(axes, a, strict=True)
    ]
    none = neural.targeted(rates, rng.standard_normal((n, 1))).weights[0]
    yield ("targeted", "cosine with the axis", 1.0, min(cosine),
           float(abs(none @ a[0]) / np.linalg.norm(none) / np.linalg.norm(a[0])))  # fmt: skip

    # demixed parts
    time = np.linspace(-1, 1, 8)
    part = 0.3 * (2 * side - 1)[:, None, None] * w[0] + 0.3 * time[:, None] * w[1]
    found = neural.demixed(
        made(part, side=side, other=np.arange(n) // 2 % 2).mean(["side", "other"])
    )
    truth = (w[0] ** 2).sum() / ((w[0] ** 2).sum() + (time**2).mean() * (w[1] ** 2).sum())
    yield "demixed", "share of the side", float(truth), found["side"].share, found["other"].share

    # decoding over time: a code that stays, and one that moves
    still = 0.3 * (2 * side - 1)[:, None, None] * w[0]
    moving = 0.3 * (2 * side - 1)[:, None, None] * rng.standard_normal((8, units))
    ratios = []
    for one in (still, moving):
        accuracy = neural.cross_temporal(made(one, side=side), "side") - 0.5
        same = np.eye(8, dtype=bool)
        ratios.append(float(accuracy[~same].mean() / accuracy[same].mean()))
    yield "cross_temporal", "other times / same time", 1.0, *ratios

    # dimensions of 16 conditions, and those of single trials, in which noise counts
    places = np.linalg.qr(rng.standard_normal((16, 4)))[0] @ np.linalg.qr(w.T)[0].T * 3
    cell = np.arange(n) % 16
    rates = np.maximum(flat + places[cell][:, None], 0)
    activity = recorded(rates, seed, c=cell).bin(8 * STEP)
    yield ("participation_ratio", "dimensions",
           neural.participation_ratio(Activity(rates, {"c": cell}, step=STEP)),
           neural.participation_ratio(activity, "c"),
           neural.participation_ratio(activity))  # fmt: skip

    # dichotomies of eight conditions: mixed units, and a copy of the labels
    bits = rng.integers(0, 2, (n, 3)) * 2 - 1
    record = {name: bits[:, k] for k, name in enumerate("abc")}
    mixed = np.maximum(bits @ w[:3] + w[3], 0)
    copy = 1 + 0.9 * bits[:, np.arange(units) % 3]
    values = [
        neural.shattering(recorded(np.repeat(one[:, None], 8, axis=1), seed, **record), "abc")
        for one in (mixed, copy)
    ]
    yield "shattering", "accuracy of all dichotomies", 1.0, *values

    # weights of two magnitudes: a comparison, and a sum
    b = 0.25 * w[0]
    values = [
        neural.weights_correlation(
            made((x[:, None] * b + sign * y[:, None] * b)[:, None], x=x, y=y), "x", "y"
        )
        for sign in (-1, 1)
    ]
    yield "weights_correlation", "correlation of weights", -1.0, *values

    # categories: sides of a boundary, and directions alone
    angle = np.arange(n) % 12 * np.pi / 6 + np.pi / 12
    above = np.sin(angle) > 0
    preferred = rng.uniform(0, 2 * np.pi, units)
    values = [
        float(
            neural.category_index(
                made(one[:, None], angle=angle, above=above), "angle", "above"
            ).mean()
        )
        for one in (
            0.5 * (2 * above - 1)[:, None] * np.sign(w[0]),
            0.5 * np.cos(angle[:, None] - preferred),
        )
    ]
    yield "category_index", "mean index", 1.0, *values

    # intervals: bumps at fractions of the interval, and at times
    lasts = rng.choice([500.0, 750.0, 1000.0, 1250.0], n)
    passed = np.arange(26) * STEP
    values = []
    for fraction in (passed / lasts[:, None], np.tile(passed / 1250, (n, 1))):
        bumps = 0.3 + np.exp(-0.5 * ((fraction[..., None] - np.linspace(0, 1, units)) / 0.15) ** 2)
        values.append(
            neural.temporal_scaling(recorded(bumps, seed, lasts=lasts), "lasts", groups=4).index
        )
    yield "temporal_scaling", "index", 1.0, *values

    # a pulse that lasts, and one that decays within 100 ms
    side_axis = 0.2 * np.sign(w[0])
    values = []
    for course in (np.ones(8), np.exp(-np.arange(8) * STEP / 100)):
        plain = (2 * side - 1)[:, None, None] * side_axis + flat
        rates = np.concatenate([plain, plain + course[:, None] * side_axis])
        both = recorded(rates, seed, side=np.tile(side, 2))
        effect = neural.pulse_effect(
            both.select(np.arange(n)), both.select(np.arange(n, 2 * n)), "side"
        )
        values.append(float(effect[-1]))
    yield "pulse_effect", "last step / peak", 1.0, *values

    # groups of units: each serves a task, or all serve all
    task = np.repeat(np.arange(4), n // 4)
    serves = (np.arange(units) % 4 == np.arange(4)[:, None]) * 1.0
    values = []
    for gains in (serves, np.full((4, units), 0.5)):
        drive = 1 + 0.9 * gains[task][:, None] * rng.choice([-1, 1], (n, 1, units))
        halves = recorded(np.repeat(drive, 8, axis=1), seed, task=task).bin(8 * STEP).halves()
        values.append(neural.clusters(*(neural.task_variance(half) for half in halves), 4)[1])
    yield "clusters", "held-out silhouette", 1.0, *values

    # a second recording of the same units, and one of others
    common = 0.4 * rng.standard_normal((n, 1, 4)) @ w
    other = 0.4 * rng.standard_normal((n, 1, 4)) @ w
    first, again, stranger = (
        recorded(np.repeat(1 + one, 8, axis=1), seed + k, a=side).bin(8 * STEP)
        for k, one in enumerate((common, common, other))
    )
    yield (
        "similarity (cka)",
        "of equal rates",
        1.0,
        neural.similarity(first, again),
        neural.similarity(first, stranger),
    )
    yield ("similarity (procrustes)", "of equal rates", 1.0,
           neural.similarity(first, again, "procrustes"),
           neural.similarity(first, stranger, "procrustes"))  # fmt: skip

    # equal representations in three animals
    places = 0.4 * rng.standard_normal((6, units))
    cell = np.arange(n) % 6

    def seen(what: np.ndarray, k: int) -> np.ndarray:
        turn = np.linalg.qr(np.random.default_rng(k).standard_normal((units, units)))[0]
        return neural.dissimilarity(
            recorded(np.repeat(1 + (what @ turn)[cell][:, None], 8, axis=1), k, c=cell), "c"
        )

    subjects = [seen(places, 10 + k) for k in range(3)]
    strangers = [
        neural.representation(
            seen(0.4 * rng.standard_normal((6, units)), 20 + k), subjects
        ).correlation
        for k in range(5)
    ]
    equal = neural.representation(seen(places, 20), subjects).correlation
    yield "representation", "rank correlation", 1.0, equal, float(np.mean(strangers))


if __name__ == "__main__":
    for one in (over_trials(), over_animals(), {"decode": decoded_over_animals()}, false_alarms()):
        for name, share in one.items():
            print(f"{name}: {share:.3f}")
    print("dissimilarity / truth: {:.3f} +- {:.3f}".format(*distances()))
    for row in recovered():
        print("| `{}` | {} | {:.2f} | {:.2f} | {:.2f} |".format(*row))
