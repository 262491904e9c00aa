"""Restless bandit."""

from __future__ import annotations

from string import ascii_uppercase

import numpy as np

from neurogym_core import Encoder, InvalidValueError, Session, Task, TrialBuilder
from neurogym_task_value.bandit import advantage
from neurogym_task_value.walks import decaying_walk


class DriftingBandit(Task):
    """Choose between slot machines whose mean payoffs drift, so that exploration remains useful.

    Daw, O'Doherty, Dayan, Seymour & Dolan (2006), Nature 441:876, doi:10.1038/nature04766.

    On every trial the subject chooses one of four arms and receives points: a Gaussian (SD 4)
    around the arm's mean, rounded to a whole number from 1 to 100. From trial to trial every mean
    follows a Gaussian random walk that decays to 50: mean' = decay * mean + (1 - decay) * centre +
    drift * z, independently of the subject's choices. The condition `mean` holds the means,
    `scatter` the deviation of each arm's payoff from its mean (in SD), and the record `points` the
    payoffs of all arms. Rewards are points / 100. Performance is the mean of the chosen arm
    relative to that of the best. Guessing, and always the same arm, earns 0.76, a Kalman filter
    that knows the walk, and favours the arms that it knows less, 0.96.

    Deviations from the paper: a trial is one step (there, up to 1.5 s for the choice, 3 s until the
    points are shown); one session of 300 trials (there, two halves with a break); the means of the
    first trial are drawn from the walk's stationary distribution (there, three fixed walks were
    used).

    Args:
        arms: number of arms, A, B and so on.
        decay: fraction of a mean's distance from `centre` that remains after a trial, 0 to 1.
        centre: value to which means decay, points.
        drift: SD of the walk's steps, points.
        scatter_sd: SD of payoffs around their mean, points.
    """

    arms: int = 4
    decay: float = 0.9836
    centre: float = 50.0
    drift: float = 2.8
    scatter_sd: float = 4.0
    trials_per_session: int | None = 300

    timing = {"choice": 100}  # ms; one step, since every action is a choice
    supervised = False
    go_cue = "offer"

    def define(self) -> None:
        if not 0 <= self.decay < 1:
            raise InvalidValueError(
                f"DriftingBandit was given decay={self.decay!r}; give a number from 0 to below 1."
            )
        self.observe(offer=1)
        self.act(arm=Encoder(self.arms).named(ascii_uppercase[: self.arms]))
        self.vary(
            mean=lambda rng, prior: self._first_means(rng, prior.n),
            scatter=lambda rng, prior: rng.standard_normal((prior.n, self.arms)),
        )
        self.evidence(lambda known: advantage(np.clip(known["mean"], 1, 100)))

    def _first_means(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draw means from the walk's stationary distribution, (n, arms)."""
        spread = self.drift / np.sqrt(1 - self.decay**2)
        return self.centre + spread * rng.standard_normal((n, self.arms))

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.mean = self._first_means(rng, len(session))

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {name: values[0] for name, values in self.draw_ahead(session, rng, 1).items()}

    def draw_ahead(
        self, session: Session, rng: np.random.Generator, trials: int
    ) -> dict[str, np.ndarray]:
        shape = (trials, len(session), self.arms)
        coming = decaying_walk(
            session.mean, self.drift * rng.standard_normal(shape), self.decay, self.centre
        )
        means = np.concatenate([session.mean[None], coming[:-1]])
        session.mean = coming[-1]
        return {"mean": means, "scatter": rng.standard_normal(shape)}

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("choice")
        trial.show("offer", 1, during="choice")
        points = np.clip(np.rint(trial["mean"] + self.scatter_sd * trial["scatter"]), 1, 100)
        trial.record(points=points)
        trial.offer(
            "arm", points / 100, worth=np.clip(trial["mean"], 1, 100) / 100, during="choice"
        )
