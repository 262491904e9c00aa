"""Find phrases that this project avoids, in its documentation and in its sources.

``python docs/_make/prose.py [PATHS]`` prints ``file:line: phrase: suggestion`` for each, and exits with 1 if
there is one. Without paths it reads the whole repository: Markdown outside of code, docstrings, comments and
messages of Python, C and JavaScript, TOML, and the templates. Strings in tests are left out, because they quote
messages; so are pages that other scripts write.

``docs/_make/prose-allowed.txt`` lists exemptions, one a line: ``file: phrase: reason``. The file may be a
pattern (``plugins/*/README.md``). A phrase that occurs nowhere any more is reported too.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ALLOWED = Path(__file__).with_name("prose-allowed.txt")


@dataclass(frozen=True)
class Tic:
    """One turn of phrase.

    Args:
        name: short name, printed with a hit.
        pattern: regular expression; a blank in it stands for any white space. Case is ignored.
        why: the reason to avoid it.
        instead: the suggestion that is printed.
        in_headings: whether Markdown headings are searched.
        in_questions: whether sentences that end with a question mark are searched.
    """

    name: str
    pattern: str
    why: str
    instead: str
    in_headings: bool = True
    in_questions: bool = True

    @cached_property
    def search(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(self.pattern.replace(" ", r"\s+"), re.IGNORECASE)


# Where a clause begins; and verbs of asking, behind which "what" is an indirect question.
_START = r"""(?:\A\s*|(?<=[.;:|(*–"])\s*|\n\n+\s*|(?:\A|\n)\s*[-*] )"""
_ASKING = "".join(
    rf"(?<!\b{verb}\s)"
    for verb in [
        "ask",
        "asks",
        "asked",
        "know",
        "knows",
        "say",
        "says",
        "said",
        "saying",
        "see",
        "explain",
        "explains",
        "define",
        "defines",
        "matter",
    ]
)

TICS = (
    Tic(
        "nobody",
        r"\b(?:nobody|somebody|anybody|whoever)\b",
        "It hides who acts.",
        "name the actor: the user, the author, the caller, a plug-in; or 'no task', 'no caller'",
    ),
    Tic("in hand", r"\bin hand\b", "Not the field's word.", "'current', or 'available'"),
    Tic(
        "what …",
        _ASKING
        + r"\bwhat (?!(?:to|if|about|for|else|happens?|happened)\b|(?:kind|sort|order|share|fraction|probability"
        r"|rate|speed|extent|time|way)\b)(?:[a-z]+(?:'s)?\b|['\"`(…])",
        "A clause stands where the field has a noun, so that a sentence has to be read twice.",
        "a noun: 'the correct answer', 'the settings', 'the drawn conditions', 'its effect'",
        in_headings=False,
        in_questions=False,
    ),
    Tic(
        "tells",
        r"\b(?:tells|told)\b",
        "Code and data inform nobody; and 'to tell apart' is colloquial.",
        "'says', 'shows', 'reports', 'passes', 'distinguishes'",
    ),
    Tic(
        "of its own",
        r"\bof (?:one's|its|their|his|her|your|our|my|(?:an? |the )?[a-z]+(?:'s|s')) own\b",
        "A calque, and often empty.",
        "'its own …', 'a separate …', or nothing",
    ),
    Tic(
        "laid out",
        r"\blaid out\b",
        "Not the field's word for making the arrays of a trial.",
        "'built', 'planned', or the name of the function in code quotes",
    ),
    Tic(
        "worked out",
        r"\bwork(?:s|ed|ing)? (?:it |them |this |that )?out\b",
        "Colloquial for computing.",
        "'computed', 'found', 'derived'",
    ),
    Tic("anew", r"\banew\b", "Archaic.", "'again', 'redraw', 'reset', 'a new …'"),
    Tic(
        "who …",
        r"(?:" + _START + r"|\b(?:of|for|by|to|with|from|than|as|only|where|that|when|if|in) )"
        r"who (?!(?:am|are you|else)\b)[a-z]+",
        "A clause stands for the actor.",
        "the actor: 'a subject that …', 'the user', 'authors'",
        in_headings=False,
        in_questions=False,
    ),
    Tic("as a whole", r"\bas a whole\b", "Filler.", "leave it out, or 'whole …', 'all of …'"),
    Tic(
        "all the same",
        r"\ball the same\b",
        "Ambiguous: 'nevertheless', or 'identical'.",
        "'nevertheless', 'still', 'anyway'",
    ),
    Tic("once more", r"\bonce more\b", "Ambiguous: 'again', or 'once extra'.", "'again'"),
    Tic("for good", r"\bfor good\b(?! (?:reason|measure))", "Colloquial.", "'permanently'"),
    Tic(
        "of ours",
        r"\bof (?:ours|theirs|yours|hers)\b",
        "A calque.",
        "'our …', 'from this project', 'not from the paper'",
    ),
    Tic(
        "besides",
        r"\bbesides(?=[.;:)]|\Z)",
        "Archaic at the end of a clause.",
        "'also', 'in addition'",
    ),
    Tic(
        "stands in",
        r"\bstands? (?:in|at|on)\b(?! the way)",
        "A calque of 'steht in'.",
        "'is in', 'is at', 'is based on'",
    ),
    Tic(
        "holds to",
        r"\b(?:holds?|held)(?! on\b)(?: [a-z`]+){0,4}? to (?:the|its|their|these|this|all|one|what|each)\b"
        r"|\bkeeps? to (?:the|its|their|these|this|all|what|it)\b",
        "A calque; 'hold' is a verb of tasks in this project.",
        "'checks … against', 'follows', 'must satisfy'",
    ),
    Tic(
        "is not there",
        r"\b(?:is|are|was|were|be) not there\b|\bisn't there\b",
        "A calque.",
        "'does not exist', 'is missing', 'is not installed'",
    ),
    Tic(
        "bad day",
        r"\bbad days?\b|\bsign of life\b|\bbegins? anew\b|\bcoats? of\b|\bby (?:heart|and by)\b",
        "A metaphor.",
        "the plain fact",
    ),
)


@dataclass(frozen=True)
class Segment:
    """A piece of prose.

    Args:
        line: number of its first line.
        text: its text, code blanked out.
        last: number of its last line in the file.
        heading: whether it is a heading of Markdown, of a section or a table.
    """

    line: int
    text: str
    last: int
    heading: bool = False


@dataclass(frozen=True)
class Hit:
    """A tic that was found."""

    file: str
    line: int
    found: str
    tic: Tic

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.found}: {self.tic.instead}"


@dataclass
class Exemption:
    """A line of the list of exemptions."""

    line: int
    file: str
    phrase: str
    reason: str
    used: bool = False


# ---- where prose is --------------------------------------------------------------------------------------------

_CODE = re.compile(
    r"(`+)(?:(?!\1).)+?\1|\]\([^)\s]*\)|<[^<>\n]+>|https?://\S+|\{\{.*?\}\}|\{%.*?%\}", re.DOTALL
)
_FENCE = re.compile(r"^[ ]{0,8}(```+|~~~+)")
_WORDS = re.compile(r"[A-Za-z]{2,}[,;:]? (?:[a-z…]+[,;:]? )[a-z…]+", re.IGNORECASE)
_WRITTEN = re.compile(r"(?:Made|Written) by (?:`docs/_make|the benchmarks)")


def segments(path: Path, text: str) -> list[Segment]:
    """The prose of a file, by its suffix."""
    if path.suffix == ".md":
        return [] if _WRITTEN.search(text[:600]) else list(_markdown(text))
    if path.suffix == ".py":
        return list(_python(text, strings="tests" not in path.parts))
    if path.suffix == ".toml" or path.name == "Makefile":
        return list(
            _matches(
                text, r"(?P<comment>(?:^[ \t]*#[^\n]*\n)+|#[^\n\"]*$)|(?P<string>\"[^\"\n]*\")"
            )
        )
    if path.suffix in {".c", ".h", ".js", ".css"}:
        return list(
            _matches(
                text,
                r"(?P<comment>/\*.*?\*/|(?:^[ \t]*//[^\n]*\n)+|(?<!:)//[^\n]*$)|(?P<string>\"[^\"\n]*\"|`[^`]*`)",
            )
        )
    return []


def _blank(text: str) -> str:
    """`text` with code, links and tags replaced by as many signs; line breaks stay."""
    return _CODE.sub(lambda match: re.sub(r"[^\n]", "…", match[0]), text)


def _markdown(text: str, first: int = 1) -> Iterator[Segment]:
    """Paragraphs, list items, rows and headings outside of code."""
    fence, held, start = "", [], 0
    lines = text.split("\n")
    for number, (line, below) in enumerate(
        zip([*lines, ""], [*lines[1:], "", ""], strict=True), first
    ):
        mark = _FENCE.match(line)
        inside = bool(fence)
        if mark and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else mark[1]
            inside = True
        heading = re.match(r"#+ ", line) or re.match(r"\|[ :]*--", below)
        alone = inside or heading or not line.strip() or line.lstrip().startswith("|")
        if (alone or re.match(r"\s*(?:[-*]|\d+\.) ", line)) and held:
            yield Segment(start, _blank("\n".join(held)), number - 1)
            held = []
        if inside or not line.strip():
            continue
        if alone:
            yield Segment(number, _blank(line), number, heading=bool(heading))
        else:
            start, held = (start, [*held, line]) if held else (number, [line])


def _python(text: str, *, strings: bool) -> Iterator[Segment]:
    """Comments and docstrings; also other strings of three words or more if `strings`."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a template
        yield from _matches(
            text,
            r"(?P<comment>\"\"\".*?\"\"\"|(?:^[ \t]*#[^\n]*\n)+|#[^\n\"]*$)|(?P<string>\"[^\"\n]+\")",
        )
        return
    yield from _comments(text)
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node, clean=False) is not None
    }
    for node in _strings(tree):
        value = _value(node)
        if id(node) not in documented and not (strings and _WORDS.search(value)):
            continue
        if "```" in value:
            yield from _markdown(value, node.lineno)
        else:
            yield Segment(node.lineno, _blank(value), node.end_lineno)


def _strings(tree: ast.AST) -> Iterator[ast.Constant | ast.JoinedStr]:
    """The strings of a tree; an f-string is one of them, with its parts left out."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.JoinedStr) or (
            isinstance(child, ast.Constant) and isinstance(child.value, str)
        ):
            yield child
        else:
            yield from _strings(child)


def _value(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return node.value
    return "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)


def _comments(text: str) -> Iterator[Segment]:
    """Comments; those of successive lines together."""
    held: list[str] = []
    start = column = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        line, at = token.start
        said = token.string.lstrip("#:! ")
        if held and line == start + len(held) and at == column:
            held.append(said)
            continue
        if held:
            yield Segment(start, _blank("\n".join(held)), start + len(held) - 1)
        held, start, column = [said], line, at
    if held:
        yield Segment(start, _blank("\n".join(held)), start + len(held) - 1)


def _matches(text: str, pattern: str) -> Iterator[Segment]:
    """Comments, and strings of three words or more, by a regular expression."""
    for match in re.finditer(pattern, text, re.DOTALL | re.MULTILINE):
        found = match[0]
        if match["string"] and not _WORDS.search(found):
            continue
        first = text.count("\n", 0, match.start()) + 1
        body = re.sub(r"(?m)^[ \t]*(?:#|//|\*(?!/))+ ?", "", found).strip('`"/* \n\t')
        if match["comment"]:
            first += len(found) - len(found.lstrip("\n"))
        yield Segment(first, _blank(body), text.count("\n", 0, match.end()) + 1)


# ---- what is searched for --------------------------------------------------------------------------------------


def hits(file: str, text: str, exemptions: Sequence[Exemption] = ()) -> list[Hit]:
    """The tics of a file's text that no exemption allows; marks the exemptions that were used."""
    mine = [one for one in exemptions if fnmatch(file, one.file)]
    found = []
    for segment in segments(Path(file), text):
        allowed = [(one, span) for one in mine for span in _spans(one.phrase, segment.text)]
        for tic, match in _searched(segment):
            covering = [
                one
                for one, (begin, end) in allowed
                if begin <= match.start() and match.end() <= end
            ]
            for one in covering:
                one.used = True
            if not covering:
                found.append(
                    Hit(
                        file,
                        _line(segment, match, text),
                        " ".join(match[0].strip(' .;:|(*–"\n-').split()),
                        tic,
                    )
                )
    return sorted(found, key=lambda hit: hit.line)


def _searched(segment: Segment) -> Iterator[tuple[Tic, re.Match[str]]]:
    for tic in TICS:
        if segment.heading and not tic.in_headings:
            continue
        for match in tic.search.finditer(segment.text):
            # Where the sentence ends: at the next full stop that white space follows.
            end = re.compile(r"[.!?](?=\s|\Z|[\"')|])").search(segment.text, match.end())
            if end is None or end[0] != "?" or tic.in_questions:
                yield tic, match


def _spans(phrase: str, text: str) -> list[tuple[int, int]]:
    pattern = r"\s+".join(re.escape(word) for word in phrase.split())
    return [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]


def _line(segment: Segment, match: re.Match[str], text: str) -> int:
    """The line of a hit: counted, or searched for where one string is written in several pieces."""
    begin = match.start() + re.search(r"\w", match[0]).start()
    at = segment.line + segment.text.count("\n", 0, begin)
    lines = text.split("\n")
    word = re.findall(r"[\w']+", match[0])[0].casefold()
    for number in [at, *range(segment.line, segment.last + 1)]:
        if number <= len(lines) and word in lines[number - 1].casefold():
            return number
    return segment.line


def read_exemptions(path: Path) -> list[Exemption]:
    """The list of exemptions.

    Raises:
        ValueError: a line has another form than ``file: phrase: reason``.
    """
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split(": ", 2)]
        if len(fields) < 3 or not all(fields):
            raise ValueError(f"{path.name}:{number}: {line!r}; write 'file: phrase: reason'.")
        found.append(Exemption(number, *fields))
    return found


# ---- which files -----------------------------------------------------------------------------------------------

_SUFFIXES = {".md", ".py", ".toml", ".c", ".h", ".js", ".css"}
_SKIPPED = {"build", "dist", "__pycache__", "node_modules"}


def files(paths: Sequence[Path]) -> list[Path]:
    """Files with prose, in `paths` and the folders among them."""
    found: list[Path] = []
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        found += [
            one
            for one in inside
            if (one.suffix in _SUFFIXES or one.name == "Makefile")
            and one.is_file()
            and path / "site" not in one.parents  # what `make site` builds
            and not any(
                part in _SKIPPED or part.startswith(".") or part.endswith(".egg-info")
                for part in one.relative_to(path).parts
            )
        ]
    # This file and its tests quote what they search for.
    return [one for one in found if one.name not in {"prose.py", "test_prose.py"}]


def main(arguments: Sequence[str]) -> int:
    """Print the hits; 1 if there are any, or if an exemption is out of date."""
    exemptions = read_exemptions(ALLOWED)
    found: list[Hit] = []
    read = []
    for path in files([Path(one) for one in arguments] or [ROOT]):
        absolute = path.resolve()
        name = absolute.relative_to(ROOT).as_posix() if absolute.is_relative_to(ROOT) else str(path)
        read.append(name)
        found += hits(name, path.read_text("utf-8"), exemptions)
    unused = [
        one for one in exemptions
        if not one.used and (not arguments or any(fnmatch(name, one.file) for name in read))
    ]  # fmt: skip
    for hit in found:
        print(hit)
    for one in unused:
        print(
            f"{ALLOWED.name}:{one.line}: {one.phrase!r} matches nothing in {one.file}: remove the line"
        )
    if found or unused:
        print(
            f"{len(found)} phrases in {len({hit.file for hit in found})} files; {len(unused)} exemptions out of date.",
            file=sys.stderr,
        )
    return int(bool(found or unused))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
