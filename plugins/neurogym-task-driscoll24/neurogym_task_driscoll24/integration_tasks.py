"""The five tasks of integration."""

from __future__ import annotations

from typing import ClassVar

from neurogym_task_driscoll24.integration import FIRST_ALONE, IntegrationFamily

EITHER = f"""{FIRST_ALONE} Adding
    both modalities earns 0.75: half of the trials are congruent."""


class IntegrationModality1(IntegrationFamily):
    """Answer with the stronger of two successive stimuli in modality 1."""


class IntegrationModality2(IntegrationFamily):
    """Answer with the stronger of two successive stimuli in modality 2."""

    attends: ClassVar[str] = "2"


class ContextIntModality1(IntegrationFamily):
    """Answer with the stronger stimulus in modality 1, whatever modality 2 shows."""

    attends: ClassVar[str] = "1 of 2"
    earns: ClassVar[str] = EITHER


class ContextIntModality2(IntegrationFamily):
    """Answer with the stronger stimulus in modality 2, whatever modality 1 shows."""

    attends: ClassVar[str] = "2 of 2"
    earns: ClassVar[str] = EITHER


class IntegrationMultimodal(IntegrationFamily):
    """Answer with the stronger of two successive stimuli, both modalities taken together."""

    attends: ClassVar[str] = "both"
    earns: ClassVar[str] = f"""{FIRST_ALONE} One
    modality alone earns 0.92."""
