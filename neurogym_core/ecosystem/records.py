"""Frozen records of the installed packages, their offers and their problems.

They are made from metadata and manifests, without running code of the packages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import Any, Literal

from neurogym_core.ecosystem.names import CORE, brought, canonical

Level = Literal["fatal", "error", "warning", "note"]


@dataclass(frozen=True)
class Problem:
    """A problem of a package, with its place.

    Attributes:
        level: ``fatal``: the package or offer cannot be used; ``error``: it breaks a rule, but can
            be used; ``warning``: it may be a mistake; ``note``: the user requested it (a block
            list).
        code: type of the problem: ``metadata``, ``name``, ``value``, ``duplicate``,
            ``incompatible``, ``blocked``, ``manifest``, ``vocabulary``, ``stale``, ``import``,
            ``output`` or ``revoked``.
        message: the cause, the expectation and the remedy.
        file: file that breaks the rule; "" if none does.
        row: row of a manifest, e.g. ``[[task]] 'RandomDots-v0'``.
        field: field of that row.
    """

    level: Level
    code: str
    message: str
    file: str = ""
    row: str = ""
    field: str = ""

    def __str__(self) -> str:
        """``ngym.toml, [[task]] 'RandomDots-v0', summary: …``."""
        where = ", ".join(part for part in (self.file, self.row, self.field) if part)
        return f"{where}: {self.message}" if where else self.message


def worst_of(problems: Sequence[Problem]) -> str:
    """Return the code of the first problem of the worst level; "" for warnings only."""
    for level in ("fatal", "note", "error"):
        for problem in problems:
            if problem.level == level:
                return problem.code
    return ""


def mark_of(problems: Sequence[Problem]) -> str:
    """Return ``! CODE`` of the worst problem, e.g. ``! incompatible``; "" for warnings only."""
    return f"! {code}" if (code := worst_of(problems)) else ""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A publication that a task or wrapper is based on.

    Attributes:
        doi: without ``https://doi.org/``.
        kind: "original", or another word of the vocabulary.
        authors: as in BibTeX, "Last, First and Last, First and others"; a name without a comma is
            a group.
    """

    doi: str
    kind: str = "original"
    title: str = ""
    authors: str = ""
    journal: str = ""
    year: int | None = None

    @property
    def cited(self) -> str:
        """Authors and year as in a text, "Kiani & Shadlen (2009)"; "" without authors."""
        names = [name.partition(",")[0].strip() for name in self.authors.split(" and ")]
        if names[-1] == "others" or len(names) > 3:
            said = f"{names[0]} et al."
        else:
            said = " & ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        return f"{said} ({self.year})" if said and self.year else said

    @property
    def citation(self) -> str:
        """The publication in one line, with its title, journal and DOI."""
        parts = (self.cited, self.title, self.journal, f"https://doi.org/{self.doi}")
        return ". ".join(part.rstrip(".") for part in parts if part)

    @property
    def bibtex(self) -> str:
        """The publication as an ``@article`` with all fields of the manifest."""
        authors, title, journal = (
            re.sub(r"([{}%#&$_])", r"\\\1", text.replace("\\", ""))
            for text in (self.authors, self.title, self.journal)
        )
        if authors and "," not in authors:  # a group, of which BibTeX must take no word as a name
            authors = f"{{{authors}}}"
        first = re.match(r"[^\W\d_]+", self.authors)
        key = "doi_" + re.sub(r"[^A-Za-z0-9]+", "_", self.doi).strip("_")
        if first and first.group().isascii() and self.year:
            key = f"{first.group()}{self.year}"
        # A DOI needs no escapes of BibTeX's special characters.
        texts = {
            "author": authors, "title": title, "journal": journal, "year": str(self.year or ""),
            "doi": self.doi, "url": f"https://doi.org/{self.doi}",
        }  # fmt: skip
        lines = [f"  {name} = {{{text}}}," for name, text in texts.items() if text]
        return "\n".join([f"@article{{{key},", *lines, "}"])


@dataclass(frozen=True, kw_only=True)
class Offer:
    """An entry point of an installed package, e.g. a command, a subject, a trainer or a plug-in.

    Attributes:
        group: entry-point group, e.g. ``neurogym.tasks``.
        name: name of the entry point, e.g. ``RandomDots-v0``.
        value: place of the object, ``module:attribute``.
        distribution: name of the package, as pip knows it.
        version: version of the package.
        namespace: first part of the id, see `namespace_of`.
        problems: problems of this offer.
    """

    group: str
    name: str
    value: str
    distribution: str
    version: str
    namespace: str
    problems: tuple[Problem, ...] = ()

    @property
    def id(self) -> str:
        """``namespace/name``; unique, since the namespace follows from the package's name."""
        return f"{self.namespace}/{self.name}"

    @property
    def kind(self) -> str:
        """Kind of thing in the singular, e.g. ``task`` of the group ``neurogym.tasks``."""
        return self.group.removeprefix("neurogym.").removesuffix("s")

    @property
    def obstacle(self) -> Problem | None:
        """The first problem for which the offer must not be imported; None if there is none."""
        for problem in self.problems:
            if problem.level == "fatal" or problem.code == "blocked":
                return problem
        return None

    @property
    def usable(self) -> bool:
        """Whether the offer may be imported; the import itself can still fail."""
        return self.obstacle is None

    @property
    def ours(self) -> bool:
        """Whether a package of this project offers it: the core, or one that has it by its list."""
        owner = brought(f"{self.kind}s").get(self.name)
        return self.distribution in (owner, CORE)

    def has(self, code: str) -> bool:
        """Return whether one of the problems has this code."""
        return code in map(attrgetter("code"), self.problems)

    def implements(self, hook: str) -> bool:
        """Return whether a plug-in has the name of this hook, or of no hook: it may have any."""
        return self.name == hook or not self.name.startswith("ngym_")

    @property
    def status(self) -> str:
        """Code of the worst problem; ``ok`` without problems or with warnings only."""
        return worst_of(self.problems) or "ok"


