"""Choose the checks for a task, and run them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import neurogym_check.checks  # noqa: F401 — importing the checks registers them
from neurogym_check.candidate import Candidate
from neurogym_check.check_types import (
    CHECKS,
    FAMILIES,
    CannotTell,
    Check,
    CheckFailedError,
    CheckResult,
    CheckWarning,
    Level,
    NotApplicable,
)
from neurogym_core import InvalidValueError, NeurogymError
from neurogym_core.tools import ask_plugins, clean, listed, said_by, unknown

WITHOUT_MAKING = ("M001", "M002", "M005", "G000")
"""Checks that also run for tasks that cannot be made."""
PLUGIN = "P000"
"""Code of the result for a plug-in whose checks could not be run."""


def all_checks(level: Level = "full") -> list[Check]:
    """Return all checks of a level, sorted by family.

    Raises:
        InvalidValueError: there is no such level.
    """
    if level not in ("quick", "full"):
        raise InvalidValueError(
            f"The level {level!r} was given. Expected 'quick' or 'full'. Choose one of them."
        )
    order = list(FAMILIES)
    chosen = [one for one in CHECKS if level == "full" or one.level == "quick"]
    return sorted(chosen, key=lambda one: (order.index(one.code[0]), one.code))


def checks_for(task: Any, level: Level = "full") -> list[Check]:
    """Return the checks that apply to a task of this kind; `task` as in `check_task`."""
    candidate = task if isinstance(task, Candidate) else Candidate(task, level)
    return [one for one in all_checks(level) if one.does_not_apply(candidate) is None]


def check_task(
    task: Any,
    level: Level = "quick",
    expected_failures: Mapping[str, str] | None = None,
    *,
    select: Iterable[str] = (),
    expected: Mapping[str, float] | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[CheckResult]:
    """Run the checks of the kit and of plug-ins on a task.

    Args:
        task: an id, a "file.py:Class", a Task, a Task class, or a Gymnasium env class.
        level: "quick" (about a second) or "full".
        expected_failures: code -> why the task may break that rule; such a check that passes is an
            unexpected pass.
        select: codes, or letters of families; default all.
        expected: the manifest's ``{"guess": …, "oracle_min": …}``, for a task without a manifest.
        progress: called with the code of each check before it runs, and while a long one runs with
            its code and the part that is next, "A002 clock".

    Returns:
        One result for each check, also for those that do not apply. Errors of the task are results,
        and are not raised.

    Raises:
        UnknownNameError: no check has a code of `expected_failures` or `select`.
        UnknownTaskError: no installed task has this name.
    """
    candidate = task if isinstance(task, Candidate) else Candidate(task, level, expected)
    reasons = dict(expected_failures or {})
    chosen = _chosen(all_checks(level), select)
    results = []
    for one in chosen:
        if progress is not None:
            progress(one.code)
            candidate.progress = partial(_part, progress, one.code)
        results.append(run_check(one, candidate, reasons.get(one.code)))
    foreign = [] if select and not _plugin_codes(select) else plugin_results(candidate, reasons)
    known = {one.code for one in all_checks()} | {result.code for result in foreign}
    for code in reasons:
        if code not in known:
            raise unknown("check", code, sorted(known), of="expected_failures")
    return [
        *results,
        *(result for result in foreign if not select or _is_selected(result.code, select)),
    ]


def _part(progress: Callable[[str], None], code: str, name: str) -> None:
    progress(f"{code} {name}")


def run_check(one: Check, candidate: Candidate, excuse: str | None = None) -> CheckResult:
    """Run one check and return its result; any error of the task is a result, even SystemExit."""
    started = time.perf_counter()
    status, reason, details = _outcome(one, candidate)
    if excuse is not None and status in ("failed", "warning"):
        status, reason = "expected failure", f"{excuse} ({reason})"
    elif excuse is not None and status == "passed":
        status, reason = (
            "unexpected pass",
            f"The check is listed as an expected failure ({excuse}), but passes. Remove it from the"
            " list.",
        )
    return CheckResult(
        task=candidate.name,
        code=one.code,
        status=status,
        reason=reason,
        seconds=time.perf_counter() - started,
        name=one.name,
        family=one.family,
        rule=one.rule,
        advice=one.advice,
        details=details,
    )


def _outcome(one: Check, candidate: Candidate) -> tuple[Any, str, Mapping[str, Any]]:
    try:
        made = one.code in WITHOUT_MAKING or candidate.obstacle is None
        reason = one.does_not_apply(candidate) if made else "it cannot be made (see G000)"
        if reason is not None:
            return "not applicable", reason, {}
        with warnings.catch_warnings():
            # Checks with another dt would warn that it does not divide durations.
            warnings.simplefilter("ignore")
            return "passed", "", dict(one.run(candidate) or {})
    except NotApplicable as error:
        return "not applicable", str(error), {}
    except CheckWarning as error:
        return "warning", clean(str(error)), error.details
    except CannotTell as error:
        return "cannot tell", clean(str(error)), error.details
    except CheckFailedError as error:
        return "failed", clean(str(error)), error.details
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        said = str(error) if isinstance(error, AssertionError) else said_by(error)
        return "failed", clean(said) or type(error).__name__, {"error": type(error).__name__}


# ---------------------------------------------------------------------- choosing


def _chosen(checks: list[Check], select: Iterable[str]) -> list[Check]:
    select = tuple(select)
    codes = {one.code for one in all_checks()}
    for wanted in select:
        if wanted not in codes and wanted not in FAMILIES and not _plugin_codes((wanted,)):
            raise unknown("check", wanted, [*FAMILIES, *sorted(codes)])
    return [one for one in checks if not select or _is_selected(one.code, select)]


def _is_selected(code: str, select: Iterable[str]) -> bool:
    return any(
        code == wanted or (wanted in FAMILIES and code.startswith(wanted)) for wanted in select
    )


def _plugin_codes(select: Iterable[str]) -> list[str]:
    """Return the codes of plug-ins: those whose first letter is not a family of the kit."""
    return [wanted for wanted in select if len(wanted) > 1 and wanted[0] not in FAMILIES]


# ---------------------------------------------------------------------- plug-ins


def plugin_results(
    candidate: Candidate, reasons: Mapping[str, str] | None = None
) -> list[CheckResult]:
    """Return the results of plug-ins' ``ngym_check_task``; none if the task has no id or file."""
    if not isinstance(candidate.source, str):
        return []
    try:
        spec = candidate.fresh_env().spec
    except Exception:
        return []  # the task cannot be made; G000 reports the error
    results = []
    for offer, answers in ask_plugins("ngym_check_task", spec=spec):
        for said in answers if isinstance(answers, list) else [answers]:
            for item in said if isinstance(said, list | tuple) else [said]:
                result = _read(candidate.name, offer.distribution, item)
                results.append(_excused(result, reasons or {}))
    return results


