"""Records with indices in place of names, for figures and analyses."""

from __future__ import annotations

import numpy as np

from neurogym_core import TrialRecord
from neurogym_core.players import PERIOD_COLUMNS


def is_choice(column: str) -> bool:
    """Return whether a column of a record has the choices of an answer slot."""
    # Periods may be called "choice", and have columns too.
    slot = column.endswith(".choice") and not column.startswith(PERIOD_COLUMNS)
    return slot or column == "choice"


def coded(record: TrialRecord) -> TrialRecord:
    """Return the record with indices instead of names, in the order of `TrialRecord.codes`.

    Names in an unknown order, of a file, stay; their choices are numbered in alphabetical order.
    """
    changed, order = {}, dict(record.meta.get("names", {}))
    for name in record.columns:
        if record[name].dtype.kind != "U":
            continue
        if is_choice(name):
            found = set(np.unique(record[name]).tolist()) - {"none"}
            order.setdefault(name, tuple(sorted(found)))
        if name in order:
            changed[name] = TrialRecord({name: record[name]}, meta={"names": order}).codes(name)
    if not changed:
        return record
    return TrialRecord({**record, **changed}, meta={**record.meta, "names": order})
