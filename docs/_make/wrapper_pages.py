"""Write the descriptions in ``docs/wrappers/*.md``, and the pictures: ``python docs/_make/wrapper_pages.py``.

Above the mark of a page, its example is written by hand, and a test runs it. Below, description and settings come
from the class, former names from the manifest. The pictures are small SVGs: a trial, or 150 trials of the
example, before and after, and a sentence with the values that differ. `write` adds measured effects to the pages of the site, and lists the wrappers."""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
import tempfile
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, unescape

import numpy as np
from markdown_parts import continued, escaped, table
from neurogym_plot import TrialTrace, trace_of

from neurogym_core import (
    Dataset,
    NotSupportedError,
    TaskWrapper,
    TrialRecord,
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
IMPOSED = {"direction": 1, "coherence": 51.2}
ALSO_IMPOSED: Mapping[str, dict[str, Any]] = {
    "CatchTrials": {**IMPOSED, "catch": True},
    "Mixture": {"task": "GoNogo"},
    "Transfer": {"task": "GoNogo"},
    "VariableMapping": {**IMPOSED, "mapping": [1, 0]},
}
"""Conditions of the trial that is drawn."""
PLAYED_BY = {"AdaptiveNoise": "integrator", "PassReward": "random"}
"""Subjects of pictures, where that of the example would not show the effect."""
HEAD = """# Wrappers

A wrapper changes the trials of a task, or an env of it. A picture has a trial, or some trials, before and after it. [Assemble a task](../docs/assemble-a-task.md) shows how wrappers are combined.
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

WIDTH, LEFT, RIGHT, ROW, GAP = 450, 96, 54, 26, 8
"""Width of a picture, its margins, height of a row and space below it, pixels."""
BETWEEN = 10
"""Space between the two panels of a picture."""
DRAWN, SMOOTHED = 150, 20
"""Trials that are drawn, and trials whose mean is a line."""
MEASURED = 200
"""Trials of which a caption has the values."""
LINE = 74
"""Characters of a line of the caption."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
CHANGED, WAS = "#FBF0DC", "#AAAAAA"
"""Colours behind rows that a wrapper changes, and of the values before."""
STYLE = "text{font:11px sans-serif;fill:#222}.p{fill:#666}.h{font-weight:bold}"


class Series(NamedTuple):
    """Values that are drawn of many trials, and the caption about them.

    Attributes:
        label: name of the values.
        values: of a record, one for each trial.
        said: the caption, from the records before and after.
        ends: names of the lowest and of the highest value.
    """

    label: str
    values: Callable[[TrialRecord], Any]
    said: Callable[[TrialRecord, TrialRecord], str]
    ends: tuple[str, str] = ("", "")


def _left(record: TrialRecord) -> np.ndarray:
    return np.asarray(record["direction"] == "left", float)


def _repeats(record: TrialRecord) -> np.ndarray:
    """Whether the direction is that of the trial before; the first trial counts as none."""
    return np.append(0.0, record["direction"][1:] == record["direction"][:-1])


def _ends_of_means(values: np.ndarray) -> str:
    means = np.convolve(values, np.full(SMOOTHED, 1 / SMOOTHED), "valid")
    return f"{100 * means.min():.0f} to {100 * means.max():.0f} %"


def _foreseen(record: TrialRecord) -> float:
    """The share of trials that the more frequent direction after each direction foresees."""
    keys = [name for name in ("history", "generation") if name in record]
    groups: dict[Any, list[float]] = {}
    for k in range(1, len(record)):
        context = (record["direction"][k - 1], *(record[name][k] for name in keys))
        groups.setdefault(context, []).append(float(record["direction"][k] == "left"))
    return sum(max(sum(one), len(one) - sum(one)) for one in groups.values()) / (len(record) - 1)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _mean(record: TrialRecord, name: str, trials: slice) -> str:
    return f"{record[name][trials].mean():.3g}"


SIDES = ("right", "left")
SERIES: Mapping[str, Series] = {
    "AdaptiveNoise": Series(
        "noise, SD·√ms",
        lambda record: record["noise"] if "noise" in record else np.zeros(len(record)),
        lambda before, after: (
            f"Without noise the integrator is correct in {_percent(before['performance'].mean())} of"
            f" {MEASURED} trials. The noise rises to {after['noise'].max():.0f}, and in the last"
            f" {MEASURED // 2} trials it is correct in"
            f" {_percent(after['performance'][-MEASURED // 2 :].mean())}."
        ),
    ),
    "AnswerProbabilities": Series(
        "direction",
        _left,
        lambda before, after: (
            f"The direction is left in {_percent(_left(before).mean())} of {MEASURED} trials before,"
            f" and in {_percent(_left(after).mean())} after."
        ),
        SIDES,
    ),
    "Curriculum": Series(
        "coherence, %",
        lambda record: record["coherence"],
        lambda before, after: (
            f"The mean coherence of trials 1 to 20 is {_mean(before, 'coherence', slice(20))} % before,"
            f" and {_mean(after, 'coherence', slice(20))} % after; of trials 101 to 200 it is"
            f" {_mean(before, 'coherence', slice(100, 200))} and"
            f" {_mean(after, 'coherence', slice(100, 200))} %."
        ),
    ),
    "EvolvingHistory": Series(
        "direction",
        _left,
        lambda before, after: (
            "The more frequent direction after the last one, in its context, comes in"
            f" {_percent(_foreseen(before))} of {MEASURED} trials before, and in"
            f" {_percent(_foreseen(after))} after."
        ),
        SIDES,
    ),
    "Schedule": Series(
        "coherence, %",
        lambda record: record["coherence"],
        lambda before, after: (
            f"The mean coherence of trials 1 to 10 is {_mean(before, 'coherence', slice(10))} % before,"
            f" and {_mean(after, 'coherence', slice(10))} % after; of trials 11 to 20 it is"
            f" {_mean(before, 'coherence', slice(10, 20))} and"
            f" {_mean(after, 'coherence', slice(10, 20))} %."
        ),
    ),
    "SideBias": Series(
        "direction",
        _left,
        lambda before, after: (
            f"Of {SMOOTHED} trials in a row, {_ends_of_means(_left(before))} are to the left before,"
            f" and {_ends_of_means(_left(after))} after."
        ),
        SIDES,
    ),
    "TrialHistory": Series(
        "direction",
        _repeats,
        lambda before, after: (
            f"The direction of the trial before comes again in {_percent(_repeats(before).mean())} of"
            f" {MEASURED} trials before. After, it does in "
            + " and in ".join(
                f"{_percent(_repeats(after)[after['history'] == name].mean())} of the trials of"
                f" {name} blocks"
                for name in ("repeating", "alternating")
            )
            + "."
        ),
        ("changes", "repeats"),
    ),
    "VariableChoices": Series(
        "strongest",
        lambda record: np.unique(record["strongest"], return_inverse=True)[1],
        lambda before, after: (
            f"{len(set(before['strongest'][:SMOOTHED].tolist()))} of 4 directions are right in trials 1"
            f" to {SMOOTHED} before, and {len(set(after['strongest'][:SMOOTHED].tolist()))} after."
        ),
    ),
}
"""Wrapper -> the values that are drawn of many trials; of others, one trial is drawn."""
SAID: Mapping[str, Callable[[TrialTrace, TrialTrace], str]] = {
    "CatchTrials": lambda before, after: (
        f"The reward of the same correct answer is {_reward(before)} before, and {_reward(after)} in a"
        " catch trial."
    ),
    "Combine": lambda before, after: (
        f"The same trial with {_added(before, after)}; its go answer in the delay adds a reward:"
        f" {_reward(before)} before, {_reward(after)} after."
    ),
    "MissPenalty": lambda before, after: (
        f"The reward of the same trial without an answer is {_reward(before)} before, and"
        f" {_reward(after)} after."
    ),
    "Mixture": lambda before, after: (
        f"A trial before, and a trial of the other task, with {_added(before, after)}."
    ),
    "Noise": lambda before, after: (
        "The same trial (before: grey). Within the stimulus, its units vary with an SD of"
        f" {_spread(before):.2f} before, and of {_spread(after):.2f} after."
    ),
    "PassAction": lambda before, after: (
        f"The same trial with {_added(before, after)}: one unit for each action, of the step before."
    ),
    "PassReward": lambda before, after: (
        f"The same trial, in which actions during fixation cost {_number(-before.rewards.min())} each,"
        f" with {_added(before, after)}: the reward of the step before."
    ),
    "ReactionTime": lambda before, after: (
        "The same stimulus: the subject can answer while it lasts. The trial lasts"
        f" {_lasts(before)} before, and {_lasts(after)} after."
    ),
    "TimeOut": lambda before, after: (
        f"The same wrong answer: the trial lasts {_lasts(before)} before, and {_lasts(after)} after."
    ),
    "Transfer": lambda before, after: (
        "A trial of the first task, and a trial after the transfer to the other one, with"
        f" {_added(before, after)}."
    ),
    "VariableMapping": lambda before, after: (
        f"The same stimulus: the right action is {_last_action(before)} before, and"
        f" {_last_action(after)} after, in a block in which actions are swapped."
    ),
}
"""Wrapper -> the caption, from the traces before and after."""


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "\N{MINUS SIGN}")


