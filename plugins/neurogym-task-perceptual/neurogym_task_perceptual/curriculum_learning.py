"""The delayed-response task with a training curriculum."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, Outcome, Session, Task, TrialBuilder
from neurogym_core.players import TaskView

SIDES = ("left", "right")

STAGES = ("choose", "see", "mind_errors", "remember", "all")
"""Component that each stage adds: choices; an easy stimulus; cost of errors; delay; coherences."""

CHOOSE, SEE, MIND_ERRORS, REMEMBER, ALL = range(len(STAGES))

WINDOW = 20
"""Number of trials after which the delay is lengthened or shortened."""
LONGER = 0.25
"""Size of that change as a fraction of the full delay."""
REPEATS = 3
"""Consecutive choices of one side after which the first stage rewards only the other side."""


class CVLearning(Task):
    """Learn the delayed-response task in five stages, as animals are trained.

    The last stage is the task of Inagaki, Fontolan, Romani & Svoboda (2019), Nature 566:212,
    doi:10.1038/s41586-019-0919-7 (see `PerceptualDecisionMakingDelayResponse`): judge which of two
    noisy stimuli is stronger, left or right, and report it after a delay. The stages (condition
    `stage`, 0 to 4):

    0. nothing is shown; both sides are rewarded, but after three consecutive choices of one side
       only the other one: a subject that alternates is always correct (after its trials any answer
       is correct), and one that always takes the same side only in its first three trials;
    1. the easiest stimulus is shown, without a delay, and after an error the same side is repeated
       until it is chosen;
    2. as 1, but errors cost `error`, and the same side is not repeated;
    3. a delay of 1 or 3 s is introduced, starting at 0: after every 20 trials all delays are
       lengthened by a quarter of these if the fraction of correct trials was at least 0.7, and
       shortened by the same amount otherwise;
    4. all coherences, full delays.

    After a day of 300 trials the next stage begins if the fraction of correct trials of the day was
    at least 0.7 (in stage 3, only if the delays have also reached their full length). Stage and
    delays belong to the subject and persist over sessions, until a reset with a seed. In the
    record, `delay_share` is the fraction of the full delay and `again` is true if the same side was
    repeated.

    Deviations from the paper:

    - the stages, the day and the thresholds are NeuroGym's (there, mice were trained by hand in
      comparable steps);
    - in stage 1 the side is repeated on the next trial (in NeuroGym, the subject may correct itself
      within the trial);
    - noisy evidence of varying strength (there, easily distinguishable stimuli); coherences are
      NeuroGym's, and the noise is that of PerceptualDecisionMakingDelayResponse, where the best
      observer is correct in 78 % of trials at the smallest coherence and in all at the largest.

    Args:
        coherences: coherences, %; the largest one is the easiest.
        delays: full delays, ms.
        day: number of trials after which the criterion for the next stage is checked.
        threshold: required fraction of correct trials.
        first_stage: initial stage of a subject.
        sigma: SD of the noise of the evidence, times sqrt(ms).
    """

    coherences: tuple[float, ...] = (0, 6.4, 12.8, 25.6, 51.2)
    delays: tuple[float, ...] = (1000, 3000)
    day: int = 300
    threshold: float = 0.7
    first_stage: int = 0
    sigma: float = 2.0
    trials_per_session: int | None = 300

    timing = {"fixation": 200, "stimulus": 1150, "decision": 1500}  # ms; the delay is a condition
    rewards = {"abort": -0.1, "correct": 1.0, "error": -1.0}
    reads_outcomes = True

    def define(self) -> None:
        if (
            self.day < 1
            or not 0 <= self.threshold <= 1
            or self.first_stage not in range(len(STAGES))
        ):
            raise InvalidValueError(
                f"CVLearning was given day={self.day!r}, threshold={self.threshold!r},"
                f" first_stage={self.first_stage!r}; give at least one trial a day, a fraction"
                f" from 0 to 1, and a stage from 0 to {len(STAGES) - 1}."
            )
        self.observe(fixation=1, stimulus=SIDES)
        self.act(fixate=1, choose=SIDES)
        self.vary(
            stage=Choice(len(STAGES)),
            side=Choice(SIDES),
            either=Choice((False, True)),
            again=Choice((False, True)),
            coherence=Choice(self.coherences),
            delay=Choice(self.delays),
            delay_share=Choice((0, 0.25, 0.5, 0.75, 1.0)),
        )
        self.correct_choice(_index)

    # ------------------------------------------------------------------ learning

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        n, subject = len(session), session.subject
        if not hasattr(subject, "stage"):
            subject.stage = np.full(n, self.first_stage)
            subject.delay_share = np.where(subject.stage == ALL, 1.0, 0.0)
            # Numbers of trials and of correct trials, of the day and of the window.
            subject.today, subject.lately = np.zeros((n, 2), int), np.zeros((n, 2), int)
            subject.last_choice, subject.in_a_row = np.full(n, -1), np.zeros(n, int)
        self._learn_from(subject.previous, subject)

    def _learn_from(self, previous: Mapping[str, np.ndarray], subject: Session) -> None:
        """Count finished trials towards the stages of their subjects."""
        if not previous:
            return
        rows = np.flatnonzero(previous["outcome"] != Outcome.NONE)
        right = previous["outcome"][rows] == Outcome.CORRECT
        for book in (subject.today, subject.lately):
            book[rows] += np.stack([np.ones(len(rows), int), right], axis=1)
        self._count_repeats(previous["choice"], subject, rows)
        self._adjust_delay(subject, rows[subject.lately[rows, 0] >= WINDOW])
        self._end_day(subject, rows[subject.today[rows, 0] >= self.day])

    def _count_repeats(self, choice: np.ndarray, subject: Session, rows: np.ndarray) -> None:
        chose = rows[choice[rows] >= 0]
        same = choice[chose] == subject.last_choice[chose]
        subject.in_a_row[chose] = np.where(same, subject.in_a_row[chose] + 1, 1)
        subject.last_choice[chose] = choice[chose]

    def _adjust_delay(self, subject: Session, rows: np.ndarray) -> None:
        good = self._share(subject.lately[rows]) >= self.threshold
        changed = np.clip(subject.delay_share[rows] + np.where(good, LONGER, -LONGER), 0, 1)
        subject.delay_share[rows] = np.where(
            subject.stage[rows] == REMEMBER, changed, subject.delay_share[rows]
        )
        subject.lately[rows] = 0

    def _end_day(self, subject: Session, rows: np.ndarray) -> None:
        good = self._share(subject.today[rows]) >= self.threshold
        good &= (subject.stage[rows] != REMEMBER) | (subject.delay_share[rows] == 1)
        subject.stage[rows] = np.minimum(subject.stage[rows] + good, ALL)
        subject.today[rows] = 0
        subject.lately[rows] = 0

    @staticmethod
    def _share(book: np.ndarray) -> np.ndarray:
        return book[:, 1] / np.maximum(book[:, 0], 1)

    # ------------------------------------------------------------------ drawing trials

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        n, previous, subject = len(session), session.previous, session.subject
        self._learn_from(previous, subject)
        stage, side = subject.stage, rng.integers(0, len(SIDES), n)
        forced = (stage == CHOOSE) & (subject.in_a_row >= REPEATS)
        side = np.where(forced, 1 - subject.last_choice, side)
        again = (stage == SEE) & (previous["outcome"] == Outcome.ERROR)
        if again.any():
            side = np.where(again, _index(previous), side)
        drawn = {
            "stage": stage.copy(),
            "side": np.take(SIDES, side),
            "either": (stage == CHOOSE) & ~forced,
            "again": again,
            "coherence": np.where(
                stage == ALL, rng.choice(self.coherences, n), max(self.coherences)
            ),
            "delay": rng.choice(self.delays, n).astype(float),
            "delay_share": subject.delay_share.copy(),
        }
        return TaskView(self).impose(drawn, rng, n, {})

    # ------------------------------------------------------------------ building trials

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "stimulus", "delay")
        trial.periods(*before, "decision", delay=trial["delay"] * trial["delay_share"])
        trial.show("fixation", 1, during=before)
        side = trial.correct_choice[:, None] == np.arange(len(SIDES))
        evidence = 0.5 + np.where(side, 1, -1) * trial["coherence"][:, None] / 200
        trial.show(
            "stimulus", evidence, during="stimulus", noise=self.sigma, where=trial["stage"] > CHOOSE
        )
        right = side | trial["either"][:, None]
        error = np.where(trial["stage"] >= MIND_ERRORS, self.rewards["error"], 0.0)
        trial.answer("choose", right, during="decision", error=error)
        trial.record("again")


def _index(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """0 for left, 1 for right, (n,)."""
    return np.where(np.asarray(conditions["side"]) == "left", 0, 1)
