"""Check a change of a registry in git: only its files are read, and its author must own them.

`rules.validate` reads a whole registry. A registry of a hundred thousand packages has half a
million files, of which a pull request changes three; git knows which.

The change is the effect of a merge on the commit that it goes into, not the difference that the
branch shows. A branch from an old commit still has a former keeper, and lacks names that were added
since; a branch that has merged the other one, and kept nothing of it, removes all of it, although
its own difference is empty."""

from __future__ import annotations

import io
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from neurogym_core.tools import clean, read_toml
from neurogym_registry.errors import RegistryError
from neurogym_registry.folder import Registry, Violation, dumps, entry_file, read_registry
from neurogym_registry.rules import changed_registry
from neurogym_registry.writing import write_bytes

KEEPERS = "keepers.toml"


def validate_change(folder: Path, base: str, actor: int | None) -> list[Violation]:
    """Return the violations of merging HEAD into a commit, errors first.

    Args:
        folder: the registry, in a checkout of its repository.
        base: the commit into which HEAD goes. Its keepers and its maintainers decide.
        actor: numeric id of the account that made the change; None does not check who it was.

    Raises:
        RegistryError: the folder is not in a git repository, the commit is unknown, or HEAD
            cannot be merged into it without a person.
    """
    start = _git(folder, "rev-parse", "--verify", "--end-of-options", f"{base}^{{commit}}").strip()
    merged = _merged(folder, start)
    inside = _git(folder, "rev-parse", "--show-prefix").removesuffix("\n")
    listed = _git(folder, "diff-tree", "-r", "-z", "--name-only", "--no-renames",
                  "--ignore-submodules=none", start, merged)  # fmt: skip
    changed = [path for path in listed.split("\0") if path]
    _require_paths(changed)
    paths = [path.removeprefix(inside) for path in changed if path.startswith(inside)]
    outside = [path for path in changed if not path.startswith(inside)]
    names = {name for path in paths if (name := _package(path)) is not None}
    tree = _git(folder, "ls-tree", "-z", "--name-only", merged, "packages/")
    known = {path.removeprefix("packages/").removesuffix(".toml") for path in tree.split("\0")}
    with TemporaryDirectory(prefix="ngym-") as place:
        old = _part(folder, start, names, paths, Path(place, "old"))
        new = _part(folder, merged, names, paths, Path(place, "new"))
        found = changed_registry(
            replace(new, known=frozenset(known - {""})), replace(old, known=frozenset())
        )
        found += _rewritten(old, new, paths)
        if actor is not None:
            keepers = _keepers(old.folder)
            found += _owners(old, new, paths, actor, keepers)
            found += [] if actor in keepers else [_of_keepers(path, actor) for path in outside]
    return sorted(found, key=lambda one: (one.level != "error", one.file, one.field))


def _require_paths(paths: list[str]) -> None:
    """Raise an error for paths that git makes from no folder, but takes from other programs.

    One with ``..`` would be written over another file of the judgement, e.g. its list of keepers.

    Raises:
        RegistryError: a path leaves its folder, leads into git's own one, or is there twice.
    """
    twice = [path for path, number in Counter(paths).items() if number > 1]
    outside = [
        path for path in paths
        if not {"", ".", "..", ".git"}.isdisjoint(path.casefold().replace("\\", "/").split("/"))
    ]  # fmt: skip
    for path in (*outside, *twice):
        raise RegistryError(
            f"A commit has the path {clean(path)!r}{' twice' if path in twice else ''}. Expected"
            " paths within the repository, each one once, as git makes them. Make the commit with"
            " git."
        )


def _merged(folder: Path, base: str) -> str:
    """Return the tree that a merge of HEAD into a commit makes."""
    done = _run(folder, "merge-tree", "--write-tree", "--no-messages", "-z", base, "HEAD")
    tree, _, rest = done.stdout.decode("utf-8", "replace").partition("\0")
    if done.returncode == 0:
        return tree
    if done.returncode != 1:
        raise _failed(folder, "merge-tree", done)
    files = {row.partition("\t")[2] for row in rest.split("\0")} - {""}
    raise RegistryError(
        f"HEAD cannot be merged into {base[:10]}: both change {clean(', '.join(sorted(files)))}."
        f" Expected a change that fits to the registry as it is now. Merge {base[:10]} into the"
        " branch, and resolve the conflicts."
    )


def _rewritten(old: Registry, new: Registry, paths: list[str]) -> Iterator[Violation]:
    """Yield changed release files that hold other bytes than `ngym` writes.

    The index has the hash of each, and a key that is there twice has two meanings."""
    for path in paths:
        before, after = _release(old, path), _release(new, path)
        if after is None:
            continue  # no release; or removed or unreadable, which is an error already
        expected = after if before is None else {**before, "yanked": after.get("yanked")}
        if (new.folder / path).read_bytes() != dumps(expected).encode():
            message = (
                "has other bytes than `ngym` writes. Expected a file of `ngym registry accept` or"
                " `ngym registry yank`. Write it again with them."
            )
            yield Violation(rule="add-only", file=clean(path), message=message)


def _release(registry: Registry, path: str) -> dict[str, Any] | None:
    """Return the release in a file, or None."""
    match path.split("/"):
        case ["releases", name, file] if file.endswith(".json"):
            return registry.releases.get(name, {}).get(file.removesuffix(".json"))
    return None


