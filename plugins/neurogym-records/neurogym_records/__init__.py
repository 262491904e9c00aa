"""Read the files of laboratories as trial records, and write records as NWB, BIDS, CSV and Parquet.

Names are imported on first use."""

from __future__ import annotations

from neurogym_core.tools import lazy_names

_HOMES = {
    "AnimalFacts": "animals",
    "record_steps": "steps",
    "read_csv": "csv_files",
    "read_recipe": "recipes",
    "read_record": "reading",
    "to_bids": "exchange",
    "to_nwb": "exchange",
}

__all__ = [*_HOMES]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
