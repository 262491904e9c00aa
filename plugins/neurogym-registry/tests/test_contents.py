"""The files that a wheel is read to have, against those that pip writes."""

from __future__ import annotations

import base64
import ensurepip
import hashlib
import os
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from neurogym_registry.contents import SCHEMES, Contents, ContentsError, read_contents
from neurogym_registry.places import Folders, Place

DATA = "plain_helper-1.0.data"
INFO = "plain_helper-1.0.dist-info"
WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
METADATA = "Metadata-Version: 2.1\nName: plain-helper\nVersion: 1.0\n"

plain_parts = st.sampled_from(["a", "b", "a.py", "b.py", "__init__.py", "x.pth", "with space", "é"])
STRANGE_PARTS = (
    "..", ".", "", "A.py", "dot.", "blank ", "C:", "back\\slash", "line\nbreak", "\u202ebidi",
    "sitecustomize", "zz.PTH", "numpy-9.dist-info", "numpy.egg-info", "INSTALLER", "RECORD",
)  # fmt: skip
plain_tops = st.sampled_from(
    ["plain_helper/", "other/", "", *(f"{DATA}/{scheme}/" for scheme in SCHEMES)]
)
STRANGE_TOPS = (
    "/", "./", "plain_helper/../", f"{DATA}/", f"{DATA}//purelib/", f"{DATA}/nowhere/",
    "x.data/purelib/", "X.DATA/scripts/", f"{INFO}/", f"{DATA}/purelib/{INFO}/", "../",
)  # fmt: skip
plain_names = st.builds(
    lambda top, parts: top + "/".join(parts),
    plain_tops,
    st.lists(plain_parts, min_size=1, max_size=3),
)
strange_names = st.builds(
    lambda top, parts, end: top + "/".join(parts) + end,
    plain_tops | st.sampled_from(STRANGE_TOPS),
    st.lists(plain_parts | st.sampled_from(STRANGE_PARTS), min_size=1, max_size=4),
    st.sampled_from(["", "", "/"]),
)
plain_points = st.sampled_from(
    ["[console_scripts]", "[gui_scripts]", "[other]", "a = plain_helper:main", "# a comment", "",
     "  b = plain_helper.x:main.run", "c=plain_helper:main [more]", "a.py = plain_helper:main"]
)  # fmt: skip
STRANGE_POINTS = (
    "[ console_scripts ]", "[console_scripts", "../d = x:y", "/tmp/d = x:y", "pip = x:y", "e = x",
    "; f = x:y", "g h = x:y", "i : x:y", "j = x:y\x0c[console_scripts]\x0ck = x:y", "[]", " = x:y",
    "a = another:main", "l = x:y; z", "m = x:y [a=1]", "b-script.py = x:y", "=", "n =", ".. = x:y",
)  # fmt: skip


@st.composite
def wheels(draw: st.DrawFn) -> list[tuple[str, str]]:
    """The files of a wheel: plain ones, with up to a few strange properties."""
    names = draw(st.lists(plain_names, max_size=6, unique=True))
    strange = draw(st.integers(0, 2))
    if strange:
        names += draw(st.lists(strange_names, max_size=strange))
    lines = draw(st.lists(plain_points, max_size=6, unique=True))
    if draw(st.booleans()):
        lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(STRANGE_POINTS)))
    info = INFO
    head = WHEEL
    if draw(st.integers(0, 9)) == 0:
        info = draw(
            st.sampled_from(["Plain_Helper-1.0", "plain.helper-1.0", "plain_helper-1.0.0",
                             "plain_helper_x-1.0", "plain_helper-2.0", "plain-helper-1.0"])
        ) + ".dist-info"  # fmt: skip
    if draw(st.integers(0, 4)) == 0:
        head = draw(
            st.sampled_from(
                ["Wheel-Version: 1.0\nRoot-Is-Purelib: false\n", "Wheel-Version: 1.0\n", "", "x\n",
                 "Wheel-Version: 2.0\nRoot-Is-Purelib: true\n", "Wheel-Version: 1.9\n",
                 f"Root-Is-Purelib: false\n{WHEEL}", "wheel-version: 1.0\nROOT-IS-PURELIB: TRUE\n"]
            )
        )  # fmt: skip
    files = [(name, f"# {number}\n") for number, name in enumerate(names)]
    if lines:
        files.append((f"{info}/entry_points.txt", "\n".join(lines)))
    files += [(f"{info}/METADATA", METADATA), (f"{info}/WHEEL", head)]
    rows = [row(name, text) for name, text in files if not name.endswith("/")]
    if draw(st.integers(0, 19)) == 0:
        rows.append(draw(st.sampled_from(["../../../bin/pip,,", "numpy/__init__.py,,", "a,b"])))
    return [*files, (f"{info}/RECORD", "\n".join([*rows, f"{info}/RECORD,,", ""]))]


