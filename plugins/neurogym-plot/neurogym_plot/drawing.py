"""The work of `ngym plot`: figures of trials, sessions and plain envs, and films."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
import gymnasium

from neurogym_core import NeurogymError, Task, TaskWrapper, make_task, run
from neurogym_core.players import TaskView, resolve
from neurogym_core.tools import (
    Progress,
    clean,
    find_task,
    installed,
    is_file_reference,
    load_wrapper,
    read_conditions,
    read_wrap,
    said_by,
    task_settings,
    usage_errors,
)
from neurogym_plot.film import FILM_SUFFIXES, frames_of, save_film
from neurogym_plot.plain_envs import env_figure
from neurogym_plot.session import session_figure
from neurogym_plot.styles import figure_style, magnified, save_figure
from neurogym_plot.trial import trace_of, trial_figure

SESSION_TRIALS = 100
"""Trials of the figure of a session by default."""
SHORT_TRIAL = 3
"""Steps of a trial up to which a session is drawn by default."""
FILM_TRIALS = 100
"""Trials of the film of a session that does not end."""
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
        session: whether to draw a session; None: if it shows more than a trial.
        n_trials: trials of the session or film; None: 100, of a film one trial or those of a
            session.
        style: style of the figure.

    Raises:
        click.UsageError: the task does not accept the settings.
    """
    found: Any = resolve(name)
    films, asked = target.suffix.lower() in FILM_SUFFIXES, bool(session or n_trials)
    if isinstance(found, type) and issubclass(found, gymnasium.Env) and not films:
        if any(settings.values()) or asked:
            raise click.UsageError(
                f"Settings of a trial or session were given for {clean(name)}. Expected none,"
                " because it is a plain Gymnasium env, which keeps no record of trials. Leave out"
                " --set, --timing, --condition, --wrap, --session and --n-trials."
            )
        _save(env_figure(name, seed), target, style)
        return
    with usage_errors():
        wrap = [read_wrap(text) for text in settings["wrap"]]
        given = task_settings(found, settings["parameters"], settings["timing"])
        of_tasks = [one for one in wrap if issubclass(load_wrapper(one[0]), TaskWrapper)]
        task = make_task(found, wrap=of_tasks, **given)
        played: dict[str, Any] = {"wrap": wrap, **given}
        imposed = read_conditions(settings["conditions"])
        if not films and (asked or (session is None and best_as_session(task))):
            count = n_trials or SESSION_TRIALS
            record = run(found, subject, count, num_envs=1, seed=seed, conditions=imposed, **played)
            _save(session_figure(record, task, subject=subject), target, style)
            return
        if not (asked or any(settings.values()) or is_file_reference(name)):
            imposed = dict(find_task(name).figure)
        if films:
            count = n_trials or ((task.trials_per_session or FILM_TRIALS) if session else 1)
            with Progress("filming", count) as progress:
                frames = frames_of(
                    found, subject, count, seed, imposed, progress=progress.show, **played
                )
                save_film(frames, target)
        else:
            trace = trace_of(found, subject, seed, imposed, **played)
            _save(trial_figure(trace), target, style)


def _save(figure: Any, target: Path, style: str) -> None:
    with figure_style(style):
        save_figure(magnified(figure), target)


def best_as_session(task: Task) -> bool:
    """Return whether a session is drawn by default, because one trial would show little.

    Its trials last at most three steps, or they are a stream, in which each depends on those before
    it and can be answered on all of its steps.
    """
    if TaskView(task).typical_steps <= SHORT_TRIAL:
        return True
    if not TaskView(task).stateful:
        return False
    batch = task.sample(1, seed=0)
    played = batch.duration[0] > 0
    return bool(batch.table("window")[0, played].all(axis=0).any())


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
