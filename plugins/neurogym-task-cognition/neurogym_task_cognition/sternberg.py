"""Sternberg's task: is a digit in the set?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, Task, TrialBuilder
from neurogym_task_cognition.price import priced_answer
from neurogym_task_cognition.shares import check_shares


class Sternberg(Task):
    """Report whether a digit was among those just shown, fast.

    Sternberg (1966), Science 153:652, doi:10.1126/science.153.3736.652; its varied sets.

    One to six different digits appear one after the other, 1.2 s each. After a delay of 2 s a probe
    appears, and the subject reports whether it was in the set (choice 1) or not (choice 0), as fast
    as it can. Half of the probes are in the set, each of its digits with equal probability; the
    others are any of the digits that were not shown. Sizes of the set are equally likely.

    Time has a price: the reward of the right answer falls linearly from `correct` at the onset of
    the probe by the share `price` of it, until the end of the window. Performance is the reward
    relative to `correct`. The ideal observer remembers the set, answers at once, and earns 1: no
    stimulus has noise. Guessing at once earns 0.5, and comparing the probe with the last digit only
    0.70.

    A perfect memory is as fast in large sets as in small ones. People take 397 ms and 38 ms per
    digit of the set, with the same slope for probes in the set and others. An observer of the
    package that compares the probe with one digit after the other, through to the last,
    `neurogym_task_cognition.observers:Scanner`, shows both slopes, 40 ms each; so the effect says
    how a subject searches its memory.

    Deviations from the paper:

    - the window ends after 2 s, and time has a price (people were paid for speed and accuracy);
    - no warning signal marks the probe, and nothing is recalled after the answer;
    - sets are drawn independently, not balanced.

    Args:
        sizes: numbers of digits, of 1 to 9.
        digit_ms: how long each digit is shown, ms.
        price: share of the reward that is lost between the onset and the end of the window.
    """

    dt: float = 40
    sizes: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    digit_ms: float = 1200
    price: float = 1.0

    timing = {"fixation": 500, "delay": 2000, "probe": 2000}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        check_shares(self, "price")
        if not self.sizes or not all(1 <= size <= 9 for size in self.sizes):
            raise InvalidValueError(
                f"Sternberg was given sizes={self.sizes!r}; give 1 to 9 digits."
            )
        names = tuple(f"digit {digit}" for digit in range(10))
        self.observe(fixation=1, digit=names, probe=names)
        self.act(rest=1, choose=("absent", "present"))
        self.vary(size=Choice(self.sizes), present=Choice(2), digits=_orders, probe=_probe)
        self.correct_choice("present")

    def new_trial(self, trial: TrialBuilder) -> None:
        size, count = trial["size"], max(self.sizes)
        trial.periods("fixation", "set", "delay", "probe", set=self.digit_ms * size)
        trial.show("fixation", 1, during=("fixation", "set", "delay"))
        for k in range(count):
            at = np.where(k < size, k, 0) * self.digit_ms
            one = np.eye(10)[trial["digits"][:, k]]
            stop = at + self.digit_ms
            trial.show("digit", one, during="set", start=at, stop=stop, where=k < size)
        trial.show("probe", np.eye(10)[trial["probe"]], during="probe")
        priced_answer(
            trial, "choose", trial["present"], "probe", self.rewards["correct"], self.price
        )


def _orders(rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
    """All digits in random orders, (n, 10); the first ones are the set."""
    return rng.permuted(np.tile(np.arange(10), (len(prior["size"]), 1)), axis=1)


def _probe(rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
    """A digit of the set, or another one, (n,)."""
    low = np.where(prior["present"], 0, prior["size"])
    high = np.where(prior["present"], prior["size"], 10)
    return prior["digits"][np.arange(len(low)), rng.integers(low, high)]
