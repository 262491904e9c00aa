"""rsatoolbox and dsa-metric: their numbers for an activity, and ours beside them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import numpy as np
import pytest
from neurogym_neural import Activity, dynamical_distances, representation, to_rsatoolbox

from neurogym_core import InvalidValueError, MissingDependencyError

SCRIPT = Path(__file__).parent / "oracles" / "compare.py"


def activity(steps=8, step=10.0, missing=False):
    rates = np.random.default_rng(0).random((6, steps, 3))
    if missing:
        rates[2, -1] = np.nan
    return Activity(rates, {"side": np.arange(6) % 2}, step=step)


@pytest.mark.parametrize(
    ("given", "delays", "rank", "said"),
    [
        ([activity()], 2, 2, "given 1 activities"),
        ([activity(), activity(missing=True)], 2, 2, "1 of them with steps without rates"),
        ([activity(), activity(step=20)], 2, 2, r"steps of \[10.0, 20.0\] ms"),
        ([activity(), activity(steps=5)], 5, 2, "Expected 1 to 4 delays"),
        ([activity(), activity()], 2, 7, "rank of 1 to delays times the 3 units"),
        ([activity(), activity()], 0, 1, "delays=0"),
    ],
)
def test_dynamics_that_cannot_be_compared_are_refused(given, delays, rank, said):
    with pytest.raises(InvalidValueError, match=said):
        dynamical_distances(given, delays=delays, rank=rank)


def test_settings_of_dynamics_have_no_default():
    with pytest.raises(TypeError, match="delays"):
        dynamical_distances([activity(), activity()], rank=2)


def test_without_the_packages_the_errors_name_them(monkeypatch):
    for name in ("rsatoolbox", "rsatoolbox.data", "DSA"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependencyError, match="pip install rsatoolbox"):
        to_rsatoolbox(activity())
    with pytest.raises(MissingDependencyError, match="pip install dsa-metric"):
        dynamical_distances([activity(), activity()], delays=2, rank=2)


def test_equal_distances_have_equal_ranks():
    # A model of two groups has two distances only; the order of its pairs must not matter.
    model, subject = np.array([0, 1, 1, 1, 1, 0.0]), np.array([1, 9, 4, 7, 5, 2.0])
    order = np.array([5, 3, 1, 4, 2, 0])
    one, other = (representation(model[k], [subject[k], subject[k]]) for k in (np.arange(6), order))
    # Ranks of the model: 1.5 twice, 4.5 four times; of the subject: 1, 6, 3, 5, 4, 2.
    assert one.correlation == pytest.approx(12 / np.sqrt(12 * 17.5))
    assert other.correlation == pytest.approx(one.correlation)
    assert representation(np.ones(6), [subject, subject]).correlation == 0
    with pytest.raises(InvalidValueError, match="undefined"):
        representation(model, [subject, np.where(subject == 9, np.nan, subject)])


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The numbers that the script prints in a separate environment with both packages."""
    folder = tmp_path_factory.mktemp("oracles")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([str(python), *install, "rsatoolbox==0.3.2", "dsa-metric==2.0.2"], check=True)
    command = [str(python), str(SCRIPT), sysconfig.get_paths()["purelib"]]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["distances", "representation", "cka", "procrustes"])
def test_numbers_are_those_of_rsatoolbox(found, name):
    np.testing.assert_allclose(*found[name], rtol=1e-5, atol=1e-8)


@pytest.mark.slow
def test_descriptors_are_the_columns_of_record_and_units(found):
    assert found["areas"] == ["V1", "LIP"] * 10
    assert found["conditions"] == [k % 6 for k in range(90)]


@pytest.mark.slow
def test_dsa_tells_other_dynamics_and_not_other_units(found):
    for distances in found["dynamics"].values():
        distances = np.array(distances)
        assert np.allclose(distances, distances.T)
        assert distances[0, 1] < 0.2 * distances[0, 2]
