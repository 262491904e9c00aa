"""PPO of rejax on a task of neurogym: ``pip install rejax``, ``python rejax_ppo.py [STEPS]``."""

from __future__ import annotations

import sys

import jax
import neurogym_jax
import rejax


def main(steps: int = 200_000) -> tuple[float, float]:
    """Train, and return the reward per session in the first and in the last evaluation."""
    # rejax evaluates whole episodes; here one is a session of ten trials.
    env, params = neurogym_jax.make("control/GoNogo-v0", trials_per_session=10)
    algo = rejax.PPO.create(
        env=env,
        env_params=params,
        total_timesteps=steps,
        eval_freq=steps // 4,
        num_envs=32,
        num_steps=64,
        num_epochs=4,
        num_minibatches=4,
        learning_rate=2e-3,
        max_grad_norm=0.5,
        gamma=0.99,
        gae_lambda=0.95,
        clip_eps=0.2,
        ent_coef=0.01,
        vf_coef=0.5,
    )
    rewards = jax.jit(algo.train)(jax.random.PRNGKey(0))[1][1]
    each = rewards.mean(axis=1)
    print("reward per session:", [round(float(value), 2) for value in each])
    return float(each[0]), float(each[-1])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
