"""The conformance kit: what every task must keep to, as small checks with codes.

::

    from neurogym_core.testing import check_task, parametrize_with_checks

    for result in check_task("perceptual/Detection-v0", level="full"):
        print(result.code, result.status, result.reason)

    @parametrize_with_checks("neurogym-task-perceptual")     # every task of the package
    def test_conformance(task, check):
        check(task)

A check is a function of a `Candidate` in one of the modules beside this one; the first line of its
docstring is the rule, the rest is the advice for whose task breaks it. ``expected_failures={code:
reason}`` is the only way round one. Families: M packaging, G Gymnasium, D determinism, S spaces and
values, T trials, B behaviour, R digest. A package adds checks of its own through the hook
``ngym_check_task``."""

from neurogym_core.testing.conformance import (
    behaviour,  # noqa: F401
    determinism,  # noqa: F401
    gymnasium_api,  # noqa: F401
    packaging,  # noqa: F401
    spaces,  # noqa: F401
    stored_digest,  # noqa: F401
    trial_protocol,  # noqa: F401
)
from neurogym_core.testing.conformance.candidate import Candidate, candidates
from neurogym_core.testing.conformance.parametrize import parametrize_with_checks
from neurogym_core.testing.conformance.records import (
    Check,
    CheckFailedError,
    CheckResult,
    NotApplicable,
)
from neurogym_core.testing.conformance.running import all_checks, check_task, checks_for

__all__ = [
    "Candidate",
    "Check",
    "CheckFailedError",
    "CheckResult",
    "NotApplicable",
    "all_checks",
    "candidates",
    "check_task",
    "checks_for",
    "parametrize_with_checks",
]
