"""Stars from one of two sources, which changes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, Session, Task, TrialBuilder

SIDES = ("left", "right")


class ChangingEvidence(Task):
    """Report which of two sources the last of several stars came from.

    Glaze, Kable & Gold (2015), eLife 4:e08825, doi:10.7554/eLife.08825; its task of triangles.

    Stars appear one after the other. Each comes from one of two sources, to the left and to the
    right of the middle, around which its horizontal position is Gaussian; the two distributions
    overlap. Before each star but the first, the source changes with a probability, the hazard,
    which is the same in all trials of a session, and is not shown. When the fixation cue turns off,
    the subject reports the source of the last star. The number of stars is random, so that a report
    may be asked after each of them.

    Performance is the fraction of correct reports. The ideal observer learns the hazard from the
    stars: earlier ones count fully at a hazard of 0, not at all at 0.5, and for the other source
    above it. It earns 0.781: 0.82 at hazards of 0.1 and 0.9, 0.76 at 0.3
    and 0.7, and 0.75 at 0.5. The last star alone earns 0.748, close to the ideal, as in the paper,
    where nothing but the last star counts at a hazard of 0.5: look at choices by hazard as well as
    at performance. The sum of all stars earns 0.62, and always the same side 0.5.

    The conditions `source` and `star` hold the sources, 0 or 1, and the positions of as many stars
    as a trial may have, (n, stars), of which the first `number` are shown.

    Deviations from the paper:

    - a trial is a short stream of stars with one report (there, streams are long, with a report
      after each star), and the hazard is drawn for each session;
    - the hazards, the positions, their SD and the durations are not compared with the paper.

    Args:
        hazards: probabilities that the source changes before a star.
        sigma: SD of the positions of stars; their means are -1 and 1.
        fewest, most: bounds of the number of stars.
        star_ms: duration of each star, ms.
    """

    hazards: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9)
    sigma: float = 1.5
    fewest: int = 3
    most: int = 12
    star_ms: float = 300
    trials_per_session: int | None = 50

    timing = {"fixation": 500, "decision": 500}  # ms; that of the stimulus is the number of stars
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        possible = self.hazards and all(0 <= hazard <= 1 for hazard in self.hazards)
        if not possible or not 1 <= self.fewest <= self.most or not self.sigma > 0:
            raise InvalidValueError(
                f"ChangingEvidence was given hazards={self.hazards!r}, sigma={self.sigma:g},"
                f" fewest={self.fewest} and most={self.most}; give hazards from 0 to 1, an SD above"
                " 0, and 1 <= fewest <= most."
            )
        self.observe(fixation=1, star=1)
        self.act(fixate=1, choose=SIDES)
        numbers = range(self.fewest, self.most + 1)
        self.vary(
            hazard=Choice(self.hazards),
            number=Choice(tuple(numbers)),
            source=self._sources,
            star=lambda rng, prior: rng.normal(2 * prior["source"] - 1, self.sigma),
        )
        self.correct_choice(lambda drawn: _last(drawn, drawn["source"]))

    def _sources(self, rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
        """Draw the sources of the stars, (n, most)."""
        changes = rng.random((len(prior["hazard"]), self.most)) < prior["hazard"][:, None]
        changes[:, 0] = rng.random(len(changes)) < 0.5
        return changes.cumsum(axis=1) % 2

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.hazard = rng.choice(self.hazards, len(session))

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return self.draw_conditions(rng, len(session), {"hazard": session.hazard})

    def new_trial(self, trial: TrialBuilder) -> None:
        steps = max(round(self.star_ms / self.dt), 1)
        shown = trial["number"] * steps * self.dt
        trial.periods("fixation", "stimulus", "decision", stimulus=shown)
        trial.record("hazard")
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        stars = np.repeat(trial["star"], steps, axis=1)[:, :, None]
        trial.timecourse("star", stars, during="stimulus", cut=True)
        trial.answer("choose", trial.correct_choice, during="decision")


def _last(drawn: Mapping[str, np.ndarray], values: np.ndarray) -> np.ndarray:
    """Values of the last stars, (n,), of values of all, (n, most)."""
    return values[np.arange(len(values)), drawn["number"].astype(int) - 1]
