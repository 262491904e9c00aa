"""Reference subjects that learn from rewards, or accumulate evidence: small models in NumPy.

They see the observations and the last rewards (`env.last_reward`); unlike the oracle, they do not
know the targets. One object plays all envs of a vector env, with separate values for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurogym_core import (
    InvalidValueError,
    NeurogymError,
    NotSupportedError,
    Subject,
    TaskVectorEnv,
    TrialRecord,
    UnknownNameError,
)
from neurogym_core.tools import did_you_mean, listed

MOST_STATES = 2000
"""Number of different observations above which a task is taken for noisy."""


def likelihood_of(
    subject: type[Subject], record: TrialRecord, given: Mapping[str, Any]
) -> np.ndarray:
    """Return the log likelihood of a record under a subject with these parameters, (n,)."""
    from neurogym_behaviour.behaviour import Behaviour, Roles

    from neurogym_likeness.models import model

    names = {QLearner: "q_learner", Hybrid: "hybrid", WinStayLoseShift: "win_stay_lose_shift",
             Integrator: "integrator", DiffusionObserver: "diffusion"}  # fmt: skip
    behaviour = Behaviour(record, Roles())
    known = model(names[subject], behaviour)
    return known.log_likelihood(behaviour, {name: given[name] for name in known.parameters})


class QLearner(Subject):
    """Learns action values from rewards alone: SARSA with eligibility traces and a softmax.

    A state is an observation. Values start at 0 and move towards the reward plus the value of the
    next state-action pair of the same trial. The trace passes a reward on to earlier choices of the
    trial, so that with trace = 1 the outcome itself reinforces the first stage of a two-step task
    (Sutton & Barto 2018, ch. 12; the model-free learner of Daw et al. 2011,
    doi:10.1016/j.neuron.2011.02.027).

    Args:
        seed: seed of its choices.
        alpha: learning rate, 0 to 1.
        beta: inverse temperature of the softmax, per unit of reward.
        trace: decay of eligibility per step, 0 to 1 (lambda).
        perseveration: bonus for its last action in the same state, on the first step of a trial.

    Raises:
        InvalidValueError: a parameter out of range.
        NotSupportedError: the task has continuous actions, or noise, which makes every observation
            a new state.
    """

    def __init__(
        self,
        seed: int | None = 0,
        *,
        alpha: float = 0.5,
        beta: float = 5.0,
        trace: float = 1.0,
        perseveration: float = 0.0,
    ) -> None:
        super().__init__(seed)
        for name, value, most in (("alpha", alpha, 1), ("trace", trace, 1), ("beta", beta, np.inf)):
            if not 0 <= value <= most:
                raise InvalidValueError(
                    f"{type(self).__name__} was given {name}={value!r}; it needs a number from 0 to"
                    f" {most}."
                )
        self.alpha, self.beta, self.trace, self.perseveration = alpha, beta, trace, perseveration

    def begin(self, env: TaskVectorEnv) -> None:
        task, name = env.task, type(self).__name__
        if task.actions.continuous:
            raise NotSupportedError(
                f"{name} needs discrete actions, but {task.name} has continuous ones. Use another"
                " subject."
            )
        self._task_name = task.name
        # A subject that is scored sees no tables of the task; there, states that never end tell.
        if hasattr(task, "sample") and task.sample(100, seed=0).noise.any():
            raise self._noisy()
        n = env.num_envs
        self._index: dict[bytes, int] = {}
        self.values = np.zeros((n, 0, task.actions.size))
        """(num_envs, states, actions): value of each action in each state."""
        self._eligible = np.zeros_like(self.values)
        self._lately = np.full((n, 0), -1)  # last first action of a trial in each state
        self._envs = np.arange(n)
        self._trial = env.trial_number.copy()
        self._state: np.ndarray | None = None
        self._action = np.zeros(n, np.int64)

    def _noisy(self) -> NotSupportedError:
        return NotSupportedError(
            f"{type(self).__name__} needs observations that repeat, but {self._task_name} shows"
            " noise. Set the noise of the task to 0 (usually sigma=0), or use another subject."
        )

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        state = self._states(observations)
        ended = env.trial_number != self._trial
        first = ended | (self._state is None)
        self._trial = env.trial_number.copy()
        self._learn_from_ends(env.last_reward, np.flatnonzero(ended))
        action = self._choose(self._preferences(state, first))
        self._learn_from_steps(env.last_reward, np.flatnonzero(~first), state, action)
        self._lately[self._envs[first], state[first]] = action[first]
        self._state, self._action = state, action
        return action

    def log_likelihood(self, record: TrialRecord) -> np.ndarray:
        """Return the log probability of the choices of each trial, (n,); NaN without a choice.

        The learner gets the choices and rewards of the record, and not its own.

        Args:
            record: trials in their order, with ``choice`` and ``reward``, or those of DawTwoStep.

        Raises:
            CannotTellError: the record lacks something.
        """
        return likelihood_of(type(self), record, vars(self))

    # ---- choosing ----

    def _preferences(self, state: np.ndarray, first: np.ndarray) -> np.ndarray:
        """Return the values that the softmax compares, (num_envs, actions)."""
        same = self._lately[self._envs, state][:, None] == np.arange(self.values.shape[2])
        return self.worth(state) + self.perseveration * (same & first[:, None])

    def worth(self, state: np.ndarray) -> np.ndarray:
        """Return the value of each action in the current states, (num_envs, actions)."""
        return self.values[self._envs, state]

    def _choose(self, preferences: np.ndarray) -> np.ndarray:
        """Draw actions from the softmax: the largest preference with Gumbel noise."""
        return np.argmax(self.beta * preferences + self.rng.gumbel(size=preferences.shape), axis=1)

    # ---- learning ----

    def _learn_from_ends(self, reward: np.ndarray, envs: np.ndarray) -> None:
        """Learn from the last step of trials that ended, before the next choice."""
        self._credit(envs, reward[envs] - self._last_value(envs))
        self._eligible[envs] = 0

    def _learn_from_steps(
        self, reward: np.ndarray, envs: np.ndarray, state: np.ndarray, action: np.ndarray
    ) -> None:
        """Learn from a step within a trial: its reward, and the value of the next choice."""
        follows = self.values[envs, state[envs], action[envs]]
        self._credit(envs, reward[envs] + follows - self._last_value(envs))

    def _last_value(self, envs: np.ndarray) -> np.ndarray:
        """Return the value of the last choice in some envs, (m,)."""
        return (
            self.values[envs, self._state[envs], self._action[envs]] if len(envs) else np.zeros(0)
        )

    def _credit(self, envs: np.ndarray, surprise: np.ndarray) -> None:
        """Move the values of eligible choices in some envs by a share of the `surprise`, (m,)."""
        if not len(envs):
            return
        self._eligible[envs] *= self.trace
        self._eligible[envs, self._state[envs], self._action[envs]] = 1
        self.values[envs] += self.alpha * surprise[:, None, None] * self._eligible[envs]

    def state_of(self, observation: np.ndarray) -> int:
        """Return the number of the state of this observation, or -1 if it has not occurred."""
        return self._index.get(_key(observation), -1)

    def _states(self, observations: np.ndarray) -> np.ndarray:
        """Return the numbers of the states, (num_envs,); new ones are added to the tables."""
        keys = [_key(row) for row in observations]
        for key in keys:
            if key not in self._index:
                if len(self._index) == MOST_STATES:
                    raise self._noisy()
                self._index[key] = len(self._index)
                self._add_state()
        return np.array([self._index[key] for key in keys])

    def _add_state(self) -> None:
        self.values, self._eligible = (
            np.concatenate([table, np.zeros((len(table), 1, table.shape[2]))], axis=1)
            for table in (self.values, self._eligible)
        )
        self._lately = np.concatenate([self._lately, np.full((len(self._lately), 1), -1)], axis=1)


def _key(observation: np.ndarray) -> bytes:
    """Return a key that is equal for observations that are equal to 3 decimals."""
    # Adding 0 turns minus zeros into zeros, whose bytes differ.
    return (np.round(np.asarray(observation, np.float32), 3) + np.float32(0)).tobytes()


class Hybrid(QLearner):
    """Mixes model-based planning with model-free learning.

    Daw, Gershman, Seymour, Dayan & Dolan (2011), Neuron 69:1204, doi:10.1016/j.neuron.2011.02.027.
    The model-free part is a `QLearner`. The model-based part counts the states that follow each
    action, and values the action by the best action in these; an action that ends the trial has its
    model-free value, as in the paper's second stage. The softmax compares weight * model-based + (1
    - weight) * model-free. The defaults of `alpha` to `weight` are near the medians of the paper's
    subjects. One learning rate and one temperature serve all stages; the paper fits two.

    Args:
        seed, alpha, beta, trace, perseveration: as in `QLearner`.
        weight: weight of the model-based part, 0 to 1.
    """

    def __init__(
        self,
        seed: int | None = 0,
        *,
        alpha: float = 0.5,
        beta: float = 5.0,
        trace: float = 0.57,
        perseveration: float = 0.11,
        weight: float = 0.39,
    ) -> None:
        super().__init__(seed, alpha=alpha, beta=beta, trace=trace, perseveration=perseveration)
        if not 0 <= weight <= 1:
            raise InvalidValueError(
                f"Hybrid was given weight={weight!r}; it needs a number from 0 to 1."
            )
        self.weight = weight

    def begin(self, env: TaskVectorEnv) -> None:
        n, actions = env.num_envs, env.task.actions.size
        self.led = np.zeros((n, 0, actions, 0))
        """(num_envs, states, actions, states): how often each action led to each state."""
        self._ends = np.zeros((n, 0, actions))
        super().begin(env)

    def worth(self, state: np.ndarray) -> np.ndarray:
        return self.weight * self._planned(state) + (1 - self.weight) * super().worth(state)

    def _planned(self, state: np.ndarray) -> np.ndarray:
        """Return the expected value of the best action in the next state, (num_envs, actions)."""
        remembered, best = self.values[self._envs, state], self.values.max(axis=2)
        led, ends = self.led[self._envs, state], self._ends[self._envs, state]
        total = led.sum(axis=2) + ends
        expected = (np.einsum("nas,ns->na", led, best) + ends * remembered) / np.maximum(total, 1)
        return np.where(total > 0, expected, remembered)

    def _learn_from_ends(self, reward: np.ndarray, envs: np.ndarray) -> None:
        if len(envs):
            self._ends[envs, self._state[envs], self._action[envs]] += 1
        super()._learn_from_ends(reward, envs)

    def _learn_from_steps(
        self, reward: np.ndarray, envs: np.ndarray, state: np.ndarray, action: np.ndarray
    ) -> None:
        if len(envs):
            self.led[envs, self._state[envs], self._action[envs], state[envs]] += 1
        super()._learn_from_steps(reward, envs, state, action)

    def _add_state(self) -> None:
        super()._add_state()
        self.led = np.pad(self.led, ((0, 0), (0, 1), (0, 0), (0, 1)))
        self._ends = np.pad(self._ends, ((0, 0), (0, 1), (0, 0)))


class WinStayLoseShift(Subject):
    """Repeats the last trial's choice if it was rewarded, else switches; rests until it is asked.

    If a trial has several answer slots, the choice in each is remembered separately, and all are
    repeated or changed together.

    Args:
        seed: seed of its first choices, and of switches among more than two choices.
        lapse: probability of a choice at random.

    Raises:
        InvalidValueError: a lapse that is no probability.
        NotSupportedError: the task has continuous actions, or several groups of choices.
    """

    def __init__(self, seed: int | None = 0, *, lapse: float = 0.0) -> None:
        super().__init__(seed)
        if not 0 <= lapse <= 1:
            raise InvalidValueError(
                f"WinStayLoseShift was given lapse={lapse!r}. Expected a probability. Give a number"
                " from 0 to 1."
            )
        self.lapse = lapse

    def log_likelihood(self, record: TrialRecord) -> np.ndarray:
        """Return the log probability of the choice of each trial, (n,); NaN without a choice.

        Choices that the rule excludes have a probability of `lapse` over the number of choices, or
        1e-12 if there are no lapses.

        Args:
            record: trials in their order, with ``choice`` and ``reward``.

        Raises:
            CannotTellError: the record lacks something, or trials have several choices.
        """
        return likelihood_of(type(self), record, vars(self))

    def begin(self, env: TaskVectorEnv) -> None:
        actions = env.task.actions
        groups = [name for name in actions if name != actions.rest_name]
        if actions.continuous or len(groups) != 1:
            raise NotSupportedError(
                f"WinStayLoseShift needs one group of choices; {env.task.name} has"
                f" {listed(groups)}. Use another subject."
            )
        part = actions[groups[0]]
        self._first, self._k = part.start, part.stop - part.start
        n = env.num_envs
        self._choices: list[np.ndarray] = []  # (num_envs,) of the last trial, one per slot
        self._asked = np.zeros(n, np.int64)  # slots answered in the current trial
        self._paid, self._won = np.zeros(n), np.zeros(n, bool)
        self._trial = env.trial_number.copy()

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        self._look_back(env)
        asked = np.flatnonzero(env.is_asked)
        actions = np.full(env.num_envs, env.task.actions.rest or 0)
        for number in np.unique(self._asked[asked]):
            rows = asked[self._asked[asked] == number]
            actions[rows] = self._first + self._answer(number, rows)
        self._asked[asked] += 1
        return actions

    def _look_back(self, env: TaskVectorEnv) -> None:
        """Add up the rewards; a trial is won if their sum is positive."""
        self._paid += env.last_reward
        ended = env.trial_number != self._trial
        self._won = np.where(ended, self._paid > 1e-9, self._won)
        self._paid[ended] = 0.0
        self._asked[ended] = 0
        self._trial = env.trial_number.copy()

    def _answer(self, number: int, rows: np.ndarray) -> np.ndarray:
        """Return the choices, (m,), of some envs in slot `number` of the trial, and store them."""
        while number >= len(self._choices):
            self._choices.append(np.full(len(self._asked), -1))
        last = self._choices[number][rows]
        fresh = self.rng.integers(0, self._k, len(rows))
        other = (last + self.rng.integers(1, max(self._k, 2), len(rows))) % self._k
        choice = np.where(last < 0, fresh, np.where(self._won[rows], last, other))
        if self.lapse:
            lapses = self.rng.random(len(rows)) < self.lapse
            choice = np.where(lapses, self.rng.integers(0, self._k, len(rows)), choice)
        self._choices[number][rows] = choice
        return choice


class Integrator(Subject):
    """Ideal observer of noisy evidence: sums a channel over the trial and reports the largest sum.

    It rests until a slot is asked. It is optimal if the evidence units have independent Gaussian
    noise of equal SD and differ only in their mean (Bogacz et al. 2006,
    doi:10.1037/0033-295X.113.4.700).

    Args:
        channel: the evidence channel.
        group: the actions that report the units of the channel: those of the same names, or, where
            names differ, in the same order; by default the first group other than resting.
        seed: seed of the random numbers that break ties.

    Raises:
        UnknownNameError: the task has no such channel or group.
        NotSupportedError: the channel has not as many units as the group has choices.
    """

    carries_state = False

    def log_likelihood(
        self, record: TrialRecord, *, noise: float, bias: float = 0.0, lapse: float = 0.0
    ) -> np.ndarray:
        """Return the log probability of the choice of each trial, (n,); NaN without an answer.

        The sum of evidence with Gaussian noise is above 0 with a probability that is a cumulative
        normal function of the strength.

        Args:
            record: trials with the strength of the evidence, and the correct side.
            noise: strength of the evidence that is one SD of the sum.
            bias: strength at which both sides are alike.
            lapse: probability of a choice at random.

        Raises:
            CannotTellError: the record lacks something.
        """
        given = {"noise": noise, "bias": bias, "lapse": lapse}
        return likelihood_of(type(self), record, given)

    def __init__(
        self, channel: str = "stimulus", group: str | None = None, seed: int | None = 0
    ) -> None:
        super().__init__(seed)
        self.channel, self.group = channel, group

    def begin(self, env: TaskVectorEnv) -> None:
        task = env.task
        part = evidence_channel(task, self.channel, "integrator")
        group = self.group or next(name for name in task.actions if name != task.actions.rest_name)
        choices = task.actions[group]
        if choices.stop - choices.start != part.stop - part.start:
            raise NotSupportedError(
                f"{task.name} has {part.stop - part.start} units in the channel {self.channel!r}"
                f" and {choices.stop - choices.start} choices in {group!r}. Expected as many"
                " choices as units. Give the integrator another channel= or group=."
            )
        units, names = task.channels.units(self.channel), task.actions.units(group)
        matched = sorted(units) == sorted(names)
        order = [units.index(name) for name in names] if matched else range(len(units))
        self._units, self._first = part.start + np.array(order), choices.start
        self._sum = np.zeros((env.num_envs, part.stop - part.start))
        self._trial = env.trial_number.copy()

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        fresh = env.trial_number != self._trial
        self._sum[fresh] = 0
        self._trial = env.trial_number.copy()
        self._sum += observations[:, self._units]
        ties = 1e-9 * self.rng.random(self._sum.shape)
        choice = self._first + np.argmax(self._sum + ties, axis=1)
        return np.where(env.is_asked, choice, env.task.actions.rest or 0)


class DiffusionObserver(Subject):
    """Accumulates evidence to a bound, then answers: an observer with reaction times.

    The drift-diffusion model (Ratcliff 1978, doi:10.1037/0033-295X.85.2.59), with the noise of the
    observations. From the first evidence of the trial, it integrates over time how far each unit of
    a channel is above the mean of the others. It decides when one sum reaches the bound. After the
    non-decision time it answers with that unit, or as soon as the response window opens. If time
    runs out, it answers with the largest sum on the last possible step. For two units that show 0.5
    +- c / 2 with noise sigma, decisions are correct with probability 1 / (1 + exp(-c bound /
    sigma^2)) and take bound / c tanh(c bound / (2 sigma^2)) ms on average, in the limit of small
    steps.

    Args:
        seed: seed of its random numbers, which break ties.
        bound: on the difference of the accumulated evidence, units of the channel times ms.
        non_decision: time from the decision to the answer, ms.
        channel: the evidence channel.
        group: the actions that report its units, in the same order; default: the first group other
            than rest.

    Raises:
        InvalidValueError: a bound that is not positive, or a negative non-decision time.
        UnknownNameError: the task has no such channel or group.
        NotSupportedError: the task has no rest action, or not as many units as choices.
    """

    carries_state = False

    def __init__(
        self,
        seed: int | None = 0,
        *,
        bound: float = 40.0,
        non_decision: float = 300.0,
        channel: str = "stimulus",
        group: str | None = None,
    ) -> None:
        super().__init__(seed)
        if not bound > 0 or not non_decision >= 0:
            raise InvalidValueError(
                f"DiffusionObserver was given bound={bound!r}, non_decision={non_decision!r}; it"
                " needs a positive bound and a time of 0 ms or more."
            )
        self.bound, self.non_decision, self.channel, self.group = (
            bound,
            non_decision,
            channel,
            group,
        )

    def log_likelihood(
        self, record: TrialRecord, *, sigma: float, lapse: float = 1e-4
    ) -> np.ndarray:
        """Return the log density per ms of choice and reaction time, (n,); NaN without an answer.

        The density is that of continuous time: it is the limit of small steps.

        Args:
            record: trials with the coherence, %, the correct side and reaction times, ms.
            sigma: SD of the noise of the task, times sqrt(ms).
            lapse: share of choices at random at any time up to the longest reaction time.

        Raises:
            CannotTellError: the record lacks something.
        """
        per_second = np.sqrt(2000.0) * sigma  # SD of the difference of two units over 1 s
        given = {"drift": 10 / per_second, "bound": self.bound / per_second,
                 "non_decision": self.non_decision, "lapse": lapse}  # fmt: skip
        return likelihood_of(type(self), record, given)

    def begin(self, env: TaskVectorEnv) -> None:
        task = env.task
        part = evidence_channel(task, self.channel, "diffusion")
        group = self.group or next(name for name in task.actions if name != task.actions.rest_name)
        choices = task.actions[group]
        size = part.stop - part.start
        if task.actions.rest is None or choices.stop - choices.start != size or size < 2:
            raise NotSupportedError(
                "The diffusion observer needs a rest action, and as many choices in"
                f" {group!r} as units in the channel {self.channel!r}, at least two; {task.name}"
                f" has {choices.stop - choices.start} and {size}. Name another channel= or group=,"
                " or use another subject."
            )
        self._units, self._answers = part, choices.start
        n = env.num_envs
        self._sum = np.zeros((n, size))
        self._since = np.full(n, np.inf)  # ms since the decision; inf: none yet
        self._decision = np.zeros(n, np.int64)
        self._trial = env.trial_number.copy()

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        self._forget(env.trial_number)
        decided = np.isfinite(self._since)
        self._since[decided] += env.task.dt
        self._look(observations[:, self._units], env.task.dt, ~decided)
        ready = np.isfinite(self._since) & (self._since >= self.non_decision - 1e-9)
        answers = env.is_asked & (ready | ~env.can_wait)
        late = ~np.isfinite(self._since)
        ties = 1e-9 * self.rng.random(self._sum.shape)
        choice = np.where(late, np.argmax(self._sum + ties, axis=1), self._decision)
        return np.where(answers, self._answers + choice, env.task.actions.rest)

    def _forget(self, trial: np.ndarray) -> None:
        fresh = trial != self._trial
        self._sum[fresh] = 0
        self._since[fresh] = np.inf
        self._trial = trial.copy()

    def _look(self, evidence: np.ndarray, dt: float, undecided: np.ndarray) -> None:
        """Add the evidence of this step, and decide where the bound is reached."""
        others = (evidence.sum(axis=1, keepdims=True) - evidence) / (evidence.shape[1] - 1)
        self._sum += undecided[:, None] * (evidence - others) * dt
        decides = undecided & (self._sum.max(axis=1) >= self.bound)
        self._since[decides] = 0.0
        self._decision[decides] = np.argmax(self._sum[decides], axis=1)


def evidence_channel(task: Any, channel: str, subject: str) -> slice:
    """Return the units of the channel in which a subject looks for evidence.

    Args:
        task: the task.
        channel: name of the channel.
        subject: name of the subject, for the error.

    Raises:
        UnknownNameError: the task has no such channel; says how to name another.
    """
    if channel in task.channels:
        units: slice = task.channels[channel]
        return units
    raise UnknownNameError(
        f"The subject {subject!r} needs evidence in a channel {channel!r}. {task.name} has the"
        f" channels {listed(task.channels)}.{did_you_mean(channel, task.channels)} Name one of"
        f" them: {subject}:channel={_noisiest(task)}, or another subject."
    )


def _noisiest(task: Any) -> str:
    """Return the channel with the most noise in a few trials, or else the largest one."""
    channels = dict(task.channels)
    if not hasattr(task, "sample"):  # a subject that is scored sees no trials of the task
        return max(channels, key=lambda name: channels[name].stop - channels[name].start)
    try:
        noise = task.sample(20, seed=0).noise.max(axis=(0, 1), initial=0.0)
    except NeurogymError:  # trials of some tasks cannot be sampled alone
        noise = np.zeros(task.channels.size)
    return max(channels, key=lambda name: (noise[channels[name]].max(), len(noise[channels[name]])))
