"""The card of a run: one page about a trained network or agent, for those who get its folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from neurogym_core import NeurogymError
from neurogym_core.tools import find_task, is_file_reference, replacing
from neurogym_training.experiment import Experiment
from neurogym_training.runs import Run
from neurogym_training.training import BEST, LOWER_IS_BETTER, Trainer

CARD_FILE = "card.md"
SHOWN = ("accuracy", "clean", "answered", "aborts", "reward", "loss")
"""Columns of the curve that the card has."""


def write_card(run: Run, trainer: Trainer) -> None:
    """Write ``card.md`` into the folder of a run that has been tested.

    Args:
        run: the run, with the facts of its beginning.
        trainer: its trainer, after the training.
    """
    if not trainer.curve or run.facts is None:
        return
    text = "\n".join(_lines(run, trainer)) + "\n"
    with replacing(run.folder / CARD_FILE) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _lines(run: Run, trainer: Trainer) -> Iterator[str]:
    experiment, facts = run.experiment, run.facts or {}
    names = [task["task"] for task in experiment.tasks]
    yield f"# {experiment.trainer}, trained on {names[0] if len(names) == 1 else len(names)}" + (
        "" if len(names) == 1 else " tasks"
    )
    yield ""
    yield f"{trainer.done} {trainer.unit}, seed {experiment.seed}."
    yield ""
    yield "To open it: `ngym evaluate FOLDER`,"
    yield "`ngym run TASK --subject FOLDER/`, or `neurogym_training.Run.open`."
    yield ""
    yield "## Tasks"
    yield ""
    for task in experiment.tasks:
        settings = {name: value for name, value in task.items() if name != "task"}
        yield f"- `{task['task']}`{_settings(settings)}{_about(task['task'])}"
    shared = dict(experiment.parameters)
    if shared or experiment.wrap:
        yield ""
        wrap = [_settings(one)[2:] for one in experiment.wrap]
        yield f"All tasks{_settings(shared)}{'; wrappers: ' + '; '.join(wrap) if wrap else ''}."
    yield ""
    yield "## Results"
    yield ""
    splits = facts.get("splits", trainer.splits)
    yield (
        f"It learned from trials of the split {splits['training']}; the tests are trials of"
        f" {splits['tests']}, and `ngym evaluate` plays {splits['play']}."
    )
    yield ""
    yield from _table(experiment, trainer)
    yield ""
    yield "## Settings of the trainer"
    yield ""
    defaults = facts.get("trainer", {})
    yield ", ".join(f"{name}={_written(value)}" for name, value in defaults.items()) + "."
    yield ""
    yield "## Versions"
    yield ""
    yield (
        ", ".join(f"{name} {version}" for name, version in facts.get("versions", {}).items()) + "."
    )


def _table(experiment: Experiment, trainer: Trainer) -> Iterator[str]:
    """Yield the last test, and the best one, as a table."""
    by = experiment.best_by
    sign = -1 if by in LOWER_IS_BETTER else 1
    best = max(trainer.curve, key=lambda row: sign * row.get(by, float("-inf") * sign))
    columns = [name for name in SHOWN if name in trainer.curve[-1]]
    yield f"| test | {trainer.unit} | {' | '.join(columns)} |"
    yield f"|---|---|{'---|' * len(columns)}"
    for name, row in (("last", trainer.curve[-1]), (f"best by {by} (`{BEST}`)", best)):
        values = " | ".join(f"{row.get(column, float('nan')):.3g}" for column in columns)
        yield f"| {name} | {row[trainer.unit]:g} | {values} |"
    each = {
        name: value for name, value in trainer.curve[-1].items() if name.startswith("accuracy of")
    }
    if each:
        yield ""
        yield (
            "Accuracy of each task in the last test: "
            + "; ".join(f"{name.split(' ', 3)[-1]} {value:.3g}" for name, value in each.items())
            + "."
        )


def _about(name: str) -> str:
    """Return the source and the levels of an installed task, as text."""
    if is_file_reference(name):
        return ""
    try:
        info = find_task(name)
    except NeurogymError:
        return ""
    cited = next((one.citation for one in info.references if one.kind == "original"), "")
    levels = []
    if info.chance is not None:
        levels.append(f"chance {info.chance:g}")
    if info.ideal:
        levels.append(f"ideal {info.ideal['value']:g}")
    known = f" ({', '.join(levels)} with the default parameters)" if levels else ""
    return f"{known}{': ' + cited if cited else ''}"


def _settings(given: Mapping[str, Any]) -> str:
    return f": {', '.join(f'{k}={_written(v)}' for k, v in given.items())}" if given else ""


def _written(value: Any) -> str:
    return json.dumps(value) if isinstance(value, dict | list | tuple) else str(value)
