"""`Candidate`: the task that is checked, with the results that several checks share."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from neurogym_check.check_types import CannotTell, CheckFailedError, Level, NotApplicable
from neurogym_check.subject_play import Played, play
from neurogym_check.trajectories import Recording, anything, constants, mixed, oracle
from neurogym_core import Task, TaskVectorEnv, TrialBatch, UnknownTaskError, make, make_task
from neurogym_core.players import Dealer, EnvForm, TaskView, resolve
from neurogym_core.tools import (
    TaskInfo,
    canonical,
    find_task,
    installed,
    is_file_reference,
    load,
)

ENVS = 32
"""Envs in which reference subjects play; each is an independent sample of sessions."""
SUBJECTS = ("oracle", "guess", "rest", "premature")
"""Reference subjects whose play is recorded."""
PATIENCE = 1.5
"""Play stops after this multiple of the intended steps, even if trials have not ended."""
LONG = 300
"""Steps of a trial beyond which only the full level plays the subjects "rest" and "premature"."""
LONGEST = 2000, 60_000
"""Most steps that a check plays to see the end of long trials, at the quick and the full level."""
SEED = 3


class Candidate:
    """A task under examination.

    Args:
        source: an id or bare name, "file.py:Class", a Task, a Task class, or a Gymnasium env class.
        level: "quick" or "full"; sets the number of trials and steps that are played.
        expected: the manifest's ``expected``, for tasks without a manifest.
    """

    def __init__(
        self, source: Any, level: Level = "quick", expected: Mapping[str, float] | None = None
    ) -> None:
        self.info: TaskInfo | None = None
        if isinstance(source, TaskInfo):
            self.info = source
        elif isinstance(source, str) and not is_file_reference(source):
            self.info = find_task(source)
        self.source = source if self.info is None else self.info.id
        self.level = level
        self._expected = dict(expected or {})
        self._known: dict[str, Any] = {}
        self.progress: Callable[[str], None] = lambda part: None  # of long checks

    @property
    def name(self) -> str:
        """Id, file reference, or class name."""
        if isinstance(self.source, str):
            return self.source
        return (
            self.source.__name__
            if isinstance(self.source, type)
            else getattr(self.source, "name", repr(self.source))
        )

    @property
    def expected(self) -> Mapping[str, Any]:
        """Expected performance: ``guess`` and ``oracle_min``."""
        return {**(self.info.expected if self.info is not None else {}), **self._expected}

    @property
    def admitted(self) -> Mapping[str, str]:
        """Shortcuts that the manifest admits, with words of the docstring."""
        return self.info.admitted if self.info is not None else {}

    @property
    def admits(self) -> Mapping[str, str]:
        """Conditions that leave the answer open, as the manifest admits them."""
        return self.info.admits if self.info is not None else {}

    @property
    def docstring(self) -> str:
        """The docstring of the task."""
        return inspect.getdoc(self.cls) or ""

    @cached_property
    def found(self) -> Any:
        """The imported Task, Task class or env class.

        Raises:
            CheckFailedError: the entry point leads to something else.
            DiscoveryError: the module cannot be imported.
        """
        if self.info is None:
            return resolve(self.source)
        found = load(self.info)
        try:
            return resolve(found)
        except ValueError:
            raise CheckFailedError(
                f"{self.info.value} is {found!r}. Expected a Task or a Gymnasium env. Correct the"
                " entry point."
            ) from None

    @cached_property
    def cls(self) -> type:
        """Class of the task or env."""
        return self.found if isinstance(self.found, type) else type(self.found)

    @cached_property
    def kind(self) -> str:
        """ "task", "trial env" or "env"."""
        if issubclass(self.cls, Task):
            return "task"
        return "trial env" if getattr(self.cls, "ngym_form", EnvForm).reports_trials else "env"

    @cached_property
    def task(self) -> Task:
        """The task with its default settings; only where `kind` is "task"."""
        return self.found if isinstance(self.found, Task) else self.found()

    def env(self) -> Any:
        """Return a new env of the task, as `make` builds it without plug-ins."""
        return self.with_small_blocks(
            make(self.task if self.kind == "task" else self.source, info="full")
        )

    def vector_env(self, num_envs: int) -> TaskVectorEnv:
        """Return a vector env of the task."""
        return self.with_small_blocks(
            TaskVectorEnv(self.task, num_envs, autoreset_mode="SameStep", info="full")
        )

    def fresh_env(self, **settings: Any) -> Any:
        """Return a new env built from the source; a name or class gives a new task."""
        return self.with_small_blocks(make(self.source, **settings))

    def with_small_blocks(self, env: Any) -> Any:
        """Make the env build few trials at a time, at the quick level.

        Most of the time of a reset goes into noise, and the quick level plays few of the trials.
        """
        if self.kind == "task" and self.level == "quick":
            dealer = dealer_of(env)
            several = 16 if dealer.n >= ENVS else 8
            single = 2048 // TaskView(self.task).typical_steps
            dealer.block_rows = several * dealer.n if dealer.n > 1 else max(single, 16)
        return env

    @cached_property
    def obstacle(self) -> BaseException | None:
        """The error when the task is made and stepped, for a trial if it has hooks, or None."""
        try:
            env = self.fresh_env()
            env.reset(seed=SEED)
            env.step(env.action_space.sample())
            if self.kind == "task" and TaskView(self.task).hooks:
                for _ in range(self.affordable(TaskView(self.task).typical_steps)):
                    env.step(env.unwrapped.target)  # a wrong hook would fail most checks
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return error
        return None

    def require_made(self) -> None:
        """Raise the `obstacle`, if there is one."""
        if self.obstacle is not None:
            raise self.obstacle

    def require_oracle(self) -> None:
        """Raise `NotApplicable` if the manifest declares that the task has no oracle."""
        if self.expected.get("oracle_min") == 0:
            raise NotApplicable("the manifest declares no oracle (oracle_min = 0)")

    @property
    def longest(self) -> int:
        """Steps of a long trial, in which periods without a timer last to its limit."""
        return max(TaskView(self.task).typical_steps, TaskView(self.task).max_steps)

    def several(self, quick: int, full: int) -> int:
        """Return `full` at the full level, else `quick`."""
        return full if self.level == "full" else quick

    def affordable(self, steps: float) -> int:
        """Return `steps`, or the most that a check plays to see the end of long trials."""
        return int(min(steps, self.several(*LONGEST)))

    def out_of_steps(self, subject: str, steps: int) -> CannotTell:
        """Return the result of a check that played `steps` steps, in which trials did not end."""
        remedy = (
            "The full level plays more."
            if self.level == "quick"
            else "Make trials shorter, or `dt` longer."
        )
        return CannotTell(
            f"The subject {subject!r} played {steps} steps and did not finish its trials. Nothing"
            f" was measured. {remedy}"
        )

    # ------------------------------------------------------------------ shared by several checks

    def once(self, name: str, compute: Callable[[Candidate], Any]) -> Any:
        """Return the result of `compute` for this candidate, computed on first use."""
        if name not in self._known:
            self._known[name] = compute(self)
        return self._known[name]

    @cached_property
    def recordings(self) -> dict[str, Recording]:
        """Recordings of random play, some constant actions, and the oracle if there is one."""
        env, count = self.env(), self.several(120, 3000)
        env.reset(seed=SEED)  # a plain env may define its target only after the first reset
        policies = {"random": anything(11), **constants(env.action_space)}
        if hasattr(env.unwrapped, "target"):
            policies |= {"oracle": oracle, "mixed": mixed(11)}
        found = {}
        for name, policy in policies.items():
            # Reset without a seed, the env continues with trials that are built already.
            found[name] = Recording(env, policy).extend(
                count if name in ("random", "oracle", "mixed") else count // 2
            )
            if name in ("oracle", "mixed") and self.kind == "task" and not found[name].trials:
                found[name].extend(self.affordable(2 * self.longest))
        return found

    @cached_property
    def played(self) -> dict[str, Played]:
        """Play of the reference subjects in `ENVS` envs, with at least one trial per env if trials
        end in time.
        """
        task = self.task
        env = self.vector_env(ENVS)
        env.reset(seed=17)
        long = TaskView(task).typical_steps > LONG
        least, most = self.several(1, 3 if long else 20), self.several(40, 400)
        if TaskView(task).stateful and task.trials_per_session is not None:
            # Learners and curricula change between sessions.
            most = min(most, task.trials_per_session)
        enough = self.several(250, 2000 if long else 6000)
        rests = task.actions.continuous or task.actions.rest is not None
        # A trial without an answer lasts for its maximal duration.
        brief = self.level == "full" or TaskView(task).typical_steps <= LONG
        subjects = SUBJECTS if rests and brief else SUBJECTS[:2]
        limit = max(PATIENCE * enough, self.affordable(PATIENCE * least * self.longest))
        return {name: play(env, name, least, most, enough, limit) for name in subjects}

    @cached_property
    def sample_size(self) -> int:
        """Trials in `batch`; fewer if trials and channels are many."""
        most, numbers = self.several(1000, 10000), self.several(2_000_000, 20_000_000)
        fits = numbers // (TaskView(self.task).typical_steps * (self.task.channels.size + 4))
        return int(np.clip(fits, 200, most))

    @cached_property
    def batch(self) -> TrialBatch:
        """Trials with the default settings, each the first of a session."""
        return self.task.sample(self.sample_size, seed=23)


class Wrapped(Candidate):
    """An installed task, or one in a file, with task wrappers.

    The chance level, the oracle's performance and the admitted shortcuts of its manifest hold for
    it, too; digest and stored shortcuts are those of the task alone, and are not compared.

    Args:
        source, level: see `Candidate`.
        wrappers: (name, settings), innermost first.
        text: the wrappers as they were written, for the name.
    """

    def __init__(
        self,
        source: str,
        level: Level,
        wrappers: Sequence[tuple[str, Mapping[str, Any]]],
        text: str,
    ) -> None:
        self.alone = Candidate(source, level)
        super().__init__(make_task(source, wrap=list(wrappers)), level, self.alone.expected)
        self._name = f"{self.alone.name} --wrap {text}"

    @property
    def name(self) -> str:
        """Id or file reference, and the wrappers."""
        return self._name

    @property
    def admitted(self) -> Mapping[str, str]:
        """Shortcuts that the manifest admits of the task without wrappers."""
        return self.alone.admitted

    @property
    def admits(self) -> Mapping[str, str]:
        """Conditions that leave the answer open in the task without wrappers."""
        return self.alone.admits

    @property
    def docstring(self) -> str:
        """The docstring of the task without wrappers."""
        return self.alone.docstring


def dealer_of(env: Any) -> Dealer:
    """Return the dealer of a task's env."""
    return env.unwrapped.stepper.dealer  # type: ignore[no-any-return]


