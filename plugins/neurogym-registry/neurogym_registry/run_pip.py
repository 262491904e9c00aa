"""Run pip without the programs that it would start: builds of sources run code of strangers.

``python run_pip.py PIP …`` runs the module ``pip``, or the program in a wheel of pip. Wheels need
no program; for a requirement at an address of sources, or of a repository, pip would start those of
the package, also where options allow wheels only."""

from __future__ import annotations

import os
import runpy
import sys
from typing import Any

REFUSED = "it would be built, and only wheels are used"
"""Words of the error, which pip repeats."""
STARTS = frozenset(
    ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn",
     "os.startfile", "os.system", "pty.spawn")
)  # fmt: skip


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise `PermissionError` for an event of Python that starts a program, but for `keyring`.

    Keyring is the program that pip asks for passwords of indexes, if its settings say so."""
    if event in STARTS:
        program = os.path.basename(str(arguments[0])) if arguments else ""
        if not (event == "subprocess.Popen" and program in ("keyring", "keyring.exe")):
            raise PermissionError(f"{event} {program!r}: {REFUSED}")


def main(program: str, arguments: list[str]) -> None:
    """Run pip, as the program ``pip`` or that at a path, with arguments."""
    sys.argv = [program, *arguments]
    sys.addaudithook(refuse)
    if program == "pip":
        runpy.run_module("pip", run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
