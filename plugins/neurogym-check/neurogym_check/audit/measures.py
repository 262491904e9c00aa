"""`measure_shortcuts`: the performance of policies that leave out a part of the task."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import gymnasium
import numpy as np

from neurogym_check.audit.answers import Answers, answers_of
from neurogym_check.audit.blind import blind_play, play_env
from neurogym_check.audit.classify import best_policy
from neurogym_check.audit.views import DURATIONS, Columns, columns_of, draw
from neurogym_core import Task
from neurogym_core.players import TaskView

SEED = 14
CONFIDENCE = 0.95
BLIND = ("rest", "constant", "clock", "random")
"""Measures of policies that see nothing."""
PARTS = 8
"""Most channels, and most periods, that are measured one by one."""


@dataclass(frozen=True)
class Measure:
    """The performance of a policy in trials on which it was not fitted.

    Attributes:
        score: mean performance.
        low, high: Wilson interval at `CONFIDENCE`.
        trials: number of trials.
    """

    score: float
    low: float
    high: float
    trials: int

    @classmethod
    def of(cls, performance: np.ndarray) -> Measure:
        """Return the measure of the performance in n trials."""
        score, n = float(np.mean(performance)), len(performance)
        return cls(score, *wilson(score, n), n)


def wilson(share: float, n: int) -> tuple[float, float]:
    """Return the Wilson interval of a share of n trials (doi:10.1080/00381459.1927.10502953).

    For a mean of values between 0 and 1 it is wide enough, too: their variance is smaller."""
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(max(share * (1 - share), 0) / n + z * z / (4 * n * n))
    return max(centre - half, 0.0), min(centre + half, 1.0)


@dataclass(frozen=True)
class Audit:
    """The shortcuts of a task.

    Attributes:
        measures: name -> measure. ``oracle`` and ``all`` (everything that is shown) are for
            comparison. The others leave something out: ``rest`` (never answers), ``constant`` (the
            best fixed answer), ``clock`` (the best answer at the best fixed time), ``random``
            (acts at random on every step), ``reflex`` (sees the current step only), ``held`` (the
            right answer from the first step on), ``history`` (the right answer of the previous
            trial), ``durations`` (of periods), ``last`` (the last stimulus), ``channel.NAME`` and
            ``period.NAME`` (that alone), ``duration.NAME`` (the duration of a period, where only
            durations differ), ``without.NAME`` (everything but that).
    """

    measures: dict[str, Measure]

    def within_reach(self, chance: float | None = None) -> dict[str, Measure]:
        """Return the shortcuts: measures that come within reach of the oracle.

        That is, their interval lies above the point half-way from the level of policies that see
        nothing to the oracle.

        Args:
            chance: performance of guessing, with which policies that see nothing are compared; by
                default 0.
        """
        known = self.measures
        oracle = known["oracle"].score if "oracle" in known else 1.0
        lowest = chance or 0.0
        seeing_nothing = [known[name].score for name in BLIND if name in known]
        blind = max([lowest, *seeing_nothing])

        def reaches(name: str, base: float) -> bool:
            return name in known and known[name].low > base + (oracle - base) / 2

        found = {}
        for name, measure in known.items():
            if name in ("oracle", "all", "without.durations"):
                continue
            # One of several durations is a shortcut only if the others matter, too.
            if name.startswith("duration.") and measure.high >= known["all"].low:
                continue
            # If nothing else shows the answer, durations or the history are the task.
            if name == "durations" and not reaches("without.durations", blind):
                continue
            if name == "history" and not reaches("all", blind):
                continue
            if reaches(name, lowest if name in BLIND else blind):
                found[name] = measure
        return found


def measure_shortcuts(source: Any, seed: int = SEED) -> Audit:
    """Return the audit of a task, or of an env that reports trials.

    The numbers are the same for the same seed. Policies that look at something are fitted on some
    trials and measured on others.

    Args:
        source: a `Task`, or a Gymnasium env with a `target`.
        seed: seed of trials and noise.
    """
    if isinstance(source, gymnasium.Env):
        return Audit(play_env(source, seed))
    task: Task = source
    if TaskView(task).hooks and TaskView(task).stateful:
        return Audit(blind_play(task, seed))
    return _Auditor(task, seed).audit()


def _count(task: Task) -> int:
    """Return the number of trials: a few thousand, fewer if trials have many steps and units."""
    if TaskView(task).hooks or task.actions.continuous:
        return 1000 if TaskView(task).typical_steps <= 100 else 500
    steps = TaskView(task).typical_steps * (task.channels.size + 6)
    return int(np.clip(16_000_000 // steps, 1600, 3200)) // 64 * 64


class _Auditor:
    """Measures one task, whose trials can be drawn before they are played."""

    def __init__(self, task: Task, seed: int) -> None:
        self.task, self.seed = task, seed
        drawn = draw(task, _count(task), seed)
        self.batch, self.previous = drawn.batch, drawn.previous
        self.answers: Answers = answers_of(task, self.batch, seed)
        n = len(self.batch)
        # Sessions are divided by time, not by subject, so that both parts have all of them.
        self.fitted = np.arange(n) < round(0.6 * n)
        self.tested = np.flatnonzero(~self.fitted)
        self.measures: dict[str, Measure] = {}

    def audit(self) -> Audit:
        """Return all measures."""
        self._blind()
        if not self.answers.scores or self.task.step_observation is not None:
            # Observations depend on the actions: only policies that see nothing are measured.
            return Audit(self.measures)
        columns = columns_of(self.task, self.batch, self.seed)
        for name, seen in self._parts_of(columns):
            self.measures[name] = self._looking(columns, seen)
        return Audit(self.measures)

    # ------------------------------------------------------------------ policies that see nothing

    def _blind(self) -> None:
        self.measures |= blind_play(self.task, self.seed, self.batch, self.answers)
        scores = self.answers.scores
        if not scores:
            return
        if self.answers.rests:
            self._keep("rest", [np.zeros(len(self.tested), int) for _ in scores])
        if self.answers.timed:
            self._keep("clock", self._fixed(range(1, 10_000)))
            return
        self._keep("constant", self._fixed(range(10_000)))
        if not TaskView(self.task).hooks and not self.task.actions.continuous:
            self.measures["clock"] = Measure.of(self._clock())

    def _fixed(self, allowed: range) -> list[np.ndarray]:
        """Return the best fixed answer of each slot, of those in `allowed`."""
        chosen = []
        for k, scores in enumerate(self.answers.scores):
            rows = self.fitted & self.answers.asked[:, k]
            means = scores[rows].mean(axis=0) if rows.any() else np.zeros(scores.shape[1])
            first = min(allowed.start, len(means) - 1)
            best = first + int(means[first : allowed.stop].argmax())
            chosen.append(np.full(len(self.tested), best))
        return chosen

    def _keep(self, name: str, choices: list[np.ndarray]) -> None:
        self.measures[name] = Measure.of(self.answers.performance(choices, self.tested))

    def _clock(self) -> np.ndarray:
        """Return the performance of the best fixed answers, given at fixed times of the trial."""
        answers = self.answers
        earned = np.zeros((len(self.tested), len(answers.scores)))
        for k, scores in enumerate(answers.scores):
            steps = np.arange(max(int(answers.closing[:, k].max()), 1))
            is_open = (answers.opening[:, [k]] <= steps) & (steps < answers.closing[:, [k]])
            value = is_open[self.fitted].T.astype(float) @ scores[self.fitted]
            if answers.rests:
                value[:, 0] = -1  # a clock answers
            step, answer = np.unravel_index(value.argmax(), value.shape)
            hit = is_open[:, step] * scores[:, answer]
            earned[:, k] = hit[self.tested]
            if answers.needs[k] >= 0:
                earned[:, k] *= earned[:, answers.needs[k]] >= 1
        asked = answers.asked[self.tested]
        return np.asarray((earned * asked).sum(axis=1) / np.maximum(asked.sum(axis=1), 1))

    # ------------------------------------------------------------------ policies that see a part

    def _parts_of(self, columns: Columns) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the name of each measure, and the columns (d,) or table (n, d) that it sees."""
        if self.previous is not None:
            yield "history", self._history()
        if not columns.values.shape[1]:
            return
        # Stimuli after the last window are feedback.
        content = columns.channel != DURATIONS
        before = columns.place <= columns.place_of[max(self.answers.last)]
        channels = list(dict.fromkeys(columns.channel[content & before]))[:PARTS]
        # A period that only lasts longer or shorter is no part of the stimulus, unless all do.
        kind = "period" if content.any() else "duration"
        shown = before & (content if content.any() else ~content)
        order = np.argsort(columns.place, kind="stable")
        periods = list(dict.fromkeys(columns.period[order][shown[order]]))[:PARTS]
        yield "all", np.ones(len(content), bool)
        if content.any() and not content.all():
            yield "durations", ~content
            yield "without.durations", content
        if len(channels) > 1:
            for name in channels:
                timed = ~content & np.isin(columns.period, self._periods_lit(columns, name))
                yield f"channel.{name}", (columns.channel == name) | timed
                yield f"without.{name}", columns.channel != name
        if len(periods) > 1:
            for name in periods:
                yield f"{kind}.{name}", columns.period == name
                if content.any() and len(periods) > 2 and name not in channels:
                    yield f"without.{name}", columns.period != name
            yield from self._last(columns)

    @staticmethod
    def _periods_lit(columns: Columns, channel: str) -> list[str]:
        """Return the periods whose duration is seen in a channel, because it is lit there only."""
        lit = columns.lit.get(channel, set())
        return [] if lit >= set(columns.period) else list(lit)

    def _last(self, columns: Columns) -> Iterator[tuple[str, np.ndarray]]:
        """Yield a table of the last stimulus, if trials differ in its period."""
        content = columns.place[columns.channel != DURATIONS]
        shown = np.zeros(columns.places.shape[1], bool)
        shown[content] = True
        shown[int(columns.place_of[max(self.answers.last)]) + 1 :] = False
        there = columns.places & shown
        last = there.shape[1] - 1 - there[:, ::-1].argmax(axis=1)
        if there.any() and np.ptp(last):
            values = np.where(columns.place == last[:, None], columns.values, 0)
            yield "last", np.concatenate([values, np.eye(there.shape[1])[last]], axis=1)

    def _history(self) -> np.ndarray:
        """Return the right answer of the previous trial, (n, answers), one-hot."""
        assert self.previous is not None
        scores = self.answers.scores[0]
        right = np.eye(scores.shape[1])[scores.argmax(axis=1)]
        return np.where((self.previous >= 0)[:, None], right[self.previous], 0)

    def _looking(self, columns: Columns, seen: np.ndarray) -> Measure:
        """Return the measure of the best policy on some columns, or on a table (n, d)."""
        choices = []
        for k, scores in enumerate(self.answers.scores):
            if seen.ndim == 1:
                table = columns.values[:, seen & self._before_answering(columns, k)]
            else:
                table = seen
            rows = self.fitted & self.answers.asked[:, k]
            if rows.sum() < 8:
                choices.append(np.zeros(len(self.tested), int))
                continue
            policy = best_policy(table[rows], scores[rows])
            choices.append(policy(table[self.tested]))
        return Measure.of(self.answers.performance(choices, self.tested))

    def _before_answering(self, columns: Columns, k: int) -> np.ndarray:
        """Return (d,) whether a column is seen before the answer to a slot.

        Feedback is not. Nor is the duration of the window, or, if the answer is due at a moment,
        a stimulus after the window's opening.
        """
        opens = columns.place_of[self.answers.first[k]]
        closes = columns.place_of[self.answers.last[k]]
        content = columns.channel != DURATIONS
        if self.answers.timed:
            return (columns.place < opens) | (content & (columns.place == opens))
        return np.asarray((columns.place < opens) | (content & (columns.place <= closes)))


__all__ = ["Audit", "Measure", "measure_shortcuts", "wilson"]
