"""Verdicts on the wheels and sdists of a release, as functions of archives and of the sources.

Each takes the bytes that would be published, and yields a line per defect; none yields a defect of
an archive as it should be. ``.ci/release_check.py`` builds the archives and prints the lines."""

from __future__ import annotations

import configparser
import email
import hashlib
import re
import subprocess
import tarfile
import time
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from email.message import Message
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Any

from links import relative_targets
from neurogym_registry.contents import ContentsError, read_contents
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
CORE = "neurogym-core"
MAX_SIZE = 5_000_000
"""Most bytes of a wheel or an sdist: the largest, with tables of animals, has 3 MB."""
CLASSIFIERS = (
    "Development Status :: ",
    "Intended Audience :: Science/Research",
    "Programming Language :: Python :: 3.11",
    "Programming Language :: Python :: 3.14",
    "Topic :: Scientific/Engineering",
    "Typing :: Typed",
)
"""Beginnings of classifiers that each package has."""
FOR_DEVELOPERS = {"test", "tests", "dev", "docs", "lint", "mutants", "site"}
OF_AUTHORS = {"neurogym-check": {"test"}}
"""Extras with such a name that users of a package need: pytest, for the tests of their tasks."""
_BROUGHT = {
    CORE: {"registry/index.json": ("neurogym_core/_bundled/index.json", "registry/index.json")},
    "neurogym-check": {"cookiecutter-task": ("neurogym_check/_template", "cookiecutter-task")},
    "neurogym-registry": {
        "registry/index.json": ("neurogym_registry/_data/index.json", "registry/index.json"),
        "registry/schema": ("neurogym_registry/_data/schema", "registry/schema"),
    },
}
"""Package -> files and folders of the repository that a build brings -> their places in its wheel
and in its sdist."""
_KERNEL = re.compile(r"neurogym_core/play/_kernel\.(cpython-|cp)(?P<python>3\d+)-[\w.-]+\.(so|pyd)")
_NOT_PUBLISHED = ("*.h", "*.pxd")  # sources of the kernel: in the sdist, in no wheel
_PARTS = {
    "tests", "test", "docs", "__pycache__", "build", "dist", "node_modules", "tests_common",
    "examples", "wandb",
}  # fmt: skip
_KINDS = {
    ".py", ".pyi", ".typed", ".toml", ".js", ".ts", ".html", ".css", ".md", ".json", ".txt", ".yml",
    ".gz", ".h", ".pxd", ".cff",
}  # fmt: skip
"""Ends of the names of published files; others, and names without one, are no part of a package."""
_OF_TESTS = re.compile(r"(^|/)(test_\w+|\w+_test|conftest|setup|noxfile)\.py$")
_NAME = re.compile(r"[A-Za-z0-9_.{}/+-]{1,150}")
_CACHES = re.compile(r"\.(py[co]|orig|rej|bak|swp|tmp|log)$|~$|(^|/)\.(DS_Store|coverage)$")
_BUILDERS = re.compile(rb"/(?:home|root|tmp|Users|private|var/folders|builds?|work)/[\w.+/-]+")
_HIDDEN = re.compile(r"(^|/)\.(?!gitignore$)")
_SECRETS = re.compile(
    r"(^|/)(\.?env|\.env[.-][^/]*|[^/]+\.env|\.(netrc|npmrc|pgpass|pypirc|htpasswd|git-credentials)"
    r"|(credentials|secrets?)(\.(ini|json|toml|txt|ya?ml))?|id_(rsa|dsa|ecdsa|ed25519)(\.\w+)?"
    r"|[^/]*\.(pem|key|p8|p12|pfx|jks|keystore|kdbx|gpg))$",
    re.I,
)
"""Names of files with passwords and keys."""
_SECRET_WORDS = re.compile(
    r"credential|secret|token|passw|service.?account|gha-creds|(api|private|access).?key|keytab",
    re.I,
)
"""Words in the names of such files, if they are no modules."""
_KEYS = re.compile(
    rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY|\bgh[oprsu]_[A-Za-z0-9]{36}|\bgithub_pat_\w{40}"
    rb"|\bglpat-[\w-]{20}|\bpypi-AgE[\w-]{50}|\bA(KIA|SIA)[0-9A-Z]{16}\b|PuTTY-User-Key-File-\d"
    rb"|AGE-SECRET-KEY-1|\bsk-(ant|proj)-[\w-]{20}|\bhf_[A-Za-z0-9]{30}|\bxox[abprs]-[\w-]{10}"
    rb"|\bAIza[\w-]{35}|\bnpm_[A-Za-z0-9]{36}|\beyJ[\w-]{20,}\.eyJ[\w-]{20,}\."
)
"""Beginnings of private keys, and of tokens of hosts of sources, indexes and other services."""
_OWNER = re.compile(r"@[\w-]+(/[\w-]+)?|[^@\s]+@[^@\s]+\.[a-z]+")
_WORDS = re.compile(
    r"placeholder|to-?do\b|\btbd\b|fixme|change-?me|reserve|\byour\b|example|x{3}", re.I
)
"""Words in place of a value."""
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"',\]}]+")
_NO_DOI = re.compile(r"\D(\d)\1{4,}$|\D0+$|^10\.(1234|5072|5555|9999)/")
"""DOIs that are not registered: zeros, one digit alone, prefixes of examples and tests."""
_ADDRESS = re.compile(r"https://(?!localhost\b)[\w-]+(\.[\w-]+)+/\S+")
_HEADERS = {
    "Metadata-Version", "Name", "Version", "Summary", "Project-URL", "Author", "Author-email",
    "License-Expression", "License-File", "Classifier", "Keywords", "Requires-Python",
    "Requires-Dist", "Provides-Extra", "Description-Content-Type",
}  # fmt: skip
_REPEATED = {"Project-URL", "License-File", "Classifier", "Requires-Dist", "Provides-Extra"}
_INFO = {"METADATA", "WHEEL", "RECORD", "entry_points.txt"}
_OF_SDISTS = {"PKG-INFO", "pyproject.toml", "README.md", ".gitignore", "hatch_build.py"}
_OF_THE_CORE = {"LICENSE", "CHANGELOG.md", "CITATION.cff"}


