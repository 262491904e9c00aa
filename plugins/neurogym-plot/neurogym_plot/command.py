"""``ngym plot``."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from neurogym_core.tools import PlayCommand, clean, complete

SUFFIXES = (".png", ".svg", ".pdf", ".mp4", ".gif")
FORMATS = ("png", "svg", "pdf")
STYLES = ("screen", "paper", "slide")
"""Styles of `neurogym_plot.styles`, which imports matplotlib."""


@click.command(cls=PlayCommand)
@click.argument(
    "task", metavar="[TASK]", required=False, shell_complete=partial(complete, ("tasks",))
)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path),
              help="Write the figure (.png, .svg, .pdf) or a film (.mp4, .gif) here.")  # fmt: skip
@click.option("--all", "folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
              help="Draw all installed tasks into this folder.")  # fmt: skip
@click.option("--format", "kind", type=click.Choice(FORMATS),
              help="Format of the figures of --all.  [default: png]")  # fmt: skip
@click.option("--style", type=click.Choice(STYLES), default=STYLES[0], show_default=True,
              help="Sizes of the figure; paper: 180 mm wide, 8 points.")  # fmt: skip
@click.option("--session/--trial", "session", default=None,
              help="Draw a session, or one trial.  [default: a session if trials last at most three"
              " steps, or are a stream that is answered throughout]")  # fmt: skip
@click.option("-n", "--n-trials", type=click.IntRange(min=1), metavar="N",
              help="Draw a session of N trials.  [default: 100; of a film: 1]")  # fmt: skip
@PlayCommand.options(subject="late_oracle")
def command(
    task: str | None,
    output: Path | None,
    folder: Path | None,
    kind: str | None,
    style: str,
    session: bool | None,
    n_trials: int | None,
    subject: str,
    seed: int,
    parameters: tuple[str, ...],
    timing: tuple[str, ...],
    conditions: tuple[str, ...],
    wrap: tuple[str, ...],
) -> None:
    """Draw one trial, or a session, of a task.

    \b
      ngym plot GoNogo-v0 -o trial.png
      ngym plot GoNogo-v0 --style paper -o trial.pdf
      ngym plot PerceptualDecisionMaking-v0 --condition coherence=51.2 -o trial.svg
      ngym plot ContextSwitch-v0 --session --n-trials 200 -o session.png
      ngym plot PerceptualDecisionMaking-v0 --subject runs/x -o network.gif
      ngym plot PerceptualDecisionMaking-v0 --session -o session.mp4
      ngym plot --all figures

    The figure of a trial shows the channels (inputs), the periods, the correct answer, and the
    subject's actions and rewards over time. Without settings of the task, the trial has the
    conditions that the task's manifest names for its figure.

    The figure of a session shows choices, outcomes, rewards, conditions and recorded values of one
    subject over trials.

    A film has a frame for each step: the figure of the trial so far, and beside it the subject's
    observation and action, ten steps a second. It shows one trial, --n-trials trials, or with
    --session a session of the task. An .mp4 film needs the package imageio-ffmpeg.

    The figure of a Gymnasium env that is not a `Task` has rendered frames or observations while no
    action is taken.
    """
    settings = {"parameters": parameters, "timing": timing, "conditions": conditions, "wrap": wrap}
    if folder is None and kind is not None:
        raise click.UsageError(
            "--format was given without --all. Expected it together with --all DIR. For a single"
            " figure, the file name of -o sets the format."
        )
    single = (task, output, session, n_trials)
    if folder is not None and (single.count(None) < len(single) or any(settings.values())):
        raise click.UsageError(
            "--all was given together with a task, -o, --session, --trial, --n-trials, or settings"
            " of a task. Expected --all DIR,"
            " perhaps with --subject and --seed. Draw single tasks with TASK -o FILE."
        )
    if session is False and n_trials is not None:
        raise click.UsageError(
            f"--n-trials {n_trials} was given together with --trial. Expected it for a session."
            " Leave out one of them."
        )
    target = None if folder is not None else _checked_output(task, output)

    from neurogym_plot import drawing  # imports NumPy and matplotlib

    if folder is not None:
        drawing.draw_all(folder, kind or FORMATS[0], subject, seed, style)
    elif target is not None:
        drawing.draw(str(task), target, subject, seed, settings, session, n_trials, style)
    if target is not None:
        click.echo(f"Saved {clean(str(target))}.")


def _checked_output(task: str | None, output: Path | None) -> Path:
    if task is None or output is None:
        missing = "a task" if task is None else "-o FILE"
        raise click.UsageError(
            f"{missing} is missing. Expected: ngym plot TASK -o FILE, or: ngym plot --all DIR."
        )
    if output.suffix.lower() not in SUFFIXES:
        raise click.UsageError(
            f"-o was given {str(output)!r}. Expected a file name that ends in"
            f" {', '.join(SUFFIXES)}."
        )
    return output
