"""Tasks of this package with other settings, under names of their own."""

from __future__ import annotations

from neurogym_core import TruncatedExponential
from neurogym_core.errors import InvalidValueError
from neurogym_task_perceptual.context_decision_making import MODALITIES, ContextDecisionMaking
from neurogym_task_perceptual.perceptual_decision_making import PerceptualDecisionMaking


class JitteredPerceptualDecisionMaking(PerceptualDecisionMaking):
    """Report the net direction of noisy random-dot motion; all durations are random.

    After Britten, Shadlen, Newsome & Movshon (1992), J. Neurosci. 12:4745,
    doi:10.1523/JNEUROSCI.12-12-04745.1992. PerceptualDecisionMaking with a delay, and with
    durations that are truncated exponentials, so that counting steps does not tell when to answer.

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
    """Judge the motion (or always the colour) of the same dots; the other feature never counts.

    One half of the task of Mante, Sussillo, Shenoy & Newsome (2013), Nature 503:78,
    doi:10.1038/nature12742. ContextDecisionMaking with a context that is the same in all trials and
    nowhere shown: one feature is to be integrated, the other to be ignored for good.

    Deviations from the paper: those of ContextDecisionMaking; the context never changes.

    Args: as in ContextDecisionMaking, but for ``context="cued"``.
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
    """Judge the motion or the colour of the same dots, as a cue says that changes from trial to
    trial.

    The whole task of Mante, Sussillo, Shenoy & Newsome (2013), Nature 503:78,
    doi:10.1038/nature12742: ContextDecisionMaking with ``context="cued"``.

    Deviations from the paper: those of ContextDecisionMaking.

    Args: as in ContextDecisionMaking.
    """

    context: str = "cued"
