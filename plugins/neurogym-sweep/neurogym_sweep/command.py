"""``ngym sweep`` and ``ngym sweep show``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from neurogym_records.options import running_options

from neurogym_core.tools import Page, complete, print_json, read_value, usage_errors

if TYPE_CHECKING:
    from neurogym_sweep.plan import SweepAxis
    from neurogym_sweep.sweep import Summary

MAX_RUNS = 100_000


class _Sweeps(click.Group):
    """A group whose command `run` needs no name: ``ngym sweep experiment.toml``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does, after adding ``run`` where no command is named."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group("sweep", cls=_Sweeps, short_help="Do many runs with varied settings.")
def command() -> None:
    """Do many runs with varied settings, on this machine or on a cluster.

    \b
    ngym sweep experiment.toml --vary seed=0:20 --vary hidden=64,256
    ngym sweep show

    `ngym sweep FILE.toml` is short for `ngym sweep run FILE.toml`.
    """


@command.command("run", short_help="Do the runs that are missing, and write the table.")
@click.argument(
    "source",
    required=False,
    metavar="[FILE.toml|TASK]",
    shell_complete=partial(complete, ("tasks",)),
)
@click.option(
    "--do",
    "work",
    metavar="WORK",
    help="train, evaluate, likeness, or a function: module:function, file.py:function.  [default:"
    " train if the file has a table [train], else evaluate]",
)
@click.option(
    "--vary",
    multiple=True,
    metavar="NAME=VALUES",
    help="A setting and its values: seed=0:20, hidden=64,256, task=yang19/*, rate=log(1e-4,0.1).",
)
@click.option(
    "--table",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A CSV file with a row of settings for each run.",
)
@click.option("--zip", "zipped", is_flag=True, help="Combine the first values, the second ones, ….")
@click.option(
    "--random",
    "draws",
    type=click.IntRange(min=1),
    metavar="N",
    help="Draw N rows from the values and ranges.",
)
@click.option(
    "--search",
    type=click.IntRange(min=1),
    metavar="N",
    help="Try N rows that Optuna proposes; needs --maximize or --minimize.",
)
@click.option("--maximize", metavar="RESULT", help="The goal of --search, e.g. accuracy.")
@click.option("--minimize", metavar="RESULT", help="The goal of --search, e.g. loss.")
@click.option(
    "--draw-seed",
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    help="Seed of --random and --search.",
)
@click.option(
    "--on",
    "engine",
    default="processes",
    show_default=True,
    metavar="ENGINE",
    help="processes, threads, serial, dask[:ADDRESS], ray[:ADDRESS], slurm, or another backend of"
    " joblib.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Runs at a time on this machine, or jobs of Slurm.  [default: one per core; with slurm:"
    " 10]",
)
@click.option(
    "--slurm",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of submitit, e.g. timeout_min=60 or slurm_partition=gpu.",
)
@click.option(
    "--out",
    default="sweep",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the sweep.",
)
@click.option(
    "--log",
    "trackers",
    multiple=True,
    metavar="TRACKER",
    help="Also log the results to tensorboard, wandb or mlflow.",
)
@click.option("--retry", is_flag=True, help="Do failed runs again.")
@click.option("--dry-run", is_flag=True, help="Check all rows, and print how many runs are left.")
@click.option(
    "--max-runs",
    default=MAX_RUNS,
    show_default=True,
    type=click.IntRange(min=1),
    metavar="N",
    help="Refuse sweeps with more rows.",
)
@running_options(
    "Threads of numerical libraries in a run.  [default: cores / jobs; on a cluster: 1]"
)
def run(source: str | None, out: Path, dry_run: bool, quiet: bool, **given: Any) -> None:
    """Do the runs of an experiment that are missing, and write their table.

    \b
    ngym sweep experiment.toml --vary seed=0:20 --vary hidden=64,256
    ngym sweep PerceptualDecisionMaking-v0 --vary subject=guess,integrator --vary seed=0:5
    ngym sweep --do study.py:simulate --table rows.csv --on dask:tcp://head:8786
    ngym sweep experiment.toml --vary rate=log(1e-4,0.1) --search 50 --maximize accuracy
    ngym sweep --do likeness --vary run=sweep/runs/* --out likeness

    Settings are those of the trainer, of the task, or timing.PERIOD, rewards.NAME, conditions.NAME
    and subject.NAME. A training has a folder, sweep/runs/KEY. After an interruption, the same
    command does the missing runs only, also on several machines that share the folder.
    sweep/table.parquet has one row per run and test; a run that failed has a row with its error.
    """
    from neurogym_sweep.engines import Engine
    from neurogym_sweep.plan import Plan, read_axis, read_rows
    from neurogym_sweep.sweep import Sweep
    from neurogym_sweep.trackers import check_trackers
    from neurogym_sweep.works import work_named

    with usage_errors():
        engine = Engine.of(
            given["engine"],
            jobs=given["jobs"],
            threads=given["threads"],
            slurm=_pairs(given["slurm"]),
        )
        axes = tuple(read_axis(text) for text in given["vary"])
        table = tuple(read_rows(given["table"])) if given["table"] else ()
        goal = _goal(given, table)
        plan = None if goal else Plan(
            axes, table, given["zipped"], given["draws"], given["draw_seed"]
        )  # fmt: skip
        rows = None if plan is None else plan.rows(given["max_runs"])
        engine.check()
        check_trackers(given["trackers"])
        work = work_named(given["work"], source)
    if goal:
        _search(work, axes, out, engine, goal, dry_run, given)
        return
    with usage_errors():
        sweep = Sweep(work, rows, out)
    if sweep.repeated:
        click.echo(
            f"{sweep.repeated} rows repeat runs of earlier rows, and are left out.", err=True
        )
    if dry_run:
        left = len({job.key for job in sweep.jobs} - sweep.store.done())
        click.echo(f"{len(sweep.jobs):,} runs, {left:,} of them left. All settings are valid.")
        return
    try:
        summary = sweep.run(
            engine, trackers=given["trackers"], retry=given["retry"], progress=not quiet
        )
    except KeyboardInterrupt:
        raise click.ClickException(
            f"Interrupted. The same command does the runs that are missing in {out}."
        ) from None
    _report(summary)


