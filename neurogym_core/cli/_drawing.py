"""The work of `ngym plot`: the figure of a trial or a session, of one task or of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import gymnasium

from neurogym_core.canvas import save_figure
from neurogym_core.ecosystem.discovery import find_task, installed
from neurogym_core.ecosystem.files import is_file_reference
from neurogym_core.ecosystem.hooks import ask
from neurogym_core.ecosystem.names import clean, said_by
from neurogym_core.errors import NeurogymError
from neurogym_core.play.make import prepared, resolve
from neurogym_core.play.run import run
from neurogym_core.plots import trace_of, trial_figure
from neurogym_core.tasks.building import typical_steps
from neurogym_core.tasks.drawing import stateful
from neurogym_core.tasks.task import Task
from neurogym_core.terminal.progress import Progress
from neurogym_core.terminal.settings import (
    read_conditions,
    read_wrap,
    task_settings,
    usage_errors,
)

SESSION_TRIALS = 100
"""Trials of the figure of a session."""
SHORT_TRIAL = 3
"""Steps of a trial up to which a session is drawn by default."""
FILMS = (".mp4", ".gif")

NO_SETTINGS = dict.fromkeys(("parameters", "timing", "conditions", "wrap"), ())


def draw(
    name: str,
    target: Path,
    subject: str,
    seed: int,
    settings: Mapping[str, Sequence[str]],
    session: bool | None = None,
    n_trials: int | None = None,
) -> None:
    """Draw one trial, or a session, into a file, as a figure or a film.

    Args:
        name: task, or Gymnasium env that is not a `Task`.
        target: file of the figure (.png, .svg, .pdf) or film (.mp4, .gif).
        subject: name of the subject that plays.
        seed: seed of the trial.
        settings: texts of --set, --timing, --condition and --wrap, by the option's parameter.
        session: whether to draw a session; None: a figure does if `best_as_session` says so, and a
            package that draws sessions is installed.
        n_trials: trials of the session or film; None: `SESSION_TRIALS`, of a film one or those of a
            session.

    Raises:
        click.UsageError: the task does not accept the settings.
        MissingDependencyError: the package that draws it is not installed.
    """
    found: Any = resolve(name)
    films = target.suffix.lower() in FILMS
    if isinstance(found, type) and issubclass(found, gymnasium.Env) and not films:
        if any(settings.values()):
            raise click.UsageError(
                f"Settings of a trial were given for {clean(name)}. Expected none, because it is a"
                " plain Gymnasium env. Leave out --set, --timing, --condition and --wrap."
            )
        if session or n_trials:
            raise click.UsageError(
                f"--session or --n-trials was given for {clean(name)}. Expected neither, because it"
                " is a plain Gymnasium env, which keeps no record of trials. Leave them out."
            )
        what = "ngym plot of a plain Gymnasium env"
        save_figure(ask("ngym_env_figure", what, name=name, seed=seed), target)
        return
    with usage_errors():
        wrap = [read_wrap(text) for text in settings["wrap"]]
        given = task_settings(found, settings["parameters"], settings["timing"])
        task, env_wrappers = prepared(found, wrap, given)
        conditions = read_conditions(settings["conditions"])
        if session is None and not films:
            drawable = any(one.usable for one in installed().studies)
            session = n_trials is not None or (drawable and best_as_session(task))
        if not (session or n_trials or any(settings.values()) or is_file_reference(name)):
            conditions = dict(find_task(name).figure)
        if films:
            count = n_trials or ((task.trials_per_session or SESSION_TRIALS) if session else 1)
            with Progress("filming", count) as progress:
                what = f"ngym plot -o {clean(target.name)}"
                ask("ngym_film", what, path=target, task=task, subject=subject, n_trials=count,
                    seed=seed, conditions=conditions, wrap=env_wrappers,
                    progress=progress.show)  # fmt: skip
        elif session:
            record = run(task, subject, n_trials or SESSION_TRIALS, num_envs=1, seed=seed,
                         conditions=conditions, wrap=env_wrappers)  # fmt: skip
            what = "ngym plot --session"
            drawn = ask("ngym_session_figure", what, record=record, task=task, subject=subject)
            save_figure(drawn, target)
        else:
            trace = trace_of(task, subject, seed, conditions, wrap=env_wrappers)
            save_figure(trial_figure(trace), target)


def best_as_session(task: Task) -> bool:
    """Return whether a session is drawn by default, because one trial would show little.

    Its trials last at most three steps, or they are a stream, in which each depends on those before
    it and can be answered on all of its steps.
    """
    if typical_steps(task) <= SHORT_TRIAL:
        return True
    if not stateful(task):
        return False
    batch = task.sample(1, seed=0)
    played = batch.duration[0] > 0
    return bool(batch.payoffs.window[0, played].all(axis=0).any())


def draw_all(folder: Path, kind: str, subject: str, seed: int) -> None:
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
                draw(task.id, target, subject, seed, NO_SETTINGS)
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
