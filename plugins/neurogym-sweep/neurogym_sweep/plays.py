"""`Play`: the works in which a reference subject or a trained run plays, and is measured."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from neurogym_behaviour.behaviour import Behaviour, Roles
from neurogym_likeness.likenesses import score
from neurogym_likeness.signatures import signatures
from neurogym_training import TaskExperiment
from neurogym_training.playing import Played, play_run, play_task
from neurogym_training.runs import Run

from neurogym_core import InvalidValueError
from neurogym_core.players import player_of
from neurogym_core.tools import read_split, unknown
from neurogym_sweep.base import Tasks, Work, checked_seed, is_whole, with_settings
from neurogym_sweep.store import RUNS, TRAINED, Job, Store

TRIALS = 2000


class Play(Work):
    """Let a reference subject or a trained run play; one row of results.

    A row with the setting ``run``, a folder that `ngym train` or a sweep wrote, is played by the
    trained network or agent of that folder. If a sweep trained it, the table also has the settings
    of its row, with the prefix ``trained.``.

    Args:
        name: "evaluate", for means over trials; or "likeness", for the published signatures of
            animals: a result NAME (the effect), and NAME.low, NAME.high, NAME.sign and NAME.within
            of each signature NAME that can be tested.
        base: the task, its settings, and the subject, "guess" by default, that rows change; None:
            all rows name a run.
    """

    _plain = ("seed", "subject", "task", "trials")
    _of_run = ("run", "seed", "trials", "which")

    def __init__(self, name: str, base: TaskExperiment | None) -> None:
        self.name = name
        self._base = base
        self._tasks = Tasks()
        self._subjects: set[str] = set()

    def job(self, settings: Mapping[str, Any]) -> Job:
        """Return the job of a row; see `Work.job`."""
        if "run" in settings:
            return self._job_of_run(settings)
        if self._base is None:
            raise InvalidValueError(
                "No experiment was given. Expected an experiment.toml, the id of a task, or trained"
                " runs. Add it, or --vary run=FOLDER."
            )
        experiment = with_settings(self._base, settings, self._plain, self._tasks)
        subject = experiment.subject or "guess"
        if subject not in self._subjects:
            player_of(subject)
            self._subjects.add(subject)
        experiment = replace(
            experiment,
            trials=_checked_trials(experiment.trials),
            seed=checked_seed(experiment.seed),
            subject=subject,
        )
        what = {
            "do": self.name,
            "task": self._tasks.of_experiment(experiment),
            "imposed": dict(experiment.imposed),
            "subject": subject,
            "trials": experiment.trials,
            "seed": experiment.seed,
            **({} if experiment.split is None else {"split": experiment.split}),
        }
        return Job.of(settings, what, {"experiment": experiment})

    def _job_of_run(self, settings: Mapping[str, Any]) -> Job:
        if self._base is not None:
            raise InvalidValueError(
                f"run={settings['run']} and the task {self._base.source} were both given. Expected"
                " one of them: a run has its task. Leave one out."
            )
        imposed = {}
        for name, value in settings.items():
            section, dot, inside = name.partition(".")
            if dot and section == "conditions":
                imposed[inside] = value
            elif name not in self._of_run:
                raise unknown("setting", name, [*self._of_run, "conditions.NAME"], of="a run")
        folder = Path(str(settings["run"]))
        run = _opened(folder)
        which = settings.get("which", 0)
        tasks = len(run.experiment.tasks)
        if isinstance(which, bool) or not isinstance(which, int) or not 0 <= which < tasks:
            raise InvalidValueError(
                f"which is {which!r}. Expected a whole number from 0 to {tasks - 1}, the index of a"
                f" task of {str(folder)!r}. Correct it."
            )
        play = {
            "trials": _checked_trials(settings.get("trials")),
            "which": which,
            "seed": checked_seed(settings.get("seed")),
            "imposed": imposed,
        }
        what = {"do": self.name, "run": _digest(folder), **play}
        return Job.of(
            {**_trained_with(folder), **settings}, what, {"run": folder.resolve(), **play}
        )


def play(job: Job) -> list[dict[str, Any]]:
    """Do the job of a `Play`, and return its row of results."""
    how = job.how
    if "run" in how:
        played = play_run(
            _opened(how["run"]), how["trials"], which=how["which"], seed=how["seed"],
            imposed=how["imposed"],
        )  # fmt: skip
    else:
        experiment = how["experiment"]
        played = play_task(
            experiment.make_task(), experiment.player, experiment.trials, seed=experiment.seed,
            split=read_split(experiment.split), imposed=experiment.imposed,
        )  # fmt: skip
    return [_means(played) if job.what["do"] == "evaluate" else _effects(played)]


def _means(played: Played) -> dict[str, Any]:
    """Return the means over the trials of a record."""
    record = played.record
    row: dict[str, Any] = {"trials": len(record)}
    for name in ("performance", "reward", "reaction_time", "aborts", "steps"):
        if name in record.columns:
            values = record[name].astype(float)
            values = values[~np.isnan(values)]  # trials without an answer have no reaction time
            title = "accuracy" if name == "performance" else name
            row[title] = float(values.mean()) if len(values) else None
    return row


def _effects(played: Played) -> dict[str, Any]:
    """Return the effects of the published signatures that can be tested, with their verdicts."""
    behaviour = Behaviour(played.record, Roles.of_task(played.task))
    row: dict[str, Any] = {}
    for one in signatures():
        rows = score(one, {"run": behaviour}, played.subject, played.task.name).rows
        if rows:
            row[one.name] = rows[0].value
            row |= {f"{one.name}.{end}": _finite(getattr(rows[0], end)) for end in ("low", "high")}
            row |= {f"{one.name}.{said}": getattr(rows[0], said) for said in ("sign", "within")}
    if not row:
        raise InvalidValueError(
            f"No published signature can be tested in {played.task.name}. Expected a task of one;"
            " `ngym likeness --list` shows them. Choose another task, or vary its settings."
        )
    return {**row, "trials": len(played.record)}


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _checked_trials(trials: Any) -> int:
    if trials is None:
        return TRIALS
    if not is_whole(trials):
        raise InvalidValueError(
            f"trials is {trials!r}. Expected a whole number above 0. Write for example"
            " --vary trials=1000."
        )
    return int(trials)


# ---------------------------------------------------------------------- trained runs


def _opened(folder: Path) -> Run:
    run = Run.open(folder)
    if not run.started:
        raise InvalidValueError(
            f"The run in {str(folder)!r} has no checkpoint. Expected a trained run. Train it first:"
            f" ngym train --resume {folder}."
        )
    return run


def _digest(folder: Path) -> str:
    """Return a hash of the settings and the checkpoint of a run: a run trained on is another."""
    found = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file() and not path.name.startswith("."):
            found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]


def _trained_with(folder: Path) -> dict[str, Any]:
    """Return the settings of the row of a sweep that trained the run; none for other runs."""
    folder = folder.resolve()
    if folder.parent.name != RUNS:
        return {}
    trained = Store(folder.parents[1]).result(folder.name) or {"settings": {}}
    return {TRAINED + name: value for name, value in trained["settings"].items()}
