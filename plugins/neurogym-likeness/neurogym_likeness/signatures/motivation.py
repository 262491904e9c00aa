"""Statistics of published signatures of motivation: valence, delay, loss, risk, effort, bursts."""

from __future__ import annotations

import numpy as np
from neurogym_behaviour.behaviour import Behaviour, CannotTellError
from neurogym_behaviour.measures import Measure
from neurogym_behaviour.proportions import difference_interval, wilson_interval

from neurogym_likeness.signatures.columns import LEAST, columns
from neurogym_likeness.signatures.model import signature

Z = 1.959964
RESAMPLES = 200
"""Resamples of the bootstrap."""
PENALTY = 1e-3
"""Weight of the squares of slopes, which keeps those of choices without errors finite."""
BINS = 20
"""Groups of trials with about equal amounts."""


@signature("pavlovian-bias.toml")
def pavlovian_bias(behaviour: Behaviour) -> Measure:
    """Return how much more often pressing to win and not pressing to avoid are right."""
    (kind,) = columns(behaviour, "kind")
    right = behaviour.column("outcome") == "correct"
    value, variance, n = 0.0, 0.0, 0
    for name, sign in (("go to win", 1), ("no-go to avoid", 1),
                       ("go to avoid", -1), ("no-go to win", -1)):  # fmt: skip
        here = right[kind == name]
        if len(here) < LEAST:
            raise CannotTellError(f"fewer than {LEAST} trials of {name!r}")
        p, shrunk = here.mean(), (here.sum() + 2) / (len(here) + 4)  # Agresti & Caffo
        value, n = value + sign * p / 2, n + len(here)
        variance += shrunk * (1 - shrunk) / (len(here) + 4) / 4
    half = Z * np.sqrt(variance)
    return Measure(float(value), float(value - half), float(value + half), n)


@signature("later-rewards-count-less.toml")
def later_rewards_count_less(behaviour: Behaviour) -> Measure:
    """Return the change of the frequency of the later offer per tenfold delay, amounts equal."""
    days, later, choice = *columns(behaviour, "days", "later"), behaviour.column("choice")
    used = (choice >= 0) & (days > 0)
    late, x = (choice[used] == 1) * 1.0, np.log10(days[used].astype(float))
    if len(x) < BINS * LEAST:
        raise CannotTellError(f"fewer than {BINS * LEAST} choices")
    kind = np.argsort(np.argsort(later[used], kind="stable")) * BINS // len(x)
    late, x = (one - (np.bincount(kind, one) / np.bincount(kind))[kind] for one in (late, x))
    spread = (x**2).sum()
    if spread < 1e-9:
        raise CannotTellError("delays do not vary at equal amounts")
    slope = (x * late).sum() / spread
    half = Z * np.sqrt((x**2 * (late - slope * x) ** 2).sum()) / spread
    return Measure(float(slope), float(slope - half), float(slope + half), len(x))


@signature("losses-weigh-more.toml")
def losses_weigh_more(behaviour: Behaviour) -> Measure:
    """Return the log ratio of the slopes of acceptance on losses and on gains."""
    gain, loss, choice = *columns(behaviour, "gain", "loss"), behaviour.column("choice")
    used = choice >= 0
    accepts = (choice[used] == 0) * 1.0
    if min(accepts.sum(), (1 - accepts).sum()) < LEAST:
        raise CannotTellError(f"fewer than {LEAST} gambles were accepted, or rejected")
    table = np.column_stack([np.ones(len(accepts)), gain[used] / 10, -loss[used] / 10])
    slopes = _slopes(table, accepts)
    if not (slopes > 0).all():
        raise CannotTellError("choices do not rise with gains and fall with losses")
    rng, drawn = np.random.default_rng(0), []
    for _ in range(RESAMPLES):
        rows = rng.integers(0, len(table), len(table))
        one = _slopes(table[rows], accepts[rows])
        if (one > 0).all():
            drawn.append(np.log(one[1] / one[0]))
    if len(drawn) < 0.98 * RESAMPLES:
        raise CannotTellError("choices do not rise with gains and fall with losses for sure")
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Measure(float(np.log(slopes[1] / slopes[0])), float(low), float(high), len(table))


