"""Bad input raises one clear error: the given value, the expected one, and the remedy."""

from __future__ import annotations

import numpy as np
import pytest

from neurogym_core import (
    Axis,
    Choice,
    Dataset,
    Ring,
    Session,
    Task,
    TaskEnv,
    Uniform,
    make,
    make_task,
    make_vec,
    run,
)
from neurogym_core.errors import (
    InvalidValueError,
    NeurogymError,
    NotSupportedError,
    TaskDefinitionError,
    TrialLayoutError,
    UnknownNameError,
    UnknownTaskError,
)
from neurogym_core.players import TaskView
from neurogym_core.trials.batch import TrialBatch


class Dots(Task):
    """A well-made task."""

    directions: int = 2
    coherences: tuple[float, ...] = (0, 50)
    sigma: float = 1.0
    cued: bool = False
    rule: str = "pro"

    timing = {"fixation": 300, "stimulus": Uniform(200, 600), "decision": 200}
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self):
        self.ring = Ring(self.directions)
        self.observe(fixation=1, stimulus=self.ring)
        self.act(fixate=1, choose=self.ring)
        self.vary(direction=Choice(self.directions), coherence=Choice(self.coherences))
        self.correct_choice("direction")

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        evidence = self.ring.cosine(trial["direction"], strength=trial["coherence"] / 200)
        trial.show("stimulus", evidence, during="stimulus", noise=self.sigma)
        trial.answer("choose", trial["direction"], during="decision")


class Pointing(Dots):
    """A continuous action."""

    def define(self):
        self.observe(dot=1)
        self.act(point=Axis(-2, 2), go=Axis(0, 1, trigger=0.5))
        self.vary(direction=Uniform(-1, 1))
        self.correct_choice("direction")

    def new_trial(self, trial):
        trial.periods("fixation", "decision")
        trial.show("dot", trial["direction"], during="fixation")
        trial.answer("point", trial["direction"], during="decision", tolerance=0.2)


def says(*words: str) -> str:
    """A pattern for messages that hold these words, in this order."""
    return "(?s)" + ".*".join(words)


# ---------------------------------------------------------------------- making a task

