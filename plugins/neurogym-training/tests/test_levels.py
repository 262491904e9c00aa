"""The best shortcut of a task, and performance between it and the ideal."""

from __future__ import annotations

from dataclasses import replace

import pytest
from neurogym_training.levels import best_shortcut, relative

from neurogym_core.tools import TaskInfo


def test_the_best_shortcut_leaves_out_something_that_counts() -> None:
    task = TaskInfo(
        group="neurogym.tasks", name="A-v0", value="a:A", distribution="a", version="1",
        namespace="a", ideal={"value": 0.8},
        shortcuts={"oracle": 1.0, "all": 0.8, "constant": 0.4, "channel.cue": 0.79,
                   "without.cue": 0.5, "winstay": 0.95},
    )  # fmt: skip
    assert (task.chance, best_shortcut(task)) == (0.4, "without.cue")
    assert relative(task, 0.7) == pytest.approx(2 / 3)
    assert (
        best_shortcut(replace(task, shortcuts={**task.shortcuts, "familiar": 0.85})) == "familiar"
    )
    assert relative(replace(task, ideal={}), 0.7) is None
    # A weak classifier of everything excuses no classifier of a part.
    better = replace(task, ideal={"value": 0.9})
    assert best_shortcut(better) == "channel.cue"
    admitting = replace(better, admitted={"channel.*": "the cue suffices"})
    assert best_shortcut(admitting) == "without.cue"
    assert best_shortcut(admitting, admitted=True) == "channel.cue"


def test_a_classifier_without_durations_is_no_shortcut_where_durations_say_nothing() -> None:
    """One without durations that falls short of one that sees everything leaves something out."""
    known = {"oracle": 1.0, "all": 0.8, "constant": 0.4, "without.durations": 0.8}
    task = TaskInfo(
        group="neurogym.tasks", name="A-v0", value="a:A", distribution="a", version="1",
        namespace="a", ideal={"value": 1.0}, shortcuts=known,
    )  # fmt: skip
    assert best_shortcut(task) == "constant"
    assert (
        best_shortcut(replace(task, shortcuts={**known, "without.durations": 0.7}))
        == "without.durations"
    )
