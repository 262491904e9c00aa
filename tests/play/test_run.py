"""`run` lets a subject play."""

from __future__ import annotations

import gc
import importlib
import weakref

import numpy as np
import pytest

from neurogym_core import Choice, Task, TrialRecord, make_vec, run
from neurogym_core.errors import InvalidValueError, UnknownNameError
from neurogym_core.play.make import make_task
from neurogym_core.players import Game
from neurogym_core.subjects import Oracle, Subject, subject_named


class Sides(Task):
    """Report the side of the stimulus."""

    timing = {"fixation": 200, "decision": 300}
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}

    def define(self):
        self.observe(sides=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "decision")
        trial.show("sides", np.eye(2)[trial["side"]], during="decision")
        trial.answer("choose", trial["side"], during="decision")


class Onlooker:
    """Reports the side, and records observations and open windows."""

    def __init__(self):
        self.seen = []

    def begin(self, env):
        self.begun = env.task

    def __call__(self, env, observations):
        self.seen.append(observations)
        return np.where(env.is_asked, 1 + observations[:, :2].argmax(axis=1), 0)


def test_a_game_counts_its_steps_and_the_trials_of_each_subject():
    game, steps = Game(Sides, "oracle", 5, num_envs=2, seed=0, params={}), 0
    while game.played.count < 5:
        assert game.steps == steps
        game.step()
        steps += 1
    assert np.bincount(game.record()["env"]).tolist() == [3, 2]


def test_a_subject_plays_so_many_trials():
    record = run(Sides, Onlooker(), 50, seed=1)
    assert len(record) == 50
    assert (record["outcome"] == "correct").all()


def test_a_subject_gets_the_observations_of_env_wrappers_and_reads_the_env_itself():
    subject = Onlooker()
    record = run(Sides, subject, 50, seed=1, wrap=["PassReward", "PassAction"])
    assert (record["outcome"] == "correct").all()
    assert subject.seen[0].shape[1] > 2 + 1
    assert isinstance(subject.begun, Sides)
    assert any((seen[:, 2] == 1).any() for seen in subject.seen), "no reward was ever passed"


def test_reference_subjects_play_through_wrappers():
    assert run(Sides, "oracle", 20, seed=1, wrap="PassReward")["performance"].mean() == 1


def test_a_wrapper_takes_its_settings_as_text():
    text = "noise:noisy_channels=sides,sigma=0.5"
    settings = {"noisy_channels": ("sides",), "sigma": 0.5}
    for wrap in (text, [text], [("noise", settings)]):
        task = make_task(Sides, wrap=wrap)
        assert {name: getattr(task, name) for name in settings} == settings
        assert run(Sides, "oracle", 5, seed=1, wrap=wrap).meta["wrappers"] == ("Noise",)
    with pytest.raises(InvalidValueError, match=r"'sigma'\. Expected a name and a value"):
        make_task(Sides, wrap="noise:sigma")


# ---------------------------------------------------------------------- interrupted and long runs


class Stopping(Onlooker):
    """Presses Ctrl-C on its 40th step."""

    def __call__(self, env, observations):
        if len(self.seen) == 40:
            raise KeyboardInterrupt
        return super().__call__(env, observations)


def test_ctrl_c_hands_over_the_trials_that_ended():
    with pytest.raises(KeyboardInterrupt) as stopped:
        run(Sides, Stopping(), 1000, num_envs=4, seed=1)
    record, whole = stopped.value.record, run(Sides, Onlooker(), 1000, num_envs=4, seed=1)
    assert len(record) > 20
    assert record == TrialRecord.concatenate(
        whole[whole["subject"] == k][: (record["subject"] == k).sum()] for k in range(4)
    )


def test_ctrl_c_before_a_trial_ended_hands_over_none():
    def at_once(env, observations):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        run(Sides, at_once, 5, seed=1)
    assert len(stopped.value.record) == 0


def test_trials_become_columns_as_they_come(monkeypatch):
    """Trials that ended long ago keep no block in memory."""
    module = importlib.import_module("neurogym_core.play.run")
    monkeypatch.setattr(module, "KEPT", 50)
    env = make_vec(Sides, 4, autoreset_mode="SameStep", seed=0)
    env.reset(seed=0)
    played, alive = module.Played(), []
    for _ in range(600):
        *_, info = env.step(np.zeros(4, int))
        played.add(info)
        if "trial" in info:
            alive.append(weakref.ref(info["trial"].finished))
    del info
    gc.collect()
    assert len(alive) > 100
    assert sum(one() is not None for one in alive) <= 13
    assert len(played.record()) == played.count == 4 * len(alive)


