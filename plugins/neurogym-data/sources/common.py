"""Parts of the conversion scripts: files of a commit, the held-out subjects, and the tables.

The scripts are not part of the installed package. Each is run with a Git clone of its source::

    python sources/luo_2025.py CLONE

It reads the files of the commit that the manifest names, writes the two tables beside the manifest,
and prints the lines of the manifest that describe them.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

TABLES = Path(__file__).parents[1] / "neurogym_data" / "tables"
SHARE = 5
"""One subject in so many is held out, rounded up."""


class Commit:
    """The files of the commit that the manifest of a data set names, in a Git clone."""

    def __init__(self, name: str) -> None:
        if len(sys.argv) != 2:
            raise SystemExit(f"Usage: python {sys.argv[0]} CLONE, a Git clone of the source.")
        self.clone = sys.argv[1]
        manifest = tomllib.loads((TABLES / f"{name}.toml").read_text("utf-8"))
        self.commit: str = manifest["source"]["commit"]

    def names(self, folder: str) -> list[str]:
        """Return the paths of all files in a folder."""
        listed = self._git("ls-tree", "-r", "--name-only", self.commit, folder).decode()
        return sorted(listed.splitlines())

    def read(self, path: str) -> bytes:
        """Return the bytes of a file."""
        return self._git("cat-file", "blob", f"{self.commit}:{path}")

    def _git(self, *arguments: str) -> bytes:
        return subprocess.run(
            ["git", "-C", self.clone, *arguments], check=True, stdout=subprocess.PIPE
        ).stdout


def held_out(name: str, subjects: Iterable[Any]) -> list[str]:
    """Return the held-out subjects of a data set, which behaviour does not choose.

    They are the fifth with the smallest SHA-256 of "<data set> <subject>".
    """
    known = sorted({str(one) for one in subjects})
    ranked = sorted(known, key=lambda one: hashlib.sha256(f"{name} {one}".encode()).digest())
    return sorted(ranked[: -(-len(known) // SHARE)])


def write(name: str, header: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write the two tables of a data set, and print their lines of the manifest."""
    rows = list(rows)
    kept = held_out(name, (row["subject"] for row in rows))
    print(f"held_out = {kept}")
    for key, suffix, chosen in (
        ("table", "", [row for row in rows if str(row["subject"]) not in kept]),
        ("held_out", ".held-out", [row for row in rows if str(row["subject"]) in kept]),
    ):
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(header)
        table.writerows([_cell(row[column]) for column in header] for row in chosen)
        # Without a name and a time, equal rows give an equal file.
        packed = gzip.compress(text.getvalue().encode("utf-8"), 9, mtime=0)
        (TABLES / f"{name}{suffix}.csv.gz").write_bytes(packed)
        print(f"[files.{key}]  # {len(packed):,} bytes")
        print(f"subjects = {len({row['subject'] for row in chosen})}")
        print(f"trials = {len(chosen)}")
        print(f'sha256 = "{hashlib.sha256(packed).hexdigest()}"')


def _cell(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