def _reward(trace: TrialTrace) -> str:
    return _number(float(np.sum(trace.rewards)))


def _lasts(trace: TrialTrace) -> str:
    return f"{trace.steps * trace.dt:g} ms"


def _last_action(trace: TrialTrace) -> str:
    return str(trace.action_names[int(np.asarray(trace.actions)[-1])])


def _added(before: TrialTrace, after: TrialTrace) -> str:
    names = [_words(name) for name in after.channels if name not in before.channels]
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    return f"the further channel{'s' * (len(names) > 1)} {listed}"


def _spread(trace: TrialTrace) -> float:
    """The SD of the units of the stimulus over its steps."""
    _, start, stop = next(one for one in trace.periods if one[0] == "stimulus")
    return float(trace.observations[start:stop, trace.channels["stimulus"]].std(axis=0).mean())


def picture_of(name: str) -> str:
    """Return the SVG of a wrapper: before above after, and the caption below."""
    example = example_of(name)
    if name in SERIES:
        series = SERIES[name]
        records = [_played(name, example, wrap) for wrap in ((), [example.wrap])]
        caption = series.said(*records)
        shown = [np.asarray(series.values(one), float)[:DRAWN] for one in records]
        ends = min(0.0, *(one.min() for one in shown)), max(1.0, *(one.max() for one in shown))
        panels = [
            _trials_panel(title, series, values, ends)
            for title, values in zip(("before", "after"), shown, strict=True)
        ]
    else:
        traces = [_trace(name, example, wrap) for wrap in ((), [example.wrap])]
        caption = SAID[name](*traces)
        steps = max(one.steps for one in traces)
        panels = [
            _trial_panel("before", traces[0], None, traces, steps),
            _trial_panel("after", traces[1], traces[0], traces, steps),
        ]
    parts, y = [], 4
    for panel, tall in panels:
        parts.append(f'<g transform="translate(0 {y})">{panel}</g>')
        y += tall + BETWEEN
    for line in textwrap.wrap(caption, LINE):
        parts.append(f'<text x="4" y="{y + 10}">{escape(line)}</text>')
        y += 15
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 6}" viewBox="0 0'
        f' {WIDTH} {y + 6}"><desc>{escape(caption)}</desc><style>{STYLE}</style>{"".join(parts)}'
        "</svg>\n"
    )