@pytest.mark.parametrize("kept", [1, 7, 10_000])
def test_how_often_trials_become_columns_is_not_seen(monkeypatch, kept):
    expected = run(Sides, "random", 300, seed=2, num_envs=7)
    monkeypatch.setattr(importlib.import_module("neurogym_core.play.run"), "KEPT", kept)
    assert run(Sides, "random", 300, seed=2, num_envs=7) == expected


# ---------------------------------------------------------------------- arguments


def test_a_seed_is_any_whole_number():
    assert run(Sides, "random", 30, seed=np.int64(3)) == run(Sides, "random", 30, seed=3)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"seed": -1}, "seed=-1. Expected a whole number, at least 0"),
        ({"seed": 1.5}, "seed=1.5"),
        ({"seed": True}, "seed=True"),
        ({"num_envs": 0}, "num_envs=0"),
        ({"n_trials": 0}, "n_trials=0"),
    ],
)
def test_impossible_numbers_are_reported(settings, said):
    with pytest.raises(InvalidValueError, match=said):
        run(Sides, "random", **{"n_trials": 5, **settings})


# ---------------------------------------------------------------------- one subject, or several


class Learner(Subject):
    """Plays the target, and counts the envs in which it plays."""

    def begin(self, env):
        self.envs = env.num_envs

    def __call__(self, env, observations):
        return env.target


class Blocks(Sides):
    """The side stays for ten trials of a session."""

    def new_session(self, session, rng):
        session.side = rng.integers(0, 2, len(session))

    def draw(self, session, rng):
        fresh = session.trial % 10 == 0
        session.side = np.where(fresh, rng.integers(0, 2, len(session)), session.side)
        return {"side": session.side}


class Alternating(Sides):
    """The side changes after every correct answer."""

    reads_outcomes = True

    def draw(self, session, rng):
        return {"side": np.where(session.previous["outcome"] == 1, 1 - session.previous["side"], 0)}


@pytest.mark.parametrize("n_trials", [99, 100, 320])
@pytest.mark.parametrize(
    ("task", "subject"),
    [(Sides, Learner()), (Sides, lambda env, obs: env.target), (Blocks, "oracle"),
     (Alternating, "oracle")],
)  # fmt: skip
def test_one_subject_lives_all_trials_of_a_learner_and_of_a_task_with_a_memory(
    task, subject, n_trials
):
    record = run(task, subject, n_trials, seed=1)
    assert not record["subject"].any()
    assert not record["env"].any()
    assert record["trial"].tolist() == list(range(n_trials))


@pytest.mark.parametrize("n_trials", [5, 99, 100, 101])
def test_a_subject_without_memory_is_one_subject_in_envs_side_by_side(n_trials):
    record = run(Sides, "random", n_trials, seed=1)
    assert not record["subject"].any()
    assert record["trial"].tolist() == list(range(n_trials))
    assert len(np.unique(record["env"])) == min(n_trials, 16)


def test_several_subjects_are_played_when_asked_and_each_is_in_one_piece():
    learner = Learner()
    record = run(Blocks, learner, 50, num_envs=4, seed=1)
    assert learner.envs == 4
    assert record["subject"].tolist() == [0] * 13 + [1] * 13 + [2] * 12 + [3] * 12
    assert record["trial"].tolist() == [*range(13), *range(13), *range(12), *range(12)]
    assert (record["subject"] == record["env"]).all()


def test_trials_of_different_lengths_do_not_change_who_plays_how_many():
    """The subject that answers early is done with its trials long before the others."""

    def first_is_fast(env, observations):
        return np.where(np.arange(env.num_envs) == 0, env.target, 0)

    record = run(Sides, first_is_fast, 10, num_envs=4, seed=1)
    assert np.bincount(record["subject"]).tolist() == [3, 3, 2, 2]


def test_a_subject_among_others_lives_as_long_blocks_as_alone():
    """The block of ten trials is not cut by the subjects beside it."""
    record = run(Blocks, "oracle", 160, num_envs=4, seed=3)
    for subject in range(4):
        side = record["side"][record["subject"] == subject]
        assert (side.reshape(4, 10) == side[::10, None]).all()


