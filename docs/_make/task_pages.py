"""Pages of the installed tasks, generated from the tasks themselves.

Figures, tables and text come from the class and the manifest. The code on a page is executed while
the page is made, and an error stops the build. As many processes as there are processors share the
tasks. A page of which nothing has changed is taken from the build before (`kept_pages`)."""

from __future__ import annotations

import contextlib
import html
import inspect
import io
import json
import multiprocessing
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import kept_pages
import pictograms
import search_words
import task_context
import task_play
import task_training
from click.testing import CliRunner
from markdown_parts import console, escaped, installing, literal, table
from neurogym_check.digest import digests_path, stored
from neurogym_plot.drawing import NO_SETTINGS, best_as_session, draw

from neurogym_core import Task
from neurogym_core.tools import (
    Reference,
    TaskInfo,
    as_text,
    describe,
    in_words,
    installed,
    load_task,
)
from neurogym_core.tools import main as ngym

PROCESSES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
RELATED = 6
"""Most related tasks on a page."""
SHOWN = 3
"""Titles of each package in the list of packages."""
TABLES = {
    "Channels": ("channels", ("name", "size", "kind", "names")),
    "Actions": ("actions", ("name", "size", "kind", "names", "axis", "rest", "trigger")),
    "Periods": ("periods", ("name", "duration")),
    "Conditions": ("conditions", ("name", "distribution")),
    "Parameters": ("parameters", ("name", "type", "default", "doc")),
}
"""Heading -> (part of the description, its fields)."""
HEADS = {
    "doc": "meaning",
    "kind": "type",
    "names": "units or choices",
    "axis": "range",
    "distribution": "drawn from",
}
CHANNELS = {
    "Scalar": "number",
    "OneHot": "one of several",
    "Ring": "ring",
    "Encoder": "population",
}
"""Kinds of channels, as the list of tasks calls them."""
FILTERS = {
    "tag": "tags",
    "species": "species",
    "package": "namespace",
    "channel": "channels",
    "networks": "networks",
    "play": "played",
}
"""Filters of the list of tasks, in its address -> fact of a page."""
_DEVIATIONS = re.compile(r"^Deviations from the paper:", re.MULTILINE)
_ARGS = re.compile(r"^(Args|Attributes):\n", re.MULTILINE)
_NAME = r"(?!After |The )(?:de la |van |von )?[A-Z][\w’-]*(?:'[A-Z][\w-]+)?"
_CITED = re.compile(
    rf"(?P<names>{_NAME}(?:(?:, | & |, & | | de la | van | et al\.|, et al\.)(?:{_NAME})?)*?)"
    r"(?:'s)? \((?P<year>\d{4})\)"
)
"""Authors and year, as docstrings cite papers: "Kiani & Shadlen (2009)"."""
_DOI = re.compile(r"doi:(10\.\d{4,}/[^\s,;:)]*[^\s,;:).])")


@dataclass(frozen=True)
class TaskPage:
    """Facts about the page of a task, for other pages.

    Attributes:
        id, title, summary, tags, species: as in the manifest.
        paper: authors and year of the original paper; "" if the description names none.
        page: address of the page, below the root of the site, without suffix.
        picture: address of its pictogram, or of a small figure; "" if there is none.
        installed: whether the task is; others are only listed in a registry, and their texts are
            shown as they are, without Markdown.
        channels: kinds of its channels.
        networks: the verdict of the gallery on the task; "" if unknown.
        played: whether readers can play it on its page.
    """

    id: str
    title: str
    summary: str
    tags: tuple[str, ...]
    species: tuple[str, ...]
    paper: str
    page: str
    picture: str
    installed: bool = True
    channels: tuple[str, ...] = ()
    networks: str = ""
    played: bool = False

    @property
    def namespace(self) -> str:
        """First part of the id."""
        return self.id.partition("/")[0]


def present() -> list[TaskInfo]:
    """Return the installed tasks, without those of packages that `NGYM_BLOCK` names."""
    return [task for task in installed().tasks if not task.has("blocked")]


