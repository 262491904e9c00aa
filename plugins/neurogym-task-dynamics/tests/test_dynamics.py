"""Dynamics: facts of the papers, ideals and shortcuts as they are played."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_dynamics import observers as seen_by
from neurogym_task_dynamics.context_integration import ContextIntegration
from neurogym_task_dynamics.delayed_sum import AddingProblem, DelayedSum
from neurogym_task_dynamics.flip_flop import FlipFlop
from neurogym_task_dynamics.match_to_sample import MatchToSample
from neurogym_task_dynamics.parametric_memory import PAIRS, ParametricMemory
from neurogym_task_dynamics.path_integration import PathIntegration
from neurogym_task_dynamics.perceptual_decision import PerceptualDecision
from neurogym_task_dynamics.place_cells import PathIntegrationPlaceCells
from neurogym_task_dynamics.ring_integration import RingIntegration
from neurogym_task_dynamics.sine_generator import SineGenerator

from neurogym_core import Dataset, InvalidValueError, run

IDEALS = {
    FlipFlop: seen_by.Latch,
    SineGenerator: seen_by.Oscillator,
    RingIntegration: seen_by.Compass,
    PathIntegration: seen_by.Navigator,
    PathIntegrationPlaceCells: seen_by.PlaceNavigator,
    ContextIntegration: seen_by.ContextWeigher,
    ParametricMemory: seen_by.Difference,
    PerceptualDecision: seen_by.StrengthWeigher,
    MatchToSample: seen_by.Matcher,
    DelayedSum: seen_by.Total,
    AddingProblem: seen_by.Adder,
}


def earned(task, subject, trials=1000):
    return run(task, subject, trials, num_envs=100, seed=5)["performance"].mean()


@pytest.mark.parametrize("task", IDEALS)
def test_the_ideal_earns_1_and_does_not_see_the_target(task):
    assert earned(task(), IDEALS[task](), 200) == pytest.approx(1, abs=0.005)


@pytest.mark.parametrize(
    ("task", "subject", "expected", "within"),
    [
        (FlipFlop(), seen_by.Reflex(), 0.54, 0.02),
        # The sheet of the field: memoryless, 2 % of pulses of one step: 0.51; 50 %: 0.75.
        (FlipFlop(pulse=10), seen_by.Reflex(), 0.51, 0.02),
        (FlipFlop(pulse=10, rate=25, length=640), seen_by.Reflex(), 0.75, 0.02),
        (SineGenerator(), seen_by.Oscillator(25), 0.24, 0.03),
        (RingIntegration(), seen_by.Compass(moves=False), 0.20, 0.03),
        (PathIntegration(), seen_by.Navigator(moves=False), 0.16, 0.03),
        (PathIntegration(length=400), seen_by.Navigator(moves=False), 0.67, 0.03),
        (PathIntegrationPlaceCells(), seen_by.PlaceNavigator(moves=False), 0.01, 0.02),
        (ContextIntegration(), seen_by.ContextWeigher("both"), 0.75, 0.055),
        (ContextIntegration(), seen_by.ContextWeigher("colour"), 0.75, 0.055),
        (ContextIntegration(), seen_by.ContextWeigher(look=20), 0.94, 0.035),
        (ContextIntegration(sigma=4), seen_by.ContextWeigher(), 0.90, 0.04),
        (ContextIntegration(sigma=4), seen_by.ContextWeigher(look=100), 0.72, 0.06),
        (ParametricMemory(), seen_by.Difference("first"), 0.833, 0.05),
        (ParametricMemory(), seen_by.Difference("second"), 0.833, 0.05),
        (PerceptualDecision(), seen_by.StrengthWeigher(look=20), 0.95, 0.03),
        (PerceptualDecision(sigma=1.5), seen_by.StrengthWeigher(), 0.92, 0.035),
        (PerceptualDecision(sigma=1.5), seen_by.StrengthWeigher(look=100), 0.79, 0.055),
        (DelayedSum(), seen_by.Total("first"), 0.10, 0.04),
        (AddingProblem(), seen_by.Adder(both=False), 0.08, 0.035),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "begin") else None,
)
def test_shortcuts_earn_what_the_pages_say(task, subject, expected, within):
    """1,000 trials; limits are 4 SEs, or the rounding of the page: false alarms 6 in 10**5."""
    assert earned(task, subject) == pytest.approx(expected, abs=within)


def constant(task, values):
    batch = next(Dataset(task, 100, seed=2))
    return batch.score(np.broadcast_to(values, batch.targets.shape))["performance"].mean()


def test_constant_outputs_earn_what_the_pages_say():
    assert constant(FlipFlop(), 1 / 1.5) == pytest.approx(0.5, abs=0.03)
    assert constant(SineGenerator(), 0.8 / 1.5) == pytest.approx(0.30, abs=0.02)
    assert constant(RingIntegration(), 1.0) == pytest.approx(0.10, abs=0.04)
    assert constant(PathIntegration(), 0.0) == pytest.approx(0.08, abs=0.02)


# ---------------------------------------------------------------------- flip-flop


@pytest.mark.parametrize("bits", [1, 3, 5])
def test_outputs_hold_the_sign_of_the_last_pulse(bits):
    batch = next(Dataset(FlipFlop(bits=bits), 20, seed=1))
    held = np.zeros((20, bits))
    for step in range(batch.inputs.shape[1]):
        held = np.where(batch.inputs[:, step] != 0, batch.inputs[:, step], held)
        np.testing.assert_allclose(batch.targets[:, step] * 1.5, held, atol=1e-6)


def test_pulses_have_the_rate_and_half_of_them_change_nothing():
    """4,000 trials of 3 bits: limits are 5 SEs."""
    drawn = FlipFlop().sample(400, seed=3).conditions["onsets"].reshape(400, 500, 3)
    assert (np.abs(drawn[:, 0]) == 1).all()
    assert np.abs(drawn[:, 1:]).mean() == pytest.approx(0.02, abs=0.001)
    assert (drawn[:, 1:] == 1).sum() / (drawn[:, 1:] != 0).sum() == pytest.approx(0.5, abs=0.025)
    signs = [bit[bit != 0] for trial in drawn for bit in trial.T]
    same = np.concatenate([one[1:] == one[:-1] for one in signs])
    assert same.mean() == pytest.approx(0.5, abs=0.025)


def test_an_output_that_toggles_is_right_half_of_the_time():
    batch = next(Dataset(FlipFlop(), 100, seed=4))
    onsets = batch.trials.conditions["onsets"].reshape(100, 500, 3)
    toggled = onsets[:, :1] * (-1.0) ** np.cumsum(onsets[:, 1:] != 0, axis=1)
    toggled = np.concatenate([onsets[:, :1], toggled], axis=1) / 1.5
    assert batch.score(toggled)["performance"].mean() == pytest.approx(0.55, abs=0.08)


def test_an_output_that_follows_50_ms_late_earns_95_percent():
    batch = next(Dataset(FlipFlop(), 100, seed=4))
    late = np.concatenate([batch.targets[:, :1].repeat(5, axis=1), batch.targets[:, :-5]], axis=1)
    assert batch.score(late)["performance"].mean() == pytest.approx(0.95, abs=0.01)


def test_the_noise_of_the_benchmark_is_015_per_step():
    inputs = next(Dataset(FlipFlop(rate=0.001, sigma=0.47), 40, seed=4)).inputs[:, 10:]
    assert np.std(inputs) == pytest.approx(0.149, abs=0.01)


# ---------------------------------------------------------------------- sine, ring, box


def test_waves_have_the_frequencies_of_the_paper():
    """Inputs j / 51 + 0.25; 0.1 to 0.6 rad per time constant of 100 ms."""
    task = SineGenerator()
    for index, omega in ((0, 1.0), (25, 3.5), (50, 6.0)):
        batch = task.sample(1, seed=0, index=index)
        assert batch.notes["omega"][0] == pytest.approx(omega)
        assert batch.render(None)[0, 0] == pytest.approx(index / 51 + 0.25)
        wave = batch.render_targets()[:, 0]
        np.testing.assert_allclose(wave, np.sin(omega * np.arange(400) * 0.02), atol=1e-5)


def test_directions_turn_by_more_than_a_circle():
    drawn = RingIntegration().sample(500, seed=1).conditions["velocity"]
    assert np.rad2deg(np.abs(drawn).sum(axis=1).mean() * 0.025) == pytest.approx(480, abs=20)
    assert np.rad2deg(drawn.std()) == pytest.approx(120, abs=5)
    after = [np.mean(drawn[:, 20:] * drawn[:, :-20]), np.mean(drawn**2)]  # 20 steps: 500 ms
    assert after[0] / after[1] == pytest.approx(np.exp(-1), abs=0.06)


def test_with_noise_the_error_of_the_ideal_grows_with_the_square_root_of_time():
    """The SD of the adding observer's error, sigma sqrt(t), from the noise of the inputs."""
    batch = RingIntegration(sigma=5).sample(400, seed=2)
    noise = batch.render(np.random.default_rng(3)) - batch.render(None)
    error = np.rad2deg(np.cumsum(noise[:, 0].reshape(400, -1)[:, 10:], axis=1) * 0.025)
    expected = np.rad2deg(5 * np.sqrt(np.array([1250, 5000])) / 1000)
    assert error[:, 49].std() == pytest.approx(expected[0], rel=0.15)
    assert error[:, 199].std() == pytest.approx(expected[1], rel=0.15)


