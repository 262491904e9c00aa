"""A trainer without torch, installed for the tests, and a task to train on."""

from __future__ import annotations

from trainer_fixtures import ngym, sides, toys

__all__ = ["ngym", "sides", "toys"]
