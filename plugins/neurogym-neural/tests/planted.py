"""Print the signatures of planted ideals and of the cheats that they name, as the README has them.

``python tests/planted.py``; the systems are those of test_verdicts.py.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

# Signature, ideal, its system; cheat, its system: functions of test_verdicts.py with their kind.
PAIRS = (
    ("pulse-persists", "integrator", "motion:integrator", "leaky filter", "motion:filter"),
    (
        "pulse-persists",
        "integrator",
        "motion:integrator",
        "filter of 1000 ms",
        "motion:filter 1000",
    ),
    ("memory-tuning", "memory", "memories:compares", "noise", "memories:none"),
    ("category-index", "categories", "categories:category", "directions", "categories:direction"),
    ("category-index", "categories", "categories:category", "turned boundary", "categories:turned"),
    ("chosen-value", "chosen value", "offers:chosen", "copy of the offers", "offers:inputs"),
    ("temporal-scaling", "bumps that scale", "intervals:scaled", "one ramp", "intervals:ramp"),
    ("temporal-scaling", "bumps that scale", "intervals:scaled", "clock", "intervals:clock"),
    ("task-clusters", "groups", "tasks:groups", "units of all tasks", "tasks:all"),
    ("task-clusters", "groups", "tasks:groups", "independent units", "tasks:permuted"),
    # Without a verdict, since the cheat has the sign:
    ("context-selection", "late selection", "contexts:late", "gate at the input", "contexts:gate"),
    ("context-selection", "late selection", "contexts:late", "copy of the answer", "contexts:copy"),
    ("context-selection", "late selection", "contexts:late", "inputs and copy", "contexts:both"),
    ("abstract-choice", "late selection", "contexts:late", "copy of the answer", "contexts:copy"),
    ("abstract-choice", "late selection", "contexts:late", "inputs and copy", "contexts:both"),
    ("comparison-switch", "comparison", "memories:compares", "leaky filters", "memories:filters"),
    ("comparison-switch", "comparison", "memories:compares", "copy of the answer", "memories:copy"),
    ("evidence-level", "integrator", "motion:integrator", "leaky filter", "motion:filter"),
    ("variance-grows", "integrator", "motion:integrator", "leaky filter", "motion:filter"),
    ("common-level-at-answer", "integrator", "motion:integrator", "copy of a bound", "motion:copy"),
    ("memory-stability", "memory", "memories:compares", "leaky filters", "memories:filters"),
)


class Pair(NamedTuple):
    """A signature in an ideal and in a cheat, with the numbers of its parts."""

    signature: str
    ideal: str
    found: dict[str, float]
    cheat: str
    cheated: dict[str, float]


def pairs() -> Iterator[Pair]:
    """Measure all pairs."""
    own = _systems()
    for name, ideal, one, cheat, other in PAIRS:
        values = [own.values(name, _made(own, which)) for which in (one, other)]
        yield Pair(name, ideal, values[0], cheat, values[1])


def _made(own: Any, which: str) -> Any:
    function, _, kind = which.partition(":")
    return getattr(own, function)(kind)


def _systems() -> Any:
    path = Path(__file__).with_name("test_verdicts.py")
    spec = importlib.util.spec_from_file_location("verdicts", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text(value: float) -> str:
    """Return a number of the table; NaN: no unit has it."""
    return f"{value:.2f}" if value == value else "no unit"


if __name__ == "__main__":
    print("| signature | ideal | | cheat | |\n|---|---|---|---|---|")
    for pair in pairs():
        for part, number in pair.found.items():
            said = text(number), pair.cheat, text(pair.cheated[part])
            print(f"| {pair.signature}: {part} | {pair.ideal} | {' | '.join(said)} |")
