"""T: the observations up to a response determine the right answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_check.answerable import (
    SAME,
    Quiet,
    Twins,
    designs,
    questions,
    read_out,
    right_actions,
    twins,
)
from neurogym_check.candidate import Candidate
from neurogym_check.check_types import CannotTell, NotApplicable, check, require
from neurogym_check.tolerances import largest_deviation
from neurogym_core import Task, TrialBatch
from neurogym_core.players import TaskView
from neurogym_core.tools import listed

TASK = ("task",)
SEED = 23
MOST = 1000
"""Trials of each design."""
HARD = 0.25
"""d' at which the best observer is right in 55 % of such pairs."""
EASIER = 0.75
"""Share of the trials that must be harder than this for the noise to count as too large."""
ALL = 0.95
"""Share of trials with a twin from which on no answer can be known."""
Found = tuple[TrialBatch, Twins]


def _found(candidate: Candidate) -> list[Found]:
    """Return the twins of every question of every design; computed once."""
    task = candidate.task
    if not TaskView(task).hooks and not task.actions.continuous and task.actions.size == 1:
        raise NotApplicable("rest is its only action")
    n = min(candidate.sample_size, MOST)
    found = []
    for held in designs(task, SEED):
        batch = task.sample(n, seed=SEED, **held)
        quiet = Quiet(task).sample(n, seed=SEED, **held) if TaskView(task).hooks else batch
        found += [(batch, twins(one)) for one in questions(task, batch, quiet)]
    return found


@check("T011", kinds=TASK)
def observations_determine_the_answer(candidate: Candidate) -> dict[str, Any]:
    """Trials that look the same up to the response want the same answer, or it is admitted.

    Noise is left out, and only first trials of sessions are compared: memory of earlier trials
    does not count. Show the evidence in a channel, before the response, and in the row of the same
    trial. If a condition is hidden on purpose, or leaves the
    answer open, admit it in the task's row of the manifest in your words: `[task.admits]`,
    `coherence.0 = "no net motion: a coin decides"`, or `rule = "only rewards show the rule"`."""
    task = candidate.task
    found = candidate.once("twins", _found)
    names = {*task.conditions, *(name for batch, _ in found for name in batch.notes)}
    strange = [name for name in candidate.admits if name.partition(".")[0] not in names]
    require(
        not strange,
        f"The manifest admits {listed(strange)}, expected conditions of the task:"
        f" {listed(sorted(names))}.",
    )
    used: set[str] = set()
    shares = []
    for batch, pairs in found:
        alike = np.flatnonzero(pairs.d < SAME)
        share = len(alike) / max(len(pairs.d), 1)
        shares.append(share)
        pair = next((row for row in alike if share >= ALL and not TaskView(task).stateful), None)
        for row in alike if pair is None else ():
            by = _admission(task, batch, pairs, row, candidate.admits)
            if by is None:
                pair = row
                break
            used.add(by)
        if pair is not None:
            _refuse(task, batch, pairs, int(pair), share)
    _require_compared(found)
    details: dict[str, Any] = {"undetermined": round(max(shares, default=0), 3)}
    return {**details, "admitted": sorted(used)} if used else details


def _refuse(task: Task, batch: TrialBatch, pairs: Twins, row: int, share: float) -> None:
    one, other = (_conditions(task, batch, pairs, at) for at in (row, pairs.other[row]))
    question = pairs.question
    answers = [question.answer(row), question.answer(int(pairs.other[row]))]
    steps = int(question.until[row])
    differ = [name for name in one if one[name] != other[name]]
    pair = " and ".join(
        "(" + ", ".join(f"{name}={values[name]}" for name in one) + f"), which wants {answer},"
        for values, answer in zip((one, other), answers, strict=True)
    )
    require(
        False,
        f"Two trials look the same in all {steps} steps ({steps * task.dt:g} ms) until the response"
        f" {question.name!r} is over: {pair} expected a difference. {share:.0%} of the trials have"
        " such a twin"
        + (f"; {listed(differ)} cannot be seen." if differ else "."),
        trials=[one, other], answers=answers, steps=steps, share=round(share, 3),
    )  # fmt: skip


def _conditions(task: Task, batch: TrialBatch, pairs: Twins, row: int) -> dict[str, str]:
    at = pairs.question.rows[row]
    return {name: _text(batch.conditions[name][at]) for name in batch.conditions}


def _text(value: Any) -> str:
    array = np.asarray(value)
    if array.ndim:
        return str(np.round(array, 3).tolist() if array.dtype.kind == "f" else array.tolist())
    return f"{value:.4g}" if array.dtype.kind == "f" else str(value)


def _admission(
    task: Task, batch: TrialBatch, pairs: Twins, row: int, admits: Mapping[str, str]
) -> str | None:
    """Return the entry of the manifest that admits a pair, or None."""
    columns = {**batch.notes, **batch.conditions}
    rows = pairs.question.rows[[row, pairs.other[row]]]
    for entry in admits:
        name, dot, value = entry.partition(".")
        one, other = (columns[name][at] for at in rows)
        if dot:
            if _is(one, value) or _is(other, value):
                return entry
        elif not np.array_equal(one, other):
            return entry
    return None


def _is(value: Any, text: str) -> bool:
    """Whether a condition has the value that a manifest writes."""
    try:
        return bool(np.isclose(float(value), float(text)))
    except (TypeError, ValueError):
        return str(value) == text


