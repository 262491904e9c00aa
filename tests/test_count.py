"""The script that counts the core counts a known package, and known calls, rightly."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from click.testing import CliRunner

SOURCE = Path(__file__).resolve().parents[1] / "benchmarks" / "count.py"

LONG = '''\
"""One line."""

import os  # a comment beside code


def entered():
    """Two

    paragraphs, with a blank line."""
    text = """
    no comment, but a text

    of four lines"""
    return inner(text)


# A comment.
class Kind:
    """Of thing."""

    name = "neurogym.tasks"
    """A text below an attribute."""


def inner(text):
    return [inner, text, "about neurogym.tasks and others"]
'''

WALK = """\
def inner():
    return 1
def entered():
    return inner() + inner()
entered()
"""


@pytest.fixture(scope="module")
def count():
    spec = importlib.util.spec_from_file_location("ngym_test_count", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def package(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "long.py").write_text(LONG + "\n" * 60)
    (tmp_path / "sub" / "short.py").write_text('GROUP = "neurogym.views"\n')
    (tmp_path / "sub" / "short.pyi").write_text("GROUP: str\n")
    (tmp_path / "sub" / "walk.py").write_text(WALK)
    (tmp_path / "noise.h").write_text("int a;\n\nint b;\n")
    (tmp_path / "kernel.pxd").write_text("cdef int a\ncdef int b\n")
    (tmp_path / "data.toml").write_text("a = 1\n")
    return tmp_path


def test_each_line_is_of_one_kind(count):
    kinds = count.kinds_of_lines(LONG)
    assert kinds == {"docstring": 5, "blank": 9, "comment": 1, "code": 11}
    assert kinds.total() == LONG.count("\n")


def test_sizes_of_a_known_package(count, package):
    found = {one.name.strip(): one.value for one in count.sizes(package)}
    assert found == {
        "lines of Python (.py)": LONG.count("\n") + 66,
        "code": 17,
        "docstrings": 5,
        "blank": 69,
        "comments": 1,
        "lines of stubs (.pyi)": 1,
        "lines of C (.c, .h)": 3,
        "lines of Cython (.pxd)": 2,
        "modules": 3,
        "under 60 lines": 2,
    }


def test_groups_are_whole_texts(count, package):
    assert count.groups(package) == {"neurogym.tasks", "neurogym.views"}


def test_a_walk_counts_each_function_once_and_only_those_of_its_folder(count, package):
    spec = importlib.util.spec_from_file_location("ngym_test_walk", package / "sub" / "walk.py")
    module = importlib.util.module_from_spec(spec)

    def call():
        spec.loader.exec_module(module)  # its body is not counted
        module.entered()

    assert count.walked(call, package) == (2, 1)
    assert count.walked(call, package / "sub") == (2, 1)
    assert count.walked(call, package / "su") == (0, 0)
    assert count.walked(lambda: None, package) == (0, 0)


def test_only_a_number_above_its_aim_is_missed(count):
    assert count.Count("a", 7, 6).missed
    assert not count.Count("a", 6, 6).missed
    assert not count.Count("a", 7).missed
    assert count.Count("a", 1, 0).missed


@pytest.mark.slow
def test_the_script_prints_every_count_and_marks_those_that_miss(count, monkeypatch):
    pytest.importorskip("neurogym_task_perceptual")
    walks = count.walks()
    monkeypatch.setattr(count, "walks", lambda: walks)
    done = CliRunner().invoke(count.main, catch_exceptions=False)
    lines = {line[:42].strip(): line for line in done.output.splitlines()[1:]}
    for one in (*count.sizes(count.CORE), *count.names(), *walks):
        line = lines[one.name.strip()]
        assert f"{one.value:,}" in line
        assert line.endswith("MISSED") == (one.aim is not None and one.value > one.aim)
    entered = {one.name: one.value for one in walks}
    # The command reads metadata, and enters no code of players.
    assert entered["make(id), warm: functions"] > entered["make(id), warm: files"] > 5
    assert 0 < entered['dict(info["trial"]): files'] < entered["next(dataset): files"]
    assert entered["ngym list: functions"] < entered['run(id, "oracle", 20): functions']
