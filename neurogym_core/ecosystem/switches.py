"""The environment variables that turn plug-ins off, or their failures into errors.

=============================== ===========================================================================
`NGYM_BLOCK=x,y`                use nothing of these distributions (or namespaces)
`NGYM_DISABLE_PLUGIN_AUTOLOAD`  load no module with hooks
`NGYM_STRICT`                   a recorded failure is an error; warnings of ``ngym doctor`` count (for CI)
=============================== ===========================================================================
"""

from __future__ import annotations

import os

from neurogym_core.ecosystem.names import canonical

BLOCK = "NGYM_BLOCK"
DISABLE = "NGYM_DISABLE_PLUGIN_AUTOLOAD"
STRICT = "NGYM_STRICT"


def is_on(variable: str) -> bool:
    """Whether a switch is set, and neither empty nor ``0``."""
    return os.environ.get(variable, "") not in ("", "0")


def blocked() -> frozenset[str]:
    """The canonical names that `NGYM_BLOCK` holds."""
    return frozenset(
        canonical(part.strip()) for part in os.environ.get(BLOCK, "").split(",") if part.strip()
    )
