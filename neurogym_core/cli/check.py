"""``ngym check``."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from neurogym_core.terminal.complete import complete_anything
from neurogym_core.terminal.progress import Progress

if TYPE_CHECKING:
    from neurogym_core.terminal.output import Page
    from neurogym_core.testing.conformance import CheckResult


@click.command(short_help="Check that tasks keep to what all tasks must hold to.")
@click.argument("targets", metavar="ID|PACKAGE|PATH...", nargs=-1, shell_complete=complete_anything)
@click.option("--level", default="quick", show_default=True, type=click.Choice(["quick", "full"]),
              help="quick takes less than a second for a task, full some seconds.")  # fmt: skip
@click.option("--select", "select", multiple=True, metavar="CODE",
              help="Only this check (T003) or family (T); may be given again.")  # fmt: skip
@click.option("--expected-failure", "excuses", multiple=True, metavar="CODE=REASON",
              help="A rule that may be broken, and why; may be given again.")  # fmt: skip
@click.option("--list", "listing", is_flag=True, help="List the checks, and what to do about each.")
@click.option(
    "--write-digests",
    is_flag=True,
    help="Store what the tasks do, in digests.toml beside the manifest.",
)
@click.option("--force", is_flag=True, help="Let --write-digests replace digests that differ.")
@click.option("--json", "as_json", is_flag=True, help="An array of results, for programs.")
def command(
    targets: tuple[str, ...],
    level: Any,
    select: tuple[str, ...],
    excuses: tuple[str, ...],
    listing: bool,
    write_digests: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Check that tasks keep to what all tasks must hold to.

    ID is a task, PACKAGE an installed package (all of its tasks), PATH a class in a file or the
    folder of an installed package. Runs the code of the tasks in this process.

    \b
    ngym check perceptual/Detection-v0
    ngym check neurogym-task-perceptual --level full
    ngym check my_task.py:MyTask --select T --select D001
    ngym check . --write-digests

    Each check has a code: a letter for its family and a number. M: package, manifest and imports;
    G: Gymnasium's rules; D: a seed fixes everything; S: what is shown, paid and told stays what it
    declares; T: trials run as they are declared; B: what reference subjects earn; R: what a task
    does changes only with its version. Plug-ins add their own. A check that fails says what it
    found and what to do. Where a task must break a rule, --expected-failure says why; such a check
    that passes counts as a failure, so that the excuse goes away.

    Exit codes: 0 all passed, 1 a check failed, 2 wrong usage.
    """
    if listing:
        _list_checks(as_json)
        return
    if not targets:
        raise click.UsageError(
            "No task was given. Expected an id, a package, or a path. Name one, or use --list."
        )
    if force and not write_digests:
        raise click.UsageError(
            "--force was given without --write-digests, which is all that it is for. Leave it out."
        )
    names = _names(targets)
    if write_digests:
        _write_digests(names, force)
        return
    results = _run(names, level, select, _reasons(excuses))
    if as_json:
        from neurogym_core.terminal.output import print_json

        print_json([result.to_plain() for result in results])
    else:
        _show(names, results)
    if not all(result.ok for result in results):
        raise click.exceptions.Exit(1)


def _names(targets: Sequence[str]) -> list[str]:
    """Ids of tasks, and files; those of a package instead of its name."""
    from neurogym_core.ecosystem.discovery import find_task
    from neurogym_core.ecosystem.files import is_file_reference
    from neurogym_core.testing.conformance.candidate import expanded

    names = []
    for target in targets:
        found = expanded(target)
        if not found:
            raise click.UsageError(
                f"{target} offers no tasks. Expected a package with tasks. `ngym list` shows them."
            )
        names += [name if is_file_reference(name) else find_task(name).id for name in found]
    return list(dict.fromkeys(names))


def _reasons(excuses: Sequence[str]) -> dict[str, str]:
    reasons = {}
    for text in excuses:
        code, equals, reason = text.partition("=")
        if not (equals and reason.strip()):
            raise click.UsageError(
                f"--expected-failure was given {text!r}. Expected a code and a reason, as in"
                " B001='nobody can know'."
            )
        reasons[code.strip()] = reason.strip()
    return reasons