WRONG_SETTINGS = [
    ({"direction": 3}, UnknownNameError, says("parameter 'direction'", "Dots", "Did you mean 'directions'", "coherences")),
    ({"timing": {"stimulsu": 100}}, UnknownNameError, says("period 'stimulsu'", "Did you mean 'stimulus'", "decision")),
    ({"rewards": {"corect": 1}}, UnknownNameError, says("reward 'corect'", "Did you mean 'correct'", "abort")),
    ({"conditions": {"coherense": 1}}, UnknownNameError, says("condition 'coherense'", "'coherence'")),
    ({"conditions": {"duration.stimulsu": 100}}, UnknownNameError, says("stimulsu", "stimulus")),
    ({"directions": 2.5}, InvalidValueError, says("directions=2.5", "whole number", "2")),
    ({"directions": "two"}, InvalidValueError, says("directions='two'", "int", "2")),
    ({"directions": True}, InvalidValueError, says("directions=True", "int")),
    ({"directions": 0}, InvalidValueError, says("size=0", "at least 1")),
    ({"directions": None}, InvalidValueError, says("directions=None", "int")),
    ({"sigma": float("nan")}, InvalidValueError, says("sigma=nan", "number", "1.0")),
    ({"cued": 1}, InvalidValueError, says("cued=1", "bool")),
    ({"rule": 3}, InvalidValueError, says("rule=3", "str", "'pro'")),
    ({"coherences": ()}, InvalidValueError, says("Choice", "no values", "at least one")),
    ({"dt": 0}, InvalidValueError, says("dt=0", "positive")),
    ({"dt": -20}, InvalidValueError, says("dt=-20", "positive")),
    ({"dt": float("inf")}, InvalidValueError, says("dt=inf", "positive")),
    ({"dt": float("nan")}, InvalidValueError, says("dt=nan", "number")),
    ({"dt": "fast"}, InvalidValueError, says("dt='fast'", "float")),
    ({"max_duration": 0}, InvalidValueError, says("max_duration=0", "positive")),
    ({"trials_per_session": 0}, InvalidValueError, says("trials_per_session=0", "at least 1", "None")),
    ({"trials_per_session": -1}, InvalidValueError, says("trials_per_session=-1", "at least 1")),
    ({"trials_per_session": 1.5}, InvalidValueError, says("trials_per_session=1.5", "whole number")),
    ({"rewards": {"correct": float("nan")}}, InvalidValueError, says("correct=nan", "finite")),
    ({"rewards": {"correct": float("inf")}}, InvalidValueError, says("correct=inf", "finite")),
    ({"rewards": {"correct": "much"}}, InvalidValueError, says("correct='much'", "number")),
    ({"timing": {"decision": -100}}, InvalidValueError, says("decision=-100", "0 ms or more")),
    ({"timing": {"decision": float("nan")}}, InvalidValueError, says("decision=nan", "number")),
    ({"timing": {"stimulus": Uniform(-100, 100)}}, InvalidValueError, says("stimulus", "-100", "0 ms or more")),
    ({"timing": {"stimulus": ("uniform", (600, 200))}}, InvalidValueError, says("stimulus", "600", "200", "swap")),
    ({"timing": {"stimulus": "unifrom(1,2)"}}, InvalidValueError, says("unifrom", "Did you mean 'uniform'")),
    ({"timing": {"stimulus": {"uniform": [200]}}}, InvalidValueError, says("uniform", "low and high")),
    ({"timing": {"stimulus": {"truncated_exponential": [-1, 0, 9]}}}, InvalidValueError, says("scale=-1", "positive")),
    ({"timing": {"stimulus": {"uniform": [0, float("inf")]}}}, InvalidValueError, says("high=inf", "finite")),
    ({"timing": {"stimulus": [100, float("nan")]}}, InvalidValueError, says("stimulus", "nan")),
    ({"timing": {"stimulus": []}}, InvalidValueError, says("stimulus", "no values", "at least one")),
    ({"timing": {"stimulus": "long"}}, InvalidValueError, says("stimulus='long'", "number", "uniform")),
    ({"timing": {"stimulus": ["long", "short"]}}, InvalidValueError, says("stimulus", "long", "0 ms or more|numbers?")),
    ({"timing": {"stimulus": None}}, InvalidValueError, says("stimulus=None", "number")),
    ({"timing": {"stimulus": True}}, InvalidValueError, says("stimulus=True", "number")),
    ({"timing": {"decision": 0}}, TrialLayoutError, says("window", "'choose'", "no step")),
    ({"timing": 300}, InvalidValueError, says("timing=300", "by name")),
    ({"rewards": 1}, InvalidValueError, says("rewards=1", "by name")),
    ({"conditions": 51}, InvalidValueError, says("conditions=51", "by name")),
    ({"conditions": {"coherence": float("nan")}}, InvalidValueError, says("coherence", "nan|NaN", "number")),
    ({"conditions": {"coherence": "unifrom(0,1)"}}, InvalidValueError, says("unifrom", "uniform")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    WRONG_SETTINGS,
    ids=[str(wrong[0]) for wrong in WRONG_SETTINGS],
)
def test_wrong_settings_raise(settings, error, message):
    with pytest.raises(error, match=message) as told:
        make(Dots, **settings)
    assert isinstance(told.value, NeurogymError)
    assert (
        type(told.value)(str(told.value)).args == told.value.args
    )  # Gymnasium builds it again from one string


def test_positional_settings_are_refused():
    with pytest.raises(TypeError, match="positional"):
        Dots(2)


@pytest.mark.parametrize("timing", [{"decision": 40}, {"decision": 170}, {"decision": 130}])
def test_durations_that_dt_cannot_represent_warn_once_with_what_to_do(timing):
    ms = timing["decision"]
    with pytest.warns(
        UserWarning, match=says(f"'decision' of Dots lasts {ms} ms", "dt=100", "smaller dt")
    ) as caught:
        task = Dots(timing=timing)
        task.sample(3, seed=0)
    assert len(caught) == 1
    assert task.sample(3, seed=0).period_steps["decision"].tolist() == [1 if ms < 150 else 2] * 3


@pytest.mark.parametrize("given", [0.3, [0.3, 0.2]])
def test_durations_in_seconds_that_are_imposed_warn_once(given):
    task = Dots()
    says_seconds = says("'decision' of Dots lasts 0.3 ms", "3 ms or more", "write 300")
    with pytest.warns(UserWarning, match=says_seconds) as caught:
        task.sample(2, seed=0, **{"duration.decision": given})
    with pytest.warns(UserWarning, match=says_seconds):
        make(Dots()).reset(seed=0, options={"conditions": {"duration.decision": given}})
    assert len(caught) == 1


def test_a_limit_in_seconds_warns():
    with pytest.warns(UserWarning, match=says("max_duration=0.6", "3 or more", "write .*600")):
        Dots(max_duration=0.6)


def test_a_step_longer_than_a_period_still_gives_it_one():
    with pytest.warns(UserWarning, match="dt=400"):
        task = Dots(dt=400)
    batch = task.sample(50, seed=0)
    assert all((steps >= 1).all() for steps in batch.period_steps.values())
    assert batch.period_steps["fixation"].tolist() == [1] * 50


def test_zero_is_zero():
    task = Dots(timing={"fixation": 0})
    assert not task.sample(3, seed=0).period_steps["fixation"].any()
    env = TaskEnv(task)
    env.reset(seed=0)
    assert env.period == "stimulus"


def test_a_duration_of_inf_is_a_period_without_a_timer():
    env = TaskEnv(Dots(timing={"decision": float("inf")}))
    env.reset(seed=0)
    while env.period != "decision":
        env.step(0)
    for _ in range(20):
        assert not env.step(0)[4]["new_trial"]
    assert env.step(1)[4]["new_trial"]


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("NoSuchTask-v0", UnknownTaskError, "NoSuchTask-v0"),
        ("PerceptualDecisionMakin-v0", UnknownTaskError, "PerceptualDecisionMaking-v0"),
        ("no_such_file.py:Dots", UnknownTaskError, says("file", "no_such_file.py", "path")),
        (3, InvalidValueError, says("3 was given as a task", "Task", "id")),
        (Task, InvalidValueError, says("given as a task", "id")),
        (None, InvalidValueError, "None was given as a task"),
    ],
)
def test_names_of_no_task_raise(name, error, message):
    for door in (
        make,
        make_vec,
        make_task,
        lambda task: Dataset(task, 2),
        lambda task: run(task, "random", 2),
    ):
        with pytest.raises(error, match=message):
            door(name)


