"""Trainers by name, from the installed packages, and their settings."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from neurogym_core import InvalidValueError, MissingDependencyError, NotSupportedError
from neurogym_core.tools import brought, comes_with, load, offers_of, unknown
from neurogym_training.training import Trainer

GROUP = "neurogym.trainers"


def trainer_names() -> list[str]:
    """Return the names of all trainers of installed packages, without importing them."""
    return sorted({offer.name for offer in offers_of(GROUP)})


def trainer_named(name: str, kind: str | None = None) -> type[Trainer]:
    """Import and return the class of a trainer.

    Args:
        name: as in the entry point, e.g. "rnn".
        kind: "model" or "algo", to accept only this kind.

    Raises:
        MissingDependencyError: a package of this project offers it, and is not installed.
        UnknownNameError: no known package offers it.
        BrokenTaskError, IncompatibleTaskError: its package cannot be loaded.
        NotSupportedError: it is not a `Trainer`, or is of the other kind.
    """
    offers = [offer for offer in offers_of(GROUP) if offer.name == name]
    if not offers:
        package = brought("trainers").get(name)
        if package is not None:
            raise MissingDependencyError(f"The trainer {comes_with(name, package)}.")
        raise unknown("trainer", name, trainer_names())
    found = load(offers[0])
    if not (isinstance(found, type) and issubclass(found, Trainer)):
        raise NotSupportedError(
            f"{offers[0].value} is not a trainer. Expected a subclass of neurogym_training.Trainer."
            " Correct the entry point."
        )
    if kind is not None and found.kind != kind:
        raise NotSupportedError(
            f"{name!r} is {_KINDS[found.kind]}. Expected {_KINDS[kind]}. Choose it with"
            f" --{found.kind} {name}."
        )
    return found


_KINDS = {
    "model": "a network that is trained on targets",
    "algo": "an algorithm that learns from reward",
}


def settings_of(trainer: type[Trainer]) -> dict[str, inspect.Parameter]:
    """Return the settings of a trainer: name -> parameter with its default.

    Its own come first, then those of its base classes, as far as it passes them on in ``**``.
    """
    found: dict[str, inspect.Parameter] = {}
    for cls in trainer.__mro__:
        if "__init__" not in vars(cls):
            continue
        parameters = inspect.signature(cls.__init__).parameters.values()
        found = {
            parameter.name: parameter
            for parameter in parameters
            if parameter.kind is parameter.KEYWORD_ONLY
        } | found
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            break
    return found


def checked_settings(trainer: type[Trainer], name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings after checking them, with whole numbers as int.

    Raises:
        UnknownNameError: the trainer has no such setting.
        InvalidValueError: a value of another type than the default.
    """
    known = settings_of(trainer)
    checked = {}
    for key, value in given.items():
        if key not in known:
            raise unknown("option", key, known, of=name)
        checked[key] = _conform(name, key, value, known[key].default)
    return checked


def _conform(owner: str, name: str, value: Any, default: Any) -> Any:
    if isinstance(default, bool) or isinstance(value, bool):
        fits = isinstance(value, bool) and (default is None or isinstance(default, bool))
    elif isinstance(default, int):
        fits = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        value = int(value) if fits else value
    elif isinstance(default, float):
        fits = isinstance(value, int | float)
        value = float(value) if fits else value
    else:
        fits = default is None or value is None or isinstance(value, type(default))
    if not fits:
        raise InvalidValueError(
            f"{owner} was given {name}={value!r}; it needs a value like its default {default!r}."
        )
    return value
