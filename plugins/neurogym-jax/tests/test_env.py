"""Envs on the device: the same trials as the core's, gymnax's interface, draws, decks."""

from __future__ import annotations

from collections import Counter

import gymnasium
import jax
import jax.numpy as jnp
import neurogym_jax
import numpy as np
import pytest
from neurogym_jax.continuous import traceable

from neurogym_core import (
    InvalidValueError,
    InverseSquare,
    NotSupportedError,
    PowerLaw,
    make,
    make_task,
    run,
)
from neurogym_core.players import resolve
from neurogym_core.tools import installed

STEPS = 800
ROUNDING = 1e-5
"""Largest difference from the core's float64 rewards and separately rounded observations."""
INSTALLED = sorted(offer.id for offer in installed().tasks)


def played_by_core(task, seed, steps):
    """Play stretches of random actions and of the oracle's, with some rest; return all."""
    rng, env, choices = np.random.default_rng(seed), make(task, info="full"), []
    observation, _ = env.reset(seed=seed)
    rows, observations, follows = [], [observation], False
    for step in range(steps):
        if step % 50 == 0:
            follows = rng.random() < 0.6
        action = env.unwrapped.target
        if not follows:
            action = random_action(env, rng)
        observation, reward, terminated, truncated, info = env.step(action)
        outcome, choice = "none", None
        if info["new_trial"]:
            trial = info["trial"]
            names = [name for name in trial if name == "choice" or name.endswith(".choice")]
            outcome, choice = trial["outcome"], trial[names[0]] if names else None
        rows.append((action, reward, terminated or truncated, info["gt"], info["new_trial"],
                     info.get("performance", 0.0), info["period"], outcome))  # fmt: skip
        choices.append(choice)
        observations.append(observation)
    names = ("action", "reward", "done", "gt", "new_trial", "performance", "period", "outcome")
    columns = dict(zip(names, map(np.array, zip(*rows, strict=True)), strict=True))
    return {**columns, "observation": np.array(observations), "choice": choices}


def random_action(env, rng):
    """Draw an action; every other time the one of rest."""
    actions, rests = env.unwrapped.task.actions, rng.random() < 0.5
    if not actions.continuous:
        return 0 if rests else int(rng.integers(env.action_space.n))
    if rests:
        return actions.from_task_units(actions.rest_value)
    return rng.uniform(-1, 1, actions.size).astype(np.float32)


def named_choices(task):
    """Return the names of the choices of the first slot, in their order."""
    named = run(task, "rest", 1, seed=0).meta["names"]
    slots = (name for name in named if name == "choice" or name.endswith(".choice"))
    return next((named[name] for name in slots), ())


def assert_same_trials(task, seed, steps=STEPS):
    core = played_by_core(task, seed, steps)
    env = neurogym_jax.TaskEnv(task, trials=16)
    params = next(env.decks(seed, int(core["new_trial"].sum()) + 2))
    first, state = env.reset(neurogym_jax.key(seed), params)

    def step(state, action):
        observation, state, reward, done, info = env.step(None, state, action, params)
        return state, {"observation": observation, "reward": reward, "done": done, **info}

    device = jax.jit(lambda state, actions: jax.lax.scan(step, state, actions))(
        state, jnp.asarray(core["action"])
    )[1]
    device = {name: np.asarray(values) for name, values in device.items()}
    observations = np.concatenate([np.asarray(first)[None], device["observation"]])
    for name in ("new_trial", "done"):
        assert (device[name] == core[name]).all(), name
    if not task.actions.continuous:
        assert (device["gt"] == core["gt"]).all()
    names = np.array(env.period_names)
    assert (names[device["period"]] == core["period"]).all()
    outcomes = np.array(["none", "correct", "error", "abort", "miss", "other"])
    assert set(core["outcome"]) <= set(outcomes)
    assert (outcomes[device["outcome"]] == core["outcome"]).all()
    device["observation"] = observations
    for name in ("observation", "reward", "performance", "gt"):
        given = device[name]
        np.testing.assert_allclose(given, core[name], atol=ROUNDING, rtol=1e-6, err_msg=name)
    order = named_choices(task)
    for given, expected in zip(device["choice"], core["choice"], strict=True):
        if isinstance(expected, str):  # the device has indices, and -1 for no answer
            assert given == (order.index(expected) if expected in order else -1), expected
            assert expected in (*order, "none")
        elif expected is not None:
            np.testing.assert_allclose(given, expected, atol=ROUNDING, rtol=1e-5)


