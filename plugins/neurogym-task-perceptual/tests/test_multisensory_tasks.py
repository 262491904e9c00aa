"""MultiSensoryIntegration and AudioVisualRateDiscrimination."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_perceptual.audio_visual_rate import AudioVisualRateDiscrimination
from neurogym_task_perceptual.multi_sensory_integration import MultiSensoryIntegration

from neurogym_core import InvalidValueError


def test_both_modalities_agree_and_share_the_coherence():
    task = MultiSensoryIntegration(directions=4)
    batch = task.sample(100, seed=1)
    stimulus = batch.shown[:, batch.period == 1][:, 0]
    first, second = (
        stimulus[:, task.channels["first"]] - 0.5,
        stimulus[:, task.channels["second"]] - 0.5,
    )
    np.testing.assert_array_equal((first + second).argmax(axis=1), batch.conditions["direction"])
    np.testing.assert_allclose(
        (first + second).max(axis=1), batch.conditions["coherence"] / 200, atol=1e-6
    )
    assert (first * second > -1e-6).all()
    assert np.ptp(first.max(axis=1) / (first + second).max(axis=1)) > 0.9


def test_rates_modalities_and_boundary_are_those_of_the_paper():
    task = AudioVisualRateDiscrimination(dt=10)
    batch = task.sample(500, seed=2)
    rate = batch.conditions["rate"]
    assert set(rate) == set(range(9, 17))
    assert set(batch.conditions["modality"]) == {"visual", "auditory", "both"}
    assert set(batch.period_steps["stimulus"]) == {100}
    np.testing.assert_array_equal(batch.target[:, batch.period == 2][:, 0] - 1, rate > 12.5)


def test_a_modality_shows_the_rate_on_two_opposed_units_if_it_is_present():
    task = AudioVisualRateDiscrimination()
    batch = task.sample(300, seed=3)
    stimulus = batch.shown[:, batch.period == 1][:, 0]
    x = (batch.conditions["rate"] - 9) / 7
    for channel in ("visual", "auditory"):
        there = np.isin(batch.conditions["modality"], [channel, "both"])
        shown = stimulus[:, task.channels[channel]]
        np.testing.assert_allclose(
            shown[there], 0.2 + 0.8 * np.stack([x, 1 - x], axis=1)[there], atol=1e-6
        )
        assert not shown[~there].any()


def test_two_modalities_are_better_than_one():
    """Ideal observer: d' grows by sqrt(2).

    2,000 trials each near the boundary: difference 0.09, SD 0.014, 4 SD below.
    """
    task = AudioVisualRateDiscrimination(sigma=10.0, dt=100)
    correct = {}
    for modality in ("visual", "both"):
        batch = task.sample(2000, seed=4, modality=modality, rate=[12, 13] * 1000)
        obs = batch.render(np.random.default_rng(5)).reshape(2000, -1, 5)
        total = obs[:, 3:13].sum(axis=1)
        used = total[:, 1] - total[:, 2] + (total[:, 3] - total[:, 4] if modality == "both" else 0)
        correct[modality] = np.mean((used > 0) == (batch.conditions["rate"] > 12.5))
    assert correct["both"] > correct["visual"] + 0.03
    assert 0.55 < correct["visual"] < 0.8


def test_a_boundary_on_a_rate_is_refused():
    with pytest.raises(InvalidValueError, match="none of them"):
        AudioVisualRateDiscrimination(boundary=12)
