"""12-AX task: an outer and an inner loop of context."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, Task, TrialBuilder
from neurogym_task_cognition.shares import check_shares

SYMBOLS = ("1", "2", "A", "B", "C", "X", "Y", "Z")
LONGEST = 4
AX, BY = 0, 4


class TwelveAX(Task):
    """After a 1, say yes to each X that follows an A; after a 2, to each Y that follows a B.

    Frank, Loughry & O'Reilly (2001), Cognitive, Affective, & Behavioral Neuroscience 1:137,
    doi:10.3758/CABN.1.2.137; O'Reilly & Frank (2006), Neural Computation 18:283,
    doi:10.1162/089976606775093909.

    A trial is an outer loop: a digit, 1 or 2, and one to four pairs of letters, of an A, B or C and
    an X, Y or Z, one symbol every 600 ms. At each second letter, until the next symbol, the subject
    says "yes" (choice 1) if the pair is the one that the digit asks for, AX after a 1 and BY after
    a 2, and "no" (choice 0) otherwise. So it has to remember the digit over the pairs, and the
    first letter within each. A pair is AX or BY with a probability of one half; otherwise it is any
    of the nine. Each pair has an answer slot, and performance is the share of slots that are
    correct.

    Of the pairs, 31 % are targets, and of all symbols 13 %. A subject that remembers earns 1.
    Guessing earns 0.5. Always saying "no" earns 0.69, and so does ignoring the digit, with "yes" to
    AX and to BY. Ignoring the first letter, with "yes" to every X after a 1 and every Y after a 2,
    earns 0.89, as in the paper, whose pairs are as likely: compare the kinds of pairs, since it is
    wrong at every CX after a 1. Ignoring the second letter earns as much.

    A subject that forgets the digit errs the more, the more pairs have gone by. The observer of the
    package, `neurogym_task_cognition.observers:BestLoop`, errs in none of them, and with
    ``forgets=0.2``, the probability of losing the digit with each pair, in 6, 11, 15 and 18 % of
    the first, second, third and fourth pairs. The sizes are ours.

    Deviations from the papers:

    - only second letters are answered (there, each symbol, almost always with the same key);
    - a trial begins with a digit, and trials are drawn independently;
    - durations are ours, and there is no time in the models.

    Args:
        p_target: probability that a pair is AX or BY, apart from those among the others.
        symbol_ms: how long each symbol is shown, ms.
        soa: ms from the onset of a symbol to that of the next one.
    """

    dt: float = 50
    p_target: float = 0.5
    symbol_ms: float = 300
    soa: float = 600

    timing = {"fixation": 300}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        check_shares(self, "p_target")
        self.observe(fixation=1, symbol=SYMBOLS)
        self.act(rest=1, choose=("no", "yes"))
        self.vary(digit=Choice(("1", "2")), pairs=Choice(range(1, LONGEST + 1)), pair=self._pair)

    def _pair(self, rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
        """(n, 4) AX is 0, AY 1, AZ 2, BX 3 … CZ 8."""
        shape = (len(prior["pairs"]), LONGEST)
        likely = rng.choice((AX, BY), shape)
        return np.where(rng.random(shape) < self.p_target, likely, rng.integers(0, 9, shape))

    def new_trial(self, trial: TrialBuilder) -> None:
        digit, pair, count = trial["digit"], trial["pair"], trial["pairs"]
        trial.periods("fixation", "stream", stream=self.soa * (1 + 2 * count))
        trial.show("fixation", 1, during="fixation")
        letters = np.stack([2 + pair // 3, 5 + pair % 3], axis=2).reshape(trial.n, -1)
        shown = np.repeat(np.arange(LONGEST) < count[:, None], 2, axis=1)
        symbols = np.column_stack([(digit == "2") * 1, np.where(shown, letters, -1)])
        items = trial.sequence(
            "symbol", symbols, during="stream", soa=self.soa, duration=self.symbol_ms
        )
        yes = (pair == np.where(digit == "1", AX, BY)[:, None]) * 1
        for k in range(LONGEST):
            trial.answer(
                "choose", yes[:, k], slot=f"pair {k + 1}", where=k < count, then="wait",
                **items.after(2 * k + 2, self.soa),
            )  # fmt: skip
