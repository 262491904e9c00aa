"""``ngym sweep`` and ``ngym sweep show``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from neurogym_sweep import Store


def test_a_sweep_and_its_summary(ngym, table):
    code, said = ngym("sweep", "--do", "study.py:tiny", "--vary", "seed=0:3", "--vary", "rate=1,2",
                      "--on", "serial", "--out", "here")  # fmt: skip
    assert code == 0, said
    assert "6 of 6 runs done, 0 failed" in said
    assert "here/table.parquet" in said
    assert len(table("here")) == 6
    code, said = ngym("sweep", "show", "here")
    assert code == 0
    assert "study.py:tiny: 6 runs" in said
    assert ["1", "3", "1", "1"] in [line.split() for line in said.splitlines()]
    assert ["2", "3", "2", "2"] in [line.split() for line in said.splitlines()]
    rows = json.loads(ngym("sweep", "show", "here", "--json")[1])
    assert rows[0] == {"rate": 1, "runs": 3, "mean accuracy": 1.0, "sd": 1.0}


def test_run_may_be_named(ngym):
    words = ("--do", "study.py:tiny", "--vary", "seed=1", "--on", "serial")
    assert ngym("sweep", "run", *words)[0] == 0
    assert "(1 before)" in ngym("sweep", *words)[1]


def test_failed_runs_are_counted_and_listed(ngym):
    code, said = ngym("sweep", "--do", "study.py:tiny", "--vary", "seed=12:14", "--on", "serial")
    assert code == 1
    assert "1 of 2 runs done, 1 failed" in said
    assert "--retry" in said
    assert "ValueError: thirteen" in ngym("sweep", "show")[1]


def test_a_dry_run_checks_and_counts(ngym):
    words = ("sweep", "--do", "study.py:tiny", "--vary", "seed=0:3", "--on", "serial")
    ngym(*words)
    code, said = ngym(*words[:-3], "seed=0:30", "--dry-run")
    assert code == 0
    assert "30 runs, 27 of them left" in said
    assert len(Store("sweep").done()) == 3


def test_rows_that_repeat_runs_are_counted(ngym):
    said = ngym("sweep", "--do", "study.py:tiny", "--vary", "seed=1,1,2", "--on", "serial")[1]
    assert "1 rows repeat" in said
    assert "2 of 2 runs done" in said


def test_an_experiment_file_is_trained(toy, ngym):
    words = ("sweep", "experiment.toml", "--vary", "seed=0:2", "--vary", "hidden=4,8")
    code, said = ngym(*words, "--on", "serial")
    assert code == 0, said
    assert "4 of 4 runs done" in said
    for figure in (("--curves",), ("--curves", "--metric", "noise"), ("--heat", "hidden,seed"),
                   ("--heat", "seed,hidden", "-o", "sweep/curves.svg")):  # fmt: skip
        code, said = ngym("sweep", "show", *figure)
        assert code == 0, said
    assert {"curves.png", "curves.svg", "heat.png"} <= {
        path.name for path in Path("sweep").iterdir()
    }


def test_the_table_is_queried_by_sql(ngym):
    pytest.importorskip("duckdb")
    ngym("sweep", "--do", "study.py:tiny", "--vary", "seed=0:3", "--on", "serial")
    code, said = ngym("sweep", "show", "--sql", "select sum(accuracy) as total from runs")
    assert code == 0, said
    assert said.split() == ["total", "3"]
    assert json.loads(
        ngym("sweep", "show", "--json", "--sql", "select seed from runs order by 1")[1]
    ) == [{"seed": 0}, {"seed": 1}, {"seed": 2}]
    code, said = ngym("sweep", "show", "--sql", "select acuracy from runs")
    assert code == 2
    assert "accuracy" in said


def test_parquet_is_read_by_pandas(ngym):
    pandas = pytest.importorskip("pandas")
    ngym("sweep", "--do", "study.py:tiny", "--vary", "seed=0:3", "--on", "serial")
    assert pandas.read_parquet("sweep/table.parquet")["accuracy"].sum() == 3


WRONG = {
    "ten million": (("--do", "study.py:tiny", "--vary", "seed=0:10000000"), "10,000,000 runs"),
    "no work": (("--vary", "seed=0:3"), "No experiment was given"),
    "no file": (("none.toml", "--vary", "seed=0:3"), "There is no file"),
    "unknown setting": (("--do", "study.py:tiny", "--vary", "sead=1"), "'sead'"),
    "unknown engine": (("--do", "study.py:tiny", "--on", "dusk"), "'dusk'"),
    "unknown tracker": (("--do", "study.py:tiny", "--log", "wandbe"), "'wandbe'"),
    "no goal": (("--do", "study.py:tiny", "--vary", "seed=1", "--search", "3"), "--maximize"),
    "no search": (("--do", "study.py:tiny", "--vary", "seed=1", "--maximize", "a"), "--search"),
    "slurm elsewhere": (("--do", "study.py:tiny", "--slurm", "mem_gb=4"), "--on slurm"),
    "slurm pair": (("--do", "study.py:tiny", "--on", "slurm", "--slurm", "mem"), "timeout_min"),
    "search of seeds": (
        ("--do", "study.py:tiny", "--vary", "seed=0:3", "--search", "3", "--maximize", "accuracy"),
        "beside the seed",
    ),
    "search with a table": (
        ("--do", "study.py:tiny", "--zip", "--search", "3", "--maximize", "a"),
        "--vary alone",
    ),
}


@pytest.mark.parametrize(("words", "expected"), WRONG.values(), ids=WRONG)
def test_wrong_usage_is_refused_before_the_first_run(ngym, words, expected):
    code, said = ngym("sweep", *words)
    assert code == 2, said
    assert expected in said
    assert not Path("sweep").exists()


def test_what_cannot_be_shown_is_refused(ngym):
    assert "holds no sweep" in ngym("sweep", "show")[1]
    ngym("sweep", "--do", "study.py:tiny", "--vary", "seed=13", "--on", "serial")
    assert "No run" in ngym("sweep", "show", "--curves")[1]
    ngym("sweep", "--do", "study.py:tiny", "--vary", "seed=0:3", "--on", "serial")
    for words, expected in {
        ("--heat", "seed"): "two settings",
        ("--heat", "seed,sigma"): "'sigma'",
        ("--metric", "loss"): "'loss'",
        ("--curves", "--heat", "a,b"): "Expected one",
    }.items():
        code, said = ngym("sweep", "show", *words)
        assert code == 2, said
        assert expected in said
    plan = Path("sweep/sweep.json").read_text("utf-8")
    key = json.loads(plan)["runs"][0]["key"]
    Path("sweep/sweep.json").write_text(plan.replace(key, "../../leak"), "utf-8")
    assert "the key '../../leak'. Expected 16 hex" in ngym("sweep", "show")[1]
    Path("sweep/sweep.json").write_text("{}", "utf-8")
    assert "format" in ngym("sweep", "show")[1]
    Path("sweep/sweep.json").write_text("{", "utf-8")
    assert "is not JSON" in ngym("sweep", "show")[1]


def test_a_missing_library_is_named_with_the_command_that_installs_it(ngym, monkeypatch):
    import sys

    for engine, module in (("dask", "distributed"), ("ray", "ray"), ("slurm", "submitit")):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, module, None)
            code, said = ngym("sweep", "--do", "study.py:tiny", "--vary", "seed=1", "--on", engine)
            assert code == 1
            assert f"--on {engine} needs {module}" in said
            assert said.rstrip().endswith(f" {module}.")


def test_a_search_finds_the_best_setting_and_continues(ngym, table):
    pytest.importorskip("optuna")
    words = ("sweep", "--do", "study.py:tiny", "--vary", "rate=uniform(0,1)", "--vary", "name=a,b",
             "--vary", "seed=1,2", "--maximize", "accuracy", "--on", "serial")  # fmt: skip
    code, said = ngym(*words, "--search", "4")
    assert code == 0, said
    first = table()
    assert len(first) == 8
    code, said = ngym(*words, "--search", "6")
    assert code == 0, said
    rows = table()
    assert len(rows) == 12
    assert rows[:8] == first
    assert "12 of 12 runs done (8 before)" in said
    best = max(row["rate"] for row in rows)
    assert f"The best accuracy is {1.5 * best:.4g}: rate={best:.4g}" in said


def test_a_search_for_a_result_that_runs_do_not_have_is_refused(ngym):
    pytest.importorskip("optuna")
    code, said = ngym("sweep", "--do", "study.py:tiny", "--vary", "rate=1,2", "--vary", "seed=1",
                      "--search", "2", "--maximize", "acuracy", "--on", "serial")  # fmt: skip
    assert code == 2
    assert "'accuracy'" in said


def test_the_curves_of_runs_are_tensorboard_events(ngym):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    words = ("--vary", "seed=3", "--on", "serial", "--log", "tensorboard")
    code, said = ngym("sweep", "--do", "study.py:several", *words)
    assert code == 0, said
    (folder,) = Path("sweep/runs").glob("*/tensorboard")
    events = EventAccumulator(str(folder))
    events.Reload()
    assert [event.step for event in events.Tensors("accuracy")] == [0, 10, 20]


@pytest.mark.slow
def test_the_curves_of_runs_are_metrics_of_mlflow(ngym, monkeypatch, tmp_path):
    mlflow = pytest.importorskip("mlflow", exc_type=ImportError)
    pytest.importorskip("sqlalchemy", reason="a store without a server needs sqlalchemy")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    words = ("--vary", "seed=3", "--on", "serial", "--log", "mlflow")
    code, said = ngym("sweep", "--do", "study.py:several", *words)
    assert code == 0, said
    (run,) = mlflow.search_runs(search_all_experiments=True, output_format="list")
    assert run.data.params == {"seed": "3"}
    history = mlflow.MlflowClient().get_metric_history(run.info.run_id, "accuracy")
    assert [(one.step, one.value) for one in history] == [(0, 3), (10, 4), (20, 5)]


@pytest.mark.slow
def test_runs_are_logged_to_wandb_without_a_server(ngym, monkeypatch):
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    words = ("--vary", "seed=3,4", "--on", "serial", "--log", "wandb")
    code, said = ngym("sweep", "--do", "study.py:several", *words)
    assert code == 0, said
    assert len(list(Path("sweep/runs").glob("*/wandb/offline-run-*/*.wandb"))) == 2


def test_a_tracker_that_fails_leaves_the_results(ngym, table, monkeypatch):
    from neurogym_sweep import trackers

    def offline(job, rows, folder):
        raise ConnectionError("offline")

    monkeypatch.setitem(trackers._TRACKERS, "json", offline)
    code, _ = ngym(
        "sweep", "--do", "study.py:tiny", "--vary", "seed=1", "--on", "serial", "--log", "json"
    )
    assert code == 0
    assert table()[0]["accuracy"] == 1
    assert "offline" in table()[0]["error"]
    assert "offline" in ngym("sweep", "show")[1]


def test_help_names_every_option(ngym):
    code, said = ngym("sweep", "run", "--help")
    assert code == 0
    for option in ("--vary", "--zip", "--random", "--table", "--search", "--on", "--threads"):
        assert option in said
    assert "show" in ngym("sweep", "--help")[1]
