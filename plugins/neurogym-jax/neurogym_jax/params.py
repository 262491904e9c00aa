"""`Params`: the trials that an env plays, as arrays; and where they come from.

Params have either all types of trials with their probabilities (`exact_params`), or a deck: the
trials of a seed in the order of the core's dealer (`Decks`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from neurogym_core import Choice, Constant, InvalidValueError, NotSupportedError, Task
from neurogym_core.players import (
    Block,
    Dealer,
    TaskView,
    build_trials,
    checked_split,
    noise_key,
    sequence_of,
)
from neurogym_jax.packing import Packed, joined, noisy_units, pack

MOST_TYPES = 4096
"""Largest number of types of trials that are enumerated."""
DECK = 1024
"""Number of trials of a deck."""
ENDLESS = 1 << 30
"""Trials of a session that never ends."""


def _static() -> Any:
    return field(metadata={"static": True})


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class Params:
    """The trials of an env. Params of equal shapes replace each other without a compilation.

    Attributes:
        segment, cell, kind, graded, shown, sd, script, target, target_script, aim: tables; see
            `packing.Packed`.
        needs, again, first_action: (K,), properties of the slots.
        path: (k, V) int32, steps of each segment on the path of the oracle, round after round; V is
            S or a multiple of it.
        weight: (k, S) float32, weight of a step in a supervised loss.
        deck: (D,) int32, type of each trial of the deck; (0,): types are drawn.
        first: () uint32, serial number of the first trial of the deck.
        key: (2,) uint32, key of the deck's noise.
        alias, share: (k,) the tables of the alias method, which draws a type from two words.
        max_steps_in_episode: the longest session in steps; the name is gymnax's.
        noisy: first and last + 1 of the units with noise.
        per_session: trials per session; `ENDLESS` if it never ends.
        shortest: steps of the shortest trial on the oracle's path, or fewer.
        spread: trials between the positions at which envs may begin in a deck.
    """

    segment: jax.Array
    cell: jax.Array
    kind: jax.Array
    graded: jax.Array
    shown: jax.Array
    sd: jax.Array
    script: jax.Array
    target: jax.Array
    target_script: jax.Array
    aim: jax.Array
    needs: jax.Array
    again: jax.Array
    first_action: jax.Array
    path: jax.Array
    weight: jax.Array
    deck: jax.Array
    first: jax.Array
    key: jax.Array
    alias: jax.Array
    share: jax.Array
    max_steps_in_episode: int = _static()
    noisy: tuple[int, int] = _static()
    per_session: int = _static()
    shortest: int = _static()
    spread: int = _static()


def words_of(key: int) -> np.ndarray:
    """Return the low and the high word of a key of 64 bits, (2,) uint32."""
    return np.array([key & 0xFFFFFFFF, key >> 32], np.uint32)


def key(seed: int, split: str | None = None) -> jax.Array:
    """Return the JAX key, (2,) uint32, whose noise is that of the core's envs with this seed.

    An env that is reset with it begins with the first trial of the seed's deck.

    Args:
        seed: the seed.
        split: the split of the core's envs; that of the JAX env has to be the same.

    Example:
        >>> import neurogym_jax
        >>> neurogym_jax.key(0).dtype, neurogym_jax.key(0).shape
        (dtype('uint32'), (2,))
    """
    sequence = sequence_of(seed, checked_split(split, "key()"))
    # The same child as in `Dealer.seed`.
    noise = np.random.SeedSequence(sequence.entropy, spawn_key=(*sequence.spawn_key, 1))
    return jnp.asarray(words_of(noise_key(noise, split)))


def whole_number(owner: str, name: str, value: Any) -> int:
    """Return an argument as an int of at least 1; `owner` is its function, for the message."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InvalidValueError(
            f"{owner} was given {name}={value!r}. Expected a whole number, at least 1. Give one."
        )
    return int(value)


def check_playable(task: Task) -> None:
    """Check that the trials of a task do not depend on the subject.

    Raises:
        NotSupportedError: they do; the message names the reason.
    """
    reason = why_not(task)
    if reason is not None:
        raise NotSupportedError(
            f"{task.name} was given to neurogym_jax, but {reason}. Expected a task that is a table:"
            " no hooks, no draws that read outcomes. Play it with neurogym_core.make_vec."
        )


