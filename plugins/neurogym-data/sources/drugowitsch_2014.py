"""Visual-vestibular heading: seven MATLAB files, one a person, of Drugowitsch et al. (2014)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from common import Commit, write
from scipy.io import loadmat

NAME = "drugowitsch-2014"
COLUMNS = (
    "subject", "modality", "heading", "visual_coherence", "direction", "choice", "outcome",
    "reaction_time",
)  # fmt: skip
MODALITIES = {1: "visual", 2: "vestibular", 3: "both"}
SIDES = ("left", "right")


def rows(source: Commit) -> Iterator[dict[str, Any]]:
    """Yield all trials, in the order of the files."""
    for person in "abcdefg":
        data = source.read(f"vis_vest/vis_vest_{person}.mat")
        file = loadmat(io.BytesIO(data), simplify_cells=True)
        columns = (file[name].tolist() for name in ("oris", "mods", "cohs", "choice", "rt"))
        for heading, modality, coherence, chosen, seconds in zip(*columns, strict=True):
            direction, choice = SIDES[heading > 0], SIDES[chosen]
            yield {
                "subject": person,
                "modality": MODALITIES[modality],
                "heading": float(heading),
                "visual_coherence": round(100 * coherence),
                "direction": direction,
                "choice": choice,
                "outcome": "correct" if choice == direction else "error",
                "reaction_time": round(1000 * seconds, 1),
            }


if __name__ == "__main__":
    write(NAME, COLUMNS, rows(Commit(NAME)))
