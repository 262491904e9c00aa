"""Psychomotor vigilance task."""

from __future__ import annotations

import numpy as np

from neurogym_core import Task, TrialBuilder, Uniform
from neurogym_task_cognition.price import priced_answer
from neurogym_task_cognition.shares import check_shares

FIRST, LAST = 2000, 10_000
EARLY = 100
"""ms after the onset of the light, before which a press is a false start."""


class PVT(Task):
    """Press as soon as a light appears, after 2 to 10 s.

    Dinges & Powell (1985), Behavior Research Methods, Instruments, & Computers 17:652,
    doi:10.3758/BF03200977.

    After a ready signal, a light appears at an unpredictable time, with equal probability at any
    time from 2 to 10 s. The subject presses as soon as it does. A press within the first 100 ms of
    the light is a false start, an error that ends the trial; each press before the light costs
    0.1, and the record counts them as `aborts`. A trial without a press in 2 s is a miss. A session
    has 90 trials, about ten minutes. Reaction times in the record count from the onset of the
    light; above 500 ms they are called lapses.

    Time has a price: the reward of a press falls linearly from `correct` at 100 ms after the onset
    by the share `price` of it, until the end of the window. Performance is the reward relative to
    `correct`. The ideal observer presses as soon as 100 ms have passed, and earns 1. Pressing at a
    fixed time after the ready signal earns 0.12, since the light is rarely due. A clock that starts
    with the light earns 1: to see the light is the whole task.

    Without noise, all presses of a perfect observer come at the same time, and it has no lapses.
    Rested people take about 250 ms and lapse up to three times in a session, and they are faster
    the later the light comes, since it is then the more likely to come. With noise, an observer
    that knows this, `neurogym_task_cognition.observers:Watcher`, shows it: with ``sigma=4`` it
    takes 243 ms after 2 to 4 s, and 210 ms after 8 to 10 s. If it expects the light equally at any
    time, it takes 251 and 252 ms. The sizes are ours, and not compared with people's.

    Deviations from the paper:

    - a ready signal of 500 ms marks the beginning (there, people saw their last reaction time);
    - the window ends after 2 s, and time has a price;
    - sessions have a number of trials, not ten minutes.

    Args:
        sigma: SD of the noise of the light, times sqrt(ms).
        price: share of the reward that is lost between 100 ms and the end of the window.
    """

    dt: float = 25
    trials_per_session: int | None = 90
    sigma: float = 0.0
    price: float = 1.0

    timing = {"ready": 500, "wait": Uniform(FIRST, LAST), "light": 2000}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        check_shares(self, "price")
        self.observe(ready=1, light=1)
        self.act(rest=1, press=1)
        self.correct_choice(lambda conditions: 0)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("ready", "wait", "light")
        trial.show("ready", 1, during="ready")
        trial.show("light", 1, during="light")
        trial.show("light", 0, during=("wait", "light"), noise=self.sigma)
        trial.answer("press", np.zeros((trial.n, 1), bool), during="light", stop=EARLY)
        priced_answer(trial, "press", 0, "light", self.rewards["correct"], self.price, begin=EARLY)
