"""Score networks and reference subjects on published signatures; write ``docs/leaderboard.md``.

    python docs/_make/leaderboard.py --gallery build/gallery --runs my-runs

``make leaderboard`` runs this script. Networks are the finished trainings of the gallery, whose
checkpoints ``docs/_make/train_gallery.py`` keeps, and run folders in ``--runs``, which ``ngym train
--out`` wrote: runs of one task and one trainer are seeds of one network. Reference subjects are
played. Scores are kept in ``leaderboard.json`` after each network or subject; a script that is
started again scores only new ones. ``--write`` writes the page from the stored scores.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import train_gallery
from markdown_parts import continued
from measured import keep, read
from neurogym_study.behaviour import Behaviour, Roles
from neurogym_study.likenesses import score
from neurogym_study.playing import Played, play_run, play_task, play_trainer
from neurogym_study.runs import Run
from neurogym_study.signatures import Signature, signatures
from neurogym_study.trainers import trainer_named
from neurogym_study.training import CURVE_FILE

from neurogym_core import InvalidValueError, make_task

HERE = Path(__file__).resolve().parent
MEASURED, PAGE = HERE / "leaderboard.json", HERE.parent / "leaderboard.md"

TRIALS, SEEDS = 2000, 5
"""Trials of each seed, and seeds of reference subjects."""
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


@dataclass(frozen=True)
class Network:
    """A trained network or agent.

    Attributes:
        folder: its run folder, or the folder of its checkpoints.
        job: its training in the gallery; None for a run of ``ngym train``.
    """

    folder: Path
    job: train_gallery.Job | None = None

    @property
    def trained(self) -> tuple[int, str]:
        """Amount of training and its unit: the first column of the last test."""
        lines = (self.folder / CURVE_FILE).read_text("utf-8").splitlines()
        return int(lines[-1].partition(",")[0]), lines[0].partition(",")[0]

    def play(self, seed: int) -> Played:
        """Play `TRIALS` trials of its task, as it draws them: some signatures need the sequence."""
        if self.job is None:
            return play_run(Run.open(self.folder), TRIALS, seed=seed, design="drawn")
        trainer = trainer_named(self.job.algorithm)(
            make_task(self.job.task), seed=self.job.seeds[0], **train_gallery.settings_of(self.job)
        )
        trainer.load(self.folder)
        return play_trainer(trainer, self.job.trainer, TRIALS, seed=seed, design="drawn")


@dataclass(frozen=True)
class Entry:
    """A network or a subject in one task.

    Attributes:
        networks: one per seed; () for a reference subject.
    """

    task: str
    who: str
    networks: tuple[Network, ...] = ()

    @property
    def key(self) -> str:
        """Name in the file of the scores; it changes with the amount of training."""
        runs = ", ".join(f"{one.folder.name} {one.trained[0]}" for one in self.networks)
        return f"{self.task} {self.who} {TRIALS} ({runs or SEEDS})"

    def behaviours(self) -> dict[str, Behaviour]:
        """Play all seeds; return name of the seed -> behaviour."""
        found = {}
        for seed in range(len(self.networks) or SEEDS):
            if self.networks:
                played = self.networks[seed].play(seed=1000 + seed)
            else:
                played = play_task(
                    make_task(self.task), self.who, TRIALS, seed=seed, design="drawn"
                )
            found[f"seed {seed}"] = Behaviour(played.record, Roles.of_task(played.task))
        return found


def entries(runs: Path | None, gallery: Path, finished: Path) -> Iterator[Entry]:
    """Yield the networks of the gallery and of the run folders, and the reference subjects.

    A run folder of a task and trainer of the gallery takes the place of the gallery's.

    Args:
        runs: folder of run folders, or None.
        gallery: folder of the gallery's checkpoints.
        finished: file of its finished trainings.
    """
    found: dict[tuple[str, str], list[Network]] = {}
    for task, trainer, network in _gallery(gallery, finished):
        found.setdefault((task, trainer), []).append(network)
    own: dict[tuple[str, str], list[Network]] = {}
    for folder in sorted(runs.iterdir()) if runs is not None and runs.is_dir() else []:
        try:
            experiment = Run.open(folder).experiment
        except (InvalidValueError, NotADirectoryError):
            continue  # no run
        ready = (folder / CURVE_FILE).exists() and Network(folder).trained[0] >= experiment.amount
        if ready and len(experiment.tasks) == 1:
            # The last part of an id names the task, whatever its package.
            task = experiment.tasks[0]["task"].rpartition("/")[2]
            own.setdefault((task, experiment.trainer), []).append(Network(folder))
    for (task, trainer), networks in {**found, **own}.items():
        yield Entry(task, trainer, tuple(networks))
    yield from (Entry(task, subject) for task, subject in REFERENCES)


def _gallery(gallery: Path, finished: Path) -> Iterator[tuple[str, str, Network]]:
    """Yield task, trainer and network of each finished training with a signature to test."""
    known = signatures()
    runs = read(finished)["runs"].values()
    for run in sorted(runs, key=lambda run: (run["task"], run["trainer"], run["seed"])):
        job = train_gallery.Job(run["task"], run["trainer"], (run["seed"],), run["until"])
        (folder,) = job.folders(gallery)
        if (folder / CURVE_FILE).exists() and any(one.applies_to(job.task) for one in known):
            yield job.task.rpartition("/")[2], job.trainer, Network(folder, job)


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
        "network": bool(entry.networks),
        "seeds": len(behaviours),
        "trained": sorted({one.trained for one in entry.networks}),
        "tested": tested,
        "untested": untested,
        "seconds": round(time.monotonic() - began, 1),
    }


def _rounded(value: float) -> float | None:
    """Return four digits; None for an open end, which JSON does not have."""
    return float(f"{value:.4g}") if np.isfinite(value) else None


def scores(path: Path = MEASURED) -> dict[str, Any]:
    """Return the stored scores, key -> score."""
    return read(path)["runs"]


# ---- the page ----


def page(stored: Mapping[str, Any]) -> str:
    """Return the page: a table for each signature, and the signatures that were not tested."""
    known = signatures()
    tested = [one for one in known if any(one.name in row["tested"] for row in stored.values())]
    names = {one.name for one in tested}
    shown = [row["network"] for row in stored.values() if names & row["tested"].keys()]
    scored = [row["network"] for row in stored.values()]
    parts = [
        f"{len(tested)} of {len(known)} signatures. {sum(scored)} networks (each of one task) and"
        f" {len(scored) - sum(scored)} reference subjects were scored. {sum(shown)} and"
        f" {len(shown) - sum(shown)} of them are in the tables: no signature could be tested in the"
        " others.\n",
    ]
    parts += [_section(one, stored) for one in tested]
    missing = [one for one in known if one not in tested]
    if missing:
        rows = [f"- {one.title} ({', '.join(one.tasks)}){_reason(one, stored)}" for one in missing]
        parts.append("\n".join(["## Not tested", "", *rows, ""]))
    return continued(PAGE, "\n".join(parts))


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
    said = [one.statistic, one.caution, one.sign_only and f"Sign only: {one.sign_only}"]
    said = " ".join(filter(None, said))
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
    ends = amounts[0] if len(amounts) == 1 else f"{amounts[0]}–{amounts[-1]}"
    return f"network, {ends} {row['trained'][0][1]}"


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
@click.option(
    "--gallery", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    default=Path("build/gallery"), show_default=True, help="Folder of the gallery's checkpoints.",
)  # fmt: skip
@click.option("--runs", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="Folder of further run folders.")  # fmt: skip
@click.option("--only", multiple=True, metavar="TASK", help="Score this task; may be repeated.")
@click.option("--write", is_flag=True, help="Write the page from the stored scores only.")
@click.option("--finished", type=click.Path(path_type=Path), default=train_gallery.MEASURED,
              hidden=True)  # fmt: skip
@click.option("--measured", type=click.Path(path_type=Path), default=MEASURED, hidden=True)
@click.option("--page", "page_file", type=click.Path(path_type=Path), default=PAGE, hidden=True)
def main(
    gallery: Path, runs: Path | None, only: tuple[str, ...], write: bool, finished: Path,
    measured: Path, page_file: Path,
) -> None:  # fmt: skip
    """Score networks and subjects on signatures of animals, and write docs/leaderboard.md."""
    todo = [] if write else [
        entry
        for entry in entries(runs, gallery, finished)
        if entry.key not in scores(measured) and (not only or entry.task in only)
    ]  # fmt: skip
    click.echo(f"{len(todo)} networks and subjects remain to be scored.")
    for number, entry in enumerate(todo, 1):
        found = measure(entry)
        keep(measured, {entry.key: found}, ("task", "who", "network"))
        click.echo(
            f"{number}/{len(todo)} {entry.task} {entry.who}: {len(found['tested'])} signatures in"
            f" {found['seconds']:.0f} s"
        )
    page_file.write_text(page(scores(measured)), encoding="utf-8")
    click.echo(f"Written: {page_file}")


if __name__ == "__main__":
    main()
