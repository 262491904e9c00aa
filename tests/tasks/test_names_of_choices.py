"""Names of the units of a channel and of the choices of an action group."""

import numpy as np
import pytest
from neurogym_plot import trace_of, trial_figure
from neurogym_records import read_csv

from neurogym_core import (
    Axis,
    Choice,
    InvalidValueError,
    OneHot,
    Ring,
    Task,
    TaskDefinitionError,
    TrialRecord,
    UnknownNameError,
    make,
    make_vec,
    run,
)
from neurogym_core.tools import describe


class Named(Task):
    timing = {"fixation": 200, "stimulus": 300}

    def define(self):
        self.observe(fixation=1, stimulus=("motion", "colour"))
        self.act(fixate=1, choose=("left", "right"))
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus")
        trial.show("stimulus", np.eye(2)[trial["side"]], during="stimulus")
        trial.answer("choose", np.array(["left", "right"])[trial["side"]], during="stimulus")


class Numbered(Named):
    def define(self):
        self.observe(fixation=1, stimulus=2)
        self.act(fixate=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus")
        trial.show("stimulus", np.eye(2)[trial["side"]], during="stimulus")
        trial.answer("choose", trial["side"], during="stimulus")


class Constant(Named):
    """Left is always right; a second slot is timed."""

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus")
        trial.show("stimulus", np.eye(2)[trial["side"]], during="stimulus")
        trial.answer("choose", "left", during="stimulus", slot="first", stop=100, then="wait")
        trial.answer_at(
            "choose", 100, during="stimulus", tolerance=50, start=100, index="right", slot="second"
        )


def test_names_change_neither_trials_nor_actions_nor_observations():
    named, numbered = (run(task, "guess", 50, seed=3) for task in (Named, Numbered))
    assert {name: named.codes(name).tolist() for name in ("choice", "side")} == {
        name: numbered[name].tolist() for name in ("choice", "side")
    }
    assert all((named[name] == numbered[name]).all() for name in ("outcome", "reward", "steps"))
    assert make(Named).action_space == make(Numbered).action_space
    batches = [task.sample(20, seed=1) for task in (Named(), Numbered())]
    assert np.array_equal(batches[0].shown, batches[1].shown)
    assert np.array_equal(batches[0].target, batches[1].target)


def test_the_record_has_names_and_gives_indices_in_the_order_of_the_task():
    record = run(Named, "guess", 60, seed=0)
    assert set(record["choice"]) == {"left", "right"} == set(record["side"])
    assert record.meta["names"] == {"choice": ("left", "right"), "side": ("left", "right")}
    assert np.array_equal(record["choice"] == "right", record.codes() == 1)
    assert np.array_equal(record["side"] == "right", record.codes("side") == 1)
    assert np.array_equal(record["outcome"] == "correct", record["choice"] == record["side"])
    assert np.array_equal(record[5:9].codes(), record.codes()[5:9])


def test_the_info_of_a_trial_has_the_values_of_the_record():
    env = make(Named, wrap="RecordTrials")
    env.reset(seed=0)
    trials = []
    while len(trials) < 20:
        *_, info = env.step(env.unwrapped.target)
        trials += [dict(info["trial"])] if "trial" in info else []
    for row, trial in zip(env.record.rows(), trials, strict=True):
        assert (trial["choice"], trial["side"]) == (row["choice"], row["side"])
        assert trial["choice"] == trial["side"] in ("left", "right")
    envs = make_vec(Named, 3)
    envs.reset(seed=0)
    while "trial" not in (info := envs.step(envs.unwrapped.target)[-1]):
        pass
    assert set(info["trial"]["choice"][info["trial"]["_choice"]]) <= {"left", "right"}


def test_tasks_read_indices():
    seen = []

    class Reading(Named):
        reads_outcomes = True

        def draw(self, session, rng):
            seen.append((session.previous["side"], session.previous["choice"]))
            return self.draw_conditions(rng, len(session))

    record = run(Reading, "guess", 6, seed=0)
    sides, choices = (np.concatenate(one)[-6:] for one in zip(*seen, strict=True))
    assert choices.dtype.kind == sides.dtype.kind == "i"
    assert np.array_equal(choices, record.codes())
    assert np.array_equal(sides, record.codes("side"))


def test_a_trial_without_an_answer_has_the_choice_none():
    record = run(Named, "rest", 5, seed=0)
    assert set(record["choice"]) == {"none"}
    assert set(record.codes()) == {-1}


def test_targets_may_be_given_by_name_where_they_are_constant():
    record = run(Constant, "oracle", 5, seed=0)
    assert set(record["first.choice"]) == {"left"}
    assert set(record["second.choice"]) == {"right"}


def test_an_unknown_name_of_a_target_lists_the_known_ones():
    class Wrong(Named):
        def new_trial(self, trial):
            trial.periods("fixation", "stimulus")
            trial.show("stimulus", np.eye(2)[trial["side"]], during="stimulus")
            trial.answer("choose", "lefft", during="stimulus")

    with pytest.raises(UnknownNameError, match=r"'lefft'.*'choose'.*left"):
        Wrong()


def test_errors_about_indices_and_actions_list_the_names():
    class Wrong(Named):
        def new_trial(self, trial):
            trial.periods("fixation", "stimulus")
            trial.show("stimulus", np.eye(2)[trial["side"]], during="stimulus")
            trial.answer("choose", trial["side"] + 5, during="stimulus")

    with pytest.raises(Exception, match="or a name \\('left', 'right'\\)"):
        Wrong()
    env = make(Named)
    env.reset(seed=0)
    with pytest.raises(InvalidValueError, match="'fixate', 'left', 'right'"):
        env.unwrapped.step(7)


def test_encoders_take_names_and_equal_numbered_ones():
    assert OneHot(("a", "b")) == OneHot(2)
    assert hash(OneHot(("a", "b"))) == hash(OneHot(2))
    assert Ring(("right", "up", "left", "down")).angles.shape == (4,)
    assert repr(OneHot(("a", "b"))) == "OneHot(('a', 'b'))"
    assert repr(OneHot(2)) == "OneHot(size=2)"
    assert OneHot(["a", "b"]).to_plain() == {"encoder": "OneHot", "size": 2, "names": ["a", "b"]}


@pytest.mark.parametrize("names", [(), ("a", "a"), ("a", ""), ("a", 1)])
def test_names_that_are_empty_or_not_unique_are_refused(names):
    class Wrong(Named):
        def define(self):
            self.observe(fixation=1, stimulus=names)

    with pytest.raises(TaskDefinitionError, match="stimulus"):
        Wrong()


def test_a_choice_may_not_have_the_name_of_no_answer():
    class Wrong(Named):
        def define(self):
            self.observe(fixation=1, stimulus=2)
            self.act(fixate=1, choose=("left", "none"))

    with pytest.raises(TaskDefinitionError, match="stands for no answer"):
        Wrong()


def test_labels_repeat_the_group_only_where_names_are_ambiguous():
    task = Named()
    assert task.actions.labels() == ["fixate", "left", "right"]
    assert task.channels.labels() == ["fixation", "motion", "colour"]
    assert Numbered().actions.labels() == ["fixate", "choose 0", "choose 1"]

    class Twice(Named):
        def define(self):
            self.observe(fixation=1, stimulus=2)
            self.act(fixate=1, choose=("left", "right"), rule=("left", "colour"))
            self.vary(side=Choice(2))
            self.correct_choice("side")

    assert Twice().actions.labels()[1:] == ["choose left", "right", "rule left", "colour"]


def test_an_action_that_joins_a_slot_is_named_by_its_group():
    record = run("perceptual/PostDecisionWager-v0", "guess", 60, seed=0)
    assert record.meta["names"]["choice"] == ("right", "left", "sure")
    assert np.array_equal(record["choice"] == "sure", record.codes() == 2)
    assert (record["choice"] == "sure").any()


def test_a_single_choice_has_the_name_of_its_group():
    record = run("control/GoNogo-v0", "oracle", 30, seed=0)
    assert set(record["choice"]) == {"go", "none"}


def test_names_survive_joining_selecting_and_several_slots():
    first, second = (run(Constant, "oracle", 3, seed=seed) for seed in (0, 1))
    joined = TrialRecord.concatenate([first, second])
    assert set(joined["first.choice"]) == {"left"}
    assert set(joined.codes("second.choice")) == {1}
    both = TrialRecord.concatenate([first, run(Named, "oracle", 3, seed=0)])
    assert both["choose.choice"].tolist()[:3] == ["none"] * 3
    assert both.meta["names"]["choose.choice"] == ("left", "right")
    assert set(both.codes("choose.choice")[:3]) == {-1}


def test_files_have_names_in_an_unknown_order(tmp_path):
    record = run(Named, "oracle", 4, seed=0)
    record.to_csv(tmp_path / "trials.csv")
    read = read_csv(tmp_path / "trials.csv")
    assert read == record
    with pytest.raises(InvalidValueError, match=r"which has <U5 values.*Play the trials"):
        read.codes()


@pytest.mark.parametrize("nothing", ["none", -1])
def test_a_missing_answer_survives_files_of_other_programs(nothing, tmp_path):
    pandas = pytest.importorskip("pandas")
    record = run(Named if nothing == "none" else Numbered, "rest", 3, seed=0)
    record.to_csv(tmp_path / "trials.csv")
    assert pandas.read_csv(tmp_path / "trials.csv")["choice"].tolist() == [nothing] * 3


def test_choices_without_names_stay_numbers():
    record = run(Numbered, "oracle", 4, seed=0)
    assert record["choice"].dtype.kind == record["side"].dtype.kind == "i"
    assert record.meta["names"] == {}
    assert record.codes() is record["choice"]


def test_conditions_are_imposed_by_name_or_by_index():
    for side in ("right", 1):
        assert set(run(Named, "oracle", 4, seed=0, conditions={"side": side})["side"]) == {"right"}
        assert set(Named(conditions={"side": side}).sample(4, seed=0).conditions["side"]) == {1}
        assert set(Named().sample(4, seed=0, side=side).conditions["side"]) == {1}
    for spec in (["left", "left", "right"], Choice(("left", "right"), (2 / 3, 1 / 3))):
        sides = Named(conditions={"side": spec}).sample(3000, seed=0).conditions["side"]
        assert abs(np.mean(sides) - 1 / 3) < 0.04  # 4.6 SD
    design = Named().factorial(2, side=["right", "left"])
    assert Named().sample(design, seed=0).conditions["side"].tolist() == [1, 1, 0, 0]
    record = run(Named, "oracle", 4, seed=0)
    again = Named().sample({"side": record["side"]}, seed=0).conditions["side"]
    assert again.tolist() == record.codes("side").tolist()


@pytest.mark.parametrize("side", ["lefft", ["left", "lefft"]])
def test_an_unknown_name_is_refused_where_conditions_are_imposed(side):
    wrong = r"Unknown value of 'side' 'lefft' of Named. Did you mean 'left'"
    with pytest.raises(UnknownNameError, match=wrong):
        Named(conditions={"side": side})
    with pytest.raises(UnknownNameError, match=wrong):
        Named().sample(2, seed=0, side=side)


@pytest.mark.parametrize("side", [0.5, [0.5, 1], 2, -1, "none"])
def test_a_value_that_an_index_cannot_have_is_refused(side):
    with pytest.raises(InvalidValueError, match=r"side=.*Expected whole numbers from 0 to 1"):
        Named(conditions={"side": side})
    with pytest.raises(InvalidValueError, match=r"side=.*Expected whole numbers from 0 to 1"):
        Named().sample(2, seed=0, side=side)


def test_continuous_answers_have_no_names():
    class Reach(Named):
        def define(self):
            self.observe(fixation=1, stimulus=2)
            self.act(reach=Axis(-1, 1))
            self.vary(side=Choice(2))
            self.correct_choice("side")

        def new_trial(self, trial):
            trial.periods("fixation", "stimulus")
            trial.show("stimulus", np.eye(2)[trial["side"]], during="stimulus")
            trial.answer("reach", 0.5, during="stimulus", tolerance=0.1)

    record = run(Reach, "oracle", 3, seed=0)
    assert record["choice"].dtype.kind == "f"
    assert record.meta["names"] == {}
    with pytest.raises(InvalidValueError, match="'choice' were requested, which has float64"):
        record.codes()


def test_info_lists_the_names():
    found = describe(Named())
    assert found["channels"][1]["names"] == ["motion", "colour"]
    assert found["actions"][1]["names"] == ["left", "right"]
    assert "names" not in found["actions"][0]


def test_the_figure_of_a_trial_shows_the_names():
    figure = trial_figure(trace_of(Named(), seed=0))
    texts = {text.get_text() for axes in figure.axes for text in axes.texts}
    ticks = {text.get_text() for axes in figure.axes for text in axes.get_yticklabels()}
    assert {"motion", "colour"} <= texts
    assert {"fixate", "left", "right"} <= ticks


def test_the_title_of_a_figure_names_the_right_answer():
    trace = trace_of(Named(), seed=0, conditions={"side": 1})
    assert trace.subtitle.endswith("side right")
    assert trace_of(Numbered(), seed=0, conditions={"side": 1}).subtitle.endswith("side 1")


def test_the_integrator_matches_units_and_choices_by_name():
    class Crossed(Named):
        def define(self):
            self.observe(fixation=1, stimulus=("right", "left"))
            self.act(fixate=1, choose=("left", "right"))
            self.vary(side=Choice(2))
            self.correct_choice("side")

        def new_trial(self, trial):
            trial.periods("fixation", "stimulus")
            right = trial["side"][:, None] == [1, 0]
            trial.show("stimulus", right, during="stimulus")
            trial.answer("choose", trial["side"], during="stimulus")

    assert run(Crossed, "integrator", 40, seed=0)["performance"].mean() == 1


def test_recorded_trials_of_an_env_have_names():
    env = make(Named, wrap="RecordTrials")
    env.reset(seed=0)
    for _ in range(40):
        env.step(env.unwrapped.target)
    assert len(env.record) > 3
    assert set(env.record["choice"]) <= {"left", "right"}


@pytest.mark.parametrize("wrap", [(), "TrialHistory", "SideBias", "CatchTrials", "VariableMapping"])
def test_a_condition_of_names_can_be_the_answer_also_for_wrappers(wrap):
    if wrap:
        pytest.importorskip("neurogym_wrappers")

    class BySide(Named):
        def define(self):
            super().define()
            self.vary(side=Choice(("left", "right")))
            self.correct_choice("side")

        def new_trial(self, trial):
            trial.periods("fixation", "stimulus")
            shown = trial["side"][:, None] == ["left", "right"]
            trial.show("stimulus", shown, during="stimulus")
            trial.answer("choose", trial.correct_choice, during="stimulus")

    record = run(BySide, "oracle", 200, seed=0, wrap=wrap)
    assert set(record["outcome"]) == {"correct"}
    if not wrap:
        assert np.array_equal(record["choice"], record["side"])


class Directions(Task):
    """A ring whose units have no names."""

    timing = {"stimulus": 200}

    def define(self):
        self.observe(stimulus=Ring(32))
        self.act(fixate=1, reach=Ring(8))
        self.vary(direction=Choice(8))
        self.correct_choice("direction")

    def new_trial(self, trial):
        trial.periods("stimulus")
        trial.show(
            "stimulus", self.channels.encoder("stimulus").bump(trial["direction"] * 4), "stimulus"
        )
        trial.answer("reach", trial["direction"], "stimulus")


def test_units_of_a_ring_are_called_by_their_angles():
    task = Directions()
    assert task.channels.units("stimulus")[:3] == ("0°", "11.25°", "22.5°")
    assert task.actions.units("reach") == tuple(f"{angle}°" for angle in range(0, 360, 45))
    assert task.actions.labels()[:2] == ["fixate", "reach 0°"]
    assert len(set(Ring(180).unit_names)) == 180
    assert Ring(("right", "left")).unit_names == ("right", "left")
    assert Ring(8).names == ()


def test_the_angles_of_rings_are_no_names_of_records():
    record = run(Directions, "oracle", 20, seed=0)
    assert np.array_equal(record["choice"], record["direction"])
    assert record["choice"].dtype.kind == "i"
    actions = {row["name"]: row for row in describe(Directions())["actions"]}
    assert actions["reach"]["names"][1] == "45°"


def test_targets_of_a_ring_may_be_given_by_angle():
    class Up(Directions):
        def new_trial(self, trial):
            trial.periods("stimulus")
            trial.record("direction")
            trial.answer("reach", "90°", "stimulus")

    assert set(run(Up, "oracle", 5, seed=0)["choice"]) == {2}
