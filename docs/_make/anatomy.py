"""Measure the sources of packages, for a table that compares this project with others.

``python docs/_make/anatomy.py [HEADING=]FOLDER[:TESTS[,TESTS…]] …`` prints a Markdown table with a column for each
package, e.g. ``core=neurogym_core:tests``. Nothing is imported; all numbers are counted in the text:

- A module is a ``.py`` file, a function any ``def``, methods and nested ones included. A function's lines run from
  its ``def`` to its end, docstring included, decorators not.
- Files in the package named ``test_*.py``, ``*_test.py`` or ``conftest.py`` count as tests.
- Parameters include ``self``, but not ``*args`` and ``**kwargs``.
- A private function is called once if the package has one name or attribute that is written like it.
- Deferred import cycles include imports for types only; in-function imports do not.
- A comment behind code makes a comment line too; characters of a line include its end.
"""

from __future__ import annotations

import ast
import io
import statistics
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

LONG_FUNCTION = 40
MANY_PARAMETERS = 6
LONG_LINE = 100

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """A file of a package.

    Args:
        name: dotted name, the package's included.
        path: the file.
    """

    name: str
    path: Path

    @cached_property
    def text(self) -> str:
        """The file's text."""
        return self.path.read_text("utf-8")

    @cached_property
    def lines(self) -> list[str]:
        """The file's lines."""
        return self.text.splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        """The file's syntax tree."""
        return ast.parse(self.text)

    @property
    def is_package(self) -> bool:
        """Whether it is an ``__init__.py``."""
        return self.path.name == "__init__.py"


@dataclass(frozen=True)
class Function:
    """A function or method.

    Args:
        node: its definition.
    """

    node: FunctionNode

    @property
    def length(self) -> int:
        """Lines from ``def`` to the end."""
        return self.node.end_lineno - self.node.lineno + 1

    @property
    def parameters(self) -> int:
        """Number of parameters, ``self`` included, ``*args`` and ``**kwargs`` not."""
        args = self.node.args
        return len(args.posonlyargs) + len(args.args) + len(args.kwonlyargs)


@dataclass
class Package:
    """The modules of a package, without its tests.

    Args:
        folder: the package's folder.
        tests: folders or files of tests outside of it.
    """

    folder: Path
    tests: Sequence[Path] = ()
    inner_tests: list[Path] = field(default_factory=list)

    @cached_property
    def modules(self) -> list[Module]:
        """All modules except tests, sorted by path."""
        found = []
        for path in sorted(self.folder.rglob("*.py")):
            parts = path.relative_to(self.folder).with_suffix("").parts
            if _is_test(path):
                self.inner_tests.append(path)
                continue
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            found.append(Module(".".join((self.folder.name, *parts)), path))
        return found

    @cached_property
    def functions(self) -> list[Function]:
        """All functions of all modules."""
        return [one for module in self.modules for one in functions_of(module.tree)]

    @cached_property
    def lines(self) -> int:
        """Lines of all modules."""
        return sum(len(module.lines) for module in self.modules)

    @cached_property
    def test_lines(self) -> int:
        """Lines of all tests, inside and outside."""
        _ = self.modules
        outside = [
            path
            for place in self.tests
            for path in (place.rglob("*.py") if place.is_dir() else [place])
        ]
        return sum(
            len(path.read_text("utf-8").splitlines()) for path in {*outside, *self.inner_tests}
        )


def _is_test(path: Path) -> bool:
    return (
        path.stem.startswith("test_") or path.stem.endswith("_test") or path.name == "conftest.py"
    )


# ---- counting --------------------------------------------------------------------------------------------------


def functions_of(tree: ast.AST) -> list[Function]:
    """The functions and methods of a tree, nested ones included."""
    return [Function(node) for node in ast.walk(tree) if isinstance(node, FunctionNode)]


