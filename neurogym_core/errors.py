"""Every error of the project, in one tree.

::

    NeurogymError
    ├── UnknownNameError (TypeError)        a parameter, period, channel, action, condition … nobody declared
    ├── InvalidValueError (ValueError)      a known name with a value that cannot be
    ├── TaskDefinitionError (TypeError)     the task class itself is wrong: found when it is made
    ├── TrialLayoutError (ValueError)       `new_trial` laid out an impossible trial
    ├── NotSupportedError (TypeError)       asked of something that cannot have it; says what is missing
    ├── MissingDependencyError (ImportError)  an optional package, or the compiled kernel, is not installed
    ├── FileNotWrittenError (OSError)       a file of results cannot be written
    ├── DiscoveryError (LookupError)
    │   ├── UnknownTaskError                no installed package offers this id
    │   ├── AmbiguousTaskError              several packages offer this bare name
    │   ├── BrokenTaskError                 the package is there, but its code fails when imported
    │   └── IncompatibleTaskError           the package needs another version of the core
    ├── ManifestError (ValueError)          an ``ngym.toml`` breaks a rule
    ├── PluginError (RuntimeError)          a plug-in failed, or failures were asked to be errors
    └── RegistryError (RuntimeError)        a registry, its index or a wheel is not as it has to be
        └── InstallError                    a package was not installed or removed; says what is as it was

Every message has three parts: what was given, what was expected, what to do now. Each class is
built from one string, because Gymnasium re-raises errors of environments that way."""

from __future__ import annotations

from collections.abc import Iterable


class NeurogymError(Exception):
    """Base of every error raised on purpose by this project.

    Example:
        >>> from neurogym_core import NeurogymError, make
        >>> try:
        ...     make("perceptual/PerceptualDecisonMaking-v0")
        ... except NeurogymError as error:
        ...     print(type(error).__name__)
        UnknownTaskError
    """


class UnknownNameError(NeurogymError, TypeError):
    """A name that nobody declared: a parameter, period, channel, action, condition, reward or
    option.
    """


class InvalidValueError(NeurogymError, ValueError):
    """A known name was given a value that cannot be."""


class TaskDefinitionError(NeurogymError, TypeError):
    """A task class is wrong in itself; found when the task is made, before any trial."""


class TrialLayoutError(NeurogymError, ValueError):
    """`new_trial` laid out an impossible trial."""


class NotSupportedError(NeurogymError, TypeError):
    """Something was asked of an object that cannot have it."""


class MissingDependencyError(NeurogymError, ImportError):
    """An optional package, or the compiled kernel, is needed for this and is not installed."""


class FileNotWrittenError(NeurogymError, OSError):
    """A file cannot be written: no room, no permission, no such folder."""


class DiscoveryError(NeurogymError, LookupError):
    """Base of the errors about finding installed tasks, wrappers and plug-ins."""


class UnknownTaskError(DiscoveryError):
    """No installed package offers this id."""


class AmbiguousTaskError(DiscoveryError):
    """Several installed packages offer this bare name."""


class BrokenTaskError(DiscoveryError):
    """The package that offers this id is installed, but importing the task failed."""


class IncompatibleTaskError(DiscoveryError):
    """The package that offers this id needs another version of the core."""


class ManifestError(NeurogymError, ValueError):
    """A package's ``ngym.toml`` breaks a rule."""


class PluginError(NeurogymError, RuntimeError):
    """A plug-in failed where its failure must not be passed over."""


class RegistryError(NeurogymError, RuntimeError):
    """A registry, its index or a wheel is not as it has to be, or cannot be reached."""


class InstallError(RegistryError):
    """A package was not installed or not removed."""


def listed(names: Iterable[str]) -> str:
    """The names as prose: ``'a', 'b', 'c'``, or ``none`` when there are none."""
    return ", ".join(repr(name) for name in names) or "none"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, or None when nothing is close."""
    import difflib  # every listing would wait for it, and only an error needs it

    known = [str(item) for item in known]
    folded = {item.casefold(): item for item in known}
    if name.casefold() in folded:
        return folded[name.casefold()]
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`` Did you mean 'x'?`` with a leading blank, or an empty string."""
    guess = nearest(name, known)
    return f" Did you mean {guess!r}?" if guess is not None else ""


def unknown(kind: str, name: object, known: Iterable[str], *, of: str = "") -> UnknownNameError:
    """The error for an undeclared name.

    Args:
        kind: what the name should have been, e.g. ``"period"``.
        name: what was given.
        known: the names that exist.
        of: whose names these are, e.g. ``"PerceptualDecisionMaking"``.
    """
    known = list(known)
    owner = f" of {of}" if of else ""
    return UnknownNameError(
        f"Unknown {kind} {name!r}{owner}.{did_you_mean(str(name), known)} Known: {listed(known)}."
    )
