"""Reproduced durations: the two pickled tables of Qu & Shi (2026).

A pickle can run any code when it is read. `Reader` makes NumPy arrays and plain values only:
pandas's classes are replaced by `Part`, which keeps its arguments and does nothing, and any other
name is an error. Run it in a process without network, as ``unshare --net python sources/…``.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from common import Commit, write

NAME = "qu-2026"
COLUMNS = (
    "subject", "experiment", "trial", "coherence", "wanted", "reported", "reaction_time",
    "outcome", "outlier",
)  # fmt: skip
EXPERIMENTS = {1: "ramped", 2: "constant"}


class Part:
    """A part of a pickled table: its arguments, and its state."""

    def __new__(cls, *arguments: Any) -> Part:
        part = super().__new__(cls)
        part.arguments = arguments
        return part

    def __setstate__(self, state: Any) -> None:
        self.state = state


NAMES = {
    ("builtins", "slice"): slice,
    ("numpy", "dtype"): np.dtype,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy._core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,
    ("numpy._core.numeric", "_frombuffer"): np._core.numeric._frombuffer,
    ("pandas._libs.internals", "_unpickle_block"): Part,
    ("pandas.core.frame", "DataFrame"): Part,
    ("pandas.core.indexes.base", "Index"): Part,
    ("pandas.core.indexes.base", "_new_Index"): Part,
    ("pandas.core.internals.managers", "BlockManager"): Part,
}
"""The names that these pickles may have, and their stand-ins."""


class Reader(pickle.Unpickler):
    """Reads pickles of pandas tables without pandas, and refuses all other pickles."""

    def find_class(self, module: str, name: str) -> Any:
        """Return the stand-in of a name.

        Raises:
            UnpicklingError: the name is not among `NAMES`.
        """
        if (module, name) not in NAMES:
            raise pickle.UnpicklingError(f"The pickle names {module}.{name}, which is refused.")
        return NAMES[module, name]


def columns(data: bytes) -> dict[str, np.ndarray]:
    """Return the columns of a pickled pandas table."""
    blocks, (names, _) = Reader(io.BytesIO(data)).load().state["_mgr"].arguments
    _, facts = names.arguments
    found = {}
    for block in blocks:
        values, places, _ = block.arguments
        for name, column in zip(facts["data"][places], values, strict=True):
            found[name] = column
    return found


def rows(tables: Mapping[int, dict[str, np.ndarray]]) -> Iterator[dict[str, Any]]:
    """Yield the trials of both experiments, by person and number of the trial."""
    before = 0
    for experiment, table in tables.items():
        known = dict.fromkeys(table["subID"].tolist())
        people = {name: before + k for k, name in enumerate(known, 1)}
        before += len(people)
        order = np.lexsort(
            (table["trial_num"].astype(int), [people[one] for one in table["subID"].tolist()])
        )
        for row in order.tolist():
            produced = round(1000 * table["rpr"][row], 1)
            yield {
                "subject": people[table["subID"][row]],
                "experiment": EXPERIMENTS[experiment],
                "trial": int(table["trial_num"][row]),
                "coherence": round(100 * table["curCoherence"][row]),
                "wanted": round(1000 * table["curDur"][row]),
                "reported": produced,
                "reaction_time": produced,
                "outcome": "other",
                "outlier": int(table["is_outlier"][row]),
            }


if __name__ == "__main__":
    source = Commit(NAME)
    write(
        NAME,
        COLUMNS,
        rows({k: columns(source.read(f"data/experiment{k}/E{k}.pkl")) for k in EXPERIMENTS}),
    )
