"""Artefacts that name Python files: the folder of a run, an experiment file, a table of a sweep.

They may come from another person. Each function that reads one calls `check_artefact`, which
refuses it unless the user trusts its files.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from neurogym_core import InvalidValueError
from neurogym_core.tools import clean, is_file_reference, trusted

# Also within a longer text, such as the settings of a subject: `subject:net=my_net.py:Net,n=3`.
_MENTION = re.compile(r"[^,=\s]*\.py(?!\w)")


class NamedFile(NamedTuple):
    """A Python file that an artefact names.

    Attributes:
        keys: keys and indices that lead to the text in the artefact.
        text: the text that names the file.
        path: the file.
        sha256: its hash; None if there is no such file.
    """

    keys: tuple[Any, ...]
    text: str
    path: Path
    sha256: str | None

    def __str__(self) -> str:
        state = f"SHA-256 {self.sha256}" if self.sha256 else "no such file"
        return f"{clean(self.text)!r} is code in a file, {clean(str(self.path))} ({state})"


def files_named_in(contents: Any, folder: str | os.PathLike[str] = ".") -> list[NamedFile]:
    """Return the Python files that the contents of an artefact name, in keys and in values.

    Args:
        contents: mappings, lists and texts, as `json` or `tomllib` read them.
        folder: the folder from which the artefact's paths lead to files.
    """
    return [
        NamedFile(keys, text, path, _hash_of(path))
        for keys, text in _texts_in(contents)
        for mention in _MENTION.findall(text)
        for path in [Path(folder) / Path(_path_in(text, mention)).expanduser()]
    ]


def check_artefact(
    source: str, contents: Any, folder: str | os.PathLike[str] = ".", *, trust: bool = False
) -> list[NamedFile]:
    """Refuse an artefact that names Python files, unless they are trusted; run nothing.

    Args:
        source: the artefact, at the beginning of the error.
        contents, folder: see `files_named_in`.
        trust: whether its files may be run; they also may within `trusting`.

    Returns:
        The files that it names.

    Raises:
        InvalidValueError: it names files, and they are not trusted; lists them with their hashes.
    """
    found = files_named_in(contents, folder)
    if found and not (trust or trusted()):
        raise InvalidValueError(
            f"{source}: {'; '.join(dict.fromkeys(map(str, found)))}, which would be run. Expected"
            " your permission. Read the code, then give --trust (in Python: trust=True)."
        )
    return found


def _texts_in(contents: Any, keys: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Yield all texts, with the keys that lead to them."""
    if isinstance(contents, str):
        yield keys, contents
    elif isinstance(contents, Mapping):
        for key, value in contents.items():
            yield from _texts_in(str(key), (*keys, key))
            yield from _texts_in(value, (*keys, key))
    elif isinstance(contents, list | tuple):
        for number, value in enumerate(contents):
            yield from _texts_in(value, (*keys, number))


def _path_in(text: str, mention: str) -> str:
    """Return the path of a text that is nothing but a reference, else the mention within it."""
    return text[: text.rindex(".py") + 3] if is_file_reference(text) else mention


def _hash_of(path: Path) -> str | None:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, ValueError):
        return None