def test_options_of_make_and_make_vec_are_checked():
    for wrong, message in (
        ({"autoreset_mode": "Sometimes"}, says("Sometimes", "NextStep", "SameStep")),
        ({"num_envs": 0}, says("num_envs=0", "at least 1")),
        ({"num_envs": 1.5}, says("num_envs=1.5", "whole number")),
        ({"num_envs": True}, says("num_envs=True", "whole number")),
    ):
        with pytest.raises(InvalidValueError, match=message):
            make_vec(Dots, **{"num_envs": 2, **wrong})
    with pytest.raises(InvalidValueError, match=says("render_mode='human'", "rgb_array")):
        make(Dots, render_mode="human")
    with pytest.raises(NeurogymError, match=says("3", "wrapper")):
        make(Dots, wrap=[3])


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"batch_size": 0}, InvalidValueError, says("batch_size=0", "at least 1")),
        ({"batch_size": 2.5}, InvalidValueError, says("batch_size=2.5", "whole number")),
        ({"seq_len": -1}, InvalidValueError, says("seq_len=-1", "at least 1")),
        ({"split": "exam"}, UnknownNameError, says("split 'exam'", "train", "validation", "test")),
        ({"targets": "unit"}, UnknownNameError, says("targets 'unit'", "Did you mean 'units'")),
        ({"seed": -1}, InvalidValueError, says("seed=-1", "at least 0")),
        ({"seed": 1.5}, InvalidValueError, says("seed=1.5", "whole number")),
        ({"coherencs": (1,)}, UnknownNameError, "coherences"),
    ],
)
def test_options_of_datasets_are_checked(wrong, error, message):
    with pytest.raises(error, match=message):
        Dataset(Dots, **{"batch_size": 2, **wrong})


@pytest.mark.parametrize(
    "outputs",
    [
        np.zeros((2, 3)),
        np.zeros((2, 5, 9)),
        np.zeros((1, 5), int),
        np.full((2, 5), 7),
        np.full((2, 5), -1),
    ],
)
def test_outputs_that_cannot_be_scored_raise(outputs):
    batch = next(Dataset(Dots, 2, 5, seed=0))
    with pytest.raises(InvalidValueError, match=says("given", "Expected")):
        batch.score(outputs)


# ---------------------------------------------------------------------- playing


@pytest.mark.parametrize(
    "action",
    [
        3,
        -1,
        1.0,
        0.5,
        "choose",
        None,
        np.array([0, 1]),
        np.array(1.0),
        float("nan"),
        [1, 2],
        10**30,
    ],
    ids=repr,
)
def test_invalid_actions_raise(action):
    for env in (make(Dots), TaskEnv(Dots())):
        env.reset(seed=0)
        with pytest.raises(InvalidValueError, match=says("Dots was given the action", "0 to 2")):
            env.step(action)
        assert env.step(0)[1] == 0.0  # nothing happened


@pytest.mark.parametrize(
    "actions",
    [
        0,
        [0],
        [0, 0, 0],
        [0, 3],
        [0, -1],
        [0.0, 1.0],
        [[0], [0]],
        ["a", "b"],
        [None, 0],
        [True, False],
    ],
    ids=repr,
)
def test_actions_of_vector_envs_are_checked(actions):
    env = make_vec(Dots, 2)
    env.reset(seed=0)
    with pytest.raises(InvalidValueError, match=says("Dots was given", "Expected")):
        env.step(actions)
    assert env.step([0, 0])[1].tolist() == [0, 0]


