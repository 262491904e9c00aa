"""SIGKILL of drivers and workers, several drivers on one folder, and clusters of this machine."""

from __future__ import annotations

import json
import os
import re
import signal
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from neurogym_sweep import Engine, Plan, Store, Sweep, read_axis, work_named

from neurogym_core import NotSupportedError


def owners():
    """Return the processes that hold runs now."""
    found = set()
    for path in Path("sweep").glob("claims/*"):
        try:
            found.add(json.loads(path.read_text("utf-8"))["process"])
        except (OSError, ValueError):
            continue
    return found


def results():
    return len(Store("sweep").done())


def calls():
    return sorted(int(line) for line in Path("calls.txt").read_text("utf-8").split())


SLOW = ("sweep", "--do", "study.py:slow", "--jobs", "2", "--quiet")


@pytest.mark.slow
def test_a_killed_driver_leaves_what_is_done_and_the_next_one_does_the_rest(
    start, study, table, wait_for
):
    words = (*SLOW, "--vary", "seed=0:12")
    driver = start(*words)
    workers = set()

    def both_and_three_results():
        workers.update(owners())  # between two runs a worker holds none
        return len(workers) == 2 and results() >= 3

    wait_for(both_and_three_results)
    driver.kill()
    for worker in workers:  # else they end the runs that they have begun
        os.kill(worker, signal.SIGKILL)
    done = results()
    assert 3 <= done < 12
    said = start(*words).said()
    before = re.search(r"12 of 12 runs done \((\d+) before\), 0 failed", said)
    assert before is not None, said
    assert done <= int(before[1]) <= done + 2  # a worker may have ended its run as it was killed
    assert len(calls()) - 12 <= 2  # the two that were killed
    assert [row["seed"] for row in table()] == list(range(12))
    disturbed = table()
    said = start(*words, "--out", "whole").said()
    assert disturbed == table("whole")


@pytest.mark.slow
def test_a_killed_driver_whose_workers_live_on_is_continued_without_doing_a_run_twice(
    start, study, wait_for
):
    words = (*SLOW, "--vary", "seed=0:8", "--vary", "seconds=1")
    driver = start(*words)
    wait_for(lambda: results() >= 1 and owners())
    driver.kill()
    said = start(*words).said()
    assert "8 of 8 runs done" in said
    assert calls() == list(range(8))


@pytest.mark.slow
def test_a_killed_worker_costs_only_its_run(start, study, table, wait_for):
    driver = start(*SLOW, "--vary", "seed=0:12")
    wait_for(lambda: results() >= 2 and owners())
    os.kill(owners().pop(), signal.SIGKILL)
    said = driver.said()
    assert "12 of 12 runs done, 0 failed" in said
    assert [row["accuracy"] for row in table()] == [seed / 10 for seed in range(12)]
    assert len(calls()) - 12 <= 2  # loky ends the other worker, too


@dataclass(frozen=True)
class Late(Engine):
    """Local workers that cannot be started for some time, as on a loaded cluster."""

    failures: list = field(default_factory=list)

    @contextmanager
    def started(self):
        if self.failures:
            raise RuntimeError(self.failures.pop())
        with super().started() as engine:
            yield engine


def test_workers_that_start_at_the_third_attempt_do_all_runs(study, table):
    sweep = Sweep(work_named("study.py:tiny", None), Plan((read_axis("seed=0:3"),)).rows(), "sweep")
    summary = sweep.run(Late("serial", failures=["timed out"] * 2))
    assert (summary.done, summary.failed) == (3, 0)


def test_workers_that_never_start_end_the_sweep_with_their_error(study):
    sweep = Sweep(work_named("study.py:tiny", None), Plan((read_axis("seed=0:3"),)).rows(), "sweep")
    with pytest.raises(NotSupportedError, match=r"broke down \d+ times.*timed out"):
        sweep.run(Late("serial", failures=["timed out"] * 100))


