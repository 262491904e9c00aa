"""Trials that Python plays while a page shows them: tasks whose trials are no tables.

The page asks for each step with one request to the server of this machine. The kernel of the core
plays it with the hooks of the task."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from neurogym_core import Task, TrialRecord
from neurogym_core.players import Game, Tables, TaskView
from neurogym_play.page import PRACTICE
from neurogym_play.tables import evidence, interface, named_slots, shortest_window, trigger
from neurogym_play.views import exact_observation

REHEARSED, REHEARSED_TRIALS = 1000, 50
"""Steps and trials that each of two subjects plays at most; from them the page knows how bright its
lamps become."""
REHEARSAL = "validation"
"""The split of these steps, so that no trial of a person is seen before."""
CHANGED = 0.1
"""Part of the largest value of a channel by which a lamp has to change for it to be seen."""


class Stepwise:
    """A block of trials of one person, played by the kernel of the core one step at a time.

    Args:
        task: the task.
        n_trials: number of trials.
        door: the name under which the server answers for this block.
        seed, split, conditions: as in `neurogym_core.run`.
    """

    def __init__(
        self,
        task: Task,
        n_trials: int,
        door: str,
        *,
        seed: int,
        split: str | None = None,
        conditions: Mapping[str, Any] | None = None,
    ) -> None:
        self.task, self.n_trials, self.door = task, n_trials, door
        self._given: dict[str, Any] = {"seed": seed, "split": split, "conditions": conditions}
        self._lock = Lock()  # a page that is loaded again may ask while the last answer is made
        self.begin()

    def begin(self) -> None:
        """Begin with the first trial."""

        def person(env: Any, observations: np.ndarray) -> np.ndarray:
            return self._action

        self.game = Game(self.task, person, self.n_trials, num_envs=1, params={}, **self._given)
        self._drawn = self._conditions()

    def page(self) -> dict[str, Any]:
        """Return the facts that the page needs, with the names of `trial_tables`."""
        stepper = self.game.env.unwrapped.stepper
        tables: Tables = stepper.any_block.tables
        signed, moves = evidence(self.task, self._drawn), "step_action" in TaskView(self.task).hooks
        return {
            "door": self.door,
            "task": self.task.name,
            "n_trials": self.n_trials,
            **interface(self.task),
            "conditions": list(self._drawn),
            "evidence": None if signed is None else [],
            "names": {name: list(names) for name, names in stepper.any_block.names.items()},
            "slots": named_slots(tables),
            "trigger": trigger(tables),
            # Where each action moves something, a key that is held acts on every step, and the
            # window of the answer that the task reports says nothing about the pace.
            "holds": moves,
            "shortest_window": None if moves else shortest_window(tables),
            **rehearsed(self.task, self._given["seed"]),
        }

    def answer(self, sent: Any) -> dict[str, Any]:
        """Play the step that a page asks for, or begin, and return the next observation.

        Args:
            sent: None: begin. Else "step", the number of steps before this one, and "action", an id
                or values in [-1, 1].

        Returns:
            "seen", the observation; "exact", the same before noise is added; "asked", whether an
            answer is open; "reward" of the step; "row" of the record if a trial ended, else None;
            "evidence" of that trial.

        Raises:
            ValueError: it asks for another step than the next one, or for one after the last trial,
                or for an action that the task does not have.
        """
        with self._lock:
            if sent is None:
                self.begin()
                return {**self._shown(), "reward": 0.0, "row": None}
            step = sent.get("step") if isinstance(sent, dict) else None
            if self.over:
                raise ValueError(
                    f"it asks for step {step!r}, but all {self.n_trials} trials are over. Load the"
                    " page again to play from the first trial"
                )
            if type(step) is not int or step != self.game.steps:
                raise ValueError(f"it asks for step {step!r}; expected {self.game.steps}")
            self._action = checked_actions(self.task, [sent.get("action")])
            ended = self.game.step()
            return {
                "reward": self.game.rewards.item(0),
                **(self._ended() if ended else {"row": None}),
                **self._shown(),
            }

    @property
    def over(self) -> bool:
        """Whether all trials have ended."""
        return self.game.played.count >= self.n_trials

    def record(self) -> TrialRecord:
        """Return the record of the trials that ended."""
        return self.game.record()

    def _shown(self) -> dict[str, Any]:
        asked = self.game.env.unwrapped.is_asked.item(0)
        return {
            "seen": self.game.observations[0].tolist(),
            "exact": exact_observation(self.game).tolist(),
            "asked": bool(asked),
        }

    def _ended(self) -> dict[str, Any]:
        signed = evidence(self.task, self._drawn)
        self._drawn = self._conditions()
        row = self.record().row(-1)  # times of the session, as in the record
        return {"row": finite(row), "evidence": None if signed is None else signed.item(0)}

    def _conditions(self) -> dict[str, np.ndarray]:
        """The conditions of the current trial, name -> (1, …)."""
        conditions = self.game.env.unwrapped.stepper.conditions
        return {name: np.array(conditions[name]) for name in conditions}


def stepwise_blocks(
    task: Task, n_trials: int, practice: int, *, seed: int, conditions: Mapping[str, Any] | None
) -> dict[str, Stepwise | None]:
    """Return the trials that count, "trials", and those of "practice", or None."""
    deal = partial(Stepwise, task, seed=seed, conditions=conditions)
    return {
        "trials": deal(n_trials, "step/trials"),
        "practice": deal(practice, "step/practice", split=PRACTICE) if practice else None,
    }


def finite(value: Any) -> Any:
    """Return a value for JSON: numbers that are not finite are None."""
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def checked_actions(task: Task, actions: Any) -> np.ndarray:
    """Return the actions that a page sent, (steps,) ids or (steps, D) values in [-1, 1].

    Raises:
        ValueError: the task has no such actions.
    """
    size, continuous = task.actions.size, task.actions.continuous
    try:
        array = np.asarray(actions)
    except ValueError:  # NumPy's words are about arrays
        array, said = np.array(None), "lists of different lengths"
    else:
        said = f"{type(actions).__name__} of {array.dtype} with the shape {array.shape}"
    if continuous:
        known = array.dtype.kind in "if" and array.ndim == 2 and array.shape[1] == size
        inside = known and bool((np.abs(array) <= 1).all())
        expected = f"{size} numbers from -1 to 1 for each step"
    else:
        known = array.dtype.kind == "i" and array.ndim == 1
        inside = known and bool(((array >= 0) & (array < size)).all())
        expected = f"an integer from 0 to {size - 1} for each step"
    if known and not inside:
        said = f"from {array.min():g} to {array.max():g}"
    if not inside:
        raise ValueError(
            f"it has other actions than the task: {said}. Expected {expected}. Load the page of"
            " this command again, and play there."
        )
    return array


# ---------------------------------------------------------------------- facts for the page


def rehearsed(task: Task, seed: int) -> dict[str, Any]:
    """Let two subjects play, and describe their observations.

    Returns:
        "largest": the largest value of each channel; "changes": how often a second a lamp changes
        visibly.
    """
    seen: list[np.ndarray] = []

    def watched(subject: str) -> None:
        game = Game(task, subject, None, seed=seed, split=REHEARSAL, params={})
        while game.steps < REHEARSED and game.played.count < REHEARSED_TRIALS:
            seen.append(game.observations[0].copy())
            game.step()

    for subject in ("oracle", "random"):
        watched(subject)
    values = np.abs(np.array(seen))
    largest = {name: float(values[:, units].max()) or 1.0 for name, units in task.channels.items()}
    scale = np.concatenate(
        [np.full(units.stop - units.start, largest[name]) for name, units in task.channels.items()]
    )
    changed = (np.abs(np.diff(seen, axis=0)) > CHANGED * scale).any(axis=1)
    return {"largest": largest, "changes": float(changed.mean()) * 1000 / float(task.dt)}
