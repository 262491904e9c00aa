"""Trained networks and agents as files: packing runs, an index with hashes, and getting them.

A collection is a folder with ``models.json`` and one archive per model, such as the files of a
release. The hash in the index is compared before anything is unpacked; a run that names Python
files asks for trust when it is opened, and checkpoints are loaded without running code.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit
from urllib.request import url2pathname, urlopen

from neurogym_core import InvalidValueError, NeurogymError
from neurogym_core.tools import is_file_reference, replacing, unknown
from neurogym_training.card import CARD_FILE
from neurogym_training.runs import SETTINGS_FILE, Run
from neurogym_training.training import CURVE_FILE, Trainer

INDEX, FORMAT = "models.json", 1
MOST = 1 << 30
"""Largest archive, and largest contents of one, bytes."""
MOST_INDEX = 1 << 22
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")
_HASH = re.compile(r"[0-9a-f]{64}")
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""Date of files in archives, so that the same run has the same hash."""
WAIT = 30.0
"""s without an answer of a server."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model in a collection.

    Attributes:
        name: its name, and that of the folder.
        file: name of its archive.
        sha256, size: hash (hexadecimal) and bytes of the archive.
        tasks: ids of the tasks that it has learned.
        trainer: name of the trainer.
        accuracy: accuracy in the test of its checkpoint; None: not stated.
    """

    name: str
    file: str
    sha256: str
    size: int
    tasks: tuple[str, ...]
    trainer: str
    accuracy: float | None = None


def pack(runs: Sequence[str | Path], out: str | Path) -> list[Model]:
    """Write archives of runs and their index into a folder; models that are there stay.

    An archive has the settings, the curve and the card of the run, and the files of its checkpoint;
    other files stay out. If one run is refused, nothing is written.

    Args:
        runs: folders of runs, or of checkpoints in them, such as ``run/best``.
        out: the folder of the collection.

    Raises:
        InvalidValueError: a folder is no run, has no checkpoint or no test, has a symbolic link,
            names Python files that others do not have, or has the name of another model; or `out`
            cannot be a folder.
    """
    out = Path(out)
    known = models(out) if os.path.lexists(out / INDEX) else []
    made: list[Model] = []
    with _folder(out, "--out"):
        try:
            for given in runs:
                model, content = _packed(Run.open(given, trust=True), out, [*known, *made])
                made.append(model)  # first, so that its file is removed if writing fails
                with replacing(out / model.file) as temporary:
                    temporary.write_bytes(content)
            said = {"format": FORMAT, "models": [_plain(one) for one in (*known, *made)]}
            with replacing(out / INDEX) as temporary:
                temporary.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")
        except BaseException:
            for one in made:
                (out / one.file).unlink(missing_ok=True)
            raise
    return made


def models(place: str | Path) -> list[Model]:
    """Return the models of a collection.

    Args:
        place: its folder, or the address of it (``https://…``, ``file:///…``).

    Raises:
        InvalidValueError: there is no index, or it is not valid.
    """
    text = _read(str(place), INDEX, MOST_INDEX)
    try:
        said = json.loads(text)
        found = [_model(one) for one in said["models"]] if said["format"] == FORMAT else None
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise InvalidValueError(
            f"{INDEX} in {str(place)!r} cannot be read: {error!r}. Expected an index that `ngym"
            " models pack` wrote. Ask its author for another."
        ) from None
    if found is None:
        raise InvalidValueError(
            f"{INDEX} in {str(place)!r} has the format {said['format']!r}; this version reads"
            f" {FORMAT}. Use another version."
        )
    return found


def get(name: str, place: str | Path, out: str | Path | None = None) -> Path:
    """Copy a model of a collection into a folder, and return it; every command opens it as a run.

    Args:
        name: name of the model.
        place: as in `models`.
        out: the new folder; None: the name, in the current folder.

    Raises:
        UnknownNameError: there is no such model.
        InvalidValueError: the folder exists or cannot be written, or the archive has another hash
            or size, is unsafe, or holds no run. Nothing is kept.
    """
    known = {one.name: one for one in models(place)}
    if name not in known:
        raise unknown("model", name, known, of=str(place))
    model, folder = known[name], Path(name if out is None else out)
    if os.path.lexists(folder):  # also a link that leads nowhere
        raise InvalidValueError(
            f"{str(folder)!r} exists. Expected a new folder. Give another one: --out."
        )
    content = _read(str(place), model.file, model.size)
    found = hashlib.sha256(content).hexdigest()
    if found != model.sha256 or len(content) != model.size:
        raise InvalidValueError(
            f"The archive of {name!r} has the hash {found[:12]}... and {len(content)} bytes;"
            f" expected {model.sha256[:12]}... and {model.size}. Nothing was unpacked. Get it"
            " again, or ask the author of the collection."
        )
    with (
        _folder(folder.parent, "--out"),
        tempfile.TemporaryDirectory(dir=folder.parent, prefix=".ngym-") as temporary,
    ):
        made = Path(temporary) / "model"
        made.mkdir()
        _unpack(content, made, name)
        made.rename(folder)
    return folder


