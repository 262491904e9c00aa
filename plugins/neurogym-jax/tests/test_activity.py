"""`record_activity`: states of a network that plays, in the type of all networks and neurons."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_jax import ppo, record_activity
from neurogym_jax.trainers import JaxSubject
from neurogym_neural import Activity, tuning

from neurogym_core import UnknownNameError, run


@pytest.fixture
def subject(tasks):
    """A network with random weights; its policy is large enough to answer."""
    weights = ppo.first_weights(np.random.default_rng(0), 3, 8, 3, continuous=False)
    return JaxSubject({**weights, "policy": weights["policy"] * 100})


def test_states_follow_from_the_inputs_over_the_trials_of_a_session(tasks, subject):
    found = record_activity(
        subject, tasks.Jittered, 30, layers=("inputs", "hidden", "outputs"), num_envs=3, seed=4
    )
    assert isinstance(found, Activity)
    assert found.layers == ("inputs", "hidden", "outputs")
    assert found.record == run(tasks.Jittered, subject, 30, num_envs=3, seed=4)
    lasts = np.isfinite(found.rates).all(axis=2).sum(axis=1)
    assert lasts.tolist() == found.record["steps"].tolist()
    assert len(set(lasts)) > 2
    for row in range(30):
        if found.record["trial"][row] % 4 == 0:  # a session has four trials
            hidden = np.zeros((1, 8), np.float32)
        for t in range(lasts[row]):
            hidden, logits, _ = ppo.network_step(
                subject.weights, hidden, found["inputs"][row, t][None], np
            )
            np.testing.assert_allclose(found["hidden"][row, t], hidden[0], atol=1e-5)
            np.testing.assert_allclose(found["outputs"][row, t], logits[0], atol=1e-4)


def test_periods_and_answers_are_events(tasks, subject):
    found = record_activity(subject, tasks.Jittered, 40, layers=("inputs",), seed=1, strength=1.0)
    assert (found.record["strength"] == 1).all()
    stimulus = found.align("stimulus", 100, 100)
    seen = np.isfinite(stimulus.rates).all(axis=(1, 2))
    assert seen.sum() >= 10
    # The noise of the evidence, on the second and the third channel, begins with the stimulus.
    assert (stimulus.rates[seen, 0, 1:] == 0).all()
    assert (stimulus.rates[seen, 1, 1:] != 0).all()
    answered = found.record["choice"] != "none"
    assert answered.any()
    np.testing.assert_allclose(
        found.events["answer"][answered], (found.record["steps"] * found.step)[answered]
    )


def test_analyses_of_neurons_take_it(tasks, subject):
    found = record_activity(subject, tasks.Sides, 80, seed=2)
    assert tuning(found.align("fixation", 0, 100), "side").q.shape == (8,)


def test_other_layers_are_refused(tasks, subject):
    with pytest.raises(UnknownNameError, match="hidden"):
        record_activity(subject, tasks.Sides, 3, layers=("hiden",))
