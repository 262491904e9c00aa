"""Likeness in bits: how well a subject's answers predict those of animals, trial by trial.

A subject's trials give the probability of each choice and reaction time in each condition. The
score is the mean, over the animals' trials, of log2 of that probability over the probability that a
guesser gives them, who knows the animal's reaction times and no condition. It is 0 for that guesser
and 1 for another animal. Held-out parts of the animals' trials choose the only free parameter, a
shift of time, because a network has no eyes and no arm.

The reverse divergence is reported beside the score and has no part in the verdict: the bits per
trial by which the subject's choices and times are less probable under an animal than under the
subject. It grows with answers that the animals do not give.

There are four kinds of scores (`KINDS`). Where no reaction times count, models of the subject
predict the animal's choices from its own history (`choices`). Reports, such as reproduced
durations, are reaction times without a choice, and are not shifted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from neurogym_behaviour.behaviour import WANTED, Behaviour, CannotTellError
from neurogym_behaviour.figures import plain as plain_text
from neurogym_behaviour.findings import Finding, figure, legible
from neurogym_behaviour.style import drawing
from neurogym_plot.canvas import BLUE, GREY
from scipy import stats

from neurogym_likeness.choices import ChoiceModel, OptionModel, classes_of, memories

TIMES, CHOICES, REPORTS, REWARDS = "choices and times", "choices", "reports", "rewards"
KINDS = (TIMES, CHOICES, REPORTS, REWARDS)
"""Answers that are scored: two choices and their reaction times; two choices, given evidence and
history; reported numbers, such as durations; choices among options that pay."""
GRID = 100.0
"""Width of the bins of reaction times, ms; a multiple of the time steps of tasks."""
MIX = 0.05
"""Share of the guesser in every prediction: no trial costs more than log2(1 / MIX) bits."""
PSEUDO = 5.0
"""Pseudo-trials with which a sparse histogram leans on a wider one."""
SHIFTS = np.arange(-300.0, 301.0, 30.0)
"""Shifts of the subject's reaction times that are tried, ms."""
BLOCK = 100
"""Trials of a block, where the animals' records name no sessions; a quarter of fewer than 400."""
SAMPLES = 400
"""Number of resampled scores for an interval."""

TAIL = 0.025
"""Nominal share of new animals below the bound. In simulated populations of 5 (10) animals, 3.7
(5.8) % of 600 new animals were."""

LEAST_ANIMALS = 5
LEAST_SEEDS = 3
LEAST_TRIALS = 500
LEAST_PER_CONDITION = 20
MOST_SILENT = 0.05
"""Largest fraction of trials without an answer."""
LEAST_BITS = 0.1
"""Smallest lower end of the interval of bits per trial that animals have under each other."""
MOST_WIDTH = 0.5
"""Largest width of the interval of the score."""


@dataclass(frozen=True)
class Answers:
    """The answers of one subject or animal.

    Attributes:
        signed: (n,) strength of the evidence, negative for choice 0; of reports, the wanted number.
        choice: (n,) int, 0 or 1, or the option; 0 of reports; -1: no answer.
        time: (n,) ms, reaction time, or the reported number; NaN without an answer, or if none was
            measured.
        block: (n,) int, number of the session, or of a run of `BLOCK` trials.
        context: (n,) text, another condition of the trial, such as the modality; None: no other.
        before: (n, 2), the choice of the trial before as -1 or 1, and the same if it was correct;
            0: there is none. None: the order of the trials is unknown. Of options that pay, the
            result of `memories`.
    """

    signed: np.ndarray
    choice: np.ndarray
    time: np.ndarray
    block: np.ndarray
    context: np.ndarray | None = None
    before: np.ndarray | None = None

    @classmethod
    def of(cls, behaviour: Behaviour) -> Answers:
        """Return the answers in a record.

        Raises:
            CannotTellError: strength or side are unknown, or there are more than two choices.
        """
        if behaviour.choices != 2:
            raise CannotTellError(f"the score is of two choices, and there are {behaviour.choices}")
        answered = behaviour.answered
        time = np.full(len(behaviour), np.nan)
        with contextlib.suppress(CannotTellError):
            time[answered] = behaviour.column("reaction_time")[answered].astype(float)
        choice = np.where(answered, behaviour.chose_right, -1)
        by = behaviour.roles.by
        context = None if by is None else behaviour.record[by].astype(str)
        before = None
        with contextlib.suppress(CannotTellError):
            last = np.where(answered, np.where(behaviour.chose_right, 1, -1), 0)
            both = np.stack([last, last * behaviour.correct], axis=1)
            before = np.where(behaviour.after[:, None], behaviour.before(both), 0)
        choice = choice.astype(np.int64)
        return cls(behaviour.signed, choice, time, _blocks(behaviour), context, before)

    @classmethod
    def of_reports(cls, behaviour: Behaviour) -> Answers:
        """Return the reports in a record with the columns ``wanted`` and ``reaction_time``, ms.

        Raises:
            CannotTellError: a column is missing.
        """
        if WANTED not in behaviour.record:
            raise CannotTellError(f"the record has no column {WANTED!r}, the number to report")
        time = behaviour.column("reaction_time").astype(float)
        choice = np.where(np.isfinite(time), 0, -1)
        wanted = behaviour.record[WANTED].astype(float)
        return cls(wanted, choice, time, _blocks(behaviour))

    @classmethod
    def of_options(cls, behaviour: Behaviour) -> Answers:
        """Return the choices among options that pay; the record needs ``choice`` and ``reward``.

        Raises:
            CannotTellError: a column is missing, or the order of the trials is unknown.
        """
        if "reward" not in behaviour.record:
            raise CannotTellError("the record has no column 'reward'")
        choice = behaviour.column("choice").astype(np.int64)
        paid = behaviour.record["reward"].astype(float) > 0
        before = memories(choice, paid, behaviour.after, behaviour.roles.choices)
        nothing = np.full(len(choice), np.nan)
        return cls(np.zeros(len(choice)), choice, nothing, _blocks(behaviour), None, before)

    def __len__(self) -> int:
        return len(self.signed)

    def __getitem__(self, rows: np.ndarray) -> Answers:
        every = (getattr(self, one.name) for one in fields(self))
        return Answers(*(None if one is None else one[rows] for one in every))

    @property
    def timed(self) -> bool:
        """Whether reaction times were measured."""
        return bool(np.isfinite(self.time).any())

    @cached_property
    def conditions(self) -> list[tuple[str, float]]:
        """Context and signed strength of each trial."""
        context = [""] * len(self) if self.context is None else self.context.tolist()
        return list(zip(context, np.round(self.signed, 6).tolist(), strict=True))

    @cached_property
    def answered(self) -> np.ndarray:
        """Whether the trial has a choice, and a reaction time if these were measured, bool (n,)."""
        return (self.choice >= 0) & (np.isfinite(self.time) | (not self.timed))

    @property
    def silent(self) -> float:
        """Fraction of trials without an answer."""
        return 1 - float(self.answered.mean()) if len(self) else 1.0


