"""Shared parts of ``ngym submit`` and ``ngym registry accept``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from neurogym_core.tools import canonical, clean
from neurogym_registry.commands.shared import busy
from neurogym_registry.errors import RegistryError
from neurogym_registry.pip import download
from neurogym_registry.requirements import is_distribution_name
from neurogym_registry.versions import version_key
from neurogym_registry.wheels import Wheel, read_wheel


def name_and_version(text: str) -> tuple[str, str]:
    """Return the canonical name and the version in ``NAME==VERSION``.

    Raises:
        RegistryError: the text has another form.
    """
    name, equals, version = (part.strip() for part in text.partition("=="))
    if not (equals and is_distribution_name(name) and version):
        raise RegistryError(
            f"{clean(text)!r} was given. Expected NAME==VERSION of a released package, whose wheel"
            " pip finds. Correct it; PIP_FIND_LINKS names a folder of wheels that are not on an"
            " index."
        )
    return canonical(name), version


def download_release(text: str, folder: Path, *, deadline: float | None = None) -> Wheel:
    """Download the wheel of ``NAME==VERSION`` into a folder, and read it; no code of it runs.

    Args:
        text: name and version.
        folder: the folder.
        deadline: end of its time, of `time.monotonic`, if that is before pip's limit.

    Raises:
        RegistryError: the text has another form, there is no such wheel, or it is not allowed.
    """
    name, version = name_and_version(text)
    with busy("Downloading the wheel ..."):
        wheel = read_wheel(download(f"{name}=={version}", folder, deadline=deadline))
    if (wheel.name, version_key(wheel.version)) != (name, version_key(version)):
        raise RegistryError(
            f"pip found {wheel.name} {wheel.version} for {clean(text)}. Expected this package and"
            " version. Give the version as the package writes it. Nothing was written."
        )
    return wheel


def excuse_option(function: Any) -> Any:
    """Add the option ``--expected-failure`` to a command."""
    text = "A check that the tasks may fail, and why; may be repeated."
    return click.option(
        "--expected-failure", "excuses", multiple=True, metavar="CODE=REASON", help=text
    )(function)


def read_excuses(texts: Sequence[str]) -> dict[str, str]:
    """Return {code: reason} from ``CODE=REASON`` texts."""
    reasons = {}
    for text in texts:
        code, _, reason = text.partition("=")
        if not reason.strip():
            raise click.UsageError(
                f"--expected-failure was given {text!r}. Expected CODE=REASON. Write for example"
                " B001='the task is ambiguous'."
            )
        reasons[code.strip()] = reason.strip()
    return reasons
