"""``ngym evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from neurogym_records.options import (
    ROLES,
    figure_options,
    given_of,
    is_trials,
    json_option,
    made_task,
    named,
    played_options,
    read_given,
    recipe_options,
    role_options,
    say_figures,
    say_findings,
    write_given_figures,
)

from neurogym_core.tools import (
    csv_option,
    print_json,
    read_conditions,
    read_split,
    usage_errors,
)

if TYPE_CHECKING:
    from neurogym_training.playing import Played


@click.command(
    "evaluate", short_help="Report the behaviour of a network, a subject, or a lab's animals."
)
@click.argument("what", metavar="RUN|TASK|FILE")
@played_options("Approximate number of trials.", "Seed of the trials.")
@click.option(
    "--steps",
    is_flag=True,
    help="Record every step of a TASK (slower), for the psychophysical kernel.",
)
@recipe_options
@role_options
@click.option(
    "--by", metavar="COLUMN", help="A condition: a psychometric function for each of its values."
)
@csv_option
@figure_options
@json_option
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the report.  [default: RUN/evaluation, or evaluation]",
)
def command(what: str, csv: Path | None, out: Path | None, **given: Any) -> None:
    """Write a report of the behaviour in a task, or in a file of trials.

    RUN is a folder that `ngym train --out` wrote; its network or agent plays. A TASK is played by a
    reference subject. A FILE (.csv, .tsv, .txt, .parquet, .pqt, .xlsx, .json, .mat, .nwb) has a
    record, or a lab's trials.

    \b
    ngym evaluate run
    ngym evaluate PerceptualDecisionMaking-v0 --subject integrator --csv ideal.csv
    ngym evaluate mice.csv --recipe ibl --figure mice.pdf --style paper
    ngym evaluate lab.csv --map correct="feedback > 0" --map contrast="100 * c"

    The report of a RUN has its learning curve, with those of runs beside it that differ only in
    the seed.

    If a FILE has several subjects (column subject), numbers are means over subjects, with t
    intervals and the standard deviation between subjects. --pool analyses all trials as those of
    one.

    Trials are drawn by the task, with its probabilities, or (--design balanced) all combinations of
    its conditions, equally often and shuffled. Measures of their sequence (history, side bias,
    performance over the trials) need drawn trials. If a trial has several answers, each number is
    of the slot that is named, by default of the last.

    The report is report.html, with a CSV file for each analysis; analyses that the task does not
    support give the reason. --json prints an object with the keys schema (1), command, title, facts
    (task, subject, trials, seed, design, …), slot, findings, report, trials (the file of --csv) and
    figures. A finding has name, title, skipped (the reason, or null), notes and table (a list of
    rows). Missing numbers are null.
    """
    is_run, is_file = Path(what).is_dir(), is_trials(what)
    _check(is_run, is_file, what, given)
    if is_file:
        played = _read(Path(what), given)
    else:
        played = _played_run(Path(what), given) if is_run else _played_task(what, given)
    folder = out or (Path(what) / "evaluation" if is_run else Path("evaluation"))
    _report(played, folder, csv, given, Path(what) if is_run else None)


def _check(is_run: bool, is_file: bool, what: str, given: dict[str, Any]) -> None:
    """Raise an error if options of a TASK are given with a RUN or FILE, or the reverse."""
    options = ("subject", "parameters", "timing", "wrap", "steps", "conditions", "split", "design")
    names = options[: 5 if is_run else 8] if is_run or is_file else ("recipe", "columns", "scales")
    flags = {"parameters": "set", "conditions": "condition", "columns": "map", "scales": "scale"}
    wrong = [f"--{flags.get(name, name)}" for name in names if given[name]]
    if is_file:
        wrong += given_of(("n_trials", "seed", "which"))
    if wrong:
        kind = "run" if is_run else "file" if is_file else "task"
        raise click.UsageError(
            f"{', '.join(wrong)} was given with the {kind} {what!r}. A {kind}"
            f" {'is played' if kind == 'task' else 'keeps its settings'}. Leave it out."
        )


def _read(path: Path, given: dict[str, Any]) -> Played:
    from neurogym_training.playing import Played

    record = read_given(path, given["recipe"], given["columns"], given["scales"])
    subject = str(record.meta.get("subject", "the subjects of the file"))
    facts = {"file": str(path), "trials": len(record), **record.meta}
    return Played(named(record, path), None, subject, facts)


def _played_run(folder: Path, given: dict[str, Any]) -> Played:
    from neurogym_training.playing import play_run
    from neurogym_training.runs import Run

    with usage_errors():
        run = Run.open(folder)
        return play_run(
            run,
            given["n_trials"],
            which=given["which"],
            seed=given["seed"],
            split=read_split(given["split"]),
            imposed=read_conditions(given["conditions"]),
            design=given["design"],
        )


def _played_task(name: str, given: dict[str, Any]) -> Played:
    from neurogym_core import UnknownTaskError, make_task
    from neurogym_training.playing import play_task

    try:
        task = made_task(name, given["parameters"], given["timing"])
    except UnknownTaskError as error:
        raise UnknownTaskError(
            f"{name!r} is no folder of a run, no file of trials and no task. {error}"
        ) from None
    with usage_errors():
        task = make_task(task, wrap=given["wrap"])
        return play_task(
            task,
            given["subject"] or "guess",
            given["n_trials"],
            seed=given["seed"],
            split=read_split(given["split"]),
            imposed=read_conditions(given["conditions"]),
            steps=given["steps"],
            design=given["design"],
        )


def _report(
    played: Played, folder: Path, csv: Path | None, given: dict[str, Any], trained: Path | None
) -> None:
    from neurogym_behaviour.analyses import analyse
    from neurogym_behaviour.behaviour import Behaviour, Roles
    from neurogym_behaviour.report import SCHEMA, findings_data, write_report
    from neurogym_plot.styles import figure_style
    from neurogym_records.exchange import write_csv

    from neurogym_training.curves import seeds_of, tasks_finding, training_finding

    with usage_errors():
        chosen = {name: given[name] for name in (*ROLES, "by")}
        roles = Roles(**chosen) if played.task is None else Roles.of_task(played.task, **chosen)
        behaviour = Behaviour(played.record, roles)
    with figure_style(given["style"]):
        findings = analyse(behaviour)
        if trained is not None:
            runs = seeds_of(trained)
            each = tasks_finding(runs)
            findings[:0] = [training_finding(runs), *([] if each is None else [each])]
    if csv is not None:
        write_csv(played.record, csv)
    name = played.facts["file"] if played.task is None else played.task.name
    title = f"{name}, {'' if played.task is None else 'played by '}{played.subject}"
    facts = played.facts if behaviour.slot is None else {**played.facts, "slot": behaviour.slot}
    target = write_report(folder, title, facts, findings)
    figures = write_given_figures(given["figure"], given["style"], findings)
    if given["as_json"]:
        print_json(
            {
                "schema": SCHEMA,
                "command": "evaluate",
                "title": title,
                "facts": facts,
                "slot": behaviour.slot,
                "findings": findings_data(findings),
                "report": target,
                "trials": csv,
                "figures": figures or [],
            }
        )
        return
    if "design" in facts:
        click.echo(f"Trials: {facts['trials']}, {facts['design']}.")
    say_findings(findings)
    say_figures(figures)
    click.echo(
        f"The report is {target}." + (f" The trials are in {csv}." if csv is not None else "")
    )