def _package(path: str) -> str | None:
    """Return the package to which a file belongs, or None."""
    match path.split("/"):
        case ["packages", file] if file.endswith(".toml"):
            return file.removesuffix(".toml")
        case ["sources", file] if file.endswith(".json"):
            return file.removesuffix(".json")
        case ["releases", name, *_]:
            return name
    return None


def _part(folder: Path, commit: str, names: set[str], paths: list[str], target: Path) -> Registry:
    """Write the files of the packages and the other changed files at a commit, and read them.

    Not with `git archive`: attributes in the change could leave out files."""
    wanted = ["revoked.json", KEEPERS, *(path for path in paths if _package(path) is None)]
    for name in sorted(names):
        wanted += [f"packages/{name}.toml", f"releases/{name}", f"sources/{name}.json"]
    tree = _git(folder, "ls-tree", "-r", "-z", commit, "--", *wanted)
    there = [row.partition("\t") for row in tree.split("\0") if row]
    files = [(*head.split(" "), path) for head, _, path in there]
    _require_paths([path for *_, path in files])
    plain = [
        (number, path)
        for mode, _, number, path in files
        if mode == "100644" or (mode == "100755" and _package(path) is None)
    ]
    target.mkdir()
    data = io.BytesIO(
        _git_bytes(folder, "cat-file", "--batch", text="".join(f"{one}\n" for one, _ in plain))
    )
    for _, path in plain:
        size = int(data.readline().split(b" ")[2])
        write_bytes(target / path, data.read(size))
        data.read(1)
    for path in {path for *_, path in files} - {path for _, path in plain}:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).symlink_to("a-link-program-or-submodule")  # which `read_registry` reports
    return read_registry(target)


def _keepers(folder: Path) -> set[int]:
    """Return the ids in ``keepers.toml`` before the change."""
    try:
        rows = read_toml((folder / KEEPERS).read_text("utf-8"))["keepers"]
        return {row["github_id"] for row in rows if type(row["github_id"]) is int}  # not true
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _owners(
    old: Registry, new: Registry, paths: list[str], actor: int, keepers: set[int]
) -> Iterator[Violation]:
    if actor in keepers:
        return
    for path in paths:
        name = _package(path)
        if name is None:
            yield _of_keepers(path, actor)
            continue
        # An entry that cannot be read any more has an owner, too.
        unknown = name not in old.entries and os.path.lexists(old.folder / entry_file(name))
        entry = old.entries.get(name) or new.entries.get(name, {})
        ids = set() if unknown else _ids(entry)
        if actor not in ids:
            who = ", ".join(map(str, sorted(ids))) or "none has a github_id"
            message = (
                f"is changed by the account {actor}. Expected a maintainer of {clean(name)}"
                f" ({who}) or a keeper. A new package needs the github_id of its author."
            )
            yield _violation(path, message)
        elif path.startswith("releases/") and not _is_yank(old, new, path):
            message = (
                f"is changed by the account {actor}, a maintainer of {clean(name)}. Expected a"
                f" keeper, see {KEEPERS}: keepers make releases from wheels (`ngym registry"
                " accept`), and maintainers can yank them."
            )
            yield _violation(path, message)
        elif "folder" in new.entries.get(name, {}):
            message = (
                f"has a folder, and is changed by the account {actor}. Expected a keeper, see"
                f" {KEEPERS}. Give `repository` instead, or ask them."
            )
            yield Violation(rule="folder", file=entry_file(name), field="folder", message=message)
        elif not _ids(new.entries.get(name, {})):
            yield _violation(entry_file(name), "has no maintainer with a github_id. Expected one.")


def _is_yank(old: Registry, new: Registry, path: str) -> bool:
    """Whether a file is a release that was there, and is yanked; `rules` compares all else."""
    return _release(old, path) is not None and _release(new, path) is not None


def _ids(entry: dict[str, Any]) -> set[int]:
    rows = entry.get("maintainers", [])
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return {row["github_id"] for row in rows if type(row.get("github_id")) is int}  # not true


def ignores(folder: Path, file: str) -> bool:
    """Whether git ignores a file of a folder; False without git, or outside of a repository."""
    command = ["git", "-C", str(folder), "check-ignore", "--quiet", file]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


def _of_keepers(path: str, actor: int) -> Violation:
    return _violation(path, f"is changed by the account {actor}. Expected a keeper, see {KEEPERS}.")


def _violation(file: str, message: str) -> Violation:
    return Violation(
        rule="owners", file=clean(file), message=f"{message} Ask them to make the change."
    )


def _git(folder: Path, *arguments: str) -> str:
    return _git_bytes(folder, *arguments).decode("utf-8", "replace")


def _git_bytes(folder: Path, *arguments: str, text: str = "") -> bytes:
    done = _run(folder, *arguments, text=text)
    if done.returncode:
        raise _failed(folder, arguments[0], done)
    return done.stdout


def _run(folder: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[bytes]:
    command = ["git", "-C", str(folder), *arguments]
    environment = {**os.environ, "GIT_LITERAL_PATHSPECS": "1"}  # a path may begin with a colon
    try:
        return subprocess.run(command, capture_output=True, input=text.encode(), env=environment)
    except OSError as error:
        raise RegistryError(
            f"git cannot be run ({error}). Expected git, which knows the changed files. Install it."
        ) from error


def _failed(folder: Path, command: str, done: subprocess.CompletedProcess[bytes]) -> RegistryError:
    said = clean(done.stderr.decode("utf-8", "replace"))[-300:]
    return RegistryError(
        f"git {command} failed in {folder}: {said} Expected git 2.38 or later, and a registry in a"
        " git repository that has the commit given with --base. Fetch it, or correct the name."
    )
