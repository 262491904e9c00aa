"""A: shortcuts, the performance of policies that leave out a part of the task."""

from __future__ import annotations

import fnmatch
from importlib import import_module
from typing import Any

import numpy as np

from neurogym_check.audit.measures import SEED, Audit, Measure, measure_shortcuts
from neurogym_check.audit.stored import differences, to_store
from neurogym_check.candidate import Candidate
from neurogym_check.check_types import (
    CheckFailedError,
    CheckWarning,
    NotApplicable,
    check,
    require,
)
from neurogym_check.posterior import NAME as POSTERIOR
from neurogym_check.posterior import pays_by_moment, posterior_performance
from neurogym_core import NeurogymError, run
from neurogym_core.players import TaskView
from neurogym_core.tools import in_words

KINDS = ("task", "trial env")
TOLD = ("oracle", "history", "winstay", "copied", "held")
"""Policies that receive right answers."""
CLASSIFIERS = ("all", "durations", "last", "look.", "channel.", "period.", "duration.", "without.")
"""Names, or their beginnings, of policies that see a whole trial before they answer."""
ROUNDING = 0.006
"""Ideals are stated with two or three digits."""
OBSERVED = 200_000
"""Steps of the play of an ideal observer."""
COMPARED = 1000
"""Trials of the observer that compares each with many others."""


def audit_of(candidate: Candidate) -> Audit:
    """Return the audit of a candidate, a task or an env that reports trials; measured once.

    The candidate's `progress` is called with the name of each policy.

    Raises:
        NotApplicable: the candidate has no oracle, or no target.
    """
    candidate.require_oracle()
    if candidate.kind == "task":
        return candidate.once(  # type: ignore[no-any-return]
            "audit", lambda one: measure_shortcuts(one.task, progress=one.progress)
        )
    env = candidate.env()
    env.reset(seed=SEED)  # a plain env may define its target only after the first reset
    if not hasattr(env.unwrapped, "target"):
        raise NotApplicable("its env has no target, so there is no oracle")
    return candidate.once("audit", lambda _: measure_shortcuts(env))  # type: ignore[no-any-return]


def stored_audit(candidate: Candidate) -> Audit:
    """Return the audit that the manifest states; without measures if it states none."""
    info = candidate.info
    known = info.intervals if info is not None else {}
    return Audit({name: Measure(info.shortcuts[name], *ends, 0) for name, ends in known.items()})


@check("A001", kinds=KINDS)
def shortcuts_are_out_of_reach(candidate: Candidate) -> dict[str, Any]:
    """No policy that leaves out a part of the task comes within reach of the oracle, or it is said.

    Within reach: the interval of its performance lies above the point half-way from the best
    policy that sees nothing (for such a policy: from guessing) to the oracle. Change the task, or
    name the shortcut and its performance in the docstring, and admit it in the task's row of the
    manifest, with words that occur there: `[task.admitted]`, `without.cue = "without the cue"`.
    `"channel.*"` admits several at once. Numbers of the manifest are used if there are any, which
    A002 measures again. `ngym check ID --shortcuts` shows all numbers."""
    stored = stored_audit(candidate)
    audit = stored if stored.measures else audit_of(candidate)
    admitted = candidate.admitted
    text = " ".join(candidate.docstring.lower().split())
    unsaid = {
        name: words
        for name, words in admitted.items()
        if " ".join(words.lower().split()) not in text
    }
    require(
        not unsaid,
        "The docstring does not have the words with which the manifest admits "
        + "; ".join(f"{name}: {words!r}" for name, words in unsaid.items())
        + ".",
    )
    found = audit.within_reach()
    open_ = {
        name: measure
        for name, measure in found.items()
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in admitted)
    }
    details = {
        name: [round(value, 4) for value in (one.score, one.low, one.high)]
        for name, one in audit.measures.items()
    }
    if open_:
        raise CheckWarning(
            "Within reach of the oracle, and not admitted: "
            + "; ".join(
                f"{in_words(name)} ({name}) {one.score:.2f} [{one.low:.2f}, {one.high:.2f}]"
                for name, one in open_.items()
            )
            + ".",
            **details,
        )
    return details


