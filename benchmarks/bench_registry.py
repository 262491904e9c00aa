"""Time searches in, and changes of, synthetic registries: ``python benchmarks/bench_registry.py``.

Each package has 3 tasks and 5 releases. The limits are a search in 0.3 s and the
validation of all files in 10 s with 10,000 packages, and that of one change in 2 s with 100,000.
Times are CPU times of the whole command, with the start of Python; of searches and changes, the
best of three runs counts."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from neurogym_registry.index import package_file, split
from neurogym_registry.index_text import written
from neurogym_registry.packed import packed

WORDS = (  # noqa: SIM905
    "motion dots memory delay reward side tone light arm reach speed time order colour context rule"
    " switch belief value risk hazard cue probe match tactile odour maze pulse click contrast"
).split()


def name_of(number: int) -> str:
    """Return the name of a package: 14 random letters, so that few names look like others."""
    letters = random.Random(f"name {number}").choices("abcdefghijklmnopqrstuvwxyz", k=14)
    return f"neurogym-task-{''.join(letters)}"


def row(number: int) -> dict[str, Any]:
    """Return a package's row in an index."""
    pick = random.Random(number)
    name = name_of(number)
    tasks = [
        {
            "name": f"Task{number}Of{k}-v0",
            "title": " ".join(pick.sample(WORDS, 3)).capitalize(),
            "summary": f"Report the {' '.join(pick.sample(WORDS, 8))} of a stimulus.",
            "tags": ["decision-making", "perceptual"],
            "species": ["monkey"],
            "references": [{"doi": f"10.1000/{number}.{k}", "kind": "original"}],
            "aliases": [],
        }
        for k in range(3)
    ]
    releases = [
        {
            "version": f"1.{k}.0",
            "requires_core": ">=1.0,<2",
            "requires_python": ">=3.11",
            "license": "MIT",
            "files": [
                {"filename": f"x-1.{k}.0-py3-none-any.whl", "sha256": sha256(pick), "size": 9000}
            ],
            "release_sha256": sha256(pick),
            "conformance": None,
            "attestation": None,
            "yanked": None,
            "offers": {},
        }
        for k in range(5)
    ]
    return {
        "name": name, "schema": 1, "namespace": name, "summary": "Tasks of a lab.",
        "status": "active", "maintainers": [{"name": "Ana"}], "repository": "https://example.org/x",
        "latest": "1.4.0", "releases": releases, "tasks": tasks, "wrappers": [], "offers": {},
    }  # fmt: skip


def sha256(pick: random.Random) -> str:
    """Return a random hash: equal ones would be compressed."""
    return f"{pick.getrandbits(256):064x}"


def write_index(folder: Path, count: int) -> str:
    """Write an index and the files of its packages; return the text of the index."""
    packages = [row(number) for number in range(count)]
    index = {"schema": 1, "serial": 5 * count, "packages": packages, "revoked": []}
    slim, files = split(index)
    (folder / "index").mkdir()
    for name, text in files.items():
        (folder / package_file(name)).write_bytes(packed(text))
    text = written(slim)
    (folder / "index.json").write_text(text, "utf-8")
    return text


def cpu_seconds(command: Sequence[str], **variables: str) -> float:
    """Return the CPU time of a command and of its children; wall time depends on other programs."""
    before = os.times()
    subprocess.run(command, env={**os.environ, **variables}, check=True, capture_output=True)
    after = os.times()
    children = after.children_user + after.children_system
    return children - before.children_user - before.children_system


def search_seconds(folder: Path, *words: str) -> float:
    """Return the time of the fastest of three searches."""
    command = [sys.executable, "-m", "neurogym_core", "search", *words]
    return min(cpu_seconds(command, NGYM_REGISTRY=str(folder)) for _ in range(3))


def write_repository(folder: Path, count: int) -> None:
    """Write a registry with one release a package as a commit of git, and a change as another.

    No file is checked out: `ngym registry validate --base` reads them from git."""
    init = ["git", "init", "--quiet", "--initial-branch", "main", str(folder)]
    subprocess.run(init, check=True)
    parent: list[str] = []
    for files in (repository_files(count), change_files()):
        add_to_index(folder, files)
        tree = git(folder, "write-tree")
        parent = ["-p", git(folder, "commit-tree", tree, "-m", "files", *parent)]
    git(folder, "update-ref", "refs/heads/main", parent[1])


