"""Make a frozen benchmark from the trials of a laboratory."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, Task, TrialRecord
from neurogym_core.tools import describe, trusting, unknown
from neurogym_likeness.benchmarks import Benchmark, behaviour_of, read_benchmark, written
from neurogym_likeness.bits import REPORTS
from neurogym_likeness.blind import ASKED

FIRST_SEED = 101
"""Seed of the first trials; training starts at 0."""


def add_benchmark(
    record: TrialRecord,
    task: Task,
    *,
    name: str,
    task_name: str,
    kind: str,
    title: str,
    number: int,
    n_seeds: int,
    conditions: Mapping[str, str],
    roles: Mapping[str, str],
    scale: float | None,
    group: int | None,
    hold_out: Sequence[str],
    differences: str,
    folder: Path,
    hide_asked: bool = False,
) -> Benchmark:
    """Write a benchmark and its trials to a folder, and return it.

    Args:
        record: trials of animals, with the column ``subject``.
        task: the task with its settings.
        name: name of the benchmark.
        task_name: id of the task.
        kind: one of `bits.KINDS`.
        title: animals and task, in words.
        number: trials of a seed.
        n_seeds: number of seeds.
        conditions: condition of the task -> column of the record.
        roles: role -> column, of `Roles`.
        scale: strength of the task that is 1 of the animals'.
        group: number of animals that are scored together.
        hold_out: names of animals whose trials go to another file.
        differences: between the tasks, in words.
        folder: where the files are written.
        hide_asked: whether subjects may not read if an answer is asked for; of reports, they never
            may.

    Raises:
        InvalidValueError: a name that exists, no column ``subject``, or fewer than two animals.
        UnknownNameError: an unknown column, or animal to hold out.
        CannotTellError: the trials cannot be scored.
    """
    path = folder / f"{name}.toml"
    if path.exists():
        raise InvalidValueError(
            f"{path} exists. Expected the name of a new benchmark, since an old one does not"
            " change. Give another name, such as one with a number."
        )
    if "subject" not in record:
        raise InvalidValueError(
            "The trials have no column 'subject'. Expected one, with the names of the animals."
            " Name it with --map subject=COLUMN."
        )
    for column in (*conditions.values(), *(roles[one] for one in roles if one != "right")):
        if column not in record:
            raise unknown("column", column, record.columns, of="the trials")
    names = record["subject"].astype(str)
    for one in hold_out:
        if one not in names:
            raise unknown("subject", one, sorted(set(names.tolist())), of="the trials")
    held = np.isin(names, list(hold_out))
    folder.mkdir(parents=True, exist_ok=True)
    animals: dict[str, Any] = {"file": f"{name}.csv"}
    animals["sha256"] = _write(record[~held], folder / f"{name}.csv")
    if held.any():
        animals["held_out_sha256"] = _write(record[held], folder / f"{name}.held-out.csv")
    animals |= roles
    if scale is not None:
        animals["scale"] = scale
    if group is not None:
        animals["group"] = group
    parameters = {
        row["name"]: row["value"]
        for row in describe(task)["parameters"]
        if row["value"] is not None
    }
    timing = {key: spec.to_plain() for key, spec in task.timing.items()}
    said = {
        "version": 1,
        "title": title,
        "kind": kind,
        "differences": differences,
        "task": {
            "name": task_name, "behaviour": behaviour_of(task_name),
            **({"hides": ASKED} if hide_asked or kind == REPORTS else {}),
            "parameters": parameters, "timing": timing,
        },
        "trials": {
            "number": number, "seeds": list(range(FIRST_SEED, FIRST_SEED + n_seeds)),
            "conditions": dict(conditions),
        },
        "animals": animals,
    }  # fmt: skip
    path.write_text(written(said), "utf-8")
    made = read_benchmark(path)
    try:
        with trusting():  # the task was named by the user
            made.make_task()
        population = made.population()
        if len(population) < 2:
            raise InvalidValueError(
                f"The trials are those of {len(population)} animal or group. Expected two or more,"
                " and five for a verdict. Give the trials of more animals."
            )
    except BaseException:
        path.unlink()
        for file in folder.glob(f"{name}.*csv"):
            file.unlink()
        raise
    return made


def _write(record: TrialRecord, path: Path) -> str:
    """Write trials, and return the digest of the file."""
    record.to_csv(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()
