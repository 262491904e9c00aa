"""Continuous answers: angles, payoffs, figures and descriptions in task units."""

import json

import numpy as np
import pytest
from neurogym_plot import trace_of, trial_figure

from neurogym_core import (
    Angle,
    Axis,
    Choice,
    Dataset,
    PowerLaw,
    Task,
    TrialLayoutError,
    Uniform,
    make,
    make_task,
    run,
)
from neurogym_core.tools import describe


class Wheel(Task):
    """Report an angle; the answer is given by `go`."""

    timing = {"light": 200, "decision": 300}
    tolerance: float = 0.5

    def define(self):
        self.observe(light=2)
        self.act(go=Axis(-1, 1, rest=-1, trigger=0), report=Angle())
        self.vary(at=Uniform(-np.pi, np.pi))

    def new_trial(self, trial):
        trial.periods("light", "decision")
        trial.show("light", Angle.points(trial["at"]), during="light")
        trial.answer("report", trial["at"], during="decision", tolerance=self.tolerance)


class Withhold(Wheel):
    """Report the angle, or in half of the trials rest."""

    rewards = {"abort": -0.1, "correct": 1.0, "error": -0.25, "miss": -0.5}

    def define(self):
        super().define()
        self.vary(withhold=Choice((True, False)))

    def new_trial(self, trial):
        trial.periods("light", "decision")
        report = {"during": "decision", "tolerance": 0.5}
        trial.answer("report", trial["at"], where=~trial["withhold"], **report)
        trial.answer("report", None, where=trial["withhold"], **report)


def test_resting_can_be_the_right_answer_where_an_axis_has_a_trigger():
    record = run(Withhold(), "oracle", 40, seed=1)
    assert (record["performance"] == 1).all()
    assert (record["reward"] == 1).all()
    assert (record["outcome"] == "correct").all()
    idle = run(Withhold(), "rest", 40, seed=1)
    np.testing.assert_array_equal(idle["performance"], idle["withhold"])
    np.testing.assert_array_equal(idle["reward"], np.where(idle["withhold"], 1, -0.5))

    def acts(env, seen):
        return np.where(env.is_asked[:, None], [1.0, 0.5, 0.5], [-1.0, 0, 0]).astype(np.float32)

    acted = run(Withhold(conditions={"withhold": True}), acts, 40, seed=1)
    assert (acted["outcome"] == "error").all()
    assert (acted["reward"] == -0.25).all()
    assert not acted["performance"].any()


def test_resting_is_no_answer_without_a_trigger():
    class Wrong(Heading):
        def new_trial(self, trial):
            trial.periods("turn")
            trial.answer("report", None, during="turn", tolerance=0.3)

    with pytest.raises(TrialLayoutError, match="one axis a trigger"):
        Wrong()


class Vibration(Task):
    """Report a difference in Hz; without a trigger, as a user would first write it."""

    timing = {"stimulus": 500, "decision": 500}

    def define(self):
        self.observe(stimulus=1)
        self.act(report=Axis(-16, 16))
        self.vary(difference=Choice((-8, 8)))

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("stimulus", trial["difference"], during="stimulus")
        trial.answer("report", trial["difference"], during="decision", tolerance=2)


class Heading(Task):
    """Follow a direction that turns; no trigger."""

    timing = {"turn": 1000}

    def define(self):
        self.observe(light=2)
        self.act(report=Angle())
        self.vary(start=Uniform(-np.pi, np.pi))

    def new_trial(self, trial):
        trial.periods("turn")
        angles = trial["start"][:, None] + np.arange(10) * 0.5
        trial.timecourse("light", Angle.points(angles), during="turn")
        trial.timecourse("report", angles[:, :, None], during="turn")
        trial.answer("report", angles[:, -1], during="turn", tolerance=0.3)


