"""Options of `run` and `plot` that set up a task, and the functions that read their values."""

from __future__ import annotations

import contextlib
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from neurogym_core.ecosystem import companions
from neurogym_core.ecosystem.discovery import (
    declared,
    find_subject,
    load_wrapper,
    named_subject,
    subject_names,
)
from neurogym_core.ecosystem.names import SUBJECT_SETTINGS, SUBJECTS, clean
from neurogym_core.errors import InvalidValueError, UnknownNameError
from neurogym_core.terminal.complete import complete_wrapper

SUBJECT_HELP = "The subject that plays; `ngym run --help` lists the subjects."

_WORDS = {"true": True, "yes": True, "false": False, "no": False, "none": None}


class SubjectName(click.ParamType):
    """A subject of the core or of an installed package, which is not imported, and its settings."""

    name = "subject"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        with usage_errors():
            return checked_subject(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(name) for name in subject_names() if name.startswith(incomplete)]


class PlayCommand(click.Command):
    """A command whose help lists the subjects, without importing any of them."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, then one line per subject."""
        super().format_options(ctx, formatter)
        owners = {offer.name: offer.distribution for offer in declared().subjects}
        summaries = {name: f"from {owner}" for name, owner in owners.items()} | SUBJECTS
        for name, text in companions.SUBJECT_SUMMARIES.items():
            if owners.get(name) == companions.SUBJECTS[name]:
                summaries[name] = text + _settings_line(companions.SUBJECT_SETTINGS.get(name, {}))
        for name, settings in SUBJECT_SETTINGS.items():
            summaries[name] += _settings_line(settings)
        with formatter.section("Subjects (with settings: --subject NAME:SETTING=VALUE,...)"):
            formatter.write_dl([(name, summaries[name]) for name in subject_names()])


def _settings_line(settings: Mapping[str, Any]) -> str:
    """Return settings with their defaults as the end of a summary; "" if there are none."""
    shown = (name if value is None else f"{name}={value}" for name, value in settings.items())
    return f" Settings: {', '.join(shown)}." if settings else ""


def checked_subject(text: str) -> str:
    """Return the text that names a subject, perhaps with settings: ``diffusion:bound=50``.

    Settings themselves are checked when the subject is made.

    Raises:
        UnknownNameError: there is no such subject.
        InvalidValueError: the settings have another form.
    """
    name, _ = named_subject(text)
    if name not in SUBJECTS:
        find_subject(name)
    return text


SPLIT_NAMES = ("none", "train", "validation", "test")
"""Splits on the command line and in experiment files: none, and
`neurogym_core.trials.splits.SPLITS`, whose module imports NumPy."""


def read_split(name: str | None) -> str | None:
    """Return a split for `run` from its name on the command line; None: the subject's own."""
    return {None: "auto", "none": None}.get(name, name)


split_option = click.option(
    "--split", type=click.Choice(SPLIT_NAMES),
    help="Stream of the trials. Networks and agents learn from train, so that test has new trials,"
    " of every seed.  [default: test for a trained subject, else none]",
)  # fmt: skip


def play_options(subject: str | None, seed: int | None = 0) -> Callable[[Callable], Callable]:
    """Return a decorator that adds the options of a command that plays a task.

    Args:
        subject: default subject; None if a file may name it, else "random".
        seed: default seed; None if a file may set it, else 0.
    """
    by_default = "" if subject else "  [default: random]"
    fixed = "" if seed is not None else "  [default: 0]"
    return with_options(
        click.option("--subject", default=subject, show_default=True,
                     metavar="NAME[:SETTING=VALUE,...]", type=SubjectName(),
                     help=f"The subject that plays, see below.{by_default}"),
        click.option("--seed", default=seed, show_default=True, metavar="N",
                     type=click.IntRange(min=0),
                     help=f"Seed of all random numbers.{fixed}"),
        click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE",
                     help="Set a parameter of the task, e.g. coherences=0,51.2."),
        click.option("--timing", "timing", multiple=True, metavar="PERIOD=MS",
                     help="Set the duration of a period, e.g. delay=500 or"
                     " 'delay=uniform(500,1500)'."),
        click.option("--condition", "conditions", multiple=True, metavar="NAME=VALUE",
                     help="Impose a condition on all trials, e.g. coherence=51.2."),
        click.option("--wrap", "wrap", multiple=True, metavar="NAME[:KEY=VALUE,...]",
                     shell_complete=complete_wrapper,
                     help="Apply a wrapper with its settings, e.g. reaction_time:urgency=-0.01;"
                     " innermost first."),
    )  # fmt: skip


