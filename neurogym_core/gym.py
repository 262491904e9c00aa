"""The door for plain Gymnasium: importing this module registers every installed task, by string.

``gym.make("neurogym_core.gym:perceptual/PerceptualDecisionMaking-v0")`` works in anybody's script
and in worker processes, because Gymnasium imports what stands before the colon."""

from __future__ import annotations

from typing import Any

import gymnasium

from neurogym_core.ecosystem.discovery import declared


def env(task: str, **params: Any) -> gymnasium.Env:
    """Entry point of the registered specs: the bare env, which `gymnasium.make` wraps itself."""
    from neurogym_core.play.make import bare_env

    return bare_env(task, **params)


def vector_env(task: str, num_envs: int = 1, **params: Any) -> Any:
    """Entry point of the registered specs for `gymnasium.make_vec`."""
    from neurogym_core.play.make import make_vec

    return make_vec(task, num_envs, **params)


def register_all() -> None:
    """Register every usable task that Gymnasium does not know yet; ids that exist are left
    alone.
    """
    for info in declared().tasks:
        if not info.usable or info.id in gymnasium.registry:
            continue
        gymnasium.register(
            id=info.id,
            entry_point="neurogym_core.gym:env",
            vector_entry_point="neurogym_core.gym:vector_env",
            kwargs={"task": info.id},
            disable_env_checker=True,  # the conformance kit checks more, once
        )


register_all()
