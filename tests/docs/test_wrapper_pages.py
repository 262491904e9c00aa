"""Every wrapper of the core and of neurogym-wrappers has a page that its class and manifest say,
with a picture, and every word of code runs.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from click.testing import CliRunner
from scripts import loaded

from neurogym_core.cli import main
from neurogym_core.ecosystem.discovery import installed, load_wrapper

DOCS = Path(__file__).resolve().parents[2] / "docs"
OWN = {info.name: info for info in installed().wrappers if info.namespace in ("core", "wrappers")}


pages = loaded("wrapper_pages")
snippets = loaded(Path(__file__).with_name("test_snippets.py"))


def test_every_wrapper_has_a_page():
    assert set(pages.NAMES) == set(OWN)
    assert {path.stem for path in (DOCS / "wrappers").glob("*.md")} == {
        pages.stem_of(name) for name in OWN
    }


@pytest.mark.parametrize("name", sorted(OWN))
def test_the_page_says_what_the_class_and_the_manifest_say(name):
    page = DOCS / "wrappers" / f"{pages.stem_of(name)}.md"
    text, info = page.read_text("utf-8"), OWN[name]
    assert text == pages.page_of(name), "python docs/_make/wrapper_pages.py"
    assert text.startswith(f"# {name}\n\n`{info.id}`, a wrapper of ")
    assert info.summary in text.split("```")[0]


@pytest.mark.parametrize("name", sorted(OWN))
def test_the_code_of_a_page_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    snippets.play_page(DOCS / "wrappers" / f"{pages.stem_of(name)}.md")


@pytest.mark.parametrize("name", sorted({*OWN} - {*pages.NOT_DRAWN}))
def test_the_picture_shows_before_and_after(name):
    picture = DOCS / "images" / "wrappers" / f"{pages.stem_of(name)}.svg"
    root = ET.parse(picture).getroot()
    panels = [child for child in root if child.tag.endswith("}g")]
    assert [panel[0].text.partition(",")[0] for panel in panels] == ["before", "after"]
    assert picture.stat().st_size < 20_000
    before, after = ([ET.tostring(part) for part in panel][1:] for panel in panels)
    assert before != after, "a picture of nothing: add it to NOT_DRAWN"


@pytest.mark.parametrize("name", sorted({*OWN} - {*pages.NOT_DRAWN}))
def test_the_caption_has_values_that_are_played_again(name):
    caption = pages.caption_of(pages.stem_of(name))
    drawn = ET.fromstring(pages.picture_of(name))
    assert drawn[0].text == caption, "python docs/_make/wrapper_pages.py"
    words = [child.text for child in drawn if child.tag.endswith("}text")]
    assert " ".join(words) == caption
    named = ("further channel", "right action is left before, and right after")
    assert len(re.findall(r"\d+", caption)) >= 2 or any(one in caption for one in named)


def test_a_wrapper_whose_effect_cannot_be_drawn_has_no_picture():
    drawn = {path.stem for path in (DOCS / "images" / "wrappers").glob("*.svg")}
    assert drawn == {pages.stem_of(name) for name in {*OWN} - {*pages.NOT_DRAWN}}


def test_it_links_to_the_page_of_every_wrapper():
    text = (DOCS / "assemble-a-task.md").read_text("utf-8")
    for name in OWN:
        assert f"[{name}](wrappers/{pages.stem_of(name)}.md)" in text


FORMER = sorted((alias, info.name) for info in OWN.values() for alias in info.aliases)


@pytest.mark.parametrize(("alias", "now"), FORMER)
def test_a_former_name_answers_with_what_it_is_now(alias, now):
    done = CliRunner().invoke(main, ["info", alias], prog_name="ngym", env={"COLUMNS": "140"})
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"{OWN[now].id}\n")
    assert f"{alias} is now {OWN[now].id}, with {OWN[now].presets[alias]}" in " ".join(
        done.output.split()
    )


@pytest.mark.parametrize(("alias", "now"), FORMER)
def test_the_preset_of_a_former_name_can_be_applied(alias, now, tmp_path, monkeypatch):
    """The argument of ``--wrap``."""
    monkeypatch.chdir(tmp_path)
    preset = OWN[now].presets[alias]
    task, more = "perceptual/NAltPerceptualDecisionMaking-v0", ["--set", "alternatives=4"]
    if now in ("Curriculum", "TrialHistory", "AnswerProbabilities"):
        task, more = "perceptual/PerceptualDecisionMaking-v0", ["--timing", "delay=500"]
    if now == "Combine":
        task, more = "memory/DelayComparison-v0", ["--timing", "delay=3000"]
    done = CliRunner().invoke(
        main, ["run", task, *more, "--wrap", f"{now}:{preset}", "--n-trials", "2"], prog_name="ngym"
    )
    assert done.exit_code == 0, done.output


def test_names_that_every_version_of_neurogym_used_are_known():
    """Those of the catalogue, but for no-ops and those of other packages."""
    once = (
        "RandomGroundTruth ScheduleAttr ScheduleEnvs MultiEnvs TrialHistoryV2 SideBias Noise"
        " PassAction PassReward ReactionTime Monitor TrialHistory TrialHistoryEvolution"
        " TrialHistory_NAlt TrHReset TrialHistoryObsolete Variable_nch VariableMapping TimeOut"
        " CatchTrials MissTrialReward TransferLearning Combine compose CurriculumLearning Shaping"
        " ManageData TTLPulse"
    )
    known = {*OWN, *(alias for info in OWN.values() for alias in info.aliases)}
    assert set(once.split()) <= known
    assert all(load_wrapper(name) for name in OWN)