def write(folder: Path, extra: Path, only: Sequence[str] | None = None) -> list[TaskPage]:
    """Write a page for each installed task.

    Args:
        folder: where the pages of the site are gathered; the pages are in its folder ``tasks``.
        extra: folder of files beside the pages, which gets the folders ``thumbnails``, of small
            figures, ``pictograms``, and ``play``, of the page on which readers play tasks.
        only: ids of tasks; None: all.

    Raises:
        RuntimeError: code on a page failed, or a task has a problem.
    """
    tasks = [task for task in present() if only is None or task.id in only]
    for name in ("thumbnails", "pictograms"):
        (extra / name).mkdir(parents=True)
    listed = [task.id for task in tasks]
    jobs = [(name, folder / "tasks", extra, listed) for name in listed]
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        pages = []
        for number, page in enumerate(pool.imap(_write, jobs), 1):
            pages.append(page)
            print(f"\r{number} of {len(jobs)} tasks ", end="", flush=True)
    print()
    return pages


def _write(job: tuple[str, Path, Path, list[str]]) -> TaskPage:
    name, folder, extra, listed = job
    info = next(task for task in present() if task.id == name)
    if not info.usable:
        raise RuntimeError(f"{name} cannot be imported ({info.status}). Run `ngym doctor`.")
    folder = folder / info.namespace
    folder.mkdir(parents=True, exist_ok=True)
    stem = info.id.replace("/", "-")
    thumbnail = extra / "thumbnails" / f"{stem}.png"
    beside = folder / task_play.BESIDE.format(info.name)

    def make(page: Path, picture: Path) -> str:
        try:
            with contextlib.chdir(page):
                return made(info, page, picture)
        except Exception as error:
            raise RuntimeError(f"The page of {name} failed: {error}") from error

    key = kept_pages.key_of(info.value, task_training.results_of(info))
    text = kept_pages.taken(name, key, make, folder, thumbnail)
    played = beside.is_file()
    if played:
        task_play.write(info, extra / "play", json.loads(beside.read_text("utf-8")))
        beside.unlink()  # no page shows it
    text += "\n\n".join(["", "## Related tasks", _related(info, listed), *_history(info)]) + "\n"
    text = search_words.with_entries(text, search_words.of_task(info.name))
    (folder / f"{info.name}.md").write_text(described_as(info.summary) + text, "utf-8")
    paper = next((paper_of(info, one) for one in info.references), "")
    place = f"tasks/{info.id}"
    channels = describe(load_task(info.id)).get("channels") or [{"kind": "image"}]
    picture = f"thumbnails/{thumbnail.name}"
    if channels[0]["kind"] != "image":
        picture = f"pictograms/{stem}.svg"
        (extra / picture).write_text(pictograms.pictogram(info.view, channels), "utf-8")
    return TaskPage(
        id=info.id,
        title=info.title,
        summary=info.summary,
        tags=info.tags,
        species=info.species,
        paper=paper,
        page=place,
        picture=picture,
        channels=tuple(sorted({CHANNELS.get(one["kind"], one["kind"]) for one in channels})),
        networks=task_training.judged(info),
        played=played,
    )


def described_as(summary: str) -> str:
    """Return the head of a page, with the description that search engines and chats show."""
    return f"---\nmyst:\n  html_meta:\n    description: {json.dumps(summary)}\n---\n\n"


