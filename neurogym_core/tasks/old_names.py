"""Names of parameters and rewards in NeuroGym, for the errors about unknown names."""

from __future__ import annotations

from collections.abc import Iterable

_NEW = {
    "cohs": ("coherences",),
    "dim_ring": ("directions", "units"),
    "n_loc": ("places", "directions"),
    "prod_margin": ("tolerance",),
    "n_ch": ("choices",),
    "use_expl_context": ("cued",),
    "fail": ("error",),
}


def new_name(name: object, known: Iterable[str]) -> str:
    """Return a sentence about the present name of a name of NeuroGym, or an empty string.

    Args:
        name: the given name.
        known: the names that exist.
    """
    if name == "env_kwargs":
        return " NeuroGym's env_kwargs are plain keywords here, as in Dataset(task, dt=20)."
    known = set(known)
    for new in _NEW.get(str(name), ()):
        if new in known:
            return f" NeuroGym's {name!r} is {new!r} here."
    return ""
