"""The hook by which `ngym check` checks the view of a task."""

from __future__ import annotations

from typing import Any

from neurogym_core import hookimpl


@hookimpl
def ngym_check_task(spec: Any) -> list[dict[str, Any]] | None:
    """Return whether the stimuli of `[task.view]` fit the task, and flash as declared."""
    from neurogym_core import InvalidValueError, UnknownTaskError, make_task
    from neurogym_core.tools import find_task
    from neurogym_play.views import FLASHES, checked_view, flashes

    try:
        declared = find_task(spec.id).view
    except UnknownTaskError:  # a task of a file
        return None
    if not declared:
        return None
    reason, made = "", make_task(spec.id)
    try:
        view = checked_view(made, declared)
    except InvalidValueError as error:
        reason = str(error)
    else:
        often = flashes(made, view)
        if (often > FLASHES) is not view.flicker:
            form = "flicker = true" if often > FLASHES else "no flicker"
            reason = f"The stimuli flash {often:g} times a second; expected {form}."
    return [
        {
            "code": "V001",
            "name": "view_fits_the_task",
            "status": "failed" if reason else "passed",
            "reason": reason,
            "rule": "The stimuli of [task.view] fit the channels, and flash as declared.",
            "advice": "Correct [task.view] in the task's row. `ngym play` shows it.",
        }
    ]
