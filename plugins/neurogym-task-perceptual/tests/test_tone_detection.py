"""ToneDetection: tones, times, reports."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_perceptual.tone_detection import ToneDetection


@pytest.mark.parametrize("dt", [10, 20, 50, 100])
def test_a_tone_is_where_its_moment_says(dt):
    task = ToneDetection(dt=dt)
    batch = task.sample(100, seed=1)
    heard = batch.render(None).reshape(100, -1, 2)[:, : 2000 // dt, 1]
    moment = batch.conditions["moment"]
    assert set(moment) == {0, 1, 2, 3}
    np.testing.assert_array_equal(
        (heard > 0).sum(axis=1), np.where(moment > 0, np.rint(max(50 / dt, 1) + 1e-9), 0)
    )
    onset = heard.argmax(axis=1) * dt
    np.testing.assert_array_equal(onset[moment > 0], moment[moment > 0] * 500)


def test_every_right_report_is_paid_and_every_other_not(constant):
    for moment in range(4):
        for report in range(4):
            options = {"conditions": {"moment": moment}}
            trial = constant(ToneDetection(rewards={"abort": 0}), 1 + report, 1, options=options)[0]
            assert trial["reward"] == (report == moment)
            assert trial["outcome"] == ("correct" if report == moment else "error")
