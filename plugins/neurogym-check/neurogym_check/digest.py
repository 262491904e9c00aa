"""The behaviour digest of a task: a few short texts that change when its behaviour changes.

The digest covers the declarations of the task and tables of its trials. It does not use NumPy's
random numbers, whose streams may change: conditions come from a factorial design, everything else
from the `StableGenerator`. Tables are read step by step, as they are played, so that the division
of periods into segments does not matter. Four parts:

- ``declared``: channels, actions, timing, rewards, conditions, session settings;
- ``trials``: observations, targets, rewards and transitions on every step of up to `ROWS` trials;
- ``session``: the conditions that `draw` returns during sessions (only with session state);
- ``steps``: the effects of the hooks (only with hooks).

Digests are stored in ``digests.toml`` beside the manifest, one table for each id.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from neurogym_check.stable_generator import StableGenerator
from neurogym_core import Distribution, InvalidValueError, Outcome, Task, TrialBatch
from neurogym_core.players import Stepper, TaskView, build_imposed
from neurogym_core.tools import TaskInfo, describe, replacing

FILE = "digests.toml"
SCHEMA = 1
_TEXT = re.compile(r"[0-9a-f]{16} -?\d+\.\d{6}")
ROWS = 240
"""Largest number of trials in the tables."""
NUMBERS = 600_000
"""Approximate number of values in the tables."""
SESSIONS, SESSION_TRIALS = 3, 60
STEPS = 240

Digest = dict[str, str]
"""Part -> 16 hexadecimal digits and a number."""


def digest_of(task: Task) -> Digest:
    """Return the digest of a task.

    Raises:
        NotSupportedError: the task draws with a method that `StableGenerator` does not have.
    """
    parts = {"declared": _declared(task), "trials": _trials(task)}
    if TaskView(task).stateful:
        parts["session"] = _session(task)
    if TaskView(task).hooks:
        parts["steps"] = _steps(task)
    return parts


# ---------------------------------------------------------------------- the parts


class _Digest:
    """Collects named values; `text` is a hash that must be equal and a sum that must be close.

    Texts and integers are hashed. The last bits of floats depend on the processor, so a weighted
    sum of them is kept: its weights are pseudo-random in [-1, 1], so that a change of any value
    changes the sum."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._sum = 0.0
        self._arrays = 0

    def plain(self, name: str, value: Any) -> None:
        text = json.dumps(value, sort_keys=True, default=str, ensure_ascii=True)
        self._hash.update(f"{name}={text};".encode())

    def array(self, name: str, values: Any) -> None:
        values = np.asarray(values)
        if values.dtype.kind not in "fciub":
            self.plain(name, values.tolist())
            return
        self._hash.update(f"{name}{values.shape}".encode())
        self._arrays += 1
        if values.dtype.kind in "fc":
            finite = np.nan_to_num(values, nan=-9.87, posinf=9.87e3, neginf=-9.88e3).astype(
                np.float64
            )
            # Each array has another factor, so that exchanging two of them changes the sum.
            self._sum += (1 + self._arrays * 0.6180339887 % 1) * _summed(finite.ravel())
        else:
            self._hash.update(np.ascontiguousarray(values.astype("<i8")).tobytes())

    def text(self) -> str:
        return f"{self._hash.hexdigest()[:16]} {self._sum:.6f}"


_WIDTH = 4096


@cache
def _weights(key: int, n: int) -> np.ndarray:
    return 2 * StableGenerator(key).random(n) - 1


