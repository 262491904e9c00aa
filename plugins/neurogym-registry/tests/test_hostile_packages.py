"""Packages that attack the keeper's command: none reads, fills, stops or deceives it."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import shutil
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import made_packages as packages
import pytest
from environments import REPOSITORY
from neurogym_check.run_checks import all_checks
from neurogym_registry import enter_sandbox, examination, sandbox
from neurogym_registry.errors import RegistryError
from neurogym_registry.examination import Examination, summary_of, unpacked
from neurogym_registry.releases import make_release
from neurogym_registry.rules import validate
from neurogym_registry.schemas import breaches
from neurogym_registry.submission import summary
from neurogym_registry.wheels import read_wheel

makers = sys.modules["ngym_test_registry_makers"]
NAME, OTHER = "neurogym-task-dots", "neurogym-task-lines"
SECRET = "hunter2"
CODES = [one.code for one in all_checks("full")]
KEY_CALLS = {"x86_64": (248, 250), "aarch64": (217, 219)}  # add_key, keyctl

if os.environ.get("CI") != "true" and shutil.which(sandbox.PROGRAM) is None:
    boxed = pytest.mark.skip(reason="bubblewrap is not installed (Debian: bubblewrap)")
else:
    boxed = pytest.mark.parametrize("none", [None])

HOSTILE = '''
import os as _os, sys as _sys

_CALL = " ".join(_sys.orig_argv)

def _say(line):
    """Write a line into the stream of the answers."""
    for name in _os.listdir("/proc/self/fd"):
        try:
            if int(name) > 2:
                _os.write(int(name), line.encode() + b"\\n")
        except OSError:
            pass

def _answer(line):
    _say(line)
    _os._exit(0)

'''
"""Functions for the code of a hostile package."""


def hostile(folder: Path, code: str, **fields: Any) -> Path:
    """Make the wheel of a package whose import runs the code, a text of Python."""
    folder.mkdir(exist_ok=True)
    return packages.wheel(
        makers.dots_package(source=HOSTILE + code + makers.TASK, **fields), folder
    )


def said_by_task(wheel: Path, *, boxed: bool) -> str:
    """Return the docstring of the task, with the findings of a hostile package."""
    with unpacked(read_wheel(wheel), boxed=boxed) as bench:
        return bench.describe()[0]["Dots-v0"]["description"]["docstring"]


TOLD = "\nDots.__doc__ = repr(FOUND)\n"


def telling(folder: Path, code: str) -> Path:
    """Make a wheel whose task says what the code has put into FOUND."""
    folder.mkdir(exist_ok=True)
    source = HOSTILE + code + makers.TASK + TOLD
    return packages.wheel(makers.dots_package(source=source), folder)


READ = """
def _read(path):
    try:
        return open(path).read()
    except OSError as error:
        return type(error).__name__

FOUND = [_read(path) for path in {paths!r}]
"""


# ---------------------------------------------------------------------- reading


@pytest.fixture
def key() -> Iterator[str]:
    """The name of a key in the session of this process, as kinit and keyctl make them."""
    if platform.machine() not in KEY_CALLS:
        pytest.skip(f"the system calls of {platform.machine()} are not known to this test")
    add, control = KEY_CALLS[platform.machine()]
    kernel = ctypes.CDLL(None, use_errno=True)
    made = kernel.syscall(add, b"user", b"ngym-test", SECRET.encode(), len(SECRET), -3)
    if made < 0:
        pytest.skip(f"this kernel keeps no keys: {os.strerror(ctypes.get_errno())}")
    yield "ngym-test"
    kernel.syscall(control, 9, made, -3)  # unlink it


@boxed
def test_code_in_the_sandbox_reads_no_key_of_the_session(
    none: None, tmp_path: Path, key: str
) -> None:
    code = f"""
import ctypes as _ctypes

