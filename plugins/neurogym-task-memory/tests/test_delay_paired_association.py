"""DelayPairedAssociation: pairs, correct withholding, jittered durations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from neurogym_task_memory.delay_paired_association import (
    DelayPairedAssociation,
    JitteredPairedAssociation,
)

GO = 1


@pytest.mark.parametrize(
    ("first", "second", "paired"), [(1, 3, True), (2, 4, True), (1, 4, False), (2, 3, False)]
)
def test_pairs(constant, first, second, paired):
    options = {"conditions": {"first": first, "second": second}}
    went = constant(DelayPairedAssociation(rewards={"abort": 0}), GO, 1, options=options)[0]
    rested = constant(DelayPairedAssociation(), 0, 1, options=options)[0]
    assert (went["outcome"], went["reward"]) == (("correct", 1) if paired else ("error", -1))
    assert (rested["outcome"], rested["reward"]) == (("miss", 0) if paired else ("correct", 1))
    assert rested["performance"] == (0 if paired else 1)  # correct withholding counts


def test_half_of_the_trials_ask_for_going():
    """200 of 400, SD 10: 5 SD, false alarms below 1 in a million."""
    batch = DelayPairedAssociation().sample(400, seed=1)
    go = (batch.target[:, batch.period == batch.period_names.index("decision")][:, 0] == GO).sum()
    assert abs(go - 200) < 5 * math.sqrt(100)


def test_the_jittered_version_has_random_durations_and_noise():
    task = JitteredPairedAssociation(dt=10)
    batch = task.sample(1000, seed=2)
    for name in ("stimulus1", "delay1", "stimulus2", "delay2"):
        ms = batch.period_steps[name] * 10
        assert 500 <= ms.min() < 520
        assert 1480 < ms.max() <= 1500
    assert set(batch.period_steps["decision"]) == {50}
    noise = np.broadcast_to(batch.noise, batch.shown.shape)[:, :, task.channels["odour"]]
    np.testing.assert_allclose(noise[:, batch.period == 1], 1 / math.sqrt(10), rtol=1e-6)
    assert not noise[:, batch.period == 2].any()
