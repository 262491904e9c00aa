"""A: shortcuts, the performance of policies that leave out a part of the task."""

from __future__ import annotations

import fnmatch
from typing import Any

from neurogym_check.audit.measures import SEED, Audit, measure_shortcuts
from neurogym_check.audit.stored import differences, to_store
from neurogym_check.candidate import Candidate
from neurogym_check.check_types import CheckWarning, NotApplicable, check, require
from neurogym_core.tools import in_words

KINDS = ("task", "trial env")


def audit_of(candidate: Candidate) -> Audit:
    """Return the audit of a candidate; measured once.

    Raises:
        NotApplicable: the candidate has no target.
    """
    if candidate.kind == "task":
        return candidate.once("audit", lambda one: measure_shortcuts(one.task))  # type: ignore[no-any-return]
    env = candidate.env()
    env.reset(seed=SEED)  # a plain env may define its target only after the first reset
    if not hasattr(env.unwrapped, "target"):
        raise NotApplicable("its env has no target, so there is no oracle")
    return candidate.once("audit", lambda _: measure_shortcuts(env))  # type: ignore[no-any-return]


@check("A001", kinds=KINDS)
def shortcuts_are_out_of_reach(candidate: Candidate) -> dict[str, Any]:
    """No policy that leaves out a part of the task comes within reach of the oracle, or it is said.

    Within reach: the interval of its performance lies above the point half-way from the best
    policy that sees nothing (for such a policy: from chance) to the oracle. Change the task, or
    name the shortcut and its performance in the docstring, and admit it in the task's row of the
    manifest, with words that occur there: `[task.admitted]`, `without.cue = "without the cue"`.
    `"channel.*"` admits several at once. `ngym check ID --shortcuts` shows all numbers."""
    audit = audit_of(candidate)
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
    found = audit.within_reach(candidate.expected.get("chance"))
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


@check("A002", kinds=KINDS, installed=True)
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
    audit_of(candidate)
    require(
        candidate.info.shortcuts,
        f"The manifest of {candidate.info.distribution} has no shortcuts of"
        f" {candidate.info.name!r}.",
    )
