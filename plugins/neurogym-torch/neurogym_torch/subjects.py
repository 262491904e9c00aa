"""`NetworkSubject`: a trained network plays a task."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from neurogym_core import InvalidValueError, NotSupportedError, TaskVectorEnv
from neurogym_torch.layout import NetworkLayout
from neurogym_torch.networks import Network

ANSWERS = ("first", "last")


class NetworkSubject:
    """Plays the action with the largest output of a network; for `neurogym_core.run`.

    It plays the split "test" unless `run` is given another one.

    Args:
        network: a `Network`, or any other module as in `OwnNetwork`.
        layout: the units of this task, if the network learned several.
        which: index of the task in the layout.
        targets: the targets of its training, "action" or "units" (then it rests while the rest
            output is above 0.5).
        answers: "first": it answers as soon as its outputs select an action other than rest;
            "last": it rests until the last step on which it can answer.
        bound: with "first", it answers when the probability of an answer exceeds this bound, above
            0 and below 1, and rests until then. Networks that were trained with targets answer at
            the first step on which they may; with a bound, they are slower where the evidence is
            weak. See `fit_bound`. None: no bound.
        carry: whether its state outlives a trial; as in training: False for whole trials, True for
            streams.
        seed: seed of the recurrent noise.
    """

    default_split = "test"

    def __init__(
        self,
        network: nn.Module,
        layout: NetworkLayout | None = None,
        which: int = 0,
        *,
        targets: str = "action",
        answers: str = "first",
        bound: float | None = None,
        carry: bool = False,
        seed: int = 0,
    ) -> None:
        from neurogym_torch.own import as_network  # a cycle: its trainer uses this class

        self.network, self.layout, self.which = as_network(network), layout, which
        if bound is not None and (not 0 < bound < 1 or answers != "first"):
            raise InvalidValueError(
                f"NetworkSubject was given bound={bound!r} and answers={answers!r}. Expected a"
                " probability above 0 and below 1, and 'first'. Give another bound, or none."
            )
        self.targets, self.answers, self.carry, self.seed = targets, answers, carry, seed
        self.bound = bound
        self.carries_state = carry  # for `neurogym_core.run`

    def begin(self, env: TaskVectorEnv) -> None:
        """Reset the state of every env."""
        self._device = next(self.network.parameters()).device
        self._state = self.network.initial_state(env.num_envs)
        self._trial = env.trial_number.copy()
        self._generator = torch.Generator(self._device).manual_seed(self.seed)

    @torch.no_grad()
    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        """Return actions (num_envs,) or (num_envs, k) for observations (num_envs, obs)."""
        if not self.carry:
            self._forget(env)
        inputs = torch.from_numpy(observations).to(self._device)
        if self.layout is not None:
            inputs = self.layout.inputs(self.which, inputs)
        outputs, _, self._state = self.network.unroll(inputs[:, None], self._state, self._generator)
        outputs = (
            outputs[:, 0] if self.layout is None else self.layout.outputs(self.which, outputs[:, 0])
        )
        actions = self._actions(env.task, outputs.cpu().numpy())
        if self.answers == "first":
            return actions
        return only_where(env.is_asked & ~env.can_wait, actions, env.task.actions)

    def _forget(self, env: TaskVectorEnv) -> None:
        """Reset the state where a trial begins."""
        fresh = torch.from_numpy(env.trial_number != self._trial).to(self._device)
        self._trial = env.trial_number.copy()
        # Also for modules that have the methods of a `Network` without being one.
        forget = getattr(self.network, "forget", partial(Network.forget, self.network))
        self._state = forget(self._state, fresh)

    def _actions(self, task: Any, outputs: np.ndarray) -> np.ndarray:
        if task.actions.continuous:
            return np.clip(outputs, -1, 1)
        if self.bound is not None:
            return self._bounded(task, outputs)
        return (
            task.actions.decode_units(outputs)
            if self.targets == "units"
            else outputs.argmax(axis=1)
        )

    def _bounded(self, task: Any, outputs: np.ndarray) -> np.ndarray:
        """Return the likeliest answers whose probability exceeds the bound, and rest."""
        rest = task.actions.rest
        if rest is None or outputs.shape[1] != task.actions.size:
            raise NotSupportedError(
                f"A bound was given, but {task.name} has no rest action, or an output is no"
                " probability of one action. Expected a task with a rest action whose actions have"
                " an output each. Leave the bound out."
            )
        if self.targets == "action":
            outputs = np.exp(outputs - outputs.max(axis=1, keepdims=True))
            outputs = outputs / outputs.sum(axis=1, keepdims=True)
        others = np.delete(np.arange(outputs.shape[1]), rest)
        best = others[outputs[:, others].argmax(axis=1)]
        return np.where(outputs[:, others].max(axis=1) > self.bound, best, rest)


def only_where(asked: np.ndarray, said: np.ndarray, actions: Any) -> np.ndarray:
    """Return the actions `said` where `asked`, and resting elsewhere.

    Args:
        asked: (…) bool.
        said: (…) ids, or (…, k) values in [-1, 1].
        actions: the actions of the task.
    """
    if actions.continuous:
        rest = actions.from_task_units(actions.rest_value)
        return np.where(asked[..., None], said, rest).astype(said.dtype)
    return np.where(asked, said, actions.rest)
