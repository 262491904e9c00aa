"""The work of `ngym play`: serve the page, and write the record of the person."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any

import click
import numpy as np

from neurogym_core import Task, TrialRecord, run
from neurogym_core.tools import clean
from neurogym_play.page import page_files
from neurogym_play.server import RECORD, PlayServer


def free_name(name: str) -> Path:
    """Return the name of a file that does not exist, for the record of a person."""
    names = (Path(f"{name}-person{'' if k == 1 else f'-{k}'}.csv") for k in count(1))
    return next(path for path in names if not path.exists())


def play(
    made: Task,
    task: str,
    blocks: Mapping[str, Any],
    csv: Path,
    *,
    feedback: bool = False,
    browser: bool = True,
    conditions: Mapping[str, Any] | None = None,
) -> None:
    """Serve the page of a task until a person has played, and write the record.

    Args:
        made: the task.
        task: as it was named.
        blocks: the tables of its trials, from `played_blocks`.
        csv: the file of the record.
        feedback: whether the page says after each trial if it was correct.
        browser: whether to open the page in the browser.
        conditions: the imposed conditions of the trials.
    """

    def keep(sent: Any) -> str:
        record = person_record(made, blocks["trials"], sent, conditions)
        record.to_csv(csv)
        line = f"Saved {len(record)} trials in {csv}."
        click.echo(clean(line))
        return line

    files = page_files(made, task, blocks, feedback=feedback, save=RECORD)
    with PlayServer(files, keep) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        click.echo(f"Play at {server.address} (Ctrl-C ends it without a record).")
        if browser:
            webbrowser.open(server.address)
        server.played.wait()
        server.shutdown()


def person_record(
    task: Task, trials: Mapping[str, Any], sent: Any, conditions: Mapping[str, Any] | None = None
) -> TrialRecord:
    """Return the record of the trials that a person played, with the columns of `run`.

    The kernel of the core plays the actions again. The column ``subject`` is "person"; ``clock`` is
    "waits" if the clock stood while an answer was open, so that reaction times mean nothing.

    Args:
        task: the task.
        trials: the tables that the person played.
        sent: the record of the page: "actions", a list with an id or values for each step;
            "trials", the number of trials that ended; "waits", whether the clock waited.
        conditions: the imposed conditions of the trials.

    Raises:
        ValueError: the record has another form, or has actions that the task does not have.
    """
    n = sent.get("trials") if isinstance(sent, dict) else None
    if type(n) is not int or not 1 <= n <= trials["n_trials"]:
        raise ValueError(f"it has {n!r} trials; expected 1 to {trials['n_trials']}")
    left = iter(_checked(task, sent.get("actions")))

    def person(env: Any, observations: np.ndarray) -> np.ndarray:
        return _next(left)

    record = run(task, person, n, num_envs=1, seed=trials["seed"], conditions=conditions)
    columns: dict[str, Any] = {**record, "subject": ["person"] * n}
    if sent.get("waits") is True:
        columns["clock"] = ["waits"] * n
    return TrialRecord(columns, meta=record.meta, events=record.event_log)


def _checked(task: Task, actions: Any) -> np.ndarray:
    """Return the actions, (steps,) ids or (steps, D) values in [-1, 1]."""
    array, size = np.asarray(actions), task.actions.size
    if task.actions.continuous:
        known = array.dtype.kind in "if" and array.ndim == 2 and array.shape[1] == size
        known = known and bool((np.abs(array) <= 1).all())
    else:
        known = array.dtype.kind == "i" and array.ndim == 1
        known = known and bool(((array >= 0) & (array < size)).all())
    if not known:
        raise ValueError("it has other actions than the task")
    return array


def _next(actions: Iterator[Any]) -> np.ndarray:
    """Return the next action, (1,) or (1, D)."""
    for action in actions:
        return np.asarray(action)[None]
    raise ValueError("its actions end before its trials do")
