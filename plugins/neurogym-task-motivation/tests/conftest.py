"""Fixtures that the tests of task packages share."""

from neurogym_check.fixtures import constant, oracle, premature, same_in_both  # noqa: F401
