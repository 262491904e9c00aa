"""Stop-signal task with a staircase of the stop-signal delay."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, InvalidValueError, OneHot, Session, Task, TrialBuilder


class StopSignal(Task):
    """Respond to the side of a go stimulus, but withhold the response if a stop signal follows.

    Logan, Cowan & Davis (1984), Journal of Experimental Psychology: Human Perception and
    Performance 10:276, doi:10.1037/0096-1523.10.2.276; staircase, proportions and durations:
    Verbruggen, Aron, Band, et al. (2019), eLife 8:e46323, doi:10.7554/eLife.46323, and their
    program STOP-IT.

    A go stimulus appears on the left (0) or on the right (1), and the subject presses that side as
    fast as it can. On a quarter of the trials a stop signal appears after the stop-signal delay
    (SSD), and the subject has to withhold its response. A staircase per session sets the SSD: it
    rises by one step after a stop trial without a response, and falls by one step after a stop
    trial with a response, whether the response came before or after the signal. So the subject
    stops in about half of the stop trials, and the time that stopping takes (SSRT) can be estimated
    from the SSDs and the reaction times.

    Performance is the fraction of trials with a correct press, or without a press on stop trials.
    Always pressing the same side earns 0.375, never pressing 0.25, and pressing the right side
    without regard to the stop signal 0.75. Waiting for a possible signal defeats the staircase, and
    costs nothing here: the SSD rises to its limit, and a subject that presses only after 1.2 s,
    when no signal can come any more, earns 1; its SSRT means nothing. One that presses at once
    fails in all stop trials. Look at the reaction times of a subject that was trained on
    performance.

    A session is the four blocks of 64 trials of STOP-IT. The condition `ssd` is the delay on stop
    trials, and the current level of the staircase on go trials. In a supervised loss, the steps
    before the stop signal have the weight 0, because there the trial is still a go trial for the
    subject.

    Deviations from the paper:

    - rewards are ours; people are instructed and get none;
    - stop trials are drawn independently, not balanced within blocks;
    - an interval of 500 ms before fixation is part of the fixation period, and the trial ends with
      the response.

    Args:
        p_stop: proportion of stop trials.
        first_ssd: SSD at the beginning of a session, ms.
        ssd_step: step of the staircase and lowest SSD, ms.
        longest_ssd: highest SSD, ms.
    """

    dt: float = 10
    trials_per_session: int | None = 256
    p_stop: float = 0.25
    first_ssd: float = 200
    ssd_step: float = 50
    longest_ssd: float = 1200

    timing = {"fixation": 750, "stimulus": 1250}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    reads_outcomes = True

    def define(self) -> None:
        low, high = self.ssd_step, self.longest_ssd
        if not (0 <= self.p_stop <= 1 and 0 < low <= self.first_ssd <= high):
            raise InvalidValueError(
                f"StopSignal was given p_stop={self.p_stop:g}, ssd_step={low:g},"
                f" first_ssd={self.first_ssd:g} and longest_ssd={high:g}; give a proportion, and"
                " 0 < ssd_step <= first_ssd <= longest_ssd."
            )
        self.observe(fixation=1, stimulus=OneHot(("left", "right")), stop=1)
        self.act(rest=1, press=("left", "right"))
        self.vary(
            side=Choice(2),
            stop=Choice((False, True), p=(1 - self.p_stop, self.p_stop)),
            ssd=lambda rng, prior: np.full(prior.n, self.first_ssd),
        )
        self.correct_choice(lambda drawn: np.where(drawn["stop"], -1, drawn["side"]))

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.ssd = np.full(len(session), self.first_ssd)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        was = session.previous
        change = np.where(was["choice"] < 0, self.ssd_step, -self.ssd_step) * was["stop"]
        session.ssd = np.clip(session.ssd + change, self.ssd_step, self.longest_ssd)
        return self.draw_conditions(rng, len(session), {"ssd": session.ssd})

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "stimulus")
        trial.show("fixation", 1, during="fixation")
        side = self.channels.encoder("stimulus").encode(trial["side"])
        trial.show("stimulus", side, during="stimulus")
        trial.show("stop", 1, during="stimulus", start=trial["ssd"], where=trial["stop"])
        trial.loss_weight(0, during="stimulus", stop=trial["ssd"], where=trial["stop"])
        trial.answer("press", trial.correct_choice, during="stimulus")
