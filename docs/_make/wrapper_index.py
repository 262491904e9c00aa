"""The list of the wrappers, and a table of the effects of each on env, vector env and dataset.

Pictures of a trial before and after come from `wrapper_pages.py`. The tables are measured on the
example of the page, when the site is built."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from markdown_parts import escaped, table
from wrapper_pages import EXAMPLES, stem_of

from neurogym_core import Dataset, make, make_vec, run
from neurogym_core.ecosystem.discovery import find_wrapper
from neurogym_core.errors import NotSupportedError

HEAD = """# Wrappers

A wrapper changes the trials of a task, or an env of it. A picture has a trial before and after it. [Assemble a task](../docs/assemble-a-task.md) shows how wrappers are combined.
"""
ENVS, TRIALS = 4, 20


def write(folder: Path) -> None:
    """Write ``wrappers/index.md`` into a folder, and add tables to the pages of wrappers in it."""
    cards, pages = [], []
    for name in sorted(EXAMPLES):
        info, stem = find_wrapper(name), stem_of(name)
        picture = (
            f":img-bottom: ../docs/images/wrappers/{stem}.svg\n"
            f":img-alt: a trial before and after {info.title}\n"
            if EXAMPLES[name].picture
            else ""
        )
        cards.append(
            f":::{{grid-item-card}} {info.title}\n:link: ../docs/wrappers/{stem}.html\n{picture}\n"
            f"{info.summary}\n:::"
        )
        pages.append(f"../docs/wrappers/{stem}")
        path = folder / "docs" / "wrappers" / f"{stem}.md"
        before, last = path.read_text("utf-8").rstrip().rsplit("\n\n", 1)  # links to read on
        path.write_text(f"{before}\n\n{changes(name)}\n\n{last}\n", "utf-8")
    grid = "::::{grid} 1 1 2 2\n:gutter: 3\n\n" + "\n\n".join(cards) + "\n::::"
    menu = "```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```"
    (folder / "wrappers").mkdir()
    (folder / "wrappers" / "index.md").write_text(f"{HEAD}\n{grid}\n\n{menu}\n", "utf-8")


def changes(name: str) -> str:
    """Return a section about the example's env, vector env, dataset and record with a wrapper."""
    example = EXAMPLES[name]
    task, params = example.task, example.params
    wrap = (name, example.wrap) if example.wrap else name
    measures: dict[str, Callable[..., Any]] = {
        "env: shape of an observation": lambda **k: make(task, **k).observation_space.shape,
        "env: actions": lambda **k: make(task, **k).action_space,
        f"vector env of {ENVS}: shape of the observations": lambda **k: (
            make_vec(task, ENVS, **k).observation_space.shape
        ),
        f"dataset, {ENVS} rows of 100 steps: shape of the inputs": lambda **k: (
            next(Dataset(task, batch_size=ENVS, seq_len=100, seed=0, **k)).inputs.shape
        ),
    }

    def columns(**given: Any) -> set[str]:
        return set(run(task, example.subject, TRIALS, num_envs=1, seed=0, **given).columns)

    # Some wrappers write files.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        rows = [
            (what, _text(measure(**params)), _measured(measure, wrap, params))
            for what, measure in measures.items()
        ]
        added = sorted(columns(**params, wrap=wrap) - columns(**params))
    more = ", ".join(f"`{one}`" for one in added) or "none"
    return "\n\n".join(
        [
            "## Env, vector env and dataset",
            f"Measured on `{task}` with the settings of the example above.",
            table(("", "before", "after"), rows),
            f"Columns that it adds to the record: {more}.",
        ]
    )


def _measured(measure: Callable[..., Any], wrap: Any, params: dict[str, Any]) -> str:
    try:
        return _text(measure(**params, wrap=wrap))
    except NotSupportedError as error:
        return escaped(str(error))


def _text(value: Any) -> str:
    return f"`{value}`"