def caption_of(stem: str) -> str:
    """Return the caption of a picture, from its file."""
    found = re.search("<desc>(.*)</desc>", (PICTURES / f"{stem}.svg").read_text("utf-8"))
    if found is None:
        raise ValueError(f"{stem}.svg has no caption. Run `python docs/_make/wrapper_pages.py`.")
    return unescape(found[1])


def _trace(name: str, example: Example, wrap: Any) -> TrialTrace:
    """Return a trial of the example."""
    of_tasks = wrap if issubclass(load_wrapper(name), TaskWrapper) else ()
    known = make_task(example.task, wrap=of_tasks, **example.params).conditions
    imposed = {key: one for key, one in ALSO_IMPOSED.get(name, IMPOSED).items() if key in known}
    subject = PLAYED_BY.get(name, example.subject)
    if subject == "oracle" and name != "ReactionTime":
        subject = "late_oracle"
    return trace_of(example.task, subject, 4, imposed, wrap=wrap, **example.params)


def _played(name: str, example: Example, wrap: Any) -> TrialRecord:
    subject = PLAYED_BY.get(name, example.subject)
    return run(example.task, subject, MEASURED, num_envs=1, seed=2, wrap=wrap, **example.params)


def _trials_panel(
    title: str, series: Series, values: np.ndarray, ends: tuple[float, float]
) -> tuple[str, int]:
    """Return a panel with one bar per trial and the running mean, and its height."""
    low, high = ends
    step, tall, top = (WIDTH - LEFT - RIGHT) / len(values), 64, 18
    y = top + tall - (values - low) / (high - low) * (tall - 8) - 4
    dots = "".join(
        f'<rect x="{LEFT + k * step:.1f}" y="{v - 1.5:.1f}" width="{step:.1f}" height="3"/>'
        for k, v in enumerate(y)
    )
    means = np.convolve(y, np.full(SMOOTHED, 1 / SMOOTHED), "valid")
    first = LEFT + SMOOTHED / 2 * step
    line = " ".join(f"{first + k * step:.1f},{v:.1f}" for k, v in enumerate(means))
    named = [name or f"{value:g}" for name, value in zip(series.ends, ends, strict=True)]
    ticks = "".join(
        f'<text class="p" text-anchor="end" x="{LEFT - 6}" y="{at}">{escape(text)}</text>'
        for text, at in zip(named, (top + tall, top + 10), strict=True)
    )
    every = "".join(
        f'<text class="p" x="{LEFT + (k - 1) * step:.1f}" y="{top + tall + 13}"'
        f' text-anchor="middle">{k}</text>'
        for k in (1, 50, 100, len(values))
    )
    return (
        f'<text class="h" x="4" y="12">{title}</text>'
        f'<text x="4" y="{top + tall // 2 + 4}">{escape(series.label)}</text>{ticks}'
        f'<rect x="{LEFT}" y="{top}" width="{WIDTH - LEFT - RIGHT}" height="{tall}" fill="#f3f6f8"/>'
        f'<g fill="{COLOURS[0]}">{dots}</g>'
        f'<polyline points="{line}" fill="none" stroke="{COLOURS[1]}" stroke-width="2"/>{every}'
        f'<text class="p" x="4" y="{top + tall + 13}">trial</text>'
        f'<text class="p" x="{WIDTH}" y="12" text-anchor="end">orange: mean of {SMOOTHED}'
        " trials</text>",
        top + tall + 16,
    )


