"""Free choice in trials that the subject starts itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import STAY, Choice, Session, Task, TrialBuilder, Uniform

BLOCKS = ((0.9, 0.5), (0.5, 0.9), (0.5, 0.1), (0.1, 0.5))
"""Reward probabilities of the left and the right hole."""
START = ("ready", "hold")
"""Periods that are repeated until the nose has stayed long enough."""
PERIODS = (*START, "choose", "wait", "paid", "unpaid")
AFTER = {"paid": "end"}
"""Where a period leads that is not followed by the next one."""
CENTRE = 1
"""The action of holding the nose in the centre hole; 0 is none, and 2 and 3 are left and right."""


class SelfInitiatedChoice(Task):
    """Start a trial with a poke into the centre hole, hold it, then choose the left or right hole.

    The conditional free-choice task of Ito & Doya (2009), Journal of Neuroscience 29:9861,
    doi:10.1523/JNEUROSCI.6157-08.2009.

    A trial waits until the subject pokes its nose into the centre hole, and the nose has to stay
    there for 500 to 1000 ms; if it leaves, the trial waits again. Then one of two tones is on.
    After tone A, the choice tone, the subject pokes into the left or the right hole, and is
    rewarded with a probability that depends on the hole and the block: (left, right) = (0.9, 0.5),
    (0.5, 0.9), (0.5, 0.1) or (0.1, 0.5). After tone B, the reward comes without a choice, 1 s
    later. The block changes when 80 % of the last 20 choices went to the better hole. The channel
    `feedback` shows whether there was a reward.

    Time before the poke belongs to the trial, so that slow subjects earn less per time. The record
    has the number of `breaks` of the hold in each trial, each of which is an event (`broken hold`),
    and of `changes` of the block before it.
    Performance is that of the choice, whatever the start: after tone A, the expected reward of the
    chosen hole relative to the better one; after tone B, 1 for waiting. Always the same hole thus
    earns about 0.8, and a policy of the current observation alone 0.88; a sequence of actions that
    is repeated without looking earns 0.85, Bayes' rule over the four blocks 0.945. Look at
    `side.choice` and `block` of choice trials for learning.

    Deviations from the paper:

    - the proportion of choice trials, the limits of 5 s to choose and of 60 s for a trial, the
      feedback's duration, and the order of blocks (each of the other three, equally likely) are
      ours;
    - a side poke after tone B forfeits the reward, which comes 1 s after the onset of the tone
      (there, after the nose has left the centre);
    - sides are chosen directly; there is no way back to the dish.
    """

    max_duration: float | None = 60_000  # ms

    timing = {"ready": float("inf"), "hold": Uniform(500, 1000), "paid": 500, "unpaid": 500}  # ms
    supervised = False
    reads_outcomes = True
    trial_state = {"breaks": 0}

    def define(self) -> None:
        self.observe(tone=("A", "B"), feedback=("reward", "none"))
        self.act(rest=1, centre=1, side=("left", "right"))
        self.vary(choice_tone=Choice((False, True)), block=Choice(4), luck=Uniform(0, 1))

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.block = rng.integers(4, size=len(session))
        session.better = np.full((len(session), 20), -1)  # in the last choices; -1: none yet
        session.changes = np.zeros(len(session), int)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        last, better = session.previous, session.better
        chosen = last["choice_tone"] & (last["choice"] >= 0)
        better[chosen] = np.column_stack((better[:, 1:], last["performance"] == 1))[chosen]
        over = (better.min(axis=1) >= 0) & (better.sum(axis=1) >= 16)
        better[over] = -1
        session.block = (session.block + over * rng.integers(1, 4, len(session))) % 4
        session.changes = session.changes + over
        session.record(changes=session.changes)
        return self.draw_conditions(rng, len(session), {"block": session.block})

    def new_trial(self, trial: TrialBuilder) -> None:
        free, p = trial["choice_tone"], np.array(BLOCKS)[trial["block"]]
        trial.periods(*PERIODS, choose=5000 * free, wait=1000 * ~free, then=AFTER, repeat=START)
        trial.show("tone", np.column_stack((free, ~free)), during=("choose", "wait"))
        trial.show("feedback", (1, 0), during="paid")
        trial.show("feedback", (0, 1), during="unpaid")
        trial.hold(START, cost=0)
        wins = trial["luck"][:, None] < p
        leads = np.where(wins, "paid", "unpaid")
        trial.offer("side", wins, "choose", worth=p, where=free, then=leads)
        trial.answer("side", -1, "wait", slot="side", where=~free, then="unpaid")
        trial.answer(
            "centre", 0, "ready", slot="start", then="hold", correct=0, again=True, scored=False
        )
        trial.record("breaks")

    def step_action(self, now: Any, action: np.ndarray) -> tuple[None, np.ndarray]:
        now.event(broken := now.in_period("hold") & (action != CENTRE), "broken hold")
        now.trial_state["breaks"] = now.trial_state["breaks"] + broken
        return None, np.where(broken, now.number_of("ready"), STAY)

    def step_target(self, now: Any) -> np.ndarray:
        return np.where(now.in_period("hold"), CENTRE, now.target)
