"""Names of shortcuts in words, for pages: "without the cue: 75 %"."""

from __future__ import annotations

from collections.abc import Mapping

WORDS = {
    "oracle": "the oracle",
    "all": "a classifier that sees everything",
    "rest": "never answering",
    "constant": "always the same answer",
    "clock": "a clock",
    "random": "acting at random",
    "reflex": "the current observation alone",
    "held": "the final answer from the first step on",
    "history": "the previous right answer",
    "durations": "durations alone",
    "last": "the last stimulus alone",
}
"""Name of a measure -> words."""
_PARTS = {
    "channel": "{} alone",
    "period": "the period {} alone",
    "duration": "the duration of {} alone",
    "without": "without {}",
}
PLAYED = ("oracle", "random", "reflex", "held")
"""Measures of policies that always play. The audit of a task whose trials follow from outcomes
computes the others on trials of a subject that is always right."""
NOT_PLAYED = (
    "none was played: trials depend on the subject's answers, and the audit's trials follow right"
    " ones"
)
SHOWN = 8
"""Most shortcuts in a summary."""


def in_words(name: str) -> str:
    """Return the name of a shortcut in words: "without cue" for ``without.cue``."""
    kind, _, part = name.partition(".")
    return _PARTS[kind].format(part) if kind in _PARTS else WORDS.get(name, name)


def of_players(shortcuts: Mapping[str, float], reads_outcomes: bool) -> dict[str, float]:
    """Return the shortcuts that are the performance of a policy that plays the task.

    Args:
        shortcuts: name -> performance, as a manifest has them.
        reads_outcomes: whether the trials of the task depend on the outcomes of earlier ones.
    """
    return {
        name: score for name, score in shortcuts.items() if not reads_outcomes or name in PLAYED
    }


def summary(shortcuts: Mapping[str, float]) -> str:
    """Return the best shortcuts in one line, best first.

    Args:
        shortcuts: name -> performance, as `of_players` returns them.
    """
    known = {name: score for name, score in shortcuts.items() if name not in ("oracle", "all")}
    best = sorted(known, key=lambda name: -known[name])
    shown = [f"{in_words(name)}: {100 * known[name]:.0f} %" for name in best[:SHOWN]]
    if len(best) > SHOWN:
        shown.append(f"{len(best) - SHOWN} others: at most {100 * known[best[SHOWN]]:.0f} %")
    return "; ".join(shown)
