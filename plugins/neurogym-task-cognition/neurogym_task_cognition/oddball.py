"""Oddball."""

from __future__ import annotations

import numpy as np

from neurogym_core import InvalidValueError, Task, TrialBuilder


class Oddball(Task):
    """Press for each rare high tone among frequent low ones.

    Squires, Squires & Hillyard (1975), Electroencephalography and Clinical Neurophysiology 38:387,
    doi:10.1016/0013-4694(75)90263-1.

    Ten tones follow each other every `soa` ms. Each is high with a probability of `p_rare`,
    independently of the others, and asks for a press until the next tone begins; low tones ask for
    none. The two tones have a unit each, with independent noise on every step of the tone. The
    answers are the slots `tone0` to `tone9` of the record, and performance is the fraction that is
    right: presses after high tones, and none after low ones. So never answering earns 0.9, and a
    press at a fixed moment of the trial 0.82.

    The ideal observer presses where the high tone is more likely, given how rare it is: it earns
    0.961, with hits in 0.74 of the high tones and false alarms in 0.014 of the low ones. An error
    (a press for a low tone) costs as much as a hit pays.

    Deviations from the paper:

    - the tones' duration, rate and probabilities were not compared with the text of the paper, and
      count as ours, as the noise does;
    - there, the tones were also ignored, or counted in silence; here, they are answered.

    Args:
        p_rare: probability that a tone is high.
        soa: time from tone to tone, ms.
        duration: duration of a tone, ms.
        sigma: SD of the noise of a tone, times sqrt(ms).
    """

    dt: float = 50
    p_rare: float = 0.1
    soa: float = 1100
    duration: float = 100
    sigma: float = 5.0

    tones = 10

    rewards = {"abort": 0.0, "correct": 1.0, "error": -1.0, "miss": 0.0}

    def define(self) -> None:
        if not (0 < self.p_rare < 1 and 0 < self.duration <= self.soa):
            raise InvalidValueError(
                f"Oddball was given p_rare={self.p_rare!r}, duration={self.duration!r} and"
                f" soa={self.soa!r}; give a probability, and a duration up to soa ms."
            )
        self.observe(tone=("low", "high"))
        self.act(rest=1, press=1)
        self.vary(high=lambda rng, prior: rng.random((prior.n, self.tones)) < self.p_rare)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("tones", tones=self.soa * self.tones)
        items = trial.sequence(
            "tone", trial["high"] * 1, during="tones", soa=self.soa, duration=self.duration,
            noise=self.sigma,
        )  # fmt: skip
        for k in range(self.tones):
            press = np.where(trial["high"][:, k], 0, -1)
            trial.answer("press", press, slot=f"tone{k}", then="wait", **items.after(k, self.soa))
