"""Draw the figure of ``docs/twenty-tasks.md``: ``python docs/_make/twenty_tasks.py RUN``.

RUN is the folder of the run that the page's first command trains. The code is that of the page."""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
PAGE, FIGURE = DOCS / "twenty-tasks.md", DOCS / "images" / "twenty-tasks.png"


def main(run: Path) -> None:
    """Execute the page's Python code beside a run, and keep its figure."""
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        shutil.copytree(run, "twenty")
        exec(compile(code, str(PAGE), "exec"), {})
        shutil.copy("task-variance.png", FIGURE)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
