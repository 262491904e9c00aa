"""BibTeX entries of a manifest's references, for `ngym info --bibtex`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from neurogym_core.ecosystem.records import Reference


def bibtex(references: Sequence[Reference]) -> str:
    """Return one ``@article`` per reference, with all fields of the manifest."""
    return "\n\n".join(_entry(reference) for reference in references)


def _entry(reference: Reference) -> str:
    fields = {
        "author": reference.authors,
        "title": reference.title,
        "journal": reference.journal,
        "year": str(reference.year or ""),
        "doi": reference.doi,
        "url": f"https://doi.org/{reference.doi}",
    }
    lines = [f"  {name} = {{{_value(name, text)}}}," for name, text in fields.items() if text]
    return "\n".join([f"@article{{{_key(reference)},", *lines, "}"])


def _value(name: str, text: str) -> str:
    """Return the text with BibTeX's special characters escaped; a DOI needs no escapes."""
    if name in ("doi", "url"):
        return text
    return re.sub(r"([{}%#&$_])", r"\\\1", text.replace("\\", ""))


def _key(reference: Reference) -> str:
    """Return ``Britten1992`` from author and year; if one is missing, a key made from the DOI."""
    first = re.match(r"[^\W\d_]+", reference.authors)
    if first and first.group().isascii() and reference.year:
        return f"{first.group()}{reference.year}"
    return "doi_" + re.sub(r"[^A-Za-z0-9]+", "_", reference.doi).strip("_")