def _key(ring):
    kernel = _ctypes.CDLL(None)
    number = kernel.syscall({KEY_CALLS[platform.machine()][1]}, 10, ring, b"user", b"{key}", 0)
    text = _ctypes.create_string_buffer(100)
    if number > 0:
        kernel.syscall({KEY_CALLS[platform.machine()][1]}, 11, number, text, 100)
    return text.value

def _names():
    try:
        return open("/proc/keys").read()
    except OSError as error:
        return type(error).__name__

FOUND = [[_key(ring) for ring in (-1, -2, -3, -4, -5)], _names()]
"""
    wheel = telling(tmp_path / "wheels", code)
    assert SECRET in said_by_task(wheel, boxed=False)  # the control
    said = said_by_task(wheel, boxed=True)
    assert SECRET not in said
    assert key not in said


@boxed
def test_code_in_the_sandbox_reads_no_variable_of_any_process(
    none: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first process of the sandbox is bubblewrap, which the keeper's command started."""
    monkeypatch.setenv("KEEPERS_TOKEN", SECRET)
    code = (
        READ.format(paths=())
        + """
FOUND = [_read(f"/proc/{one}/environ") for one in _os.listdir("/proc") if one.isdigit()]
FOUND = ["KEEPERS_TOKEN" in text for text in FOUND]
"""
    )
    wheel = telling(tmp_path / "wheels", code)
    assert "True" in said_by_task(wheel, boxed=False)  # the control
    said = said_by_task(wheel, boxed=True)
    assert "False" in said
    assert "True" not in said


@boxed
def test_code_in_the_sandbox_sets_no_value_of_the_kernel(none: None, tmp_path: Path) -> None:
    """Files are opened for writing, and nothing is written."""
    code = """
def _opens(path):
    try:
        _os.close(_os.open(path, _os.O_WRONLY))
        return True
    except OSError:
        return False

FOUND = [
    path
    for folder, _, files in _os.walk("/proc/sys")
    for path in (_os.path.join(folder, name) for name in files)
    if _opens(path)
]
FOUND = (len(FOUND), FOUND[:3])
"""
    assert said_by_task(telling(tmp_path / "wheels", code), boxed=True) == "(0, [])"


@boxed
def test_code_in_the_sandbox_has_no_socket_between_machines(none: None, tmp_path: Path) -> None:
    code = """
import socket as _socket

def _made(family):
    try:
        _socket.socket(family, 1).close()
        return 0
    except OSError as error:
        return error.errno

FOUND = [_made(family) for family in (1, 2, 40)]
"""
    said = said_by_task(telling(tmp_path / "wheels", code), boxed=True)
    assert said == str([0, 0, errno.EAFNOSUPPORT])


@boxed
def test_code_in_the_sandbox_makes_no_namespace_and_no_further_files(
    none: None, tmp_path: Path
) -> None:
    """In another namespace it could mount memory without limits, as files of memfd have none."""
    code = """
import ctypes as _ctypes
import socket as _socket
import threading as _threading

def _errno(name, *arguments):
    kernel = _ctypes.CDLL(None, use_errno=True)
    done = getattr(kernel, name)(*arguments)
    return 0 if done >= 0 else _ctypes.get_errno()

_ran = []
_thread = _threading.Thread(target=_ran.append, args=(1,))  # threads are clones
_thread.start()
_thread.join()
FOUND = [_errno("unshare", 0x10020000), _errno("memfd_create", b"a", 0),
         _errno("syscall", CLONE, 0x10000011, 0, 0, 0, 0), _ran, _socket.gethostname(),
         __import__("os").listdir("/usr/local/etc") if __import__("os").path.isdir("/usr/local/etc")
         else []]
"""
    clone = {"x86_64": 56, "aarch64": 220}[platform.machine()]
    wheel = telling(tmp_path / "wheels", code.replace("CLONE", str(clone)))
    assert said_by_task(wheel, boxed=True) == str([38, 38, 38, [1], "sandbox", []])


