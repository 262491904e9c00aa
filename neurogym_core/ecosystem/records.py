"""What is known about the installed packages, as plain frozen records.

Everything here was read from metadata and manifests; making one of these never ran a line of the
package it describes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from neurogym_core.ecosystem.names import CORE, canonical

if TYPE_CHECKING:
    from neurogym_core.terminal.output import Page

Level = Literal["fatal", "error", "warning", "note"]

KINDS = ("tasks", "wrappers", "commands", "subjects", "trainers", "plugins", "registries")
"""Kinds of things that packages offer: each is an entry-point group ``neurogym.KIND`` and an
attribute of `PackageInfo`.
"""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One thing that is wrong with a package, and where.

    Attributes:
        level: ``fatal``: what it is about cannot be used; ``error``: a rule is broken, it can be
            used all the same; ``warning``: worth a look; ``record``: as somebody asked for (a block
            list).
        code: what kind of thing: ``metadata``, ``name``, ``value``, ``duplicate``,
            ``incompatible``, ``blocked``, ``manifest``, ``vocabulary``, ``stale``, ``import``,
            ``output``, ``revoked``.
        message: what was found, what was expected, what to do.
        file: the file that breaks the rule, where there is one.
        row: the row of a manifest, e.g. ``[[task]] 'RandomDots-v0'``.
        field: the field of that row.
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


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A publication that a task or wrapper stands on; ``doi`` without ``https://doi.org/``."""

    doi: str
    kind: str = "original"
    title: str = ""
    authors: str = ""
    journal: str = ""
    year: int | None = None


@dataclass(frozen=True, kw_only=True)
class Offer:
    """One entry point of one installed package: a command, a subject, a trainer, a plug-in; tasks
    and wrappers add to it.

    Attributes:
        group: the entry-point group, e.g. ``neurogym.tasks``.
        name: the entry point's name, e.g. ``RandomDots-v0``.
        value: where the object is, ``module:attribute``.
        distribution: the name of the package (as pip knows it).
        version: the package's version.
        problems: what is wrong with this one.
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
        """``namespace/name``: unique, since the namespace is the package's own name."""
        return f"{self.namespace}/{self.name}"

    @property
    def usable(self) -> bool:
        """Whether it may be imported at all; that the import works is known only afterwards."""
        return not any(
            problem.level == "fatal" or problem.code == "blocked" for problem in self.problems
        )

    def has(self, code: str) -> bool:
        """Whether one of its problems has this code."""
        return any(problem.code == code for problem in self.problems)

    @property
    def status(self) -> str:
        """``ok``, or the code of its worst problem; a warning is still ``ok``."""
        for level in ("fatal", "note", "error"):
            for problem in self.problems:
                if problem.level == level:
                    return problem.code
        return "ok"


@dataclass(frozen=True, kw_only=True)
class Described(Offer):
    """An offer that the package's manifest may have a row for. Without one, all of this is
    empty.
    """

    title: str = ""
    summary: str = ""
    tags: tuple[str, ...] = ()
    species: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    aliases: tuple[str, ...] = ()
    expected: Mapping[str, Any] = field(default_factory=dict, hash=False)
    presets: Mapping[str, str] = field(default_factory=dict, hash=False)


# No dataclasses of their own, since they add no field and each costs most of a millisecond of every
# first `make`.
class TaskInfo(Described):
    """An installed task: where its class is, and what its manifest says. ``expected`` serves the
    conformance kit.
    """


class WrapperInfo(Described):
    """An installed wrapper: where its class is, and what its manifest says; ``expected`` stays
    empty.
    """


@dataclass(frozen=True, kw_only=True, eq=False)
class PackageInfo:
    """An installed distribution that offers something. Two scans' records of it are never equal.

    Attributes:
        requires_core: its version specifier for neurogym-core, e.g. ``>=1.0,<2``; None when it
            names none.
        compatible: whether the installed core satisfies that.
        blocked: whether `NGYM_BLOCK` names it.
        location: the folder it is installed in.
        editable: the folder of its sources when it is installed editable.
        problems: what is wrong with the package as a whole; those of one offer are kept there.
    """

    distribution: str
    version: str
    namespace: str
    requires_core: str | None = None
    compatible: bool = True
    blocked: bool = False
    location: str = ""
    editable: str | None = None
    tasks: tuple[TaskInfo, ...] = ()
    wrappers: tuple[WrapperInfo, ...] = ()
    commands: tuple[Offer, ...] = ()
    subjects: tuple[Offer, ...] = ()
    trainers: tuple[Offer, ...] = ()
    plugins: tuple[Offer, ...] = ()
    registries: tuple[Offer, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def offers(self) -> tuple[Offer, ...]:
        """All that it offers, of every kind."""
        return tuple(offer for kind in KINDS for offer in getattr(self, kind))

    @property
    def removal(self) -> str:
        """The command that removes it."""
        return removal(self.distribution)


@dataclass(kw_only=True, eq=False, repr=False)
class Installed:
    """All that one scan found, in the order of the packages' names. Two scans are never equal."""

    core_version: str
    packages: tuple[PackageInfo, ...] = ()

    @property
    def tasks(self) -> tuple[TaskInfo, ...]:
        """The tasks of all packages, unusable and blocked ones included."""
        return tuple(task for package in self.packages for task in package.tasks)

    @property
    def wrappers(self) -> tuple[WrapperInfo, ...]:
        """The wrappers of all packages, unusable and blocked ones included."""
        return tuple(wrapper for package in self.packages for wrapper in package.wrappers)

    @property
    def commands(self) -> tuple[Offer, ...]:
        """The sub-commands that packages add to ``ngym``."""
        return tuple(command for package in self.packages for command in package.commands)

    @property
    def subjects(self) -> tuple[Offer, ...]:
        """The reference subjects that packages add to the core's."""
        return tuple(subject for package in self.packages for subject in package.subjects)

    @property
    def trainers(self) -> tuple[Offer, ...]:
        """The trainers of all packages."""
        return tuple(trainer for package in self.packages for trainer in package.trainers)

    @property
    def plugins(self) -> tuple[Offer, ...]:
        """The modules with pluggy hooks of all packages."""
        return tuple(plugin for package in self.packages for plugin in package.plugins)

    @property
    def registries(self) -> tuple[Offer, ...]:
        """The modules of all packages that know what could be installed."""
        return tuple(one for package in self.packages for one in package.registries)


@dataclass(frozen=True, kw_only=True, eq=False)
class Listed:
    """A task or package that is not installed, as a registry lists it.

    Attributes:
        id: ``namespace/Name-vN`` of a task, the distribution of a package.
        package: its distribution.
        version: the newest release that can be installed; None when there is none.
        references: its publications; for a package, those of its tasks.
        row: all that is known of it, for programs.
        notes: why this may be out of date or incomplete, for people.
        show: adds a description, and how to install it, to a page.
    """

    id: str
    package: str
    version: str | None
    references: tuple[Reference, ...]
    row: Mapping[str, Any]
    notes: tuple[str, ...]
    show: Callable[[Page], None]


def removal(distribution: str) -> str:
    """The command that removes a distribution, for error messages."""
    return f"python -m pip uninstall {distribution}"


def advice(distribution: str) -> str:
    """What to do about a package whose code fails."""
    if canonical(distribution) == CORE:
        return "Install the core again from its checkout: `make install`."
    return f"Tell its authors, or remove the package: `{removal(distribution)}`."
