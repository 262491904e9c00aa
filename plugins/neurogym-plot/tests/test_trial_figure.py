"""Figures are drawn from their arguments, without pyplot, and refuse impossible ones."""

import subprocess
import sys
import threading

import numpy as np
import pytest
from neurogym_plot import save_figure
from neurogym_plot.trial import (
    TrialTrace,
    _labels,
    _played,
    trace_of,
    trial_figure,
)

from neurogym_core import Choice, InvalidValueError, Ring, Task

Text = pytest.importorskip("matplotlib.text").Text


def make_trace(units=2, steps=40, **changes):
    rng = np.random.default_rng(0)
    targets = np.r_[np.zeros(steps - 10, int), np.ones(10, int)]
    parts = {
        "observations": rng.normal(size=(steps, 1 + units)),
        "channels": {"fixation": slice(0, 1), "stimulus": slice(1, 1 + units)},
        "periods": [
            ("fixation", 0, 10),
            ("stimulus", 10, steps - 10),
            ("decision", steps - 10, steps),
        ],
        "targets": targets,
        "actions": np.roll(targets, 3),
        "rewards": np.eye(1, steps, steps - 1)[0],
        "action_names": ["fixate", "left", "right"],
        "dt": 20.0,
        "title": "A task",
        "subtitle": "coherence 6.4",
    }
    return TrialTrace(**{**parts, **changes})


class Patterns(Task):
    """Report a side; a pattern of many values is shown."""

    timing = {"stimulus": 200}

    def define(self):
        self.observe(stimulus=20)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2), pattern=lambda rng, prior: rng.random((prior.n, 20)))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("stimulus")
        trial.show("stimulus", trial["pattern"], during="stimulus")
        trial.answer("choose", trial["side"], during="stimulus")


def texts(figure):
    """All that is written in a figure."""
    from matplotlib.text import Text

    figure.canvas.draw()
    return {text.get_text() for text in figure.findobj(Text) if text.get_visible()}


