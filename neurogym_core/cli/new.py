"""``ngym new``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import click

from neurogym_core._bundled import template_folder
from neurogym_core.ecosystem.companions import COMMANDS, REGISTRY, comes_with
from neurogym_core.ecosystem.discovery import declared, installed
from neurogym_core.errors import InvalidValueError, PluginError, RegistryError
from neurogym_core.optional import optional

LICENCES = ("BSD-3-Clause", "MIT", "Apache-2.0")
KINDS = ("table", "session", "closed-loop", "classic")


@click.command(short_help="Make a package for a task of your own.")
@click.argument(
    "folder", default=".", metavar="[FOLDER]", type=click.Path(file_okay=False, path_type=Path)
)
@click.option("--task", prompt="Name of the task, in CapitalizedWords, without a version", metavar="NAME",
              help="Name of the task, as SideMemory.")  # fmt: skip
@click.option("--lab", prompt="Short name of the package (neurogym-task-NAME)", metavar="NAME",
              help="Short name of the package, which becomes neurogym-task-NAME.")  # fmt: skip
@click.option("--author", prompt="Author", metavar="NAME", help="Who writes it.")
@click.option("--licence", prompt="Licence", default=LICENCES[0], show_default=True, type=click.Choice(LICENCES),
              help="Under which licence.")  # fmt: skip
@click.option("--kind", prompt="Kind of task", default=KINDS[0], show_default=True, type=click.Choice(KINDS),
              help="What kind of task.")  # fmt: skip
def command(folder: Path, task: str, lab: str, author: str, licence: str, kind: str) -> None:
    """Make a package for a task of your own, with a working task, tests, and what else a package
    needs.

    It goes into FOLDER/neurogym-task-NAME; FOLDER is by default this one. What is not given is
    asked for.

    \b
    table        trials are independent of each other
    session      which trial comes next depends on a block, a drift or the trials before
    closed-loop  what is shown next depends on what was just done
    classic      one env, scored step by step in Python, as in NeuroGym's files (neurogym-classic)
    """
    from neurogym_core.ecosystem import hooks  # needs pluggy, which `ngym --help` should not import

    answers = {"task_name": task, "lab": lab, "author": author, "licence": licence, "kind": kind}
    target = folder / f"neurogym-task-{lab}"
    refuse(answers, target)
    render(answers, folder)
    click.echo(f"Made {target}.")
    for line in hooks.package_created(target, task):
        click.echo(line)
    click.echo("Next steps are in its NEXTSTEPS.md. First of all:")
    if all(offer.name != "check" for offer in installed().commands):
        click.echo(f"  python -m pip install {COMMANDS['check']}")
    click.echo(
        f'  python -m pip install -e "{os.path.join(".", target)}[test]"'
    )  # a bare name would be looked for elsewhere
    click.echo(f"  ngym run {task}-v0 --n-trials 10")


def refuse(answers: Mapping[str, str], target: Path) -> None:
    """Raise before anything is written.

    Raises:
        InvalidValueError: answers that cannot become a package, a name that is taken, or a folder
            that is there already.
    """
    wrong = _hook().problems(answers)
    if wrong:
        raise InvalidValueError(" ".join(wrong) + " Nothing was written.")
    if target.exists():
        raise InvalidValueError(
            f"{target} exists already. Expected a folder that does not. Choose another name or"
            " folder."
        )
    _refuse_taken(target.name)


def _refuse_taken(name: str) -> None:
    """Raise for a name that people could take for another package's, as far as installed registries
    know without the network.
    """
    from neurogym_core.ecosystem.hooks import looks_like  # pluggy, which is not needed for a help

    if not declared().registries:
        click.echo(
            f"Note: {name} was not compared with the names of other packages:"
            f" {comes_with('ngym registry', REGISTRY)}",
            err=True,
        )
        return
    try:
        others = looks_like(name)
    except (RegistryError, PluginError) as error:
        click.echo(f"Note: {error}", err=True)
        return
    for other in others:
        raise InvalidValueError(
            f"The package would be called {name}, which looks like {other}. Expected a name"
            " that nobody takes for another. Choose another with --lab. Nothing was written."
        )


def render(answers: Mapping[str, str], folder: Path) -> Path:
    """Write the package; returns its folder.

    Raises:
        MissingDependencyError: cookiecutter is not installed.
    """
    cookiecutter = optional("cookiecutter.main", needed_for="`ngym new`", extra="new")
    with TemporaryDirectory(prefix="ngym-") as scratch:
        # Nothing of the user's own cookiecutter settings counts, and no record of the answers is
        # left at home.
        settings = Path(scratch) / "cookiecutter.yaml"
        settings.write_text(f"replay_dir: {scratch}\ncookiecutters_dir: {scratch}\n", "utf-8")
        made = cookiecutter.cookiecutter(
            str(template_folder()), no_input=True, extra_context=dict(answers), output_dir=str(folder),
            config_file=str(settings),
        )  # fmt: skip
    return Path(made)


def _hook() -> ModuleType:
    """The template's own check of answers, which plain cookiecutter runs too."""
    path = template_folder() / "hooks" / "pre_gen_project.py"
    module = ModuleType("ngym_template_answers")
    # Not imported, since that would write byte code into the template.
    exec(compile(path.read_text("utf-8"), str(path), "exec"), module.__dict__)
    return module
