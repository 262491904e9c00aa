"""A slow, obvious renderer and a slow, obvious player of layouts.

They implement the *definition* of the verbs, without tables: for each step of each trial, they go
through all calls of `new_trial` and check if they apply to this step. There are no segments, no
payoffs, no batches. The real renderer and players must agree with them
(``test_against_reference.py``).

Discrete actions, and traces of continuous ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from neurogym_core.trials.interface import Angle
from neurogym_core.trials.layout import END, STAY, Layout, Slot, Span
from neurogym_core.trials.noise import gaussian

RESTARTS_GUARD = 1000
"""More periods of 0 steps in a row than any trial of these tests jumps over."""


def steps_of(ms: float, dt: float) -> int:
    """Round ms to the nearest whole number of steps, halves up."""
    return math.floor(ms / dt + 0.5 + 1e-9)


class WrittenTrial:
    """A trial of a layout: observation, slots and target on each step of each period."""

    serial = 0
    """Serial number of the trial, on which its noise depends."""

    def __init__(self, layout: Layout, i: int) -> None:
        self.trial, self.i = layout, i
        self.task = layout.interface
        self.dt = self.task.dt
        self.names = layout.timeline.names
        self.length = [self._length(name) for name in self.names]
        self.conditions = {name: values[i] for name, values in layout.conditions.items()}
        self.notes = {name: values[i] for name, values in layout.notes.items()}

    def _length(self, name: str) -> int:
        timed = {name: int(self.trial.timeline.steps[name][self.i]) for name in self.names}
        if name not in self.trial.timeline.untimed:
            return timed[name]
        # Without a timer it lasts as long as the trial may.
        return max(self._limit_of(sum(timed.values())) - sum(timed.values()), 1)

    def _limit_of(self, drawn: int) -> int:
        limits = [
            10 * drawn if ms is None else max(int(ms / self.dt + 0.5), 1) for ms in self.task.limits
        ]
        return max(limits)

    @property
    def limit(self) -> int:
        """Steps after which the trial is over."""
        untimed = self.trial.timeline.untimed
        timed = sum(
            steps
            for name, steps in zip(self.names, self.length, strict=True)
            if name not in untimed
        )
        return max(self._limit_of(timed), 1)

    # ------------------------------------------------------------------ spans

    def covers(self, span: Span, p: int, k: int) -> bool:
        """Whether a span holds on step `k` of period `p`."""
        if self.names[p] not in span.periods:
            return False
        if span.where is not None and not span.where[self.i]:
            return False
        first, last = self.edges(span)
        return first <= self._elapsed_within(span, p, k) < last

    def edges(self, span: Span) -> tuple[int, float]:
        """First step and last step + 1 of a span; it lasts a step unless it lasts 0 ms."""
        untimed = self.trial.timeline.untimed & set(span.periods)
        total = math.inf if untimed else self._elapsed_within(span, None, 0)
        start = 0.0 if span.start is None else max(span.start[self.i], 0.0)
        stop = math.inf if span.stop is None else span.stop[self.i]
        first = steps_of(start, self.dt)
        last = total if math.isinf(stop) else min(steps_of(stop, self.dt), total)
        begin, end = start / self.dt, min(stop / self.dt, total)
        if last <= first and end > begin + 1e-9:
            first = math.floor((begin + end) / 2)
            last = first + 1
        return first, last

    def _elapsed_within(self, span: Span, p: int | None, k: int) -> int:
        """Steps of a span from its onset to this step, in its periods only; None: to its end."""
        before = span.periods if p is None else span.periods[: span.periods.index(self.names[p])]
        return sum(self.length[self.names.index(name)] for name in before) + k

    # ------------------------------------------------------------------ observations

    def observation(self, p: int, k: int) -> list[float]:
        seen = [0.0] * self.task.channels.size
        for show in self.trial.shows:
            if not self.covers(show.span, p, k):
                continue
            units = self.task.channels[show.channel]
            for j in range(units.stop - units.start):
                seen[units.start + j] += float(_entry(show.value, self.i, j))
        for frames in self.trial.frames:
            value = self._frame(frames, p, k)
            if value is not None:
                units = self.task.channels[frames.name]
                for j in range(units.stop - units.start):
                    seen[units.start + j] += float(value[min(j, len(value) - 1)])
        return seen

    def _frame(self, frames, p: int, k: int):
        """The row of a `timecourse` on this step, or None: one row a step, from its start."""
        if not self.covers(Span(frames.span.periods, where=frames.span.where), p, k):
            return None
        start, _ = self.edges(frames.span)
        at = self._elapsed_within(frames.span, p, k) - start
        values = frames.values[0 if len(frames.values) == 1 else self.i]
        # Where a period has no timer, the last value stays.
        if not self.trial.timeline.untimed.isdisjoint(frames.span.periods):
            at = min(at, len(values) - 1)
        return values[at] if 0 <= at < len(values) else None

    def noise_sd(self, p: int, k: int) -> list[float]:
        """SD of the noise of every unit: variances add up; sigma is the SD for dt = 1 ms."""
        variance = [0.0] * self.task.channels.size
        for show in self.trial.shows:
            if self.covers(show.span, p, k):
                units = self.task.channels[show.channel]
                for j in range(units.start, units.stop):
                    sigma = show.noise if not hasattr(show.noise, "__len__") else show.noise[self.i]
                    variance[j] += float(sigma) ** 2 / self.dt
        return [math.sqrt(each) for each in variance]

    def noisy_observation(self, p: int, k: int, clock: int, key: int) -> np.ndarray:
        """The observation, with the noise of this step of the trial."""
        units = slice(0, self.task.channels.size)
        numbers = gaussian(key, np.array([self.serial]), np.array([clock]), units)[0]
        return np.asarray(self.observation(p, k)) + self.noise_sd(p, k) * numbers

    # ------------------------------------------------------------------ slots

    def asks(self, name: str) -> bool:
        """Whether the trial has a slot of this name."""
        return any(slot.name == name and _holds_for(slot.span, self.i) for slot in self.trial.slots)

    def slot_names(self) -> list[str]:
        return list(dict.fromkeys(slot.name for slot in self.trial.slots))

    def open_slots(self, p: int, k: int) -> list[Slot]:
        return [slot for slot in self.trial.slots if self.covers(slot.span, p, k)]

    def is_open(self, name: str, p: int, k: int) -> bool:
        return any(slot.name == name for slot in self.open_slots(p, k))

    def terms(self, name: str) -> Slot:
        """The call with the terms of misses and errors: the last answer, else the first offer."""
        mine = [
            slot for slot in self.trial.slots if slot.name == name and _holds_for(slot.span, self.i)
        ]
        answers = [slot for slot in mine if slot.amounts is None]
        return answers[-1] if answers else mine[0]

    def aimed(self, p: int, k: int) -> Slot | None:
        """The slot that sets the target on this step; a timed one does only when it is due."""
        right = None
        for slot in self.open_slots(p, k):
            joins = slot.amounts is not None and any(
                other.name == slot.name and other.amounts is None and _holds_for(other.span, self.i)
                for other in self.trial.slots
            )
            if joins:  # a sure bet: the answer of the same slot is the target
                continue
            if slot.due is not None and self.reaction_steps(slot.name, p, k) != self._due_steps(
                slot
            ):
                continue
            right = slot
        return right if right is None else self._best_paid(right, p, k)

    def _best_paid(self, right: Slot, p: int, k: int) -> Slot:
        """The call with the best-paid choice, of those with prices that share slot and step."""
        if right.amounts is None:
            return right
        best = [
            slot
            for slot in self.open_slots(p, k)
            if slot.name == right.name and slot.amounts is not None
        ]
        # The first action of several that are worth the same.
        best.sort(key=lambda slot: self.task.actions[slot.group].start)
        return max(best, key=lambda slot: float(slot.worth[self.i].max()))

    def target(self, p: int, k: int) -> int:
        """The target: rest, unless a slot is open."""
        slot = self.aimed(p, k)
        rest = self.task.actions.rest or 0
        if slot is None or slot.aim[self.i] < 0:
            return rest
        return self.task.actions[slot.group].start + int(slot.aim[self.i])

    def _due_steps(self, slot: Slot) -> int:
        return max(steps_of(slot.due[self.i], self.dt), 1)

    def reaction_steps(self, name: str, p: int, k: int) -> int:
        """Steps from the onset of a response window to the end of this step, which lies in it."""
        steps = 0
        while p >= 0:
            if k < 0:
                p -= 1
                k = self.length[p] - 1 if p >= 0 else -1
            elif self.is_open(name, p, k):
                steps += 1
                k -= 1
            else:
                break
        return steps

    def weight(self, p: int, k: int) -> float:
        if self.task.actions.rest is None:
            weight = (
                0.0 if self.aimed(p, k) is None else 1.0
            )  # elsewhere nothing is right, not even resting
        else:
            weight = 1.0
        for weigh in self.trial.weights:
            if self.covers(weigh.span, p, k):
                weight = float(_entry_per_trial(weigh.weight, self.i))
        return weight

    def wanted(self, p: int, k: int) -> list[float]:
        """The target of continuous actions on a step, one number per dimension."""
        wanted = [float(value) for value in self.task.actions.rest_value]
        for frames in self.trial.frames:
            value = self._frame(frames, p, k)
            if value is not None and frames.name in self.task.actions:
                units = self.task.actions[frames.name]
                for j in range(units.start, units.stop):
                    wanted[j] = float(value[min(j - units.start, len(value) - 1)])
        return wanted

    def traced(self, acted: list[list[float]]) -> float:
        """The score of a trace, (steps, dimensions) in task units: weighted shares on target."""
        places = list(self.all_steps(self.length))
        on_target, everything = 0.0, 0.0
        for (p, k), action in zip(places, acted, strict=True):
            wanted, near = self.wanted(p, k), []
            for name, units in self.task.actions.items():
                axis = self.task.actions.parts[name]
                given, right = action[units], wanted[units]
                if isinstance(axis, Angle):
                    away = abs(math.atan2(given[1], given[0]) - math.atan2(right[1], right[0]))
                    middle = math.hypot(*given) <= 1e-6
                    near.append(not middle and min(away, 2 * math.pi - away) <= axis.tolerance)
                else:
                    near += [
                        abs(a - b) <= axis.tolerance for a, b in zip(given, right, strict=True)
                    ]
            weight = self.weight(p, k)
            on_target += weight * sum(near) / len(near)
            everything += weight
        return on_target / everything if everything else 0.0

    # ------------------------------------------------------------------ order of periods

    def following(self, p: int) -> int | None:
        """The period after `p` when its time runs out; None: the trial is over."""
        then = self.trial.timeline.then.get(self.names[p])
        if then == "end":
            return None
        following = p + 1 if then is None else self.names.index(then)
        return following if following < len(self.names) else None

    def enter(self, p: int | None) -> tuple[int, int] | None:
        """The first step that is played from period `p` on; periods of 0 steps are passed over."""
        for _ in range(RESTARTS_GUARD):
            if p is None:
                return None
            if self.length[p] > 0:
                return p, 0
            p = self.following(p)
        return None

    def all_steps(self, lengths: list[int]) -> Iterator[tuple[int, int]]:
        """Every step of every period, in order."""
        for p in range(len(self.names)):
            for k in range(lengths[p]):
                yield p, k

    def oracle_steps(self) -> Iterator[tuple[int, int]]:
        """The steps of the oracle of a dataset.

        It answers at the end of windows, and plays the periods that it visits to their ends. In a
        period without a timer it answers on the first step on which that leads out. It goes where
        its answers and the time lead, also back, until the trial is over.
        """
        here, left, answered = self.enter(0), self.limit, set()
        while here is not None and left:
            p = here[0]
            length, leads = self._oracle_visit(p, left, answered)
            for k in range(min(length, left)):
                yield p, k
            left -= min(length, left)
            here = None if leads is None else self.enter(leads)

    def late_action(self, path: list[tuple[int, int]], t: int) -> int:
        """The action of the oracle on step `t` of its path."""
        slot, rest = self.aimed(*path[t]), self.task.actions.rest
        if slot is None or rest is None or slot.due is not None:
            return self.target(*path[t])
        untimed = self.names[path[t][0]] in self.trial.timeline.untimed
        goes_on = t + 1 < len(path) and self.is_open(slot.name, *path[t + 1])
        return rest if goes_on and not untimed else self.target(*path[t])

    def _oracle_visit(self, p: int, left: int, answered: set[str]) -> tuple[int, int | None]:
        """How long the oracle stays in a period, and where it goes then."""
        if self.names[p] not in self.trial.timeline.untimed:
            return self.length[p], self._oracle_exit(p, answered)
        for k in range(left):
            slot = self.aimed(p, k)
            if slot is None or slot.name in answered or slot.aim[self.i] < 0:
                continue
            if not slot.again:
                answered.add(slot.name)
            leads = self._leads(slot)
            if leads != STAY:
                return k + 1, None if leads == END else leads
        return left, None

    def _oracle_exit(self, p: int, answered: set[str]) -> int | None:
        leads: int | str = STAY
        by = None
        for name in self.slot_names():
            if not self.asks(name) or name in answered:
                continue
            opens = any(self.is_open(name, p, k) for k in range(self.length[p]))
            coming = self.enter(self.following(p))
            stays_open = coming is not None and any(
                self.is_open(name, coming[0], k) for k in range(self.length[coming[0]])
            )
            target = self._leads(self.terms(name))
            if opens and not stays_open and target != STAY:
                leads, by = target, name
        if by is not None and not self.terms(by).again:
            answered.add(by)
        if leads == STAY:
            return self.following(p)
        return None if leads == END else leads

    def _leads(self, slot: Slot) -> int:
        """Where the right answer to a slot leads."""
        aim = int(slot.aim[self.i])
        if aim < 0:
            return STAY
        if slot.leads is not None:
            return int(slot.leads[self.i, aim])
        return self.goto(slot.then["other" if slot.amounts is not None else "correct"])

    def goto(self, word: str) -> int:
        if word in ("wait", "stay"):
            return STAY
        return END if word == "end" else self.names.index(word)


def _entry(value, i: int, j: int = 0):
    """Entry (i, j) of an array that broadcasts against (n, k); one dimension: units."""
    shape = getattr(value, "shape", ())
    if len(shape) == 0:
        return value
    if len(shape) == 1:
        return value[j % len(value)] if len(value) > 1 else value[0]
    return value[i if shape[0] > 1 else 0][j if shape[1] > 1 else 0]


def _holds_for(span: Span, i: int) -> bool:
    return span.where is None or bool(span.where[i])


class Answered:
    """The result of one slot."""

    def __init__(self) -> None:
        self.outcome = "none"
        self.choice = -1
        self.reaction_time: float | None = None
        self.moment: float | None = None
        self.score = 0.0


class Subject:
    """One subject that plays trial after trial.

    Args:
        coming: returns the next trial.
        trials_per_session: that of the task.
    """

    def __init__(self, coming: Callable[[], WrittenTrial], trials_per_session: int | None) -> None:
        self.coming, self.trials_per_session = coming, trials_per_session
        self.trial_number = 0
        self.session = 0
        self.in_session = 0
        self.finished: dict | None = None
        self._begin()

    def _begin(self) -> None:
        self.written = self.coming()
        self.here = self.written.enter(0)
        self.clock = 0
        self.opened = dict.fromkeys(self._open_at(self.here), 0)
        self.total = 0.0
        self.aborts = 0
        self.aborted = False
        self.overdue = False
        self.visits: dict[str, list[int]] = {}
        self.answers = {name: Answered() for name in self.written.slot_names()}
        self.given: dict[str, list[Answered]] = {name: [] for name in self.answers}

    # ------------------------------------------------------------------ the current step

    @property
    def observation(self) -> list[float]:
        return self.written.observation(*self.here)

    def noisy_observation(self, key: int) -> np.ndarray:
        """The observation, with the noise of this step of this trial."""
        return self.written.noisy_observation(*self.here, self.clock, key)

    @property
    def target(self) -> int:
        return self.written.target(*self.here)

    @property
    def period(self) -> str:
        return self.written.names[self.here[0]]

    def _open_at(self, here: tuple[int, int]) -> set[str]:
        """The slots that are open on a step."""
        return {slot.name for slot in self.written.open_slots(*here)}

    # ------------------------------------------------------------------ one step

    def step(self, action: int) -> tuple[float, bool, bool]:
        """Play one step; return reward, trial ended, session ended. `finished` is the record, and
        `times` its times as played."""
        self.visits.setdefault(self.period, [self.clock, 0])[1] = self.clock + 1
        reward, leads = self._act(action)
        self.clock += 1
        coming = None
        if leads == STAY:
            coming = self._next_step()
            reward += self._windows_that_close(coming)
        elif leads != END:
            coming = self.written.enter(leads)
        if coming is None and leads not in (STAY, END):
            leads = END
        if self.clock >= self.written.limit and coming is not None:
            coming, self.overdue = None, True
            reward += self._windows_that_close(None)
        self.total += reward
        if coming is not None:
            # After a step back, windows open again.
            before = set() if coming <= self.here else self._open_at(self.here)
            opening = self._open_at(coming) - before
            self.opened |= dict.fromkeys(opening, self.clock)
            for slot in self.written.trial.slots:
                if slot.again and slot.name in opening:
                    self.answers[slot.name] = Answered()
        self.here, self.finished = coming, None
        if coming is not None:
            return reward, False, False
        self.finished, self.times = self._record(), self._times()
        return reward, True, self._next_trial()

    def _next_step(self) -> tuple[int, int] | None:
        p, k = self.here
        if self.written.names[p] in self.written.trial.timeline.untimed:
            return p, k + 1
        return (
            (p, k + 1)
            if k + 1 < self.written.length[p]
            else self.written.enter(self.written.following(p))
        )

    def _act(self, action: int) -> tuple[float, int]:
        """The reward of the action, and its destination."""
        actions = self.written.task.actions
        answering = None
        for slot in self.written.open_slots(*self.here):
            units = actions[slot.group]
            if units.start <= action < units.stop:
                answering = slot
        if answering is not None:
            return self._answer(answering, action - actions[answering.group].start)
        if actions.rest is None or action == actions.rest:
            return 0.0, STAY
        return self._break_hold()

    def _break_hold(self) -> tuple[float, int]:
        task, written = self.written.task, self.written
        cost, then, counts = None, None, True
        for hold in written.trial.holds:
            if written.covers(hold.span, *self.here):
                cost, then = hold.cost, hold.then
                counts = (
                    cost is None
                    or then is not None
                    or float(_entry_per_trial(cost, written.i)) != 0
                )
        self.aborts += counts
        amount = task.rewards["abort"] if cost is None else float(_entry_per_trial(cost, written.i))
        if then is None:
            leads = END if task.abort_ends_trial and counts else STAY
        elif then == "restart":
            leads = self.here[0]
        else:
            leads = written.goto(then)
        self.aborted = leads == END or (leads != STAY and written.enter(leads) is None)
        return amount * task.dt / 100, leads

    def _answer(self, slot: Slot, choice: int) -> tuple[float, int]:
        state, i, written = self.answers[slot.name], self.written.i, self.written
        if state.outcome != "none":  # it pays once
            return 0.0, STAY
        # Several groups may answer one slot (a sure bet beside the answers): choices count from the
        # first of them.
        mine = [
            written.task.actions[other.group].start
            for other in written.trial.slots
            if other.name == slot.name
        ]
        state.choice = choice + written.task.actions[slot.group].start - min(mine)
        state.reaction_time = (self.clock + 1 - self.opened[slot.name]) * written.dt
        state.moment = (self.clock + 1) * written.dt
        if slot.amounts is not None:
            state.outcome, reward = "other", float(slot.amounts[i, choice])
            state.score = self._relative_worth(slot, choice)
        else:
            correct, reward = self._judge(slot, choice, state.reaction_time)
            state.outcome, state.score = ("correct", 1.0) if correct else ("error", 0.0)
        self.given[slot.name].append(state)
        if slot.leads is not None:
            return reward, int(slot.leads[i, choice])
        return reward, written.goto(slot.then[state.outcome])

    def _judge(self, slot: Slot, choice: int, reaction_time: float) -> tuple[bool, float]:
        i = self.written.i
        correct = bool(slot.right[i, choice])
        if slot.due is not None:
            off = abs(reaction_time - float(slot.due[i]))
            correct = correct and off <= float(slot.tolerance[i]) + 1e-9
        if slot.needs is not None:
            correct = correct and self.answers[slot.needs].outcome == "correct"
        if not correct:
            return False, float(slot.error[i])
        if slot.due is not None and slot.pays is not None:
            return True, float(slot.pays(off, float(slot.tolerance[i])))
        return True, float(slot.correct[i])

    def _relative_worth(self, slot: Slot, choice: int) -> float:
        """The worth of a priced choice, divided by the best worth of its slot."""
        i = self.written.i
        best = 0.0
        for other in self.written.trial.slots:
            if other.name == slot.name and _holds_for(other.span, i):
                best = max(
                    best,
                    float(other.correct[i])
                    if other.amounts is None
                    else float(max(other.worth[i])),
                )
        return min(max(float(slot.worth[i, choice]) / best, 0.0), 1.0) if best > 0 else 1.0

    def _windows_that_close(self, coming: tuple[int, int] | None) -> float:
        """Close windows that end with this step: slots are missed, or resting was right."""
        reward = 0.0
        for name, state in self.answers.items():
            closes = self.written.is_open(name, *self.here) and not (
                coming is not None and self.written.is_open(name, *coming)
            )
            if not closes or state.outcome != "none":
                continue
            slot, i = self.written.terms(name), self.written.i
            resting_is_right = slot.amounts is None and not slot.right[i].any()
            state.outcome = "correct" if resting_is_right else "miss"
            state.score = float(resting_is_right)
            reward += float(slot.correct[i]) if resting_is_right else float(slot.miss[i])
        return reward

    # ------------------------------------------------------------------ the end

    def _next_trial(self) -> bool:
        self.trial_number += 1
        self.in_session += 1
        over = self.in_session == self.trials_per_session
        if over:
            self.session += 1
            self.in_session = 0
        self._begin()
        return over

    def _record(self) -> dict:
        written = self.written
        asked = {
            name: state
            for name, state in self.answers.items()
            if written.asks(name) and written.terms(name).scored
        }
        record = {
            "trial": self.trial_number,
            "session": self.session,
            "steps": self.clock,
            "aborts": self.aborts,
        }
        record["reward"] = self.total
        record |= written.conditions | written.notes
        for name, state in self.answers.items():
            prefix = f"{name}." if len(self.answers) > 1 else ""
            record[f"{prefix}choice"] = state.choice
            record[f"{prefix}outcome"] = state.outcome
            if state.reaction_time is not None:
                record[f"{prefix}reaction_time"] = state.reaction_time
            if any(slot.again for slot in written.trial.slots if slot.name == name):
                first = (self.given[name] or [Answered()])[0]
                record[f"{prefix}first_choice"] = first.choice
                record[f"{prefix}first_outcome"] = first.outcome
                if first.reaction_time is not None:
                    record[f"{prefix}first_reaction_time"] = first.reaction_time
                record[f"{prefix}answers"] = len(self.given[name])
        record["outcome"] = self._overall([state.outcome for state in asked.values()])
        record["performance"] = (
            sum(state.score for state in asked.values()) / len(asked) if asked else 0.0
        )
        for name, length in zip(written.names, written.length, strict=True):
            record[f"duration.{name}"] = length * written.dt
        return record

    def _times(self) -> dict[str, float]:
        """The times as played, ms since the trial began."""
        dt = self.written.dt
        times = {"trial_start": 0.0, "trial_stop": self.clock * dt}
        for name in self.written.names:
            first, last = self.visits.get(name, (np.nan, np.nan))
            times |= {f"onset.{name}": first * dt, f"offset.{name}": last * dt}
        for name, state in self.answers.items():
            prefix = f"{name}." if len(self.answers) > 1 else ""
            times[f"{prefix}answer_time"] = np.nan if state.moment is None else state.moment
        return times

    def _overall(self, outcomes: list[str]) -> str:
        """Abort, else the worst outcome of the slots; without any outcome, a miss."""
        if self.aborted:
            return "abort"
        for worst in ("error", "miss", "other", "correct"):
            if worst in outcomes:
                return worst
        return "miss" if outcomes else "none"


def _entry_per_trial(value, i: int):
    return value[i] if getattr(value, "ndim", 0) else value
