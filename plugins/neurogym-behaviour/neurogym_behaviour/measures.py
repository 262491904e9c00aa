"""Standard analyses of behaviour as plain functions of arrays, one value per trial.

Each returns a `Measured`: numbers with their intervals, and a table. Reports and comparisons may
use them; none draws a figure.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, i0e, ive
from scipy.stats import norm, skew
from scipy.stats import t as student

from neurogym_behaviour.intervals import wilson_interval
from neurogym_behaviour.lapsing import fit_lapsing
from neurogym_behaviour.proportions import difference_interval, wide_difference
from neurogym_behaviour.psychometric import BARTLETT, PsychometricFit, fit_curve
from neurogym_core import InvalidValueError

Z = float(norm.ppf(0.975))
EACH = 5
"""Fewest values on each side of a difference of means."""
MANY, SKEWED = 30, 1.0
"""Fewest values on each side of a difference of skewed times without a note, and the skewness."""
STOPPED = (0.25, 0.75)
"""Shares of failed stops between which there is a stop-signal reaction time, and"""
STOPS = 50
"""fewest stop trials without a warning; Verbruggen et al. (2019)."""
BLOCKS = 12
"""Blocks with more values have no regressors."""
FEW = 0.03
"""Lapse rate above which the weights of the last choices have a note."""
DRIFT, MOST_WAVES = 100, 20
"""Trials for each cosine of a drifting bias, and the largest number of cosines."""
SOME_LAPSES, SOME_PRIOR, ITERATIONS = np.linspace(0, 0.4, 33), 2, 40
"""Lapse rates of a comparison of two stimuli, the prior Beta(1, 1 + 2), and most steps of a fit."""
LARGEST = 50_000
"""Trials after which a regression with lapses is precise enough: later ones are left out."""


@dataclass(frozen=True)
class Measure:
    """A number with the ends of its 95 % interval.

    Attributes:
        n: trials, or whatever was counted.
        unit: of the value; "" for none.
    """

    value: float
    low: float
    high: float
    n: int
    unit: str = ""

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval is above or below 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Measured:
    """Numbers by name, and the table that they come from.

    Attributes:
        notes: sentences about limits of the numbers, and why others are left out.
    """

    measures: Mapping[str, Measure]
    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Measure:
        return self.measures[name]


# ---- regressions ----


def logistic_regression(columns: Mapping[str, ArrayLike], hit: ArrayLike) -> Measured:
    """Return the weights of a logistic regression, maximum likelihood, with Wald intervals.

    Args:
        columns: name -> regressor, (n,); without a constant, which is added as "constant".
        hit: bool (n,).

    Raises:
        InvalidValueError: one value of `hit`, or regressors that separate the answers.
    """
    x, y, names = _design(columns, hit)
    weights, covariance = _fitted(x, y)
    return _weights(names, weights, covariance, len(y))


def _design(
    columns: Mapping[str, ArrayLike], hit: ArrayLike
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    y = np.asarray(hit, float)
    table = {"constant": np.ones(len(y)), **columns}
    return np.column_stack([np.asarray(v, float) for v in table.values()]), y, list(table)


def _fitted(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    import statsmodels.api as sm

    if len(np.unique(y)) < 2:
        raise InvalidValueError(
            "All answers are the same. Expected both kinds. Play more, or harder, trials."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = sm.GLM(y, x, family=sm.families.Binomial()).fit()
    covariance = np.asarray(fit.cov_params())
    if not np.isfinite(covariance).all() or np.sqrt(np.diag(covariance)).max() > 100:
        raise InvalidValueError(
            "The regressors predict the answers without error, or depend on each other, so that"
            " their weights are not determined. Expected errors. Leave a regressor out, or play"
            " harder trials."
        )
    return np.asarray(fit.params), covariance


def _weights(names: Sequence[str], weights: np.ndarray, covariance: np.ndarray, n: int) -> Measured:
    errors = np.sqrt(np.diag(covariance))
    low, high = weights - Z * errors, weights + Z * errors
    table = pd.DataFrame(
        {"regressor": names, "weight": weights, "standard error": errors, "low": low, "high": high}
    )
    table["p"] = 2 * norm.sf(np.abs(weights / errors))
    found = {
        name: Measure(*(float(one[k]) for one in (weights, low, high)), n)
        for k, name in enumerate(names)
    }
    return Measured(found, table)


def _ratio(
    weights: np.ndarray, covariance: np.ndarray, top: int, bottom: int, n: int, unit: str = ""
) -> Measure:
    """Return weights[top] / weights[bottom], with the interval of Fieller (1954).

    It is unbounded where the weight below may be 0.
    """
    one, other = weights[top], weights[bottom]
    # Ratios r for which weights[top] - r weights[bottom] is within Z standard errors of 0.
    square = other**2 - Z**2 * covariance[bottom, bottom]
    half = one * other - Z**2 * covariance[top, bottom]
    rest = one**2 - Z**2 * covariance[top, top]
    low, high = -np.inf, np.inf
    if square > 0:
        root = np.sqrt(max(half**2 - square * rest, 0))
        low, high = (half - root) / square, (half + root) / square
    return Measure(float(one / other), float(low), float(high), n, unit)


def psychophysical_kernel(evidence: ArrayLike, chose: ArrayLike) -> Measured:
    """Return the weight of the evidence at each time: logistic regression of the choice.

    Ahumada (1971); Neri & Heeger (2002); Brunton et al. (2013), doi:10.1126/science.1233912.
    Evidence of each time is scaled to a standard deviation of 1. ``trend`` is the change of the
    weights from the first time to the last, relative to their mean: 0 for a flat kernel, negative
    for primacy, positive for recency.

    Args:
        evidence: (n, t), positive for the choice True; see `evidence_over_time`.
        chose: bool (n,).
    """
    shown = np.asarray(evidence, float)
    scaled = shown / np.maximum(shown.std(axis=0), 1e-12)
    x, y, names = _design({f"{k}": column for k, column in enumerate(scaled.T)}, chose)
    weights, covariance = _fitted(x, y)
    found = _weights(names, weights, covariance, len(y))
    t = shown.shape[1]
    # Least-squares slope of the weights over time, times its length; then relative to their mean.
    position = np.linspace(-0.5, 0.5, t) if t > 1 else np.zeros(1)
    combine = np.zeros((2, t + 1))
    combine[0, 1:] = position / max(float(position @ position), 1e-12)
    combine[1, 1:] = 1 / t
    trend = _ratio(combine @ weights, combine @ covariance @ combine.T, 0, 1, len(y))
    return Measured({**found.measures, "trend": trend}, found.table.iloc[1:])


def evidence_over_time(steps: Any, units: tuple[int, int], period: str, bins: int) -> np.ndarray:
    """Return the evidence of each trial in time bins, (n, bins), from `record_steps`.

    Trials whose period is shorter than the shortest multiple of `bins` steps are NaN throughout.

    Args:
        steps: `Steps`.
        units: columns of the observations: evidence is the second minus the first.
        period: the period that shows the evidence.
        bins: number of bins.
    """
    difference = steps.observations[:, units[1]] - steps.observations[:, units[0]]
    inside = steps.period == period
    counts = np.bincount(steps.trial[inside], minlength=len(steps.record))
    length = int(np.median(counts[counts > 0])) // bins * bins
    out = np.full((len(steps.record), bins), np.nan)
    for row in np.flatnonzero(counts >= max(length, bins)):
        part = steps.of(row)
        values = difference[part][inside[part]][:length]
        out[row] = values.reshape(bins, -1).mean(axis=1)
    return out


def lagged_choices(
    choice: ArrayLike, rewarded: ArrayLike, after: ArrayLike, lags: int = 3
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return regressors of the last choices, and the trials that have all of them, bool (n,).

    Busse et al. (2011), doi:10.1523/JNEUROSCI.6689-10.2011. Regressors are +1 and -1 for the
    choices, separately for rewarded and unrewarded trials; 0 else.

    Args:
        choice: bool (n,).
        rewarded: bool (n,).
        after: whether the row follows the trial before it, bool (n,); see `Behaviour.after`.
        lags: number of trials back.
    """
    signed = np.where(np.asarray(choice, bool), 1.0, -1.0)
    paid, linked = np.asarray(rewarded, bool), np.asarray(after, bool)
    whole, columns = np.ones(len(signed), bool), {}
    for lag in range(1, lags + 1):
        whole &= _shifted(linked, lag - 1, False)
        for name, mask in (("rewarded", paid), ("unrewarded", ~paid)):
            columns[f"{name}, {lag} back"] = _shifted(signed * mask, lag, 0.0)
    return columns, whole


