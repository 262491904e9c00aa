"""Ideals of the control tasks: observers that know the rules, and the price of all that is hidden.

Intervals are five SEs: false alarms 1 in 10**6."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_control.conditional_visuomotor import NAltConditionalVisuomotor
from neurogym_task_control.hierarchical_reasoning import HierarchicalReasoning
from neurogym_task_control.observers import PairKeeper, RuleAndInterval

from neurogym_core import run


def test_one_reward_shows_both_pairs_so_that_only_changes_and_the_first_trial_cost():
    """40 sessions of 250 trials have 6 changes each, and half an error at their beginning."""
    record = run(NAltConditionalVisuomotor(), PairKeeper(), 10_000, num_envs=40, seed=1)
    assert record["performance"].mean() == pytest.approx(0.975, abs=0.003)
    errors = np.flatnonzero(record["performance"] == 0)
    pairs = record["movements"][:, 0]
    changed = (record["trial"] == 0) | np.append(True, np.diff(pairs) != 0)
    assert changed[errors].mean() == 1


@pytest.mark.slow
def test_a_measured_interval_and_a_hidden_rule_cost_a_sixth():
    """6,000 trials of 40 subjects."""
    ideal = run(HierarchicalReasoning(), RuleAndInterval(), 6000, num_envs=40, seed=1)
    assert ideal["performance"].mean() == pytest.approx(0.839, abs=0.025)
    certain = run(HierarchicalReasoning(weber=0), RuleAndInterval(), 6000, num_envs=40, seed=1)
    assert certain["performance"].mean() > ideal["performance"].mean() + 0.02
