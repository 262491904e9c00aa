"""Odours: one sniff shows all, and time has a price."""

from __future__ import annotations

from math import erf

import numpy as np
import pytest
from neurogym_task_perceptual.observers import Sniffer
from neurogym_task_perceptual.odour_categorisation import OdourCategorisation

from neurogym_core import InvalidValueError, Subject, run
from neurogym_core.tools import find_task

IDEAL = 0.863
SHARES = (0, 20, 32, 44, 56, 68, 80, 100)


def played(subject, trials=8000, **given):
    return run(OdourCategorisation(**given), subject, trials, num_envs=200, seed=1)


def test_mixtures_are_equally_likely_and_their_noise_has_the_stated_size():
    """5 SEs of 8,000 trials."""
    task = OdourCategorisation()
    batch = task.sample(8000, seed=1)
    for share in SHARES:
        rows = batch.conditions["share"] == share
        assert rows.mean() == pytest.approx(1 / 8, abs=0.019)
    odour = batch.render(None).reshape(8000, -1, 3)[:, :, task.channels["odour"]]
    assert not odour[:, :15].any()
    np.testing.assert_array_equal(odour[:, 15:], np.repeat(odour[:, 15:16], 50, axis=1))
    parts = np.stack([100 - batch.conditions["share"], batch.conditions["share"]], axis=1) / 100
    off = odour[:, 20] - parts
    assert off.std() == pytest.approx(0.24, abs=0.007)
    assert off.mean() == pytest.approx(0, abs=0.01)
    assert np.corrcoef(off.T)[0, 1] == pytest.approx(0, abs=0.056)


def test_the_ideal_observer_reaches_the_ideal_of_the_manifest():
    """8,000 trials: 4 SEs; 2,000 of each mixture: 4 SEs, and the rounding of the page."""
    assert find_task("perceptual/OdourCategorisation-v0").ideal["value"] == IDEAL
    record = played(Sniffer())
    assert record["performance"].mean() == pytest.approx(IDEAL, abs=0.016)
    hard = np.abs(record["share"] - 50)
    found = [record["performance"][hard == one].mean() for one in (6, 18, 30, 50)]
    theory = [
        (1 + erf(2 * one / 100 / np.sqrt(2) / 0.24 / np.sqrt(2))) / 2 for one in (6, 18, 30, 50)
    ]
    np.testing.assert_allclose(theory, [0.64, 0.86, 0.96, 1.00], atol=0.006)
    np.testing.assert_allclose(found, theory, atol=0.043)
    assert np.mean(theory) == pytest.approx(IDEAL, abs=0.001)


def test_time_brings_no_accuracy_and_costs_reward():
    soon, late = played(Sniffer()), played(Sniffer(waits=700))
    np.testing.assert_array_equal(soon["outcome"] == "correct", late["outcome"] == "correct")
    right = late["outcome"] == "correct"
    np.testing.assert_allclose(late["reward"][right], 1 - 0.5 * 600 / 900, atol=1e-6)
    np.testing.assert_allclose(soon["reward"][right], 1.0, atol=1e-6)
    free = played(Sniffer(waits=700), price=0.0)
    assert free["performance"].mean() == soon["performance"].mean()


def test_reports_before_100_ms_do_not_count():
    record = played(Sniffer(waits=0), 200)
    right = record["outcome"] == "correct"
    assert 0.5 < right.mean() < 1
    np.testing.assert_allclose(record["reward"], right - 0.1, atol=1e-6)  # holding is broken


def test_the_right_report_is_that_of_the_larger_part():
    record = played("oracle", 300)
    np.testing.assert_array_equal(record["choice"], np.where(record["share"] > 50, "right", "left"))


def test_single_env_and_vector_env_agree(same_in_both):
    same_in_both(OdourCategorisation())


@pytest.mark.parametrize(
    "wrong", [{"shares": ()}, {"shares": (50,)}, {"shares": (120,)}, {"sigma": -1}, {"price": 2}]
)
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="OdourCategorisation"):
        OdourCategorisation(**wrong)


class OneOdour(Subject):
    """Smells the first of the two odours alone, once reports count."""

    def begin(self, env):
        self.steps = np.zeros(env.num_envs)

    def __call__(self, env, observations):
        odours = observations[:, env.task.channels["odour"]]
        self.steps = np.where(odours.any(1), self.steps + 1, 0)
        said = np.where(odours[:, 0] > 0.5, 1, 2)
        return np.where(self.steps * env.task.dt > 100, said, 0)


def test_one_odour_alone_earns_what_the_page_says():
    # The SE is below 0.01.
    earned = run(OdourCategorisation, OneOdour(), 1500, seed=1)["performance"].mean()
    assert abs(earned - 0.81) < 0.03
    assert "0.81" in OdourCategorisation.__doc__
