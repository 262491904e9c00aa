"""Statistics of the published signatures of this package; the numbers are in TOML files."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from neurogym_behaviour import measures
from neurogym_behaviour.analyses import MISFIT, block_shift
from neurogym_behaviour.behaviour import (
    Behaviour,
    CannotTellError,
    clicks_over_time,
    slots_of,
)
from neurogym_behaviour.measures import Measure
from neurogym_behaviour.proportions import difference_interval
from neurogym_behaviour.psychometric import PsychometricFit, fit_psychometric
from neurogym_behaviour.standard import last_choices, report_errors
from scipy.optimize import least_squares, minimize_scalar

from neurogym_core import TrialRecord
from neurogym_likeness.signatures.model import signature

RESAMPLES = 100
"""Resamples of the bootstrap of statistics without a formula."""


# ---- perceptual decisions ----


@signature("motion-threshold.toml")
def motion_threshold(behaviour: Behaviour) -> Measure:
    """Return the threshold of a Weibull function without lapses, in the unit of the strength."""
    fit = fit_psychometric(
        behaviour.record, behaviour.level, behaviour.correct, slot=behaviour.slot, shape="weibull",
        guess=0.5, lapse=0.0,
    )  # fmt: skip
    return _parameter(fit, "threshold")


motion_threshold_people = signature("motion-threshold-people.toml")(motion_threshold.compute)


@signature("better-when-strong.toml")
def better_when_strong(behaviour: Behaviour) -> Measure:
    """Return the accuracy at the strongest minus that at the weakest evidence."""
    level, given = behaviour.level, behaviour.answered
    return _shares(
        *(behaviour.correct[given & (level == one)] for one in (level.max(), level.min()))
    )


@signature("slower-when-weak.toml")
def slower_when_weak(behaviour: Behaviour) -> Measure:
    """Return the time of correct answers to the weakest minus the strongest evidence, ms."""
    times, level = _times(behaviour), behaviour.level
    good = behaviour.correct & ~np.isnan(times)
    return measures.mean_difference(
        times[good & (level == level.min())], times[good & (level == level.max())], "ms"
    )


@signature("errors-are-slow.toml")
def errors_are_slow(behaviour: Behaviour) -> Measure:
    """Return error minus correct times at intermediate strengths, weighted by precision, ms."""
    times, level = _times(behaviour), behaviour.level
    found = []
    for value in np.unique(level[level > 0]):
        here = (level == value) & ~np.isnan(times)
        wrong, right = here & behaviour.answered & ~behaviour.correct, here & behaviour.correct
        if wrong.sum() >= 10 and right.sum() >= 10:
            found.append(measures.mean_difference(times[wrong], times[right], "ms"))
    return _weighted(found, "no strength has ten errors with reaction times")


@signature("one-model-for-speed-and-accuracy.toml")
def one_model(behaviour: Behaviour) -> Measure:
    """Return the log ratio of the sensitivities by reaction times and by accuracy."""
    times, level = _times(behaviour), behaviour.level
    used = behaviour.answered & ~np.isnan(times)
    times, level, hit = times[used], level[used] / level.max(), behaviour.correct[used]
    if len(np.unique(level)) < 4:
        raise CannotTellError("fewer than four strengths have reaction times")
    value = _log_ratio(times, level, hit)
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(RESAMPLES):
        rows = rng.integers(0, len(times), len(times))
        drawn.append(_log_ratio(times[rows], level[rows], hit[rows]))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Measure(value, float(low), float(high), len(times))


def _log_ratio(times: np.ndarray, level: np.ndarray, hit: np.ndarray) -> float:
    """Fit tR + b / c * tanh(a c) to the mean times, and logit(p) = 2 a c to the accuracy."""
    strengths, group = np.unique(level, return_inverse=True)
    n = np.bincount(group)
    mean = np.bincount(group, weights=times) / n
    spread = np.sqrt(np.bincount(group, weights=(times - mean[group]) ** 2) / n / n)
    safe = np.maximum(strengths, 1e-6)

    def missed(point: np.ndarray) -> np.ndarray:
        a, b = np.exp(point[:2])
        return (point[2] + b / safe * np.tanh(a * safe) - mean) / np.maximum(spread, 1e-3)

    span = max(float(mean.max() - mean.min()), 1.0)
    fit = least_squares(missed, [np.log(5), np.log(span / 5), float(mean.min())])

    def loss(log_a: float) -> float:
        drive = 2 * np.exp(log_a) * level
        return float(np.where(hit, np.logaddexp(0, -drive), np.logaddexp(0, drive)).sum())

    accurate = minimize_scalar(loss, bounds=(-5, 6), method="bounded").x
    return float(np.clip(fit.x[0], -5, 6) - accurate)


@signature("waiving-gain.toml")
def waiving_gain(behaviour: Behaviour) -> Measure:
    """Return the accuracy of waived bets minus that without an offer, mean over strengths."""
    offered, level, given = behaviour.offered, behaviour.level, behaviour.answered
    sure = behaviour.column("outcome") == "other"
    if not sure.any():
        raise CannotTellError("no sure bet was taken")
    values = behaviour.record[offered]
    with_bet = np.isin(values, np.unique(values[sure]))
    parts = []
    for value in np.unique(level[(level >= 3) & (level <= 26)]):
        waived, without = (
            behaviour.correct[(level == value) & given & mask] for mask in (with_bet, ~with_bet)
        )
        if len(waived) >= 5 and len(without) >= 5:
            parts.append(
                difference_interval(
                    int(waived.sum()), len(waived), int(without.sum()), len(without)
                )
            )
    if not parts:
        raise CannotTellError("too few waived bets at coherences of 3 to 26 %")
    found = np.array(parts)
    half = (found[:, 2] - found[:, 1]) / 2
    middle, error = float(found[:, 0].mean()), float(np.sqrt((half**2).sum()) / len(parts))
    return Measure(middle, middle - error, middle + error, int(given.sum()))


@signature("sure-bets-when-weak.toml")
def sure_bets_when_weak(behaviour: Behaviour) -> Measure:
    """Return the frequency of sure bets at the weakest minus at the strongest evidence."""
    sure, level = behaviour.column("outcome") == "other", behaviour.level
    if not sure.any():
        raise CannotTellError("no sure bet was taken")
    values = behaviour.record[behaviour.offered]
    offered = np.isin(values, np.unique(values[sure])) & (sure | behaviour.answered)
    weak, strong = (sure[offered & (level == one)] for one in (level.min(), level.max()))
    return _shares(weak, strong)


@signature("clicks-lapses.toml")
def clicks_lapses(behaviour: Behaviour) -> Measure:
    """Return the lapse rate on either side of a logistic function of right minus left clicks."""
    _check_clicks(behaviour)
    return _lapse(behaviour)


@signature("clicks-sensitivity.toml")
def clicks_sensitivity(behaviour: Behaviour) -> Measure:
    """Return the slope of a logistic function with lapses, log odds per click."""
    _check_clicks(behaviour)
    return _parameter(_choices(behaviour), "slope")


@signature("clicks-flat-kernel.toml")
def clicks_flat_kernel(behaviour: Behaviour) -> Measure:
    """Return the trend of the weights of the clicks over five parts of the trial."""
    shown, used = clicks_over_time(behaviour)
    steps = shown.shape[1]
    bins = min(5, steps)
    edges = np.linspace(0, steps, bins + 1).astype(int)
    evidence = np.column_stack([shown[:, a:b].sum(axis=1) for a, b in pairwise(edges)])
    if used.sum() < 100:
        raise CannotTellError("fewer than 100 trials are long enough")
    return measures.psychophysical_kernel(evidence[used], behaviour.chose_right[used])["trend"]


@signature("cue-gain.toml")
def cue_gain(behaviour: Behaviour) -> Measure:
    """Return log(better single sigma / sigma of both cues)."""
    found, names = _cues(behaviour)
    single = min((found[f"sigma {name}"] for name in names[:2]), key=lambda one: one.value)
    both = found[f"sigma {names[2]}"]
    value = float(np.log(single.value / both.value))
    error = float(np.hypot(*(np.log(one.high / max(one.low, 1e-9)) / 2 for one in (single, both))))
    return Measure(value, value - error, value + error, both.n)


@signature("cues-as-the-optimum.toml")
def cues_as_the_optimum(behaviour: Behaviour) -> Measure:
    """Return log(sigma of both cues / sigma of the optimal combination)."""
    ratio = _cues(behaviour)[0]["ratio"]
    return Measure(*(float(np.log(one)) for one in (ratio.value, ratio.low, ratio.high)), ratio.n)


def _cues(behaviour: Behaviour) -> tuple[measures.Measured, tuple[str, str, str]]:
    record = behaviour.record
    if "modality" not in record:
        raise CannotTellError("the record has no column 'modality'")
    names = ("visual", "auditory", "both")
    if not set(names) <= set(np.unique(record["modality"]).tolist()):
        raise CannotTellError("the record lacks visual, auditory or combined trials")
    used = behaviour.answered
    return (
        measures.cue_combination(
            behaviour.signed[used], behaviour.chose_right[used], record["modality"][used], names
        ),
        names,
    )


# ---- prior and history ----


@signature("prior-shift.toml")
def prior_shift(behaviour: Behaviour) -> Measure:
    """Return the shift of choices between blocks where the evidence is weakest."""
    value, low, high = block_shift(behaviour)
    return Measure(value, low, high, int(behaviour.answered.sum()))


@signature("contrast-threshold.toml")
def contrast_threshold(behaviour: Behaviour) -> Measure:
    """Return the width of the error function nearest to the fitted logistic function."""
    from neurogym_likeness.comparison import ERF_WIDTH

    slope = _parameter(_choices(behaviour, guess="free"), "slope")
    return Measure(ERF_WIDTH / slope.value, ERF_WIDTH / slope.high, ERF_WIDTH / slope.low, slope.n)


@signature("contrast-lapses.toml")
def contrast_lapses(behaviour: Behaviour) -> Measure:
    """Return the lapse rate, the same on both sides."""
    return _lapse(behaviour)


@signature("repeating-after-reward.toml")
def repeating_after_reward(behaviour: Behaviour) -> Measure:
    """Return the weight of the last choice after a correct answer, log odds."""
    found = last_choices(behaviour, 1).measures
    if "rewarded, 1 back" not in found:
        raise CannotTellError("no correct answer was followed by another answer")
    return found["rewarded, 1 back"]


# ---- reward ----


def _stay_effect(name: str) -> Callable[[Behaviour], Measure]:
    def effect(behaviour: Behaviour) -> Measure:
        record, slots = behaviour.record, slots_of(behaviour.record)
        if "common" not in record or len(slots) < 2:
            raise CannotTellError("the record has no transitions and no two stages")
        choice = record[f"{slots[0]}.choice"]
        used = behaviour.after & (choice >= 0) & behaviour.before(choice >= 0)
        correct = choice == _better_first(record)
        rewarded, common, right = (
            behaviour.before(values)[used]
            for values in (record["reward"] > 0, record["common"], correct)
        )
        stayed = (choice == behaviour.before(choice))[used]
        return measures.reward_transition(stayed, rewarded, common, right)[name]

    return effect


def _better_first(record: TrialRecord) -> np.ndarray:
    """Return the first choice whose common state has the higher chance of reward, (n,)."""
    if "probability" not in record or record["probability"].shape[1:] != (4,):
        raise CannotTellError(
            "the record has no column 'probability' with the chances of reward of the four second"
            " choices, (n, 4): without it, learners without a model have the effect of one"
        )
    chances = record["probability"].astype(float)
    return (chances[:, 2:].max(axis=1) > chances[:, :2].max(axis=1)).astype(int)


@signature("two-step-reward.toml")
def two_step_reward(behaviour: Behaviour) -> Measure:
    """Return the effect of the last reward on repeating the first choice, log odds."""
    return _stay_effect("reward")(behaviour)


@signature("two-step-interaction.toml")
def two_step_interaction(behaviour: Behaviour) -> Measure:
    """Return the effect of reward x transition on repeating the first choice, log odds."""
    return _stay_effect("reward x transition")(behaviour)


@signature("unpredictable-in-a-game.toml")
def unpredictable_in_a_game(behaviour: Behaviour) -> Measure:
    """Return P(win-stay or lose-switch) minus 1/2."""
    choice, paid = behaviour.column("choice"), behaviour.record["reward"] > 0
    used = behaviour.after & (choice >= 0) & behaviour.before(choice >= 0)
    stay = choice == behaviour.before(choice)
    follows = np.where(behaviour.before(paid), stay, ~stay)[used]
    low, high = measures.wilson_interval(int(follows.sum()), len(follows))
    return Measure(float(follows.mean()) - 0.5, low - 0.5, high - 0.5, len(follows))


@signature("both-options-in-a-game.toml")
def both_options_in_a_game(behaviour: Behaviour) -> Measure:
    """Return P(choice 1) minus 1/2."""
    choice = behaviour.column("choice")
    hit = choice[choice >= 0] == 1
    low, high = measures.wilson_interval(int(hit.sum()), len(hit))
    return Measure(float(hit.mean()) - 0.5, low - 0.5, high - 0.5, len(hit))


@signature("relative-value.toml")
def relative_value(behaviour: Behaviour) -> Measure:
    """Return the log of the amount of B that is worth one A."""
    record = behaviour.record
    if not {"offer", "a_choice"} <= set(record.columns) or record["offer"].ndim != 2:
        raise CannotTellError("the record has no offers of two goods")
    offer, choice = record["offer"].astype(float), behaviour.column("choice")
    used = (choice >= 0) & (offer > 0).all(axis=1)
    if not used.any():
        raise CannotTellError("no choice between two goods was made")
    ratio = np.log(offer[used, 1] / offer[used, 0])
    found = measures.indifference_point(ratio, (choice != record["a_choice"])[used])
    if found["log ratio"].low <= 0:
        raise CannotTellError("choices do not rise with the amount, so no ratio is indifferent")
    worth = found["relative value"]
    return Measure(*(float(np.log(one)) for one in (worth.value, worth.low, worth.high)), worth.n)


# ---- memory and time ----


@signature("contraction-bias.toml")
def contraction_bias(behaviour: Behaviour) -> Measure:
    """Return the weight of (first stimulus - mean) over that of the difference."""
    record = behaviour.record
    if not {"first", "second"} <= set(record.columns):
        raise CannotTellError("the record has no columns 'first' and 'second'")
    used = behaviour.answered
    larger = (record["second"] > record["first"])[used]
    said = larger == behaviour.correct[used]
    found = measures.contraction_bias(record["first"][used], record["second"][used], said)
    if found["difference"].low <= 0:
        raise CannotTellError("choices do not depend on the difference")
    return found["contraction"]


def _produced(behaviour: Behaviour) -> tuple[np.ndarray, np.ndarray]:
    if "wanted" not in behaviour.record:
        raise CannotTellError("the record has no column 'wanted'")
    times = behaviour.column("reaction_time")
    used = ~np.isnan(times)
    if used.sum() < 20:
        raise CannotTellError("fewer than 20 intervals were produced")
    wanted = behaviour.record["wanted"].astype(float)[used]
    if len(np.unique(wanted)) < 3:
        raise CannotTellError("fewer than three intervals were asked for")
    if len(np.unique(times[used])) < 2:
        raise CannotTellError("all produced intervals are the same: the subject times none")
    return wanted, times[used]


@signature("interval-regression.toml")
def interval_regression(behaviour: Behaviour) -> Measure:
    """Return 1 minus the slope of produced over wanted intervals."""
    wanted, made = _produced(behaviour)
    slope = measures.scalar_timing(wanted, made)["slope"]
    if slope.low <= 0:
        raise CannotTellError("produced intervals do not grow with the wanted ones")
    return Measure(1 - slope.value, 1 - slope.high, 1 - slope.low, slope.n)


@signature("interval-variability.toml")
def interval_variability(behaviour: Behaviour) -> Measure:
    """Return the slope of the SD over the wanted interval, by intervals, with a bootstrap."""
    wanted, made = _produced(behaviour)
    values, group = np.unique(wanted, return_inverse=True)

    def slope(rows: np.ndarray) -> float:
        counts = np.bincount(group[rows], minlength=len(values))
        sums = np.bincount(group[rows], weights=made[rows], minlength=len(values))
        mean = sums / np.maximum(counts, 1)
        square = (made[rows] - mean[group[rows]]) ** 2
        sd = np.sqrt(np.bincount(group[rows], weights=square, minlength=len(values))
                     / np.maximum(counts - 1, 1))  # fmt: skip
        return float(np.polyfit(values, sd, 1, w=np.sqrt(counts))[0])

    rng = np.random.default_rng(0)
    everything = np.arange(len(made))
    drawn = [slope(rng.integers(0, len(made), len(made))) for _ in range(RESAMPLES)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Measure(slope(everything), float(low), float(high), len(made))


@signature("memory-by-set-size.toml")
def memory_by_set_size(behaviour: Behaviour) -> Measure:
    """Return the precision (mean cosine) of reports at the smallest minus the largest set size."""
    error, used = report_errors(behaviour)
    sizes = behaviour.record["set_size"]
    if sizes.min() == sizes.max():
        raise CannotTellError("the set size does not vary")
    few, many = (np.cos(error[used & (sizes == one)]) for one in (sizes.min(), sizes.max()))
    return measures.mean_difference(few, many)


@signature("memory-drift.toml")
def memory_drift(behaviour: Behaviour) -> Measure:
    """Return the growth of the squared error of reports with the delay, rad^2 / s."""
    error, used = report_errors(behaviour)
    if "duration.delay" not in behaviour.record:
        raise CannotTellError("the record has no delays")
    delay = behaviour.record["duration.delay"] / 1000
    if len(np.unique(delay)) < 2:
        raise CannotTellError("the delay does not vary; give it a distribution with --timing")
    return measures.fitted_line(delay[used], error[used] ** 2)


# ---- stopping ----


def _stopping(behaviour: Behaviour) -> measures.Measured:
    record = behaviour.record
    if not {"stop", "ssd"} <= set(record.columns):
        raise CannotTellError("the record has no columns 'stop' and 'ssd'")
    choice = behaviour.column("choice")
    delay = np.where(record["stop"].astype(bool), record["ssd"].astype(float), np.nan)
    return measures.stop_signal(delay, choice >= 0, behaviour.column("reaction_time"), resamples=50)


@signature("inhibition-function.toml")
def inhibition_function(behaviour: Behaviour) -> Measure:
    """Return the rise of P(respond) with the stop-signal delay, log odds per 100 ms."""
    stopping = _stopping(behaviour)
    if len(stopping.table) < 2:
        raise CannotTellError("all stop signals have the same delay")
    if "slope" not in stopping.measures:
        said = "answered" if stopping.table["responded"].iloc[0] else "withheld"
        raise CannotTellError(f"all trials with a stop signal were {said}")
    one = stopping["slope"]
    return Measure(100 * one.value, 100 * one.low, 100 * one.high, one.n)


@signature("failed-stops-are-fast.toml")
def failed_stops_are_fast(behaviour: Behaviour) -> Measure:
    """Return the mean time of failed stops minus that of go trials, ms."""
    _times(behaviour)  # an error if they do not vary
    found = _stopping(behaviour).measures
    if "race" not in found:
        raise CannotTellError("fewer than two failed stops")
    return found["race"]


# ---- speed and accuracy ----


@signature("speed-accuracy.toml")
def speed_accuracy(behaviour: Behaviour) -> Measure:
    """Return the accuracy with the instruction "accuracy" minus that with "speed"."""
    if "instruction" not in behaviour.record:
        raise CannotTellError(
            "no task instructs speed or accuracy; a record needs a column 'instruction' with these"
            " values"
        )
    said, given = behaviour.record["instruction"], behaviour.answered
    return _shares(*(behaviour.correct[given & (said == one)] for one in ("accuracy", "speed")))


# ---- shared ----


def _check_clicks(behaviour: Behaviour) -> None:
    if not {"left", "right"} <= set(behaviour.record.columns):
        raise CannotTellError("the record has no clicks (columns 'left' and 'right')")


def _times(behaviour: Behaviour) -> np.ndarray:
    times = behaviour.column("reaction_time").astype(float)
    known = times[~np.isnan(times) & behaviour.answered]
    if len(np.unique(known)) < 2:
        raise CannotTellError("reaction times do not vary: the task, or the subject, fixes them")
    return times


def _choices(behaviour: Behaviour, guess: str = "symmetric") -> PsychometricFit:
    return fit_psychometric(
        behaviour.record, behaviour.signed, behaviour.chose_right, slot=behaviour.slot,
        shape="logistic", guess=guess, max_lapse=0.45,
    )  # fmt: skip


def _lapse(behaviour: Behaviour) -> Measure:
    fit = _choices(behaviour)
    if not fit.intervals["slope"][0] > 0:
        raise CannotTellError("choices do not rise with the evidence, so lapses are guesses")
    return _parameter(fit, "lapse")


def _parameter(fit: PsychometricFit, name: str) -> Measure:
    if fit.p_value < MISFIT:
        raise CannotTellError(
            f"the curve does not fit (p = {fit.p_value:.1g}), so it has no {name}"
        )
    if name in fit.undetermined and name != "lapse":
        raise CannotTellError(f"the data do not determine the {name}")
    low, high = fit.intervals[name]
    return Measure(float(getattr(fit, name)), float(low), float(high), fit.n_trials)


def _shares(one: np.ndarray, other: np.ndarray) -> Measure:
    if not len(one) or not len(other):
        raise CannotTellError("too few trials")
    found = difference_interval(int(one.sum()), len(one), int(other.sum()), len(other))
    return Measure(*found, len(one) + len(other))


def _weighted(found: list[Measure], otherwise: str) -> Measure:
    """Return the mean of several numbers, weighted by their precision."""
    usable = [one for one in found if one.high > one.low]
    if not usable:
        raise CannotTellError(otherwise)
    error = np.array([(one.high - one.low) / (2 * measures.Z) for one in usable])
    weight = error**-2.0
    value = float(np.average([one.value for one in usable], weights=weight))
    half = float(measures.Z / np.sqrt(weight.sum()))
    return Measure(value, value - half, value + half, sum(one.n for one in usable), usable[0].unit)
