"""``python -m neurogym_core.cli._probe DISTRIBUTION [FIRST]``: import all that a package offers,
one after another.

Runs in a child process of ``ngym doctor``. Prints a line before each offer, ``{"start": index}``,
and one after it, ``{"done": index, "message": … or null, "printed": bytes}``, so that the parent
knows which one hung or ended the process. Begins with offer number FIRST."""

from __future__ import annotations

import sys
import traceback

from neurogym_core.child import answer_with, claim_stdout, leave, printed_bytes
from neurogym_core.ecosystem.discovery import installed, load
from neurogym_core.ecosystem.names import said_by
from neurogym_core.ecosystem.records import Offer
from neurogym_core.errors import NeurogymError


def main(arguments: list[str]) -> None:
    """Try the offers of the distribution that the first argument names, and leave."""
    answer, descriptor = claim_stdout()
    first = int(arguments[1]) if len(arguments) > 1 else 0
    for index, offer in enumerate(usable_offers(arguments[0])):
        if index < first:
            continue
        answer_with(answer, {"start": index})
        before = printed_bytes(descriptor)
        message, trace = attempt(offer)
        printed = printed_bytes(descriptor) - before
        answer_with(
            answer, {"done": index, "message": message, "traceback": trace, "printed": printed}
        )
    leave()


def usable_offers(distribution: str) -> list[Offer]:
    """What can be tried: the others are known to be wrong, or blocked."""
    packages = [one for one in installed().packages if one.distribution == distribution]
    return [offer for package in packages for offer in package.offers if offer.usable]


def attempt(offer: Offer) -> tuple[str | None, str]:
    """What is wrong with an offer once it is imported, with the traceback; None when nothing is."""
    try:
        _try(offer)
    except BaseException as error:
        said = str(error) if isinstance(error, NeurogymError) else said_by(error)
        return said, "".join(traceback.format_exception(error))
    return None, ""


def _try(offer: Offer) -> None:
    if offer.group == "neurogym.plugins":
        from neurogym_core.ecosystem.hooks import load_plugin, new_manager

        load_plugin(new_manager(), offer)
        return
    found = load(offer)
    if offer.group == "neurogym.commands":
        from neurogym_core.cli._main import require_command

        require_command(offer, found)


if __name__ == "__main__":
    main(sys.argv[1:])