def test_paths_stay_in_the_box_and_have_the_speed_of_the_code():
    path = PathIntegration().sample(300, seed=1).conditions["path"].reshape(300, -1, 2)
    assert np.abs(path).max() <= 1.1
    strides = np.hypot(*np.moveaxis(np.diff(path, axis=1), 2, 0)) / 0.02  # m/s
    inside = (np.abs(path[:, :-1]) < 1.07).all(axis=2)
    # A Rayleigh distribution of scale 0.817 has the mean 1.024, and the SD 0.535.
    assert strides[inside].mean() == pytest.approx(1.024, abs=0.02)
    assert strides[inside].std() == pytest.approx(0.535, abs=0.02)
    assert strides[~inside].mean() < 0.9


def test_a_step_towards_a_wall_is_a_quarter_as_fast():
    """Of steps from the margin that come closer to the wall; 5 SEs."""
    path = PathIntegration().sample(600, seed=2).conditions["path"].reshape(600, -1, 2)
    x, moved = path[:, :-1, 0], np.diff(path, axis=1)
    others = np.abs(path[:, :-1, 1]) < 1.0
    towards = others & (1.1 - np.abs(x) < 0.03) & (x * moved[:, :, 0] > 0)
    speed = np.hypot(moved[..., 0], moved[..., 1])[towards] / 0.02
    assert len(speed) > 300
    assert speed.mean() == pytest.approx(1.024 / 4, abs=0.05)