def _shifted(values: np.ndarray, lag: int, fill: Any) -> np.ndarray:
    out = np.full(len(values), fill, dtype=values.dtype)
    out[lag:] = values[: len(values) - lag]
    return out


def choice_glm(
    evidence: ArrayLike,
    choice: ArrayLike,
    rewarded: ArrayLike,
    after: ArrayLike,
    lags: int = 3,
    *,
    block: ArrayLike | None = None,
    drift: bool = True,
) -> Measured:
    """Return the weights of evidence and of the last choices, by outcome and lag, with lapses.

    A logistic function of the evidence, linear and saturating, of the last choices (see
    `lagged_choices`), of the block, and of a slow drift of the bias, with lapses: `fit_lapsing`.
    Without lapses and saturation, weights of the last choices are too small; without block and
    drift, a subject that follows either seems to repeat its choices (Busse et al. 2011; Roy et al.
    2021, doi:10.1016/j.neuron.2020.12.004). ``lapse`` has no interval.

    Args:
        evidence: signed, (n,).
        choice: bool (n,).
        rewarded: bool (n,).
        after: whether the row follows the trial before it, bool (n,).
        lags: number of trials back.
        block: of each trial, (n,), at most `BLOCKS` values; None: no blocks.
        drift: whether the bias may drift: cosines over the rows, one for each `DRIFT` rows.
    """
    columns, used = lagged_choices(choice, rewarded, after, lags)
    if not used.any():
        raise InvalidValueError(
            f"No trial has {lags} trials before it. Expected some. Give trials in their order."
        )
    values = np.asarray(evidence, float)
    typical = float(np.median(np.abs(values[values != 0]))) if values.any() else 1.0
    shown = {"evidence": values, "evidence, saturating": np.tanh(values / typical)}
    if block is not None:
        names, which = np.unique(np.asarray(block), return_inverse=True)
        if len(names) <= BLOCKS:
            columns |= {f"block {one}": which == k for k, one in enumerate(names[1:], 1)}
    used[np.flatnonzero(used)[LARGEST:]] = False
    surprising = used & ((values == 0) | ((values > 0) != np.asarray(choice, bool)))
    if surprising.sum() < EACH:
        raise InvalidValueError(
            f"the evidence predicts all choices but {int(surprising.sum())}, so that other weights"
            f" are not determined. Expected at least {EACH} without evidence or against it. Play"
            " harder trials."
        )
    kept = {name: one[used] for name, one in columns.items() if one[used].any()}
    rows = np.flatnonzero(used) / len(used)
    waves = range(1, min(len(used) // DRIFT, MOST_WAVES) + 1) if drift else ()
    slow = {f"drift {k}": np.cos(np.pi * k * rows) for k in waves}
    fit = fit_lapsing({name: one[used] for name, one in shown.items()},
                      {**kept, **slow}, np.asarray(choice, bool)[used])  # fmt: skip
    found, table = {}, []
    for name in (*shown, *kept):
        value, low, high, p = fit.weight(name)
        found[name] = Measure(value, low, high, int(used.sum()))
        table.append({"regressor": name, "weight": value, "low": low, "high": high, "p": p})
    found["lapse"] = Measure(fit.lapse, np.nan, np.nan, int(used.sum()))
    notes = ()
    if fit.lapse > FEW:
        notes = (
            f"Lapses in {fit.lapse:.0%} of the trials: weights of the last choices may be up to a"
            " quarter too close to 0, and 95 % intervals contain the truth in 82 to 97 %.",
        )
    return Measured(found, pd.DataFrame(table), notes)


def win_stay_lose_switch(choice: ArrayLike, rewarded: ArrayLike, after: ArrayLike) -> Measured:
    """Return P(stay after reward) and P(switch after no reward), with Wilson intervals."""
    chosen, paid = np.asarray(choice), np.asarray(rewarded, bool)
    linked = np.asarray(after, bool)[1:]
    same = chosen[1:] == chosen[:-1]
    found = {}
    for name, mask, hit in (
        ("win-stay", linked & paid[:-1], same),
        ("lose-switch", linked & ~paid[:-1], ~same),
    ):
        k, n = int(hit[mask].sum()), int(mask.sum())
        low, high = wilson_interval(k, n)
        found[name] = Measure(k / n if n else float("nan"), low, high, n)
    return Measured(found)


def reward_transition(
    stayed: ArrayLike, rewarded: ArrayLike, common: ArrayLike, correct: ArrayLike | None = None
) -> Measured:
    """Return the effects of the last reward, and of reward x transition, on staying.

    Daw et al. (2011), doi:10.1016/j.neuron.2011.02.027. "reward" is model-free, "reward x
    transition" model-based. Regressors are +1/2 and -1/2: weights are differences in log odds, the
    interaction that of the differences, halved. Learners without a model have an interaction, too,
    because a choice that was correct is more often paid after common transitions, and more often
    repeated; `correct` takes this out (Akam, Costa & Dayan 2015, doi:10.1371/journal.pcbi.1004648).

    Args:
        stayed: whether the first choice was repeated, bool (n,).
        rewarded, common: of the trial before, bool (n,).
        correct: whether the first choice of the trial before was the one with the higher chance of
            reward, bool (n,); None: unknown.
    """
    reward = np.asarray(rewarded, float) - 0.5
    transition = np.asarray(common, float) - 0.5
    return logistic_regression(
        {
            "reward": reward,
            "transition": transition,
            "reward x transition": 2 * reward * transition,
            **({} if correct is None else {"correct": np.asarray(correct, float) - 0.5}),
        },
        stayed,
    )


def contraction_bias(first: ArrayLike, second: ArrayLike, said_second: ArrayLike) -> Measured:
    """Return the contraction of the memory of the first stimulus to the mean of all stimuli.

    Ashourian & Loewenstein (2011), doi:10.1371/journal.pone.0019551; Akrami et al. (2018). The
    subject compares the second stimulus with (1 - contraction) x first + contraction x mean, and
    lapses. ``contraction`` is 0 for none, 1 if the memory is lost; its interval is that of the
    profile likelihood, open (inf) where the choices do not end it. The weights in the table have
    no lapses.

    Args:
        first, second: stimuli, (n,).
        said_second: whether the second was judged larger, bool (n,).
    """
    one, two = np.asarray(first, float), np.asarray(second, float)
    middle = one - np.mean([one.mean(), two.mean()])
    x, y, names = _design({"difference": two - one, "first - mean": middle}, said_second)
    weights, covariance = _fitted(x, y)
    found = _weights(names, weights, covariance, len(y))
    start = float(weights[2] / weights[1])
    contraction = Measure(*_Contracted(two - one, middle, y).interval(start), len(y))
    return Measured({**found.measures, "contraction": contraction}, found.table)


class _Contracted:
    """Likelihood of P(second) = lapse / 2 + (1 - lapse) / (1 + exp(-a - b (d + contraction m))).

    Args:
        difference, middle: d and m of each trial, (n,).
        hit: whether the second was judged larger, (n,) float.
    """

    LIMITS = (-5.0, 6.0)
    """Contractions between which the ends of the interval are sought."""

    def __init__(self, difference: np.ndarray, middle: np.ndarray, hit: np.ndarray) -> None:
        pairs, which = np.unique(np.stack([difference, middle]), axis=1, return_inverse=True)
        self.difference, self.middle = pairs / (float(np.abs(difference).max()) or 1.0)
        self.k, self.n = np.bincount(which.ravel(), hit), np.bincount(which.ravel())
        self._constant, self._weight = np.zeros(len(SOME_LAPSES)), np.full(len(SOME_LAPSES), 2.0)

    def loss(self, contraction: float) -> float:
        """Return the least loss of a contraction, over lapses, with their prior, and weights."""
        x = self.difference + contraction * self.middle
        lapse = SOME_LAPSES[:, None]
        a, b = self._constant, self._weight
        for _ in range(ITERATIONS):  # Fisher's scoring, for all lapse rates at once
            sure = expit(a[:, None] + b[:, None] * x)
            p = np.clip(lapse / 2 + (1 - lapse) * sure, 1e-12, 1 - 1e-12)
            steep = (1 - lapse) * sure * (1 - sure)
            slope = steep * (self.k / p - (self.n - self.k) / (1 - p))
            heavy = self.n * steep**2 / (p * (1 - p))
            saa, sab, sbb = heavy.sum(axis=1) + 1e-6, heavy @ x, heavy @ x**2 + 1e-6
            ga, gb = slope.sum(axis=1) - 1e-6 * a, slope @ x - 1e-6 * b
            determinant = np.maximum(saa * sbb - sab**2, 1e-12)
            da, db = (sbb * ga - sab * gb) / determinant, (saa * gb - sab * ga) / determinant
            a, b = a + np.clip(da, -1, 1), b + np.clip(db, -1, 1)
            if max(np.abs(da).max(), np.abs(db).max()) < 1e-4:
                break
        self._constant, self._weight = np.clip(a, -20, 20), np.clip(b, -50, 50)
        p = lapse / 2 + (1 - lapse) * expit(self._constant[:, None] + self._weight[:, None] * x)
        p = np.clip(p, 1e-12, 1 - 1e-12)
        logs = np.log(p) @ self.k + np.log1p(-p) @ (self.n - self.k)
        return float(-(logs + SOME_PRIOR * np.log1p(-SOME_LAPSES)).max())

    def interval(self, start: float) -> tuple[float, float, float]:
        """Return the best contraction near `start` and elsewhere, and the ends of its interval."""
        tried = np.unique([*np.linspace(*self.LIMITS, 23), float(np.clip(start, *self.LIMITS))])
        losses = [self.loss(one) for one in tried]
        k = int(np.argmin(losses))
        ends = tried[max(k - 1, 0)], tried[min(k + 1, len(tried) - 1)]
        middle = minimize_scalar(self.loss, bounds=ends, method="bounded", options={"xatol": 1e-4})
        best, least = float(middle.x), float(middle.fun)

        known: dict[float, float] = {}
        wide = Z**2 * (1 + BARTLETT / self.n.sum())  # as of psychometric functions

        def beyond(value: float) -> float:
            # Once for each value: fits begin where the last one ended, and differ by a hair.
            if value not in known:
                known[value] = 2 * (self.loss(value) - least) - wide
            return known[value]

        found = []
        for limit, direction in zip(self.LIMITS, (-1, 1), strict=True):
            end = _end(beyond, best, limit, 22)
            found.append(direction * np.inf if end == limit else end)
        return best, found[0], found[1]


def indifference_point(log_ratio: ArrayLike, chose_b: ArrayLike) -> Measured:
    """Return the relative value of A in units of B: the ratio of amounts at indifference.

    Padoa-Schioppa & Assad (2006), doi:10.1038/nature04676.

    Args:
        log_ratio: natural logarithm of (amount of B / amount of A), (n,).
        chose_b: bool (n,).
    """
    x, y, names = _design({"log ratio": log_ratio}, chose_b)
    weights, covariance = _fitted(x, y)
    found = _weights(names, weights, covariance, len(y))
    at = _ratio(weights, covariance, 0, 1, len(y))
    value, *ends = np.exp([-at.value, -at.high, -at.low])
    ratio = Measure(float(value), float(ends[0]), float(ends[1]), len(y), "B per A")
    return Measured({**found.measures, "relative value": ratio}, found.table)


# ---- detection and combination ----


def d_prime(signal: ArrayLike, said_yes: ArrayLike) -> Measured:
    """Return hit rate, false alarm rate, d' and the criterion of a yes/no task.

    Green & Swets (1966); counts get 1/2 and 1 added for d' and criterion (Hautus 1995), so that
    rates of 0 and 1 are finite; intervals by Gourevitch & Galanter (1967), of the rates by Wilson.
    """
    is_signal, yes = np.asarray(signal, bool), np.asarray(said_yes, bool)
    return sensitivity(
        int(yes[is_signal].sum()), int(is_signal.sum()),
        int(yes[~is_signal].sum()), int((~is_signal).sum()),
    )  # fmt: skip


def sensitivity(hits: int, signals: int, false_alarms: int, noises: int) -> Measured:
    """Return the numbers of `d_prime` from counts.

    Args:
        hits, signals: answers "yes" to signals, and trials with a signal.
        false_alarms, noises: answers "yes" without a signal, and trials without one.

    Raises:
        InvalidValueError: no trials with a signal, or none without one.
    """
    if min(signals, noises) < 1:
        raise InvalidValueError(
            f"There are {signals} trials with a signal, and {noises} without one. Expected both."
            " Give trials of both kinds."
        )
    z, variance, rates = [], [], {}
    for name, k, n in (("hit rate", hits, signals), ("false alarm rate", false_alarms, noises)):
        low, high = wilson_interval(k, n)
        rates[name] = Measure(k / n, low, high, n)
        rate = (k + 0.5) / (n + 1)
        z.append(float(norm.ppf(rate)))
        variance.append(rate * (1 - rate) / (n + 1) / float(norm.pdf(norm.ppf(rate))) ** 2)
    error = float(np.sqrt(sum(variance)))
    d, c = z[0] - z[1], -sum(z) / 2
    n = signals + noises
    return Measured(
        {
            **rates,
            "d'": Measure(d, d - Z * error, d + Z * error, n),
            "criterion": Measure(c, c - Z * error / 2, c + Z * error / 2, n),
        }
    )


def cue_combination(
    strength: ArrayLike,
    chose: ArrayLike,
    modality: ArrayLike,
    names: tuple[str, str, str],
) -> Measured:
    """Return the sigma of each modality, and that of the optimal combination.

    Ernst & Banks (2002), doi:10.1038/415429a; Raposo et al. (2012). Sigmas are those of the
    cumulative Gaussians nearest to the fitted logistic functions. ``ratio`` is sigma of both over
    that of the optimum: 1 if cues are combined optimally.

    Args:
        strength: signed, (n,).
        chose: bool (n,).
        modality: (n,).
        names: values of `modality`: the first, the second, both.

    Raises:
        InvalidValueError: the choices of a modality do not determine a slope.
    """
    values, hit, kind = np.asarray(strength, float), np.asarray(chose, bool), np.asarray(modality)
    found, logs = {}, []
    for name in names:
        here = kind == name
        fit = _logistic(values[here], hit[here])
        low, high = fit.intervals["slope"]
        if not (np.isfinite(high) and low > 0):
            raise InvalidValueError(
                f"The choices with the modality {name!r} do not determine a slope (95 % interval"
                f" {low:.3g} to {high:.3g}). Expected choices that follow the evidence, with"
                " errors. Give more trials, or weaker evidence."
            )
        sigma, ends = 1.702 / fit.slope, (1.702 / high, 1.702 / low)
        found[f"sigma {name}"] = Measure(sigma, *ends, int(here.sum()))
        logs.append((np.log(sigma), np.log(ends[1] / ends[0]) / (2 * Z)))
    (a, error_a), (b, error_b), (both, error_both) = logs
    share = np.exp(2 * b) / (np.exp(2 * a) + np.exp(2 * b))
    optimum = float((2 * a + 2 * b - np.logaddexp(2 * a, 2 * b)) / 2)
    error = float(np.hypot(share * error_a, (1 - share) * error_b))
    for name, middle, spread in (
        ("optimum", optimum, error),
        ("ratio", both - optimum, float(np.hypot(error, error_both))),
    ):
        found[name] = Measure(
            *(float(np.exp(middle + shift * spread)) for shift in (0, -Z, Z)), len(values)
        )
    return Measured(found)


def _logistic(values: np.ndarray, hit: np.ndarray) -> PsychometricFit:
    levels, group = np.unique(values, return_inverse=True)
    k = np.bincount(group, weights=hit, minlength=len(levels))
    return fit_curve(levels, k, np.bincount(group), guess="symmetric")


# ---- times ----


def quantile_probability(
    times: ArrayLike,
    correct: ArrayLike,
    level: ArrayLike,
    quantiles: Sequence[float] = (0.1, 0.3, 0.5, 0.7, 0.9),
) -> pd.DataFrame:
    """Return the points of a quantile-probability plot, a row per level and outcome.

    Ratcliff & Tuerlinckx (2002), doi:10.3758/BF03196302. Columns: level, outcome, n, probability,
    and the quantiles of the times; of fewer than five times, NaN.
    """
    values, hit, strength = np.asarray(times, float), np.asarray(correct, bool), np.asarray(level)
    rows = []
    for value in np.unique(strength):
        here = (strength == value) & ~np.isnan(values)
        for outcome, mask in (("correct", here & hit), ("error", here & ~hit)):
            n = int(mask.sum())
            found = np.quantile(values[mask], quantiles) if n >= 5 else [np.nan] * len(quantiles)
            rows.append(
                {
                    "level": value,
                    "outcome": outcome,
                    "n": n,
                    "probability": n / max(int(here.sum()), 1),
                    **{f"q{q:g}": float(one) for q, one in zip(quantiles, found, strict=True)},
                }
            )
    return pd.DataFrame(rows)


def conditional_accuracy(times: ArrayLike, correct: ArrayLike, bins: int = 5) -> Measured:
    """Return the fraction correct by quantile bin of the reaction time.

    Gratton et al. (1988). ``slow - fast`` is the accuracy in the slowest bin minus that in the
    fastest, with Newcombe's interval; ``error - correct`` the mean time of errors minus that of
    correct answers, with Welch's. Either is left out, and a note says so, with fewer than `EACH`
    trials on a side.
    """
    values, hit = np.asarray(times, float), np.asarray(correct, bool)
    known = ~np.isnan(values)
    values, hit = values[known], hit[known]
    edges = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)))
    bins = max(len(edges) - 1, 1)  # times that are multiples of dt may leave bins empty
    which = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1)
    k, n = np.bincount(which, weights=hit, minlength=bins), np.bincount(which, minlength=bins)
    low, high = wilson_interval(k, n)
    mean = np.bincount(which, weights=values, minlength=bins) / np.maximum(n, 1)
    table = pd.DataFrame(
        {"mean time": mean, "n": n, "correct": k / np.maximum(n, 1), "low": low, "high": high}
    )
    found, notes = {}, []
    if min(n[0], n[-1]) >= EACH:
        ends = int(k[-1]), int(n[-1]), int(k[0]), int(n[0])
        found["slow - fast"] = Measure(*difference_interval(*ends), int(n[0] + n[-1]))
        wide = wide_difference(*ends)
        notes += [f"slow - fast: {wide}"] if wide else []
    wrong, right = values[~hit], values[hit]
    if min(len(wrong), len(right)) >= EACH:
        found["error - correct"] = mean_difference(wrong, right, "ms")
        if min(len(wrong), len(right)) < MANY and skew(values) > SKEWED:
            notes.append(
                f"error - correct: times are skewed, and there are {len(wrong)} errors and"
                f" {len(right)} correct answers: with fewer than {MANY} of either, 95 % intervals"
                " contain the truth in 84 to 92 % of the cases."
            )
    else:
        notes.append(
            f"error - correct: cannot tell from {len(wrong)} errors and {len(right)} correct"
            f" answers; at least {EACH} of each are needed."
        )
    return Measured(found, table, tuple(notes))