def expanded(sources: Any) -> list[Any]:
    """Return the sources with packages replaced by the ids of their tasks; import none of them."""
    items = (
        [sources]
        if isinstance(sources, str | type | Task) or not isinstance(sources, Iterable)
        else list(sources)
    )
    found: list[Any] = []
    for item in items:
        tasks = tasks_of_package(item) if isinstance(item, str) else None
        found += [item] if tasks is None else [task.id for task in tasks]
    return found


def tasks_of_package(name: str) -> tuple[TaskInfo, ...] | None:
    """Return the tasks of an installed package.

    Args:
        name: the distribution's name, its namespace, or the folder of its sources.

    Returns:
        None if this names no package.

    Raises:
        UnknownTaskError: the folder has no project, or its project is not installed.
    """
    for package in installed().packages:
        if name == package.namespace or canonical(name) == canonical(package.distribution):
            return next(
                one.tasks
                for one in installed().packages
                if one.distribution == package.distribution
            )
    folder = Path(name)
    return _tasks_of_folder(folder) if folder.is_dir() else None


def _tasks_of_folder(folder: Path) -> tuple[TaskInfo, ...]:
    """Return the tasks of the project in a folder; they are read from the installed package."""
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]["name"]
    except (OSError, ValueError, KeyError, TypeError):
        raise UnknownTaskError(
            f"{str(folder)!r} has no pyproject.toml with a project name. Expected the folder of a"
            " package. Name that folder, or a file as in `my_task.py:MyTask`."
        ) from None
    found = None if Path(project).is_dir() else tasks_of_package(project)
    if found is None:
        raise UnknownTaskError(
            f"{project} is not installed, or has no tasks. Expected an installed package. Install"
            f" it: `python -m pip install -e {folder}`."
        )
    return found
