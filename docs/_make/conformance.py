"""Write ``docs/conformance.md``: ``python docs/_make/conformance.py``.

The tables of checks come from the docstrings of the checks.
"""

from __future__ import annotations

from pathlib import Path

import click
from neurogym_check.check_types import FAMILIES, KINDS, Check
from neurogym_check.command import command
from neurogym_check.run_checks import all_checks

from neurogym_core.cli import main

WIDTH = 80  # as in docs/command-line.md
TARGET = Path(__file__).resolve().parents[1] / "conformance.md"

HEAD = """# Conformance: the checks for every task

<!-- Made by docs/_make/conformance.py, the checks from their docstrings; do not edit it here. -->

The conformance kit is a list of small checks with codes. Each check has one rule, and advice for tasks that break it.
The kit is the package `neurogym-check`. The tasks of this project have to pass the same checks as yours.

## From a shell

`ngym check` accepts ids of tasks, names of installed packages, folders with their sources, and classes in files. The
following task has an error: the light is visible before it should be.

```python
# side.py
import numpy as np

from neurogym_core import Choice, Task


class Side(Task):
    \"\"\"Report the side of a light.\"\"\"

    timing = {"fixation": 300, "light": 500, "decision": 300}

    def define(self):
        self.observe(light=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2), answer="side")

    def new_trial(self, trial):
        trial.periods("fixation", "light", "decision")
        trial.show("light", np.eye(2)[trial.side], during=("fixation", "light"))
        trial.answer("choose", trial.side, during="decision")
```

```console
$ ngym check side.py:Side --select B --expected-failure B005="the light is meant to be on from the start"
side.py:Side
  code  check                                result            why
  B001  oracle performs as declared          passed
  B002  guessing performs at chance          not applicable    no chance level is stated ...
  B003  resting earns less than the oracle   passed
  B004  premature responses do not pay       passed
  B005  fixation does not reveal the answer  expected failure  the light is meant to be on from the start (Observations
during fixation reveal the correct answer: correlation 1.00, ...)

All 3 checks of 1 task passed, 1 expected failure.
```

Without `--expected-failure` the command prints the advice and ends with exit code 1. `--level quick` (the default) takes
a fraction of a second per task; `--level full` plays ten times as many trials and adds some checks. `--json` prints the
results for programs, `--list` all checks. The code of the tasks runs in this process: check only code that you would run.

## In the tests of a package

```python
# test_my_conformance.py
from neurogym_check import parametrize_with_checks


@parametrize_with_checks(
    "side.py:Side", expected_failures={"B005": "the light is meant to be on from the start"}
)
def test_task_conforms(task, check):
    check(task)
```

With the name of an installed package, there is one test for every task and check. An expected failure applies to one
code, and to all tasks or to one: `{"Side-v0": {"B005": "…"}}`. If that check passes, the test fails, so that you remove
the entry. There is no other way to exempt a task from a check.

## From Python

```python
from neurogym_check import check_task, checks_for

results = check_task("side.py:Side", level="quick", select=["B005"])
print(results[0].code, results[0].status)
print(len(checks_for("side.py:Side")) > 25)
```
```text
B005 failed
True
```

`check_task` catches the errors of the task and reports them as results. Without a manifest, give its numbers as
`expected={"chance": 0.5, "oracle_min": 1.0}`.

## Envs that are not Tasks

Gymnasium envs are checked too, and envs that report trials as a Task does (`EnvForm.reports_trials`) more thoroughly.
Checks that need a Task are *not applicable*, with the reason. If you give an id, its package is checked as well.

## Digests: behaviour changes only with the version

`ngym check PACKAGE --write-digests` stores a short digest of each Task in `digests.toml`, beside the manifest. It covers
the declaration of the task, tables of its trials, its sessions and its hooks. It does not depend on NumPy's random
streams, which may change between versions, and tolerates rounding errors. The check R001 fails when the digest
changes: published results depend on the behaviour of `Name-v0`, so a task with another behaviour is `Name-v1`. Before
the first release of a package, `--force` replaces its digests.

## Add checks

The hook `ngym_check_task(spec)` of a plug-in is called with Gymnasium's spec of the task and returns its results: one
mapping or a list of them, each with a `code` whose first letter the kit does not use, `passed`, and optionally `reason`,
`rule`, `advice` and `details`. [Discovery](discovery.md) explains how to declare a plug-in.

```python
from neurogym_core import hookimpl


@hookimpl
def ngym_check_task(spec):
    passed = "/" in spec.id
    return {
        "code": "L001",
        "passed": passed,
        "rule": "Tasks of this lab come from packages.",
        "advice": "Move the task into a package.",
    }
```

## The checks

Statistical checks have fixed seeds. A correct task fails each of them with a probability of at most 1e-7.
"""

_KINDS = {
    KINDS: "anything",
    ("task",): "a Task",
    ("task", "trial env"): "a Task or an env that reports trials",
    ("trial env", "env"): "an env that is no Task",
}


def page() -> str:
    """Return the page."""
    context = click.Context(
        command,
        info_name="ngym check",
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=main.context_settings["help_option_names"],
    )
    lines = (line.rstrip() for line in command.get_help(context).splitlines())
    return "\n".join(
        [
            HEAD,
            *(_family(letter, title) for letter, title in FAMILIES.items()),
            "## All options of `ngym check`\n\n```text",
            *lines,
            "```\n",
        ]
    )


def _family(letter: str, title: str) -> str:
    """Return the heading of a family and the table of its checks."""
    rows = [_row(one) for one in all_checks() if one.code[0] == letter]
    return "\n".join(
        [
            f"### {letter}: {title}",
            "",
            "| code | check | rule | advice |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _row(one: Check) -> str:
    where = [_KINDS[one.kinds]] if one.kinds != KINDS else []
    where += ["in a package"] if one.installed else []
    where += ["full level"] if one.level == "full" else []
    limits = f" *({', '.join(where)})*" if where else ""
    cells = (one.code, one.name.replace("_", " "), f"{one.rule}{limits}", one.advice)
    return "| " + " | ".join(text.replace("|", "\\|") for text in cells) + " |"


if __name__ == "__main__":
    TARGET.write_text(page(), "utf-8")
