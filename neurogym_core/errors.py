"""The exceptions of the project, in one tree.

::

    NeurogymError
    ├── UnknownNameError (TypeError)          an undeclared parameter, period, channel, condition, …
    ├── InvalidValueError (ValueError)        a known name has an impossible value
    ├── TaskDefinitionError (TypeError)       a task class is wrong; raised when the task is made
    ├── TrialLayoutError (ValueError)         `new_trial` built an impossible trial
    ├── NotSupportedError (TypeError)         the object does not support the operation
    ├── MissingDependencyError (ImportError)  an optional package or the kernel is missing
    ├── FileNotWrittenError (OSError)         a file of results cannot be written
    ├── DiscoveryError (LookupError)
    │   ├── UnknownTaskError                  no installed package offers this id
    │   ├── AmbiguousTaskError                several packages offer this bare name
    │   ├── BrokenTaskError                   importing the installed task failed
    │   └── IncompatibleTaskError             the package needs another version of the core
    └── PluginError (RuntimeError)            a plug-in failed

Every message has three parts: the given value, the expected one, and the next step for the user.
Each class takes one string, because Gymnasium re-raises errors of envs that way."""

from __future__ import annotations

from collections.abc import Iterable


class NeurogymError(Exception):
    """Base of all exceptions that this project raises.

    Example:
        >>> from neurogym_core import NeurogymError, make
        >>> try:
        ...     make("perceptual/PerceptualDecisonMaking-v0")
        ... except NeurogymError as error:
        ...     print(type(error).__name__)
        UnknownTaskError
    """


class UnknownNameError(NeurogymError, TypeError):
    """An undeclared parameter, period, channel, action, condition, reward or option was named."""


class InvalidValueError(NeurogymError, ValueError):
    """A known name was given an impossible value."""


class TaskDefinitionError(NeurogymError, TypeError):
    """A task class is wrong; raised when the task is made, before any trial."""


class TrialLayoutError(NeurogymError, ValueError):
    """`new_trial` built an impossible trial."""


class NotSupportedError(NeurogymError, TypeError):
    """An object does not support the requested operation."""


class MissingDependencyError(NeurogymError, ImportError):
    """An operation needs an optional package, or the compiled kernel, which is not installed."""


class FileNotWrittenError(NeurogymError, OSError):
    """A file cannot be written: there is no room, no permission or no such folder."""


class DiscoveryError(NeurogymError, LookupError):
    """Base of the errors in finding installed tasks, wrappers and plug-ins."""


class UnknownTaskError(DiscoveryError):
    """No installed package offers this id."""


class AmbiguousTaskError(DiscoveryError):
    """Several installed packages offer this bare name."""


class BrokenTaskError(DiscoveryError):
    """The package that offers this id is installed, but importing the task failed."""


class IncompatibleTaskError(DiscoveryError):
    """The package that offers this id needs another version of the core."""


class PluginError(NeurogymError, RuntimeError):
    """A plug-in failed, and its failure must not be ignored."""


def listed(names: Iterable[str]) -> str:
    """Return names as text: ``'a', 'b', 'c'``, or ``none`` if there are none.

    Args:
        names: the names.
    """
    return ", ".join(repr(name) for name in names) or "none"


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """Return the known name that is most similar to `name`, or None if none is close."""
    import difflib  # imported late: it takes a while, and only errors need it

    known = [str(item) for item in known]
    folded = {item.casefold(): item for item in known}
    if name.casefold() in folded:
        return folded[name.casefold()]
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=likeness)
    return folded[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` with a leading blank, or an empty string.

    Args:
        name: the given name.
        known: the names that exist.
    """
    guess = nearest(name, known)
    return f" Did you mean {guess!r}?" if guess is not None else ""


def unknown(
    kind: str, name: object, known: Iterable[str], *, of: str = "", hint: str = ""
) -> UnknownNameError:
    """Return the error for an undeclared name.

    Args:
        kind: the kind of name, e.g. ``"period"``.
        name: the given name.
        known: the names that exist.
        of: the owner of these names, e.g. ``"PerceptualDecisionMaking"``.
        hint: a sentence with a leading blank, instead of the nearest known name.
    """
    known = list(known)
    owner = f" of {of}" if of else ""
    return UnknownNameError(
        f"Unknown {kind} {name!r}{owner}.{hint or did_you_mean(str(name), known)}"
        f" Known: {listed(known)}."
    )
