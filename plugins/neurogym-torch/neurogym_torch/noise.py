"""Noise of the core, computed on a device with the same bits.

The bits depend on the seed, the trial, the step and the unit. All arithmetic is on integers, which
every device computes alike, and on float32 numbers, with each operation rounded separately: a
product is stored before the next addition, so that no compiler fuses the two.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from neurogym_core.players import noise_table

_WORD = 0xFFFFFFFF
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57  # of Philox4x32-10, see the core
_INCREMENTS = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10
_FRACTION_BITS = 14
_ONE_HALF = 0x3F000000
# Limits memory: about a dozen temporary tensors hold this many numbers of 8 bytes.
_BLOCKS_AT_A_TIME = 1 << 22


def philox(counter: tuple[Tensor, Tensor, Tensor, Tensor], key: int) -> Tensor:
    """Return the Philox4x32-10 block of each counter, (..., 4) int64 below 2**32.

    Args:
        counter: four words, int64 below 2**32, that broadcast against each other.
        key: 64 bits.
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key & _WORD, key >> 32
    for _ in range(_ROUNDS):
        # Products fill all 64 bits, the sign bit included; the mask removes the copies of the sign
        # that the shift makes.
        p0, p1 = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        c0, c1, c2, c3 = (
            ((p1 >> 32) & _WORD) ^ c1 ^ k0,
            p1 & _WORD,
            ((p0 >> 32) & _WORD) ^ c3 ^ k1,
            p0 & _WORD,
        )
        k0, k1 = (k0 + _INCREMENTS[0]) & _WORD, (k1 + _INCREMENTS[1]) & _WORD
    return torch.stack([c0, c1, c2, c3], dim=-1)


@cache
def _lines(device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the two columns of the core's table of quantiles."""
    begin, rise = torch.tensor(noise_table(), device=device).unbind(1)
    return begin.contiguous(), rise.contiguous()


def normal(words: Tensor) -> Tensor:
    """Return the standard normal number of each word, float32; see the core's `normal`.

    Args:
        words: int64 below 2**32.
    """
    begin, rise = _lines(words.device)
    place = (words & 0x7FFFFFFF).to(torch.float32).add_(0.5).view(torch.int32) - _ONE_HALF
    cell = (place >> _FRACTION_BITS).long()
    part = (place & ((1 << _FRACTION_BITS) - 1)).to(torch.float32)
    magnitude = part.mul_(rise[cell]).add_(begin[cell])
    sign = (-(words >> 31) << 31).to(torch.int32)
    return (magnitude.view(torch.int32) | sign).view(torch.float32)


def gaussian(key: int, serial: Tensor, step: Tensor, units: slice) -> Tensor:
    """Return standard normal numbers of n steps, for each of the units, (n, width) float32.

    Args:
        key: 64 bits derived from the seed.
        serial: (n,) int64, serial number of each row's trial.
        step: (n,) int64, the step within that trial.
        units: the units, as `slice(first, stop)`.
    """
    blocks = torch.arange(units.start // 4, -(-units.stop // 4), device=serial.device)
    first, width = units.start % 4, units.stop - units.start
    rows = max(_BLOCKS_AT_A_TIME // max(len(blocks), 1), 1)
    parts = []
    for low, high, steps in zip(
        (serial & _WORD)[:, None].split(rows),
        (serial >> 32)[:, None].split(rows),
        step[:, None].split(rows),
        strict=True,
    ):
        words = philox((steps, blocks[None], low, high), key)
        parts.append(normal(words.flatten(1)[:, first : first + width]))
    return torch.cat(parts) if len(parts) > 1 else parts[0]
