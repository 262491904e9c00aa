"""Sections of a task's page about training: code for networks and agents, and trained networks.

The code has the settings of `train_gallery`, which trains the same network or agent in full. A test
executes it with few updates or steps, since the site is built without torch. The results come from
`gallery-results.json`, which `make train-gallery` writes."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import train_gallery
from markdown_parts import console, table
from neurogym_behaviour import (
    Behaviour,
    ProportionRow,
    Roles,
    fit_curve,
    learning_curve_figure,
    psychometric_figure,
    wilson_interval,
)
from neurogym_behaviour.analyses import (
    PsychometricFunction,
    between_choices,
    psychometric_function,
)
from neurogym_behaviour.behaviour import CannotTellError, with_declared
from task_context import OBSERVER, OBSERVER_TRIALS, OBSERVERS

from neurogym_core import InvalidValueError, NeurogymError, make_task, run
from neurogym_core.tools import TaskInfo

GALLERY = Path(__file__).resolve().parent / "gallery-results.json"
TORCH = """import torch
from neurogym_torch import GRU, NetworkSubject, TorchDataset, balanced_weights, masked_loss

from neurogym_core import run

data = TorchDataset("{task}", batch_size={batch}, seed=0, split="train")
network = GRU(data.n_inputs, data.n_outputs, hidden={hidden}, seed=0)
optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
for batch, _ in zip(data, range({updates})):
    outputs, hidden = network(batch.inputs)
    weights = balanced_weights(batch.targets, batch.weights, data.task.actions.rest)
    loss = masked_loss(outputs, batch.targets, weights)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimizer.step()
print(run(data.task, NetworkSubject(network), {trials}, seed=1)["performance"].mean())"""
REWARD = """from neurogym_sb3 import AgentSubject, SB3VecEnv
from sb3_contrib import RecurrentPPO

from neurogym_core import run