@pytest.mark.parametrize(
    "action",
    [[0.0], [0.0, 2.0], [float("nan"), 0.0], [float("inf"), 0.0], ["a", "b"], 0, None],
    ids=repr,
)
def test_continuous_actions_are_checked(action):
    env = TaskEnv(Pointing())
    env.reset(seed=0)
    with pytest.raises(InvalidValueError, match=says("Pointing was given", r"\[-1, 1\]")):
        env.step(action)
    vector = make_vec(Pointing, 2)
    vector.reset(seed=0)
    with pytest.raises(InvalidValueError, match=says("Pointing was given", r"\[-1, 1\]")):
        vector.step([action, action])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"condition": {}},
            UnknownNameError,
            says("option 'condition'", "Did you mean 'conditions'"),
        ),
        ({"conditions": 3}, InvalidValueError, says("conditions=3", "by name")),
        ({"conditions": {"coherense": 3}}, UnknownNameError, says("'coherense'", "'coherence'")),
        ({"conditions": {"duration.fixatoin": 3}}, UnknownNameError, says("fixatoin", "fixation")),
        (
            {"conditions": {"coherence": float("nan")}},
            InvalidValueError,
            says("coherence", "NaN", "number"),
        ),
        (
            {"conditions": {"duration.fixation": -100}},
            (InvalidValueError, TrialLayoutError),
            says("fixation", "-100", "0"),
        ),
        (
            {"conditions": {"coherence": []}},
            InvalidValueError,
            says("coherence", "no value|at least one"),
        ),
        ({"conditions": {"direction": 7}}, NeurogymError, says("7")),
    ],
)
def test_options_of_reset_are_checked(options, error, message):
    for env in (make(Dots), make_vec(Dots, 3)):
        env.reset(seed=0)
        with pytest.raises(error, match=message):
            env.reset(options=options)
        env.reset(seed=0)  # the env still works
        env.step(0 if not hasattr(env, "num_envs") else [0, 0, 0])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda task: task.sample(0), InvalidValueError, says("n=0", "at least 1")),
        (lambda task: task.sample(2.5), InvalidValueError, says("n=2.5", "whole number")),
        (lambda task: task.sample(3, coherense=1), UnknownNameError, says("coherense", "coherence")),
        (lambda task: task.sample(3, coherence=[1, 2]), InvalidValueError, says("coherence", "2 values for 3 trials")),
        (lambda task: task.sample(3, **{"duration.fixatoin": 2}), UnknownNameError, says("fixatoin", "fixation")),
        (lambda task: task.sample(3, **{"duration.fixation": -2}), TrialLayoutError, says("fixation", "-2")),
        (lambda task: task.sample(3, **{"duration.fixation": np.nan}), TrialLayoutError, says("fixation", "nan")),
        (lambda task: task.sample(3, **{"duration.fixation": [1, 2]}), TrialLayoutError, says("fixation", r"\(2,\)", r"\(3,\)")),
        (lambda task: task.factorial(repeats=0), InvalidValueError, says("repeats=0", "at least 1")),
        (lambda task: task.factorial(sigma=[1]), UnknownNameError, says("condition 'sigma'", "coherence")),
        (lambda task: Pointing().factorial(), NotSupportedError, says("direction", "cannot be enumerated", r"factorial\(direction=")),
        (lambda task: task.channels["stimulsu"], UnknownNameError, says("channel 'stimulsu'", "'stimulus'")),
        (lambda task: task.actions["chose"], UnknownNameError, says("action 'chose'", "'choose'")),
        (lambda task: setattr(task, "sigma", 3), TaskDefinitionError, says("sigma", "do not change", "sigma=3")),
        (lambda task: task.observe(more=1), TaskDefinitionError, says("observe", r"define\(\)")),
        (lambda task: run(task, "orakel", 3), UnknownNameError, says("orakel", "'oracle'")),
        (lambda task: run(task, "random", 0), InvalidValueError, says("n_trials=0", "at least 1")),
    ],
)  # fmt: skip
def test_wrong_arguments_of_methods_of_a_task_raise(call, error, message):
    with pytest.raises(error, match=message):
        call(Dots())


# ---------------------------------------------------------------------- writing a task


def laid_out_by(new_trial, **attributes):
    """The task Dots with another `new_trial`."""
    return type("Mine", (Dots,), {"new_trial": new_trial, **attributes})


def with_verb(call, periods=("fixation", "stimulus", "decision"), **attributes):
    """The task Dots with one more call in `new_trial`."""

    def new_trial(self, trial):
        trial["direction"], trial["coherence"]
        trial.periods(*periods)
        call(trial)
        if "decision" in periods:
            trial.answer("choose", trial["direction"], during="decision")

    return laid_out_by(new_trial, **attributes)


