"""Recurrent PPO, all of it on the device: a GRU, Adam, and rollouts, as pure functions of arrays.

Schulman et al. (2017), arXiv:1707.06347; the whole loop in one program as in PureJaxRL (Lu et al.
2022). Gradients pass through the rollout in time; its first state is that of the rollout before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from neurogym_jax.env import State, TaskEnv
from neurogym_jax.params import Params

Weights = dict[str, jax.Array]


@dataclass(frozen=True)
class Settings:
    """Settings of the training; all are static.

    Attributes:
        envs: number of parallel envs.
        n_steps: steps per env between two updates.
        n_epochs: passes over each rollout.
        minibatches: parts of the envs, each a gradient step.
        hidden: units of the GRU.
        learning_rate, gamma, gae_lambda, ent_coef, vf_coef, clip: as in Stable-Baselines3.
        max_norm: largest norm of a gradient.
    """

    envs: int = 64
    n_steps: int = 64
    n_epochs: int = 4
    minibatches: int = 4
    hidden: int = 64
    learning_rate: float = 2e-3
    gamma: float = 0.99
    gae_lambda: float = 0.95
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    clip: float = 0.2
    max_norm: float = 0.5


class Learner(NamedTuple):
    """State of a training.

    Attributes:
        weights: of the network.
        mean, square: moments of Adam.
        count: number of gradient steps.
        state, observation, hidden, key: of the envs, the network and the draws.
    """

    weights: Weights
    mean: Weights
    square: Weights
    count: jax.Array
    state: State
    observation: jax.Array
    hidden: jax.Array
    key: jax.Array


class Rollout(NamedTuple):
    """Steps of all envs, (T, N, …) each."""

    observation: jax.Array
    action: jax.Array
    reward: jax.Array
    done: jax.Array
    value: jax.Array
    chance: jax.Array
    performance: jax.Array
    ended: jax.Array


# ---------------------------------------------------------------------- the network


def first_weights(
    rng: np.random.Generator, n_inputs: int, hidden: int, n_actions: int, continuous: bool
) -> dict[str, np.ndarray]:
    """Return random weights of the GRU and its two outputs (policy, value).

    They are drawn by NumPy, since the compilation of such a program takes longer than a training.
    The policy of continuous actions is a normal distribution; `spread` is the logarithm of its SD.
    """
    # Orthogonal matrices (Q of normal ones), uniformly distributed: the signs are those of R.
    q, r = np.linalg.qr(rng.standard_normal((3, hidden, hidden)))
    square = q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None]
    weights = {
        "input": rng.standard_normal((n_inputs, 3 * hidden)) / np.sqrt(n_inputs),
        "recurrent": np.concatenate(square, axis=1),
        "bias": np.zeros(3 * hidden),
        "policy": rng.standard_normal((hidden, n_actions)) * 0.01,
        "policy_bias": np.zeros(n_actions),
        "value": rng.standard_normal((hidden, 1)) / np.sqrt(hidden),
        "value_bias": np.zeros(1),
    }
    if continuous:
        weights["spread"] = np.full(n_actions, np.log(0.5))
    return {name: values.astype(np.float32) for name, values in weights.items()}


def _gru(weights: Weights, hidden: Any, driven: Any, xp: Any = jnp) -> Any:
    """Return the next state (N, H) of the GRU; `driven` is the weighted input, (N, 3 H)."""
    size = hidden.shape[-1]
    recurrent = hidden @ weights["recurrent"]
    # A logistic function, which NumPy lacks.
    gates = 0.5 + 0.5 * xp.tanh(0.5 * (driven[..., : 2 * size] + recurrent[..., : 2 * size]))
    reset, update = gates[..., :size], gates[..., size:]
    new = xp.tanh(driven[..., 2 * size :] + reset * recurrent[..., 2 * size :])
    return update * hidden + (1 - update) * new


def _outputs(weights: Weights, hidden: jax.Array) -> tuple[jax.Array, jax.Array]:
    logits = hidden @ weights["policy"] + weights["policy_bias"]
    value = hidden @ weights["value"] + weights["value_bias"]
    return logits, value[..., 0]


def network_step(
    weights: Any, hidden: Any, observation: Any, xp: Any = jnp
) -> tuple[Any, Any, Any]:
    """Return the next state of the network, logits (N, A) and value (N,).

    Args:
        weights: of the network.
        hidden: (N, H) its state.
        observation: (N, U).
        xp: the library of the arrays, `jax.numpy` or `numpy`.
    """
    hidden = _gru(weights, hidden, observation @ weights["input"] + weights["bias"], xp)
    return hidden, *_outputs(weights, hidden)


# ---------------------------------------------------------------------- training


def begin(
    key: jax.Array, seed: int, seeds: int, env: TaskEnv, params: Params, settings: Settings
) -> Learner:
    """Return new learners, stacked on their first axis, before the first reset of their envs.

    Args:
        key: (seeds,) keys.
        seed: seed of the weights.
        seeds: number of learners.
        env, params, settings: as in `learn`.
    """
    size = env.observation_space(params).shape[0]
    shape = (size, settings.hidden, env.num_actions, env.continuous is not None)
    each = [first_weights(np.random.default_rng([seed, k]), *shape) for k in range(seeds)]
    weights = {name: jnp.asarray(np.stack([one[name] for one in each])) for name in each[0]}
    zeros = {name: np.zeros_like(values) for name, values in weights.items()}
    count = np.zeros(seeds, np.int32)
    return Learner(weights, zeros, zeros, count, None, None, None, key)  # type: ignore[arg-type]


def restarted(learner: Learner, env: TaskEnv, params: Params, settings: Settings) -> Learner:
    """Return a learner whose envs are reset, for instance to a new deck."""
    key, for_envs = jax.random.split(learner.key)
    keys = jax.random.split(for_envs, settings.envs)
    observation, state = jax.vmap(env.reset, (0, None))(keys, params)
    hidden = jnp.zeros((settings.envs, settings.hidden))
    return learner._replace(state=state, observation=observation, hidden=hidden, key=key)


def learn(
    learner: Learner, params: Params, env: TaskEnv, settings: Settings, updates: int
) -> tuple[Learner, jax.Array]:
    """Return the learner after some updates, and (updates,) the performance of its trials."""

    def update(learner: Learner, _: Any) -> tuple[Learner, jax.Array]:
        hidden = learner.hidden
        learner, rollout = _rollout(learner, params, env, settings)
        advantage = _advantage(learner, rollout, settings)
        learner = _improve(learner, rollout, advantage, hidden, settings)
        trials = jnp.maximum(rollout.ended.sum(), 1)
        return learner, rollout.performance.sum() / trials

    return jax.lax.scan(update, learner, None, updates)


def _rollout(
    learner: Learner, params: Params, env: TaskEnv, settings: Settings
) -> tuple[Learner, Rollout]:
    weights = learner.weights
    key, for_actions = jax.random.split(learner.key)
    # Drawn at once: a generator within the loop would be most of the program.
    shape = (settings.n_steps, settings.envs, env.num_actions)
    draw = jax.random.gumbel if env.continuous is None else jax.random.normal
    play = jax.vmap(env.step, (None, 0, 0, None))

    def step(carry: Any, noise: jax.Array) -> tuple[Any, Rollout]:
        state, observation, hidden = carry
        hidden, logits, value = network_step(weights, hidden, observation)
        action = _acted(weights, logits, noise)
        chance = _chance(weights, logits, action)
        # The env draws nothing from the key of a step.
        following, state, reward, done, info = play(key, state, action, params)
        hidden = jnp.where(done[:, None], 0.0, hidden)
        made = Rollout(
            observation, action, reward, done, value, chance, info["performance"],
            info["new_trial"],
        )  # fmt: skip
        return (state, following, hidden), made

    carry = (learner.state, learner.observation, learner.hidden)
    carry, rollout = jax.lax.scan(step, carry, draw(for_actions, shape))
    state, observation, hidden = carry
    learner = learner._replace(state=state, observation=observation, hidden=hidden, key=key)
    return learner, rollout


def _acted(weights: Weights, logits: jax.Array, noise: jax.Array) -> jax.Array:
    """Return actions drawn with noise: Gumbel's for discrete ones, normal for continuous ones."""
    if "spread" in weights:
        return logits + jnp.exp(weights["spread"]) * noise
    return (logits + noise).argmax(-1)