wrap = {wrap}
env = SB3VecEnv("{task}", num_envs=16, wrap=wrap, split="train")
agent = RecurrentPPO(
    "MlpLstmPolicy", env, n_steps={rollout}, batch_size={minibatch}, n_epochs=10,
    learning_rate=3e-3, gae_lambda=0.85, ent_coef=0.01, seed=0, device="cpu",
    policy_kwargs={{"lstm_hidden_size": {hidden}, "net_arch": []}},
)
agent.learn({steps})
record = run("{task}", AgentSubject(agent), {trials}, seed=1, wrap=wrap)
print(record["performance"].mean())"""
FULL = {
    "hidden": train_gallery.HIDDEN,
    "updates": 1000,
    "trials": train_gallery.FRESH,
    "rollout": 128,
    "minibatch": 512,
    "steps": 50_000,
    "wrap": str(list(train_gallery.FEEDBACK)).replace("'", '"'),
}


def training(info: TaskInfo, described: Mapping[str, Any]) -> list[str]:
    """Return the code that trains a network and an agent, and the command lines."""
    by_gallery = results_of(info)
    parts, lines, report = [], [], "agent"
    hidden = f"--option hidden={FULL['hidden']}"
    if described.get("supervised"):
        batch = train_gallery.BATCH
        text = "A network is trained on targets."
        if "gru" in by_gallery:
            text += _in_full(
                f"at most {train_gallery.UPDATES:,} updates, with a learning rate that falls"
            )
        parts += [text, _code(TORCH, info, batch)]
        lines = [f"$ ngym train {info.id} --model gru --updates {FULL['updates']} --batch {batch}"
                 f" {hidden} --out run"]  # fmt: skip
        report = "run"
    text = "An agent is trained on rewards, and observes its last action and reward."
    if train_gallery.AGENTS[0] in by_gallery:
        text += _in_full(f"at most {train_gallery.STEPS:,} steps")
    elif by_gallery:
        text += " The gallery trains no agent on this task, since a network learns it from targets."
    parts += [text, _code(REWARD, info)]
    lines += [f"$ ngym train {info.id} --algo recurrent-ppo --steps {FULL['steps']} --pass-reward"
              " --pass-action --out agent"]  # fmt: skip
    return [*parts, "The same on the command line, with a report of the behaviour:",
            console([*lines, f"$ ngym evaluate {report}"])]  # fmt: skip


def _in_full(budget: str) -> str:
    """Return the sentence about the training that the code shows."""
    return (
        " [`make train-gallery`](../../docs/gallery-results.md) trains it with these settings, from"
        f" three seeds, for {budget}. A test executes the code with less training."
    )


def _code(template: str, info: TaskInfo, batch: int = 0) -> str:
    """Return the code of a page."""
    return f"```python\n{template.format(task=info.id, batch=batch, **FULL)}\n```"


# ---- trained networks ----------------------------------------------------------------------------


def trained(info: TaskInfo, folder: Path) -> list[str]:
    """Return the results of the gallery for a task, and draw its figures into a folder.

    The figures are learning curves, one per network, and, where the task has one, the psychometric
    function of the networks beside that of the ideal observer, or else of the oracle.
    """
    runs = results_of(info)
    if not runs:
        return []
    heads = (
        "network",
        "seeds",
        "length",
        "performance",
        "share [95 %]",
        "CPU (s)",
        "wall time (s)",
    )
    rows = [
        (
            f"`{trainer}`",
            ", ".join(str(one["seed"]) for one in group),
            f"{max(one['done'] for one in group):,} {group[0]['unit']}",
            ", ".join(f"{one['final']:.2f}" for one in group),
            _share(info, group),
            _mean_of("cpu", group),
            _mean_of("wall", group),
        )
        for trainer, group in runs.items()
    ]
    curves = [_curves(info, trainer, group, folder) for trainer, group in runs.items()]
    function = _function(info, runs, folder)
    return [
        "## Trained networks",
        "[The gallery](../../docs/gallery-results.md) trains all tasks in the same way, with their"
        f" default settings, and says of this one: {judged(info)}. Each network then plays new"
        " trials. The share is that of the way from the best shortcut to the ideal. Times are those"
        " of one seed, on cores that other programs used too.",
        table(heads, rows),
        *curves,
        *function,
    ]


def _share(info: TaskInfo, runs: Sequence[Mapping[str, Any]]) -> str:
    share = train_gallery.share_of(info, [one["final"] for one in runs])
    return "–" if share is None else f"{share.mean:.2f} [{share.low:.2f}, {share.high:.2f}]"


def _mean_of(name: str, runs: Sequence[Mapping[str, Any]]) -> str:
    known = [one[name] for one in runs if name in one]
    return f"{sum(known) / len(known):.0f}" if known else "–"


@functools.cache
def _gallery() -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Return the runs of the gallery: task -> trainer -> runs, by seed."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    if GALLERY.is_file():
        runs = json.loads(GALLERY.read_text("utf-8"))["runs"].values()
        for one in sorted(runs, key=lambda run: run["seed"]):
            found.setdefault(one["task"], {}).setdefault(one["trainer"], []).append(one)
    return {task: dict(sorted(trainers.items())) for task, trainers in found.items()}


def results_of(info: TaskInfo) -> dict[str, list[dict[str, Any]]]:
    """Return the runs of the gallery on a task: trainer -> runs, by seed."""
    return _gallery().get(info.id, {})


def judged(info: TaskInfo) -> str:
    """Return the verdict of the gallery on a task, see `train_gallery.VERDICTS`."""
    runs = [one for group in results_of(info).values() for one in group]
    return train_gallery.verdict(info, runs)


def _curves(info: TaskInfo, trainer: str, runs: Sequence[Mapping[str, Any]], folder: Path) -> str:
    """Draw the learning curves of a network's seeds, and return the picture."""
    made = learning_curve_figure(
        {f"seed {one['seed']}": tuple(zip(*one["curve"], strict=True)) for one in runs},
        xlabel=runs[0]["unit"],
        chance=info.chance,
        title=trainer,
    )
    made.axes[0].set_ylim(-0.03, 1.03)
    name = f"{info.name}-{trainer}-training.png"
    made.savefig(folder / name, dpi=110)
    return f"![Performance of {trainer} during training on {info.title}]({name})"


