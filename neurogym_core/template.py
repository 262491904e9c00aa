"""The package template of ``ngym new`` and ``ngym add``.

The template is at the root of the repository, where contributors look for it. The build puts a copy
into the wheel; a checkout has no copy and uses the folder itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from neurogym_core.errors import InvalidValueError

LICENCES = ("BSD-3-Clause", "MIT", "Apache-2.0")
KINDS = ("table", "session", "closed-loop", "classic")
"""Kinds of tasks."""

_PACKAGE = Path(__file__).resolve().parent


def template_folder() -> Path:
    """Return the folder ``cookiecutter-task``.

    Raises:
        FileNotFoundError: the installation of the core is incomplete.
    """
    for root in (_PACKAGE / "_bundled", _PACKAGE.parent):
        if (root / "cookiecutter-task").exists():
            return root / "cookiecutter-task"
    raise FileNotFoundError(
        "The folder cookiecutter-task is neither in the installed neurogym-core nor beside it."
        " Expected it from the wheel or a checkout. Install the core again."
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
