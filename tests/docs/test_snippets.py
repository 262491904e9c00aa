"""Every snippet of the pages runs, from top to bottom in one namespace, and prints the output
on the page.

A page is Markdown with fenced blocks:

- ``python`` runs; one whose first line is a comment with a file's name, ``# my_task.py``, becomes
  that file;
- ``toml`` with such a first line is saved too;
- ``console`` holds commands behind ``$ ``, each followed by its output; only ``ngym`` is run,
  in this process;
- ``text`` directly behind a ``python`` block is its output.

In outputs ``...`` stands for anything, and blanks count as one; numbers that NumPy's random
streams decide are left open that way."""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = (
    "assemble-a-task.md",
    "bring-your-task.md",
    "coming-from.md",
    "conformance.md",
    "discovery.md",
    "play.md",
    "recipes.md",
    "reproduce-a-figure.md",
    "teach.md",
    "to-nwb-and-back.md",
    "tour.md",
    "trial.md",
    "write-a-closed-loop-task.md",
    "write-a-task.md",
    "write-a-wrapper.md",
    "../README.md",
    "../plugins/neurogym-check/README.md",
    "../plugins/neurogym-classic/README.md",
    "../plugins/neurogym-data/README.md",
    "../plugins/neurogym-llm/README.md",
    "../plugins/neurogym-pettingzoo/README.md",
    "../plugins/neurogym-neural/README.md",
    "../plugins/neurogym-play/README.md",
    "../plugins/neurogym-plot/README.md",
    "../plugins/neurogym-behaviour/README.md",
    "../plugins/neurogym-likeness/README.md",
    "../plugins/neurogym-records/README.md",
    "../plugins/neurogym-training/README.md",
    "../plugins/neurogym-task-visual/README.md",
    "../plugins/neurogym-task-yang19/README.md",
    "../plugins/neurogym-wrappers/README.md",
)
SLOW = (
    "../plugins/neurogym-jax/README.md",
    "../plugins/neurogym-sb3/README.md",
    "../plugins/neurogym-sweep/README.md",
    "../plugins/neurogym-torch/README.md",
    "analyse-behaviour.md",
    "animals-and-people.md",
    "beside-recorded-neurons.md",
    "beside-two-monkeys.md",
    "fixed-points.md",
    "from-a-labs-file.md",
    "gpu.md",
    "move-a-training-script.md",
    "sweep.md",
    "train-an-agent.md",
    "train-with-torch.md",
    "train-your-first-network.md",
    "twenty-tasks.md",
)
"""Pages that train, or start the processes of sweeps and a Dask cluster."""
NEEDS = {
    "../plugins/neurogym-jax/README.md": ("jax",),
    "../plugins/neurogym-sweep/README.md": ("duckdb", "optuna", "distributed"),
    "beside-recorded-neurons.md": ("torch", "pynwb"),
    "beside-two-monkeys.md": ("torch",),
    "fixed-points.md": ("torch",),
    "gpu.md": ("jax",),
    "sweep.md": ("duckdb", "optuna", "distributed"),
    "to-nwb-and-back.md": ("pynwb",),
    "train-with-torch.md": ("lightning",),
}
"""Page -> libraries that it needs, which some environments of the tests lack."""