def _require_compared(found: list[Found]) -> None:
    """Raise `CannotTell` unless trials repeat, or some reader finds the answers."""
    best: dict[str, float] = {}
    for _, pairs in found:
        name = pairs.question.name
        known = pairs.compared.mean() > 0.5
        if not known:
            limit = largest_deviation() / np.sqrt(max(len(pairs.d) / 2, 1))
            known = read_out(pairs.question) > limit or np.ptp(pairs.question.values) == 0
        best[name] = max(best.get(name, 0), float(known))
    unknown = [name for name, known in best.items() if not known]
    if unknown:
        raise CannotTell(
            f"Hardly any two trials look the same before {listed(unknown)}, and neither the most"
            " similar trial nor a sum over time shows the answer. Nothing is proved or refuted.",
            questions=unknown,
        )


@check("T012", kinds=TASK)
def noise_leaves_a_signal(candidate: Candidate) -> dict[str, Any]:
    """The best observer of two trials with different answers can tell them apart despite the noise.

    d' is the difference of two trials without noise, over the SD of the noise, summed over all
    steps and units. Compared is each trial with the most similar one that wants another answer;
    three out of four such pairs below 0.25 (55 % correct) fail. Make `sigma` smaller or the
    signal larger; the SD of a step is sigma / sqrt(dt)."""
    hardest: dict[str, float] = {}
    for _, pairs in candidate.once("twins", _found):
        noisy = pairs.d >= SAME
        if not np.isfinite(pairs.d[noisy]).any():
            continue
        easy = float(np.quantile(pairs.d[noisy], EASIER, method="lower"))
        name = pairs.question.name
        hardest[name] = min(hardest.get(name, np.inf), easy)
    if not hardest:
        raise NotApplicable("no two trials differ in noisy units only and want different answers")
    for name, d in hardest.items():
        require(
            d >= HARD,
            f"d' of trials that want different answers before {name!r} is at most {d:.3f} in three"
            f" out of four pairs, expected at least {HARD:g}: the noise hides the signal.",
            d=d,
        )
    return {"d": {name: round(min(d, 1e6), 3) for name, d in hardest.items()}}


@check("T013", kinds=TASK)
def declared_answers_are_right(candidate: Candidate) -> dict[str, float]:
    """The declared correct choice is the one that is paid, and evidence is positive for the larger.

    Wrappers, designs and psychometric curves read `self.correct_choice(…)` and
    `self.evidence(…)`. Correct the sign or the order of choices, or do not declare them. Choices
    that several actions, or none, can make are not compared."""
    task, batch = candidate.task, candidate.batch
    view = TaskView(task)
    if not view.has_answer:
        raise NotApplicable("it declares no correct choice")
    declared = _indices(task, view.answer(batch.conditions), len(batch))
    if declared is None:
        raise NotApplicable("the names of its correct choices are no names of actions")
    found = {}
    agreement = _agreement(task, batch, declared)
    if agreement is not None:
        found["agreement"], least = agreement
        require(
            found["agreement"] >= least,
            f"The declared correct choice is right in {found['agreement']:.0%} of the trials,"
            " expected all, or at least as many as by chance.",
            agreement=found["agreement"],
        )
    correlation = _favoured(view.evidence(batch.conditions), declared)
    if correlation is not None:
        found["evidence"], lowest = correlation
        require(
            found["evidence"] >= lowest,
            f"The declared evidence is larger where the smaller choice is right (correlation"
            f" {found['evidence']:.2f}), expected evidence that favours the larger choice.",
            correlation=found["evidence"],
        )
    if not found:
        raise NotApplicable("no single action is its correct choice, and it declares no evidence")
    return found


def _indices(task: Task, declared: Any, n: int) -> np.ndarray | None:
    """Return the declared choices of n trials as numbers; None for names that no action has."""
    values = np.broadcast_to(np.asarray(declared), (n,))
    if values.dtype.kind not in "US":
        return values.astype(float)
    for name in task.actions.parts:
        units = list(task.actions.units(name))
        if set(values.tolist()) <= set(units):
            return np.array([units.index(one) for one in values.tolist()], float)
    return None


def _agreement(task: Task, batch: TrialBatch, declared: np.ndarray) -> tuple[float, float] | None:
    """Return in how many trials some slot pays the declared choice, and the least by chance."""
    if task.actions.continuous or task.step_action is not None:  # the hook says what was chosen
        return None
    found = []
    for k in range(len(batch.tables.slots.names)):
        group = np.flatnonzero((batch.table("slot") == k).any(axis=(0, 1)))
        rows = np.flatnonzero(batch.table("asked")[:, k] & (declared >= 0))
        at = declared[rows].astype(int) + group[0] if len(group) else None
        if at is None or not len(rows) or (at > group[-1]).any() or len(group) < 2:
            continue
        right = right_actions(task, batch, rows, k)
        share = float(right[np.arange(len(rows)), at].mean())
        chance = float(right[:, group].mean())
        least = chance - largest_deviation() * np.sqrt(chance * (1 - chance) / len(rows))
        found.append((share, max(least, 0.0)))
    return max(found, default=None)


def _favoured(evidence: np.ndarray | None, declared: np.ndarray) -> tuple[float, float] | None:
    """Return the correlation of evidence and correct choice, and the lowest by chance."""
    if evidence is None:
        return None
    known = np.isfinite(evidence)
    if not known.any() or not np.ptp(evidence[known]) or not np.ptp(declared[known]):
        return None
    found = float(np.corrcoef(evidence[known], declared[known])[0, 1])
    return found, -largest_deviation() / float(np.sqrt(known.sum()))
