"""What `run` and `plot` share: options that set a task up, and how their texts are read."""

from __future__ import annotations

import contextlib
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from neurogym_core.ecosystem.names import clean
from neurogym_core.errors import InvalidValueError, UnknownNameError

SUBJECTS = (
    "random", "guess", "rest", "oracle", "late_oracle", "premature", "integrator",
    "q_learner", "hybrid", "win_stay_lose_shift", "diffusion",
)  # fmt: skip
"""Names of the reference subjects; those of `neurogym_core.subjects`, which imports
NumPy.
"""

_NAMED = re.compile(r"\s*\w+\s*=")
_CALLED = re.compile(r"[a-z_]+\(.*\)")
_WORDS = {"true": True, "yes": True, "false": False, "no": False, "none": None}


def play_options(subject: str | None, seed: int | None = 0) -> Callable[[Callable], Callable]:
    """The options of a command that plays a task; `subject` plays where none is named.

    Where a file may say so too, nothing is the default here, and the help names what holds in the
    end."""
    by_default = "" if subject else "  [default: random]"
    fixed = "" if seed is not None else "  [default: 0]"
    options = (
        click.option("--subject", default=subject, show_default=True, type=click.Choice(SUBJECTS),
                     help=f"Who plays.{by_default}"),
        click.option("--seed", default=seed, show_default=True, type=click.IntRange(min=0),
                     help=f"Fixes all that is random.{fixed}"),
        click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE",
                     help="A parameter of the task, e.g. coherences=0,51.2; may be given again."),
        click.option("--timing", "timing", multiple=True, metavar="PERIOD=MS",
                     help="A period's duration, e.g. delay=500 or 'delay=uniform(500,1500)'."),
        click.option("--condition", "conditions", multiple=True, metavar="NAME=VALUE",
                     help="Impose a condition on every trial, e.g. coherence=51.2."),
        click.option("--wrap", "wrap", multiple=True, metavar="NAME[:KEY=VALUE,...]",
                     help="A wrapper with its settings, e.g. reaction_time:urgency=-0.01; innermost first."),
    )  # fmt: skip

    def decorated(command: Callable) -> Callable:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


def made_task(
    name: str, parameters: Sequence[str], timing: Sequence[str], wrap: Sequence[tuple] = ()
) -> Any:
    """The task that was asked for, with its settings and wrappers of tasks.

    Raises:
        click.UsageError: settings that it does not take.
        DiscoveryError: there is no such task.
        NotSupportedError: a plain Gymnasium env.
    """
    from neurogym_core.play.make import make_task, resolve

    found = resolve(name)
    with usage_errors():
        return make_task(found, wrap=wrap, **task_settings(found, parameters, timing))


def task_settings(found: Any, parameters: Sequence[str], timing: Sequence[str]) -> dict[str, Any]:
    """Keywords of a task, from ``--set`` and ``--timing``."""
    from neurogym_core.trials.distributions import parse

    values = {
        key: _parameter(key, text, getattr(found, key, None))
        for key, text in _pairs("--set", parameters)
    }
    durations = {key: parse(text) for key, text in _pairs("--timing", timing)}
    return {**values, **({"timing": durations} if durations else {})}


def read_wrap(text: str) -> tuple[str, dict[str, Any]]:
    """A wrapper's name and settings, of ``name`` or ``name:key=value,key=value``.

    Raises:
        click.UsageError: something else.
        DiscoveryError: there is no such wrapper.
    """
    from neurogym_core.ecosystem.discovery import load_wrapper

    name, _, settings = text.partition(":")
    wrapper = load_wrapper(name.strip())
    pairs = _pairs("--wrap", _joined_values(_split(settings))) if settings else []
    return name.strip(), {key: _setting(value, getattr(wrapper, key, None)) for key, value in pairs}


def _joined_values(parts: Sequence[str]) -> list[str]:
    """Parts between commas, those without a name of their own joined to the one before."""
    joined: list[str] = []
    for part in parts:
        if joined and not _NAMED.match(part):
            joined[-1] += f",{part}"
        else:
            joined.append(part)
    return joined


def _setting(text: str, default: Any) -> Any:
    """A wrapper's setting: as TOML writes it, a distribution, or as a task's parameter."""
    if _CALLED.fullmatch(text):
        from neurogym_core.trials.distributions import parse

        return parse(text)
    with contextlib.suppress(tomllib.TOMLDecodeError):
        value = tomllib.loads(f"value = {text}")["value"]
        return (value,) if isinstance(default, tuple) and not isinstance(value, list) else value
    return read_value(text, default)


def read_conditions(texts: Sequence[str]) -> dict[str, Any]:
    """What ``--condition`` imposes, name -> value."""
    return {key: read_value(text) for key, text in _pairs("--condition", texts)}


def read_value(text: str, default: Any = None) -> Any:
    """A value as it is written on a command line.

    Numbers, ``true``, ``false`` and ``none``; several separated by commas are a tuple; anything
    else is text, as is everything where the default is text."""
    if isinstance(default, str):
        return text
    value = _literal(text.strip())
    if isinstance(default, tuple) and not isinstance(value, tuple):
        return (value,)
    return value


def _parameter(name: str, text: str, default: Any) -> Any:
    value = read_value(text, default)
    if isinstance(default, tuple) and _numeric(default) and not _numeric(value):
        raise InvalidValueError(
            f"--set was given {name}={text!r}. Expected numbers, as in the default {default!r}."
        )
    return value


def _numeric(values: tuple) -> bool:
    return all(
        _numeric(value) if isinstance(value, tuple) else isinstance(value, int | float)
        for value in values
    )


@contextlib.contextmanager
def usage_errors() -> Iterator[None]:
    """Names and values that a task does not take are wrong usage: exit code 2."""
    try:
        yield
    except (UnknownNameError, InvalidValueError) as error:
        raise click.UsageError(clean(str(error), keep_lines=True)) from error


def _pairs(option: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    pairs = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise click.UsageError(
                f"{option} was given {text!r}. Expected a name and a value, as in {option} name=3."
            )
        pairs.append((name.strip(), value.strip()))
    return pairs


def _literal(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return (
            float("nan")
            if text.lower() == "nan"
            else _tuples(json.loads(text.replace("(", "[").replace(")", "]")))
        )
    except json.JSONDecodeError:
        pass
    if "," in text:
        return tuple(_literal(part.strip()) for part in _split(text))
    with contextlib.suppress(ValueError):  # what JSON does not write: .5, +3
        return float(text)
    return text


def _split(text: str) -> list[str]:
    """The parts between the commas that are in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip()]


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
