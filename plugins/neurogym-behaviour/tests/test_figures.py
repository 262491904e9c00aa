"""Figures of behaviour show their data, and refuse data that cannot be drawn."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from click.testing import CliRunner
from neurogym_behaviour import (
    accuracy,
    chronometric_figure,
    demo_figure,
    fit_psychometric,
    learning_curve_figure,
    psychometric_figure,
    reaction_times,
)
from neurogym_behaviour.figures import StrengthAxis, with_unit
from neurogym_behaviour.findings import figure as panels_of
from neurogym_plot import TrialTrace
from neurogym_plot.styles import STYLES, figure_style, save_figure
from neurogym_records.exchange import write_csv
from neurogym_training.evaluate import command as evaluate

from neurogym_core import InvalidValueError, TrialRecord, UnknownNameError


def make_record(n=400):
    rng = np.random.default_rng(1)
    coherence = rng.choice([0, 6.4, 12.8, 25.6, 51.2], n)
    correct = rng.random(n) < 0.98 - 0.48 * np.exp(-coherence / 10)
    return TrialRecord(
        {
            "coherence": coherence,
            "outcome": np.where(correct, "correct", "error"),
            "reaction_time": 300 + 400 * np.exp(-coherence / 20) + rng.gamma(2, 40, n),
        }
    )


def texts(figure):
    """Return all texts in a figure."""
    from matplotlib.text import Text

    figure.canvas.draw()
    return {text.get_text() for text in figure.findobj(Text) if text.get_visible()}


class TestPsychometricFigure:
    def test_points_curve_and_their_numbers(self):
        record = make_record()
        fit = fit_psychometric(record, interval="profile")
        figure = psychometric_figure(accuracy(record), fit, title="A subject")
        written = texts(figure)
        assert written >= {"A subject", "coherence (%)", "fraction correct", "0", "6.4", "51.2"}
        assert any(text.startswith(f"threshold {fit.threshold:.3g} [") for text in written)

    def test_several_subjects_are_named(self):
        record = make_record()
        figure = psychometric_figure(
            {"oracle": accuracy(record), "random": accuracy(record)}, {"oracle": None}
        )
        assert texts(figure) >= {"oracle", "random"}

    def test_no_curve_if_the_threshold_is_not_determined(self):
        coherence = np.repeat([0, 6.4, 12.8, 25.6], 100)
        record = TrialRecord(
            {"coherence": coherence, "outcome": np.tile(["correct", "error"], 200)}
        )
        fit = fit_psychometric(record, interval=None)
        figure = psychometric_figure({"random": accuracy(record)}, {"random": fit})
        assert "random: threshold not determined" in texts(figure)
        assert not [line for line in figure.axes[0].lines if len(line.get_xdata()) > 10]

    def test_signed_strength_has_the_whole_range(self):
        record = make_record()
        figure = psychometric_figure(accuracy(record, record["coherence"] * np.tile([-1, 1], 200)))
        assert figure.axes[0].get_ylim()[0] < 0.01
        assert "fraction chosen" in texts(figure)

    def test_a_single_strength_and_an_unanswered_one(self):
        record = TrialRecord(
            {"coherence": [5.0, 5.0, 7.0], "outcome": ["correct", "error", "miss"]}
        )
        texts(psychometric_figure(accuracy(record)))
        texts(psychometric_figure(accuracy(record[:2])))

    def test_bad_input(self):
        rows = accuracy(make_record())
        with pytest.raises(InvalidValueError, match="at least one row"):
            psychometric_figure([])
        with pytest.raises(InvalidValueError, match="numbers"):
            psychometric_figure(accuracy(make_record(), by="outcome"))
        with pytest.raises(UnknownNameError, match="Did you mean 'oracle'"):
            psychometric_figure({"oracle": rows}, {"oracl": None})


class TestChronometricFigure:
    @pytest.mark.parametrize("statistic", ["mean", "median"])
    def test_correct_and_error(self, statistic):
        figure = chronometric_figure(
            reaction_times(make_record()), statistic=statistic, title="Times"
        )
        written = texts(figure)
        assert written >= {"Times", "correct", "error"}
        assert any(text.startswith(f"{statistic} reaction time (ms)") for text in written)

    def test_the_time_of_a_single_trial_is_left_out(self):
        rows = reaction_times(make_record())
        alone = replace(rows[-1], n=1, mean=9999.0)
        figure = chronometric_figure([*rows[:-1], alone])
        drawn = np.concatenate([line.get_ydata() for line in figure.axes[0].lines])
        assert 9999.0 not in drawn

    def test_bad_input(self):
        with pytest.raises(InvalidValueError, match="at least one row"):
            chronometric_figure([])
        with pytest.raises(InvalidValueError, match="statistic='mode'"):
            chronometric_figure(reaction_times(make_record()), statistic="mode")


class TestDemoFigure:
    @pytest.mark.parametrize("stacked", [False, True])
    def test_a_trial_and_the_curves_beside_or_below_it(self, stacked):
        rows, fit = accuracy(make_record()), fit_psychometric(make_record(), interval=None)
        trace = TrialTrace(
            observations=np.zeros((40, 3)),
            channels={"fixation": slice(0, 1), "stimulus": slice(1, 3)},
            periods=[("fixation", 0, 30), ("decision", 30, 40)],
            targets=np.repeat([0, 1], [30, 10]),
            title="A task",
        )
        subjects = {"oracle": rows, "random": rows}
        figure = demo_figure(trace, subjects, {"oracle": fit}, stacked=stacked)
        assert texts(figure) >= {"A task", "Psychometric function", "random", "decision"}
        box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
        assert 0 <= box.x0 < box.x1 <= width
        assert 0 <= box.y0 < box.y1 <= height
        assert (height > width) == stacked


def drawn_in_each_way():
    """Return one figure of each kind, with long names."""
    record = make_record()
    rows, fit = accuracy(record), fit_psychometric(record, interval=None)
    names = ("a network with a rather long name", "monkey 1", "monkey 2")
    ramp = (np.arange(0, 500, 100), np.linspace(0.5, 0.9, 5))
    signed = accuracy(record, record["coherence"] * np.tile([-1, 1], 200))
    return {
        "one subject": psychometric_figure(rows, fit, title="Motion"),
        "three subjects": psychometric_figure(
            dict.fromkeys(names, rows),
            dict.fromkeys(names, fit),
            ylabel="fraction of correct answers in all trials of the record, 95 % interval",
        ),
        "signed": psychometric_figure(signed),
        "times": chronometric_figure(reaction_times(record), title="diffusion"),
        "learning": learning_curve_figure(
            {f"seed {k}": ramp for k in range(3)}, criterion=0.8, chance=0.5
        ),
    }


def seen(figure):
    """Return the texts that are drawn: not those of ticks outside of the limits."""
    from matplotlib.text import Text

    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = zip(axis.get_major_ticks(), axis.get_majorticklocs(), strict=True)
            hidden |= {tick.label1 for tick, place in ticks if not low <= place <= high}
            hidden |= {tick.label2 for tick in axis.get_major_ticks()}
    return [
        part
        for part in figure.findobj(Text)
        if part.get_visible() and part.get_text().strip() and part not in hidden
        and part.get_window_extent().width
    ]  # fmt: skip


class TestStyle:
    @pytest.mark.parametrize("name", STYLES)
    def test_no_text_is_cut_or_overprinted(self, name):
        with figure_style(name):
            figures = drawn_in_each_way()
        for kind, figure in figures.items():
            figure.draw_without_rendering()
            boxes = {
                (part.get_text(), place): part.get_window_extent()
                for place, part in enumerate(seen(figure))
            }
            for text, box in boxes.items():
                inside = box.x0 > -1 and box.y0 > -1
                assert inside, (kind, text)
                assert box.x1 < figure.bbox.x1 + 1, (kind, text)
                assert box.y1 < figure.bbox.y1 + 1, (kind, text)
            for (one, first), (other, second) in combinations(boxes.items(), 2):
                near = first.padded(-1), second.padded(-1)
                assert not near[0].overlaps(near[1]), (kind, one, other)

    def test_a_figure_for_a_paper_is_85_mm_wide_with_texts_of_8_and_7_points(self):
        with figure_style("paper"):
            figure = drawn_in_each_way()["times"]
        (axes,) = figure.axes
        figure.draw_without_rendering()
        assert figure.get_size_inches()[0] * 25.4 == pytest.approx(85)
        assert axes.xaxis.label.get_size() == axes.yaxis.label.get_size() == 8
        sizes = {label.get_size() for label in (*axes.get_xticklabels(), *axes.get_yticklabels())}
        assert sizes == {7}

    def test_matplotlibs_own_settings_stay_as_they_are(self):
        import matplotlib

        before = dict(matplotlib.rcParams)
        with figure_style("slide"):
            drawn_in_each_way()
        assert dict(matplotlib.rcParams) == before
        assert panels_of()[0].get_size_inches()[0] == 4.6

    def test_an_unknown_style_is_refused(self):
        with pytest.raises(UnknownNameError, match="paper"), figure_style("papier"):
            pass

    def test_texts_are_texts_in_svg_and_pdf(self, tmp_path):
        figure = drawn_in_each_way()["times"]
        svg = save_figure(figure, tmp_path / "a.svg").read_text("utf-8")
        assert "coherence (%)</text>" in svg
        # Before the PDF, whose resolution moves axes by rounding errors in Matplotlib before 3.11.
        assert save_figure(figure, tmp_path / "b.svg").read_text("utf-8") == svg
        assert b"/FontFile2" in save_figure(figure, tmp_path / "a.pdf").read_bytes()

    def test_png_files_for_papers_have_300_pixels_per_inch(self, tmp_path):
        from matplotlib.image import imread

        with figure_style("paper"):
            figure = drawn_in_each_way()["times"]
            save_figure(figure, tmp_path / "a.png")
        assert imread(tmp_path / "a.png").shape[1] == pytest.approx(85 / 25.4 * 300, abs=1)


class TestStrengthAxis:
    def axis(self, values):
        _, (axes,) = panels_of()
        return StrengthAxis(axes, values, "coherence (%)")

    def test_strength_0_is_apart_on_a_logarithmic_axis(self):
        axis = self.axis([0, 3.2, 6.4, 12.8, 25.6, 51.2])
        places = axis.places([0, 3.2, 6.4, 12.8, 25.6, 51.2])
        assert np.allclose(np.diff(places)[1:], 1)
        assert places[1] - places[0] >= 1
        assert axis.grid[0] == pytest.approx(3.2)
        shown = [0, 1.6, 3.2, 40]
        assert np.allclose(axis.strengths(axis.places(shown)), shown)

    def test_lines_stop_at_the_break(self):
        axis = self.axis([0, 3.2, 51.2])
        known = set(axis.axes.lines)
        axis.line([0, 3.2, 51.2], [0.5, 0.6, 1.0], marker="o", label="a")
        new = [line for line in axis.axes.lines if line not in known]
        drawn = [line.get_xdata().tolist() for line in new]
        assert drawn == [[3.2, 51.2], [0]]

    @pytest.mark.parametrize(
        "values",
        [[0, 3.2, 51.2], [-100, -6.25, 0, 6.25, 100], [10, 12, 14]],
        ids=["logarithmic", "signed", "linear"],
    )
    def test_points_of_subjects_lie_beside_each_other_and_near_their_strength(self, values):
        axis = self.axis(values)
        places = np.array([axis.places(axis.beside(values, k, 3)) for k in range(3)])
        assert (np.diff(places, axis=0) > 0).all()
        own = np.abs(places - axis.places(values))
        assert (own < np.diff(axis.places(values)).min() / 2).all()

    def test_labels_have_the_unit_of_the_condition(self):
        assert with_unit("signed_contrast") == "signed contrast (%)"
        assert with_unit("modality") == "modality"
        assert with_unit("frequency", {"frequency": "Hz"}) == "frequency (Hz)"


class TestLearningCurves:
    def test_each_seed_and_the_mean_are_drawn(self):
        figure = drawn_in_each_way()["learning"]
        assert texts(figure) >= {"each seed", "mean of 3 seeds", "criterion 0.8", "chance 0.5"}

    def test_no_curve_is_refused(self):
        with pytest.raises(InvalidValueError, match="0 learning curves"):
            learning_curve_figure({})


class TestFiguresOfCommands:
    @pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
    def test_a_report_writes_each_figure(self, tmp_path, monkeypatch, suffix):
        monkeypatch.chdir(tmp_path)
        write_csv(make_record(), tmp_path / "trials.csv")
        given = ["trials.csv", "--figure", f"new/fig.{suffix}", "--style", "paper"]
        result = CliRunner().invoke(evaluate, given)
        assert result.exit_code == 0, result.output
        names = {path.name for path in (tmp_path / "new").iterdir()}
        assert names >= {f"fig-{name}.{suffix}" for name in ("accuracy", "psychometric")}
        if suffix == "svg":
            assert "trials: threshold" in (tmp_path / "new/fig-psychometric.svg").read_text("utf-8")

    def test_another_suffix_is_refused_before_anything_is_played(self):
        result = CliRunner().invoke(evaluate, ["RoitmanShadlen-v0", "--figure", "fig.jpg"])
        assert result.exit_code == 2
        assert "Expected a file name that ends in .svg, .pdf, .png" in result.output
