"""Change the mapping from stimuli to choices over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from neurogym_core import Distribution, Session, Slot, TrialBuilder
from neurogym_core.players import TaskView
from neurogym_core.tools import unknown
from neurogym_wrappers.block_sequence import BlockSequence
from neurogym_wrappers.condition_wrapper import ConditionWrapper

STATE = "variable_mapping"


class VariableMapping(ConditionWrapper):
    """Permute the choices of an action over time, so that a stimulus has another correct choice.

    A subject begins with the task's own mapping. A mapping continues over the subject's sessions,
    until it changes: at the defaults after 129 trials on average. The column `mapping` of the
    record has, for each choice of the task, the choice that replaces it: one column per choice.

    Args:
        block_length: minimum number of trials with one mapping, a number or a distribution.
        hazard_rate: probability per trial that the mapping changes once it has lasted
            `block_length` trials; 1: it changes then.
        action: name of the action whose choices are permuted; "": the action of the first answer
            slot.

    Raises:
        NotSupportedError: the task has no answer slot with several choices of which some are
            correct.
        UnknownNameError: an action that the task does not have.
    """

    block_length: int | Distribution = 30
    hazard_rate: float = 0.01
    action: str = ""

    def define(self) -> None:
        if self.task.actions.continuous or self.task.step_action is not None:
            raise self.refusal("its answers are not discrete choices in a table")
        if self.action and self.action not in self.task.actions:
            raise unknown("action", self.action, self.task.actions, of=self.task.name)
        slots = [
            slot
            for slot in TaskView(self.task).example_layout.slots
            if not self.action or slot.group == self.action
        ]
        asked = [
            slot
            for slot in slots
            if slot.right is not None and slot.right.shape[1] > 1 and slot.amounts is None
        ]
        if not asked:
            raise self.refusal(
                "it has no answer slot with several choices of which some are correct"
                " (trial.answer)"
            )
        self._group = asked[0].group
        if any(slot.leads is not None for slot in slots if slot.group == self._group):
            raise self.refusal(f"the choices of {self._group!r} lead to separate periods")
        self._k = asked[0].right.shape[1]  # type: ignore[union-attr]
        self.sequence = BlockSequence.checked(
            "VariableMapping",
            2,
            block_length=self.block_length,
            hazard_rate=self.hazard_rate,
            key=f"mapping_{self.depth}",
        )
        self._state = f"{STATE}_{self.depth}"
        self._mapping = self.free_name("mapping")
        self.vary(**{self._mapping: self._identity_mapping})

    def _identity_mapping(
        self, rng: np.random.Generator, prior: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        return np.tile(np.arange(self._k), (prior.n, 1))  # type: ignore[attr-defined]

    # ------------------------------------------------------------------ drawing

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        super().new_session(session, rng)
        self.sequence.begin(session, rng)
        if not hasattr(session.subject, self._state):
            identity = np.tile(np.arange(self._k), (len(session), 1))
            setattr(session.subject, self._state, identity)
            setattr(session.subject, f"{self._state}_block", np.zeros(len(session), np.int64))

    def draw_constrained(
        self,
        session: Session,
        rng: np.random.Generator,
        trials: int,
        imposed: dict[str, np.ndarray],
        answer: np.ndarray | None,
    ) -> dict[str, np.ndarray]:
        mapping = (
            {}
            if self._mapping in imposed
            else {self._mapping: self._mappings(session, rng, trials)}
        )
        return self.draw_wrapped(session, rng, trials, {**imposed, **mapping}, answer)

    def _mappings(self, session: Session, rng: np.random.Generator, trials: int) -> np.ndarray:
        """Return the mappings of the coming trials, (trials, sessions, choices)."""
        block = self.sequence.advance(session, rng, trials)
        subject = session.subject
        before = np.concatenate([getattr(subject, f"{self._state}_block")[None], block[:-1]])
        changes = block != before
        current = getattr(subject, self._state).copy()
        mappings = np.empty((*block.shape, self._k), np.int64)
        edges = [*np.flatnonzero(changes.any(axis=1)).tolist(), trials]
        mappings[: edges[0]] = current
        for begin, end in pairwise(edges):
            rows = np.flatnonzero(changes[begin])
            current[rows] = _another(current[rows], rng)
            mappings[begin:end] = current
        setattr(subject, self._state, current)
        setattr(subject, f"{self._state}_block", block[-1].copy())
        return mappings

    # ------------------------------------------------------------------ building

    def new_trial(self, trial: TrialBuilder) -> None:
        super().new_trial(trial)
        layout = trial.layout
        mapping = np.asarray(trial[self._mapping]).reshape(trial.n, self._k)
        layout.slots[:] = [
            _exchanged(slot, mapping) if slot.group == self._group else slot
            for slot in layout.slots
        ]


def _another(mapping: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw mappings (n, k), each different from the given one."""
    new = mapping.copy()
    same = np.arange(len(mapping))
    while len(same):
        new[same] = rng.permuted(mapping[same], axis=1)
        same = same[(new[same] == mapping[same]).all(axis=1)]
    return new


def _exchanged(slot: Slot, mapping: np.ndarray) -> Slot:
    changed: dict[str, Any] = {}
    for name in ("right", "amounts", "worth"):
        values = getattr(slot, name)
        if values is not None:
            moved = np.empty_like(values)
            np.put_along_axis(moved, mapping, values, axis=1)
            changed[name] = moved
    aim = np.asarray(slot.aim)
    moved = np.take_along_axis(mapping, np.maximum(aim, 0)[:, None], axis=1)[:, 0]
    return replace(slot, aim=np.where(aim >= 0, moved, aim), **changed)
