"""Import the offers of a package: ``python -m neurogym_check._offer_probe PACKAGE FIRST``.

``ngym doctor`` runs this in a child process. It imports the usable offers of a package, beginning
with offer number FIRST. It prints ``{"start": index}`` before each offer and ``{"done": index,
"message": … or null, "printed": bytes}`` after it, so that the parent process knows which offer
hung or ended the process.
"""

from __future__ import annotations

import sys

from neurogym_core import NeurogymError
from neurogym_core.tools import Answers, installed, load, said_by


def main(arguments: list[str]) -> None:
    """Import the offers of the distribution that the first argument names, and end the process."""
    distribution, first = arguments
    with Answers() as answers:
        packages = [one for one in installed().packages if one.distribution == distribution]
        offers = [offer for package in packages for offer in package.offers if offer.usable]
        for index, offer in enumerate(offers):
            if index < int(first):
                continue
            answers.write({"start": index})
            before, message = answers.printed, None
            try:
                load(offer)
            except BaseException as error:
                message = str(error) if isinstance(error, NeurogymError) else said_by(error)
            printed = answers.printed - before
            answers.write({"done": index, "message": message, "printed": printed})


if __name__ == "__main__":
    main(sys.argv[1:])