class ArchiveError(ValueError):
    """A file is no wheel and no sdist that an installer would read; the message is the reason."""


@dataclass(frozen=True, kw_only=True)
class Project:
    """Facts about a package of this project, read from its sources.

    Attributes:
        table: [project] of its pyproject.toml.
        module: its import package.
        tracked: path from its folder -> bytes of each file that git knows and could be published.
        brought: path in the wheel -> path in the sdist -> bytes, of files from elsewhere.
        own: versions of all packages of this project.
        repository: public address of the sources, "" while there is none.
    """

    table: Mapping[str, Any]
    module: str
    tracked: Mapping[str, bytes]
    brought: Mapping[tuple[str, str], bytes] = field(default_factory=dict)
    own: Mapping[str, str]
    repository: str = ""

    @property
    def name(self) -> str:
        return str(self.table["name"])


@dataclass(frozen=True, kw_only=True)
class Archive:
    """A wheel or an sdist in memory.

    Attributes:
        name: its file name.
        size: its size in bytes.
        kind: ``"wheel"`` or ``"sdist"``.
        files: path -> bytes; of an sdist within its one folder.
        metadata: METADATA or PKG-INFO.
        wrong: why pip would not write a wheel as it looks: RECORD, names, hashes; or "".
        odd: facts about its files, beside names and bytes, that a build of these sources does not
            give: other dates, owners, rights, comments.
    """

    name: str
    size: int
    kind: str
    files: Mapping[str, bytes]
    metadata: Message
    wrong: str = ""
    odd: tuple[str, ...] = ()

    def under(self, end: str) -> str:
        """Return the .dist-info folder of a wheel, with `end`."""
        return f"{'-'.join(self.name.split('-')[:2])}.dist-info/{end}"


def folders(root: Path = ROOT) -> list[Path]:
    """Return the folders of all packages, the core's first."""
    return [root, *sorted(path.parent for path in root.glob("plugins/*/pyproject.toml"))]


