"""`Noise` adds to the observations, and changes nothing else."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from small_tasks import Choosing

from neurogym_core import Noise, make_task
from neurogym_core.errors import InvalidValueError, UnknownNameError


def test_variances_of_noise_add_up_on_the_channels_asked_for():
    task = Noise(Choosing(dt=50), sigma=2.0, noisy_channels=("stimulus",))
    batch = task.sample(400, seed=0)
    added = batch.render(np.random.default_rng(0)) - batch.render(None)
    shown = np.repeat(batch.period == 1, batch.duration[0])
    during = np.tile(shown, 400)
    for rows, variance in ((during, (1 + 4) / 50), (~during, 4 / 50)):
        values = added[rows, 1:]
        assert abs(values.var() / variance - 1) < 5 * np.sqrt(2 / values.size)
    assert not added[:, 0].any()
    assert Noise(Choosing()).sample(2, seed=0).render(np.random.default_rng(0))[:, 0].std() > 0


def test_it_is_a_value_and_is_found_by_name():
    task = make_task(Choosing, wrap="Noise")
    assert task == Noise(Choosing()) == pickle.loads(pickle.dumps(task)) != Choosing()
    assert make_task(Choosing, wrap="noise") == task


def test_impossible_noise_is_refused():
    with pytest.raises(InvalidValueError, match="a number above 0"):
        Noise(Choosing(), sigma=0.0)
    with pytest.raises(UnknownNameError, match="Did you mean 'stimulus'"):
        Noise(Choosing(), noisy_channels=("stimulis",))
