"""Pages about publishing run in a fresh environment; links of pages are valid."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import environments
import pytest

from neurogym_core.tools import main

DOCS = Path(__file__).resolve().parents[3] / "docs"
REGISTRY = DOCS.parent / "registry"
PUBLISH, PAPER = DOCS / "publish-a-task.md", DOCS / "from-a-paper-to-the-registry.md"
PAGES = (
    PUBLISH,
    PAPER,
    DOCS / "threat-model.md",
    REGISTRY / "README.md",
    REGISTRY / "POLICY.md",
)


BLOCK = re.compile(
    r"^```(?P<kind>console|python|toml)\n(?P<text>.*?)^```$(?:\n```text\n(?P<output>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)
FILE = re.compile(r"# ([\w/.-]+\.(?:py|toml))\n")


def commands(page: str) -> list[tuple[str, str]]:
    """Return the commands of the page's consoles, with their output on the page."""
    return [
        tuple(part.split("\n", 1))
        for block in BLOCK.finditer(page)
        if block["kind"] == "console"
        for part in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)[1:]
    ]


class Shell:
    """Runs the page's commands in one environment and folder."""

    def __init__(self, environment, folder: Path) -> None:
        self.environment, self.folder = environment, folder
        mine = ("PYTHON", "NGYM_", "PIP_", "COLUMNS")
        self.variables = {
            key: value for key, value in os.environ.items() if not key.startswith(mine)
        }
        # Build tools and dependencies are in the environment; pip uses no index.
        self.variables |= {
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "false",
            "HOME": str(environment.folder),
            "GIT_AUTHOR_NAME": "Ana Example",
            "GIT_AUTHOR_EMAIL": "ana@example.org",
            "GIT_COMMITTER_NAME": "Ana Example",
            "GIT_COMMITTER_EMAIL": "ana@example.org",
        }

    def run(self, command: str) -> str:
        program, *arguments = shlex.split(command)
        if program == "cd":
            self.folder = (self.folder / arguments[0]).resolve()
            return ""
        if program == "export":
            given = dict(part.split("=", 1) for part in arguments)
            self.variables |= given
            return ""
        start = {
            "ngym": [str(self.environment.python), "-m", "neurogym_core"],
            "python": [str(self.environment.python)],
        }
        done = subprocess.run(
            [*start.get(program, [program]), *arguments],
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout


def play(page: str, shell: Shell) -> None:
    """Run the blocks of a page from top to bottom, and compare their output with the page's.

    Blocks whose first line names a file, ``# my_task.py``, become that file.
    """
    for block in BLOCK.finditer(page):
        named = FILE.match(block["text"])
        if named is not None:
            (shell.folder / named[1]).write_text(block["text"], "utf-8")
        elif block["kind"] == "python":
            same(
                block["text"],
                block["output"] or "",
                shell.run(shlex.join(["python", "-c", block["text"]])),
            )
        elif block["kind"] == "console":
            for command, expected in commands(block[0]):
                same(command, expected, shell.run(command))


def same(command: str, expected: str, printed: str) -> None:
    """Compare outputs; blanks count as one, and ``...`` stands for anything."""
    like = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert not expected.strip() or doctest.OutputChecker().check_output(expected, printed, like), (
        f"$ {command}\n{printed}\nthe page says\n{expected}"
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", [PUBLISH, PAPER], ids=lambda page: page.name)
def test_the_page_works_as_it_says(page: Path, tmp_path: Path) -> None:
    third_party = environments.borrowed(tmp_path / "third-party")
    environment = environments.Environment(tmp_path / "venv", third_party)
    plugins = environments.REPOSITORY / "plugins"
    ours = (plugins / f"neurogym-{name}" for name in ("check", "plot", "registry"))
    sources = (environments.REPOSITORY, *ours)
    wheels = [environments.build_wheel(one, tmp_path / "wheels") for one in sources]
    environment.pip_install(wheels)
    work = tmp_path / "work"
    text = page.read_text("utf-8")
    assert len(commands(text)) > 12
    if "$ ngym registry new checkout/registry" in text:
        work.mkdir()
    else:
        shutil.copytree(REGISTRY, work / "checkout" / "registry")
    shell = Shell(environment, work)
    play(text, shell)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere_and_nothing_is_said_to_be_on_an_index(page: Path) -> None:
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert target.startswith("https://") or (page.parent / target).exists(), target
    assert not re.search(r"pip install (-U )?neurogym", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_option_on_a_page_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    found = re.findall(r"(?:^\$ |`)ngym ([a-z-]+)([^`\n]*)", text, re.MULTILINE)
    assert found or page.name == "POLICY.md"
    for name, rest in found:
        command = _command(name, rest)
        known = {option for parameter in command.params for option in parameter.opts}
        for option in re.findall(r"(?<!\S)(--[a-z-]+)", rest):
            assert option in known, f"ngym {name} {option}"


def _command(name: str, rest: str) -> click.Command:
    context = click.Context(main)
    command = main.get_command(context, name)
    assert command is not None, name
    inner = rest.split()[0] if rest.split() else ""
    if isinstance(command, click.Group) and inner:
        command = command.get_command(context, inner)
        assert command is not None, f"{name} {inner}"
    return command


def test_a_page_that_lies_is_found() -> None:
    assert commands("```console\n$ ngym list\nfoo\n$ cd x\n```\n") == [
        ("ngym list", "foo\n"),
        ("cd x", ""),
    ]
    with pytest.raises(AssertionError, match="lsit"):
        _command("lsit", "")
