"""PerceptualDecisionMakingDelayResponse: durations and evidence."""

from __future__ import annotations

import numpy as np
from neurogym_task_perceptual.delay_response import PerceptualDecisionMakingDelayResponse


def test_durations_are_those_declared():
    batch = PerceptualDecisionMakingDelayResponse(dt=10).sample(500, seed=1)
    ms = {name: set(steps * 10) for name, steps in batch.period_steps.items()}
    assert ms["delay"] == {300, 500, 700, 900, 1200, 2000, 3200, 4000}
    assert (ms["stimulus"], ms["decision"]) == ({1150}, {1500})


def test_the_stronger_side_is_right_by_the_coherence():
    task = PerceptualDecisionMakingDelayResponse(coherences=(6.4, 51.2), stimulus_scale=0.5)
    batch = task.sample(200, seed=2)
    shown = batch.shown[:, batch.period == 1][:, 0][:, task.channels["stimulus"]]
    right = batch.target[:, batch.period == 3][:, 0] - 1
    np.testing.assert_array_equal(shown.argmax(axis=1), right)
    np.testing.assert_array_equal(right, batch.conditions["side"] == "right")
    np.testing.assert_allclose(
        np.ptp(shown, axis=1), batch.conditions["coherence"] / 200, atol=1e-6
    )
