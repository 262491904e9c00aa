"""`add_task`: one page for many tasks, whose files are shared."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from neurogym_core import InvalidValueError, Task, make_task
from neurogym_core.tools import is_file_reference
from neurogym_play.beside import beside_of
from neurogym_play.page import TABLES, page_parts, played_blocks, tables_file, write_files


def add_task(
    task: str,
    folder: str | Path,
    n_trials: int = 60,
    *,
    seeds: Sequence[int] = (0,),
    feedback: bool = False,
    most: int | None = None,
    beside: Mapping[str, Any] | None = None,
    about: str | None = None,
) -> list[int]:
    """Add a task to a page for many tasks, which is written if the folder has none.

    The page shares its scripts and its table of noise between the tasks. Its address names the
    task, the seed and the number of trials: ``index.html?task=control/GoNogo-v0&seed=1&n=30``.

    Args:
        task: id of the task, with its namespace.
        folder: the folder of the page.
        n_trials: largest number of trials of a seed.
        seeds: seeds whose trials are written; 0 is played if the address names none.
        feedback: whether the page says after each trial if it was correct.
        most: largest size of the trials of a seed, bytes of JSON before compression; there are
            fewer trials if they would be larger. None: no limit.
        beside: results of others, shown beside those of the person; None: of the ideal, networks
            and animals at the time of the release. ``{"performance": [[who, mean], …],
            "curves": [{"name": who, "points": [[evidence, k, n], …]}, …]}``: k of n answers were
            the last choice. A curve may have "times", [[strength, mean reaction time in ms], …].
            Of "networks" and "animals", "missing" names those without results, and "note" is a
            sentence.
        about: address of a page about the task, from the folder.

    Returns:
        The number of trials of each seed.

    Raises:
        InvalidValueError: `task` is no id of an installed task, or there is no seed.
        NotSupportedError: the tables do not hold all that happens in a trial of this task.
        FileNotWrittenError (OSError): a file cannot be written.
    """
    if is_file_reference(task) or task.count("/") != 1 or not seeds:
        raise InvalidValueError(
            f"add_task() was given the task {task!r} with the seeds {seeds!r}. Expected an id with"
            " its namespace, such as 'control/GoNogo-v0', and at least one seed."
        )
    made, folder = make_task(task), Path(folder)
    entries, shared = page_parts(made, task, feedback=feedback)
    others = beside_of(task, changed=False) if beside is None else beside
    entries |= {"beside": others, "about": about, "seeds": list(seeds)}
    write_files({**shared, TABLES: b"{}"}, folder)  # of an address without a task
    counts = []
    for seed in seeds:
        n = n_trials
        tables = _tables(made, entries, n, seed)
        while most is not None and n > 1 and len(tables) > most:
            n = max(1, min(n - 1, int(n * most / len(tables))))
            tables = _tables(made, entries, n, seed)
        packed = gzip.compress(tables, mtime=0)
        write_files({f"{seed}.trials": packed}, folder / "tasks" / task)
        counts.append(n)
    return counts


def _tables(made: Task, entries: Mapping[str, Any], n: int, seed: int) -> bytes:
    """Return the file of the trials of a seed."""
    return tables_file({**entries, **played_blocks(made, n, 0, seed=seed, conditions=None)})
