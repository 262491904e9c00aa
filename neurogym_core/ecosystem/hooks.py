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
commands ``ngym info`` and ``ngym new`` call these hooks. For the same reason, there are more
groups: `CheckupHooks` (``neurogym.checkups``, for ``ngym doctor``), `FormerNameHooks`
(``neurogym.former_names``, for errors about unknown names), `StudyHooks` (``neurogym.studies``, for
``ngym plot`` and ``ngym run``) and `FilmHooks` (``neurogym.films``, for ``ngym plot`` and
``env.render``).

There is no hook per step: calling pluggy costs a quarter of a step even without a plug-in.
"""

from __future__ import annotations

import pkgutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import pluggy

from neurogym_core.ecosystem.companions import FILM, STUDY, comes_with
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
from neurogym_core.errors import (
    MissingDependencyError,
    PluginError,
    RegistryError,
    did_you_mean,
    listed,
)

if TYPE_CHECKING:
    import numpy as np

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


class CheckupHooks:
    """The hook of packages that find problems with installed packages."""

    @hookspec
    def ngym_checkup(
        self, packages: Sequence[PackageInfo], imports: bool, seconds: float
    ) -> Sequence[tuple[str, str, Problem]]:
        """Find problems with installed packages, for ``ngym doctor``.

        Args:
            packages: all installed packages.
            imports: whether their code may run.
            seconds: time limit for each import.

        Returns:
            (distribution, id of the offer or "", problem) for each problem.
        """


class FormerNameHooks:
    """The hook of packages that know the names of another library."""

    @hookspec(firstresult=True)
    def ngym_former_name(self, kind: str, name: str, known: Sequence[str]) -> str | None:
        """Say what replaces a name of another library, for the error about an unknown name.

        Args:
            kind: "argument" (a parameter or reward), "env", "dataset" (an attribute of these) or
                "module" (an attribute of `neurogym_core`).
            name: the unknown name.
            known: the names of arguments that exist.

        Returns:
            A sentence, or None for a name that the library does not have.
        """


class StudyHooks:
    """The hooks of packages that analyse, draw sessions, and read and write experiment files.

    An experiment is a mapping with "task" (id or "file.py:Class"), "settings" (keywords of the
    task), "wrap" (pairs of name and settings), "imposed" (conditions), and "seed", "trials",
    "steps", "subject" and "subjects", as for `neurogym_core.run`. It may have other entries.
    """

    @hookspec(firstresult=True)
    def ngym_session_figure(
        self, task: Any, subject: str, n_trials: int | None, seed: int,
        conditions: Mapping[str, Any], wrap: Sequence[Any], asked: bool,
    ) -> Any:  # fmt: skip
        """Return the figure of a session of one subject, a matplotlib figure.

        Args:
            task, subject, seed, conditions, wrap: as in `neurogym_core.run`.
            n_trials: number of trials; None: as many as the package chooses.
            asked: whether a session was asked for. If not, the result is None for a task of which
                one trial shows more.
        """

    @hookspec(firstresult=True)
    def ngym_save_figure(self, figure: Any, path: Any, style: str) -> Any:
        """Write the figure of a trial or session in the sizes of a style, and return the path.

        Args:
            figure: a matplotlib figure in the sizes of a screen.
            path: the file.
            style: "screen", "paper" or "slide".
        """

    @hookspec(firstresult=True)
    def ngym_read_experiment(self, path: str, trust: bool) -> Any:
        """Return the experiment in a file.

        Args:
            path: the file.
            trust: whether to run the code of a task in a Python file that the file names.
        """

    @hookspec(firstresult=True)
    def ngym_save_experiment(self, path: Any, experiment: Mapping[str, Any]) -> Any:
        """Write an experiment to a file, and return the path.

        Args:
            path: the file.
            experiment: the experiment.
        """

    @hookspec(firstresult=True)
    def ngym_sensitivity(self, hits: int, signals: int, false_alarms: int, noises: int) -> Any:
        """Return the numbers of signal detection, name -> (value, low, high), for `ngym run`.

        Args:
            hits, signals: answers to signals, and trials with a signal.
            false_alarms, noises: answers without a signal, and trials without one.
        """


class FilmHooks:
    """The hooks of packages that draw frames and films."""

    @hookspec(firstresult=True)
    def ngym_frame(self, task: Any, buffers: Any) -> Any:
        """Return the figure of the trial so far, (height, width, 3) uint8, for ``env.render``.

        Args:
            task: the task.
            buffers: the steps of the trial, as in `neurogym_core.plots.trace_so_far`.
        """

    @hookspec(firstresult=True)
    def ngym_film(
        self, path: Any, task: Any, subject: str, n_trials: int, seed: int,
        conditions: Mapping[str, Any], wrap: Sequence[Any], progress: Callable[[int], object],
    ) -> Any:  # fmt: skip
        """Write a film of a subject at play, and return the path.

        Args:
            path: file of the film.
            task, subject, seed, conditions, wrap: as in `neurogym_core.plots.trace_of`.
            n_trials: number of trials.
            progress: function to call with the number of trials so far, after each.
        """

    @hookspec(firstresult=True)
    def ngym_env_figure(self, name: str, seed: int | None) -> Any:
        """Return the figure of one trial of a Gymnasium env that is not a `Task`.

        Args:
            name: the env, as for `neurogym_core.make`.
            seed: seed of the trial.
        """


SPECIFICATIONS = {
    "neurogym.plugins": Hooks,
    "neurogym.registries": RegistryHooks,
    "neurogym.checkups": CheckupHooks,
    "neurogym.former_names": FormerNameHooks,
    "neurogym.studies": StudyHooks,
    "neurogym.films": FilmHooks,
}
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


@dataclass
class Plugins:
    """The loaded plug-ins by the id of their entry points, and the failures of the others."""

    manager: pluggy.PluginManager
    loaded: dict[str, tuple[Offer, Any]] = field(default_factory=dict)
    failures: list[PluginFailure] = field(default_factory=list)

    def implementing(self, hook: str) -> Iterator[tuple[Offer, Callable[..., list[Any]]]]:
        """Yield each plug-in with this hook, and a callable that runs its implementation only.

        The plug-ins come in pluggy's order. The callable raises `PluginFailureError`.
        """
        order = dict.fromkeys(
            one.plugin_name for one in reversed(getattr(self.manager.hook, hook).get_hookimpls())
        )
        for name in order:
            others = [plugin for key, (_, plugin) in self.loaded.items() if key != name]
            offer = self.loaded[name][0]
            yield offer, partial(_phase, offer, hook, self.manager.subset_hook_caller(hook, others))

    def keep(self, failure: PluginFailure) -> None:
        """Keep a failure, and warn of it."""
        self.failures.append(failure)
        warnings.warn(str(failure), RuntimeWarning, stacklevel=2)


def plugins(group: str = "neurogym.plugins") -> Plugins:
    """Return the plug-ins of the installed packages, which are loaded by the first call.

    Args:
        group: their entry-point group, a key of `SPECIFICATIONS`.

    Raises:
        PluginError: a plug-in failed, and `NGYM_STRICT` is set.
    """
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
        for env in call(env=env, spec=spec):  # noqa: B020
            if not (hasattr(env, "step") and hasattr(env, "reset")):
                message = (
                    f"ngym_wrap_env returned {type(env).__name__}, expected an environment or None"
                )
                raise _failure(offer, "ngym_wrap_env", message)
    return env


def trial_end_listeners() -> tuple[Callable[[Any, Any], None], ...]:
    """Return the functions to call with ``(env, trial)`` after each trial, one per plug-in.

    A listener raises no exceptions, so that a broken logger cannot stop an experiment: its failure
    is kept, with one warning per plug-in. If `NGYM_STRICT` is set, it raises `PluginError`.
    """
    found = plugins()

    def listen(offer: Offer, call: Callable[..., list[Any]], env: Any, trial: Any) -> None:
        try:
            call(env=env, trial=trial)
        except PluginFailureError as error:
            if is_on(STRICT):
                raise
            same = (offer.distribution, offer.name, error.failure.phase)
            if same not in {(one.distribution, one.name, one.phase) for one in found.failures}:
                found.keep(error.failure)

    return tuple(
        partial(listen, offer, call) for offer, call in found.implementing("ngym_trial_end")
    )


def ask_registries(hook: str, **given: Any) -> list[Any]:
    """Return the answers of all packages that have a hook of `RegistryHooks`, in one list.

    Args:
        hook: name of the hook.
        given: arguments of the hook.

    Raises:
        RegistryError: a registry cannot be read.
        PluginError: a hook failed; names the package.
    """
    found = plugins("neurogym.registries").implementing(hook)
    answers = [answer for _, call in found for answer in call(**given)]
    return [one for some in answers for one in ([some] if isinstance(some, str) else some)]


def check_up(
    offer: Offer, packages: Sequence[PackageInfo], imports: bool, seconds: float
) -> list[tuple[str, str, Problem]]:
    """Return the problems that one offer of `CheckupHooks` finds; see ``ngym_checkup``.

    Raises:
        PluginFailureError: it cannot be loaded, or its hook failed.
    """
    manager = new_manager(offer.group)
    load_plugin(manager, offer)
    found = _phase(
        offer, "ngym_checkup", manager.hook.ngym_checkup,
        packages=packages, imports=imports, seconds=seconds,
    )  # fmt: skip
    return [problem for some in found for problem in some]


def ask(hook: str, what: str, **given: Any) -> Any:
    """Return the answer of the installed package that has a hook of `StudyHooks` or `FilmHooks`.

    Args:
        hook: name of the hook.
        what: the request, for the message.
        given: arguments of the hook, whose errors are passed on.

    Raises:
        MissingDependencyError: no package has the hook; names the package that does.
    """
    answer = answer_of(hook, **given)
    if answer is None:
        package = FILM if hasattr(FilmHooks, hook) else STUDY
        raise MissingDependencyError(comes_with(what, package))
    return answer


def answer_of(hook: str, **given: Any) -> Any:
    """Return the answer of the first package that has one, as `ask` does, or None."""
    group = "neurogym.films" if hasattr(FilmHooks, hook) else "neurogym.studies"
    return getattr(plugins(group).manager.hook, hook)(**given)


def picture_of(task: Any, buffers: Any) -> np.ndarray:
    """Return the figure of the trial so far, (height, width, 3) uint8; see `ask`."""
    picture: np.ndarray = ask("ngym_frame", "render()", task=task, buffers=buffers)
    return picture


def load_plugin(manager: pluggy.PluginManager, offer: Offer) -> Any:
    """Import one plug-in and register it.

    Raises:
        PluginFailureError: the plug-in failed, see its ``failure``; the manager is unchanged.
    """
    for problem in offer.problems:
        if problem.level == "fatal":
            phase = "compatibility" if problem.code == "incompatible" else "declaration"
            raise _failure(offer, phase, problem.message)
    # `resolve_name` imports a name without a colon by trial and error, which hides the error.
    value = offer.value if ":" in offer.value else f"{offer.value}:"
    plugin = _phase(offer, "import", pkgutil.resolve_name, value)
    try:
        _phase(offer, "register", manager.register, plugin, name=offer.id)
        # pluggy would silently never call a hook that it does not know.
        callers, known = manager.get_hookcallers(plugin) or [], hooks_of(offer.group)
        unknown = [
            caller.name
            for caller in callers
            if not caller.has_spec()
            and not all(
                one.optionalhook for one in caller.get_hookimpls() if one.plugin_name == offer.id
            )
        ]
        if unknown:
            said = f"unknown hooks {listed(unknown)}.{did_you_mean(unknown[0], known)}"
            raise _failure(offer, "hooks", f"{said} Known: {listed(known)}")
        if not callers:
            raise _failure(offer, "hooks", f"it implements no hook. Known: {listed(known)}")
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


@lru_cache(maxsize=8)
def _loaded(scan: Installed, wanted: bool, group: str) -> Plugins:
    """Load the plug-ins of a scan; a new scan, as after `refresh`, loads them again."""
    found = Plugins(new_manager(group))
    offers: Sequence[Offer] = getattr(scan, group.removeprefix("neurogym."))
    # pluggy calls the last registered plug-in first; this order makes the calls alphabetical.
    for offer in reversed(offers if wanted else ()):
        if offer.has("blocked"):
            continue
        try:
            found.loaded[offer.id] = offer, load_plugin(found.manager, offer)
        except PluginFailureError as error:
            found.keep(error.failure)
    return found


def _phase(offer: Offer, phase: str, action: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call `action`; turn any exception but a `RegistryError` into a `PluginFailureError`.

    This includes `SystemExit`: a plug-in must not end the process.
    """
    try:
        return action(*args, **kwargs)
    except (KeyboardInterrupt, RegistryError):
        raise
    except BaseException as error:
        raise _failure(offer, phase, clean(said_by(error))) from error


def _failure(offer: Offer, phase: str, message: str) -> PluginFailureError:
    failure = PluginFailure(
        distribution=offer.distribution, version=offer.version, group=offer.group, name=offer.name,
        phase=phase, message=message,
    )  # fmt: skip
    error = PluginFailureError(str(failure))
    error.failure = failure
    return error
