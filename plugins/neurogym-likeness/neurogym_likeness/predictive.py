"""Simulations of fitted models beside the trials: does the model do what the subject did?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from neurogym_behaviour.behaviour import Behaviour, CannotTellError
from neurogym_behaviour.figures import legend_above
from neurogym_behaviour.figures import plain as plain_text
from neurogym_behaviour.findings import Finding, figure, legible
from neurogym_behaviour.style import drawing
from neurogym_plot.canvas import BLUE, GREY

from neurogym_likeness.fitting import Fit
from neurogym_likeness.models import Sequence as Choices

SIMULATIONS = 50
"""Simulations of each fit."""
LEARNERS = ("q_learner", "hybrid", "win_stay_lose_shift")
"""Models of choices and rewards; the others are models of evidence."""
BINS = 9
"""Largest number of classes of signed strength, of equally many trials."""


def statistics(behaviour: Behaviour, name: str, edges: np.ndarray | None) -> dict[str, float]:
    """Return numbers that a model of this name should reproduce, by their names.

    Of evidence: the fraction of choices to the right in each class of strength, and with reaction
    times their median, ms. Of rewards: the fraction of repeated first choices, by the last reward
    and, with two choices in a trial, by the transition.
    """
    if edges is None:
        return _stays(behaviour)
    group, used = np.searchsorted(edges, behaviour.signed), behaviour.answered
    found = {}
    for k in range(len(edges) + 1):
        rows = used & (group == k)
        if rows.any():
            middle = float(np.mean(behaviour.signed[rows]))
            found[f"choices to the right at {middle:.3g}"] = float(
                behaviour.chose_right[rows].mean()
            )
    if name == "diffusion":
        times, level = (
            behaviour.column("reaction_time").astype(float),
            np.abs(group - len(edges) / 2),
        )
        for k in np.unique(level):
            rows = used & (level == k) & np.isfinite(times)
            if rows.any():
                middle = float(np.mean(np.abs(behaviour.signed[rows])))
                found[f"median time at {middle:.3g} (ms)"] = float(np.median(times[rows]))
    return found


def _stays(behaviour: Behaviour) -> dict[str, float]:
    data = Choices.of(behaviour)
    first, paid = np.array(data.first), np.array(data.reward) > 0
    fresh = np.array(data.fresh)
    used = ~fresh[1:] & (first[1:] >= 0) & (first[:-1] >= 0)
    stay = (first[1:] == first[:-1])[used]
    parts = {"reward": paid[:-1][used], "no reward": ~paid[:-1][used]}
    if data.state is not None:
        common = (np.array(data.state) == first)[:-1][used]
        parts = {
            f"{name}, {kind} transition": rows & (common == (kind == "common"))
            for name, rows in parts.items() for kind in ("common", "rare")
        }  # fmt: skip
    return {
        f"first choices repeated after {name}": float(stay[rows].mean())
        for name, rows in parts.items() if rows.any()
    }  # fmt: skip


def predictive_finding(
    fits: Sequence[Fit], subjects: Mapping[str, Behaviour], *, seed: int = 0
) -> Finding:
    """Return the statistics of each subject and of the simulations of its fits.

    A finding without them has the reason: choices that were not made may have no known reward.
    """
    rng, rows = np.random.default_rng(seed), []
    try:
        for one in fits:
            rows += _rows(one, subjects[one.subject], rng)
    except CannotTellError as error:
        return Finding("predictive", "Simulations of the fits", why_not=f"{error}.")
    table = pd.DataFrame(rows)
    outside = table[(table["data"] < table["low"]) | (table["data"] > table["high"])]
    notes = tuple(
        f"Simulations of {name}: {int((outside['model'] == name).sum())} of {len(part)} numbers of"
        " the trials are outside the middle 95 % of the simulations."
        for name, part in table.groupby("model", sort=False)
    )
    return Finding(
        "predictive", "Simulations of the fits", table=table, figure=_drawn(table), notes=notes
    )


def _rows(fit: Fit, behaviour: Behaviour, rng: np.random.Generator) -> list[dict[str, Any]]:
    name, edges = fit.model.name, None
    if name not in LEARNERS:
        levels = np.unique(behaviour.signed)
        inner = np.linspace(0, 1, BINS + 1)[1:-1]
        edges = (
            (levels[1:] + levels[:-1]) / 2 if len(levels) <= BINS
            else np.unique(np.quantile(behaviour.signed, inner))
        )  # fmt: skip
    data = statistics(behaviour, name, edges)
    drawn = [
        statistics(fit.model.simulate(behaviour, fit.values, rng), name, edges)
        for _ in range(SIMULATIONS)
    ]
    found = []
    for place, (what, value) in enumerate(data.items()):
        each = [list(one.values())[place] for one in drawn if len(one) == len(data)]
        low, high = np.quantile(each, [0.025, 0.975]) if each else (np.nan, np.nan)
        mean = float(np.mean(each)) if each else float("nan")
        found.append({"subject": fit.subject, "model": name, "number": what, "data": value,
                      "simulated": mean, "low": float(low), "high": float(high)})  # fmt: skip
    return found


def _drawn(table: pd.DataFrame) -> Any:
    """Return a figure with the first subject's numbers, a row of points for each model."""
    shown = table[table["subject"] == table["subject"].iloc[0]]
    models = shown["model"].unique().tolist()
    with drawing() as style:
        made, axes = figure(len(models), width=4.2, height=3.0)
        for one, name in zip(axes, models, strict=True):
            part = shown[shown["model"] == name]
            part = part[~part["number"].str.contains("time")]
            at = np.arange(len(part))
            one.fill_between(at, part["low"], part["high"], color=GREY, alpha=0.3, lw=0,
                             label="95 % of simulations")  # fmt: skip
            one.plot(at, part["simulated"], color=GREY, label="simulations")
            one.plot(at, part["data"], "o", color=BLUE, ms=style.marker, label="trials")
            labels = [
                text.rpartition(" at ")[2].rpartition("after ")[2].replace(" transition", "")
                for text in part["number"]
            ]
            one.set_xticks(at, [plain_text(text) for text in labels], rotation=45, ha="right")
            one.set_ylim(-0.02, 1.02)
            evidence = name not in LEARNERS
            one.set_ylabel("choices to the right" if evidence else "first choices repeated")
            one.set_title(name, fontsize=style.small)
        legend_above(axes[0], f"Subject {shown['subject'].iloc[0]}", columns=3)
        return legible(made)