def answered(task, radians, radius=1.0, **conditions):
    """Play a trial of `Wheel` with one report; return its info."""
    env = make(task, conditions=conditions)
    env.reset(seed=0)
    for _ in range(2):
        env.step(np.array([-1, 0, 0], np.float32))
    point = radius * Angle.points(radians) / max(1, radius)
    *_, info = env.step(np.array([1, *point], np.float32))
    return info["trial"]


# ---------------------------------------------------------------------- angles


@pytest.mark.parametrize("dt", [20, 100])
def test_the_record_has_the_angle_of_the_report(dt):
    record = run(Wheel(dt=dt), "oracle", 200, seed=0)
    assert record["choice"].shape == (200,)
    np.testing.assert_allclose(record["choice"], record["at"], atol=1e-5)
    assert record["performance"].min() == 1


@pytest.mark.parametrize(
    ("report", "outcome"), [(3.1, "correct"), (-3.1, "correct"), (-2.7, "correct"), (-2.6, "error")]
)
def test_errors_go_around_the_circle(report, outcome):
    assert answered(Wheel(), report, at=3.1)["outcome"] == outcome


def test_targets_beyond_the_circle_are_the_same_angles():
    class Turns(Wheel):
        def define(self):
            super().define()
            self.vary(at=Uniform(-20, 20))

    assert answered(Turns(), 0.1, at=0.1 + 4 * np.pi)["outcome"] == "correct"


def test_only_the_direction_of_the_point_counts():
    assert answered(Wheel(), 1.0, radius=0.01, at=1.0)["outcome"] == "correct"


def test_the_middle_has_no_angle_and_is_always_wrong():
    trial = answered(Wheel(tolerance=3.0), 0.0, radius=0.0, at=0.0)
    assert (trial["outcome"], trial["choice"]) == ("error", 0.0)


def test_random_reports_are_right_as_often_as_the_tolerance_says():
    # A report is right with 0.5 / pi = 0.159; SD of the mean of 3,000 trials 0.0067, so that a
    # range of five SDs has a false-alarm rate below 1e-6.
    share = np.mean(run(Wheel(), "guess", 3000, seed=1)["outcome"] == "correct")
    assert abs(share - 0.5 / np.pi) < 5 * 0.0067


def test_a_turning_direction_is_followed_across_the_seam():
    record = run(Heading, "oracle", 50, seed=0)
    assert set(record["outcome"]) == {"correct"}
    np.testing.assert_allclose(record["reward"], 1, atol=1e-9)


def test_datasets_have_points_as_targets_and_score_them():
    batch = next(Dataset(Wheel(), 16, seed=0))
    assert batch.targets.shape[2] == 3
    assert batch.score(batch.targets)["performance"].mean() == 1


@pytest.mark.parametrize("target", [np.zeros((7, 2)), "left"])
def test_an_angle_takes_one_number_per_trial(target):
    class Wrong(Wheel):
        def new_trial(self, trial):
            super().new_trial(trial)
            trial.answer("report", target, during="light", slot="other", then="wait")

    with pytest.raises((TrialLayoutError, ValueError)):
        Wrong()


# ---------------------------------------------------------------------- payoffs


def test_rewards_count_without_a_trigger(kernel):
    right = run(Vibration(rewards={"correct": 5}), "oracle", 20, seed=0)
    assert right["reward"].tolist() == [5.0] * 20
    wrong = run(Vibration(rewards={"error": -2, "correct": 1}), "rest", 20, seed=0)
    # 5 steps of 100 ms, each at a quarter of the range.
    np.testing.assert_allclose(wrong["reward"], -2 - 5 * 0.25**2)


@pytest.mark.parametrize("subject", ["rest", "random"])
def test_the_default_payoff_does_not_depend_on_units(subject):
    class Millihertz(Vibration):
        def define(self):
            self.observe(stimulus=1)
            self.act(report=Axis(-16000, 16000))
            self.vary(difference=Choice((-8000, 8000)))

        def new_trial(self, trial):
            trial.periods("stimulus", "decision")
            trial.show("stimulus", trial["difference"] / 1000, during="stimulus")
            trial.answer("report", trial["difference"], during="decision", tolerance=2000)

    one, other = (run(task, subject, 30, seed=0) for task in (Vibration, Millihertz))
    np.testing.assert_allclose(one["reward"], other["reward"], atol=1e-9)
    assert one["reward"].min() > -10


