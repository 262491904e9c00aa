"""The peer's environment: `.venv-peer` beside `.venv`, made once by plain venv and pip."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEER = ("neurogym==2.3.1", "torch==2.13.0")  # this torch keeps CUDA away


def make_peer() -> Path:
    """The interpreter of `.venv-peer`, which is made first where it is not there.

    Raises:
        subprocess.CalledProcessError: it could not be made; what venv or pip said is on the
            terminal.
    """
    folder = ROOT / ".venv-peer"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = folder / "installed"  # pip may have been stopped half-way
    if not done.is_file():
        print("Making .venv-peer with", *PEER, file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        constraints = ROOT / "benchmarks" / "peer-constraints.txt"
        subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", "-c", str(constraints), *PEER],
            check=True,
        )
        done.touch()
    return python