N = 7  # trials of the probe

WRONG_TRIALS = {
    "no periods": (lambda t: None, (), TrialLayoutError, says("Mine", r"periods\(", "at least one name")),
    "unknown period": (lambda t: t.show("fixation", 1, during="stimulsu"), None, UnknownNameError, says("'stimulsu'", "'stimulus'")),
    "unknown channel": (lambda t: t.show("fixatoin", 1, during="stimulus"), None, UnknownNameError, says("channel 'fixatoin'", "'fixation'")),
    "unknown action": (lambda t: t.answer("chose", 0, during="stimulus"), None, UnknownNameError, says("action 'chose'", "'choose'")),
    "unknown condition": (lambda t: t["coherense"], None, UnknownNameError, says("condition 'coherense'", "'coherence'")),
    "periods twice": (lambda t: t.periods("fixation"), None, TrialLayoutError, says("Mine", "periods", "twice", "one call")),
    "a period without a duration": (lambda t: None, ("fixation", "pause", "decision"), TrialLayoutError, says("'pause'", "no duration", "timing")),
    "a period named twice": (lambda t: None, ("fixation", "fixation"), TrialLayoutError, says("fixation", "once")),
    "resting is asked": (lambda t: t.answer("fixate", 0, during="stimulus"), None, TrialLayoutError, says("'fixate'", "resting", "which=-1")),
    "an index too large": (lambda t: t.answer("choose", 2, during="stimulus"), None, TrialLayoutError, says("choose", "2", "from 0 to 1")),
    "an index too small": (lambda t: t.answer("choose", -2, during="stimulus"), None, TrialLayoutError, says("choose", "-2", "from 0 to 1", "-1")),
    "as many answers as it likes": (lambda t: t.answer("choose", np.zeros(3, int), during="stimulus"), None, TrialLayoutError, says("choose", r"\(3,\)", r"\(7,\)")),
    "a mask of the wrong width": (lambda t: t.answer("choose", np.zeros((N, 3), bool), during="stimulus"), None, TrialLayoutError, says("choose", r"\(7, 3\)", r"\(7, 2\)")),
    "an angle that is none": (lambda t: t.answer("choose", np.nan, during="stimulus"), None, TrialLayoutError, says("choose", "nan")),
    "a window in no period": (lambda t: t.answer("choose", 0, during=(), slot="x"), None, TrialLayoutError, says("during", "period")),
    "a window of no step": (lambda t: t.answer("choose", 0, during="fixation", start=100, stop=100, slot="x"), None, TrialLayoutError, says("'x'", "no step", "dt=100")),
    "a window that closes first": (lambda t: t.answer("choose", 0, during="fixation", start=200, stop=100, slot="x"), None, TrialLayoutError, says("stop=", "before start=200", "later stop=")),
    "an unknown place": (lambda t: t.answer("choose", 0, during="fixation", then="decison", slot="x"), None, UnknownNameError, says("'decison'", "'decision'")),
    "an unknown outcome": (lambda t: t.answer("choose", 0, during="fixation", then={"corect": "end"}, slot="x"), None, UnknownNameError, says("outcome 'corect'", "'correct'")),
    "an unknown need": (lambda t: t.answer("choose", 0, during="fixation", needs="rule", slot="x"), None, UnknownNameError, says("slot 'rule'")),
    "a hold that leads nowhere": (lambda t: t.hold(during="fixation", then="away"), None, UnknownNameError, says("'away'", "restart")),
    "a value too wide": (lambda t: t.show("stimulus", np.zeros((N, 3)), during="stimulus"), None, TrialLayoutError, says("channel 'stimulus'", r"\(7, 3\)", r"\(7, 2\)")),
    "values of other trials": (lambda t: t.show("fixation", np.zeros(3), during="stimulus"), None, TrialLayoutError, says("channel 'fixation'", r"\(7,\)")),
    "a value that is none": (lambda t: t.show("fixation", np.nan, during="stimulus"), None, TrialLayoutError, says("channel 'fixation'", "nan|NaN", "number")),
    "noise below 0": (lambda t: t.show("fixation", 1, during="stimulus", noise=-1), None, TrialLayoutError, says("noise", "-1", "0 or more")),
    "noise that is none": (lambda t: t.show("fixation", 1, during="stimulus", noise=np.nan), None, TrialLayoutError, says("noise", "nan")),
    "noise of other trials": (lambda t: t.show("fixation", 1, during="stimulus", noise=np.ones(3)), None, TrialLayoutError, says("noise", r"\(3,\)", r"\(7,\)")),
    "a moment that is none": (lambda t: t.show("fixation", 1, during="stimulus", start=np.nan), None, TrialLayoutError, says("start=", "NaN")),
    "a moment without end": (lambda t: t.show("fixation", 1, during="stimulus", stop=np.inf), None, TrialLayoutError, says("stop=", "inf", "number")),
    "moments of other trials": (lambda t: t.show("fixation", 1, during="stimulus", start=np.zeros(2)), None, TrialLayoutError, says("start=", r"\(2,\)", r"\(7,\)")),
    "a where that is a number": (lambda t: t.show("fixation", 1, during="stimulus", where=1), None, TrialLayoutError, says("where=", "True or False")),
    "a where of other trials": (lambda t: t.show("fixation", 1, during="stimulus", where=np.ones(3, bool)), None, TrialLayoutError, says("where=", r"\(3,\)", r"\(7,\)")),
    "a weight below 0": (lambda t: t.loss_weight(-1, during="stimulus"), None, TrialLayoutError, says("loss_weight", "-1", "0 or more")),
    "a weight of other trials": (lambda t: t.loss_weight(np.ones(3), during="stimulus"), None, TrialLayoutError, says("weight=", r"\(3,\)", r"\(7,\)")),
    "a cost that is none": (lambda t: t.hold(during="stimulus", cost=np.nan), None, TrialLayoutError, says("cost", "nan|NaN")),
    "a reward that is none": (lambda t: t.answer("choose", 0, during="stimulus", correct=np.nan, slot="x"), None, TrialLayoutError, says("correct=", "NaN")),
    "a price that is none": (lambda t: t.offer("choose", np.nan, during="stimulus", slot="x"), None, TrialLayoutError, says("offer", "nan|NaN")),
    "prices of other choices": (lambda t: t.offer("choose", np.ones(3), during="stimulus", slot="x"), None, TrialLayoutError, says("offer", r"\(3,\)", r"\(2,\)")),
    "a tolerance that is none": (lambda t: t.answer_at("choose", 100, "stimulus", np.nan, slot="x"), None, TrialLayoutError, says("tolerance", "NaN")),
    "an index beyond the group": (lambda t: t.answer_at("choose", 100, "stimulus", 50, index=2, slot="x"), None, TrialLayoutError, says("index=2", "0 to 1")),
    "a timecourse of the wrong width": (lambda t: t.timecourse("stimulus", np.zeros((5, 3)), during="stimulus"), None, TrialLayoutError, says("timecourse", "3", r"\(T, 2\)")),
    "a timecourse before its period": (lambda t: t.timecourse("stimulus", np.zeros(5), during="stimulus", start=-100), None, TrialLayoutError, says("timecourse", "start=-100", "0 or more")),
    "timecourse on no channel": (lambda t: t.timecourse("stimulsu", np.zeros(5), during="stimulus"), None, UnknownNameError, says("'stimulsu'", "'stimulus'")),
    "a note called like a condition": (lambda t: t.record(coherence=1), None, TrialLayoutError, says("coherence", "condition", "rename")),
    "a note called like a column": (lambda t: t.record(reward=1), None, TrialLayoutError, says("reward", "column|record", "rename")),
    "a note of other trials": (lambda t: t.record(mine=np.zeros(3)), None, TrialLayoutError, says("mine", r"\(3,\)", r"\(7,\)")),
    "a duration nobody knows": (lambda t: t.duration("stimulsu"), None, UnknownNameError, says("'stimulsu'", "'stimulus'")),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG_TRIALS)
