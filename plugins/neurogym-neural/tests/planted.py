"""Print the signatures of planted ideals and of the cheats that they name, as the README has them.

``python tests/planted.py``; the systems are those of test_verdicts.py.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path


def rows() -> list[tuple[str, str, str, float, str, float]]:
    """Return signature, part, ideal and its number, cheat and its number."""
    path = Path(__file__).with_name("test_verdicts.py")
    spec = importlib.util.spec_from_file_location("verdicts", path)
    assert spec is not None
    assert spec.loader is not None
    own = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(own)
    found = []
    for name, (ideal, one), (cheat, other) in (
        ("pulse-persists", ("integrator", own.motion("integrator")),
         ("leaky filter", own.motion("filter"))),
        ("context-selection", ("late selection", own.contexts("late")),
         ("gate at the input", own.contexts("gate"))),
        ("context-selection", ("late selection", own.contexts("late")),
         ("copy of the answer", own.contexts("copy"))),
        ("abstract-choice", ("late selection", own.contexts("late")),
         ("copy of the answer", own.contexts("copy"))),
        ("comparison-switch", ("comparison", own.memories("compares")),
         ("leaky filters", own.memories("filters"))),
        ("memory-tuning", ("memory", own.memories("compares")), ("noise", own.memories("none"))),
        ("chosen-value", ("chosen value", own.offers("chosen")),
         ("copy of the offers", own.offers("inputs"))),
        ("temporal-scaling", ("bumps that scale", own.intervals("scaled")),
         ("one ramp", own.intervals("ramp"))),
        ("temporal-scaling", ("bumps that scale", own.intervals("scaled")),
         ("population clock", own.intervals("clock"))),
    ):  # fmt: skip
        numbers = own.values(name, one), own.values(name, other)
        for part in numbers[0]:
            found.append((name, part, ideal, numbers[0][part], cheat, numbers[1][part]))
    return found


if __name__ == "__main__":
    print("| signature | ideal | | cheat | |\n|---|---|---|---|---|")
    for name, part, ideal, one, cheat, other in rows():
        print(f"| {name}: {part} | {ideal} | {one:.2f} | {cheat} | {other:.2f} |")
