"""Subjects beside whom a person's results are shown: the ideal, networks of the gallery and animals.

``python docs/_make/beside.py`` writes them for all tasks into the package neurogym-play, so that
`ngym play` shows them too. It takes minutes, and is done when the gallery has new results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import task_context
import task_training
from neurogym_behaviour import Behaviour
from neurogym_play import trial_tables
from neurogym_play.beside import assembled

from neurogym_core import NotSupportedError
from neurogym_core.tools import TaskInfo, installed

SHIPPED = Path(__file__).resolve().parents[2] / "plugins/neurogym-play/neurogym_play/beside.json"
TRIALS = 60
"""Trials whose evidence has to agree with that of the analyses."""
NAMES = {"gru": "GRU", "rnn": "leaky RNN", "cnn": "CNN and GRU", "recurrent-ppo": "agent (LSTM)"}
"""Trainers of the gallery, as they are called beside a person's results."""


def write(path: Path = SHIPPED) -> None:
    """Write the subjects of all tasks that have some, as JSON: id of the task -> `_known`."""
    tasks = sorted((one for one in installed().tasks if one.usable), key=lambda one: one.id)
    found = {info.id: _known(info) for info in tasks}
    lines = [
        f"{json.dumps(name)}:{_packed(one)}" for name, one in found.items() if any(one.values())
    ]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def _packed(one: Mapping[str, Any]) -> str:
    return json.dumps(one, separators=(",", ":"), allow_nan=False)


def beside_of(info: TaskInfo) -> dict[str, Any]:
    """Return results of others as `neurogym_play.add_task` takes them, with those of today."""
    return assembled(info, _known(info))


def _known(info: TaskInfo) -> dict[str, Any]:
    """Return means of the gallery's networks, and curves of the ideal, of animals and of networks."""
    runs = task_training.results_of(info)
    networks = [
        [_network(trainer, group), round(float(np.mean([one["final"] for one in group])), 4)]
        for trainer, group in runs.items()
    ]
    return {"networks": networks, "curves": _curves(info, runs)}


def _network(trainer: str, group: Sequence[Any]) -> str:
    return f"{NAMES.get(trainer, trainer)}, {len(group)} seed{'s' * (len(group) > 1)}"


def _curves(info: TaskInfo, runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Any]:
    """Return the curves in the form of the page: the share of the last choice over evidence.

    None are returned if the analyses call another choice right than the page does.
    """
    try:
        tables = trial_tables(info.id, TRIALS)
    except NotSupportedError:
        return []
    slots = tables["slots"]
    choice = f"{slots[0]['name']}.choice" if len(slots) > 1 else "choice"
    names = tables["names"].get(choice, [])
    if not tables["evidence"] or len(names) != 2:
        return []
    subject, behaviour, function = task_training.observe(info.id)
    if behaviour is None or function is None or function.kind != "choice":
        return []
    if not agree(behaviour, choice, tables["evidence"]):
        return []
    who = f"ideal observer ({subject.partition(':')[0]})"
    if subject == "oracle":
        who = "oracle, which knows the answers"
    found = [{"name": who, "points": _points(function.rows)}, *_animals(info)]
    return found + [
        {"name": _network(trainer, group), "points": _points(task_training.pooled(known))}
        for trainer, group in runs.items()
        if (known := task_training.known_points(group, function))
    ]


def _animals(info: TaskInfo) -> list[dict[str, Any]]:
    """Return the curves of published animals in the task, and their reaction times.

    Their accuracies are of both sides together, and so a curve has the same errors on both.
    "times" has strengths and mean reaction times of correct trials, ms, if they were reported.
    """
    curves = []
    for one in task_context.references_of(info):
        for subject in one.subjects:
            if subject.strengths is None or subject.correct is None or subject.n is None:
                continue
            points = []
            for strength, correct, n in zip(
                subject.strengths, subject.correct, subject.n, strict=True
            ):
                if strength > 0:
                    half, right = round(n / 2), round(n / 2 * correct)
                    points += [
                        [-float(strength), half - right, half],
                        [float(strength), right, half],
                    ]
            name = f"{subject.name}, {one.citation.partition(',')[0]}"
            times = [
                [float(strength), float(ms)]
                for strength, ms in zip(
                    subject.strengths,
                    [] if subject.reaction_time is None else subject.reaction_time,
                    strict=False,
                )
                if np.isfinite(ms)
            ]
            curves.append({"name": name, "points": sorted(points), "times": times})
    return curves


def agree(behaviour: Behaviour, choice: str, evidence: Sequence[float]) -> bool:
    """Return whether analyses and page mean the same by the right choice, and by evidence.

    Args:
        behaviour: of a subject.
        choice: column of its choices, 0 or 1; the page counts the latter.
        evidence: of the page's trials, positive for the latter.
    """
    given = behaviour.answered
    chosen = behaviour.record[choice][given] == 1
    if not np.array_equal(behaviour.chose_right[given], chosen):
        return False
    return float(np.abs(evidence).max()) <= float(np.abs(behaviour.signed).max()) + 1e-6


def _points(rows: Sequence[Any]) -> list[list[float]]:
    return [[round(float(row.value), 6), int(row.k), int(row.n)] for row in rows]


if __name__ == "__main__":
    write()
