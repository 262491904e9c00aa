"""Hooks of plug-ins (pluggy), and a loader that isolates broken plug-ins from the others.

A package names a module (or object) with hook implementations in the entry-point group
``neurogym.plugins``::

    from neurogym_core import hookimpl

    @hookimpl
    def ngym_wrap_env(env, spec):
        return MyLogger(env)

Plug-ins are imported when the first hook is called; listing tasks imports none. Each plug-in is
loaded separately: if one fails, the failure is kept as a `PluginFailure`, a warning is issued once,
and the others work. The module `switches` describes `NGYM_BLOCK`, `NGYM_DISABLE_PLUGIN_AUTOLOAD`
and `NGYM_STRICT`.

Packages that know a registry implement `RegistryHooks`, in the group ``neurogym.registries``. It is
separate because every `make` loads ``neurogym.plugins``, whereas only error messages and the
commands ``ngym info``, ``ngym new`` and ``ngym doctor`` call these hooks.

There is no hook per step: calling pluggy costs a quarter of a step even without a plug-in.
"""

from __future__ import annotations

import functools
import importlib
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
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
    function: the function; it may omit arguments of the hook.
    specname: name of the hook, if the function has another name.
    tryfirst, trylast: whether to call it before, or after, the other implementations.
    optionalhook: whether to accept an unknown hook.
    wrapper, hookwrapper: whether it wraps the other implementations, see pluggy.

Example:
    >>> from neurogym_core import hookimpl
    >>> @hookimpl
    ... def ngym_wrap_env(env, spec):
    ...     return env
"""


class Hooks:
    """The hooks of plug-ins. An implementation may omit arguments that it does not use."""

    @hookspec
    def ngym_wrap_env(self, env: Any, spec: Any) -> Any:
        """Wrap an environment that `make` builds; called once per environment.

        Args:
            env: the environment, as the previous plug-in returned it.
            spec: Gymnasium's spec of the environment.

        Returns:
            The wrapped environment, or None to keep it unchanged. An exception stops `make` with an
            error that names the plug-in.
        """

    @hookspec
    def ngym_trial_end(self, env: Any, trial: Any) -> None:
        """Receive the record of a trial that has just ended. The return value is ignored.

        Args:
            env: the environment of the trial.
            trial: the record, as in ``info["trial"]``; do not change it.
        """

    @hookspec
    def ngym_check_task(self, spec: Any) -> Any:
        """Run additional checks when a task is checked.

        Args:
            spec: Gymnasium's spec of the task.

        Returns:
            A result for the report of the conformance kit, or None.
        """


class RegistryHooks:
    """The hooks of packages that know a registry."""

    @hookspec
    def ngym_listed(self, name: str, offline: bool) -> Sequence[Listed]:
        """Look a name up among the tasks and packages that could be installed.

        Args:
            name: id or bare name of a task, or name of a package.
            offline: whether to use no network.

        Returns:
            The entries of this name: several if several packages offer it, none if it is unknown.
            Raise `RegistryError` if the registry cannot be read.
        """

    @hookspec
    def ngym_resembling(self, name: str) -> Sequence[Listed]:
        """Find the tasks whose names are nearest to an unknown name. Uses no network.

        Args:
            name: id or bare name of a task.

        Returns:
            Up to three entries, which may come from different packages; none if nothing is near.
        """

    @hookspec
    def ngym_looks_like(self, distribution: str) -> str | None:
        """Find a package whose name a new package's name resembles. Uses no network.

        Args:
            distribution: name of the new package.

        Returns:
            The name of the other package, which may be equal; None if there is none.
        """

    @hookspec
    def ngym_checkup(self, packages: Sequence[PackageInfo]) -> Sequence[tuple[str, Problem]]:
        """Find problems with installed packages, for ``ngym doctor``. Uses no network.

        Args:
            packages: all installed packages.

        Returns:
            (distribution, problem) for each problem.
        """


SPECIFICATIONS = {"neurogym.plugins": Hooks, "neurogym.registries": RegistryHooks}
"""{entry-point group: class with the hooks that its modules implement}"""


def hooks_of(group: str) -> tuple[str, ...]:
    """Return the names of a group's hooks."""
    return tuple(name for name in vars(SPECIFICATIONS[group]) if name.startswith("ngym_"))


@dataclass(frozen=True, kw_only=True)
class PluginFailure:
    """The failure of a plug-in.

    ``phase`` is compatibility, declaration, import, register, hooks, or the name of a hook.
    """

    distribution: str
    version: str
    group: str
    name: str
    phase: str
    message: str
    traceback: str = ""

    def __str__(self) -> str:
        """Return a message with the name of the package and the command that removes it."""
        return (
            f"Plug-in {clean(self.name)!r} of {self.distribution} {self.version} failed (phase:"
            f" {self.phase}): {self.message.rstrip('.')}. Block it with"
            f" NGYM_BLOCK={self.distribution}, or remove it: `{removal(self.distribution)}`."
        )


class PluginFailureError(PluginError):
    """A `PluginError` with the `PluginFailure` that caused it."""

    failure: PluginFailure

    @classmethod
    def of(cls, failure: PluginFailure) -> PluginFailureError:
        """Return the error for a failure."""
        error = cls(str(failure))
        error.failure = failure
        return error


