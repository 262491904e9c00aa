"""Named configurations of other tasks of this package."""

from __future__ import annotations

from neurogym_core import TruncatedExponential
from neurogym_core.errors import InvalidValueError
from neurogym_task_perceptual.context_decision_making import MODALITIES, ContextDecisionMaking
from neurogym_task_perceptual.perceptual_decision_making import PerceptualDecisionMaking


class JitteredPerceptualDecisionMaking(PerceptualDecisionMaking):
    """Report the net direction of noisy random-dot motion; all durations are random.

    After Britten, Shadlen, Newsome & Movshon (1992), J. Neurosci. 12:4745,
    doi:10.1523/JNEUROSCI.12-12-04745.1992. PerceptualDecisionMaking with a delay, and with
    durations drawn from truncated exponentials, so that the subject cannot time its answer by
    counting steps.

    Deviations from the paper: those of PerceptualDecisionMaking; the delay and the ranges of all
    durations are ours.

    Args: as in PerceptualDecisionMaking.
    """

    timing = {
        "fixation": TruncatedExponential(500, 200, 800),
        "stimulus": TruncatedExponential(1000, 500, 2000),
        "delay": TruncatedExponential(500, 200, 800),
        "decision": 300,
    }


class SingleContextDecisionMaking(ContextDecisionMaking):
    """Judge the motion (or always the colour) of the same dots; the other feature is irrelevant.

    One half of the task of Mante, Sussillo, Shenoy & Newsome (2013), Nature 503:78,
    doi:10.1038/nature12742. ContextDecisionMaking with a constant context that is never shown: the
    subject integrates one feature and ignores the other in all trials.

    Deviations from the paper: those of ContextDecisionMaking; the context never changes.

    Args: as in ContextDecisionMaking, except ``context="cued"``.
    """

    context: str = "motion"

    def define(self) -> None:
        if self.context not in MODALITIES:
            raise InvalidValueError(
                f"SingleContextDecisionMaking was given context={self.context!r}; give 'motion' or"
                " 'colour', or use ContextDecisionMaking."
            )
        super().define()


class ManteDecisionMaking(ContextDecisionMaking):
    """Judge the motion or the colour of the same dots, as a cue indicates on every trial.

    The whole task of Mante, Sussillo, Shenoy & Newsome (2013), Nature 503:78,
    doi:10.1038/nature12742: ContextDecisionMaking with ``context="cued"``.

    Deviations from the paper: those of ContextDecisionMaking.

    Args: as in ContextDecisionMaking.
    """

    context: str = "cued"
