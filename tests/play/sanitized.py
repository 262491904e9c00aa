"""Run Python code with a kernel that is compiled with AddressSanitizer and
UndefinedBehaviorSanitizer.

From the shell, at the root of a checkout::

    python tests/play/sanitized.py tests/play/kernel_fuzz.py         # a script with its arguments
    python tests/play/sanitized.py -m pytest -x tests/trials         # a module with its arguments

From a test: `build`, then `run_sanitized`. The code need not be adapted: the sanitized module is in
`sys.modules`, where `kernel_in_use` finds it. The first report of a sanitizer ends the process."""

from __future__ import annotations

import importlib
import importlib.util
import os
import runpy
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
NAME = "neurogym_core.play._kernel"
WATCH = (
    "-fsanitize=address,undefined,float-cast-overflow",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
)
COMPILE = ("-shared", "-fPIC", "-g")


def hatch_build() -> ModuleType:
    """The module that builds the product."""
    spec = importlib.util.spec_from_file_location("ngym_hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def product_flags() -> tuple[str, ...]:
    """Flags that the product is compiled with, but for those with which reports would name no
    lines: the level of optimization, and leaving out the debugging information.
    """
    flags = [flag for flag in hatch_build().GNU_FLAGS if flag != "-g0"]
    return tuple("-O1" if flag == "-O3" else flag for flag in flags)


def runtime() -> Path | None:
    """Return GCC's library of AddressSanitizer, or None."""
    try:
        said = subprocess.run(
            ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    path = Path(said.strip())
    return path.resolve() if path.is_absolute() and path.exists() else None


def build(folder: Path, source: Path | None = None) -> Path:
    """Compile the kernel, or another module of its name, with both sanitizers; return its path."""
    import numpy as np

    source = source or hatch_build().c_sources(ROOT, folder)
    target = folder / f"_kernel{sysconfig.get_config_var('EXT_SUFFIX')}"
    includes = (sysconfig.get_paths()["include"], np.get_include(), source.parent)
    headers = tuple(f"-I{folder}" for folder in includes)
    subprocess.run(
        ["gcc", *COMPILE, *product_flags(), *WATCH, *headers, str(source), "-o", str(target)],
        check=True,
    )
    return target


def run_sanitized(
    arguments: Sequence[object], module: Path, *, timeout: float = 600
) -> subprocess.CompletedProcess[str]:
    """Run a script (or ``-m`` and a module) in a new process with a kernel from `build`.

    Args:
        arguments: the command line after ``python``.
        module: the kernel.
        timeout: seconds.

    Returns:
        The finished process. If a sanitizer reports an error, the exit code is not 0, and `stderr`
        has the report.
    """
    environment = os.environ | {
        "LD_PRELOAD": str(runtime()),
        # Python does not free all objects at exit; a failed allocation is an error of Python.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",  # Python's own allocator would hide where a small object ends
        "NGYM_KERNEL": "compiled",
    }
    command = [sys.executable, __file__, "--kernel", module, *arguments]
    return subprocess.run(
        list(map(str, command)),
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def _use(path: Path) -> None:
    """Put the module at `path` in the place of the kernel of the package."""
    from neurogym_core.play import kernels

    spec = importlib.util.spec_from_file_location(NAME, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[NAME] = module
    assert kernels.kernel_in_use().module is module


def _run(arguments: list[str]) -> None:
    sys.argv = arguments[1:] if arguments[0] == "-m" else arguments
    if arguments[0] == "-m":
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(arguments[0], run_name="__main__")


def main(arguments: list[str]) -> int:
    """Build and run; with ``--kernel PATH``, in the process that is watched already, run."""
    if arguments[0] == "--kernel":
        _use(Path(arguments[1]))
        _run(arguments[2:])
        return 0
    if runtime() is None:
        raise SystemExit(
            "gcc with libasan was not found. It is needed to compile the watched kernel. Install"
            " GCC."
        )
    with tempfile.TemporaryDirectory() as folder:
        done = run_sanitized(arguments, build(Path(folder)))
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