def why_not(task: Task) -> str | None:
    """Return why a task is not a table, or None if it is one."""
    if TaskView(task).hooks:
        hooks = ", ".join(sorted(TaskView(task).hooks))
        return f"it computes its steps in Python hooks ({hooks})"
    if task.reads_outcomes:
        return "its draws read the outcomes of earlier trials"
    return None


# ---------------------------------------------------------------------- exact


def exact_params(task: Task) -> Params | None:
    """Return params with all types of trials and their probabilities; None without such a list.

    There is one if all conditions are independent choices or constants, and if equal conditions
    give equal trials: `new_trial` draws nothing, and no duration varies.
    """
    found = _enumerated(task)
    if found is None:
        return None
    conditions, probability = found
    rng = np.random.default_rng(0)
    before = str(rng.bit_generator.state)
    types = build_trials(task, conditions, rng, len(probability), {}).tables
    if types.random or len(types.script) or str(rng.bit_generator.state) != before:
        return None
    used = np.arange(len(probability))
    noisy = noisy_units(types)
    packed = pack(types, used, noisy, types.reward.shape[1])
    alias, share = _alias_tables(probability)
    empty = np.zeros(0, np.int32)
    paths = [(types.path[used], types.weight[used])]
    return _params(task, packed, paths, noisy, empty, 0, np.zeros(2, np.uint32), alias, share)


def _enumerated(task: Task) -> tuple[dict[str, np.ndarray], np.ndarray] | None:
    """Return all combinations of conditions, and their probabilities, or None."""
    view = TaskView(task)
    if view.stateful or view.wrapped is not None or view.joint or not view.distributions:
        return None
    if type(task).draw_conditions is not Task.draw_conditions:
        return None
    values, probabilities = [], []
    for law in view.distributions.values():
        if isinstance(law, Constant):
            values.append(law.support())
            probabilities.append(np.ones(1))
        elif isinstance(law, Choice):
            values.append(law.support())
            probabilities.append(np.asarray(law.probabilities, float))
        else:
            return None
    if np.prod([float(len(one)) for one in values]) > MOST_TYPES:
        return None
    index = np.array(list(product(*(range(len(one)) for one in values))))
    conditions = {
        name: one[index[:, column]]
        for column, (name, one) in enumerate(zip(view.distributions, values, strict=True))
    }
    share = [one[index[:, column]] for column, one in enumerate(probabilities)]
    given = np.prod(share, axis=0)
    possible = np.flatnonzero(given > 0)
    conditions = {name: one[possible] for name, one in conditions.items()}
    # As drawn conditions are: checked, and read-only views where a value is constant.
    conditions = task.draw_conditions(np.random.default_rng(0), len(possible), conditions)
    return conditions, given[possible] / given.sum()


