"""`Benchmark`: a frozen task, the trials of animals, and the score of a subject beside them.

A benchmark is a TOML file with a version and a digest of its text. It names a task with all its
settings, the trials and seeds that a subject plays, and a file of animals' trials with the digest
of that file. Packages offer paths of benchmarks through the entry-point group
``neurogym.benchmarks``.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from neurogym_behaviour.behaviour import (
    DESIGN,
    DRAWN,
    Behaviour,
    CannotTellError,
    Roles,
    with_declared,
)
from neurogym_records.reading import read_record
from neurogym_training import check_artefact

from neurogym_core import InvalidValueError, NotSupportedError, Task, TrialRecord, make_task, run
from neurogym_core.tools import (
    how_to_install,
    installed,
    is_file_reference,
    load,
    offers_of,
    unknown,
)
from neurogym_likeness.bits import (
    CHOICES,
    KINDS,
    REPORTS,
    REWARDS,
    TIMES,
    Answers,
    Likeness,
    likeness_in_bits,
)
from neurogym_likeness.blind import SHOWN, BlindPlayer

GROUP = "neurogym.benchmarks"
FOLDER = Path("benchmarks")
"""Folder of benchmarks that were added to a project."""
PACKAGES = ("neurogym_data",)
"""Packages whose data sets a benchmark may name."""
TABLES = {
    "task": {"name", "behaviour", "hides", "parameters", "timing"},
    "trials": {"number", "seeds", "conditions"},
    "animals": {
        "package", "data", "file", "version", "sha256", "held_out_sha256", "subjects", "where",
        "strength", "side", "right", "by", "scale", "group",
    },
}  # fmt: skip
"""Tables of the file, and their keys."""
KEYS = {"version", "title", "kind", "differences", "signatures", "digest", *TABLES}
REQUIRED = {"version", "title", "kind", "digest", "task", "trials", "animals"}
CONDITION_KEYS = ({"column", "values"}, {"column", "magnitude"}, {"column", "negative", "positive"})
"""How a condition is computed from a column of the animals' trials."""


