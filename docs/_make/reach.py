"""Count in how many tasks each analysis of a report has a result.

    python docs/_make/reach.py             # the counts
    python docs/_make/reach.py --why NAME  # and the reasons of the tasks that lack analysis NAME

A subject that hesitates plays each task: it answers when it wants, and errs, so that whatever a
task allows can be seen.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict

import numpy as np
from neurogym_study import analyses, standard
from neurogym_study.analyses import analyse
from neurogym_study.behaviour import Behaviour, Roles
from neurogym_study.playing import play_task

from neurogym_core import make_task
from neurogym_core.ecosystem.discovery import installed
from neurogym_core.errors import NotSupportedError
from neurogym_core.subjects import Subject, _anything, _resting
from neurogym_core.trials.arrays import per_row

TRIALS = 150
LONG = ("ibl/IBLWheel-v0",)
"""Tasks whose trials have thousands of steps, which are not counted."""


class Hesitant(Subject):
    """Answers on about one step in five of the response window, and correctly in 75 %."""

    carries_state = False

    def __call__(self, env, observations):
        """Return an action per env."""
        target, n = env.target, env.num_envs
        wrong = _anything(env, self.rng)
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
        return np.where(per_row(waits, answer), _resting(env), answer)


def reached(name: str, n_trials: int = TRIALS) -> dict[str, str | None]:
    """Return analysis -> the reason why it could not be done with a task, or None."""
    analyses.fit_psychometric = lambda *args, **kwargs: None  # slow, and not needed to count
    standard.MEASURES.clear()  # numbers of the other sections
    task = make_task(name)
    played = play_task(task, Hesitant(seed=1), n_trials, seed=1, design="drawn")
    return {
        finding.name: finding.why_not
        for finding in analyse(Behaviour(played.record, Roles.of_task(task)))
    }


def tasks() -> list[str]:
    """Return the ids of the installed tasks that have a table of trials."""
    found = []
    for info in installed().tasks:
        if info.id in LONG:
            continue
        try:
            make_task(info.id)
        except NotSupportedError:
            continue
        found.append(info.id)
    return found


def main() -> None:
    """Print the counts, or the reasons of one analysis."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--why", metavar="NAME", help="analysis, such as psychometric")
    parser.add_argument("--task", help="only this task")
    given = parser.parse_args()
    counts: dict[str, int] = defaultdict(int)
    names = [given.task] if given.task else tasks()
    for name in names:
        print(f"{name} …", end="\r", file=sys.stderr, flush=True)
        for analysis, why_not in reached(name).items():
            counts[analysis] += why_not is None
            if given.why in (analysis, "all") and why_not is not None:
                print(f"{analysis}: {name}: {why_not}")
            if given.task:
                print(f"{analysis}: {why_not or 'done'}")
    print(f"Of {len(names)} tasks, {TRIALS} trials each:")
    for analysis, count in counts.items():
        print(f"  {analysis} {count}")


if __name__ == "__main__":
    main()
