"""Tasks in single files, without a package."""

from __future__ import annotations

import ast
import contextlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from neurogym_core import Dataset, make, make_task
from neurogym_core.ecosystem.files import is_file_reference
from neurogym_core.ecosystem.settings_text import _texts_in, named_subject, read_value
from neurogym_core.errors import BrokenTaskError, InvalidValueError, UnknownTaskError
from neurogym_core.tools import load_task


@pytest.fixture
def file(tmp_path: Path):
    """Write ``my_task.py`` and return its path."""

    def write(source: str, name: str = "my_task.py") -> str:
        (tmp_path / name).write_text(source, "utf-8")
        return str(tmp_path / name)

    before = set(sys.modules)
    yield write
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("text", "is_file"),
    [("a.py", True), ("a/b.py:C", True), ("a:C", False), ("foo/Dots-v0", False)],
)
def test_references_to_files_and_ids_are_distinguished(text: str, is_file: bool) -> None:
    assert is_file_reference(text) is is_file


def test_loading_a_class_twice_gives_the_same_class(file) -> None:
    path = file("class A: pass\nclass B: pass")
    assert load_task(f"{path}:B").__name__ == "B"
    assert load_task(f"{path}:B") is load_task(f"{path}:B")


def test_the_only_class_needs_no_name_and_imported_ones_do_not_count(file) -> None:
    assert (
        load_task(file("from pathlib import Path\nclass A: pass\nclass _Helper: pass")).__name__
        == "A"
    )


def test_several_classes_ask_for_a_name(file) -> None:
    with pytest.raises(
        UnknownTaskError, match=r"defines 'A', 'B'; expected one class, or its name: `my_task.py:A`"
    ):
        load_task(file("class A: pass\nclass B: pass"))


def test_an_edited_file_is_loaded_again(file) -> None:
    path = file("class A: x = 1")
    old = load_task(path)
    file("class A: x = 22")
    os.utime(path, (1, 1))
    assert (old.x, load_task(path).x) == (1, 22)


def test_a_file_edited_within_a_second_is_loaded_again(file, monkeypatch) -> None:
    """With equal size, too: Python itself would reuse its byte code."""
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
    with pytest.raises(
        BrokenTaskError, match=r"my_task.py fails when it is run \(line 2\): ZeroDivisionError"
    ):
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


TASK = """
from neurogym_core import Choice, Task
from neighbour import LENGTH

class Lamp(Task):
    timing = {"only": 100 * LENGTH}

    def define(self):
        self.observe(lamp=1)
        self.act(rest=1, press=1)
        self.vary(on=Choice(2))

    def new_trial(self, trial):
        trial.periods("only")
        trial.show("lamp", trial["on"], during="only")
        trial.answer("press", trial["on"] - 1, during="only")
"""

LOAD = """
import pickle, sys
with open(sys.argv[1], "rb") as file:
    task, env, dataset, cls = pickle.load(file)
env.reset(seed=0)
same = cls is type(task) is type(env.unwrapped.task)
print(env.step(0)[1], len(task.sample(3)), dataset.task == task, same)
"""


class TestPickling:
    """Objects of a task in a file can be unpickled in a process that has not loaded the file."""

    @pytest.fixture
    def pickled(self, file, tmp_path: Path) -> Path:
        file("LENGTH = 3", "neighbour.py")
        (tmp_path / "my ünd_er-5f.folder").mkdir()
        reference = f"{file(TASK, 'my ünd_er-5f.folder/my_task.py')}:Lamp"
        file("LENGTH = 3", "my ünd_er-5f.folder/neighbour.py")
        made = (
            make_task(reference),
            make(reference),
            Dataset(reference, batch_size=2, seed=0),
            load_task(reference),
        )
        (tmp_path / "pickled").write_bytes(pickle.dumps(made))
        return tmp_path / "pickled"

    def load(self, pickled: Path) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-c", LOAD, str(pickled)],
            capture_output=True,
            text=True,
            timeout=120,
            cwd="/",
            check=False,
        )

    def test_it_loads_in_another_process(self, pickled: Path) -> None:
        done = self.load(pickled)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split()[1] == "3"
        assert done.stdout.strip().endswith("True")

    def test_it_loads_with_the_current_code_of_the_file(self, pickled: Path) -> None:
        with (pickled.parent / "my ünd_er-5f.folder" / "neighbour.py").open("a") as file:
            file.write("\n# edited")
        with (pickled.parent / "my ünd_er-5f.folder" / "my_task.py").open("a") as file:
            file.write("\n# edited")
        done = self.load(pickled)
        assert done.returncode == 0, done.stderr

    def test_without_the_file_it_says_which_is_missing(self, pickled: Path) -> None:
        (pickled.parent / "my ünd_er-5f.folder" / "my_task.py").unlink()
        done = self.load(pickled)
        assert "my_task.py', which does not exist. Restore the file" in done.stderr.splitlines()[-1]

    def test_in_the_same_process_it_is_of_the_same_class(self, pickled: Path) -> None:
        task, env, _, cls = pickle.loads(pickled.read_bytes())
        assert type(task) is cls
        assert env.unwrapped.task == task


