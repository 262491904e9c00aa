"""The exception of this package alone; `RegistryError` is the core's."""

from __future__ import annotations

from neurogym_core.tools import RegistryError


class InstallError(RegistryError):
    """A package was not installed or not removed."""
