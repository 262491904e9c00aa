"""PPO in the style of PureJaxRL (Lu et al. 2022) on a task of neurogym, as on any env of gymnax.

The networks have no memory, so the motion of this task can be seen while it asks.

    python purejaxrl_ppo.py [UPDATES]
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import jax
import jax.numpy as jnp
import neurogym_jax
import optax

ENVS, STEPS, EPOCHS, MINIBATCHES = 64, 32, 4, 4
GAMMA, LAMBDA, CLIP, RATE = 0.9, 0.95, 0.2, 3e-3


def first_weights(key, n_inputs, n_actions, hidden=64):
    """Two networks of one hidden layer: actor and critic."""
    keys, sizes = jax.random.split(key, 4), (n_inputs, hidden)
    return {
        "actor": dense(keys[0], *sizes) | {"out": dense(keys[1], hidden, n_actions, 0.01)},
        "critic": dense(keys[2], *sizes) | {"out": dense(keys[3], hidden, 1)},
    }


def dense(key, n_inputs, n_outputs, scale=1.0):
    weight = jax.random.normal(key, (n_inputs, n_outputs)) * scale / jnp.sqrt(n_inputs)
    return {"weight": weight, "bias": jnp.zeros(n_outputs)}


def apply(weights, obs):
    """Logits and value."""

    def network(layer):
        hidden = jnp.tanh(obs @ layer["weight"] + layer["bias"])
        return hidden @ layer["out"]["weight"] + layer["out"]["bias"]

    return network(weights["actor"]), network(weights["critic"])[..., 0]


class Transition(NamedTuple):
    done: jax.Array
    action: jax.Array
    value: jax.Array
    reward: jax.Array
    log_prob: jax.Array
    obs: jax.Array
    info: dict


def log_prob_of(logits, action):
    return jnp.take_along_axis(jax.nn.log_softmax(logits), action[..., None], -1)[..., 0]


def make_train(env, params, updates):
    adam = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(RATE))

    def loss_of(weights, batch, advantage, target):
        logits, value = apply(weights, batch.obs)
        ratio = jnp.exp(log_prob_of(logits, batch.action) - batch.log_prob)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        clipped = jnp.clip(ratio, 1 - CLIP, 1 + CLIP)
        actor = -jnp.minimum(ratio * advantage, clipped * advantage).mean()
        return actor + 0.5 * ((value - target) ** 2).mean()

    def train(rng):
        rng, for_network, for_envs = jax.random.split(rng, 3)
        n_inputs = env.observation_space(params).shape[0]
        weights = first_weights(for_network, n_inputs, env.action_space(params).n)
        obs, state = jax.vmap(env.reset, (0, None))(jax.random.split(for_envs, ENVS), params)

        def env_step(runner, _):
            weights, moments, state, obs, rng = runner
            rng, for_action, for_step = jax.random.split(rng, 3)
            logits, value = apply(weights, obs)
            action = jax.random.categorical(for_action, logits)
            keys = jax.random.split(for_step, ENVS)
            step = jax.vmap(env.step, (0, 0, 0, None))
            following, state, reward, done, info = step(keys, state, action, params)
            log_prob = log_prob_of(logits, action)
            transition = Transition(done, action, value, reward, log_prob, obs, info)
            return (weights, moments, state, following, rng), transition

        def update(runner, _):
            runner, steps = jax.lax.scan(env_step, runner, None, STEPS)
            weights, moments, state, obs, rng = runner
            last = apply(weights, obs)[1]

            def back(carry, step):
                advantage, following = carry
                delta = step.reward + GAMMA * following * (1 - step.done) - step.value
                advantage = delta + GAMMA * LAMBDA * (1 - step.done) * advantage
                return (advantage, step.value), advantage

            advantage = jax.lax.scan(back, (jnp.zeros_like(last), last), steps, reverse=True)[1]
            data = (steps, advantage, advantage + steps.value)
            flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), data)

            def minibatch(carry, rows):
                weights, moments = carry
                part = jax.tree.map(lambda x: x[rows], flat)
                gradient = jax.grad(loss_of)(weights, *part)
                change, moments = adam.update(gradient, moments)
                return (optax.apply_updates(weights, change), moments), None

            rng, *keys = jax.random.split(rng, EPOCHS + 1)
            rows = jnp.concatenate([jax.random.permutation(k, ENVS * STEPS) for k in keys])
            rows = rows.reshape(EPOCHS * MINIBATCHES, -1)
            weights, moments = jax.lax.scan(minibatch, (weights, moments), rows)[0]
            ended = steps.info["new_trial"].sum()
            performance = steps.info["performance"].sum() / jnp.maximum(ended, 1)
            return (weights, moments, state, obs, rng), performance

        runner = (weights, adam.init(weights), state, obs, rng)
        return jax.lax.scan(update, runner, None, updates)[1]

    return train


def main(updates: int = 150) -> float:
    """Train, print the performance, and return that of the last updates."""
    env, params = neurogym_jax.make(
        "perceptual/RoitmanShadlen-v0", split="train", coherences=(51.2,)
    )
    performance = jax.jit(make_train(env, params, updates))(jax.random.PRNGKey(0))
    last = float(performance[-10:].mean())
    print(f"performance: {float(performance[0]):.2f} at first, {last:.2f} after {updates} updates")
    return last


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
