"""The types `Check` and `CheckResult`, and the list of all checks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from neurogym_check.candidate import Candidate

Level = Literal["quick", "full"]
Status = Literal[
    "passed",
    "failed",
    "warning",
    "cannot tell",
    "not applicable",
    "expected failure",
    "unexpected pass",
]

FAMILIES = {
    "M": "packaging",
    "G": "Gymnasium",
    "D": "determinism",
    "S": "spaces and values",
    "T": "trials",
    "B": "behaviour",
    "A": "shortcuts",
    "R": "digest",
}
"""First letter of a check's code -> topic of the family."""

KINDS = ("task", "trial env", "env")
"""Kinds of candidates: a `Task`, an env that reports trials as a Task does, any other env."""


class CheckFailedError(AssertionError):
    """Raised when a task breaks the rule of a check.

    Args:
        message: the finding and the expectation.
        details: numbers and names for the report, JSON-compatible.
    """

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.details = details


class CheckWarning(Exception):  # noqa: N818
    """Raised when a task has a property that its author should look at, but breaks no rule.

    Args:
        message: the finding.
        details: numbers and names for the report, JSON-compatible.
    """

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.details = details


class CannotTell(Exception):  # noqa: N818
    """Raised when a check has not seen enough to pass or to refuse a task.

    Args:
        message: the reason, and the remedy if there is one.
        details: numbers and names for the report, JSON-compatible.
    """

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.details = details


class NotApplicable(Exception):  # noqa: N818
    """Raised when a check does not apply to a task; the message says why."""


@dataclass(frozen=True)
class Check:
    """One rule for tasks, with the function that checks it.

    Attributes:
        code: letter of the family and a number.
        run: the function; it raises `CheckFailedError` or `NotApplicable`, and may return details
            (a dict) or None.
        level: "quick": runs at both levels; "full": runs at the full level only.
        kinds: the kinds of candidates that it applies to.
        installed: whether the task must come from an installed package.
    """

    code: str
    run: Callable[[Candidate], Mapping[str, Any] | None]
    level: Level
    kinds: tuple[str, ...] = KINDS
    installed: bool = False

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.run.__name__

    @property
    def family(self) -> str:
        """Topic of its family."""
        return FAMILIES[self.code[0]]

    @property
    def rule(self) -> str:
        """The rule, one sentence: the first paragraph of the docstring."""
        return " ".join(inspect.cleandoc(self.run.__doc__ or "").partition("\n\n")[0].split())

    @property
    def advice(self) -> str:
        """Advice for authors whose task breaks the rule: the other paragraphs."""
        return " ".join(inspect.cleandoc(self.run.__doc__ or "").partition("\n\n")[2].split())

    def does_not_apply(self, candidate: Candidate) -> str | None:
        """Return why the check does not apply to this kind of candidate, or None if it does."""
        if self.installed and candidate.info is None:
            return "it needs a task of an installed package"
        if self.kinds != KINDS and candidate.kind not in self.kinds:
            return f"it needs {_KIND_NAMES[self.kinds]}, and this is {_KIND_NAME[candidate.kind]}"
        return None

    def __repr__(self) -> str:
        return f"<Check {self.code} {self.name}>"


_KIND_NAME = {
    "task": "a Task",
    "trial env": "an env that reports trials",
    "env": "another Gymnasium env",
}
_KIND_NAMES = {
    KINDS: "anything",
    ("task",): "a Task",
    ("task", "trial env"): "a Task or an env that reports trials",
    ("trial env", "env"): "an env that is not a Task",
}


@dataclass(frozen=True)
class CheckResult:
    """Result of one check of one task.

    Attributes:
        task: id or name of the task.
        code, name, family, rule, advice: of the check; plug-in checks may leave all but the code
            empty.
        status: passed, failed, warning (look at it; no rule is broken), cannot tell (nothing was
            proved or refuted), not applicable, expected failure, or unexpected pass (listed as an
            expected failure).
        reason: the finding, or why the check cannot tell or does not apply; empty if it passed.
        seconds: duration of the check.
        details: numbers and names, JSON-compatible.
    """

    task: str
    code: str
    status: Status
    reason: str = ""
    seconds: float = 0.0
    name: str = ""
    family: str = ""
    rule: str = ""
    advice: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """False if the check failed, or passed although a failure was expected."""
        return self.status not in ("failed", "unexpected pass")

    def __str__(self) -> str:
        text = f"{self.code} {self.status}: {self.rule or self.name}"
        text = f"{text} {self.reason}" if self.reason else text
        return (
            f"{text}\n  What to do: {self.advice}"
            if self.status in ("failed", "warning") and self.advice
            else text
        )

    def to_plain(self) -> dict[str, Any]:
        """Return the result as a JSON-compatible dict."""
        return {
            "task": self.task,
            "code": self.code,
            "name": self.name,
            "family": self.family,
            "status": self.status,
            "rule": self.rule,
            "reason": self.reason,
            "advice": self.advice if self.status in ("failed", "warning") else "",
            "seconds": round(self.seconds, 3),
            "details": dict(self.details),
        }


CHECKS: list[Check] = []
"""All checks of the kit, in the order of their modules; `all_checks` sorts them by family."""


def check(
    code: str, level: Level = "quick", kinds: tuple[str, ...] = KINDS, *, installed: bool = False
) -> Callable[[Callable], Callable]:
    """Return a decorator that registers a function as a check; see `Check`."""

    def register(function: Callable) -> Callable:
        if any(known.code == code for known in CHECKS):
            raise ValueError(
                f"Two checks have the code {code!r}. Expected one check for each code. Give"
                f" {function.__name__} another number."
            )
        CHECKS.append(Check(code, function, level, kinds, installed))
        return function

    return register


def require(condition: object, message: str, **details: Any) -> None:
    """Raise `CheckFailedError` unless the condition holds."""
    if not condition:
        raise CheckFailedError(message, **details)
