"""Serial reaction time task."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, InvalidValueError, Session, Task, TrialBuilder
from neurogym_task_cognition.price import priced_answer
from neurogym_task_cognition.sequences import second_order
from neurogym_task_cognition.shares import check_shares

LIGHTS = ("first", "second", "third", "fourth")
PROBE = 24  # trials without the sequence


class SerialReactionTime(Task):
    """Press the key below the light that is on, or that comes next in a hidden sequence, fast.

    Nissen & Bullemer (1987), Cognitive Psychology 19:1, doi:10.1016/0010-0285(87)90002-8; sequences
    of the second order: Reed & Johnson (1994), Journal of Experimental Psychology: Learning,
    Memory, and Cognition 20:585, doi:10.1037/0278-7393.20.3.585.

    A trial is one of four lights, on for 700 ms after an interval of 500 ms, and a session has 144
    of them. The lights follow a sequence of 12 that repeats, and is drawn for each session. Each
    light follows each other one once, so that the last light says nothing about the next one, and
    the last two say all. In 24 trials in a row, which begin between trial 48 and 96, any other
    light may come (block "random"). The keys may be pressed from the onset of the interval on; a
    press does not change the pace, and only the first one counts.

    Time has a price: the reward of the right press falls linearly from `correct` at the onset of
    the interval by the share `price` of it, until the light turns off. Performance is the reward
    relative to `correct`. A subject that waits for the light is always right, and earns 0.58, as
    people do who notice nothing. An observer that remembers which light follows which two, and
    anticipates it if its last expectation came true, earns 0.86; Bayes' rule over all sequences,
    which presses early as soon as this pays, 0.90. With the last light only, the first of them
    earns 0.55. Guessing earns 0.25.

    Reaction times in the record count from the onset of the interval, 500 ms before the light. The
    observer, `neurogym_task_cognition.observers:Anticipator`, is 349 ms slower in the random block
    than in the rest, a sign of its memory of the sequence; people are slower there, too. One that
    waits is equally fast in both. The sizes are ours, and not compared with people's.

    Deviations from the papers:

    - the pace is fixed (there, the next light came 500 ms after the press);
    - keys before the light are allowed, and time has a price;
    - sessions are shorter, and the random block comes within them (Nissen & Bullemer had a sequence
      of 10 lights, which other people did not have; it can be given, and its last two lights say
      the next one in nine cases of ten).

    Args:
        sequence: numbers of lights, 0 to 3, of the sequence of all sessions; (): drawn for each.
        price: share of the reward that is lost between the onset of the interval and the end.
    """

    dt: float = 50
    trials_per_session: int | None = 144
    sequence: tuple[int, ...] = ()
    price: float = 1.0

    timing = {"interval": 500, "light": 700}  # ms
    rewards = {"correct": 1.0, "error": 0.0}

    def define(self) -> None:
        check_shares(self, "price")
        if set(self.sequence) - set(range(4)):
            raise InvalidValueError(f"The sequence is {self.sequence!r}; give lights, 0 to 3.")
        self.observe(light=LIGHTS)
        self.act(rest=1, press=LIGHTS)
        self.vary(block=Choice(("sequence", "random"), p=(5 / 6, 1 / 6)), light=Choice(4))
        self.correct_choice("light")

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        n, orders = len(session), np.array([self.sequence] if self.sequence else second_order())
        order = rng.choice(orders, n)
        shift = rng.integers(0, order.shape[1], (n, 1))
        places = (np.arange(order.shape[1]) + shift) % order.shape[1]
        session.order = np.take_along_axis(order, places, axis=1)
        session.number, session.place, session.light = np.zeros((3, n), int)
        session.probe = rng.integers(PROBE * 2, PROBE * 4, n)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        n = len(session)
        random = (session.number >= session.probe) & (session.number < session.probe + PROBE)
        place = session.place % session.order.shape[1]
        other = (session.light + rng.integers(1, 4, n)) % 4
        light = np.where(random, other, session.order[np.arange(n), place])
        session.light, session.number = light, session.number + 1
        session.place = session.place + ~random
        block = np.where(random, "random", "sequence")
        return self.draw_conditions(rng, n, {"block": block, "light": light})

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("interval", "light")
        light, whole = trial["light"], ("interval", "light")
        trial.show("light", np.eye(4)[light], during="light")
        trial.record("block")
        pay = self.rewards["correct"]
        priced_answer(trial, "press", light, whole, pay, self.price, then="wait")
