"""``ngym doctor``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from neurogym_core.tools import Page, canonical, comes_with, installed, print_json

if TYPE_CHECKING:
    from neurogym_check.findings import Finding

SECONDS = 20.0
STRICT = "NGYM_STRICT"
SWITCHES = ("NGYM_BLOCK", "NGYM_DISABLE_PLUGIN_AUTOLOAD", STRICT)


@click.command()
@click.option("--no-import", is_flag=True,
              help="Read only metadata, manifests and the registry; run no code of other"
              " packages.")  # fmt: skip
@click.option("--seconds", metavar="S", default=SECONDS, show_default=True,
              type=click.FloatRange(min=0.1), help="Time limit for each import.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
def command(no_import: bool, seconds: float, as_json: bool) -> None:
    """Check the installation, and say how to repair it.

    \b
      ngym doctor

    Shows the versions of all packages, the kernel (compiled or plain) that plays the trials, the
    size of torch, and every problem with its remedy. Each package is imported in a separate
    process; with neurogym-registry, revoked versions are found.

    The exit code is 1 if there is an error; warnings count as errors if NGYM_STRICT is set."""
    from neurogym_check.findings import findings, kernel_found, torch_found, versions

    found = installed()
    results = findings(found, imports=not no_import, seconds=seconds)
    needed = {"neurogym-core": found.core_version, **versions()}
    kernel, reason, line = kernel_found()
    torch = torch_found()
    switches = {name: os.environ[name] for name in SWITCHES if os.environ.get(name)}
    wrong = sum(map(_counts, results)) + (kernel is None)
    if as_json:
        print_json(
            {
                "ok": not wrong,
                "versions": needed,
                "kernel": {"name": kernel, "reason": reason},
                "torch": torch,
                "switches": switches,
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
        )
    else:
        page = Page()
        page.heading("versions")
        page.table(
            ("", ""), [(name, version or "not installed") for name, version in needed.items()]
        )
        page.heading("kernel", mark="" if kernel else "!")
        page.text(line, indent=2)
        if torch is not None:
            page.heading("torch")
            page.text(torch, indent=2)
        if switches:
            page.heading("switches")
            page.table(("", ""), list(switches.items()))
        _add_packages(page, found, results)
        minor = len(results) - sum(map(_counts, results))
        said = f"{wrong} problem{'s' if wrong != 1 else ''}" if wrong else "No problems"
        page.heading(f"{said} found{f', {minor} minor' if minor else ''}.")
        page.show()
    if wrong:
        raise click.exceptions.Exit(1)


def _counted(count: int, kind: str) -> str:
    """Return ``2 tasks`` or ``1 task``."""
    one = f"{kind.removesuffix('ies')}y" if kind.endswith("ies") else kind.removesuffix("s")
    return f"{count} {kind if count != 1 else one}"


def _counts(finding: Finding) -> bool:
    """Return whether a finding makes the exit code 1."""
    strict = os.environ.get(STRICT, "") not in ("", "0")
    return finding.problem.level in ("fatal", "error", *(["warning"] if strict else []))


def _add_packages(page: Page, found: Any, results: list[Finding]) -> None:
    """Add a table of the packages, and the problems of each."""
    registry = "neurogym-registry"
    if registry not in {offer.distribution for offer in found.plugins}:
        page.heading("not checked")
        page.table(("", ""), [("revoked versions", comes_with("ngym registry", registry))])
    rows = []
    for package in found.packages:
        origin = f"{package.editable} (editable)" if package.editable else package.location
        offers = ", ".join(
            _counted(len(names), kind) for kind, names in package.names().items() if names
        )
        rows.append((package.distribution, package.version, offers, origin))
    page.heading("packages")
    page.table(("name", "version", "offers", "from"), rows)
    for package in found.packages:
        mine = [finding for finding in results if finding.package is package]
        if not mine:
            continue
        serious = any(map(_counts, mine))
        page.heading(f"{package.distribution} {package.version}", mark="!" if serious else "")
        for finding in mine:
            page.text(f"{finding.problem.level}: {finding}", indent=2)
        if serious and canonical(package.distribution) != "neurogym-core":
            page.text(f"remove it with: {package.removal}", indent=2, style="bold")