_FENCE = re.compile(r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE_NAME = re.compile(r"# (?P<name>[\w/.-]+\.(py|toml))\n")
LIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """One fenced block: its kind, its text, its first line, and its expected output."""

    kind: str
    text: str
    line: int
    expected: str | None = None


def blocks_of(page: str) -> list[Block]:
    """The blocks of a page, each `python` block with the `text` block that follows it."""
    found: list[Block] = []
    end = 0
    for match in _FENCE.finditer(page):
        line = page.count("\n", 0, match.start()) + 2
        block = Block(match["kind"], match["text"], line)
        follows = not page[end : match.start()].strip()
        if block.kind == "text" and found and found[-1].kind == "python" and follows:
            found[-1] = Block("python", found[-1].text, found[-1].line, block.text)
        else:
            found.append(block)
        end = match.end()
    return found


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")


@pytest.fixture(autouse=True)
def forget_the_files_of_a_page(tmp_path):
    """Two pages, or one page twice, may have files of the same name."""
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.parametrize(
    "page", [*PAGES, *(pytest.param(page, marks=pytest.mark.slow) for page in SLOW)]
)
def test_the_snippets_of_a_page_run_and_print_what_it_says(page, tmp_path, monkeypatch):
    for library in NEEDS.get(page, ()):
        pytest.importorskip(library, reason=f"{library} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # workers of sweeps import the page's files
    play_page(DOCS / page)
    if page == "twenty-tasks.md":
        assert (tmp_path / "task-variance.png").stat().st_size > 5000


def test_every_page_with_code_is_played():
    """API pages have signatures, and tests/template plays two pages about publishing."""
    played = {(DOCS / page).resolve() for page in (*PAGES, *SLOW)}
    known = [*DOCS.glob("*.md"), *DOCS.parent.glob("plugins/*/README.md")]
    code = {page for page in known if re.search("^```python", page.read_text("utf-8"), re.M)}
    elsewhere = {"from-a-paper-to-the-registry.md", "publish-a-task.md"}
    left = {page for page in code - played if not page.stem.startswith("api")}
    assert {page.name for page in left} <= elsewhere, left


def play_page(path: Path) -> None:
    """Run all blocks of a page, in the working directory."""
    namespace: dict = {"__name__": "page"}
    for block in blocks_of(path.read_text("utf-8")):
        where = f"{path.name}:{block.line}"
        named = _FILE_NAME.match(block.text)
        if named is not None and block.kind in ("python", "toml"):
            target = Path(named["name"])
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, "utf-8")
        elif block.kind == "python":
            printed = _run(block, where, namespace)
            if block.expected is not None:
                _same(where, block.expected, printed)
        elif block.kind == "console":
            _run_commands(block.text, where)


def _run(block: Block, where: str, namespace: dict) -> str:
    code = compile("\n" * (block.line - 1) + block.text, where, "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


def _run_commands(text: str, where: str) -> None:
    from neurogym_core.cli import main

    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        program, *arguments = shlex.split(command)
        if program != "ngym":
            continue
        result = CliRunner().invoke(main, arguments, prog_name="ngym")
        assert result.exit_code == 0, (
            f"{where}: {command} ended with {result.exit_code}:\n{result.output}"
        )
        if expected.strip():
            _same(f"{where}, {command}", expected, result.output)


def _same(where: str, expected: str, printed: str) -> None:
    assert doctest.OutputChecker().check_output(expected, printed, LIKE), (
        f"{where} prints\n{printed}\nand the page says\n{expected}"
    )


def test_a_page_that_lies_about_its_output_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "lie.md"
    page.write_text("```python\nprint(1 + 1)\n```\n```text\n3\n```\n", "utf-8")
    with pytest.raises(AssertionError, match=r"lie\.md:2 prints"):
        play_page(page)


def test_a_snippet_that_fails_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "broken.md"
    page.write_text("```python\nx = 1\n```\n\nText.\n\n```python\nprint(y)\n```\n", "utf-8")
    with pytest.raises(NameError, match="y"):
        play_page(page)


@pytest.mark.slow
def test_the_package_of_the_page_is_installed_and_found(tmp_path, monkeypatch):
    """The files that `write-a-task.md` shows make a package that pip installs, `ngym list` shows
    and `make` plays.
    """
    monkeypatch.chdir(tmp_path)
    play_page(DOCS / "write-a-task.md")
    inside = tmp_path / "neurogym-task-sides" / "neurogym_task_sides"
    (inside / "__init__.py").touch()
    (inside / "side_memory.py").write_text(Path("my_task.py").read_text("utf-8"), "utf-8")
    site = tmp_path / "site"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--quiet",
    ]
    subprocess.run(
        [*install, "--target", str(site), "./neurogym-task-sides"], check=True, timeout=120
    )
    environment = {**os.environ, "PYTHONPATH": str(site)}
    ask = [sys.executable, "-m", "neurogym_core", "list", "--json", "--tag", "working-memory"]
    rows = json.loads(
        subprocess.run(ask, env=environment, check=True, capture_output=True, timeout=60).stdout
    )
    row = next(row for row in rows if row["id"] == "sides/SideMemory-v0")
    assert row["status"] == "ok", row["problems"]
    assert not row["problems"]
    play = (
        "from neurogym_core import run; print(run('sides/SideMemory-v0', 'oracle', 5,"
        " seed=1)['performance'].mean())"
    )
    played = subprocess.run(
        [sys.executable, "-c", play], env=environment, check=True, capture_output=True, timeout=60
    )
    assert played.stdout.decode().strip() == "1.0"
