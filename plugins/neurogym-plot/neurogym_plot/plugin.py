"""The hook that draws envs made with a render mode; its code is imported when it is called."""

from __future__ import annotations

from typing import Any

from neurogym_core import hookimpl


@hookimpl
def ngym_render(env: Any) -> Any:
    """Return an env, or vector env, whose `render` draws the trial so far."""
    from neurogym_core import TaskEnv
    from neurogym_plot.rendering import RenderedEnv, RenderedVectorEnv

    return (RenderedEnv if isinstance(env, TaskEnv) else RenderedVectorEnv)(env)
