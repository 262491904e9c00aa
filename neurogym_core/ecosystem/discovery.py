"""Which tasks and wrappers are installed, and the classes behind their names.

The first question scans the installed packages once (a few milliseconds, nothing of them is
imported); `refresh` forgets the answer. Only `load_task` and `load_wrapper` import what they
return.

An id is ``namespace/Name-vN``. The namespace is the package's name without ``neurogym-task-``, so
nobody can claim another's; the bare ``Name-vN`` will do while one package only has it."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from neurogym_core.ecosystem import companions
from neurogym_core.ecosystem.files import is_file_reference, load_from_file
from neurogym_core.ecosystem.names import (
    SUBJECTS,
    canonical,
    clean,
    namespace_of,
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
from neurogym_core.ecosystem.switches import blocked
from neurogym_core.errors import (
    AmbiguousTaskError,
    BrokenTaskError,
    DiscoveryError,
    IncompatibleTaskError,
    UnknownNameError,
    UnknownTaskError,
    did_you_mean,
    listed,
    unknown,
)

_InfoT = TypeVar("_InfoT", bound=Described)


def installed() -> Installed:
    """All packages with something for this project; scanned once per process (and per value of
    `NGYM_BLOCK`).
    """
    return _scanned(blocked(), True)


def declared() -> Installed:
    """As `installed`, without the manifests: several times as fast, and enough to load something by
    name.
    """
    return _scanned(blocked(), False)


def refresh() -> None:
    """Forget what was found, after something was installed or removed in this process."""
    from neurogym_core.ecosystem.distributions import declarations

    importlib.invalidate_caches()
    declarations.cache_clear()
    _scanned.cache_clear()


def find_task(name: str) -> TaskInfo:
    """The installed task of this id, or of this bare name while only one package has it. Imports
    nothing.

    Raises:
        UnknownTaskError: nothing is offered under it; says what it is called now, or what is
            nearest.
        AmbiguousTaskError: several are; lists them.
    """
    return _find("task", name, installed().tasks)


def task_id(name: str) -> str:
    """The whole id of the task of this id or bare name; faster than ``find_task(name).id``, since
    no manifest is read.

    Raises:
        UnknownTaskError, AmbiguousTaskError: see `find_task`.
    """
    return _quickly("task", name).id


def find_wrapper(name: str) -> WrapperInfo:
    """The installed wrapper of this id or bare name, as ``ReactionTime`` or ``reaction_time``.
    Imports nothing.

    A bare name of a wrapper of the core or of neurogym-wrappers always means that one, whether
    neurogym-wrappers is installed or not: no other package can take it away.

    Raises:
        UnknownTaskError: nothing is offered under it; says what it is called now, which package
            brings it, or what is nearest.
        AmbiguousTaskError: several are; lists them.
    """
    return _find("wrapper", name, installed().wrappers)


def load_task(name: str) -> type:
    """The class of a task: of an id, a bare name, or ``file.py:Class``. Imports its module.

    Raises:
        UnknownTaskError, AmbiguousTaskError: see `find_task`.
        IncompatibleTaskError: its package needs another version of the core; nothing was imported.
        BrokenTaskError: importing it failed; names the package and the command that removes it.
    """
    if isinstance(name, str) and is_file_reference(name):
        return load_from_file(name)
    return load(_quickly("task", name))


def load_wrapper(name: str) -> type:
    """The class of a wrapper, by id or bare name. Imports its module.

    Raises:
        UnknownTaskError, AmbiguousTaskError: see `find_wrapper`.
        IncompatibleTaskError, BrokenTaskError: see `load_task`.
    """
    return load(_quickly("wrapper", name))


def subject_names() -> tuple[str, ...]:
    """The names of all subjects: the core's, then those of packages. Imports nothing of theirs."""
    return (*SUBJECTS, *sorted({offer.name for offer in declared().subjects if offer.usable}))


