"""Common parts of the fifteen tasks of Driscoll, Shenoy & Sussillo (2024)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from neurogym_core import Angle, Axis, InvalidValueError, OneHot, Task, TrialBuilder

RULES = (
    "DelayPro", "ReactPro", "MemoryPro", "DelayAnti", "ReactAnti", "MemoryAnti",
    "IntegrationModality1", "IntegrationModality2", "ContextIntModality1", "ContextIntModality2",
    "IntegrationMultimodal", "ReactMatch2Sample", "ReactNonMatch2Sample", "ReactCategoryPro",
    "ReactCategoryAnti",
)  # fmt: skip
"""The fifteen rules, in the order of their input units."""
TAU = 100
"""Time constant of the published networks, ms, to which the size of the input noise refers."""
CIRCLE = 2 * np.pi
Conditions = Mapping[str, np.ndarray] | TrialBuilder
"""Read as ``conditions["stimulus"]``, of a trial that is drawn or built."""
PAGE = """

    Driscoll, Shenoy & Sussillo (2024), Nat. Neurosci. 27:1349, doi:10.1038/s41593-024-01668-6: one
    of fifteen tasks that share inputs (a fixation cue, a direction in each of two modalities as
    (sin, cos) times its strength, and the rule), outputs and scoring. The subject fixates until it
    answers with a direction: it raises `go` above 0, and `report` is its answer at that moment. An
    answer within 18 degrees is correct, and if no answer is required, resting until the end. All
    inputs are noisy, also cue and rule: with an SD of 0.32 per step, ten times that of Yang et al.
    (2019). Directions are in radians. Performance is the fraction of correct trials.
    {earns}

    Deviations from the paper: the first answer ends the trial and is rewarded, and answering before
    the response costs `abort` (there, an answer is read from the last step: a fixation output of at
    most 0.5, and the direction of two outputs, cos and sin); durations and modalities are drawn for
    each trial (there, for each batch). Numbers are those of the authors' code
    (lauradriscoll/flexible_multitask), and not compared with the text of the paper."""


class Driscoll24(Task):
    """Base of the fifteen tasks.

    The loss weights are 0 in the first 100 ms of a trial, 1 until the response, 0 in its first 100
    ms, and 5 after.

    Args:
        rule_input: whether fifteen input units show the rule.
        sigma_input: size of the input noise: SD = sigma_input sqrt(2 tau / dt), tau = 100 ms.
        tolerance: largest distance from the correct direction that is still correct, radians.
    """

    dt: float = 20
    rule_input: bool = True
    sigma_input: float = 0.1
    tolerance: float = float(np.pi / 10)

    rule: ClassVar[str | None] = None
    """The element of `RULES` for this class; None for families."""
    earns: ClassVar[str] = "Guessing, or always the same direction, earns 0.1."
    """Performance of subjects that leave out a part of the task, for the page."""

    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__name__ in RULES:
            cls.rule = cls.__name__
            cls.__doc__ = f"{cls.__doc__.rstrip()}{PAGE.format(earns=cls.earns)}\n"

    def define(self) -> None:
        if not 0 < self.tolerance <= np.pi or self.sigma_input < 0:
            raise InvalidValueError(
                f"{self.name} was given tolerance={self.tolerance!r} and"
                f" sigma_input={self.sigma_input!r}; give a tolerance from 0 to pi, and a size of 0"
                " or more."
            )
        rule = {"rule": OneHot(RULES)} if self.rule_input else {}
        self.observe(fixation=1, modality_1=("sin", "cos"), modality_2=("sin", "cos"), **rule)
        self.act(go=Axis(-1, 1, rest=-1, trigger=0), report=Angle())
        self.declare()

    def declare(self) -> None:
        """Declare the conditions."""
        raise NotImplementedError

    def direction_of(self, conditions: Conditions) -> tuple[np.ndarray, np.ndarray]:
        """Return the correct direction, (n,) radians, and whether there is one, bool (n,)."""
        raise NotImplementedError

    def lay_out(self, trial: TrialBuilder, before: tuple[str, ...], cue_goes_off: bool) -> None:
        """Name the periods; show fixation cue and rule, with noise; set the loss weights."""
        everything = (*before, "response")
        trial.periods(*everything)
        for channel in self.channels:
            sigma = self.sigma_input * np.sqrt(2 * TAU)
            trial.show(channel, 0, during=everything, noise=sigma)
        trial.show("fixation", 1, during=before if cue_goes_off else everything)
        if self.rule_input:
            trial.show("rule", np.arange(len(RULES)) == RULES.index(self.rule), during=everything)
        trial.loss_weight(0, during=everything, stop=100)
        trial.loss_weight(0, during="response", stop=100)
        trial.loss_weight(5, during="response", start=100)

    def show_direction(
        self, trial: TrialBuilder, modality: Any, direction: Any, during: Any, strength: Any = 1.0
    ) -> None:
        """Show a direction in one of the modalities; `modality` is 1 or 2, one number or (n,)."""
        shown = np.stack([np.sin(direction), np.cos(direction)], axis=1)
        shown = shown * np.broadcast_to(strength, (trial.n,))[:, None]
        for number in (1, 2):
            where = np.broadcast_to(modality == number, (trial.n,))
            trial.show(f"modality_{number}", shown, during=during, where=where)

    def ask(self, trial: TrialBuilder) -> None:
        """Open the response window for the whole response period."""
        direction, answers = self.direction_of(trial)
        trial.record(direction=np.where(answers, direction % CIRCLE, -1.0))
        window: Any = {"during": "response", "tolerance": self.tolerance}
        trial.answer("report", direction, where=answers, **window)
        trial.answer("report", None, where=~answers, **window)


__all__ = ["CIRCLE", "PAGE", "RULES", "TAU", "Conditions", "Driscoll24"]
