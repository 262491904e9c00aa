"""`Library`: trials that were laid out before, so that those with the same conditions need not be laid out again.

Where conditions say all of a trial but its noise (no duration is drawn, `new_trial` draws nothing), a task has as many
kinds of trials as its conditions have combinations. Looking one up is several times as fast as laying it out.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core.trials.batch import TrialBatch, hash_words, words_of


class Library:
    """One trial of every kind that was met.

    Attributes:
        kinds: these k trials.
    """

    def __init__(self, kinds: TrialBatch) -> None:
        self.kinds = kinds
        self._words = words_of(kinds.conditions.values())
        hashes = hash_words(self._words)
        self._order = np.argsort(hashes)
        self._hashes = hashes[self._order]

    @classmethod
    def of(cls, batch: TrialBatch) -> Library | None:
        """The kinds of a batch, or None where too few of its trials are alike, or trials differ that should be alike."""
        if batch.random or batch.frames or not batch.conditions:
            return None
        words = words_of(batch.conditions.values())
        _, first, kind = np.unique(hash_words(words), return_index=True, return_inverse=True)
        if 2 * len(first) > len(batch):
            return None
        columns = [words, batch.duration, batch.target, batch.weight, batch.shown, *batch.notes.values()]
        if len(batch.noise) > 1:
            columns.append(batch.noise)
        if not all(np.array_equal(values, values[first][kind]) for values in columns):
            return None
        library = cls(batch.take(first))
        batch.like = (library.kinds, kind)
        return library

    def find(self, conditions: Mapping[str, np.ndarray]) -> TrialBatch | None:
        """The trials with these conditions, (n, …) each; None if one of them is of no kind that was met."""
        if conditions.keys() != self.kinds.conditions.keys():
            return None
        words = words_of(conditions.values())
        if words.shape[1] != self._words.shape[1]:
            return None
        place = np.searchsorted(self._hashes, hash_words(words))
        kind = self._order[np.minimum(place, len(self._order) - 1)]
        if not np.array_equal(self._words[kind], words):
            return None
        return self.trials(kind)

    def trials(self, kind: np.ndarray) -> TrialBatch:
        """Trials of these kinds."""
        batch = self.kinds.take(kind)
        batch.like = (self.kinds, kind)
        return batch
