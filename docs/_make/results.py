"""Trains the examples, and writes what it measured to ``docs/results.md``: ``make train-examples``.

``python docs/_make/results.py`` trains all of them; ``--only NAME`` one of them, and keeps the
others' last numbers, which lie in ``docs/_make/results.json``; ``--page`` trains nothing and writes
the page anew."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np

HERE = Path(__file__).resolve().parent
MEASURED, PAGE = HERE / "results.json", HERE.parent / "results.md"

SONG_2016 = "[Song et al. 2016](https://doi.org/10.1371/journal.pcbi.1004792)"
SONG_2017 = "[Song et al. 2017](https://doi.org/10.7554/eLife.21492)"
YANG_2019 = "[Yang et al. 2019](https://doi.org/10.1038/s41593-018-0310-2)"

TEN = ("Go", "RTGo", "DlyGo", "Anti", "RTAnti", "DlyAnti", "DM1", "DM2", "MultiDM", "DlyDM1")
FRESH = 2000
"""Trials, none of them seen before, on which what was learned is measured."""


@dataclass(frozen=True)
class Example:
    """What is trained, until when, and how often.

    Attributes:
        goal: the criterion in words, with its source.
        tasks: ids, each with the parameters of all.
        until: updates or steps at the most.
        met: the criterion, of the record of the test trials.
        measured: what is measured on fresh trials, of a record; the worst of several tasks.
        words: the same as a command line, where there is one.
    """

    name: str
    title: str
    goal: str
    tasks: tuple[str, ...]
    trainer: str
    until: int
    met: Callable[[Any], bool]
    measured: Callable[[Any], float]
    parameters: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    words: str = ""


def correct(record: Any) -> float:
    """Share of all trials that are correct."""
    return float((record["outcome"] == "correct").mean())


def at_least(share: float) -> Callable[[Any], bool]:
    """So many of all trials are correct."""
    return lambda record: correct(record) >= share


def worst_pair(record: Any) -> float:
    """Share correct in the worst of the conditions of parametric working memory."""
    pairs = [
        (*pair, larger)
        for pair, larger in zip(record["pair"].tolist(), record["larger"].tolist(), strict=True)
    ]
    right = record["outcome"] == "correct"
    return min(float(right[[pair == one for pair in pairs]].mean()) for one in set(pairs))


def worst_task(record: Any) -> float:
    """Share correct in the worst of several tasks."""
    if "task" not in record:
        return float(record["performance"].mean())
    return min(
        float(record["performance"][record["task"] == one].mean())
        for one in np.unique(record["task"])
    )


def reliable(record: Any) -> bool:
    """80 % of the answers are correct, and at least 99 % of the trials answered."""
    answered = np.isin(record["outcome"], ("correct", "error"))
    return answered.mean() >= 0.99 and (record["outcome"][answered] == "correct").mean() >= 0.8


STRONG = (
    "--set coherences=0,12.8,25.6,51.2,102.4 --timing fixation=300 --timing stimulus=500 --timing"
    " decision=300"
)

EXAMPLES = (
    Example(
        "perceptual", "Perceptual decision", f"85 % correct; {SONG_2016}", ("PerceptualDecisionMaking-v0",), "rnn", 2000,
        at_least(0.85), correct,
        words="ngym train PerceptualDecisionMaking-v0 --model rnn --updates 2000 --criterion 0.85 --out run",
    ),
    Example(
        "context", "Context-dependent decision", f"90 % correct; {SONG_2016}", ("ManteDecisionMaking-v0",), "rnn", 4000,
        at_least(0.9), correct,
        words="ngym train ManteDecisionMaking-v0 --model rnn --updates 4000 --criterion 0.9 --out run",
    ),
    Example(
        "multisensory", "Multisensory integration", f"90 % correct; {SONG_2016}", ("MultiSensoryIntegration-v0",), "rnn", 2000,
        at_least(0.9), correct,
        words="ngym train MultiSensoryIntegration-v0 --model rnn --updates 2000 --criterion 0.9 --out run",
    ),
    Example(
        "memory", "Parametric working memory", f"85 % correct in the worst condition (the command line: 96 % over all); {SONG_2016}", ("DelayComparison-v0",),
        "rnn", 4000, lambda record: worst_pair(record) >= 0.85, worst_pair,
        words="ngym train DelayComparison-v0 --model rnn --updates 4000 --criterion 0.96 --out run",
    ),
    Example(
        "agent", "Random dots, an agent with an LSTM (PPO)",
        f"80 % of the answers correct, 99 % of the trials answered ({SONG_2017}), within 50,000 steps",
        ("PerceptualDecisionMaking-v0",), "recurrent-ppo", 50_000, reliable, correct,
        parameters={"coherences": (0, 12.8, 25.6, 51.2, 102.4),
                    "timing": {"fixation": 300, "stimulus": 500, "decision": 300}},
        words=f"ngym train PerceptualDecisionMaking-v0 --algo recurrent-ppo {STRONG} --steps 50000 --criterion 0.8 --out run",
    ),
    Example(
        "ten-tasks", "Ten of the twenty tasks of Yang et al. in one network",
        f"each of them above 80 % correct, read off the last step as in {YANG_2019}; it stops at 84 % of 400 test trials, "
        "so that the best of many tests is no luck",
        tuple(f"yang19/{name}-v0" for name in TEN), "gru", 8000, lambda record: worst_task(record) > 0.84, worst_task,
        parameters={"dt": 100, "rule_input": False},
        options={"loss": "mse", "rest_weight": 2.0, "answers": "last", "learning_rate": 2e-3,
                 "shares": (1, 1, 1, 1, 1, 1, 3, 3, 2, 1), "test_every": 250, "test_trials": 400},
        seeds=(0, 1),
        words=f"ngym train {' '.join(f'yang19/{name}-v0' for name in TEN)} --model gru --set dt=100 --set rule_input=false "
        "--option loss=mse --option rest_weight=2 --option answers=last --option shares=1,1,1,1,1,1,3,3,2,1 "
        "--option learning_rate=0.002 --updates 8000 --out run",
    ),
)  # fmt: skip

CHECKPOINTS = (200, 400, 800, 1600, 3200)
"""Updates after which the threshold is measured."""
THRESHOLD_SEEDS = (0, 1, 2)


# ---------------------------------------------------------------------- measuring


def trainer_of(example: Example, seed: int) -> Any:
    """The trainer of an example, not trained yet."""
    from neurogym_study import Experiment

    kind = "algo" if example.trainer in ("ppo", "a2c", "recurrent-ppo") else "model"
    return Experiment(
        tasks=tuple({"task": task} for task in example.tasks), kind=kind, trainer=example.trainer, amount=example.until,
        seed=seed, parameters=example.parameters, options=example.options,
    ).make_trainer()  # fmt: skip


def train(example: Example, seed: int) -> dict[str, Any]:
    """Train once; what happened, as JSON can hold it."""
    began = time.perf_counter(), time.process_time()
    trainer = trainer_of(example, seed)
    why = trainer.train(example.until, criterion=example.met)
    wall, cpu = (
        round(now - then, 1)
        for now, then in zip((time.perf_counter(), time.process_time()), began, strict=True)
    )
    fresh = [
        example.measured(trainer.play(FRESH, which=which, seed=1_000_000 + seed))
        for which in range(len(example.tasks))
    ]
    return {
        "seed": seed, "met": why == "criterion", "amount": trainer.done, "wall": wall, "cpu": cpu,
        "fresh": round(min(fresh), 4), "curve": [[int(row[trainer.unit]), row["accuracy"]] for row in trainer.curve],
        "unit": trainer.unit,
    }  # fmt: skip


def thresholds(seed: int) -> dict[str, Any]:
    """The coherence with 75 % correct on fresh trials, while a network learns random dots."""
    from neurogym_study import fit_psychometric
    from neurogym_study.trainers import trainer_named

    began = time.perf_counter()
    # A third of the usual rate: learning is then slow enough to be watched.
    trainer = trainer_named("rnn")(
        "PerceptualDecisionMaking-v0", seed=seed, test_every=200, learning_rate=3e-4
    )
    found = []
    for updates in CHECKPOINTS:
        trainer.train(updates)
        fit = fit_psychometric(trainer.play(4000, seed=2_000_000 + seed), "coherence", bootstrap=0)
        threshold = fit.threshold_at(0.75) if fit.guess < 0.75 < 1 - fit.lapse else np.inf
        found.append(round(threshold, 2) if threshold < max(trainer.tasks[0].coherences) else None)
    return {"seed": seed, "thresholds": found, "wall": round(time.perf_counter() - began, 1)}


def machine() -> dict[str, Any]:
    """Where it was measured, as far as it matters for the times."""
    from importlib.metadata import version

    names = ("torch", "stable-baselines3", "numpy")
    return {"processor": platform.machine(), "cores": os.cpu_count(), "date": time.strftime("%Y-%m-%d"),
            "versions": {name: version(name) for name in names}}  # fmt: skip


def read() -> dict[str, Any]:
    """What was measured last."""
    return json.loads(MEASURED.read_text("utf-8")) if MEASURED.exists() else {}


def keep(name: str, value: Any) -> None:
    """Write down at once what was measured, and the page."""
    measured = {**read(), name: value, "machine": machine()}
    MEASURED.write_text(json.dumps(measured, indent=None, sort_keys=True) + "\n", encoding="utf-8")
    PAGE.write_text(page(measured), encoding="utf-8")


# ---------------------------------------------------------------------- the page


HEAD = """# What was learned

