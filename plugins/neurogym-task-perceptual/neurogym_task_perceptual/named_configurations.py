"""Named configurations of other tasks of this package."""

from __future__ import annotations

import numpy as np

from neurogym_core import InvalidValueError, Session, TruncatedExponential
from neurogym_task_perceptual.context_decision_making import MODALITIES, ContextDecisionMaking
from neurogym_task_perceptual.perceptual_decision_making import PerceptualDecisionMaking


class JitteredPerceptualDecisionMaking(PerceptualDecisionMaking):
    """Report the net direction of noisy random-dot motion; all durations are random.

    After Britten, Shadlen, Newsome & Movshon (1992), J. Neurosci. 12:4745,
    doi:10.1523/JNEUROSCI.12-12-04745.1992. PerceptualDecisionMaking with a delay, and with
    durations drawn from truncated exponentials, so that the subject cannot time its answer by
    counting steps.

    The noise is that of PostDecisionWager, which is calibrated to a monkey that saw motion of
    unpredictable duration. An observer that sums all the evidence is correct in 64.1, 76.4, 91.9,
    99.5 and 100 % of trials at 3.2, 6.4, 12.8, 25.6 and 51.2 %.

    Deviations from the paper: those of PerceptualDecisionMaking; the delay and the ranges of all
    durations are ours (there, 2 s of motion and no delay).
    """

    sigma: float = 2.0

    timing = {
        "fixation": TruncatedExponential(500, 200, 800),
        "stimulus": TruncatedExponential(1000, 500, 2000),
        "delay": TruncatedExponential(500, 200, 800),
        "decision": 300,
    }


class ManteDecisionMaking(ContextDecisionMaking):
    """Judge the motion or the colour of the same dots, as a cue indicates on every trial.

    The whole task of Mante, Sussillo, Shenoy & Newsome (2013), Nature 503:78,
    doi:10.1038/nature12742: ContextDecisionMaking with ``context="cued"``. With ``block_length``
    above 1 the two contexts alternate in blocks, as in the paper; the first is drawn for every
    session.

    Deviations from the paper: those of ContextDecisionMaking. By default the context is drawn for
    every trial (there, blocks of a few dozen trials).

    Args:
        block_length: trials in a block of one context; 1: contexts are drawn independently.
    """

    context: str = "cued"
    block_length: int = 1

    def define(self) -> None:
        if self.block_length < 1:
            raise InvalidValueError(
                f"ManteDecisionMaking was given block_length={self.block_length!r}; give a number"
                " of trials, at least 1."
            )
        super().define()

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.first_context = rng.integers(0, len(MODALITIES), len(session))

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {name: values[0] for name, values in self.draw_ahead(session, rng, 1).items()}

    def draw_ahead(
        self, session: Session, rng: np.random.Generator, trials: int
    ) -> dict[str, np.ndarray]:
        shape = (trials, len(session))
        block = (session.trial + np.arange(trials)[:, None]) // self.block_length
        which = (session.first_context + block) % len(MODALITIES)
        if self.block_length == 1:
            which = rng.integers(0, len(MODALITIES), shape)
        drawn = self.draw_conditions(
            rng, which.size, {"context": np.take(MODALITIES, which).reshape(-1)}
        )
        return {name: values.reshape(*shape, *values.shape[1:]) for name, values in drawn.items()}
