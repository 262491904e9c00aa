"""Reproduction of an interval."""

from __future__ import annotations

from neurogym_core import TrialBuilder, Uniform
from neurogym_core.errors import InvalidValueError
from neurogym_task_timing.production import Production


class ReadySetGo(Production):
    """Measure the interval from Ready to Set, and produce it, times a gain, from Set to Go.

    Remington, Narain, Hosseini & Jazayeri (2018), Neuron 98:1005, doi:10.1016/j.neuron.2018.05.020;
    the task without gain: Jazayeri & Shadlen (2010), Nat. Neurosci. 13:1020, doi:10.1038/nn.2590.

    The subject fixates. Two flashes, Ready and Set, delimit an interval; with the onset of Set the
    fixation cue turns off and the production begins. The subject goes when the interval times the
    gain has elapsed since the onset of Set. All times count from the onset of a flash: the interval
    from that of Ready, the produced time from that of Set. Going within the tolerance (a fraction
    of the wanted time plus a constant) is correct, and the reward falls with the error: from 1 at
    no error with (1 - error / tolerance) ^ 1.5, to no less than 0.1. Going too early, too late or
    never is not rewarded; going before Set costs `abort`.

    The target time follows from the displayed interval, in whole steps: `wanted` in the record, ms
    from the onset of Set.

    Deviations from the paper:

    - intervals are uniform between two bounds, not one of a few; several gains need several tasks;
    - the cue that indicates the gain in the paper is not shown;
    - the subject fixates for a fixed time before Ready.

    Args:
        gain: wanted time as a multiple of the interval.
        shortest, longest: bounds of the interval, ms.
        flash: duration of Ready and of Set, ms; one step at least.
        tolerance_share: tolerance as a fraction of the wanted time; `tolerance_ms` is added.
        tolerance_ms: constant part of the tolerance, ms.
    """

    gain: float = 1.0  # as in NeuroGym
    shortest: float = 800  # as in NeuroGym
    longest: float = 1500  # as in NeuroGym
    flash: float = 83  # as in NeuroGym: five frames of a 60 Hz screen

    timing = {"fixation": 100}  # ms, as in NeuroGym
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self) -> None:
        if self.gain <= 0:
            raise InvalidValueError(
                f"ReadySetGo was given gain={self.gain:g}; give a positive number."
            )
        self.observe(fixation=1, ready=1, set=1)
        self.act(fixate=1, go=1)
        self.vary(interval=Uniform(self.shortest, self.longest))

    def new_trial(self, trial: TrialBuilder) -> None:
        production = 2 * self.gain * trial.interval  # as in NeuroGym: twice the wanted time
        trial.periods(
            "fixation", "measure", "production", measure=trial.interval, production=production
        )
        flash = max(self.flash, self.dt)
        trial.show("fixation", 1, during=("fixation", "measure"))
        trial.show("ready", 1, during="measure", stop=flash)
        trial.show("set", 1, during="production", stop=flash)
        wanted = self.gain * trial.duration("measure")
        self.ask_at(trial, "go", wanted, during="production")
        trial.record(wanted=wanted)
