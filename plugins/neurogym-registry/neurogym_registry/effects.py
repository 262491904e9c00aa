"""The effects of a package besides its tasks and wrappers, in sentences."""

from __future__ import annotations

from collections.abc import Mapping

from neurogym_core.tools import clean


def effects(offers: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return sentences about the effects of a package besides its tasks and wrappers."""
    texts = {
        "plugins": "its hooks ({}) run for the tasks of all packages: in `make` with a render"
        " mode, in some commands, and on unknown names",
        "commands": "it adds commands to ngym: {}",
        "subjects": "it adds subjects: {}",
        "trainers": "it adds trainers: {}",
    }
    return [
        texts.get(kind, f"it adds {clean(kind)}: {{}}").format(", ".join(map(clean, rows)))
        for kind, rows in sorted(offers.items())
        if rows
    ]
