"""Find phrases that this project avoids: ``python docs/_make/prose.py [PATHS]``.

Prints ``file:line: phrase: suggestion`` for each, and exits with 1 if there is one. It reads Markdown outside
of code, and comments, docstrings and messages of the sources; in tests no messages, which they quote."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {".md", ".py", ".toml", ".c", ".h", ".js", ".css"}
# Where a clause begins; and behind these SHOWN, "what" is an indirect question.
_START = (
    r"(?:\A|[.;:|(*–\"]\s*|\n\n+|\b(?:of|for|by|to|with|from|than|as|only|where|that|when|if|in) )"
)
_VERBS = "ask asks asked know knows say says said saying see explain explains define defines matter"
_ASKS = "".join(rf"(?<!\b{verb}\s)" for verb in _VERBS.split())
CLAUSES = {"what …", "who …"}  # allowed in headings and questions
TICS = {  # name: (regular expression, suggestion)
    "nobody": (r"\b(?:nobody|somebody|anybody|whoever)\b", "name the actor: the user, a plug-in"),
    "in hand": (r"\bin hand\b", "'current', 'available'"),
    "what …": (
        _ASKS + r"\bwhat (?!(?:to|if|about|for|else|happen(?:s|ed)?|kind|sort|order|share|fraction|probability|rate|speed|"
        r"extent|time|way)\b)(?:[a-z]+(?:'s)?\b|['\"`(…])", "a noun: 'the correct answer', 'the settings', 'its effect'"),
    "tells": (r"\b(?:tells|told)\b", "'says', 'shows', 'reports', 'distinguishes'"),
    "of its own": (r"\bof (?:one's|its|their|his|her|your|our|my|(?:an? |the )?[a-z]+(?:'s|s')) own\b", "'its own …'"),
    "laid out": (r"\blaid out\b", "'built', 'planned'"),
    "worked out": (r"\bwork(?:s|ed|ing)? (?:it |them |this |that )?out\b", "'computed', 'found'"),
    "anew": (r"\banew\b", "'again', 'redraw', 'reset', 'a new …'"),
    "who …": (_START + r"(?:[-*] )?who (?!(?:am|are you|else)\b)[a-z]+", "the actor: 'a subject that …'"),
    "as a whole": (r"\bas a whole\b", "leave it out, or 'all of …'"),
    "all the same": (r"\ball the same\b", "'nevertheless', 'still', 'anyway'"),
    "once more": (r"\bonce more\b", "'again'"),
    "for good": (r"\bfor good\b(?! (?:reason|measure))", "'permanently'"),
    "of ours": (r"\bof (?:ours|theirs|yours|hers)\b", "'our …', 'from this project'"),
    "besides": (r"\bbesides(?=[.;:)]|\Z)", "'also', 'in addition'"),
    "stands in": (r"\bstands? (?:in|at|on)\b(?! the way)", "'is in', 'is at', 'is based on'"),
    "holds to": (
        r"\b(?:holds?|held)(?! on\b)(?: [a-z…]+){0,4}? to (?:the|its|their|these|this|all|one|what|each)\b|"
        r"\bkeeps? to (?:the|its|their|these|this|all|what|it)\b", "'checks … against', 'follows'"),
    "is not there": (r"\b(?:(?:is|are|was|were|be) not|isn't) there\b", "'does not exist', 'is missing'"),
    "bad day": (r"\bbad days?\b|\bsign of life\b|\bcoats? of\b|\bby heart\b", "the plain fact"),
}  # fmt: skip
_FOUND = {name: re.compile(tic.replace(" ", r"\s+"), re.I) for name, (tic, _) in TICS.items()}
_ANY = re.compile("|".join(f"(?:{tic.pattern})" for tic in _FOUND.values()), re.I)
_QUESTION = re.compile(r"[^.!?]*\?")
_WORDS = re.compile(r"[A-Za-z]{2,}[,;:]? [a-z…]+[,;:]? [a-z…]+", re.I)
# Strings in several pieces are one. Strings come before comments: they may contain a "#".
_PIECE = re.compile(
    r"""'{3}.*?'{3}|\"{3}(?P<long>.*?)\"{3}|(?P<short>(?:[rbf]*"(?!"")(?:\\.|[^"\\\n])*"\s*)+)|'(?:\\.|[^'\\\n])*'"""
    r"""|`[^`]*`|(?P<comment>/\*.*?\*/|(?:(?:\#|//)[^\n]*\n[ \t]*)+)""",
    re.S,
)
_MARKS = re.compile(r"(?m)^[ \t]*(?:[#/*]+[ :!]*)+|\*/")
_BLANKED = re.compile(r"\{[^{}\n]*\}|``.+?``|https?://\S+", re.S)
SHOWN = {"text": None, "softbreak": "\n", "code_inline": "…", "image": "…"}
MARKDOWN = MarkdownIt("commonmark").enable("table")


def pieces(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yield the Markdown of a file, or its comments and strings, with their first lines."""
    if path.suffix == ".md":
        yield 1, text
        return
    for found in _PIECE.finditer(text + "\n"):
        said = found["long"] or found["comment"] or ""
        if "tests" in path.parts:  # values of tests quote messages
            said = "" if text[: found.start()].rstrip()[-1:] in tuple("=([,") else said
        elif found["short"]:
            said = re.sub(r'"(\s*)[rbf]*"', r"\1", found["short"]).strip('rbf" \n')
        if _WORDS.search(said):
            said = cleandoc(_MARKS.sub("", said) if found["comment"] else said)
            yield text[: found.start()].count("\n") + 1, said.replace("\\n", "\n")


def hits(file: str, text: str) -> list[str]:
    """Return the phrases of a file that are to be avoided, as lines of the output."""
    found = []
    for first, piece in pieces(Path(file), text):
        tokens = MARKDOWN.parse(piece) if _ANY.search(piece) else []
        for before, token in pairwise(tokens):
            if token.type != "inline":
                continue
            parts = [one for one in token.children if one.type in SHOWN]
            said = _BLANKED.sub("…", "".join(SHOWN[one.type] or one.content for one in parts))
            titled = before.type in ("heading_open", "th_open")
            for name, tic in _FOUND.items():
                for match in tic.finditer(said):
                    if name in CLAUSES and (titled or _QUESTION.match(said, match.end())):
                        continue
                    start = match.end() - len(match[0].lstrip(' .;:|(*–"\n-'))
                    line = first + token.map[0] + said.count("\n", 0, start)
                    found.append(f"{file}:{line}: {name}: {TICS[name][1]}")
    return found


def main(arguments: list[str]) -> int:
    """Print the phrases in the files that git knows, and return 1 if there are any."""
    paths = [Path(one).resolve() for one in arguments] or [ROOT]
    command = ["git", "ls-files", "-co", "--exclude-standard", "--", *paths]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found = []
    for path in map(Path, listed.splitlines()):
        read = path.suffix in SUFFIXES or path.name == "Makefile"
        if read and path.stem not in ("prose", "test_prose") and (ROOT / path).is_file():
            found += hits(str(path), (ROOT / path).read_text("utf-8"))
    print("\n".join(found) or "No phrase to avoid.")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
