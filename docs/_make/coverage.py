"""Simulate worlds with a known truth, count how often 95 % intervals contain it; write ``docs/coverage.md``.

    python docs/_make/coverage.py

Counts are kept in ``coverage.json`` after each cell; a script that is started again simulates only
the missing ones. ``--write`` writes the page from the stored counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from markdown_parts import continued, table
from measured import keep, read
from measured import write as write_counts
from neurogym_behaviour import accuracy, fit_curve, fit_psychometric
from neurogym_behaviour import measures as m
from neurogym_behaviour._columns import said_of_sessions
from neurogym_behaviour.intervals import wilson_interval
from neurogym_behaviour.population import population
from neurogym_behaviour.proportions import difference_interval, wide_difference
from scipy.special import expit
from scipy.stats import norm

from neurogym_core import InvalidValueError, TrialRecord

HERE = Path(__file__).resolve().parent
MEASURED, PAGE = HERE / "coverage.json", HERE.parent / "coverage.md"
FIRST = 20
"""Data sets whose hits are stored apart, so that a test can repeat them."""


LEAST = 30
"""Fewest data sets with a number of a cell with a verdict."""


class Interval(NamedTuple):
    """A number with its interval, and whether the report has a note that limits it."""

    value: float
    low: float
    high: float
    said: bool = False


@dataclass(frozen=True)
class World:
    """A way to simulate data with a known truth.

    Attributes:
        number: the analysis and its number.
        setting: the world in words.
        truth: the true value.
        draw: (generator, n) -> the number with its interval, from one data set of n.
        sizes: numbers of trials (or animals).
        repeats: data sets for each size.
    """

    number: str
    setting: str
    truth: float
    draw: Callable[[np.random.Generator, int], Interval]
    sizes: tuple[int, ...] = (100, 200, 1000)
    repeats: int = 1000

    def key(self, n: int) -> str:
        """Name of a cell in the file of the counts."""
        return f"{self.number}; {self.setting}; {n}"

    def simulate(self, n: int, repeats: int) -> dict[str, Any]:
        """Return the counts of a cell for JSON; each data set has its own seed."""
        hits, below, silent, said, values = [], 0, 0, 0, []
        for seed in range(repeats):
            try:
                one = self.draw(np.random.default_rng([n, seed]), n)
            except InvalidValueError:
                silent += 1
                hits.append(None)
                continue
            hits.append(bool(one.low <= self.truth <= one.high))
            below += one.high < self.truth
            said += one.said
            values.append(one.value)
        known = [one for one in hits if one is not None]
        return {
            "number": self.number, "setting": self.setting, "truth": self.truth, "n": n,
            "told": len(known), "hit": sum(known), "below": int(below), "silent": silent, "said": int(said),
            "median": round(float(np.median(values)), 4) if values else None,
            "first": hits[:FIRST],
        }  # fmt: skip


def of(measured: m.Measured, name: str, about: str = "", but: str = "\n") -> Interval:
    """Return a number of an analysis; notes with the words `about`, and not `but`, count."""
    if name not in measured.measures:
        raise InvalidValueError(f"No {name}. Expected one. Give more trials.")
    one = measured[name]
    return Interval(one.value, one.low, one.high,
                    any(about in note and but not in note for note in measured.notes))  # fmt: skip


# ---- proportions, differences, sensitivity ----


def proportion(p: float) -> World:
    def draw(rng: np.random.Generator, n: int) -> Interval:
        k = rng.binomial(n, p)
        return Interval(k / n, *wilson_interval(k, n))

    return World("fraction correct", f"fraction {p:g}", p, draw)


def of_sessions(spread: float) -> World:
    levels = expit(1.4 + spread * norm.ppf((np.arange(10_000) + 0.5) / 10_000))
    truth = float(np.mean(levels))

    def draw(rng: np.random.Generator, n: int) -> Interval:
        session = np.arange(n) * SESSIONS // n
        p = expit(1.4 + spread * rng.normal(size=SESSIONS))[session]
        outcome = np.where(rng.random(n) < p, "correct", "error")
        record = TrialRecord({"session": session, "outcome": outcome})
        row = accuracy(record, None)[0]
        return Interval(row.fraction, row.low, row.high, bool(said_of_sessions(record)))

    setting = f"{SESSIONS} sessions, SD of their logit {spread:g}"
    return World("fraction correct", setting, truth, draw, repeats=600)


def bias_of_sessions(spread: float, name: str) -> World:
    biases = spread * norm.ppf((np.arange(2000) + 0.5) / 2000)
    p = 0.05 + 0.9 * expit(0.1 * (SIGNED[:, None] - biases)).mean(axis=1)
    whole = fit_curve(
        SIGNED, np.round(1e6 * p), np.full(len(SIGNED), 1e6), guess="symmetric", interval=None
    )
    truth = {"threshold": 0.0, "slope": whole.slope}[name]

    def draw(rng: np.random.Generator, n: int) -> Interval:
        session = np.arange(n) * SESSIONS // n
        x = rng.choice(SIGNED, n)
        drive = 0.1 * (x - spread * rng.normal(size=SESSIONS)[session])
        chose = rng.random(n) < 0.05 + 0.9 * expit(drive)
        record = TrialRecord({"session": session, "outcome": np.full(n, "correct")})
        fit = fit_psychometric(record, x, chose, shape="logistic", guess="symmetric")
        said = any("sessions; if" in one for one in fit.cautions)
        return Interval(getattr(fit, name), *fit.intervals[name], said)

    word = "bias" if name == "threshold" else name
    setting = f"{SESSIONS} sessions, SD of their bias {spread:g}"
    return World(f"logistic function: {word}", setting, truth, draw, (1000,), 120)


SESSIONS = 10
"""Sessions of a data set, in worlds with differences between them."""


def difference(p: float, q: float) -> World:
    def draw(rng: np.random.Generator, n: int) -> Interval:
        part = n // 6
        a, b = rng.binomial(part, [p, q])
        counts = int(a), part, int(b), part
        return Interval(*difference_interval(*counts), bool(wide_difference(*counts)))

    return World(
        "difference of fractions", f"{p:g} and {q:g}, a sixth of the trials each", p - q, draw
    )


def sensitivity(d: float, criterion: float) -> World:
    def draw(rng: np.random.Generator, n: int) -> Interval:
        signal = rng.random(n) < 0.5
        return of(m.d_prime(signal, rng.normal(size=n) + d * signal > d / 2 + criterion), "d'")

    return World("d'", f"d' {d:g}, criterion {criterion:g}", d, draw)


# ---- reaction times ----


def errors_minus_correct(accuracy: float, spread: float = 0.4) -> World:
    def draw(rng: np.random.Generator, n: int) -> Interval:
        times = rng.lognormal(6, spread, n)
        found = m.conditional_accuracy(times, rng.random(n) < accuracy)
        return of(found, "error - correct", "error - correct")

    setting = f"accuracy {accuracy:g}"
    if spread > 0.4:
        setting += f", skewed times (SD of the log {spread:g})"
    return World("error - correct reaction time", setting, 0.0, draw)


def slow_minus_fast(accuracy: float) -> World:
    def draw(rng: np.random.Generator, n: int) -> Interval:
        times = rng.lognormal(6, 0.4, n)
        found = m.conditional_accuracy(times, rng.random(n) < accuracy)
        return of(found, "slow - fast", "slow - fast")

    return World("accuracy, slow - fast", f"accuracy {accuracy:g}", 0.0, draw)


def stopping(spread: float, omitted: float, fixed: bool = False, failures: float = 0) -> World:
    def draw(rng: np.random.Generator, n: int) -> Interval:
        delay, responded, times = np.full(n, np.nan), np.zeros(n, bool), np.full(n, np.nan)
        go = rng.normal(450, 60, n) + rng.exponential(80, n)
        go[rng.random(n) < omitted] = np.inf
        stop, finish = rng.random(n) < 0.25, rng.normal(200, spread, n)
        offered, now = rng.choice([150, 250, 350], n), 250.0
        if failures:
            finish[rng.random(n) < failures] = np.inf
        for k in range(n):
            if not stop[k]:
                responded[k] = np.isfinite(go[k])
                continue
            delay[k] = offered[k] if fixed else now
            responded[k] = go[k] < delay[k] + finish[k]
            now = max(now - 50, 0) if responded[k] else min(now + 50, 900)
        times[responded] = go[responded]
        found = m.stop_signal(delay, responded, times, resamples=200)
        about = "trigger failures" if failures else ""
        return of(found, "SSRT", about, but="\n" if failures else "trigger failures")

    delays = "three delays" if fixed else "staircase of 50 ms"
    setting = f"a quarter stops, {delays}, SD of stopping {spread:g} ms, omissions {omitted:.0%}"
    if failures:
        setting += f", {failures:.0%} of the stops never start"
    return World("stop-signal reaction time", setting, 200.0, draw, (200, 1000), 120)


# ---- choices ----

CONTRASTS = np.array([-1, -0.25, -0.125, -0.0625, 0, 0.0625, 0.125, 0.25, 1])


def repeating(form: str, lapse: float, bias: str = "", weight: float = 0.4) -> World:
    def draw(rng: np.random.Generator, n: int) -> Interval:
        x = rng.choice(CONTRASTS, n)
        drive = {"linear": 2 * x, "saturating": 3 * np.tanh(x / 0.125), "steep": 17 * x}[form]
        block = np.arange(n) // 50 % 2
        if bias == "drift":
            drive = drive + np.cumsum(rng.normal(0, 1 / np.sqrt(300), n))
        elif bias:
            drive = drive + 1.6 * (block - 0.5)
        chose, paid, last, won = np.zeros(n, bool), np.zeros(n, bool), 0, True
        luck, coin = rng.random(n), rng.random(n) < 0.5
        for k in range(n):
            logit = drive[k] + weight * last * (1.0 if won else 0.5)
            chose[k] = luck[k] < lapse / 2 + (1 - lapse) / (1 + np.exp(-logit))
            paid[k] = coin[k] if x[k] == 0 else chose[k] == (x[k] > 0)
            last, won = (1 if chose[k] else -1), paid[k]
        found = m.choice_glm(
            x, chose, paid, np.arange(n) > 0, block=block if bias == "blocks" else None
        )
        return of(found, "rewarded, 1 back")

    said = {"": "", "drift": ", bias drifts", "blocks": ", bias follows blocks"}[bias]
    setting = f"{form} evidence, lapses {lapse:.0%}{said}"
    return World("weight of the last choice, if correct", setting, weight, draw, (200, 1000), 120)


def contraction(value: float, lapse: float = 0) -> World:
    def draw(rng: np.random.Generator, n: int) -> Interval:
        first = rng.choice([10.0, 14, 18, 22, 26, 30, 34], n)
        second = first + rng.choice([-8.0, 8.0], n)
        drive = (second - (1 - value) * first - value * 22) / 6 * 1.7
        p = lapse / 2 + (1 - lapse) * expit(drive)
        return of(m.contraction_bias(first, second, rng.random(n) < p), "contraction")

    setting = f"contraction {value:g}" + (f", lapses {lapse:.0%}" if lapse else "")
    return World("contraction to the mean", setting, value, draw, repeats=400)


def indifference() -> World:
    def draw(rng: np.random.Generator, n: int) -> Interval:
        ratio = np.log(rng.choice([0.33, 0.5, 1, 2, 3, 4, 6, 10], n))
        chose = rng.random(n) < expit(3 * (ratio - np.log(2)))
        return of(m.indifference_point(ratio, chose), "relative value")

    return World("relative value", "2 B per A", 2.0, draw, repeats=400)


def two_steps() -> World:
    def draw(rng: np.random.Generator, n: int) -> Interval:
        paid, common = rng.random(n) < 0.5, rng.random(n) < 0.7
        drive = 0.8 + (paid - 0.5) + 0.2 * (common - 0.5) + (paid - 0.5) * (common - 0.5)
        return of(
            m.reward_transition(rng.random(n) < expit(drive), paid, common), "reward x transition"
        )

    return World("reward x transition", "interaction 0.5", 0.5, draw, repeats=400)


def kernel(weight: float) -> World:
    def draw(rng: np.random.Generator, n: int) -> Interval:
        shown = rng.normal(size=(n, 6))
        return of(
            m.psychophysical_kernel(shown, rng.random(n) < expit(weight * shown.sum(axis=1))),
            "trend",
        )

    return World("trend of the kernel", f"flat, weight {weight:g}", 0.0, draw, repeats=400)


# ---- times and angles that are reported ----


def timing() -> World:
    def draw(rng: np.random.Generator, n: int) -> Interval:
        wanted = rng.choice([500.0, 600, 700, 800, 900, 1000], n)
        made = 0.8 * wanted + 150 + 0.1 * rng.normal(size=n) * wanted
        return of(m.scalar_timing(wanted, made), "slope")

    return World("slope of produced times", "slope 0.8, scalar noise of 10 %", 0.8, draw)


def memory(share: float, kappa: float, number: str) -> World:
    truth = share if number == "P(memory)" else m._circular_sd(np.log(kappa))

    def draw(rng: np.random.Generator, n: int) -> Interval:
        kept = rng.random(n) < share
        error = np.where(kept, rng.vonmises(0, kappa, n), rng.uniform(-np.pi, np.pi, n))
        return of(m.circular_mixture(error), number, "memor")

    setting = f"P(memory) {share:g}, concentration {kappa:g}"
    return World(f"mixture of memories: {number}", setting, truth, draw, (100, 200, 1000), 200)


def serial(amplitude: float) -> World:
    def draw(rng: np.random.Generator, n: int) -> Interval:
        other = rng.uniform(-np.pi, np.pi, n)
        pull = amplitude * np.sqrt(2) * np.exp(0.5) * 1.5 * other * np.exp(-((1.5 * other) ** 2))
        return of(
            m.serial_dependence(pull + rng.normal(0, 0.2, n), other, resamples=100), "amplitude"
        )

    return World(
        "serial dependence", f"amplitude {amplitude:g} rad", amplitude, draw, (200, 1000), 120
    )


# ---- psychometric functions ----

COHERENCES = np.array([0, 3.2, 6.4, 12.8, 25.6, 51.2])
SIGNED = 100 * CONTRASTS


def psychometric(
    shape: str,
    setting: str,
    truth: tuple[float, float, float],
    name: str,
    x: np.ndarray | None = None,
) -> World:
    threshold, slope, lapse = truth
    x = x if x is not None else COHERENCES if shape == "weibull" else SIGNED
    if shape == "weibull":
        p = 0.5 + (0.5 - lapse) * -np.expm1(-((x / threshold) ** slope))
        how: dict[str, Any] = {"shape": "weibull", "guess": 0.5}
    else:
        p, how = lapse + (1 - 2 * lapse) * expit(slope * (x - threshold)), {"guess": "symmetric"}

    def draw(rng: np.random.Generator, n: int) -> Interval:
        trials = rng.multinomial(n, np.full(len(x), 1 / len(x)))
        fit = fit_curve(x, rng.binomial(trials, p), trials, **how)
        return Interval(getattr(fit, name), *fit.intervals[name], bool(fit.cautions))

    value = dict(zip(("threshold", "slope", "lapse"), truth, strict=True))[name]
    title = {"weibull": "Weibull", "logistic": "logistic"}[shape]
    word = "bias" if shape == "logistic" and name == "threshold" else name
    repeats = 400 if setting == "centre" else 120
    return World(f"{title} function: {word}", setting, value, draw, (200, 1000), repeats)


def overdispersed(name: str) -> World:
    """Choices of each strength vary between data sets as beta-binomial ones do."""
    truth = {"threshold": 0.0, "slope": 0.1, "lapse": 0.05}

    def draw(rng: np.random.Generator, n: int) -> Interval:
        p = 0.05 + 0.9 * expit(0.1 * SIGNED)
        varied = rng.beta(p * (1 / VARIED - 1), (1 - p) * (1 / VARIED - 1))
        trials = rng.multinomial(n, np.full(len(SIGNED), 1 / len(SIGNED)))
        fit = fit_curve(SIGNED, rng.binomial(trials, varied), trials, guess="symmetric")
        said = any("responses vary more" in one for one in fit.cautions)
        return Interval(getattr(fit, name), *fit.intervals[name], said)

    word = "bias" if name == "threshold" else name
    setting = f"overdispersed choices, correlation {VARIED:g} within a strength"
    return World(f"logistic function: {word}", setting, truth[name], draw, (200, 1000), 80)


VARIED = 0.05
"""Correlation of the choices with the same strength, where they are not independent."""


def curves() -> Iterator[World]:
    """Yield the parameters of curves in the centre and in the corners."""
    for shape, setting, truth, names in (
        ("weibull", "centre", (8, 1.3, 0.02), ("threshold", "slope", "lapse")),
        ("weibull", "threshold 45, strongest 51.2", (45, 1.3, 0.02), ("threshold", "lapse")),
        ("weibull", "near chance: threshold 150", (150, 1.3, 0.02), ("threshold",)),
        ("logistic", "centre", (0, 0.1, 0.05), ("threshold", "slope", "lapse")),
        ("logistic", "bias 40, strengths 25 and 100", (40, 0.1, 0.05), ("threshold", "slope")),
        ("logistic", "lapses 19 %, limit 20 %", (2, 0.1, 0.19), ("threshold", "lapse")),
    ):
        for name in names:
            yield psychometric(shape, setting, truth, name)
    few = np.array([5.0, 15, 40])
    yield psychometric("weibull", "three strengths", (12, 1.5, 0.03), "threshold", few)


def animals() -> World:
    def draw(rng: np.random.Generator, n: int) -> Interval:
        one = population((rng.normal(0, 8.4, n) + rng.normal(0, 2, n)).tolist())
        return Interval(one.mean, one.low, one.high)

    return World(
        "mean bias over animals",
        "SD between animals 8.4 %, of mice of the IBL",
        0.0,
        draw,
        (5, 10, 20),
    )


WORLDS: tuple[World, ...] = (
    *(proportion(p) for p in (0.5, 0.9, 0.98)),
    of_sessions(0.5), of_sessions(0),
    difference(0.95, 0.9), difference(0.5, 0.5),
    sensitivity(1, 0), sensitivity(3, 0), sensitivity(2, 1),
    *(errors_minus_correct(p) for p in (0.8, 0.97, 0.995)),
    *(errors_minus_correct(p, 0.8) for p in (0.8, 0.97)),
    *(slow_minus_fast(p) for p in (0.8, 0.97)),
    stopping(1, 0), stopping(60, 0), stopping(60, 0.1), stopping(20, 0, fixed=True),
    stopping(20, 0, failures=0.15),
    repeating("linear", 0), repeating("saturating", 0), repeating("saturating", 0.16),
    repeating("steep", 0.16), repeating("saturating", 0.1, "drift", 0.0),
    repeating("saturating", 0.1, "blocks", 0.0),
    contraction(0.2), contraction(0.2, 0.15), indifference(), two_steps(), kernel(0.6), kernel(0.15), timing(),
    memory(0.9, 10, "P(memory)"), memory(0.9, 10, "SD"), memory(1, 10, "P(memory)"), memory(1, 10, "SD"),
    memory(0.1, 6, "P(memory)"), memory(0.1, 6, "SD"),
    serial(0.0), serial(0.05),
    *curves(), overdispersed("threshold"), overdispersed("slope"),
    bias_of_sessions(12, "threshold"), bias_of_sessions(12, "slope"), bias_of_sessions(0, "threshold"),
    animals(),
)  # fmt: skip


def counts(path: Path = MEASURED) -> dict[str, Any]:
    """Return the stored counts, key -> counts."""
    return read(path)["runs"]


# ---- the page ----


def verdict(cell: Mapping[str, Any]) -> str:
    """Return "holds", "too narrow" or "too wide": whether the coverage is 93 to 97 %.

    A cell is outside if its coverage is, by more than a standard error. One in six cells at the
    limit is called outside by chance.
    """
    if cell["told"] < LEAST:
        return "cannot tell"
    share = cell["hit"] / cell["told"]
    error = np.sqrt(0.95 * 0.05 / cell["told"])
    if share < 0.93 - error:
        return "too narrow"
    return "too wide" if share > 0.97 + error else "holds"


def unsaid(stored: Mapping[str, Any]) -> list[str]:
    """Return the cells that cover too little or much, and have no note in most data sets."""
    return [
        key
        for key, cell in stored.items()
        if verdict(cell) in ("too narrow", "too wide") and cell["said"] < 0.5 * cell["told"]
    ]


def page(stored: Mapping[str, Any]) -> str:
    """Return the page with a row for each cell."""
    rows, missed = [], unsaid(stored)
    for world in WORLDS:
        for n in world.sizes:
            cell = stored.get(world.key(n))
            if cell is None:
                continue
            told, all_sets = cell["told"], cell["told"] + cell["silent"]
            error = 100 * np.sqrt(0.95 * 0.05 / told) if told else 0
            rows.append((
                world.number, world.setting, f"{n:,}", f"{cell['truth']:.3g}",
                f"{cell['median']:.3g}" if told else "–",
                f"{100 * cell['hit'] / told:.1f} ± {error:.1f}" if told else "–",
                f"**{verdict(cell)}, MISSED: no note**" if world.key(n) in missed else verdict(cell),
                f"{100 * cell['silent'] / all_sets:.0f}",
                f"{100 * cell['said'] / told:.0f}" if told else "–",
            ))  # fmt: skip
    heads = ("number", "world", "n", "truth", "median estimate", "coverage, %", "95 %", "cannot tell, %",
             "note, %")  # fmt: skip
    return continued(PAGE, table(heads, rows))


@click.command()
@click.option(
    "--only", multiple=True, metavar="TEXT", help="Cells with this text; may be repeated."
)
@click.option("--again", is_flag=True, help="Simulate cells that are stored, too.")
@click.option("--write", is_flag=True, help="Write the page from the stored counts only.")
@click.option("--measured", type=click.Path(path_type=Path), default=MEASURED, hidden=True)
def main(only: tuple[str, ...], again: bool, write: bool, measured: Path) -> None:
    """Count how often 95 % intervals contain the truth, and write docs/coverage.md."""
    known = counts(measured)
    cells = [(world, n) for world in WORLDS for n in world.sizes]
    named = [
        (world, n) for world, n in cells if not only or any(one in world.key(n) for one in only)
    ]
    todo = [] if write else [(world, n) for world, n in named if again or world.key(n) not in known]
    click.echo(f"{len(todo)} cells remain to be simulated.")
    for number, (world, n) in enumerate(todo, 1):
        began = time.process_time()
        found = world.simulate(n, world.repeats)
        keep(measured, {world.key(n): found})
        click.echo(
            f"{number}/{len(todo)} {world.key(n)}: {verdict(found)}, {time.process_time() - began:.0f} s"
        )
    keys = {world.key(n) for world, n in cells}
    if set(counts(measured)) - keys:
        write_counts(measured, {key: one for key, one in counts(measured).items() if key in keys})
    PAGE.write_text(page(counts(measured)), encoding="utf-8")
    click.echo(f"Written: {PAGE}")


if __name__ == "__main__":
    main()