def _slopes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the slopes of a logistic regression with a small penalty, by Newton's method."""
    weights, penalty = np.zeros(x.shape[1]), PENALTY * len(x) * np.diag([0.0, 1.0, 1.0])
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        slope = x.T @ (y - p) - penalty @ weights
        curve = (x * (p * (1 - p))[:, None]).T @ x + penalty + 1e-9 * np.eye(x.shape[1])
        change = np.linalg.solve(curve, slope)
        weights = weights + change * min(1.0, 5 / np.abs(change).max())
        if np.abs(change).max() < 1e-6:
            break
    return weights[1:]


@signature("risk-is-avoided.toml")
def risk_is_avoided(behaviour: Behaviour) -> Measure:
    """Return the frequency of the risky option against a sure one of its mean, minus one half.

    Only the second half of the longest session counts: while the symbols are learned, the risky one
    is chosen again after good luck, and is taken for a bad one after bad luck.
    """
    left, right, choice = *columns(behaviour, "left", "right"), behaviour.column("choice")
    sure = ("sure 20", "sure 20 too")
    here = ((left == "risky") & np.isin(right, sure)) | ((right == "risky") & np.isin(left, sure))
    start = np.maximum.accumulate(np.where(behaviour.after, 0, np.arange(len(choice))))
    place = np.arange(len(choice)) - start  # within the session
    here = here & (choice >= 0) & (place >= place.max() // 2)
    if here.sum() < LEAST:
        raise CannotTellError(f"fewer than {LEAST} choices between risky and sure of one mean")
    risky = np.where(choice == 0, left, right)[here] == "risky"
    low, high = wilson_interval(int(risky.sum()), len(risky))
    return Measure(float(risky.mean() - 0.5), low - 0.5, high - 0.5, len(risky))


@signature("effort-when-likely.toml")
def effort_when_likely(behaviour: Behaviour) -> Measure:
    """Return how much more often the hard offer is taken at the largest than the lowest chance."""
    chance, choice = *columns(behaviour, "chance"), behaviour.column("choice")
    used = choice >= 0
    hard, low = choice == 1, used & (chance == chance.min())
    high = used & (chance == chance.max())
    if min(low.sum(), high.sum()) < LEAST or chance.min() == chance.max():
        raise CannotTellError(f"there are no {LEAST} choices at two chances")
    found = difference_interval(
        int(hard[high].sum()), int(high.sum()), int(hard[low].sum()), int(low.sum())
    )
    return Measure(*found, int(low.sum() + high.sum()))


@signature("fewer-pumps-after-bursts.toml")
def fewer_pumps_after_bursts(behaviour: Behaviour) -> Measure:
    """Return the mean pumps of balloons that were cashed in after money minus those after bursts.

    Differences are taken within sessions, whose means differ.
    """
    pumps, burst = columns(behaviour, "pumps", "burst")
    session = np.cumsum(~behaviour.after)
    used = behaviour.after & (burst == 0) & (behaviour.column("choice") >= 0)
    used[0] = False
    after = np.roll(burst, 1) > 0
    found = []
    for one in np.unique(session[used]):
        rows = used & (session == one)
        parts = [pumps[rows & (after == which)] for which in (False, True)]
        if all(len(part) for part in parts):
            found.append(parts[0].mean() - parts[1].mean())
    if len(found) < 8:
        raise CannotTellError("fewer than 8 sessions have balloons after money and after bursts")
    mean, half = np.mean(found), 2.36 * np.std(found, ddof=1) / np.sqrt(len(found))  # t, 7 df
    return Measure(float(mean), float(mean - half), float(mean + half), int(used.sum()))


__all__ = [
    "effort_when_likely",
    "fewer_pumps_after_bursts",
    "later_rewards_count_less",
    "losses_weigh_more",
    "pavlovian_bias",
    "risk_is_avoided",
]