def mean_difference(one: np.ndarray, other: np.ndarray, unit: str = "") -> Measure:
    """Return the difference of two means, with an interval that allows for skewed values.

    That of Welch (1947), Biometrika 34:28, whose t is transformed by the skewness of the difference
    (Hall 1992, J. R. Stat. Soc. B 54:221; two samples: Zhou & Dinh 2005, Biostatistics 6:187).

    Raises:
        InvalidValueError: fewer than `EACH` values on a side, whose variance says little.
    """
    if min(len(one), len(other)) < EACH:
        raise InvalidValueError(
            f"The means of {len(one)} and of {len(other)} values were to be compared. Expected at"
            f" least {EACH} of each. Give more trials."
        )
    parts = [part.astype(float) for part in (one, other)]
    value = float(parts[0].mean() - parts[1].mean())
    if not any(np.ptp(part) for part in parts):
        return Measure(value, value, value, len(one) + len(other), unit)
    sizes = [len(part) for part in parts]
    errors = [part.var(ddof=1) / n for part, n in zip(parts, sizes, strict=True)]
    error = float(np.sqrt(sum(errors)))
    df = sum(errors) ** 2 / sum(e**2 / (n - 1) for e, n in zip(errors, sizes, strict=True))
    third = [float(((part - part.mean()) ** 3).mean()) / n**2 for part, n in
             zip(parts, sizes, strict=True)]  # fmt: skip
    lean, limit = (third[0] - third[1]) / error**3, float(student.ppf(0.975, df))

    def untransformed(quantile: float) -> float:
        if abs(lean) < 1e-9:
            return quantile
        return float(3 / lean * (np.cbrt(1 + lean * (quantile - lean / 6)) - 1))

    low, high = (value - untransformed(one) * error for one in (limit, -limit))
    return Measure(value, low, high, sum(sizes), unit)


