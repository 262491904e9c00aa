"""`measure_shortcuts`: the performance of policies that leave out a part of the task."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import gymnasium
import numpy as np

from neurogym_check.audit.answers import Answers, answers_of
from neurogym_check.audit.classify import best_policy
from neurogym_check.audit.held import held, play_env
from neurogym_check.audit.played import played
from neurogym_check.audit.views import DURATIONS, Columns, columns_of, draw
from neurogym_core import Task
from neurogym_core.players import TaskView
from neurogym_core.tools import TaskInfo

SEED = 14
CONFIDENCE = 0.95
LOOK = 100
"""Duration of a look in ms."""
PARTS = 8
"""Most channels, and most periods, that are measured one by one."""


@dataclass(frozen=True)
class Measure:
    """The performance of a policy in trials on which it was neither fitted nor chosen.

    Attributes:
        score: mean performance.
        low, high: interval at `CONFIDENCE`.
        trials: number of trials.
    """

    score: float
    low: float
    high: float
    trials: int

    @classmethod
    def of(cls, performance: np.ndarray) -> Measure:
        """Return the measure of a performance (n,), or (sessions, n).

        The interval is Wilson's. If sessions differ by more than independent trials would, it is as
        wide as the SD of their means says.
        """
        score, n = float(np.mean(performance)), performance.size
        low, high = wilson(score, n)
        if performance.ndim == 2 and len(performance) > 1:
            z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
            error = performance.mean(axis=1).std(ddof=1) / math.sqrt(len(performance))
            low, high = min(low, score - z * error), max(high, score + z * error)
        return cls(score, max(float(low), 0.0), min(float(high), 1.0), n)


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
        measures: name -> measure. ``oracle`` and ``all`` (a classifier of everything that is shown)
            are for comparison. These play the task, and see no observation: ``rest`` (never
            answers), ``constant`` (the best fixed answer), ``clock`` (the best fixed answer on the
            best fixed step), ``guess`` (answers at random when asked), ``random`` (acts at random
            on every step), ``counter`` (the best sequence of answers over 2 to 30 trials),
            ``rhythm`` (another answer every 2 to 30 times that a trial asks), ``sequence`` (the
            best sequence of actions, repeated from the trial's beginning). These play, and see
            something: ``history`` (receives the right answer of the previous trial), ``winstay``
            (repeats a right answer), ``familiar`` (knows the last trials' stimuli),
            ``waiter`` (waits, and answers unless a signal comes), ``copied`` (answers one slot
            rightly, and the others alike), ``reflex`` (sees the current step only), ``held`` (the
            right answer from the first step on); where trials depend on outcomes,
            ``channel.NAME`` (copies a channel) and ``channel_counter`` (copies one
            channel after the other). Classifiers of trials that do not depend on outcomes:
            ``durations`` (of periods), ``last`` (the last stimulus), ``look.first``,
            ``look.middle`` and ``look.last`` (100 ms of each piece of a stimulus),
            ``channel.NAME`` and ``period.NAME`` (that alone), ``duration.NAME`` (the duration of a
            period, where only durations differ), ``without.NAME`` (everything but that).
    """

    measures: dict[str, Measure]

    @property
    def chance(self) -> Measure | None:
        """The best policy that sees no observation."""
        blind = [self.measures[name] for name in TaskInfo.BLIND if name in self.measures]
        return max(blind, key=lambda one: one.score, default=None)

    def within_reach(self) -> dict[str, Measure]:
        """Return the shortcuts: measures that come within reach of the oracle.

        That is, their interval lies above the point half-way from `chance` to the oracle; for
        policies that see nothing, half-way from guessing (at most 0.5).
        """
        known = self.measures
        oracle = known["oracle"].score if "oracle" in known else 1.0
        # Of a single answer, guessing is giving it.
        guess = min(known["guess"].score, 0.5) if "guess" in known else 0.0
        blind = self.chance.score if self.chance else 0.0

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
            if name in ("history", "winstay") and not reaches("all", blind):
                continue
            # A short look is a shortcut only if the rest of the stimulus matters.
            if name.startswith("look.") and measure.high >= known["all"].low:
                continue
            # One slot is answered rightly.
            base = (blind + oracle) / 2 if name == "copied" else blind
            if reaches(name, guess if name in TaskInfo.BLIND else base):
                found[name] = measure
        return found


