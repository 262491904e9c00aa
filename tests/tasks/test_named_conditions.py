"""Imposing conditions whose values are names."""

from __future__ import annotations

import pytest

from neurogym_core import Choice, Task
from neurogym_core.errors import UnknownNameError


class Named(Task):
    """A trial with a named condition."""

    def define(self):
        self.observe(light=1)
        self.act(rest=1, choose=2)
        self.vary(rule=Choice(("pro", "anti", "none")))

    def new_trial(self, trial):
        trial.periods("only", only=100)
        trial.show("light", 1, during="only", where=trial["rule"] == "pro")


@pytest.mark.parametrize(
    ("imposed", "drawn"),
    [
        ("pro", {"pro"}),
        (["pro", "anti"], {"pro", "anti"}),
        (("pro", "anti"), {"pro", "anti"}),
        (Choice(("pro", "none")), {"pro", "none"}),
        ({"choice": [["anti", "none"]]}, {"anti", "none"}),
    ],
)
def test_one_name_several_or_a_distribution(imposed, drawn):
    assert set(Named(conditions={"rule": imposed}).sample(50, seed=1).conditions["rule"]) == drawn


@pytest.mark.parametrize("imposed", ["prp", ["pro", "prp"]])
def test_an_unknown_name_is_an_error_with_the_nearest_right_one(imposed):
    with pytest.raises(UnknownNameError, match="'pro'"):
        Named(conditions={"rule": imposed})
