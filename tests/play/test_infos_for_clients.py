"""Infos, render modes and reset modes as clients of Gymnasium use them."""

from __future__ import annotations

import copy
import json
import pickle
from typing import ClassVar

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from neurogym_core import Choice, Task, TaskEnv, make, make_task, make_vec
from neurogym_core.errors import InvalidValueError, NotSupportedError

pytest.importorskip("neurogym_task_perceptual")

TASK = "perceptual/PerceptualDecisionMaking-v0"
ID = f"neurogym_core.gym:{TASK}"
NUMERIC = {
    "gt", "period", "new_trial", "performance", "trial_reward", "outcome", "choice", "trial_steps",
    "aborts",
}  # fmt: skip


class Blocks(Task):
    """The side stays for a session."""

    timing: ClassVar = {"decision": 300}
    trials_per_session: int | None = 4

    def define(self):
        self.observe(cue=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_session(self, session, rng):
        session.side = rng.integers(0, 2, len(session))

    def draw(self, session, rng):
        return {"side": session.side.copy()}

    def new_trial(self, trial):
        trial.periods("decision")
        trial.show("cue", np.eye(2)[trial["side"]], during="decision")
        trial.answer("choose", trial["side"], during="decision")


def played(env, steps=60, seed=3):
    """Return the infos of random actions."""
    env.reset(seed=seed)
    actions = np.random.default_rng(0).integers(0, 3, (steps, 2))
    return [env.step(row if hasattr(env, "num_envs") else int(row[0]))[4] for row in actions]


def form(info):
    """Return the keys of an info, and of the trial in it."""
    return {name: form(value) if isinstance(value, dict) else None for name, value in info.items()}


# ------------------------------------------------------------------ one form of infos


@pytest.mark.parametrize("infos", ["small", "full"])
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_native_vector_infos_have_the_form_of_gymnasiums(mode, infos):
    theirs = gymnasium.make_vec(ID, num_envs=2, vectorization_mode=mode, info=infos)
    ours = gymnasium.make_vec(ID, num_envs=2, vectorization_mode="vector_entry_point", info=infos)
    try:
        assert form(theirs.reset(seed=1)[1]) == form(ours.reset(seed=1)[1])
        for theirs_info, ours_info in zip(played(theirs), played(ours), strict=True):
            if "trial" in theirs_info:
                # Without a single reaction time, Gymnasium joins no column of them.
                ours_trial = {
                    name: value
                    for name, value in ours_info["trial"].items()
                    if name in theirs_info["trial"] or "reaction_time" not in name
                }
                assert form(theirs_info["trial"]) == form(ours_trial)
            assert theirs_info.keys() == ours_info.keys()
    finally:
        theirs.close()


@pytest.mark.parametrize("infos", ["small", "full"])
def test_every_info_of_a_native_vector_env_has_its_mask(infos):
    for info in played(make_vec(TASK, 2, info=infos)):
        named = {name for name in info if not name.startswith("_")}
        assert {f"_{name}" for name in named} | named == set(info)


def test_a_deep_copy_of_an_info_computes_nothing_until_it_is_read():
    info = next(info for info in played(make(TASK)) if "trial" in info)
    copied = copy.deepcopy(info)
    assert copied["trial"]._pending
    assert copied["trial"] == dict(info["trial"])


def test_an_info_of_a_single_env_can_be_written_as_json():
    for env in (make(TASK), make(TASK, render_mode="rgb_array")):
        for info in played(env):
            assert (
                json.loads(json.dumps(info))
                == copy.deepcopy(info)
                == pickle.loads(pickle.dumps(info))
            )


# ------------------------------------------------------------------ numeric infos


def test_numeric_infos_have_the_same_keys_on_every_step_and_only_numbers():
    env = make(TASK, info="numeric")
    first = env.reset(seed=3)[1]
    kinds = {name: value.dtype for name, value in first.items()}
    for info in (first, *played(env)):
        assert set(info) == NUMERIC
        assert all(isinstance(value, np.number) for value in info.values())
        assert {name: value.dtype for name, value in info.items()} == kinds
        assert np.isfinite(list(info.values())).all()


def test_numeric_infos_of_a_vector_env_are_those_of_its_envs():
    one, several = make(TASK, info="numeric"), make_vec(TASK, 1, info="numeric")
    one.reset(seed=5), several.reset(seed=5)
    for action in np.random.default_rng(1).integers(0, 3, 300).tolist():
        info, infos = one.step(action)[4], several.step(np.array([action]))[4]
        assert info == {name: values[0] for name, values in infos.items()}


def test_numeric_infos_hold_the_results_of_the_trial():
    full, numeric = make(TASK, info="full"), make(TASK, info="numeric")
    outcomes = 0
    for info, numbers in zip(played(full, 300), played(numeric, 300), strict=True):
        assert numbers["gt"] == info["gt"]
        assert full.unwrapped._names[numbers["period"]] == info["period"]
        assert numbers["new_trial"] == info["new_trial"]
        if info["new_trial"]:
            outcomes += 1
            trial = info["trial"]
            assert numbers["performance"] == trial["performance"]
            assert numbers["trial_reward"] == trial["reward"]
            assert numbers["trial_steps"] == trial["steps"]
            assert numbers["aborts"] == trial["aborts"]
            assert ("right", "left", "none")[numbers["choice"]] == trial["choice"]
    assert outcomes > 3


def test_numeric_infos_go_through_gymnasiums_door_and_its_vector_envs():
    for mode in ("sync", "vector_entry_point"):
        env = gymnasium.make_vec(ID, num_envs=2, vectorization_mode=mode, info="numeric")
        for info in played(env):
            assert set(info) >= NUMERIC
            assert all(info[name].dtype.kind in "if" for name in NUMERIC)


def test_another_form_of_infos_is_refused():
    for made in (lambda: make(TASK, info="plain"), lambda: make_vec(TASK, 2, info="plain")):
        with pytest.raises(InvalidValueError, match=r"(?s)'plain'.*'small', 'full' or 'numeric'"):
            made()


# ------------------------------------------------------------------ rendering


def test_nothing_is_computed_for_a_frame_until_one_is_asked_for(monkeypatch):
    def fail(self):
        raise AssertionError("conditions were read")

    env = make(TASK, render_mode="rgb_array")
    with monkeypatch.context() as patched:
        patched.setattr(TaskEnv, "conditions", property(fail))
        played(env)
    assert env.render().shape[2] == 3


def test_a_vector_env_draws_one_frame_per_env():
    env = gymnasium.make_vec(ID, num_envs=2, vectorization_mode="vector_entry_point",
                             render_mode="rgb_array")  # fmt: skip
    assert env.render_mode == "rgb_array"
    alone = make(TASK, render_mode="rgb_array")
    assert make_vec(TASK, 2).render() is None
    env.reset(seed=3), alone.reset(seed=3)
    assert len({frame.shape for frame in env.render()}) == 1
    for _ in range(10):
        env.step(np.zeros(2, int)), alone.step(0)
    frames = env.render()
    assert len(frames) == 2
    # The first trial of a seed is that of env 0.
    np.testing.assert_array_equal(frames[0], alone.render())


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_a_frame_shows_the_current_trial_of_its_env_alone(mode):
    env = make_vec(TASK, 3, render_mode="rgb_array", autoreset_mode=mode, trials_per_session=1)
    env.reset(seed=1)
    begun = np.zeros(3, int)
    rng = np.random.default_rng(2)
    before = np.zeros(3, bool)
    for _ in range(200):
        _, _, terminated, truncated, info = env.step(rng.integers(0, 3, 3))
        begun = np.where(info["new_trial"] | before, 0, begun + 1)
        over = terminated | truncated
        before = over if mode == "NextStep" else before
        if mode == "Disabled" and over.any():
            env.reset(options={"reset_mask": over})
        for k in range(3):
            assert len(env._steps[k].observations) == begun[k]


# ------------------------------------------------------------------ reset by the client


def test_in_disabled_mode_the_client_resets_the_envs_whose_sessions_ended():
    env = make_vec(TASK, 3, autoreset_mode="Disabled", trials_per_session=2)
    assert env.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    alone = make_vec(TASK, 3, autoreset_mode="SameStep", trials_per_session=2)
    np.testing.assert_array_equal(env.reset(seed=1)[0], alone.reset(seed=1)[0])
    rng, resets = np.random.default_rng(0), 0
    for _ in range(400):
        actions = rng.integers(0, 3, 3)
        observations, reward, terminated, truncated, _ = env.step(actions)
        expected = alone.step(actions)
        np.testing.assert_array_equal(reward, expected[1])
        over = terminated | truncated
        np.testing.assert_array_equal(over, expected[2] | expected[3])
        if over.any():
            resets += 1
            with pytest.raises(InvalidValueError, match="reset_mask"):
                env.step(actions)
            observations, _ = env.reset(options={"reset_mask": over})
        np.testing.assert_array_equal(observations, expected[0])
    assert resets > 10


def test_an_env_within_a_session_can_be_reset_alone():
    env = make_vec(TASK, 3, autoreset_mode="Disabled", trials_per_session=5)
    env.reset(seed=1)
    for _ in range(40):
        observations = env.step(np.zeros(3, int))[0]
    reset, _ = env.reset(options={"reset_mask": np.array([False, True, False])})
    np.testing.assert_array_equal(reset[[0, 2]], observations[[0, 2]])
    left = env.stepper.state("left").tolist()
    assert left[1] == 5 > left[0]
    assert env.stepper.state("clock").tolist()[1] == 0


def test_a_session_whose_trials_depend_on_each_other_is_not_reset_in_its_middle():
    env = make_vec(Blocks, 2, autoreset_mode="Disabled")
    env.reset(seed=0)
    env.step(np.zeros(2, int))
    with pytest.raises(NotSupportedError, match=r"envs \[1\] in the middle"):
        env.reset(options={"reset_mask": np.array([False, True])})


def test_a_partial_reset_takes_no_seed_and_a_mask_needs_an_env():
    env = make_vec(TASK, 2, autoreset_mode="Disabled")
    env.reset(seed=0)
    with pytest.raises(InvalidValueError, match="mask alone"):
        env.reset(seed=1, options={"reset_mask": np.array([True, False])})
    for wrong in (np.zeros(2, bool), np.ones(3, bool), [1, 0]):
        with pytest.raises(InvalidValueError, match="2 bools"):
            env.reset(options={"reset_mask": wrong})
    env.reset(seed=1, options={"reset_mask": np.ones(2, bool)})


# ------------------------------------------------------------------ the door of Gymnasium


def test_the_bare_name_is_enough():
    env = gymnasium.make("neurogym_core.gym:PerceptualDecisionMaking-v0")
    assert env.unwrapped.task == make_task(TASK)


def test_the_error_for_an_unknown_parameter_has_pythons_words():
    """TorchRL tries `frameskip`, and looks for these words to go on without it."""
    words = "unexpected keyword argument 'frameskip'"
    with pytest.raises(TypeError, match=words):
        gymnasium.make(ID, frameskip=1)
    with pytest.raises(TypeError, match=words):
        gymnasium.make_vec(ID, num_envs=2, vectorization_mode="vector_entry_point", frameskip=1)


def test_gymnasiums_env_checks_that_reset_comes_first():
    env = gymnasium.make(ID)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
