"""Train networks, compare their units with signatures, and write ``docs/neurons.md``.

``python docs/_make/neurons.py FOLDER`` trains the networks of `STUDIES` there, measures them by
``ngym neural``, and writes the page. It can be interrupted and called again: runs and reports that
FOLDER has are kept, and each new report goes into ``neurons.json`` at once, in place of an older one of
these networks. ``--study NAME`` and ``--model NAME`` measure some networks only, ``--page`` none.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from markdown_parts import table

HERE = Path(__file__).resolve().parent
MEASURED, PAGE = HERE / "neurons.json", HERE.parent / "neurons.md"
PLANTED = HERE.parents[1] / "plugins" / "neurogym-neural" / "tests" / "planted.py"
SEEDS = (0, 1, 2)
MODELS = ("gru", "rnn")
SYSTEMS = ("network", "untrained", "inputs", "filters", "copy", "inputs and copy", "shuffled")
RNN = "--option noise=0.05 --option tau=100"


@dataclass(frozen=True)
class Study:
    """Networks of one task: the words of ``ngym train``, and those of ``ngym neural``."""

    name: str
    title: str
    train: str
    neural: str = ""


SIX = " ".join(f"yang19/{name}-v0" for name in ("Go", "Anti", "RTGo", "RTAnti", "DlyGo", "DlyAnti"))
COMMON = "--option hidden=64 --option rate_cost=0.001"
STUDIES = (
    Study(
        "motion",
        "Motion, answered when a bound is reached",
        "RoitmanShadlen-v0 --timing stimulus=1000 --timing targets=200 --updates 1000",
        "--speed 400",
    ),
    Study(
        "context",
        "Two features, one of which counts",
        "ContextDecisionMaking-v0 --set context=cued --set dt=50 --timing fixation=200"
        " --timing delay=300 --updates 2000",
    ),
    Study(
        "delay",
        "Two magnitudes, with a delay between them",
        "DelayComparison-v0 --set dt=50 --criterion 0.95 --updates 1500",
    ),
    Study(
        "category",
        "Two categories of directions, compared after a delay",
        "DelayMatchCategory-v0 --updates 500",
    ),
    Study(
        "interval",
        "An interval that a cue names",
        "CueSetGo-v0 --set dt=50 --criterion 0.95 --updates 1500",
    ),
    Study(
        "prior",
        "An interval that is measured",
        "ReadySetGoSinglePrior-v0 --set dt=50 --updates 1000",
    ),
    Study(
        "value",
        "Two offers of different juices",
        "EconomicDecisionMaking-v0 --updates 500",
    ),
    Study(
        "tasks",
        "Six tasks in one network",
        f"{SIX} --set dt=50 --set rule_input=false --updates 800",
    ),
)


def train_words(study: Study, model: str, seed: int) -> str:
    """Return the words of a training after ``ngym train``."""
    own = f" {RNN}" if model == "rnn" else ""
    return (
        f"{study.train} --model {model} {COMMON}{own} --seed {seed}"
        f" --out {study.name}-{model}-{seed}"
    )


def seconds_of(run: Path) -> tuple[float, float]:
    """Return how long a training took, s: in all, and of the processor."""
    with (run / "curve.csv").open(encoding="utf-8", newline="") as file:
        last = list(csv.DictReader(file))[-1]
    return float(last["seconds"]), float(last["cpu"])


def measure(folder: Path, studies: tuple[str, ...], models: tuple[str, ...]) -> None:
    """Train the networks of some studies, and put their reports into ``neurons.json``."""
    ngym = [sys.executable, "-m", "neurogym_core"]
    for study in STUDIES:
        for model in models if study.name in studies else ():
            runs = [f"{study.name}-{model}-{seed}" for seed in SEEDS]
            for seed, run in zip(SEEDS, runs, strict=True):
                if not (folder / run).exists():
                    words = train_words(study, model, seed).split()
                    subprocess.run([*ngym, "train", *words, "--quiet"], cwd=folder, check=True)
            out = f"report-{study.name}-{model}"
            kept = folder / f"{out}.json"
            if not kept.exists():
                words = [*study.neural.split(), "--observed", "10", "--out", out, "--json"]
                said = subprocess.run(
                    [*ngym, "neural", *runs, *words],
                    cwd=folder, check=True, capture_output=True, text=True,
                )  # fmt: skip
                kept.write_text(said.stdout, encoding="utf-8")
            trained = [seconds_of(folder / run) for run in runs]
            add({"study": study.name, "model": model, "trained": trained}
                | json.loads(kept.read_text(encoding="utf-8")))  # fmt: skip
            print(out, flush=True)


def add(report: dict[str, Any]) -> None:
    """Put a report into ``neurons.json``, in place of that of these networks."""
    found = read()
    order = [(study.name, model) for study in STUDIES for model in MODELS]
    place = {(one["study"], one["model"]): one for one in found["reports"]}
    place[report["study"], report["model"]] = report
    found["reports"] = [place[key] for key in order if key in place]
    write(found)


def cheats() -> dict[str, Any]:
    """Return the numbers of the planted cheats: signature -> cheat -> part -> number or None."""
    spec = importlib.util.spec_from_file_location("planted", PLANTED)
    assert spec is not None
    assert spec.loader is not None
    planted = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(planted)
    found: dict[str, Any] = {}
    for pair in planted.pairs():
        numbers = {name: one if one == one else None for name, one in pair.cheated.items()}
        found.setdefault(pair.signature, {})[pair.cheat] = numbers
    return found


def read() -> dict[str, Any]:
    """Return the content of ``neurons.json``: "reports" of networks, and "cheats"."""
    found: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))
    return found


def write(found: dict[str, Any]) -> None:
    """Write ``neurons.json``."""
    MEASURED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def cheat_of(numbers: dict[str, Any], part: str) -> str:
    """Return the planted cheats of a signature with their numbers."""
    return "; ".join(
        f"{cheat} {'-' if one[part] is None else format(one[part], '.2f')}"
        for cheat, one in numbers.items()
        if part in one
    )


def listed(values: list[float | None]) -> str:
    """Return numbers, or the lowest and the highest of more than six; "-": none."""
    known = [value for value in values if value is not None]
    if len(values) > 6 and known:
        return f"{min(known):.2f} to {max(known):.2f}"
    return ", ".join("-" if value is None else f"{value:.2f}" for value in values) or "-"


def rows_of(signatures: list[dict[str, Any]], cheats: dict[str, Any]) -> list[list[str]]:
    """Return a row for each part of each signature of a report."""
    rows = []
    for one in signatures:
        for part in one["values"]["network"]:
            numbers = [listed(one["values"].get(name, {}).get(part, ())) for name in SYSTEMS]
            rows.append([
                f"{one['name']}: {part}", *numbers,
                cheat_of(cheats.get(one["name"], {}), part) or "-",
                one["place"] or "fingerprint",
            ])  # fmt: skip
    return rows


def overview(reports: list[dict[str, Any]]) -> str:
    """Return a table of all signatures: the places of both architectures, and their time."""
    cells: dict[str, dict[str, list[str]]] = {}
    seconds: dict[str, float] = {}
    for report in reports:
        for kind, key in (("rates", "signatures"), ("spikes", "observed")):
            for one in report[key]:
                place = cells.setdefault(one["name"], {}).setdefault(report["study"], [])
                place.append(f"{report['model']}, {kind}: {one['place'] or 'fingerprint'}")
                seconds[one["name"]] = seconds.get(one["name"], 0) + one["seconds"]
    rows = [
        [name, study, "; ".join(said), f"{seconds[name] / 60:.2f}"]
        for name, studies in sorted(cells.items())
        for study, said in studies.items()
    ]
    header = ["signature", "networks", "place", "minutes of CPU"]
    return (
        f"{len(cells)} signatures could be measured. Minutes are those of a signature in all networks"
        " and controls of this page, without the recording of their activity.\n\n"
        + table(header, rows)
        + "\n"
    )


def page(found: dict[str, Any]) -> str:
    """Return the page."""
    reports, planted = found["reports"], found["cheats"]
    parts = [
        """# What do the networks' neurons look like?

