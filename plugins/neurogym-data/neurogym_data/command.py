"""``ngym data``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neurogym_core.tools import print_json, usage_errors

if TYPE_CHECKING:
    from neurogym_data.sets import DataSet

SCHEMA = 1


@click.command("data", short_help="List trials of animals and people, or write them to a file.")
@click.argument("name", required=False)
@click.option(
    "-o", "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the trials here."
)
@click.option("--held-out", is_flag=True, help="With --out: the trials of the held-out subjects.")
@click.option("--licence", is_flag=True, help="Print the text of the licence.")
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
def command(
    name: str | None, out: Path | None, held_out: bool, licence: bool, as_json: bool
) -> None:
    """List trials of animals and people, or write them to a file.

    Without a NAME, all data sets are listed; with it, its source, licence, columns and units are
    printed.

    \b
    ngym data
    ngym data luo-2025
    ngym data luo-2025 --out rats.csv
    ngym evaluate rats.csv --strength evidence --side answer

    The file is CSV with a row per trial, which `ngym evaluate`, `compare`, `likeness` and `export`
    read. A fifth of the subjects are held out: their trials are for a last test of a model that was
    fitted to the others, and are written with --held-out only.

    --json prints an object with the keys schema (1), command, and data (a list of data sets).
    """
    from neurogym_data.sets import data, data_names, data_set

    if name is None and (out is not None or licence):
        raise click.UsageError(
            f"{'--out' if out else '--licence'} was given without a NAME. Expected one of"
            f" {', '.join(data_names())}."
        )
    if held_out and out is None:
        raise click.UsageError("--held-out was given without --out. Expected both. Give a file.")
    with usage_errors():
        chosen = [data_set(one) for one in ([name] if name else data_names())]
        if out is not None:
            record = data(chosen[0].name, held_out=held_out)
            record.to_csv(out)
    if as_json:
        rows = [_facts(one) for one in chosen]
        print_json({"schema": SCHEMA, "command": "data", "data": rows})
    elif licence:
        click.echo(chosen[0].licence_text)
    elif out is not None:
        click.echo(f"{len(record):,} trials are in {out}. Please cite {_cited(chosen[0])}.")
    elif name is not None:
        _describe(chosen[0])
    else:
        for one in chosen:
            subjects, trials = _counts(one)
            click.echo(f"  {one.name}: {one.title}; {subjects} subjects, {trials:,} trials")


def _counts(one: DataSet) -> tuple[int, int]:
    return (
        one.table.subjects + one.held_out_table.subjects,
        one.table.trials + one.held_out_table.trials,
    )


def _cited(one: DataSet) -> str:
    return f"{one.citation}, doi:{one.doi}" if one.doi else one.citation


def _facts(one: DataSet) -> dict[str, Any]:
    """Return the manifest as data for JSON."""
    return {
        key: {**value, "path": value["path"].name} if key in ("table", "held_out_table") else value
        for key, value in asdict(one).items()
    }


def _describe(one: DataSet) -> None:
    held = f"{one.held_out_table.subjects} of them held out ({one.held_out_table.trials:,} trials)"
    subjects, trials = _counts(one)
    roles = " ".join(f"--{role} {column}" for role, column in one.roles.items())
    for line in (
        f"{one.name}, version {one.version}: {one.title}",
        f"{_cited(one)}",
        f"{subjects} subjects ({one.species}), {trials:,} trials; {held}",
        f"Source: {one.source['repository']} at {one.source['commit'][:7]}, {one.source['files']}",
        f"Licence: {one.licence} (--licence prints it)",
        f"Changes: {one.changes}",
        f"Task: {one.task['name']}. {one.task['differences']}",
        *([f"Options of ngym evaluate: {roles}"] if roles else []),
        "Columns:",
    ):
        click.echo(line)
    for column in one.columns:
        unit = f" ({column.unit})" if column.unit else ""
        click.echo(f"  {column.name}{unit}: {column.means}")
