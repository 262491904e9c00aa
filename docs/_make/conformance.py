"""Writes ``docs/conformance.md``, its table of checks from their docstrings: ``python
docs/_make/conformance.py``.
"""

from __future__ import annotations

from pathlib import Path

import click
from neurogym_check.check_types import FAMILIES, KINDS, Check
from neurogym_check.command import command
from neurogym_check.run_checks import all_checks

WIDTH = 80  # as in docs/command-line.md
TARGET = Path(__file__).resolve().parents[1] / "conformance.md"

HEAD = """# What every task must hold to

*Made by `docs/_make/conformance.py`, the checks from their docstrings; do not edit it here.*

The conformance kit is a list of small checks with codes. Each says in one sentence what it holds a task to, and what to
do about a task that breaks it. It comes with the package `neurogym-check` (`pip install neurogym-check`); the packages of this
project keep to it like anybody else's.

## From a shell

`ngym check` takes ids of tasks, names of installed packages, folders of their sources, and classes in files. This task
has a fault:

```python
# side.py
import numpy as np

from neurogym_core import Choice, Task


class Side(Task):
    \"\"\"Report on which side the light is.\"\"\"

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

Without the excuse it ends with exit code 1, and says what to do. `--level quick` (the default) takes a fraction of a second
for a task; `--level full` plays ten times as much and adds some checks. `--json` prints the results for programs, `--list` all
checks. The code of the tasks runs in this process: check what you would run.

## In the tests of a package

```python
# test_my_conformance.py
from neurogym_check import parametrize_with_checks


@parametrize_with_checks("side.py:Side", expected_failures={"B005": "the light is meant to be on from the start"})
def test_task_conforms(task, check):
    check(task)
```

With the name of an installed package instead, it is one test for every task and check. An excuse holds for one code, and
for all tasks or for one: `{"Side-v0": {"B005": "…"}}`; a check that passes all the same fails, so that the excuse goes
away. It is the only way round a check.

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

`check_task` raises nothing for what the task does. Numbers that a manifest would give are given with
`expected={"chance": 0.5, "oracle_min": 1.0}`.

## What is not a Task

Envs that report trials as a Task does (`EnvForm.reports_trials`), and any other Gymnasium env, are checked with what
applies to them: the other checks are *not applicable*, and the reason is given. Of an id, the package around it is
checked too.

## Digests: what a task does changes only with its version

`ngym check PACKAGE --write-digests` stores a short digest of each Task in `digests.toml` beside the manifest: of what it
declares, of tables of its trials, of its sessions and hooks. No random numbers of NumPy's go into it, whose streams may change, and
numbers with a fraction count as equal as long as they are nearly so. The check R001 fails when the digest changes: somebody's
results depend on what `Name-v0` does, so that what does something else is `Name-v1`. While a package is not published, `--force`
replaces its digests.

## Checks of your own

A plug-in's hook `ngym_check_task(spec)` is called with Gymnasium's spec of the task, and returns what it found: one mapping,
or a list, with a `code` that begins with a letter of your own, `passed`, and if you like `reason`, `rule`, `advice` and
`details`. See [discovery](discovery.md) for how a plug-in is declared.

```python
from neurogym_core import hookimpl


@hookimpl
def ngym_check_task(spec):
    passed = "/" in spec.id
    return {"code": "L001", "passed": passed, "rule": "Our tasks come from packages.", "advice": "Make it one."}
```

## The checks

Statistical checks have fixed seeds, and would fail a right task once in ten million.
"""

_KINDS = {
    KINDS: "anything",
    ("task",): "a Task",
    ("task", "trial env"): "a Task or an env that reports trials",
    ("trial env", "env"): "an env that is no Task",
}


def page() -> str:
    """The whole page."""
    context = click.Context(
        command, info_name="ngym check", terminal_width=WIDTH, max_content_width=WIDTH
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
    """A heading and a table of the family's checks."""
    rows = [_row(one) for one in all_checks() if one.code[0] == letter]
    return "\n".join(
        [
            f"### {letter}: {title}",
            "",
            "| code | check | what a task is held to | what to do |",
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