@check("A002", level="full", kinds=KINDS, installed=True)
def shortcuts_match_the_manifest(candidate: Candidate) -> None:
    """The shortcuts that the manifest states are those that are measured.

    They change with the trials of the task, as its digest does. Measure them again with
    `ngym check ID --write-shortcuts`, which replaces `[task.shortcuts]` in the manifest."""
    known = candidate.info.shortcuts
    if not known:
        raise NotApplicable(
            f"none are stored; `ngym check {candidate.info.id} --write-shortcuts` writes them"
        )
    changed = differences(known, to_store(audit_of(candidate)))
    require(not changed, f"Other shortcuts are measured: {', '.join(changed)}.", changed=changed)


@check("A003", level="full", kinds=("task",), installed=True)
def shortcuts_are_stored(candidate: Candidate) -> None:
    """The manifest states the shortcuts of the task, so that its users know what they earn.

    When the task is ready, measure them with `ngym check ID --write-shortcuts`, and commit the
    manifest; `ngym info` shows them."""
    candidate.require_oracle()
    require(
        candidate.info.shortcuts,
        f"The manifest of {candidate.info.distribution} has no shortcuts of"
        f" {candidate.info.name!r}.",
    )


@check("A004", level="full", kinds=("task",), installed=True)
def ideal_is_possible(candidate: Candidate) -> dict[str, Any]:
    """The ideal of the manifest is between the best shortcut and the oracle, and its subject
    reaches it.

    Write ideal = { value = …, by = …, how = … } in the task's row. With by = "observer", `how`
    names a subject, as `module:Class` or as in `ngym run --subject`, or is "posterior", the
    observer of `neurogym_check.posterior_performance`; this check plays it, and its performance
    must be `value`. With "exact" or "bound", `how` is the argument in words. Where the reward falls
    with the time of the answer, classifiers do not count: they see the whole stimulus, and are paid
    for an answer at once. Play the subject with more trials and correct the number, or leave out
    `ideal`: not known."""
    ideal = candidate.info.ideal
    if not ideal:
        raise NotApplicable("no ideal is stated: not known")
    value = ideal["value"]
    stored = stored_audit(candidate)
    measures = (stored if stored.measures else audit_of(candidate)).measures
    oracle = measures["oracle"]
    require(
        value <= oracle.high + ROUNDING,
        f"The ideal is {value}, and the oracle's performance is {oracle.score:.3f}. Expected no"
        " more than the oracle's.",
    )
    priced = pays_by_moment(candidate.task.sample(100, seed=SEED))
    for name, one in measures.items():
        counts = name not in TOLD and not (priced and name.startswith(CLASSIFIERS))
        require(
            not counts or one.low <= value + ROUNDING,
            f"The ideal is {value}, and {in_words(name)} ({name}) performs at {one.score:.3f}"
            f" [{one.low:.3f}, {one.high:.3f}]. Expected an ideal that no shortcut exceeds.",
        )
    if ideal["by"] != "observer":
        return {}
    played = Measure.of(_performance_of(candidate, ideal["how"]))
    require(
        played.low - ROUNDING <= value <= played.high + ROUNDING,
        f"The ideal is {value}, and {ideal['how']} performs at {played.score:.3f}"
        f" [{played.low:.3f}, {played.high:.3f}]. Expected its performance.",
    )
    return {"performance": played.score}


def _performance_of(candidate: Candidate, how: str) -> np.ndarray:
    """Return the performance (n,) of the subject that an ideal names."""
    n = int(np.clip(OBSERVED // TaskView(candidate.task).typical_steps, 500, 4000))
    module, _, name = how.partition(":")
    try:
        if how == POSTERIOR:
            return posterior_performance(candidate.task, min(n, COMPARED), seed=SEED)
        subject: Any = getattr(import_module(module), name)() if "." in module else how
        record = run(candidate.task, subject, n, seed=SEED)
    except (NeurogymError, ImportError, AttributeError) as error:
        raise CheckFailedError(
            f"The ideal names the subject {how!r}, which cannot play: {error}"
        ) from error
    return np.asarray(record["performance"], float)
