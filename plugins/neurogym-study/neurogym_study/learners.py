"""Reference subjects that learn from what they are paid, or take their time: small models of
behaviour, in NumPy.

They see what any subject sees, and what they were paid (`env.last_reward`); unlike the oracle they
know no target. One object plays all envs of a vector env, each with values of its own."""

from __future__ import annotations

import numpy as np

from neurogym_core.errors import InvalidValueError, NotSupportedError, listed
from neurogym_core.play.vector_env import TaskVectorEnv
from neurogym_core.subjects import Subject


class QLearner(Subject):
    """Learns what each action is worth in each state, from rewards alone: SARSA with eligibility
    traces and a softmax.

    A state is an observation. Values start at 0 and are moved towards what follows: a reward, and
    the value of the next state-action pair of the same trial. The trace lets a reward also reach
    earlier choices of the trial, so that with trace = 1 the first stage of a two-step task is
    reinforced by the outcome itself (Sutton & Barto 2018, ch. 12; the model-free learner of Daw et
    al. 2011, doi:10.1016/j.neuron.2011.02.027).

    Args:
        seed: of its random choices.
        alpha: learning rate, 0 to 1.
        beta: inverse temperature of the softmax, per unit of reward.
        trace: decay of eligibility per step, 0 to 1 (lambda).
        perseveration: added to the value of what it did last on the first step of a trial.

    Raises:
        InvalidValueError: a rate out of range.
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
                f"{name} chooses between actions; {task.name} has continuous ones. Use another"
                " subject."
            )
        if task.sample(100, seed=0).noise.any():
            raise NotSupportedError(
                f"{name} tells states apart by what it sees; {task.name} shows noise. Make it with"
                " sigma=0 (or what its noise is called), or use another subject."
            )
        n = env.num_envs
        self._index: dict[bytes, int] = {}
        self.values = np.zeros((n, 0, task.actions.size))
        """(num_envs, states, actions) what each action is worth in each state."""
        self._eligible = np.zeros_like(self.values)
        self._lately = np.full((n, 0), -1)  # what it did last in each state where a trial began
        self._envs = np.arange(n)
        self._trial = env.trial_number.copy()
        self._state: np.ndarray | None = None
        self._action = np.zeros(n, np.int64)

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

    # ---- choosing ----

    def _preferences(self, state: np.ndarray, first: np.ndarray) -> np.ndarray:
        """What is compared in the softmax, (num_envs, actions)."""
        same = self._lately[self._envs, state][:, None] == np.arange(self.values.shape[2])
        return self.worth(state) + self.perseveration * (same & first[:, None])

    def worth(self, state: np.ndarray) -> np.ndarray:
        """What each action is worth in the state in hand, (num_envs, actions)."""
        return self.values[self._envs, state]

    def _choose(self, preferences: np.ndarray) -> np.ndarray:
        """Softmax: the largest of the preferences with Gumbel noise."""
        return np.argmax(self.beta * preferences + self.rng.gumbel(size=preferences.shape), axis=1)

    # ---- learning ----

    def _learn_from_ends(self, reward: np.ndarray, envs: np.ndarray) -> None:
        """From the last step of a trial, before anything is chosen in the next one."""
        self._credit(envs, reward[envs] - self._last_value(envs))
        self._eligible[envs] = 0

    def _learn_from_steps(
        self, reward: np.ndarray, envs: np.ndarray, state: np.ndarray, action: np.ndarray
    ) -> None:
        """From a step within a trial: what it paid, and what is chosen now is worth."""
        follows = self.values[envs, state[envs], action[envs]]
        self._credit(envs, reward[envs] + follows - self._last_value(envs))

    def _last_value(self, envs: np.ndarray) -> np.ndarray:
        """What the last choice of some envs was thought to be worth."""
        return (
            self.values[envs, self._state[envs], self._action[envs]] if len(envs) else np.zeros(0)
        )

    def _credit(self, envs: np.ndarray, surprise: np.ndarray) -> None:
        """Move the values of what was done lately in some envs by a share of the surprise (m,)."""
        if not len(envs):
            return
        self._eligible[envs] *= self.trace
        self._eligible[envs, self._state[envs], self._action[envs]] = 1
        self.values[envs] += self.alpha * surprise[:, None, None] * self._eligible[envs]

    def state_of(self, observation: np.ndarray) -> int:
        """Number of the state that this observation is, or -1 where it has not been seen."""
        return self._index.get(_key(observation), -1)

    def _states(self, observations: np.ndarray) -> np.ndarray:
        """Numbers of the states, (num_envs,); new ones are added to the tables."""
        keys = [_key(row) for row in observations]
        for key in keys:
            if key not in self._index:
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
    """Equal for observations that look alike; without minus zeros."""
    return (np.round(np.asarray(observation, np.float32), 3) + np.float32(0)).tobytes()


class Hybrid(QLearner):
    """Plans as well as it remembers: a mixture of a model-based and a model-free learner.

    Daw, Gershman, Seymour, Dayan & Dolan (2011), Neuron 69:1204, doi:10.1016/j.neuron.2011.02.027.
    The model-free part is a `QLearner`. The model-based part counts where each action leads and
    values it by the best that can be done there; an action that ended the trial is worth what the
    model-free part learned, as in the paper's second stage. What is compared is weight *
    model-based + (1 - weight) * model-free. Defaults of `alpha` to `weight` are near the medians of
    the paper's subjects; one learning rate and one temperature serve all stages (there, two).

    Args:
        seed, alpha, beta, trace, perseveration: as in `QLearner`.
        weight: of the model-based part, 0 to 1.
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
        """(num_envs, states, actions, states) how often each action of each state led where."""
        self._ends = np.zeros((n, 0, actions))
        super().begin(env)

    def worth(self, state: np.ndarray) -> np.ndarray:
        return self.weight * self._planned(state) + (1 - self.weight) * super().worth(state)

    def _planned(self, state: np.ndarray) -> np.ndarray:
        """Expected value of the best action in the state that follows, (num_envs, actions)."""
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
    """Makes the choice of the last trial again if it was paid, else another one; rests until it is
    asked.

    Where several things are asked in a trial, each is remembered apart, and all are repeated or
    given up together.

    Args:
        seed: of its first choices, and of the new ones where there are more than two.

    Raises:
        NotSupportedError: the task has continuous actions, or several groups of choices to answer
            with.
    """

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
        self._choices: list[np.ndarray] = []  # (num_envs,) of the last trial, one for each question
        self._asked = np.zeros(n, np.int64)  # questions of the trial in hand that it has answered
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
        """At what was paid; a trial is won if it paid anything in all."""
        self._paid += env.last_reward
        ended = env.trial_number != self._trial
        self._won = np.where(ended, self._paid > 1e-9, self._won)
        self._paid[ended] = 0.0
        self._asked[ended] = 0
        self._trial = env.trial_number.copy()

    def _answer(self, number: int, rows: np.ndarray) -> np.ndarray:
        """Choices (m,) of some envs for the question `number` of their trial, which they
        remember.
        """
        while number >= len(self._choices):
            self._choices.append(np.full(len(self._asked), -1))
        last = self._choices[number][rows]
        fresh = self.rng.integers(0, self._k, len(rows))
        other = (last + self.rng.integers(1, max(self._k, 2), len(rows))) % self._k
        choice = np.where(last < 0, fresh, np.where(self._won[rows], last, other))
        self._choices[number][rows] = choice
        return choice


