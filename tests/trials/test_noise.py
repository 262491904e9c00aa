"""The noise of the engine: known bits, Gaussian numbers, the same in NumPy and in C.

Seeds are fixed, so that a statistical test passes always or never; the rates of false alarms that
are stated are those over all seeds.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import shlex
import shutil
import statistics
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from neurogym_core.trials import noise
from neurogym_core.trials.noise import gaussian, noise_key, noise_table, normal, philox

WORD = 2**32

keys = st.integers(0, 2**64 - 1)
serials = st.one_of(st.integers(0, 50), st.integers(WORD - 2, WORD + 2), st.integers(0, 2**63 - 1))
steps = st.one_of(st.integers(0, 300), st.integers(0, WORD - 1))
units = st.tuples(st.integers(0, 70), st.integers(0, 70)).map(lambda ends: slice(*sorted(ends)))


def bits_of(numbers: np.ndarray) -> np.ndarray:
    """The numbers as words, so that 0.0 differs from -0.0."""
    return numbers.view(np.uint32)


def noise_of_trials(n_trials: int, n_steps: int, n_units: int, key: int = 1) -> np.ndarray:
    """(n_trials, n_steps, n_units): the numbers of the first trials of a seed."""
    serial, step = np.divmod(np.arange(n_trials * n_steps), n_steps)
    return gaussian(key, serial, step, slice(0, n_units)).reshape(n_trials, n_steps, n_units)


# ---- bits


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        (
            "00000000 00000000 00000000 00000000",
            "00000000 00000000",
            "6627e8d5 e169c58d bc57ac4c 9b00dbd8",
        ),
        (
            "ffffffff ffffffff ffffffff ffffffff",
            "ffffffff ffffffff",
            "408f276d 41c83b0e a20bc7c6 6d5451fd",
        ),
        (
            "243f6a88 85a308d3 13198a2e 03707344",
            "a4093822 299f31d0",
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_the_bits_are_those_that_the_authors_of_the_generator_publish(counter, key, expected):
    """The file kat_vectors of Random123, lines philox4x32 10."""
    words = [np.array(int(word, 16), np.uint64) for word in counter.split()]
    low, high = (int(word, 16) for word in key.split())
    block = philox(*words, key=low | high << 32)
    assert block.dtype == np.uint32
    assert [f"{word:08x}" for word in block] == expected.split()


def test_words_of_counters_broadcast():
    steps, blocks = np.arange(3)[:, None], np.arange(5)
    together = philox(steps, blocks, np.array(7), np.array(8), key=9)
    assert together.shape == (3, 5, 4)
    alone = philox(np.array(2), np.array(4), np.array(7), np.array(8), key=9)
    np.testing.assert_array_equal(together[2, 4], alone)


def test_the_counter_is_step_block_of_units_and_serial():
    """The words of a trial beyond 2**32, of which both halves count."""
    serial, step = 5 * WORD + 6, 7
    words = philox(*(np.array(word) for word in (step, 2, 6, 5)), key=8)
    numbers = gaussian(8, np.array([serial]), np.array([step]), slice(8, 12))
    np.testing.assert_array_equal(numbers[0], normal(words))


def test_keys_of_seeds_are_known():
    seeds = [np.random.SeedSequence(seed) for seed in (0, 1, 2**100)]
    expected = ["db2cd7e7b0f478be", "672d8ee56d6791ff", "4d981b802c268aa3"]
    assert [f"{noise_key(seed):016x}" for seed in seeds] == expected
    assert [noise_key(seed) for seed in seeds] == [noise_key(seed) for seed in seeds]


def test_numbers_do_not_change_from_release_to_release():
    numbers = gaussian(12345, np.array([0, WORD + 3]), np.array([0, 99]), slice(2, 5))
    assert [[float(z).hex() for z in row] for row in numbers] == [
        ["-0x1.d532e00000000p-2", "-0x1.2520ca0000000p-2", "0x1.409d740000000p-1"],
        ["0x1.0ed99a0000000p-2", "0x1.6801180000000p-2", "0x1.d370120000000p-2"],
    ]


# ---- the table


def digest(lines: np.ndarray) -> str:
    return hashlib.sha256(lines.astype("<f4").tobytes()).hexdigest()


TABLE = "3bc23eb0a18c6bf3193c09f26cd99999d9aa797f3b891c2571528ba155740d9d"


def test_the_table_is_the_same_on_every_platform():
    assert noise_table().shape == (16385, 2)
    assert noise_table().dtype == np.float32
    assert noise_table().flags.c_contiguous
    assert not noise_table().flags.writeable
    assert digest(noise_table()) == TABLE


def test_the_table_does_not_hang_on_the_last_bits_of_the_quantile_function(monkeypatch):
    """Processors that join product and sum, and other libraries' logarithms, change these bits."""
    rng = np.random.default_rng(1)
    exact = statistics.NormalDist.inv_cdf

    def rough(self, p):
        z = exact(self, p)
        return z + int(rng.integers(-10, 11)) * math.ulp(z)

    monkeypatch.setattr(statistics.NormalDist, "inv_cdf", rough)
    assert digest(noise_table.__wrapped__()) == TABLE


