"""Hooks of plug-ins (pluggy), and a loader that isolates broken plug-ins from the others.

`Hooks` has them all; `docs/discovery.md` says how a package names its own. A plug-in is imported
when one of its hooks is first called. If it fails, the failure is kept as a `PluginFailureError`, a
warning is issued once, and the others work.

There is no hook per step: calling pluggy costs a quarter of a step even without a plug-in.
"""

from __future__ import annotations

import pkgutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import pluggy

from neurogym_core.ecosystem.discovery import STRICT, declared, is_on, plugins_for
from neurogym_core.ecosystem.names import clean, said_by
from neurogym_core.ecosystem.records import (
    Installed,
    Offer,
    PackageInfo,
    Problem,
    removal,
)
from neurogym_core.errors import DiscoveryError, PluginError, did_you_mean, listed

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
    ... def ngym_check_task(spec):
    ...     return None
"""


class Hooks:
    """The hooks of plug-ins. An implementation may omit arguments that it does not use."""

    @hookspec(firstresult=True)
    def ngym_render(self, env: Any) -> Any:
        """Wrap an env, or vector env, that was made with a render mode, so that it can be rendered.

        Args:
            env: the `TaskEnv` or `TaskVectorEnv`, without other wrappers.

        Returns:
            The wrapped env; its `render` returns the trial so far, (height, width, 3) uint8, or a
            tuple of these.
        """

    @hookspec
    def ngym_check_task(self, spec: Any) -> Any:
        """Run additional checks when a task is checked.

        Args:
            spec: Gymnasium's spec of the task.

        Returns:
            A result for the report of the conformance kit, or None.
        """

    @hookspec
    def ngym_checkup(self, packages: Sequence[PackageInfo]) -> Sequence[tuple[str, str, Problem]]:
        """Find problems with installed packages, for ``ngym doctor``.

        Args:
            packages: all installed packages.

        Returns:
            (distribution, id of the offer or "", problem) for each problem.
        """
        ...

    @hookspec
    def ngym_listed(self, name: str, offline: bool, form: str) -> bool:
        """Print the entry of a task or package that could be installed, for ``ngym info``.

        Args:
            name: id or bare name of a task, or name of a package.
            offline: whether to use no network.
            form: "page", "json", or "bibtex" for the references alone.

        Returns:
            Whether the name is known; nothing is printed on standard output if it is not.
        """
        ...

    @hookspec(firstresult=True)
    def ngym_unknown_name(self, kind: str, name: str, known: Sequence[str]) -> str | None:
        """Say what a name means elsewhere, for the error about it. Uses no network.

        Args:
            kind: "task" (id or bare name; where it can be had), "similar task" (the nearest one
                that can be had), "package" (name of a new one: which other it resembles),
                "argument" (parameter or reward of a task), or "env", "dataset" and "module" (an
                attribute of these; the module is `neurogym_core`).
            name: the unknown name.
            known: the names of arguments that exist; else empty.

        Returns:
            A sentence, or None.
        """

    @hookspec(firstresult=True)
    def ngym_read_experiment(self, path: str) -> Mapping[str, Any] | None:
        """Return the experiment in a file, for ``ngym run FILE.toml``.

        An experiment has "task" (id or "file.py:Class"), "settings" (keywords of the task), "wrap"
        (pairs of name and settings), "imposed" (conditions), and "seed", "split", "trials",
        "steps", "subject" and "subjects", as for `neurogym_core.run`. It may have other entries.

        Args:
            path: the file. If it names Python files, `neurogym_training.check_artefact` has to
                accept it before any of them is run.
        """

    @hookspec(firstresult=True)
    def ngym_save_experiment(self, path: Any, experiment: Mapping[str, Any]) -> Any:
        """Write an experiment to a file, and return the path; see `ngym_read_experiment`."""

    @hookspec(firstresult=True)
    def ngym_sensitivity(
        self, hits: int, signals: int, false_alarms: int, noises: int
    ) -> Mapping[str, tuple[float, float, float]] | None:
        """Return measures of signal detection, name -> (value, low, high), for ``ngym run``.

        Args:
            hits, signals: answers to signals, and trials with a signal.
            false_alarms, noises: answers without a signal, and trials without one.
        """


HOOKS = tuple(name for name in vars(Hooks) if name.startswith("ngym_"))
"""Names of the hooks."""


class PluginFailureError(PluginError):
    """The failure of a plug-in in a phase: compatibility, declaration, import, register, hooks, or
    the name of a hook.
    """

    distribution = version = name = phase = ""


@dataclass
class Plugins:
    """The plug-ins loaded for a hook, by the id of their entry points, and failures of others."""

    hook: str

    manager: pluggy.PluginManager
    loaded: dict[str, tuple[Offer, Any]] = field(default_factory=dict)
    failures: list[PluginFailureError] = field(default_factory=list)

    @property
    def caller(self) -> pluggy.HookCaller:
        """Calls the hook in all plug-ins."""
        return getattr(self.manager.hook, self.hook)

    def implementing(self) -> Iterator[tuple[Offer, Callable[..., list[Any]]]]:
        """Yield each plug-in with the hook, and a callable that runs its implementation only."""
        for name in dict.fromkeys(one.plugin_name for one in reversed(self.caller.get_hookimpls())):
            offer, _ = self.loaded[name]
            others = [plugin for key, (_, plugin) in self.loaded.items() if key != name]
            alone = self.manager.subset_hook_caller(self.hook, others)
            yield offer, partial(_phase, offer, self.hook, alone)

    def keep(self, failure: PluginFailureError) -> None:
        """Keep a failure, and warn of it."""
        self.failures.append(failure)
        warnings.warn(str(failure), RuntimeWarning, stacklevel=2)


def plugins(hook: str) -> Plugins:
    """Return the plug-ins that may implement a hook, which are loaded by the first call for it."""
    found = _loaded(hook, declared(), tuple(plugins_for(hook)))
    if found.failures and is_on(STRICT):
        raise PluginError(
            "NGYM_STRICT is set and plug-ins failed:\n" + "\n".join(map(str, found.failures))
        )
    return found


def ask(hook: str, **given: Any) -> Any:
    """Return the answer of the first plug-in that has one; None if none has."""
    return plugins(hook).caller(**given)


def has_hook(hook: str) -> bool:
    """Return whether an installed plug-in has a hook; the plug-ins that may have it are loaded.

    Args:
        hook: name of the hook, see `Hooks`.
    """
    return bool(plugins(hook).caller.get_hookimpls())


def ask_plugins(hook: str, **given: Any) -> Iterator[tuple[Offer, Any]]:
    """Call a hook of each plug-in that has it, and yield its offer and its answer.

    The answer of a plug-in that fails is the `PluginError` that names it.

    Args:
        hook: name of the hook, see `Hooks`.
        given: arguments of the hook.

    Raises:
        PluginError: NGYM_STRICT is set, and a plug-in cannot be loaded; else that is a warning.
        DiscoveryError: a plug-in raises it, to answer that a name is unknown or has two meanings.
    """
    for offer, call in plugins(hook).implementing():
        try:
            yield offer, call(**given)
        except PluginFailureError as error:
            yield offer, error


def load_plugin(offer: Offer, manager: pluggy.PluginManager | None = None) -> pluggy.PluginManager:
    """Import a plug-in, and return a manager of pluggy that has it.

    Args:
        offer: the plug-in.
        manager: the manager to add it to; None: a new one.

    Raises:
        PluginError: the plug-in fails; gives the phase, such as "import".
    """
    manager = new_manager() if manager is None else manager
    if problem := offer.obstacle:
        phase = "compatibility" if problem.code == "incompatible" else "declaration"
        raise _failure(offer, phase, problem.message)
    # `resolve_name` imports a name without a colon by trial and error, which hides the error.
    value = offer.value if ":" in offer.value else f"{offer.value}:"
    plugin = _phase(offer, "import", pkgutil.resolve_name, value)
    try:
        _phase(offer, "register", manager.register, plugin, name=offer.id)
        # pluggy would silently never call a hook that it does not know.
        callers = manager.get_hookcallers(plugin) or []
        own = [(one, one.get_hookimpls()) for one in callers if not one.has_spec()]
        unknown = [
            caller.name
            for caller, found in own
            if any(one.plugin_name == offer.id and not one.optionalhook for one in found)
        ]
        if unknown:
            said = f"unknown hooks {listed(unknown)}.{did_you_mean(unknown[0], HOOKS)}"
            raise _failure(offer, "hooks", f"{said} Known: {listed(HOOKS)}")
        if not callers:
            raise _failure(offer, "hooks", f"it implements no hook. Known: {listed(HOOKS)}")
        if not any(offer.implements(caller.name) for caller in callers):
            raise _failure(offer, "hooks", f"it does not implement {offer.name}")
    except PluginFailureError:
        # pluggy registers hook by hook: a plug-in that failed may be registered in part.
        if manager.has_plugin(offer.id):
            manager.unregister(name=offer.id)
        raise
    return manager


def new_manager() -> pluggy.PluginManager:
    """Return a manager with the hooks and no plug-ins."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(Hooks)
    return manager


