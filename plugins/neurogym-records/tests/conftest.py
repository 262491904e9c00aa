"""A task in a file, and the command `ngym` in a new folder."""

from __future__ import annotations

from trainer_fixtures import ngym, sides

__all__ = ["ngym", "sides"]
