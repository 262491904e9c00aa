"""The kernel in JavaScript plays exported tables as the kernel of the core does, to the bit."""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

import numpy as np
import pytest
import replaying
from neurogym_play import trial_tables
from small_tasks import Halved

from neurogym_core import (
    Angle,
    Axis,
    Choice,
    InvalidValueError,
    NotSupportedError,
    PowerLaw,
    Task,
    TaskEnv,
    TrialRecord,
    Uniform,
    make_task,
    run,
)
from neurogym_core.tools import installed

# Those whose observations are images are plain envs, without tables.
TASKS = [info.id for info in installed().tasks if info.usable and "pixels" not in info.tags]
SELECTED = (
    "control/HierarchicalReasoning-v0",  # two slots, one of which needs the other
    "control/Null-v0",  # performance relative to the best reward
    "ibl/IBL-v0",  # answers that lead to other periods
    "memory/GradedComparison-v0",  # continuous, graded by distance
    "motor/ReachingDelayResponse-v0",
    "perceptual/PerceptualDecisionMaking-v0",  # noise
    "perceptual/PoissonClicks-v0",  # observations that change within a period
    "perceptual/SpatialSuppressMotion-v0",  # continuous, tracked on every step
    "timing/CueSetGo-v0",  # continuous and timed
    "timing/MotorTiming-v0",  # timed, graded by the moment
    "value/DawTwoStep-v0",  # two slots, and jumps
)
INEXACT = {"memory/ColourWheel-v0": 1e-12, "memory/MemoryRecall-v0": 1e-12} | {
    task: 1e-12
    for task in TASKS
    if task.startswith("driscoll24/")  # answers are angles
}
"""Relative errors of float64 numbers that come from `arctan2`, or from the order of a sum of many
terms, which libraries round differently. All other numbers of all tasks are equal to the bit."""


class Foraging(Task):
    """A period without a timer, periods that repeat, and an answer to each of their visits."""

    abort_ends_trial: bool = False
    timing = {"rest": 200, "decide": float("inf"), "harvest": 200, "travel": 300}
    max_duration: float | None = 3000
    trials_per_session: int | None = 3

    def define(self):
        self.observe(berries=1)
        self.act(rest=1, go=("harvest", "leave"))
        self.vary(richness=Choice((1.0, 2.0)))

    def new_trial(self, trial):
        repeat = ("decide", "harvest")
        trial.periods("rest", *repeat, "travel", then={"harvest": "decide"}, repeat=repeat)
        trial.show("berries", trial["richness"], during="decide", noise=0.5)
        trial.hold(during="rest", then="restart")
        trial.offer("go", (1, 0), during="decide", then=("harvest", "travel"), again=True)
        trial.max_reward(3.0)


class Retrying(Task):
    """An error leads back to the beginning of the window, which opens again."""

    timing = {"first": 300, "second": 300}
    rewards = {"miss": -0.5}

    def define(self):
        self.observe(side=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))

    def new_trial(self, trial):
        both = ("first", "second")
        trial.periods(*both, repeat=both)
        trial.show("side", np.eye(2)[trial["side"]], during=both, noise=1)
        trial.answer("choose", trial["side"], during=both, then={"error": "first"}, again=True)


class Timing(Task):
    """Two answers: a side, and then a press at the right moment, which counts if the side does."""

    timing = {"side": 200, "produce": 800}

    def define(self):
        self.observe(side=2)
        self.act(rest=1, choose=2, press=1)
        self.vary(side=Choice(2), ms=Choice((400.0, 600.0)))

    def new_trial(self, trial):
        trial.periods("side", "produce")
        trial.show("side", np.eye(2)[trial["side"]], during="side", noise=1)
        trial.answer("choose", trial["side"], during="side", then="wait")
        trial.answer_at(
            "press", trial["ms"], tolerance=100, during="produce", needs="choose", pays=PowerLaw()
        )


class Aborting(Foraging):
    """The trial ends with an action on a hold step."""

    def new_trial(self, trial):
        trial.periods("rest", "decide", "harvest", "travel")
        trial.show("berries", trial["richness"], during="decide")
        trial.hold(during="rest", then="end", cost=-1)
        trial.offer("go", (1, 0), during="decide")


