"""Run foreign code without network, without secrets, and with the files of this environment only.

The program bubblewrap (``bwrap``, of Linux distributions) makes the sandbox from namespaces of the
kernel. Other systems have none that every keeper has."""

from __future__ import annotations

import csv
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from neurogym_core.tools import clean, listed
from neurogym_registry.enter_sandbox import MACHINES
from neurogym_registry.errors import RegistryError
from neurogym_registry.wheels import module_of

PROGRAM = "bwrap"
OPTION = "--no-sandbox"
SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/fonts",
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime",
)  # fmt: skip
"""Files of the operating system that Python and its libraries read."""
HIDDEN = ("/usr/local/etc",)
"""Folders in these with settings of programs, tokens of registries among them."""
ENVIRONMENT = ("bin", "lib", "lib64", "pyvenv.cfg", "share")
"""Parts of a virtual environment that its programs read."""
SECONDS = 20
MEMORY = {"/tmp": 256_000_000, "/dev/shm": 64_000_000}
"""Folders of the sandbox that a program can write, in memory, with their most bytes."""


def sandbox(site: Path) -> list[str]:
    """Return the command, without its end, that runs a program in a sandbox.

    The program sees the operating system, this Python with its packages, and `site`, all of them
    read-only; no network, no other process, no variable of this environment, and no key of the
    kernel. It can write into `MEMORY`, and a bounded number of bytes to its output.

    Args:
        site: the folder of the foreign packages.
    """
    command = [*_start(), "--clearenv", "--proc", "/proc", "--dev", "/dev"]
    for name in ("/proc/keys", "/proc/key-users"):
        if Path(name).exists():
            command += ["--ro-bind", "/dev/null", name]  # names of keys
    for folder, most in MEMORY.items():
        command += ["--size", str(most), "--tmpfs", folder]
    for path in _readable(site):
        command += ["--ro-bind-try", path, path]
    hidden = [folder for folder in HIDDEN if Path(folder).is_dir()]
    for folder in hidden:
        command += ["--size", "1", "--tmpfs", folder]
    # A sandbox of root could set the kernel's values in /proc/sys, a program to run among them.
    command += [word for name in ("/proc", "/dev", *hidden, "/") for word in ("--remount-ro", name)]
    variables = {
        "PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8",
        "MPLCONFIGDIR": "/tmp/matplotlib", "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(_modules()),
    }  # fmt: skip
    for name, text in variables.items():
        command += ["--setenv", name, text]
    return [*command, "--chdir", "/tmp", "--"]


def _start() -> list[str]:
    """Return the start of each command: the program, without all that namespaces can hide."""
    enter = str(Path(__file__).with_name("enter_sandbox.py"))
    return [
        sys.executable, "-I", "-S", enter, shutil.which(PROGRAM) or PROGRAM,
        "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
        "--hostname", "sandbox",
    ]  # fmt: skip


def require_sandbox() -> None:
    """Raise an error unless this machine can make a sandbox.

    Raises:
        RegistryError: bubblewrap is missing, or the system does not allow its namespaces.
    """
    if shutil.which(PROGRAM) is None:
        reason = f"{PROGRAM} is not installed"
    elif platform.machine() not in MACHINES:
        reason = f"system calls of {platform.machine()} are not known, only of {listed(MACHINES)}"
    else:
        memory = ("--size", "1000000", "--tmpfs", "/tmp")  # older versions know no size
        call = [*_start(), "--ro-bind", "/", "/", *memory, "--", "true"]
        try:
            done = subprocess.run(
                call, capture_output=True, text=True, errors="replace", timeout=SECONDS
            )
            reason = clean(done.stderr.strip()[-200:]) if done.returncode else ""
        except (OSError, subprocess.TimeoutExpired) as error:
            reason = clean(str(error))
    if reason:
        raise RegistryError(
            f"No sandbox can be made: {reason.rstrip('.')}. Expected bubblewrap 0.7 or newer, in"
            " which code of strangers runs without network and secrets. On Linux, install the"
            f" package `bubblewrap`; elsewhere, use the workflow of the registry. {OPTION} runs"
            " code that you trust without one. Nothing was written."
        )


def _modules() -> list[str]:
    """Return the folders in which this Python looks for modules, without that of the command."""
    # The first one is the folder of the script or, with `python -m`, the current one, which may be
    # a checkout with credentials.
    return [path for path in sys.path[0 if sys.flags.safe_path else 1 :] if path]


def _readable(site: Path) -> Iterable[str]:
    """Return the folders and files that a program in the sandbox can read, each one once.

    These are the operating system, this Python with its packages, and `site`. Of any other folder
    in which this Python looks for modules, e.g. the checkout of an editable installation, these are
    the modules of installed packages only: beside them are credentials, notes, the repository."""
    environment = [Path(sys.prefix)]
    if sys.prefix != sys.base_prefix:  # a virtual environment can be in the root of a checkout
        environment = [Path(sys.prefix, name) for name in ENVIRONMENT]
    # The Python of an environment is a link to the one that made it.
    program = Path(sys.executable).resolve().parent
    own = [*environment, Path(sys.base_prefix), Path(sys.base_exec_prefix), program, site]
    own += [path.resolve() for path in own]
    named = [*SYSTEM, *map(str, own)]
    for name in _modules():
        folder = Path(name).absolute()
        if folder.name in ("site-packages", "dist-packages"):  # also those of the user
            named.append(str(folder))
        elif folder.is_dir() and not any(map(folder.is_relative_to, own)):
            named += map(str, _packages_in(folder))
    return dict.fromkeys(named)


def _packages_in(folder: Path) -> Iterable[Path]:
    """Return the modules and metadata of installed packages in a folder."""
    # The folder of an editable installation has the name of the package; its list of files does
    # not mention it. A folder of links to packages has the lists as well.
    modules = {module_of(one.name) for one in importlib.metadata.distributions() if one.name}
    names = {f"{name}{end}" for name in modules for end in ("", ".py")}
    for one in importlib.metadata.distributions(path=[str(folder)]):
        rows = csv.reader((one.read_text("RECORD") or "").splitlines())
        names |= {row[0].partition("/")[0] for row in rows if row}
    paths = [folder / name for name in sorted(names - {"", ".", "..", "__pycache__"})]
    return [path for path in paths if path.exists()]
