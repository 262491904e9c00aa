"""Every installed task can be evaluated; analyses that it does not support give the reason."""

from __future__ import annotations

from collections import Counter

import pytest
from neurogym_study.analyses import ANALYSES, analyse
from neurogym_study.behaviour import Behaviour, Roles
from neurogym_study.playing import play_task
from neurogym_study.report import page
from scripts import loaded

from neurogym_core import Task, make_task
from neurogym_core.ecosystem.discovery import installed, load_task


def names():
    return sorted(task.id for task in installed().tasks if not task.has("blocked"))


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_a_task_is_evaluated(name):
    if not (isinstance(load_task(name), type) and issubclass(load_task(name), Task)):
        return  # a plain env has no table, and `ngym evaluate` says so
    task = make_task(name)
    played = play_task(task, "guess", 60, seed=1)
    findings = analyse(Behaviour(played.record, Roles.of_task(task)))
    assert len(findings) == len(ANALYSES)
    for finding in findings:
        assert (finding.table is None) != (finding.why_not is None)
        assert "duration." not in (finding.why_not or "")
    assert page(name, played.facts, findings).count("<h2") == len(ANALYSES)


REACH = {
    "accuracy": 89, "psychometric": 44, "chronometric": 75, "quantile-probability": 40,
    "history": 37, "bias": 43, "reports": 9, "circular": 22, "kernel": 2, "trials": 95,
}  # fmt: skip
"""Least number of installed tasks whose report has a section; counted with docs/_make/reach.py."""


@pytest.mark.slow
def test_reports_reach_as_many_tasks_as_before(monkeypatch):
    reach = loaded("reach")
    monkeypatch.setattr(reach.analyses, "fit_psychometric", None)  # restored after the test
    monkeypatch.setattr(reach.standard, "MEASURES", {})
    found = Counter(
        name
        for task in reach.tasks()
        for name, why_not in reach.reached(task).items()
        if why_not is None
    )
    assert {name: found[name] for name in REACH if found[name] < REACH[name]} == {}
