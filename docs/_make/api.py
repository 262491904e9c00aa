"""Write a page for each tier of the API, from its docstrings: ``python docs/_make/api.py``.

``python docs/_make/api.py FOLDER`` writes a page for each package of this repository that has public
names in Python. It needs none of `ABSENT`: these packages are only imported, and have stand-ins."""

from __future__ import annotations

import ast
import enum
import functools
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import absent

DOCS = Path(__file__).resolve().parents[1]
PLUGINS = DOCS.parent / "plugins"
PACKAGES = sorted(
    path.parent.name
    for path in PLUGINS.glob("*/neurogym_*/__init__.py")
    if "__all__" in path.read_text("utf-8")
)
"""Packages of this repository with public names in Python."""
ABSENT = (
    "jax", "joblib", "pyarrow", "pytest", "sb3_contrib", "stable_baselines3", "threadpoolctl", "torch",
)  # fmt: skip
"""Imports of these packages that the environment of the site does not have."""

# Classes that the core instantiates; you only use the instances.
MADE_BY_THE_CORE = {
    "TrialBuilder": "passed to `Task.new_trial`",
    "TrialBatch": "returned by `Task.sample`",
    "Outcome": "an `enum.IntEnum`",
    "Actions": "`Task.actions`",
    "Batch": "returned by `next(dataset)`",
    "Block": "dealt by a `Dealer`",
    "Manifest": "returned by `parse_manifest`",
    "PackageInfo": "in `installed().packages`",
    "PlayCommand": "give it to `click.command(cls=…)`",
    "Reference": "in `TaskInfo.references`",
    "Tables": "`TrialBatch.tables`, or `Block.tables`",
    "TaskInfo": "returned by `find_task`",
}
# Classes whose signature hides their arguments: `__new__` chooses a class, or subclasses change it.
SIGNED_BY_INIT = {"Dataset"}
ELSEWHERE = ("gymnasium.", "click.", "collections.", "typing")
"""Packages whose methods are described there, and not again in classes that override them."""
SIGNATURES = {"TaskWrapper": "(task: Task, **parameters: Any)"}

TIERS = {
    "api": ("neurogym_core", "API reference", """For authors of tasks, wrappers and subjects, and for all who play them. Packages that play or render trials
find more in [the API for players](api-players.md), packages with commands in [the API for tools](api-tools.md);
[all other names may change without notice](versions.md)."""),
    "api-players": ("neurogym_core.players", "API for players", """For packages that play or render trials. Tasks and wrappers rarely need these names: theirs are in
[the API reference](api.md). [The rules of changes](versions.md) is the same for both."""),
    "api-tools": ("neurogym_core.tools", "API for tools", """For packages with commands: options, pages in the terminal, files, installed packages, errors.
[The rules of changes](versions.md) is the same as for [the API reference](api.md)."""),
}  # fmt: skip
"""Page -> module, title, and purpose."""

HEAD = """# {title}

<!-- Made by docs/_make/api.py from the docstrings; do not edit it here. -->

{about}

Import these names from `{module}`. Shapes are written as (n, S), for n trials and S segments. Times are in ms unless
the text says steps; angles are in radians. The [glossary](glossary.md) defines the terms.
"""

SECTIONS = ("Args", "Attributes", "Returns", "Raises", "Example")


@dataclass(frozen=True)
class Entry:
    """A public name, or a member of a public class.

    Args:
        name: qualified name, such as ``"Task.sample"``.
        value: the object; for a property, its getter.
        kind: "function", "class", "method", "property" or "constant".
        doc: docstring, or "" if there is none.
    """

    name: str
    value: Any
    kind: str
    doc: str

    @property
    def sections(self) -> dict[str, str]:
        """Sections of the docstring by heading, in order; the description has the heading ""."""
        parts = re.split(rf"^({'|'.join(SECTIONS)}):\n", self.doc, flags=re.MULTILINE)
        found = {"": parts[0].strip()}
        for heading, body in zip(parts[1::2], parts[2::2], strict=True):
            found[heading] = textwrap.dedent(body).strip("\n")
        return found

    @property
    def parameters(self) -> list[str]:
        """Names of the parameters without `self`."""
        signature = self.signature
        return (
            [name for name in signature.parameters if name not in {"self", "cls"}]
            if signature
            else []
        )

    @property
    def signature(self) -> inspect.Signature | None:
        """Signature, or None if the object is not callable."""
        if self.kind in {"property", "constant"} or self.name in {*MADE_BY_THE_CORE, *SIGNATURES}:
            return None
        value = self.value.__init__ if self.name in SIGNED_BY_INIT else self.value
        try:
            signature = inspect.signature(value)
        except ValueError:  # an exception, with the signature of all exceptions
            return None
        if self.kind == "class":
            return signature.replace(return_annotation=inspect.Signature.empty)
        return signature