def row(name: str, text: str) -> str:
    """Return the row of a file in RECORD."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode()
    shown = f'"{name}"' if "\n" in name else name
    return f"{shown},sha256={digest.rstrip('=')},{len(text)}"


def write(folder: Path, files: list[tuple[str, str]]) -> Path:
    path = folder / "plain_helper-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files:
            archive.writestr(zipfile.ZipInfo(name), text)
    return path


def by_pip(path: Path, folder: Path) -> set[tuple[str, str]]:
    """Return (scheme, path) of all files that pip writes, and ("", path) of any elsewhere."""
    from pip._internal.models.scheme import Scheme
    from pip._internal.operations.install.wheel import install_wheel

    inside = folder / "in" / "the" / "middle"
    install_wheel(
        "plain-helper",
        str(path),
        Scheme(**{scheme: str(inside / scheme) for scheme in SCHEMES}),
        "plain-helper",
        pycompile=False,
        warn_script_location=False,
        requested=True,
    )
    found = set()
    for one in (folder / "in").rglob("*"):
        if not one.is_dir():
            within = one.relative_to(inside).parts if one.is_relative_to(inside) else ("", str(one))
            found.add((within[0], "/".join(within[1:])))
    return found


def compare(files: list[tuple[str, str]]) -> Contents | None:
    """Compare the files of a wheel, as read, with pip's result; None if it is refused."""
    with tempfile.TemporaryDirectory() as name:
        path = write(Path(name), files)
        try:
            contents = read_contents(path)
        except ContentsError:
            return None
        assert by_pip(path, Path(name)) == set(contents.written())
    return contents


@pytest.fixture(scope="module", autouse=True)
def _pip_is_loaded() -> Iterator[None]:
    """pip replaces a module of setuptools when it is imported first."""
    before = dict(os.environ)
    __import__("pip._internal.operations.install.wheel")
    yield
    os.environ.clear()
    os.environ.update(before)


fuzz = settings(
    max_examples=60, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)  # fmt: skip


@fuzz
@given(wheels())
@pytest.mark.filterwarnings("ignore")
def test_pip_writes_what_was_read(files: list[tuple[str, str]]) -> None:
    compare(files)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_pip_writes_what_was_read_of_2000_wheels() -> None:
    accepted, refused = list[Contents](), 0

    @settings(fuzz, max_examples=2000)
    @given(wheels())
    def all_of_them(files: list[tuple[str, str]]) -> None:
        nonlocal refused
        contents = compare(files)
        if contents is None:
            refused += 1
        else:
            accepted.append(contents)

    all_of_them()
    assert len(accepted) + refused >= 2000
    assert len(accepted) >= 500
    assert refused >= 200
    assert {scheme for one in accepted for scheme, _ in one.written()} == set(SCHEMES)
    assert sum(bool(one.commands) for one in accepted) >= 50


