"""Properties of the tasks of the package that have no test file with the same checks."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_perceptual.annubes import Annubes
from neurogym_task_perceptual.audio_visual_rate import AudioVisualRateDiscrimination
from neurogym_task_perceptual.delay_response import PerceptualDecisionMakingDelayResponse
from neurogym_task_perceptual.history import (
    HistoryNAltPerceptualDecisionMaking,
    HistoryPerceptualDecisionMaking,
    PriorBlocks,
)
from neurogym_task_perceptual.multi_sensory_integration import MultiSensoryIntegration
from neurogym_task_perceptual.n_alternatives import NAltPerceptualDecisionMaking
from neurogym_task_perceptual.named_configurations import (
    JitteredPerceptualDecisionMaking,
    ManteDecisionMaking,
)
from neurogym_task_perceptual.probabilistic_reasoning import ProbabilisticReasoning
from neurogym_task_perceptual.roitman_shadlen import RoitmanShadlen
from neurogym_task_perceptual.spatial_suppress_motion import SpatialSuppressMotion
from neurogym_task_perceptual.tone_detection import ToneDetection

from neurogym_core import Dataset
from neurogym_core.players import TaskView

DISCRETE = [
    AudioVisualRateDiscrimination,
    PerceptualDecisionMakingDelayResponse,
    HistoryPerceptualDecisionMaking,
    PriorBlocks,
    MultiSensoryIntegration,
    NAltPerceptualDecisionMaking,
    JitteredPerceptualDecisionMaking,
    ManteDecisionMaking,
    ProbabilisticReasoning,
    RoitmanShadlen,
    ToneDetection,
    Annubes,
    HistoryNAltPerceptualDecisionMaking,
]
KINDS = [*DISCRETE, SpatialSuppressMotion]


@pytest.mark.parametrize("dt", [10, 20, 100])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_oracle_is_always_right_and_paid_in_full(oracle, kind, dt):
    for trial in oracle(kind(dt=dt), 12):
        assert trial["performance"] == 1
        assert trial["reward"] == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_dataset_scores_its_own_targets_as_perfect(kind):
    batch = next(iter(Dataset(kind(), 8, seed=1)))
    assert np.mean(batch.score(batch.targets)["performance"]) == 1


@pytest.mark.parametrize("kind", DISCRETE, ids=lambda kind: kind.__name__)
def test_acting_early_costs_in_every_period_without_a_response_window(premature, kind):
    task = kind()
    batch = task.sample(20, seed=1)
    window = batch.table("window").any(axis=2)
    cost = task.rewards["abort"] * task.dt / 100
    checked = 0
    for p, name in enumerate(batch.period_names):
        if not window[:, batch.period == p].any() and (batch.period_steps[name] > 0).any():
            assert premature(task, name, trials=4) == {round(cost, 9)}, name
            checked += 1
    assert checked


@pytest.mark.parametrize("dt", [10, 100])
@pytest.mark.parametrize("kind", DISCRETE, ids=lambda kind: kind.__name__)
def test_the_fixation_cue_goes_off_when_an_answer_is_asked(kind, dt):
    task = kind(dt=dt)
    batch = task.sample(30, seed=5)
    cue = batch.shown[:, :, task.channels["fixation"]][..., 0]
    asked = batch.table("window").any(axis=2)
    played = batch.duration > 0
    assert (cue[asked & played] == 0).all()
    assert (cue[~asked & played] == 1).all()


@pytest.mark.parametrize("kind", DISCRETE, ids=lambda kind: kind.__name__)
def test_no_noise_on_cues(kind):
    task = kind()
    batch = task.sample(30, seed=5)
    noise = np.broadcast_to(batch.noise, batch.shown.shape)
    for cue in ("fixation", "context", "targets", "offered", "start"):
        if cue in task.channels:
            assert (noise[:, :, task.channels[cue]] == 0).all()


@pytest.mark.parametrize("kind", DISCRETE, ids=lambda kind: kind.__name__)
def test_imposed_answers_are_honoured(kind):
    task = kind()
    wanted = np.arange(60) % len(TaskView(task).answers)
    drawn = task.draw_conditions(
        np.random.default_rng(7), 60, correct_choice=TaskView(task).answers[wanted]
    )
    np.testing.assert_array_equal(TaskView(task).answer(drawn), TaskView(task).answers[wanted])