def groups(tier: ModuleType) -> dict[str, list[str]]:
    """The names of a tier by heading, as its stub lists them."""
    _, *parts = re.split(r"^# (.+):$", _stub(tier), flags=re.MULTILINE)
    found = zip(parts[::2], parts[1::2], strict=True)
    return {title: re.findall(r" as (\w+)$", text, re.MULTILINE) for title, text in found}


def _stub(tier: ModuleType) -> str:
    return Path(tier.__file__ or "").with_suffix(".pyi").read_text("utf-8")


def entries(tier: ModuleType) -> dict[str, list[Entry]]:
    """Return the entries of each name of a tier: its own entry, then those of its members."""
    names = (name for found in groups(tier).values() for name in found)
    return {name: [_entry(name, tier), *_members(name, tier)] for name in names}


def _entry(name: str, package: ModuleType) -> Entry:
    value = getattr(package, name)
    if inspect.isclass(value):
        return Entry(name, value, "class", _own_doc(value))
    if getattr(value, "__name__", "") == name:
        return Entry(name, value, "function", _own_doc(value))
    doc = _doc_below(home(name, package), name)
    if not doc and callable(value):
        doc = _own_doc(value)
    return Entry(name, value, "function" if name == "hookimpl" else "constant", doc)


def home(name: str, package: ModuleType) -> str:
    """The module in which a public name is defined."""
    if package.__name__ in {module for module, *_ in TIERS.values()}:
        return re.findall(rf"^from (\S+) import {name} as", _stub(package), re.MULTILINE)[0]
    return getattr(getattr(package, name), "__module__", package.__name__)


def _own_doc(value: Any) -> str:
    return inspect.cleandoc(value.__doc__ or "")


def _doc_below(module: str, name: str) -> str:
    """The string below the assignment of a name, which documents it."""
    body = ast.parse(inspect.getsource(sys.modules[module])).body
    for node, after in pairwise(body):
        assigned = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
        if assigned and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            return inspect.cleandoc(after.value.value)
    return ""


def _members(name: str, package: ModuleType) -> Iterator[Entry]:
    """Public methods and properties of a class, those of its private bases too.

    An override without a docstring means the same as the method of the public base, or one of `ELSEWHERE`.
    """
    owner = getattr(package, name)
    if not inspect.isclass(owner):
        return
    values = [getattr(package, one) for one in package.__all__ if one != name]
    public = {one for one in values if inspect.isclass(one)}
    seen, project = set(), package.__name__.partition(".")[0]
    for base in owner.__mro__:
        if base in public or not base.__module__.startswith(project):
            continue
        for member, value in vars(base).items():
            described = _described(value)
            if member.startswith("_") or member in seen or described is None:
                continue
            seen.add(member)
            function, kind = described
            if getattr(function, "__annotations__", {}).get("return") == "NoReturn":
                continue  # a method that is refused, such as those that change a dict
            doc = _own_doc(function)
            above = {
                parent
                for one in owner.__mro__[1:]
                if one in public or one.__module__.startswith(ELSEWHERE)
                for parent in one.__mro__
            }
            inherited = any(member in vars(parent) for parent in above)
            # Other attributes are in the text of the class.
            if doc or not (inherited or kind == "property"):
                yield Entry(f"{name}.{member}", function, kind, doc)


def _described(value: Any) -> tuple[Any, str] | None:
    """The function behind an attribute of a class, and its kind; None for other attributes."""
    if isinstance(value, classmethod | staticmethod):
        return value.__func__, "method"
    if isinstance(value, property):
        return value.fget, "property"
    if isinstance(value, functools.cached_property):
        return value.func, "property"
    return (value, "method") if inspect.isfunction(value) else None


# ---- the page --------------------------------------------------------------------------------------------------


def page(name: str) -> str:
    """The page of a tier."""
    module, title, about = TIERS[name]
    tier = import_module(module)
    found = entries(tier)
    parts = [HEAD.format(module=module, title=title, about=about), _contents(groups(tier))]
    for heading, names in groups(tier).items():
        parts.append(f"## {heading}")
        for one in names:
            first, *members = found[one]
            parts.append(_written(first, "###"))
            parts += [_written(member, "####") for member in members]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _contents(found: Mapping[str, Sequence[str]]) -> str:
    rows = [
        f"| {title} | {', '.join(f'[`{name}`](#{name.lower()})' for name in names)} |"
        for title, names in found.items()
    ]
    return "\n".join(["| for | names |", "|---|---|", *rows])


def write_packages(folder: Path) -> None:
    """Write the pages of all packages into a folder, and leave stand-ins in this process."""
    sys.path[:0] = [str(PLUGINS / name.replace("_", "-")) for name in PACKAGES]
    import_module("pandas")  # which looks for the version of pyarrow
    absent.stand_in_for(ABSENT)
    for name in PACKAGES:
        text = page_of_package(import_module(name))
        (folder / f"{name}.md").write_text(text, "utf-8")


