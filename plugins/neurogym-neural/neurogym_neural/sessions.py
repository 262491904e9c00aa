"""Reports of recorded neurons, read from files. Needs pandas and Matplotlib, and no torch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, NeurogymError, NotSupportedError
from neurogym_core.tools import Progress
from neurogym_neural import figures
from neurogym_neural.activity import Activity, has_value, said_missing
from neurogym_neural.coding import decode, tuning
from neurogym_neural.controls import shuffled
from neurogym_neural.laboratories import read_luo_2025
from neurogym_neural.recordings import read_nwb
from neurogym_neural.verdicts import Signature, System

SMOOTH = 40.0
"""SD of the Gaussian with which counts are smoothed in figures, ms."""


@dataclass
class Sessions:
    """Numbers of recordings, one or more for each animal.

    Attributes:
        facts: the files, and numbers of units and trials.
        conditions: a row for each file and condition: accuracy of its decoder in other trials, the
            same with shuffled trials, and the fraction of units that follow it.
        values: signature -> "recording" and "shuffled" -> part -> a number for each file.
        left_out: condition or signature -> a sentence for each file on trials without a value.
        untested: signature -> reason.
        seconds: signature -> CPU time, s.
    """

    facts: dict[str, Any]
    conditions: list[dict[str, Any]] = field(default_factory=list)
    values: dict[str, dict[str, dict[str, list[float]]]] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    untested: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


def read_session(path: str | Path, step: float) -> Activity:
    """Return the trials of a file with recorded units, and the units recorded in all of them.

    Args:
        path: an NWB file, or a .mat file of `read_luo_2025`.
        step: ms in which spikes are counted.

    Raises:
        InvalidValueError: as `read_nwb` and `read_luo_2025`; or there is no such unit.
    """
    if str(path).endswith(".mat"):
        activity = read_luo_2025(path)
        activity = activity if step == activity.step else activity.bin(step)
    else:
        activity = read_nwb(path, step=step)
    seen = np.isfinite(activity.rates).any(axis=(1, 2))
    if not seen.any():
        raise InvalidValueError(
            f"{str(path)!r} has {len(seen)} trials, in none of which a unit was recorded for a step"
            f" of {step:g} ms. Expected trials within the recording. Check the times of trials and"
            " obs_intervals, or give a shorter --step."
        )
    activity = activity.select(seen)
    known = np.isfinite(activity.rates)
    whole = (known == known.any(axis=2, keepdims=True)).all(axis=(0, 1))
    if not whole.any():
        raise InvalidValueError(
            f"{str(path)!r} has {len(whole)} units, none of which was recorded in all trials."
            " Expected one at least. Select trials: read_nwb(…).select(…)."
        )
    return activity.select(None, np.flatnonzero(whole))


def measured(
    sessions: Sequence[Activity], signatures: Sequence[Signature], *, seed: int = 0
) -> Sessions:
    """Return the conditions that are decoded from recordings, and the numbers of signatures.

    Nothing is concluded: controls compare networks with untrained ones.

    Args:
        sessions: of `read_session`.
        signatures: those of their task.
        seed: seed of halves and shuffled trials.
    """
    found = Sessions({
        "files": ", ".join(str(one.facts["source"]) for one in sessions),
        "units": ", ".join(str(one.rates.shape[2]) for one in sessions),
        "trials": ", ".join(str(len(one)) for one in sessions),
        "step, ms": ", ".join(f"{one.step:g}" for one in sessions),
    })  # fmt: skip
    for session in sessions:
        window, _ = figures.shown(session)
        if len(window) < len(session):
            found.left_out.setdefault("figures and decoding", []).append(
                f"{session.facts['source']}: {len(session) - len(window)} of {len(session)} trials"
                " without an answer or an onset, or shorter than half of the median"
            )
        for name in figures.conditions_of(window):
            _complete(session, [name], name, found)
            found.conditions.append(_condition(session, window, name, seed))
    with Progress("signatures", len(signatures)) as bar:
        for k, one in enumerate(signatures):
            bar.show(k, one.title)
            start = time.process_time()
            systems = [System(_complete(each, one.columns, one.name, found)) for each in sessions]
            pairs = {"recording": systems, "shuffled": [shuffled(s, seed=seed) for s in systems]}
            try:
                rows = {
                    kind: [one.measured(system, seed) for system in many]
                    for kind, many in pairs.items()
                }
            except NotSupportedError as error:
                found.untested[one.name] = str(error)
                continue
            found.values[one.name] = {
                kind: {part: [row[part] for row in many] for part in one.parts}
                for kind, many in rows.items()
            }
            found.seconds[one.name] = time.process_time() - start
    return found


def _complete(session: Activity, columns: Sequence[str], name: str, found: Sessions) -> Activity:
    """Return the trials that have a value in all columns, and say which are left out.

    If none has, the session is returned as it is, for the error of the analysis.
    """
    kept = np.ones(len(session), bool)
    for column in columns:
        if column not in session.record:
            continue
        known = has_value(session.record[column])
        kept &= known
        if not known.all():
            found.left_out.setdefault(name, []).append(
                f"{session.facts['source']}: {said_missing(column, known)}"
            )
    return session.select(kept) if kept.any() else session


def _condition(session: Activity, window: Activity, name: str, seed: int) -> dict[str, Any]:
    row: dict[str, Any] = {"file": session.facts["source"], "condition": name}
    known = has_value(window.record[name])
    window = window.select(known)
    levels = np.unique(window.record[name])
    row |= {"values": len(levels), "chance": 1 / len(levels)}
    row |= {"trials": len(window), "left out": int((~known).sum())}
    mixed = shuffled(System(window), seed=seed).activity
    for kind, one in (("decoded", window), ("shuffled", mixed)):
        try:
            row[kind] = decode(one, name, seed=seed)
        except NeurogymError:  # a value has too few trials
            row[kind] = np.nan
    try:
        row["units that follow it"] = float((tuning(window, name, seed=seed).q < 0.05).mean())
    except NeurogymError:  # three texts or more have no order
        row["units that follow it"] = np.nan
    return row


def write(
    out: Path, sessions: Sequence[Activity], found: Sessions, signatures: Sequence[Signature]
) -> tuple[Path, list[Path]]:
    """Write the report with the figures of the first recording; return its path and theirs."""
    import pandas as pd
    from neurogym_behaviour.findings import Finding
    from neurogym_behaviour.report import write_report
    from neurogym_plot.styles import save_figure

    known = {one.name: one for one in signatures}
    rows = [
        {"signature": name, "part": part, "CPU s": f"{found.seconds[name]:.1f}"}
        | {kind: ", ".join(f"{number:.2f}" for number in values[kind][part]) for kind in values}
        | {"published": known[name].published}
        for name, values in found.values.items()
        for part in known[name].parts
    ]
    unit = (
        f"The unit of replication is the trial, within each of {len(sessions)} files; files are"
        " reported apart. Multiple comparisons: units that follow a condition are counted at"
        " q < 0.05 by Benjamini and Hochberg; over conditions and files, nothing is corrected."
    )
    missing = tuple(
        f"{name}: left out: {'; '.join(said)}." for name, said in found.left_out.items()
    )
    findings = [
        Finding("conditions", "Conditions", table=pd.DataFrame(found.conditions),
                notes=(unit, *missing))
    ]  # fmt: skip
    if rows:
        notes = tuple(
            f"{name}: {known[name].quantity} {known[name].citation}, doi:{known[name].doi}"
            f" ({known[name].checked})."
            for name in found.values
        )
        findings.append(
            Finding("signatures", "Signatures, without controls", table=pd.DataFrame(rows),
                    notes=notes)
        )  # fmt: skip
    findings += [Finding(name, name, why_not=why) for name, why in found.untested.items()]
    first = sessions[0]
    smooth, mixed = first.smooth(SMOOTH), shuffled(System(first)).activity
    said = f"smoothed with {SMOOTH:g} ms"
    out.mkdir(parents=True, exist_ok=True)
    targets = []
    for name, title, make in (
        ("trajectories", f"Condition means in principal components, {said}; dots: time 0",
         lambda: figures.trajectories(smooth)),
        ("units", f"Counts by condition, {said}, with SEM over trials",
         lambda: figures.units(smooth)),
        ("decoding", "Cross-temporal decoding: recording, and shuffled trials",
         lambda: figures.decoding({"recording": first, "shuffled": mixed})),
    ):  # fmt: skip
        try:
            figure = make()
        except NeurogymError as error:
            findings.append(Finding(name, title, why_not=str(error)))
            continue
        findings.append(Finding(name, title, figure=figure))
        targets.append(save_figure(figure, out / f"{name}.png"))
    return write_report(out, f"Units of {found.facts['files']}", found.facts, findings), targets


__all__ = ["Sessions", "measured", "read_session", "write"]
