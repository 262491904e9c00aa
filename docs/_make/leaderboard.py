"""Score animals, cheats, reference subjects and networks in benchmarks; write ``docs/leaderboard.md``.

    python docs/_make/leaderboard.py

``make leaderboard`` runs this script. It runs the commands that the page prints: ``ngym benchmark
check``, ``ngym likeness``, and for networks ``ngym train`` before, whose run folders it keeps in
``--runs``. Scores are kept in ``leaderboard.json`` after each command, under the digest of the
benchmark; a script that is started again runs only the commands that are missing. ``--write`` writes
the page from the stored scores.
"""

from __future__ import annotations

import json
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from markdown_parts import continued
from measured import keep, read
from neurogym_likeness.benchmarks import Benchmark, benchmark

HERE = Path(__file__).resolve().parent
MEASURED, PAGE = HERE / "leaderboard.json", HERE.parent / "leaderboard.md"

SUBJECTS: Mapping[str, tuple[str, ...]] = {
    "clicks-rats": ("integrator", "guess"),
    "durations-people": ("random",),
    "heading-people": ("diffusion:bound=33,non_decision=790", "diffusion", "guess"),
    "orientations-people": ("integrator", "guess"),
    "reversal-people": ("q_learner", "q_learner:alpha=0.5,beta=4", "win_stay_lose_shift", "guess"),
}
"""Benchmark -> its reference subjects."""
NETWORKS: Mapping[str, tuple[str, ...]] = {
    "clicks-rats": ("PoissonClicks-v1 --model rnn --updates 300",),
    "durations-people": (
        "ReadySetGoSinglePrior-v0 --set intervals=800,1000,1200,1400,1600 --set total=4600"
        " --model rnn --updates 300",
    ),
    "heading-people": ("RoitmanShadlen-v0 --model rnn --updates 300",),
    "orientations-people": ("PerceptualDecisionMaking-v0 --model rnn --updates 300",),
}
"""Benchmark -> the trainings of networks, as words of ``ngym train``, without seed and folder."""
SEEDS = 3
"""Trainings of a network."""


@dataclass(frozen=True)
class Entry:
    """A command whose scores are rows of the table of a benchmark.

    Attributes:
        benchmark: the benchmark.
        who: name of the subject; "" for its animals and cheats.
        training: words of ``ngym train`` of a network.
    """

    benchmark: Benchmark
    who: str = ""
    training: str = ""

    @property
    def name(self) -> str:
        """Name of the run folders of a network, without the seed."""
        words = self.training.split()
        model, updates = (words[words.index(one) + 1] for one in ("--model", "--updates"))
        return f"{self.benchmark.name}-{model}-{updates}"

    @property
    def folders(self) -> list[str]:
        """Names of the run folders of a network."""
        return [f"{self.name}-{seed}" for seed in range(SEEDS)]

    @property
    def commands(self) -> list[str]:
        """The commands that reproduce the row; the last one prints the scores."""
        if self.training:
            trained = [
                f"ngym train {self.training} --seed {seed} --out {folder}"
                for seed, folder in enumerate(self.folders)
            ]
            runs = " ".join(self.folders)
            return [*trained, f"ngym likeness {runs} --benchmark {self.benchmark.name}"]
        if self.who:
            return [f"ngym likeness {self.who} --benchmark {self.benchmark.name}"]
        return [f"ngym benchmark check {self.benchmark.name}"]

    @property
    def key(self) -> str:
        """Name in the file of the scores; it changes with the benchmark and the commands."""
        return f"{self.benchmark.digest} {'; '.join(self.commands)}"


def entries(only: tuple[str, ...] = ()) -> Iterator[Entry]:
    """Yield the commands of all benchmarks, or of those that are named."""
    for name, subjects in SUBJECTS.items():
        if only and name not in only:
            continue
        one = benchmark(name)
        yield Entry(one)
        for who in subjects:
            yield Entry(one, who)
        for training in NETWORKS.get(name, ()):
            yield Entry(one, training=training)


