"""Write ``docs/wrappers/*.md`` and their pictures: ``python docs/_make/wrapper_pages.py``.

The description and the settings of a wrapper come from its class, its title and former names from
the manifest; the examples are in this file. The pictures are small SVGs: a trial, or the coming
trials, before and after."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from neurogym_core import TaskWrapper, make_task, make_vec, run
from neurogym_core.ecosystem.discovery import find_wrapper, load_wrapper
from neurogym_core.ecosystem.records import WrapperInfo
from neurogym_core.plots import TrialTrace, trace_of

DOCS = Path(__file__).resolve().parents[1]
PAGES, PICTURES = DOCS / "wrappers", DOCS / "images" / "wrappers"
DOTS, NOGO, THREE = (
    "perceptual/PerceptualDecisionMaking-v0",
    "control/GoNogo-v0",
    "perceptual/NAltPerceptualDecisionMaking-v0",
)
LONG = {"timing": {"delay": 2500}}


@dataclass(frozen=True)
class Example:
    """Example of a page.

    Attributes:
        wrap: settings of the wrapper in Python.
        line: the same wrapper and settings on the command line.
        code: the end of the snippet, which prints from `record`, the record of a run.
        task, params: the wrapped task and its parameters.
        trials: names of conditions whose values in many trials are drawn; (): one trial is drawn.
        subject: name of the subject.
        conditions: conditions imposed on the trial that is drawn.
        note: a paragraph at the end of the page.
        picture: whether a picture can show the effect.
    """

    wrap: dict[str, Any]
    line: str
    code: str
    task: str = DOTS
    params: dict[str, Any] = field(default_factory=dict)
    trials: tuple[str, ...] = ()
    subject: str = "oracle"
    conditions: dict[str, Any] = field(default_factory=lambda: {"direction": 1, "coherence": 51.2})
    note: str = ""
    picture: bool = True


EXAMPLES = {
    "ReactionTime": Example(
        {"urgency": -0.01},
        "reaction_time:urgency=-0.01",
        'print(record["reaction_time"][:5], record["steps"][:5])',
    ),
    "Noise": Example(
        {"sigma": 3.0, "noisy_channels": ("stimulus",)},
        "noise:sigma=3,noisy_channels=stimulus",
        'print(record["performance"].mean() < 0.9)',
        subject="integrator",
    ),
    "AdaptiveNoise": Example(
        {"target_performance": 0.75, "sigma_step": 1.0, "window": 20},
        "adaptive_noise:target_performance=0.75,sigma_step=1,window=20",
        'print(record["noise"].max() > 0)',
        trials=("noise",),
        note="The trials of a task with adaptive noise are built one by one, so that it plays more "
        "slowly. A `Dataset` has the noise "
        "that the performance of the oracle leads to.",
    ),
    "Schedule": Example(
        {"blocks": ({"coherence": 51.2}, {"coherence": (0, 6.4)}), "block_length": 10},
        "schedule:blocks=[{coherence=51.2},{coherence=[0,6.4]}],block_length=10",
        'print(record["block"][:40:10])',
        trials=("coherence",),
        note="Its presets are `SideBias`, `AnswerProbabilities`, `VariableChoices` and"
        " `AdaptiveNoise`. Around a `Mixture`, blocks "
        'can set the task: `{"task": "GoNogo"}`.',
    ),
    "SideBias": Example(
        {"probs": 0.8, "block_length": {"uniform": [20, 40]}},
        "side_bias:probs=0.8,block_length=uniform(20,40)",
        'print(record["block"][0] in (0, 1))',
        trials=("direction",),
    ),
    "AnswerProbabilities": Example(
        {"probs": (0.9, 0.1)},
        "answer_probabilities:probs=0.9,0.1",
        'print(record["direction"].mean() < 0.2)',
        trials=("direction",),
    ),
    "VariableChoices": Example(
        {"n_choices": (2, 4), "block_length": 20},
        "variable_choices:n_choices=2,4,block_length=20",
        'print(sorted(set(record["n_choices"].tolist())))',
        THREE,
        {"alternatives": 4},
        trials=("strongest",),
        note="The stimuli of the other choices are still shown. To hide them, use a parameter of"
        " the task, such as `fewest=` of "
        "NAltPerceptualDecisionMaking.",
    ),
    "TrialHistory": Example(
        {"probs": 0.8, "contexts": ("repeating", "alternating"), "block_length": 30},
        "trial_history:probs=0.8,contexts=repeating,alternating,block_length=30",
        'print(record["history"][29] != record["history"][30])',
        trials=("direction",),
    ),
    "EvolvingHistory": Example(
        {"probs": 0.9, "renewal_rate": 0.02, "block_length": 20},
        "evolving_history:probs=0.9,renewal_rate=0.02,block_length=20",
        'print(record["generation"].max() > 0)',
        trials=("direction",),
    ),
    "CatchTrials": Example(
        {"probability": 0.2, "reward": 0.0},
        "catch_trials:probability=0.2,reward=0",
        'print(set(record["reward"][record["catch"]].tolist()))',
        conditions={"direction": 1, "coherence": 51.2, "catch": True},
    ),
    "MissPenalty": Example(
        {"reward": -1.0},
        "miss_penalty:reward=-1",
        'print(record["reward"][:5])',
        subject="rest",
    ),
    "TimeOut": Example(
        {"duration": 1000},
        "time_out:duration=1000",
        'print(set(record["outcome"][record["steps"] > 30].tolist()))',
        subject="guess",
    ),
    "VariableMapping": Example(
        {"block_length": 20, "hazard_rate": 0.1},
        "variable_mapping:block_length=20,hazard_rate=0.1",
        'expected = record["mapping"][range(len(record)), record["direction"]]\n'
        'print((record["choice"] == expected).all())',
        conditions={"direction": 1, "coherence": 51.2, "mapping": [1, 0]},
        note="To change the *set* of stimuli, put a `VariableChoices` around it.",
    ),
    "Mixture": Example(
        {"other_tasks": (NOGO,)},
        f'mixture:other_tasks=["{NOGO}"]',
        'print(sorted(set(record["task"].tolist())))',
        conditions={"task": "GoNogo"},
        note='For NeuroGym\'s `ScheduleEnvs` give `order="sequence"`, or `order="random"` with'
        " `block_length=`. To give a task "
        'settings, write a mapping: `{"task": "control/GoNogo-v0", "timing": {"delay": 0}}`.',
    ),
    "Transfer": Example(
        {"other_tasks": (NOGO,), "block_lengths": (30,)},
        f'transfer:other_tasks=["{NOGO}"],block_lengths=30',
        'print(record["task"][29], record["task"][30])',
        conditions={"task": "GoNogo"},
    ),
    "Curriculum": Example(
        {
            "stages": ({"conditions": {"coherence": 51.2}}, {"timing": {"delay": 500}}),
            "advance_at": 0.7,
            "window": 20,
        },
        "curriculum:stages=[{conditions={coherence=51.2}},{timing={delay=500}}],advance_at=0.7,"
        "window=20",
        'print(sorted(set(record["stage"].tolist())))',
        trials=("stage",),
        note="The shaping of a delayed-response task (after Inagaki et al. 2019) as data: easy"
        " stimuli and no delay, then "
        "delays that grow, then all coherences:\n\n"
        "```python\nSHAPING = (\n"
        '    {"conditions": {"coherence": 51.2}, "timing": {"delay": 0},'
        ' "rewards": {"error": 0.0}},\n'
        '    {"conditions": {"coherence": 51.2}, "timing": {"delay": 500},'
        ' "rewards": {"error": -1.0}},\n'
        '    {"conditions": {"coherence": 51.2}, "timing": {"delay": 1000},'
        ' "rewards": {"error": -1.0}},\n'
        ")\n"
        'task = make_task("'
        + DOTS
        + '", wrap=("Curriculum", {"stages": SHAPING, "advance_at": 0.7, "window": 20}))\n'
        "print(len(task.tasks))\n```\n```text\n4\n```",
    ),
    "Combine": Example(
        {
            "distractor": {
                "task": NOGO,
                "timing": {"fixation": 100, "stimulus": 300, "delay": 300},
            },
            "onset": 2600,
        },
        f'combine:distractor={{task="{NOGO}",timing={{fixation=100,stimulus=300,delay=300}}}},'
        "onset=2600",
        'print([name for name in record.columns if name.endswith("outcome")])',
        params=LONG,
        note="With `share_actions=False` the distractor gets separate actions.",
    ),
    "PassAction": Example({}, "pass_action", 'print(record["performance"].mean())'),
    "PassReward": Example({}, "pass_reward", 'print(record["performance"].mean())'),
    "RecordTrials": Example(
        {"file": "trials.csv"},
        "record_trials:file=again.csv",
        'from neurogym_study import read_csv\nprint(len(read_csv("trials.csv")) >= 100)',
        picture=False,
    ),
    "TTLPulse": Example(
        {"periods": (("stimulus",), ("decision",))},
        'ttl_pulse:periods=[["stimulus"],["decision"]]',
        'from neurogym_core import make\nenv = make("' + DOTS + '", wrap=wrap)\n'
        'print(env.reset(seed=0)[1]["signal_0"], [env.step(0)[4]["signal_0"] for _ in range(6)])',
        picture=False,
    ),
    "Monitor": Example(
        {"every": 50}, "monitor:every=50", 'print(record["performance"].mean())', picture=False
    ),
}


MADE = "Made by docs/_make/wrapper_pages.py from the class and the manifest: do not edit it here."
"""A note for developers, which readers of the page do not see."""

# ---- pages ---------------------------------------------------------------------------------------


def page_of(name: str) -> str:
    """Return the page of a wrapper."""
    info, wrapper, example = find_wrapper(name), load_wrapper(name), EXAMPLES[name]
    kind = "task" if issubclass(wrapper, TaskWrapper) else "env"
    parts = [
        f"# {info.title}",
        f"<!-- {MADE} -->",
        f"`{info.id}`, a wrapper of {kind}s. {info.summary}{_source(info)}",
        *(
            [f"![A trial before and after {info.title}](../images/wrappers/{stem_of(name)}.svg)"]
            if example.picture
            else []
        ),
        _snippet(name, example),
        (
            f"```console\n$ ngym run {example.task}{_options(example)} --wrap '{example.line}'"
            " --n-trials 3\n```"
        ),
        *_description(wrapper),
        *([example.note] if example.note else []),
        *_former(info),
        "[All wrappers](../assemble-a-task.md) · [Write a wrapper](../write-a-wrapper.md)",
    ]
    return "\n\n".join(parts) + "\n"


def _source(info: WrapperInfo) -> str:
    if info.namespace == "core":
        return ""
    return f" It is part of the package `{info.distribution}`."


def stem_of(name: str) -> str:
    """Return the file name of the page of a wrapper, without its suffix."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def _options(example: Example) -> str:
    timing = "".join(
        f" --timing {name}={ms}" for name, ms in example.params.get("timing", {}).items()
    )
    return timing + "".join(
        f" --set {name}={value}" for name, value in example.params.items() if name != "timing"
    )


