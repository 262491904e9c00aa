"""`info["trial"]` behaves as a dict in every operation, but is computed on first access."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

from neurogym_core import make, make_vec

TASK = "PerceptualDecisionMaking-v0"


def single():
    env = make(TASK)
    env.reset(seed=1)
    while "trial" not in (info := env.step(1)[4]):
        pass
    return info["trial"]


def several():
    env = make_vec(TASK, 3)
    env.reset(seed=1)
    while "trial" not in (info := env.step(np.array([0, 1, 2]))[4]):
        pass
    return info["trial"]


def plain(trial):
    """Return the same items as a plain dict."""
    return {name: trial[name] for name in list(trial)}


WAYS = {
    "key": lambda d: (d["reward"], d["outcome"]),
    "in": lambda d: ("reward" in d, "outcome" in d, "absent" in d),
    "get": lambda d: (d.get("reward"), d.get("absent", 7)),
    "iteration": list,
    "keys": lambda d: list(d.keys()),
    "values": lambda d: list(d.values()),
    "items": lambda d: list(d.items()),
    "length": len,
    "truth": bool,
    "dict": dict,
    "stars": lambda d: {**d},
    "call": lambda d: dict(**d),
    "or": lambda d: d | {"more": 1},
    "or from the other side": lambda d: {"more": 1} | d,
    "or in place": lambda d: (d.__ior__({"more": 1}), dict(d))[1],
    "copy": lambda d: d.copy(),
    "copy module": copy.copy,
    "deep copy": copy.deepcopy,
    "pickle": lambda d: pickle.loads(pickle.dumps(d)),
    "reversed": lambda d: list(reversed(d)),
    "text": repr,
    "pop": lambda d: (d.pop("reward"), d.pop("absent", None), len(d)),
    "popitem": lambda d: (d.popitem(), len(d)),
    "setdefault": lambda d: (d.setdefault("reward", 0), d.setdefault("more", 5), len(d)),
    "update": lambda d: (d.update(reward=1, more=2), dict(d))[1],
    "set, then look": lambda d: (d.__setitem__("reward", "mine"), dict(d))[1],
    "delete": lambda d: (d.__delitem__("reward"), dict(d))[1],
    "clear": lambda d: (d.clear(), dict(d))[1],
}


@pytest.mark.parametrize("trial", [single, several])
@pytest.mark.parametrize("way", WAYS)
def test_it_behaves_as_a_dict(way, trial):
    np.testing.assert_equal(WAYS[way](trial()), WAYS[way](plain(trial())))


def test_it_can_be_written_as_json():
    assert json.loads(json.dumps(single())) == plain(single())


@pytest.mark.parametrize("trial", [single, several])
def test_it_lacks_absent_keys_as_a_dict_does(trial):
    assert isinstance(trial(), dict)
    for given in (trial(), plain(trial())):
        with pytest.raises(KeyError, match="absent"):
            given["absent"]
    assert trial() != {}
    assert single() == single() == plain(single())


def test_it_still_reports_its_own_trial_when_it_is_read_later():
    env, other = (make_vec(TASK, 5, timing={"delay": {"uniform": [100, 900]}}) for _ in range(2))
    env.reset(seed=1), other.reset(seed=1)
    actions = np.random.default_rng(0).integers(0, 3, (5000, 5))
    later = [
        env.step(row)[4].get("trial") for row in actions
    ]  # long enough for other blocks to come
    at_once = [
        None if (trial := other.step(row)[4].get("trial")) is None else dict(trial)
        for row in actions
    ]
    for one, two in zip(later, at_once, strict=True):
        np.testing.assert_equal(one and dict(one), two)


def test_gymnasiums_vector_envs_collect_the_same_as_native_ones():
    """`SyncVectorEnv` collects the infos of single envs to those of a native vector env."""
    seeds, steps = [3, 4], 120
    envs = SyncVectorEnv([lambda: make(TASK)] * 2)
    envs.reset(seed=seeds)
    ours = [make_vec(TASK, 1, seed=seed) for seed in seeds]
    for env, seed in zip(ours, seeds, strict=True):
        env.reset(seed=seed)
    seen = 0
    for action in np.random.default_rng(0).integers(0, 3, (steps, 2)):
        info = envs.step(action)[4]
        for k, env in enumerate(ours):
            mine = env.step(action[k : k + 1])[4]
            assert info["new_trial"][k] == mine["new_trial"][0]
            if mine["new_trial"][0]:
                seen += 1
                for name in ("trial", "steps", "reward", "outcome", "coherence"):
                    assert info["trial"][name][k] == mine["trial"][name][0]
                    assert info["trial"][f"_{name}"][k]
                assert info["trial"]["_reaction_time"][k] == mine["trial"]["_reaction_time"][0]
    assert seen > 4


def test_gymnasiums_wrappers_take_it():
    env = DictInfoToList(RecordEpisodeStatistics(make_vec(TASK, 2, info="full")))
    env.reset(seed=1)
    for _ in range(300):
        infos = env.step(np.zeros(2, int))[4]
        assert {"gt", "period", "new_trial"} <= infos[0].keys()