def _read(task: str, distribution: str, item: Any) -> CheckResult:
    """Return a plug-in's result, given as a `CheckResult` or a mapping, as a `CheckResult`."""
    if isinstance(item, CheckResult):
        result = item
    elif isinstance(item, Mapping) and "code" in item and ("passed" in item or "status" in item):
        status = item.get("status") or ("passed" if item["passed"] else "failed")
        texts = {name: str(item.get(name, "")) for name in ("reason", "rule", "advice", "name")}
        details = item.get("details", {})
        result = CheckResult(
            task, str(item["code"]), status, family=distribution, details=details, **texts
        )
    elif isinstance(item, NeurogymError):
        return CheckResult(task, PLUGIN, "failed", str(item), family=distribution)
    else:
        reason = (
            f"{distribution} returned {item!r}. Expected a CheckResult, or a mapping with code and"
            " passed. Correct its ngym_check_task."
        )
        return CheckResult(task, PLUGIN, "failed", reason, family=distribution)
    if result.code[:1] in FAMILIES or result.status not in _STATUSES:
        reason = (
            f"{distribution} returned the code {result.code!r} with the status {result.status!r}."
            f" Expected a code that begins with another letter than {listed(FAMILIES)}, and a"
            f" status of {listed(_STATUSES)}. Correct its ngym_check_task."
        )
        return CheckResult(task, PLUGIN, "failed", reason, family=distribution)
    return result


_STATUSES = ("passed", "failed", "warning", "cannot tell", "not applicable")


def _excused(result: CheckResult, reasons: Mapping[str, str]) -> CheckResult:
    excuse = reasons.get(result.code)
    if excuse is None or result.status != "failed":
        return result
    return replace(result, status="expected failure", reason=f"{excuse} ({result.reason})")
