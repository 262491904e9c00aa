"""``ngym train``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from neurogym_records.options import running_options, tasks_like

from neurogym_core.tools import read_value, usage_errors

if TYPE_CHECKING:
    from neurogym_core.tools import TaskInfo
    from neurogym_training.experiment import Experiment
    from neurogym_training.runs import Run
    from neurogym_training.training import Trainer

ENDING = ("criterion", "patience", "best_by", "snapshots")
SNAPSHOTS = ("none", "log", "all")
"""As in `Experiment` and `training`, which import NumPy."""
OWN = "own"
"""Name of the trainer of networks from files."""
AMOUNTS = {"model": ("updates", 2000), "algo": ("steps", 50_000)}


@click.command("train", short_help="Train a network or an agent on a task.")
@click.argument("tasks", nargs=-1, metavar="TASK...|FILE.toml")
@click.option(
    "--model",
    help="A network, trained on targets: rnn (try it first), gru, lstm, low-rank, another"
    " installed one, or a class of torch.nn.Module in a file: my_net.py:Net.",
)
@click.option(
    "--algo",
    help="An algorithm that learns from reward: recurrent-ppo, which has the memory that most tasks"
    " need; ppo and a2c, which have none; or another installed one.",
)
@click.option(
    "--updates",
    type=click.IntRange(min=1),
    help="With --model: number of updates.  [default: 2000]",
)
@click.option(
    "--steps", type=click.IntRange(min=1), help="With --algo: number of steps.  [default: 50000]"
)
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    help="Trials per batch (--model), or steps per batch (--algo).",
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed of everything random.  [default: 0]")
@click.option(
    "--criterion",
    type=float,
    help="Stop at this mean performance, e.g. 0.85; trials with a broken hold count as 0.",
)
@click.option(
    "--patience",
    type=click.IntRange(min=1),
    metavar="TESTS",
    help="Stop after so many tests without a better one.",
)
@click.option(
    "--best-by",
    metavar="COLUMN",
    help="Column of curve.csv that says which test is best: clean, accuracy, reward or loss."
    "  [default: clean]",
)
@click.option(
    "--snapshots",
    type=click.Choice(SNAPSHOTS),
    help="Checkpoints to keep beside the newest and the best: log, those of the tests 0, 1, 2, 4,"
    " 8, ...; or all.  [default: none]",
)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder of the run.")
@click.option(
    "--resume",
    type=click.Path(file_okay=False, path_type=Path),
    help="Resume the run in this folder.",
)
@click.option(
    "--recipe",
    metavar="NAME",
    help="Settings that a package offers, such as those of a paper: yang19. TASKs are all, some, or"
    " others than those of the recipe.",
)
@click.option(
    "--set",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the task, e.g. coherences=0,51.2, or of those of several tasks that have"
    " it; may be repeated.",
)
@click.option(
    "--timing",
    multiple=True,
    metavar="PERIOD=MS",
    help="Duration of a period, e.g. delay=500 or 'delay=uniform(500,1500)'.",
)
@click.option(
    "--reward", "rewards", multiple=True, metavar="NAME=AMOUNT", help="A reward, e.g. abort=-0.1."
)
@click.option(
    "--condition",
    "conditions",
    multiple=True,
    metavar="NAME=VALUE",
    help="Impose a condition on all trials.",
)
@click.option(
    "--wrap",
    multiple=True,
    metavar="NAME[:KEY=VALUE,...]",
    help="A wrapper with its settings, e.g. reaction_time:urgency=-0.01; innermost first.",
)
@click.option("--pass-reward", is_flag=True, help="Show the agent its last reward.")
@click.option("--pass-action", is_flag=True, help="Show the agent its last action.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the trainer, e.g. hidden=64, weight_decay=1e-5 or schedule=cosine.",
)
@click.option(
    "--log",
    type=click.Choice(("tensorboard", "wandb")),
    help="Also log every test: as TensorBoard events in the run's folder, or to Weights & Biases.",
)
@running_options(
    "CPU threads of the training.  [default: 1 for networks of up to 512 hidden units]"
)
def command(
    tasks: tuple[str, ...], resume: Path | None, log: str | None, quiet: bool, **given: Any
) -> None:
    """Train a network or an agent on one task, or on several at once.

    \b
    ngym train PerceptualDecisionMaking-v0 --model rnn --criterion 0.75 --out run
    ngym train PerceptualDecisionMaking-v0 --algo recurrent-ppo --criterion 0.75 --out agent
    ngym train "yang19/*" --model gru --updates 12000 --out twenty
    ngym train yang19 --recipe yang19 --out paper
    ngym train experiment.toml --seed 2 --out run2
    ngym train --resume run --updates 4000

    It learns from trials of the split train, and its tests while it learns play validation. `ngym
    run --subject RUN`, `evaluate` and `likeness` play test: new trials, whatever the seeds are.

    The run's folder holds settings.json, curve.csv and the newest checkpoint; its folder best has
    the best one, and folders such as at-1000 those that --snapshots keeps. Commands that open RUN
    open RUN/best and RUN/at-1000 too. After an interruption, --resume continues from the newest.

    \b
    Settings of the networks of neurogym-torch, for --option, with their defaults:
      hidden=128  seq_len (whole trials)  loss=cross-entropy|mse  rest_weight=1
      balance=0.5 (short answers weigh more)  clip=1
      learning_rate=5e-3  optimizer=adam|adamw|rmsprop|sgd
      weight_decay=0  rate_cost=0 (mean squared activity)  rate_l1=0  weight_l1=0
      frozen (patterns of parameters that are not trained)  weight_power=1
      schedule=constant|step|exponential|linear|cosine
      schedule_updates=1000  schedule_factor=0.1 (then the learning rate is a tenth)
      stages (easier versions of the tasks, learned first; see the README)
      advance_at=0.8 (accuracy that ends a stage)
      precision=float32|bfloat16  device=cpu|cuda  answers=first|last
      test_every=100  test_trials=500

    \b
    Settings of recurrent-ppo of neurogym-sb3, with their defaults:
      envs=16  n_steps=128 (per env and rollout: let it hold several trials)
      batch=512  n_epochs=10  hidden=64  learning_rate=3e-3  gamma=0.99 (per step)
      gae_lambda=0.85  ent_coef=0.01  a2c=false (true learns fewer tasks)
      test_every=5000  test_trials=500
    """
    run = _resumed(resume, tasks, given) if resume is not None else _begun(tasks, given)
    with usage_errors(), run.locked():
        on_test = _logging(log, run)
        with _differences_on_stderr():
            trainer = run.trainer()
        run.write()  # after the checkpoint was read: a damaged run stays as it is
        trainer_line = f"{trainer.unit} in {run.folder}"
        info = _known_task(run, trainer)
        try:
            why = trainer.train(
                run.experiment.amount,
                out=run.folder,
                **run.experiment.ending(),
                progress=not quiet,
                on_test=on_test,
            )
        except KeyboardInterrupt:
            raise click.ClickException(
                f"Interrupted after {trainer.done} {trainer_line}; the checkpoint is written."
                f" `ngym train --resume {run.folder}` continues."
            ) from None
        except Exception:
            if resume is None:
                run.withdraw()  # the same command can follow a repair
            raise
    last = trainer.curve[-1]
    reached = {
        "criterion": "the criterion is met",
        "patience": f"no better test in {run.experiment.patience} after {trainer.done}"
        f" {trainer.unit}",
    }.get(why, f"{trainer.done} {trainer.unit} done")
    click.echo(
        f"{reached}: accuracy {last['accuracy']:.3f}{_levels(run, info, last['accuracy'])} after"
        f" {last['seconds']:.0f} s. The run is in {run.folder}."
    )
    stages, stage = getattr(trainer, "stages", ()), getattr(trainer, "stage", 0)
    if stage < len(stages):
        click.echo(
            f"It ended in stage {stage} (from 0; {len(stages)} come before the task itself), and"
            f" was not trained on the task. More {trainer.unit} with --resume continue it; a lower"
            " `advance_at` ends a stage earlier.",
            err=True,
        )
    if last["aborts"] >= 0.05:
        click.echo(
            f"It broke a hold {last['aborts']:.2g} times per trial; counting those trials as 0, its"
            f" accuracy is {last['clean']:.3f}."
        )
    if run.experiment.criterion is not None and why != "criterion":
        click.echo(f"The criterion of {run.experiment.criterion:g} was not met.", err=True)
        sys.exit(1)


def _logging(log: str | None, run: Run) -> list[Any]:
    """Return the callbacks of --log; their libraries are imported here."""
    from neurogym_core.tools import optional
    from neurogym_training.callbacks import TensorBoard, WeightsAndBiases

    if log == "tensorboard":
        return [TensorBoard(run.folder / "tensorboard")]
    if log == "wandb":
        wandb = optional("wandb", needed_for="--log wandb")
        config = run.experiment.to_plain()
        return [WeightsAndBiases(wandb.init(config=config, dir=str(run.folder), resume="allow"))]
    return []


MEMORY = (
    "working-memory",
    "delayed-response",
    "evidence-accumulation",
    "match-to-sample",
    "comparison",
    "timing",
    "reversal",
)
"""Tags of tasks in which the correct answer depends on earlier observations or rewards.

