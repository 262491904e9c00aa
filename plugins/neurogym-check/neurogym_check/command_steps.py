"""The steps of ``ngym check``: resolving targets, running checks, storing digests."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Any

import click

from neurogym_check.audit.measures import Audit
from neurogym_check.audit.stored import Stored, manifest_path, to_store, write
from neurogym_check.candidate import Candidate, Wrapped, expanded
from neurogym_check.check_types import CheckResult, NotApplicable
from neurogym_check.checks.shortcuts import audit_of
from neurogym_check.digest import digest_of, digests_path, store
from neurogym_check.run_checks import all_checks, check_task
from neurogym_core.tools import Progress, find_task, is_file_reference, read_wrap, usage_errors


def names_of(targets: Sequence[str]) -> list[str]:
    """Return the ids and files that the targets name, with packages replaced by their tasks."""
    names = []
    for target in targets:
        found = expanded(target)
        if not found:
            raise click.UsageError(
                f"{target} has no tasks. Expected a package with tasks. `ngym list` shows the"
                " installed ones."
            )
        names += [name if is_file_reference(name) else find_task(name).id for name in found]
    return list(dict.fromkeys(names))


def sources_of(names: Sequence[str], level: Any, wraps: Sequence[str] = ()) -> list[Candidate]:
    """Return the candidates of these names, with task wrappers.

    Raises:
        click.UsageError: a wrapper cannot be applied to a task.
    """
    with usage_errors():
        if not wraps:
            return [Candidate(name, level) for name in names]
        wrappers = [read_wrap(text) for text in wraps]
        return [Wrapped(name, level, wrappers, " ".join(wraps)) for name in names]


def measure(sources: Sequence[Candidate]) -> dict[str, Audit]:
    """Return the shortcuts of all candidates, by their names."""
    found = {}
    with Progress("measuring", len(sources)) as bar, contextlib.redirect_stdout(sys.stderr):
        for number, source in enumerate(sources):
            bar.show(number, source.name)
            source.progress = lambda policy, n=number, name=source.name: bar.show(
                n, f"{name} {policy}"
            )
            try:
                with usage_errors():
                    found[source.name] = audit_of(source)
            except NotApplicable as reason:
                click.echo(f"{source.name}: no shortcuts; {reason}", err=True)
    return found


def write_shortcuts(names: list[str]) -> None:
    """Store the shortcuts of these tasks in the manifests of their packages."""
    installed = [source for source in sources_of(names, "quick") if source.info is not None]
    if len(installed) < len(names):
        raise click.UsageError(
            "--write-shortcuts was given a file. Expected installed tasks, which have a manifest."
            " Install the package, and name its tasks."
        )
    measured = measure(installed)
    fresh: dict[Any, dict[str, dict[str, Stored]]] = {}
    for source in installed:
        if source.name in measured:
            numbers = to_store(measured[source.name])
            fresh.setdefault(manifest_path(source.info), {})[source.info.name] = numbers
    for path, numbers in fresh.items():
        written = write(path, numbers)
        click.echo(f"{path}: {len(written)} written, {len(numbers) - len(written)} unchanged")


def check_tasks(
    sources: Sequence[Candidate], level: Any, select: Sequence[str], reasons: dict[str, str]
) -> list[CheckResult]:
    """Return the results of all tasks; output of the tasks goes to stderr, not into the report."""
    results: list[CheckResult] = []
    steps = len(all_checks(level))
    with Progress("checking", len(sources) * steps) as bar, contextlib.redirect_stdout(sys.stderr):
        for number, source in enumerate(sources):
            begun: dict[str, int] = {}
            with usage_errors():
                results += check_task(
                    source,
                    level,
                    reasons,
                    select=select,
                    progress=lambda text, name=source.name, first=number * steps, begun=begun: (
                        bar.show(
                            first + begun.setdefault(text.split()[0], len(begun)), f"{name} {text}"
                        )
                    ),
                )
    return results


def write_digests(names: list[str], force: bool) -> None:
    """Store the digests of these tasks in their packages; only an installed Task has a digest."""
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
                    " package, a folder in which digests.toml can be stored beside the manifest."
                    " Turn the module into a package."
                )
            fresh.setdefault(path, {})[candidate.info.name] = digest_of(candidate.task)
    for path, digests in fresh.items():
        written = store(path, digests, force=force)
        click.echo(f"{path}: {len(written)} written, {len(digests) - len(written)} unchanged")