def _alias_tables(probability: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (k,) the other type, and the share, of each column of Walker's alias method."""
    k = len(probability)
    left = probability * k
    alias, share = np.arange(k), np.ones(k)
    small = [i for i in range(k) if left[i] < 1]
    large = [i for i in range(k) if left[i] >= 1]
    while small and large:
        one, other = small.pop(), large.pop()
        alias[one], share[one] = other, left[one]
        left[other] -= 1 - left[one]
        (small if left[other] < 1 else large).append(other)
    return alias.astype(np.int32), share.astype(np.float32)


# ---------------------------------------------------------------------- decks


class Decks(Iterator[Params]):
    """Endless decks of the trials of a seed, in the order in which the core's env plays them.

    Decks have equal shapes, so that the next one replaces the last one without a compilation. (If
    it has more types of trials or longer scripts than all before it, sizes double.)

    Args:
        task: the task.
        seed, split: as in the core.
        trials: trials of a deck; rounded up to whole sessions if trials depend on their session.
    """

    def __init__(
        self,
        task: Task,
        seed: int | None = None,
        trials: int = DECK,
        split: str | None = None,
    ) -> None:
        whole_number("Decks", "trials", trials)
        self.task = task
        self._dealer = Dealer(task, 1, seed, checked_split(split, "Decks"))
        sessions = TaskView(task).stateful
        if sessions:
            self._dealer.new_sessions()
        length = task.trials_per_session
        self.spread = length if sessions and length is not None else 1
        self.trials = -(-trials // self.spread) * self.spread
        self._block: Block | None = None
        self._row = 0
        self._types = self._rows = self._segments = 0

    def __next__(self) -> Params:
        taken: list[tuple[Block, np.ndarray]] = []
        need, first = self.trials, None
        while need:
            if self._block is None or self._row == len(self._block):
                self._block, self._row = self._dealer.block(), 0
            block, begin = self._block, self._row
            first = block.first_serial + begin if first is None else first
            self._row = min(begin + need, len(block))
            taken.append((block, block.kind[begin : self._row]))
            need -= self._row - begin
        return self._packed(taken, first)

    def _packed(self, taken: list[tuple[Block, np.ndarray]], first: int) -> Params:
        noisy = [noisy_units(block.tables) for block, _ in taken]
        loud = [one for one in noisy if one.stop] or [slice(0, 0)]
        units = slice(min(one.start for one in loud), max(one.stop for one in loud))
        widest = max(block.tables.reward.shape[1] for block, _ in taken)
        self._segments = max(self._segments, widest)
        parts, paths, deck, offset = [], [], [], 0
        for block, kinds in taken:
            used, kind = np.unique(kinds, return_inverse=True)
            parts.append(pack(block.tables, used, units, self._segments))
            paths.append((block.tables.path[used], block.tables.weight[used]))
            deck.append(kind + offset)
            offset += len(used)
        self._types = _room(self._types, offset)
        self._rows = _room(self._rows, sum(len(part.script) for part in parts))
        packed = joined(parts, self._types, self._rows)
        alias, share = np.zeros(self._types, np.int32), np.ones(self._types, np.float32)
        words = words_of(self._dealer.key)
        kinds = np.concatenate(deck).astype(np.int32)
        return _params(self.task, packed, paths, units, kinds, first, words, alias, share,
                       self.spread)  # fmt: skip


def _room(size: int, needed: int) -> int:
    """Return a size that has room, doubled where it has not."""
    return size if needed <= size else 1 << (needed - 1).bit_length()


def _params(
    task: Task,
    packed: Packed,
    paths: list[tuple[np.ndarray, np.ndarray]],
    noisy: slice,
    deck: np.ndarray,
    first: int,
    words: np.ndarray,
    alias: np.ndarray,
    share: np.ndarray,
    spread: int = 1,
) -> Params:
    types, segments = packed.shown.shape[:2]

    def padded(values: list[np.ndarray], dtype: Any) -> np.ndarray:
        wide = [np.pad(one, [(0, 0), (0, segments - one.shape[1])]) for one in values]
        whole = np.concatenate(wide).astype(dtype)
        return np.pad(whole, [(0, types - len(whole)), (0, 0)])

    most = max(path.shape[1] // weight.shape[1] for path, weight in paths)

    def in_rounds(path: np.ndarray, own: int) -> np.ndarray:
        turns = path.reshape(len(path), -1, own)
        room = [(0, 0), (0, most - turns.shape[1]), (0, segments - own)]
        wide: np.ndarray = np.pad(turns, room).reshape(len(path), most * segments)
        return wide

    in_order = np.concatenate([in_rounds(path, weight.shape[1]) for path, weight in paths])
    per_session = task.trials_per_session or ENDLESS
    longest = int(packed.kind[:, 0].max())
    shortest = min(int(path.sum(axis=1).min()) for path, _ in paths)
    arrays = dict(
        packed._asdict(),
        path=np.pad(in_order, [(0, types - len(in_order)), (0, 0)]).astype(np.int32),
        weight=padded([weight for _, weight in paths], np.float32),
        deck=deck,
        first=np.uint32(first),
        key=words,
        alias=alias,
        share=share,
    )
    static = {
        # Powers of two, so that few decks with other lengths of trials need a compilation.
        "max_steps_in_episode": min(_room(0, longest) * per_session, ENDLESS),
        "noisy": (noisy.start, noisy.stop),
        "per_session": per_session,
        "shortest": 1 << (shortest.bit_length() - 1),
        "spread": spread,
    }
    assert {one.name for one in fields(Params)} == arrays.keys() | static.keys()
    return Params(**{name: jnp.asarray(value) for name, value in arrays.items()}, **static)