class TestTrialFigure:
    def test_it_names_channels_periods_actions_and_units_of_time(self):
        written = texts(trial_figure(make_trace()))
        assert written >= {
            "A task",
            "coherence 6.4",
            "fixation",
            "stimulus",
            "decision",
            "time in the trial (ms)",
        }
        assert written >= {"fixate", "left", "right", "target", "subject", "reward", "sum 1"}

    def test_time_is_in_ms_to_the_end_of_the_last_step(self):
        assert {axes.get_xlim() for axes in trial_figure(make_trace()).axes} == {(0.0, 800.0)}

    def test_channels_of_many_units_are_images(self):
        few, many = trial_figure(make_trace(units=3)), trial_figure(make_trace(units=4))
        assert sum(len(axes.images) for axes in few.axes) == 0
        images = [image for axes in many.axes for image in axes.images]
        assert [image.get_array().shape for image in images] == [(4, 40)]

    def test_the_image_shows_unit_0_at_the_top(self):
        trace = make_trace(units=8)
        (axes,) = (axes for axes in trial_figure(trace).axes if axes.images)
        assert axes.get_ylim()[0] > axes.get_ylim()[1]
        np.testing.assert_array_equal(axes.images[0].get_array(), trace.observations[:, 1:].T)

    def test_channels_of_equally_many_units_have_one_colour_scale(self):
        observations = np.zeros((40, 16))
        observations[:, 3], observations[:, 12] = 2.0, 0.1
        channels = {"one": slice(0, 8), "other": slice(8, 16)}
        trace = make_trace(observations=observations, channels=channels)
        images = [image for axes in trial_figure(trace).axes for image in axes.images]
        assert [image.get_clim() for image in images] == [(0.0, 2.0), (0.0, 2.0)]

    def test_choices_on_a_ring_have_an_axis_of_angles_and_the_target_is_written(self):
        targets = np.r_[np.zeros(30, int), np.full(10, 3)]
        names = ["fixate", *(f"choose {k}" for k in range(32))]
        trace = make_trace(
            targets=targets, actions=targets, action_names=names, rings={"choose": slice(1, 33)}
        )
        written = texts(trial_figure(trace))
        assert written >= {"fixate", "90°", "180°", "270°", "at 22°"}
        assert "choose 2" not in written

    def test_a_legend_that_does_not_fit_says_how_many_entries_are_left_out(self):
        values = np.tile(np.arange(12.0), (40, 1))
        trace = make_trace(
            targets=values, actions=values, action_names=[f"a{k}" for k in range(12)]
        )
        assert any(text.endswith(" more") for text in texts(trial_figure(trace)))

    def test_a_long_name_in_a_legend_keeps_both_ends(self):
        trace = make_trace(
            observations=np.zeros((40, 2), np.float32),
            channels={"rule": slice(0, 2)},
            unit_names={"rule": ("answer_if_it_was_long", "answer_if_it_was_short")},
        )
        written = [text for text in texts(trial_figure(trace)) if "…" in text]
        assert sorted(text[-3:] for text in written) == ["ong", "ort"]

    def test_the_unit_that_is_active_most_is_named(self):
        observations = np.zeros((40, 20), np.float32)
        observations[:, 18] = 1
        trace = make_trace(
            observations=observations,
            channels={"rule": slice(0, 20)},
            unit_names={"rule": [f"task {k}" for k in range(20)]},
        )
        assert "task 18" in texts(trial_figure(trace))

    def test_the_subtitle_leaves_out_conditions_of_many_values(self):
        subtitle = trace_of(Patterns()).subtitle
        assert "side" in subtitle
        assert "pattern" not in subtitle

    def test_a_long_subtitle_is_broken_into_lines_and_makes_the_figure_higher(self):
        from neurogym_plot.trial import _fitting

        text = ", ".join(f"condition {k} 0.5" for k in range(10))
        assert _fitting(text).replace("\n", " ") == text
        short, long = (make_trace(subtitle=_fitting(one)) for one in ("brief", text))
        heights = [trial_figure(one).get_size_inches()[1] for one in (short, long)]
        assert heights[1] > heights[0]

    @pytest.mark.parametrize("units", [1, 2, 32, 84])
    def test_nothing_is_cut_off(self, units):
        figure = trial_figure(make_trace(units=units))
        figure.canvas.draw()
        box = figure.get_tightbbox()
        width, height = figure.get_size_inches()
        assert 0 <= box.x0 < box.x1 <= width
        assert 0 <= box.y0 < box.y1 <= height

    def test_a_long_name_of_a_short_last_period_stays_in_the_figure(self):
        periods = [
            ("stimulus", 0, 38),
            ("inter_trial_interval", 38, 39),
            ("reward_delivery_time", 39, 40),
        ]
        figure = trial_figure(make_trace(periods=periods))
        assert texts(figure) >= {name for name, *_ in periods}
        assert figure.get_tightbbox().x1 <= figure.get_size_inches()[0]
        _assert_apart(figure, {name for name, *_ in periods})

    def test_thirty_channels_fit_on_a_page(self):
        channels = {f"unit_{i}": slice(i, i + 1) for i in range(33)}
        figure = trial_figure(make_trace(units=32, channels=channels))
        assert figure.get_size_inches()[1] < 16
        assert "unit 32" in texts(figure)

    @pytest.mark.parametrize(
        "lengths", [[1] * 12 + [28], [28] + [1] * 12, [3, 1, 0, 2, 14, 1, 19], [40]]
    )
    def test_names_of_short_periods_do_not_overlap(self, lengths):
        edges = np.cumsum([0, *lengths]).tolist()
        periods = [(f"period {i}", *edges[i : i + 2]) for i in range(len(lengths))]
        trace = make_trace(periods=periods, subtitle="")
        labels = _labels(trace, 5.2)
        assert len(labels) == len(_played(trace)) == sum(length > 0 for length in lengths)
        for i, one in enumerate(labels):
            for other in labels[:i]:
                assert one.row != other.row or one.right <= other.left or other.right <= one.left
        figure = trial_figure(trace)
        assert texts(figure) >= {name for name, start, stop in periods if stop > start}
        _assert_apart(figure, {name for name, *_ in periods})

    def test_the_first_of_many_short_periods_is_named(self):
        names = ["travel", *["harvest", "choose"] * 15]
        periods = [(name, step, step + 1) for step, name in enumerate(names)] + [("rest", 31, 40)]
        trace = make_trace(periods=periods, subtitle="")
        labels = _labels(trace, 5.2)
        assert [(one.name, one.start) for one in reversed(labels)] == [
            ("travel", 0), ("harvest", trace.dt), ("choose", 2 * trace.dt), ("rest", 31 * trace.dt)
        ]  # fmt: skip
        assert trial_figure(trace).get_size_inches()[1] < 12

    def test_continuous_actions_are_lines_by_axis(self):
        wave = np.stack([np.sin(np.arange(40) / 9), np.cos(np.arange(40) / 9)], 1)
        figure = trial_figure(make_trace(targets=wave, actions=wave + 0.1, action_names=["x", "y"]))
        assert texts(figure) >= {"x", "y", "target", "subject"}

    @pytest.mark.parametrize(
        "changes",
        [
            {"actions": None, "rewards": None, "action_names": [], "title": "", "subtitle": ""},
            {"targets": np.full(40, -1), "actions": None},
            {"rewards": np.zeros(40), "observations": np.zeros((40, 3))},
            {"periods": []},
            {"targets": np.zeros(40), "actions": np.linspace(-1, 1, 40)},
            {
                "targets": np.arange(40) % 33,
                "actions": None,
                "action_names": [f"choose {i}" for i in range(33)],
            },
            {"observations": np.zeros((40, 3), bool)},
        ],
        ids=["bare", "no target", "all zero", "no periods", "continuous", "33 actions", "bools"],
    )
    def test_odd_trials_are_drawn(self, changes, tmp_path):
        path = save_figure(trial_figure(make_trace(**changes)), tmp_path / "trial.png")
        assert path.stat().st_size > 1000

    @pytest.mark.parametrize("steps", [11, 3000])
    def test_long_and_short_trials_are_drawn(self, steps, tmp_path):
        trace = make_trace(
            steps=steps, periods=[("all", 0, steps)], targets=np.zeros(steps, int), actions=None
        )
        save_figure(trial_figure(trace), tmp_path / "trial.png")


