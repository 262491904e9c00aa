"""Recipes of trainings: files of packages, for their tasks, some of them, or others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from neurogym_training import recipes
from neurogym_training.recipes import recipe_file, recipe_for, recipe_names

from neurogym_core import InvalidValueError, UnknownNameError


def names(said):
    return [one if isinstance(one, str) else one["task"] for one in said["tasks"]]


def test_a_recipe_has_its_tasks_with_their_parameters_and_shares():
    assert "yang19" in recipe_names()
    said = recipe_for("yang19", [])
    assert len(set(names(said))) == 20
    assert said["set"] == {"rule_input": False}
    assert said["options"]["shares"] == {"CtxDM1": 5, "CtxDM2": 5}


def test_some_of_its_tasks_keep_what_is_theirs():
    said = recipe_for("yang19", ["CtxDM1-v0", "yang19/Go-v0"])
    assert names(said) == ["yang19/Go-v0", "yang19/CtxDM1-v0"]
    assert said["set"] == {"rule_input": False}
    assert said["options"]["shares"] == {"CtxDM1": 5}


def test_other_tasks_have_the_settings_of_the_trainer_alone():
    task = "perceptual/PerceptualDecisionMaking-v0"
    said = recipe_for("yang19", [task, "yang19/CtxDM1-v0"])
    assert names(said) == [task, "yang19/CtxDM1-v0"]
    assert said["set"] == {}
    assert "shares" not in said["options"]
    assert said["options"]["hidden"] == 256


def test_unknown_recipes_and_lost_files_are_said(monkeypatch, tmp_path):
    with pytest.raises(UnknownNameError, match="Did you mean 'yang19'"):
        recipe_file("yang91")
    for other in (tmp_path / "lost.toml", "training.toml"):
        monkeypatch.setattr(recipes, "load", lambda offer, other=other: other)
        with pytest.raises(InvalidValueError, match="Expected the path of a file"):
            recipe_file("yang19")


def test_a_recipe_for_another_trainer_or_beside_a_file_is_refused(toys, ngym):
    code, said = ngym(
        "train", "yang19", "--recipe", "yang19", "--model", "toy", "--updates", 10, "--out", "run",
        "--quiet",
    )  # fmt: skip
    assert code != 0  # the settings of the recipe are those of rnn
    assert "hidden" in said
    assert not Path("run").exists()
    code, said = ngym("train", "x.toml", "--recipe", "yang19", "--out", "run")
    assert code == 2
    assert "Expected one of them" in said


def test_a_group_of_tasks_is_all_of_them(toys, ngym):
    code, said = ngym(
        "train", "yang19", "--model", "toy", "--updates", 10, "--out", "run", "--quiet"
    )
    assert code == 0, said
    settings = json.loads(Path("run/settings.json").read_text("utf-8"))
    assert len(settings["experiment"]["tasks"]) == 20
