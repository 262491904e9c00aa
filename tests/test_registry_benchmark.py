"""The benchmark of registries follows the rules of registries."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
def test_a_small_registry_is_searched_and_a_change_of_it_validated() -> None:
    command = [sys.executable, "-m", "benchmarks.bench_registry", "--sizes", "20"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    row = done.stdout.splitlines()[-1].split()
    assert row[0] == "20"
    assert all(float(one) > 0 for one in row[-4:])