def stop_signal(
    delay: ArrayLike,
    responded: ArrayLike,
    times: ArrayLike,
    *,
    resamples: int = 500,
    seed: int = 0,
) -> Measured:
    """Return the inhibition function, and the stop-signal reaction time by integration.

    The stop-signal reaction time is that at which go times shorter than delay plus it are, summed
    over the stop trials, as frequent as failed stops (Logan & Cowan 1984, with the delay of each
    trial). Go trials without an answer are never shorter, as if they had the longest time
    (Verbruggen et al. 2019, doi:10.7554/eLife.46323). It is left out where that paper advises
    against it: failed stops slower than go trials (no race), or a share of failed stops outside
    `STOPPED`. ``slope`` is the change of P(respond) in log odds per ms of delay; ``race`` the mean
    time of failed stops minus that of go trials, negative in a race.

    Args:
        delay: of the stop signal, ms, (n,); NaN in go trials.
        responded: bool (n,).
        times: reaction times, ms, (n,), NaN without an answer.
        resamples: of the bootstrap of the stop-signal reaction time.
        seed: of the bootstrap.
    """
    when, said, spent = (np.asarray(delay, float), np.asarray(responded, bool),
                         np.asarray(times, float))  # fmt: skip
    stop = ~np.isnan(when)
    if not stop.any() or stop.all():
        raise InvalidValueError(
            "There are only go trials, or only stop trials. Expected both. Give NaN as the delay of"
            " go trials."
        )
    found = {}
    delays = np.unique(when[stop])
    if len(delays) > 1 and 0 < said[stop].mean() < 1:
        found["slope"] = logistic_regression({"delay": when[stop]}, said[stop])["delay"]
    failed, went = spent[stop & said], spent[~stop & ~np.isnan(spent)]
    failed = failed[~np.isnan(failed)]
    if min(len(failed), len(went)) >= EACH:
        found["race"] = mean_difference(failed, went, "ms")
    go = np.sort(np.where(np.isnan(spent[~stop]), np.inf, spent[~stop]))
    against, notes = _about_stops(go, said[stop], failed, went)
    if against:
        notes.insert(0, f"No SSRT: {against}.")
    else:
        ends = _stop_times(go, said[stop], when[stop], resamples, np.random.default_rng(seed))
        found = {"SSRT": Measure(*ends, int(stop.sum()), "ms"), **found}
    counts = [(int(said[when == one].sum()), int((when == one).sum())) for one in delays]
    ends = [wilson_interval(k, n) for k, n in counts]
    table = pd.DataFrame(
        {
            "delay": delays,
            "n": [n for _, n in counts],
            "responded": [k / n for k, n in counts],
            "low": [low for low, _ in ends],
            "high": [high for _, high in ends],
        }
    )
    return Measured(found, table, tuple(notes))


