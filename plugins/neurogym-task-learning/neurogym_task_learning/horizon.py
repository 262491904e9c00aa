"""Exploration and the number of choices that are left."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, Task, TrialBuilder

FORCED, FREE = 4, 6
DIFFERENCES = (4, 8, 12, 20, 30)


class Horizon(Task):
    """Choose between two bandits that are known from four forced choices, once or six times.

    Wilson, Geana, White, Ludvig & Cohen (2014), J. Exp. Psychol. Gen. 143:2074,
    doi:10.1037/a0038199.

    A game is a trial. Two bandits pay points: Gaussian with an SD of 8 around their means, rounded,
    from 1 to 100. One mean is 40 or 60, the other one is 4, 8, 12, 20 or 30 points larger or
    smaller. The first four choices are imposed: the channel `imposed` shows the points of the
    bandit that is played, whatever the action is. Each bandit is played twice, or one of them once
    and the other one three times. One or six free choices follow; their number, the horizon, is
    shown from the beginning. Points of free choices come as rewards, so that networks and agents
    need their last action and reward as inputs (the wrappers `pass_action` and `pass_reward`).

    Rewards are points / 100. Performance is the share of the better bandit among the free choices.
    Guessing, and always the same bandit, earn 0.5; the better one is the same in all free choices.
    The ideal, which always chooses the larger expected mean, earns 0.90; it is right in 0.89 of the
    first free choices after two choices of each, and in 0.87 after one and three. A classifier
    earns 0.87 from the imposed choices alone, whatever the horizon, and 0.82 from three of the
    four: so it is in the paper. To explore hardly changes the reward of such short games, so that
    reward does not show it: people choose the bandit that they know less more often with a horizon
    of six than of one. The record has `known` (times that left and right were imposed) and the
    choices `free1.choice` to `free6.choice`.

    Deviations from the paper: imposed choices need no key, and are not paid; the number of games is
    not limited (there, 320, not compared with the paper); choices are one step each.

    Args:
        choice: duration of a choice, ms; one step.
    """

    choice: float = 100  # ms; one step, since every action is a choice

    supervised = False
    go_cue = "offer"

    def define(self) -> None:
        sides = ("left", "right")
        self.observe(offer=1, imposed=sides, horizon=("1", "6"))
        self.act(choose=sides)
        self.vary(
            horizon=Choice((1, FREE)),
            base=Choice((40, 60)),
            based=Choice(sides),
            difference=Choice((*DIFFERENCES, *(-d for d in DIFFERENCES))),
            first=Choice((1, 2, 2, 3)),  # imposed choices of the left bandit
            order=lambda rng, prior: rng.random((prior.n, FORCED)).argsort(axis=1),
            scatter=lambda rng, prior: rng.standard_normal((prior.n, 2 * (FORCED + FREE))),
        )

    def new_trial(self, trial: TrialBuilder) -> None:
        forced = [f"forced{k + 1}" for k in range(FORCED)]
        free = [f"free{k + 1}" for k in range(FREE)]
        long = trial["horizon"] == FREE
        lengths = {name: self.choice * (long | (name not in free[1:])) for name in (*forced, *free)}
        trial.periods(*forced, *free, **lengths)
        other = trial["base"] + trial["difference"]
        means = np.stack([trial["base"], other], axis=1)
        means = np.where(trial["based"][:, None] == "left", means, means[:, ::-1])
        drawn = means[:, None] + 8 * trial["scatter"].reshape(-1, FORCED + FREE, 2)
        points = np.clip(np.rint(drawn), 1, 100) / 100
        right = trial["order"] >= trial["first"][:, None]  # (n, 4)
        trial.record(means=means, known=np.stack([trial["first"], FORCED - trial["first"]], axis=1))
        trial.show("horizon", np.stack([~long, long], axis=1), during=(*forced, *free))
        imposed = points[:, :FORCED] * (right[:, :, None] == (0, 1))
        for k, name in enumerate(forced):
            trial.show("imposed", imposed[:, k], during=name)
        trial.hold(forced, cost=0)
        trial.show("offer", 1, during=free)
        best = means == means.max(axis=1, keepdims=True)
        for k, name in enumerate(free):
            trial.offer("choose", points[:, FORCED + k], name, slot=name, then="wait", worth=best,
                        where=lengths[name] > 0)  # fmt: skip
