"""Claims: one live process at a time does a run, on one machine or on several."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from neurogym_sweep import Job, Store, store
from neurogym_sweep.worker import work_on
from neurogym_sweep.works import work_named

JOB = Job.of({"seed": 0}, {"do": "nothing"}, {})


def written(claim_file, **changes):
    """Write a claim of another process."""
    owner = {**store._this_process(), **changes}
    claim_file.parent.mkdir(parents=True, exist_ok=True)
    claim_file.write_text(json.dumps(owner), "utf-8")


def claim_of(sweep, number):
    return sweep.folder / "claims" / f"{JOB.key}.{number}"


@pytest.fixture
def sweep(tmp_path):
    return Store(tmp_path / "sweep")


def test_one_of_many_threads_wins_a_claim(sweep):
    for _ in range(20):
        won, start = [], threading.Barrier(8)

        def attempt(won=won, start=start):
            start.wait()
            won.append(sweep.claim(JOB))

        threads = [threading.Thread(target=attempt) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (claim,) = [claim for claim in won if claim is not None]
        assert claim.holds
        claim.withdraw()


def test_the_claim_of_a_process_that_ended_on_this_machine_is_taken_over_at_once(sweep):
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    path = claim_of(sweep, 1)
    written(path, process=child.pid, started="12345")
    claim = sweep.claim(JOB)
    assert claim is not None
    assert claim.number == 2
    assert path.exists()  # dead claims are never removed while the run is open


def test_the_claim_of_an_earlier_process_of_the_same_number_is_dead(sweep):
    written(claim_of(sweep, 1), started="1")
    assert sweep.claim(JOB) is not None


def test_the_claim_of_a_live_process_holds(sweep):
    written(claim_of(sweep, 1))
    assert sweep.claim(JOB) is None


def test_the_claim_of_another_machine_holds_while_it_is_touched(sweep, monkeypatch):
    path = claim_of(sweep, 1)
    written(path, machine="elsewhere", process=1)
    assert sweep.claim(JOB) is None
    long_ago = time.time() - store.LEASE - 5
    os.utime(path, (long_ago, long_ago))
    assert sweep.claim(JOB) is not None


def test_a_claim_that_does_not_fit_on_the_disk_holds_nothing(sweep, monkeypatch):
    def no_room(value, file):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(json, "dump", no_room)
        with pytest.raises(OSError, match="No space left"):
            sweep.claim(JOB)
    assert sweep.claim(JOB) is not None


def test_an_empty_claim_is_one_that_is_just_being_written(sweep):
    path = claim_of(sweep, 1)
    path.parent.mkdir(parents=True)
    path.touch()
    assert sweep.claim(JOB) is None


def test_of_many_threads_one_takes_a_dead_claim_over(sweep):
    written(claim_of(sweep, 1), started="1")
    won, start = [], threading.Barrier(8)

    def attempt():
        start.wait()
        won.append(sweep.claim(JOB))

    threads = [threading.Thread(target=attempt) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(claim is not None for claim in won) == 1


def test_a_claim_is_touched_while_its_run_lasts(sweep, monkeypatch):
    monkeypatch.setattr(store, "BEAT", 0.02)
    monkeypatch.setattr(store, "_BEATS", store._Beats())
    claim = sweep.claim(JOB)
    os.utime(claim.path, (1, 1))
    with claim.kept():
        end = time.monotonic() + 10
        while claim.path.stat().st_mtime < 100:
            assert time.monotonic() < end
            time.sleep(0.01)


def test_a_process_that_lost_its_claim_leaves_the_result_to_the_new_holder(study, monkeypatch):
    job = work_named("study.py:tiny", None).job({"seed": 1})
    sweep = Store("sweep")

    def paused(job, folder):
        written(sweep.folder / "claims" / f"{job.key}.2", machine="elsewhere")
        return [{"accuracy": 1}]

    monkeypatch.setattr("neurogym_sweep.worker.perform", paused)
    assert work_on(job, "sweep").status == "busy"
    assert sweep.result(job.key) is None


def test_a_run_that_ends_between_two_looks_is_not_done_again(study, monkeypatch):
    job = work_named("study.py:tiny", None).job({"seed": 1})
    assert work_on(job, "sweep").status == "done"
    looks = iter([False, True])
    monkeypatch.setattr(Store, "is_done", lambda self, key: next(looks))
    monkeypatch.setattr("neurogym_sweep.worker.perform", lambda job, folder: 1 / 0)
    assert work_on(job, "sweep").status == "done"
    assert not list(Path("sweep/claims").iterdir())