@dataclass(frozen=True)
class Benchmark:
    """A frozen task, and the animals whose answers a subject is to predict.

    Attributes:
        name: name of its file; a changed benchmark has another version.
        version: raised with every change.
        title: task and animals, in words.
        kind: one of `bits.KINDS`.
        task: id of the task.
        behaviour: digest of the task's behaviour, as its package stores it; "": unknown.
        parameters, timing: all settings of the task.
        hides: attributes of the env that subjects may not read, of `blind.SHOWN`.
        number: trials of a seed.
        seeds: seeds of the trials; each is a subject.
        conditions: condition of the task -> how it follows from the animals' trials; without one,
            the task draws its conditions.
        animals: table of the file: where the trials are, and the roles of their columns.
        differences: of the task from that of the animals, in words.
        signatures: names of the published signatures that are reported below the score.
        digest: of the file.
        path: of the file.
    """

    name: str
    version: int
    title: str
    kind: str
    task: str
    behaviour: str
    parameters: Mapping[str, Any]
    timing: Mapping[str, Any]
    number: int
    seeds: tuple[int, ...]
    conditions: Mapping[str, Any]
    animals: Mapping[str, Any]
    differences: str
    signatures: tuple[str, ...]
    digest: str
    path: Path
    hides: tuple[str, ...] = ()
    _read: dict[bool, TrialRecord] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def __str__(self) -> str:
        return f"{self.name}, version {self.version} ({self.digest})"

    # ---- the task ----

    def make_task(self) -> Task:
        """Return the task with the settings of the benchmark.

        Raises:
            DiscoveryError: the task is not installed.
            InvalidValueError: the task is in a Python file, which is not trusted.
            NotSupportedError: its behaviour is not that with which the benchmark was made.
        """
        named = {"task": self.task, "parameters": dict(self.parameters)}
        check_artefact(f"The benchmark {self.name!r}", named)
        now = behaviour_of(self.task)
        if self.behaviour and now != self.behaviour:
            raise NotSupportedError(
                f"{self.task} has the behaviour {now or 'unknown'}, and the benchmark {self} was"
                f" made with {self.behaviour}. Expected the same task. Install the package of the"
                " task in the version of the benchmark, or take a newer version of the benchmark."
            )
        return make_task(self.task, **self.parameters, timing=dict(self.timing))

    def imposed(self, seed: int) -> dict[str, np.ndarray]:
        """Return the conditions of a seed's trials, each (number, ...); {}: the task draws them.

        They are those of the animals' trials, in an order that the seed shuffles; in the sequence
        of each animal where rewards count.
        """
        if not self.conditions:
            return {}
        record, rng = self.trials().coded(), np.random.default_rng(seed)
        if self.kind == REWARDS:
            names = rng.permutation(np.unique(record["subject"]))
            rows = np.concatenate([np.flatnonzero(record["subject"] == one) for one in names])
        else:
            rows = rng.permutation(len(record))
        rows = np.resize(rows, self.number)
        return {name: _computed(self.trials(), how, rows) for name, how in self.conditions.items()}

    def play(self, subject: Any, seed: int, drawn: int = 0) -> Behaviour:
        """Return the behaviour of a subject, which plays in a process without the task.

        Args:
            subject: as in `blind.BlindPlayer`.
            seed: one of `seeds`, which the subject gets.
            drawn: a number that the subject does not get. Trials and noise follow from both; with
                0, they are those of the seed, which a subject can make again.

        Raises:
            NotSupportedError: the subject asks for more than it may see.
        """
        trials = seed
        if drawn:
            trials = int(np.random.SeedSequence([seed, drawn]).generate_state(1, np.uint64)[0] >> 1)
        task, imposed = self.make_task(), self.imposed(trials)
        with BlindPlayer(subject, seed=seed, hides=self.hides) as player:
            record = run(
                task, player, self.number, seed=trials, conditions=imposed or None,
                num_envs=1 if self.kind == REWARDS else None,
            )  # fmt: skip
        record = TrialRecord(dict(record), meta={**record.meta, DESIGN: DRAWN})
        roles = Roles.of_task(task, by=self.animals.get("by"))
        return Behaviour(with_declared(record, task), roles)

    def answers(self, behaviour: Behaviour) -> Answers:
        """Return the answers of a subject that played.

        Raises:
            CannotTellError: the record lacks something.
        """
        if self.kind == REPORTS:
            return Answers.of_reports(behaviour)
        if self.kind == REWARDS:
            return Answers.of_options(behaviour)
        found = Answers.of(behaviour)
        return _untimed(found) if self.kind == CHOICES else found

    # ---- the animals ----

    def trials(self, last: bool = False) -> TrialRecord:
        """Return the trials of the animals.

        Args:
            last: whether to return those of the held-out animals, which are for one last test.

        Raises:
            NotSupportedError: the file is not the one with which the benchmark was made, or its
                package is not installed.
            InvalidValueError: the benchmark has no held-out animals.
        """
        if last not in self._read:
            self._read[last] = self._chosen(self._opened(last), last)
        return self._read[last]

    def _opened(self, last: bool) -> TrialRecord:
        said = self.animals
        expected = said.get("held_out_sha256" if last else "sha256")
        if last and expected is None:
            raise InvalidValueError(
                f"The held-out animals of {self} were asked for. It has none. Score against the"
                " others."
            )
        if "file" in said:
            path = self.path.parent / (_held_out_name(said["file"]) if last else said["file"])
            _check_digest(path, expected, self)
            return read_record(path)
        package = _data_package(said["package"], self)
        facts = package.data_set(said["data"])
        _check_digest((facts.held_out_table if last else facts.table).path, expected, self)
        record: TrialRecord = package.data(said["data"], held_out=last)
        return record

    def _chosen(self, record: TrialRecord, last: bool) -> TrialRecord:
        """Return the trials in which the columns of `where` have their values."""
        used = np.ones(len(record), bool)
        for name, value in self.animals.get("where", {}).items():
            if name not in record:
                raise unknown("column", name, record.columns, of=f"the trials of {self}")
            used &= record[name] == value
        if not last and "subjects" in self.animals:
            used &= np.isin(record["subject"].astype(str), self.animals["subjects"])
        return record[used]

    def population(self, last: bool = False) -> dict[str, Answers]:
        """Return the answers of each animal, or of each group of animals with few trials.

        Args:
            last: as in `trials`.

        Raises:
            CannotTellError: the trials lack something; or as `trials`.
        """
        said, record = self.animals, self.trials(last)
        roles = {key: said[key] for key in ("strength", "side", "right", "by") if key in said}
        choices = 2
        if self.kind == REWARDS and "choice" in record:
            choices = max(2, 1 + int(record.coded()["choice"].max()))
        behaviour = Behaviour(record, Roles(**roles, choices=choices))
        found = {}
        for name, one in behaviour.per_subject().items():
            answers = self.answers(one)
            if "trial" not in record and self.kind == CHOICES:
                answers = replace(answers, before=None)  # the order of the rows is unknown
            found[name] = replace(answers, signed=answers.signed * said.get("scale", 1.0))
        size = said.get("group", 1)
        return found if size == 1 else dict(_groups(found, size))

    # ---- the score ----

    def score(
        self,
        subjects: Mapping[str, Behaviour],
        *,
        last: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Likeness:
        """Score the seeds of a subject.

        Args:
            subjects: name of the seed -> its behaviour, from `play`.
            last: whether to score against the held-out animals.
            progress: called with the number of subjects and animals that are done, and of all.

        Raises:
            CannotTellError: as `bits.likeness_in_bits`.
        """
        seeds = {name: self.answers(one) for name, one in subjects.items()}
        population = self.population(last)
        found = likeness_in_bits(seeds, population, kind=self.kind, progress=progress)
        return replace(found, unit="group" if "group" in self.animals else "animal")


def _untimed(answers: Answers) -> Answers:
    return replace(answers, time=np.full(len(answers), np.nan))


def pooled(parts: Sequence[Answers]) -> Answers:
    """Return the answers of several animals as those of one; blocks stay apart."""
    block, n_blocks = [], 0
    for one in parts:
        block.append(one.block + n_blocks)
        n_blocks += int(one.block.max()) + 1
    joined = {}
    for name in (one.name for one in fields(Answers)):
        values = [getattr(one, name) for one in parts]
        joined[name] = None if values[0] is None else np.concatenate(values)
    return Answers(**{**joined, "block": np.concatenate(block)})


def _groups(each: Mapping[str, Answers], size: int) -> Iterator[tuple[str, Answers]]:
    """Yield groups of at least `size` animals; a digest of their names decides which."""
    names = sorted(each, key=lambda name: hashlib.sha256(f"group {name}".encode()).hexdigest())
    n = len(names) // size
    for k in range(n):
        yield f"group {k + 1}", pooled([each[name] for name in names[k::n]])


def _computed(record: TrialRecord, how: Any, rows: np.ndarray) -> np.ndarray:
    """Return a condition from a column of the animals' trials, (rows, ...)."""
    if isinstance(how, str):
        return record.coded()[how][rows]
    values = record[how["column"]][rows]
    if "values" in how:
        return np.array([how["values"][str(one)] for one in values.tolist()])
    if "magnitude" in how:
        return np.abs(values) * how["magnitude"]
    return np.where(values < 0, how["negative"], how["positive"])


def _check_digest(path: Path, expected: str | None, benchmark: Benchmark) -> None:
    if not path.is_file():
        raise NotSupportedError(
            f"{path} does not exist. Expected the trials of {benchmark}. Put the file back."
        )
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != expected:
        raise NotSupportedError(
            f"{path.name} has the digest {found[:16]}. Expected {str(expected)[:16]}, that of the"
            f" trials with which {benchmark} was made. Get the file of this version, or make a"
            " benchmark with another name from this one: ngym benchmark add."
        )


def _data_package(name: str, benchmark: Benchmark) -> Any:
    """Import a package of data sets, with the functions `data` and `data_set` of neurogym-data."""
    if name not in PACKAGES:  # importing another one would run it
        raise InvalidValueError(
            f"{benchmark} has its trials in the package {name!r}. Expected one of"
            f" {', '.join(PACKAGES)}, or a file beside the benchmark. Correct the file."
        )
    try:
        return importlib.import_module(name)
    except ImportError as error:
        shown = name.replace("_", "-")
        raise NotSupportedError(
            f"The trials of {benchmark} are in {shown}, which is not installed. Expected the"
            f" package. Install it: {how_to_install(shown)}."
        ) from error


def _held_out_name(file: str) -> str:
    stem, dot, suffix = file.partition(".")
    return f"{stem}.held-out{dot}{suffix}"


def behaviour_of(task: str) -> str:
    """Return a digest of the behaviour of a task; "" if none is stored.

    Of an installed task, it is that of the digests which its package stores for `ngym check`; of a
    task in a file, that of the file.
    """
    if is_file_reference(task):
        return hashlib.sha256(Path(task.rpartition(":")[0]).read_bytes()).hexdigest()[:16]
    info = next((one for one in installed().tasks if one.id == task), None)
    if info is None:
        return ""
    spec = importlib.util.find_spec(info.value.partition(":")[0].partition(".")[0])
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder) / "digests.toml"
        if path.is_file():
            stored = tomllib.loads(path.read_text("utf-8")).get(info.name)
            return "" if stored is None else digest_of(stored)
    return ""