def _blocks(behaviour: Behaviour) -> np.ndarray:
    """Return the number of the session or run of trials of each trial, (n,)."""
    if "session" in behaviour.record and len(np.unique(behaviour.record["session"])) > 1:
        return np.unique(behaviour.record["session"], return_inverse=True)[1]
    return np.arange(len(behaviour)) // max(min(BLOCK, len(behaviour) // 4), 1)


class Bench:
    """The animals' trials, on one grid of conditions and reaction times.

    Args:
        animals: name -> answers; trials without an answer are left out.
        kind: one of `KINDS`; None: choices, with reaction times if all animals have them.

    Raises:
        CannotTellError: fewer than two animals, or one without answers.
    """

    def __init__(self, animals: Mapping[str, Answers], kind: str | None = None) -> None:
        if len(animals) < 2:
            raise CannotTellError(
                f"a score needs two animals or more, and there are {len(animals)}"
            )
        for name, one in animals.items():
            if not one.answered.any():
                raise CannotTellError(f"{name} has no trial with a choice and a reaction time")
        self.animals = {name: one[one.answered] for name, one in animals.items()}
        self.conditions = sorted({key for one in self.animals.values() for key in one.conditions})
        self.signed = np.array([signed for _, signed in self.conditions])
        levels = sorted({(context, abs(signed)) for context, signed in self.conditions})
        self.level = np.array([levels.index((one, abs(signed))) for one, signed in self.conditions])
        self.n_levels = len(levels)
        timed = all(one.timed for one in self.animals.values())
        self.kind = kind or (TIMES if timed else CHOICES)
        self.timed = self.kind in (TIMES, REPORTS)
        self.options = {REPORTS: 1, REWARDS: 0}.get(self.kind, 2)
        self.shifts = SHIFTS if self.kind == TIMES else np.zeros(1)
        if self.timed:
            longest = max(float(np.quantile(one.time, 0.999)) for one in self.animals.values())
            self.n_bins = int(np.ceil((longest + SHIFTS.max()) / GRID)) + 1
        self.ordered = all(one.before is not None for one in self.animals.values())
        self.scale = float(np.mean(np.abs(self.signed))) or 1.0
        self._predictors: dict[str, Predictor] = {}

    def condition(self, one: Answers, name: str) -> np.ndarray:
        """Return the index of the condition of each trial, (n,); -1: none of the animals'.

        Raises:
            CannotTellError: the subject has not met a condition of the animals.
        """
        index = {key: k for k, key in enumerate(self.conditions)}
        missing = [key for key in self.conditions if key not in set(one.conditions)]
        if missing:
            context, signed = missing[0]
            where = f"{signed:g}" + f" of {context}" * bool(context)
            every = ", ".join(f"{one:g}" for one in np.unique(abs(self.signed)))
            raise CannotTellError(
                f"{name} has no trial with the strength {where}, which the animals have; play the"
                f" animals' strengths: {every}"
            )
        return np.array([index.get(key, -1) for key in one.conditions], np.int64)

    def predictor(self, name: str) -> Predictor:
        """Return the table of the trials of an animal."""
        if name not in self._predictors:
            self._predictors[name] = Predictor(self, self.animals[name], name)
        return self._predictors[name]

    def bins(self, time: np.ndarray) -> np.ndarray:
        """Return the bin of each reaction time in ms, (n,)."""
        return np.clip(np.ceil(time / GRID - 1e-9).astype(int) - 1, 0, self.n_bins - 1)