@dataclass
class Plugins:
    """The loaded plug-ins by the id of their entry points, and the failures of the others."""

    manager: pluggy.PluginManager
    loaded: dict[str, tuple[Offer, Any]] = field(default_factory=dict)
    failures: list[PluginFailure] = field(default_factory=list)

    def implementing(self, hook: str) -> Iterator[tuple[Offer, Callable[..., list[Any]]]]:
        """Yield each plug-in with this hook, and a callable that runs its implementation only.

        The plug-ins come in pluggy's order.
        """
        order = dict.fromkeys(
            one.plugin_name for one in reversed(getattr(self.manager.hook, hook).get_hookimpls())
        )
        for name in order:
            others = [plugin for key, (_, plugin) in self.loaded.items() if key != name]
            yield self.loaded[name][0], self.manager.subset_hook_caller(hook, others)


def plugins() -> Plugins:
    """Return the plug-ins of the installed packages, which are loaded by the first call.

    Raises:
        PluginError: a plug-in failed, and `NGYM_STRICT` is set.
    """
    return _required("neurogym.plugins")


def registries() -> Plugins:
    """Return the installed modules that know a registry, which are loaded by the first call.

    Raises:
        PluginError: a module failed, and `NGYM_STRICT` is set.
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
    """Apply ``ngym_wrap_env`` of every plug-in to an environment, one after another.

    Raises:
        PluginError: a hook failed or did not return an environment; names the plug-in.
    """
    for offer, call in plugins().implementing("ngym_wrap_env"):
        for wrapped in _run(offer, "ngym_wrap_env", call, env=env, spec=spec):
            env = _checked(offer, wrapped)
    return env


def trial_end_listeners() -> tuple[Callable[[Any, Any], None], ...]:
    """Return the functions to call with ``(env, trial)`` after each trial, one per plug-in.

    A listener raises no exceptions, so that a broken logger cannot stop an experiment: its failure
    is kept, with one warning per plug-in. If `NGYM_STRICT` is set, it raises `PluginError`.
    """
    found = plugins()
    return tuple(
        _Listener(found, offer, call) for offer, call in found.implementing("ngym_trial_end")
    )


def check_task(spec: Any) -> list[tuple[str, Any]]:
    """Call ``ngym_check_task`` of every plug-in; return (distribution, result) for each result.

    If a hook fails, its result is a `PluginFailure`.
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


def listed_in_registries(name: str, *, offline: bool) -> list[Listed]:
    """Return the entries of all registries for the name of a task or package.

    Raises:
        RegistryError: a registry cannot be read.
        PluginError: a hook failed; names the package.
    """
    answers = _asked("ngym_listed", name=name, offline=offline)
    return [one for answer in answers for one in answer]


def resembling_in_registries(name: str) -> list[Listed]:
    """Return the entries of tasks whose names are nearest to an unknown name.

    Raises:
        RegistryError, PluginError: see `listed_in_registries`.
    """
    return [one for answer in _asked("ngym_resembling", name=name) for one in answer]


def looks_like(distribution: str) -> list[str]:
    """Return the packages whose names the name of a new package resembles.

    Raises:
        RegistryError, PluginError: see `listed_in_registries`.
    """
    return _asked("ngym_looks_like", distribution=distribution)


def _asked(hook: str, **arguments: Any) -> list[Any]:
    """Call a hook of all packages that know a registry, and join the answers."""
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
        PluginFailureError: the plug-in failed, see its ``failure``; the manager is unchanged.
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
        # pluggy registers hook by hook: a plug-in that failed may be registered in part.
        if manager.has_plugin(offer.id):
            manager.unregister(name=offer.id)
        raise
    return plugin


def new_manager(group: str = "neurogym.plugins") -> pluggy.PluginManager:
    """Return a manager with the hooks of a group and no plug-ins."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(SPECIFICATIONS[group])
    return manager


@functools.lru_cache(maxsize=8)
def _loaded(scan: Installed, wanted: bool, group: str) -> Plugins:
    """Load the plug-ins of a scan; a new scan, as after `refresh`, loads them again."""
    found = Plugins(new_manager(group))
    there = scan.plugins if group == "neurogym.plugins" else scan.registries
    offers = [offer for offer in there if wanted and not offer.has("blocked")]
    # pluggy calls the last registered plug-in first; this order makes the calls alphabetical.
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
    """Raise an error for a plug-in with an unknown hook, which would silently never be called."""
    callers = manager.get_hookcallers(plugin) or []
    known = hooks_of(offer.group)
    unknown = [
        caller.name
        for caller in callers
        if not caller.has_spec()
        and not all(
            one.optionalhook for one in caller.get_hookimpls() if one.plugin_name == offer.id
        )
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


def _phase(offer: Offer, phase: str, action: Callable[[], Any]) -> Any:
    """Return the result of `action`; turn any exception into a `PluginFailureError`.

    This includes `SystemExit`: a plug-in must not end the process.
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
    except Exception:  # the exception's own ``__str__`` fails
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
        same = (failure.distribution, failure.name, failure.phase)
        known = ((one.distribution, one.name, one.phase) for one in self.found.failures)
        if same not in known:
            _keep(self.found, failure)
