"""Confidence: experiment 1 of Adler & Ma (2018), a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from common import Commit, write

NAME = "adler-2018"
FILE = "human_data/for_rahnev_database/data_Adler_2018_Expt1.csv"
COLUMNS = (
    "subject", "rule", "difficulty", "orientation", "category", "choice", "outcome", "confidence",
    "reaction_time",
)  # fmt: skip
RULES = {"A": "mean", "B": "spread"}


def rows(source: Commit) -> Iterator[dict[str, Any]]:
    """Yield all trials, by person, in the order of the file."""
    table = list(csv.DictReader(io.StringIO(source.read(FILE).decode("utf-8"))))
    for row in sorted(table, key=lambda row: int(row["Subj_idx"])):
        yield {
            "subject": int(row["Subj_idx"]),
            "rule": RULES[row["Task"]],
            "difficulty": int(row["Difficulty"]),
            "orientation": round(float(row["Orientation"]), 2),
            "category": row["Stimulus"],
            "choice": row["Response"],
            "outcome": "correct" if row["Response"] == row["Stimulus"] else "error",
            "confidence": int(row["Confidence"]),
            "reaction_time": round(1000 * float(row["RT_decConf"])),
        }


if __name__ == "__main__":
    write(NAME, COLUMNS, rows(Commit(NAME)))
