"""Compare the speed of envs with that of another checkout: ``python -m benchmarks.kernels FOLDER``.

The other checkout needs its compiled kernel: run ``python -m pip install -e .`` there, in another
environment of the same Python. Both run in the environment of this one. CPU time, in turn.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import median

import click

from benchmarks.__main__ import Worker
from benchmarks.settings import Case

SIZES = (1, 16, 64, 1024)
TASKS = ("dots", "context", "anti-reach", "two-step", "bandit", "reaching", "pennies", "yang19")


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--rounds", default=9, show_default=True, type=click.IntRange(min=1))
@click.option("--seconds", default=0.1, show_default=True, help="Minimum length of a slice.")
@click.option("--least", default=0.85, show_default=True, help="Bound for every ratio.")
def main(folder: Path, rounds: int, seconds: float, least: float) -> None:
    """Print the ratio this : FOLDER for every task and number of envs."""
    paths = [folder, *sorted((folder / "plugins").glob("*"))]
    other = os.pathsep.join(str(path.resolve()) for path in paths)
    sides = (
        Worker("core", sys.executable),
        Worker("core", sys.executable, root=folder, PYTHONPATH=other),
    )
    missed = []
    for task in TASKS:
        cases = [Case("single" if size == 1 else "vector", task, size) for size in SIZES]
        found = [ratio(*sides, case, rounds, seconds) for case in cases]
        missed += missed_by(dict(zip(cases, found, strict=True)), least)
        print(f"{task:12}", *(f"{n}: {one:.2f}" for n, one in zip(SIZES, found, strict=True)))
    for side in sides:
        side.close()
    if missed:
        raise click.ClickException(f"MISSED {least}: {'; '.join(missed)}.")


def ratio(this: Worker, that: Worker, case: Case, rounds: int, seconds: float) -> float:
    """Return the speed of one worker in units of that of another: a median over rounds, in turn."""
    for side in (this, that):
        if why := side.make(case):
            raise click.ClickException(why)
    ratios = [this.rate(case, seconds) / that.rate(case, seconds) for _ in range(rounds + 1)]
    return median(ratios[1:])


def missed_by(ratios: Mapping[Case, float], least: float) -> list[str]:
    """Return the cases, in words, whose ratio is below the bound."""
    return [f"{case.task}, {case.size} envs" for case, one in ratios.items() if not one >= least]


if __name__ == "__main__":
    main()