def table_of(folder: Path) -> dict[str, Any]:
    """Return [project] of a folder's pyproject.toml."""
    found: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def read_project(folder: Path, root: Path = ROOT, repository: str = "") -> Project:
    """Read the facts about the package in a folder of a checkout.

    Args:
        folder: its folder.
        root: the checkout.
        repository: public address of the sources.
    """
    table = table_of(folder)
    module = table["name"].replace("-", "_")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", module, *sorted(_OF_SDISTS | _OF_THE_CORE)],
        cwd=folder, check=True, capture_output=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    tracked = {
        one: (folder / one).read_bytes() for one in listed if one and (folder / one).exists()
    }
    brought = {}
    for source, (wheel, sdist) in _BROUGHT.get(table["name"], {}).items():
        for path in (
            [root / source] if (root / source).is_file() else sorted((root / source).rglob("*"))
        ):
            if path.is_file():
                rest = path.relative_to(root / source).as_posix()
                end = "" if rest == "." else f"/{rest}"
                brought[wheel + end, sdist + end] = path.read_bytes()
    return Project(
        table=table, module=module, tracked=tracked, brought=brought, repository=repository,
        own={one["name"]: one["version"] for one in map(table_of, folders(root))},
    )  # fmt: skip


def read_archive(path: Path) -> Archive:
    """Read a wheel or an sdist.

    Raises:
        ArchiveError: it is neither, or has links, devices, or files outside of its folder.
    """
    if path.suffix == ".whl":
        return _read_wheel(path)
    if not path.name.endswith(".tar.gz"):
        raise ArchiveError(
            f"{path.name} is no wheel and no sdist. Expected NAME.whl or NAME.tar.gz."
        )
    top, files, odd = f"{path.name.removesuffix('.tar.gz')}/", {}, []
    dates = set[float]()
    try:
        with tarfile.open(path, "r:gz") as archive:
            for one in archive:
                name = one.name.removeprefix(top)
                inside = one.name.startswith(top) and ".." not in name.split("/")
                if not one.isfile() or not inside or name in files:
                    raise ArchiveError(
                        f"{path.name} has {one.name!r}. Expected plain files in the folder {top},"
                        " each once, as `python -m build --sdist` makes them."
                    )
                files[name] = archive.extractfile(one).read()
                dates.add(one.mtime)
                owner = one.uid, one.gid, one.uname, one.gname
                if one.mode not in (0o644, 0o755) or owner != (0, 0, "", ""):
                    odd.append(f"{name} has the rights {one.mode:o} and the owner {owner}")
                if more := sorted(set(one.pax_headers) - {"path"}):
                    odd.append(f"{name} has the headers {', '.join(more)}")
        packed, unpacked = path.read_bytes(), zlib.decompressobj(wbits=31)
        unpacked.decompress(packed)
        if unpacked.unused_data:
            odd.append("it has bytes after its end")
        odd += _dated({*dates, int.from_bytes(packed[4:8], "little") or max(dates, default=0)})
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise ArchiveError(
            f"{path.name} cannot be read: {error}. Expected an sdist. Build it again."
        ) from error
    return Archive(
        name=path.name, size=path.stat().st_size, kind="sdist", files=files,
        metadata=_message(files.get("PKG-INFO", b"")), odd=tuple(odd),
    )  # fmt: skip


def _message(content: bytes) -> Message:
    """Return METADATA or PKG-INFO, which are in UTF-8."""
    return email.message_from_string(content.decode("utf-8", "replace"))


def _dated(dates: set[float]) -> list[str]:
    """Return a line if files have several dates, or one that is to come; a build gives them one."""
    if len(dates) > 1 or max(dates, default=0) > time.time():
        said = ", ".join(f"{datetime.fromtimestamp(one, UTC):%Y-%m-%d %H:%M:%S}" for one in dates)
        return [f"its files have the dates {said}; expected one, of the past"]
    return []


