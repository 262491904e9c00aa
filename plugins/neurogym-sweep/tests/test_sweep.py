"""Sweeps in one process and in local ones: runs, their folders, and the table."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from neurogym_sweep import Engine, Plan, Sweep, read_axis, work_named

from neurogym_core import InvalidValueError, NeurogymError, NotSupportedError, UnknownNameError
from neurogym_core.tools import FileNotWrittenError

SERIAL = Engine.of("serial")


def rows_of(*texts, **settings):
    return Plan(tuple(read_axis(text) for text in texts), **settings).rows()


def sweep_of(do, *texts, folder="sweep", source=None):
    return Sweep(work_named(do, source), rows_of(*texts), folder)


@pytest.mark.parametrize("engine", ["serial", "threads", "processes"])
def test_every_row_is_a_run_and_a_failed_one_is_a_row_with_its_error(study, table, engine):
    summary = sweep_of("study.py:tiny", "seed=11:15", "rate=1,2").run(Engine.of(engine, jobs=2))
    assert (summary.runs, summary.done, summary.failed, summary.left) == (8, 6, 2, 0)
    rows = table()
    assert [(row["seed"], row["rate"]) for row in rows] == [
        (seed, rate) for seed in range(11, 15) for rate in (1, 2)
    ]
    assert [row["accuracy"] for row in rows] == [11, 22, 12, 24, None, None, 14, 28]
    failed = [row for row in rows if row["status"] == "failed"]
    assert [row["error"] for row in failed] == ["ValueError: thirteen"] * 2
    assert json.loads(rows[0]["versions"])["neurogym-core"]


def test_a_run_has_a_row_per_test(study, table):
    sweep_of("study.py:several", "seed=0:2").run(SERIAL)
    rows = table()
    assert [(row["seed"], row["test"], row["last"]) for row in rows] == [
        (seed, test, test == 2) for seed in range(2) for test in range(3)
    ]
    assert [row["updates"] for row in rows] == [0, 10, 20] * 2


def test_the_folder_of_a_run_is_the_hash_of_its_description(study):
    first = sweep_of("study.py:tiny", "seed=0:3")
    assert [job.key for job in first.jobs] == [
        job.key for job in sweep_of("study.py:tiny", "seed=0:3", folder="other").jobs
    ]
    assert len({job.key for job in first.jobs}) == 3
    first.run(SERIAL)
    assert first.store.done() == {job.key for job in first.jobs}
    described = first.store.result(first.jobs[0].key)
    assert described["what"]["do"] == "study.py:tiny"
    assert described["settings"] == {"seed": 0}
    with open("study.py", "a") as file:  # another function
        file.write("# changed\n")
    assert sweep_of("study.py:tiny", "seed=0:3").jobs[0].key != first.jobs[0].key


def test_settings_that_give_the_same_run_are_one(study, toy):
    sweep = sweep_of("study.py:tiny", "seed=0:2", "rate=1,2,1.0")
    assert (len(sweep.jobs), sweep.repeated) == (4, 2)
    work = work_named("train", "experiment.toml")
    rows = [{}, {"hidden": 8}, {"hidden": 8.0}, {"options.hidden": 8}, {"seed": 0}, {"dt": 50},
            {"task": "PerceptualDecisionMaking-v0"}, {"hidden": 9}]  # fmt: skip
    sweep = Sweep(work, rows, "sweep")
    assert (len(sweep.jobs), sweep.repeated) == (2, 6)


def test_a_second_call_does_only_the_missing_runs(study):
    sweep_of("study.py:slow", "seed=0:2", "seconds=0").run(SERIAL)
    summary = sweep_of("study.py:slow", "seed=0:4", "seconds=0").run(SERIAL)
    assert (summary.new, summary.done) == (2, 4)
    assert Path("calls.txt").read_text().split() == ["0", "1", "2", "3"]
    assert sweep_of("study.py:slow", "seed=0:4", "seconds=0").run(SERIAL).new == 0


def test_failed_runs_are_done_again_if_asked(study):
    sweep = sweep_of("study.py:full", "seed=0:1")
    from neurogym_sweep.worker import failure

    sweep.store.write_result(sweep.jobs[0], failure("an earlier error"))
    assert sweep.run(SERIAL).failed == 1
    assert sweep.run(SERIAL, retry=True).done == 1


def test_a_run_that_kills_its_worker_fails_and_the_others_go_on(study, table):
    summary = sweep_of("study.py:deadly", "seed=0:6").run(Engine.of("processes", jobs=2))
    assert (summary.done, summary.failed) == (5, 1)
    rows = table()
    assert [row["accuracy"] for row in rows] == [0, 1, None, 3, 4, 5]
    assert "ended 3 times" in rows[2]["error"]


def test_a_full_disk_stops_the_sweep_and_the_same_call_continues_it(study, table):
    Path("full").touch()
    with pytest.raises(FileNotWrittenError, match="No space left") as caught:
        sweep_of("study.py:full", "seed=0:4").run(SERIAL)
    assert "same command again" in str(caught.value)
    assert len(table()) == 2
    assert not list(Path("sweep/claims").iterdir())
    Path("full").unlink()
    assert sweep_of("study.py:full", "seed=0:4").run(SERIAL).new == 2


def test_a_result_that_does_not_fit_on_the_disk_leaves_nothing_half_written(study, monkeypatch):
    import os

    def half(descriptor, line):
        return real(descriptor, line[: len(line) // 2])

    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half)
        with pytest.raises(FileNotWrittenError, match="No space left"):
            sweep_of("study.py:tiny", "seed=0:2").run(SERIAL)
    assert [log.stat().st_size for log in Path("sweep/results").iterdir()] == [0]
    assert not list(Path("sweep").rglob("*.tmp"))
    assert sweep_of("study.py:tiny", "seed=0:2", folder=study / "sweep").run(SERIAL).new == 2


def test_a_line_of_a_process_that_was_killed_counts_as_none(study, table):
    sweep_of("study.py:tiny", "seed=0:3").run(SERIAL)
    (log,) = Path("sweep/results").iterdir()
    whole = log.read_bytes()
    other = Path("sweep/results/1-of-another-process.log")
    last = whole.splitlines(keepends=True)[2]
    log.write_bytes(whole[: -len(last)])
    other.write_bytes(last[:-20])
    assert sweep_of("study.py:tiny", "seed=0:3").run(SERIAL).new == 1
    assert [row["accuracy"] for row in table()] == [0, 1, 2]
    assert other.read_bytes() == last[:-20]


def test_a_sweep_has_few_files_however_many_runs_it_has(study):
    assert sweep_of("study.py:tiny", "seed=20:70").run(SERIAL).done == 50
    files = {path.relative_to("sweep").as_posix() for path in Path("sweep").rglob("*")}
    assert len(files) == 5
    assert files >= {"sweep.json", "table.parquet", "results", "claims"}


def test_the_folder_of_another_sweep_is_read_anew(study, table):
    import shutil

    sweep_of("study.py:tiny", "seed=0:3").run(SERIAL)
    shutil.rmtree("sweep")
    assert sweep_of("study.py:tiny", "seed=0:2").run(SERIAL).new == 2
    assert len(table()) == 2


def test_a_disk_without_room_for_the_table_is_named_by_the_first_error(study, monkeypatch):
    def no_room(store):
        raise FileNotWrittenError("no room for the table")

    Path("full").touch()
    monkeypatch.setattr("neurogym_sweep.sweep.write_table", no_room)
    with pytest.raises(FileNotWrittenError, match="same command again"):
        sweep_of("study.py:full", "seed=0:4").run(SERIAL)


def test_unknown_settings_are_named_before_the_first_run(study, toy):
    for do, source in (("study.py:tiny", None), ("train", "experiment.toml"),
                       ("evaluate", "experiment.toml")):  # fmt: skip
        with pytest.raises(UnknownNameError, match="'sead'"):
            sweep_of(do, "seed=0:2", "sead=1", source=source)
    with pytest.raises(UnknownNameError, match="conditions"):
        sweep_of("evaluate", "imposed=1", source="experiment.toml")
    with pytest.raises(InvalidValueError, match=r"Row 2 .*hidden=many"):
        sweep_of("train", "hidden=3,many", source="experiment.toml")
    with pytest.raises(InvalidValueError, match="seed"):
        sweep_of("train", "seed=-1", source="experiment.toml")
    with pytest.raises(InvalidValueError, match="no seed"):
        sweep_of("study.py:tiny", "rate=1")
    assert not Path("sweep").exists()


def test_results_must_be_single_values(study, table):
    sweep_of("study.py:wrong", "seed=0:1").run(SERIAL)
    assert "'accuracy' is of type list" in table()[0]["error"]


def test_training_is_swept_over_trainer_task_and_timing(study, toy, table):
    rows = rows_of("task=perceptual/PerceptualDecisionMaking-v0,perceptual/PulseDecisionMaking-v0",
                   "hidden=4,8", "timing.fixation=100", "parameters.dt=100")  # fmt: skip
    summary = Sweep(work_named(None, "experiment.toml"), rows, "sweep").run(SERIAL)
    assert (summary.done, summary.failed) == (2, 2)  # one task cannot be learned
    rows = table()
    done = [row for row in rows if row["hidden"] == 4 and row["status"] == "done"]
    assert [row["updates"] for row in done] == [5, 10, 15, 20]
    assert "PulseDecisionMaking cannot be learned" in rows[-1]["error"]
    folder = Path("sweep/runs") / rows[0]["key"]
    assert (folder / "toy.json").exists()
    assert (folder / "curve.csv").exists()
    said = json.loads((folder / "settings.json").read_text("utf-8"))["experiment"]
    assert said["options"]["hidden"] == 4
    assert said["parameters"] == {"dt": 100, "timing": {"fixation": 100}}


def test_evaluation_is_swept_over_subjects_and_their_settings(study, table):
    work = work_named("evaluate", "PerceptualDecisionMaking-v0")
    rows = rows_of("subject=diffusion", "subject.bound=1,60", "trials=200", "seed=0:2")
    Sweep(work, rows, "sweep").run(SERIAL)
    accuracy = [row["accuracy"] for row in table()]
    assert max(accuracy[:2]) < min(accuracy[2:])
    assert table()[0]["result.trials"] == 204  # 17 times the 12 conditions


def test_likeness_gives_the_effects_of_published_signatures_with_their_verdicts(study, table):
    work = work_named("likeness", "RoitmanShadlen-v0")
    Sweep(work, rows_of("subject=diffusion,guess", "trials=600"), "sweep").run(SERIAL)
    diffusion, guess = table()
    names = {name.removesuffix(".sign") for name in diffusion if name.endswith(".sign")}
    assert len(names) >= 2
    for name in names:
        low, high = (diffusion[f"{name}.{end}"] for end in ("low", "high"))
        assert low is None or high is None or low <= diffusion[name] <= high
        assert diffusion[f"{name}.sign"] in ("yes", "no", "cannot tell")
    # The one accumulates evidence, the other does not.
    assert {row[f"{name}.sign"] for row in (diffusion, guess) for name in names} > {"yes"}
    assert sum(diffusion[f"{name}.sign"] == "yes" for name in names) > sum(
        guess[f"{name}.sign"] == "yes" for name in names
    )


def test_a_task_without_a_signature_is_a_failed_run(study, table):
    work = work_named("likeness", "Nothing-v0")
    Sweep(work, rows_of("trials=20"), "sweep").run(SERIAL)
    assert "No published signature" in table()[0]["error"]


@pytest.fixture
def trained(study, toy):
    """Train four runs in the sweep ``sweep``: two settings, two seeds."""
    sweep_of("train", "hidden=2,4", "seed=0:2", source="experiment.toml").run(SERIAL)


def test_trained_runs_are_played_and_keep_the_settings_of_their_training(trained, table):
    rows = rows_of("run=sweep/runs/*", "trials=60")
    Sweep(work_named("evaluate", None), rows, "played").run(SERIAL)
    rows = table("played")
    assert [row["error"] for row in rows] == [None] * 4
    trainings = sorted((row["trained.hidden"], row["trained.seed"]) for row in rows)
    assert trainings == [(2, 0), (2, 1), (4, 0), (4, 1)]
    assert all((Path(row["run"]) / "toy.json").exists() for row in rows)
    assert {row["accuracy"] for row in rows} == {0.0}  # the toy always rests


def test_results_of_trained_runs_are_averaged_over_their_seeds(trained, ngym):
    ngym("sweep", "--do", "evaluate", "--vary", "run=sweep/runs/*", "--vary", "trials=60",
         "--on", "serial", "--out", "played", "--quiet")  # fmt: skip
    code, said = ngym("sweep", "show", "played", "--json")
    assert code == 0
    assert '"trained.hidden"' in said
    assert '"run"' not in said
    assert said.count('"runs": 2') == 2


def test_a_run_that_is_trained_on_is_played_again(trained, table):
    def play():
        rows = rows_of("run=sweep/runs/*", "trials=60")
        return Sweep(work_named("evaluate", None), rows, "played").run(SERIAL).new

    assert (play(), play()) == (4, 0)
    checkpoint = next(Path("sweep/runs").glob("*/toy.json"))
    checkpoint.write_text(checkpoint.read_text("utf-8") + " ", "utf-8")
    assert play() == 1


def test_rows_that_no_run_can_play_are_refused(trained):
    for text, match in {
        "run=nowhere": "holds no run",
        "run=nowhere/*": "no folder of a trained run",
        "run=sweep/runs/*;which=1": "from 0 to 0",
        "run=sweep/runs/*;hidden=2": "setting",
        "trials=10": "No experiment",
    }.items():
        with pytest.raises(NeurogymError, match=match):
            Sweep(work_named("evaluate", None), rows_of(*text.split(";")), "played")
    with pytest.raises(InvalidValueError, match="both given"):
        Sweep(work_named("evaluate", "GoNogo-v0"), rows_of("run=sweep/runs/*"), "played")


def test_a_function_gets_the_experiment(study, table):
    sweep_of(
        "study.py:with_experiment", "seed=1", "gain=1,2", "dt=20,40", source="experiment.toml"
    ).run(SERIAL)
    assert [row["accuracy"] for row in table()] == [20, 40, 40, 80]
    with pytest.raises(InvalidValueError, match="`experiment`"):
        work_named("study.py:tiny", "experiment.toml")


def test_works_that_do_not_exist_are_refused(study):
    for do in ("study.py:tini", "trian", "nowhere.py:f", "no_such_module:f"):
        with pytest.raises((UnknownNameError, InvalidValueError), match=r"Expected|Known"):
            work_named(do, None)
    with pytest.raises(InvalidValueError, match="No experiment"):
        work_named("train", None)


def test_the_table_has_one_type_per_column(study):
    work = work_named("study.py:tiny", None)
    rows = [{"seed": 1, "rate": 1}, {"seed": 2, "rate": 0.5}, {"seed": 3, "name": "b"},
            {"seed": 4, "name": (1, 2)}]  # fmt: skip
    Sweep(work, rows, "sweep").run(SERIAL)
    schema = pq.read_schema("sweep/table.parquet")
    types = {field.name: str(field.type) for field in schema}
    assert types["seed"] == "int64"
    assert types["rate"] == "double"
    assert types["name"] == "string"
    assert pq.read_table("sweep/table.parquet")["name"].to_pylist() == [None, None, "b", "[1, 2]"]


def test_engines_that_do_not_exist_are_refused():
    with pytest.raises(UnknownNameError, match="dask"):
        Engine.of("dusk")
    with pytest.raises(InvalidValueError, match="address"):
        Engine.of("processes:here")


def test_threads_are_divided_among_runs(monkeypatch):
    import joblib

    monkeypatch.setattr(joblib, "cpu_count", lambda: 8)
    assert Engine.of("processes").n_threads == 1
    assert Engine.of("processes", jobs=2).n_threads == 4
    assert Engine.of("dask:tcp://head:8786").n_threads == 1
    assert Engine.of("processes", jobs=2, threads=3).n_threads == 3


THREADS = """
import os
import numpy as np
import threadpoolctl


def threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    pools = threadpoolctl.threadpool_info()
    most = max(pool["num_threads"] for pool in pools)
    return {"variable": os.environ["OMP_NUM_THREADS"], "most": most}
"""


@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_libraries_use_as_many_threads_as_a_run_has(study, table, engine):
    Path("threads.py").write_text(THREADS, "utf-8")
    Sweep(work_named("threads.py:threads", None), [{}], "sweep").run(
        Engine.of(engine, jobs=1, threads=1)
    )
    assert [(row["variable"], row["most"]) for row in table()] == [("1", 1)]


def test_workers_that_break_down_again_and_again_stop_the_sweep(study, monkeypatch):
    def broken(self, jobs, store, trackers=()):
        raise RuntimeError("no worker")
        yield

    monkeypatch.setattr(Engine, "outcomes", broken)
    with pytest.raises(NotSupportedError, match=r"broke down 4 times .*no worker"):
        sweep_of("study.py:tiny", "seed=0:2").run(SERIAL)
