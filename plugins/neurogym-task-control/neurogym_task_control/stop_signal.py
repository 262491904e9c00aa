"""Stop-signal task with a staircase of the stop-signal delay."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, InvalidValueError, OneHot, Session, Task, TrialBuilder

BIN = 50
"""Length of a bin of reaction times with one reward, ms."""


class PatientStopSignal(Task):
    """Respond to the side of a stimulus, at any time, but withhold if a stop signal follows.

    Logan, Cowan & Davis (1984), Journal of Experimental Psychology: Human Perception and
    Performance 10:276, doi:10.1037/0096-1523.10.2.276; staircase, proportions and durations:
    Verbruggen, Aron, Band, et al. (2019), eLife 8:e46323, doi:10.7554/eLife.46323, and their
    program STOP-IT.

    Trials, staircase, sessions, the condition `ssd` and the weights of a loss are those of version
    1 of StopSignal, but a correct press earns the same at any time.

    Performance is the fraction of trials with a correct press, or without a press on stop trials.
    Always pressing the same side earns 0.375, never pressing 0.25, and pressing the right side
    without regard to the stop signal 0.75. Waiting for a possible signal defeats the staircase, and
    costs nothing here: the SSD rises to its limit, and a subject that presses only after 1.2 s,
    when no signal can come any more, earns 1; its SSRT means nothing. One that presses at once
    fails in all stop trials.

    Deviations from the paper: those of version 1, without a price of time.

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
                f"{self.name} was given p_stop={self.p_stop:g}, ssd_step={low:g},"
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
        self._ask(trial)

    def _ask(self, trial: TrialBuilder) -> None:
        """Open the response window."""
        trial.answer("press", trial.correct_choice, during="stimulus")


class StopSignal(PatientStopSignal):
    """Respond quickly to the side of a go stimulus, but withhold if a stop signal follows.

    Logan, Cowan & Davis (1984), Journal of Experimental Psychology: Human Perception and
    Performance 10:276, doi:10.1037/0096-1523.10.2.276; staircase, proportions and durations:
    Verbruggen, Aron, Band, et al. (2019), eLife 8:e46323, doi:10.7554/eLife.46323, and their
    program STOP-IT, whose settings are the defaults (github.com/fredvbrug/STOP-IT).

    A go stimulus appears on the left (0) or on the right (1), and the subject presses that side as
    fast as it can. On a quarter of the trials a stop signal appears after the stop-signal delay
    (SSD), and the subject has to withhold its response. A staircase per session sets the SSD: it
    rises by one step after a stop trial without a response, and falls by one step after a stop
    trial with a response, whether the response came before or after the signal. So the subject
    stops in about half of the stop trials, and the time that stopping takes (SSRT) can be estimated
    from the SSDs and the reaction times.

    Time has a price: the reward of a correct press falls linearly, in bins of about 50 ms (whole
    steps), from `correct` at the onset of the go stimulus by the share `price` of it, until the end
    of the window. People are instructed not to wait, and STOP-IT reminds them after every block,
    because waiting defeats the staircase: the SSD rises, and the SSRT means nothing.

    Performance is the reward relative to `correct`. The right side pressed after 60 ms, unless a
    signal was seen before, earns 0.84 (0.86, if it waits only where the staircase has its lowest
    delay, and presses at once otherwise), after 200 ms 0.78, after 600 ms 0.56, and after 1210 ms,
    when no signal can come any more, 0.29. Pressing the right side at once, without regard to the
    signal, earns 0.75, always the same side 0.375, never pressing 0.25, and the oracle, which
    foresees the signal, 1. A subject in whom going and stopping race, with reaction times of 500 ms
    (SD 80) and an SSRT of 200 ms, earns 0.59; its failed stops are faster than its go responses,
    and it fails more often the later the signal comes.

    A session is the four blocks of 64 trials of STOP-IT. The condition `ssd` is the delay on stop
    trials, and the current level of the staircase on go trials. In a supervised loss, the steps
    before the stop signal have the weight 0, because there the trial is still a go trial for the
    subject. Without the price of time, the task is version 0 of StopSignal.

    Deviations from the paper:

    - rewards and the price are ours; people get none, and see their mean reaction time, misses and
      stops after each block;
    - stop trials are drawn independently, not balanced within blocks;
    - an interval of 500 ms before fixation is part of the fixation period, and the trial ends with
      the response.

    Args:
        price: share of the reward of a press that is lost between the onset and the end of the
            window.
        p_stop: proportion of stop trials.
        first_ssd: SSD at the beginning of a session, ms.
        ssd_step: step of the staircase and lowest SSD, ms.
        longest_ssd: highest SSD, ms.
    """

    price: float = 1.0

    def define(self) -> None:
        if not 0 <= self.price <= 1:
            raise InvalidValueError(
                f"StopSignal was given price={self.price!r}; give a share of the reward, 0 to 1."
            )
        super().define()

    def _ask(self, trial: TrialBuilder) -> None:
        go = ~trial["stop"]
        trial.answer("press", -1, during="stimulus", where=trial["stop"])
        window = trial.duration("stimulus")
        length = max(round(BIN / self.dt), 1) * self.dt  # whole steps
        for start in np.arange(0, np.max(window), length):
            reward = self.rewards["correct"] * (1 - self.price * start / window)
            trial.answer(
                "press",
                trial["side"],
                during="stimulus",
                start=start,
                stop=start + length,
                where=go,
                correct=reward,
            )
        trial.max_reward(self.rewards["correct"])