# ---- numbers


def edges() -> np.ndarray:
    """Words about all powers of 2, where cells of the table and roundings begin."""
    powers = 1 << np.arange(32, dtype=np.int64)
    near = (powers[:, None] + np.arange(-3, 4)).ravel()
    near = np.concatenate([near, near - (1 << 31), near + (1 << 31)])
    return np.unique(near % WORD).astype(np.uint32)


def some_words(n: int = 1 << 20) -> np.ndarray:
    """The edges, the 2**16 most extreme magnitudes, and n others."""
    others = np.random.default_rng(5).integers(0, WORD, n, dtype=np.uint32)
    return np.concatenate([edges(), np.arange(1 << 16, dtype=np.uint32), others])


def test_numbers_are_the_quantiles_of_their_words():
    words = some_words()
    ranks = (words & 0x7FFFFFFF).astype(np.float64)
    exact = -special.ndtri((ranks + 0.5) / 2**32)
    magnitudes = np.abs(normal(words))
    np.testing.assert_allclose(magnitudes, exact, rtol=0, atol=5.3e-7)
    assert magnitudes.max() == pytest.approx(6.338, abs=1e-3)
    uniform = slice(-(1 << 20), None)
    assert np.sqrt(np.mean((magnitudes - exact)[uniform] ** 2)) < 6e-8


def test_the_top_bit_is_the_sign():
    words = some_words() & np.uint32(0x7FFFFFFF)
    positive, negative = normal(words), normal(words | np.uint32(0x80000000))
    assert not np.signbit(positive).any()
    assert np.signbit(negative).all()
    np.testing.assert_array_equal(negative, -positive)


def test_mean_and_variance_over_all_words_are_those_of_a_gaussian():
    """Every 256th rank stands for those about it."""
    ranks = np.arange(128, 1 << 31, 256, dtype=np.uint32)
    z = np.concatenate([normal(part).astype(np.float64) for part in np.array_split(ranks, 256)])
    assert np.mean(z**2) == pytest.approx(1, abs=1e-6)
    assert np.mean(z) == pytest.approx(math.sqrt(2 / math.pi), abs=1e-6)
    assert np.mean(z**4) == pytest.approx(3, abs=2e-5)


# ---- numbers in one call


