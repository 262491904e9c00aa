"""``ngym likeness``."""

from __future__ import annotations

import secrets
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
    played_options,
    print_paragraph,
    read_given,
    recipe_options,
    role_options,
    say_figures,
    write_given_figures,
)

from neurogym_core.tools import (
    Progress,
    SubjectName,
    print_json,
    read_conditions,
    read_split,
    usage_errors,
)

MOST_DRAWN = 10**12
"""Largest number from which the trials of a score are drawn."""

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neurogym_behaviour.behaviour import Behaviour

    from neurogym_likeness.benchmarks import Benchmark
    from neurogym_likeness.bits import Likeness


@click.command(
    "likeness", short_help="Score a network or subject beside animals: a benchmark, and signatures."
)
@click.argument("what", metavar="[RUN...|SUBJECT|TASK|FILE]", nargs=-1)
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
    "--benchmark",
    metavar="NAME|FILE",
    help="Score a SUBJECT or RUNs in this frozen benchmark, in bits per trial of the animals."
    " `ngym benchmark list` shows the names.",
)
@click.option(
    "--trials",
    "drawn",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="With --benchmark: play the trials of an earlier score, whose report has the number. By"
    " default each score has new trials, so that no subject can know them.",
)
@click.option(
    "--last-test",
    is_flag=True,
    help="With --benchmark: score against the animals that are held out for one last test.",
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
    """Score behaviour beside that of animals, in a benchmark and on published signatures.

    A RUN is a folder that `ngym train --out` wrote; runs with several seeds may be given. A SUBJECT
    is named as in `ngym run`. Without --benchmark, a TASK is played by the --subject, with several
    seeds, and a FILE has trials; its subjects count as seeds, or with --pool as one.

    \b
    ngym likeness integrator --benchmark clicks-rats
    ngym likeness run-1 run-2 run-3 --benchmark clicks-rats
    ngym likeness RoitmanShadlen-v0 --subject diffusion
    ngym likeness trials.csv
    ngym likeness --list

    With --benchmark, the report begins with a score. The benchmark fixes the task with its
    settings, the number of trials and the animals. Each score has new trials, so that a subject
    cannot know them, and it plays in a process that sees observations and rewards only; --trials
    repeats those of an earlier score. The score is the mean, over the animals' trials, of the bits
    that the subject's answers tell about theirs: 0 for a guesser who knows no condition, 1 for
    another animal. `ngym benchmark show NAME` says what is scored.

    For each signature, the report has the effect of the subject with its interval over seeds, that
    of each animal, and verdicts: whether the sign is the published one, and whether the effect is
    within the animals' range (yes, no, cannot tell). The animals are scored against each other. It
    names the signatures that could not be tested, with the reason. The report is report.html, with
    CSV files and likeness.json.

    --json prints an object with the keys schema (1), command, facts, tested (the signatures, with
    rows: who, kind, value, low, high, n, sign, within), untested (name -> reason), report and
    figures; the same is in likeness.json. With --benchmark it has the key score, too (score,
    low, high, reference, ceiling, bound, doubts, seeds, animals). Missing and infinite numbers are
    null. With --list it prints an object with schema, command, and the list signatures.
    """
    if listing:
        _list(given["as_json"])
        return
    if not what:
        raise click.UsageError(
            "No RUN, TASK or FILE was given. Expected one, or several runs. `ngym likeness --list`"
            " shows the signatures."
        )
    if given["benchmark"]:
        _report_benchmark(what, out, given)
        return
    for option, name in (("--last-test", "last_test"), ("--trials", "drawn")):
        if given[name]:
            raise click.UsageError(
                f"{option} was given without --benchmark. Expected both. Name a benchmark."
            )
    _check(what, given)
    if is_trials(what[0]):
        behaviours, subject, task = _of_file(what[0], given)
    elif Path(what[0]).is_dir():
        behaviours, subject, task = _of_runs(what, given)
    else:
        behaviours, subject, task = _of_task(what[0], given)
    _report(
        behaviours, subject, task, [Path(run) for run in what if Path(run).is_dir()], out, given
    )


def _list(as_json: bool) -> None:
    from neurogym_behaviour.report import SCHEMA

    from neurogym_likeness.signatures import signatures

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
        print_json({"schema": SCHEMA, "command": "likeness --list", "signatures": rows})
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
    wrong = {"file": of_task, "run": (*of_task[:4], *of_file), "task": of_file}[kind]
    if named := _flags(wrong, given):
        raise click.UsageError(
            f"{', '.join(named)} was given with the {kind} {what[0]!r}, which does not use it."
            " Leave it out."
        )


def _flags(names: tuple[str, ...], given: dict[str, Any]) -> list[str]:
    """Return the flags of those of these options that have a value."""
    flags = {"parameters": "set", "conditions": "condition", "columns": "map", "scales": "scale"}
    return [f"--{flags.get(name, name)}" for name in names if given[name]]


def _of_file(path: str, given: dict[str, Any]) -> tuple[dict[str, Behaviour], str, str]:
    from neurogym_behaviour.behaviour import Behaviour, Roles

    record = read_given(Path(path), given["recipe"], given["columns"], given["scales"])
    subject = str(record.meta.get("subject", Path(path).stem))
    behaviour = Behaviour(record, Roles(**{name: given[name] for name in ROLES}))
    behaviours = {subject: behaviour} if given["pool"] else behaviour.per_subject()
    return behaviours, subject, str(given["task"] or record.meta.get("task", ""))


def _of_runs(what: tuple[str, ...], given: dict[str, Any]) -> tuple[dict[str, Behaviour], str, str]:
    from neurogym_behaviour.behaviour import Behaviour, Roles
    from neurogym_training.playing import play_run
    from neurogym_training.runs import Run

    found, tasks, kinds = {}, set(), {}
    with usage_errors():
        opened = [Run.open(Path(one)) for one in what]
        _check_seeds(what, [one.experiment.seed for one in opened])
        imposed = read_conditions(given["conditions"])
        with Progress("runs", len(what)) as bar:
            for k, (folder, run) in enumerate(zip(what, opened, strict=True)):
                bar.show(k)
                kinds.setdefault(run.kind(), folder)
                how = {
                    "seed": given["seed"] + k,
                    "split": read_split(given["split"]),
                    "imposed": imposed,
                    "design": given["design"],
                }
                played = play_run(run, given["n_trials"], which=given["which"], **how)
                found[folder] = Behaviour(played.record, Roles.of_task(played.task))
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
    from neurogym_behaviour.behaviour import Behaviour, Roles
    from neurogym_training.playing import play_task

    from neurogym_core import make_task

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
                played = play_task(
                    task, subject, given["n_trials"], seed=seed,
                    split=read_split(given["split"]), imposed=imposed, design=given["design"],
                )  # fmt: skip
                found[f"seed {seed}"] = Behaviour(played.record, Roles.of_task(task))
    return found, str(subject), task.name


def _report_benchmark(what: tuple[str, ...], out: Path, given: dict[str, Any]) -> None:
    """Score a subject, or runs that are its seeds, in a benchmark, and write the report."""
    from neurogym_behaviour.behaviour import CannotTellError

    from neurogym_likeness.benchmarks import benchmark

    wrong = ("subject", "parameters", "timing", "wrap", "conditions", "split", "design", "task",
             "recipe", "columns", "scales", *ROLES)  # fmt: skip
    fixed = [*_flags(wrong, given), *given_of(("n_trials", "seed", "which", "seeds"))]
    if fixed:
        raise click.UsageError(
            f"{', '.join(fixed)} was given with --benchmark, which fixes task, trials and seeds."
            " Leave it out; name the subject first: ngym likeness SUBJECT --benchmark NAME."
        )
    if is_trials(what[0]):
        raise click.UsageError(
            f"The file {what[0]!r} was given with --benchmark. Expected a subject or runs, which"
            " play blind; how the trials of a file were made cannot be seen. Leave --benchmark out."
        )
    given["drawn"] = given["drawn"] or 1 + secrets.randbelow(MOST_DRAWN)
    with usage_errors():
        chosen = benchmark(given["benchmark"])
        behaviours, subject = _played(chosen, what, given["drawn"])
        with Progress("subjects and animals", len(behaviours)) as bar:
            try:
                found = chosen.score(
                    behaviours, last=given["last_test"], progress=lambda done, _: bar.show(done)
                )
            except CannotTellError as error:
                raise click.UsageError(f"No score in {chosen}: {error}.") from error
    runs = [Path(run) for run in what if Path(run).is_dir()]
    name = chosen.task.rpartition("/")[2]
    _report(behaviours, subject, name, runs, out, given, found, chosen)


def _check_seeds(folders: Sequence[str], seeds: Sequence[int]) -> None:
    """Refuse runs with one seed: a copy of a run is no further seed of its subject."""
    known: dict[int, str] = {}
    for folder, seed in zip(folders, seeds, strict=True):
        other = known.setdefault(seed, folder)
        if Path(other).resolve() != Path(folder).resolve():
            raise click.UsageError(
                f"The runs {other} and {folder} have the same seed, {seed}. Expected runs with"
                " different seeds. Train another one: ngym train --seed NUMBER."
            )


def _played(
    chosen: Benchmark, what: tuple[str, ...], drawn: int
) -> tuple[dict[str, Behaviour], str]:
    """Return the behaviour of the seeds of a subject, or of runs, and the name of the subject."""
    from neurogym_training.runs import Run

    folders = [one for one in what if Path(one).is_dir()]
    if len(what) > 1 and len(folders) < len(what):
        absent = next(one for one in what if one not in folders)
        raise click.UsageError(
            f"{len(what)} arguments were given with --benchmark. Expected one SUBJECT, or runs;"
            f" {absent!r} is not the folder of a run. Give subjects one by one."
        )
    if len(folders) > len(chosen.seeds):
        raise click.UsageError(
            f"{len(folders)} runs were given. Expected {len(chosen.seeds)} at most, the number of"
            f" seeds of {chosen}. Leave some out."
        )
    if folders:
        opened = [Run.open(Path(one)) for one in folders]
        _check_seeds(folders, [one.experiment.seed for one in opened])
        if len({one.kind() for one in opened}) > 1:
            raise click.UsageError(
                f"The runs {', '.join(folders)} differ in more than their seed and length. Expected"
                " seeds of one subject. Score different subjects apart."
            )
        subjects = {one: ("trained", {"run": one}) for one in folders}
        trainer = opened[0].trainer()
        name = f"{opened[0].experiment.trainer} after {trainer.done} {trainer.unit}"
    else:
        parsed = SubjectName().convert(what[0], None, None)
        subjects = {f"seed {seed}": parsed for seed in chosen.seeds}
        name = what[0]
    found = {}
    with Progress("seeds", len(subjects)) as bar:
        for k, (seed, subject) in enumerate(subjects.items()):
            bar.show(k)
            found[seed] = chosen.play(subject, chosen.seeds[k], drawn)
    return found, name


def _report(
    behaviours: dict[str, Behaviour],
    subject: str,
    task: str,
    runs: list[Path],
    out: Path,
    given: dict[str, Any],
    scored: Likeness | None = None,
    in_benchmark: Benchmark | None = None,
) -> None:
    from neurogym_behaviour.behaviour import DESIGN
    from neurogym_behaviour.report import SCHEMA
    from neurogym_plot.styles import figure_style
    from neurogym_training.curves import training_finding

    from neurogym_likeness.bits import said, scored_finding
    from neurogym_likeness.likenesses import as_data, counted, findings_of, score, write_likeness
    from neurogym_likeness.signatures import signatures

    with usage_errors():
        known = signatures()
        if in_benchmark is not None:
            known = [one for one in known if one.name in in_benchmark.signatures]
        with Progress("signatures", len(known)) as bar:
            scores = []
            for one in known:
                bar.show(len(scores), one.title)
                scores.append(score(one, behaviours, subject, task))
    trials = ", ".join(str(len(one)) for one in behaviours.values())
    facts = {"subject": subject, "task": task or "not named", "seeds or subjects": len(behaviours),
             "trials of each": trials}  # fmt: skip
    splits = {one.record.meta["split"] for one in behaviours.values() if "split" in one.record.meta}
    if splits:
        facts["split"] = ", ".join(sorted(str(one or "none") for one in splits))
    designs = {str(one.record.meta.get(DESIGN, "")) for one in behaviours.values()} - {""}
    if designs:
        facts["design"] = ", ".join(sorted(designs))
    if in_benchmark is not None:
        facts |= {"benchmark": str(in_benchmark), "animals": in_benchmark.title,
                  "trials drawn": f"--trials {given['drawn']}"}  # fmt: skip
        if given["last_test"]:
            facts["animals"] += ", those that are held out"
    with figure_style(given["style"]):
        findings = findings_of(scores)
        if scored is not None:
            findings.insert(0, scored_finding(scored, subject))
        if runs:
            findings.append(training_finding(runs))
        title = f"Likeness of {subject} to animals"
        target = write_likeness(out, title, facts, scores, findings, scored)
    figures = write_given_figures(given["figure"], given["style"], findings)
    if given["as_json"]:
        data = as_data(facts, scores, scored)
        more = {"report": target, "figures": figures or []}
        print_json({"schema": SCHEMA, "command": "likeness", **data, **more})
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
    if scores:
        click.echo(counted(scores))
    for one in scores:
        if not one.rows and (not task or one.signature.applies_to(task)):
            print_paragraph(f"Not tested: {one.signature.title}: {one.why_not}.")
    click.echo(f"The report is {target}.")
