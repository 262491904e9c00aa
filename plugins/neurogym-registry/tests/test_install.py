"""`install` and `uninstall` with real pip, wheels (also of the core) and fresh environments."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import environments
import made_packages as packages
import pytest
from neurogym_registry import pip, writing
from neurogym_registry.errors import InstallError

makers = sys.modules["ngym_test_registry_makers"]
NAME, TASK, dots = makers.NAME, makers.TASK, makers.dots_package
Town = makers.Town


def test_search_install_play_and_uninstall(town: Town) -> None:
    """The whole path; the only fast test with a real installation."""
    town.release()
    (row,) = json.loads(town.ngym("search", "dots", "--json").stdout)
    assert (row["id"], row["version"], row["installed"]) == ("dots/Dots-v0", "1.0.0", None)
    assert f"To install it: `ngym install {NAME}`" in town.ngym("info", "Dots-v0").stdout
    unknown = town.environment.run(
        "-c", "import neurogym_core; neurogym_core.make('dots/Dots-v0')", **town.variables
    )
    assert f"`ngym install {NAME}`" in unknown.stderr

    asked = town.ngym("install", "dots")
    assert asked.returncode == 1  # the confirmation had no answer
    assert "pip will install" in asked.stdout
    assert town.ngym("list", "--json").stdout == "[]\n"

    done = town.ngym("install", "dots", "--yes")
    assert done.returncode == 0, done.stderr
    assert f"Installed {NAME} 1.0.0." in done.stdout
    assert "Quick checks of 1 task:" in done.stdout
    assert "none failed" in done.stdout, done.stderr
    assert [row["id"] for row in json.loads(town.ngym("list", "--json").stdout)] == ["dots/Dots-v0"]
    played = (
        "import neurogym_core as n; print(n.run('Dots-v0', 'oracle', 5,"
        " seed=1)['performance'].mean())"
    )
    assert town.environment.run("-c", played).stdout.strip() == "1.0"
    assert "already installed" in town.ngym("install", NAME, "--yes").stdout

    gone = town.ngym("uninstall", "dots", "--yes")
    assert gone.returncode == 0, gone.stderr
    assert town.ngym("list", "--json").stdout == "[]\n"


def test_the_wheel_has_the_list_and_the_schemas_with_it(town: Town) -> None:
    found = town.environment.ngym("search", "memory", "--json")
    assert "neurogym-task-memory" in {row["package"] for row in json.loads(found.stdout)}
    assert (
        town.environment.site / "neurogym_registry" / "_data" / "schema" / "entry.schema.json"
    ).is_file()


@pytest.mark.slow
def test_a_wheel_with_another_hash_is_refused(town: Town) -> None:
    town.release()
    packages.wheel(
        dots(source=TASK + "\nimport os\n"), town.wheels
    )  # the same name with other contents
    refused = town.ngym("install", "dots", "--yes")
    assert refused.returncode == 1
    assert "Expected one of the release in the registry" in refused.stderr
    assert "Nothing was installed." in refused.stderr


@pytest.mark.slow
def test_a_plan_that_changes_numpy_is_refused(town: Town) -> None:
    town.release(dots(requires=("neurogym-core>=1.0,<2", "numpy>=9999")))
    packages.wheel(
        packages.Package(name="numpy", version="9999", requires=(), manifest=None), town.wheels
    )
    refused = town.ngym("install", "dots", "--yes")
    assert refused.returncode == 1
    assert "Installed packages limit the choice" in refused.stderr
    assert "neurogym-core needs numpy" in refused.stderr


@pytest.mark.slow
def test_a_wheel_that_pip_does_not_find(town: Town) -> None:
    town.release().unlink()
    refused = town.ngym("install", "dots", "--yes")
    assert refused.returncode == 1
    assert "pip download failed" in refused.stderr
    assert "pip config list" in refused.stderr


@pytest.mark.slow
def test_a_damaged_wheel_leaves_nothing_behind(town: Town) -> None:
    """The hash is correct; pip itself would unpack half of it, and keep its dependencies."""
    packages.wheel(packages.Package(name="helper", requires=(), manifest=None), town.wheels)
    whole = town.release(dots(requires=("neurogym-core>=1.0,<2", "helper")))
    data = whole.read_bytes()
    assert data.count(b"Report a side.") == 1
    town.list_file(whole, data.replace(b"Report a side.", b"Report a SIDE."))
    before = town.state()
    refused = town.ngym("install", "dots", "--yes")
    assert refused.returncode == 1
    assert "is damaged" in refused.stderr
    assert "Nothing was installed." in refused.stderr
    assert town.state() == before


@pytest.mark.slow
def test_a_file_in_the_way_is_seen_before_pip_begins(town: Town) -> None:
    packages.wheel(packages.Package(name="helper", requires=(), manifest=None), town.wheels)
    town.release(dots(requires=("neurogym-core>=1.0,<2", "helper")))
    in_the_way = town.environment.site / "neurogym_task_dots"
    in_the_way.touch()
    before = town.state()
    try:
        refused = town.ngym("install", "dots", "--yes")
        assert refused.returncode == 1, refused.stdout
        assert "would be in 'neurogym_task_dots', which is a file" in refused.stderr
        assert town.state() == before
    finally:
        in_the_way.unlink()


@pytest.mark.slow
def test_a_source_distribution_is_never_built(town: Town, tmp_path: Path) -> None:
    town.release().unlink()
    source = tmp_path / "neurogym_task_dots-1.0.0"
    source.mkdir()
    (source / "setup.py").write_text(f"open({str(tmp_path / 'canary')!r}, 'w')\n")
    shutil.make_archive(str(town.wheels / source.name), "gztar", tmp_path, source.name)
    assert town.ngym("install", "dots", "--yes").returncode == 1
    assert not (tmp_path / "canary").exists()


def sdist(folder: Path, name: str, canary: Path) -> Path:
    """A source distribution whose setup.py leaves a file."""
    source = folder / f"{name}-1.0"
    source.mkdir()
    (source / "setup.py").write_text(
        f"open({str(canary)!r}, 'w')\nimport setuptools\n"
        f"setuptools.setup(name={name!r}, version='1.0')\n"
    )
    return Path(shutil.make_archive(str(source), "gztar", folder, source.name))


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--dry-run", "--yes", "--print"])
@pytest.mark.parametrize("nested", [False, True])
def test_a_requirement_at_an_address_is_never_built(
    town: Town, tmp_path: Path, option: str, nested: bool
) -> None:
    canary = tmp_path / "canary"
    evil = f"evil @ {sdist(tmp_path, 'evil', canary).as_uri()}"
    if nested:
        town.depend("helper", requires=(evil,))
        town.release(dots(requires=("neurogym-core>=1.0,<2", "helper")))
    else:
        town.list_file(packages.wheel(dots(requires=("neurogym-core>=1.0,<2", evil)), town.wheels))
    refused = town.ngym("install", "dots", option)
    assert refused.returncode == 1
    assert "at an address" in refused.stderr
    assert "Nothing was installed." in refused.stderr
    assert not canary.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "extra",
    [
        "neurogym_task_dots-1.0.0.data/purelib/neurogym_core/cli/list.py",
        "neurogym_task_dots-1.0.0.data/data/pyvenv.cfg",
        "neurogym_task_dots-1.0.0.data/scripts/ngym",
        "sitecustomize/__init__.py",
        "usercustomize.pyc",
        "numpy/_evil.py",
        "evil.pth",
    ],
)
def test_a_listed_wheel_with_foreign_files_is_refused_by_the_client_too(
    town: Town, extra: str
) -> None:
    package = dots()
    package.beside = {extra: "print('HIJACKED')"}
    path = packages.wheel(package, town.wheels)
    town.list_file(path)
    refused = town.ngym("install", "dots", "--yes")
    assert refused.returncode == 1
    assert "beside the package" in refused.stderr
    assert "report this to the keepers of the registry. Nothing was installed." in refused.stderr
    assert "Build it again" not in refused.stderr  # advice for its author


@pytest.mark.slow
@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"files": "other"}, "with SHA-256"),
        ({"yanked": "Wrong timing."}, "is yanked"),
        ({"revoked": True}, "Steals keys"),
        ({"revoked": True, "unlisted": True}, "Steals keys"),
    ],
)
def test_a_dependency_that_the_registry_warns_of_is_not_installed(
    town: Town, known: dict, said: str
) -> None:
    path = town.depend("neurogym-task-helper")
    town.release(dots(requires=("neurogym-core>=1.0,<2", "neurogym-task-helper")))
    sha256 = "b" * 64 if known.get("files") else hashlib.sha256(path.read_bytes()).hexdigest()
    file = {"filename": path.name, "sha256": sha256, "size": 9}
    if not known.get("unlisted"):
        town.keeper.entry("neurogym-task-helper")
        change = {"files": [file], "yanked": known.get("yanked")}
        town.keeper.release("neurogym-task-helper", "1.0", change=change)
    if known.get("revoked"):
        row = {"name": "neurogym-task-helper", "versions": ["*"], "date": "2026-11-21"}
        town.keeper.revoke({**row, "reason": "Steals keys."})
    town.keeper.build()
    refused = town.ngym("install", "dots", "--yes")
    assert refused.returncode == 1
    assert said in refused.stderr
    assert "Nothing was installed." in refused.stderr


@pytest.mark.slow
def test_the_plan_shows_every_file_and_what_runs_by_itself(town: Town) -> None:
    helper = town.depend(
        "helper",
        beside={
            "helper.pth": "import os",
            "other/__init__.py": "",
            "helper-1.0.data/data/etc/x": "",
        },
        groups={
            "console_scripts": {
                "helper-tool": "helper:main",
                **{f"a{number}": "helper:main" for number in range(60)},
                "ssh": "helper:main",
            },
            "neurogym.plugins": {"help": "helper.hooks"},
            "pytest11": {"help": "helper.testing"},
        },
    )
    groups = {
        "neurogym.plugins": {"watch": "neurogym_task_dots.dots"},
        "neurogym.commands": {"dots": "neurogym_task_dots.dots:command"},
    }
    package = dots(requires=("neurogym-core>=1.0,<2", "helper[more]>=1"))
    package.groups = groups
    path = town.release(package)
    plan = town.ngym("install", "dots", "--dry-run", COLUMNS="200")
    assert plan.returncode == 0, plan.stderr
    for part in (
        "its hooks (watch) run for the tasks of all packages",
        "adds commands to ngym: dots",
        "helper runs whenever Python starts: helper.pth",
        "helper adds the commands: ",
        "helper: its hooks (help) run for the tasks of all packages",
        "helper: it adds parts for other programs (pytest11): help",
        "helper adds the modules: other",
        "helper adds the files: etc/x",
        f"{path.stat().st_size:,} bytes",
        f"{helper.stat().st_size:,} bytes",
        "this machine",
        f"sha256 {hashlib.sha256(helper.read_bytes()).hexdigest()[:12]}",
    ):
        assert part in plan.stdout, part
    shown = set(plan.stdout.replace(",", " ").split())
    assert {"helper-tool", "ssh", *(f"a{number}" for number in range(60))} <= shown
    found = town.ngym("search", "dots").stdout
    assert "its hooks (watch) run for the tasks of all packages" in " ".join(found.split())
    locked = town.ngym("install", "dots", "--print")
    assert locked.stdout.splitlines() == [
        f"{NAME}==1.0.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}",
        f"helper==1.0 --hash=sha256:{hashlib.sha256(helper.read_bytes()).hexdigest()}",
    ]


@pytest.mark.slow
def test_a_package_that_fails_its_checks_is_installed_and_said_to_fail(town: Town) -> None:
    town.release(dots(source="raise RuntimeError('on purpose')"))
    done = town.ngym("install", "dots", "--yes")
    assert done.returncode == 0
    assert "on purpose" in done.stderr
    assert "failed" in done.stdout
    assert town.ngym("uninstall", "dots", "--yes").returncode == 0


@pytest.mark.slow
def test_a_package_that_cannot_be_imported_is_removed_without_running_it(
    town: Town, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    evil = dots(source=f"open({str(canary)!r}, 'w'); raise SystemExit")
    evil.files = {**evil.files, "__init__.py": f"open({str(canary)!r}, 'w'); raise SystemExit"}
    path = packages.wheel(evil, town.wheels)
    town.environment.pip_install([path])
    asked = town.ngym("uninstall", "dots")
    assert (asked.returncode, "Remove this?" in asked.stdout) == (1, True)
    done = town.ngym("uninstall", "dots", "--yes")
    assert done.returncode == 0, done.stderr
    assert not canary.exists()


@pytest.mark.slow
def test_without_pip_the_printed_lines_and_command_install_the_plan_with_uv(
    town: Town, tmp_path: Path, third_party: Path
) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    for entry in third_party.iterdir():
        if not entry.name.startswith("pip"):
            (bare / entry.name).symlink_to(entry.resolve())
    environment = environments.Environment(tmp_path / "venv", bare)
    for folder in town.environment.site.glob("neurogym_*"):
        shutil.copytree(folder, environment.site / folder.name)
    path = town.release(dots(requires=("neurogym-core>=1.0,<2", "helper")))
    missing = environment.ngym("install", "dots", "--yes", **town.variables)
    assert "PIP_INDEX_URL and the files of pip's configuration" in missing.stderr
    helper = town.depend("helper")
    shown = environment.ngym("install", "dots", "--dry-run", **town.variables)
    assert (shown.returncode, helper.name in shown.stdout) == (0, True), shown.stderr
    refused = environment.ngym("install", "dots", "--yes", **town.variables)
    assert refused.returncode == 1
    assert "has no pip" in refused.stderr
    sha256, of_helper = (hashlib.sha256(one.read_bytes()).hexdigest() for one in (path, helper))
    assert refused.stdout.splitlines() == [
        f"{NAME}==1.0.0 --hash=sha256:{sha256}",
        f"helper==1.0 --hash=sha256:{of_helper}",
    ]
    command = refused.stderr.partition("`uv ")[2].partition("`")[0].split()
    assert str(environment.python) in command
    uv = {**os.environ, "UV_NO_INDEX": "1", "UV_FIND_LINKS": str(town.wheels)}
    for content, good in (
        (refused.stdout.replace(of_helper, "a" * 64), False),
        (refused.stdout, True),
    ):
        (tmp_path / "requirements.txt").write_text(content)
        done = subprocess.run(
            [sys.executable, "-m", "uv", *command], capture_output=True, text=True, cwd=tmp_path,
            env=uv,
        )  # fmt: skip
        assert (done.returncode == 0) is good, done.stderr
    assert "summary" in environment.ngym("run", "Dots-v0", "--n-trials", "5", check=True).stdout
    assert "already installed" in environment.ngym("install", "dots", **town.variables).stdout
    gone = environment.ngym("uninstall", "dots", "--yes")
    assert (gone.returncode, f"Removed {NAME} 1.0.0." in gone.stdout) == (0, True), gone.stderr


@pytest.mark.parametrize(
    ("said", "shown", "remedy"),
    [
        ("ERROR: Exception:\nTraceback\nOSError: No space left on x", "OSError: No", "Make space"),
        ("ERROR: No matching distribution found for x", "found for x", "Check where it looks"),
        ("ERROR: x has an invalid RECORD", "invalid RECORD", "Correct this, or run pip itself"),
        ("one\ntwo\nthree\nfour", "two three four", "Correct this"),
    ],
)  # fmt: skip
def test_errors_of_pip_are_shown_with_a_remedy_that_fits(
    monkeypatch: pytest.MonkeyPatch, said: str, shown: str, remedy: str
) -> None:
    fails = f"import sys; print({said!r}, file=sys.stderr); sys.exit(2)"
    monkeypatch.setattr(pip, "_program", lambda: [sys.executable, "-c", fails])
    monkeypatch.setattr(pip, "configuration", dict)
    with pytest.raises(InstallError) as told:
        pip.look_up(["x"])
    assert shown in str(told.value)
    assert f" packages. {remedy}" in str(told.value)


def test_without_any_pip_it_prints_a_line_with_the_hash_of_the_package(
    keeper: Any, ngym: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper.package(NAME, "1.0.0")
    keeper.build()
    monkeypatch.setattr(pip, "_program", lambda: None)
    refused = ngym("install", "dots", "--dry-run", NGYM_REGISTRY=keeper.folder.as_uri())
    assert refused.exit_code == 1
    assert refused.stdout == f"{NAME}==1.0.0 --hash=sha256:{'a' * 64}\n"
    assert "neither pip nor ensurepip" in refused.stderr
    assert "requirements of the package are not compared" in refused.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for other processes")
def test_ctrl_c_while_pip_installs_leaves_nothing_behind(town: Town) -> None:
    """pip itself would leave the files that it has written, without metadata."""
    package = dots()
    package.files.update({f"part{number}.py": "x = 1\n" for number in range(2000)})
    town.release(package)
    before = town.state()
    begun = town.environment.site / "neurogym_task_dots"
    process = subprocess.Popen(
        [town.environment.python, "-m", "neurogym_core", "install", "dots", "--yes"],
        env={**os.environ, "HOME": str(town.environment.folder), "PIP_NO_INDEX": "1",
             **town.variables},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    while process.poll() is None and not begun.exists():
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, said = process.communicate(timeout=300)
    assert (process.returncode, said) == (130, "Interrupted. Nothing was changed.\n")
    assert town.state() == before


@pytest.mark.parametrize("failing", [OSError, KeyboardInterrupt])
def test_files_that_belong_together_are_written_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: type[BaseException]
) -> None:
    old, new, third = tmp_path / "old", tmp_path / "folder" / "new", tmp_path / "third"
    old.write_bytes(b"1")
    writing.write_together({old: b"2", new: b"2"})
    assert (old.read_bytes(), new.read_bytes()) == (b"2", b"2")
    new.unlink()
    write = writing.write_bytes

    def stop(path: Path, data: bytes) -> None:
        if path == third:
            raise failing
        write(path, data)

    monkeypatch.setattr(writing, "write_bytes", stop)
    with pytest.raises(failing):
        writing.write_together({old: b"3", new: b"3", third: b"3"})
    assert (old.read_bytes(), new.exists(), third.exists()) == (b"2", False, False)