def honest(more: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """A wheel with files in all places and a RECORD of them, and more files."""
    names = ["plain_helper/__init__.py", *(f"{DATA}/{scheme}/a" for scheme in SCHEMES)]
    files = [*((name, "x") for name in names), *more]
    return with_record([*files, (f"{INFO}/METADATA", METADATA), (f"{INFO}/WHEEL", WHEEL)])


def with_record(files: list[tuple[str, str]]) -> list[tuple[str, str]]:
    rows = [row(name, text) for name, text in files]
    return [*files, (f"{INFO}/RECORD", "\n".join([*rows, f"{INFO}/RECORD,,"]))]


@pytest.mark.filterwarnings("ignore")
def test_a_wheel_that_installers_could_read_differently_is_refused() -> None:
    """The ideal, with files in all places, is accepted."""
    assert compare(honest([])) is not None
    for name in (
        "./b.py", "plain_helper/../b.py", "plain_helper//b.py", f"{DATA}/purelib/./b.py", "/b.py",
        "x.data/purelib/b.py", f"{DATA}/nowhere/b.py", f"{DATA}/b.py", "plain_helper/__init__.py/b",
        f"{DATA}/purelib/numpy-9.dist-info/METADATA", "numpy-9.egg-info/PKG-INFO",
        f"{DATA}/purelib/{INFO}/METADATA", f"{INFO}/INSTALLER", "b.py.", "b.py ", "b\nc.py",
        f"{DATA}/purelib/plain_helper/__init__.py",
    ):  # fmt: skip
        assert compare(honest([(name, "y")])) is None, name


@pytest.mark.filterwarnings("ignore")
def test_each_strange_name_or_command_is_refused_or_read_as_pip_does() -> None:
    names = [f"plain_helper/{part}/x" for part in STRANGE_PARTS]
    names += [f"{top}x" for top in STRANGE_TOPS] + [f"other/{part}" for part in STRANGE_PARTS]
    accepted = [name for name in names if compare(honest([(name, "y")])) is not None]
    assert "other/A.py" in accepted
    assert "plain_helper/../x" not in accepted
    points = [
        (f"{INFO}/entry_points.txt", f"[{group}]\n{line}")
        for group in ("console_scripts", "gui_scripts")
        for line in STRANGE_POINTS
    ]
    found = [compare(honest([one])) for one in points]
    commands = {name for one in found if one is not None for name in one.commands}
    assert "a" in commands
    assert not {"e", "..", "../d", "/tmp/d", "pip"} & commands
    for script in ("b", "b.exe", "b-script.py", "b.pya", "c.exe"):
        files = [(f"{DATA}/scripts/{script}", "y")]
        files.append((f"{INFO}/entry_points.txt", "[console_scripts]\nb = x:y"))
        assert compare(honest(files)) is not None


def test_metadata_has_the_name_and_version_of_the_file() -> None:
    """Otherwise pip would install a distribution under the name of another."""
    for metadata in (
        METADATA.replace("plain-helper", "numpy"),
        METADATA.replace("1.0\n", "9.0\n"),
        f"{METADATA}Name: numpy\n",
        "Metadata-Version: 2.1\n",
    ):
        files = [
            (name, text) for name, text in honest([]) if not name.endswith(("METADATA", "RECORD"))
        ]
        assert compare(with_record([*files, (f"{INFO}/METADATA", metadata)])) is None


def test_a_file_has_one_place_also_through_links_and_as_data(tmp_path: Path) -> None:
    """`lib64` of an environment is often a link to `lib`."""
    site = tmp_path / "lib" / "site-packages"
    site.mkdir(parents=True)
    (tmp_path / "lib64").symlink_to("lib")
    folders = Folders(
        str(site), str(site), str(tmp_path / "include"), str(tmp_path / "bin"), str(tmp_path)
    )
    for path in ("lib64/site-packages/zz.pth", "lib/site-packages/zz.pth"):
        contents = made(files={("data", path): "x"})
        assert Place(folders).effects("x", contents).at_start == ("zz.pth",)
    twice = made(files={("data", "lib64/site-packages/a.py"): "x", ("purelib", "a.py"): "y"})
    assert "twice" in str(Place(folders).fault("x", twice, {}, ()))
    (tmp_path / "elsewhere").symlink_to(tmp_path.parent)
    outside = made(files={("data", "elsewhere/a"): "x"})
    assert "outside of the environment" in str(Place(folders).fault("x", outside, {}, ()))


def made(**fields: Any) -> Contents:
    values = {
        "info": "x-1.dist-info",
        "root": "purelib",
        "hashes": {},
        "points": {},
        "commands": (),
    }
    return Contents(**{**values, **fields})


@pytest.mark.parametrize("name", ["sitecustomize.py", "usercustomize.cpython-311.so",
    "SITECUSTOMIZE/__init__.py", "sitecustomize", "a.pth", ".a.PTH"])  # fmt: skip
def test_start_up_code_is_known_in_any_spelling(name: str) -> None:
    found = Place().effects("x", made(files={("platlib", name): "x"}))
    assert found.at_start == (name,)
    found = Place().effects("x", made(files={("platlib", f"x/{name}"): "x"}))
    assert found.at_start == ()


def test_wheels_of_other_builders_are_read(wheels: list[Path]) -> None:
    """Those of this project, and of setuptools where Python has it; that of pip makes commands
    that depend on the version of Python, and is not installed by ngym."""
    bundled = Path(ensurepip.__file__).parent / "_bundled"
    for path in [*bundled.glob("setuptools-*.whl"), *wheels]:
        assert read_contents(path).root == "purelib"
    for path in bundled.glob("pip-*.whl"):
        with pytest.raises(ContentsError, match="'pip' is not a name for a command"):
            read_contents(path)
