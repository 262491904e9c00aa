"""Card sorting under a hidden rule, which changes after a run of correct sorts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, OneHot, Session, Task, TrialBuilder

FEATURES = {
    "colour": ("red", "green", "yellow", "blue"),
    "form": ("triangle", "star", "cross", "circle"),
    "number": ("one", "two", "three", "four"),
}
RULES = tuple(FEATURES)
KEY_CARDS = ("red triangle", "green star", "yellow cross", "blue circle")


class FixedCardSorting(Task):
    """Sort cards by colour, form or number, in this order; ten correct sorts change the rule.

    The Wisconsin card sorting test: Grant & Berg (1948), Journal of Experimental Psychology 38:404,
    doi:10.1037/h0059831; criterion, order of the rules and length: Milner (1963), Archives of
    Neurology 9:90, doi:10.1001/archneur.1963.00460070100010.

    Four key cards differ in colour, form and number of symbols: one red triangle, two green stars,
    three yellow crosses and four blue circles. In every trial the subject puts a card from a deck
    below one of them, choice 0 to 3 in this order. The conditions `colour`, `form` and `number` are
    the key cards that share these features with the card. Feedback says only whether the sort was
    right. The first rule is colour; after `criterion` correct sorts in a row it becomes form, then
    number, then colour again, without notice. The deck has all 64 combinations, and is dealt twice
    in a session.

    Key cards do not change and have no channel. The channel `feedback` has two units, wrong and
    right, and shows one of them after the sort. A trial without a sort is a miss, counts as wrong,
    and ends the run of correct sorts. Performance is the fraction of correct sorts; guessing, or
    always the same key card, earns 0.25. The order of the rules is always the same, so that a
    subject that knows it and counts to ten earns 1 without the feedback. To train networks or
    agents, which find the count, use version 1 of CardSorting, whose rules cannot be foreseen.

    Deviations from the paper: those of version 1, but for the random rules and moments.

    Args:
        criterion: number of consecutive correct sorts after which the rule changes.
    """

    trials_per_session: int | None = 128
    criterion: int = 10

    timing = {"iti": 500, "sort": 2000, "wrong": 500, "right": 500}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    reads_outcomes = True

    def define(self) -> None:
        if self.criterion < 1:
            raise InvalidValueError(
                f"{self.name} was given criterion={self.criterion}; give at least 1 correct sort."
            )
        features = {name: OneHot(values) for name, values in FEATURES.items()}
        self.observe(**features, feedback=OneHot(("wrong", "right")))
        self.act(rest=1, sort=KEY_CARDS)
        self.vary(rule=Choice(RULES), **dict.fromkeys(RULES, Choice(4)))
        self.correct_choice(_key_card)

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.rule = self._first_rule(len(session), rng)
        session.run = np.zeros(len(session), int)
        session.deck = rng.permuted(np.tile(np.arange(64), (len(session), 1)), axis=1)

    def _first_rule(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Rules of the first trials of n sessions, (n,)."""
        return np.zeros(n, int)

    def _shifts(self, reached: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """By how many rules sessions move on, given those at the criterion, (n,)."""
        return reached * 1

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        session.run = np.where(session.previous["performance"] == 1, session.run + 1, 0)
        shifts = self._shifts(session.run >= self.criterion, rng)
        session.rule = (session.rule + shifts) % len(RULES)
        session.run[shifts > 0] = 0
        card = session.deck[np.arange(len(session)), session.trial % 64]
        features = dict(zip(RULES, np.unravel_index(card, (4, 4, 4)), strict=True))
        rule = {"rule": np.take(RULES, session.rule)}
        return self.draw_conditions(rng, len(session), rule | features)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("iti", "sort", "wrong", "right", then={"wrong": "end"})
        for feature in RULES:
            card = self.channels.encoder(feature).encode(trial.conditions[feature])
            trial.show(feature, card, during=("sort", "wrong", "right"))
        trial.show("feedback", (1, 0), during="wrong")
        trial.show("feedback", (0, 1), during="right")
        after = {"correct": "right", "error": "wrong"}
        trial.answer("sort", trial.correct_choice, during="sort", then=after)


class CardSorting(FixedCardSorting):
    """Sort cards by colour, form or number; after correct sorts the rule changes at some moment.

    After the Wisconsin card sorting test: Grant & Berg (1948), Journal of Experimental Psychology
    38:404, doi:10.1037/h0059831; criterion and length: Milner (1963), Archives of Neurology 9:90,
    doi:10.1001/archneur.1963.00460070100010.

    Four key cards differ in colour, form and number of symbols: one red triangle, two green stars,
    three yellow crosses and four blue circles. In every trial the subject puts a card from a deck
    below one of them, choice 0 to 3 in this order. The conditions `colour`, `form` and `number` are
    the key cards that share these features with the card. Feedback says only whether the sort was
    right. The first rule is drawn for every session. After a correct sort that meets the criterion,
    the rule becomes one of the other two, without notice, with a probability of `hazard`: the tenth
    correct sort in a row, and every further one of that row. The deck has all 64 combinations, and
    is dealt twice in a session.

    Key cards do not change and have no channel. The channel `feedback` has two units, wrong and
    right, and shows one of them after the sort. A trial without a sort is a miss, counts as wrong,
    and ends the run of correct sorts. Performance is the fraction of correct sorts; guessing, or
    always the same key card, earns 0.25. A subject that ignores the feedback, and sorts by each
    feature in turn, earns at most 0.55, with 14 cards per feature. An observer that follows Bayes'
    rule and knows the probabilities earns 0.93.

    The fixed order of the test, with changes at the criterion itself, is version 0 of CardSorting.

    Deviations from the paper:

    - first rule, order and moment of the change are random (there, colour, form, number, colour,
      form, number, each after ten correct sorts);
    - the deck is shuffled for every session, and dealt in the same order both times (there, the
      cards are numbered from 1 to 64, in an order that is the same for all);
    - a session always has 128 trials; the test ends after six rules at criterion;
    - durations are ours: the test is self-paced.

    Args:
        hazard: probability of a change after a sort that meets the criterion.
        criterion: number of consecutive correct sorts that allow for a change.
    """

    hazard: float = 0.1

    def define(self) -> None:
        if not 0 <= self.hazard <= 1:
            raise InvalidValueError(
                f"CardSorting was given hazard={self.hazard!r}; give a probability, 0 to 1."
            )
        super().define()

    def _first_rule(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.integers(0, len(RULES), n)

    def _shifts(self, reached: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        changes = reached & (rng.random(len(reached)) < self.hazard)
        return changes * rng.integers(1, len(RULES), len(reached))


def _key_card(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """Index of the key card that shares the relevant feature with the card, (n,)."""
    masks = [conditions["rule"] == rule for rule in RULES]
    return np.select(masks, [conditions[rule] for rule in RULES])