Networks that solve a task as well as an animal need not solve it as its neurons do. This page measures published
*signatures* in the units of networks that were trained here, three seeds of two architectures in each task, by
[`ngym neural`](command-line.md). `ngym neural --list` names all signatures with their sources.

Each number stands beside that of its controls, in the same trials: *untrained* networks of other seeds with a fitted
readout, rectified mixtures of the *inputs*, the same of leaky *filters* of the inputs (100, 200, 400, 700 and 1,000 ms, two
stages of 200 and of 300 ms, and all of them), a *copy* of the outputs, *inputs and copy* beside each other and in linear and rectified
mixtures, and the network with *shuffled* trials. Networks are *beyond controls* if all parts of a signature have the published sign and
size in all three, exceed all values of each control that the signature names by its margin, and if the 95 % interval of the
difference from each control excludes 0. **That is no proof of a computation**: systems without it lie beyond the controls, too, and are
named below. A signature that controls have is a *fingerprint*. Three
networks that exceed three untrained ones do so by chance with p = 0.05; nothing is corrected for the number of signatures.
Numbers of different seeds are separated by commas; of more than six, the lowest and the highest are shown; "-": it could not be
measured. *Cheat* is the simulation that the signature names: it is not beyond the controls.
"""
    ]
    parts.append(overview(reports))
    for study in STUDIES:
        mine = [one for one in reports if one["study"] == study.name]
        if not mine:
            continue
        parts.append(f"## {study.title}\n")
        words = train_words(study, "rnn", 0)
        runs = " ".join(f"{study.name}-rnn-{seed}" for seed in SEEDS)
        more = f"{study.neural} --observed 10".strip()
        said = f"```\nngym train {words}\nngym neural {runs} {more}"
        parts.append(said.rstrip() + "\n```\n")
        for model in sorted(set(MODELS) - {one["model"] for one in mine}):
            parts.append(f"**{model}**: not measured.\n")
        for report in mine:
            facts = report["facts"]
            seconds = ", ".join(f"{cpu:.0f}" for _, cpu in report["trained"])
            took = f"trained in {seconds} s of one processor; " if seconds else ""
            parts.append(
                f"**{report['model']}**: {took}performance"
                f" {facts['performance']} of answered trials ({facts['answered']} of"
                f" {facts['trials of each']}); {facts['answers']}.\n"
            )
            header = ["signature", *SYSTEMS, "cheat", "place"]
            if report["signatures"]:
                parts.append(table(header, rows_of(report["signatures"], planted)) + "\n")
            if report["observed"]:
                parts.append("In spikes of 10 Hz, of 600 trials:\n")
                parts.append(table(header, rows_of(report["observed"], planted)) + "\n")
            else:
                parts.append("Measured by an earlier version, in rates only.\n")
            for name, why in report["untested"].items():
                parts.append(f"Not measured: {name}: {why}.\n")
    parts.append("""## What they do not show

