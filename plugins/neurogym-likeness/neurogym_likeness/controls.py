"""Controls of a benchmark: the pooled animals, which must pass, and cheats, which must not.

The cheats are made from the pooled trials of the animals, so they know more than a subject that
plays can know. A benchmark in which one of them passes measures something else than it says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from neurogym_behaviour.behaviour import Behaviour, Roles, with_declared

from neurogym_core import Subject, TaskVectorEnv, run
from neurogym_likeness.benchmarks import Benchmark, pooled
from neurogym_likeness.bits import (
    CHOICES,
    REPORTS,
    REWARDS,
    TIMES,
    Answers,
    Likeness,
    likeness_of_each,
)

HONEST = "the animals, pooled"
TRIALS = 3000
"""Largest number of trials of a control."""

Cheat = Callable[[Answers, np.random.Generator], Answers]


def _flipped(one: Answers) -> Answers:
    return replace(one, choice=1 - one.choice)


def _middle(one: Answers) -> np.ndarray:
    """Return the median time of the trials of the same strength and context, (n,)."""
    keys = np.array([f"{context} {abs(signed)}" for context, signed in one.conditions])
    names, which = np.unique(keys, return_inverse=True)
    return np.array([np.median(one.time[which == k]) for k in range(len(names))])[which]


def _guesses(one: Answers, rng: np.random.Generator) -> Answers:
    return replace(one, choice=rng.integers(0, 2, len(one)), time=rng.permutation(one.time))


def _biased(one: Answers, rng: np.random.Generator) -> Answers:
    weak = np.abs(one.signed) <= np.median(np.abs(one.signed))
    return replace(one, choice=np.where(weak, 1, one.choice))


def _fixed(one: Answers, rng: np.random.Generator) -> Answers:
    return replace(one, time=_middle(one))


def _bimodal(one: Answers, rng: np.random.Generator) -> Answers:
    ends = np.quantile(one.time, [0.001, 0.999])
    return replace(one, time=np.where(rng.random(len(one)) < 0.5, *ends))


def _skewed(one: Answers, rng: np.random.Generator) -> Answers:
    scale = np.std(one.time) / 1.5
    time = _middle(one) + scale - rng.exponential(scale, len(one))
    return replace(one, time=np.maximum(20, time))


def _other_times(one: Answers, rng: np.random.Generator) -> Answers:
    return replace(one, time=rng.permutation(one.time))


def _random_choices(one: Answers, rng: np.random.Generator) -> Answers:
    return replace(one, choice=rng.integers(0, 2, len(one)))


def _one_side(one: Answers, rng: np.random.Generator) -> Answers:
    return replace(one, choice=(rng.random(len(one)) < 0.95).astype(int))


def _never_wrong(one: Answers, rng: np.random.Generator) -> Answers:
    return replace(one, choice=(one.signed + 1e-9 * rng.normal(size=len(one)) > 0).astype(int))


def _stays_and_shifts(one: Answers, rng: np.random.Generator) -> Answers:
    if one.before is None:
        return _guesses(one, rng)
    pull = 2 * one.before[:, 1] - one.before[:, 0] + 0.1 * rng.normal(size=len(one))
    return replace(one, choice=(pull > 0).astype(int))


def _opposite_history(one: Answers, rng: np.random.Generator) -> Answers:
    return replace(one, before=None if one.before is None else -one.before)


def _always_the_same(one: Answers, rng: np.random.Generator) -> Answers:
    return replace(one, time=np.full(len(one), np.median(one.time)))


def _exact(one: Answers, rng: np.random.Generator) -> Answers:
    return replace(one, time=one.signed)


# ---- options that pay; the last columns of `before` say which option was chosen, and paid ----


def _options(one: Answers) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the number of options, whether each was the last one, (n, options), and was paid."""
    assert one.before is not None
    last = one.before[:, :, -1] > 0
    paid = (last & (one.before[:, :, 0] > 0)).any(axis=1)
    return one.before.shape[1], last, paid


def _chosen(one: Answers, liked: np.ndarray, rng: np.random.Generator) -> Answers:
    return replace(one, choice=np.argmax(liked + 1e-3 * rng.random(liked.shape), axis=1))


def _any_option(one: Answers, rng: np.random.Generator) -> Answers:
    return replace(one, choice=rng.integers(0, _options(one)[0], len(one)))