def _when(one: zipfile.ZipInfo) -> float:
    """Return the date of a file in a wheel, s; of one that is no date, the end of time."""
    try:
        return datetime(*one.date_time, tzinfo=UTC).timestamp()
    except ValueError:
        return datetime.max.replace(tzinfo=UTC).timestamp() - 86_400


def _oddities(one: zipfile.ZipInfo) -> Iterator[str]:
    """Yield facts about a file that a build of the sources does not give it."""
    if (one.external_attr >> 16) & 0o7777 not in (0o644, 0o755):
        yield f"{one.filename} has the rights {(one.external_attr >> 16) & 0o7777:o}"
    if one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        yield f"{one.filename} is compressed with method {one.compress_type}"
    if one.extra or one.comment:
        yield f"{one.filename} has a comment or an extra field"


def _read_wheel(path: Path) -> Archive:
    wrong, odd = "", tuple[str, ...]()
    try:
        with zipfile.ZipFile(path) as archive:
            files = {one: archive.read(one) for one in archive.namelist() if not one.endswith("/")}
            listed = archive.infolist()
            odd = (*_dated(set(map(_when, listed))), *(x for one in listed for x in _oddities(one)))
        read_contents(path)
    except ContentsError as error:
        wrong = str(error)
    except (zipfile.BadZipFile, RuntimeError, OSError, EOFError, zlib.error) as error:
        raise ArchiveError(
            f"{path.name} cannot be read: {error}. Expected a wheel. Build it again."
        ) from error
    found = Archive(
        name=path.name, size=path.stat().st_size, kind="wheel", files=files, wrong=wrong, odd=odd,
        metadata=Message(),
    )  # fmt: skip
    return replace(found, metadata=_message(files.get(found.under("METADATA"), b"")))


def licence(archive: Archive, project: Project) -> Iterator[str]:
    """The licence is an SPDX expression, and its texts are those of the sources."""
    said = archive.metadata["License-Expression"]
    if said is None:
        yield "METADATA has no License-Expression"
        return
    try:
        plain = canonicalize_license_expression(said)
    except InvalidLicenseExpression:
        yield f"License-Expression {said!r} is no SPDX expression"
        return
    if plain != said or said != project.table["license"]:
        yield f"License-Expression is {said!r}; the sources have {project.table['license']!r}"
    wanted = _licences(project)
    if "LICENSE" not in wanted or set(archive.metadata.get_all("License-File", [])) != set(wanted):
        yield f"License-File is not {', '.join(sorted(wanted)) or 'LICENSE'}"
    for one, content in wanted.items():
        place = archive.under(f"licenses/{one}") if archive.kind == "wheel" else one
        if archive.files.get(place) != content or not content.strip():
            yield f"{place} is missing, empty, or differs from the sources"


def _licences(project: Project) -> dict[str, bytes]:
    """Return path -> text of the licences in the sources of a package."""
    patterns = project.table["license-files"]
    return {
        one: content
        for one, content in project.tracked.items()
        if any(PurePosixPath(one).match(pattern) for pattern in patterns)
    }


def typed(archive: Archive, project: Project) -> Iterator[str]:
    """Type checkers read the annotations (PEP 561)."""
    mark = archive.files.get(f"{project.module}/py.typed")
    if mark is None or mark.strip():
        yield f"{project.module}/py.typed is missing, or says that the annotations are partial"


def contents(archive: Archive, project: Project) -> Iterator[str]:
    """Every file is one that git knows, and every file that git knows is in the archive."""
    wheel = archive.kind == "wheel"
    wanted = {places[0 if wheel else 1]: one for places, one in project.brought.items()}
    for one, content in project.tracked.items():
        inside = one.startswith(f"{project.module}/")
        left_out = wheel and any(PurePosixPath(one).match(end) for end in _NOT_PUBLISHED)
        if (inside or not wheel) and not left_out:
            wanted[one] = content
    brought = {places[0 if wheel else 1] for places in project.brought}
    if f"{project.module}/__init__.py" not in archive.files:
        yield f"{project.module}/__init__.py is missing: there is nothing to import"
    for one in sorted(archive.files):
        parts = {part.lower() for part in one.split("/")} & _PARTS
        compiled = project.name == CORE and _KERNEL.fullmatch(one)
        if _CACHES.search(one) or ((parts or _HIDDEN.search(one)) and one not in brought):
            yield f"{one} is a hidden file, or one of tests, pages, tools or caches"
        elif one not in brought and (_OF_TESTS.search(one) or not _is_kind(one, wheel, project)):
            yield f"{one} is no file of a package: of tests, of another kind, or with an odd name"
        elif one in wanted:
            if archive.files[one] != wanted[one]:
                yield f"{one} differs from the checkout"
        elif not (_of_installers(one, archive, project) or (wheel and compiled)):
            yield f"{one} is a stray file: git does not know it"
    for one in sorted(set(wanted) - set(archive.files)):
        yield f"{one} is missing"