def _snippet(name: str, example: Example) -> str:
    params = "".join(f", {key}={value!r}" for key, value in example.params.items())
    wrap = f"({name!r}, {_written(example.wrap)})" if example.wrap else repr(name)
    lines = example.code.splitlines()
    taken = {"run", *(["make_task"] if "make_task" in example.note else [])}
    imports = [line for line in lines if line.startswith("from ")]
    own = [line for line in imports if line.startswith("from neurogym_core import ")]
    others = [line for line in imports if line not in own]
    taken |= {line.rpartition(" ")[2] for line in own}
    names = sorted(taken, key=lambda name: (name.islower(), name))
    code = "\n".join(
        [
            f"from neurogym_core import {', '.join(names)}",
            *others,
            "",
            f"wrap = {wrap}",
            f'record = run("{example.task}", "{example.subject}", 100,'
            f" num_envs=1, seed=0, wrap=wrap{params})",
            *(line for line in lines if line not in imports),
        ]
    )
    code = code.replace("'", '"')
    return f"```python\n{code}\n```\n```text\n{_output(code)}```"


def _written(value: Any) -> str:
    return repr(value)


def _output(code: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        exec(code, {})
    Path("trials.csv").unlink(missing_ok=True)
    return printed.getvalue()


def _description(wrapper: type) -> list[str]:
    """Return the sections of the docstring, with its lists as tables."""
    text = inspect.getdoc(wrapper) or ""
    prose, *sections = re.split(r"^(Args|Raises):\n", text, flags=re.MULTILINE)
    parts = ["## Description", prose.strip().replace("``", "`")]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        heading = {"Args": "## Settings", "Raises": "## Errors"}[title]
        rows = [row for row in _rows(body) if row[0] != "env"]
        if rows:
            parts += [
                heading,
                (
                    _table(("error", "when"), rows)
                    if title == "Raises"
                    else _table(("setting", "meaning"), _with_defaults(rows, wrapper))
                ),
            ]
    return parts


def _rows(body: str) -> list[tuple[str, str]]:
    lines = textwrap.dedent(body).strip().splitlines()
    entries: list[list[str]] = []
    for line in lines:
        if line.startswith(" "):
            entries[-1][1] += f" {line.strip()}"
        else:
            name, _, said = line.partition(": ")
            entries.append([name, said])
    return [(name, said.replace("``", "`")) for name, said in entries]


def _with_defaults(rows: Sequence[tuple[str, str]], wrapper: type) -> list[tuple[str, str]]:
    known = inspect.signature(wrapper).parameters
    return [
        (
            ", ".join(
                f"`{one} = {known[one].default!r}`" if one in known else f"`{one}`"
                for one in name.split(", ")
            ),
            said,
        )
        for name, said in rows
    ]


def _table(head: tuple[str, str], rows: Sequence[tuple[str, str]]) -> str:
    lines = [
        f"| {head[0]} | {head[1]} |",
        "|---|---|",
        *(f"| {name} | {said.replace('|', chr(92) + '|')} |" for name, said in rows),
    ]
    return "\n".join(lines)


def _former(info: WrapperInfo) -> list[str]:
    if not info.aliases:
        return []
    rows = [
        (f"`{name}`", f"`{info.presets[name]}`" if name in info.presets else "")
        for name in info.aliases
    ]
    return ["## Former names", _table(("former name", "settings here"), rows)]


# ---- pictures ------------------------------------------------------------------------------------

WIDTH, LEFT, ROW, GAP = 400, 90, 26, 8
BETWEEN = 24
"""Space between the two panels of a picture."""
SMOOTHED = 20
"""Trials whose mean is drawn as a line."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def picture_of(name: str) -> str:
    """Return the SVG of a wrapper: before on the left, after on the right."""
    wrapper, example = load_wrapper(name), EXAMPLES[name]
    if example.trials:
        panels = [
            _trials_panel(title, *drawn)
            for title, drawn in zip(("before", "after"), _drawn(name, example), strict=True)
        ]
    elif issubclass(wrapper, TaskWrapper):
        panels = [
            _trial_panel("before", _trace(example, ())),
            _trial_panel("after", _trace(example, [(name, example.wrap)])),
        ]
    else:
        panels = [
            _trial_panel("before", _env_trace(example, ())),
            _trial_panel("after", _env_trace(example, [(name, example.wrap)])),
        ]
    parts = [
        f'<g transform="translate({number * (WIDTH + BETWEEN)} 4)">{panel}</g>'
        for number, (panel, _) in enumerate(panels)
    ]
    width, height = 2 * WIDTH + BETWEEN, 14 + max(tall for _, tall in panels)
    style = "text{font:11px sans-serif;fill:#222}.p{fill:#777}.h{font-weight:bold}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0'
        f' {width} {height}">'
        f"<style>{style}</style>{''.join(parts)}</svg>\n"
    )


def _trace(example: Example, wrap: Any) -> TrialTrace:
    task = make_task(example.task, wrap=wrap, **example.params)
    known = {name: value for name, value in example.conditions.items() if name in task.conditions}
    subject = "late_oracle" if example.subject == "oracle" else example.subject
    return trace_of(task, subject, 4, known)


def _env_trace(example: Example, wrap: Any) -> TrialTrace:
    """Return a trial of an env, with the additions of its wrappers."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        wrap = [
            (name, {**settings, **({"file": f"{folder}/t.csv"} if "file" in settings else {})})
            for name, settings in wrap
        ]
        env = make_vec(
            example.task, 1, wrap=wrap, seed=4, autoreset_mode="SameStep", **example.params
        )
        observation, _ = env.reset(seed=4, options={"conditions": example.conditions})
        task = env.unwrapped.task
        seen: dict[str, list] = {
            "observations": [],
            "actions": [],
            "rewards": [],
            "targets": [],
            "periods": [],
        }
        ended = False
        while not ended:
            action = np.where(env.unwrapped.can_wait, 0, env.unwrapped.target)
            values = (observation[0], action[0])
            observation, reward, *_, info = env.step(action)
            for column, value in zip(
                seen.values(), (*values, reward[0], info["gt"][0], info["period"][0]), strict=True
            ):
                column.append(value)
            ended = bool(info["new_trial"][0])
    size = task.channels.size
    more = len(seen["observations"][0]) - size
    channels = {**dict(task.channels), **({"appended": slice(size, size + more)} if more else {})}
    return TrialTrace(
        observations=np.stack(seen["observations"]),
        channels=channels,
        periods=_runs(seen["periods"]),
        dt=task.dt,
        targets=np.stack(seen["targets"]),
        actions=np.stack(seen["actions"]),
        rewards=np.array(seen["rewards"]),
        action_names=task.actions.labels(),
        unit_names={name: task.channels.units(name) for name in task.channels},
    )


