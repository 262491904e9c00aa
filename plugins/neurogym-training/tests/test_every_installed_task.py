"""Every installed task can be evaluated; analyses that it does not support give the reason."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from neurogym_behaviour import analyses, standard
from neurogym_behaviour.analyses import ANALYSES, analyse
from neurogym_behaviour.behaviour import Behaviour, Roles
from neurogym_behaviour.report import page
from neurogym_training.playing import play_task

from neurogym_core import Subject, Task, make_task
from neurogym_core.players import player_of
from neurogym_core.tools import installed, load_task


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
"""Least number of installed tasks whose report has a section."""
LONG = "ibl/IBLWheel-v0"
"""Its trials have thousands of steps: it is not counted."""


class Hesitant(Subject):
    """Answers on about one step in five of the response window, and correctly in 75 %."""

    carries_state = False

    def __init__(self, seed):
        super().__init__(seed)
        self.guess, self.rest = player_of("random"), player_of("rest")
        self.guess.rng = self.rng

    def __call__(self, env, observations):
        """Return an action per env."""
        target, n = env.target, env.num_envs
        wrong = self.guess(env, observations)
        actions = env.task.actions
        if actions.continuous:
            # Near the target, so that errors of angles and of times have a spread.
            answer = np.clip(target + self.rng.normal(0, 0.2, np.shape(target)), -1, 1)
            if actions.trigger is not None:
                trigger = actions.trigger[0]
                answer[:, trigger] = target[:, trigger]
        else:
            answer = np.where(self.rng.random(n) < 0.75, target, wrong)
        if actions.rest is None or (actions.continuous and actions.trigger is None):
            return answer
        waits = ~env.is_asked | (env.can_wait & (self.rng.random(n) > 0.2))
        return np.where(
            waits.reshape(-1, *[1] * (answer.ndim - 1)), self.rest(env, observations), answer
        )


@pytest.mark.slow
def test_reports_reach_as_many_tasks_as_before(monkeypatch):
    monkeypatch.setattr(analyses, "fit_psychometric", lambda *args, **kwargs: None)  # it is slow
    monkeypatch.setattr(standard, "MEASURES", {})  # numbers of the other sections
    found: Counter[str] = Counter()
    for name in names():
        if name == LONG or not issubclass(load_task(name), Task):
            continue
        task = make_task(name)
        played = play_task(task, Hesitant(seed=1), 150, seed=1, design="drawn")
        findings = analyse(Behaviour(played.record, Roles.of_task(task)))
        found.update(one.name for one in findings if one.why_not is None)
    assert {name: found[name] for name in REACH if found[name] < REACH[name]} == {}
