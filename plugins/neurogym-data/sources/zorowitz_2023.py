"""Reversal learning with three options: the CSV files of Zorowitz et al. (2023)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from common import Commit, write

NAME = "zorowitz-2023"
FOLDER = "01_Original/data/"
COLUMNS = (
    "subject", "trial", "block", "better", "choice", "outcome", "reward", "reaction_time",
    "failed_checks",
)  # fmt: skip
KEYS = ("left", "up", "right")
"""Arrow keys, by the codes 37, 38 and 39."""


def table(source: Commit, file: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    return list(csv.DictReader(io.StringIO(source.read(FOLDER + file).decode("utf-8"))))


def rows(source: Commit) -> Iterator[dict[str, Any]]:
    """Yield the trials of those who had not done the study before, numbered in the file's order."""
    failed = {
        (row["platform"], row["subject"]): int(row["infreq"])
        for row in table(source, "metrics.csv")
    }
    numbers = {who: number for number, who in enumerate(failed, 1)}
    for row in table(source, "data.csv"):
        who = row["platform"], row["subject"]
        if who not in failed:
            continue
        choice, better = int(float(row["choice"])), int(row["correct"])
        assert choice == float(row["key"]) - 37
        assert (choice == better) == (float(row["accuracy"]) == 1)
        yield {
            "subject": numbers[who],
            "trial": int(row["trial"]),
            "block": int(row["block"]),
            "better": KEYS[better],
            "choice": KEYS[choice],
            "outcome": "correct" if choice == better else "error",
            "reward": int(float(row["outcome"])),
            "reaction_time": round(1000 * float(row["rt"])),
            "failed_checks": failed[who],
        }


if __name__ == "__main__":
    write(NAME, COLUMNS, rows(Commit(NAME)))
