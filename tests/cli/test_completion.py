"""Shell completion."""

from __future__ import annotations

import shutil
import subprocess

import pytest


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(ngym, site, name: str) -> None:
    result = ngym("completion", name)
    assert result.exit_code == 0
    assert "_NGYM_COMPLETE" in result.stdout


def test_the_help_keeps_one_line_a_shell(ngym, site) -> None:
    lines = [line.split()[:1] for line in ngym("completion", "--help").stdout.splitlines()]
    assert [line for line in lines if line and line[0] in ("bash", "zsh", "fish")] == [
        ["bash"],
        ["zsh"],
        ["fish"],
    ]


def test_another_shell_is_a_usage_error(ngym, site) -> None:
    assert ngym("completion", "tcsh").exit_code == 2


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_can_read_its_script(ngym, site) -> None:
    subprocess.run(["bash", "-n"], input=ngym("completion", "bash").stdout, text=True, check=True)


def complete(ngym, line: str) -> list[str]:
    words = line.split(" ")
    environment = {
        "_NGYM_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    return [row.partition(",")[2] for row in ngym(**environment).stdout.splitlines()]


def test_commands_tasks_and_tags_are_completed_without_importing_them(ngym, site) -> None:
    source = {"__init__.py": "raise SystemExit"}
    commands = {"neurogym.commands": {"drill": "neurogym_task_foo.cli:drill"}}
    site.add("neurogym-task-foo", tasks={"Dots-v0": "", "bad": "x"}, files=source, groups=commands)
    assert {"list", "info", "drill"} <= set(complete(ngym, "ngym "))
    assert complete(ngym, "ngym info Do") == ["Dots-v0"]
    assert complete(ngym, "ngym info foo/") == ["foo/Dots-v0"]
    assert complete(ngym, "ngym info neurogym-t") == ["neurogym-task-foo"]
    assert complete(ngym, "ngym list --tag work") == ["working-memory"]


def test_the_arguments_of_other_commands_are_completed_too(ngym, site) -> None:
    site.add("bar", groups={"neurogym.wrappers": {"Trim": "bar.tasks:Trim"}}, manifest=None)
    site.add("neurogym-task-foo", tasks={"Dots-v0": ""})
    assert complete(ngym, "ngym run Dots-v0 --wrap Tr") == ["Trim"]
    assert complete(ngym, "ngym run Dots-v0 --wrap React") == ["ReactionTime"]
    assert complete(ngym, "ngym info Tr") == ["Trim"]


def test_options_of_a_foreign_command_are_not_completed_by_running_it(ngym, site, tmp_path) -> None:
    canary = tmp_path / "canary"
    site.add(
        "drills",
        groups={"neurogym.commands": {"drill": "drills.tasks:drill"}},
        files={"tasks.py": f"open({str(canary)!r}, 'w')"},
    )
    assert "drill" in complete(ngym, "ngym dr")
    complete(ngym, "ngym drill --")
    assert not canary.exists()