It also does where a policy of `EARLIER` performs better by `CLEARLY` than all of `ONE_TRIAL`.
"""
EARLIER = ("history", "winstay", "counter")
"""Policies of the audit that know earlier trials alone: their right answers, or their number."""
ONE_TRIAL = ("rest", "constant", "clock", "guess", "random", "reflex", "all")
"""Policies of the audit that know the current trial alone."""
CLEARLY = 0.1
"""Difference in performance that makes memory worth a warning."""


def _known_task(run: Run, trainer: Trainer) -> TaskInfo | None:
    """Return the only task of a run, if it is installed.

    Warn on stderr if it needs memory and the trainer has none.
    """
    from neurogym_core.players import TaskView
    from neurogym_core.tools import find_task, in_words, is_file_reference

    name = run.experiment.tasks[0]["task"]
    # In a mixture of tasks, levels of its first task say nothing.
    mixed = "other_tasks" in TaskView(trainer.tasks[0]).parameters
    if len(run.experiment.tasks) > 1 or is_file_reference(name) or mixed:
        return None
    info = find_task(name)
    needs = [tag for tag in MEMORY if tag in info.tags]
    best = max(info.shortcuts.get(one, 0.0) for one in ONE_TRIAL)
    earlier = {one: info.shortcuts[one] for one in EARLIER if one in info.shortcuts}
    if max(earlier.values(), default=0.0) > best + CLEARLY:
        needs.append(in_words(max(earlier, key=earlier.__getitem__)))
    if needs and not trainer.memory:
        click.echo(
            f"{run.experiment.trainer} has no memory, and {name} needs it ({', '.join(needs)})."
            " Use --algo recurrent-ppo.",
            err=True,
        )
    return info


def _levels(run: Run, info: TaskInfo | None, accuracy: float) -> str:
    """Return the levels of the task as text after an accuracy; "" if none are known.

    They are chance, the best shortcut, a classifier of everything that is shown and the ideal, as
    the manifest has them for the default parameters, and the share of the way from the best
    shortcut to the ideal.
    """
    from neurogym_core.tools import in_words
    from neurogym_training.levels import SAME, best_shortcut, relative

    if info is None:
        return ""

    def said(name: str) -> str:
        ends = info.intervals.get(name)
        interval = f" [{ends[0]:g}, {ends[1]:g}]" if ends else ""
        return f"{info.shortcuts[name]:g}{interval}"

    known, best = info.shortcuts, best_shortcut(info)
    blind = info.best_blind
    parts = [f"chance, {in_words(blind)}, {info.chance:g}"] if blind is not None else []
    if best is not None and known[best] > (info.chance or 0.0) + SAME:
        parts.append(f"best shortcut, {in_words(best)}, {said(best)}")
    if "all" in known:
        parts.append(f"{in_words('all')} {said('all')}")
    parts.append(f"ideal {info.ideal['value']:g}" if info.ideal else "ideal not known")
    changed = len(run.experiment.tasks[0]) > 1 or run.experiment.parameters or run.experiment.wrap
    share = None if changed else relative(info, accuracy)
    if share is not None:
        parts.append(f"{100 * share:.0f} % of the way from the best shortcut to the ideal")
    where = "with the default parameters: " if changed else ""
    return f" ({where}{'; '.join(parts)})" if known or info.ideal else ""


@contextmanager
def _differences_on_stderr() -> Iterator[None]:
    """Say on stderr if a run began under other conditions, in place of a warning."""
    import warnings

    from neurogym_training.runs import RunDiffers

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RunDiffers)
        yield
    for warning in caught:
        if issubclass(warning.category, RunDiffers):
            click.echo(str(warning.message), err=True)
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


def _resumed(folder: Path, tasks: Sequence[str], given: dict[str, Any]) -> Run:
    """Return the run to resume; only its number of updates or steps can change."""
    from neurogym_training.runs import Run

    other = [
        name
        for name, value in given.items()
        if value not in (None, (), False) and name not in ("updates", "steps")
    ]
    if tasks or other:
        flags = {one.name: one.opts[0] for one in click.get_current_context().command.params}
        names = [*tasks, *(flags[name] for name in other)]
        raise click.UsageError(
            f"--resume was given with {', '.join(names)}; a run keeps its settings. Give --updates"
            " or --steps only."
        )
    with usage_errors(), _differences_on_stderr():
        run = Run.open(folder)
        if run.checkpoint != run.folder:
            raise click.UsageError(
                f"{folder} is a checkpoint of the run {run.folder}. Expected the run, which"
                f" continues from its newest checkpoint. Give --resume {run.folder}."
            )
        amount = _amount(run.experiment.kind, given, None)
    if amount is not None:
        run.experiment = run.experiment.with_amount(amount)
    return run


def _begun(tasks: Sequence[str], given: dict[str, Any]) -> Run:
    from neurogym_training.runs import Run
    from neurogym_training.training import checked_criterion, checked_keeping

    with usage_errors():
        experiment, out = experiment_of(tasks, given)
        if out is None:
            raise click.UsageError("No folder was given. Expected one for the run. Add --out DIR.")
        # Report invalid settings before anything is written.
        checked_criterion(experiment.criterion)
        checked_keeping(experiment.patience, experiment.snapshots)
        experiment.make_trainer()
        return Run.create(out, experiment)


def experiment_of(tasks: Sequence[str], given: dict[str, Any]) -> tuple[Experiment, Path | None]:
    """Return the experiment, and the folder for its run.

    Options of the command line override the experiment file.
    """
    from neurogym_core.tools import is_file_reference, read_wrap
    from neurogym_training.experiment import Experiment, read_experiment, task_entry, wrapper_entry
    from neurogym_training.recipes import recipe_for

    recipe = given.get("recipe")
    file = len(tasks) == 1 and tasks[0].endswith(".toml")
    if recipe and file:
        raise click.UsageError(
            f"--recipe was given with {tasks[0]}. Expected one of them. Leave one out."
        )
    if not tasks and not recipe:
        raise click.UsageError(
            "No task was given. Expected a TASK or an experiment.toml. `ngym list` shows tasks."
        )
    names = [] if file else [name for task in tasks for name in tasks_like(task)]
    said: dict[str, Any] = {"tasks": names}
    if file:
        said = read_experiment(_existing(tasks[0]))
    elif recipe:
        said = recipe_for(recipe, names)
    said.update(
        {name: value for name, value in given.items() if name in _PLAIN and value is not None}
    )
    kind, trainer = _chosen(said, given)
    options = {**said.get("options", {}), **_read("--option", given["options"])}
    if is_file_reference(trainer):
        file, colon, inside = trainer.partition(".py")
        trainer, options["module"] = OWN, str(Path(file + colon).resolve()) + inside
    options.update({name: said[name] for name in ("batch", "threads") if name in said})
    named = [{"name": name, **settings} for name, settings in map(read_wrap, given["wrap"])]
    wrap = [*said.get("wrap", ()), *named, *_passed(given)]
    experiment = Experiment(
        tasks=tuple(task_entry(task) for task in said["tasks"]),
        kind=kind,
        trainer=trainer,
        amount=_amount(kind, said, AMOUNTS[kind][1]),
        seed=said.get("seed", 0),
        **{name: said[name] for name in ENDING if name in said},
        parameters=_parameters(said, given),
        wrap=tuple(wrapper_entry(item) for item in wrap),
        options=options,
    )
    return experiment, Path(said["out"]) if "out" in said else None


_PLAIN = ("updates", "steps", "batch", "seed", "threads", *ENDING, "out")


def _existing(name: str) -> Path:
    if not Path(name).is_file():
        raise click.UsageError(
            f"There is no file {name!r}. Expected an experiment.toml, or the id of a task."
        )
    return Path(name)


def _chosen(said: dict[str, Any], given: dict[str, Any]) -> tuple[str, str]:
    """Return "model" or "algo", and its name; the command line overrides the file."""
    source = given if given["model"] or given["algo"] else said
    chosen = [(kind, source[kind]) for kind in AMOUNTS if source.get(kind)]
    if len(chosen) != 1:
        from neurogym_training.trainers import trainer_names

        names = (
            ", ".join(trainer_names())
            or "none (they come with neurogym-torch, neurogym-sb3 and neurogym-jax)"
        )
        found = "Both --model and --algo were" if chosen else "Neither --model nor --algo was"
        raise click.UsageError(f"{found} given. Expected one of them. Installed: {names}.")
    return chosen[0]


def _amount(kind: str, said: dict[str, Any], default: int | None) -> int | None:
    """Return the number of updates or steps; the unit of the other kind is wrong usage."""
    mine = AMOUNTS[kind][0]
    other = next(unit for unit, _ in AMOUNTS.values() if unit != mine)
    if said.get(other) is not None:
        raise click.UsageError(
            f"--{other} was given with --{kind}, which is counted in {mine}. Use --{mine}."
        )
    return said.get(mine) or default


def _passed(given: dict[str, Any]) -> list[str]:
    return [
        name
        for name, wanted in (
            ("PassReward", given["pass_reward"]),
            ("PassAction", given["pass_action"]),
        )
        if wanted
    ]


def _parameters(said: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of all tasks."""
    parameters = {**said.get("set", {}), **_read("--set", given["parameters"])}
    texts = {
        "timing": given["timing"],
        "rewards": given["rewards"],
        "conditions": given["conditions"],
    }
    flags = {"timing": "--timing", "rewards": "--reward", "conditions": "--condition"}
    for name, entries in texts.items():
        merged = {**said.get(name, {}), **_read(flags[name], entries)}
        if merged:
            parameters[name] = merged
    return parameters


def _read(option: str, texts: Sequence[str]) -> dict[str, Any]:
    """Parse name=value texts.

    Durations in words, such as uniform(500,1500), remain texts, which tasks parse themselves.
    """
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise click.UsageError(
                f"{option} was given {text!r}. Expected a name and a value, as in {option} name=3."
            )
        values[name.strip()] = (
            value.strip() if "(" in value and value[0].isalpha() else read_value(value)
        )
    return values
