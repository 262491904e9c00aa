"""Checks of arguments that several players take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_core.ecosystem.advice import brought, comes_with
from neurogym_core.errors import (
    InvalidValueError,
    MissingDependencyError,
    NotSupportedError,
    unknown,
)
from neurogym_core.trials.arrays import Bools


def read_options(options: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the conditions that the options of `reset` impose, or None."""
    if not options:
        return None
    for name in options:
        if name != "conditions":
            raise unknown("option", name, ["conditions"], of="reset()")
    conditions = options["conditions"]
    if not isinstance(conditions, Mapping):
        raise InvalidValueError(
            f"reset() was given conditions={conditions!r}. Expected a mapping from names to values."
            " Give them by name, e.g. {'coherence': 51.2}."
        )
    return conditions


def reset_mask(
    options: Mapping[str, Any] | None, num_envs: int
) -> tuple[Bools, Mapping[str, Any] | None]:
    """Return (num_envs,) which envs `reset` resets, and its other options."""
    if not isinstance(options, Mapping) or "reset_mask" not in options:
        return np.ones(num_envs, np.bool_), options
    mask = np.asarray(options["reset_mask"])
    if mask.shape != (num_envs,) or mask.dtype != np.bool_ or not mask.any():
        raise InvalidValueError(
            f"reset() was given reset_mask={options['reset_mask']!r}. Expected {num_envs} bools, at"
            " least one of them True. Give one per env."
        )
    return mask.copy(), {name: value for name, value in options.items() if name != "reset_mask"}


def checked_render_mode(render_mode: str | None) -> str | None:
    """Return the render mode, None or "rgb_array"."""
    if render_mode not in (None, "rgb_array"):
        raise InvalidValueError(
            f"render_mode={render_mode!r} was given. Expected None or 'rgb_array'. Use one of them."
        )
    return render_mode


def no_renderer(maker: str) -> Any:
    """Raise the error of `render` on an env that no package wrapped; `maker` makes such envs."""
    from neurogym_core.ecosystem.hooks import has_hook  # imports pluggy

    if not has_hook("ngym_render"):
        raise MissingDependencyError(comes_with("render()", brought("plugins").get("ngym_render")))
    raise NotSupportedError(
        f"render() was called on an env of its class. Expected an env of neurogym_core.{maker},"
        f" which draws. Make it with {maker}(task, render_mode='rgb_array')."
    )


def whole_number(owner: str, name: str, value: Any, least: int = 1) -> int:
    """Return an argument as an int of at least `least`; `owner` is its function, for the message.

    Raises:
        InvalidValueError: the value is no whole number, or is too small.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidValueError(
            f"{owner} was given {name}={value!r}. Expected a whole number, at least {least}."
            " Give one."
        )
    return int(value)
