"""Tasks in a file of one's own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from neurogym_core.ecosystem import load_task
from neurogym_core.ecosystem.files import is_file_reference
from neurogym_core.errors import BrokenTaskError, UnknownTaskError


@pytest.fixture
def file(tmp_path: Path):
    """Writes ``my_task.py`` and gives its path."""

    def write(source: str, name: str = "my_task.py") -> str:
        (tmp_path / name).write_text(source, "utf-8")
        return str(tmp_path / name)

    before = set(sys.modules)
    yield write
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("text", "is_file"), [("a.py", True), ("a/b.py:C", True), ("a:C", False), ("foo/Dots-v0", False)]
)
def test_a_file_is_told_from_an_id(text: str, is_file: bool) -> None:
    assert is_file_reference(text) is is_file


def test_the_named_class_is_loaded_and_the_same_when_asked_again(file) -> None:
    path = file("class A: pass\nclass B: pass")
    assert load_task(f"{path}:B").__name__ == "B"
    assert load_task(f"{path}:B") is load_task(f"{path}:B")


def test_the_only_class_needs_no_name_and_imported_ones_do_not_count(file) -> None:
    assert load_task(file("from pathlib import Path\nclass A: pass\nclass _Helper: pass")).__name__ == "A"


def test_several_classes_ask_for_a_name(file) -> None:
    with pytest.raises(UnknownTaskError, match=r"defines 'A', 'B'; expected one class, or its name: `my_task.py:A`"):
        load_task(file("class A: pass\nclass B: pass"))


def test_an_edited_file_is_loaded_anew(file) -> None:
    path = file("class A: x = 1")
    old = load_task(path)
    file("class A: x = 22")
    os.utime(path, (1, 1))
    assert (old.x, load_task(path).x) == (1, 22)


def test_a_file_edited_within_a_second_is_loaded_anew(file, monkeypatch) -> None:
    """Of equal size, too: Python itself would take what it compiled before."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    second = 1_700_000_000 * 10**9
    for answer in (1, 2):
        path = file(f"class A: answer = {answer}")
        os.utime(path, ns=(second + answer, second + answer))
        assert load_task(f"{path}:A").answer == answer


def test_a_file_imports_its_neighbours_and_leaves_the_path_as_it_was(file) -> None:
    file("VALUE = 7", "helper_of_my_task.py")
    before = list(sys.path)
    assert load_task(file("import helper_of_my_task\nclass A: x = helper_of_my_task.VALUE")).x == 7
    assert sys.path == before


def test_a_file_that_fails_says_in_which_line(file) -> None:
    with pytest.raises(BrokenTaskError, match=r"my_task.py fails when it is run \(line 2\): ZeroDivisionError"):
        load_task(file("x = 1\nx / 0\n"))
    with pytest.raises(BrokenTaskError, match=r"\(line 1\): SyntaxError"):
        load_task(file("class A(:"))
    with pytest.raises(BrokenTaskError, match="SystemExit"):
        load_task(file("raise SystemExit"))


def test_a_file_that_failed_is_run_again_after_it_was_corrected(file) -> None:
    path = file("x = 1 / 0")
    with pytest.raises(BrokenTaskError):
        load_task(path)
    assert load_task(file("class A: pass")).__name__ == "A"


def test_a_missing_file_or_class_is_unknown(file, tmp_path: Path) -> None:
    with pytest.raises(UnknownTaskError, match="There is no file"):
        load_task(str(tmp_path / "absent.py"))
    with pytest.raises(UnknownTaskError, match=r"no class 'MyTas'. Did you mean 'MyTask'\?"):
        load_task(file("class MyTask: pass") + ":MyTas")
