"""``ngym likeness``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neurogym_core.tools import (
    Progress,
    print_report,
    read_conditions,
    read_split,
    usage_errors,
)
from neurogym_study.options import (
    ROLES,
    figure_options,
    given_of,
    is_trials,
    json_option,
    made_task,
    played_options,
    print_paragraph,
    read_given,
    recipe_options,
    role_options,
    say_figures,
    write_given_figures,
)

if TYPE_CHECKING:
    from neurogym_core import Task
    from neurogym_study.behaviour import Behaviour
    from neurogym_study.bits import Likeness
    from neurogym_study.playing import Played


@click.command(
    "likeness", short_help="Compare a network or subject with published signatures of animals."
)
@click.argument("what", metavar="[RUN...|TASK|FILE]", nargs=-1)
@click.option("--list", "listing", is_flag=True, help="List the signatures.")
@played_options("Approximate number of trials of each seed or run.", "First seed.")
@click.option(
    "--seeds",
    default=5,
    show_default=True,
    type=click.IntRange(min=1),
    help="Number of seeds of a subject; not for a RUN.",
)
@click.option("--task", metavar="NAME", help="Task of the trials of a FILE that does not name it.")
@click.option(
    "--animals",
    metavar="FILE",
    help="Trials of animals or people in this task. The subject is scored against them, in bits per"
    " trial, and plays in a process that sees observations and rewards only.",
)
@click.option(
    "--by",
    metavar="COLUMN",
    help="A condition besides the strength in which the animals are scored, such as the modality.",
)
@recipe_options
@role_options
@figure_options
@json_option
@click.option(
    "--out",
    default="likeness",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the report.",
)
def command(what: tuple[str, ...], listing: bool, out: Path, **given: Any) -> None:
    """Compare behaviour with published signatures of animals.

    A RUN is a folder that `ngym train --out` wrote; runs with several seeds may be given. A TASK is
    played by a reference subject, with several seeds. A FILE has trials; its subjects count as
    seeds, or with --pool as one.

    \b
    ngym likeness --list
    ngym likeness RoitmanShadlen-v0 --subject diffusion
    ngym likeness run-1 run-2 run-3
    ngym likeness trials.csv
    ngym likeness RoitmanShadlen-v0 --subject diffusion --animals monkeys.csv

    With --animals, the report begins with a score. It is the mean, over the animals' trials, of the
    bits that the subject's choices and reaction times tell about theirs: 0 for a guesser with the
    animal's reaction times, 1 for another animal. Without reaction times, choices alone count.
    --recipe, --map, --scale and the columns --strength, --side, --right are those of the FILE.

    For each signature, the report has the effect of the subject with its interval over seeds, that
    of each animal, and verdicts: whether the sign is the published one, and whether the effect is
    within the animals' range (yes, no, cannot tell). The animals are scored against each other. It
    names the signatures that could not be tested, with the reason. The report is report.html, with
    CSV files and likeness.json.

    --json prints an object with the keys schema (1), command, facts, tested (the signatures, with
    rows: who, kind, value, low, high, n, sign, within), untested (name -> reason), report and
    figures; the same is in likeness.json. With --animals it has the key score, too (score, low,
    high, reference, ceiling, bound, doubts, seeds, animals). Missing and infinite numbers are null.
    With --list it prints an object with schema, command, and the list signatures.
    """
    if listing:
        _list(given["as_json"])
        return
    if not what:
        raise click.UsageError(
            "No RUN, TASK or FILE was given. Expected one, or several runs. `ngym likeness --list`"
            " shows the signatures."
        )
    _check(what, given)
    if is_trials(what[0]):
        behaviours, subject, task = _of_file(what[0], given)
    elif Path(what[0]).is_dir():
        behaviours, subject, task = _of_runs(what, given)
    else:
        behaviours, subject, task = _of_task(what[0], given)
    _report(behaviours, subject, task, what, out, given)


def _list(as_json: bool) -> None:
    from neurogym_study.report import SCHEMA
    from neurogym_study.signatures import signatures

    if as_json:
        rows = [
            {
                "name": one.name,
                "title": one.title,
                "tasks": one.tasks,
                "animals": [animal.name for animal in one.animals],
                "citation": one.citation,
                "doi": one.doi,
            }
            for one in signatures()
        ]
        print_report({"schema": SCHEMA, "command": "likeness --list", "signatures": rows})
        return
    for one in signatures():
        many = f"{len(one.animals)} animals or groups" if one.animals else "sign only"
        click.echo(f"{one.name}: {one.title} ({', '.join(one.tasks)}; {many}). {one.citation}")


def _check(what: tuple[str, ...], given: dict[str, Any]) -> None:
    """Raise an error if options of one kind of argument are given with another."""
    kinds = {"file" if is_trials(one) else "run" if Path(one).is_dir() else "task" for one in what}
    if len(what) > 1 and kinds != {"run"}:
        absent = next(one for one in what if not Path(one).is_dir())
        raise click.UsageError(
            f"{len(what)} arguments were given. Expected one TASK, one FILE, or runs;"
            f" {absent!r} is not the folder of a run. Give tasks and files one by one."
        )
    kind = kinds.pop()
    if kind == "file" and (written := given_of(("n_trials", "seed", "which", "seeds"))):
        raise click.UsageError(
            f"{', '.join(written)} was given with the file {what[0]!r}, all of whose trials are"
            " scored. Leave it out."
        )
    of_file = ("task", "recipe", "columns", "scales", *ROLES)
    of_task = ("subject", "parameters", "timing", "wrap", "conditions", "split", "design")
    unused = of_file[:1] if given["animals"] else of_file  # the others read the animals' FILE
    wrong = {"file": of_task, "run": (*of_task[:4], *unused), "task": unused}[kind]
    if given["by"] and not given["animals"]:
        raise click.UsageError(
            f"--by {given['by']} was given without --animals. Expected it with a score against"
            " animals. Add --animals FILE, or leave it out."
        )
    flags = {"parameters": "set", "conditions": "condition", "columns": "map", "scales": "scale"}
    named = [f"--{flags.get(name, name)}" for name in wrong if given[name]]
    if named:
        raise click.UsageError(
            f"{', '.join(named)} was given with the {kind} {what[0]!r}, which does not use it."
            " Leave it out."
        )


def _of_file(path: str, given: dict[str, Any]) -> tuple[dict[str, Behaviour], str, str]:
    from neurogym_study.behaviour import Behaviour, Roles

    record = read_given(Path(path), given["recipe"], given["columns"], given["scales"])
    subject = str(record.meta.get("subject", Path(path).stem))
    behaviour = Behaviour(record, Roles(**{name: given[name] for name in (*ROLES, "by")}))
    behaviours = {subject: behaviour} if given["pool"] else behaviour.per_subject()
    return behaviours, subject, str(given["task"] or record.meta.get("task", ""))


def _of_runs(what: tuple[str, ...], given: dict[str, Any]) -> tuple[dict[str, Behaviour], str, str]:
    from neurogym_study.behaviour import Behaviour, Roles
    from neurogym_study.playing import play_run
    from neurogym_study.runs import Run

    found, tasks, kinds = {}, set(), {}
    with usage_errors():
        imposed = read_conditions(given["conditions"])
        with Progress("runs", len(what)) as bar:
            for k, folder in enumerate(what):
                bar.show(k)
                run = Run.open(Path(folder))
                kinds.setdefault(run.kind(), folder)
                how = {
                    "seed": given["seed"] + k,
                    "split": read_split(given["split"]),
                    "imposed": imposed,
                    "design": given["design"],
                }
                if given["animals"]:
                    trained = ("trained", {"run": folder, "which": given["which"]})
                    trainer = run.trainer()
                    played = _blind(
                        trainer.tasks[given["which"]], trained, given["n_trials"], **how
                    )
                    name = f"{run.experiment.trainer} after {trainer.done} {trainer.unit}"
                    played = replace(played, subject=name)
                else:
                    played = play_run(run, given["n_trials"], which=given["which"], **how)
                found[folder] = Behaviour(played.record, Roles.of_task(played.task, by=given["by"]))
                tasks.add(played.task.name)
    if len(tasks) > 1:
        raise click.UsageError(
            f"The runs have the tasks {', '.join(sorted(tasks))}. Expected one task. Give runs of"
            " one task."
        )
    if len(kinds) > 1:
        first, other = list(kinds.values())[:2]
        raise click.UsageError(
            f"The runs {first} and {other} differ in more than their seed and length. Expected"
            " seeds of one subject, which are scored together. Score different subjects apart."
        )
    return found, played.subject, tasks.pop()


def _of_task(name: str, given: dict[str, Any]) -> tuple[dict[str, Behaviour], str, str]:
    from neurogym_core import make_task
    from neurogym_study.behaviour import Behaviour, Roles
    from neurogym_study.playing import play_task

    subject = given["subject"] or "guess"
    task = made_task(name, given["parameters"], given["timing"])
    found = {}
    with usage_errors():
        task = make_task(task, wrap=given["wrap"])
        imposed = read_conditions(given["conditions"])
        with Progress("seeds", given["seeds"]) as bar:
            for k in range(given["seeds"]):
                bar.show(k)
                seed = given["seed"] + k
                play = _blind if given["animals"] else play_task
                played = play(
                    task, subject, given["n_trials"], seed=seed,
                    split=read_split(given["split"]), imposed=imposed, design=given["design"],
                )  # fmt: skip
                found[f"seed {seed}"] = Behaviour(
                    played.record, Roles.of_task(task, by=given["by"])
                )
    return found, str(subject), task.name


def _blind(task: Task, subject: Any, n_trials: int, *, seed: int, **how: Any) -> Played:
    """Play a task as `play_task` does, with a subject in a process without the task."""
    from neurogym_study.blind import BlindPlayer
    from neurogym_study.playing import play_task

    with BlindPlayer(subject, seed=seed) as player:
        return play_task(task, player, n_trials, seed=seed, **how)


def _score(
    behaviours: dict[str, Behaviour], given: dict[str, Any]
) -> tuple[Likeness, dict[str, str]]:
    """Return the score against the animals' file, and facts about it."""
    from neurogym_study.behaviour import Behaviour, CannotTellError, Roles
    from neurogym_study.bits import score_of

    path = given["animals"]
    with usage_errors():
        record = read_given(Path(path), given["recipe"], given["columns"], given["scales"])
        animals = Behaviour(
            record, Roles(**{name: given[name] for name in (*ROLES, "by")})
        ).per_subject()
        with Progress("pairs of subjects and animals", len(animals) + len(behaviours)) as bar:
            try:
                found = score_of(behaviours, animals, progress=lambda done, _: bar.show(done))
            except CannotTellError as error:
                raise click.UsageError(f"No score against {path}: {error}.") from error
    return found, {"animals": f"{path}: {len(animals)} animals, {len(record):,} trials"}


