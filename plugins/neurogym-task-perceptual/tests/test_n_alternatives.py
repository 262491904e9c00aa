"""NAltPerceptualDecisionMaking: evidence, numbers of alternatives."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_perceptual.n_alternatives import NAltPerceptualDecisionMaking

from neurogym_core import InvalidValueError


@pytest.mark.parametrize("alternatives", [2, 3, 4])
def test_the_winner_is_stronger_by_the_coherence_for_any_number_of_alternatives(alternatives):
    task = NAltPerceptualDecisionMaking(alternatives=alternatives, coherences=(12.8,))
    batch = task.sample(60, seed=1)
    shown = batch.shown[:, batch.period == 1][:, 0][:, task.channels["stimulus"]]
    np.testing.assert_array_equal(shown.argmax(axis=1), batch.conditions["strongest"])
    np.testing.assert_allclose(np.ptp(shown, axis=1), 0.128, atol=1e-6)
    assert set(batch.conditions["strongest"]) == set(range(alternatives))


def test_fewer_alternatives_are_cued_and_the_others_never_right_nor_shown():
    task = NAltPerceptualDecisionMaking(alternatives=4, fewest=2)
    batch = task.sample(300, seed=3)
    offered = batch.conditions["offered"]
    assert set(offered) == {2, 3, 4}
    assert (batch.conditions["strongest"] < offered).all()
    stimulus = batch.shown[:, batch.period == 1][:, 0]
    shown = stimulus[:, task.channels["stimulus"]] > 0
    np.testing.assert_array_equal(shown, np.arange(4) < offered[:, None])
    np.testing.assert_array_equal(stimulus[:, task.channels["offered"]].argmax(axis=1) + 2, offered)
    assert "offered" not in NAltPerceptualDecisionMaking().channels


def test_one_alternative_is_refused():
    with pytest.raises(InvalidValueError, match="at least 2"):
        NAltPerceptualDecisionMaking(alternatives=1)


def test_fixation_does_not_reveal_the_number_of_alternatives():
    """With few alternatives the first ones would otherwise be more likely."""
    task = NAltPerceptualDecisionMaking(alternatives=4, fewest=2)
    batch = task.sample(50, seed=4)
    assert (batch.shown[:, batch.period == 0][:, :, 1:] == 0).all()
