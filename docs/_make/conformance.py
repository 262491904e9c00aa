"""Write the tables of checks in ``docs/conformance.md``: ``python docs/_make/conformance.py``."""

from __future__ import annotations

from pathlib import Path

from command_line import context_of, help_of
from markdown_parts import continued, table
from neurogym_check.check_types import FAMILIES, KINDS, Check
from neurogym_check.command import command
from neurogym_check.run_checks import all_checks

from neurogym_core.tools import main

TARGET = Path(__file__).resolve().parents[1] / "conformance.md"
_KINDS = {
    ("task",): "a Task",
    ("task", "trial env"): "a Task or an env that reports trials",
    ("trial env", "env"): "an env that is no Task",
}


def page() -> str:
    """Return the page, with a table for each family of checks."""
    parts = []
    for letter, title in FAMILIES.items():
        rows = [_row(one) for one in all_checks() if one.code[0] == letter]
        heads = ("code", "check", "rule", "advice")
        parts += [f"### {letter}: {title}", table(heads, rows)]
    text = help_of(command, context_of(command, "check", context_of(main, "ngym")))
    parts += ["## All options of `ngym check`", text]
    return continued(TARGET, "\n\n".join(parts))


def _row(one: Check) -> tuple[str, ...]:
    where = [_KINDS[one.kinds]] if one.kinds != KINDS else []
    where += ["in a package"] if one.installed else []
    where += ["full level"] if one.level == "full" else []
    limits = f" *({', '.join(where)})*" if where else ""
    cells = (one.code, one.name.replace("_", " "), f"{one.rule}{limits}", one.advice)
    return tuple(text.replace("|", "\\|") for text in cells)


if __name__ == "__main__":
    TARGET.write_text(page(), "utf-8")
