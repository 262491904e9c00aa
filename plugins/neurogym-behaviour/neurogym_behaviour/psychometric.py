"""Psychometric functions, fitted by maximum likelihood, with profile-likelihood intervals.

The probability of a response at stimulus strength x is ::

    P(x) = guess + (1 - guess - lapse) F(x)

    logistic   F(x) = 1 / (1 + exp(-slope (x - threshold)))   x of any sign; F(threshold) = 1/2
    weibull    F(x) = 1 - exp(-(x / threshold) ** slope)      x >= 0; F(threshold) = 1 - 1/e = 0.632

Source: Wichmann & Hill (2001a), Perception & Psychophysics 63:1293 (the fit; why the lapse rate
must be free; the deviance); (2001b), 63:1314 (the parametric bootstrap). Intervals: threshold and
slope by the profile likelihood (Wilks 1938, Ann. Math. Stat. 9:60); guess and lapse rate by the
profile score (Rao 1948), because the likelihood's upper end is too low where few lapses were seen.
For one proportion, the score interval is Wilson's. Where responses vary more than those of
independent trials, the intervals are quasi-likelihood ones (McCullagh & Nelder 1989, section 4.5):
limits are multiplied by the deviance per degree of freedom, and chi-squared becomes F."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize
from scipy.stats import chi2
from scipy.stats import f as fisher
from scipy.stats import t as student

from neurogym_behaviour._columns import is_value, sessions_of, slot_column, values_by
from neurogym_behaviour.intervals import check_confidence
from neurogym_core import InvalidValueError, TrialRecord

Shape = Literal["logistic", "weibull"]
Interval = Literal["profile", "bootstrap"]

_TINY = 1e-12  # keeps log(P) finite; no number of trials distinguishes it from 0
_GROUPS = 12
"""Maximum number of groups of strengths in the test of the deviance."""
_UNLIKELY, _LEAST_DF = 0.1, 5
"""Deviances with a smaller p-value, and at least these degrees of freedom, widen the intervals."""
_STEPS = 8
"""Steps from the estimate of an asymptote to 0 in which the lower end of its interval is sought."""


@dataclass(frozen=True)
class PsychometricFit:
    """A fitted psychometric function; the module's docstring has the formula.

    Attributes:
        shape: ``"logistic"`` or ``"weibull"``.
        threshold: in units of x, where F is 1/2 (logistic) or 0.632 (Weibull); see also
            `threshold_at`.
        slope: logistic: per unit of x; Weibull: the exponent, without unit.
        guess: the lower asymptote.
        lapse: one minus the upper asymptote.
        log_likelihood: of the responses, natural logarithm, without the binomial coefficients.
        deviance: twice the difference in log-likelihood to a curve through every point; small is
            good. More than 12 strengths are first joined to 12 groups of about as many trials.
        df: degrees of freedom of the deviance: strengths, or groups, minus free parameters.
        p_value: of the deviance, from chi-squared with `df` degrees of freedom; NaN for df = 0.
            Small values: the curve misses the points, and its parameters have no meaning.
        n_trials: trials fitted.
        n_excluded: trials left out because they were not answered correctly or incorrectly.
        separable: whether every strength has the response in all of its trials or in none. Many
            curves then fit equally well, and the estimates are arbitrary within their intervals.
        undetermined: names of parameters that the data do not determine: their
            profile-likelihood interval reaches a limit of the search (for asymptotes: `max_lapse`).
            Such values have no meaning.
        cautions: sentences about causes of intervals that are too narrow, or were made wider.
        intervals: parameter -> (low, high). Fixed parameters have none. Ends of threshold and slope
            that the data do not determine are 0, -inf or inf.
        confidence: confidence level of the intervals.
    """

    shape: Shape
    threshold: float
    slope: float
    guess: float
    lapse: float
    log_likelihood: float
    deviance: float
    n_trials: int
    df: int = 0
    p_value: float = float("nan")
    separable: bool = False
    n_excluded: int = 0
    undetermined: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict, hash=False)
    confidence: float = 0.95

    @property
    def overdispersion(self) -> float:
        """Deviance per degree of freedom; near 1 if responses are independent; NaN for df = 0."""
        return self.deviance / self.df if self.df else float("nan")

    @property
    def bias(self) -> float | None:
        """Strength at which both sides are equally likely, in units of x: the logistic's threshold.

        None for a Weibull function, which has no sides.
        """
        return self.threshold if self.shape == "logistic" else None

    def predict(self, x: ArrayLike) -> np.ndarray:
        """Return P(x) as float, in the shape of `x`.

        Raises:
            InvalidValueError: a negative strength for a Weibull function.
        """
        values = np.asarray(x, float)
        if self.shape == "weibull" and np.any(values < 0):
            raise _negative(values)
        rising = _SHAPES[self.shape](values, self.threshold, self.slope).value
        return self.guess + (1 - self.guess - self.lapse) * rising

    def threshold_at(self, p: float) -> float:
        """Return the strength x at which P(x) = p.

        Raises:
            InvalidValueError: the curve does not reach p.
        """
        top = 1 - self.lapse
        if not self.guess < p < top:
            raise InvalidValueError(
                f"threshold_at() was given p={p!r} for a curve from {self.guess:.4g} to {top:.4g}."
                " Expected a probability between these. Choose one that the curve reaches."
            )
        rising = (p - self.guess) / (top - self.guess)
        if self.shape == "logistic":
            return float(self.threshold + np.log(rising / (1 - rising)) / self.slope)
        return float(self.threshold * (-np.log1p(-rising)) ** (1 / self.slope))


def fit_psychometric(
    record: TrialRecord,
    x: str | ArrayLike = "coherence",
    y: Literal["correct", "choice"] | ArrayLike = "correct",
    *,
    choice: int | str = 1,
    n_choices: int = 2,
    slot: str | None = None,
    shape: Shape | None = None,
    guess: float | Literal["free", "symmetric"] | None = None,
    lapse: float | Literal["free"] = "free",
    max_lapse: float = 0.2,
    interval: Interval | None = "profile",
    resamples: int = 2000,
    seed: int | np.random.Generator = 0,
    confidence: float = 0.95,
) -> PsychometricFit:
    """Fit a psychometric function to a record; unanswered trials are left out and counted.

    With ``y="correct"``, P(correct) over the unsigned strength: by default a Weibull function with
    ``guess = 1 / n_choices``. With ``y="choice"``, P(choosing `choice`) over the signed strength
    (`signed_strength`): by default a logistic function with a bias, and equal lapse rates on both
    sides. With five or more sessions (column ``session``), profile intervals of threshold and slope
    are at least as wide as those of errors that are robust to clusters of trials.

    Args:
        record: n trials.
        x: a condition's name, or values (n,).
        y: the response, or bools (n,).
        choice: for ``y="choice"``: the name or index of the choice whose probability rises with x.
        n_choices: for ``y="correct"``: the number of choices.
        slot: the answer slot, if a trial has several.
        shape, guess, lapse, max_lapse, interval, resamples, seed, confidence: see `fit_curve`.

    Raises:
        MissingDependencyError: SciPy is not installed.
        UnknownNameError: the record has no such column.
        InvalidValueError: no trial was answered, or as `fit_curve`.
    """
    name, values = values_by(record, x)
    if values.dtype.kind not in "biuf":
        raise InvalidValueError(
            f"fit_psychometric() was given {name} of type {values.dtype}. Expected numbers. Choose"
            " a condition that measures the strength of the stimulus."
        )
    kept, hit, by_choice = (
        record.answered(slot),
        _responses(record, y, choice, slot),
        _is(y, "choice"),
    )
    if not kept.any():
        raise InvalidValueError(
            f"None of {len(record)} trials was answered correctly or incorrectly. Expected answered"
            " trials. Check the record's outcomes: the subject may abort or miss every trial."
        )
    levels, group = np.unique(values[kept].astype(float), return_inverse=True)
    how: dict[str, Any] = {
        "shape": shape or ("logistic" if by_choice else "weibull"),
        "guess": guess if guess is not None else "symmetric" if by_choice else _chance(n_choices),
        "lapse": lapse,
        "max_lapse": max_lapse,
        "interval": interval,
        "resamples": resamples,
        "seed": seed,
        "confidence": confidence,
    }
    fit = fit_curve(
        levels,
        np.bincount(group, weights=hit[kept], minlength=len(levels)),
        np.bincount(group, minlength=len(levels)),
        **how,
    )
    fit = replace(fit, n_excluded=int(len(record) - kept.sum()))
    sessions = sessions_of(record[kept])
    if interval != "profile" or sessions is None or "slope" in fit.undetermined:
        return fit
    return _over_sessions(fit, levels, group, hit[kept], sessions, how)


def _over_sessions(
    fit: PsychometricFit,
    levels: np.ndarray,
    group: np.ndarray,
    hit: np.ndarray,
    sessions: np.ndarray,
    how: Mapping[str, Any],
) -> PsychometricFit:
    """Return the fit with intervals of threshold and slope that allow for differences of sessions.

    They are at least those of errors that are robust to clusters (Liang & Zeger 1986, Biometrika
    73:13), with the quantile of Student's t for the number of sessions. A lapse rate of 0 is fixed,
    and so is a free guess rate.
    """
    m, intervals = int(sessions.max()) + 1, dict(fit.intervals)
    k, n = np.zeros((m, len(levels))), np.zeros((m, len(levels)))
    np.add.at(k, (sessions, group), hit)
    np.add.at(n, (sessions, group), 1)
    steps = {"threshold": 1e-3 / fit.slope, "slope": 1e-3 * fit.slope}
    if fit.shape == "weibull":
        steps["threshold"] = 1e-3 * fit.threshold
    if how["lapse"] == "free" and fit.lapse > 1e-6:
        steps["lapse"] = min(1e-3, fit.lapse / 2)
    steps = {name: one for name, one in steps.items() if name not in fit.undetermined}

    def moved(name: str, by: float) -> np.ndarray:
        both = ("lapse", "guess") if name == "lapse" and how["guess"] == "symmetric" else (name,)
        return replace(fit, **{one: getattr(fit, one) + by for one in both}).predict(levels)

    change = np.stack([(moved(name, h) - moved(name, -h)) / (2 * h) for name, h in steps.items()])
    p = np.clip(fit.predict(levels), 1e-9, 1 - 1e-9)
    scores = ((k - n * p) / (p * (1 - p))) @ change.T
    bread = np.linalg.pinv((change * (n.sum(axis=0) / (p * (1 - p)))) @ change.T)
    errors = np.sqrt(np.diag(bread @ scores.T @ scores @ bread) * m / (m - 1))
    limit = float(student.ppf((1 + fit.confidence) / 2, m - 1))
    for name, error in zip(steps, errors.tolist(), strict=True):
        if name in ("threshold", "slope") and name in intervals:
            value, (low, high) = getattr(fit, name), intervals[name]
            intervals[name] = (min(low, value - limit * error), max(high, value + limit * error))
    said = (
        f"threshold and slope have intervals that allow for differences between"
        f" {m} sessions; if these do not differ, the intervals are too wide."
    )
    return replace(fit, intervals=intervals, cautions=(*fit.cautions, said))


def fit_curve(
    x: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    *,
    shape: Shape = "logistic",
    guess: float | Literal["free", "symmetric"] = 0.0,
    lapse: float | Literal["free"] = "free",
    max_lapse: float = 0.2,
    interval: Interval | None = "profile",
    resamples: int = 2000,
    seed: int | np.random.Generator = 0,
    confidence: float = 0.95,
) -> PsychometricFit:
    """Fit a psychometric function to counts by maximum likelihood, from several starting points.

    The curve rises. Threshold and log slope are searched in coordinates without units, within
    limits far beyond those that the strengths can determine.

    Args:
        x: strengths, (m,); equal ones are pooled.
        k: responses at each strength, (m,).
        n: trials at each strength, (m,); levels without trials are ignored.
        shape: ``"logistic"`` or ``"weibull"`` (x >= 0).
        guess: the lower asymptote: a fixed number, ``"free"`` (0 to `max_lapse`), or
            ``"symmetric"``: the lapse rate.
        lapse: one minus the upper asymptote: a fixed number, or ``"free"`` (0 to `max_lapse`).
        max_lapse: upper limit of a free asymptote.
        interval: ``"profile"``: threshold and slope from the profile likelihood, asymptotes from
            the profile score. ``"bootstrap"``: percentiles of a parametric bootstrap; slow, and too
            narrow where the subject hardly errs. None: no intervals.
        resamples: number of simulated data sets of the bootstrap.
        seed: seed of the bootstrap: an int, or a Generator, whose state advances.
        confidence: confidence level of the intervals.

    Raises:
        MissingDependencyError: SciPy is not installed.
        InvalidValueError: invalid counts or strengths, or fewer levels than free parameters.
    """
    check_confidence(confidence)
    if interval not in ("profile", "bootstrap", None):
        raise InvalidValueError(
            f"interval={interval!r} was given. Expected 'profile', 'bootstrap' or None. Choose one"
            " of them."
        )
    if resamples != int(resamples) or resamples < 1:
        raise InvalidValueError(
            f"resamples={resamples!r} was given. Expected the number of data sets to simulate, at"
            " least 1. Give 2000 for a paper."
        )
    model = _model(shape, guess, lapse, max_lapse)
    data = _data(x, k, n, shape)
    _check_levels(data, model)
    search = _Search(model, data.x)
    best = search.best(data, search.starts(data))
    fit = replace(_fit(model, search, data, best), confidence=confidence)
    profile = _Profile(search, data, best, _root(fit))
    loose = profile.loose_ends()
    fit = replace(fit, undetermined=_undetermined(model, loose))
    fit = replace(fit, cautions=_cautions(fit, data.x))
    if interval is None:
        return fit
    if interval == "profile":
        return replace(fit, intervals=_opened(profile.intervals(loose), loose, shape))
    intervals = _bootstrap(
        search, data, best, fit, resamples, np.random.default_rng(seed), confidence
    )
    return replace(fit, intervals=_opened(intervals, loose, shape))


def _cautions(fit: PsychometricFit, x: np.ndarray) -> tuple[str, ...]:
    """Return a sentence if few strengths are beyond the threshold.

    Lapses and threshold then explain the same errors. The limits are those of the table of coverage
    (`docs/_make/coverage.py`).
    """
    cautions = []
    if _overdispersed(fit):
        cautions.append(
            f"responses vary more than those of independent trials (deviance per degree of freedom"
            f" {fit.overdispersion:.1f}): profile intervals are wider by its root. Look for drift,"
            " blocks, or sessions that differ."
        )
    above, below = int((x > fit.threshold).sum()), int((x < fit.threshold).sum())
    if fit.shape == "weibull" and above <= 2:
        where = f"{above} of {len(x)} strengths are above the threshold"
    elif fit.shape == "logistic" and min(above, below) <= 1:
        where = f"{min(above, below)} of {len(x)} strengths are beyond the bias"
    else:
        return tuple(cautions)
    return (
        *cautions,
        f"{where}, so that lapses and a higher threshold explain the same errors: 95 % intervals"
        " contain the truth in 75 to 93 % of such data. Add stronger evidence.",
    )


def _overdispersed(fit: PsychometricFit) -> bool:
    return fit.df >= _LEAST_DF and fit.p_value < _UNLIKELY


def _root(fit: PsychometricFit) -> float:
    """Return the limit of the signed root of the change of the deviance within the interval."""
    if _overdispersed(fit):
        return float(np.sqrt(fit.overdispersion * fisher.ppf(fit.confidence, 1, fit.df)))
    return float(np.sqrt(chi2.ppf(fit.confidence, 1)))


# ---- the two shapes ----


class _Rising(NamedTuple):
    """F and its derivatives by the search coordinates, location and log slope; each (m,)."""

    value: np.ndarray
    by_location: np.ndarray
    by_log_slope: np.ndarray


def _logistic(x: np.ndarray, threshold: float, slope: float) -> _Rising:
    z = slope * (x - threshold)
    value = 0.5 * (1 + np.tanh(z / 2))  # the logistic function, without overflow
    steepness = value * (1 - value)
    return _Rising(value, -slope * steepness, z * steepness)


def _weibull(x: np.ndarray, threshold: float, slope: float) -> _Rising:
    with np.errstate(divide="ignore"):
        logs = np.log(x) - np.log(threshold)
    power = np.exp(np.clip(slope * logs, -700, 700))
    density = np.exp(-power) * power
    # At x = 0 the power vanishes faster than the logarithm grows.
    return _Rising(
        -np.expm1(-power), -slope * density, density * slope * np.where(x > 0, logs, 0.0)
    )


_SHAPES = {"logistic": _logistic, "weibull": _weibull}


# ---- model and data ----


class _Model(NamedTuple):
    """Free and fixed parameters.

    `guess` and `lapse` are numbers if they are fixed, and None if they are free.
    """

    shape: Shape
    guess: float | None
    lapse: float | None
    symmetric: bool
    max_lapse: float

    @property
    def free(self) -> tuple[str, ...]:
        """Names of the free parameters, in the order of the search's vector."""
        asymptotes = [
            name for name, fixed in (("guess", self.guess), ("lapse", self.lapse)) if fixed is None
        ]
        if self.symmetric and "guess" in asymptotes:
            asymptotes.remove("guess")
        return ("threshold", "slope", *asymptotes)


