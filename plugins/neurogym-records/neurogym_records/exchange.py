"""Write trial records to the formats that laboratories share, and read them back: NWB, BIDS, CSV.

Times in NWB and BIDS are in seconds. Records, and CSV and Parquet, have them in ms:
``trial_start``, ``trial_stop``, ``answer_time``, ``onset.<period>`` and ``offset.<period>``. For
records without these columns, start and stop follow from ``steps`` and ``dt``, and periods have no
times.
"""

from __future__ import annotations

import datetime
import json
import uuid
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neurogym_core import InvalidValueError, TrialRecord
from neurogym_core.players import PERIOD_COLUMNS, Events
from neurogym_core.tools import optional, replacing, unknown
from neurogym_records.animals import AnimalFacts
from neurogym_records.csv_files import TextTable, events_beside

if TYPE_CHECKING:
    from neurogym_records.steps import Steps

FORMATS = ("nwb", "bids", "csv", "parquet")
WRITTEN = "neurogym"
"""Key of the facts that this module writes into other formats."""
NOTHING = "n/a"
"""BIDS's missing value."""
NWB_NAMES = ("start_time", "stop_time", "id", "tags", "timeseries", "timeseries_index")
EVENT_VALUE = "event_value"
"""BIDS's column of the values of events."""
BIDS_NAMES = (
    "onset", "duration", "trial_type", "trial_row", "HED", "stim_file", EVENT_VALUE,
)  # fmt: skip
"""Names of columns that the formats themselves have."""
DESCRIPTIONS = {
    "subject": "number or name of the subject",
    "trial": "number of the trial of its subject",
    "env": "number of the simulated environment",
    "session": "number of the session",
    "choice": "index of the choice, -1 for none",
    "outcome": "outcome of the trial",
    "reaction_time": "time from the opening of the response window to the answer",
    "performance": "performance in the trial, 0 to 1",
    "reward": "sum of the rewards in the trial",
    "aborts": "number of actions while the subject had to rest",
    "steps": "number of steps played",
    "answer_time": "time of the answer, from the start of the session",
    "trial_start": "begin of the trial",
    "trial_stop": "end of the trial",
    "evidence": "signed evidence, as the task declares it",
}
LEVELS = {
    "correct": "answered correctly",
    "error": "answered incorrectly",
    "miss": "not answered in time",
    "abort": "acted where it had to rest",
    "other": "an answer that is neither right nor wrong",
    "none": "not asked",
}


def _event_names(record: TrialRecord) -> dict[str, str]:
    """Return the name of each event in files -> its name."""
    return {_safe(name): name for name in np.unique(record.event_log.name).tolist()}


def events_of(path: Path, columns: Mapping[str, np.ndarray]) -> Events | None:
    """Return the events of a file that this module wrote; None without any.

    Args:
        path: of the trials.
        columns: of their record.
    """
    if path.suffix.lower() == ".tsv":
        return _bids_events(path)
    return _nwb_events(path) if path.suffix.lower() == ".nwb" else events_beside(path, columns)


def _joined(parts: list[tuple[str, np.ndarray, np.ndarray, np.ndarray]]) -> Events | None:
    """Return events from names, rows, times (s) and values."""
    if not parts:
        return None
    names, row, time, value = zip(*parts, strict=True)
    name = np.repeat(names, [len(one) for one in row])
    ms = np.round(np.concatenate(time).astype(float) * 1000, 6)
    return Events(np.concatenate(row).astype(np.int64), ms, name, np.concatenate(value))


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
    beside = path.with_suffix(".events.csv")
    if len(record.events) or beside.is_file():  # an older record's must not be taken for these
        record.events.to_csv(beside)


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
    if isinstance(frozen.get("names"), dict):  # column -> names
        frozen["names"] = _frozen(frozen["names"])
    return frozen


# ---- times ----