def add_to_index(folder: Path, files: Iterable[tuple[str, str]]) -> None:
    """Add files to git's index; one call for all, as a hundred thousand would take hours."""
    marks, paths = folder / ".git" / "marks", list[str]()
    command = ["git", "-C", str(folder), "fast-import", "--quiet", f"--export-marks={marks}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        for number, (path, text) in enumerate(files, 1):
            paths.append(path)
            data = text.encode()
            process.stdin.write(f"blob\nmark :{number}\ndata {len(data)}\n".encode() + data + b"\n")
    blobs = dict(line.split() for line in marks.read_text("ascii").splitlines())
    rows = [f"100644 {blobs[f':{number}']}\t{path}" for number, path in enumerate(paths, 1)]
    rows.sort(key=lambda row: row.partition("\t")[2])  # in another order, git moves rows
    git(folder, "update-index", "--index-info", text="".join(f"{row}\n" for row in rows))


def git(folder: Path, *arguments: str, text: str = "") -> str:
    """Return the output of a command of git."""
    name = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org"}
    name |= {key.replace("AUTHOR", "COMMITTER"): value for key, value in name.items()}
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], input=text, check=True, capture_output=True,
        text=True, env={**os.environ, **name},
    )  # fmt: skip
    return done.stdout.strip()


def change_files() -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the file with which a maintainer asks for the release of a package."""
    name = "neurogym-task-newcomer"
    entry = f'schema = 1\nname = "{name}"\nsummary = "Tasks."\nadded = 2026-11-22\n'
    entry += 'versions = ["1.0.0"]\n'
    entry += 'repository = "https://example.org/x"\n[[maintainers]]\nname = "Bo"\ngithub_id = 7\n'
    yield f"packages/{name}.toml", entry


def repository_files(count: int) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of all files of a registry."""
    yield "revoked.json", json.dumps({"schema": 1, "revoked": []})
    yield "keepers.toml", 'schema = 1\n[[keepers]]\nname = "Kim"\ngithub_id = 1\n'
    for number in range(count):
        name = name_of(number)
        entry = f'schema = 1\nname = "{name}"\nsummary = "Tasks."\nadded = 2026-11-21\n'
        entry += 'repository = "https://example.org/x"\n[[maintainers]]\nname = "Ana"\n'
        yield f"packages/{name}.toml", entry + f"github_id = {number + 10}\n"
        yield f"releases/{name}/1.0.0.json", json.dumps(release(name, "1.0.0"), indent=1)


def release(name: str, version: str) -> dict[str, Any]:
    """Return a valid release without tasks."""
    module = name.replace("-", "_")
    file = f"{module}-{version}-py3-none-any.whl"
    return {
        "schema": 1, "name": name, "version": version, "requires_core": ">=1.0,<2",
        "requires_python": ">=3.11", "requires": ["neurogym-core>=1.0,<2"], "license": "MIT",
        "modules": [module], "files": [{"filename": file, "sha256": "a" * 64, "size": 9}],
        "tasks": [], "wrappers": [], "offers": {}, "conformance": None,
        "attestation": None, "yanked": None,
    }  # fmt: skip


def change_seconds(folder: Path) -> float:
    """Return the time of the validation of the last commit."""
    command = [sys.executable, "-m", "neurogym_core", "registry", "validate", str(folder)]
    return min(cpu_seconds([*command, "--base", "HEAD~1", "--actor", "7"]) for _ in range(3))


def whole_seconds(folder: Path) -> float:
    """Return the time of the validation of all files."""
    git(folder, "checkout", "--quiet", "main", "--", ".")
    return cpu_seconds([sys.executable, "-m", "neurogym_core", "registry", "validate", str(folder)])


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1_000, 10_000, 100_000])
    parser.add_argument("--no-changes", action="store_true", help="time only searches")
    options = parser.parse_args(arguments)
    print(
        "packages    index, MB    gzip, MB    own, kB    search, s    nothing found, s"
        "    change, s    all, s"
    )
    for count in options.sizes:
        with TemporaryDirectory() as name:
            folder = Path(name, "registry")
            folder.mkdir()
            text = write_index(folder, count)
            own = (folder / package_file(row(0)["name"])).stat().st_size / 1e3
            sizes = f"{len(text) / 1e6:9.2f}    {len(packed(text)) / 1e6:8.2f}    {own:7.2f}"
            found = search_seconds(folder, f"task{count // 2}of1")
            missing = search_seconds(folder, "10.1000/nowhere")
            change = whole = float("nan")
            if not options.no_changes:
                repository = Path(name, "repository")
                write_repository(repository, count)
                change = change_seconds(repository)
                whole = whole_seconds(repository)
            times = f"{found:9.2f}    {missing:16.2f}    {change:9.2f}    {whole:6.2f}"
            print(f"{count:8,}    {sizes}    {times}", flush=True)


if __name__ == "__main__":
    main()