class Following(Task):
    """Numbers and an angle that change, of which every weighted step is scored."""

    timing = {"wait": 200, "ramp": Choice((400, 600))}

    def define(self):
        self.observe(level=1)
        self.act(output=Axis(-4, 10, rest=1, size=2, tolerance=2.0), at=Angle(tolerance=1.0))
        self.vary(slope=Uniform(1.0, 4.0))

    def new_trial(self, trial):
        trial.periods("wait", "ramp")
        ramp = trial["slope"][:, None] * np.linspace(0, 1, 6)
        trial.timecourse("level", ramp[:, :, None], during="ramp", cut=True)
        trial.timecourse("output", np.stack([ramp, -ramp], axis=-1), during="ramp", cut=True)
        trial.timecourse("at", ramp[:, :, None], during="ramp", cut=True)
        trial.loss_weight(0.5, during="wait")


@pytest.fixture(scope="module")
def games() -> list[replaying.Game]:
    """A few trials of tasks that need all rules together."""
    tasks = [make_task(one) for one in (*SELECTED, Foraging, Retrying, Timing, Aborting, Following)]
    return [replaying.play(task, 60, most=600) for task in tasks]


def test_a_selection_of_tasks_is_played_alike(games: list[replaying.Game]) -> None:
    for game, found in zip(games, replaying.replay(games), strict=True):
        assert replaying.differences(game, found) == [], game.task.name


BROKEN = {
    "noise": ("0xd2511f53", "0xd2511f54"),
    "rounding": ("single(level[unit] * normal", "(level[unit] * normal"),
    "noise-of-the-step": ("[this.clock, block,", "[this.clock + 1, block,"),
    "timecourse": ("? 0 : this.clock - this.entered", "? 0 : 0"),
    "endless": ("&& !table.endless[segment]", ""),
    "limit": ("this.clock >= table.limit(", "this.clock > table.limit("),
    "clock": ("this.clock++;", ""),
    "aborts": ("this.log.aborts++", "this.log.aborts"),
    "first-answer": ("if (log.outcome[k]) return [0, STAY];", ""),
    "due": ("Math.abs(ms - due) >", "ms - due >"),
    "graded-by-time": ("if (from) pay =", "if (false) pay ="),
    "graded-by-distance": ("pay = given.graded[k];", ""),
    "needs": ("wrong ||= log.outcome[needs] !== CORRECT", "wrong ||= false"),
    "miss": ("reward += table.miss_reward(type)[k];", ""),
    "again": ("if (table.again[k])", "if (false)"),
    "jump": ("segment > before ? before : -1", "before"),
    "best": ("else if (best > 0)", "else if (false)"),
    "aborted": ("aborted ? ABORT : worst", "worst"),
    "worst": ("BADNESS[log.outcome[k]] > BADNESS[worst]", "k === 0"),
    "tracking": ("extra: this.tracking(values)", "extra: 0"),
    "on-target": ("<= tolerances[i]", "<= Infinity"),
    "share": ("* this.table.share(this.here)", "* 0.1"),
    "session": ("const over = --this.left === 0", "const over = false"),
}
"""Name of a rule -> its text in the kernel, and a wrong one."""


@pytest.fixture(scope="module")
def broken(
    games: list[replaying.Game], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[dict[str, Any]]]:
    """The results of kernels with one broken rule each, by the name of the rule."""
    folder, kernels = tmp_path_factory.mktemp("kernels"), []
    text = replaying.KERNEL.read_text("utf-8")
    for name, (rule, wrong) in BROKEN.items():
        assert text.count(rule) == 1, name
        kernels.append(folder / f"{name}.mjs")
        kernels[-1].write_text(text.replace(rule, wrong), "utf-8")
    return dict(zip(BROKEN, replaying.replay_with(kernels, games), strict=True))


@pytest.mark.parametrize("rule", BROKEN)
def test_a_kernel_with_a_broken_rule_is_found(
    games: list[replaying.Game], broken: dict[str, list[dict[str, Any]]], rule: str
) -> None:
    assert any(map(replaying.differences, games, broken[rule]))


@pytest.mark.slow
def test_every_task_that_can_be_exported_is_played_alike() -> None:
    steps = played = 0
    for one in TASKS:
        try:
            game = replaying.play(make_task(one), 60)
        except NotSupportedError:
            continue
        (found,) = replaying.replay([game])
        assert replaying.differences(game, found, INEXACT.get(one, 0.0)) == [], one
        steps, played = steps + len(game.actions), played + 1
    assert played >= 80
    assert steps >= 200_000