def _trial_panel(
    title: str,
    trace: TrialTrace,
    before: TrialTrace | None,
    both: Sequence[TrialTrace],
    steps: int,
) -> tuple[str, int]:
    """Return a panel with the channels, actions and rewards of a trial, and its height.

    Args:
        title: before or after.
        trace: the trial.
        before: the trial before, whose values are grey where others are drawn; None: this is it.
        both: both trials, which have one scale for each row.
        steps: steps of the time axis.
    """
    step = (WIDTH - LEFT - RIGHT) / steps
    parts, top = [f'<text class="h" x="4" y="12">{title}</text>'], 18
    rows, former = _rows_of(trace), {} if before is None else _rows_of(before)
    same = before is None or before.periods[0] == trace.periods[0]  # else of another task
    bottom = top + len(rows) * (ROW + GAP)
    for k, (name, start, stop) in enumerate(
        period for period in trace.periods if period[2] > period[1]
    ):
        x, wide = LEFT + start * step, (stop - start) * step
        parts.append(
            f'<rect x="{x:.1f}" y="{top}" width="{wide:.1f}" height="{bottom - top}"'
            f' fill="{"#f3f6f8" if k % 2 else "#e8eef2"}"/>'
        )
        if wide > 6 * len(name) or stop == trace.steps:
            short = stop == trace.steps and wide <= 6 * len(name)
            anchor, at = (' text-anchor="end"', x + wide) if short else ("", x + 2)
            parts.append(
                f'<text class="p" x="{at:.1f}" y="{top - 4}"{anchor}>{escape(_words(name))}</text>'
            )
    y = top
    for name, values in rows.items():
        was = former.get(name)
        if before is not None and (was is None or not _alike(was, values)):
            wide = WIDTH - RIGHT - LEFT
            parts.append(
                f'<rect x="{LEFT}" y="{y}" width="{wide}" height="{ROW + 4}" fill="{CHANGED}"/>'
            )
        parts.append(f'<text x="4" y="{y + ROW - 8}">{escape(_words(name))}</text>')
        known = [one for other in both if (one := _rows_of(other).get(name)) is not None]
        low = min(0.0, *(float(one.min()) for one in known))
        high = max(1.0, *(float(one.max()) for one in known))
        drawn_before = same and was is not None and not _alike(was, values)
        lines = [(was, WAS)] if drawn_before else []
        for shown, colour in (*lines, (values, "")):
            parts += [
                _line(column, low, high, y, step, colour or COLOURS[k % len(COLOURS)])
                for k, column in enumerate(shown.T[:6])
            ]
        end = _end_of(name, trace, values)
        parts.append(f'<text class="p" x="{WIDTH - RIGHT + 4}" y="{y + ROW - 8}">{end}</text>')
        y += ROW + GAP
    every = 500 if steps * trace.dt <= 3000 else 1000
    for ms in range(0, int(steps * trace.dt) + 1, every):
        x = LEFT + ms / trace.dt * step
        parts.append(
            f'<text class="p" x="{x:.1f}" y="{bottom + 10}" text-anchor="middle">{ms}</text>'
        )
    parts.append(f'<text class="p" x="4" y="{bottom + 10}">time, ms</text>')
    return "".join(parts), bottom + 12