def is_simulated(record: TrialRecord) -> bool:
    """Return whether the trials were played by `run`, and not recorded from animals or people."""
    return "schema" in record.meta and "task" in record.meta


def trial_times(record: TrialRecord) -> tuple[np.ndarray, np.ndarray]:
    """Return start and stop of each trial, s, (n,) each.

    Raises:
        InvalidValueError: the record has neither these times nor the steps and dt.
    """
    if "trial_start" in record and "trial_stop" in record:
        return record["trial_start"] / 1000, record["trial_stop"] / 1000
    if "steps" not in record or "dt" not in record.meta:
        raise InvalidValueError(
            "The record has neither the columns 'trial_start' and 'trial_stop' nor 'steps' with a"
            " 'dt' in its meta: its trials have no times. Expected one of them. Play it with run,"
            " or name a lab's columns, in ms: --map trial_start='1000 * onset'."
        )
    spent = np.cumsum(record["steps"]) * float(record.meta["dt"]) / 1000
    return np.concatenate([[0.0], spent[:-1]]), spent


def _periods(record: TrialRecord) -> list[str]:
    return [name.removeprefix("onset.") for name in record.columns if name.startswith("onset.")]


def _visits(
    record: TrialRecord, steps: Steps | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return row, period, onset and offset (s) of each period as played, in their order."""
    if steps is not None:
        rows, periods, onset, offset = steps.visits()
        return rows, periods, onset / 1000, offset / 1000
    parts = [
        (rows := np.flatnonzero(~np.isnan(record[f"onset.{name}"])),
         np.full(len(rows), name),
         record[f"onset.{name}"][rows] / 1000,
         record[f"offset.{name}"][rows] / 1000)
        for name in _periods(record)
    ]  # fmt: skip
    if not parts:
        return np.empty(0, int), np.empty(0, str), np.empty(0), np.empty(0)
    rows, periods, onset, offset = (np.concatenate(values) for values in zip(*parts, strict=True))
    order = np.lexsort((onset, rows))
    return rows[order], periods[order], onset[order], offset[order]


def _one_subject(record: TrialRecord, kind: str) -> None:
    if "subject" in record and len(np.unique(record["subject"])) > 1:
        raise InvalidValueError(
            f"The record has {len(np.unique(record['subject']))} subjects. Expected one, since"
            f" {kind} has a file for each. Write them one by one:"
            ' record[record["subject"] == 0].'
        )


def _stored_names(record: TrialRecord, taken: Iterable[str], name_of: Any) -> dict[str, str]:
    """Return column -> its name in a file; names of the format itself get an ending."""
    stored: dict[str, str] = {}
    used = set(taken)
    for name in record.columns:
        wanted = name_of(name)
        while wanted in used:
            wanted += "_"
        stored[name] = wanted
        used.add(wanted)
    return stored


# ---- NWB ----


def to_nwb(
    trials: TrialRecord | Steps,
    path: str | Path,
    *,
    animal: AnimalFacts | None = None,
    subject_id: str = "",
    description: str = "",
    experimenter: str = "",
    lab: str = "",
    institution: str = "",
) -> None:
    """Write trials to an NWB file; `read_record` reads them back.

    The trials table has all columns, ``start_time`` and ``stop_time`` in s, ``response_time``
    (moment of the answer) and ``<period>_start_time`` and ``<period>_stop_time`` as played. The
    table ``periods`` has a row for each visit of a period. With the steps of `record_steps`,
    observations, actions and rewards are time series. Events are in the processing module
    ``behavior``, a series for each name.

    Args:
        trials: a record of one subject, or steps with their record.
        path: the .nwb file.
        animal: species, age, sex, date of birth and session; by default those in columns of these
            names that have one value. Without a start, the session starts now. Simulated subjects
            have placeholders.
        subject_id: by default the subject of the record's meta.
        description: of the session; by default from the record's meta.
        experimenter, lab, institution: as in NWB; records of simulations say so.

    Raises:
        MissingDependencyError: pynwb is not installed.
        InvalidValueError: the trials have no times, or are of several subjects.
    """
    pynwb = optional("pynwb", needed_for="to_nwb")
    steps = None if isinstance(trials, TrialRecord) else trials
    record: TrialRecord = trials if steps is None else steps.record
    _one_subject(record, "NWB")
    start, stop = trial_times(record)
    stored = _stored_names(record, NWB_NAMES, _nwb_name)
    meta = dict(record.meta)
    simulated = is_simulated(record)
    known = animal or AnimalFacts.of(record, {})
    said = description or (
        f"{meta['task']}, played by {meta['subject']}" if simulated else "trials of behaviour"
    )
    file = pynwb.NWBFile(
        session_description=said,
        identifier=str(uuid.uuid4()),
        session_start_time=known.start or datetime.datetime.now(datetime.UTC),
        session_id="1" if simulated else known.session_id or "1",
        experimenter=[experimenter or "Simulation, NeuroGym"]
        if simulated
        else experimenter or None,
        lab=lab or ("neurogym" if simulated else None),
        institution=institution or ("none (simulation)" if simulated else None),
        experiment_description=(
            f"Simulated behaviour in the task {meta['task']}." if simulated else said
        ),
        keywords=["behavior", "decision making", *(["simulation"] if simulated else [])],
        notes=_json(
            {
                WRITTEN: {
                    "meta": meta,
                    "columns": _kinds(record),
                    "names": stored,
                    "events": _event_names(record),
                }
            }
        ),
    )
    file.subject = pynwb.file.Subject(
        subject_id=subject_id or str(meta.get("subject", "simulated")).replace("/", "-"),
        species=known.species or ("Simulatum exemplar" if simulated else None),
        age=known.age or ("P0D" if simulated else None),
        date_of_birth=known.born,
        sex=known.sex or "U",
        description="a simulated subject" if simulated else None,
    )
    _add_trials(file, record, stored, start, stop)
    if _periods(record):
        _add_periods(pynwb, file, record, steps)
    if len(record.events):
        _add_events(pynwb, file, record)
    if steps is not None:
        _add_series(pynwb, file, steps)
    with replacing(path) as temporary, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The file path provided")  # a temporary name
        with pynwb.NWBHDF5IO(str(temporary), "w") as io:
            io.write(file)


def _kinds(record: TrialRecord) -> dict[str, str]:
    return {name: record[name].dtype.kind for name in record.columns}


def _nwb_name(name: str) -> str:
    """Return the name of a column in NWB, where moments end in ``_time``."""
    if name.startswith(("onset.", "offset.")):
        which, _, period = name.partition(".")
        return f"{_safe(period)}_{'start' if which == 'onset' else 'stop'}_time"
    if name.endswith("answer_time"):
        return _safe(name.removesuffix("answer_time") + "response_time")
    return _safe(name)


def _safe(name: str) -> str:
    return name.replace(".", "_").replace("/", "_").replace(" ", "_")


def _is_time(name: str) -> bool:
    """Return whether a column is a time, which records have in ms, and NWB and BIDS in s."""
    return name.startswith(PERIOD_COLUMNS) or (
        name.rpartition(".")[2] in ("trial_start", "trial_stop", "answer_time", "reaction_time")
    )


def _described(name: str) -> str:
    if name.startswith(PERIOD_COLUMNS):
        kind, _, period = name.partition(".")
        return f"{kind} of the period {period}, s" + (", as built" * (kind == "duration"))
    text = DESCRIPTIONS.get(name.rpartition(".")[2], f"condition {name} of the task")
    return f"{text}, s" if _is_time(name) else text


def _add_trials(
    file: Any,
    record: TrialRecord,
    stored: Mapping[str, str],
    start: np.ndarray,
    stop: np.ndarray,
) -> None:
    names = [
        name
        for name in record.columns
        if name not in ("trial_start", "trial_stop") and not _is_empty(record[name])
    ]
    for name in names:
        file.add_trial_column(stored[name], _described(name))
    values = {
        stored[name]: record[name] / 1000 if _is_time(name) else record[name] for name in names
    }
    compact = {column: _compact(array) for column, array in values.items()}
    for k in range(len(record)):
        row = {column: _cell(array[k]) for column, array in compact.items()}
        file.add_trial(start_time=float(start[k]), stop_time=float(stop[k]), **row)


def _is_empty(values: np.ndarray) -> bool:
    """Return whether no trial has a value; best practices ask to leave such columns out."""
    return values.dtype.kind == "f" and values.ndim == 1 and bool(np.isnan(values).all())


def _compact(values: np.ndarray) -> np.ndarray:
    """Return numbers that are all 0 or 1 as int8, as NWB's best practices ask; others unchanged."""
    if values.dtype.kind in "iuf" and values.size and np.isin(values, (0, 1)).all():
        return values.astype(np.int8)
    return values


def _add_periods(pynwb: Any, file: Any, record: TrialRecord, steps: Steps | None) -> None:
    table = pynwb.epoch.TimeIntervals(
        name="periods",
        description="periods as played"
        + ("" if steps is not None else "; of several visits in a trial, the first to the last"),
    )
    table.add_column("period", "name of the period")
    table.add_column("trial_row", "row of the table of trials")
    for row, period, onset, offset in zip(*_visits(record, steps), strict=True):
        table.add_interval(
            start_time=float(onset), stop_time=float(offset), period=str(period),
            trial_row=int(row),
        )  # fmt: skip
    file.add_time_intervals(table)


def _add_events(pynwb: Any, file: Any, record: TrialRecord) -> None:
    """Add a series of moments and values for each name of events."""
    module = file.create_processing_module("behavior", "what happened within trials")
    log = record.event_log
    for name in np.unique(log.name).tolist():
        mine = np.flatnonzero(log.name == name)
        mine = mine[np.argsort(log.time[mine], kind="stable")]
        module.add(
            pynwb.TimeSeries(
                name=_safe(name), data=log.value[mine], unit="n.a.",
                timestamps=log.time[mine] / 1000,
                description=f"events {name!r} of the session, with their values",
            )
        )  # fmt: skip


def _nwb_events(path: Path) -> Events | None:
    pynwb = optional("pynwb", needed_for="Reading NWB")
    with pynwb.NWBHDF5IO(str(path), "r") as io:
        file = io.read()
        try:
            names = json.loads(file.notes or "")[WRITTEN]["events"]
        except (ValueError, KeyError, TypeError):
            return None
        start, parts = np.asarray(file.trials["start_time"][:]), []
        for stored, name in names.items():
            series = file.processing["behavior"][stored]
            time = np.asarray(series.timestamps[:])
            # An event at the end of a trial is not one of the next trial, which begins then.
            row = np.searchsorted(start, time - 1e-9) - 1
            parts.append((name, row, time, np.asarray(series.data[:])))
    return _joined(parts)


def _cell(value: Any) -> Any:
    if not isinstance(value, np.ndarray | np.generic) or value.dtype == np.int8:
        return value  # Python's numbers would lose the type
    return value.tolist()


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
    from neurogym_records.csv_files import of_frame

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
        source = {"trial_start": "start_time", "trial_stop": "stop_time"}.get(
            name, written["names"][name]
        )
        if source not in table:  # no trial has a value
            columns[name] = np.full(len(table["start_time"]), np.nan)
            continue
        values = table[source]
        if _is_time(name):
            values = np.round(values.astype(float) * 1000, 6)  # 0 and 1 s are stored as int8
        columns[name] = values.astype(
            {"i": np.int64, "f": float, "b": bool}.get(kind, values.dtype)
        )
    return columns, _frozen(written["meta"])


# ---- BIDS ----


def to_bids(
    trials: TrialRecord | Steps,
    folder: str | Path,
    *,
    sub: str = "net0",
    task: str = "",
    name: str = "",
    ses: str = "",
) -> Path:
    """Write trials as a BIDS dataset of behaviour; return the path of the events file.

    ``sub-<sub>/beh/sub-<sub>_task-<task>_events.tsv`` has a row per trial and per event, and, if
    the record has their times, a row per period as played and per answer; the sidecar .json has
    descriptions, units, levels and HED tags. `read_record` reads the trials back. Files of the
    folder that describe the dataset are written if they are missing.

    Args:
        trials: a record of one subject, or steps with their record: then each visit of a period
            has a row.
        folder: of the dataset.
        sub: label of the subject, letters and digits.
        task: label of the task, letters and digits; by default from the record's meta.
        name: of a new dataset.
        ses: label of the session, letters and digits; by default, files name none.

    Raises:
        InvalidValueError: a label with other characters, or trials without times, or of several
            subjects.
    """
    steps = None if isinstance(trials, TrialRecord) else trials
    record: TrialRecord = trials if steps is None else steps.record
    _one_subject(record, "BIDS")
    label = task or "".join(
        c for c in str(record.meta.get("task", "task")).rpartition("/")[2] if c.isalnum()
    )
    for kind, text in (("sub", sub), ("task", label), ("ses", ses or "0")):
        if not text.isalnum() or not text.isascii():
            raise InvalidValueError(
                f"{kind}={text!r} was given. Expected letters and digits, as BIDS has it. Leave out"
                " other characters."
            )
    root = Path(folder)
    session = f"ses-{ses}" if ses else ""
    place = root / f"sub-{sub}" / session / "beh"
    place.mkdir(parents=True, exist_ok=True)
    simulated = is_simulated(record)
    kind = "Simulated behaviour" if simulated else "Behaviour"
    _describe_dataset(root, name or f"{kind} in {label}", sub, simulated=simulated)
    entities = [f"sub-{sub}", *([session] if ses else []), f"task-{label}"]
    target = place / f"{'_'.join(entities)}_events.tsv"
    spread = {
        f"{column}[{k}]": f"{column}[{k}]"
        for column in _wide(record)
        for k in range(record[column].shape[1])
    }
    stored = _stored_names(record, BIDS_NAMES, _bids_name) | spread
    _write_events(record, steps, stored, target)
    versions = record.meta.get("versions", {})
    sidecar = {
        "TaskName": label,
        "TaskDescription": f"Trials of {record.meta.get('task', label)}.",
        "Instructions": "none",
        "StimulusPresentation": {
            "SoftwareName": "neurogym-core",
            "SoftwareVersion": str(versions.get("neurogym-core", NOTHING)),
        },
        **_event_columns(record, stored),
        WRITTEN: {
            "meta": dict(record.meta),
            "columns": _kinds(record),
            "names": stored,
            "wide": _wide(record),
            "events": _event_names(record),
        },
    }
    with replacing(target.with_suffix(".json")) as temporary:
        temporary.write_text(_json(sidecar) + "\n", encoding="utf-8")
    return target


def _wide(record: TrialRecord) -> list[str]:
    return [name for name in record.columns if record[name].ndim > 1]


def _describe_dataset(root: Path, name: str, sub: str, *, simulated: bool) -> None:
    description: dict[str, Any] = {
        "Name": name,
        "BIDSVersion": "1.9.0",
        "DatasetType": "raw",
        "License": "CC0" if simulated else "not stated",
        "Authors": [
            "NeuroGym (simulation)" if simulated else "not stated",
            "neurogym-records (export)",
        ],
        "HEDVersion": "8.3.0",
        "GeneratedBy": [{"Name": "neurogym-records"}],
    }
    texts = {
        "dataset_description.json": _json(description) + "\n",
        "README": (
            f"{name}\n\nSimulated trials, written by neurogym-records. The subjects are networks or"
            " models; no animal or person took part. Times are in seconds from the start of the"
            " simulated session.\n"
            if simulated
            else f"{name}\n\nTrials of behaviour, written by neurogym-records from a table of"
            " trials. State authors and licence in dataset_description.json, and describe"
            " subjects and apparatus here.\n"
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
    return "response_time" if name == "reaction_time" else _safe(name)


def _rows_of_trials(record: TrialRecord) -> list[str]:
    """Return the columns that rows of trials have; others are rows of periods, or the onset."""
    return [
        name
        for name in record.to_pandas().columns
        if name not in ("trial_start", "trial_stop") and not name.startswith(("onset.", "offset."))
    ]


def _answer_slots(record: TrialRecord) -> dict[str, str]:
    """Return type of the event -> column of the moments of the answers."""
    return {
        "answer" if name == "answer_time" else f"answer/{_safe(name.rpartition('.')[0])}": name
        for name in record.columns
        if name.rpartition(".")[2] == "answer_time"
        and not name.startswith(PERIOD_COLUMNS)
    }  # fmt: skip


def _write_events(
    record: TrialRecord, steps: Steps | None, stored: Mapping[str, str], target: Path
) -> None:
    import pandas as pd

    start, stop = trial_times(record)
    frame = record.to_pandas()
    columns: dict[str, Any] = {
        "onset": start,
        "duration": stop - start,
        "trial_type": "trial",
        "trial_row": np.arange(len(record)),
    }
    for name in _rows_of_trials(record):
        values = frame[name].to_numpy()
        columns[stored[name]] = values / 1000 if _is_time(name) else values
    frames = [pd.DataFrame(columns).astype(object)]
    rows, periods, onset, offset = _visits(record, steps)
    kinds = [f"period/{_safe(name)}" for name in periods.tolist()]
    others = [(onset, offset - onset, kinds, rows)]
    for kind, name in _answer_slots(record).items():
        answered = np.flatnonzero(~np.isnan(record[name]))
        others.append((record[name][answered] / 1000, 0.0, kind, answered))
    for begin, length, kind, row in others:
        frames.append(
            pd.DataFrame(
                {"onset": begin, "duration": length, "trial_type": kind, "trial_row": row}
            ).astype(object)
        )
    if len(record.events):
        log = record.event_log
        kinds = [f"event/{_safe(name)}" for name in log.name.tolist()]
        happened = {"onset": log.time / 1000, "duration": 0.0, "trial_type": kinds}
        happened |= {"trial_row": log.row, EVENT_VALUE: log.value}
        frames.append(pd.DataFrame(happened).astype(object))
    for one in frames:  # sums and differences of ms, without the noise of binary fractions
        one["onset"], one["duration"] = (
            one[name].astype(float).round(9).astype(object) for name in ("onset", "duration")
        )
    events = pd.concat(frames, ignore_index=True).sort_values(
        ["onset", "trial_row", "duration"], ascending=[True, True, False], kind="stable"
    )
    with replacing(target) as temporary:
        events.to_csv(temporary, sep="\t", index=False, na_rep=NOTHING, lineterminator="\n")


def _event_columns(record: TrialRecord, stored: Mapping[str, str]) -> dict[str, Any]:
    """Return the entries of the sidecar: descriptions, units, levels and HED tags."""
    periods = {f"period/{_safe(name)}": f"the period {name}" for name in _periods(record)}
    answers = {
        kind: f"the answer{'' if kind == 'answer' else f' to {kind[7:]}'}"
        for kind in _answer_slots(record)
    }
    named = np.unique(record.event_log.name).tolist()
    happened = {f"event/{_safe(name)}": f"the event {name}" for name in named}
    entries: dict[str, Any] = {
        "trial_type": {
            "Description": "a whole trial, one of its periods as played, an answer, or an event",
            "Levels": {
                "trial": "a whole trial, with its conditions and results",
                **periods,
                **answers,
                **happened,
            },
            "HED": {
                "trial": "Experimental-trial",
                **{kind: f"Time-block, Label/{kind[7:]}" for kind in periods},
                **dict.fromkeys(answers, "Agent-action, Participant-response"),
                **{kind: f"Agent-action, Label/{kind[6:]}" for kind in happened},
            },
        },
        "trial_row": {"Description": "row of the trial that the event belongs to, from 0"},
    }
    if happened:
        entries[EVENT_VALUE] = {"Description": "the number that goes with an event"}
    for column in _rows_of_trials(record):
        entry: dict[str, Any] = {"Description": _described(column).removesuffix(", s")}
        if _is_time(column):
            entry["Units"] = "s"
        levels = _levels(record, column)
        if levels:
            entry["Levels"] = levels
        entries[stored[column]] = entry
    return entries


def _levels(record: TrialRecord, column: str) -> dict[str, str]:
    """Return the meaning of the values of a column that has few."""
    name = column.rpartition(".")[2]
    if name == "outcome":
        return LEVELS
    if column not in record:  # one of several values
        return {}
    values = np.unique(record[column]).tolist()
    if name == "choice" and record[column].dtype.kind in "iuU":
        known = dict.fromkeys([*record.meta.get("names", {}).get(column, ()), *values])
        return {str(one): "no answer" if one in (-1, "none") else str(one) for one in known}
    return {one: one for one in values} if record[column].dtype.kind == "U" else {}


def is_ours(path: Path) -> bool:
    """Return whether `to_bids` wrote the events of a .tsv file."""
    return _written(path) is not None


def _written(path: Path) -> dict[str, Any] | None:
    try:
        facts = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))[WRITTEN]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return facts if isinstance(facts, dict) and "names" in facts else None


def bids_columns(table: Mapping[str, np.ndarray], path: Path) -> dict[str, np.ndarray] | None:
    """Return the columns of the record that `to_bids` wrote; None for the events of others."""
    written = _written(path)
    if written is None:
        return None
    names, types = written["names"], np.asarray(table["trial_type"])
    trials = np.flatnonzero(types == "trial")
    trials = trials[np.argsort(table["trial_row"][trials])]
    found: dict[str, np.ndarray] = {}
    for name, kind in written["columns"].items():
        if name == "trial_start":
            values = table["onset"][trials]
        elif name == "trial_stop":
            values = (table["onset"] + table["duration"])[trials]
        elif name.startswith(("onset.", "offset.")):
            values = _period_times(table, types, name, len(trials))
        elif name in written["wide"]:
            parts = [key for key in table if key.startswith(f"{name}[")]
            values = np.stack([_restored(table[key][trials], kind) for key in parts], axis=1)
        else:
            values = _restored(table[names[name]][trials], kind)
        found[name] = np.round(values.astype(float) * 1000, 6) if _is_time(name) else values
    return found


def _bids_events(path: Path) -> Events | None:
    written = _written(path)
    if written is None or not written.get("events"):
        return None
    table, parts = TextTable(path, "\t").columns(ours=True), []
    for stored, name in written["events"].items():
        mine = np.asarray(table["trial_type"]) == f"event/{stored}"
        parts.append((name, *(table[one][mine] for one in ("trial_row", "onset", EVENT_VALUE))))
    return _joined(parts)


def _restored(values: np.ndarray, kind: str) -> np.ndarray:
    """Return a column with its type: pandas reads the rows of other events as missing values."""
    if kind == "b":
        return np.isin(values.astype(str), ("True", "1", "1.0"))
    if kind in "iu":
        return values.astype(float).astype(np.int64)
    if kind == "U" and values.dtype.kind == "f":  # pandas: all of them are the text "n/a"
        return np.full(len(values), NOTHING)
    return values.astype({"f": float, "U": str}[kind])


def _period_times(
    table: Mapping[str, np.ndarray], types: np.ndarray, name: str, n: int
) -> np.ndarray:
    """Return the first onsets, or last offsets, of a period, s, (n,)."""
    which, _, period = name.partition(".")
    rows = np.flatnonzero(types == f"period/{_safe(period)}")
    trial = np.asarray(table["trial_row"])[rows].astype(int)
    values = np.full(n, np.nan)
    if which == "onset":
        np.fmin.at(values, trial, table["onset"][rows])
    else:
        np.fmax.at(values, trial, (table["onset"] + table["duration"])[rows])
    return values


def export(
    trials: TrialRecord | Steps, path: Path, kind: str, animal: Mapping[str, str] | None = None
) -> list[Path]:
    """Write trials in one of `FORMATS`; return the paths of the written files.

    NWB and BIDS have a file for each subject of a record, and for each session if its clock
    restarts.

    Args:
        trials: the trials, perhaps of several subjects.
        path: the file, or the folder of BIDS.
        kind: one of `FORMATS`.
        animal: facts for NWB, by the names of `animals.AnimalFacts`; those that are missing are
            taken from columns of these names.

    Raises:
        UnknownNameError: another format.
        InvalidValueError: a fact that is not of its form; or as `to_nwb`.
    """
    if kind not in FORMATS:
        raise unknown("format", kind, FORMATS)
    record: TrialRecord = trials if isinstance(trials, TrialRecord) else trials.record
    if kind in ("csv", "parquet"):
        {"csv": write_csv, "parquet": write_parquet}[kind](record, path)
        return [path]
    facts = animal or {}
    if len(parts := list(_parts_of(record))) == 1:
        if kind == "bids":
            return [to_bids(trials, path)]
        to_nwb(trials, path, animal=AnimalFacts.of(record, facts))
        return [path]
    written = []
    _check_labels([names for _, names in parts])
    for part, names in parts:
        labels = ["".join(c for c in name if c.isascii() and c.isalnum()) for name in names]
        if kind == "bids":
            sub = labels[0] if not labels[0].isdigit() else f"net{labels[0]}"
            written.append(to_bids(part, path, sub=sub, ses="".join(labels[1:])))
        else:
            file = path.with_name(f"{'-'.join([path.stem, *labels])}{path.suffix}")
            known = AnimalFacts.of(part, facts)
            to_nwb(part, file, animal=known, subject_id=names[0].replace("/", "-"))
            written.append(file)
    return written


def _check_labels(parts: Iterable[list[str]]) -> None:
    """Raise an error if the names of two parts differ in other characters than letters and digits.

    Files would have the same name; file systems may ignore the case.
    """
    known: dict[tuple[str, ...], list[str]] = {}
    for names in parts:
        labels = tuple(
            "".join(c for c in name.casefold() if c.isascii() and c.isalnum()) for name in names
        )
        if not all(labels):
            raise InvalidValueError(
                f"{' '.join(names)!r} was given. Expected names with letters or digits of ASCII, as"
                " files have them. Rename it."
            )
        other = known.setdefault(labels, names)
        if other != names:
            raise InvalidValueError(
                f"{' '.join(other)!r} and {' '.join(names)!r} would be the same file. Expected"
                " subjects and sessions that differ in letters and digits. Rename one."
            )


def _parts_of(record: TrialRecord) -> Iterator[tuple[TrialRecord, list[str]]]:
    """Yield the trials of each subject with its name, and of each session if its clock restarts."""
    for subject in np.unique(record["subject"]).tolist() if "subject" in record else [None]:
        mine = record if subject is None else record[record["subject"] == subject]
        names = [str(0 if subject is None else subject)]
        start = trial_times(mine)[0]
        if "session" not in mine or (np.diff(start) >= 0).all():
            yield mine, names
            continue
        for session in np.unique(mine["session"]).tolist():
            yield mine[mine["session"] == session], [*names, str(session)]
