"""Figures of tasks that are plain Gymnasium envs."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from neurogym_plot.plain_envs import env_figure

from neurogym_core import NotSupportedError
from neurogym_core.tools import main

PLAIN = """
import gymnasium
import numpy as np

class Film(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"]}
    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Box(0, 255, (8, 8, 3), np.uint8)

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return self.render(), {}

    def step(self, action):
        self.t += 1
        return self.render(), 0.0, False, self.t == 20, {}

    def render(self):
        return np.full((8, 8, 3), 10 * self.t, np.uint8)

class Numbers(Film):
    metadata = {"render_modes": []}
    action_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
    observation_space = gymnasium.spaces.Box(-1, 1, (3,), np.float32)

    def render(self):
        return np.full(3, self.t / 20, np.float32)

class Blind(Film):
    metadata = {"render_modes": []}
    observation_space = gymnasium.spaces.Discrete(300)

    def render(self):
        return self.t
"""


@pytest.fixture
def plain(tmp_path):
    """Write the envs to a file, and return the function from class to reference."""
    file = tmp_path / "plain.py"
    file.write_text(PLAIN)
    return lambda name: f"{file}:{name}"


def test_a_film_is_a_strip_of_frames_from_the_first_to_the_last(plain):
    panels = env_figure(plain("Film"), 0).axes
    assert [panel.get_title() for panel in panels] == ["step 0", "step 6", "step 12", "step 19"]
    assert [panel.images[0].get_array().max() for panel in panels] == [0, 60, 120, 190]


def test_observations_of_a_plain_env_are_drawn_step_by_step(plain):
    line = env_figure(plain("Numbers"), 0).axes[1].lines[0]
    assert line.get_ydata()[:3] == pytest.approx([0, 1 / 20, 2 / 20])


def test_an_env_without_frames_and_vectors_is_refused(plain):
    with pytest.raises(NotSupportedError, match="no render mode 'rgb_array'"):
        env_figure(plain("Blind"), 0)


def test_ngym_plot_draws_a_plain_env_but_takes_no_settings_of_a_trial(plain, tmp_path):
    target = tmp_path / "film.png"
    plot = ["plot", plain("Film"), "-o", str(target)]
    assert CliRunner().invoke(main, plot).exit_code == 0
    assert target.read_bytes().startswith(b"\x89PNG")
    result = CliRunner().invoke(main, [*plot, "--condition", "angle=1"])
    assert result.exit_code == 2
    assert "plain Gymnasium env" in result.stderr
    result = CliRunner().invoke(main, [*plot, "--session"])
    assert result.exit_code == 2
    assert "keeps no record of trials" in result.stderr
