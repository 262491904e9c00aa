"""`Training`: the work that trains networks and agents."""

from __future__ import annotations

import contextlib
import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neurogym_training.experiment import ENDING, Experiment, task_entry, wrapper_entry
from neurogym_training.runs import Run
from neurogym_training.trainers import checked_settings, settings_of, trainer_named
from neurogym_training.training import checked_criterion, checked_keeping

from neurogym_core import InvalidValueError, NotSupportedError
from neurogym_core.tools import unknown
from neurogym_sweep.base import SECTIONS, Tasks, Work, checked_seed, copied, is_whole
from neurogym_sweep.store import Job

UNITS = {"model": "updates", "algo": "steps"}


class Training(Work):
    """Train a network or an agent, as `ngym train` does; a row of results per test.

    Args:
        said: an experiment, as `neurogym_training.experiment.read_experiment` returns it.
    """

    name = "train"
    _plain = ("algo", "batch", *ENDING, "model", "seed", "steps", "task", "updates")

    def __init__(self, said: Mapping[str, Any]) -> None:
        self._said = said
        self._tried: set[str] = set()
        self._tasks = Tasks()

    def job(self, settings: Mapping[str, Any]) -> Job:
        """Return the job of a row; see `Work.job`."""
        experiment = self._experiment(settings)
        trainer = trainer_named(experiment.trainer, experiment.kind)
        known = settings_of(trainer)
        options = {
            name: parameter.default
            for name, parameter in known.items()
            if name not in ("seed", "wrap") and parameter.default is not inspect.Parameter.empty
        }
        options |= checked_settings(trainer, experiment.trainer, experiment.options)
        checked_criterion(experiment.criterion)
        checked_keeping(experiment.patience, experiment.snapshots)
        tasks = [self._tasks.described(entry, experiment.parameters) for entry in experiment.tasks]
        # One trainer for each set of names, and the values of each row: a trainer takes a while.
        kind = json.dumps([tasks, experiment.trainer, sorted(options)], default=repr)
        if kind not in self._tried:
            # A pattern may match a task that cannot be learned this way: that run fails alone.
            with contextlib.suppress(NotSupportedError):
                experiment.make_trainer()
            self._tried.add(kind)
        what = {
            "do": "train",
            "tasks": tasks,
            experiment.kind: experiment.trainer,
            "amount": experiment.amount,
            "seed": experiment.seed,
            **experiment.ending(),
            "wrap": [dict(entry) for entry in experiment.wrap],
            "options": options,
        }
        return Job.of(settings, what, {"experiment": experiment.to_plain()})

    def _experiment(self, settings: Mapping[str, Any]) -> Experiment:
        said = dict(self._said)
        entries = [dict(task_entry(task)) for task in said["tasks"]]
        if "task" in settings:
            entries[0]["task"] = task_entry(settings["task"])["task"]
        for one, other in (("model", "algo"), ("algo", "model")):
            if one in settings:
                said.pop(other, None)
                said[one] = settings[one]
        kinds = [kind for kind in UNITS if said.get(kind)]
        if len(kinds) != 1:
            raise InvalidValueError(
                f"{len(kinds)} trainers were given. Expected one. Set model or algo under [train]"
                " in the experiment file, or vary it: --vary model=rnn,gru."
            )
        (kind,) = kinds
        unit, name = UNITS[kind], said[kind]
        said |= {key: settings[key] for key in self._plain if key in settings}
        if not is_whole(said.get(unit)):
            raise InvalidValueError(
                f"{unit} is {said.get(unit)!r}. Expected a whole number above 0, the length of a"
                f" run. Set {unit} under [train] in the experiment file, or --vary {unit}=2000."
            )
        options = dict(said.get("options", {}))
        if "batch" in said:
            options["batch"] = said["batch"]
        parameters = copied(said["set"])
        trainer_settings = set(settings_of(trainer_named(name, kind))) - {"seed", "wrap"}
        task_settings = set(self._tasks.parameters(entries[0]["task"]))
        for key, value in settings.items():
            if key in self._plain:
                continue
            section, dot, inside = key.partition(".")
            if dot and section in SECTIONS:
                parameters[section] = {**parameters.get(section, {}), inside: value}
            elif dot and section == "options":
                options[inside] = value
            elif dot and section == "parameters":
                parameters[inside] = value
            elif key in trainer_settings and key in task_settings:
                raise InvalidValueError(
                    f"{key} is a setting of {name} and of {entries[0]['task']}. Expected one of"
                    f" them. Write options.{key} or parameters.{key}."
                )
            elif key in trainer_settings:
                options[key] = value
            elif key in task_settings:
                parameters[key] = value
            else:
                known = [*self._plain, *sorted(trainer_settings), *sorted(task_settings)]
                known += [f"{section}.NAME" for section in SECTIONS]
                raise unknown("setting", key, known, of=f"{name} and {entries[0]['task']}")
        ending = {key: said[key] for key in ENDING if key in said}
        return Experiment(
            tasks=tuple(entries), kind=kind, trainer=name, amount=int(said[unit]),
            seed=checked_seed(said.get("seed")), **ending,
            parameters=parameters, wrap=tuple(wrapper_entry(item) for item in said["wrap"]),
            options=options,
        )  # fmt: skip


def train(job: Job, folder: Path) -> list[dict[str, Any]]:
    folder.mkdir(parents=True, exist_ok=True)
    run = Run(folder, Experiment.from_plain(job.how["experiment"]))
    if not run.started:
        run.write()
    trainer = run.trainer()  # continues from the newest checkpoint
    trainer.train(run.experiment.amount, out=folder, **run.experiment.ending())
    return [dict(row) for row in trainer.curve]
