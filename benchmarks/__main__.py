"""Time all rows and print the table: ``python -m benchmarks``."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import click

from benchmarks import probes
from benchmarks.peer_venv import ROOT, make_peer
from benchmarks.report import Result, print_table, write_page
from benchmarks.rows import ROWS, Row, Timed, bounds_of
from benchmarks.settings import Case

Rates = dict[Timed, float]
"""Steps per second of each case in one round."""


class Worker:
    """Process that makes cases and times slices of them."""

    def __init__(self, side: str, python: str, root: Path = ROOT, **variables: str) -> None:
        self._cases: dict[Case, int] = {}
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.worker", side],
            cwd=root,
            env=os.environ | threads | variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and return the reply."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise click.ClickException(
                f"A worker process ended during the request {request}; its error is printed above."
            )
        return json.loads(line)

    def make(self, case: Case) -> str:
        """Make a case, and return the reason if that fails, else ""."""
        answer = self.ask(make=case)
        if "missing" in answer:
            return answer["missing"]
        self._cases[case] = answer["case"]
        return ""

    def rate(self, case: Case, seconds: float) -> float:
        """Return the steps per second of a slice."""
        answer = self.ask(run=self._cases[case], seconds=seconds)
        return answer["steps"] / answer["seconds"]

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@contextlib.contextmanager
def workers(python: str) -> Iterator[dict[str, Worker]]:
    """Start the workers of all sides, and end them on exit."""
    sides = {
        "core": Worker("core", sys.executable),
        "plain": Worker("core", sys.executable, NGYM_KERNEL="plain"),
        "peer": Worker("peer", python),
    }
    try:
        yield sides
    finally:
        for worker in sides.values():
            worker.close()


def in_turn(rows: Iterable[Row]) -> list[Timed]:
    """Return every case once, in the order of the rows: the sides of a ratio are adjacent."""
    cases = [case for row in rows for pair in row.pairs for case in pair]
    return list(
        dict.fromkeys([*cases, *(case for row in rows for case in bounds_of(row).values())])
    )


def measure(rows: list[Row], python: str, rounds: int, seconds: float) -> tuple[list[Result], str]:
    """Time the rows that are rates. Return their results and the name of the kernel of the core."""
    with workers(python) as sides:
        kernel = sides["core"].ask(about=True)["about"]
        missing = {case: why for case in in_turn(rows) if (why := sides[case[0]].make(case[1]))}
        for worker in sides.values():
            worker.ask(freeze=True)
        turn = [case for case in in_turn(rows) if case not in missing]
        timed = (
            [_round(sides, turn, seconds, number, rounds) for number in range(rounds + 1)][1:]
            if turn
            else []
        )
        return [
            (
                _swept(row, sides["core"], rounds, seconds / 4)
                if row.sweep
                else _result(row, timed, missing)
            )
            for row in rows
        ], kernel


def _round(
    sides: dict[str, Worker], turn: list[Timed], seconds: float, number: int, rounds: int
) -> Rates:
    print("warm-up" if number == 0 else f"round {number} of {rounds}", file=sys.stderr)
    return {(side, case): sides[side].rate(case, seconds) for side, case in turn}


def _result(row: Row, timed: list[Rates], missing: dict[Timed, str]) -> Result:
    for pair in row.pairs:
        for case in pair:
            if case in missing:
                return Result(row, missing=_short(*case, missing[case]))
    ratios = {mine: [one[mine] / one[other] for one in timed] for mine, other in row.pairs}
    least = min(ratios, key=lambda mine: median(ratios[mine]))
    bounds = {name: case for name, case in bounds_of(row).items() if case not in missing}
    return Result(
        row,
        ratios[least],
        median(one[least] for one in timed),
        which=least[1].task if len(ratios) > 1 else "",
        bounds={name: median(one[case] for one in timed) for name, case in bounds.items()},
    )


def _swept(row: Row, worker: Worker, rounds: int, seconds: float) -> Result:
    """Return the result of the installed task with the lowest ratio.

    A ratio is taken over all rounds together, because trials are built in blocks: most slices build
    none, some build many.
    """
    tasks = worker.ask(swept=row.sweep)["tasks"]
    print(f"{len(tasks)} tasks: {row.label}", file=sys.stderr)
    rates = {
        task: worker.ask(sweep=row.sweep, task=task, rounds=rounds, seconds=seconds)["rates"]
        for task in tasks
    }
    ratios = {task: mine / other for task, (mine, other) in rates.items()}
    order = sorted(tasks, key=ratios.__getitem__)
    for task in order[:5]:
        print(f"  {task}: {ratios[task]:.3g}", file=sys.stderr)
    least = order[0]
    return Result(row, [ratios[least]], rates[least][0], which=f"{least}, of {len(tasks)}")


def _short(side: str, case: Case, why: str) -> str:
    absent = why.startswith(("UnknownTaskError", "KeyError"))
    return f"no task {case.task!r} is installed" if absent else f"{side}: {why}"


def probe(row: Row, rounds: int) -> Result:
    """Return the result of a probe that is run `rounds` times."""
    return Result(row, [getattr(probes, row.probe)() for _ in range(rounds)])


@click.command()
@click.option(
    "--quick", is_flag=True, help="Run 3 rounds of short slices; for development, not for reports."
)
@click.option("--rounds", default=7, show_default=True, type=click.IntRange(min=1))
@click.option("--seconds", default=0.25, show_default=True, help="Minimum length of a slice.")
@click.option("--only", default="", help="Time only the rows with this text in their label.")
@click.option(
    "--peer-python",
    help="Python of an environment with NeuroGym 2.3.1 [default: .venv-peer, made if missing].",
)
@click.option("--write", is_flag=True, help="Write docs/performance.md.")
def main(
    quick: bool, rounds: int, seconds: float, only: str, peer_python: str | None, write: bool
) -> None:
    """Compare the speed with that of NeuroGym 2.3.1. Exit code 1: a row misses its bound."""
    rounds, seconds = (3, 0.1) if quick else (rounds, seconds)
    chosen = [row for row in ROWS if only.lower() in row.label.lower()]
    rates = [row for row in chosen if not row.probe]
    found, kernel = (
        measure(rates, peer_python or str(make_peer()), rounds, seconds) if rates else ([], "")
    )
    found += [probe(row, rounds) for row in chosen if row.probe]
    results = sorted(found, key=lambda result: ROWS.index(result.row))
    print_table(results, kernel)
    if write:
        write_page(Path(ROOT) / "docs" / "performance.md", results, rounds, seconds, kernel)
    missed = [result.row.label for result in results if result.mark == "MISSED"]
    if missed:
        raise click.ClickException(f"{len(missed)} rows miss their bounds: {'; '.join(missed)}.")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
