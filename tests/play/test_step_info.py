"""The info of a vector env's step is a dict, whatever one does with it; only when it is worked out differs."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

from neurogym_core import make_vec

NAMES = ["new_trial", "gt", "period"]


def info():
    env = make_vec("PerceptualDecisionMaking-v0", 3)
    env.reset(seed=1)
    return env.step(np.zeros(3, int))[4]


def plain():
    return {name: info()[name] for name in NAMES}


WAYS = {
    "key": lambda d: (d["gt"], d["period"]),
    "in": lambda d: ("gt" in d, "period" in d, "absent" in d),
    "get": lambda d: (d.get("gt"), d.get("absent", 7)),
    "iteration": list,
    "keys": lambda d: list(d.keys()),
    "values": lambda d: list(d.values()),
    "items": lambda d: list(d.items()),
    "length": len,
    "dict": dict,
    "stars": lambda d: {**d},
    "call": lambda d: dict(**d),
    "or": lambda d: d | {"more": 1},
    "or from the other side": lambda d: {"more": 1} | d,
    "copy": lambda d: d.copy(),
    "copy module": copy.copy,
    "deep copy": copy.deepcopy,
    "pickle": lambda d: pickle.loads(pickle.dumps(d)),
    "reversed": lambda d: list(reversed(d)),
    "text": repr,
    "pop": lambda d: (d.pop("gt"), d.pop("absent", None), len(d)),
    "setdefault": lambda d: (d.setdefault("gt", 0), d.setdefault("more", 5), len(d)),
    "update": lambda d: (d.update(gt=1, more=2), dict(d))[1],
    "set, then look": lambda d: (d.__setitem__("gt", "mine"), dict(d))[1],
    "delete": lambda d: (d.__delitem__("gt"), dict(d))[1],
    "clear": lambda d: (d.clear(), dict(d))[1],
}


@pytest.mark.parametrize("way", WAYS)
def test_it_is_what_a_dict_is(way):
    np.testing.assert_equal(WAYS[way](info()), WAYS[way](plain()))


def test_it_is_a_dict_that_lacks_what_is_not_there():
    assert isinstance(info(), dict)
    for given in (info(), plain()):
        with pytest.raises(KeyError, match="absent"):
            given["absent"]
    assert info() != {}
    assert bool(info())


def test_it_still_tells_of_its_own_step_when_it_is_looked_at_later():
    env, other = (make_vec("PerceptualDecisionMaking-v0", 5, timing={"delay": {"uniform": [100, 900]}}) for _ in range(2))
    env.reset(seed=1), other.reset(seed=1)
    actions = np.random.default_rng(0).integers(0, 3, (3000, 5))
    later = [env.step(row)[4] for row in actions]  # long enough for tables to be renewed
    at_once = [dict(other.step(row)[4]) for row in actions]
    for one, two in zip(later, at_once, strict=True):
        np.testing.assert_array_equal(one["gt"], two["gt"])
        np.testing.assert_array_equal(one["period"], two["period"])


def test_gymnasiums_wrappers_take_it():
    env = DictInfoToList(RecordEpisodeStatistics(make_vec("PerceptualDecisionMaking-v0", 2)))
    env.reset(seed=1)
    for _ in range(300):
        infos = env.step(np.zeros(2, int))[4]
        assert {"gt", "period", "new_trial"} <= infos[0].keys()