@dataclass(frozen=True, kw_only=True)
class Description:
    """The description of a task or wrapper: the fields of a manifest row."""

    title: str = ""
    summary: str = ""
    instructions: str = ""
    tags: tuple[str, ...] = ()
    species: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    aliases: tuple[str, ...] = ()
    expected: Mapping[str, Any] = field(default_factory=dict, hash=False)
    presets: Mapping[str, str] = field(default_factory=dict, hash=False)
    shortcuts: Mapping[str, float] = field(default_factory=dict, hash=False)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict, hash=False)
    ideal: Mapping[str, Any] = field(default_factory=dict, hash=False)
    admitted: Mapping[str, str] = field(default_factory=dict, hash=False)
    admits: Mapping[str, str] = field(default_factory=dict, hash=False)
    figure: Mapping[str, Any] = field(default_factory=dict, hash=False)
    view: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True)
class Described(Description, Offer):
    """An offer with the description in its manifest row, which is empty if there is no row."""


# The next two are no dataclasses, because they add no field and `dataclass` would add almost a
# millisecond per class to the first `make`.
class TaskInfo(Described):
    """An installed task; the conformance kit reads ``expected``, ``ideal``, ``shortcuts``,
    ``admitted`` and ``admits``.

    Attributes:
        BLIND: names of the shortcuts that see no observation; the best one is the chance level.
    """

    BLIND = ("rest", "constant", "clock", "guess", "random", "counter", "rhythm", "sequence")

    @property
    def best_blind(self) -> str | None:
        """Name of the best policy that sees no observation; None if unknown."""
        blind = [name for name in self.BLIND if name in self.shortcuts]
        return max(blind, key=self.shortcuts.__getitem__, default=None)

    @property
    def chance(self) -> float | None:
        """Measured performance of `best_blind`, 0 to 1; None if unknown."""
        return None if self.best_blind is None else self.shortcuts[self.best_blind]


class WrapperInfo(Described):
    """An installed wrapper; ``expected`` is empty."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Offers:
    """Offers by kind; each kind is an entry-point group ``neurogym.KIND``.

    ``others`` are those of all other groups ``neurogym.…``, which packages define.
    """

    tasks: tuple[TaskInfo, ...] = ()
    wrappers: tuple[WrapperInfo, ...] = ()
    commands: tuple[Offer, ...] = ()
    subjects: tuple[Offer, ...] = ()
    plugins: tuple[Offer, ...] = ()
    others: tuple[Offer, ...] = ()


KINDS = tuple(Offers.__dataclass_fields__)
"""Kinds of things that packages offer: the attributes of `Offers`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PackageInfo(Offers):
    """An installed distribution with offers. Records of two scans are never equal.

    Attributes:
        requires_core: version specifier for neurogym-core, e.g. ``>=1.0,<2``; None if it has none.
        compatible: whether the installed core satisfies the specifier.
        blocked: whether `NGYM_BLOCK` has the distribution.
        location: folder of the installed package.
        editable: folder of the sources of an editable install, else None.
        unreadable: folder of the metadata, if they cannot be read, else "".
        problems: problems of the package; each offer has its own.
    """

    distribution: str
    version: str
    namespace: str
    requires_core: str | None = None
    compatible: bool = True
    blocked: bool = False
    location: str = ""
    editable: str | None = None
    unreadable: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def offers(self) -> tuple[Offer, ...]:
        """All offers, of every kind."""
        return tuple(chain.from_iterable(attrgetter(*KINDS)(self)))

    @property
    def all_problems(self) -> tuple[Problem, ...]:
        """Problems of the package and of its offers."""
        of_offers = map(attrgetter("problems"), self.offers)
        return tuple(dict.fromkeys(chain(self.problems, chain.from_iterable(of_offers))))

    def names(self) -> dict[str, list[str]]:
        """Return {kind, or group of the others without ``neurogym.``: names of the offers}."""
        found: dict[str, list[str]] = {kind: [] for kind in KINDS[:-1]}
        for offer in self.offers:
            found.setdefault(offer.group.removeprefix("neurogym."), []).append(offer.name)
        return found

    @property
    def removal(self) -> str:
        """Command that removes the package; pip cannot remove one with unreadable metadata."""
        if self.unreadable:
            return f"deleting the folder {self.unreadable}"
        return removal(self.distribution)

    @property
    def remedy(self) -> str:
        """The remedy if code of the package fails, a sentence."""
        return remedy(self.distribution)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Installed(Offers):
    """The result of one scan, sorted by package. Two scans are never equal.

    ``tasks``, ``wrappers`` and so on are those of all packages, including unusable and blocked
    ones.
    """

    core_version: str
    packages: tuple[PackageInfo, ...] = ()


def removal(distribution: str) -> str:
    """Return the command that removes a distribution, for error messages."""
    return f"python -m pip uninstall {distribution}"


def remedy(distribution: str) -> str:
    """Return the remedy for a package whose code fails."""
    if canonical(distribution) == CORE:
        return "Install the core again: `make install` in its checkout."
    return f"Report it to its authors, or remove the package: `{removal(distribution)}`."
