"""`write_page`: a page on which a person plays a task, as files for any web server."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from neurogym_core import Task, make_task
from neurogym_core.players import noise_table
from neurogym_core.tools import (
    FileNotWrittenError,
    describe,
    find_task,
    is_file_reference,
    replacing,
)
from neurogym_play.beside import beside_of
from neurogym_play.tables import trial_tables
from neurogym_play.views import flashes, view_of

WEB = (
    "index.html", "page.css", "page.js", "kernel.js", "remote.js", "controls.js", "view.js",
    "stimuli.js", "results.js",
)  # fmt: skip
"""Files of every page, in the folder `web`."""
EXPERIMENT = ("page.css", "kernel.js", "controls.js", "view.js", "stimuli.js")
"""Of them, those of an experiment in jsPsych; its own are in the folder `jspsych`."""
OWN = (
    "index.html", "experiment.css", "experiment.js", "trial.js", "save.js", "consent.html",
    "package.json",
)  # fmt: skip
KEPT = ("consent.html", "save.js", "experiment.js", "experiment.css")
"""Files that a laboratory changes: an experiment that is written again keeps them."""
TABLES = "task.json"
"""The one file of a page that differs from task to task."""
NOISE = "noise.f32"
"""The table of noise, which all pages and experiments have and few other folders."""
QUICK = 700
"""Shortest response window for a person, ms; as in page.js."""
PRACTICE = "train"
"""The split of practice trials, so that none of them is recorded."""


def write_page(
    task: Any,
    folder: str | Path,
    n_trials: int = 60,
    *,
    practice: int = 0,
    feedback: bool = False,
    seed: int = 0,
    conditions: Mapping[str, Any] | None = None,
    wrap: Any = (),
    **params: Any,
) -> Path:
    """Write the files of a page on which a person plays trials of a task.

    Any web server can serve the folder. The page asks no other server, and its record stays in the
    browser until it is downloaded. Results are shown beside those of others, see `add_task`.

    Args:
        task, seed, conditions, wrap, params: as in `trial_tables`.
        folder: the folder; it is made if it does not exist. Files of an earlier page are replaced,
            those of others are not.
        n_trials: number of trials.
        practice: number of practice trials before them, which have feedback and are not recorded.
            They are of the split "train".
        feedback: whether the page says after each trial if it was correct. The reward is always
            shown.

    Returns:
        The folder.

    Raises:
        NotSupportedError: the tables do not hold all that happens in a trial of this task.
        FileNotWrittenError (OSError): a file cannot be written, or would replace one that no
            earlier export wrote.
    """
    made, folder = make_task(task, wrap=wrap, **params), Path(folder)
    blocks = played_blocks(made, n_trials, practice, seed=seed, conditions=conditions)
    beside = beside_of(task, changed=bool(wrap or params or conditions))
    contents = page_files(made, task, blocks, feedback=feedback, beside=beside)
    _refuse_files_of_others(folder, contents)
    return write_files(contents, folder)


def played_blocks(
    made: Task, n_trials: int, practice: int, *, seed: int, conditions: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the tables of the trials that count, "trials", and of "practice", or None."""
    deal = partial(trial_tables, made, seed=seed, conditions=conditions)
    return {
        "trials": deal(n_trials),
        "practice": deal(practice, split=PRACTICE) if practice else None,
    }


def write_files(contents: Mapping[str, bytes], folder: Path) -> Path:
    """Write the files of a page into a folder, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        with replacing(folder / name) as temporary:
            temporary.write_bytes(content)
    return folder


def page_files(
    made: Task,
    task: Any,
    blocks: Mapping[str, Any],
    *,
    feedback: bool = False,
    save: str | None = None,
    beside: Mapping[str, Any] | None = None,
) -> dict[str, bytes]:
    """Return the files of a page, name -> content.

    Args:
        made: the task.
        task: as it was named; an id has title, summary, instructions and view of its manifest.
        blocks: the tables of its trials, from `played_blocks`.
        feedback: whether the page says after each trial if it was correct.
        save: the address that takes the record; None: it is downloaded.
        beside: results of others, as `add_task` takes them; None: none are shown.
    """
    entries, shared = page_parts(made, task, feedback=feedback, save=save)
    return {**shared, TABLES: tables_file({**entries, **blocks, "beside": beside})}


def page_parts(
    made: Task, task: Any, *, feedback: bool = False, save: str | None = None
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the parts of a page that do not depend on its trials: entries of `TABLES`, and files.

    The task is played to count how often its stimuli flash, so that pages of several seeds share
    the parts. Arguments as in `page_files`.
    """
    view = view_of(made, task)
    shown = None if view is None else {**view.to_plain(), "flashes": flashes(made, view)}
    drawings = {} if view is None else view.modules
    return {**_about(made, task), "view": shown, "save": save, "feedback": feedback}, {
        **{f"view-{name}.js": text.encode() for name, text in drawings.items()},
        **{name: files(__package__).joinpath("web", name).read_bytes() for name in WEB},
        NOISE: noise_table().astype("<f4").tobytes(),
    }


