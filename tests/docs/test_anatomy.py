"""The rules by which sources are counted."""

from __future__ import annotations

from textwrap import dedent

import pytest
from scripts import loaded


@pytest.fixture(scope="module")
def anatomy():
    return loaded("anatomy")


@pytest.fixture
def package(anatomy, tmp_path):
    """Makes a package of files, name -> text; those in ``tests/`` are its tests."""

    def make(**files: str):
        folder = tmp_path / "pkg"
        for name, text in files.items():
            path = folder / (name.replace("__in__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), "utf-8")
        return anatomy.Package(
            folder, [tmp_path / "tests"] if (tmp_path / "tests").exists() else []
        )

    return make


def test_functions_include_methods_and_nested_ones_with_their_docstrings(package):
    one = package(
        a='''\
        @decorated
        def outer(x):
            """Docstring."""
            def inner():
                pass
            return inner


        class Some:
            def method(self): ...
        '''
    )
    lengths = {function.node.name: function.length for function in one.functions}
    assert lengths == {"outer": 5, "inner": 2, "method": 1}


def test_self_is_a_parameter_and_stars_are_not(package):
    (function,) = package(a="def f(self, a, /, b, *args, c, **kwargs): ...\n").functions
    assert function.parameters == 4


def test_private_functions_with_one_use_are_counted(package, anatomy):
    one = package(
        a="""\
        def _once(): ...
        def _twice(): ...
        def _never(): ...
        def public(): ...
        def __getattr__(name): ...

        _once()
        _twice(), _twice()
        public()
        """,
        b="from pkg.a import _once\n",
    )
    assert anatomy.called_once(one) == 1


def test_names_that_several_functions_have_are_left_out(package, anatomy):
    text = "class A:\n    def _f(self): ...\n\nclass B:\n    def _f(self): ...\n\nA()._f()\n"
    assert anatomy.called_once(package(a=text)) == 0


def test_imports_run_at_import_or_deferred_or_never(package, anatomy):
    one = package(
        a="""\
        import os
        if TYPE_CHECKING:
            import re
        else:
            import json
        class A:
            import abc
            def f(self):
                import sys
        """
    )
    found = [(node.names[0].name, when) for node, when in anatomy.imports_of(one.modules[0].tree)]
    assert found == [
        ("os", "at import"), ("re", "never"), ("json", "at import"), ("abc", "at import"),
        ("sys", "deferred"),
    ]  # fmt: skip
    assert anatomy.measures(one)["in-function imports"] == "1"


def test_cycles_are_found_through_absolute_and_relative_imports(package, anatomy):
    one = package(
        __init__="from pkg import a\n",
        a="from . import b\n",
        b="from .c import name\n",
        c="import pkg.a\n",
        d="def f():\n    from pkg.e import g\n",
        e="import pkg.d\n",
    )
    assert anatomy.cycle(one, deferred=False) == 3
    assert anatomy.measures(one)["import cycle, at import / deferred too"] == "3 / 3"


def test_a_cycle_of_deferred_imports_is_none_at_import(package, anatomy):
    one = package(a="def f():\n    from pkg.b import g\n", b="import pkg.a\n")
    assert anatomy.measures(one)["import cycle, at import / deferred too"] == "1 / 2"


def test_lines_comments_docstrings_and_long_lines_are_shares_of_all_lines(package, anatomy):
    text = '"""Docstring\n\nof three lines."""\n# comment\nx = 1  # behind code\ny = "# none"\n'
    rows = anatomy.measures(package(a=text + "\n" * 3 + "z" * 101 + "\n"))
    assert rows["modules / lines"] == "1 / 10"
    assert rows["comment lines"] == "20 %"
    assert rows["docstring share"] == "30 %"
    assert rows["characters a line / lines > 100"].endswith("/ 10 %")


def test_documented_and_annotated_count_what_has_no_underscore(package, anatomy):
    one = package(
        a='''\
        class A:
            """Documented."""
            def f(self) -> int:
                """Documented."""
            def g(self): ...
            def _h(self): ...
        '''
    )
    assert anatomy.documented(one) == (2, 3)
    assert anatomy.annotated(one) == (1, 2)


def test_public_names_are_read_off_the_text(package, anatomy):
    one = package(__init__='_HOMES = {"a": 1, "b": 2}\n__all__ = ["c", *_HOMES]\n')
    assert anatomy.public_names(one) == 3
    assert anatomy.public_names(package(__init__="from pkg import a\n")) is None


def test_tests_inside_and_outside_count_as_tests(package, anatomy, tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text("x\n" * 3, "utf-8")
    one = package(a="x = 1\n" * 4, a_test="x = 1\n", sub__in__conftest="x = 1\n" * 2)
    rows = anatomy.measures(one)
    assert rows["modules / lines"] == "1 / 4"
    assert rows["tests / code"] == "1.50"


@pytest.mark.parametrize(("percent", "value"), [(50, 5), (90, 9), (100, 10)])
def test_percentiles_are_values_of_the_list(anatomy, percent, value):
    assert anatomy._percentile(range(1, 11), percent) == value


def test_the_table_has_a_column_for_each_package(anatomy, package, capsys):
    folder = package(a="def f(): ...\n").folder
    assert anatomy.main([f"one={folder}", str(folder)]) == 0
    first = capsys.readouterr().out.splitlines()
    assert first[0] == "|  | one | pkg |"
    assert "| functions | 1 | 1 |" in first
    assert anatomy.main([f"{folder}/nowhere"]) == 2
