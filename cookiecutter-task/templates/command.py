"""``ngym {{ cookiecutter.__command }}``."""

from __future__ import annotations

import click


@click.command("{{ cookiecutter.__command }}", short_help="Print the mean performance of a subject.")
@click.argument("task")
@click.option("--subject", default="oracle", show_default=True, help="Name of the subject.")
@click.option("--n-trials", default=100, show_default=True, type=click.IntRange(1))
def command(task: str, subject: str, n_trials: int) -> None:
    """Print the mean performance of a subject in a task.

    TASK is the name of an installed task, such as GoNogo-v0.
    """
    # NumPy is imported by the command itself, so that `ngym --help` stays fast.
    from neurogym_core import run

    record = run(task, subject, n_trials, seed=0)
    click.echo(f"{record['performance'].mean():.3f}")