def tables_file(entries: Mapping[str, Any]) -> bytes:
    """Return the content of `TABLES`."""
    return json.dumps(entries, separators=(",", ":"), allow_nan=False).encode()


def write_experiment(
    task: Any,
    folder: str | Path,
    n_trials: int = 60,
    *,
    practice: int = 0,
    feedback: bool = False,
    seed: int = 0,
    conditions: Mapping[str, Any] | None = None,
    wrap: Any = (),
    **params: Any,
) -> Path:
    """Write an experiment in jsPsych 8 whose trials are those of a task.

    The experiment needs ``npm install`` in the folder, once, and any web server. It asks no other
    server. Files that a laboratory changes, such as ``consent.html``, are kept if they exist.

    Args:
        task, folder, n_trials, practice, feedback, seed, conditions, wrap, params: as in
            `write_page`. All participants play the same trials.

    Returns:
        The folder.

    A response window that is too short for a person is a warning.

    Raises:
        NotSupportedError: the tables do not hold all that happens in a trial of this task.
        FileNotWrittenError (OSError): a file cannot be written, or would replace one that no
            earlier export wrote.
    """
    made, folder = make_task(task, wrap=wrap, **params), Path(folder)
    blocks = played_blocks(made, n_trials, practice, seed=seed, conditions=conditions)
    least = blocks["trials"]["shortest_window"]
    if least is not None and least < QUICK:
        warnings.warn(
            f"The shortest time for an answer is {least:g} ms, which is short for a person. Give"
            " the period a longer duration (timing, --timing PERIOD=MS).",
            stacklevel=2,
        )
    pages = page_files(made, task, blocks, feedback=feedback)
    drawings = [name for name in pages if name.startswith("view-")]
    shared = {name: pages[name] for name in (*EXPERIMENT, *drawings, TABLES, NOISE)}
    here = files(__package__).joinpath("jspsych")
    own = {name: here.joinpath(name).read_bytes() for name in OWN}
    _refuse_files_of_others(folder, {**shared, **own})
    kept = {name for name in KEPT if (folder / name).exists()}
    return write_files(
        {name: content for name, content in {**shared, **own}.items() if name not in kept}, folder
    )


def _refuse_files_of_others(folder: Path, names: Iterable[str]) -> None:
    """Raise `FileNotWrittenError` where files would be replaced that no earlier export wrote."""
    if folder.exists() and not folder.is_dir():
        raise FileNotWrittenError(
            f"{folder} is a file. Expected a folder, or the name of a new one. Choose another name."
        )
    if (folder / NOISE).exists():
        return
    there = sorted(name for name in names if (folder / name).exists())
    if there:
        raise FileNotWrittenError(
            f"{folder} has files that would be replaced, and that are not of an earlier export:"
            f" {', '.join(there)}. Expected a new folder, an empty one, or that of an earlier"
            " export. Choose another folder, or move these files."
        )


def _about(made: Task, task: Any) -> dict[str, str]:
    """Title, summary and instructions of a task: of its manifest, or of its docstring."""
    if isinstance(task, str) and not is_file_reference(task):
        info = find_task(task)
        return {"title": info.title, "summary": info.summary, "instructions": info.instructions}
    said = describe(made)
    summary = " ".join(said["docstring"].partition("\n\n")[0].split())
    return {"title": said["name"], "summary": summary, "instructions": ""}
