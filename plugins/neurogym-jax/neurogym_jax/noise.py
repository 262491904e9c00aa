"""The core's counter-based noise, in JAX.

Words are equal bit for bit. Numbers can differ in the last bit of float32, where a device contracts
a product and a sum into one operation.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from neurogym_core.players import noise_table

ROUNDS = 10
M0, M1 = 0xD2511F53, 0xCD9E8D57
W0, W1 = 0x9E3779B9, 0xBB67AE85
DRAW = 0xFFFFFFFF
"""Step of the counter whose words draw the type of a trial; no trial lasts so long."""


def _product(a: jax.Array, m: int) -> tuple[jax.Array, jax.Array]:
    """Return the high and the low word of a * m, from products of 16-bit halves."""
    m_low, m_high = jnp.uint32(m & 0xFFFF), jnp.uint32(m >> 16)
    a_low, a_high = a & 0xFFFF, a >> 16
    middle = a_high * m_low + ((a_low * m_low) >> 16)
    carried = (middle & 0xFFFF) + a_low * m_high
    return a_high * m_high + (middle >> 16) + (carried >> 16), a * jnp.uint32(m)


def philox(
    c0: jax.Array, c1: jax.Array, c2: jax.Array, c3: jax.Array, key: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Return the four words of the Philox4x32-10 block of each counter, uint32.

    Args:
        c0, c1, c2, c3: words of the counters, uint32; they broadcast against each other.
        key: (..., 2) uint32, low and high word; its leading axes broadcast, too.
    """
    k0, k1 = key[..., 0], key[..., 1]
    for _ in range(ROUNDS):
        high0, low0 = _product(c0, M0)
        high1, low1 = _product(c2, M1)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = k0 + jnp.uint32(W0), k1 + jnp.uint32(W1)
    return c0, c1, c2, c3


def normal(bits: jax.Array) -> jax.Array:
    """Return the standard normal number of each uint32 word, float32."""
    ranks = (bits & jnp.uint32(0x7FFFFFFF)).astype(jnp.int32).astype(jnp.float32) + jnp.float32(0.5)
    place = jax.lax.bitcast_convert_type(ranks, jnp.uint32) - jnp.uint32(0x3F000000)
    lines = jnp.asarray(noise_table())[(place >> 14).astype(jnp.int32)]
    part = (place & jnp.uint32(0x3FFF)).astype(jnp.float32)
    magnitude = lines[..., 0] + part * lines[..., 1]
    return jnp.where(bits >> 31 == 1, -magnitude, magnitude)


def gaussian(key: jax.Array, serial: jax.Array, step: jax.Array, units: slice) -> jax.Array:
    """Return (..., width) float32: standard normal numbers of some steps and units.

    Args:
        key: (..., 2) uint32, as in `neurogym_jax.key`.
        serial: (...) uint32, serial number of the trial.
        step: (...) the step within that trial, from 0.
        units: the units, as `slice(first, stop)`.
    """
    serial = jnp.asarray(serial, jnp.uint32)[..., None]
    step = jnp.asarray(step).astype(jnp.uint32)[..., None]
    words = philox(step, _blocks(units), serial, jnp.uint32(0), key[..., None, :])
    return _numbers(jnp.stack(jnp.broadcast_arrays(*words), axis=-1), units)


def _blocks(units: slice) -> jax.Array:
    """Return the blocks of four words that some units need."""
    return jnp.asarray(np.arange(units.start // 4, -(-units.stop // 4), dtype=np.uint32))


def _numbers(words: jax.Array, units: slice) -> jax.Array:
    """Return (..., width) numbers of some units from the words (..., blocks, 4) of their blocks."""
    flat, first = words.reshape(*words.shape[:-2], -1), units.start % 4
    return normal(flat[..., first : first + units.stop - units.start])


def uniform_words(key: jax.Array, serial: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return two uniform uint32 words of each trial; its noise uses none of them."""
    serial = jnp.asarray(serial, jnp.uint32)
    first, second, _, _ = philox(jnp.uint32(DRAW), jnp.uint32(0), serial, jnp.uint32(0), key)
    return first, second


def gaussian_and_words(
    key: jax.Array, serial: jax.Array, step: jax.Array, units: slice, following: jax.Array
) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    """Return the noise of a step, and two uniform words of another trial, in one computation.

    They are those of `gaussian` and `uniform_words`; the program is half as long, and takes half as
    long to compile.

    Args:
        key, serial, step, units: of one step, as in `gaussian`.
        following: () uint32, serial number of the other trial.
    """
    blocks = _blocks(units)
    n = len(blocks)
    steps = jnp.full(n + 1, DRAW, jnp.uint32).at[:n].set(step.astype(jnp.uint32))
    serials = jnp.full(n + 1, following, jnp.uint32).at[:n].set(serial)
    words = philox(steps, jnp.append(blocks, jnp.uint32(0)), serials, jnp.uint32(0), key)
    first, second = words[0][n], words[1][n]
    return _numbers(jnp.stack(words, axis=-1)[:n], units), (first, second)
