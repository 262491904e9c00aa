"""Sections of a task's page about its surroundings: animals, wrappers, and earlier versions."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

from markdown_parts import console, escaped, table
from neurogym_behaviour.behaviour import Behaviour, CannotTellError, Roles
from neurogym_behaviour.references import Reference, published, published_names
from neurogym_likeness.comparison import over_strength
from neurogym_likeness.signatures import signatures

from neurogym_core import NeurogymError, make_task, run
from neurogym_core.tools import TaskInfo

CHANGES = Path(__file__).resolve().parents[2] / "CHANGELOG.md"
WRAPPERS = (
    ("evidence-accumulation", "ReactionTime", {}, "the subject decides when it answers"),
    ("decision-making", "TrialHistory", {}, "answers repeat or alternate in blocks"),
    ("delayed-response", "CatchTrials", {}, "in some trials the answer is not rewarded"),
    ("working-memory", "Noise", {"sigma": 0.5}, "inputs are noisy, also during the delay"),
    ("go-nogo", "MissPenalty", {"reward": -1.0}, "a missing answer costs a reward"),
    ("reward-learning", "PassReward", {}, "the last reward is an input"),
    ("reward-learning", "PassAction", {}, "the last action is an input"),
    ("value", "PassReward", {}, "the last reward is an input"),
    ("timing", "TimeOut", {"duration": 1000}, "an error is followed by a pause"),
    ("multi-task", "PassAction", {}, "the last action is an input"),
    ("perceptual", "AdaptiveNoise", {}, "noise keeps performance at a level"),
)
"""(tag of the tasks, wrapper, settings, effect)."""
OBSERVER, OBSERVER_TRIALS = "integrator", 4000
OBSERVERS = {"RoitmanShadlen-v0": "diffusion:bound=45"}
"""Subjects for tasks in which the subject decides when it answers."""


def wrappers(info: TaskInfo) -> list[str]:
    """Return a list of wrappers that are used with tasks of these tags, and fit this one."""
    rows: dict[str, str] = {}
    for tag, name, settings, effect in WRAPPERS:
        if tag in info.tags and name not in rows:
            with contextlib.suppress(NeurogymError, TypeError):
                make_task(info.id, wrap=(name, settings) if settings else name)
                stem = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()
                rows[name] = f"- [{name}](../../docs/wrappers/{stem}.md): {effect}"
    if not rows:
        return []
    line = f"$ ngym run {info.id} --wrap {next(iter(rows))} --n-trials 3"
    return ["## Wrappers", "\n".join(rows.values()), console([line])]


# ---- animals -------------------------------------------------------------------------------------


def animals(info: TaskInfo, folder: Path) -> list[str]:
    """Return the ideal observer beside published subjects, and published effects, if there are any."""
    parts = [part for one in references_of(info) for part in _observer(info, one, folder)]
    known = [one for one in signatures() if one.animals and one.applies_to(info.name)]
    if known:
        rows = [
            (
                escaped(one.title),
                escaped("; ".join(f"{who.name} {who.value:.3g} [{who.low:.3g}, {who.high:.3g}]"
                                  for who in one.animals)),
                escaped(one.unit) or "–",
                f"[{escaped(_short(one.citation))}](<https://doi.org/{one.doi}>)",
            )
            for one in known
        ]  # fmt: skip
        heads = ("effect", "published, with 95 % interval", "unit", "source")
        parts += [
            "Published effects that `ngym likeness` measures in this task; `run` is a folder of"
            " `ngym train`:",
            table(heads, rows),
            console(["$ ngym likeness run"]),
        ]
    return ["## Beside animals", *parts] if parts else []


def _short(citation: str) -> str:
    """Return authors and year."""
    return citation.partition(")")[0] + ")" if ")" in citation else citation


def references_of(info: TaskInfo) -> list[Reference]:
    """Return the published subjects that the task can be compared with."""
    found = [published(name) for name in published_names()]
    return [
        one
        for one in found
        if one.kind != "criteria" and one.axis and any(part in info.name for part in one.tasks)
    ]


def _observer(info: TaskInfo, reference: Reference, folder: Path) -> list[str]:
    task = make_task(info.id)
    subject = OBSERVERS.get(info.name, OBSERVER)
    try:
        record = run(task, subject, OBSERVER_TRIALS, seed=0)
        result: Any = over_strength(Behaviour(record, Roles.of_task(task)), reference)
    except (CannotTellError, NeurogymError):
        return []
    name = f"{info.name}-{reference.name}.png"
    result.figure.savefig(folder / name, dpi=110)
    return [
        f"The subject `{subject}` with the task's default noise, beside {reference.title}"
        f" ({escaped(reference.citation)}):",
        f"![Accuracy over strength: {subject}, and {escaped(reference.title)}]({name})",
    ]


# ---- changes -------------------------------------------------------------------------------------


def changes(info: TaskInfo) -> list[str]:
    """Return the entries of the changelog that name the task; of a nested list, single ones."""
    bare = info.name.rpartition("-v")[0]
    entries = [entry.strip() for entry in re.split(r"\n(?=\s*- |#)", CHANGES.read_text("utf-8"))]
    heading, found = "", []
    for entry in entries:
        if entry.startswith("## "):
            heading = entry.splitlines()[0].strip("# []")
        elif entry.startswith("- ") and re.search(rf"\b{re.escape(bare)}\b", entry):
            text = " ".join(entry[2:].split())
            found.append(f"- {heading}: {_without_links(text)}")
    return ["Entries of the [changelog](../../CHANGELOG.md):", "\n".join(found)] if found else []


def _without_links(text: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
