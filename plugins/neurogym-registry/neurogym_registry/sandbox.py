"""Run foreign code without network, without secrets, and with the files of this environment only.

The program bubblewrap (``bwrap``, of Linux distributions) makes the sandbox from namespaces of the
kernel. Other systems have none that every keeper has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from neurogym_core.tools import RegistryError, clean

PROGRAM = "bwrap"
OPTION = "--no-sandbox"
SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/fonts",
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime",
)  # fmt: skip
"""Files of the operating system that Python and its libraries read; none of them is secret."""
SECONDS = 20


def sandbox(site: Path, writable: Path) -> list[str]:
    """Return the command, without its end, that runs a program in a sandbox.

    The program sees the operating system, this Python with its packages, and `site`, all of them
    read-only; no network, no other process, and no variable of this environment.

    Args:
        site: the folder of the foreign packages.
        writable: the only folder of this machine that the program can change.
    """
    command = [
        PROGRAM, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
        "--clearenv", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
    ]  # fmt: skip
    for path in _readable(site):
        command += ["--ro-bind-try", path, path]
    command += ["--bind", str(writable.resolve()), str(writable)]
    variables = {
        "PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8",
        "MPLCONFIGDIR": "/tmp/matplotlib", "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join([str(site), *_modules()]),
    }  # fmt: skip
    for name, text in variables.items():
        command += ["--setenv", name, text]
    return [*command, "--chdir", "/tmp", "--"]


def require_sandbox() -> None:
    """Raise an error unless this machine can make a sandbox.

    Raises:
        RegistryError: bubblewrap is missing, or the system does not allow its namespaces.
    """
    if shutil.which(PROGRAM) is None:
        reason = f"{PROGRAM} is not installed"
    else:
        call = [PROGRAM, "--unshare-all", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--", "true"]
        try:
            done = subprocess.run(
                call, capture_output=True, text=True, errors="replace", timeout=SECONDS
            )
            reason = clean(done.stderr.strip()[-200:]) if done.returncode else ""
        except (OSError, subprocess.TimeoutExpired) as error:
            reason = clean(str(error))
    if reason:
        raise RegistryError(
            f"No sandbox can be made: {reason.rstrip('.')}. Expected bubblewrap, in which code of"
            " strangers runs without network and secrets. On Linux, install the package"
            f" `bubblewrap`; elsewhere, use the workflow of the registry. {OPTION} runs code that"
            " you trust without one. Nothing was written."
        )


def _modules() -> list[str]:
    """Return the folders in which this Python looks for modules, without that of the command."""
    # The first one is the folder of the script or, with `python -m`, the current one, which may be
    # a checkout with credentials.
    return [path for path in sys.path[0 if sys.flags.safe_path else 1 :] if path]


def _readable(site: Path) -> Iterable[str]:
    """Return the folders and files that a program in the sandbox can read, each one once."""
    prefixes = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
    # The Python of an environment is a link to the one that made it; so are packages in some.
    program = Path(sys.executable).resolve().parent
    folders = [path for name in _modules() if (path := Path(name)).is_dir()]
    links = [path for folder in folders for path in folder.iterdir() if path.is_symlink()]
    own = [*map(Path, prefixes), program, *folders, site]
    named = [*SYSTEM, *map(str, own)]
    return dict.fromkeys([*named, *(str(path.resolve()) for path in (*own, *links))])