def _rows_of(trace: TrialTrace) -> dict[str, np.ndarray]:
    """Return the rows of a trial, each (steps, lines)."""
    rows = {name: trace.observations[:, part] for name, part in trace.channels.items()}
    for name, values in (("action", trace.actions), ("reward", trace.rewards)):
        rows[name] = np.asarray(values, float).reshape(trace.steps, -1)
    return rows


def _alike(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether a row is the same, as long as both trials last."""
    both = min(len(one), len(other))
    return one.shape[1:] == other.shape[1:] and bool(np.allclose(one[:both], other[:both]))


def _end_of(name: str, trace: TrialTrace, values: np.ndarray) -> str:
    """Return the sum of rewards, or the last action."""
    if name == "reward":
        return f"sum {_reward(trace)}"
    if name == "action" and trace.discrete:
        return escape(str(trace.action_names[int(values[-1, 0])]))
    return ""


def _words(name: str) -> str:
    return name.replace("_", " ").replace(".GoNogo", " (GoNogo)")


def _line(column: np.ndarray, low: float, high: float, y: int, step: float, colour: str) -> str:
    heights = y + ROW - (column - low) / (high - low) * (ROW - 4)
    path = "".join(f"H{LEFT + k * step:.1f}V{h:.1f}" for k, h in enumerate(heights))
    return (
        f'<path d="M{LEFT} {heights[0]:.1f}{path}H{LEFT + len(heights) * step:.1f}" fill="none"'
        f' stroke="{colour}" stroke-width="1.3"/>'
    )


# ---- the site ------------------------------------------------------------------------------------


def write(folder: Path) -> None:
    """Write ``wrappers/index.md`` into a folder, and add tables to the pages of wrappers in it."""
    cards, pages = [], []
    for name in NAMES:
        info, stem = find_wrapper(name), stem_of(name)
        picture = (
            f":img-bottom: ../docs/images/wrappers/{stem}.svg\n:img-alt: {caption_of(stem)}\n"
            if name not in NOT_DRAWN
            else ""
        )
        cards.append(
            f":::{{grid-item-card}} {name}\n:link: ../docs/wrappers/{stem}.html\n{picture}\n"
            f"{info.summary}\n:::"
        )
        pages.append(f"../docs/wrappers/{stem}")
        path = folder / "docs" / "wrappers" / f"{stem}.md"
        text = path.read_text("utf-8")
        if name not in NOT_DRAWN:
            text = re.sub(r"!\[[^]]*\](?=\(\.\./images/wrappers/)", f"![{caption_of(stem)}]", text)
        before, last = text.rstrip().rsplit("\n\n", 1)  # links to read on
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
            table(("measure", "before", "after"), rows),
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
