"""The group: help, unknown commands, and commands of other packages."""

from __future__ import annotations

import pkgutil

import click
import pytest

import neurogym_core.cli
from neurogym_core.cli import main
from neurogym_core.cli._main import BUILT_IN
from neurogym_core.ecosystem import companions

TRAIN = """
import click
@click.command()
def drill():
    "Train a network."
    click.echo("drilled")
"""


def test_help_lists_the_commands_with_a_sentence_each(ngym, site) -> None:
    result = ngym("--help")
    assert result.exit_code == 0
    for name in ("list", "info", "doctor", "completion"):
        assert any(line.strip().startswith(name + " ") for line in result.stdout.splitlines()), name


def test_the_table_of_built_in_commands_lists_the_modules_of_the_folder() -> None:
    modules = {module.name for module in pkgutil.iter_modules(neurogym_core.cli.__path__)}
    assert list(BUILT_IN) == sorted(name for name in modules if not name.startswith("_"))


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_line_in_the_help_is_the_first_sentence_of_the_command(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.get_short_help_str(100) == BUILT_IN[name]


def test_every_command_answers_help_in_ascii(ngym, site) -> None:
    for name in BUILT_IN:
        result = ngym(name, "--help")
        assert result.exit_code == 0
        assert result.stdout.isascii()


def test_an_unknown_command_is_a_usage_error_with_the_nearest(ngym, site) -> None:
    result = ngym("lits")
    assert result.exit_code == 2
    assert "Did you mean 'list'?" in result.stderr


def test_the_nearest_command_may_be_one_of_a_package_that_is_not_installed(ngym, site) -> None:
    assert "Did you mean 'search'?" in ngym("serch").stderr


def test_a_package_s_command_is_shown_with_its_owner_and_imported_only_when_called(
    ngym, site
) -> None:
    files = {"cli.py": TRAIN, "__init__.py": "import builtins; builtins.ngym_canary = True"}
    site.add(
        "neurogym-task-foo",
        files=files,
        groups={"neurogym.commands": {"drill": "neurogym_task_foo.cli:drill"}},
    )
    import builtins

    assert "from neurogym-task-foo" in ngym("--help").stdout
    assert not hasattr(builtins, "ngym_canary")
    try:
        assert ngym("drill").stdout == "drilled\n"
        assert builtins.ngym_canary
    finally:
        del builtins.ngym_canary


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("raise ValueError('no')", "ValueError: no"),
        ("drill = 3", "expected a click command"),
        ("", "AttributeError"),
    ],
)
def test_a_broken_command_names_its_package(ngym, site, source: str, said: str) -> None:
    site.add(
        "foo", files={"cli.py": source}, groups={"neurogym.commands": {"drill": "foo.cli:drill"}}
    )
    result = ngym("drill")
    assert result.exit_code == 1
    assert said in result.stderr
    assert "pip uninstall foo" in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


def test_a_built_in_command_always_wins(ngym, site) -> None:
    site.add(
        "evil",
        files={"cli.py": "raise SystemExit"},
        groups={"neurogym.commands": {"list": "evil.cli:drill"}},
    )
    assert ngym("list", "--wrappers").exit_code == 0
    assert "from evil" not in ngym("--help").stdout


def test_a_command_that_two_packages_claim_is_an_error_naming_both(ngym, site) -> None:
    for name in ("one", "two"):
        site.add(
            name,
            files={"cli.py": TRAIN},
            groups={"neurogym.commands": {"drill": f"{name}.cli:drill"}},
        )
    assert "from one and from two" in ngym("--help").stdout
    result = ngym("drill")
    assert result.exit_code == 1
    assert "claimed by 'one', 'two'" in " ".join(result.stderr.split())


@pytest.mark.parametrize("name", sorted({*companions.COMMANDS} - {*BUILT_IN}))
def test_a_command_of_a_package_that_is_not_installed_names_the_package(ngym, site, name) -> None:
    result = ngym(name, "--help")
    assert result.exit_code == 2
    package = companions.COMMANDS[name]
    assert result.stderr == f"Error: {name!r} comes with {package}: pip install {package}\n"


def test_a_command_of_a_blocked_package_says_that_it_is_blocked(ngym, site) -> None:
    groups = {"neurogym.commands": {"train": "foo.cli:train"}}
    site.add("foo", files={"cli.py": TRAIN}, groups=groups)
    result = ngym("train", NGYM_BLOCK="foo")
    assert result.exit_code == 2
    assert "cannot be used" in result.stderr
    assert "NGYM_BLOCK" in result.stderr


def test_errors_of_the_project_have_no_traceback_and_no_control_characters(ngym, site) -> None:
    result = ngym("info", "Foo\x1b[31m-v0")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert "\x1b" not in result.stderr


def test_version(ngym, site) -> None:
    from neurogym_core.ecosystem import installed

    assert ngym("--version").stdout == f"ngym {installed().core_version}\n"
