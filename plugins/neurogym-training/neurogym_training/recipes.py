"""Recipes of trainings: experiment files that packages offer, such as the training of a paper."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from neurogym_core import InvalidValueError
from neurogym_core.tools import find_task, is_file_reference, offers_of, unknown
from neurogym_training.experiment import read_experiment

GROUP = "neurogym.recipes"
"""Entry points of recipes: ``name = "package:file.toml"``."""


def recipe_names() -> list[str]:
    """Return the names of the recipes of installed packages."""
    return sorted({offer.name for offer in offers_of(GROUP)})


def recipe_file(name: str) -> Path:
    """Return the experiment file of a recipe, without importing its package.

    Raises:
        UnknownNameError: no installed package offers it.
        InvalidValueError: its package has no such file.
    """
    values = {offer.name: offer.value for offer in offers_of(GROUP)}
    if name not in values:
        raise unknown("recipe of a training", name, recipe_names())
    package, _, file = values[name].partition(":")
    spec = importlib.util.find_spec(package.partition(".")[0])
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder, *package.split(".")[1:], file)
        if path.is_file():
            return path
    raise InvalidValueError(
        f"The recipe {name!r} is {values[name]!r}, which does not exist. Expected a file of its"
        " package, as package:file.toml. Install the package again, or ask its author."
    )


def recipe_for(name: str, tasks: list[str]) -> dict[str, Any]:
    """Return the contents of a recipe as `read_experiment` does, for all or some of its tasks, or
    for others.

    Some tasks keep their parameters and shares. Other tasks have neither: only the settings of the
    trainer are theirs.

    Args:
        name: name of the recipe.
        tasks: names of tasks; none: those of the recipe.
    """
    said = read_experiment(recipe_file(name))
    own = [task if isinstance(task, str) else task["task"] for task in said["tasks"]]
    if not tasks:
        return said
    tasks = [name if is_file_reference(name) else find_task(name).id for name in tasks]
    known = set(tasks) <= set(own)
    entries = zip(own, said["tasks"], strict=True)
    said["tasks"] = [entry for id_, entry in entries if id_ in tasks] if known else tasks
    options = dict(said.get("options", {}))
    shares = options.pop("shares", None)
    if not known:
        said["set"] = {}
    elif isinstance(shares, dict):
        names = {_bare(task) for task in tasks}
        options["shares"] = {task: share for task, share in shares.items() if task in names}
    elif shares is not None:
        kept = zip(own, shares, strict=True)
        options["shares"] = tuple(share for task, share in kept if task in tasks)
    return {**said, "options": options}


def _bare(task: str) -> str:
    return task.rpartition("/")[2].rpartition("-v")[0]
