"""`TaskEnv`: a task as a pure JAX env with the interface of gymnax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from neurogym_core import END, STAY, Outcome, Task, make_task
from neurogym_core.players import (
    KEY_BITS,
    SPLITS,
    TaskView,
    checked_split,
)
from neurogym_jax.continuous import Continuous
from neurogym_jax.noise import gaussian, gaussian_and_words, uniform_words
from neurogym_jax.packing import NEVER, SEGMENT, SLOT, TYPE
from neurogym_jax.params import DECK, Decks, Params, check_playable, exact_params
from neurogym_jax.spaces import Box, Discrete

NONE, CORRECT, ERROR = int(Outcome.NONE), int(Outcome.CORRECT), int(Outcome.ERROR)
ABORT, MISS, OTHER = int(Outcome.ABORT), int(Outcome.MISS), int(Outcome.OTHER)
NO_ANSWER = -1
"""The choice of a slot without an answer, as in the core's records of codes."""
BADNESS = {NONE: 0, CORRECT: 1, OTHER: 2, MISS: 3, ERROR: 4, ABORT: 5}
WORST_FIRST = sorted(BADNESS, key=BADNESS.__getitem__)


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class State:
    """State of one env.

    Attributes:
        key: (2,) uint32, key of the noise and of the draws.
        serial: serial number of the trial.
        type, segment: row of the tables that applies to the current step.
        clock: steps played of this trial.
        entered: clock at the onset of the segment.
        left: remaining trials of the session, including this one.
        total: reward of the trial so far.
        time: steps played since the reset.
        opened: (K,) clock at which the response window of each slot opened.
        outcome, choice, score: (K,) of the answer to each slot.
        answer: (K, D) values of continuous answers in task units.
    """

    key: jax.Array
    serial: jax.Array
    type: jax.Array
    segment: jax.Array
    clock: jax.Array
    entered: jax.Array
    left: jax.Array
    total: jax.Array
    time: jax.Array
    opened: jax.Array
    outcome: jax.Array
    choice: jax.Array
    score: jax.Array
    answer: jax.Array


def _float(values: jax.Array) -> jax.Array:
    return jax.lax.bitcast_convert_type(values, jnp.float32)


def type_of(
    key: jax.Array,
    serial: jax.Array,
    params: Params,
    words: tuple[jax.Array, jax.Array] | None = None,
) -> jax.Array:
    """Return the type of a trial: that of the deck, or one drawn with the key.

    Args:
        key, serial: of the trial.
        params: the trials.
        words: the uniform words of the trial; None: they are computed.
    """
    if params.deck.shape[0]:
        row = (serial - params.first) % jnp.uint32(params.deck.shape[0])
        return params.deck[row.astype(jnp.int32)]
    first, second = uniform_words(key, serial) if words is None else words
    types = params.alias.shape[0]
    # The top 24 bits are exact as float32.
    column = ((first >> 8).astype(jnp.float32) * (types / (1 << 24))).astype(jnp.int32)
    column = jnp.minimum(column, types - 1)
    within = (second >> 8).astype(jnp.float32) / (1 << 24)
    return jnp.where(within < params.share[column], column, params.alias[column])


def first_serial(key: jax.Array, params: Params) -> jax.Array:
    """Return the serial number of the first trial of an env that is reset with a key."""
    if not params.deck.shape[0]:
        return jnp.uint32(0)
    places = params.deck.shape[0] // params.spread
    word = uniform_words(key, jnp.uint32(0xFFFFFFFF))[0]
    place = jnp.where((key == params.key).all(), 0, word % jnp.uint32(places))
    return params.first + place * jnp.uint32(params.spread)


def raw_key(key: jax.Array, split: str | None = None) -> jax.Array:
    """Return two words of a JAX key, typed or raw, with the split in the top bits of the second.

    The bits are those of `neurogym_core.players.SPLITS`: no key of one split is one of another.
    """
    typed = jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
    words = (jax.random.key_data(key) if typed else key)[:2]
    if split is None:
        return words
    shift = KEY_BITS - 32
    high = words[1] & jnp.uint32((1 << shift) - 1) | jnp.uint32(SPLITS[split] << shift)
    return words.at[1].set(high)