def filtered(program: bytes, machine: int, number: int, first: int = 0) -> int:
    """Return the answer of the kernel's packet filter to a system call."""
    rows, at, value = list(struct.iter_unpack("HBBI", program)), 0, 0
    while True:
        code, if_true, if_false, operand = rows[at]
        at += 1
        if code == 0x06:
            return operand
        if code == 0x20:
            value = {0: number, 4: machine, 16: first}[operand]
        else:
            tests = {0x15: value == operand, 0x35: value >= operand, 0x45: value & operand}
            holds = tests[code]
            at += if_true if holds else if_false


@pytest.mark.parametrize(
    ("name", "machine", "keyctl", "socket", "ordinary"),
    [("x86_64", 0xC000003E, 250, 41, 0), ("aarch64", 0xC00000B7, 219, 198, 63)],
)
def test_the_filter_of_system_calls_knows_each_machine(
    name: str, machine: int, keyctl: int, socket: int, ordinary: int
) -> None:
    assert name in enter_sandbox.MACHINES
    program = enter_sandbox.without_keys(name)
    allow, no_call, no_family = 0x7FFF0000, 0x00050000 | 38, 0x00050000 | 97
    assert filtered(program, machine, ordinary) == allow
    assert filtered(program, machine, keyctl) == no_call
    assert filtered(program, machine, 425) == no_call  # io_uring_setup
    assert filtered(program, machine, ordinary | 0x40000000) == no_call
    assert filtered(program, 0x40000003, ordinary) == no_call  # of 32 bits
    for family in range(50):
        expected = allow if family in (1, 2, 10, 16) else no_family
        assert filtered(program, machine, socket, family) == expected, family
    assert filtered(program, machine, ordinary, 40) == allow


def test_without_a_filter_for_the_machine_there_is_no_sandbox(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox.platform, "machine", lambda: "pdp11")
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: f"/usr/bin/{name}")
    with pytest.raises(RegistryError, match=r"No sandbox can be made: system calls of pdp11"):
        sandbox.require_sandbox()


