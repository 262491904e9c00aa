"""Settings of Hypothesis for all tests, the core's and the plug-ins', and the names of failures."""

from __future__ import annotations

import contextlib

import pytest

# An import of pip, which some tests make, hides setuptools' own distutils, and setuptools, which
# torch.compile imports, then refuses to be imported.
with contextlib.suppress(ImportError):
    import setuptools  # noqa: F401

# The tests of an installed package may run without Hypothesis.
with contextlib.suppress(ImportError):
    from hypothesis import settings

    # A deadline measures the machine, and a busy one fails. The same examples every time: red is
    # red for everybody.
    settings.register_profile("neurogym", deadline=None, derandomize=True)
    settings.load_profile("neurogym")


def pytest_report_teststatus(report):
    """Name a test that fails at once, in place of a letter: a run takes minutes."""
    if report.failed:
        category, letter = ("failed", "F") if report.when == "call" else ("error", "E")
        crash = getattr(report.longrepr, "reprcrash", None)
        reason = crash.message.partition("\n")[0] if crash else ""
        return category, f"{letter} {report.nodeid} {reason}\n", category.upper()
    return None


def pytest_collection_modifyitems(items):
    """Mark as slow the checks that measure the shortcuts of installed tasks (up to a minute)."""
    for item in items:
        if item.name.endswith(("-A002]", "-A004]")):
            item.add_marker(pytest.mark.slow)
