"""The front page of the site: five doors, and some of the tasks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from task_pages import TaskPage, described_as, wall

ABOUT = (
    "neurogym-core turns one description of a neuroscience task into a Gymnasium env, a vector env,"
    " batches for supervised learning, and a table of behaviour that you analyse like that of animals."
)
DOORS = (
    (
        "I train a network",
        "i-train-a-network",
        "Datasets and envs, from the command line to a fit.",
    ),
    (
        "I use an env",
        "i-use-an-env-for-reinforcement-learning",
        "Envs for reinforcement learning: steps, sessions, agents.",
    ),
    ("I bring a task", "i-bring-a-task", "From an empty file to a package that others install."),
    ("I study behaviour", "i-study-behaviour", "Records, fits, and your animals' trials."),
    ("I change the core", "i-change-the-core", "Architecture, decisions, and how to contribute."),
)
SHOWN = (
    "perceptual/RoitmanShadlen-v0",
    "perceptual/PoissonClicks-v1",
    "ibl/IBLBlocks-v0",
    "value/DawTwoStep-v0",
    "timing/ReadySetGo-v0",
    "memory/ColourWheel-v0",
    "yang19/Go-v0",
    "control/StopSignal-v1",
)
"""Tasks on the front page."""
TOPICS = ("evidence-accumulation", "working-memory", "timing", "reward-learning", "inhibition")
PICTURES = ("demo.png", "demo-narrow.png")
"""Pictures in ``docs/images`` of the demo, for wide and narrow screens."""
DEMO = (
    f'<picture><source media="(max-width: 700px)" srcset="{PICTURES[1]}">'
    f'<img src="{PICTURES[0]}" alt="A trial of random-dot motion, and the psychometric curves of three'
    ' subjects"></picture>'
)
MENU = """```{toctree}
:hidden:

tasks/index
wrappers/index
docs/index
docs/api
packages/index
docs/glossary
Decisions <docs/decisions/README>
Benchmarks <docs/performance>
Changelog <CHANGELOG>
cite
Contributing <CONTRIBUTING>
CODE_OF_CONDUCT
SECURITY
registry/README
registry/POLICY
README
```
"""


def write(folder: Path, pages: Sequence[TaskPage]) -> None:
    """Write ``index.md`` into a folder, with some of the tasks that have pages.

    `PICTURES` have to be at the root of the site.
    """
    parts = [
        f"{described_as(ABOUT)}# Cognitive tasks for animals, people and networks",
        ABOUT,
        f"```{{raw}} html\n{DEMO}\n```",
        "No package is on a package index yet. In a checkout of the repository, the first command"
        " installs the core, the tasks and the analyses, and draws the picture above. The second lets a"
        " diffusion model play a task whose subjects decide when to answer, and writes a report with"
        " psychometric and chronometric curves:",
        "```console\n$ make demo\n"
        "$ .venv/bin/ngym evaluate RoitmanShadlen-v0 --subject diffusion --out report\n```",
        "[The README](README.md) continues from here, and"
        " [CONTRIBUTING](CONTRIBUTING.md) has the commands without make.",
        _doors(),
        f"## {len(pages)} tasks",
        f"```{{raw}} html\n{_topics(len(pages))}\n{wall([one for one in pages if one.id in SHOWN])}\n```",
        MENU,
    ]
    (folder / "index.md").write_text("\n\n".join(parts), "utf-8")


def _topics(n: int) -> str:
    """Return links into the list of tasks, as HTML."""
    links = {f"All {n} tasks": "", "Play in your browser": "?play=in+the+page"}
    links |= {one: f"?tag={one}" for one in TOPICS}
    links |= {one: f"?species={one}" for one in ("human", "monkey", "mouse", "rat")}
    rows = [f'<a href="tasks/index.html{query}">{name}</a>' for name, query in links.items()]
    return f'<p class="topics">{" ".join(rows)}</p>'


def _doors() -> str:
    cards = [
        f":::{{grid-item-card}} {title}\n:link: docs/index.html#{anchor}\n\n{text}\n:::"
        for title, anchor, text in DOORS
    ]
    return "::::{grid} 1 2 3 5\n:gutter: 2\n\n" + "\n\n".join(cards) + "\n::::"
