"""Patch leaving: when to leave a depleting patch for a fresh one."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, Task, TrialBuilder

LEAVE = 2
"""The action of leaving; 1 is harvesting, and 0 waiting."""


class TreePatchLeaving(Task):
    """Harvest apples from a tree that depletes, and leave it for a fresh one; a trial is a tree.

    Constantino & Daw (2015), Cognitive, Affective, & Behavioral Neuroscience 15:837,
    doi:10.3758/s13415-015-0350-y; with monkeys: Hayden, Pearson & Platt (2011), Nature Neuroscience
    14:933, doi:10.1038/nn.2856.

    A trial is one tree. After the travel to it comes the first harvest. Then the subject chooses,
    as often as it likes and at its own pace, between another harvest (choice 0), which takes time,
    and leaving (choice 1), which ends the trial: the travel to the next tree is the beginning of
    the next trial. A harvest gives the apples of the last one times a random depletion, from a beta
    distribution. The reward of a harvest comes at its end, in apples. The channel `apples` shows
    the apples of the last harvest (divided by `first`) while the subject chooses, and `tree` is on
    except during the travel.

    By the marginal value theorem, the reward per time is largest if the subject leaves when the
    expected apples of the next harvest are fewer than the average reward rate times the duration of
    a harvest. The oracle does so. Longer travel is a reason to stay longer:
    ``timing={"travel": 12000}``.

    The reward rate, ``reward.sum() / steps.sum()``, measures success. Performance is not a measure
    of it: the reward divided by that of a tree which is left at the right time, at most 1, rises
    the longer a subject stays. Never leaving earns 1, at a sixth of the oracle's reward rate, and
    the oracle 0.88. Do not train or compare subjects by it: in version 1 of PatchLeaving,
    performance is the reward rate. The record has the number of `harvests` of each tree, and each
    `harvest` as an event, with its apples. `choice` and `reaction_time` are those of the last
    decision.

    Deviations from the paper:

    - the numbers are those of one of its environments, with short travel and fast depletion; there,
      environments change between blocks;
    - the duration of a harvest, the apples of a fresh tree and the number of trees are ours, as is
      the first harvest without a choice;
    - decisions have no time limit, and their time adds to that of the harvest; a trial
      ends as a miss after five minutes.

    Args:
        first: mean apples of the first harvest of a tree.
        first_sd: SD of these.
        depletion: mean factor from one harvest to the next.
        depletion_sd: SD of the factor.
    """

    dt: float = 500
    max_duration: float | None = 300_000  # ms
    first: float = 10.0
    first_sd: float = 1.0
    depletion: float = 0.88
    depletion_sd: float = 0.07

    timing = {"travel": 6000, "harvest": 3000, "choose": float("inf")}  # ms
    supervised = False
    trial_state = {"left": 1.0, "apples": 0.0, "harvests": 0}

    def define(self) -> None:
        spread = self.depletion * (1 - self.depletion) / max(self.depletion_sd, 1e-9) ** 2 - 1
        if not (0 < self.depletion < 1 and spread > 0 and self.first > 0):
            raise InvalidValueError(
                f"{self.name} was given first={self.first:g}, depletion={self.depletion:g} and"
                f" depletion_sd={self.depletion_sd:g}; give some apples, and a beta distribution."
            )
        self._beta = spread * self.depletion, spread * (1 - self.depletion)
        self._each = self.timing["harvest"].mean + self.dt  # with the decision that leads to it
        factors = np.cumsum(self.depletion ** np.arange(1000))
        rates = factors / (self.timing["travel"].mean + self._each * np.arange(1, 1001))
        self._rate, self._best = self.first * rates.max(), factors[rates.argmax()]
        self.observe(tree=1, apples=1)
        self.act(rest=1, choose=("harvest", "leave"))
        self.vary(fresh=lambda rng, prior: rng.normal(self.first, self.first_sd, prior.n).clip(0))

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("travel", "harvest", "choose", repeat=("harvest", "choose"))
        trial.show("tree", 1, during=("harvest", "choose"))
        trial.offer("choose", 0, during="choose", then=("harvest", "end"), again=True)
        trial.max_reward(trial["fresh"] * self._best)
        trial.record("harvests")

    def step_action(self, now: Any, action: np.ndarray) -> tuple[np.ndarray, None]:
        state, done = now.trial_state, now.in_period("harvest") & (now.remaining < 1.5 * now.dt)
        found = np.where(done, now.conditions["fresh"] * state["left"], 0.0)
        state["apples"] = np.where(done, found, state["apples"])
        state["left"] = state["left"] * np.where(done, now.rng.beta(*self._beta, now.n), 1.0)
        state["harvests"] = state["harvests"] + done
        now.event(done, "harvest", found)
        return found, None

    def step_observation(self, now: Any, obs: np.ndarray) -> np.ndarray:
        # the channel `apples`
        obs[:, 1] = now.in_period("choose") * now.trial_state["apples"] / self.first
        return obs

    def step_target(self, now: Any) -> np.ndarray:
        stays = now.trial_state["apples"] * self.depletion >= self._rate * self._each
        return now.in_period("choose") * np.where(stays, 1, LEAVE)


class PatchLeaving(TreePatchLeaving):
    """Harvest apples from trees that deplete, for seven minutes, and leave them for fresh ones.

    Constantino & Daw (2015), Cognitive, Affective, & Behavioral Neuroscience 15:837,
    doi:10.3758/s13415-015-0350-y; with monkeys: Hayden, Pearson & Platt (2011), Nature Neuroscience
    14:933, doi:10.1038/nn.2856.

    A trial is a stay in an orchard of a fixed duration, `max_duration`. After the travel to a tree
    comes the first harvest. Then the subject chooses, as often as it likes and at its own pace,
    between another harvest (choice 0), which takes time, and leaving (choice 1), which begins the
    travel to the next tree. A harvest gives the apples of the last one times a random depletion,
    from a beta distribution. The reward of a harvest comes at its end, in apples. The channel
    `apples` shows the apples of the last harvest (divided by `first`) while the subject chooses,
    and `tree` is on except during the travel.

    By the marginal value theorem, the reward per time is largest if the subject leaves when the
    expected apples of the next harvest are fewer than the average reward rate times the duration of
    a harvest. The oracle does so. Longer travel is a reason to stay longer:
    ``timing={"travel": 12000}``.

    Performance is the reward rate divided by that of the theorem, at most 1: the oracle earns 0.99,
    because trials vary, and end in the middle of a visit. Never leaving earns 0.12, leaving after
    each harvest 0.63, and guessing 0.82. Trees differ little, so that leaving each of them after
    four harvests earns 0.99 too. The best policy needs no memory: the apples on display suffice.

    The condition `fresh` has the apples of the first harvest of each tree, (n, trees). The record
    has the number of `trees` of a trial, and of the `harvests` of the last one; its events are each
    `arrival` at a tree and each `harvest`, with its apples. `choice` and `reaction_time` are those
    of the last decision. Trials that are single trees are those of version 0 of PatchLeaving.

    Deviations from the paper:

    - the numbers are those of one of its environments, with short travel and fast depletion; there,
      environments change between blocks;
    - the duration of a harvest, the apples of a fresh tree and the seven minutes are ours, as is
      the first harvest without a choice;
    - decisions have no time limit, and their time adds to that of the harvest.

    Args:
        first: mean apples of the first harvest of a tree.
        first_sd: SD of these.
        depletion: mean factor from one harvest to the next.
        depletion_sd: SD of the factor.
    """

    max_duration: float | None = 420_000  # ms
    trial_state = {"left": 1.0, "apples": 0.0, "harvests": 0, "trees": 0}

    def define(self) -> None:
        super().define()
        most = int(self.max_duration // (self.timing["travel"].mean + self._each)) + 1
        mean, sd = self.first, self.first_sd
        self.vary(fresh=lambda rng, prior: rng.normal(mean, sd, (prior.n, most)).clip(0))

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("travel", "harvest", "choose", repeat=("travel", "harvest", "choose"))
        trial.show("tree", 1, during=("harvest", "choose"))
        trial.offer("choose", 0, during="choose", then=("harvest", "travel"), again=True)
        trial.max_reward(self._rate * self.max_duration)
        trial.record("harvests", "trees")

    def step_action(self, now: Any, action: np.ndarray) -> tuple[np.ndarray, None]:
        state = now.trial_state
        travels = now.in_period("travel")
        state["left"] = np.where(travels, 1.0, state["left"])
        state["harvests"] = np.where(travels, 0, state["harvests"])
        arrives = travels & (now.remaining < 1.5 * now.dt)
        state["trees"] = state["trees"] + arrives
        now.event(arrives, "arrival")
        done = now.in_period("harvest") & (now.remaining < 1.5 * now.dt)
        tree = np.maximum(state["trees"] - 1, 0)
        found = np.where(done, now.conditions["fresh"][np.arange(now.n), tree] * state["left"], 0.0)
        state["apples"] = np.where(done, found, state["apples"])
        state["left"] = state["left"] * np.where(done, now.rng.beta(*self._beta, now.n), 1.0)
        state["harvests"] = state["harvests"] + done
        now.event(done, "harvest", found)
        return found, None
