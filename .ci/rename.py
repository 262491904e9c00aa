"""Give the packages of this project another prefix: ``.ci/rename.py PREFIX``.

For the case that names of this project belong to others on the package index. Distributions and
import packages are renamed in all files that git knows and in their paths: ``neurogym-core`` and
``neurogym_core`` become ``PREFIX-core`` and ``PREFIX_core``. Groups of entry points
(``neurogym.tasks``) are no names on the index, and stay; so do NeuroGym's own package and
variables of the environment (``NEUROGYM_BUILD_KERNEL``)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_OLD = "neurogym"
_PREFIX = re.compile(r"[a-z][a-z0-9]*")


def renamed(text: str, prefix: str) -> str:
    """Return a text, or a path, with the names of this project under another prefix."""
    return re.sub(rf"{_OLD}(?=[-_])", prefix, text)


def rename(root: Path, prefix: str) -> int:
    """Rename in all files of a checkout that git knows, and return how many files have changed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True
    ).stdout
    changed = 0
    for one in filter(None, listed.split("\0")):
        path, target = root / one, root / renamed(one, prefix)
        content = path.read_bytes()
        try:
            new = renamed(content.decode(), prefix).encode()
        except UnicodeDecodeError:  # a picture
            new = content
        changed += new != content or target != path
        path.write_bytes(new)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
    for folder in sorted(root.rglob(f"{_OLD}[-_]*"), reverse=True):
        if folder.is_dir() and not any(one.is_file() for one in folder.rglob("*")):
            for one in [*sorted(folder.rglob("*"), reverse=True), folder]:
                one.rmdir()
    return changed


def main() -> None:
    if len(sys.argv) != 2 or not _PREFIX.fullmatch(sys.argv[1]):
        sys.exit(
            f"{' '.join(sys.argv[1:])!r} was given. Expected one prefix of small letters and digits"
            " without a hyphen, such as `.ci/rename.py ngym`."
        )
    print(f"{rename(ROOT, sys.argv[1])} files have changed. Run the tests, and look at `git diff`.")


if __name__ == "__main__":
    main()
