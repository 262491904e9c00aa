"""Train the examples and write ``docs/results.md``: ``make train-examples``.

``python docs/_make/results.py`` trains all examples. With ``--only NAME`` it trains one, and takes
the numbers of the others from ``docs/_make/results.json``. With ``--page`` it trains none, and
writes the page from that file.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from markdown_parts import continued, table
from measured import experiment_of_words, keep, read, trained, when
from neurogym_behaviour import fit_psychometric
from neurogym_training.trainers import trainer_named

from neurogym_core import make_task

HERE = Path(__file__).resolve().parent
MEASURED, PAGE = HERE / "results.json", HERE.parent / "results.md"

SONG_2016 = "[Song et al. 2016](https://doi.org/10.1371/journal.pcbi.1004792)"
SONG_2017 = "[Song et al. 2017](https://doi.org/10.7554/eLife.21492)"
YANG_2019 = "[Yang et al. 2019](https://doi.org/10.1038/s41593-018-0310-2)"

TEN = ("Go", "RTGo", "DlyGo", "Anti", "RTAnti", "DlyAnti", "DM1", "DM2", "MultiDM", "DlyDM1")
FRESH = 2000
"""Number of new trials on which the trained networks and agents are tested."""


@dataclass(frozen=True)
class Example:
    """Training of one network or agent, repeated with several seeds.

    Attributes:
        goal: the criterion in words, with its source.
        words: the training as a command line.
        met: whether the record of the test trials meets the criterion.
        measured: measure on the record of new trials; the lowest of several tasks is reported.
    """

    name: str
    title: str
    goal: str
    words: str
    met: Callable[[Any], bool]
    measured: Callable[[Any], float]
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)


def correct(record: Any) -> float:
    """Return the fraction of all trials that are correct."""
    return float((record["outcome"] == "correct").mean())


def at_least(share: float) -> Callable[[Any], bool]:
    """Return a criterion: at least `share` of all trials are correct."""
    return lambda record: correct(record) >= share


def worst_pair(record: Any) -> float:
    """Return the fraction correct in the worst condition of parametric working memory."""
    pairs = [
        (*pair, larger)
        for pair, larger in zip(record["pair"].tolist(), record["larger"].tolist(), strict=True)
    ]
    right = record["outcome"] == "correct"
    return min(float(right[[pair == one for pair in pairs]].mean()) for one in set(pairs))


def worst_task(record: Any) -> float:
    """Return the mean performance in the worst of several tasks."""
    if "task" not in record:
        return float(record["performance"].mean())
    return min(
        float(record["performance"][record["task"] == one].mean())
        for one in np.unique(record["task"])
    )


def reliable(record: Any) -> bool:
    """Return whether 80 % of the answers are correct and 99 % of the trials are answered."""
    answered = np.isin(record["outcome"], ("correct", "error"))
    return answered.mean() >= 0.99 and (record["outcome"][answered] == "correct").mean() >= 0.8


SHOWN = {
    correct: "correct",
    worst_pair: "correct in the worst condition",
    worst_task: "performance in the worst task",
}
"""Names of the measures of new trials on the page."""

EXAMPLES = (
    Example(
        "perceptual", "Perceptual decision", f"85 % correct; {SONG_2016}",
        "ngym train PerceptualDecisionMaking-v0 --model rnn --set sigma=1.0 --updates 2000 --criterion 0.85 --out run",
        at_least(0.85), correct,
    ),
    Example(
        "context", "Context-dependent decision", f"90 % correct; {SONG_2016}",
        "ngym train ManteDecisionMaking-v0 --model rnn --set sigma=1.0 --updates 4000 --criterion 0.9 --out run",
        at_least(0.9), correct,
    ),
    Example(
        "multisensory", "Multisensory integration", f"90 % correct; {SONG_2016}",
        "ngym train MultiSensoryIntegration-v0 --model rnn --set sigma=1.0 --updates 2000 --criterion 0.9 --out run",
        at_least(0.9), correct,
    ),
    Example(
        "memory", "Parametric working memory",
        f"85 % correct in the worst condition (the command line: 96 % over all); {SONG_2016}",
        "ngym train DelayComparison-v0 --model rnn --updates 4000 --criterion 0.96 --out run",
        lambda record: worst_pair(record) >= 0.85, worst_pair,
    ),
    Example(
        "agent", "Random dots, an agent with an LSTM (PPO)",
        f"80 % of the answers correct, 99 % of the trials answered ({SONG_2017}), within 50,000 steps",
        "ngym train PerceptualDecisionMaking-v0 --algo recurrent-ppo --set coherences=0,12.8,25.6,51.2,102.4 "
        "--set sigma=1.0 --timing fixation=300 --timing stimulus=500 --timing decision=300 --steps 50000 "
        "--criterion 0.8 --out run",
        reliable, correct,
    ),
    Example(
        "ten-tasks", "Ten of the twenty tasks of Yang et al. in one network",
        f"each of them above 80 % correct, from the output on the last step as in {YANG_2019}; training stops at 84 % of "
        "400 test trials, because the best of many tests overestimates performance",
        f"ngym train {' '.join(f'yang19/{name}-v0' for name in TEN)} --model gru --set dt=100 --set rule_input=false "
        "--option loss=mse --option rest_weight=2 --option answers=last --option shares=1,1,1,1,1,1,3,3,2,1 "
        "--option learning_rate=0.002 --option test_every=250 --option test_trials=400 --updates 8000 --out run",
        lambda record: worst_task(record) > 0.84, worst_task, seeds=(0, 1),
    ),
)  # fmt: skip

CHECKPOINTS = (10, 25, 50, 200, 1600)
"""Numbers of updates after which the threshold is measured."""
THRESHOLD_SEEDS = (0, 1, 2)


# ---------------------------------------------------------------------- measuring


def train(example: Example, seed: int) -> dict[str, Any]:
    """Train once and return the results as plain values for JSON."""
    experiment = experiment_of_words(example.words, seed)
    trainer, facts = trained(experiment, example.met)
    fresh = [
        example.measured(trainer.play(FRESH, which=which, seed=1_000_000 + seed))
        for which in range(len(experiment.tasks))
    ]
    return {
        **facts, "amount": trainer.done,
        "fresh": round(min(fresh), 4), "curve": [[int(row[trainer.unit]), row["accuracy"]] for row in trainer.curve],
        "unit": trainer.unit,
    }  # fmt: skip


def thresholds(seed: int) -> dict[str, Any]:
    """Return the coherences with 75 % correct while a network learns random dots."""
    began = time.perf_counter()
    # A rate below the default slows learning down, so that the checkpoints show it.
    trainer = trainer_named("rnn")(
        make_task("PerceptualDecisionMaking-v0", sigma=1.0),
        seed=seed,
        test_every=200,
        learning_rate=3e-4,
    )
    found = []
    for updates in CHECKPOINTS:
        trainer.train(updates)
        fit = fit_psychometric(
            trainer.play(4000, seed=2_000_000 + seed), "coherence", interval=None
        )
        threshold = fit.threshold_at(0.75) if fit.guess < 0.75 < 1 - fit.lapse else np.inf
        found.append(round(threshold, 2) if threshold < max(trainer.tasks[0].coherences) else None)
    return {"seed": seed, "thresholds": found, "wall": round(time.perf_counter() - began, 1)}


def _keep(name: str, value: Any) -> None:
    """Store measurements and write the page, so that an interruption loses one run at most."""
    keep(MEASURED, {name: value})
    PAGE.write_text(page(read(MEASURED)), encoding="utf-8")


# ---------------------------------------------------------------------- the page


def page(measured: dict[str, Any]) -> str:
    """Return the page."""
    parts = [when(measured)]
    runs = measured["runs"]
    parts += [section(example, runs[example.name]) for example in EXAMPLES if example.name in runs]
    if "thresholds" in runs:
        parts.append(threshold_section(runs["thresholds"]))
    return continued(PAGE, "\n".join(parts))


def section(example: Example, runs: list[dict[str, Any]]) -> str:
    """Return the section of one example, with about nine points of each learning curve."""
    unit, met = runs[0]["unit"], sum(run["met"] for run in runs)
    shown = f"new trials: {SHOWN[example.measured]}"
    heads = ("seed", unit, "met", shown, "wall time (s)", "CPU time (s)")
    rows = [
        (
            f"{run['seed']}", f"{run['amount']:,}", "yes" if run["met"] else "no",
            f"{run['fresh']:.3f}", f"{run['wall']:.0f}", f"{run['cpu']:.0f}",
        )
        for run in runs
    ]  # fmt: skip
    longest = max((run["curve"] for run in runs), key=len)
    chosen = sorted({round(k) for k in np.linspace(0, len(longest) - 1, min(9, len(longest)))})
    tests = [
        [f"{run['curve'][k][1]:.3f}" if k < len(run["curve"]) else "" for k in chosen]
        for run in runs
    ]
    parts = [
        f"## {example.title}",
        f"Criterion: {example.goal}. Met by {met} of {len(runs)} seeds.",
        f"```\n{example.words}\n```",
        table(heads, rows),
        f"Mean performance on the test trials, by {unit}:",
        table(
            ("seed", *(f"{longest[k][0]:,}" for k in chosen)),
            [(f"{run['seed']}", *cells) for run, cells in zip(runs, tests, strict=True)],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def threshold_section(runs: list[dict[str, Any]]) -> str:
    """Return the section on psychometric thresholds during training."""
    heads = ("seed", *(f"{count:,} updates" for count in CHECKPOINTS), "wall time (s)")
    rows = []
    for run in runs:
        cells = ["–" if value is None else f"{value:.1f}" for value in run["thresholds"]]
        rows.append((f"{run['seed']}", *cells, f"{run['wall']:.0f}"))
    return (
        "## Thresholds fall with training\n\nCoherence (%) at which a network that learns random dots"
        " (`--model rnn --option learning_rate=0.0003`) is 75 % correct, from a Weibull function"
        " fitted to 4,000 new trials. – means that it does not reach 75 % at any coherence.\n\n"
        + table(heads, rows)
    )


@click.command()
@click.option(
    "--only",
    multiple=True,
    type=click.Choice([*(example.name for example in EXAMPLES), "thresholds"]),
)
@click.option(
    "--page",
    "page_only",
    is_flag=True,
    help="Write the page from the stored numbers, without training.",
)
def main(only: tuple[str, ...], page_only: bool) -> None:
    """Train the examples and write docs/results.md."""
    import torch

    if page_only:
        PAGE.write_text(page(read(MEASURED)), encoding="utf-8")
        return
    torch.set_num_threads(1)  # more threads do not speed up networks of this size
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
                _keep(example.name, runs)
    if not only or "thresholds" in only:
        _keep("thresholds", [thresholds(seed) for seed in THRESHOLD_SEEDS])
    print(f"Written: {PAGE}")


if __name__ == "__main__":
    main()
