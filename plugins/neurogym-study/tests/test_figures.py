"""Figures of behaviour show their data, and refuse data that cannot be drawn."""

import numpy as np
import pytest
from neurogym_study import (
    accuracy,
    chronometric_figure,
    demo_figure,
    fit_psychometric,
    psychometric_figure,
    reaction_times,
)

from neurogym_core.errors import InvalidValueError, UnknownNameError
from neurogym_core.plots import TrialTrace
from neurogym_core.trials.record import TrialRecord


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
        assert texts(figure) >= {"Times", "correct", "error", f"{statistic} reaction time (ms)"}

    def test_bad_input(self):
        with pytest.raises(InvalidValueError, match="at least one row"):
            chronometric_figure([])
        with pytest.raises(InvalidValueError, match="statistic='mode'"):
            chronometric_figure(reaction_times(make_record()), statistic="mode")


class TestDemoFigure:
    def test_a_trial_beside_the_curves(self):
        rows, fit = accuracy(make_record()), fit_psychometric(make_record(), interval=None)
        trace = TrialTrace(
            observations=np.zeros((40, 3)),
            channels={"fixation": slice(0, 1), "stimulus": slice(1, 3)},
            periods=[("fixation", 0, 30), ("decision", 30, 40)],
            targets=np.repeat([0, 1], [30, 10]),
            title="A task",
        )
        figure = demo_figure(trace, {"oracle": rows, "random": rows}, {"oracle": fit})
        assert texts(figure) >= {"A task", "Psychometric function", "random", "decision"}
        box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
        assert 0 <= box.x0 < box.x1 <= width
        assert 0 <= box.y0 < box.y1 <= height
