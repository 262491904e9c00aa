"""M: the package around a task: entry point, manifest, page, and what importing it does."""

from __future__ import annotations

import re
from typing import Any

from neurogym_check.candidate import Candidate
from neurogym_check.check_types import (
    CheckFailedError,
    NotApplicable,
    check,
    require,
)
from neurogym_check.import_in_child import imported
from neurogym_core.ecosystem.names import TASK_NAME

_DOI = re.compile(r"10\.\d{4,9}/[^\s,;]+")


@check("M001", installed=True)
def entry_point_leads_to_a_task(candidate: Candidate) -> None:
    """The entry point has a name of the form Name-v0, is offered by one package only, and leads to
    a task.

    Correct the entry point in pyproject.toml (group neurogym.tasks), then install the package
    again: entry points are read from its metadata. A task is a subclass of neurogym_core.Task or of
    gymnasium.Env."""
    info = candidate.info
    fatal = [str(problem) for problem in info.problems if problem.level == "fatal"]
    require(not fatal, f"{info.name!r} cannot be used: {' '.join(fatal)}")
    require(
        TASK_NAME.fullmatch(info.name),
        f"The entry point is called {info.name!r}, expected CapitalizedWords-v0.",
    )
    require(info.usable, f"{info.name!r} is blocked; run the check without NGYM_BLOCK.")
    assert candidate.cls  # imports it: what goes wrong there says what it is


@check("M002", installed=True)
def manifest_describes_the_task(candidate: Candidate) -> dict[str, Any]:
    """The manifest has a row for the task, with a title, a summary and tags, and breaks no rule.

    Add or correct the [[task]] row of ngym.toml whose name is the entry point's. `ngym info` shows
    what is read from it. Words that the vocabulary does not have are allowed, and noted."""
    info = candidate.info
    broken = [str(problem) for problem in info.problems if problem.level == "error"]
    require(not broken, " ".join(broken))
    for field in ("title", "summary", "tags"):
        require(getattr(info, field), f"The row of {info.name!r} has no {field}.")
    return {"warnings": [str(problem) for problem in info.problems if problem.level == "warning"]}


@check("M003", installed=True)
def docstring_names_the_original_paper(candidate: Candidate) -> None:
    """The class has a docstring, and it names the DOI of every original reference of the manifest.

    The docstring of the class is the task's page: what the subject sees and does, the paper it
    follows with its DOI, the deviations from it. A paper that is no original of this task has
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
        f"The manifest calls {', '.join(missing)} original, which the docstring does not name.",
    )


@check("M004", installed=True, kinds=("task",))
def manifest_states_chance_and_oracle_performance(candidate: Candidate) -> None:
    """The manifest says what guessing and knowing the answer bring: expected = { chance = …,
    oracle_min = … }.

    The checks B001 and B002 hold the task to these numbers, and catalogues show them. `chance` is
    the performance of who rests while it should and then answers at random, `oracle_min` the least
    of who knows the targets."""
    missing = [name for name in ("chance", "oracle_min") if name not in candidate.expected]
    require(
        not missing,
        f"The row of {candidate.info.name!r} has no expected {' and no '.join(missing)}.",
    )


@check("M005")
def importing_has_no_side_effects(candidate: Candidate) -> None:
    """Importing the task prints nothing, starts nothing, writes nothing, and leaves the global
    random state alone.

    Move what the module does when imported into the class. Do not seed or draw from `random` and
    `numpy.random`, open files for writing, start threads or processes, connect anywhere, or change
    the environment or working directory at the top of a module: everybody who lists or imports
    tasks would get it."""
    if not isinstance(candidate.source, str):
        raise NotApplicable(
            "it needs an id or a file, which can be imported in a process of its own"
        )
    effects = imported(candidate).effects
    if effects:
        raise CheckFailedError(f"Importing it {'; '.join(effects)}.", effects=list(effects))
