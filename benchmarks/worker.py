"""Make cases and time slices of them: ``python -m benchmarks.worker SIDE``.

Requests are lines of JSON on stdin, replies lines of JSON on stdout:

- ``{"make": [kind, task, size]}`` -> ``{"case": number}`` or ``{"missing": reason}``
- ``{"run": number, "seconds": s}`` -> ``{"steps": n, "seconds": t}``
- ``{"freeze": true}`` -> ``{}``

The worker of the core also replies to:

- ``{"about": true}`` -> ``{"about": text}``
- ``{"swept": kind}`` -> ``{"tasks": ids}``
- ``{"sweep": kind, "task": id, "rounds": n, "seconds": s}`` -> ``{"rates": [a, b]}``, the steps per
  second of the numerator and the denominator
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
from typing import Any

from benchmarks.settings import Case


def main(side: str) -> None:
    """Reply to requests until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # output of the libraries must not mix with the replies
    maker = importlib.import_module(f"benchmarks.{side}_side")
    slices: list[Any] = []
    for line in sys.stdin:
        asked = json.loads(line)
        if "make" in asked:
            answer = _make(maker, Case(*asked["make"]), slices)
        elif "freeze" in asked:
            # Otherwise every collection would traverse the envs of all other cases.
            gc.collect()
            gc.freeze()
            answer = {}
        elif "about" in asked:
            answer = {"about": maker.about()}
        elif "swept" in asked:
            answer = {"tasks": maker.swept(asked["swept"])}
        elif "sweep" in asked:
            answer = {
                "rates": _swept(
                    maker.swept_pair(asked["sweep"], asked["task"]),
                    asked["rounds"],
                    asked["seconds"],
                )
            }
        else:
            steps, seconds = slices[asked["run"]](asked["seconds"])
            answer = {"steps": steps, "seconds": seconds}
        answers.write(json.dumps(answer) + "\n")


def _make(maker: Any, case: Case, slices: list[Any]) -> dict[str, Any]:
    try:
        slices.append(maker.made(case))
    except LookupError as error:  # DiscoveryError is one: the task is not installed
        return {"missing": f"{type(error).__name__}: {error}"}
    return {"case": len(slices) - 1}


def _swept(pair: Any, rounds: int, seconds: float) -> list[float]:
    """Return the steps per second of both loops, which alternate, after one round of warm-up."""
    timed = [[one(seconds) for one in pair] for _ in range(rounds + 1)][1:]
    return [
        sum(steps for steps, _ in one) / sum(took for _, took in one)
        for one in zip(*timed, strict=True)
    ]


if __name__ == "__main__":
    main(sys.argv[1])
