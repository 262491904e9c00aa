"""``ngym fit``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from neurogym_records.options import (
    ROLES,
    figure_options,
    json_option,
    print_paragraph,
    read_given,
    recipe_options,
    role_options,
    say_figures,
    write_given_figures,
)

from neurogym_core.tools import Progress, listed, print_json, trust_option, usage_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neurogym_behaviour.behaviour import Behaviour

    from neurogym_likeness.fitting import Fit
    from neurogym_likeness.models import Model

MODELS = ("q_learner", "hybrid", "win_stay_lose_shift", "integrator", "diffusion")
"""Those of `neurogym_likeness.models`, which imports NumPy."""


class ModelName(click.ParamType):
    """The name of a model, or the folder of a run."""

    name = "model"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name; a usage error lists the models."""
        if value not in MODELS and not Path(value).is_dir():
            self.fail(
                f"{value!r} was given. Expected {listed(MODELS)}, or the folder of a run. Choose"
                " one of them.",
                param, ctx,
            )  # fmt: skip
        return value


@click.command("fit", short_help="Fit models of behaviour to a trial record.")
@click.argument("record", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--model", "names", multiple=True, required=True, metavar="NAME|RUN",
              type=ModelName(), help=f"{', '.join(MODELS)}, or the folder of a run of `ngym train`;"
              " several are compared.")  # fmt: skip
@click.option("--starts", default=6, show_default=True, type=click.IntRange(min=1),
              help="Points from which the search begins.")  # fmt: skip
@click.option("--folds", default=5, show_default=True, type=click.IntRange(min=0),
              help="Parts of the trials that are predicted from the others; 0: none.")  # fmt: skip
@click.option("--recover", default=0, show_default=True, type=click.IntRange(min=0), metavar="N",
              help="Simulate each fit N times, and fit the simulations.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0),
              help="Of starts and simulations.")  # fmt: skip
@recipe_options
@role_options
@figure_options
@trust_option
@json_option
@click.option("--out", default="fit", show_default=True,
              type=click.Path(file_okay=False, path_type=Path),
              help="Folder of the report.")  # fmt: skip
