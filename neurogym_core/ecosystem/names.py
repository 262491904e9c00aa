"""Names: their syntax, those of the core and of this project's other packages; foreign text.

The offers of the other packages, for errors, help texts and searches, have one source:
``index.json`` of the repository's registry, of which wheels of the core have a copy. Installed
packages are found through entry points, not through this list.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from neurogym_core.ecosystem.published import how_to_install
from neurogym_core.errors import nearest

_CORE = Path(__file__).resolve().parents[1]
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


def resembling(name: str, known: Iterable[str]) -> str | None:
    """Return the first known name that equals another, or is nearly it; None if none is.

    It differs by one letter at most, or by one swap of neighbours.
    """
    for other in known:
        short, long = sorted((name, other), key=len)
        while short and short[0] == long[0]:
            short, long = short[1:], long[1:]
        same = long[1:] == short if len(long) > len(short) else long[1:] == short[1:]
        if same or (long[:2] == short[1::-1] and long[2:] == short[2:]):
            return other
    return None


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
    module = (getattr(error, "name", None) or "").partition(".")[0]
    package = brought("modules").get(module) if isinstance(error, ImportError) else None
    return f"{said}. {comes_with(module, package)}" if package else said


class ListedTask(NamedTuple):
    """A task of this project: its id and title, its package, and all its words."""

    id: str
    title: str
    package: str
    words: str


@cache
def rows() -> tuple[dict[str, Any], ...]:
    """Return the rows of the packages; none if the list cannot be read."""
    for root in (_CORE / "_bundled", _CORE.parent / "registry"):  # of a wheel, of a checkout
        try:
            return tuple(json.loads((root / "index.json").read_text("utf-8"))["packages"])
        except (OSError, ValueError):  # an incomplete installation must not replace an error
            continue
    return ()


@cache
def brought(kind: str) -> dict[str, str]:
    """Return {name: package} for a kind.

    Args:
        kind: "commands", "subjects", "plugins", "wrappers", "former wrappers", "tasks" (bare
            names), "namespaces" or "modules".
    """
    found: dict[str, str] = {}
    for row in rows():
        if kind in ("tasks", "wrappers"):
            own = [one["name"] for one in row[kind]]
        elif kind == "former wrappers":
            own = [old for one in row["wrappers"] for old in one["aliases"]]
        elif kind == "namespaces":
            own = [row["namespace"]] if row["tasks"] else []
        else:
            own = row["offers"].get(kind, ())
            own = [row["name"].replace("-", "_")] if kind == "modules" else own
        found |= dict.fromkeys(own, row["name"])
    return found


@cache
def helps(kind: str) -> dict[str, str]:
    """Return {name: line of help} for "commands" or "subjects", so that help texts import none."""
    own = (row.get("helps", {}).get(kind, {}) for row in rows())
    return {name: text for some in own for name, text in some.items()}


def help_line(kind: str, name: str, owners: Iterable[str]) -> str:
    """Return the line of help about an offer, or the packages of strangers that have it."""
    owners = dict.fromkeys(owners)
    ours = [*owners] == [brought(kind).get(name)]
    return helps(kind)[name] if ours else f"from {' and from '.join(owners)}"


def plain(text: str) -> str:
    """Return a text in lower case without accents, so that "hernandez" finds "Hernández"."""
    import unicodedata  # not needed to make a task

    folded = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in folded if not unicodedata.combining(letter))


@cache
def tasks() -> tuple[ListedTask, ...]:
    """Return the tasks of all packages; their words are those of titles, tags, papers and so on."""
    found = []
    for row in rows():
        for task in row["tasks"]:
            papers = [str(one.get(field, "")) for one in task.get("references", ())
                      for field in ("authors", "year", "title", "doi")]  # fmt: skip
            words = (row["name"], task["name"], task["title"], task["summary"], *task["tags"],
                     *task["species"], *task.get("aliases", ()), *papers)  # fmt: skip
            name = f"{row['namespace']}/{task['name']}"
            found.append(ListedTask(name, task["title"], row["name"], plain(" ".join(words))))
    return tuple(found)


def similar_task(name: str) -> ListedTask | None:
    """Return the task whose name is nearest to an unknown one, or None if none is near."""
    known = {task.id.rpartition("/")[2]: task for task in tasks()}
    near = nearest(name.rpartition("/")[2], known, 0.8)
    return None if near is None else known[near]


def comes_with(what: str, package: str | None) -> str:
    """Return the line that names the package that brings something.

    For example: 'check' comes with neurogym-check: `pip install -e /src/plugins/neurogym-check`

    Args:
        what: the missing command, wrapper, ability and so on.
        package: its package; None if the list of packages cannot be read.
    """
    if package is None:
        return f"{what!r} comes with a package that is not installed. Install the core again."
    return f"{what!r} comes with {package}: {how_to_install(package)}"
