"""`Signature`: a published effect, the numbers of the animals, and the function of the effect."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from neurogym_behaviour.behaviour import Behaviour, CannotTellError
from neurogym_behaviour.measures import Measure

from neurogym_core import InvalidValueError, NotSupportedError, UnknownNameError
from neurogym_core.tools import load, offers_of, unknown

GROUP = "neurogym.signatures"
EXPECTS = ("positive", "negative", "none")
KEYS = {
    "title", "statistic", "citation", "doi", "species", "tasks", "axis", "choices", "unit",
    "expects", "least", "sign_only", "caution", "named", "sources", "animal",
}  # fmt: skip
REQUIRED = ("title", "statistic", "citation", "tasks", "expects", "least")
ANIMAL_KEYS = {"name", "value", "low", "high", "n", "source"}
SOURCE_KEYS = {"file", "commit", "figure", "licence", "how"}


@dataclass(frozen=True)
class Animal:
    """The published effect of one animal, person or group, with its 95 % interval.

    Attributes:
        low, high: the interval; of a group with `animals`, the range of 95 % of its animals.
        n: trials, or animals.
        source: name of its source in the signature.
        animals: number of animals in whose range low and high are; 1: an animal, or pooled ones.
    """

    name: str
    value: float
    low: float
    high: float
    n: int
    source: str
    animals: int = 1


@dataclass(frozen=True)
class Signature:
    """A published effect of behaviour.

    Attributes:
        name: name of the entry point.
        statistic: definition of the number, in a sentence.
        tasks: parts of the names of the tasks in which it can be measured.
        axis: name of the strength of the evidence that the animals' numbers need; empty: any.
        choices: number of choices that the statistic needs (a guess rate of 1/2: 2); 0: any.
        expects: sign of the effect; "none" for an effect of 0.
        least: smallest effect that counts; for "none", the largest effect that counts as none.
        compute: function from a `Behaviour` to the number with its interval.
        animals: numbers of the animals; empty if they could not be verified.
        sign_only: reason for the absence of animals.
        named: whether the task has to be known by its name, because its columns do not tell it from
            others.
        caution: limit of the verdict, in a sentence; "" without one.
        sources: name -> file and commit, or figure; licence; how the numbers were computed.
    """

    name: str
    title: str
    statistic: str
    citation: str
    tasks: tuple[str, ...]
    expects: Literal["positive", "negative", "none"]
    least: float
    compute: Callable[[Behaviour], Measure]
    doi: str = ""
    species: str = ""
    axis: str = ""
    choices: int = 0
    unit: str = ""
    animals: tuple[Animal, ...] = ()
    sign_only: str = ""
    caution: str = ""
    named: bool = False
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def applies_to(self, task: str) -> bool:
        """Return whether the signature can be measured in a task of this name."""
        name = task.rpartition("/")[2]
        return any(part in name for part in self.tasks)

    def measured(self, behaviour: Behaviour) -> Measure:
        """Return the effect in this behaviour.

        Raises:
            CannotTellError: the record lacks something, or is of another axis or number of choices.
        """
        if self.choices and behaviour.choices != self.choices:
            raise CannotTellError(
                f"the task has {behaviour.choices} choices; the signature needs {self.choices}"
            )
        if self.axis and self.axis not in behaviour.strength:
            raise CannotTellError(
                f"the strength is {behaviour.strength!r}; the signature needs {self.axis!r}"
            )
        try:
            found = self.compute(behaviour)
        except (InvalidValueError, UnknownNameError) as error:
            raise CannotTellError(str(error).split(". ")[0]) from error
        if not found.n or found.value != found.value:
            raise CannotTellError("too few trials")
        return found


def signature(file: str) -> Callable[[Callable[[Behaviour], Measure]], Signature]:
    """Return a decorator that makes a function the statistic of a signature.

    Args:
        file: TOML file with the data, beside the module of the function.

    Example:
        >>> from neurogym_likeness.signatures import signature
        >>> @signature("two-step-reward.toml")  # doctest: +SKIP
        ... def reward(behaviour):
        ...     return reward_transition(...)["reward"]
    """

    def decorate(compute: Callable[[Behaviour], Measure]) -> Signature:
        folder = Path(str(sys.modules[compute.__module__].__file__)).parent
        return read_signature(folder / file, compute)

    return decorate


def read_signature(path: Path, compute: Callable[[Behaviour], Measure]) -> Signature:
    """Return the signature of a TOML file and the function of its statistic.

    Raises:
        InvalidValueError: not TOML, or keys that are missing or wrong.
        UnknownNameError: an unknown key, source or sign.
    """
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidValueError(f"{path} is not TOML: {error}. Correct it.") from error
    _check(said, KEYS, path)
    missing = [name for name in REQUIRED if name not in said]
    if missing:
        raise InvalidValueError(f"{path} lacks {', '.join(missing)}. Expected all of them. Add it.")
    if said["expects"] not in EXPECTS:
        raise unknown("sign", said["expects"], EXPECTS, of=str(path))
    if not said["least"] > 0:
        raise InvalidValueError(
            f"{path} gives least = {said['least']}. Expected a number above 0. Correct it."
        )
    sources = dict(said.pop("sources", {}))
    for source in sources.values():
        _check(source, SOURCE_KEYS, path)
    animals = []
    for entry in said.pop("animal", ()):
        _check(entry, {*ANIMAL_KEYS, "animals"}, path)
        if not entry.keys() >= ANIMAL_KEYS or not entry["low"] <= entry["value"] <= entry["high"]:
            raise InvalidValueError(
                f"{path} gives the animal {entry!r}. Expected name, value, low, high, n and source,"
                " with the value in its interval. Correct it."
            )
        if entry["source"] not in sources:
            raise unknown("source", entry["source"], sources, of=str(path))
        animals.append(Animal(**entry))
    if bool(animals) == bool(said.get("sign_only")):
        raise InvalidValueError(
            f"{path} has {len(animals)} animals and sign_only = {said.get('sign_only', '')!r}."
            " Expected animals, or the reason for their absence. Correct it."
        )
    said["tasks"] = tuple(said["tasks"])
    return Signature(path.stem, compute=compute, animals=tuple(animals), sources=sources, **said)


def _check(said: Mapping[str, Any], known: set[str], path: Path) -> None:
    for name in said:
        if name not in known:
            raise unknown("key", name, sorted(known), of=str(path))


def signature_names() -> list[str]:
    """Return the names of the signatures of all installed packages, without importing them."""
    return [offer.name for offer in offers_of(GROUP) if offer.usable]


def signatures() -> list[Signature]:
    """Import and return the signatures of all installed packages, by name.

    Raises:
        NotSupportedError: an entry point is not a `Signature`.
    """
    found = []
    for offer in offers_of(GROUP):
        if not offer.usable:
            continue
        loaded = load(offer)
        if not isinstance(loaded, Signature):
            raise NotSupportedError(
                f"{offer.value} is not a signature. Expected a"
                " neurogym_likeness.signatures.Signature. Correct the entry point."
            )
        found.append(loaded)
    return found
