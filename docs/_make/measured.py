"""Files of the results of trainings, which the scripts that train networks and agents write.

A file is JSON, with the machine of the last training, and one training (or one list of them) per
line: ``{"machine": {…}, "runs": {key: training}}``.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from neurogym_training import Experiment, Trainer
from neurogym_training.train import command, experiment_of

from neurogym_core.tools import replacing

PACKAGES = ("torch", "stable-baselines3", "sb3-contrib", "numpy")
"""Packages whose versions the numbers depend on."""


def machine() -> dict[str, Any]:
    """Return the processor, the number of cores, the date, and the versions of `PACKAGES`."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "date": time.strftime("%Y-%m-%d"),
        "versions": versions,
    }


def read(path: Path) -> dict[str, Any]:
    """Return the contents of a file: "machine" (not if it is new), and "runs": key -> training."""
    if not path.exists():
        return {"runs": {}}
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def write(path: Path, runs: Mapping[str, Any]) -> None:
    """Replace the contents of a file by these trainings, measured on this machine."""
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(runs[key])}" for key in sorted(runs))
    with replacing(path) as temporary:
        temporary.write_text(
            f'{{"machine": {json.dumps(machine())}, "runs": {{\n{lines}\n}}}}\n', encoding="utf-8"
        )


def keep(path: Path, new: Mapping[str, Any], same: Sequence[str] = ()) -> None:
    """Add trainings to a file; earlier ones whose values of `same` are those of a new one are dropped."""
    replaced = {tuple(run[name] for name in same) for run in new.values()} if same else set()
    known = read(path)["runs"].items()
    kept = {key: run for key, run in known if tuple(run[name] for name in same) not in replaced}
    write(path, {**kept, **new})


def experiment_of_words(words: str, seed: int) -> Experiment:
    """Return the experiment of a command line ``ngym train …``."""
    context = command.make_context("train", shlex.split(words)[2:])
    experiment, _ = experiment_of(context.params["tasks"], context.params)
    return replace(experiment, seed=seed)


def trained(experiment: Experiment, criterion: Any) -> tuple[Trainer, dict[str, Any]]:
    """Train once; return the trainer, and whether it met the criterion, its seed and its times (s)."""
    wall, cpu = time.perf_counter(), time.process_time()
    trainer = experiment.make_trainer()
    met = trainer.train(experiment.amount, criterion=criterion) == "criterion"
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    facts = {"seed": experiment.seed, "met": met, "wall": round(wall, 1), "cpu": round(cpu, 1)}
    return trainer, facts


def when(measured: Mapping[str, Any]) -> str:
    """Return the paragraph of a page that says when and where its numbers were measured, or ""."""
    if "machine" not in measured:
        return ""
    on = measured["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in on["versions"].items())
    return (
        f"Last measured on {on['date']}, {on['processor']}, cores that were shared with other"
        f" programs (times are upper limits); {versions}.\n"
    )
