"""Registration with Gymnasium: importing this module registers every installed task.

``gymnasium.make("neurogym_core.gym:perceptual/PerceptualDecisionMaking-v0")`` works in any script
and in worker processes, because Gymnasium imports the module before the colon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import gymnasium

from neurogym_core.ecosystem.discovery import declared
from neurogym_core.errors import UnknownNameError
from neurogym_core.play.make import OrderEnforcingOnce, bare_env, make_vec


def env(task: str, **params: Any) -> gymnasium.Env:
    """Return the env of a registered spec, for `gymnasium.make`."""
    # Instead of the check by Gymnasium, which costs a call per step.
    return OrderEnforcingOnce(_made(bare_env, task, **params))


def vector_env(task: str, num_envs: int = 1, **params: Any) -> Any:
    """Return the vector env of a registered spec, for `gymnasium.make_vec`."""
    return _made(make_vec, task, num_envs, **params)


def _made(maker: Callable[..., Any], *args: Any, **params: Any) -> Any:
    try:
        return maker(*args, **params)
    except UnknownNameError as error:
        for name in params:
            if f"Unknown parameter {name!r}" in str(error):
                # TorchRL looks for these words, and then makes the env without its argument.
                raise UnknownNameError(
                    f"{error} ({maker.__name__}() got an unexpected keyword argument {name!r})"
                ) from None
        raise


def register_all() -> None:
    """Register every usable task, also under its bare name if only one package has that.

    Ids that are registered already are left alone.
    """
    tasks = [info for info in declared().tasks if info.usable]
    bare = Counter(info.id.rpartition("/")[2] for info in tasks)
    for info in tasks:
        name = info.id.rpartition("/")[2]
        for id in (info.id, name) if bare[name] == 1 else (info.id,):
            if id not in gymnasium.registry:
                gymnasium.register(
                    id=id,
                    entry_point="neurogym_core.gym:env",
                    vector_entry_point="neurogym_core.gym:vector_env",
                    kwargs={"task": info.id},
                    # The conformance kit checks more, and not on every `make`.
                    disable_env_checker=True,
                    order_enforce=False,
                )


register_all()