def _chance(weights: Weights, logits: jax.Array, action: jax.Array) -> jax.Array:
    """Return the log probability of each action, for continuous ones the log density."""
    if "spread" in weights:
        away = (action - logits) * jnp.exp(-weights["spread"])
        return (-0.5 * away**2 - weights["spread"] - 0.5 * jnp.log(2 * jnp.pi)).sum(-1)
    return jnp.take_along_axis(jax.nn.log_softmax(logits), action[..., None], -1)[..., 0]


def _advantage(learner: Learner, rollout: Rollout, settings: Settings) -> jax.Array:
    """Return (T, N) the generalised advantage estimates."""
    last = network_step(learner.weights, learner.hidden, learner.observation)[2]

    def back(carry: tuple[jax.Array, jax.Array], step: Any) -> tuple[Any, jax.Array]:
        advantage, following = carry
        reward, done, value = step
        goes_on = 1.0 - done
        error = reward + settings.gamma * following * goes_on - value
        advantage = error + settings.gamma * settings.gae_lambda * goes_on * advantage
        return (advantage, value), advantage

    steps = (rollout.reward, rollout.done, rollout.value)
    return jax.lax.scan(back, (jnp.zeros_like(last), last), steps, reverse=True)[1]


def _improve(
    learner: Learner, rollout: Rollout, advantage: jax.Array, hidden: jax.Array, settings: Settings
) -> Learner:
    """Return the learner after all epochs on a rollout."""
    wanted = advantage + rollout.value
    size = settings.envs // settings.minibatches

    def gradient_step(learner: Learner, envs: jax.Array) -> tuple[Learner, None]:
        part = jax.tree.map(lambda values: values[:, envs], (rollout, advantage, wanted))
        gradient = jax.grad(_loss)(learner.weights, *part, hidden[envs], settings)
        return _adam(learner, gradient, settings), None

    key, for_orders = jax.random.split(learner.key)
    orders = jax.random.uniform(for_orders, (settings.n_epochs, settings.envs)).argsort(axis=1)
    parts = orders[:, : size * settings.minibatches].reshape(-1, size)
    return jax.lax.scan(gradient_step, learner, parts)[0]._replace(key=key)