def _is_kind(path: str, wheel: bool, project: Project) -> bool:
    """Return whether a file has a name as files of packages have."""
    name = PurePosixPath(path).name
    plain = name in {"LICENSE", ".gitignore", "PKG-INFO"} or path in _licences(project)
    info = wheel and ".dist-info/" in path
    compiled = project.name == CORE and _KERNEL.fullmatch(path)
    known = plain or info or compiled or PurePosixPath(path).suffix in _KINDS
    return bool(known and (_NAME.fullmatch(path) or info))


def _of_installers(path: str, archive: Archive, project: Project) -> bool:
    """Return whether the builder writes a file itself."""
    if archive.kind == "sdist":
        return path in _OF_SDISTS
    rest = path.removeprefix(archive.under(""))
    return rest != path and (rest in _INFO or rest.removeprefix("licenses/") in _licences(project))


def secrets(archive: Archive, project: Project) -> Iterator[str]:
    """No file has a name of files with passwords and keys, or a private key or token in it.

    git knows such a file if it was committed by mistake."""
    for one, content in archive.files.items():
        named = _SECRET_WORDS.search(one.rpartition("/")[2]) and not one.endswith((".py", ".pyi"))
        if _SECRETS.search(one) or named or _KEYS.search(content):
            yield f"{one} looks like a file with a password or a key"


def paths(archive: Archive, project: Project, places: tuple[str, ...] = ()) -> Iterator[str]:
    """No file has a path of the machine that built it.

    Args:
        archive: the archive.
        project: the facts.
        places: folders of this machine: the checkout, the home of the builder.
    """
    for one, content in archive.files.items():
        found = [place for place in places if place.encode() in content]
        if _KERNEL.fullmatch(one):
            found += [match.decode() for match in _BUILDERS.findall(content)]
        for place in dict.fromkeys(found):
            yield f"{one} has the path {place}"


def metadata(archive: Archive, project: Project) -> Iterator[str]:
    """The metadata is complete, and that of the sources."""
    said, table = archive.metadata, project.table
    for key in sorted(set(said.keys()) - _HEADERS):
        yield f"{key} is no header of a build of these sources"
    for key in _HEADERS - _REPEATED:
        if len(said.get_all(key, [])) > 1:
            yield f"{key} is there twice"
    if said["Metadata-Version"] not in ("2.4", "2.5"):
        yield f"Metadata-Version is {said['Metadata-Version']!r}; expected '2.4'"
    keywords = ",".join(sorted(table.get("keywords", [])))
    if (said["Keywords"] or "") != keywords:
        yield f"Keywords are {said['Keywords']!r}; expected {keywords!r}"
    if set(said.get_all("Classifier", [])) != set(table.get("classifiers", [])):
        yield "the classifiers are not those of pyproject.toml"
    names = {one["name"] for one in table.get("authors", []) if "name" in one}
    if said["Author"] and set(said["Author"].split(", ")) != names:
        yield f"Author is {said['Author']!r}; expected {', '.join(sorted(names))}"
    labels = {one.partition(", ")[0] for one in said.get_all("Project-URL", [])}
    for label in sorted(labels - set(table.get("urls", {}))):
        yield f"the Project-URL {label!r} is not in pyproject.toml"
    for key, wanted in {
        "Name": table["name"], "Version": table["version"], "Summary": table["description"],
        "Requires-Python": table["requires-python"], "Description-Content-Type": "text/markdown",
    }.items():  # fmt: skip
        if said[key] != wanted:
            yield f"{key} is {said[key]!r}; expected {wanted!r}"
    stem = archive.name.split("-")[:2] if archive.kind == "wheel" else archive.name[:-7].split("-")
    if stem != [canonicalize_name(table["name"]).replace("-", "_"), table["version"]]:
        yield "the name of the file is not that of the package and its version"
    text = str(said.get_payload())
    readme = project.tracked.get("README.md", b"").decode()
    if not readme.strip() or text.strip() != readme.strip():
        yield "the description is not README.md"
    if not (said["Author"] or said["Author-email"]):
        yield "Author is missing"
    classifiers = said.get_all("Classifier", [])
    for wanted in CLASSIFIERS:
        if not any(one.startswith(wanted) for one in classifiers):
            yield f"no classifier begins with {wanted!r}"
    for one in classifiers:
        if one.startswith("License ::"):
            yield f"{one!r} is refused by the index beside License-Expression"
    addresses = [one.partition(", ")[2] for one in said.get_all("Project-URL", [])]
    if project.repository and project.repository not in addresses:
        yield f"Project-URL lacks {project.repository}"
    if any(not one.startswith("https://") for one in addresses):
        yield "Project-URL has an address without https"


