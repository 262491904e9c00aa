"""`docs/publishing.md` has a row for each package, as its pyproject.toml has it."""

from __future__ import annotations

import re
from pathlib import Path

from scripts import loaded

ROOT = Path(__file__).resolve().parents[2]
maker = loaded("publishing")


def test_the_table_is_fresh() -> None:
    assert maker.TARGET.read_text("utf-8") == maker.page(), (
        "run `python docs/_make/publishing.py`, and commit docs/publishing.md"
    )


def test_every_package_has_a_row_behind_those_that_it_requires() -> None:
    rows = re.findall(
        r"^\| (\d) \| `([\w-]+)` \| `\w+` \| (.+?) \|", maker.TARGET.read_text("utf-8"), flags=re.M
    )
    folders = [path.parent.name for path in ROOT.glob("plugins/*/pyproject.toml")]
    assert sorted(name for _, name, _ in rows) == sorted(["neurogym-core", *folders])
    step = {name.removeprefix("neurogym-"): int(number) for number, name, _ in rows}
    for number, name, required in rows:
        for one in [] if required == "–" else required.split(", "):
            assert step[one] < int(number), name


def test_what_the_page_says_of_files_and_settings_is_true() -> None:
    text = maker.TARGET.read_text("utf-8")
    workflow = (ROOT / ".github" / "workflows" / "publish.yml").read_text("utf-8")
    for word in ("environment: pypi", "vars.PUBLISH == 'yes'", 'tags: ["v*", "neurogym-*-v*"]'):
        assert word in workflow
    for place in re.findall(r"`((?:\.ci|\.github|tests|docs|neurogym_core)/[\w./-]+)", text):
        assert (ROOT / place).exists(), place
    for option in re.findall(r"--[a-z][\w-]+", text):
        assert option in (ROOT / ".ci" / "release_check.py").read_text("utf-8"), option
