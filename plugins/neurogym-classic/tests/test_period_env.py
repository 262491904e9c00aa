"""`PeriodEnv`: a task in NeuroGym's form, step by step, and its new features."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from neurogym_classic import PeriodEnv, TrialEnv, TruncExp, spaces

from neurogym_core import (
    InvalidValueError,
    NotSupportedError,
    TaskDefinitionError,
    TrialLayoutError,
    UnknownNameError,
    make,
)

FILES = [
    ("as_the_readme", "YourTask"),
    ("as_neurogym", "DelayedDots"),
    ("as_neurogym", "Blocks"),
    ("as_neurogym", "Withhold"),
    ("as_neurogym", "Cursor"),
    ("as_neurogym", "Arms"),
]


def play(env, steps=200, seed=7):
    """Return the observations, rewards and infos of a random subject."""
    rng = np.random.default_rng(0)
    space = env.action_space
    seen = [env.reset(seed=seed)[0].tolist()]
    for _ in range(steps):
        box = isinstance(space, gymnasium.spaces.Box)
        action = (
            rng.uniform(-1, 1, space.shape).astype(np.float32)
            if box
            else int(rng.integers(space.n))
        )
        obs, reward, terminated, truncated, info = env.step(action)
        seen.append((obs.tolist(), reward, terminated, truncated, repr(info)))
        if terminated or truncated:
            seen.append(env.reset()[0].tolist())
    return seen


# ---- any task file ----


@pytest.mark.filterwarnings("ignore:.*A Box observation space m.*infinity:UserWarning")
@pytest.mark.filterwarnings("ignore:.*support for the `seed` function is dropped:UserWarning")
@pytest.mark.filterwarnings("error")  # pytest applies the last mark first
@pytest.mark.parametrize(("file", "name"), FILES)
def test_gymnasiums_checker_passes(load, file, name):
    check_env(load(file, name)(), skip_render_check=True)


@pytest.mark.parametrize(("file", "name"), FILES)
def test_observations_and_rewards_have_gymnasiums_types(ref, file, name):
    env = make(ref(file, name))
    env.action_space.seed(0)
    obs, _ = env.reset(seed=0)
    for _ in range(300):
        assert obs.dtype == np.float32
        assert obs in env.observation_space
        obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert [type(value) for value in (reward, terminated, truncated)] == [float, bool, bool]
        assert {"gt", "period", "new_trial"} <= set(info)
        assert ("trial" in info) == ("performance" in info) == info["new_trial"]
        if terminated or truncated:
            obs, _ = env.reset()


@pytest.mark.parametrize(("file", "name"), FILES)
def test_a_seed_fixes_everything_that_follows(load, file, name):
    env = load(file, name)()
    first = play(env)
    assert play(env) == first  # the same env again, after its task has changed
    assert play(load(file, name)()) == first
    assert play(env, seed=8) != first or name == "Withhold"  # it draws nothing


@pytest.mark.parametrize(("file", "name"), FILES)
def test_copies_and_pickles_are_independent(ref, file, name):
    env = make(ref(file, name))
    play(env, steps=33)
    clones = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    action = env.action_space.sample()
    expected = [repr(env.step(action)) for _ in range(30)]
    for clone in clones:
        assert [repr(clone.step(action)) for _ in range(30)] == expected


def test_another_process_plays_the_same(ref):
    reference = ref("as_neurogym", "Blocks")
    code = (
        f"import neurogym_core; env = neurogym_core.make({reference!r}); env.reset(seed=5)\n"
        "print(sum(float(env.step(k % 3)[0].sum()) for k in range(90)))"
    )
    env = make(reference)
    env.reset(seed=5)
    here = sum(float(env.step(k % 3)[0].sum()) for k in range(90))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) == here


# ---- the clock ----


def test_an_action_is_scored_on_the_step_of_its_observation(ref):
    env = make(ref("as_the_readme", "YourTask"))
    obs, info = env.reset(seed=0, options={"conditions": {"side": 2}})
    assert obs.tolist() == [
        1,
        0,
        0,
    ]  # no hidden step: the first observation belongs to the first step
    assert info == {"period": "fixation"}
    rewards, periods = [], []
    for step in range(10):
        assert (obs[0] == 1) == (step < 3)
        obs, reward, _, _, info = env.step(2)
        rewards.append(reward)
        periods.append(info["period"])
        if info["new_trial"]:
            break
    assert rewards == [-0.1] * 3 + [0] * 5 + [1]
    assert periods == ["fixation"] * 3 + ["stimulus"] * 5 + ["decision"]
    assert info["gt"] == 2
    assert info["trial"] == {
        "side": 2,
        "trial": 0,
        "env": 0,
        "session": 0,
        "performance": 1.0,
        "reward": pytest.approx(0.7),
        "steps": 9,
        "duration.fixation": 300.0,
        "duration.stimulus": 500.0,
        "duration.decision": 200.0,
    }
    assert obs.tolist() == [1, 0, 0]  # of the next trial


def test_time_runs_out_after_the_last_step_and_pays_r_tmax(ref):
    env = make(ref("as_neurogym", "Withhold"))
    env.reset(seed=0)
    steps = [env.step(0) for _ in range(6)]
    assert [step[1] for step in steps] == [0, 0, 0.5] * 2
    assert [step[4]["new_trial"] for step in steps] == [False, False, True] * 2


def test_performance_set_by_new_trial_is_kept(ref):
    env = make(ref("as_neurogym", "Withhold"))
    env.reset(seed=0)
    assert [env.step(action)[4].get("performance") for action in (0, 0, 0, 0, 1, 0)][2::3] == [
        1.0,
        0.0,
    ]


def test_observations_can_depend_on_actions(ref):
    env = make(ref("as_neurogym", "Cursor"))
    env.reset(seed=0)
    assert env.step(np.array([0.5], np.float32))[0][1] == 0.5
    obs, reward, *_ = env.step(np.array([0.25], np.float32))
    assert obs[1] == 0.75
    assert reward == pytest.approx(-abs(obs[0] - 0.75))


def test_a_task_without_a_table_shows_the_observations_of_step(ref):
    env = make(ref("as_neurogym", "Arms"))
    assert env.reset(seed=0)[0] == 0
    assert [env.step(0)[0][0] for _ in range(3)] == [0.5] * 3


# ---- sessions ----


def test_sessions_end_after_so_many_trials(ref):
    env = make(ref("as_neurogym", "Withhold"), trials_per_session=2)
    env.reset(seed=0)
    truncated, records = [], []
    for _ in range(12):
        *_, over, info = env.step(0)
        truncated.append(over)
        if over:
            env.reset()
        if info["new_trial"]:
            records.append((info["trial"]["trial"], info["trial"]["session"]))
    assert np.flatnonzero(truncated).tolist() == [5, 11]
    assert records == [(0, 0), (1, 0), (2, 1), (3, 1)]


def test_one_trial_per_session_terminates(ref):
    env = make(ref("as_neurogym", "Withhold"), trials_per_session=1)
    env.reset(seed=0)
    assert [env.step(0)[2:4] for _ in range(3)] == [(False, False)] * 2 + [(True, False)]


def test_sessions_of_none_trials_do_not_end(ref):
    env = make(ref("as_neurogym", "Withhold"), trials_per_session=None)
    env.reset(seed=0)
    assert not any(env.step(0)[3] for _ in range(400))


def test_reset_continues_with_the_next_trial(load):
    env = load("as_neurogym", "Blocks")()
    env.reset(seed=0)
    trial = env.trial
    assert env.reset()[1] == {"period": "fixation"}
    assert env.trial is trial  # the trial has not begun yet
    env.step(0)
    env.reset()
    assert env.trial is not trial


def test_conditions_are_imposed_until_the_next_seed(load):
    env = load("as_neurogym", "DelayedDots")()
    env.reset(seed=0, options={"conditions": {"coh": 99.0}})
    seen = {env.trial["coh"]}
    for _ in range(60):
        env.step(0)
        seen.add(env.trial["coh"])
    assert seen == {99.0}
    env.reset(seed=0)
    assert env.trial["coh"] in (6.4, 51.2)
    with pytest.raises(UnknownNameError, match="'condition'"):
        env.reset(options={"condition": {}})
    with pytest.raises(InvalidValueError, match="by name"):
        env.reset(options={"conditions": 3})


# ---- seeds and state ----


def test_a_seed_restores_attributes_that_the_task_changed(load):
    env = load("as_neurogym", "Blocks")()
    env.reset(seed=0)
    for _ in range(200):
        env.step(0)
    assert (env.rule, env.counts) != (0, [1, 0])
    env.reset(seed=1)
    assert (env.rule, env.left, env.counts) == (0, 2, [1, 0])


def test_attributes_set_from_outside_stay(load):
    env = load("as_neurogym", "Blocks")()
    env.reset(seed=0)
    env.left = 100
    env.timing["fixation"] = 500
    env.counts = [10, 10]
    for _ in range(50):
        env.step(0)
    env.reset(seed=0)
    assert (env.left, env.timing["fixation"], env.counts) == (99, 500, [11, 10])


# ---- building trials ----


class Bench(TrialEnv):
    """A task whose trials are built by a function."""

    def __init__(self, build_trials, dt=100, timing=None):
        super().__init__(dt=dt)
        self.build_trials = build_trials
        self.timing = timing or {}
        names = {"a": 0, "b": range(1, 3)}
        self.observation_space = spaces.Box(
            -np.inf, np.inf, shape=(3,), dtype=np.float32, name=names
        )
        self.action_space = spaces.Discrete(4, name={"rest": 0, "go": [1, 3]})

    def new_trial(self, **kwargs):
        self.build_trials(self)

    def _step(self, action):
        return self.ob_now, 0, False, False, {"new_trial": False}


def built(build_trials, **settings):
    env = Bench(build_trials, **settings)
    env.reset(seed=0)
    return env


def test_periods_follow_each_other_or_the_given_ones():
    def build_trials(env):
        env.add_period(["a", "b"], [200, 300])
        env.add_period("c", 100, after="a")
        env.add_period("d", 150, after=400)
        env.add_period("e", 100, before="b")
        env.add_period("f", 100, before=500)

    env = built(build_trials)
    assert env.start_t == {"a": 0, "b": 200, "c": 200, "d": 400, "e": 100, "f": 400}
    assert env.end_t == {"a": 200, "b": 500, "c": 300, "d": 550, "e": 200, "f": 500}
    assert env.tmax == 550
    assert (env.start_ind["d"], env.end_ind["d"]) == (4, 5)
    assert env.ob.shape == (5, 3)
    assert [env.in_period("c", t) for t in (100, 200, 299, 300)] == [False, True, True, False]
    assert env.period == "a"


@pytest.mark.parametrize(
    ("spec", "possible"),
    [
        (250, {200}),
        (np.float64(300), {300}),
        ([100, 350], {100, 300}),
        ((200, 400, 600), {200, 400, 600}),
        (("constant", 250), {200}),
        (("choice", [100, 200]), {100, 200}),
        (("uniform", (100, 300)), {100, 200}),
        (("truncated_exponential", [200, 100, 400]), {100, 200, 300}),
        (TruncExp(200, 100, 400), {100, 200, 300}),
        (lambda: 450, {400}),
        (("until", 700), {600}),
        ({"uniform": [100, 300]}, {100, 200}),
    ],
)
def test_durations_are_drawn_from_their_spec_and_rounded_down(spec, possible):
    def build_trials(env):
        env.add_period("first", 100)
        env.add_period("x")

    env = built(build_trials, timing={"x": spec})
    seen = set()
    for _ in range(100):
        env.new_trial()
        seen.add(env.end_t["x"] - env.start_t["x"])
    assert seen == possible  # the rarest has probability 0.17 in a trial: missed in 100 with 1e-8


def test_truncated_exponentials_have_their_distribution():
    rng = np.random.default_rng(0)
    spec = TruncExp(300, 200, 1000)
    drawn = np.sort([spec(rng) for _ in range(20_000)])
    assert drawn[0] >= 200
    assert drawn[-1] < 1000
    cdf = -np.expm1(-(drawn - 200) / 300) / -np.expm1(-800 / 300)
    distance = np.abs(cdf - np.arange(1, 20_001) / 20_000).max()
    assert distance < 0.0173  # Kolmogorov-Smirnov: exceeded by chance with probability 1e-5
    assert TruncExp(100)(rng) >= 0


def test_truncated_exponentials_draw_from_the_env():
    def build_trials(env):
        env.add_period("x", env.delay())

    env = Bench(build_trials)
    env.delay = TruncExp(500, 100, 5000)
    durations = []
    for seed in (1, 1, 2):
        env.reset(seed=seed)
        durations.append(env.tmax)
    assert durations[0] == durations[1] != durations[2]
    with pytest.raises(NotSupportedError, match="without a generator"):
        env.delay()
    with pytest.raises(InvalidValueError, match="TruncExp"):
        TruncExp(0)


def test_observations_are_added_set_and_seen():
    def build_trials(env):
        env.add_period(["x", "y"], [200, 200])
        env.add_ob(1, "x", where="a")
        env.add_ob([2, 3], ["x", "y"], where="b")
        env.add_ob(np.array([10, 20]), "y", where="a")
        env.set_ob(7, "y", where=2)
        env.view_ob("x")[1] += 100

    env = built(build_trials)
    assert env.ob.tolist() == [[1, 2, 3], [101, 102, 103], [10, 2, 7], [20, 2, 7]]
    assert env.ob.dtype == np.float32


def test_functions_of_observations_can_be_added():
    env = built(
        lambda env: (
            env.add_period("x", 200),
            env.set_ob(2),
            env.add_ob(lambda shown: shown * 2, "x"),
        )
    )
    assert env.ob.tolist() == [[6, 6, 6]] * 2


def test_noise_is_independent_over_steps_and_entries():
    env = built(lambda env: (env.add_period("x", 200_000), env.add_randn(1, 0.5, "x", where="b")))
    noise = env.ob[:, 1:]
    assert (env.ob[:, 0] == 0).all()
    assert abs(noise.mean() - 1) < 5 * 0.5 / np.sqrt(4000)
    assert abs(noise.std() - 0.5) < 5 * 0.5 / np.sqrt(8000)
    assert abs(np.corrcoef(noise.T)[0, 1]) < 5 / np.sqrt(2000)


@pytest.mark.parametrize(
    ("value", "where", "expected"),
    [
        (2, None, 2),
        (1, "go", 3),
        (np.array([0, 1]), "go", [1, 3]),
        ("rest", None, 0),
        (5, "rest", 0),
    ],
)
def test_targets_by_number_or_name(value, where, expected):
    env = built(
        lambda env: (
            env.add_period(["x", "y"], [100, 200]),
            env.set_groundtruth(value, "y", where=where),
        )
    )
    assert env.gt[0] == 0
    np.testing.assert_array_equal(env.gt[1:], np.broadcast_to(expected, 2))
    assert env.gt.dtype == np.int64


def test_without_periods_a_trial_is_ten_seconds():
    env = built(lambda env: None)
    assert (env.tmax, len(env.ob), env.period) == (10_000, 100, "trial")


def test_periods_can_be_added_after_observations():
    env = built(
        lambda env: (
            env.add_period("x", 100),
            env.set_ob(1, "x"),
            env.add_period("y", 100),
            env.set_ob(2, "y"),
        )
    )
    assert env.ob[:, 0].tolist() == [1, 2]


def test_super_new_trial_is_one_trial():
    class Twice(Bench):
        def new_trial(self, **kwargs):
            super().new_trial(**kwargs)
            self.add_period("more", 100)
            return {"more": True}

    env = Twice(lambda env: env.add_period("x", 100))
    env.reset(seed=0)
    assert (env.num_tr, env.tmax, env.trial) == (1, 200, {"more": True})


def test_a_task_works_without_super_init():
    class Forgot(PeriodEnv):
        def __init__(self):
            self.observation_space = spaces.Box(0, 1, shape=(1,))
            self.action_space = spaces.Discrete(2)

        def new_trial(self, **kwargs):
            self.add_period("x", 300)

        def _step(self, action):
            return self.ob_now, 0, False, False, {}

    env = Forgot()
    env.reset(seed=0)
    assert [env.step(0)[4]["new_trial"] for _ in range(3)] == [False, False, True]


def test_older_random_calls_work_and_repeat():
    env = Bench(lambda env: None)
    env.reset(seed=0)
    first = (
        env.rng.rand(),
        env.rng.rand(2).tolist(),
        env.rng.randn(),
        env.rng.randint(3),
        env.rng.random_sample(),
    )
    assert env.rng.randint(2, 4, 100).max() == 3
    env.reset(seed=0)
    assert first == (
        env.rng.rand(),
        env.rng.rand(2).tolist(),
        env.rng.randn(),
        env.rng.randint(3),
        env.rng.random_sample(),
    )


def test_named_spaces_are_gymnasiums():
    space = spaces.Discrete(3, name={"rest": 0})
    assert isinstance(space, gymnasium.spaces.Discrete)
    assert pickle.loads(pickle.dumps(space)).name == {"rest": 0}
    assert spaces.Box(0, 1, shape=(2,), name={"x": [0, 1]}).name == {"x": [0, 1]}
    assert spaces.MultiDiscrete is gymnasium.spaces.MultiDiscrete
    with pytest.raises(InvalidValueError, match="from 0 to 2"):
        spaces.Discrete(3, name={"go": [1, 3]})


# ---- mistakes ----


@pytest.mark.parametrize(
    ("build_trials", "error", "says"),
    [
        (lambda env: env.add_period("stimulos"), UnknownNameError, "Did you mean 'stimulus'"),
        (lambda env: env.add_period("x", -100), TrialLayoutError, "0 or"),
        (lambda env: env.add_period("x", 100, before=50), TrialLayoutError, "begin at -50 ms"),
        (lambda env: env.add_period(["x", "y"], [1]), TrialLayoutError, "1 durations for 2"),
        (lambda env: env.add_period("x", 100, after="y"), UnknownNameError, "'y'"),
        (lambda env: env.add_ob(1, "y"), UnknownNameError, "'y'"),
        (lambda env: env.add_ob(1, where="c"), UnknownNameError, "'c'.*Known: 'a', 'b'"),
        (lambda env: env.add_ob([1, 2], where="a"), TrialLayoutError, r"shape \(2,\)"),
        (lambda env: env.set_groundtruth(4), TrialLayoutError, "from 0 to 3"),
        (lambda env: env.set_groundtruth([1, 2]), TrialLayoutError, "one per step"),
        (lambda env: env.set_groundtruth(4.0), TrialLayoutError, "4.0.*from 0 to 3"),
        (lambda env: env.set_groundtruth(np.nan), TrialLayoutError, "nan.*from 0 to 3"),
        (lambda env: env.in_period("y"), UnknownNameError, "'y'"),
    ],
)
def test_mistakes_in_trials_are_reported(build_trials, error, says):
    with pytest.raises(error, match=says):
        built(build_trials, timing={"stimulus": 100})


def test_mistakes_in_the_task_are_reported():
    with pytest.raises(InvalidValueError, match="dt=0"):
        Bench(None, dt=0)
    env = built(lambda env: env.add_period("x", 300))
    for action in (4, -1, 1.5, "go", [0, 1]):
        with pytest.raises(InvalidValueError, match="Bench was given the action"):
            env.step(action)
    env._step = lambda action: (env.ob_now, 0, False, {})
    with pytest.raises(TaskDefinitionError, match=r"returned 4 values.*older tasks"):
        env.step(0)
    env._step = lambda action: (np.zeros(5), 0, False, False, {})
    with pytest.raises(TaskDefinitionError, match=r"shape \(5,\)"):
        env.step(0)
    with pytest.raises(TaskDefinitionError, match="has no new_trial"):
        PeriodEnv().reset()
    with pytest.raises(TrialLayoutError, match="returned int"):
        type("Odd", (Bench,), {"new_trial": lambda self, **kwargs: 3})(None).reset()


def test_a_period_that_is_too_short_for_a_step_warns_once():
    env = Bench(lambda env: env.add_period(["a", "set"]), timing={"a": 200, "set": 50}, dt=80)
    with pytest.warns(
        UserWarning, match=r"'set' of Bench lasts 50 ms, too short for a step of dt=80 ms"
    ):
        env.reset(seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.reset(seed=1)
