"""Modules that a command imports, found in a separate process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

# Modules outside the standard library that commands without NumPy may import. Rich 13 imports
# attr where another package has installed it.
ALLOWED = {"neurogym_core", "click", "rich", "importlib_metadata", "zipp", "lazy_importer", "attr"}
CODE = """
import io, json, os, sys
before = set(sys.modules)
sys.stdout, out = io.TextIOWrapper(io.BytesIO(), "utf-8"), sys.stdout
from neurogym_core.tools import main
try:
    main(prog_name="ngym")
except SystemExit:
    pass
sys.stdout.flush()
printed, sys.stdout = sys.stdout.buffer.getvalue().decode(), out
print(json.dumps({"modules": sorted(set(sys.modules) - before), "printed": printed}))
"""


def imported(*arguments: str, **environment: str) -> tuple[set[str], str]:
    """Return the third-party top-level modules that a command imports, and its output."""
    completed = subprocess.run(
        [sys.executable, "-c", CODE, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found = json.loads(completed.stdout.splitlines()[-1])
    tops = {name.partition(".")[0] for name in found["modules"]}
    return {
        name for name in tops - set(sys.stdlib_module_names) if not name.startswith("_")
    }, found["printed"]
