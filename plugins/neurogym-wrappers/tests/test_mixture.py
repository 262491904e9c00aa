"""`Mixture`, `Transfer` and `Curriculum`: a trial of a mixture is a trial of one of its tasks.

False alarms: frequencies are compared at 5 standard errors, below 1e-6 a comparison."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from neurogym_wrappers import Curriculum, Mixture, Schedule, SideBias, TimeOut, Transfer
from small_tasks import (
    Arms,
    Blocked,
    Choosing,
    Computed,
    Counted,
    Counting,
    Going,
    Learning,
    Steering,
    Tally,
    Timed,
    TwoSides,
)

from neurogym_core import (
    Dataset,
    InvalidValueError,
    NotSupportedError,
    ReactionTime,
    Task,
    TaskEnv,
    TaskVectorEnv,
    Uniform,
    UnknownNameError,
    make_task,
    run,
)
from neurogym_core.players import TaskView, build_imposed

MANY = (Going, TwoSides, Timed, Blocked, Computed)


def mixed(**settings) -> Mixture:
    return Mixture(Choosing(trials_per_session=None), other_tasks=MANY, **settings)


def assert_share(hits: np.ndarray, p: float) -> None:
    assert abs(hits.mean() - p) <= 5 * np.sqrt(p * (1 - p) / hits.size) + 1e-12, (hits.mean(), p)


# ---------------------------------------------------------------------- names


def test_parts_of_one_name_and_type_are_shared_and_others_get_the_name_of_their_task():
    task = mixed()
    named = ["stimulus.Going", "stimulus.TwoSides", "cue", "stimulus.Computed", "rule"]
    assert list(task.channels) == ["fixation", "stimulus", *named]
    assert list(task.actions) == ["fixate", "choose", "go", "choose.TwoSides", "press"]
    assert task.actions.rest == 0
    assert task.labels == ("Choosing", "Going", "TwoSides", "Timed", "Blocked", "Computed")
    assert Mixture(Choosing(), other_tasks=(Choosing(dt=100, rewards={"error": -1}),)).labels == (
        "Choosing",
        "Choosing 2",
    )


def test_the_order_of_every_tasks_periods_is_kept():
    task = mixed()
    for one, names in zip(task.tasks, task.renamed, strict=True):
        places = [
            TaskView(task).period_names.index(names.periods[period])
            for period in TaskView(one).period_names
        ]
        assert places == sorted(places)


def test_without_a_rule_nothing_tells_the_tasks_apart():
    assert "rule" not in mixed(rule=False).channels


# ---------------------------------------------------------------------- trials


@pytest.mark.parametrize("k", range(6))
def test_a_trial_is_a_trial_of_its_task(k):
    """Observations, targets and durations equal those of the task itself for the same
    conditions.
    """
    task = Mixture(Choosing(), other_tasks=(Going, TwoSides, Timed, Blocked, Computed))
    label = task.labels[k]
    batch = task.sample(12, seed=3, task=label)
    own, names = task.tasks[k], task.renamed[k]
    conditions = {name: batch.conditions[joined] for name, joined in names.conditions.items()}
    durations = {
        f"duration.{name}": batch.period_steps[joined] * task.dt
        for name, joined in names.periods.items()
    }
    alone = build_imposed(own, np.random.default_rng(0), 12, {**conditions, **durations})
    seen, expected = batch.render(None), alone.render(None)
    for name, joined in names.channels.items():
        np.testing.assert_array_equal(
            seen[:, task.channels[joined]], expected[:, own.channels[name]]
        )
    np.testing.assert_array_equal(seen[:, task.channels["rule"]], np.eye(6)[np.full(len(seen), k)])
    others = [name for name in task.channels if name not in (*names.channels.values(), "rule")]
    assert not any(seen[:, task.channels[name]].any() for name in others)
    ids = np.concatenate(
        [
            np.arange(part.start, part.stop)
            for part in map(task.actions.__getitem__, names.actions.values())
        ]
    )
    np.testing.assert_array_equal(batch.render_targets(), ids[alone.render_targets()])


def test_the_oracle_is_right_and_the_random_subject_pays_each_tasks_own_price():
    task = Mixture(Choosing(rewards={"abort": -1.0}), other_tasks=(Going(rewards={"abort": 0.0}),))
    assert run(task, "oracle", 60, seed=0)["performance"].mean() == 1
    record = run(task, "premature", 60, seed=0)
    paid = {
        name: record["reward"][(record["task"] == name) & (record["aborts"] > 0)]
        for name in task.labels
    }
    assert (paid["Choosing"] < -0.9).all()
    assert (paid["Going"] >= 0).all()


def test_tasks_come_as_often_as_their_weights_say():
    record = run(Mixture(Choosing(), other_tasks=(Going,), weights=(1, 3)), "oracle", 2000, seed=0)
    assert_share(record["task"] == "Going", 0.75)


def test_tasks_come_in_blocks():
    record = run(mixed(order="sequence", block_length=4), "oracle", 48, num_envs=1, seed=0)
    expected = np.asarray(("Choosing", "Going", "TwoSides", "Timed", "Blocked", "Computed"))[
        np.arange(48) // 4 % 6
    ]
    np.testing.assert_array_equal(record["task"], expected)


def test_a_task_keeps_its_own_state():
    """`Blocked` changes its strength after five trials of `Blocked`."""
    record = run(
        Mixture(Choosing(trials_per_session=None), other_tasks=(Blocked(),)),
        "oracle",
        200,
        num_envs=1,
        seed=0,
    )
    strength = record["strength"][record["task"] == "Blocked"]
    np.testing.assert_array_equal(np.flatnonzero(np.diff(strength)) % 5, 4)


@pytest.mark.parametrize("num_envs", [1, 3])
@pytest.mark.parametrize("order", [{"order": "sequence", "block_length": 3}, {"order": "random"}])
def test_a_task_that_reads_outcomes_gets_those_of_its_own_trials(order, num_envs):
    task = Mixture(Arms(trials_per_session=None), other_tasks=(Learning(),), **order)
    assert task.reads_outcomes
    record = run(task, "random", 90, num_envs=num_envs, seed=0)
    for env in range(num_envs):
        mine = record[(record["task"] == "Learning") & (record["env"] == env)]
        assert len(mine) > 5
        expected = [0, *(mine.codes()[:-1] == 0).astype(int)]
        np.testing.assert_array_equal(mine["good"], expected)


@pytest.mark.parametrize("num_envs", [1, 3])
@pytest.mark.parametrize("trials_per_session", [1, 4, None])
def test_a_task_within_a_mixture_learns_of_each_of_its_trials_once(trials_per_session, num_envs):
    """In `draw` or, at the beginning of a session, in `new_session`."""
    first = Choosing(trials_per_session=trials_per_session, abort_ends_trial=True)
    task = Mixture(first, other_tasks=(Tally(),), order="random")
    record = run(task, "random", 60 * num_envs, num_envs=num_envs, seed=2)
    for env in range(num_envs):
        mine = record[(record["task"] == "Tally") & (record["env"] == env)]
        assert len(mine) > 15
        np.testing.assert_array_equal(mine["counted"], np.arange(len(mine)))


def test_a_schedule_by_performance_advances_within_a_mixture_as_it_does_alone():
    blocks = ({"side": 0}, {"side": 1}, {"side": 2})
    scheduled = Schedule(Choosing(), blocks=blocks, order="performance", window=5, advance_at=0.9)
    task = Mixture(Going(trials_per_session=4), other_tasks=(scheduled,), order="random")
    record = run(task, "oracle", 60, num_envs=1, seed=1)
    mine = record[record["task"] == "Schedule(Choosing)"]
    np.testing.assert_array_equal(mine["block"], np.minimum(np.arange(len(mine)) // 5, 2))


def test_a_task_for_one_subject_keeps_its_own_state_for_each_subject():
    task = Mixture(
        Choosing(trials_per_session=None),
        other_tasks=(Counted(),),
        order="sequence",
        block_length=2,
    )
    record = run(task, "random", 200, num_envs=4, seed=3)
    for env in range(4):
        mine = record[(record["task"] == "Counted") & (record["env"] == env)]
        np.testing.assert_array_equal(mine["number"], 1 + np.arange(len(mine)))


def test_a_task_for_one_subject_begins_again_with_each_session():
    task = Mixture(Arms(trials_per_session=7), other_tasks=(Counted(),), order="random")
    record = run(task, "random", 120, num_envs=3, seed=4)
    mine = record[record["task"] == "Counted"]
    seen = {}
    for env, session, number in zip(mine["env"], mine["session"], mine["number"], strict=True):
        seen[env, session] = seen.get((env, session), 0) + 1
        assert number == seen[env, session]


def test_slots_of_later_tasks_are_in_the_record_from_the_beginning():
    """Trials are built one by one, so that the first table has no trial of the second task, whose
    slot and covariate come later.
    """

    class Noting(Going):
        def new_trial(self, trial):
            super().new_trial(trial)
            trial.record(doubled=2 * trial["go"])

    stages = {"order": "performance", "window": 3, "advance_at": 0.9}
    record = run(
        Mixture(Choosing(trials_per_session=None), other_tasks=(Noting(),), **stages),
        "oracle",
        30,
        num_envs=1,
        seed=0,
    )
    assert record["task"].tolist() == ["Choosing"] * 3 + ["Noting"] * 27
    assert set(record["go.outcome"][3:]) == {"correct"}
    assert record["doubled"].tolist() == [-1] * 3 + (2 * record["go"][3:]).tolist()


def test_a_condition_that_a_trials_task_lacks_is_minus_one():
    record = run(mixed(), "oracle", 100, seed=0)
    lacking = np.isin(record["task"], ["Choosing", "TwoSides", "Timed", "Blocked", "Computed"])
    assert (record["go"][lacking] == -1).all()
    assert (record["go"][~lacking] >= 0).all()


# ---------------------------------------------------------------------- players, imposing, values


@pytest.mark.parametrize("order", ["random", "sequence", "performance"])
def test_players_agree(order):
    task = mixed(order=order, window=3)
    single, vector = TaskEnv(task, info="full"), TaskVectorEnv(task, 1, info="full")
    a, b = single.reset(seed=3)[0], vector.reset(seed=3)[0]
    rng = np.random.default_rng(0)
    for _ in range(600):
        np.testing.assert_array_equal(a, b[0])
        action = single.target if rng.random() < 0.9 else int(rng.integers(task.actions.size))
        a, reward, *_, info = single.step(action)
        b, rewards, *_, infos = vector.step(np.array([action]))
        assert (reward, info["gt"], info["period"]) == (
            rewards[0],
            infos["gt"][0],
            infos["period"][0],
        )


def test_a_dataset_of_a_mixture_scores_its_own_targets():
    batch = next(Dataset(mixed(), 8, 300, seed=0))
    record = batch.score(batch.targets)
    assert record["performance"].mean() == 1
    assert len(set(record["task"])) > 3


def test_the_task_and_its_conditions_can_be_imposed():
    task = mixed()
    record = run(task, "oracle", 30, seed=0, conditions={"task": "Going", "go": 1})
    assert set(record["task"]) == {"Going"}
    assert set(record["go"]) == {1}
    batch = task.sample(6, seed=0, task=list(task.labels), strength=4)
    assert batch.conditions["task"].tolist() == list(task.labels)
    having = np.isin(batch.conditions["task"], ["Choosing", "TwoSides", "Blocked"])
    np.testing.assert_array_equal(batch.conditions["strength"] == 4, having)
    long = task.sample(4, seed=0, task="TwoSides", **{"duration.delay": 700})
    assert (long.period_steps["delay"] == 7).all()
    with pytest.raises(
        InvalidValueError, match=r"condition task='Goin'. Expected one of 'Choosing', 'Going'"
    ):
        task.sample(4, task="Goin")


def test_conditions_imposed_on_a_task_hold_for_its_trials():
    inner = Choosing(conditions={"strength": 4, "duration.stimulus": 700})
    batch = Mixture(Going(), other_tasks=(inner,)).sample(40, seed=0)
    mine = batch.conditions["task"] == "Choosing"
    assert (batch.conditions["strength"][mine] == 4).all()
    assert (batch.period_steps["stimulus"] == np.where(mine, 7, 2)).all()


def test_it_is_a_value():
    task = mixed(weights=(1, 2, 3, 4, 5, 6))
    assert len({task, pickle.loads(pickle.dumps(task)), copy.deepcopy(task)}) == 1
    entry = {"task": "control/GoNogo-v0", "timing": {"delay": 0}, "wrap": ["Noise"]}
    made = make_task(Choosing, wrap=("Mixture", {"other_tasks": [entry]}))
    assert made.tasks[1].name == "Noise(GoNogo)"


def test_wrappers_apply_to_a_mixture():
    blocks = ({"task": "Going"}, {"task": "Choosing"})
    record = run(Schedule(mixed(), blocks=blocks, block_length=5), "oracle", 40, num_envs=1, seed=0)
    np.testing.assert_array_equal(
        record["task"], np.where(np.arange(40) // 5 % 2 == 0, "Going", "Choosing")
    )
    record = run(TimeOut(mixed()), "guess", 200, seed=0)
    assert (record["duration.timeout"] == 1000).all()


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: Mixture(Choosing()), InvalidValueError, "no other task"),
        (
            lambda: Mixture(Choosing(), other_tasks=("nowhere/Nothing-v0",)),
            LookupError,
            "was given the task 'nowhere/Nothing-v0'",
        ),
        (
            lambda: Mixture(Choosing(), other_tasks=({"task": Going, "gain": 3},)),
            UnknownNameError,
            "Unknown parameter 'gain'",
        ),
        (
            lambda: Mixture(Choosing(), other_tasks=(Going(dt=50),)),
            NotSupportedError,
            "that of Going is 50 ms",
        ),
        (
            lambda: Mixture(Choosing(), other_tasks=(Counting(),)),
            NotSupportedError,
            "computed on every step",
        ),
        (
            lambda: Mixture(Choosing(), other_tasks=(Steering(),)),
            NotSupportedError,
            "the other has not",
        ),
        (
            lambda: Mixture(mixed(), other_tasks=(Going(),)),
            NotSupportedError,
            "is a mixture itself",
        ),
        (lambda: ReactionTime(mixed()), NotSupportedError, "Apply ReactionTime to each of them"),
        (
            lambda: SideBias(mixed()),
            NotSupportedError,
            "declares no correct choice",
        ),
    ],
)
def test_tasks_that_cannot_be_mixed_are_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()


# ---------------------------------------------------------------------- presets


def test_a_transfer_counts_trials_across_sessions_and_stays_with_its_last_task():
    task = Transfer(
        Choosing(trials_per_session=4), other_tasks=(Going(), TwoSides()), block_lengths=(5, 7)
    )
    record = run(task, "oracle", 40, num_envs=1, seed=0)
    assert record["task"].tolist() == ["Choosing"] * 5 + ["Going"] * 7 + ["TwoSides"] * 28
    assert record["session"].max() == 9
    with pytest.raises(InvalidValueError, match="trials of every task but the last"):
        Transfer(Choosing(), other_tasks=(Going(), TwoSides()), block_lengths=(1, 2, 3))


def test_a_transfer_begins_again_with_a_seed():
    env = TaskEnv(
        Transfer(Choosing(trials_per_session=2), other_tasks=(Going(),), block_lengths=(3,))
    )
    for _ in range(2):
        env.reset(seed=1)
        tasks = []
        while len(tasks) < 8:
            *_, truncated, info = env.step(env.target)
            if info["new_trial"]:
                tasks.append(info["trial"]["task"])
            if truncated:
                env.reset()
        assert tasks == ["Choosing"] * 3 + ["Going"] * 5


def test_a_curriculum_advances_a_good_subject_and_holds_back_a_bad_one():
    stages = ({"conditions": {"strength": 4}}, {"timing": {"stimulus": 100}})
    task = Curriculum(Choosing(trials_per_session=7), stages=stages, window=5, advance_at=0.9)
    good = run(task, "oracle", 40, num_envs=1, seed=0)
    assert (np.diff(good["stage"]) >= 0).all()
    assert good["stage"][-1] == 2
    assert set(good["strength"][good["stage"] == 0]) == {4}
    assert set(good["duration.stimulus"][good["stage"] == 1]) == {100}
    assert set(good["duration.stimulus"][good["stage"] == 2]) == {300}
    assert not run(task, "rest", 40, num_envs=1, seed=0)["stage"].any()
    assert list(task.channels) == list(Choosing().channels)


@pytest.mark.parametrize(
    ("stages", "says"),
    [
        ((), "at least one mapping of settings"),
        (({"timing": {"stimulis": 3}},), "Did you mean 'stimulus'"),
        (({},), "which is Choosing without a change"),
        (({"timing": {}},), "which is Choosing without a change"),
    ],
)
def test_impossible_stages_are_refused(stages, says):
    with pytest.raises(InvalidValueError, match=says):
        Curriculum(Choosing(), stages=stages)


def test_durations_that_differ_are_drawn_by_each_task():
    task = Mixture(
        TwoSides(timing={"delay": Uniform(100, 300)}),
        other_tasks=(TwoSides(timing={"delay": 900}),),
    )
    batch = task.sample(200, seed=0)
    second = batch.conditions["task"] == "TwoSides 2"
    assert (batch.period_steps["delay"][second] == 9).all()
    assert (batch.period_steps["delay"][~second] <= 3).all()
    assert TaskView(task).max_steps >= 1 + 3 + 9 + 2


LASTING = {"early": 100, "late": 100, "cue": 100, "go": 100}


class Over(Task):
    """Ends after its first period, although it has a second one."""

    timing = LASTING

    def define(self):
        self.observe(lamp=1)
        self.act(rest=1, go=1)

    def new_trial(self, trial):
        trial.periods("early", "late", then={"early": "end"})
        trial.hold(during="early")


class Behind(Over):
    """Its periods come after those of `Over` in a mixture with `Over` first."""

    def new_trial(self, trial):
        trial.periods("cue", "go")
        trial.hold(during="cue")


def test_trials_that_would_end_with_a_period_of_another_task_are_refused():
    assert Mixture(Over(), other_tasks=(Behind(),)).sample(20, seed=0).period_steps["go"].any()
    with pytest.raises(
        NotSupportedError,
        match="'end' follows the period 'early', which trials of Behind pass over",
    ):
        Mixture(Behind(), other_tasks=(Over(),))


class Lasting(Task):
    """A trial of one period, and of another one that may be skipped."""

    timing = {"a": 100, "b": {"choice": [0, 100]}}

    def define(self):
        self.observe(lamp=1)
        self.act(rest=1, press=1)

    def new_trial(self, trial):
        trial.periods("a", "b")
        trial.answer("press", 0, during="a")


class Skipping(Lasting):
    """The same, with the other of the two periods that may be skipped."""

    timing = {"a": {"choice": [0, 100]}, "b": 100}

    def new_trial(self, trial):
        trial.periods("a", "b")
        trial.answer("press", 0, during="b")


def test_periods_that_may_be_skipped_in_one_task_only_leave_a_step_in_each_trial():
    task = Mixture(Lasting(), other_tasks=(Skipping(),))
    assert task.sample(200, 1).steps.min() >= 1


class Sides(Choosing):
    def define(self):
        super().define()
        self.act(fixate=1, choose=("left", "right", "up"))


class Colours(Choosing):
    def define(self):
        super().define()
        self.act(fixate=1, choose=("red", "green", "blue"))


def test_choices_keep_their_names_if_they_are_the_same_in_all_tasks_and_are_numbered_otherwise():
    assert Mixture(Sides(), other_tasks=(Sides,)).actions.units("choose") == ("left", "right", "up")
    mixed = Mixture(Sides(), other_tasks=(Colours, Sides))
    assert mixed.actions.units("choose") == ("0", "1", "2")
    assert mixed.actions.size == 4
