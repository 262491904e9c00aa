"""T: trials follow their declarations: periods, durations, conditions, windows, records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from neurogym_check.candidate import Candidate, dealer_of
from neurogym_check.check_types import NotApplicable, check, require
from neurogym_check.tolerances import (
    distance_in_steps,
    distance_of_values,
    largest_deviation,
    largest_distance,
)
from neurogym_check.trajectories import has_nan
from neurogym_core import Constant, Distribution, NeurogymError, Outcome, Task, TaskEnv, TrialBatch
from neurogym_core.players import (
    TaskView,
    build_trials,
)

TASK = ("task",)
OUTCOMES = [one.name.lower() for one in Outcome]


@check("T001", kinds=("task", "trial env"))
def periods_are_uninterrupted(candidate: Candidate) -> None:
    """The oracle visits each period of a trial once, unless it repeats, for the recorded duration.

    A hook that jumps to another period (goto) must not do so while the subject plays the target. If
    a period is to be visited twice, make it two periods, or name it in
    `trial.periods(…, repeat=…)`. A period without a response window runs to its end."""
    if "oracle" not in candidate.recordings:
        raise NotApplicable("it has no property `target`")
    runs: list[tuple[str, int]] = []
    ended = 0
    for result in candidate.recordings["oracle"].results:
        info = result[4]
        period = info["period"]
        if runs and runs[-1][0] == period:
            runs[-1] = (period, runs[-1][1] + 1)
        else:
            runs.append((period, 1))
        if info["new_trial"]:
            _check_runs(candidate, runs, dict(info["trial"]), ended)
            runs, ended = [], ended + 1
    if not ended:
        raise candidate.out_of_steps("oracle", len(candidate.recordings["oracle"].results))


def _check_runs(
    candidate: Candidate, runs: list[tuple[str, int]], record: Mapping[str, Any], number: int
) -> None:
    names = [name for name, _ in runs]
    repeated = TaskView(candidate.task).repeated_periods if candidate.kind == "task" else ()
    twice = [name for name in names if names.count(name) > 1 and name not in repeated]
    require(
        not twice,
        f"Trial {number} visits the periods {names}, expected {twice[:1]} only once.",
        periods=names,
    )
    if candidate.kind != "task":
        return
    dt, free = candidate.task.dt, _answerable(candidate)
    for name, played in runs:
        recorded = round(record[f"duration.{name}"] / dt)
        require(
            played <= recorded,
            f"Period {name!r} of trial {number} lasts {played} steps, expected the recorded"
            f" {recorded}.",
        )
        whole = played == recorded or name in free
        require(
            whole,
            f"Period {name!r} of trial {number}, which has no response window, lasts {played}"
            f" steps, expected the recorded {recorded}.",
        )


def _answerable(candidate: Candidate) -> set[str]:
    """Return the periods that an answer or a hook can cut short."""
    batch = candidate.batch
    if candidate.task.step_action is not None:
        return set(batch.period_names)
    open_ = batch.table("window").any(axis=(0, 2))
    return {
        name for p, name in enumerate(batch.period_names) if open_[batch.period == p].any()
    } | set(batch.untimed)


@check("T002", kinds=TASK)
def durations_in_ms_do_not_depend_on_dt(candidate: Candidate) -> None:
    """With half the dt, every period lasts as many ms as before.

    Durations are in ms everywhere: in `timing`, in `trial.periods(…)`, in start= and stop=. A
    duration computed as a number of steps (times dt) changes with dt. A period of one step at every
    dt is accepted."""
    task = candidate.task
    n = min(candidate.sample_size, 300)
    coarse, fine = (_with_dt(task, task.dt / k) for k in (5, 10))
    conditions = task.sample(n, seed=5).conditions
    # With equal seeds the draws are equal, as long as both draw equally many numbers.
    slow, fast = (
        build_trials(one, conditions, np.random.default_rng(6), n) for one in (coarse, fine)
    )
    roundings = max(len(slow.period_names), 1)  # they add up if durations depend on each other
    for name in slow.period_names:
        if name in slow.untimed:
            continue
        a, b = slow.period_steps[name] * coarse.dt, fast.period_steps[name] * fine.dt
        if _one_step(slow, name) and _one_step(fast, name):
            continue
        close = np.abs(a - b) <= 0.75 * coarse.dt * roundings
        require(
            close.all() or _same_mean(a, b, coarse.dt),
            f"Period {name!r} lasts {a[~close][:1]} ms at dt={coarse.dt:g} and {b[~close][:1]} ms"
            f" at dt={fine.dt:g}, expected the same.",
        )


def _with_dt(task: Task, dt: float) -> Task:
    try:
        return TaskView(task).changed(dt=dt)
    except NeurogymError as error:
        raise AssertionError(f"It cannot be made with dt={dt:g}: {error}") from error


def _one_step(batch: TrialBatch, period: str) -> bool:
    return bool((batch.period_steps[period] <= 1).all())


def _same_mean(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    """Whether two independent samples of durations have the same mean."""
    error = np.sqrt((a.var() + b.var()) / len(a))
    return bool(error > 0 and abs(a.mean() - b.mean()) <= tolerance + largest_deviation() * error)


@check("T003", kinds=TASK)
def durations_follow_their_distributions(candidate: Candidate) -> None:
    """Played durations follow the distributions in `timing`, rounded to steps.

    A duration passed to `trial.periods(…, name=…)` overrides the one in `timing`: state it in one
    place only. A distribution class that you write needs a `cdf` that agrees with its `sample`."""
    task, batch = candidate.task, candidate.batch
    checked = {}
    for name, spec in task.timing.items():
        if (
            name not in batch.period_names
            or name in batch.untimed
            or f"duration.{name}" in TaskView(task).imposed
        ):
            continue
        distance = distance_in_steps(batch.period_steps[name], spec, task.dt)
        low, high = spec.bounds
        ms = batch.period_steps[name] * task.dt
        inside = ((ms >= low - task.dt) & (ms <= high + task.dt)).all()
        require(
            inside,
            f"Period {name!r} lasts from {ms.min():g} to {ms.max():g} ms, expected"
            f" {spec.to_plain()} as in `timing`.",
        )
        checked[name] = distance
    limit = largest_distance(len(batch), max(len(checked), 1))
    for name, distance in checked.items():
        if distance is None:
            continue
        require(
            distance <= limit,
            f"Durations of period {name!r} do not follow {task.timing[name].to_plain()}: the"
            f" distributions are {distance:.3f} apart, expected at most {limit:.3f}.",
        )


@check("T004", kinds=TASK)
def conditions_have_declared_values(candidate: Candidate) -> None:
    """Conditions take only values that `vary` declares, throughout a session.

    `vary` declares all possible values, so that designs can be enumerated; `draw` chooses among
    them. Declare every value."""
    drawn = {name: [values] for name, values in candidate.batch.conditions.items()}
    for name, values in drawn.items():
        values += [
            played.conditions[name]
            for played in candidate.played.values()
            if name in played.conditions
        ]
        values += [
            np.array([trial[name] for trial in one.trials])
            for one in candidate.recordings.values()
            if one.trials
        ]
    view = TaskView(candidate.task)
    names = view.interface.names
    for name, declared in view.distributions.items():
        if isinstance(declared, Distribution):
            for values in drawn[name]:  # type: ignore[assignment]
                _check_values(name, values, declared, names.get(name, ()))


def _check_values(
    name: str, values: np.ndarray, declared: Distribution, names: Sequence[str]
) -> None:
    support = declared.support()
    if support is not None and support.dtype.kind in "iu" and values.dtype.kind == "U":
        support = np.array([*names, "none"])[support]  # a record has names
    if support is None:
        low, high = declared.bounds
        inside = (values >= low) & (values <= high)
        require(
            inside.all(),
            f"The condition {name!r} was {values[~inside][:1]}, expected {declared.to_plain()} as"
            " declared.",
        )
        return
    known = {tuple(np.atleast_1d(value).tolist()) for value in support}
    drawn = {tuple(np.atleast_1d(value).tolist()) for value in np.unique(values, axis=0)}
    require(
        drawn <= known,
        f"The condition {name!r} was {sorted(drawn - known)[:3]}, expected {declared.to_plain()} as"
        " declared.",
    )


@check("T005", kinds=TASK)
def imposed_values_are_played(candidate: Candidate) -> None:
    """Imposed conditions and durations are played and recorded unchanged.

    Do not change the arrays of conditions in place (write `x = x + 1`, not `x += 1` or
    `x[mask] = …`). Draw conditions in `vary` or `draw`, not in `new_trial`, and take durations from
    `timing`."""
    task = candidate.task
    wanted, _ = TaskView(task).draw(np.random.default_rng(9), 12)
    if any(isinstance(one, Distribution) for one in task.conditions.values()) or task.conditions:
        for name, values in wanted.items():
            _impose(task, {name: np.array(values)}, candidate.several(6, 12))
        if not task.reads_outcomes:
            _impose(task, {name: np.array(values) for name, values in wanted.items()}, 12)
    for name in task.timing:
        if name in TaskView(task).period_names and name not in candidate.batch.untimed:
            ms = float(7 * task.dt)
            batch = task.sample(5, seed=1, **{f"duration.{name}": ms})
            played = batch.period_steps[name] * task.dt
            require(
                (played == ms).all(),
                f"Period {name!r} lasts {played[:1]} ms, expected the imposed {ms:g} ms.",
            )


def _impose(task: Task, conditions: Mapping[str, np.ndarray], n: int) -> None:
    imposed = {name: values[:n].copy() for name, values in conditions.items()}
    batch = task.sample(n, seed=2, **{name: values.copy() for name, values in imposed.items()})
    batch.render(None)
    assert (
        batch.tables.best is not None
    )  # computed on first access, the last step of building trials
    for name, values in imposed.items():
        same = _equal(batch.conditions[name], values)
        require(
            same,
            f"The condition {name!r} is {batch.conditions[name][:3]} in the tables, expected the"
            f" imposed {values[:3]}.",
        )
    env = TaskEnv(task)
    dealer_of(env).block_rows = n
    env.reset(seed=2, options={"conditions": imposed})
    for k in range(n):
        for name, values in imposed.items():
            fits = _equal(np.asarray(env.conditions[name]), values[k])
            require(
                fits,
                f"The condition {name!r} of trial {k} is {env.conditions[name]!r}, expected the"
                f" imposed {values[k]!r}.",
            )
        if not _play_one(env):
            return


def _play_one(env: TaskEnv) -> bool:
    """Play a trial to its end with the oracle; return False if the session ended with it."""
    for _ in range(100_000):
        *_, terminated, truncated, info = env.step(env.target)
        if info["new_trial"]:
            return not (terminated or truncated)
    raise AssertionError("A trial does not end while the oracle plays, expected an end.")


def _equal(one: np.ndarray, other: np.ndarray) -> bool:
    return np.array_equal(np.asarray(one), np.asarray(other))


@check("T006", kinds=TASK)
def every_trial_opens_a_response_window(candidate: Candidate) -> None:
    """Every trial has a response window of at least one step.

    Open a response window with trial.answer, answer_at or offer. Check that start= and
    stop= lie within the period in all trials, also if its duration is drawn. A task that pays in
    step_action needs no response window, nor does one whose axes have a tolerance; of those, every
    trial needs a step whose weight is not 0."""
    batch = candidate.batch
    if candidate.task.step_action is not None:
        raise NotApplicable("it pays in step_action")
    if candidate.task.actions.traced:
        unscored = ~(batch.weight * (batch.duration > 0) > 0).any(axis=1)
        require(not unscored.any(), f"{unscored.mean():.1%} of the trials have no scored step.")
        return
    if not candidate.task.actions.continuous and candidate.task.actions.size == 1:
        raise NotApplicable("rest is its only action")
    steps_open = (batch.table("window") & (batch.duration > 0)[:, :, None]).any(axis=1)
    for k, slot in enumerate(batch.tables.slots.names):
        closed = batch.table("asked")[:, k] & ~steps_open[:, k]
        require(
            not closed.any(),
            f"In {closed.mean():.1%} of the trials {slot!r} is asked, but its response window has"
            " no step.",
        )
    idle = ~batch.table("asked").any(axis=1)
    require(not idle.any(), f"{idle.mean():.1%} of the trials have no response window.")


@check("T007", kinds=TASK)
def actions_outside_response_windows_do_not_pay(candidate: Candidate) -> None:
    """Outside response windows, acting pays no more than resting.

    Set `rewards["abort"]` and hold(cost=…) to 0 or less. Pay for an answer in its response window
    only."""
    task, batch = candidate.task, candidate.batch
    if task.actions.rest is None or batch.table("reward").shape[2] < 2:
        raise NotApplicable("it has no action for rest")
    if task.step_action is not None:
        raise NotApplicable("it pays in step_action")
    closed = (batch.table("slot") < 0) & (batch.duration > 0)[:, :, None]
    gain = np.where(closed, batch.table("reward") - batch.table("reward")[:, :, :1], 0.0).max(
        axis=0
    )
    segment, action = np.unravel_index(int(np.argmax(gain)), gain.shape)
    period = batch.period_names[batch.period[segment]]
    name = "acting" if task.actions.continuous else repr(task.actions.labels()[action])
    require(
        gain.max() <= 1e-12,
        f"In period {period!r}, outside response windows, {name} pays {gain.max():g} per step more"
        " than rest, expected no more.",
    )


@check("T008", kinds=("task", "trial env"))
def records_are_complete(candidate: Candidate) -> None:
    """The records of all trials have the same keys, and no NaN.

    The keys are those of conditions, answers, rewards, durations and covariates. Pass the same
    covariates to `trial.record(…)` in every trial, with -1 or a text for missing values: NaN is not
    valid JSON, and not equal to itself."""
    records = candidate.recordings.get("mixed", candidate.recordings["random"]).trials
    if not records:
        raise NotApplicable("no trial ended")
    optional = {key for record in records for key in record if key.endswith("reaction_time")}
    keys = set(records[0]) - optional
    for number, record in enumerate(records):
        differ = keys ^ (set(record) - optional)
        require(
            not differ,
            f"The record of trial {number} and that of the first differ in the keys"
            f" {sorted(differ)}.",
        )
        missing = [name for name, value in record.items() if has_nan(value)]
        require(not missing, f"The record of trial {number} has NaN in {missing}, expected no NaN.")
    if candidate.kind == "task":
        _check_columns(candidate.task, records)


def _check_columns(task: Task, records: list[dict[str, Any]]) -> None:
    wanted = {
        *task.conditions,
        "outcome",
        "performance",
        "reward",
        "steps",
        *(f"duration.{name}" for name in TaskView(task).period_names),
    }
    missing = sorted(wanted - set(records[0]))
    require(not missing, f"The record has no {missing}.")
    for number, record in enumerate(records):
        known = record["outcome"] in OUTCOMES
        require(
            known,
            f"The outcome of trial {number} is {record['outcome']!r}, expected one of {OUTCOMES}.",
        )
        require(
            0 <= record["performance"] <= 1,
            f"The performance of trial {number} is {record['performance']}, expected 0 to 1.",
        )


@check("T009", kinds=TASK)
def conditions_follow_their_distributions(candidate: Candidate) -> None:
    """Conditions are drawn with the probabilities of their declared distributions.

    Draw each condition from its distribution, as `draw_conditions` does. A distribution class that
    you write needs a `cdf` or `probabilities` that agree with its `sample`. The check leaves out
    tasks whose `draw` chooses conditions from the state of the session."""
    task = candidate.task
    if TaskView(task).stateful:
        raise NotApplicable("its `draw` depends on the state of the session")
    drawn_alone = {
        name: one for name, one in task.conditions.items() if isinstance(one, Distribution)
    }
    declared = {name: one for name, one in drawn_alone.items() if not isinstance(one, Constant)}
    if not declared:
        raise NotApplicable("no condition is drawn from a declared distribution")
    n = candidate.several(20_000, 100_000)
    drawn = task.draw_conditions(np.random.default_rng(14), n)
    limit = largest_distance(n, len(declared))
    for name, one in declared.items():
        distance = distance_of_values(drawn[name], TaskView(task).distributions[name])
        if distance is None:
            continue
        require(
            distance <= limit,
            f"The condition {name!r} does not follow {one.to_plain()}: the distributions are"
            f" {distance:.3f} apart, expected at most {limit:.3f}.",
        )
