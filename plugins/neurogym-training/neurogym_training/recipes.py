"""Recipes of trainings: experiment files that packages offer, such as the training of a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from neurogym_core import InvalidValueError
from neurogym_core.tools import find_task, is_file_reference, load, offers_of, unknown
from neurogym_training.experiment import read_experiment

GROUP = "neurogym.recipes"
"""Entry points of recipes: ``name = "module:PATH"``, a path of an experiment file."""


def recipe_names() -> list[str]:
    """Return the names of the recipes of installed packages."""
    return sorted({offer.name for offer in offers_of(GROUP)})


def recipe_file(name: str) -> Path:
    """Return the experiment file of a recipe.

    Raises:
        UnknownNameError: no installed package offers it.
        BrokenTaskError, IncompatibleTaskError: its package cannot be loaded.
        InvalidValueError: its package has no such file.
    """
    offers = {offer.name: offer for offer in offers_of(GROUP)}
    if name not in offers:
        raise unknown("recipe of a training", name, recipe_names())
    path = load(offers[name])
    if not isinstance(path, Path) or not path.is_file():
        raise InvalidValueError(
            f"The recipe {name!r} is {path!r} of {offers[name].value}. Expected the path of a file."
            " Install its package again, or ask its author."
        )
    return path


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
