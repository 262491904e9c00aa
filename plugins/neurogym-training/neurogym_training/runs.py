"""`Run`: the folder of one training run."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from neurogym_core import InvalidValueError, NotSupportedError
from neurogym_core.tools import replacing
from neurogym_training.artefacts import NamedFile, check_artefact, files_named_in
from neurogym_training.experiment import ENDING, Experiment
from neurogym_training.facts import differences, facts_of
from neurogym_training.training import CURVE_FILE, Trainer

SETTINGS_FILE = "settings.json"
LOCK_FILE = ".lock"
FORMAT = 1
SHOWN = 6
"""Number of differences that a warning lists."""
_OWN = (SETTINGS_FILE, CURVE_FILE, "card.md")


class RunDiffers(UserWarning):
    """A run is opened with other packages, another task or other defaults than at its start."""


class Run:
    """The folder of a training run.

    ``settings.json`` holds the experiment, the versions of packages, all settings of the trainer
    with its defaults, the resolved parameters of the tasks, and hashes of their files;
    ``curve.csv`` the results of the tests; and the trainer's checkpoint its state.

    Attributes:
        checkpoint: folder of the checkpoint: that of the run, which has the newest one, or one in
            it, such as ``best``.
        facts: the contents of ``settings.json`` beside the experiment; None: not written yet.
    """

    def __init__(
        self, folder: Path, experiment: Experiment, facts: dict[str, Any] | None = None
    ) -> None:
        self.folder, self.experiment, self.facts = folder, experiment, facts
        self.checkpoint = folder
        self._said: set[str] = set()

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
    def open(cls, folder: str | Path, *, trust: bool = False) -> Run:
        """Return the run in a folder. No code of the run is executed yet.

        Args:
            folder: the folder of the run, or of another checkpoint in it, such as ``run/best``.
            trust: whether code in Python files that the run names may be executed.

        Warns:
            RunDiffers: a file that it names was edited since the run began.

        Raises:
            InvalidValueError: the folder holds no run, or one of another format; or the run names
                Python files, and they are not trusted.
        """
        folder, checkpoint = _run_of(Path(folder))
        file = folder / SETTINGS_FILE
        try:
            said = json.loads(file.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            raise InvalidValueError(
                f"{str(folder)!r} holds no run: it has no {SETTINGS_FILE}. Give a folder that `ngym"
                " train --out` wrote."
            ) from None
        except json.JSONDecodeError as error:
            raise InvalidValueError(
                f"{str(file)!r} is not JSON: {error}. Train again into another folder."
            ) from error
        if not isinstance(said, dict) or said.get("format") != FORMAT:
            said = said if isinstance(said, dict) else {}
            raise InvalidValueError(
                f"{str(file)!r} has the format {said.get('format')!r}; this version reads {FORMAT}."
                " Use the version that wrote it."
            )
        try:
            experiment = Experiment.from_plain(said["experiment"])
        except (KeyError, TypeError) as error:
            raise InvalidValueError(
                f"{str(file)!r} holds no experiment: {error}. It was edited. Restore it from a"
                " copy, or train again into another folder."
            ) from error
        facts = {name: said[name] for name in said if name not in ("format", "experiment")}
        edited = _edited(files_named_in(said["experiment"]), facts.get("files"))
        since = f" (edited since the run began: {', '.join(edited)})" if edited else ""
        check_artefact(f"The run {str(folder)!r}{since}", said["experiment"], trust=trust)
        run = cls(folder, experiment, facts)
        run.checkpoint = checkpoint
        run._warn([f"the source file {name} was edited" for name in edited], stacklevel=3)
        return run

    def write(self) -> None:
        """Write the settings; the facts of the start of the run stay as they were."""
        if self.facts is None:
            self.facts = facts_of(self.experiment, self.experiment.make_trainer())
        said = {"format": FORMAT, "experiment": self.experiment.to_plain(), **self.facts}
        with replacing(self.folder / SETTINGS_FILE) as temporary:
            temporary.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")

    @property
    def started(self) -> bool:
        """Whether the run has a checkpoint."""
        return any(
            path.is_file() and path.name not in _OWN and not path.name.startswith(".")
            for path in self.checkpoint.iterdir()
        )

    def withdraw(self) -> None:
        """Remove the settings if the run has neither a test nor a checkpoint, so that it can be
        created again.
        """
        if not self.started and not (self.folder / CURVE_FILE).exists():
            (self.folder / SETTINGS_FILE).unlink(missing_ok=True)

    def trainer(self) -> Trainer:
        """Return the trainer of the checkpoint, or a new one if there is none.

        Warns:
            RunDiffers: packages, the task or the trainer's defaults differ from those of the start.

        Raises:
            InvalidValueError: the checkpoint is missing or damaged. Nothing is written.
        """
        trainer = self.experiment.make_trainer()
        if self.facts is not None:
            found = differences(self.facts, facts_of(self.experiment, trainer))
            self._warn(found, stacklevel=3)
        if self.started:
            self._load(trainer)
        elif (self.folder / CURVE_FILE).exists():
            raise InvalidValueError(
                f"{str(self.folder)!r} has a {CURVE_FILE} but no checkpoint, so the run cannot"
                " continue. Nothing was overwritten. Restore the checkpoint from a copy, or train"
                " again into another folder."
            )
        return trainer

    def _warn(self, differ: Sequence[str], stacklevel: int) -> None:
        """Warn of differences that were not said before."""
        found = [one for one in differ if one not in self._said]
        self._said.update(found)
        if found:
            more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
            warnings.warn(
                f"The run in {str(self.folder)!r} began under other conditions, so its results can"
                f" differ: {'; '.join(found[:SHOWN])}{more}.",
                RunDiffers,
                stacklevel=stacklevel,
            )

    def _load(self, trainer: Trainer) -> None:
        try:
            trainer.load(self.checkpoint)
        except InvalidValueError:
            raise
        except Exception as error:  # whatever a damaged file causes in a trainer of any package
            line, *_ = str(error).splitlines() or [type(error).__name__]
            why = line[:200].rstrip(".")
            raise InvalidValueError(
                f"The checkpoint in {str(self.checkpoint)!r} cannot be loaded: {why}. It was"
                " damaged, or its settings were edited. Nothing was overwritten. Restore it from a"
                " copy, or train again into another folder."
            ) from error

    def kind(self) -> str:
        """Return the experiment as text, without its seed, length and criterion: runs of one kind
        are seeds of one subject.
        """
        alike = dict.fromkeys(ENDING) | {"seed": 0, "amount": 0}
        return json.dumps(replace(self.experiment, **alike).to_plain(), sort_keys=True)

    def subject(self) -> Any:
        """Return the trained network or agent as a subject for `neurogym_core.run`."""
        return self.trainer().subject()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from training in the folder; the system unlocks it in any case.

        Raises:
            InvalidValueError: another process trains there.
        """
        with (self.folder / LOCK_FILE).open("a") as file:
            try:
                _lock(file.fileno())
            except OSError:
                raise InvalidValueError(
                    f"Another process is training the run in {str(self.folder)!r}. Expected one at"
                    " a time. Wait until it ends, or train into another folder. Nothing was"
                    " overwritten."
                ) from None
            yield