def _about_stops(
    go: np.ndarray, failed: np.ndarray, slow: np.ndarray, went: np.ndarray
) -> tuple[str, list[str]]:
    """Return why there is no stop-signal reaction time ("": there is one), and warnings."""
    share, omitted = float(failed.mean()), float(np.isinf(go).mean())
    against = ""
    if not STOPPED[0] <= share <= STOPPED[1]:
        against = (
            f"{share:.0%} of the stops failed, and the method needs {STOPPED[0]:.0%} to"
            f" {STOPPED[1]:.0%}"
        )
    elif share >= 1 - omitted:
        against = "failed stops are as frequent as answers in go trials"
    elif len(slow) and len(went) and slow.mean() > went.mean():
        against = (
            f"failed stops took {slow.mean():.0f} ms and go trials {went.mean():.0f} ms, which"
            " contradicts a race of two independent processes"
        )
    notes = []
    if len(failed) < STOPS:
        notes.append(f"WARNING: {len(failed)} stop trials; at least {STOPS} are recommended.")
    if len(failed) < 2 * STOPS:
        notes.append(
            f"With fewer than {2 * STOPS} stop trials, the 95 % interval of the SSRT contains the"
            " truth in 84 to 90 % of the cases."
        )
    if not against:
        notes.append(
            "If some stops never start (trigger failures), the SSRT is too long: with 15 % of them,"
            " by some 25 ms, and 95 % intervals contain the truth in 20 to 60 % of the cases."
            " Failed stops after the shortest delays are a sign of them."
        )
    if omitted > 0:
        notes.append(
            f"{omitted:.1%} of the go trials had no answer. The SSRT counts them as the slowest; if"
            " omissions are more or less frequent in stop trials, it is wrong."
        )
    return against, notes


