"""Makes `small_tasks.py` importable as `neurogym_wrappers_small_tasks`.

Tests run with ``--import-mode=importlib``, which does not put their folder on the path."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

NAME = "neurogym_wrappers_small_tasks"

if NAME not in sys.modules:
    spec = importlib.util.spec_from_file_location(NAME, Path(__file__).with_name("small_tasks.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
