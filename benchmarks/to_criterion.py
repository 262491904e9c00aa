"""CPU seconds to a criterion, of this project and of NeuroGym 2.3.1, with several seeds.

    python -m benchmarks.to_criterion [--only TASK]... [--way WAY]... [--write]

Ten tasks are learned from targets, from eight seeds: in the loop of NeuroGym's tutorials on its
datasets ("peer") and on ours ("loop"), with our trainer ("trainer") and in JAX ("jax"), both of all
seeds at once. Three tasks are learned by reward, from five seeds: with RecurrentPPO on NeuroGym's
envs ("peer-sb3") and on ours ("sb3"), and with "jax-ppo", of all seeds at once. `criterion.py` has
the settings.

Each training is a new process with one thread, and is kept in ``benchmarks/criterion.json`` as soon
as it has ended; a command that is started again does the rest. ``--plan`` lists the rest, and
``--busy`` takes those again that were taken beside other work.
Seconds are CPU seconds of the whole process after its imports, with tests, and of JAX with
compilation. They count on a shared machine, too, but caches and the clock of the processor are
shared there: a row keeps the load at its start, and the page says so.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.criterion import AGENTS, SUPERVISED, digest
from benchmarks.peer_venv import ROOT, make_peer
from benchmarks.report import MARK, machine

STORED = Path(__file__).with_name("criterion.json")
PAGE = ROOT / "docs" / "performance.md"
PEER_AGENTS = ("stable-baselines3==2.9.2", "sb3-contrib==2.9.2")
BUSY = 1.5
"""Load (mean number of running processes, of one minute) above which others were at work: one may
be the training before."""
EXPLAINED = """\
CPU seconds of all seeds together until each has met the criterion, with tests and without imports.
`benchmarks/to_criterion.py` describes the ways, and `benchmarks/criterion.py` has the settings. The
ratio is that of the peer to the fastest of our ways whose seeds all met the criterion.
"""
WAIT = 3600
"""s after which a training is ended, and is a failure."""


class Kind(NamedTuple):
    """A comparison.

    Attributes:
        title: of its table.
        tasks: their settings, by name.
        peer: the way of NeuroGym, which is the unit of the ratios.
        alone: other ways that train one seed per process.
        together: ways that train all seeds in one process.
        seeds: default number of seeds.
        least: ratio that the best of our ways has to reach.
    """

    title: str
    tasks: Mapping[str, Any]
    peer: str
    alone: tuple[str, ...]
    together: tuple[str, ...]
    seeds: int
    least: float

    @property
    def ways(self) -> tuple[str, ...]:
        return (self.peer, *self.alone, *self.together)


KINDS = (
    Kind("Targets", SUPERVISED, "peer", ("loop",), ("trainer", "jax"), 8, 5.0),
    Kind("Rewards", AGENTS, "peer-sb3", ("sb3",), ("jax-ppo",), 5, 10.0),
)


def requests(kind: Kind, way: str, task: str, seeds: int) -> dict[str, list[int]]:
    """Return the trainings of a way: key in the file -> seeds.

    The key has the hash of the settings, so that trainings with others do not count.
    """
    groups = [[*range(seeds)]] if way in kind.together else [[seed] for seed in range(seeds)]
    same = digest(task, way)
    return {f"{way} {task} {','.join(map(str, one))} {same}": one for one in groups}


def read(path: Path = STORED) -> dict[str, Any]:
    """Return the stored trainings, key -> result."""
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def keep(key: str, result: Any, path: Path = STORED) -> None:
    """Store a training; a crash leaves the file as it was."""
    runs = {**read(path), key: result}
    lines = ",\n".join(f"  {json.dumps(one)}: {json.dumps(runs[one])}" for one in sorted(runs))
    temporary = path.with_suffix(".new")
    temporary.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    temporary.replace(path)


def remaining(
    runs: Mapping[str, Any], seeds: int | None, only: Sequence[str], ways: Sequence[str]
) -> Iterator[tuple[str, str, str, list[int]]]:
    """Yield key, way, task and seeds of the trainings that are not stored."""
    for kind in KINDS:
        for task in kind.tasks:
            for way in kind.ways:
                if (only and task not in only) or (ways and way not in ways):
                    continue
                for key, own in requests(kind, way, task, seeds or kind.seeds).items():
                    if key not in runs:
                        yield key, way, task, own


def trained(way: str, task: str, seeds: Sequence[int], python: str) -> dict[str, Any]:
    """Train in a new process, and return its result.

    Raises:
        RuntimeError: it failed, or took more than `WAIT`.
    """
    # One thread each, also of XLA.
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    threads["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    load = round(os.getloadavg()[0], 1)
    asked = json.dumps({"way": way, "task": task, "seeds": list(seeds)})
    try:
        done = subprocess.run(
            [python, "-W", "ignore", "-m", "benchmarks.criterion", asked],
            cwd=ROOT, env={**os.environ, **threads}, capture_output=True, text=True, timeout=WAIT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"it took more than {WAIT} s") from None
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr else "no message")
    result = json.loads(done.stdout.splitlines()[-1])
    return {**result, "load": load, "date": date.today().isoformat(), "machine": machine()}


# ---------------------------------------------------------------------- the table


class Total(NamedTuple):
    """A way on a task: CPU seconds of all seeds, and how many of them met the criterion."""

    cpu: float
    met: int
    seeds: int

    @property
    def text(self) -> str:
        return f"{self.cpu:.1f}" + ("" if self.met == self.seeds else f" ({self.met} met)")


def total(runs: Mapping[str, Any], kind: Kind, way: str, task: str, seeds: int) -> Total | None:
    """Return the sum over the seeds; None if one is missing."""
    keys = requests(kind, way, task, seeds)
    if any(key not in runs for key in keys):
        return None
    own = [runs[key] for key in keys]
    return Total(sum(one["cpu"] for one in own), sum(sum(one["met"]) for one in own), seeds)


def row(runs: Mapping[str, Any], kind: Kind, task: str, seeds: int) -> list[str]:
    """Return the cells of a task: name, criterion, seconds of each way, ratio and mark.

    The ratio is that of our fastest way whose seeds all met the criterion. Seconds of seeds of the
    peer that did not meet it are a lower bound, and so is the ratio then.
    """
    found = {way: total(runs, kind, way, task, seeds) for way in kind.ways}
    cells = [task, f"{kind.tasks[task].criterion:.0%}"]
    cells += [one.text if one else "–" for one in found.values()]
    theirs = found[kind.peer]
    ours = [one for way, one in found.items() if one and way != kind.peer]
    if theirs is None or not ours:
        return [*cells, "–", "not measured"]
    met = [one.cpu for one in ours if one.met == seeds]
    if not met:
        return [*cells, "–", "MISSED: none of our ways met the criterion"]
    ratio = theirs.cpu / min(met)
    bound = "≥ " if theirs.met < seeds else ""
    return [*cells, f"{bound}{ratio:.2f}x", "ok" if ratio >= kind.least else "MISSED"]


def table(runs: Mapping[str, Any], kind: Kind, seeds: int) -> str:
    """Return the table of a comparison, in Markdown; tasks without any training are left out."""
    heads = ["task", "criterion", *kind.ways, f"ratio (goal {kind.least:g}x)", "mark"]
    rows = [row(runs, kind, task, seeds) for task in kind.tasks]
    rows = [one for one in rows if any(cell != "–" for cell in one[2:-2])]
    lines = [heads, ["---", *["---:"] * (len(heads) - 2), "---"], *rows]
    return "\n".join("| " + " | ".join(one) + " |" for one in lines)


def section(runs: Mapping[str, Any], seeds: int | None = None) -> str:
    """Return the part of the page."""
    parts = [f"{MARK}\n## To a criterion\n"]
    if not runs:
        return parts[0] + "\nNothing has been measured yet.\n"
    parts.append(EXPLAINED)
    for kind in KINDS:
        number = seeds or kind.seeds
        rows = table(runs, kind, number)
        if rows.count("\n") > 1:
            parts.append(f"{kind.title}, {number} seeds:\n\n{rows}\n")
    versions = sorted(
        {f"{name} {v}" for one in runs.values() for name, v in one["versions"].items()}
    )
    dates = sorted({one["date"] for one in runs.values()})
    machines = sorted({one["machine"] for one in runs.values()})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    parts.append(f"Measured on {when}, {'; '.join(machines)}; {', '.join(versions)}.")
    left = len(list(remaining(runs, None, (), ())))
    if left:
        whole = len(list(remaining({}, None, (), ())))
        parts.append(
            f"{left} of the {whole} trainings of the whole benchmark are not measured yet."
        )
    busy = sum(one["load"] > BUSY for one in runs.values())
    if busy:
        parts.append(
            f"{busy} of {len(runs)} trainings were taken beside other work (load above {BUSY:g}):"
            " the ratios are\npreliminary, and the seconds are no speeds."
        )
    return "\n".join(parts) + "\n"


def written(page: str, runs: Mapping[str, Any], seeds: int | None = None) -> str:
    """Return the page with its part replaced."""
    return page.partition(MARK)[0].rstrip("\n") + "\n\n" + section(runs, seeds)


def main() -> None:
    """Train the rest, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = sorted({task for kind in KINDS for task in kind.tasks})
    parser.add_argument("--only", action="append", default=[], choices=names, metavar="TASK")
    parser.add_argument("--way", action="append", default=[],
                        choices=[way for kind in KINDS for way in kind.ways])  # fmt: skip
    parser.add_argument("--seeds", type=int, help="default: 8 for targets, 5 for rewards")
    parser.add_argument("--busy", action="store_true", help="repeat those with a high load")
    parser.add_argument("--plan", action="store_true", help="list the rest, and train nothing")
    parser.add_argument("--write", action="store_true", help="write docs/performance.md")
    given = parser.parse_args()
    kept = {key: one for key, one in read().items() if not (given.busy and one["load"] > BUSY)}
    todo = list(remaining(kept, given.seeds, given.only, given.way))
    print(f"{len(todo)} trainings remain.", flush=True)
    failed = 0
    if given.plan:
        print("\n".join(key for key, *_ in todo))
    elif todo:
        peers = [way for _, way, *_ in todo if way.startswith("peer")]
        other = str(make_peer()) if peers else ""
        if "peer-sb3" in peers:
            constraints = ROOT / "benchmarks" / "peer-constraints.txt"
            install = [other, "-m", "pip", "install", "--quiet", "-c", str(constraints)]
            subprocess.run([*install, *PEER_AGENTS], check=True)
        for key, way, task, seeds in todo:
            try:
                result = trained(way, task, seeds, other if way in peers else sys.executable)
            except RuntimeError as error:
                failed += 1
                print(f"{key} failed: {error}", file=sys.stderr, flush=True)
                continue
            keep(key, result)
            met = f"{sum(result['met'])} of {len(result['met'])} met"
            print(f"{key}: {result['cpu']} CPU s, {met}, {result['done']}", flush=True)
    runs = read()
    for kind in KINDS:
        print(f"\n{kind.title}:\n{table(runs, kind, given.seeds or kind.seeds)}")
    if given.write:
        PAGE.write_text(written(PAGE.read_text("utf-8"), runs, given.seeds), "utf-8")
    if failed:
        sys.exit(f"{failed} trainings failed; the same command tries them again.")


if __name__ == "__main__":
    main()
