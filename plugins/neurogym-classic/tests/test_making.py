"""`make`, `make_vec`, `make_task` and `gymnasium.make` of classic envs."""

from __future__ import annotations

import inspect
from pathlib import Path

import gymnasium
import made_packages
import numpy as np
import pytest

from neurogym_core import (
    NotSupportedError,
    ReactionTime,
    UnknownNameError,
    make,
    make_task,
    make_vec,
    run,
)
from neurogym_core.tools import refresh


def test_a_file_and_its_class(ref):
    env = make(ref("as_neurogym", "DelayedDots"), timing={"fixation": 500}, cohs=[99.0], dt=50)
    env.reset(seed=0)
    assert env.unwrapped.timing["fixation"] == 500
    assert env.unwrapped.trial["coh"] == 99.0
    assert env.unwrapped.end_ind["fixation"] == 10


def test_the_seed_of_make_is_used_until_reset_has_one(ref):
    first = [
        make(ref("as_neurogym", "DelayedDots"), seed=seed).unwrapped.rng.random()
        for seed in (1, 1, 2)
    ]
    assert first[0] == first[1] != first[2]


def test_unknown_parameters_are_refused(ref):
    with pytest.raises(UnknownNameError, match=r"'cohs'.*Known: .*'timing'"):
        make(ref("as_neurogym", "DelayedDots"), coh=[1])
    with pytest.raises(UnknownNameError, match="'render_mode'"):
        make(ref("as_neurogym", "Withhold"), render_mode="rgb_array")


def test_the_spec_makes_an_equal_env(ref):
    env = make(ref("as_neurogym", "DelayedDots"), dt=50, wrap=["PassReward"])
    again = gymnasium.make(env.spec)
    assert again.observation_space.shape == (4,)
    assert again.unwrapped.dt == 50
    np.testing.assert_array_equal(env.reset(seed=3)[0], again.reset(seed=3)[0])


def test_gymnasiums_vector_envs_play_classic_envs(ref):
    reference = ref("as_neurogym", "DelayedDots")
    envs = gymnasium.vector.SyncVectorEnv([lambda: make(reference, trials_per_session=1)] * 3)
    obs, _ = envs.reset(seed=0)
    assert obs.shape == (3, 3)
    for _ in range(40):
        obs, *_ = envs.step(np.zeros(3, int))
    assert obs.dtype == np.float32


def test_features_of_tasks_are_refused(ref):
    reference = ref("as_neurogym", "Blocks")
    says = r"wraps tasks, and Blocks is a classic env,.* change the env in a TrialWrapper\."
    for wrapper in (ReactionTime, "ReactionTime", (ReactionTime, {})):
        with pytest.raises(NotSupportedError, match=says):
            make(reference, wrap=wrapper)
    with pytest.raises(NotSupportedError, match=r"without a native vector form.*SyncVectorEnv"):
        make_vec(reference, 3)
    with pytest.raises(NotSupportedError, match=r"no Task.*oracle.*Use make\(\) and Dataset\(\)"):
        make_task(reference)
    with pytest.raises(NotSupportedError, match=r"no Task.*oracle"):
        run(reference, "oracle", 3)


def test_a_class_works_like_its_file(load):
    assert make(load("as_neurogym", "Withhold")).reset(seed=0)[0] == 1


def test_a_pip_installed_class_is_found_by_its_id(monkeypatch, tmp_path, load):
    source = Path(inspect.getfile(load("as_neurogym", "Withhold"))).read_text("utf-8")
    package = made_packages.Package(
        name="neurogym-task-mine", tasks={"Withhold-v0": ""}, files={"tasks.py": source}
    )
    made_packages.write(package, tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    refresh()
    try:
        env = make("Withhold-v0")
        assert env.reset(seed=0)[0] == 1
        assert env.spec.id == "mine/Withhold-v0"
    finally:
        monkeypatch.undo()
        refresh()