def test_impossible_trials_raise_when_the_task_is_made(what):
    call, periods, error, message = WRONG_TRIALS[what]
    task = with_verb(call) if periods is None else with_verb(call, periods)
    with pytest.raises(error, match=message):
        task()


COMPUTED = {
    "a negative duration": (-100.0, says("'stimulus'", "-100", "0 or more")),
    "a duration that is none": (float("nan"), says("'stimulus'", "nan", "0 or more")),
    "durations of other trials": (np.ones(3), says("'stimulus'", r"\(3,\)", r"\(7,\)")),
    "no timer in some trials": (
        np.where(np.arange(N) < 3, np.inf, 100.0),
        says("'stimulus'", "some trials", "inf"),
    ),
}


@pytest.mark.parametrize("what", COMPUTED)
def test_impossible_computed_durations_raise(what):
    ms, message = COMPUTED[what]

    def new_trial(self, trial):
        trial["direction"], trial["coherence"]
        trial.periods("fixation", "stimulus", "decision", stimulus=ms)

    with pytest.raises(TrialLayoutError, match=message):
        laid_out_by(new_trial)()


def test_verbs_before_periods_say_what_is_missing():
    def new_trial(self, trial):
        trial.show("fixation", 1, during="fixation")

    with pytest.raises(UnknownNameError, match=says("'fixation'", r"trial.periods\(…\) first")):
        laid_out_by(new_trial)()


