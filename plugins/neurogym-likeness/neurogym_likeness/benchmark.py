"""``ngym benchmark``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from neurogym_records.options import (
    json_option,
    made_task,
    print_paragraph,
    read_given,
    recipe_options,
)

from neurogym_core import NeurogymError
from neurogym_core.tools import (
    Progress,
    how_to_install,
    print_json,
    usage_errors,
)

if TYPE_CHECKING:
    from neurogym_likeness.benchmarks import Benchmark
    from neurogym_likeness.bits import Seed

SCHEMA = 1
DATA = "neurogym-data"
"""Package with data sets and benchmarks."""
KINDS = ("choices and times", "choices", "reports", "rewards")
"""Those of `neurogym_likeness.bits`, which imports NumPy."""


@click.group("benchmark", short_help="List, show, check and add frozen benchmarks of likeness.")
def command() -> None:
    """List, show, check and add frozen benchmarks, for `ngym likeness SUBJECT --benchmark NAME`.

    A benchmark fixes a task with its settings, the trials and seeds that a subject plays, and the
    trials of animals or people. It has a version and a digest; a file that was changed is refused.
    """


@command.command("list")
@json_option
def list_them(as_json: bool) -> None:
    """List the benchmarks of installed packages, and of the folder `benchmarks`.

    --json prints an object with the keys schema (1), command, benchmarks (name, version, digest,
    title, kind, task, animals), and unusable (name -> why its file cannot be used).
    """
    from neurogym_likeness.benchmarks import benchmark, benchmark_names

    known, unusable = [], {}
    for name in benchmark_names():
        try:
            known.append(benchmark(name))
        except NeurogymError as error:
            unusable[name] = str(error)
    if as_json:
        rows = [_facts(one) for one in known]
        print_json({
            "schema": SCHEMA, "command": "benchmark list", "benchmarks": rows, "unusable": unusable,
        })  # fmt: skip
        return
    for name, why in unusable.items():
        click.echo(f"{name} cannot be used: {why}", err=True)
    for one in known:
        click.echo(f"  {one.name}, version {one.version}: {one.title} ({one.kind}; {one.task})")
    if not known and not unusable:
        click.echo(f"No benchmark is installed. Five are in a package: {how_to_install(DATA)}.")


def _facts(one: Benchmark) -> dict[str, Any]:
    return {
        "name": one.name,
        "version": one.version,
        "digest": one.digest,
        "title": one.title,
        "kind": one.kind,
        "task": one.task,
        "animals": one.animals.get("data", one.animals.get("file")),
    }


@command.command()
@click.argument("name", metavar="NAME|FILE")
@json_option
def show(name: str, as_json: bool) -> None:
    """Show the task, the trials and the animals of a benchmark.

    --json prints an object with the keys schema (1), command, and those of `list` with parameters,
    timing, trials, seeds, conditions, hides, differences, and of_animals (the table of its file).
    """
    from neurogym_likeness.benchmarks import benchmark

    with usage_errors():
        one = benchmark(name)
        population = one.population()
    if as_json:
        more = {
            "parameters": one.parameters, "timing": one.timing, "trials": one.number,
            "seeds": one.seeds, "conditions": one.conditions, "hides": one.hides,
            "differences": one.differences, "of_animals": one.animals,
        }  # fmt: skip
        data = {"schema": SCHEMA, "command": "benchmark show", **_facts(one), **more}
        print_json(data)
        return
    settings = ", ".join(f"{key}={value}" for key, value in one.parameters.items())
    drawn = "as the task draws them" if not one.conditions else "as those of the animals"
    total = sum(map(len, population.values()))
    groups = f" in {len(population)} groups" if one.animals.get("group", 1) > 1 else ""
    many = len({str(name) for name in one.trials()["subject"].tolist()})
    for line in (
        f"{one}: {one.title}",
        f"Scored: {one.kind}",
        f"Task: {one.task} with {settings}"
        + (f"; subjects may not read {' and '.join(one.hides)}" if one.hides else ""),
        f"Trials: {one.number:,} of each of {len(one.seeds)} seeds, {drawn}",
        f"Animals: {many}{groups}, {total:,} trials of"
        f" {one.animals.get('data', one.animals.get('file'))}",
        f"Differences from the task of the animals: {one.differences or 'none are noted'}",
    ):
        print_paragraph(line)


@command.command()
@click.argument("name", metavar="NAME|FILE")
@json_option
@click.pass_context
def check(context: click.Context, name: str, as_json: bool) -> None:
    """Score the animals of a benchmark, each held out, and cheats that must not pass.

    Each animal is scored against the others; they should be near 1. The animals' pooled trials have
    to pass. The cheats are made from these trials: fixed times, guesses, one side and others of
    that kind. One of them, the clock alone, looks at no observation, and answers by the moments at
    which it is asked. Intervals have 95 %, over blocks of trials and animals. Exit code 1: a cheat
    passes, or the animals do not.

    --json prints an object with the keys schema (1), command, benchmark, bound, reference, ceiling,
    animals and controls (name -> score, low, high, choice, added, reverse; of controls, alike too),
    and failures. choice, added and reverse are bits per trial.
    """
    from neurogym_likeness.benchmarks import CannotTellError, benchmark
    from neurogym_likeness.bits import animals_held_out
    from neurogym_likeness.controls import HONEST, failures, score_controls

    with usage_errors(), Progress("controls and animals", 20) as bar:
        one = benchmark(name)
        try:
            held = animals_held_out(one.population(), kind=one.kind)
            scores = score_controls(one, progress=lambda done, _: bar.show(done))
        except CannotTellError as error:
            raise click.UsageError(f"No score in {one}: {error}.") from error
    wrong, honest = failures(scores), scores[HONEST]
    if as_json:
        print_json({
            "schema": SCHEMA, "command": "benchmark check", "benchmark": str(one),
            "bound": honest.bound, "reference": honest.reference, "ceiling": honest.ceiling,
            "animals": {
                animal.name: {**_bits(animal),
                              **dict(zip(("score", "low", "high"), held[animal.name], strict=True))}
                for animal in honest.animals
            },
            "controls": {
                name: {"score": found.seeds[0].score, "low": found.low, "high": found.high,
                       **_bits(found.seeds[0]), "alike": found.alike(found.seeds[0])}
                for name, found in scores.items()
            },
            "failures": wrong,
        })  # fmt: skip
        context.exit(1 if wrong else 0)
    click.echo(f"{one}: {one.title}")
    click.echo(f"1 is {honest.reference:.3f} bits per trial; unlike the animals below"
               f" {honest.bound:.2f}")  # fmt: skip
    for animal, (score, low, high) in held.items():
        click.echo(f"  {animal}, held out: {score:.2f} [{low:.2f}, {high:.2f}]")
    for control, found in scores.items():
        verdict = "passes" if found.alike(found.seeds[0]) else "does not pass"
        interval = f"[{found.low:.2f}, {found.high:.2f}]"
        reverse = found.seeds[0].reverse
        also = f"; reverse divergence {reverse:.2f} bits" if found.timed else ""
        click.echo(f"  {control}: {found.seeds[0].score:.2f} {interval}, {verdict}{also}")
    for sentence in wrong:
        click.echo(f"Wrong: {sentence}.")
    context.exit(1 if wrong else 0)


def _bits(seed: Seed) -> dict[str, float]:
    """Return the parts of a score, bits per trial."""
    return {"choice": seed.choice, "added": seed.added, "reverse": seed.reverse}


@command.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", required=True, help="Name of the benchmark.")
@click.option("--task", required=True, metavar="NAME", help="The task that subjects play.")
@click.option("--kind", type=click.Choice(KINDS), default=KINDS[0], show_default=True,
              help="The answers that are scored.")  # fmt: skip
@click.option("--title", default="", help="The animals and their task, in words.")
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE",
              help="A parameter of the task.")  # fmt: skip
@click.option("--timing", multiple=True, metavar="PERIOD=MS", help="Duration of a period.")
@click.option("-n", "--n-trials", default=2000, show_default=True, type=click.IntRange(min=1),
              help="Trials of each seed.")  # fmt: skip
@click.option("--seeds", default=5, show_default=True, type=click.IntRange(min=3),
              help="Number of seeds.")  # fmt: skip
@click.option("--impose", multiple=True, metavar="CONDITION=COLUMN",
              help="Play the animals' values of this column as a condition.")  # fmt: skip
@click.option("--strength", help="The column with the strength of the evidence.")
@click.option("--side", help="The column with the correct side.")
@click.option("--right", metavar="VALUE", help="The value of the side that is called right.")
@click.option("--by", metavar="COLUMN", help="Another condition of the trials, e.g. the modality.")
@click.option("--unit", type=float, metavar="FACTOR",
              help="Strength of the task that is 1 of the animals'.")  # fmt: skip
@click.option("--group", type=click.IntRange(min=2), metavar="N",
              help="Score groups of N animals that have few trials each.")  # fmt: skip
@click.option(
    "--hide-asked",
    is_flag=True,
    help="Do not tell subjects when an answer is asked for, as always with reports.",
)
@click.option("--hold-out", multiple=True, metavar="SUBJECT",
              help="Keep the trials of this animal for `ngym likeness --last-test`.")  # fmt: skip
@click.option("--differences", default="", help="Differences from the animals' task, in words.")
@recipe_options
@click.option("-o", "--out", default="benchmarks", show_default=True,
              type=click.Path(file_okay=False, path_type=Path),
              help="Folder of the benchmark.")  # fmt: skip
def add(file: Path, **given: Any) -> None:
    """Make a frozen benchmark from the trials of a laboratory.

    FILE has the trials of five or more animals, with the columns subject, outcome or correct,
    and those of `ngym evaluate`. NAME.toml has the settings and the digests, and NAME.csv the
    trials; keep both together. A name that exists is refused: a changed benchmark is another one.

    \b
    ngym benchmark add mice.csv --recipe ibl --name my-mice --task IBL-v0 --kind choices
    ngym benchmark check my-mice
    ngym likeness run-1 run-2 run-3 --benchmark my-mice

    The kinds are `choices and times`, for two choices with reaction times; `choices`, where these
    do not count; `reports`, with the columns wanted and reaction_time; and `rewards`, for choices
    among options that pay, with the columns choice and reward.
    """
    from neurogym_likeness.adding import add_benchmark
    from neurogym_likeness.bits import LEAST_ANIMALS

    task = made_task(given["task"], given["parameters"], given["timing"])
    record = read_given(file, given["recipe"], given["columns"], given["scales"])
    with usage_errors():
        made = add_benchmark(
            record, task, name=given["name"], task_name=given["task"], kind=given["kind"],
            title=given["title"] or given["name"], number=given["n_trials"],
            n_seeds=given["seeds"], conditions=dict(_pair(one) for one in given["impose"]),
            roles={key: given[key] for key in ("strength", "side", "right", "by") if given[key]},
            scale=given["unit"], group=given["group"], hold_out=given["hold_out"],
            differences=given["differences"], folder=given["out"], hide_asked=given["hide_asked"],
        )  # fmt: skip
        many = len(made.population())
    click.echo(f"{made} is in {made.path}. Check it: ngym benchmark check {made.path}")
    if many < LEAST_ANIMALS:
        what = "groups" if given["group"] else "animals"
        print_paragraph(
            f"WARNING: {many} {what} allow numbers and no verdict, which needs {LEAST_ANIMALS}."
            + (" `ngym benchmark check` needs three." if many < 3 else "")
        )


def _pair(text: str) -> tuple[str, str]:
    name, equals, column = text.partition("=")
    if not (name and equals and column):
        raise click.UsageError(
            f"--impose was given {text!r}. Expected a condition and a column. Write"
            " --impose coherence=coh."
        )
    return name, column
