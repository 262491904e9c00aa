"""Stroop task: name the ink, or read the word."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, Task, TrialBuilder
from neurogym_task_cognition.price import priced_answer
from neurogym_task_cognition.shares import check_shares

COLOURS = ("red", "green")
TASKS = ("name", "read")


class Stroop(Task):
    """Name the colour in which a word is written, or read the word, fast.

    Stroop (1935), Journal of Experimental Psychology 18:643, doi:10.1037/h0054651; two colours, and
    units for ink, word and task: Cohen, Dunbar & McClelland (1990), Psychological Review 97:332,
    doi:10.1037/0033-295X.97.3.332.

    During fixation a cue says, and goes on to say, whether to name the ink or to read the word.
    Then a word for a colour appears in ink of a colour. The two colours are the same (congruent),
    or different (incongruent), or the feature that is not asked is absent (neutral, by default in
    no trial). The first two are equally likely, so that the irrelevant feature says nothing about
    the answer. Choice 0 is red, choice 1 green. Ink and word have independent noise on every step.

    Time has a price: the reward of the right answer falls linearly from `correct` at the onset of
    the word by the share `price` of it, until the end of the window. Performance is the reward
    relative to `correct`. Guessing at once earns 0.5. The ideal observer, which sums the evidence
    of the feature that is asked and answers when waiting no longer pays, earns 0.862: it is correct
    in 94.7 % of the trials, after 174 ms on average. Answering after 100 ms always earns 0.77. The
    same observer without the cue earns 0.66 with the ink, and 0.68, half of the way, with the sum
    of ink and word: half of the trials are congruent (without a price of time, ink or word alone is
    right in 0.75 of them). Mixed tasks with two answers always have this shortcut; neutral trials
    improve it. The feature that is not asked earns 0.45.

    A subject that selects the feature perfectly shows no effect of the other one. People name
    colours more slowly if the word is incongruent, and read words of any ink equally fast. With
    `leak`, a share of the word is added to the units of the ink, as by an automatic pathway: with
    ``leak=0.4`` the same observer, which does not know of the leak, names incongruent inks 82 ms
    more slowly than congruent ones, and reads incongruent words only 4 ms more slowly. A network
    can acquire the asymmetry by practice: Cohen et al. trained words more often than colours, which
    `p_read` does. The size of the effects is ours, and not compared with people's.

    Deviations from the papers:

    - tasks are mixed and cued within a session (Stroop had one list per task and condition);
    - durations, noise, price and the proportion of neutral trials are ours.

    Args:
        p_read: proportion of trials in which the word is to be read.
        p_neutral: proportion of trials without the irrelevant feature.
        leak: share of the word that is added to the units of the ink.
        sigma: SD of the noise of ink and word, times sqrt(ms).
        price: share of the reward that is lost between the onset and the end of the window.
    """

    dt: float = 20
    p_read: float = 0.5
    p_neutral: float = 0.0
    leak: float = 0.0
    sigma: float = 8.0
    price: float = 1.0

    timing = {"fixation": 500, "stimulus": 1500}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        check_shares(self, "p_read", "p_neutral", "price")
        self.observe(fixation=1, cue=TASKS, ink=COLOURS, word=COLOURS)
        self.act(rest=1, choose=COLOURS)
        either = (1 - self.p_neutral) / 2
        kinds = ("congruent", "incongruent", "neutral")
        self.vary(
            rule=Choice(TASKS, p=(1 - self.p_read, self.p_read)),
            colour=Choice(2),
            congruency=Choice(kinds, p=(either, either, self.p_neutral)),
        )
        self.correct_choice("colour")

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "stimulus")
        trial.show("fixation", 1, during="fixation")
        rule = trial["rule"][:, None] == np.array(TASKS)
        trial.show("cue", rule, during=("fixation", "stimulus"))
        read = rule[:, 1:]
        asked, other = np.eye(2)[trial["colour"]], _other(trial.conditions)
        word = np.where(read, asked, other)
        ink = np.where(read, other, asked) + self.leak * word
        trial.show("ink", ink, during="stimulus", noise=self.sigma)
        trial.show("word", word, during="stimulus", noise=self.sigma)
        trial.record("congruency")
        priced_answer(
            trial, "choose", trial["colour"], "stimulus", self.rewards["correct"], self.price
        )


def _other(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """The feature that is not asked, (n, 2): zeros where it is absent."""
    kind = conditions["congruency"]
    colour = np.where(kind == "incongruent", 1 - conditions["colour"], conditions["colour"])
    return np.eye(2)[colour] * (kind != "neutral")[:, None]