def _search(
    work: Any,
    axes: tuple[SweepAxis, ...],
    out: Path,
    engine: Any,
    goal: tuple[str, bool],
    dry_run: bool,
    given: dict[str, Any],
) -> None:
    from neurogym_sweep.search import Search

    name, maximize = goal
    with usage_errors():
        search = Search(work, axes, out, goal=name, maximize=maximize, seed=given["draw_seed"])
    if dry_run:
        click.echo(f"A search over {len(search.axes)} settings. Their ends are valid.")
        return
    try:
        with usage_errors():
            found = search.run(given["search"], engine, given["trackers"])
    except KeyboardInterrupt:
        raise click.ClickException(
            f"Interrupted. The same command continues the search in {out}."
        ) from None
    if found.best is not None:
        said = " ".join(f"{key}={_short(value)}" for key, value in found.best.items())
        click.echo(f"The best {name} is {_short(found.value)}: {said}")
    _report(found.summary)


def _goal(given: dict[str, Any], table: tuple) -> tuple[str, bool] | None:
    """Return the goal of a search and whether it is maximized; None if none is asked for."""
    goals = [(given[name], name == "maximize") for name in ("maximize", "minimize") if given[name]]
    if given["search"] is None:
        if goals:
            raise click.UsageError(
                "--maximize or --minimize was given without --search. Expected both. Add --search"
                " N."
            )
        return None
    if len(goals) != 1:
        raise click.UsageError(
            f"--search was given with {len(goals)} goals. Expected one. Add --maximize accuracy or"
            " --minimize loss."
        )
    if table or given["zipped"] or given["draws"] or given["retry"]:
        raise click.UsageError(
            "--search was given with --table, --zip, --random or --retry. Expected --vary alone."
            " Leave the others out."
        )
    return goals[0]


