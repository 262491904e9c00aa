"""``make mutants`` on a toy: tests that assert nothing fail its verdict, and exact ones pass."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cosmic_ray")
pytest.importorskip("pytest_cov")
MUTANTS = Path(__file__).with_name("mutants.py")
TOY = """def area(width, height):
    return width * height
"""
EXACT = "from toy import area\ndef test_area():\n    assert area(5, 3) == 15\n"
NO_ASSERTION = "from toy import area\ndef test_area():\n    area(5, 3)\n"


def mutants(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the script on the toy."""
    words = ["toy.py", "--tests", "test_toy.py", "--kit", "--count", "9", *options]
    command = [sys.executable, str(MUTANTS), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture
def toy(tmp_path):
    """Return a function that writes the toy and its tests as a checkout."""

    def write(tests: str) -> Path:
        (tmp_path / "toy.py").write_text(TOY, "utf-8")
        (tmp_path / "test_toy.py").write_text(tests, "utf-8")
        subprocess.run("git init -q . && git add .", shell=True, check=True, cwd=tmp_path)
        return tmp_path

    return write


def test_tests_that_assert_nothing_fail(toy):
    done = mutants(toy(NO_ASSERTION))
    assert done.returncode == 1
    assert "0 of 1 mutants killed" in done.stdout
    assert "-    return width * height\n+    return width" in done.stdout


def test_exact_tests_pass_and_the_next_call_goes_on_with_the_results(toy):
    folder = toy(EXACT)
    done = mutants(folder)
    assert done.returncode == 0, done.stderr
    assert "1 of 1 mutants killed: 100.0%" in done.stdout
    results = folder / "build/mutants/results.jsonl"
    before = results.read_text()
    assert mutants(folder).stdout == done.stdout
    assert results.read_text() == before


def test_a_listed_equivalent_does_not_count(toy):
    folder = toy(NO_ASSERTION)
    said = mutants(folder).stdout
    change = "\n".join(line for line in said.split("\n") if line[:5] in ("-    ", "+    "))
    (folder / "build/mutants/copy/tests").mkdir()
    listed = folder / "build/mutants/copy/tests/equivalent_mutants.txt"
    listed.write_text(f"toy.py: of a test\n{change}\n", "utf-8")
    assert "0 of 0 mutants killed" in mutants(folder).stdout


def test_a_mutant_that_cannot_be_imported_is_killed(toy):
    """Pytest prints such errors of ``conftest.py`` to stderr alone."""
    folder = toy(NO_ASSERTION)
    (folder / "conftest.py").write_text("import toy\nassert toy.area(5, 3) == 15\n", "utf-8")
    subprocess.run(["git", "add", "."], check=True, cwd=folder)
    assert "1 of 1 mutants killed" in mutants(folder).stdout


def test_the_next_call_restores_a_file_that_an_interrupted_one_left_broken(toy):
    folder = toy(NO_ASSERTION)
    mutants(folder)
    kept = folder / "build/mutants"
    (kept / "results.jsonl").unlink()
    (kept / "copy/toy.py").write_text(TOY.replace("*", "+"), "utf-8")
    assert "-    return width * height" in mutants(folder).stdout


def test_only_mutants_of_the_kernel_are_played_without_the_compiled_one(tmp_path, monkeypatch):
    """The compiled kernel has the text as it was, and would notice each change."""
    monkeypatch.syspath_prepend(MUTANTS.parent)
    monkeypatch.setenv("NGYM_KERNEL", "")
    use_kernel = importlib.import_module("mutants").use_kernel
    play, name = tmp_path / "neurogym_core/play", "_kernel.cpython-311-x86_64-linux-gnu.so"
    play.mkdir(parents=True)
    (tmp_path / "compiled").mkdir()
    (tmp_path / "compiled" / name).write_text("")
    monkeypatch.chdir(tmp_path)
    for plain in (False, True, True, False):
        use_kernel(tmp_path, plain=plain)
        assert (play / name).exists() == (not plain)
        assert os.environ.get("NGYM_KERNEL") == ("plain" if plain else None)
    (tmp_path / "compiled" / name).unlink()
    use_kernel(tmp_path, plain=False)  # it was not built
    assert os.environ["NGYM_KERNEL"] == "plain"
    assert not (play / name).exists()