def command(record: Path, names: tuple[str, ...], out: Path, **given: Any) -> None:
    """Fit models of behaviour to a trial record, by maximum likelihood.

    Each subject of the RECORD is fitted alone, or with --pool all as one. The models are the
    reference subjects: `integrator` needs strengths and sides, `diffusion` reaction times too;
    `q_learner` and `win_stay_lose_shift` need choices and rewards, `hybrid` two choices in each
    trial, as in DawTwoStep. A RUN is a network: it sees the trials of the RECORD with other noise,
    and its only parameter is the rate of lapses.

    \b
    ngym run DawTwoStep-v0 --subject hybrid --n-trials 1000 --csv one.csv
    ngym fit one.csv --model q_learner --model hybrid
    ngym fit rats.csv --model integrator --strength evidence --side answer --recover 5
    ngym fit monkeys.csv --model integrator --model runs/x

    Several models are fitted to the same trials: those in which each of them has a likelihood. The
    report has, for each subject and model, the parameters with standard errors (from the
    curvature of the likelihood; none at a bound), the log likelihood, AIC and BIC (smaller is
    better), and the bits per trial of each part of the trials under a fit to the others (larger is
    better). A model whose starts do not agree may have a better fit elsewhere. Each fit is
    simulated 50 times on the trials of the RECORD; choices, times or repeated choices are shown
    beside those of the subject. --recover says how well fits to so many trials find the parameters
    again.

    --json prints an object with the keys schema (1), command, fits (subject, model, n,
    log_likelihood, aic, bic, predicted, agreed, undetermined: name -> why, parameters: name ->
    value, error), recovery (rows: subject, model, parameter, value, mean, sd), best (subject ->
    model), predictive (rows: subject, model, number, data, simulated, low, high), report and
    figures. Missing numbers are null. Parameters that the trials do not determine, because they
    are at a bound or the likelihood is flat, are named.
    """
    import numpy as np
    from neurogym_behaviour.behaviour import Behaviour, CannotTellError, Roles
    from neurogym_behaviour.report import SCHEMA, write_report
    from neurogym_plot.styles import figure_style
    from neurogym_training.runs import Run

    from neurogym_likeness.fitting import fit_model, usable
    from neurogym_likeness.models import model
    from neurogym_likeness.predictive import predictive_finding
    from neurogym_likeness.replayed import network_model, with_choices

    trials = read_given(record, given["recipe"], given["columns"], given["scales"])
    with usage_errors():
        trainers = {name: Run.open(name).trainer() for name in names if name not in MODELS}
        for trainer in trainers.values():
            trials = with_choices(trials, trainer.tasks[0])
        whole = Behaviour(trials, Roles(**{name: given[name] for name in ROLES}))
    subjects = {"all": whole} if given["pool"] else whole.per_subject()
    if not given["pool"] and len(subjects) == 1 and "subject" not in trials:
        subjects = {record.stem: whole}
    fits: list[Fit] = []
    with usage_errors(), Progress("fits", len(subjects) * len(names)) as bar:
        for subject, behaviour in subjects.items():
            models: dict[str, Model] = {}
            among = np.ones(len(behaviour), bool)
            for name in names:
                try:
                    if name in trainers:
                        player, task = trainers[name].subject(), trainers[name].tasks[0]
                        said = Path(name).name
                        seed = given["seed"]
                        models[name] = network_model(said, player, task, behaviour, seed=seed)
                    else:
                        models[name] = model(name, behaviour)
                    among &= usable(models[name], behaviour)
                except CannotTellError as error:
                    raise _cannot(name, subject, error) from error
            for name in names:
                bar.show(len(fits), f"{subject}, {name}")
                how = {key: given[key] for key in ("starts", "folds", "seed")}
                try:
                    fits.append(fit_model(models[name], behaviour, subject, among=among, **how))
                except CannotTellError as error:
                    raise _cannot(name, subject, error) from error
        rows = _recovery(fits, subjects, given)
        with figure_style(given["style"]):
            simulated = predictive_finding(fits, subjects, seed=given["seed"])
    best = {
        subject: min((one for one in fits if one.subject == subject), key=lambda one: one.bic)
        for subject in subjects
    }
    findings = [*_findings(fits, rows), simulated]
    facts = {"file": str(record), "trials": len(trials), "models": ", ".join(names)}
    figures = write_given_figures(given["figure"], given["style"], findings)
    target = write_report(out, f"Models of {record.name}", facts, findings)
    if given["as_json"]:
        print_json({
            "schema": SCHEMA, "command": "fit", "fits": [_numbers(one) for one in fits],
            "recovery": rows, "best": {name: one.model.name for name, one in best.items()},
            "predictive": [] if simulated.table is None else simulated.table.to_dict("records"),
            "report": target, "figures": figures or [],
        })  # fmt: skip
        return
    say_figures(figures)
    for finding in findings:
        for note in finding.notes:
            print_paragraph(note)
    if len(names) > 1:
        for name in names:
            count = sum(one.model.name == name for one in best.values())
            click.echo(f"Smallest BIC of {count} of {len(best)} subjects: {name}")
    click.echo(f"The report is {target}.")


def _cannot(name: str, subject: str, error: Exception) -> click.UsageError:
    return click.UsageError(
        f"{name} cannot be fitted to {subject}: {error}. Choose another model, or name the columns."
    )


