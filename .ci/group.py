"""Print the requirements of dependency groups of pyproject.toml, for ``pip install``:
``python .ci/group.py GROUP...``. pip itself reads them (``--group``) from version 25.1 on.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def requirements(groups: dict[str, list[Any]], name: str) -> list[str]:
    """Return the requirements of a group, and of those that it includes, without repetitions."""
    found: list[str] = []
    for one in groups[name]:
        found += requirements(groups, one["include-group"]) if isinstance(one, dict) else [one]
    return list(dict.fromkeys(found))


if __name__ == "__main__":
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    print(*(one for name in sys.argv[1:] for one in requirements(tables, name)))