def test_place_cells_have_the_activity_of_a_difference_of_two_gaussians():
    task = PathIntegrationPlaceCells(cells=40)
    places = np.array([[0.3, -0.2], [-1.0, 0.9]])
    squared = ((places[:, None] - task._centres) ** 2).sum(axis=2)
    narrow, wide = (np.exp(-squared / (2 * factor * 0.12**2)) for factor in (1, 2))
    shares = narrow / narrow.sum(axis=1, keepdims=True) - wide / wide.sum(axis=1, keepdims=True)
    lowest, highest = shares.min(axis=1, keepdims=True), shares.max(axis=1, keepdims=True)
    expected = (shares - lowest) / (highest - lowest)
    np.testing.assert_allclose(task.activity(places), expected, atol=1e-9)


def test_centres_are_the_same_for_all_and_the_activity_follows_the_path():
    task = PathIntegrationPlaceCells()
    np.testing.assert_array_equal(task._centres, PathIntegrationPlaceCells()._centres)
    batch = task.sample(3, seed=1)
    path = batch.conditions["path"].reshape(3, -1, 2)
    targets = batch.render_targets().reshape(3, 30, 128)
    np.testing.assert_allclose(targets[:, 0], task.activity(path[:, 0]), atol=1e-6)
    np.testing.assert_allclose(targets[:, -1], task.activity(path[:, -1]), atol=1e-6)