def classes_of(tree: ast.AST) -> list[ast.ClassDef]:
    """All classes of a tree."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


def methods_of(node: ast.ClassDef) -> int:
    """Number of methods that a class defines, overloads and setters included."""
    return sum(isinstance(one, FunctionNode) for one in node.body)


def called_once(package: Package) -> int:
    """Private functions and methods to which the package refers in exactly one place, by any attribute or
    name that is written alike; names that several functions have are left out.
    """
    uses: Counter[str] = Counter()
    for module in package.modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Name):
                uses[node.id] += 1
            elif isinstance(node, ast.Attribute):
                uses[node.attr] += 1
    names = Counter(one.node.name for one in package.functions)
    return sum(
        count == 1 and uses[name] == 1 and name.startswith("_") and not name.startswith("__")
        for name, count in names.items()
    )


def imports_of(tree: ast.AST) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    """The import statements of a tree, with when they run: "at import", "deferred" to a call, or "never": under
    ``if TYPE_CHECKING:``.
    """
    yield from _imports(tree, "at import")


def _imports(tree: ast.AST, when: str) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, when
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from _imports(ast.Module(node.body, []), "never")
            yield from _imports(ast.Module(node.orelse, []), when)
        elif isinstance(node, FunctionNode):
            yield from _imports(node, "deferred" if when == "at import" else when)
        else:
            yield from _imports(node, when)


def cycle(package: Package, *, deferred: bool) -> int:
    """Modules in the largest import cycle; 1 if there is none.

    Args:
        package: the package.
        deferred: whether imports inside of functions, and those for types only, count too.
    """
    known = {module.name for module in package.modules}
    graph = {
        module.name: {
            name
            for node, when in imports_of(module.tree)
            if deferred or when == "at import"
            for name in _imported(node, module, known)
            if name != module.name
        }
        for module in package.modules
    }
    return max((len(one) for one in _components(graph)), default=1)


def _imported(node: ast.Import | ast.ImportFrom, module: Module, known: set[str]) -> Iterator[str]:
    """The package's modules that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in known)
        return
    base = node.module or ""
    if node.level:
        parts = module.name.split(".")
        parts = parts[: len(parts) - node.level + module.is_package]
        base = ".".join([*parts, *filter(None, [node.module])])
    for alias in node.names:
        name = f"{base}.{alias.name}"
        if name in known:
            yield name
        elif base in known:
            yield base


def _components(graph: dict[str, set[str]]) -> list[set[str]]:
    """The strongly connected components (Kosaraju)."""
    order: list[str] = []
    _visit(graph, graph, order.append)
    backward: dict[str, set[str]] = {name: set() for name in graph}
    for name, follows in graph.items():
        for one in follows:
            backward[one].add(name)
    found: list[set[str]] = []
    seen: set[str] = set()
    for start in reversed(order):
        if start not in seen:
            mine: list[str] = []
            _visit(backward, [start], mine.append, seen)
            found.append(set(mine))
    return found


def _visit(
    graph: dict[str, set[str]], starts: Iterable[str], leave: Any, seen: set[str] | None = None
) -> None:
    """Walk a graph depth first from `starts`, and call `leave` with each node that is left."""
    seen = set() if seen is None else seen
    for start in starts:
        if start in seen:
            continue
        seen.add(start)
        stack = [(start, iter(sorted(graph[start])))]
        while stack:
            name, follows = stack[-1]
            for one in follows:
                if one not in seen:
                    seen.add(one)
                    stack.append((one, iter(sorted(graph[one]))))
                    break
            else:
                leave(name)
                stack.pop()


def comment_lines(text: str) -> int:
    """Lines with a comment, alone or behind code."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type == tokenize.COMMENT for token in tokens)


def docstring_lines(tree: ast.AST) -> int:
    """Lines of all docstrings of a tree."""
    found = 0
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | FunctionNode)
            and ast.get_docstring(node, clean=False) is not None
        ):
            said = node.body[0]
            found += said.end_lineno - said.lineno + 1
    return found


def documented(package: Package) -> tuple[int, int]:
    """Classes, functions and methods without an underscore that have a docstring, and all of them."""
    nodes: list[Any] = [one.node for one in package.functions]
    nodes += [node for module in package.modules for node in classes_of(module.tree)]
    public = [node for node in nodes if not node.name.startswith("_")]
    return sum(ast.get_docstring(node) is not None for node in public), len(public)


def annotated(package: Package) -> tuple[int, int]:
    """Functions and methods without an underscore whose result is annotated, and all of them."""
    public = [one.node for one in package.functions if not one.node.name.startswith("_")]
    return sum(node.returns is not None for node in public), len(public)


def public_names(package: Package) -> int | None:
    """Number of names in the package's ``__all__``; None where it cannot be read off the text."""
    top = next((module for module in package.modules if module.name == package.folder.name), None)
    values: dict[str, list[Any]] = {}
    for node in top.tree.body if top else []:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    values[target.id] = _elements(node.value, values)
    found = values.get("__all__")
    return len(found) if found else None


