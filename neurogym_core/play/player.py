"""`Player`: N envs played in one set of arrays. The vector env, hook tasks and stepped datasets are thin coats of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from neurogym_core.errors import InvalidValueError
from neurogym_core.play.finished import FinishedTrials, SlotState
from neurogym_core.play.library import OneByOne
from neurogym_core.play.stream import TrialStream
from neurogym_core.play.table import ANSWER, EXPIRE, LEAVE, PlayTable, Rules
from neurogym_core.tasks.task import Task
from neurogym_core.trials.batch import TrialBatch
from neurogym_core.trials.record import Outcome
from neurogym_core.trials.trial import END, STAY

NO_ROWS = np.zeros(0, np.int64)
CORRECT, ERROR = int(Outcome.CORRECT), int(Outcome.ERROR)
NEVER = 1 << 52
"""Trials left of a session that does not end: a float can still count them."""


Scored = tuple[Rules, np.ndarray, "np.ndarray | None"]
"""A step that was scored: what holds, cell * A of each env, and the targets if they were worked out already."""


def scored_target(scored: Scored) -> np.ndarray:
    """(N,) int, or (N, k) float32 for continuous actions: what was right."""
    rules, base, target = scored
    return rules.cell_target.take(base // rules.n_actions) if target is None else target


def scored_period(scored: Scored) -> np.ndarray:
    """(N,) names of the periods."""
    rules, base, _ = scored
    return rules.cell_period.take(base // rules.n_actions)


class Step(NamedTuple):
    """What one step of all envs brought.

    Attributes:
        observations: (N, obs) float32, of the coming step.
        reward: (N,) float64.
        new_trial: (N,) bool, where a trial ended.
        ended: indices of these envs.
        finished: these trials, or None.
        performance: (N,) float64, 0 where no trial ended; None where none ended.
        over: indices of the envs whose session ended with it.
        scored: for `scored_target` and `scored_period`, of the step that was scored.
    """

    observations: np.ndarray
    reward: np.ndarray
    new_trial: np.ndarray
    ended: np.ndarray
    finished: FinishedTrials | None
    performance: np.ndarray | None
    over: np.ndarray
    scored: Scored


class Now:
    """What hooks see: the step in hand of N envs.

    Attributes:
        n: number of envs; dt: ms per step; rng: generator for what happens only when somebody acts.
        memory: name -> (N, …), per-trial arrays; only `step_action` changes them.
        session: the `Session` of all envs, or None for tasks without session state.
    """

    def __init__(self, player: Player) -> None:
        self._player = player
        self.n = player.n
        self.dt = player.task.dt
        self.rng = player.stream.play
        self.memory = player.memory
        self.session = player.stream.session
        self.conditions = _Conditions(player)
        self._period: np.ndarray | None = None

    def move(self) -> None:
        """The step in hand is another one."""
        self._period = None

    @property
    def period(self) -> np.ndarray:
        """(N,) index of the period."""
        if self._period is None:
            self._period = self._player.table.period.take(self._player.place)
        return self._period

    def in_period(self, name: str) -> np.ndarray:
        """(N,) bool."""
        return self.period == self._player.task.period_names.index(name)

    @property
    def elapsed(self) -> np.ndarray:
        """(N,) ms since the onset of the period; 0 on its first step."""
        place = self._player.place
        return (place - self._player.table.period_onset.take(place)) * self.dt

    @property
    def remaining(self) -> np.ndarray:
        """(N,) ms until the time of the period runs out; dt on its last step."""
        place = self._player.place
        return (self._player.table.period_stop.take(place) - place) * self.dt

    @property
    def target(self) -> np.ndarray:
        """(N,) or (N, k): the target that the table holds."""
        return self._player.table.targets[self._player.place]

    @property
    def rows(self) -> np.ndarray:
        """(N,) rows of `batch` that are being played."""
        return self._player.row

    @property
    def batch(self) -> TrialBatch:
        """The trials laid out at the moment."""
        return self._player.table.batch


class _Conditions(Mapping):
    """Conditions of the trials being played, name -> (N, …)."""

    def __init__(self, player: Player) -> None:
        self._player = player

    def __getitem__(self, name: str) -> np.ndarray:
        batch = self._player.table.batch
        source = batch.conditions if name in batch.conditions else batch.notes
        return source[name][self._player.row]

    def __iter__(self):
        return iter(self._player.table.batch.conditions)

    def __len__(self) -> int:
        return len(self._player.table.batch.conditions)


class Player:
    """N envs of one task, each playing trial after trial.

    Args:
        task: the task.
        n: number of envs.
        seed: seed of the `TrialStream`.
    """

    def __init__(self, task: Task, n: int, seed: int | np.random.SeedSequence | None = None) -> None:
        self.task, self.n = task, n
        self.stream = TrialStream(task, seed, n)
        self._ones = np.ones(n, np.int64)
        # Together, so that what is reported of ended trials is gathered at once.
        self._counts = np.zeros((2, n), np.int64)
        self._sums = np.zeros((4, n))  # of the rows of `Rules.results`; that of performances means nothing
        self._name_rows()
        self._limit = task.trials_per_session or NEVER
        self._hooked, self._reads = task.hooked, task.reads_outcomes
        self._fresh = task.reads_outcomes and task.noisy_units is not None  # many play one row of the table
        self.table: PlayTable | None = None  # type: ignore[assignment]
        self._looked_up: tuple | None = None
        self._seen = np.zeros((n, 0), np.float32)
        self._slot_names: tuple[str, ...] = ()
        self.slots = SlotState(n, 0, 0)

    def _name_rows(self) -> None:
        self.row, self.place = self._counts
        self._total, self._aborts, _, self._left = self._sums

    def use(self, table: PlayTable) -> None:
        """Play on with this table."""
        self.table, rules = table, table.rules
        if rules.payoffs.slot_names != self._slot_names:  # not all questions come up in all trials
            self.slots = self.slots.over(self._slot_names, rules.payoffs.slot_names)
            self._slot_names = rules.payoffs.slot_names
        # What a step looks up in simple tables; None where it takes more.
        self._looked_up = (table.base.take, rules.results.take, rules.ends.take, rules.scored) if rules.simple else None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_looked_up": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._name_rows()  # views do not survive copying
        if self.table is not None:
            self.use(self.table)

    # ------------------------------------------------------------------ beginning

    def reset(self, seed: int | np.random.SeedSequence | None = None, conditions: Mapping[str, Any] | None = None, *, reseed: bool = False) -> np.ndarray:
        """New sessions on all envs; the first observations, (N, obs)."""
        if reseed or seed is not None:
            self.stream.seed(seed)
            self.stream.impose({})
        fresh = reseed or seed is not None or conditions is not None or self.table is None
        if conditions is not None:
            self.stream.impose(conditions)
        if fresh:
            self._begin()
        elif not self._continue():
            return self.observations(np.arange(self.n))
        return self.observations()

    def _begin(self) -> None:
        n = self.n
        self._counts[:] = 0
        self._sums[:] = 0.0
        self._left[:] = self._limit
        self._number_from = np.full(n, float(self._limit))  # `left` counts down from here
        self.session_number = np.zeros(n, np.int64)
        # In general tables: the place less the steps played, and the place at which the trial has lasted too long.
        self._zero, self._deadline = np.zeros((2, n), np.int64)
        self._now: Now | None = None
        self._aborted = np.zeros(n, bool)
        self.memory = {name: self._initial_memory(name) for name in self.task.memory}
        self._start_streams()

    def _no_answers(self) -> None:
        self._slot_names = ()
        self.slots = SlotState(self.n, 0, self.task.actions.size if self.task.actions.continuous else 0)

    def _start_streams(self) -> None:
        everyone = np.arange(self.n)
        self._queue = _queue_for(self.task, self.n)
        self.stream.new_sessions()
        self._no_answers()
        self.use(self._queue.first(self.stream))
        self._start(everyone)

    def _continue(self) -> bool:
        """A reset without a seed: trials under way are given up, and new sessions begin with the coming ones.

        Returns whether anything had to be done.
        """
        begun = self._steps() > 0
        played = np.flatnonzero(begun)
        fresh = np.flatnonzero(~begun & (self._left != self._limit))
        if not len(played) and not len(fresh):
            return False
        if self.task.stateful:
            self._begin_sessions_anew()
            return True
        self._new_session_counts(np.concatenate([played, fresh]))
        self._abandon(played)
        return True

    def _begin_sessions_anew(self) -> None:
        numbers, sessions = self.trial_number + (self._steps() > 0), self.session_number
        begun = self._left != self._limit
        self._begin()
        self._number_from, self.session_number = numbers + self._left, sessions + begun

    def _abandon(self, envs: np.ndarray) -> None:
        if not len(envs):
            return
        self._number_from = self._number_from.copy()
        self._number_from[envs] += 1
        self._start(envs)

    def _new_session_counts(self, envs: np.ndarray) -> None:
        numbers, sessions = self.trial_number, self.session_number.copy()
        self._left[envs] = self._limit
        sessions[envs] += 1
        self._number_from, self.session_number = numbers + self._left, sessions  # new ones: finished trials keep the old

    @property
    def trial_number(self) -> np.ndarray:
        """(N,) how many trials each env has finished."""
        return (self._number_from - self._left).astype(np.int64)

    def _initial_memory(self, name: str) -> np.ndarray:
        initial = np.asarray(self.task.memory[name])
        return np.broadcast_to(initial, (self.n, *initial.shape)).copy()

    # ------------------------------------------------------------------ the step in hand

    def observations(self, idle: np.ndarray = NO_ROWS) -> np.ndarray:
        """Observations in hand, (N, obs) float32, as the caller's own; envs that sat a step out see what they saw."""
        obs = self.table.tape.take(self.place, axis=0)
        if self._fresh:
            obs = self._with_noise(obs, idle)
        if self.task.step_observation is not None:
            obs = np.asarray(self.task.step_observation(self.now, obs), dtype=np.float32)
        return obs

    def _with_noise(self, obs: np.ndarray, idle: np.ndarray) -> np.ndarray:
        if idle.size == self.n:
            return self._seen.copy()
        units = self.task.noisy_units
        segment = self.table.cell.take(self.place) >> 1
        obs[:, units] += self.table.rules.noise.take(segment, axis=0) * self.stream.fresh_noise(units.stop - units.start)
        if idle.size:
            obs[idle] = self._seen[idle]
        self._seen = obs.copy()
        return obs

    def targets(self) -> np.ndarray:
        """Targets in hand: action ids (N,), or for continuous actions (N, k) in [-1, 1]."""
        if self.task.step_target is not None:
            target = np.asarray(self.task.step_target(self.now))
        else:
            target = self.table.targets.take(self.place, axis=0)
        return self.task.actions.from_task_units(target) if self.task.actions.continuous else target

    def _open(self) -> tuple[np.ndarray, np.ndarray]:
        """(N, K) which questions are open and unanswered, and the segments in hand (N,)."""
        segment = self.table.cell[self.place] >> 1
        return self.table.rules.open(segment) & (self.slots.outcome == 0), segment

    def is_asked(self) -> np.ndarray:
        """(N,) whether a question is open."""
        return self._open()[0].any(axis=1)

    def can_wait(self) -> np.ndarray:
        """(N,) whether a question is open that may also be answered later: what a subject who answers last looks at."""
        is_open, segment = self._open()
        closing = self.table.rules.closing(segment)
        last = (self.table.cell[self.place] & 1).astype(bool)
        timed = np.isfinite(self.table.rules.payoffs.due[self.table.kind[self.row]])
        return (is_open & ~timed & ~(closing & last[:, None])).any(axis=1)

    def period_names(self) -> np.ndarray:
        """Names of the periods in hand, (N,)."""
        return np.asarray(self.task.period_names)[self.table.period[self.place]]

    # ------------------------------------------------------------------ one step

    def step(self, actions: np.ndarray, idle: np.ndarray = NO_ROWS) -> Step:
        """As `advance`, by name."""
        return Step(*self.advance(actions, idle))

    def advance(self, actions: np.ndarray, idle: np.ndarray = NO_ROWS) -> tuple:
        """Play one step of every env; returns the fields of a `Step`.

        Args:
            actions: (N,) action ids, checked by the caller; or (N, k) in [-1, 1].
            idle: indices of envs that sit this step out: nothing of theirs changes, and they are paid nothing.
        """
        # In simple tables all that can happen is that trials end. Every line costs: this is most of what a vector env does.
        if self._looked_up is None:
            return self._general_step(actions, idle)
        table, place = self.table, self.place
        base_of, results_of, ends_of, scored = self._looked_up
        base = base_of(place)
        key = np.add(base, actions)
        results, new_trial = results_of(key, axis=1), ends_of(key)
        place += self._ones
        if idle.size:
            results[:, idle], new_trial[idle] = 0.0, False
            place[idle] -= 1
        np.add(self._sums, results, self._sums)
        ended = new_trial.nonzero()[0]
        finished, performance, over = None, None, NO_ROWS
        if ended.size:
            numbers = (self._number_from, self.session_number)
            counts, sums = self._counts.take(ended, axis=1), self._sums.take(ended, axis=1)
            finished = FinishedTrials(table, ended, counts, sums, numbers, key.take(ended))
            performance = results[2] if scored else self._spread(finished)
            over = self._next_trials(ended, finished)
        observations = self.observations(idle) if self._fresh else self.table.tape.take(place, axis=0)
        return observations, results[0], new_trial, ended, finished, performance, over, (table.rules, base, None)

    def _finished(self, envs: np.ndarray, **facts: Any) -> FinishedTrials:
        numbers = (self._number_from, self.session_number)
        return FinishedTrials(self.table, envs, self._counts.take(envs, axis=1), self._sums.take(envs, axis=1), numbers, **facts)

    def _spread(self, finished: FinishedTrials) -> np.ndarray:
        performance = np.zeros(self.n)
        performance[finished.envs] = finished.performance
        return performance

    def _steps(self) -> np.ndarray:
        """(N,) steps played of the trials in hand."""
        return self.place - (self.table.start[self.row] if self.table.rules.simple else self._zero)

    @property
    def now(self) -> Now:
        """The step in hand, as hooks see it."""
        if self._now is None:
            self._now = Now(self)
        return self._now

    def _general_step(self, actions: np.ndarray, idle: np.ndarray) -> tuple:
        table, rules = self.table, self.table.rules
        column, values = self._columns(actions)
        cell = table.cell.take(self.place)
        base = cell * rules.n_actions
        key = base + column
        target = self.targets() if self._hooked or values is not None else None
        reward, aborts, code = rules.reward.take(key), rules.aborts.take(key), rules.code.take(key)
        if idle.size:
            code[idle], aborts[idle], reward[idle] = 0, 0, 0.0
        self._aborts += aborts
        goto = None
        if self.task.step_action is not None:
            goto = self._step_action(actions if values is None else values, reward, idle)
        elif values is not None and self.task.actions.trigger is None:
            reward += self._squared_error(values)
            reward[idle] = 0.0
        self.place += self._ones
        if idle.size:
            self.place[idle] -= 1
        paid = reward.copy() if self.task.step_action is not None else None
        ended = self._events(goto, key, cell, column, values, code, reward, idle)
        if paid is not None:
            reward = paid  # what a hook pays is all that is paid
        self._total += reward
        new_trial = np.zeros(self.n, bool)
        finished, performance, over = None, None, NO_ROWS
        if ended.size:
            new_trial[ended] = True
            self._left[ended] -= 1
            finished = self._finished(ended, steps=self._steps()[ended], aborted=self._aborted[ended], slots=self.slots.take(ended))
            performance = self._spread(finished)
            over = self._next_trials(ended, finished)
        if self._now is not None:
            self._now.move()
        return self.observations(idle), reward, new_trial, ended, finished, performance, over, (rules, base, target)

    def _columns(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """The column of the payoff tables that each action is; continuous actions also in task units."""
        declared = self.task.actions
        if not declared.continuous:
            return actions, None
        values = declared.to_task_units(actions)
        if declared.trigger is None:
            return np.zeros(self.n, np.int64), values
        index, threshold = declared.trigger
        return (values[:, index] > threshold).astype(np.int64), values

    def _step_action(self, action: np.ndarray, reward: np.ndarray, idle: np.ndarray) -> np.ndarray | None:
        """The task's own payoff, written to `reward`; returns where it leads, (N,), or None."""
        kept = {name: values[idle].copy() for name, values in self.memory.items()} if idle.size else {}
        result = self.task.step_action(self.now, action)
        paid, goto, outcome = (*result, None, None)[:3]
        for name, values in kept.items():
            self.memory[name][idle] = values
        if paid is not None:
            reward[:] = paid
            reward[idle] = 0.0
        if outcome is not None:
            self._judge(np.broadcast_to(outcome, self.n), idle)
        if goto is None:
            return None
        goto = np.broadcast_to(goto, self.n).copy()
        goto[idle] = STAY
        return goto

    def _squared_error(self, values: np.ndarray) -> np.ndarray:
        """Default payoff of continuous actions: minus the mean squared error, per 100 ms, where the weight is not 0."""
        segment = self.table.cell[self.place] >> 1
        weight = self.table.rules.batch.weight.reshape(-1)[segment]
        error = ((values - self.table.targets[self.place]) ** 2).mean(axis=1)
        return -error * (weight > 0) * self.task.dt / 100

    def _judge(self, outcome: np.ndarray, idle: np.ndarray) -> None:
        """An outcome that a hook decided, for the first slot."""
        envs = outcome.nonzero()[0]
        if not envs.size:
            return
        envs = envs[self.slots.outcome[envs, 0] == 0]
        envs = np.setdiff1d(envs, idle) if idle.size else envs
        self.slots.outcome[envs, 0] = outcome[envs]
        self.slots.score[envs, 0] = outcome[envs] == CORRECT

    # ------------------------------------------------------------------ events of general tables

    def _events(
        self, hook_goto: np.ndarray | None, key: np.ndarray, cell: np.ndarray, column: np.ndarray, values: np.ndarray | None,
        code: np.ndarray, reward: np.ndarray, idle: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """Answers, jumps and expiries; `place` is already one further. Returns the envs that ended."""
        happens = code if hook_goto is None else (code != 0) | (hook_goto != STAY)
        late = NO_ROWS
        if self.table.rules.can_exceed:
            late = (self.place >= self._deadline).nonzero()[0]
            if late.size:
                late = np.setdiff1d(late, idle)
                happens = happens.astype(bool)
                happens[late] = True
        hot = happens.nonzero()[0]
        if not hot.size:
            return NO_ROWS
        code = code[hot]
        goto = np.full(hot.size, STAY, np.int64)
        answering = np.flatnonzero(code & ANSWER)
        if len(answering):
            goto[answering] = self._answers(hot[answering], key, cell, column, values, reward)
        leaving = np.flatnonzero((code & LEAVE != 0) & (code & ANSWER == 0))
        if len(leaving):
            goto[leaving] = self._leave(hot[leaving], key)
        if hook_goto is not None:
            asked = hook_goto[hot]
            goto = np.where(asked != STAY, self.table.destination(self.row[hot], asked), goto)
        expiring = np.flatnonzero((code & EXPIRE != 0) & (goto == STAY))
        if len(expiring):
            goto[expiring] = self._expire(hot[expiring], cell, values, reward)
        if late.size:
            goto[np.isin(hot, late)] = END
        jumping = np.flatnonzero(goto >= 0)
        if len(jumping):
            self._jump(hot[jumping], goto[jumping])
        return hot[goto == END]

    def _answers(self, envs: np.ndarray, key: np.ndarray, cell: np.ndarray, column: np.ndarray, values: np.ndarray | None, reward: np.ndarray) -> np.ndarray:
        """Answers of these envs; returns where each leads."""
        pay, table, keys = self.table.rules.payoffs, self.table, key[envs]
        slot = table.rules.by_action("slot", keys)
        goto = np.full(len(envs), STAY, np.int64)
        first = self.slots.outcome[envs, slot] == 0
        reward[envs[~first]] = 0.0
        envs, slot, keys = envs[first], slot[first], keys[first]
        row = self.row[envs]
        kind = table.kind[row]
        outcome = table.rules.by_action("outcome", keys)
        score = table.rules.by_action("score", keys).astype(np.float64)
        leads = table.rules.by_action("goto", keys).astype(np.int64)
        elapsed = (self.place[envs] - table.row_start[row] - table.rules.since[cell[envs] >> 1, slot]) * self.task.dt
        wrong = np.zeros(len(envs), bool)
        right = outcome == CORRECT  # the wrong choice is wrong at any moment
        self._judge_graded(envs, kind, slot, elapsed, values, reward, score, wrong, right)
        needs = np.asarray(pay.needs)[slot]
        wrong |= (needs >= 0) & (self.slots.outcome[envs, needs] != CORRECT) & (outcome == CORRECT)
        reward[envs[wrong]] = pay.error_reward[kind[wrong], slot[wrong]]
        outcome = np.where(wrong, ERROR, outcome)
        score[wrong] = 0.0
        leads = np.where(wrong, pay.error_goto[kind, slot], leads)
        self.slots.outcome[envs, slot] = outcome
        self.slots.reaction_time[envs, slot] = elapsed
        self.slots.score[envs, slot] = score
        self.slots.choice[envs, slot] = 0 if values is not None else column[envs] - self._first_unit[slot]
        goto[first] = table.destination(row, leads)
        return goto

    def _judge_graded(
        self, envs: np.ndarray, kind: np.ndarray, slot: np.ndarray, elapsed: np.ndarray, values: np.ndarray | None,
        reward: np.ndarray, score: np.ndarray, wrong: np.ndarray, right: np.ndarray,
    ) -> None:  # fmt: skip
        """Timed and continuous answers: mark those out of tolerance as wrong, and pay the others by their error."""
        pay = self.table.rules.payoffs
        tolerance = pay.tolerance[kind, slot]
        due = pay.due[kind, slot]
        timed = np.isfinite(due)
        distance = np.abs(elapsed - np.where(timed, due, elapsed))
        judged = timed & right
        if values is not None:
            distance = np.where(timed, distance, self._distance(envs, kind, slot, values))
            judged = np.ones(len(envs), bool)
            self.slots.values[envs, slot] = values[envs]
        wrong |= judged & (distance > tolerance + 1e-9)
        for k, pays in enumerate(pay.pays):
            graded = judged & (slot == k) & ~wrong
            if pays is not None and graded.any():
                amount = pays(distance[graded], tolerance[graded])
                reward[envs[graded]] = amount
                score[graded] = np.where(timed[graded], score[graded], amount)  # a nearer value is better, not only right

    def _distance(self, envs: np.ndarray, kind: np.ndarray, slot: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Euclidean distance of continuous answers from what was asked."""
        result = np.zeros(len(envs))
        for k, units in enumerate(self.table.rules.payoffs.units):
            mine = slot == k
            difference = values[envs[mine]][:, units] - self.table.rules.payoffs.aim[kind[mine], k][:, units]
            result[mine] = np.sqrt((difference**2).sum(axis=1))
        return result

    def _leave(self, envs: np.ndarray, key: np.ndarray) -> np.ndarray:
        """Acting while holding, where that leads somewhere."""
        goto = self.table.destination(self.row[envs], self.table.rules.by_action("goto", key[envs]).astype(np.int64))
        self._aborted[envs[goto == END]] = True
        return goto

    def _expire(self, envs: np.ndarray, cell: np.ndarray, values: np.ndarray | None, reward: np.ndarray) -> np.ndarray:
        """Windows that close and periods that run out."""
        table, pay = self.table, self.table.rules.payoffs
        closing = table.rules.closing(cell[envs] >> 1)
        for k in range(closing.shape[1]):
            missed = envs[closing[:, k] & (self.slots.outcome[envs, k] == 0)]
            kind = table.kind[self.row[missed]]
            outcome = pay.miss_outcome[kind, k]
            if values is not None and self.task.actions.trigger is None:
                near = self._distance(missed, kind, np.full(len(missed), k), values) <= pay.tolerance[kind, k] + 1e-9
                outcome = np.where(near, CORRECT, ERROR)
                self.slots.values[missed, k] = values[missed]
                self.slots.choice[missed, k] = 0
            else:
                reward[missed] += pay.miss_reward[kind, k]
            self.slots.outcome[missed, k] = outcome
            self.slots.score[missed, k] = outcome == CORRECT
        return table.expiry(self.row[envs], cell[envs])

    def _jump(self, envs: np.ndarray, places: np.ndarray) -> None:
        """Go to other places of the tape; where steps are played again their noise is drawn anew."""
        back = places < self.place[envs]
        further = places - self.place[envs]
        self.place[envs] = places
        self._zero[envs] += further
        self._deadline[envs] += further
        if self.table.batch.noisy is not None and not self._fresh:
            for env, begin in zip(envs[back], places[back], strict=True):
                self.table.refresh_noise(int(self.row[env]), int(begin), self.stream.play)

    @property
    def _first_unit(self) -> np.ndarray:
        return np.array([units.start for units in self.table.rules.payoffs.units])

    # ------------------------------------------------------------------ the end of trials

    def _next_trials(self, ended: np.ndarray, finished: FinishedTrials) -> np.ndarray:
        """Start the coming trials; returns the envs whose session is over."""
        left, over = finished.left, NO_ROWS
        if not left.item(left.argmin()):
            over = ended[left == 0]
            self._new_session_counts(over)
        if self._reads:
            self.stream.session.remember(ended, finished.as_previous())  # type: ignore[union-attr]
            self.stream.renew_sessions(over)
        self._start(ended)
        return over

    def _start(self, envs: np.ndarray) -> None:
        """Start the coming trials of these envs."""
        self._total[envs] = 0.0
        self._aborts[envs] = 0.0
        rows = self._queue.take(self, envs)
        self.row[envs] = rows
        self.place[envs] = start = self.table.start.take(rows)
        if self._looked_up is None:
            self._zero[envs] = start
            self._deadline[envs] = start + self.table.rules.limit[self.table.kind[rows]]
            self._aborted[envs] = False
            self.slots.clear(envs)
            for name, values in self.memory.items():
                values[envs] = np.asarray(self.task.memory[name])


def _queue_for(task: Task, n: int) -> _Queue:
    if task.reads_outcomes:
        return _OneByOne()
    return _SessionQueue(n) if task.stateful else _SharedQueue()


class _Queue:
    """Which trial comes next; `take` may lay out more, and then renumbers the rows of the trials under way."""

    def first(self, stream: TrialStream) -> PlayTable:
        return PlayTable.render(stream.block(), stream.noise)

    def take(self, player: Player, envs: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    @staticmethod
    def extend(player: Player, keep: np.ndarray, batch: TrialBatch) -> None:
        """Lay the trials `keep` and a new batch on a new table, and move the envs that play them there."""
        moved = np.full(len(player.table.batch), -1)
        moved[keep] = np.arange(len(keep))
        _Queue.change(player, player.table.extend(keep, batch, player.stream.noise), moved)

    @staticmethod
    def change(player: Player, new: PlayTable, moved: np.ndarray | None) -> None:
        """Play on with another table; `moved` says where its rows have gone (-1: away), None: they stayed."""
        old, played = player.table, player._steps()
        player.use(new)
        if moved is not None:
            rows = moved[player.row]
            under_way = rows >= 0
            offset = player.place - old.row_start[player.row]
            player.row[:] = np.where(under_way, rows, 0)
            player.place[:] = np.where(under_way, new.row_start[player.row] + offset, 0)
        player._zero[:] = player.place - played
        player._deadline[:] = player._zero + new.rules.limit[new.kind[player.row]]


class _SharedQueue(_Queue):
    """Independent trials: whoever ends a trial takes the next one."""

    def __init__(self) -> None:
        self._next = 0

    def first(self, stream: TrialStream) -> PlayTable:
        table = super().first(stream)
        self._rows = np.arange(len(table.start))
        return table

    def take(self, player: Player, envs: np.ndarray) -> np.ndarray:
        while self._next + len(envs) > len(player.table.start):
            self._refill(player, envs)
        begin = self._next
        self._next += len(envs)
        return self._rows[begin : self._next]

    def _refill(self, player: Player, envs: np.ndarray) -> None:
        under_way = np.ones(player.n, bool)
        under_way[envs] = False
        started = self._next > 0
        current = player.row[under_way] if started else NO_ROWS
        waiting = np.arange(self._next, len(player.table.batch))
        self.extend(player, np.concatenate([current, waiting]), player.stream.block())
        self._next = len(current)
        self._rows = np.arange(len(player.table.start))


class _SessionQueue(_Queue):
    """Trials that belong to a session: row = trial * n + env when drawn; each env takes its own in order."""

    def __init__(self, n: int) -> None:
        self._waiting: list[list[int]] = [[] for _ in range(n)]
        self._filled = False

    def take(self, player: Player, envs: np.ndarray) -> np.ndarray:
        if not self._filled:
            self._add(0, len(player.table.batch), player.n)
            self._filled = True
        while not all(self._waiting[env] for env in envs.tolist()):
            self._refill(player, envs)
        return np.array([self._waiting[env].pop() for env in envs.tolist()], np.int64)

    def _add(self, first: int, rows: int, n: int) -> None:
        """Queues are kept last trial first, so that the coming one is popped."""
        for env in range(n):
            self._waiting[env] = list(range(first + env, first + rows, n))[::-1] + self._waiting[env]

    def _refill(self, player: Player, envs: np.ndarray) -> None:
        under_way = np.ones(player.n, bool)
        under_way[envs] = False
        keep = np.concatenate([player.row[under_way], *(np.array(waiting, np.int64) for waiting in self._waiting)]).astype(np.int64)
        place = {int(row): i for i, row in enumerate(keep)}
        self._waiting = [[place[row] for row in waiting] for waiting in self._waiting]
        batch = player.stream.block()
        self.extend(player, keep, batch)
        self._add(len(keep), len(batch), player.n)


class _OneByOne(_Queue):
    """Trials that depend on the last outcome: drawn when they are needed."""

    def first(self, stream: TrialStream) -> PlayTable:
        self._trials = OneByOne(stream)
        self._first: np.ndarray | None = self._trials.draw(np.arange(stream.n))
        return self._trials.table  # type: ignore[return-value]

    def take(self, player: Player, envs: np.ndarray) -> np.ndarray:
        if self._first is not None:
            rows, self._first = self._first, None
            return rows
        rows = self._trials.draw(envs, lambda: np.delete(player.row, envs))
        if self._trials.table is not player.table:
            self.change(player, self._trials.table, self._trials.moved)  # type: ignore[arg-type]
        return rows


def check_actions(actions: Any, n: int, task: Task) -> np.ndarray:
    """Actions of n envs, checked: ids (n,), or for continuous actions float64 (n, k).

    Raises:
        InvalidValueError: not whole numbers (numbers), of another shape, or out of range.
    """
    array, size = np.asarray(actions), task.actions.size
    if task.actions.continuous:
        return _check_values(array, (n, size), task.name)
    if array.dtype.kind not in "iu" or array.shape != (n,):
        raise InvalidValueError(
            f"{task.name} was given actions of type {array.dtype} and shape {array.shape}; give whole numbers, one per env: shape ({n},)."
        )
    if array.item(array.argmin()) < 0 or array.item(array.argmax()) >= size:
        raise InvalidValueError(f"{task.name} was given actions from {array.min()} to {array.max()}; they must be from 0 to {size - 1}.")
    return array


def _check_values(array: np.ndarray, shape: tuple[int, ...], task: str) -> np.ndarray:
    if array.dtype.kind not in "fiu" or array.shape != shape:
        raise InvalidValueError(f"{task} was given actions of type {array.dtype} and shape {array.shape}; give numbers in [-1, 1] of shape {shape}.")
    if not (np.abs(array) <= 1 + 1e-6).all():
        raise InvalidValueError(f"{task} was given actions from {array.min()} to {array.max()}; they must be in [-1, 1].")
    return array.astype(np.float64)
