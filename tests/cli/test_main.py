"""The group: help, unknown commands, and commands of other packages."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

import neurogym_core.cli
from neurogym_core.ecosystem.names import COMMANDS
from neurogym_core.tools import brought, comes_with, main

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
    for name in ("list", "info", "run", "completion"):
        assert any(line.strip().startswith(name + " ") for line in result.stdout.splitlines()), name


def test_the_table_of_built_in_commands_lists_the_modules_of_the_folder() -> None:
    modules = {module.name for module in pkgutil.iter_modules(neurogym_core.cli.__path__)}
    assert list(COMMANDS) == sorted(name for name in modules if not name.startswith("_"))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_help_is_the_first_sentence_of_the_command(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.get_short_help_str(100) == COMMANDS[name]


def test_every_command_answers_help_in_ascii(ngym, site) -> None:
    for name in COMMANDS:
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


# `ngym search` answers without neurogym-registry, from a smaller list: see `test_shipped`.
@pytest.mark.parametrize("name", sorted({*brought("commands")} - {"search"}))
def test_a_command_of_a_package_that_is_not_installed_names_the_package(ngym, site, name) -> None:
    result = ngym(name, "--help")
    assert result.exit_code == 2
    package = brought("commands")[name]
    assert result.stderr == f"Error: {comes_with(name, package)}\n"


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
    from neurogym_core.tools import installed

    assert ngym("--version").stdout == f"ngym {installed().core_version}\n"


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes streams by >&-")
@pytest.mark.parametrize("command", ["list", "list --json", "info --help", "doctor --no-import"])
def test_output_to_a_closed_stream_is_discarded(command: str) -> None:
    line = f"{sys.executable} -m neurogym_core {command} >&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="os.pipe is another there")
@pytest.mark.parametrize("command", ["list", "list --json", "--help", "doctor --no-import"])
def test_a_reader_that_leaves_early_gets_no_traceback(command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "neurogym_core", *command.split()],
        stdout=writing, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has the full device")
def test_help_on_a_full_disk_is_one_message() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "neurogym_core", "--help"],
            stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("Error: The output cannot be written: No space left on device.")


def test_ctrl_c_is_one_line_and_code_130(ngym, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(importlib.import_module("neurogym_core.cli.list").command, "callback", stop)
    result = ngym("list")
    assert (result.exit_code, result.output) == (130, "Interrupted.\n")


def test_ctrl_c_at_a_question_is_told_from_the_answer_no(
    ngym, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no(*_: object, **__: object) -> None:
        raise click.Abort

    def stop(*_: object, **__: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise click.Abort from None  # as the prompts of click do

    command = importlib.import_module("neurogym_core.cli.list").command
    monkeypatch.setattr(command, "callback", no)
    assert ngym("list").exit_code == 1
    monkeypatch.setattr(command, "callback", stop)
    result = ngym("list")
    assert (result.exit_code, result.output) == (130, "Interrupted.\n")
