"""`record_activity`: states of a network that plays, in the type of all networks and neurons."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_jax import ppo, record_activity
from neurogym_jax.trainers import JaxSubject
from neurogym_neural import Activity, Freeze, Pulse, Silence, tuning

from neurogym_core import InvalidValueError, NotSupportedError, UnknownNameError, run


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


# ---- perturbations ----

PULSE = {"at": "stimulus", "after": 100, "ms": 200}


def paired(tasks, subject, layers=("hidden", "outputs"), **perturbation):
    """Return activity without and with a perturbation."""
    play = {"layers": layers, "seed": 4}
    plain = record_activity(subject, tasks.Jittered, 30, **play)
    return plain, record_activity(subject, tasks.Jittered, 30, **play, **perturbation)


@pytest.mark.parametrize(
    "zero",
    [{"change": Pulse([1], 0.0, **PULSE)}, {"push": Pulse([1], 0.0, **PULSE)}],
    ids=["inputs", "states"],
)
def test_a_pulse_of_zero_is_exactly_the_unperturbed_trial(tasks, subject, zero):
    plain, again = paired(tasks, subject, **zero)
    np.testing.assert_array_equal(plain.rates, again.rates)
    assert plain.record == again.record


@pytest.mark.parametrize(
    ("moved", "first"),
    [({"change": Pulse([1], 3.0, **PULSE)}, 100), ({"push": Pulse([1], 3.0, **PULSE)}, 200)],
    ids=["inputs", "states"],
)
def test_a_pulse_changes_the_steps_from_its_onset_on(tasks, subject, moved, first):
    """A pulse to a state comes after the step: rates change on the next one."""
    plain, other = paired(tasks, subject, **moved)
    assert (plain.record["strength"] == other.record["strength"]).all()
    one, two = (each.align("stimulus", 400, 500) for each in (plain, other))
    before = one.time < first
    np.testing.assert_array_equal(one.rates[:, before], two.rates[:, before])
    onset = np.flatnonzero(one.time == first)[0]
    both = np.isfinite(one.rates[:, onset, 0]) & np.isfinite(two.rates[:, onset, 0])
    assert both.sum() > 10
    assert (np.abs(one.rates - two.rates)[both, onset].max(axis=1) > 1e-3).all()


def test_trials_after_a_perturbed_one_begin_as_without_it(tasks, subject):
    plain, moved = paired(tasks, subject, push=Pulse([0, 5], 2.0, **PULSE))
    later = plain.record["trial"] % 4 > 0  # within a session
    np.testing.assert_array_equal(plain.rates[later, 0], moved.rates[later, 0])
    assert (np.abs(plain.rates[later, 0, :8]) > 1e-3).any()
    assert not np.array_equal(plain.rates, moved.rates, equal_nan=True)


def test_a_pulse_to_the_inputs_is_what_the_network_sees(tasks, subject):
    pulse = Pulse([1, 2], [0.5, -1.0], **PULSE)
    plain, moved = paired(tasks, subject, layers=("inputs",), change=pulse)
    length = min(plain.rates.shape[1], moved.rates.shape[1])
    difference = (moved.rates - plain.rates)[:, :length]
    added = pulse.added(plain)[:, :length]
    known = np.isfinite(difference)
    assert (added[known] != 0).sum() > 20
    np.testing.assert_allclose(difference[known], added[known], atol=1e-6)


def test_a_lesion_of_all_units_leaves_the_answer_of_the_bias(tasks, subject):
    bias = np.array([0.0, 0.5, -1.0], np.float32)
    biased = JaxSubject({**subject.weights, "policy_bias": bias})
    plain, lesioned = paired(tasks, biased, silence=Silence(range(8)))
    outputs = plain["outputs"][np.isfinite(plain["outputs"]).all(axis=2)]
    assert (outputs.argmax(axis=1) != 1).any()
    assert (np.nan_to_num(lesioned["hidden"]) == 0).all()
    shown = np.isfinite(lesioned["outputs"]).all(axis=2)
    np.testing.assert_array_equal(
        lesioned["outputs"][shown], np.broadcast_to(bias, (shown.sum(), 3))
    )
    # The first choice on every step: also while it should hold.
    assert (lesioned.record["aborts"] > 0).all()


def test_units_are_silent_in_a_period_alone(tasks, subject):
    plain, quiet = paired(tasks, subject, layers=("hidden",), silence=Silence([0, 3], "stimulus"))
    during = quiet.during("stimulus").rates
    assert (np.nan_to_num(during[..., [0, 3]]) == 0).all()
    assert (np.nan_to_num(during[..., 1]) != 0).any()
    before = plain.align("stimulus", 400, 0), quiet.align("stimulus", 400, 0)
    np.testing.assert_array_equal(before[0].rates, before[1].rates)
    # With the stimulus they are silent, and the others hear it one step later.
    first = plain.align("stimulus", 0, 100).rates, quiet.align("stimulus", 0, 100).rates
    np.testing.assert_array_equal(first[0][..., [1, 2]], first[1][..., [1, 2]])
    second = plain.align("stimulus", -100, 200).rates, quiet.align("stimulus", -100, 200).rates
    both = np.isfinite(second[0]).all(axis=(1, 2)) & np.isfinite(second[1]).all(axis=(1, 2))
    assert both.sum() > 5
    assert (np.abs(second[0] - second[1])[both][..., [1, 2]] > 1e-5).any(axis=(1, 2)).all()


def test_frozen_inputs_are_those_of_the_first_step_of_the_period(tasks, subject):
    plain, frozen = paired(tasks, subject, layers=("inputs",), change=Freeze("stimulus"))
    held, shown = frozen.during("stimulus").rates, plain.during("stimulus").rates
    held = held[:, : shown.shape[1]]
    kept = np.isfinite(held) & np.isfinite(shown[:, : held.shape[1]])
    np.testing.assert_array_equal(held[kept], np.broadcast_to(shown[:, :1], held.shape)[kept])
    assert not np.array_equal(held[kept], shown[:, : held.shape[1]][kept])


def test_perturbations_of_other_periods_units_and_trials_are_refused(tasks, subject):
    for name in ("change", "push"):
        with pytest.raises(UnknownNameError, match="stimulus"):
            record_activity(subject, tasks.Sides, 3, **{name: Pulse([1], 1.0, at="stimulsu")})
        with pytest.raises(InvalidValueError, match="indices below"):
            record_activity(subject, tasks.Sides, 3, **{name: Pulse([8], 1.0, at="stimulus")})
    with pytest.raises(UnknownNameError, match="stimulus"):
        record_activity(subject, tasks.Sides, 3, silence=Silence([0], "stimulsu"))
    with pytest.raises(InvalidValueError, match="inputs of shape"):
        record_activity(subject, tasks.Sides, 3, change=lambda shown: shown.rates[0])
    with pytest.raises(InvalidValueError, match="1 env"):
        record_activity(subject, tasks.Sides, 3, num_envs=2, silence=Silence([0]))
    with pytest.raises(NotSupportedError, match="the same after other answers"):
        record_activity(subject, tasks.Opposed, 3, silence=Silence([0]))
