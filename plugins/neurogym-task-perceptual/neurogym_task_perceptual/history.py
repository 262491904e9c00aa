"""Decisions whose correct answers repeat or alternate in blocks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, Session, Task, TrialBuilder, Uniform
from neurogym_task_perceptual.n_alternatives import NAltPerceptualDecisionMaking
from neurogym_task_perceptual.perceptual_decision_making import PerceptualDecisionMaking

BLOCKS = ("repeating", "alternating")


class HistoryBlocks(Task):
    """Base of tasks with repeating and alternating blocks of correct answers.

    Subclasses declare the condition `direction` and the condition `block`, the type of the current
    block.

    Args:
        p_repeat: probability that the correct answer is that of the previous trial, in repeating
            and in alternating blocks.
        block_length: trials in a block.
    """

    p_repeat: tuple[float, float] = (0.8, 0.2)
    block_length: int = 200

    def check_blocks(self) -> None:
        """Raise an error if the settings of the blocks are impossible."""
        if (
            self.block_length < 1
            or len(self.p_repeat) != 2
            or not all(0 <= p <= 1 for p in self.p_repeat)
        ):
            raise InvalidValueError(
                f"{self.name} was given block_length={self.block_length} and"
                f" p_repeat={self.p_repeat!r}; give at least one trial, and two probabilities"
                " (repeating blocks, alternating blocks)."
            )

    @property
    def _n_choices(self) -> int:
        return len(self.conditions["direction"].support())

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.last = rng.integers(0, self._n_choices, len(session))
        session.first_block = rng.integers(0, len(BLOCKS), len(session))

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {name: values[0] for name, values in self.draw_ahead(session, rng, 1).items()}

    def draw_ahead(
        self, session: Session, rng: np.random.Generator, trials: int
    ) -> dict[str, np.ndarray]:
        shape = (trials, len(session))
        number = session.trial + np.arange(trials)[:, None]
        block = (session.first_block + number // self.block_length) % len(BLOCKS)
        repeats = rng.random(shape) < np.take(self.p_repeat, block)
        # Difference between successive correct answers, modulo the number of choices.
        ahead = np.where(repeats, 0, rng.integers(1, self._n_choices, shape))
        direction = (session.last + np.cumsum(ahead, axis=0)) % self._n_choices
        session.last = direction[-1]
        decided = {"block": np.take(BLOCKS, block).reshape(-1), "direction": direction.reshape(-1)}
        drawn = self.draw_conditions(rng, direction.size, decided)
        return {name: values.reshape(*shape, *values.shape[1:]) for name, values in drawn.items()}


class HistoryPerceptualDecisionMaking(HistoryBlocks, PerceptualDecisionMaking):
    """Report the direction of noisy motion; in blocks, directions tend to repeat or to alternate.

    After Hermoso-Mendizabal, Hyafil, Rueda-Orozco, Jaramillo, Robbe & de la Rocha (2020), Nat.
    Commun. 11:1057, doi:10.1038/s41467-020-14824-w.

    A trial is one of PerceptualDecisionMaking. In repeating blocks the direction is that of the
    previous trial with a probability of 0.8, in alternating blocks with one of 0.2, whatever the
    subject answered. Blocks alternate; the first is drawn for every session, and the current block
    is never shown. A subject that expects the correct transition is more accurate than one that
    uses only the motion, especially at low coherence. Without the motion, the transition alone
    gives 80 % to a subject that knows the block; without either, it is 50 %.

    Trials of a subject are a sequence: the rows of one subject of a record, in the order of
    `trial`. In rows of several subjects, one after another, successive answers are unrelated at the
    seams. A new session begins with a new block.

    The noise is that of PostDecisionWager, which is calibrated to a monkey. An observer that sums
    the motion and knows nothing of the blocks is correct in 64.0, 76.3, 92.4, 99.8 and 100 % of
    trials at 3.2, 6.4, 12.8, 25.6 and 51.2 %.

    Deviations from the paper:

    - random-dot motion (there, the louder of two sounds, and rats);
    - block length, probabilities and durations are NeuroGym's;
    - acting early costs as much as a correct answer earns.

    Args:
        p_repeat: probability that a direction repeats, in repeating and in alternating blocks.
        block_length: trials in a block.
    """

    sigma: float = 2.0
    trials_per_session: int | None = 400
    timing = {"fixation": 750, "stimulus": 1000, "delay": 0, "decision": 500}  # ms
    rewards = {"abort": -1.0, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        self.check_blocks()
        if self.directions < 2:
            raise InvalidValueError(
                f"{self.name} was given directions={self.directions!r}; repeating and"
                " alternating need at least 2. Give 2 or more."
            )
        super().define()
        self.vary(block=Choice(BLOCKS))

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        trial.record(p_repeat=np.take(self.p_repeat, np.where(trial["block"] == "repeating", 0, 1)))


class PriorBlocks(HistoryBlocks):
    """Report the stronger of two noisy streams; in blocks, sides tend to repeat or to alternate.

    After Hermoso-Mendizabal, Hyafil, Rueda-Orozco, Jaramillo, Robbe & de la Rocha (2020), Nat.
    Commun. 11:1057, doi:10.1038/s41467-020-14824-w.

    Two units show streams of Gaussian numbers, a new one on every step. The mean is 1 for the
    stronger stream; for the other it is drawn for every trial from 0.5 to 1. The SD of a step is 1
    at dt = 100 ms. When the fixation cue turns off, the subject reports the side of the stronger
    stream: choice k is unit k, 0 on the left and 1 on the right. Blocks are those of
    HistoryPerceptualDecisionMaking. An observer that sums the streams and knows nothing of the
    blocks is correct in 70 % of trials, one that knows only the block and the previous answer in
    80 %, and one that uses all of these in 82 %.

    Deviations from the paper:

    - all numbers are NeuroGym's (there, the louder of two sounds), and the noise is not fitted to
      the rats;
    - durations are ours.

    Args:
        p_repeat: probability that a side repeats, in repeating and in alternating blocks.
        block_length: trials in a block.
        weakest: smallest mean of the weaker stream.
        sigma: SD of the noise of the streams, times sqrt(ms).
    """

    weakest: float = 0.5
    sigma: float = 10.0
    trials_per_session: int | None = 400

    timing = {"fixation": 100, "stimulus": 1000, "decision": 300}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        self.check_blocks()
        self.observe(fixation=1, stimulus=("left", "right"))
        self.act(fixate=1, choose=("left", "right"))
        self.vary(direction=Choice(2), block=Choice(BLOCKS), weaker=Uniform(self.weakest, 1))
        self.correct_choice("direction")
        self.evidence(lambda known: (1 - known["weaker"]) * (2 * known["direction"] - 1))

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "stimulus", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        stronger = trial["direction"][:, None] == np.arange(2)
        means = np.where(stronger, 1.0, trial["weaker"][:, None])
        trial.show("stimulus", means, during="stimulus", noise=self.sigma)
        trial.answer("choose", trial["direction"], during="decision")
        trial.record(p_repeat=np.take(self.p_repeat, np.where(trial["block"] == "repeating", 0, 1)))


class HistoryNAltPerceptualDecisionMaking(NAltPerceptualDecisionMaking):
    """Report the strongest of several stimuli; in blocks, each answer has a likely successor.

    After NeuroGym's collection on priors, which extends Hermoso-Mendizabal, Hyafil, Rueda-Orozco,
    Jaramillo, Robbe & de la Rocha (2020), Nat. Commun. 11:1057, doi:10.1038/s41467-020-14824-w, to
    many alternatives; a trial is one of NAltPerceptualDecisionMaking (Churchland, Kiani & Shadlen
    2008, doi:10.1038/nn.2123).

    A block has a number of alternatives, which is cued, and a transition rule, which is never
    shown: each correct answer is followed by one particular answer with a probability of 0.9; the
    others share the rest. Rule and number are redrawn for every block, so a session never returns
    to an earlier rule except by chance. Wrappers can show the subject its previous action and
    reward: ``make(…, wrap=("PassAction", "PassReward"))``.

    The first alternatives are offered, so always giving choice 0 is correct in 25 % of trials,
    twice as often as one in eight; following the rule alone, in 90 %. The stimulus alone suffices,
    since its noise leaves little doubt which alternatives are offered: a classifier of it earns
    0.66, one that also sees the cue 0.68, and an observer that learns the rule of each block from
    its rewards 0.89.

    Deviations from the paper: all numbers are ours or NeuroGym's (there, two choices); coherences
    and noise are those of NAltPerceptualDecisionMaking.

    In the record, `block` counts the blocks of a session, and `expected` is the most likely answer.

    Args:
        p_follow: probability of the successor given by the rule.
        block_length: trials in a block.
    """

    alternatives: int = 8
    fewest: int | None = 2
    p_follow: float = 0.9
    block_length: int = 100
    trials_per_session: int | None = 500

    def define(self) -> None:
        if self.block_length < 1 or not 0 <= self.p_follow <= 1:
            raise InvalidValueError(
                f"{self.name} was given block_length={self.block_length} and"
                f" p_follow={self.p_follow:g}; give at least one trial, and a probability."
            )
        super().define()
        # Their values depend on the session; `draw` sets them.
        self.vary(
            block=lambda rng, prior: np.zeros(prior.n, int),
            expected=lambda rng, prior: rng.integers(0, prior["offered"]),
        )
        self.correct_choice(_among_offered)

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        self._new_rules(session, rng)

    def _new_rules(self, session: Session, rng: np.random.Generator) -> None:
        """Draw the number of alternatives and the successor of each answer, (n, alternatives)."""
        n = len(session)
        session.offered = np.asarray(rng.choice(self.counts, n))
        # Offered answers in random order, then the others: the rank of an answer among the
        # offered ones.
        luck = rng.random((n, self.alternatives)) + (
            np.arange(self.alternatives) >= session.offered[:, None]
        )
        session.follows = np.argsort(luck, axis=1)
        session.last = rng.integers(0, session.offered)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        over = np.flatnonzero((session.trial > 0) & (session.trial % self.block_length == 0))
        ended = session.take(over)
        self._new_rules(ended, rng)
        session.put(over, ended)
        n, offered = len(session), session.offered
        expected = session.follows[np.arange(n), session.last]
        other = (expected + rng.integers(1, offered)) % offered
        strongest = np.where(rng.random(n) < self.p_follow, expected, other)
        session.last = strongest
        block = session.trial // self.block_length
        return self.draw_conditions(
            rng,
            n,
            {"offered": offered, "strongest": strongest, "block": block, "expected": expected},
        )

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        trial.record("block", "expected")


def _among_offered(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """The strongest alternative, (n,); if fewer are imposed than the block has, one of these."""
    return conditions["strongest"] % conditions["offered"]