def measure_shortcuts(
    source: Any, seed: int = SEED, progress: Callable[[str], None] = lambda name: None
) -> Audit:
    """Return the audit of a task, or of an env that reports trials.

    The numbers are the same for the same seed. Policies are fitted or chosen on some trials, and
    measured on others. All but classifiers play the task, step by step.

    Args:
        source: a `Task`, or a Gymnasium env with a `target`.
        seed: seed of trials and noise.
        progress: called with the name of each policy before it is measured.
    """
    if isinstance(source, gymnasium.Env):
        return Audit({name: Measure.of(one) for name, one in play_env(source, seed).items()})
    task: Task = source
    measures = {name: Measure.of(one) for name, one in played(task, seed, progress).items()}
    if task.reads_outcomes or (TaskView(task).hooks and TaskView(task).stateful):
        return Audit(measures)
    progress("classifiers")
    return Audit(measures | _Auditor(task, seed).audit())


def _count(task: Task) -> int:
    """Return the number of trials: a few thousand, fewer if trials have many steps and units."""
    if TaskView(task).hooks or task.actions.continuous:
        return 1000 if TaskView(task).typical_steps <= 100 else 500
    steps = TaskView(task).typical_steps * (task.channels.size + 6)
    return int(np.clip(12_000_000 // steps, 1600, 3200)) // 64 * 64


class _Auditor:
    """Measures one task, whose trials can be drawn before they are played.

    Args:
        task: the task.
        seed: seed of trials and noise.
        n: number of trials; None: a few thousand, fewer if they are long.
    """

    def __init__(self, task: Task, seed: int, n: int | None = None) -> None:
        self.task, self.seed = task, seed
        self.batch = draw(task, n or _count(task), seed)
        self.answers: Answers = answers_of(task, self.batch, seed)
        n = len(self.batch)
        # Sessions are divided by time, not by subject, so that both parts have all of them.
        self.fitted = np.arange(n) < round(0.6 * n)
        self.tested = np.flatnonzero(~self.fitted)
        self.measures: dict[str, Measure] = {}

    def audit(self) -> dict[str, Measure]:
        """Return all measures."""
        task = self.task
        if task.actions.continuous and task.actions.trigger is None:
            self.measures["held"] = Measure.of(held(task, self.batch))
        if not self.answers.scores or task.step_observation is not None:
            return self.measures  # observations depend on the actions
        columns = columns_of(task, self.batch, self.seed)
        for name, seen in self._parts_of(columns):
            self.measures[name] = self._looking(columns, seen)
        few = max(round(LOOK / task.dt), 1)
        if columns.longest >= 3 * few and "all" in self.measures:
            for where in ("first", "middle", "last"):
                look = columns_of(task, self.batch, self.seed, (where, few))
                seen = np.ones(len(look.channel), bool)
                if seen.any():
                    self.measures[f"look.{where}"] = self._looking(look, seen)
        return self.measures

    # ------------------------------------------------------------------ policies that see a part

    def _parts_of(self, columns: Columns) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the name of each measure, and the columns (d,) or table (n, d) that it sees."""
        if not columns.values.shape[1]:
            return
        # Stimuli after the last window are feedback.
        content = columns.channel != DURATIONS
        before = columns.place <= columns.closes[max(self.answers.last)]
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
        shown[int(columns.closes[max(self.answers.last)]) + 1 :] = False
        there = columns.places & shown
        last = there.shape[1] - 1 - there[:, ::-1].argmax(axis=1)
        if there.any() and np.ptp(last):
            values = np.where(columns.place == last[:, None], columns.values, 0)
            yield "last", np.concatenate([values, np.eye(there.shape[1])[last]], axis=1)

    def _looking(self, columns: Columns, seen: np.ndarray) -> Measure:
        """Return the measure of the best policy on some columns, or on a table (n, d)."""
        return Measure.of(self.performance(columns, seen))

    def performance(self, columns: Columns, seen: np.ndarray) -> np.ndarray:
        """Return the performance (m,) of that policy in the trials on which it was not fitted."""
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
        return self.answers.performance(choices, self.tested)

    def _before_answering(self, columns: Columns, k: int) -> np.ndarray:
        """Return (d,) whether a column is seen before the answer to a slot.

        Feedback is not. Nor is the duration of the window, or, if the answer is due at a moment,
        a stimulus after the window's opening.
        """
        opens = columns.opens[self.answers.first[k]]
        closes = columns.closes[self.answers.last[k]]
        content = columns.channel != DURATIONS
        if self.answers.timed:
            return (columns.place < opens) | (content & (columns.place == opens))
        return np.asarray((columns.place < opens) | (content & (columns.place <= closes)))


__all__ = ["Audit", "Measure", "measure_shortcuts", "wilson"]
