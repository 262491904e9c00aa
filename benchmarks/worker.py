"""``python -m benchmarks.worker SIDE``: makes cases and times slices of them, as lines of JSON on
stdin ask for.

``{"make": [kind, task, size]}`` is answered by ``{"case": number}`` or ``{"missing": why}``,
``{"run": number, "seconds": s}`` by ``{"steps": n, "seconds": t}``, and ``{"freeze": true}`` by
``{}``. Of the core only, ``{"about": true}`` is answered by ``{"about": text}``, ``{"swept":
kind}`` by ``{"tasks": ids}``, and ``{"sweep": kind, "task": id, "rounds": n, "seconds": s}`` by
``{"rates": [steps per second, those of what it is divided by]}``."""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
from typing import Any

from benchmarks.settings import Case


def main(side: str) -> None:
    """Answer until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # what the libraries print must not get between the answers
    maker = importlib.import_module(f"benchmarks.{side}_side")
    slices: list[Any] = []
    for line in sys.stdin:
        asked = json.loads(line)
        if "make" in asked:
            answer = _make(maker, Case(*asked["make"]), slices)
        elif "freeze" in asked:
            # The garbage collector would walk through all the other cases' envs again and again.
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
    """Steps per second of both over all rounds, which they take in turn, after one of warm-up."""
    timed = [[one(seconds) for one in pair] for _ in range(rounds + 1)][1:]
    return [
        sum(steps for steps, _ in one) / sum(took for _, took in one)
        for one in zip(*timed, strict=True)
    ]


if __name__ == "__main__":
    main(sys.argv[1])
