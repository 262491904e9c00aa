"""Go/no-go after a delay."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, Task, TrialBuilder


class GoNogo(Task):
    """Go after one stimulus, withhold after the other.

    Zhang, Yan, Wang, et al. (2019), eLife 8:e43191, doi:10.7554/eLife.43191.

    One of two stimuli (odours) is presented, followed by a delay; the fixation cue stays on and the
    subject waits. When the cue turns off, the subject goes if the stimulus was "go" and withholds
    if it was "nogo". Correct withholding is rewarded like correct going, at the end of the response
    window; going after "nogo" and not going after "go" cost the same. Performance is the fraction
    of correct trials; never going earns 0.5, and so does always going. The stimuli have a channel
    each, and one of the channels alone says which it was: it earns 1.

    Deviations from the paper:

    - correct withholding is rewarded like correct going, and errors cost 0.5 (there, mice got water
      for correct licks only);
    - the stimulus and the delay of 0.5 s each are NeuroGym's (odours of that laboratory last 1 s,
      its response windows 0.5 s, as here).

    Args: none.
    """

    timing = {"fixation": 0, "stimulus": 500, "delay": 500, "decision": 500}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": -0.5, "miss": -0.5}

    def define(self) -> None:
        self.observe(fixation=1, nogo=1, go=1)
        self.act(fixate=1, go=1)
        self.vary(stimulus=Choice(("nogo", "go")))
        self.correct_choice(_right)

    def new_trial(self, trial: TrialBuilder) -> None:
        before = ("fixation", "stimulus", "delay")
        trial.periods(*before, "decision")
        trial.show("fixation", 1, during=before)
        for name in ("nogo", "go"):
            trial.show(name, 1, during="stimulus", where=trial["stimulus"] == name)
        trial.answer("go", _right(trial.conditions), during="decision")


def _right(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """0 (go) after the go stimulus, -1 (rest) after the other, (n,)."""
    return np.where(conditions["stimulus"] == "go", 0, -1)