def page_of_package(package: ModuleType) -> str:
    """The page of a package's public names: those in its ``__all__``."""
    for name in package.__all__:
        if not hasattr(package, name):  # a submodule, which `from package import name` imports
            import_module(f"{package.__name__}.{name}")
    parts = [
        f"# API of {package.__name__}",
        f"Import these names from `{package.__name__}`. The [core has its own page](../docs/api.md).",
    ]
    for name in package.__all__:
        parts.append(_written(_entry(name, package), "##"))
        parts += [_written(one, "###") for one in _members(name, package)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _written(entry: Entry, level: str) -> str:
    """Heading, signature and docstring of an entry."""
    short = entry.name.rpartition(".")[2]
    parts = [f"{level} {entry.name}"]
    if entry.signature is not None:
        parts.append(f"```python\n{_call(short, entry.signature)}\n```")
    elif entry.name in SIGNATURES:
        parts.append(f"```python\n{short}{SIGNATURES[entry.name]}\n```")
    if entry.kind == "constant" and not callable(entry.value):
        value = entry.value
        # The order of a set, as the address of a function, differs in every process.
        said = (
            "{" + ", ".join(map(repr, sorted(value))) + "}"
            if isinstance(value, frozenset)
            else repr(value)
        )
        parts.append(f"`{short} = {said}`")
    notes = []
    if entry.name in MADE_BY_THE_CORE:
        notes.append(MADE_BY_THE_CORE[entry.name])
    if entry.kind == "property":
        notes.append("property")
    if notes:
        parts.append(f"*{', '.join(notes)}*")
    for heading, body in entry.sections.items():
        parts += _section(heading, body)
    return "\n\n".join(parts)


def _section(heading: str, body: str) -> list[str]:
    if not heading:
        return [_prose(body)] if body else []
    if heading == "Example":
        return [f"```pycon\n{body}\n```"]
    if heading == "Returns":
        return [f"**Returns** {_prose(body)}"]
    title = {"Args": "Arguments"}.get(heading, heading)
    return [f"**{title}**", "\n".join(f"- {name}: {_prose(said)}" for name, said in items_of(body))]


def items_of(body: str) -> list[tuple[str, str]]:
    """The entries ``name: text`` of a section, continuation lines joined."""
    found: list[list[str]] = []
    for line in body.splitlines():
        if found and (line.startswith(" ") or ": " not in f"{line} "):
            found[-1][1] += f" {line.strip()}"
        elif line.strip():
            name, _, said = line.partition(":")
            found.append([name, said.strip()])
    return [
        (", ".join(f"`{one.strip()}`" for one in name.split(",")), said) for name, said in found
    ]


def _prose(text: str) -> str:
    """Markdown of a description: literals in single backticks, blocks behind ``::`` as code."""
    parts = []
    for block in text.split("\n\n"):
        if block.startswith("    ") or (block.startswith(" ") and parts):
            parts.append(f"```python\n{textwrap.dedent(block)}\n```")
        else:
            parts.append(re.sub(r"::$", ":", block.replace("``", "`")))
    return "\n\n".join(parts)


class _Raw(str):
    """A text that is its own `repr`: annotations and defaults without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _call(name: str, signature: inspect.Signature) -> str:
    """A call with its parameters, one a line where they are many."""
    parameters = [
        one.replace(annotation=_annotation(one.annotation), default=_default(one.default))
        for key, one in signature.parameters.items()
        if key not in {"self", "cls"}
    ]
    signature = signature.replace(
        parameters=parameters, return_annotation=_annotation(signature.return_annotation)
    )
    line = f"{name}{signature}"
    if len(line) <= 100:
        return line
    stars = [str(one) for one in parameters]
    first = next((k for k, one in enumerate(parameters) if one.kind is one.KEYWORD_ONLY), None)
    if first is not None and not any(one.kind is one.VAR_POSITIONAL for one in parameters):
        stars.insert(first, "*")
    result = signature.return_annotation
    arrow = "" if result is inspect.Signature.empty else f" -> {result}"
    return "\n".join([f"{name}(", *(f"    {one}," for one in stars), f"){arrow}"])


def _annotation(value: Any) -> Any:
    if value is inspect.Signature.empty:
        return value
    return _Raw(value if isinstance(value, str) else inspect.formatannotation(value))


def _default(value: Any) -> Any:
    if value is inspect.Parameter.empty:
        return value
    if isinstance(value, enum.Enum):
        return _Raw(repr(value.value))
    if isinstance(value, MappingProxyType):
        return _Raw(repr(dict(value)))
    return (
        value
        if isinstance(value, str)
        else _Raw("{}" if repr(value) == "<factory>" else repr(value))
    )


if __name__ == "__main__":
    if sys.argv[1:]:
        write_packages(Path(sys.argv[1]))
    else:
        for name in TIERS:
            (DOCS / f"{name}.md").write_text(page(name), "utf-8")