def _runs(periods: Sequence[str]) -> list[tuple[str, int, int]]:
    edges = [0, *(k for k in range(1, len(periods)) if periods[k] != periods[k - 1]), len(periods)]
    return [(str(periods[a]), a, b) for a, b in pairwise(edges)]


def _drawn(name: str, example: Example) -> list[tuple[str, np.ndarray]]:
    """Return the name and values of the drawn condition in 200 trials, before and after."""
    wanted = example.trials[0]
    after = run(
        example.task,
        "integrator" if name == "AdaptiveNoise" else example.subject,
        200,
        num_envs=1,
        seed=2,
        wrap=(name, example.wrap),
        **example.params,
    )
    before = run(example.task, example.subject, 200, num_envs=1, seed=2, **example.params)
    known = before[wanted] if wanted in before else np.zeros(len(before))
    return [(wanted, known), (wanted, after[wanted])]


def _trials_panel(title: str, condition: str, values: np.ndarray) -> tuple[str, int]:
    """Return a panel with one bar per trial, and its height."""
    values = np.asarray(values, float)[:150]
    low, high = min(values.min(), 0), max(values.max(), 1)
    step, tall = (WIDTH - LEFT - 10) / len(values), 60
    y = 18 + tall - (values - low) / (high - low) * (tall - 6) - 3
    dots = "".join(
        f'<rect x="{LEFT + k * step:.1f}" y="{v:.1f}" width="{step:.1f}" height="3"/>'
        for k, v in enumerate(y)
    )
    means = np.convolve(y, np.full(SMOOTHED, 1 / SMOOTHED), "valid") + 1.5
    first = LEFT + SMOOTHED / 2 * step
    line = " ".join(f"{first + k * step:.1f},{v:.1f}" for k, v in enumerate(means))
    ends = "".join(
        f'<text class="p" text-anchor="end" x="{LEFT - 4}" y="{at}">{value:g}</text>'
        for value, at in ((high, 26), (low, 18 + tall))
    )
    return (
        (
            f'<text class="h" x="4" y="12">{title}</text><text x="4"'
            f' y="{18 + tall // 2}">{escape(condition)}</text>{ends}<g'
            f' fill="{COLOURS[0]}">{dots}</g><polyline points="{line}" fill="none"'
            f' stroke="{COLOURS[1]}" stroke-width="1.5"/><text class="p" x="{LEFT}"'
            f' y="{18 + tall + 14}">trials 1 to {len(values)}, and the mean of'
            f" {SMOOTHED}</text>"
        ),
        18 + tall + 18,
    )