class DiffusionObserver(Subject):
    """Adds evidence up to a bound, then answers: an observer with reaction times.

    The drift-diffusion model (Ratcliff 1978, doi:10.1037/0033-295X.85.2.59) with the noise of what
    is seen: from the first evidence of the trial on it sums up, over time, how far each unit of a
    channel is above the mean of the others. When one sum reaches the bound, it has decided; after
    the non-decision time it answers with that unit, or as soon as it may. Where time runs out it
    answers with the largest sum on the last step it may. For two units that show 0.5 +- c / 2 with
    noise sigma, decisions are right with a probability of 1 / (1 + exp(-c bound / sigma^2)) and
    take bound / c tanh(c bound / (2 sigma^2)) ms on average, in small steps.

    Args:
        seed: of its random numbers (ties).
        bound: on the difference of evidence, units of the channel times ms.
        non_decision: ms from the decision to the answer.
        channel: the evidence channel.
        group: the actions that report its units, in the same order; default the first that is not
            resting.

    Raises:
        InvalidValueError: a bound that is not positive, or a negative non-decision time.
        NotSupportedError: the task has no action of resting, or not as many units as choices.
    """

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

    def begin(self, env: TaskVectorEnv) -> None:
        task = env.task
        part = task.channels[self.channel]
        group = self.group or next(name for name in task.actions if name != task.actions.rest_name)
        choices = task.actions[group]
        size = part.stop - part.start
        if task.actions.rest is None or choices.stop - choices.start != size or size < 2:
            raise NotSupportedError(
                "The diffusion observer needs an action of resting, and as many choices in"
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
        """Add what is seen on this step, and decide where the bound is reached."""
        others = (evidence.sum(axis=1, keepdims=True) - evidence) / (evidence.shape[1] - 1)
        self._sum += undecided[:, None] * (evidence - others) * dt
        decides = undecided & (self._sum.max(axis=1) >= self.bound)
        self._since[decides] = 0.0
        self._decision[decides] = np.argmax(self._sum[decides], axis=1)