def test_the_mean_activity_of_place_cells_is_no_report():
    task = PathIntegrationPlaceCells()
    places = np.random.default_rng(0).uniform(-1.1, 1.1, (500, 2))
    batch = next(Dataset(task, 100, seed=3))
    mean = np.broadcast_to(2 * task.activity(places).mean(axis=0) - 1, batch.targets.shape)
    assert batch.score(mean)["performance"].mean() < 0.06


# ---------------------------------------------------------------------- low rank, sums


def test_there_are_54_pairs_of_frequencies_and_they_are_not_balanced():
    assert len(PAIRS) == 54
    first = np.array(PAIRS)[:, 0]
    assert (first.min(), first.max()) == (10, 34)
    assert {abs(one - other) for one, other in PAIRS} == {8, 16, 24}


@pytest.mark.parametrize("task", [ContextIntegration, PerceptualDecision])
def test_evidence_has_the_sign_of_the_target(task):
    batch = task().sample(200, seed=1)
    values = batch.table("aim")[:, 0, 0]
    shown = batch.conditions
    relevant = shown.get("strength")
    if relevant is None:
        relevant = np.where(shown["context"] == "colour", shown["colour"], shown["motion"])
    np.testing.assert_array_equal(np.sign(values), np.sign(relevant))


def test_the_ignored_input_does_not_move_the_choice_of_the_ideal():
    """Slope 0 on the irrelevant input, above 0 on the relevant one; 5 SEs of 2,000 trials."""
    record = run(ContextIntegration(sigma=4), seen_by.ContextWeigher(), 2000, num_envs=100, seed=1)
    up = record["choice"] > 0
    colour = record["context"] == "colour"
    relevant = np.where(colour, record["colour"], record["motion"])
    other = np.where(colour, record["motion"], record["colour"])
    assert np.corrcoef(up, relevant)[0, 1] > 0.5
    assert abs(np.corrcoef(up, other)[0, 1]) < 0.11


@pytest.mark.parametrize(("task", "mean", "expected"), [(AddingProblem, 1.0, 1 / 6)])
def test_the_best_constant_has_the_mean_squared_error_of_the_paper(task, mean, expected):
    """4,000 trials; the SD of a squared error is 0.2: 5 SEs are 0.016."""
    aims = task().sample(4000, seed=2).table("aim")[:, 0, 0]
    assert np.mean((aims - mean) ** 2) == pytest.approx(expected, abs=0.016)


def test_marks_lie_in_both_halves():
    drawn = AddingProblem().sample(500, seed=1).conditions
    assert drawn["first"].max() < 50 <= drawn["second"].min()


@pytest.mark.parametrize(
    ("task", "wrong"),
    [
        (FlipFlop, {"bits": 0}),
        (FlipFlop, {"rate": 60.0}),
        (SineGenerator, {"slowest": 7.0}),
        (RingIntegration, {"tau": 1.0}),
        (PathIntegration, {"margin": 2.0}),
        (PathIntegrationPlaceCells, {"surround": 1.0}),
        (PathIntegrationPlaceCells, {"surround": 0}),
        (PathIntegrationPlaceCells, {"surround": float("nan")}),
        (PathIntegrationPlaceCells, {"cells": 2}),
        (PathIntegrationPlaceCells, {"cells": 8}),
        (PathIntegrationPlaceCells, {"width": float("nan")}),
        (PathIntegrationPlaceCells, {"tolerance": 0.0}),
        (PathIntegrationPlaceCells, {"tolerance": -1.0}),
        (ContextIntegration, {"sigma": -1.0}),
        (AddingProblem, {"steps": 1}),
    ],
)
def test_impossible_parameters_are_refused(task, wrong):
    with pytest.raises(InvalidValueError, match=task.__name__):
        task(**wrong)