@pytest.mark.parametrize("one", ["perceptual/PerceptualDecisionMaking-v0", *SELECTED[:4], Foraging])
def test_the_rows_are_those_of_run_in_the_same_order(one: str | type[Task]) -> None:
    game = replaying.play(make_task(one), 12)
    actions = iter(game.actions)
    record = run(one, lambda env, seen: [next(actions)], 12, seed=1)
    (found,) = replaying.replay([game])
    lines = found["csv"].splitlines()
    assert [name.strip('"') for name in lines[0].split(",")] == list(spread(record))
    assert len(lines) == 1 + len(record)
    rows = [list(spread(record[[k]]).values()) for k in range(len(record))]
    for line, row in zip(lines[1:], rows, strict=True):
        cells = re.findall(r'(?:^|,)("[^"]*"|[^,]*)', line)
        for cell, value in zip(cells, row, strict=True):
            assert (
                cell == f'"{value}"'
                or cell == str(value)
                or float(cell) == value
                or (cell == "nan" and value != value)
            ), (cell, value)


def spread(record: TrialRecord) -> dict[str, object]:
    """Return the first row of a record, with a column for each value."""
    columns = record.to_pandas()
    return {name: columns[name].tolist()[0] for name in columns}


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        ("value/LeverPress-v0", "runs code on every step (step_action, step_target)"),
        ("control/StopSignal-v1", "draws each trial after the outcome of the one before"),
    ],
)
def test_a_task_that_needs_its_code_is_refused_with_the_reason(task: str, reason: str) -> None:
    with pytest.raises(NotSupportedError, match=re.escape(reason)):
        trial_tables(task, 5)


def test_a_graded_reward_of_the_author_is_refused() -> None:
    with pytest.raises(NotSupportedError, match=r"grades the slot 'place' by .*is Python code"):
        trial_tables(Halved, 5)


@pytest.mark.parametrize("one", ["perceptual/PerceptualDecisionMaking-v0", "PriorBlocks-v0"])
def test_imposed_conditions_are_those_of_run(one: str) -> None:
    imposed = {"direction": [0, 1, 1]}
    columns = trial_tables(one, 20, seed=1, conditions=imposed)["columns"]
    record = run(one, "late_oracle", 20, seed=1, num_envs=1, conditions=imposed)
    assert columns["direction"] == record.codes("direction").tolist()
    assert columns["direction"][:4] == [0, 1, 1, 0]


def test_a_page_has_one_trial_or_more() -> None:
    with pytest.raises(InvalidValueError, match=r"n_trials=0\. Expected at least 1"):
        trial_tables("GoNogo-v0", 0)


def test_tables_are_small_and_hold_no_nan() -> None:
    tables = trial_tables("perceptual/PerceptualDecisionMaking-v0", 200)
    text = json.dumps(tables, separators=(",", ":"), allow_nan=False)
    assert len(gzip.compress(text.encode())) < 6_000


def test_the_kernel_is_one_small_module_without_imports() -> None:
    text = replaying.KERNEL.read_text("utf-8")
    assert len(gzip.compress(text.encode())) < 20_000
    assert not re.search(r"^\s*import|require\(|https?:", text, re.MULTILINE)


def test_the_types_have_every_entry_of_the_tables_and_every_export() -> None:
    types = replaying.KERNEL.with_suffix(".d.ts").read_text("utf-8")
    body = re.search(r"interface Trials \{(.*?)\n\}", types, re.DOTALL)[1]
    entries = set(re.findall(r"^  (\w+):", body, re.MULTILINE))
    assert entries == trial_tables("perceptual/PerceptualDecisionMaking-v0", 2).keys()
    pattern = r"^export (?:const|class|function) (\w+)"
    text = replaying.KERNEL.read_text("utf-8")
    exports = set(re.findall(pattern, text, re.MULTILINE))
    assert exports == set(re.findall(pattern, types, re.MULTILINE))


@pytest.mark.parametrize("wrapper", ["ReactionTime", "TrialHistory", "CatchTrials", "SideBias"])
def test_task_wrappers_are_exported_with_their_task(wrapper: str) -> None:
    task = make_task("perceptual/PerceptualDecisionMaking-v0", wrap=wrapper)
    game = replaying.play(task, 12)
    (found,) = replaying.replay([game])
    assert replaying.differences(game, found) == []


def test_the_trials_are_those_of_make() -> None:
    tables = trial_tables("perceptual/PerceptualDecisionMaking-v0", 5, seed=3)
    env = TaskEnv(make_task("perceptual/PerceptualDecisionMaking-v0"))
    env.reset(seed=3)
    drawn = []
    while len(drawn) < 5:
        if env.step(0)[4]["new_trial"]:
            drawn.append(env.conditions["coherence"])
    assert tables["columns"]["coherence"][1:] == drawn[:4]