class TaskEnv:
    """A task as a pure JAX env: `reset` and `step` are functions of arrays.

    The interface is that of gymnax. Trials, rewards, ends and observations are those of the core
    (`neurogym_core.make`): with ``params = next(env.decks(seed))`` and a reset with
    ``neurogym_jax.key(seed)``, the env plays the trials of this seed, with their noise. A reset
    with another key begins at a place in the deck that the key determines, with other noise. With
    a split, that is `neurogym_core.make`'s with the same split and ``neurogym_jax.key(seed,
    split)``; the env puts the split into every other key, too.

    A session that ends sets `done`; its last step returns the first observation of the next
    session. `info` has arrays: `gt` and `period` (target and index of the period of the step that
    was scored), `new_trial` (whether a trial ended), and of a trial that ended `performance`,
    `outcome`, `trial_reward`, `steps`, and `choice` of the first slot. Continuous actions are
    (D,) numbers in [-1, 1], as is `gt`; their `choice` is in task units, 0 without an answer.

    Args:
        task: an id, a task or a class of tasks, as in `neurogym_core.make`.
        seed: seed of the deck of `default_params`.
        trials: trials of that deck.
        split: None, "train", "validation" or "test": disjoint streams, of every key and seed.
        wrap, settings: as in `neurogym_core.make_task`.

    Attributes:
        exact: whether `default_params` has all types of trials with their probabilities.
        continuous: rules of continuous actions, or None.

    Raises:
        NotSupportedError: trials depend on the subject's actions; the message says how.

    Example:
        >>> import jax
        >>> from neurogym_jax import make
        >>> env, params = make("perceptual/PerceptualDecisionMaking-v0")
        >>> keys = jax.random.split(jax.random.key(0), 5)
        >>> observations, state = jax.vmap(env.reset, (0, None))(keys, params)
        >>> observations.shape, env.num_actions, env.exact
        ((5, 3), 3, True)
    """

    def __init__(
        self,
        task: Any,
        *,
        seed: int = 0,
        trials: int = DECK,
        split: str | None = None,
        wrap: Any = (),
        **settings: Any,
    ) -> None:
        self.split = checked_split(split, "neurogym_jax.TaskEnv")
        self.task: Task = make_task(task, wrap=wrap, **settings)
        check_playable(self.task)
        self.continuous = Continuous(self.task) if self.task.actions.continuous else None
        found = exact_params(self.task)
        self.exact = found is not None
        self.default_params = found or next(self.decks(seed, trials))

    def decks(self, seed: int | None = None, trials: int = DECK) -> Decks:
        """Return an endless iterator of params: the trials of a seed, in order."""
        return Decks(self.task, seed, trials, self.split)

    # ------------------------------------------------------------------ gymnax

    @property
    def name(self) -> str:
        """Name of the task."""
        return self.task.name

    @property
    def num_actions(self) -> int:
        """Number of actions, or of dimensions of continuous actions."""
        size: int = self.task.actions.size
        return size

    @property
    def period_names(self) -> tuple[str, ...]:
        """(P,) names of the periods, for ``info["period"]``."""
        return tuple(TaskView(self.task).period_names)

    def observation_space(self, params: Params | None = None) -> Box:
        """Return the space of observations, (U,) float32."""
        return Box(-jnp.inf, jnp.inf, (self.task.channels.size,), jnp.float32)

    def action_space(self, params: Params | None = None) -> Discrete | Box:
        """Return the space of actions; of continuous ones, (D,) float32 in [-1, 1]."""
        if self.continuous is not None:
            return Box(-1.0, 1.0, (self.num_actions,), jnp.float32)
        return Discrete(self.num_actions)

    def reset(self, key: jax.Array, params: Params | None = None) -> tuple[jax.Array, State]:
        """Start a session; return its first observation, and the state.

        Args:
            key: a JAX key, typed or raw; it determines all trials and all noise.
            params: from `make`, `default_params` or `decks`.
        """
        return self.reset_env(key, self.default_params if params is None else params)

    def step(
        self, key: jax.Array, state: State, action: jax.Array, params: Params | None = None
    ) -> tuple[jax.Array, State, jax.Array, jax.Array, dict[str, jax.Array]]:
        """Play one step; return observation, state, reward, done and info.

        Args:
            key: not used, since the key of the reset determines everything.
            state: the current state.
            action: () integer, or (D,) numbers in [-1, 1]; one that is out of range is clipped.
            params: those of the reset, or others of the same deck.
        """
        return self.step_env(key, state, action, self.default_params if params is None else params)

    def reset_env(self, key: jax.Array, params: Params) -> tuple[jax.Array, State]:
        """As `reset`; gymnax has this name, too."""
        key, zero = raw_key(key, self.split), jnp.int32(0)
        serial = first_serial(key, params)
        left, time = jnp.int32(params.per_session), zero
        units, noise, words = slice(*params.noisy), None, None
        if units.stop > units.start and not params.deck.shape[0]:
            noise, words = gaussian_and_words(key, serial, zero, units, serial)
        kind = type_of(key, serial, params, words)
        state = self._begun(key, serial, kind, left, time, params)
        return self.get_obs(state, params, noise), state

    def get_obs(self, state: State, params: Params, noise: jax.Array | None = None) -> jax.Array:
        """Return the current observation, (U,) float32.

        Args:
            state: the current state.
            params: the trials.
            noise: the noise of the noisy units; None: it is computed.
        """
        shown = params.shown[state.type, state.segment]
        if params.script.shape[0]:
            at, row = self._script_row(state, params)
            shown = jnp.where(at < 0, shown, params.script[row])
        units = slice(*params.noisy)
        if units.stop == units.start:
            return shown
        if noise is None:
            noise = gaussian(state.key, state.serial, state.clock, units)
        level = params.sd[state.type, state.segment]
        if units == slice(0, shown.shape[0]):
            return shown + level * noise
        return shown.at[units].add(level * noise)

    def _begun(
        self,
        key: jax.Array,
        serial: jax.Array,
        kind: jax.Array,
        left: jax.Array,
        time: jax.Array,
        params: Params,
    ) -> State:
        """Return the state on the first step of a trial."""
        n_slots, zero = params.needs.shape[0], jnp.int32(0)
        slots = jnp.zeros(n_slots, jnp.int32)
        return State(
            key=key, serial=serial, type=kind,
            segment=params.kind[kind, TYPE.index("first")],
            clock=zero, entered=zero, left=left, total=jnp.float32(0), time=time,
            opened=slots, outcome=slots, choice=jnp.full(n_slots, NO_ANSWER, jnp.int32),
            score=jnp.zeros(n_slots, jnp.float32),
            answer=jnp.zeros((n_slots, params.aim.shape[2]), jnp.float32),
        )  # fmt: skip

    def step_env(
        self, key: jax.Array, state: State, action: jax.Array, params: Params
    ) -> tuple[jax.Array, State, jax.Array, jax.Array, dict[str, jax.Array]]:
        """As `step`. The order of the parts is that of `Kernel.advance_one`."""
        rules, n_slots = self.continuous, params.needs.shape[0]
        if rules is None:
            column = jnp.clip(jnp.asarray(action, jnp.int32), 0, self.num_actions - 1)
            values = jnp.zeros(0, jnp.float32)
        else:
            action = jnp.clip(jnp.asarray(action, jnp.float32), -1.0, 1.0)
            column, values = rules.column(action), rules.to_task_units(action)
        each = jnp.arange(n_slots)
        row = params.segment[state.type, state.segment]
        duration, follows, target, period, window = (row[i] for i in range(5))
        cell = params.cell[state.type, state.segment, column]
        dest, slot, outcome = cell[0], cell[1], cell[2]
        reward, score = _float(cell[3]), _float(cell[4])
        kinds = params.kind[state.type]
        terms = dict(zip(SLOT, kinds[len(TYPE) :].reshape(n_slots, len(SLOT)).T, strict=True))
        clock = state.clock + 1
        outcomes, choices, scores = state.outcome, state.choice, state.score
        answers, judged = state.answer, None
        if rules is not None:
            aimed = self._target(state, params)
            target = rules.from_task_units(aimed)
            if not rules.triggers:
                weights, steps = params.weight[state.type], params.segment[state.type, :, 0]
                weight = weights[state.segment]
                share = weight / jnp.maximum((weights * steps).sum(), weight)
                reward += jnp.where(weight > 0, rules.tracking(values, aimed, share), 0.0)
            if n_slots:
                distance = rules.distances(values, params.aim[state.type])
                tolerance = _float(terms["tolerance"])
                judged = (distance > tolerance, *rules.paid(distance, tolerance))

        # ---- the answer
        leaves = (slot < 0) & (dest != STAY)
        if n_slots:
            mine = each == slot
            chosen = jnp.maximum(slot, 0)
            counts = (slot >= 0) & (outcomes[chosen] == NONE)
            steps = clock - state.opened[chosen]
            right = outcome == CORRECT
            timed = right if rules is None else jnp.bool_(True)
            early = steps < terms["earliest"][chosen]
            wrong = timed & (early | (steps > terms["latest"][chosen]))
            if params.graded.shape[2]:
                begin = terms["graded_from"][chosen]
                entry = jnp.clip(steps - begin, 0, params.graded.shape[2] - 1)
                pay = params.graded[state.type, chosen, entry]
                reward = jnp.where(counts & timed & (begin > 0) & ~jnp.isnan(pay), pay, reward)
            if judged is not None:
                by_distance = counts & (terms["timed"][chosen] == 0)
                far, pay, share = (one[chosen] for one in judged)
                graded = by_distance & ~jnp.isnan(pay)
                reward, score = jnp.where(graded, pay, reward), jnp.where(graded, share, score)
                wrong |= by_distance & far
            needs = params.needs[chosen]
            before = outcomes[jnp.maximum(needs, 0)]
            wrong |= right & (needs >= 0) & (before != CORRECT)
            wrong &= counts
            reward = jnp.where(wrong, _float(terms["error_reward"][chosen]), reward)
            dest = jnp.where(wrong, terms["error_dest"][chosen], dest)
            # Only the first answer counts; a later one has neither reward nor effect.
            later = (slot >= 0) & ~counts
            reward, dest = jnp.where(later, 0.0, reward), jnp.where(later, STAY, dest)
            put = mine & counts
            outcomes = jnp.where(put, jnp.where(wrong, ERROR, outcome), outcomes)
            scores = jnp.where(put, jnp.where(wrong, 0.0, score), scores)
            choice = column - params.first_action if rules is None else 0
            choices = jnp.where(put, choice, choices)
            answers = jnp.where(put[:, None], values, answers)

        # ---- the destination, the end of the segment, and the limit
        over_time = (dest == STAY) & (clock - state.entered >= duration)
        segment = jnp.where(over_time, follows, jnp.where(dest == STAY, state.segment, dest))
        moves = over_time | (dest != STAY)
        aborted = leaves & (segment < 0)
        too_long = (segment >= 0) & (clock >= kinds[TYPE.index("limit")])
        if n_slots:
            coming = jnp.where(
                (segment < 0) | too_long,
                0,
                params.segment[state.type, jnp.maximum(segment, 0), SEGMENT.index("window")],
            )
            closing = over_time | too_long
            is_open = (window >> each) & 1 == 1
            missed = closing & is_open & (outcomes == NONE) & ((coming >> each) & 1 == 0)
            if judged is None or rules.triggers:
                paid, of_miss = _float(terms["miss_reward"]), terms["miss_outcome"]
                of_score = (of_miss == CORRECT).astype(jnp.float32)
            else:  # the values on the last step of the window are the answer
                far, pay, share = judged
                flat = jnp.isnan(pay)
                paid = jnp.where(flat, _float(terms["correct_reward"]), pay)
                paid = jnp.where(far, _float(terms["error_reward"]), paid)
                of_miss = jnp.where(far, ERROR, CORRECT)
                of_score = jnp.where(far, 0.0, jnp.where(flat, 1.0, share))
                choices = jnp.where(missed, 0, choices)
                answers = jnp.where(missed[:, None], values, answers)
            reward += jnp.where(missed, paid, 0.0).sum()
            outcomes = jnp.where(missed, of_miss, outcomes)
            scores = jnp.where(missed, of_score, scores)
        segment = jnp.where(too_long, END, segment)
        total = state.total + reward
        ended = segment < 0

        # ---- the results of the trial
        result, performance = self._result(params, kinds, outcomes, scores, total, aborted)

        # ---- the next segment
        opened, entered = state.opened, jnp.where(moves, clock, state.entered)
        kept_outcomes, kept_choices, kept_scores = outcomes, choices, scores
        if n_slots:
            onward = segment > state.segment
            opens = moves & ((coming >> each) & 1 == 1) & ~(onward & is_open)
            opened = jnp.where(opens, clock, opened)
            fresh = opens & params.again
            kept_outcomes = jnp.where(fresh, NONE, outcomes)
            kept_choices = jnp.where(fresh, NO_ANSWER, choices)
            kept_scores = jnp.where(fresh, 0.0, scores)
        time = state.time + 1
        same = State(
            state.key, state.serial, state.type, jnp.maximum(segment, 0), clock, entered,
            state.left, total, time, opened, kept_outcomes, kept_choices, kept_scores,
            answers,
        )  # fmt: skip

        # ---- the next trial
        done = ended & (state.left == 1)
        left = jnp.where(done, params.per_session, state.left - 1)
        serial, noise, words = state.serial + 1, None, None
        units = slice(*params.noisy)
        if units.stop > units.start and not params.deck.shape[0]:
            coming = jnp.where(ended, serial, state.serial), jnp.where(ended, 0, clock)
            noise, words = gaussian_and_words(state.key, *coming, units, serial)
        kind = type_of(state.key, serial, params, words)
        begun = self._begun(state.key, serial, kind, left, time, params)
        new = jax.tree.map(lambda a, b: jnp.where(ended, a, b), begun, same)
        info = {
            "gt": target,
            "period": period,
            "new_trial": ended,
            "performance": jnp.where(ended, performance, 0.0),
            "outcome": jnp.where(ended, result, NONE),
            "trial_reward": jnp.where(ended, total, 0.0),
            "steps": jnp.where(ended, clock, 0),
            "choice": self._choice(ended, choices, answers),
            "discount": jnp.where(done, 0.0, 1.0),
        }
        return self.get_obs(new, params, noise), new, reward, done, info

    def _target(self, state: State, params: Params) -> jax.Array:
        """Return (D,) the target of continuous actions in task units."""
        target = params.target[state.type, state.segment]
        if not params.target_script.shape[0]:
            return target
        at, row = self._script_row(state, params)
        return jnp.where(at < 0, target, params.target_script[row])

    def _script_row(self, state: State, params: Params) -> tuple[jax.Array, jax.Array]:
        """Return the first row of the segment in the scripts (-1: none), and the current one."""
        columns = params.segment[state.type, state.segment]
        at = columns[SEGMENT.index("script_at")]
        # An endless segment has one row, for all of its steps.
        endless = columns[SEGMENT.index("duration")] == NEVER
        within = jnp.where(endless, 0, state.clock - state.entered)
        return at, jnp.maximum(at, 0) + within

    def _choice(self, ended: jax.Array, choices: jax.Array, answers: jax.Array) -> jax.Array:
        """Return the answer to the first slot of a trial that ended."""
        if not len(choices):
            return jnp.int32(NO_ANSWER)
        if self.continuous is None:
            return jnp.where(ended, choices[0], NO_ANSWER)
        given = self.continuous.choice(answers[0])
        return jnp.where(ended & (choices[0] != NO_ANSWER), given, 0.0)

    def _result(
        self,
        params: Params,
        kinds: jax.Array,
        outcomes: jax.Array,
        scores: jax.Array,
        total: jax.Array,
        aborted: jax.Array,
    ) -> tuple[jax.Array, jax.Array]:
        """Return outcome and performance of a trial that ends now."""
        n_slots = params.needs.shape[0]
        asked = (kinds[TYPE.index("asked")] >> jnp.arange(n_slots)) & 1 == 1
        n_asked = asked.sum()
        badness = jnp.array([BADNESS[i] for i in range(len(BADNESS))])
        worst = jnp.where(asked, badness[outcomes], 0).max(initial=0)
        result = jnp.array(WORST_FIRST)[worst]
        result = jnp.where((n_asked > 0) & (worst == 0), MISS, result)
        result = jnp.where(aborted, ABORT, result)
        best = _float(kinds[TYPE.index("best")])
        mean = jnp.where(asked, scores, 0.0).sum() / jnp.maximum(n_asked, 1)
        share = jnp.where(best > 0, total / jnp.where(best > 0, best, 1.0), 0.0)
        return result, jnp.clip(jnp.where(jnp.isnan(best), mean, share), 0.0, 1.0)

    def __repr__(self) -> str:
        return f"TaskEnv({self.task!r})"


