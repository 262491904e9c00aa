"""Finds installed tasks, wrappers and subjects by name, and loads their classes.

The first call scans the metadata of the installed packages, which takes a few milliseconds and
imports none of them; `refresh` discards the result. Only `load`, `load_task` and `load_wrapper`
import the code of a package.

An id is ``namespace/Name-vN``. The namespace is the package's name without ``neurogym-task-``, so
no package can use the namespace of another. The bare ``Name-vN`` is enough if only one package has
a task of this name.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from neurogym_core.ecosystem import companions, shipped
from neurogym_core.ecosystem.files import is_file_reference, load_from_file
from neurogym_core.ecosystem.names import (
    SUBJECTS,
    canonical,
    clean,
    namespace_of,
    read_subject,
    said_by,
    snake_case,
)
from neurogym_core.ecosystem.records import (
    Described,
    Installed,
    Offer,
    TaskInfo,
    WrapperInfo,
    advice,
)
from neurogym_core.ecosystem.scan import declarations, scan
from neurogym_core.ecosystem.switches import blocked
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

_InfoT = TypeVar("_InfoT", bound=Described)


def installed() -> Installed:
    """Return all packages that offer something to this project.

    They are scanned once per process and value of `NGYM_BLOCK`.
    """
    return _scanned(blocked(), True)


def declared() -> Installed:
    """Return all packages as `installed` does, but without their manifests.

    This is several times as fast, and enough to load something by name.
    """
    return _scanned(blocked(), False)


def refresh() -> None:
    """Discard the scan, after a package was installed or removed while this process runs."""
    importlib.invalidate_caches()
    declarations.cache_clear()
    _scanned.cache_clear()


def find_task(name: str) -> TaskInfo:
    """Return the installed task of this id or bare name, without importing it.

    Raises:
        UnknownTaskError: no package offers it; gives its new name, or the nearest one.
        AmbiguousTaskError: several packages offer this bare name; lists them.
    """
    return _find("task", name, installed().tasks)


def task_id(name: str) -> str:
    """Return the full id of the task of this id or bare name.

    Faster than ``find_task(name).id`` because it reads no manifest.

    Raises:
        UnknownTaskError, AmbiguousTaskError: see `find_task`.
    """
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
    return _find("wrapper", name, installed().wrappers)


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


RUN_FILE = "settings.json"
"""The file by which the folder of a run is known."""


def named_subject(text: str) -> tuple[str, dict[str, Any]]:
    """Return name and settings of a subject, as `read_subject` does.

    A name that no subject has, and that is the folder of a run, is ``trained:run=NAME``.

    Raises:
        InvalidValueError: a setting has another form.
    """
    name, settings = read_subject(text)
    known = (*subject_names(), *companions.SUBJECTS)
    if name and (Path(name) / RUN_FILE).is_file() and name not in known:
        return "trained", {"run": name, **settings}
    return name, settings


def find_subject(name: str) -> Offer:
    """Return the subject of this name that an installed package offers, without importing it.

    Raises:
        UnknownNameError: no package offers it; names the package that brings it, or the nearest
            name.
    """
    for offer in declared().subjects:
        if offer.name == name and not (offer.has("blocked") or offer.has("name")):
            return offer
    if name in companions.SUBJECTS:
        raise UnknownNameError(companions.comes_with(name, companions.SUBJECTS[name]))
    if Path(name).is_dir():
        raise UnknownNameError(
            f"Unknown subject {name!r}, which is a folder without {RUN_FILE}. Expected a subject,"
            " or the folder of a run. Give a folder that `ngym train --out` wrote."
        )
    raise unknown("subject", name, subject_names())


def load(offer: Offer) -> Any:
    """Import and return the object behind an entry point.

    Raises:
        IncompatibleTaskError: its package needs another version of the core; it is not imported.
        BrokenTaskError: its declaration is invalid, it is blocked, or its import failed; names the
            phase.
    """
    for problem in offer.problems:
        whose = f"{clean(offer.id)!r} of {offer.distribution} {offer.version}"
        if problem.code == "incompatible":
            raise IncompatibleTaskError(f"{whose} cannot be loaded: {problem.message}")
        if problem.level == "fatal" or problem.code == "blocked":
            raise BrokenTaskError(f"{whose} cannot be loaded: {problem.message}")
    module, _, attribute = offer.value.partition(":")
    found = _attempt(offer, f"import {module}", lambda: importlib.import_module(module))
    if attribute:
        found = _attempt(
            offer,
            f"look up {attribute}",
            lambda: functools.reduce(getattr, attribute.split("."), found),
        )
    if isinstance(offer, Described) and not isinstance(found, type):
        raise _broken(
            offer, "check", f"{offer.value} is of type {type(found).__name__}, expected a class"
        )
    return found


@functools.cache
def _scanned(block_list: frozenset[str], manifests: bool) -> Installed:
    return scan(block_list, manifests=manifests)


def _quickly(kind: str, name: str) -> Described:
    """Return the offer of this name without its manifest row.

    If there is none, search again with manifests, which know former names, for a better error.
    """
    try:
        return _find(kind, name, declared().tasks if kind == "task" else declared().wrappers)
    except UnknownTaskError:
        return find_task(name) if kind == "task" else find_wrapper(name)


def _attempt(offer: Offer, phase: str, action: Callable[[], Any]) -> Any:
    """Return the result of `action`; turn any exception into an error that names the package.

    This includes `SystemExit`: a module of a package must not end the process.
    """
    try:
        return action()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _broken(offer, phase, clean(said_by(error))) from error


def _broken(offer: Offer, phase: str, reason: str) -> BrokenTaskError:
    return BrokenTaskError(
        f"{offer.id!r} of {offer.distribution} {offer.version} is broken (phase: {phase}):"
        f" {reason.rstrip('.')}. {advice(offer.distribution)}"
    )


# -- names -----------------------------------------------------------------------------------------


def _find(kind: str, name: str, offers: Sequence[_InfoT]) -> _InfoT:
    if not isinstance(name, str):
        raise UnknownTaskError(
            f"{name!r} was given as the name of a {kind}. Expected a string such as"
            " 'namespace/Name'."
        )
    matches = [offer for offer in offers if _answers(kind, offer, name)]
    if kind == "wrapper":
        matches = [match for match in matches if match.namespace == "core"] or matches
        if "/" not in name and (owner := _companion(name)):
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


def missing_companion(name: str) -> str | None:
    """Return the package of this project that brings a wrapper, if that package is not installed.

    Args:
        name: id, bare name or former name of the wrapper.
    """
    namespace, _, bare = name.rpartition("/")
    package = _companion(bare) or companions.FORMER_WRAPPERS.get(bare)
    own = package is not None and namespace in ("", "core", namespace_of(package))
    return _if_missing(package) if own else None


def missing_package_of_tasks(name: str) -> str | None:
    """Return the package of this project that has a task or its namespace and is not installed."""
    namespace, slash, _ = name.partition("/")
    if slash:
        return _if_missing(companions.NAMESPACES.get(namespace))
    task = shipped.shipped_task(name)
    return None if task is None else _if_missing(task.package)


def _if_missing(package: str | None) -> str | None:
    present = any(canonical(one.distribution) == package for one in declared().packages)
    return None if present else package


def _companion(bare: str) -> str | None:
    """Return the package of this project that has a wrapper of this bare name, else None."""
    packages = {snake_case(name): package for name, package in companions.WRAPPERS.items()}
    return packages.get(snake_case(bare))


def _unknown(kind: str, name: str, offers: Sequence[_InfoT]) -> str:
    """Return the error message for a name without an offer, with the most helpful hint."""
    if kind == "wrapper" and (package := missing_companion(name)):
        return companions.comes_with(name, package)
    show = f"`ngym list{' --wrappers' if kind == 'wrapper' else ''}` lists the installed {kind}s."
    now = []
    for offer in offers:
        if _was_called(offer, name):
            # The settings that reproduce the former behaviour.
            preset = offer.presets.get(name.rpartition("/")[2])
            now.append(f"{offer.id!r} with {preset}" if preset else repr(offer.id))
    if now:
        return f"{name!r} is now {' or '.join(now)}. Use that name."
    if kind == "task" and (where := _where_to_get(name)):
        return f"Unknown task {name!r}: {where}"
    if kind == "task" and (package := missing_package_of_tasks(name)):
        namespace, slash, _ = name.partition("/")
        what = f"{namespace}/" if slash else name
        return f"Unknown task {name!r}: {companions.comes_with(what, package)}"
    if not offers:
        near = _where_to_get(name, nearest=True) if kind == "task" else ""
        return f"Unknown {kind} {name!r}: no installed package offers any {kind}.{near}"
    versions = sorted(
        (
            (int(one.name.rpartition("-v")[2]), one.id)
            for one in offers
            if kind == "task"
            and _without_version(name) in map(_without_version, (one.name, one.id))
        ),
        reverse=True,
    )
    if versions:
        known = " or ".join(repr(one) for _, one in versions)
        return (
            f"Unknown task {name!r}: an id ends with the task's version. Did you mean {known}?"
            f" {show}"
        )
    namespace, slash, _ = name.partition("/")
    spaces = list(dict.fromkeys(offer.namespace for offer in offers))
    names = [offer.id if slash else offer.name for offer in offers]
    names += [snake_case(one) for one in names if name.islower()]
    hint = did_you_mean(name, names)
    if kind == "task" and nearest(name, names, 0.8) is None:
        # Names of few letters are alike by their "-v0": a listed task can be much nearer.
        hint = _where_to_get(name, nearest=True) or hint
    if slash and namespace not in spaces and not hint:
        return (
            f"Unknown {kind} {name!r}: no installed package has the namespace {namespace!r}."
            f"{did_you_mean(namespace, spaces)} Known: {listed(spaces)}. {show}"
        )
    return f"Unknown {kind} {name!r}: no installed package offers it.{hint} {show}"


def _where_to_get(name: str, *, nearest: bool = False) -> str:
    """Return sentences about the package of a task that registries list, or of the nearest name.

    "" if none, or several packages have it. Uses no network."""
    if not declared().registries:
        task = shipped.resembling(name) if nearest else None
        if task is None or _if_missing(task.package) is None:
            return ""
        return _did_you_mean(task.id, task.package, f"`{shipped.how_to_install(task.package)}`")
    # `hooks` imports this module; here, pluggy is only imported for an error message.
    from neurogym_core.ecosystem import hooks

    try:
        if nearest:
            found = hooks.ask_registries("ngym_resembling", name=name)
        else:
            found = hooks.ask_registries("ngym_listed", name=name, offline=True)
    except Exception:  # a failed hint must not replace the error
        return ""
    present = {canonical(package.distribution) for package in declared().packages}
    owners = {
        one.package: one
        for one in found
        if (one.how or one.version is not None) and one.id != one.package
    }
    if len(owners) != 1 or owners.keys() & present:
        return ""
    (one,) = owners.values()
    how = one.how or f"`ngym install {one.package}`"
    if nearest:
        return _did_you_mean(one.id, one.package, how)
    return f"its package {one.package} is not installed. Install it: {how}."


def _did_you_mean(task: str, package: str, how: str) -> str:
    return f" Did you mean {task!r} of {package}, which is not installed? Install it: {how}."


def _was_called(offer: _InfoT, name: str) -> bool:
    namespace, _, bare = name.rpartition("/")
    if bare in offer.aliases and namespace in ("", offer.namespace):
        return True
    # The wrappers of neurogym-wrappers used to be in the core: older experiment files name them so.
    moved = namespace == "core" and _companion(offer.name) == canonical(offer.distribution)
    return moved and (bare in offer.aliases or snake_case(bare) == snake_case(offer.name))


def find_renamed(name: str) -> WrapperInfo | None:
    """Return the installed wrapper that has this former name, or None."""
    return next(
        (one for one in installed().wrappers if one.usable and _was_called(one, name)), None
    )


def _without_version(name: str) -> str:
    base, dash, version = name.rpartition("-v")
    return base if dash and version.isdecimal() else name