def _elements(node: ast.expr, values: dict[str, list[Any]]) -> list[Any]:
    """The elements of a list, tuple or dict in the text; a starred name stands for its own."""
    if isinstance(node, ast.Dict):
        return [key.value for key in node.keys if isinstance(key, ast.Constant)]
    if not isinstance(node, ast.List | ast.Tuple | ast.Set):
        return []
    found: list[Any] = []
    for one in node.elts:
        if isinstance(one, ast.Starred) and isinstance(one.value, ast.Name):
            found += values.get(one.value.id, [])
        elif isinstance(one, ast.Constant):
            found.append(one.value)
    return found


def files_per_folder(package: Package) -> int:
    """The largest number of modules in one folder."""
    return max(Counter(module.path.parent for module in package.modules).values())


# ---- the table -------------------------------------------------------------------------------------------------


def measures(package: Package) -> dict[str, str]:
    """The rows of a package, label -> text."""
    lengths = sorted(one.length for one in package.functions) or [0]
    long = sum(length > LONG_FUNCTION for length in lengths)
    count = len(package.functions) or 1
    parameters = [one.parameters for one in package.functions] or [0]
    methods = [
        n for module in package.modules for n in map(methods_of, classes_of(module.tree))
    ] or [0]
    once = called_once(package)
    deferred = sum(
        when == "deferred" for module in package.modules for _, when in imports_of(module.tree)
    )
    (said, sayable), (typed, typeable) = documented(package), annotated(package)
    lines = [line for module in package.modules for line in module.lines]
    comments = sum(comment_lines(module.text) for module in package.modules)
    docs = sum(docstring_lines(module.tree) for module in package.modules)
    names = public_names(package)
    return {
        "modules / lines": f"{len(package.modules)} / {package.lines:,}",
        "function median / p90 / max": f"{statistics.median_low(lengths)} / {_percentile(lengths, 90)} / {lengths[-1]}",
        f"functions > {LONG_FUNCTION} lines": f"{long} ({_percent(long, count)})",
        "functions": f"{len(package.functions):,}",
        "private, called once": f"{once} ({_percent(once, count)})",
        f"> {MANY_PARAMETERS} parameters": f"{_percent(sum(n > MANY_PARAMETERS for n in parameters), count)} (max {max(parameters)})",
        "methods per class, median / max": f"{statistics.median_low(methods)} / {max(methods)}",
        "public names of the package": "-" if names is None else str(names),
        "import cycle, at import / deferred too": f"{cycle(package, deferred=False)} / {cycle(package, deferred=True)}",
        "in-function imports": str(deferred),
        "tests / code": f"{package.test_lines / package.lines:.2f}" if package.test_lines else "-",
        "public documented / returns annotated": f"{_percent(said, sayable)} / {_percent(typed, typeable)}",
        "comment lines": _percent(comments, len(lines)),
        "docstring share": _percent(docs, len(lines)),
        f"characters a line / lines > {LONG_LINE}": f"{sum(map(len, lines)) / len(lines) + 1:.1f} / {_percent(sum(len(line) > LONG_LINE for line in lines), len(lines))}",
        "files per folder, max": str(files_per_folder(package)),
    }


def _percent(part: int, whole: int) -> str:
    share = 100 * part / whole if whole else 0.0
    return f"{share:.1f} %" if 0 < share < 10 else f"{share:.0f} %"


def _percentile(ordered: Sequence[int], percent: int) -> int:
    """The value that `percent` of the sorted values do not exceed (nearest rank)."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def table(packages: dict[str, Package]) -> str:
    """A Markdown table, a column for each package by its heading."""
    columns = {heading: measures(package) for heading, package in packages.items()}
    rows = [["", *columns], ["---"] * (len(columns) + 1)]
    rows += [
        [label, *(column[label] for column in columns.values())]
        for label in next(iter(columns.values()))
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def parse(argument: str) -> tuple[str, Package]:
    """The heading and the package of ``[HEADING=]FOLDER[:TESTS[,TESTS…]]``."""
    heading, _, rest = argument.rpartition("=")
    folder, _, tests = rest.partition(":")
    places = [Path(one) for one in tests.split(",") if one]
    return heading or Path(folder).name, Package(Path(folder).resolve(), places)


def main(arguments: Sequence[str]) -> int:
    """Print the table of the packages in `arguments`."""
    packages = dict(map(parse, arguments))
    missing = [
        str(p) for one in packages.values() for p in (one.folder, *one.tests) if not p.exists()
    ]
    if missing or not packages:
        print(f"No such folder: {', '.join(missing)}" if missing else __doc__, file=sys.stderr)
        return 2
    print(table(packages))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
