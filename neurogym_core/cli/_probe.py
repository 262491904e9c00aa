"""Import the offers of a package: ``python -m neurogym_core.cli._probe PACKAGE FIRST [GROUP]...``.

``ngym doctor`` runs this in a child process. It imports the offers of these entry-point groups (all
groups by default), beginning with offer number FIRST. It prints ``{"start": index}`` before each
offer and ``{"done": index, "message": … or null, "printed": bytes}`` after it, so that the parent
process knows which offer hung or ended the process. Problems that a module of `neurogym.registries`
finds in installed packages are printed on separate lines,
``{"package": distribution, "level": …, "code": …, "message": …}``.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence

from neurogym_core.child import answer_with, claim_stdout, leave, printed_bytes
from neurogym_core.cli._main import require_command
from neurogym_core.ecosystem.discovery import installed, load
from neurogym_core.ecosystem.hooks import SPECIFICATIONS, load_plugin, new_manager
from neurogym_core.ecosystem.names import said_by
from neurogym_core.ecosystem.records import Offer
from neurogym_core.errors import NeurogymError


def main(arguments: list[str]) -> None:
    """Import the offers of the distribution that the first argument names, and end the process."""
    answer, descriptor = claim_stdout()
    distribution, first, *groups = arguments
    for index, offer in enumerate(usable_offers(distribution, groups)):
        if index < int(first):
            continue
        answer_with(answer, {"start": index})
        before = printed_bytes(descriptor)
        message, trace = attempt(offer, lambda value: answer_with(answer, value))
        printed = printed_bytes(descriptor) - before
        answer_with(
            answer, {"done": index, "message": message, "traceback": trace, "printed": printed}
        )
    leave()


def usable_offers(distribution: str, groups: Sequence[str] = ()) -> list[Offer]:
    """Return the usable offers of a distribution in these groups, by default in all groups."""
    packages = [one for one in installed().packages if one.distribution == distribution]
    offers = [offer for package in packages for offer in package.offers if offer.usable]
    return [offer for offer in offers if not groups or offer.group in groups]


def attempt(offer: Offer, report: Callable[[dict[str, str]], None]) -> tuple[str | None, str]:
    """Import an offer; return (error message or None, traceback).

    Args:
        offer: the offer to import.
        report: called with each problem that the offer, a registry, finds in another package.
    """
    try:
        _try(offer, report)
    except BaseException as error:
        said = str(error) if isinstance(error, NeurogymError) else said_by(error)
        return said, "".join(traceback.format_exception(error))
    return None, ""


def _try(offer: Offer, report: Callable[[dict[str, str]], None]) -> None:
    if offer.group in SPECIFICATIONS:
        manager = new_manager(offer.group)
        load_plugin(manager, offer)
        if offer.group == "neurogym.registries":
            for found in manager.hook.ngym_checkup(packages=installed().packages):
                for package, problem in found:
                    report({
                        "package": package,
                        "level": problem.level,
                        "code": problem.code,
                        "message": str(problem),
                    })  # fmt: skip
        return
    found = load(offer)
    if offer.group == "neurogym.commands":
        require_command(offer, found)


if __name__ == "__main__":
    main(sys.argv[1:])
