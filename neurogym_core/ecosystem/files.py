"""Loads code from single files, ``my_task.py:MyTask``, without a package.

A reference that the user types is loaded. One that is written in an artefact (the folder of a run,
an experiment file) may come from another person: the function that reads an artefact calls
`neurogym_training.check_artefact`, which refuses it unless the user trusts its files.

A file becomes a submodule of this module, whose name encodes the path and the state of the file.
Therefore its objects can be pickled: another process finds and runs the file when it imports the
submodule.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import Any

from neurogym_core.ecosystem.names import clean, said_by
from neurogym_core.errors import BrokenTaskError, UnknownTaskError, did_you_mean, listed

__path__: list[str] = []  # makes this module a package; `_Finder` finds its submodules
_FILE = re.compile(r"(?P<path>.+\.py)(:(?P<name>\w*))?", re.DOTALL)
_trusted: ContextVar[bool] = ContextVar("trusted", default=False)


def is_file_reference(text: str) -> bool:
    """Return whether a text refers to a file: ``my_task.py`` or ``folder/my_task.py:MyTask``."""
    return _FILE.fullmatch(text) is not None


def load_from_file(reference: str) -> type:
    """Return the class of ``file.py:Class``; a file that defines a single class needs no name."""
    match = _FILE.fullmatch(reference)
    if match is None:
        raise UnknownTaskError(
            f"{reference!r} was given as a task in a file. Expected a text such as"
            " `my_task.py:MyTask`."
        )
    path = Path(match["path"]).expanduser()
    return _class_in(load_file(path), path, match["name"])


def load_file(path: str | os.PathLike[str]) -> ModuleType:
    """Run a Python file, unless it was run before in the same state, and return its module.

    Args:
        path: the file, as the user typed it, or from an artefact whose files the user trusts.

    Raises:
        UnknownTaskError: there is no such file.
        BrokenTaskError: it fails when it is run; has the line.
    """
    path = Path(path)
    if not path.is_file():
        raise UnknownTaskError(
            f"There is no file {str(path)!r}; expected `my_task.py:MyTask`. Check the path."
        )
    return _module(path.resolve())


# ---------------------------------------------------------------- artefacts


@contextlib.contextmanager
def trusting(trust: bool = True) -> Iterator[None]:
    """Allow the Python files that artefacts name to be run, in this thread, until the end.

    ``--trust`` does so for the time of a command. Without `trust`, nothing changes.

    Example:
        >>> from neurogym_core.tools import trusted, trusting
        >>> with trusting():
        ...     trusted()
        True
        >>> trusted()
        False
    """
    token = _trusted.set(trust or trusted())
    try:
        yield
    finally:
        _trusted.reset(token)


def trusted() -> bool:
    """Return whether Python files that artefacts name may be run; see `trusting`."""
    return _trusted.get()


class _Loader(importlib.machinery.SourceFileLoader):
    """A loader that always compiles the source."""

    # Python identifies cached byte code by the size and the second of the last change of the
    # source; two edits within one second would run the old code.
    def path_stats(self, path: str) -> Any:
        raise OSError(f"byte code of {path} is not reused")


def _module(path: Path) -> ModuleType:
    """Return the module of a file; run the file unless it was run before in the same state.

    Its folder is on the import path meanwhile, so that it can import modules beside it.
    """
    status = path.stat()
    name = f"{__name__}.{os.fsencode(path).hex()}x{status.st_mtime_ns:x}x{status.st_size:x}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path, loader=_Loader(name, str(path)))
    assert spec is not None  # a loader was given
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        del sys.modules[name]
        raise
    except BaseException as error:
        del sys.modules[name]
        number = error.lineno if isinstance(error, SyntaxError) else None
        step = None if isinstance(error, SyntaxError) else error.__traceback__
        while step is not None:  # to the last line of the file that was running
            if step.tb_frame.f_code.co_filename == str(path):
                number = step.tb_lineno
            step = step.tb_next
        line, said = f" (line {number})" if number else "", clean(said_by(error)).rstrip(".")
        raise BrokenTaskError(
            f"{path.name} fails when it is run{line}: {said}. Correct the file."
        ) from error
    finally:
        with contextlib.suppress(ValueError):  # the file may have removed it itself
            sys.path.remove(str(path.parent))
    return module


def _path_of(name: str) -> Path:
    """Return the file whose module has this name."""
    return Path(os.fsdecode(bytes.fromhex(name.removeprefix(f"{__name__}.").partition("x")[0])))


class _Finder:
    """Imports the modules of files by name, to unpickle their objects."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if not fullname.startswith(f"{__name__}."):
            return None
        file = _path_of(fullname)
        if not file.is_file():
            raise ModuleNotFoundError(
                f"The object's class is in {str(file)!r}, which does not exist. Restore the file"
                " to load the object.",
                name=fullname,
            )
        loader: Any = self  # without `importlib.abc`, whose import takes a while
        return importlib.machinery.ModuleSpec(fullname, loader, origin=str(file))

    def create_module(self, spec: Any) -> None:
        """Return None: Python makes an ordinary module, which `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        del sys.modules[module.__name__]
        sys.modules[module.__name__] = _module(_path_of(module.__name__))


sys.meta_path.append(_Finder())


def _class_in(module: ModuleType, path: Path, name: str | None) -> type:
    classes = {key: value for key, value in vars(module).items() if isinstance(value, type)}
    own = {key: value for key, value in classes.items() if not key.startswith("_")}
    if name:
        found = getattr(module, name, None)
        if isinstance(found, type):
            return found
        raise UnknownTaskError(
            f"{path.name} has no class {name!r}.{did_you_mean(name, own)} It has: {listed(own)}."
        )
    defined = {key: value for key, value in own.items() if value.__module__ == module.__name__}
    if len(defined) == 1:
        return next(iter(defined.values()))
    example = f"{path.name}:{next(iter(defined), 'MyTask')}"
    raise UnknownTaskError(
        f"{path.name} defines {listed(defined)}; expected one class, or its name: `{example}`."
    )
