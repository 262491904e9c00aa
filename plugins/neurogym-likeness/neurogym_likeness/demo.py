"""``python -m neurogym_likeness.demo``: from a task to a psychometric curve in a minute."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from neurogym_behaviour.figures import demo_figure
from neurogym_behaviour.proportions import ProportionRow, accuracy
from neurogym_behaviour.psychometric import PsychometricFit, fit_psychometric
from neurogym_plot import TrialTrace, save_figure, trace_of

from neurogym_core import NeurogymError, TrialRecord, run
from neurogym_core.tools import Page
from neurogym_core.tools import main as ngym

TASK = "perceptual/PerceptualDecisionMaking-v0"
SUBJECTS = ("random", "oracle", "integrator")
SHOWN = {"coherence": 25.6}  # of the trial in the figure, %
ABOUT = """\
The evidence is as noisy as for the monkeys of Roitman & Shadlen (2002).
- random: acts at random on every step;
- oracle: knows the targets;
- integrator: sums the evidence and reports the larger sum; no observer can do better."""
ABOUT_FITS = """\
Weibull functions are fitted. The threshold is the coherence with 82 % correct.
Intervals: profile likelihood. –: not determined by the data."""
TRY_NEXT = (
    "ngym info ReadySetGo-v0",
    "ngym run PerceptualDecisionMaking-v0 --subject integrator --n-trials 20",
    "ngym plot AntiReach-v0 --subject random -o trial.png",
)


@click.command()
@click.option(
    "-n",
    "--n-trials",
    default=2000,
    show_default=True,
    type=click.IntRange(min=50),
    help="Trials of each subject.",
)
@click.option(
    "-o",
    "--output",
    default="demo.png",
    show_default=True,
    type=click.Path(dir_okay=False, path_type=Path),
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0))
def main(n_trials: int, output: Path, seed: int) -> None:
    """Play random-dot motion with three subjects; print and draw their psychometric functions."""
    try:
        show(n_trials, output, seed)
    except NeurogymError as error:
        raise click.ClickException(str(error)) from error


def show(n_trials: int, output: Path, seed: int) -> None:
    """Run the whole demo."""
    list_tasks()
    records = play(n_trials, seed)
    draw_and_tell(records, output, seed)


def list_tasks() -> None:
    """List the installed tasks, as `ngym list` does."""
    ngym.main(["list"], prog_name="ngym", standalone_mode=False)


def play(n_trials: int, seed: int) -> dict[str, TrialRecord]:
    """Return the records of the three subjects, name -> record."""
    return {name: run(TASK, name, n_trials, num_envs=64, seed=seed) for name in SUBJECTS}


def draw_and_tell(records: Mapping[str, TrialRecord], output: Path, seed: int) -> None:
    """Print the table, and save the figure."""
    rows = {name: accuracy(record, "coherence") for name, record in records.items()}
    fits = {name: fit_psychometric(record, "coherence") for name, record in records.items()}
    save_figure(demo_figure(one_trial(seed), rows, fits), output)
    page = Page()
    page.text("\n")
    page.heading(f"{len(records['oracle']):,} trials of {TASK} for each of three subjects")
    page.text(ABOUT, indent=2, keep_lines=True)
    page.heading("Accuracy, with its 95 % interval")
    page.table(("coherence", *rows), [*accuracies(rows), *fitted(fits)])
    page.text(ABOUT_FITS, indent=2, keep_lines=True)
    page.heading(f"Saved as {output}: one trial of the integrator, and the curves")
    page.heading("Try next")
    page.text("\n".join([*filter(None, [activation()]), *TRY_NEXT]), indent=2, keep_lines=True)
    page.show()


def one_trial(seed: int) -> TrialTrace:
    """Return the trial of the figure."""
    return trace_of(TASK, "integrator", seed=seed, conditions=SHOWN)


def accuracies(rows: Mapping[str, Sequence[ProportionRow]]) -> list[tuple[str, ...]]:
    """Return a row per coherence with a cell per subject."""
    return [
        (
            f"{same[0].value:g} %",
            *(f"{row.fraction:.3f} ({row.low:.3f}–{row.high:.3f})" for row in same),
        )
        for same in zip(*rows.values(), strict=True)
    ]


def fitted(fits: Mapping[str, PsychometricFit]) -> list[tuple[str, ...]]:
    """Return the rows of the thresholds and lapse rates, with a cell per subject."""
    return [
        ("threshold, %", *(fitted_value(fit, "threshold", ".1f") for fit in fits.values())),
        ("lapse rate", *(fitted_value(fit, "lapse", ".3f") for fit in fits.values())),
    ]


def fitted_value(fit: PsychometricFit, name: str, form: str) -> str:
    """Format a parameter with its interval; a dash if the data do not determine it."""
    if name in fit.undetermined:
        return "–"
    low, high = fit.intervals[name]
    return f"{getattr(fit, name):{form}} ({low:{form}}–{high:{form}})"


def activation() -> str:
    """Return the command that activates this virtual environment; empty outside of one."""
    if sys.prefix == sys.base_prefix:
        return ""
    folder = Path(sys.prefix)
    if folder.is_relative_to(Path.cwd()):
        folder = folder.relative_to(Path.cwd())
    if sys.platform == "win32":
        return f"{folder}\\Scripts\\activate"
    return f". {shlex.quote(str(folder / 'bin' / 'activate'))}"


if __name__ == "__main__":
    main(prog_name="python -m neurogym_likeness.demo")