def _trial_panel(title: str, trace: TrialTrace) -> tuple[str, int]:
    """Return a panel with the channels, actions and rewards of a trial, and its height."""
    step = (WIDTH - LEFT - 10) / max(trace.steps, 1)
    parts, y = [f'<text class="h" x="4" y="12">{title}, {trace.steps * trace.dt:g} ms</text>'], 18
    rows = [(name, trace.observations[:, part]) for name, part in trace.channels.items()]
    rows.append(("action", np.asarray(trace.actions, float).reshape(trace.steps, -1)))
    rows.append(("reward", np.asarray(trace.rewards, float).reshape(trace.steps, 1)))
    bottom = y + len(rows) * (ROW + GAP)
    for k, (name, start, stop) in enumerate(
        period for period in trace.periods if period[2] > period[1]
    ):
        x, wide = LEFT + start * step, (stop - start) * step
        parts.append(
            f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{bottom - y}"'
            f' fill="{"#f3f6f8" if k % 2 else "#e8eef2"}"/>'
        )
        if wide > 6 * len(name) or stop == trace.steps:
            anchor = ' text-anchor="end"' if stop == trace.steps and wide <= 6 * len(name) else ""
            at = x + wide if anchor else x + 2
            parts.append(
                f'<text class="p" x="{at:.1f}" y="{bottom + 12}"{anchor}>{escape(name)}</text>'
            )
    for name, values in rows:
        parts.append(f'<text x="4" y="{y + ROW - 8}">{escape(name)}</text>')
        scale = (
            np.arange(len(trace.action_names)) if name == "action" and trace.discrete else values
        )
        parts += [
            _line(column, scale, y, step, COLOURS[k % len(COLOURS)])
            for k, column in enumerate(values.T[:6])
        ]
        y += ROW + GAP
    return "".join(parts), bottom + 16


def _line(column: np.ndarray, together: np.ndarray, y: int, step: float, colour: str) -> str:
    low, high = min(float(together.min()), 0.0), max(float(together.max()), 1.0)
    heights = y + ROW - (column - low) / (high - low) * (ROW - 4)
    path = "".join(f"H{LEFT + k * step:.1f}V{h:.1f}" for k, h in enumerate(heights))
    return (
        f'<path d="M{LEFT} {heights[0]:.1f}{path}H{LEFT + len(heights) * step:.1f}" fill="none"'
        f' stroke="{colour}"/>'
    )


def main() -> None:
    """Write all pages and pictures."""
    for folder in (PAGES, PICTURES):
        folder.mkdir(parents=True, exist_ok=True)
    for name in EXAMPLES:
        (PAGES / f"{stem_of(name)}.md").write_text(page_of(name), "utf-8")
        if EXAMPLES[name].picture:
            (PICTURES / f"{stem_of(name)}.svg").write_text(picture_of(name), "utf-8")


__all__ = ["EXAMPLES", "main", "page_of", "picture_of"]

if __name__ == "__main__":
    main()
