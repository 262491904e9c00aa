"""Behaviour that packages add: pluggy hooks, and a loader that one broken plug-in cannot upset.

A package names a module (or object) with hook implementations in the entry-point group
``neurogym.plugins``::

    from neurogym_core import hookimpl

    @hookimpl
    def ngym_wrap_env(env, spec):
        return MyLogger(env)

Plug-ins are imported when the first hook is asked for, never by listing. Each is loaded on its own:
a failure is kept as a `PluginFailure`, warned about once, and the others work. `NGYM_BLOCK`,
`NGYM_DISABLE_PLUGIN_AUTOLOAD` and `NGYM_STRICT` are described in `switches`.

Packages that know what could be installed implement `RegistryHooks`, in the group
``neurogym.registries``. It is a group of its own because every `make` loads ``neurogym.plugins``,
and these hooks are for errors, ``ngym info``, ``ngym new`` and ``ngym doctor`` only.

There is no hook per step: a call costs a quarter of a step even when nobody listens.
"""

from __future__ import annotations

import functools
import importlib
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pluggy

from neurogym_core.ecosystem.discovery import declared
from neurogym_core.ecosystem.names import clean, said_by
from neurogym_core.ecosystem.records import (
    Installed,
    Listed,
    Offer,
    PackageInfo,
    Problem,
    removal,
)
from neurogym_core.ecosystem.switches import DISABLE, STRICT, is_on
from neurogym_core.errors import PluginError, RegistryError, did_you_mean, listed

PROJECT = "neurogym"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Mark a function as an implementation of the hook of its name; see `Hooks`.

Args:
    function: the function; it may leave out arguments of the hook.
    specname: name of the hook, if not that of the function.
    tryfirst, trylast: whether to call it before, or after, those of other plug-ins.
    optionalhook: whether an unknown hook is no error.
    wrapper, hookwrapper: whether it wraps the other implementations, see pluggy.

Example:
    >>> from neurogym_core import hookimpl
    >>> @hookimpl
    ... def ngym_wrap_env(env, spec):
    ...     return env
"""


class Hooks:
    """The hooks there are. An implementation may leave out arguments that it does not use."""

    @hookspec
    def ngym_wrap_env(self, env: Any, spec: Any) -> Any:
        """Wrap every environment that `make` builds, once.

        Args:
            env: the environment so far; what the plug-in before this one returned.
            spec: Gymnasium's spec of it.

        Returns:
            The wrapped environment, or None to leave it as it is. An error here stops `make`,
            naming the plug-in.
        """

    @hookspec
    def ngym_trial_end(self, env: Any, trial: Any) -> None:
        """Look at the record of a trial that has just ended; what is returned is ignored.

        Args:
            env: the environment it was played in.
            trial: the record, as in ``info["trial"]``. It is not to be changed.
        """

    @hookspec
    def ngym_check_task(self, spec: Any) -> Any:
        """Run checks of one's own when a task is checked.

        Args:
            spec: Gymnasium's spec of the task.

        Returns:
            What the conformance kit reports, or None.
        """

    @hookspec
    def ngym_package_created(self, folder: Any, task: str) -> Any:
        """Complete a package that `ngym new` has just written.

        Args:
            folder: `pathlib.Path` of the new package, named like its distribution.
            task: name of the task's class; its entry point has the name ``{task}-v0``.

        Returns:
            A line for the terminal that says what was done, or None.
        """


class RegistryHooks:
    """The hooks of packages that know a registry."""

    @hookspec
    def ngym_listed(self, name: str, offline: bool) -> Sequence[Listed]:
        """Look a name up among the tasks and packages that could be installed.

        Args:
            name: id or bare name of a task, or the name of a package.
            offline: use no network.

        Returns:
            What the name means; several where several packages offer it, and nothing for an unknown
            name. `RegistryError` says why a registry cannot be read.
        """

    @hookspec
    def ngym_looks_like(self, distribution: str) -> str | None:
        """Find the package that people could take a new one for. Uses no network.

        Args:
            distribution: the name of the new package.

        Returns:
            The name of the other package, which may be the same; None when there is none.
        """

    @hookspec
    def ngym_checkup(self, packages: Sequence[PackageInfo]) -> Sequence[tuple[str, Problem]]:
        """Find problems with installed packages, for ``ngym doctor``. Uses no network.

        Args:
            packages: all that are installed.

        Returns:
            (distribution, problem) for each problem.
        """


SPECIFICATIONS = {"neurogym.plugins": Hooks, "neurogym.registries": RegistryHooks}
"""{entry-point group: the hooks that its modules implement}"""


def hooks_of(group: str) -> tuple[str, ...]:
    """The names of a group's hooks."""
    return tuple(name for name in vars(SPECIFICATIONS[group]) if name.startswith("ngym_"))


