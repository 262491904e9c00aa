"""Durations that a user imposes may be shorter or longer than the author's times within them."""

from __future__ import annotations

import numpy as np
import pytest

from neurogym_core import Task
from neurogym_core.tasks.building import build_imposed


class Late(Task):
    """A tone begins 300 ms into the stimulus, and a pulse train has 50 ms per value."""

    dt = 50
    timing = {"stimulus": 500}

    def define(self):
        self.observe(tone=1, pulses=1)
        self.act(rest=1, press=1)

    def new_trial(self, trial):
        trial.periods("stimulus")
        trial.show("tone", 1, during="stimulus", start=300)
        trial.timecourse("pulses", np.ones((10, 1)), during="stimulus")
        trial.answer("press", 0, during="stimulus")


@pytest.mark.parametrize(("ms", "tone", "pulses"), [(200, 0, 4), (500, 4, 10), (1000, 14, 10)])
def test_an_imposed_duration_cuts_what_lies_beyond_and_adds_zeros(ms, tone, pulses):
    batch = build_imposed(Late(), np.random.default_rng(0), 3, {"duration.stimulus": ms})
    shown = batch.render(None)
    assert shown.sum(axis=0).tolist() == [3 * tone, 3 * pulses]
