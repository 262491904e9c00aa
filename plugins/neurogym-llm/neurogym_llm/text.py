"""Trials as text: observations, choices and feedback.

A trial is written as one line per interval in which the observation, rounded, stays the same::

    0-500 ms: fixation 1
    500-600 ms: fixation 1, right 0.62, left 0.31
    Choose: right, left, or fixation (no answer).

Channels at 0 are left out. The text is complete: `read` returns the observations from it, to the
last written digit, so that an observer who reads the text loses nothing but the digits.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, NotSupportedError

NOTHING = "nothing"
_LINE = re.compile(r"(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?) ms: (.*)")


class Wording:
    """The words for the observations and choices of a task.

    Args:
        task: a task with discrete actions, or the description of one that a blind subject gets.
        every: length of the intervals in which observations are averaged, ms; 0: the task's dt.
        digits: decimal places of observations.

    Attributes:
        choices: the names of all actions, in the order of their ids.

    Raises:
        NotSupportedError: the task has continuous actions.
        InvalidValueError: `every` is no multiple of dt, or `digits` is negative.

    Example:
        >>> from neurogym_core import make_task
        >>> from neurogym_llm import Wording
        >>> words = Wording(make_task("perceptual/PerceptualDecisionMaking-v0", dt=100))
        >>> words.choices
        ('fixate', 'right', 'left')
        >>> print(words.seen([[1, 0, 0], [1, 0, 0], [0, 0.5, 0.25]]))
        0-200 ms: fixation 1
        200-300 ms: right 0.5, left 0.25
        >>> words.read(words.seen([[1, 0, 0], [1, 0, 0], [0, 0.5, 0.25]])).tolist()
        [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.5, 0.25]]
    """

    def __init__(self, task: Any, every: float = 0, digits: int = 2) -> None:
        if task.actions.continuous:
            raise NotSupportedError(
                f"{task.name} has continuous actions. Expected choices that have names. Give a task"
                " with discrete actions."
            )
        self.name, self.dt = task.name, float(task.dt)
        self.every = float(every) or self.dt
        ratio = self.every / self.dt
        if ratio < 1 or abs(ratio - round(ratio)) > 1e-6:
            raise InvalidValueError(
                f"every={every!r} was given. Expected a multiple of the task's dt, {self.dt:g} ms,"
                " or 0 for dt itself. Give another."
            )
        if digits < 0:
            raise InvalidValueError(
                f"digits={digits!r} was given. Expected a number of decimal places, 0 or more. Give"
                " another."
            )
        self.steps, self.digits = round(ratio), digits
        self.units = tuple(task.channels.labels())
        self.choices = tuple(task.actions.labels())
        self.rest: int | None = task.actions.rest

    def seen(self, observations: Any, since: float = 0.0) -> str:
        """Return observations as lines of text.

        Args:
            observations: (T, units), one row per step of the task.
            since: time of the first of them in the trial, ms.
        """
        rows = self.averaged(observations)
        lines: list[str] = []
        first = 0
        for k in range(1, len(rows) + 1):
            if k < len(rows) and (rows[k] == rows[first]).all():
                continue
            start = since + first * self.every
            stop = since + min(k * self.every, len(observations) * self.dt)
            lines.append(f"{start:g}-{stop:g} ms: {self._values(rows[first])}")
            first = k
        return "\n".join(lines)

    def averaged(self, observations: Any) -> np.ndarray:
        """Return the means of the intervals as they are written, (intervals, units)."""
        values = np.asarray(observations, float)
        starts = np.arange(0, len(values), self.steps)
        means = np.add.reduceat(values, starts, axis=0)
        means /= np.diff([*starts, len(values)])[:, None]
        return np.round(means, self.digits) + 0.0  # no negative zeros

    def _values(self, row: np.ndarray) -> str:
        shown = [
            f"{unit} {value:.{self.digits}f}".rstrip("0").rstrip(".")
            if self.digits
            else f"{unit} {value:.0f}"
            for unit, value in zip(self.units, row, strict=True)
            if value
        ]
        return ", ".join(shown) or NOTHING

    def read(self, text: str) -> np.ndarray:
        """Return the observations of a text, (T, units); other lines of the text are skipped.

        Raises:
            InvalidValueError: a line has a unit that the task does not show.
        """
        parts = []
        for line in text.splitlines():
            found = _LINE.fullmatch(line.strip())
            if found is None:
                continue
            row = np.zeros(len(self.units))
            for entry in found[3].split(", ") if found[3] != NOTHING else ():
                unit, _, value = entry.rpartition(" ")
                if unit not in self.units:
                    raise InvalidValueError(
                        f"{line!r} has the unit {unit!r}. Expected one of {', '.join(self.units)}."
                        " Give the text of this task."
                    )
                row[self.units.index(unit)] = float(value)
            steps = round((float(found[2]) - float(found[1])) / self.dt)
            parts.append(np.repeat(row[None], steps, axis=0))
        return np.concatenate(parts) if parts else np.zeros((0, len(self.units)))

    def question(self) -> str:
        """Return the question for a choice."""
        names = [name for k, name in enumerate(self.choices) if k != self.rest]
        if self.rest is None:
            return f"Choose: {', '.join(names)}."
        return f"Choose: {', '.join(names)}, or {self.choices[self.rest]} (no answer)."

    def feedback(self, reward: float) -> str:
        """Return the feedback at the end of a trial."""
        return f"Reward: {reward:g}."

    def instructions(self, task: str) -> str:
        """Return the instructions for a subject.

        Args:
            task: one or two sentences about the task.
        """
        return (
            f"You take part in an experiment. {task}\n"
            "Each trial is a list of intervals, with the strength of everything that is shown;"
            " everything else is at 0. When you are asked, reply with one of the choices and"
            " nothing else. Each trial ends with your reward; earn as much as you can."
        )

    def choice(self, reply: str) -> int | None:
        """Return the action that a reply names; None if it names none or several.

        Letter case, and words around a single choice, do not matter.
        """
        text = reply.strip().strip(".\"'*`").casefold()
        folded = [name.casefold() for name in self.choices]
        if text in folded:
            return folded.index(text)
        # The longest names first: "stimulus 1" is no mention of "stimulus 10".
        pattern = "|".join(map(re.escape, sorted(folded, key=len, reverse=True)))
        named = set(re.findall(rf"(?<!\w)(?:{pattern})(?!\w)", text))
        return folded.index(named.pop()) if len(named) == 1 else None