*Measured and written by `docs/_make/results.py` (`make train-examples`); do not edit it here.*

Networks and agents are trained on tasks of this project until they meet a criterion that was published for the task, from
several seeds. What they have learned is measured on {fresh:,} trials that neither training nor the criterion saw; it may
lie a little below the criterion, since the first test that is good enough is also a lucky one. Everything ran on a processor, on one thread.
"""


def page(measured: dict[str, Any]) -> str:
    """The whole page."""
    parts = [HEAD.format(fresh=FRESH)]
    if "machine" in measured:
        said = measured["machine"]
        versions = ", ".join(
            f"{name} {number}" for name, number in sorted(said["versions"].items())
        )
        parts.append(
            f"Last measured on {said['date']}, {said['processor']}, {said['cores']} cores that"
            f" other programs shared: wall times are upper limits; {versions}.\n"
        )
    parts += [
        section(example, measured[example.name]) for example in EXAMPLES if example.name in measured
    ]
    if "thresholds" in measured:
        parts.append(threshold_section(measured["thresholds"]))
    return "\n".join(parts)


def section(example: Example, runs: list[dict[str, Any]]) -> str:
    """What happened with one example."""
    unit = runs[0]["unit"]
    met = sum(run["met"] for run in runs)
    lines = [
        f"## {example.title}\n", f"Criterion: {example.goal}. Met by {met} of {len(runs)} seeds.\n",
        "```", example.words, "```\n",
        f"| seed | {unit} | met | on fresh trials | s, wall | s, processor |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    lines += [
        f"| {run['seed']} | {run['amount']:,} | {'yes' if run['met'] else 'no'} |"
        f" {run['fresh']:.3f} | {run['wall']:.0f} | {run['cpu']:.0f} |"
        for run in runs
    ]
    lines += ["", f"Mean performance on the test trials, by {unit}:\n", *curves(runs), ""]
    return "\n".join(lines)


def curves(runs: list[dict[str, Any]], points: int = 9) -> list[str]:
    """A row per seed, about `points` columns."""
    longest = max((run["curve"] for run in runs), key=len)
    chosen = sorted({round(k) for k in np.linspace(0, len(longest) - 1, min(points, len(longest)))})
    lines = [
        "| seed | " + " | ".join(f"{longest[k][0]:,}" for k in chosen) + " |", "|---" * (len(chosen) + 1) + "|"
    ]  # fmt: skip
    for run in runs:
        cells = [f"{run['curve'][k][1]:.3f}" if k < len(run["curve"]) else "" for k in chosen]
        lines.append(f"| {run['seed']} | " + " | ".join(cells) + " |")
    return lines


def threshold_section(runs: list[dict[str, Any]]) -> str:
    """How thresholds fall."""
    lines = [
        "## Thresholds fall with training\n",
        (
            "Coherence (%) at which a network that learns random dots (`--model rnn --option"
            " learning_rate=0.0003`) answers 75 % correctly, from a Weibull function fitted to"
            " 4,000 fresh trials; – where it does so at no coherence yet.\n"
        ),
        "| seed | " + " | ".join(f"{count:,} updates" for count in CHECKPOINTS) + " | s, wall |",
        "|---" * (len(CHECKPOINTS) + 2) + "|",
    ]
    for run in runs:
        cells = ["–" if value is None else f"{value:.1f}" for value in run["thresholds"]]
        lines.append(f"| {run['seed']} | " + " | ".join(cells) + f" | {run['wall']:.0f} |")
    return "\n".join([*lines, ""])


@click.command()
@click.option(
    "--only",
    multiple=True,
    type=click.Choice([*(example.name for example in EXAMPLES), "thresholds"]),
)
@click.option(
    "--page", "page_only", is_flag=True, help="Train nothing; write the page from the last numbers."
)
def main(only: tuple[str, ...], page_only: bool) -> None:
    """Train the examples, and write docs/results.md."""
    import torch

    if page_only:
        PAGE.write_text(page(read()), encoding="utf-8")
        return
    torch.set_num_threads(1)  # networks of this size do not gain from more
    for example in EXAMPLES:
        if not only or example.name in only:
            runs = []
            for seed in example.seeds:
                runs.append(train(example, seed))
                print(
                    example.name,
                    {key: value for key, value in runs[-1].items() if key != "curve"},
                    flush=True,
                )
                keep(example.name, runs)
    if not only or "thresholds" in only:
        keep("thresholds", [thresholds(seed) for seed in THRESHOLD_SEEDS])
    print(f"Written: {PAGE}")


if __name__ == "__main__":
    main()
