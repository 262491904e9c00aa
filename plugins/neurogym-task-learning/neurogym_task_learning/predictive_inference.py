"""Prediction of numbers whose mean changes at random moments."""

from __future__ import annotations

import numpy as np

from neurogym_core import Axis, InvalidValueError, PowerLaw, Session, Task, TrialBuilder

LARGEST = 300.0


class PredictiveInference(Task):
    """Predict the next number, of a mean that is constant but for sudden changes.

    Nassar, Wilson, Heasly & Gold (2010), J. Neurosci. 30:12366, doi:10.1523/JNEUROSCI.0822-10.2010;
    as a helicopter that drops bags, McGuire, Nassar, Gold & Kable (2014), Neuron 84:870,
    doi:10.1016/j.neuron.2014.10.013.

    Numbers from 0 to 300 are Gaussian around a mean, and rounded. A new mean is drawn from 0 to 300
    with a probability of `hazard` per trial, but not in the first three trials after a change. The
    subject predicts the coming number, which is then shown. An error should change the prediction
    little in a long run, and nearly all of it after a change: the learning rate, the change of the
    prediction relative to the error, rises with the error. The actions are `go`, which gives the
    answer on the first step on which it is above 0, and `predict`. The reward falls linearly with
    the error, from 1 to 0 at an error of 60; so does performance.

    With an SD of 10, the ideal, Bayes' rule for this task, has a mean error of 16.1 and earns 0.80;
    the last number as a prediction has an error of 18.0 and earns 0.77, far above the best
    constant, 0.20. So it is in the paper, where learning rates, and not errors, tell subjects
    apart.

    Deviations from the paper:

    - the hazard, the SD and the rule of three trials differ between the studies, and count as ours;
    - points for errors, and all durations, are ours;
    - the last prediction is not shown (use the wrapper `pass_action`).

    Args:
        sd: SD of the numbers around their mean.
        hazard: probability of a change of the mean.
        quiet: trials after a change that have none.
    """

    sd: float = 10.0
    hazard: float = 0.1
    quiet: int = 3
    trials_per_session: int | None = 200

    timing = {"choice": 500, "outcome": 100}  # ms; an answer ends the choice
    supervised = False
    go_cue = "offer"

    def define(self) -> None:
        if not (self.sd > 0 and 0 <= self.hazard <= 1 and self.quiet >= 0):
            raise InvalidValueError(
                f"PredictiveInference was given sd={self.sd!r}, hazard={self.hazard!r} and"
                f" quiet={self.quiet!r}; give an SD above 0, a probability, and at least 0 trials."
            )
        self.observe(offer=1, number=1)
        self.act(go=Axis(-1, 1, rest=-1, trigger=0), predict=Axis(0, LARGEST))
        self.vary(
            mean=lambda rng, prior: rng.uniform(0, LARGEST, prior.n),
            scatter=lambda rng, prior: rng.standard_normal(prior.n),
        )

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.mean = rng.uniform(0, LARGEST, len(session))
        session.since = np.zeros(len(session), int)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        n = len(session)
        changes = (session.since > self.quiet) & (rng.random(n) < self.hazard)
        session.mean = np.where(changes, rng.uniform(0, LARGEST, n), session.mean)
        session.since = np.where(changes, 0, session.since) + 1
        session.record(since=session.since - 1)
        return self.draw_conditions(rng, n, {"mean": session.mean})

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("choice", "outcome")
        number = np.clip(np.rint(trial["mean"] + self.sd * trial["scatter"]), 0, LARGEST)
        trial.record(number=number)
        trial.show("offer", 1, during="choice")
        trial.show("number", number / LARGEST, during="outcome")
        trial.hold("outcome", cost=0)
        pays = PowerLaw(exponent=1, least=0)
        trial.answer("predict", number, "choice", tolerance=60, pays=pays, then="outcome")
