"""`NetworkSubject` and `record_activity`: actions and activations, trial by trial."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from neurogym_neural import Activity
from neurogym_torch import (
    GRU,
    LSTM,
    LeakyRNN,
    NetworkLayout,
    NetworkSubject,
    TorchDataset,
    record_activity,
)

from neurogym_core import InvalidValueError, NotSupportedError, UnknownNameError, make_task, run

COMPARED = ("choice", "outcome", "reaction_time", "reward", "performance")


def networks(task, hidden=12):
    sizes = (task.channels.size, task.actions.size, hidden)
    return [LeakyRNN(*sizes, dt=task.dt, seed=3), GRU(*sizes, seed=3), LSTM(*sizes, seed=3)]


def loud(network):
    """Return a network with weights so large that it acts."""
    with torch.no_grad():
        for value in network.parameters():
            value *= 3
    return network


@pytest.mark.parametrize("which", range(3))
def test_playing_and_scoring_whole_trials_agree(tasks, which):
    # One env and a dataset of batch size 1 with the same seed and split are one stream; without
    # noise, their observations are equal.
    task = tasks.Sides(sigma=0.0)
    network = loud(loud(networks(task)[which]))
    played = run(task, NetworkSubject(network), 40, num_envs=1, seed=5, split=None)
    dataset = TorchDataset(task, 1, seed=5)
    for row in range(40):
        batch = next(dataset)
        scored = batch.score(network(batch.inputs)[0])
        for name in COMPARED:
            np.testing.assert_array_equal(scored[name][0], played[name][row], err_msg=name)
    assert len(set(played["outcome"])) > 1, "a network that does one thing only shows nothing here"


def test_the_state_outlives_a_trial_only_with_carry(tasks):
    task = tasks.Directions()
    network = loud(networks(task)[1])
    fresh, carried = (
        run(task, NetworkSubject(network, carry=carry), 60, num_envs=2, seed=1, split=None)
        for carry in (False, True)
    )
    assert fresh["reward"].tolist() != carried["reward"].tolist()


def test_a_subject_of_several_tasks_reads_its_own_units(tasks):
    pair = [tasks.Directions(), tasks.Sides()]
    layout = NetworkLayout(pair)
    network = GRU(layout.n_inputs, layout.n_outputs, 12, seed=1)
    record = run(pair[1], NetworkSubject(network, layout, 1), 20, num_envs=4, seed=1)
    assert set(record.codes()) <= {-1, 0, 1}


def test_unit_outputs_are_read_as_they_were_trained(tasks):
    task = tasks.Directions()

    class Copy(torch.nn.Module):
        """Rests until the response window, then points where the cue points."""

        def __init__(self):
            super().__init__()
            self.none = torch.nn.Parameter(torch.zeros(1))

        def initial_state(self, batch):
            return torch.zeros(batch, 1)

        def unroll(self, inputs, state=None, generator=None):
            state = state + 1  # steps of this trial
            rest = (state < 4).float()[:, None]
            return torch.cat([rest, inputs], dim=2), inputs, state

    record = run(task, NetworkSubject(Copy(), targets="units"), 50, num_envs=4, seed=1)
    assert (record["outcome"] == "correct").all()


def test_continuous_outputs_are_clipped(tasks):
    task = tasks.Position()
    network = loud(loud(GRU(1, 1, 8, seed=1)))
    assert len(run(task, NetworkSubject(network), 10, num_envs=2, seed=1)) == 10


# ---- activity ----


def test_activations_are_those_of_the_network_and_end_with_the_trial(tasks):
    task = tasks.Sides(sigma=0.0)
    network = loud(networks(task)[0])
    activity = record_activity(network, task, 30, layers=("hidden", "outputs", "inputs"), seed=2)
    assert len(activity) == len(activity.record) == 30
    steps = task.sample(30, 2).steps
    for trial in (0, 7, 29):
        shown = activity["inputs"][trial, : steps[trial]]
        outputs, hidden = network(torch.from_numpy(shown)[None])
        np.testing.assert_allclose(
            activity["hidden"][trial, : steps[trial]], hidden[0].detach(), rtol=1e-4, atol=1e-4
        )
        np.testing.assert_allclose(
            activity["outputs"][trial, : steps[trial]], outputs[0].detach(), rtol=1e-4, atol=1e-4
        )
        assert np.isnan(activity["hidden"][trial, steps[trial] :]).all()


def test_a_design_determines_the_trials_and_is_in_the_record(tasks):
    task = tasks.Sides()
    activity = record_activity(networks(task)[0], task, task.factorial(repeats=3))
    assert sorted(zip(activity.record["side"], activity.record["strength"], strict=True)) == sorted(
        [(side, strength) for side in (0, 1) for strength in (0.2, 1.0)] * 3
    )
    assert (
        record_activity(networks(task)[0], task, 10, strength=1.0).record["strength"] == 1.0
    ).all()


def test_windows_are_aligned_to_periods(tasks):
    task = tasks.Sides(sigma=0.0)
    activity = record_activity(networks(task)[0], task, 50, layers=("inputs",), seed=1)
    fixation = activity.record["duration.fixation"] / task.dt
    assert len(set(fixation)) > 1
    window = activity.during("stimulus").rates
    assert window.shape == (50, 5, 3)
    assert (window[..., 1:].sum(axis=2) > 0).all()
    around = activity.align("stimulus", before=200, after=100).rates
    assert around.shape == (50, 3, 3)
    assert (around[:, 2, 1:].sum(axis=1) > 0).all()
    assert np.isnan(around[fixation < 2][:, 0]).all(), "there is nothing before a trial"
    lengths = (~np.isnan(activity.during("fixation").rates[..., 0])).sum(axis=1)
    np.testing.assert_array_equal(lengths, fixation)
    delay = activity.align("delay", 100, 100).rates
    assert np.isnan(delay).all(), "the delay is skipped"


def test_the_answer_is_an_event_at_the_end_of_its_step(tasks):
    task = tasks.Sides()
    activity = record_activity(loud(networks(task)[0]), task, 50, layers=("outputs",), seed=1)
    answered = np.isfinite(activity.events["answer"])
    assert answered.any()
    last = activity.align("answer", before=task.dt, after=0).rates[answered, 0]
    choices = activity.record.codes()[answered]
    np.testing.assert_array_equal(last.argmax(axis=1) - 1, choices)
    spent = activity.record["reaction_time"][answered] + activity.events["decision"][answered]
    np.testing.assert_allclose(activity.events["answer"][answered], spent)


def test_a_perturbation_changes_its_steps_and_nothing_before(tasks):
    task = tasks.Sides()
    network = networks(task)[0]

    def pulse(inputs):
        time = inputs.time - inputs.events["stimulus"][:, None]
        return inputs.rates + 0.5 * ((time >= 100) & (time < 200))[..., None]

    layers = ("inputs", "hidden")
    plain = record_activity(network, task, 20, layers=layers, seed=4)
    pulsed = record_activity(network, task, 20, layers=layers, change=pulse, seed=4)
    differ = pulsed["inputs"] - plain["inputs"]
    at = pulsed.align("stimulus", 0, 400).time == 100
    aligned = Activity(
        differ, plain.record, step=task.dt, events={"stimulus": plain.events["stimulus"]}
    ).align("stimulus", 0, 400)
    np.testing.assert_allclose(aligned.rates[:, at], 0.5, atol=1e-6)
    np.testing.assert_array_equal(aligned.rates[:, ~at], 0)
    before = plain.time < plain.events["stimulus"][:, None] + 100
    np.testing.assert_array_equal(plain["hidden"][before], pulsed["hidden"][before])
    assert (np.nan_to_num(plain["hidden"] - pulsed["hidden"]) != 0).any()
    np.testing.assert_array_equal(plain.record["side"], pulsed.record["side"])
    with pytest.raises(InvalidValueError, match="change= returned"):
        record_activity(network, task, 5, change=lambda inputs: inputs.rates[:, :1])


def test_any_module_of_a_network_can_be_recorded(tasks):
    task = tasks.Sides()
    activity = record_activity(
        networks(task)[1], task, 5, layers=("readout", "recurrent", "outputs")
    )
    np.testing.assert_array_equal(activity["readout"], activity["outputs"])
    assert activity["recurrent"].shape[2] == 12


def test_an_invalid_recording_is_refused(tasks):
    task = tasks.Sides()
    gru = networks(task)[1]
    with pytest.raises(UnknownNameError, match="readout"):
        record_activity(gru, task, 5, layers=("readuot",))
    activity = record_activity(gru, task, 5)
    with pytest.raises(UnknownNameError, match="hidden"):
        activity["outputs"]
    with pytest.raises(UnknownNameError, match="fixation"):
        activity.during("fixatoin")
    with pytest.raises(InvalidValueError, match="at least a step"):
        activity.align("stimulus", 0, 10)
    with pytest.raises(NotSupportedError, match="with a table of trials"):
        record_activity(gru, tasks.Cursor(), 5)


def test_tasks_of_other_packages_are_recorded_by_name():
    task = make_task("yang19/DMS-v0")
    network = LeakyRNN(task.channels.size, task.actions.size, 8, dt=task.dt)
    activity = record_activity(network, "yang19/DMS-v0", 6, targets="units")
    assert "duration.delay" in activity.record


def test_the_activity_of_a_network_goes_to_nwb_and_back(tasks, tmp_path):
    pytest.importorskip("pynwb", reason="pynwb is not installed")
    from neurogym_neural import add_to_nwb, read_nwb
    from neurogym_records import to_nwb

    task = tasks.Sides()
    activity = record_activity(networks(task)[0], task, 12, seed=2)
    counts = activity.observed(hz=20, seed=1)
    to_nwb(counts.record, tmp_path / "a.nwb")
    add_to_nwb(counts, tmp_path / "a.nwb")
    back = read_nwb(tmp_path / "a.nwb", step=counts.step)
    # A trial in the file ends with the answer.
    seen = np.isfinite(back.rates)
    assert seen.any(axis=(1, 2)).all()
    np.testing.assert_array_equal(back.rates[seen], counts.rates[:, : seen.shape[1]][seen])