def tags(archive: Archive, project: Project) -> Iterator[str]:
    """The name of a wheel says for which Pythons it is: all of Python 3, but for a kernel."""
    if archive.kind == "sdist":
        return
    tag = "-".join(archive.name.removesuffix(".whl").split("-")[2:])
    kernels = [match["python"] for match in map(_KERNEL.fullmatch, archive.files) if match]
    if not kernels and tag != "py3-none-any":
        yield f"the tag is {tag!r}; expected 'py3-none-any': it has no compiled file"
    if kernels:
        (python, *others) = (f"cp{one}" for one in kernels)
        if others or not re.fullmatch(rf"{python}-{python}-(?!any$)[\w.]+", tag):
            yield f"the tag is {tag!r}; expected {python}-{python}-SYSTEM, of its one kernel"
    said = _message(archive.files.get(archive.under("WHEEL"), b""))
    made = set(map("-".join, product(*(one.split(".") for one in tag.split("-")))))
    if set(said.get_all("Tag", [])) != made:
        yield f"WHEEL has the tags {said.get_all('Tag', [])}; the name has {sorted(made)}"
    if (said["Root-Is-Purelib"] == "true") is bool(kernels):
        yield f"WHEEL has Root-Is-Purelib: {said['Root-Is-Purelib']}"


