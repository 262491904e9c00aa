"""HistoryNAlt: an observer that learns the successors of answers, and one that cannot."""

from __future__ import annotations

import pytest
from neurogym_task_perceptual.history import HistoryNAltPerceptualDecisionMaking
from neurogym_task_perceptual.observers import SuccessorObserver

from neurogym_core import run


@pytest.mark.slow
def test_learning_the_rule_of_each_block_earns_more_than_the_stimulus():
    """A session of each of 20 subjects; five SEs are 0.03: false alarms 1 in 10**6."""
    earned = {}
    for p_follow in (0.9, 1 / 8):  # the second says next to nothing
        task = HistoryNAltPerceptualDecisionMaking(p_follow=p_follow)
        record = run(task, SuccessorObserver(), 10_000, num_envs=20, seed=1)
        earned[p_follow] = record["performance"].mean()
    assert earned[0.9] == pytest.approx(0.888, abs=0.03)
    assert earned[1 / 8] < 0.75