def _assert_apart(figure, names):
    """The drawn texts in `names` do not overlap by more than a pixel."""
    from matplotlib.text import Text

    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.findobj(Text) if text.get_text() in names]
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            wide = min(one.x1, other.x1) - max(one.x0, other.x0)
            high = min(one.y1, other.y1) - max(one.y0, other.y0)
            assert wide <= 1 or high <= 1


class TestBadTraces:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"observations": np.zeros(40)}, r"observations have the shape \(40,\)"),
            ({"observations": np.zeros((0, 3))}, "neither being 0"),
            ({"observations": np.full((40, 3), np.nan)}, "NaN or infinite"),
            ({"dt": 0}, "ms per step"),
            ({"channels": {"stimulus": slice(1, 9)}}, "Channel 'stimulus'"),
            ({"channels": {"stimulus": slice(2, 2)}}, "at least one"),
            ({"channels": {"stimulus": 1}}, "Expected a slice"),
            (
                {"periods": [("delay", 10, 50)]},
                "Period 'delay' lasts from step 10 to 50 of a trial of 40",
            ),
            ({"periods": [("delay", 10, 5)]}, "0 <= start <= stop"),
            ({"targets": np.zeros(39, int)}, r"targets have the shape \(39,\)"),
            ({"targets": np.full(40, "left")}, "targets have"),
            ({"actions": np.zeros((40, 2))}, r"actions have the shape \(40, 2\)"),
            ({"rewards": np.zeros(3)}, r"rewards have the shape \(3,\)"),
            ({"action_names": ["fixate"]}, "1 action_names were given, but action 1 occurs"),
        ],
    )
    def test_each_says_what_is_wrong(self, changes, message):
        with pytest.raises(InvalidValueError, match=message):
            make_trace(**changes)


class TestSaving:
    @pytest.mark.parametrize(
        ("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
    )
    def test_formats(self, tmp_path, suffix, start):
        path = save_figure(trial_figure(make_trace()), str(tmp_path / f"trial.{suffix}"))
        assert path.read_bytes().startswith(start)
        assert [file.name for file in tmp_path.iterdir()] == [path.name]

    def test_another_suffix(self, tmp_path):
        with pytest.raises(InvalidValueError, match=r"ends in \.png, \.svg or \.pdf"):
            save_figure(trial_figure(make_trace()), tmp_path / "trial.doc")

    def test_a_failure_leaves_the_old_file(self, tmp_path):
        path = tmp_path / "trial.png"
        path.write_text("before")

        class Broken:
            def savefig(self, target, **_):
                target.write_text("half")
                raise OSError("disk full")

        with pytest.raises(OSError, match="disk full"):
            save_figure(Broken(), path)
        assert path.read_text() == "before"
        assert [file.name for file in tmp_path.iterdir()] == ["trial.png"]

    def test_the_same_figure_is_the_same_file(self, tmp_path):
        paths = [save_figure(trial_figure(make_trace()), tmp_path / f"{i}.png") for i in range(2)]
        assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("size", [5, 16, 32])
def test_an_image_of_a_ring_has_ticks_at_quarters_of_a_turn(size):
    trace = make_trace(units=size, unit_names={"stimulus": Ring(size).unit_names})
    axes = next(axes for axes in trial_figure(trace).axes if axes.get_images())
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == (["0°"] if size % 4 else ["0°", "90°", "180°", "270°"])


def test_figures_touch_no_pyplot():
    code = (
        "import sys, numpy as np\nfrom neurogym_plot.trial import TrialTrace, trial_figure\n"
        "zeros = np.zeros(5, int)\ntrial_figure(TrialTrace(np.zeros((5, 1)),"
        " {'a': slice(0, 1)}, [('p', 0,"
        " 5)], zeros)).canvas.draw()\nassert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_figures_can_be_drawn_in_threads(tmp_path):
    failures = []

    def draw(index):
        try:
            save_figure(trial_figure(make_trace(units=5)), tmp_path / f"{index}.png")
        except Exception as error:  # an exception in a thread would be lost
            failures.append(error)

    threads = [threading.Thread(target=draw, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1