def entry_points(archive: Archive, project: Project) -> Iterator[str]:
    """The commands and plug-ins of a wheel are those of pyproject.toml, and lead into it."""
    if archive.kind == "sdist":
        return
    parser = configparser.RawConfigParser(delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    try:
        parser.read_string(archive.files.get(archive.under("entry_points.txt"), b"").decode())
    except (configparser.Error, UnicodeDecodeError) as error:
        yield f"entry_points.txt cannot be read: {error}"
        return
    there = {(group, key, one) for group in parser.sections() for key, one in parser.items(group)}
    table = project.table
    groups = {
        "console_scripts": table.get("scripts", {}), "gui_scripts": table.get("gui-scripts", {}),
        **table.get("entry-points", {}),
    }  # fmt: skip
    wanted = {(group, key, one) for group, rows in groups.items() for key, one in rows.items()}
    for group, key, one in sorted(there ^ wanted):
        said = "is not in pyproject.toml" if (group, key, one) in there else "is missing"
        yield f"[{group}] {key} = {one} {said}"
    for group, key, one in sorted(wanted):
        place = re.split(r"[:\[ ]", one)[0].replace(".", "/")
        if not {f"{place}.py", f"{place}/__init__.py"} & set(archive.files):
            yield f"[{group}] {key} = {one} leads to no module of the package"


def _stated(project: Project) -> tuple[set[str], set[str]]:
    """Return the requirements and the extras of pyproject.toml, as METADATA has them."""
    found = {str(Requirement(one)) for one in project.table.get("dependencies", [])}
    groups = project.table.get("optional-dependencies", {})
    for extra, rows in groups.items():
        for one in map(Requirement, rows):
            also = f"({one.marker}) and " if one.marker else ""
            one.marker = Marker(f'{also}extra == "{canonicalize_name(extra)}"')
            found.add(str(one))
    return found, set(map(canonicalize_name, groups))


def _required(archive: Archive) -> tuple[list[Requirement], list[str]]:
    """Return the requirements of an archive, and those that are none."""
    found, wrong = list[Requirement](), list[str]()
    for one in archive.metadata.get_all("Requires-Dist", []):
        try:
            found.append(Requirement(one))
        except InvalidRequirement:
            wrong.append(one)
    return found, wrong


def declared(archive: Archive, project: Project) -> Iterator[str]:
    """Requirements and extras are those of pyproject.toml."""
    found, wrong = _required(archive)
    for one in wrong:
        yield f"{one!r} is no requirement"
    wanted, groups = _stated(project)
    said = {str(one) for one in found}, set(archive.metadata.get_all("Provides-Extra", []))
    for there, here, what in zip(said, (wanted, groups), ("requirement", "extra"), strict=True):
        for one in sorted(there ^ here):
            yield f"the {what} {one} is only in {'METADATA' if one in there else 'pyproject.toml'}"


def requirements(archive: Archive, project: Project) -> Iterator[str]:
    """Requirements have bounds: of our packages on both sides, of others a lowest version."""
    found, _ = _required(archive)
    if project.name != CORE and CORE not in {canonicalize_name(one.name) for one in found}:
        yield f"{CORE} is not required"
    bounded = {
        canonicalize_name(one.name)
        for one in found
        if any(part.operator in (">=", "==", "~=") for part in one.specifier)
    }
    for one in found:
        name, signs = canonicalize_name(one.name), {part.operator for part in one.specifier}
        if one.url:
            yield f"{one} is an address, which the index refuses"
        elif name in project.own:
            if not {">=", "<"} <= signs:
                yield f"{one} lacks bounds; expected {name}>=X,<Y"
            elif not one.specifier.contains(project.own[name]):
                yield f"{one} leaves out {project.own[name]}, which is released with it"
            elif one.specifier.contains(after := f"{Version(project.own[name]).major + 1}"):
                yield f"{one} lets {after} in, a major version that may break it"
        elif name.startswith("neurogym-"):
            yield f"{one} is no package of this project: another could own the name"
        elif name not in bounded:
            yield f"{one} has no lowest version"


def extras(archive: Archive, project: Project) -> Iterator[str]:
    """No extra is for developers of the package: those are dependency groups."""
    public = OF_AUTHORS.get(project.name, set())
    for one in archive.metadata.get_all("Provides-Extra", []):
        if one in FOR_DEVELOPERS - public:
            yield f"the extra {one!r} is for developers; make it a dependency group"


def size(archive: Archive, project: Project) -> Iterator[str]:
    """The archive is small."""
    if archive.size > MAX_SIZE:
        yield f"it has {archive.size:,} bytes; expected at most {MAX_SIZE:,}"


def record(archive: Archive, project: Project) -> Iterator[str]:
    """RECORD equals the wheel, and pip would write it as it looks."""
    if archive.wrong:
        yield archive.wrong


def form(archive: Archive, project: Project) -> Iterator[str]:
    """The archive says nothing about its files that another build would not say."""
    yield from archive.odd


VERDICTS: dict[str, Callable[[Archive, Project], Iterator[str]]] = {
    one.__name__: one
    for one in (
        licence, typed, contents, secrets, paths, metadata, tags, entry_points, declared,
        requirements, extras, size, record, form,
    )
}  # fmt: skip


def defects(archive: Archive, project: Project, places: tuple[str, ...] = ()) -> list[str]:
    """Return a line for each defect of an archive: ``FILE: verdict: defect``."""
    found = []
    for name, verdict in VERDICTS.items():
        lines = paths(archive, project, places) if verdict is paths else verdict(archive, project)
        found += [f"{archive.name}: {name}: {line}" for line in lines]
    return found


def _cited(text: str) -> dict[str, str]:
    """Return the plain values of CITATION.cff, without quotes and comments."""
    found = {}
    for key, value in re.findall(r"^([\w-]+):[ \t]*(.*?)[ \t]*$", text, flags=re.M):
        quoted = re.match(r"([\"'])(.*?)\1", value)
        found[key] = quoted[2] if quoted else re.sub(r"(^|\s+)#.*$", "", value)
    return found


def citation(text: str, version: str) -> list[str]:
    """Return a line for each defect of CITATION.cff: version, date, form of the DOI."""
    keys, found = _cited(text), []
    if keys.get("version") != version:
        found.append(f"CITATION.cff has the version {keys.get('version')}; expected {version}")
    released = keys.get("date-released", "")
    try:
        good = date.fromisoformat(released).isoformat() == released
    except ValueError:
        good = False
    if not good:
        found.append("CITATION.cff has no date-released: YYYY-MM-DD")
    if not re.fullmatch(r"10\.\d{4,9}/\S+", keys.get("doi", "")):
        found.append(f"CITATION.cff has the DOI {keys.get('doi')}; expected 10.NNNN/NAME")
    return found


def is_placeholder(doi: str) -> bool:
    """Return whether a DOI is not registered; those of Zenodo end in a number."""
    zenodo = doi.startswith("10.5281/")
    form = re.fullmatch(r"10\.5281/zenodo\.[1-9]\d+", doi, re.I)
    return bool(_WORDS.search(doi) or _NO_DOI.search(doi) or (zenodo and not form))


def _is_owner(account: str) -> bool:
    return bool(_OWNER.fullmatch(account)) and not _WORDS.search(account)


def placeholders(
    citation: str, repository: str, published: bool, owners: str, readmes: Mapping[str, str]
) -> list[str]:
    """Return a line for each value that only its future owners can give.

    Args:
        citation: CITATION.cff.
        repository: public address of the sources, or "".
        published: whether the names are registered on the package index.
        owners: .github/CODEOWNERS.
        readmes: path -> text of each README.md.
    """
    found = []
    for doi in filter(is_placeholder, dict.fromkeys(_DOI.findall(citation))):
        found.append(f"CITATION.cff: {doi} is a placeholder. Reserve a DOI (docs/publishing.md).")
    if not _ADDRESS.fullmatch(repository) or _WORDS.search(repository):
        found.append(
            f"published.py: REPOSITORY is {repository or 'empty'}. Give the public address of the"
            " sources, also as [project.urls] Repository of each pyproject.toml."
        )
    if not published:
        found.append(
            "published.py: PUBLISHED is False. Register the names (docs/publishing.md), and set it."
        )
    rows = [line.partition("#")[0].split() for line in owners.splitlines()]
    rows = [row for row in rows if row]
    without = [row for row in rows if len(row) < 2 or not all(map(_is_owner, row[1:]))]
    if without or not rows:
        found.append(
            f".github/CODEOWNERS: {len(without)} of {len(rows)} paths have no owner. Add an account"
            " to each."
        )
    related = {path: len(relative_targets(text)) for path, text in readmes.items()}
    if count := sum(related.values()):
        found.append(
            f"README.md: {count} links of {sum(map(bool, related.values()))} files are relative,"
            " and lead nowhere from the package index. Run .ci/absolute_links.py."
        )
    return found


def reproducible(first: Mapping[str, bytes], second: Mapping[str, bytes]) -> list[str]:
    """Return a line for each file that two builds did not make with the same bytes."""
    found = [
        f"{one}: reproducible: only one build made it" for one in sorted(set(first) ^ set(second))
    ]
    for one in sorted(set(first) & set(second)):
        hashes = [hashlib.sha256(build[one]).hexdigest()[:12] for build in (first, second)]
        if hashes[0] != hashes[1]:
            found.append(f"{one}: reproducible: two builds have the hashes {' and '.join(hashes)}")
    return found
