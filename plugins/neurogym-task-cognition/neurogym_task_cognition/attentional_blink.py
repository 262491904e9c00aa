"""Attentional blink."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, InvalidValueError, Task, TrialBuilder

LETTERS = tuple("ABCDEFGH")
LAGS = 8


class AttentionalBlink(Task):
    """Name the white letter of a rapid stream, and say whether an X followed it.

    Raymond, Shapiro & Arnell (1992), Journal of Experimental Psychology: Human Perception and
    Performance 18:849, doi:10.1037/0096-1523.18.3.849.

    After fixation, letters follow each other every `soa` ms. One of them is white (the target); 7
    to 15 letters come before it, and 8 after it. In half of the trials one of these 8 is an X (the
    probe), at each lag equally often. Then the subject is asked for the target (choices A to H of
    `report`), and whether there was a probe (choices absent and present of `detect`). The letters
    have a unit each, with independent noise on every step; the white of the target and the
    questions have none.

    The answers are the slots `target` and `probe` of the record, and performance is the fraction of
    the two that is right: 0.3125 for guessing. The ideal observer, which knows when each letter
    begins, earns 0.842: it names 0.838 of the targets, and is right about the probe in 0.847 of the
    trials, at all lags alike. People who name the target often miss the probe if it follows within
    half a second; an observer or a network without a bottleneck does not.

    Deviations from the paper:

    - each letter stays until the next one; there, it was brief and a blank followed;
    - numbers of letters, their rate and the questions' durations were not compared with the text of
      the paper, and count as ours, as the noise does; there are 8 letters besides the X.

    Args:
        soa: time from letter to letter, ms.
        sigma: SD of the noise of the letters, times sqrt(ms).
    """

    dt: float = 50
    soa: float = 100
    sigma: float = 4.0

    timing = {"fixation": 300, "target": 600, "probe": 600}  # ms
    rewards = {"abort": -0.1, "correct": 0.5, "error": 0.0}

    def define(self) -> None:
        if not self.soa > 0:
            raise InvalidValueError(
                f"AttentionalBlink was given soa={self.soa!r}; give a positive number of ms."
            )
        self.observe(fixation=1, letter=(*LETTERS, "X"), white=1, question=("target", "probe"))
        self.act(rest=1, report=LETTERS, detect=("absent", "present"))
        self.vary(
            before=Choice(range(7, 16)),
            lag=Choice(range(1, LAGS + 1)),
            letter=Choice(len(LETTERS)),
            present=Choice(2),
            others=_never_twice_in_a_row,
        )

    def new_trial(self, trial: TrialBuilder) -> None:
        before, rows = trial["before"], np.arange(trial.n)
        place = np.arange(trial["others"].shape[1])
        letters = np.where(place > before[:, None] + LAGS, -1, trial["others"])
        letters[rows, before] = trial["letter"]
        probe = rows[trial["present"] == 1]
        letters[probe, (before + trial["lag"])[probe]] = len(LETTERS)
        stream = self.soa * (before + 1 + LAGS)
        trial.periods("fixation", "stream", "target", "probe", stream=stream)
        trial.show("fixation", 1, during=("fixation", "stream"))
        trial.sequence("letter", letters, during="stream", soa=self.soa, noise=self.sigma)
        trial.show(
            "white", 1, during="stream", start=self.soa * before, stop=self.soa * (before + 1)
        )
        trial.show("question", [1, 0], during="target")
        trial.show("question", [0, 1], during="probe")
        trial.answer("report", trial["letter"], during="target", slot="target", then="probe")
        trial.answer("detect", trial["present"], during="probe", slot="probe")


def _never_twice_in_a_row(rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
    """Letters of the stream, (n, 24)."""
    steps = rng.integers(1, len(LETTERS), (prior.n, 16 + LAGS))  # type: ignore[attr-defined]
    return np.cumsum(steps, axis=1) % len(LETTERS)