@pytest.mark.slow
def test_two_drivers_on_one_folder_do_no_run_twice_and_write_the_same_table(start, study, table):
    words = (*SLOW, "--vary", "seed=0:16")
    drivers = [start(*words), start(*words)]
    for driver in drivers:
        said = driver.said()
        assert "16 of 16 runs done" in said
        assert "0 failed" in said
    assert calls() == list(range(16))
    assert len(table()) == 16


@pytest.mark.slow
def test_a_killed_training_continues_from_its_checkpoint_to_the_same_table(
    start, toy, study, table, wait_for
):
    words = ("sweep", "experiment.toml", "--vary", "seed=0:2", "--vary", "pause=0.05", "--vary",
             "updates=60", "--jobs", "2", "--quiet")  # fmt: skip
    driver = start(*words)
    wait_for(lambda: len(list(Path("sweep").glob("runs/*/toy.json"))) == 2)
    workers = owners()
    driver.kill()
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
    assert "2 of 2 runs done" in start(*words).said()
    said = start(*words, "--out", "whole").said()
    assert "2 of 2 runs done" in said
    assert table() == table("whole")


@pytest.mark.slow
def test_dask_survives_the_death_of_one_of_its_two_workers(study, table, wait_for):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address
        sweep = Sweep(
            work_named("study.py:slow", None), Plan((read_axis("seed=0:20"),)).rows(), "sweep"
        )
        import threading

        killed = []

        def kill():
            wait_for(lambda: results() >= 3 and owners())
            killed.append(owners().pop())
            os.kill(killed[0], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        summary = sweep.run(Engine.of(f"dask:{address}"))
        killer.join()
    assert killed
    assert (summary.done, summary.failed) == (20, 0)
    assert [row["accuracy"] for row in table()] == [seed / 10 for seed in range(20)]
    assert len(calls()) <= 22


@pytest.mark.slow
def test_ray_survives_the_death_of_a_worker(study, table, wait_for):
    pytest.importorskip("ray")
    sweep = Sweep(
        work_named("study.py:slow", None), Plan((read_axis("seed=0:12"),)).rows(), "sweep"
    )
    import threading

    def kill():
        wait_for(lambda: results() >= 2 and owners(), 120)
        os.kill(owners().pop(), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    summary = sweep.run(Engine.of("ray", jobs=2))
    killer.join()
    assert (summary.done, summary.failed) == (12, 0)
    assert [row["accuracy"] for row in table()] == [seed / 10 for seed in range(12)]


@pytest.mark.slow
def test_jobs_of_submitit_share_the_runs(study, table):
    pytest.importorskip("submitit")
    summary = Sweep(
        work_named("study.py:slow", None), Plan((read_axis("seed=0:8"),)).rows(), "sweep"
    ).run(Engine.of("slurm:local", jobs=2))
    assert (summary.done, summary.failed) == (8, 0)
    assert calls() == list(range(8))


@pytest.mark.slow
def test_2000_runs_cost_less_than_50_ms_each_and_no_memory(study):
    resource = pytest.importorskip("resource")
    from joblib.externals.loky import get_reusable_executor

    work = work_named("study.py:tiny", None)

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # MiB on Linux

    def cpu():
        """Return the CPU seconds of this process and of its workers, which it ends."""
        get_reusable_executor().shutdown(wait=True)
        used = (resource.getrusage(one) for one in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(one.ru_utime + one.ru_stime for one in used)

    Sweep(work, Plan((read_axis("seed=20:220"),)).rows(), "first").run(
        Engine.of("processes", jobs=2)
    )
    before, began = peak(), cpu()
    sweep = Sweep(work, Plan((read_axis("seed=20:2020"),)).rows(), "sweep")
    summary = sweep.run(Engine.of("processes", jobs=2))
    assert summary.done == 2000
    # CPU time: others may use the machine. It contains the start of the workers.
    per_run = (cpu() - began) / 2000
    print(f"{1000 * per_run:.1f} ms per run, {peak() - before:.1f} MiB more than after 200 runs")
    assert per_run < 0.05
    assert peak() - before < 40
