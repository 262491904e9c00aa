"""The benchmark of time to a criterion: its plan, its file and its page."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from neurogym_core import make_task

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import criterion, report
from benchmarks import to_criterion as bench
from benchmarks.criterion import digest

TARGETS, REWARDS = bench.KINDS
TASK = "GoNogo"


def result(cpu, met, load=0.3):
    return {
        "met": met, "done": [25] * len(met), "cpu": cpu, "ready": 1.0, "wall": 9.0, "load": load,
        "versions": {"numpy": "2.4.6"}, "date": "2026-01-01", "machine": "a processor",
    }  # fmt: skip


def key(way, seeds):
    return f"{way} {TASK} {seeds} {digest(TASK, way)}"


def stored(peer=(10.0, 10.0), loop=(8.0, 8.0), trainer=3.0, met=(True, True), peer_met=True):
    runs = {key("peer", seed): result(cpu, [peer_met]) for seed, cpu in enumerate(peer)}
    runs |= {key("loop", seed): result(cpu, [True]) for seed, cpu in enumerate(loop)}
    return {**runs, key("trainer", "0,1"): result(trainer, list(met))}


def test_all_trainings_remain_at_first_and_a_stored_one_does_not():
    todo = list(bench.remaining({}, None, (), ()))
    assert len(todo) == 10 * (8 + 8 + 1 + 1) + 3 * (5 + 5 + 1)
    assert len({name for name, *_ in todo}) == len(todo)
    first, way, _, seeds = todo[0]
    assert (way, seeds) == ("peer", [0])
    left = list(bench.remaining({first: result(1, [True])}, None, (), ()))
    assert left == todo[1:]
    some = list(bench.remaining({}, 2, (TASK,), ("trainer", "sb3")))
    assert [one[0] for one in some] == [key("trainer", "0,1"), key("sb3", 0), key("sb3", 1)]


def test_the_ratio_is_that_of_our_fastest_way():
    row = bench.row(stored(), TARGETS, TASK, 2)
    assert row[:6] == [TASK, "95%", "20.0", "16.0", "3.0", "–"]
    assert row[6:] == ["6.67x", "ok"]
    assert bench.row(stored(trainer=4.1), TARGETS, TASK, 2)[6:] == ["4.88x", "MISSED"]


def test_a_way_that_did_not_meet_the_criterion_is_no_fast_one():
    quick = stored(trainer=0.1, met=(True, False))
    row = bench.row(quick, TARGETS, TASK, 2)
    assert row[4] == "0.1 (1 met)"
    assert row[6:] == ["1.25x", "MISSED"]
    alone = {key: one for key, one in quick.items() if not key.startswith("loop")}
    assert bench.row(alone, TARGETS, TASK, 2)[-1].startswith("MISSED: none of our ways met")


def test_a_peer_that_did_not_meet_it_gives_a_lower_bound():
    assert bench.row(stored(peer_met=False), TARGETS, TASK, 2)[6:] == ["≥ 6.67x", "ok"]


def test_a_row_without_all_seeds_of_the_peer_is_not_measured():
    runs = stored()
    del runs[key("peer", 1)]
    assert bench.row(runs, TARGETS, TASK, 2)[6:] == ["–", "not measured"]
    assert bench.table({}, TARGETS, 2).count("\n") == 1  # the head alone


def test_a_training_with_other_settings_does_not_count(monkeypatch):
    runs = stored()
    monkeypatch.setattr(criterion, "RATE", 1e-3)
    assert bench.table(runs, TARGETS, 2).count("\n") == 1
    assert len(list(bench.remaining(runs, 2, (TASK,), ("peer", "loop", "trainer")))) == 5


def test_trainings_are_kept_one_per_line_and_resumed(tmp_path):
    path = tmp_path / "criterion.json"
    assert bench.read(path) == {}
    for name, one in stored().items():
        bench.keep(name, one, path)
    assert bench.read(path) == stored()
    assert len(path.read_text("utf-8").splitlines()) == 2 + 5
    assert [one.name for one in tmp_path.iterdir()] == ["criterion.json"]


def test_the_page_says_which_trainings_had_company_and_is_written_twice_alike():
    runs = stored()
    page = bench.written("# Performance\n\nRows.\n", runs, 2)
    assert page.startswith("# Performance\n\nRows.\n\n<!-- Written below")
    assert "| GoNogo | 95% | 20.0 | 16.0 | 3.0 | – | 6.67x | ok |" in page
    assert "numpy 2.4.6" in page
    assert "beside other work" not in page
    assert bench.written(page, runs, 2) == page
    busy = {**runs, key("peer", 0): result(10.0, [True], load=4.0)}
    assert "1 of 5 trainings were taken beside other work" in bench.written(page, busy, 2)


def test_a_training_that_fails_is_said_with_its_last_line(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho first >&2\necho 'ValueError: no such task' >&2\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(RuntimeError, match="ValueError: no such task"):
        bench.trained("peer", TASK, [0], str(python))


def test_both_sides_have_the_same_tasks_with_fixed_durations():
    for kind in bench.KINDS:
        for task, goal in kind.tasks.items():
            trials = make_task(f"{task}-v0", **goal.ours()).sample(20, seed=0)
            steps = sum(goal.timing.values()) // 100
            assert (trials.path.sum(axis=1) == steps).all(), task


def test_the_page_is_what_was_measured_last():
    page = bench.PAGE.read_text("utf-8")
    assert json.loads(bench.STORED.read_text("utf-8"))
    assert page.partition(bench.MARK)[2], "the page has no part of this benchmark"
    [seeds] = {int(one) for one in re.findall(r"^Targets, (\d+) seeds:", page, re.MULTILINE)}
    seeds = None if seeds == TARGETS.seeds else seeds  # a trial has fewer
    assert page == bench.written(page, bench.read(), seeds), (
        "run `python -m benchmarks.to_criterion --write`, and commit docs/performance.md"
    )


def test_the_whole_benchmark_keeps_this_part_of_the_page(tmp_path):
    path = tmp_path / "performance.md"
    part = bench.written("old\n", stored(), 2).partition(bench.MARK)[2]
    path.write_text(f"old\n\n{bench.MARK}{part}", "utf-8")
    for _ in range(2):
        report.write_page(path, [], 1, 0.1, "compiled")
        text = path.read_text("utf-8")
        assert text.startswith("# Performance")
        assert text.partition(bench.MARK)[2] == part
    path.unlink()
    report.write_page(path, [], 1, 0.1, "compiled")
    assert bench.MARK not in path.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("way", ["loop", "trainer", "jax"])
def test_each_of_our_ways_meets_the_criterion_of_an_easy_task(way):
    pytest.importorskip({"jax": "neurogym_jax"}.get(way, "neurogym_torch"))
    seeds = [0] if way == "loop" else [0, 1]
    found = criterion.WAYS[way](TASK, seeds)
    assert found["met"] == [True] * len(seeds)
    assert all(0 < one < criterion.UPDATES for one in found["done"])
    assert found["cpu"] > 0
