"""Trained networks and agents as files: packing runs, an index with hashes, and getting them.

A collection is a folder with ``models.json`` and one archive per model, such as the files of a
release. The hash in the index is compared before anything is unpacked; a run that names Python
files asks for trust when it is opened, and checkpoints are loaded without running code.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit
from urllib.request import urlopen

from neurogym_core import InvalidValueError
from neurogym_core.tools import is_file_reference, replacing, unknown
from neurogym_training.runs import SETTINGS_FILE, Run
from neurogym_training.training import CURVE_FILE

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
        accuracy: accuracy in the test of its checkpoint.
    """

    name: str
    file: str
    sha256: str
    size: int
    tasks: tuple[str, ...]
    trainer: str
    accuracy: float


def pack(runs: Sequence[str | Path], out: str | Path) -> list[Model]:
    """Write archives of runs and their index into a folder; models that are there stay.

    Args:
        runs: folders of runs, or of checkpoints in them, such as ``run/best``.
        out: the folder of the collection.

    Raises:
        InvalidValueError: a folder is no run, has no checkpoint or no test, names Python files that
            others do not have, or has the name of another model.
    """
    out = Path(out)
    known = {one.name: one for one in models(out)} if (out / INDEX).exists() else {}
    made = []
    for given in runs:
        run = Run.open(given, trust=True)
        name, content = run.folder.resolve().name, _archive(run)
        if name in known or name in {one.name for one in made} or not _NAME.fullmatch(name):
            raise InvalidValueError(
                f"The run {str(run.folder)!r} would be the model {name!r}, which is taken or no"
                " name. Expected letters, digits, '.', '_' and '-'. Rename its folder."
            )
        accuracy = run.trainer().curve[-1]["accuracy"]  # a checkpoint has the curve up to it
        file = f"{name}.zip"
        out.mkdir(parents=True, exist_ok=True)
        with replacing(out / file) as temporary:
            temporary.write_bytes(content)
        made.append(
            Model(
                name=name, file=file, sha256=hashlib.sha256(content).hexdigest(),
                size=len(content), trainer=run.experiment.trainer, accuracy=accuracy,
                tasks=tuple(str(task["task"]) for task in run.experiment.tasks),
            )
        )  # fmt: skip
    listed = [asdict(one) for one in (*known.values(), *made)]
    with replacing(out / INDEX) as temporary:
        said = {"format": FORMAT, "models": listed}
        temporary.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")
    return made


def models(place: str | Path) -> list[Model]:
    """Return the models of a collection.

    Args:
        place: its folder, or the https address of it.

    Raises:
        InvalidValueError: there is no index, or it is not valid.
    """
    text = _read(str(place), INDEX, MOST_INDEX)
    try:
        said = json.loads(text)
        found = [_model(one) for one in said["models"]] if said["format"] == FORMAT else None
    except (ValueError, KeyError, TypeError) as error:
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
        InvalidValueError: the folder exists, the archive has another hash or size, or it is unsafe.
    """
    known = {one.name: one for one in models(place)}
    if name not in known:
        raise unknown("model", name, known, of=str(place))
    model, folder = known[name], Path(name if out is None else out)
    if folder.exists():
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
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".ngym-") as temporary:
        made = Path(temporary) / "model"
        made.mkdir()
        _unpack(content, made, name)
        made.rename(folder)
    return folder


def _archive(run: Run) -> bytes:
    """Return the settings, curve and card of a run, and its checkpoint, as an archive."""
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
    chosen = {path.name: path for path in _files(run.folder)}
    if run.checkpoint != run.folder:
        chosen |= {path.name: path for path in _files(run.checkpoint)}
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(chosen):
            info = zipfile.ZipInfo(name, _FIRST_DAY)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, chosen[name].read_bytes())
    return buffer.getvalue()


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_file() and path.name[0] != "."]


def _model(said: Any) -> Model:
    model = Model(**{**said, "tasks": tuple(map(str, said["tasks"]))})
    texts = (model.name, model.file, model.sha256, model.trainer)
    forms = (_NAME, _NAME, _HASH, _NAME)
    for text, form in zip(texts, forms, strict=True):
        if not isinstance(text, str) or not form.fullmatch(text):
            raise ValueError(f"{text!r} has another form")
    if not isinstance(model.size, int) or not 0 < model.size <= MOST:
        raise ValueError(f"a size of {model.size!r} bytes")
    float(model.accuracy)
    return model


def _read(place: str, file: str, most: int) -> bytes:
    """Return a file of a collection, of at most so many bytes."""
    scheme = urlsplit(place).scheme
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
            f"{file} in {place!r} cannot be read: {error}. Expected a folder, or an https address,"
            f" with {INDEX}. Give another with --from."
        ) from error
    if len(content) > most:
        raise InvalidValueError(
            f"{file} in {place!r} has more than {most} bytes. Nothing was kept. Ask the author of"
            " the collection."
        )
    return content


def _unpack(content: bytes, folder: Path, name: str) -> None:
    """Write the files of an archive, none of which may lie elsewhere."""

    def refused(why: str) -> InvalidValueError:
        return InvalidValueError(
            f"The archive of {name!r} is refused: {why}. Expected the files of one run. Ask the"
            " author of the collection."
        )

    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            infos = archive.infolist()
            if sum(one.file_size for one in infos) > MOST:
                raise refused("it is too large")
            for one in infos:
                if not _NAME.fullmatch(one.filename):
                    raise refused(f"it has the file {one.filename!r}")
                with archive.open(one) as stream:
                    part = stream.read(one.file_size + 1)
                (folder / one.filename).write_bytes(part)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise refused(str(error)) from error
    if not (folder / SETTINGS_FILE).exists():
        raise refused(f"it has no {SETTINGS_FILE}")