def _one_option(one: Answers, rng: np.random.Generator) -> Answers:
    return replace(one, choice=np.where(rng.random(len(one)) < 0.95, 0, one.choice))


def _stays(one: Answers, rng: np.random.Generator) -> Answers:
    _, last, _ = _options(one)
    return _chosen(one, last.astype(float), rng)


def _win_stay(one: Answers, rng: np.random.Generator) -> Answers:
    _, last, paid = _options(one)
    return _chosen(one, np.where(last == paid[:, None], 1.0, 0.0), rng)


def _win_shift(one: Answers, rng: np.random.Generator) -> Answers:
    _, last, paid = _options(one)
    return _chosen(one, np.where(last != paid[:, None], 1.0, 0.0), rng)


def _blind_to_rewards(one: Answers, rng: np.random.Generator) -> Answers:
    """Stay as often as the animals do, whatever was paid."""
    _, last, _ = _options(one)
    stays = last[np.arange(len(one)), one.choice][last.any(axis=1)].mean()
    liked = np.where((rng.random(len(one)) < stays)[:, None], last, ~last)
    return _chosen(one, liked.astype(float), rng)


# ---- the clock alone ----

CLOCK = "the clock alone"
"""Name of a cheat that reads when an answer is asked for, and looks at no observation."""
ALIKE = 20
"""Trials with the most similar clock, from which the cheat takes a condition."""


class _Watch(Subject):
    """Rests, or chooses at random, and notes when answers are asked for in each trial.

    Args:
        hides: attributes of the env that it may not read.
    """

    carries_state = False

    def __init__(self, hides: tuple[str, ...]) -> None:
        super().__init__(0)
        self.hides = hides

    def begin(self, env: TaskVectorEnv) -> None:
        n = env.num_envs
        self._step, self._now = np.zeros(n, int), np.full((n, 3), -1)
        self._trial = env.trial_number.copy()
        self.noted: list[list[np.ndarray]] = [[] for _ in range(n)]

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        fresh = np.flatnonzero(env.trial_number != self._trial)
        for one in fresh:
            self.noted[one].append(self._now[one].copy())
        self._step[fresh], self._now[fresh] = 0, -1
        self._trial = env.trial_number.copy()
        for column, (name, first) in enumerate(
            (("is_asked", True), ("is_asked", False), ("can_wait", False))
        ):
            if name not in self.hides:
                known = getattr(env, name) & ~(first & (self._now[:, column] >= 0))
                self._now[known, column] = self._step[known]
        self._step += 1
        actions = env.task.actions
        if actions.continuous:
            still = actions.from_task_units(actions.rest_value)
            return np.broadcast_to(still, (env.num_envs, actions.size))
        if actions.rest is None:
            return self.rng.integers(0, actions.size, env.num_envs)
        return np.full(env.num_envs, actions.rest)


def _clocks(benchmark: Benchmark) -> tuple[Answers, np.ndarray]:
    """Return trials of the task, and the steps at which answers are asked for in each, (n, 3)."""
    task, seed, watch = benchmark.make_task(), 0, _Watch(benchmark.hides)
    conditions = benchmark.imposed(seed) or None
    record = run(task, watch, benchmark.number, seed=seed, conditions=conditions)
    clock = np.full((len(record), 3), -1)
    for env, noted in enumerate(watch.noted):
        rows = np.flatnonzero(record["env"] == env)
        known = min(len(rows), len(noted))  # the last trial ends as the run does
        clock[rows[:known]] = noted[:known]
        clock[rows[known:]] = -2
    kept = clock[:, 0] != -2
    roles = Roles.of_task(task, by=benchmark.animals.get("by"))
    answers = benchmark.answers(Behaviour(with_declared(record, task), roles))
    return answers[kept], clock[kept]


def clock_alone(benchmark: Benchmark, one: Answers, rng: np.random.Generator) -> Answers:
    """Return the answers of a cheat that knows the animals, and of each trial the clock alone.

    It takes the condition of another trial whose clock is the most similar, and answers as an
    animal did in that condition. So it knows of each trial the moments of the question, and no
    observation.

    Args:
        benchmark: says what its subjects may read.
        one: trials of animals, all of them answered.
        rng: draws the answers.
    """
    played, clock = _clocks(benchmark)
    like = _drawn(_distances(one, played), rng)
    far = np.abs(clock[like][:, None] - clock[None]).sum(axis=2).astype(float)
    far[np.arange(len(one)), like] = np.inf
    far += 0.5 * rng.random(far.shape)
    near = np.argpartition(far, min(ALIKE, far.shape[1] - 1) - 1, axis=1)[:, :ALIKE]
    taken = near[np.arange(len(one)), rng.integers(0, near.shape[1], len(one))]
    rows = _drawn(_distances(played, one)[taken], rng)
    return replace(one, choice=one.choice[rows], time=one.time[rows])


