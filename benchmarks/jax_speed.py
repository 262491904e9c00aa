"""Env steps per second of neurogym-jax, beside the core's vector env and gymnax's CartPole.

    python -m benchmarks.jax_speed [--seconds 2] [--task ID] [--envs 64 2048 65536]

A program of 100 steps of N envs with random actions (``scan`` over ``vmap``) is compiled, and then
called until the seconds are over; the median of the calls counts. On a CPU, seconds are CPU time of
all threads, so that other programs are not counted. The core's vector env gets actions from NumPy.
CartPole is timed where gymnax is installed. Batches (`Dataset`) are timed in steps per second, and
as a share of the memory bandwidth, which writing 1 GB measures (256 MB on a CPU).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import jax
import jax.numpy as jnp
import neurogym_jax
import numpy as np

from neurogym_core import make_vec

STEPS = 100
TASK = "perceptual/PerceptualDecisionMaking-v0"


def seconds_of(call: Callable[[], Any], seconds: float) -> float:
    """Return the median seconds of a call, after one that compiles."""
    # CPU time of all threads, so that other programs on the machine are not counted.
    clock = time.process_time if jax.default_backend() == "cpu" else time.perf_counter
    jax.block_until_ready(call())
    times, end = [], clock() + seconds
    while not times or clock() < end:
        begin = clock()
        jax.block_until_ready(call())
        times.append(clock() - begin)
    return median(times)


def env_rate(env: Any, params: Any, n: int, seconds: float) -> float:
    """Return the steps per second of an env with gymnax's interface."""
    keys = jax.random.split(jax.random.PRNGKey(0), n)
    actions = jax.random.randint(jax.random.PRNGKey(1), (STEPS, n), 0, env.num_actions)
    state = jax.jit(jax.vmap(env.reset, (0, None)))(keys, params)[1]

    @jax.jit
    def play(state: Any, key: Any) -> Any:
        def step(state: Any, now: Any) -> Any:
            action, key = now
            each = jax.random.split(key, n)
            made = jax.vmap(env.step, (0, 0, 0, None))(each, state, action, params)
            # All observations count, or the compiler would leave out those that nothing uses.
            return made[1], (made[0].sum(), made[2].sum())

        return jax.lax.scan(step, state, (actions, jax.random.split(key, STEPS)))

    return n * STEPS / seconds_of(lambda: play(state, jax.random.PRNGKey(2)), seconds)


def core_rate(task: str, n: int, seconds: float) -> float:
    """Return the steps per second of the core's vector env."""
    envs = make_vec(task, n)
    envs.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, envs.single_action_space.n, (STEPS, n))
    steps = STEPS if n < 10_000 else 10

    def play() -> None:
        for step in range(steps):
            envs.step(actions[step])

    return n * steps / seconds_of(play, seconds)


def batch_rate(task: str, n: int, seconds: float) -> tuple[float, float]:
    """Return the steps per second of batches of n streams, and the bytes per second."""
    data = neurogym_jax.DeviceDataset(task, n, STEPS)
    rows = data.init(jax.random.PRNGKey(0))
    following = jax.jit(data.next)
    batch = following(rows, data.params)[1]
    taken = seconds_of(lambda: following(rows, data.params), seconds)
    return n * STEPS / taken, sum(one.nbytes for one in batch) / taken


def bandwidth(seconds: float) -> float:
    """Return the bytes per second that the device writes in a copy."""
    size = 1 << (26 if jax.default_backend() == "cpu" else 28)
    values = jnp.zeros(size, jnp.float32)
    copy = jax.jit(lambda x: x + 1)
    return values.nbytes / seconds_of(lambda: copy(values), seconds)


def rows(task: str, sizes: list[int], seconds: float) -> Iterator[tuple[str, Iterator[float]]]:
    """Time one row after another: name, and steps per second for each size."""
    env, params = neurogym_jax.make(task)
    yield f"neurogym-jax, {env.name}", (env_rate(env, params, n, seconds) for n in sizes)
    yield f"neurogym-core, {env.name}", (core_rate(task, n, seconds) for n in sizes)
    if importlib.util.find_spec("gymnax") is not None:
        import gymnax

        cart, its_params = gymnax.make("CartPole-v1")
        yield "gymnax, CartPole-v1", (env_rate(cart, its_params, n, seconds) for n in sizes)
    timed: list[tuple[float, float]] = []
    yield (
        "neurogym-jax, batches",
        (timed.append(batch_rate(task, n, seconds)) or timed[-1][0] for n in sizes),
    )
    most = bandwidth(seconds)
    yield "  % of the bandwidth", (100 * written / most for _, written in timed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default=TASK)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--envs", type=int, nargs="+", default=[64, 2048, 65536])
    given = parser.parse_args()
    device = jax.devices()[0]
    print(f"{device.device_kind}, {os.cpu_count()} CPU cores, JAX {jax.__version__}")
    print(f"{'steps per second, N =':<42}", *(f"{n:>13,}" for n in given.envs))
    for name, rates in rows(given.task, given.envs, given.seconds):
        print(f"{name:<42}", end="", flush=True)
        for rate in rates:
            print(f" {rate:>13,.0f}", end="", flush=True)
        print()


if __name__ == "__main__":
    main()
