"""``ngym plot``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neurogym_core.ecosystem.discovery import installed
from neurogym_core.ecosystem.names import clean, said_by
from neurogym_core.errors import NeurogymError
from neurogym_core.terminal.complete import complete_task
from neurogym_core.terminal.progress import Progress
from neurogym_core.terminal.settings import (
    made_task,
    play_options,
    read_conditions,
    read_wrap,
    usage_errors,
)

if TYPE_CHECKING:
    from neurogym_core.ecosystem.records import TaskInfo

SUFFIXES = (".png", ".svg", ".pdf")
FORMATS = ("png", "svg")


@click.command(short_help="Draw a trial of a task.")
@click.argument("task", metavar="[TASK]", required=False, shell_complete=complete_task)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file: .png, .svg or .pdf.",
)
@click.option("--all", "folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
              help="Draw all installed tasks into this folder.")  # fmt: skip
@click.option(
    "--format", "kind", type=click.Choice(FORMATS), help="What --all draws.  [default: png]"
)
@play_options(subject="late_oracle")
def command(
    task: str | None,
    output: Path | None,
    folder: Path | None,
    kind: str | None,
    subject: str,
    seed: int,
    parameters: tuple[str, ...],
    timing: tuple[str, ...],
    conditions: tuple[str, ...],
    wrap: tuple[str, ...],
) -> None:
    """Draw one trial of a task: channels, periods, target, the subject's actions and rewards.

    \b
    ngym plot GoNogo-v0 -o trial.png
    ngym plot PerceptualDecisionMaking-v0 --subject random --condition coherence=51.2 -o trial.svg
    ngym plot --all figures --format svg

    Of a plain Gymnasium env it draws what is rendered or observed while nothing is done.
    """
    if folder is not None:
        _check_alone(task, output, (parameters, timing, conditions, wrap))
        _draw_all(folder, kind or FORMATS[0], subject, seed)
        return
    if kind is not None:
        raise click.UsageError(
            "--format was given without --all. Expected it together with --all DIR. Name the file"
            " with -o."
        )
    target = _checked_output(task, output)
    if _is_plain(str(task)):
        _check_unset(str(task), (parameters, timing, conditions, wrap))
        _draw_plain(str(task), target, seed)
    else:
        made = made_task(str(task), parameters, timing, [read_wrap(text) for text in wrap])
        with usage_errors():
            _draw(made, target, subject, seed, read_conditions(conditions))
    click.echo(f"Saved {clean(str(target))}.")


def _check_alone(task: str | None, output: Path | None, settings: tuple) -> None:
    if task is not None or output is not None or any(settings):
        raise click.UsageError(
            "--all was given together with a task, -o, or settings of a task. Expected --all DIR,"
            " perhaps with --subject and --seed. Draw single tasks with TASK -o FILE."
        )


def _checked_output(task: str | None, output: Path | None) -> Path:
    if task is None or output is None:
        missing = "a task" if task is None else "-o FILE"
        raise click.UsageError(
            f"{missing} is missing. Expected: ngym plot TASK -o FILE, or: ngym plot --all DIR."
        )
    if output.suffix.lower() not in SUFFIXES:
        raise click.UsageError(
            f"-o was given {str(output)!r}. Expected a name that ends in {', '.join(SUFFIXES)}."
        )
    return output


def _check_unset(task: str, settings: tuple) -> None:
    if any(settings):
        raise click.UsageError(
            f"{clean(task)} is a plain Gymnasium env, and was given settings of a trial. Expected"
            " none. Leave out --set, --timing and --condition."
        )


def _is_plain(name: str) -> bool:
    """Whether this is a Gymnasium env without a table of its trials."""
    import gymnasium

    from neurogym_core.play.make import resolve

    found = resolve(name)
    return isinstance(found, type) and issubclass(found, gymnasium.Env)


def _draw(task: Any, target: Path, subject: str, seed: int, conditions: dict[str, Any]) -> None:
    from neurogym_core.plots import save_figure, trace_of, trial_figure

    save_figure(trial_figure(trace_of(task, subject, seed, conditions)), target)


def _draw_plain(name: str, target: Path, seed: int) -> None:
    from neurogym_core.plots import env_figure, save_figure

    save_figure(env_figure(name, seed), target)


def _draw_all(folder: Path, kind: str, subject: str, seed: int) -> None:
    """Draw every task that can be drawn; those that cannot are named, and the command fails in the
    end.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [task for task in installed().tasks if not task.has("blocked")]
    failed: list[str] = []
    with Progress("drawing", len(tasks)) as progress:
        for done, task in enumerate(tasks):
            progress.show(done, clean(task.id))
            said = _drawn(task, folder / f"{task.id.replace('/', '-')}.{kind}", subject, seed)
            if said is not None:
                failed.append(f"{clean(task.id)}: {clean(said)}")
    click.echo(f"Drew {len(tasks) - len(failed)} of {len(tasks)} tasks into {clean(str(folder))}.")
    if failed:
        for row in failed:
            click.echo(row, err=True)
        raise click.ClickException(
            f"{len(failed)} of {len(tasks)} tasks could not be drawn; what they said is above."
        )


def _drawn(task: TaskInfo, target: Path, subject: str, seed: int) -> str | None:
    """Draw one task; what went wrong, or None. One package's trouble is no reason to leave out the
    others.
    """
    if not task.usable:
        return f"is not usable ({task.status})"
    try:
        if _is_plain(task.id):
            _draw_plain(task.id, target, seed)
        else:
            _draw(made_task(task.id, (), ()), target, subject, seed, {})
    except click.ClickException as error:
        return error.message
    except Exception as error:
        return str(error) if isinstance(error, NeurogymError) else said_by(error)
    return None