def _stop_times(
    go: np.ndarray, failed: np.ndarray, delays: np.ndarray, resamples: int, rng: Any
) -> tuple[float, float, float]:
    """Return the stop-signal reaction time, ms, and the ends of its interval by a bootstrap.

    Args:
        go: times of go trials, ascending; inf without an answer.
        failed: whether each stop trial was answered, bool (m,).
        delays: of the stop trials, ms, (m,).
    """

    def integrated(go: np.ndarray, failed: np.ndarray, delays: np.ndarray) -> float:
        low, high = -float(delays.max()), float(go[np.isfinite(go)][-1])
        values, counts = np.unique(delays, return_counts=True)
        for _ in range(30):
            middle = (low + high) / 2
            faster = counts @ np.searchsorted(go, values + middle) / len(go)
            low, high = (middle, high) if faster < failed.sum() else (low, middle)
        return (low + high) / 2

    drawn = []
    for _ in range(resamples):
        a, b = (rng.integers(0, len(one), len(one)) for one in (go, failed))
        drawn.append(integrated(np.sort(go[a]), failed[b], delays[b]))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return integrated(go, failed, delays), float(low), float(high)


def scalar_timing(interval: ArrayLike, produced: ArrayLike) -> Measured:
    """Return the slope of produced over true intervals, and the coefficient of variation.

    Jazayeri & Shadlen (2010), doi:10.1038/nn.2590. ``slope`` below 1: regression to the mean.
    ``weber`` is the slope of log(SD) over log(mean): 1 for scalar timing, 0 for constant noise.

    Raises:
        InvalidValueError: fewer than two intervals, or three times.
    """
    true, made = np.asarray(interval, float), np.asarray(produced, float)
    known = ~np.isnan(made)
    true, made = true[known], made[known]
    if len(np.unique(true)) < 2 or len(true) < 3:
        raise InvalidValueError(
            f"{len(true)} times of {len(np.unique(true))} intervals were given. Expected three"
            " times of two intervals or more. Give trials of other intervals."
        )
    slope = _robust_line(true, made)
    rows = []
    for value in np.unique(true):
        one = made[true == value]
        mean, sd = float(one.mean()), float(one.std(ddof=1)) if len(one) > 1 else float("nan")
        rows.append({"interval": value, "n": len(one), "mean": mean, "SD": sd, "CV": sd / mean,
                     "bias": mean - value})  # fmt: skip
    table = pd.DataFrame(rows)
    found = {"slope": slope}
    usable = table[(table["n"] > 4) & (table["SD"] > 0)]
    if len(usable) > 2:
        found["weber"] = fitted_line(np.log(usable["mean"]), np.log(usable["SD"]))
    bias2, variance = float(np.mean(table["bias"] ** 2)), float(np.mean(table["SD"] ** 2))
    for name, one in (("bias", np.sqrt(bias2)), ("variance", np.sqrt(variance))):
        found[f"root mean {name}"] = Measure(one, np.nan, np.nan, len(made))
    return Measured(found, table)


