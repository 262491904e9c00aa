"""What every task must keep to; `ngym check {{ cookiecutter.__distribution }} --level full` runs the same."""

from __future__ import annotations

from neurogym_check import parametrize_with_checks


@parametrize_with_checks("{{ cookiecutter.__distribution }}", level="full")
def test_conformance(task, check):
    check(task)
