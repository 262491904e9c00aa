"""The checks of `ngym check {{ cookiecutter.__distribution }} --level full`."""

from __future__ import annotations

from neurogym_check import parametrize_with_checks


@parametrize_with_checks("{{ cookiecutter.__distribution }}", level="full")
def test_conformance(task, check):
    check(task)
