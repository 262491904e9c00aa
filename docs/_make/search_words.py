"""Words by which the search of the site finds a page, as entries of its index.

An entry counts more than words in the text. Pages of wrappers have the name of their class, those of
tasks their class and the words of `TASKS`, the glossary its terms, and `WORDS` lists words for further pages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

WORDS = {
    "README": ("install", "installation", "quick start"),
    "docs/write-a-task": ("write a task", "how to write a task", "new task", "define a task"),
    "docs/write-a-wrapper": ("write a wrapper",),
    "docs/train-an-agent": ("PPO", "A2C", "Stable-Baselines3", "reinforcement learning", "agent"),
    "docs/train-your-first-network": ("train a network", "RNN", "supervised learning"),
    "docs/train-with-torch": ("PyTorch", "torch"),
    "docs/gpu": ("GPU", "JAX", "device"),
    "docs/analyse-behaviour": (
        "psychometric",
        "psychometric function",
        "chronometric function",
        "CSV",
    ),
    "docs/from-a-labs-file": ("my data", "import data"),
    "docs/to-nwb-and-back": ("NWB", "BIDS"),
    "docs/play": ("play", "jsPsych", "browser", "human", "people"),
    "docs/bring-your-task": ("NeuroGym", "migrate"),
    "docs/coming-from": ("PsychRNN", "bsuite", "Gymnasium"),
    "docs/faq": ("FAQ", "questions", "troubleshooting", "error", "problem"),
    "docs/teach": ("teach", "course", "lecture", "students", "exercises"),
    "docs/sweep": ("cluster", "hyperparameters", "Slurm"),
    "docs/performance": ("speed", "steps per second", "benchmark"),
    "docs/publish-a-task": ("publish", "registry"),
    "docs/conformance": ("ngym check", "tests of a task"),
    "docs/api": ("API", "TrialRecord", "make_vec"),
    "docs/api-players": ("make_vec",),
    "cite": ("cite", "citation", "BibTeX"),
}
TASKS = {
    "random dots": ("PerceptualDecisionMaking-v0", "RoitmanShadlen-v0", "RandomDotMotion-v0"),
    "clicks": ("PoissonClicks-v1",),
    "working memory": (
        "DelayMatchSample-v0",
        "DelayComparison-v0",
        "Sternberg-v0",
        "ColourWheel-v0",
    ),
    "two-step": ("DawTwoStep-v0",),
    "bandit": ("Bandit-v0",),
    "stop signal": ("StopSignal-v1",),
    "interval reproduction": ("ReadySetGo-v0",),
    "International Brain Laboratory": ("IBLBlocks-v0",),
    "image task": ("RandomDotMotion-v0", "VisualSearch-v0"),
}
"""Entry -> the tasks that a reader who types it most likely wants."""
UNLISTED = ("CHANGELOG.md", "docs/decisions/*.md")
"""Pages that the search leaves out: they are for developers, and name everything."""


def write(folder: Path) -> None:
    """Add the entries of `WORDS`, of the wrappers and of the glossary to the pages in a folder.

    Pages of `UNLISTED` are left out of the search.
    """
    for pattern in UNLISTED:
        for path in folder.glob(pattern):
            path.write_text("---\nnosearch: true\n---\n\n" + path.read_text("utf-8"), "utf-8")
    entries = {name: list(words) for name, words in WORDS.items()}
    for path in (folder / "docs" / "wrappers").glob("*.md"):
        name = path.read_text("utf-8").partition("\n")[0].removeprefix("# ")
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
        entries[f"docs/wrappers/{path.stem}"] = [name, f"{spaced} wrapper", spaced]
    glossary = (folder / "docs" / "glossary.md").read_text("utf-8")
    entries["docs/glossary"] = re.findall(r"^\| ([a-z][\w -]*) \|", glossary, re.MULTILINE)
    for name, words in entries.items():
        page = folder / f"{name}.md"
        page.write_text(with_entries(page.read_text("utf-8"), words), "utf-8")


def with_entries(page: str, words: Iterable[str]) -> str:
    """Return a page with entries of the index below its title."""
    rows = [f"```{{index}} ! {one}\n```\n" for one in dict.fromkeys(words)]
    parts = "\n".join(["\\1\n", *rows])
    # A comment or raw HTML behind the entries would swallow their targets.
    head = r"^(# .*(?:\n\n(?:<!--.*-->|```\{raw\} html\n(?:.*\n)*?```))*)\n"
    return re.sub(head, parts, page, count=1, flags=re.MULTILINE)


def of_task(name: str) -> list[str]:
    """Return the entries of the page of a task: its class, and those of `TASKS`."""
    return [name.rpartition("-v")[0], *(entry for entry, names in TASKS.items() if name in names)]
