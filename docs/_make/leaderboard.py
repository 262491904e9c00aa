"""Score networks and reference subjects on published signatures; write ``docs/leaderboard.md``.

    python docs/_make/leaderboard.py --train --runs build/leaderboard

``make leaderboard`` runs this script. Networks are the run folders in ``--runs``, which
``ngym train --out`` wrote: runs of one task and one trainer are seeds of one network. ``--train``
first trains those of `NETWORKS` that are missing, and continues interrupted ones. Reference
subjects are played. Scores are kept in ``leaderboard.json`` after each network or subject; a script
that is started again scores only new ones. ``--write`` writes the page from the stored scores.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from neurogym_study.behaviour import Behaviour, Roles
from neurogym_study.likenesses import score
from neurogym_study.playing import play_run, play_task
from neurogym_study.runs import Run
from neurogym_study.signatures import Signature, signatures
from neurogym_study.training import CURVE_FILE

from neurogym_core import make_task
from neurogym_core.errors import InvalidValueError
from neurogym_core.files import replacing

HERE = Path(__file__).resolve().parent
MEASURED, PAGE = HERE / "leaderboard.json", HERE.parent / "leaderboard.md"

TRIALS, SEEDS = 2000, 5
"""Trials of each seed, and seeds of reference subjects."""
NETWORK_SEEDS = 3
REFERENCES = (
    ("RoitmanShadlen-v0", "diffusion"),
    ("RoitmanShadlen-v0", "guess"),
    ("PerceptualDecisionMaking-v0", "integrator"),
    ("PerceptualDecisionMaking-v0", "guess"),
    ("DawTwoStep-v0", "hybrid"),
    ("DawTwoStep-v0", "q_learner"),
    ("DawTwoStep-v0", "guess"),
    ("MatchingPennies-v0", "q_learner"),
    ("MatchingPennies-v0", "win_stay_lose_shift"),
    ("MatchingPennies-v0", "guess"),
    ("PoissonClicks-v0", "integrator"),
    ("PoissonClicks-v0", "guess"),
)
"""Tasks and the reference subjects that play them."""
NETWORKS = (
    ("PerceptualDecisionMaking-v0", "--model", "gru", 600),
    ("PerceptualDecisionMaking-v0", "--model", "rnn", 600),
    ("PoissonClicks-v0", "--model", "rnn", 150),
    ("DelayComparison-v0", "--model", "gru", 200),
    ("MatchingPennies-v0", "--algo", "recurrent-ppo", 6000),
    ("DawTwoStep-v0", "--algo", "recurrent-ppo", 40_000),
)
"""Tasks, kind and name of the trainer, and updates or steps of the networks of ``--train``."""
HEAD = """# Leaderboard: networks and subjects beside animals

*Measured and written by `docs/_make/leaderboard.py` (`make leaderboard`); do not edit it here.*

Networks of the [gallery](gallery-results.md)'s tasks and reference subjects are scored on published signatures of
behaviour, each beside the animals. There is no total and no ranking: signatures are not independent, and a subject can be
like animals in one and not in another.

- **effect**: mean over seeds with Student's 95 % interval; of a single seed, the interval over trials.
- **sign**: whether the effect has the published sign: *yes*, *no*, *cannot tell*.
- **within**: whether the interval is inside the range of the animals' intervals; *–* if the numbers of the animals could
  not be verified. Rows of animals compare each with the others.

