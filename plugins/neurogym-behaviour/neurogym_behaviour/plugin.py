"""The hook that `ngym run` calls: measures of signal detection.

The rest of the package is imported when the hook is called."""

from __future__ import annotations

from typing import Any

from neurogym_core import hookimpl


@hookimpl
def ngym_sensitivity(hits: int, signals: int, false_alarms: int, noises: int) -> dict[str, Any]:
    """Return rates, d' and criterion with their intervals for `ngym run`."""
    from neurogym_behaviour.measures import sensitivity  # imports SciPy

    found = sensitivity(hits, signals, false_alarms, noises)
    return {name: (one.value, one.low, one.high) for name, one in found.measures.items()}
