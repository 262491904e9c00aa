"""Write ``docs/decisions/README.md``, the index of the decisions, from their pages.

Run it with ``python docs/_make/decisions.py``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from markdown_parts import continued, table

FOLDER = Path(__file__).resolve().parents[1] / "decisions"
TARGET = FOLDER / "README.md"
SECTIONS = ("Context", "Decision", "Consequences", "Rejected")

_FILE = re.compile(r"(\d{4})-[a-z0-9-]+\.md")
_HEAD = re.compile(r"# (?P<title>.+)\n\n- Date: (?P<date>.+)\n- Status: (?P<status>(?:.+\n)+)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_STATUS = re.compile(r"accepted|deprecated|superseded by \[\d+\]\((\d{4}-[a-z0-9-]+\.md)\)")


@dataclass(frozen=True)
class Decision:
    """Fields of the page of a decision.

    Args:
        path: the file.
        title: its heading.
        date: ISO date of the decision.
        status: text after "Status:", on one line.
        sections: text of each section by its heading, in order.
    """

    path: Path
    title: str
    date: str
    status: str
    sections: dict[str, str]

    @property
    def number(self) -> int:
        """Number at the start of the file name."""
        return int(self.path.name[:4])

    @property
    def summary(self) -> str:
        """First sentence of the section "Decision"."""
        first = " ".join(self.sections["Decision"].split("\n\n")[0].split())
        return re.split(r"(?<=[.!?]) (?=[A-Z`\[])", first)[0].replace("|", "\\|").rstrip(":")


def read(path: Path) -> Decision:
    """Read the decision in a file.

    Raises:
        ValueError: a field of the page is missing or malformed.
    """
    text = path.read_text("utf-8")
    head = _HEAD.match(text)
    if head is None:
        raise ValueError(f"{path.name} does not begin with a title, '- Date:' and '- Status:'.")
    body = re.split(r"^## (.+)\n", text[head.end() :], flags=re.MULTILINE)
    sections = dict(zip(body[1::2], (one.strip() for one in body[2::2]), strict=True))
    status = " ".join(head["status"].split())
    if not _DATE.fullmatch(head["date"]):
        raise ValueError(f"{path.name} has the date {head['date']!r}; write it as 2026-01-31.")
    known = _STATUS.match(status)
    if known is None:
        raise ValueError(
            f"{path.name} has the status {status!r}; write 'accepted', 'deprecated' or"
            " 'superseded by [25](0025-….md)'."
        )
    if known[1] and not (path.parent / known[1]).is_file():
        raise ValueError(f"{path.name} is superseded by {known[1]}, which does not exist.")
    for name in SECTIONS:
        if not sections.get(name):
            raise ValueError(f"{path.name} lacks the section '## {name}', or it is empty.")
    return Decision(path, head["title"], head["date"], status, sections)


def decisions(folder: Path = FOLDER) -> list[Decision]:
    """Return all decisions, sorted by number.

    Raises:
        ValueError: a page lacks a field, or two pages have the same number.
    """
    found = [read(path) for path in sorted(folder.glob("*.md")) if path.name != TARGET.name]
    wrong = [one.path.name for one in found if not _FILE.fullmatch(one.path.name)]
    if wrong:
        raise ValueError(f"{', '.join(wrong)}: a decision's file is named 0042-some-words.md.")
    numbers = [one.number for one in found]
    twice = sorted({number for number in numbers if numbers.count(number) > 1})
    if twice:
        raise ValueError(f"Two decisions have the number {twice[0]}; give the later one the next.")
    return found


def page(folder: Path = FOLDER) -> str:
    """Return the index."""
    rows = (
        (
            str(one.number), f"[{one.title}]({one.path.name})", one.date,
            _short(one.status), one.summary,
        )
        for one in decisions(folder)
    )  # fmt: skip
    return continued(TARGET, table(("number", "decision", "date", "status", "in short"), rows))


def _short(status: str) -> str:
    """Return the first sentence of a status."""
    return re.split(r"\. ", status)[0].rstrip(".")


if __name__ == "__main__":
    TARGET.write_text(page(), "utf-8")
