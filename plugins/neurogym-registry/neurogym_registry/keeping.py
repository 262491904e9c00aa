"""Changes that the maintainers of packages and the keepers of a registry make: always a reason."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

from neurogym_core.tools import canonical, clean
from neurogym_registry.errors import RegistryError
from neurogym_registry.folder import dumps, entry_file, read_package, release_file
from neurogym_registry.writing import write_text


def new(folder: Path, keeper: str, github_id: int) -> list[Path]:
    """Write an empty registry with workflows for its repository; return the files.

    Raises:
        RegistryError: the folder exists and is not empty.
    """
    if folder.exists() and any(folder.iterdir()):
        raise RegistryError(
            f"{folder} was given for a new registry, and is not empty. Expected an empty or new"
            " folder. Give another one. Nothing was written."
        )
    template = Path(__file__).with_name("new_registry")
    name = json.dumps(clean(keeper))
    texts = {
        "README.md": (template / "README.md").read_text("utf-8"),
        "keepers.toml": f"[[keepers]]\nname = {name}\ngithub_id = {github_id}\n",
        "revoked.json": dumps({"schema": 1, "revoked": []}),
        ".gitignore": "/index/\n/index.json*\n",
        **{
            f".github/workflows/{path.name}": path.read_text("utf-8")
            for path in sorted((template / "workflows").glob("*.yml"))
        },
    }
    for file, text in texts.items():
        write_text(folder / file, text)
    return [folder / file for file in texts]


def yank(folder: Path, name: str, version: str, reason: str) -> Path:
    """Mark a release as one that is only installed on request; return the changed file.

    Raises:
        RegistryError: there is no such release, or it is yanked already.
    """
    path = folder / release_file(canonical(name), version)
    if not path.is_file():
        raise _unknown(folder, name, version)
    release = json.loads(path.read_text("utf-8"))
    if release["yanked"] is not None:
        raise RegistryError(
            f"{name} {version} is yanked already: {clean(release['yanked'])} Expected a release"
            " that is not. Yanks stay as they are."
        )
    write_text(path, dumps({**release, "yanked": _reason(reason)}))
    return path


def revoke(folder: Path, name: str, versions: list[str], reason: str, advisory: str) -> Path:
    """Mark versions as dangerous: clients never install them; return the changed file.

    Args:
        folder: the registry.
        name: the package, which need not be listed.
        versions: the versions; ``*`` for all, also those to come.
        reason: the danger, for users.
        advisory: https address with details; may be empty.
    """
    path = folder / "revoked.json"
    rows: list[dict[str, Any]] = list(read_package(folder, canonical(name)).revoked)
    row = {"name": canonical(name), "versions": versions, "reason": _reason(reason)}
    dated = {**row, "date": date.today().isoformat()}
    rows.append({**dated, **({"advisory": advisory} if advisory else {})})
    write_text(path, dumps({"schema": 1, "revoked": rows}))
    return path


def transfer(folder: Path, name: str, to: dict[str, Any], reason: str) -> Path:
    """Give a package to a new maintainer, and record it in the entry; return the changed file.

    Raises:
        RegistryError: the package is not listed.
    """
    entry = read_package(folder, canonical(name)).entries.get(canonical(name))
    if entry is None:
        raise _unknown(folder, name, "")
    before = ", ".join(clean(str(row.get("name"))) for row in entry["maintainers"])
    record = {
        "date": date.today().isoformat(), "from": before, "to": to["name"],
        "reason": _reason(reason),
    }  # fmt: skip
    transfers = [*entry.get("transfers", []), record]
    path = folder / entry_file(canonical(name))
    write_text(path, entry_toml({**entry, "maintainers": [to], "transfers": transfers}))
    return path


def _reason(text: str) -> str:
    if not re.search(r"\S{3}", text) or clean(text) != text.strip():
        raise RegistryError(
            f"The reason {clean(text)!r} was given. Expected one line of plain text, a word"
            " at least. Describe the fault, for the users of the package."
        )
    return text.strip()


def _unknown(folder: Path, name: str, version: str) -> RegistryError:
    return RegistryError(
        f"{f'{clean(name)} {clean(version)}'.strip()} is not in {folder}. Expected a listed package"
        " and, for a yank, one of its releases. Correct the name or the version."
    )


def entry_toml(entry: dict[str, Any]) -> str:
    """Return an entry as TOML: texts, numbers and versions first, then the tables of each list."""
    tables = {key: value for key, value in entry.items() if value and isinstance(value, list)}
    tables = {key: rows for key, rows in tables.items() if isinstance(rows[0], dict)}
    lines = [
        f"{key} = {value if key == 'added' else json.dumps(value, ensure_ascii=False)}"
        for key, value in entry.items()
        if key not in tables
    ]
    for key, rows in tables.items():
        for row in rows:
            lines += ["", f"[[{key}]]"]
            lines += [f"{one} = {json.dumps(row[one], ensure_ascii=False)}" for one in row]
    return "\n".join([*lines, ""])
