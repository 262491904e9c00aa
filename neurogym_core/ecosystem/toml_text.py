"""Read TOML of strangers: manifests, and entries of a registry."""

from __future__ import annotations

import tomllib
from itertools import repeat
from typing import Any

MAX_DOTS = 300  # in a line; a DOI has three


def read_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Args:
        text: the text, of bounded length.

    Raises:
        ValueError: it is not valid, is nested too deeply, has a line with more than `MAX_DOTS` dots
            or an integer of more than 64 bits, which TOML does not promise.
    """
    # tomllib's time grows with the square of the parts of a dotted key.
    if max(map(str.count, text.split("\n"), repeat("."))) > MAX_DOTS:
        raise ValueError(f"it has a line with more than {MAX_DOTS} dots")
    try:
        tables = tomllib.loads(text)
        _refuse_long_integers(tables)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return tables


def _refuse_long_integers(value: Any) -> None:
    """Raise an error for an integer of more than 64 bits.

    Python refuses to print one of more than 4,300 digits, and reads it in hexadecimal digits."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            _refuse_long_integers(inner)
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("it has an integer of more than 64 bits")