def make(
    task: Any,
    *,
    seed: int = 0,
    trials: int = DECK,
    split: str | None = None,
    wrap: Any = (),
    **settings: Any,
) -> tuple[TaskEnv, Params]:
    """Return a pure JAX env of a task, and its params.

    If all conditions are independent choices, and no duration varies, the params have all types of
    trials with their probabilities. Otherwise they are a deck of trials, which
    ``next(env.decks(seed))`` renews without a compilation.

    Args:
        task: an id, a task or a class of tasks, as in `neurogym_core.make`.
        seed: seed of the deck.
        trials: trials of the deck.
        split: None, "train", "validation" or "test", as in `neurogym_core.make`.
        wrap: task wrappers.
        settings: parameters of the task.

    Raises:
        NotSupportedError: trials depend on the subject's actions; the message says how.

    Example:
        >>> import jax
        >>> from neurogym_jax import make
        >>> env, params = make("perceptual/PerceptualDecisionMaking-v0", sigma=0.5)
        >>> observation, state = env.reset(jax.random.key(0), params)
        >>> step = jax.jit(env.step)
        >>> observation, state, reward, done, info = step(jax.random.key(1), state, 0, params)
        >>> float(reward), bool(done), int(info["gt"])
        (0.0, False, 0)
    """
    env = TaskEnv(task, seed=seed, trials=trials, split=split, wrap=wrap, **settings)
    return env, env.default_params


__all__ = ["State", "TaskEnv", "make"]