def _report(
    behaviours: dict[str, Behaviour],
    subject: str,
    task: str,
    what: tuple[str, ...],
    out: Path,
    given: dict[str, Any],
) -> None:
    from neurogym_plot.styles import figure_style

    from neurogym_study.behaviour import DESIGN
    from neurogym_study.bits import said, scored_finding
    from neurogym_study.curves import training_finding
    from neurogym_study.likenesses import as_data, counted, findings_of, score, write_likeness
    from neurogym_study.report import SCHEMA
    from neurogym_study.signatures import signatures

    with usage_errors():
        known = signatures()
        with Progress("signatures", len(known)) as bar:
            scores = []
            for one in known:
                bar.show(len(scores), one.title)
                scores.append(score(one, behaviours, subject, task))
    trials = ", ".join(str(len(one)) for one in behaviours.values())
    facts = {"subject": subject, "task": task or what[0], "seeds or subjects": len(behaviours),
             "trials of each": trials}  # fmt: skip
    splits = {one.record.meta["split"] for one in behaviours.values() if "split" in one.record.meta}
    if splits:
        facts["split"] = ", ".join(sorted(str(one or "none") for one in splits))
    designs = {str(one.record.meta.get(DESIGN, "")) for one in behaviours.values()} - {""}
    if designs:
        facts["design"] = ", ".join(sorted(designs))
    scored = None
    if given["animals"]:
        scored, more_facts = _score(behaviours, given)
        facts |= more_facts
    with figure_style(given["style"]):
        findings = findings_of(scores)
        if scored is not None:
            findings.insert(0, scored_finding(scored, subject))
        if Path(what[0]).is_dir():
            findings.append(training_finding([Path(run) for run in what]))
        title = f"Likeness of {subject} to animals"
        target = write_likeness(out, title, facts, scores, findings, scored)
    figures = write_given_figures(given["figure"], given["style"], findings)
    if given["as_json"]:
        data = as_data(facts, scores, scored)
        more = {"report": target, "figures": figures or []}
        print_report({"schema": SCHEMA, "command": "likeness", **data, **more})
        return
    say_figures(figures)
    for sentence in said(scored, subject) if scored is not None else ():
        print_paragraph(sentence)
    for one in scores:
        if one.rows:
            row = one.subject
            verdicts = f"sign {row.sign}" + (
                f", within the animals' range: {row.within}" if row.within else ", sign only"
            )
            print_paragraph(
                f"{one.signature.title}: {row.value:.3g} [{row.low:.3g}, {row.high:.3g}]"
                f" {one.signature.unit}".rstrip()
                + f"; {verdicts}"
                + (f". {one.signature.caution}" if one.signature.caution else "")
            )
            for animal in one.rows:
                if animal.kind == "animal":
                    print_paragraph(
                        f"{animal.who}: {animal.value:.3g} [{animal.low:.3g}, {animal.high:.3g}];"
                        f" within the others' range: {animal.within or 'no other'}",
                        indent=2,
                    )
    click.echo(counted(scores))
    for one in scores:
        if not one.rows and (not task or one.signature.applies_to(task)):
            print_paragraph(f"Not tested: {one.signature.title}: {one.why_not}.")
    click.echo(f"The report is {target}.")