@pytest.mark.parametrize(
    "name",
    [
        "Sides",
        "Jittered",
        "Pulses",
        "Alternating",
        "Pointing",
        "Timed",
        "Tracked",
        "Traced",
        "Waiting",
    ],
)
def test_the_trials_of_a_seed_are_those_of_the_core(tasks, name):
    assert_same_trials(make_task(getattr(tasks, name)), seed=3, steps=400)


@pytest.mark.slow
@pytest.mark.parametrize("name", INSTALLED)
def test_every_installed_task_plays_as_in_the_core_or_is_refused(name):
    found = resolve(name)
    if isinstance(found, type) and issubclass(found, gymnasium.Env):
        pytest.skip("it is a class of envs, not a table")
    task = make_task(found)
    if neurogym_jax.why_not(task) is not None:
        with pytest.raises(NotSupportedError, match="Play it with"):
            neurogym_jax.make(task)
        return
    assert_same_trials(task, seed=5)


def test_the_reasons_for_refusing_installed_tasks():
    counted = Counter()
    for name in INSTALLED:
        found = resolve(name)
        if isinstance(found, type) and issubclass(found, gymnasium.Env):
            continue
        reason = neurogym_jax.why_not(make_task(found))
        counted[reason and reason.split(" (")[0]] += 1
    assert counted.pop(None) >= 86
    assert counted == {
        "it computes its steps in Python hooks": 11,
        "its draws read the outcomes of earlier trials": 9,
    }


# ---------------------------------------------------------------------- draws and decks


def trials_of(env, params, keys, steps):
    """Rest for some steps in envs with these keys; return the infos, (steps, N)."""

    def step(state, _):
        play = jax.vmap(env.step, (None, 0, None, None))
        observation, state, _, done, info = play(None, state, 0, params)
        return state, {**info, "done": done, "type": state.type, "observation": observation}

    state = jax.vmap(env.reset, (0, None))(keys, params)[1]
    return jax.lax.scan(step, state, None, steps)[1]


def test_types_are_drawn_with_their_probabilities(tasks):
    env, params = neurogym_jax.make(tasks.Sides)
    assert env.exact
    kinds = env.default_params.alias.shape[0]
    assert kinds == 4
    info = trials_of(env, params, jax.random.split(jax.random.key(1), 200), 9 * 50)
    drawn = np.asarray(info["type"])[np.asarray(info["new_trial"])]
    assert len(drawn) == 10_000
    # Sorted, since the order of types is not part of the interface. 5 SEs: 1 in a million.
    share = np.sort(np.bincount(drawn, minlength=kinds) / len(drawn))
    expected = np.array([0.125, 0.125, 0.375, 0.375])
    assert (np.abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / len(drawn))).all()


def test_sessions_end_in_time_and_go_on(tasks):
    env, params = neurogym_jax.make(tasks.Sides)
    info = trials_of(env, params, jax.random.split(jax.random.key(2), 3), 9 * 4 * 3)
    ends = np.flatnonzero(np.asarray(info["done"])[:, 0]) + 1
    assert ends.tolist() == [36, 72, 108]
    assert np.asarray(info["new_trial"]).sum() == 3 * 12


def test_keys_give_different_noise_and_equal_keys_the_same(tasks):
    env, params = neurogym_jax.make(tasks.Sides)
    one, two, typed = jax.random.PRNGKey(1), jax.random.PRNGKey(2), jax.random.key(1)
    info = trials_of(env, params, jnp.stack([one, two, jax.random.key_data(typed)]), 9)
    sides = np.asarray(info["observation"])[..., 1:]
    assert (sides[:, 0] == sides[:, 2]).all()
    # In the 5 steps of the stimulus, since the noise of other periods is 0.
    assert (sides[:, 0] != sides[:, 1]).any(axis=1).sum() == 5
    typed_first = env.reset(typed, params)[0]
    assert (typed_first == env.reset(one, params)[0]).all()


