"""M: the package of a task: entry point, manifest, docstring, and side effects of its import."""

from __future__ import annotations

import re
from typing import Any

from neurogym_check.candidate import Candidate
from neurogym_check.check_types import (
    CheckFailedError,
    CheckWarning,
    NotApplicable,
    check,
    require,
)
from neurogym_check.import_in_child import imported

_DOI = re.compile(r"10\.\d{4,9}/[^\s,;]+")


@check("M001", installed=True)
def entry_point_leads_to_a_task(candidate: Candidate) -> None:
    """The entry point is named like Name-v0, belongs to one package only, and loads a task.

    Correct the entry point in pyproject.toml (group neurogym.tasks), then install the package
    again: entry points are read from its metadata. A task is a subclass of neurogym_core.Task or of
    gymnasium.Env."""
    info = candidate.info
    fatal = [str(problem) for problem in info.problems if problem.level == "fatal"]
    require(not fatal, f"{info.name!r} cannot be used: {' '.join(fatal)}")
    require(
        re.fullmatch(r"[A-Z][A-Za-z0-9]*-v(0|[1-9][0-9]*)", info.name),
        f"The entry point is named {info.name!r}, expected CapitalizedWords-v0.",
    )
    require(info.usable, f"{info.name!r} is blocked; run the check without NGYM_BLOCK.")
    assert candidate.cls  # imports the task; an error of the import is the reason for the failure


@check("M002", installed=True)
def manifest_describes_the_task(candidate: Candidate) -> dict[str, Any]:
    """The manifest has a valid row for the task, with a title, a summary and tags.

    Add or correct the [[task]] row of ngym.toml with the name of the entry point. `ngym info` shows
    the row as it is read. Words that are not in the vocabulary are allowed, with a warning."""
    info = candidate.info
    broken = [str(problem) for problem in info.problems if problem.level == "error"]
    require(not broken, " ".join(broken))
    for field in ("title", "summary", "tags"):
        require(getattr(info, field), f"The row of {info.name!r} has no {field}.")
    return {"warnings": [str(problem) for problem in info.problems if problem.level == "warning"]}


@check("M003", installed=True)
def docstring_names_the_original_paper(candidate: Candidate) -> None:
    """The docstring of the class names the DOI of every original reference in the manifest.

    The docstring is the task's page: it describes the stimuli and the responses, and names the
    paper with its DOI and the deviations from it. A paper that is not the origin of the task has
    another kind in the manifest (method, model, review, related)."""
    page = candidate.cls.__dict__.get("__doc__") or ""
    require(page.strip(), f"{candidate.cls.__name__} has no docstring.")
    named = {doi.rstrip(".):]").lower() for doi in _DOI.findall(page)}
    missing = [
        one.doi
        for one in candidate.info.references
        if one.kind == "original" and one.doi.lower() not in named
    ]
    require(
        not missing,
        f"The docstring does not name {', '.join(missing)}, which the manifest calls original.",
    )


@check("M004", installed=True, kinds=("task",))
def manifest_states_guess_and_oracle_performance(candidate: Candidate) -> None:
    """The manifest states the performance of guessing and the lowest performance of the oracle.

    Write expected = { guess = …, oracle_min = … } in the task's row. `guess` is the performance
    of a subject that waits and then guesses, `oracle_min` the lowest mean performance of the
    oracle. The checks B001 and B002 compare the task with these numbers; catalogues show them."""
    missing = [name for name in ("guess", "oracle_min") if name not in candidate.expected]
    require(
        not missing,
        f"The row of {candidate.info.name!r} has no {' and no '.join(missing)} in `expected`.",
    )


@check("M005")
def importing_has_no_side_effects(candidate: Candidate) -> dict[str, Any]:
    """Importing the task has no side effects (output, files, processes, network, global state).

    Move such code from the top of the module into the class. A module that is imported must not
    seed or draw from `random` and `numpy.random`, replace functions or classes of other modules,
    change settings of the interpreter, NumPy or warnings, open files for writing, start threads or
    processes, open connections, or change the environment or working directory: the effects would
    reach every user who lists or imports tasks. Much time or memory is a warning."""
    if not isinstance(candidate.source, str):
        raise NotApplicable("it needs an id or a file, which another process can import")
    found = imported(candidate)
    if found.effects:
        raise CheckFailedError(
            f"Importing it {'; '.join(found.effects)}.", effects=list(found.effects)
        )
    return {"warnings": [f"Importing it {cost}." for cost in found.costs]}


@check("M006", "full", installed=True, kinds=("task",))
def manifest_has_instructions(candidate: Candidate) -> None:
    """The manifest has instructions for a person who plays the task.

    Write `instructions` in the task's row: two sentences with the place, the action and its
    moment. `ngym play` shows them before the first trial, with the keys, and experiments in jsPsych
    begin with them."""
    if not candidate.info.instructions:
        raise CheckWarning(
            f"The row of {candidate.info.name!r} has no `instructions`: a person who plays the task"
            " has to find out what to do."
        )