def begin(folder: Path, trainer: Trainer, until: int, **ending: Any) -> None:
    """Write the settings of a training that begins in a folder, unless they are there.

    Warns:
        UserWarning: the trainer cannot be made again by name.

    Raises:
        InvalidValueError: the folder has a checkpoint, and the trainer is a new one.
    """
    known = (folder / SETTINGS_FILE).exists()
    if known and not trainer.curve and (folder / CURVE_FILE).exists():
        raise InvalidValueError(
            f"{str(folder)!r} already holds a trained run, and a new trainer was to be trained into"
            " it. Expected a new folder. Give another one, or continue the run:"
            " neurogym_training.Run.open(folder).trainer()."
        )
    if known:
        return
    if callable(ending["criterion"]):
        ending["criterion"] = None
    try:
        experiment = Experiment.of_trainer(trainer, until, **ending)
    except NotSupportedError as error:
        warnings.warn(
            f"The run in {str(folder)!r} cannot be opened by commands, because {error}. Its"
            " checkpoints can be loaded in Python, by Trainer.load. To open it, write the class"
            " into a file, and import it or give the trainer 'file.py:Class'.",
            UserWarning,
            stacklevel=4,
        )
        return
    folder.mkdir(parents=True, exist_ok=True)
    Run(folder, experiment, facts_of(experiment, trainer)).write()


def finish(folder: Path, trainer: Trainer) -> None:
    """Write the card of a run whose training has ended, unless commands cannot open it."""
    from neurogym_training.card import write_card  # which imports this module

    if (folder / SETTINGS_FILE).exists():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RunDiffers)  # said when it was opened
            write_card(Run.open(folder, trust=True), trainer)


def _run_of(folder: Path) -> tuple[Path, Path]:
    """Return the folder of the run to which a folder belongs, and that of the checkpoint.

    Raises:
        InvalidValueError: the run has no such checkpoint.
    """
    if (folder / SETTINGS_FILE).exists() or not (folder.parent / SETTINGS_FILE).exists():
        return folder, folder
    if not folder.is_dir():
        known = [path.name for path in sorted(folder.parent.iterdir()) if path.is_dir()]
        raise InvalidValueError(
            f"The run {str(folder.parent)!r} has no checkpoint {folder.name!r}. Expected one of"
            f" {', '.join(known) or 'none: only the newest was kept'}. Give {folder.parent}, its"
            " newest one, or another."
        )
    return folder.parent, folder


def _edited(named: Sequence[NamedFile], hashes: Any) -> list[str]:
    """Return the names of files whose hash differs from those that the run noted of the name."""
    noted: dict[str, list[Any]] = {}
    for name, sha256 in hashes.items() if isinstance(hashes, dict) else ():
        noted.setdefault(Path(name).name, []).append(sha256)
    found = [
        one.path.name for one in named if one.sha256 not in noted.get(one.path.name, [one.sha256])
    ]
    return list(dict.fromkeys(found))


if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
