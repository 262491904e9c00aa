"""`Combine`: stimuli and answer slots of both tasks are in a trial, at the right times."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from neurogym_wrappers import Combine, TimeOut
from small_tasks import (
    Arms,
    Blocked,
    Choosing,
    Counting,
    Going,
    Learning,
    Steering,
    Timed,
    TwoSides,
)

from neurogym_core import (
    Choice,
    Dataset,
    InvalidValueError,
    NotSupportedError,
    ReactionTime,
    TaskEnv,
    TaskVectorEnv,
    TrialBatch,
    Uniform,
    make_task,
    run,
)
from neurogym_core.players import TaskView, build_imposed


def long_delay(**settings) -> TwoSides:
    """fixation 100, stimulus 300, delay 800 to 1200, decision 200 ms."""
    return TwoSides(timing={"delay": Uniform(800, 1200)}, **settings)


def test_both_tasks_are_in_a_trial_each_on_its_own_channels():
    task = Combine(long_delay(), distractor=Going(), onset=500)
    assert list(task.channels) == ["fixation", "stimulus", "fixation.Going", "stimulus.Going"]
    assert list(task.actions) == ["fixate", "choose", "go"]
    assert TaskView(task).period_names == TaskView(TwoSides()).period_names
    batch = task.sample(30, seed=0)
    main = build_imposed(
        TwoSides(),
        np.random.default_rng(0),
        30,
        {
            **{name: batch.conditions[name] for name in ("side", "strength")},
            "duration.delay": batch.period_steps["delay"] * 100,
        },
    )
    other = build_imposed(Going(), np.random.default_rng(0), 30, {"go": batch.conditions["go"]})
    np.testing.assert_array_equal(batch.render(None)[:, :3], main.render(None))
    begin = np.cumsum(batch.steps) - batch.steps
    seen = batch.render(None)[:, 3:]
    for row, onset in enumerate(begin):
        own = slice(row * 5, row * 5 + 5)
        np.testing.assert_array_equal(seen[onset + 5 : onset + 10], other.render(None)[own])
        assert not seen[onset : onset + 5].any()
        assert not seen[onset + 10 : onset + batch.steps[row]].any()
    targets = batch.render_targets()
    go = task.actions["go"].start
    for row, onset in enumerate(begin):
        wanted = go if batch.conditions["go"][row] else 0
        assert (targets[onset + 8 : onset + 10] == wanted).all()


def test_the_oracle_answers_both_and_the_trial_goes_on_after_the_distractor():
    record = run(
        Combine(long_delay(), distractor=Going(), onset=Choice((300, 600))), "oracle", 60, seed=0
    )
    assert record["performance"].mean() == 1
    assert (record["reward"] == 2).all()
    assert set(record["onset"]) == {300, 600}
    assert set(record["go.outcome"]) == {"correct"}
    assert (record["steps"] >= 13).all()


def test_a_resting_subject_misses_both_and_gets_the_reward_of_correct_resting():
    record = run(
        Combine(long_delay(), distractor=Going(rewards={"correct": 3.0}), onset=500),
        "rest",
        60,
        seed=0,
    )
    np.testing.assert_array_equal(record["reward"], np.where(record["go"] == 0, 3.0, 0.0))
    np.testing.assert_array_equal(record["performance"], np.where(record["go"] == 0, 0.5, 0.0))


def test_acting_while_neither_asks_breaks_the_hold():
    record = run(Combine(long_delay(), distractor=Going(), onset=500), "premature", 40, seed=0)
    assert (record["aborts"] > 0).all()


def test_types_of_trials_come_as_often_as_their_weights_say():
    """False alarm: 5 standard errors, below 1e-6 a comparison."""
    task = Combine(long_delay(), distractor=Going(), onset=500, weights=(1, 2, 1), cue=True)
    record = run(task, "oracle", 2000, seed=0)
    for kind, p in zip(("main", "distractor", "both"), (0.25, 0.5, 0.25), strict=True):
        assert abs((record["combined"] == kind).mean() - p) < 5 * np.sqrt(p * (1 - p) / 2000)
    np.testing.assert_array_equal(
        record["reward"], np.where(record["combined"] == "both", 2.0, 1.0)
    )
    absent = record[record["combined"] == "main"]
    assert set(absent["go.outcome"]) == {"none"}


def test_an_absent_task_is_not_shown_and_the_cue_says_so():
    task = Combine(long_delay(), distractor=Going(), onset=500, weights=(1, 1, 1), cue=True)
    for kind, main, other in (
        ("main", True, False),
        ("distractor", False, True),
        ("both", True, True),
    ):
        batch = task.sample(10, seed=0, combined=kind)
        seen = batch.render(None)
        assert seen[:, task.channels["fixation"]].any() == main
        assert seen[:, task.channels["stimulus.Going"]].any() == other
        np.testing.assert_array_equal(
            seen[:, task.channels["combined"]], np.tile([main, other], (len(seen), 1))
        )


def test_actions_that_agree_are_shared_unless_asked_not_to():
    shared = Combine(long_delay(), distractor=TwoSides(timing={"delay": 0}), onset=500)
    apart = Combine(
        long_delay(), distractor=TwoSides(timing={"delay": 0}), onset=500, share_actions=False
    )
    assert list(shared.actions) == ["fixate", "choose"]
    assert list(apart.actions) == ["fixate", "choose", "choose.TwoSides 2"]
    for task in (shared, apart):
        assert run(task, "oracle", 20, seed=0)["performance"].mean() == 1


def test_a_distractor_keeps_its_own_state():
    task = Combine(long_delay(trials_per_session=None), distractor=Blocked(), onset=500)
    strength = run(task, "oracle", 40, num_envs=1, seed=0)["strength.Blocked"]
    np.testing.assert_array_equal(np.flatnonzero(np.diff(strength)) % 5, 4)


def test_a_timed_answer_is_due_at_its_moment_within_the_other_task():
    task = Combine(long_delay(), distractor=Timed(timing={"produce": 600}), onset=200)
    record = run(task, "oracle", 20, seed=0)
    assert set(record["press.outcome"]) == {"correct"}
    np.testing.assert_array_equal(record["press.reaction_time"], record["interval"])


def test_one_by_one_is_as_all_together():
    task = Combine(long_delay(), distractor=Choosing(), onset=400)
    batch = task.sample(5, seed=0)
    given = batch.conditions | {"duration.delay": batch.period_steps["delay"] * 100}
    same = TrialBatch.concatenate(
        [task.sample(1, **{name: values[i] for name, values in given.items()}) for i in range(5)]
    )
    np.testing.assert_array_equal(batch.render(None), same.render(None))
    np.testing.assert_array_equal(batch.render_targets(), same.render_targets())


def test_players_agree_and_a_dataset_scores_its_own_targets():
    task = Combine(long_delay(), distractor=Going(), onset=500, weights=(1, 1, 1))
    single, vector = TaskEnv(task, info="full"), TaskVectorEnv(task, 1, info="full")
    a, b = single.reset(seed=3)[0], vector.reset(seed=3)[0]
    rng = np.random.default_rng(0)
    for _ in range(500):
        np.testing.assert_array_equal(a, b[0])
        action = single.target if rng.random() < 0.9 else int(rng.integers(task.actions.size))
        a, reward, *_, info = single.step(action)
        b, rewards, *_, infos = vector.step(np.array([action]))
        assert (reward, info["gt"]) == (rewards[0], infos["gt"][0])
    batch = next(Dataset(task, 8, 200, seed=0))
    assert batch.score(batch.targets)["performance"].mean() == 1


def test_it_is_a_value():
    task = Combine(long_delay(), distractor=Going(), onset=500)
    assert pickle.loads(pickle.dumps(task)) == task
    entry = {"distractor": {"task": "control/GoNogo-v0", "timing": {"delay": 0}}, "onset": 300}
    long = {"delay": 3000}
    made = make_task("PerceptualDecisionMaking-v0", wrap=("Combine", entry), timing=long)
    assert made.other.name == "GoNogo"


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: Combine(long_delay()), InvalidValueError, "no distractor"),
        (
            lambda: Combine(long_delay(), distractor=Going(), onset=-1),
            InvalidValueError,
            "0 ms or more",
        ),
        (
            lambda: Combine(long_delay(), distractor=Going(), weights=(1, 0, 0)),
            InvalidValueError,
            "three numbers",
        ),
        (
            lambda: Combine(long_delay(), distractor=Going(), onset=1000),
            NotSupportedError,
            "ends 1500 ms after",
        ),
        (
            lambda: Combine(Choosing(), distractor=Choosing()),
            NotSupportedError,
            "the same action answers both",
        ),
        (
            lambda: Combine(long_delay(), distractor=Arms()),
            NotSupportedError,
            "Arms has no rest action",
        ),
        (
            lambda: Combine(Steering(), distractor=Going()),
            NotSupportedError,
            "Steering has no rest action",
        ),
        (
            lambda: Combine(long_delay(), distractor=Learning()),
            NotSupportedError,
            "no rest action",
        ),
        (
            lambda: Combine(Counting(), distractor=Going()),
            NotSupportedError,
            "computed on every step",
        ),
        (
            lambda: Combine(long_delay(), distractor=Going(dt=50)),
            NotSupportedError,
            "that of Going is 50 ms",
        ),
        (
            lambda: Combine(TimeOut(long_delay()), distractor=Going()),
            NotSupportedError,
            "do not always follow in order",
        ),
        (
            lambda: ReactionTime(Combine(long_delay(), distractor=Going(), onset=500)),
            NotSupportedError,
            "several tasks",
        ),
    ],
)
def test_tasks_that_cannot_be_combined_are_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()
