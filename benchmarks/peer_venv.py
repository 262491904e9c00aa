"""The environment of the peer, `.venv-peer`, made once with venv and pip."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEER = ("neurogym==2.3.1", "torch==2.13.0")  # this version does not install CUDA


def make_peer() -> Path:
    """Return the Python of `.venv-peer`, and make that environment if it does not exist.

    Raises:
        FileExistsError: `.venv-peer` is a link to a folder that is not such an environment.
        subprocess.CalledProcessError: venv or pip failed; their output is on the terminal.
    """
    folder = ROOT / ".venv-peer"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = folder / "installed"  # missing if pip was interrupted
    if not done.is_file():
        # `venv --clear` empties the folder behind a link: another environment, perhaps.
        if folder.is_symlink():
            raise FileExistsError(
                f"{folder} is a link to {folder.resolve()}, where the peer is not installed."
                " Expected no such link, because making the environment deletes the files there."
                " Remove the link."
            )
        print("Making .venv-peer with", *PEER, file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        constraints = ROOT / "benchmarks" / "peer-constraints.txt"
        subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", "-c", str(constraints), *PEER],
            check=True,
        )
        done.touch()
    return python
