"""``python -m neurogym_core.cli._probe DISTRIBUTION FIRST [GROUP]...``: import all that a package
offers, or what it offers in these entry-point groups, one after another.

Runs in a child process of ``ngym doctor``. Prints a line before each offer, ``{"start": index}``,
and one after it, ``{"done": index, "message": … or null, "printed": bytes}``, so that the parent
knows which one hung or ended the process. Begins with offer number FIRST. What a module of
`neurogym.registries` finds wrong with installed packages is in lines of its own,
``{"package": distribution, "level": …, "code": …, "message": …}``."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence

from neurogym_core.child import answer_with, claim_stdout, leave, printed_bytes
from neurogym_core.ecosystem.discovery import installed, load
from neurogym_core.ecosystem.hooks import SPECIFICATIONS, load_plugin, new_manager
from neurogym_core.ecosystem.names import said_by
from neurogym_core.ecosystem.records import Offer
from neurogym_core.errors import NeurogymError


def main(arguments: list[str]) -> None:
    """Try the offers of the distribution that the first argument names, and leave."""
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
    """What can be tried, in these groups or in all: the others are known to be wrong, or
    blocked.
    """
    packages = [one for one in installed().packages if one.distribution == distribution]
    offers = [offer for package in packages for offer in package.offers if offer.usable]
    return [offer for offer in offers if not groups or offer.group in groups]


def attempt(offer: Offer, report: Callable[[dict[str, str]], None]) -> tuple[str | None, str]:
    """What is wrong with an offer once it is imported, with the traceback; None when nothing is.

    Args:
        offer: what to import.
        report: takes what it finds wrong with other packages.
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
        from neurogym_core.cli._main import require_command

        require_command(offer, found)


if __name__ == "__main__":
    main(sys.argv[1:])
