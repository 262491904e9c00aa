"""``ngym new``."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from neurogym_check.template import KINDS, LICENCES, refuse_answers, template_folder
from neurogym_core import InvalidValueError, NeurogymError
from neurogym_core.tools import (
    ask_plugins,
    canonical,
    comes_with,
    how_to_install,
    installed,
    optional,
)


@click.command()
@click.argument(
    "folder", default=".", metavar="[FOLDER]", type=click.Path(file_okay=False, path_type=Path)
)
@click.option("--task", metavar="NAME", help="Name of the class, e.g. SideMemory.")
@click.option("--lab", metavar="NAME",
              help="Short name of the package, whose full name is neurogym-task-NAME.")  # fmt: skip
@click.option("--author", metavar="NAME", help="Name of the author.")
@click.option("--repository", metavar="URL",
              help="Address of the sources.  [default: on github.com, of LAB]")  # fmt: skip
@click.option("--licence", type=click.Choice(LICENCES), help="Licence of the package.")
@click.option("--kind", type=click.Choice(KINDS), help="Kind of the task.")
def command(
    folder: Path,
    task: str | None,
    lab: str | None,
    author: str | None,
    repository: str | None,
    licence: str | None,
    kind: str | None,
) -> None:
    """Create a package for a new task.

    \b
      ngym new --task SideMemory --lab mylab

    Creates the folder FOLDER/neurogym-task-NAME with a task that runs, its tests, and all files
    that pip needs. FOLDER is the current folder by default. Asks for the options that are missing.
    `ngym add` adds another task, a wrapper, a subject or a command to it.

    \b
    Kinds of tasks:
      table        trials are independent of each other
      session      the next trial depends on a block, a drift or earlier trials
      closed-loop  the next stimulus depends on the last action
      classic      step by step in Python, as in NeuroGym (needs neurogym-classic)
    """
    name = _given(task, "Name of the task, in CapitalizedWords, without a version")
    answers = {
        "task_name": name,
        "lab": _given(lab, "Short name of the package (neurogym-task-NAME)"),
        "author": _given(author, "Author"),
        "licence": _given(licence, "Licence", LICENCES),
        "kind": _given(kind, "Kind of task", KINDS),
    }
    distribution = f"neurogym-task-{answers['lab']}"
    answers["repository"] = repository or f"https://github.com/{answers['lab']}/{distribution}"
    target = folder / distribution
    refuse(answers, target)
    render(answers, folder)
    click.echo(f"Made {target}.")
    click.echo("Its NEXTSTEPS.md lists the next steps. Begin with:")
    if missing := _missing(answers["kind"]):
        line, _, where = how_to_install(*missing).strip("`").partition("` ")
        click.echo(f"  {line}{where and f'  # {where}'}")
    # Without "./", pip would look for a package of this name on its index.
    click.echo(f'  python -m pip install -e "{os.path.join(".", target)}[test]"')
    classic = answers["kind"] == "classic"  # no Task, which `ngym run` plays
    click.echo(f"  ngym plot {name}-v0" if classic else f"  ngym run {name}-v0 --n-trials 10")


def _missing(kind: str) -> list[str]:
    """Return the packages of this project that a new package needs and that are missing."""
    present = {canonical(package.distribution) for package in installed().packages}
    needed = ("neurogym-classic", "neurogym-plot") if kind == "classic" else ()
    return [package for package in needed if package not in present]


def _given(value: str | None, question: str, choices: tuple[str, ...] = ()) -> str:
    """Return an option's value, or ask for it; the first choice is the default."""
    if value is not None:
        return value
    if not choices:
        return str(click.prompt(question))
    return str(click.prompt(question, default=choices[0], type=click.Choice(choices)))


def refuse(answers: Mapping[str, str], target: Path) -> None:
    """Raise an error if the package cannot be created, before anything is written.

    Raises:
        InvalidValueError: the answers are invalid, the name resembles that of another package, or
            the folder exists.
    """
    refuse_answers(answers)
    if target.exists():
        raise InvalidValueError(
            f"{target} exists already. Expected a new folder. Choose another name or folder."
        )
    name, registry = target.name, "neurogym-registry"
    answers_of = [*ask_plugins("ngym_unknown_name", kind="package", name=name, known=())]
    if registry not in {offer.distribution for offer, _ in answers_of}:
        click.echo(
            f"Note: {name} was not compared with the names of other packages:"
            f" {comes_with('ngym registry', registry)}",
            err=True,
        )
    for _, why in answers_of:
        if isinstance(why, NeurogymError):
            raise why
        if why:
            raise InvalidValueError(
                f"The package would be called {target.name}, {why}. Expected a distinct name."
                " Choose another with --lab. Nothing was written."
            )


def render(answers: Mapping[str, str], folder: Path) -> Path:
    """Write the package; return its folder.

    Raises:
        MissingDependencyError: cookiecutter is not installed.
    """
    cookiecutter = optional("cookiecutter.main", needed_for="`ngym new`")
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
    # pip compiles the Python files of an installed template, and cookiecutter copies the results.
    for cache in Path(made).rglob("__pycache__"):
        shutil.rmtree(cache)
    return Path(made)