def _summed(values: np.ndarray) -> float:
    """Return the weighted sum of the values divided by their norm, plus the norm's logarithm."""
    norm = float(np.sqrt((values**2).sum()))
    if norm == 0:
        return 0.0
    rows = -(-values.size // _WIDTH)
    table = np.pad(values, (0, rows * _WIDTH - values.size)).reshape(rows, _WIDTH)
    return float((table @ _weights(1, _WIDTH)) @ _weights(2, rows)) / norm + math.log(norm)


def agree(one: str, other: str) -> bool:
    """Whether two texts of a part describe the same behaviour."""
    (exact, about), (known, nearly) = one.split(), other.split()
    return exact == known and abs(float(about) - float(nearly)) <= 2e-5


def changes(known: Digest, fresh: Digest) -> list[str]:
    """Return the parts in which two digests differ."""
    return sorted(
        part
        for part in {*known, *fresh}
        if part not in known or part not in fresh or not agree(known[part], fresh[part])
    )


def _declared(task: Task) -> str:
    result = _Digest()
    found = describe(task)
    for name in (
        "dt",
        "supervised",
        "trials_per_session",
        "channels",
        "actions",
        "conditions",
        "rewards",
    ):
        result.plain(name, _unnamed(found[name]))
    result.plain("parameters", {row["name"]: row["value"] for row in found["parameters"]})
    result.plain("timing", {name: spec.to_plain() for name, spec in task.timing.items()})
    result.plain("periods", list(TaskView(task).period_names))
    for name in ("abort_ends_trial", "max_duration"):
        result.plain(name, getattr(task, name))
    result.plain("batched", True)  # stored digests have it
    result.plain("reads_outcomes", task.reads_outcomes)
    result.plain("evidence", task.evidence_periods)  # the name that stored digests were made with
    result.plain("go_cue", task.go_cue)
    return result.text()


def _unnamed(value: Any) -> Any:
    """Descriptions of channels and actions without the names of units, which change no trial."""
    if not isinstance(value, list):
        return value
    return [{key: one for key, one in row.items() if key != "names"} for row in value]


def _trials(task: Task) -> str:
    batch = _tables(task)
    result = _Digest()
    for name in sorted(batch.conditions):
        result.array(name, batch.conditions[name])
    for name in sorted(batch.notes):
        result.array(f"note {name}", batch.notes[name])
    result.plain("untimed", sorted(batch.untimed))
    _add_steps(batch, result)
    _add_slots(batch, result)
    return result.text()


def _tables(task: Task) -> TrialBatch:
    """Return trials with the conditions of the design."""
    rng: Any = StableGenerator(1)
    per_trial = TaskView(task).typical_steps * (2 * task.channels.size + 6 * task.actions.n_table)
    rows = int(np.clip(NUMBERS // per_trial, 6, ROWS))
    return build_imposed(task, rng, rows, _design(task, rows))


def _design(task: Task, rows: int) -> dict[str, np.ndarray]:
    """Return values of all conditions that are declared with a distribution, (rows, …).

    They are the cells of the factorial design, thinned or repeated to the number of rows."""
    declared = TaskView(task).distributions
    levels = {
        name: one.support() for name, one in declared.items() if isinstance(one, Distribution)
    }
    levels = {name: values for name, values in levels.items() if values is not None}
    total = math.prod(len(values) for values in levels.values())
    # Python integers: a design may have more than 2**64 cells.
    cells = [(k * total) // rows if total > rows else k % total for k in range(rows)]
    design: dict[str, np.ndarray] = {}
    for name, values in reversed(levels.items()):
        design[name] = values[[cell % len(values) for cell in cells]]
        cells = [cell // len(values) for cell in cells]
    for key, (name, one) in enumerate(declared.items()):
        if isinstance(one, Distribution) and name not in levels:
            design[name] = one.sample(StableGenerator(100 + key), rows)  # type: ignore[arg-type]
    return design


def _add_steps(batch: TrialBatch, result: _Digest) -> None:
    """Add the arrays with a value for each segment, expanded to steps."""
    duration = batch.duration
    index = np.repeat(np.arange(duration.size), duration.ravel())

    def per_step(values: np.ndarray) -> np.ndarray:
        values = np.broadcast_to(values, (*duration.shape, *values.shape[2:]))
        return values.reshape(duration.size, *values.shape[2:])[index]

    result.array("steps", duration.sum(axis=1))
    result.array("period", per_step(np.broadcast_to(batch.period, duration.shape)))
    result.array("shown", batch.render(None, duration=duration))
    result.array("noise", per_step(np.broadcast_to(batch.noise, batch.shown.shape)))
    result.array("target", batch.render_targets(duration=duration))
    result.array("weight", per_step(batch.weight))
    result.array("window", per_step(batch.table("window")))
    for name in ("reward", "aborts", "goto", "slot", "outcome", "score"):
        result.array(name, per_step(batch.table(name)))


def _add_slots(batch: TrialBatch, result: _Digest) -> None:
    """Add the arrays with one value per trial and slot."""
    result.plain("slots", list(batch.tables.slots.names))
    result.plain("needs", list(batch.tables.slots.needs))
    if any(
        batch.tables.slots.again
    ):  # otherwise digests are those of tasks that were written before it
        result.plain("again", list(batch.tables.slots.again))
    for name in (
        "asked",
        "miss_reward",
        "miss_outcome",
        "error_reward",
        "due",
        "tolerance",
        "aim",
        "best",
    ):
        result.array(name, batch.table(name))
    result.array("period_then", batch.tables.period_then)
    actions = batch.interface.actions
    if actions.continuous and actions.trigger is None:  # elsewhere it is in `reward`
        result.array("correct_reward", batch.table("correct_reward"))
    for name, pays in zip(batch.tables.slots.names, batch.tables.slots.pays, strict=True):
        if pays is not None:
            error = np.linspace(0, 1, 9)
            result.array(f"pays {name}", np.asarray(pays(error, np.ones(9)), float))


def _session(task: Task) -> str:
    """Return the digest of sessions whose trials are drawn one by one.

    If the task reads outcomes, each trial gets an invented choice and outcome."""
    rng: Any = StableGenerator(2)
    result = _Digest()
    session = TaskView(task).fresh_session(rng, SESSIONS)
    rows = np.arange(SESSIONS)
    trials = (
        SESSION_TRIALS
        if task.trials_per_session is None
        else min(SESSION_TRIALS, task.trials_per_session)
    )
    for trial in range(trials):
        drawn = task.draw(session, rng)
        session.trial += 1
        for name in sorted(drawn):
            result.array(name, drawn[name])
        if task.reads_outcomes:
            session.remember(rows, {**drawn, **_outcomes(task, trial)})
    return result.text()


def _outcomes(task: Task, trial: int) -> dict[str, np.ndarray]:
    """Return invented results of a trial in each session.

    Choices take turns; half of the trials are correct in the first session, 3/4 in the last."""
    rows = np.arange(SESSIONS)
    choices = max(task.actions.size - (1 if task.actions.rest == 0 else 0), 1)
    right = (trial + rows) % (rows + 2) != 0
    outcome = np.where(right, Outcome.CORRECT, Outcome.ERROR).astype(np.int8)
    choice = (trial // (rows + 1)) % choices
    return {
        "choice": choice,
        "outcome": outcome,
        "reward": right.astype(float),
        "performance": right.astype(float),
    }


def _steps(task: Task) -> str:
    """Return the digest of the hooks' observations, targets and rewards.

    In half of the envs the oracle plays; the others take all actions in turn."""
    n = 6
    stepper = Stepper(task, n, seed=0)
    for key, name in ((10, "conditions"), (12, "sessions"), (13, "hooks")):
        setattr(stepper.dealer, name, StableGenerator(key))
    # Long enough for all trials, because a dealer that reaches the end of a design shifts its turn.
    repeats = n * (STEPS + 1) // 12 + 1
    design = {name: np.concatenate([one] * repeats) for name, one in _design(task, 12).items()}
    stepper.reset(conditions=design)
    result = _Digest()
    blank = np.zeros((n, task.channels.size), np.float32)
    for step in range(STEPS):
        target, period = stepper.targets(), stepper.period
        actions = _actions(task, target, step)
        if task.step_observation is not None:
            result.array("shown", task.step_observation(stepper.now, blank.copy()))
        done = stepper.step(actions)
        result.array("target", target)
        result.array("reward", done.reward)
        result.plain("period", [TaskView(task).period_names[one] for one in period.tolist()])
        result.array("ended", np.flatnonzero(done.ended))
        if done.finished is not None:
            result.array("outcome", done.finished.outcome)
            result.array("performance", done.finished.performance)
    return result.text()


def _actions(task: Task, target: np.ndarray, step: int) -> np.ndarray:
    n = len(target)
    if task.actions.continuous:
        other = (
            np.sin(1.7 * step + np.arange(n * task.actions.size)).reshape(n, -1).astype(np.float32)
        )
        return np.where((np.arange(n) % 2 == 0)[:, None], target, other)
    return np.where(np.arange(n) % 2 == 0, target, (step // 3 + np.arange(n)) % task.actions.size)


# ---------------------------------------------------------------------- the file


def digests_path(info: TaskInfo) -> Path | None:
    """Return the path of the digests of a task's package, or None if it has no folder.

    Imports nothing."""
    spec = importlib.util.find_spec(info.value.partition(":")[0].partition(".")[0])
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(folders[0]) / FILE if folders else None


def stored(path: Path) -> dict[str, Digest]:
    """Return the digests in a file, by the task's name; none if the file does not exist.

    Raises:
        InvalidValueError: the file cannot be read as digests.
    """
    if not path.is_file():
        return {}
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidValueError(
            f"{path.name} cannot be read ({error}). Expected TOML as `ngym check --write-digests`"
            " writes it. Correct the file, or delete it and write the digests again."
        ) from error
    found = {name: table for name, table in tables.items() if name != "schema"}
    for name, table in found.items():
        if not isinstance(table, dict) or not all(
            _TEXT.fullmatch(str(text)) for text in table.values()
        ):
            raise InvalidValueError(
                f"{path.name} has {table!r} for {name!r}. Expected parts with 16 hexadecimal digits"
                " and a number each. Remove it, and write it again with `ngym check"
                " --write-digests`."
            )
    return found


def store(path: Path, fresh: Mapping[str, Digest], *, force: bool = False) -> list[str]:
    """Add digests to a file, and return the names that were written.

    Raises:
        InvalidValueError: a stored digest differs, and `force` is not set. Nothing is written.
    """
    known = stored(path)
    changed = sorted(
        name for name, digest in fresh.items() if name in known and changes(known[name], digest)
    )
    if changed and not force:
        raise InvalidValueError(
            f"{path.name} has another digest of {', '.join(changed)}, expected the behaviour of a"
            " version to stay. Give the changed task a new version (an entry point Name-v1), or add"
            " --force if this version is not published."
        )
    written = [
        name for name, digest in fresh.items() if name not in known or changes(known[name], digest)
    ]
    if written:
        with replacing(path) as temporary:
            Path(temporary).write_text(
                _written({**known, **{name: fresh[name] for name in written}}), "utf-8"
            )
    return written


def _written(digests: Mapping[str, Digest]) -> str:
    lines = [
        (
            "# Digests of each task's behaviour: `ngym check` fails if one changes without a new"
            " version of the task."
        ),
        "# Written by `ngym check PACKAGE --write-digests`.",
        f"schema = {SCHEMA}",
    ]
    for name in sorted(digests):
        lines.append(f"\n[{json.dumps(name)}]")
        lines += [f'{part} = "{text}"' for part, text in digests[name].items()]
    return "\n".join(lines) + "\n"


__all__ = ["FILE", "Digest", "changes", "digest_of", "digests_path", "store", "stored"]
