"""Finds installed tasks, wrappers and subjects by name, and loads their classes.

The first call scans the metadata of the installed packages, which takes a few milliseconds and
imports none of them; `refresh` discards the result. Only `load`, `load_task` and `load_wrapper`
import the code of a package.

An id is ``namespace/Name-vN``. The namespace is the package's name without ``neurogym-task-``, so
no package can use the namespace of another. The bare ``Name-vN`` is enough if only one package has
a task of this name.

`NGYM_BLOCK`, `NGYM_DISABLE_PLUGIN_AUTOLOAD` and `NGYM_STRICT` are described in `docs/discovery.md`.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from neurogym_core.ecosystem.files import is_file_reference, load_from_file
from neurogym_core.ecosystem.names import (
    RUN_FILE,
    SUBJECTS,
    brought,
    canonical,
    clean,
    comes_with,
    namespace_of,
    said_by,
    similar_task,
    snake_case,
)
from neurogym_core.ecosystem.published import how_to_install
from neurogym_core.ecosystem.records import (
    Described,
    Installed,
    Offer,
    TaskInfo,
    WrapperInfo,
    remedy,
)
from neurogym_core.ecosystem.scan import declarations, scan
from neurogym_core.errors import (
    AmbiguousTaskError,
    BrokenTaskError,
    IncompatibleTaskError,
    UnknownNameError,
    UnknownTaskError,
    did_you_mean,
    listed,
    nearest,
    unknown,
)

BLOCK = "NGYM_BLOCK"
DISABLE = "NGYM_DISABLE_PLUGIN_AUTOLOAD"
STRICT = "NGYM_STRICT"


def installed() -> Installed:
    """Return all packages that offer something to this project.

    They are scanned once per process and value of `NGYM_BLOCK`.
    """
    return _scanned(os.environ.get(BLOCK, ""), True)


def declared() -> Installed:
    """Return all packages as `installed` does, but without their manifests.

    This is several times as fast, and enough to load something by name.
    """
    return _scanned(os.environ.get(BLOCK, ""), False)


def offers_of(group: str) -> list[Offer]:
    """Return the offers of an entry-point group of a package that are not blocked, by name.

    Args:
        group: for instance ``neurogym.trainers``.
    """
    found = [one for one in declared().others if one.group == group and not one.has("blocked")]
    return sorted(found, key=lambda one: one.name)


def plugins_for(hook: str) -> list[Offer]:
    """Return the plug-ins that may implement a hook, without importing them."""
    known = () if is_on(DISABLE) else declared().plugins
    return [one for one in known if one.implements(hook) and not one.has("blocked")]


def refresh() -> None:
    """Discard the scan, after a package was installed or removed while this process runs."""
    importlib.invalidate_caches()
    declarations.cache_clear()
    _scanned.cache_clear()
    _found.cache_clear()


def find_task(name: str) -> TaskInfo:
    """Return the installed task of this id or bare name, without importing it.

    Raises:
        UnknownTaskError: no package offers it; gives its new name, or the nearest one.
        AmbiguousTaskError: several packages offer this bare name; lists them.
    """
    return _found("task", name, installed())


def task_id(name: str) -> str:
    """Return ``find_task(name).id`` without reading manifests."""
    return _quickly("task", name).id


def find_wrapper(name: str) -> WrapperInfo:
    """Return the installed wrapper of this id or bare name, without importing it.

    The bare name can be written ``ReactionTime`` or ``reaction_time``. If a wrapper of the core or
    of neurogym-wrappers has this name, the name always refers to it, even if neurogym-wrappers is
    not installed; a wrapper of the same name in another package needs its full id.

    Raises:
        UnknownTaskError: no package offers it; gives its new name, the package that brings it, or
            the nearest name.
        AmbiguousTaskError: several packages offer this bare name; lists them.
    """
    return _found("wrapper", name, installed())


def load_task(name: str) -> type:
    """Import and return the class of a task: by id, bare name or ``file.py:Class``.

    Raises:
        UnknownTaskError, AmbiguousTaskError: see `find_task`.
        IncompatibleTaskError: its package needs another version of the core; it is not imported.
        BrokenTaskError: the import failed; names the package and the command that removes it.
    """
    if isinstance(name, str) and is_file_reference(name):
        return load_from_file(name)
    return load(_quickly("task", name))


def load_wrapper(name: str) -> type:
    """Import and return the class of a wrapper, by id or bare name.

    Raises:
        UnknownTaskError, AmbiguousTaskError: see `find_wrapper`.
        IncompatibleTaskError, BrokenTaskError: see `load_task`.
    """
    return load(_quickly("wrapper", name))


def subject_names() -> tuple[str, ...]:
    """Return the names of all subjects: those of the core, then those of installed packages."""
    return (*SUBJECTS, *sorted({offer.name for offer in declared().subjects if offer.usable}))


def find_subject(name: str) -> Offer:
    """Return the subject of this name that an installed package offers, without importing it."""
    offers = [
        offer
        for offer in declared().subjects
        if offer.name == name and not (offer.has("blocked") or offer.has("name"))
    ]
    if offers:
        return next((offer for offer in offers if offer.usable), offers[0])
    if package := brought("subjects").get(name):
        raise UnknownNameError(comes_with(name, package))
    if Path(name).is_dir():
        raise UnknownNameError(
            f"Unknown subject {name!r}, which is a folder without {RUN_FILE}. Expected a subject,"
            " or the folder of a run. Give a folder that `ngym train --out` wrote."
        )
    raise unknown("subject", name, subject_names())


def load(offer: Offer) -> Any:
    """Import and return the object behind an entry point.

    Args:
        offer: a task, wrapper, subject or other offer of `installed`; of a plug-in, a manager of
            pluggy that has it is returned.

    Raises:
        PluginError: a plug-in fails; gives the phase, such as "import".
        IncompatibleTaskError: its package needs another version of the core; it is not imported.
        BrokenTaskError: its declaration is invalid, it is blocked, or its import failed; names the
            phase.
    """
    if problem := offer.obstacle:
        error = IncompatibleTaskError if problem.code == "incompatible" else BrokenTaskError
        whose = f"{clean(offer.id)!r} of {offer.distribution} {offer.version}"
        raise error(f"{whose} cannot be loaded: {problem.message}")
    if offer.group == "neurogym.plugins":
        from neurogym_core.ecosystem.hooks import load_plugin  # imports this module, and pluggy

        return load_plugin(offer)
    module, _, attribute = offer.value.partition(":")
    found = _attempt(offer, f"import {module}", importlib.import_module, module)
    if attribute:
        path = attribute.split(".")
        found = _attempt(offer, f"look up {attribute}", functools.reduce, getattr, path, found)
    if isinstance(offer, Described) and not isinstance(found, type):
        said = f"{offer.value} is of type {type(found).__name__}, expected a class"
        raise _broken(offer, "check", said)
    if offer.group == "neurogym.commands":
        import click  # which the caller of a command has imported

        if not isinstance(found, click.Command):
            said = f"{offer.value} is of type {type(found).__name__}, expected a click command"
            raise _broken(offer, "check", said)
    return found


@functools.cache
def _scanned(block_list: str, manifests: bool) -> Installed:
    blocked = frozenset(map(canonical, filter(None, map(str.strip, block_list.split(",")))))
    return scan(blocked, manifests=manifests)


def _quickly(kind: str, name: str) -> Described:
    """Return the offer of this name without its manifest row."""
    try:
        return _found(kind, name, declared())
    except UnknownTaskError:  # manifests have the former names, for the message
        return _found(kind, name, installed())


def _attempt(offer: Offer, phase: str, action: Callable[..., Any], *args: Any) -> Any:
    """Return the result of `action`; turn any exception into an error that names the package."""
    try:
        return action(*args)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _broken(offer, phase, clean(said_by(error))) from error


def _broken(offer: Offer, phase: str, reason: str) -> BrokenTaskError:
    return BrokenTaskError(
        f"{offer.id!r} of {offer.distribution} {offer.version} is broken (phase: {phase}):"
        f" {reason.rstrip('.')}. {remedy(offer.distribution)}"
    )


def is_on(variable: str) -> bool:
    """Return whether a variable is set to something other than an empty text or ``0``."""
    return os.environ.get(variable, "") not in ("", "0")


_SHORTEST_PART = 3  # letters of a part of a name that is looked for in the names


@functools.lru_cache(maxsize=256)
def _found(kind: str, name: str, scan: Installed) -> Any:
    """Return the task or wrapper of this id or bare name in a scan."""
    offers: tuple[Described, ...] = scan.tasks if kind == "task" else scan.wrappers
    if not isinstance(name, str):
        raise UnknownTaskError(
            f"{name!r} was given as the name of a {kind}. Expected a string such as"
            " 'namespace/Name'."
        )
    matches = [offer for offer in offers if _answers(kind, offer, name)]
    if kind == "wrapper":
        matches = [match for match in matches if match.namespace == "core"] or matches
        if "/" not in name and (owner := _our_package(name)):
            matches = [match for match in matches if canonical(match.distribution) == owner]
    free = [match for match in matches if not match.has("blocked")]
    if len(free) == 1:
        return free[0]
    if free and len({match.id for match in free}) == 1:
        raise AmbiguousTaskError(free[0].problems[-1].message)
    if free:
        owners = ", ".join(f"{one.id!r} ({one.distribution} {one.version})" for one in free)
        raise AmbiguousTaskError(
            f"{name!r} is offered by {len(free)} packages: {owners}. Give the full id."
        )
    if matches:
        raise UnknownTaskError(f"{name!r} cannot be used: {matches[0].problems[0].message}")
    raise UnknownTaskError(_unknown(kind, name, [offer for offer in offers if offer.usable]))


def _answers(kind: str, offer: Offer, name: str) -> bool:
    """Return whether a name refers to an offer; an offer with an invalid name needs its full id."""
    if name == offer.id:
        return True
    if offer.has("name"):
        return False
    if kind == "task":
        return name == offer.name
    namespace, slash, bare = name.rpartition("/")
    return snake_case(bare) == snake_case(offer.name) and (
        not slash or namespace == offer.namespace
    )


def missing_package(kind: str, name: str) -> str | None:
    """Return the package of this project that brings a name, if that package is not installed."""
    namespace, slash, bare = name.rpartition("/")
    if kind == "wrapper":
        package = _our_package(bare) or brought("former wrappers").get(bare)
        if package is not None and slash and namespace != namespace_of(package):
            return None
    elif slash:
        package = brought("namespaces").get(namespace)
    else:
        package = brought("tasks").get(bare)
    return None if package is None or _is_present(package) else package


def _is_present(package: str) -> bool:
    return any(canonical(one.distribution) == package for one in declared().packages)


def _our_package(wrapper: str) -> str | None:
    """Return the package of this project that has a wrapper of this bare name, else None."""
    packages = {snake_case(name): one for name, one in brought("wrappers").items()}
    return packages.get(snake_case(wrapper))


def _unknown(kind: str, name: str, offers: Sequence[Described]) -> str:
    """Return the error message for a name without an offer, with the most helpful hint."""
    package = missing_package(kind, name)
    if kind == "wrapper" and package:
        return comes_with(name, package)
    show = f"`ngym list{' --wrappers' if kind == 'wrapper' else ''}` lists the installed {kind}s."
    now = []
    for offer in offers:
        if was_called(offer, name):
            # The settings that reproduce the former behaviour.
            preset = offer.presets.get(name.rpartition("/")[2])
            now.append(f"{offer.id!r} with {preset}" if preset else repr(offer.id))
    if now:
        return f"{name!r} is now {' or '.join(now)}. Use that name."
    namespace, slash, _ = name.partition("/")
    if kind == "task" and (where := elsewhere("task", name)):
        return f"Unknown task {name!r}:{where}"
    if kind == "task" and package:
        what = f"{namespace}/" if slash else name
        return f"Unknown task {name!r}: {comes_with(what, package)}"
    if not offers:
        near = _similar_task(name) if kind == "task" else ""
        return f"Unknown {kind} {name!r}: no installed package offers any {kind}.{near}"
    base = _without_version(name)
    versions = [one for one in offers if base in map(_without_version, (one.name, one.id))]
    if versions and kind == "task":
        versions.sort(key=lambda one: (int(one.name.rpartition("-v")[2]), one.id), reverse=True)
        known = " or ".join(repr(one.id) for one in versions)
        return (
            f"Unknown task {name!r}: an id ends with the task's version. Did you mean {known}?"
            f" {show}"
        )
    spaces = list(dict.fromkeys(offer.namespace for offer in offers))
    names = [offer.id if slash else offer.name for offer in offers]
    spelled = {snake_case(one): one for one in names} if name.islower() else {}
    names += spelled
    hint = did_you_mean(name, names)
    if kind == "task" and (meant := nearest(name, names)) in spelled:
        hint = f" Did you mean {spelled[meant]!r}?"  # ids of tasks have one spelling
    if kind == "task" and nearest(name, names, 0.8) is None:
        # Names of few letters are alike by their "-v0": a listed task can be much nearer.
        hint = _similar_task(name) or hint
    if not slash and len(name) >= _SHORTEST_PART:
        part, bare = name.casefold(), [offer.name for offer in offers]
        begin = _one_of(one for one in bare if one.casefold().startswith(part))
        hint = begin or _one_of(one for one in bare if part in one.casefold()) or hint
    if kind == "task" and not hint:
        show += " `ngym search` looks in titles, summaries and tags too."
    if slash and namespace not in spaces and not hint:
        return (
            f"Unknown {kind} {name!r}: no installed package has the namespace {namespace!r}."
            f"{did_you_mean(namespace, spaces)} Known: {listed(spaces)}. {show}"
        )
    return f"Unknown {kind} {name!r}: no installed package offers it.{hint} {show}"


def _one_of(names: Iterable[str]) -> str:
    """Return a question with up to three of some names; "" for none."""
    found = list(dict.fromkeys(names))
    shown = " or ".join(map(repr, found[:3]))
    more = f", or {len(found) - 3} others" if len(found) > 3 else ""
    return f" Did you mean {shown}{more}?" if found else ""


def elsewhere(kind: str, name: object, known: Iterable[str] = ()) -> str:
    """Return " " and the advice of a plug-in on a name (hook ``ngym_unknown_name``), or ""."""
    if not plugins_for("ngym_unknown_name"):
        return ""
    from neurogym_core.ecosystem.hooks import ask  # imports this module, and pluggy

    try:
        said = ask("ngym_unknown_name", kind=kind, name=str(name), known=tuple(known))
    except (Exception, SystemExit):  # a failed hint must not replace the error
        return ""
    return f" {said}" if said else ""


def missing(owner: object, name: str, kind: str) -> Any:
    """Raise the error for a missing attribute of an "env" or "dataset"; for ``__getattr__``."""
    # A property that failed comes here too, and must not be reported as a missing name.
    said = "" if name.startswith("_") or hasattr(type(owner), name) else elsewhere(kind, name)
    if not said:
        # Raises the error of Python, or of a property that failed.
        return object.__getattribute__(owner, name)
    message = f"{type(owner).__name__!r} has no attribute {name!r}.{said}"
    raise AttributeError(message, name=name, obj=owner)


def _similar_task(name: str) -> str:
    """Return a question with the nearest task that is not installed; "" if none is near."""
    if said := elsewhere("similar task", name):
        return said
    task = similar_task(name)
    if task is None or _is_present(task.package):
        return ""
    return (
        f" Did you mean {task.id!r} of {task.package}, which is not installed? Install it:"
        f" {how_to_install(task.package)}."
    )


def was_called(offer: Described, name: str) -> bool:
    """Return whether a task or wrapper had this name."""
    namespace, _, bare = name.rpartition("/")
    return bare in offer.aliases and namespace in ("", offer.namespace)


def _without_version(name: str) -> str:
    base, dash, version = name.rpartition("-v")
    return base if dash and version.isdecimal() else name
