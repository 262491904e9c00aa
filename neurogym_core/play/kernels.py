"""Choose the kernel: the compiled one if it can be loaded, else the plain one.

Both kernels compute the same numbers, bit for bit. `NGYM_KERNEL=plain` selects the plain one;
`NGYM_KERNEL=compiled` raises an error if the compiled one is missing.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

from neurogym_core.errors import InvalidValueError, MissingDependencyError
from neurogym_core.play.kernel import VERSION, Kernel
from neurogym_core.trials.rendering import fill

VARIABLE = "NGYM_KERNEL"
HOW_TO_BUILD = (
    "To compile it, install a C compiler (Debian: gcc and python3-dev) and run, in a checkout, "
    "`NEUROGYM_BUILD_KERNEL=1 python -m pip install -e .`, which reports why compiling fails"
)


class Loaded(NamedTuple):
    """The kernel in use (its module, or None for the plain one), and the reason."""

    module: ModuleType | None
    reason: str

    @property
    def name(self) -> str:
        """``compiled`` or ``plain``."""
        return "plain" if self.module is None else "compiled"

    def __str__(self) -> str:
        """Return the kernel, the reason, and for the plain one its costs, as one line."""
        line = f"The {self.name} kernel plays: {self.reason}."
        slower = (
            " Results are the same; steps of envs and the rendering of datasets are slower."
            f" {HOW_TO_BUILD}."
        )
        return line if self.module else line + slower


def kernel_in_use() -> Loaded:
    """Return the kernel that plays trials, and the reason.

    Returns:
        `module`, the compiled module, or None for the plain kernel; `reason`, a text; `name`,
        "compiled" or "plain". As a text, one sentence with all of them.

    Raises:
        InvalidValueError: `NGYM_KERNEL` is neither ``plain`` nor ``compiled`` nor empty.
        MissingDependencyError: `NGYM_KERNEL` is ``compiled``, and no compiled kernel can be used.
    """
    wanted = os.environ.get(VARIABLE, "")
    if wanted not in ("", "plain", "compiled"):
        raise InvalidValueError(
            f"{VARIABLE} is {wanted!r}. Expected plain or compiled. Correct or unset it."
        )
    if wanted == "plain":
        return Loaded(None, f"{VARIABLE} is plain")
    found = Loaded(None, "the compiled kernel was not built")
    try:
        module = importlib.import_module(f"{__package__}._kernel")
    except ModuleNotFoundError:
        pass
    except ImportError as error:
        found = Loaded(None, f"the compiled kernel cannot be loaded ({error})")
    else:
        version = getattr(module, "VERSION", None)
        if version == VERSION:
            return Loaded(module, f"version {version}, {module.__file__}")
        found = Loaded(
            None,
            f"the compiled kernel has version {version} and was built from other sources; "
            f"version {VERSION} is needed",
        )
    if wanted == "compiled":
        raise MissingDependencyError(
            f"{VARIABLE} is compiled, but {found.reason}. "
            f"Expected a compiled kernel of version {VERSION}. "
            f"{HOW_TO_BUILD}. Or unset {VARIABLE} to use the plain kernel."
        )
    return found


def kernel_class() -> type[Kernel]:
    """Return the class of kernels to use: the plain one, or the compiled one."""
    return getattr(kernel_in_use().module, "Kernel", Kernel)


def fill_function() -> Callable[..., None]:
    """Return the function that renders trials into a batch: `render.fill`, or the compiled one."""
    return getattr(kernel_in_use().module, "fill", fill)