@dataclass(frozen=True, kw_only=True)
class PluginFailure:
    """What went wrong with one plug-in; ``phase`` is compatibility, declaration, import, register,
    hooks, or a hook.
    """

    distribution: str
    version: str
    group: str
    name: str
    phase: str
    message: str
    traceback: str = ""

    def __str__(self) -> str:
        """One sentence with the name of the culprit and the command that removes it."""
        return (
            f"Plug-in {clean(self.name)!r} of {self.distribution} {self.version} failed (phase:"
            f" {self.phase}): {self.message.rstrip('.')}. Block it with"
            f" NGYM_BLOCK={self.distribution}, or remove it: `{removal(self.distribution)}`."
        )


class PluginFailureError(PluginError):
    """A `PluginError` that knows which failure it is about."""

    failure: PluginFailure

    @classmethod
    def of(cls, failure: PluginFailure) -> PluginFailureError:
        """The error for this failure."""
        error = cls(str(failure))
        error.failure = failure
        return error


@dataclass
class Plugins:
    """The plug-ins that were loaded, by the entry point each came from, and the failures of the
    others.
    """

    manager: pluggy.PluginManager
    loaded: dict[str, tuple[Offer, Any]] = field(default_factory=dict)
    failures: list[PluginFailure] = field(default_factory=list)

    def implementing(self, hook: str) -> Iterator[tuple[Offer, Callable[..., list[Any]]]]:
        """Each plug-in with this hook, in pluggy's order, and a callable that runs that plug-in's
        alone.
        """
        order = dict.fromkeys(
            one.plugin_name for one in reversed(getattr(self.manager.hook, hook).get_hookimpls())
        )
        for name in order:
            others = [plugin for key, (_, plugin) in self.loaded.items() if key != name]
            yield self.loaded[name][0], self.manager.subset_hook_caller(hook, others)


def plugins() -> Plugins:
    """The plug-ins of the installed packages, loaded at the first call.

    Raises:
        PluginError: one failed, and `NGYM_STRICT` is set.
    """
    return _required("neurogym.plugins")


def registries() -> Plugins:
    """The modules of installed packages that know a registry, loaded at the first call.

    Raises:
        PluginError: one failed, and `NGYM_STRICT` is set.
    """
    return _required("neurogym.registries")


def _required(group: str) -> Plugins:
    found = _loaded(declared(), not is_on(DISABLE), group)
    if found.failures and is_on(STRICT):
        raise PluginError(
            "NGYM_STRICT is set and plug-ins failed:\n" + "\n".join(map(str, found.failures))
        )
    return found


def wrap_env(env: Any, spec: Any) -> Any:
    """The environment after every plug-in's ``ngym_wrap_env``, each given what the one before
    returned.

    Raises:
        PluginError: a plug-in's hook failed, or returned something that is no environment. Names
            the plug-in.
    """
    for offer, call in plugins().implementing("ngym_wrap_env"):
        for wrapped in _run(offer, "ngym_wrap_env", call, env=env, spec=spec):
            env = _checked(offer, wrapped)
    return env


def trial_end_listeners() -> tuple[Callable[[Any, Any], None], ...]:
    """What to call with ``(env, trial)`` after each trial: one callable a plug-in, and ``()`` when
    nobody listens.

    A listener never raises (an experiment is not lost to a logger): a failure is kept, and warned
    about once per plug-in. With `NGYM_STRICT` it raises `PluginError`."""
    found = plugins()
    return tuple(
        _Listener(found, offer, call) for offer, call in found.implementing("ngym_trial_end")
    )


def check_task(spec: Any) -> list[tuple[str, Any]]:
    """What each plug-in's ``ngym_check_task`` returned: (distribution, result), or a
    `PluginFailure` as the result.
    """
    results: list[tuple[str, Any]] = []
    for offer, call in plugins().implementing("ngym_check_task"):
        try:
            results += [(offer.distribution, result) for result in call(spec=spec)]
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            results.append((offer.distribution, _failure(offer, "ngym_check_task", error)))
    return results


def package_created(folder: Path, task: str) -> list[str]:
    """Call every plug-in's ``ngym_package_created``; returns the lines that they give to be
    printed.

    Raises:
        PluginError: a plug-in's hook failed. Names the plug-in.
    """
    return [
        str(line)
        for offer, call in plugins().implementing("ngym_package_created")
        for line in _run(offer, "ngym_package_created", call, folder=folder, task=task)
    ]


def listed_in_registries(name: str, *, offline: bool) -> list[Listed]:
    """What all registries know of a task or package.

    Raises:
        RegistryError: a registry cannot be read.
        PluginError: a package that knows a registry failed; names it.
    """
    answers = _asked("ngym_listed", name=name, offline=offline)
    return [one for answer in answers for one in answer]


def looks_like(distribution: str) -> list[str]:
    """The packages that people could take a new one for.

    Raises:
        RegistryError, PluginError: see `listed_in_registries`.
    """
    return _asked("ngym_looks_like", distribution=distribution)


def _asked(hook: str, **arguments: Any) -> list[Any]:
    """The answers of all packages that know a registry."""
    answers: list[Any] = []
    for offer, call in registries().implementing(hook):
        try:
            answers += call(**arguments)
        except (KeyboardInterrupt, RegistryError):
            raise
        except BaseException as error:
            raise PluginFailureError.of(_failure(offer, hook, error)) from error
    return answers


