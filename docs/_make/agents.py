"""Measure settings of agents, from which the defaults of neurogym-sb3 were chosen.

``python docs/_make/agents.py`` trains every task with every chosen setting and eight seeds, one
after the other in one process, and writes ``docs/_make/agents.json`` and ``docs/agent-results.md``
after each training. Trainings that the file already has are not repeated, so it can be stopped and
started at any time. With ``--settings``, ``--tasks`` and ``--seeds`` it measures other settings (see
`SETTINGS`), fewer tasks or fewer seeds. ``--write`` writes the page from the stored numbers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean  # the same on all versions of Python, unlike sum
from typing import Any

import click
from markdown_parts import continued, table
from measured import keep, read, trained, when
from neurogym_training import Experiment

HERE = Path(__file__).resolve().parent
MEASURED, PAGE = HERE / "agents.json", HERE.parent / "agent-results.md"
SEEDS = 8
TEST_TRIALS, FRESH = 500, 1000
"""Trials per test during training, and new trials after it."""


@dataclass(frozen=True)
class Goal:
    """A task, and when it counts as learned.

    Attributes:
        task: id.
        criterion: mean performance of the test trials, with 0 for trials with a broken hold.
        steps: training stops here if the criterion is not met.
        test_every: steps between tests.
        why: the criterion in words, beside the levels of the task.
        parameters, wrap: as in `Experiment`.
    """

    task: str
    criterion: float
    steps: int
    test_every: int
    why: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    wrap: tuple[Mapping[str, Any], ...] = ()


RSG_STAGES = {
    "name": "Curriculum", "stages": [{"tolerance_share": share} for share in (0.64, 0.32, 0.16)],
    "advance_at": 0.6, "window": 50,
}  # fmt: skip
"""Makes ReadySetGo easier first: an agent that has never been rewarded would never go."""

GOALS = {  # the cheapest first
    "bandit": Goal(
        "value/Bandit-v0", 0.95, 50_000, 2_500, "guessing is 0.67; the better arm is 1",
    ),
    "readme": Goal(
        "perceptual/PerceptualDecisionMaking-v0", 0.8, 50_000, 5_000,
        "the command of the README: NeuroGym's noise, twice the stimulus strength, 500 ms of it",
        {"coherences": (0, 12.8, 25.6, 51.2, 102.4), "sigma": 1.0,
         "timing": {"fixation": 300, "stimulus": 500, "delay": 0, "decision": 300}},
        ({"name": "PassReward"}, {"name": "PassAction"}),
    ),
    "go-nogo": Goal(
        "control/GoNogo-v0", 0.9, 150_000, 5_000, "never going is 0.5; the best is 1",
    ),
    "match": Goal(
        "memory/DelayMatchSample-v0", 0.9, 300_000, 10_000, "chance is 0.5; the best is 1",
    ),
    "dots": Goal(
        "perceptual/PerceptualDecisionMaking-v0", 0.75, 200_000, 10_000,
        "chance is 0.5; the best observer reaches 0.81",
    ),
    "ready-set-go": Goal(
        "timing/ReadySetGo-v0", 0.6, 150_000, 10_000,
        "a clock is 0.29, reproducing the measured interval 0.58; the best is 0.82",
    ),
    "ready-set-go in stages": Goal(
        "timing/ReadySetGo-v0", 0.55, 150_000, 10_000,
        "with `dt=50`, and tolerances of 64, 32 and 16 % before that of the task, 8 %, which is the"
        " one that is tested; a clock is 0.29, reproducing the measured interval 0.55; the best is"
        " 0.76",
        {"dt": 50}, (RSG_STAGES,),
    ),
    "context": Goal(
        "perceptual/ManteDecisionMaking-v0", 0.8, 400_000, 20_000,
        "chance is 0.5; without the cue 0.72; the best observer reaches 0.87",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """A trainer and its options; {} are the defaults."""

    trainer: str
    options: Mapping[str, Any] = field(default_factory=dict)


def ppo(**options: Any) -> Setting:
    """Return a setting of PPO with an LSTM; all options that were varied are stated."""
    common = {
        "envs": 16, "n_steps": 128, "batch": 512, "n_epochs": 10, "gamma": 0.99,
        "gae_lambda": 0.85, "learning_rate": 3e-3, "ent_coef": 0.01, "normalize_advantage": True,
    }  # fmt: skip
    return Setting("recurrent-ppo", {**common, **options})


def a2c(**options: Any) -> Setting:
    """Return a setting of A2C with an LSTM; all options that were varied are stated."""
    common = {
        "a2c": True, "envs": 16, "n_steps": 20, "gamma": 0.9, "gae_lambda": 1.0,
        "learning_rate": 3e-3, "ent_coef": 0.03, "normalize_advantage": False,
    }  # fmt: skip
    return Setting("recurrent-ppo", {**common, **options})


SETTINGS = {
    "ppo": ppo(),
    "ppo n_steps=256 batch=1024": ppo(n_steps=256, batch=1024),
    "ppo as it was": ppo(batch=128, n_epochs=5, gae_lambda=0.95),
    "ppo envs=32 n_steps=64": ppo(envs=32, n_steps=64, n_epochs=5, gae_lambda=0.95),
    "a2c": a2c(),
    "a2c as it was": a2c(normalize_advantage=True),
    "a2c gamma=0.95 gae_lambda=0.95": a2c(gamma=0.95, gae_lambda=0.95),
    "a2c ent_coef=0.01": a2c(ent_coef=0.01),
    "a2c n_steps=64": a2c(n_steps=64),
}
CHOSEN = ("ppo", "a2c")
"""The settings that are the defaults."""


def train(goal: Goal, setting: Setting, seed: int) -> dict[str, Any]:
    """Train once, and return the results as plain values for JSON."""
    tests = {"test_every": goal.test_every, "test_trials": TEST_TRIALS}
    experiment = Experiment(
        tasks=({"task": goal.task},), kind="algo", trainer=setting.trainer, amount=goal.steps,
        seed=seed, parameters=goal.parameters, wrap=goal.wrap, options={**tests, **setting.options},
    )  # fmt: skip
    trainer, facts = trained(experiment, goal.criterion)
    fresh = trainer.play(FRESH, seed=1_000_000 + seed, num_envs=16)
    return {
        **facts, "steps": trainer.done,
        "fresh": round(float(fresh["performance"].mean()), 4),
        "aborts": round(float(fresh["aborts"].mean()), 3),
        "curve": [
            [int(row["steps"]), round(row["clean"], 3), round(row["answered"], 3)]
            for row in trainer.curve
        ],
    }  # fmt: skip


def key_of(goal: str, setting: str, seed: int) -> str:
    """Return the name of a training in the file."""
    return f"{goal}, {setting}, {seed}"


def missing(
    goals: tuple[str, ...], settings: tuple[str, ...], seeds: int, path: Path
) -> Iterator[tuple[str, str, int]]:
    """Yield the trainings that the file lacks: for each setting, all goals of a seed in turn."""
    runs = read(path)["runs"]
    for setting in settings:
        for seed in range(seeds):
            for goal in goals:
                if key_of(goal, setting, seed) not in runs:
                    yield goal, setting, seed


def found(measured: Mapping[str, Any], goal: str, setting: str) -> list[dict[str, Any]]:
    """Return the trainings of a goal with a setting, by seed."""
    runs = [
        one for one in measured["runs"].values() if (one["goal"], one["setting"]) == (goal, setting)
    ]
    return sorted(runs, key=lambda one: one["seed"])


# ---------------------------------------------------------------------- the page


def page(measured: dict[str, Any]) -> str:
    """Return the page."""
    parts = [f"{recommended(measured)}\n", when(measured)]
    trained = {(one["goal"], one["setting"]) for one in measured["runs"].values()}
    parts += [section(name, measured) for name in GOALS if name in {goal for goal, _ in trained}]
    unfinished = [
        f"{name} with {setting} ({SEEDS - count} seeds)"
        for name in GOALS
        for setting in CHOSEN
        if (count := len(found(measured, name, setting))) < SEEDS
    ]
    if unfinished:
        parts.append(f"Not measured yet: {', '.join(unfinished)}.\n")
    parts += ["## Settings\n", settings_table({setting for _, setting in trained})]
    return continued(PAGE, "\n".join(parts))


def recommended(measured: Mapping[str, Any]) -> str:
    """Return the paragraph that says which of the chosen settings met more criteria."""
    counts = {}
    for setting in CHOSEN:
        runs = [run for name in GOALS for run in found(measured, name, setting)]
        tasks = len({run["goal"] for run in runs})
        met = sum(run["met"] for run in runs)
        counts[setting] = f"{met} of {len(runs)} trainings on {tasks} tasks"
    ppo_name, a2c_name = CHOSEN
    return (
        f"**Recommended: `--algo recurrent-ppo` with its defaults**, which met the criterion in"
        f" {counts[ppo_name]}; A2C met it in {counts[a2c_name]}."
    )


def section(name: str, measured: Mapping[str, Any]) -> str:
    """Return the section of one task."""
    goal = GOALS[name]
    head = f"criterion {goal.criterion:g} within {goal.steps:,} steps; {goal.why}."
    rows = [
        (setting, *cells(runs))
        for setting in (*CHOSEN, *(one for one in SETTINGS if one not in CHOSEN))
        if (runs := found(measured, name, setting))
    ]
    heads = ("setting", "met", "steps (thousands)", "new trials", "CPU (s)")
    return f"## {name}\n\n`{goal.task}`: {head}\n\n{table(heads, rows)}\n"


def cells(runs: list[dict[str, Any]]) -> list[str]:
    """Return the cells of a setting in a table: met, steps, performance and CPU time."""
    fresh = [run["fresh"] for run in runs]
    steps = ", ".join(f"{run['steps'] / 1000:.0f}" if run["met"] else "–" for run in runs)
    mean, seconds = (fmean(values) for values in (fresh, [run["cpu"] for run in runs]))
    return [
        f"{sum(run['met'] for run in runs)} of {len(runs)}",
        steps,
        f"{mean:.2f} ({min(fresh):.2f} to {max(fresh):.2f})",
        f"{seconds:.0f}",
    ]


def settings_table(tried: set[str]) -> str:
    """Return the table of the options of the settings that were tried."""
    names = (
        "envs", "n_steps", "batch", "n_epochs", "learning_rate", "gamma", "gae_lambda", "ent_coef",
        "normalize_advantage",
    )  # fmt: skip
    rows = [
        (name, *(f"{one.options[key]:g}" if key in one.options else "" for key in names))
        for name, one in SETTINGS.items()
        if name in tried
    ]
    return table(("setting", *names), rows)


# ---------------------------------------------------------------------- the command


@click.command()
@click.option("--tasks", multiple=True, type=click.Choice(list(GOALS)), help="Default: all.")
@click.option(
    "--settings", multiple=True, type=click.Choice(list(SETTINGS)), help="Default: the chosen."
)
@click.option("--seeds", default=SEEDS, show_default=True, help="Number of seeds.")
@click.option("--minutes", type=float, help="Begin no training after this time.")
@click.option("--write", is_flag=True, help="Write the page from the stored numbers only.")
def main(
    tasks: tuple[str, ...], settings: tuple[str, ...], seeds: int, minutes: float | None,
    write: bool,
) -> None:  # fmt: skip
    """Train agents until they meet the criterion of each task; write docs/agent-results.md."""
    began, out = time.monotonic(), MEASURED
    if write:
        PAGE.write_text(page(read(out)), encoding="utf-8")
        return
    todo = list(missing(tasks or tuple(GOALS), settings or CHOSEN, seeds, out))
    for number, (goal, setting, seed) in enumerate(todo, 1):
        if minutes is not None and time.monotonic() - began > 60 * minutes:
            click.echo(f"{len(todo) - number + 1} trainings remain; start it again for them.")
            return
        run = train(GOALS[goal], SETTINGS[setting], seed)
        own = {"goal": goal, "setting": setting, "seed": seed, **run}
        keep(out, {key_of(goal, setting, seed): own})
        PAGE.write_text(page(read(out)), encoding="utf-8")
        click.echo(
            f"{number}/{len(todo)} {goal}, {setting}, seed {seed}:"
            f" {'met' if run['met'] else 'not met'} after {run['steps']:,} steps,"
            f" {run['cpu']:.0f} s CPU; {run['fresh']:.3f} on new trials"
        )


if __name__ == "__main__":
    main()
