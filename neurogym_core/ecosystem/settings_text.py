"""Settings as text: values, pairs of a name and a value, wrappers and subjects with settings.

`ngym` reads options with these functions, and `make` and `run` wrappers and subjects given as text.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from neurogym_core.ecosystem.discovery import load_wrapper, subject_names
from neurogym_core.ecosystem.files import is_file_reference
from neurogym_core.ecosystem.names import RUN_FILE, brought, clean
from neurogym_core.errors import InvalidValueError

_WORDS = {"true": True, "yes": True, "false": False, "no": False, "none": None}


def read_wrap(text: str) -> tuple[str, dict[str, Any]]:
    """Return name and settings of a wrapper from ``name`` or ``name:key=value,key=value``.

    Raises:
        InvalidValueError: the text has another form.
        DiscoveryError: there is no such wrapper.
    """
    name, pairs = _named("wrapper", text)
    wrapper = load_wrapper(name)
    return name, {key: _setting(value, getattr(wrapper, key, None)) for key, value in pairs}


def named_subject(text: str) -> tuple[str, dict[str, Any]]:
    """Return name and settings of a subject: ``"diffusion:bound=50"`` is a name and settings.

    The folder of a run, ``"runs/net"``, is the subject "trained" with the setting ``run``; a folder
    in the current one needs no slash unless a subject has its name.

    Args:
        text: the subject as on the command line.

    Raises:
        InvalidValueError: the text is not a name with settings.
    """
    if is_file_reference(text):
        raise InvalidValueError(
            f"The subject {text!r} is a class of a file. Expected the name of a subject of an"
            " installed package, or the folder of a run. In Python, pass the object itself; `ngym"
            " add --kind subject` adds one to a package."
        )
    name, pairs = _named("subject", text)
    settings = {key: _setting(value, "") for key, value in pairs}
    if len(settings) < len(pairs):
        raise InvalidValueError(f"{text!r} has a setting twice. Expected each once. Write it so.")
    known = (*subject_names(), *brought("subjects"))
    is_run = name and name not in known and (Path(name) / RUN_FILE).is_file()
    if is_run or "/" in name or os.sep in name:
        return "trained", {"run": name, **settings}
    return name, settings


def _named(kind: str, text: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the name and the pairs of ``name:key=value,key=value``."""
    name, colon, settings = text.partition(":")
    parts: list[str] = []
    for part in (split_values(settings) or [""]) if colon else []:
        if parts and not re.match(r"\s*\w+\s*=", part):  # one more value of the name before
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    return name.strip(), read_pairs(f"The {kind} {name.strip()}", parts)


def _setting(text: str, default: Any) -> Any:
    """Return a wrapper's setting: a distribution, a TOML value, or a value as in `read_value`."""
    if re.fullmatch(r"[a-z_]+\(.*\)", text):
        from neurogym_core.trials.distributions import parse  # imports NumPy

        return parse(text)
    with contextlib.suppress(tomllib.TOMLDecodeError):
        value = _as_written(tomllib.loads(f"value = {text}")["value"], text)
        return (value,) if isinstance(default, tuple) and not isinstance(value, list) else value
    return read_value(text, default)


def read_value(text: str, default: Any = None) -> Any:
    """Return the value of a text from the command line.

    Numbers, ``true``, ``false`` and ``none`` are converted, and values separated by commas become a
    tuple, as does an array of TOML, such as ``[{delay=0}]``. Anything else stays text, and
    everything does if `default` is text.
    """
    if isinstance(default, str):
        return text
    value = _literal(text.strip())
    return (value,) if isinstance(default, tuple) and not isinstance(value, tuple) else value


def read_pairs(given_to: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return names and values of texts ``name=value``, given to an option or a wrapper."""
    pairs = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise InvalidValueError(
                f"{given_to} was given {text!r}. Expected a name and a value, as in name=3. Write"
                " them so."
            )
        pairs.append((name.strip(), value.strip()))
    return pairs


def _literal(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if text.lower() == "nan":
        return float("nan")
    with contextlib.suppress(json.JSONDecodeError):
        return _tuples(_as_written(json.loads(text.replace("(", "[").replace(")", "]")), text))
    if text.startswith(("[", "{")):
        with contextlib.suppress(tomllib.TOMLDecodeError):
            return _tuples(_as_written(tomllib.loads(f"value = {text}")["value"], text))
    parts = split_values(text)
    if "," in text and parts != [text]:  # a comma within brackets separates no values
        return tuple(_literal(part.strip()) for part in parts)
    with contextlib.suppress(ValueError):  # numbers that JSON does not accept: .5, +3
        return float(text)
    return text


def _as_written(value: Any, text: str) -> Any:
    """Return a value that was read from a text, unless escapes made letters that it has not.

    `neurogym_training.check_artefact` has searched the text, and ``"my_task.p\\u0079"`` names no
    file there.
    """
    if "\\" in text and not all(one in text for one in _texts_in(value)):
        raise InvalidValueError(
            f"The setting {clean(text)} has an escape, a backslash with letters after it. Expected"
            " a text that is written as it is meant. Write the letters themselves, or use single"
            " quotes."
        )
    return value


def _texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in a value, those of keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _texts_in(one)


def split_values(text: str) -> list[str]:
    """Return the parts between the commas that are outside of brackets, without empty parts.

    Args:
        text: for instance ``0,[1,2],uniform(3,4)``, which has three parts.
    """
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
