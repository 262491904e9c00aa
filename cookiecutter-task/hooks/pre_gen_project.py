"""Refuses answers that cannot become a package; `ngym new` asks the same function before anything is written."""

from __future__ import annotations

import json
import keyword
import re
import sys
from urllib.parse import unquote

LICENCES = ("BSD-3-Clause", "MIT", "Apache-2.0")
KINDS = ("table", "session", "closed-loop", "classic")
# What the generated files import under these names.
TAKEN = ("Choice", "OneHot", "Task", "Trial", "TrialEnv", "TrialSession")


def problems(answers: dict[str, str]) -> list[str]:
    """What is wrong with the answers: what was given, what was expected. Empty when nothing is."""
    found = []
    name, lab, author = (str(answers.get(key, "")) for key in ("task_name", "lab", "author"))
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]{1,60}", name):
        found.append(f"task_name is {name!r}, expected CapitalizedWords of letters and digits, such as SideMemory.")
    elif name in TAKEN or keyword.iskeyword(name.lower()) or name.startswith("Test"):
        found.append(f"task_name is {name!r}, which has a meaning in Python, pytest or the core; expected another name.")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", lab) or len(lab) > 40:
        found.append(f"lab is {lab!r}, expected lower-case letters and digits, words joined by one hyphen, such as my-lab.")
    elif lab in ("core", "wrappers") or lab.startswith("x-"):
        found.append(f"lab is {lab!r}, which would claim a namespace that is another's; expected another name.")
    if not author.strip() or author != author.strip() or not author.isprintable() or set(author) & set('"\\{}<>%#`|$*_[]'):
        found.append(f"author is {author!r}, expected a name without quotation marks, brackets or other signs.")
    for key, known in (("licence", LICENCES), ("kind", KINDS)):
        if answers.get(key) not in known:
            found.append(f"{key} is {answers.get(key)!r}, expected one of {', '.join(known)}.")
    return found


if __name__ == "__main__":
    wrong = problems(json.loads(unquote("{{ cookiecutter | jsonify | urlencode }}")))
    for problem in wrong:
        print(problem, file=sys.stderr)
    sys.exit(bool(wrong))
