"""Time and memory of reading a lab's table: ``python -m benchmarks.reading [ROWS]``.

A CSV file with eight columns (two of text) is written to a temporary folder, and read by
`neurogym_records.read_record` in a process started for it, which prints its peak of memory.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

COLUMNS = {"correct": "hit", "reaction_time": "rt"}
READ = """
import resource, sys, time
from neurogym_records import read_record
start, cpu = time.perf_counter(), time.process_time()
record = read_record(sys.argv[1], {columns!r})
took, cpu = time.perf_counter() - start, time.process_time() - cpu
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(f"{{len(record):,}} rows: {{took:.1f}} s ({{cpu:.1f}} s CPU), {{peak:.2f}} GiB")
"""


def write(path: Path, rows: int) -> None:
    """Write a table of `rows` trials of mice."""
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        file.write("subject,session,trial,side,contrast,hit,rt,reward\n")
        for start in range(0, rows, 1000):
            side = rng.choice(["left", "right"], 1000)
            contrast = rng.choice([0, 6.25, 12.5, 25, 100], 1000)
            hit, rt = rng.integers(0, 2, 1000), rng.gamma(4, 100, 1000).round(1)
            file.writelines(
                f"m{start // 50_000},{start // 1000},{k},{side[k]},{contrast[k]},{hit[k]},{rt[k]},"
                f"{1.5 * hit[k]}\n"
                for k in range(min(1000, rows - start))
            )


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "trials.csv"
        write(table, n)
        print(f"{table.stat().st_size / 2**20:.0f} MiB")
        code = READ.format(columns=COLUMNS)
        subprocess.run([sys.executable, "-c", code, str(table)], check=True)
