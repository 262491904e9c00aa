"""The figure of a session shows choices, outcomes, rewards and conditions over trials."""

import subprocess
import sys

import numpy as np
import pytest
from neurogym_plot import save_figure
from neurogym_plot.drawing import best_as_session
from neurogym_plot.session import running_mean, session_figure

from neurogym_core import (
    Angle,
    Axis,
    Choice,
    InvalidValueError,
    OneHot,
    Ring,
    Task,
    TrialRecord,
    Uniform,
    UnknownNameError,
    make_task,
    run,
)

pytest.importorskip("matplotlib")


def make_record(n=60, meta=None, **changes):
    """A record of a task with a slot, blocks of 20 trials, and a side that is drawn each trial."""
    rng = np.random.default_rng(0)
    side, choice = rng.integers(0, 2, (2, n))
    columns = {
        "trial": np.arange(n),
        "env": np.zeros(n, int),
        "session": np.zeros(n, int),
        "p_left": np.where(np.arange(n) // 20 % 2, 0.2, 0.8),
        "rule": np.where(np.arange(n) // 15 % 2, "pro", "anti"),
        "side": np.where(side, "left", "right"),
        "contrast": rng.uniform(0, 100, n),
        "drift": np.cumsum(rng.normal(size=(n, 2)), axis=0),
        "luck": rng.random((n, 4)),
        "choice": choice,
        "outcome": np.where(side == choice, "correct", "error"),
        "reaction_time": np.full(n, 100.0),
        "performance": (side == choice) * 1.0,
        "reward": (side == choice) * 1.0,
        "aborts": np.zeros(n, int),
        "steps": np.ones(n, int),
        "duration.choice": np.full(n, 100.0),
    }
    columns = {name: values for name, values in (columns | changes).items() if values is not None}
    return TrialRecord(columns, meta={"slots": ("choose",)} if meta is None else meta)


def texts(figure):
    """All that is written in a figure."""
    from matplotlib.text import Text

    figure.canvas.draw()
    return {text.get_text() for text in figure.findobj(Text) if text.get_visible()}


def rows(figure):
    """Name of a row -> its axes, from top to bottom."""
    return {axes.texts[-1].get_text().replace("\n", " "): axes for axes in figure.axes}


def ticks(axes):
    """Place -> (top, bottom, colour) of the ticks of a row of lanes."""
    from matplotlib.colors import to_hex

    return {
        float(segment[0, 0]): (
            float(segment[:, 1].min()),
            float(segment[:, 1].max()),
            to_hex(lines.get_color()[0]),
        )
        for lines in axes.collections
        for segment in lines.get_segments()
    }


def test_choices_rewards_and_conditions_have_a_row_each_with_those_that_persist_first():
    figure = session_figure(make_record())
    expected = ["choose", "reward", "p left", "rule", "drift", "side", "contrast"]
    assert list(rows(figure)) == expected
    assert "not drawn: luck" in texts(figure)


def test_a_choice_is_a_tick_in_its_lane_with_the_colour_and_length_of_its_outcome():
    record = make_record(
        4,
        choice=np.array([0, 1, 1, -1]),
        outcome=np.array(["correct", "error", "other", "miss"]),
        rule=None,
    )
    axes = rows(session_figure(record))["choose"]
    assert ticks(axes) == {
        0.0: (-0.4, 0.4, "#009e73"),
        1.0: (1.0, 1.4, "#d55e00"),
        2.0: (0.6, 1.4, "#0072b2"),
        3.0: (1.85, 2.15, "#777777"),
    }
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "1", "no answer"]
    assert {"correct 1", "error 1", "other 1", "miss 1"} <= texts(axes.figure)


def test_trials_that_did_not_have_a_slot_have_no_tick():
    part = {
        "choice": None,
        "outcome": None,
        "first.choice": np.array([0, 1, -1]),
        "first.outcome": np.array(["correct", "error", "none"]),
        "second.choice": np.array([0, -1, 1]),
        "second.outcome": np.array(["error", "none", "correct"]),
    }
    drawn = rows(session_figure(make_record(3, meta={"slots": ("first", "second")}, **part)))
    assert sorted(ticks(drawn["first choice"])) == [0, 1]
    assert sorted(ticks(drawn["second choice"])) == [0, 2]
    assert len(drawn["first choice"].get_yticks()) == 2


def test_bands_are_as_long_as_the_value_persists():
    axes = rows(session_figure(make_record()))["rule"]
    corners = [band.get_patch_transform().transform_path(band.get_path()) for band in axes.patches]
    left = [float(path.vertices[:, 0].min()) for path in corners]
    right = [float(path.vertices[:, 0].max()) for path in corners]
    assert [(first, last - first) for first, last in zip(left, right, strict=True)] == [
        (-0.5, 15),
        (14.5, 15),
        (29.5, 15),
        (44.5, 15),
    ]
    assert [text.get_text() for text in axes.texts[:4]] == ["anti", "pro", "anti", "pro"]


def test_probabilities_are_lines_from_0_to_1():
    axes = rows(session_figure(make_record()))["p left"]
    (line,) = axes.lines
    assert line.get_ydata().tolist()[:21] == [0.8] * 20 + [0.2]
    assert line.get_xdata()[[0, -1]].tolist() == [-0.5, 59.5]
    low, high = axes.get_ylim()
    assert -0.1 < low < 0 < 1 < high < 1.1


def test_numbers_that_change_from_trial_to_trial_are_dots():
    drawn = rows(session_figure(make_record()))
    (dots,) = drawn["contrast"].lines
    assert (dots.get_marker(), dots.get_linestyle()) == ("o", "None")
    assert {line.get_marker() for line in drawn["drift"].lines[:2]} == {"None"}


def test_a_constant_is_drawn_as_a_number_and_a_constant_probability_as_a_line():
    record = make_record(coherence=np.full(60, 51.2), p_left=np.full(60, 0.5))
    drawn = rows(session_figure(record))
    assert "51.2" in texts(drawn["coherence"].figure)
    assert not drawn["coherence"].lines[:-1]
    assert drawn["p left"].lines[0].get_ydata().tolist() == [0.5] * 61


def test_bars_of_rewards_begin_at_0():
    axes = rows(session_figure(make_record(reward=np.linspace(5, 9, 60))))["reward"]
    assert axes.get_ylim()[0] <= 0
    assert sum(bar.get_height() for bar in axes.patches) == pytest.approx(7 * 60)


def test_the_mean_of_rewards_starts_again_in_each_session():
    reward = np.r_[np.ones(30), np.zeros(30)]
    record = make_record(session=np.repeat([0, 1], 30), reward=reward)
    drawn = rows(session_figure(record))
    means = [line.get_ydata() for line in drawn["reward"].lines if len(line.get_ydata()) == 26]
    assert [set(mean.tolist()) for mean in means] == [{1.0}, {0.0}]
    assert all(29.5 in [line.get_xdata()[0] for line in axes.lines] for axes in drawn.values())


def test_the_running_mean_is_of_a_value_and_those_before_it():
    assert running_mean(np.array([1.0, 2, 3, 4]), 2).tolist() == [1, 1.5, 2.5, 3.5]


def test_a_part_of_a_record_keeps_its_trial_numbers_and_a_selection_says_that_it_has_none():
    record = make_record()
    part = session_figure(record[20:40])
    assert part.axes[-1].get_xlim() == (19.5, 39.5)
    assert "trial" in texts(part)
    chosen = session_figure(record[record["outcome"] == "correct"])
    assert "row of the record" in texts(chosen)


def test_the_columns_to_draw_can_be_chosen():
    record = make_record()
    figure = session_figure(record, columns=["luck", "p_left"])
    assert list(rows(figure)) == ["choose", "reward", "luck", "p left"]
    with pytest.raises(UnknownNameError, match="Did you mean 'p_left'"):
        session_figure(record, columns=["p_lef"])
    many = make_record(name=np.array([f"value {i}" for i in range(60)]))
    with pytest.raises(InvalidValueError, match=r"'name'.*cannot be drawn"):
        session_figure(many, columns=["name"])
    assert "not drawn: luck, name" in texts(session_figure(many))


def test_at_most_eight_conditions_are_drawn_and_constants_and_noise_give_way():
    extra = {f"constant_{i}": np.zeros(60, int) for i in range(9)}
    drawn = rows(session_figure(make_record(**extra)))
    assert len(drawn) == 2 + 8
    assert {"p left", "rule", "drift"} < set(drawn)
    assert not {"side", "contrast"} & set(drawn)


def test_continuous_answers_are_dots():
    values = np.random.default_rng(0).normal(size=(60, 2))
    axes = rows(session_figure(make_record(choice=values)))["choose"]
    np.testing.assert_array_equal(axes.lines[1].get_ydata(), values[:, 1])


class Sides(Task):
    """Two named groups of actions, one of which answers."""

    timing = {"wait": 300, "choice": 200}

    def define(self):
        self.observe(light=1)
        self.act(fixate=1, turn=3)

    def new_trial(self, trial):
        trial.periods("wait", "choice")
        trial.show("light", 1, during="choice")
        trial.answer("turn", 0, during="choice")


def test_the_task_gives_title_and_choices():
    figure = session_figure(run(Sides, "oracle", 10, num_envs=1, seed=0), Sides, subject="oracle")
    written = texts(figure)
    assert {"Sides", "oracle: 10 trials, 10 of 10 answers correct, reward 1 per trial"} <= written
    labels = [label.get_text() for label in rows(figure)["turn"].get_yticklabels()]
    assert labels == ["0", "1", "2"]


class Named(Sides):
    """Its choices have names."""

    def define(self):
        super().define()
        self.act(fixate=1, turn=("left", "right"))


def test_the_figure_shows_the_names_of_choices():
    figure = session_figure(run(Named, "guess", 40, num_envs=1, seed=0), Named())
    assert {"left", "right"} <= {
        text.get_text() for axes in figure.axes for text in axes.get_yticklabels()
    }


def test_tasks_of_up_to_three_steps_are_best_drawn_as_a_session():
    steps = [(timing, best_as_session(make_task(Sides, timing=timing))) for timing in (
        {"wait": 100, "choice": 100}, {"wait": 100, "choice": 200}, {"wait": 200, "choice": 200}
    )]  # fmt: skip
    assert [session for _, session in steps] == [True, True, False]


class Stream(Task):
    """Compare each letter with the one before it; all steps are in the response window."""

    reads_ahead: bool = True
    timing = {"letter": 200, "gap": 300}

    def define(self):
        self.observe(letter=OneHot(tuple("BCDFGHJK")))
        self.act(rest=1, choose=("this one differs", "this one is the same"))
        self.vary(letter=Choice(8), same=Choice(2))
        self.correct_choice("same")

    def draw(self, session, rng):
        return self.draw_conditions(rng, len(session))

    def new_trial(self, trial):
        trial.periods("letter", "gap")
        trial.show("letter", np.eye(8)[trial["letter"]], during="letter")
        during = ("letter", "gap") if self.reads_ahead else "gap"
        trial.answer("choose", trial["same"], during=during, then="wait")


def test_a_stream_that_is_answered_throughout_is_best_drawn_as_a_session():
    assert best_as_session(Stream())
    assert not best_as_session(Stream(reads_ahead=False))

    class Independent(Stream):
        draw = Task.draw

    assert not best_as_session(Independent())


def test_names_of_rows_and_of_choices_do_not_overlap_and_are_not_shortened():
    record = run(Stream, "guess", 60, num_envs=1, seed=0)
    figure = session_figure(record, Stream)
    figure.canvas.draw()
    for name, axes in rows(figure).items():
        title = axes.texts[-1].get_window_extent()
        labels = [label for label in axes.get_yticklabels() if label.get_text()]
        assert all(label.get_window_extent().x0 > title.x1 for label in labels), name
    labels = [label.get_text() for label in rows(figure)["choose"].get_yticklabels()]
    assert labels == ["this one differs", "this one is the same"]


def test_conditions_that_are_units_or_right_choices_have_their_names():
    figure = session_figure(run(Stream, "guess", 60, num_envs=1, seed=0), Stream)
    panels = rows(figure)
    assert [label.get_text() for label in panels["same"].get_yticklabels()] == [
        "this one differs",
        "this one is the same",
    ]
    letters = [label.get_text() for label in panels["letter"].get_yticklabels()]
    assert len(letters) > 2
    assert set(letters) <= set("BCDFGHJK")
    assert letters[0] == "B"


def test_many_choices_are_dots_with_ticks_at_quarters_of_a_turn():
    class Turn(Task):
        timing = {"light": 200, "choice": 100}

        def define(self):
            self.observe(light=1)
            self.act(rest=1, reach=Ring(32))
            self.vary(direction=Choice(32))
            self.correct_choice("direction")

        def new_trial(self, trial):
            trial.periods("light", "choice")
            trial.show("light", 1, during="light")
            trial.answer("reach", trial["direction"], during="choice")

    record = run(Turn, "oracle", 40, num_envs=1, seed=0)
    axes = rows(session_figure(record, Turn))["reach"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0°", "90°", "180°", "270°"]
    dots = axes.lines[0]
    np.testing.assert_array_equal(dots.get_ydata(), record.codes())
    idle = rows(session_figure(run(Turn, "rest", 5, num_envs=1, seed=0), Turn))["reach"]
    assert [label.get_text() for label in idle.get_yticklabels()][-1] == "no answer"


def test_angles_are_drawn_on_the_whole_circle():
    class Point(Task):
        timing = {"light": 200, "choice": 100}

        def define(self):
            self.observe(light=1)
            self.act(go=Axis(-1, 1, rest=-1, trigger=0), report=Angle())
            self.vary(at=Uniform(-np.pi, np.pi))

        def new_trial(self, trial):
            trial.periods("light", "choice")
            trial.show("light", trial["at"], during="light")
            trial.answer("report", trial["at"], during="choice", tolerance=0.1)

    axes = rows(session_figure(run(Point, "oracle", 20, num_envs=1, seed=0), Point))["report (rad)"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["\N{MINUS SIGN}π", "0", "π"]
    assert axes.get_ylim()[0] < -np.pi < np.pi < axes.get_ylim()[1]


@pytest.mark.parametrize("n", [1, 2, 30, 300])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"p_left": None, "rule": None, "drift": None, "luck": None, "contrast": None},
        {"choice": None, "outcome": None, "reward": None},
        {"reward": "negative"},
        {"contrast": "missing"},
    ],
    ids=["all", "few", "without answers", "losses", "NaN"],
)
def test_nothing_is_cut_off(n, changes, tmp_path):
    odd = {"negative": np.full(n, -2.0), "missing": np.full(n, np.nan)}
    changes = {name: odd.get(value) for name, value in changes.items()}
    figure = session_figure(make_record(n, **changes), title="A task", subject="guess")
    figure.canvas.draw()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert 0 <= box.x0 < box.x1 <= width
    assert 0 <= box.y0 < box.y1 <= height
    assert save_figure(figure, tmp_path / "session.png").stat().st_size > 1000


def test_an_empty_record_and_one_of_several_envs_are_refused():
    with pytest.raises(InvalidValueError, match=r"has no trials.*num_envs=1"):
        session_figure(make_record()[:0])
    with pytest.raises(InvalidValueError, match=r"trials of 2 envs.*Select one"):
        session_figure(make_record(env=np.arange(60) % 2))


def test_a_record_with_nothing_to_draw_is_refused():
    with pytest.raises(InvalidValueError, match=r"has the columns trial\. Expected choices"):
        session_figure(TrialRecord({"trial": [0, 1]}))


def test_the_figure_touches_no_pyplot():
    code = (
        "import sys\nfrom neurogym_core import TrialRecord\n"
        "from neurogym_plot import session_figure\n"
        "session_figure(TrialRecord({'reward': [0.0, 1.0]})).canvas.draw()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
