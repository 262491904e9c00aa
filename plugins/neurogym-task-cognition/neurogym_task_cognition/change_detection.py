"""Change detection: visual working memory for coloured squares."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, Task, TrialBuilder

COLOURS = ("red", "blue", "violet", "green", "yellow", "black", "white")
PLACES = 12


class ChangeDetection(Task):
    """Report whether one of several coloured squares has changed its colour.

    Luck & Vogel (1997), Nature 390:279, doi:10.1038/36846.

    The sample, one to twelve coloured squares at random places, is shown for 100 ms. After a delay
    of 900 ms a test display appears, with the same squares in half of the trials (choice 0), and
    with another colour of one of them in the others (choice 1). The subject has 2 s to answer.
    Numbers of squares (1, 2, 3, 4, 8 and 12) are equally likely. Colours are drawn independently
    from seven, before and after a change, so that the test alone says nothing about the answer.
    There are twelve places with seven units each.

    The units of the sample have independent noise on every step, with an SD that grows with the
    square root of the number of squares, as if they shared a resource; the test has none. The ideal
    observer weighs for every square and colour how likely this change is. It earns 0.864: 1.00,
    0.98, 0.94, 0.89, 0.73 and 0.63 at the six numbers of squares. A memory for exactly 3.5
    squares that never guesses "changed" would be right in 1.00, 1.00, 1.00, 0.94, 0.72 and 0.65 of
    the trials, close to people's capacity of 3 to 4. Guessing earns 0.5. The numbers of squares of
    each colour, without their places, earn 0.745, more than half of the way, as in the paper, where
    a change of colour changes them too.

    Without noise, performance is 1 whatever the number of squares. The fall with their number
    comes from the noise, which is ours, and chosen to have about the size of the fall in people.

    Deviations from the paper:

    - noise stands for the limits of memory, and there is no second task (people repeated digits);
    - twelve fixed places, and colours that may occur more than twice;
    - trials are drawn independently.

    Args:
        sizes: numbers of squares, of 1 to 12.
        sigma: SD of the noise of one square, times sqrt(ms); of n squares, times sqrt(n).
    """

    dt: float = 50
    sizes: tuple[int, ...] = (1, 2, 3, 4, 8, 12)
    sigma: float = 2.0

    timing = {"fixation": 500, "sample": 100, "delay": 900, "test": 2000}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if not self.sizes or not all(1 <= size <= PLACES for size in self.sizes):
            raise InvalidValueError(
                f"ChangeDetection was given sizes={self.sizes!r}; give 1 to 12."
            )
        squares = tuple(f"{colour} {place + 1}" for place in range(PLACES) for colour in COLOURS)
        self.observe(fixation=1, display=squares)
        self.act(rest=1, choose=("same", "changed"))
        self.vary(size=Choice(self.sizes), change=Choice(2), sample=_squares, test=_after)
        self.correct_choice("change")

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "sample", "delay", "test")
        trial.show("fixation", 1, during=("fixation", "sample", "delay"))
        blur = self.sigma * np.sqrt(trial["size"])
        trial.show("display", _units(trial["sample"]), during="sample", noise=blur)
        trial.show("display", _units(trial["test"]), during="test")
        trial.answer("choose", trial["change"], during="test")


def _squares(rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
    """Colours of the squares at all places, (n, places); -1 where there is none."""
    n = len(prior["size"])
    colours = rng.integers(0, len(COLOURS), (n, PLACES))
    order = rng.permuted(np.tile(np.arange(PLACES), (n, 1)), axis=1)
    return np.where(order < prior["size"][:, None], colours, -1)


def _after(rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
    """The same squares, (n, places); where there is a change, one of them has another colour."""
    test = prior["sample"].copy()
    place = np.where(test >= 0, rng.random(test.shape), -1).argmax(axis=1)
    rows = np.arange(len(test))
    shift = rng.integers(1, len(COLOURS), len(test)) * prior["change"]
    test[rows, place] = (test[rows, place] + shift) % len(COLOURS)
    return test


def _units(colours: np.ndarray) -> np.ndarray:
    """Activity of the units, (n, places x colours)."""
    return (colours[:, :, None] == np.arange(len(COLOURS))).reshape(len(colours), -1) * 1.0