# ---------------------------------------------------------------------- artefacts

ROOT = Path(__file__).parents[2]
LOADERS = ("load_from_file", "load_file", "_module")
"""The functions that run a file."""
CALLERS = {
    "neurogym_core/ecosystem/files.py",
    "neurogym_core/ecosystem/discovery.py",
    "plugins/neurogym-sweep/neurogym_sweep/functions.py",
}
"""Files that run a reference. It is typed, or `check_artefact` accepted the artefact."""
READERS = {
    "plugins/neurogym-likeness/neurogym_likeness/benchmarks.py",
    "plugins/neurogym-training/neurogym_training/runs.py",
    "plugins/neurogym-training/neurogym_training/task_experiment.py",
    "plugins/neurogym-sweep/neurogym_sweep/plan.py",
}
"""Files that read artefacts with references."""
OWN_WAYS = {
    "neurogym_core/ecosystem/files.py",
    # A module of the template, with a path of this repository or of its wheel.
    "plugins/neurogym-check/neurogym_check/template.py",
    # pip, from the environment or from Python's own files.
    "plugins/neurogym-registry/neurogym_registry/run_pip.py",
}
"""Files that run a file without the loader."""


def sources():
    for folder in (ROOT / "neurogym_core", *sorted((ROOT / "plugins").glob("*/neurogym_*"))):
        for path in sorted(folder.rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8"))


def called_in(tree: ast.AST) -> set[str]:
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {getattr(one, "attr", getattr(one, "id", "")) for one in calls}


def test_one_function_runs_files_and_its_callers_are_known() -> None:
    called = {name: called_in(tree) for name, tree in sources()}
    assert len(called) > 200
    assert {name for name, calls in called.items() if calls & set(LOADERS[:2])} == CALLERS
    ways = {"exec_module", "spec_from_file_location", "run_path", "exec", "SourceFileLoader"}
    assert {name for name, calls in called.items() if calls & ways} == OWN_WAYS
    assert {name for name, calls in called.items() if "check_artefact" in calls} == READERS


ESCAPED = [
    r'"a.p\u0079:B"', r'"\U00000061.py"', '"""a.p\\\n y"""', r'[{"tas\u006b" = 1}]',
    r'{"k": "a.p\u0079"}', r'("a", "a.p\u0079")',
]  # fmt: skip


@pytest.mark.parametrize("text", ESCAPED)
def test_settings_in_text_have_no_escapes(text: str) -> None:
    """The gate searches texts as they are written; a value may have no other letters."""
    for read in (read_value, lambda text: named_subject(f"x:n={text}")[1]["n"]):
        value = None
        with contextlib.suppress(InvalidValueError):
            value = read(text)
        assert all(one in text for one in _texts_in(value))


def test_an_escape_is_named() -> None:
    for read in (read_value, lambda text: named_subject(f"x:n={text}")):
        with pytest.raises(InvalidValueError, match="has an escape"):
            read(ESCAPED[0])


@pytest.mark.parametrize("text", [r"C:\new\u0041", r"'C:\new'", r"a\b"])
def test_backslashes_that_escape_nothing_stay(text: str) -> None:
    assert named_subject(f"x:n={text}")[1]["n"] == text.strip("'")
    assert read_value(text) == text
