"""Settings of Hypothesis for all tests, the core's and the plug-ins'."""

from __future__ import annotations

import contextlib

# The tests of an installed package may run without Hypothesis.
with contextlib.suppress(ImportError):
    from hypothesis import settings

    # A deadline measures the machine, and a busy one fails. The same examples every time: red is
    # red for everybody.
    settings.register_profile("neurogym", deadline=None, derandomize=True)
    settings.load_profile("neurogym")
