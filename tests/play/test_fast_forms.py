"""Small infos and ``out=True``: the same steps in faster forms."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from neurogym_core import InvalidValueError, Task, make, make_vec

pytestmark = pytest.mark.usefixtures("kernel")

SMALL = {"new_trial", "trial", "performance"}


class Plain(Task):
    timing = {"cue": 200, "go": 200}
    trials_per_session = 3

    def define(self):
        self.observe(x=2)
        self.act(rest=1, go=2)

    def new_trial(self, trial):
        trial.periods("cue", "go")
        trial.show("x", 1, during="cue", noise=1)
        trial.answer("go", 0, during="go")


class Hooked(Plain):
    def step_action(self, now, action):
        return now.elapsed / 1000, None


def plain(value):
    """A value whose arrays are copied, and compared by all of their bits."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return value


def steps(env, n, count=60):
    """The results of steps, copied one by one."""
    rng = np.random.default_rng(5)
    results = [plain(env.reset(seed=3)[0])]
    for _ in range(count):
        action = int(rng.integers(3)) if n is None else rng.integers(3, size=n)
        results.append([plain(one) for one in env.step(action)])
    return results


def made(task, n, **settings):
    return make(task, **settings) if n is None else make_vec(task, n, **settings)


@pytest.mark.parametrize("task", [Plain, Hooked])
@pytest.mark.parametrize("n", [None, 1, 5, 300])
def test_small_infos_are_full_ones_without_target_and_period(task, n):
    full, small = (steps(made(task(), n, **form), n) for form in ({"info": "full"}, {}))
    assert full[0] == small[0]
    names = SMALL | {f"_{name}" for name in SMALL}
    for whole, part in zip(full[1:], small[1:], strict=True):
        assert whole[:4] == part[:4]
        assert whole[4].keys() > part[4].keys() >= {"new_trial"}
        assert part[4] == {name: value for name, value in whole[4].items() if name in names}
    assert any("trial" in step[4] for step in small[1:])


@pytest.mark.parametrize("n", [None, 4])
def test_a_reset_has_no_small_infos(n):
    assert made(Plain(), n).reset(seed=1)[1] == {}


@pytest.mark.parametrize("info", ["small", "full", "numeric"])
@pytest.mark.parametrize("task", [Plain, Hooked])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_steps_in_buffers_are_those_in_new_arrays(task, mode, info):
    for n in (1, 4, 300):
        new, own = (
            steps(make_vec(task(), n, autoreset_mode=mode, info=info, out=out), n)
            for out in (False, True)
        )
        for one, other in zip(new[1:], own[1:], strict=True):
            one[4].pop("final_obs", None), other[4].pop("final_obs", None)  # arrays of objects
            assert one == other


def test_the_next_step_overwrites_buffers_and_no_new_arrays():
    action = np.zeros(4, np.int64)
    for out in (False, True):
        envs = make_vec(Plain(), 4, seed=1, out=out)
        envs.reset()
        first = envs.step(action)
        kept = first[0].copy()
        second = envs.step(action)
        assert (second[0] is first[0]) == out
        assert (second[1] is first[1]) == out
        assert np.array_equal(first[0], kept) != out
        assert envs.last_reward is not second[1]


def test_what_happens_to_buffers_does_no_harm():
    """A caller can free, move or fill the arrays: the env plays on in its own memory."""
    action = np.zeros(4, np.int64)
    envs, other = (make_vec(Plain(), 4, seed=1, out=True) for _ in range(2))
    for env in (envs, other):
        env.reset(seed=1)
    for _ in range(30):
        results = envs.step(action)
        expected = [plain(one) for one in other.step(action)[:2]]
        if results[0].dtype == np.float32:
            assert [plain(one) for one in results[:2]] == expected
        for array in results[:2]:
            array[...] = 7
            with pytest.raises(ValueError, match="resize"):
                array.resize(1 << 20, refcheck=False)
    results[0].__setstate__((1, (1,), np.dtype(np.int8), False, b"x"))
    for _ in range(30):
        envs.step(action)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_have_the_same_forms(copied):
    action = np.zeros(4, np.int64)
    envs = make_vec(Plain(), 4, seed=1, out=True)
    envs.reset()
    again = copied(envs)
    first = again.step(action)
    assert again.step(action)[0] is first[0]
    assert first[4].keys() == {"new_trial", "_new_trial"}
    assert first[0] is not envs.step(action)[0]


def test_figures_and_buffers_exclude_each_other():
    with pytest.raises(InvalidValueError, match=r"out=True .* render_mode.* Leave one out"):
        make_vec(Plain(), 2, out=True, render_mode="rgb_array")