@given(keys, serials, st.integers(0, 300), units, st.data())
def test_numbers_do_not_depend_on_what_is_asked_for_with_them(key, serial, step, wanted, data):
    alone = gaussian(key, np.array([serial]), np.array([step]), wanted)
    assert alone.shape == (1, wanted.stop - wanted.start)
    whole_trial = gaussian(key, np.full(step + 3, serial), np.arange(step + 3), slice(0, 72))
    np.testing.assert_array_equal(bits_of(whole_trial)[step, wanted], bits_of(alone)[0])
    others = data.draw(st.lists(st.tuples(serials, steps), max_size=5))
    rows = [*others, (serial, step)]
    mixed = gaussian(key, *np.array(rows, np.uint64).T, wanted)
    np.testing.assert_array_equal(bits_of(mixed)[-1], bits_of(alone)[0])


def test_many_rows_are_those_asked_for_one_by_one():
    """More rows than are made in one go."""
    n = 9000
    serial, step = np.arange(n) * 3, np.arange(n) % 17
    together = gaussian(3, serial, step, slice(2, 7))
    assert together.flags.c_contiguous
    for row in (0, 1, 4095, 4096, 8999):
        alone = gaussian(3, serial[row : row + 1], step[row : row + 1], slice(2, 7))
        np.testing.assert_array_equal(together[row], alone[0])


@pytest.mark.parametrize("n", [0, 3])
@pytest.mark.parametrize("wanted", [slice(0, 0), slice(5, 5), slice(0, 3)])
def test_no_rows_and_no_units_give_empty_arrays(n, wanted):
    numbers = gaussian(1, np.arange(n), np.arange(n), wanted)
    assert numbers.shape == (n, wanted.stop - wanted.start)
    assert numbers.dtype == np.float32


# ---- statistics


def assert_gaussian(n: int, powers: list[float], counts: np.ndarray, inner: np.ndarray) -> None:
    """Check moments and counts of n numbers.

    False alarms: 6e-5 for each of four moments, 1e-4 for the distances of Kolmogorov & Smirnov,
    1e-4 for chi squared.

    Args:
        n: how many numbers.
        powers: the sums of the numbers, their squares, third and fourth powers.
        counts: how many fell into each bin, the first and the last one open.
        inner: the bounds between the bins.
    """
    assert counts.sum() == n
    for power, total in enumerate(powers, start=1):
        expected = {1: 0, 2: 1, 3: 0, 4: 3}[power]
        variance = {1: 1, 2: 2, 3: 15, 4: 96}[power]
        assert abs(total / n - expected) < 4 * math.sqrt(variance / n), f"moment {power}"
    cdf = special.ndtr(inner)
    distance = np.abs(np.cumsum(counts)[:-1] / n - cdf).max()
    assert stats.kstwobign.sf(distance * math.sqrt(n)) > 1e-4
    expected = n * np.diff(cdf, prepend=0, append=1)
    enough = expected > 20
    pooled = stats.chisquare(
        [*counts[enough], counts[~enough].sum()], [*expected[enough], expected[~enough].sum()]
    )
    assert pooled.pvalue > 1e-4


def assert_tails(n: int, beyond: dict[float, int]) -> None:
    """Check how many of n numbers lie beyond some SD; false alarms: 2e-4 for each."""
    for sd, count in beyond.items():
        expected = n * special.erfc(sd / math.sqrt(2))
        assert stats.poisson.cdf(count, expected) > 1e-4, f"too few beyond {sd} SD"
        assert stats.poisson.sf(count - 1, expected) > 1e-4, f"too many beyond {sd} SD"


def test_twenty_million_numbers_are_gaussian():
    """Moments, distribution and tails; false alarms: one seed in 1,000 in all."""
    n_trials, n_steps, n_units, chunks = 250, 100, 33, 25
    inner = np.arange(-5, 5 + 1 / 64, 1 / 64)
    counts, powers, beyond = np.zeros(len(inner) + 1, int), np.zeros(4), {4: 0, 5: 0}
    for key in range(chunks):
        z = noise_of_trials(n_trials, n_steps, n_units, key).ravel()
        bins = np.floor(np.clip((z + 5) * 64, -1, len(inner) - 1)).astype(np.int64) + 1
        counts += np.bincount(bins, minlength=len(counts))
        exact = z.astype(np.float64)
        square = exact * exact
        powers += exact.sum(), square.sum(), (square * exact).sum(), (square * square).sum()
        for sd in beyond:
            beyond[sd] += np.count_nonzero(square > sd**2)
    n = chunks * n_trials * n_steps * n_units
    assert n > 2e7
    assert_gaussian(n, list(powers), counts, inner)
    assert_tails(n, beyond)