@pytest.mark.slow
@boxed
def test_of_a_folder_with_modules_the_sandbox_has_the_installed_ones_only(
    none: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editable installation has the root of a checkout on the import path."""
    checkout, outside = tmp_path / "checkout", tmp_path / "outside"
    for folder in (checkout / ".git", checkout / "registry", checkout / "notes", outside):
        folder.mkdir(parents=True)
        (folder / "config").write_text(SECRET, "utf-8")
    (checkout / ".env").write_text(SECRET, "utf-8")
    (checkout / "letters").symlink_to(outside)
    paths = [
        *(str(checkout / name / "config") for name in (".git", "registry", "notes", "letters")),
        str(checkout / ".env"),
        str(outside / "config"),
    ]
    own = [str(REPOSITORY / name) for name in ("pyproject.toml", "registry/POLICY.md")]
    wheel = telling(tmp_path / "wheels", READ.format(paths=[*paths, *own]))
    monkeypatch.setattr(sys, "path", [*sys.path, str(checkout)])
    assert said_by_task(wheel, boxed=False).count(SECRET) == len(paths)  # the control
    said = said_by_task(wheel, boxed=True)
    assert said == repr(["FileNotFoundError"] * len(paths + own))


@pytest.mark.slow
def test_of_an_environment_in_a_checkout_the_sandbox_has_its_own_folders_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``python -m venv .`` makes one in the root of a checkout."""
    (tmp_path / "lib").mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "exec_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    command = sandbox.sandbox(tmp_path / "site")
    assert str(tmp_path / "lib") in command
    assert str(tmp_path) not in command


# ---------------------------------------------------------------------- errors


def answer(text: str) -> str:
    """Return code that answers for `inspect_tasks`, and does nothing else."""
    return f"if 'inspect_tasks' in _CALL:\n    _answer({text!r})\n"


def described(**fields: Any) -> str:
    return answer(json.dumps({"task": "Dots-v0", "description": {}, "digest": {}, **fields}))


def nested(depth: int) -> str:
    lists = "[" * depth + "]" * depth
    return answer(f'{{"task": "Dots-v0", "description": {{"parameters": {lists}}}}}')


ATTACKS = {
    "many parameters": described(description={"parameters": {str(k): [] for k in range(20_000)}}),
    "a long text": described(description={"docstring": "y" * 300_000}),
    "a list": described(description=["docstring", "dt"]),
    "a text as digest": described(digest="abc"),
    "a number as digest": described(digest={"a": 5}),
    "700 lists": nested(700),
    "950 lists": nested(950),
    "a huge number": described(description={"dt": 10**4000}),
    "a huge session": described(description={"trials_per_session": 10**18}),
    "a list as failure": described(failure=["x"], description=3),
    "a list as figure": described(figure=["<svg/>"]),
    "nested folders": """
for _path in _sys.orig_argv:
    if _os.path.isabs(_path) and _os.path.isdir(_path) and "ngym-" in _path:
        _here = _os.getcwd()
        _os.chdir(_path)
        for _ in range(3000):
            _os.mkdir("d")
            _os.chdir("d")
        _os.chdir(_here)
raise RuntimeError("nested")
""",
}


def accept_all(keeper: Any, ngym: Any, wheels: Path, *options: str) -> Any:
    """Run the keeper's command for all versions asked for, of two packages."""
    rows = {"name": OTHER, "groups": {"neurogym.commands": {"lines": "neurogym_task_lines.a:b"}}}
    metadata = (
        f"Metadata-Version: 2.4\nName: {OTHER}\nVersion: 1.0.0\nLicense-Expression: MIT\n"
        "Requires-Python: >=3.11\nRequires-Dist: neurogym-core>=1.0,<2\n"
    )
    packages.wheel(packages.Package(version="1.0.0", metadata=metadata, **rows), wheels)
    keeper.entry(NAME, versions=("1.0.0",))
    keeper.entry(OTHER, versions=("1.0.0",))
    places = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    return ngym("registry", "accept", "--registry", str(keeper.folder), *options, **places)


def released(keeper: Any) -> list[str]:
    return sorted(one.name for one in (keeper.folder / "releases").glob("*"))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary folders."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


@pytest.mark.parametrize("attack", [name for name in ATTACKS if name != "nested folders"])
def test_an_answer_of_another_form_describes_no_task(attack: str, tmp_path: Path) -> None:
    wheel = read_wheel(hostile(tmp_path / "wheels", ATTACKS[attack]))
    with unpacked(wheel, boxed=False) as bench, pytest.raises(RegistryError) as caught:
        bench.describe()
    said = str(caught.value)
    assert said.startswith(f"Dots-v0 of {NAME} 1.0.0 cannot be described: ")
    assert "Expected a task that can be imported" in said
    assert said.endswith("correct the task, and build the wheel again.")
    assert len(said) < 2500


def test_texts_that_are_no_unicode_are_written_without_the_rest(tmp_path: Path) -> None:
    text = '{"task": "Dots-v0", "description": {"docstring": "\\ud800"}, "figure": "\\ud800"}'
    wheel = read_wheel(hostile(tmp_path / "wheels", answer(text)))
    with unpacked(wheel, boxed=False) as bench:
        tasks, figures = bench.describe()
    assert figures == {"Dots-v0": b"?"}
    json.dumps(make_release(wheel, Examination(tasks=tasks, figures=figures))).encode()


@pytest.mark.slow
@boxed
@pytest.mark.parametrize("attack", ["a list", "nested folders"])
def test_no_package_stops_the_acceptance_of_others(
    none: None, attack: str, tmp_path: Path, keeper, ngym, temporary: Path
) -> None:
    hostile(tmp_path / "wheels", ATTACKS[attack])
    done = accept_all(keeper, ngym, tmp_path / "wheels")
    assert done.exit_code == 1, done.output
    assert isinstance(done.exception, SystemExit)
    assert f"Accepted {OTHER} 1.0.0" in done.stdout
    assert f"Refused {NAME}==1.0.0: Dots-v0 of {NAME} 1.0.0 cannot be described" in done.stderr
    assert released(keeper) == [OTHER]
    assert [path.name for path in temporary.iterdir() if path.name.startswith("ngym-")] == []


def test_an_error_that_nobody_expects_is_that_of_its_package(
    tmp_path: Path, keeper, ngym, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Any, *_: object) -> Any:
        raise RecursionError("maximum depth exceeded")

    monkeypatch.setattr(examination.Workbench, "describe", fail)
    hostile(tmp_path / "wheels", "")
    done = accept_all(keeper, ngym, tmp_path / "wheels", "--no-sandbox")
    assert done.exit_code == 1
    assert (
        f"Refused {NAME}==1.0.0: RecursionError: maximum depth exceeded ended its acceptance."
        " Expected a release, or a refusal with a reason."
    ) in done.stderr
    assert released(keeper) == [OTHER]


@pytest.mark.parametrize("command", ["accept", "submit"])
def test_a_manifest_with_a_huge_number_is_refused(
    command: str, tmp_path: Path, keeper, ngym
) -> None:
    """tomllib raises a plain ValueError for an integer of 5,000 digits."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    package = makers.dots_package()
    package.manifest += f"\nx = {'9' * 5000}\n"
    packages.wheel(package, folder)
    if command == "accept":
        done = accept_all(keeper, ngym, folder, "--no-sandbox")
        assert f"Refused {NAME}==1.0.0" in done.stderr
        assert released(keeper) == [OTHER]
    else:
        keeper.entry(NAME)
        places = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder)}
        done = ngym("submit", f"{NAME}==1.0.0", "--registry", str(keeper.folder), **places)
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit)
    assert "It is not valid TOML" in done.stderr
    assert "Correct ngym.toml, and build the wheel again." in done.stderr


def test_an_entry_with_a_huge_number_cannot_be_read(keeper) -> None:
    """Python reads it in hexadecimal digits, and cannot write it into an index."""
    row = f'[[maintainers]]\nname = "Bo"\ngithub_id = 0x{"F" * 5000}'
    keeper.entry(NAME, more=row)
    (found,) = [one for one in validate(keeper.folder) if one.rule == "readable"]
    assert "it has an integer of more than 64 bits" in found.message


# ---------------------------------------------------------------------- time and disk


FOR_EVER = """
if {module!r} in _CALL:
    import time as _time
    while True:
        _say('{{"still": "here"}}')
        _time.sleep(0.1)
"""


@pytest.mark.slow
def test_a_package_that_answers_for_ever_is_stopped(
    tmp_path: Path, keeper, ngym, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neurogym_registry.commands.registry.PACKAGE_SECONDS", 5.0)
    hostile(tmp_path / "wheels", FOR_EVER.format(module="inspect_tasks"))
    done = accept_all(keeper, ngym, tmp_path / "wheels", "--no-sandbox")
    assert done.exit_code == 1
    assert f"Refused {NAME}==1.0.0: {NAME} 1.0.0 was stopped: its code took more" in done.stderr
    assert released(keeper) == [OTHER]


@pytest.mark.slow
def test_checks_that_answer_for_ever_are_stopped(tmp_path: Path) -> None:
    wheel = read_wheel(hostile(tmp_path / "wheels", FOR_EVER.format(module="examine_task")))
    end = time.monotonic() + 5
    with (
        unpacked(wheel, boxed=False, deadline=end) as bench,
        pytest.raises(RegistryError, match=r"was stopped: its code took more"),
    ):
        bench.check({})


def test_all_versions_of_a_package_have_one_time(
    tmp_path: Path, keeper, ngym, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neurogym_registry.commands.registry.PACKAGE_SECONDS", 0.0)
    for version in ("1.0.0", "1.0.1"):
        hostile(tmp_path / "wheels", "", version=version)
    keeper.entry(NAME, versions=("1.0.0", "1.0.1"))
    places = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path / "wheels")}
    done = ngym("registry", "accept", "--registry", str(keeper.folder), "--no-sandbox", **places)
    assert done.exit_code == 1
    assert done.stderr.count("Refused") == done.stderr.count("did not finish in 0 s") == 2


@pytest.mark.slow
@boxed
def test_code_in_the_sandbox_fills_no_disk(
    none: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """
FILES = []

def _fill(open_one):
    written = 0
    try:
        for number in range(100):
            file = open_one(number)
            if file > 2:
                FILES.append(file)
            for _ in range(20):
                written += _os.write(file, b"x" * 1_000_000)
    except OSError:
        pass
    return written

def _file(folder):
    return lambda number: _os.open(f"{folder}/{number}", _os.O_CREAT | _os.O_WRONLY)

FOUND = {folder: _fill(_file(folder)) for folder in ("/", "/tmp", "/dev", "/dev/shm", "/run")}
FOUND["errors"] = _fill(lambda number: 2)
for _path in _sys.orig_argv:
    if _os.path.isabs(_path) and _os.path.isdir(_path):
        FOUND["own"] = FOUND.get("own", 0) + _fill(_file(_path))
for _file in FILES:  # room for the figure
    _os.ftruncate(_file, 0)
"""
    found = eval(said_by_task(telling(tmp_path / "wheels", code), boxed=True))  # a literal
    assert found["/tmp"] <= 256_000_000
    assert found["/dev/shm"] <= 64_000_000
    assert found["errors"] <= enter_sandbox.MOST
    assert {found[name] for name in ("/", "/dev", "/run", "own")} == {0}


def test_an_entry_asks_for_twenty_versions_at_most(keeper) -> None:
    entry = {
        "schema": 1, "name": NAME, "summary": "Dots.", "added": "2026-11-21",
        "repository": "https://example.org/a", "maintainers": [{"name": "Ana"}],
        "versions": [f"1.0.{number}" for number in range(20)],
    }  # fmt: skip
    assert breaches(entry, "entry") == []
    entry["versions"].append("1.0.20")
    (found,) = breaches(entry, "entry")
    assert (found.field, found.message) == ("versions", "has 21 items, expected at most 20")


# ---------------------------------------------------------------------- forged results


class Child:
    """The end of a child that wrote one answer."""

    ending, errors = "ended", ""

    def __init__(self, value: Any) -> None:
        self.values = (value,)


def results(**changes: str) -> list[list[str]]:
    return [[code, changes.get(code, "passed"), ""] for code in CODES]


def test_results_of_all_checks_are_counted() -> None:
    rows = results(A003="expected failure", B001="warning", R002="not applicable")
    found = summary_of(Child({"results": rows}), NAME, "Dots-v0", "full", {"A003": "A reason."})
    assert found == {
        "passed": len(CODES) - 3,
        "failed": 0,
        "failures": [],
        "expected_failures": [{"task": "Dots-v0", "check": "A003", "reason": "A reason."}],
    }


@pytest.mark.parametrize(
    "value",
    [
        {"passed": 4242, "failed": 0, "failures": [], "expected_failures": [], "core": "99.0"},
        {"results": []},
        {"results": results()[1:]},
        {"results": [*results(), ["Z001", "passed", ""]]},
        {"results": [*results(), results()[0]]},
        {"results": results(A003="expected failure")},
        {"results": results(A003="excellent")},
        {"results": [*results()[1:], [CODES[0], "passed", 3]]},
        {"results": [*results()[1:], [[], "passed", ""]]},
        {"results": {"M001": "passed"}},
        {"results": [3]},
        ["passed"],
        None,
    ],
)
def test_an_answer_of_another_form_is_an_error(value: Any) -> None:
    with pytest.raises(RegistryError, match="Dots-v0 cannot be checked"):
        summary_of(Child(value), NAME, "Dots-v0", "full", {})


def test_forged_results_say_nothing_else_than_that_checks_passed(tmp_path: Path) -> None:
    """Code that knows the kit can forge which checks passed, and no more: see the threat model."""
    forged = {
        "results": results(), "core": "99.0; audited by hand", "python": "9.9", "passed": 4242,
        "expected_failures": [{"task": "Dots-v0", "check": "A001", "reason": "By nobody."}],
    }  # fmt: skip
    code = f"if 'examine_task' in _CALL:\n    _answer({json.dumps(forged)!r})\n"
    wheel = read_wheel(hostile(tmp_path / "wheels", code))
    with unpacked(wheel, boxed=False) as bench:
        said = bench.check({})
    assert said["passed"] == len(CODES)
    assert (said["core"], said["python"]) == ("1.0.0", platform.python_version())
    assert said["expected_failures"] == []


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("neurogym_check", "its module 'neurogym_check' would be confused with"),
        ("neurogym_core", "its module 'neurogym_core' would be confused with"),
        ("json", "would replace the module json of Python"),
        ("", r"would replace neurogym-plot of this environment \(1.0.0\) by 9.0"),
    ],
)
def test_a_requirement_that_replaces_a_module_of_ngym_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, words: str
) -> None:
    """The package would be checked with it."""
    beside = {f"{module}/__init__.py": "def check_task(*_, **__): return []\n"} if module else {}
    name, version = ("dots-helper", "1.0") if module else ("neurogym-plot", "9.0")
    helper = packages.Package(name=name, version=version, requires=(), manifest=None, beside=beside)
    packages.wheel(helper, tmp_path)
    needs = ("neurogym-core>=1.0,<2", f"{name}>={version}")
    wheel = read_wheel(packages.wheel(makers.dots_package(requires=needs), tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(RegistryError, match=words), unpacked(wheel, boxed=False):
        pass


def test_a_package_cannot_bring_a_conformance_kit(tmp_path: Path) -> None:
    """The own packages are imported before the folder of foreign ones is looked at."""
    wheel = read_wheel(packages.wheel(makers.dots_package(), tmp_path))
    with unpacked(wheel, boxed=False) as bench:
        kit = bench.site / "neurogym_check"
        kit.mkdir()
        (kit / "__init__.py").write_text("def check_task(*_, **__): return []\n", "utf-8")
        (bench.site / "sitecustomize.py").write_text("raise SystemExit('foreign')\n", "utf-8")
        assert bench.check({"A003": "Tests.", "R002": "Tests."})["passed"] > 20


# ---------------------------------------------------------------------- wheels and figures


def test_a_wheel_for_some_pythons_only_is_refused(tmp_path: Path, keeper, ngym) -> None:
    """Of two wheels of a version, pip takes this one here, and cannot elsewhere."""
    plain = packages.wheel(makers.dots_package(), tmp_path)
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    shutil.copy2(plain, tmp_path / plain.name.replace("py3-none-any", f"{tag}-none-any"))
    done = keeper.accept(plain)
    assert done.exit_code == 1
    assert f"{tag}-none-any.whl was given, a wheel for some Pythons or systems only" in done.stderr
    assert released(keeper) == []


def test_a_missing_figure_is_said_to_the_keeper(tmp_path: Path) -> None:
    """Code that answers in place of the child can leave it out."""
    wheel = read_wheel(packages.wheel(makers.dots_package(), tmp_path))
    tasks = {"Dots-v0": {"description": {}}}
    said = makers.release(NAME)["conformance"]
    drawn = Examination(tasks=tasks, figures={"Dots-v0": b"<svg/>"}, conformance=said)
    assert "no figure" not in summary(make_release(wheel, drawn))
    without = Examination(tasks=tasks, conformance=said)
    assert "- no figure: Dots-v0" in summary(make_release(wheel, without)).splitlines()
