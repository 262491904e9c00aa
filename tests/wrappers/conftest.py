"""Make `small_tasks.py` importable under a unique name, for ``--import-mode=importlib``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

NAME = "wrapper_small_tasks"

if NAME not in sys.modules:
    spec = importlib.util.spec_from_file_location(NAME, Path(__file__).with_name("small_tasks.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