[Analyse behaviour](analyse-behaviour.md#signatures-of-animals) defines the verdicts. `guess` answers at random when it is
asked: a subject without any of the effects. Networks are small and trained shortly; a network that fails may have needed
more training.
"""


@dataclass(frozen=True)
class Entry:
    """A network or a subject in one task.

    Attributes:
        folders: run folders, one per seed; () for a reference subject.
    """

    task: str
    who: str
    folders: tuple[Path, ...] = ()

    @property
    def key(self) -> str:
        """Name in the file of the scores; it changes with the amount of training."""
        runs = ", ".join(f"{folder.name} {_trained(folder)[0]}" for folder in self.folders)
        return f"{self.task} {self.who} {TRIALS} ({runs or SEEDS})"

    def behaviours(self) -> dict[str, Behaviour]:
        """Play all seeds; return name of the seed -> behaviour."""
        found = {}
        for seed in range(len(self.folders) or SEEDS):
            if self.folders:
                played = play_run(Run.open(self.folders[seed]), TRIALS, seed=1000 + seed)
            else:
                played = play_task(make_task(self.task), self.who, TRIALS, seed=seed)
            found[f"seed {seed}"] = Behaviour(played.record, Roles.of_task(played.task))
        return found


def _trained(folder: Path) -> tuple[int, str]:
    """Return the amount of training and its unit: the first column of the last test."""
    lines = (folder / CURVE_FILE).read_text("utf-8").splitlines()
    return int(lines[-1].partition(",")[0]), lines[0].partition(",")[0]


def entries(runs: Path | None) -> Iterator[Entry]:
    """Yield the networks of the run folders, and the reference subjects."""
    found: dict[tuple[str, str], list[Path]] = {}
    folders = sorted(runs.iterdir()) if runs is not None and runs.is_dir() else []
    for folder in filter(Path.is_dir, folders):
        try:
            experiment = Run.open(folder).experiment
        except InvalidValueError:
            continue  # no run
        ready = (folder / CURVE_FILE).exists() and _trained(folder)[0] >= experiment.amount
        if ready and len(experiment.tasks) == 1:
            # The last part of an id names the task, whatever its package.
            task = experiment.tasks[0]["task"].rpartition("/")[2]
            found.setdefault((task, experiment.trainer), []).append(folder)
    for (task, trainer), folders in found.items():
        yield Entry(task, trainer, tuple(folders))
    yield from (Entry(task, subject) for task, subject in REFERENCES)


def train(runs: Path) -> None:
    """Train the networks that are missing, seed by seed; continue interrupted ones."""
    for seed in range(NETWORK_SEEDS):
        for task, kind, name, amount in NETWORKS:
            folder = runs / f"{task.removesuffix('-v0')}-{name}-{seed}"
            unit = "--updates" if kind == "--model" else "--steps"
            try:
                started = Run.open(folder).started
            except InvalidValueError:
                started = False
            if started and _trained(folder)[0] >= amount:
                continue
            settings = [task, kind, name, unit, str(amount), "--seed", str(seed)]
            how = ["--resume", str(folder)] if started else [*settings, "--out", str(folder)]
            click.echo(f"Training {folder.name}.")
            subprocess.run(
                [sys.executable, "-m", "neurogym_core.cli", "train", *how, "--quiet"], check=True
            )


def measure(entry: Entry) -> dict[str, Any]:
    """Return the scores of a network or subject on all signatures of its task, for JSON."""
    began, behaviours = time.monotonic(), entry.behaviours()
    tested, untested = {}, {}
    for one in signatures():
        if not one.applies_to(entry.task):
            continue
        found = score(one, behaviours, entry.who, entry.task)
        if found.rows:
            row = asdict(found.subject)
            numbers = {name: _rounded(row[name]) for name in ("value", "low", "high")}
            tested[one.name] = {**numbers, "sign": row["sign"], "within": row["within"]}
        else:
            untested[one.name] = found.why_not
    return {
        "task": entry.task,
        "who": entry.who,
        "network": bool(entry.folders),
        "seeds": len(behaviours),
        "trained": sorted({_trained(folder) for folder in entry.folders}),
        "tested": tested,
        "untested": untested,
        "seconds": round(time.monotonic() - began, 1),
    }


def _rounded(value: float) -> float | None:
    """Return four digits; None for an open end, which JSON does not have."""
    return float(f"{value:.4g}") if np.isfinite(value) else None


def read(path: Path = MEASURED) -> dict[str, Any]:
    """Return the stored scores, key -> score."""
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def keep(key: str, found: Mapping[str, Any], path: Path) -> None:
    """Add a score to the file; an older one of the same network or subject is dropped."""
    same = ("task", "who", "network")
    stored = {
        name: one
        for name, one in read(path).items()
        if any(one[part] != found[part] for part in same)
    }
    stored[key] = dict(found)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(stored[name])}" for name in sorted(stored))
    with replacing(path) as temporary:
        temporary.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


# ---- the page ----


def page(stored: Mapping[str, Any]) -> str:
    """Return the page: a table for each signature, and the signatures that were not tested."""
    known = signatures()
    tested = [one for one in known if any(one.name in row["tested"] for row in stored.values())]
    networks = [row for row in stored.values() if row["network"]]
    parts = [
        HEAD,
        f"{len(tested)} of {len(known)} signatures, {len(networks)} networks,"
        f" {len(stored) - len(networks)} reference subjects.\n",
    ]
    parts += [_section(one, stored) for one in tested]
    missing = [one for one in known if one not in tested]
    if missing:
        rows = [f"- {one.title} ({', '.join(one.tasks)}){_reason(one, stored)}" for one in missing]
        parts.append("\n".join(["## Not tested", "", *rows, ""]))
    return "\n".join(parts)


def _section(one: Signature, stored: Mapping[str, Any]) -> str:
    unit = f" ({one.unit})" if one.unit else ""
    rows = [
        "|".join(
            ["", f" {animal.name} ", " animal ", f" {_effect(asdict(animal))} ", sign, within, ""]
        )
        for animal, sign, within in _animals(one)
    ]
    ranked = sorted(stored.values(), key=lambda row: (not row["network"], row["task"], row["who"]))
    for row in ranked:
        found = row["tested"].get(one.name)
        if found is None:
            continue
        kind = f"{_amount(row)}, {row['seeds']} {'seed' if row['seeds'] == 1 else 'seeds'}"
        rows.append(
            f"| `{row['who']}` | `{row['task']}`, {kind} | {_effect(found)} | {found['sign']} |"
            f" {found['within'] or '–'} |"
        )
    head = f"| who | what | effect{unit} [95 %] | sign | within |\n|---|---|---|---|---|"
    said = one.statistic if not one.sign_only else f"{one.statistic} Sign only: {one.sign_only}"
    return f"## {one.title}\n\n{said} {one.citation}.\n\n{head}\n" + "\n".join(rows) + "\n"


def _animals(one: Signature) -> Iterator[tuple[Any, str, str]]:
    from neurogym_study.likenesses import sign_of, within

    for animal in one.animals:
        others = [other for other in one.animals if other is not animal]
        yield animal, f" {sign_of(animal, one)} ", f" {within(animal, others) or '–'} "


def _amount(row: Mapping[str, Any]) -> str:
    if not row["network"]:
        return "reference subject"
    amounts = [f"{amount:,}" for amount, _ in row["trained"]]
    return f"network, {'–'.join(amounts)} {row['trained'][0][1]}"


def _effect(found: Mapping[str, Any]) -> str:
    low, high = ("open" if found[end] is None else f"{found[end]:.3g}" for end in ("low", "high"))
    return f"{found['value']:.3g} [{low}, {high}]"


def _reason(one: Signature, stored: Mapping[str, Any]) -> str:
    reasons = {
        row["untested"][one.name]: row["who"]
        for row in stored.values()
        if one.name in row["untested"]
    }
    said = "; ".join(f"`{who}`: {reason}" for reason, who in reasons.items())
    return f": {said}" if said else ""


@click.command()
@click.option("--runs", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="Folder of run folders.  [default: build/leaderboard]")  # fmt: skip
@click.option("--train", "training", is_flag=True, help="Train missing networks first.")
@click.option("--only", multiple=True, metavar="TASK", help="Score this task; may be repeated.")
@click.option("--write", is_flag=True, help="Write the page from the stored scores only.")
@click.option("--measured", type=click.Path(path_type=Path), default=MEASURED, hidden=True)
@click.option("--page", "page_file", type=click.Path(path_type=Path), default=PAGE, hidden=True)
def main(
    runs: Path | None, training: bool, only: tuple[str, ...], write: bool, measured: Path,
    page_file: Path,
) -> None:  # fmt: skip
    """Score networks and subjects on signatures of animals, and write docs/leaderboard.md."""
    folder = runs or Path("build/leaderboard")
    if training:
        train(folder)
    todo = [] if write else [
        entry
        for entry in entries(folder)
        if entry.key not in read(measured) and (not only or entry.task in only)
    ]  # fmt: skip
    click.echo(f"{len(todo)} networks and subjects remain to be scored.")
    for number, entry in enumerate(todo, 1):
        found = measure(entry)
        keep(entry.key, found, measured)
        click.echo(
            f"{number}/{len(todo)} {entry.task} {entry.who}: {len(found['tested'])} signatures in"
            f" {found['seconds']:.0f} s"
        )
    page_file.write_text(page(read(measured)), encoding="utf-8")
    click.echo(f"Written: {page_file}")


if __name__ == "__main__":
    main()
