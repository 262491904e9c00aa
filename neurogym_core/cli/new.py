"""``ngym new``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import click

from neurogym_core._bundled import template_folder
from neurogym_core.ecosystem import hooks
from neurogym_core.ecosystem.companions import COMMANDS, REGISTRY, comes_with
from neurogym_core.ecosystem.discovery import declared, installed
from neurogym_core.errors import InvalidValueError, PluginError, RegistryError
from neurogym_core.optional import optional

LICENCES = ("BSD-3-Clause", "MIT", "Apache-2.0")
KINDS = ("table", "session", "closed-loop", "classic")


@click.command()
@click.argument(
    "folder", default=".", metavar="[FOLDER]", type=click.Path(file_okay=False, path_type=Path)
)
@click.option("--task", prompt="Name of the task, in CapitalizedWords, without a version",
              metavar="NAME", help="Name of the task's class, e.g. SideMemory.")  # fmt: skip
@click.option("--lab", prompt="Short name of the package (neurogym-task-NAME)", metavar="NAME",
              help="Short name of the package, whose full name is neurogym-task-NAME.")  # fmt: skip
@click.option("--author", prompt="Author", metavar="NAME", help="Name of the author.")
@click.option("--licence", prompt="Licence", default=LICENCES[0], show_default=True,
              type=click.Choice(LICENCES), help="Licence of the package.")  # fmt: skip
@click.option("--kind", prompt="Kind of task", default=KINDS[0], show_default=True,
              type=click.Choice(KINDS), help="Kind of the example task.")  # fmt: skip
def command(folder: Path, task: str, lab: str, author: str, licence: str, kind: str) -> None:
    """Create a package for a new task.

    \b
      ngym new --task SideMemory --lab mylab

    Creates the folder FOLDER/neurogym-task-NAME with a task that runs, its tests, and all files
    that pip needs. FOLDER is the current folder by default. Asks for the options that are missing.

    \b
    Kinds of tasks:
      table        trials are independent of each other
      session      the next trial depends on a block, a drift or earlier trials
      closed-loop  the next stimulus depends on the last action
      classic      step by step in Python, as in NeuroGym (needs neurogym-classic)
    """
    answers = {"task_name": task, "lab": lab, "author": author, "licence": licence, "kind": kind}
    target = folder / f"neurogym-task-{lab}"
    refuse(answers, target)
    render(answers, folder)
    click.echo(f"Made {target}.")
    for line in hooks.package_created(target, task):
        click.echo(line)
    click.echo("Its NEXTSTEPS.md lists the next steps. Begin with:")
    if all(offer.name != "check" for offer in installed().commands):
        click.echo(f"  python -m pip install {COMMANDS['check']}")
    # Without "./", pip would look for a package of this name on its index.
    click.echo(f'  python -m pip install -e "{os.path.join(".", target)}[test]"')
    click.echo(f"  ngym run {task}-v0 --n-trials 10")


def refuse(answers: Mapping[str, str], target: Path) -> None:
    """Raise an error if the package cannot be created, before anything is written.

    Raises:
        InvalidValueError: the answers are invalid, the name resembles that of another package, or
            the folder exists.
    """
    # The template's check of the answers, which cookiecutter itself also runs. An import would
    # write byte code into the template.
    path = template_folder() / "hooks" / "pre_gen_project.py"
    check = ModuleType("ngym_template_answers")
    exec(compile(path.read_text("utf-8"), str(path), "exec"), check.__dict__)
    wrong = check.problems(answers)
    if wrong:
        raise InvalidValueError(" ".join(wrong) + " Nothing was written.")
    if target.exists():
        raise InvalidValueError(
            f"{target} exists already. Expected a new folder. Choose another name or folder."
        )
    if not declared().registries:
        click.echo(
            f"Note: {target.name} was not compared with the names of other packages:"
            f" {comes_with('ngym registry', REGISTRY)}",
            err=True,
        )
        return
    try:
        others = hooks.looks_like(target.name)  # uses no network
    except (RegistryError, PluginError) as error:
        click.echo(f"Note: {error}", err=True)
        return
    for other in others:
        raise InvalidValueError(
            f"The package would be called {target.name}, which looks like {other}. Expected a"
            " distinct name. Choose another with --lab. Nothing was written."
        )


def render(answers: Mapping[str, str], folder: Path) -> Path:
    """Write the package; return its folder.

    Raises:
        MissingDependencyError: cookiecutter is not installed.
    """
    cookiecutter = optional("cookiecutter.main", needed_for="`ngym new`", extra="new")
    with TemporaryDirectory(prefix="ngym-") as scratch:
        # The user's cookiecutter settings must not change the package, and cookiecutter must not
        # write its replay file to the home folder.
        settings = Path(scratch) / "cookiecutter.yaml"
        settings.write_text(f"replay_dir: {scratch}\ncookiecutters_dir: {scratch}\n", "utf-8")
        made = cookiecutter.cookiecutter(
            str(template_folder()),
            no_input=True,
            extra_context=dict(answers),
            output_dir=str(folder),
            config_file=str(settings),
        )
    return Path(made)
