from typing import Any

from neurogym_core.play.render import fill


def kernel_class() -> Any:
    from neurogym_core.play.kernel import PlainKernel

    return PlainKernel
__all__=["fill","kernel_class"]
