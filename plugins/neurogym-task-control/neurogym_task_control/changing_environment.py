"""A perceptual decision with a hidden environment that changes without notice."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import (
    Choice,
    InvalidValueError,
    OneHot,
    Session,
    Task,
    TrialBuilder,
    TruncatedExponential,
)

DIRECTIONS = ("left", "right")
ENVIRONMENTS = ("lower", "upper")


class ChangingEnvironment(Task):
    """Report the direction of noisy motion on the pair of targets that is currently rewarded.

    Purcell & Kiani (2016), PNAS 113:E4531, doi:10.1073/pnas.1524685113.

    There are two environments, the lower and the upper pair of targets; in each, the left and the
    right target stand for the two directions of motion. An environment lasts for 2 to 15 trials
    (truncated geometric distribution) and then changes without notice. The subject is rewarded if
    the chosen target matches the direction *and* the current environment. An unrewarded choice may
    therefore mean that the subject misjudged the motion or that the environment has changed; its
    confidence about the motion helps to distinguish the two. Choices are numbered 2 * environment +
    direction.

    The channel `stimulus` has two units, left and right, that show (1 +- coherence) / 2 with
    independent noise on every step. With ``context_cue=True`` a channel `context` shows the
    environment throughout the trial.

    Performance is the fraction of correct choices. An observer that knows the environment, and
    compares the averages of both units, is correct in 50, 68, 82, 96 and 99.9 % of the trials with
    coherences of 0, 6.4, 12.8, 25.6 and 51.2 %, so that its threshold is that of people and monkeys
    with random dots (80 % correct at 10 to 15 %); in all, 79 %. One that infers the environment
    from rewards and its confidence, by Bayes' rule, earns 0.60; without an idea of it, 40 %;
    guessing, or always the same choice, earns 0.25.

    Deviations from the paper:

    - coherences and durations are NeuroGym's (fixation 500 ms, stimulus truncated exponential from
      500 to 1,500 ms; there, shorter stimuli); the noise is ours;
    - the parameter of the geometric distribution is ours: 0.15 per trial beyond the shortest block.

    Args:
        coherences: motion coherences, %.
        change_probability: probability that the environment changes after a trial, once it has
            lasted `shortest_block` trials.
        shortest_block, longest_block: bounds of the block length, trials, both included.
        context_cue: whether the environment is shown.
        sigma: SD of the noise of the evidence, times sqrt(ms).
    """

    coherences: tuple[float, ...] = (0, 6.4, 12.8, 25.6, 51.2)
    change_probability: float = 0.15
    shortest_block: int = 2
    longest_block: int = 15
    context_cue: bool = False
    sigma: float = 3.0

    timing = {
        "fixation": 500,
        "stimulus": TruncatedExponential(1000, 500, 1500),
        "decision": 500,
    }  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        self._check_blocks()
        cue = {"context": OneHot(ENVIRONMENTS)} if self.context_cue else {}
        self.observe(fixation=1, stimulus=DIRECTIONS, **cue)
        self.act(fixate=1, choose=[f"{e} {d}" for e in ENVIRONMENTS for d in DIRECTIONS])
        self.vary(
            environment=Choice(ENVIRONMENTS),
            direction=Choice(DIRECTIONS),
            coherence=Choice(self.coherences),
        )
        self.correct_choice(_right_target)

    def _check_blocks(self) -> None:
        if not 1 <= self.shortest_block <= self.longest_block:
            raise InvalidValueError(
                f"ChangingEnvironment was given blocks of {self.shortest_block} to"
                f" {self.longest_block} trials; give at least 1, the shorter bound first."
            )
        if not 0 < self.change_probability <= 1:
            raise InvalidValueError(
                f"ChangingEnvironment was given change_probability={self.change_probability!r};"
                " give a number above 0, up to 1."
            )

    # ------------------------------------------------------------------ drawing trials

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.environment = rng.integers(0, len(ENVIRONMENTS), len(session))
        session.left = self._block_lengths(len(session), rng)

    def _block_lengths(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw block lengths, (n,), truncated geometric, by inverting the CDF."""
        most = 1 - (1 - self.change_probability) ** (self.longest_block - self.shortest_block + 1)
        if self.change_probability == 1:
            return np.full(n, self.shortest_block)
        beyond = np.floor(np.log1p(-rng.random(n) * most) / np.log1p(-self.change_probability))
        return self.shortest_block + beyond.astype(int)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        over = session.left == 0
        session.environment = np.where(over, 1 - session.environment, session.environment)
        session.left = np.where(over, self._block_lengths(len(session), rng), session.left) - 1
        block = {"environment": np.take(ENVIRONMENTS, session.environment)}
        return self.draw_conditions(rng, len(session), block)

    # ------------------------------------------------------------------ building trials

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "stimulus", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        sign = np.where(trial["direction"][:, None] == np.array(DIRECTIONS), 1, -1)
        trial.show(
            "stimulus",
            0.5 + sign * trial["coherence"][:, None] / 200,
            during="stimulus",
            noise=self.sigma,
        )
        if self.context_cue:
            shown = trial["environment"][:, None] == np.array(ENVIRONMENTS)
            trial.show("context", shown, during=("fixation", "stimulus", "decision"))
        trial.answer("choose", trial.correct_choice, during="decision")


def _right_target(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """2 * environment + direction, (n,)."""
    upper = np.asarray(conditions["environment"]) == ENVIRONMENTS[1]
    right = np.asarray(conditions["direction"]) == DIRECTIONS[1]
    return 2 * upper + right
