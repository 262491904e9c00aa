"""Signatures of perception, reaches and memory: found where they are, and not in cheats."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_behaviour.behaviour import Behaviour, CannotTellError, Roles
from neurogym_likeness.likenesses import sign_of
from neurogym_task_cognition import observers as cognition
from neurogym_task_motor import observers as motor
from neurogym_task_perceptual import observers as perceptual

from neurogym_core import run


class SlowSniffer(perceptual.Sniffer):
    """Sniffs longer where the odours are alike."""

    def __call__(self, env, observations):
        odour = observations[:, env.task.channels["odour"]]
        self.waits = np.where(np.abs(odour @ [-1, 1]) < 0.3, 500, 100)
        return super().__call__(env, observations)


class ShuffledOrder(cognition.BlurredOrder):
    """Remembers the blocks only."""

    def __init__(self):
        super().__init__(1e3)


CASES = [
    ("recent-clicks-count-more", "DynamicClicks-v0", perceptual.StateFilter(), 3000, "yes"),
    ("recent-clicks-count-more", "DynamicClicks-v0", perceptual.LeakyCounter(np.inf), 3000, "no"),
    ("towers-flat-kernel", "AccumulatingTowers-v0", perceptual.TowerCounter(), 12_000, "yes"),
    ("towers-flat-kernel", "AccumulatingTowers-v0", perceptual.TowerCounter("last"), 3000, "no"),
    ("context-selects-evidence", "FrequencyLocationClicks-v0", perceptual.PulseCounter(), 2000,
     "yes"),
    ("context-selects-evidence", "FrequencyLocationClicks-v0", perceptual.PulseCounter("stronger"),
     2000, "no"),
    ("belief-follows-hazard", "ChangingEvidence-v0", perceptual.HazardFilter(), 4000, "yes"),
    ("belief-follows-hazard", "ChangingEvidence-v0", perceptual.HazardFilter(0.2), 4000, "no"),
    ("waiting-tells-accuracy", "WaitingConfidence-v0", perceptual.Waiter(), 4000, "yes"),
    ("sniffs-do-not-last-longer", "OdourCategorisation-v0", perceptual.Sniffer(), 1000, "yes"),
    ("sniffs-do-not-last-longer", "OdourCategorisation-v0", SlowSniffer(), 1000, "no"),
    ("rotation-after-effect", "VisuomotorRotation-v0", motor.RotationLearner(), 3600, "yes"),
    ("rotation-after-effect", "VisuomotorRotation-v0", motor.Reacher(), 3600, "no"),
    ("force-after-effect", "ForceField-v0", motor.ForceLearner(), 3840, "yes"),
    ("force-after-effect", "ForceField-v0", motor.ForceLearner(0.0), 3840, "no"),
    ("slow-pursuit-at-low-contrast", "SmoothPursuit-v0", motor.Pursuer(), 1000, "yes"),
    ("slow-pursuit-at-low-contrast", "SmoothPursuit-v0", "oracle", 1000, "no"),
    ("neighbours-are-confused", "SequenceRecall-v0", cognition.BlurredOrder(1.0), 600, "yes"),
    ("neighbours-are-confused", "SequenceRecall-v0", ShuffledOrder(), 1500, "no"),
    ("neighbours-are-confused", "SerialRecall-v0", cognition.BlurredOrder(1.0), 600, "yes"),
    ("neighbours-are-confused", "SerialRecall-v0", ShuffledOrder(), 1500, "no"),
    ("rotation-takes-time", "MentalRotation-v0", cognition.Rotator(), 600, "yes"),
    ("rotation-takes-time", "MentalRotation-v0", cognition.BestRotator(), 600, "no"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "task", "subject", "trials", "sign"),
    CASES,
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_signatures_are_found_where_they_are(name, task, subject, trials, sign, known, measured):
    effect = measured(name, task, subject, trials, subjects=20)
    assert sign_of(effect, known[name]) == sign, effect


def test_a_subject_that_always_stays_as_long_has_no_short_waits_to_compare(measured):
    waiter = perceptual.Waiter(2000.0)
    with pytest.raises(CannotTellError):
        measured("waiting-tells-accuracy", "WaitingConfidence-v0", waiter, 500, subjects=20)


def test_without_errors_no_neighbours_are_confused(measured):
    with pytest.raises(CannotTellError, match="wrong place"):
        measured(
            "neighbours-are-confused", "SequenceRecall-v0", cognition.Order(), 100, subjects=20
        )


@pytest.mark.parametrize("name", sorted({case[0] for case in CASES}))
def test_records_of_other_tasks_are_refused(name, known):
    record = run("perceptual/PerceptualDecisionMaking-v0", "oracle", 50, seed=1)
    with pytest.raises(CannotTellError, match="no column"):
        known[name].measured(Behaviour(record, Roles()))
