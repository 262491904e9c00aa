"""The work of `ngym play`: serve the page, and write the record of the person."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any

import click
import numpy as np

from neurogym_core import Task, TrialRecord, run
from neurogym_core.tools import clean, optional, replacing
from neurogym_play.page import page_files
from neurogym_play.server import RECORD, PlayServer
from neurogym_play.stepwise import Stepwise, checked_actions


def default_name(name: str, number: int = 1) -> Path:
    """Return the name of the record of a person in a task, if no other one was asked for."""
    return Path(f"{name}-person{'' if number == 1 else f'-{number}'}.csv")


def claim_name(name: str) -> Path:
    """Make an empty file under the first free default name, and return its name.

    Of several commands that end at the same time, each gets another file.

    Raises:
        OSError: the file cannot be made.
    """
    path, numbers = default_name(name), count(2)
    while True:
        try:
            path.open("x").close()
        except FileExistsError:
            path = default_name(name, next(numbers))
        else:
            return path


class _NotKeptError(Exception):
    """A file was written to see whether it can be, and is not kept."""


def check_writable(path: Path) -> None:
    """Write a temporary file where a record will be, and remove it. A file at `path` is unchanged.

    Raises:
        FileNotWrittenError (OSError): the record could not be written.
    """
    with suppress(_NotKeptError), replacing(path) as temporary:
        temporary.touch()
        raise _NotKeptError


def write_trials(record: TrialRecord, path: Path) -> None:
    """Write a record as Parquet if the name of the file ends so, and else as CSV.

    Raises:
        MissingDependencyError: Parquet needs pandas and pyarrow.
        FileNotWrittenError (OSError): the file cannot be written.
    """
    if path.suffix.lower() == ".csv":
        record.to_csv(path)
        return
    optional("pyarrow", needed_for="Writing Parquet")
    with replacing(path) as temporary:
        record.to_pandas().to_parquet(temporary, index=False)
    if len(record.events):
        record.events.to_csv(path.with_suffix(".events.csv"))


def play(
    made: Task,
    task: str,
    blocks: Mapping[str, Any],
    out: Path | None,
    *,
    feedback: bool = False,
    browser: bool = True,
    conditions: Mapping[str, Any] | None = None,
    beside: Mapping[str, Any] | None = None,
) -> None:
    """Serve the page of a task until a person has played, and write the record.

    Args:
        made: the task.
        task: as it was named.
        blocks: its trials, from `played_blocks` or `stepwise_blocks`.
        out: the file of the record, see `write_trials`; None: the first free default name when
            the trials are over.
        feedback: whether the page says after each trial if it was correct.
        browser: whether to open the page in the browser.
        conditions: the imposed conditions of the trials.
        beside: results of others, from `beside_of`.
    """

    def keep(sent: Any) -> str:
        record = person_record(made, blocks["trials"], sent, conditions)
        path = out or claim_name(made.name)
        try:
            write_trials(record, path)
        except BaseException:
            if out is None:
                path.unlink(missing_ok=True)
            raise
        line = f"Saved {len(record)} trials in {path}."
        click.echo(clean(line))
        return line

    stepwise = {name: one for name, one in blocks.items() if isinstance(one, Stepwise)}
    doors = {one.door: one.answer for one in stepwise.values()}
    pages = {name: one.page() for name, one in stepwise.items()}
    given = {"feedback": feedback, "save": RECORD, "beside": beside}
    files = page_files(made, task, {**blocks, **pages}, **given)
    with PlayServer(files, keep, doors) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        click.echo(f"Play at {server.address} (Ctrl-C ends it without a record).")
        if browser:
            webbrowser.open(server.address)
        server.played.wait()
        server.shutdown()


def person_record(
    task: Task,
    trials: Mapping[str, Any] | Stepwise,
    sent: Any,
    conditions: Mapping[str, Any] | None = None,
) -> TrialRecord:
    """Return the record of the trials that a person played, with the columns of `run`.

    The kernel of the core plays the actions on tables again. The column ``subject`` is "person";
    ``clock`` is "waits" if the clock stood while an answer was open, so that reaction times mean
    nothing.

    Args:
        task: the task.
        trials: the tables that the person played, or a block that Python played.
        sent: the record of the page: "waits", whether the clock waited; for tables also "actions",
            a list with an id or values for each step, and "trials", the number of trials that
            ended.
        conditions: the imposed conditions of the trials.

    Raises:
        ValueError: the record has another form, or has actions that the task does not have.
    """
    if not isinstance(sent, dict):
        raise ValueError(f"it is {type(sent).__name__}; expected an object")
    if isinstance(trials, Stepwise):
        record = trials.record()
    else:
        record = _played_again(task, trials, sent, conditions)
    if not len(record):
        raise ValueError("no trial ended")
    columns: dict[str, Any] = {**record, "subject": ["person"] * len(record)}
    if sent.get("waits") is True:
        columns["clock"] = ["waits"] * len(record)
    return TrialRecord(columns, meta=record.meta, events=record.event_log)


def _played_again(
    task: Task,
    trials: Mapping[str, Any],
    sent: Mapping[str, Any],
    conditions: Mapping[str, Any] | None,
) -> TrialRecord:
    """Play the actions that a page sent, and return the record."""
    n = sent.get("trials")
    if type(n) is not int or not 1 <= n <= trials["n_trials"]:
        raise ValueError(f"it has {n!r} trials; expected 1 to {trials['n_trials']}")
    left = iter(checked_actions(task, sent.get("actions")))

    def person(env: Any, observations: np.ndarray) -> np.ndarray:
        return _next(left)

    return run(task, person, n, num_envs=1, seed=trials["seed"], conditions=conditions)


def _next(actions: Iterator[Any]) -> np.ndarray:
    """Return the next action, (1,) or (1, D)."""
    for action in actions:
        return np.asarray(action)[None]
    raise ValueError("its actions end before its trials do")
