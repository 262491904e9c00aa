"""Every decision has its fields, and the index lists it as its page does."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from scripts import loaded

DOCS = Path(__file__).resolve().parents[2] / "docs"
GOOD = """# A title

- Date: 2026-01-31
- Status: accepted. Adds to an earlier one.

## Context

Why.

## Decision

Do this. Then that.

## Consequences

- 3 ms.

## Rejected

- *Nothing*: slow.
"""


@pytest.fixture(scope="module")
def maker():
    return loaded("decisions")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "0001-a-title.md").write_text(GOOD, "utf-8")
    return tmp_path


def test_the_index_is_fresh(maker):
    assert maker.TARGET.read_text("utf-8") == maker.page(), (
        "run `python docs/_make/decisions.py`, and commit docs/decisions/README.md"
    )


def test_a_decision_about_a_part_that_is_gone_is_superseded(maker):
    """Words in code quotes of a decision that holds are words of the repository."""
    kinds = ["*.py", "*.pyx", "*.c", "*.h", "*.toml", "Makefile", "*.yml", "*.js", "*.md"]
    files = subprocess.run(
        ["git", "ls-files", *kinds],
        cwd=DOCS.parent, check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    texts = [
        (DOCS.parent / name).read_text("utf-8")
        for name in files
        if not name.startswith(("docs/decisions", "CHANGELOG")) and (DOCS.parent / name).is_file()
    ]
    known = set(re.findall(r"\w+", " ".join(texts)))
    gone = {
        (one.path.name, word)
        for one in maker.decisions()
        if one.status.startswith("accepted")
        for sentence in re.split(r"(?<=[.!?])\s", one.sections["Decision"])
        if not re.search(r"\b(?:gone|no|removed|was|were)\b", sentence)  # it names former parts
        for code in re.findall(r"`([^`\n]+)`", sentence)
        for word in re.findall(r"[A-Za-z_]\w{3,}", code)
        if word not in known
    }
    assert gone == set(), (
        "mark the decision 'superseded by …', or name the part as it is called now"
    )


def test_a_superseded_decision_is_named_by_its_successor(maker):
    for one in maker.decisions():
        successor = maker._STATUS.match(one.status)[1]
        if successor:
            assert one.path.name in maker.read(maker.FOLDER / successor).status, one.path.name


def test_a_row_has_number_title_date_status_and_first_sentence(maker, folder):
    row = "| 1 | [A title](0001-a-title.md) | 2026-01-31 | accepted | Do this. |"
    assert maker.page(folder).endswith(row + "\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("- Date: 2026-01-31\n", ""), "does not begin with"),
        (("2026-01-31", "January"), "has the date 'January'"),
        (("- Status: accepted. Adds to an earlier one.\n", ""), "does not begin with"),
        (("accepted.", "done."), "has the status"),
        (("accepted.", "superseded by [2](0002-gone.md)."), "which does not exist"),
        (("## Context\n\nWhy.\n", ""), "lacks the section '## Context'"),
        (("## Decision\n\nDo this. Then that.\n", ""), "lacks the section '## Decision'"),
        (("- 3 ms.\n", ""), "lacks the section '## Consequences'"),
        (("## Rejected", "## Other"), "lacks the section '## Rejected'"),
    ],
)
def test_a_page_without_a_field_is_refused(maker, folder, change, message):
    assert change[0] in GOOD
    (folder / "0001-a-title.md").write_text(GOOD.replace(*change), "utf-8")
    with pytest.raises(ValueError, match=message):
        maker.decisions(folder)


def test_two_decisions_with_one_number_are_refused(maker, folder):
    shutil.copy(folder / "0001-a-title.md", folder / "0001-another.md")
    with pytest.raises(ValueError, match="Two decisions have the number 1"):
        maker.decisions(folder)


def test_a_file_name_without_a_number_is_refused(maker, folder):
    shutil.copy(folder / "0001-a-title.md", folder / "notes.md")
    with pytest.raises(ValueError, match=r"notes\.md"):
        maker.decisions(folder)