def with_options(*options: Callable[[Callable], Callable]) -> Callable[[Callable], Callable]:
    """Return a decorator that adds click options to a command, in this order."""

    def decorated(command: Callable) -> Callable:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


def task_settings(found: Any, parameters: Sequence[str], timing: Sequence[str]) -> dict[str, Any]:
    """Return the keywords of a task from ``--set`` and ``--timing``."""
    from neurogym_core.trials.distributions import parse  # imports NumPy

    values: dict[str, Any] = {}
    for key, text in _pairs("--set", parameters):
        default = getattr(found, key, None)
        values[key] = read_value(text, default)
        if isinstance(default, tuple) and _numeric(default) and not _numeric(values[key]):
            raise InvalidValueError(
                f"--set was given {key}={text!r}. Expected numbers, as in the default {default!r}."
            )
    durations = {key: parse(text) for key, text in _pairs("--timing", timing)}
    return {**values, **({"timing": durations} if durations else {})}


def read_wrap(text: str) -> tuple[str, dict[str, Any]]:
    """Return name and settings of a wrapper from ``name`` or ``name:key=value,key=value``.

    Raises:
        click.UsageError: the text has another form.
        DiscoveryError: there is no such wrapper.
    """
    name, _, settings = text.partition(":")
    wrapper = load_wrapper(name.strip())
    parts: list[str] = []
    for part in _split(settings):
        if parts and not re.match(r"\s*\w+\s*=", part):  # one more value of the name before
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    pairs = _pairs("--wrap", parts)
    return name.strip(), {key: _setting(value, getattr(wrapper, key, None)) for key, value in pairs}


def _setting(text: str, default: Any) -> Any:
    """Return a wrapper's setting: a distribution, a TOML value, or a value as in `read_value`."""
    if re.fullmatch(r"[a-z_]+\(.*\)", text):
        from neurogym_core.trials.distributions import parse  # imports NumPy

        return parse(text)
    with contextlib.suppress(tomllib.TOMLDecodeError):
        value = tomllib.loads(f"value = {text}")["value"]
        return (value,) if isinstance(default, tuple) and not isinstance(value, list) else value
    return read_value(text, default)


def read_conditions(texts: Sequence[str]) -> dict[str, Any]:
    """Return the conditions that ``--condition`` imposes, {name: value}."""
    return {key: read_value(text) for key, text in _pairs("--condition", texts)}


def read_value(text: str, default: Any = None) -> Any:
    """Return the value of a text from the command line.

    Numbers, ``true``, ``false`` and ``none`` are converted, and values separated by commas become a
    tuple. Anything else stays text, and everything does if `default` is text.
    """
    if isinstance(default, str):
        return text
    value = _literal(text.strip())
    return (value,) if isinstance(default, tuple) and not isinstance(value, tuple) else value


def _numeric(values: tuple) -> bool:
    return all(
        _numeric(value) if isinstance(value, tuple) else isinstance(value, int | float)
        for value in values
    )


@contextlib.contextmanager
def usage_errors() -> Iterator[None]:
    """Convert errors about unknown names and invalid values to wrong usage, exit code 2."""
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
    if text.lower() == "nan":
        return float("nan")
    with contextlib.suppress(json.JSONDecodeError):
        return _tuples(json.loads(text.replace("(", "[").replace(")", "]")))
    if "," in text:
        return tuple(_literal(part.strip()) for part in _split(text))
    with contextlib.suppress(ValueError):  # numbers that JSON does not accept: .5, +3
        return float(text)
    return text


def _split(text: str) -> list[str]:
    """Return the parts between the commas that are outside of brackets."""
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