class _Data(NamedTuple):
    """Distinct strengths ascending, responses and trials; each (m,) float."""

    x: np.ndarray
    k: np.ndarray
    n: np.ndarray


def _model(shape: Any, guess: Any, lapse: Any, max_lapse: Any) -> _Model:
    if shape not in _SHAPES:
        raise InvalidValueError(
            f"shape={shape!r} was given. Expected 'logistic' or 'weibull'. Choose one of them."
        )
    symmetric = _is(guess, "symmetric")
    fixed_lapse = None if _is(lapse, "free") else _share("lapse", lapse, "'free'")
    if symmetric:
        fixed_guess = fixed_lapse
    else:
        fixed_guess = (
            None if _is(guess, "free") else _share("guess", guess, "'free' or 'symmetric'")
        )
    top = _share("max_lapse", max_lapse, "at most 0.5 with a free or symmetric guess rate")
    highest = [top if fixed is None else fixed for fixed in (fixed_guess, fixed_lapse)]
    if sum(highest) >= 1 or (symmetric and highest[0] >= 0.5):
        raise InvalidValueError(
            f"guess={guess!r}, lapse={lapse!r} and max_lapse={max_lapse!r} leave no room between"
            " the asymptotes. Expected them to sum to less than 1. Lower max_lapse, or the fixed"
            " rate."
        )
    return _Model(shape, fixed_guess, fixed_lapse, symmetric, top)


