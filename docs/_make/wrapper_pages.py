"""Write the descriptions in ``docs/wrappers/*.md``, and the pictures: ``python docs/_make/wrapper_pages.py``.

Above the mark of a page, its example is written by hand, and a test runs it. Below, description and settings come
from the class, former names from the manifest. The pictures are small SVGs: a trial, or the coming trials of the
example, before and after. `write` adds measured effects to the pages of the site, and lists the wrappers."""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import numpy as np
from markdown_parts import continued, escaped, table
from neurogym_plot import TrialTrace, trace_of

from neurogym_core import (
    Dataset,
    NotSupportedError,
    TaskWrapper,
    make,
    make_task,
    make_vec,
    run,
)
from neurogym_core.tools import find_wrapper, installed, load_wrapper

DOCS = Path(__file__).resolve().parents[1]
PAGES, PICTURES = DOCS / "wrappers", DOCS / "images" / "wrappers"
NAMES = sorted(one.name for one in installed().wrappers if one.namespace in ("core", "wrappers"))
NOT_DRAWN = ("Monitor", "RecordTrials", "TTLPulse")
"""Wrappers whose effects no picture of a trial shows."""
DRAWN = {
    "AdaptiveNoise": "noise", "AnswerProbabilities": "direction", "Curriculum": "stage",
    "EvolvingHistory": "direction", "Schedule": "coherence", "SideBias": "direction",
    "TrialHistory": "direction", "VariableChoices": "strongest",
}  # fmt: skip
"""Wrapper -> the condition whose values in many trials are drawn; of others, one trial is drawn."""
IMPOSED = {"direction": 1, "coherence": 51.2}
ALSO_IMPOSED: Mapping[str, dict[str, Any]] = {
    "CatchTrials": {**IMPOSED, "catch": True},
    "Mixture": {"task": "GoNogo"},
    "Transfer": {"task": "GoNogo"},
    "VariableMapping": {**IMPOSED, "mapping": [1, 0]},
}
"""Conditions of the trial that is drawn."""
HEAD = """# Wrappers

A wrapper changes the trials of a task, or an env of it. A picture has a trial before and after it. [Assemble a task](../docs/assemble-a-task.md) shows how wrappers are combined.
"""
ENVS, TRIALS = 4, 20


class Example(NamedTuple):
    """The run in the example of a page."""

    task: str
    subject: str
    wrap: Any
    params: dict[str, Any]


def example_of(name: str) -> Example:
    """Return the run in the first code of the page of a wrapper."""
    page = (PAGES / f"{stem_of(name)}.md").read_text("utf-8")
    tree = ast.parse(re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[0])
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call)]
    call = next(one for one in calls if ast.unparse(one.func) == "run")
    wrap = next(one.value for one in tree.body if ast.unparse(one).startswith("wrap = "))
    task, subject, _ = map(ast.literal_eval, call.args)
    named = {
        one.arg: one.value for one in call.keywords if one.arg not in ("num_envs", "seed", "wrap")
    }
    params = {key: ast.literal_eval(value) for key, value in named.items()}
    return Example(task, subject, ast.literal_eval(wrap), params)


def stem_of(name: str) -> str:
    """Return the file name of the page of a wrapper, without its suffix."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


# ---- pages ---------------------------------------------------------------------------------------


def page_of(name: str) -> str:
    """Return the page of a wrapper, with the sections of the docstring and the former names."""
    info, wrapper = find_wrapper(name), load_wrapper(name)
    prose, *sections = re.split(r"^(Args|Raises):\n", inspect.getdoc(wrapper) or "", flags=re.M)
    parts = ["## Description", prose.strip()]
    known = inspect.signature(wrapper).parameters
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        entries = re.findall(r"^ {4}(\S.*?): (.*(?:\n {5}.*)*)", body, re.M)
        rows = [
            (key, " ".join(said.split()).replace("|", "\\|"))
            for key, said in entries
            if key != "env"
        ]
        if title == "Args":
            rows = [
                (", ".join(_with_default(one, known) for one in key.split(", ")), said)
                for key, said in rows
            ]
        heads = {"Args": ("setting", "meaning"), "Raises": ("error", "when")}[title]
        if rows:
            parts += [{"Args": "## Settings", "Raises": "## Errors"}[title], table(heads, rows)]
    parts = [part.replace("``", "`") for part in parts]
    if info.aliases:
        preset = {one: f"`{info.presets[one]}`" for one in info.aliases if one in info.presets}
        rows = [(f"`{one}`", preset.get(one, "")) for one in info.aliases]
        parts += ["## Former names", table(("former name", "settings here"), rows)]
    parts.append("[All wrappers](../assemble-a-task.md) · [Write a wrapper](../write-a-wrapper.md)")
    return continued(PAGES / f"{stem_of(name)}.md", "\n\n".join(parts))


def _with_default(name: str, known: Mapping[str, inspect.Parameter]) -> str:
    return f"`{name} = {known[name].default!r}`" if name in known else f"`{name}`"


# ---- pictures ------------------------------------------------------------------------------------

WIDTH, LEFT, ROW, GAP = 400, 90, 26, 8
BETWEEN = 24
"""Space between the two panels of a picture."""
SMOOTHED = 20
"""Trials whose mean is drawn as a line."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def picture_of(name: str) -> str:
    """Return the SVG of a wrapper: before on the left, after on the right."""
    example, panels = example_of(name), []
    for title, wrap in (("before", ()), ("after", [example.wrap])):
        if name in DRAWN:
            panels.append(_trials_panel(title, DRAWN[name], _drawn(name, example, wrap)))
        else:
            panels.append(_trial_panel(title, _trace(name, example, wrap)))
    parts = [
        f'<g transform="translate({number * (WIDTH + BETWEEN)} 4)">{panel}</g>'
        for number, (panel, _) in enumerate(panels)
    ]
    width, height = 2 * WIDTH + BETWEEN, 14 + max(tall for _, tall in panels)
    style = "text{font:11px sans-serif;fill:#222}.p{fill:#777}.h{font-weight:bold}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0'
        f' {width} {height}"><style>{style}</style>{"".join(parts)}</svg>\n'
    )


