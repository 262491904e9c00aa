"""A trainer without torch, installed for the tests, a task to train on, and effects of subjects."""

from __future__ import annotations

import pytest
from neurogym_behaviour.behaviour import Behaviour, Roles
from neurogym_likeness.signatures import signatures
from trainer_fixtures import ngym, sides, toys

from neurogym_core import make_task, run

__all__ = ["ngym", "sides", "toys"]


@pytest.fixture(scope="session")
def known():
    """The installed signatures, by name."""
    return {one.name: one for one in signatures()}


@pytest.fixture(scope="session")
def measured(known):
    """The effect of a signature in the trials of `subjects` subjects who play side by side."""

    def effect(name, task, subject, trials, *, subjects, **given):
        made = make_task(task, **given)
        record = run(made, subject, trials, num_envs=subjects, seed=3)
        return known[name].measured(Behaviour(record, Roles.of_task(made)))

    return effect
