"""The package template of ``ngym new`` and ``ngym add``: its folder, and a check of answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from neurogym_core import InvalidValueError

_PACKAGE = Path(__file__).resolve().parent

LICENCES = ("BSD-3-Clause", "MIT", "Apache-2.0")
KINDS = ("table", "session", "closed-loop", "classic")
"""Kinds of tasks."""


def template_folder() -> Path:
    """Return the folder of the template: the copy in the wheel, or that of a checkout.

    Raises:
        FileNotFoundError: the installation of neurogym-check is incomplete.
    """
    for folder in (_PACKAGE / "_template", _PACKAGE.parents[2] / "cookiecutter-task"):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(
        "neurogym-check has no template of packages. Expected it in the wheel or in a checkout"
        " around it. Install neurogym-check again."
    )


def refuse_answers(answers: Mapping[str, str]) -> None:
    """Raise an error if the template's own check of the answers finds a problem.

    Args:
        answers: variables of the template, such as ``task_name``.

    Raises:
        InvalidValueError: the answers are invalid.
    """
    # Cookiecutter runs this file too. An import would write byte code into the template.
    path = template_folder() / "hooks" / "pre_gen_project.py"
    check = ModuleType("ngym_template_answers")
    exec(compile(path.read_text("utf-8"), str(path), "exec"), check.__dict__)
    wrong = check.problems(answers)
    if wrong:
        raise InvalidValueError(" ".join(wrong) + " Nothing was written.")