def load_plugin(manager: pluggy.PluginManager, offer: Offer) -> Any:
    """Import one plug-in and register it.

    Raises:
        PluginFailureError: it could not be; its ``failure`` is the `PluginFailure`. The manager is
            as it was before.
    """
    for problem in offer.problems:
        if problem.level == "fatal":
            phase = "compatibility" if problem.code == "incompatible" else "declaration"
            raise PluginFailureError.of(_failure(offer, phase, problem.message))
    plugin = _phase(offer, "import", lambda: _import(offer.value))
    try:
        _phase(offer, "register", lambda: manager.register(plugin, name=offer.id))
        _check_hooks(manager, offer, plugin)
    except PluginFailureError:
        # pluggy registers hook by hook, so a plug-in that fails half-way has to be taken out again.
        if manager.has_plugin(offer.id):
            manager.unregister(name=offer.id)
        raise
    return plugin


def new_manager(group: str = "neurogym.plugins") -> pluggy.PluginManager:
    """A manager that knows the hooks of a group and has no plug-ins."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(SPECIFICATIONS[group])
    return manager


@functools.lru_cache(maxsize=8)
def _loaded(scan: Installed, wanted: bool, group: str) -> Plugins:
    """Loaded once for each scan, so that `refresh` forgets plug-ins and failures too."""
    found = Plugins(new_manager(group))
    there = scan.plugins if group == "neurogym.plugins" else scan.registries
    offers = [offer for offer in there if wanted and not offer.has("blocked")]
    # pluggy calls the last registered first: registering backwards makes the order of the calls
    # alphabetical.
    for offer in reversed(offers):
        try:
            found.loaded[offer.id] = offer, load_plugin(found.manager, offer)
        except PluginFailureError as error:
            _keep(found, error.failure)
    return found


def _keep(found: Plugins, failure: PluginFailure) -> None:
    found.failures.append(failure)
    warnings.warn(str(failure), RuntimeWarning, stacklevel=2)


def _import(value: str) -> Any:
    module, _, attribute = value.partition(":")
    found: Any = importlib.import_module(module)
    for part in attribute.split(".") if attribute else ():
        found = getattr(found, part)
    return found


def _check_hooks(manager: pluggy.PluginManager, offer: Offer, plugin: Any) -> None:
    """Refuse a plug-in with a hook that does not exist: it would never be called, and its author
    never told.
    """
    callers = manager.get_hookcallers(plugin) or []
    known = hooks_of(offer.group)
    unknown = [
        caller.name for caller in callers if not caller.has_spec() and not _optional(caller, offer)
    ]
    if unknown:
        hint = did_you_mean(unknown[0], known)
        raise PluginFailureError.of(
            _failure(
                offer, "hooks", f"unknown hooks {listed(unknown)}.{hint} Known: {listed(known)}"
            )
        )
    if not callers:
        raise PluginFailureError.of(
            _failure(offer, "hooks", f"it implements no hook. Known: {listed(known)}")
        )


def _optional(caller: Any, offer: Offer) -> bool:
    return all(one.optionalhook for one in caller.get_hookimpls() if one.plugin_name == offer.id)


def _phase(offer: Offer, phase: str, action: Callable[[], Any]) -> Any:
    """What `action` returns; anything it raises, `SystemExit` included, becomes an error with a
    `PluginFailure`.
    """
    try:
        return action()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise PluginFailureError.of(_failure(offer, phase, error)) from error


def _run(offer: Offer, hook: str, call: Callable[..., list[Any]], **arguments: Any) -> list[Any]:
    return _phase(offer, hook, lambda: call(**arguments))


def _checked(offer: Offer, env: Any) -> Any:
    if not (hasattr(env, "step") and hasattr(env, "reset")):
        message = f"ngym_wrap_env returned {type(env).__name__}, expected an environment or None"
        raise PluginFailureError.of(_failure(offer, "ngym_wrap_env", message))
    return env


def _failure(offer: Offer, phase: str, what: BaseException | str) -> PluginFailure:
    return PluginFailure(
        distribution=offer.distribution,
        version=offer.version,
        group=offer.group,
        name=offer.name,
        phase=phase,
        message=what if isinstance(what, str) else clean(said_by(what)),
        traceback="" if isinstance(what, str) else _traceback(what),
    )


def _traceback(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error))
    except Exception:  # an exception that cannot even be printed
        return ""


class _Listener:
    """Calls one plug-in's ``ngym_trial_end``."""

    def __init__(self, found: Plugins, offer: Offer, call: Callable[..., list[Any]]):
        self.found, self.offer, self.call = found, offer, call

    def __call__(self, env: Any, trial: Any) -> None:
        try:
            _run(self.offer, "ngym_trial_end", self.call, env=env, trial=trial)
        except PluginFailureError as error:
            if is_on(STRICT):
                raise
            self.keep(error.failure)

    def keep(self, failure: PluginFailure) -> None:
        if all(
            (one.distribution, one.name, one.phase) != _who(failure) for one in self.found.failures
        ):
            _keep(self.found, failure)


def _who(failure: PluginFailure) -> tuple[str, str, str]:
    return failure.distribution, failure.name, failure.phase
