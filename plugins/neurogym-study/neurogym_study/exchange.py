"""Write trial records to the formats that laboratories share, and read them back: NWB, BIDS, CSV.

Times in files are in seconds. Records have them in ms: ``start``, ``stop``, ``onset.<period>``,
``offset.<period>`` and ``answer_time`` of `record_steps`. For records without these columns, start
and stop follow from ``steps`` and ``dt``, and periods have no times.
"""

from __future__ import annotations

import datetime
import json
import uuid
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neurogym_core import TrialRecord
from neurogym_core.errors import InvalidValueError, unknown
from neurogym_core.files import replacing
from neurogym_core.optional import optional
from neurogym_core.trials.record import RECORD_NAMES
from neurogym_core.trials.slot_columns import CHOICES

if TYPE_CHECKING:
    from neurogym_study.steps import Steps

FORMATS = ("nwb", "bids", "csv", "parquet")
WRITTEN = "neurogym"
"""Key of the facts that this module writes into other formats."""
TIMES = ("start", "stop", "answer_time")
DESCRIPTIONS = {
    "subject": "number or name of the subject",
    "trial": "number of the trial of its subject",
    "env": "number of the simulated environment",
    "session": "number of the session",
    "choice": "index of the choice, -1 for none",
    "outcome": "outcome of the trial",
    "reaction_time": "time from the onset of the response window to the answer",
    "performance": "performance in the trial, 0 to 1",
    "reward": "sum of the rewards in the trial",
    "aborts": "number of actions while the subject had to rest",
    "steps": "number of steps played",
    "answer_time": "time of the answer",
}
LEVELS = {
    "correct": "answered correctly",
    "error": "answered incorrectly",
    "miss": "not answered in time",
    "abort": "acted where it had to rest",
    "other": "an answer that is neither right nor wrong",
    "none": "not asked",
}


# ---- CSV and Parquet ----


def write_csv(record: TrialRecord, path: str | Path) -> None:
    """Write a record to a CSV file, and its `meta`, if any, to a .json file of the same name."""
    path = Path(path)
    record.to_csv(path)
    if record.meta and path.suffix:  # not for pipes and devices
        write_meta(record.meta, path)


def write_parquet(record: TrialRecord, path: str | Path) -> None:
    """Write a record to a Parquet file, and its `meta` beside it.

    Raises:
        MissingDependencyError: pyarrow is not installed.
    """
    optional("pyarrow", needed_for="Writing Parquet")
    path = Path(path)
    with replacing(path) as temporary:
        record.to_pandas().to_parquet(temporary, index=False)
    write_meta(record.meta, path)


def write_meta(meta: Mapping[str, Any], path: Path) -> None:
    """Write facts about a record beside its file."""
    with replacing(path.with_suffix(".json")) as temporary:
        temporary.write_text(_json(meta) + "\n", encoding="utf-8")


