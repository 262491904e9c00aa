"""Published packages, in separate environments: our numbers are theirs."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
import venv
from pathlib import Path

import numpy as np
import pytest

SCRIPTS = Path(__file__).parent / "oracles"
pytestmark = pytest.mark.slow


def printed(folder, script, packages):
    """Return the numbers that a script prints in a new environment with these packages."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([str(python), *install, *packages], check=True)
    command = [str(python), str(SCRIPTS / script), sysconfig.get_paths()["purelib"]]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("oracles")
    return printed(folder, "compare.py", ["rsatoolbox==0.3.2", "dsa-metric==2.0.2"])


@pytest.mark.parametrize("name", ["distances", "representation", "cka", "procrustes"])
def test_numbers_are_those_of_rsatoolbox(found, name):
    np.testing.assert_allclose(*found[name], rtol=1e-5, atol=1e-8)


def test_descriptors_are_the_columns_of_record_and_units(found):
    assert found["areas"] == ["V1", "LIP"] * 10
    assert found["conditions"] == [k % 6 for k in range(90)]


def test_dsa_tells_other_dynamics_and_not_other_units(found):
    for distances in found["dynamics"].values():
        distances = np.array(distances)
        assert np.allclose(distances, distances.T)
        assert distances[0, 1] < 0.2 * distances[0, 2]


POPULATIONS = [
    "dPCA==1.0.5", "numexpr", "numba",  # dPCA declares neither of the two
    "decodanda==0.8.6", "mne==1.13.2", "mtdr==0.1.0", "scikit-dimension==0.5.0",
    "scikit-learn", "tensorly==0.10.0",
]  # fmt: skip


@pytest.fixture(scope="module")
def populations(tmp_path_factory):
    return printed(tmp_path_factory.mktemp("oracles"), "populations.py", POPULATIONS)


@pytest.mark.parametrize("name", ["demixed", "demixed, strong penalty"])
def test_demixed_components_are_those_of_dpca(populations, name):
    np.testing.assert_allclose(*populations[name], rtol=1e-6, atol=1e-9)


def test_decoding_across_time_is_that_of_mne(populations):
    np.testing.assert_array_equal(*populations["across time"])


def test_dimensions_are_those_of_scikit_dimension(populations):
    np.testing.assert_allclose(*populations["dimensions"], rtol=1e-6)


@pytest.mark.parametrize("name", ["on axes", "at random"])
@pytest.mark.parametrize("measure", ["generalisation", "shattering"])
def test_geometry_is_that_of_decodanda(populations, name, measure):
    """It draws equal numbers of trials at random, and has the same classifier, not the same fit."""
    np.testing.assert_allclose(*populations[name][measure], atol=0.03)
    assert populations[name]["dichotomies"][0] == populations[name]["dichotomies"][1]


def test_axes_are_those_of_mtdr_and_the_planted_ones(populations):
    same, planted = populations["axes"]
    assert min(same) > 0.999
    assert min(planted) > 0.98


def test_mtdr_finds_the_dimensions_of_each_variable(populations):
    assert populations["ranks"] == {"side": 1, "level": 2}


def test_an_activity_is_a_tensor_for_tensorly(populations):
    error, one_component = populations["tensor"]
    assert error < 0.02
    assert one_component > 0.3
