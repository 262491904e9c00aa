"""``ngym neural``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neurogym_core.tools import Progress, how_to_install, print_json, usage_errors

if TYPE_CHECKING:
    from neurogym_training.runs import Run

    from neurogym_neural.networks import Recorded
    from neurogym_neural.verdicts import Signature, Verdict

SCHEMA = 1


@click.command("neural", short_help="Compare units of networks with signatures of neurons.")
@click.argument("runs", metavar="[RUN...]", nargs=-1)
@click.option("--list", "listing", is_flag=True, help="List the signatures.")
@click.option(
    "--signature",
    "chosen",
    multiple=True,
    metavar="NAME",
    help="Measure this signature only; may be repeated.",
)
@click.option(
    "-n",
    "trials",
    default=800,
    show_default=True,
    type=click.IntRange(min=100),
    help="Number of trials of each network.",
)
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    help="Seed of trials, noise and controls.",
)
@click.option(
    "--untrained",
    default=3,
    show_default=True,
    type=click.IntRange(min=1),
    help="Least number of untrained networks.",
)
@click.option(
    "--speed",
    metavar="MS",
    type=click.FloatRange(min=0, min_open=True),
    help="Answer with a bound that gives this median reaction time, and not at the first step.",
)
@click.option(
    "--observed",
    "hz",
    metavar="HZ",
    type=click.FloatRange(min=0, min_open=True),
    help="Measure signatures in spikes of this mean rate, too: of 600 trials at most.",
)
@click.option(
    "--which",
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    help="Index of the task, if a run has several.",
)
@click.option("--task", metavar="NAME", help="Task of recordings, whose signatures are measured.")
@click.option(
    "--step",
    default=20.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    help="Steps in which spikes of recordings are counted, ms.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option(
    "--out", default="neural", show_default=True, type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the report.",
)  # fmt: skip
def command(
    runs: tuple[str, ...], listing: bool, chosen: tuple[str, ...], as_json: bool, out: Path,
    **given: Any,
) -> None:  # fmt: skip
    """Compare the units of networks with published signatures of neurons.

    A RUN is a folder that `ngym train --model ... --out` wrote. Several runs count as seeds of one
    network, and differ in nothing else.

    \b
    ngym neural --list
    ngym neural run-1 run-2 run-3
    ngym neural run --signature pulse-persists --speed 500
    ngym neural run-1 run-2 run-3 --observed 10
    ngym neural session.nwb --task RoitmanShadlen

    Each number comes with the same number of controls in the same trials: untrained networks with a
    fitted readout, mixtures of the inputs, leaky filters of the inputs (100 to 1000 ms, each and
    all), a copy of the outputs, inputs and copy together, and the network with shuffled trials. A
    signature is "beyond controls" if all networks have the published sign, exceed the controls that
    it names by a margin, and differ from each by more than the interval of 95 %. That is no proof
    of a computation: the report names systems without it that are beyond the controls, too.
    Signatures that controls have are fingerprints.

    A RUN can be an NWB file with units and trials, or a .mat file of Luo et al. (2025,
    github.com/Brody-Lab/decision_dynamics_commitment), too; several files are sessions. Their
    report needs no torch: conditions that decoders read from the counts of spikes, figures, and the
    signatures of --task beside those of shuffled trials, without a conclusion.

    The report is report.html, with a CSV file and PNG figures: trajectories, units by condition,
    cross-temporal decoding, fixed points. It says by which rule the network answered.

    --json prints an object with the keys schema (1), command, facts, signatures (name, place, why,
    chance, values, seconds), observed (the same of spikes), untested (name -> reason), report and
    figures. For recordings, there is also conditions, and left_out (name -> trials without a
    value), signatures have no place, why and chance, and there is no observed.
    """
    with usage_errors():
        known = _chosen(chosen)
        if listing:
            return _list(known, as_json)
        if not runs:
            raise click.UsageError(
                "No RUN was given. Expected the folder of a run, or of several seeds, or NWB files."
                " `ngym neural --list` shows the signatures."
            )
        files = [one for one in runs if one.endswith((".nwb", ".mat"))]
        if files and given["hz"] is not None:
            raise click.UsageError(
                f"--observed {given['hz']:g} was given for files of recordings. Expected runs of"
                " networks: recorded neurons have their spikes. Leave it out."
            )
        if files:
            if len(files) < len(runs):
                raise click.UsageError(
                    f"Runs and files of recordings were given: {', '.join(runs)}. Expected one"
                    " kind. Report them apart."
                )
            return _of_files(files, known, as_json, out, given)
        recorded, facts = _recorded(runs, given)
        verdicts, untested, seconds = _judged(known, recorded, runs, given)
        spiking: list[Verdict] = []
        if given["hz"] is not None:
            spiking, silent, more = _judged(known, recorded, runs, given, given["hz"])
            untested |= {f"{name}, spikes": why for name, why in silent.items()}
            seconds |= {f"{name}, spikes": one for name, one in more.items()}
        target, figures = _write(out, recorded, facts, verdicts, untested, seconds, spiking)
    if as_json:
        print_json({
            "schema": SCHEMA, "command": "neural", "facts": facts,
            "signatures": [_said(one, seconds) for one in verdicts],
            "observed": [_said(one, seconds, ", spikes") for one in spiking],
            "untested": untested, "report": target, "figures": figures,
        })  # fmt: skip
        return
    for one in verdicts:
        click.echo(f"{one.signature.name}: {one.place or 'fingerprint'} ({one.why.rstrip('.')})")
    for one in spiking:
        click.echo(
            f"{one.signature.name}, spikes of {given['hz']:g} Hz: {one.place or 'fingerprint'}"
        )
    for name, why in untested.items():
        click.echo(f"Not measured: {name}: {why}")
    click.echo(f"The rule of the answers: {facts['answers']}.")
    click.echo(f"The report is {target}.")


def _said(one: Verdict, seconds: dict[str, float], kind: str = "") -> dict[str, Any]:
    return {
        "name": one.signature.name, "place": one.place, "why": one.why, "chance": one.chance,
        "values": one.values, "seconds": seconds[one.signature.name + kind],
    }  # fmt: skip


def _of_files(
    files: list[str], known: list[Signature], as_json: bool, out: Path, given: dict[str, Any]
) -> None:
    """Report recorded neurons."""
    from neurogym_neural import sessions

    task = f"{given['task']}-" if given["task"] else ""
    fitting = [one for one in known if task and not one.many and one.applies_to(task)]
    if task and not fitting:
        raise click.UsageError(
            f"No signature applies to --task {given['task']}. Expected one of the tasks that `ngym"
            " neural --list` names. Correct it, or leave it out."
        )
    recordings = [sessions.read_session(one, given["step"]) for one in files]
    found = sessions.measured(recordings, fitting, seed=given["seed"])
    target, figures = sessions.write(out, recordings, found, fitting)
    if as_json:
        print_json({
            "schema": SCHEMA, "command": "neural", "facts": found.facts,
            "conditions": found.conditions,
            "signatures": [
                {"name": name, "values": values, "seconds": found.seconds[name]}
                for name, values in found.values.items()
            ],
            "left_out": found.left_out, "untested": found.untested, "report": target,
            "figures": figures,
        })  # fmt: skip
        return
    for row in found.conditions:
        if row["decoded"] != row["decoded"]:
            click.echo(f"{row['file']}: {row['condition']} has too few trials for a decoder")
            continue
        click.echo(
            f"{row['file']}: {row['condition']} is decoded with {row['decoded']:.2f} (shuffled"
            f" {row['shuffled']:.2f}, chance {row['chance']:.2f})"
        )
    for name, values in found.values.items():
        for part, numbers in values["recording"].items():
            said, mixed = (
                ", ".join(f"{number:.2f}" for number in one)
                for one in (numbers, values["shuffled"][part])
            )
            click.echo(f"{name}: {part} {said} (shuffled {mixed})")
    for name, texts in found.left_out.items():
        click.echo(f"{name}: left out: {'; '.join(texts)}")
    for name, why in found.untested.items():
        click.echo(f"Not measured: {name}: {why}")
    click.echo(f"The report is {target}.")


def _chosen(names: tuple[str, ...]) -> list[Signature]:
    from neurogym_core.tools import unknown
    from neurogym_neural.verdicts import signatures

    known = {one.name: one for one in signatures()}
    for name in names:
        if name not in known:
            raise unknown("signature", name, known, of="the installed packages")
    return [known[name] for name in names or known]


def _list(known: list[Signature], as_json: bool) -> None:
    if as_json:
        rows = [
            {"name": one.name, "title": one.title, "quantity": one.quantity, "tasks": one.tasks,
             "citation": one.citation, "doi": one.doi, "checked": one.checked,
             "controls": one.judges, "passes": one.passes} for one in known
        ]  # fmt: skip
        print_json({"schema": SCHEMA, "command": "neural --list", "signatures": rows})
        return
    for one in known:
        kind = "with controls" if one.judges else "fingerprint"
        click.echo(
            f"{one.name}: {one.title} ({', '.join(one.tasks)}; {kind}; {one.checked})."
            f" {one.citation}"
        )


def _recorded(
    runs: tuple[str, ...], given: dict[str, Any]
) -> tuple[list[Recorded], dict[str, Any]]:
    try:
        from neurogym_training.runs import Run
    except ImportError:
        from neurogym_core import MissingDependencyError

        raise MissingDependencyError(
            "`ngym neural` needs neurogym-torch and neurogym-training, which are not installed."
            f" Install them: {how_to_install('neurogym-torch')}."
        ) from None
    from neurogym_neural.networks import bound_for, record_run

    opened = [Run.open(Path(folder)) for folder in runs]
    _distinct(runs, opened)
    found, kinds, bounds = [], set(), []
    each = -(-given["untrained"] // len(runs))
    with Progress("networks", len(runs)) as bar:
        for k, (folder, run) in enumerate(zip(runs, opened, strict=True)):
            bar.show(k)
            kinds.add(run.kind())
            if len(kinds) > 1:
                raise click.UsageError(
                    f"The run {folder} differs from {runs[0]} in more than its seed and length."
                    " Expected seeds of one network. Compare others apart."
                )
            bound = None
            if given["speed"] is not None:
                bound = bound_for(run, given["speed"], which=given["which"], seed=given["seed"])
                bounds.append(bound)
            naive = [1000 + each * k + j for j in range(each)]
            found.append(
                record_run(run, given["trials"], which=given["which"], bound=bound,
                           seed=given["seed"] + k, untrained=naive)
            )  # fmt: skip
    performance = [one.systems["network"][0].performance for one in found]
    facts = {
        "networks": ", ".join(runs), "task": found[0].task.name, "trials of each": given["trials"],
        "performance": ", ".join(f"{one:.2f}" for one in performance),
        "answered": ", ".join(f"{_answered(one):.0%}" for one in found),
        "untrained networks": each * len(runs), "answers": found[0].rule,
        "measured": "rates" if given["hz"] is None else f"rates, and spikes of {given['hz']:g} Hz",
    }  # fmt: skip
    if bounds:  # each network has its own
        said = ", ".join(f"{one:.2f}" for one in bounds)
        facts["answers"] = (
            f"it answers when the probability of an answer exceeds a bound ({said}), fitted to a"
            f" median reaction time of {given['speed']:g} ms"
        )
    return found, facts


def _distinct(runs: tuple[str, ...], opened: Sequence[Run]) -> None:
    """Refuse runs of one seed, and copies, which are one network, however often they are given."""
    seeds = [run.experiment.seed for run in opened]
    for seed in seeds:
        same = [folder for folder, one in zip(runs, seeds, strict=True) if one == seed]
        if len(same) > 1:
            raise click.UsageError(
                f"The runs {', '.join(same)} have the same seed, {seed}, and count as one network."
                " Expected runs of different seeds. Give each seed once: `ngym train --seed`."
            )
    weights: dict[str, str] = {}
    for folder, run in zip(runs, opened, strict=True):
        whole = sha256()
        for path in sorted(run.checkpoint.glob("checkpoint.*")):
            whole.update(path.read_bytes())
        same_as = weights.setdefault(whole.hexdigest(), folder)
        if same_as != folder:
            raise click.UsageError(
                f"The runs {same_as} and {folder} have the same weights, and count as one network."
                " Expected runs that were trained from different seeds. Leave copies out."
            )


def _answered(recorded: Recorded) -> float:
    return float((recorded.systems["network"][0].activity.record["choice"] != "none").mean())


def _judged(
    known: list[Signature],
    recorded: list[Recorded],
    runs: tuple[str, ...],
    given: dict[str, Any],
    hz: float | None = None,
) -> tuple[list[Verdict], dict[str, str], dict[str, float]]:
    from neurogym_core import NotSupportedError
    from neurogym_neural.verdicts import judge

    name = f"{recorded[0].task.name}-"
    fitting = [one for one in known if not one.many and one.applies_to(name)]
    verdicts, untested, seconds = [], {}, {}
    systems = {
        kind: [one for part in recorded for one in part.systems[kind]]
        for kind in recorded[0].systems
    }
    networks = systems.pop("network")
    with Progress("signatures", len(fitting)) as bar:
        for k, one in enumerate(fitting):
            bar.show(k, one.title)
            start = time.process_time()
            try:
                verdicts.append(judge(one, networks, systems, hz=hz))
            except NotSupportedError as error:
                untested[one.name] = str(error)
            seconds[one.name] = time.process_time() - start
    many = [one for one in known if one.many]
    verdicts += _of_tasks(many, runs, given, untested, seconds, hz)
    if not verdicts and not untested:
        raise click.UsageError(
            f"No signature applies to {recorded[0].task.name}. Expected one of the tasks that"
            " `ngym neural --list` names. Train a network on one of these."
        )
    return verdicts, untested, seconds


def _of_tasks(
    many: list[Signature], runs: tuple[str, ...], given: dict[str, Any], untested: dict[str, str],
    seconds: dict[str, float], hz: float | None,
) -> list[Verdict]:  # fmt: skip
    """Return the verdicts of signatures that need the activity in several tasks."""
    from neurogym_training.runs import Run

    from neurogym_core import NotSupportedError
    from neurogym_neural.networks import record_tasks
    from neurogym_neural.verdicts import judge

    opened = [Run.open(Path(folder)) for folder in runs]
    several = len(opened[0].trainer().tasks) > 1
    found = []
    for one in many if several else ():
        start = time.process_time()
        systems: dict[str, list[Any]] = {}
        for k, run in enumerate(opened):
            for name, system in record_tasks(run, seed=given["seed"] + k).items():
                systems.setdefault(name, []).append(system)
        try:
            found.append(judge(one, systems.pop("network"), systems, hz=hz))
        except NotSupportedError as error:
            untested[one.name] = str(error)
        seconds[one.name] = time.process_time() - start
    return found


def _passes(one: Signature) -> str:
    """Return the sentence about systems without the computation that are beyond the controls."""
    return f" Also beyond controls, without the computation: {one.passes}" if one.passes else ""


def table_of(
    verdicts: list[Verdict], seconds: dict[str, float], kind: str = ""
) -> list[dict[str, Any]]:
    """Return a row for each part of each signature: systems as columns, their place, CPU time."""
    from neurogym_neural.verdicts import CONTROLS

    rows = []
    for one in verdicts:
        for part in one.signature.parts:
            row = {"signature": one.signature.name, "part": part}
            for name in ("network", *CONTROLS):
                row[name] = listed_numbers(one.values.get(name, {}).get(part, ()))
            row["place"] = one.place or "fingerprint"
            row["CPU s"] = f"{seconds[one.signature.name + kind]:.1f}"
            rows.append(row)
    return rows


def listed_numbers(numbers: Sequence[float]) -> str:
    """Return numbers, or the lowest and the highest of more than six, such as of many filters."""
    known = [number for number in numbers if number == number]
    if len(numbers) > 6 and known:
        return f"{min(known):.2f} to {max(known):.2f}"
    return ", ".join(f"{number:.2f}" for number in numbers) or "-"


def _write(
    out: Path,
    recorded: list[Recorded],
    facts: dict[str, Any],
    verdicts: list[Verdict],
    untested: dict[str, str],
    seconds: dict[str, float],
    spiking: list[Verdict],
) -> tuple[Path, list[Path]]:
    import pandas as pd
    from neurogym_behaviour.findings import Finding
    from neurogym_behaviour.report import write_report
    from neurogym_plot.styles import save_figure

    from neurogym_core import NeurogymError
    from neurogym_neural import figures

    one = recorded[0]
    network, naive = one.systems["network"][0], one.systems["untrained"][0]
    notes = tuple(
        f"{v.signature.name}: {v.signature.quantity} {v.signature.citation}, doi:{v.signature.doi}"
        f" ({v.signature.checked}). Published: {v.signature.published} Cheat: {v.signature.cheat}"
        f" Here: {v.place or 'fingerprint'}; {v.why.rstrip('.')}."
        f"{_passes(v.signature)}"
        f" By chance, all networks exceed all untrained ones with p = {v.chance:.2g}."
        for v in verdicts
    )
    unit = (
        f"The unit of replication is the network: {facts['networks'].count(',') + 1} of other"
        f" seeds, {facts['untrained networks']} untrained. Multiple comparisons over the"
        f" {len(verdicts)} signatures: not corrected."
    )
    findings = [
        Finding("signatures", "Signatures and controls",
                table=pd.DataFrame(table_of(verdicts, seconds)), notes=(unit, *notes))
    ]  # fmt: skip
    if spiking:
        findings.append(
            Finding("observed", "Signatures in spikes, as of recorded neurons",
                    table=pd.DataFrame(table_of(spiking, seconds, ", spikes")))
        )  # fmt: skip
    findings += [Finding(name, name, why_not=why) for name, why in untested.items()]
    makers: tuple[tuple[str, str, Any], ...] = (
        ("trajectories", "Condition means in principal components; dots: time 0",
         lambda: (figures.trajectories(network.activity), None)),
        ("units", "Activity by condition of six units, with SEM over trials",
         lambda: (figures.units(network.activity), None)),
        ("decoding", "Cross-temporal decoding: network, untrained network, inputs",
         lambda: (figures.decoding({"network": network.activity, "untrained": naive.activity,
                                    "inputs": one.systems["inputs"][0].activity}), None)),
        ("fixed-points", "Fixed points for the mean input of each condition; grey: condition means",
         lambda: figures.points(one.network, network.activity, one.inputs)),
    )  # fmt: skip
    targets = []
    out.mkdir(parents=True, exist_ok=True)
    with Progress("figures", len(makers)) as bar:
        for k, (name, title, make) in enumerate(makers):
            bar.show(k, name)
            try:
                figure, rows = make()
            except NeurogymError as error:
                findings.append(Finding(name, title, why_not=str(error)))
                continue
            table = None if rows is None else pd.DataFrame(rows)
            findings.append(Finding(name, title, table=table, figure=figure))
            targets.append(save_figure(figure, out / f"{name}.png"))
    title = f"Units of {facts['networks']} and published signatures of neurons"
    return write_report(out, title, facts, findings), targets