def _pairs(texts: tuple[str, ...]) -> dict[str, Any]:
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise click.UsageError(
                f"--slurm was given {text!r}. Expected a name and a value, as in --slurm"
                " timeout_min=60."
            )
        pairs[name] = read_value(value)
    return pairs


def _report(summary: Summary) -> None:
    kept = summary.runs - summary.left - summary.new
    before = f" ({kept:,} before)" if kept else ""
    click.echo(
        f"{summary.done:,} of {summary.runs:,} runs done{before}, {summary.failed:,} failed, in"
        f" {summary.seconds:.1f} s. The table is {summary.table}."
    )
    if summary.failed:
        click.echo("`ngym sweep show` lists the errors; --retry does these runs again.", err=True)
        raise click.exceptions.Exit(1)


@command.command("show", short_help="Summarize, draw or query the table.")
@click.argument(
    "folder",
    default="sweep",
    metavar="[FOLDER]",
    type=click.Path(file_okay=False, path_type=Path),
)
@click.option("--sql", help="Query the table, which is called runs; needs the extra [sql].")
@click.option("--metric", help="The result to show.  [default: accuracy, or the first result]")
@click.option(
    "--curves", is_flag=True, help="Draw the result over tests, with its spread over seeds."
)
@click.option("--heat", metavar="X,Y", help="Draw the result over two settings.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of the figure: .png, .svg or .pdf.  [default: curves.png or heat.png in FOLDER]",
)
@click.option("--json", "as_json", is_flag=True, help="Print rows as a JSON array.")
def show(
    folder: Path, sql: str | None, metric: str | None, curves: bool, heat: str | None,
    output: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Summarize the results of a sweep, also of one that is running.

    \b
    ngym sweep show
    ngym sweep show --sql "select hidden, avg(accuracy) from runs where last group by hidden"
    ngym sweep show --curves
    ngym sweep show --heat hidden,rate -o heat.png

    The mean and the standard deviation are over the seeds, in the last test of each run. SQL is
    that of DuckDB; columns are the settings that vary, the results, and key, status, error, test,
    last, run_seconds, started, host and versions.
    """
    from neurogym_sweep import results
    from neurogym_sweep.store import Store
    from neurogym_sweep.table import write_table

    if sum([sql is not None, curves, heat is not None]) > 1:
        raise click.UsageError(
            "Several of --sql, --curves and --heat were given. Expected one of them. Leave the"
            " others out."
        )
    store = Store(folder)
    with usage_errors():
        plan = store.read_plan()
        table = write_table(store)
        if sql is not None:
            names, rows = results.query(table, sql)
            _print_rows(names, rows, as_json)
            return
        found = results.Results(store, metric)
        if curves or heat is not None:
            figure = found.curves() if curves else found.heat(heat or "")
            target = output or folder / ("curves.png" if curves else "heat.png")
            from neurogym_plot import save_figure  # imports NumPy

            click.echo(f"The figure is {save_figure(figure, target)}.")
            return
        names, rows = found.summary()
    if as_json:
        _print_rows(names, rows, True)
        return
    page = Page()
    page.heading(f"{plan['work']}: {len(plan['runs']):,} runs")
    page.facts(found.state())
    _add_rows(page, names, rows)
    if errors := found.errors():
        page.heading("Errors")
        _add_rows(page, ("key", "error"), errors)
    page.show()


def _print_rows(names: Any, rows: Any, as_json: bool) -> None:
    if as_json:
        print_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    page = Page()
    _add_rows(page, names, rows)
    page.show()


def _add_rows(page: Page, names: Any, rows: Any) -> None:
    page.table(list(names), [[_short(cell) for cell in row] for row in rows])


def _short(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
