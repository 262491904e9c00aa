"""The `options` of `reset`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neurogym_core.errors import InvalidValueError, unknown


def read_options(options: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The conditions that `options` impose, or None.

    Raises:
        UnknownNameError: an option other than ``conditions``.
        InvalidValueError: conditions that are not given by name.
    """
    if not options:
        return None
    for name in options:
        if name != "conditions":
            raise unknown("option", name, ["conditions"], of="reset()")
    conditions = options["conditions"]
    if not isinstance(conditions, Mapping):
        raise InvalidValueError(
            f"reset() was given conditions={conditions!r}; give them by name, e.g. {{'coherence':"
            " 51.2}."
        )
    return conditions