def ngym(words: list[str], folder: Path) -> str:
    """Run a command of ``ngym`` in a folder; return its output.

    Exit code 1 of ``ngym benchmark check`` is a result, too.
    """
    done = subprocess.run(
        [sys.executable, "-m", "neurogym_core", *words], cwd=folder, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode not in (0, 1) or not done.stdout.strip():
        raise click.ClickException(f"ngym {shlex.join(words)}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def measure(entry: Entry, runs: Path) -> dict[str, Any]:
    """Run the commands of an entry; return its rows for JSON."""
    began = time.monotonic()
    runs.mkdir(parents=True, exist_ok=True)
    *before, last = entry.commands
    for command, folder in zip(before, entry.folders if before else (), strict=True):
        words = shlex.split(command)[1:]
        if not (runs / folder / "curve.csv").exists():
            ngym([*words, "--quiet"], runs)
    words = [*shlex.split(last)[1:], "--json"]
    if words[0] == "likeness":
        with tempfile.TemporaryDirectory() as out:
            said = json.loads(ngym([*words, "--out", out], runs))
        rows = [_subject(entry, said["score"])]
    else:
        rows = _animals(json.loads(ngym(words, runs)))
    return {
        "benchmark": entry.benchmark.name,
        "digest": entry.benchmark.digest,
        "commands": entry.commands,
        "rows": rows,
        "seconds": round(time.monotonic() - began, 1),
    }


def _subject(entry: Entry, score: Mapping[str, Any]) -> dict[str, Any]:
    seeds = score["seeds"]
    alike = sum(one["verdict"] == "not distinguished" for one in seeds)
    verdict = "no verdict" if score["doubts"] else f"{alike} of {len(seeds)} seeds"
    who = entry.who
    if entry.training:
        words = entry.training.split()
        who = f"{words[words.index('--model') + 1]}, {words[words.index('--updates') + 1]} updates"
    kind = "network" if entry.training else "reference subject"
    bits = {
        part: None if seeds[0][part] is None else statistics.fmean(one[part] for one in seeds)
        for part in NUMBERS[3:]
    }
    return {"who": who, "kind": kind, **_numbers({**score, **bits}), "verdict": verdict,
            "doubts": score["doubts"], "seeds": [round(one["score"], 3) for one in seeds]}  # fmt: skip


def _animals(said: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = [
        {"who": name, "kind": "held out", **_numbers(one), "verdict": ""}
        for name, one in said["animals"].items()
    ]
    return rows + [
        {
            "who": name,
            "kind": "cheat" if name != next(iter(said["controls"])) else "ideal",
            **_numbers(one),
            "verdict": "passes" if one["alike"] else "does not pass",
        }
        for name, one in said["controls"].items()
    ]


NUMBERS = ("score", "low", "high", "choice", "added", "reverse")


def _numbers(one: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the numbers of a row; None where a benchmark has none."""
    return {name: None if one[name] is None else round(one[name], 3) for name in NUMBERS}


def scores(path: Path = MEASURED) -> dict[str, Any]:
    """Return the stored scores, key -> score."""
    return read(path)["runs"]


# ---- the page ----


def page(stored: Mapping[str, Any]) -> str:
    """Return the page: a table for each benchmark."""
    parts = []
    for name in SUBJECTS:
        one = benchmark(name)
        kept = [stored[entry.key] for entry in entries((name,)) if entry.key in stored]
        if kept:
            parts.append(_section(one, kept))
    named = [part.partition("\n")[0].removeprefix("## ") for part in parts]
    links = " · ".join(f"[{name}](#{name})" for name in named)
    return continued(PAGE, "\n".join([f"Benchmarks: {links}\n", *parts]))


def _section(one: Benchmark, kept: list[Mapping[str, Any]]) -> str:
    numbered: dict[str, int] = {}
    rows = []
    for found in kept:
        command = " && ".join(found["commands"])
        number = numbered.setdefault(command, len(numbered) + 1)
        rows += [(row, number) for row in found["rows"]]
    rows.sort(key=lambda pair: -pair[0]["score"])
    lines = [
        f"| {_name(row)} | {row['kind']} | {row['score']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
        f" | {' | '.join(_shown(row[part]) for part in NUMBERS[3:])}"
        f" | {row['verdict'] or '–'} | {number} |"
        for row, number in rows
    ]
    commands = [f"{number}. `{command}`" for command, number in numbered.items()]
    return "\n".join([
        f"## {one.name}", "",
        f"{one.title}. Scored: {one.kind}. Version {one.version}, digest `{one.digest}`. "
        f"Differences from the task of the animals: {one.differences}", "",
        "| who | what | score [95 %] | choices | added | reverse | not distinguished | command |",
        "|---|---|---|---|---|---|---|---|", *lines, "", *commands, "",
    ])  # fmt: skip


def _shown(bits: float | None) -> str:
    return "–" if bits is None else f"{bits:.2f}"


def _name(row: Mapping[str, Any]) -> str:
    return f"`{row['who']}`" if row["kind"] == "reference subject" else row["who"]


@click.command()
@click.option("--runs", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              default=Path("build/leaderboard"), show_default=True,
              help="Folder of the run folders of networks.")  # fmt: skip
@click.option("--only", multiple=True, metavar="NAME", help="This benchmark; may be repeated.")
@click.option("--write", is_flag=True, help="Write the page from the stored scores only.")
@click.option("--measured", type=click.Path(path_type=Path), default=MEASURED, hidden=True)
@click.option("--page", "page_file", type=click.Path(path_type=Path), default=PAGE, hidden=True)
def main(runs: Path, only: tuple[str, ...], write: bool, measured: Path, page_file: Path) -> None:
    """Score animals, cheats, subjects and networks in benchmarks, and write docs/leaderboard.md."""
    known = scores(measured)
    todo = [] if write else [entry for entry in entries(only) if entry.key not in known]
    click.echo(f"{len(todo)} commands remain to be run.")
    for number, entry in enumerate(todo, 1):
        found = measure(entry, runs)
        keep(measured, {entry.key: found})
        click.echo(f"{number}/{len(todo)} {entry.commands[-1]}: {found['seconds']:.0f} s")
    page_file.write_text(page(scores(measured)), encoding="utf-8")
    click.echo(f"Written: {page_file}")


if __name__ == "__main__":
    main()
