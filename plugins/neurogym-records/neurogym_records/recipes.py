"""Recipes: how a table of trials becomes a trial record, as one expression per column.

A recipe is a TOML file::

    title = "International Brain Laboratory, trials table"
    [columns]
    contrast = "100 * where(isnull(contrastLeft), contrastRight, contrastLeft)"
    correct = "where(choice == 0, nan, feedbackType > 0)"
    [optional]
    reward = "rewardVolume"
    [units]
    reaction_time = "s"

``rows = "not isnull(correct)"``, above ``[columns]``, reads only the rows in which it is true.
Columns under ``optional`` are left out of tables that lack one of the columns they need.

Expressions know columns, numbers, texts, the operators of Python, and the functions in `FUNCTIONS`.
They are read by this module: no attribute, no index, no call of anything else, so that a recipe of
another person cannot run code.
"""

from __future__ import annotations

import ast
import operator
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, NeurogymError, UnknownNameError
from neurogym_core.tools import unknown

RECIPES = Path(__file__).parent / "recipes"
KEYS = {"title", "rows", "no_conditions", "columns", "optional", "units", "notes"}
LONGEST = 1000
"""Maximum number of characters of an expression."""


def _is_null(values: Any) -> np.ndarray:
    array = np.asarray(values)
    return np.isnan(array) if array.dtype.kind == "f" else np.isin(array, ("", "n/a", "nan"))


def _choose(condition: Any, yes: Any, no: Any) -> np.ndarray:
    return np.where(np.asarray(condition, bool), yes, no)


def _first(*values: Any) -> np.ndarray:
    found = np.asarray(values[0])
    for other in values[1:]:
        found = np.where(_is_null(found), other, found)
    return found


