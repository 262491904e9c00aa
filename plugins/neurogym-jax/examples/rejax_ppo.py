"""PPO of rejax on a task of neurogym: ``pip install rejax``, ``python rejax_ppo.py [STEPS]``.

Its networks have no memory, so the motion of this task can be seen while it asks.
"""

from __future__ import annotations

import sys
import time

import jax
import neurogym_jax
import rejax

ENVS, STEPS = 64, 512
"""Envs and steps of the last test."""


def main(steps: int = 400_000) -> tuple[float, float]:
    """Train, and return the performance in new trials of the network before and after."""
    # rejax evaluates whole episodes; here one is a session of ten trials.
    task = "perceptual/RoitmanShadlen-v0"
    settings = {"coherences": (51.2,), "trials_per_session": 10}
    env, params = neurogym_jax.make(task, split="train", **settings)
    algo = rejax.PPO.create(
        env=env,
        env_params=params,
        total_timesteps=steps,
        eval_freq=steps,
        num_envs=32,
        num_steps=64,
        num_epochs=4,
        num_minibatches=4,
        learning_rate=2e-3,
        max_grad_norm=0.5,
        gamma=0.9,
        gae_lambda=0.95,
        clip_eps=0.2,
        ent_coef=0.01,
        vf_coef=0.5,
    )
    key = jax.random.PRNGKey(0)
    began = time.process_time()
    trained = jax.block_until_ready(jax.jit(algo.train)(key)[0])
    cpu = time.process_time() - began
    tests = neurogym_jax.make(task, split="test", **settings)
    before, after = (tested(algo.make_act(one), *tests) for one in (algo.init_state(key), trained))
    print(
        f"performance: {before:.2f} at first, {after:.2f} after {steps:,} steps ({cpu:.0f} CPU s)"
    )
    return before, after


def tested(act, env, params) -> float:
    """Return the mean performance of a policy in the trials that it ends."""
    for_reset, for_steps = jax.random.split(jax.random.PRNGKey(1))
    begun = jax.vmap(env.reset, (0, None))(jax.random.split(for_reset, ENVS), params)

    def step(carry, key):
        observations, state = carry
        for_act, for_env = (jax.random.split(one, ENVS) for one in jax.random.split(key))
        actions = jax.vmap(act)(observations, for_act)
        play = jax.vmap(env.step, (0, 0, 0, None))
        observations, state, _, _, info = play(for_env, state, actions, params)
        return (observations, state), (info["performance"].sum(), info["new_trial"].sum())

    play = jax.jit(lambda first, keys: jax.lax.scan(step, first, keys)[1])
    performance, trials = play(begun, jax.random.split(for_steps, STEPS))
    return float(performance.sum() / trials.sum())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
