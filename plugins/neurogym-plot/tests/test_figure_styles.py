"""The figure of a trial in the sizes of papers and slides."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from matplotlib.text import Text
from neurogym_plot.styles import figure_style, magnified
from neurogym_plot.trial import trace_of, trial_figure

from neurogym_core import UnknownNameError
from neurogym_core.tools import main as ngym


class TestStyle:
    """The sizes of `figure_style`; texts, lines and offsets grow with the figure."""

    def drawn(self, name):
        with figure_style(name):
            return magnified(trial_figure(trace_of("control/AntiReach-v0", "random", 0)))

    @pytest.mark.parametrize(("name", "width"), [("screen", 183), ("paper", 180), ("slide", 320)])
    def test_a_trial_is_as_wide_as_the_style_says(self, name, width):
        assert self.drawn(name).get_size_inches()[0] * 25.4 == pytest.approx(width, abs=0.2)

    def test_all_parts_of_a_trial_grow_by_the_same_factor(self):
        small, large = self.drawn("screen"), self.drawn("slide")
        pairs = [
            (one.get_fontsize(), other.get_fontsize())
            for one, other in zip(small.findobj(Text), large.findobj(Text), strict=True)
        ]
        assert {round(other / one, 2) for one, other in pairs} == {1.75}
        lines = zip(small.axes[1].lines, large.axes[1].lines, strict=True)
        assert {round(b.get_linewidth() / a.get_linewidth(), 2) for a, b in lines} == {1.75}

    def test_an_unknown_style_is_refused(self):
        with pytest.raises(UnknownNameError, match="'paper'"), figure_style("papper"):
            pass

    def test_ngym_plot_draws_for_papers(self, tmp_path):
        target = tmp_path / "trial.svg"
        given = ["plot", "AntiReach-v0", "--style", "paper", "-o", str(target)]
        result = CliRunner().invoke(ngym, given)
        assert result.exit_code == 0, result.output
        text = target.read_text("utf-8")
        assert f'width="{180 / 25.4 * 72:.0f}' in text
        assert "time in the trial (ms)</text>" in text
