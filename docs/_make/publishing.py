"""Write the table of names in ``docs/publishing.md``: ``python docs/_make/publishing.py``."""

from __future__ import annotations

import sys
from pathlib import Path

from markdown_parts import continued, table

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "docs" / "publishing.md"
sys.path.insert(0, str(ROOT / ".ci"))
from release_check import needs_of, order  # noqa: E402
from verdicts import CORE, folders, table_of  # noqa: E402

sys.path.remove(str(ROOT / ".ci"))


def page() -> str:
    """Return the page, with a row for each name, in the order in which they are uploaded."""
    tables = {one["name"]: one for one in map(table_of, folders())}
    needs = {name: needs_of(one, set(tables)) for name, one in tables.items()}
    rows = []
    for step, names in enumerate(order(needs), 1):
        for name in names:
            required = ", ".join(one.removeprefix("neurogym-") for one in sorted(needs[name]))
            version = tables[name]["version"]
            tag = f"v{version}" if name == CORE else f"{name}-v{version}"
            module = name.replace("-", "_")
            rows.append((str(step), f"`{name}`", f"`{module}`", required or "–", f"`{tag}`"))
    heads = ("step", "name on the index", "import", "requires, of this project", "next tag")
    return continued(TARGET, f"{len(rows)} names:\n\n{table(heads, rows)}")


if __name__ == "__main__":
    TARGET.write_text(page(), "utf-8")