def test_no_periods_at_all():
    with pytest.raises(TrialLayoutError, match=says("never called trial.periods", "first")):
        laid_out_by(lambda self, trial: None)()


def test_a_computed_duration_of_no_period():
    def new_trial(self, trial):
        trial.periods("fixation", "decision", stimulus=300)

    with pytest.raises(UnknownNameError, match=says("period 'stimulus'", "fixation", "decision")):
        laid_out_by(new_trial)()


def test_a_jump_to_no_period():
    def new_trial(self, trial):
        trial.periods("fixation", "decision", then={"fixation": "timeout"})

    with pytest.raises(UnknownNameError, match=says("'timeout'", "end", "decision")):
        laid_out_by(new_trial)()


def test_a_condition_that_is_never_read():
    def new_trial(self, trial):
        trial.periods("fixation", "decision")
        trial.answer("choose", trial["direction"], during="decision")

    with pytest.raises(
        TrialLayoutError, match=says("never reads", "'coherence'", "do not declare")
    ):
        laid_out_by(new_trial)()


def test_a_trial_without_a_step():
    def new_trial(self, trial):
        trial["direction"], trial["coherence"]
        trial.periods("fixation", "decision", fixation=0, decision=0)

    with pytest.raises(TrialLayoutError, match=says("0 steps", "at least one")):
        env = TaskEnv(laid_out_by(new_trial)())
        env.reset(seed=0)


def test_a_trial_that_begins_with_its_end():
    def new_trial(self, trial):
        trial["direction"], trial["coherence"]
        trial.periods("fixation", "stimulus", "decision", fixation=0, then={"fixation": "end"})

    with pytest.raises(TrialLayoutError, match=says("0 steps|first step|no step")):
        env = TaskEnv(laid_out_by(new_trial)())
        env.reset(seed=0)
        env.step(0)


def test_resting_cannot_be_right_without_an_action_of_resting():
    class Arms(Dots):
        def define(self):
            self.observe(fixation=1, stimulus=2)
            self.act(choose=2)
            self.vary(direction=Choice(2), coherence=Choice((0, 1)))

        def new_trial(self, trial):
            trial["coherence"]
            trial.periods("decision")
            trial.answer("choose", np.where(trial["direction"] == 0, 0, -1), during="decision")

    with pytest.raises(TrialLayoutError, match=says("choose", "-1", "rest")):
        Arms()


def test_trials_must_name_the_same_periods():
    class Uneven(Dots):
        def new_trial(self, trial):
            trial["direction"], trial["coherence"]
            trial.periods(*(("fixation", "decision") if trial.n == 1 else ("decision",)))

    one, two = (Uneven().sample(n, seed=0) for n in (1, 2))
    with pytest.raises(TrialLayoutError, match=says("periods", "in another", "duration 0")):
        TrialBatch.concatenate([one, two])


def defining(define, **attributes):
    return type("Mine", (Dots,), {"define": define, **attributes})


WRONG_DEFINITIONS = {
    "no channel": (lambda self: self.act(a=1), TaskDefinitionError, says("no channel", r"self.observe\(")),
    "no action": (lambda self: self.observe(a=1), TaskDefinitionError, says("no action", r"self.act\(")),
    "a channel of no unit": (lambda self: self.observe(a=0), TaskDefinitionError, says("a=0", "at least 1", "Ring")),
    "a channel that is a text": (lambda self: self.observe(a="ring"), TaskDefinitionError, says("a='ring'", "units")),
    "half a channel": (lambda self: self.observe(a=1.5), TaskDefinitionError, says("a=1.5", "units")),
    "mixed actions": (lambda self: self.act(a=1, b=Axis()), TaskDefinitionError, says("mixes", "one type")),
    "two triggers": (lambda self: self.act(a=Axis(trigger=0), b=Axis(trigger=0)), TaskDefinitionError, says("2 axes", "at most one")),
    "an axis upside down": (lambda self: self.act(a=Axis(1, -1)), InvalidValueError, says("low=1", "high=-1")),
    "an unknown correct choice": (lambda self: self.vary(side=Choice(2)) or self.correct_choice("sid"), UnknownNameError, says("condition 'sid'", "correct_choice", "'side'")),
    "a number as correct choice": (lambda self: self.correct_choice(1), TaskDefinitionError, says("correct_choice.. was given 1", "name of a condition")),
    "a number as evidence": (lambda self: self.evidence(1), TaskDefinitionError, says("evidence.. was given 1", "function")),
    "a condition called like a column": (lambda self: self.vary(reward=Choice(2)), TaskDefinitionError, says("condition 'reward'", "column", "another")),
    "a condition that is no distribution": (lambda self: self.vary(side=None), InvalidValueError, says("None", "number")),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG_DEFINITIONS)
