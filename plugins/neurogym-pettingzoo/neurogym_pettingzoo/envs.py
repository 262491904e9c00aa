"""`SharedEnv`, a task of two as a parallel env of PettingZoo, and `AgainstEnv` for one learner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from pettingzoo import ParallelEnv

from neurogym_core import Constant, InvalidValueError, TaskVectorEnv, TrialRecord, make_task
from neurogym_core.players import player_of
from neurogym_core.tools import unknown
from neurogym_pettingzoo.playing import Seat
from neurogym_pettingzoo.tasks import SharedTask


class SharedEnv(ParallelEnv):
    """A task of two subjects, for PettingZoo: each acts, sees and earns on every step.

    Observations, actions, rewards and infos are dicts by agent. A session of the task is an episode
    and ends with truncation (with termination, if it has one trial). The info of an agent has the
    record of a trial that ended, `trial`, as `TaskEnv` has it.

    Args:
        task: a `SharedTask`, or its class.
        seed: seed until `reset` is given another one.
        split: stream of trials, as in `TaskEnv`.
        params: parameters of the task.

    Attributes:
        task: the task.
        possible_agents: names of the two subjects.
        agents: those in a session: both, or none after its end.

    Raises:
        InvalidValueError: the task is not one of two subjects, or its durations are random.

    Example:
        >>> from neurogym_pettingzoo import PrisonersDilemma, SharedEnv
        >>> env = SharedEnv(PrisonersDilemma, seed=0)
        >>> observations, infos = env.reset()
        >>> actions = {agent: env.action_space(agent).sample() for agent in env.agents}
        >>> sorted(env.step(actions)[1])
        ['first', 'second']
    """

    def __init__(
        self, task: Any, *, seed: int | None = None, split: str | None = None, **params: Any
    ) -> None:
        self.task = checked(task, params)
        self.metadata = {"name": f"{self.task.name}_v0", "render_modes": []}
        self.render_mode = None
        self.envs = TaskVectorEnv(
            self.task, 2, autoreset_mode="Disabled", seed=seed, split=split
        )  # fmt: skip
        self.possible_agents = list(self.task.agents)
        self.agents: list[str] = []
        self._parts: list[TrialRecord] = []
        self._begun = 0.0  # ms, of the current trial

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        """Return the space of the observations of an agent."""
        return self.envs.single_observation_space

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        """Return the space of the actions of an agent."""
        return self.envs.single_action_space

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start a session of both; return observations and infos by agent.

        Args:
            seed: of all following trials.
            options: ``{"conditions": {name: value}}``, as in `TaskEnv.reset`. Others are ignored,
                as PettingZoo's tests expect.
        """
        known = {name: one for name, one in (options or {}).items() if name == "conditions"}
        observations, _ = self.envs.reset(seed=seed, options=known or None)
        self.agents = list(self.possible_agents)
        return self._by_agent(observations), {agent: {} for agent in self.agents}

    def step(self, actions: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        """Play one step of both; return observations, rewards, ends, cuts and infos by agent.

        Args:
            actions: an action of each agent.

        Raises:
            UnknownNameError, InvalidValueError: an agent is unknown, or one is missing.
        """
        for agent in actions:
            if agent not in self.possible_agents:
                raise unknown("agent", agent, self.possible_agents, of=self.task.name)
        if set(actions) != set(self.agents):
            raise InvalidValueError(
                f"{self.task.name} was given actions of {sorted(actions)}. Expected one of each of"
                f" {self.agents or 'no agent, because the session is over: call reset()'}. Give"
                " both."
            )
        given = np.stack([np.asarray(actions[agent]) for agent in self.possible_agents])
        observations, rewards, over, cut, info = self.envs.step(given)
        infos = self._infos(info)
        if over[0] or cut[0]:
            self.agents = []
        return (
            self._by_agent(observations), self._by_agent(rewards.tolist()),
            self._by_agent(over.tolist()), self._by_agent(cut.tolist()), infos,
        )  # fmt: skip

    def _infos(self, info: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        ended = np.asarray(info["new_trial"])
        if ended.any() and not ended.all():
            raise InvalidValueError(
                f"A trial of {self.task.name} ended for one of its subjects. Expected the same end"
                ' for both. Give answers then="wait", or let a hook lead both.'
            )
        infos = {agent: {"new_trial": bool(ended[0])} for agent in self.possible_agents}
        if ended.all():
            record = info["trial"].finished.record(timed=True)
            self._keep(record)
            for k, agent in enumerate(self.possible_agents):
                infos[agent]["trial"] = self._parts[-1].row(k)
        return infos

    def _keep(self, record: TrialRecord) -> None:
        record = record[np.argsort(record["env"])]
        own = {"subject": np.array(self.possible_agents)[record["env"]]}
        others = {
            name: values + self._begun if _is_moment(name) else values
            for name, values in record.items()
            if name != "env"
        }
        events = record.event_log.shifted(np.full(len(record), self._begun))
        self._parts.append(TrialRecord({**own, **others}, meta=record.meta, events=events))
        self._begun = float(others["trial_stop"].max())

    @property
    def record(self) -> TrialRecord:
        """All trials so far, with a row for each subject of a trial."""
        if len(self._parts) > 1:
            self._parts = [TrialRecord.concatenate(self._parts)]
        return self._parts[0] if self._parts else TrialRecord({})

    def _by_agent(self, values: Any) -> dict[str, Any]:
        return dict(zip(self.possible_agents, values, strict=True))

    def render(self) -> None:
        """There is nothing to draw."""

    def close(self) -> None:
        """There is nothing to close."""


def _is_moment(name: str) -> bool:
    moment = name.rpartition(".")[2] in ("trial_start", "trial_stop", "answer_time")
    return moment or name.startswith(("onset.", "offset."))


class AgainstEnv(gymnasium.Env):
    """A seat of a task of two as a Gymnasium env: another subject has the other seat.

    Args:
        task, seed, params: as in `SharedEnv`.
        seat: name of the agent that this env's actions are those of.
        other: the other subject, as in `neurogym_core.run`: a name, a network, a callable.

    Raises:
        UnknownNameError: the task has no such agent, or there is no such subject.
        InvalidValueError: as `SharedEnv`.

    Example:
        >>> from neurogym_pettingzoo import AgainstEnv, MatchingPennies
        >>> env = AgainstEnv(MatchingPennies, "matcher", "random", seed=0)
        >>> observation, info = env.reset(seed=0)
        >>> observation.shape
        (4,)
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self, task: Any, seat: str, other: Any, *, seed: int | None = None, **params: Any
    ) -> None:
        self.shared = SharedEnv(task, seed=seed, **params)
        names = self.shared.possible_agents
        if seat not in names:
            raise unknown("agent", seat, names, of=self.shared.task.name)
        self.seat, self._place = seat, names.index(seat)
        self.observation_space = self.shared.observation_space(seat)
        self.action_space = self.shared.action_space(seat)
        self.render_mode = None
        self._other = player_of(other, seed=0 if seed is None else seed + 1)
        self._view = Seat(self.shared.envs, 1 - self._place)
        self._begun = False

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a session; return this seat's observation and info."""
        super().reset(seed=seed)
        self._seen, infos = self.shared.reset(seed, options)
        if not self._begun and hasattr(self._other, "begin"):
            self._other.begin(self._view)
        self._begun = True
        return self._seen[self.seat], infos[self.seat]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play one step; return this seat's observation, reward, end, cut and info."""
        names = self.shared.possible_agents
        rival = names[1 - self._place]
        others = self._other(self._view, self._seen[rival][None])[0]
        results = self.shared.step({self.seat: action, rival: others})
        self._seen = results[0]
        seen, reward, over, cut, info = (part[self.seat] for part in results)
        return seen, reward, over, cut, info


def checked(task: Any, params: Mapping[str, Any]) -> SharedTask:
    """Return a task of two subjects, made if it is a class."""
    made = make_task(task, **params)
    if not isinstance(made, SharedTask):
        raise InvalidValueError(
            f"SharedEnv was given {type(made).__name__}. Expected a SharedTask. Use make() for"
            " tasks of one subject."
        )
    drawn = [name for name, one in made.timing.items() if not isinstance(one, Constant)]
    if drawn:
        raise InvalidValueError(
            f"{made.name} draws the durations {drawn} for each of its subjects. Expected the same"
            " for both. Compute them from a condition: trial.periods(…, name=…)."
        )
    return made


__all__ = ["AgainstEnv", "SharedEnv"]
