"""Detection of a tone in noise, and of its time."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, Task, TrialBuilder


class ToneDetection(Task):
    """Report whether a tone occurred in noise, and at which of three times.

    After the tones in noise of Costalupes (1985), J. Neurosci. 5:3261,
    doi:10.1523/JNEUROSCI.05-12-03261.1985.

    Noise is presented for two seconds. In three of four trials a brief tone is added, 500, 1000 or
    1500 ms after its onset. When the fixation cue turns off, the subject reports no tone (choice 0)
    or the first, second or third time (choices 1 to 3).

    A tone is 2.8 SDs of the noise that falls into its 50 ms. An observer that knows the three times
    and reports the loudest, or no tone if none is above half the height of a tone, is correct in
    87 % of trials. There are no subjects to compare with; the noise is ours.

    Deviations from the paper:

    - the paper recorded from auditory nerve fibres of cats, without a report; the report and the
      times are NeuroGym's, the noise, the fixation cue and the response window are ours;
    - at steps longer than a tone, a tone lasts one step.

    Args:
        onsets: possible onsets of a tone, ms from the onset of the noise.
        tone: duration of a tone, ms.
        strength: height of a tone.
        sigma: SD of the noise, times sqrt(ms).
    """

    dt: float = 50
    onsets: tuple[float, ...] = (500, 1000, 1500)
    tone: float = 50
    strength: float = 1.0
    sigma: float = 2.5

    timing = {"stimulus": 2000, "decision": 300}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        self.observe(fixation=1, stimulus=1)
        self.act(fixate=1, report=["no tone", *(f"{ms:g} ms" for ms in self.onsets)])
        self.vary(moment=Choice(1 + len(self.onsets)))
        self.correct_choice("moment")

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("stimulus", "decision")
        trial.show("fixation", 1, during="stimulus")
        trial.show("stimulus", 0, during="stimulus", noise=self.sigma)
        onset = np.take((0.0, *self.onsets), trial["moment"])
        stop = onset + max(self.tone, self.dt)
        trial.show(
            "stimulus",
            self.strength,
            during="stimulus",
            start=onset,
            stop=stop,
            where=trial["moment"] > 0,
        )
        trial.answer("report", trial["moment"], during="decision")
