"""``ngym compare``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neurogym_core.terminal.settings import usage_errors

if TYPE_CHECKING:
    from neurogym_study.references import Reference


@click.command("compare", short_help="Compare a trial record with real subjects.")
@click.argument(
    "record", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--with",
    "other",
    metavar="NAME|FILE",
    help="A published summary (--list), a summary in a TOML file, or a lab's trials in a CSV file.",
)
@click.option("--list", "listing", is_flag=True, help="List the published summaries.")
@click.option(
    "--map",
    "columns",
    multiple=True,
    metavar="OURS=THEIRS",
    help="A column of the lab's CSV file, e.g. coherence=coh, correct=hit, subject=monkey.",
)
@click.option(
    "--scale",
    "scales",
    multiple=True,
    metavar="OURS=FACTOR",
    help="A factor for a column of the lab's CSV file, e.g. reaction_time=1000 (s to ms).",
)
@click.option("--strength", help="The condition with the strength of the evidence.")
@click.option("--side", help="The condition with the correct side.")
@click.option("--block", help="The condition that differs between blocks.")
@click.option("--slot", help="The answer slot, if a trial has several.")
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
    columns: tuple[str, ...],
    scales: tuple[str, ...],
    out: Path,
    **roles: Any,
) -> None:
    """Compare a trial record with real subjects.

    RECORD is a CSV file, as `ngym evaluate --csv` writes it.

    \b
    ngym compare --list
    ngym compare trials.csv --with roitman-shadlen-2002
    ngym compare trials.csv --with lab.csv --map coherence=coh --map correct=hit

    Curves are drawn in one figure. If the numbers of trials are known, distances are reported with
    the distance that is expected between two samples of the same subject. The report is
    report.html, with a CSV file for each comparison.
    """
    if listing:
        _list()
        return
    if record is None or other is None:
        raise click.UsageError(
            "RECORD or --with is missing. Expected both. `ngym compare --list` shows the published"
            " summaries."
        )
    with usage_errors():
        behaviour = _behaviour(record, roles)
        reference = _reference(other, columns, scales, behaviour)
    _report(record, behaviour, reference, out)


def _list() -> None:
    from neurogym_study.references import published, published_names

    for name in published_names():
        found = published(name)
        click.echo(f"{name}: {found.title}. {found.citation}, doi:{found.doi}")


def _behaviour(path: Path, given: dict[str, Any]) -> Any:
    from neurogym_core import TrialRecord
    from neurogym_study.behaviour import Behaviour, Roles

    return Behaviour(TrialRecord.from_csv(path), Roles(**given))


def _reference(
    other: str, columns: Sequence[str], scales: Sequence[str], behaviour: Any
) -> Reference:
    from neurogym_study.references import published, read_summary, read_trials

    path = Path(other)
    is_trials = path.suffix.lower() == ".csv"
    if (columns or scales) and not is_trials:
        raise click.UsageError(
            f"--map or --scale was given with --with {other!r}. Expected a lab's CSV file. Leave"
            " them out, or give a .csv file."
        )
    if is_trials or path.suffix.lower() == ".toml":
        if not path.is_file():
            raise click.UsageError(
                f"There is no file {other!r}. Expected a summary (.toml) or trials (.csv)."
            )
        if not is_trials:
            return read_summary(path)
        factors = {name: _number(name, text) for name, text in _pairs("--scale", scales).items()}
        return read_trials(path, _pairs("--map", columns), factors, _same_roles(behaviour))[0]
    return published(other)


def _same_roles(behaviour: Any) -> Any:
    """Return the roles with the name of the strength, to which the lab's columns are mapped."""
    from neurogym_study.behaviour import CannotTellError

    try:
        return replace(behaviour.roles, strength=behaviour.strength, slot=None)
    except CannotTellError:
        return replace(behaviour.roles, slot=None)


def _pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise click.UsageError(
                f"{option} was given {text!r}. Expected two names, as in {option} coherence=coh."
            )
        pairs[name.strip()] = value.strip()
    return pairs


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise click.UsageError(
            f"--scale was given {name}={text!r}. Expected a number, as in reaction_time=1000."
        ) from None


def _report(record: Path, behaviour: Any, reference: Reference, out: Path) -> None:
    from neurogym_study.comparison import compare_with
    from neurogym_study.report import write_report

    findings = compare_with(behaviour, reference)
    facts = {
        "record": f"{record}, {len(behaviour)} trials",
        "with": reference.title,
        "citation": reference.citation,
        "doi": reference.doi,
        "notes": " ".join(reference.notes),
    }
    target = write_report(
        out,
        f"{record.name} compared with {reference.name}",
        {k: v for k, v in facts.items() if v},
        findings,
    )
    for finding in findings:
        said = (
            " ".join(finding.notes) or "done"
            if finding.why_not is None
            else f"skipped: {finding.why_not}"
        )
        click.echo(f"{finding.title}: {said}")
    click.echo(f"The report is {target}.")
