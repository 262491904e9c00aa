"""`Epochs`: an endless dataset in epochs of a fixed number of batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from neurogym_core import InvalidValueError


class Epochs:
    """Batches of a `TorchDataset` or `TaskMix`, in epochs; for PyTorch Lightning.

    Its length is known, so Lightning does not fetch a batch before it needs it: the position that
    Lightning saves with its checkpoints is that of the training, and a resumed run goes on with the
    next batch. An epoch that was interrupted is continued.

    Args:
        dataset: the dataset. Epochs follow each other in its stream; no batch is repeated.
        batches: number of batches per epoch, at least 1.

    Raises:
        InvalidValueError: `batches` is no such number.
    """

    def __init__(self, dataset: Any, batches: int) -> None:
        if isinstance(batches, bool) or not isinstance(batches, int) or batches < 1:
            raise InvalidValueError(
                f"Epochs was given batches={batches!r}. Expected a whole number, at least 1. Give"
                " the number of batches of an epoch, such as 100."
            )
        self.dataset, self.batches = dataset, batches
        self._given = 0  # batches of the current epoch

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return self.batches

    def __iter__(self) -> Iterator[Any]:
        self._given %= self.batches
        while self._given < self.batches:
            self._given += 1
            yield next(self.dataset)

    def state_dict(self) -> dict[str, Any]:
        """Return the position in the stream and in the epoch."""
        return {"dataset": self.dataset.state(), "given": self._given}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Return to a position that `state_dict` returned."""
        self.dataset.go_to(state["dataset"])
        self._given = state["given"]