def _run(
    names: list[str], level: Any, select: Sequence[str], reasons: dict[str, str]
) -> list[CheckResult]:
    """The results of all tasks; what the tasks print goes to stderr, so that stdout holds the
    report only.
    """
    from neurogym_core.terminal.settings import usage_errors
    from neurogym_core.testing.conformance import all_checks, check_task

    results: list[CheckResult] = []
    steps = len(all_checks(level))
    with Progress("checking", len(names) * steps) as bar, contextlib.redirect_stdout(sys.stderr):
        for number, name in enumerate(names):
            codes = iter(range(number * steps, (number + 1) * steps))
            with usage_errors():
                results += check_task(
                    name, level, reasons, select=select,
                    progress=lambda code, name=name, codes=codes: bar.show(next(codes), f"{name} {code}"),
                )  # fmt: skip
    return results


# ---- what is printed ------------------------------------------------------------------------------------------------


def _show(names: list[str], results: list[CheckResult]) -> None:
    from neurogym_core.terminal.output import Page

    page = Page()
    if len(names) == 1:
        page.heading(results[0].task if results else names[0])
        page.table(("code", "check", "result", "why"), [_cells(result) for result in results])
    else:
        page.table(
            ("task", "passed", "failed", "not applicable", "seconds"),
            [_counts(name, results) for name in names],
        )
    for result in results:
        if not result.ok:
            _add_failure(page, result)
    page.heading(_verdict(names, results))
    page.show()


def _cells(result: CheckResult) -> tuple[str, str, str, str]:
    """A check in the table; why it failed is told below, with what to do."""
    name = result.name.replace("_", " ") or result.rule
    return result.code, name, result.status, "" if not result.ok else result.reason


def _counts(name: str, results: list[CheckResult]) -> tuple[str, str, str, str, str]:
    own = [result for result in results if result.task == name]
    status = [result.status for result in own]
    failed = sum(not result.ok for result in own)
    seconds = sum(result.seconds for result in own)
    return (
        name,
        str(status.count("passed")),
        str(failed or ""),
        str(status.count("not applicable")),
        f"{seconds:.1f}",
    )


def _add_failure(page: Page, result: CheckResult) -> None:
    page.heading(
        f"{result.task}  {result.code} {result.name.replace('_', ' ')}", mark=result.status
    )
    if result.rule:
        page.text(f"rule: {result.rule}", indent=2)
    page.text(f"found: {result.reason}", indent=2)
    if result.advice and result.status == "failed":
        page.text(f"what to do: {result.advice}", indent=2)


def _verdict(names: list[str], results: list[CheckResult]) -> str:
    failed = sum(not result.ok for result in results)
    tasks = f"{len(names)} task{'s' if len(names) != 1 else ''}"
    passed = sum(result.status == "passed" for result in results)
    excused = sum(result.status == "expected failure" for result in results)
    also = f", {excused} expected failure{'s' if excused != 1 else ''}" if excused else ""
    if failed:
        return (
            f"{failed} check{'s' if failed != 1 else ''} of {tasks} failed, {passed} passed{also}."
        )
    return f"All {passed} checks of {tasks} passed{also}."


def _list_checks(as_json: bool) -> None:
    from neurogym_core.terminal.output import Page, print_json
    from neurogym_core.testing.conformance import all_checks

    rows = [
        {"code": one.code, "family": one.family, "name": one.name, "level": one.level, "rule": one.rule, "advice": one.advice}
        for one in all_checks()
    ]  # fmt: skip
    if as_json:
        print_json(rows)
        return
    page = Page()
    for row in rows:
        page.heading(
            f"{row['code']} {row['name'].replace('_', ' ')}",
            mark="" if row["level"] == "quick" else "full",
        )
        page.text(row["rule"], indent=2)
        page.text(row["advice"], indent=2)
    page.show()


# ---- digests --------------------------------------------------------------------------------------------------------


def _write_digests(names: list[str], force: bool) -> None:
    """Store the digests of these tasks, package by package; what is no installed Task has none."""
    from neurogym_core.testing.conformance.candidate import Candidate
    from neurogym_core.testing.conformance.digest import digest_of, digests_path, store

    fresh: dict[Any, dict[str, Any]] = {}
    with Progress("digesting", len(names)) as bar:
        for number, name in enumerate(names):
            bar.show(number, name)
            candidate = Candidate(name)
            if candidate.info is None or candidate.kind != "task":
                click.echo(f"{name}: no digest; only an installed Task has one")
                continue
            path = digests_path(candidate.info)
            if path is None:
                raise click.ClickException(
                    f"The folder of {candidate.info.distribution} cannot be found. Expected a"
                    " package (a folder with modules), beside whose manifest digests.toml can lie."
                    " Make it one."
                )
            fresh.setdefault(path, {})[candidate.info.name] = digest_of(candidate.task)
    for path, digests in fresh.items():
        written = store(path, digests, force=force)
        click.echo(f"{path}: {len(written)} written, {len(digests) - len(written)} as they were")
