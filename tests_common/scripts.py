"""Scripts of the repository as modules, for tests."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

MAKE = Path(__file__).resolve().parents[1] / "docs" / "_make"


def loaded(script: str | Path) -> ModuleType:
    """Return a script as a new module.

    Args:
        script: path of the script, or the name of one in ``docs/_make``. While it is imported, its
            folder is on the path, as for a script that Python runs.
    """
    path = script if isinstance(script, Path) else MAKE / f"{script}.py"
    spec = importlib.util.spec_from_file_location(f"script_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module
