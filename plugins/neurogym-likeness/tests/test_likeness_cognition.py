"""Signatures of attention, control, memory and learning: found where they are, not in others."""

from __future__ import annotations

import pytest
from neurogym_behaviour.behaviour import Behaviour, CannotTellError, Roles
from neurogym_likeness.likenesses import sign_of
from neurogym_task_cognition import observers as cognition
from neurogym_task_learning import observers as learning
from neurogym_task_timing.observers import BestMoment

from neurogym_core import run


class Blinks(cognition.BlinkObserver):
    """Is blind to letters two to four places after the white one."""

    def __call__(self, env, observations):
        after = self._step // round(env.task.soa / env.task.dt)
        blind = (after >= 1) & (after <= 3)
        seen = observations.copy()
        seen[blind, env.task.channels["letter"]] = 0
        return super().__call__(env, seen)


CASES = [
    ("incongruent-flankers-are-slow", "Flanker-v0", cognition.BestStop(), {"leak": 0.4}, "yes"),
    ("incongruent-flankers-are-slow", "Flanker-v0", cognition.BestStop(), {}, "no"),
    ("incongruent-places-are-slow", "Simon-v0", cognition.BestStop(), {"leak": 0.6}, "yes"),
    ("incongruent-places-are-slow", "Simon-v0", "oracle", {}, "no"),
    ("incongruent-words-are-slow", "Stroop-v0", cognition.BestStop(), {"leak": 0.4}, "yes"),
    ("incongruent-words-are-slow", "Stroop-v0", "oracle", {}, "no"),
    ("switches-are-slow", "TaskSwitching-v0", cognition.BestSwitch(), {"inertia": 0.6}, "yes"),
    ("switches-are-slow", "TaskSwitching-v0", "oracle", {}, "no"),
    ("memory-search-takes-time", "Sternberg-v0", cognition.Scanner(), {}, "yes"),
    ("memory-search-takes-time", "Sternberg-v0", cognition.BestMemory(), {}, "no"),
    ("conjunctions-are-searched", "ConjunctionSearch-v0", cognition.Searcher(), {}, "yes"),
    ("conjunctions-are-searched", "ConjunctionSearch-v0", cognition.BestSearcher(), {}, "no"),
    ("changes-among-many-are-missed", "ChangeDetection-v0", cognition.BestDetector(), {}, "yes"),
    ("changes-among-many-are-missed", "ChangeDetection-v0", cognition.BestDetector(),
     {"sigma": 0.1}, "no"),
    ("preparation-costs-errors", "AXCPT-v0", cognition.BestContext(), {}, "yes"),
    ("preparation-costs-errors", "AXCPT-v0", cognition.BestContext("cue"), {}, "no"),
    ("preparation-costs-errors", "AXCPT-v0", "oracle", {}, "no"),
    ("digits-are-forgotten", "TwelveAX-v0", cognition.BestLoop(forgets=0.2), {}, "yes"),
    ("digits-are-forgotten", "TwelveAX-v0", cognition.BestLoop(), {}, "no"),
    ("valid-cues-are-fast", "PosnerCueing-v0", cognition.BestPlaces(), {"lost": 0.4}, "yes"),
    ("valid-cues-are-fast", "PosnerCueing-v0", "oracle", {}, "no"),
    ("sequences-are-anticipated", "SerialReactionTime-v0", cognition.Anticipator(), {}, "yes"),
    ("sequences-are-anticipated", "SerialReactionTime-v0", cognition.Anticipator(0), {}, "no"),
    ("presses-speed-up-before-errors", "SART-v0", cognition.Drifter(), {}, "yes"),
    ("presses-speed-up-before-errors", "SART-v0", cognition.Drifter(0.3), {}, "no"),
    ("second-targets-are-missed", "AttentionalBlink-v0", Blinks(), {}, "yes"),
    ("second-targets-are-missed", "AttentionalBlink-v0", "oracle", {}, "no"),
    ("long-waits-speed-presses", "PVT-v0", cognition.Watcher(), {"sigma": 4.0}, "yes"),
    ("long-waits-speed-presses", "PVT-v0", cognition.Watcher(rising=False), {"sigma": 4.0}, "no"),
    ("surprise-speeds-learning", "PredictiveInference-v0", learning.ChangePointFilter(), {}, "yes"),
    ("surprise-speeds-learning", "PredictiveInference-v0", learning.FixedRate(rate=0.5), {}, "no"),
    ("interval-regression", "MeasureWaitGo-v0", BestMoment(), {}, "yes"),
    ("one-trial-of-learning", "Harlow-v0", learning.ObjectMemory(), {}, "yes"),
    ("one-trial-of-learning", "Harlow-v0", "guess", {}, "no"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "task", "subject", "given", "sign"),
    CASES,
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_signatures_are_found_where_they_are(name, task, subject, given, sign, known, measured):
    effect = measured(name, task, subject, 12_000, subjects=50, **given)
    assert sign_of(effect, known[name]) == sign, effect


@pytest.mark.parametrize("name", sorted({case[0] for case in CASES} - {"interval-regression"}))
def test_records_of_other_tasks_are_refused(name, known):
    record = run("perceptual/PerceptualDecisionMaking-v0", "oracle", 50, seed=1)
    with pytest.raises(CannotTellError, match="no column"):
        known[name].measured(Behaviour(record, Roles()))


def test_a_subject_without_errors_at_the_digit_has_no_presses_to_compare(measured):
    with pytest.raises(CannotTellError, match="at the 3"):
        measured(
            "presses-speed-up-before-errors", "SART-v0", cognition.BestPress(), 2000, subjects=50
        )
