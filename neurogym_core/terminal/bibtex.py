"""BibTeX entries of a manifest's references, for `ngym info --bibtex`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from neurogym_core.ecosystem.records import Reference


def bibtex(references: Sequence[Reference]) -> str:
    """Return one ``@article`` per reference, with all fields of the manifest."""
    entries = []
    for reference in references:
        authors = _escaped(reference.authors)
        if authors and "," not in authors:  # a group, of which BibTeX must take no word as a name
            authors = f"{{{authors}}}"
        # A DOI needs no escapes of BibTeX's special characters.
        texts = {
            "author": authors,
            "title": _escaped(reference.title),
            "journal": _escaped(reference.journal),
            "year": str(reference.year or ""),
            "doi": reference.doi,
            "url": f"https://doi.org/{reference.doi}",
        }
        lines = [f"  {name} = {{{text}}}," for name, text in texts.items() if text]
        entries.append("\n".join([f"@article{{{_key(reference)},", *lines, "}"]))
    return "\n\n".join(entries)


def _escaped(text: str) -> str:
    return re.sub(r"([{}%#&$_])", r"\\\1", text.replace("\\", ""))


def _key(reference: Reference) -> str:
    """Return ``Britten1992`` from author and year; if one is missing, a key made from the DOI."""
    first = re.match(r"[^\W\d_]+", reference.authors)
    if first and first.group().isascii() and reference.year:
        return f"{first.group()}{reference.year}"
    return "doi_" + re.sub(r"[^A-Za-z0-9]+", "_", reference.doi).strip("_")
