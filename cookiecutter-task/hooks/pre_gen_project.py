"""Refuse answers that do not make a valid package; `ngym new` calls `problems` before it writes."""

from __future__ import annotations

import json
import keyword
import re
import sys
from urllib.parse import unquote

LICENCES = ("BSD-3-Clause", "MIT", "Apache-2.0")
KINDS = ("table", "session", "closed-loop", "classic")
# Names that the generated files import: a task of the same name would replace them.
TAKEN = ("Any", "Choice", "OneHot", "Session", "Task", "TrialBuilder", "TrialEnv")


def problems(answers: dict[str, str]) -> list[str]:
    """Return the problems of the answers, one sentence or two each; [] if there are none."""
    found = []
    name, lab, author = (str(answers.get(key, "")) for key in ("task_name", "lab", "author"))
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]{1,60}", name):
        found.append(
            f"task_name is {name!r}, expected CapitalizedWords of letters and digits, such as"
            " SideMemory."
        )
    elif name in TAKEN or keyword.iskeyword(name.lower()) or name.startswith("Test"):
        found.append(
            f"task_name is {name!r}, which has a meaning in Python, pytest or neurogym-core."
            " Choose another name."
        )
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", lab) or len(lab) > 40:
        found.append(
            f"lab is {lab!r}, expected lower-case letters and digits, with single hyphens between"
            " words, such as my-lab."
        )
    elif lab in ("core", "wrappers") or lab.startswith("x-"):
        found.append(
            f"lab is {lab!r}, the namespace of another package. Choose another name."
        )
    signs = set('"\\{}<>%#`|$*_[]')
    printable = author.strip() and author == author.strip() and author.isprintable()
    if not printable or set(author) & signs:
        found.append(
            f"author is {author!r}, expected a name without quotation marks, brackets or other"
            " signs."
        )
    repository = str(answers.get("repository", ""))
    if not re.fullmatch(r"https://[A-Za-z0-9.-]+(/[A-Za-z0-9._~-]+)+", repository):
        found.append(
            f"repository is {repository!r}, expected an https address such as"
            " https://github.com/mylab/neurogym-task-mylab."
        )
    for key, known in (("licence", LICENCES), ("kind", KINDS)):
        if answers.get(key) not in known:
            found.append(f"{key} is {answers.get(key)!r}, expected one of {', '.join(known)}.")
    return found


if __name__ == "__main__":
    wrong = problems(json.loads(unquote("{{ cookiecutter | jsonify | urlencode }}")))
    for problem in wrong:
        print(problem, file=sys.stderr)
    sys.exit(bool(wrong))