def find_subject(name: str) -> Offer:
    """The subject of this name that an installed package offers. Imports nothing.

    Raises:
        UnknownNameError: none does. Names the package that would bring it, or the nearest name.
    """
    for offer in declared().subjects:
        if offer.name == name and not (offer.has("blocked") or offer.has("name")):
            return offer
    if name in companions.SUBJECTS:
        raise UnknownNameError(companions.comes_with(name, companions.SUBJECTS[name]))
    raise unknown("subject", name, subject_names())


def load(offer: Offer) -> Any:
    """The object behind any entry point of ours.

    Raises:
        IncompatibleTaskError: its package needs another version of the core; nothing was imported.
        BrokenTaskError: it may not be used as declared, or importing it failed. Says in which
            phase.
    """
    _refuse_unusable(offer)
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
    from neurogym_core.ecosystem.scan import scan  # not needed by who only loads a file

    return scan(block_list, manifests=manifests)


def _quickly(kind: str, name: str) -> Described:
    """The offer of this name without its manifest row; what is not found is looked for again, for a
    better answer.
    """
    try:
        return _find(kind, name, declared().tasks if kind == "task" else declared().wrappers)
    except UnknownTaskError:
        return find_task(name) if kind == "task" else find_wrapper(name)


def _refuse_unusable(offer: Offer) -> None:
    whose = f"{clean(offer.id)!r} of {offer.distribution} {offer.version}"
    for problem in offer.problems:
        if problem.code == "incompatible":
            raise IncompatibleTaskError(f"{whose} cannot be loaded: {problem.message}")
        if problem.level == "fatal" or problem.code == "blocked":
            raise BrokenTaskError(f"{whose} cannot be loaded: {problem.message}")


def _attempt(offer: Offer, phase: str, action: Callable[[], Any]) -> Any:
    """What `action` returns; any failure of foreign code, `SystemExit` included, is an error that
    names the package.
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


# -- names ------------------------------------------------------------------------------------------------------------


def _find(kind: str, name: str, offers: Sequence[_InfoT]) -> _InfoT:
    if not isinstance(name, str):
        raise UnknownTaskError(
            f"{name!r} is no {kind}'s name; expected a text such as 'namespace/Name'."
        )
    matches = [offer for offer in offers if _answers(kind, offer, name)]
    if kind == "wrapper":
        matches = [match for match in matches if match.namespace == "core"] or matches
        if "/" not in name and (owner := _companion(name)):
            matches = [match for match in matches if canonical(match.distribution) == owner]
    free = [match for match in matches if not match.has("blocked")]
    if len(free) == 1:
        return free[0]
    if free:
        raise _ambiguous(name, free)
    if matches:
        raise UnknownTaskError(f"{name!r} cannot be used: {matches[0].problems[0].message}")
    raise UnknownTaskError(_unknown(kind, name, [offer for offer in offers if offer.usable]))


def _answers(kind: str, offer: Offer, name: str) -> bool:
    """Whether an offer is what a name means; one with an impossible name answers to its whole id
    only.
    """
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
    """The package of this project that brings the wrapper of this name, or former name, and is not
    installed; None where there is no such package.
    """
    namespace, _, bare = name.rpartition("/")
    package = _companion(bare) or companions.FORMER_WRAPPERS.get(bare)
    if package is None or namespace not in ("", "core", namespace_of(package)):
        return None
    present = any(canonical(one.distribution) == package for one in declared().packages)
    return None if present else package


def _companion(bare: str) -> str | None:
    """The package of this project that a wrapper's bare name, in either spelling, belongs to."""
    packages = {snake_case(name): package for name, package in companions.WRAPPERS.items()}
    return packages.get(snake_case(bare))


def _ambiguous(name: str, matches: Sequence[Offer]) -> DiscoveryError:
    if len({match.id for match in matches}) == 1:
        return AmbiguousTaskError(matches[0].problems[-1].message)
    owners = ", ".join(f"{match.id!r} ({match.distribution} {match.version})" for match in matches)
    return AmbiguousTaskError(
        f"{name!r} is offered by {len(matches)} packages: {owners}. Write the whole id."
    )