def _distances(some: Answers, others: Answers) -> np.ndarray:
    """Return how much the conditions of trials differ, (some, others)."""
    far = np.abs(some.signed[:, None] - others.signed[None])
    if some.context is not None and others.context is not None:
        far = np.where(some.context[:, None] == others.context[None], far, np.inf)
    return far


def _drawn(distances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return one of the nearest columns of each row, (rows,)."""
    least = distances.min(axis=1, keepdims=True)
    return np.argmax((distances == least) * (1 + rng.random(distances.shape)), axis=1)


CHEATS: Mapping[str, Mapping[str, Cheat]] = {
    TIMES: {
        "fixed times": _fixed,
        "two times": _bimodal,
        "times skewed to the left": _skewed,
        "times of other trials": _other_times,
        "right times, random choices": _random_choices,
        "one side when unsure": _biased,
        "guesses": _guesses,
    },
    CHOICES: {
        "guesses": _guesses,
        "one side": _one_side,
        "one side when unsure": _biased,
        "never wrong": _never_wrong,
        "the other side": lambda one, rng: _flipped(one),
        "stays after correct, shifts after wrong": _stays_and_shifts,
        "the opposite history": _opposite_history,
    },
    REPORTS: {
        "fixed reports": _fixed,
        "two reports": _bimodal,
        "one report": _always_the_same,
        "exact reports": _exact,
        "reports skewed to the left": _skewed,
        "reports of other trials": _other_times,
    },
    REWARDS: {
        "guesses": _any_option,
        "one option": _one_option,
        "never shifts": _stays,
        "stays when paid, shifts when not": _win_stay,
        "shifts when paid, stays when not": _win_shift,
        "stays whatever is paid": _blind_to_rewards,
    },
}
"""Kind of score -> name of the cheat -> its answers, from those of the animals."""


def controls(benchmark: Benchmark, seed: int = 0) -> dict[str, Answers]:
    """Return the answers of the pooled animals, by the name `HONEST`, and of each cheat."""
    one = pooled([*benchmark.population().values()])
    rng = np.random.default_rng(seed)
    one = one[one.answered]
    one = one[rng.permutation(len(one))[:TRIALS]]
    cheats = CHEATS[benchmark.kind]
    if one.before is None:
        cheats = {name: how for name, how in cheats.items() if how not in HISTORICAL}
    found = {HONEST: one, **{name: how(one, rng) for name, how in cheats.items()}}
    return {**found, CLOCK: clock_alone(benchmark, one, rng)}


HISTORICAL = (_stays_and_shifts, _opposite_history)
"""Cheats that need the order of the trials."""


def score_controls(
    benchmark: Benchmark, *, progress: Callable[[int, int], None] | None = None
) -> dict[str, Likeness]:
    """Return the score of each control, by its name.

    Args:
        benchmark: the benchmark.
        progress: as in `bits.likeness_in_bits`.
    """
    every, population = controls(benchmark), benchmark.population()
    return likeness_of_each(every, population, kind=benchmark.kind, progress=progress)


def failures(scores: Mapping[str, Likeness]) -> list[str]:
    """Return the faults of a benchmark, in sentences: controls with the wrong verdict.

    Animals that allow no verdict are the only fault: their scores have no unit.

    The verdict of a control is that of a seed, without the demands on numbers of seeds and trials.
    """
    honest = scores[HONEST]
    if honest.of_animals:
        return list(honest.of_animals)
    found = []
    for name, one in scores.items():
        (seed,) = one.seeds
        if one.alike(seed) != (name == HONEST):
            verb = "passes" if name != HONEST else "do not pass"
            found.append(f"{name} {verb} ({seed.score:.2f}; bound {one.bound:.2f})")
        elif name != HONEST and seed.score >= honest.seeds[0].score:
            found.append(f"{name} is above the animals ({seed.score:.2f})")
    return found