def test_envs_begin_a_deck_of_sessions_at_the_beginning_of_a_session(tasks):
    env, params = neurogym_jax.make(tasks.Alternating, trials=50)
    assert not env.exact
    assert params.deck.shape == (52,)
    keys = jax.random.split(jax.random.key(0), 100)
    serial = np.asarray(jax.vmap(env.reset, (0, None))(keys, params)[1].serial)
    assert (serial % 4 == 0).all()
    assert len(np.unique(serial)) > 8


def test_the_next_deck_needs_no_compilation_and_goes_on_with_the_seed(tasks):
    env = neurogym_jax.TaskEnv(tasks.Jittered)
    decks = env.decks(7, 100)
    compiled = []

    @jax.jit
    def first(key, params):
        compiled.append(params)
        return env.reset(key, params)

    serials = []
    for _ in range(4):
        params = next(decks)
        serials.append(int(params.first))
        first(jax.random.PRNGKey(0), params)
    assert serials == [0, 100, 200, 300]
    assert len(compiled) == 1
    whole = next(env.decks(7, 400))
    lengths = np.asarray(whole.path).sum(axis=1)[np.asarray(whole.deck)]
    last = np.asarray(params.path).sum(axis=1)[np.asarray(params.deck)]
    assert (lengths[300:] == last).all()


def test_spaces_and_defaults_are_those_of_gymnax(tasks):
    env, params = neurogym_jax.make(tasks.Sides)
    assert env.num_actions == env.action_space(params).n == 3
    assert env.observation_space(params).shape == (3,)
    assert env.default_params is params
    assert env.name == "Sides"
    key = jax.random.key(0)
    assert env.action_space().contains(env.action_space().sample(key))
    observation, state = env.reset(key)
    observation, state, reward, done, info = env.step(key, state, 0)
    assert observation.dtype == reward.dtype == jnp.float32
    assert done.shape == ()
    assert info["discount"] == 1
    assert params.max_steps_in_episode >= 4 * 9


def test_the_same_actions_trigger_as_in_the_core(tasks):
    task = make_task(tasks.Timed)
    rules = neurogym_jax.TaskEnv(task).continuous
    at = np.float32(rules._threshold)
    below = np.nextafter(at, np.float32(-1))
    assert task.actions.to_task_units(at)[0] > task.actions.trigger[1]
    assert not task.actions.to_task_units(below)[0] > task.actions.trigger[1]
    assert rules.column(jnp.array([at])) == 1
    assert rules.column(jnp.array([below])) == 0


def test_graded_rewards_are_compiled_or_called_on_the_host():
    def needs_numpy(distance, tolerance):
        return np.where(np.asarray(distance) < 1, 2.0, np.asarray(tolerance))

    distance, tolerance = jnp.array([0.5, 1.5]), jnp.array([7.0, 7.0])
    for pays in (InverseSquare(most=3), PowerLaw(exponent=2), needs_numpy):
        paid = jax.jit(jax.vmap(traceable(pays)))(distance, tolerance)
        expected = pays(np.asarray(distance), np.asarray(tolerance))
        np.testing.assert_allclose(paid, expected, rtol=1e-6)


def test_continuous_actions_are_a_box_and_are_clipped(tasks):
    env, params = neurogym_jax.make(tasks.Pointing)
    space = env.action_space(params)
    assert space.shape == (env.num_actions,) == (3,)
    assert float(space.low) == -1
    assert float(space.high) == 1
    state = env.reset(neurogym_jax.key(0), params)[1]
    for _ in range(8):  # the stimulus and the beginning of the decision
        state = env.step(None, state, jnp.array([-1.0, 0, 0]), params)[1]
    given = jnp.array([0.9, 0.3, 0.4])
    over = env.step(None, state, given.at[0].set(7.0), params)
    assert jax.tree.all(
        jax.tree.map(lambda a, b: (a == b).all(), over, env.step(None, state, given, params))
    )


def test_it_says_why_a_task_is_refused(tasks):
    with pytest.raises(NotSupportedError, match=r"Python hooks \(step_target\)"):
        neurogym_jax.make(tasks.Cursor)
    with pytest.raises(InvalidValueError, match="trials=0"):
        neurogym_jax.TaskEnv(tasks.Jittered, trials=0)
