"""Check the files of a release: ``make release-check``.

Builds the wheels and the sdists of all packages twice, in two copies of the files that git knows,
and a third time from the sdists; judges them (verdicts.py); and installs each package, from the
wheels alone, into a new environment, in which its smoke test and the first commands of its README
run. It writes a list of the contents of each environment (CycloneDX). At last it lists the
placeholders, which a release must not have. ``--before-names`` accepts them."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.message import Message
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from verdicts import (
    CORE,
    ROOT,
    ArchiveError,
    citation,
    defects,
    folders,
    placeholders,
    read_archive,
    read_project,
    reproducible,
    table_of,
)

from neurogym_core.ecosystem import published

_OURS = ("PYTHON", "PIP_", "NGYM_", "NEUROGYM_", "VIRTUAL_ENV", "COLUMNS")
_KEPT = (
    "PIP_CERT",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_FIND_LINKS",
)
_THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_FENCE = re.compile(r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.S | re.M)
_INSTALLS = re.compile(r"pip install((?:\s+-e\s+(?:\.|plugins/[\w-]+))+)")
_FILE_NAME = re.compile(r"# (?P<name>[\w/.-]+\.py)\n")
NOT_RUN = {
    "--subject llm": "needs a language model",
    "my_task.py:MyTask": "needs a file of the reader",
    "ngym install": "needs a registry with that package",
    "ngym uninstall": "needs an installed package of a registry",
}
"""Part of a command of a README -> the reason for which it is left out."""
SHORTER = {
    "--resume": ("--updates", "40"),
    "--model": ("--updates", "20"),
    "--algo": ("--steps", "2000"),
}
"""Word of a command that trains -> options that end it after some seconds."""
TIMEOUT = 900  # s, of one command


@dataclass(frozen=True)
class Step:
    """A file to write (`path`), a script to run, or a command."""

    kind: str
    text: str
    path: str = ""


def order(needs: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the packages in layers: each needs those of earlier layers only.

    Args:
        needs: package -> packages of this project that it requires.

    Raises:
        SystemExit: some require each other.
    """
    sorter = TopologicalSorter(needs)
    try:
        sorter.prepare()
    except CycleError as error:
        raise SystemExit(
            f"{' -> '.join(error.args[1])}: the packages require each other. Expected an order in"
            " which they can be released. Make one of the requirements an extra."
        ) from None
    layers = []
    while sorter.is_active():
        layers.append(sorted(sorter.get_ready()))
        sorter.done(*layers[-1])
    return layers


def required(said: Message) -> list[Requirement]:
    """Return the requirements of a wheel without extras, in this environment."""
    found = map(Requirement, said.get_all("Requires-Dist", []))
    return [one for one in found if one.marker is None or one.marker.evaluate({"extra": ""})]


def needs_of(project_table: Mapping[str, list[str]], own: set[str]) -> set[str]:
    """Return the packages of this project that a [project] table requires."""
    names = {canonicalize_name(Requirement(one).name) for one in project_table["dependencies"]}
    return names & own


def closure(names: Sequence[str], needs: Mapping[str, set[str]]) -> list[str]:
    """Return packages and all packages of this project that they require, in order of release."""
    wanted, left = set[str](), list(names)
    while left:
        one = left.pop()
        if one not in wanted:
            wanted.add(one)
            left += needs[one]
    return [one for layer in order({one: needs[one] for one in wanted}) for one in layer]


def of_others(metadata: Sequence[Message], own: set[str]) -> list[str]:
    """Return the requirements of wheels that the index is asked for: never a name of this project.

    Raises:
        SystemExit: a package requires one of this project that is not among the wheels.
    """
    given = {canonicalize_name(one["Name"]) for one in metadata}
    found = list[str]()
    for said in metadata:
        for one in required(said):
            name = canonicalize_name(one.name)
            if name not in own and not name.startswith("neurogym-"):
                one.marker = None  # it holds here
                found.append(str(one))
            elif name not in given:
                raise SystemExit(
                    f"{said['Name']} requires {name}, which is not among the wheels. Expected all"
                    " packages of this project there: they are never taken from an index."
                )
    return list(dict.fromkeys(found))