@pytest.mark.parametrize(
    ("key", "serial", "step", "unit"),
    [
        (1, 0, 0, 0),
        (WORD, 0, 0, 0),
        (2**63, 0, 0, 0),
        (0, 1, 0, 0),
        (0, WORD, 0, 0),
        (0, 0, 1, 0),
        (0, 0, 1 << 16, 0),
        (0, 0, 0, 1),
        (0, 0, 0, 2),
        (0, 0, 0, 4),
        (0, 1, -1, 0),
        (0, 1, 0, 4),
    ],
)
def test_neighbours_are_independent(key, serial, step, unit):
    """Correlation of signs, numbers, squares of 2**20 pairs; false alarms: 3e-4 for each case."""
    trials, steps = (part.ravel() for part in np.mgrid[0:1024, 1:33])
    here = gaussian(5, trials, steps, slice(0, 32)).ravel().astype(np.float64)
    there = gaussian(5 ^ key, trials + serial, steps + step, slice(unit, unit + 32))
    there = there.ravel().astype(np.float64)
    for of in (np.sign, np.positive, np.square):
        assert stats.pearsonr(of(here), of(there)).pvalue > 1e-4


def test_neighbouring_seeds_are_independent():
    """The sum over 64 seeds has a variance of 64; false alarms: 6e-5."""
    seeds = [noise_key(np.random.SeedSequence(seed)) for seed in range(64)]
    total = sum(noise_of_trials(50, 100, 4, key).astype(np.float64) for key in seeds)
    assert total.var() / 64 == pytest.approx(1, abs=4 * math.sqrt(2 / total.size))


# ---- the same in C


WRAPPER = r"""
#include "_noise.h"
#include <math.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT
#endif

EXPORT void normal(const float *table, const uint32_t *words, int count, float *out)
{
    noise_normal(table, words, count, out);
}
EXPORT void row(const float *table, uint64_t key, uint64_t serial, uint32_t step, int first,
                int stop, float *out)
{
    noise_run(table, key, serial, step, 1, first, stop, out);
}
EXPORT void rows(const float *table, uint64_t key, size_t n, const uint64_t *serial,
                 const uint32_t *step, int first, int stop, float *out)
{
    noise_rows(table, key, n, serial, step, first, stop, out);
}
EXPORT void run(const float *table, uint64_t key, uint64_t serial, uint32_t first_step,
                size_t n_steps, int first, int stop, float *out)
{
    noise_run(table, key, serial, first_step, n_steps, first, stop, out);
}

/* Adds to powers[4] the sums of powers, to counts[16 * 256] the bins of width 1/256 from -8 on, to
   beyond[3] how many lie beyond 4, 5 and 6, and to products[lags] z[i] * z[i + lag]. */
EXPORT void survey(const float *z, size_t n, double *powers, int64_t *counts, int64_t *beyond,
                   const int64_t *lag, int lags, double *products)
{
    double first = 0, second = 0, third = 0, fourth = 0;
    for (size_t i = 0; i < n; ++i) {
        double x = z[i], square = x * x;
        first += x;
        second += square;
        third += square * x;
        fourth += square * square;
        ++counts[(int)((x + 8) * 256)];
        if (square > 16)
            for (int sd = 4; sd <= 6; ++sd)
                beyond[sd - 4] += square > sd * sd;
    }
    powers[0] += first, powers[1] += second, powers[2] += third, powers[3] += fourth;
    for (int l = 0; l < lags; ++l) {
        double sum = 0;
        for (size_t i = 0; i + (size_t)lag[l] < n; ++i)
            sum += (double)z[i] * z[i + (size_t)lag[l]];
        products[l] += sum;
    }
}
"""

