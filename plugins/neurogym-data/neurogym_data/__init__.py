"""Trials of animals and people, with their source, licence and held-out subjects.

Names are imported on first use; ``ngym data`` is made from them.
"""

from __future__ import annotations

from neurogym_core.tools import lazy_names

_HOMES = {
    "Column": "sets",
    "DataSet": "sets",
    "Table": "sets",
    "data": "sets",
    "data_names": "sets",
    "data_set": "sets",
}

__all__ = [*_HOMES]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
