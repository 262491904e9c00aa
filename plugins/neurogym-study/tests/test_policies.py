"""Policies that leave out a part of the task."""

from __future__ import annotations

from neurogym_study.policies import partial


def test_a_policy_that_leaves_out_nothing_that_counts_is_no_shortcut():
    scores = {"oracle": 1.0, "all": 0.8, "clock": 0.4, "without.cue": 0.6, "without.noise": 0.79}
    assert partial(scores) == {"without.cue": 0.6, "clock": 0.4}
    assert partial({"oracle": 1.0, "constant": 1.0}) == {"constant": 1.0}