Fingerprints, such as a level that rises with the evidence, are in a low-pass filter of the input. A network
that is beyond its controls resembles an animal's neurons in this one respect. The numbers of animals are in the reports where they were
verified; they come from spikes. Signatures of counts (memory-tuning, comparison-switch, chosen-value) draw spikes of 10 Hz from the
rates in all tables, the others in the tables of spikes.

Each signature with controls shows this, and no more. The last sentence names systems that were written to lie beyond the controls
without the computation (tests of neurogym-neural simulate them):

- *pulse-persists*: evidence lasts longer than in a leaky filter of the input of up to 1,000 ms. Two filters of 400 ms in a row, and
  single ones of much more than 1,000 ms, keep it like an integrator within a stimulus of 1 s. An integrator
  with a near bound loses as much as a filter of 1,000 ms. In spikes, some filters have
  numbers of noise, which makes the control stricter. A copy of the outputs is no control: it lasts as its network. Also beyond: a filter
  of 700 ms whose output grows with time, as with an urgency signal.
- *memory-tuning*: more units carry the magnitude through the delay than in untrained networks and in mixed filters. Also beyond: a filter
  of the magnitude alone; a copy of the outputs is no control.
- *category-index*: units part categories before the test is known, and more than evenly distributed tuning explains. A copy of the outputs
  is no control, since it reads these units. Also beyond: graded tuning that all lies along the axis of the categories.
- *chosen-value*: more units follow the value of the chosen offer than in mixtures of inputs and answer. Also beyond: the sum
  of the values of both offers.
- *temporal-scaling*: units that turn do so at fractions of the interval. In spikes nothing is concluded. Also
  beyond: random features of two layers of a ramp.
- *task-clusters*: groups of units serve different tasks, more than units permuted within each task. Also beyond: noise that the
  input of one task lets through.

Three signatures are fingerprints since their controls were widened. Inputs beside a copy of the answer have both parts of *context-selection*, and their
random mixtures both of *abstract-choice*, as much as simulated systems that select late; a copy of the answer has the *comparison-switch*
of units that compare. A representation does not tell how it was computed: that needs perturbations of the irrelevant evidence or of the
first magnitude.

Definitions were changed after a look at these networks: the period of abstract-choice, the speed of 400 ms, the gate of answered
trials, the least sizes, and the controls. All places are exploratory until they hold for networks of other seeds. They depend on
the training, too: networks that were trained on two magnitudes for 1,500 updates, and not to a criterion, were beyond the controls of memory-tuning
in the rates of one architecture, before slow filters were a control.

This page is written by `docs/_make/neurons.py`.
""")
    return "\n".join(parts)


@click.command()
@click.argument("folder", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option("--study", "studies", multiple=True, type=click.Choice([s.name for s in STUDIES]))
@click.option("--model", "models", multiple=True, type=click.Choice(MODELS))
@click.option("--page", "only", is_flag=True, help="Write the page from neurons.json.")
def main(
    folder: Path | None, studies: tuple[str, ...], models: tuple[str, ...], only: bool
) -> None:
    """Measure the networks in FOLDER, and write the page."""
    if not only:
        if folder is None:
            raise click.UsageError("No FOLDER was given. Expected one for the runs. Give it.")
        folder.mkdir(parents=True, exist_ok=True)
        measure(folder, studies or tuple(study.name for study in STUDIES), models or MODELS)
        write(read() | {"cheats": cheats()})
    PAGE.write_text(page(read()), encoding="utf-8")


if __name__ == "__main__":
    main()