def test_a_wrapper_that_keeps_the_last_outcome_has_one_subject():
    task = make_task(Alternating)
    assert run(task, "oracle", 40, seed=1)["side"].tolist() == [0, 1] * 20


# ---------------------------------------------------------------------- subjects with settings


@pytest.mark.parametrize("subject", ["late_oracle:wait=100", ("late_oracle", {"wait": 100})])
def test_settings_of_a_subject_reach_it(subject):
    assert set(run(Sides, subject, 20, seed=1)["reaction_time"]) == {100}
    assert set(run(Sides, "late_oracle:wait=200", 20, seed=1)["reaction_time"]) == {200}


def test_settings_in_python_override_those_in_the_name():
    assert subject_named("late_oracle:wait=100", settings={"wait": 300}).wait == 300
    assert subject_named("integrator:channel=sides").channel == "sides"


@pytest.mark.parametrize(
    ("subject", "error", "said"),
    [
        (
            "late_oracle:wiat=3",
            UnknownNameError,
            "of the subject 'late_oracle'. Did you mean 'wait'",
        ),
        ("oracle:wait=3", UnknownNameError, "Unknown setting 'wait' of the subject 'oracle'"),
        ("late_oracle:wait=long", InvalidValueError, "wait='long'. Expected a number"),
        ("late_oracle:wait", InvalidValueError, "Expected a name and a value"),
        ("late_oracle:", InvalidValueError, "Expected a name and a value"),
        ("late_oracle:wait=1,wait=2", InvalidValueError, "each once"),
        (("late_oracle", {"wait": None}), InvalidValueError, "wait=None. Expected a number"),
        (("oracle", 3), InvalidValueError, "was given as a subject. Expected a name"),
        (3, InvalidValueError, "3 was given as a subject. Expected a name"),
        (Oracle, InvalidValueError, "was given as a subject. Expected a name"),
    ],
)
def test_a_wrong_subject_or_setting_is_reported(subject, error, said):
    with pytest.raises(error, match=said.replace("(", r"\(")):
        run(Sides, subject, 2)


def test_an_integrator_without_its_channel_says_what_it_needs_and_how_to_name_another():
    with pytest.raises(UnknownNameError) as caught:
        run(Sides, "integrator", 2)
    assert "needs evidence in a channel 'stimulus'" in str(caught.value)
    assert "Sides has the channels 'sides'" in str(caught.value)
    assert "integrator:channel=sides" in str(caught.value)
    record = run(Sides, "integrator:channel=sides", 20, seed=1)
    assert (record["performance"] == 1).all()


# ---------------------------------------------------------------------- slots of some trials only


class Confident(Sides):
    """Asks for confidence after a correct answer only, and has trials without any slot."""

    reads_outcomes = True

    def define(self):
        super().define()
        self.act(rest=1, choose=2, sure=1)
        self.vary(kind=Choice(3))

    def draw(self, session, rng):
        return self.draw_conditions(rng, len(session))

    def new_trial(self, trial):
        trial.periods("fixation", "decision")
        trial.show("sides", np.eye(2)[trial["side"]], during="decision")
        trial.record("kind")
        for least, slot, choice in ((1, "choose", trial["side"]), (2, "sure", 0)):
            asked = trial["kind"] >= least
            if asked.any():
                trial.answer(slot, choice, during="decision", then="wait", where=asked)


def test_a_slot_that_only_some_trials_ask_has_columns_in_every_trial():
    for envs in (1, 3):
        record = run(Confident, Onlooker(), 60, seed=1, num_envs=envs)
        assert len(record) == 60
        once, never = record["kind"] < 2, record["kind"] < 1
        assert (record.codes("sure.choice")[once] == -1).all()
        assert (record["sure.outcome"][once] == "none").all()
        assert np.isnan(record["sure.reaction_time"]).all()
        assert (record["sure.outcome"][~once] == "miss").all()
        assert (record.codes("choose.choice")[never] == -1).all()
        assert (record.codes("choose.choice") == record["side"])[~never].all()
        assert (record["choose.outcome"][~never] == "correct").all()
        assert (record["choose.outcome"][never] == "none").all()
        assert (
            record["outcome"] == np.where(never, "none", np.where(once, "correct", "miss"))
        ).all()
