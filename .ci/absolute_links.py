"""Make the relative links of all README.md absolute: ``.ci/absolute_links.py``.

The page of a package on the index shows its README.md, from which relative links lead nowhere. They
become addresses below `REPOSITORY`, which has to be known."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from verdicts import ROOT, folders, relative_links

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
    for target in dict.fromkeys(relative_links(text)):
        path, mark, part = target.partition("#")
        inside = os.path.relpath(folder / path, root).replace(os.sep, "/")
        kind = "raw" if path.endswith(_PICTURES) else "tree" if (root / inside).is_dir() else "blob"
        text = re.sub(
            rf"\]\({re.escape(target)}\)", f"]({repository}/{kind}/main/{inside}{mark}{part})", text
        )
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