class Predictor:
    """The probabilities of choices and reaction times that a subject's trials give.

    Args:
        bench: the animals.
        answers: trials of the subject.
        name: of the subject, for errors.
    """

    def __init__(self, bench: Bench, answers: Answers, name: str, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        condition = bench.condition(answers, name)
        answers = answers[condition >= 0]
        self.bench, self.condition = bench, condition[condition >= 0]
        self.choice, self.answered = answers.choice, answers.answered
        # Fine clocks are made as coarse as the grid; then times lie anywhere within their bin.
        step = np.ceil(np.where(self.answered, answers.time, GRID) / GRID - 1e-9) * GRID
        self.time = step - GRID * rng.random(len(step))
        order = rng.permutation(len(step))
        self.halves = np.array_split(order, 2)

    def table(self, shift: float, rows: np.ndarray | slice = slice(None)) -> tuple[np.ndarray, ...]:
        """Return P(choice) (C, options) and P(bin | condition, choice) (C, 2, B)."""
        bench, n_levels, n_bins = self.bench, self.bench.n_levels, self.bench.n_bins
        condition, choice, said = self.condition[rows], self.choice[rows], self.answered[rows]
        counts = np.zeros((len(bench.signed), bench.options))
        np.add.at(counts, (condition[said], choice[said]), 1)
        asked = np.bincount(condition, minlength=len(bench.signed))
        chosen = (counts + 1 / bench.options) / (asked + 1)[:, None]
        # Reaction times depend on the level of the evidence and on whether the choice was wrong.
        cell = np.stack([bench.level * 2 + wrong for wrong in _wrong(bench.signed)], axis=1)
        bins = np.clip(
            np.floor(np.maximum(self.time[rows] + shift, 0) / GRID).astype(int), 0, n_bins - 1
        )
        flat = cell[condition[said], choice[said]] * n_bins + bins[said]
        each = np.bincount(flat, minlength=2 * n_levels * n_bins).reshape(n_levels, 2, n_bins)
        level = each.sum(axis=1, keepdims=True)
        top = level.sum(axis=0) + 1 / n_bins
        level = _leaning(level, top / top.sum())
        times = _leaning(each, level).reshape(2 * n_levels, n_bins)
        return chosen, times[cell]


def reverse_divergence(bench: Bench, subject: Predictor, name: str, shift: float) -> float:
    """Return the divergence of a subject's choices and times from those of an animal, bits.

    It is the mean over levels of the Kullback-Leibler divergence KL(subject || animal) of choice
    and time given the condition, in the bins of the score. Both are mixed with the guesser. Trials
    without an answer are left out. Bits fall with the number of trials n as 1 / n, so two halves of
    both say by how much, as in `Target.corrected`; equal distributions are near 0, on either side.

    Args:
        bench: the animals.
        subject: the table of a subject, or of another animal.
        name: of the animal.
        shift: added to the times of the subject, ms.
    """
    animal = bench.predictor(name)
    floor = np.bincount(bench.bins(bench.animals[name].time), minlength=bench.n_bins) + 0.5
    guesser = floor / floor.sum() / bench.options

    def joint(one: Predictor, shift: float, rows: np.ndarray | slice) -> np.ndarray:
        chosen, times = one.table(shift, rows)
        chosen = chosen / chosen.sum(axis=1, keepdims=True)
        given = chosen[:, :, None] * times[:, : bench.options]
        return (1 - MIX) * given + MIX * guesser

    def divergence(rows: np.ndarray | slice, theirs: np.ndarray | slice) -> float:
        p, q = joint(subject, shift, rows), joint(animal, 0.0, theirs)
        return per_level((p * np.log2(p / q)).sum(axis=(1, 2)), bench.level)

    halves = [divergence(*both) for both in zip(subject.halves, animal.halves, strict=True)]
    return 2 * divergence(slice(None), slice(None)) - sum(halves) / 2


def _wrong(signed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return whether choices 0 and 1 are wrong in each condition; without evidence, none is."""
    return (signed > 0).astype(int), (signed < 0).astype(int)


def _leaning(counts: np.ndarray, parent: np.ndarray) -> np.ndarray:
    """Return probabilities of bins that lean on those of a wider class, (…, B)."""
    return (counts + PSEUDO * parent) / (counts.sum(axis=-1, keepdims=True) + PSEUDO)


@dataclass(frozen=True)
class Bits:
    """Bits of each trial of one animal under one subject.

    Attributes:
        total, choice: (n,) bits; `choice` without the reaction time or, where none was measured,
            without the history of choices.
        unshifted: (n,), with the subject's own times.
        shifts: ms, the two that were fitted, each to one half of the blocks.
    """

    total: np.ndarray
    choice: np.ndarray
    unshifted: np.ndarray
    shifts: tuple[float, float]


class Target:
    """The trials of an animal that a subject's table is to predict.

    Args:
        bench: the animals.
        name: of the animal.
        rows: bool (n,), some of its trials; default: all.
    """

    def __init__(self, bench: Bench, name: str, rows: np.ndarray | slice = slice(None)) -> None:
        animal = bench.animals[name][rows]
        self.options, self.shifts = bench.options, bench.shifts
        self.condition, self.choice = bench.condition(animal, name), animal.choice
        self.level, self.bins = bench.level[self.condition], bench.bins(animal.time)
        floor = np.bincount(self.bins, minlength=bench.n_bins) + 0.5
        self.floor = (floor / floor.sum())[self.bins]
        self.block = np.unique(animal.block, return_inverse=True)[1]

    def under(
        self, predictor: Predictor, shift: float, part: np.ndarray | slice = slice(None)
    ) -> np.ndarray:
        """Return bits of choice and time, and of the choice alone, under part of a subject, (2, n).

        The table is mixed with the guesser, so that no trial decides the score.
        """
        chosen, times = predictor.table(shift, part)
        choice = self.options * chosen[self.condition, self.choice]
        ratio = choice * times[self.condition, self.choice, self.bins] / self.floor
        return np.log2((1 - MIX) * np.stack([ratio, choice]) + MIX)

    def corrected(self, predictor: Predictor, shift: float) -> np.ndarray:
        """Return the bits of `under` for a table of infinitely many trials, (2, n).

        Bits grow with the number of trials n as 1 / n, so two tables of half of them say by how
        much.
        """
        halves = [self.under(predictor, shift, half) for half in predictor.halves]
        return 2 * self.under(predictor, shift) - (halves[0] + halves[1]) / 2

    def bits(self, predictor: Predictor) -> Bits:
        """Return the bits of each trial, with times shifted as the other half of blocks wants."""
        tried = [self.under(predictor, shift)[0] for shift in self.shifts]
        found, shifts = np.empty((2, len(self.level))), []
        for half in (0, 1):
            test = self.block % 2 == half
            fit = ~test if not test.all() else test  # a single block
            best = self.shifts[np.argmax([per_level(one[fit], self.level[fit]) for one in tried])]
            found[:, test] = self.corrected(predictor, best)[:, test]
            shifts.append(float(best))
        unshifted = self.corrected(predictor, 0.0)[0]
        return Bits(found[0], found[1], unshifted, (shifts[0], shifts[1]))


class ChoicePredictor:
    """The probabilities of choices that models of a subject's trials give; as `Predictor`."""

    def __init__(self, bench: Bench, answers: Answers, name: str) -> None:
        self.models = [
            ChoiceModel(answers, bench.scale, history=history) for history in (bench.ordered, False)
        ]


class ChoiceTarget:
    """The choices of an animal that a subject's models are to predict; as `Target`."""

    def __init__(self, bench: Bench, name: str, rows: np.ndarray | slice = slice(None)) -> None:
        self.animal = bench.animals[name][rows]
        self.level = classes_of(self.animal.signed)
        self.block = np.unique(self.animal.block, return_inverse=True)[1]
        share = self.animal.choice.mean()
        self.floor = np.where(self.animal.choice == 1, share, 1 - share)

    def bits(self, predictor: ChoicePredictor) -> Bits:
        """Return the bits of each choice, with and without the history of the animal."""
        found = []
        for model in predictor.models:
            right = model.predict(self.animal)
            ratio = np.where(self.animal.choice == 1, right, 1 - right) / self.floor
            found.append(np.log2((1 - MIX) * ratio + MIX))
        return Bits(found[0], found[1], found[0], (0.0, 0.0))


class OptionPredictor:
    """The probabilities of options that models of a subject's trials give; as `Predictor`."""

    def __init__(self, bench: Bench, answers: Answers, name: str) -> None:
        self.models = [OptionModel(answers, rewards=rewards) for rewards in (True, False)]


class OptionTarget:
    """The choices of an animal among options that a subject's models predict; as `Target`."""

    def __init__(self, bench: Bench, name: str, rows: np.ndarray | slice = slice(None)) -> None:
        self.animal = bench.animals[name][rows]
        self.level = np.zeros(len(self.animal), int)
        self.block = np.unique(self.animal.block, return_inverse=True)[1]
        assert self.animal.before is not None
        counts = np.bincount(self.animal.choice, minlength=self.animal.before.shape[1]) + 0.5
        self.floor = (counts / counts.sum())[self.animal.choice]

    def bits(self, predictor: OptionPredictor) -> Bits:
        """Return the bits of each choice, with and without the rewards of the animal."""
        found = []
        for model in predictor.models:
            chosen = model.predict(self.animal)[np.arange(len(self.animal)), self.animal.choice]
            found.append(np.log2((1 - MIX) * chosen / self.floor + MIX))
        return Bits(found[0], found[1], found[0], (0.0, 0.0))


PARTS: Mapping[str, tuple[Any, Any]] = {
    TIMES: (Predictor, Target),
    CHOICES: (ChoicePredictor, ChoiceTarget),
    REPORTS: (Predictor, Target),
    REWARDS: (OptionPredictor, OptionTarget),
}
"""Kind -> the classes of a subject's predictions, and of the animal's trials that are predicted."""


def per_level(values: np.ndarray, level: np.ndarray) -> float:
    """Return the mean over levels of the mean of their trials."""
    counts = np.bincount(level)
    return float(np.mean((np.bincount(level, values) / np.maximum(counts, 1))[counts > 0]))


# ---------------------------------------------------------------------- the score


@dataclass(frozen=True)
class Seed:
    """The score of one seed of a subject, or of one held-out animal.

    Attributes:
        name: of the subject or animal.
        score: 0 for the guesser, 1 for another animal.
        bits, choice, added: bits per trial of the animals; those of choices and, given these, of
            reaction times or reports. Without reaction times: those of choices and, given the
            evidence, of the history; of options that pay, those of earlier choices and, given
            these, of rewards.
        unshifted: bits per trial without the shift of time.
        shift: median of the fitted shifts, ms.
        reverse: bits per trial by which its choices and times, with the fitted shifts, diverge from
            those of the animals (`reverse_divergence`); NaN where no times count.
    """

    name: str
    score: float
    bits: float
    choice: float
    added: float
    unshifted: float
    shift: float
    reverse: float


@dataclass(frozen=True)
class Likeness:
    """The likeness of a subject to animals.

    Attributes:
        seeds: one score for each seed of the subject; a seed is a subject.
        animals: the score of each animal against the others.
        low, high: 95 % interval of the mean over seeds; blocks of trials and seeds are resampled,
            and animals, if there are at least five. With fewer it holds for these animals only.
        ceiling: bits per trial of an animal under the other half of its trials.
        reference: bits per trial of an animal under another animal; the score's unit.
        bound: the score below which a seed is unlike these animals, if there are no doubts.
        least: the bits below which the added ones are unlike those of these animals; -inf: the
            order of their trials is unknown.
        kind: one of `KINDS`.
        doubts: reasons why there is no verdict.
        of_animals: those of the doubts that any subject would meet.
        unit: the predictor with a score of 1: an "animal", or a "group" of animals.
    """

    seeds: tuple[Seed, ...]
    animals: tuple[Seed, ...]
    low: float
    high: float
    ceiling: float
    reference: float
    bound: float
    least: float
    kind: str
    doubts: tuple[str, ...]
    of_animals: tuple[str, ...] = ()
    unit: str = "animal"

    @property
    def score(self) -> float:
        """Mean over seeds."""
        return float(np.mean([one.score for one in self.seeds]))

    @property
    def timed(self) -> bool:
        """Whether reaction times or reports count; else choices alone do."""
        return self.kind in (TIMES, REPORTS)

    def alike(self, seed: Seed) -> bool:
        """Return whether a seed is above the bound, and each part of its answers adds bits.

        A subject whose choices or reaction times add none, or whose history is not that of the
        animals, is unlike them, whatever the sum.
        """
        chooses = seed.choice > 0 or self.kind == REPORTS
        return seed.score >= self.bound and chooses and seed.added > self.least

    def verdict(self, seed: Seed) -> str:
        """Return "unlike", "not distinguished" or "no verdict" for one of the seeds."""
        if self.doubts:
            return "no verdict"
        return "not distinguished" if self.alike(seed) else "unlike"


def likeness_in_bits(
    seeds: Mapping[str, Answers],
    animals: Mapping[str, Answers],
    *,
    kind: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Likeness:
    """Score the seeds of a subject against animals.

    Args:
        seeds: name -> answers; each is a subject.
        animals: name -> answers.
        kind: one of `KINDS`; None: choices, with reaction times if all animals have them.
        progress: called with the number of pairs that are done, and of all.

    Raises:
        CannotTellError: fewer than two animals, no answers, or conditions that the subject has not
            met.
    """
    bench = Bench(animals, kind)
    return _likeness(bench, seeds, *_pairs(bench, seeds, progress), _ceiling(bench))


def likeness_of_each(
    subjects: Mapping[str, Answers],
    animals: Mapping[str, Answers],
    *,
    kind: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Likeness]:
    """Score several subjects, of one seed each, against animals; return name -> its score.

    Args:
        subjects: name -> answers.
        animals, kind, progress: as in `likeness_in_bits`.

    Raises:
        CannotTellError: as `likeness_in_bits`.
    """
    bench = Bench(animals, kind)
    found, ceiling = _pairs(bench, subjects, progress), _ceiling(bench)
    return {name: _likeness(bench, {name: one}, *found, ceiling) for name, one in subjects.items()}


_Player = tuple[str, str]
"""Whether it is a "seed" or an "animal", and its name."""


def _pairs(
    bench: Bench,
    seeds: Mapping[str, Answers],
    progress: Callable[[int, int], None] | None = None,
) -> tuple[
    dict[tuple[_Player, str], _Sums], dict[_Player, list[float]], dict[_Player, list[float]]
]:
    """Return the bits of each animal under each seed and each other animal.

    The others are the fitted shifts and the reverse divergences of each seed and animal.
    """
    table, target_of = PARTS[bench.kind]
    targets: dict[str, Any] = {name: target_of(bench, name) for name in bench.animals}
    players = {
        **{("animal", name): one for name, one in bench.animals.items()},
        **{("seed", name): one for name, one in seeds.items()},
    }
    pairs: dict[tuple[_Player, str], _Sums] = {}
    shifts: dict[_Player, list[float]] = {}
    reverse: dict[_Player, list[float]] = {}
    for done, (player, answers) in enumerate(players.items()):
        if not answers.answered.any():
            raise CannotTellError(f"{player[1]} has no trial with a choice and a reaction time")
        if bench.timed and not answers.timed:
            raise CannotTellError(f"{player[1]} has no reaction times, which the animals have")
        predictor: Any = table(bench, answers, player[1])
        for name, target in targets.items():
            if player != ("animal", name):
                found = target.bits(predictor)
                pairs[player, name] = _Sums(target, found)
                shifts.setdefault(player, []).extend(found.shifts)
                if bench.timed:
                    reverse.setdefault(player, []).extend(
                        reverse_divergence(bench, predictor, name, shift) for shift in found.shifts
                    )
        if progress is not None:
            progress(done + 1, len(players))
    return pairs, shifts, reverse


def _ceiling(bench: Bench) -> float:
    return float(np.mean([_own(bench, name) for name in bench.animals]))


def _likeness(
    bench: Bench,
    seeds: Mapping[str, Answers],
    pairs: Mapping[tuple[_Player, str], _Sums],
    shifts: Mapping[_Player, list[float]],
    reverse: Mapping[_Player, list[float]],
    ceiling: float,
) -> Likeness:
    """Return the score of a subject from the bits of all pairs."""

    def mean(player: _Player, what: int) -> float:
        against = [name for name in bench.animals if (player, name) in pairs]
        return float(np.mean([pairs[player, name].mean()[what] for name in against]))

    reference = float(np.mean([mean(("animal", name), TOTAL) for name in bench.animals]))

    def scored(player: _Player) -> Seed:
        total, choice = mean(player, TOTAL), mean(player, CHOICE)
        return Seed(
            player[1], total / reference, total, choice, total - choice,
            mean(player, UNSHIFTED), float(np.median(shifts[player])),
            float(np.mean(reverse.get(player, np.nan))),
        )  # fmt: skip

    mine = tuple(scored(("seed", name)) for name in seeds)
    theirs = tuple(scored(("animal", name)) for name in bench.animals)
    low, high, least = _interval(pairs, [("seed", name) for name in seeds], list(bench.animals))
    bound = _least(np.array([one.score for one in theirs]))
    added = 0.0
    if not bench.timed:
        added = _least(np.array([one.added for one in theirs])) if bench.ordered else -np.inf
    of_animals = tuple(_doubts_of_animals(theirs, least, ceiling))
    doubts = [*of_animals, *_doubts_of_seeds(bench, seeds, mine)]
    if high - low > MOST_WIDTH and low < bound < high:
        doubts.append(f"the interval of the score is {high - low:.2f} wide, more than {MOST_WIDTH}")
    return Likeness(
        mine, theirs, low, high, ceiling, reference, bound, added, bench.kind, tuple(doubts),
        of_animals,
    )  # fmt: skip


def _least(held: np.ndarray) -> float:
    """Return the value below which a new animal is with the nominal probability `TAIL`."""
    spread = held.std(ddof=1) * np.sqrt(1 + 1 / len(held))
    return float(held.mean() - stats.t.ppf(1 - TAIL, len(held) - 1) * spread)


TOTAL, CHOICE, UNSHIFTED = range(3)


class _Sums:
    """Sums of bits over the trials of each block and level of an animal, (3, blocks, levels)."""

    def __init__(self, target: Any, found: Bits) -> None:
        where = target.block, target.level
        self.count = np.zeros((target.block.max() + 1, target.level.max() + 1))
        np.add.at(self.count, where, 1)
        self.sums = np.zeros((3, *self.count.shape))
        for k, values in enumerate((found.total, found.choice, found.unshifted)):
            np.add.at(self.sums[k], where, values)

    def mean(self, blocks: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Return the means over levels of the mean bits per trial, (3,)."""
        count, sums = self.count[blocks].sum(axis=0), self.sums[:, blocks].sum(axis=1)
        return (sums[:, count > 0] / count[count > 0]).mean(axis=1)


def _own(bench: Bench, name: str) -> float:
    """Return the bits of one half of an animal's blocks under the other, both ways."""
    table, target_of = PARTS[bench.kind]
    animal = bench.animals[name]
    first, found = np.unique(animal.block, return_inverse=True)[1] % 2 == 0, []
    if first.all():
        return float("nan")
    for half in (first, ~first):
        try:
            predictor: Any = table(bench, animal[half], name)
        except CannotTellError:  # a condition is in the other half only
            return float("nan")
        target: Any = target_of(bench, name, ~half)
        found.append(per_level(target.bits(predictor).unshifted, target.level))
    return float(np.mean(found))


def _interval(
    pairs: Mapping[tuple[_Player, str], _Sums], players: Sequence[_Player], animals: Sequence[str]
) -> tuple[float, float, float]:
    """Return the 95 % interval of the mean score of players, and the lower end of its unit's."""
    rng, scores, units = np.random.default_rng(0), [], []
    whole, n = len(animals) >= LEAST_ANIMALS, len(players)
    counts, sums = {}, {}
    for name in animals:  # of all players, then of the other animals: (subjects, blocks, levels)
        every = [*players, *(("animal", one) for one in animals if one != name)]
        counts[name] = pairs[every[0], name].count
        sums[name] = np.stack([pairs[one, name].sums[TOTAL] for one in every])
    for _ in range(SAMPLES):
        names = rng.choice(animals, len(animals)).tolist() if whole else list(animals)
        drawn = rng.choice(n, n)
        mine, theirs = [], []
        for name in names:
            blocks = rng.integers(0, len(counts[name]), len(counts[name]))
            count, summed = counts[name][blocks].sum(axis=0), sums[name][:, blocks].sum(axis=1)
            bits = (summed[:, count > 0] / count[count > 0]).mean(axis=1)
            mine.append(bits[:n][drawn].mean())
            theirs.append(bits[n:].mean())
        units.append(np.mean(theirs))
        scores.append(np.mean(mine) / units[-1])
    low, high = np.quantile(scores, [0.025, 0.975])
    return float(low), float(high), float(np.quantile(units, 0.025))


def animals_held_out(
    animals: Mapping[str, Answers], *, kind: str | None = None
) -> dict[str, tuple[float, float, float]]:
    """Return the score of each animal as a subject beside the others, with its 95 % interval.

    The unit is that of the other animals, without the one that is scored.

    Args:
        animals, kind: as in `likeness_in_bits`.

    Raises:
        CannotTellError: as `likeness_in_bits`, or fewer than three animals.
    """
    bench = Bench(animals, kind)
    if len(animals) < 3:
        raise CannotTellError(f"{len(animals)} animals; scoring each beside others needs three")
    pairs, *_ = _pairs(bench, {})
    found = {}
    for name in bench.animals:
        others = [one for one in bench.animals if one != name]
        mine = np.mean([pairs[("animal", name), one].mean()[TOTAL] for one in others])
        unit = np.mean([
            pairs[("animal", one), other].mean()[TOTAL]
            for one in others for other in others if one != other
        ])  # fmt: skip
        low, high, _ = _interval(pairs, [("animal", name)], others)
        found[name] = (float(mine / unit), low, high)
    return found


def _doubts_of_animals(animals: Sequence[Seed], least: float, ceiling: float) -> list[str]:
    """Return the reasons why these animals allow no verdict."""
    doubts = []
    if len(animals) < LEAST_ANIMALS:
        doubts.append(f"{len(animals)} animals, and a verdict needs {LEAST_ANIMALS}")
    if least < LEAST_BITS or least < ceiling / 4:
        doubts.append(
            f"the animals predict each other badly: {least:.3f} bits per trial or more, where one"
            f" half of an animal's trials predicts the other with {ceiling:.3f}"
        )
    return doubts


def _doubts_of_seeds(
    bench: Bench, seeds: Mapping[str, Answers], scores: Sequence[Seed]
) -> list[str]:
    """Return the reasons why this subject gets no verdict."""
    doubts = []
    if len(seeds) < LEAST_SEEDS:
        doubts.append(
            f"{len(seeds)} seed{'s' * (len(seeds) > 1)}, and a verdict needs {LEAST_SEEDS}"
        )
    for (name, one), score in zip(seeds.items(), scores, strict=True):
        fewest = LEAST_PER_CONDITION
        if bench.timed:
            condition = bench.condition(one, name)
            fewest = np.bincount(condition[condition >= 0], minlength=len(bench.signed)).min()
        if len(one) < LEAST_TRIALS or fewest < LEAST_PER_CONDITION:
            doubts.append(
                f"{name} has {len(one):,} trials, {fewest} of its rarest condition; a verdict needs"
                f" {LEAST_TRIALS} and {LEAST_PER_CONDITION}"
            )
        if one.silent > MOST_SILENT:
            doubts.append(f"{name} did not answer {100 * one.silent:.0f} % of the trials")
        if abs(score.shift) >= SHIFTS.max():
            doubts.append(
                f"{name} would fit better with its times shifted by more than {SHIFTS.max():.0f} ms"
            )
    return doubts


# ---------------------------------------------------------------------- the report


def scored_finding(likeness: Likeness, subject: str) -> Finding:
    """Return the score as table, figure and sentences."""
    rows = [
        {
            "who": one.name, "kind": kind, "score": one.score, "bits": one.bits,
            "choice": one.choice, ADDED[likeness.kind]: one.added,
            **(
                {"unshifted": one.unshifted, "shift (ms)": one.shift}
                if likeness.kind == TIMES else {}
            ),
            **({"reverse": one.reverse} if likeness.timed else {}),
            "verdict": verdict,
        }
        for kind, each in (("seed", likeness.seeds), ("animal", likeness.animals))
        for one in each
        for verdict in [likeness.verdict(one) if kind == "seed" else ""]
    ]  # fmt: skip
    return Finding(
        "score", "Likeness in bits", table=pd.DataFrame(rows), figure=_drawn(likeness, subject),
        notes=tuple(said(likeness, subject)),
    )  # fmt: skip


def as_numbers(likeness: Likeness) -> dict[str, Any]:
    """Return the score as data for JSON."""
    seeds = [{**asdict(one), "verdict": likeness.verdict(one)} for one in likeness.seeds]
    return {**asdict(likeness), "score": likeness.score, "seeds": seeds}


ADDED = {TIMES: "times", CHOICES: "history", REPORTS: "reports", REWARDS: "rewards"}
"""Kind -> the answers that add bits to those of choices."""
GUESSER = {
    TIMES: "the reaction times of the animal",
    CHOICES: "the bias of the animal",
    REPORTS: "the reports of the animal",
    REWARDS: "the frequency of the animal's options",
}
"""Kind -> the knowledge of the guesser."""


def said(likeness: Likeness, subject: str) -> list[str]:
    """Return the score in sentences."""
    n, kind, unit = len(likeness.seeds), likeness.kind, likeness.unit
    span = f"and {unit}s" if len(likeness.animals) >= LEAST_ANIMALS else f"of these {unit}s"
    notes = [
        f"Score of {subject}: {likeness.score:.2f} [{likeness.low:.2f}, {likeness.high:.2f}]"
        f" (mean of {n} seed{'s' * (n > 1)}, 95 % interval over seeds, blocks {span}). 0: a guesser"
        f" with {GUESSER[kind]}; 1: another {unit} ({likeness.reference:.3f} bits per trial). One"
        f" half of the trials under the other: {likeness.ceiling / likeness.reference:.2f}"
        + (", without a shift of time." if kind == TIMES else ".")
        + (" Choices alone were measured." if kind == CHOICES else ""),
    ]
    if likeness.timed:
        theirs = [one.reverse for one in likeness.animals]
        notes.append(
            f"Reverse divergence: {np.mean([one.reverse for one in likeness.seeds]):.2f} bits per"
            f" trial; each {unit} from the others {min(theirs):.2f} to {max(theirs):.2f}. It grows"
            f" with answers that the {unit}s do not give, and has no part in the verdict."
        )
    if likeness.doubts:
        return [*notes, f"No verdict: {'; '.join(likeness.doubts)}."]
    alike = sum(likeness.verdict(one) == "not distinguished" for one in likeness.seeds)
    also = {
        TIMES: ", or where its choices or its times add no bits",
        REPORTS: ", or where its reports add no bits",
        CHOICES: ", or where its choices add none",
        REWARDS: ", or where its earlier choices add none",
    }[kind]
    if not likeness.timed and np.isfinite(likeness.least):
        adds = "history of choices adds" if kind == CHOICES else "rewards add"
        also += f", or its {adds} less than {likeness.least:.3f} bits"
    return [
        *notes,
        f"Not distinguished from the animals: {alike} of {n} seeds. A seed is unlike them below"
        f" {likeness.bound:.2f}{also}.",
    ]


def _drawn(likeness: Likeness, subject: str) -> Any:
    """Return the figure: scores of seeds and animals, of the choices and of the times."""
    with drawing() as style:
        made, (axes,) = figure(width=5.2, height=2.6)
        groups = (
            (subject, likeness.seeds, BLUE),
            (f"each {likeness.unit}", likeness.animals, GREY),
        )
        for place, (_, each, colour) in enumerate(groups):
            beside = np.linspace(-0.16, 0.16, len(each)) if len(each) > 1 else [0.0]
            axes.plot(
                np.clip([one.score for one in each], *SEEN), 1 - place + np.array(beside), "o",
                color=colour, ms=style.marker, mew=0,
            )  # fmt: skip
        axes.hlines(1.3, *np.clip([likeness.low, likeness.high], *SEEN), color=BLUE)
        for value, name in ((0, "guesser"), (1, f"another {likeness.unit}")):
            axes.axvline(value, ymax=0.85, color=GREY, lw=0.6 * style.line, ls="--")
            axes.annotate(name, (value, 1.62), ha="center", fontsize=style.small, color=GREY)
        if not likeness.doubts:
            axes.axvspan(SEEN[0], likeness.bound, color=GREY, alpha=0.12, lw=0)
        axes.set_yticks([1, 0], [plain_text(name) for name, _, _ in groups])
        axes.set_ylim(-0.5, 1.85)
        axes.set_xlim(SEEN[0] - 0.05, SEEN[1] + 0.05)
        axes.set_xlabel("score, 95 % interval (grey: unlike the animals)")
        return legible(made)


SEEN = (-1.0, 1.5)
"""Scores that a figure shows; those beyond are drawn at its edges."""
