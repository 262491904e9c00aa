"""Descriptions of classes: read from a class, and added to a page.

``ngym info`` imports the code of other packages in a child process,
``python -m neurogym_core.terminal.description task|wrapper NAME``, which prints one object,
``{"description": {…}}`` or ``{"failure": message}``."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from neurogym_core.child import Answers
from neurogym_core.ecosystem.discovery import load_task, load_wrapper
from neurogym_core.ecosystem.names import clean, said_by
from neurogym_core.errors import NeurogymError
from neurogym_core.terminal.output import Page

_TABLES: dict[str, dict[str, str]] = {
    "parameters": {"name": "", "type": "type", "default": "default", "doc": "doc"},
    "channels": {"name": "", "start": "from", "stop": "to", "kind": "encoder", "names": "units"},
    "actions": {"name": "", "size": "size", "kind": "kind", "names": "choices", "axis": "range",
                "rest": "rest", "trigger": "trigger"},
    "periods": {},
    "conditions": {"name": "", "distribution": "drawn from"},
}  # fmt: skip
"""{part of a description: {field: head of the column}}"""
_NAMES = 24
"""Most names in a cell; of more, the first two and the last one are shown."""


def describe(found: Any) -> dict[str, Any]:
    """Describe a task, or any other class, as a dict for JSON; nothing is played.

    Args:
        found: a Task; a Task class, of which a task with the default parameters is described; or
            the class of a wrapper or of another env.

    Returns:
        Of a task name, docstring, dt (ms), supervised, reads_outcomes, trials_per_session,
        parameters (name, type, default, value, doc), channels and actions (name, start, stop, size,
        kind), periods (name, duration in written form, typical ms or None), conditions (name,
        distribution), rewards, payoff (a text; empty for discrete actions); of other classes
        docstring and parameters (name, type, default, doc).
    """
    # A Task is recognised by the methods that its author writes, so that describing any other class
    # does not import NumPy.
    if not (hasattr(found, "define") and hasattr(found, "new_trial")):
        return _of_class(found)
    from neurogym_core.tasks.describe import describe_task
    from neurogym_core.tasks.wrapper import TaskWrapper

    if isinstance(found, type):
        return _of_class(found) if issubclass(found, TaskWrapper) else describe_task(found())
    return describe_task(found)


def _of_class(found: type) -> dict[str, Any]:
    try:
        parameters = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        parameters = {}.values()  # type: ignore[assignment]
    rows = []
    for one in parameters:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        kind = inspect.formatannotation(one.annotation) if one.annotation is not one.empty else ""
        row: dict[str, Any] = {"name": one.name, "type": kind.strip("'\""), "doc": ""}
        if one.default is not one.empty:
            plain = isinstance(one.default, int | float | str | None)
            row["default"] = one.default if plain else repr(one.default)
        rows.append(row)
    return {"docstring": inspect.getdoc(found) or "", "parameters": rows}


def add_description(page: Page, description: Mapping[str, Any]) -> None:
    """Add a description from `describe` to a page.

    A value of an unexpected form is left out, because the description may come from the code of a
    package or from a registry.
    """
    docstring = description.get("docstring")
    if isinstance(docstring, str) and docstring.strip():
        page.heading("description")
        page.prose(docstring, indent=2)
    for key, columns in _TABLES.items():
        found = description.get(key)
        rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
        if not rows:
            continue
        if key == "periods":
            page.heading("periods of a trial")
            pairs = [(clean(str(row.get("name", "?"))), row.get("duration")) for row in rows]
            for line in timeline(pairs, min(page.width, 100) - 2):
                page.text(line, indent=2, keep_lines=True)
            if repeated := [clean(str(row.get("name"))) for row in rows if row.get("repeats")]:
                page.text(f"A trial may visit several times: {', '.join(repeated)}.", indent=2)
        else:
            cells = [[as_text(row.get(name)) for name in columns] for row in rows]
            page.table(list(columns.values()), cells, heading=key)
    rewards = description.get("rewards")
    if isinstance(rewards, dict) and rewards:
        page.heading("rewards")
        page.facts([(clean(str(name)), as_text(amount)) for name, amount in rewards.items()])
    if isinstance(description.get("payoff"), str) and description["payoff"]:
        page.text(description["payoff"], indent=2)
    facts = [
        ("step", as_text(description.get("dt"), "ms")),
        ("supervised", {"True": "yes", "False": "no"}.get(str(description.get("supervised")))),
        ("trials per session", as_text(description.get("trials_per_session"))),
    ]
    if any(value for _, value in facts):
        page.heading("session")
        page.facts(facts)


def as_text(value: Any, unit: str = "") -> str:
    """Return a value of a description as text; a distribution becomes ``uniform(500, 1500)``.

    Args:
        value: a JSON value, as in the dicts of `describe`.
        unit: follows numbers and distributions, such as ``ms``.
    """
    if value is None:
        return ""
    if isinstance(value, dict) and len(value) == 1:
        ((name, arguments),) = value.items()
        inside = arguments if isinstance(arguments, list) else [arguments]
        return f"{name}({', '.join(map(_number, inside))}) {unit}".rstrip()
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return clean(", ".join(value if len(value) <= _NAMES else [*value[:2], "…", value[-1]]))
    if isinstance(value, list) and value and all(type(one) in (int, float) for one in value):
        return _number(value)
    if isinstance(value, dict | list | bool):
        return json.dumps(value)
    return f"{_number(value)} {unit if isinstance(value, int | float) else ''}".rstrip()


def _number(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_number, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


Period = tuple[str, Any]


def typical(duration: Any) -> float | None:
    """Return the length to draw, in ms: of a distribution about its centre; None if unknown."""
    name, arguments = "constant", duration
    if isinstance(duration, dict) and len(duration) == 1:
        ((name, arguments),) = duration.items()
    inside = arguments if isinstance(arguments, list) else [arguments]
    if inside and isinstance(inside[0], list):  # choice([values], [probabilities])
        inside = inside[0]
    numbers = [one for one in inside if isinstance(one, int | float) and not isinstance(one, bool)]
    if numbers and name not in ("truncated_exponential", "constant"):
        return max(0.0, sum(numbers) / len(numbers))
    return max(0.0, numbers[0]) if numbers else None


def timeline(periods: Sequence[Period], width: int) -> list[str]:
    """Return one line per period; its bar begins where the previous one ends."""
    lengths = [typical(duration) for _, duration in periods]
    known = [length for length in lengths if length]
    middle = sum(known) / len(known) if known else 1.0
    filled = [length if length is not None else middle for length in lengths]
    size = max((len(name) for name, _ in periods), default=0)
    labels = [f"{name:<{size}}  {as_text(duration, 'ms')}" for name, duration in periods]
    left = max(map(len, labels), default=0)
    narrow = width - left - 2 < 8  # each bar goes below its label
    room = max(width - 2, 8) if narrow else min(width - left - 2, 60)
    scale = room / max(sum(filled), 1e-9)
    lines, start = [], 0.0
    for label, length, drawn in zip(labels, lengths, filled, strict=True):
        first, last = round(start * scale), round((start + drawn) * scale)
        sign = "~" if length is None else "█"
        bar = " " * min(first, room - 1) + (sign * (last - first) or "|")
        lines += [label, f"  {bar}"] if narrow else [f"{label:<{left}}  {bar}"]
        start += drawn
    return lines


WORDS = {
    "oracle": "the oracle",
    "all": "a classifier that sees everything",
    "rest": "never answering",
    "constant": "always the same answer",
    "clock": "a clock",
    "guess": "answering at random",
    "random": "acting at random",
    "counter": "counting trials",
    "rhythm": "counting the questions of a trial",
    "sequence": "a sequence of actions, repeated without looking",
    "channel_counter": "counting trials, and copying one channel after the other",
    "winstay": "repeating a right answer",
    "familiar": "stimuli of the last trials",
    "waiter": "waiting for a signal",
    "copied": "one slot copied to the others",
    "look.first": "the first 100 ms of each stimulus",
    "look.middle": "100 ms in the middle of each stimulus",
    "look.last": "the last 100 ms of each stimulus",
    "reflex": "the current observation alone",
    "held": "the final answer from the first step on",
    "history": "the previous right answer",
    "durations": "durations alone",
    "last": "the last stimulus alone",
}
"""Name of a measure -> words."""
_PARTS = {
    "channel": "{} alone",
    "period": "the period {} alone",
    "duration": "the duration of {} alone",
    "without": "without {}",
}
SHOWN = 8
"""Most shortcuts in a summary."""


def in_words(name: str) -> str:
    """Return the name of a shortcut in words: "without cue" for ``without.cue``."""
    kind, _, part = name.partition(".")
    return WORDS.get(name) or (_PARTS[kind].format(part) if kind in _PARTS else name)


def summary(shortcuts: Mapping[str, float], intervals: Mapping[str, tuple[float, float]]) -> str:
    """Return the best shortcuts in one line, best first."""
    known = {name: score for name, score in shortcuts.items() if name not in ("oracle", "all")}
    best = sorted(known, key=lambda name: -known[name])
    shown = [f"{in_words(name)}: {percent(known[name], intervals.get(name))}"
             for name in best[:SHOWN]]  # fmt: skip
    if len(best) > SHOWN:
        shown.append(f"{len(best) - SHOWN} others: at most {100 * known[best[SHOWN]]:.0f} %")
    return "; ".join(shown)


def percent(score: float, interval: tuple[float, float] | None) -> str:
    """Return a performance with its interval: "50 % (48 to 52)"."""
    said = f"{100 * score:.0f} %"
    return f"{said} ({100 * interval[0]:.0f} to {100 * interval[1]:.0f})" if interval else said


def main(kind: str, name: str) -> None:
    """Describe a task or wrapper for ``ngym info``, and end the process."""
    with Answers() as answers:
        try:
            found = load_task(name) if kind == "task" else load_wrapper(name)
            value: dict[str, Any] = {"description": describe(found)}
        except BaseException as error:
            value = {"failure": str(error) if isinstance(error, NeurogymError) else said_by(error)}
        answers.write(value)


if __name__ == "__main__":
    main(*sys.argv[1:])
