"""Pictograms of the list of tasks: one for each task, of its stimuli or its channels."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest
from scripts import loaded

from neurogym_core import Task
from neurogym_core.tools import describe, find_task, installed, load_task

maker = loaded("pictograms")
TABLED = [one.id for one in installed().tasks if issubclass(load_task(one.id), Task)]
CHANNELS = [
    {"name": "fixation", "kind": "Scalar", "start": 0, "stop": 1},
    {"name": "stimulus", "kind": "Ring", "start": 1, "stop": 9},
]


def of_task(task: str) -> str:
    return maker.pictogram(find_task(task).view, describe(load_task(task))["channels"])


def kinds(text: str) -> set[str]:
    return {one.tag.partition("}")[2] for one in ET.fromstring(text).iter()}


def test_every_task_has_a_small_one_that_asks_for_no_other_file():
    for task in TABLED:
        text = of_task(task)
        assert {"circle", "path", "text", "polygon"} & kinds(text)
        assert text.count("://") == 1, task  # the name of SVG
        assert len(text) < 20_000, task


@pytest.mark.parametrize(
    ("task", "inside"),
    [
        ("cognition/Stroop-v0", ">red</text>"),
        ("perceptual/PerceptualDecisionMaking-v0", 'r="0.07"'),
        ("ibl/IBLTwoChoice-v0", 'fill="#666"'),
        ("cognition/Flanker-v0", "<polygon"),
        ("memory/ColourWheel-v0", "hsl(345 90% 76%)"),
    ],
)
def test_it_shows_what_the_task_shows(task: str, inside: str):
    assert inside in of_task(task)


def test_drawings_of_a_view_all_differ():
    found = set()
    for draw in maker.DRAWN:
        view: dict[str, Any] = {"stimuli": [{"draw": draw, "channel": "stimulus"}]}
        found.add(maker.pictogram(view, CHANNELS))
    assert len(found) == len(maker.DRAWN)


def test_a_second_stimulus_at_a_place_does_not_hide_the_first():
    first = {"draw": "words", "words": ["A"], "channel": "stimulus"}
    second = {"draw": "words", "words": ["B"], "channel": "fixation"}
    text = maker.pictogram({"stimuli": [first, second]}, CHANNELS)
    assert (">A<" in text, ">B<" in text) == (True, False)


def test_a_task_without_stimuli_has_lamps_one_of_which_is_lit_in_each_channel():
    text = maker.pictogram({}, CHANNELS)
    lamps = [one.get("fill") for one in ET.fromstring(text).iter() if "circle" in one.tag]
    assert len(lamps) == 1 + 8
    assert lamps.count(maker.INKS["yellow"]) == 2