@contextmanager
def _folder(folder: Path, option: str) -> Iterator[None]:
    """Make a folder and its parents; if the block fails, those that are new are removed.

    Raises:
        InvalidValueError: it is a file or lies below one, or cannot be written.
    """
    new = [one for one in (folder, *folder.parents) if not os.path.lexists(one)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException as error:
        for one in new:
            with suppress(OSError):  # it was not made, or another process has put a file there
                one.rmdir()
        if isinstance(error, OSError) and not isinstance(error, NeurogymError):
            raise InvalidValueError(
                f"Nothing can be written into {str(folder)!r}: {error.strerror or error}. Expected"
                f" a folder, or a place for a new one. Give another: {option}."
            ) from error
        raise


def _packed(run: Run, out: Path, known: Sequence[Model]) -> tuple[Model, bytes]:
    """Return a run as a model of the collection in a folder, and its archive."""
    name = run.folder.resolve().name
    file = f"{name}.zip"
    names = {one.name for one in known}
    if name in names or not _NAME.fullmatch(file) or os.path.lexists(out / file):
        raise InvalidValueError(
            f"The run {str(run.folder)!r} would be the model {name!r}, which is taken or no"
            " name. Expected letters, digits, '.', '_' and '-'. Rename its folder."
        )
    _check(run)
    trainer = run.trainer()
    content = _archive(run, trainer)
    # A checkpoint has the curve up to it.
    accuracy = trainer.curve[-1].get("accuracy") if trainer.curve else None
    model = Model(
        name=name, file=file, sha256=hashlib.sha256(content).hexdigest(), size=len(content),
        tasks=tuple(str(task["task"]) for task in run.experiment.tasks),
        trainer=run.experiment.trainer,
        accuracy=accuracy if accuracy is not None and math.isfinite(accuracy) else None,
    )  # fmt: skip
    return model, content


def _check(run: Run) -> None:
    """Refuse a run that others cannot open, or that leads to files elsewhere.

    Raises:
        InvalidValueError: see `pack`.
    """
    if not run.started or not (run.folder / CURVE_FILE).exists():
        raise InvalidValueError(
            f"The run {str(run.checkpoint)!r} has no checkpoint, or was never tested. Expected a"
            " trained run. Train it first."
        )
    files = [task["task"] for task in run.experiment.tasks if is_file_reference(str(task["task"]))]
    files += [str(one) for one in run.experiment.options.values() if is_file_reference(str(one))]
    if files:
        raise InvalidValueError(
            f"The run {str(run.folder)!r} names {files[0]}, which others do not have. Expected"
            " tasks and trainers of packages. Put it into a package, and train again."
        )
    for folder in dict.fromkeys((run.folder, run.checkpoint)):
        for path in sorted(folder.iterdir()):
            if path.is_symlink():  # its target may be private
                raise InvalidValueError(
                    f"The run {str(run.folder)!r} has the link {path.name!r}. Expected files, since"
                    " links are not followed. Replace it by a copy, or remove it."
                )


def _archive(run: Run, trainer: Trainer) -> bytes:
    """Return the settings, curve and card of a run, and the files of its checkpoint, as an archive.

    The files of a checkpoint are those that its trainer writes.
    """
    with tempfile.TemporaryDirectory() as folder:
        trainer.save(Path(folder))
        saved = [path.name for path in Path(folder).iterdir()]
    chosen = {name: run.checkpoint / name for name in saved}
    chosen |= {name: run.folder / name for name in (SETTINGS_FILE, CURVE_FILE, CARD_FILE)}
    chosen = {name: path for name, path in chosen.items() if path.exists()}
    wrong = [
        name for name, path in chosen.items() if not _NAME.fullmatch(name) or not path.is_file()
    ]
    if wrong or sum(path.stat().st_size for path in chosen.values()) > MOST:
        raise InvalidValueError(
            f"The run {str(run.folder)!r} has {repr(wrong[0]) if wrong else 'too large files'}."
            f" Expected files of {MOST} bytes together, without folders and hidden files. Train"
            " with another trainer, or share the folder of the run itself."
        )
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(chosen):
            info = zipfile.ZipInfo(name, _FIRST_DAY)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            try:
                content = chosen[name].read_bytes()
            except OSError as error:
                raise InvalidValueError(
                    f"{name} of the run {str(run.folder)!r} cannot be read: {error.strerror}."
                    " Expected files that you may read. Change their permissions."
                ) from error
            archive.writestr(info, content)
    return buffer.getvalue()


def _plain(model: Model) -> dict[str, Any]:
    """Return a model as data for JSON; `_model` is the inverse."""
    return {name: value for name, value in asdict(model).items() if value is not None}


def _model(said: Any) -> Model:
    """Return a model of an index, which another person may have written.

    Raises:
        ValueError, KeyError, TypeError, OverflowError: it has another form.
    """
    tasks = said["tasks"]
    if not isinstance(tasks, list) or not all(
        isinstance(one, str) and one.isprintable() for one in tasks
    ):
        raise ValueError(f"tasks of {tasks!r}, which is no list of printable texts")
    if "accuracy" in said:
        accuracy = said["accuracy"]
        number = isinstance(accuracy, int | float) and not isinstance(accuracy, bool)
        if not number or not math.isfinite(accuracy):
            raise ValueError(f"an accuracy of {accuracy!r}, which is no finite number")
    model = Model(**{**said, "tasks": tuple(tasks)})
    texts = (model.name, model.file, model.sha256, model.trainer)
    forms = (_NAME, _NAME, _HASH, _NAME)
    for text, form in zip(texts, forms, strict=True):
        if not isinstance(text, str) or not form.fullmatch(text):
            raise ValueError(f"{text!r} has another form")
    if type(model.size) is not int or not 0 < model.size <= MOST:
        raise ValueError(f"a size of {model.size!r} bytes")
    return model


def _read(place: str, file: str, most: int) -> bytes:
    """Return a file of a collection, of at most so many bytes."""
    address = urlsplit(place)
    scheme = address.scheme
    if scheme == "file":
        if address.netloc not in ("", "localhost"):  # that a file of this machine would replace
            raise InvalidValueError(
                f"{place!r} names the machine {address.netloc!r}. Expected a folder of this one:"
                " file:///FOLDER. Give another with --from."
            )
        place = url2pathname(address.path)
    try:
        if scheme == "https":
            with urlopen(urljoin(place.rstrip("/") + "/", file), timeout=WAIT) as stream:
                content: bytes = stream.read(most + 1)
        elif scheme == "http":
            raise InvalidValueError(f"{place!r} is not encrypted. Expected https. Give another.")
        else:
            with (Path(place) / file).open("rb") as stream:
                content = stream.read(most + 1)
    except OSError as error:
        raise InvalidValueError(
            f"{file} in {place!r} cannot be read: {error}. Expected a folder, or its address"
            f" (https or file), with {INDEX}. Give another with --from."
        ) from error
    if len(content) > most:
        raise InvalidValueError(
            f"{file} in {place!r} has more than {most} bytes. Nothing was kept. Ask the author of"
            " the collection."
        )
    return content


def _unpack(content: bytes, folder: Path, name: str) -> None:
    """Write the files of an archive, none of which may lie elsewhere, and check that it is a run.

    Raises:
        InvalidValueError: it is no such archive.
    """

    def refused(why: str) -> InvalidValueError:
        return InvalidValueError(
            f"The archive of {name!r} is refused: {why}. Expected the files of one run. Ask the"
            " author of the collection."
        )

    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            infos = archive.infolist()
            names = [one.filename.casefold() for one in infos]
            if len(set(names)) < len(names):
                raise refused("it has two files of one name")
            if sum(one.file_size for one in infos) > MOST:
                raise refused("it is too large")
            for one in infos:
                if not _NAME.fullmatch(one.filename):
                    raise refused(f"it has the file {one.filename!r}")
                if one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise refused(f"{one.filename} is compressed by another method")
                with archive.open(one) as stream:
                    part = stream.read(one.file_size + 1)
                (folder / one.filename).write_bytes(part)
    except InvalidValueError:
        raise
    except (
        zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError
    ) as error:  # fmt: skip
        raise refused(f"it is damaged ({error})") from error
    if not (folder / SETTINGS_FILE).exists():
        raise refused(f"it has no {SETTINGS_FILE}")
    if not _is_run(folder):
        raise refused(f"its {SETTINGS_FILE} is not that of a run")


def _is_run(folder: Path) -> bool:
    """Return whether the settings in a folder are those of a run; run no code of it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said to those who open it
            tasks = Run.open(folder, trust=True).experiment.tasks
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return False
    return bool(tasks) and all(
        isinstance(one, dict) and isinstance(one.get("task"), str) for one in tasks
    )
