"""Play ideals and best shortcuts of 22 tasks for many trials, and compare with the manifests.

    python docs/_make/replay.py [--trials 20000] [TASK ...]

prints a table: per task the ideal of the manifest and the performance of its subject, and the best
shortcut as stored and as played, or fitted, again on other seeds. A difference counts if it is
larger than 0.02 and outside the stored interval.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

import numpy as np
from neurogym_check.audit import measures
from neurogym_check.audit.play import Bank, complete_trials, play
from neurogym_check.audit.played import _Budget, _searched
from neurogym_check.audit.policies import families
from neurogym_check.posterior import posterior_performance
from neurogym_training.levels import best_shortcut
from train_gallery import catalogue

from neurogym_core import Task, make_task, run
from neurogym_core.players import TaskView

SEED = 2029
"""Unlike the audit's."""
TASKS = (
    "control/CardSorting-v0", "control/GoNogo-v0", "ibl/IBLBlocks-v0", "ibl/IBLTwoChoice-v0",
    "learning/Beads-v0", "memory/DelayMatchSample-v0", "memory/DelayComparison-v0",
    "modcog/Dm1-v0", "modcog/Go-v0", "motivation/EffortChoice-v0",
    "perceptual/ChangingEvidence-v0", "perceptual/Detection-v0", "perceptual/DynamicClicks-v0",
    "perceptual/PriorBlocks-v0", "perceptual/ProbabilisticReasoning-v0", "timing/OneTwoGo-v0",
    "timing/IntervalDiscrimination-v0", "value/DriftingBandit-v0",
    "value/LeverPressWithPokeRest-v0", "value/MatchingPennies-v0", "value/PneumostomeOpening-v0",
    "yang19/DM1-v0",
)  # fmt: skip
LARGEST = 0.02


def ideal_of(task: Task, ideal: dict[str, Any], trials: int) -> np.ndarray:
    """Return the performance (n,) of the subject of an ideal: the oracle's where it is exact."""
    how = ideal["how"] if ideal["by"] == "observer" else "oracle"
    if how == "posterior":
        return posterior_performance(task, min(trials, 2000), seed=SEED)
    module, colon, name = how.partition(":")
    subject = getattr(import_module(module), name)() if colon and "." in module else how
    envs = max(min(trials // (task.trials_per_session or 200), 100), 1)
    return np.asarray(run(task, subject, trials, num_envs=envs, seed=SEED)["performance"], float)


def shortcut_of(task: Task, name: str, trials: int) -> np.ndarray:
    """Return the performance of a policy that is chosen, or fitted, again, on at least `trials`."""
    bank, budget = Bank(task, SEED), _Budget.of(task)
    for family in families(task, bank, SEED + 1):
        if family.name == name:
            row = _searched(task, bank, family, budget, SEED + 2)
            each = min(task.trials_per_session or 200, trials)
            envs = -(-trials // each)
            policy = family.policy(bank, np.repeat(row, envs, axis=0), SEED)
            steps = each * 2 * max(TaskView(task).typical_steps, 1)
            return complete_trials(play(task, policy, envs, each, steps, SEED + 3))
    auditor = measures._Auditor(task, SEED, n=round(trials / 0.4))
    columns = measures.columns_of(task, auditor.batch, SEED)
    if name.startswith("look."):
        few = max(round(measures.LOOK / task.dt), 1)
        columns = measures.columns_of(task, auditor.batch, SEED, (name[5:], few))
        return auditor.performance(columns, np.ones(len(columns.channel), bool))
    parts = dict(auditor._parts_of(columns))
    return auditor.performance(columns, parts[name])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=TASKS)
    parser.add_argument("--trials", type=int, default=20_000)
    given = parser.parse_args()
    known = catalogue()
    print("| task | ideal | played | best shortcut | stored | played again | |")
    print("|---|---|---|---|---|---|---|")
    for name in given.tasks:
        info, task = known[name], make_task(name)
        ideal = measures.Measure.of(ideal_of(task, info.ideal, given.trials))
        best = best_shortcut(info)
        again = measures.Measure.of(shortcut_of(task, best, given.trials))
        low, high = info.intervals[best]
        same = abs(ideal.score - info.ideal["value"]) <= LARGEST and (
            low - LARGEST <= again.score <= high + LARGEST
        )
        print(
            f"| `{name}` | {info.ideal['value']:g} | {ideal.score:.3f} | {best}"
            f" | {info.shortcuts[best]:.3f} | {again.score:.3f} | {'' if same else 'differs'} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
