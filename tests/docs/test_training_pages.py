"""The pages about training and comparing run from top to bottom."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from scripts import loaded

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"


@functools.cache
def snippets():
    """`test_snippets.py` of this folder: the tests are no package, so that it cannot be imported by
    name.
    """
    return loaded(HERE / "test_snippets.py")


def play(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    snippets().play_page(DOCS / page)


def test_the_figure_of_the_page_is_reproduced(tmp_path, monkeypatch):
    play("reproduce-a-figure.md", tmp_path, monkeypatch)


def test_behaviour_is_analysed_as_the_page_says(tmp_path, monkeypatch):
    play("analyse-behaviour.md", tmp_path, monkeypatch)


def test_a_labs_file_becomes_a_report_in_three_commands(tmp_path, monkeypatch):
    play("from-a-labs-file.md", tmp_path, monkeypatch)


def test_a_record_goes_to_nwb_and_back(tmp_path, monkeypatch):
    pytest.importorskip("pynwb", reason="pynwb is not installed")
    play("to-nwb-and-back.md", tmp_path, monkeypatch)


@pytest.mark.slow
def test_a_network_is_drawn_and_scored_beside_two_monkeys(tmp_path, monkeypatch):
    """Slow: it trains three networks, in some two minutes."""
    pytest.importorskip("torch", reason="torch is not installed")
    play("beside-two-monkeys.md", tmp_path, monkeypatch)


@pytest.mark.slow
def test_the_first_network_is_trained_as_the_page_says(tmp_path, monkeypatch):
    """Slow for its imports, and since `make test` does not install torch; it trains for some ten
    seconds.
    """
    play("train-your-first-network.md", tmp_path, monkeypatch)


@pytest.mark.slow
def test_one_network_learns_many_tasks_as_the_page_says(tmp_path, monkeypatch):
    play("twenty-tasks.md", tmp_path, monkeypatch)
    assert (tmp_path / "task-variance.png").stat().st_size > 5000


@pytest.mark.slow
def test_networks_are_trained_with_torch_as_the_page_says(tmp_path, monkeypatch):
    pytest.importorskip("lightning")
    play("train-with-torch.md", tmp_path, monkeypatch)


@pytest.mark.slow
def test_an_agent_is_trained_and_compared_as_the_page_says(tmp_path, monkeypatch):
    play("train-an-agent.md", tmp_path, monkeypatch)


@pytest.mark.slow
def test_a_moved_training_script_runs_as_the_page_says(tmp_path, monkeypatch):
    play("move-a-training-script.md", tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["sweep.md", "../plugins/neurogym-sweep/README.md"])
def test_sweeps_run_as_their_pages_say(page, tmp_path, monkeypatch):
    """Slow, since it starts the processes of several sweeps, and a Dask cluster."""
    for library in ("duckdb", "optuna", "distributed"):
        pytest.importorskip(library)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # workers import the page's files
    play(page, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("package", ["neurogym-torch", "neurogym-sb3", "neurogym-jax"])
def test_the_snippets_of_the_packages_pages_run(package, tmp_path, monkeypatch):
    if package == "neurogym-jax":
        pytest.importorskip("jax", reason="JAX is not installed")
    play(f"../plugins/{package}/README.md", tmp_path, monkeypatch)


@pytest.mark.slow
def test_the_snippets_of_the_page_on_the_device_run(tmp_path, monkeypatch):
    pytest.importorskip("jax", reason="JAX is not installed")
    play("gpu.md", tmp_path, monkeypatch)
