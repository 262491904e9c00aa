"""``ngym doctor``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from neurogym_core.ecosystem.companions import REGISTRY, comes_with
from neurogym_core.ecosystem.discovery import installed
from neurogym_core.ecosystem.names import CORE, canonical
from neurogym_core.ecosystem.records import KINDS, Installed, PackageInfo
from neurogym_core.ecosystem.switches import BLOCK, DISABLE, STRICT, is_on
from neurogym_core.terminal.output import Page, print_json

if TYPE_CHECKING:
    from neurogym_core.cli._checkup import Finding, Kernel

SECONDS = 20.0


@click.command()
@click.option(
    "--no-import",
    is_flag=True,
    help="Read only metadata, manifests and the registry; run no code of packages.",
)
@click.option(
    "--seconds",
    metavar="S",
    default=SECONDS,
    show_default=True,
    type=click.FloatRange(min=0.1),
    help="Time limit for each import.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
def command(no_import: bool, seconds: float, as_json: bool) -> None:
    """Check the installation, and say how to repair it.

    \b
      ngym doctor

    Shows the versions of all packages, the kernel (compiled or plain) that plays the trials, and
    every problem with its remedy. Each package is imported in a separate process.

    The exit code is 1 if there is an error; warnings count as errors if NGYM_STRICT is set."""
    from neurogym_core.cli._checkup import findings, kernel_in_use, versions

    found = installed()
    results = findings(found, imports=not no_import, seconds=seconds)
    needed = {"neurogym-core": found.core_version, **versions()}
    kernel = kernel_in_use()
    if as_json:
        print_json(_row(found, needed, kernel, results))
    else:
        _show(found, needed, kernel, results)
    if _wrong(kernel, results):
        raise click.exceptions.Exit(1)


def _counts(finding: Finding) -> bool:
    """Return whether a finding makes the exit code 1."""
    return finding.problem.level in ("fatal", "error") or (
        finding.problem.level == "warning" and is_on(STRICT)
    )


def _wrong(kernel: Kernel, results: list[Finding]) -> int:
    """Return the number of findings, the kernel included, that make the exit code 1."""
    return sum(map(_counts, results)) + (kernel.name is None)


def _row(
    found: Installed, needed: dict[str, str | None], kernel: Kernel, results: list[Finding]
) -> dict[str, Any]:
    return {
        "ok": not _wrong(kernel, results),
        "versions": needed,
        "kernel": {"name": kernel.name, "reason": kernel.reason},
        "switches": _switches(),
        "packages": [
            {
                "package": package.distribution,
                "version": package.version,
                "origin": package.editable or package.location,
                "editable": package.editable is not None,
                "removal": package.removal,
            }
            for package in found.packages
        ],
        "problems": [
            {
                "package": finding.package.distribution,
                "version": finding.package.version,
                "level": finding.problem.level,
                "code": finding.problem.code,
                "id": finding.subject,
                "message": str(finding.problem),
                "removal": finding.package.removal,
            }
            for finding in results
        ],
    }


def _switches() -> dict[str, str]:
    return {name: os.environ[name] for name in (BLOCK, DISABLE, STRICT) if os.environ.get(name)}


def _show(
    found: Installed, needed: dict[str, str | None], kernel: Kernel, results: list[Finding]
) -> None:
    page = Page()
    page.heading("versions")
    page.table(("", ""), [(name, version or "not installed") for name, version in needed.items()])
    page.heading("kernel", mark="" if kernel.name else "!")
    page.text(kernel.line, indent=2)
    if _switches():
        page.heading("switches")
        page.table(("", ""), list(_switches().items()))
    if not found.registries:
        page.heading("revoked versions")
        page.text(f"not checked: {comes_with('ngym registry', REGISTRY)}", indent=2)
    page.heading("packages")
    page.table(
        ("name", "version", "offers", "from"),
        [_package_cells(package) for package in found.packages],
    )
    for package in found.packages:
        _show_problems(
            page, package, [finding for finding in results if finding.package is package]
        )
    page.heading(_verdict(_wrong(kernel, results), len(results) - sum(map(_counts, results))))
    page.show()


def _package_cells(package: PackageInfo) -> tuple[str, str, str, str]:
    origin = f"{package.editable} (editable)" if package.editable else package.location
    counts = [f"{len(getattr(package, kind))} {kind}" for kind in KINDS if getattr(package, kind)]
    return package.distribution, package.version, ", ".join(counts), origin


def _show_problems(page: Page, package: PackageInfo, results: list[Finding]) -> None:
    if not results:
        return
    serious = any(map(_counts, results))
    page.heading(f"{package.distribution} {package.version}", mark="!" if serious else "")
    for finding in results:
        page.text(f"{finding.problem.level}: {finding}", indent=2)
    if serious and canonical(package.distribution) != CORE:
        page.text(f"remove it with: {package.removal}", indent=2, style="bold")


def _verdict(wrong: int, to_note: int) -> str:
    others = f", {to_note} minor" if to_note else ""
    if not wrong:
        return f"No problems found{others}."
    return f"{wrong} problem{'s' if wrong != 1 else ''} found{others}."