def read_meta(path: Path) -> dict[str, Any]:
    """Return the facts beside a file of trials; {} without any."""
    try:
        found = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    facts = found.get(WRITTEN, {}).get("meta", {}) if WRITTEN in found else found
    return _frozen(facts) if "schema" in facts else {}


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(dict(values), indent=2, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return dict(value) if isinstance(value, Mapping) else str(value)


def _frozen(facts: Mapping[str, Any]) -> dict[str, Any]:
    frozen = {
        name: tuple(value) if isinstance(value, list) else value for name, value in facts.items()
    }
    if isinstance(frozen.get(CHOICES), dict):  # slot -> names
        frozen[CHOICES] = _frozen(frozen[CHOICES])
    return frozen


# ---- times ----


def trial_times(record: TrialRecord) -> tuple[np.ndarray, np.ndarray]:
    """Return start and stop of each trial, s, (n,) each.

    Raises:
        InvalidValueError: the record has neither these times nor the steps and dt.
    """
    if "start" in record and "stop" in record:
        return record["start"] / 1000, record["stop"] / 1000
    if "steps" not in record or "dt" not in record.meta:
        raise InvalidValueError(
            "The record has no column 'start', and no 'steps' with a 'dt' in its meta: its trials"
            " have no times. Expected one of them. Play it with record_steps, or with run."
        )
    spent = np.cumsum(record["steps"]) * float(record.meta["dt"]) / 1000
    return np.concatenate([[0.0], spent[:-1]]), spent


def _periods(record: TrialRecord) -> list[str]:
    return [name.removeprefix("onset.") for name in record.columns if name.startswith("onset.")]


# ---- NWB ----


def to_nwb(
    trials: TrialRecord | Steps,
    path: str | Path,
    *,
    session_start: datetime.datetime | None = None,
    subject_id: str = "",
    species: str = "",
    description: str = "",
    experimenter: str = "",
    lab: str = "neurogym",
    institution: str = "none (simulation)",
) -> None:
    """Write trials to an NWB file; `read_record` reads them back.

    The trials table has all columns, ``start_time`` and ``stop_time`` in s, and
    ``<period>_start_time`` and ``<period>_stop_time`` as played. With the steps of `record_steps`,
    observations, actions and rewards are time series.

    Args:
        trials: a record, or steps with their record.
        path: the .nwb file.
        session_start: with a time zone; by default now.
        subject_id: by default the subject of the record's meta.
        species: Latin name; by default that of a simulated subject, which has none.
        description: of the session; by default from the record's meta.
        experimenter, lab, institution: as in NWB.

    Raises:
        MissingDependencyError: pynwb is not installed.
        InvalidValueError: the trials have no times.
    """
    pynwb = optional("pynwb", needed_for="to_nwb")
    record: TrialRecord = getattr(trials, "record", trials)
    start, stop = trial_times(record)
    meta = dict(record.meta)
    said = (
        description or f"{meta.get('task', 'a task')}, played by {meta.get('subject', 'unknown')}"
    )
    file = pynwb.NWBFile(
        session_description=said,
        identifier=str(uuid.uuid4()),
        session_start_time=session_start or datetime.datetime.now(datetime.UTC),
        session_id="1",
        experimenter=[experimenter or "Simulation, NeuroGym"],
        lab=lab,
        institution=institution,
        experiment_description=f"Simulated behaviour in the task {meta.get('task', 'unknown')}.",
        keywords=["behavior", "simulation", "decision making"],
        notes=_json({WRITTEN: {"meta": meta, "columns": _kinds(record)}}),
    )
    file.subject = pynwb.file.Subject(
        subject_id=subject_id or str(meta.get("subject", "simulated")).replace("/", "-"),
        species=species or "Simulatum exemplar",
        age="P0D",
        sex="U",
        description=species or "a simulated subject",
    )
    _add_trials(file, record, start, stop)
    if record is not trials:
        _add_series(pynwb, file, trials)
    with replacing(path) as temporary, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The file path provided")  # a temporary name
        with pynwb.NWBHDF5IO(str(temporary), "w") as io:
            io.write(file)


def _kinds(record: TrialRecord) -> dict[str, str]:
    return {name: record[name].dtype.kind for name in record.columns}


def _stored(name: str) -> str:
    """Return the name of a column in NWB: times in s have NWB's ending."""
    if name.startswith(("onset.", "offset.")):
        which, _, period = name.partition(".")
        return f"{_safe(period)}_{'start' if which == 'onset' else 'stop'}_time"
    if name == "reaction_time":
        return "response_time"
    return _safe(name)


def _safe(name: str) -> str:
    return name.replace(".", "_").replace("/", "_").replace(" ", "_")


def _is_time(name: str) -> bool:
    """Return whether a column is a time, which records have in ms, and files in s."""
    return name.startswith(("onset.", "offset.", "duration.")) or name.rpartition(".")[2] in (
        "reaction_time",
        "answer_time",
    )


def _described(name: str) -> str:
    if name.startswith(("onset.", "offset.", "duration.")):
        kind, _, period = name.partition(".")
        return f"{kind} of the period {period}, s" + (", as built" * (kind == "duration"))
    text = DESCRIPTIONS.get(name.rpartition(".")[2], f"condition {name} of the task")
    return f"{text}, s" if _is_time(name) else text


def _add_trials(file: Any, record: TrialRecord, start: np.ndarray, stop: np.ndarray) -> None:
    names = [name for name in record.columns if name not in ("start", "stop")]
    stored = [_stored(name) for name in names]
    for name, column in zip(names, stored, strict=True):
        file.add_trial_column(column, _described(name))
    values = [record[name] / 1000 if _is_time(name) else record[name] for name in names]
    for k in range(len(record)):
        row = {column: _cell(array[k]) for column, array in zip(stored, values, strict=True)}
        file.add_trial(start_time=float(start[k]), stop_time=float(stop[k]), **row)


def _cell(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _add_series(pynwb: Any, file: Any, steps: Any) -> None:
    series = {"actions": steps.actions, "rewards": steps.rewards, "activity": steps.activity}
    series |= {
        f"observation_{name}": steps.observations[:, units]
        for name, units in steps.channels.items()
        if steps.observations.ndim == 2
    }
    for name, data in series.items():
        if data is not None:
            file.add_acquisition(
                pynwb.TimeSeries(
                    name=_safe(name),
                    data=np.asarray(data),
                    unit="a.u.",
                    rate=1000 / steps.dt,
                    starting_time=0.0,
                    description=f"{name} on each step",
                )
            )


def nwb_table(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the trials of an NWB file as columns, and the facts that this module wrote.

    Raises:
        MissingDependencyError: pynwb is not installed.
        InvalidValueError: the file has no trials.
    """
    from neurogym_study.reading import of_frame

    pynwb = optional("pynwb", needed_for="Reading NWB")
    with pynwb.NWBHDF5IO(str(path), "r") as io:
        file = io.read()
        if file.trials is None:
            raise InvalidValueError(
                f"{path} has no trials. Expected a trials table. Add one, or convert it to CSV."
            )
        table, notes = of_frame(file.trials.to_dataframe()), file.notes
        subject = None if file.subject is None else file.subject.subject_id
    try:
        written = json.loads(notes or "")[WRITTEN]
    except (ValueError, KeyError, TypeError):
        return ({**table, "subject": np.full(len(table["start_time"]), str(subject))}, {})
    columns = {}
    for name, kind in written["columns"].items():
        source = {"start": "start_time", "stop": "stop_time"}.get(name, _stored(name))
        values = table[source]
        if name in ("start", "stop") or _is_time(name):
            values = np.round(values * 1000, 6)
        columns[name] = values.astype(
            {"i": np.int64, "f": float, "b": bool}.get(kind, values.dtype)
        )
    return columns, _frozen(written["meta"])


# ---- BIDS ----


def to_bids(
    record: TrialRecord, folder: str | Path, *, sub: str = "net0", task: str = "", name: str = ""
) -> Path:
    """Write a record as a BIDS dataset of behaviour; return the path of its events file.

    ``sub-<sub>/beh/sub-<sub>_task-<task>_events.tsv`` has a row per trial, and, if the record has
    times of periods, a row per period as played; the sidecar .json has descriptions, units, levels
    and HED tags. `read_record` reads the trials back. Files of the folder that describe the dataset
    are written if they are missing.

    Args:
        record: the trials.
        folder: of the dataset.
        sub: label of the subject, letters and digits.
        task: label of the task, letters and digits; by default from the record's meta.
        name: of a new dataset.

    Raises:
        InvalidValueError: a label with other characters, or trials without times.
    """
    label = task or "".join(
        c for c in str(record.meta.get("task", "task")).rpartition("/")[2] if c.isalnum()
    )
    for kind, text in (("sub", sub), ("task", label)):
        if not text.isalnum() or not text.isascii():
            raise InvalidValueError(
                f"{kind}={text!r} was given. Expected letters and digits, as BIDS has it. Leave out"
                " other characters."
            )
    root = Path(folder)
    place = root / f"sub-{sub}" / "beh"
    place.mkdir(parents=True, exist_ok=True)
    _describe_dataset(root, name or f"Simulated behaviour in {label}", sub)
    target = place / f"sub-{sub}_task-{label}_events.tsv"
    _write_events(record, target)
    sidecar = {
        **_event_columns(record),
        WRITTEN: {"meta": dict(record.meta), "columns": _kinds(record), "wide": _wide(record)},
    }
    with replacing(target.with_suffix(".json")) as temporary:
        temporary.write_text(_json(sidecar) + "\n", encoding="utf-8")
    return target


def _wide(record: TrialRecord) -> list[str]:
    return [name for name in record.columns if record[name].ndim > 1]


def _describe_dataset(root: Path, name: str, sub: str) -> None:
    description = {
        "Name": name,
        "BIDSVersion": "1.9.0",
        "DatasetType": "raw",
        "License": "CC0",
        "Authors": ["NeuroGym (simulation)", "neurogym-study (export)"],
        "HEDVersion": "8.3.0",
        "GeneratedBy": [{"Name": "neurogym-study"}],
    }
    texts = {
        "dataset_description.json": _json(description) + "\n",
        "README": (
            f"{name}\n\nSimulated trials, written by neurogym-study. The subjects are networks or"
            " models; no animal or person took part. Times are in seconds from the start of the"
            " simulated session.\n"
        ),
        "participants.tsv": "participant_id\n",
    }
    for file, text in texts.items():
        if not (root / file).exists():
            (root / file).write_text(text, encoding="utf-8")
    people = root / "participants.tsv"
    lines = people.read_text(encoding="utf-8").splitlines()
    if f"sub-{sub}" not in {line.split("\t")[0] for line in lines}:
        people.write_text("\n".join([*lines, f"sub-{sub}"]) + "\n", encoding="utf-8")


def _bids_name(name: str) -> str:
    return {"start": "onset", "reaction_time": "response_time"}.get(name, _safe(name))


def _write_events(record: TrialRecord, target: Path) -> None:
    import pandas as pd

    start, stop = trial_times(record)
    columns = {
        "onset": start,
        "duration": stop - start,
        "trial_type": np.full(len(record), "trial"),
    }
    for column in record.to_pandas().columns:
        if column in ("start", "stop") or column.startswith(("onset.", "offset.")):
            continue
        values = record.to_pandas()[column].to_numpy()
        columns[_bids_name(column)] = values / 1000 if _is_time(column) else values
    frames = [pd.DataFrame(columns)]
    for period in _periods(record):
        onset, offset = record[f"onset.{period}"] / 1000, record[f"offset.{period}"] / 1000
        visited = ~np.isnan(onset)
        frames.append(
            pd.DataFrame(
                {
                    "onset": onset[visited],
                    "duration": (offset - onset)[visited],
                    "trial_type": f"period/{_safe(period)}",
                    **({"trial": record["trial"][visited]} if "trial" in record else {}),
                }
            ).astype({"trial": object} if "trial" in record else {})
        )
    frames[0] = frames[0].astype(object)
    events = pd.concat(frames, ignore_index=True).sort_values(
        ["onset", "duration"], ascending=[True, False], kind="stable"
    )
    with replacing(target) as temporary:
        events.to_csv(temporary, sep="\t", index=False, na_rep="n/a", lineterminator="\n")


def _event_columns(record: TrialRecord) -> dict[str, Any]:
    """Return the entries of the sidecar: descriptions, units, levels and HED tags."""
    periods = {f"period/{_safe(name)}": f"the period {name}" for name in _periods(record)}
    entries: dict[str, Any] = {
        "trial_type": {
            "Description": "a whole trial, or one of its periods as played",
            "Levels": {"trial": "a whole trial, with its conditions and results", **periods},
            "HED": {
                "trial": "Experimental-trial",
                **dict.fromkeys(periods, "Condition-variable, Experimental-note"),
            },
        }
    }
    for column in record.to_pandas().columns:
        if column in ("start", "stop") or column.startswith(("onset.", "offset.")):
            continue
        entry: dict[str, Any] = {"Description": _described(column).removesuffix(", s")}
        if _is_time(column):
            entry["Units"] = "s"
        name = column.rpartition(".")[2]
        if name == "outcome":
            entry["Levels"] = LEVELS
        elif column in record and record[column].dtype.kind == "U" and column not in RECORD_NAMES:
            entry["Levels"] = {str(value): str(value) for value in np.unique(record[column])}
        entries[_bids_name(column)] = entry
    return entries


def bids_columns(table: Mapping[str, np.ndarray], path: Path) -> dict[str, np.ndarray] | None:
    """Return the columns of the record that `to_bids` wrote; None for the events of others."""
    try:
        written = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))[WRITTEN]
        kinds, wide = written["columns"], written["wide"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    trials = np.asarray(table["trial_type"]) == "trial"
    found: dict[str, np.ndarray] = {}
    for name, kind in kinds.items():
        if name == "start":
            values = np.round(table["onset"][trials] * 1000, 6)
        elif name == "stop":
            values = np.round((table["onset"] + table["duration"])[trials] * 1000, 6)
        elif name.startswith(("onset.", "offset.")):
            values = _period_times(table, name, trials)
        elif name in wide:
            parts = [key for key in table if key.startswith(f"{_safe(name)}[")]
            values = np.stack([np.asarray(table[key])[trials] for key in parts], axis=1)
        else:
            values = np.asarray(table[_bids_name(name)])[trials]
            if kind == "b":
                values = np.isin(values.astype(str), ("True", "1", "1.0"))
            elif _is_time(name):
                values = np.round(values.astype(float) * 1000, 6)
        dtype = {"i": np.int64, "f": float, "b": bool, "U": str}[kind]
        found[name] = values.astype(float).astype(dtype) if kind == "i" else values.astype(dtype)
    return found


def _period_times(table: Mapping[str, np.ndarray], name: str, trials: np.ndarray) -> np.ndarray:
    which, _, period = name.partition(".")
    begin = table["onset"][trials]
    rows = np.flatnonzero(np.asarray(table["trial_type"]) == f"period/{_safe(period)}")
    values = np.full(int(trials.sum()), np.nan)
    onset, length = table["onset"][rows], table["duration"][rows]
    trial = np.searchsorted(begin, onset + 1e-9, side="right") - 1
    values[trial] = np.round((onset + (length if which == "offset" else 0)) * 1000, 6)
    return values


def export(record: TrialRecord, path: Path, kind: str) -> Path:
    """Write a record in one of `FORMATS`; return the path of the written file.

    Raises:
        UnknownNameError: another format.
    """
    if kind not in FORMATS:
        raise unknown("format", kind, FORMATS)
    if kind == "bids":
        return to_bids(record, path)
    {"nwb": to_nwb, "csv": write_csv, "parquet": write_parquet}[kind](record, path)
    return path