def _number(values: Any) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        return array.astype(float)
    return np.where(_is_null(array), "nan", array).astype(float)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "sign": np.sign,
    "sqrt": np.sqrt,
    "log": np.log,
    "log2": np.log2,
    "exp": np.exp,
    "round": np.round,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "isnull": _is_null,
    "where": _choose,
    "first": _first,
    "number": _number,
    "text": lambda values: np.asarray(values).astype(str),
    "isin": lambda values, *known: np.isin(values, known),
}
"""Functions of expressions. `first` returns the first value that is not missing, `where` one of two
values, `number` numbers of texts.
"""
_BINARY: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: np.logical_and,
    ast.BitOr: np.logical_or,
}
_COMPARED: dict[type, Callable[..., Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_UNARY: dict[type, Callable[..., Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: np.logical_not,
    ast.Invert: np.logical_not,
}
_NUMBERS = {"nan": float("nan"), "inf": float("inf"), "True": True, "False": False}


@dataclass(frozen=True)
class Recipe:
    """Expressions per column.

    Attributes:
        columns: name in the record -> expression over the columns of the table.
        optional: the same, for columns that a table may lack.
        units: name in the record -> unit of the expression; times become ms, fractions percent.
        optional: as `columns`, for columns that a table may lack.
        rows: an expression that is true in the rows that are trials; "": all rows are.
        no_conditions: columns that stay in the record and are no conditions, such as times.
    """

    name: str
    title: str
    columns: Mapping[str, str]
    units: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    optional: Mapping[str, str] = field(default_factory=dict)
    rows: str = ""
    no_conditions: tuple[str, ...] = ()

    def trials(self, table: Mapping[str, np.ndarray], source: str) -> np.ndarray:
        """Return which rows of a table are trials, bool (n,)."""
        if not self.rows:
            return np.ones(len(next(iter(table.values()))), bool)
        try:
            return evaluated(self.rows, table, source).astype(bool)
        except UnknownNameError as error:
            raise InvalidValueError(
                f"{source} has no trials by its recipe, which finds them by {self.rows}. {error}"
                " Give the file of a session with trials, or another --recipe."
            ) from None

    def of(self, table: Mapping[str, Any]) -> Recipe:
        """Return the recipe for a table: with those optional columns that it allows."""
        found = {
            name: text
            for name, text in self.optional.items()
            if name not in self.columns and not _lacks(text, table)
        }
        columns = {**self.columns, **found}
        left = [name for name in self.optional if name not in columns]
        units = {name: unit for name, unit in self.units.items() if name not in left}
        return replace(self, columns=columns, units=units, optional={})


def _lacks(text: str, table: Mapping[str, Any]) -> bool:
    try:
        evaluated(text, table, "")
    except UnknownNameError:
        return True
    return False


def recipe_names() -> list[str]:
    """Return the names of the recipes in this package."""
    return sorted(file.stem for file in RECIPES.glob("*.toml"))


def read_recipe(name: str | Path) -> Recipe:
    """Return a recipe of this package by its name, or read one from a TOML file.

    Raises:
        UnknownNameError: there is no such recipe, or it has an unknown key.
        InvalidValueError: the file is no recipe.
    """
    path = Path(name)
    if path.suffix != ".toml":
        if str(name) not in recipe_names():
            raise unknown("recipe", str(name), recipe_names())
        path = RECIPES / f"{name}.toml"
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidValueError(
            f"The recipe {str(path)!r} cannot be read ({error.strerror}). Give a .toml file, or one"
            f" of {', '.join(recipe_names())}."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidValueError(f"{path} is not TOML: {error}. Correct it.") from error
    for key in said:
        if key not in KEYS:
            raise unknown("key", key, sorted(KEYS), of=str(path))
    columns, optional = said.get("columns", {}), said.get("optional", {})
    units, known = said.get("units", {}), {**columns, **optional}
    if not columns or not all(isinstance(text, str) for text in known.values()):
        raise InvalidValueError(
            f"{path} has [columns] = {columns!r:.80}. Expected an expression per column. Write e.g."
            ' correct = "feedbackType > 0".'
        )
    for column in units:
        if column not in known:
            raise unknown("column", column, known, of=f"[columns] of {path}")
        unit_factor(units[column])
    return Recipe(
        path.stem,
        said.get("title", path.stem),
        columns,
        units,
        tuple(said.get("notes", ())),
        optional,
        str(said.get("rows", "")),
        tuple(said.get("no_conditions", ())),
    )


UNITS = {"ms": 1.0, "s": 1000.0, "us": 0.001, "%": 1.0, "fraction": 100.0}
"""Unit -> factor to the unit of records: ms, and percent."""


def unit_factor(unit: str) -> float:
    """Return the factor from `unit` to the unit of records.

    Raises:
        UnknownNameError: an unknown unit.
    """
    if unit not in UNITS:
        raise unknown("unit", unit, UNITS)
    return UNITS[unit]


def evaluated(expression: str, table: Mapping[str, np.ndarray], source: str) -> np.ndarray:
    """Return the values of an expression over the columns of a table, (n,).

    Raises:
        UnknownNameError: a column or function that does not exist.
        InvalidValueError: not an expression, or one that cannot be computed.
    """
    if len(expression) > LONGEST:
        raise InvalidValueError(
            f"An expression of {source} has {len(expression)} characters; at most {LONGEST} are"
            " read. Shorten it."
        )
    if expression in table:  # names of columns need not be names of Python
        return np.asarray(table[expression])
    try:
        tree = ast.parse(expression, mode="eval").body
        with np.errstate(all="ignore"):
            values = np.asarray(_value(tree, table, source))
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise _no_expression(expression, source, "it is no expression") from error
    except NeurogymError:
        raise
    except (TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
        raise _no_expression(expression, source, str(error)) from error
    n = len(next(iter(table.values()), ()))
    try:
        return np.broadcast_to(values, (n,)).copy()
    except ValueError as error:
        raise _no_expression(expression, source, f"its shape is {values.shape}") from error


def names_in(expression: str, table: Mapping[str, np.ndarray]) -> set[str]:
    """Return the columns of the table that an expression reads."""
    if expression in table:
        return {expression}
    nodes = ast.walk(ast.parse(expression, mode="eval"))
    names = (ast.unparse(node) for node in nodes if isinstance(node, ast.Name | ast.Attribute))
    return set(names) & set(table)


def _no_expression(expression: str, source: str, why: str) -> InvalidValueError:
    return InvalidValueError(
        f"{expression!r:.80} of {source} cannot be computed: {why}. Expected columns, numbers,"
        f" texts, operators, and the functions {', '.join(FUNCTIONS)}. Correct it."
    )


def _value(node: ast.expr, table: Mapping[str, np.ndarray], source: str) -> Any:
    def inner(one: ast.expr) -> Any:
        return _value(one, table, source)

    match node:
        case ast.Constant(value=bool() | int() | float() | str()):
            return np.asarray(node.value)  # so that 'x' * 10**9 is an error
        case ast.Name(id=name):
            if name in table:
                return np.asarray(table[name])
            if name in _NUMBERS:
                return _NUMBERS[name]
            raise unknown("column", name, list(table), of=source)
        case ast.Attribute() if ast.unparse(node) in table:  # key_resp.rt, as PsychoPy names it
            return np.asarray(table[ast.unparse(node)])
        case ast.BinOp() if type(node.op) in _BINARY:
            return _BINARY[type(node.op)](inner(node.left), inner(node.right))
        case ast.UnaryOp() if type(node.op) in _UNARY:
            return _UNARY[type(node.op)](inner(node.operand))
        case ast.BoolOp():
            joined = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            return joined.reduce([inner(one) for one in node.values])
        case ast.Compare(ops=[op], comparators=[right]) if type(op) in _COMPARED:
            return _COMPARED[type(op)](inner(node.left), inner(right))
        case ast.Call(func=ast.Name(id=name), keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](*[inner(one) for one in node.args])
        case ast.Call(func=ast.Name(id=name)):
            raise unknown("function", name, FUNCTIONS, of="expressions")
    raise _no_expression(ast.unparse(node), source, "it uses a part of Python that recipes lack")
