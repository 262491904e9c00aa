"""Finds the compiled kernel, or says why the plain one plays.

Both kernels compute the same, bit for bit. `NGYM_KERNEL=plain` leaves the compiled one unused; `NGYM_KERNEL=compiled`
makes its absence an error.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from neurogym_core.errors import InvalidValueError, MissingDependencyError

VARIABLE = "NGYM_KERNEL"
VERSION = 5  # of the calls to `_kernel.c`, which has the same number: one that was built from other sources is not used
HOW_TO_BUILD = (
    "To have it compiled, install a C compiler (Debian: gcc and python3-dev) and then, in a checkout, run "
    "`NEUROGYM_BUILD_KERNEL=1 python -m pip install -e .`, which says why where compiling fails"
)


class Loaded(NamedTuple):
    """Which kernel is used: its module, None for the plain one; and why."""

    module: ModuleType | None
    reason: str

    @property
    def name(self) -> str:
        """``compiled`` or ``plain``."""
        return "plain" if self.module is None else "compiled"

    def __str__(self) -> str:
        """One line: which kernel plays, why, and what is slower."""
        line = f"The {self.name} kernel plays: {self.reason}."
        return line if self.module else f"{line} Results are the same; steps of envs are slower. {HOW_TO_BUILD}."


def load() -> Loaded:
    """The compiled module, or None with the reason why the plain kernel is used.

    Raises:
        InvalidValueError: `NGYM_KERNEL` is something else than ``plain`` or ``compiled``.
        MissingDependencyError: it is ``compiled``, and there is none that can be used.
    """
    wanted = os.environ.get(VARIABLE, "")
    if wanted not in ("", "plain", "compiled"):
        raise InvalidValueError(f"{VARIABLE} is {wanted!r}. Expected plain or compiled. Correct or unset it.")
    if wanted == "plain":
        return Loaded(None, f"{VARIABLE} is plain")
    found = _compiled()
    if wanted == "compiled" and found.module is None:
        raise MissingDependencyError(
            f"{VARIABLE} is compiled, but {found.reason}. Expected a compiled kernel of version {VERSION}. "
            f"{HOW_TO_BUILD}. Or unset {VARIABLE} to use the plain kernel."
        )
    return found


def _compiled() -> Loaded:
    try:
        module = importlib.import_module(f"{__package__}._kernel")
    except ModuleNotFoundError:
        return Loaded(None, "the compiled kernel was not built")
    except ImportError as error:
        return Loaded(None, f"the compiled kernel cannot be loaded ({error})")
    version = getattr(module, "version", None)
    if version != VERSION:
        return Loaded(None, f"the compiled kernel is of version {version}, built from other sources: {VERSION} is needed")
    return Loaded(module, f"version {version}, {module.__file__}")


def kernel_class() -> Any:
    """The class of kernels to use: `PlainKernel`, or the compiled one with the same methods."""
    module = load().module
    if module is None:
        from neurogym_core.play.kernel import PlainKernel

        return PlainKernel
    return module.Kernel  # type: ignore[no-any-return]


def fill_function() -> Callable[..., None]:
    """The function that renders trials into the arrays of a batch: `render.fill`, or the compiled one."""
    module = load().module
    if module is None:
        from neurogym_core.play.render import fill

        return fill
    return module.fill  # type: ignore[no-any-return]
