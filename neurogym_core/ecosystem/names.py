"""The grammar of names: distributions, namespaces, tasks, wrappers, and text that others wrote."""

from __future__ import annotations

import re
import unicodedata

from neurogym_core._patterns import Pattern
from neurogym_core.ecosystem.companions import where_it_went

CORE = "neurogym-core"
_OWN_NAMESPACES = {CORE: "core", "neurogym-wrappers": "wrappers"}
TASK_PREFIX = "neurogym-task-"

TASK_NAME = Pattern(r"[A-Z][A-Za-z0-9]*-v(0|[1-9][0-9]*)")
WRAPPER_NAME = Pattern(r"[A-Z][A-Za-z0-9]*")
COMMAND_NAME = Pattern(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
SUBJECT_NAME = Pattern(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
VALUE = Pattern(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
MODULE_VALUE = Pattern(r"[^\W\d]\w*(\.[^\W\d]\w*)*(:[^\W\d]\w*(\.[^\W\d]\w*)*)?")

SUBJECTS = ("random", "guess", "rest", "oracle", "late_oracle", "premature", "integrator")
"""Names of the core's subjects, whose module imports NumPy. No package can take one of them."""

_DISTRIBUTION = Pattern(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_WORD_START = Pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def is_distribution_name(name: str) -> bool:
    """Whether pip could have installed something of this name; others are not repeated in a command
    to type.
    """
    return _DISTRIBUTION.fullmatch(name) is not None


def canonical(distribution: str) -> str:
    """The one spelling of a distribution's name: ``Foo_Bar.baz`` and ``foo-bar-baz`` are the
    same.
    """
    return re.sub(r"[-_.]+", "-", distribution).lower()


def namespace_of(distribution: str) -> str:
    """The namespace of a distribution's ids, which no other distribution can have.

    ``neurogym-task-foo`` has ``foo``, the core has ``core``, neurogym-wrappers has ``wrappers``,
    and any other its whole name behind ``x-``; so have ``neurogym-task-core``,
    ``neurogym-task-wrappers`` and ``neurogym-task-x-…``, which would otherwise claim the namespace
    of another package."""
    name = canonical(distribution)
    if name in _OWN_NAMESPACES:
        return _OWN_NAMESPACES[name]
    short = name.removeprefix(TASK_PREFIX)
    taken = short in _OWN_NAMESPACES.values() or short.startswith("x-")
    if short != name and not taken:
        return short
    return f"x-{name}"


def snake_case(name: str) -> str:
    """``ReactionTime`` and ``reaction_time`` as ``reaction_time``."""
    return _WORD_START.sub("_", name).lower()


def tag_key(text: str) -> str:
    """A tag as it is compared: ``Working memory`` and ``working_memory`` are ``working-memory``."""
    return re.sub(r"[\s_/-]+", "-", text.strip().casefold())


def clean(text: str, *, keep_lines: bool = False) -> str:
    """The text without what can move a terminal's cursor, hide or reorder characters; runs of
    blanks become one.

    Control characters, escape sequences' ESC, bidirectional overrides, lone surrogates and private
    characters go.

    Args:
        text: anything that somebody else wrote.
        keep_lines: leave line ends and indentation, for docstrings and tracebacks.
    """
    if text.isprintable() and "  " not in text and text == text.strip():
        return (
            text  # nearly all of them; looking at each character takes a fifth of a listing's time
        )
    if keep_lines:
        return "\n".join(_printable(line.replace("\t", "    ")) for line in text.splitlines())
    return " ".join(_printable(re.sub(r"\s", " ", text)).split())


def _printable(text: str) -> str:
    return "".join(char for char in text if not unicodedata.category(char).startswith("C"))


def said_by(error: BaseException) -> str:
    """``TypeError: what it says``, even of an exception whose ``__str__`` fails; of an import of a
    module that a package of this project brings, which package that is.
    """
    try:
        text = str(error)
    except Exception:
        text = "(its message cannot be read)"
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    pointer = where_it_went(error, text)
    return f"{said}. {pointer}" if pointer else said
