"""Syntax of names (distributions, namespaces, tasks, wrappers), and cleaning of foreign text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import partial

from neurogym_core.ecosystem.advice import brought, of_missing_module

CORE = "neurogym-core"
_OWN_NAMESPACES = {CORE: "core", "neurogym-wrappers": "wrappers"}
TASK_PREFIX = "neurogym-task-"

FORMS = {
    "neurogym.tasks": (r"[A-Z][A-Za-z0-9]*-v(0|[1-9][0-9]*)", "CapitalizedWords-v0"),
    "neurogym.wrappers": (r"[A-Z][A-Za-z0-9]*", "CapitalizedWords"),
    "neurogym.commands": (r"[a-z][a-z0-9]*(-[a-z0-9]+)*", "lower-case-words"),
    "neurogym.subjects": (r"[a-z][a-z0-9]*(_[a-z0-9]+)*", "lower_case_words"),
}
"""{group: form of its names, and the form in words}"""
VALUE = r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*"
MODULE_VALUE = r"[^\W\d]\w*(\.[^\W\d]\w*)*(:[^\W\d]\w*(\.[^\W\d]\w*)*)?"

SUBJECTS = {
    "random": "Takes a random action on every step.",
    "guess": "Rests until the response window, then answers at random.",
    "rest": "Never acts.",
    "oracle": "Takes the correct action on every step.",
    "late_oracle": "Answers correctly, 500 ms after the response window opens. Settings: wait=500.",
    "premature": "Answers at random on every step, without waiting for the response window.",
}
"""{subject of the core: summary}; `neurogym_core.subjects`, with the classes, imports NumPy.

No package can take one of these names.
"""

COMMANDS = {
    "completion": "Print a script for shell completion of commands and task names.",
    "info": "Describe a task, a wrapper or an installed package.",
    "list": "List the installed tasks.",
    "run": "Run trials of a task with a simulated subject.",
}
"""{command of the core: the first sentence of its help}, so that ``ngym --help`` imports none."""

RESERVED_COMMANDS = (
    "help", "login", "logout", "outdated", "publish", "remove", "self", "sync", "update", "upgrade",
    "version",
)  # fmt: skip
"""Names that users would take for commands of this project; no package can use them."""

RUN_FILE = "settings.json"
"""The file by which the folder of a run is known."""

DISTRIBUTION_NAME = r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?"


def taken_command(name: str, distribution: str) -> str | None:
    """Return the command of this project that would be confused with a package's, or None."""
    ours = brought("commands")
    if ours.get(name) == canonical(distribution):
        return None
    return resembling(name, (*COMMANDS, *ours, *RESERVED_COMMANDS))


def resembling(name: str, known: Iterable[str]) -> str | None:
    """Return the first known name that equals another, or is one letter apart; None if none is."""
    return next(filter(partial(one_letter_apart, name), known), None)


def one_letter_apart(one: str, other: str) -> bool:
    """Return whether two texts are equal, or differ by one letter or one swap of neighbours."""
    short, long = sorted((one, other), key=len)
    while short and short[0] == long[0]:
        short, long = short[1:], long[1:]
    if len(long) > len(short):
        return long[1:] == short
    swapped = long[:2] == short[1::-1] and long[2:] == short[2:]
    return long[1:] == short[1:] or swapped


def canonical(distribution: str) -> str:
    """Return the normalised name of a distribution: ``foo-bar-baz`` for ``Foo_Bar.baz``."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def namespace_of(distribution: str) -> str:
    """Return the namespace of a distribution's ids, which no other distribution can have.

    ``neurogym-task-foo`` has ``foo``, the core has ``core``, neurogym-wrappers has ``wrappers``.
    Any other distribution has ``x-`` and its full name, for instance ``x-foolab``. So do
    ``neurogym-task-core``, ``neurogym-task-wrappers`` and ``neurogym-task-x-…``, which would
    otherwise have the namespace of another package.
    """
    name = canonical(distribution)
    if name in _OWN_NAMESPACES:
        return _OWN_NAMESPACES[name]
    short = name.removeprefix(TASK_PREFIX)
    taken = short in _OWN_NAMESPACES.values() or short.startswith("x-")
    if short != name and not taken:
        return short
    return f"x-{name}"


def snake_case(name: str) -> str:
    """Return ``reaction_time`` for ``ReactionTime`` and for ``reaction_time``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def tag_key(text: str) -> str:
    """Return the normalised tag: ``working-memory`` for ``Working memory``, ``working_memory``."""
    return re.sub(r"[\s_/-]+", "-", text.strip().casefold())


def clean(text: str, *, keep_lines: bool = False) -> str:
    """Return the text without characters that can control a terminal or hide text.

    Removes control characters (ESC included), bidirectional overrides, lone surrogates and private
    characters, and replaces each run of blanks by one blank.

    Args:
        text: text from another package or a registry.
        keep_lines: keep line ends and indentation, for docstrings and tracebacks.
    """
    # Nearly every text passes here; a loop over its characters would take a fifth of `ngym list`.
    if text.isprintable() and "  " not in text and text == text.strip():
        return text
    if keep_lines:
        return "\n".join(_printable(line.replace("\t", "    ")) for line in text.splitlines())
    return " ".join(_printable(re.sub(r"\s", " ", text)).split())


def _printable(text: str) -> str:
    return "".join(char for char in text if not unicodedata.category(char).startswith("C"))


def said_by(error: BaseException) -> str:
    """Return ``TypeError: message``, even if the exception's ``__str__`` fails.

    If the import of a module of this project failed, the package that brings it is appended.

    Args:
        error: the exception.
    """
    try:
        text = str(error)
    except Exception:
        text = "(its message cannot be read)"
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    pointer = of_missing_module(error)
    return f"{said}. {pointer}" if pointer else said
