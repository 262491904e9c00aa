"""Every task of NeuroGym, under its name there or an older one, is here or is answered with its
present name.
"""

from __future__ import annotations

import copy
import pickle

import pytest

from neurogym_core import Dataset, make, make_task
from neurogym_core.ecosystem.discovery import installed
from neurogym_core.errors import NotSupportedError, UnknownTaskError

SAME = [
    "AntiReach",
    "Bandit",
    "ContextDecisionMaking",
    "DawTwoStep",
    "DelayComparison",
    "DelayMatchCategory",
    "DelayMatchSample",
    "DelayMatchSampleDistractor1D",
    "DelayPairedAssociation",
    "Detection",
    "DualDelayMatchSample",
    "EconomicDecisionMaking",
    "GoNogo",
    "HierarchicalReasoning",
    "IntervalDiscrimination",
    "MotorTiming",
    "MultiSensoryIntegration",
    "Null",
    "OneTwoThreeGo",
    "PerceptualDecisionMaking",
    "PerceptualDecisionMakingDelayResponse",
    "PostDecisionWager",
    "ProbabilisticReasoning",
    "PulseDecisionMaking",
    "Reaching1D",
    "Reaching1DWithSelfDistraction",
    "ReachingDelayResponse",
    "ReadySetGo",
    "SpatialSuppressMotion",
    "ToneDetection",
    "DualTask",
    "NAltPerceptualDecisionMaking",
    "NAltConditionalVisuomotor",
    "Nothing",
    "MemoryRecall",
    "CueSetGo",
]
"""Native tasks, and those of the history that keep their name."""

RENAMED = {
    "AnnubesEnv": "perceptual/Annubes",
    "RDM": "perceptual/PerceptualDecisionMaking",
    "PerceptualDecisionMaking1D": "perceptual/PerceptualDecisionMaking",
    "RDM_hist": "perceptual/HistoryPerceptualDecisionMaking",
    "nalt_RDM": "perceptual/NAltPerceptualDecisionMaking",
    "Priors": "perceptual/PriorBlocks",
    "priors.priors": "perceptual/HistoryNAltPerceptualDecisionMaking",
    "perceptualdecisionmaking.roitman02": "perceptual/RoitmanShadlen",
    "DR": "perceptual/PerceptualDecisionMakingDelayResponse",
    "DelayedResponse": "perceptual/PerceptualDecisionMakingDelayResponse",
    "Mante": "perceptual/ManteDecisionMaking",
    "SingleContextDecisionMaking": "perceptual/ContextDecisionMaking",
    "UnifiedContextDecisionMaking": "perceptual/ManteDecisionMaking",
    "ManteWithAbstraction": "perceptual/ManteDecisionMaking",
    "ContextDecisionMakingWithAbstraction": "perceptual/ManteDecisionMaking",
    "SvsN": "perceptual/Detection",
    "PDWager": "perceptual/PostDecisionWager",
    "WeatherPrediction": "perceptual/ProbabilisticReasoning",
    "SpatialSuppressMotion2": "perceptual/SpatialSuppressMotion",
    "SpatialSuppressMotion3": "perceptual/SpatialSuppressMotion",
    "RaposoTask": "perceptual/AudioVisualRateDiscrimination",
    "Romo": "memory/DelayComparison",
    "DelayedComparison": "memory/DelayComparison",
    "DPA": "memory/DelayPairedAssociation",
    "DelayedMatchToSample": "memory/DelayMatchSample",
    "DelayedMatchToSampleDistractor1D": "memory/DelayMatchSampleDistractor1D",
    "DualDelayedMatchToSample": "memory/DualDelayMatchSample",
    "DelayedMatchCategory": "memory/DelayMatchCategory",
    "delayestimation": "memory/DelayEstimation",
    "TwoAFC": "memory/TwoAlternativeChoice",
    "GenTask": "memory/TwoAlternativeChoice",
    "GNG": "control/GoNogo",
    "AntiReach1D": "control/AntiReach",
    "PadoaSch": "value/EconomicDecisionMaking",
    "MatchingPenny": "value/MatchingPennies",
    "Serrano": "motor/ReachingDelayResponse",
    "ReachingWithSelfDistraction": "motor/Reaching1DWithSelfDistraction",
    "ReadySetGo_SinglePrior": "timing/ReadySetGoSinglePrior",
    "ReadySetGo_DoublePrior": "timing/ReadySetGoDoublePrior",
}


@pytest.mark.parametrize("name", SAME)
def test_a_task_that_keeps_its_name_is_found_by_it(name):
    assert make_task(f"{name}-v0").name == name


@pytest.mark.parametrize("old", RENAMED)
def test_an_old_name_is_answered_with_the_present_one(old):
    with pytest.raises(UnknownTaskError, match=f"'{old}-v0' is now '{RENAMED[old]}-v0'"):
        make_task(f"{old}-v0")


@pytest.mark.parametrize(
    ("old", "now"),
    [("RDM-v1", "JitteredPerceptualDecisionMaking-v0"), ("DPA-v1", "JitteredPairedAssociation-v0")],
)
def test_second_versions_are_tasks_of_their_own(old, now):
    with pytest.raises(UnknownTaskError, match=f"is now '[a-z]+/{now}'"):
        make_task(old)


def test_no_old_name_stands_for_two_tasks_nor_for_one_that_is_there():
    aliases = [alias for task in installed().tasks for alias in task.aliases]
    assert len(aliases) == len(set(aliases))
    assert not set(aliases) & {task.name for task in installed().tasks}


def test_a_dataset_that_is_called_says_how_batches_are_taken():
    with pytest.raises(NotSupportedError, match=r"next\(dataset\)"):
        Dataset("GoNogo-v0")()


def test_envs_and_datasets_are_copied_and_pickled_in_spite_of_these_answers():
    env, dataset = make("GoNogo-v0", seed=1), Dataset("GoNogo-v0", 4, seed=1)
    env.reset(seed=1)
    for made in (copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))):
        again = made(env)
        assert again.step(0)[0].shape == (3,)
        assert next(made(dataset)).inputs.shape[0] == 4
