"""``make demo``: a newcomer's first output, and whether the commands that it names work."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest
from click.testing import CliRunner
from neurogym_likeness import demo

from neurogym_core.tools import main as ngym


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Return the demo's output, and the path of its figure."""
    target = tmp_path_factory.mktemp("demo") / "demo.png"
    result = CliRunner().invoke(demo.main, ["-o", str(target)])
    assert result.exit_code == 0, result.output
    return result.stdout, target


def line_of(text: str, start: str) -> list[str]:
    (line,) = (
        line
        for line in text.splitlines()
        if line.split("  ")[1:2] == [start] or line.strip().startswith(f"{start}  ")
    )
    return [cell for cell in line.strip().split("  ") if cell]


def test_the_installed_tasks_are_listed(shown):
    assert "PerceptualDecisionMaking-v0" in shown[0]
    assert "ReadySetGo-v0" in shown[0]


def test_accuracies_are_those_of_theory(shown):
    """Accuracies are chance, 1, and the ideal observer's Phi(0.316 coherence / sigma).

    The seed is 0, hence no false alarms.
    """
    accuracy = {
        level: [float(cell.split()[0]) for cell in line_of(shown[0], f"{level} %")[1:]]
        for level in (0, 6.4, 51.2)
    }
    assert accuracy[6.4][0] == pytest.approx(0.5, abs=0.08)
    assert accuracy[6.4][1] == accuracy[0][1] == 1.0
    assert accuracy[6.4][2] == pytest.approx(0.773, abs=0.08)
    assert accuracy[0][2] == pytest.approx(0.5, abs=0.08)
    assert accuracy[51.2][2] > 0.99


def test_only_parameters_that_the_data_determine_are_shown(shown):
    random, oracle, integrator = line_of(shown[0], "threshold, %")[1:]
    assert random.strip() == oracle.strip() == "–"
    assert float(integrator.split()[0]) == pytest.approx(7.7, abs=1.5)  # 0.9 sigma / 0.316


def test_the_origin_of_the_noise_is_shown(shown):
    assert "the monkeys of Roitman & Shadlen" in shown[0]


def test_the_figure_is_saved(shown):
    text, target = shown
    assert f"Saved as {target}" in text
    assert target.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("command", demo.TRY_NEXT)
def test_the_commands_to_try_next_work(command, shown, tmp_path, monkeypatch):
    assert command in shown[0]
    monkeypatch.chdir(tmp_path)
    name, *arguments = shlex.split(command)
    assert name == "ngym"
    result = CliRunner().invoke(ngym, arguments, prog_name="ngym")
    assert result.exit_code == 0, result.output


def test_the_activation_it_prints_is_of_the_environment_that_runs(shown):
    if sys.prefix == sys.base_prefix:
        pytest.skip("runs outside of a virtual environment")
    command = f"{demo.activation()} && python -c 'import sys; print(sys.prefix)'"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == sys.prefix


def test_a_missing_task_is_one_paragraph(monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "TASK", "perceptual/Nothing-v0")
    result = CliRunner().invoke(demo.main, ["--n-trials", "50", "-o", str(tmp_path / "x.png")])
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: Unknown task")
