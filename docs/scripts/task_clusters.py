"""Groups of units of a network with several tasks, and the effects of their lesions.

    python docs/scripts/task_clusters.py RUN --out task-clusters.png

As in Yang et al. (2019), doi:10.1038/s41593-018-0310-2: the variance over trials that each task
drives in each unit, relative to its largest; groups of units by k-means, their number that with the
largest silhouette, here in the other half of the trials; and the change of accuracy with each group
lesioned.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from neurogym_neural import Silence, clusters
from neurogym_torch import record_activity
from neurogym_training import Run

LEAST = 1e-3
"""Variance summed over tasks above which a unit is active, as in the authors' code."""
GROUPS = range(2, 30)
"""Numbers of groups that are tried, as in the authors' code."""


def played(trainer, which, trials, seed, silence=None):
    """Return the activity of the network in one of its tasks."""
    return record_activity(
        trainer.network, trainer.tasks[which], trials, layout=trainer.layout, which=which,
        targets=trainer.targets, answers=trainer.answers, seed=seed, silence=silence,
    )  # fmt: skip


def variances(trainer, trials, seed):
    """Return the variance over trials of each unit in each task, in both halves, (2, units, tasks).

    The first period, fixation, is left out, as in the authors' code; trials are aligned to its end.
    """
    found = []
    for which in range(len(trainer.tasks)):
        activity = played(trainer, which, trials, seed)
        rates = activity["hidden"].astype(np.float64)
        ends = activity.record["duration.fixation"] / trainer.tasks[which].dt
        aligned = np.full_like(rates, np.nan)
        for row, end in enumerate(np.round(ends).astype(int)):
            aligned[row, : rates.shape[1] - end] = rates[row, end:]
        halves = []
        for rows in (slice(0, None, 2), slice(1, None, 2)):
            part = aligned[rows]
            enough = np.isfinite(part[:, :, 0]).sum(axis=0) > trials // 8
            halves.append(np.nanvar(part[:, enough], axis=0).mean(axis=0))
        found.append(halves)
    return np.array(found).transpose(1, 2, 0)


def grouped(variance):
    """Return the group of each unit, -1 for none, and {number of groups: silhouette}."""
    active = variance.mean(axis=0).sum(axis=1) > LEAST
    share = variance / np.maximum(variance.max(axis=2, keepdims=True), 1e-12)
    share[:, ~active] = np.nan
    most = min(GROUPS[-1], int(active.sum()) - 2)
    tried = {k: clusters(share[0], share[1], k) for k in GROUPS if k <= most}
    best = max(tried, key=lambda k: tried[k][1])
    return tried[best][0], {k: score for k, (_, score) in tried.items()}, share.mean(axis=0)


def lesioned(trainer, groups, trials, seed):
    """Return the accuracy of each task, intact and with each group lesioned, (1 + k, tasks)."""
    rows = []
    for group in (None, *range(groups.max() + 1)):
        silence = None if group is None else Silence(np.flatnonzero(groups == group).tolist())
        rows.append(
            [
                played(trainer, which, trials, seed, silence).record["performance"].mean()
                for which in range(len(trainer.tasks))
            ]
        )
    return np.array(rows)


def drawn(names, groups, scores, share, accuracy):
    """Return the figure: silhouettes, task variance, and effects of lesions."""
    figure = Figure((11, 4.6), layout="constrained")
    first, second, third = figure.subplots(1, 3, width_ratios=(1, 2, 1.6))
    first.plot([*scores], [*scores.values()], ".-")
    first.set_xlabel("number of groups")
    first.set_ylabel("silhouette, other trials")
    order = np.argsort(groups, kind="stable")
    order = order[groups[order] >= 0]
    image = second.imshow(share[order].T, aspect="auto", cmap="magma", vmin=0, vmax=1)
    for edge in np.flatnonzero(np.diff(groups[order])) + 0.5:
        second.axvline(edge, color="white", linewidth=0.6)
    second.set_yticks(range(len(names)), names, fontsize=7)
    second.set_xlabel("units, by group")
    figure.colorbar(image, ax=second, label="task variance / its maximum")
    change = (accuracy[1:] - accuracy[0]).T
    image = third.imshow(change, aspect="auto", cmap="RdBu", vmin=-1, vmax=1)
    third.set_yticks(range(len(names)), names, fontsize=7)
    third.set_xticks(range(change.shape[1]), range(1, change.shape[1] + 1), fontsize=7)
    third.set_xlabel("lesioned group")
    figure.colorbar(image, ax=third, label="change of accuracy")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("task-clusters.png"))
    given = parser.parse_args()
    trainer = Run.open(given.run).trainer()
    names = [task.name for task in trainer.tasks]
    groups, scores, share = grouped(variances(trainer, given.trials, given.seed))
    accuracy = lesioned(trainer, groups, given.trials, given.seed + 1)
    drawn(names, groups, scores, share, accuracy).savefig(given.out, dpi=110)
    sizes = np.bincount(groups[groups >= 0])
    said = {
        "updates": trainer.done,
        "active": int((groups >= 0).sum()),
        "groups": len(sizes),
        "sizes": sizes.tolist(),
        "silhouette": {k: round(score, 3) for k, score in scores.items()},
        "accuracy": dict(zip(names, accuracy[0].round(3).tolist(), strict=True)),
        "lesions": {
            str(k + 1): dict(zip(names, (row - accuracy[0]).round(3).tolist(), strict=True))
            for k, row in enumerate(accuracy[1:])
        },
    }
    given.out.with_suffix(".json").write_text(json.dumps(said, indent=1) + "\n", "utf-8")
    worst = (accuracy[1:] - accuracy[0]).min(axis=1)
    for k, size in enumerate(sizes):
        task = names[int((accuracy[1 + k] - accuracy[0]).argmin())]
        print(f"group {k + 1}: {size} units; without it {task} changes by {worst[k]:+.2f}")
    print(f"{len(sizes)} groups of {said['active']} active units; written to {given.out}")


if __name__ == "__main__":
    main()