def digest_of(said: Mapping[str, Any]) -> str:
    """Return a digest of plain data without its key "digest", 16 hexadecimal digits."""
    kept = {name: value for name, value in said.items() if name != "digest"}
    text = json.dumps(kept, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# ---------------------------------------------------------------------- files


def read_benchmark(path: Path) -> Benchmark:
    """Return the benchmark of a TOML file.

    Raises:
        InvalidValueError: not TOML, keys that are missing or wrong, or a text that was changed.
        UnknownNameError: an unknown key or kind.
    """
    try:
        said = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidValueError(
            f"{path} cannot be read as TOML: {error}. Expected a benchmark. Correct the file."
        ) from error
    for name in said:
        if name not in KEYS:
            raise unknown("key", name, sorted(KEYS), of=str(path))
    missing = sorted(REQUIRED - said.keys())
    if missing:
        raise InvalidValueError(f"{path} lacks {', '.join(missing)}. Expected all of them. Add it.")
    for table, known in TABLES.items():
        for name in said[table]:
            if name not in known:
                raise unknown("key", name, sorted(known), of=f"[{table}] of {path}")
    if said["kind"] not in KINDS:
        raise unknown("kind", said["kind"], KINDS, of=str(path))
    for name in said["task"].get("hides", ()):
        if name not in SHOWN:
            raise unknown("attribute", name, SHOWN, of=f"the env, which {path} hides")
    found = digest_of(said)
    if found != said["digest"]:
        raise InvalidValueError(
            f"{path} has the digest {found}, and says {said['digest']}: it was changed. Expected"
            " the benchmark of that version. Get the file back, or give a changed benchmark another"
            " name, with the digest of its text."
        )
    task, trials, animals = said["task"], said["trials"], said["animals"]
    if ({"package", "data"} <= animals.keys()) == ("file" in animals):
        raise InvalidValueError(
            f"[animals] of {path} has the keys {', '.join(animals)}. Expected either file, or"
            " package and data. Name the trials."
        )
    return Benchmark(
        name=path.stem, version=said["version"], title=said["title"], kind=said["kind"],
        task=task["name"], behaviour=task.get("behaviour", ""),
        parameters=_tuples(task.get("parameters", {})), timing=task.get("timing", {}),
        number=trials["number"], seeds=tuple(trials["seeds"]),
        conditions=trials.get("conditions", {}), animals=animals,
        differences=said.get("differences", ""), signatures=tuple(said.get("signatures", ())),
        digest=said["digest"], path=path, hides=tuple(task.get("hides", ())),
    )  # fmt: skip


def _tuples(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(one) if isinstance(one, list) else one for name, one in parameters.items()}


def benchmark_names() -> list[str]:
    """Return the names of the benchmarks of installed packages, then those of `FOLDER`, sorted."""
    return sorted({*_offered(), *(path.stem for path in FOLDER.glob("*.toml"))})


def _offered() -> dict[str, Any]:
    return {offer.name: offer for offer in offers_of(GROUP) if offer.usable}


def benchmark(name: str) -> Benchmark:
    """Return a benchmark of an installed package, of `FOLDER`, or of a TOML file.

    Raises:
        UnknownNameError: there is no such benchmark.
        NotSupportedError: an entry point is not the path of a file.
        InvalidValueError: as `read_benchmark`.

    Example:
        >>> from neurogym_likeness.benchmarks import benchmark
        >>> rats = benchmark("clicks-rats")
        >>> rats.version, rats.task, len(rats.population())
        (1, 'perceptual/PoissonClicks-v1', 9)
    """
    if name.endswith(".toml"):
        return read_benchmark(Path(name))
    offered = _offered()
    if name in offered:
        path = load(offered[name])
        if not isinstance(path, Path):
            raise NotSupportedError(
                f"{offered[name].value} is not the path of a benchmark. Expected a pathlib.Path."
                " Correct the entry point."
            )
        return read_benchmark(path)
    if (FOLDER / f"{name}.toml").is_file():
        return read_benchmark(FOLDER / f"{name}.toml")
    raise unknown("benchmark", name, benchmark_names())


def written(said: Mapping[str, Any]) -> str:
    """Return the TOML text of a benchmark, with its digest."""
    said = {**said, "digest": digest_of(said)}
    lines = [f"{name} = {_toml(value)}" for name, value in said.items() if name not in TABLES]
    for table in TABLES:
        lines += _table(table, said[table])
    return "\n".join(lines) + "\n"


def _table(name: str, said: Mapping[str, Any]) -> list[str]:
    nested = {"parameters", "timing", "conditions", "where"} & said.keys()
    lines = ["", f"[{name}]"]
    lines += [f"{key} = {_toml(value)}" for key, value in said.items() if key not in nested]
    for key in said:
        if key in nested:
            lines += ["", f"[{name}.{key}]"]
            lines += [f"{_key(one)} = {_toml(value)}" for one, value in said[key].items()]
    return lines


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_toml(one)}" for k, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


__all__ = [
    "FOLDER", "GROUP", "TIMES", "Benchmark", "CannotTellError", "behaviour_of", "benchmark",
    "benchmark_names", "digest_of", "pooled", "read_benchmark", "written",
]  # fmt: skip
