"""Subjects of packages: found by name, imported when they play, never instead of the core's."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from neurogym_core import Choice, Task, errors, run, subjects
from neurogym_core.ecosystem import names
from neurogym_core.ecosystem.discovery import find_subject, subject_names
from neurogym_core.ecosystem.settings_text import named_subject
from neurogym_core.tools import installed, load

GROUP = "neurogym.subjects"
SOURCE = """
import numpy as np
from neurogym_core import Subject

class Lefty(Subject):
    def __call__(self, env, observations):
        return np.full(env.num_envs, 1)

class Plain:
    pass
"""


class Sides(Task):
    """Left or right, as is shown."""

    timing = {"decision": 100}

    def define(self):
        self.observe(stimulus=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice([0, 1]))

    def new_trial(self, trial):
        trial.periods("decision")
        trial.show("stimulus", np.eye(2)[trial["side"]], during="decision")
        trial.answer("choose", trial["side"], during="decision")


def add(site, package="neurogym-lab", **offered: str) -> None:
    module = package.replace("-", "_")
    values = {name: f"{module}.players:{value}" for name, value in offered.items()}
    site.add(package, groups={GROUP: values}, files={"players.py": SOURCE})


def test_a_subject_of_an_installed_package_plays_by_its_name(site):
    add(site, lefty="Lefty")
    record = run(Sides(), "lefty", 20, seed=1)
    assert set(record.codes().tolist()) == {0}


def test_the_names_are_known_without_importing_the_package(site):
    add(site, lefty="Lefty")
    assert subject_names() == (*names.SUBJECTS, "lefty")
    assert find_subject("lefty").distribution == "neurogym-lab"
    assert "neurogym_lab" not in sys.modules


def test_the_names_of_the_core_are_those_of_its_subjects():
    assert set(names.SUBJECTS) == set(subjects.SUBJECTS)


def test_the_settings_in_help_texts_are_those_of_the_classes():
    for name, cls in subjects.SUBJECTS.items():
        shown = ", ".join(f"{key}={value}" for key, value in subjects.settings_of(cls).items())
        assert names.SUBJECTS[name].partition(" Settings: ")[2] == (f"{shown}." if shown else "")


@pytest.mark.parametrize("name", names.brought("subjects"))
def test_the_settings_in_help_texts_of_packages_are_those_of_their_classes(name):
    try:
        offer = find_subject(name)
    except errors.UnknownNameError:
        pytest.skip("its package is not installed")
    shown = names.helps("subjects")[name].partition("Settings: ")[2].rstrip(".").split(", ")
    named = {one.partition("=")[0]: one.partition("=")[2] for one in shown if one}
    own = subjects.settings_of(load(offer))
    assert named == {key: "" if one is None else str(one) for key, one in own.items()}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("oracle", ("oracle", {})),
        ("a:b=1,c=.5", ("a", {"b": 1, "c": ".5"})),
        ("a: b = 0.5 , c = word", ("a", {"b": 0.5, "c": "word"})),
        ("a:b=[1, 2],c=true", ("a", {"b": [1, 2], "c": True})),
        ('a:b="1"', ("a", {"b": "1"})),
    ],
)
def test_settings_are_read_from_the_name_of_a_subject(text, read):
    assert named_subject(text) == read


def test_a_subject_of_a_package_carries_state_unless_it_says_otherwise(site):
    add(site, lefty="Lefty")
    assert subjects.subject_named("lefty").carries_state
    assert not any(cls.carries_state for cls in subjects.SUBJECTS.values())


def test_no_package_takes_the_name_of_a_core_subject(site):
    add(site, oracle="Lefty")
    (offer,) = next(
        one for one in installed().packages if one.distribution == "neurogym-lab"
    ).subjects
    assert not offer.usable
    assert "subject of the core" in str(offer.problems[-1])
    assert type(subjects.subject_named("oracle")) is subjects.Oracle
    assert subject_names() == tuple(names.SUBJECTS)


def test_a_class_of_a_file_is_no_subject_of_a_command():
    with pytest.raises(errors.InvalidValueError, match=r"is a class of a file\. Expected the name"):
        named_subject("probe.py:Cheat")


def test_a_stranger_does_not_switch_off_a_subject_of_this_project(site):
    add(site, "neurogym-aaa", integrator="Plain")
    add(site, "neurogym-likeness", integrator="Lefty")
    assert "integrator" in subject_names()
    assert find_subject("integrator").distribution == "neurogym-likeness"
    (offer,) = next(
        one for one in installed().packages if one.distribution == "neurogym-aaa"
    ).subjects
    assert not offer.usable
    assert "a subject of neurogym-likeness" in str(offer.problems[-1])


def test_of_a_subject_that_two_packages_claim_neither_is_used(site):
    add(site, lefty="Lefty")
    add(site, "neurogym-other", lefty="Lefty")
    assert subject_names() == tuple(names.SUBJECTS)
    with pytest.raises(errors.BrokenTaskError, match="claimed by 'neurogym-lab', 'neurogym-other'"):
        run(Sides(), "lefty", 1)


def test_a_blocked_package_brings_no_subject(site, monkeypatch):
    add(site, lefty="Lefty")
    monkeypatch.setenv("NGYM_BLOCK", "neurogym-lab")
    with pytest.raises(errors.UnknownNameError, match="Unknown subject 'lefty'"):
        run(Sides(), "lefty", 1)


def test_an_object_that_is_no_subject_is_an_error_with_its_package(site):
    add(site, nobody="Plain")
    with pytest.raises(errors.NotSupportedError, match="neurogym-lab was offered as the subject"):
        run(Sides(), "nobody", 1)


@pytest.mark.parametrize("name", names.brought("subjects"))
def test_a_learner_without_its_package_names_the_package(site, name):
    with pytest.raises(errors.UnknownNameError) as caught:
        run(Sides(), name, 1)
    others = {"llm": "neurogym-llm", "trained": "neurogym-training"}
    package = others.get(name, "neurogym-likeness")
    assert str(caught.value) == names.comes_with(name, package)


def test_a_mistyped_name_is_answered_with_the_nearest(site):
    add(site, lefty="Lefty")
    with pytest.raises(errors.UnknownNameError, match="Did you mean 'lefty'"):
        run(Sides(), "leftie", 1)


@pytest.mark.parametrize("name", ["Lefty", "left-y", "2lefts"])
def test_names_are_lower_case_words(site, name):
    add(site, **{name: "Lefty"})
    assert subject_names() == tuple(names.SUBJECTS)
