"""`TextEnv`: a task as a Gymnasium env of texts, whose step is a choice."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from neurogym_core import make_task, make_vec
from neurogym_llm.subjects import Reader, summary_of
from neurogym_llm.text import Wording

CHARACTERS = string.printable + "°±µ×–…"
"""Characters of observations, beside those of the names of channels."""


class TextEnv(gymnasium.Env):
    """A task whose observations are texts and whose step is a choice, not a moment in time.

    A step gives the choice on the last step of the response window, and plays on to the next
    question, in this trial or in a later one. Useful for bandits, two-step tasks and language
    models. An episode is a session.

    Args:
        task: as in `neurogym_core.make`, with discrete actions.
        every, digits: see `Wording`.
        seed: seed until `reset` is given one.
        split: stream of trials, as in `neurogym_core.make`.
        wrap: task wrappers.
        params: parameters of the task.

    Attributes:
        instructions: text for a subject, before the first observation.
        words: the `Wording` of the task.

    Example:
        >>> from neurogym_llm import TextEnv
        >>> env = TextEnv("perceptual/PerceptualDecisionMaking-v0", sigma=0)
        >>> text, info = env.reset(seed=0)
        >>> text.splitlines()[-1]
        'Choose: right, left, or fixate (no answer).'
        >>> text, reward, terminated, truncated, info = env.step(env.words.choices.index("left"))
        >>> reward in (0.0, 1.0), "Reward: " in text
        (True, True)
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        task: Any,
        *,
        every: float = 0.0,
        digits: int = 2,
        seed: int | None = None,
        split: str | None = None,
        wrap: Any = (),
        **params: Any,
    ) -> None:
        made = make_task(task, wrap=wrap, **params)
        self.words = Wording(made, every, digits)
        self.instructions = self.words.instructions(summary_of(made.name))
        self.env = make_vec(made, 1, autoreset_mode="SameStep", seed=seed, split=split)
        characters = sorted({*CHARACTERS, *"".join((*self.words.units, *self.words.choices))})
        self.observation_space = spaces.Text(1 << 16, charset="".join(characters))
        self.action_space = spaces.Discrete(len(self.words.choices))

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin a session; return the text up to the first question, and `info`.

        Args:
            seed, options: as in `neurogym_core.TaskEnv.reset`.
        """
        super().reset(seed=seed)
        self._reader = Reader(self.words, 0)
        observations, _ = self.env.reset(seed=seed, options=options)
        self._reader.see(observations[0])
        # Trials that pass without a question, as after an early answer, cannot be the first here.
        if self._quiet():
            self._go_on()
        return self._reader.unread(), {}

    def step(self, action: int) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Give a choice, and play on to the next question or to the end of the session.

        Returns the text since the last question, the sum of the rewards, `terminated`, `truncated`,
        and `info`, with the record of a trial that ended (`trial`) and its `performance`.
        """
        self._reader.take(int(action))
        reward, over, info = self._moved(int(action))
        if not any(over) and self._quiet():
            more, over, later = self._go_on()
            reward, info = reward + more, info | later
        return self._reader.unread(), reward, *over, info

    def _quiet(self) -> bool:
        """Whether nothing is asked on the current step, or it can wait."""
        if self.words.rest is None:
            return False
        env = self.env.unwrapped
        return bool(env.can_wait[0] or not env.is_asked[0])

    def _go_on(self) -> tuple[float, tuple[bool, bool], dict[str, Any]]:
        """Rest until something is asked, or the session ends."""
        total, over, info = 0.0, (False, False), {}
        while self._quiet() and not any(over):
            reward, over, later = self._moved(int(self.words.rest or 0))
            total, info = total + reward, info | later
        return total, over, info

    def _moved(self, action: int) -> tuple[float, tuple[bool, bool], dict[str, Any]]:
        observations, rewards, terminated, truncated, info = self.env.step(np.array([action]))
        reward, found = float(rewards[0]), {}
        if info["new_trial"][0]:
            self._reader.end(reward)
            trial = info["trial"]
            found = {
                "trial": {name: trial[name][0] for name in trial if not name.startswith("_")},
                "performance": float(info["performance"][0]),
            }
        self._reader.see(observations[0])
        return reward, (bool(terminated[0]), bool(truncated[0])), found
