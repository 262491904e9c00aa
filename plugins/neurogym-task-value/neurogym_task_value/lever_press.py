"""Pressing a lever often enough: the family of lever-press tasks."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import END, STAY, Choice, Outcome, Session, Task, TrialBuilder
from neurogym_core.errors import InvalidValueError
from neurogym_core.tasks.drawing import impose_on

REST, PRESS, POKE = 0, 1, 2

IDLE = Choice(tuple(range(100, 1100, 100)), p=[0.5**k for k in range(1, 11)])
"""ms without a cue: on every step of 100 ms, the cue comes with a probability of one half (cut off
after 1 s).
"""

LEVELS = (0.5, 0.75, 1.0)
"""How thirsty one can be."""


class LeverPress(Task):
    """Press a lever four times in a row when a cue is on, and leave it alone when it is off.

    A task of NeuroGym's, after operant conditioning with a fixed ratio (Ferster & Skinner 1957,
    doi:10.1037/10627-000); there is no single original.

    After an unpredictable time a cue comes on. Now the lever has to be pressed: 100 ms of pressing
    count as one press, four in a row without letting go are paid and end the trial. Who lets go
    begins anew. Pressing while the cue is off costs `abort` per 100 ms and lets the time without a
    cue begin again. A trial in which the lever is not pressed for long enough within 5 s is a miss.

    Whether the lever has been pressed long enough is not seen: the subject has to count.

    Deviations from the paper: there is none to deviate from; presses, rewards and the cue's
    probability are NeuroGym's. Ours are that time begins again, without which pressing all the time
    would pay, and the limit of 5 s, of 15 s with all that begins again (there, a trial may last for
    ever).

    Args:
        presses: that are needed, in a row.
        press_ms: of holding the lever down that count as one press.
        poke: whether a poke must follow the presses; poking too early lets the lever go.
        thirst: whether rewards are worth as much as the subject is thirsty, and presses cost an
            effort.
        effort: what 100 ms of pressing and each poke cost, with `thirst`.
        cued: whether there is a time without a cue before.
        rests: whether there is an action of resting; without it, the choices of `do` are to press
            (0) and to poke (1).
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
                f"{self.name} was given presses={self.presses!r}, press_ms={self.press_ms!r}; it"
                " needs at least one press of a positive number of ms."
            )
        if not self.rests and not self.poke:
            raise InvalidValueError(
                f"{self.name} was given rests=False, poke=False; it needs something to do but"
                " pressing."
            )
        self.observe(cue=1, **({"thirst": 1} if self.thirst else {}))
        if self.rests:
            self.act(rest=1, press=1, **({"poke": 1} if self.poke else {}))
        else:
            self.act(do=2)
        self.declare_conditions()

    def declare_conditions(self) -> None:
        """Nothing varies but the time before the cue."""
        self.vary(thirst_level=1.0)

    @property
    def needed(self) -> float:
        """Steps of pressing that are needed."""
        return self.presses * max(round(self.press_ms / self.dt), 1)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods(*(("idle", "lever") if self.cued else ("lever",)))
        trial.show("cue", 1, during="lever")
        if self.cued:
            trial.hold(during="idle", then="restart")
        if self.rests:
            trial.hold(during="lever", cost=0)  # pressing is free; `step_action` pays for it
        last_step = trial.duration("lever") - self.dt
        trial.loss_weight(1, during="lever")
        group, right = ("press", 0) if self.rests else ("do", int(self.poke))
        trial.answer(
            group, right, during="lever", start=last_step, then="wait", slot="lever", correct=0
        )
        if self.thirst:
            trial.show("thirst", trial.thirst_level, during=trial.layout.timeline.names)
        trial.max_reward(self.rewards["correct"] * trial.thirst_level - self._least_effort())

    def _least_effort(self) -> float:
        return self.effort * (self.needed * self.dt / 100 + self.poke) * self.thirst

    # ------------------------------------------------------------------ on every step

    def step_action(
        self, now: Any, action: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        action = action if self.rests else action + 1
        at_lever = now.in_period("lever")
        pressing = at_lever & (action == PRESS)
        before = now.trial_state["held"]
        now.trial_state["held"] = np.where(pressing, before + 1, 0.0)
        if self.poke:
            done = at_lever & (action == POKE) & (before >= self.needed)
        else:
            done = now.trial_state["held"] >= self.needed
        late = at_lever & ~done & (self._left(now) < 1.5 * self.dt)
        outcome = np.select([done, late], [Outcome.CORRECT, Outcome.MISS], Outcome.NONE)
        return self._paid(now, action, done, late), np.where(done, END, STAY), outcome

    def _left(self, now: Any) -> np.ndarray:
        """Time that is left at the lever, ms."""
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
        """Press until it is enough, then poke where that is asked for."""
        enough = self.poke & (now.trial_state["held"] >= self.needed)
        wanted = np.where(now.in_period("lever"), np.where(enough, POKE, PRESS), REST)
        return wanted if self.rests else wanted - 1


class LeverPressWithPoke(LeverPress):
    """Press a lever four times in a row, then poke for the reward.

    As `LeverPress`, a task of NeuroGym's without a single original, but nothing tells anything: the
    cue is always on, the four presses must be followed by a poke, which is paid, and poking too
    early means to begin anew. There is no action of resting: the choices of `do` are to press (0)
    and to poke (1). The subject has to keep count of what it did.

    Deviations from the paper: there is none to deviate from; presses and rewards are NeuroGym's.
    """

    poke: bool = True
    cued: bool = False
    rests: bool = False

    timing = {"idle": 0}
    rewards = {"abort": 0.0, "correct": 1.0}


class LeverPressWithPokeRest(LeverPressWithPoke):
    """Press a lever and poke, at the price of an effort, for water that is worth as much as one is
    thirsty.

    As `LeverPressWithPoke`, a task of NeuroGym's without a single original, but there is an action
    of resting, the reward is 2 times the subject's thirst, pressing for 100 ms and poking cost 0.1
    each, and the channel `thirst` shows the thirst. A session begins with a thirst of 0.5, 0.75 or
    1; a drink takes half of it, every trial without one adds 0.25; it stays between 0.5 and 1, so
    that it is always worth working.

    Deviations from the paper: there is none to deviate from; rewards and effort are NeuroGym's, how
    thirst comes and goes is ours."""

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
        drank, dry = (
            previous == Outcome.CORRECT,
            (previous != Outcome.CORRECT) & (previous != Outcome.NONE),
        )
        session.thirst = np.clip(
            session.thirst - 0.5 * session.thirst * drank + 0.25 * dry, LEVELS[0], LEVELS[-1]
        )
        return impose_on(self, {"thirst_level": session.thirst.copy()}, rng, len(session), {})
