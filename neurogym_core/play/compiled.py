"""The compiled kernel with the methods of `PlainKernel`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from neurogym_core.play.blocks import carved
from neurogym_core.play.kernel import STATE


@cache
def compiled_kernel(module: ModuleType) -> type:
    """The class of compiled kernels of `_kernel.c`."""
    base: Any = module.Kernel

    class CompiledKernel(base):  # type: ignore[misc]
        """As `PlainKernel`."""

        compiled = True

        def __init__(
            self, n: int, key: int, names: npt.NDArray[np.str_], per_session: int, next_step: bool,
            deal: Callable[..., None], check: Callable[[Any], int], check_all: Callable[[Any], Any],
        ) -> None:  # fmt: skip
            self._state = carved({name: ((n,), np.int64) for name in STATE})
            for name in ("block", "last_block", "last_row"):
                self._state[name].fill(-1)
            self._state["left"].fill(per_session)
            super().__init__(
                tuple(self._state.values()), n, key, names, per_session, next_step, deal, check, check_all
            )

        def get(self, name: str) -> npt.NDArray[np.int64]:
            """(N,) one of `STATE`, which changes with the next step."""
            return self._state[name]

        def set(self, name: str, values: npt.NDArray[np.int64]) -> None:
            """Set one of `STATE`, (N,)."""
            self._state[name][:] = values

    return CompiledKernel