def made(info: TaskInfo, folder: Path, thumbnail: Path) -> str:
    """Return the page of a task up to the related tasks, and draw its figures.

    Args:
        info: the task.
        folder: folder of the page's figures.
        thumbnail: file of the small picture.
    """
    task = load_task(info.id)
    described = describe(task)
    plain = not issubclass(task, Task)
    text, deviations = sections(described["docstring"])
    tags = " ".join(_badge("tag", one, "secondary-line") for one in info.tags)
    species = " ".join(_badge("species", one, "info-line") for one in info.species)
    parts = [
        f"# {escaped(info.title)}",
        f"`{info.id}`, in the package `{info.distribution}` {info.version}. {species} {tags}",
        *_figures(info, None if plain else task(), folder, thumbnail),
        *([] if plain else task_play.section(info, folder)),
        "## Description",
        text,
        *tables_of(described, TABLES, _cell),
        *_rewards(described),
        *(["## Deviations from the paper", deviations] if deviations else []),
        *_measures(info),
        *([] if plain else task_context.animals(info, folder)),
        *papers_of(info.references, lambda one: paper_of(info, one), escaped),
        "## Code",
        *_snippets(info, described, plain),
        *([] if plain else task_training.training(info, described)),
        *task_training.trained(info, folder),
        *([] if plain else task_context.wrappers(info)),
    ]
    return "\n\n".join(parts)


def _badge(name: str, value: str, colour: str) -> str:
    """Return a badge that leads to the tasks that have a value."""
    return f"{{bdg-link-{colour}}}`{value} <../index.html?{name}={quote(value)}>`"


def _figures(info: TaskInfo, task: Task | None, folder: Path, thumbnail: Path) -> list[str]:
    import matplotlib.pyplot as plt

    shown = {f"{info.name}.png": "A trial of {}: channels, actions and rewards over time"}
    draw(info.id, folder / f"{info.name}.png", "late_oracle", 0, NO_SETTINGS, session=False)
    if task is not None and best_as_session(task):
        name = f"{info.name}-session.png"
        draw(info.id, folder / name, "late_oracle", 0, NO_SETTINGS, session=True)
        shown[name] = "A session of {}: choices, outcomes and conditions over trials"
    plt.close("all")
    shrink(folder / list(shown)[-1], thumbnail)
    return [f"![{escaped(alt.format(info.title))}]({name})" for name, alt in shown.items()]


def shrink(picture: Path, target: Path, width: int = 320) -> None:
    """Write a small copy of a picture.

    Args:
        width: pixels.
    """
    from PIL import Image

    with Image.open(picture) as image:
        height = round(image.height * width / image.width)
        image.convert("RGB").resize((width, height)).quantize(64).save(target, optimize=True)


# ---- text ----------------------------------------------------------------------------------------


def rendered(docstring: str) -> str:
    """Return the text of a docstring as Markdown: code, lists and DOIs keep their meaning."""
    parts = re.split(r"(``.+?``|`.+?`)", docstring.strip(), flags=re.DOTALL)
    text = []
    for part in parts:
        if part.startswith("`"):
            text.append("`" + " ".join(part.strip("`").split()) + "`")
        else:
            pieces = _DOI.split(part)
            text += [
                f"[doi:{escaped(piece)}](https://doi.org/{piece})" if odd else _emphasised(piece)
                for odd, piece in ((number % 2, piece) for number, piece in enumerate(pieces))
            ]
    return "".join(text)


def _emphasised(text: str) -> str:
    return re.sub(r"\\\*(\w[\w -]*)\\\*", r"*\1*", escaped(text))


def sections(docstring: str) -> tuple[str, str]:
    """Return the description and the deviations, as Markdown."""
    prose = _ARGS.split(docstring)[0]
    if not _DEVIATIONS.search(prose):
        return rendered(prose), ""
    before, after = _DEVIATIONS.split(prose, maxsplit=1)
    listed, _, rest = after.strip().partition("\n\n")
    if listed.startswith("- "):
        while re.match(r"(- |  )", rest):  # blank lines between the points
            more, _, rest = rest.partition("\n\n")
            listed += "\n\n" + more
    text = "\n\n".join(filter(None, (rendered(before), rendered(rest))))
    return text, rendered(listed[:1].upper() + listed[1:])


def tables_of(
    described: Mapping[str, Any], tables: Mapping[str, Any], cell: Callable[[str, Any], str]
) -> list[str]:
    """Return the tables of a description, such as `TABLES`, whose cells `cell` writes."""
    parts = []
    for heading, (key, fields) in tables.items():
        rows = described.get(key) or []
        fields = [one for one in fields if any(row.get(one) not in (None, "") for row in rows)]
        if rows and fields:
            cells = [[cell(one, row.get(one)) for one in fields] for row in rows]
            parts += [f"## {heading}", table([HEADS.get(one, one) for one in fields], cells)]
    return parts


