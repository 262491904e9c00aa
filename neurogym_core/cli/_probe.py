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
from collections.abc import Iterator, Sequence

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
        before, message = printed_bytes(descriptor), None
        try:
            for report in _imported(offer):
                answer_with(answer, report)
        except BaseException as error:
            message = str(error) if isinstance(error, NeurogymError) else said_by(error)
        printed = printed_bytes(descriptor) - before
        answer_with(answer, {"done": index, "message": message, "printed": printed})
    leave()


def usable_offers(distribution: str, groups: Sequence[str] = ()) -> list[Offer]:
    """Return the usable offers of a distribution in these groups, by default in all groups."""
    packages = [one for one in installed().packages if one.distribution == distribution]
    offers = [offer for package in packages for offer in package.offers if offer.usable]
    return [offer for offer in offers if not groups or offer.group in groups]


def _imported(offer: Offer) -> Iterator[dict[str, str]]:
    """Import an offer; yield the problems that it, a registry, finds in installed packages."""
    if offer.group == "neurogym.commands":
        require_command(offer, load(offer))
    elif offer.group not in SPECIFICATIONS:
        load(offer)
    else:
        manager = new_manager(offer.group)
        load_plugin(manager, offer)
        if offer.group == "neurogym.registries":
            for found in manager.hook.ngym_checkup(packages=installed().packages):
                for package, problem in found:
                    yield {
                        "package": package,
                        "level": problem.level,
                        "code": problem.code,
                        "message": str(problem),
                    }


if __name__ == "__main__":
    main(sys.argv[1:])
