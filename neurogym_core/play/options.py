"""Checks of arguments that several players take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_core.errors import InvalidValueError, unknown


def read_options(options: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the conditions that `options` impose, or None.

    Raises:
        UnknownNameError: an option is not ``conditions``.
        InvalidValueError: the conditions are not a mapping.
    """
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
