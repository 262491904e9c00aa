"""Compiles the kernel when a wheel is built or the core is installed from its sources.

Nothing depends on it: without a C compiler the wheel is made without the compiled kernel, and the
plain one plays. `NEUROGYM_BUILD_KERNEL=0` does not try; `NEUROGYM_BUILD_KERNEL=1` makes a failure
an error."""

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
SOURCE = f"{PACKAGE}/_kernel.c"
# Both kernels compute the same numbers, bit for bit: a*b+c must stay two roundings. Nothing reads
# errno.
GNU_FLAGS = ("-O3", "-ffp-contract=off", "-fwrapv", "-fno-math-errno")
MSVC_FLAGS = ("/O2", "/fp:precise")


class KernelHook(BuildHookInterface):
    """Puts the compiled kernel into a wheel; for an editable install, beside its sources."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and tell the builder about the result.

        Args:
            version: ``"editable"`` for an editable install, else ``"standard"``.
            build_data: what goes into the wheel and how the wheel is tagged; changed in place.

        Raises:
            ValueError: `NEUROGYM_BUILD_KERNEL` is neither ``0``, ``1`` nor empty.
            RuntimeError: it is ``1``, and compiling failed.
        """
        self.scratch = tempfile.TemporaryDirectory(
            prefix="neurogym-kernel-", ignore_cleanup_errors=True
        )
        name = f"_kernel{sysconfig.get_config_var('EXT_SUFFIX')}"
        beside = Path(self.root, PACKAGE, name)
        if version == "editable":
            beside.unlink(missing_ok=True)  # the one of an earlier install may be of other sources
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
        """Remove what compiling left."""
        self.scratch.cleanup()

    def _compiled(self, root: Path, name: str) -> Path | None:
        """The compiled module in the scratch folder; None where there shall or can be none."""
        wanted = _wanted()
        if wanted is False:
            self._say(f"{VARIABLE}=0")
            return None
        try:
            if sys.implementation.name != "cpython":
                raise RuntimeError(
                    f"the kernel is written for CPython, and this is {sys.implementation.name}"
                )
            compile_kernel(root, Path(self.scratch.name))
            return next(Path(self.scratch.name).rglob(name))
        except Exception as error:  # whatever a foreign compiler, or its absence, leads to
            reason = f"compiling failed ({type(error).__name__}: {error})"
            if wanted:
                raise RuntimeError(
                    f"{VARIABLE} is 1, and {reason}. Expected a C compiler that can compile"
                    f" {SOURCE}. Install one (Debian: gcc and python3-dev), or unset {VARIABLE} to"
                    " install without the compiled kernel."
                ) from error
            self._say(reason)
            return None

    def _say(self, reason: str) -> None:
        self.app.display_warning(
            f"neurogym-core is installed without its compiled kernel: {reason}. The plain kernel in"
            " Python is used. It computes the same; steps of envs and the rendering of datasets"
            " are slower."
        )


def _wanted() -> bool | None:
    """What `NEUROGYM_BUILD_KERNEL` says; None when it leaves it open."""
    given = os.environ.get(VARIABLE, "")
    if given not in ("", "0", "1"):
        raise ValueError(
            f"{VARIABLE} is {given!r}. Expected 0 (do not compile the kernel) or 1 (a failure is an"
            " error). Correct or unset it."
        )
    return None if given == "" else given == "1"


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
            super().build_extensions()

    kernel = Extension(
        "neurogym_core.play._kernel", [str(root / SOURCE)], include_dirs=[np.get_include()]
    )
    command = BuildKernel(Distribution({"name": "neurogym-core", "ext_modules": [kernel]}))
    command.build_lib = command.build_temp = str(target)
    command.ensure_finalized()
    command.run()
