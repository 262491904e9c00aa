"""`describe` writes the types and texts of parameters as in the source."""

import neurogym_core as core
from neurogym_core.tools import describe


class Plain(core.Task):  # no `from __future__ import annotations` here: annotations are types
    """One step without answers."""

    gain: float = 1.0
    levels: tuple[float, ...] = (1.0, 2.0)
    label: str | None = None
    written: "int" = 3

    timing = {"wait": 100}

    def define(self):
        self.observe(light=1)
        self.act(rest=1, go=1)

    def new_trial(self, trial):
        trial.periods("wait")


def test_types_are_written_as_in_the_source():
    types = {row["name"]: row["type"] for row in describe(Plain())["parameters"]}
    assert types["gain"] == "float"
    assert types["levels"] == "tuple[float, ...]"
    assert types["label"] == "str | None"
    assert types["written"] == "int"
    assert types["dt"] == "float"


class Base(Plain):
    """One step without answers.

    Args:
        gain: factor on the light.
        levels: heights of the light, %.
    """


class Derived(Base):
    """As Base.

    Args:
        gain, label: as in Base.
        levels: heights of the light, as in Base but twice as many.
    """


def test_a_reference_to_a_base_class_keeps_the_text_of_the_base():
    docs = {row["name"]: row["doc"] for row in describe(Derived())["parameters"]}
    assert docs["gain"] == "factor on the light."
    assert docs["label"] == "as in Base."  # no base describes it
    assert docs["levels"] == "heights of the light, as in Base but twice as many."