def cell_text(field: str, value: Any) -> str:
    """Return the text of a cell of these tables."""
    return as_text(value, "ms") or "computed" if field == "duration" else as_text(value)


def _cell(field: str, value: Any) -> str:
    text = " ".join(cell_text(field, value).split())
    if field == "default" and value is None:
        text = "None"
    if field in ("name", "type", "default", "distribution") and text:
        return "`" + text.replace("|", "\\|").replace("`", "'") + "`"
    return escaped(text)


def _rewards(described: Mapping[str, Any]) -> list[str]:
    rewards = described.get("rewards") or {}
    rows = [(f"`{name}`", as_text(amount)) for name, amount in rewards.items()]
    notes = [escaped(described["payoff"])] if described.get("payoff") else []
    facts = []
    if described.get("dt"):
        facts.append(f"A step lasts {described['dt']:g} ms.")
    if described.get("trials_per_session"):
        facts.append(f"A session has {described['trials_per_session']} trials.")
    shown = [table(("outcome", "reward"), rows)] if rows else []
    found = [*shown, *notes, *([" ".join(facts)] if facts else [])]
    return ["## Rewards and sessions", *found] if found else []


def _measures(info: TaskInfo) -> list[str]:
    measured = sorted(info.shortcuts.items(), key=lambda pair: -pair[1])
    rows = [(escaped(in_words(name)), _share(one), _ends(info, name)) for name, one in measured]
    if not rows:
        return []
    ideal = info.ideal
    possible = (
        f"An ideal subject earns {_share(ideal['value'])} ({ideal['by']}: {escaped(ideal['how'])})."
        if ideal
        else "The best possible performance is not known."
    )
    chance = f" Chance is {_share(info.chance)}: the best policy that sees no observation."
    parts = [
        "## Chance, shortcuts and ideal",
        possible + (chance if info.chance is not None else ""),
        "Performance of policies that leave out a part of the task, measured by `ngym check`:"
        " classifiers on drawn trials, all others by playing."
        " [The decision](../../docs/decisions/0074-the-audit-plays.md) describes the measurement.",
        table(("policy", "performance", "95 % interval"), rows),
    ]
    if info.admitted:
        named = "; ".join(f"{escaped(in_words(name))}" for name in info.admitted)
        parts.append(f"The author admits these shortcuts: {named}.")
    return parts


def _ends(info: TaskInfo, name: str) -> str:
    """Return the interval of a shortcut, "" if none is stored."""
    ends = info.intervals.get(name)
    return f"{_share(ends[0])} to {_share(ends[1])}" if ends else ""


def _share(value: Any) -> str:
    return f"{100 * value:.1f} %" if isinstance(value, int | float) else escaped(str(value))


def paper_of(info: TaskInfo, reference: Reference) -> str:
    """Return authors and year of a paper; from the description if the manifest has only the DOI."""
    if reference.authors:
        return reference.cited
    text = " ".join((inspect.getdoc(load_task(info.id)) or "").split())
    before, found, _ = text.partition(f"doi:{reference.doi}")
    cited = list(_CITED.finditer(before.rpartition("doi:")[2])) if found else []
    return f"{cited[-1]['names']} ({cited[-1]['year']})" if cited else ""


def papers_of(
    references: Sequence[Reference], cited: Callable[[Reference], str], text: Callable[[str], str]
) -> list[str]:
    """Return the list of papers and their BibTeX; `text` escapes the fields."""
    if not references:
        return []
    rows = []
    for one in references:
        named = " ".join(filter(None, (cited(one), one.title, one.journal)))
        link = f"[doi:{text(one.doi)}](<https://doi.org/{quote(one.doi, safe='/')}>)"
        rows.append(f"- {text(one.kind)}: {text(named)}{', ' if named else ''}{link}")
    entries = "\n\n".join(one.bibtex for one in dict.fromkeys(references))
    return ["## Papers", "\n".join(rows), f"```bibtex\n{entries}\n```"]