def _trace(name: str, example: Example, wrap: Any) -> TrialTrace:
    """Return a trial of the example."""
    of_tasks = wrap if issubclass(load_wrapper(name), TaskWrapper) else ()
    known = make_task(example.task, wrap=of_tasks, **example.params).conditions
    imposed = {key: one for key, one in ALSO_IMPOSED.get(name, IMPOSED).items() if key in known}
    subject = "late_oracle" if example.subject == "oracle" else example.subject
    return trace_of(example.task, subject, 4, imposed, wrap=wrap, **example.params)


def _drawn(name: str, example: Example, wrap: Any) -> np.ndarray:
    """Return the values of the drawn condition in 200 trials."""
    subject = "integrator" if name == "AdaptiveNoise" and wrap else example.subject
    record = run(example.task, subject, 200, num_envs=1, seed=2, wrap=wrap, **example.params)
    condition = DRAWN[name]
    if condition not in record:
        return np.zeros(len(record))
    return record.codes(condition) if record[condition].dtype.kind == "U" else record[condition]


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


# ---- the site ------------------------------------------------------------------------------------


def write(folder: Path) -> None:
    """Write ``wrappers/index.md`` into a folder, and add tables to the pages of wrappers in it."""
    cards, pages = [], []
    for name in NAMES:
        info, stem = find_wrapper(name), stem_of(name)
        picture = (
            f":img-bottom: ../docs/images/wrappers/{stem}.svg\n"
            f":img-alt: a trial before and after {info.title}\n"
            if name not in NOT_DRAWN
            else ""
        )
        cards.append(
            f":::{{grid-item-card}} {name}\n:link: ../docs/wrappers/{stem}.html\n{picture}\n"
            f"{info.summary}\n:::"
        )
        pages.append(f"../docs/wrappers/{stem}")
        path = folder / "docs" / "wrappers" / f"{stem}.md"
        before, last = path.read_text("utf-8").rstrip().rsplit("\n\n", 1)  # links to read on
        path.write_text(f"{before}\n\n{changes(name)}\n\n{last}\n", "utf-8")
    grid = "::::{grid} 1 1 2 2\n:gutter: 3\n\n" + "\n\n".join(cards) + "\n::::"
    menu = "```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```"
    (folder / "wrappers").mkdir()
    (folder / "wrappers" / "index.md").write_text(f"{HEAD}\n{grid}\n\n{menu}\n", "utf-8")


def changes(name: str) -> str:
    """Return a section about the example's env, vector env, dataset and record with a wrapper."""
    task, subject, wrap, params = example_of(name)
    measures: dict[str, Callable[..., Any]] = {
        "env: shape of an observation": lambda **k: make(task, **k).observation_space.shape,
        "env: actions": lambda **k: make(task, **k).action_space,
        f"vector env of {ENVS}: shape of the observations": lambda **k: (
            make_vec(task, ENVS, **k).observation_space.shape
        ),
        f"dataset, {ENVS} rows of 100 steps: shape of the inputs": lambda **k: (
            next(Dataset(task, batch_size=ENVS, seq_len=100, seed=0, **k)).inputs.shape
        ),
    }

    def columns(**given: Any) -> set[str]:
        return set(run(task, subject, TRIALS, num_envs=1, seed=0, **given).columns)

    # Some wrappers write files.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        rows = [
            (what, _text(measure(**params)), _measured(measure, wrap, params))
            for what, measure in measures.items()
        ]
        added = sorted(columns(**params, wrap=wrap) - columns(**params))
    more = ", ".join(f"`{one}`" for one in added) or "none"
    return "\n\n".join(
        [
            "## Env, vector env and dataset",
            f"Measured on `{task}` with the settings of the example above.",
            table(("", "before", "after"), rows),
            f"Columns that it adds to the record: {more}.",
        ]
    )


def _measured(measure: Callable[..., Any], wrap: Any, params: dict[str, Any]) -> str:
    try:
        return _text(measure(**params, wrap=wrap))
    except NotSupportedError as error:
        return escaped(str(error))


def _text(value: Any) -> str:
    return f"`{value}`"


def main() -> None:
    """Write all pages and pictures."""
    for name in NAMES:
        (PAGES / f"{stem_of(name)}.md").write_text(page_of(name), "utf-8")
        if name not in NOT_DRAWN:
            (PICTURES / f"{stem_of(name)}.svg").write_text(picture_of(name), "utf-8")


if __name__ == "__main__":
    main()
