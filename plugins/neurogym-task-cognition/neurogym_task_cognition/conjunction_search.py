"""Visual search for a feature or a conjunction of features."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, Task, TrialBuilder
from neurogym_task_cognition.price import priced_answer
from neurogym_task_cognition.shares import check_shares

FEATURES = ("green", "brown", "blue", "T", "X", "S")
PLACES = 30
KINDS = ("conjunction", "feature")


class ConjunctionSearch(Task):
    """Report whether the target is among up to 30 coloured letters, fast.

    Treisman & Gelade (1980), Cognitive Psychology 12:97, doi:10.1016/0010-0285(80)90005-5.

    A display of 1, 5, 15 or 30 letters appears, at places of 30, half of them brown Ts and half
    green Xs. The subject reports whether there is a target (choice 1) or not (choice 0), as fast as
    it can; half of the displays have one. A cue says what to search for: in conjunction searches,
    three quarters of the trials, a green T; in feature searches any blue letter or any S. In a
    conjunction search with a target, another letter is a brown X, so that the numbers of colours
    and shapes are those of a display without; only displays of one letter have no room for it.

    Time has a price: the reward of the right answer falls linearly from `correct` at the onset of
    the display by the share `price` of it, until the end of the window. Performance is the reward
    relative to `correct`. An ideal observer sees all letters at once, answers at once, and earns 1:
    there is no noise. Guessing earns 0.5, and the numbers of colours and shapes alone earn 0.72.

    Such an observer is as fast in large displays as in small ones. People take 29 ms more per
    letter to find a conjunction, and 67 ms to find that there is none, and hardly any more to find
    a feature. An observer of the package that looks at one letter after the other until it finds
    the target, `neurogym_task_cognition.observers:Searcher`, takes 31, 60 and 0 ms. If it always
    looks at all letters, it takes 60, 60 and 0 ms. So the effect says how a subject searches; to
    force a network to do so, it has to be limited.

    `visual/VisualSearch-v0` is another search, by gaze and for a remembered line among four.

    Deviations from the paper:

    - the brown X (there, a display with a target has one green and one T too many);
    - searches are mixed and cued (there, in blocks);
    - thirty fixed places, and the window ends after 3 s.

    Args:
        sizes: numbers of letters, of 1 to 30.
        p_feature: proportion of feature searches.
        price: share of the reward that is lost between the onset and the end of the window.
    """

    dt: float = 20
    sizes: tuple[int, ...] = (1, 5, 15, 30)
    p_feature: float = 0.25
    price: float = 1.0

    timing = {"fixation": 500, "display": 3000}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        check_shares(self, "p_feature", "price")
        if not self.sizes or not all(1 <= size <= PLACES for size in self.sizes):
            raise InvalidValueError(f"The sizes are {self.sizes!r}; give numbers, 1 to {PLACES}.")
        names = tuple(f"{name} {place + 1}" for place in range(PLACES) for name in FEATURES)
        self.observe(fixation=1, search=KINDS, display=names)
        self.act(rest=1, choose=("absent", "present"))
        search = Choice(KINDS, p=(1 - self.p_feature, self.p_feature))
        self.vary(search=search, size=Choice(self.sizes), present=Choice(2), letters=_letters)
        self.correct_choice("present")

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "display")
        trial.show("fixation", 1, during="fixation")
        trial.record("size")
        trial.show("search", trial["search"][:, None] == KINDS, during=("fixation", "display"))
        colour, shape = np.divmod(trial["letters"], 3)
        units = np.concatenate([np.eye(3)[colour], np.eye(3)[shape]], axis=2)
        units = (units * (colour >= 0)[:, :, None]).reshape(trial.n, -1)
        trial.show("display", units, during="display")
        pay = self.rewards["correct"]
        priced_answer(trial, "choose", trial["present"], "display", pay, self.price)


def _letters(rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
    """Three times the colour plus the shape of the letter at each place, (n, places), or -1."""
    n, size, present = len(prior["size"]), prior["size"][:, None], prior["present"][:, None] == 1
    rank = rng.permuted(np.tile(np.arange(PLACES), (n, 1)), axis=1)
    colour = (rank + rng.integers(0, 2, (n, 1))) % 2  # green Xs and brown Ts
    feature, by_colour = prior["search"][:, None] == "feature", rng.random((n, 1)) < 0.5
    odd, target = (present & (rank == 0) & kind for kind in (feature, ~feature))
    swapped = present & (rank == 1) & ~feature  # keeps the numbers of colours and shapes
    shape = np.select([odd & ~by_colour, target, swapped], [2, 0, 1], 1 - colour)
    colour = np.select([odd & by_colour, target, swapped], [2, 0, 1], colour)
    return np.where(rank < size, 3 * colour + shape, -1)