def first_commands(text: str, name: str) -> tuple[list[str], list[Step]]:
    """Return the packages that a README installs, and its first steps behind that.

    Args:
        text: the README.
        name: its package.

    Returns:
        The packages; and the steps up to the first block with something to run, of the core's
        README all steps. Commands in `NOT_RUN` are left out, and trainings are short.
    """
    found = _INSTALLS.search(text)
    if found is None:
        return [], []
    packages = [CORE, *re.findall(r"plugins/([\w-]+)", found[1])]
    steps: list[Step] = []
    for block in _FENCE.finditer(text):
        if block.end() < found.start() and name != CORE:
            continue
        named = _FILE_NAME.match(block["text"])
        if block["kind"] == "python" and named is not None:
            steps.append(Step("file", block["text"], named["name"]))
        elif block["kind"] == "python":
            steps.append(Step("script", block["text"]))
        elif block["kind"] in ("", "console", "sh"):
            steps += [Step("command", line) for line in _commands(block["text"], block["kind"])]
        if name != CORE and any(one.kind != "file" for one in steps):
            break
    return list(dict.fromkeys([*packages, name])), steps


def _commands(text: str, kind: str) -> Iterator[str]:
    for line in text.splitlines():
        if kind == "console" and not line.startswith("$ "):
            continue
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if words[:1] != ["ngym"] or any(one in line for one in NOT_RUN):
            continue
        if words[1] == "train":
            if "--criterion" in words:  # it cannot be met so soon, and not meeting it is an error
                at = words.index("--criterion")
                del words[at : at + 2]
            words += next(more for word, more in SHORTER.items() if word in words)
        yield shlex.join(words)


def wrong_tag(tag: str, versions: Mapping[str, str]) -> list[str]:
    """Return a line if a tag is not that of a version: ``v1.2.0``, ``neurogym-records-v1.1.0``."""
    found = re.fullmatch(r"(?:(?P<name>[\w-]+)-)?v(?P<version>\d[\w.]*)", tag)
    if found and versions.get(found["name"] or CORE) == found["version"]:
        return []
    return [
        f"{tag}: tag: expected v{versions[CORE]}, or NAME-vVERSION of a package with its version"
    ]


def incomplete(files: Sequence[str], modules: set[str], *, compiled: bool = False) -> list[str]:
    """Return a line for each package without a wheel or an sdist, and for each strange file.

    Args:
        files: names of the files to release.
        modules: import packages of the packages that are expected.
        compiled: whether the files are wheels with a kernel; else each package has a plain wheel
            and an sdist.
    """
    ends = (".whl",) if compiled else ("-py3-none-any.whl", ".tar.gz")
    found = [
        f"{module}: archive: no file {module}-...{end}"
        for module in sorted(modules)
        for end in ends
        if not any(one.startswith(f"{module}-") and one.endswith(end) for one in files)
    ]
    return found + [
        f"{one}: archive: is no wheel and no sdist of a package that is expected"
        for one in files
        if one.partition("-")[0] not in modules or not one.endswith((".whl", ".tar.gz"))
    ]


