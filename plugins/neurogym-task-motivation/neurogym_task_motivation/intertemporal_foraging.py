"""Foraging with delays: small and soon against large and late."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import Choice, InvalidValueError, Session, Task, TrialBuilder

VERSIONS = ("choice", "patch")
LATE = (20.0, 40.0, 60.0)  # s until the large reward
SPAN = 1.5  # largest factor between the reward rates of both options


class IntertemporalForaging(Task):
    """Choose between a small reward that comes soon and a large one that comes late, and wait.

    Stephens & Anderson (2001), Behav. Ecol. 12:330, doi:10.1093/beheco/12.3.330.

    After an interval without offers, both options are shown: their amounts, and their delays, which
    are those of all trials of a session. The subject chooses, waits for the delay, and gets its
    reward at the end of it; then the next trial begins. The reward per time of always the same
    option is amount / (delay + interval), so that the interval, which follows either choice, makes
    waiting better than the ratio of amount and delay says. Performance is the share of choices of
    the option with the larger rate, and its ideal 1. The small reward is 1 after 5 s; the large
    one, after 20 to 60 s, has a rate 2/3 to 1.5 times that of the small one, so that neither amount
    nor delay alone says much. Always the same option earns 0.50, and amount divided by delay, which
    leaves out the interval, 0.5. The offers of a session stay, so that repeating a choice that was
    right, or the better one of the last trial, earns 0.97.

    In the version of patches, ``version="patch"``, the subject waits for the small reward in any
    case, and then leaves, or stays for the rest: the same amounts and delays as a choice of staying
    (the choice `late`) or leaving (`soon`). Animals choose the larger rate there, and too often the
    small reward in the other version.

    Deviations from the paper: amounts, delays and the interval are ours (not compared with the
    paper), as is their draw for each session of 20 trials.

    Args:
        version: "choice" or "patch".
    """

    dt: float = 500
    version: str = "choice"
    trials_per_session: int | None = 20
    timing = {"interval": 20000, "soon": 5000, "offers": 5000}  # ms
    supervised = False
    go_cue = "offer"

    def define(self) -> None:
        if self.version not in VERSIONS:
            raise InvalidValueError(
                f"IntertemporalForaging was given version={self.version!r}; give one of {VERSIONS}."
            )
        self.observe(offer=1, amount=("soon", "late"), delay=("soon", "late"))
        self.act(rest=1, choose=("soon", "late"))
        self.vary(late=Choice(LATE), ratio=lambda rng, prior: SPAN ** rng.uniform(-1, 1, prior.n))
        self.correct_choice(lambda known: (known["ratio"] > 1) * 1)

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.late = rng.choice(LATE, len(session))
        session.ratio = SPAN ** rng.uniform(-1, 1, len(session))

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {"late": session.late, "ratio": session.ratio}

    def new_trial(self, trial: TrialBuilder) -> None:
        patch = self.version == "patch"
        order = ("soon", "offers", "late") if patch else ("offers", "soon", "late")
        soon, interval = (self.timing[name].mean / 1000 for name in ("soon", "interval"))
        ends = {"offers": "end"} if patch else {"offers": "end", "soon": "end"}
        trial.periods("interval", *order, late=1000 * (trial["late"] - soon * patch), then=ends)
        pause = interval + self.dt / 1000  # with the step of the choice
        large = trial["ratio"] * (trial["late"] + pause) / (soon + pause)
        trial.record(large=large)
        trial.show("offer", 1, during="offers")
        trial.show("amount", np.column_stack([np.ones(trial.n), large]) / 10, during="offers")
        delay = np.column_stack([np.full(trial.n, soon), trial["late"]])
        trial.show("delay", delay / 100, during="offers")
        better, then = trial.correct_choice[:, None] == (0, 1), ("end" if patch else "soon", "late")
        trial.offer("choose", 0, "offers", worth=better, then=then)

    def step_action(self, now: Any, action: np.ndarray) -> tuple[np.ndarray, None]:
        last = now.remaining < 1.5 * now.dt
        rest = now.in_period("late") * (now.conditions["large"] - (self.version == "patch"))
        return last * (now.in_period("soon") + rest), None