def _share(name: str, value: Any, alternative: str) -> float:
    if isinstance(value, int | float | np.number) and 0 <= value < 1:
        return float(value)
    raise InvalidValueError(
        f"{name}={value!r} was given. Expected a number from 0 to below 1, or {alternative}. Give"
        " one of these."
    )


def _data(x: ArrayLike, k: ArrayLike, n: ArrayLike, shape: Shape) -> _Data:
    values, hits, trials = np.asarray(x, float), np.asarray(k, float), np.asarray(n, float)
    if values.ndim != 1 or hits.shape != values.shape or trials.shape != values.shape:
        raise InvalidValueError(
            f"x, k and n have the shapes {values.shape}, {hits.shape} and {trials.shape}. Expected"
            " (m,) for all. Give one count of responses and one of trials per strength."
        )
    if not np.isfinite(values).all():
        raise InvalidValueError(
            f"{int((~np.isfinite(values)).sum())} of {len(values)} strengths are NaN or infinite."
            " Expected finite numbers. Leave these trials out before the fit."
        )
    if not np.all(
        (hits >= 0) & (hits <= trials) & np.isfinite(trials) & (hits % 1 == 0) & (trials % 1 == 0)
    ):
        raise InvalidValueError(
            f"k={hits.tolist()!r:.60} of n={trials.tolist()!r:.60} was given. Expected whole"
            " numbers, 0 <= k <= n. Give the number of responses and the number of trials at each"
            " strength, not fractions."
        )
    if shape == "weibull" and np.any(values < 0):
        raise _negative(values)
    levels, group = np.unique(values[trials > 0], return_inverse=True)
    joined = (
        np.bincount(group, weights=w[trials > 0], minlength=len(levels)) for w in (hits, trials)
    )
    return _Data(levels, *joined)


