"""The packages that commands in texts ask pip, uv and conda for."""

from __future__ import annotations

import re

_INSTALLS = re.compile(r"\b(?:pip3?|uv|pipx|conda|mamba)\s+(?:install|add)\s+")
_TAKES_VALUE = {"-e", "-r", "-c", "--editable", "--python", "--resolution", "--only-binary"}
_BROKEN_CODE = re.compile(r"(?<!`)`[^`\n]+\n[^`\n]+`(?!`)")  # inline code over two lines


def named(text: str) -> list[str]:
    """Return the names that the commands in a text ask an index for."""
    text = _BROKEN_CODE.sub(lambda found: " ".join(found[0].split()), text)
    names = []
    for found in _INSTALLS.finditer(text):
        line = re.split(r"`|(?<!\\)\n|&&|\||;", text[found.end() :], maxsplit=1)[0]
        words = iter(line.replace("\\\n", " ").split())
        for word in words:
            if word.startswith("-"):
                if word in _TAKES_VALUE:
                    next(words, None)
            elif "/" not in word:
                names.append(word.strip("'\"()").lower().replace("_", "-"))
            if len(word) > 1 and word[-1] in ".,:":
                break  # the end of a sentence
    return names


def ours(text: str) -> list[str]:
    """Return the packages of this project that the commands in a text ask an index for."""
    return [name for name in named(text) if name.startswith("neurogym")]
