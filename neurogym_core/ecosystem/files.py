"""A task in a file of one's own: ``my_task.py:MyTask``, with no package around it.

Such a file is a module below this one, whose name spells the file's path and its state. So what it
defines pickles: any other process that has the file finds and runs it when it imports that name.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from neurogym_core.ecosystem.names import clean, said_by
from neurogym_core.errors import BrokenTaskError, UnknownTaskError, did_you_mean, listed

if TYPE_CHECKING:
    from pathlib import Path

__path__: list[str] = []  # modules may lie below this one; `_Finder` finds them
_FILE = re.compile(r"(?P<path>.+\.py)(:(?P<name>\w*))?", re.DOTALL)


def is_file_reference(text: str) -> bool:
    """Whether this means a file: ``my_task.py`` or ``folder/my_task.py:MyTask``."""
    return _FILE.fullmatch(text) is not None


def load_from_file(reference: str) -> type:
    """The class that ``file.py:Class`` names; the class may be left out when the file defines only
    one.

    Loading the same unchanged file again gives the same class. The file's folder is on the import
    path while it runs, so that it can import its neighbours.

    Raises:
        UnknownTaskError: there is no such file, or no such class in it.
        BrokenTaskError: the file fails when it runs.
    """
    match = _FILE.fullmatch(reference)
    if match is None:
        raise UnknownTaskError(f"{reference!r} is no file reference; expected `my_task.py:MyTask`.")
    from pathlib import Path

    path = Path(match["path"]).expanduser()
    if not path.is_file():
        raise UnknownTaskError(
            f"There is no file {str(path)!r}; expected `my_task.py:MyTask`. Check the path."
        )
    return _class_in(_module(path.resolve()), path, match["name"])


def _module(path: Path) -> ModuleType:
    import importlib.machinery  # these are not needed to list what is installed, as every command does
    import importlib.util

    class Anew(importlib.machinery.SourceFileLoader):
        """Python knows a compiled file by its size and the second of its last change; whoever edits
        may be faster.
        """

        def path_stats(self, path: str) -> Any:
            raise OSError(f"what was compiled of {path} before is not to be used")

    name = _module_name(path)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path, loader=Anew(name, str(path)))
    assert spec is not None  # every name that ends in .py has a loader
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
        said = clean(said_by(error)).rstrip(".")
        raise BrokenTaskError(
            f"{path.name} fails when it is run{_line(error, path)}: {said}. Correct it there."
        ) from error
    finally:
        with contextlib.suppress(ValueError):  # the file took it off itself
            sys.path.remove(str(path.parent))
    return module


def _module_name(path: Path) -> str:
    """The name of the file's module: an edited file is another module, an unchanged one is not run
    twice.
    """
    status = path.stat()
    spelled = "".join(
        chr(byte) if chr(byte).isalnum() and byte < 128 else f"_{byte:02x}"
        for byte in os.fsencode(path)
    )
    return f"{__name__}.{spelled}__{status.st_mtime_ns:x}x{status.st_size:x}"


def _path_of(name: str) -> Path:
    """The file whose module has this name."""
    from pathlib import Path

    spelled = name.removeprefix(f"{__name__}.").rpartition("__")[0]
    return Path(
        os.fsdecode(
            re.sub(
                rb"_([0-9a-f]{2})", lambda code: bytes.fromhex(code[1].decode()), spelled.encode()
            )
        )
    )


class _Finder:
    """Imports the modules of files by name, for what was pickled; a file that was edited since
    counts as it is now.
    """

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if not fullname.startswith(f"{__name__}."):
            return None
        import importlib.machinery

        file = _path_of(fullname)
        if not file.is_file():
            raise ModuleNotFoundError(
                f"This was made of a class in {str(file)!r}, which is not there. Bring the file"
                " back to load it.",
                name=fullname,
            )
        return importlib.machinery.ModuleSpec(fullname, self, origin=str(file))

    def create_module(self, spec: Any) -> None:
        """An ordinary module, which `exec_module` puts another in the place of."""

    def exec_module(self, module: ModuleType) -> None:
        del sys.modules[module.__name__]
        sys.modules[module.__name__] = _module(_path_of(module.__name__))


sys.meta_path.append(_Finder())


def _line(error: BaseException, path: Path) -> str:
    """`` (line 3)``: the last line of the file itself that was running."""
    import traceback

    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    number = (
        getattr(error, "lineno", None) if isinstance(error, SyntaxError) else (lines or [None])[-1]
    )
    return f" (line {number})" if number else ""


def _class_in(module: ModuleType, path: Path, name: str | None) -> type:
    own = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type) and not key.startswith("_")
    }
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