def _check_levels(data: _Data, model: _Model) -> None:
    # With a fixed guess rate, all Weibull curves agree at 0, so that level is not informative.
    informative = (
        data.x > 0
        if model.shape == "weibull" and model.guess is not None
        else np.ones(len(data.x), bool)
    )
    if int(informative.sum()) < len(model.free):
        raise InvalidValueError(
            f"{int(informative.sum())} strengths with answered trials constrain the curve"
            f" ({data.x.tolist()!r:.60}), and {', '.join(model.free)} are free. Expected at least"
            " as many strengths as free parameters. Fix the lapse or guess rate (lapse=0.02), or"
            " play trials of more strengths."
        )


def _responses(record: TrialRecord, y: Any, choice: int | str, slot: str | None) -> np.ndarray:
    if _is(y, "correct"):
        return slot_column(record, "outcome", slot) == "correct"
    if _is(y, "choice"):
        return is_value(record, record.of_slot("choice", slot), choice)
    hit = np.asarray(y)
    if hit.shape != (len(record),) or hit.dtype != bool:
        raise InvalidValueError(
            f"y={y!r:.60} was given. Expected 'correct', 'choice', or {len(record)} bools, one per"
            " trial. Give the responses in one of these forms."
        )
    return hit


def _chance(n_choices: int) -> float:
    if n_choices < 1 or n_choices != int(n_choices):
        raise InvalidValueError(
            f"n_choices={n_choices!r} was given. Expected a whole number of at least 1. Give the"
            " number of choices."
        )
    # With one choice (detection), no answer is a correct guess.
    return 1 / n_choices if n_choices > 1 else 0.0