def test_rewards_of_an_oracle_have_no_rounding_errors():
    assert run(Vibration, "oracle", 10, seed=0)["reward"].tolist() == [1.0] * 10


@pytest.mark.parametrize("trigger", [True, False])
@pytest.mark.parametrize("correct", [1, 5])
def test_a_graded_reward_scales_and_its_share_is_the_performance(trigger, correct):
    class Graded(Task):
        timing = {"decision": 300}

        def define(self):
            self.observe(stimulus=1)
            go = {"go": Axis(-1, 1, rest=-1, trigger=0)} if trigger else {}
            self.act(**go, report=Axis(0, 10))
            self.vary(at=Choice((5.0,)))

        def new_trial(self, trial):
            trial.periods("decision")
            trial.show("stimulus", trial["at"], during="decision")
            pays = PowerLaw(exponent=1, least=0, most=self.rewards["correct"])
            trial.answer("report", trial["at"], during="decision", tolerance=4, pays=pays)
            trial.loss_weight(0, during="decision")  # no pay for tracking

    def off_by_one(env, observations):
        action = np.full((env.num_envs, env.task.actions.size), 1.0)
        action[:, -1] = 0.2  # 6 of 0 to 10
        return action

    record = run(Graded(rewards={"correct": correct}), off_by_one, 4, seed=0)
    np.testing.assert_allclose(record["reward"], correct * 0.75)
    np.testing.assert_allclose(record["performance"], 0.75)


# ---------------------------------------------------------------------- figures and descriptions


def panels(figure):
    """The name of each panel, and its axes."""
    return {
        text.get_text(): axes
        for axes in figure.axes
        for text in [*axes.texts, axes.yaxis.label]
        if text.get_text()
    }


def test_figures_show_each_axis_in_task_units_with_its_trigger():
    trace = trace_of(make_task("motor/ReachingDelayResponse-v0"), seed=0)
    position = trace.targets[-1, 1]
    assert list(trace.axes) == ["go", "position"]
    assert position == pytest.approx(trace.actions[-1, 1])
    assert f"position {position:.4g}" in trace.subtitle
    found = panels(trial_figure(trace))
    low, high = found["position"].get_ylim()
    assert low < -1 < 2 < high
    dashed = [line for line in found["go (action)"].get_lines() if line.get_linestyle() == "--"]
    assert [set(line.get_ydata()) for line in dashed] == [{0}]


def test_figures_of_an_angle_go_from_minus_pi_to_pi():
    trace = trace_of(Wheel(), seed=0)
    assert trace.targets.shape[1] == 2  # go, and the angle
    assert np.isnan(trace.targets[0, 1])
    found = panels(trial_figure(trace))
    assert [tick.get_text() for tick in found["report"].get_yticklabels()] == [
        "\N{MINUS SIGN}π",
        "0",
        "π",
    ]


def test_the_figures_subject_tracks_where_no_answer_ends_a_wait():
    trace = trace_of(Heading(), "late_oracle", seed=0)
    np.testing.assert_allclose(trace.actions, trace.targets)


def test_descriptions_have_range_rest_trigger_and_payoff():
    found = describe(make_task("memory/GradedComparison-v0"))
    report, go = found["actions"][1], found["actions"][0]
    assert (report["axis"], report["rest"]) == ([-16, 16], 0)
    assert (go["rest"], go["trigger"]) == (-1, 0)
    assert "`correct`" in found["payoff"]
    assert "mean squared error" in describe(Vibration())["payoff"]
    wheel = describe(Wheel())["actions"][1]
    assert (wheel["kind"], wheel["circular"]) == ("Angle", True)
    json.dumps(describe(Wheel()))
    assert describe(make_task("control/GoNogo-v0"))["payoff"] == ""