def _unknown(kind: str, name: str, offers: Sequence[_InfoT]) -> str:
    """What to say about a name that nobody offers, the most helpful thing first."""
    if kind == "wrapper" and (package := missing_companion(name)):
        return companions.comes_with(name, package)
    show = f"`ngym list{' --wrappers' if kind == 'wrapper' else ''}` shows what is installed."
    if renamed := [offer for offer in offers if _was_called(offer, name)]:
        return (
            f"{name!r} is now {' or '.join(_called_now(offer, name) for offer in renamed)}. Use"
            " that name."
        )
    if kind == "task" and (package := _package_to_install(name)):
        return (
            f"Unknown task {name!r}: it is in the package {package}, which is not installed: `ngym"
            f" install {package}`."
        )
    if not offers:
        return f"Unknown {kind} {name!r}: no installed package offers any {kind}."
    if kind == "task" and (versions := _other_versions(name, offers)):
        known = " or ".join(map(repr, versions))
        return (
            f"Unknown task {name!r}: an id ends with the task's version. Did you mean {known}?"
            f" {show}"
        )
    namespace, slash, _ = name.partition("/")
    spaces = list(dict.fromkeys(offer.namespace for offer in offers))
    hint = _nearest(name, offers)
    if slash and namespace not in spaces and not hint:
        return (
            f"Unknown {kind} {name!r}: no installed package has the namespace {namespace!r}."
            f"{did_you_mean(namespace, spaces)} Known: {listed(spaces)}. {show}"
        )
    return f"Unknown {kind} {name!r}: no installed package offers it.{hint} {show}"


def _package_to_install(name: str) -> str | None:
    """The one package that could be installed for a task, as far as that is known without the
    network.
    """
    if not declared().registries:
        return None
    from neurogym_core.ecosystem import hooks  # imports this module; only on the way to an error

    try:
        found = hooks.listed_in_registries(name, offline=True)
    except Exception:  # a hint must not take the place of the error
        return None
    owners = {one.package for one in found if one.version is not None and one.id != one.package}
    owners -= {canonical(package.distribution) for package in declared().packages}
    return owners.pop() if len(owners) == 1 else None


def _was_called(offer: _InfoT, name: str) -> bool:
    namespace, _, bare = name.rpartition("/")
    if bare in offer.aliases and namespace in ("", offer.namespace):
        return True
    # The wrappers of neurogym-wrappers were the core's: experiment files may still say so.
    moved = namespace == "core" and _companion(offer.name) == canonical(offer.distribution)
    return moved and (bare in offer.aliases or snake_case(bare) == snake_case(offer.name))


def _called_now(offer: Described, name: str) -> str:
    """The id of what was called so, with the settings that make it the same."""
    preset = offer.presets.get(name.rpartition("/")[2])
    return f"{offer.id!r} with {preset}" if preset else repr(offer.id)


def find_renamed(name: str) -> WrapperInfo | None:
    """The installed wrapper that was called so once."""
    return next(
        (one for one in installed().wrappers if one.usable and _was_called(one, name)), None
    )


def _other_versions(name: str, offers: Iterable[Offer]) -> list[str]:
    """The ids of the same task in the versions that exist, the newest first."""
    namespace, _, bare = name.rpartition("/")
    base = _base(bare)
    same = [one for one in offers if _base(one.name) == base and namespace in ("", one.namespace)]
    return [
        one.id
        for one in sorted(same, key=lambda one: int(one.name.rpartition("-v")[2]), reverse=True)
    ]


def _base(name: str) -> str:
    """A task's name without its version."""
    base, dash, version = name.rpartition("-v")
    return base if dash and version.isdecimal() else name


def _nearest(name: str, offers: Iterable[Offer]) -> str:
    known = [offer.id if "/" in name else offer.name for offer in offers]
    return did_you_mean(name, [*known, *(snake_case(one) for one in known if name.islower())])