@lru_cache(maxsize=32)
def _loaded(hook: str, _: Installed, offers: tuple[Offer, ...]) -> Plugins:
    """Load plug-ins for a hook; a new scan, as after `refresh`, loads them again."""
    found = Plugins(hook, new_manager())
    # pluggy calls the last registered plug-in first; this order makes the calls alphabetical.
    for offer in reversed(offers):
        try:
            load_plugin(offer, found.manager)
            found.loaded[offer.id] = offer, found.manager.get_plugin(offer.id)
        except PluginFailureError as error:
            found.keep(error)
    return found


def _phase(offer: Offer, phase: str, action: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call `action`; turn any exception but a `DiscoveryError` into a `PluginFailureError`."""
    try:
        return action(*args, **kwargs)
    except (KeyboardInterrupt, DiscoveryError):
        raise
    except BaseException as error:
        raise _failure(offer, phase, clean(said_by(error))) from error


def _failure(offer: Offer, phase: str, message: str) -> PluginFailureError:
    error = PluginFailureError(
        f"Plug-in {clean(offer.name)!r} of {offer.distribution} {offer.version} failed (phase:"
        f" {phase}): {message.rstrip('.')}. Block it with NGYM_BLOCK={offer.distribution}, or"
        f" remove it: `{removal(offer.distribution)}`."
    )
    error.distribution, error.version = offer.distribution, offer.version
    error.name, error.phase = offer.name, phase
    return error
