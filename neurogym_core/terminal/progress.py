"""`Progress`: a bar for commands that take long."""

from __future__ import annotations

import sys
import time
from typing import Any


class Progress:
    """A progress bar on stderr that appears after one second, if stderr is a terminal.

    Args:
        label: name of the work, shown beside the bar.
        total: amount of the work.
    """

    def __init__(self, label: str, total: int) -> None:
        self._label, self._total, self._since = label, total, time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> Progress:
        return self

    def show(self, done: int, label: str | None = None) -> None:
        """Move the bar to `done`, and replace its label if one is given."""
        if self._bar is None and sys.stderr.isatty() and time.monotonic() - self._since > 1:
            from rich import console, progress  # most commands end before they need a bar

            bar = progress.Progress(console=console.Console(stderr=True), transient=True)
            bar.add_task(self._label, total=self._total)
            bar.start()
            self._bar = bar
        if self._bar is not None:
            self._bar.update(
                self._bar.task_ids[0], completed=done, description=label or self._label
            )

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
