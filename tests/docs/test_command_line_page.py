"""The page of the command line says what the commands say themselves."""

from __future__ import annotations

from pathlib import Path

import click
import made_packages
import pytest
from scripts import loaded

from neurogym_core.ecosystem.names import COMMANDS, helps
from neurogym_core.tools import brought, main, refresh

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def maker():
    return loaded("command_line")


def test_the_page_is_fresh(maker):
    written = maker.TARGET.read_text("utf-8")
    assert written == maker.page(), (
        "run `python docs/_make/command_line.py`, and commit docs/command-line.md"
    )


def test_every_command_has_a_section(maker):
    page = maker.page()
    assert "## ngym\n" in page
    assert all(f"## ngym {name}\n" in page for name in (*COMMANDS, *brought("commands")))


def test_commands_of_packages_outside_this_project_are_not_in_it(maker, monkeypatch, tmp_path):
    offered = {"neurogym.commands": {"zzz-foreign": "zzz:command"}}
    made_packages.write(made_packages.Package(name="zzz", groups=offered), tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    refresh()
    try:
        assert "zzz-foreign" in main.list_commands(click.Context(main))
        assert "zzz-foreign" not in maker.page()
    finally:
        monkeypatch.undo()
        refresh()


@pytest.mark.parametrize("name", [*COMMANDS, *brought("commands")])
def test_the_line_in_the_help_is_the_command_s_own(name):
    command = main.get_command(click.Context(main), name)
    assert command.get_short_help_str(100) == {**COMMANDS, **helps("commands")}[name]
