"""Each verdict on a release has archives that fail it, and the archives of all packages pass."""

from __future__ import annotations

import dataclasses
import gzip
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from scripts import loaded

from neurogym_core.ecosystem import published

ROOT = Path(__file__).resolve().parents[2]
verdicts = loaded(ROOT / ".ci" / "verdicts.py")
links = loaded(ROOT / ".ci" / "links.py")
Archive, Project = verdicts.Archive, verdicts.Project
SMALL = ROOT / "plugins" / "neurogym-task-motor"
PLACES = (str(ROOT), f"{Path.home()}/")
CITATION = (
    "cff-version: 1.2.0\ndoi: 10.5281/zenodo.1234567\nversion: 1.0.0\ndate-released: 2026-11-27\n"
)


def built(folder: Path, target: Path) -> list[Path]:
    """Build the wheel and the sdist of a package, without a compiled kernel."""
    variables = os.environ | {"NEUROGYM_BUILD_KERNEL": "0", "SOURCE_DATE_EPOCH": "1700000000"}
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(target)]
    subprocess.run(command, cwd=folder, env=variables, check=True, capture_output=True, timeout=300)
    return sorted(path for path in target.iterdir() if path.name.endswith((".whl", ".tar.gz")))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The sdist and the wheel of a small package."""
    return built(SMALL, tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def project():
    return verdicts.read_project(SMALL)


@pytest.fixture(params=["wheel", "sdist"])
def ideal(request, small: list[Path]):
    (path,) = [one for one in small if (one.suffix == ".whl") == (request.param == "wheel")]
    return verdicts.read_archive(path)


@pytest.mark.parametrize("folder", verdicts.folders(), ids=lambda folder: folder.name)
def test_the_archives_of_every_package_pass(folder: Path, tmp_path: Path) -> None:
    project = verdicts.read_project(folder, repository=published.REPOSITORY)
    archives = [verdicts.read_archive(one) for one in built(folder, tmp_path)]
    assert [one.kind for one in archives] == ["wheel", "sdist"]
    assert [line for one in archives for line in verdicts.defects(one, project, PLACES)] == []


def files(archive, **changes: bytes | None):
    """The archive with other bytes in some files; `top__x` is ``neurogym_task_motor/x``."""
    new = dict(archive.files)
    for name, content in changes.items():
        path = (
            name.replace("top__", "neurogym_task_motor/").replace("__", "/").replace("_dot_", ".")
        )
        if content is None:
            del new[path]
        else:
            new[path] = content
    return dataclasses.replace(archive, files=new)


def header(archive, key: str, *values: str):
    """The archive with other values of a header."""
    said = verdicts._message(archive.metadata.as_bytes())
    del said[key]
    for one in values:
        said[key] = one
    return dataclasses.replace(archive, metadata=said)


def more(archive, key: str, value: str):
    """The archive with a further header."""
    return header(archive, key, *archive.metadata.get_all(key, []), value)


def also(archive, path: str, content: bytes = b"x"):
    """The archive with a further file, or another one in its place."""
    return dataclasses.replace(archive, files={**archive.files, path: content})


def without(archive, path: str):
    """The archive without a file."""
    there = {one: content for one, content in archive.files.items() if one != path}
    return dataclasses.replace(archive, files=there)


def said_by_wheel(archive, old: bytes, new: bytes):
    """The wheel with another text in WHEEL."""
    text = archive.files.get(archive.under("WHEEL"), b"")
    return also(archive, archive.under("WHEEL"), text.replace(old, new))


def renamed(archive, tag: str):
    """The wheel with another tag, also in WHEEL."""
    changed = said_by_wheel(archive, b"py3-none-any", tag.encode())
    return dataclasses.replace(changed, name=changed.name.replace("py3-none-any", tag))


KERNEL = "neurogym_core/play/_kernel.cpython-311-x86_64-linux-gnu.so"
OF_WHEELS = {"tags", "entry_points"}
"""Verdicts on facts that an sdist does not have."""
CHEATS: dict[str, dict[str, Callable]] = {
    "licence": {
        "no expression": lambda one: header(one, "License-Expression"),
        "no SPDX": lambda one: header(one, "License-Expression", "free to use"),
        "another one": lambda one: header(one, "License-Expression", "GPL-3.0-only"),
        "no file named": lambda one: header(one, "License-File"),
        "empty text": lambda one: dataclasses.replace(
            one,
            files={
                path: b"" if path.endswith("LICENSE") else content
                for path, content in one.files.items()
            },
        ),
    },
    "typed": {
        "no mark": lambda one: files(one, top__py_dot_typed=None),
        "in part": lambda one: files(one, top__py_dot_typed=b"partial\n"),
    },
    "contents": {
        "a test": lambda one: files(one, tests__test_x_dot_py=b""),
        "a page": lambda one: files(one, top__docs__a_dot_md=b"# A"),
        "helpers of tests": lambda one: files(one, tests_common__a_dot_py=b""),
        "bytecode": lambda one: files(one, top____init___dot_pyc=b"\0"),
        "a cache": lambda one: files(one, top____pycache____a_dot_py=b""),
        "an editor's copy": lambda one: files(one, top__a_dot_py_dot_orig=b""),
        "not in git": lambda one: files(one, top__notes_dot_py=b"password = 1"),
        "another module": lambda one: files(one, numpy____init___dot_py=b""),
        "changed": lambda one: files(one, top__ngym_dot_toml=b"schema = 1\n"),
        "left out": lambda one: files(one, top__reaching_1d_dot_py=None),
        "a compiled module": lambda one: files(one, top__fast_dot_so=b"\x7fELF"),
        "nothing to import": lambda one: without(one, "neurogym_task_motor/__init__.py"),
        "a key beside the licence": lambda one: also(one, one.under("licenses/id_rsa")),
        "another dist-info": lambda one: also(one, "other-1.0.dist-info/METADATA"),
        "scripts": lambda one: also(one, "neurogym_task_motor-1.0.0.data/scripts/x"),
        "any file beside the licence": lambda one: also(one, one.under("licenses/notes.txt")),
        "a kernel of the core": lambda one: also(one, KERNEL),
    },
    "secrets": {
        path: lambda one, path=path: also(one, f"neurogym_task_motor/{path}")
        for path in (
            ".env",
            ".env.local",
            "prod.env",
            "data/.netrc",
            ".npmrc",
            "key.pem",
            "Server.KEY",
            "id_ed25519",
            "id_rsa.bak",
            "credentials.json",
            "credentials.csv",
            "secrets.toml",
            "client_secret.json",
            "service-account.json",
            "gha-creds-1.json",
            "token.txt",
            "passwords.md",
            "a.keytab",
        )
    }
    | {
        text.decode()[:16]: lambda one, text=text: also(one, "neurogym_task_motor/a.py", text)
        for text in (
            b'KEY = "-----BEGIN RSA PRIVATE KEY-----"',
            b"-----BEGIN OPENSSH PRIVATE KEY-----",
            b"ghp_" + b"a1B2" * 9,
            b"pypi-AgEIcHlwaS5vcmc" + b"a1B2" * 12,
            b"AKIA" + b"ABCD" * 4,
            b"ASIA" + b"ABCD" * 4,
            b"PuTTY-User-Key-File-3: ssh-ed25519",
            b"AGE-SECRET-KEY-1QQ",
            b"sk-ant-" + b"a1B2" * 6,
            b"hf_" + b"a1B2" * 8,
            b"xoxb-" + b"123456789012",
            b"AIza" + b"a1B2c" * 7,
            b"npm_" + b"a1B2" * 9,
            b"eyJ" + b"a1B2" * 6 + b".eyJ" + b"a1B2" * 6 + b".x",
        )
    },
    "paths": {
        "the checkout": lambda one: files(one, top__a_dot_py=f"x = '{ROOT}/a'".encode()),
        "the home": lambda one: files(one, top__a_dot_py=f"# {Path.home()}/.cache".encode()),
        "debugging information": lambda one: dataclasses.replace(
            one, files={KERNEL: b"\x7f/tmp/neurogym-kernel-x/c.c\0"}
        ),
    },
    "metadata": {
        "another name": lambda one: header(one, "Name", "neurogym-task-motors"),
        "another version": lambda one: header(one, "Version", "1.0.1"),
        "no summary": lambda one: header(one, "Summary"),
        "any Python": lambda one: header(one, "Requires-Python"),
        "plain text": lambda one: header(one, "Description-Content-Type", "text/plain"),
        "no classifiers": lambda one: header(one, "Classifier"),
        "a licence as classifier": lambda one: more(
            one, "Classifier", "License :: OSI Approved :: BSD License"
        ),
        "no author": lambda one: header(one, "Author"),
        "http": lambda one: more(one, "Project-URL", "Repository, http://example.org/a"),
        "file name": lambda one: dataclasses.replace(one, name=f"x{one.name}"),
        "a second name": lambda one: more(one, "Name", one.metadata["Name"]),
        "another author": lambda one: header(one, "Author", "Somebody Else"),
        "further keywords": lambda one: more(one, "Keywords", "casino"),
        "a further address": lambda one: more(one, "Project-URL", "Donate, https://example.org/a"),
        "an old format": lambda one: header(one, "Metadata-Version", "1.2"),
        "no format": lambda one: header(one, "Metadata-Version"),
        **{
            f"{key}: {value}": lambda one, key=key, value=value: more(one, key, value)
            for key, value in (
                ("Obsoletes-Dist", "numpy"),
                ("Provides-Dist", "numpy"),
                ("Requires", "os"),
                ("Requires-External", "evil"),
                ("Dynamic", "Requires-Dist"),
                ("Home-page", "http://example.org"),
                ("Platform", "win32"),
                ("Maintainer", "Somebody Else"),
                ("License", "Proprietary"),
                ("Import-Name", "numpy"),
                ("Classifier", "Private :: Do Not Upload"),
                ("Classifier", "Programming Language :: Python :: 2.7"),
            )
        },
        "no text": lambda one: dataclasses.replace(
            one, metadata=verdicts._message(one.metadata.as_bytes().partition(b"\n\n")[0] + b"\n\n")
        ),
    },
    "tags": {
        "one Python": lambda one: renamed(one, "cp311-cp311-linux_x86_64"),
        "Python 2": lambda one: renamed(one, "py2-none-any"),
        "every Python": lambda one: renamed(one, "py2.py3-none-any"),
        "WHEEL says another": lambda one: said_by_wheel(one, b"py3-none-any", b"cp311-none-any"),
        "no pure Python": lambda one: said_by_wheel(one, b"lib: true", b"lib: false"),
        "a kernel for all": lambda one: also(one, KERNEL),
        "a build number": lambda one: dataclasses.replace(
            one, name=one.name.replace("py3", "1-py3")
        ),
    },
    "entry_points": {
        "a command": lambda one: also(
            one, one.under("entry_points.txt"), b"[console_scripts]\npip = a:b\n"
        ),
        "none": lambda one: without(one, one.under("entry_points.txt")),
        "no INI": lambda one: also(one, one.under("entry_points.txt"), b"pip = a:b\n"),
        "twice": lambda one: also(
            one, one.under("entry_points.txt"), one.files[one.under("entry_points.txt")] * 2
        ),
        "its module is gone": lambda one: without(one, "neurogym_task_motor/reaching_1d.py"),
    },
    "declared": {
        "a further one": lambda one: more(one, "Requires-Dist", "numpi>=1"),
        "one left out": lambda one: header(one, "Requires-Dist", "neurogym-core>=1.0,<2"),
        "wider bounds": lambda one: header(
            one, "Requires-Dist", "neurogym-core>=1.0,<9999", "numpy>=1.26"
        ),
        "no lowest version": lambda one: header(
            one, "Requires-Dist", "neurogym-core>=0,<2", "numpy>=1.26"
        ),
        "in an extra": lambda one: more(one, "Requires-Dist", 'scipy>=1; extra == "x"'),
        "an extra": lambda one: more(one, "Provides-Extra", "x"),
        "no requirement": lambda one: more(one, "Requires-Dist", "numpy is needed"),
    },
    "requirements": {
        "the next major version": lambda one: header(
            one, "Requires-Dist", "neurogym-core>=1.0,<9999", "numpy>=1.26"
        ),
        "no core": lambda one: header(one, "Requires-Dist", "numpy>=1.26"),
        "any core": lambda one: header(one, "Requires-Dist", "neurogym-core", "numpy>=1.26"),
        "no upper bound": lambda one: header(one, "Requires-Dist", "neurogym-core>=1.0"),
        "an older core": lambda one: header(one, "Requires-Dist", "neurogym-core>=0.1,<1"),
        "any NumPy": lambda one: more(
            header(one, "Requires-Dist", "neurogym-core>=1.0,<2"), "Requires-Dist", "numpy"
        ),
        "an address": lambda one: more(
            one, "Requires-Dist", "a @ https://example.org/a-1-py3-none-any.whl"
        ),
        "a stranger": lambda one: more(one, "Requires-Dist", "neurogym-tools>=1,<2"),
    },
    "extras": {
        "test": lambda one: more(one, "Provides-Extra", "test"),
        "dev": lambda one: more(one, "Provides-Extra", "dev"),
    },
    "size": {"large": lambda one: dataclasses.replace(one, size=5_000_001)},
    "record": {"refused": lambda one: dataclasses.replace(one, wrong="RECORD lacks a file")},
    "form": {"a date to come": lambda one: dataclasses.replace(one, odd=("it has a date",))},
}


def test_every_verdict_has_cheats() -> None:
    assert set(CHEATS) == set(verdicts.VERDICTS)


@pytest.mark.parametrize(
    ("verdict", "cheat"), [(verdict, cheat) for verdict in CHEATS for cheat in CHEATS[verdict]]
)
def test_a_cheat_fails_its_verdict(verdict: str, cheat: str, ideal, project) -> None:
    if verdict in OF_WHEELS and ideal.kind == "sdist":
        assert list(verdicts.VERDICTS[verdict](ideal, project)) == []
        return
    judged = verdicts.VERDICTS[verdict]
    options = (PLACES,) if verdict == "paths" else ()
    assert list(judged(ideal, project, *options)) == []
    assert list(judged(CHEATS[verdict][cheat](ideal), project, *options)) != []


def test_the_address_of_the_sources_is_asked_for_when_there_is_one(ideal, project) -> None:
    urls = {**project.table.get("urls", {}), "Repository": "https://example.org/neurogym"}
    here = dataclasses.replace(
        project, repository=urls["Repository"], table={**project.table, "urls": urls}
    )
    (line,) = verdicts.metadata(ideal, here)
    assert line == "Project-URL lacks https://example.org/neurogym"
    good = more(ideal, "Project-URL", "Repository, https://example.org/neurogym")
    assert list(verdicts.metadata(good, here)) == []


@pytest.mark.parametrize("verdict", ["secrets", "contents"])
def test_a_secret_is_refused_also_if_git_knows_it(ideal, project, verdict: str) -> None:
    place = "neurogym_task_motor/.env"
    known = dataclasses.replace(project, tracked={**project.tracked, place: b"x"})
    assert len([*verdicts.VERDICTS[verdict](also(ideal, place), known)]) == 1


@pytest.mark.parametrize(
    "name",
    [
        "_netrc", "pypirc", "id_rsa_work", "kubeconfig", "a.ppk", "a.asc", "terraform.tfstate",
        "cookies.sqlite", "a.so", "a.pyd", "setup.py", "conftest.py", "test_a.py", "a_test.py",
        "examples/x.py", "wandb/settings.py", "a b.py", "\u00e4.py", "#a.py#",
        f"{'a' * 200}.py",
    ],
)  # fmt: skip
def test_a_file_of_another_kind_is_refused_also_if_git_knows_it(ideal, project, name: str) -> None:
    path = f"neurogym_task_motor/{name}"
    known = dataclasses.replace(project, tracked={**project.tracked, path: b"x"})
    assert any(name in line for line in verdicts.contents(also(ideal, path), known))


def with_zip(path: Path, target: Path, **changes: object) -> Path:
    """Write a wheel again, with other facts about its third file."""
    new = target / path.name
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, one in enumerate(old.infolist()):
            data = old.read(one)
            for key, value in changes.items() if number == 2 else ():
                setattr(one, key, value)
            archive.writestr(one, data)
    return new


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, None),
        ({"date_time": (2099, 1, 1, 0, 0, 0)}, "expected one, of the past"),
        ({"date_time": (2021, 1, 1, 0, 0, 0)}, "expected one, of the past"),
        ({"external_attr": 0o104777 << 16}, "has the rights"),
        ({"external_attr": 0}, "has the rights"),
        ({"comment": b"a key"}, "has a comment"),
        ({"extra": b"\x99\x99\x04\x00evil"}, "has a comment or an extra field"),
        ({"compress_type": zipfile.ZIP_LZMA}, "is compressed with method"),
    ],
)
def test_a_wheel_of_another_form_is_refused(
    small, project, tmp_path: Path, changes: dict, said: str | None
) -> None:
    (wheel,) = (one for one in small if one.suffix == ".whl")
    found = verdicts.defects(verdicts.read_archive(with_zip(wheel, tmp_path, **changes)), project)
    assert found == [] if said is None else any(said in line for line in found)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, None),
        ({"mtime": 4_070_908_800}, "expected one, of the past"),
        ({"mtime": 1_600_000_000}, "expected one, of the past"),
        ({"uname": "ana"}, "the owner"),
        ({"mode": 0o4777}, "has the rights"),
        ({"pax_headers": {"comment": "a key"}}, "has the headers"),
        ("after", "bytes after its end"),
    ],
)
def test_an_sdist_of_another_form_is_refused(
    small, project, tmp_path: Path, changes: dict | str, said: str | None
) -> None:
    (sdist,) = (one for one in small if one.name.endswith(".tar.gz"))
    new = tmp_path / sdist.name
    with (
        tarfile.open(sdist) as old,
        gzip.GzipFile(new, "wb", mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for number, one in enumerate(old):
            for key, value in changes.items() if number == 2 and changes != "after" else ():
                setattr(one, key, value)
            archive.addfile(one, old.extractfile(one))
    if changes == "after":
        new.write_bytes(new.read_bytes() + b"a key")
    found = verdicts.defects(verdicts.read_archive(new), project)
    assert found == [] if said is None else any(said in line for line in found)


def test_a_public_key_and_words_about_keys_are_no_secrets(ideal, project) -> None:
    content = b"-----BEGIN PUBLIC KEY-----\n# AKIA is the beginning of a key, ghp_ of a token\n"
    for path in ("keys.py", "secrets.py", "environment.py", "a.pub"):
        good = also(ideal, f"neurogym_task_motor/{path}", content)
        assert list(verdicts.secrets(good, project)) == []


def test_a_package_without_a_module_is_refused(ideal, project) -> None:
    def typed_alone(files):
        return {
            path: content
            for path, content in files.items()
            if not path.startswith("neurogym_task_motor/") or path.endswith("py.typed")
        }

    bare = dataclasses.replace(ideal, files=typed_alone(ideal.files))
    known = dataclasses.replace(project, tracked=typed_alone(project.tracked))
    (line,) = verdicts.contents(bare, known)
    assert line == "neurogym_task_motor/__init__.py is missing: there is nothing to import"


def test_a_package_without_a_readme_is_a_line(ideal, project) -> None:
    tracked = {path: one for path, one in project.tracked.items() if path != "README.md"}
    bare = dataclasses.replace(project, tracked=tracked)
    assert list(verdicts.metadata(ideal, bare)) == ["the description is not README.md"]


@pytest.mark.parametrize(
    ("name", "kernels", "right"),
    [
        ("cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64", [KERNEL], True),
        ("cp311-cp311-win_amd64", ["neurogym_core/play/_kernel.cp311-win_amd64.pyd"], True),
        ("cp312-cp312-linux_x86_64", [KERNEL], False),
        ("cp311-abi3-linux_x86_64", [KERNEL], False),
        ("cp311-cp311-any", [KERNEL], False),
        ("cp311-cp311-linux_x86_64", [KERNEL, KERNEL.replace("311", "312")], False),
        ("cp311-cp311-linux_x86_64", [], False),
    ],
)
def test_a_wheel_with_a_kernel_is_for_the_python_and_system_of_it(
    name: str, kernels: list[str], right: bool
) -> None:
    python, abi, systems = name.split("-")
    lines = "".join(f"Tag: {python}-{abi}-{one}\n" for one in systems.split("."))
    one = Archive(
        name=f"neurogym_core-1.0.0-{name}.whl", size=1, kind="wheel",
        files=dict.fromkeys(kernels, b""), metadata=verdicts._message(b""),
    )  # fmt: skip
    wheel = also(one, one.under("WHEEL"), f"Root-Is-Purelib: false\n{lines}".encode())
    assert ([*verdicts.tags(wheel, None)] == []) is right


def test_a_second_dist_info_is_a_line(small, project, tmp_path: Path) -> None:
    (path,) = [one for one in small if one.suffix == ".whl"]
    cheat = tmp_path / path.name
    cheat.write_bytes(path.read_bytes())
    with zipfile.ZipFile(cheat, "a") as archive:
        archive.writestr("other-1.0.dist-info/METADATA", "Name: other\n")
    lines = verdicts.defects(verdicts.read_archive(cheat), project, PLACES)
    assert {line.split(": ")[1] for line in lines} == {"record", "contents", "form"}


@pytest.mark.parametrize("end", ["-py3-none-any.whl", ".tar.gz"])
def test_a_file_that_is_no_archive_is_said(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"neurogym_task_motor-1.0.0{end}"
    path.write_bytes(b"no archive")
    with pytest.raises(verdicts.ArchiveError, match=r"cannot be read: .* Build it again\."):
        verdicts.read_archive(path)


def test_a_wheel_whose_record_leaves_out_a_file_is_refused(small, project, tmp_path) -> None:
    (path,) = [one for one in small if one.suffix == ".whl"]
    cheat = tmp_path / path.name
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(cheat, "w") as new:
        for one in old.infolist():
            new.writestr(one, old.read(one))
        new.writestr("neurogym_task_motor/more.py", "x = 1\n")
    lines = verdicts.defects(verdicts.read_archive(cheat), project, PLACES)
    assert {line.split(": ")[1] for line in lines} == {"record", "contents", "form"}


@pytest.mark.parametrize("cheat", ["link", "outside", "parent", "twice"])
def test_an_sdist_with_more_than_plain_files_in_its_folder_is_refused(tmp_path, cheat) -> None:
    path = tmp_path / "a-1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        one = tarfile.TarInfo({"outside": "b/x", "parent": "a-1/../x"}.get(cheat, "a-1/x"))
        if cheat == "link":
            one.type, one.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(one, io.BytesIO(b""))
        if cheat == "twice":
            archive.addfile(one, io.BytesIO(b""))
    with pytest.raises(verdicts.ArchiveError, match="Expected plain files in the folder a-1/"):
        verdicts.read_archive(path)


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(verdicts.ArchiveError, match=r"a\.zip is no wheel and no sdist"):
        verdicts.read_archive(tmp_path / "a.zip")


def test_two_builds_have_the_same_files_with_the_same_bytes() -> None:
    assert verdicts.reproducible({"a": b"1"}, {"a": b"1"}) == []
    (line,) = verdicts.reproducible({"a": b"1"}, {"a": b"2"})
    assert line.startswith("a: reproducible: two builds have the hashes")
    assert verdicts.reproducible({"a": b"1"}, {}) == ["a: reproducible: only one build made it"]


def test_two_builds_of_a_package_have_the_same_bytes(small, tmp_path: Path) -> None:
    first = {one.name: one.read_bytes() for one in small}
    second = {one.name: one.read_bytes() for one in built(SMALL, tmp_path)}
    assert verdicts.reproducible(first, second) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("version: 1.0.0", "version: 0.9.0"),
        ("date-released: 2026-11-27", "date-released: soon"),
        ("date-released: 2026-11-27", "date-released: 2026-99-99"),
        ("date-released: 2026-11-27", "date-released: 20261127"),
        ("doi: 10.5281/zenodo.1234567\n", ""),
        ("doi: 10.5281/zenodo.1234567", "doi: zenodo"),
    ],
)
def test_a_citation_of_another_release_is_refused(old: str, new: str) -> None:
    assert verdicts.citation(CITATION, "1.0.0") == []
    assert len(verdicts.citation(CITATION.replace(old, new), "1.0.0")) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2026-11-27", '"2026-11-27"'),
        ("2026-11-27", "'2026-11-27' # today"),
        ("10.5281/zenodo.1234567", '"10.5281/zenodo.1234567"'),
        ("10.5281/zenodo.1234567", "10.5281/zenodo.1234567  # of all versions"),
        ("version: 1.0.0", 'version: "1.0.0"'),
        ("10.5281/zenodo.1234567", "10.5281/zenodo.10000000"),
    ],
)
def test_a_citation_may_have_quotes_comments_and_a_round_number(old: str, new: str) -> None:
    assert verdicts.citation(CITATION.replace(old, new), "1.0.0") == []
    assert verdicts.placeholders(**GIVEN | {"citation": CITATION.replace(old, new)}) == []


@pytest.mark.parametrize(
    "doi",
    [
        "10.5281/zenodo.0000000", "10.5281/ZENODO.0000000", "10.5281/zenodo.XXXXXXX",
        "10.5281/zenodo.000000", "10.5281/zenodo.TODO", "10.1234/placeholder", "10.5281/other",
        '"10.5281/zenodo.0000000"', "10.5072/zenodo.12345", "10.5281/zenodo.0123456",
        "10.5281/zenodo.9999999", "10.5281/zenodo.12345xxx", "10.5281/zenodo.", "10.5555/12345678",
        "10.17605/OSF.IO/XXXXX", "10.6084/m9.your-number", "10.6084/m9.figshare.00000",
    ],
)  # fmt: skip
def test_a_doi_that_nobody_registered_is_a_placeholder(doi: str) -> None:
    text = CITATION.replace("10.5281/zenodo.1234567", doi)
    (line,) = verdicts.placeholders(**GIVEN | {"citation": text})
    assert "is a placeholder" in line


@pytest.mark.parametrize("doi", ["10.6084/m9.figshare.1234567", "10.17605/OSF.IO/AB3XY"])
def test_a_doi_of_another_archive_may_have_letters(doi: str) -> None:
    text = CITATION.replace("10.5281/zenodo.1234567", doi)
    assert verdicts.citation(text, "1.0.0") == []
    assert verdicts.placeholders(**GIVEN | {"citation": text}) == []


def test_a_placeholder_beside_the_doi_is_named() -> None:
    more = "identifiers:\n  - type: doi\n    value: 10.5281/zenodo.0000000\n"
    (line,) = verdicts.placeholders(**GIVEN | {"citation": CITATION + more})
    assert "10.5281/zenodo.0000000 is a placeholder" in line


def test_the_citation_is_that_of_the_core() -> None:
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    assert verdicts.citation(text, verdicts.table_of(ROOT)["version"]) == []


GIVEN = {
    "citation": CITATION,
    "repository": "https://code.lab.edu/ana/tasks",
    "published": True,
    "owners": "# Owners\n/registry/ @ana\n",
    "readmes": {"README.md": "See [the tour](https://example.org/tour) and `[a](b)`."},
}


@pytest.mark.parametrize(
    ("key", "cheat", "said"),
    [
        ("citation", "doi: 10.5281/zenodo.0000000\n", "is a placeholder"),
        ("repository", "", "REPOSITORY is empty"),
        ("repository", "https://example.org/neurogym", "REPOSITORY is https://example.org"),
        ("repository", "http://code.lab.edu/ana/tasks", "Give the public address"),
        ("repository", "https://code.lab.edu/TODO", "Give the public address"),
        ("published", False, "PUBLISHED is False"),
        ("owners", "/registry/\n", "1 of 1 paths have no owner"),
        ("owners", "", "0 of 0 paths have no owner"),
        ("owners", "# @ana\n", "0 of 0 paths have no owner"),
        ("owners", "* \n/a @ana\n", "1 of 2 paths have no owner"),
        ("owners", "/a #@todo\n", "1 of 1 paths have no owner"),
        ("owners", "/a someone@\n", "1 of 1 paths have no owner"),
        ("owners", "/a @todo\n/b @your-account\n", "2 of 2 paths have no owner"),
        ("readmes", {"README.md": "[a](docs/a.md)", "b": "b"}, "1 links of 1 files are relative"),
    ],
)
def test_each_placeholder_is_named(key: str, cheat: object, said: str) -> None:
    assert verdicts.placeholders(**GIVEN) == []
    (line,) = verdicts.placeholders(**GIVEN | {key: cheat})
    assert said in line


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[a](docs/x.md)", ["docs/x.md"]),
        ("![i]( docs/x.png )", ["docs/x.png"]),
        ("[a](<docs/x y.md>)", ["docs/x y.md"]),
        ("[a][b]\n\n[b]: docs/x.md 'title'", ["docs/x.md"]),
        ("<img width=9 src='docs/x.png'>", ["docs/x.png"]),
        ('<a href="docs/x.md">x</a>', ["docs/x.md"]),
        ("[a](https://example.org) [b](#c) `[a](b)` <img src=https://example.org/x.png>", []),
        ("```\n[a](b)\n<img src=x>\n```\n", []),
        ('[a](docs/x.md "A title")', ["docs/x.md"]),
        ("[`a`](docs/x.md) and [![b](b.png)](c_(d).md)", ["docs/x.md", "b.png", "c_(d).md"]),
        ("[a]: <docs/x y.md>", ["docs/x y.md"]),
        ('<img src="https://code.lab.edu/x" srcset="a.png 1x, b.png 2x">', ["a.png", "b.png"]),
        ("<IMG SRC=docs/x.png>", ["docs/x.png"]),
        ("a list[int](x, y) and a[^1]\n\n[^1]: A note.", []),
        ("<!-- [a](b) --> ~~~x~~~ ``[a](b) ` `` [b](HTTPS://code.lab.edu)", []),
        ("One ` mark.\n\n[a](b) and another ` mark.", ["b"]),
        ("> [a][b]\n>\n> [b]: docs/x.md\n\n- [c]: docs/y.md", ["docs/x.md", "docs/y.md"]),
        (
            '<object data="a.svg"/> <use xlink:href="b.svg"/> <form action="c">',
            ["a.svg", "b.svg", "c"],
        ),
        ("[a](//a.lab.edu) [b](ftp://a.lab.edu) [c](tel:1) [d](doi:10.1/x)", []),
        ("![e](data:image/png,x)", []),
    ],
)
def test_relative_links_are_found_in_each_form(text: str, found: list[str]) -> None:
    targets = links.relative_targets(text)
    assert [one.text for one in targets] == found
    assert [text[one.start :][: len(one.text)] for one in targets] == found


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("[a](docs/index.md 'x')", "[a](A/blob/main/docs/index.md 'x')"),
        ("[a]: docs#b", "[a]: A/tree/main/docs#b"),
        ("<img src='docs/x.png'>", "<img src='A/raw/main/docs/x.png'>"),
        ("`[a](docs)` [a](docs)", "`[a](docs)` [a](A/tree/main/docs)"),
        ("[a](<docs/x y.md>)", "[a](<A/blob/main/docs/x y.md>)"),
    ],
)
def test_each_form_of_a_link_becomes_absolute(text: str, made: str) -> None:
    script = loaded(ROOT / ".ci" / "absolute_links.py")
    address = "https://code.lab.edu/tasks"
    assert script.absolute(text, ROOT, address) == made.replace("A/", f"{address}/")


def test_relative_links_become_addresses_of_files_that_exist() -> None:
    script = loaded(ROOT / ".ci" / "absolute_links.py")
    address = "https://example.org/neurogym"
    for folder in verdicts.folders():
        text = (folder / "README.md").read_text("utf-8")
        made = script.absolute(text, folder, address)
        assert links.relative_targets(made) == []
        places = [part.split(")")[0].split("#")[0] for part in made.split(f"({address}/")[1:]]
        assert len(places) == len(links.relative_targets(text))
        for place in places:
            kind, branch, path = place.split("/", 2)
            assert branch == "main"
            assert (ROOT / path).is_dir() == (kind == "tree"), place
            assert (ROOT / path).exists(), place
