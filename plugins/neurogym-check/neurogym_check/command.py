"""``ngym check``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from neurogym_core.tools import complete, print_json


@click.command(short_help="Run the conformance checks on tasks.")
@click.argument(
    "targets",
    metavar="ID|PACKAGE|PATH...",
    nargs=-1,
    shell_complete=partial(complete, ("tasks", "packages")),
)
@click.option(
    "--level",
    default="quick",
    show_default=True,
    type=click.Choice(["quick", "full"]),
    help="quick takes less than a second per task, full some seconds.",
)
@click.option(
    "--select",
    "select",
    multiple=True,
    metavar="CODE",
    help="Only this check (T003) or family (T); may be repeated.",
)
@click.option(
    "--expected-failure",
    "excuses",
    multiple=True,
    metavar="CODE=REASON",
    help="A check that may fail, and why; may be repeated.",
)
@click.option("--list", "listing", is_flag=True, help="List the checks with their advice.")
@click.option(
    "--write-digests",
    is_flag=True,
    help="Store the digests of the tasks in digests.toml beside the manifest.",
)
@click.option(
    "--wrap",
    "wraps",
    multiple=True,
    metavar="NAME[:KEY=VALUE,...]",
    help="Check the tasks with this task wrapper; may be repeated, innermost first.",
)
@click.option(
    "--shortcuts",
    is_flag=True,
    help="Run no checks; measure policies that leave out a part of the task (some seconds each).",
)
@click.option(
    "--write-shortcuts",
    is_flag=True,
    help="Store these numbers in the manifest.",
)
@click.option("--force", is_flag=True, help="Let --write-digests replace digests that differ.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as a JSON array.")
def command(
    targets: tuple[str, ...],
    level: Any,
    select: tuple[str, ...],
    excuses: tuple[str, ...],
    listing: bool,
    write_digests: bool,
    wraps: tuple[str, ...],
    shortcuts: bool,
    write_shortcuts: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Run the conformance checks on tasks.

    ID is a task, PACKAGE an installed package (all of its tasks), PATH a class in a file or the
    folder of an installed package. The code of the tasks runs in this process.

    \b
    ngym check perceptual/Detection-v0
    ngym check neurogym-task-perceptual --level full
    ngym check my_task.py:MyTask --select T --select D001
    ngym check . --write-digests
    ngym check perceptual/Detection-v0 --shortcuts
    ngym check perceptual/Detection-v0 --wrap side_bias:p=0.8

    Each check has a code: a letter for its family and a number. M: package, manifest and imports;
    G: Gymnasium's rules; D: determinism; S: spaces and values; T: trials; B: performance and reward
    of reference subjects; A: shortcuts; R: the stored digest. Plug-ins add checks. The report of a
    failed check has the finding and advice; a warning is a finding that breaks no rule. If a task
    must break a rule, state the reason with --expected-failure; an expected failure that passes
    counts as failed, so that it is removed.

    Exit codes: 0 all passed, 1 a check failed, 2 wrong usage.
    """
    # Shell completion imports this module, and should not wait for NumPy.
    from neurogym_check import command_report, command_steps

    if listing:
        command_report.show_checks(as_json)
        return
    if not targets:
        raise click.UsageError(
            "No task was given. Expected an id, a package, or a path. Name one, or use --list."
        )
    if force and not write_digests:
        raise click.UsageError(
            "--force was given without --write-digests. Expected both or neither. Leave --force"
            " out, or add --write-digests."
        )
    if wraps and (write_digests or write_shortcuts):
        raise click.UsageError(
            "--wrap was given with an option that stores numbers of tasks. Expected tasks as they"
            " are. Leave out --wrap."
        )
    chooses = select or excuses or level == "full"
    if chooses and (shortcuts or write_shortcuts or write_digests):
        raise click.UsageError(
            "--select, --expected-failure or --level full was given with an option that runs no"
            " checks. Expected one or the other. Leave it out; --select A runs the checks of"
            " shortcuts."
        )
    names = command_steps.names_of(targets)
    if write_digests:
        command_steps.write_digests(names, force)
    if write_shortcuts:
        command_steps.write_shortcuts(names)
    if write_digests or write_shortcuts:
        return
    sources = command_steps.sources_of(names, level, wraps)
    if shortcuts:
        command_report.show_shortcuts(command_steps.measure(sources), as_json)
        return
    names = [source.name for source in sources]
    results = command_steps.check_tasks(sources, level, select, read_excuses(excuses))
    if as_json:
        print_json([result.to_plain() for result in results])
    else:
        command_report.show_results(names, results)
    if not all(result.ok for result in results):
        raise click.exceptions.Exit(1)


def read_excuses(excuses: Sequence[str]) -> dict[str, str]:
    """Return {code: reason} from ``CODE=REASON`` texts."""
    reasons = {}
    for text in excuses:
        code, equals, reason = text.partition("=")
        if not (equals and reason.strip()):
            raise click.UsageError(
                f"--expected-failure was given {text!r}. Expected CODE=REASON. Write for example"
                " B001='the task is ambiguous'."
            )
        reasons[code.strip()] = reason.strip()
    return reasons
