"""Registration with Gymnasium: importing this module registers every installed task.

``gymnasium.make("neurogym_core.gym:perceptual/PerceptualDecisionMaking-v0")`` works in any script
and in worker processes, because Gymnasium imports the module before the colon."""

from __future__ import annotations

from typing import Any

import gymnasium

from neurogym_core.ecosystem.discovery import declared
from neurogym_core.play.make import bare_env, make_vec


def env(task: str, **params: Any) -> gymnasium.Env:
    """Return the env of a registered spec, for `gymnasium.make`, which adds its own wrappers."""
    return bare_env(task, **params)


def vector_env(task: str, num_envs: int = 1, **params: Any) -> Any:
    """Return the vector env of a registered spec, for `gymnasium.make_vec`."""
    return make_vec(task, num_envs, **params)


def register_all() -> None:
    """Register every usable task; ids that are registered already are left alone."""
    for info in declared().tasks:
        if not info.usable or info.id in gymnasium.registry:
            continue
        gymnasium.register(
            id=info.id,
            entry_point="neurogym_core.gym:env",
            vector_entry_point="neurogym_core.gym:vector_env",
            kwargs={"task": info.id},
            # The conformance kit checks more, and not on every `make`.
            disable_env_checker=True,
        )


register_all()
