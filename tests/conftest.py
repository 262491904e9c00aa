"""Fixtures that tests of several folders share."""

from __future__ import annotations

import pytest

from neurogym_core.errors import MissingDependencyError
from neurogym_core.play import kernels


@pytest.fixture(params=["plain", "compiled"])
def kernel(request, monkeypatch) -> str:
    """Name of the kernel that plays: each in turn, as far as it was built."""
    monkeypatch.setenv(kernels.VARIABLE, request.param)
    try:
        kernels.load()
    except MissingDependencyError as error:
        pytest.skip(str(error))
    return request.param
