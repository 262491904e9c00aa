"""`Run`: the folder of one training run."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any

from neurogym_core.errors import InvalidValueError
from neurogym_core.files import replacing
from neurogym_study.experiment import Experiment
from neurogym_study.training import CURVE_FILE, Trainer

SETTINGS_FILE = "settings.json"
FORMAT = 1


class Run:
    """The folder of a training run.

    ``settings.json`` holds the experiment and the versions of packages, ``curve.csv`` the results
    of the tests, and the trainer's checkpoint its state.
    """

    def __init__(self, folder: Path, experiment: Experiment) -> None:
        self.folder, self.experiment = folder, experiment

    @classmethod
    def create(cls, folder: str | Path, experiment: Experiment) -> Run:
        """Start a run in a folder.

        Raises:
            InvalidValueError: the folder already holds a run.
        """
        folder = Path(folder)
        if (folder / SETTINGS_FILE).exists():
            raise InvalidValueError(
                f"{str(folder)!r} already holds a run. Expected a new folder. Resume the run"
                " (--resume), or name another folder."
            )
        folder.mkdir(parents=True, exist_ok=True)
        run = cls(folder, experiment)
        run.write()
        return run

    @classmethod
    def open(cls, folder: str | Path) -> Run:
        """Return the run in a folder.

        Raises:
            InvalidValueError: the folder holds no run, or one of another format.
        """
        file = Path(folder) / SETTINGS_FILE
        try:
            said = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InvalidValueError(
                f"{str(folder)!r} holds no run: it has no {SETTINGS_FILE}. Give a folder that `ngym"
                " train --out` wrote."
            ) from None
        except json.JSONDecodeError as error:
            raise InvalidValueError(
                f"{str(file)!r} is not JSON: {error}. Train again into another folder."
            ) from error
        if said.get("format") != FORMAT:
            raise InvalidValueError(
                f"{str(file)!r} has the format {said.get('format')!r}; this version reads {FORMAT}."
                " Use the version that wrote it."
            )
        return cls(Path(folder), Experiment.from_plain(said["experiment"]))

    def write(self) -> None:
        """Write the settings."""
        said = {"format": FORMAT, "experiment": self.experiment.to_plain(), "versions": _versions()}
        with replacing(self.folder / SETTINGS_FILE) as temporary:
            temporary.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")

    @property
    def started(self) -> bool:
        """Whether the run has a checkpoint."""
        return (self.folder / CURVE_FILE).exists()

    def trainer(self) -> Trainer:
        """Return the trainer of the newest checkpoint, or a new one if there is none."""
        trainer = self.experiment.make_trainer()
        if self.started:
            trainer.load(self.folder)
        return trainer

    def subject(self) -> Any:
        """Return the trained network or agent as a subject for `neurogym_core.run`."""
        return self.trainer().subject()


def _versions() -> dict[str, str]:
    """Return the versions of the packages that affect the results."""
    found = {}
    for name in (
        "neurogym-core",
        "neurogym-study",
        "neurogym-jax",
        "neurogym-torch",
        "neurogym-sb3",
        "numpy",
        "torch",
        "stable-baselines3",
    ):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
