"""Files of laboratories: written counts come out, and other files are refused."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_neural import decode, read_luo_2025
from neurogym_neural.sessions import read_session
from scipy.io import savemat

from neurogym_core import InvalidValueError

AREAS = ("dStr", "M1", "M1")


def written(path, trials=40, **changes):
    """Write a session as Luo et al. do; the first neuron follows the choice."""
    rng = np.random.default_rng(0)
    rows, expected = [], []
    for index in range(trials):
        choice, steps = index % 2, 30 + index % 5
        rates = np.array([0.1 + 0.4 * choice, 0.2, 0.3])
        counts = rng.poisson(rates[:, None], (3, steps)).astype(np.uint8)
        expected.append(counts)
        spikes = np.empty(3, object)
        spikes[:] = list(counts)
        rows.append({
            "index": 2 * index + 1, "choice": choice, "gamma": 2.0 * choice - 1,
            "clicktimes": {"L": np.array([0.0, 0.1]), "R": 0.0 if choice == 0 else np.r_[0, 0.1]},
            "movementtime_s": 100.5 + index, "movementtime_step": steps + 2,
            "stereoclick_time_s": 100.0 + index, "stereoclick_time_step": 1, "ntimesteps": steps,
            "photostimulus_incline_on_s": 0.2 if index == 3 else np.nan, "spiketrains": spikes,
        } | changes)  # fmt: skip
    neurons = [
        {"brainarea": area, "neuronindex": k} for k, area in zip((7, 9, 12), AREAS, strict=True)
    ]
    savemat(path, {"neurons": neurons, "trials": rows[::-1]})
    return expected


def test_counts_areas_and_choices_are_those_of_the_file(tmp_path):
    expected = written(tmp_path / "T001_2020_01_02.mat")
    found = read_luo_2025(tmp_path / "T001_2020_01_02.mat")
    assert found.kind == "count"
    assert found.step == 10
    assert len(found) == 39  # one had laser light
    assert 7 not in found.record["trial"]
    for row, index in enumerate(found.record["trial"]):
        counts = expected[(index - 1) // 2]
        np.testing.assert_array_equal(found.rates[row, : counts.shape[1]], counts.T)
        assert np.isnan(found.rates[row, counts.shape[1] :]).all()
    assert found.units["area"].tolist() == list(AREAS)
    assert found.units["id"].tolist() == [7, 9, 12]
    assert set(found.record["subject"]) == {"T001"}
    np.testing.assert_allclose(found.events["movement"], 500, atol=1e-6)
    # Two clicks on the left, one or two on the right: in a tie, the side of gamma.
    assert found.record["left_clicks"].tolist() == [2] * 39
    np.testing.assert_array_equal(found.record["answer"], found.record["choice"])
    assert set(found.record["outcome"]) == {"correct"}
    assert decode(found.align("stimulus", 0, 300), "choice") > 0.9


def test_a_session_is_read_in_longer_steps(tmp_path):
    written(tmp_path / "T001_2020_01_02.mat")
    path = tmp_path / "T001_2020_01_02.mat"
    fine, coarse = read_luo_2025(path), read_session(path, 20)
    assert coarse.step == 20
    np.testing.assert_array_equal(
        coarse.rates[:, :10], fine.rates[:, :20].reshape(39, 10, 2, 3).sum(axis=2)
    )


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "other.mat"
    path.write_bytes(b"no MATLAB")
    with pytest.raises(InvalidValueError, match="no session of Luo"):
        read_luo_2025(path)
    savemat(path, {"neurons": [{"brainarea": "M1"}], "trials": [{"index": 1}]})
    with pytest.raises(InvalidValueError, match="it lacks choice, clicktimes"):
        read_luo_2025(path)
    written(path, photostimulus_incline_on_s=0.1)
    with pytest.raises(InvalidValueError, match="laser light only"):
        read_luo_2025(path)