def _robust_line(x: np.ndarray, y: np.ndarray) -> Measure:
    """Return the slope of a least-squares line; its interval allows for unequal noise (HC3).

    The noise of timing grows with the interval, and Student's interval would be too narrow.
    """
    import statsmodels.api as sm

    fit = sm.OLS(y, sm.add_constant(x)).fit(cov_type="HC3", use_t=True)
    low, high = fit.conf_int()[1]
    return Measure(float(fit.params[1]), float(low), float(high), len(x))


def fitted_line(x: ArrayLike, y: ArrayLike) -> Measure:
    """Return the slope of a least-squares line, with Student's interval."""
    from scipy.stats import linregress

    fit = linregress(x, y)
    half = float(student.ppf(0.975, max(len(np.asarray(x)) - 2, 1)) * fit.stderr)
    return Measure(float(fit.slope), float(fit.slope - half), float(fit.slope + half),
                   len(np.asarray(x)))  # fmt: skip


# ---- continuous reports ----


def circular_mixture(error: ArrayLike) -> Measured:
    """Return P(in memory) and the SD of the memories, from errors on a circle.

    Zhang & Luck (2008), doi:10.1038/nature06860: a mixture of a von Mises distribution and a
    uniform one, by maximum likelihood; intervals from the profile likelihood. An SD whose interval
    is open is not determined: nearly all reports may be guesses.

    Args:
        error: report minus true value, radians, (n,); wrapped to a circle.
    """
    values = np.asarray(error, float)
    values = values[~np.isnan(values)]
    fit, notes = _Mixture(np.cos(values)), []
    aside = np.sin(values)
    middle = float(np.angle(np.exp(1j * values).mean()))
    if len(values) > 2 and abs(aside.mean()) > 3 * aside.std(ddof=1) / np.sqrt(len(values)):
        notes.append(
            f"The mean error is {middle:.2g} rad, and the mixture takes it as 0: the SD of the"
            " memories contains this bias. Subtract it from the errors."
        )
    share, low, high = fit.share_interval()
    if high == 1:
        notes.append(
            "P(memory) may be 1: an interval that ends there contains the truth more often than in"
            " 95 %."
        )
    sd = fit.sd_interval()
    if np.isinf(sd[2]):
        notes.append("The SD of the memories is not determined: its interval is open.")
    found = {
        "P(memory)": Measure(share, low, high, len(fit.cosines)),
        "SD": Measure(*sd, len(fit.cosines), "rad"),
    }
    return Measured(found, notes=tuple(notes))


class _Mixture:
    """Likelihood of a von Mises distribution with a concentration, and a uniform one.

    Args:
        cosines: of the errors, (n,).
    """

    PRECISE = np.linspace(-3, 9, 61)
    """Logs of concentrations, at which the likelihood is tabulated."""

    def __init__(self, cosines: np.ndarray) -> None:
        self.cosines = cosines
        self._table = np.stack([self._ratio(one) for one in self.PRECISE])
        shares = [self._share_at(row) for row in self._table]
        logs = [self._log(row, one) for row, one in zip(self._table, shares, strict=True)]
        self.precise = self._refined(int(np.argmax(logs)), lambda one: self._at(one)[1])
        self.share, self.most = self._at(self.precise)

    def _ratio(self, precise: float) -> np.ndarray:
        """Return the density of each error relative to the uniform one, (n,)."""
        kappa = np.exp(precise)
        return np.asarray(np.exp(kappa * (self.cosines - 1)) / i0e(kappa))

    def _log(self, ratio: np.ndarray, share: float) -> float:
        return float(np.log(np.maximum(share * ratio + (1 - share), 1e-300)).sum())

    def _share_at(self, ratio: np.ndarray) -> float:
        """Return the best share, where the derivative of the concave likelihood is 0."""

        def slope(share: float) -> float:
            return float(((ratio - 1) / np.maximum(share * ratio + 1 - share, 1e-300)).sum())

        if slope(0) <= 0:
            return 0.0
        return 1.0 if slope(1) >= 0 else float(brentq(slope, 0, 1, xtol=1e-6))

    def _at(self, precise: float) -> tuple[float, float]:
        """Return the best share at a log concentration, and the likelihood there."""
        ratio = self._ratio(precise)
        share = self._share_at(ratio)
        return share, self._log(ratio, share)

    def _refined(self, row: int, height: Callable[[float], float]) -> float:
        """Return the log concentration near a row of the table at which `height` is largest."""
        ends = self.PRECISE[max(row - 1, 0)], self.PRECISE[min(row + 1, len(self.PRECISE) - 1)]
        return float(minimize_scalar(lambda one: -height(one), bounds=ends, method="bounded").x)

    def share_interval(self) -> tuple[float, float, float]:
        """Return the share of memories and the ends of its interval."""

        def beyond(share: float) -> float:
            row = int(
                np.argmax(np.log(np.maximum(share * self._table + (1 - share), 1e-300)).sum(axis=1))
            )
            near = self._refined(row, lambda one: self._log(self._ratio(one), share))
            return 2 * (self.most - self._log(self._ratio(near), share)) - Z**2

        return self.share, _end(beyond, self.share, 0.0, 20), _end(beyond, self.share, 1.0, 20)

    def sd_interval(self) -> tuple[float, float, float]:
        """Return the circular SD of the memories, rad, and its ends; open ends are 0 and inf."""

        def beyond(precise: float) -> float:
            return 2 * (self.most - self._at(precise)[1]) - Z**2

        first, last = self.PRECISE[[0, -1]]
        low, high = _end(beyond, self.precise, last, 40), _end(beyond, self.precise, first, 40)
        return (
            _circular_sd(self.precise),
            0.0 if low == last else _circular_sd(low),
            np.inf if high == first else _circular_sd(high),
        )


