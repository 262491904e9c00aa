"""Environment variables that disable plug-ins, or turn their failures into errors.

=============================== =================================================================
`NGYM_BLOCK=x,y`                ignore these distributions or namespaces
`NGYM_DISABLE_PLUGIN_AUTOLOAD`  load no module with hooks
`NGYM_STRICT`                   a plug-in's failure is an error, and so is a warning of
                                ``ngym doctor`` (for CI)
=============================== =================================================================
"""

from __future__ import annotations

import os

from neurogym_core.ecosystem.names import canonical

BLOCK = "NGYM_BLOCK"
DISABLE = "NGYM_DISABLE_PLUGIN_AUTOLOAD"
STRICT = "NGYM_STRICT"


def is_on(variable: str) -> bool:
    """Return whether a variable is set to something other than an empty text or ``0``."""
    return os.environ.get(variable, "") not in ("", "0")


def blocked() -> frozenset[str]:
    """Return the canonical names in `NGYM_BLOCK`."""
    return frozenset(
        canonical(part.strip()) for part in os.environ.get(BLOCK, "").split(",") if part.strip()
    )