# ---- code ----------------------------------------------------------------------------------------


def _snippets(info: TaskInfo, described: Mapping[str, Any], plain: bool) -> list[str]:
    parts = ["An env, as Gymnasium has them:", played(ENV.format(task=info.id))]
    if plain:
        return [*parts, "Four envs:", played(SYNC.format(task=info.id)), *_lines(info, False)]
    parts += ["Four subjects at once, in a vector env:", played(VECTOR.format(task=info.id))]
    if described.get("supervised"):
        parts += ["Batches for supervised training:", played(DATASET.format(task=info.id))]
    else:
        parts.append("The task has no correct actions, and therefore no dataset of them.")
    parts += ["A record of trials:", played(RECORD.format(task=info.id))]
    return [*parts, *_lines(info, True)]


ENV = """from neurogym_core import make

env = make("{task}")
observation, info = env.reset(seed=0)
env.action_space.seed(0)
total = 0.0
for _ in range(100):
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    total += float(reward)
    if terminated or truncated:
        observation, info = env.reset()
print(observation.shape, round(total, 2))"""
VECTOR = """from neurogym_core import make_vec

envs = make_vec("{task}", num_envs=4)
observations, info = envs.reset(seed=0)
observations, rewards, terminated, truncated, info = envs.step(envs.action_space.sample())
print(observations.shape, rewards.shape)"""
SYNC = """from gymnasium.vector import SyncVectorEnv

from neurogym_core import make

envs = SyncVectorEnv([lambda: make("{task}")] * 4)
observations, info = envs.reset(seed=0)
print(observations.shape)"""
DATASET = """from neurogym_core import Dataset

dataset = Dataset("{task}", batch_size=16, seq_len=100, seed=0)
batch = next(dataset)
print(batch.inputs.shape, batch.targets.shape, batch.weights.shape)"""
RECORD = """from neurogym_core import run

record = run("{task}", "oracle", 50, seed=0)
print(len(record), round(float(record["performance"].mean()), 2))"""