def _circular_sd(precise: float) -> float:
    kappa = np.exp(precise)
    return float(np.sqrt(-2 * np.log(ive(1, kappa) / ive(0, kappa))))


def _end(beyond: Callable[[float], float], start: float, limit: float, steps: int) -> float:
    """Return where `beyond` first rises above 0 on the way to the limit, or the limit."""
    inner = start
    for outer in np.linspace(start, limit, steps + 1)[1:].tolist():
        if beyond(outer) > 0:
            return float(brentq(beyond, inner, outer, xtol=1e-4)) if beyond(inner) < 0 else inner
        inner = outer
    return limit


def serial_dependence(
    error: ArrayLike, difference: ArrayLike, *, resamples: int = 200, seed: int = 0
) -> Measured:
    """Return the attraction of reports to the last stimulus: a derivative of a Gaussian.

    Fischer & Whitney (2014), doi:10.1038/nn.3689. ``amplitude`` is the largest error towards the
    last stimulus; negative for repulsion. Intervals from a bootstrap.

    Args:
        error: report minus true value, radians, (n,).
        difference: last stimulus minus the current one, radians, (n,).
        resamples: of the bootstrap.
        seed: of the bootstrap.
    """
    y, x = (np.angle(np.exp(1j * np.asarray(one, float))) for one in (error, difference))
    widths = np.linspace(0.4, 3.0, 27)  # 1 / rad: peaks at 0.24 to 1.8 rad
    curves = np.sqrt(2) * np.exp(0.5) * widths * x[:, None] * np.exp(-((widths * x[:, None]) ** 2))

    def fit(rows: Any) -> tuple[float, float]:
        # For each width the best amplitude is linear least squares.
        shape, target = curves[rows], y[rows]
        amplitude = (shape * target[:, None]).sum(axis=0) / (shape**2).sum(axis=0)
        best = int(np.argmax(amplitude**2 * (shape**2).sum(axis=0)))
        return float(amplitude[best]), float(widths[best])

    amplitude, width = fit(slice(None))
    rng = np.random.default_rng(seed)
    drawn = [fit(rng.integers(0, len(y), len(y)))[0] for _ in range(resamples)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Measured(
        {
            "amplitude": Measure(amplitude, float(low), float(high), len(y), "rad"),
            "peak": Measure(1 / (np.sqrt(2) * width), np.nan, np.nan, len(y), "rad"),
        }
    )


# ---- learning ----


def learning_curve(
    curves: Sequence[tuple[ArrayLike, ArrayLike]], criterion: float, *, points: int = 50
) -> Measured:
    """Return mean and spread of learning curves over seeds, and the trials to criterion.

    ``to criterion`` is the median over seeds; NaN if half of them or fewer reach it.

    Args:
        curves: (trials or updates, score) of each seed, (k,) each, ascending.
        criterion: score to be reached.
        points: number of rows of the table.
    """
    pairs = [(np.asarray(x, float), np.asarray(y, float)) for x, y in curves]
    if not pairs:
        raise InvalidValueError("No curve was given. Expected one per seed. Give (trials, score).")
    grid = np.linspace(max(x[0] for x, _ in pairs), min(x[-1] for x, _ in pairs), points)
    scores = np.stack([np.interp(grid, x, y) for x, y in pairs])
    reached = np.array([x[np.argmax(y >= criterion)] if (y >= criterion).any() else np.nan
                        for x, y in pairs])  # fmt: skip
    table = pd.DataFrame(
        {
            "at": grid,
            "mean": scores.mean(axis=0),
            "SD": scores.std(axis=0, ddof=1) if len(pairs) > 1 else np.nan,
            "lowest": scores.min(axis=0),
            "highest": scores.max(axis=0),
        }
    )
    hits = reached[~np.isnan(reached)]
    known = len(hits) * 2 > len(reached)
    middle = float(np.median(hits)) if known else float("nan")
    ends = (hits.min(), hits.max()) if len(hits) else (np.nan, np.nan)
    low, high = wilson_interval(len(hits), len(reached))
    return Measured(
        {
            "to criterion": Measure(middle, float(ends[0]), float(ends[1]), len(hits)),
            "reached": Measure(len(hits) / len(reached), low, high, len(reached)),
        },
        table,
        () if known else (
            f"{len(hits)} of {len(reached)} seeds reached {criterion:g}: too few for a median.",
        ),
    )  # fmt: skip


ALL: Mapping[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        choice_glm,
        circular_mixture,
        conditional_accuracy,
        contraction_bias,
        cue_combination,
        d_prime,
        indifference_point,
        learning_curve,
        psychophysical_kernel,
        quantile_probability,
        reward_transition,
        scalar_timing,
        serial_dependence,
        stop_signal,
        win_stay_lose_switch,
    )
}
"""All analyses by name."""