def uncommitted() -> list[str]:
    """Return a line if files of the checkout are not as in the commit that is released.

    Files that git does not know count in folders of packages, where a forgotten one would be."""
    done = subprocess.run(
        ["git", "status", "--porcelain", "--no-renames", "--untracked-files=all", "-z"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    rows = [(line[:2], line[3:]) for line in done.stdout.split("\0") if line]
    modules = tuple(
        f"{(folder / table_of(folder)['name'].replace('-', '_')).relative_to(ROOT).as_posix()}/"
        for folder in folders()
    )
    changed = [path for state, path in rows if state != "??" or path.startswith(modules)]
    if not changed:
        return []
    named = ", ".join(changed[:5]) + (", ..." if len(changed) > 5 else "")
    return [f"checkout: {len(changed)} files are not committed: {named}. Commit or remove them."]


def same_version(
    changed: Mapping[str, bool], then: Mapping[str, str], now: Mapping[str, str]
) -> list[str]:
    """Return a line for each package that changed since a release and kept its version."""
    return [
        f"{name}: version: changed since the last release, and is still {now[name]}. Raise it."
        for name in sorted(changed)
        if changed[name] and then.get(name) == now[name]
    ]


class Checked:
    """Prints progress, and collects the defects."""

    def __init__(self) -> None:
        self.start, self.found = time.monotonic(), list[str]()

    def say(self, text: str) -> None:
        seconds = int(time.monotonic() - self.start)
        print(f"{seconds // 60:3d}:{seconds % 60:02d}  {text}", flush=True)

    def add(self, lines: Sequence[str]) -> None:
        self.found += lines
        for line in lines:
            print(f"        {line}", flush=True)

    def run(self, what: str, *command: object, cwd: Path, **more: str) -> bool:
        """Run a command; if it fails, add a defect with the end of its output."""
        done = subprocess.run(
            list(map(str, command)), cwd=cwd, env=environment(**more), text=True, timeout=TIMEOUT,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        if done.returncode:
            said = "\n            ".join(done.stdout.strip().splitlines()[-12:])
            self.add([f"{what}: status {done.returncode}:\n            {said}"])
        return not done.returncode


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment without variables that change Python, pip or ngym."""
    kept = {
        key: one for key, one in os.environ.items() if not key.startswith(_OURS) or key in _KEPT
    }
    return kept | _THREADS | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"} | more


def copied(target: Path) -> None:
    """Copy the files that git knows, as they are in the checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    for one in filter(None, listed.split("\0")):
        if (ROOT / one).is_file():
            (target / one).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / one, target / one)


def build(checked: Checked, sources: Path, dist: Path, kernels: Sequence[str], **more: str) -> None:
    """Build all packages of a copy of the checkout, and the core with each of `kernels`."""
    dist.mkdir(parents=True)
    found = folders(sources)
    for at, folder in enumerate(found, 1):
        name = table_of(folder)["name"]
        checked.say(f"build {at}/{len(found)} {name}")
        for kernel in kernels if folder == sources else kernels[:1]:
            checked.run(
                f"build {name}", sys.executable, "-m", "hatchling", "build", "-d", dist,
                cwd=folder, NEUROGYM_BUILD_KERNEL=kernel, **more,
            )  # fmt: skip


def build_from_sdists(checked: Checked, dist: Path, target: Path, **more: str) -> None:
    """Build a plain wheel from each sdist."""
    for path in sorted(dist.glob("*.tar.gz")):
        with tarfile.open(path) as archive:
            archive.extractall(target / "sources", filter="data")
        checked.run(
            f"{path.name}: wheel", sys.executable, "-m", "hatchling", "build", "-t", "wheel",
            "-d", target / "wheels", cwd=target / "sources" / path.name.removesuffix(".tar.gz"),
            NEUROGYM_BUILD_KERNEL="0", **more,
        )  # fmt: skip


def contents_of(folder: Path) -> dict[str, bytes]:
    """Return the archives in a folder."""
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.name != ".gitignore"}


def installed(checked: Checked, name: str, wheels: Sequence[Path], folder: Path) -> Path | None:
    """Install wheels of this project into a new environment; return its Python."""
    venv.create(folder / "venv", symlinks=True)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    own = {table_of(one)["name"] for one in folders()}
    others = of_others([read_archive(one).metadata for one in wheels], own)
    limits = ("-c", ROOT / "constraints.txt")
    for what, words in {
        "install": ("install", "--no-compile", "--no-deps", "--no-index", *wheels),
        "requirements": ("install", "--no-compile", *limits, *others),
        "pip check": ("check",),
    }.items():
        if not checked.run(f"{name}: {what}", *pip, *words, cwd=folder):
            return None
    return python


def tried(checked: Checked, name: str, python: Path, steps: Sequence[Step], folder: Path) -> None:
    """Run the steps of a README in an environment."""
    for at, step in enumerate(steps, 1):
        what = f"{name}: README, {step.text.strip().splitlines()[0]}"
        if step.kind == "file":
            (folder / step.path).write_text(step.text, "utf-8")
        elif step.kind == "script":
            script = folder / f"readme_{at}.py"
            script.write_text(step.text, "utf-8")
            checked.run(what, python, script, cwd=folder, MPLBACKEND="agg")
        else:
            words = shlex.split(step.text)
            checked.run(what, python.with_name(words[0]), *words[1:], cwd=folder, MPLBACKEND="agg")


def since_the_last_release(versions: Mapping[str, str]) -> list[str]:
    """Return a line for each package that changed since its last tag without another version.

    That is the tag of the package with this version, else the newest tag v*."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    def tags(pattern: str) -> list[str]:
        # Without the tag of this release.
        before = ("--merged", "HEAD", "--no-contains", "HEAD", "--sort=-version:refname")
        return git("tag", "--list", pattern, *before).splitlines()

    changed, then = {}, {}
    for folder in folders():
        name = table_of(folder)["name"]
        found = [*tags(f"{name}-v{versions[name]}"), *tags("v*")]
        if not found:
            continue
        inside = folder.relative_to(ROOT).as_posix()
        module = (folder / name.replace("-", "_")).relative_to(ROOT).as_posix()
        changed[name] = bool(
            git("diff", "--name-only", found[0], "--", module, f"{inside}/pyproject.toml")
        )
        old = git("show", f"{found[0]}:{inside}/pyproject.toml".replace(":./", ":"))
        if match := re.search(r'^version = "(.+)"$', old, flags=re.M):
            then[name] = match[1]
    return same_version(changed, then, versions)


def build_all(checked: Checked, work: Path) -> Path:
    """Build everything twice, and plain wheels from the sdists; return the folder of the files."""
    commit = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()
    kernels = ("0", "1") if any(map(shutil.which, ("cc", "gcc", "clang"))) else ("0",)
    dist, again = work / "dist", work / "again"
    copied(work / "first")
    build(checked, work / "first", dist, kernels, SOURCE_DATE_EPOCH=commit)
    copied(work / "another place")
    different = {"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7", "LC_ALL": "C", "TMPDIR": str(work)}
    build(checked, work / "another place", again, kernels, SOURCE_DATE_EPOCH=commit, **different)
    checked.say("compare the two builds, and the wheels built from the sdists")
    checked.add(reproducible(contents_of(dist), contents_of(again)))
    build_from_sdists(checked, dist, work / "sdists", SOURCE_DATE_EPOCH=commit)
    plain = {key: one for key, one in contents_of(dist).items() if key.endswith("none-any.whl")}
    checked.add(reproducible(plain, contents_of(work / "sdists" / "wheels")))
    return dist


def judge(
    checked: Checked, dist: Path, tag: str | None, versions: Mapping[str, str], only: Sequence[str]
) -> bool:
    """Judge the built files, the citation, the versions and the checkout.

    Args:
        checked: takes the defects.
        dist: folder of the files.
        tag: the tag of the release, or None.
        versions: package -> version.
        only: packages of which the folder has compiled wheels; if empty, it has all packages.

    Returns:
        Whether no file is missing.
    """
    files = sorted(one for one in dist.iterdir() if one.name != ".gitignore")
    checked.say(f"judge {len(files)} files")
    places = (str(ROOT), str(dist.parent), f"{Path.home()}/")
    projects = [read_project(one, repository=published.REPOSITORY) for one in folders()]
    modules = {one.module for one in projects if not only or one.name in only}
    lacking = incomplete([one.name for one in files], modules, compiled=bool(only))
    checked.add(lacking)
    for project in projects:
        for path in files:
            if path.name.startswith(f"{project.module}-"):
                try:
                    checked.add(defects(read_archive(path), project, places))
                except ArchiveError as error:
                    checked.add([f"{path.name}: archive: {error}"])
    twine = (sys.executable, "-m", "twine", "check", "--strict")
    checked.run("twine check", *twine, *files, cwd=dist)
    checked.add(citation((ROOT / "CITATION.cff").read_text("utf-8"), versions[CORE]))
    checked.add(since_the_last_release(versions))
    checked.add(uncommitted())
    checked.add(wrong_tag(tag, versions) if tag else [])
    return not lacking


def install_all(checked: Checked, dist: Path, only: Sequence[str]) -> None:
    """Install each package, alone and as its README says, and try it; of the core both kernels."""
    tables = {table_of(one)["name"]: (one, table_of(one)) for one in folders()}
    needs = {name: needs_of(one, set(tables)) for name, (_, one) in tables.items()}
    in_order = [one for layer in order(needs) for one in layer]
    plain = {name: _wheel(dist, name, "none-any") for name in in_order}
    compiled = _wheel(dist, CORE, "-cp") or plain[CORE]
    wheels = plain | {CORE: compiled}
    for kernel, wheel in {"plain": plain[CORE], "compiled": compiled}.items():
        if kernel == "plain" or wheel != plain[CORE]:  # no compiler, no compiled wheel
            checked.say(f"install the {kernel} core")
            smoke = ROOT / "tests" / "smoke.py"
            _in_new(checked, CORE, [wheel], [("smoke test", smoke, kernel)], [], dist)
    chosen = [one for one in in_order if not only or one in only]
    for at, name in enumerate(chosen, 1):
        readme = (tables[name][0] / "README.md").read_text("utf-8")
        packages, steps = first_commands(readme, name)
        if not steps:
            checked.add([f"{name}: README.md has no first commands behind a line that installs it"])
        if name == CORE:  # `make demo` installs these before its README goes on
            packages += [*(one for one in in_order if "-task-" in one), "neurogym-likeness"]
        alone, together = closure([name], needs), closure(packages, needs)
        smoke = [("smoke test", ROOT / ".ci" / "smoke.py", name)]
        checked.say(f"install {at}/{len(chosen)} {name}")
        alike = set(alone) == set(together)
        new = [wheels[one] for one in alone]
        _in_new(checked, name, new, smoke, steps if alike else [], dist, bill=True)
        if not alike:
            checked.say(f"        as its README says, with {len(together) - 1} others")
            _in_new(checked, name, [wheels[one] for one in together], [], steps, dist)


def _wheel(dist: Path, name: str, part: str) -> Path | None:
    found = sorted(dist.glob(f"{name.replace('-', '_')}-*{part}*.whl"))
    return found[0] if found else None


def _in_new(
    checked: Checked, name: str, wheels: Sequence[Path], scripts: Sequence[tuple[str, Path, str]],
    steps: Sequence[Step], dist: Path, *, bill: bool = False,
) -> None:  # fmt: skip
    """Install wheels into a new environment, and run scripts and the steps of a README there.

    With `bill`, list its contents in a file NAME.cdx.json beside the folder of the archives."""
    with tempfile.TemporaryDirectory(dir=dist.parent) as place:
        folder = Path(place)
        python = installed(checked, name, wheels, folder)
        if python is None:
            return
        for what, script, argument in scripts:
            checked.run(f"{name}: {what}", python, "-P", script, argument, cwd=folder)
        tried(checked, name, python, steps, folder)
        if bill:
            target = dist.parent / "sbom" / f"{name}.cdx.json"
            target.parent.mkdir(exist_ok=True)
            tool = (sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible")
            project = next(one for one in folders() if table_of(one)["name"] == name)
            root = ("--pyproject", project / "pyproject.toml", "--mc-type", "library")
            checked.run(f"{name}: SBOM", *tool, *root, "-o", target, python, cwd=folder)
            listed = without_paths(json.loads(target.read_text("utf-8")))
            target.write_text(json.dumps(listed, indent=1, sort_keys=True) + "\n", "utf-8")
            names = {one["name"] for one in listed["components"]}
            checked.add(missing_from(names, [read_archive(one).metadata for one in wheels], name))


def without_paths(bill: dict[str, Any]) -> dict[str, Any]:
    """Return a list of components without the folders that files were installed from here."""
    for one in [*bill["components"], bill["metadata"]["component"]]:
        found = one.pop("externalReferences", [])
        if kept := [link for link in found if not link["url"].startswith("file:")]:
            one["externalReferences"] = kept
    return bill


def missing_from(listed: set[str], metadata: Sequence[Message], name: str) -> list[str]:
    """Return a line for each requirement of wheels that a list of components leaves out."""
    names = {canonicalize_name(one) for one in listed} | {name}
    needed = {canonicalize_name(one.name) for said in metadata for one in required(said)}
    return [f"{name}: SBOM: {one} is missing" for one in sorted(needed - names)]


def hand_over(dist: Path, target: Path) -> None:
    """Copy the files for the index, in a folder per layer, and the lists of components.

    Without the compiled wheel of this machine: the index takes those of cibuildwheel."""
    tables = {one["name"]: one for one in map(table_of, folders())}
    layers = order({name: needs_of(one, set(tables)) for name, one in tables.items()})
    for at, names in enumerate(layers):
        (target / str(at)).mkdir(parents=True, exist_ok=True)
        for name in names:
            for path in dist.glob(f"{name.replace('-', '_')}-*"):
                if path.name.endswith(("none-any.whl", ".tar.gz")):
                    shutil.copy2(path, target / str(at))
    shutil.copytree(dist.parent / "sbom", target / "sbom", dirs_exist_ok=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, and return 0 if all can be released."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--before-names", action="store_true", help="accept the placeholders")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", default=[],
        help="install only these packages; with --judge, expect wheels of these alone",
    )  # fmt: skip
    parser.add_argument("--tag", help="the tag of the release: v1.2.0, or NAME-v1.1.0")
    parser.add_argument("--dist", type=Path, metavar="FOLDER", help="copy the files there")
    parser.add_argument("--judge", type=Path, metavar="FOLDER", help="only judge the files there")
    options = parser.parse_args(arguments)
    checked = Checked()
    versions = {one["name"]: one["version"] for one in map(table_of, folders())}
    if unknown := sorted({*options.only} - {*versions}):
        parser.error(
            f"{', '.join(unknown)}: no package of this project. Expected names such as {CORE}."
            " See the table in docs/publishing.md."
        )
    if options.judge:
        judge(checked, options.judge.resolve(), options.tag, versions, options.only)
    else:
        with tempfile.TemporaryDirectory(prefix="neurogym-release-") as work:
            dist = build_all(checked, Path(work))
            if judge(checked, dist, options.tag, versions, ()):
                install_all(checked, dist, options.only)
                if options.dist:
                    hand_over(dist, options.dist)
                    checked.say(f"the files are in {options.dist}")
    waiting = placeholders(
        (ROOT / "CITATION.cff").read_text("utf-8"), published.REPOSITORY, published.PUBLISHED,
        (ROOT / ".github" / "CODEOWNERS").read_text("utf-8"),
        {str(one): (one / "README.md").read_text("utf-8") for one in folders()},
    )  # fmt: skip
    return report(checked, waiting, before_names=options.before_names)


def report(checked: Checked, waiting: Sequence[str], *, before_names: bool) -> int:
    """Print the defects and the placeholders, and return the status of the command."""
    checked.say(f"{len(checked.found)} defects, {len(waiting)} placeholders")
    for title, lines in {"Defects": checked.found, "Placeholders": waiting}.items():
        if lines:
            print(f"\n{title}:\n" + "\n".join(f"- {line}" for line in lines))
    if checked.found or (waiting and not before_names):
        print("\nNothing can be released.")
        return 1
    print("\nAll but the placeholders can be released." if waiting else "\nAll can be released.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