def played(code: str) -> str:
    """Return code and its output, as blocks of Markdown."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        exec(compile(code, "<page>", "exec"), {})
    return f"```python\n{code}\n```\n```text\n{printed.getvalue()}```"


def _lines(info: TaskInfo, runs: bool) -> list[str]:
    install = [f"$ {installing('neurogym-core', info.distribution)}"] if info.ours else []
    lines = [f"$ ngym info {info.id}", f"$ ngym plot {info.id} -o trial.png"]
    parts = ["On the command line:", console([*install, *lines])]
    if runs:
        line = f"run {info.id} --subject oracle --n-trials 3 --seed 0"
        parts.append(console([f"$ ngym {line}", _said(line)]))
    return parts


def _said(line: str) -> str:
    """Execute a command line of ngym, and return its output."""
    result = CliRunner().invoke(ngym, line.split())
    if result.exit_code != 0:
        raise RuntimeError(f"`ngym {line}` ended with {result.exit_code}: {result.output}")
    return result.output.rstrip()


# ---- related tasks, history, lists ---------------------------------------------------------------


def related(info: TaskInfo, tasks: Iterable[TaskInfo]) -> list[tuple[TaskInfo, list[str]]]:
    """Return the tasks that share most tags with a task, and the shared tags."""
    found = []
    for other in tasks:
        shared = [tag for tag in info.tags if tag in other.tags]
        if other.id != info.id and shared:
            union = len({*info.tags, *other.tags})
            found.append((-len(shared) / union, other.id, other, shared))
    return [(other, shared) for _, _, other, shared in sorted(found, key=lambda x: x[:2])[:RELATED]]


def _related(info: TaskInfo, listed: Sequence[str]) -> str:
    rows = [
        f"- [{escaped(other.title)}](../{other.id}.md): {', '.join(shared)}"
        for other, shared in related(info, (task for task in present() if task.id in listed))
    ]
    return "\n".join(rows) or "No other installed task shares a tag."


def _history(info: TaskInfo) -> list[str]:
    path = digests_path(info)
    former = [f"Former names: {', '.join(f'`{name}`' for name in info.aliases)}."]
    parts = ["## Version", *(former if info.aliases else [])]
    if path and info.name in stored(path):
        parts.append(
            f"The behaviour of `{info.name}` does not change: a changed task gets another version."
        )
    parts += task_context.changes(info)
    return parts if len(parts) > 1 else []


def write_lists(folder: Path, pages: Sequence[TaskPage]) -> None:
    """Write a list of the tasks of each namespace, and a list of these, into a folder."""
    spaces = sorted({page.namespace for page in pages})
    for space in spaces:
        listed = [page for page in pages if page.namespace == space]
        rows = [
            (f"[{shown(one.title)}]({one.id.partition('/')[2]}.md)", shown(one.summary))
            for one in listed
            for shown in (escaped if one.installed else literal,)
        ]
        menu = "\n".join(one.id.partition("/")[2] for one in listed)
        absent = "" if all(one.installed for one in listed) else "Not installed here.\n\n"
        text = f"# Tasks: {space}\n\n{absent}{table(('task', 'summary'), rows)}\n\n"
        text += f"```{{toctree}}\n:hidden:\n\n{menu}\n```\n"
        (folder / space / "index.md").write_text(text, "utf-8")
    rows = []
    for space in spaces:
        listed = [page for page in pages if page.namespace == space]
        titles = [escaped(one.title) if one.installed else literal(one.title) for one in listed]
        more = ", …" * (len(titles) > SHOWN)
        rows.append(
            (f"[{space}]({space}/index.md)", str(len(listed)), ", ".join(titles[:SHOWN]) + more)
        )
    menu = "\n".join(f"{space}/index" for space in spaces)
    head = described_as("All tasks, with filters by species, topic, inputs, networks and paper.")
    text = (
        f"{head}# Tasks\n\nFilters are in the address of this page, so that a list can be linked. *Networks*"
        " is the verdict of [the gallery](../docs/gallery-results.md): learned, if a network has gone 0.9"
        " of the way from the best shortcut to the ideal.\n\n"
        f"```{{raw}} html\n<div id='filters'></div>\n{wall(pages, '../')}\n```\n\n"
        f"## Packages\n\n{table(('package', 'tasks', 'such as'), rows)}\n\n"
        f"```{{toctree}}\n:hidden:\n:maxdepth: 2\n\n{menu}\n```\n"
    )
    (folder / "index.md").write_text(text, "utf-8")


def wall(pages: Sequence[TaskPage], root: str = "") -> str:
    """Return a list of tasks with thumbnails, as HTML; a script adds filters to it.

    Args:
        pages: the pages.
        root: address of the root of the site.
    """
    items = []
    for one in pages:
        facts = {
            **{name: getattr(one, fact) for name, fact in FILTERS.items()},
            "play": "in the page" if one.played else "",
        }
        data = {name: json.dumps(_listed(value)) for name, value in facts.items()}
        data["text"] = " ".join((one.title, one.id, one.paper, one.summary)).lower()
        given = " ".join(f'data-{name}="{html.escape(text)}"' for name, text in data.items())
        paper = f'<span class="paper">{html.escape(one.paper)}</span>' if one.paper else ""
        picture = f'<img src="{root}{one.picture}" alt="" loading="lazy" width="320">'
        state = "" if one.installed else '<span class="state">not installed</span>'
        items.append(
            f'<li {given}><a href="{root}{one.page}.html">{picture if one.picture else ""}'
            f"<strong>{html.escape(one.title)}</strong></a> {state}{paper}"
            f'<span class="summary">{html.escape(one.summary)}</span></li>'
        )
    return '<ul class="wall" id="wall">\n' + "\n".join(items) + "\n</ul>"


def _listed(value: str | Iterable[str]) -> list[str]:
    """Return the values of a fact."""
    return [one for one in ((value,) if isinstance(value, str) else value) if one]
