"""The work of `ngym plot`: the figure of a trial, and the hooks that draw all else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from neurogym_core.canvas import save_figure
from neurogym_core.ecosystem.discovery import find_task, installed
from neurogym_core.ecosystem.files import is_file_reference
from neurogym_core.ecosystem.hooks import answer_of, ask
from neurogym_core.ecosystem.names import clean, said_by
from neurogym_core.ecosystem.settings_text import read_wrap
from neurogym_core.errors import NeurogymError
from neurogym_core.play.env_form import is_env_class
from neurogym_core.play.make import prepared, resolve
from neurogym_core.plots import trace_of, trial_figure
from neurogym_core.terminal.progress import Progress
from neurogym_core.terminal.settings import (
    read_conditions,
    task_settings,
    usage_errors,
)

FILM_TRIALS = 100
"""Trials of the film of a session that does not end."""
FILMS = (".mp4", ".gif")
NO_SETTINGS: Mapping[str, Sequence[str]] = MappingProxyType(
    dict.fromkeys(("parameters", "timing", "conditions", "wrap"), ())
)


def draw(
    name: str,
    target: Path,
    subject: str,
    seed: int,
    settings: Mapping[str, Sequence[str]] = NO_SETTINGS,
    session: bool | None = None,
    n_trials: int | None = None,
    style: str = "screen",
) -> None:
    """Draw one trial, or a session, into a file, as a figure or a film.

    Args:
        name: task, or Gymnasium env that is not a `Task`.
        target: file of the figure (.png, .svg, .pdf) or film (.mp4, .gif).
        subject: name of the subject that plays.
        seed: seed of the trial.
        settings: texts of --set, --timing, --condition and --wrap, by the option's parameter.
        session: whether to draw a session; None: a figure does if a package that draws sessions is
            installed, and chooses so.
        n_trials: trials of the session or film; None: the package's choice, of a film one trial or
            those of a session.
        style: style of the figure; neurogym-study draws all but "screen".

    Raises:
        click.UsageError: the task does not accept the settings.
        MissingDependencyError: the package that draws it is not installed.
    """
    found: Any = resolve(name)
    films, asked = target.suffix.lower() in FILMS, bool(session or n_trials)
    if is_env_class(found) and not films:
        if any(settings.values()) or asked:
            raise click.UsageError(
                f"Settings of a trial or session were given for {clean(name)}. Expected none,"
                " because it is a plain Gymnasium env, which keeps no record of trials. Leave out"
                " --set, --timing, --condition, --wrap, --session and --n-trials."
            )
        what = "ngym plot of a plain Gymnasium env"
        _save(ask("ngym_env_figure", what, name=name, seed=seed), target, style)
        return
    with usage_errors():
        wrap = [read_wrap(text) for text in settings["wrap"]]
        given = task_settings(found, settings["parameters"], settings["timing"])
        task, env_wrappers = prepared(found, wrap, given)
        play = {
            "task": task, "subject": subject, "seed": seed, "wrap": env_wrappers,
            "conditions": read_conditions(settings["conditions"]),
        }  # fmt: skip
        figure = None
        if asked and not films:
            what = "ngym plot --session"
            figure = ask("ngym_session_figure", what, n_trials=n_trials, asked=True, **play)
        elif session is None and not films:
            figure = answer_of("ngym_session_figure", n_trials=None, asked=False, **play)
        if figure is None and not (asked or any(settings.values()) or is_file_reference(name)):
            play["conditions"] = dict(find_task(name).figure)
        if films:
            count = n_trials or ((task.trials_per_session or FILM_TRIALS) if session else 1)
            with Progress("filming", count) as progress:
                what = f"ngym plot -o {clean(target.name)}"
                ask("ngym_film", what, path=target, n_trials=count, progress=progress.show, **play)
        else:
            _save(figure or trial_figure(trace_of(**play)), target, style)


def _save(figure: Any, target: Path, style: str) -> None:
    if style == "screen":
        save_figure(figure, target)
    else:
        ask("ngym_save_figure", "ngym plot --style", figure=figure, path=target, style=style)


def draw_all(folder: Path, kind: str, subject: str, seed: int, style: str = "screen") -> None:
    """Draw every installed task into a folder.

    Raises:
        click.ClickException: some tasks cannot be drawn; they are listed on stderr.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [task for task in installed().tasks if not task.has("blocked")]
    failed: list[str] = []
    with Progress("drawing", len(tasks)) as progress:
        for done, task in enumerate(tasks):
            progress.show(done, clean(task.id))
            target = folder / f"{task.id.replace('/', '-')}.{kind}"
            try:
                if not task.usable:
                    raise click.ClickException(f"is not usable ({task.status})")
                draw(task.id, target, subject, seed, style=style)
            except click.ClickException as error:
                failed.append(f"{clean(task.id)}: {clean(error.message)}")
            except Exception as error:  # the other tasks are still drawn
                reason = str(error) if isinstance(error, NeurogymError) else said_by(error)
                failed.append(f"{clean(task.id)}: {clean(reason)}")
    click.echo(f"Drew {len(tasks) - len(failed)} of {len(tasks)} tasks into {clean(str(folder))}.")
    if failed:
        for row in failed:
            click.echo(row, err=True)
        raise click.ClickException(
            f"{len(failed)} of {len(tasks)} tasks could not be drawn; the reasons are above."
        )
