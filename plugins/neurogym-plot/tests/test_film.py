"""Frames drawn as pixels, and films of a subject at play."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from neurogym_plot import canvas
from neurogym_plot import trial as plots
from neurogym_plot.film import frames_of, save_film
from neurogym_plot.raster import RasterFigure
from neurogym_plot.scene import SCENE_WIDTH, scene_of

from neurogym_core import InvalidValueError, make
from neurogym_core.tools import installed, main

DOTS = "perceptual/PerceptualDecisionMaking-v0"
TASKS = (DOTS, "memory/ColourWheel-v0", "yang19/DlyDM1-v0", "value/Bandit-v0")
# Image tasks are plain envs, which draw their own frames.
IDS = sorted(task.id for task in installed().tasks if task.usable and "pixels" not in task.tags)
# Drawing takes its time: with the fast tests, one task of each package.
FIRST = {name.split("/")[0]: name for name in reversed(IDS)}.values()
DRAWN = [pytest.param(name, marks=[] if name in FIRST else pytest.mark.slow) for name in IDS]


@pytest.mark.parametrize("task", TASKS)
def test_a_frame_is_the_figure_of_matplotlib_up_to_the_smoothing_of_lines(task):
    trace = plots.trace_of(task, "late_oracle", 0)
    figure = plots.trial_figure(trace)
    figure.set_dpi(100)
    figure.canvas.draw()
    wanted = np.asarray(figure.canvas.buffer_rgba())[:, :, :3].astype(float)
    raster = RasterFigure(plots.TRIAL_WIDTH, plots.trial_height(trace), 100)
    plots.draw_trial(canvas.Box(raster, 0, 0, plots.TRIAL_WIDTH, plots.trial_height(trace)), trace)
    found = raster.draw().astype(float)
    assert abs(found.shape[0] - wanted.shape[0]) <= 1
    height = min(len(found), len(wanted)) // 6 * 6
    # Squares of 6 pixels have the same mean colour where lines and letters are in one place.
    squares = [
        image[:height].reshape(height // 6, 6, -1, 6, 3).mean(axis=(1, 3))
        for image in (found, wanted)
    ]
    difference = np.abs(squares[0] - squares[1]).max(axis=2)
    assert difference.mean() < 2.5  # of 255; without lines, letters or images: more than 2.6
    assert (difference > 60).mean() < 0.01


def test_rendering_makes_no_figure_of_matplotlib(monkeypatch):
    env = make(DOTS, render_mode="rgb_array", seed=1)
    env.reset()
    env.step(0)
    monkeypatch.setattr(plots, "new_figure", None)
    assert env.render().shape == (414, 720, 3)


def test_a_film_has_a_frame_of_one_size_for_each_step():
    frames = list(frames_of(DOTS, "oracle", 2, seed=0))
    assert len(frames) == 2 * plots.trace_of(DOTS, "oracle", 0).steps  # both trials are as long
    assert {frame.shape for frame in frames} == {frames[0].shape}
    assert len({frame.tobytes() for frame in frames}) == len(frames)
    assert frames[0].shape[0] % 2 == frames[0].shape[1] % 2 == 0


def figures():
    """Return the frames of a film without the scene."""
    return [frame[:, :-SCENE_WIDTH] for frame in frames_of(DOTS, "oracle")]


def test_the_scene_of_a_frame_is_what_is_observed_on_its_step():
    trace = plots.trace_of(DOTS, "oracle", 0)
    frames = list(frames_of(DOTS, "oracle"))
    for step, frame in enumerate(frames):
        assert (frame[:, -SCENE_WIDTH:] == scene_of(trace, step, len(frame))).all()
    text = slice(60, -44)  # between the time and the action
    fixates, asked = (scene_of(trace, step, 400)[text] for step in (0, trace.steps - 1))
    lit = (255, 216, 77)
    assert (fixates == lit).all(axis=-1).any()  # the fixation cue is on
    assert not (asked == lit).all(axis=-1).any()  # all lamps are off


def test_a_ring_is_a_circle_of_lamps_that_shows_its_direction():
    trace = plots.trace_of("yang19/Go-v0", "oracle", 0)
    values = np.zeros_like(trace.observations)
    ring = trace.channels["modality_1"]
    values[0, ring.start + 8] = 1  # of 32 units: 90 degrees, up
    scene = scene_of(replace(trace, observations=values), 0, 600)
    y, x = np.nonzero((scene == (255, 216, 77)).all(axis=-1))
    assert abs(x.mean() - SCENE_WIDTH / 2) < 2
    off = np.nonzero((scene == (88, 88, 88)).all(axis=-1))[0]
    assert y.mean() < np.median(off[(off > y.mean() - 5) & (off < y.mean() + 100)])


def test_a_frame_of_a_film_is_the_whole_figure_up_to_its_step():
    """All frames have one time axis: steps stay in their place until the last frame."""
    frames = figures()
    last, steps = frames[-1], len(frames)
    left, width = plots._LEFT * 100, (plots.TRIAL_WIDTH - plots._LEFT - plots._RIGHT) * 100
    rows = slice(106, last.shape[0] - 65)  # the panels
    for k, frame in enumerate(frames[:-1], 1):
        now = left + width * k / steps
        played, coming = slice(0, int(now) - 3), slice(int(now) + 4, int(left + width) - 2)
        assert (frame[rows, played] == last[rows, played]).all(), k
        assert not lines(frame[rows, coming]).any(), k
    assert lines(last[rows, int(left) :]).sum() > 1000


def lines(pixels):
    """Return which pixels have a colour of the lines: blue, vermilion or green."""
    colours = [(0, 114, 178), (213, 94, 0), (0, 158, 115)]
    return np.any([(pixels == colour).all(axis=-1) for colour in colours], axis=0)


def test_a_film_tells_outcome_and_reward_only_at_the_end():
    frames = figures()
    head, total = slice(30, 60), (slice(-90, -55), slice(-82, None))
    assert all((frame[head] == frames[0][head]).all() for frame in frames[:-1])
    assert (frames[-1][head] != frames[0][head]).any()
    assert all((frame[total] == frames[0][total]).all() for frame in frames[:-1])
    assert (frames[-1][total] != frames[0][total]).any()


def test_a_film_shows_what_wrappers_of_envs_append():
    wrapped = next(frames_of(DOTS, "oracle", wrap="PassReward"))
    assert wrapped.shape[0] > next(frames_of(DOTS, "oracle")).shape[0]


def test_a_gif_has_all_frames_in_their_colours(tmp_path):
    image = pytest.importorskip("PIL.Image")
    frames = list(frames_of(DOTS, "oracle"))
    film = image.open(save_film(frames, tmp_path / "film.gif", fps=20))
    assert (film.n_frames, film.size, film.info["duration"]) == (len(frames), (960, 414), 50)
    film.seek(len(frames) - 1)
    shown = np.asarray(film.convert("RGB")).astype(int)
    assert np.abs(shown - frames[-1]).mean() < 3


@pytest.mark.parametrize(("task", "n_trials"), [(DOTS, 2), ("memory/ColourWheel-v0", 1)])
def test_every_frame_of_a_gif_has_its_colours(tmp_path, task, n_trials):
    """The reward is on the last frame of a trial only, and must be as green there as in a PNG."""
    image = pytest.importorskip("PIL.Image")
    frames = list(frames_of(task, "oracle", n_trials))
    film = image.open(save_film(frames, tmp_path / "film.gif"))
    assert film.n_frames == len(frames)
    for k, frame in enumerate(frames):
        film.seek(k)
        shown = np.asarray(film.convert("RGB")).astype(int)
        assert np.abs(shown - frame).max() <= 32, k


def test_an_mp4_has_all_frames(tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    frames = list(frames_of(DOTS, "oracle"))
    path = save_film(frames, tmp_path / "film.mp4")
    assert ffmpeg.count_frames_and_secs(str(path))[0] == len(frames)
    reader = ffmpeg.read_frames(str(path))
    assert next(reader)["size"] == (720, 414)
    shown = np.frombuffer(next(reader), np.uint8).reshape(frames[0].shape).astype(int)
    assert np.abs(shown - frames[0]).mean() < 4


def test_a_film_of_another_kind_or_without_frames_is_refused(tmp_path):
    with pytest.raises(InvalidValueError, match=r"\.mp4 or \.gif"):
        save_film([], tmp_path / "film.avi")
    with pytest.raises(InvalidValueError, match="without frames"):
        save_film([], tmp_path / "film.gif")
    assert not list(tmp_path.iterdir())


def test_plot_writes_films(tmp_path):
    image = pytest.importorskip("PIL.Image")
    target = tmp_path / "film.gif"
    words = ["plot", DOTS, "--subject", "oracle", "--n-trials", "2", "-o", str(target)]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert image.open(target).n_frames == 48


def test_a_film_of_a_session_has_its_trials(tmp_path):
    image = pytest.importorskip("PIL.Image")
    target = tmp_path / "film.gif"
    words = ["plot", DOTS, "--session", "--set", "trials_per_session=3", "--subject", "oracle"]
    result = CliRunner().invoke(main, [*words, "-o", str(target)])
    assert result.exit_code == 0, result.output
    assert image.open(target).n_frames == 72


def test_gymnasiums_own_recorder_gets_frames(tmp_path):
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.wrappers.RenderCollection(make(DOTS, render_mode="rgb_array"))
    env.reset(seed=0)
    for _ in range(3):
        env.step(0)
    assert [frame.shape for frame in env.render()] == [(414, 720, 3)] * 4


@pytest.mark.parametrize("task", DRAWN)
def test_rendering_shows_the_trial_so_far_in_frames_of_one_size(task):
    env = make(task, render_mode="rgb_array")
    env.action_space.seed(1)
    env.reset(seed=1)
    frames = [env.render()]
    for step in range(6):
        env.step(env.action_space.sample())
        if step in (0, 5):
            frames.append(env.render())
    assert {(frame.dtype, frame.ndim, frame.shape) for frame in frames} == {
        (np.dtype("uint8"), 3, frames[0].shape)
    }
    assert frames[0].shape[2] == 3
    assert all(0 < (frame < 255).mean() < 1 for frame in frames)


def test_the_picture_grows_with_the_trial():
    env = make(DOTS, render_mode="rgb_array")
    env.reset(seed=1)
    frames = [env.render()]
    for _ in range(4):
        env.step(0)
        frames.append(env.render())
    assert len({frame.tobytes() for frame in frames}) == 5


def test_a_picture_shows_no_step_of_the_trial_before():
    env = make("value/Bandit-v0", render_mode="rgb_array")
    env.reset(seed=1)
    before = env.render()
    env.step(0)  # a trial of one step: the coming one has begun
    np.testing.assert_array_equal(env.render(), before)
