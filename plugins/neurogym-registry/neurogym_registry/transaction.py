"""Change the environment so that a failure leaves it as it was, and nothing of others goes."""

from __future__ import annotations

import contextlib
import glob
import importlib
import importlib.metadata
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from neurogym_core.tools import canonical, clean, said_by
from neurogym_registry.contents import Contents
from neurogym_registry.errors import InstallError
from neurogym_registry.places import Place


class _Stash:
    """Files that were moved or copied away, under their own paths in a folder."""

    def __init__(self, folder: Path, roots: Iterable[str]) -> None:
        self.folder, self.roots = folder, set(roots)
        self.paths: list[str] = []

    def away(self, path: str) -> str:
        place = os.path.join(self.folder, os.path.splitdrive(path)[1].lstrip("/\\"))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        return place

    def move(self, paths: Iterable[str]) -> None:
        for path in paths:
            self.paths.append(path)
            shutil.move(path, self.away(path))
        self.prune(self.paths)

    def copy(self, paths: Iterable[str]) -> None:
        for path in paths:
            shutil.copy2(path, self.away(path), follow_symlinks=False)
            self.paths.append(path)

    def restore(self) -> list[str]:
        """Put all files back, and return those that cannot be, which stay in the folder."""
        left = []
        for path in self.paths:
            place = self.away(path)
            if os.path.lexists(place):  # not if the move itself was interrupted
                try:
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    if os.path.lexists(path):
                        os.unlink(path)
                    shutil.move(place, path)
                except OSError:
                    left.append(path)
        return left

    def prune(self, paths: Iterable[str]) -> None:
        """Remove the folders of files, if they are empty now."""
        for path in paths:
            folder = os.path.dirname(path)
            while folder not in self.roots and os.path.isdir(folder) and not os.listdir(folder):
                os.rmdir(folder)
                folder = os.path.dirname(folder)


@contextlib.contextmanager
def _stash(place: Place) -> Iterator[_Stash]:
    """Give a stash; if the block fails, its files are put back.

    Raises:
        InstallError: the block failed, and a file cannot be put back: it stays in the stash.
    """
    folders = place.folders
    roots = {*folders.sites, folders.scripts, folders.include, folders.data}
    os.makedirs(folders.purelib, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="~ngym-", dir=folders.purelib))
    stash, left = _Stash(folder, roots), list[str]()
    try:
        yield stash
    except BaseException as error:
        if left := stash.restore():
            raise InstallError(
                f"{len(left)} files cannot be put back, e.g. {clean(left[0])}, after:"
                f" {clean(said_by(error))} Expected permission, and no other file or folder in"
                f" their places. They are kept in {clean(str(folder))}: move them back by hand."
            ) from error
        raise
    finally:
        if not left:
            shutil.rmtree(folder, ignore_errors=True)
        importlib.invalidate_caches()


def remove(name: str) -> list[str]:
    """Remove the files that belong to a distribution; without pip, and without running its code.

    Returns:
        The files that it lists, and that stay because they belong to others.

    Raises:
        InstallError: it has no list of its files here, or a file cannot be removed; then nothing
            is.
    """
    place = Place()
    own, kept = files_of(name, place)
    if not own:
        raise InstallError(
            f"ngym cannot remove {name}: it has no files in {clean(place.folders.purelib)}. It may"
            " belong to another environment. Expected one that is installed there. Run ngym in its"
            f" environment, or use `python -m pip uninstall {name}`. Nothing was changed."
        )
    try:
        with _stash(place) as stash:
            stash.move(own)
    except OSError as error:
        raise InstallError(
            f"A file of {name} cannot be removed: {clean(said_by(error))}. Expected permission for"
            " all of its files. Close the programs that use them, or remove it as their owner."
            " Nothing was changed."
        ) from error
    return kept


def files_of(name: str, place: Place) -> tuple[list[str], list[str]]:
    """Return the files that belong to a distribution, with bytecode, and others that it lists.

    Raises:
        InstallError: the distribution is in this environment, without a list of its files.
    """
    for one in importlib.metadata.distributions(name=name):
        where = os.path.realpath(str(one.locate_file("")))
        if where in place.folders.sites and not place.lists.get(canonical(name)):
            raise InstallError(
                f"{name} has no readable list of its files (RECORD) in {clean(where)}. Expected"
                " one, as all installers of wheels write; pip would guess them. Delete its metadata"
                " and its modules by hand. Nothing was changed."
            )
    own, kept = place.belonging(canonical(name))
    return list(dict.fromkeys([*own, *_bytecode(own)])), kept


def _bytecode(paths: Iterable[str]) -> list[str]:
    """Return the bytecode of modules, of any version of Python."""
    found = []
    for path in paths:
        folder, name = os.path.split(path)
        if name.endswith(".py"):
            stem = glob.escape(os.path.join(folder, "__pycache__", name.removesuffix(".py")))
            found += glob.glob(f"{stem}.*.pyc")
    return found


@contextlib.contextmanager
def replacing(old: Sequence[str], new: Iterable[tuple[str, Contents]]) -> Iterator[None]:
    """Remove distributions before a block that installs others.

    If the block fails, its files go, and the old distributions come back.

    Args:
        old: names of distributions.
        new: names and contents of the wheels that the block installs.

    Raises:
        InstallError: the files of an old distribution are not known, or cannot be removed.
    """
    place = Place()
    away = [path for name in old for path in files_of(name, place)[0]]
    written = {path for name, contents in new for path in place.paths(name, contents)}
    try:
        with _stash(place) as stash:
            stash.copy(path for path in written - set(away) if os.path.lexists(path))
            there = set(stash.paths)
            stash.move(away)
            try:
                yield
            except BaseException:
                _take_back(stash, written, there)
                raise
    except OSError as error:
        raise InstallError(
            f"The environment cannot be changed: {clean(said_by(error))}. Expected permission for"
            " its files, and space. Close the programs that use them, or use a separate"
            " environment."
        ) from error


def _take_back(stash: _Stash, written: set[str], there: set[str]) -> None:
    """Remove the files that pip may have written, but for those that were there."""
    for path in written:
        if path.endswith(f"{os.sep}INSTALLER"):
            shutil.rmtree(os.path.dirname(path), ignore_errors=True)
    begun = [path for path in written - there if os.path.lexists(path)]
    for path in [*begun, *_bytecode(written - there)]:
        with contextlib.suppress(OSError):
            os.unlink(path)
    caches = (os.path.join(os.path.dirname(one), "__pycache__", "") for one in written)
    stash.prune([*caches, *written])
