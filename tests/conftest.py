"""Fixtures that tests of several folders share."""

from __future__ import annotations

import importlib.util

import pytest

from neurogym_core.errors import MissingDependencyError
from neurogym_core.play import dataset, dealer, kernels

LONG = ("test_memory.py", "test_noise_of_trials.py")
"""Files whose tests take long with the plain kernel, and test code that both kernels share."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the long tests of the plain kernel as slow, where there is a compiled one."""
    if importlib.util.find_spec("neurogym_core.play._kernel") is None:
        return
    for item in items:
        if item.path.name in LONG and "plain" in item.name:
            item.add_marker("slow")


@pytest.fixture(params=["plain", "compiled"])
def kernel(request, monkeypatch) -> str:
    """Name of the kernel that plays: each in turn, as far as it was built."""
    monkeypatch.setenv(kernels.VARIABLE, request.param)
    try:
        kernels.kernel_in_use()
    except MissingDependencyError as error:
        pytest.skip(str(error))
    return request.param


@pytest.fixture(scope="module")
def few_trials_at_a_time():
    """Draw blocks of few trials, so that short tests build few that they do not play, and play
    several blocks.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dealer, "BLOCK_STEPS", 128)
        patch.setattr(dataset, "CHUNK_STEPS", 128)
        yield
