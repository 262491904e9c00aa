"""Build a page of each kind of the site, and the catalogue page: ``python docs/_make/sample_site.py``.

Continuous integration runs it in the environment of the site, which takes a minute; the whole site
takes several. The pages are written to ``docs/_build``, and text that they need is looked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "docs" / "_build" / "sample"
CATALOGUE = ROOT / "docs" / "_build" / "catalogue.html"
TASKS = ("perceptual/RoitmanShadlen-v0", "visual/RandomDotMotion-v0")
LISTED = "neurogym-task-yang19"
"""A package that this build does not see, so that its tasks are listed from its sources."""
TEXTS = {
    # with results of networks, and with psychometric functions
    f"tasks/{TASKS[0]}.html": (
        "Trained networks",
        "Psychometric functions of the trained",
        'name="description"',
    ),
    # a plain Gymnasium env with results
    f"tasks/{TASKS[1]}.html": ("Trained networks", "SyncVectorEnv"),
    "tasks/yang19/Go-v0.html": (
        "not installed where this site was built",
        "plugins/neurogym-task-yang19",
    ),
    "docs/wrappers/noise.html": ("Env, vector env and dataset",),
    "docs/api.html": ("TrialBuilder.show",),
    "packages/neurogym_torch.html": ("LeakyRNN.read",),
    "docs/train-your-first-network.html": ("Next on your path",),
}
"""Page -> text on it."""


def main() -> int:
    """Build the pages, and return the exit status."""
    environment = {**os.environ, "NGYM_BLOCK": LISTED}
    command = [
        str(Path(__file__).with_name("build_site.py")),
        "--to",
        str(TARGET),
        "--only",
        *TASKS,
    ]
    subprocess.run([sys.executable, *command], env=environment, check=True)
    texts = {TARGET / page: found for page, found in TEXTS.items()}
    registry = ["registry", "site", str(ROOT / "registry"), "-o", str(CATALOGUE)]
    subprocess.run([Path(sys.executable).with_name("ngym"), *registry], check=True)
    texts[CATALOGUE] = (*TASKS, "neurogym-task-yang19, from its sources")
    missing = [
        f"{page}: {text!r}"
        for page, found in texts.items()
        for text in found
        if not page.is_file() or text not in page.read_text("utf-8")
    ]
    print(
        "\n".join(f"missing: {one}" for one in missing) or f"{len(texts)} pages have their texts."
    )
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