def _is(value: Any, name: str) -> bool:
    return isinstance(value, str) and value == name


def _negative(values: np.ndarray) -> InvalidValueError:
    return InvalidValueError(
        f"A Weibull function was given negative strengths, down to {values.min():.4g}. Expected"
        " x >= 0. Use unsigned strengths (y='correct'), or shape='logistic' for signed ones."
    )


# ---- the search ----


class _Search:
    """Maximum likelihood in coordinates of order one.

    They are location, log slope, then the free asymptotes.
    """

    def __init__(self, model: _Model, x: np.ndarray) -> None:
        self.model = model
        self.curve = _SHAPES[model.shape]
        limits = _logistic_limits(x) if model.shape == "logistic" else _weibull_limits(x)
        self.bounds = np.array([*limits, *[(0.0, model.max_lapse)] * (len(model.free) - 2)])
        # The logistic's location is in units of the middle and half range of x; the Weibull's is
        # log x.
        self.middle, self.scale = float(x.min() + x.max()) / 2, float(x.max() - x.min()) / 2
        self._make_grid(x)

    def parameters(self, point: np.ndarray) -> dict[str, Any]:
        """Return threshold, slope, guess and lapse at a point of the search."""
        location, log_slope, *asymptotes = (float(value) for value in point)
        free = dict(zip(self.model.free[2:], asymptotes, strict=True))
        lapse = free.get("lapse", self.model.lapse)
        guess = lapse if self.model.symmetric else free.get("guess", self.model.guess)
        logistic = self.model.shape == "logistic"
        threshold = self.middle + self.scale * location if logistic else float(np.exp(location))
        slope = float(np.exp(log_slope)) / (self.scale if logistic else 1.0)
        return {"threshold": threshold, "slope": slope, "guess": guess, "lapse": lapse}

    def probabilities(
        self, parameters: Mapping[str, float], x: np.ndarray
    ) -> tuple[np.ndarray, _Rising]:
        """Return P(x), clipped away from 0 and 1, and F(x)."""
        rising = self.curve(x, parameters["threshold"], parameters["slope"])
        room = 1 - parameters["guess"] - parameters["lapse"]
        return np.clip(parameters["guess"] + room * rising.value, _TINY, 1 - _TINY), rising

    def loss(self, point: np.ndarray, data: _Data) -> tuple[float, np.ndarray]:
        """Return the negative log-likelihood and its gradient."""
        parameters = self.parameters(point)
        p, _ = self.probabilities(parameters, data.x)
        by_p = -(data.k / p - (data.n - data.k) / (1 - p))
        value = -float(data.k @ np.log(p) + (data.n - data.k) @ np.log1p(-p))
        return value, self._slopes(parameters, data.x) @ by_p

    def information(self, point: np.ndarray, data: _Data) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient of the loss, (free,), and the expected information, (free, free)."""
        parameters = self.parameters(point)
        p, _ = self.probabilities(parameters, data.x)
        slopes = self._slopes(parameters, data.x)
        return (
            slopes @ -(data.k / p - (data.n - data.k) / (1 - p)),
            (slopes * (data.n / (p * (1 - p)))) @ slopes.T,
        )

    def _slopes(self, parameters: Mapping[str, float], x: np.ndarray) -> np.ndarray:
        """Return the derivatives of P(x) by the free coordinates, (free, m)."""
        rising = self.curve(x, parameters["threshold"], parameters["slope"])
        room = 1 - parameters["guess"] - parameters["lapse"]
        step = self.scale if self.model.shape == "logistic" else 1.0
        slopes = [step * room * rising.by_location, room * rising.by_log_slope]
        for name in self.model.free[2:]:
            slopes.append(1 - rising.value if name == "guess" else -rising.value)
            if self.model.symmetric:
                slopes[-1] = 1 - 2 * rising.value
        return np.array(slopes)

    def best(
        self, data: _Data, starts: np.ndarray, fixed: Mapping[int, float] | None = None
    ) -> np.ndarray:
        """Return the point with the lowest loss reached from `starts` (s, free).

        Coordinates in `fixed` keep their values.
        """
        bounds = self.bounds.copy()
        for index, value in (fixed or {}).items():
            bounds[index] = value
        # Minimise the loss per trial: the stopping rule is then the same for any number of trials.
        total = max(data.n.sum(), 1.0)

        def scaled(point: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = self.loss(point, data)
            return value / total, gradient / total

        options = {"ftol": 1e-11, "gtol": 1e-7, "maxiter": 300}
        ends = [
            minimize(
                scaled,
                np.clip(s, *bounds.T),
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                options=options,
            )
            for s in starts
        ]
        return np.asarray(min(ends, key=lambda end: end.fun).x)

    def starts(self, data: _Data, best: int = 4) -> np.ndarray:
        """Return the best points of a grid, (best, free).

        One start is not enough: likelihoods with lapses have several maxima.
        """
        losses = -(self.grid_log_p @ data.k + self.grid_log_q @ (data.n - data.k))
        return self.grid[np.argsort(losses, kind="stable")[:best]]

    def _make_grid(self, x: np.ndarray) -> None:
        """Tabulate starting points with log P and log (1 - P), which each bootstrap sample uses."""
        low, high = self.bounds[:2].T
        locations, log_slopes = (
            np.linspace(low[0], high[0], 11)[1:-1],
            np.linspace(low[1], high[1], 9)[1:-1],
        )
        asymptotes = [0.1 * self.model.max_lapse] * (len(self.model.free) - 2)
        self.grid = np.array(
            [[location, slope, *asymptotes] for location in locations for slope in log_slopes]
        )
        p = np.array([self.probabilities(self.parameters(point), x)[0] for point in self.grid])
        self.grid_log_p, self.grid_log_q = np.log(p), np.log1p(-p)


def _logistic_limits(x: np.ndarray) -> list[tuple[float, float]]:
    """Return the limits of location and log slope.

    The location extends one range of x beyond its ends; the slope, from nearly flat to a step
    between neighbouring levels.
    """
    half = (x.max() - x.min()) / 2
    return [(-3.0, 3.0), (np.log(0.1), np.log(20 * half / np.diff(x).min()))]


def _weibull_limits(x: np.ndarray) -> list[tuple[float, float]]:
    """Return the limits of log threshold and log exponent.

    The threshold extends a factor of 10 beyond the levels above 0; the exponent is 0.1 to 20, where
    measured ones are 1 to 4.
    """
    levels = x[x > 0]
    return [(np.log(levels.min() / 10), np.log(levels.max() * 10)), (np.log(0.1), np.log(20.0))]


def _fit(model: _Model, search: _Search, data: _Data, best: np.ndarray) -> PsychometricFit:
    parameters = search.parameters(best)
    deviance, df = _deviance(data, search.probabilities(parameters, data.x)[0], len(model.free))
    return PsychometricFit(
        shape=model.shape,
        **parameters,
        log_likelihood=-search.loss(best, data)[0],
        deviance=deviance,
        n_trials=int(data.n.sum()),
        df=df,
        p_value=float(chi2.sf(deviance, df)) if df else float("nan"),
        separable=bool(np.all((data.k == 0) | (data.k == data.n))),
    )


def _undetermined(model: _Model, loose: np.ndarray) -> tuple[str, ...]:
    names = [name for name, unsure in zip(model.free, np.any(loose, axis=1), strict=True) if unsure]
    return (*names, "guess") if model.symmetric and "lapse" in names else tuple(names)


def _deviance(data: _Data, p: np.ndarray, free: int) -> tuple[float, int]:
    """Return the deviance of a curve of probabilities `p`, (m,), and its degrees of freedom.

    Chi-squared needs several trials per strength, so many strengths are joined first.
    """
    if len(p) > _GROUPS:
        before = np.cumsum(data.n) - data.n / 2  # trials below the middle of each strength
        group = np.minimum((before / data.n.sum() * _GROUPS).astype(int), _GROUPS - 1)
        expected, k, n = (
            np.bincount(group, weights=w, minlength=_GROUPS) for w in (p * data.n, data.k, data.n)
        )
        full = n > 0
        p, k, n = np.clip(expected[full] / n[full], _TINY, 1 - _TINY), k[full], n[full]
    else:
        k, n = data.k, data.n
    observed = np.clip(k / n, _TINY, 1 - _TINY)
    each = k * np.log(observed / p) + (n - k) * np.log((1 - observed) / (1 - p))
    return max(0.0, 2 * float(each.sum())), max(len(p) - free, 0)


BARTLETT = 12.0
"""Factor 1 + BARTLETT / trials of the squared distance of the ends of threshold and slope."""


class _Profile:
    """Intervals from fits in which one parameter is held."""

    def __init__(self, search: _Search, data: _Data, best: np.ndarray, root: float) -> None:
        self.search, self.data, self.best, self.root = search, data, best, root
        self.least = search.loss(best, data)[0]
        # A Bartlett-like factor: at 200 trials, the signed root of the slope has a mean of -0.2
        # (simulations), so that intervals without it cover too rarely.
        self.wide = self.root * float(np.sqrt(1 + BARTLETT / data.n.sum()))

    def held(self, index: int, value: float, near: np.ndarray) -> np.ndarray:
        """Return the best point with coordinate `index` at `value`, from `near` and the optimum."""
        # Where the likelihood has several maxima, the nearest start finds the connected one.
        starts = np.array([near, self.best])
        return self.search.best(self.data, starts, fixed={index: value})

    def beyond(self, index: int, point: np.ndarray) -> float:
        """Return how many SDs a held point is outside the interval; below 0 inside."""
        if index < 2:
            cost = 2 * (self.search.loss(point, self.data)[0] - self.least)
            return float(np.sqrt(max(cost, 0))) - self.wide
        slopes, information = self.search.information(point, self.data)
        # A nuisance asymptote at 0 or max_lapse cannot move, so it takes no information away.
        others = [
            j
            for j in range(len(point))
            if j != index
            and (j < 2 or self.search.bounds[j, 0] < point[j] < self.search.bounds[j, 1])
        ]
        taken = np.linalg.lstsq(
            information[np.ix_(others, others)], information[others, index], rcond=None
        )[0]
        left = max(information[index, index] - information[index, others] @ taken, 1e-300)
        return float(abs(slopes[index]) / np.sqrt(left)) - self.root

    def loose_ends(self) -> np.ndarray:
        """Return which ends of the parameters' intervals are open, bool (free, 2).

        The parameter is held at its lower or upper limit, and all others are refitted. If that
        costs too little likelihood, the interval reaches the limit.
        """
        loose = np.zeros((len(self.best), 2), bool)
        for index, side in np.ndindex(loose.shape):
            if index >= 2 and side == 0:
                continue  # a lapse rate of 0 is a valid estimate
            point = self.held(index, float(self.search.bounds[index, side]), self.best)
            loose[index, side] = self.beyond(index, point) < 0
        return loose

    def intervals(self, loose: np.ndarray) -> dict[str, tuple[float, float]]:
        """Return parameter -> (low, high)."""
        found = {}
        for index, name in enumerate(self.search.model.free):
            low, high = (self._end(index, side, bool(loose[index, side])) for side in (0, 1))
            found[name] = (low, high)
            if self.search.model.symmetric and name == "lapse":
                found["guess"] = (low, high)
        return found

    def _end(self, index: int, side: int, is_open: bool) -> float:
        """Return one end of the interval of a parameter."""
        name = self.search.model.free[index]
        limit, middle = float(self.search.bounds[index, side]), float(self.best[index])
        near, known = self.best, {}

        def beyond(value: float) -> float:
            # Fits from another start may end elsewhere, so each value is fitted once: a search for
            # a root must find at the ends the signs that it was started with.
            nonlocal near
            if value not in known:
                near = self.held(index, value, near)
                known[value] = self.beyond(index, near)
            return known[value]

        end = limit
        if not is_open and limit != middle:
            # At the optimum itself, the distance is 0; of an asymptote at 0, the score is not.
            inner = middle if index < 2 else middle + np.sign(limit - middle) * 1e-9
            outer = limit
            if index < 2:
                known[middle] = -self.wide
            elif side == 0 and beyond(inner) < 0:
                # Near 0, the errors at strong stimuli may be fitted by a lower slope instead, so
                # that the score is small again: the interval ends where it is first too large.
                for outer in np.linspace(middle, limit, _STEPS + 1)[1:].tolist():
                    if beyond(outer) > 0:
                        break
                    inner = outer
            if beyond(outer) > 0 and beyond(inner) < 0:
                near = self.best
                end = brentq(beyond, inner, outer, xtol=1e-5 if index >= 2 else 1e-4, rtol=1e-4)
        point = self.best.copy()
        point[index] = end
        return float(self.search.parameters(point)[name])


def _bootstrap(
    search: _Search,
    data: _Data,
    best: np.ndarray,
    fit: PsychometricFit,
    resamples: int,
    rng: np.random.Generator,
    confidence: float,
) -> dict[str, tuple[float, float]]:
    """Return percentile intervals from data simulated by the fit (Wichmann & Hill 2001b)."""
    p = np.clip(fit.predict(data.x), 0, 1)
    counts = rng.binomial(data.n.astype(int), p, size=(resamples, len(p))).astype(float)
    drawn = []
    for again in (_Data(data.x, k, data.n) for k in counts):
        # Start from the grid too: where the likelihood is flat at `best`, a search does not move.
        starts = np.concatenate([best[None], search.starts(again, best=1)])
        drawn.append(search.parameters(search.best(again, starts)))
    names = [
        *search.model.free,
        *(["guess"] if search.model.symmetric and "lapse" in search.model.free else []),
    ]
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    intervals = {
        name: np.quantile([parameters[name] for parameters in drawn], ends).tolist()
        for name in names
    }
    return {name: (low, high) for name, (low, high) in intervals.items()}


def _opened(
    intervals: dict[str, tuple[float, float]], loose: np.ndarray, shape: Shape
) -> dict[str, tuple[float, float]]:
    """Return the intervals, with open ends where threshold or slope are loose."""
    lowest = {"threshold": -np.inf if shape == "logistic" else 0.0, "slope": 0.0}
    opened = dict(intervals)
    for (name, floor), (low_is_loose, high_is_loose) in zip(lowest.items(), loose[:2], strict=True):
        low, high = intervals[name]
        opened[name] = (floor if low_is_loose else low, float("inf") if high_is_loose else high)
    return opened
