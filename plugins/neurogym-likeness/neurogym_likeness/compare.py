"""``ngym compare``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from neurogym_records.options import (
    figure_options,
    is_trials,
    json_option,
    named,
    read_given,
    recipe_options,
    role_options,
    say_figures,
    say_findings,
    write_given_figures,
)

from neurogym_core.tools import print_json, usage_errors

if TYPE_CHECKING:
    from neurogym_behaviour.references import Reference


@click.command("compare", short_help="Compare a trial record with real subjects.")
@click.argument(
    "record", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--with",
    "other",
    metavar="NAME|FILE",
    help="A published summary (--list), a summary in a .toml file, or a lab's file of trials.",
)
@click.option("--list", "listing", is_flag=True, help="List the published summaries.")
@recipe_options
@role_options
@figure_options
@json_option
@click.option(
    "--out",
    default="comparison",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the report.",
)
def command(
    record: Path | None,
    other: str | None,
    listing: bool,
    recipe: str | None,
    columns: tuple[str, ...],
    scales: tuple[str, ...],
    out: Path,
    figure: Path | None,
    style: str,
    as_json: bool,
    **roles: Any,
) -> None:
    """Compare a trial record with real subjects.

    RECORD is a file of trials, as `ngym evaluate --csv` writes it, or a lab's (.csv, .tsv, .txt,
    .parquet, .pqt, .xlsx, .json, .mat, .nwb). --recipe, --map and --scale are for the lab's file:
    the one after --with, or else RECORD.

    \b
    ngym compare --list
    ngym compare trials.csv --with roitman-shadlen-2002
    ngym compare trials.csv --with lab.csv --map coherence=coh --map correct=hit
    ngym compare mice.csv --recipe ibl --with ibl-2025

    Parameters of several subjects are means over subjects with t intervals; --pool analyses all
    trials as those of one. Curves are drawn in one figure. If the numbers of trials are known,
    distances are reported with the distance that is expected between two samples of the same
    subject. Records and references of different tasks, or with strengths of another name or unit,
    are not compared. The report is report.html, with a CSV file for each comparison.

    --json prints an object with the keys schema (1), command, title, facts, findings, report and
    figures; a finding has name, title, skipped (the reason, or null), notes and table (a list of
    rows). Missing numbers are null. With --list it prints an object with schema, command, and the
    list references.
    """
    if listing:
        _list(as_json)
        return
    if record is None or other is None:
        raise click.UsageError(
            "RECORD or --with is missing. Expected both. `ngym compare --list` shows the published"
            " summaries."
        )
    given = (recipe, columns, scales)
    with_trials = is_trials(other)
    if not with_trials and is_trials(str(record)):
        mine, theirs = given, None
    else:
        mine, theirs = (None, (), ()), given
    with usage_errors():
        behaviour = _behaviour(record, mine, roles)
        reference = _reference(other, theirs, behaviour)
    _report(record, behaviour, reference, out, figure, style, as_json)


def _list(as_json: bool) -> None:
    from neurogym_behaviour.references import published, published_names
    from neurogym_behaviour.report import SCHEMA

    found = [published(name) for name in published_names()]
    if as_json:
        keys = ("name", "kind", "title", "citation", "doi")
        rows = [{key: getattr(one, key) for key in keys} for one in found]
        print_json({"schema": SCHEMA, "command": "compare --list", "references": rows})
        return
    for heading, kinds in (
        ("Subjects", ("animals", "people")),
        ("Criteria of training (no behaviour)", ("criteria",)),
    ):
        click.echo(f"{heading}:")
        for one in found:
            if one.kind in kinds:
                click.echo(f"  {one.name}: {one.title}. {one.citation}, doi:{one.doi}")


def _behaviour(path: Path, given: tuple[Any, Any, Any], roles: dict[str, Any]) -> Any:
    from neurogym_behaviour.behaviour import Behaviour, Roles

    return Behaviour(named(read_given(path, *given), path), Roles(**roles))


def _reference(other: str, given: tuple[Any, Any, Any] | None, behaviour: Any) -> Reference:
    from neurogym_behaviour.references import of_record, published, read_summary

    path = Path(other)
    if given is not None:
        if not path.is_file():
            raise click.UsageError(
                f"There is no file {other!r}. Expected a summary (.toml) or trials (.csv, …)."
            )
        return of_record(read_given(path, *given), _same_roles(behaviour), path.stem)
    if path.suffix.lower() == ".toml":
        if not path.is_file():
            raise click.UsageError(
                f"There is no file {other!r}. Expected a summary (.toml) or trials (.csv, …)."
            )
        return read_summary(path)
    return published(other)


def _same_roles(behaviour: Any) -> Any:
    """Return the roles with the name of the strength, to which the lab's columns are mapped."""
    from neurogym_behaviour.behaviour import CannotTellError

    try:
        return replace(behaviour.roles, strength=behaviour.strength, slot=None)
    except CannotTellError:
        return replace(behaviour.roles, slot=None)


def _report(
    record: Path,
    behaviour: Any,
    reference: Reference,
    out: Path,
    figure: Path | None,
    style: str,
    as_json: bool,
) -> None:
    from neurogym_behaviour.report import SCHEMA, findings_data, write_report
    from neurogym_plot.styles import figure_style

    from neurogym_likeness.comparison import compare_with

    with figure_style(style):
        findings = compare_with(behaviour, reference)
    title = f"{record.name} compared with {reference.name}"
    facts = {
        "record": f"{record}, {len(behaviour)} trials",
        "with": reference.title,
        "citation": reference.citation,
        "doi": reference.doi,
        "sources": "; ".join(
            ", ".join(f"{key}: {value}" for key, value in source.items())
            for source in reference.sources.values()
        ),
        "notes": " ".join(reference.notes),
    }
    facts = {name: value for name, value in facts.items() if value}
    target = write_report(out, title, facts, findings)
    figures = write_given_figures(figure, style, findings)
    if as_json:
        print_json(
            {
                "schema": SCHEMA,
                "command": "compare",
                "title": title,
                "facts": facts,
                "findings": findings_data(findings),
                "report": target,
                "figures": figures or [],
            }
        )
        return
    say_findings(findings)
    say_figures(figures)
    click.echo(f"The report is {target}.")
