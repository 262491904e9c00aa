"""Sure and risky rewards of equal means."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, InvalidValueError, Session, Task, TrialBuilder

STIMULI = ("sure 0", "sure 20", "sure 20 too", "sure 40", "risky")
MEANS = np.array((0, 20, 20, 40, 20))  # points; risky: 0 or 40, with equal chances
UNITS = tuple(f"symbol {k + 1}" for k in range(5))


class RiskyBandit(Task):
    """Learn the pay of five symbols: four of them pay a sure amount, and one pays all or nothing.

    Niv, Edlund, Dayan & O'Doherty (2012), J. Neurosci. 32:551, doi:10.1523/JNEUROSCI.5498-10.2012.

    Symbols pay 0, 20 (two of them) or 40 points for sure, or, the risky one, 0 or 40 with equal
    chances. Two different symbols are on the left and the right in random order; in a third of the
    trials, only one symbol is shown and has to be chosen: the other side pays 0. Which of them pays
    which amount is new in every session, so that only rewards show it: networks and agents need
    their last action and reward as inputs (the wrappers `pass_action` and `pass_reward`).

    Rewards are points / 40. Performance is the share of choices with the larger mean; of equal
    means, both are right. The ideal, which follows Bayes' rule over the orders of the five symbols,
    earns 0.995, and guessing 0.60. The risky symbol and those of 20 points have one mean, so that
    performance does not depend on risk: see the choices between them. A subject that learns more
    from losses than from gains relative to its expectation avoids the risky symbol; so does, a
    little, any subject that learns by trial and error alone, because it meets bad luck less often
    again. The conditions `left` and `right` have the stimuli, "none" for none.

    Deviations from the paper: pairs are drawn with equal probabilities; that all pairs occur, the
    share of trials with one symbol and the 234 trials of a session were not compared with the
    paper; a trial is one step.

    Args:
        forced: share of trials with one symbol.
    """

    forced: float = 1 / 3
    trials_per_session: int | None = 234
    timing = {"choice": 100}  # ms; one step, since every action is a choice
    supervised = False
    go_cue = "offer"

    def define(self) -> None:
        if not 0 <= self.forced <= 1:
            raise InvalidValueError(f"RiskyBandit was given forced={self.forced!r}; give 0 to 1.")
        self.observe(offer=1, left=UNITS, right=UNITS)
        self.act(choose=("left", "right"))
        sides = Choice((*STIMULI, "none"))
        self.vary(
            order=lambda rng, prior: rng.permuted(np.tile(np.arange(5), (prior.n, 1)), axis=1),
            left=sides,
            right=sides,
            wins=Choice((False, True)),
        )

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.order = rng.permuted(np.tile(np.arange(5), (len(session), 1)), axis=1)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        n = len(session)
        pair = rng.permuted(np.tile(np.arange(5), (n, 1)), axis=1)[:, :2]
        alone = (rng.random(n) < self.forced)[:, None]
        pair = np.where(alone & (rng.integers(2, size=(n, 1)) == (0, 1)), 5, pair)
        left, right = np.array((*STIMULI, "none"))[pair].T
        known = {"order": session.order, "left": left, "right": right}
        return self.draw_conditions(rng, n, known)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("choice")
        trial.show("offer", 1, during="choice")
        paid, worth = np.zeros((trial.n, 2)), np.full((trial.n, 2), -1.0)
        for column, side in enumerate(("left", "right")):
            known = trial[side][:, None] == STIMULI  # (n, 5)
            shown = np.zeros((trial.n, 5))
            np.put_along_axis(shown, trial["order"], known, axis=1)
            trial.show(side, shown, during="choice")
            here = known.any(axis=1)
            worth[:, column] = np.where(here, known @ MEANS, -1)
            risky = (trial[side] == "risky") * np.where(trial["wins"], 20, -20)
            paid[:, column] = np.where(here, known @ MEANS + risky, 0) / 40
        best = worth == worth.max(axis=1, keepdims=True)
        trial.offer("choose", paid, "choice", worth=best)
