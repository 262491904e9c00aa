"""``ngym plot``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..ecosystem.discovery import installed
from ..ecosystem.names import clean, said_by
from ..errors import NeurogymError
from ._complete import complete_task
from ._settings import made_task, play_options, read_conditions, usage_errors

SUFFIXES = (".png", ".svg", ".pdf")


@click.command(short_help="Draw a trial of a task.")
@click.argument("task", metavar="[TASK]", required=False, shell_complete=complete_task)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="The file: .png, .svg or .pdf.")
@click.option("--all", "folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
              help="Draw all installed tasks into this folder, as PNG.")  # fmt: skip
@play_options(subject="oracle")
def command(
    task: str | None,
    output: Path | None,
    folder: Path | None,
    subject: str,
    seed: int,
    parameters: tuple[str, ...],
    timing: tuple[str, ...],
    conditions: tuple[str, ...],
) -> None:
    """Draw one trial of a task: channels, periods, target, the subject's actions and rewards.

    \b
    ngym plot GoNogo-v0 -o trial.png
    ngym plot PerceptualDecisionMaking-v0 --subject random --condition coherence=51.2 -o trial.svg
    ngym plot --all figures
    """
    if folder is not None:
        _check_alone(task, output, (parameters, timing, conditions))
        _draw_all(folder, subject, seed)
        return
    target = _checked_output(task, output)
    made = made_task(str(task), parameters, timing)
    with usage_errors():
        _draw(made, target, subject, seed, read_conditions(conditions))
    click.echo(f"Saved {clean(str(target))}.")


def _check_alone(task: str | None, output: Path | None, settings: tuple) -> None:
    if task is not None or output is not None or any(settings):
        raise click.UsageError(
            "--all was given together with a task, -o, or settings of a task. Expected --all DIR, perhaps with "
            "--subject and --seed. Draw single tasks with TASK -o FILE."
        )


def _checked_output(task: str | None, output: Path | None) -> Path:
    if task is None or output is None:
        missing = "a task" if task is None else "-o FILE"
        raise click.UsageError(f"{missing} is missing. Expected: ngym plot TASK -o FILE, or: ngym plot --all DIR.")
    if output.suffix.lower() not in SUFFIXES:
        raise click.UsageError(f"-o was given {str(output)!r}. Expected a name that ends in {', '.join(SUFFIXES)}.")
    return output


def _draw(task: Any, target: Path, subject: str, seed: int, conditions: dict[str, Any]) -> None:
    from ..study.figures import save_figure, trial_figure
    from ..study.traces import trace_of

    try:
        save_figure(trial_figure(trace_of(task, subject, seed, conditions)), target)
    except OSError as error:
        raise click.ClickException(f"{target} cannot be written: {error.strerror}. Choose another file.") from error


def _draw_all(folder: Path, subject: str, seed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for task in (task for task in installed().tasks if task.usable):
        target = folder / f"{task.id.replace('/', '-')}.png"
        try:
            _draw(made_task(task.id, (), ()), target, subject, seed, {})
        except Exception as error:  # one package's trouble is no reason to leave out the others
            failed += 1
            said = str(error) if isinstance(error, NeurogymError) else said_by(error)
            click.echo(f"{task.id}: {clean(said)}", err=True)
        else:
            click.echo(f"Saved {clean(str(target))}.")
    if failed:
        raise click.ClickException(f"{failed} tasks could not be drawn; what they said is above.")
