"""Signatures of families for networks: found where they are, and not in cheats."""

from __future__ import annotations

import pytest
from neurogym_behaviour.behaviour import Behaviour, CannotTellError, Roles
from neurogym_likeness.likenesses import sign_of
from neurogym_task_driscoll24.observers import Integrator
from neurogym_task_dynamics.observers import ContextWeigher
from neurogym_task_modcog.observers import IdealObserver
from neurogym_task_yang19.observers import Observer

from neurogym_core import run


class Untimed(IdealObserver):
    """Does not measure the delay."""

    def _unit(self, task, envs):
        self.delay[:] = 0
        return super()._unit(task, envs)


class Attends(Observer):
    """Takes one modality, or both, whatever the rule says."""

    def __init__(self, modality):
        super().__init__()
        self.modality = modality

    def begin(self, env):
        super().begin(env)
        self.attends = self.modality


CASES = [
    ("context-selects-inputs", "ContextIntegration-v0", ContextWeigher(), 400, "yes"),
    ("context-selects-inputs", "ContextIntegration-v0", ContextWeigher("both"), 800, "no"),
    ("context-selects-modality", "CtxDM1-v0", Observer(), 400, "yes"),
    ("context-selects-modality", "CtxDM1-v0", Attends("2"), 400, "no"),
    pytest.param(
        "context-selects-modality", "CtxDM1-v0", Attends("b"), 2500, "no", marks=pytest.mark.slow
    ),
    ("both-stimuli-are-compared", "IntegrationModality1-v0", Integrator(), 800, "yes"),
    ("both-stimuli-are-compared", "IntegrationModality1-v0", Integrator(first=True), 1000, "no"),
    ("answers-turn-with-the-delay", "Dlydm1intl-v0", IdealObserver(), 200, "yes"),
    ("answers-turn-with-the-delay", "Dlydm2intr-v0", IdealObserver(), 200, "yes"),
    ("answers-turn-with-the-delay", "Dlydm1intl-v0", Untimed(), 200, "no"),
]


@pytest.mark.parametrize(
    ("name", "task", "subject", "trials", "sign"),
    CASES,
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_signatures_are_found_where_they_are(name, task, subject, trials, sign, known, measured):
    effect = measured(name, task, subject, trials, subjects=50)
    assert sign_of(effect, known[name]) == sign, effect


@pytest.mark.parametrize(
    "name",
    sorted(
        {
            "context-selects-inputs",
            "context-selects-modality",
            "both-stimuli-are-compared",
            "answers-turn-with-the-delay",
        }
    ),
)
def test_records_of_other_tasks_are_refused(name, known):
    record = run("perceptual/PerceptualDecisionMaking-v0", "oracle", 50, seed=1)
    with pytest.raises(CannotTellError, match="no column"):
        known[name].measured(Behaviour(record, Roles()))


def test_few_trials_are_no_verdict(measured):
    with pytest.raises(CannotTellError, match="fewer than"):
        measured("both-stimuli-are-compared", "IntegrationModality1-v0", Integrator(), 20,
                 subjects=5)  # fmt: skip
