"""Finds the compiled kernel, or says why the plain one plays.

Both kernels compute the same, bit for bit. `NGYM_KERNEL=plain` leaves the compiled one unused;
`NGYM_KERNEL=compiled` makes its absence an error.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from neurogym_core.errors import InvalidValueError, MissingDependencyError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from neurogym_core.play.blocks import Block
    from neurogym_core.play.kernel import Given, Moved, Stepped, VectorStepped
    from neurogym_core.play.render import Steps
    from neurogym_core.play.tables import Shown
    from neurogym_core.trials.arrays import Array, Bools, Floats, Ints, Singles, Wholes

VARIABLE = "NGYM_KERNEL"
VERSION = 5
"""Of the calls to `_kernel.c`, which has the same; one built from other sources is not used."""
HOW_TO_BUILD = (
    "To have it compiled, install a C compiler (Debian: gcc and python3-dev) and then, in a "
    "checkout, run "
    "`NEUROGYM_BUILD_KERNEL=1 python -m pip install -e .`, which says why where compiling fails"
)


class Kernel(Protocol):
    """What both kernels offer; `PlainKernel` says what each method does."""

    key: int
    last_reward: Floats
    current: int

    def __init__(self, n: int, key: int, names: npt.NDArray[
        np.str_
    ], per_session: int, next_step: bool, deal: Callable[[list[int]], None], check: Callable[
        [Any], int
    ], check_all: Callable[
        [Any], Ints
    ], /,
    ) -> None: ...  # fmt: skip

    def attach(self, index: int, block: Block | None, /) -> None: ...

    def get(self, name: str, /) -> Ints: ...

    def set(self, name: str, values: Ints, /) -> None: ...

    def sync(self) -> None: ...

    def cursor(self, index: int, row: int | None = None, /) -> int: ...

    def begin(self, env: int, index: int, row: int, /) -> None: ...

    def begin_next(self, envs: list[int], /) -> None: ...

    def stop(self, envs: list[int], /) -> None: ...

    def advance(self, actions: Ints, given: Given | None = None, /) -> Moved: ...

    def observe(self) -> Singles: ...

    def step(self, action: Any) -> Stepped: ...

    def vector_step(self, actions: Any, /) -> VectorStepped: ...


class Fill(Protocol):
    """The signature of `render.fill`, which says what it does."""

    def __call__(self, shown: Shown, steps: Steps, offset: Wholes, key: int, inputs: Singles, targets: Array, weights: Singles, real: Bools | None, /,
    ) -> None: ...  # fmt: skip


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
        slower = (
            " Results are the same; steps of envs and the rendering of datasets are slower."
            f" {HOW_TO_BUILD}."
        )
        return line if self.module else line + slower


def load() -> Loaded:
    """The compiled module, or None with the reason why the plain kernel is used.

    Raises:
        InvalidValueError: `NGYM_KERNEL` is something else than ``plain`` or ``compiled``.
        MissingDependencyError: it is ``compiled``, and there is none that can be used.
    """
    wanted = os.environ.get(VARIABLE, "")
    if wanted not in ("", "plain", "compiled"):
        raise InvalidValueError(
            f"{VARIABLE} is {wanted!r}. Expected plain or compiled. Correct or unset it."
        )
    if wanted == "plain":
        return Loaded(None, f"{VARIABLE} is plain")
    found = _compiled()
    if wanted == "compiled" and found.module is None:
        raise MissingDependencyError(
            f"{VARIABLE} is compiled, but {found.reason}. "
            f"Expected a compiled kernel of version {VERSION}. "
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
        return Loaded(
            None,
            f"the compiled kernel is of version {version}, built from other sources: "
            f"{VERSION} is needed",
        )
    return Loaded(module, f"version {version}, {module.__file__}")


def kernel_class() -> type[Kernel]:
    """The class of kernels to use: `PlainKernel`, or the compiled one with the same methods."""
    module = load().module
    if module is None:
        from neurogym_core.play.kernel import PlainKernel

        return PlainKernel
    compiled: type[Kernel] = module.Kernel
    return compiled


def fill_function() -> Fill:
    """The function that renders trials into a batch: `render.fill`, or the compiled one."""
    module = load().module
    if module is None:
        from neurogym_core.play.render import fill

        return fill
    compiled: Fill = module.fill
    return compiled
