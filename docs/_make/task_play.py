"""Section of a task's page on which readers play the task, and the data of the page to play.

The site has one such page, in its folder ``play``, for all tasks that can be played without Python:
`neurogym_play.add_task` writes it. A task's page shows it in a frame."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import task_context
import task_training
from markdown_parts import console, escaped
from neurogym_behaviour import Behaviour
from neurogym_play import add_task, trial_tables

from neurogym_core import NotSupportedError
from neurogym_core.tools import TaskInfo

TRIALS = 60
SEEDS = (0, 1, 2)
MOST = 400_000
"""Most bytes of the trials of a seed, before compression; tasks of long trials have fewer."""
BESIDE = "{}-beside.json"
"""Name of a file beside a page, with the subjects that results are shown beside."""
NAMES = {"gru": "GRU", "rnn": "leaky RNN", "cnn": "CNN and GRU", "recurrent-ppo": "agent (LSTM)"}
"""Trainers of the gallery, as they are called beside a person's results."""


def section(info: TaskInfo, folder: Path) -> list[str]:
    """Return the section of a task's page, and write the file `BESIDE` if the page has a game."""
    try:
        trial_tables(info.id, 1)
    except NotSupportedError as error:
        reason = str(error).partition(": it ")[2].partition(", and a page")[0]
        return [
            "## Play it",
            f"Your browser cannot play this task alone, since it {escaped(reason)}. With Python on your"
            " machine it can"
            " ([details](../../docs/play.md#tasks-that-need-python-while-they-are-played)):",
            console([f"$ ngym play {info.id}"]),
        ]
    beside = json.dumps(beside_of(info))
    (folder / BESIDE.format(info.name)).write_text(beside, "utf-8")
    address = f"../../play/index.html?task={info.id}"
    return [
        "## Play it",
        "Play some trials with keys, mouse or touch. At the end you see your results beside those of"
        " others. Your answers stay in your browser.",
        f'```{{raw}} html\n<p><a class="play" href="{address}">Play: {html.escape(info.title)}</a></p>'
        "\n```",
    ]


def write(info: TaskInfo, folder: Path, beside: Mapping[str, Any]) -> list[int]:
    """Add a task to the page to play, and return the number of trials of each seed.

    Args:
        info: the task.
        folder: folder of the page, which is below the root of the site.
        beside: subjects that results are shown beside, from `beside_of`.
    """
    about = f"../tasks/{info.id}.html"
    return add_task(
        info.id, folder, TRIALS, seeds=SEEDS, feedback=True, most=MOST, beside=beside, about=about
    )


def beside_of(info: TaskInfo) -> dict[str, Any]:
    """Return performances of the ideal and the gallery's networks, and their curves and those of animals."""
    runs = task_training.results_of(info)
    curves, rows = _curves(info, runs), []
    if isinstance(info.ideal.get("value"), int | float):
        rows.append([f"ideal ({info.ideal['by']})", info.ideal["value"]])
    rows += [
        [_network(trainer, group), float(np.mean([one["final"] for one in group]))]
        for trainer, group in runs.items()
    ]
    if info.chance is not None:
        rows.append(["chance", info.chance])
    return {"performance": rows, "curves": curves}


def _network(trainer: str, group: Sequence[Any]) -> str:
    return f"{NAMES.get(trainer, trainer)}, {len(group)} seed{'s' * (len(group) > 1)}"


def _curves(info: TaskInfo, runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Any]:
    """Return the curves in the form of the page: the share of the last choice over evidence.

    None are returned if the analyses call another choice right than the page does.
    """
    tables = trial_tables(info.id, TRIALS)
    slots = tables["slots"]
    choice = f"{slots[0]['name']}.choice" if len(slots) > 1 else "choice"
    names = tables["names"].get(choice, [])
    if not tables["evidence"] or len(names) != 2:
        return []
    subject, behaviour, function = task_training.observe(info.id)
    if behaviour is None or function is None or function.kind != "choice":
        return []
    if not agree(behaviour, choice, tables["evidence"]):
        return []
    who = f"ideal observer ({subject.partition(':')[0]})"
    if subject == "oracle":
        who = "oracle, which knows the answers"
    found = [{"name": who, "points": _points(function.rows)}, *_animals(info)]
    return found + [
        {"name": _network(trainer, group), "points": _points(task_training.pooled(known))}
        for trainer, group in runs.items()
        if (known := task_training.known_points(group, function))
    ]


def _animals(info: TaskInfo) -> list[dict[str, Any]]:
    """Return the curves of published animals in the task.

    Their accuracies are of both sides together, and so a curve has the same errors on both.
    """
    curves = []
    for one in task_context.references_of(info):
        for subject in one.subjects:
            if subject.strengths is None or subject.correct is None or subject.n is None:
                continue
            points = []
            for strength, correct, n in zip(
                subject.strengths, subject.correct, subject.n, strict=True
            ):
                if strength > 0:
                    half, right = round(n / 2), round(n / 2 * correct)
                    points += [
                        [-float(strength), half - right, half],
                        [float(strength), right, half],
                    ]
            name = f"{subject.name}, {one.citation.partition(',')[0]}"
            curves.append({"name": name, "points": sorted(points)})
    return curves


def agree(behaviour: Behaviour, choice: str, evidence: Sequence[float]) -> bool:
    """Return whether analyses and page mean the same by the right choice, and by evidence.

    Args:
        behaviour: of a subject.
        choice: column of its choices, 0 or 1; the page counts the latter.
        evidence: of the page's trials, positive for the latter.
    """
    given = behaviour.answered
    chosen = behaviour.record[choice][given] == 1
    if not np.array_equal(behaviour.chose_right[given], chosen):
        return False
    return float(np.abs(evidence).max()) <= float(np.abs(behaviour.signed).max()) + 1e-6


def _points(rows: Sequence[Any]) -> list[list[float]]:
    return [[round(float(row.value), 6), int(row.k), int(row.n)] for row in rows]