def _loss(
    weights: Weights,
    rollout: Rollout,
    advantage: jax.Array,
    wanted: jax.Array,
    hidden: jax.Array,
    settings: Settings,
) -> jax.Array:
    driven = rollout.observation @ weights["input"] + weights["bias"]

    def step(hidden: jax.Array, now: Any) -> tuple[jax.Array, jax.Array]:
        drive, done = now
        hidden = _gru(weights, hidden, drive)
        return jnp.where(done[:, None], 0.0, hidden), hidden

    states = jax.lax.scan(step, hidden, (driven, rollout.done))[1]
    logits, value = _outputs(weights, states)
    ratio = jnp.exp(_chance(weights, logits, rollout.action) - rollout.chance)
    scaled = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    clipped = jnp.clip(ratio, 1 - settings.clip, 1 + settings.clip)
    policy = -jnp.minimum(ratio * scaled, clipped * scaled).mean()
    if "spread" in weights:
        entropy = (weights["spread"] + 0.5 * jnp.log(2 * jnp.pi * jnp.e)).sum()
    else:
        chances = jax.nn.log_softmax(logits)
        entropy = -(jnp.exp(chances) * chances).sum(-1).mean()
    error = ((value - wanted) ** 2).mean()
    return policy + settings.vf_coef * error - settings.ent_coef * entropy


def _adam(learner: Learner, gradient: Weights, settings: Settings) -> Learner:
    """Return the learner after a step of Adam on a gradient whose norm is clipped."""
    norm = jnp.sqrt(sum((one**2).sum() for one in gradient.values()))
    factor = jnp.minimum(1.0, settings.max_norm / (norm + 1e-6))
    gradient = jax.tree.map(lambda one: one * factor, gradient)
    count = learner.count + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, learner.mean, gradient)
    square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g**2, learner.square, gradient)
    first, second = 1 - 0.9**count, 1 - 0.999**count

    def moved(weight: jax.Array, m: jax.Array, s: jax.Array) -> jax.Array:
        return weight - settings.learning_rate * (m / first) / (jnp.sqrt(s / second) + 1e-5)

    weights = jax.tree.map(moved, learner.weights, mean, square)
    return learner._replace(weights=weights, mean=mean, square=square, count=count)


def several(env: TaskEnv, settings: Settings, updates: int) -> Any:
    """Return a compiled `learn` of several learners at once, stacked on their first axis."""
    one = partial(learn, env=env, settings=settings, updates=updates)
    # On a CPU, compiling takes most of a short training. At level 1 it takes three quarters of the
    # time, and the program is as fast.
    options = {"xla_backend_optimization_level": 1} if jax.default_backend() == "cpu" else None
    return jax.jit(jax.vmap(one, (0, None)), compiler_options=options)
