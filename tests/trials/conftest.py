"""Make the helpers of these tests importable by name, since `tests` is not a package."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

for _name in ("reference", "random_tasks"):
    _full = f"ngym_test_{_name}"
    if _full not in sys.modules:
        _spec = importlib.util.spec_from_file_location(
            _full, Path(__file__).with_name(f"{_name}.py")
        )
        sys.modules[_full] = _module = importlib.util.module_from_spec(_spec)
        _spec.loader.exec_module(_module)
