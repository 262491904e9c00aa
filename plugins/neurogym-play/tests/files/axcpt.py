"""AX-CPT as one file, as a reader of the documentation writes it: letters in two periods."""

import numpy as np

from neurogym_core import Choice, OneHot, Task


class AXCPT(Task):
    """Press the target button to X only if the cue was A; press the other button otherwise.

    Args:
        p: probabilities of AX, AY, BX, BY.
        sigma: SD of the noise of letters, times sqrt(ms).
    """

    p: tuple[float, ...] = (0.7, 0.1, 0.1, 0.1)
    sigma: float = 1.0
    dt: float = 50
    timing = {"iti": [1000], "cue": 300, "delay": 4900, "probe": 300, "window": 1000}

    def define(self):
        self.observe(letter=OneHot(("A", "B", "X", "Y")))
        self.act(rest=1, press=("nontarget", "target"))
        self.vary(kind=Choice(("AX", "AY", "BX", "BY"), p=self.p))

    def new_trial(self, trial):
        trial.periods("iti", "cue", "delay", "probe", "window")
        letters = np.eye(4)
        cue = np.array([kind[0] == "B" for kind in trial["kind"]]) * 1
        probe = 2 + np.array([kind[1] == "Y" for kind in trial["kind"]]) * 1
        trial.show("letter", letters[cue], during="cue", noise=self.sigma)
        trial.show("letter", letters[probe], during="probe", noise=self.sigma)
        trial.answer("press", (trial["kind"] == "AX") * 1, during=("probe", "window"))