def _recovery(
    fits: Sequence[Fit], subjects: dict[str, Behaviour], given: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return a row for each parameter of each fit: fitted value, mean and SD of its recovery."""
    from neurogym_behaviour.behaviour import CannotTellError

    from neurogym_likeness.fitting import recovered

    rows = []
    for one in fits if given["recover"] else ():
        try:
            found = recovered(one, subjects[one.subject], given["recover"], seed=given["seed"])
        except CannotTellError as error:
            raise click.UsageError(
                f"The parameters of {one.model.name} cannot be recovered: {error}. Leave --recover"
                " out."
            ) from error
        rows += [
            {
                "subject": one.subject, "model": one.model.name, "parameter": name,
                "value": one.values[name], "mean": float(values.mean()),
                "sd": float(values.std(ddof=1)) if len(values) > 1 else float("nan"),
            }
            for name, values in zip(one.values, found.T, strict=True)
        ]  # fmt: skip
    return rows


def _numbers(one: Fit) -> dict[str, Any]:
    return {
        "subject": one.subject, "model": one.model.name, "n": one.n,
        "log_likelihood": one.log_likelihood, "aic": one.aic, "bic": one.bic,
        "predicted": one.predicted, "agreed": one.agreed,
        "undetermined": dict(one.undetermined),
        "parameters": {
            name: {"value": value, "error": one.errors[name]} for name, value in one.values.items()
        },
    }  # fmt: skip


def _findings(fits: Sequence[Fit], recovery: Sequence[dict[str, Any]]) -> list[Any]:
    """Return a table of fits, one of parameters, and one of their recovery."""
    import pandas as pd
    from neurogym_behaviour.findings import Finding
    from neurogym_behaviour.population import population

    table = pd.DataFrame([
        {
            key: ", ".join(value) if key == "undetermined" else value
            for key, value in _numbers(one).items() if key != "parameters"
        }
        for one in fits
    ])  # fmt: skip
    parameters = pd.DataFrame([
        {
            "subject": one.subject, "model": one.model.name, "parameter": name, "value": value,
            "standard error": one.errors[name], "unit": one.model.parameters[name].unit,
            "not determined": one.undetermined.get(name, ""),
        }
        for one in fits for name, value in one.values.items()
    ])  # fmt: skip
    notes = []
    for name in dict.fromkeys(one.model.name for one in fits):
        each = [one for one in fits if one.model.name == name]
        said = []
        for parameter, about in each[0].model.parameters.items():
            values = [one.values[parameter] for one in each]
            unit = f" {about.unit}" if about.unit else ""
            if len(each) == 1:
                error = each[0].errors[parameter]
                shown = f" ± {error:.2g}" if error == error else " (no standard error)"
                if parameter in each[0].undetermined:
                    shown = " (not determined)"
                said.append(f"{parameter} {values[0]:.3g}{shown}{unit}")
            else:
                mean = population(values, (about.low, about.high))
                said.append(f"{parameter} {mean.mean:.3g} [{mean.low:.3g}, {mean.high:.3g}]{unit}")
        many = f"mean of {len(each)} subjects" if len(each) > 1 else each[0].subject
        bits = sum(one.predicted for one in each) / len(each)
        more = f"; {bits:.3f} bits per trial in parts that were left out" if bits == bits else ""
        notes.append(f"{name}, {many}: {', '.join(said)}{more}.")
        for parameter in each[0].model.parameters:
            why = [one.undetermined[parameter] for one in each if parameter in one.undetermined]
            if why:
                whose = f" of {len(why)} of {len(each)} subjects" if len(each) > 1 else ""
                notes.append(
                    f"WARNING: {name}: the trials do not determine {parameter}{whose}: {why[0]}."
                )
        if any(one.agreed < 2 for one in each):
            notes.append(f"{name}: a single start found the best fit of a subject; add --starts.")
    found = [
        Finding("fits", "Fits", table=table, notes=tuple(notes)),
        Finding("parameters", "Parameters", table=parameters),
    ]
    if recovery:
        table = pd.DataFrame(recovery)
        notes = tuple(
            f"Recovery of {parameter} of {name}: {_recovered(rows)}."
            for (name, parameter), rows in table.groupby(["model", "parameter"], sort=False)
        )
        found.append(Finding("recovery", "Recovery of the parameters", table=table, notes=notes))
    return found


def _recovered(rows: Any) -> str:
    """Return mean error, SD and, over three subjects or more, correlation of a recovery."""
    error = float((rows["mean"] - rows["value"]).mean())
    said = f"mean error {error:+.2g}, SD {float(rows['sd'].mean()):.2g}"
    if len(rows) >= 3 and rows["value"].std() > 0 and rows["mean"].std() > 0:
        said += f", correlation over subjects {float(rows['value'].corr(rows['mean'])):.2f}"
    return said
