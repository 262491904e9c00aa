"""Lever-press tasks, in which the subject has to count its presses."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import END, STAY, Choice, InvalidValueError, Outcome, Session, Task, TrialBuilder
from neurogym_core.players import TaskView

REST, PRESS, POKE = 0, 1, 2

IDLE = Choice(tuple(range(100, 1100, 100)), p=[2 ** (10 - k) for k in range(1, 11)])
"""Time without a cue, ms: the cue appears with a probability of 0.5 every 100 ms (at most 1 s)."""

LEVELS = (0.5, 0.75, 1.0)
"""Levels of thirst."""

RISES = (0.0, 0.25, 0.5)
"""Increases of thirst from trial to trial, equally likely."""

DRINK = 0.25
"""Decrease of thirst after a drink."""


class LeverPress(Task):
    """Press a lever exactly four times in a row while a cue is on, then release it.

    After NeuroGym's task of this name, and counting schedules for rats (Mechner 1958, J. Exp. Anal.
    Behav. 1:109, doi:10.1901/jeab.1958.1-109); there is no single original.

    After an unpredictable time a cue turns on and the subject presses the lever: 100 ms of pressing
    count as one press. Releasing the lever ends the trial: it is rewarded after exactly four
    presses, and an error after fewer or more. Pressing while the cue is off costs `abort` per 100
    ms and restarts the time without a cue. A trial without a release within 5 s of the cue is a
    miss.

    The number of presses is not shown: the subject has to count. Of the subjects without memory,
    the best one presses with a probability of 0.75 on every step of 100 ms, and is correct in 11 %
    of the trials; pressing as long as the cue is on is never correct. The cue need not be seen: it
    is nearly always on after 800 ms, so that waiting as long, pressing four times and releasing,
    again and again, earns 1. Performance is the reward relative to that of four presses at once.
    The events of the record are each `press`, each step of pressing without the cue (`early
    press`), and each `poke`.

    Deviations from the paper: none; there is no single original. In NeuroGym's task the fourth
    press itself is rewarded, so that pressing while the cue is on is enough; rats had to press at
    least a given number of times, and then a second lever. The reward, the number of presses and
    the cue's probability are NeuroGym's. Ours are the restart, without which constant pressing
    would be cheap, and the limits of 5 s and, including restarts, of 15 s.

    Args:
        presses: number of required presses in a row.
        press_ms: duration of holding the lever down that counts as one press, ms.
        poke: whether a poke must follow the presses, instead of the release of the lever.
        thirst: whether rewards are scaled by the subject's thirst, and presses cost effort.
        effort: cost of 100 ms of pressing and of each poke, with `thirst`.
        cued: whether a time without a cue precedes.
        rests: whether there is a resting action; without it, the choices of `do` are to press (0)
            and to poke (1).
    """

    presses: int = 4
    press_ms: float = 100
    poke: bool = False
    thirst: bool = False
    effort: float = 0.1
    cued: bool = True
    rests: bool = True
    max_duration: float | None = 15_000  # ms

    timing = {"idle": IDLE, "lever": 5000}  # ms
    rewards = {"abort": -1.0, "correct": 10.0, "error": 0.0, "miss": 0.0}
    evidence_periods = ("lever",)
    go_cue = None
    trial_state = {"held": 0.0}

    def define(self) -> None:
        if self.presses < 1 or not self.press_ms > 0:
            raise InvalidValueError(
                f"{self.name} was given presses={self.presses!r}, press_ms={self.press_ms!r}; give"
                " at least one press of a positive number of ms."
            )
        if not self.rests and not self.poke:
            raise InvalidValueError(
                f"{self.name} was given rests=False, poke=False; without a resting action,"
                " poke=True is required."
            )
        self.observe(cue=1, **({"thirst": 1} if self.thirst else {}))
        if self.rests:
            self.act(rest=1, press=1, **({"poke": 1} if self.poke else {}))
        else:
            self.act(do=("press", "poke"))
        self.declare_conditions()

    def declare_conditions(self) -> None:
        """Declare no conditions: only the time before the cue varies."""
        self.vary(thirst_level=1.0)

    @property
    def steps_of_a_press(self) -> int:
        """Steps of pressing that count as one press."""
        return max(round(self.press_ms / self.dt), 1)

    @property
    def needed(self) -> int:
        """Steps of pressing that are needed."""
        return self.presses * self.steps_of_a_press

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods(*(("idle", "lever") if self.cued else ("lever",)))
        trial.show("cue", 1, during="lever")
        if self.cued:
            trial.hold(during="idle", then="restart")
        if self.rests:
            trial.hold(during="lever", cost=0)  # `step_action` rewards and charges pressing
        last_step = trial.duration("lever") - self.dt
        trial.loss_weight(1, during="lever")
        group, right = ("press", 0) if self.rests else ("do", int(self.poke))
        trial.answer(
            group, right, during="lever", start=last_step, then="wait", slot="lever", correct=0
        )
        if self.thirst:
            trial.show("thirst", trial["thirst_level"], during=trial.layout.timeline.names)
        trial.max_reward(self.rewards["correct"] * trial["thirst_level"] - self._least_effort())

    def _least_effort(self) -> float:
        return self.effort * (self.needed * self.dt / 100 + self.poke) * self.thirst

    # ------------------------------------------------------------------ on every step

    def step_action(self, now: Any, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        action = action if self.rests else action + 1
        at_lever = now.in_period("lever")
        pressing = at_lever & (action == PRESS)
        held = now.trial_state["held"]
        now.trial_state["held"] = np.where(pressing, held + 1, 0.0)
        ended = at_lever & ((action == POKE) if self.poke else ~pressing & (held > 0))
        counted = held // self.steps_of_a_press == self.presses
        now.event(pressing & ((held + 1) % self.steps_of_a_press == 0), "press")
        now.event(~at_lever & (action == PRESS), "early press")
        now.event(at_lever & (action == POKE), "poke")
        done, wrong = ended & counted, ended & ~counted
        late = at_lever & ~ended & (self._left(now) < 1.5 * self.dt)
        outcome = np.select(
            [done, wrong, late], [Outcome.CORRECT, Outcome.ERROR, Outcome.MISS], Outcome.NONE
        )
        choice = np.where(late, -1, 0 if self.rests else action - 1)
        now.answer(ended | late, choice, outcome)
        return self._paid(now, action, done, late), np.where(ended, END, STAY)

    def _left(self, now: Any) -> np.ndarray:
        """Remaining time at the lever, ms."""
        return now.remaining

    def _paid(self, now: Any, action: np.ndarray, done: np.ndarray, late: np.ndarray) -> np.ndarray:
        rewards, share = self.rewards, self.dt / 100
        paid = done * rewards["correct"] * now.conditions["thirst_level"] + late * rewards["miss"]
        idle = ~now.in_period("lever")
        paid = paid + (idle & (action != REST)) * rewards["abort"] * share
        if self.thirst:
            paid = paid - ~idle * self.effort * ((action == PRESS) * share + (action == POKE))
        return paid

    def step_target(self, now: Any) -> np.ndarray:
        """Press until the count is complete, then release the lever, or poke if required."""
        enough = now.trial_state["held"] >= self.needed
        then = POKE if self.poke else REST
        wanted = np.where(now.in_period("lever"), np.where(enough, then, PRESS), REST)
        return wanted if self.rests else wanted - 1


class LeverPressWithPoke(LeverPress):
    """Press a lever exactly four times in a row, then poke for the reward.

    As `LeverPress`, after NeuroGym's task of this name and Mechner (1958),
    doi:10.1901/jeab.1958.1-109, without a single original. Here observations are uninformative: the
    cue is always on. A poke ends the trial: it is rewarded after exactly four presses, and an error
    after fewer or more. There is no resting action: the choices of `do` are to press (0) and to
    poke (1). The subject has to count its actions: of the subjects without memory, the best one
    pokes with a probability of 0.2 on every step, and is correct in 8 % of the trials. Nothing has
    to be seen: five actions in turn earn 1, and a clock does. Performance is the reward.

    Deviations from the paper: none; there is no single original. In NeuroGym's task a poke that
    comes too early only resets the count, and one that comes too late is rewarded, so that poking
    at random is enough. Presses and rewards are NeuroGym's.
    """

    poke: bool = True
    cued: bool = False
    rests: bool = False

    timing = {"idle": 0}
    rewards = {"abort": 0.0, "correct": 1.0}


class LeverPressWithPokeRest(LeverPressWithPoke):
    """Press a lever and poke, at a cost of effort, for water whose value depends on thirst.

    As `LeverPressWithPoke`, after NeuroGym's task of this name and Mechner (1958),
    doi:10.1901/jeab.1958.1-109, without a single original, but with a resting action: the reward is
    2 times the subject's thirst, pressing for 100 ms and poking cost 0.1 each, and the channel
    `thirst` shows the thirst. Resting between presses resets the count without ending the trial.

    A session begins with a thirst of 0.5, 0.75 or 1. From trial to trial it rises by 0, 0.25 or
    0.5, equally likely, and a drink lowers it by 0.25; it stays between 0.5 and 1. A subject that
    drinks in every trial is at each of the three levels in a third of the trials; one that never
    drinks ends at 1. Working always pays (by 0.5, 1 or 1.5): thirst changes the value of a drink,
    not the best action. Performance is the reward, effort included, relative to that of the best
    subject, and not below 0. Poking at random is correct in 8 % of the trials at most, and then
    costs more than it earns. Nothing has to be seen: five actions in turn, repeated in every trial,
    earn 1.

    Deviations from the paper: none; there is no single original. Rewards and effort are NeuroGym's;
    the dynamics of thirst are ours.
    """

    thirst: bool = True
    rests: bool = True

    rewards = {"correct": 2.0}
    reads_outcomes = True

    def declare_conditions(self) -> None:
        self.vary(thirst_level=Choice(LEVELS))

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.thirst = rng.choice(LEVELS, len(session))

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        previous = session.previous["outcome"]
        rise = rng.choice(RISES, len(session)) * (previous != Outcome.NONE)
        change = rise - DRINK * (previous == Outcome.CORRECT)
        session.thirst = np.clip(session.thirst + change, LEVELS[0], LEVELS[-1])
        return TaskView(self).impose({"thirst_level": session.thirst.copy()}, rng, len(session), {})
