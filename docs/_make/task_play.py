"""Section of a task's page on which readers play the task, and the data of the page to play.

The site has one such page, in its folder ``play``, for all tasks that can be played without Python:
`neurogym_play.add_task` writes it. A task's page shows it in a frame."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import beside
from markdown_parts import console, escaped
from neurogym_play import add_task, trial_tables

from neurogym_core import NotSupportedError
from neurogym_core.tools import TaskInfo

TRIALS = 60
SEEDS = (0, 1, 2)
MOST = 400_000
"""Most bytes of the trials of a seed, before compression; tasks of long trials have fewer."""
BESIDE = "{}-beside.json"
"""Name of a file beside a page, with the subjects that results are shown beside."""


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
    others = json.dumps(beside.beside_of(info))
    (folder / BESIDE.format(info.name)).write_text(others, "utf-8")
    address = f"../../play/index.html?task={info.id}"
    return [
        "## Play it",
        "Play some trials with keys, mouse or touch. At the end you see your results beside those of"
        " others. Your answers stay in your browser.",
        f'```{{raw}} html\n<p><a class="play" href="{address}">Play: {html.escape(info.title)}</a></p>'
        "\n```",
    ]


def write(info: TaskInfo, folder: Path, others: Mapping[str, Any]) -> list[int]:
    """Add a task to the page to play, and return the number of trials of each seed.

    Args:
        info: the task.
        folder: folder of the page, which is below the root of the site.
        others: subjects that results are shown beside, from `beside.beside_of`.
    """
    about = f"../tasks/{info.id}.html"
    return add_task(
        info.id, folder, TRIALS, seeds=SEEDS, feedback=True, most=MOST, beside=others, about=about
    )
