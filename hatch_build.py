"""Compile the kernel when a wheel is built, or when the core is installed from its sources.

Cython translates kernel.py, as it is, to C. The compiled kernel is optional: without Cython or a C
compiler the wheel does not have it, and the plain kernel plays. With `NEUROGYM_BUILD_KERNEL=0` it
is not compiled; with `NEUROGYM_BUILD_KERNEL=1` a failure is an error."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VARIABLE = "NEUROGYM_BUILD_KERNEL"
PACKAGE = "neurogym_core/play"
SOURCE = f"{PACKAGE}/kernel.py"
# The kernel checks all indices itself. Types that are not in _kernel.pxd are
# inferred; annotations are for readers.
DIRECTIVES = {
    "language_level": 3, "boundscheck": False, "wraparound": False, "cdivision": True,
    "initializedcheck": False, "infer_types": True, "annotation_typing": False,
    "binding": False, "always_allow_keywords": False,  # calls of methods take less time
}  # fmt: skip
# Both kernels must compute the same bits, so a*b+c must not be fused. No code reads errno.
# Debugging information (-g) has paths of the builder's machine, and differs from build to build.
GNU_FLAGS = ("-O3", "-ffp-contract=off", "-fwrapv", "-fno-math-errno", "-g0")
MSVC_FLAGS = ("/O2", "/fp:precise")


class KernelHook(BuildHookInterface):
    """Put the compiled kernel into a wheel, or, for an editable install, beside its sources."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernel, and add it to the build.

        Args:
            version: ``"editable"`` for an editable install, else ``"standard"``.
            build_data: contents and tag of the wheel; changed in place.

        Raises:
            ValueError: `NEUROGYM_BUILD_KERNEL` is neither ``0``, ``1`` nor empty.
            RuntimeError: `NEUROGYM_BUILD_KERNEL` is ``1``, and compiling failed.
        """
        self.scratch = tempfile.TemporaryDirectory(
            prefix="neurogym-kernel-", ignore_cleanup_errors=True
        )
        name = f"_kernel{sysconfig.get_config_var('EXT_SUFFIX')}"
        beside = Path(self.root, PACKAGE, name)
        if version == "editable":
            beside.unlink(missing_ok=True)  # that of an earlier install can be of other sources
        module = self._compiled(Path(self.root), name)
        if module is None:
            return
        if version == "editable":
            shutil.copy2(module, beside)
        else:
            build_data["force_include"][str(module)] = f"{PACKAGE}/{name}"
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the files of the compiler."""
        self.scratch.cleanup()

    def _compiled(self, root: Path, name: str) -> Path | None:
        """Return the compiled module in the scratch folder, or None without a compiled kernel."""
        wanted = _wanted()
        if wanted is False:
            self._say(f"{VARIABLE}=0")
            return None
        try:
            if sys.implementation.name != "cpython":
                raise RuntimeError(
                    f"the kernel is written for CPython, and this is {sys.implementation.name}"
                )
            if sysconfig.get_config_var("Py_GIL_DISABLED"):
                raise RuntimeError(
                    "the kernel relies on Python's global lock, and this Python is free-threaded"
                )
            compile_kernel(root, Path(self.scratch.name))
            return next(Path(self.scratch.name).rglob(name))
        except Exception as error:  # compilers, and missing ones, fail in many ways
            reason = f"compiling failed ({type(error).__name__}: {error})"
            if wanted:
                raise RuntimeError(
                    f"{VARIABLE} is 1, and {reason}. Expected Cython and a C compiler"
                    f" that can compile {SOURCE}. Install a compiler (Debian: gcc and"
                    f" python3-dev), or unset {VARIABLE} to install without the compiled kernel."
                ) from error
            self._say(reason)
            return None

    def _say(self, reason: str) -> None:
        self.app.display_warning(
            f"neurogym-core is installed without its compiled kernel: {reason}. The plain kernel in"
            " Python is used. Results are the same; steps of envs and the rendering of datasets are"
            " slower."
        )


def _wanted() -> bool | None:
    """Return whether `NEUROGYM_BUILD_KERNEL` asks for the kernel; None if it is not set."""
    given = os.environ.get(VARIABLE, "")
    if given not in ("", "0", "1"):
        raise ValueError(
            f"{VARIABLE} is {given!r}. Expected 0 (do not compile the kernel) or 1 (a failure is an"
            " error). Correct or unset it."
        )
    return None if given == "" else given == "1"


def c_sources(root: Path, target: Path) -> Path:
    """Translate the kernel of the sources in `root` to C, in `target`; return the file."""
    from Cython.Compiler.Main import CompilationOptions, compile_single

    # Under its own name, so that the plain one can be imported beside it.
    folder = target / "c" / PACKAGE
    folder.mkdir(parents=True, exist_ok=True)
    for package in (folder, folder.parent):
        (package / "__init__.py").touch()
    shutil.copyfile(root / SOURCE, folder / "_kernel.py")
    for name in ("_kernel.pxd", "_memory.pxd", "_noise.h"):
        shutil.copyfile(root / PACKAGE / name, folder / name)
    options = CompilationOptions(
        compiler_directives=DIRECTIVES, include_path=[str(target / "c")],
        output_file=str(folder / "_kernel.c"),
    )  # fmt: skip
    done = compile_single(str(folder / "_kernel.py"), options, "neurogym_core.play._kernel")
    if done.num_errors:
        raise RuntimeError(f"Cython found {done.num_errors} errors in {SOURCE}")
    return folder / "_kernel.c"


def compile_kernel(root: Path, target: Path) -> None:
    """Compile the kernel of the sources in `root` into the folder `target`."""
    import numpy as np
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    class BuildKernel(build_ext):
        def build_extensions(self) -> None:
            flags = MSVC_FLAGS if self.compiler.compiler_type == "msvc" else GNU_FLAGS
            for extension in self.extensions:
                extension.extra_compile_args = list(flags)
            if flags is GNU_FLAGS:
                # The folder of the builder's Python, of which the kernel needs no library.
                words = self.compiler.linker_so
                self.compiler.linker_so = [one for one in words if not one.startswith("-Wl,-rpath")]
            super().build_extensions()

    source = c_sources(root, target)
    kernel = Extension(
        "neurogym_core.play._kernel", [str(source)],
        include_dirs=[np.get_include(), str(source.parent)],
    )  # fmt: skip
    command = BuildKernel(Distribution({"name": "neurogym-core", "ext_modules": [kernel]}))
    command.build_lib = command.build_temp = str(target)
    command.ensure_finalized()
    command.run()
