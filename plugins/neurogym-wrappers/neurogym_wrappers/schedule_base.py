"""`ScheduleBase`: base class of `Schedule` and its presets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_core import Distribution, InvalidValueError, Session
from neurogym_core.players import TaskView
from neurogym_core.tools import unknown
from neurogym_wrappers.block_sequence import BlockSequence
from neurogym_wrappers.condition_wrapper import ConditionWrapper, require_undecided

ANSWER = "correct_choice"
"""Name of the correct answer in a block."""


class ScheduleBase(ConditionWrapper):
    """Base class of schedules.

    A preset has its own parameters, and calls `_set_up` with blocks that it makes from them.
    """

    _label_name = "block"

    def _set_up(self, blocks: Any, **overrides: Any) -> None:
        """Read the blocks and the settings of their sequence; presets override settings."""
        owner = type(self).__name__
        self._entries = self._read_blocks(owner, blocks)
        self._names = tuple(dict.fromkeys(name for entry in self._entries for name in entry))
        self._check_names(owner)
        settings = {
            name: overrides.get(name, vars(self).get(name, default))
            for name, default in (
                ("order", "sequence"),
                ("block_length", 1),
                ("hazard_rate", 1.0),
                ("weights", ()),
                ("allow_repeats", True),
                ("stop_at_last", False),
                ("window", 100),
                ("advance_at", 0.8),
                ("retreat_below", 0.0),
            )
        }
        self.sequence = BlockSequence.checked(
            owner,
            len(self._entries),
            key=f"{owner.lower()}_{self.depth}",
            **settings,
        )
        if ANSWER in self._names:
            self.check_answers(least=1)
            self._check_answer_values(owner)
        self._check_others_free()
        if len(self._entries) > 1:
            self.add_label(self._label_name, len(self._entries))

    # ------------------------------------------------------------------ reading

    def _read_blocks(self, owner: str, blocks: Any) -> tuple[dict[str, Distribution], ...]:
        if not blocks or not all(isinstance(block, Mapping) for block in blocks) or not any(blocks):
            raise InvalidValueError(
                f"{owner} was given blocks={blocks!r}; give at least one mapping from conditions"
                " to values, e.g. blocks=[{coherence: 51.2}, {coherence: [0, 6.4]}]."
            )
        return tuple(
            {self._renamed(name): self._read(name, spec) for name, spec in block.items()}
            for block in blocks
        )

    def _renamed(self, name: str) -> str:
        """Return the name of a condition; the correct answer has one name for all tasks."""
        return ANSWER if name == TaskView(self.task).answer_condition else name

    def _read(self, name: str, spec: Any) -> Distribution:
        if name not in self.conditions and name != ANSWER:
            raise unknown("condition", name, [*self.conditions, ANSWER], of=self.task.name)
        return self.read_condition(name, spec)

    def _check_names(self, owner: str) -> None:
        for name in self._names:
            if name in TaskView(self.task).imposed:
                raise self.refusal(f"its condition {name!r} is imposed with conditions=")
            free = ANSWER if name == ANSWER else self.conditions[name]
            partial = any(name not in entry for entry in self._entries)
            if partial and name != ANSWER and not isinstance(free, Distribution):
                raise InvalidValueError(
                    f"{owner} was given {name!r} in some of its blocks only; {self.task.name}"
                    " computes it from other conditions. Give it in every block."
                )

    def _check_answer_values(self, owner: str) -> None:
        known = TaskView(self.task).answers.tolist()
        for entry in self._entries:
            support = entry[ANSWER].support() if ANSWER in entry else TaskView(self.task).answers
            if support is None or not set(np.asarray(support).tolist()) <= set(known):
                raise InvalidValueError(
                    f"{owner} was given the answer {entry[ANSWER].to_plain()!r}; {self.task.name}"
                    f" has the correct answers {known}. Give some of them, e.g."
                    " correct_choice={choice: [[…], [probabilities]]}."
                )

    def _check_others_free(self) -> None:
        rng = np.random.default_rng(0)
        index = np.arange(len(self._entries))
        given = self._values(index, rng)
        answer = given.pop(ANSWER, None)
        require_undecided(
            self.task,
            type(self).__name__,
            {k: v for k, v in given.items() if k in self.task.conditions},
            answer,
        )

    @property
    def reads_outcomes(self) -> bool:
        return self.sequence.reads_outcomes or self.task.reads_outcomes

    # ------------------------------------------------------------------ drawing

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        super().new_session(session, rng)
        self.sequence.begin(session, rng)

    def draw_constrained(
        self,
        session: Session,
        rng: np.random.Generator,
        trials: int,
        imposed: dict[str, np.ndarray],
        answer: np.ndarray | None,
    ) -> dict[str, np.ndarray]:
        outside = {
            *(self._renamed(name) for name in imposed),
            *([ANSWER] if answer is not None else []),
        }
        self.clash(outside & set(self._names))
        index = self.sequence.advance(session, rng, trials)
        flat = self._values(index.ravel(), rng)
        given = {
            name: values.reshape(*index.shape, *values.shape[1:]) for name, values in flat.items()
        }
        answer = given.pop(ANSWER, answer)
        given |= imposed
        if self._label is not None:
            given[self._label] = index
        return self.draw_wrapped(session, rng, trials, given, answer)

    def _values(self, index: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Draw the conditions of the blocks `index` (m,), name -> (m, …)."""
        return {name: self._value(name, index, rng) for name in self._names}

    def _value(self, name: str, index: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        parts = [
            self._sampled(name, entry, rows, rng)
            for entry, rows in zip(self._entries, self._rows(index), strict=True)
        ]
        kept = [part for part in parts if len(part)]
        order = np.concatenate(self._rows(index))
        out = np.concatenate(kept)
        result = np.empty_like(out)
        result[order] = out
        return result

    def _rows(self, index: np.ndarray) -> list[np.ndarray]:
        return [np.flatnonzero(index == k) for k in range(len(self._entries))]

    def _sampled(
        self, name: str, entry: dict[str, Distribution], rows: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        if not len(rows):
            return np.zeros(0)
        if name in entry:
            return np.asarray(entry[name].sample(rng, len(rows)))
        if name == ANSWER:
            return np.asarray(TaskView(self.task).answer(self.task.draw_conditions(rng, len(rows))))
        return np.asarray(self.conditions[name].sample(rng, len(rows)))
