"""Output of ``ngym check``: results, advice on failures, the list of checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from neurogym_check.audit.measures import Audit
from neurogym_check.check_types import CheckResult
from neurogym_check.run_checks import all_checks
from neurogym_core.tools import Page, in_words, print_json

SCOPE = (
    "The checks compare the task with its declarations, and first trials of sessions with each"
    " other. They do not show that the task is the one of its paper, nor that a network learns it;"
    ' "cannot tell" means neither passed nor failed.'
)
"""The scope of the results."""


def show_results(names: list[str], results: list[CheckResult]) -> None:
    """Print a table of the results, and the finding and advice of each failure."""
    page = Page()
    if len(names) == 1:
        page.heading(results[0].task if results else names[0])
        page.table(("code", "check", "result", "why"), [_cells(result) for result in results])
    else:
        page.table(
            ("task", "passed", "failed", "warning", "cannot tell", "not applicable", "seconds"),
            [_counts(name, results) for name in names],
        )
    for result in results:
        if not result.ok or result.status == "warning":
            _add_failure(page, result)
    page.heading(_verdict(names, results))
    page.text(SCOPE)
    page.show()


def _cells(result: CheckResult) -> tuple[str, str, str, str]:
    """Return the row of a check; the reasons for failures are printed below the table."""
    name = result.name.replace("_", " ") or result.rule
    return (
        result.code,
        name,
        result.status,
        ("" if not result.ok or result.status == "warning" else result.reason),
    )


def _counts(name: str, results: list[CheckResult]) -> tuple[str, ...]:
    own = [result for result in results if result.task == name]
    status = [result.status for result in own]
    failed = sum(not result.ok for result in own)
    seconds = sum(result.seconds for result in own)
    return (
        name,
        str(status.count("passed")),
        str(failed or ""),
        str(status.count("warning") or ""),
        str(status.count("cannot tell") or ""),
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
    if result.advice and result.status in ("failed", "warning"):
        page.text(f"what to do: {result.advice}", indent=2)


def _verdict(names: list[str], results: list[CheckResult]) -> str:
    failed = sum(not result.ok for result in results)
    tasks = f"{len(names)} task{'s' if len(names) != 1 else ''}"
    passed = sum(result.status == "passed" for result in results)
    excused = sum(result.status == "expected failure" for result in results)
    warned = sum(result.status == "warning" for result in results)
    also = f", {excused} expected failure{'s' if excused != 1 else ''}" if excused else ""
    untold = sum(result.status == "cannot tell" for result in results)
    also += f", {untold} cannot tell" if untold else ""
    also += f", {warned} warning{'s' if warned != 1 else ''}" if warned else ""
    if failed:
        return (
            f"{failed} check{'s' if failed != 1 else ''} of {tasks} failed, {passed} passed{also}."
        )
    return f"All {passed} checks of {tasks} passed{also}."


def show_shortcuts(measured: Mapping[str, Audit], as_json: bool) -> None:
    """Print the measures of each task, with their intervals."""
    if as_json:
        print_json(
            {
                task: {name: asdict(one) for name, one in audit.measures.items()}
                for task, audit in measured.items()
            }
        )
        return
    page = Page()
    for task, audit in measured.items():
        page.heading(task)
        reached = audit.within_reach()
        page.table(
            ("shortcut", "in words", "performance", "95 % interval", ""),
            [
                (
                    name,
                    in_words(name),
                    f"{one.score:.3f}",
                    f"{one.low:.3f} to {one.high:.3f}",
                    "within reach of the oracle" if name in reached else "",
                )
                for name, one in audit.measures.items()
            ],
        )
    page.show()


def show_checks(as_json: bool) -> None:
    """Print all checks with their rules and advice."""
    rows = [
        {
            "code": one.code,
            "family": one.family,
            "name": one.name,
            "level": one.level,
            "rule": one.rule,
            "advice": one.advice,
        }
        for one in all_checks()
    ]
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
