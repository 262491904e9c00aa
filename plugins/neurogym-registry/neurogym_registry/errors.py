"""The exceptions of this package."""

from __future__ import annotations

from neurogym_core import NeurogymError


class RegistryError(NeurogymError, RuntimeError):
    """A registry, its index or a wheel is wrong, or cannot be reached."""


class InstallError(RegistryError):
    """A package was not installed or not removed."""