# ---- psychometric functions ----------------------------------------------------------------------


def _function(
    info: TaskInfo, runs: Mapping[str, Sequence[Mapping[str, Any]]], folder: Path
) -> list[str]:
    """Draw the psychometric functions of the networks and of the ideal observer, if there are any.

    Only networks whose function has the strength and the kind of the observer's are drawn.
    """
    if not any(one.get("psychometric") for group in runs.values() for one in group):
        return []  # always so in plain Gymnasium envs, which have no record
    task = make_task(info.id)
    subject, _, observed = observe(info.id)
    if observed is None:
        return []
    rows = {
        f"{trainer} ({len(known)} seed{'s' * (len(known) > 1)})": pooled(known)
        for trainer, group in runs.items()
        if (known := known_points(group, observed))
    }
    if not rows:
        return []
    guess = "symmetric" if observed.kind == "choice" else 1 / Roles.of_task(task).choices
    fits = {name: _fit(points, observed.kind, guess) for name, points in rows.items()}
    made = psychometric_figure(
        {**rows, subject: observed.rows},
        {**fits, subject: observed.fit},
        xlabel=observed.xlabel,
        ylabel=observed.ylabel,
    )
    name = f"{info.name}-psychometric.png"
    made.savefig(folder / name, dpi=110)
    who = f"the ideal observer (`{subject}`)"
    if subject == "oracle":
        who = "the oracle, which knows the answers"
    return [
        f"Psychometric functions of the trained networks, in new trials, and of {who}; points have"
        " 95 % intervals:",
        f"![Psychometric functions of trained networks and of {subject} in {info.title}]({name})",
    ]


def known_points(
    runs: Sequence[Mapping[str, Any]], like: PsychometricFunction
) -> list[Sequence[Sequence[float]]]:
    """Return the points of the seeds of a network whose function has this strength and kind."""
    found = [one["psychometric"] for one in runs if one.get("psychometric")]
    kind = (like.kind, like.strength)
    return [one["points"] for one in found if (one["kind"], one["strength"]) == kind]


@functools.lru_cache(maxsize=1)
def observe(name: str) -> tuple[str, Behaviour | None, PsychometricFunction | None]:
    """Return the ideal observer, or else the oracle, its behaviour and its psychometric function.

    Args:
        name: id of the task.
    """
    task = make_task(name)
    for subject in (OBSERVERS.get(name.partition("/")[2], OBSERVER), "oracle"):
        try:
            record = with_declared(run(task, subject, OBSERVER_TRIALS, seed=0), task)
            behaviour = between_choices(Behaviour(record, Roles.of_task(task)))
            return subject, behaviour, psychometric_function(behaviour, interval=None)
        except (CannotTellError, NeurogymError):
            continue
    return "", None, None


def pooled(seeds: Sequence[Sequence[Sequence[float]]]) -> list[ProportionRow]:
    """Return the points of all seeds together.

    Bins of a continuous strength have other medians in other trials: they are pooled by rank.
    """
    if len({len(points) for points in seeds}) == 1:
        groups = [list(same) for same in zip(*seeds, strict=True)]
    else:
        values = sorted({point[0] for points in seeds for point in points})
        groups = [[one for points in seeds for one in points if one[0] == x] for x in values]
    rows = []
    for group in groups:
        x, k, n = zip(*group, strict=True)
        low, high = wilson_interval(sum(k), sum(n))
        mean = sum(x) / len(x)
        rows.append(ProportionRow(mean, sum(k), sum(n), sum(k) / sum(n), low, high, 0, 0))
    return rows


def _fit(rows: Sequence[ProportionRow], kind: str, guess: Any) -> Any:
    """Return the curve through points; None if it has too few of them."""
    x, k, n = zip(*((row.value, row.k, row.n) for row in rows), strict=True)
    shape = "logistic" if kind == "choice" else "weibull"
    try:
        return fit_curve(x, k, n, shape=shape, guess=guess, interval=None)
    except InvalidValueError:
        return None
