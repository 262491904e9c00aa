"""The training protocol: contrasts are added as performance improves, and biases are corrected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from neurogym_core import Choice, Outcome, Session, TrialBuilder
from neurogym_core.players import TaskView
from neurogym_task_ibl.ibl import IBL, SIDES, right_choice

WINDOW = 50
"""Number of recent trials of one signed contrast that the criterion averages."""
CRITERION = 0.8
"""Fraction of them that has to be exceeded."""
RESPONSES = 10
"""Number of responses over which the bias is measured."""
EASY = 50
"""Errors at this contrast or above lead to a repetition, %."""
LEVELS = (100.0, 50.0, 25.0, 12.5, 6.25, 0.0)
"""All contrasts of the protocol, %."""


@dataclass(frozen=True)
class Stage:
    """A stage of the training.

    Args:
        contrasts: contrasts of the stage, equally likely, %.
        masters: contrasts of which, on either side, more than 80 % of the last 50 trials must be
            correct to advance.
        trials: length of the stage if no contrast has to be mastered; None: unlimited.
    """

    contrasts: tuple[float, ...]
    masters: tuple[float, ...] = ()
    trials: int | None = None

    def is_over(self, shares: np.ndarray, trials: np.ndarray) -> np.ndarray:
        """Return which subjects advance, (n,).

        Args:
            shares: fractions of correct trials, (n, levels, sides).
            trials: trials in the stage so far, (n,).
        """
        if self.masters:
            return (shares[:, [LEVELS.index(c) for c in self.masters]] > CRITERION).all(axis=(1, 2))
        return trials >= self.trials if self.trials is not None else np.zeros(len(trials), bool)


STAGES = (
    Stage((100, 50), masters=(100, 50)),
    Stage((100, 50, 25), masters=(25,)),
    Stage((100, 50, 25, 12.5), trials=200),
    Stage((100, 50, 25, 12.5, 6.25), trials=200),
    Stage((100, 50, 25, 12.5, 6.25, 0), trials=200),
    Stage((100, 25, 12.5, 6.25, 0)),
)
"""The protocol."""


class IBLTraining(IBL):
    """Learn the task under the laboratory's protocol for mice, high contrasts first.

    The International Brain Laboratory (2021), eLife 10:e63711, doi:10.7554/eLife.63711; details of
    the protocol after the laboratory's published rig software.

    Trials are those of `IBL`; both sides are equally likely. Training begins with contrasts of 100
    and 50 %. When more than 80 % of the last 50 trials of each of them on each side were correct,
    25 % is added; when the same holds for 25 %, 12.5 % is added; after 200 more trials 6.25 %,
    after 200 more 0 %, and after 200 more 50 % is dropped, which is the contrast set of the full
    task. Until then, an error or a miss at a contrast of 50 % or more is followed by the same
    contrast on a side that counteracts the subject's bias: the right side if a draw from a Gaussian
    around the fraction of rightward choices among the last 10, SD 0.5, falls below 0.5. The stage
    and the trials that count towards the next one belong to the subject and persist over sessions,
    until a reset with a seed.

    In the record, `stage` counts from 0, `repeated` is true if the trial repeats an error trial,
    and `proficient` if the last stage is reached.

    Deviations from the paper:

    - wheel gain and reward size do not change during training;
    - the blocks that follow the last stage are a separate task, `IBL`; training itself does not
      end;
    - a session has 300 trials, and none ends early;
    - the last 50 trials of a contrast and the 200 trials of a stage count over sessions (in the rig
      software, within one session);
    - contrasts of a stage are equally likely;
    - those of `IBL`.
    """

    trials_per_session: int | None = 300
    reads_outcomes = True

    def declare_conditions(self) -> None:
        self.vary(
            stage=Choice(len(STAGES)),
            repeated=Choice((False, True)),
            contrast=Choice(LEVELS),
            side=Choice(SIDES),
        )
        self.correct_choice(right_choice)

    # ------------------------------------------------------------------ drawing trials

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        n, subject = len(session), session.subject
        session.responses = np.full((n, RESPONSES), -1)  # 0: left, 1: right, -1: none yet
        if not hasattr(subject, "stage"):
            subject.stage = np.zeros(n, int)
            subject.trials_in_stage = np.zeros(n, int)
            subject.correct = np.zeros((n, len(LEVELS), len(SIDES), WINDOW), bool)
        self._learn_from(subject.previous, subject)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        n, previous, subject = len(session), session.previous, session.subject
        self._learn_from(previous, subject)
        self._note_response(session)
        repeated = self._is_repeated(session)
        picked = np.array([rng.choice(STAGES[stage].contrasts) for stage in subject.stage], float)
        contrast = np.where(repeated, previous.get("contrast", 0.0), picked)
        right = np.where(repeated, self._against_bias(session, rng), rng.random(n) < 0.5)
        drawn = {
            "stage": subject.stage.copy(),
            "repeated": repeated,
            "contrast": contrast,
            "side": np.where(right, "right", "left"),
        }
        return TaskView(self).impose(drawn, rng, n, {})

    def _learn_from(self, previous: Mapping[str, np.ndarray], subject: Session) -> None:
        """Count finished trials towards the subjects' stages, and promote subjects that pass."""
        # Imposed contrasts that the protocol does not have do not count towards its stages.
        if "contrast" not in previous:
            return
        rows = np.flatnonzero(
            (previous["outcome"] != Outcome.NONE) & np.isin(previous["contrast"], LEVELS)
        )
        side = (previous["side"][rows] == "right").astype(int)
        level = np.array([LEVELS.index(c) for c in previous["contrast"][rows]], int)
        subject.correct[rows, level, side] = np.roll(subject.correct[rows, level, side], -1, axis=1)
        subject.correct[rows, level, side, -1] = previous["outcome"][rows] == Outcome.CORRECT
        subject.trials_in_stage[rows] += 1
        self._promote(subject, rows)

    def _note_response(self, session: Session) -> None:
        """Keep the last choices of the session, from which the bias is measured."""
        choice = session.previous["choice"]
        answered = np.flatnonzero(choice >= 0)
        session.responses[answered] = np.roll(session.responses[answered], -1, axis=1)
        session.responses[answered, -1] = choice[answered]

    def _promote(self, subject: Session, rows: np.ndarray) -> None:
        shares = subject.correct[rows].mean(axis=3)
        before = subject.stage[rows]
        for number, stage in enumerate(STAGES):
            over = rows[stage.is_over(shares, subject.trials_in_stage[rows]) & (before == number)]
            subject.stage[over] = number + 1
            subject.trials_in_stage[over] = 0

    def _is_repeated(self, session: Session) -> np.ndarray:
        previous = session.previous
        wrong = np.isin(previous["outcome"], (Outcome.ERROR, Outcome.MISS))
        wrong &= session.subject.stage < len(STAGES) - 1
        return wrong & (previous["contrast"] >= EASY) if "contrast" in previous else wrong

    def _against_bias(self, session: Session, rng: np.random.Generator) -> np.ndarray:
        """Draw whether the repetition is on the right, (n,)."""
        known = session.responses >= 0
        share = ((session.responses == 1) & known).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        return rng.normal(share, 0.5) < 0.5

    # ------------------------------------------------------------------ building trials

    def note_block(self, trial: TrialBuilder) -> None:
        trial.record("repeated", proficient=trial["stage"] == len(STAGES) - 1)