def test_impossible_definitions_raise(what):
    define, error, message = WRONG_DEFINITIONS[what]
    with pytest.raises(error, match=message):
        defining(define)()


@pytest.mark.parametrize(
    "name",
    ["task", "wrap", "seed", "num_envs", "render_mode", "timing", "channels"],
)
def test_parameters_with_reserved_names_are_refused_when_the_class_is_made(name):
    with pytest.raises(TaskDefinitionError, match=says(f"parameter '{name}'", "taken", "another")):
        type("Mine", (Dots,), {"__annotations__": {name: int}, name: 3})


def test_parameters_need_a_default():
    with pytest.raises(
        TaskDefinitionError, match=says("parameter 'level'", "without a default", "level: .*int")
    ):
        type("Mine", (Dots,), {"__annotations__": {"level": int}})


@pytest.mark.parametrize("annotation", [int, "int"])
def test_whole_numbers_need_a_whole_default(annotation):
    with pytest.raises(
        TaskDefinitionError, match=says("level: int = 2.5", "whole number", "level: float = 2.5")
    ):
        type("Mine", (Dots,), {"__annotations__": {"level": annotation}, "level": 2.5})


@pytest.mark.parametrize(("annotation", "default"), [("int", 2), (int, 2), ("int | None", None)])
def test_whole_numbers_are_refused_a_fraction(annotation, default):
    cls = type("Mine", (Dots,), {"__annotations__": {"level": annotation}, "level": default})
    with pytest.raises(InvalidValueError, match=says("level=2.5", "whole number")):
        cls(level=2.5)
    assert TaskView(cls(level=3.0)).parameters["level"] == 3


def test_an_empty_id_and_a_number_as_an_id_are_unknown_tasks():
    for name in ("", "0", "1", "\n"):
        with pytest.raises(UnknownTaskError, match="no installed package offers it"):
            make(name)
    with pytest.raises(InvalidValueError, match="0 was given as a task"):
        make(0)


@pytest.mark.parametrize(
    ("former", "now"), [("draw_one", "draw"), ("new_session_one", "new_session")]
)
def test_methods_that_nothing_calls_any_more_are_refused(former, now):
    with pytest.raises(
        TaskDefinitionError, match=says(f"'{former}'", "never called", f"{now}.self, session, rng")
    ):
        type("Mine", (Dots,), {former: lambda self, session, rng: {}})


def test_tasks_without_their_methods_say_which():
    with pytest.raises(TaskDefinitionError, match=says("no define", "observe")):
        type("Mine", (Task,), {})()

    def define(self):
        self.observe(a=1)
        self.act(b=1, c=1)

    with pytest.raises(TaskDefinitionError, match=says("no new_trial", "periods")):
        type("Mine", (Task,), {"define": define})()


def test_draw_returns_every_condition():
    def draw(self, session: Session, rng):
        return {"direction": rng.integers(0, 2, len(session))}

    with pytest.raises(TaskDefinitionError, match=says("draw", "'coherence'", "every condition")):
        type("Mine", (Dots,), {"draw": draw})()


# ---------------------------------------------------------------------- a task's own code that fails


class Fraction(Dots):
    """Divides by a parameter, reads a duration by index, and uses a condition as an index."""

    share: int = 1
    places: tuple[float, ...] = (0.5, 1.0)

    def define(self):
        super().define()
        self.vary(place=Choice(2))
        self.step = 1 / self.share

    def new_trial(self, trial):
        super().new_trial(trial)
        trial.show("fixation", np.array(self.places)[trial["place"]], during="fixation")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"share": 0}, "share=0: its code fails .ZeroDivisionError: "),
        ({"places": (0.5,)}, r"places=\(0.5,\): its code fails .IndexError: "),
    ],
)
def test_settings_that_the_code_of_a_task_fails_with_are_named(settings, said):
    with pytest.raises(InvalidValueError, match=f"Fraction cannot be made with {said}") as told:
        make_task(Fraction, **settings)
    assert isinstance(told.value.__cause__, ArithmeticError | LookupError)


def test_a_task_that_fails_with_its_defaults_fails_where_it_does():
    class Broken(Dots):
        def define(self):
            raise KeyError("forgotten")

    with pytest.raises(KeyError, match="forgotten"):
        make_task(Broken)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("DM1-v0", {"units": 0}), ("HistoryPerceptualDecisionMaking-v0", {"directions": 1}),
        ("SpatialSuppressMotion-v0", {"timing": {"stimulus": 0}}),
    ],
)  # fmt: skip
def test_installed_tasks_refuse_impossible_settings(name, settings):
    with pytest.raises(NeurogymError):
        make_task(name, **settings)
