"""A few seconds of `kernel_fuzz.py`: the two kernels agree bit by bit, and nonsense ends in
exceptions.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from neurogym_core.players import kernel_in_use

_spec = importlib.util.spec_from_file_location(
    "ngym_test_kernel_fuzz", Path(__file__).parent / "kernel_fuzz.py"
)
kernel_fuzz = sys.modules[_spec.name] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(kernel_fuzz)


class Shown(SimpleNamespace):
    """Tables of one type."""

    def __len__(self) -> int:
        return 1


@pytest.fixture(autouse=True)
def compiled() -> None:
    if kernel_in_use().module is None:
        reason = f"both kernels are compared, and there is one: {kernel_in_use()}"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)


def test_random_tables_are_played_to_the_same_bits_by_both_kernels_and_nonsense_is_refused():
    assert kernel_fuzz.fuzz(seed=0, examples=100) == 100


def a_game(
    n: int = 2, fits: Callable[[kernel_fuzz.Made], bool] = lambda _: True
) -> kernel_fuzz.Game:
    """A game of n envs with discrete actions, and tables that fit."""
    for seed in range(10000):
        game = kernel_fuzz.Game(np.random.default_rng(seed))
        game.n, game.way = n, "shared"
        if not game.tables.aim.shape[2] and game.n_actions > 1 and fits(game.tables):
            return game
    raise LookupError(f"None of 10000 seeds gives such a game of {n} envs.")


def a_player(n: int = 2) -> kernel_fuzz.Player:
    """A compiled kernel with its first trials."""
    player = kernel_fuzz.Player(kernel_in_use().module.Kernel, a_game(n))
    player.deal(list(range(n)))
    return player


def test_a_kernel_that_was_never_made_refuses_everything():
    kernel = kernel_in_use().module.Kernel.__new__(kernel_in_use().module.Kernel)
    for call in (
        kernel.observe,
        kernel.sync,
        lambda: kernel.vector_step(np.zeros(1, np.int64)),
        lambda: kernel.stop([]),
        lambda: kernel.advance(np.zeros(0, np.int64)),
        lambda: kernel.begin(0, 0, 0),
        lambda: kernel.cursor(0),
    ):
        with pytest.raises(RuntimeError, match="was not made"):
            call()


@pytest.mark.parametrize("name", ["graded", "script", "aim"])
def test_sizes_whose_product_turns_over_are_refused(name):
    """So many columns have no bytes at all, if sizes are multiplied without a look at how large the
    product gets.
    """
    game = a_game(
        fits=lambda tables: len(tables) == 4 and tables.n_slots == 1 and tables.n_units in (4, 8)
    )
    block = kernel_fuzz.block_of(game.tables, np.zeros(64), 0, 1)
    shape = {
        "graded": (0, 1, 1 << 59),
        "script": ((1 << 62) // game.tables.n_units, 0),
        "aim": (0, 1, 1 << 55),
    }[name]
    broken = np.zeros(shape, np.float32 if name == "script" else np.float64)
    assert block.log.values.size == 0
    block.tables = game.tables.but(**{name: broken})
    with pytest.raises(ValueError, match="items; expected"):
        kernel_fuzz.Player(kernel_in_use().module.Kernel, game).kernel.attach(0, block)


def test_a_log_whose_memory_numpy_could_free_is_refused():
    player, block = a_player(), kernel_fuzz.block_of(a_game().tables, [0, 0], 0, 1)
    block.log.reward = np.zeros(2)
    with pytest.raises(TypeError, match="reward does not lie in a bytearray"):
        player.kernel.attach(3, block)


def test_a_kernel_with_too_few_names_refuses_a_block_instead_of_reading_past_them():
    game = a_game(1, lambda tables: len(tables.entry) == 3)
    player = kernel_fuzz.Player(kernel_in_use().module.Kernel, game)
    kernel = kernel_in_use().module.Kernel(
        1, 0, game.names[:2], 1, True, player.deal, player.check, player.check_all
    )
    block = kernel_fuzz.block_of(game.tables, [0, 0], 0, 1)
    with pytest.raises(ValueError, match=r"3 periods .* with 2 names"):
        kernel.attach(0, block)


def test_the_memory_of_a_log_that_is_held_cannot_be_freed():
    player = a_player()
    (block,) = player.blocks.values()
    memory = block.log.env.base.base.obj
    for values in vars(block.log).values():
        kernel_fuzz.shrink(values)
    with pytest.raises(BufferError):
        memory.clear()
    for _ in range(50):
        player.kernel.vector_step(np.zeros(2, np.int64))


def test_numbers_and_callbacks_that_detach_the_block_under_way_end_in_an_error():
    player = a_player(1)

    def detach() -> None:
        for index in list(player.blocks):
            player.kernel.attach(index, None)

    class Action(np.int64):
        def __index__(self) -> int:
            detach()
            return 0

    with pytest.raises(IndexError):
        player.kernel.step(Action(0))
    player = a_player(1)
    with pytest.raises(IndexError, match="no block under the index"):
        player.kernel.cursor(player.kernel.current, kernel_fuzz.Evil(0, detach))


@pytest.mark.parametrize("spread", ["every other one", "backwards", "not aligned"])
def test_actions_may_lie_anywhere_in_memory(spread):
    """The plain kernel plays them; the compiled one refused them where hooks or continuous actions
    come with them.
    """
    actions = np.array([0, 1])
    memory = bytearray(17)
    lain = {
        "every other one": np.array([0, 9, 1, 9])[::2],
        "backwards": actions[::-1].copy()[::-1],
        "not aligned": np.frombuffer(memory, np.int8, offset=1).view(np.int64),
    }[spread]
    lain[:] = actions
    one, other = a_player(), a_player()
    for _ in range(20):
        assert kernel_fuzz.flat(one.kernel.advance(lain)) == kernel_fuzz.flat(
            other.kernel.advance(actions)
        )
    assert kernel_fuzz.flat(one.kernel.vector_step(lain)) == kernel_fuzz.flat(
        other.kernel.vector_step(actions)
    )
    assert one.seen() == other.seen()


@pytest.mark.parametrize("script_at", [5, 100, 2**62, 2**63 - 1, 2**63 - 11, -2, -(2**63)])
@pytest.mark.parametrize("continuous", [False, True])
def test_rows_of_a_script_that_do_not_exist_are_not_read(script_at, continuous):
    """Sums with so large a number turn over, and would lie in the range again."""
    skip, steps = 10, 4
    size = 1 if continuous else 0
    shown = Shown(
        shown=np.zeros((1, 1, 3), np.float32), sd=np.zeros((1, 1, 3), np.float32),
        script=np.zeros((0 if continuous else 1, 3), np.float32),
        script_at=np.array([[script_at]]), weight=np.ones((1, 1), np.float32),
        target=np.zeros((1, 1, 1), np.float32) if continuous else np.zeros((1, 1), np.int64),
        target_script=np.zeros((size, size), np.float32), endless=np.zeros(1, np.bool_),
    )  # fmt: skip
    one = np.zeros(1, np.int64)
    path = kernel_fuzz.Steps(one, one, np.array([[skip + steps]]), one + skip, one + steps)
    targets = np.zeros((1, steps, 1), np.float32) if continuous else np.zeros((1, steps), np.int64)
    inputs, weights = np.zeros((1, steps, 3), np.float32), np.zeros((1, steps), np.float32)
    with pytest.raises(ValueError, match="script_at out of range"):
        kernel_in_use().module.fill(shown, path, one, 0, inputs, targets, weights, None)


@pytest.mark.parametrize(("columns", "segments"), [(3, 2), (2, 0)])
def test_a_path_of_broken_rounds_is_refused(columns, segments):
    one = np.zeros(1, np.int64)
    shown = Shown(
        shown=np.zeros((1, segments, 1), np.float32), sd=np.zeros((1, segments, 1), np.float32),
        script=np.zeros((0, 1), np.float32), script_at=np.full((1, segments), -1),
        target=np.zeros((1, segments), np.int64), target_script=np.zeros((0, 0), np.float32),
        weight=np.ones((1, segments), np.float32),
    )  # fmt: skip
    path = kernel_fuzz.Steps(one, one, np.ones((1, columns), np.int64))
    with pytest.raises(ValueError, match="path out of range"):
        kernel_in_use().module.fill(
            shown, path, one, 0, np.zeros((1, 9, 1), np.float32), np.zeros((1, 9), np.int64),
            np.zeros((1, 9), np.float32), None,
        )  # fmt: skip


def test_a_batch_is_not_written_over_its_own_tables():
    tables = a_game().tables
    path = tables.duration[:1].astype(np.int64)
    places = int(path.sum())
    weights = np.zeros(places * tables.n_units + places, np.float32)
    shown = tables.but(weight=weights[: tables.weight.size].reshape(tables.weight.shape))
    steps = kernel_fuzz.Steps(np.zeros(1, np.int64), np.zeros(1, np.int64), path)
    with pytest.raises(ValueError, match="write weights over weight"):
        kernel_in_use().module.fill(
            shown, steps, np.zeros(1, np.int64), 0, np.zeros((places, tables.n_units), np.float32),
            np.zeros(places, np.int64), weights[:places], None,
        )  # fmt: skip


def test_noise_of_a_broadcast_shape_is_refused_before_it_is_searched():
    """A search of so many values does not end."""
    tables = a_game().tables
    path = tables.duration[:1].astype(np.int64)
    places = int(path.sum())
    sd = np.broadcast_to(np.zeros(1, np.float32), (*tables.sd.shape[:-1], 1 << 40))
    steps = kernel_fuzz.Steps(np.zeros(1, np.int64), np.zeros(1, np.int64), path)
    with pytest.raises(ValueError, match="sd"):
        kernel_in_use().module.fill(
            tables.but(sd=sd), steps, np.zeros(1, np.int64), 0,
            np.zeros((places, tables.n_units), np.float32), np.zeros(places, np.int64),
            np.zeros(places, np.float32), None,
        )  # fmt: skip
