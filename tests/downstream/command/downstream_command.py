"""A package with a command, ``ngym durations TASK``."""

from __future__ import annotations

import click

from neurogym_core.tools import Page, find_task, load_task, print_json, usage_errors


@click.command("durations", short_help="Print the durations of a task's periods.")
@click.argument("task")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(task: str, as_json: bool) -> None:
    """Print the duration of each period of TASK, in ms."""
    with usage_errors():
        info = find_task(task)
    durations = {name: str(ms) for name, ms in load_task(info.id).timing.items()}
    if as_json:
        print_json({"task": info.id, "durations": durations})
        return
    page = Page()
    page.heading(info.id)
    page.table(("period", "ms"), list(durations.items()))
    page.show()