PATHS = {
    "as it runs here": None,
    "without vectors": "0",
    "at most AVX2": "((name)[3] == '2' && __builtin_cpu_supports(name))",
}
"""Replacements of the header's test of the processor."""

u64, u32, pointer = ctypes.c_uint64, ctypes.c_uint32, ctypes.c_void_p
SIGNATURES = {
    "normal": [pointer, pointer, ctypes.c_int, pointer],
    "row": [pointer, u64, u64, u32, ctypes.c_int, ctypes.c_int, pointer],
    "rows": [pointer, u64, ctypes.c_size_t, pointer, pointer, ctypes.c_int, ctypes.c_int, pointer],
    "run": [pointer, u64, u64, u32, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, pointer],
    "survey": [pointer, ctypes.c_size_t, *[pointer] * 4, ctypes.c_int, pointer],
}


def compiled_header(folder, processor: str | None) -> ctypes.CDLL:
    """The header, compiled with the flags that it asks for.

    Not as c99, which GCC compiles without joining product and sum even where the flag is missing.
    """
    command = shlex.split(os.environ.get("CC", ""))
    found = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    command = command or ([found] if found else [])
    if not command:
        pytest.skip("no C compiler: neither CC is set nor cc, gcc or clang is on the PATH")
    source, library = folder / "wrapper.c", folder / "wrapper.so"
    source.write_text(WRAPPER)
    header = Path(noise.__file__).parents[1] / "play" / "_noise.h"
    options = ["-std=gnu99", "-O3", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    defines = [f"-D__builtin_cpu_supports(name)={processor}"] if processor else []
    command += [*options, *defines, f"-I{header.parent}", "-fPIC", "-shared"]
    command += ["-o", str(library), str(source), "-lm"]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    loaded = ctypes.CDLL(str(library))
    for name, arguments in SIGNATURES.items():
        getattr(loaded, name).argtypes = arguments
        getattr(loaded, name).restype = None
    return loaded


@pytest.fixture(scope="module", params=list(PATHS))
def header(request, tmp_path_factory):
    return compiled_header(tmp_path_factory.mktemp("noise"), PATHS[request.param])


class Room:
    """Floats to be written by C, with a margin that must stay as it is."""

    MARGIN = 64

    def __init__(self, *shape: int) -> None:
        self.shape, self.size = shape, math.prod(shape)
        self.floats = np.full(self.size + 2 * self.MARGIN, 77, np.float32)
        self.pointer = self.floats[self.MARGIN :].ctypes.data

    def bits(self) -> np.ndarray:
        before, after = self.floats[: self.MARGIN], self.floats[self.MARGIN + self.size :]
        assert (before == 77).all()
        assert (after == 77).all()
        inside = self.floats[self.MARGIN : self.MARGIN + self.size]
        return bits_of(inside).reshape(self.shape)


@given(key=keys, trials=st.lists(st.tuples(serials, steps), min_size=1, max_size=90), wanted=units)
def test_rows_in_c_are_those_of_numpy(header, key, trials, wanted):
    serial = np.array([serial for serial, _ in trials], np.uint64)
    step = np.array([step for _, step in trials], np.uint32)
    room = Room(len(trials), wanted.stop - wanted.start)
    header.rows(
        noise_table().ctypes.data, key, len(trials), serial.ctypes.data, step.ctypes.data,
        wanted.start, wanted.stop, room.pointer,
    )  # fmt: skip
    np.testing.assert_array_equal(room.bits(), bits_of(gaussian(key, serial, step, wanted)))


@given(key=keys, serial=serials, step=steps, wanted=units)
def test_a_row_in_c_is_that_of_numpy(header, key, serial, step, wanted):
    room = Room(1, wanted.stop - wanted.start)
    lines = noise_table().ctypes.data
    header.row(lines, key, serial, step, wanted.start, wanted.stop, room.pointer)
    expected = gaussian(key, np.array([serial]), np.array([step]), wanted)
    np.testing.assert_array_equal(room.bits(), bits_of(expected))


@given(key=keys, serial=serials, first=st.integers(0, 9999), n=st.integers(0, 150), wanted=units)
def test_a_run_of_steps_in_c_is_that_of_numpy(header, key, serial, first, n, wanted):
    room = Room(n, wanted.stop - wanted.start)
    lines = noise_table().ctypes.data
    header.run(lines, key, serial, first, n, wanted.start, wanted.stop, room.pointer)
    expected = gaussian(key, np.full(n, serial), first + np.arange(n), wanted)
    np.testing.assert_array_equal(room.bits(), bits_of(expected))


def test_many_rows_of_every_range_of_units_are_the_same_in_c(header):
    """All remainders of first and last unit, over several batches of blocks."""
    serial = np.arange(200, dtype=np.uint64) * np.uint64(WORD - 1)
    step = np.arange(200, dtype=np.uint32) % 90
    for first in range(6):
        for stop in range(first, first + 40, 3):
            room = Room(200, stop - first)
            header.rows(
                noise_table().ctypes.data, 99, 200, serial.ctypes.data, step.ctypes.data,
                first, stop, room.pointer,
            )  # fmt: skip
            expected = gaussian(99, serial, step, slice(first, stop))
            np.testing.assert_array_equal(room.bits(), bits_of(expected))


def test_every_kind_of_word_gives_the_same_number_in_c(header):
    words = some_words()
    room = Room(len(words))
    for begin in range(0, len(words), 256):
        part = words[begin : begin + 256]
        header.normal(
            noise_table().ctypes.data, part.ctypes.data, len(part), room.pointer + 4 * begin
        )
    np.testing.assert_array_equal(room.bits(), bits_of(normal(words)))


@pytest.mark.slow
def test_a_thousand_million_numbers_are_gaussian(tmp_path):
    """Moments, distribution, tails and correlations; false alarms: two seeds in 1,000 in all."""
    header = compiled_header(tmp_path, None)
    n_trials, n_steps, n_units, chunks = 64, 100, 33, 4735
    per_chunk = n_trials * n_steps * n_units
    lags = np.array([1, 2, 3, 4, 8, n_units, 2 * n_units, n_steps * n_units, per_chunk // 2])
    trial, step = np.divmod(np.arange(n_trials * n_steps), n_steps)
    serial, step = trial.astype(np.uint64), step.astype(np.uint32)
    z = np.empty(per_chunk, np.float32)
    powers, products = np.zeros(4), np.zeros(len(lags))
    counts, beyond = np.zeros(16 * 256, np.int64), np.zeros(3, np.int64)
    for _ in range(chunks):
        header.rows(
            noise_table().ctypes.data, 2026, len(serial), serial.ctypes.data, step.ctypes.data,
            0, n_units, z.ctypes.data,
        )  # fmt: skip
        header.survey(
            z.ctypes.data, len(z), powers.ctypes.data, counts.ctypes.data, beyond.ctypes.data,
            lags.ctypes.data, len(lags), products.ctypes.data,
        )  # fmt: skip
        serial += np.uint64(n_trials)
    n = chunks * per_chunk
    assert n > 1e9
    assert_gaussian(n, list(powers), counts, np.arange(-8, 8, 1 / 256)[1:])
    assert_tails(n, dict(zip((4, 5, 6), beyond.tolist(), strict=True)))
    pairs = chunks * (per_chunk - lags)
    assert (np.abs(products / np.sqrt(pairs)) < 4).all()  # false alarms: 6e-5 for each lag
