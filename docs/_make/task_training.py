"""Sections of a task's page about training: code for networks and agents, and trained networks.

The code is executed while the page is made, with few updates or steps. The results come from
`gallery-results.json`, which `make train-gallery` writes."""

from __future__ import annotations

import contextlib
import functools
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markdown_parts import console, table

from neurogym_core.canvas import INK, TEXT, Box, cycle_colour, new_figure
from neurogym_core.ecosystem.records import TaskInfo

GALLERY = Path(__file__).resolve().parent / "gallery-results.json"

TORCH = """import torch
from neurogym_torch import GRU, NetworkSubject, TorchDataset, masked_loss

from neurogym_core import run

data = TorchDataset("{task}", batch_size={batch}, seed=0)
network = GRU(data.n_inputs, data.n_outputs, hidden=64, seed=0)
optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
for batch, _ in zip(data, range({updates})):
    outputs, hidden = network(batch.inputs)
    loss = masked_loss(outputs, batch.targets, batch.weights)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
record = run(data.task, NetworkSubject(network), {trials}, seed=1)
print(record["performance"].mean())"""
REWARD = """from neurogym_sb3 import AgentSubject, SB3VecEnv
from sb3_contrib import RecurrentPPO

from neurogym_core import run

env = SB3VecEnv("{task}", num_envs=16, seed=0)
agent = RecurrentPPO("MlpLstmPolicy", env, n_steps={rollout}, seed=0, device="cpu")
agent.learn({steps})
record = run("{task}", AgentSubject(agent), {trials}, seed=1)
print(record["performance"].mean())"""
FULL = {"batch": 64, "updates": 1000, "trials": 500, "rollout": 128, "steps": 100_000}
SHORT = {"batch": 4, "updates": 2, "trials": 5, "rollout": 8, "steps": 128}


def training(info: TaskInfo, described: Mapping[str, Any]) -> list[str]:
    """Return the code that trains a network and an agent, and the command lines.

    Raises:
        Exception: the shortened code fails.
    """
    parts = []
    if described.get("supervised"):
        parts += ["A network is trained on targets:", _code(TORCH, info)]
    parts += ["An agent is trained on rewards:", _code(REWARD, info)]
    lines = [f"ngym train {info.id} --model gru --updates 1000"] if len(parts) > 2 else []
    lines += [f"ngym train {info.id} --algo recurrent-ppo --steps 100000"]
    lines = [f"$ {line} --out run" for line in lines[:1]] + [
        f"$ {line} --out agent" for line in lines[1:]
    ]
    report = f"$ ngym evaluate {lines[0].split()[-1]}"
    return [*parts, "The same on the command line, with a report of the behaviour:",
            console([*lines, report])]  # fmt: skip


def _code(template: str, info: TaskInfo) -> str:
    """Return the code of a page, after its shortened form has been executed."""
    code = template.format(task=info.id, **SHORT)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        exec(compile(code, "<training>", "exec"), {})
    return f"```python\n{template.format(task=info.id, **FULL)}\n```"


# ---- trained networks ----------------------------------------------------------------------------


def trained(info: TaskInfo, folder: Path) -> list[str]:
    """Return the results of the gallery for a task, and draw its learning curves into a folder."""
    runs = _gallery().get(info.id, {})
    if not runs:
        return []
    name = f"{info.name}-training.png"
    _curves(runs).savefig(folder / name, dpi=110)
    heads = ("network", "seeds", "length", "final performance", "seconds of CPU per run")
    rows = [
        (
            f"`{trainer}`",
            str(len(group)),
            f"{max(one['done'] for one in group):,} {group[0]['unit']}",
            ", ".join(f"{one['final']:.2f}" for one in sorted(group, key=lambda one: one["seed"])),
            f"{sum(one['cpu'] for one in group) / len(group):.0f}",
        )
        for trainer, group in runs.items()
    ]
    return [
        "## Trained networks",
        f"![Performance of networks during training on {info.title}]({name})",
        table(heads, rows),
        "[All tasks](../../docs/gallery-results.md) are trained in the same way, with the default"
        " settings of the task.",
    ]


@functools.cache
def _gallery() -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Return the runs of the gallery: task -> trainer -> runs."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    if GALLERY.is_file():
        for one in json.loads(GALLERY.read_text("utf-8"))["runs"].values():
            found.setdefault(one["task"], {}).setdefault(one["trainer"], []).append(one)
    return found


def _curves(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> Any:
    """Return a panel for each unit (updates or steps), with a curve for each run."""
    units = list(dict.fromkeys(group[0]["unit"] for group in runs.values()))
    width, height = 3.6 * len(units), 2.5
    figure = new_figure(width, height)
    for column, unit in enumerate(units):
        box = Box(figure, 3.6 * column, 0, 3.6, height)
        axes = box.axes(0.6, 0.5, 2.7, height - 0.75)
        for index, (trainer, group) in enumerate(runs.items()):
            if group[0]["unit"] == unit:
                for number, one in enumerate(group):
                    x, y = zip(*one["curve"], strict=True)
                    label = trainer if number == 0 else None
                    axes.plot(x, y, lw=1.2, color=cycle_colour(index), label=label)
        axes.set_ylim(-0.03, 1.03)
        axes.set_xlabel(unit, fontsize=TEXT, color=INK)
        axes.set_ylabel("performance", fontsize=TEXT, color=INK)
        axes.legend(frameon=False, fontsize=TEXT, loc="lower right")
    return figure
