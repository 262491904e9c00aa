"""Learning about three pairs of symbols, and a test."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, Session, Task, TrialBuilder
from neurogym_task_learning.symbols import SYMBOLS, UNITS, chance_of, index_of, schedule


class ProbabilisticSelection(Task):
    """Learn which symbol of three pairs is rewarded more often, then choose between all pairs.

    Frank, Seeberger & O'Reilly (2004), Science 306:1940, doi:10.1126/science.1102941.

    In training, one of three pairs of symbols is shown, on random sides: AB, in which A is rewarded
    with a probability of 0.8 and B in the other trials, CD (0.7) and EF (0.6). Blocks of 60 trials
    have each pair 20 times. Then a test shows all 15 pairs, four times each, without rewards. Which
    of the six units of a symbol is A to F is new in every session. Networks and agents need their
    last action and reward as inputs (the wrappers `pass_action` and `pass_reward`). The choice of
    the symbol that is rewarded more often is correct.

    The share of choices of A, and of avoiding B, in new pairs of the test shows whether a subject
    learned from rewards or from their absence: see `kind` in the record, "train" or "test".
    Counting the rewards of each symbol, the ideal, earns 0.93: in the first 20 trials of AB, CD and
    EF 0.93, 0.86 and 0.71. Guessing, always the same side and always the same symbol earn 0.5.

    Deviations from the paper:

    - a training of three blocks, whatever the subject does (there, up to six blocks, until choices
      of A, C and E reach 65, 60 and 50 %);
    - the number of presentations of a pair of the test counts as ours;
    - a channel shows that the test has begun (there, an instruction); a trial is one step.

    The test begins after the last block but one: ``trials_per_session=420`` has six blocks of
    training.
    """

    trials_per_session: int | None = 240

    timing = {"choice": 100}  # ms; one step, since every action is a choice
    supervised = False
    go_cue = "offer"

    def define(self) -> None:
        self.blocks = max((self.trials_per_session or 240) // 60 - 1, 1)
        self.observe(offer=1, test=1, left=UNITS, right=UNITS)
        self.act(choose=("left", "right"))
        self.vary(
            kind=Choice(("train", "test")),
            left=Choice(SYMBOLS),
            right=Choice(SYMBOLS),
            units=lambda rng, prior: rng.permuted(np.tile(np.arange(6), (prior.n, 1)), axis=1),
            luck=lambda rng, prior: rng.random(prior.n),
        )
        self.correct_choice(
            lambda known: (chance_of(known["right"]) > chance_of(known["left"])) * 1
        )

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        n = len(session)
        session.units = rng.permuted(np.tile(np.arange(6), (n, 1)), axis=1)
        session.shown = schedule(rng, n, self.blocks)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        n, number = len(session), session.trial % (60 * self.blocks + 60)
        left, right = np.take(SYMBOLS, session.shown[np.arange(n), number]).T
        kind = np.where(number < 60 * self.blocks, "train", "test")
        known = {"left": left, "right": right, "kind": kind, "units": session.units}
        return self.draw_conditions(rng, n, known)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("choice")
        trial.show("offer", 1, during="choice")
        trial.show("test", trial["kind"] == "test", during="choice")
        for side in ("left", "right"):
            unit = trial["units"][np.arange(trial.n), index_of(trial[side])]
            trial.show(side, unit[:, None] == np.arange(6), during="choice")
        better = np.maximum(chance_of(trial["left"]), chance_of(trial["right"]))
        lucky, trained = trial["luck"] < better, trial["kind"] == "train"
        trial.answer("choose", trial.correct_choice, "choice",
                     correct=1.0 * (lucky & trained), error=1.0 * (~lucky & trained))  # fmt: skip
