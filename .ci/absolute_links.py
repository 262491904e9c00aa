"""Make the relative links of all README.md absolute: ``.ci/absolute_links.py``.

The page of a package on the index shows its README.md, from which relative links lead nowhere. They
become addresses below `REPOSITORY`, which has to be known."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from links import relative_targets
from verdicts import ROOT, folders

from neurogym_core.ecosystem import published

_PICTURES = (".png", ".svg")


def absolute(text: str, folder: Path, repository: str, root: Path = ROOT) -> str:
    """Return a Markdown text with addresses in place of its relative links.

    Args:
        text: the text.
        folder: folder of its file.
        repository: public address of the sources.
        root: the checkout.
    """
    for target in reversed(relative_targets(text)):  # a replacement moves the text behind it
        path, mark, part = target.text.partition("#")
        inside = os.path.relpath(folder / path, root).replace(os.sep, "/")
        kind = "raw" if path.endswith(_PICTURES) else "tree" if (root / inside).is_dir() else "blob"
        end = target.start + len(target.text)
        address = f"{repository}/{kind}/main/{inside}{mark}{part}"
        text = text[: target.start] + address + text[end:]
    return text


def main() -> None:
    if not published.REPOSITORY:
        sys.exit(
            "published.py: REPOSITORY is empty. Expected the public address of the sources. Write"
            " it there, and run this again."
        )
    for folder in folders():
        path = folder / "README.md"
        path.write_text(absolute(path.read_text("utf-8"), folder, published.REPOSITORY), "utf-8")


if __name__ == "__main__":
    main()
